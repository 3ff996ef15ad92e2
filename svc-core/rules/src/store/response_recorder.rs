//! Requests whose responses are stored, so that clients can repeat them.
//!
//! Requirements: IDM-01 to IDM-08.

use std::{fmt, sync::Arc};

use bytes::Bytes;

use super::{FailedParts, StoredResponse, WriteOutcome};
use crate::{
    error::Result,
    link::LinkValue,
    model::Kind,
    record::RawRecord,
    value::{Id, Timestamp},
};

/// Renders the response for an outcome and its failed parts.
type ResponseFn = Arc<dyn Fn(&WriteOutcome, Option<&FailedParts>) -> Result<Bytes> + Send + Sync>;

/// Reads the failed parts from a stored response.
type FailedPartsFn = Arc<dyn Fn(&Bytes) -> Option<FailedParts> + Send + Sync>;

/// The idempotency key of a request, and the function that renders its response.
///
/// The response is rendered in the transaction of the request and stored with its changes. A
/// repeated request gets the stored response and changes nothing. If parts of the request failed, and
/// one of them succeeds now, the failed parts are executed, and the new response is stored.
#[derive(Clone)]
pub struct ResponseRecorder {
    key: Arc<str>,
    answer: ResponseFn,
    failed_parts: Option<FailedPartsFn>,
}

impl ResponseRecorder {
    /// Creates a recorder from a key and the function that renders the response. The function also
    /// gets the failed parts of the request, which it can store in the response: see
    /// [`resuming`](Self::resuming).
    pub fn new(
        key: Arc<str>,
        answer: impl Fn(&WriteOutcome, Option<&FailedParts>) -> Result<Bytes> + Send + Sync + 'static,
    ) -> Self {
        Self {
            key,
            answer: Arc::new(answer),
            failed_parts: None,
        }
    }

    /// Sets the function that reads the [`FailedParts`] of this request from its stored response.
    /// It returns `None` if nothing is to be executed again, for example if the response belongs to
    /// a different request.
    #[must_use]
    pub fn resuming(
        self,
        failed_parts: impl Fn(&Bytes) -> Option<FailedParts> + Send + Sync + 'static,
    ) -> Self {
        Self {
            failed_parts: Some(Arc::new(failed_parts)),
            ..self
        }
    }

    /// Returns the parts of the request that failed, according to its stored response.
    #[must_use]
    pub fn failed_parts(&self, stored: &Bytes) -> Option<FailedParts> {
        self.failed_parts.as_ref().and_then(|read| read(stored))
    }

    /// Returns the key of the stored response, at most 320 bytes. It is unique for each request and
    /// caller of a tenant.
    #[must_use]
    pub fn key(&self) -> &Arc<str> {
        &self.key
    }

    /// Renders the response for an outcome. `noted` contains the people recorded for tickets, also
    /// by an earlier execution of the request.
    ///
    /// # Errors
    ///
    /// Returns an error if the response cannot be rendered.
    pub fn of(
        &self,
        at: Timestamp,
        outcome: &WriteOutcome,
        noted: impl Iterator<Item = Id>,
    ) -> Result<StoredResponse> {
        let named = outcome.records().flat_map(people);
        let mut people: Vec<Id> = named.chain(noted).collect();
        people.sort();
        people.dedup();
        let failed = FailedParts::from_outcome(outcome.without_warnings(), &people);
        let body = (self.answer)(outcome, failed.as_ref())?;
        Ok(StoredResponse::new(Arc::clone(&self.key), at, people, body))
    }
}

impl fmt::Debug for ResponseRecorder {
    /// Omits the key, because it belongs to the client.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseRecorder").finish_non_exhaustive()
    }
}

/// Returns the people that a record is or names.
fn people(record: &RawRecord) -> impl Iterator<Item = Id> + '_ {
    let own = (record.kind() == Kind::Person).then(|| record.meta().id.clone());
    let named = record.links().iter().filter_map(|(_, to)| match to {
        LinkValue::Local(address) if address.kind == Kind::Person => Some(address.id.clone()),
        _ => None,
    });
    own.into_iter().chain(named)
}
