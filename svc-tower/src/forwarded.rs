//! The base URL of the links of a response: the configured one, or the one that a trusted proxy
//! forwards.
//!
//! Requirements: HAL-01, UND-34.

use std::net::{IpAddr, SocketAddr};

use http::{HeaderMap, HeaderName, header::FORWARDED, uri::Authority};
use svc_core::BaseUrl;

const X_FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");
const X_FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");

/// The address of the peer of a connection. The server inserts it into the extensions of each
/// request.
///
/// Proxies can be trusted only if it is present: see
/// [`SvcService::trusted_proxies`](crate::SvcService::trusted_proxies).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PeerAddr(pub IpAddr);

/// Returns the base URL of a request: `configured`, or its path with the scheme and host that a
/// trusted proxy forwards.
///
/// A forwarded address is ignored if it is malformed or incomplete, or if `Forwarded` and
/// `X-Forwarded-*` contradict each other. A header that a proxy passes on unchecked therefore
/// changes no link.
pub(crate) fn base(
    configured: &BaseUrl,
    trusted: &[IpAddr],
    peer: Option<PeerAddr>,
    headers: &HeaderMap,
) -> BaseUrl {
    let is_trusted = |address: IpAddr| trusted.contains(&address.to_canonical());
    if !peer.is_some_and(|PeerAddr(address)| is_trusted(address)) {
        return configured.clone();
    }
    let told = match (by_forwarded(headers, is_trusted), by_x_forwarded(headers)) {
        (ForwardedOrigin::Absent, told) | (told, ForwardedOrigin::Absent) => told,
        (one, other) if one == other => one,
        _ => ForwardedOrigin::Invalid,
    };
    let ForwardedOrigin::Origin { scheme, host } = told else {
        return configured.clone();
    };
    let path = configured
        .as_str()
        .splitn(4, '/')
        .nth(3)
        .unwrap_or_default();
    BaseUrl::new(&format!("{scheme}://{host}/{path}")).unwrap_or_else(|| configured.clone())
}

/// The client's address according to one kind of header.
#[derive(Debug, PartialEq, Eq)]
enum ForwardedOrigin {
    /// The header is missing.
    Absent,
    /// The header is present, but malformed or incomplete.
    Invalid,
    /// The header has this scheme and host.
    Origin {
        /// `http` or `https`.
        scheme: &'static str,
        /// The host, with its port if it has one.
        host: Authority,
    },
}

impl ForwardedOrigin {
    fn origin(scheme: Option<&str>, host: Option<&str>) -> Self {
        let scheme = scheme.and_then(|name| {
            ["http", "https"]
                .into_iter()
                .find(|known| known.eq_ignore_ascii_case(name))
        });
        let host = host
            .and_then(|host| host.parse::<Authority>().ok())
            .filter(|host| !host.as_str().contains('@'));
        match (scheme, host) {
            (Some(scheme), Some(host)) => Self::Origin { scheme, host },
            _ => Self::Invalid,
        }
    }
}

/// Evaluates `X-Forwarded-Proto` and `X-Forwarded-Host`. The last values are used, which are those
/// of the nearest proxy.
fn by_x_forwarded(headers: &HeaderMap) -> ForwardedOrigin {
    let last = |name: &HeaderName| {
        let value = headers.get_all(name).iter().next_back()?;
        Some(
            value
                .to_str()
                .unwrap_or_default()
                .rsplit(',')
                .next()
                .unwrap_or_default()
                .trim(),
        )
    };
    match (last(&X_FORWARDED_PROTO), last(&X_FORWARDED_HOST)) {
        (None, None) => ForwardedOrigin::Absent,
        (scheme, host) => ForwardedOrigin::origin(scheme, host),
    }
}

