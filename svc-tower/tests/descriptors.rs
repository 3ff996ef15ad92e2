//! A process without free file descriptors: accepting fails and is retried, and waiting clients are
//! served. The test is a separate program, because no other code in the process can open files at
//! the same time.
//!
//! Requirements: UND-42.

#![cfg(target_os = "linux")]

#[allow(dead_code, reason = "the tests of the programs use the rest of it")]
#[path = "../../examples/server/tests/it/support/raw.rs"]
mod raw;

use std::convert::Infallible;
use std::fs::File;
use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use raw::{Raw, TestResult};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use svc_tower::server::{RequestBody, Server};
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// Reports warnings of the server.
struct Warned(Arc<Notify>);

impl Subscriber for Warned {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("svc_tower") && *metadata.level() == tracing::Level::WARN
    }
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, _: &Event<'_>) {
        self.0.notify_one();
    }
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

async fn answer(_: Request<RequestBody>) -> Result<Response<Full<Bytes>>, Infallible> {
    Ok(Response::new(Full::from("here")))
}

#[tokio::test]
async fn und_42_a_listener_without_descriptors_is_asked_again() -> TestResult {
    let warned = Arc::new(Notify::new());
    tracing::subscriber::set_global_default(Warned(Arc::clone(&warned)))?;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(
        Server::new(tower::service_fn(answer)).serve_until(listener, std::future::pending()),
    );
    setrlimit(
        Resource::Nofile,
        Rlimit {
            current: Some(64),
            maximum: getrlimit(Resource::Nofile).maximum,
        },
    )?;
    let mut all: Vec<File> = std::iter::from_fn(|| File::open("/dev/null").ok()).collect();
    assert!(all.pop().is_some(), "one of the 64 is for the client");
    let mut raw = Raw::connect(address).await?;
    raw.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n").await?;
    warned.notified().await;
    drop(all);
    assert_eq!(raw.answer().await?.text(), "here");
    Ok(())
}
