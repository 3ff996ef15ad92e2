//! A server under test.

use std::convert::Infallible;
use std::error::Error;
use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body::Body;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use svc_tower::server::{RequestBody, Server, ServerLimits};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tower::Service;

use crate::loopback::own_loopback_address;
use crate::raw::TestResult;

/// A limit that does not end a working test, and fails a hanging one.
pub(crate) const NEVER: Duration = Duration::from_secs(10 * 60);

/// A limit that a test waits for.
pub(crate) const SHORT: Duration = Duration::from_millis(50);

pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    pub(crate) stop: oneshot::Sender<()>,
    pub(crate) task: JoinHandle<()>,
}

impl Running {
    /// Starts a server with the test service.
    pub(crate) async fn start(limits: ServerLimits) -> TestResult<Self> {
        Self::start_service(limits, tower::service_fn(stand_in)).await
    }

    /// Starts a server that trusts a proxy.
    pub(crate) async fn start_behind(
        proxy: impl Into<IpAddr>,
        limits: ServerLimits,
    ) -> TestResult<Self> {
        let server = Server::new(tower::service_fn(stand_in))
            .limits(limits)
            .trusted_proxies([proxy.into()]);
        Self::start_server(server).await
    }

    /// Starts a server with another service.
    pub(crate) async fn start_service<S, B>(limits: ServerLimits, service: S) -> TestResult<Self>
    where
        S: Service<Request<RequestBody>, Response = Response<B>, Error = Infallible>
            + Clone
            + Send
            + 'static,
        S::Future: Send,
        B: Body + Send + 'static,
        B::Data: Send,
        B::Error: Into<Box<dyn Error + Send + Sync>>,
    {
        Self::start_server(Server::new(service).limits(limits)).await
    }

    async fn start_server<S, B>(server: Server<S>) -> TestResult<Self>
    where
        S: Service<Request<RequestBody>, Response = Response<B>, Error = Infallible>
            + Clone
            + Send
            + 'static,
        S::Future: Send,
        B: Body + Send + 'static,
        B::Data: Send,
        B::Error: Into<Box<dyn Error + Send + Sync>>,
    {
        let listener = TcpListener::bind(own_loopback_address()).await?;
        let address = listener.local_addr()?;
        let (stop, stopped) = oneshot::channel();
        let stopped = async {
            let _ = stopped.await;
        };
        let task = tokio::spawn(server.serve_until(listener, stopped));
        Ok(Self {
            address,
            stop,
            task,
        })
    }

    pub(crate) async fn finish(self) -> TestResult {
        self.stop
            .send(())
            .map_err(|()| "the server ended by itself")?;
        Ok(self.task.await?)
    }
}

/// Responds with the number of bytes of the body, or like the API if the body cannot be read.
async fn stand_in(request: Request<RequestBody>) -> Result<Response<Full<Bytes>>, Infallible> {
    if request.uri().path() == "/large" {
        return Ok(Response::new(Full::from(vec![b'x'; 8 << 20])));
    }
    let (status, text) = match Limited::new(request.into_body(), 1 << 20).collect().await {
        Ok(body) => (StatusCode::OK, format!("{} bytes", body.to_bytes().len())),
        Err(error) if error.is::<LengthLimitError>() => {
            (StatusCode::PAYLOAD_TOO_LARGE, "too large".to_owned())
        }
        Err(error) if is_timeout(error.as_ref()) => {
            (StatusCode::REQUEST_TIMEOUT, "too slow".to_owned())
        }
        Err(_) => (StatusCode::BAD_REQUEST, "broken".to_owned()),
    };
    let mut response = Response::new(Full::from(text));
    *response.status_mut() = status;
    Ok(response)
}

/// Returns whether an I/O error of the kind `TimedOut` is in the chain of sources. The service
/// recognises a slow body by it.
fn is_timeout(error: &(dyn Error + 'static)) -> bool {
    let mut chain = Some(error);
    while let Some(error) = chain {
        if error
            .downcast_ref::<io::Error>()
            .is_some_and(|error| error.kind() == ErrorKind::TimedOut)
        {
            return true;
        }
        chain = error.source();
    }
    false
}
