//! Answers to reads that are given again as long as nothing was changed.

use std::{
    fmt,
    hash::{BuildHasher, RandomState},
    sync::{Arc, Mutex, PoisonError},
};

use bytes::Bytes;

use super::{Reply, conditional::Validators};
use crate::{
    context::{Base, Context, Tenant},
    link::Target,
    ops::Revision,
};

/// Answers that are kept at most: an answer takes the entry that its request leads to from the one that had it.
const BODIES: usize = 128;
/// Bytes of a body that is kept at most.
const BYTES: usize = 128 * 1024;
/// Answers of which the validators are kept at most. Each takes some 400 bytes.
const VALIDATORS: usize = 4096;

/// The last answers to reads, each with the revision before it was made: of more of them the validators than the bodies.
pub(crate) struct ResponseCache {
    revision: Arc<dyn Revision>,
    hasher: RandomState,
    bodies: Kept<(Bytes, Option<Validators>)>,
    validators: Kept<Validators>,
}

/// What is kept of answers, each at the place that its request leads to.
struct Kept<T>(Vec<Mutex<Option<Answer<T>>>>);

/// What is kept of an answer, with all that it depends on.
struct Answer<T> {
    revision: u64,
    tenant: Tenant,
    base: Base,
    target: Target,
    query: Option<Box<str>>,
    what: T,
}

impl<T: Clone> Kept<T> {
    fn new(places: usize) -> Self {
        Self(std::iter::repeat_with(Mutex::default).take(places).collect())
    }

    fn place(&self, hash: u64) -> Option<&Mutex<Option<Answer<T>>>> {
        let places = u64::try_from(self.0.len()).ok()?;
        self.0.get(usize::try_from(hash.checked_rem(places)?).ok()?)
    }

    fn get(&self, entry: &Entry<'_>, cx: &Context, target: &Target, query: Option<&str>) -> Option<T> {
        let answer = self.place(entry.hash)?.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = |answer: &&Answer<T>| {
            answer.revision == entry.revision
                && answer.tenant == cx.tenant
                && answer.base == cx.base
                && answer.target == *target
                && answer.query.as_deref() == query
        };
        answer.as_ref().filter(is_same).map(|answer| answer.what.clone())
    }

    fn keep(&self, entry: &Entry<'_>, cx: &Context, target: &Target, query: Option<&str>, what: T) {
        let Some(place) = self.place(entry.hash) else { return };
        let answer = Answer {
            revision: entry.revision,
            tenant: cx.tenant.clone(),
            base: cx.base.clone(),
            target: target.clone(),
            query: query.map(Into::into),
            what,
        };
        *place.lock().unwrap_or_else(PoisonError::into_inner) = Some(answer);
    }
}

/// Where the answer to a request is kept, and the revision before it is made.
pub(crate) struct Entry<'a> {
    cache: &'a ResponseCache,
    hash: u64,
    revision: u64,
}

impl ResponseCache {
    pub(crate) fn new(revision: Arc<dyn Revision>) -> Self {
        let hasher = RandomState::new();
        Self { revision, hasher, bodies: Kept::new(BODIES), validators: Kept::new(VALIDATORS) }
    }

    /// Where the answer to a read is kept; `None` when the backend cannot tell now whether it changed.
    pub(crate) async fn entry(&self, cx: &Context, target: &Target, query: Option<&str>) -> Option<Entry<'_>> {
        // Told before anything is read: what changes meanwhile makes the answer stale.
        let revision = self.revision.revision(&cx.tenant, cx.begun).await?;
        Some(self.entry_at(revision, cx, target, query))
    }

    /// The same of a document that no change of the data changes.
    pub(super) fn entry_of_document(&self, cx: &Context, target: &Target, query: Option<&str>) -> Entry<'_> {
        self.entry_at(0, cx, target, query)
    }

    fn entry_at(&self, revision: u64, cx: &Context, target: &Target, query: Option<&str>) -> Entry<'_> {
        let hash = self.hasher.hash_one((&cx.tenant, cx.base.as_str(), target, query));
        Entry { cache: self, hash, revision }
    }
}

impl Entry<'_> {
    /// What was answered before, when nothing has changed since.
    pub(super) fn answer(
        &self,
        cx: &Context,
        target: &Target,
        query: Option<&str>,
    ) -> Option<(Bytes, Option<Validators>)> {
        self.cache.bodies.get(self, cx, target, query)
    }

    /// The validators of what was answered before, when nothing has changed since.
    pub(super) fn validators(&self, cx: &Context, target: &Target, query: Option<&str>) -> Option<Validators> {
        self.cache.validators.get(self, cx, target, query)
    }

    /// Keeps a success.
    pub(super) fn keep(&self, cx: &Context, target: &Target, query: Option<&str>, reply: &Reply) {
        let validators = Validators::of(reply);
        if let Some(validators) = &validators {
            self.cache.validators.keep(self, cx, target, query, validators.clone());
        }
        if reply.body.len() <= BYTES {
            self.cache.bodies.keep(self, cx, target, query, (reply.body.clone(), validators));
        }
    }
}

impl fmt::Debug for ResponseCache {
    /// Without what is kept: that is people's data.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseCache").finish_non_exhaustive()
    }
}
