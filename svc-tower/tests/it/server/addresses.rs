//! Connections of many peer addresses: one address cannot use all slots, and idle connections make
//! room.
//!
//! Requirements: UND-44.

use std::net::{Ipv4Addr, SocketAddr};

use svc_tower::server::ServerLimits;

use crate::raw::{Raw, TestResult};
use crate::server::running::Running;

const ONE: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);
const OTHER: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 3);

/// Opens a connection with an incomplete request, so that it is in use.
async fn in_use(source: Ipv4Addr, address: SocketAddr) -> TestResult<Raw> {
    let mut raw = Raw::connect_from(source, address).await?;
    raw.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n")
        .await?;
    assert_eq!(raw.answer().await?.status, 100);
    Ok(raw)
}

/// Opens a connection whose request has got its response.
async fn idle(source: Ipv4Addr, address: SocketAddr) -> TestResult<Raw> {
    let mut raw = Raw::connect_from(source, address).await?;
    ask(&mut raw).await?;
    Ok(raw)
}

async fn ask(raw: &mut Raw) -> TestResult {
    raw.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n").await?;
    assert_eq!(raw.answer().await?.status, 200);
    Ok(())
}

#[tokio::test]
async fn und_44_an_address_has_no_more_connections_than_it_may() -> TestResult {
    let server = Running::start(ServerLimits::default().connections_per_address(2)).await?;
    let mut used = [
        in_use(ONE, server.address).await?,
        in_use(ONE, server.address).await?,
    ];
    let mut refused = Raw::connect_from(ONE, server.address).await?;
    let answer = refused.answer().await?;
    assert_eq!(
        (answer.status, answer.header("retry-after")),
        (503, Some("1"))
    );
    assert_eq!(answer.header("connection"), Some("close"));
    assert!(refused.rest().await?.is_empty());
    ask(&mut Raw::connect_from(OTHER, server.address).await?).await?;
    for raw in &mut used {
        raw.send("hello").await?;
        assert_eq!(raw.answer().await?.status, 200);
    }
    drop(used);
    server.finish().await
}

#[tokio::test]
async fn und_44_the_longest_idle_connection_of_an_address_makes_room() -> TestResult {
    let server = Running::start(ServerLimits::default().connections_per_address(3)).await?;
    let mut other = idle(OTHER, server.address).await?;
    let mut used = in_use(ONE, server.address).await?;
    let mut first = idle(ONE, server.address).await?;
    let mut second = idle(ONE, server.address).await?;
    ask(&mut first).await?;
    let mut third = idle(ONE, server.address).await?;
    assert!(second.rest().await?.is_empty(), "it has been idle longest");
    for raw in [&mut other, &mut first, &mut third] {
        ask(raw).await?;
    }
    used.send("hello").await?;
    assert_eq!(used.answer().await?.status, 200);
    drop((other, first, third, used));
    server.finish().await
}

#[tokio::test]
async fn und_44_the_longest_idle_connection_of_all_makes_room() -> TestResult {
    let server = Running::start(ServerLimits::default().max_connections(2)).await?;
    let mut first = idle(ONE, server.address).await?;
    let mut second = idle(ONE, server.address).await?;
    let mut third = idle(OTHER, server.address).await?;
    assert!(first.rest().await?.is_empty(), "it has been idle longest");
    ask(&mut second).await?;
    ask(&mut third).await?;
    drop((second, third));
    server.finish().await
}

#[tokio::test]
async fn und_44_a_trusted_proxy_has_no_limit_of_its_own() -> TestResult {
    let server =
        Running::start_behind(ONE, ServerLimits::default().connections_per_address(1)).await?;
    let used = [
        in_use(ONE, server.address).await?,
        in_use(ONE, server.address).await?,
    ];
    ask(&mut Raw::connect_from(ONE, server.address).await?).await?;
    let other = in_use(OTHER, server.address).await?;
    assert_eq!(
        Raw::connect_from(OTHER, server.address)
            .await?
            .answer()
            .await?
            .status,
        503
    );
    drop((used, other));
    server.finish().await
}
