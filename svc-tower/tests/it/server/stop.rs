//! A shutdown loses no request, and ends.

use std::convert::Infallible;
use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Empty;
use svc_tower::server::{RequestBody, ServerLimits};
use tokio::sync::Notify;

use crate::raw::{Raw, TestResult};
use crate::server::running::{Running, SHORT};

#[tokio::test]
async fn und_42_a_stop_answers_the_requests_in_flight() -> TestResult {
    let server = Running::start(ServerLimits::default()).await?;
    let mut clients = Vec::new();
    for _ in 0..16 {
        let mut raw = Raw::connect(server.address).await?;
        raw.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n")
            .await?;
        // The interim response is sent when the service starts to read the body: the request is in
        // progress.
        assert_eq!(raw.answer().await?.status, 100);
        clients.push(raw);
    }
    let mut idle = Raw::connect(server.address).await?;
    idle.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n").await?;
    assert_eq!(idle.answer().await?.status, 200);
    server
        .stop
        .send(())
        .map_err(|()| "the server ended by itself")?;
    assert!(
        idle.rest().await?.is_empty(),
        "the idle connection is closed"
    );
    for raw in &mut clients {
        raw.send("hello").await?;
        let answer = raw.answer().await?;
        assert_eq!((answer.status, answer.text().as_str()), (200, "5 bytes"));
        assert_eq!(answer.header("connection"), Some("close"));
    }
    server.task.await?;
    assert!(
        Raw::connect(server.address).await.is_err(),
        "the port is closed"
    );
    Ok(())
}

#[tokio::test]
async fn und_42_a_stop_answers_requests_that_lie_in_the_socket() -> TestResult {
    let server = Running::start(ServerLimits::default()).await?;
    let mut used = Raw::connect(server.address).await?;
    used.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n").await?;
    assert_eq!(used.answer().await?.status, 200);
    // On this single-threaded runtime, the server accepts and reads nothing between these lines,
    // except while `send` waits.
    let mut fresh = Raw::connect(server.address).await?;
    server
        .stop
        .send(())
        .map_err(|()| "the server ended by itself")?;
    fresh.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n").await?;
    used.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n").await?;
    assert_eq!(fresh.answer().await?.status, 200);
    assert_eq!(used.answer().await?.status, 200);
    Ok(server.task.await?)
}

/// Reports that it was dropped.
struct Ends(Arc<Notify>);

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

#[tokio::test]
async fn und_42_a_stop_does_not_wait_for_ever() -> TestResult {
    let (begins, ends) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let service = tower::service_fn({
        let (begins, ends) = (Arc::clone(&begins), Arc::clone(&ends));
        move |_: Request<RequestBody>| {
            let (begins, end) = (Arc::clone(&begins), Ends(Arc::clone(&ends)));
            async move {
                let _end = end;
                begins.notify_one();
                std::future::pending::<Result<Response<Empty<Bytes>>, Infallible>>().await
            }
        }
    });
    let server =
        Running::start_service(ServerLimits::default().shutdown_timeout(SHORT), service).await?;
    let mut raw = Raw::connect(server.address).await?;
    raw.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n").await?;
    begins.notified().await;
    server.finish().await?;
    ends.notified().await;
    assert!(raw.rest().await?.is_empty(), "it is cut off");
    Ok(())
}
