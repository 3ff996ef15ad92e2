//! A relay between a service and the receivers of its webhooks, with one change to the messages.
//!
//! The service gets addresses of the relay instead of those of the receivers, and its responses
//! contain the receivers' addresses again. The service sends to the relay, which changes and
//! forwards each message, and returns the receiver's response.

use std::convert::Infallible;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use hmac::{Hmac, KeyInit as _, Mac as _};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt as _, Empty, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::Value;
use sha2::Sha256;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use super::interceptor::Interceptor;
use super::transport::{self, BoxFuture, BufferedRequest, BufferedResponse};

/// A message that is forwarded.
#[derive(Debug, Clone)]
pub struct Letter {
    /// The method.
    pub method: Method,
    /// The headers of Standard Webhooks.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
}

impl Letter {
    /// Returns a header as text.
    #[must_use]
    pub fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default()
    }

    /// Sets a header.
    pub fn set(&mut self, name: &'static str, value: &str) {
        if let Ok(value) = HeaderValue::from_str(value) {
            self.headers.insert(HeaderName::from_static(name), value);
        }
    }

    /// Returns the event of the message, such as `tag.created`.
    #[must_use]
    pub fn event(&self) -> String {
        let body: Value = serde_json::from_slice(&self.body).unwrap_or_default();
        body.get("type")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    }
}

/// The response of a receiver.
#[derive(Debug, Clone)]
pub struct Reply {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
}

impl Reply {
    /// Creates a response without headers.
    #[must_use]
    pub fn of(status: StatusCode) -> Self {
        Self {
            status,
            headers: HeaderMap::new(),
        }
    }
}

/// The receiver of a message.
#[derive(Clone)]
pub struct RelayedReceiver {
    /// The address of the receiver.
    pub url: String,
    /// The secrets of its webhook, the newest first.
    secrets: Vec<String>,
    client: Client<HttpConnector, Full<Bytes>>,
}

impl fmt::Debug for RelayedReceiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RelayedReceiver")
            .field("url", &self.url)
            .finish_non_exhaustive()
    }
}

impl RelayedReceiver {
    /// Sends a message to the receiver.
    pub async fn send(&self, letter: &Letter) -> Reply {
        self.send_to(&self.url, letter).await
    }

    /// Sends a message to another address.
    pub async fn send_to(&self, url: &str, letter: &Letter) -> Reply {
        let mut request = Request::new(Full::new(letter.body.clone()));
        *request.method_mut() = letter.method.clone();
        *request.headers_mut() = letter.headers.clone();
        let Ok(uri) = url.parse() else {
            return Reply::of(StatusCode::BAD_GATEWAY);
        };
        *request.uri_mut() = uri;
        match self.client.request(request).await {
            Ok(response) => Reply {
                status: response.status(),
                headers: response.headers().clone(),
            },
            Err(_) => Reply::of(StatusCode::BAD_GATEWAY),
        }
    }

    /// Returns the newest secret.
    #[must_use]
    pub fn secret(&self) -> &str {
        self.secrets.first().map_or("", String::as_str)
    }

    /// Returns the oldest secret.
    #[must_use]
    pub fn first_secret(&self) -> &str {
        self.secrets.last().map_or("", String::as_str)
    }

    /// Signs the current content of a message according to Standard Webhooks 1.0.
    pub fn sign(&self, letter: &mut Letter) {
        let signed = whole(letter);
        letter.set(
            "webhook-signature",
            &signature(&key(self.secret()), &signed),
        );
    }
}

/// Returns the signed content of a message: `<webhook-id>.<webhook-timestamp>.<body>`.
#[must_use]
pub fn whole(letter: &Letter) -> Vec<u8> {
    let head = format!(
        "{}.{}.",
        letter.header("webhook-id"),
        letter.header("webhook-timestamp")
    );
    [head.as_bytes(), &letter.body].concat()
}

/// Returns the key of a secret.
#[must_use]
pub fn key(secret: &str) -> Vec<u8> {
    STANDARD
        .decode(secret.trim_start_matches("whsec_"))
        .unwrap_or_default()
}

/// Returns a signature of version 1 of some bytes.
#[must_use]
pub fn signature(key: &[u8], signed: &[u8]) -> String {
    let Ok(mac) = Hmac::<Sha256>::new_from_slice(key) else {
        return String::new();
    };
    format!(
        "v1,{}",
        STANDARD.encode(mac.chain_update(signed).finalize().into_bytes())
    )
}

/// The function that forwards a message.
pub type Pass = Arc<dyn Fn(Letter, RelayedReceiver) -> BoxFuture<Reply> + Send + Sync>;

/// A relay that runs until it is dropped.
struct Relay {
    address: SocketAddr,
    routes: Routes,
    _accepting: JoinSet<()>,
}

/// The receivers by their numbers, each with the address of its webhook.
type Routes = Arc<Mutex<Vec<Route>>>;

#[derive(Debug, Clone, Default)]
struct Route {
    url: String,
    /// The webhook, once it is known.
    webhook: String,
    /// The secrets of the webhook, the newest first.
    secrets: Vec<String>,
}

fn lock(routes: &Routes) -> MutexGuard<'_, Vec<Route>> {
    routes.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns a service whose messages pass through a relay. If no port is free, they are not changed.
