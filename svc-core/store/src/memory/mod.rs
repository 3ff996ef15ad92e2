//! A store in memory, which is the reference for other stores.

mod outbox;
mod tables;
mod webhooks;

use std::{
    collections::HashMap,
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use async_trait::async_trait;
use svc_core::{
    api::ApiBuilder,
    auth::TenantResolver,
    backend::{
        ChangeFeed, FeedRequest, FeedResponse, Notifier, OutboxEntry, RevisionSource, Subscription,
    },
    context::{Context, Tenant},
    error::{Error, Problem, Result},
    filter::FilterField,
    helper::{DefaultMatching, HelperName, PersonMatching},
    link::{RecordAddress, ShareNames},
    model::Kind,
    page::{ListRequest, RawPage},
    record::RawRecord,
    rules::{Decision, decide, problems_of},
    store::{
        ApartPeople, Change, DuplicatesRequest, DuplicatesResponse, IdSequence, Lookup,
        LookupCache, LookupKey, Outbox, PendingChanges, RuleError, Store, StoredMerge, StoredPair,
        TransactionContext, WriteOutcome, WriteRequest,
    },
    value::{Id, Timestamp},
};

use self::tables::{MemoryLookups, TenantTables};
use crate::{
    duplicates::{DuplicateIndex, DuplicatesQuery},
    feed::{FeedCursors, FeedQuery, FeedRecorder},
};

/// Returns the current time. Tests use a clock of their own.
type ClockFn = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// A store in memory, for unit tests and examples: **nothing is durable**.
///
/// A clone is cheap and shares the records.
///
/// The store is the reference for other stores. It consists of maps under one lock, and defines
/// what each [`Lookup`] returns and each [`Change`] does. The tests in `store_testkit` compare other stores
/// with it.
///
/// Every tenant that a request names exists, without records at first.
///
/// # Examples
///
/// ```
/// use svc_core::{Api, Tenant, Vendor, auth::{FixedKeys, Rights}};
/// use svc_store::memory::MemoryStore;
///
/// let store = MemoryStore::new();
/// let api = store
///     .register_all(Api::builder(Vendor::new("Acme", "Acme CRM")))
///     .base_url("http://localhost/")
///     .authenticator(FixedKeys::new().with_key("secret", Tenant::new("acme"), Rights::all()))
///     .build()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct MemoryStore {
    shared: Arc<MemoryInner>,
    matching: Arc<dyn PersonMatching>,
    now: ClockFn,
}

struct MemoryInner {
    tenants: Mutex<HashMap<Tenant, TenantTables>>,
    commits: AtomicU64,
    feed_cursors: FeedCursors,
    duplicates: DuplicateIndex,
    bells: Notifier<Tenant>,
    /// Notifies of new outbox entries of all tenants.
    outgoing: Notifier<()>,
    webhooks: webhooks::WebhookMap,
}

impl Default for MemoryInner {
    fn default() -> Self {
        let mut secret = [0; 32];
        for part in secret.chunks_exact_mut(16) {
            part.copy_from_slice(uuid::Uuid::new_v4().as_bytes());
        }
        Self {
            tenants: Mutex::default(),
            commits: AtomicU64::new(0),
            feed_cursors: FeedCursors::new(&secret),
            duplicates: DuplicateIndex::new(&secret),
            bells: Notifier::default(),
            outgoing: Notifier::default(),
            webhooks: webhooks::WebhookMap::default(),
        }
    }
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new()
    }
}

impl MemoryStore {
    /// Creates a store without records.
    #[must_use]
    pub fn new() -> Self {
        Self {
            shared: Arc::default(),
            matching: Arc::new(DefaultMatching),
            now: Arc::new(Timestamp::now),
        }
    }

    /// Sets the clock. The default is the system time.
    #[must_use]
    pub fn clock(mut self, clock: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        self.now = Arc::new(clock);
        self
    }

    /// Sets the method of person matching. The default is [`DefaultMatching`].
    ///
    /// Requirements: HLP-04.
    #[must_use]
    pub fn person_matching(mut self, matching: impl PersonMatching + 'static) -> Self {
        self.matching = Arc::new(matching);
        self
    }

