//! Tests for authors of a store, which check the contract of stores (feature `testkit`).
//!
//! ```
//! use svc_core::Tenant;
//! use svc_store::{store_testkit, memory::MemoryStore};
//!
//! # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
//! store_testkit::check(async || (MemoryStore::new(), ["one", "two"].map(Tenant::new))).await?;
//! # Ok::<(), store_testkit::ContractViolation>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The function that creates a store is called for each history. It must return a store in which
//! the two tenants have no records. It can return the same store with two new tenants, which is
//! faster.
//!
//! | Contract | Meaning |
//! |---|---|
//! | equal stores | equal histories of requests have the same outcomes and the same reads as in a [`MemoryStore`] |
//! | rejected | `Store::find_problems` returns the problems that a write of the request returns |
//! | undo | a rejected request changes nothing; a partly failed request changes exactly what its outcome reports |
//! | clock | the dates of a tenant's writes strictly increase; a new record has equal creation and modification dates |
//! | feed ([`check_feed`]) | a client that follows the change feed has all records with their dates |
//! | filters ([`check_filters`]) | a filter or an order returns the same records as an evaluation of each record |
//! | outgoing ([`check_outgoing`]) | the outbox contains exactly the entries of committed requests, and one sender claims each at a time |
//! | webhooks ([`check_webhooks`]) | of several concurrent writers of a webhook one succeeds, tenants are separate, and each due webhook is found once |
//! | matching ([`StoreTests::check_matching`]) | sign-ups never create two people with equal e-mail addresses, and totals are the numbers of members after merges, undone merges, moves and deletions |
//! | pages ([`NumberedPages`]) | a page by number has as many records as its own total implies, also during writes |
//! | recount ([`check_recount`]) | a store that derives its totals, values and indexes again has the same as a [`MemoryStore`] |
//! | together | concurrent requests have the same result as in some sequential order |
//!
//! The histories are random and the same in each run. They contain all operations and helpers of
//! two tenants. They cover identifiers, names and e-mail addresses that are in use, full events,
//! tickets, two currencies, schedules, and deletions of every kind. Ids and dates are compared by
//! the order of their first appearance.

mod canonical;
mod concurrency;
mod coverage;
mod feed;
mod filters;
mod generator;
mod matching;
mod names;
mod outbox;
mod pages;
mod recount;
mod rulebook;
mod undo;
mod webhooks;

use std::{
    collections::HashMap,
    fmt::{self, Write as _},
    sync::Arc,
};

use svc_core::{
    auth,
    context::{Context, Tenant},
    error::{Error, Result},
    link::{RecordAddress, Scope},
    model::Kind,
    page::{ListRequest, PageRequest},
    record::RawRecord,
    store::{Store, WriteOperation, WriteOutcome, WriteRequest},
    value::{Id, Timestamp},
};

use self::{
    canonical::{Ordinals, refusal},
    coverage::{Exclusions, label},
    generator::{KnownRecords, RequestGenerator, Rng, kinds},
};
use crate::memory::MemoryStore;
pub use coverage::{Coverage, Exclusion, OperationCoverage};
pub use feed::{check_feed, check_feed_among_writers, check_feed_expires};
pub use filters::check_filters;
pub use names::check_names;
pub use outbox::check_outgoing;
pub use pages::NumberedPages;
pub use recount::{FORMER_VALUES, check_recount};
pub use rulebook::check_rulebook;
pub use webhooks::check_webhooks;

/// Checks the contract with several hundred histories. Use [`StoreTests`] for more.
///
/// # Errors
///
/// Returns the first violation.
pub async fn check<S: Store>(
    make: impl AsyncFn() -> (S, [Tenant; 2]),
) -> Result<(), ContractViolation> {
    StoreTests::new().check(make).await
}

/// The number of histories in which each operation has at least one effect. Answers are deleted in
/// the fewest.
const HISTORIES_FOR_EACH_EFFECT: u64 = 2_000;

/// The number of histories and requests to check.
#[derive(Debug, Clone)]
pub struct StoreTests {
    histories: u64,
    calls: usize,
    seed: u64,
    least_effects: u64,
    exclusions: Exclusions,
}

impl Default for StoreTests {
    fn default() -> Self {
        Self::new()
    }
}

impl StoreTests {
    /// Creates the default: 300 histories of 30 requests.
    #[must_use]
    pub fn new() -> Self {
        Self {
            histories: 300,
            calls: 30,
            seed: 0,
            least_effects: 0,
            exclusions: Exclusions::default(),
        }
    }

