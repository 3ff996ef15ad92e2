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
    ops::Revision,
};

/// Answers that are kept at most: an answer takes the entry that its request leads to from the one that had it.
const CAPACITY: usize = 128;
/// Bytes of a body that is kept at most.
const BYTES: usize = 128 * 1024;

/// The last answers to reads, each with the revision before it was made.
pub(crate) struct ResponseCache {
    revision: Arc<dyn Revision>,
    hasher: RandomState,
    entries: Vec<Mutex<Option<Answer>>>,
}

/// An answer with all that it depends on.
struct Answer {
    revision: u64,
    tenant: Tenant,
    base: Base,
    target: Target,
    query: Option<Box<str>>,
    body: Bytes,
}

/// Where the answer to a request is kept, and the revision before it is made.
pub(crate) struct Entry<'a> {
    entry: &'a Mutex<Option<Answer>>,
    revision: u64,
}

impl ResponseCache {
    pub(crate) fn new(revision: Arc<dyn Revision>) -> Self {
        let entries = std::iter::repeat_with(Mutex::default).take(CAPACITY).collect();
        Self { revision, hasher: RandomState::new(), entries }
    }

    /// Where the answer to a read is kept; `None` when the backend cannot tell now whether it changed.
    pub(crate) async fn entry(&self, cx: &Context, target: &Target, query: Option<&str>) -> Option<Entry<'_>> {
        // Told before anything is read: what changes meanwhile makes the answer stale.
        let revision = self.revision.revision(&cx.tenant).await?;
        let hash = self.hasher.hash_one((&cx.tenant, cx.base.as_str(), target, query));
        let entry = self.entries.get(usize::try_from(hash % CAPACITY as u64).unwrap_or_default())?;
        Some(Entry { entry, revision })
    }
}

impl Entry<'_> {
    /// The body that was answered before, when nothing has changed since.
    pub(crate) fn body(&self, cx: &Context, target: &Target, query: Option<&str>) -> Option<Bytes> {
        let answer = self.entry.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = |answer: &&Answer| {
            answer.revision == self.revision
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
            revision: self.revision,
            tenant: cx.tenant.clone(),
            base: cx.base.clone(),
            target: target.clone(),
            query: query.map(Into::into),
            body: body.clone(),
        };
        *self.entry.lock().unwrap_or_else(PoisonError::into_inner) = Some(answer);
    }
}

impl fmt::Debug for ResponseCache {
    /// Without what is kept: that is people's data.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseCache").finish_non_exhaustive()
    }
}
