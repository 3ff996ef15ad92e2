//! Requests and responses with complete bodies, and the services that process them.

use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, Uri, header};
use http_body::Body;
use http_body_util::{BodyExt, Full};
use serde_json::{Map, Value, json};
use tower::{Service, ServiceExt};

/// A future that can move between threads.
pub type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// A request.
#[derive(Debug, Clone)]
pub struct BufferedRequest {
    /// The method.
    pub method: Method,
    /// The address.
    pub uri: Uri,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
}

impl BufferedRequest {
    /// Returns the path and query without a slash at the end of the path.
    #[must_use]
    pub fn address(&self) -> String {
        address(&self.uri.to_string())
    }

    /// Creates a request without a target.
    #[must_use]
    pub fn nowhere() -> Self {
        Self {
            method: Method::GET,
            uri: Uri::default(),
            headers: HeaderMap::new(),
            body: Bytes::new(),
        }
    }

    /// Returns the object in the body.
    #[must_use]
    pub fn json(&self) -> Option<Map<String, Value>> {
        serde_json::from_slice(&self.body).ok()
    }

    /// Replaces the body.
    pub fn set_json(&mut self, body: Map<String, Value>) {
        self.body = Value::Object(body).to_string().into();
        self.headers.remove(header::CONTENT_LENGTH);
    }

    /// Changes the target; an invalid address changes nothing.
    pub fn redirect(&mut self, address: &str) {
        if let Ok(uri) = address.parse() {
            self.uri = uri;
        }
    }

    /// Returns whether the request is a write.
    #[must_use]
    pub fn is_write(&self) -> bool {
        [Method::POST, Method::PUT, Method::DELETE].contains(&self.method)
    }

    /// Returns a `GET` request to an address with the headers of this one, without a body.
    #[must_use]
    pub fn get(&self, address: &str) -> Self {
        let mut call = Self {
            method: Method::GET,
            body: Bytes::new(),
            ..self.clone()
        };
        call.headers.remove(header::CONTENT_LENGTH);
        call.headers.remove(header::CONTENT_TYPE);
        call.redirect(address);
        call
    }
}

/// Returns the path and query of an address without a slash at the end of the path.
#[must_use]
pub fn address(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| {
        rest.find('/').and_then(|at| rest.get(at..)).unwrap_or("")
    });
    match rest.split_once('?') {
        Some((path, query)) => format!("{}?{query}", path.trim_end_matches('/')),
        None => rest.trim_end_matches('/').to_owned(),
    }
}

/// A response.
#[derive(Debug, Clone)]
pub struct BufferedResponse {
    /// The status.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
}

impl BufferedResponse {
    /// Creates a response without a body.
    #[must_use]
    pub fn empty(status: u16) -> Self {
        let cache = HeaderValue::from_static("max-age=0, private, must-revalidate");
        let headers = HeaderMap::from_iter([(header::CACHE_CONTROL, cache)]);
        Self {
            status,
            headers,
            body: Bytes::new(),
        }
    }

