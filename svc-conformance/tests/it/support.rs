//! The second service on a port, and the program.

use std::convert::Infallible;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Command, Output};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use svc_self_test::independent_server::{IndependentServer, ServerOptions};
use tokio::net::{TcpListener, TcpSocket};
use tokio::runtime::Runtime;
use tower::ServiceExt;

/// A change that a test makes to a response.
pub(crate) type Change = fn(&Request<Bytes>, Response<Bytes>) -> Response<Bytes>;

/// A server on a separate port; it ends with the test.
pub(crate) struct Server {
    pub(crate) base: String,
    pub(crate) address: SocketAddr,
    _runtime: Runtime,
}

impl Server {
    /// Starts the second service without changes.
    pub(crate) fn good() -> Self {
        Self::start(|_, response| response)
    }

    /// Starts the second service with one change to its responses.
    pub(crate) fn start(change: Change) -> Self {
        Self::with(change, |address| ServerOptions {
            base: format!("http://{address}/rest/"),
            ..ServerOptions::default()
        })
    }

    /// Starts the second service with one change to its responses, and with options for its
    /// address.
    pub(crate) fn with(change: Change, options: impl FnOnce(SocketAddr) -> ServerOptions) -> Self {
        Self::at(([127, 0, 0, 1], 0).into(), change, options)
    }

    /// Starts the second service like [`Server::with`], at this address.
    pub(crate) fn at(
        address: SocketAddr,
        change: Change,
        options: impl FnOnce(SocketAddr) -> ServerOptions,
    ) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("a runtime");
        let listener = runtime
            .block_on(TcpListener::bind(address))
            .expect("a port");
        let address = listener.local_addr().expect("an address");
        let options = options(address);
        let base = options.base.clone();
        let second_server = IndependentServer::new(options);
        runtime.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let second_server = second_server.clone();
                let answer = move |request| answer(second_server.clone(), request, change);
                tokio::spawn(async move {
                    let connection = hyper::server::conn::http1::Builder::new();
                    // A client that disconnects is not an error.
                    let _ = connection
                        .serve_connection(TokioIo::new(stream), service_fn(answer))
                        .await;
                });
            }
        });
        Self {
            base,
            address,
            _runtime: runtime,
        }
    }

    /// Returns the document at an address, with the first key.
    pub(crate) fn get(&self, url: &str) -> Value {
        self.request("GET", url, "")
    }

    /// Sends one request on a separate connection.
    pub(crate) fn request(&self, method: &str, url: &str, body: &str) -> Value {
        let path = url
            .split_once("://")
            .and_then(|(_, rest)| rest.find('/').map(|at| &rest[at..]))
            .expect("a path");
        let mut stream = TcpStream::connect(self.address).expect("a connection");
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nSVC-API-Token: k-one\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
            self.address,
            body.len()
        )
        .expect("sent");
        let mut text = String::new();
        stream.read_to_string(&mut text).expect("a response");
        let (_, body) = text.split_once("\r\n\r\n").expect("a body");
        serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    /// Returns the number of records in all collections of the entry point.
    pub(crate) fn records(&self) -> u64 {
        let entry = self.get(&self.base);
        let links = entry["_links"].as_object().expect("links").iter();
        let collections =
            links.filter(|(rel, _)| rel.starts_with("svc:") && !rel.ends_with("_helper"));
        let hrefs = collections.filter_map(|(_, link)| link["href"].as_str());
        hrefs
            .filter_map(|href| self.get(href)["total_records"].as_u64())
            .sum()
    }
}

async fn answer(
    second_server: IndependentServer,
    request: Request<Incoming>,
    change: Change,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let (parts, body) = request.into_parts();
    let body = body
        .collect()
        .await
        .map(http_body_util::Collected::to_bytes)
        .unwrap_or_default();
    let request = Request::from_parts(parts, body);
    if request.method() == http::Method::DELETE {
        let probe = change(&request, Response::new(Bytes::new()));
        if probe.status() != http::StatusCode::OK {
            // The change rejects the request before the service receives it.
            return Ok(probe.map(Full::new));
        }
    }
    let response = second_server
        .oneshot(request.clone().map(Full::new))
        .await?;
    let (parts, body) = response.into_parts();
    let body = body
        .collect()
        .await
        .map(http_body_util::Collected::to_bytes)
        .unwrap_or_default();
    Ok(change(&request, Response::from_parts(parts, body)).map(Full::new))
}

/// An empty folder, deleted when the value is dropped.
pub(crate) fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

/// Panics unless a text contains each of these parts.
pub(crate) fn assert_contains_all(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part}: {text}");
    }
}

/// Returns an address where no server listens: the socket reserves its port.
pub(crate) fn reserved_address() -> (TcpSocket, SocketAddr) {
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.bind(([127, 0, 0, 1], 0).into()).expect("a port");
    let address = socket.local_addr().expect("an address");
    (socket, address)
}

/// Returns the program, without the environment variables of the test that it reads.
pub(crate) fn program(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_svc-conformance"));
    for name in [
        "SVC_CONFORMANCE_KEY",
        "SVC_CONFORMANCE_OTHER_TENANT_KEY",
        "SVC_CONFORMANCE_OTHER_KEY",
        "SVC_CONFORMANCE_RESTRICTED_KEY",
    ] {
        command.env_remove(name);
    }
    command.current_dir(folder);
    command
}

/// Runs the program with the three keys of the second service, and with a timeout that is
/// sufficient on a busy machine.
pub(crate) fn run(folder: &Path, base: &str, arguments: &[&str]) -> (i32, String) {
    let keys = [
        "--key",
        "k-one",
        "--other-tenant-key",
        "k-two",
        "--restricted-key",
        "k-narrow=people.create",
        "--quiet",
    ];
    let patient: &[&str] = if arguments.contains(&"--timeout") {
        &[]
    } else {
        &["--timeout", "5m"]
    };
    ended(
        &program(folder)
            .arg("run")
            .arg(base)
            .args(keys)
            .args(patient)
            .args(arguments)
            .output()
            .expect("the program"),
    )
}

/// Returns the exit code and the output of a program.
pub(crate) fn ended(output: &Output) -> (i32, String) {
    let text = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    (output.status.code().expect("an exit code"), text)
}
