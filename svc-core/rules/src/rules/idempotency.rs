//! Returns the stored response of a repeated request, which then changes nothing. Of a request with
//! failed parts, those that can succeed now are executed first.
//!
//! Requirements: IDM-01, IDM-02, IDM-06.

use bytes::Bytes;

use super::{
    Decision, RuleContext, RuleResult,
    functions::{self, RecordedAction},
    helper::person_of_functions,
};
use crate::{
    helper::{EntryStatus, RawHelperOutcome},
    model::Kind,
    store::{Change, FailedParts, LookupKey, StoredRecord, WriteOperation, WriteOutcome},
    value::Id,
};

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

    /// Decides a request whose response is stored: it returns this response, unless parts of it
    /// failed and one of them succeeds now.
    pub(super) fn replay(mut self, stored: Bytes) -> RuleResult<Decision> {
        let recorder = self.call.response_recorder.as_ref();
        if let Some(parts) = recorder.and_then(|recorder| recorder.failed_parts(&stored)) {
            self.find_caller()?;
            if let Some(outcome) = self.resume(&parts)? {
                let outcome = WriteOutcome::Resumed(outcome);
                self.store_response(&outcome, &parts.people)?;
                return Ok(Decision {
                    changes: self.ledger.changes,
                    outcome,
                });
            }
        }
        Ok(Decision {
            changes: Vec::new(),
            outcome: WriteOutcome::Replayed(stored),
        })
    }

    /// Executes the failed parts of a helper request for the person and the action that it has
    /// written. Returns `None` if no part succeeds, or if one of the two no longer exists.
    fn resume(&mut self, parts: &FailedParts) -> RuleResult<Option<RawHelperOutcome>> {
        let WriteOperation::Helper(plan) = &self.call.operation else {
            return Ok(None);
        };
        let action_kind = plan.helper.recorded_kind();
        let person = self.written(Kind::Person, parts.person.as_ref())?;
        let action = self.written(action_kind, parts.action.as_ref())?;
        let (Some(functions), true, true) = (
            parts.select(&plan.functions),
            person.is_some() == plan.person.is_some(),
            action.is_some() == plan.action.is_some(),
        ) else {
            return Ok(None);
        };
        let container = plan.container.clone();
        let done = RecordedAction {
            plan,
            person: person_of_functions(plan, container, person.as_ref(), action.as_ref()),
            action: action.as_ref(),
            is_repeat: true,
            is_refused: false,
        };
        let mut resumed = RawHelperOutcome::default();
        functions::run(self, &functions, &done, &mut resumed)?;
        let is_failed = |status: &EntryStatus| matches!(status, EntryStatus::Failed(_));
        if resumed.entries.iter().all(|entry| is_failed(&entry.status)) {
            return Ok(None);
        }
        let mut outcome = RawHelperOutcome::default();
        for kind in [
            person.is_some().then_some(Kind::Person),
            action.is_some().then_some(action_kind),
        ] {
            kind.into_iter()
                .for_each(|kind| outcome.entry(kind, EntryStatus::Existing));
        }
        let mut resumed = resumed.entries.into_iter();
        for (kind, has_failed) in parts.iter() {
            let entry = if has_failed { resumed.next() } else { None };
            let status = entry.map_or(EntryStatus::Existing, |entry| entry.status);
            outcome.entry(kind, status);
        }
        outcome.person = person.map(|person| person.record);
        outcome.action = action.map(|action| action.record);
        Ok(Some(outcome))
    }

    /// Returns a record that the request has written, if it still exists.
    fn written(&mut self, kind: Kind, id: Option<&Id>) -> RuleResult<Option<StoredRecord>> {
        match id {
            Some(id) => self.ledger.record(&LookupKey::Id(kind, id.clone())),
            None => Ok(None),
        }
    }

    /// Stores the response of this request. `earlier` contains the people of the response that it
    /// replaces.
    pub(super) fn store_response(
        &mut self,
        outcome: &WriteOutcome,
        earlier: &[Id],
    ) -> RuleResult<()> {
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
            })
            .chain(earlier.iter().cloned());
        let kept = keep.of(self.turn.timestamp, outcome, noted)?;
        self.ledger.change(Change::StoreResponse(Box::new(kept)));
        Ok(())
    }
}
