//! The demo's HTTP server over raw sockets, around a service that stands in for the interface (UND-17, UND-34, UND-42).

mod support;

use std::convert::Infallible;
use std::error::Error;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderName, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use support::{Raw, TestResult};
use svc_examples::demo::{AccessLog, Limits, TimedBody, serve};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// Long enough that it does not end a test that works, short enough to fail one that hangs.
const NEVER: Duration = Duration::from_mins(1);

struct Running {
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Running {
    async fn start(limits: Limits) -> TestResult<Self> {
        Self::start_with_log(limits, AccessLog::off()).await
    }

    async fn start_with_log(limits: Limits, log: AccessLog) -> TestResult<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(async move {
            let stopped = async {
                let _ = stopped.await;
            };
            serve(listener, tower::service_fn(stand_in), limits, log, stopped).await;
        });
        Ok(Self { address, stop, task })
    }

    async fn finish(self) -> TestResult {
        self.stop.send(()).map_err(|()| "the server ended by itself")?;
        Ok(self.task.await?)
    }
}

/// Answers with the number of bytes of the body, or as the interface does when it cannot be read.
async fn stand_in(request: Request<TimedBody>) -> Result<Response<Full<Bytes>>, Infallible> {
    if request.uri().path() == "/large" {
        return Ok(Response::new(Full::from(vec![b'x'; 8 << 20])));
    }
    let (status, text) = match Limited::new(request.into_body(), 1 << 20).collect().await {
        Ok(body) => (StatusCode::OK, format!("{} bytes", body.to_bytes().len())),
        Err(error) if error.is::<LengthLimitError>() => (StatusCode::PAYLOAD_TOO_LARGE, "too large".to_owned()),
        Err(error) if is_timeout(error.as_ref()) => (StatusCode::REQUEST_TIMEOUT, "too slow".to_owned()),
        Err(_) => (StatusCode::BAD_REQUEST, "broken".to_owned()),
    };
    let mut response = Response::new(Full::from(text));
    *response.status_mut() = status;
    Ok(response)
}

/// Whether an I/O error of kind `TimedOut` stands somewhere in the chain: how the service knows a slow body.
fn is_timeout(error: &(dyn Error + 'static)) -> bool {
    let mut chain = Some(error);
    while let Some(error) = chain {
        if error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == ErrorKind::TimedOut) {
            return true;
        }
        chain = error.source();
    }
    false
}

#[tokio::test]
async fn answers_and_keeps_the_connection() -> TestResult {
    let server = Running::start(Limits::default()).await?;
    let mut raw = Raw::connect(server.address).await?;
    for _ in 0..3 {
        raw.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello").await?;
        let answer = raw.answer().await?;
        assert_eq!((answer.status, answer.text().as_str()), (200, "5 bytes"));
    }
    drop(raw);
    server.finish().await
}

#[tokio::test]
async fn requests_sent_at_once_are_answered_in_order() -> TestResult {
    let server = Running::start(Limits::default()).await?;
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
    let server = Running::start(Limits::default()).await?;
    let mut raw = Raw::connect(server.address).await?;
    raw.send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n").await?;
    let chunk = format!("10000\r\n{}\r\n", "x".repeat(0x10000));
    for _ in 0..32 {
        raw.send(&chunk).await?;
    }
    raw.send("0\r\n\r\n").await?;
    let answer = raw.answer().await?;
    assert_eq!((answer.status, answer.header("connection")), (413, Some("close")));
    assert!(raw.rest().await?.is_empty());
    drop(raw);
    server.finish().await
}

#[tokio::test]
async fn und_42_a_slow_head_ends_the_connection() -> TestResult {
    let limits = Limits { head: Duration::from_millis(50), body: NEVER, idle: NEVER, ..Limits::default() };
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
    let limits = Limits { head: Duration::from_secs(2), body: NEVER, idle: NEVER, ..Limits::default() };
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
    let limits = Limits { head: NEVER, body: Duration::from_millis(50), idle: NEVER, ..Limits::default() };
    let server = Running::start(limits).await?;
    let mut raw = Raw::connect(server.address).await?;
    raw.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhel").await?;
    let answer = raw.answer().await?;
    assert_eq!((answer.status, answer.header("connection")), (408, Some("close")));
    drop(raw);
    server.finish().await
}

#[tokio::test]
async fn und_42_an_idle_connection_ends() -> TestResult {
    let limits = Limits { head: NEVER, body: NEVER, idle: Duration::from_millis(50), ..Limits::default() };
    let server = Running::start(limits).await?;
    let mut raw = Raw::connect(server.address).await?;
    raw.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n").await?;
    assert_eq!(raw.answer().await?.status, 200);
    assert!(raw.rest().await?.is_empty());
    server.finish().await
}

