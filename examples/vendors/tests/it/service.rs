//! Sends requests to a vendor's service in the same process.

use std::error::Error;

use axum::body::Body;
use http::{HeaderMap, Request, StatusCode, header::CONTENT_TYPE};
use http_body_util::BodyExt;
use serde_json::Value;
use svc_tower::SvcService;
use tower::ServiceExt;

/// Returns the response to a request with a key. With a body it is a POST request.
pub(crate) async fn send(
    service: &SvcService,
    key: &str,
    path: &str,
    body: Option<Value>,
) -> Result<(StatusCode, HeaderMap, Value), Box<dyn Error + Send + Sync>> {
    let request = Request::builder()
        .uri(format!("/api/v1/{path}"))
        .header("SVC-API-Token", key);
    let request = match body {
        Some(body) => {
            let request = request
                .method("POST")
                .header(CONTENT_TYPE, "application/json");
            request.body(Body::from(body.to_string()))?
        }
        None => request.body(Body::empty())?,
    };
    let answer = service.clone().oneshot(request).await?;
    let (status, headers) = (answer.status(), answer.headers().clone());
    Ok((
        status,
        headers,
        serde_json::from_slice(&answer.into_body().collect().await?.to_bytes())?,
    ))
}
