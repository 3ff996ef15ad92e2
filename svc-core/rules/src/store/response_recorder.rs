//! Requests whose responses are stored, so that clients can repeat them.
//!
//! Requirements: IDM-01 to IDM-08.

use std::{fmt, sync::Arc};

use bytes::Bytes;

use super::{StoredResponse, WriteOutcome};
use crate::{
    error::Result,
    link::LinkValue,
    model::Kind,
    record::RawRecord,
    value::{Id, Timestamp},
};

/// Renders the response for an outcome.
type ResponseFn = Arc<dyn Fn(&WriteOutcome) -> Result<Bytes> + Send + Sync>;

/// The idempotency key of a request, and the function that renders its response.
///
/// The response is rendered in the transaction of the request and stored with its changes. A
/// repeated request gets the stored response and changes nothing.
#[derive(Clone)]
pub struct ResponseRecorder {
    key: Arc<str>,
    answer: ResponseFn,
}

impl ResponseRecorder {
    /// Creates a recorder from a key and the function that renders the response.
    pub fn new(
        key: Arc<str>,
        answer: impl Fn(&WriteOutcome) -> Result<Bytes> + Send + Sync + 'static,
    ) -> Self {
        Self {
            key,
            answer: Arc::new(answer),
        }
    }

    /// Returns the key of the stored response, at most 320 bytes. It is unique for each request and
    /// caller of a tenant.
    #[must_use]
    pub fn key(&self) -> &Arc<str> {
        &self.key
    }

    /// Renders the response for an outcome. `noted` contains the people recorded for tickets.
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
        let mut people: Vec<Id> = outcome.records().flat_map(people).chain(noted).collect();
        people.sort();
        people.dedup();
        Ok(StoredResponse::new(
            Arc::clone(&self.key),
            at,
            people,
            (self.answer)(outcome)?,
        ))
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
