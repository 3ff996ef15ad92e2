//! A turn without rules: changes that another store has decided, and how far its copy is.

use std::time::{Duration, Instant};

use svc_core::{Error, store::Change, value::Timestamp};

use crate::{
    error::Result,
    pipeline::{Query, values},
    pool::{For, Lent},
    store::Inner,
};

/// The longest that one part may take.
const LONGEST: Duration = Duration::from_secs(30);

/// A part of a copy.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part<'a> {
    pub(crate) changes: &'a [Change],
    /// The moment of the tenant's last write where it comes from.
    pub(crate) clock: Timestamp,
    /// Under which name it is remembered how far the copy is.
    pub(crate) name: &'a str,
    /// What was remembered by the part before, and what is from now on.
    pub(crate) marks: (Option<&'a str>, &'a str),
}

/// What is remembered: with the number that the ledger has then, so that whatever anybody else writes is seen.
pub(crate) fn remembered(seq: i64, mark: &str) -> String {
    format!("{seq} {mark}")
}

impl Inner {
    /// Writes a part of a copy and how far it is, in one transaction.
    pub(crate) async fn restore(&self, tenant: i64, part: Part<'_>) -> Result<()> {
        let mut lent = self.pool.get(For::Writes).await?;
        lent.begins();
        match self.restored(&mut lent, tenant, part).await {
            Ok(seq) => {
                lent.is_clean_again();
                self.wrote(tenant, seq);
                Ok(())
            }
            Err(error) => {
                self.roll_back(lent).await;
                Err(error)
            }
        }
    }

    async fn restored(&self, lent: &mut Lent, tenant: i64, part: Part<'_>) -> Result<i64> {
        let now = Instant::now();
        let mut progress = self.open(lent, tenant, &[], now.checked_add(LONGEST).unwrap_or(now)).await?;
        let within = self.half_of(progress.deadline);
        let meta = [Query::new(&*self.texts.meta, values![part.name.to_owned()])];
        let given = lent.run(&meta, within).await.map_err(|(_, error)| error)?;
        let known: Option<Vec<u8>> =
            given.first().and_then(|rows| rows.first()).map(|row| row.try_get(0)).transpose()?;
        let (before, mark) = part.marks;
        let expected = before.map(|before| remembered(progress.seq, before).into_bytes());
        if known != expected || before.is_none() && progress.seq != 0 {
            return Err(Error::unexpected("the tenant has data in the database that this copy has not brought").into());
        }
        progress.last = progress.last.max(part.clock);
        for change in part.changes {
            progress.apply.change(change)?;
            if let Change::Insert(insert) = change {
                progress.last = progress.last.max(insert.record.meta().modified);
            }
        }
        let (seq, mut queries) = self.writes(tenant, &mut progress);
        let mark = values![part.name.to_owned(), remembered(seq, mark).into_bytes()];
        queries.push(Query::new(&*self.texts.set_meta, mark));
        queries.push(Query::control("COMMIT"));
        lent.run(&queries, within).await.map_err(|(_, error)| error)?;
        Ok(seq)
    }
}