    /// Sets the number of histories.
    #[must_use]
    pub fn histories(mut self, histories: u64) -> Self {
        self.histories = histories;
        self
    }

    /// Sets the number of requests in each history.
    #[must_use]
    pub fn calls(mut self, calls: usize) -> Self {
        self.calls = calls;
        self
    }

    /// Sets the seed of the first history. The following histories have the following seeds. To
    /// repeat a failure, use the seed of its [`ContractViolation`].
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Excludes a part of the requests or of the compared values, for a store that does not support
    /// it.
    #[must_use]
    pub fn without(mut self, exclusion: Exclusion) -> Self {
        self.exclusions.0.push(exclusion);
        self
    }

    /// Sets how many requests of each operation must have an effect, as [`Coverage`] counts them.
    /// With a minimum, a store with exclusions does not pass without comparing.
    #[must_use]
    pub fn effects(mut self, least: u64) -> Self {
        self.least_effects = least;
        self
    }

    /// Returns the histories of the environment: `SVC_LAWS` is their number, and `SVC_LAWS_SEED`
    /// the seed of the first. Returns `None` without `SVC_LAWS`.
    #[must_use]
    pub fn of_environment(self) -> Option<Self> {
        let number = |name| std::env::var(name).ok()?.parse().ok();
        let histories = number("SVC_LAWS")?;
        let seed = number("SVC_LAWS_SEED").unwrap_or(self.seed);
        Some(self.histories(histories).seed(seed))
    }

    /// Returns the runs that compare a store with exclusions: those of the
    /// [environment](Self::of_environment), with an effect of each operation in 2 000 histories.
    /// By default these are two histories that read everything after each request, and six histories
    /// with `calls` requests each.
    #[must_use]
    pub fn runs(self, calls: usize) -> Vec<Self> {
        match self.clone().of_environment() {
            Some(asked) => {
                let least = asked.histories / HISTORIES_FOR_EACH_EFFECT;
                vec![asked.effects(least)]
            }
            None => vec![
                self.clone().histories(2).seed(0),
                self.histories(6).seed(2).calls(calls).effects(1),
            ],
        }
    }

    /// Checks the contract.
    ///
    /// # Errors
    ///
    /// Returns the first violation.
    pub async fn check<S: Store>(
        self,
        make: impl AsyncFn() -> (S, [Tenant; 2]),
    ) -> Result<(), ContractViolation> {
        self.check_and_count(make).await.map(drop)
    }

    /// Checks the contract, and returns what was compared.
    ///
    /// # Errors
    ///
    /// Returns the first violation.
    pub async fn check_and_count<S: Store>(
        self,
        make: impl AsyncFn() -> (S, [Tenant; 2]),
    ) -> Result<Coverage, ContractViolation> {
        let mut coverage = Coverage::of(&self.exclusions);
        let exclusions = Arc::new(self.exclusions);
        for seed in (self.seed..).take(usize::try_from(self.histories).unwrap_or(usize::MAX)) {
            let (store, tenants) = make().await;
            let keeps = store.stores_responses();
            let mut tested = History::new(seed, store, tenants, keeps).excluding(&exclusions);
            let mut model = History::new(
                seed,
                MemoryStore::new(),
                ["one", "two"].map(Tenant::new),
                keeps,
            )
            .excluding(&exclusions);
            while tested.steps < self.calls {
                match seed % 8 {
                    // These are few, because they read all records after each request.
                    0 => undo::step(&mut tested).await?,
                    1 => concurrency::step(&mut tested, &mut model).await?,
                    _ => {
                        tested.choose();
                        model.choose();
                        let (told, meant) = (tested.step().await?, model.step().await?);
                        tested.agree("equal stores", &told.text, &meant.text, &told.what)?;
                        let ((told, what), (meant, _)) =
                            (tested.read_sample().await, model.read_sample().await);
                        tested.agree("equal stores", &told, &meant, &what)?;
                    }
                }
            }
            if seed % 8 > 0 {
                let (told, meant) = (tested.everything().await, model.everything().await);
                tested.agree("equal stores", &told, &meant, "at the end")?;
            }
            coverage.merge(tested.coverage);
        }
        let missing = coverage.below(self.least_effects);
        if missing.is_empty() {
            Ok(coverage)
        } else {
            Err(ContractViolation {
                law: "coverage",
                seed: self.seed,
                step: 0,
                text: format!("too few requests with an effect: {}", missing.join("; ")),
            })
        }
    }
}