    /// Registers every kind and all eight helpers: see [`ApiBuilder::store`].
    #[must_use]
    pub fn register_all(&self, api: ApiBuilder) -> ApiBuilder {
        api.store(&Arc::new(self.clone()))
    }

    /// Returns the results of these lookups, all at the same time. For tests of code that uses
    /// lookups.
    #[must_use]
    pub fn lookup_all(&self, tenant: &Tenant, questions: &[Lookup]) -> LookupCache {
        let mut found = LookupCache::default();
        self.fetch_into(tenant, questions, &mut found);
        found
    }

    /// Adds the results of these lookups to a cache, all from the same time.
    pub fn fetch_into(&self, tenant: &Tenant, questions: &[Lookup], found: &mut LookupCache) {
        self.read(tenant, |tables| {
            for question in questions {
                // Lookups in memory cannot fail.
                _ = question.fetch(&mut MemoryLookups(tables), found);
            }
        });
    }

    /// Reads with lookups on all data of a tenant.
    #[cfg(feature = "testkit")]
    pub(super) fn with_lookups<T>(
        &self,
        tenant: &Tenant,
        read: impl FnOnce(&mut dyn svc_core::store::LookupSource) -> T,
    ) -> T {
        self.read(tenant, |tables| read(&mut MemoryLookups(tables)))
    }

    /// Returns the time of the tenant's next transaction (see [`TransactionContext::timestamp`]), unless
    /// another transaction is executed before it.
    #[must_use]
    pub fn next_timestamp(&self, tenant: &Tenant) -> Timestamp {
        (self.now)()
            .at_least_after(self.read(tenant, |tables| Timestamp::from_micros(tables.clock)))
    }

    /// Applies changes of a decision that was made outside of the store, in a transaction with this
    /// time. Applies all of them, or none.
    ///
    /// # Errors
    ///
    /// Returns an error if the time is not later than that of the tenant's last transaction.
    pub fn commit(&self, tenant: &Tenant, time: Timestamp, changes: &[Change]) -> Result<()> {
        let mut tenants = self.tenants();
        let tables = tenants.entry(tenant.clone()).or_default();
        if tables.clock >= time.as_micros() {
            return Err(Error::unexpected(
                "a transaction with a time before the tenant's last one",
            ));
        }
        self.apply(tables, time, changes);
        self.shared.bells.notify(tenant);
        Ok(())
    }

    /// Returns the outbox entries, responses and messages, in the order of their requests.
    ///
    /// Requirements: HAF-11, SCH-01.
    #[must_use]
    pub fn outbox_entries(&self, tenant: &Tenant) -> Vec<OutboxEntry> {
        self.read(tenant, |tables| {
            tables
                .outbox
                .values()
                .map(|waiting| waiting.dispatch.clone())
                .collect()
        })
    }

    /// Returns another store with the same records, for tests that return to an earlier state.
    #[cfg(feature = "testkit")]
    #[doc(hidden)]
    #[must_use]
    pub fn fork(&self) -> Self {
        let tenants = Mutex::new(self.tenants().clone());
        Self {
            shared: Arc::new(MemoryInner {
                tenants,
                duplicates: self.shared.duplicates.clone(),
                ..MemoryInner::default()
            }),
            ..self.clone()
        }
    }

    fn tenants(&self) -> MutexGuard<'_, HashMap<Tenant, TenantTables>> {
        // No code panics while it holds the lock.
        self.shared
            .tenants
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn read<T>(&self, tenant: &Tenant, read: impl FnOnce(&TenantTables) -> T) -> T {
        let tenants = self.tenants();
        read(tenants.get(tenant).unwrap_or(&TenantTables::default()))
    }

