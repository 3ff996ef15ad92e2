//! HTTP rules of the API: methods, headers, mounts.
//!
//! Requirements: HAL-01 to HAL-04, UND-28, UND-30, UND-33 to UND-35.

use std::{convert::Infallible, time::Duration};

use bytes::Bytes;
use http::{Request, Response, StatusCode, Version};
use http_body_util::{Empty, Full};
use svc_core::value::Timestamp;
use svc_tower::{PeerAddr, ResponseBody, SvcService};
use tower::Service;

use crate::service::{
    backend::{Memory, api},
    client::{HEADER, exchange, service, with_key, without_key},
};

#[tokio::test]
async fn hal_02_to_hal_04_every_answer_has_its_headers() {
    let service = service();
    for (method, path, body) in [
        ("GET", "/", ""),
        ("GET", "/tags", ""),
        ("GET", "/tags/nobody", ""),
        ("POST", "/tags", "{"),
        ("DELETE", "/tags/t1", ""),
        ("GET", "/nothing", ""),
        ("OPTIONS", "/", ""),
        ("GET", "/docs", ""),
    ] {
        let answer = exchange(&service, with_key(method, path), body).await;
        assert_eq!(
            answer.header("cache-control"),
            Some("max-age=0, private, must-revalidate"),
            "{method} {path}"
        );
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(answer.header("vary"), Some("svc-api-token"));
        let media = answer.header("content-type");
        match path {
            _ if answer.body.is_empty() => assert_eq!(media, None),
            _ => assert_eq!(media, Some("application/hal+json")),
        }
        let length = answer.body.len().to_string();
        let expected = (answer.status != StatusCode::NO_CONTENT).then_some(length.as_str());
        assert_eq!(answer.header("content-length"), expected);
    }
}

#[tokio::test]
async fn und_33_a_create_names_its_address() {
    let service = service();
    let answer = exchange(&service, with_key("POST", "/tags/"), "{\"name\":\"new\"}").await;
    assert_eq!(answer.status, StatusCode::CREATED);
    let location = answer.header("location").unwrap().to_owned();
    let links = answer
        .object()
        .remove("_links")
        .unwrap()
        .into_object()
        .unwrap();
    let own = links
        .get("self")
        .unwrap()
        .as_object()
        .unwrap()
        .get("href")
        .unwrap()
        .as_str()
        .unwrap()
        .to_owned();
    assert_eq!(location, own);
    assert!(location.starts_with("http://localhost/tags/"), "{location}");
    assert_eq!(
        exchange(&service, with_key("GET", &location), "")
            .await
            .status,
        StatusCode::OK
    );
}

#[tokio::test]
async fn und_28_head_is_get_without_its_body() {
    let service = service();
    for path in [
        "/",
        "/tags",
        "/tags/t1",
        "/tags/nobody",
        "/docs/",
        "/docs/capabilities",
        "/nothing",
        "/tags?page=0",
    ] {
        let get = exchange(&service, with_key("GET", path), "").await;
        let head = exchange(&service, with_key("HEAD", path), "").await;
        assert_eq!(
            (head.status, &head.headers),
            (get.status, &get.headers),
            "{path}"
        );
        assert!(head.body.is_empty());
    }
}

#[tokio::test]
async fn und_28_options_lists_the_methods_without_a_key() {
    let service = service();
    for (path, methods) in [
        ("/", "GET, HEAD, OPTIONS"),
        ("/tags", "GET, HEAD, POST, OPTIONS"),
        ("/tags/t1", "GET, HEAD, PUT, DELETE, OPTIONS"),
        ("/tags/nobody/", "GET, HEAD, PUT, DELETE, OPTIONS"),
        ("/petitions/p1", "GET, HEAD, OPTIONS"),
        ("/petitions/p1/record_signature_helper", "POST, OPTIONS"),
        ("/docs", "GET, HEAD, OPTIONS"),
    ] {
        let answer = exchange(&service, without_key("OPTIONS", path), "").await;
        assert_eq!(
            (answer.status, answer.header("allow")),
            (StatusCode::NO_CONTENT, Some(methods)),
            "{path}"
        );
        assert!(answer.body.is_empty());
    }
    assert_eq!(
        exchange(&service, without_key("OPTIONS", "/nothing"), "")
            .await
            .status,
        StatusCode::NOT_FOUND
    );
}

