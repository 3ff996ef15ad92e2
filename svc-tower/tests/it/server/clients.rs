//! The behaviour of the server with slow and hostile clients.

use std::time::Duration;

use svc_tower::server::ServerLimits;

use crate::raw::{Raw, TestResult};
use crate::server::running::{NEVER, Running, SHORT};

#[tokio::test]
async fn answers_and_keeps_the_connection() -> TestResult {
    let server = Running::start(ServerLimits::default()).await?;
    let mut raw = Raw::connect(server.address).await?;
    for _ in 0..3 {
        raw.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello")
            .await?;
        let answer = raw.answer().await?;
        assert_eq!((answer.status, answer.text().as_str()), (200, "5 bytes"));
    }
    drop(raw);
    server.finish().await
}

#[tokio::test]
async fn requests_sent_at_once_are_answered_in_order() -> TestResult {
    let server = Running::start(ServerLimits::default()).await?;
    let mut raw = Raw::connect(server.address).await?;
    raw.send(
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\naGET / HTTP/1.1\r\nHost: x\r\n\r\n\
         POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nbb",
    )
    .await?;
    for expected in ["1 bytes", "0 bytes", "2 bytes"] {
        assert_eq!(raw.answer().await?.text(), expected);
    }
    drop(raw);
    server.finish().await
}

#[tokio::test]
async fn und_17_a_body_that_is_too_large_is_answered_though_it_is_still_being_sent() -> TestResult {
    let server = Running::start(ServerLimits::default().linger(NEVER)).await?;
    let mut raw = Raw::connect(server.address).await?;
    raw.send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
        .await?;
    let chunk = format!("10000\r\n{}\r\n", "x".repeat(0x10000));
    for _ in 0..32 {
        raw.send(&chunk).await?;
    }
    raw.send("0\r\n\r\n").await?;
    let answer = raw.answer().await?;
    assert_eq!(
        (answer.status, answer.header("connection")),
        (413, Some("close"))
    );
    assert!(raw.rest().await?.is_empty());
    drop(raw);
    server.finish().await
}

#[tokio::test]
async fn und_42_a_slow_head_ends_the_connection() -> TestResult {
    let limits = ServerLimits::default()
        .header_timeout(SHORT)
        .body_timeout(NEVER)
        .idle_timeout(NEVER);
    let server = Running::start(limits).await?;
    let mut silent = Raw::connect(server.address).await?;
    let mut slow = Raw::connect(server.address).await?;
    slow.send("GET / HTTP/1.1\r\nHost:").await?;
    assert!(silent.rest().await?.is_empty());
    assert!(slow.rest().await?.is_empty());
    server.finish().await
}

#[tokio::test]
async fn und_42_a_slow_head_ends_a_connection_that_was_used_before() -> TestResult {
    let limits = ServerLimits::default()
        .header_timeout(Duration::from_secs(2))
        .body_timeout(NEVER)
        .idle_timeout(NEVER);
    let server = Running::start(limits).await?;
    let mut raw = Raw::connect(server.address).await?;
    raw.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n").await?;
    assert_eq!(raw.answer().await?.status, 200);
    raw.send("G").await?;
    assert!(raw.rest().await?.is_empty());
    server.finish().await
}

#[tokio::test]
async fn und_17_a_slow_body_is_answered_408_and_the_connection_closes() -> TestResult {
    let limits = ServerLimits::default()
        .header_timeout(NEVER)
        .body_timeout(SHORT)
        .idle_timeout(NEVER);
    let server = Running::start(limits).await?;
    let mut raw = Raw::connect(server.address).await?;
    raw.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhel")
        .await?;
    let answer = raw.answer().await?;
    assert_eq!(
        (answer.status, answer.header("connection")),
        (408, Some("close"))
    );
    drop(raw);
    server.finish().await
}

#[tokio::test]
async fn und_42_an_idle_connection_ends() -> TestResult {
    let limits = ServerLimits::default()
        .header_timeout(NEVER)
        .body_timeout(NEVER)
        .idle_timeout(SHORT);
    let server = Running::start(limits).await?;
    let mut raw = Raw::connect(server.address).await?;
    raw.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n").await?;
    assert_eq!(raw.answer().await?.status, 200);
    assert!(raw.rest().await?.is_empty());
    server.finish().await
}

#[tokio::test]
async fn und_42_a_client_that_does_not_read_its_answer_is_cut_off() -> TestResult {
    let limits = ServerLimits::default()
        .idle_timeout(SHORT)
        .max_connections(1);
    let server = Running::start(limits).await?;
    let mut deaf = Raw::connect(server.address).await?;
    deaf.send("GET /large HTTP/1.1\r\nHost: x\r\n\r\n").await?;
    // There is only one slot: the second client is served after the first connection was closed.
    let mut raw = Raw::connect(server.address).await?;
    raw.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n").await?;
    assert_eq!(raw.answer().await?.status, 200);
    drop(deaf);
    server.finish().await
}

#[tokio::test]
async fn und_42_more_connections_than_slots_wait() -> TestResult {
    let server = Running::start(ServerLimits::default().max_connections(1)).await?;
    let mut first = Raw::connect(server.address).await?;
    first
        .send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n")
        .await?;
    assert_eq!(first.answer().await?.status, 100);
    let mut second = Raw::connect(server.address).await?;
    second.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n").await?;
    first.send("hello").await?;
    assert_eq!(first.answer().await?.status, 200);
    assert_eq!(second.answer().await?.status, 200);
    assert!(
        first.rest().await?.is_empty(),
        "UND-44: it is idle, and makes room"
    );
    drop(second);
    server.finish().await
}

#[tokio::test]
async fn und_17_a_head_that_is_too_large_is_answered_431_though_it_is_still_being_sent()
-> TestResult {
    let server = Running::start(
        ServerLimits::default()
            .max_header_bytes(16 * 1024)
            .linger(NEVER),
    )
    .await?;
    let large = format!(
        "GET / HTTP/1.1\r\nHost: x\r\nX-Large: {}",
        "x".repeat(64 * 1024)
    );
    let many = format!(
        "GET / HTTP/1.1\r\nHost: x\r\n{}",
        "X-Many: x\r\n".repeat(200)
    );
    for head in [large, many] {
        let mut raw = Raw::connect(server.address).await?;
        raw.send(&head).await?;
        let answer = raw.answer().await?;
        assert_eq!(
            (answer.status, answer.header("connection")),
            (431, Some("close"))
        );
        // A connection that was closed immediately would reject this.
        for _ in 0..4 {
            raw.send(&head).await?;
        }
        assert!(raw.rest().await?.is_empty());
    }
    let mut raw = Raw::connect(server.address).await?;
    raw.send(format!(
        "GET / HTTP/1.1\r\nHost: x\r\nX-Small: {}\r\n\r\n",
        "x".repeat(8 * 1024)
    ))
    .await?;
    assert_eq!(raw.answer().await?.status, 200);
    drop(raw);
    server.finish().await
}
