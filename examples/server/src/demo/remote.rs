//! Requests to a running server, over HTTP or HTTPS.

use std::net::IpAddr;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use http::header::HOST;
use http::uri::{Authority, PathAndQuery, Scheme};
use http::{HeaderValue, Request, Response, StatusCode, Uri};
use http_body::Body;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use super::startup_error::StartupError;

/// Returns the key in a file, or in an environment variable if there is no file. It is never an argument, because
/// every user of the machine could read it.
///
/// # Errors
///
/// Returns an error if there is no key.
pub(super) fn api_key(variable: &str, file: Option<&Path>) -> Result<HeaderValue, StartupError> {
    let (text, place) = match file {
        Some(file) => (
            std::fs::read_to_string(file).unwrap_or_default(),
            file.display().to_string(),
        ),
        None => (
            std::env::var(variable).unwrap_or_default(),
            variable.to_owned(),
        ),
    };
    let key = HeaderValue::from_str(text.trim())
        .ok()
        .filter(|key| !key.is_empty());
    let mut key = key.ok_or_else(|| {
        StartupError::new(
            format!("There is no API key in {place}."),
            place,
            format!("Set the environment variable {variable} to the key, or pass a file that contains it with --key-file."),
        )
    })?;
    key.set_sensitive(true);
    Ok(key)
}

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
    let mut sender = opened(request.uri()).await?;
    send(&mut sender, request).await
}

/// A connection that is used for several requests.
#[derive(Debug, Default)]
pub(super) struct ReusedConnection {
    /// The connection, and the server to which it leads.
    open: Option<(ServerOfUrl, SendRequest<Full<Bytes>>)>,
}

/// The parts of a URL that name its server.
type ServerOfUrl = (Option<Scheme>, Option<Authority>);

impl ReusedConnection {
    /// Sends a request without a body, and reads the response. If the server has closed the connection, or if there
    /// is none, a new one is used.
    ///
    /// # Errors
    ///
    /// Returns why there is no response.
    pub(super) async fn exchange(
        &mut self,
        request: &Request<()>,
    ) -> Result<Response<Bytes>, String> {
        let server = (
            request.uri().scheme().cloned(),
            request.uri().authority().cloned(),
        );
        let copy = || request.clone().map(|()| Full::<Bytes>::default());
        let earlier = self.open.take().filter(|(of, _)| *of == server);
        if let Some((_, mut sender)) = earlier
            && sender.ready().await.is_ok()
            && let Ok(response) = complete(&mut sender, copy()).await
        {
            self.open = Some((server, sender));
            return Ok(response);
        }
        let mut sender = opened(request.uri()).await?;
        let response = complete(&mut sender, copy()).await?;
        self.open = Some((server, sender));
        Ok(response)
    }
}

/// Sends a request, and reads the response.
async fn complete(
    sender: &mut SendRequest<Full<Bytes>>,
    request: Request<Full<Bytes>>,
) -> Result<Response<Bytes>, String> {
    let (head, incoming) = send(sender, request).await?.into_parts();
    let body = body(Response::new(incoming)).await?;
    Ok(Response::from_parts(head, body))
}

/// Opens a connection to the server of a URL.
async fn opened<B>(uri: &Uri) -> Result<SendRequest<B>, String>
where
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
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
        return on(stream, authority).await;
    }
    let name = ServerName::try_from(host.to_owned());
    let name = name.map_err(|error| format!("{authority}: {error}"))?;
    let stream = tls()?.connect(name, stream).await;
    on(
        stream.map_err(|error| format!("{authority}: {error}"))?,
        authority,
    )
    .await
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

/// Starts to use a connection.
async fn on<S, B>(stream: S, authority: &Authority) -> Result<SendRequest<B>, String>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let (sender, connection) = http1::handshake(TokioIo::new(stream))
        .await
        .map_err(|error| format!("{authority}: {error}"))?;
    // It ends when the sender is dropped and the response has been read.
    tokio::spawn(connection);
    Ok(sender)
}

/// Sends a request on a connection.
async fn send<B>(
    sender: &mut SendRequest<B>,
    mut request: Request<B>,
) -> Result<Response<Incoming>, String>
where
    B: Body<Data = Bytes> + Send + 'static,
{
    let authority = request.uri().authority().cloned();
    let authority = authority.ok_or_else(|| "the URL does not name a server".to_owned())?;
    let host = HeaderValue::from_str(authority.as_str()).map_err(|error| error.to_string())?;
    let path = request.uri().path_and_query().cloned();
    let path = path.unwrap_or_else(|| PathAndQuery::from_static("/"));
    *request.uri_mut() = path.into();
    request.headers_mut().insert(HOST, host);
    let response = sender.send_request(request).await;
    response.map_err(|error| format!("{authority}: {error}"))
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
