//! An HTTP/1.1 server with limits on slow and hostile clients and a graceful shutdown that loses no
//! request (feature `server`).
//!
//! It serves any tower service with the error type `Infallible`: a
//! [`SvcService`](crate::SvcService), or a whole axum `Router` that contains the service.
//! `axum::serve` has no limits.
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
//! let limits = ServerLimits::default().idle_timeout(Duration::from_secs(30)).max_connections(200);
//! Server::new(app).limits(limits).serve(TcpListener::bind("127.0.0.1:8080").await?).await?;
//! # Ok::<(), std::io::Error>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Slow and hostile clients
//!
//! | Client | Result |
//! |---|---|
//! | sends no head, or sends it slowly | the connection ends after [`ServerLimits::header_timeout`] |
//! | sends a head of more than [`ServerLimits::max_header_bytes`], or of more than 100 fields | 431, and the connection closes |
//! | sends a body slowly | its body ends with a [`BodyError`] after [`ServerLimits::body_timeout`]; the service sends 408, and the connection closes |
//! | sends a body that the service does not need | receives the response; the server then reads and drops further input for [`ServerLimits::linger`] or up to 8 MiB |
//! | sends nothing after a response, or does not read it | the connection ends after [`ServerLimits::idle_timeout`] |
//! | opens an unlimited number of connections | above [`ServerLimits::connections_per_address`], the longest idle one of its address is closed; if none is idle, 503 |
//! | is one of many such clients | above [`ServerLimits::max_connections`], the longest idle one of all is closed; if none is idle, the new one waits until one ends |
//!
//! [`SvcService::request_timeout`](crate::SvcService::request_timeout) limits how long a service
//! takes for a response. The proxy in front limits the requests of an address, because it sees the
//! addresses of clients. Add the proxy to [`Server::trusted_proxies`], since all connections come
//! from its address. The proxy also terminates TLS, which this server does not support.
//!
//! If accepting connections fails, for example because no file descriptor is free, the server
//! retries after 50 ms and logs a `tracing` warning.
//!
//! # Peer addresses
//!
//! The extensions of each request contain the address of the peer of its connection.
//! [`PeerAddr`](crate::PeerAddr) is the address by which the service trusts proxies, and
//! [`std::net::SocketAddr`] also has the port. Handlers of axum can use `Extension<PeerAddr>`. For
//! handlers that use `ConnectInfo`, a layer adds it:
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
//! [`Server::serve`] stops at SIGINT (Ctrl-C) and SIGTERM, [`Server::serve_until`] when a future is
//! ready. For [`ServerLimits::shutdown_grace`], the server still accepts requests that are in transit
//! or unread in a socket. Then it closes the port, and finishes accepted requests within
//! [`ServerLimits::shutdown_timeout`]. After that it closes the remaining connections.
//!
//! Requirements: UND-17, UND-42.

mod accept;
mod body;
mod connection;
mod limits;
mod monitor;
mod monitored_stream;
mod shutdown;
mod slots;
mod tracked_body;

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
pub use shutdown::ShutdownSignal;

use accept::Acceptor;
use connection::serve;
use limits::later;
use slots::ConnectionSlots;

use crate::body::BoxError;

/// Maximum time that a shutdown waits for connections to end after their deadline.
const CUT_OFF: Duration = Duration::from_secs(1);

/// An HTTP/1.1 server: see the [module](self).
#[derive(Debug, Clone)]
pub struct Server<S> {
    service: S,
    limits: ServerLimits,
    trusted_proxies: Vec<IpAddr>,
}

impl<S> Server<S> {
    /// Creates a server for this service with the default [`ServerLimits`].
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
    /// The service has [its own list](crate::SvcService::trusted_proxies), which decides whose
    /// headers it evaluates.
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

    /// Sets the limits.
    #[must_use]
    pub fn limits(self, limits: ServerLimits) -> Self {
        Self { limits, ..self }
    }

    /// Serves on `listener` until SIGINT or SIGTERM (on Windows Ctrl-C), then stops like
    /// [`serve_until`](Self::serve_until). A second signal stops it immediately.
    ///
    /// # Errors
    ///
    /// Returns an error if the process cannot handle signals.
    pub async fn serve<B>(self, listener: TcpListener) -> io::Result<()>
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
        let (mut one, mut two) = (ShutdownSignal::install()?, ShutdownSignal::install()?);
        let second = pin!(async move {
            two.recv().await;
            two.recv().await;
        });
        // The runtime ends the work that a second signal leaves unfinished.
        before(
            second,
            self.serve_until(listener, async move { one.recv().await }),
        )
        .await;
        Ok(())
    }

    /// Serves on `listener` until `stop` is ready, then completes the accepted requests and
    /// returns.
    ///
    /// Requests that are unread in a socket at the order to stop are still accepted. After
    /// [`ServerLimits::shutdown_timeout`], the remaining connections are closed.
    pub async fn serve_until<B>(self, listener: TcpListener, stop: impl Future<Output = ()>)
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
        let mut acceptor = Acceptor::new(listener, ConnectionSlots::new(limits, trusted_proxies));
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
        while let Ok(accepted) =
            timeout_at(later(now, limits.shutdown_grace), acceptor.next()).await
        {
            tokio::spawn(serve(
                accepted,
                service.clone(),
                limits,
                stopping.subscribe(),
            ));
        }
        drop(acceptor);
        // Each connection has a receiver, and drops it when it ends.
        let _ = timeout_at(
            later(now, limits.shutdown_timeout.saturating_add(CUT_OFF)),
            stopping.closed(),
        )
        .await;
    }
}

/// Returns the output of `work`, or `None` if `stop` is ready first.
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