#[must_use]
pub fn relayed(
    pass: impl Fn(Letter, RelayedReceiver) -> BoxFuture<Reply> + Send + Sync + 'static,
) -> Interceptor {
    let Ok(relay) = Relay::start(Arc::new(pass)) else {
        return Interceptor::default();
    };
    let relay = Arc::new(relay);
    Interceptor::around(move |mut call, server| {
        let relay = Arc::clone(&relay);
        Box::pin(async move {
            if !call.uri.path().contains("/webhooks") {
                return server.send(call).await;
            }
            let given = relay.replace(&mut call);
            let mut answer = server.send(call.clone()).await;
            relay.learn(&call, &answer, given);
            relay.restore(&mut answer);
            answer
        })
    })
}

impl Relay {
    fn start(pass: Pass) -> io::Result<Self> {
        let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let listener = TcpListener::from_std(listener)?;
        let routes = Routes::default();
        let mut accepting = JoinSet::new();
        accepting.spawn(accept(listener, Arc::clone(&routes), pass));
        Ok(Self {
            address,
            routes,
            _accepting: accepting,
        })
    }

    /// Returns the relay's address for a receiver.
    fn url(&self, number: usize) -> String {
        format!("http://{}/{number}/hook", self.address)
    }

    /// Replaces the receiver's address in a request by one of the relay, and returns the number of
    /// the receiver.
    fn replace(&self, call: &mut BufferedRequest) -> Option<usize> {
        let mut body = call.json()?;
        // The service rejects addresses that cannot be those of a receiver.
        let url = body
            .get("url")?
            .as_str()
            .filter(|url| url.starts_with("http://127.0.0.1:"))?
            .to_owned();
        let mut routes = lock(&self.routes);
        let number = routes.len();
        routes.push(Route {
            url,
            ..Route::default()
        });
        body.insert("url".to_owned(), self.url(number).into());
        call.set_json(body);
        Some(number)
    }

    /// Stores the receiver and the secrets of each webhook.
    fn learn(&self, call: &BufferedRequest, answer: &BufferedResponse, given: Option<usize>) {
        let document: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
        let own = document
            .pointer("/_links/self/href")
            .and_then(Value::as_str)
            .map(transport::address);
        let secret = document.get("secret").and_then(Value::as_str);
        let mut routes = lock(&self.routes);
        if let (Some(route), Some(own)) = (given.and_then(|number| routes.get_mut(number)), own) {
            route.webhook = own;
            route.secrets.extend(secret.map(str::to_owned));
        } else if let Some(secret) = secret {
            let called = call.address();
            let of_webhook = |route: &&mut Route| {
                !route.webhook.is_empty() && called.starts_with(&route.webhook)
            };
            routes
                .iter_mut()
                .filter(of_webhook)
                .for_each(|route| route.secrets.insert(0, secret.to_owned()));
        }
    }

    /// Restores the receivers' addresses in a response.
    fn restore(&self, answer: &mut BufferedResponse) {
        let mut text = String::from_utf8_lossy(&answer.body).into_owned();
        for (number, route) in lock(&self.routes).iter().enumerate() {
            text = text.replace(&self.url(number), &route.url);
        }
        answer.body = text.into();
        answer.headers.remove(header::CONTENT_LENGTH);
    }
}

async fn accept(listener: TcpListener, routes: Routes, pass: Pass) {
    let client = Client::builder(TokioExecutor::new()).build_http();
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        while connections.try_join_next().is_some() {}
        connections.spawn(connection(
            stream,
            (Arc::clone(&routes), Arc::clone(&pass), client.clone()),
        ));
    }
}

async fn connection(stream: TcpStream, with: (Routes, Pass, Client<HttpConnector, Full<Bytes>>)) {
    let answer = service_fn(move |request| {
        let with = with.clone();
        async move { Ok::<_, Infallible>(forward(request, with).await) }
    });
    // A sender that disconnects ends only its own connection.
    let _ = http1::Builder::new()
        .serve_connection(TokioIo::new(stream), answer)
        .await;
}

/// Forwards a message.
async fn forward(
    request: Request<Incoming>,
    (routes, pass, client): (Routes, Pass, Client<HttpConnector, Full<Bytes>>),
) -> Response<Empty<Bytes>> {
    let (parts, body) = request.into_parts();
    let number = parts
        .uri
        .path()
        .split('/')
        .nth(1)
        .and_then(|number| number.parse::<usize>().ok());
    let route = number.and_then(|number| lock(&routes).get(number).cloned());
    let body = body
        .collect()
        .await
        .map(http_body_util::Collected::to_bytes);
    let mut response = Response::new(Empty::new());
    let (Some(Route { url, secrets, .. }), Ok(body)) = (route, body) else {
        *response.status_mut() = StatusCode::NOT_FOUND;
        return response;
    };
    let is_own =
        |name: &HeaderName| name.as_str().starts_with("webhook-") || *name == header::CONTENT_TYPE;
    let headers = parts.headers.iter().filter(|(name, _)| is_own(name));
    let headers = headers
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    let reply = pass(
        Letter {
            method: parts.method,
            headers,
            body,
        },
        RelayedReceiver {
            url,
            secrets,
            client,
        },
    )
    .await;
    *response.status_mut() = reply.status;
    for name in [header::RETRY_AFTER, header::LOCATION] {
        response
            .headers_mut()
            .extend(reply.headers.get(&name).map(|value| (name, value.clone())));
    }
    response
}
