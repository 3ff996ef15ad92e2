//! The store over the tables of a vendor.

use std::{fmt, sync::Arc, time::Instant};

use async_trait::async_trait;
use svc_core::{
    api::{ApiBuilder, KeptKind},
    auth::{Operation, Tenant, TenantResolver},
    backend::Notifier,
    context::Context,
    error::{Error, ErrorCode, Problem, PropertyPath, Result},
    filter::{FilterField, QueryPlan},
    helper::{DefaultMatching, MergePolicy, PersonMatching},
    link::{RecordAddress, Scope, ShareNames},
    model::Kind,
    page::{ListRequest, RawPage},
    record::RawRecord,
    rules::{Decision, RuleRunner, decide, initial_lookups_one_per_person, problems_of, run_rules},
    store::{
        Change, IdSequence, Lookup, LookupKey, MergeRequest, Outbox, PendingChanges, RuleError,
        Store, TransactionContext, WriteOperation, WriteOutcome, WriteRequest,
    },
    value::{Id, Timestamp},
};
use svc_store::{
    cursor::{CursorCodec, REREADS},
    hex,
};

use super::{
    MappingError, SqlDialect,
    apply::{StatementBuilder, in_order},
    database::{Database, DatabaseError, TextRow, Transaction},
    introspect,
    lookups::{FetchedRecords, unasked},
    mapping::Mapping,
    pages::start,
    resolved_mapping::{ResolvedMapping, ResolvedTable},
    sql::SqlBuilder,
    statement::Statement,
    tenant_locks::TenantLocks,
};

/// The maximum number of attempts for a request with conflicts.
const TRIES: u8 = 5;

/// A store over the existing tables of a vendor.
///
/// It provides pages, matching, identifiers, deletion of dependent mapped records, and all helpers
/// except the schedule helper. It executes each request in one transaction.
/// [`register`](Self::register) offers everything that the mapping contains.
///
/// A read needs one round trip. A write needs two: the first starts the transaction of the tenant
/// and fetches the initial lookups, the second writes and commits. Each further group of lookups
/// needs one more.
///
/// Requests of one tenant are executed one after another, across all processes. Twenty concurrent
/// sign-ups of the same person therefore create one person. The waiting requests of a tenant in one
/// process use at most two connections.
///
/// The vendor's own program can write at the same time. Rows that a request reads in order to
/// change them are locked until it ends. If the database reports a conflict, the request is
/// repeated.
///
/// # Merges of people
///
/// [`ApiBuilder::merge_people`] offers merges of two people, with previews. The merged person is
/// deleted, and its address then finds the remaining one. Columns of its row that are not mapped are
/// lost. Merges cannot be undone.
///
/// Rows of tables that are not mapped can also refer to a person. A merge needs a
/// [`move_in_merges`](Mapping::move_in_merges) or [`ignore_in_merges`](Mapping::ignore_in_merges) for
/// each foreign key to the table of people that is neither a mapped link nor part of a mapped list.
/// Otherwise [`ApiBuilder::merge_people`] is a build error that names these columns.
pub struct MappedStore {
    pub(super) shared: Arc<MappedInner>,
    matching: Arc<dyn PersonMatching>,
}

pub(super) struct MappedInner {
    pub(super) database: Box<dyn Database>,
    mapping: ResolvedMapping,
    cursors: CursorCodec,
    turns: TenantLocks,
    /// Notifies of new outbox entries.
    pub(super) outgoing: Notifier<()>,
}

impl MappedStore {
    /// Resolves the mapping against the live tables.
    ///
    /// # Errors
    ///
    /// Returns every problem of the mapping with its fix, or an error if the database cannot be
    /// read.
    pub async fn connect(mapping: Mapping, database: impl Database) -> Result<Self, MappingError> {
        let dialect = database.dialect();
        let asked = introspect::statements(dialect, mapping.table_names(dialect));
        let answers = database.read(asked).await?;
        let mapping = super::resolve::resolve(
            &mapping,
            dialect,
            &introspect::DatabaseTables::read(database.dialect(), &answers),
        )?;
        let secret = secret(&database).await?;
        let shared = MappedInner {
            database: Box::new(database),
            mapping,
            cursors: CursorCodec::new(&secret),
            turns: TenantLocks::default(),
            outgoing: Notifier::default(),
        };
        Ok(Self {
            shared: Arc::new(shared),
            matching: Arc::new(DefaultMatching),
        })
    }

