//! Writes in a backend of single operations: each create and each change of a helper request is a
//! step with a result of its own.
//!
//! Requirements: HLP-10, ERR-29 to ERR-34.

use bytes::Bytes;

use super::{
    CreateOptions, RuleContext, RuleResult, TicketHolderPolicy, attendance::complete_tickets,
    check, create::blank_name, limits::exceeded_limits,
};
use crate::{
    draft::{RawDraft, RawPatch},
    error::Error,
    json::Object,
    model::Kind,
    record::{Meta, RawRecord},
    store::{RuleError, Step, StepLog, StoredRecord},
};

impl RuleContext<'_> {
    /// Creates a record in a step, or returns only the problems of the draft. These are all that is
    /// returned if the request is already rejected, if a donation does not have the currency of its page,
    /// or if a name is blank.
    pub(super) fn create_in_step(
        &mut self,
        steps: &StepLog,
        draft: &RawDraft,
        new: &CreateOptions,
    ) -> RuleResult<(StoredRecord, bool)> {
        let wrong = self.wrong_donation_in_step(draft)?;
        let blank = blank_name(draft.kind, None, &draft.fields);
        if self.call.is_rejected || !wrong.is_empty() || blank.is_some() {
            let meta = Meta::new(self.next_id(), self.call.received_at);
            let mut record = RawRecord::from_wire(draft.kind, meta, Bytes::new());
            let mut problems = self.follow_links(draft, new, &mut record)?;
            problems.extend(self.used_identifiers(draft.kind, &draft.identifiers, None)?);
            problems.extend(wrong);
            problems.extend(blank);
            check(problems)?;
            let stored = StoredRecord::new(StoredRecord::UNSAVED_ROW, record);
            self.ledger.see(&stored);
            return Ok((stored, true));
        }
        self.step(steps, || {
            let mut draft = draft.clone();
            draft.own = None;
            if let TicketHolderPolicy::Match(merge) = new.holders {
                draft.holder_merge = merge;
            }
            if let Some(person) = &new.person {
                let name = Kind::Person.singular();
                draft.links.retain(|(link, _)| *link != name);
                draft.links.push((name, person.clone()));
            }
            Step::Create(Box::new(draft))
        })
    }

    /// Changes a record in a step, unless every value stays the same. An action that the backend
    /// cannot change stays unchanged.
    ///
    /// If the request is already rejected, returns only the problems of the patch.
    pub(super) fn update_in_step(
        &mut self,
        steps: &StepLog,
        stored: StoredRecord,
        before: &Object,
        patch: &RawPatch,
    ) -> RuleResult<StoredRecord> {
        let at = stored.record.address();
        let (mut after, broken) = patch.applied_to(before, self.call.received_at);
        let mut problems = exceeded_limits(self.call, &stored.record, before, &after, patch);
        problems.extend(blank_name(at.kind, Some(before), &after));
        if self.call.is_rejected {
            let (_, missing) = self.follow_changed_links(patch)?;
            problems.extend(missing);
            problems.extend(broken);
            let identifiers = patch.identifiers.as_deref().unwrap_or_default();
            problems.extend(self.used_identifiers(at.kind, identifiers, Some(&stored.record))?);
        }
        check(problems)?;
        self.name_holders(&mut after, &patch.holders);
        if at.kind == Kind::Attendance {
            complete_tickets(before, &mut after);
        }
        if self.call.is_rejected
            || patch.leaves_unchanged(&stored.record, (before, &after), &patch.links)
        {
            return Ok(stored);
        }
        if !steps.updatable.contains(&at.kind) {
            return if at.kind == Kind::Person {
                Err(Error::not_implemented().into())
            } else {
                Ok(stored)
            };
        }
        let mut patch = patch.clone();
        patch.if_match = Some(stored.record.meta().state());
        let (changed, _) = self.step(steps, || Step::Update(at, Box::new(patch)))?;
        self.ledger.see(&changed);
        Ok(changed)
    }

    /// Returns the result of the next step, or ends this run.
    fn step(
        &mut self,
        steps: &StepLog,
        next: impl FnOnce() -> Step,
    ) -> RuleResult<(StoredRecord, bool)> {
        let Some(result) = steps.results.get(self.steps) else {
            return Err(RuleError::NextStep(next()));
        };
        self.steps = self.steps.saturating_add(1);
        match result {
            Ok((record, is_new)) => Ok((StoredRecord::by_age(record.clone()), *is_new)),
            Err(problems) => Err(Error::invalid_all(problems.clone()).into()),
        }
    }
}