    /// Decides a request at this time.
    fn decide(
        &self,
        tables: &TenantTables,
        time: Timestamp,
        call: &WriteRequest,
    ) -> Result<Decision> {
        let (ids, names) = (IdSequence::default(), ShareNames::default());
        let turn = TransactionContext::new(time, &ids, &names, &*self.matching);
        let mut lookups = MemoryLookups(tables);
        let decided = decide(call, &turn, &mut lookups, &PendingChanges::default());
        decided.map_err(|pause| match pause {
            RuleError::Failed(error) => error,
            // All lookups are available, and the transaction has no earlier request.
            other => Error::unexpected(other.to_string()),
        })
    }

    /// Applies changes. This cannot fail, so all changes are applied or none.
    fn apply(&self, tables: &mut TenantTables, time: Timestamp, changes: &[Change]) {
        let mut telling = FeedRecorder::default();
        for change in changes {
            if let Some(told) = telling.record(change) {
                tables.add_feed_entries(&told, time);
            }
            tables.apply(change);
            tables.index_keys(change, &self.shared.duplicates);
        }
        tables.clock = time.as_micros();
        if changes
            .iter()
            .any(|change| matches!(change, Change::Enqueue(_)))
        {
            self.shared.outgoing.notify(&());
        }
        self.shared.commits.fetch_add(1, Ordering::Release);
    }
}

#[async_trait]
impl Store for MemoryStore {
    async fn list(&self, cx: &Context, kind: Kind, request: &ListRequest) -> Result<RawPage> {
        self.read(cx.tenant(), |tables| {
            let rows = tables
                .collection(kind, &request.scope)
                .ok_or_else(Error::not_found)?;
            // Each record is evaluated, which defines the meaning of a filter. Other stores use an
            // index.
            request.page_of_all(
                rows.iter()
                    .filter_map(|row| Some(tables.in_row(*row)?.record))
                    .collect(),
            )
        })
    }

    fn filter_fields(&self, kind: Kind) -> Vec<FilterField> {
        FilterField::of(kind).collect()
    }

    async fn get(&self, cx: &Context, at: &RecordAddress) -> Result<Option<RawRecord>> {
        let record = self.find(cx, &LookupKey::from(at)).await?;
        Ok(record.filter(|record| at.matches_parent(record.parent())))
    }

    async fn find(&self, cx: &Context, key: &LookupKey) -> Result<Option<RawRecord>> {
        Ok(self.read(cx.tenant(), |tables| {
            Some(tables.in_row(tables.row(key)?)?.record)
        }))
    }

    async fn forwarded_person(&self, cx: &Context, id: &Id) -> Result<Option<Id>> {
        Ok(self.read(cx.tenant(), |tables| tables.forwarded_person(id)))
    }

    fn undoes_merges(&self) -> bool {
        true
    }

    async fn merges(&self, cx: &Context, remaining: &Id) -> Result<Vec<StoredMerge>> {
        Ok(self.read(cx.tenant(), |tables| tables.merges(remaining)))
    }

    fn finds_duplicates(&self) -> bool {
        true
    }

    async fn duplicates(
        &self,
        cx: &Context,
        request: &DuplicatesRequest,
    ) -> Result<DuplicatesResponse> {
        self.read(cx.tenant(), |tables| {
            let person = request.person.as_ref().map(|id| {
                let row = tables.row(&LookupKey::Id(Kind::Person, id.clone()));
                row.and_then(|row| tables.in_row(row))
                    .ok_or_else(Error::not_found)
            });
            let (index, person) = (&self.shared.duplicates, person.transpose()?);
            Ok(
                match DuplicatesQuery::new(index, cx.tenant(), request, person.as_ref()) {
                    Ok(query) => DuplicatesResponse::Page(tables.duplicates(&query)),
                    Err(refused) => refused,
                },
            )
        })
    }

    async fn duplicate_pair(&self, cx: &Context, people: [&Id; 2]) -> Result<Option<StoredPair>> {
        self.read(cx.tenant(), |tables| {
            let [one, other] = people.map(|id| {
                let row = tables.row(&LookupKey::Id(Kind::Person, id.clone()));
                row.and_then(|row| tables.in_row(row))
            });
            let is_dismissed = tables.is_apart(people);
            let people = one.zip(other);
            Ok(people.map(|(one, other)| StoredPair::new(one, other, is_dismissed)))
        })
    }

