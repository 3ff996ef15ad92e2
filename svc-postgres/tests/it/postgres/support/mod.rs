//! A PostgreSQL server for tests, a pooler in front of it, and a proxy that counts, stalls and
//! breaks connections.
//!
//! All of it blocks, and panics if it does not work. Started programs end with the process of the
//! test, however that ends.

#![allow(dead_code, reason = "each test program uses a part of it")]

pub(crate) mod disk;
pub(crate) mod frames;
pub(crate) mod pgbouncer;
pub(crate) mod proxy;
pub(crate) mod server;
pub(crate) mod temp_program;

use std::net::TcpListener;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, Instant};

use tokio::net::TcpSocket;

/// The limit of each wait. It is a safety net: a wait ends with an event.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5 * 60);

/// The ports for servers, unless the system gives some of them to clients: see [`ports`].
const PORTS: std::ops::Range<u16> = 10_000..32_000;

/// The number of ports that one process uses before it uses those of another one.
const BLOCK: u32 = 128;

/// The PostgreSQL server that the tests of this program share. The first call starts it.
///
/// # Panics
///
/// Panics if PostgreSQL is not installed.
pub(crate) fn server() -> &'static server::Server {
    static SHARED: OnceLock<server::Server> = OnceLock::new();
    // All tests of the program connect to it, and a test relies on tables that were never analyzed.
    SHARED
        .get_or_init(|| server::Server::with(&[("max_connections", "300"), ("autovacuum", "off")]))
}

/// A port of the loopback interface for a server that the caller starts. No other call in this
/// process returns it.
pub(crate) fn free_port() -> u16 {
    listener().local_addr().expect("its address").port()
}

/// A listener on a port of the loopback interface that no other call in this process returns.
pub(crate) fn listener() -> TcpListener {
    static TAKEN: AtomicU16 = AtomicU16::new(0);
    let ports = ports();
    let count = u32::from(ports.end - ports.start);
    // A server that restarts needs its port again: processes that run at the same time take ports
    // of different blocks.
    let first = std::process::id() % (count / BLOCK) * BLOCK;
    let next = || {
        let taken = TAKEN.fetch_add(1, Ordering::Relaxed);
        let port = u16::try_from((first + u32::from(taken)) % count).expect("a port") + ports.start;
        TcpListener::bind(("127.0.0.1", port)).ok()
    };
    (0..count).find_map(|_| next()).expect("a free port")
}

/// A port of the loopback interface that refuses connections as long as this value lives: it is
/// bound and does not listen.
pub(crate) struct ClosedPort(TcpSocket);

impl ClosedPort {
    pub(crate) fn new() -> Self {
        let socket = TcpSocket::new_v4().expect("a socket");
        socket
            .bind(([127, 0, 0, 1], 0).into())
            .expect("a free port");
        Self(socket)
    }

    pub(crate) fn number(&self) -> u16 {
        self.0.local_addr().expect("its address").port()
    }
}

/// Returns the range of ports to use, below those that the system gives to clients. On a client
/// port, a client that reconnects repeatedly while the server is down could connect to itself. The
/// server could then not bind its port.
fn ports() -> std::ops::Range<u16> {
    let given =
        std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").unwrap_or_default();
    let first = given
        .split_whitespace()
        .next()
        .and_then(|first| first.parse::<u16>().ok());
    let end = first.map_or(PORTS.end, |first| {
        first.clamp(PORTS.start + 2_000, PORTS.end)
    });
    PORTS.start..end
}

/// Waits until a condition is true.
#[track_caller]
pub(crate) fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(
            begun.elapsed() < PATIENCE,
            "not within {PATIENCE:?}: {what}"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The same as [`wait_until`] for a test on a runtime, whose other tasks continue.
pub(crate) async fn until(what: &str, mut is_so: impl AsyncFnMut() -> bool) {
    let begun = Instant::now();
    while !is_so().await {
        assert!(
            begun.elapsed() < PATIENCE,
            "not within {PATIENCE:?}: {what}"
        );
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// A connection to a server, for locks that a test holds until it releases them.
pub(crate) async fn client(url: &str) -> tokio_postgres::Client {
    let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls)
        .await
        .expect("a connection");
    tokio::spawn(connection);
    client
}
