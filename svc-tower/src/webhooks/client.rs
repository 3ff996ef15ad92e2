//! Sends one message: resolves the name, checks each address, and connects to a checked address.

use std::{
    net::SocketAddr,
    sync::{Arc, OnceLock},
    time::Duration,
};

use bytes::Bytes;
use http::{
    HeaderValue, Request,
    header::{CONNECTION, CONTENT_TYPE, HOST, RETRY_AFTER, USER_AGENT},
};
use http_body_util::{BodyExt, Full};
use hyper::{body::Incoming, client::conn::http1};
use hyper_util::rt::TokioIo;
use svc_core::{
    value::Timestamp,
    webhooks::{AttemptResult, Host, Receiver, ReceiverPolicy, parse_retry_after},
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
    time::timeout,
};
use tokio_rustls::{
    TlsConnector,
    rustls::{ClientConfig, RootCertStore, pki_types::ServerName},
};

use super::ResolveFn;

/// Maximum number of bytes that are read from a response. They are not used.
const MOST_READ: usize = 4 * 1_024;

/// A signed message.
pub(super) struct SignedMessage {
    pub(super) url: String,
    pub(super) id: String,
    pub(super) at: Timestamp,
    pub(super) signatures: String,
    pub(super) body: Vec<u8>,
}

/// The HTTP client for messages.
pub(super) struct WebhookClient {
    resolve: ResolveFn,
    reach: ReceiverPolicy,
    timeout: Duration,
    tls: OnceLock<Option<TlsConnector>>,
}

/// Reason why there is no response. The webhook shows it.
type NoResponseReason = &'static str;

impl WebhookClient {
    pub(super) fn new(resolve: ResolveFn, reach: ReceiverPolicy, timeout: Duration) -> Self {
        Self {
            resolve,
            reach,
            timeout,
            tls: OnceLock::new(),
        }
    }

    /// Sends a message and waits for the response.
    pub(super) async fn post(&self, letter: SignedMessage) -> AttemptResult {
        let at = letter.at;
        let sent = async {
            let receiver = Receiver::parse(&letter.url, self.reach)
                .map_err(|_| "messages are not sent to its URL")?;
            let stream = self.connect(&receiver).await?;
            let request = request(&receiver, letter).ok_or("messages are not sent to its URL")?;
            if !receiver.is_encrypted {
                return answer(stream, request, at).await;
            }
            let tls = self
                .tls()
                .ok_or("this server has no trusted certificates")?;
            let name = match &receiver.host {
                Host::Address(address) => ServerName::from(*address),
                Host::Name(name) => ServerName::try_from(name.clone()).map_err(|_| NO_TLS)?,
                _ => return Err(NO_TLS),
            };
            answer(
                tls.connect(name, stream).await.map_err(|_| NO_TLS)?,
                request,
                at,
            )
            .await
        };
        match timeout(self.timeout, sent).await {
            Ok(Ok(answered)) => answered,
            Ok(Err(why)) => AttemptResult::Failed(why),
            Err(_) => AttemptResult::Failed("the receiver did not respond in time"),
        }
    }

    /// Connects to an address that messages may be sent to. If one of several addresses is not
    /// allowed, none is used: the owner of the name controls all of them.
    async fn connect(&self, receiver: &Receiver) -> Result<TcpStream, NoResponseReason> {
        let found: Vec<SocketAddr> = match &receiver.host {
            Host::Address(address) => vec![SocketAddr::new(*address, receiver.port)],
            Host::Name(name) => (self.resolve)(name.clone(), receiver.port)
                .await
                .unwrap_or_default(),
            _ => Vec::new(),
        };
        if found.is_empty() {
            return Err("the name of the receiver has no address");
        }
        if !found.iter().all(|address| self.reach.allows(address.ip())) {
            return Err(
                "the name of the receiver resolves to this server's own machine or network",
            );
        }
        for address in found {
            if let Ok(stream) = TcpStream::connect(address).await {
                // The connection also works if the socket rejects the option.
                _ = stream.set_nodelay(true);
                return Ok(stream);
            }
        }
        Err("the receiver cannot be reached")
    }

    fn tls(&self) -> Option<&TlsConnector> {
        self.tls
            .get_or_init(|| {
                let mut roots = RootCertStore::empty();
                roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
                let config = ClientConfig::builder()
                    .with_root_certificates(roots)
                    .with_no_client_auth();
                Some(TlsConnector::from(Arc::new(config)))
            })
            .as_ref()
    }
}

const NO_TLS: NoResponseReason = "there is no trusted TLS connection to the receiver";
const NO_HTTP: NoResponseReason = "the response of the receiver is not HTTP";

fn request(receiver: &Receiver, letter: SignedMessage) -> Option<Request<Full<Bytes>>> {
    Request::post(receiver.path.as_str())
        .header(HOST, receiver.authority.as_str())
        .header(CONTENT_TYPE, "application/json")
        .header(USER_AGENT, "svc-webhooks")
        .header(CONNECTION, "close")
        .header("webhook-id", letter.id)
        .header(
            "webhook-timestamp",
            letter.at.as_micros().div_euclid(1_000_000),
        )
        .header(
            "webhook-signature",
            HeaderValue::try_from(letter.signatures).ok()?,
        )
        .body(Full::from(letter.body))
        .ok()
}

/// Sends a request over a connection and reads the relevant part of the response. Redirects are not
/// followed.
async fn answer<S>(
    stream: S,
    request: Request<Full<Bytes>>,
    at: Timestamp,
) -> Result<AttemptResult, NoResponseReason>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream))
        .await
        .map_err(|_| NO_HTTP)?;
    let exchange = async {
        let response = sender.send_request(request).await.map_err(|_| NO_HTTP)?;
        let header = response
            .headers()
            .get(RETRY_AFTER)
            .and_then(|value| value.to_str().ok());
        let retry_after = header.and_then(|header| parse_retry_after(header, at));
        let answered = AttemptResult::Responded {
            status: response.status().as_u16(),
            retry_after,
        };
        read_some(response.into_body()).await;
        Ok(answered)
    };
    // The connection ends with the exchange; further input is ignored.
    tokio::select! {
        answered = exchange => answered,
        ended = async { _ = connection.await; std::future::pending().await } => ended,
    }
}

/// Reads the start of a body, so that the receiver can finish sending a short one.
async fn read_some(mut body: Incoming) {
    let mut read = 0_usize;
    while let Some(Ok(frame)) = body.frame().await {
        read = read.saturating_add(frame.data_ref().map_or(0, Bytes::len));
        if read >= MOST_READ {
            break;
        }
    }
}
