//! The receiver of a webhook, parsed from its URL. The parser is strict, so that the validated
//! address is also the one that is called.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use http::Uri;

use super::is_public;

/// The maximum length of a URL in bytes.
pub const MAX_URL_LENGTH: usize = 2_048;

/// Domain suffixes that resolve to this machine or to a local network (RFC 6761, RFC 6762, RFC
/// 8375, RFC 9476).
const WITHIN: [&str; 8] = [
    "localhost",
    "localdomain",
    "local",
    "internal",
    "intranet",
    "lan",
    "home.arpa",
    "onion",
];

/// Defines which receivers are allowed in addition to public `https` URLs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ReceiverPolicy {
    /// Whether `http` is allowed. Anyone on the network path can then read and change messages.
    pub allow_http: bool,
    /// Whether this machine and private networks are allowed. Use it for tests, or if only the
    /// operator can create webhooks.
    pub allow_private_networks: bool,
}

impl ReceiverPolicy {
    /// Allows only public receivers with `https`.
    pub const PUBLIC: Self = Self {
        allow_http: false,
        allow_private_networks: false,
    };

    /// Sets whether `http` is allowed.
    #[must_use]
    pub fn allow_http(mut self, is_allowed: bool) -> Self {
        self.allow_http = is_allowed;
        self
    }

    /// Sets whether this machine and private networks are allowed.
    #[must_use]
    pub fn allow_private_networks(mut self, is_allowed: bool) -> Self {
        self.allow_private_networks = is_allowed;
        self
    }

    /// Returns whether a message may be sent to a resolved address.
    ///
    /// The sender checks each address at each attempt, and connects to the address that was
    /// checked.
    ///
    /// Requirements: HOOK-05.
    #[must_use]
    pub fn allows(self, address: IpAddr) -> bool {
        self.allow_private_networks || is_public(address)
    }
}

/// The receiver of messages.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Receiver {
    /// Whether the URL scheme is `https`.
    pub is_encrypted: bool,
    /// The host.
    pub host: Host,
    /// The port.
    pub port: u16,
    /// The host and port as written in the URL, for the `Host` header.
    pub authority: String,
    /// The path and query.
    pub path: String,
}

/// The reason why a URL is not a [`Receiver`].
///
/// The text continues a sentence after the name of the URL: `must not be longer than 2048 bytes.
/// Send a shorter URL`.
///
/// Requirements: HOOK-04, HOOK-05.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidReceiver(&'static str);

/// A host.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Host {
    /// An IP address.
    Address(IpAddr),
    /// A domain name.
    Name(String),
}

impl Receiver {
    /// Parses a URL.
    ///
    /// An IPv4 address is only accepted as four decimal numbers. Other forms, such as `0x7f000001`,
    /// `017700000001` and `127.1`, are rejected, because programs do not agree on whether they are
    /// addresses or names.
    ///
    /// # Errors
    ///
    /// Returns an error if the URL is invalid, or not a receiver that the policy allows.
    ///
    /// Requirements: HOOK-04, HOOK-05.
    pub fn parse(url: &str, reach: ReceiverPolicy) -> Result<Self, InvalidReceiver> {
        if url.len() > MAX_URL_LENGTH {
            return Err(InvalidReceiver(
                "must not be longer than 2048 bytes. Send a shorter URL",
            ));
        }
        let is_clean = url
            .bytes()
            .all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'\\' | b'#'));
        let uri: Uri = if is_clean {
            url.parse().map_err(|_| NO_URL)?
        } else {
            return Err(NO_URL);
        };
        let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
            return Err(NO_URL);
        };
        let is_encrypted = match scheme {
            "https" => true,
            "http" if reach.allow_http => false,
            "http" => {
                return Err(InvalidReceiver(
                    "is not encrypted. Send a URL that starts with `https://`",
                ));
            }
            _ => {
                return Err(InvalidReceiver(
                    "has a scheme other than `https`. Send a URL that starts with `https://`",
                ));
            }
        };
        if authority.as_str().contains('@') {
            return Err(InvalidReceiver(
                "must not contain a user name or password. Remove them; each message is signed instead",
            ));
        }
        let host = host(authority.host())?;
        let is_within = match &host {
            Host::Address(address) => !reach.allows(*address),
            Host::Name(name) => !reach.allow_private_networks && is_within(name),
        };
        if is_within {
            return Err(InvalidReceiver(
                "identifies this server's own machine or network. Send the URL of a receiver on the internet",
            ));
        }
        let port = match authority
            .as_str()
            .strip_prefix(authority.host())
            .unwrap_or_default()
        {
            "" if is_encrypted => 443,
            "" => 80,
            text => text
                .strip_prefix(':')
                .and_then(|port| port.parse().ok())
                .filter(|port| *port > 0)
                .ok_or(NO_PORT)?,
        };
        let path = uri
            .path_and_query()
            .map_or("/", http::uri::PathAndQuery::as_str)
            .to_owned();
        Ok(Self {
            is_encrypted,
            host,
            port,
            authority: authority.as_str().to_owned(),
            path,
        })
    }
}

