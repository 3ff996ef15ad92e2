//! `/healthz` and `/metrics`, which are outside of the mount path of the API.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body::Body;
use svc_tower::{BodyBudget, ResponseBody, SvcService};
use tower_service::Service;

use super::database::DemoStore;
use super::load_gate::GatedService;
use super::metrics::Metrics;
use super::startup_error::StartupError;

/// The media type of the text format of Prometheus, which is UTF-8.
const TEXT_FORMAT: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The service, and the endpoints for monitoring.
#[derive(Debug, Clone)]
pub struct MonitoredService {
    service: GatedService,
    /// `None` if monitoring is off.
    monitor: Option<Monitor>,
}

/// The endpoints for monitoring.
#[derive(Debug, Clone)]
pub struct Monitor {
    metrics: Metrics,
    store: DemoStore,
    budget: BodyBudget,
}

impl Monitor {
    /// Returns the monitor, if it is enabled, and the service that reports its responses to it. A
    /// service at the root of its host has no monitor.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Metrics::new`].
    pub fn of(
        service: SvcService,
        store: &DemoStore,
        budget: BodyBudget,
        wanted: bool,
    ) -> Result<(SvcService, Option<Self>), StartupError> {
        let mount = service
            .api()
            .base_url()
            .as_str()
            .splitn(4, '/')
            .nth(3)
            .unwrap_or_default();
        if !wanted || mount.is_empty() {
            return Ok((service, None));
        }
        let metrics = Metrics::new()?;
        let counted = metrics.clone();
        let service = service.on_response(move |answered| counted.count(answered));
        Ok((
            service,
            Some(Self {
                metrics,
                store: store.clone(),
                budget,
            }),
        ))
    }
}

impl MonitoredService {
    /// Wraps a service, with or without a monitor.
    #[must_use]
    pub fn new(service: GatedService, monitor: Option<Monitor>) -> Self {
        Self { service, monitor }
    }

    /// Returns the monitor and the request to it, or `None` for other requests.
    fn asked<B>(&self, request: &Request<B>) -> Option<(Monitor, MonitorRequest)> {
        let asked = match request.uri().path() {
            "/metrics" => MonitorRequest::Metrics,
            "/healthz" => MonitorRequest::Health {
                is_loaded: self.service.is_open(),
            },
            _ => return None,
        };
        Some((self.monitor.clone()?, asked))
    }
}

/// A request to the monitor.
#[derive(Debug, Clone, Copy)]
enum MonitorRequest {
    Metrics,
    Health { is_loaded: bool },
}

impl Monitor {
    async fn answer(self, asked: MonitorRequest, method: Method) -> Response<ResponseBody> {
        let is_read = matches!(method, Method::GET | Method::HEAD);
        let (status, text) = match asked {
            _ if !is_read => (StatusCode::METHOD_NOT_ALLOWED, String::new()),
            MonitorRequest::Metrics => {
                match self.metrics.text(&self.store.stats(), self.budget.usage()) {
                    Ok(text) => (StatusCode::OK, text),
                    Err(error) => {
                        tracing::warn!(%error, "the metrics cannot be written");
                        (StatusCode::INTERNAL_SERVER_ERROR, String::new())
                    }
                }
            }
            MonitorRequest::Health { is_loaded: false } => {
                (StatusCode::SERVICE_UNAVAILABLE, "loading\n".to_owned())
            }
            // This reads from the data, with the timeout of the store.
            MonitorRequest::Health { is_loaded: true } => match self.store.tenants().await {
                Ok(_) => (StatusCode::OK, "ok\n".to_owned()),
                Err(error) => {
                    let what = match self.store {
                        DemoStore::File(_) => "the data file cannot be read",
                        DemoStore::Server(..) => "the database does not respond",
                    };
                    tracing::warn!(?error, "{what}");
                    (StatusCode::SERVICE_UNAVAILABLE, format!("{what}\n"))
                }
            },
        };
        let text = if method == Method::HEAD {
            String::new()
        } else {
            text
        };
        let mut response = Response::new(ResponseBody::from(text));
        *response.status_mut() = status;
        response
            .headers_mut()
            .insert(CONTENT_TYPE, HeaderValue::from_static(TEXT_FORMAT));
        response
            .headers_mut()
            .insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        response
    }
}

impl<B> Service<Request<B>> for MonitoredService
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
        match self.asked(&request) {
            Some((monitor, asked)) => {
                let method = request.method().clone();
                Box::pin(async move { Ok(monitor.answer(asked, method).await) })
            }
            None => self.service.call(request),
        }
    }
}