    /// Creates the tables of this library next to those of the vendor, if they are missing.
    ///
    /// They contain the transaction times of tenants, foreign identifiers, the former addresses of
    /// merged people, the outbox, and the secret of `next` links. The same SQL is in
    /// [`SqlDialect::library_tables`].
    ///
    /// # Errors
    ///
    /// Returns an error if the database fails.
    pub async fn create_library_tables(database: &impl Database) -> Result<(), MappingError> {
        let statements = database.dialect().library_tables();
        let statements = statements
            .iter()
            .map(|text| Statement::new(*text, Vec::new()))
            .collect();
        let (transaction, _) = database.begin(statements).await?;
        transaction.commit(Vec::new()).await?;
        Ok(())
    }

    /// Registers everything that the mapping contains: all operations of its kinds, with the fields
    /// and links that have a column, and the helpers and action functions whose records it can
    /// store.
    ///
    /// The action function `triggers` is included if the API [delivers](ApiBuilder::delivery).
    ///
    /// [`ApiBuilder::without_capability`] removes an operation, such as
    /// `.without_capability("attendances.create")`.
    #[must_use]
    pub fn register(&self, api: ApiBuilder) -> ApiBuilder {
        let tables = &self.mapping().tables;
        let kept: Vec<KeptKind> = tables.iter().map(kept).collect();
        let api = api.partial_store(&(Arc::new(self.clone()) as Arc<dyn Store>), &kept);
        // The modification date cannot change.
        let fixed = tables
            .iter()
            .filter(|table| table.created == table.modified);
        let fixed = fixed.filter(|table| table.kind.schema().has_operation(Operation::Update));
        fixed.fold(api, |api, table| {
            api.without_capability(&format!("{}.update", table.kind.plural()))
        })
    }

    /// Sets the method of person matching. The default is [`DefaultMatching`].
    ///
    /// Requirements: HLP-04.
    #[must_use]
    pub fn person_matching(mut self, matching: impl PersonMatching + 'static) -> Self {
        self.matching = Arc::new(matching);
        self
    }

    pub(crate) fn mapping(&self) -> &ResolvedMapping {
        &self.shared.mapping
    }

    /// Returns the record of each key, with one read of the database.
    async fn find_all(&self, cx: &Context, keys: &[LookupKey]) -> Result<Vec<Option<RawRecord>>> {
        let mapping = self.mapping();
        let (mut statements, mut tables) = (Vec::new(), Vec::new());
        for key in keys {
            let mut sql = SqlBuilder::new(mapping.dialect, cx.tenant().as_str());
            let table = key.kind().and_then(|kind| mapping.of(kind));
            let table = table.filter(|_| self.has(cx.tenant()));
            let is_mapped = table.is_some() && mapping.one(&mut sql, key, true, false).is_some();
            tables.push(table.filter(|_| is_mapped));
            if is_mapped {
                statements.push(sql.finish());
            }
        }
        if statements.is_empty() {
            return Ok(vec![None; keys.len()]);
        }
        let answers = self.shared.database.read(statements).await;
        let mut answers = answers.map_err(DatabaseError::of_a_read)?.into_iter();
        let mut records = Vec::with_capacity(keys.len());
        for table in tables {
            let Some(table) = table else {
                records.push(None);
                continue;
            };
            let rows = answers.next().unwrap_or_default();
            let record = rows.first().map(|row| mapping.record(table, row));
            records.push(record.transpose()?.map(|stored| stored.record));
        }
        Ok(records)
    }

    /// Returns whether the tables can contain data of a tenant.
    fn has(&self, tenant: &Tenant) -> bool {
        let mapping = self.mapping();
        let is_named = mapping
            .only
            .as_ref()
            .is_none_or(|only| only == tenant.as_str());
        // PostgreSQL does not support U+0000 in text. A tenant name that is not a number cannot be
        // in an integer column.
        is_named
            && !tenant.as_str().contains('\0')
            && (!mapping.numbers_tenants() || tenant.as_number().is_some())
    }

