//! `/healthz` and `/metrics`, beside the mount of the interface and not below it.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body::Body;
use http_body_util::Full;
use svc_sqlite::Store;
use svc_tower::SvcService;
use tower_service::Service;

use super::gate::Gated;
use super::metrics::Metrics;

/// The media type of Prometheus' text format.
const TEXT_FORMAT: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The service, and beside it what a monitor asks for.
#[derive(Debug, Clone)]
pub struct Monitored {
    service: Gated,
    /// `None` where nobody may ask.
    monitor: Option<Monitor>,
}

/// What answers monitors.
#[derive(Debug, Clone)]
pub struct Monitor {
    metrics: Metrics,
    store: Store,
}

impl Monitor {
    /// A monitor, if it is wanted, and the service that tells it of each answer. A service at the root of its host has
    /// no place beside it, and no monitor.
    #[must_use]
    pub fn of(service: SvcService, store: &Store, wanted: bool) -> (SvcService, Option<Self>) {
        let mount = service.api().base().as_str().splitn(4, '/').nth(3).unwrap_or_default();
        if !wanted || mount.is_empty() {
            return (service, None);
        }
        let metrics = Metrics::default();
        let counted = metrics.clone();
        let service = service.observe(move |answered| counted.count(answered));
        (service, Some(Self { metrics, store: store.clone() }))
    }
}

impl Monitored {
    /// A service with a monitor beside it, or without one.
    #[must_use]
    pub fn new(service: Gated, monitor: Option<Monitor>) -> Self {
        Self { service, monitor }
    }

    /// The answer to a monitor; `None` for any other request.
    fn answer<B>(&self, request: &Request<B>) -> Option<Response<Full<Bytes>>> {
        let monitor = self.monitor.as_ref()?;
        let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
        let (status, text) = match request.uri().path() {
            "/metrics" => (StatusCode::OK, monitor.metrics.text(&monitor.store.stats())),
            "/healthz" if !self.service.is_open() => (StatusCode::SERVICE_UNAVAILABLE, "loading\n".to_owned()),
            // It asks the data file something.
            "/healthz" => match monitor.store.tenants() {
                Ok(_) => (StatusCode::OK, "ok\n".to_owned()),
                Err(error) => {
                    tracing::warn!(?error, "the data file cannot be read");
                    (StatusCode::SERVICE_UNAVAILABLE, "the data file cannot be read\n".to_owned())
                }
            },
            _ => return None,
        };
        let text = if request.method() == Method::HEAD || !is_read { String::new() } else { text };
        let mut response = Response::new(Full::from(text));
        *response.status_mut() = if is_read { status } else { StatusCode::METHOD_NOT_ALLOWED };
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(TEXT_FORMAT));
        response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        Some(response)
    }
}

impl<B> Service<Request<B>> for Monitored
where
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        match self.answer(&request) {
            Some(response) => Box::pin(std::future::ready(Ok(response))),
            None => self.service.call(request),
        }
    }
}
