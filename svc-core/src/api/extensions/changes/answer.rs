//! Responds to requests for the change feed.
//!
//! Requirements: SYN-01 to SYN-12.

use std::{
    future::poll_fn,
    pin::{Pin, pin},
    sync::Arc,
    task::Poll,
    time::{Duration, Instant},
};

use http::{HeaderName, HeaderValue, StatusCode};

use super::{
    ChangeFeedSettings,
    event_stream::{self, EventStream, WaitOptions, Waited},
    hal::{self, ChangesView},
    shared_reads::{ReadResult, Step},
    wait_slots::WaitSlot,
};
use crate::{
    api::{Api, ContentType, Request, Response, preferences},
    auth::Identity,
    backend::{ChangeFeed, FeedPage, FeedRequest, FeedResponse},
    context::Context,
    error::{Error, ErrorCode, Problem, Result},
    link::Target,
    model::Kind,
    page::{PageRequest, is_token},
};

/// The query parameter of the cursor.
const AFTER: &str = "after";

/// Makes a proxy forward events without buffering.
const ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// Reads the feed until there are entries after the cursor, on behalf of all requests that wait for
/// them.
///
/// It returns a page without entries only if the cursor advanced. Requests with different cursors
/// for the same position thus become one group.
async fn read_later(
    changes: &dyn ChangeFeed,
    cx: &Context,
    mut wanted: FeedRequest,
    waiting: &WaitOptions<'_>,
) -> Result<FeedResponse> {
    let mut has_waited = false;
    loop {
        let cx = waiting.context(cx);
        // Subscribe before the read, so that no commit in between is missed.
        let mut listening = changes.subscribe(&cx).await?;
        let feed = changes.read(&cx, &wanted).await?;
        let FeedResponse::Page(page) = &feed else {
            return Ok(feed);
        };
        let goes_on = wanted.after.as_ref() != Some(&page.next_cursor);
        if !page.entries.is_empty() || page.has_more || (has_waited && goes_on) {
            return Ok(feed);
        }
        wanted.after = Some(page.next_cursor.clone());
        match listening
            .poll_interval()
            .and_then(|again| waiting.timer.sleep(again))
        {
            Some(mut again) => _ = before(&mut again, &mut listening).await,
            None => listening.await,
        }
        has_waited = true;
    }
}

/// Returns the output of a future, or `None` if the time is over first.
async fn before<T>(
    time: &mut Pin<Box<dyn Future<Output = ()> + Send>>,
    future: impl Future<Output = T>,
) -> Option<T> {
    let mut future = pin!(future);
    poll_fn(|cx| match future.as_mut().poll(cx) {
        Poll::Ready(output) => Poll::Ready(Some(output)),
        Poll::Pending => time.as_mut().poll(cx).map(|()| None),
    })
    .await
}

impl ChangeFeedSettings {
    /// Returns how long a request may wait for changes: at most as long as it asks for, and not at
    /// all without a timer.
    pub(super) fn wait_time(&self, request: &Request<'_>) -> Duration {
        let asked = request
            .timer
            .and_then(|_| preferences::wait(request.headers))
            .unwrap_or_default();
        asked.min(self.longest_wait)
    }
}

