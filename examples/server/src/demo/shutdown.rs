//! The orders to stop: SIGINT (Ctrl-C) and SIGTERM.

use std::io;

use svc_tower::server::ShutdownSignal;
use tokio::sync::watch;

/// The order to stop. Clones share it.
#[derive(Debug, Clone)]
pub(super) struct ShutdownFlag {
    given: watch::Receiver<bool>,
}

impl ShutdownFlag {
    /// Starts to receive signals.
    pub(super) fn listen() -> io::Result<Self> {
        let (give, given) = watch::channel(false);
        let mut orders = ShutdownSignal::install()?;
        tokio::spawn(async move {
            orders.recv().await;
            give.send_replace(true);
            // After a second order, the server does not wait for running requests.
            orders.recv().await;
            std::process::exit(130);
        });
        Ok(Self { given })
    }

    /// Waits for the order.
    pub(super) async fn wait(mut self) {
        // Without the task that receives signals, there is no order to wait for.
        if self.given.wait_for(|given| *given).await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// Returns whether the order has arrived.
    pub(super) fn is_given(&self) -> bool {
        *self.given.borrow()
    }
}
