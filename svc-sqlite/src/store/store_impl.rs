//! The store operations that the library calls: reads, and write requests in the transaction of the
//! writer.

use std::{slice, sync::Arc};

use svc_core::{
    ListRequest, Result, Tenant,
    auth::Caller,
    backend::{ChangeFeed, FeedRequest, FeedResponse, Subscription},
    context::Context,
    error::{Error, Problem},
    filter::{FilterField, QueryPlan},
    helper::PersonMatching,
    link::{RecordAddress, Scope},
    model::Kind,
    raw::{RawPage, RawRecord},
    rules::decide,
    store::{
        self, ApartPeople, Change, DuplicatesRequest, DuplicatesResponse, IdSequence,
        ImportedRecord, LookupKey, Outbox, PendingChanges, RuleError, StoredMerge, StoredPair,
        TransactionContext, WriteOperation, WriteOutcome, WriteRequest,
    },
    value::{Id, Timestamp},
};
use svc_store::{
    cursor::PageStart,
    duplicates::DuplicatesQuery,
    feed::{FeedQuery, FeedRecorder},
    ordered_pages::OrderedPages,
    with_import_address,
};

use super::SqliteStore;
use crate::{
    apply_changes::ChangeApplier,
    duplicates,
    error::{self, StoreError},
    feed,
    lookups::{SqliteLookups, forwarded_person, record},
    merges, ordered_pages,
    page::CollectionQuery,
    rows::{by_id, find, is_at, raw_at},
    stored_responses,
    tenant_deltas::last_write_timestamp,
    writer::WriteTransaction,
};

#[async_trait::async_trait]
impl store::Store for SqliteStore {
    async fn list(&self, cx: &Context, kind: Kind, request: &ListRequest) -> Result<RawPage> {
        let ListRequest { scope, page, .. } = request;
        let (readers, cursors) = (&self.inner.readers, &self.inner.cursors);
        let place = CollectionQuery::of(self.tenant(cx.tenant())?, kind, scope)?;
        let collection = place.collection();
        if let Some(plan) = request.query_plan()? {
            let tenant = place.tenant;
            // A page of a range without a cursor counts the range, which takes longer than a page. A
            // text can find many records.
            let is_slow = match &plan {
                QueryPlan::Range(_) => page.cursor.is_none(),
                QueryPlan::Keys(keys) => keys.iter().any(|key| key.texts().is_some()),
                _ => false,
            };
            if is_slow {
                let (cursors, request) = (cursors.clone(), request.clone());
                let read = move |file: &rusqlite::Connection| {
                    let ordered = OrderedPages {
                        cursors: &cursors,
                        tenant,
                        collection: &collection,
                        request: &request,
                    };
                    ordered_pages::page(file, kind, ordered, &plan)
                };
                return Ok(readers.spawn(tenant, read).await?);
            }
            let ordered = OrderedPages {
                cursors,
                tenant,
                collection: &collection,
                request,
            };
            return Ok(readers.with_since(cx.started_at(), |file| {
                ordered_pages::page(file, kind, ordered, &plan)
            })?);
        }
        let start = cursors.decode(place.tenant, &collection, page);
        let after = match start {
            PageStart::AfterRow(row) => Some(row),
            PageStart::Offset(position)
                if position
                    >= readers.with_since(cx.started_at(), |file| Ok(place.total(file)?))? =>
            {
                None
            }
            PageStart::Offset(position) => {
                let read = |load| readers.spawn(place.tenant, move |file| place.load(file, load));
                let first = self
                    .inner
                    .offset_index
                    .nth(&collection, position, read)
                    .await?;
                first.map(|row| row.saturating_sub(1))
            }
        };
        let read = |file: &rusqlite::Connection, after: Option<i64>| {
            let found = after
                .map(|after| place.read(file, after, page.size))
                .transpose()?
                .unwrap_or_default();
            let next = cursors.encode_next(place.tenant, &collection, page, found.last);
            Ok::<_, StoreError>(RawPage::new(found.records, place.total(file)?).with_next(next))
        };
        Ok(readers.with_since(cx.started_at(), |file| {
            if let Scope::Under(address) = scope
                && !is_at(file, place.tenant, address)?
            {
                return Err(Error::not_found().into());
            }
            let found = read(file, after)?;
            match start {
                // The index has followed a commit that is not in this snapshot, or has not yet
                // followed one that is.
                PageStart::Offset(position) if !start.agrees(page, &found) => {
                    read(file, place.after_position(file, position)?)
                }
                _ => Ok(found),
            }
        })?)
    }

