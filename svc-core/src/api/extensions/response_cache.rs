//! Answers to reads that are given again as long as nothing was changed.
//!
//! The body of an answer is kept when its request comes again: what is asked for once, like each
//! page of an export, takes no memory for it, and no place from what is asked for again and again.
//! Validators are kept at once: a client comes back with them.

use std::{
    fmt,
    hash::{BuildHasher, RandomState},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use bytes::Bytes;

use super::conditional::Validators;
use crate::{
    api::{ApiBuilder, Response},
    context::{BaseUrl, Context, Tenant},
    link::Target,
    backend::RevisionSource,
};

/// Bodies that are kept at most: one that is kept takes the place that its request leads to from
/// the one that had it.
const BODIES: usize = 128;
/// Bytes of a body that is kept at most.
const BYTES: usize = 128 * 1024;
/// Answers of which the validators are kept at most. Each takes some 400 bytes.
const VALIDATORS: usize = 4096;
/// Documents that are kept at most, in places of their own: whoever needs no key to read them takes
/// none from the records.
const DOCUMENTS: usize = 8;
/// Bytes of a base and a query under which an answer is kept at most.
const ADDRESS: usize = 1024;

/// Answers to reads, each with the revision before it was made: of more of them the validators than
/// the bodies.
pub(crate) struct ResponseCache {
    revision: Arc<dyn RevisionSource>,
    hasher: RandomState,
    bodies: CacheSlots<(Bytes, Option<Validators>)>,
    /// Of each place of a body the hash of the last request that led there and was answered anew.
    asked: Vec<AtomicU64>,
    /// The hashes of requests that have succeeded, each at the place of its validators: for a
    /// remote revision.
    succeeded: Vec<AtomicU64>,
    validators: CacheSlots<Validators>,
    documents: CacheSlots<(Bytes, Option<Validators>)>,
}

impl ApiBuilder {
    /// Keeps the answer to a read that comes again, some megabytes of them at most, and gives it
    /// out as long as nothing was changed. Every kind must be read from the backend whose revision
    /// is told, and what is read may depend on the tenant and the address alone: not on who of the
    /// tenant's callers asks, on the time, or on what the vendor's layers attached to the request.
    #[must_use]
    pub fn response_cache(mut self, backend: impl RevisionSource + 'static) -> Self {
        self.settings.extensions.response_cache = Some(ResponseCache::new(Arc::new(backend)));
        self
    }
}

/// What is kept of answers, each at the place that its request leads to.
struct CacheSlots<T>(Vec<Mutex<Option<CachedResponse<T>>>>);

/// What is kept of an answer, with all that it depends on.
struct CachedResponse<T> {
    revision: u64,
    tenant: Tenant,
    base: BaseUrl,
    target: Target,
    query: Option<Box<str>>,
    what: T,
}

impl<T: Clone> CacheSlots<T> {
    fn new(places: usize) -> Self {
        Self(
            std::iter::repeat_with(Mutex::default)
                .take(places)
                .collect(),
        )
    }

    fn place(&self, hash: u64) -> Option<MutexGuard<'_, Option<CachedResponse<T>>>> {
        Some(
            at(&self.0, hash)?
                .lock()
                .unwrap_or_else(PoisonError::into_inner),
        )
    }

    fn get(
        &self,
        entry: &CacheSlot<'_>,
        cx: &Context,
        target: &Target,
        query: Option<&str>,
    ) -> Option<T> {
        let place = self.place(entry.hash)?;
        let answer = place
            .as_ref()
            .filter(|answer| Some(answer.revision) == entry.revision)?;
        answer
            .is_of(entry, cx, target, query)
            .then(|| answer.what.clone())
    }

    /// Whether there is an answer to this request, at whatever revision.
    fn has(
        &self,
        entry: &CacheSlot<'_>,
        cx: &Context,
        target: &Target,
        query: Option<&str>,
    ) -> bool {
        let place = self.place(entry.hash);
        place.is_some_and(|place| {
            place
                .as_ref()
                .is_some_and(|answer| answer.is_of(entry, cx, target, query))
        })
    }

    fn keep(
        &self,
        entry: &CacheSlot<'_>,
        cx: &Context,
        target: &Target,
        query: Option<&str>,
        what: T,
    ) {
        let Some(revision) = entry.revision else {
            return;
        };
        if cx
            .base
            .as_str()
            .len()
            .saturating_add(query.map_or(0, str::len))
            > ADDRESS
        {
            return;
        }
        let Some(mut place) = self.place(entry.hash) else {
            return;
        };
        *place = Some(CachedResponse {
            revision,
            tenant: cx.tenant.clone(),
            base: cx.base.clone(),
            target: target.clone(),
            query: query.map(Into::into),
            what,
        });
    }
}

/// The one of these places that a hash leads to.
fn at<T>(places: &[T], hash: u64) -> Option<&T> {
    let count = u64::try_from(places.len()).ok()?;
    places.get(usize::try_from(hash.checked_rem(count)?).ok()?)
}