    /// Executes a request once, in one transaction.
    async fn run_transaction(
        &self,
        cx: &Context,
        call: &WriteRequest,
    ) -> Result<WriteOutcome, TransactionError> {
        let (mapping, tenant) = (&self.shared.mapping, cx.tenant().as_str());
        let wanted =
            initial_lookups_one_per_person(call, &*self.matching, &mapping.one_per_person());
        let mut begin = begin(mapping.dialect, cx.deadline());
        begin.extend(lock_tenant(mapping.dialect, tenant, Timestamp::now()));
        let turn_at = begin.len().saturating_sub(1);
        if let WriteOperation::Merge(request) = &call.operation {
            let people = [&request.remaining.id, &request.merged.id];
            begin.extend(mapping.lock_people(tenant, people));
        }
        let restore = self.restore_statement(tenant, call);
        let may_restore = restore.is_some();
        begin.extend(restore);
        let lookups_at = begin.len();
        let (asked, statements) = self.lookup_statements(tenant, &wanted, true);
        begin.extend(statements);
        let (mut transaction, mut answers) = self.shared.database.begin(begin).await?;
        let given = answers.split_off(lookups_at.min(answers.len()));
        let clock = answers
            .get(turn_at)
            .and_then(|rows| rows.first()?.first()?.as_deref()?.parse().ok());
        let mut runner = MappedRunner {
            store: self,
            tenant,
            call,
            lookups: LookupConnection::Transaction(&mut transaction),
            time: Timestamp::from_micros(clock.ok_or_else(unasked)?),
            ids: IdSequence::default(),
            names: ShareNames::default(),
            once: mapping.one_per_person(),
            fetched: FetchedRecords::default(),
        };
        let taken = self.take(&mut runner.fetched, &wanted, &asked, &given);
        let decided = match taken {
            Ok(()) => runner.decide_with_numbers().await,
            Err(error) => Err(error.into()),
        };
        let (fetched, now) = (runner.fetched, runner.time);
        let Decision {
            changes, outcome, ..
        } = match decided {
            Ok(decision) if decision.changes.is_empty() => {
                if may_restore {
                    transaction.commit(Vec::new()).await?;
                } else {
                    transaction.rollback().await;
                }
                return Ok(decision.outcome);
            }
            Ok(decision) => decision,
            Err(failed) => {
                transaction.rollback().await;
                return Err(failed);
            }
        };
        let mut writes = StatementBuilder::new(mapping, tenant, now);
        let changes = in_order(changes);
        for change in &changes {
            writes.add(change, |at| fetched.fields(at))?;
        }
        let mut statements = writes.statements;
        let shown = outcome_record(&outcome).filter(|record| mapping.of(record.kind()).is_some());
        let again = shown.map(|record| LookupKey::Id(record.kind(), record.meta().id.clone()));
        statements.extend(
            again
                .clone()
                .and_then(|key| mapping.lookup_statement(tenant, &Lookup::Record(key), true)),
        );
        let given = transaction.commit(statements).await?;
        if changes
            .iter()
            .any(|change| matches!(change, Change::Enqueue(_)))
        {
            self.shared.outgoing.notify(&());
        }
        let (outcome, warnings) = outcome.split_warnings();
        // The response contains the current state of the tables, including changes by triggers.
        let record = match again.zip(given.last()) {
            Some((key, rows)) => mapping.stored(&key, rows)?,
            None => return Ok(outcome.with_warnings(warnings)),
        };
        let current = match (outcome, record) {
            (WriteOutcome::Created { is_new, .. }, Some(now)) => WriteOutcome::Created {
                record: now.record,
                is_new,
            },
            (WriteOutcome::Updated(Some(_)), Some(now)) => WriteOutcome::Updated(Some(now.record)),
            (WriteOutcome::Merged(mut merged), Some(now)) => {
                merged.person = now.record;
                WriteOutcome::Merged(merged)
            }
            (outcome, _) => outcome,
        };
        Ok(current.with_warnings(warnings))
    }