    /// Creates a response with a HAL document.
    #[must_use]
    pub fn document(status: u16, body: &Value) -> Self {
        let mut answer = Self::empty(status);
        answer.headers.insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static("application/hal+json"),
        );
        answer.set_json(body);
        answer
    }

    /// Creates the response to a rejected request with one problem. `rel` returns a relation name
    /// with the prefix.
    #[must_use]
    pub fn rejected(rel: impl Fn(&str) -> String, kind: &str, description: &Value) -> Self {
        let entry = json!({ "resource": rel(kind), "response_code": 400, "error_descriptions": [description] });
        let error =
            json!({ "request_type": "atomic", "response_code": 400, "resource_status": [entry] });
        Self::document(400, &json!({ rel("error"): error }))
    }

    /// Returns whether the body is a HAL document.
    #[must_use]
    pub fn is_hal(&self) -> bool {
        self.headers
            .get(header::CONTENT_TYPE)
            .is_some_and(|media| media.as_bytes().starts_with(b"application/hal+json"))
    }

    /// Returns whether the request succeeded.
    #[must_use]
    pub const fn is_success(&self) -> bool {
        self.status >= 200 && self.status < 300
    }

    /// Returns the document in the body, if it is a HAL document.
    #[must_use]
    pub fn json(&self) -> Option<Value> {
        self.is_hal()
            .then(|| serde_json::from_slice(&self.body).ok())
            .flatten()
    }

    /// Changes the document in the body, if it is a HAL document.
    pub fn edit(&mut self, change: impl FnOnce(&mut Map<String, Value>)) {
        let Some(Value::Object(mut document)) = self.json() else {
            return;
        };
        let before = document.clone();
        change(&mut document);
        if document != before {
            self.set_json(&Value::Object(document));
        }
    }

    /// Adds a behaviour if this is the declaration.
    pub fn declare(&mut self, behaviour: &str) -> bool {
        let Ok(Value::Object(mut document)) = serde_json::from_slice::<Value>(&self.body) else {
            return false;
        };
        let Some(behaviours) = document.get_mut("behaviours").and_then(Value::as_array_mut) else {
            return false;
        };
        behaviours.push(behaviour.into());
        self.set_json(&Value::Object(document));
        true
    }

    /// Replaces the body.
    pub fn set_json(&mut self, body: &Value) {
        self.body = body.to_string().into();
        self.headers.remove(header::CONTENT_LENGTH);
    }
}

/// A service of any type.
#[derive(Clone)]
pub struct Transport(Arc<dyn Fn(BufferedRequest) -> BoxFuture<BufferedResponse> + Send + Sync>);

impl fmt::Debug for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Transport")
    }
}

impl Transport {
    /// Creates a service from a function.
    #[must_use]
    pub fn new(
        answer: impl Fn(BufferedRequest) -> BoxFuture<BufferedResponse> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(answer))
    }

    /// Wraps a tower service; a clone answers each request.
    #[must_use]
    pub fn of<S, B>(service: S) -> Self
    where
        S: Service<Request<Full<Bytes>>, Response = Response<B>, Error = Infallible>,
        B: Body + Send,
        B::Data: Send,
        S: Clone + Send + Sync + 'static,
        S::Future: Send,
    {
        Self::new(move |call| {
            let service = service.clone();
            Box::pin(async move {
                let mut request = Request::new(Full::new(call.body));
                *request.method_mut() = call.method;
                *request.uri_mut() = call.uri;
                *request.headers_mut() = call.headers;
                let response = service
                    .oneshot(request)
                    .await
                    .unwrap_or_else(|never| match never {});
                let (parts, body) = response.into_parts();
                let body = body
                    .collect()
                    .await
                    .map(http_body_util::Collected::to_bytes)
                    .unwrap_or_default();
                BufferedResponse {
                    status: parts.status.as_u16(),
                    headers: parts.headers,
                    body,
                }
            })
        })
    }

    /// Sends one request.
    pub async fn send(&self, call: BufferedRequest) -> BufferedResponse {
        (self.0)(call).await
    }
}

impl Service<Request<Full<Bytes>>> for Transport {
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = BoxFuture<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Full<Bytes>>) -> Self::Future {
        let wire = self.clone();
        Box::pin(async move {
            let (parts, body) = request.into_parts();
            let body = body
                .collect()
                .await
                .map(http_body_util::Collected::to_bytes)
                .unwrap_or_default();
            let call = BufferedRequest {
                method: parts.method,
                uri: parts.uri,
                headers: parts.headers,
                body,
            };
            let answer = wire.send(call).await;
            let mut response = Response::new(Full::new(answer.body));
            *response.status_mut() =
                StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            *response.headers_mut() = answer.headers;
            Ok(response)
        })
    }
}
