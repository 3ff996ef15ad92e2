//! Sends requests to a service and reads its responses.

use std::{
    convert::Infallible,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{HeaderMap, Request, Response, StatusCode, request::Builder};
use http_body::{Body, Frame};
use http_body_util::{BodyExt, Full};
use svc_core::read::{Json, JsonLimits, Object};
use svc_tower::{ResponseBody, SvcService};
use tower::ServiceExt;

use crate::service::backend::{KEY, Memory, api};

/// The name of the key header.
pub(crate) const HEADER: &str = "SVC-API-Token";

/// Returns a service over the backend with default settings.
pub(crate) fn service() -> SvcService {
    crate::service::log::listen();
    crate::service::served(api(&Memory::new()).build().unwrap())
}

/// The response.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    pub(crate) fn object(&self) -> Object {
        let json = Json::read(&self.body, &JsonLimits::default())
            .unwrap_or_else(|_| panic!("no JSON: {}", self.text()));
        json.into_object().unwrap()
    }

    /// Returns the code of the only error description.
    pub(crate) fn code(&self) -> String {
        let error = self
            .object()
            .remove("svc:error")
            .unwrap()
            .into_object()
            .unwrap();
        let [status] = error.get("resource_status").unwrap().as_array().unwrap() else {
            panic!("{error:?}")
        };
        let problems = status
            .as_object()
            .unwrap()
            .get("error_descriptions")
            .unwrap()
            .as_array()
            .unwrap();
        let [problem] = problems else {
            panic!("{problems:?}")
        };
        problem
            .as_object()
            .unwrap()
            .get("error_code")
            .unwrap()
            .as_str()
            .unwrap()
            .to_owned()
    }
}

/// Sends a request with any body type.
pub(crate) async fn send<B>(service: &SvcService, request: Request<B>) -> Answer
where
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let response: Result<Response<ResponseBody>, Infallible> =
        service.clone().oneshot(request).await;
    read(response.unwrap_or_else(|never| match never {})).await
}

/// Reads a response to its end, and checks the log up to this point.
pub(crate) async fn read(response: Response<ResponseBody>) -> Answer {
    let (parts, body) = response.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    crate::service::log::assert_clean();
    Answer {
        status: parts.status,
        headers: parts.headers,
        body,
    }
}

/// Sends a request with a whole body.
pub(crate) async fn exchange(service: &SvcService, request: Builder, body: &'static str) -> Answer {
    send(service, request.body(Full::<Bytes>::from(body)).unwrap()).await
}

/// Returns a request with the key that has all rights.
pub(crate) fn with_key(method: &str, path: &str) -> Builder {
    Request::builder()
        .method(method)
        .uri(path)
        .header(HEADER, KEY)
}

/// Returns a request without a key.
pub(crate) fn without_key(method: &str, path: &str) -> Builder {
    Request::builder().method(method).uri(path)
}

/// A body that counts the requested frames, and can be endless.
pub(crate) struct Counted {
    pub(crate) polls: Arc<AtomicUsize>,
    frame: &'static [u8],
    frames: usize,
}

impl Counted {
    pub(crate) fn new(frame: &'static [u8], frames: usize) -> Self {
        Self {
            polls: Arc::default(),
            frame,
            frames,
        }
    }
}

impl Body for Counted {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.polls.fetch_add(1, Ordering::Relaxed);
        if self.frames == 0 {
            return Poll::Ready(None);
        }
        self.frames = self.frames.saturating_sub(1);
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(self.frame)))))
    }
}
