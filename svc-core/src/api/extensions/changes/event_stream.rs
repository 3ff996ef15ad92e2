//! The change feed as an event stream: each page is sent as soon as it has entries.
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
    backend::{FeedPage, FeedRequest, FeedResponse},
    context::Context,
    error::{Error, Result},
    link::Target,
};

/// The header that a client sends when it reconnects: the cursor of its last event.
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// Returns whether a client wants events: whether `text/event-stream` comes first in its `Accept`
/// header.
pub(super) fn wants_events(headers: &HeaderMap) -> bool {
    let accepted = headers
        .get(ACCEPT)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let first = accepted.split([',', ';']).next().unwrap_or_default().trim();
    first.eq_ignore_ascii_case(ContentType::EventStream.as_str())
}

/// Returns the cursor of the last event of a client that reconnects.
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
    /// How long it waits for entries.
    pub(super) time: Duration,
    /// The timeout of each backend call.
    pub(super) timeout: Option<Duration>,
}

impl WaitOptions<'_> {
    /// Returns the context of a read that begins now. The time that the request has waited does not
    /// count towards its deadline.
    pub(super) fn context(&self, cx: &Context) -> Context {
        let mut cx = cx.clone();
        cx.set_deadline(
            self.timeout
                .and_then(|timeout| Instant::now().checked_add(timeout)),
        );
        cx
    }
}

/// The end of a wait for changes.
pub(super) enum Waited {
    /// There are entries, or the cursor is unknown or expired.
    Until(FeedResponse),
    /// The time is over.
    InVain,
    /// There is no timer.
    WithoutTimer,
}

/// The rest of a response that is an event stream, in
/// [`Response::event_stream`](super::Response::event_stream).
#[derive(Clone)]
pub struct EventStream {
    pub(super) api: Api,
    pub(super) cx: Context,
    /// The next read of the feed.
    pub(super) wanted: FeedRequest,
    /// The query parameters that every link repeats.
    pub(super) repeated: String,
    pub(super) has_more: bool,
    pub(super) timeout: Option<Duration>,
    pub(super) until: Instant,
    /// The headers of the request and its identity, if the authenticator is called again before
    /// each part.
    pub(super) identified: Option<(HeaderMap, Box<Identity>)>,
    /// The wait slot, which clones share.
    pub(super) _slot: Option<Arc<WaitSlot>>,
}

impl fmt::Debug for EventStream {
    /// Omits cursor and caller.
    ///
    /// Requirements: UND-42.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Following")
    }
}

impl EventStream {
    /// The maximum time without data, so that proxies between client and server do not close the
    /// connection.
    pub const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(10);

    /// Returns the next part of the stream: an event with entries, or one without entries that
    /// keeps the connection alive.
    ///
    /// Returns `None` at the end of the stream. The stream also ends if the key of the request was
    /// revoked or has other rights, and if the backend fails, which is logged. The key is checked
    /// if [`ResolvedRequest::authenticate`](crate::api::ResolvedRequest::authenticate) was called.
    /// The client then reconnects with the cursor of its last event and gets the error.
    ///
    /// Poll the future whenever it is woken, or drop it: other requests may wait for its read of
    /// the feed.
    pub async fn next(&mut self, timer: &dyn Timer) -> Option<Bytes> {
        self.next_events(timer).await.unwrap_or_else(|error| {
            // This call logs the error; the response is not sent.
            let _ = self
                .api
                .backend_error_response(Some(&Target::Changes), error);
            None
        })
    }

    async fn next_events(&mut self, timer: &dyn Timer) -> Result<Option<Bytes>> {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() && !self.has_more {
            return Ok(None);
        }
        let waiting = WaitOptions {
            timer,
            time: left.min(Self::KEEP_ALIVE_INTERVAL),
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
            // Without a timer, the loop would read again without a pause.
            Waited::Until(_) | Waited::WithoutTimer => return Ok(None),
        };
        // A key that was revoked or has other rights now gets no more entries.
        if let Some((headers, identity)) = &self.identified
            && self.api.identity_now(&self.cx, headers).await? != **identity
        {
            return Ok(None);
        }
        let after = self.wanted.after.replace(page.next_cursor.clone());
        self.has_more = page.has_more;
        let view = ChangesView {
            page: &page,
            after: after.as_deref(),
            per_page: self.wanted.size,
            repeated: &self.repeated,
        };
        Ok(Some(self.api.event(&self.cx, &view)))
    }
}

impl Api {
    /// Returns a page as an event. A page without entries only has the cursor for a reconnect.
    pub(super) fn event(&self, cx: &Context, view: &ChangesView<'_>) -> Bytes {
        let mut event = format!("id: {}\n", view.page.next_cursor).into_bytes();
        if !view.page.entries.is_empty() {
            event.extend_from_slice(b"data: ");
            hal::changes(&self.hal(cx.base()), view, &mut event);
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

    /// SYN-12: a client gets events if it lists them first in `Accept`, and pages if it lists them
    /// later.
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
