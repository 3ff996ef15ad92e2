//! Connections: after each rejection, the next request works on the same connection, or the
//! response states that the connection closes. The tests use a raw socket, because clients hide
//! this.
//!
//! Requirements: UND-17.

use std::{net::SocketAddr, time::Duration};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    time::timeout,
};

use crate::service::{
    backend::KEY,
    client::{HEADER, service},
};

/// Requests that are rejected before their body is read: method, path, headers, and the status.
const REFUSALS: [(&str, &str, &str, u16); 12] = [
    ("POST", "/tags", "", 401),
    ("PUT", "/tags", "", 401),
    ("POST", "/tags", "SVC-API-Token: nobody\r\n", 401),
    ("POST", "/nothing/here", "SVC-API-Token: KEY\r\n", 404),
    ("POST", "/nothing/here", "", 404),
    ("DELETE", "/tags", "SVC-API-Token: KEY\r\n", 500),
    (
        "POST",
        "/tags",
        "SVC-API-Token: KEY\r\nContent-Type: text/plain\r\n",
        415,
    ),
    (
        "POST",
        "/tags",
        "SVC-API-Token: KEY\r\nContent-Encoding: gzip\r\n",
        415,
    ),
    (
        "POST",
        "/tags",
        "SVC-API-Token: KEY\r\nSVC-API-Token: KEY\r\n",
        400,
    ),
    ("GET", "/tags", "", 401),
    ("GET", "/", "SVC-API-Token: KEY\r\n", 200),
    ("OPTIONS", "/tags", "", 204),
];

/// Reads one response. Returns its status and whether it closes the connection, or `None` if there
/// is no response.
async fn answer(socket: &mut TcpStream) -> Option<(u16, bool)> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(
            timeout(Duration::from_secs(20), socket.read_u8())
                .await
                .expect("an answer in time")
                .ok()?,
        );
    }
    let head = String::from_utf8(head)
        .expect("a head")
        .to_ascii_lowercase();
    let status = head
        .split(' ')
        .nth(1)
        .and_then(|status| status.parse().ok())
        .expect("a status");
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "))
        .map_or(0, |it| it.parse().unwrap());
    let mut body = vec![0; length];
    socket.read_exact(&mut body).await.ok()?;
    Some((status, head.contains("connection: close")))
}

/// A rejected request in the form in which it is sent.
struct Sent {
    head: String,
    body: String,
    /// Whether head and body are sent one after the other, as most clients do.
    in_two: bool,
}

impl Sent {
    /// Sends the request. Returns the status of the response, and whether the connection served
    /// another request. Returns `None` if the server closed the connection while the client was
    /// writing, so that the response was lost.
    async fn to(self, address: SocketAddr) -> Option<(u16, bool)> {
        let mut socket = TcpStream::connect(address).await.unwrap();
        socket.set_nodelay(true).unwrap();
        if self.in_two {
            socket.write_all(self.head.as_bytes()).await.unwrap();
            // The server has only the head while it processes it.
            tokio::time::sleep(Duration::from_millis(2)).await;
            let _ = socket.write_all(self.body.as_bytes()).await;
        } else {
            let _ = socket.write_all((self.head + &self.body).as_bytes()).await;
        }
        let (status, closes) = answer(&mut socket).await?;
        if closes {
            return Some((status, false));
        }
        let next = format!("GET / HTTP/1.1\r\nHost: localhost\r\n{HEADER}: {KEY}\r\n\r\n");
        let _ = socket.write_all(next.as_bytes()).await;
        assert_eq!(
            answer(&mut socket).await.map(|(status, _)| status),
            Some(200),
            "the next request after {status}"
        );
        Some((status, true))
    }
}

#[tokio::test]
async fn und_17_no_connection_is_closed_without_a_word() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let router = axum::Router::new().fallback_service(service());
    tokio::spawn(async move { axum::serve(listener, router).await });
    for (method, path, headers, status) in REFUSALS {
        for (size, chunked, in_two) in shapes() {
            let what = format!(
                "{method} {path} with {headers:?}, {size} bytes, chunked {chunked}, in two {in_two}"
            );
            let length = format!("Content-Length: {size}");
            let length = if chunked {
                "Transfer-Encoding: chunked"
            } else {
                &length
            };
            let headers = headers.replace("KEY", KEY);
            let head =
                format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\n{headers}{length}\r\n\r\n");
            let content = "x".repeat(size);
            let body = if chunked {
                format!("{size:x}\r\n{content}\r\n0\r\n\r\n")
            } else {
                content
            };
            let came = Sent { head, body, in_two }.to(address).await;
            assert!(came.is_some() || size > 64 * 1024, "{what}: no answer");
            assert!(
                came.is_none_or(|(found, _)| found == status),
                "{what}: {came:?}"
            );
            assert!(
                came.is_some_and(|(_, kept)| kept) || size > 60_000,
                "{what}: a short rest is read"
            );
        }
    }
}

/// Returns sizes of bodies, whether they are chunked, and whether they are sent after the head.
fn shapes() -> impl Iterator<Item = (usize, bool, bool)> {
    let sizes = [20, 60_000, 64 * 1024, 2 << 20];
    sizes.into_iter().flat_map(|size| {
        [(false, false), (false, true), (true, false), (true, true)].map(|(a, b)| (size, a, b))
    })
}
