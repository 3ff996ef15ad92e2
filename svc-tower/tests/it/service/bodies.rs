//! Bodies: size, media type, errors on the way (UND-17, UND-27).

use std::{
    io,
    pin::Pin,
    sync::atomic::Ordering,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{StatusCode, Version};
use http_body::{Body, Frame};
use svc_tower::{BodyTimeout, SvcService};

use crate::service::{
    backend::{Memory, api},
    client::{Counted, exchange, send, service, with_key},
};

#[tokio::test]
async fn und_17_one_mebibyte_is_taken_and_one_byte_more_is_not() {
    let service = service();
    let body = |length: usize| -> &'static str {
        // What no table knows is ignored, and counts for no record.
        let frame = "{\"unknown_to_us\":\"\"}";
        ("{\"unknown_to_us\":\"".to_owned() + &"x".repeat(length - frame.len()) + "\"}").leak()
    };
    assert_eq!(exchange(&service, with_key("POST", "/tags"), body(1 << 20)).await.status, StatusCode::CREATED);
    let answer = exchange(&service, with_key("POST", "/tags"), body((1 << 20) + 1)).await;
    assert_eq!((answer.status, answer.code().as_str()), (StatusCode::PAYLOAD_TOO_LARGE, "BODY_TOO_LARGE"));
    assert_eq!(answer.header("connection"), Some("close"));
}

#[tokio::test]
async fn und_17_a_chunked_body_is_read_no_further_than_the_limit() {
    let memory = Memory::new();
    let service = SvcService::new(api(&memory).build().unwrap()).body_limit(100);
    let body = Counted::new(b"0123456789", usize::MAX);
    let polls = body.polls.clone();
    let answer = send(&service, with_key("POST", "/tags").body(body).unwrap()).await;
    assert_eq!((answer.status, polls.load(Ordering::Relaxed)), (StatusCode::PAYLOAD_TOO_LARGE, 11));
    assert_eq!(memory.count(), 3);
    let h2 = with_key("POST", "/tags").version(Version::HTTP_2).body(Counted::new(b"0123456789", usize::MAX)).unwrap();
    assert_eq!(send(&service, h2).await.header("connection"), None);
}

#[tokio::test]
async fn und_27_only_plain_json_is_read() {
    let service = service();
    for good in ["application/json", "application/hal+json; charset=utf-8", "application/vnd.example+json"] {
        let request = with_key("POST", "/tags").header("content-type", good);
        assert_eq!(exchange(&service, request, "{\"name\":\"x\"}").await.status, StatusCode::CREATED, "{good}");
    }
    for (name, value) in
        [("content-type", "text/plain"), ("content-type", "multipart/form-data"), ("content-encoding", "gzip")]
    {
        let answer = exchange(&service, with_key("POST", "/tags").header(name, value), "{\"name\":\"x\"}").await;
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (StatusCode::UNSUPPORTED_MEDIA_TYPE, "MEDIA_TYPE_NOT_SUPPORTED")
        );
    }
    let labelled_json = with_key("POST", "/tags").header("content-type", "application/json");
    assert_eq!(exchange(&service, labelled_json, "name=x&description=y").await.code(), "JSON_INVALID");
    let in_the_query = with_key("POST", "/tags?name=x");
    assert_eq!(exchange(&service, in_the_query, "").await.code(), "BODY_MISSING");
    assert_eq!(
        exchange(&service, with_key("POST", "/petitions/p1/record_signature_helper"), "").await.status,
        StatusCode::OK
    );
}

/// A body that ends with an error.
struct Failing(Option<io::Error>);

impl Body for Failing {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        Poll::Ready(self.0.take().map(Err))
    }
}

#[tokio::test]
async fn und_17_a_slow_body_is_408_and_a_broken_one_400() {
    let service = service();
    for slow in [io::Error::other(BodyTimeout), io::ErrorKind::TimedOut.into()] {
        let answer = send(&service, with_key("POST", "/tags").body(Failing(Some(slow))).unwrap()).await;
        assert_eq!((answer.status, answer.code().as_str()), (StatusCode::REQUEST_TIMEOUT, "REQUEST_TIMEOUT"));
        assert_eq!(answer.header("connection"), Some("close"));
    }
    let reset = io::ErrorKind::ConnectionReset.into();
    let answer = send(&service, with_key("POST", "/tags").body(Failing(Some(reset))).unwrap()).await;
    assert_eq!((answer.status, answer.code().as_str()), (StatusCode::BAD_REQUEST, "REQUEST_INVALID"));
}
