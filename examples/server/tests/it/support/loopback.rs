//! Loopback addresses for one test each.

use std::net::{Ipv4Addr, SocketAddr};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

/// Returns a loopback address that no other test uses, with port 0.
///
/// A port on it stays free after its server has closed it: other tests bind other addresses, and
/// the sockets of clients have 127.0.0.1. Only Linux has more than one loopback address.
pub(crate) fn own_loopback_address() -> SocketAddr {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    if !cfg!(target_os = "linux") {
        return (Ipv4Addr::LOCALHOST, 0).into();
    }
    let number = process::id()
        .wrapping_mul(64)
        .wrapping_add(COUNT.fetch_add(1, Ordering::Relaxed));
    // 127.1.0.0 to 127.254.255.255.
    let host = number % (254 << 16) + (1 << 16);
    (Ipv4Addr::from((127 << 24) | host), 0).into()
}