const NO_URL: InvalidReceiver = InvalidReceiver(
    "is not an absolute URL. Send one such as `https://crm.example.org/webhooks`, without spaces or a fragment",
);

const NO_PORT: InvalidReceiver =
    InvalidReceiver("has an invalid port. Use a number from 1 to 65535, or omit the port");

fn host(text: &str) -> Result<Host, InvalidReceiver> {
    if let Some(inner) = text
        .strip_prefix('[')
        .and_then(|text| text.strip_suffix(']'))
    {
        return inner
            .parse::<Ipv6Addr>()
            .map(|address| Host::Address(address.into()))
            .map_err(|_| NO_URL);
    }
    let name = text.strip_suffix('.').unwrap_or(text);
    if let Ok(address) = name.parse::<Ipv4Addr>() {
        return Ok(Host::Address(address.into()));
    }
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
    };
    if name.len() > 253 || !name.split('.').all(is_label) {
        return Err(NO_URL);
    }
    // Like browsers: if the last label is a number, the whole host is an address.
    let last = name.rsplit('.').next().unwrap_or_default();
    let is_hex = last.strip_prefix("0x").or_else(|| last.strip_prefix("0X"));
    let is_number = last.bytes().all(|byte| byte.is_ascii_digit())
        || is_hex.is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
    if is_number {
        return Err(InvalidReceiver(
            "contains an IP address in an unusual form. Use four decimal numbers or a domain name",
        ));
    }
    Ok(Host::Name(name.to_ascii_lowercase()))
}

