//! A transaction without rules: changes that another store has decided, and the progress of the
//! copy.

use svc_core::{Error, store::Change};
use svc_store::{feed::FeedRecorder, transfer::ExportBatch};

use crate::{
    database::DatabaseHandle,
    error::Result,
    pipeline::{SqlQuery, values},
    pool::{Lease, LeasePurpose},
    transaction::retry::deadline_or_default,
};

/// A batch of a copy, and the progress of the copy.
#[derive(Clone, Copy)]
pub(crate) struct RestorePart<'a> {
    pub(crate) batch: &'a ExportBatch,
    /// The name under which the progress is stored.
    pub(crate) name: &'a str,
    /// The progress after the previous batch.
    pub(crate) before: Option<&'a str>,
    /// The progress after this batch.
    pub(crate) after: &'a str,
}

/// Returns the stored text: the mark with the number of the ledger, so that later writes of others
/// are detected.
pub(crate) fn remembered(seq: i64, mark: &str) -> String {
    format!("{seq} {mark}")
}

impl DatabaseHandle {
    /// Writes a batch of a copy and its progress, in one transaction.
    pub(crate) async fn restore(&self, tenant: i64, part: RestorePart<'_>) -> Result<()> {
        let mut lent = self.pool.get(LeasePurpose::Writes).await?;
        lent.begins();
        let restored = self.restored(&mut lent, tenant, part).await;
        match &restored {
            Ok(seq) => {
                lent.mark_clean();
                self.committed(tenant, *seq);
            }
            Err(error) => self.roll_back(lent, error).await,
        }
        restored.map(drop)
    }

    /// Returns the number of the tenant's ledger, and the text that is stored under a name. They
    /// are read under the lock, so no batch of a copy is in progress.
    pub(crate) async fn remembered_as(
        &self,
        tenant: i64,
        name: &str,
    ) -> Result<(i64, Option<String>)> {
        let given = self
            .query_after_lock(
                tenant,
                SqlQuery::new(&*self.texts.meta, values![name.to_owned()]),
            )
            .await?;
        let row = |place: usize| given.get(place).and_then(|rows| rows.first());
        let seq = row(0)
            .map(|row| row.try_get(0))
            .transpose()?
            .unwrap_or_default();
        let mark: Option<Vec<u8>> = row(1).map(|row| row.try_get(0)).transpose()?;
        Ok((
            seq,
            mark.map(|mark| String::from_utf8_lossy(&mark).into_owned()),
        ))
    }

    async fn restored(&self, lent: &mut Lease, tenant: i64, part: RestorePart<'_>) -> Result<i64> {
        let RestorePart {
            batch,
            name,
            before,
            after,
        } = part;
        let deadline = deadline_or_default(None);
        let mut progress = self.open(lent, tenant, &[], deadline).await?;
        let within = self.statement_timeout(progress.deadline);
        let meta = [SqlQuery::new(&*self.texts.meta, values![name.to_owned()])];
        let given = lent.run(&meta, within).await.map_err(|(_, error)| error)?;
        let known: Option<Vec<u8>> = given
            .iter()
            .flatten()
            .next()
            .map(|row| row.try_get(0))
            .transpose()?;
        let expected = before.map(|before| remembered(progress.seq, before).into_bytes());
        if known != expected || before.is_none() && progress.seq != 0 {
            return Err(Error::unexpected(
                "the tenant has data in the database that is not from this copy",
            )
            .into());
        }
        progress.last = progress.last.max(batch.clock);
        // The feed restarts here: imported records are entries of created records.
        let mut telling = FeedRecorder::default();
        for change in &batch.changes {
            if let Some(told) = telling.record(change) {
                progress.apply.add_feed_entries(&told, progress.last)?;
            }
            progress.apply.change(change)?;
            if let Change::Insert(insert) = change {
                progress.last = progress.last.max(insert.record.meta().modified);
            }
        }
        let (seq, mut queries) = self.writes(tenant, &mut progress);
        let mark = values![name.to_owned(), remembered(seq, after).into_bytes()];
        queries.extend([
            SqlQuery::new(&*self.texts.set_meta, mark),
            SqlQuery::control("COMMIT"),
        ]);
        lent.run(&queries, within)
            .await
            .map_err(|(_, error)| error)?;
        Ok(seq)
    }
}
