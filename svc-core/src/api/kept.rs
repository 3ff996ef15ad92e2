//! Answers to reads that are given again as long as nothing was changed.

use std::{
    fmt,
    hash::{BuildHasher, RandomState},
    sync::{Arc, Mutex, PoisonError},
};

use bytes::Bytes;

use crate::{
    context::{Base, Context, Tenant},
    link::Target,
    ops::CountChanges,
};

/// Answers that are kept at most: an answer takes the place that its request leads to from the one that had it.
const PLACES: usize = 128;
/// Bytes of a body that is kept at most.
const BYTES: usize = 128 * 1024;

/// The last answers to reads, each with the number of changes before it was made.
pub(crate) struct Kept {
    changes: Arc<dyn CountChanges>,
    hasher: RandomState,
    places: Vec<Mutex<Option<Answer>>>,
}

/// An answer with all that it depends on.
struct Answer {
    changes: u64,
    tenant: Tenant,
    base: Base,
    target: Target,
    query: Option<Box<str>>,
    body: Bytes,
}

/// Where the answer to a request is kept, and the number of changes before it is made.
pub(crate) struct Place<'a> {
    place: &'a Mutex<Option<Answer>>,
    changes: u64,
}

impl Kept {
    pub(crate) fn new(changes: Arc<dyn CountChanges>) -> Self {
        let places = std::iter::repeat_with(Mutex::default).take(PLACES).collect();
        Self { changes, hasher: RandomState::new(), places }
    }

    /// Where the answer to a read is kept; `None` when the backend cannot tell now whether it changed.
    pub(crate) fn place(&self, cx: &Context, target: &Target, query: Option<&str>) -> Option<Place<'_>> {
        // Counted before anything is read: what changes meanwhile makes the answer stale.
        let changes = self.changes.changes()?;
        let hash = self.hasher.hash_one((&cx.tenant, cx.base.as_str(), target, query));
        let place = self.places.get(usize::try_from(hash % PLACES as u64).unwrap_or_default())?;
        Some(Place { place, changes })
    }
}

impl Place<'_> {
    /// The body that was answered before, when nothing has changed since.
    pub(crate) fn body(&self, cx: &Context, target: &Target, query: Option<&str>) -> Option<Bytes> {
        let answer = self.place.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = |answer: &&Answer| {
            answer.changes == self.changes
                && answer.tenant == cx.tenant
                && answer.base == cx.base
                && answer.target == *target
                && answer.query.as_deref() == query
        };
        answer.as_ref().filter(is_same).map(|answer| answer.body.clone())
    }

    /// Keeps the body of a success.
    pub(crate) fn keep(&self, cx: &Context, target: &Target, query: Option<&str>, body: &Bytes) {
        if body.len() > BYTES {
            return;
        }
        let answer = Answer {
            changes: self.changes,
            tenant: cx.tenant.clone(),
            base: cx.base.clone(),
            target: target.clone(),
            query: query.map(Into::into),
            body: body.clone(),
        };
        *self.place.lock().unwrap_or_else(PoisonError::into_inner) = Some(answer);
    }
}

impl fmt::Debug for Kept {
    /// Without what is kept: that is people's data.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kept").finish_non_exhaustive()
    }
}