#[tokio::test]
async fn clients_23_patch_is_put_behind_a_switch() {
    let change = "{\"name\":\"patched\"}";
    let off = exchange(&service(), with_key("PATCH", "/tags/t1"), change).await;
    assert_eq!(
        (off.status, off.code().as_str()),
        (StatusCode::INTERNAL_SERVER_ERROR, "NOT_IMPLEMENTED")
    );
    let service = SvcService::new(
        api(&Memory::new())
            .patch_method(svc_core::api::PatchMethod::AsPut)
            .build()
            .unwrap(),
    );
    let on = exchange(&service, with_key("PATCH", "/tags/t1"), change).await;
    assert_eq!(
        (on.status, on.object().get("name").unwrap().as_str()),
        (StatusCode::OK, Some("patched"))
    );
    let allow = exchange(&service, without_key("OPTIONS", "/tags/t1"), "").await;
    assert_eq!(
        allow.header("allow"),
        Some("GET, HEAD, PUT, PATCH, DELETE, OPTIONS")
    );
}

#[tokio::test]
async fn und_30_accept_and_unknown_headers_are_ignored() {
    let service = service();
    for (name, value) in [
        ("accept", "text/html"),
        ("accept", "image/*;q=0"),
        ("authorization", "Bearer x"),
        ("if-match", "\"x\""),
        ("accept-encoding", "identity;q=0"),
    ] {
        let answer = exchange(
            &service,
            with_key("GET", "/tags/t1?unknown=1").header(name, value),
            "",
        )
        .await;
        assert_eq!(
            (answer.status, answer.header("content-type")),
            (StatusCode::OK, Some("application/hal+json"))
        );
    }
}

#[tokio::test]
async fn cru_01_a_trailing_slash_makes_no_difference() {
    let service = service();
    for (path, slashed) in [
        ("/tags", "/tags/"),
        ("/tags/t1", "/tags/t1/"),
        ("/docs", "/docs/"),
    ] {
        let plain = exchange(&service, with_key("GET", path), "").await;
        let slashed = exchange(&service, with_key("GET", slashed), "").await;
        assert_eq!(
            (plain.status, &plain.body),
            (slashed.status, &slashed.body),
            "{path}"
        );
        assert_eq!(plain.status, StatusCode::OK);
    }
}

#[tokio::test]
async fn und_34_ambiguous_requests_are_refused_and_not_reflected() {
    let service = service();
    let requests = [
        without_key("GET", "/")
            .header("host", "evil.example")
            .header("host", "localhost"),
        without_key("TRACE", "/"),
        without_key("CONNECT", "evil.example:80"),
        without_key("GET", "http://evil.example/"),
        without_key("GET", "/")
            .header(HEADER, "a")
            .header(HEADER, "b"),
        with_key("GET", "/").header("host", "evil.example/path"),
    ];
    for (place, request) in requests.into_iter().enumerate() {
        let answer = exchange(&service, request, "").await;
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (StatusCode::BAD_REQUEST, "REQUEST_INVALID"),
            "case {place}"
        );
        assert!(!answer.text().contains("evil"));
    }
    let answer = exchange(
        &service,
        with_key("GET", "/tags").header("host", "evil.example"),
        "",
    )
    .await;
    assert_eq!(answer.status, StatusCode::OK);
    assert!(!answer.text().contains("evil"));
}

#[tokio::test]
async fn und_34_http_1_1_without_host_is_refused_where_asked_for() {
    let strict = service().require_host_header(true);
    let refused = exchange(&strict, with_key("GET", "/tags"), "").await;
    assert_eq!(
        (refused.status, refused.code().as_str()),
        (StatusCode::BAD_REQUEST, "REQUEST_INVALID")
    );
    for version in [Version::HTTP_10, Version::HTTP_2] {
        assert_eq!(
            exchange(&strict, with_key("GET", "/tags").version(version), "")
                .await
                .status,
            StatusCode::OK
        );
    }
    assert_eq!(
        exchange(&strict, with_key("GET", "/tags").header("host", "x"), "")
            .await
            .status,
        StatusCode::OK
    );
}

