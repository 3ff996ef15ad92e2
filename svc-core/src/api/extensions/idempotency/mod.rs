//! The `Idempotency-Key` header: a repeated request gets the stored response and is not executed
//! again.
//!
//! Requirements: IDM-01 to IDM-08.

mod sweep;

pub(in crate::api) use sweep::NextSweep;

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};

use super::Extension;
use crate::{
    api::{Api, ApiBuilder, Response, WriteRenderer},
    backend,
    context::Context,
    error::{Error, ErrorCode, Problem, Result},
    json::Object,
    link::Target,
    model::Kind,
    store::{FailedParts, ResponseRecorder},
    value::digest,
};

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
pub(in crate::api) const IDEMPOTENCY_REPLAYED: HeaderName =
    HeaderName::from_static("idempotency-replayed");
/// The maximum number of characters of a key.
const LONGEST: usize = 255;

/// Where responses are stored.
#[derive(Clone)]
pub(in crate::api) enum ResponseStorage {
    /// In the store, in the transaction of the request.
    Store,
    /// By the vendor, in the vendor's transaction if there is one.
    Vendor(Arc<dyn backend::IdempotencyStore>),
}

/// A request with an idempotency key.
#[derive(Debug)]
pub(in crate::api) struct IdempotentRequest {
    /// The key of the stored response: the caller and the idempotency key.
    key: Arc<str>,
    /// The fingerprint of the request. A different request with the same key is rejected.
    fingerprint: u128,
}

impl Extension for ResponseStorage {
    fn behaviours(&self) -> Vec<&'static str> {
        vec!["idempotency_keys"]
    }
}

impl ApiBuilder {
    /// Stores the responses of creates and helper requests with an `Idempotency-Key`, and declares
    /// it.
    ///
    /// A repeated request gets the stored response and is not executed again. Use this for
    /// operations of a vendor. A [`Store`](crate::store::Store) can store responses itself, which
    /// [`store`](Self::store) declares.
    ///
    /// Requirements: IDM-01 to IDM-08.
    #[must_use]
    pub fn idempotency<T: backend::IdempotencyStore + 'static>(mut self, answers: &Arc<T>) -> Self {
        self.settings.extensions.idempotency =
            Some(ResponseStorage::Vendor(Arc::<T>::clone(answers)));
        self
    }
}

impl Api {
    /// Returns whether a request with an `Idempotency-Key` is executed only once.
    ///
    /// Requirements: IDM-01.
    #[must_use]
    pub fn supports_idempotency(&self) -> bool {
        self.extensions().idempotency.is_some()
    }

    /// Returns the idempotency key of a request, or a 400 response if the header is invalid.
    ///
    /// Requirements: IDM-05.
    #[expect(
        clippy::result_large_err,
        reason = "a response is as large as its headers, and is created once for each request"
    )]
    pub(in crate::api) fn idempotency_key<'h>(
        &self,
        kind: Kind,
        headers: &'h HeaderMap,
    ) -> std::result::Result<Option<&'h str>, Response> {
        if !self.supports_idempotency() || !headers.contains_key(IDEMPOTENCY_KEY) {
            return Ok(None);
        }
        let code = ErrorCode::IdempotencyKeyInvalid;
        key_of(headers)
            .map(Some)
            .ok_or_else(|| self.invalid(Some(kind), &[Problem::for_request(code, code.meaning())]))
    }

    /// Returns the stored-response key and the fingerprint of a request.
    pub(in crate::api) fn idempotent(
        &self,
        cx: &Context,
        target: &Target,
        key: &str,
        body: &[u8],
    ) -> IdempotentRequest {
        let mut address = String::new();
        self.inner.settings.layout.path(target, &mut address);
        let fingerprint = digest(&[address.as_bytes(), b" ", body].concat());
        IdempotentRequest {
            key: format!("{} {key}", cx.caller().scope()).into(),
            fingerprint,
        }
    }

    /// Returns the function that stores the response in the transaction of the request.
    pub(in crate::api) fn response_recorder(
        &self,
        cx: &Context,
        asked: &IdempotentRequest,
        answering: &WriteRenderer,
        body: &Object,
    ) -> ResponseRecorder {
        let (api, cx, answering, body) =
            (self.clone(), cx.clone(), answering.clone(), body.clone());
        let fingerprint = asked.fingerprint;
        ResponseRecorder::new(Arc::clone(&asked.key), move |outcome, failed| {
            let mut reply = api.answer_to(&cx, &answering, &body, outcome.clone())?;
            // `stored_response` overwrites this value, also that of earlier versions.
            reply.insert(
                IDEMPOTENCY_REPLAYED,
                failed.and_then(|parts| HeaderValue::try_from(parts.to_string()).ok()),
            );
            Ok(encode(fingerprint, &reply))
        })
        .resuming(move |stored| {
            let (of, reply) = decode(stored)?;
            let text = reply.headers.get(IDEMPOTENCY_REPLAYED)?.to_str().ok()?;
            (of == fingerprint)
                .then(|| FailedParts::parse(text))
                .flatten()
        })
    }

    /// Returns the stored response, byte for byte, or a 422 response if it belongs to a different
    /// request.
    ///
    /// Requirements: IDM-02, IDM-04.
    pub(in crate::api) fn replay(
        &self,
        target: &Target,
        asked: &IdempotentRequest,
        kept: &Bytes,
    ) -> Result<Response> {
        let (fingerprint, reply) = stored_response(kept)?;
        if fingerprint != asked.fingerprint {
            let code = ErrorCode::IdempotencyKeyReused;
            return Ok(self.error_response(Some(target), code, code.meaning()));
        }
        Ok(reply)
    }
}

