//! The [`Store`] trait, and the data that a store exchanges with the rules.
//!
//! All rules of the API are in [`decide`](crate::rules::decide), a synchronous function over
//! [`Lookup`]s and [`Change`]s, both plain data. It decides what a create, a change, a deletion or
//! a helper request means. A [`Store`] only fetches and writes. It contains no rules, and the rules
//! do not depend on a database.
//!
//! A request is decided in a transaction of the store, after every write that was committed before:
//!
//! ```text
//! WriteRequest ──► decide ──► Lookup ──► the store returns results   (again, until none is missing)
//!             └─────► Change   ──► the store applies them, commits, and returns the outcome
//! ```
//!
//! A store with direct access to its data implements [`LookupSource`] by reading, and the rules run
//! once. A store that must fetch data collects it in [`LookupCache`], starting with
//! [`initial_lookups`](crate::rules::initial_lookups).

mod change;
mod count_deltas;
mod duplicates;
mod failed_parts;
mod index_values;
mod lookup;
mod lookup_cache;
mod outbox;
mod pending_changes;
mod precondition;
mod response_recorder;
mod steps;
mod stored_response;
mod totals;
mod transaction_view;
mod write;

use std::sync::Arc;

use async_trait::async_trait;

pub use change::{
    ApartPeople, Change, ChangeTarget, InsertRecord, RecordSet, ReplaceRecord, RestoredPerson,
};
pub use count_deltas::{CollectionId, CountDeltas};
pub use duplicates::{
    DuplicatePair, DuplicatesEntry, DuplicatesPage, DuplicatesRequest, DuplicatesResponse,
    StoredPair,
};
pub use failed_parts::{FailedParts, WrittenRecord};
pub use index_values::IndexValues;
pub use lookup::{
    HeldTickets, Lookup, LookupKey, LookupSource, RecordLocation, RuleError, person_links,
};
pub use lookup_cache::LookupCache;
pub use outbox::{ClaimResolution, ClaimedEntries, Outbox, OutboxClaim};
pub use pending_changes::PendingChanges;
pub use precondition::Precondition;
pub use response_recorder::ResponseRecorder;
pub use steps::{Step, StepLog, StepResult};
pub use stored_response::StoredResponse;
pub use totals::Totals;
pub(crate) use transaction_view::TransactionView;
pub use write::{
    FoldedRecord, IdSequence, ImportedRecord, MergeOutcome, MergeRecord, MergeRequest, StoredMerge,
    TransactionContext, UndoMergeOutcome, UndoMergeRequest, WriteOperation, WriteOutcome,
    WriteRequest,
};

use crate::{
    context::Context,
    error::{Error, Problem, Result},
    filter::FilterField,
    helper::{DefaultMatching, PersonMatching},
    link::RecordAddress,
    model::Kind,
    page::{ListRequest, RawPage},
    record::RawRecord,
    rules::problems_of,
    value::{Id, Timestamp},
};

