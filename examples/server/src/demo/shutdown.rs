//! The orders to stop: SIGINT (Ctrl-C) and SIGTERM.

use std::io;

use svc_tower::server::ShutdownSignal;
use tokio::sync::watch;

/// Whether the order to stop has come. Clones are the same order.
#[derive(Debug, Clone)]
pub(super) struct ShutdownFlag {
    given: watch::Receiver<bool>,
}

impl ShutdownFlag {
    /// Listens from now on.
    pub(super) fn listen() -> io::Result<Self> {
        let (give, given) = watch::channel(false);
        let mut orders = ShutdownSignal::install()?;
        tokio::spawn(async move {
            orders.recv().await;
            give.send_replace(true);
            // A second order does not wait for those who are still answered.
            orders.recv().await;
            std::process::exit(130);
        });
        Ok(Self { given })
    }

    /// Waits for the order.
    pub(super) async fn wait(mut self) {
        // Without a listener there is no order to wait for.
        if self.given.wait_for(|given| *given).await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// Whether it has come.
    pub(super) fn is_given(&self) -> bool {
        *self.given.borrow()
    }
}
