//! Answers what was changed since a cursor (SYN-01 to SYN-12).

use std::{
    future::poll_fn,
    pin::Pin,
    sync::Arc,
    task::Poll,
    time::{Duration, Instant},
};

use http::{HeaderName, HeaderValue, StatusCode};

use super::{
    Api, ContentType, Reply, Request,
    following::{self, Following, Waiting},
    handling,
    waits::WaitSlot,
};
use crate::{
    auth::Identity,
    context::Context,
    error::{Code, Error, Problem, Result},
    hal::{self, ChangesView},
    link::Target,
    model::Kind,
    ops::{Changes, ChangesPage, ChangesRequest, Feed},
    page::{PageRequest, Parameter, is_token},
};

/// The parameter that has the cursor.
const AFTER: &str = "after";

/// Tells a proxy to pass events on as they come.
const ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

impl Api {
    /// Whether there is a change feed (SYN-01).
    #[must_use]
    pub fn has_changes(&self) -> bool {
        self.inner.settings.changes.is_some()
    }

    /// The relation that leads to the change feed, and that its entries stand under (SYN-01).
    #[must_use]
    pub fn changes_relation(&self) -> String {
        self.dialect().relation(hal::CHANGES)
    }

    /// The query parameters of the change feed (SYN-05).
    #[must_use]
    pub fn changes_parameters(&self) -> Vec<Parameter> {
        self.parameters().into_iter().filter(|parameter| parameter.name != "page").collect()
    }

    /// How long a request may wait for changes: no longer than it asks for, and not where nothing tells the time.
    pub(super) fn waits(&self, request: &Request<'_>) -> Duration {
        let asked = request.timer.and_then(|_| handling::wait(request.headers)).unwrap_or_default();
        asked.min(self.inner.settings.longest_wait)
    }

    pub(super) async fn changes(&self, cx: &Context, request: &Request<'_>) -> Result<Reply> {
        let Some(changes) = &self.inner.settings.changes else { return Err(Error::not_implemented()) };
        let sizes = self.sizes();
        let asked = match PageRequest::read(request.query, sizes.page, sizes.max_page) {
            Ok(asked) => asked,
            Err(problems) => return Ok(self.invalid(None, &problems)),
        };
        let streams = following::wants_events(request.headers);
        let mut after = PageRequest::parameter(request.query, AFTER);
        // What has not the form of a cursor is dropped there, and would lead to the beginning.
        if after != asked.request.after {
            return Ok(self.unknown_cursor());
        }
        if let Some(last) = following::last_event(request.headers).filter(|_| streams) {
            if !is_token(last) {
                return Ok(self.unknown_cursor());
            }
            after = Some(last.to_owned());
        }
        let kinds: Vec<Kind> = Kind::ALL.iter().copied().filter(|kind| cx.may_read(*kind)).collect();
        let wanted = ChangesRequest::new(after.clone(), kinds, asked.request.size);
        let waits = self.waits(request);
        let slot = if streams || !waits.is_zero() {
            match self.wait_slot(cx) {
                Ok(slot) => Some(slot),
                Err(reply) => return Ok(*reply),
            }
        } else {
            None
        };
        // A stream begins at once, whatever there is to tell.
        let time = if streams { Duration::ZERO } else { waits };
        let waiting = Waiting { timer: request.timer, time, timeout: request.timeout };
        let page = match self.told(&**changes, cx, wanted.clone(), waiting).await? {
            Feed::Page(page) => page,
            Feed::Unknown => return Ok(self.unknown_cursor()),
            Feed::Expired => return Ok(self.expired_cursor(cx)),
        };
        // A key may have been revoked while the request waited.
        if let (Some(identity), false) = (&request.identified_as, time.is_zero()) {
            match self.identity_now(cx, request.headers).await? {
                now if now == **identity => {}
                Identity::Known(..) => return Err(Error::unavailable(Duration::from_secs(1))),
                _ => return Ok(self.unauthorized(&Target::Changes)),
            }
        }
        if streams {
            return Ok(self.stream(cx, request, wanted, &page, asked.repeated, slot));
        }
        let view = ChangesView {
            page: &page,
            after: after.as_deref(),
            per_page: asked.request.size,
            repeated: &asked.repeated,
        };
        let mut body = Vec::with_capacity(page.entries.len().saturating_mul(256).saturating_add(1024));
        hal::changes(&self.hal(&cx.base), &view, &mut body);
        let mut reply = Reply::hal(StatusCode::OK, body);
        if !waits.is_zero() {
            handling::mark_wait(waits, &mut reply);
        }
        Ok(reply)
    }

