//! A transaction that counts the totals of a tenant again and rebuilds its indexes of addresses and texts.

use std::time::{Duration, Instant};

use svc_core::rules::Recount;

use crate::{
    database::DatabaseHandle,
    error::Result,
    pipeline::{SqlQuery, values},
    pool::{Lease, LeasePurpose},
    rows::{code, stored},
};

/// Number of records that are read together.
const BATCH: i64 = 1_000;
/// Maximum time for one tenant.
const MAX_TIME: Duration = Duration::from_secs(3_600);

impl DatabaseHandle {
    /// Counts the totals of a tenant again. Other writers of the tenant wait.
    pub(crate) async fn recount(&self, tenant: i64) -> Result<()> {
        let mut lent = self.pool.get(LeasePurpose::Writes).await?;
        lent.begins();
        let counted = self.recounted(&mut lent, tenant).await;
        match &counted {
            Ok(seq) => {
                lent.mark_clean();
                self.committed(tenant, *seq);
            }
            Err(error) => self.roll_back(lent, error).await,
        }
        counted.map(drop)
    }

    async fn recounted(&self, lent: &mut Lease, tenant: i64) -> Result<i64> {
        let now = Instant::now();
        let deadline = now.checked_add(MAX_TIME).unwrap_or(now);
        let mut progress = self.open(lent, tenant, &[], deadline).await?;
        let within = self.statement_timeout(deadline);
        let mut counted = Recount::default();
        for kind in Recount::kinds() {
            let mut after = 0_i64;
            loop {
                let page = values![tenant, code(kind), after, BATCH];
                let page = [SqlQuery::new(&*self.texts.rows_of_all, page)];
                let given = lent.run(&page, within).await.map_err(|(_, error)| error)?;
                let Some(last) = given.iter().flatten().last() else {
                    break;
                };
                after = last.try_get(1)?;
                for row in given.iter().flatten() {
                    for change in counted.record(&stored(row, 0)?) {
                        progress.apply.change(&change)?;
                    }
                }
            }
        }
        for damaged in counted.damaged() {
            let (kind, id) = (damaged.kind.singular(), &damaged.id);
            tracing::warn!(
                "{kind} {id} is damaged: it is not in totals and not found by addresses and texts"
            );
        }
        let texts = &self.texts;
        let clear = [
            &*texts.clear_totals,
            &texts.clear_parts,
            &texts.clear_emails,
            &texts.clear_texts,
        ];
        let mut queries: Vec<_> = clear
            .into_iter()
            .map(|text| SqlQuery::new(text, values![tenant]))
            .collect();
        let (seq, writes) = self.writes(tenant, &mut progress);
        queries.extend(writes);
        queries.push(SqlQuery::control("COMMIT"));
        lent.run(&queries, within)
            .await
            .map_err(|(_, error)| error)?;
        Ok(seq)
    }
}
