//! A server to go with the service: HTTP/1.1 with limits on slow and hostile clients, and a stop
//! that loses no request. With the feature `server`.
//!
//! It serves any tower service whose error is `Infallible`: a [`SvcService`](crate::SvcService), or
//! a program's whole axum `Router` with the service in it, which `axum::serve` would serve without
//! a limit.
//!
//! ```no_run
//! # let api = svc_core::Api::builder(svc_core::Vendor::new("Acme", "CRM")).authenticator(svc_core::auth::FixedKeys::new());
//! # let api = api.base_url("https://crm.example.org/api/v1/").build()?;
//! use std::time::Duration;
//!
//! use svc_tower::SvcService;
//! use svc_tower::server::{ServerLimits, Server};
//! use tokio::net::TcpListener;
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
//! let app = axum::Router::new().nest_service("/api/v1", SvcService::new(api));
//! let limits = ServerLimits::default().idle(Duration::from_secs(30)).connections(200);
//! Server::new(app).limits(limits).run(TcpListener::bind("127.0.0.1:8080").await?).await?;
//! # Ok::<(), std::io::Error>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Slow and hostile clients
//!
//! | Who | What becomes of it |
//! |---|---|
//! | sends no head, or a head slowly | the connection ends after [`ServerLimits::head`] |
//! | sends a head of more than [`ServerLimits::head_bytes`], or of more than 100 fields | 431, and the connection closes |
//! | sends a body slowly | its body ends with a [`BodyError`] after [`ServerLimits::body`]: 408 by the service, and the connection closes |
//! | sends a body that the service does not want | receives the response; the server then reads and drops further input for [`ServerLimits::linger`] or up to 8 MiB |
//! | sends nothing after an answer, or does not read it | the connection ends after [`ServerLimits::idle`] |
//! | opens connections without end | above [`ServerLimits::connections_per_address`] the longest idle one of its address is closed; if none is idle, 503 |
//! | is one of many who do so | above [`ServerLimits::connections`] the longest idle one of all is closed; if none is idle, it waits until one ends |
//!
//! How long a service may take for an answer is its own affair:
//! [`SvcService::request_timeout`](crate::SvcService::request_timeout). How many requests one
//! address may send is for the proxy in front, which sees the addresses; name it to
//! [`Server::trusted_proxies`], since all connections come from its address. It ends TLS, too: this
//! server has none.
//!
//! A listener that fails, for want of file descriptors, say, is asked again after 50 ms, with a
//! `tracing` warning.
//!
//! # Peer addresses
//!
//! Each request has the address of the other end of its connection in its extensions, as
//! [`PeerAddr`](crate::PeerAddr), by which the service trusts proxies, and with its port as
//! [`std::net::SocketAddr`]. axum's handlers take `Extension<PeerAddr>`; for those that want
//! `ConnectInfo`, a layer adds it:
//!
//! ```
//! use std::net::SocketAddr;
//!
//! use axum::{Router, extract::{ConnectInfo, Request}, middleware::map_request, routing::get};
//!
//! async fn connect_info(mut request: Request) -> Request {
//!     if let Some(peer) = request.extensions().get::<SocketAddr>().copied() {
//!         request.extensions_mut().insert(ConnectInfo(peer));
//!     }
//!     request
//! }
//!
//! async fn who(ConnectInfo(peer): ConnectInfo<SocketAddr>) -> String {
//!     peer.to_string()
//! }
//!
//! let app: Router = Router::new().route("/who", get(who)).layer(map_request(connect_info));
//! # drop(app);
//! ```
//!
//! # Stopping
//!
//! [`Server::run`] stops at SIGINT (Ctrl-C) and SIGTERM, [`Server::run_until`] when a future is
//! ready. Requests that were on their way are answered, also those that lie unread in a socket, for
//! [`ServerLimits::stop_grace`]; then the port is closed, and who waits for an answer gets it
//! within [`ServerLimits::stop`]. What is left then is cut off.
//!
//! Requirements: UND-17, UND-42.

mod accept;
mod answer;
mod body;
mod connection;
mod limits;
mod slots;
mod stop;
mod stream;
mod watch;

use std::{
    convert::Infallible,
    future::{Future, poll_fn},
    io,
    net::IpAddr,
    pin::{Pin, pin},
    task::Poll,
    time::Duration,
};

use http::{Request, Response};
use http_body::Body;
use tokio::{
    net::TcpListener,
    sync::watch as channel,
    time::{Instant, timeout_at},
};
use tower_service::Service;