impl Api {
    pub(super) async fn changes(&self, cx: &Context, request: &Request<'_>) -> Result<Response> {
        let feed = &self.extensions().changes;
        let Some(changes) = &feed.backend else {
            return Err(Error::not_implemented());
        };
        let sizes = self.limits();
        let asked =
            match PageRequest::read(request.query, sizes.default_page_size, sizes.max_page_size) {
                Ok(asked) => asked,
                Err(problems) => return Ok(self.invalid(None, &problems)),
            };
        let streams = event_stream::wants_events(request.headers);
        let mut after = PageRequest::parameter(request.query, AFTER);
        // A value that is not a cursor was dropped there, and would restart from the beginning.
        if after != asked.request.cursor {
            return Ok(self.unknown_cursor());
        }
        if let Some(last) = event_stream::last_event(request.headers).filter(|_| streams) {
            if !is_token(last) {
                return Ok(self.unknown_cursor());
            }
            after = Some(last.to_owned());
        }
        let kinds: Vec<Kind> = Kind::ALL
            .iter()
            .copied()
            .filter(|kind| cx.may_read(*kind))
            .collect();
        let wanted = FeedRequest::new(after.clone(), kinds, asked.request.size);
        let waits = feed.wait_time(request);
        let slot = if streams || !waits.is_zero() {
            match self.wait_slot(cx) {
                Ok(slot) => Some(slot),
                Err(reply) => return Ok(*reply),
            }
        } else {
            None
        };
        // A stream starts immediately, even without entries.
        let time = if streams { Duration::ZERO } else { waits };
        let timer = request.timer.filter(|_| !time.is_zero());
        let waiting = timer.map(|timer| WaitOptions {
            timer,
            time,
            timeout: request.timeout,
        });
        let page = match self
            .read_feed(&**changes, cx, wanted.clone(), waiting.as_ref())
            .await?
        {
            FeedResponse::Page(page) => page,
            FeedResponse::UnknownCursor => return Ok(self.unknown_cursor()),
            FeedResponse::ExpiredCursor => return Ok(self.expired_cursor(cx)),
        };
        // A key may have been revoked while the request waited.
        if let (Some(identity), true) = (&request.identified_as, waiting.is_some()) {
            match self.identity_now(cx, request.headers).await? {
                now if now == **identity => {}
                Identity::Authenticated(..) => {
                    return Err(Error::unavailable(Duration::from_secs(1)));
                }
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
        let mut body =
            Vec::with_capacity(page.entries.len().saturating_mul(640).saturating_add(1024));
        hal::changes(&self.hal(cx.base()), &view, &mut body);
        let mut reply = Response::hal(StatusCode::OK, body);
        if !waits.is_zero() {
            preferences::mark_wait(waits, &mut reply);
        }
        Ok(reply)
    }

    /// Returns a page as the first event, followed by the stream, which lasts as long as a request
    /// may wait.
    fn stream(
        &self,
        cx: &Context,
        request: &Request<'_>,
        wanted: FeedRequest,
        page: &FeedPage,
        repeated: String,
        slot: Option<WaitSlot>,
    ) -> Response {
        let longest = self.extensions().changes.longest_wait;
        let time = preferences::wait(request.headers).map_or(longest, |asked| asked.min(longest));
        let view = ChangesView {
            page,
            after: wanted.after.as_deref(),
            per_page: wanted.size,
            repeated: &repeated,
        };
        let event = self.event(cx, &view);
        let mut reply = Response::new(StatusCode::OK, ContentType::EventStream, event);
        reply.insert(ACCEL_BUFFERING, Some(HeaderValue::from_static("no")));
        let now = Instant::now();
        reply.event_stream = Some(Box::new(EventStream {
            api: self.clone(),
            cx: cx.clone(),
            wanted: FeedRequest {
                after: Some(page.next_cursor.clone()),
                ..wanted
            },
            repeated,
            has_more: page.has_more,
            timeout: request.timeout,
            identified: request
                .identified_as
                .clone()
                .map(|identity| (request.headers.clone(), identity)),
            until: now.checked_add(time).unwrap_or(now),
            _slot: slot.map(Arc::new),
        }));
        reply
    }

    /// Reads the feed, and waits for entries as long as the request does.
    async fn read_feed(
        &self,
        changes: &dyn ChangeFeed,
        cx: &Context,
        mut wanted: FeedRequest,
        waiting: Option<&WaitOptions<'_>>,
    ) -> Result<FeedResponse> {
        let Some(waiting) = waiting else {
            return changes.read(cx, &wanted).await;
        };
        match self.told_later(changes, cx, &mut wanted, waiting).await? {
            Waited::Until(feed) => Ok(feed),
            Waited::InVain | Waited::WithoutTimer => {
                changes.read(&waiting.context(cx), &wanted).await
            }
        }
    }

    /// Waits for entries after a cursor, and advances it past entries that the key may not read.
    pub(super) async fn told_later(
        &self,
        changes: &dyn ChangeFeed,
        cx: &Context,
        wanted: &mut FeedRequest,
        waiting: &WaitOptions<'_>,
    ) -> Result<Waited> {
        let Some(mut over) = waiting.timer.sleep(waiting.time) else {
            return Ok(Waited::WithoutTimer);
        };
        loop {
            let mut member = self
                .extensions()
                .changes
                .shared_reads
                .join(cx.tenant(), wanted);
            let step = before(&mut over, poll_fn(|cx| member.poll_step(cx))).await;
            let feed = match step {
                None => return Ok(Waited::InVain),
                Some(Step::Take(ReadResult::Read(feed))) => feed,
                Some(Step::Take(ReadResult::Failed)) => {
                    // The next request must not wait for this read.
                    drop(member);
                    changes.read(&waiting.context(cx), wanted).await?
                }
                Some(Step::Read) => {
                    let read =
                        before(&mut over, read_later(changes, cx, wanted.clone(), waiting)).await;
                    let Some(read) = read else {
                        return Ok(Waited::InVain);
                    };
                    member.publish(
                        read.as_ref()
                            .map_or(ReadResult::Failed, |feed| ReadResult::Read(feed.clone())),
                    );
                    read?
                }
            };
            match feed {
                FeedResponse::Page(page) if page.entries.is_empty() => {
                    wanted.after = Some(page.next_cursor);
                }
                feed => return Ok(Waited::Until(feed)),
            }
        }
    }

    fn unknown_cursor(&self) -> Response {
        let text = "{property} is not a cursor of this tenant's change feed. Follow `next` and `last` links unchanged.";
        self.invalid(None, &[Problem::new(ErrorCode::CursorInvalid, AFTER, text)])
    }

    pub(in crate::api) fn expired_cursor(&self, cx: &Context) -> Response {
        let text = "This cursor has expired. Restart from the `first` or `start` link.";
        let mut reply = self.error_response(Some(&Target::Changes), ErrorCode::CursorExpired, text);
        let mut body = reply.body.to_vec();
        hal::write_restart_links(&self.hal(cx.base()), &mut body);
        reply.body = body.into();
        reply
    }
}
