//! A second service, in memory, written from the catalogue alone: it shares no code and no tables
//! with the crates it helps to judge, so that suite and reference server cannot share one mistake
//! unseen.
//!
//! It differs wherever the interface lets a server differ: numbers for ids, paths of its own, a
//! notice on delete, other error codes, nested objects replaced as a whole, deletes that take along
//! what depends on the record. [`ServerOptions`] chooses among what is free; [`Defect`] breaks what
//! is not.

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

/// How often others have their turn between a look and an insert.
const TURNS: usize = 8;

/// The second service; a clone shares its data.
#[derive(Debug, Clone)]
pub struct IndependentServer {
    options: Arc<ServerOptions>,
    tenants: Arc<Mutex<AllTenants>>,
}

impl IndependentServer {
    /// A service without data.
    #[must_use]
    pub fn new(options: ServerOptions) -> Self {
        Self {
            options: Arc::new(options),
            tenants: Arc::default(),
        }
    }

    /// The same data behind a service that is set up otherwise.
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

    /// The fixtures of a run against it: the addresses of helpers to which no link leads, each
    /// under its name.
    #[must_use]
    pub fn fixtures(&self) -> Vec<(String, String)> {
        containers::fixtures(
            &self.options,
            &self.tenants.lock().unwrap_or_else(PoisonError::into_inner),
        )
    }

    /// The base of its addresses.
    #[must_use]
    pub fn base(&self) -> &str {
        &self.options.base
    }

    /// What it supports, as it publishes it.
    #[must_use]
    pub fn capabilities(&self) -> serde_json::Value {
        declare::document(&self.options)
    }

    /// What a fault that looks up before it inserts has looked through; other requests have their
    /// turn before it goes on.
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

    /// Answers a request whose body is at hand; of who is known, only records up to a number are
    /// found, where there is one.
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

/// Status, headers and bytes of an answer.
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
