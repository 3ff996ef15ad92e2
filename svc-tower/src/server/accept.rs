//! Taking connections, so many at a time.

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use tokio::{
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
    time::sleep,
};

/// For how long the server does not accept after accepting failed, for example for want of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// A connection.
#[derive(Debug)]
pub(super) struct Accepted {
    pub(super) stream: TcpStream,
    pub(super) peer: SocketAddr,
    /// The place among all connections that it holds.
    pub(super) slot: OwnedSemaphorePermit,
}

/// The next connection, once there is a slot for it.
pub(super) async fn accept(listener: &TcpListener, slots: &Arc<Semaphore>) -> Accepted {
    let Ok(slot) = Arc::clone(slots).acquire_owned().await else {
        // The semaphore is never closed; if it were, nothing more would be accepted.
        return std::future::pending().await;
    };
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => return Accepted { stream, peer, slot },
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
