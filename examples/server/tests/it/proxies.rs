//! Links over real connections: only a trusted proxy determines their scheme and host.
//!
//! Requirements: HAL-01, UND-34.

use std::net::{IpAddr, SocketAddr};

use svc_core::api::{Api, Vendor};
use svc_sqlite::{SqliteOptions, SqliteStore};
use svc_tower::SvcService;
use svc_tower::server::Server;
use tokio::net::TcpListener;

use crate::support::{Raw, TestResult};

/// The base URL of links without a proxy.
const CONFIGURED: &str = "http://configured.example.org/api/";

/// Starts a service that trusts one proxy, and returns its address.
async fn start(store: &SqliteStore, trusted: IpAddr) -> TestResult<SocketAddr> {
    let api = store
        .register_all(Api::builder(Vendor::new("Test", "Test")))
        .base_url(CONFIGURED);
    let service = SvcService::new(api.authenticator(store.clone()).build()?)
        .mounted_at("/api")
        .trusted_proxies([trusted]);
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(Server::new(service).serve_until(listener, std::future::pending()));
    Ok(address)
}

/// Returns the `self` link of the entry point, requested with these headers.
async fn link(address: SocketAddr, headers: &str) -> TestResult<String> {
    let mut raw = Raw::connect(address).await?;
    raw.send(format!(
        "GET /api/ HTTP/1.1\r\nHost: evil.example\r\n{headers}\r\n"
    ))
    .await?;
    let answer = raw.answer().await?;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let entry: serde_json::Value = serde_json::from_slice(&answer.body)?;
    Ok(entry["_links"]["self"]["href"]
        .as_str()
        .ok_or("no self")?
        .to_owned())
}

#[tokio::test]
async fn hal_01_links_follow_a_trusted_proxy_over_a_connection() -> TestResult {
    let folder = tempfile::tempdir()?;
    let store = SqliteStore::open(SqliteOptions::new(folder.path().join("a.db")))?;
    let behind = start(&store, "127.0.0.1".parse()?).await?;
    let beside = start(&store, "192.0.2.7".parse()?).await?;
    let public = "https://public.example.org/api/";
    for (headers, expected) in [
        ("", CONFIGURED),
        (
            "X-Forwarded-Proto: https\r\nX-Forwarded-Host: public.example.org\r\n",
            public,
        ),
        (
            "Forwarded: for=192.0.2.1;proto=https;host=public.example.org\r\n",
            public,
        ),
        // Incomplete, malformed or contradictory headers are ignored.
        ("X-Forwarded-Host: public.example.org\r\n", CONFIGURED),
        (
            "X-Forwarded-Proto: javascript\r\nX-Forwarded-Host: public.example.org\r\n",
            CONFIGURED,
        ),
        (
            "X-Forwarded-Proto: https\r\nX-Forwarded-Host: a@b\r\n",
            CONFIGURED,
        ),
        (
            "X-Forwarded-Proto: https\r\nX-Forwarded-Host: public.example.org\r\nForwarded: proto=https;host=other.example\r\n",
            CONFIGURED,
        ),
    ] {
        assert_eq!(link(behind, headers).await?, expected, "HAL-01 {headers}");
        assert_eq!(link(beside, headers).await?, CONFIGURED, "UND-34 {headers}");
    }
    Ok(())
}
