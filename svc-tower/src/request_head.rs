//! Rejects requests that are ambiguous or meant for another host, as HTTP allows.
//!
//! Requirements: UND-34.

use http::{
    HeaderMap, HeaderName, Method, Uri, Version, header::HOST, request::Parts, uri::Authority,
};
use svc_core::BaseUrl;

/// Checks the head of a request. The error describes the problem and repeats no part of the
/// request.
pub(crate) fn check(
    parts: &Parts,
    key_header: &HeaderName,
    base: &BaseUrl,
    host_needed: bool,
) -> Result<(), &'static str> {
    if parts.method == Method::CONNECT || parts.method == Method::TRACE {
        return Err("CONNECT and TRACE are not supported.");
    }
    let host = host(&parts.headers)?;
    if host_needed && parts.version == Version::HTTP_11 && host.is_none() {
        return Err("An HTTP/1.1 request must have a Host header.");
    }
    if let Some(authority) = parts.uri.authority() {
        // HTTP/2 sends the host as part of the target. In HTTP/1.1 such a target is one on another
        // server.
        let is_own = match (parts.version < Version::HTTP_2, host) {
            (true, _) => is_of(&parts.uri, authority, base),
            (false, Some(host)) => host.eq_ignore_ascii_case(authority.as_str()),
            (false, None) => true,
        };
        if !is_own {
            return Err("The request is meant for another host.");
        }
    }
    if parts.headers.get_all(key_header).iter().nth(1).is_some() {
        return Err("The request must have only one API key.");
    }
    Ok(())
}

/// Returns the only `Host` header, if there is one.
fn host(headers: &HeaderMap) -> Result<Option<&str>, &'static str> {
    let mut hosts = headers.get_all(HOST).iter();
    let Some(host) = hosts.next() else {
        return Ok(None);
    };
    if hosts.next().is_some() {
        return Err("The request must have only one Host header.");
    }
    let text = host.to_str().unwrap_or("@");
    let is_host = text.is_empty() || (text.parse::<Authority>().is_ok() && !text.contains('@'));
    is_host
        .then_some(Some(text))
        .ok_or("The Host header is not a valid host.")
}

/// Returns whether an absolute target has the host of the base URL.
fn is_of(uri: &Uri, authority: &Authority, base: &BaseUrl) -> bool {
    let Ok(base) = base.as_str().parse::<Uri>() else {
        return false;
    };
    let scheme = uri.scheme_str().or(base.scheme_str());
    let port = |uri: &Uri, scheme: Option<&str>| {
        uri.port_u16().or(match scheme {
            Some("http") => Some(80),
            Some("https") => Some(443),
            _ => None,
        })
    };
    let same_host = base
        .host()
        .is_some_and(|host| host.eq_ignore_ascii_case(authority.host()));
    same_host
        && !authority.as_str().contains('@')
        && port(uri, scheme) == port(&base, base.scheme_str())
}

#[cfg(test)]
mod tests {
    use http::{Request, request::Builder};
    use proptest::prelude::*;

    use super::*;

    const KEY: HeaderName = HeaderName::from_static("svc-api-token");

    fn checked(request: Builder) -> Result<(), &'static str> {
        let (parts, ()) = request.body(()).unwrap().into_parts();
        check(
            &parts,
            &KEY,
            &BaseUrl::new("http://own.example/api/").unwrap(),
            false,
        )
    }

    #[test]
    fn und_34_plain_requests_pass() {
        for good in [
            "/",
            "http://own.example/api/people",
            "http://OWN.example:80/api/people",
        ] {
            assert_eq!(checked(Request::get(good)), Ok(()), "{good}");
        }
        assert_eq!(
            checked(Request::get("/").header(HOST, "whatever.example:8080")),
            Ok(())
        );
        assert_eq!(checked(Request::get("/").header(HOST, "")), Ok(()));
        assert_eq!(checked(Request::get("/").header(KEY, "a,b|c")), Ok(()));
        let h2 = Request::get("http://other.example/api").version(Version::HTTP_2);
        assert_eq!(checked(h2), Ok(()));
    }

    #[test]
    fn und_34_ambiguous_requests_do_not() {
        let bad = [
            Request::builder().method("TRACE").uri("/"),
            Request::builder().method("CONNECT").uri("own.example:80"),
            Request::get("/")
                .header(HOST, "a.example")
                .header(HOST, "a.example"),
            Request::get("/").header(HOST, "a.example, b.example"),
            Request::get("/").header(HOST, "user@a.example"),
            Request::get("/").header(HOST, "a.example/path"),
            Request::get("/").header(KEY, "a").header(KEY, "a"),
            Request::get("http://other.example/api/"),
            Request::get("http://own.example:8080/api/"),
            Request::get("https://own.example/api/"),
            Request::get("http://user@own.example/api/"),
            Request::get("http://a.example/")
                .header(HOST, "b.example")
                .version(Version::HTTP_2),
        ];
        for request in bad {
            let text = format!("{request:?}");
            assert!(checked(request).is_err(), "{text}");
        }
    }

    #[test]
    fn und_34_a_missing_host_is_refused_only_where_it_is_needed() {
        let (parts, ()) = Request::get("/").body(()).unwrap().into_parts();
        assert_eq!(check(&parts, &KEY, &BaseUrl::default(), false), Ok(()));
        assert!(check(&parts, &KEY, &BaseUrl::default(), true).is_err());
        let (parts, ()) = Request::get("/")
            .version(Version::HTTP_10)
            .body(())
            .unwrap()
            .into_parts();
        assert_eq!(check(&parts, &KEY, &BaseUrl::default(), true), Ok(()));
    }

    proptest! {
        #![proptest_config(crate::testing::config())]

        #[test]
        fn und_34_any_host_is_taken_or_refused(host in prop::collection::vec(any::<u8>(), 0..20)) {
            if let Ok(host) = http::HeaderValue::from_bytes(&host) {
                let _ = checked(Request::get("/").header(HOST, host));
            }
        }
    }
}
