//! Returns the stored response of a repeated request, which then changes nothing.
//!
//! Requirements: IDM-01, IDM-06.

use bytes::Bytes;

use super::{RuleResult, StoreRuleContext};
use crate::store::{Change, WriteOutcome};

impl StoreRuleContext<'_> {
    /// Returns the stored response of this request, if it was executed before.
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

    /// Stores the response of this request.
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