#[tokio::test]
async fn und_35_what_is_no_address_is_404_with_the_error_object() {
    let service = service();
    for path in [
        "/nothing",
        "/tags/t1/x",
        "//tags",
        "/tags/a%20b",
        "/tags/..%2f",
        "/docs/v1/nothing",
        "/signatures",
    ] {
        for request in [with_key("GET", path), without_key("GET", path)] {
            let answer = exchange(&service, request, "").await;
            assert_eq!(
                (answer.status, answer.code().as_str()),
                (StatusCode::NOT_FOUND, "RESOURCE_NOT_FOUND"),
                "{path}"
            );
        }
    }
    let other_method = exchange(&service, with_key("BREW", "/tags"), "").await;
    assert_eq!(
        (other_method.status, other_method.code().as_str()),
        (StatusCode::INTERNAL_SERVER_ERROR, "NOT_IMPLEMENTED")
    );
}

#[tokio::test]
async fn hal_01_a_mount_is_stripped_and_nothing_lies_outside() {
    let memory = Memory::new();
    let api = api(&memory)
        .base_url("https://crm.example/api/v1")
        .build()
        .unwrap();
    let service = SvcService::new(api).mounted_at("/api/v1/");
    for path in ["/api/v1", "/api/v1/", "https://crm.example/api/v1/tags/"] {
        let answer = exchange(&service, with_key("GET", path), "").await;
        assert_eq!(answer.status, StatusCode::OK, "{path}");
        assert!(
            answer.text().contains("https://crm.example/api/v1/tags"),
            "{}",
            answer.text()
        );
    }
    for request in [
        with_key("GET", "/"),
        with_key("GET", "/api/v10"),
        with_key("GET", "/tags")
            .header("host", "a")
            .header("host", "b"),
    ] {
        let answer = exchange(&service, request, "").await;
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (StatusCode::NOT_FOUND, "RESOURCE_NOT_FOUND")
        );
    }
}

#[tokio::test]
async fn hal_01_links_follow_trusted_proxies_only() {
    let service = service().trusted_proxies(["10.0.0.1".parse().unwrap()]);
    let through = |peer: &str| {
        let request = Request::get("/")
            .header("x-forwarded-proto", "https")
            .header("x-forwarded-host", "public.example");
        request.extension(PeerAddr(peer.parse().unwrap()))
    };
    let trusted = exchange(&service, through("10.0.0.1"), "").await;
    assert!(
        trusted.text().contains("\"https://public.example/tags\""),
        "{}",
        trusted.text()
    );
    let stranger = exchange(&service, through("10.0.0.2"), "").await;
    assert!(!stranger.text().contains("public.example"));
}

#[tokio::test]
async fn und_36_the_backend_is_told_the_time_of_receipt_and_the_deadline() {
    let timed = service().clock(|| Timestamp::from_micros(1_000_000));
    let answer = exchange(&timed, with_key("GET", "/tags/time"), "")
        .await
        .object();
    assert_eq!(
        answer.get("created_date").unwrap().as_str(),
        Some("1970-01-01T00:00:01Z")
    );
    assert_eq!(
        answer.get("description").unwrap().as_str(),
        Some("deadline")
    );
    for timeout in [None, Some(Duration::MAX)] {
        let endless = service().request_timeout(timeout);
        assert!(
            !exchange(&endless, with_key("GET", "/tags/time"), "")
                .await
                .object()
                .contains("description")
        );
    }
}

#[test]
fn hal_01_the_service_can_be_shared_and_never_fails() {
    fn check<S>(_: &S)
    where
        S: Service<
                Request<Full<Bytes>>,
                Error = Infallible,
                Response = Response<ResponseBody>,
                Future: Send,
            >,
        S: Service<Request<Empty<&'static [u8]>>, Error = Infallible>,
        S: Clone + Send + Sync + std::fmt::Debug + 'static,
    {
    }
    check(&service());
}

