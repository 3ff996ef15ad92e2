//! Every head gets a response.
//!
//! Requirements: UND-34, UND-35.

use http::{HeaderName, HeaderValue, Method, Request, StatusCode, Uri, Version};
use http_body_util::Empty;
use proptest::prelude::*;
use svc_tower::{Cors, PeerAddr};

use crate::service::client::{send, service};

fn paths() -> impl Strategy<Value = String> {
    let segment = prop_oneof![
        "[a-z_]{0,12}",
        "[!-~]{0,12}",
        Just("people".to_owned()),
        Just("tags".to_owned()),
        Just("t1".to_owned()),
        Just("petitions".to_owned()),
        Just("record_signature_helper".to_owned()),
        Just("docs".to_owned()),
        Just("v1".to_owned()),
        Just("..".to_owned()),
        Just(String::new()),
    ];
    prop::collection::vec(segment, 0..6).prop_map(|segments| format!("/{}", segments.join("/")))
}

fn headers() -> impl Strategy<Value = Vec<(&'static str, Vec<u8>)>> {
    let names = prop::sample::select(vec![
        "host",
        "svc-api-token",
        "content-type",
        "content-length",
        "content-encoding",
        "origin",
        "forwarded",
        "x-forwarded-proto",
        "x-forwarded-host",
        "access-control-request-method",
        "transfer-encoding",
        "expect",
    ]);
    let values = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..24),
        Just(b"good|key".to_vec()),
        Just(b"application/json".to_vec()),
        Just(b"https".to_vec()),
        Just(b"evil.example".to_vec()),
        Just(b"18446744073709551616".to_vec()),
    ];
    prop::collection::vec((names, values), 0..6)
}

fn methods() -> impl Strategy<Value = Method> {
    let known = [
        Method::GET,
        Method::HEAD,
        Method::POST,
        Method::PUT,
        Method::PATCH,
        Method::DELETE,
        Method::OPTIONS,
        Method::TRACE,
        Method::CONNECT,
    ];
    let invented =
        "[A-Za-z!#$%&'*+.^_`|~-]{1,20}".prop_filter_map("no method", |name| name.parse().ok());
    prop_oneof![9 => prop::sample::select(known.to_vec()), 1 => invented]
}

fn versions() -> impl Strategy<Value = Version> {
    prop::sample::select(vec![
        Version::HTTP_09,
        Version::HTTP_10,
        Version::HTTP_11,
        Version::HTTP_2,
        Version::HTTP_3,
    ])
}

proptest! {
    #![proptest_config(crate::testing::config())]

    #[test]
    fn und_34_any_head_is_answered_and_nothing_of_it_is_reflected(
        method in methods(), path in paths(), query in "[ -~]{0,20}", headers in headers(), version in versions(),
    ) {
        let target = format!("{path}?{query}");
        let Ok(uri) = target.parse::<Uri>() else { return Ok(()) };
        let mut request = Request::new(Empty::<bytes::Bytes>::new());
        *request.method_mut() = method;
        *request.uri_mut() = uri;
        *request.version_mut() = version;
        for (name, value) in headers {
            if let Ok(value) = HeaderValue::from_bytes(&value) {
                request.headers_mut().append(HeaderName::from_static(name), value);
            }
        }
        request.extensions_mut().insert(PeerAddr([10, 0, 0, 9].into()));
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let service = service().cors(Cors::any()).require_host_header(true).trusted_proxies([[10, 0, 0, 1].into()]);
        let answer = runtime.block_on(send(&service, request));
        prop_assert_ne!(answer.status, StatusCode::SERVICE_UNAVAILABLE);
        prop_assert!(!answer.text().contains("evil.example"));
        prop_assert!(answer.headers.contains_key("cache-control") && answer.headers.contains_key("vary"));
        if answer.status == StatusCode::INTERNAL_SERVER_ERROR && !answer.body.is_empty() {
            prop_assert_eq!(answer.code(), "NOT_IMPLEMENTED");
        }
    }
}