    /// Returns the statement that restores the deleted person of a helper request. Only a caller that may
    /// change people restores someone.
    ///
    /// Requirements: HLP-04.
    fn restore_statement(&self, tenant: &str, call: &WriteRequest) -> Option<Statement> {
        let WriteOperation::Helper(request) = &call.operation else {
            return None;
        };
        let may_change = request.merge == MergePolicy::Replace
            && !request.anonymous
            && !request.is_preview
            && !call.is_rejected;
        let posted = request.person.as_ref().filter(|_| may_change)?;
        let keys = self.matching.keys(&posted.identifiers, &posted.fields);
        self.mapping().restore_statement(tenant, &keys)
    }

    /// Returns which of these lookups need a statement, and the statements.
    fn lookup_statements(
        &self,
        tenant: &str,
        questions: &[Lookup],
        is_locked: bool,
    ) -> (Vec<bool>, Vec<Statement>) {
        let asked: Vec<Option<Statement>> = questions
            .iter()
            .map(|question| {
                self.shared
                    .mapping
                    .lookup_statement(tenant, question, is_locked)
            })
            .collect();
        (
            asked.iter().map(Option::is_some).collect(),
            asked.into_iter().flatten().collect(),
        )
    }

    fn take(
        &self,
        fetched: &mut FetchedRecords,
        questions: &[Lookup],
        asked: &[bool],
        given: &[Vec<TextRow>],
    ) -> Result<()> {
        let mut given = given.iter();
        for (question, is_asked) in questions.iter().zip(asked) {
            let rows: &[TextRow] = if *is_asked {
                given.next().ok_or_else(unasked)?
            } else {
                &[]
            };
            self.shared.mapping.store_result(question, rows, fetched)?;
        }
        Ok(())
    }
}

/// The rules of a request in a transaction.
struct MappedRunner<'a> {
    store: &'a MappedStore,
    tenant: &'a str,
    call: &'a WriteRequest,
    time: Timestamp,
    ids: IdSequence,
    names: ShareNames,
    once: Vec<Kind>,
    fetched: FetchedRecords,
    lookups: LookupConnection<'a>,
}

/// Where the lookups of a request are executed.
enum LookupConnection<'a> {
    /// In its transaction, where they lock what they find.
    Transaction(&'a mut Box<dyn Transaction>),
    /// In reads, for a request that changes nothing.
    Reads,
}

impl MappedRunner<'_> {
    /// Executes the rules. If there are new records that the database numbers, executes them again with
    /// these numbers as ids.
    async fn decide_with_numbers(&mut self) -> Result<Decision, TransactionError> {
        let decision = run_rules(self).await??;
        let LookupConnection::Transaction(transaction) = &mut self.lookups else {
            return Ok(decision);
        };
        let mapping = &self.store.shared.mapping;
        let numbered = decision.changes.iter().filter_map(|change| match change {
            Change::Insert(insert) => {
                let table = mapping.of(insert.record.kind())?;
                Some((table, &insert.record.meta().id)).filter(|(table, _)| table.has_numbers())
            }
            _ => None,
        });
        let (mut statements, mut made) = (Vec::new(), Vec::new());
        for (table, id) in numbered {
            let default = table.id.default_sql.as_deref();
            let texts = mapping.dialect.next_id(&table.name, &table.id.raw, default);
            statements.extend(
                texts
                    .into_iter()
                    .map(|text| Statement::new(text, Vec::new())),
            );
            made.push((id, statements.len()));
        }
        if statements.is_empty() {
            return Ok(decision);
        }
        let numbers = transaction.execute(statements).await?;
        for (id, end) in made {
            let rows = end.checked_sub(1).and_then(|last| numbers.get(last));
            let number = rows.and_then(|rows| rows.first()?.first()?.as_deref());
            self.ids
                .replace(id, number.and_then(Id::new).ok_or_else(unasked)?);
        }
        Ok(run_rules(self).await??)
    }
}

