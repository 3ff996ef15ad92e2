//! The recorder: stores every exchange of a run. Keys are removed before anything is stored.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use serde::{Deserialize, Serialize};

use crate::target::TargetError;

/// The maximum size of a recorded body, in bytes.
const KEPT: usize = 64 * 1024;

/// A request with its response, without keys.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Exchange {
    /// Its position in the run, counted from 1.
    pub number: usize,
    /// The check that sent it.
    pub check: String,
    /// The method of the request.
    pub method: String,
    /// The absolute URL of the request.
    pub url: String,
    /// The headers of the request. Keys are replaced.
    pub headers: Vec<(String, String)>,
    /// The body of the request.
    pub body: String,
    /// The response, or why there is none. In JSON, an object or a string.
    #[serde(rename = "answer", with = "either")]
    pub response: Result<RecordedResponse, String>,
    /// The response time in microseconds.
    pub micros: u64,
}

/// The response of a recorded exchange.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RecordedResponse {
    /// The status code.
    pub status: u16,
    /// The headers. Keys are replaced.
    pub headers: Vec<(String, String)>,
    /// The body, truncated at 64 KiB.
    pub body: String,
}

impl Exchange {
    /// Returns the method, URL and body of the request on one line.
    #[must_use]
    pub fn line(&self) -> String {
        let mut line = format!("{} {}", self.method, self.url);
        if !self.body.is_empty() {
            let _ = write!(line, " {}", self.body.chars().take(400).collect::<String>());
        }
        line
    }
}

/// A response as JSON: an object, or a string with the reason why there is none.
mod either {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::RecordedResponse;

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum ResponseOrError {
        Answer(RecordedResponse),
        None(String),
    }

    pub(super) fn serialize<S: Serializer>(
        answer: &Result<RecordedResponse, String>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        match answer {
            Ok(answer) => answer.serialize(to),
            Err(reason) => reason.serialize(to),
        }
    }

    pub(super) fn deserialize<'d, D: Deserializer<'d>>(
        from: D,
    ) -> Result<Result<RecordedResponse, String>, D::Error> {
        Ok(match ResponseOrError::deserialize(from)? {
            ResponseOrError::Answer(answer) => Ok(answer),
            ResponseOrError::None(reason) => Err(reason),
        })
    }
}

/// Stores requests and responses.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    secrets: Vec<(String, String)>,
    kept: Mutex<RecordedExchanges>,
}

#[derive(Debug, Default)]
struct RecordedExchanges {
    count: usize,
    /// The exchanges that are still needed, by number.
    exchanges: HashMap<usize, Arc<Exchange>>,
    /// A running digest of all requests, to compare two runs.
    digest: u64,
}

impl Recorder {
    /// Creates a recorder that replaces each secret by its name.
    pub(crate) fn new(secrets: Vec<(String, String)>) -> Self {
        let mut secrets: Vec<_> = secrets
            .into_iter()
            .filter(|(secret, _)| !secret.is_empty())
            .collect();
        // A key that starts with another key must be replaced first.
        secrets.sort_by_key(|(secret, _)| std::cmp::Reverse(secret.len()));
        Self {
            secrets,
            kept: Mutex::default(),
        }
    }

    /// Returns the number of requests sent.
    pub(crate) fn count(&self) -> usize {
        self.lock().count
    }

    /// Returns a digest of all requests in their order.
    pub(crate) fn digest(&self) -> u64 {
        self.lock().digest
    }

