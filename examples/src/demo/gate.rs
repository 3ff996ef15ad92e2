//! Holds requests back while the data of a new file loads.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::timeout;

/// For how long a request waits for the data before it is told to come again.
const PATIENCE: Duration = Duration::from_secs(10);

/// What a request passes before it reaches the service. Clones are the same gate.
#[derive(Debug, Clone)]
pub struct Gate {
    opened: watch::Receiver<bool>,
}

/// Opens a [`Gate`].
#[derive(Debug, Clone)]
pub struct Opener {
    open: Arc<watch::Sender<bool>>,
}

impl Gate {
    /// A gate that is closed until its opener opens it.
    #[must_use]
    pub fn closed() -> (Self, Opener) {
        let (open, opened) = watch::channel(false);
        (Self { opened }, Opener { open: Arc::new(open) })
    }

    /// A gate that is open.
    #[must_use]
    pub fn open() -> Self {
        let (_, opened) = watch::channel(true);
        Self { opened }
    }

    /// Waits until the gate is open; `false` when that takes too long.
    pub(super) async fn pass(&self) -> bool {
        if *self.opened.borrow() {
            return true;
        }
        let mut opened = self.opened.clone();
        timeout(PATIENCE, opened.wait_for(|open| *open)).await.is_ok_and(|opened| opened.is_ok())
    }
}

impl Opener {
    /// Lets all requests through from now on.
    pub fn open(&self) {
        self.open.send_replace(true);
    }
}