/// A store for records of several kinds, which also executes helpers.
///
/// `ApiBuilder::store` registers all operations of a store with one call. The trait is not generic
/// over the kind: it accepts and returns raw records.
///
/// # Behaviour
///
/// - The store only reads and changes records of `cx.tenant()`.
/// - [`write`](Self::write) executes a request in one transaction: it runs
///   [`decide`](crate::rules::decide), applies the changes, and commits before it returns. The
///   rules also evaluate the [`WriteRequest::precondition`], so a store does not have to. Writes of
///   one tenant are executed one after another, and each sees the changes of those before it.
/// - The [`TransactionContext::timestamp`] of the writes of a tenant strictly increases, also across
///   restarts. It is never earlier than the store's clock.
/// - Reads see only committed writes, and all writes that were acknowledged before the read
///   started.
///
/// # Examples
///
/// A store that wraps another store and measures the duration of writes:
///
/// ```
/// use std::{sync::{Arc, atomic::{AtomicU64, Ordering}}, time::Instant};
///
/// use async_trait::async_trait;
/// use svc_core::{Context, ListRequest, Result, helper::PersonMatching, link::RecordAddress, model::Kind};
/// use svc_core::{raw::{RawPage, RawRecord}, store::{WriteRequest, LookupKey, WriteOutcome, Store}};
///
/// struct Timed<S> { store: S, micros: AtomicU64 }
///
/// #[async_trait]
/// impl<S: Store> Store for Timed<S> {
///     async fn list(&self, cx: &Context, kind: Kind, request: &ListRequest) -> Result<RawPage> {
///         self.store.list(cx, kind, request).await
///     }
///
///     async fn get(&self, cx: &Context, at: &RecordAddress) -> Result<Option<RawRecord>> {
///         self.store.get(cx, at).await
///     }
///
///     async fn find(&self, cx: &Context, key: &LookupKey) -> Result<Option<RawRecord>> {
///         self.store.find(cx, key).await
///     }
///
///     async fn write(&self, cx: &Context, call: WriteRequest) -> Result<WriteOutcome> {
///         let began = Instant::now();
///         let outcome = self.store.write(cx, call).await;
///         self.micros.fetch_add(began.elapsed().as_micros().try_into()?, Ordering::Relaxed);
///         outcome
///     }
///
///     fn person_matching(&self) -> Arc<dyn PersonMatching> {
///         self.store.person_matching()
///     }
/// }
/// ```
///
/// # Testing a store
///
/// With the feature `testkit` of `svc-store`, one line tests a store over random histories. See the
/// module `svc_store::store_testkit`:
///
/// ```text
/// svc_store::store_testkit::check(async || (MyStore::empty().await, ["one", "two"].map(Tenant::new))).await?;
/// ```
#[async_trait]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a `Store`, so `.store()` cannot register it",
    label = "missing `impl svc_core::store::Store for {Self}`",
    note = "implement `svc_core::store::Store`, or implement `List`, `Get`, `Create`, ... for each kind that it supports"
)]
pub trait Store: Send + Sync + 'static {
    /// Returns one page of a collection in creation order. See `List`.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotFound`](crate::error::ErrorKind::NotFound) if the container does not exist.
    ///
    /// Requirements: COL-20 to COL-31.
    async fn list(&self, cx: &Context, kind: Kind, request: &ListRequest) -> Result<RawPage>;

    /// Returns the fields by which the collection of a kind can be filtered, and sorted if they are
    /// dates.
    ///
    /// Only return fields with an index. [`list`](Self::list) can then receive filters on them, except
    /// on [memberships](crate::filter::MembershipSpec): the API lists the members and reads their
    /// records with [`get_all`](Self::get_all). The default is none.
    ///
    /// Requirements: FLT-01, FLT-09.
    fn filter_fields(&self, kind: Kind) -> Vec<FilterField> {
        let _ = kind;
        Vec::new()
    }

    /// Returns the record at an address, or `None` if it does not exist.
    ///
    /// Requirements: COL-03, COL-19.
    async fn get(&self, cx: &Context, at: &RecordAddress) -> Result<Option<RawRecord>>;

    /// Returns the records at several addresses, in the same order. A store that needs a round trip
    /// for each read returns all of them in one. The default calls [`get`](Self::get).
    ///
    /// Requirements: FLT-13.
    async fn get_all(
        &self,
        cx: &Context,
        addresses: &[RecordAddress],
    ) -> Result<Vec<Option<RawRecord>>> {
        let mut records = Vec::with_capacity(addresses.len());
        for at in addresses {
            records.push(self.get(cx, at).await?);
        }
        Ok(records)
    }

    /// Returns the record for a key, or `None` if it does not exist. Used by helpers that are
    /// composed of the operations of a store.
    async fn find(&self, cx: &Context, key: &LookupKey) -> Result<Option<RawRecord>>;

    /// Returns whether the store executes [`WriteOperation::Merge`]. The default is `false`.
    ///
    /// Requirements: MRG-01.
    fn merges_people(&self) -> bool {
        false
    }

    /// Returns why the store does not [merge people](Self::merges_people): one sentence for each reason,
    /// with its fix. The build error of an API that merges people contains them. The default is none.
    ///
    /// Requirements: MRG-01.
    fn merge_problems(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns the person into whom the person with an id was merged; `None` if there is none. The
    /// default is for stores that merge no people.
    ///
    /// # Errors
    ///
    /// Returns an error if the store fails.
    async fn forwarded_person(&self, cx: &Context, id: &Id) -> Result<Option<Id>> {
        let _ = (cx, id);
        Ok(None)
    }

    /// Returns whether the store stores merges for [`MergeRequest::undo_for`] and executes
    /// [`WriteOperation::UndoMerge`]. The default is `false`.
    ///
    /// Requirements: MRG-20.
    fn undoes_merges(&self) -> bool {
        false
    }

    /// Returns the newest stored merges into a person, the newest first, at most
    /// [`StoredMerge::MAX_LISTED`]. There are none for a person that does not exist. The default is for
    /// stores that undo no merges.
    ///
    /// # Errors
    ///
    /// Returns an error if the store fails.
    async fn merges(&self, cx: &Context, remaining: &Id) -> Result<Vec<StoredMerge>> {
        let _ = (cx, remaining);
        Ok(Vec::new())
    }

    /// Returns whether the store indexes the [`keys`](IndexValues::keys) of people, and applies
    /// [`Change::SetApart`].
    ///
    /// Requirements: DUP-01.
    fn finds_duplicates(&self) -> bool {
        false
    }

    /// Returns a page of people who may be the same person.
    ///
    /// Each pair is on one page. A pair is neither omitted nor repeated while its people have the same
    /// keys, and each of these keys has the same people.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotFound`](crate::error::ErrorKind::NotFound) if the person of the request does
    /// not exist. [`ErrorKind::NotImplemented`](crate::error::ErrorKind::NotImplemented) by default.
    ///
    /// Requirements: DUP-01 to DUP-05.
    async fn duplicates(
        &self,
        cx: &Context,
        request: &DuplicatesRequest,
    ) -> Result<DuplicatesResponse> {
        let _ = (cx, request);
        Err(Error::not_implemented())
    }

    /// Returns two people, and whether they are dismissed as a pair, as of one time. Returns `None` if one
    /// of them does not exist.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotImplemented`](crate::error::ErrorKind::NotImplemented) by default.
    ///
    /// Requirements: DUP-06.
    async fn duplicate_pair(&self, cx: &Context, people: [&Id; 2]) -> Result<Option<StoredPair>> {
        let _ = (cx, people);
        Err(Error::not_implemented())
    }

    /// Records whether two people are different people ([`Change::SetApart`]). Returns `false` if one of
    /// them does not exist.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotImplemented`](crate::error::ErrorKind::NotImplemented) by default.
    ///
    /// Requirements: DUP-06.
    async fn set_apart(&self, cx: &Context, apart: &ApartPeople) -> Result<bool> {
        let _ = (cx, apart);
        Err(Error::not_implemented())
    }

    /// Executes a write request in one transaction and returns its outcome after the commit.
    ///
    /// # Errors
    ///
    /// Returns the error of the rules if they reject the request. The store is then unchanged.
    ///
    /// Requirements: ERR-04.
    async fn write(&self, cx: &Context, call: WriteRequest) -> Result<WriteOutcome>;

    /// Returns the further problems of a [rejected](WriteRequest::rejected) request, which depend on
    /// stored data.
    ///
    /// The request changes nothing, so a read is sufficient: run [`decide`](crate::rules::decide)
    /// over it and pass the result to [`problems_of`]. The default calls [`write`](Self::write).
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotFound`](crate::error::ErrorKind::NotFound) if the record or the container
    /// does not exist.
    ///
    /// Requirements: ERR-39, UND-39.
    async fn find_problems(&self, cx: &Context, call: WriteRequest) -> Result<Vec<Problem>> {
        problems_of(self.write(cx, call).await)
    }

    /// Returns the method of person matching, which `ApiBuilder::store` publishes.
    ///
    /// It must equal the [`TransactionContext::person_matching`] of the store's transactions.
    ///
    /// Requirements: HLP-04, HLP-05.
    fn person_matching(&self) -> Arc<dyn PersonMatching> {
        Arc::new(DefaultMatching)
    }

    /// Returns whether the store supports [`Lookup::StoredResponse`] and [`Change::StoreResponse`].
    ///
    /// The server then executes a request with an `Idempotency-Key` once, even if it is repeated.
    /// It also limits triggers of anonymous callers to one a day.
    ///
    /// Requirements: IDM-01, HAF-14.
    fn stores_responses(&self) -> bool {
        false
    }

    /// Deletes a part of the stored responses of all tenants that were stored before `before`, and of the
    /// stored merges that could be undone until before it. Returns whether there may be more.
    ///
    /// The server calls it during requests of any tenant, and at most every ten minutes if there
    /// are no more.
    ///
    /// # Errors
    ///
    /// Returns an error if the store fails. The responses are then deleted later.
    ///
    /// Requirements: IDM-06.
    async fn sweep(&self, before: Timestamp) -> Result<bool> {
        let _ = before;
        Ok(false)
    }

    /// Returns the outbox if the store applies [`Change::Enqueue`] and [`Change::CancelMessage`].
    ///
    /// Without an outbox, the API offers neither triggers nor schedules.
    ///
    /// Requirements: HAF-11, SCH-01.
    fn outbox(self: Arc<Self>) -> Option<Arc<dyn Outbox>> {
        None
    }
}

/// A record with its row, the position in the creation order of the store.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct StoredRecord {
    /// The row: a number that is larger for younger records of the kind. The store uses it to find
    /// the record of a [`Change`]. It is [`StoredRecord::UNSAVED_ROW`] until the store assigns it.
    pub row: i64,
    /// The record. Its links have full addresses and include hidden references (see
    /// [`KindSchema::references`](crate::schema::KindSchema::references)).
    pub record: RawRecord,
}

impl StoredRecord {
    /// The row of a record of the current transaction: younger than all other records.
    pub const UNSAVED_ROW: i64 = i64::MAX;

    /// Creates a record with its row.
    #[must_use]
    pub fn new(row: i64, record: RawRecord) -> Self {
        Self { row, record }
    }

    /// Creates a record of a backend that has no rows: the creation time decides which record is
    /// older.
    #[must_use]
    pub fn by_age(record: RawRecord) -> Self {
        Self::new(record.meta().created.as_micros(), record)
    }

    /// Returns the target for a change of the record.
    pub(crate) fn at(&self) -> ChangeTarget {
        ChangeTarget {
            kind: self.record.kind(),
            id: self.record.meta().id.clone(),
            row: self.row,
        }
    }

    /// Returns the location of the record.
    #[must_use]
    pub fn location(&self) -> RecordLocation {
        let record = &self.record;
        RecordLocation {
            kind: record.kind(),
            id: record.meta().id.clone(),
            row: self.row,
            parent: record.parent().cloned(),
        }
    }
}
