//! The target of the tests: a service in this process, or a server at a URL.

use std::convert::Infallible;
use std::error::Error;
use std::fmt;
use std::io::{self, ErrorKind};
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use bytes::{Buf, Bytes};
use http::header::{HOST, HeaderValue};
use http::{Request, Response, Uri};
use http_body::Body;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use tower::{Service, ServiceExt};

use crate::address;
use crate::connect::{Connector, Tls, connector, failure};

/// The receiver of requests.
#[async_trait]
pub trait Target: Send + Sync + fmt::Debug {
    /// Returns the URL of the entry point, with a slash at the end.
    ///
    /// Requirements: HAL-01.
    fn base(&self) -> &str;

    /// Whether the target runs on this machine. Other targets are only read until writes are
    /// allowed.
    fn is_local(&self) -> bool;

    /// Whether a link of the target also refers to this machine. For a server that is reached
    /// through a tunnel, it does not.
    fn is_local_url(&self, url: &str) -> bool {
        let authority = address::authority(url).unwrap_or_default();
        is_local(authority) || Some(authority) == address::authority(self.base())
    }

    /// Sends one request with an absolute URL and collects at most `limit` bytes of the response
    /// within `timeout`.
    ///
    /// # Errors
    /// Returns an error if there is no complete response.
    async fn send(
        &self,
        request: Request<Bytes>,
        limit: usize,
        timeout: Duration,
    ) -> Result<Response<Bytes>, TargetError>;

    /// Waits, so that a date of the target can be a later one, or as long as the target asks with
    /// `Retry-After`.
    ///
    /// Requirements: CRU-19.
    async fn wait(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}

/// Error returned when there is no response.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TargetError {
    /// No connection could be made.
    #[error("the target cannot be reached: {0}")]
    Unreachable(String),
    /// No TLS connection could be made.
    #[error("no TLS connection could be made: {0}")]
    Tls(String),
    /// The response was not complete in time.
    #[error("no complete response within {0:?}")]
    TimedOut(Duration),
    /// The server closed the connection before it responded. It may do so with an idle connection,
    /// so it is unknown whether it processed the request.
    #[error("the server closed the connection before it responded: {0}")]
    Closed(String),
    /// The connection broke, or the response is not HTTP.
    #[error("the response was interrupted or is not HTTP: {0}")]
    Broken(String),
    /// The response is not HTTP/1.1.
    #[error(
        "the target does not use HTTP/1.1 at this URL: it may require TLS (a URL with https://), \
         support only HTTP/2, which the suite does not support, or be another service"
    )]
    OtherProtocol,
    /// The response is larger than the limit.
    #[error("the response has more than {0} bytes")]
    TooLarge(usize),
    /// The suite does not send requests to this URL.
    #[error("{0} is not on the target: the suite sends no request, and no key, to another origin")]
    Elsewhere(String),
}

/// A service in this process: any [`tower::Service`] with HTTP types. No port is opened.
///
/// The service receives a request as from an HTTP/1.1 server: with a path, and a `Host` header.
pub struct InProcess<S> {
    service: Mutex<S>,
    base: String,
    wait: Option<Arc<dyn Fn(Duration) + Send + Sync>>,
}

impl<S> InProcess<S> {
    /// Creates a target from a service whose entry point is at `/`.
    pub const fn new(service: S) -> Self {
        Self {
            service: Mutex::new(service),
            base: String::new(),
            wait: None,
        }
    }

    /// Sets the URL of the entry point, such as `http://localhost/api/v1/`.
    #[must_use]
    pub fn base_url(mut self, base: impl Into<String>) -> Self {
        self.base = with_slash(base.into());
        self
    }

    /// Sets a function that is called instead of waiting. Use it to advance the clock of a service
    /// with a manual clock.
    #[must_use]
    pub fn on_wait(mut self, wait: impl Fn(Duration) + Send + Sync + 'static) -> Self {
        self.wait = Some(Arc::new(wait));
        self
    }
}

impl<S> fmt::Debug for InProcess<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InProcess")
            .field("base", &self.base)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl<S, B> Target for InProcess<S>
where
    S: Service<Request<Full<Bytes>>, Response = Response<B>> + Clone + Send + 'static,
    S::Error: fmt::Display + Send,
    S::Future: Send,
    B: Body + Send + 'static,
    B::Data: Buf + Send,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    fn base(&self) -> &str {
        if self.base.is_empty() {
            "http://localhost/"
        } else {
            &self.base
        }
    }

    fn is_local(&self) -> bool {
        true
    }

    /// The service in this process receives every request, whatever its URL.
    fn is_local_url(&self, _: &str) -> bool {
        true
    }

    async fn send(
        &self,
        request: Request<Bytes>,
        limit: usize,
        timeout: Duration,
    ) -> Result<Response<Bytes>, TargetError> {
        let service = self
            .service
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let request = origin_form(request)
            .ok_or_else(|| TargetError::Broken("the URL is invalid".to_owned()))?;
        let answer = async move {
            let response = service.oneshot(request.map(Full::new)).await;
            collected(
                response.map_err(|error| TargetError::Broken(error.to_string()))?,
                limit,
            )
            .await
        };
        tokio::time::timeout(timeout, answer)
            .await
            .unwrap_or(Err(TargetError::TimedOut(timeout)))
    }

    async fn wait(&self, duration: Duration) {
        match &self.wait {
            Some(wait) => wait(duration),
            None => tokio::time::sleep(duration).await,
        }
    }
}