    fn filter_fields(&self, kind: Kind) -> Vec<FilterField> {
        FilterField::of(kind).collect()
    }

    async fn get(&self, cx: &Context, at: &RecordAddress) -> Result<Option<RawRecord>> {
        let tenant = self.tenant(cx.tenant())?;
        Ok(self
            .readers()
            .with_since(cx.started_at(), |file| Ok(raw_at(file, tenant, at)?))?)
    }

    async fn find(&self, cx: &Context, key: &LookupKey) -> Result<Option<RawRecord>> {
        let tenant = self.tenant(cx.tenant())?;
        let stored = self.readers().with(|file| Ok(record(file, tenant, key)?))?;
        Ok(stored.map(|stored| stored.record))
    }

    async fn forwarded_person(&self, cx: &Context, id: &Id) -> Result<Option<Id>> {
        let tenant = self.tenant(cx.tenant())?;
        let read = |file: &rusqlite::Connection| Ok(forwarded_person(file, tenant, id)?);
        Ok(self.readers().with_since(cx.started_at(), read)?)
    }

    fn undoes_merges(&self) -> bool {
        true
    }

    async fn merges(&self, cx: &Context, remaining: &Id) -> Result<Vec<StoredMerge>> {
        let tenant = self.tenant(cx.tenant())?;
        let read = |file: &rusqlite::Connection| merges::newest(file, tenant, remaining);
        Ok(self.readers().with_since(cx.started_at(), read)?)
    }

    fn finds_duplicates(&self) -> bool {
        true
    }

    async fn duplicates(
        &self,
        cx: &Context,
        request: &DuplicatesRequest,
    ) -> Result<DuplicatesResponse> {
        let number = self.tenant(cx.tenant())?;
        let (index, tenant) = (self.inner.duplicates.clone(), cx.tenant().clone());
        let request = request.clone();
        let read = move |file: &rusqlite::Connection| {
            let person = request.person.as_ref().map(|id| {
                by_id(file, number, Kind::Person, id)?
                    .ok_or_else(|| StoreError::from(Error::not_found()))
            });
            let person = person.transpose()?;
            match DuplicatesQuery::new(&index, &tenant, &request, person.as_ref()) {
                Ok(query) => {
                    let page = duplicates::page(file, number, &query)?;
                    Ok(DuplicatesResponse::Page(page))
                }
                Err(refused) => Ok(refused),
            }
        };
        Ok(self.readers().spawn(number, read).await?)
    }

    async fn duplicate_pair(&self, cx: &Context, people: [&Id; 2]) -> Result<Option<StoredPair>> {
        let tenant = self.tenant(cx.tenant())?;
        let [one, other] = people;
        let people = ApartPeople::new(one.clone(), other.clone(), None).people;
        let read = |file: &rusqlite::Connection| {
            let mut found = Vec::new();
            for id in &people {
                found.extend(by_id(file, tenant, Kind::Person, id)?);
            }
            let (Some(one), Some(other)) = (found.pop(), found.pop()) else {
                return Ok(None);
            };
            let is_dismissed = duplicates::is_apart(file, tenant, &people)?;
            Ok(Some(StoredPair::new(one, other, is_dismissed)))
        };
        Ok(self.readers().with_since(cx.started_at(), read)?)
    }