    pub(crate) fn record(
        &self,
        check: &str,
        request: &Request<Bytes>,
        answer: &Result<Response<Bytes>, TargetError>,
        took: Duration,
    ) -> Arc<Exchange> {
        let headers = |map: &http::HeaderMap| {
            let text =
                |value: &http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
            map.iter()
                .map(|(name, value)| (name.as_str().to_owned(), self.redacted(&text(value))))
                .collect()
        };
        let answer = match answer {
            Ok(response) => Ok(RecordedResponse {
                status: response.status().as_u16(),
                headers: headers(response.headers()),
                body: self.body(response.body()),
            }),
            Err(error) => Err(self.redacted(&error.to_string())),
        };
        let mut kept = self.lock();
        kept.count = kept.count.saturating_add(1);
        let exchange = Arc::new(Exchange {
            number: kept.count,
            check: check.to_owned(),
            method: request.method().to_string(),
            url: self.redacted(&request.uri().to_string()),
            headers: headers(request.headers()),
            body: self.body(request.body()),
            response: answer,
            micros: u64::try_from(took.as_micros()).unwrap_or(u64::MAX),
        });
        let whole = format!(
            "{} {} {:?} ",
            exchange.method, exchange.url, exchange.headers
        );
        let fold =
            |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        kept.digest = whole
            .bytes()
            .chain(request.body().iter().copied())
            .fold(kept.digest ^ 0xcbf2_9ce4, fold);
        kept.exchanges
            .insert(exchange.number, Arc::clone(&exchange));
        exchange
    }

    /// Returns the stored exchanges in a range of numbers, both included.
    pub(crate) fn between(&self, from: usize, to: usize) -> Vec<Arc<Exchange>> {
        let kept = self.lock();
        (from..=to)
            .filter_map(|number| kept.exchanges.get(&number).cloned())
            .collect()
    }

    /// Removes exchanges that no report will show.
    pub(crate) fn forget(&self, from: usize, to: usize) {
        let mut kept = self.lock();
        for number in from..=to {
            kept.exchanges.remove(&number);
        }
    }

    /// Returns a body as it is stored. Keys are replaced in the whole body before it is truncated,
    /// so no part of a key is left at the end.
    fn body(&self, body: &[u8]) -> String {
        let mut text = self.redacted(&String::from_utf8_lossy(body));
        if text.len() > KEPT {
            let end = (0..=KEPT).rev().find(|at| text.is_char_boundary(*at));
            text.truncate(end.unwrap_or_default());
        }
        text
    }

    /// Returns the text with every key replaced by its name.
    pub(crate) fn redacted(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (secret, name) in &self.secrets {
            if text.contains(secret.as_str()) {
                text = text.replace(secret.as_str(), name);
            }
        }
        text
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, RecordedExchanges> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use bytes::Bytes;
    use http::{Request, Response};

    use super::{KEPT, Recorder};

    const KEY: &str = "k-0123456789-abcdefghij";

    fn kept(recorder: &Recorder, sent: &str, answered: &str) -> (String, String) {
        let request = Request::new(Bytes::from(sent.to_owned()));
        let answer = Ok(Response::new(Bytes::from(answered.to_owned())));
        let exchange = recorder.record("a/check", &request, &answer, Duration::ZERO);
        (
            exchange.body.clone(),
            exchange.response.as_ref().expect("a response").body.clone(),
        )
    }

    /// Wherever a recorded body ends, no start of a key is left, and it has at most 64 KiB.
    #[test]
    fn a_key_across_the_end_of_what_is_kept_leaves_nothing_of_it() {
        let recorder = Recorder::new(vec![(KEY.to_owned(), "<key>".to_owned())]);
        for before in KEPT - KEY.len() - 2..KEPT + KEY.len() {
            // The replacement of an earlier key moves the rest forward. The end of the body must
            // not be a part of a key then either.
            for first in ["", KEY] {
                let body = format!("{first}{}{KEY}{}", "x".repeat(before), "y".repeat(99));
                let (sent, answered) = kept(&recorder, &body, &body);
                let whole = body.replace(KEY, "<key>");
                assert_eq!(sent.as_str(), &whole[..KEPT], "{before}");
                assert_eq!(sent, answered);
            }
        }
    }

    /// A body that is truncated within a character, or that is not text, is stored as far as it is
    /// valid.
    #[test]
    fn a_body_is_cut_between_characters() {
        let recorder = Recorder::new(Vec::new());
        let (sent, answered) = kept(&recorder, &format!("x{}", "é".repeat(KEPT)), "short");
        assert_eq!((sent.len(), answered.as_str()), (KEPT - 1, "short"));
    }
}
