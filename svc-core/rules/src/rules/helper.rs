//! Executes helper requests, with an outcome for each resource.
//!
//! Requirements: HLP-01 to HLP-23, ERR-29 to ERR-34.

use std::sync::Arc;

use super::{
    CreateOptions, RuleContext, RuleResult, StoreRuleContext, action,
    functions::{self, RecordedAction},
    person,
};
use crate::{
    draft::{RawDraft, RawPatch},
    error::{Error, PropertyPath},
    helper::{
        Atomicity, EntryStatus, HelperName, PersonMatching, RawHelperOutcome, RawHelperRequest,
        ScheduleChange,
    },
    json::Object,
    link::{RecordAddress, ShareNames},
    model::Kind,
    outbox::OutboxPayload,
    store::{LookupKey, RecordLocation, RuleError, StoredRecord},
    value::{Id, Timestamp},
};

/// Executes a helper request, either completely or without the entries that fail separately.
///
/// # Errors
///
/// A lookup result is missing, or the request fails.
pub fn help<G: RuleContext>(
    ground: &mut G,
    plan: &RawHelperRequest,
) -> RuleResult<RawHelperOutcome> {
    let container = match &plan.container {
        Some(address) => Some(
            ground
                .find_at(address)?
                .ok_or_else(Error::not_found)?
                .address(),
        ),
        None => None,
    };
    let mut outcome = RawHelperOutcome::default();
    if plan.helper == HelperName::Schedule {
        let (Some(message), Some(dates)) = (&plan.container, plan.schedule) else {
            return Err(
                Error::unexpected("a schedule request without its message or its dates").into(),
            );
        };
        let message = ground.schedule(message, dates)?;
        outcome.entry(Kind::Message, EntryStatus::Existing);
        outcome.action = Some(message.record);
        return Ok(outcome);
    }
    let mut wrong = Vec::new();
    let mut person = None;
    if let Some(posted) = &plan.person {
        match person::recognise(ground, posted, plan.merge)
            .map_err(|pause| pause.within(&PropertyPath::member("person")))
        {
            Ok((known, is_new)) => {
                outcome.entry(Kind::Person, EntryStatus::from_is_new(is_new));
                person = Some(known);
            }
            Err(RuleError::Failed(error)) if ground.collects_all_problems() => {
                wrong.extend(error.into_problems()?);
            }
            Err(error) => return Err(error),
        }
    }
    let mut recorded = None;
    let mut is_repeat = false;
    if let Some(draft) = &plan.action {
        let by = person.as_ref().map(|person| person.record.address());
        let is_canvass = plan.helper == HelperName::RecordCanvass;
        let part = if is_canvass {
            PropertyPath::member("canvass")
        } else {
            PropertyPath::default()
        };
        match action::record(ground, draft, by, plan).map_err(|pause| pause.within(&part)) {
            Ok((action, is_new)) => {
                outcome.entry(
                    plan.helper.recorded_kind(),
                    EntryStatus::from_is_new(is_new),
                );
                is_repeat = !is_new;
                recorded = Some(action);
            }
            // The person exists and only the action failed. Everything that depends on the action
            // is skipped.
            // Requirements: HLP-10.
            Err(RuleError::Failed(error)) if person.is_some() && !ground.is_atomic() => {
                outcome.entry(
                    plan.helper.recorded_kind(),
                    EntryStatus::Failed(error.into_problems()?),
                );
                outcome.person = person.map(|person| person.record);
                return Ok(outcome);
            }
            Err(RuleError::Failed(error)) if ground.collects_all_problems() => {
                wrong.extend(error.into_problems()?);
            }
            Err(error) => return Err(error),
        }
    }
    let of_call = match (plan.helper, &person, &recorded) {
        (HelperName::RecordCanvass, ..) => container,
        (_, Some(person), _) => Some(person.record.address()),
        // Without a posted person, the action may link a person. An anonymous request has no link.
        (_, None, action) => action
            .as_ref()
            .and_then(|action| action.record.link("person").cloned()),
    };
    let is_refused = ground.is_refused() || !wrong.is_empty();
    let done = RecordedAction {
        plan,
        person: of_call,
        action: recorded.as_ref(),
        is_repeat,
        is_refused,
    };
    functions::run(ground, &plan.functions, &done, &mut outcome)?;
    if is_refused || plan.atomicity == Atomicity::WholeCall && outcome.has_failures() {
        wrong.extend(outcome.problems());
        return Err(Error::invalid_all(wrong).into());
    }
    outcome.person = person.map(|person| person.record);
    outcome.action = recorded.map(|action| action.record);
    Ok(outcome)
}

impl RuleError {
    /// Moves the error to a part of the body.
    ///
    /// Requirements: ERR-26.
    pub(crate) fn within(self, part: &PropertyPath) -> Self {
        match self {
            Self::Failed(error) => Self::Failed(error.with_path_prefix(part.clone())),
            other => other,
        }
    }
}

impl RuleContext for StoreRuleContext<'_> {
    fn find_at(&mut self, address: &RecordAddress) -> RuleResult<Option<RecordLocation>> {
        StoreRuleContext::find_at(self, address)
    }

    fn find(&mut self, key: &LookupKey) -> RuleResult<Option<RecordLocation>> {
        self.ledger.find(key)
    }

    fn record(&mut self, key: &LookupKey) -> RuleResult<Option<StoredRecord>> {
        self.ledger.record(key)
    }

    fn find_answers(
        &mut self,
        person: &Id,
        questions: Vec<LookupKey>,
    ) -> RuleResult<Vec<StoredRecord>> {
        self.ledger.answered(person, questions)
    }

    fn create(
        &mut self,
        draft: &RawDraft,
        new: &CreateOptions,
    ) -> RuleResult<(StoredRecord, bool)> {
        StoreRuleContext::create(self, draft, new)
    }

    fn update(
        &mut self,
        stored: StoredRecord,
        before: &Object,
        patch: &RawPatch,
    ) -> RuleResult<StoredRecord> {
        StoreRuleContext::update(self, stored, before, patch)
    }

    fn schedule(
        &mut self,
        message: &RecordAddress,
        dates: ScheduleChange,
    ) -> RuleResult<StoredRecord> {
        self.schedule_message(message, dates)
    }

    fn trigger(&mut self, response: OutboxPayload) -> RuleResult<()> {
        self.send(response);
        Ok(())
    }

    fn trigger_once_a_day(
        &mut self,
        response: OutboxPayload,
        person: &Id,
        keys: &[Arc<str>],
    ) -> RuleResult<()> {
        self.send_once_a_day(response, person, keys)
    }

    fn is_atomic(&self) -> bool {
        true
    }

    fn collects_all_problems(&self) -> bool {
        true
    }

    fn is_refused(&self) -> bool {
        self.call.is_rejected
    }

    fn supports_find(&self, _: Kind) -> bool {
        true
    }

    fn matching(&self) -> &dyn PersonMatching {
        self.turn.person_matching
    }

    fn share_names(&self) -> &ShareNames {
        self.turn.share_names
    }

    fn received(&self) -> Timestamp {
        self.call.received_at
    }
}