/// Evaluates `Forwarded` (RFC 7239), from the last element, which the nearest proxy added, to the
/// left past trusted proxies.
fn by_forwarded(headers: &HeaderMap, is_trusted: impl Fn(IpAddr) -> bool) -> ForwardedOrigin {
    let mut elements = Vec::new();
    for value in headers.get_all(FORWARDED) {
        match value.to_str().ok().and_then(forwarded_elements) {
            Some(more) => elements.extend(more),
            None => return ForwardedOrigin::Invalid,
        }
    }
    let mut told = ForwardedOrigin::Absent;
    for element in elements.iter().rev() {
        told = ForwardedOrigin::origin(element.proto.as_deref(), element.host.as_deref());
        if !element
            .sender
            .as_deref()
            .and_then(node_address)
            .is_some_and(&is_trusted)
        {
            break;
        }
    }
    told
}

/// One element of `Forwarded`.
#[derive(Debug, Default)]
struct ForwardedElement {
    sender: Option<String>,
    host: Option<String>,
    proto: Option<String>,
}

/// Returns the elements of a `Forwarded` header, or `None` if it is malformed or has a duplicate
/// name.
fn forwarded_elements(text: &str) -> Option<Vec<ForwardedElement>> {
    let mut elements = vec![ForwardedElement::default()];
    let mut rest = text;
    loop {
        rest = rest.trim_ascii_start();
        if let Some(after) = rest.strip_prefix(',') {
            elements.push(ForwardedElement::default());
            rest = after;
        } else if let Some(after) = rest.strip_prefix(';') {
            rest = after;
        } else if rest.is_empty() {
            return Some(elements);
        } else {
            let (name, after) = rest.split_once('=')?;
            let (value, after) = forwarded_value(after)?;
            rest = after.trim_ascii_start();
            if !(rest.is_empty() || rest.starts_with([',', ';'])) {
                return None;
            }
            let element = elements.last_mut()?;
            let slot = match name.to_ascii_lowercase().as_str() {
                "for" => &mut element.sender,
                "host" => &mut element.host,
                "proto" => &mut element.proto,
                _ => continue,
            };
            if slot.replace(value).is_some() {
                return None;
            }
        }
    }
}

/// Returns a token or a quoted string, and the text after it.
fn forwarded_value(text: &str) -> Option<(String, &str)> {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find([',', ';', ' ', '\t']).unwrap_or(text.len());
        let (value, rest) = text.split_at_checked(end)?;
        return Some((value.to_owned(), rest));
    };
    let mut value = String::new();
    let mut characters = quoted.chars();
    loop {
        match characters.next()? {
            '"' => return Some((value, characters.as_str())),
            '\\' => value.push(characters.next()?),
            other => value.push(other),
        }
    }
}

