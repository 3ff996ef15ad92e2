//! Bodies: size, media type, transfer errors.
//!
//! Requirements: UND-17, UND-27.

use std::{
    io,
    pin::Pin,
    sync::atomic::Ordering,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{StatusCode, Version};
use http_body::{Body, Frame};
use http_body_util::Full;
use svc_tower::{BodyBudget, BodyTimeoutError, SvcService};
use tokio::sync::mpsc;

use crate::service::{
    backend::{Memory, api},
    client::{Counted, exchange, send, service, with_key, without_key},
};

#[tokio::test]
async fn und_17_one_mebibyte_is_taken_and_one_byte_more_is_not() {
    let service = service();
    let body = |length: usize| -> &'static str {
        // Unknown members are ignored, and do not count as records.
        let (start, end) = (r#"{"name":"a","unknown_to_us":""#, r#""}"#);
        let filler = length - start.len() - end.len();
        format!("{start}{}{end}", "x".repeat(filler)).leak()
    };
    assert_eq!(
        exchange(&service, with_key("POST", "/tags"), body(1 << 20))
            .await
            .status,
        StatusCode::CREATED
    );
    let answer = exchange(&service, with_key("POST", "/tags"), body((1 << 20) + 1)).await;
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (StatusCode::PAYLOAD_TOO_LARGE, "BODY_TOO_LARGE")
    );
    assert_eq!(answer.header("connection"), Some("close"));
}

#[tokio::test]
async fn und_17_a_chunked_body_is_read_no_further_than_the_limit() {
    let memory = Memory::new();
    let service = SvcService::new(api(&memory).build().unwrap()).body_limit(100);
    let body = Counted::new(b"0123456789", usize::MAX);
    let polls = body.polls.clone();
    let answer = send(&service, with_key("POST", "/tags").body(body).unwrap()).await;
    assert_eq!(
        (answer.status, polls.load(Ordering::Relaxed)),
        (StatusCode::PAYLOAD_TOO_LARGE, 11)
    );
    assert_eq!(memory.count(), 3);
    let h2 = with_key("POST", "/tags")
        .version(Version::HTTP_2)
        .body(Counted::new(b"0123456789", usize::MAX))
        .unwrap();
    assert_eq!(send(&service, h2).await.header("connection"), None);
}

#[tokio::test]
async fn und_27_only_plain_json_is_read() {
    let service = service();
    for good in [
        "application/json",
        "application/hal+json; charset=utf-8",
        "application/vnd.example+json",
    ] {
        let request = with_key("POST", "/tags").header("content-type", good);
        assert_eq!(
            exchange(&service, request, "{\"name\":\"x\"}").await.status,
            StatusCode::CREATED,
            "{good}"
        );
    }
    for (name, value) in [
        ("content-type", "text/plain"),
        ("content-type", "multipart/form-data"),
        ("content-encoding", "gzip"),
    ] {
        let answer = exchange(
            &service,
            with_key("POST", "/tags").header(name, value),
            "{\"name\":\"x\"}",
        )
        .await;
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "MEDIA_TYPE_NOT_SUPPORTED"
            )
        );
    }
    let labelled_json = with_key("POST", "/tags").header("content-type", "application/json");
    assert_eq!(
        exchange(&service, labelled_json, "name=x&description=y")
            .await
            .code(),
        "JSON_INVALID"
    );
    let in_the_query = with_key("POST", "/tags?name=x");
    assert_eq!(
        exchange(&service, in_the_query, "").await.code(),
        "BODY_MISSING"
    );
    assert_eq!(
        exchange(
            &service,
            with_key("POST", "/petitions/p1/record_signature_helper"),
            ""
        )
        .await
        .status,
        StatusCode::OK
    );
}

/// A body that ends with an error.
struct Failing(Option<io::Error>);

impl Body for Failing {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        Poll::Ready(self.0.take().map(Err))
    }
}

#[tokio::test]
async fn und_17_a_slow_body_is_408_and_a_broken_one_400() {
    let service = service();
    for slow in [
        io::Error::other(BodyTimeoutError),
        io::ErrorKind::TimedOut.into(),
    ] {
        let answer = send(
            &service,
            with_key("POST", "/tags").body(Failing(Some(slow))).unwrap(),
        )
        .await;
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (StatusCode::REQUEST_TIMEOUT, "REQUEST_TIMEOUT")
        );
        assert_eq!(answer.header("connection"), Some("close"));
    }
    let reset = io::ErrorKind::ConnectionReset.into();
    let answer = send(
        &service,
        with_key("POST", "/tags")
            .body(Failing(Some(reset)))
            .unwrap(),
    )
    .await;
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (StatusCode::BAD_REQUEST, "REQUEST_INVALID")
    );
}

