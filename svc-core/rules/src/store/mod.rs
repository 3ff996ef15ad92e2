//! Stores: what keeps the records of every kind, and what the rulebook asks and tells it.
//!
//! The rules of the interface are in the rulebook and nowhere else: what a create, a change, a
//! deletion or a helper call means is decided by [`decide`](crate::rules::decide), a synchronous
//! function over [`Lookup`]s and [`Change`]s, both plain data. A [`Store`] fetches and writes. It
//! knows no rule, and the rulebook knows no database.
//!
//! A call has its turn inside a transaction of the store, after every write that was committed
//! before:
//!
//! ```text
//! WriteRequest ──► decide ──► Lookup ──► the store answers      (again, until nothing is missing)
//!             └─────► Change   ──► the store applies them, commits, and gives the outcome
//! ```
//!
//! A store that has its data at hand implements [`LookupSource`] by reading, and is never run
//! twice; one that has to fetch keeps what it fetched in [`LookupCache`], beginning with
//! [`first_questions`](crate::rules::first_questions).

mod call;
mod change;
mod condition;
mod counts;
mod fetched;
mod kept;
mod ledger;
mod outgoing;
mod overlay;
mod question;
mod stored_response;

use std::sync::Arc;

use async_trait::async_trait;

pub use call::{
    IdSequence, ImportedRecord, TransactionContext, WriteOperation, WriteOutcome, WriteRequest,
};
pub use change::{Change, ChangeTarget, InsertRecord, RecordSet, ReplaceRecord};
pub use condition::Precondition;
pub use counts::{CollectionId, CountDeltas};
pub use fetched::LookupCache;
pub use kept::ResponseRecorder;
pub(crate) use ledger::TransactionView;
pub use outgoing::{ClaimResolution, ClaimedEntries, Outbox, OutboxClaim};
pub use overlay::PendingChanges;
pub use question::{
    HeldTickets, Lookup, LookupKey, LookupResult, LookupSource, RecordLocation, RuleError,
};
pub use stored_response::StoredResponse;

use crate::{
    context::Context,
    error::Result,
    filter::FilterField,
    helper::{DefaultMatching, PersonMatching},
    link::RecordAddress,
    model::Kind,
    page::{ListRequest, RawPage},
    record::{ComputedValue, RawRecord},
    schema::ComputedSource,
    value::{Amount, Timestamp},
};

/// A store that keeps records of every kind and runs all eight helpers;
/// `ApiBuilder::store` registers all of it with one call.
///
/// It is not generic over the kind: raw records go in and come out.
///
/// # Behaviour
///
/// - Only records of `cx.tenant` are seen or changed.
/// - [`write`](Self::write) gives a call its turn: in one transaction it runs
///   [`decide`](crate::rules::decide), applies the changes, and commits before it answers. The
///   [`WriteRequest::condition`] is judged there, too: a store that runs the rulebook has nothing
///   to add. Writes of one tenant have their turns one after the other; each sees what those before
///   it changed.
/// - The [`TransactionContext::time`] of a tenant's writes increases strictly, also over restarts;
///   it is never before the store's clock.
/// - Reads see committed writes only, and see every write that was acknowledged before they began.
///
/// # Examples
///
/// A store around another one, which notes how long writes take:
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
///     fn matching(&self) -> Arc<dyn PersonMatching> {
///         self.store.matching()
///     }
/// }
/// ```
///
/// # Testing a store
///
/// With the feature `testkit` of `svc-store` a test checks the laws of a store over random
/// histories, by one line; see the module `svc_store::laws`:
///
/// ```text
/// svc_store::laws::check(async || (MyStore::empty().await, ["one", "two"].map(Tenant::new))).await?;
/// ```
#[async_trait]
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not keep records of every kind, so `.store()` cannot register it",
    label = "missing `impl svc_core::store::Store for {Self}`",
    note = "implement `svc_core::store::Store`, or implement `List`, `Get`, `Create`, ... for the kinds that it has"
)]
pub trait Store: Send + Sync + 'static {
    /// One page of a collection, in creation order; see `List`.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotFound`](crate::error::ErrorKind::NotFound) where there is no such container.
    ///
    /// Requirements: COL-20 to COL-31.
    async fn list(&self, cx: &Context, kind: Kind, request: &ListRequest) -> Result<RawPage>;

    /// What the collection of all records of a kind can be filtered by, and ordered by where it is
    /// a date: only what an index leads to. [`list`](Self::list) is then asked for that; by default
    /// nothing.
    ///
    /// Requirements: FLT-01, FLT-09.
    fn filterable(&self, kind: Kind) -> Vec<FilterField> {
        let _ = kind;
        Vec::new()
    }

    /// The record at an address; `None` where there is none.
    ///
    /// Requirements: COL-03, COL-19.
    async fn get(&self, cx: &Context, at: &RecordAddress) -> Result<Option<RawRecord>>;

    /// The record that a key names, for helpers that are composed of a store's operations; `None`
    /// where there is none.
    async fn find(&self, cx: &Context, key: &LookupKey) -> Result<Option<RawRecord>>;

    /// Gives a call its turn and answers when what it changed is durable.
    ///
    /// # Errors
    ///
    /// What the rulebook refuses; nothing is changed then.
    ///
    /// Requirements: ERR-04.
    async fn write(&self, cx: &Context, call: WriteRequest) -> Result<WriteOutcome>;

    /// How the store's turns decide whether a posted person is known already
    /// ([`TransactionContext::matching`], HLP-04): what `ApiBuilder::store` publishes.
    ///
    /// Requirements: HLP-05.
    fn matching(&self) -> Arc<dyn PersonMatching> {
        Arc::new(DefaultMatching)
    }

    /// Whether it answers [`Lookup::Kept`] and applies [`Change::Keep`], so that a call with
    /// `Idempotency-Key` is done once however often it comes, and what an anonymous caller triggers
    /// is sent once a day.
    ///
    /// Requirements: IDM-01, HAF-14.
    fn keeps_answers(&self) -> bool {
        false
    }

    /// Deletes stored responses of all tenants that were stored before `before`, some of them at a
    /// time. Returns whether there may be more.
    ///
    /// Called with requests of any tenant, every ten minutes at most while there are no more.
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

    /// What it has to be sent, where it applies [`Change::Outbox`] and [`Change::Recall`]: without
    /// it neither triggers nor schedules are offered.
    ///
    /// Requirements: HAF-11, SCH-01.
    fn outgoing(self: Arc<Self>) -> Option<Arc<dyn Outbox>> {
        None
    }
}