    async fn set_apart(&self, cx: &Context, apart: &ApartPeople) -> Result<bool> {
        let mut tenants = self.tenants();
        let tables = tenants.entry(cx.tenant().clone()).or_default();
        let mut people = apart.people.iter();
        let is_known = people.all(|id| {
            tables
                .row(&LookupKey::Id(Kind::Person, id.clone()))
                .is_some()
        });
        if is_known {
            tables.apply(&Change::SetApart(apart.clone()));
            self.shared.commits.fetch_add(1, Ordering::Release);
        }
        Ok(is_known)
    }

    async fn write(&self, cx: &Context, call: WriteRequest) -> Result<WriteOutcome> {
        let mut tenants = self.tenants();
        let tables = tenants.entry(cx.tenant().clone()).or_default();
        let time = (self.now)().at_least_after(Timestamp::from_micros(tables.clock));
        let Decision {
            changes, outcome, ..
        } = self.decide(tables, time, &call)?;
        self.apply(tables, time, &changes);
        self.shared.bells.notify(cx.tenant());
        Ok(outcome)
    }

    async fn find_problems(&self, cx: &Context, call: WriteRequest) -> Result<Vec<Problem>> {
        self.read(cx.tenant(), |tables| {
            problems_of(self.decide(tables, (self.now)(), &call))
        })
    }

    fn person_matching(&self) -> Arc<dyn PersonMatching> {
        Arc::clone(&self.matching)
    }

    fn merges_people(&self) -> bool {
        true
    }

    fn stores_responses(&self) -> bool {
        true
    }

    async fn sweep(&self, before: Timestamp) -> Result<bool> {
        self.tenants()
            .values_mut()
            .for_each(|tables| tables.sweep(before));
        Ok(false)
    }

    fn outbox(self: Arc<Self>) -> Option<Arc<dyn Outbox>> {
        Some(self)
    }
}

/// Counts commits, so that responses to reads can be cached ([`ApiBuilder::response_cache`]).
#[async_trait]
impl RevisionSource for MemoryStore {
    async fn revision(&self, _: &Tenant, _: std::time::Instant) -> Option<u64> {
        Some(self.shared.commits.load(Ordering::Acquire))
    }
}

#[async_trait]
impl ChangeFeed for MemoryStore {
    async fn read(&self, cx: &Context, request: &FeedRequest) -> Result<FeedResponse> {
        Ok(
            match FeedQuery::new(cx.tenant(), request, &self.shared.feed_cursors) {
                Ok(query) => query.page(self.read(cx.tenant(), |tables| tables.feed_after(&query))),
                Err(refused) => refused,
            },
        )
    }

    async fn subscribe(&self, cx: &Context) -> Result<Subscription> {
        Ok(self.shared.bells.subscribe(cx.tenant().clone()))
    }
}

/// Finds the tenant of a container. If two tenants have a container with this id, there is no
/// result.
///
/// Requirements: HLP-07.
#[async_trait]
impl TenantResolver for MemoryStore {
    async fn tenant_of(&self, container: &RecordAddress) -> Result<Option<Tenant>> {
        let is_addressed = |helper: &HelperName| helper.container_kind() == Some(container.kind);
        if !HelperName::ALL
            .iter()
            .filter(|helper| helper.allows_anonymous())
            .any(is_addressed)
        {
            return Ok(None);
        }
        let (tenants, key) = (self.tenants(), LookupKey::from(container));
        let mut owners = tenants
            .iter()
            .filter(|(_, tables)| {
                let is_merged = container.kind == Kind::Person
                    && tables.forwarded_person(&container.id).is_some();
                is_merged || tables.row(&key).is_some()
            })
            .map(|(tenant, _)| tenant);
        let owner = owners.next().cloned();
        Ok(owner.filter(|_| owners.next().is_none()))
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore")
            .field("tenants", &self.tenants().len())
            .finish_non_exhaustive()
    }
}
