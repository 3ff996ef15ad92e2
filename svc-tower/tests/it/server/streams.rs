//! Other services: a whole axum router, slow responses, and connections that change their protocol.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::extract::{ConnectInfo, Extension};
use axum::middleware::map_request;
use axum::{Router, routing::get};
use bytes::Bytes;
use http::header::{CONNECTION, UPGRADE};
use http::{HeaderValue, Request, Response, StatusCode};
use http_body::{Body, Frame};
use http_body_util::Empty;
use hyper_util::rt::TokioIo;
use svc_tower::PeerAddr;
use svc_tower::server::{RequestBody, ServerLimits};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::mpsc;

use crate::raw::{Raw, TestResult};
use crate::server::running::{Running, SHORT};

/// UND-34: the peer address is in the extensions. With a layer, handlers of axum also get it in
/// their own format.
#[tokio::test]
async fn und_34_a_router_sees_the_peer_address() -> TestResult {
    async fn connect_info(mut request: axum::extract::Request) -> axum::extract::Request {
        if let Some(peer) = request.extensions().get::<SocketAddr>().copied() {
            request.extensions_mut().insert(ConnectInfo(peer));
        }
        request
    }
    let of_axum = get(|ConnectInfo(peer): ConnectInfo<SocketAddr>| async move { peer.to_string() });
    let router =
        Router::new()
            .route(
                "/address",
                get(
                    |Extension(PeerAddr(address)): Extension<PeerAddr>| async move {
                        address.to_string()
                    },
                ),
            )
            .route("/axum", of_axum.layer(map_request(connect_info)));
    let server = Running::start_service(ServerLimits::default(), router).await?;
    let mut stream = TcpStream::connect(server.address).await?;
    let own = stream.local_addr()?;
    stream
        .write_all(
            b"GET /address HTTP/1.1\r\nHost: x\r\n\r\nGET /axum HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
        )
        .await?;
    let mut answers = String::new();
    stream.read_to_string(&mut answers).await?;
    let told: Vec<_> = answers.split("\r\n\r\n").skip(1).collect();
    assert!(
        told[0].starts_with("127.0.0.1HTTP/1.1 200") && told[1] == own.to_string(),
        "{answers}"
    );
    server.finish().await
}

/// A body whose data comes through a channel.
struct Coming(mpsc::Receiver<&'static str>);

impl Body for Coming {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0
            .poll_recv(cx)
            .map(|text| text.map(|text| Ok(Frame::data(Bytes::from(text)))))
    }
}

/// UND-42: the limit on idle connections does not apply to responses, which the service controls.
#[tokio::test]
async fn und_42_an_answer_may_pause_for_longer_than_a_connection_may_lie_idle() -> TestResult {
    let (give, taken) = mpsc::channel(1);
    let taken = Arc::new(std::sync::Mutex::new(Some(taken)));
    let service = tower::service_fn(move |_: Request<RequestBody>| {
        let coming = taken.lock().unwrap().take().unwrap();
        async { Ok::<_, Infallible>(Response::new(Coming(coming))) }
    });
    let server =
        Running::start_service(ServerLimits::default().idle_timeout(SHORT), service).await?;
    let mut stream = TcpStream::connect(server.address).await?;
    stream
        .write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        .await?;
    give.send("one").await?;
    tokio::time::sleep(4 * SHORT).await;
    give.send("two").await?;
    drop(give);
    let mut answer = String::new();
    // The idle connection is closed afterwards.
    stream.read_to_string(&mut answer).await?;
    assert!(
        answer.ends_with("3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n"),
        "{answer}"
    );
    server.finish().await
}

/// Upgrades the connection to a custom protocol, which echoes its input.
async fn upgrade(mut request: Request<RequestBody>) -> Result<Response<Empty<Bytes>>, Infallible> {
    let upgraded = hyper::upgrade::on(&mut request);
    tokio::spawn(async move {
        let mut stream = TokioIo::new(upgraded.await.unwrap());
        let mut room = [0; 16];
        while let Ok(length @ 1..) = stream.read(&mut room).await {
            stream.write_all(&room[..length]).await.unwrap();
        }
    });
    let mut response = Response::new(Empty::new());
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    response
        .headers_mut()
        .insert(CONNECTION, HeaderValue::from_static("upgrade"));
    response
        .headers_mut()
        .insert(UPGRADE, HeaderValue::from_static("echo"));
    Ok(response)
}

/// UND-42: a connection with another protocol, such as `WebSocket`, keeps its slot and has no other
/// limit. A shutdown does not wait for it.
#[tokio::test]
async fn und_42_an_upgraded_connection_keeps_its_slot_and_nothing_else() -> TestResult {
    let limits = ServerLimits::default()
        .header_timeout(SHORT)
        .idle_timeout(SHORT)
        .max_connections(1);
    let server = Running::start_service(limits, tower::service_fn(upgrade)).await?;
    let mut raw = Raw::connect(server.address).await?;
    raw.send("GET / HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\n")
        .await?;
    assert_eq!(raw.answer().await?.status, 101);
    tokio::time::sleep(4 * SHORT).await;
    raw.send("hello").await?;
    let mut second = Raw::connect(server.address).await?;
    second.send("GET / HTTP/1.1\r\nHost: x\r\n").await?;
    tokio::time::sleep(4 * SHORT).await;
    second
        .send("Connection: upgrade\r\nUpgrade: echo\r\n\r\n")
        .await?;
    assert_eq!(raw.next(5).await?, b"hello");
    drop(raw);
    assert_eq!(
        second.answer().await?.status,
        101,
        "it waited for a slot, and its head was not slow before"
    );
    server.finish().await?;
    second.send("still here").await?;
    assert_eq!(second.next(10).await?, b"still here");
    Ok(())
}