/// Error raised when a store violates the contract.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("the store violates the contract `{law}`: seed {seed}, request {step}: {text}")]
pub struct ContractViolation {
    /// The violated part of the contract.
    pub law: &'static str,
    /// The seed of the history.
    pub seed: u64,
    /// The number of the request in the history, counted from 1.
    pub step: usize,
    /// A description of the violation.
    pub text: String,
}

impl fmt::Debug for ContractViolation {
    /// Formats the violation as in a failed test.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A store, and what is known about it from a history of requests.
#[derive(Clone)]
struct History<S> {
    seed: u64,
    store: S,
    dice: Rng,
    steps: usize,
    /// The tenant of the last request.
    here: TenantHistory,
    there: TenantHistory,
    /// Whether requests are repeated.
    ///
    /// Requirements: IDM-01.
    keeps: bool,
    exclusions: Arc<Exclusions>,
    coverage: Coverage,
}

/// One tenant.
#[derive(Clone)]
struct TenantHistory {
    tenant: Tenant,
    known: KnownRecords,
    names: Ordinals,
    /// The date of the last write, and the date of the last change of each record.
    last: Timestamp,
    modified: HashMap<(Kind, Id), Timestamp>,
}

impl TenantHistory {
    fn new(tenant: Tenant) -> Self {
        let (known, names, modified) = Default::default();
        Self {
            tenant,
            known,
            names,
            last: Timestamp::MIN,
            modified,
        }
    }

    fn learn(&mut self, record: &RawRecord) {
        let at = record.address();
        if !self.known.records.contains(&at) {
            self.known.records.push(at);
        }
    }
}

/// The outcome of a request, and the request as text.
struct ObservedOutcome {
    text: String,
    what: String,
    outcome: Result<WriteOutcome>,
}

impl<S: Store> History<S> {
    fn new(seed: u64, store: S, [one, two]: [Tenant; 2], keeps: bool) -> Self {
        let (here, there) = (TenantHistory::new(one), TenantHistory::new(two));
        Self {
            seed,
            store,
            dice: Rng::new(seed),
            steps: 0,
            here,
            there,
            keeps,
            exclusions: Arc::default(),
            coverage: Coverage::default(),
        }
    }

    fn excluding(mut self, exclusions: &Arc<Exclusions>) -> Self {
        for tenant in [&mut self.here, &mut self.there] {
            tenant.names.exclusions = Arc::clone(exclusions);
        }
        self.exclusions = Arc::clone(exclusions);
        self
    }

    fn broken(&self, law: &'static str, text: String) -> ContractViolation {
        ContractViolation {
            law,
            seed: self.seed,
            step: self.steps,
            text,
        }
    }

    fn agree(
        &self,
        law: &'static str,
        told: &str,
        meant: &str,
        what: &str,
    ) -> Result<(), ContractViolation> {
        match self.exclusions.difference(told, meant) {
            Some(difference) => Err(self.broken(law, format!("{what}{difference}"))),
            None => Ok(()),
        }
    }

    fn cx(&self) -> Context {
        Context::new(
            self.here.tenant.clone(),
            auth::Caller::anonymous(),
            Timestamp::MAX,
        )
    }

    /// Chooses the tenant of the next request.
    fn choose(&mut self) {
        if self.dice.one_in(5) {
            std::mem::swap(&mut self.here, &mut self.there);
        }
    }

    /// Returns the context of a request: its caller, and when it was received.
    fn cx_of(&self, call: &WriteRequest) -> Context {
        Context::new(
            self.here.tenant.clone(),
            auth::Caller::anonymous().with_person(call.caller.clone()),
            call.received_at,
        )
    }

    /// Returns the next request of the history.
    fn call(&mut self) -> WriteRequest {
        self.steps = self.steps.saturating_add(1);
        self.here.known.steps = self.steps;
        let (known, foreign) = (&self.here.known, &self.there.known);
        loop {
            let mut call = RequestGenerator {
                dice: &mut self.dice,
                known,
                foreign,
                kinds: kinds(self.seed),
            }
            .call();
            call.response_recorder = call.response_recorder.filter(|_| self.keeps);
            let is_foreign = self.exclusions.has(Exclusion::ForeignIds)
                && matches!(&call.operation, WriteOperation::Import(load)
                    if foreign.records.iter().any(|at| at.id == load.id));
            if is_foreign {
                continue;
            }
            // People are never excluded, so another request follows.
            if let Some(call) = self.exclusions.restrict(call) {
                return call;
            }
        }
    }

