//! The receiver of webhooks: a small HTTP server of the run. It keeps what is sent to each of its
//! addresses, and answers as a check asks it to.
//!
//! Every webhook gets an address of its own, with the nonce of the run in it: messages of different
//! webhooks stay apart, and requests to other addresses are ignored.

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

/// Bytes of a message that are kept.
const LARGEST: usize = 64 * 1024;
/// Messages that are kept of one webhook.
const MOST_MESSAGES: usize = 1_000;
/// Connections at the same time.
const MOST_CONNECTIONS: usize = 100;
/// How long a connection may take.
const LONGEST: Duration = Duration::from_secs(2 * 60);
/// How long a message may take to arrive.
const LONGEST_MESSAGE: Duration = Duration::from_secs(10);

/// Where the receiver listens, and how a server reaches it.
#[derive(Debug, Clone)]
pub(crate) struct Address {
    /// Host and port.
    pub(crate) listen: String,
    /// The address that leads to it, where that is another one: of a tunnel or a proxy.
    pub(crate) url: Option<String>,
}

impl Default for Address {
    /// Any free port of this machine.
    fn default() -> Self {
        Self {
            listen: "127.0.0.1:0".to_owned(),
            url: None,
        }
    }
}

/// A message as it arrived.
#[derive(Debug, Clone)]
pub(crate) struct Message {
    pub(crate) method: Method,
    pub(crate) headers: HeaderMap,
    /// The body; none where it is larger than what is kept.
    pub(crate) body: Option<Bytes>,
    /// When it arrived.
    pub(crate) at: Instant,
    /// The same, in seconds since the epoch.
    pub(crate) seconds: i64,
}

impl Message {
    /// The `webhook-id`.
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

/// How an attempt is answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reply {
    /// With a status.
    Status(u16),
    /// With 503, and `Retry-After` in seconds.
    RetryAfter(u64),
    /// With 302 to an address.
    Redirect(String),
    /// With 204, but not as long as the [inbox holds](Inbox::hold) its answers.
    Hang,
}

/// The receiver of a run; it stops when it is dropped.
#[derive(Debug)]
pub(crate) struct Receiver {
    url: String,
    mailboxes: Mailboxes,
    _accepting: JoinSet<()>,
}

/// The mailboxes by the last segments of their addresses.
type Mailboxes = Arc<Mutex<HashMap<String, Arc<Mailbox>>>>;

/// What is kept for one address.
#[derive(Debug)]
struct Mailbox {
    /// The answers to the attempts of one message; the last one is that of all further attempts.
    replies: Vec<Reply>,
    messages: watch::Sender<Vec<Message>>,
    /// Requests that have no answer yet.
    hanging: watch::Sender<usize>,
    /// Whether requests that are to hang do.
    holds: watch::Sender<bool>,
}

impl Receiver {
    /// Starts to listen. Needs a runtime with I/O enabled.
    pub(crate) async fn start(address: &Address) -> io::Result<Self> {
        let listener = TcpListener::bind(&address.listen).await?;
        let local = listener.local_addr()?;
        let url = match &address.url {
            Some(url) => url.trim_end_matches('/').to_owned(),
            None if local.ip().is_unspecified() => {
                return Err(io::Error::other(
                    "no server can send to this address: name one with --webhook-receiver-url",
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

    /// An address of its own, whose last segment is `name`, and how each message sent there is
    /// answered: attempt by attempt, the last reply again and again.
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

/// An address of the receiver with what arrived there; it takes nothing any more once it is
/// dropped.
#[derive(Debug)]
pub(crate) struct Inbox {
    pub(crate) url: String,
    name: String,
    mailbox: Arc<Mailbox>,
    mailboxes: Mailboxes,
}

impl Inbox {
    /// Everything that has arrived so far.
    pub(crate) fn messages(&self) -> Vec<Message> {
        self.mailbox.messages.borrow().clone()
    }

    /// Waits until `found` finds something among the messages; `None` where it does not within
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

    /// Waits until a request hangs, or until none does; whether that is so within `limit`.
    pub(crate) async fn hangs(&self, wanted: bool, limit: Duration) -> bool {
        let mut hanging = self.mailbox.hanging.subscribe();
        timeout(limit, hanging.wait_for(|hanging| (*hanging > 0) == wanted))
            .await
            .is_ok()
    }

    /// Lets requests hang from now on, or answers those that hang and all that follow.
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

/// A request that hangs, until it is answered or the sender gives it up.
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
            // No socket is free: one of those that are in use ends.
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
    // A sender that goes away ends its connection only.
    let _ = timeout(LONGEST, http.serve_connection(TokioIo::new(stream), answer)).await;
}

/// Keeps a message and answers it.
async fn take(request: Request<Incoming>, mailboxes: &Mailboxes) -> Response<Empty<Bytes>> {
    let (parts, body) = request.into_parts();
    let name = parts.uri.path().rsplit('/').next().unwrap_or_default();
    let Some(mailbox) = lock(mailboxes).get(name).cloned() else {
        return status(StatusCode::NOT_FOUND);
    };
    let body = match timeout(LONGEST_MESSAGE, Limited::new(body, LARGEST).collect()).await {
        Ok(Ok(body)) => Some(body.to_bytes()),
        Ok(Err(error)) if error.is::<http_body_util::LengthLimitError>() => None,
        // It broke off on its way.
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
    // Before the message is seen to have arrived.
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
            // It fails only without a sender, which the mailbox is.
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
