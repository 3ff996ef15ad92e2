//! The webhook receiver: a small HTTP server of the run. It stores the messages to each of its
//! URLs, and replies as a check requests.
//!
//! Every webhook has its own URL, which contains the nonce of the run. Messages of different
//! webhooks are therefore separate, and requests to other URLs are ignored.

mod signature;

use std::collections::HashMap;
use std::convert::Infallible;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use chrono::Utc;
use http::header::{HeaderMap, HeaderValue, LOCATION, RETRY_AFTER};
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Empty, Limited};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

pub(crate) use signature::Secret;

/// The maximum size of a stored message, in bytes.
const LARGEST: usize = 64 * 1024;
/// The maximum number of stored messages per webhook.
const MOST_MESSAGES: usize = 1_000;
/// The maximum number of concurrent connections.
const MOST_CONNECTIONS: usize = 100;
/// The maximum duration of a connection.
const LONGEST: Duration = Duration::from_secs(2 * 60);
/// The maximum time in which a message must arrive.
const LONGEST_MESSAGE: Duration = Duration::from_secs(10);

/// The address on which the receiver listens, and its URL.
#[derive(Debug, Clone)]
pub(crate) struct Address {
    /// Host and port.
    pub(crate) listen: String,
    /// The URL of the receiver, if it differs: that of a tunnel or a proxy.
    pub(crate) url: Option<String>,
}

impl Default for Address {
    /// Returns any free port of this machine.
    fn default() -> Self {
        Self {
            listen: "127.0.0.1:0".to_owned(),
            url: None,
        }
    }
}

/// A received message.
#[derive(Debug, Clone)]
pub(crate) struct Message {
    pub(crate) method: Method,
    pub(crate) headers: HeaderMap,
    /// The body. `None` if it is larger than the maximum.
    pub(crate) body: Option<Bytes>,
    /// The time of arrival.
    pub(crate) at: Instant,
    /// The time of arrival in seconds since the epoch.
    pub(crate) seconds: i64,
}

impl Message {
    /// Returns the `webhook-id`.
    pub(crate) fn id(&self) -> Option<&str> {
        self.headers
            .get("webhook-id")?
            .to_str()
            .ok()
            .filter(|id| !id.is_empty())
    }

    #[cfg(test)]
    pub(crate) fn of(headers: &[(&'static str, &str)], body: &str) -> Self {
        let header = |(name, value): &(&'static str, &str)| {
            Some((http::HeaderName::from_static(name), value.parse().ok()?))
        };
        Self {
            method: Method::POST,
            headers: headers.iter().filter_map(header).collect(),
            body: Some(Bytes::from(body.to_owned())),
            at: Instant::now(),
            seconds: 0,
        }
    }
}

/// The reply to an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reply {
    /// A status.
    Status(u16),
    /// 503, with `Retry-After` in seconds.
    RetryAfter(u64),
    /// 302 to a URL.
    Redirect(String),
    /// 204, but delayed while the [inbox holds](Inbox::hold) its replies.
    Hang,
}

/// The receiver of a run. It stops when it is dropped.
#[derive(Debug)]
pub(crate) struct Receiver {
    url: String,
    mailboxes: Mailboxes,
    _accepting: JoinSet<()>,
}

/// The mailboxes by the last segment of their URLs.
type Mailboxes = Arc<Mutex<HashMap<String, Arc<Mailbox>>>>;

/// The state of one URL.
#[derive(Debug)]
struct Mailbox {
    /// The replies to the attempts at one message. The last reply is also used for all further
    /// attempts.
    replies: Vec<Reply>,
    messages: watch::Sender<Vec<Message>>,
    /// The number of requests without a reply.
    hanging: watch::Sender<usize>,
    /// Whether requests that must hang are held.
    holds: watch::Sender<bool>,
}

impl Receiver {
    /// Starts to listen. Requires a runtime with I/O enabled.
    pub(crate) async fn start(address: &Address) -> io::Result<Self> {
        let listener = TcpListener::bind(&address.listen).await?;
        let local = listener.local_addr()?;
        let url = match &address.url {
            Some(url) => url.trim_end_matches('/').to_owned(),
            None if local.ip().is_unspecified() => {
                return Err(io::Error::other(
                    "no server can send to this address: set a URL with --webhook-receiver-url",
                ));
            }
            None => format!("http://{local}"),
        };
        let mailboxes = Mailboxes::default();
        let mut accepting = JoinSet::new();
        accepting.spawn(accept(listener, Arc::clone(&mailboxes)));
        Ok(Self {
            url,
            mailboxes,
            _accepting: accepting,
        })
    }

    /// Creates a URL whose last segment is `name`, with the replies to each message, attempt by
    /// attempt. The last reply is repeated.
    pub(crate) fn inbox(&self, name: &str, replies: Vec<Reply>) -> Inbox {
        let mailbox = Arc::new(Mailbox {
            replies,
            messages: watch::Sender::default(),
            hanging: watch::Sender::default(),
            holds: watch::Sender::new(true),
        });
        lock(&self.mailboxes).insert(name.to_owned(), Arc::clone(&mailbox));
        Inbox {
            url: format!("{}/{name}", self.url),
            name: name.to_owned(),
            mailbox,
            mailboxes: Arc::clone(&self.mailboxes),
        }
    }
}

/// A URL of the receiver with the received messages. It accepts no more messages once it is
/// dropped.
#[derive(Debug)]
pub(crate) struct Inbox {
    pub(crate) url: String,
    name: String,
    mailbox: Arc<Mailbox>,
    mailboxes: Mailboxes,
}

impl Inbox {
    /// Returns all messages received so far.
    pub(crate) fn messages(&self) -> Vec<Message> {
        self.mailbox.messages.borrow().clone()
    }

