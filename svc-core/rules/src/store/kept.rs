//! Calls whose answers are kept, so that they may come again.
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

/// What makes an answer of what a call comes to.
type ResponseFn = Arc<dyn Fn(&WriteOutcome) -> Result<Bytes> + Send + Sync>;

/// The key of a call that may come again, and how its answer is made of what it comes to.
///
/// The answer is made in the turn of the call and stored with what the call changes: whoever sends
/// the call again, because the first answer was lost, is given it and changes nothing.
#[derive(Clone)]
pub struct ResponseRecorder {
    key: Arc<str>,
    answer: ResponseFn,
}

impl ResponseRecorder {
    /// A key, and the function that renders the response of a call.
    pub fn new(
        key: Arc<str>,
        answer: impl Fn(&WriteOutcome) -> Result<Bytes> + Send + Sync + 'static,
    ) -> Self {
        Self {
            key,
            answer: Arc::new(answer),
        }
    }

    /// What the answer is kept under: at most 320 bytes; those of one tenant tell its calls and
    /// their callers apart.
    #[must_use]
    pub fn key(&self) -> &Arc<str> {
        &self.key
    }

    /// What is kept of a call that came to this, at this moment, and noted these people in tickets.
    ///
    /// # Errors
    ///
    /// The response cannot be rendered.
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
    /// Without the key: it is the client's.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keep").finish_non_exhaustive()
    }
}

/// Who a record is, or names.
fn people(record: &RawRecord) -> impl Iterator<Item = Id> + '_ {
    let own = (record.kind() == Kind::Person).then(|| record.meta().id.clone());
    let named = record.links().iter().filter_map(|(_, to)| match to {
        LinkValue::Local(address) if address.kind == Kind::Person => Some(address.id.clone()),
        _ => None,
    });
    own.into_iter().chain(named)
}