/// Returns the request in the form that an HTTP/1.1 server passes on.
fn origin_form(mut request: Request<Bytes>) -> Option<Request<Bytes>> {
    let url = request.uri().to_string();
    let authority = HeaderValue::from_str(address::authority(&url)?).ok()?;
    let path = request
        .uri()
        .path_and_query()
        .map_or("/", |path| path.as_str());
    let path: Uri = path.parse().ok()?;
    *request.uri_mut() = path;
    request.headers_mut().entry(HOST).or_insert(authority);
    Some(request)
}

async fn collected<B>(response: Response<B>, limit: usize) -> Result<Response<Bytes>, TargetError>
where
    B: Body,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let (parts, body) = response.into_parts();
    match Limited::new(body, limit).collect().await {
        Ok(body) => Ok(Response::from_parts(parts, body.to_bytes())),
        Err(error) if error.is::<http_body_util::LengthLimitError>() => {
            Err(TargetError::TooLarge(limit))
        }
        Err(error) => Err(TargetError::Broken(error.to_string())),
    }
}

/// A server at a URL, over HTTP/1.1; with the feature `https` also over TLS.
#[derive(Debug)]
pub struct Remote {
    base: String,
    /// Reuses connections for later requests.
    kept: Client<Connector, Full<Bytes>>,
    /// Opens a connection for each request.
    fresh: Client<Connector, Full<Bytes>>,
    /// Whether the server was seen to close a connection before a response.
    closes: AtomicBool,
}

impl Remote {
    /// Creates a target from the URL of the entry point. For an `https` URL, the certificate
    /// authorities of this machine are trusted. `SSL_CERT_FILE` names others.
    ///
    /// # Errors
    /// Returns an error unless it is an absolute `http` or, with the feature `https`, `https` URL
    /// without a user, a query and a fragment.
    pub fn new(base: impl Into<String>) -> Result<Self, TargetError> {
        Self::connected(base.into(), Tls::system())
    }

    /// Creates a target from the URL of the entry point, with these certificates.
    ///
    /// # Errors
    /// Same as [`new`](Self::new). Also returns an error if no certificate authority is trusted.
    #[cfg(feature = "https")]
    pub fn with_tls(base: impl Into<String>, tls: Tls) -> Result<Self, TargetError> {
        Self::connected(base.into(), tls)
    }

    fn connected(base: String, tls: Tls) -> Result<Self, TargetError> {
        let base = with_slash(base);
        let is_https = base.starts_with("https://");
        let is_web = is_https || base.starts_with("http://");
        if !is_web || base.contains(['?', '#']) || address::resolve(&base, &base).is_none() {
            return Err(TargetError::Unreachable(format!(
                "`{base}` is not an http or https URL of an entry point"
            )));
        }
        let connector = connector(is_https, tls);
        let connector =
            connector.map_err(|reason| TargetError::Unreachable(format!("`{base}`: {reason}")))?;
        let kept = Client::builder(TokioExecutor::new())
            .pool_idle_timeout(IDLE)
            .build(connector.clone());
        let fresh = Client::builder(TokioExecutor::new())
            .pool_max_idle_per_host(0)
            .build(connector);
        Ok(Self {
            base,
            kept,
            fresh,
            closes: AtomicBool::new(false),
        })
    }

