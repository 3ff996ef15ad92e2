//! The orders to stop: SIGINT (Ctrl-C) and SIGTERM.

use std::io;

/// Receives the orders to stop: SIGINT (Ctrl-C) and SIGTERM; on Windows Ctrl-C.
///
/// As soon as one value of this type exists, such a signal no longer ends the process by itself.
#[derive(Debug)]
pub struct ShutdownSignal(Orders);

impl ShutdownSignal {
    /// Starts to receive signals.
    ///
    /// # Errors
    ///
    /// Returns an error if the process cannot handle signals.
    pub fn install() -> io::Result<Self> {
        Orders::new().map(Self)
    }

    /// Waits for the next order to stop.
    pub async fn recv(&mut self) {
        self.0.next().await;
    }
}

#[cfg(unix)]
#[derive(Debug)]
struct Orders {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Orders {
    fn new() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    async fn next(&mut self) {
        std::future::poll_fn(|cx| {
            let has_come =
                self.interrupt.poll_recv(cx).is_ready() || self.terminate.poll_recv(cx).is_ready();
            if has_come {
                std::task::Poll::Ready(())
            } else {
                std::task::Poll::Pending
            }
        })
        .await;
    }
}

#[cfg(not(unix))]
#[derive(Debug)]
struct Orders;

#[cfg(not(unix))]
impl Orders {
    fn new() -> io::Result<Self> {
        Ok(Self)
    }

    async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
