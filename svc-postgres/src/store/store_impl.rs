//! The store operations that the library calls: reads and write requests.

use std::{collections::HashMap, sync::Arc};

use async_trait::async_trait;
use svc_core::{
    Context, ListRequest, Result, Tenant,
    auth::Caller,
    backend::{ChangeFeed, FeedRequest, FeedResponse, Subscription},
    error::Problem,
    filter::FilterField,
    helper::PersonMatching,
    link::RecordAddress,
    model::Kind,
    raw::{RawPage, RawRecord},
    rules::problems_of,
    store::{
        self, ApartPeople, DuplicatesRequest, DuplicatesResponse, ImportedRecord, LookupKey,
        Outbox, StoredMerge, StoredPair, WriteOperation, WriteOutcome, WriteRequest,
    },
    value::{Id, Timestamp},
};
use svc_store::feed::FeedQuery;

use super::PostgresStore;
use crate::{
    error,
    lookups::{self, LookupBatch},
    pipeline::{SqlQuery, values},
};

/// Maximum number of tenants whose stored responses one sweep deletes.
const SWEPT: i64 = 16;

#[async_trait]
impl store::Store for PostgresStore {
    async fn list(&self, cx: &Context, kind: Kind, request: &ListRequest) -> Result<RawPage> {
        let tenant = self.tenant(cx.tenant()).await?;
        Ok(self
            .database()
            .page(
                &self.inner.jumps,
                &self.inner.cursors,
                tenant,
                kind,
                request,
            )
            .await?)
    }

    fn filter_fields(&self, kind: Kind) -> Vec<FilterField> {
        FilterField::of(kind).collect()
    }

    async fn get(&self, cx: &Context, at: &RecordAddress) -> Result<Option<RawRecord>> {
        let record = self.record(cx, &LookupKey::from(at)).await?;
        Ok(record.filter(|record| at.matches_parent(record.parent())))
    }

    async fn get_all(
        &self,
        cx: &Context,
        addresses: &[RecordAddress],
    ) -> Result<Vec<Option<RawRecord>>> {
        let tenant = self.tenant(cx.tenant()).await?;
        let found = self.database().records_at(tenant, addresses).await?;
        let found: HashMap<Id, RawRecord> = found
            .into_iter()
            .map(|stored| (stored.record.meta().id.clone(), stored.record))
            .collect();
        let record = |at: &RecordAddress| {
            let record = found.get(&at.id)?;
            at.matches_parent(record.parent()).then(|| record.clone())
        };
        Ok(addresses.iter().map(record).collect())
    }

    async fn find(&self, cx: &Context, key: &LookupKey) -> Result<Option<RawRecord>> {
        Ok(self.record(cx, key).await?)
    }

    async fn forwarded_person(&self, cx: &Context, id: &Id) -> Result<Option<Id>> {
        let tenant = self.tenant(cx.tenant()).await?;
        let Some(id) = id.as_uuid() else {
            return Ok(None);
        };
        let text = &*self.database().texts.forwarded;
        let query = SqlQuery::new(text, values![tenant, vec![id], vec![0_i32]]);
        let given = self.database().read(tenant, vec![query]).await?;
        let target = given.iter().flatten().next().map(|row| row.try_get(1));
        let target: Option<uuid::Uuid> = target.transpose().map_err(error::StoreError::from)?;
        Ok(target.map(Id::from))
    }

    fn undoes_merges(&self) -> bool {
        true
    }

    async fn merges(&self, cx: &Context, remaining: &Id) -> Result<Vec<StoredMerge>> {
        let tenant = self.tenant(cx.tenant()).await?;
        let Some(person) = remaining.as_uuid() else {
            return Ok(Vec::new());
        };
        let query = SqlQuery::new(
            &*self.database().texts.merges.of_person,
            values![tenant, person],
        );
        let given = self.database().read(tenant, vec![query]).await?;
        let mut merges = Vec::new();
        for row in given.iter().flatten() {
            let mut merge = lookups::merge(row, 0, remaining.clone())?;
            merge.is_latest = merges.is_empty();
            merges.push(merge);
        }
        Ok(merges)
    }

    fn finds_duplicates(&self) -> bool {
        true
    }

    async fn duplicates(
        &self,
        cx: &Context,
        request: &DuplicatesRequest,
    ) -> Result<DuplicatesResponse> {
        let tenant = self.tenant(cx.tenant()).await?;
        let database = self.database();
        Ok(database.duplicates(tenant, cx.tenant(), request).await?)
    }