#[tokio::test]
async fn und_42_a_client_that_does_not_read_its_answer_is_cut_off() -> TestResult {
    let limits = Limits { idle: Duration::from_millis(50), connections: 1, ..Limits::default() };
    let server = Running::start(limits).await?;
    let mut deaf = Raw::connect(server.address).await?;
    deaf.send("GET /large HTTP/1.1\r\nHost: x\r\n\r\n").await?;
    // There is one slot only: the second client is served after the first was cut off.
    let mut raw = Raw::connect(server.address).await?;
    raw.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n").await?;
    assert_eq!(raw.answer().await?.status, 200);
    drop(deaf);
    server.finish().await
}

#[tokio::test]
async fn und_42_more_connections_than_slots_wait() -> TestResult {
    let server = Running::start(Limits { connections: 1, ..Limits::default() }).await?;
    let mut first = Raw::connect(server.address).await?;
    first.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n").await?;
    assert_eq!(first.answer().await?.status, 200);
    let mut second = Raw::connect(server.address).await?;
    second.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n").await?;
    first.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n").await?;
    assert_eq!(first.answer().await?.status, 200);
    drop(first);
    assert_eq!(second.answer().await?.status, 200);
    drop(second);
    server.finish().await
}

#[tokio::test]
async fn und_42_a_stop_answers_the_requests_in_flight() -> TestResult {
    let server = Running::start(Limits::default()).await?;
    let mut clients = Vec::new();
    for _ in 0..16 {
        let mut raw = Raw::connect(server.address).await?;
        raw.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n").await?;
        // This interim answer comes when the service begins to read the body: the request is in flight.
        assert_eq!(raw.answer().await?.status, 100);
        clients.push(raw);
    }
    let mut idle = Raw::connect(server.address).await?;
    idle.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n").await?;
    assert_eq!(idle.answer().await?.status, 200);
    server.stop.send(()).map_err(|()| "the server ended by itself")?;
    assert!(idle.rest().await?.is_empty(), "the idle connection is closed");
    for raw in &mut clients {
        raw.send("hello").await?;
        let answer = raw.answer().await?;
        assert_eq!((answer.status, answer.text().as_str()), (200, "5 bytes"));
        assert_eq!(answer.header("connection"), Some("close"));
    }
    server.task.await?;
    assert!(Raw::connect(server.address).await.is_err(), "the port is closed");
    Ok(())
}

#[tokio::test]
async fn und_42_a_stop_answers_requests_that_lie_in_the_socket() -> TestResult {
    let server = Running::start(Limits::default()).await?;
    let mut used = Raw::connect(server.address).await?;
    used.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n").await?;
    assert_eq!(used.answer().await?.status, 200);
    // On this one-thread runtime nothing is accepted or read between these lines but what `send` waits for.
    let mut fresh = Raw::connect(server.address).await?;
    server.stop.send(()).map_err(|()| "the server ended by itself")?;
    fresh.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n").await?;
    used.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n").await?;
    assert_eq!(fresh.answer().await?.status, 200);
    assert_eq!(used.answer().await?.status, 200);
    Ok(server.task.await?)
}

/// A writer that keeps what was written.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<u8>>>);

impl io::Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().map_err(|_| io::ErrorKind::Other)?.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn und_42_the_log_has_one_line_per_request_and_no_secret() -> TestResult {
    let kept = Kept::default();
    let (log, writer) = AccessLog::to(kept.clone(), HeaderName::from_static("svc-api-token"));
    let server = Running::start_with_log(Limits::default(), log).await?;
    let mut raw = Raw::connect(server.address).await?;
    raw.send(
        "POST /people?email=ada%40example.org HTTP/1.1\r\nHost: x\r\nSVC-API-Token: planted-key-4711\r\n\
         Content-Length: 12\r\n\r\nplanted-body",
    )
    .await?;
    assert_eq!(raw.answer().await?.status, 200);
    raw.send("GET /tags HTTP/1.1\r\nHost: x\r\n\r\n").await?;
    assert_eq!(raw.answer().await?.status, 200);
    drop(raw);
    server.finish().await?;
    writer.finish();
    let text = String::from_utf8(kept.0.lock().map_err(|_| "poisoned")?.clone())?;
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 2, "{text}");
    assert!(lines[0].starts_with("POST    200 ") && lines[0].ends_with("  4711  /people"), "{text}");
    assert!(lines[1].starts_with("GET     200 ") && lines[1].ends_with("  -     /tags"), "{text}");
    for secret in ["planted", "ada", "email", "?"] {
        assert!(!text.contains(secret), "{text}");
    }
    Ok(())
}