impl<T> CachedResponse<T> {
    /// Whether it is one to this request.
    fn is_of(
        &self,
        entry: &CacheSlot<'_>,
        cx: &Context,
        target: &Target,
        query: Option<&str>,
    ) -> bool {
        (entry.is_document() || self.tenant == cx.tenant)
            && self.base == cx.base
            && self.target == *target
            && self.query.as_deref() == query
    }
}

/// Where the answer to a request is kept, and the revision before it is made.
pub(crate) struct CacheSlot<'a> {
    bodies: &'a CacheSlots<(Bytes, Option<Validators>)>,
    /// None of documents: they are kept at once, with their validators.
    of_records: Option<RecordSlots<'a>>,
    hash: u64,
    /// `None` if it was not asked for: nothing is stored here then, except that the request has
    /// succeeded.
    revision: Option<u64>,
}

/// What is known of reads of records alone.
#[derive(Clone, Copy)]
struct RecordSlots<'a> {
    asked: &'a [AtomicU64],
    succeeded: &'a [AtomicU64],
    validators: &'a CacheSlots<Validators>,
}

impl ResponseCache {
    pub(crate) fn new(revision: Arc<dyn RevisionSource>) -> Self {
        let hasher = RandomState::new();
        let (bodies, validators, documents) = (
            CacheSlots::new(BODIES),
            CacheSlots::new(VALIDATORS),
            CacheSlots::new(DOCUMENTS),
        );
        let empty = |places| {
            std::iter::repeat_with(AtomicU64::default)
                .take(places)
                .collect()
        };
        let (asked, succeeded) = (empty(BODIES), empty(VALIDATORS));
        Self {
            revision,
            hasher,
            bodies,
            asked,
            succeeded,
            validators,
            documents,
        }
    }

    /// Where the answer to a read is kept; `None` when the backend cannot tell now whether it
    /// changed.
    pub(crate) async fn entry(
        &self,
        cx: &Context,
        target: &Target,
        query: Option<&str>,
    ) -> Option<CacheSlot<'_>> {
        let hash = self
            .hasher
            .hash_one((&cx.tenant, cx.base.as_str(), target, query));
        let of_records = RecordSlots {
            asked: &self.asked,
            succeeded: &self.succeeded,
            validators: &self.validators,
        };
        let has_succeeded =
            || at(&self.succeeded, hash).is_some_and(|last| last.load(Ordering::Relaxed) == hash);
        // Told before anything is read: what changes meanwhile makes the answer stale.
        let revision = if self.revision.is_remote() && !has_succeeded() {
            None
        } else {
            Some(self.revision.revision(&cx.tenant, cx.started_at).await?)
        };
        Some(CacheSlot {
            bodies: &self.bodies,
            of_records: Some(of_records),
            hash,
            revision,
        })
    }

    /// The same of a document that no change of the data changes; `variant` tells those apart that
    /// lie at one address.
    pub(in crate::api) fn entry_of_document(
        &self,
        cx: &Context,
        target: &Target,
        variant: u64,
    ) -> CacheSlot<'_> {
        let hash = self.hasher.hash_one((cx.base.as_str(), target));
        CacheSlot {
            bodies: &self.documents,
            of_records: None,
            hash,
            revision: Some(variant),
        }
    }
}

impl CacheSlot<'_> {
    /// Whether it is of a document, which every tenant reads.
    fn is_document(&self) -> bool {
        self.of_records.is_none()
    }

    /// What was answered before, when nothing has changed since.
    pub(in crate::api) fn answer(
        &self,
        cx: &Context,
        target: &Target,
        query: Option<&str>,
    ) -> Option<(Bytes, Option<Validators>)> {
        self.bodies.get(self, cx, target, query)
    }

    /// The validators of what was answered before, when nothing has changed since.
    pub(in crate::api) fn validators(
        &self,
        cx: &Context,
        target: &Target,
        query: Option<&str>,
    ) -> Option<Validators> {
        self.of_records?.validators.get(self, cx, target, query)
    }

    /// Keeps the validators of a success, and its body when its request has come before.
    pub(in crate::api) fn insert(
        &self,
        cx: &Context,
        target: &Target,
        query: Option<&str>,
        reply: &Response,
    ) {
        if let Some(place) = self
            .of_records
            .and_then(|of_records| at(of_records.succeeded, self.hash))
        {
            place.store(self.hash, Ordering::Relaxed);
        }
        let validators = Validators::of(reply);
        if let (Some(of_records), Some(validators)) = (self.of_records, &validators) {
            of_records
                .validators
                .keep(self, cx, target, query, validators.clone());
        }
        if reply.body.len() <= BYTES && self.is_repeated(cx, target, query) {
            self.bodies
                .keep(self, cx, target, query, (reply.body.clone(), validators));
        }
    }

    /// Whether the last request that led to this place was the same one, or there is an older
    /// answer to it.
    fn is_repeated(&self, cx: &Context, target: &Target, query: Option<&str>) -> bool {
        let Some(RecordSlots { asked, .. }) = self.of_records else {
            return true;
        };
        let last = at(asked, self.hash).map(|last| last.swap(self.hash, Ordering::Relaxed));
        last == Some(self.hash) || self.bodies.has(self, cx, target, query)
    }
}

impl fmt::Debug for ResponseCache {
    /// Without what is kept: that is people's data.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseCache").finish_non_exhaustive()
    }
}
