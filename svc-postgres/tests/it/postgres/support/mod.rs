//! A PostgreSQL of the tests' own, a pooler before it, and a wire that counts, stalls and breaks.
//!
//! All of it blocks, and panics when it does not work. What it starts ends with the process of the test, however that ends.

#![allow(dead_code, reason = "each test program uses a part of it")]

pub(crate) mod bouncer;
pub(crate) mod disk;
pub(crate) mod frames;
pub(crate) mod place;
pub(crate) mod proxy;
pub(crate) mod server;

use std::hash::{BuildHasher as _, RandomState};
use std::net::TcpListener;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// How long anything here may take; a crash that is recovered from while everything else runs is the longest.
const PATIENCE: Duration = Duration::from_mins(1);

/// Ports that no client is given for its end, unless this machine is set up otherwise: see [`ports`].
const PORTS: std::ops::Range<u16> = 10_000..32_000;

/// The PostgreSQL server that the tests of this program share. The first call starts it.
///
/// # Panics
///
/// Panics if PostgreSQL is not installed.
pub(crate) fn server() -> &'static server::Server {
    static SHARED: OnceLock<server::Server> = OnceLock::new();
    SHARED.get_or_init(server::Server::start)
}

/// A port of the loopback that nobody listens on.
pub(crate) fn free_port() -> u16 {
    listener().local_addr().expect("its address").port()
}

/// A listener on a port of the loopback that nobody else has.
pub(crate) fn listener() -> TcpListener {
    let ports = ports();
    let count = u64::from(ports.end - ports.start);
    let begin = RandomState::new().hash_one(std::process::id());
    let mut all = (0..count).map(|more| ports.start + u16::try_from((begin % count + more) % count).unwrap());
    all.find_map(|port| TcpListener::bind(("127.0.0.1", port)).ok()).expect("a free port")
}

/// The ports from which one is taken: below those that the system gives to clients. With one of those, a client that comes
/// again and again while the server is down would meet itself in the end, and the server could not have its port back.
fn ports() -> std::ops::Range<u16> {
    let given = std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").unwrap_or_default();
    let first = given.split_whitespace().next().and_then(|first| first.parse::<u16>().ok());
    let end = first.map_or(PORTS.end, |first| first.clamp(PORTS.start + 2_000, PORTS.end));
    PORTS.start..end
}

/// Waits until something is so.
#[track_caller]
pub(crate) fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "not within {PATIENCE:?}: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
