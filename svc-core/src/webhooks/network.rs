//! Determines to which network addresses messages may be sent: only those that are reachable from
//! the internet.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Returns whether an address is reachable from the internet.
///
/// Addresses of this machine, of private networks, and link-local, multicast, documentation and
/// unassigned addresses are not. This also applies to an IPv4 address inside an IPv6 address.
///
/// # Examples
///
/// ```
/// use svc_core::webhooks::is_public;
///
/// let public = |text: &str| text.parse().map(is_public);
/// assert_eq!(public("93.184.215.14"), Ok(true));
/// assert_eq!(public("169.254.169.254"), Ok(false));
/// assert_eq!(public("::ffff:10.0.0.1"), Ok(false));
/// assert_eq!(public("64:ff9b::a00:1"), Ok(false));
/// ```
///
/// Requirements: HOOK-05.
#[must_use]
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

/// The IPv4 blocks that are not reachable from the internet, from IANA's registry of
/// special-purpose addresses.
const SPECIAL_V4: [(Ipv4Addr, u32); 16] = [
    (Ipv4Addr::UNSPECIFIED, 8),
    (Ipv4Addr::new(10, 0, 0, 0), 8),
    (Ipv4Addr::new(100, 64, 0, 0), 10),
    (Ipv4Addr::new(127, 0, 0, 0), 8),
    (Ipv4Addr::new(169, 254, 0, 0), 16),
    (Ipv4Addr::new(172, 16, 0, 0), 12),
    (Ipv4Addr::new(192, 0, 0, 0), 24),
    (Ipv4Addr::new(192, 0, 2, 0), 24),
    (Ipv4Addr::new(192, 31, 196, 0), 24),
    (Ipv4Addr::new(192, 88, 99, 0), 24),
    (Ipv4Addr::new(192, 168, 0, 0), 16),
    (Ipv4Addr::new(198, 18, 0, 0), 15),
    (Ipv4Addr::new(198, 51, 100, 0), 24),
    (Ipv4Addr::new(203, 0, 113, 0), 24),
    (Ipv4Addr::new(224, 0, 0, 0), 4),
    (Ipv4Addr::new(240, 0, 0, 0), 4),
];

/// The blocks within `2000::/3` that are not reachable from the internet: protocols (with Teredo),
/// documentation, 6to4, more documentation. No other part of IPv6 is assigned.
const SPECIAL_V6: [(Ipv6Addr, u32); 4] = [
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23),
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32),
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20),
];

fn is_public_v4(address: Ipv4Addr) -> bool {
    let number = u32::from(address);
    !SPECIAL_V4
        .iter()
        .any(|(block, bits)| is_same(number.into(), u32::from(*block).into(), *bits, u32::BITS))
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let number = u128::from(address);
    let within = |block: Ipv6Addr, bits| is_same(number, block.into(), bits, u128::BITS);
    // The last 32 bits contain an IPv4 address: the target of a translator (RFC 6052, RFC 4291), or
    // the next hop of a tunnel (RFC 5214).
    let [.., a, b, c, d] = address.octets();
    let inner = Ipv4Addr::new(a, b, c, d);
    let mapped = Ipv6Addr::new(0, 0, 0, 0, 0, 0xffff, 0, 0);
    let translated = Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, 0, 0);
    if within(mapped, 96) || within(translated, 96) {
        return is_public_v4(inner);
    }
    let [_, _, _, _, fifth, sixth, ..] = address.segments();
    let is_tunnel = matches!(fifth, 0 | 0x200) && sixth == 0x5efe;
    within(Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3)
        && !SPECIAL_V6.iter().any(|(block, bits)| within(*block, *bits))
        && (!is_tunnel || is_public_v4(inner))
}

/// Returns whether two addresses of `width` bits have the same first `bits`.
fn is_same(one: u128, other: u128, bits: u32, width: u32) -> bool {
    (one ^ other)
        .checked_shr(width.saturating_sub(bits))
        .unwrap_or_default()
        == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Addresses of every block that is not reachable from the internet are rejected.
    ///
    /// Requirements: HOOK-05.
    #[rustfmt::skip]
    #[test]
    fn addresses_that_are_not_of_the_internet_are_refused() {
        let refused = [
            "0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.127.255.255", "127.0.0.1",
            "127.1.2.3", "169.254.0.1", "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.1",
            "192.0.0.170", "192.0.2.1", "192.31.196.1", "192.88.99.1", "192.168.0.1", "192.168.255.255",
            "198.18.0.1", "198.19.255.255", "198.51.100.7", "203.0.113.9", "224.0.0.1", "239.255.255.255",
            "240.0.0.1", "255.255.255.255", "::", "::1", "::ffff:0.0.0.0", "::ffff:127.0.0.1", "::ffff:10.1.2.3",
            "::ffff:169.254.169.254", "::ffff:a9fe:a9fe", "::127.0.0.1", "::10.0.0.1", "::8.8.8.8",
            "64:ff9b::7f00:1", "64:ff9b::10.0.0.1", "64:ff9b::c0a8:101", "64:ff9b:1::808:808", "100::1", "2001::1",
            "2001:0:4136:e378:8000:63bf:3fff:fdd2", "2001:2::1", "2001:10::1", "2001:20::1", "2001:db8::1",
            "2002:7f00:1::1", "2002:a00:1::1", "2002:c0a8:101::1", "2002:808:808::1", "3fff::1", "5f00::1",
            "fc00::1", "fd12:3456:789a::1", "fe80::1", "fe80::5efe:10.0.0.1", "2a00:1450::5efe:10.0.0.1",
            "2a00:1450::200:5efe:7f00:1", "fec0::1", "ff02::1", "ff0e::1", "4000::1",
        ];
        assert!(refused.len() >= 40);
        for text in refused {
            let address: IpAddr = text.parse().unwrap();
            assert!(!is_public(address), "{text}");
        }
        let taken = [
            "1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255",
            "128.0.0.1", "169.253.255.255", "172.15.255.255", "172.32.0.0", "192.0.1.1", "192.167.255.255",
            "192.169.0.0", "198.17.255.255", "198.20.0.0", "223.255.255.255", "2001:200::1", "2001:4860:4860::8888",
            "2606:4700:4700::1111", "2a00:1450::1", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2a00:1450::5efe:8.8.8.8",
            "3ffe::1",
        ];
        for text in taken {
            let address: IpAddr = text.parse().unwrap();
            assert!(is_public(address), "{text}");
        }
    }
}
