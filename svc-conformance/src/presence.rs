//! Whether a target that left a request without an answer is there at all: one that was stopped is not at fault.

use std::time::Duration;

use bytes::Bytes;
use http::Request;
use http::header::{HeaderName, HeaderValue};

use crate::recorder::Exchange;
use crate::run::Run;
use crate::target::TargetError;

/// Why a check ends whose target is gone.
pub(crate) const GONE: &str = "the server does not answer any more";

/// Seconds before each look at the entry point: a server that is started again needs some.
const LOOKS: [u64; 5] = [0, 1, 2, 4, 8];

impl Run {
    /// Whether the target has gone: after a request without an answer, its entry point gives none either, with and without the
    /// key. The run ends then.
    pub(crate) async fn is_gone(&self, check: &str, exchange: &Exchange, error: &TargetError) -> bool {
        if self.gone.get().is_some() {
            return true;
        }
        for wait in LOOKS.map(Duration::from_secs) {
            self.charge_nobody(wait.saturating_add(self.settings.timeout).saturating_add(self.settings.timeout));
            if !wait.is_zero() {
                self.target.wait(wait).await;
            }
            if self.answers(None).await || self.answers(self.keys.primary.as_deref()).await {
                return false;
            }
        }
        let (number, method, url) = (exchange.number, &exchange.method, &exchange.url);
        let _ = self.gone.set(format!(
            "the server does not answer any more since request {number}, of the check {check}: {method} {url}: {error}. Nothing is judged: \
             start the server and run again; if nobody stopped it, look in its log at that request"
        ));
        true
    }

    /// Whether the entry point answers anything.
    async fn answers(&self, key: Option<&str>) -> bool {
        let Ok(mut request) = Request::get(self.target.base()).body(Bytes::new()) else { return false };
        if let Some(key) = key {
            let name = HeaderName::from_bytes(self.declared.text.dialect.key_header.as_bytes());
            let (Ok(name), Ok(key)) = (name, HeaderValue::from_str(key)) else { return false };
            request.headers_mut().insert(name, key);
        }
        let answer = self.target.send(request, self.settings.body_limit, self.settings.timeout).await;
        matches!(answer, Ok(_) | Err(TargetError::TooLarge(_)))
    }
}