pub use body::{BodyError, RequestBody};
pub use limits::ServerLimits;
pub use stop::ShutdownSignal;

use accept::Acceptor;
use connection::serve;
use limits::later;
use slots::Slots;

use crate::body::BoxError;

/// For how long a stop waits for connections to notice that their time is over.
const CUT_OFF: Duration = Duration::from_secs(1);

/// An HTTP/1.1 server: see the [module](self).
#[derive(Debug, Clone)]
pub struct Server<S> {
    service: S,
    limits: ServerLimits,
    trusted_proxies: Vec<IpAddr>,
}

impl<S> Server<S> {
    /// A server of this service, with the [`ServerLimits`] that are their default.
    #[must_use]
    pub fn new(service: S) -> Self {
        Self {
            service,
            limits: ServerLimits::default(),
            trusted_proxies: Vec::new(),
        }
    }

    /// Sets the proxies whose connections [`ServerLimits::connections_per_address`] does not limit.
    /// Default: none.
    ///
    /// The service has [a list of its own](crate::SvcService::trusted_proxies), which decides whose
    /// headers it follows.
    #[must_use]
    pub fn trusted_proxies(self, proxies: impl IntoIterator<Item = IpAddr>) -> Self {
        let trusted_proxies = proxies
            .into_iter()
            .map(|proxy| proxy.to_canonical())
            .collect();
        Self {
            trusted_proxies,
            ..self
        }
    }

    /// With other limits.
    #[must_use]
    pub fn limits(self, limits: ServerLimits) -> Self {
        Self { limits, ..self }
    }

    /// Serves on `listener` until SIGINT or SIGTERM comes (on Windows Ctrl-C), then stops as
    /// [`run_until`](Self::run_until) does. A second signal ends it at once.
    ///
    /// # Errors
    ///
    /// The process cannot listen to signals.
    pub async fn run<B>(self, listener: TcpListener) -> io::Result<()>
    where
        S: Service<Request<RequestBody>, Response = Response<B>, Error = Infallible>
            + Clone
            + Send
            + 'static,
        S::Future: Send,
        B: Body + Send + 'static,
        B::Data: Send,
        B::Error: Into<BoxError>,
    {
        let (mut one, mut two) = (ShutdownSignal::listen()?, ShutdownSignal::listen()?);
        let second = pin!(async move {
            two.next().await;
            two.next().await;
        });
        // What a second signal leaves undone ends with the runtime.
        before(
            second,
            self.run_until(listener, async move { one.next().await }),
        )
        .await;
        Ok(())
    }

    /// Serves on `listener` until `stop` is ready, then answers what was accepted, and returns.
    ///
    /// Requests that lay unread in a socket when the order to stop came are still answered. After
    /// [`ServerLimits::stop`] whatever is left is cut off.
    pub async fn run_until<B>(self, listener: TcpListener, stop: impl Future<Output = ()>)
    where
        S: Service<Request<RequestBody>, Response = Response<B>, Error = Infallible>
            + Clone
            + Send
            + 'static,
        S::Future: Send,
        B: Body + Send + 'static,
        B::Data: Send,
        B::Error: Into<BoxError>,
    {
        let Self {
            service,
            limits,
            trusted_proxies,
        } = self;
        let mut stop = pin!(stop);
        let mut acceptor = Acceptor::new(listener, Slots::new(limits, trusted_proxies));
        let stopping = channel::Sender::new(None);
        while let Some(accepted) = before(stop.as_mut(), acceptor.next()).await {
            tokio::spawn(serve(
                accepted,
                service.clone(),
                limits,
                stopping.subscribe(),
            ));
        }
        let now = Instant::now();
        stopping.send_replace(Some(now));
        while let Ok(accepted) = timeout_at(later(now, limits.stop_grace), acceptor.next()).await {
            tokio::spawn(serve(
                accepted,
                service.clone(),
                limits,
                stopping.subscribe(),
            ));
        }
        drop(acceptor);
        // Each connection holds a receiver, and drops it when it ends.
        let _ = timeout_at(
            later(now, limits.stop.saturating_add(CUT_OFF)),
            stopping.closed(),
        )
        .await;
    }
}

/// What `work` gives; `None` where `stop` is ready first.
async fn before<T>(
    mut stop: Pin<&mut impl Future<Output = ()>>,
    work: impl Future<Output = T>,
) -> Option<T> {
    let mut work = pin!(work);
    poll_fn(|cx| match stop.as_mut().poll(cx) {
        Poll::Ready(()) => Poll::Ready(None),
        Poll::Pending => work.as_mut().poll(cx).map(Some),
    })
    .await
}
