//! Serves one connection: its requests, its limits and its end.

use std::{
    convert::Infallible,
    future::{Future, poll_fn},
    net::SocketAddr,
    pin::pin,
    sync::Arc,
    task::Poll,
};

use http::{HeaderValue, Request, Response, StatusCode, header::CONNECTION};
use http_body::Body;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::{
    sync::watch::Receiver,
    time::{Instant, sleep_until},
};
use tower_service::Service;

use super::{
    accept::AcceptedConnection,
    body::RequestBody,
    limits::{ServerLimits, later},
    monitor::ConnectionMonitor,
    monitored_stream::MonitoredStream,
    tracked_body::TrackedBody,
};
use crate::{
    body::{BodyProgress, BoxError},
    forwarded::PeerAddr,
};

/// Serves one connection until it ends, exceeds its limits, or the server stops.
pub(super) async fn serve<S, B>(
    accepted: AcceptedConnection,
    service: S,
    limits: ServerLimits,
    mut stopped: Receiver<Option<Instant>>,
) where
    S: Service<Request<RequestBody>, Response = Response<B>, Error = Infallible>
        + Clone
        + Send
        + 'static,
    S::Future: Send,
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<BoxError>,
{
    let AcceptedConnection {
        stream,
        peer,
        watch,
        slot,
    } = accepted;
    // Without it, small responses wait for an acknowledgement of the client. The connection also
    // works if the socket rejects the option.
    let _ = stream.set_nodelay(true);
    let io = TokioIo::new(MonitoredStream::new(stream, slot, Arc::clone(&watch)));
    let own_watch = Arc::clone(&watch);
    let requests =
        service_fn(move |request| answer(request, peer, service.clone(), Arc::clone(&own_watch)));
    // This code enforces the limits on heads and idle connections, because hyper has only one limit
    // for both.
    let mut server = http1::Builder::new();
    server
        .header_read_timeout(None)
        .max_buf_size(limits.head_room());
    let mut driven = pin!(server.serve_connection(io, requests).with_upgrades());
    let mut stop_order = pin!(stopped.wait_for(Option::is_some));
    let mut stop_at = None;
    let mut last_request = false;
    let mut alarm = pin!(sleep_until(later(Instant::now(), limits.header_timeout)));
    let mut closing = pin!(watch.closing());
    let mut is_ordered_to_close = false;
    poll_fn(|cx| {
        // Checked before reading, because a request that was read gets a response.
        is_ordered_to_close = is_ordered_to_close || closing.as_mut().poll(cx).is_ready();
        if is_ordered_to_close && watch.closes_now() {
            return Poll::Ready(());
        }
        if driven.as_mut().poll(cx).is_ready() {
            watch.upgrades();
            return Poll::Ready(());
        }
        if stop_at.is_none()
            && let Poll::Ready(order) = stop_order.as_mut().poll(cx)
        {
            // If the server was dropped without an order to stop, it has also stopped.
            stop_at = Some(order.ok().and_then(|at| *at).unwrap_or_else(Instant::now));
        }
        if stop_at.is_some() && !last_request && watch.in_service() {
            last_request = true;
            driven.as_mut().graceful_shutdown();
        }
        let Some(deadline) = watch.deadline(stop_at) else {
            return Poll::Pending;
        };
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

/// Executes one request.
async fn answer<S, B>(
    mut request: Request<Incoming>,
    peer: SocketAddr,
    mut service: S,
    watch: Arc<ConnectionMonitor>,
) -> Result<Response<TrackedBody<B>>, Infallible>
where
    S: Service<Request<RequestBody>, Response = Response<B>, Error = Infallible>,
{
    let deadline = watch.request_begins();
    let extensions = request.extensions_mut();
    extensions.insert(PeerAddr(peer.ip()));
    extensions.insert(peer);
    let streamed = BodyProgress::default();
    extensions.insert(streamed.clone());
    let request =
        request.map(|body| RequestBody::new(body, deadline, streamed, Arc::clone(&watch)));
    let Ok(()) = poll_fn(|cx| service.poll_ready(cx)).await;
    let Ok(mut response) = service.call(request).await;
    if watch.was_too_slow()
        || watch.is_closing()
        || response.status() == StatusCode::PAYLOAD_TOO_LARGE
    {
        response
            .headers_mut()
            .insert(CONNECTION, HeaderValue::from_static("close"));
    }
    Ok(response.map(|body| TrackedBody::new(body, watch)))
}
