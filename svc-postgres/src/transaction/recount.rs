//! A transaction that derives the totals, values and indexes of a tenant again.

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
            Ok((seq, recount)) => {
                lent.mark_clean();
                self.committed(tenant, *seq);
                recount.log();
            }
            Err(error) => self.roll_back(lent, error).await,
        }
        counted.map(drop)
    }

    /// Returns the number of the transaction, and what was found.
    async fn recounted(&self, lent: &mut Lease, tenant: i64) -> Result<(i64, Recount)> {
        let now = Instant::now();
        let deadline = now.checked_add(MAX_TIME).unwrap_or(now);
        let mut progress = self.open(lent, tenant, &[], deadline).await?;
        let within = self.statement_timeout(deadline);
        let texts = &self.texts;
        let clear = [
            &*texts.clear_totals,
            &texts.clear_parts,
            &texts.clear_emails,
            &texts.clear_texts,
            &texts.duplicates.clear_keys,
            &texts.duplicates.clear_shared_keys,
        ];
        let clear = clear.map(|text| SqlQuery::new(text, values![tenant]));
        lent.run(&clear, within).await.map_err(|(_, error)| error)?;
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
                // The memory does not grow with the records of the tenant.
                let (seq, queries) = self.writes(tenant, &mut progress);
                lent.run(&queries, within)
                    .await
                    .map_err(|(_, error)| error)?;
                progress.seq = seq;
            }
        }
        let commit = [SqlQuery::control("COMMIT")];
        lent.run(&commit, within)
            .await
            .map_err(|(_, error)| error)?;
        Ok((progress.seq, counted))
    }
}