#[async_trait]
impl RuleRunner for MappedRunner<'_> {
    type Error = TransactionError;

    fn decide(&mut self) -> std::result::Result<Decision, RuleError> {
        let matching = &*self.store.matching;
        let turn = TransactionContext::new(self.time, &self.ids, &self.names, matching)
            .one_per_person(&self.once);
        let (answers, before) = (&mut self.fetched.results, PendingChanges::default());
        decide(self.call, &turn, answers, &before)
    }

    async fn fetch(&mut self, missing: Vec<Lookup>) -> Result<(), TransactionError> {
        let is_locked = matches!(self.lookups, LookupConnection::Transaction(_));
        let (asked, statements) = self
            .store
            .lookup_statements(self.tenant, &missing, is_locked);
        let given = match &mut self.lookups {
            _ if statements.is_empty() => Vec::new(),
            LookupConnection::Transaction(transaction) => transaction.execute(statements).await?,
            LookupConnection::Reads => self.store.shared.database.read(statements).await?,
        };
        Ok(self
            .store
            .take(&mut self.fetched, &missing, &asked, &given)?)
    }
}

/// Returns the record that is part of an outcome.
fn outcome_record(outcome: &WriteOutcome) -> Option<&RawRecord> {
    match outcome.without_warnings() {
        WriteOutcome::Created { record, .. } | WriteOutcome::Updated(Some(record)) => Some(record),
        WriteOutcome::Merged(merged) => Some(&merged.person),
        WriteOutcome::Updated(None)
        | WriteOutcome::Deleted(_)
        | WriteOutcome::HelperDone(_)
        | WriteOutcome::MergeUndone(_)
        | WriteOutcome::Resumed(_)
        | WriteOutcome::Replayed(_)
        | WriteOutcome::Warned(..) => None,
    }
}

/// The reason why a transaction has failed.
enum TransactionError {
    Rejected(Error),
    Database(DatabaseError),
}

impl From<Error> for TransactionError {
    fn from(error: Error) -> Self {
        Self::Rejected(error)
    }
}

impl From<DatabaseError> for TransactionError {
    fn from(trouble: DatabaseError) -> Self {
        Self::Database(trouble)
    }
}

/// Limits the duration of each statement of a transaction to the deadline of the request.
fn begin(dialect: &'static dyn SqlDialect, deadline: Option<Instant>) -> Vec<Statement> {
    let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
    left.and_then(|left| dialect.statement_timeout(left))
        .into_iter()
        .collect()
}

/// Waits for the transaction lock of the tenant. The last statement returns the time of the
/// transaction. It is later than that of every earlier transaction.
fn lock_tenant(dialect: &'static dyn SqlDialect, tenant: &str, now: Timestamp) -> Vec<Statement> {
    let mut sql = SqlBuilder::changing(dialect, tenant);
    let clock = dialect.as_text("svc_turns.clock");
    sql.push("INSERT INTO svc_turns (tenant, clock) VALUES (")
        .tenant(None)
        .push(", ")
        .number(now.as_micros());
    let later = format!(
        "{}(svc_turns.clock + 1, {})",
        dialect.larger(),
        dialect.proposed("clock")
    );
    sql.push(")")
        .push(&dialect.upsert("tenant", &[("clock", later)]));
    if dialect.has_returning() {
        sql.push(" RETURNING ").push(&clock);
        return vec![sql.finish()];
    }
    let mut time = SqlBuilder::new(dialect, tenant);
    time.push("SELECT ")
        .push(&clock)
        .push(" FROM svc_turns WHERE tenant = ")
        .tenant(None);
    vec![sql.finish(), time.finish()]
}

/// Returns the secret that authenticates the cursors in `next` links. It is created once, and is
/// the same for every process.
async fn secret(database: &impl Database) -> Result<[u8; 32], MappingError> {
    let mut random = [0; 32];
    getrandom::fill(&mut random).map_err(Error::unexpected)?;
    let mut make = SqlBuilder::new(database.dialect(), "");
    make.push("INSERT INTO svc_secrets (name, secret) VALUES ('cursors', ")
        .text(hex::encode(&random));
    make.push(")").push(&database.dialect().upsert("name", &[]));
    let read = Statement::new(
        "SELECT secret FROM svc_secrets WHERE name = 'cursors'",
        Vec::new(),
    );
    let (transaction, answers) = database.begin(vec![make.finish(), read]).await?;
    transaction.commit(Vec::new()).await?;
    let text = answers
        .get(1)
        .and_then(|rows| rows.first()?.first()?.as_deref());
    Ok(text.and_then(hex::decode).ok_or_else(unasked)?)
}