    /// Executes the next request.
    async fn step(&mut self) -> Result<ObservedOutcome, ContractViolation> {
        let call = self.call();
        let cx = self.cx_of(&call);
        let before = match &call.operation {
            WriteOperation::Update(at, _) => self.store.get(&cx, at).await.unwrap_or_default(),
            _ => None,
        };
        let outcome = self.store.write(&cx, call.clone()).await;
        self.coverage.count(&call.operation, &outcome);
        self.check_timestamps(&call, before.as_ref(), &outcome)?;
        let label = label(&call);
        let (text, what) = (
            self.describe_outcome(&outcome),
            format!("{:?}", call.operation),
        );
        if call.is_rejected {
            let found = self.store.find_problems(&cx, call).await;
            let found = found.and_then(|problems| Err(Error::invalid_all(problems)));
            let found = self.here.names.outcome(&found);
            self.agree("rejected", &found, &text, &what)?;
        }
        Ok(ObservedOutcome {
            text: format!("{label}{text}"),
            what,
            outcome,
        })
    }

    /// Returns an outcome as text, and remembers its records.
    fn describe_outcome(&mut self, outcome: &Result<WriteOutcome>) -> String {
        match outcome.as_ref().map(WriteOutcome::without_warnings) {
            Ok(WriteOutcome::Created { record, .. } | WriteOutcome::Updated(Some(record))) => {
                self.here.learn(record);
            }
            Ok(WriteOutcome::HelperDone(helped) | WriteOutcome::Resumed(helped)) => {
                helped
                    .person
                    .iter()
                    .chain(&helped.action)
                    .for_each(|record| self.here.learn(record));
            }
            Ok(WriteOutcome::Merged(merged)) => {
                self.here.learn(&merged.person);
                let undo = merged.undo.as_ref();
                let undo = undo.map(|undo| (merged.person.address(), undo.id.clone()));
                self.here.known.merges.extend(undo);
            }
            Ok(WriteOutcome::MergeUndone(undone)) => {
                self.here.learn(&undone.person);
                self.here.learn(&undone.restored);
            }
            _ => {}
        }
        self.here.names.outcome(outcome)
    }

    /// Checks the contract of the clock. `before` is the record that the request updates.
    fn check_timestamps(
        &mut self,
        call: &WriteRequest,
        before: Option<&RawRecord>,
        outcome: &Result<WriteOutcome>,
    ) -> Result<(), ContractViolation> {
        let is_load = matches!(call.operation, WriteOperation::Import(_));
        let outcome = outcome.as_ref().map(WriteOutcome::without_warnings);
        let records: Vec<(&RawRecord, bool)> = match outcome {
            Ok(WriteOutcome::Created { record, is_new }) => vec![(record, *is_new)],
            Ok(WriteOutcome::Updated(Some(record))) => vec![(record, false)],
            Ok(WriteOutcome::HelperDone(helped) | WriteOutcome::Resumed(helped)) => {
                let records = helped.person.iter().chain(&helped.action);
                records
                    .map(|record| (record, helped.was_created(record.kind())))
                    .collect()
            }
            Ok(WriteOutcome::MergeUndone(undone)) => {
                vec![(&undone.person, false), (&undone.restored, false)]
            }
            // The date of a preview is not stored.
            Ok(WriteOutcome::Merged(merged)) if !merged.is_preview => vec![(&merged.person, false)],
            _ => Vec::new(),
        };
        let last = self.here.last;
        for (record, is_new) in records {
            let meta = record.meta();
            let known = self
                .here
                .modified
                .insert((record.kind(), meta.id.clone()), meta.modified);
            let is_changed =
                is_new || before.is_some_and(|before| before.meta().modified != meta.modified);
            let text = |what: &str| {
                format!(
                    "{} {}: {what}, {:?}",
                    record.kind().singular(),
                    meta.id,
                    call.operation
                )
            };
            if is_new && meta.created != meta.modified {
                return Err(self.broken(
                    "clock",
                    text("the modification date of a new record differs from its creation date"),
                ));
            }
            // An imported record has dates of its own, even if a record with this id existed
            // before.
            if is_load {
                continue;
            }
            if known.is_some_and(|known| meta.modified < known) {
                return Err(self.broken("clock", text("the modification date has decreased")));
            }
            if let (Some(before), Ok(WriteOutcome::Updated(_))) = (before, outcome) {
                let is_same = has_same_values(before, record);
                if is_same != (before.meta().modified == meta.modified) {
                    return Err(self.broken(
                        "clock",
                        text(if is_same {
                            "the record has not changed, but its date has"
                        } else {
                            "the record has changed, but its date has not"
                        }),
                    ));
                }
            }
            if is_changed {
                if meta.modified <= last {
                    return Err(self.broken(
                        "clock",
                        text("the date is not later than the tenant's last write"),
                    ));
                }
                self.here.last = self.here.last.max(meta.modified);
            }
        }
        Ok(())
    }

