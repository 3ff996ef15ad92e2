//! A store in memory: the specification of a store, in a few hundred lines.

mod outgoing;
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
    context::{Context, Tenant},
    error::{Error, Result},
    filter::FilterField,
    helper::{DefaultMatching, HelperName, PersonMatching},
    link::{RecordAddress, ShareNames},
    model::Kind,
    ops::{
        ChangeFeed, FeedRequest, FeedResponse, Notifier, OutboxEntry, RevisionSource, Subscription,
    },
    page::{ListRequest, RawPage},
    record::RawRecord,
    rules::{Decision, decide},
    store::{
        Change, IdSequence, Lookup, LookupKey, LookupResult, LookupSource, Outbox, PendingChanges,
        RuleError, Store, TransactionContext, WriteOutcome, WriteRequest,
    },
    value::Timestamp,
};

use self::tables::TenantTables;
use crate::feed::{FeedCursors, FeedQuery, FeedRecorder};

/// Tells the time; a test sets its own.
type ClockFn = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// A store in memory, for unit tests and examples: **nothing is durable**. Cheap to clone; clones
/// share the records.
///
/// It is the specification of a store: what each [`Lookup`] asks and each [`Change`] means is
/// what it does, maps under one lock and nothing else. Another store behaves alike when `laws` says
/// so.
///
/// Every tenant that a request names is there, without records at first.
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
    bells: Notifier<Tenant>,
    /// Rings when something is to be sent, whoever's it is.
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
    /// A store without records.
    #[must_use]
    pub fn new() -> Self {
        Self {
            shared: Arc::default(),
            matching: Arc::new(DefaultMatching),
            now: Arc::new(Timestamp::now),
        }
    }

    /// Tells the time from `clock` instead of the system.
    #[must_use]
    pub fn now(mut self, clock: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        self.now = Arc::new(clock);
        self
    }

    /// Decides whether a posted person is known already; by default [`DefaultMatching`].
    ///
    /// Requirements: HLP-04.
    #[must_use]
    pub fn matching(mut self, matching: impl PersonMatching + 'static) -> Self {
        self.matching = Arc::new(matching);
        self
    }

    /// Registers every kind and all eight helpers: see [`ApiBuilder::store`].
    #[must_use]
    pub fn register_all(&self, api: ApiBuilder) -> ApiBuilder {
        api.store(&Arc::new(self.clone()))
    }

    /// The answers to these questions, all of one moment: for tests of whatever asks them.
    #[must_use]
    pub fn fetch(&self, tenant: &Tenant, questions: &[Lookup]) -> Vec<(Lookup, LookupResult)> {
        self.read(tenant, |tables| {
            questions
                .iter()
                .map(|it| (it.clone(), tables.answer(it)))
                .collect()
        })
    }

    /// The moment that the tenant's next turn has (see [`TransactionContext::time`]), unless
    /// another one comes first.
    #[must_use]
    pub fn next_turn(&self, tenant: &Tenant) -> Timestamp {
        (self.now)().after(self.read(tenant, |tables| Timestamp::from_micros(tables.clock)))
    }

    /// Applies changes that were decided elsewhere in the turn of this moment: all of them, or
    /// none.
    ///
    /// # Errors
    ///
    /// When the tenant's last turn was not earlier.
    pub fn commit(&self, tenant: &Tenant, time: Timestamp, changes: &[Change]) -> Result<()> {
        let mut tenants = self.tenants();
        let tables = tenants.entry(tenant.clone()).or_default();
        if tables.clock >= time.micros() {
            return Err(Error::unexpected("a turn before the tenant's last one"));
        }
        self.apply(tables, time, changes);
        self.shared.bells.notify(tenant);
        Ok(())
    }

    /// What is to be sent, responses and messages, in the order of the calls.
    ///
    /// Requirements: HAF-11, SCH-01.
    #[must_use]
    pub fn outbox(&self, tenant: &Tenant) -> Vec<OutboxEntry> {
        self.read(tenant, |tables| {
            tables
                .outbox
                .values()
                .map(|waiting| waiting.dispatch.clone())
                .collect()
        })
    }

    /// Another store with the same records.
    #[cfg(feature = "testkit")]
    pub(super) fn fork(&self) -> Self {
        let tenants = Mutex::new(self.tenants().clone());
        Self {
            shared: Arc::new(MemoryInner {
                tenants,
                ..MemoryInner::default()
            }),
            ..self.clone()
        }
    }

    fn tenants(&self) -> MutexGuard<'_, HashMap<Tenant, TenantTables>> {
        // Nothing panics while it holds the lock.
        self.shared
            .tenants
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn read<T>(&self, tenant: &Tenant, read: impl FnOnce(&TenantTables) -> T) -> T {
        let tenants = self.tenants();
        read(tenants.get(tenant).unwrap_or(&TenantTables::default()))
    }

    /// Nothing of it can fail, so all changes are applied or none.
    fn apply(&self, tables: &mut TenantTables, time: Timestamp, changes: &[Change]) {
        let mut telling = FeedRecorder::default();
        for change in changes {
            if let Some(told) = telling.tell(change) {
                tables.tell(&told, time);
            }
            tables.apply(change);
        }
        tables.clock = time.micros();
        if changes
            .iter()
            .any(|change| matches!(change, Change::Outbox(_)))
        {
            self.shared.outgoing.notify(&());
        }
        self.shared.commits.fetch_add(1, Ordering::Release);
    }
}