#[async_trait]
impl Store for MappedStore {
    async fn list(&self, cx: &Context, kind: Kind, request: &ListRequest) -> Result<RawPage> {
        let MappedInner {
            database,
            mapping,
            cursors,
            ..
        } = &*self.shared;
        if !self.has(cx.tenant()) {
            return Ok(RawPage::default());
        }
        let tenant = cx.tenant().as_str();
        match request.query_plan()? {
            None => {}
            Some(QueryPlan::Keys(keys)) if request.scope == Scope::All => {
                let asked = mapping.key_statements(tenant, kind, &keys)?;
                let answers = database.read(asked).await;
                let answers = answers.map_err(DatabaseError::of_a_read)?;
                return mapping.page_of_keys(cursors, tenant, kind, request, &answers);
            }
            Some(_) => return Err(Error::not_found()),
        }
        let start = start(cursors, tenant, kind, request);
        let mut rereads = REREADS;
        loop {
            let asked = mapping.page_statements(cursors, tenant, kind, request)?;
            let answers = database
                .read(asked)
                .await
                .map_err(DatabaseError::of_a_read)?;
            let page = mapping.page(cursors, tenant, kind, request, &answers)?;
            // The database may execute each statement on a different snapshot.
            if rereads == 0 || start.agrees(&request.page, &page) {
                return Ok(page);
            }
            rereads = rereads.saturating_sub(1);
        }
    }

    fn filter_fields(&self, kind: Kind) -> Vec<FilterField> {
        self.mapping().filter_fields(kind)
    }

    async fn get(&self, cx: &Context, at: &RecordAddress) -> Result<Option<RawRecord>> {
        let record = self.find(cx, &LookupKey::from(at)).await?;
        Ok(record.filter(|record| at.matches_parent(record.parent())))
    }

    async fn get_all(
        &self,
        cx: &Context,
        addresses: &[RecordAddress],
    ) -> Result<Vec<Option<RawRecord>>> {
        let keys: Vec<LookupKey> = addresses.iter().map(LookupKey::from).collect();
        let found = self.find_all(cx, &keys).await?;
        let fitting = addresses
            .iter()
            .zip(found)
            .map(|(at, record)| record.filter(|record| at.matches_parent(record.parent())));
        Ok(fitting.collect())
    }

    async fn find(&self, cx: &Context, key: &LookupKey) -> Result<Option<RawRecord>> {
        let found = self.find_all(cx, std::slice::from_ref(key)).await?;
        Ok(found.into_iter().next().flatten())
    }

    fn merges_people(&self) -> bool {
        self.mapping().merge_problems.is_empty()
    }

    fn merge_problems(&self) -> Vec<String> {
        self.mapping().merge_problems.clone()
    }

    async fn forwarded_person(&self, cx: &Context, id: &Id) -> Result<Option<Id>> {
        let lookup = Lookup::ForwardedPerson(id.clone());
        let (mapping, tenant) = (self.mapping(), cx.tenant());
        let statement = mapping.lookup_statement(tenant.as_str(), &lookup, false);
        let Some(statement) = statement.filter(|_| self.has(tenant)) else {
            return Ok(None);
        };
        let answers = self.shared.database.read(vec![statement]).await;
        let answers = answers.map_err(DatabaseError::of_a_read)?;
        let found = answers
            .first()
            .and_then(|rows| rows.first()?.first()?.as_deref());
        let Some(remaining) = found.and_then(Id::new) else {
            return Ok(None);
        };
        // Another program can have deleted the remaining person.
        let key = LookupKey::Id(Kind::Person, remaining.clone());
        Ok(self.find(cx, &key).await?.map(|_| remaining))
    }

