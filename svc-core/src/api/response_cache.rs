//! Answers to reads that are given again as long as nothing was changed.
//!
//! A body is kept when its request comes again: what is asked for once, like each page of an export, takes no memory, and no place
//! from what is asked for again and again.

use std::{
    fmt,
    hash::{BuildHasher, RandomState},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
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
/// Documents that are kept at most, in places of their own: whoever needs no key to read them takes none from the records.
const DOCUMENTS: usize = 8;
/// Bytes of a base and a query under which an answer is kept at most.
const ADDRESS: usize = 1024;

/// The last answers to reads, each with the revision before it was made: of more of them the validators than the bodies.
pub(crate) struct ResponseCache {
    revision: Arc<dyn Revision>,
    hasher: RandomState,
    bodies: Kept<(Bytes, Option<Validators>)>,
    validators: Kept<Validators>,
    documents: Kept<(Bytes, Option<Validators>)>,
}

/// What is kept of answers, each at the place that its request leads to.
struct Kept<T>(Vec<Mutex<Place<T>>>);

struct Place<T> {
    /// Hash of the last request that led here and was answered anew.
    asked: Option<u64>,
    answer: Option<Answer<T>>,
}

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
        let empty = || Mutex::new(Place { asked: None, answer: None });
        Self(std::iter::repeat_with(empty).take(places).collect())
    }

    fn place(&self, hash: u64) -> Option<MutexGuard<'_, Place<T>>> {
        let places = u64::try_from(self.0.len()).ok()?;
        let place = self.0.get(usize::try_from(hash.checked_rem(places)?).ok()?)?;
        Some(place.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn get(&self, entry: &Entry<'_>, cx: &Context, target: &Target, query: Option<&str>) -> Option<T> {
        let place = self.place(entry.hash)?;
        let answer = place.answer.as_ref().filter(|answer| answer.revision == entry.revision)?;
        answer.is_of(entry, cx, target, query).then(|| answer.what.clone())
    }

    /// Whether a request has come before, and no other one since that leads to its place, or else has an answer there that is stale.
    fn is_asked_again(&self, entry: &Entry<'_>, cx: &Context, target: &Target, query: Option<&str>) -> bool {
        let Some(mut place) = self.place(entry.hash) else { return false };
        let is_stale = place.answer.as_ref().is_some_and(|answer| answer.is_of(entry, cx, target, query));
        place.asked.replace(entry.hash) == Some(entry.hash) || is_stale
    }

    fn keep(&self, entry: &Entry<'_>, cx: &Context, target: &Target, query: Option<&str>, what: T) {
        if cx.base.as_str().len().saturating_add(query.map_or(0, str::len)) > ADDRESS {
            return;
        }
        let Some(mut place) = self.place(entry.hash) else { return };
        place.answer = Some(Answer {
            revision: entry.revision,
            tenant: cx.tenant.clone(),
            base: cx.base.clone(),
            target: target.clone(),
            query: query.map(Into::into),
            what,
        });
    }
}

impl<T> Answer<T> {
    /// Whether it is one to this request, at whatever revision.
    fn is_of(&self, entry: &Entry<'_>, cx: &Context, target: &Target, query: Option<&str>) -> bool {
        (entry.is_document() || self.tenant == cx.tenant)
            && self.base == cx.base
            && self.target == *target
            && self.query.as_deref() == query
    }
}

/// Where the answer to a request is kept, and the revision before it is made.
pub(crate) struct Entry<'a> {
    bodies: &'a Kept<(Bytes, Option<Validators>)>,
    /// None of documents: their bodies have them.
    validators: Option<&'a Kept<Validators>>,
    hash: u64,
    revision: u64,
}

impl ResponseCache {
    pub(crate) fn new(revision: Arc<dyn Revision>) -> Self {
        let hasher = RandomState::new();
        let (bodies, validators, documents) = (Kept::new(BODIES), Kept::new(VALIDATORS), Kept::new(DOCUMENTS));
        Self { revision, hasher, bodies, validators, documents }
    }

    /// Where the answer to a read is kept; `None` when the backend cannot tell now whether it changed.
    pub(crate) async fn entry(&self, cx: &Context, target: &Target, query: Option<&str>) -> Option<Entry<'_>> {
        // Told before anything is read: what changes meanwhile makes the answer stale.
        let revision = self.revision.revision(&cx.tenant, cx.begun).await?;
        let hash = self.hasher.hash_one((&cx.tenant, cx.base.as_str(), target, query));
        Some(Entry { bodies: &self.bodies, validators: Some(&self.validators), hash, revision })
    }

    /// The same of a document that no change of the data changes; `variant` tells those apart that lie at one address.
    pub(super) fn entry_of_document(&self, cx: &Context, target: &Target, variant: u64) -> Entry<'_> {
        let hash = self.hasher.hash_one((cx.base.as_str(), target));
        Entry { bodies: &self.documents, validators: None, hash, revision: variant }
    }
}

impl Entry<'_> {
    /// Whether it is of a document, which every tenant reads.
    fn is_document(&self) -> bool {
        self.validators.is_none()
    }

    /// What was answered before, when nothing has changed since.
    pub(super) fn answer(
        &self,
        cx: &Context,
        target: &Target,
        query: Option<&str>,
    ) -> Option<(Bytes, Option<Validators>)> {
        self.bodies.get(self, cx, target, query)
    }

    /// The validators of what was answered before, when nothing has changed since.
    pub(super) fn validators(&self, cx: &Context, target: &Target, query: Option<&str>) -> Option<Validators> {
        self.validators?.get(self, cx, target, query)
    }

    /// Keeps the validators of a success, and its body when its request has come before.
    pub(super) fn keep(&self, cx: &Context, target: &Target, query: Option<&str>, reply: &Reply) {
        let validators = Validators::of(reply);
        if let (Some(kept), Some(validators)) = (self.validators, &validators) {
            kept.keep(self, cx, target, query, validators.clone());
        }
        let is_wanted = || self.is_document() || self.bodies.is_asked_again(self, cx, target, query);
        if reply.body.len() <= BYTES && is_wanted() {
            self.bodies.keep(self, cx, target, query, (reply.body.clone(), validators));
        }
    }
}

impl fmt::Debug for ResponseCache {
    /// Without what is kept: that is people's data.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseCache").finish_non_exhaustive()
    }
}
