//! A call that comes again is answered as before and changes nothing.
//!
//! Requirements: IDM-01, IDM-06.

use bytes::Bytes;

use super::{RuleResult, StoreRuleContext};
use crate::store::{Change, WriteOutcome};

impl StoreRuleContext<'_> {
    /// The answer that is kept of this call, where it has been here before.
    pub(super) fn kept_answer(&mut self) -> RuleResult<Option<Bytes>> {
        let Some(keep) = &self.call.keep else {
            return Ok(None);
        };
        let kept = self
            .ledger
            .kept(keep.key())?
            .filter(|kept| kept.is_in_force(self.turn.time));
        Ok(kept.map(|kept| kept.body))
    }

    /// Keeps the answer of this call, which is done.
    pub(super) fn keep_answer(&mut self, outcome: &WriteOutcome) -> RuleResult<()> {
        let Some(keep) = &self.call.keep else {
            return Ok(());
        };
        let noted = self
            .ledger
            .changes
            .iter()
            .filter_map(|change| match change {
                Change::Hold { person, .. } => Some(person.clone()),
                _ => None,
            });
        let kept = keep.of(self.turn.time, outcome, noted)?;
        self.ledger.change(Change::Keep(Box::new(kept)));
        Ok(())
    }
}
