//! Decides a request that changes nothing, with reads only.

use async_trait::async_trait;
use svc_core::{
    Error,
    rules::{Decision, RuleRunner, initial_lookups, run_rules},
    store::{IdSequence, Lookup, LookupCache, PendingChanges, RuleError, WriteRequest},
    value::Timestamp,
};

use crate::{
    database::DatabaseHandle,
    error::{Result, StoreError},
    lookups::LookupBatch,
};

impl DatabaseHandle {
    /// Decides a [rejected](WriteRequest::rejected) request of a tenant. It needs neither the lock
    /// of the tenant nor a place in the queue.
    pub(crate) async fn decide_by_reads(
        &self,
        tenant: i64,
        call: &WriteRequest,
    ) -> Result<std::result::Result<Decision, Error>> {
        let mut runner = ReadRunner {
            database: self,
            tenant,
            call,
            time: (self.options.now)(),
            ids: IdSequence::default(),
            fetched: LookupCache::default(),
        };
        let first = initial_lookups(call, &*self.options.matching);
        runner.fetch(first).await?;
        run_rules(&mut runner).await
    }
}

/// The rules of one request over reads.
struct ReadRunner<'a> {
    database: &'a DatabaseHandle,
    tenant: i64,
    call: &'a WriteRequest,
    time: Timestamp,
    ids: IdSequence,
    fetched: LookupCache,
}

#[async_trait]
impl RuleRunner for ReadRunner<'_> {
    type Error = StoreError;

    fn decide(&mut self) -> std::result::Result<Decision, RuleError> {
        let (fetched, before) = (&mut self.fetched, PendingChanges::default());
        self.database
            .decide_once(self.call, self.time, &self.ids, fetched, &before)
    }

    async fn fetch(&mut self, missing: Vec<Lookup>) -> Result<()> {
        let mut fetch = LookupBatch::new(&self.database.texts, self.tenant, missing);
        let queries = fetch.take_queries();
        let given = if queries.is_empty() {
            Vec::new()
        } else {
            self.database.read(self.tenant, queries).await?
        };
        fetch.store_results(&given, &mut self.fetched)
    }
}
