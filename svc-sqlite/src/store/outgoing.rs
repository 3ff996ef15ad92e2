//! What the store has to be sent, for whoever sends it (HAF-11, SCH-01).

use svc_core::{
    Result,
    ops::Listening,
    store::{Claim, Claimed, Outgoing},
    value::Timestamp,
};

use super::Store;
use crate::outgoing;

#[async_trait::async_trait]
impl Outgoing for Store {
    async fn due(&self, now: Timestamp, until: Timestamp, most: u32) -> Result<Claimed> {
        // Nothing is written, and no turn taken, where nothing is due.
        let next = self.readers().with(outgoing::next)?;
        if next.is_none_or(|next| next > now) {
            return Ok(Claimed::new(Vec::new(), next));
        }
        Ok(self
            .writer()
            .run(None, move |job| outgoing::claim(job.file, now, until, most))
            .await?)
    }

    async fn done(&self, claim: &Claim) -> Result<()> {
        let row = claim.row;
        Ok(self
            .writer()
            .run(None, move |job| outgoing::done(job.file, row))
            .await?)
    }

    async fn again(&self, claim: &Claim, at: Timestamp) -> Result<()> {
        let (row, attempts) = (claim.row, claim.attempts);
        Ok(self
            .writer()
            .run(None, move |job| {
                outgoing::again(job.file, row, attempts, at)
            })
            .await?)
    }

    fn listen(&self) -> Listening {
        self.inner.outgoing.listen(())
    }
}