    /// A page as the first event, with what goes on behind it: no longer than a request may wait.
    fn stream(
        &self,
        cx: &Context,
        request: &Request<'_>,
        wanted: ChangesRequest,
        page: &ChangesPage,
        repeated: String,
        slot: Option<WaitSlot>,
    ) -> Reply {
        let longest = self.inner.settings.longest_wait;
        let time = handling::wait(request.headers).map_or(longest, |asked| asked.min(longest));
        let event = self.event(cx, page, wanted.after.as_deref(), (wanted.size, &repeated));
        let mut reply = Reply::new(StatusCode::OK, ContentType::Events, event);
        reply.insert(ACCEL_BUFFERING, Some(HeaderValue::from_static("no")));
        let now = Instant::now();
        reply.following = Some(Box::new(Following {
            api: self.clone(),
            cx: cx.clone(),
            wanted: ChangesRequest { after: Some(page.next.clone()), ..wanted },
            repeated,
            has_more: page.has_more,
            timeout: request.timeout,
            identified: request.identified_as.clone().map(|identity| (request.headers.clone(), identity)),
            until: now.checked_add(time).unwrap_or(now),
            _slot: slot.map(Arc::new),
        }));
        reply
    }

    /// What there is; waits for it as long as the request does.
    pub(super) async fn told(
        &self,
        changes: &dyn Changes,
        cx: &Context,
        mut wanted: ChangesRequest,
        waiting: Waiting<'_>,
    ) -> Result<Feed> {
        let waits = waiting.time;
        let Some(timer) = waiting.timer.filter(|_| !waits.is_zero()) else {
            return changes.changes(cx, &wanted).await;
        };
        let begun = Instant::now();
        let mut cx = cx.clone();
        loop {
            // Before it looks: what is committed meanwhile is heard.
            let mut listening = changes.listen(&cx).await?;
            let feed = changes.changes(&cx, &wanted).await?;
            let left = waits.saturating_sub(begun.elapsed());
            let Feed::Page(page) = &feed else { return Ok(feed) };
            if !page.entries.is_empty() || left.is_zero() {
                return Ok(feed);
            }
            // What the key may not read was passed over.
            wanted.after = Some(page.next.clone());
            if !page.has_more {
                let time = listening.again().map_or(left, |again| again.min(left));
                let Some(mut sleeping) = timer.sleep(time) else { return Ok(feed) };
                poll_fn(|cx| {
                    let is_over = Pin::new(&mut listening).poll(cx).is_ready() || sleeping.as_mut().poll(cx).is_ready();
                    if is_over { Poll::Ready(()) } else { Poll::Pending }
                })
                .await;
            }
            // The time that it waited is none of the backend's.
            cx.deadline = waiting.deadline();
        }
    }

    fn unknown_cursor(&self) -> Reply {
        let text = "{property} is no cursor that the change feed gave to this key's tenant. Follow `next` and `last` links as they are.";
        self.invalid(None, &[Problem::new(Code::CursorInvalid, AFTER, text)])
    }

    pub(super) fn expired_cursor(&self, cx: &Context) -> Reply {
        let text = "What follows this cursor is not kept any more. Begin anew at the `first` or `start` link.";
        let mut reply = self.failure(Some(&Target::Changes), Code::CursorExpired, text);
        let mut body = reply.body.to_vec();
        hal::begin_anew(&self.hal(&cx.base), &mut body);
        reply.body = body.into();
        reply
    }
}
