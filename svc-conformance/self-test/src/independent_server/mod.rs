//! A second service, in memory, written from the catalogue alone. It shares no code and no tables
//! with the crates that it tests, so that suite and reference server cannot hide a common mistake.
//!
//! It differs wherever the specification permits a choice: numeric ids, custom paths, a notice on
//! delete, other error codes, nested objects that are replaced as a whole, deletes that also delete
//! dependent records. [`ServerOptions`] selects permitted behaviour; [`Defect`] breaks required
//! behaviour.

mod answer;
mod check;
mod containers;
mod dates;
mod declare;
mod defects;
mod handling;
mod helper;
mod kinds;
mod options;
mod person;
mod render;
mod route;
mod store;
mod write;

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{HeaderValue, Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Full};

use answer::ServerResponse;
use store::{AllTenants, RecordNumber};

pub use defects::Defect;
pub use options::{
    AnonymousEffect, Containers, HrefStyle, ServerKey, ServerOptions, SimulatedClock, SimulatedTime,
};

/// How often other requests can run between a lookup and an insert.
const TURNS: usize = 8;

/// The second service; a clone shares its data.
#[derive(Debug, Clone)]
pub struct IndependentServer {
    options: Arc<ServerOptions>,
    tenants: Arc<Mutex<AllTenants>>,
}

impl IndependentServer {
    /// Creates a service without data.
    #[must_use]
    pub fn new(options: ServerOptions) -> Self {
        Self {
            options: Arc::new(options),
            tenants: Arc::default(),
        }
    }

    /// Returns a service with the same data and other options.
    #[must_use]
    pub fn set_up_as(&self, options: ServerOptions) -> Self {
        containers::furnish(
            &options,
            &mut self.tenants.lock().unwrap_or_else(PoisonError::into_inner),
        );
        Self {
            options: Arc::new(options),
            tenants: Arc::clone(&self.tenants),
        }
    }

    /// Returns the fixtures of a run: the addresses of unlinked helpers, each under its name.
    #[must_use]
    pub fn fixtures(&self) -> Vec<(String, String)> {
        containers::fixtures(
            &self.options,
            &self.tenants.lock().unwrap_or_else(PoisonError::into_inner),
        )
    }

    /// Returns the base URL of the service.
    #[must_use]
    pub fn base(&self) -> &str {
        &self.options.base
    }

    /// Returns the published declaration.
    #[must_use]
    pub fn capabilities(&self) -> serde_json::Value {
        declare::document(&self.options)
    }

    /// Returns the last record that [`Defect::LooksUpBeforeInsert`] can find. Other requests can
    /// run before it continues.
    async fn looked_up(&self) -> Option<RecordNumber> {
        if !self.options.has(Defect::LooksUpBeforeInsert) {
            return None;
        }
        let last = self
            .tenants
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .last;
        for _ in 0..TURNS {
            tokio::task::yield_now().await;
        }
        Some(last)
    }

    /// Responds to a request with a complete body. `found_to` limits person matching to records up
    /// to a number.
    fn answer(
        &self,
        request: &Request<Bytes>,
        found_to: Option<RecordNumber>,
    ) -> Response<Full<Bytes>> {
        let mut tenants = self.tenants.lock().unwrap_or_else(PoisonError::into_inner);
        tenants.found_to = found_to;
        let answer = route::answer(&self.options, &mut tenants, request);
        drop(tenants);
        let mut response = response(answer);
        if let Some(applied) = handling::applied(&self.options, request) {
            response.headers_mut().insert("preference-applied", applied);
        }
        response
    }
}

impl tower::Service<Request<Full<Bytes>>> for IndependentServer {
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Full<Bytes>>) -> Self::Future {
        let service = self.clone();
        Box::pin(async move {
            let (parts, body) = request.into_parts();
            let body = body
                .collect()
                .await
                .map(http_body_util::Collected::to_bytes)
                .unwrap_or_default();
            Ok(service.answer(&Request::from_parts(parts, body), service.looked_up().await))
        })
    }
}

/// Returns the HTTP response with status, headers and body.
fn response(answer: ServerResponse) -> Response<Full<Bytes>> {
    let (media, bytes) = match (answer.page, answer.body) {
        (Some((media, text)), _) => (Some(media), Bytes::from(text)),
        (None, Some(body)) => (Some("application/hal+json"), Bytes::from(body.to_string())),
        (None, None) => (None, Bytes::new()),
    };
    let mut response = Response::new(Full::new(bytes));
    *response.status_mut() =
        StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    if let Some(media) = media {
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media));
    }
    let cache = HeaderValue::from_static("max-age=0, private, must-revalidate");
    headers.insert(header::CACHE_CONTROL, cache);
    response
}