    /// Sends a request. A server may close a connection at any time (RFC 9112, section 9.5). The
    /// request is then sent again on a new connection, unless it changes something and may have
    /// been processed. From then on, each request has its own connection.
    async fn answer(&self, request: Request<Bytes>) -> Result<Response<Incoming>, TargetError> {
        if !self.closes.load(Ordering::Relaxed) {
            let error = match self.kept.request(request.clone().map(Full::new)).await {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            let (is_unsent, is_closed) =
                (is_unsent(&error), !error.is_connect() && is_closed(&error));
            self.closes.fetch_or(is_closed, Ordering::Relaxed);
            if !is_unsent && !is_closed {
                return Err(self.reason(&error));
            }
            if !is_unsent && !request.method().is_safe() {
                return Err(TargetError::Closed(with_causes(&error)));
            }
        }
        let answer = self.fresh.request(request.map(Full::new)).await;
        answer.map_err(|error| self.reason(&error))
    }

    fn reason(&self, error: &hyper_util::client::legacy::Error) -> TargetError {
        if let Some(reason) = failure(error) {
            return TargetError::Tls(reason);
        }
        let text = with_causes(error);
        match () {
            () if is_unsent(error) && self.base.starts_with("https://") => {
                TargetError::Tls(CLOSED.to_owned())
            }
            () if error.is_connect() || is_unsent(error) => TargetError::Unreachable(text),
            () if text.contains("invalid HTTP version") => TargetError::OtherProtocol,
            () => TargetError::Broken(text),
        }
    }
}

/// How long an idle connection stays open. Servers close idle connections after some seconds, and a
/// request sent at that time gets no response.
const IDLE: Duration = Duration::from_secs(1);

/// The message about a TLS server that closes a connection before a request is sent.
const CLOSED: &str = "the server closes the connection before a request is sent; if it requires a \
                      client certificate, pass one with --client-cert FILE --client-key FILE";

/// Whether a connection was closed before anything of a request was sent.
fn is_unsent(error: &(dyn Error + 'static)) -> bool {
    causes(error)
        .filter_map(|one| one.downcast_ref())
        .any(hyper::Error::is_canceled)
}

/// Whether a connection was closed before the response.
fn is_closed(error: &(dyn Error + 'static)) -> bool {
    // Over TLS, a connection that ends without `close_notify` causes `UnexpectedEof`.
    let is_end = |error: &io::Error| {
        matches!(
            error.kind(),
            ErrorKind::ConnectionReset
                | ErrorKind::ConnectionAborted
                | ErrorKind::BrokenPipe
                | ErrorKind::UnexpectedEof
        )
    };
    causes(error).any(|one| {
        one.downcast_ref()
            .is_some_and(hyper::Error::is_incomplete_message)
            || one.downcast_ref().is_some_and(is_end)
    })
}

#[async_trait]
impl Target for Remote {
    fn base(&self) -> &str {
        &self.base
    }

    fn is_local(&self) -> bool {
        is_local(address::authority(&self.base).unwrap_or_default())
    }

    async fn send(
        &self,
        request: Request<Bytes>,
        limit: usize,
        timeout: Duration,
    ) -> Result<Response<Bytes>, TargetError> {
        let url = request.uri().to_string();
        if address::split(&url).map(|(origin, _)| origin)
            != address::split(&self.base).map(|(origin, _)| origin)
        {
            return Err(TargetError::Elsewhere(url));
        }
        let answer = async { collected(self.answer(request).await?, limit).await };
        tokio::time::timeout(timeout, answer)
            .await
            .unwrap_or(Err(TargetError::TimedOut(timeout)))
    }
}

/// Whether an authority is this machine: `localhost`, or a loopback address. A name that only looks
/// similar, such as `127.0.0.1.example.org`, is not.
fn is_local(authority: &str) -> bool {
    let end = authority
        .rfind(':')
        .filter(|at| authority.rfind(']').is_none_or(|bracket| bracket < *at));
    let host = authority
        .get(..end.unwrap_or(authority.len()))
        .unwrap_or_default();
    let bare = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'))
        .unwrap_or(host);
    host.eq_ignore_ascii_case("localhost")
        || bare
            .parse::<IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

impl From<Infallible> for TargetError {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}

/// Returns an error, its cause, the cause of that, and so on.
fn causes<'e>(error: &'e (dyn Error + 'static)) -> impl Iterator<Item = &'e (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&error| error.source())
}

fn with_causes(error: &(dyn Error + 'static)) -> String {
    causes(error)
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(": ")
}

fn with_slash(mut base: String) -> String {
    if !base.ends_with('/') {
        base.push('/');
    }
    base
}

#[cfg(test)]
mod tests {
    use std::io::{Error, ErrorKind};

    use super::{is_closed, is_local};

    #[test]
    fn the_end_of_a_connection_is_told_from_other_errors() {
        for kind in [
            ErrorKind::ConnectionReset,
            ErrorKind::ConnectionAborted,
            ErrorKind::BrokenPipe,
        ] {
            assert!(is_closed(&Error::from(kind)), "{kind}");
        }
        // The error of rustls for a TLS connection that ends without `close_notify`.
        assert!(is_closed(&Error::new(
            ErrorKind::UnexpectedEof,
            "peer closed connection"
        )));
        assert!(
            !is_closed(&Error::from(ErrorKind::TimedOut))
                && !is_closed(&Error::from(ErrorKind::InvalidData))
        );
    }

    /// Writes without permission are only sent to what is certainly this machine.
    #[test]
    fn this_machine_is_told_from_others() {
        for authority in [
            "localhost",
            "LocalHost:80",
            "127.0.0.1",
            "127.9.8.7:8080",
            "[::1]",
            "[::1]:8080",
        ] {
            assert!(is_local(authority), "{authority}");
        }
        for authority in [
            "127.0.0.1.example.org",
            "127.example.org:80",
            "localhost.example.org",
            "0.0.0.0:80",
            "10.0.0.1",
            "[::2]",
            "[::1",
            "crm.example.org",
            "",
        ] {
            assert!(!is_local(authority), "{authority}");
        }
    }
}