    async fn write(&self, cx: &Context, call: WriteRequest) -> Result<WriteOutcome> {
        if !self.has(cx.tenant()) {
            return Err(Error::not_found());
        }
        let is_merge = match &call.operation {
            WriteOperation::Merge(_) => true,
            WriteOperation::UndoMerge(_) => return Err(Error::not_implemented()),
            _ => false,
        };
        if is_merge && !self.merges_people() {
            return Err(Error::not_implemented());
        }
        // A busy tenant leaves connections for other tenants.
        let _turn = self.shared.turns.wait(cx.tenant().as_str()).await;
        let mut tries = 1;
        loop {
            match self.run_transaction(cx, &call).await {
                Ok(outcome) => return Ok(outcome),
                Err(TransactionError::Rejected(error)) => return Err(error),
                // A second attempt shows whether a concurrent change was the reason.
                Err(TransactionError::Database(DatabaseError::ConstraintViolation(cause)))
                    if is_merge && tries > 1 =>
                {
                    return Err(merge_conflict().with_source(cause));
                }
                Err(TransactionError::Database(
                    DatabaseError::Conflict(cause) | DatabaseError::ConstraintViolation(cause),
                )) if tries < TRIES => {
                    tracing::debug!(%cause, "a write request is repeated");
                    tries = tries.saturating_add(1);
                }
                Err(TransactionError::Database(trouble)) => return Err(trouble.into()),
            }
        }
    }

    async fn find_problems(&self, cx: &Context, call: WriteRequest) -> Result<Vec<Problem>> {
        if !self.has(cx.tenant()) {
            return Err(Error::not_found());
        }
        let once = self.mapping().one_per_person();
        let wanted = initial_lookups_one_per_person(&call, &*self.matching, &once);
        let mut runner = MappedRunner {
            store: self,
            tenant: cx.tenant().as_str(),
            call: &call,
            lookups: LookupConnection::Reads,
            time: Timestamp::now(),
            ids: IdSequence::default(),
            names: ShareNames::default(),
            once,
            fetched: FetchedRecords::default(),
        };
        let decided = match runner.fetch(wanted).await {
            Ok(()) => run_rules(&mut runner).await,
            Err(error) => Err(error),
        };
        match decided {
            Ok(decided) => problems_of(decided),
            Err(TransactionError::Rejected(error)) => Err(error),
            Err(TransactionError::Database(trouble)) => Err(trouble.of_a_read().into()),
        }
    }

    fn person_matching(&self) -> Arc<dyn PersonMatching> {
        Arc::clone(&self.matching)
    }

    fn outbox(self: Arc<Self>) -> Option<Arc<dyn Outbox>> {
        Some(self)
    }
}

/// Finds the tenant of a container.
///
/// Requirements: HLP-07.
#[async_trait]
impl TenantResolver for MappedStore {
    async fn tenant_of(&self, container: &RecordAddress) -> Result<Option<Tenant>> {
        let mapping = &self.shared.mapping;
        let Some(table) = mapping.of(container.kind) else {
            return Ok(None);
        };
        if let Some(only) = &mapping.only {
            return Ok(Some(Tenant::new(only.as_str())));
        }
        let mut sql = SqlBuilder::new(mapping.dialect, "");
        if !mapping.owner(&mut sql, table, container) {
            return Ok(None);
        }
        let answers = self
            .shared
            .database
            .read(vec![sql.finish()])
            .await
            .map_err(DatabaseError::of_a_read)?;
        let owner = answers
            .first()
            .and_then(|rows| rows.first()?.first()?.as_deref());
        Ok(owner.map(Tenant::new))
    }
}

impl Clone for MappedStore {
    fn clone(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            matching: Arc::clone(&self.matching),
        }
    }
}

impl fmt::Debug for MappedStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MappedStore")
            .field("tables", &self.mapping().tables.len())
            .finish_non_exhaustive()
    }
}

/// Returns the error of a merge that the tables do not accept.
fn merge_conflict() -> Error {
    let text = "The database of this server does not accept the merge. Both people have a record of which it \
                allows one, or a record that is not part of the API refers to the person to merge.";
    let property = PropertyPath::link(MergeRequest::LINK);
    Error::invalid(Problem::new(ErrorCode::MergeConflict, property, text))
}

/// Returns which parts of a kind a table stores.
fn kept(table: &ResolvedTable) -> KeptKind {
    let schema = table.kind.schema();
    let mut kept = KeptKind::new(table.kind);
    kept.fields = table
        .members
        .iter()
        .filter_map(|member| member.path.first().map(|field| field.name))
        .collect();
    kept.links = table.links.iter().map(|link| link.name).collect();
    kept.under = schema
        .scope_kinds()
        .filter(|kind| table.scope(*kind).is_some())
        .collect();
    kept.narrowing = table.narrowing();
    kept.once_per_person = table.once_per_person;
    kept
}
