//! Returns the stored response of a repeated request, which then changes nothing.
//!
//! Requirements: IDM-01, IDM-06.

use bytes::Bytes;

use super::{RuleContext, RuleResult};
use crate::store::{Change, WriteOutcome};

impl RuleContext<'_> {
    /// Returns the stored response of this request, if it was executed before.
    pub(super) fn stored_response(&mut self) -> RuleResult<Option<Bytes>> {
        let Some(keep) = &self.call.response_recorder else {
            return Ok(None);
        };
        let kept = self
            .ledger
            .stored_response(keep.key())?
            .filter(|kept| kept.is_in_force(self.turn.timestamp));
        Ok(kept.map(|kept| kept.body))
    }

    /// Stores the response of this request.
    pub(super) fn store_response(&mut self, outcome: &WriteOutcome) -> RuleResult<()> {
        let Some(keep) = &self.call.response_recorder else {
            return Ok(());
        };
        let noted = self
            .ledger
            .changes
            .iter()
            .filter_map(|change| match change {
                Change::AddTicketHolder { person, .. } => Some(person.clone()),
                _ => None,
            });
        let kept = keep.of(self.turn.timestamp, outcome, noted)?;
        self.ledger.change(Change::StoreResponse(Box::new(kept)));
        Ok(())
    }
}
