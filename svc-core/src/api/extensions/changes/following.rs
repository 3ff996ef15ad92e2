//! The change feed as a stream of events: the pages that a client would ask for, each when there is
//! something to tell.
//!
//! Requirements: SYN-12.

use std::{
    fmt,
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, header::ACCEPT};

use super::{
    hal::{self, ChangesView},
    wait_slots::WaitSlot,
};
use crate::{
    api::{Api, ContentType, Timer},
    auth::Identity,
    context::Context,
    error::{Error, Result},
    link::Target,
    ops::{FeedPage, FeedRequest, FeedResponse},
};

/// What a client that comes back sends: the cursor of the last event that it had.
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// Whether a client asks for events: whether its `Accept` begins with them.
pub(super) fn wants_events(headers: &HeaderMap) -> bool {
    let accepted = headers
        .get(ACCEPT)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let first = accepted.split([',', ';']).next().unwrap_or_default().trim();
    first.eq_ignore_ascii_case(ContentType::EventStream.as_str())
}

/// The cursor behind the last event that a client had, where it comes back.
pub(super) fn last_event(headers: &HeaderMap) -> Option<&str> {
    headers
        .get(LAST_EVENT_ID)?
        .to_str()
        .ok()
        .filter(|cursor| !cursor.is_empty())
}

/// How a request waits for changes.
pub(super) struct WaitOptions<'a> {
    pub(super) timer: &'a dyn Timer,
    /// How long it waits for something to tell.
    pub(super) time: Duration,
    /// How long the backend may take whenever it is asked.
    pub(super) timeout: Option<Duration>,
}

impl WaitOptions<'_> {
    /// The context of a read that begins now: the time that a request waited is none of the
    /// backend's.
    pub(super) fn context(&self, cx: &Context) -> Context {
        let mut cx = cx.clone();
        cx.deadline = self
            .timeout
            .and_then(|timeout| Instant::now().checked_add(timeout));
        cx
    }
}

/// How a wait for changes ended.
pub(super) enum Waited {
    /// With this.
    Until(FeedResponse),
    /// The time is over.
    InVain,
    /// Nothing tells the time.
    WithoutTimer,
}

/// The rest of an answer that goes on telling what is changed, as
/// [`Response::event_stream`](super::Response::event_stream) has it.
#[derive(Clone)]
pub struct EventStream {
    pub(super) api: Api,
    pub(super) cx: Context,
    /// What is asked for next.
    pub(super) wanted: FeedRequest,
    /// What every link repeats.
    pub(super) repeated: String,
    pub(super) has_more: bool,
    pub(super) timeout: Option<Duration>,
    pub(super) until: Instant,
    /// The headers of the request and who sent it, where the authenticator is asked again before
    /// each part.
    pub(super) identified: Option<(HeaderMap, Box<Identity>)>,
    /// Its slot, which clones share.
    pub(super) _slot: Option<Arc<WaitSlot>>,
}

impl fmt::Debug for EventStream {
    /// Without cursor and caller.
    ///
    /// Requirements: UND-42.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Following")
    }
}

impl EventStream {
    /// How long a stream is silent at most, so that whoever sits between client and server does not
    /// take it for dead.
    pub const SILENCE: Duration = Duration::from_secs(10);

    /// The next part of the stream: an event, or a sign that the server is there. `None` at the
    /// end, when the key of the request was revoked or has other rights (where
    /// [`ResolvedRequest::authenticate`](crate::api::ResolvedRequest::authenticate) found it), and
    /// where the backend is in trouble, which is logged: the client comes back with the cursor of
    /// the last event that it had, and is told then.
    ///
    /// Poll the future whenever it is woken, or drop it: other requests may wait for its read of
    /// the feed.
    pub async fn next(&mut self, timer: &dyn Timer) -> Option<Bytes> {
        self.told(timer).await.unwrap_or_else(|error| {
            // Nobody is answered: it is logged there.
            let _ = self
                .api
                .backend_error_response(Some(&Target::Changes), error);
            None
        })
    }

    async fn told(&mut self, timer: &dyn Timer) -> Result<Option<Bytes>> {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() && !self.has_more {
            return Ok(None);
        }
        let waiting = WaitOptions {
            timer,
            time: left.min(Self::SILENCE),
            timeout: self.timeout,
        };
        let Some(changes) = &self.api.extensions().changes.backend else {
            return Err(Error::not_implemented());
        };
        let waited = if self.has_more {
            Waited::Until(
                changes
                    .read(&waiting.context(&self.cx), &self.wanted)
                    .await?,
            )
        } else {
            self.api
                .told_later(&**changes, &self.cx, &mut self.wanted, &waiting)
                .await?
        };
        let page = match waited {
            Waited::Until(FeedResponse::Page(page)) => page,
            Waited::InVain => {
                let end = self.wanted.after.clone().unwrap_or_default();
                FeedPage::new(Vec::new(), end.clone(), end, false)
            }
            // Where nothing tells the time, it would ask again without a pause.
            Waited::Until(_) | Waited::WithoutTimer => return Ok(None),
        };
        // A key that was revoked, or has other rights by now, receives nothing more.
        if let Some((headers, identity)) = &self.identified
            && self.api.identity_now(&self.cx, headers).await? != **identity
        {
            return Ok(None);
        }
        let after = self.wanted.after.replace(page.next_cursor.clone());
        self.has_more = page.has_more;
        Ok(Some(self.api.event(
            &self.cx,
            &page,
            after.as_deref(),
            (self.wanted.size, &self.repeated),
        )))
    }
}

impl Api {
    /// A page as an event. One with nothing to tell says only where a client comes back.
    pub(super) fn event(
        &self,
        cx: &Context,
        page: &FeedPage,
        after: Option<&str>,
        (per_page, repeated): (u32, &str),
    ) -> Bytes {
        let mut event = format!("id: {}\n", page.next_cursor).into_bytes();
        if !page.entries.is_empty() {
            event.extend_from_slice(b"data: ");
            let view = ChangesView {
                page,
                after,
                per_page,
                repeated,
            };
            hal::changes(&self.hal(&cx.base), &view, &mut event);
            event.push(b'\n');
        }
        event.push(b'\n');
        event.into()
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    /// SYN-12: a client that asks for events first is sent them; one that would also take them is
    /// sent pages.
    #[test]
    fn syn_12_who_asks_for_events_first_is_sent_them() {
        let wants = |accept: &str| {
            wants_events(&HeaderMap::from_iter([(
                ACCEPT,
                HeaderValue::from_str(accept).unwrap(),
            )]))
        };
        assert!(
            [
                "text/event-stream",
                "Text/Event-Stream; charset=utf-8, */*",
                " text/event-stream ,x/y"
            ]
            .map(wants)
            .iter()
            .all(|it| *it)
        );
        assert!(
            ![
                "*/*",
                "",
                "application/hal+json, text/event-stream",
                "text/event-streams"
            ]
            .map(wants)
            .iter()
            .any(|it| *it)
        );
        assert!(!wants_events(&HeaderMap::new()));
    }
}