    /// Returns a random page and a random record as text.
    async fn read_sample(&mut self) -> (String, String) {
        let mut caller = RequestGenerator {
            dice: &mut self.dice,
            known: &self.here.known,
            foreign: &self.there.known,
            kinds: kinds(self.seed),
        };
        let (key, at) = (caller.key(), caller.anything());
        let (cx, names) = (self.cx(), &mut self.here.names);
        let by_key = match self.store.find(&cx, &key).await {
            Ok(found) => names.found(found.as_ref()),
            Err(error) => refusal(&error),
        };
        let members: Vec<Kind> = Kind::ALL
            .iter()
            .copied()
            .filter(|kind| self.is_listed_under(*kind, at.kind))
            .collect();
        let mut text = format!("{by_key}\n{}", self.read(&at).await);
        let (kind, scope) = match members.get(self.dice.below(members.len().saturating_add(1))) {
            Some(kind) => (*kind, Scope::Under(at)),
            None => (at.kind, Scope::All),
        };
        if matches!(scope, Scope::Under(_)) || self.is_listed(kind) {
            text.push_str(&self.pages(kind, &scope, 2).await);
        }
        (text, format!("read: {key:?}, {kind:?} {scope:?}"))
    }

    /// Returns whether the collection of all records of a kind is compared.
    fn is_listed(&self, kind: Kind) -> bool {
        kind.schema().has_collection() && self.exclusions.compares(kind)
    }

    fn is_listed_under(&self, kind: Kind, under: Kind) -> bool {
        let mut scopes = kind.schema().scope_kinds();
        scopes.any(|of| of == under) && self.exclusions.compares_scope(kind, under)
    }

    fn count_records(&mut self, records: usize) {
        let records = u64::try_from(records).unwrap_or(u64::MAX);
        self.coverage.records = self.coverage.records.saturating_add(records);
    }

    async fn read(&mut self, at: &RecordAddress) -> String {
        let found = self.store.get(&self.cx(), at).await;
        self.count_records(found.iter().flatten().count());
        match found {
            Ok(found) => self.here.names.found(found.as_ref()),
            Err(error) => refusal(&error),
        }
    }

    /// Returns the pages of a collection as text, following the `next` links.
    async fn pages(&mut self, kind: Kind, scope: &Scope, size: u32) -> String {
        let (cx, mut text) = (self.cx(), String::new());
        let mut request = ListRequest::new(scope.clone(), PageRequest::new(1, size));
        loop {
            let page = match self.store.list(&cx, kind, &request).await {
                Ok(page) => page,
                Err(error) => return format!("{text}\n{}", refusal(&error)),
            };
            self.count_records(page.records.len());
            _ = write!(text, "\n{} of {}:", request.page.number, page.total);
            for record in &page.records {
                self.here.learn(record);
                _ = write!(text, "\n- {}", self.here.names.record(record));
            }
            match page.next_request(&request.page) {
                Some(next) => request.page = next,
                None => return text,
            }
        }
    }

    /// Returns all data of both tenants as text: each known record, and each collection.
    async fn everything(&mut self) -> String {
        let mut text = String::new();
        for _ in 0..2 {
            std::mem::swap(&mut self.here, &mut self.there);
            for kind in Kind::ALL {
                if !self.is_listed(*kind) {
                    continue;
                }
                text.push_str(&self.pages(*kind, &Scope::All, 100).await);
            }
            let mut place = 0;
            // Members are found in this loop and then read by it.
            while let Some(at) = self.here.known.records.get(place).cloned() {
                _ = write!(text, "\n{}", self.read(&at).await);
                let is_there = !text.ends_with("nothing");
                for kind in Kind::ALL {
                    if !(is_there && self.is_listed_under(*kind, at.kind)) {
                        continue;
                    }
                    text.push_str(&self.pages(*kind, &Scope::Under(at.clone()), 100).await);
                }
                place = place.saturating_add(1);
            }
        }
        text
    }
}

/// Returns whether two states of a record have the same fields, identifiers and links.
fn has_same_values(one: &RawRecord, other: &RawRecord) -> bool {
    let values = |record: &RawRecord| {
        let mut links: Vec<String> = record
            .links()
            .iter()
            .map(|link| format!("{link:?}"))
            .collect();
        links.sort_unstable();
        (
            record.wire_fields().to_vec(),
            record.meta().identifiers.to_vec(),
            links,
        )
    };
    values(one) == values(other)
}