    /// Waits until `found` returns something for the messages. Returns `None` if it does not within
    /// `limit`.
    pub(crate) async fn wait<T>(
        &self,
        limit: Duration,
        mut found: impl FnMut(&[Message]) -> Option<T>,
    ) -> Option<T> {
        let mut messages = self.mailbox.messages.subscribe();
        let arrives = async {
            loop {
                let seen = found(&messages.borrow_and_update());
                if seen.is_some() || messages.changed().await.is_err() {
                    return seen;
                }
            }
        };
        timeout(limit, arrives).await.ok().flatten()
    }

    /// Waits until a request hangs, or until none does. Returns whether that happened within
    /// `limit`.
    pub(crate) async fn hangs(&self, wanted: bool, limit: Duration) -> bool {
        let mut hanging = self.mailbox.hanging.subscribe();
        timeout(limit, hanging.wait_for(|hanging| (*hanging > 0) == wanted))
            .await
            .is_ok()
    }

    /// Makes requests hang from now on, or replies to those that hang and to all later ones.
    pub(crate) fn hold(&self, holds: bool) {
        self.mailbox.holds.send_replace(holds);
    }
}

impl Drop for Inbox {
    fn drop(&mut self) {
        lock(&self.mailboxes).remove(&self.name);
        self.hold(false);
    }
}

/// A request that hangs, until it gets a reply or the sender abandons it.
struct Hanging<'m>(&'m Mailbox);

impl<'m> Hanging<'m> {
    fn new(mailbox: &'m Mailbox) -> Self {
        mailbox
            .hanging
            .send_modify(|hanging| *hanging = hanging.saturating_add(1));
        Self(mailbox)
    }
}

impl Drop for Hanging<'_> {
    fn drop(&mut self) {
        self.0
            .hanging
            .send_modify(|hanging| *hanging = hanging.saturating_sub(1));
    }
}

fn lock(mailboxes: &Mailboxes) -> std::sync::MutexGuard<'_, HashMap<String, Arc<Mailbox>>> {
    mailboxes.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn accept(listener: TcpListener, mailboxes: Mailboxes) {
    let mut connections = JoinSet::new();
    loop {
        while connections.try_join_next().is_some() {}
        if connections.len() >= MOST_CONNECTIONS {
            connections.join_next().await;
        }
        match listener.accept().await {
            Ok((stream, _)) => drop(connections.spawn(connection(stream, Arc::clone(&mailboxes)))),
            // No socket is free: one of the connections must end.
            Err(_) => drop(connections.join_next().await),
        }
    }
}

async fn connection(stream: TcpStream, mailboxes: Mailboxes) {
    let answer = service_fn(move |request| {
        let mailboxes = Arc::clone(&mailboxes);
        async move { Ok::<_, Infallible>(take(request, &mailboxes).await) }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(LONGEST_MESSAGE);
    // A sender that disconnects ends only its own connection.
    let _ = timeout(LONGEST, http.serve_connection(TokioIo::new(stream), answer)).await;
}

/// Stores a message and replies to it.
async fn take(request: Request<Incoming>, mailboxes: &Mailboxes) -> Response<Empty<Bytes>> {
    let (parts, body) = request.into_parts();
    let name = parts.uri.path().rsplit('/').next().unwrap_or_default();
    let Some(mailbox) = lock(mailboxes).get(name).cloned() else {
        return status(StatusCode::NOT_FOUND);
    };
    let body = match timeout(LONGEST_MESSAGE, Limited::new(body, LARGEST).collect()).await {
        Ok(Ok(body)) => Some(body.to_bytes()),
        Ok(Err(error)) if error.is::<http_body_util::LengthLimitError>() => None,
        // The message was interrupted.
        _ => return status(StatusCode::BAD_REQUEST),
    };
    let (method, headers) = (parts.method, parts.headers);
    let message = Message {
        method,
        headers,
        body,
        at: Instant::now(),
        seconds: Utc::now().timestamp(),
    };
    let mut attempt = 0;
    // Must be created before the message counts as received.
    let hanging = Hanging::new(&mailbox);
    mailbox.messages.send_modify(|messages| {
        attempt = messages
            .iter()
            .filter(|earlier| earlier.id() == message.id())
            .count();
        if messages.len() < MOST_MESSAGES {
            messages.push(message);
        }
    });
    match mailbox
        .replies
        .get(attempt)
        .or_else(|| mailbox.replies.last())
    {
        Some(Reply::Status(code)) => {
            status(StatusCode::from_u16(*code).unwrap_or(StatusCode::NO_CONTENT))
        }
        Some(Reply::RetryAfter(seconds)) => with(
            status(StatusCode::SERVICE_UNAVAILABLE),
            RETRY_AFTER,
            &seconds.to_string(),
        ),
        Some(Reply::Redirect(url)) => with(status(StatusCode::FOUND), LOCATION, url),
        Some(Reply::Hang) => {
            // Fails only without a sender, and the mailbox is the sender.
            let _ = mailbox.holds.subscribe().wait_for(|holds| !holds).await;
            drop(hanging);
            status(StatusCode::NO_CONTENT)
        }
        None => status(StatusCode::NO_CONTENT),
    }
}

fn status(code: StatusCode) -> Response<Empty<Bytes>> {
    let mut response = Response::new(Empty::new());
    *response.status_mut() = code;
    response
}

fn with(
    mut response: Response<Empty<Bytes>>,
    name: http::HeaderName,
    value: &str,
) -> Response<Empty<Bytes>> {
    if let Ok(value) = HeaderValue::from_str(value) {
        response.headers_mut().insert(name, value);
    }
    response
}
