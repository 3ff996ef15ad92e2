//! Requests to a running server, over HTTP or HTTPS.

use std::net::IpAddr;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use http::header::HOST;
use http::uri::{Authority, PathAndQuery};
use http::{HeaderValue, Request, Response, StatusCode, Uri};
use http_body::Body;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

/// Returns the URL of the first link whose relation is a wanted one.
pub(super) fn link(links: &Value, is_wanted: impl Fn(&str) -> bool) -> Option<&str> {
    let links = links.as_object()?;
    let (_, link) = links.iter().find(|(name, _)| is_wanted(name))?;
    link.get("href")?.as_str()
}

/// Returns the URL at which a link of the entry point is reached. A server on this computer can have links with
/// the URL of the proxy in front of it, such as `https://crm.example.org/`.
pub(super) fn reachable(entry_point: &str, link: &str) -> String {
    let (Ok(entry_point), Ok(url)) = (entry_point.parse::<Uri>(), link.parse::<Uri>()) else {
        return link.to_owned();
    };
    let is_here = entry_point.host().is_some_and(|host| {
        let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
        host == "localhost" || address.is_ok_and(|address| address.is_loopback())
    });
    match (entry_point.scheme_str(), entry_point.authority()) {
        (Some(scheme), Some(authority)) if is_here => {
            let path = url.path_and_query().map_or("/", PathAndQuery::as_str);
            format!("{scheme}://{authority}{path}")
        }
        _ => link.to_owned(),
    }
}

/// Reads a document.
///
/// # Errors
///
/// Returns why there is no document with status 200.
pub(super) async fn document(request: http::request::Builder) -> Result<Value, String> {
    let request = request.body(Full::<Bytes>::default());
    let request = request.map_err(|error| error.to_string())?;
    let url = request.uri().to_string();
    let response = exchange(request).await?;
    let status = response.status();
    match serde_json::from_slice(&body(response).await?) {
        Ok(document) if status == StatusCode::OK => Ok(document),
        _ => Err(format!("{url} returned status {status}")),
    }
}

/// Reads the body of a response.
///
/// # Errors
///
/// Returns why the body is not complete.
pub(super) async fn body(response: Response<Incoming>) -> Result<Bytes, String> {
    let body = response.into_body().collect().await;
    Ok(body.map_err(|error| error.to_string())?.to_bytes())
}

/// Sends a request on a new connection. An encrypted one needs a certificate that this computer trusts.
///
/// # Errors
///
/// Returns why there is no response.
pub(super) async fn exchange<B>(request: Request<B>) -> Result<Response<Incoming>, String>
where
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let uri = request.uri().clone();
    let (is_encrypted, port) = match uri.scheme_str() {
        Some("http") => (false, 80),
        Some("https") => (true, 443),
        _ => {
            return Err(format!(
                "{uri} is not a URL that starts with http:// or https://"
            ));
        }
    };
    let authority = uri.authority();
    let authority = authority.ok_or_else(|| format!("{uri} does not name a server"))?;
    let host = authority.host().trim_matches(['[', ']']);
    let stream = TcpStream::connect((host, authority.port_u16().unwrap_or(port))).await;
    let stream = stream.map_err(|error| format!("{authority}: {error}"))?;
    if !is_encrypted {
        return exchange_on(stream, authority, request).await;
    }
    let name = ServerName::try_from(host.to_owned());
    let name = name.map_err(|error| format!("{authority}: {error}"))?;
    let stream = tls()?.connect(name, stream).await;
    let stream = stream.map_err(|error| format!("{authority}: {error}"))?;
    exchange_on(stream, authority, request).await
}

/// Returns the settings of encrypted connections.
fn tls() -> Result<TlsConnector, String> {
    static CONFIG: OnceLock<Arc<ClientConfig>> = OnceLock::new();
    if let Some(config) = CONFIG.get() {
        return Ok(TlsConnector::from(Arc::clone(config)));
    }
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let config = config.with_safe_default_protocol_versions();
    let config = config.map_err(|error| error.to_string())?;
    let config = config.with_root_certificates(roots).with_no_client_auth();
    let config = CONFIG.get_or_init(|| Arc::new(config));
    Ok(TlsConnector::from(Arc::clone(config)))
}

/// Sends a request on a connection.
async fn exchange_on<S, B>(
    stream: S,
    authority: &Authority,
    mut request: Request<B>,
) -> Result<Response<Incoming>, String>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream))
        .await
        .map_err(|error| format!("{authority}: {error}"))?;
    // It ends when the response has been read.
    tokio::spawn(connection);
    let host = HeaderValue::from_str(authority.as_str()).map_err(|error| error.to_string())?;
    let path = request.uri().path_and_query().cloned();
    let path = path.unwrap_or_else(|| PathAndQuery::from_static("/"));
    *request.uri_mut() = path.into();
    request.headers_mut().insert(HOST, host);
    sender
        .send_request(request)
        .await
        .map_err(|error| format!("{authority}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::reachable;

    #[test]
    fn a_server_behind_a_proxy_is_reached_on_this_computer() {
        let link = "https://crm.example.org/api/v1/people/person_signup?x=1";
        for (entry_point, url) in [
            (
                "http://localhost:8080/api/v1/",
                "http://localhost:8080/api/v1/people/person_signup?x=1",
            ),
            (
                "http://127.0.0.1/",
                "http://127.0.0.1/api/v1/people/person_signup?x=1",
            ),
            (
                "http://[::1]:9/",
                "http://[::1]:9/api/v1/people/person_signup?x=1",
            ),
            ("http://crm.example.org/", link),
            ("none", link),
        ] {
            assert_eq!(reachable(entry_point, link), url);
        }
    }
}
