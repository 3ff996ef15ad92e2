//! The HTTP/1.1 server around the service: limits, one log line per request, a graceful stop.

use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use http::header::CONNECTION;
use http::{HeaderValue, Request, Response, StatusCode};
use http_body::Body;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::time::{Instant, sleep, sleep_until, timeout, timeout_at};
use tower_service::Service;

use super::access_log::AccessLog;
use super::body::TimedBody;
use super::limits::Limits;
use super::watch::{Watch, WatchedStream};

/// For how long the server does not accept after accepting failed, for example for want of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// What stands between a connection and the service.
#[derive(Debug, Clone)]
struct Front {
    limits: Limits,
    log: AccessLog,
}

/// Serves on `listener` until `stop` is ready, then answers what was accepted, and returns.
///
/// Requests that lay unread in a socket when the order to stop came are still answered. After [`Limits::stop`] whatever
/// is left is cut off.
pub async fn serve<S, B>(
    listener: TcpListener,
    service: S,
    limits: Limits,
    log: AccessLog,
    stop: impl Future<Output = ()>,
) where
    S: Service<Request<TimedBody>, Response = Response<B>, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let mut stop = pin!(stop);
    let slots = Arc::new(Semaphore::new(limits.connections as usize));
    let (stopping, stopped) = watch::channel(None);
    let accept = || accept(&listener, &slots);
    let start = |(stream, slot)| {
        let (service, front, stopped) = (service.clone(), Front { log: log.clone(), limits }, stopped.clone());
        tokio::spawn(async move {
            connection(stream, service, front, stopped).await;
            drop(slot);
        });
    };
    loop {
        tokio::select! {
            biased;
            () = &mut stop => break,
            accepted = accept() => start(accepted),
        }
    }
    let now = Instant::now();
    stopping.send_replace(Some(now));
    while let Ok(accepted) = timeout_at(now + limits.stop_grace, accept()).await {
        start(accepted);
    }
    drop(listener);
    // Every connection holds a slot: when all slots are free again, all connections have ended.
    let _ = timeout(limits.stop, slots.acquire_many(limits.connections)).await;
}

/// The next connection, with the slot it occupies.
async fn accept(listener: &TcpListener, slots: &Arc<Semaphore>) -> (TcpStream, tokio::sync::OwnedSemaphorePermit) {
    loop {
        let Ok(slot) = Arc::clone(slots).acquire_owned().await else {
            // The semaphore is never closed; if it were, nothing more would be accepted.
            return std::future::pending().await;
        };
        match listener.accept().await {
            Ok((stream, _)) => return (stream, slot),
            Err(error) if is_about_one_connection(&error) => {}
            Err(error) => {
                tracing::warn!(%error, "accepting a connection failed");
                sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

/// Whether accepting failed because the client went away, which is no trouble of the server.
fn is_about_one_connection(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionRefused | io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset
    )
}

/// Serves one connection until it ends, breaks its limits, or the server stops.
async fn connection<S, B>(stream: TcpStream, service: S, front: Front, mut stopped: watch::Receiver<Option<Instant>>)
where
    S: Service<Request<TimedBody>, Response = Response<B>, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    // Without it small answers wait for the client's acknowledgement. A socket that refuses it works all the same.
    let _ = stream.set_nodelay(true);
    let watch = Watch::new(front.limits);
    let io = TokioIo::new(WatchedStream::new(stream, Arc::clone(&watch)));
    let (own_watch, own_front) = (Arc::clone(&watch), front.clone());
    let requests =
        service_fn(move |request| answer(request, service.clone(), Arc::clone(&own_watch), own_front.clone()));
    // The limits on heads and idle connections are kept here: hyper has only one limit for both.
    let mut driven = pin!(http1::Builder::new().header_read_timeout(None).serve_connection(io, requests));
    let mut stop_order = pin!(stopped.wait_for(Option::is_some));
    let mut stop_at = None;
    let mut last_request = false;
    let mut alarm = pin!(sleep_until(Instant::now() + front.limits.head));
    poll_fn(|cx| {
        if driven.as_mut().poll(cx).is_ready() {
            return Poll::Ready(());
        }
        if stop_at.is_none()
            && let Poll::Ready(order) = stop_order.as_mut().poll(cx)
        {
            // A server that is gone without an order has stopped, too.
            stop_at = Some(order.ok().and_then(|at| *at).unwrap_or_else(Instant::now));
        }
        if stop_at.is_some() && !last_request && watch.in_service() {
            last_request = true;
            driven.as_mut().graceful_shutdown();
        }
        let Some(deadline) = watch.deadline(stop_at) else { return Poll::Pending };
        if deadline < alarm.deadline() {
            alarm.as_mut().reset(deadline);
        }
        while alarm.as_mut().poll(cx).is_ready() {
            if deadline <= Instant::now() {
                return Poll::Ready(());
            }
            alarm.as_mut().reset(deadline);
        }
        Poll::Pending
    })
    .await;
}

/// Answers one request.
async fn answer<S, B>(
    request: Request<Incoming>,
    mut service: S,
    watch: Arc<Watch>,
    front: Front,
) -> Result<Response<B>, Infallible>
where
    S: Service<Request<TimedBody>, Response = Response<B>, Error = Infallible>,
{
    let deadline = watch.request_begins();
    let mut line = front.log.begin(&request);
    let request = request.map(|body| TimedBody::new(body, deadline, Arc::clone(&watch)));
    let Ok(()) = poll_fn(|cx| service.poll_ready(cx)).await;
    let Ok(mut response) = service.call(request).await;
    if watch.was_too_slow() || response.status() == StatusCode::PAYLOAD_TOO_LARGE {
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    watch.request_ends();
    line.end(response.status());
    Ok(response)
}
