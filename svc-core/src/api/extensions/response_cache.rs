//! Cached responses of reads, valid until the data changes.
//!
//! A body is cached only when its request is repeated. A request that is sent once, such as one
//! page of an export, uses no memory for its body. It evicts nothing that is requested often.
//! Validators are cached after the first request, because a client sends them with its next one.

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
    backend::RevisionSource,
    context::{BaseUrl, Context, Tenant},
    link::Target,
};

/// The maximum number of cached bodies. A new body replaces the one in its slot.
const BODIES: usize = 128;
/// The maximum size of a cached body, in bytes.
const BYTES: usize = 128 * 1024;
/// The maximum number of responses whose validators are cached. Each uses about 400 bytes.
const VALIDATORS: usize = 4096;
/// The maximum number of cached documents. They have slots of their own, so that anonymous readers
/// of documents do not evict records.
const DOCUMENTS: usize = 8;
/// The maximum total length of the base URL and the query of a cached response, in bytes.
const ADDRESS: usize = 1024;

/// Cached responses of reads, each with the revision from before it was produced. It has more slots
/// for validators than for bodies.
pub(crate) struct ResponseCache {
    revision: Arc<dyn RevisionSource>,
    hasher: RandomState,
    bodies: CacheSlots<(Bytes, Option<Validators>)>,
    /// For each slot of a body, the hash of the last request that was not served from this slot.
    asked: Vec<AtomicU64>,
    /// The hashes of requests that have succeeded, in the slots of their validators. They are used
    /// if the revision is remote.
    succeeded: Vec<AtomicU64>,
    validators: CacheSlots<Validators>,
    documents: CacheSlots<(Bytes, Option<Validators>)>,
}

impl ApiBuilder {
    /// Caches responses of repeated reads until the revision of the tenant changes.
    ///
    /// The cache uses a few megabytes at most. Two conditions must hold:
    ///
    /// - `backend` reports the revision of the backend that serves every kind.
    /// - A read depends only on the tenant and the URL. It does not depend on the caller, the time,
    ///   or the request extensions of the vendor's layers. Links that only callers with a right get
    ///   are an exception: their responses are cached separately.
    #[must_use]
    pub fn response_cache(mut self, backend: impl RevisionSource + 'static) -> Self {
        self.settings.extensions.response_cache = Some(ResponseCache::new(Arc::new(backend)));
        self
    }
}

/// Cached values, each in the slot of its request.
struct CacheSlots<T>(Vec<Mutex<Option<CachedResponse<T>>>>);

/// A cached value, with everything that it depends on.
struct CachedResponse<T> {
    revision: u64,
    tenant: Tenant,
    base: BaseUrl,
    target: Target,
    query: Option<Box<str>>,
    variant: u64,
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

    /// Returns whether there is a response to this request, at any revision.
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
            .base()
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
            tenant: cx.tenant().clone(),
            base: cx.base().clone(),
            target: target.clone(),
            query: query.map(Into::into),
            variant: entry.variant,
            what,
        });
    }
}

/// Returns the slot of a hash.
fn at<T>(places: &[T], hash: u64) -> Option<&T> {
    let count = u64::try_from(places.len()).ok()?;
    places.get(usize::try_from(hash.checked_rem(count)?).ok()?)
}

impl<T> CachedResponse<T> {
    /// Returns whether this is the response to the request.
    fn is_of(
        &self,
        entry: &CacheSlot<'_>,
        cx: &Context,
        target: &Target,
        query: Option<&str>,
    ) -> bool {
        (entry.is_document() || self.tenant == *cx.tenant())
            && self.base == *cx.base()
            && self.target == *target
            && self.query.as_deref() == query
            && self.variant == entry.variant
    }
}

/// The slot for the response to a request, and the revision from before it is produced.
pub(crate) struct CacheSlot<'a> {
    bodies: &'a CacheSlots<(Bytes, Option<Validators>)>,
    /// `None` for documents: they are cached after the first request, with their validators.
    of_records: Option<RecordSlots<'a>>,
    hash: u64,
    /// Distinguishes the callers whose records have different links.
    variant: u64,
    /// `None` if the revision was not requested. The cache then stores nothing here, except that
    /// the request has succeeded.
    revision: Option<u64>,
}

/// The slots that only reads of records use.
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

    /// Returns the slot for the response to a read, or `None` if the backend cannot report its
    /// revision now. `variant` distinguishes the callers whose records have different links.
    pub(crate) async fn entry(
        &self,
        cx: &Context,
        target: &Target,
        query: Option<&str>,
        variant: u64,
    ) -> Option<CacheSlot<'_>> {
        let address = (cx.tenant(), cx.base().as_str(), target, query);
        let hash = self.hasher.hash_one((address, variant));
        let of_records = RecordSlots {
            asked: &self.asked,
            succeeded: &self.succeeded,
            validators: &self.validators,
        };
        let has_succeeded =
            || at(&self.succeeded, hash).is_some_and(|last| last.load(Ordering::Relaxed) == hash);
        // Get the revision before anything is read: a later change then makes the cached response
        // stale.
        let revision = if self.revision.is_remote() && !has_succeeded() {
            None
        } else {
            Some(self.revision.revision(cx.tenant(), cx.started_at()).await?)
        };
        Some(CacheSlot {
            bodies: &self.bodies,
            of_records: Some(of_records),
            hash,
            variant,
            revision,
        })
    }

    /// Returns the slot of a document, which does not depend on the data. `variant` distinguishes
    /// documents of the same URL.
    pub(in crate::api) fn entry_of_document(
        &self,
        cx: &Context,
        target: &Target,
        variant: u64,
    ) -> CacheSlot<'_> {
        let hash = self.hasher.hash_one((cx.base().as_str(), target));
        CacheSlot {
            bodies: &self.documents,
            of_records: None,
            hash,
            variant: 0,
            revision: Some(variant),
        }
    }
}

impl CacheSlot<'_> {
    /// Returns whether this is the slot of a document, which all tenants share.
    fn is_document(&self) -> bool {
        self.of_records.is_none()
    }

    /// Returns the cached response if nothing has changed since.
    pub(in crate::api) fn answer(
        &self,
        cx: &Context,
        target: &Target,
        query: Option<&str>,
    ) -> Option<(Bytes, Option<Validators>)> {
        self.bodies.get(self, cx, target, query)
    }

    /// Returns the validators of the cached response if nothing has changed since.
    pub(in crate::api) fn validators(
        &self,
        cx: &Context,
        target: &Target,
        query: Option<&str>,
    ) -> Option<Validators> {
        self.of_records?.validators.get(self, cx, target, query)
    }

    /// Caches the validators of a successful response, and its body if the request is repeated.
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

    /// Returns whether the previous request for this slot was the same one, or an older response to
    /// it is cached.
    fn is_repeated(&self, cx: &Context, target: &Target, query: Option<&str>) -> bool {
        let Some(RecordSlots { asked, .. }) = self.of_records else {
            return true;
        };
        let last = at(asked, self.hash).map(|last| last.swap(self.hash, Ordering::Relaxed));
        last == Some(self.hash) || self.bodies.has(self, cx, target, query)
    }
}

impl fmt::Debug for ResponseCache {
    /// Omits the cached responses, because they contain personal data.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseCache").finish_non_exhaustive()
    }
}