/// The limit for anonymous callers is 64 KiB, unless the service has another limit. The description
/// names the limit.
#[tokio::test]
async fn und_43_an_anonymous_body_has_a_limit_of_its_own() {
    let path = "/petitions/p1/record_signature_helper";
    let body = |length: usize| {
        Full::<Bytes>::from(format!(
            "{{\"unknown_to_us\":\"{}\"}}",
            "x".repeat(length - 20)
        ))
    };
    let service = service();
    for (request, length, status) in [
        (without_key("POST", path), 1 << 16, StatusCode::OK),
        (
            without_key("POST", path),
            (1 << 16) + 1,
            StatusCode::PAYLOAD_TOO_LARGE,
        ),
        (with_key("POST", path), (1 << 16) + 1, StatusCode::OK),
    ] {
        let answer = send(&service, request.body(body(length)).unwrap()).await;
        assert_eq!(answer.status, status, "{length}");
        if status != StatusCode::OK {
            assert_eq!(
                (answer.code().as_str(), answer.header("connection")),
                ("BODY_TOO_LARGE", Some("close"))
            );
            assert!(answer.text().contains("65536 bytes"), "{}", answer.text());
        }
    }
    for service in [
        service.clone().anonymous_body_limit(100),
        service.body_limit(100),
    ] {
        let answer = send(&service, without_key("POST", path).body(body(101)).unwrap()).await;
        assert!(answer.text().contains("100 bytes"), "{}", answer.text());
    }
}

/// A body whose pieces come through a channel. It fails if the sender sends an error, and hangs if
/// the sender waits.
struct Arriving(mpsc::UnboundedReceiver<io::Result<Bytes>>);

impl Arriving {
    fn of(piece: &[u8]) -> (mpsc::UnboundedSender<io::Result<Bytes>>, Self) {
        let (sender, receiver) = mpsc::unbounded_channel();
        sender.send(Ok(Bytes::copy_from_slice(piece))).unwrap();
        (sender, Self(receiver))
    }
}

impl Body for Arriving {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        self.0
            .poll_recv(cx)
            .map(|piece| piece.map(|piece| piece.map(Frame::data)))
    }
}

/// When incomplete bodies use up the budget, the one that hangs is cut: 503 with `Retry-After`.
/// Another client is served.
#[tokio::test]
async fn und_43_a_body_that_hangs_gives_its_memory_to_others() {
    let budget = BodyBudget::new(1000);
    let service = service().body_budget(budget.clone());
    let start = |piece: &[u8]| {
        let (sender, body) = Arriving::of(piece);
        let service = service.clone();
        (
            sender,
            tokio::spawn(async move {
                send(&service, with_key("POST", "/tags").body(body).unwrap()).await
            }),
        )
    };
    let (hanging, cut) = start(&[b' '; 900]);
    let held = || budget.usage().held;
    // One thread runs all tasks: each yield lets the others run until they wait.
    while held() == 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(held(), 1000);
    let (served, answer) = start(br#"{"name":"#);
    let cut = cut.await.unwrap();
    assert_eq!(
        (cut.status, cut.code().as_str()),
        (StatusCode::SERVICE_UNAVAILABLE, "UNAVAILABLE")
    );
    assert_eq!(
        (cut.header("retry-after"), cut.header("connection")),
        (Some("1"), Some("close"))
    );
    assert!(
        hanging.is_closed() && held() == 1000,
        "{:?}",
        budget.usage()
    );
    served.send(Ok(Bytes::from_static(br#""x"}"#))).unwrap();
    drop(served);
    assert_eq!(answer.await.unwrap().status, StatusCode::CREATED);
    assert_eq!((held(), budget.usage().cut), (0, 1));
}

/// A body that fails, or whose client disconnects, no longer uses memory.
#[tokio::test]
async fn und_43_a_body_that_ends_early_gives_its_memory_back() {
    let budget = BodyBudget::new(1000);
    let service = service().body_budget(budget.clone());
    let (sender, body) = Arriving::of(b"{");
    sender
        .send(Err(io::ErrorKind::ConnectionReset.into()))
        .unwrap();
    assert_eq!(
        send(&service, with_key("POST", "/tags").body(body).unwrap())
            .await
            .status,
        StatusCode::BAD_REQUEST
    );
    assert_eq!(budget.usage().held, 0);
    let (_sender, body) = Arriving::of(b"{");
    let mut hanging = Box::pin(send(
        &service,
        with_key("POST", "/tags").body(body).unwrap(),
    ));
    assert!(is_pending(hanging.as_mut()) && budget.usage().held > 0);
    drop(hanging);
    assert_eq!(budget.usage().held, 0);
}

fn is_pending(future: Pin<&mut impl Future>) -> bool {
    future
        .poll(&mut Context::from_waker(std::task::Waker::noop()))
        .is_pending()
}

/// No body can be larger than the budget. A retry would never succeed, so the status is 413.
#[tokio::test]
async fn und_43_a_body_larger_than_the_budget_is_too_large() {
    let service = service().body_budget(BodyBudget::new(10));
    let answer = exchange(&service, with_key("POST", "/tags"), "{\"name\":\"xx\"}").await;
    assert_eq!(answer.status, StatusCode::PAYLOAD_TOO_LARGE);
    assert!(answer.text().contains("10 bytes"), "{}", answer.text());
}