/// Returns whether a name is reserved for this machine or a local network, whatever its resolution
/// is.
fn is_within(name: &str) -> bool {
    let ends_so = |ending: &&str| {
        name == *ending
            || name
                .strip_suffix(*ending)
                .is_some_and(|rest| rest.ends_with('.'))
    };
    !name.contains('.') || WITHIN.iter().any(ends_so)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(url: &str) -> Option<String> {
        let error = Receiver::parse(url, ReceiverPolicy::PUBLIC).err()?;
        Some(error.to_string())
    }

    /// Addresses and names of this machine or network are rejected in every notation.
    ///
    /// Requirements: HOOK-05.
    #[test]
    fn receivers_within_are_refused_however_they_are_written() {
        let hosts = [
            "127.0.0.1",
            "127.0.0.1.",
            "127.1",
            "127.0.1",
            "2130706433",
            "0x7f000001",
            "0X7F.0.0.1",
            "0x7f.1",
            "017700000001",
            "0177.0.0.1",
            "0",
            "0x0",
            "0.0.0.0",
            "10.0.0.1",
            "10.1",
            "0xa000001",
            "192.168.1.1",
            "192.168.257",
            "3232235777",
            "172.16.0.1",
            "100.64.1.1",
            "169.254.169.254",
            "0xa9fea9fe",
            "2852039166",
            "169.254.43518",
            "224.0.0.1",
            "255.255.255.255",
            "192.0.2.1",
            "1.2.3.4.5",
            "[::]",
            "[::1]",
            "[0:0:0:0:0:0:0:1]",
            "[::ffff:127.0.0.1]",
            "[::ffff:7f00:1]",
            "[::127.0.0.1]",
            "[64:ff9b::10.0.0.1]",
            "[2002:7f00:1::]",
            "[2001:0:1::1]",
            "[fc00::1]",
            "[fd00::1]",
            "[fe80::1]",
            "[fe80::1%25eth0]",
            "[ff02::1]",
            "[2001:db8::1]",
            "localhost",
            "LOCALHOST",
            "localhost.",
            "x.localhost",
            "localhost.localdomain",
            "printer.local",
            "metadata.google.internal",
            "router.lan",
            "nas.home.arpa",
            "intranet",
            "db",
            "crm.intranet",
            "127.0.0.1%2f",
            "%31%32%37.0.0.1",
        ];
        assert!(hosts.len() >= 40);
        for host in hosts {
            for url in [
                format!("https://{host}/hook"),
                format!("https://{host}:8443/"),
            ] {
                assert!(refused(&url).is_some(), "{url}");
            }
        }
    }

    /// Invalid URLs are rejected with the reason.
    ///
    /// Requirements: HOOK-04.
    #[test]
    fn what_is_no_url_of_a_receiver_is_refused() {
        for (url, why) in [
            ("", "absolute"),
            ("hook", "absolute"),
            ("//example.org/", "absolute"),
            ("https:///hook", "absolute"),
            ("https://exa mple.org/", "absolute"),
            ("https://example.org/#part", "absolute"),
            ("https://example.org\\@10.0.0.1/", "absolute"),
            ("https://ex\u{e4}mple.org/", "absolute"),
            ("https://-example.org/", "absolute"),
            ("https://example..org/", "absolute"),
            ("http://example.org/", "encrypted"),
            ("ftp://example.org/", "scheme"),
            ("file:///etc/passwd", "absolute"),
            ("https://user:secret@example.org/", "user"),
            ("https://example.org:0/", "port"),
            ("https://example.org:70000/", "port"),
            ("https://example.org:/", "port"),
        ] {
            assert!(
                refused(url).is_some_and(|said| said.contains(why)),
                "{url}: {:?}",
                refused(url)
            );
        }
        assert!(
            refused(&format!("https://example.org/{}", "a".repeat(2_048)))
                .is_some_and(|why| why.contains("longer"))
        );
    }

    #[test]
    fn a_receiver_is_read() {
        let receiver = Receiver::parse(
            "https://Hooks.Example.org:8443/svc?a=b",
            ReceiverPolicy::PUBLIC,
        )
        .unwrap();
        assert_eq!((receiver.port, receiver.is_encrypted), (8_443, true));
        assert_eq!(
            (receiver.path.as_str(), receiver.authority.as_str()),
            ("/svc?a=b", "Hooks.Example.org:8443")
        );
        assert_eq!(receiver.host, Host::Name("hooks.example.org".to_owned()));
        let receiver = Receiver::parse("https://93.184.215.14", ReceiverPolicy::PUBLIC).unwrap();
        assert_eq!((receiver.port, receiver.path.as_str()), (443, "/"));
        let reach = ReceiverPolicy::PUBLIC
            .allow_http(true)
            .allow_private_networks(true);
        let receiver = Receiver::parse("http://[::1]:3000/", reach).unwrap();
        assert_eq!(receiver.host, Host::Address(Ipv6Addr::LOCALHOST.into()));
        assert!(
            Receiver::parse("http://localhost/", reach).is_ok()
                && Receiver::parse("https://127.1/", reach).is_err()
        );
        assert!(
            reach.allows(Ipv4Addr::LOCALHOST.into())
                && !ReceiverPolicy::PUBLIC.allows(Ipv4Addr::LOCALHOST.into())
        );
    }
}
