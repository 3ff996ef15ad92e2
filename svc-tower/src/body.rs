//! Reads the body of a request and checks its media type and size.
//!
//! Requirements: UND-17, UND-27.

use std::{
    error::Error,
    fmt,
    future::poll_fn,
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::Poll,
};

use bytes::{Buf, Bytes};
use http::{
    HeaderMap,
    header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, EXPECT, TRANSFER_ENCODING},
};
use http_body::Body;
use http_body_util::{BodyExt, LengthLimitError, combinators::UnsyncBoxBody};
use svc_core::ErrorCode;

use crate::budget::{BodyBudget, Cut, PartialBody};

/// An error of a body.
pub(crate) type BoxError = Box<dyn Error + Send + Sync>;

/// The body of a request, with any server.
pub(crate) type AnyBody = UnsyncBoxBody<Bytes, BoxError>;

/// Maximum number of bytes to read from a body that is not needed.
const MOST_DROPPED: u64 = 64 * 1024;

/// Error of a body that arrived too slowly, returned by the body type of a server: 408
/// `REQUEST_TIMEOUT`.
///
/// The service recognises it anywhere in the chain of sources of an error. An [`io::Error`] of the
/// kind [`TimedOut`](io::ErrorKind::TimedOut) has the same meaning.
///
/// Requirements: UND-17.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BodyTimeoutError;

impl fmt::Display for BodyTimeoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the body arrived too slowly")
    }
}

impl Error for BodyTimeoutError {}

/// Extension of a request whose body has a time limit. It informs the code that enforces the limit
/// that the body is read in parts. The limit then applies to each wait and not to the whole body.
///
/// Requirements: BAT-08.
#[derive(Debug, Clone, Default)]
pub(crate) struct BodyProgress(Arc<AtomicU64>);

