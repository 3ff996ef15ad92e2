//! The order of the checks of a request.
//!
//! Requirements: UND-39.

use std::sync::atomic::Ordering;

use http::{HeaderValue, Request, StatusCode};
use svc_tower::SvcService;

use crate::service::{
    backend::{Memory, OTHER, READER, api},
    client::{Counted, HEADER, exchange, send, service, with_key, without_key},
};

/// A helper of a container that does not exist.
const NOBODYS: &str = "/petitions/p2/record_signature_helper";

#[tokio::test]
async fn und_39_each_check_hides_the_later_ones() {
    let service = service();
    let large = "{\"name\":\"".to_owned() + &"x".repeat(2_000_000) + "\"}";
    let large: &'static str = large.leak();
    let form = "application/x-www-form-urlencoded";
    let cases = [
        // Ambiguous HTTP before everything else.
        (
            without_key("GET", "/nothing")
                .header("host", "a")
                .header("host", "b"),
            "",
            400,
        ),
        // An unknown URL before the key.
        (
            without_key("POST", "/nothing").header(HEADER, "wrong"),
            large,
            404,
        ),
        // OPTIONS before the key.
        (
            without_key("OPTIONS", "/tags").header(HEADER, "wrong"),
            "",
            204,
        ),
        // The key before the operation.
        (without_key("POST", "/tags/t1"), "", 401),
        (
            without_key("POST", "/tags/t1").header(HEADER, "wrong"),
            "",
            401,
        ),
        // The operation before the right; a missing record before the operation.
        (
            without_key("POST", "/tags/t1").header(HEADER, READER),
            large,
            500,
        ),
        (
            without_key("POST", "/tags/nobody").header(HEADER, READER),
            large,
            404,
        ),
        (
            without_key("POST", "/tags/t1").header(HEADER, OTHER),
            large,
            404,
        ),
        (with_key("DELETE", "/petitions/p1"), "", 500),
        (with_key("DELETE", "/petitions/p2"), "", 404),
        (
            with_key("PUT", "/petitions/p2/record_signature_helper"),
            "",
            404,
        ),
        // The right before the media type.
        (
            without_key("POST", "/tags")
                .header(HEADER, READER)
                .header("content-type", form),
            large,
            403,
        ),
        // The media type before the size.
        (
            with_key("POST", "/tags").header("content-type", form),
            large,
            415,
        ),
        // The size before the JSON, and the JSON before the record.
        (with_key("PUT", "/tags/nobody"), large, 413),
        (with_key("PUT", "/tags/nobody"), "{", 400),
        (with_key("PUT", "/tags/nobody"), "{\"name\":7}", 404),
        (with_key("PUT", "/tags/t1"), "{\"name\":7}", 400),
        // Without a key, the body also comes before the container.
        (
            without_key("POST", NOBODYS).header("content-type", form),
            large,
            415,
        ),
        (without_key("POST", NOBODYS), large, 413),
        (without_key("POST", NOBODYS), "{", 400),
        (without_key("POST", NOBODYS), "[]", 400),
        (without_key("POST", NOBODYS), "{\"comments\":7}", 404),
        (without_key("POST", NOBODYS), " ", 404),
    ];
    for (place, (request, body, status)) in cases.into_iter().enumerate() {
        assert_eq!(
            exchange(&service, request, body).await.status.as_u16(),
            status,
            "case {place}"
        );
    }
}

#[tokio::test]
async fn und_39_nothing_of_the_body_is_read_before_key_and_right_are_known() {
    let service = service();
    let cases = [
        (without_key("POST", "/tags"), 401),
        (without_key("POST", "/tags").header(HEADER, READER), 403),
        (with_key("POST", "/tags/t1"), 500),
        (with_key("POST", "/nothing"), 404),
        (
            with_key("POST", "/tags").header("content-type", "text/plain"),
            415,
        ),
        (
            with_key("POST", "/tags").header("content-length", "1048577"),
            413,
        ),
        (with_key("GET", "/tags"), 200),
        (with_key("DELETE", "/tags/t2"), 204),
    ];
    for (request, status) in cases {
        let body = Counted::new(b"{}", 1);
        let polls = body.polls.clone();
        // More than the service reads to keep the connection open.
        let mut request: Request<Counted> = request.body(body).unwrap();
        request
            .headers_mut()
            .entry("content-length")
            .or_insert(HeaderValue::from_static("65537"));
        let answer = send(&service, request).await;
        assert_eq!(
            (answer.status.as_u16(), polls.load(Ordering::Relaxed)),
            (status, 0)
        );
        assert_eq!(answer.header("connection"), Some("close"), "UND-17");
    }
}

#[tokio::test]
async fn und_37_another_tenants_record_is_404_for_every_method() {
    let memory = Memory::new();
    let service = SvcService::new(api(&memory).build().unwrap());
    for method in ["GET", "HEAD", "PUT", "DELETE", "POST", "PATCH"] {
        for path in [
            "/tags/t1",
            "/petitions/p1",
            "/petitions/p1/record_signature_helper",
        ] {
            let request = without_key(method, path).header(HEADER, OTHER);
            assert_eq!(
                exchange(&service, request, "{}").await.status,
                StatusCode::NOT_FOUND,
                "{method} {path}"
            );
        }
    }
    assert_eq!(memory.count(), 3);
}