    async fn set_apart(&self, cx: &Context, apart: &ApartPeople) -> Result<bool> {
        let (tenant, apart) = (self.tenant(cx.tenant())?, apart.clone());
        let write = move |job: &mut WriteTransaction<'_>| {
            for id in &apart.people {
                if find(job.file, tenant, Kind::Person, id)?.is_none() {
                    return Ok(false);
                }
            }
            duplicates::set_apart(job.file, tenant, &apart)?;
            Ok(true)
        };
        Ok(self
            .writer()
            .run_for(tenant, cx.deadline(), write, true)
            .await?)
    }

    async fn write(&self, cx: &Context, call: WriteRequest) -> Result<WriteOutcome> {
        let (store, tenant) = (self.clone(), self.tenant(cx.tenant())?);
        let turn = move |job: &mut WriteTransaction<'_>| {
            store.run_transaction(job, tenant, slice::from_ref(&call), |_, error| error)
        };
        // The entries of a batch share a transaction, so none is executed before the others arrive.
        //
        // Requirements: BAT-03.
        Ok(self
            .writer()
            .run_for(tenant, cx.deadline(), turn, !cx.in_batch())
            .await?)
    }

    async fn find_problems(&self, cx: &Context, call: WriteRequest) -> Result<Vec<Problem>> {
        let (store, tenant) = (self.clone(), self.tenant(cx.tenant())?);
        let read = move |file: &rusqlite::Connection| store.problems(file, tenant, &call);
        Ok(self.readers().spawn(tenant, read).await?)
    }

    fn person_matching(&self) -> Arc<dyn PersonMatching> {
        Arc::clone(&self.inner.matching)
    }

    fn merges_people(&self) -> bool {
        true
    }

    fn stores_responses(&self) -> bool {
        true
    }

    async fn sweep(&self, before: Timestamp) -> Result<bool> {
        let (tenants, has_merges) = self.readers().with(|file| {
            let tenants = stored_responses::expired(file, before)?;
            Ok((tenants, merges::has_expired(file, before)?))
        })?;
        if tenants.is_empty() && !has_merges {
            return Ok(false);
        }
        let sweep = move |job: &mut WriteTransaction<'_>| {
            merges::expire(job.file, before)?;
            tenants
                .iter()
                .try_for_each(|it| stored_responses::expire(job.file, *it, before))
        };
        self.writer().run(None, sweep).await?;
        Ok(true)
    }

    fn outbox(self: Arc<Self>) -> Option<Arc<dyn Outbox>> {
        Some(self)
    }
}

#[async_trait::async_trait]
impl ChangeFeed for SqliteStore {
    async fn read(&self, cx: &Context, request: &FeedRequest) -> Result<FeedResponse> {
        let tenant = self.tenant(cx.tenant())?;
        let query = match FeedQuery::new(cx.tenant(), request, &self.inner.feed_cursors) {
            Ok(query) => query,
            Err(refused) => return Ok(refused),
        };
        let read = self
            .readers()
            .with(|file| feed::read(file, tenant, &query))?;
        Ok(query.page(read))
    }

    async fn subscribe(&self, cx: &Context) -> Result<Subscription> {
        Ok(self.inner.bells.subscribe(self.tenant(cx.tenant())?))
    }
}

impl SqliteStore {
    /// Returns the problems of a rejected request, in a read transaction.
    fn problems(
        &self,
        file: &rusqlite::Connection,
        tenant: i64,
        call: &WriteRequest,
    ) -> error::Result<Vec<Problem>> {
        let ids = IdSequence::default();
        let (names, matching) = (&self.inner.share_names, &*self.inner.matching);
        let turn = TransactionContext::new(self.now(), &ids, names, matching);
        let mut answers = SqliteLookups::new(file, tenant);
        match decide(call, &turn, &mut answers, &PendingChanges::default()) {
            Ok(_) => Ok(Vec::new()),
            Err(RuleError::Failed(error)) if answers.is_complete() => Ok(error.into_problems()?),
            Err(pause) => Err(answers.failure(pause, |error| error)),
        }
    }

