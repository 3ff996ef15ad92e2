//! A target between the suite and a server, which intercepts some of the requests.

use std::{fmt, ops::ControlFlow, sync::Mutex, time::Duration};

use async_trait::async_trait;
use bytes::Bytes;
use http::{Request, Response};
use svc_conformance::{Target, TargetError};

/// What happens to a request: it is sent with this timeout, or it gets this result instead.
pub(crate) type Fate = ControlFlow<Result<Response<Bytes>, TargetError>, Duration>;

/// Decides what happens to each request, given the timeout that the suite sets.
type Decide = Box<dyn FnMut(&Request<Bytes>, Duration) -> Fate + Send>;

/// A server that receives only some of the requests.
pub(crate) struct Between {
    server: Box<dyn Target>,
    decide: Mutex<Decide>,
}

impl Between {
    pub(crate) fn new(
        server: impl Target + 'static,
        decide: impl FnMut(&Request<Bytes>, Duration) -> Fate + Send + 'static,
    ) -> Self {
        Self {
            server: Box::new(server),
            decide: Mutex::new(Box::new(decide)),
        }
    }
}

impl fmt::Debug for Between {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Between")
    }
}

#[async_trait]
impl Target for Between {
    fn base(&self) -> &str {
        self.server.base()
    }

    fn is_local(&self) -> bool {
        self.server.is_local()
    }

    async fn send(
        &self,
        request: Request<Bytes>,
        limit: usize,
        timeout: Duration,
    ) -> Result<Response<Bytes>, TargetError> {
        let fate = (self.decide.lock().expect("a decision"))(&request, timeout);
        match fate {
            ControlFlow::Continue(timeout) => self.server.send(request, limit, timeout).await,
            ControlFlow::Break(result) => result,
        }
    }

    async fn wait(&self, duration: Duration) {
        self.server.wait(duration).await;
    }
}