    async fn duplicate_pair(&self, cx: &Context, people: [&Id; 2]) -> Result<Option<StoredPair>> {
        let tenant = self.tenant(cx.tenant()).await?;
        Ok(self.database().duplicate_pair(tenant, people).await?)
    }

    async fn set_apart(&self, cx: &Context, apart: &ApartPeople) -> Result<bool> {
        let tenant = self.tenant(cx.tenant()).await?;
        let database = self.database();
        Ok(database.set_apart(tenant, apart, cx.deadline()).await?)
    }

    async fn write(&self, cx: &Context, call: WriteRequest) -> Result<WriteOutcome> {
        let tenant = self.tenant(cx.tenant()).await?;
        Ok(self
            .inner
            .turns
            .write(tenant, vec![call], cx.deadline())
            .await?)
    }

    async fn find_problems(&self, cx: &Context, call: WriteRequest) -> Result<Vec<Problem>> {
        let tenant = self.tenant(cx.tenant()).await?;
        let decided = self.database().decide_by_reads(tenant, &call).await?;
        problems_of(decided)
    }

    fn person_matching(&self) -> Arc<dyn PersonMatching> {
        Arc::clone(&self.database().options.matching)
    }

    fn merges_people(&self) -> bool {
        true
    }

    fn stores_responses(&self) -> bool {
        true
    }

    async fn sweep(&self, before: Timestamp) -> Result<bool> {
        let (database, before) = (self.database(), before.as_micros());
        let expired = SqlQuery::new(
            &*database.texts.merges.merges_to_sweep,
            values![before, SWEPT],
        );
        let merges = database.query_one(None, expired).await?;
        for row in &merges {
            let tenant: i64 = row.try_get(0).map_err(error::StoreError::from)?;
            let expired = SqlQuery::new(
                &*database.texts.merges.expire_merges,
                values![tenant, before],
            );
            database.query_one(Some(tenant), expired).await?;
        }
        let found = SqlQuery::new(&*database.texts.tenants_to_sweep, values![before, SWEPT]);
        let tenants = database.query_one(None, found).await?;
        for row in &tenants {
            let tenant: i64 = row.try_get(0).map_err(error::StoreError::from)?;
            let expired = SqlQuery::new(&*database.texts.expire_kept, values![tenant, before]);
            database.query_one(Some(tenant), expired).await?;
        }
        Ok(!tenants.is_empty() || !merges.is_empty())
    }

    fn outbox(self: Arc<Self>) -> Option<Arc<dyn Outbox>> {
        Some(self)
    }
}

#[async_trait]
impl ChangeFeed for PostgresStore {
    async fn read(&self, cx: &Context, request: &FeedRequest) -> Result<FeedResponse> {
        let query = match FeedQuery::new(cx.tenant(), request, &self.inner.feed_cursors) {
            Ok(query) => query,
            Err(refused) => return Ok(refused),
        };
        let tenant = self.tenant(cx.tenant()).await?;
        Ok(query.page(self.database().feed(tenant, &query).await?))
    }

    async fn subscribe(&self, cx: &Context) -> Result<Subscription> {
        Ok(self
            .database()
            .bells
            .subscribe(self.tenant(cx.tenant()).await?)
            .with_polling())
    }
}

impl PostgresStore {
    async fn record(&self, cx: &Context, key: &LookupKey) -> error::Result<Option<RawRecord>> {
        let tenant = self.tenant(cx.tenant()).await?;
        let mut fetch = LookupBatch::one(&self.database().texts, tenant, key.clone());
        let queries = fetch.take_queries();
        if queries.is_empty() {
            // No record here can have this id.
            //
            // Requirements: UND-41.
            return Ok(None);
        }
        let given = self.database().read(tenant, queries).await?;
        let stored = fetch.records(&given)?.pop();
        Ok(stored.map(|stored| stored.record))
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
    /// would report, or an error of the database. Nothing of the call is then stored.
    pub async fn import_records(&self, tenant: &Tenant, rows: Vec<ImportedRecord>) -> Result<()> {
        if rows.is_empty() {
            return Ok(());
        }
        let cx = Context::new(tenant.clone(), Caller::anonymous(), self.now());
        let calls: Vec<WriteRequest> = rows
            .into_iter()
            .map(|row| WriteRequest::new(&cx, WriteOperation::Import(Box::new(row))))
            .collect();
        let number = self.tenant(tenant).await?;
        self.inner.turns.write(number, calls, None).await?;
        Ok(())
    }
}
