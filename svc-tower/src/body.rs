//! The body of a request: its media type, its size, and reading it.
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

/// Any error of a body.
pub(crate) type BoxError = Box<dyn Error + Send + Sync>;

/// A request's body whatever server it came from.
pub(crate) type AnyBody = UnsyncBoxBody<Bytes, BoxError>;

/// The most that is read of a body that was not wanted, in bytes.
const MOST_DROPPED: u64 = 64 * 1024;

/// What a server's body wrapper ends with when the body came too slowly: 408 `REQUEST_TIMEOUT`.
///
/// The service finds it anywhere in the chain of the error's sources. An [`io::Error`] of the kind
/// [`TimedOut`](io::ErrorKind::TimedOut) means the same.
///
/// Requirements: UND-17.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BodyTimeoutError;

impl fmt::Display for BodyTimeoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the body came too slowly")
    }
}

impl Error for BodyTimeoutError {}

/// Stands in the extensions of a request whose body has a time limit: tells whoever keeps the limit
/// that the body is read part by part, so that it holds for each wait and not for the whole.
///
/// Requirements: BAT-08.
#[derive(Debug, Clone, Default)]
pub(crate) struct BodyProgress(Arc<AtomicU64>);

impl BodyProgress {
    /// A wait for more of the body begins.
    pub(crate) fn wait_anew(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// The number of the wait that goes on; none of a body that is read whole.
    #[cfg(feature = "server")]
    pub(crate) fn wait(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Why a body is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BodyRejection {
    /// It is not JSON by its label.
    MediaType,
    /// It is compressed or otherwise coded.
    Coding,
    /// It is larger than the limit.
    TooLarge,
    /// It came too slowly.
    TooSlow,
    /// It broke off, or is not what its headers announced.
    Broken,
    /// The budget for incomplete bodies is used up.
    ///
    /// Requirements: UND-43.
    OverBudget,
}

impl BodyRejection {
    /// The code of the answer (Annex C).
    pub(crate) const fn code(self) -> ErrorCode {
        match self {
            Self::MediaType | Self::Coding => ErrorCode::MediaTypeNotSupported,
            Self::TooLarge => ErrorCode::BodyTooLarge,
            Self::TooSlow => ErrorCode::RequestTimeout,
            Self::Broken => ErrorCode::RequestInvalid,
            Self::OverBudget => ErrorCode::Unavailable,
        }
    }

    /// What is wrong, for the client.
    pub(crate) fn description(self, limit: usize) -> String {
        match self {
            Self::MediaType => {
                "The body must be JSON: send the fields as a JSON object, with Content-Type \
                                application/hal+json, application/json or none."
                    .to_owned()
            }
            Self::Coding => {
                "The body must not be compressed: send it without Content-Encoding.".to_owned()
            }
            Self::TooLarge => {
                format!("The body is larger than {limit} bytes, the most that this server takes.")
            }
            Self::TooSlow => "The body did not arrive in time.".to_owned(),
            Self::Broken => {
                "The body broke off, or is not what the request's head announced.".to_owned()
            }
            Self::OverBudget => {
                "The server receives too many bodies. Send the request again later.".to_owned()
            }
        }
    }

    /// The same of a batch, which comes in two forms.
    pub(crate) fn of_batch(self, limit: usize) -> String {
        match self {
            Self::MediaType => {
                "A batch must be a JSON array with Content-Type application/json, or one JSON object on each \
                                line with application/x-ndjson."
                    .to_owned()
            }
            Self::TooLarge => {
                format!(
                    "The body is larger than {limit} bytes, the most that this server takes as one JSON array. Send several, or \
                     any number of entries as application/x-ndjson, one on each line."
                )
            }
            _ => self.description(limit),
        }
    }

    /// Whether the rest of the body is still on its way, so that the connection cannot be used
    /// again.
    pub(crate) const fn leaves_a_rest(self) -> bool {
        matches!(
            self,
            Self::TooLarge | Self::TooSlow | Self::Broken | Self::OverBudget
        )
    }
}

/// The body as bytes, whatever its type was.
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

/// Refuses a body by its head, before anything of it is read.
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

/// Refuses a body that is compressed or otherwise coded.
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

/// Whether a media type is `application/json` or `application/*+json`; parameters such as a charset
/// are no matter.
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

/// The whole body, or why it is not taken. Stops reading as soon as the limit is passed. Memory is
/// counted in `budget` from the first piece of a body that has more of them.
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
        // Cannot overflow: what is collected never passes the limit.
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

/// Reads and drops a body that was not wanted, so that the next request can come on the same
/// connection; whether its end was met. A long one is not read, nor one that waits for leave to be
/// sent: then the connection is to be closed.
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

/// Whether a head announces a body.
pub(crate) fn is_announced(headers: &HeaderMap) -> bool {
    content_length(headers) > 0 || headers.contains_key(TRANSFER_ENCODING)
}

/// The announced length, or zero.
fn content_length(headers: &HeaderMap) -> u64 {
    let text = headers
        .get(CONTENT_LENGTH)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    match text.parse() {
        Ok(length) => length,
        // More digits than a length can have.
        Err(_) if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) => u64::MAX,
        Err(_) => 0,
    }
}

/// What the error of a body stands for.
pub(crate) fn refusal_of(error: &(dyn Error + 'static)) -> BodyRejection {
    let mut link = Some(error);
    while let Some(error) = link {
        let io = error.downcast_ref::<io::Error>();
        if error.is::<BodyTimeoutError>()
            || io.is_some_and(|io| io.kind() == io::ErrorKind::TimedOut)
        {
            return BodyRejection::TooSlow;
        }
        // A layer around the service has a limit of its own.
        if error.is::<LengthLimitError>() {
            return BodyRejection::TooLarge;
        }
        // The error inside an `io::Error` is not among its sources.
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

    /// A body of these chunks; it counts how many were asked for.
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
            "announced by its size"
        );
        assert!(
            !dropped(
                &none,
                erase(Chunks([Ok(longest.into()), Ok("x".into())].into()))
            )
            .await,
            "found by reading"
        );
        assert!(!dropped(&none, erase(Chunks::failing("reset"))).await);
        let one = || erase(Chunks::of(&["1"]));
        assert!(!dropped(&labelled(CONTENT_LENGTH, b"65537"), one()).await);
        assert!(
            !dropped(&labelled(EXPECT, b"100-continue"), one()).await,
            "reading it would ask for it"
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
