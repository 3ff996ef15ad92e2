//! Returns the stored response of a repeated request, which then changes nothing. If parts of the
//! request failed, executes these parts again.
//!
//! Requirements: IDM-01, IDM-02, IDM-06.

use bytes::Bytes;

use super::{
    Decision, RuleContext, RuleResult,
    action::Recording,
    functions::{self, RecordedAction},
    helper::person_of_functions,
};
use crate::{
    helper::{EntryStatus, RawHelperOutcome},
    model::Kind,
    store::{
        Change, FailedParts, LookupKey, StoredRecord, WriteOperation, WriteOutcome, WrittenRecord,
    },
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

    /// Decides a request whose response is stored. The outcome is this response, unless parts of the
    /// request failed and one of them succeeds now.
    pub(super) fn replay(mut self, stored: Bytes) -> RuleResult<Decision> {
        let recorder = self.call.response_recorder.as_ref();
        if let Some(parts) = recorder.and_then(|recorder| recorder.failed_parts(&stored)) {
            self.find_caller()?;
            if let Some(outcome) = self.resume(&parts)? {
                let outcome = WriteOutcome::Resumed(outcome);
                let warnings = self.shared_addresses(&outcome)?;
                let outcome = outcome.with_warnings(warnings);
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
        let person = self.written_record(Kind::Person, parts.person.as_ref())?;
        let action = self.written_record(action_kind, parts.action.as_ref())?;
        let (Some(functions), true, true) = (
            parts.select(&plan.functions),
            person.is_some() == plan.person.is_some(),
            action.is_some() == plan.action.is_some(),
        ) else {
            return Ok(None);
        };
        let container = plan.container.clone();
        // Another request can have repeated this action and recorded the missing answers. A canvass
        // and a submission have their own answers, so an equal one can belong to another action.
        let may_repeat = !answers_refer_to(action_kind)
            && plan.action.as_ref().is_some_and(|draft| {
                self.turn.one_per_person.contains(&draft.kind)
                    || plan.one_action_per_person
                    || !plan.anonymous && (draft.own.is_some() || !draft.identifiers.is_empty())
            });
        let named = person_of_functions(plan, container, person.as_ref(), action.as_ref());
        let done = RecordedAction {
            plan,
            // Not a person to whom the action was linked later.
            person: named.filter(|person| parts.people.contains(&person.id)),
            action: action.as_ref(),
            recording: if may_repeat {
                Recording::Resumed
            } else {
                Recording::New
            },
            is_refused: false,
        };
        let mut resumed = RawHelperOutcome::default();
        functions::run(self, &functions, &done, &mut resumed)?;
        let is_failed = |status: &EntryStatus| matches!(status, EntryStatus::Failed(_));
        if resumed.entries.iter().all(|entry| is_failed(&entry.status)) {
            return Ok(None);
        }
        let mut outcome = RawHelperOutcome::default();
        for (kind, written) in [(Kind::Person, &parts.person), (action_kind, &parts.action)] {
            if let Some(written) = written {
                outcome.entry(kind, EntryStatus::from_is_new(written.is_new));
            }
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
    fn written_record(
        &mut self,
        kind: Kind,
        written: Option<&WrittenRecord>,
    ) -> RuleResult<Option<StoredRecord>> {
        match written {
            Some(written) => self.ledger.record(&LookupKey::Id(kind, written.id.clone())),
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

/// Returns whether an answer has a reference to the action that it was recorded with.
fn answers_refer_to(action: Kind) -> bool {
    let mut references = Kind::Answer.schema().references().iter();
    references.any(|reference| reference.kind == action)
}
