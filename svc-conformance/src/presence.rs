//! Detects whether a target was stopped during the run. No failure is then reported.

use std::time::Duration;

use bytes::Bytes;
use http::header::{HeaderName, HeaderValue};
use http::{Request, StatusCode};

use crate::recorder::Exchange;
use crate::run_context::RunContext;
use crate::target::TargetError;
use crate::values::display_text;

/// The reason of a check that ends because the target was stopped.
pub(crate) const GONE: &str = "the server no longer responds";

/// The seconds to wait before each request to the entry point. A restarting server needs this time.
const PAUSES: [u64; 5] = [0, 1, 2, 4, 8];

/// Whether a gateway responds with this status if its upstream server was stopped.
pub(crate) const fn is_of_gateway(status: StatusCode) -> bool {
    matches!(
        status,
        StatusCode::BAD_GATEWAY | StatusCode::SERVICE_UNAVAILABLE | StatusCode::GATEWAY_TIMEOUT
    )
}

/// What the entry point does with one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Presence {
    Answers,
    Fails,
    TimesOut,
}

impl RunContext {
    /// Whether the target was stopped: after a request that failed for `why`, the entry point does
    /// not respond either, with and without the key. The run then ends.
    pub(crate) async fn is_gone(&self, check: &str, exchange: &Exchange, why: &str) -> bool {
        if self.gone.get().is_some() {
            return true;
        }
        for pause in PAUSES.map(Duration::from_secs) {
            if !pause.is_zero() {
                // The maximum time of the requests below, plus the pauses.
                let most = self
                    .settings
                    .timeout
                    .saturating_mul(2)
                    .saturating_add(pause);
                self.exclude(most);
                self.target.wait(pause).await;
            }
            let mut found = self.presence(None).await;
            if let (Some(key), true) = (&self.keys.primary, found != Presence::Answers) {
                found = self.presence(Some(key)).await;
            }
            match found {
                Presence::Answers => return false,
                Presence::Fails => {}
                // A target that hangs for so long will not respond soon.
                Presence::TimesOut => break,
            }
        }
        let (number, method, url) = (
            exchange.number,
            &exchange.method,
            display_text(&exchange.url, 300),
        );
        let _ = self.gone.set(format!(
            "the server stopped responding at request {number} ({method} {url}, check {check}: \
             {why}), and its entry point no longer responds. Nothing is judged. Start the server \
             and run again. If it was not stopped on purpose, look for that request in its log"
        ));
        true
    }

    async fn presence(&self, key: Option<&str>) -> Presence {
        let Ok(mut request) = Request::get(self.target.base()).body(Bytes::new()) else {
            return Presence::Fails;
        };
        if let Some(key) = key {
            let name = HeaderName::from_bytes(self.declared.text.dialect.key_header.as_bytes());
            let (Ok(name), Ok(key)) = (name, HeaderValue::from_str(key)) else {
                return Presence::Fails;
            };
            request.headers_mut().insert(name, key);
        }
        match self
            .target
            .send(request, self.settings.body_limit, self.settings.timeout)
            .await
        {
            Ok(answer) if is_of_gateway(answer.status()) => Presence::Fails,
            Ok(_) | Err(TargetError::TooLarge(_)) => Presence::Answers,
            Err(TargetError::TimedOut(_)) => Presence::TimesOut,
            Err(_) => Presence::Fails,
        }
    }
}