/// Everything is at hand.
struct MemoryLookups<'a>(&'a TenantTables);

impl LookupSource for MemoryLookups<'_> {
    fn answer(&mut self, question: &Lookup) -> Result<LookupResult, RuleError> {
        Ok(self.0.answer(question))
    }
}

#[async_trait]
impl Store for MemoryStore {
    async fn list(&self, cx: &Context, kind: Kind, request: &ListRequest) -> Result<RawPage> {
        self.read(&cx.tenant, |tables| {
            let rows = tables
                .collection(kind, &request.scope)
                .ok_or_else(Error::not_found)?;
            // Each record is looked at, which is what a filter means and what no other store does.
            request.page_of_all(
                rows.iter()
                    .filter_map(|row| Some(tables.in_row(*row)?.record))
                    .collect(),
            )
        })
    }

    fn filterable(&self, kind: Kind) -> Vec<FilterField> {
        FilterField::of(kind).collect()
    }

    async fn get(&self, cx: &Context, at: &RecordAddress) -> Result<Option<RawRecord>> {
        let record = self.find(cx, &LookupKey::from(at)).await?;
        Ok(record.filter(|record| at.admits_parent(record.parent())))
    }

    async fn find(&self, cx: &Context, key: &LookupKey) -> Result<Option<RawRecord>> {
        Ok(self.read(&cx.tenant, |tables| {
            Some(tables.in_row(tables.row(key)?)?.record)
        }))
    }

    async fn write(&self, cx: &Context, call: WriteRequest) -> Result<WriteOutcome> {
        let mut tenants = self.tenants();
        let tables = tenants.entry(cx.tenant.clone()).or_default();
        let (last, ids, names) = (
            Timestamp::from_micros(tables.clock),
            IdSequence::default(),
            ShareNames::default(),
        );
        let turn = TransactionContext::new((self.now)().after(last), &ids, &names, &*self.matching);
        let decided = decide(
            &call,
            &turn,
            &mut MemoryLookups(tables),
            &PendingChanges::default(),
        );
        let Decision {
            changes, outcome, ..
        } = decided.map_err(|pause| match pause {
            RuleError::Failed(error) => error,
            // Everything is at hand, and no call was before this one.
            other => Error::unexpected(other.to_string()),
        })?;
        self.apply(tables, turn.time, &changes);
        self.shared.bells.notify(&cx.tenant);
        Ok(outcome)
    }

    fn matching(&self) -> Arc<dyn PersonMatching> {
        Arc::clone(&self.matching)
    }

    fn keeps_answers(&self) -> bool {
        true
    }

    async fn sweep(&self, before: Timestamp) -> Result<bool> {
        self.tenants()
            .values_mut()
            .for_each(|tables| tables.sweep(before));
        Ok(false)
    }

    fn outgoing(self: Arc<Self>) -> Option<Arc<dyn Outbox>> {
        Some(self)
    }
}

/// Counts commits, so that answers to reads may be kept ([`ApiBuilder::response_cache`]).
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
            match FeedQuery::new(&cx.tenant, request, &self.shared.feed_cursors) {
                Ok(query) => query.page(self.read(&cx.tenant, |tables| tables.told(&query))),
                Err(refused) => refused,
            },
        )
    }

    async fn subscribe(&self, cx: &Context) -> Result<Subscription> {
        Ok(self.shared.bells.subscribe(cx.tenant.clone()))
    }
}

/// Whose a container is; where two tenants have one of this id, whose is meant cannot be told.
///
/// Requirements: HLP-07.
#[async_trait]
impl TenantResolver for MemoryStore {
    async fn tenant_of(&self, container: &RecordAddress) -> Result<Option<Tenant>> {
        let is_addressed = |helper: &HelperName| helper.container() == Some(container.kind);
        if !HelperName::ALL
            .iter()
            .filter(|helper| helper.may_be_anonymous())
            .any(is_addressed)
        {
            return Ok(None);
        }
        let (tenants, key) = (self.tenants(), LookupKey::from(container));
        let mut owners = tenants
            .iter()
            .filter(|(_, tables)| tables.row(&key).is_some())
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