#[tokio::test]
async fn und_40_a_document_is_sent_once_to_who_keeps_it() {
    let service = service();
    for path in ["/docs/capabilities", "/docs", "/docs/v1/tag"] {
        let first = exchange(&service, without_key("GET", path), "").await;
        let tag = first
            .header("etag")
            .unwrap_or_else(|| panic!("{path} has no tag"))
            .to_owned();
        assert_eq!(
            (first.status, first.header("content-type")),
            (StatusCode::OK, Some("application/hal+json")),
            "{path}"
        );
        let again = exchange(&service, without_key("GET", path), "").await;
        assert_eq!(
            (again.header("etag"), &again.body),
            (Some(&*tag), &first.body),
            "{path}: the same bytes"
        );
        for method in ["GET", "HEAD"] {
            let known =
                without_key(method, path).header("if-none-match", format!("\"other\", W/{tag}"));
            let known = exchange(&service, known, "").await;
            assert_eq!(
                (known.status, known.body.len()),
                (StatusCode::NOT_MODIFIED, 0),
                "{method} {path}"
            );
            assert_eq!(
                (known.header("etag"), known.header("content-length")),
                (Some(&*tag), None),
                "{method} {path}"
            );
            assert!(
                known.header("cache-control").is_some() && known.header("vary").is_some(),
                "{method} {path}"
            );
        }
        let other = without_key("GET", path).header("if-none-match", "\"other\"");
        assert_eq!(
            exchange(&service, other, "").await.body,
            first.body,
            "{path}"
        );
    }
    let proxy = "10.0.0.1".parse().unwrap();
    let behind = service.trusted_proxies([proxy]);
    let mut request =
        without_key("GET", "/docs/capabilities").header("x-forwarded-host", "public.example");
    request = request
        .header("x-forwarded-proto", "https")
        .extension(PeerAddr(proxy));
    let public = exchange(&behind, request, "").await;
    assert!(
        public.text().contains("https://public.example/"),
        "each URL has its own: {}",
        public.text()
    );
}

/// ETG-01 to ETG-09 over HTTP.
#[tokio::test]
async fn etg_05_conditions_are_answered() {
    let memory = Memory::new();
    let api = api(&memory)
        .conditional_requests(svc_core::api::IfMatchPolicy::Required)
        .build()
        .unwrap();
    let service = SvcService::new(api);
    let read = exchange(&service, with_key("GET", "/tags/t1"), "").await;
    let tag = read.header("etag").expect("a tag").to_owned();
    assert!(
        read.header("last-modified")
            .is_some_and(|date| date.ends_with(" GMT"))
    );
    for method in ["GET", "HEAD"] {
        let known = exchange(
            &service,
            with_key(method, "/tags/t1").header("if-none-match", &tag),
            "",
        )
        .await;
        assert_eq!(
            (known.status, known.body.len()),
            (StatusCode::NOT_MODIFIED, 0),
            "{method}"
        );
        assert_eq!(
            (known.header("etag"), known.header("content-type")),
            (Some(&*tag), None),
            "{method}"
        );
        assert_eq!(
            (known.header("content-length"), known.header("vary")),
            (None, read.header("vary")),
            "{method}"
        );
    }
    let put = |tag: Option<&str>| {
        let request = with_key("PUT", "/tags/t1").header("content-type", "application/json");
        tag.into_iter()
            .fold(request, |request, tag| request.header("if-match", tag))
    };
    assert_eq!(
        exchange(&service, put(None), "{}").await.status,
        StatusCode::PRECONDITION_REQUIRED
    );
    assert_eq!(
        exchange(&service, put(Some("\"x\"")), "{}").await.status,
        StatusCode::PRECONDITION_FAILED
    );
    let changed = exchange(&service, put(Some(&tag)), r#"{"name": "other"}"#).await;
    assert_eq!(changed.status, StatusCode::OK, "{}", changed.text());
    assert!(
        changed
            .header("content-location")
            .is_some_and(|location| location.ends_with("/tags/t1"))
    );
    let again = exchange(&service, with_key("GET", "/tags/t1"), "").await;
    assert_eq!(changed.header("etag"), again.header("etag"));
}