    /// Executes write requests one after another in the transaction of a job: all of them or none.
    /// Returns the outcome of the last. `blame` attributes an error to its request.
    fn run_transaction(
        &self,
        job: &mut WriteTransaction<'_>,
        tenant: i64,
        calls: &[WriteRequest],
        blame: fn(&WriteRequest, Error) -> Error,
    ) -> error::Result<WriteOutcome> {
        let (file, tally) = (job.file, &mut *job.tally);
        let time = self
            .now()
            .at_least_after(last_write_timestamp(file, tally, tenant)?);
        let index = &self.inner.duplicates;
        let mut apply = ChangeApplier::new(file, tenant, tally).with_index(index);
        let (mut changed, mut sends, mut last) = (false, false, None);
        for call in calls {
            let (ids, share_names, matching) = (
                IdSequence::default(),
                &self.inner.share_names,
                &*self.inner.matching,
            );
            let turn = TransactionContext::new(time, &ids, share_names, matching);
            let mut answers = SqliteLookups::new(file, tenant);
            let decision = decide(call, &turn, &mut answers, apply.tally.pending(tenant))
                .map_err(|pause| answers.failure(pause, |error| blame(call, error)))?;
            let mut telling = FeedRecorder::default();
            for change in &decision.changes {
                if let Some(told) = telling.record(change) {
                    feed::insert_entries(file, tenant, &told, time)?;
                }
                apply.change(change)?;
            }
            changed |= !decision.changes.is_empty();
            sends |= decision
                .changes
                .iter()
                .any(|change| matches!(change, Change::Enqueue(_)));
            last = Some(decision.outcome);
        }
        let moves = apply.into_moves();
        // Without changes, the clock of the tenant does not advance, and there is no sync.
        if changed {
            if let Some(keep) = self.inner.keep_changes {
                feed::expire(file, tenant, time.saturating_sub(keep))?;
            }
            job.tally.set_last_timestamp(tenant, time);
            let bells = Arc::clone(&self.inner.bells);
            job.after_commit(move || bells.notify(&tenant));
        }
        if sends {
            let outgoing = Arc::clone(&self.inner.outgoing);
            job.after_commit(move || outgoing.notify(&()));
        }
        if !moves.is_empty() {
            let offset_index = Arc::clone(&self.inner.offset_index);
            job.after_commit(move || offset_index.apply(&moves));
        }
        last.ok_or_else(|| StoreError::unexpected("a transaction without a write request"))
    }

    /// Loads records in the given order, all in one transaction. Containers and people must come
    /// before the records that refer to them.
    ///
    /// There is no person matching: every person is a new one. Some thousands of records in one
    /// call are fastest.
    ///
    /// # Errors
    ///
    /// Returns an [invalid request](svc_core::ErrorKind::Invalid) with the problems that a create
    /// would report, or an error of the storage. Nothing of the call is then stored.
    pub async fn import_records(&self, tenant: &Tenant, rows: Vec<ImportedRecord>) -> Result<()> {
        if rows.is_empty() {
            return Ok(());
        }
        let cx = Context::new(tenant.clone(), Caller::anonymous(), self.now());
        let calls: Vec<WriteRequest> = rows
            .into_iter()
            .map(|row| WriteRequest::new(&cx, WriteOperation::Import(Box::new(row))))
            .collect();
        let (store, tenant) = (self.clone(), self.tenant(tenant)?);
        let turn = move |job: &mut WriteTransaction<'_>| {
            store
                .run_transaction(job, tenant, &calls, with_import_address)
                .map(drop)
        };
        Ok(self.writer().run_for(tenant, None, turn, true).await?)
    }
}
