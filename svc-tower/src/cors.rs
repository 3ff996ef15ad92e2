//! Cross-origin requests: browser code without a key can post to the record helpers if this is
//! configured.
//!
//! Requirements: HLP-08.

use http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use svc_core::link::Dialect;

/// Maximum time for which a browser may cache a preflight response, in seconds.
const MAX_AGE: u32 = 600;

/// The origins whose browser code may call the record helpers without a key.
///
/// Only helpers that can be called without a key are affected. Credentials are never allowed.
///
/// ```
/// use svc_tower::Cors;
/// let anybody = Cors::any();
/// let own_sites = Cors::origins(["https://www.example.org", "https://act.example.org"]);
/// # let _ = (anybody, own_sites);
/// ```
///
/// Requirements: HLP-08.
#[derive(Debug, Clone)]
pub struct Cors {
    /// The allowed origins; `None` allows every origin.
    origins: Option<Vec<String>>,
}

impl Cors {
    /// Allows code of every origin.
    #[must_use]
    pub fn any() -> Self {
        Self { origins: None }
    }

    /// Allows code of these origins. Each is written as a browser sends it: scheme, host, and the
    /// port if it is not the default.
    pub fn origins(origins: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let plain = |origin: String| origin.trim().trim_end_matches('/').to_ascii_lowercase();
        Self {
            origins: Some(
                origins
                    .into_iter()
                    .map(|origin| plain(origin.into()))
                    .collect(),
            ),
        }
    }

    /// Returns the `Access-Control-Allow-Origin` for a request of this origin, or `None` if it is
    /// not allowed.
    fn allow(&self, origin: &HeaderValue) -> Option<HeaderValue> {
        match &self.origins {
            None => Some(HeaderValue::from_static("*")),
            Some(origins) => origins
                .iter()
                .any(|allowed| allowed.as_bytes() == origin.as_bytes())
                .then(|| origin.clone()),
        }
    }

    /// Adds the CORS headers to a response if the origin of the request is allowed. The response to
    /// a preflight request also lists the headers and the method that the code may send.
    pub(crate) fn mark(
        &self,
        dialect: &Dialect,
        open: &Method,
        method: &Method,
        request: &HeaderMap,
        answer: &mut HeaderMap,
    ) {
        answer.append(header::VARY, HeaderValue::from_static("origin"));
        let mut origins = request.get_all(header::ORIGIN).iter();
        let (Some(origin), None) = (origins.next(), origins.next()) else {
            return;
        };
        let Some(allowed) = self.allow(origin) else {
            return;
        };
        answer.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, allowed);
        // Headers that a script could not read otherwise: the tag and URL of the record that a
        // request with a key wrote (ETG-08).
        answer.insert(
            header::ACCESS_CONTROL_EXPOSE_HEADERS,
            HeaderValue::from_static("content-location, etag, idempotency-replayed"),
        );
        if method == Method::OPTIONS && request.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD)
        {
            answer.insert(header::ACCESS_CONTROL_ALLOW_METHODS, allowed_method(open));
            answer.insert(
                header::ACCESS_CONTROL_ALLOW_HEADERS,
                allowed_headers(dialect.key_header()),
            );
            answer.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from(MAX_AGE));
        }
    }
}

fn allowed_method(open: &Method) -> HeaderValue {
    HeaderValue::from_str(open.as_str()).unwrap_or(HeaderValue::from_static("POST"))
}

fn allowed_headers(key: &HeaderName) -> HeaderValue {
    HeaderValue::from_str(&format!(
        "content-type, idempotency-key, if-match, if-none-match, prefer, {key}"
    ))
    .unwrap_or(HeaderValue::from_static("content-type"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(origin: &'static str) -> HeaderMap {
        let asked = (
            header::ACCESS_CONTROL_REQUEST_METHOD,
            HeaderValue::from_static("POST"),
        );
        HeaderMap::from_iter([(header::ORIGIN, HeaderValue::from_static(origin)), asked])
    }

    fn allowed(cors: &Cors, request: &HeaderMap) -> Option<HeaderValue> {
        let mut answer = HeaderMap::new();
        cors.mark(
            &Dialect::default(),
            &Method::POST,
            &Method::OPTIONS,
            request,
            &mut answer,
        );
        assert_eq!(
            answer.get(header::VARY),
            Some(&HeaderValue::from_static("origin"))
        );
        let origin = answer.get(header::ACCESS_CONTROL_ALLOW_ORIGIN).cloned();
        assert_eq!(
            origin.is_some(),
            answer.contains_key(header::ACCESS_CONTROL_ALLOW_HEADERS)
        );
        assert!(!answer.contains_key(header::ACCESS_CONTROL_ALLOW_CREDENTIALS));
        origin
    }

    #[test]
    fn hlp_08_origins_are_compared_whole() {
        let cors = Cors::origins(["https://a.example/"]);
        assert_eq!(
            allowed(&cors, &from("https://a.example")),
            Some(HeaderValue::from_static("https://a.example"))
        );
        for other in [
            "https://a.example.evil",
            "http://a.example",
            "https://a.example:8443",
            "null",
            "",
        ] {
            assert_eq!(allowed(&cors, &from(other)), None, "{other}");
        }
        assert_eq!(allowed(&cors, &HeaderMap::new()), None);
        let mut two = from("https://a.example");
        two.append(
            header::ORIGIN,
            HeaderValue::from_static("https://b.example"),
        );
        assert_eq!(allowed(&cors, &two), None);
        assert_eq!(
            allowed(&Cors::any(), &from("null")),
            Some(HeaderValue::from_static("*"))
        );
    }

    #[test]
    fn hlp_08_a_preflight_allows_json_and_the_key() {
        let mut answer = HeaderMap::new();
        let request = from("https://a.example");
        Cors::any().mark(
            &Dialect::default(),
            &Method::POST,
            &Method::OPTIONS,
            &request,
            &mut answer,
        );
        assert_eq!(answer[header::ACCESS_CONTROL_ALLOW_METHODS], "POST");
        assert_eq!(
            answer[header::ACCESS_CONTROL_ALLOW_HEADERS],
            "content-type, idempotency-key, if-match, if-none-match, prefer, svc-api-token"
        );
        assert_eq!(
            answer[header::ACCESS_CONTROL_EXPOSE_HEADERS],
            "content-location, etag, idempotency-replayed"
        );
        assert_eq!(answer[header::ACCESS_CONTROL_MAX_AGE], "600");
        let mut answer = HeaderMap::new();
        Cors::any().mark(
            &Dialect::default(),
            &Method::POST,
            &Method::POST,
            &request,
            &mut answer,
        );
        assert!(!answer.contains_key(header::ACCESS_CONTROL_ALLOW_METHODS));
        assert_eq!(answer[header::ACCESS_CONTROL_ALLOW_ORIGIN], "*");
    }
}