/// Returns the IP address of a node, which can have a port and brackets.
fn node_address(node: &str) -> Option<IpAddr> {
    let plain = node.parse::<IpAddr>().ok();
    let with_port = || node.parse::<SocketAddr>().ok().map(|socket| socket.ip());
    let in_brackets = || {
        node.strip_prefix('[')?
            .strip_suffix(']')?
            .parse::<IpAddr>()
            .ok()
    };
    plain.or_else(with_port).or_else(in_brackets)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use proptest::prelude::*;

    use super::*;

    const PROXY: &str = "10.0.0.1";

    fn told_by(peer: Option<&str>, headers: &[(&'static str, &str)]) -> String {
        let header = |(name, value): &(&'static str, &str)| {
            (
                HeaderName::from_static(name),
                HeaderValue::from_bytes(value.as_bytes()).unwrap(),
            )
        };
        let mut map = HeaderMap::new();
        for (name, value) in headers.iter().map(header) {
            map.append(name, value);
        }
        let trusted = [PROXY.parse().unwrap(), "10.0.0.2".parse().unwrap()];
        let peer = peer.map(|address| PeerAddr(address.parse().unwrap()));
        base(
            &BaseUrl::new("http://own.example/api/v1").unwrap(),
            &trusted,
            peer,
            &map,
        )
        .as_str()
        .to_owned()
    }

    const OWN: &str = "http://own.example/api/v1/";
    const PUBLIC: &str = "https://public.example/api/v1/";

    #[test]
    fn hal_01_only_a_trusted_peer_changes_the_base() {
        let forwarded = [("forwarded", "for=1.2.3.4;proto=https;host=public.example")];
        assert_eq!(told_by(None, &forwarded), OWN);
        assert_eq!(told_by(Some("10.0.0.9"), &forwarded), OWN);
        assert_eq!(told_by(Some(PROXY), &forwarded), PUBLIC);
        assert_eq!(told_by(Some("::ffff:10.0.0.1"), &forwarded), PUBLIC);
        assert_eq!(told_by(Some(PROXY), &[("host", "evil.example")]), OWN);
    }

    #[test]
    fn hal_01_both_families_of_headers_are_read() {
        let x = |proto, host| {
            told_by(
                Some(PROXY),
                &[("x-forwarded-proto", proto), ("x-forwarded-host", host)],
            )
        };
        assert_eq!(x("https", "public.example"), PUBLIC);
        assert_eq!(x("http, HTTPS", "evil.example, public.example"), PUBLIC);
        assert_eq!(
            x("https", "public.example:8443"),
            "https://public.example:8443/api/v1/"
        );
        let quoted = [(
            "forwarded",
            r#"for="[::1]:80"; Host="public.example" ;proto=https"#,
        )];
        assert_eq!(told_by(Some(PROXY), &quoted), PUBLIC);
        let two = [(
            "forwarded",
            "for=1.1.1.1;proto=http;host=evil.example, for=2.2.2.2;proto=https;host=public.example",
        )];
        assert_eq!(told_by(Some(PROXY), &two), PUBLIC);
        let chain = [
            ("forwarded", "for=1.1.1.1;proto=https;host=public.example"),
            ("forwarded", "for=10.0.0.2;host=inner"),
        ];
        assert_eq!(told_by(Some(PROXY), &chain), PUBLIC);
    }

    #[test]
    fn und_34_what_is_damaged_or_disagrees_is_never_reflected() {
        let bad = [
            ("https", "evil.example/path"),
            ("https", "user@evil.example"),
            ("ftp", "evil.example"),
            ("https", "evil example"),
            ("https", ""),
            ("https", "evil.example, "),
        ];
        for (proto, host) in bad {
            let headers = [("x-forwarded-proto", proto), ("x-forwarded-host", host)];
            assert_eq!(told_by(Some(PROXY), &headers), OWN, "{proto} {host}");
        }
        assert_eq!(
            told_by(Some(PROXY), &[("x-forwarded-host", "evil.example")]),
            OWN
        );
        let disagree = [
            ("forwarded", "proto=https;host=evil.example"),
            ("x-forwarded-proto", "https"),
            ("x-forwarded-host", "public.example"),
        ];
        assert_eq!(told_by(Some(PROXY), &disagree), OWN);
        for forwarded in [
            "host",
            "host=a;host=b;proto=http",
            r#"host="a"#,
            "host=a b;proto=http",
            "=",
            ",,;",
        ] {
            assert_eq!(
                told_by(Some(PROXY), &[("forwarded", forwarded)]),
                OWN,
                "{forwarded}"
            );
        }
    }

    proptest! {
        #![proptest_config(crate::testing::config())]

        #[test]
        fn und_34_any_forwarded_header_gives_a_base_with_the_configured_path(text in "[ -~]{0,60}", host in "[ -~]{0,20}") {
            let headers = [("forwarded", text.as_str()), ("x-forwarded-proto", "http"), ("x-forwarded-host", host.as_str())];
            for headers in [&headers[..1], &headers[1..], &headers[..]] {
                let told = told_by(Some(PROXY), headers);
                prop_assert!(told.ends_with("/api/v1/") && BaseUrl::new(&told).is_some(), "{told}");
            }
        }
    }
}
