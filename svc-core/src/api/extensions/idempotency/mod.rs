//! The header `Idempotency-Key`: who sends a request again because its answer was lost is given
//! that answer, and nothing is done twice.
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
    context::Context,
    error::{Error, ErrorCode, Problem, Result},
    json::Object,
    link::Target,
    model::Kind,
    ops,
    store::ResponseRecorder,
    value::digest,
};

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
const IDEMPOTENCY_REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");
/// Characters of a key at most.
const LONGEST: usize = 255;

/// Where answers are kept.
#[derive(Clone)]
pub(in crate::api) enum ResponseStorage {
    /// In the store that keeps every kind, in the turn of the call.
    Store,
    /// By a vendor, in the vendor's transactions where there are any.
    Vendor(Arc<dyn ops::IdempotencyStore>),
}

/// What makes a request one that may come again.
#[derive(Debug)]
pub(in crate::api) struct IdempotentRequest {
    /// What its answer is kept under: who asks, and the key.
    key: Arc<str>,
    /// What it asks: another request under the same key is a mistake.
    fingerprint: u128,
}

impl Extension for ResponseStorage {
    fn behaviours(&self) -> Vec<&'static str> {
        vec!["idempotency_keys"]
    }
}

impl ApiBuilder {
    /// Keeps the answers of creates and helper calls that come with `Idempotency-Key`, and declares
    /// it (IDM): who sends such a request again gets the same answer, and nothing is done twice.
    ///
    /// For operations of a vendor's own; a [`Store`](crate::store::Store) keeps answers itself, and
    /// [`store`](Self::store) declares that.
    #[must_use]
    pub fn idempotency<T: ops::IdempotencyStore + 'static>(mut self, answers: &Arc<T>) -> Self {
        self.settings.extensions.idempotency =
            Some(ResponseStorage::Vendor(Arc::<T>::clone(answers)));
        self
    }
}

impl Api {
    /// Whether a request with `Idempotency-Key` is done once, however often it comes.
    ///
    /// Requirements: IDM-01.
    #[must_use]
    pub fn supports_idempotency(&self) -> bool {
        self.extensions().idempotency.is_some()
    }

    /// The key of a request that may come again; 400 for a header that holds none.
    ///
    /// Requirements: IDM-05.
    #[expect(
        clippy::result_large_err,
        reason = "a reply is as large as its headers, and made once for a request"
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
            .ok_or_else(|| self.invalid(Some(kind), &[Problem::general(code, code.meaning())]))
    }

    /// What makes a request with this key that creates or calls one that may come again.
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
            key: format!("{} {key}", cx.caller.scope()).into(),
            fingerprint,
        }
    }

    /// How the answer to such a request is kept in its turn.
    pub(in crate::api) fn keep(
        &self,
        cx: &Context,
        asked: &IdempotentRequest,
        answering: &WriteRenderer,
        body: &Object,
    ) -> ResponseRecorder {
        let (api, cx, answering, body) =
            (self.clone(), cx.clone(), answering.clone(), body.clone());
        let fingerprint = asked.fingerprint;
        ResponseRecorder::new(Arc::clone(&asked.key), move |outcome| {
            Ok(packed(
                fingerprint,
                &api.answer_to(&cx, &answering, &body, outcome.clone())?,
            ))
        })
    }

    /// The answer that was kept, byte for byte; 422 where it is that of another request.
    ///
    /// Requirements: IDM-02, IDM-04.
    pub(in crate::api) fn replay(
        &self,
        target: &Target,
        asked: &IdempotentRequest,
        kept: &Bytes,
    ) -> Result<Response> {
        let (fingerprint, mut reply) =
            unpacked(kept).ok_or_else(|| Error::unexpected("a kept answer is damaged"))?;
        if fingerprint != asked.fingerprint {
            let code = ErrorCode::IdempotencyKeyReused;
            return Ok(self.error_response(Some(target), code, code.meaning()));
        }
        reply.insert(IDEMPOTENCY_REPLAYED, Some(HeaderValue::from_static("true")));
        Ok(reply)
    }
}

/// The key of an entry of a batch, by that of its request: one that no request can have.
///
/// Requirements: BAT-06.
pub(in crate::api) fn key_of_entry(key: &str, index: u64) -> String {
    format!("{key}\\{index}")
}

/// The key in a header: a string in quotes, as the draft of the IETF has it, or the same without.
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

/// An answer as it is kept: whose it is, status and headers line by line, an empty line, and the
/// body.
fn packed(fingerprint: u128, reply: &Response) -> Bytes {
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

fn unpacked(kept: &Bytes) -> Option<(u128, Response)> {
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
            let kept = packed(fingerprint, &reply);
            let (same, again) = unpacked(&kept).unwrap();
            prop_assert_eq!((same, again.status, &again.headers), (fingerprint, status, &reply.headers));
            prop_assert_eq!(again.body, body);
        }

        #[test]
        fn idm_02_what_is_damaged_is_no_answer(kept: Vec<u8>) {
            let _ = unpacked(&kept.into());
        }
    }
}