/// A record with its place in the store's order of creation.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct StoredRecord {
    /// Its place: a number that is larger for younger records of the kind, and that the store finds
    /// the record by when a [`Change`] names it. [`StoredRecord::NEW`] until the store has given it
    /// one.
    pub row: i64,
    /// The record. Its links have full addresses; hidden references (see
    /// [`KindSchema::references`](crate::schema::KindSchema::references)) are among them.
    pub record: RawRecord,
}

impl StoredRecord {
    /// The place of a record that the same transaction makes: younger than all that have one.
    pub const NEW: i64 = i64::MAX;

    /// A record at its place.
    #[must_use]
    pub fn new(row: i64, record: RawRecord) -> Self {
        Self { row, record }
    }

    /// Names the record for a change.
    pub(crate) fn at(&self) -> ChangeTarget {
        ChangeTarget {
            kind: self.record.kind(),
            id: self.record.meta().id.clone(),
            row: self.row,
        }
    }

    /// What is known of the record without reading it.
    #[must_use]
    pub fn found(&self) -> RecordLocation {
        let record = &self.record;
        RecordLocation {
            kind: record.kind(),
            id: record.meta().id.clone(),
            row: self.row,
            parent: record.parent().cloned(),
        }
    }
}

/// What the attendances of an event or the donations of a page come to, in all or in one part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Totals {
    /// Attendances that count.
    ///
    /// Requirements: RES-event-18.
    pub accepted: i64,
    /// What is summed: tickets sold, donations of the page's currency.
    ///
    /// Requirements: RES-event-19, RES-fundraising_page-09.
    pub number: i64,
    /// Money.
    ///
    /// Requirements: RES-event-20, RES-fundraising_page-10.
    pub amount: Amount,
}

impl Totals {
    /// Sets the computed fields that show the sums over members of this kind.
    pub fn show_on(self, record: &mut RawRecord, members: Kind) {
        for (source, value) in [
            (
                ComputedSource::Accepted(members),
                ComputedValue::Count(self.accepted),
            ),
            (
                ComputedSource::Number(members),
                ComputedValue::Count(self.number),
            ),
            (
                ComputedSource::Sum(members),
                ComputedValue::Amount(self.amount),
            ),
        ] {
            record.set_computed(source, Some(value));
        }
    }

    /// So many attendances that count, so many tickets or donations, and so much money.
    #[must_use]
    pub fn new(accepted: i64, number: i64, amount: Amount) -> Self {
        Self {
            accepted,
            number,
            amount,
        }
    }

    /// Both together.
    pub(crate) fn plus(self, other: Self) -> Self {
        let accepted = self.accepted.saturating_add(other.accepted);
        Self::new(
            accepted,
            self.number.saturating_add(other.number),
            self.amount.plus(other.amount),
        )
    }

    /// Without the other.
    pub(crate) fn minus(self, other: Self) -> Self {
        let accepted = self.accepted.saturating_sub(other.accepted);
        Self::new(
            accepted,
            self.number.saturating_sub(other.number),
            self.amount.minus(other.amount),
        )
    }
}
