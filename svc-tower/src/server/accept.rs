//! Accepting connections.

use std::{
    io::{self, Write},
    net::SocketAddr,
    sync::Arc,
    time::Duration,
};

use tokio::{
    net::{TcpListener, TcpStream},
    time::sleep,
};

use super::{
    monitor::ConnectionMonitor,
    slots::{Admission, ConnectionSlot, ConnectionSlots},
};

/// Pause after accepting a connection has failed, for example because no file descriptor is free.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// The response to a client whose address has too many connections. Its request is not read.
const REFUSAL: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";

/// A connection that has a slot.
#[derive(Debug)]
pub(super) struct AcceptedConnection {
    pub(super) stream: TcpStream,
    pub(super) peer: SocketAddr,
    pub(super) watch: Arc<ConnectionMonitor>,
    pub(super) slot: ConnectionSlot,
}

/// A listener and the slots of its connections.
#[derive(Debug)]
pub(super) struct Acceptor {
    listener: TcpListener,
    slots: Arc<ConnectionSlots>,
    /// A connection that waits for a slot.
    waiting: Option<(TcpStream, SocketAddr)>,
    has_warned_of_refusal: bool,
}

impl Acceptor {
    pub(super) fn new(listener: TcpListener, slots: Arc<ConnectionSlots>) -> Self {
        Self {
            listener,
            slots,
            waiting: None,
            has_warned_of_refusal: false,
        }
    }

    /// Returns the next connection that has a slot. Dropping the future loses no connection.
    pub(super) async fn next(&mut self) -> AcceptedConnection {
        loop {
            let (stream, peer) = match self.waiting.take() {
                Some(waiting) => waiting,
                None => accept(&self.listener).await,
            };
            match self.slots.admit(peer.ip()) {
                Admission::Admitted(watch, slot) => {
                    return AcceptedConnection {
                        stream,
                        peer,
                        watch,
                        slot,
                    };
                }
                Admission::Full => {
                    self.waiting = Some((stream, peer));
                    self.slots.changed().await;
                }
                Admission::Refused => {
                    // An unregistered proxy looks like one client. Only the first rejection is
                    // logged, because clients decide how many follow.
                    if !std::mem::replace(&mut self.has_warned_of_refusal, true) {
                        tracing::warn!(
                            "a peer address has reached the limit of its connections; if it is a proxy, add it to the trusted proxies"
                        );
                    }
                    // The buffer of a new socket has room for it, so this does not wait.
                    let _ = stream
                        .into_std()
                        .and_then(|mut stream| stream.write_all(REFUSAL));
                }
            }
        }
    }
}

/// Accepts the next connection.
async fn accept(listener: &TcpListener) -> (TcpStream, SocketAddr) {
    loop {
        match listener.accept().await {
            Ok(accepted) => return accepted,
            Err(error) if is_about_one_connection(&error) => {}
            Err(error) => {
                tracing::warn!(%error, "accepting a connection failed");
                sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

/// Returns whether accepting failed because the client disconnected, which is not a failure of the
/// server.
fn is_about_one_connection(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionRefused
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::ServerLimits;

    /// UND-44: a stop drops the future that waits for a slot, and the connection is still available
    /// afterwards.
    #[tokio::test]
    async fn und_44_a_connection_that_waits_for_a_slot_is_not_lost() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let mut acceptor = Acceptor::new(
            listener,
            ConnectionSlots::new(ServerLimits::default().max_connections(1), Vec::new()),
        );
        let _one = TcpStream::connect(address).await.unwrap();
        let first = acceptor.next().await;
        let two = TcpStream::connect(address).await.unwrap();
        // At any point of its execution.
        assert!(
            tokio::time::timeout(Duration::from_millis(20), acceptor.next())
                .await
                .is_err()
        );
        drop(first);
        assert_eq!(acceptor.next().await.peer, two.local_addr().unwrap());
    }
}