/// Marks the response of a repeated request whose failed parts were executed again.
///
/// Requirements: IDM-02.
pub(in crate::api) fn mark_resumed(reply: &mut Response) {
    reply.insert(
        IDEMPOTENCY_REPLAYED,
        Some(HeaderValue::from_static("partial")),
    );
}

/// Returns a stored response with the fingerprint of its request.
pub(in crate::api) fn stored_response(kept: &Bytes) -> Result<(u128, Response)> {
    let (fingerprint, mut reply) =
        decode(kept).ok_or_else(|| Error::unexpected("a stored response is damaged"))?;
    reply.insert(IDEMPOTENCY_REPLAYED, Some(HeaderValue::from_static("true")));
    Ok((fingerprint, reply))
}

/// Returns the key of a batch entry, derived from the key of the batch request. No request can have
/// such a key.
///
/// Requirements: BAT-06.
pub(in crate::api) fn key_of_entry(key: &str, index: u64) -> String {
    format!("{key}\\{index}")
}

/// Returns the key of the header: a string in quotes, as in the IETF draft, or the same without
/// quotes.
fn key_of(headers: &HeaderMap) -> Option<&str> {
    let mut lines = headers.get_all(IDEMPOTENCY_KEY).iter();
    let (Some(line), None) = (lines.next(), lines.next()) else {
        return None;
    };
    let text = line.to_str().ok()?.trim();
    let key = match text.strip_prefix('"') {
        Some(quoted) => quoted.strip_suffix('"')?,
        None => text,
    };
    let is_key = |key: &str| {
        key.bytes()
            .all(|byte| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\'))
    };
    ((1..=LONGEST).contains(&key.len()) && is_key(key)).then_some(key)
}

/// Serializes a response: the fingerprint, the status and the headers on a line each, an empty
/// line, and the body.
fn encode(fingerprint: u128, reply: &Response) -> Bytes {
    let mut bytes = format!("{fingerprint:032x}\n{}\n", reply.status.as_u16()).into_bytes();
    for (name, value) in &reply.headers {
        bytes.extend_from_slice(name.as_str().as_bytes());
        bytes.extend_from_slice(b": ");
        bytes.extend_from_slice(value.as_bytes());
        bytes.push(b'\n');
    }
    bytes.push(b'\n');
    bytes.extend_from_slice(&reply.body);
    bytes.into()
}

fn decode(kept: &Bytes) -> Option<(u128, Response)> {
    let mut rest: &[u8] = kept;
    let mut line = || {
        let (line, behind) = rest.split_at_checked(rest.iter().position(|&byte| byte == b'\n')?)?;
        rest = behind.get(1..)?;
        Some(line)
    };
    let fingerprint = u128::from_str_radix(std::str::from_utf8(line()?).ok()?, 16).ok()?;
    let mut reply = Response::empty(StatusCode::from_bytes(line()?).ok()?);
    loop {
        let header = line()?;
        if header.is_empty() {
            break;
        }
        let (name, value) =
            header.split_at_checked(header.iter().position(|&byte| byte == b':')?)?;
        let value = HeaderValue::from_bytes(value.get(2..)?).ok()?;
        reply.insert(HeaderName::from_bytes(name).ok()?, Some(value));
    }
    reply.body = kept.slice_ref(rest);
    Some((fingerprint, reply))
}

#[cfg(test)]
mod tests {
    use http::header::LOCATION;
    use proptest::prelude::*;

    use super::*;
    use crate::api::ContentType;

    fn key(lines: &[&str]) -> Option<String> {
        let lines = lines
            .iter()
            .map(|line| (IDEMPOTENCY_KEY, HeaderValue::from_str(line).unwrap()));
        key_of(&lines.collect()).map(str::to_owned)
    }

    #[test]
    fn idm_05_a_key_is_text_with_or_without_quotes() {
        assert_eq!(
            key(&["\"8e03978e-40d5\""]).as_deref(),
            Some("8e03978e-40d5")
        );
        assert_eq!(key(&["8e03978e-40d5"]).as_deref(), Some("8e03978e-40d5"));
        assert_eq!(key(&[" order 7 "]).as_deref(), Some("order 7"));
        assert_eq!(
            key(&["x".repeat(255).as_str()]).map(|key| key.len()),
            Some(255)
        );
        for wrong in [
            "",
            "\"\"",
            "\"",
            "\"a",
            "a\"b",
            "a\\b",
            "\"a\\\"b\"",
            &"x".repeat(256),
        ] {
            assert_eq!(key(&[wrong]), None, "{wrong}");
        }
        assert_eq!(key(&["a", "a"]), None, "two keys");
    }

    proptest! {
        #![proptest_config(crate::testing::config())]

        #[test]
        fn idm_02_an_answer_comes_back_byte_for_byte(fingerprint: u128, body: Vec<u8>, status in 200_u16..=599) {
            let status = StatusCode::from_u16(status).unwrap();
            let mut reply = Response::new(status, ContentType::Hal, body.clone());
            reply.insert(LOCATION, Some(HeaderValue::from_static("https://example.org/people/1: 2")));
            let kept = encode(fingerprint, &reply);
            let (same, again) = decode(&kept).unwrap();
            prop_assert_eq!((same, again.status, &again.headers), (fingerprint, status, &reply.headers));
            prop_assert_eq!(again.body, body);
        }

        #[test]
        fn idm_02_what_is_damaged_is_no_answer(kept: Vec<u8>) {
            let _ = decode(&kept.into());
        }
    }
}