impl BodyProgress {
    /// Starts the next wait for more of the body.
    pub(crate) fn restart_timeout(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the number of the current wait, or `None` for a body that is read as a whole.
    #[cfg(feature = "server")]
    pub(crate) fn wait(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Reason for rejecting a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BodyRejection {
    /// Its media type is not JSON.
    MediaType,
    /// It is compressed or has another content coding.
    Coding,
    /// It is larger than the limit.
    TooLarge,
    /// It arrived too slowly.
    TooSlow,
    /// It ended early, or does not match its headers.
    Broken,
    /// The budget for incomplete bodies is used up.
    ///
    /// Requirements: UND-43.
    OverBudget,
}

impl BodyRejection {
    /// Returns the error code of the response (Annex C).
    pub(crate) const fn code(self) -> ErrorCode {
        match self {
            Self::MediaType | Self::Coding => ErrorCode::MediaTypeNotSupported,
            Self::TooLarge => ErrorCode::BodyTooLarge,
            Self::TooSlow => ErrorCode::RequestTimeout,
            Self::Broken => ErrorCode::RequestInvalid,
            Self::OverBudget => ErrorCode::Unavailable,
        }
    }

    /// Returns the description for the client.
    pub(crate) fn description(self, limit: usize) -> String {
        match self {
            Self::MediaType => {
                "The body must be JSON. Send the fields as a JSON object, with Content-Type \
                                application/hal+json, application/json or none."
                    .to_owned()
            }
            Self::Coding => {
                "The body must not be compressed. Send it without Content-Encoding.".to_owned()
            }
            Self::TooLarge => {
                format!("The body must be at most {limit} bytes.")
            }
            Self::TooSlow => "The body did not arrive in time.".to_owned(),
            Self::Broken => {
                "The body ended early, or does not match the headers of the request.".to_owned()
            }
            Self::OverBudget => {
                "The server receives too many bodies. Send the request again later.".to_owned()
            }
        }
    }

    /// Returns the description for a batch, which has two formats.
    pub(crate) fn of_batch(self, limit: usize) -> String {
        match self {
            Self::MediaType => {
                "A batch must be a JSON array with Content-Type application/json, or one JSON object on each \
                                line with application/x-ndjson."
                    .to_owned()
            }
            Self::TooLarge => {
                format!(
                    "A batch as one JSON array must be at most {limit} bytes. Send several arrays, or \
                     any number of entries as application/x-ndjson, one on each line."
                )
            }
            _ => self.description(limit),
        }
    }

    /// Returns whether the rest of the body may still arrive, so that the connection cannot be
    /// reused.
    pub(crate) const fn has_unread_body(self) -> bool {
        matches!(
            self,
            Self::TooLarge | Self::TooSlow | Self::Broken | Self::OverBudget
        )
    }
}

/// Returns the body as [`AnyBody`].
pub(crate) fn erase<B>(body: B) -> AnyBody
where
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<BoxError>,
{
    body.map_frame(|frame| frame.map_data(|mut data| data.copy_to_bytes(data.remaining())))
        .map_err(Into::into)
        .boxed_unsync()
}

/// Rejects a body by its headers, before any of it is read.
pub(crate) fn check_head(headers: &HeaderMap) -> Result<(), BodyRejection> {
    if !headers
        .get_all(CONTENT_TYPE)
        .iter()
        .all(|value| is_json(value.as_bytes()))
    {
        return Err(BodyRejection::MediaType);
    }
    check_coding(headers)
}

/// Rejects a body that is compressed or has another content coding.
pub(crate) fn check_coding(headers: &HeaderMap) -> Result<(), BodyRejection> {
    let is_plain = |value: &[u8]| {
        let mut codings = value.split(|&byte| byte == b',').map(<[u8]>::trim_ascii);
        codings.all(|coding| coding.is_empty() || coding.eq_ignore_ascii_case(b"identity"))
    };
    if !headers
        .get_all(CONTENT_ENCODING)
        .iter()
        .all(|value| is_plain(value.as_bytes()))
    {
        return Err(BodyRejection::Coding);
    }
    Ok(())
}

/// Returns whether a media type is `application/json` or `application/*+json`. Parameters such as a
/// charset are ignored.
fn is_json(value: &[u8]) -> bool {
    let essence = value
        .split(|&byte| byte == b';')
        .next()
        .unwrap_or_default()
        .trim_ascii()
        .to_ascii_lowercase();
    let is_suffixed = |subtype: &[u8]| {
        let name = subtype.strip_suffix(b"+json").unwrap_or_default();
        !name.is_empty()
            && name
                .iter()
                .all(|&byte| byte.is_ascii_alphanumeric() || b"!#$&^_.+-".contains(&byte))
    };
    essence.is_empty()
        || essence
            .strip_prefix(b"application/")
            .is_some_and(|subtype| subtype == b"json" || is_suffixed(subtype))
}

/// Reads the whole body, and stops as soon as the limit is exceeded. If the body has several
/// pieces, their memory counts against `budget`.
pub(crate) async fn read(
    headers: &HeaderMap,
    mut body: AnyBody,
    limit: usize,
    budget: &BodyBudget,
) -> Result<Bytes, BodyRejection> {
    let announced = body.size_hint().lower().max(content_length(headers));
    let Some(announced) = usize::try_from(announced)
        .ok()
        .filter(|announced| *announced <= limit)
    else {
        return Err(BodyRejection::TooLarge);
    };
    let mut partial: Option<PartialBody> = None;
    loop {
        let frame = poll_fn(|cx| match (Pin::new(&mut body).poll_frame(cx), &partial) {
            (Poll::Pending, Some(partial)) => partial.poll_cut(cx).map(Err),
            (frame, _) => frame.map(Ok),
        });
        let Some(frame) = frame.await? else { break };
        let Ok(data) = frame
            .map_err(|error| refusal_of(error.as_ref()))?
            .into_data()
        else {
            continue;
        };
        // No overflow: the collected data never exceeds the limit.
        if data.len() > limit.saturating_sub(partial.as_ref().map_or(0, PartialBody::len)) {
            return Err(BodyRejection::TooLarge);
        }
        if partial.is_none() && body.is_end_stream() {
            return Ok(data);
        }
        let expected = if announced == 0 { limit } else { announced };
        partial
            .get_or_insert_with(|| PartialBody::new(budget.clone(), expected))
            .extend(&data)?;
    }
    Ok(partial
        .map(PartialBody::finish)
        .transpose()?
        .unwrap_or_default())
}

impl From<Cut> for BodyRejection {
    fn from(_: Cut) -> Self {
        Self::OverBudget
    }
}

/// Reads and drops a body that is not needed, so that the next request can use the same connection.
/// Returns whether the end was reached.
///
/// A long body is not read, and neither is one that waits for `100 Continue`. The connection must
/// then be closed.
pub(crate) async fn dropped(headers: &HeaderMap, mut body: AnyBody) -> bool {
    if body.is_end_stream() {
        return true;
    }
    let announced = body.size_hint().lower().max(content_length(headers));
    if announced > MOST_DROPPED || headers.contains_key(EXPECT) {
        return false;
    }
    let mut left = MOST_DROPPED;
    while let Some(frame) = body.frame().await {
        let length = frame
            .ok()
            .map(|frame| frame.data_ref().map_or(0, Bytes::len));
        match length.and_then(|length| left.checked_sub(u64::try_from(length).ok()?)) {
            Some(rest) => left = rest,
            None => return false,
        }
    }
    true
}

/// Returns whether the headers announce a body.
pub(crate) fn is_announced(headers: &HeaderMap) -> bool {
    content_length(headers) > 0 || headers.contains_key(TRANSFER_ENCODING)
}

/// Returns the announced length, or zero.
fn content_length(headers: &HeaderMap) -> u64 {
    let text = headers
        .get(CONTENT_LENGTH)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    match text.parse() {
        Ok(length) => length,
        // More digits than `u64` has.
        Err(_) if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) => u64::MAX,
        Err(_) => 0,
    }
}

/// Returns the rejection that an error of a body means.
pub(crate) fn refusal_of(error: &(dyn Error + 'static)) -> BodyRejection {
    let mut link = Some(error);
    while let Some(error) = link {
        let io = error.downcast_ref::<io::Error>();
        if error.is::<BodyTimeoutError>()
            || io.is_some_and(|io| io.kind() == io::ErrorKind::TimedOut)
        {
            return BodyRejection::TooSlow;
        }
        // A layer around the service has its own limit.
        if error.is::<LengthLimitError>() {
            return BodyRejection::TooLarge;
        }
        // The error inside an `io::Error` is not one of its sources.
        let inside = io
            .and_then(io::Error::get_ref)
            .map(|inside| inside as &(dyn Error + 'static));
        link = inside.or_else(|| error.source());
    }
    BodyRejection::Broken
}

#[cfg(test)]
mod tests {
    use std::{
        collections::VecDeque,
        pin::Pin,
        task::{Context, Poll},
    };

    use http::HeaderValue;
    use http_body::Frame;
    use http_body_util::Full;

    use super::*;

    /// A body of these chunks, which counts the requested chunks.
    struct Chunks(VecDeque<Result<Bytes, BoxError>>);

    impl Chunks {
        fn of(chunks: &[&'static str]) -> Self {
            Self(
                chunks
                    .iter()
                    .map(|chunk| Ok(Bytes::from_static(chunk.as_bytes())))
                    .collect(),
            )
        }

        fn failing(error: impl Into<BoxError>) -> Self {
            Self([Ok(Bytes::from_static(b"{")), Err(error.into())].into())
        }
    }

    impl Body for Chunks {
        type Data = Bytes;
        type Error = BoxError;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
            Poll::Ready(self.0.pop_front().map(|chunk| chunk.map(Frame::data)))
        }
    }

    async fn read_all(
        headers: &HeaderMap,
        body: AnyBody,
        limit: usize,
    ) -> Result<Bytes, BodyRejection> {
        read(headers, body, limit, &BodyBudget::default()).await
    }

    fn full(text: &'static str) -> Full<Bytes> {
        Full::from(text)
    }

    fn labelled(name: http::HeaderName, value: &[u8]) -> HeaderMap {
        HeaderMap::from_iter([(name, HeaderValue::from_bytes(value).unwrap())])
    }

    #[test]
    fn und_27_media_types_and_codings() {
        let json = [
            "application/json",
            "Application/HAL+JSON",
            "application/json; charset=utf-8",
            "application/a.b+json",
            "",
        ];
        for good in json {
            assert_eq!(
                check_head(&labelled(CONTENT_TYPE, good.as_bytes())),
                Ok(()),
                "{good}"
            );
        }
        let others = [
            "text/json",
            "application/x-www-form-urlencoded",
            "application/jsonx",
            "application/+json",
            "json",
            "*/*",
        ];
        for bad in others {
            assert_eq!(
                check_head(&labelled(CONTENT_TYPE, bad.as_bytes())),
                Err(BodyRejection::MediaType),
                "{bad}"
            );
        }
        assert_eq!(
            check_head(&labelled(CONTENT_TYPE, b"application/\xff+json")),
            Err(BodyRejection::MediaType)
        );
        assert_eq!(check_head(&HeaderMap::new()), Ok(()));
        assert_eq!(
            check_head(&labelled(CONTENT_ENCODING, b"identity, Identity")),
            Ok(())
        );
        for coding in ["gzip", "identity, gzip", "br"] {
            assert_eq!(
                check_head(&labelled(CONTENT_ENCODING, coding.as_bytes())),
                Err(BodyRejection::Coding),
                "{coding}"
            );
        }
        let mut two = labelled(CONTENT_TYPE, b"application/json");
        two.append(CONTENT_TYPE, HeaderValue::from_static("text/html"));
        assert_eq!(check_head(&two), Err(BodyRejection::MediaType));
    }

    #[tokio::test]
    async fn und_17_the_limit_holds_for_announced_and_for_chunked_bodies() {
        let none = HeaderMap::new();
        assert_eq!(
            read_all(&none, erase(full("1234")), 4).await.as_deref(),
            Ok(&b"1234"[..])
        );
        assert_eq!(
            read_all(&none, erase(full("12345")), 4).await,
            Err(BodyRejection::TooLarge)
        );
        assert_eq!(
            read_all(&none, erase(Chunks::of(&["12", "3", "4"])), 4)
                .await
                .as_deref(),
            Ok(&b"1234"[..])
        );
        assert_eq!(
            read_all(&none, erase(Chunks::of(&["12", "", "345", "6"])), 4).await,
            Err(BodyRejection::TooLarge)
        );
        for length in ["5", "99999999999999999999999"] {
            let headers = labelled(CONTENT_LENGTH, length.as_bytes());
            assert_eq!(
                read_all(&headers, erase(Chunks::of(&["1"])), 4).await,
                Err(BodyRejection::TooLarge)
            );
        }
        assert_eq!(
            read_all(&none, erase(Chunks::of(&[])), 4).await.as_deref(),
            Ok(&b""[..])
        );
        assert_eq!(
            read_all(&none, erase(Chunks::of(&["1"])), 0).await,
            Err(BodyRejection::TooLarge)
        );
    }

    #[tokio::test]
    async fn und_17_a_short_body_is_dropped_and_a_long_one_left() {
        let none = HeaderMap::new();
        let longest = "x".repeat(64 * 1024);
        assert!(dropped(&none, erase(full(""))).await);
        assert!(dropped(&none, erase(Chunks::of(&["1", "", "2"]))).await);
        assert!(dropped(&none, erase(Full::<Bytes>::from(longest.clone()))).await);
        assert!(
            !dropped(&none, erase(Full::<Bytes>::from(longest.clone() + "x"))).await,
            "rejected by its announced size"
        );
        assert!(
            !dropped(
                &none,
                erase(Chunks([Ok(longest.into()), Ok("x".into())].into()))
            )
            .await,
            "detected while reading"
        );
        assert!(!dropped(&none, erase(Chunks::failing("reset"))).await);
        let one = || erase(Chunks::of(&["1"]));
        assert!(!dropped(&labelled(CONTENT_LENGTH, b"65537"), one()).await);
        assert!(
            !dropped(&labelled(EXPECT, b"100-continue"), one()).await,
            "reading it would send `100 Continue`"
        );
        assert!(
            is_announced(&labelled(CONTENT_LENGTH, b"1"))
                && is_announced(&labelled(TRANSFER_ENCODING, b"chunked"))
        );
        assert!(!is_announced(&labelled(CONTENT_LENGTH, b"0")) && !is_announced(&none));
    }

    #[tokio::test]
    async fn und_17_a_slow_body_is_known_by_its_error_wherever_it_stands() {
        let none = HeaderMap::new();
        let slow: [BoxError; 3] = [
            BodyTimeoutError.into(),
            io::Error::new(io::ErrorKind::ConnectionAborted, BodyTimeoutError).into(),
            io::Error::from(io::ErrorKind::TimedOut).into(),
        ];
        for error in slow {
            assert_eq!(
                read_all(&none, erase(Chunks::failing(error)), 9).await,
                Err(BodyRejection::TooSlow)
            );
        }
        assert_eq!(
            read_all(&none, erase(Chunks::failing("reset")), 9).await,
            Err(BodyRejection::Broken)
        );
        let limited = http_body_util::Limited::new(full("12345"), 2);
        assert_eq!(
            read_all(&none, erase(limited), 9).await,
            Err(BodyRejection::TooLarge)
        );
    }
}
