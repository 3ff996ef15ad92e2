//! Delays requests while the data of a new file loads.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http::header::CONNECTION;
use http::{HeaderValue, Request, Response};
use http_body::Body;
use svc_tower::{ResponseBody, SvcService};
use tokio::sync::watch;
use tokio::time::timeout;
use tower_service::Service;

/// A gate that requests wait at. Clones are the same gate.
#[derive(Debug, Clone)]
pub struct LoadGate {
    opened: watch::Receiver<bool>,
}

/// Opens a [`LoadGate`].
#[derive(Debug, Clone)]
pub struct GateOpener {
    open: Arc<watch::Sender<bool>>,
}

impl LoadGate {
    /// Creates a closed gate, and its opener.
    #[must_use]
    pub fn closed() -> (Self, GateOpener) {
        let (open, opened) = watch::channel(false);
        (
            Self { opened },
            GateOpener {
                open: Arc::new(open),
            },
        )
    }

    /// Creates an open gate.
    #[must_use]
    pub fn open() -> Self {
        let (_, opened) = watch::channel(true);
        Self { opened }
    }

    /// Wraps a service. A request waits for the gate up to `patience`, and then gets 503.
    ///
    /// Requirements: UND-36.
    #[must_use]
    pub fn before(self, service: SvcService, patience: Duration) -> GatedService {
        GatedService {
            gate: self,
            service,
            patience,
        }
    }

    fn is_open(&self) -> bool {
        *self.opened.borrow()
    }

    /// Waits until the gate is open. Returns `false` after the timeout.
    async fn pass(&self, patience: Duration) -> bool {
        let mut opened = self.opened.clone();
        timeout(patience, opened.wait_for(|open| *open))
            .await
            .is_ok_and(|opened| opened.is_ok())
    }
}

impl GateOpener {
    /// Opens the gate for all requests.
    pub fn open(&self) {
        self.open.send_replace(true);
    }
}

/// A service with a [`LoadGate`].
#[derive(Debug, Clone)]
pub struct GatedService {
    gate: LoadGate,
    service: SvcService,
    patience: Duration,
}

impl GatedService {
    /// Returns whether the gate is open.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.gate.is_open()
    }
}

impl<B> Service<Request<B>> for GatedService
where
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Response = Response<ResponseBody>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        if self.gate.is_open() {
            return self.service.call(request);
        }
        let Self {
            gate,
            mut service,
            patience,
        } = self.clone();
        Box::pin(async move {
            if gate.pass(patience).await {
                return service.call(request).await;
            }
            let mut response = service
                .unavailable_response(&request, Duration::from_secs(patience.as_secs().max(1)));
            // The body of the request was not read.
            response
                .headers_mut()
                .insert(CONNECTION, HeaderValue::from_static("close"));
            Ok(response)
        })
    }
}
