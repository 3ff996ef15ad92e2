//! Executes helper requests, with an outcome for each resource.
//!
//! Requirements: HLP-01 to HLP-23, ERR-29 to ERR-34.

use super::{
    RuleContext, RuleResult,
    action::{self, Recording},
    functions::{self, RecordedAction},
    person,
};
use crate::{
    error::{Error, Problem, PropertyPath},
    helper::{Atomicity, EntryStatus, HelperName, RawHelperOutcome, RawHelperRequest},
    link::RecordAddress,
    model::Kind,
    store::{RuleError, StoredRecord},
};

/// Executes a helper request, either completely or without the entries that fail separately.
pub(super) fn help(
    context: &mut RuleContext<'_>,
    plan: &RawHelperRequest,
) -> RuleResult<RawHelperOutcome> {
    let container = match &plan.container {
        Some(address) => Some(
            context
                .find_at(address)?
                .ok_or_else(Error::not_found)?
                .address(),
        ),
        None => None,
    };
    let mut outcome = RawHelperOutcome::default();
    if plan.helper == HelperName::Schedule {
        if context.call.is_rejected {
            return Ok(outcome);
        }
        let (Some(message), Some(dates)) = (&plan.container, plan.schedule) else {
            return Err(
                Error::unexpected("a schedule request without its message or its dates").into(),
            );
        };
        let message = context.schedule_message(message, dates)?;
        outcome.entry(Kind::Message, EntryStatus::Existing);
        outcome.action = Some(message.record);
        return Ok(outcome);
    }
    let mut wrong = Vec::new();
    let mut person = None;
    if let Some(posted) = &plan.person {
        let part = PropertyPath::member("person");
        match person::recognise(context, posted, plan.merge, &part) {
            Ok((known, is_new)) => {
                outcome.entry(Kind::Person, EntryStatus::from_is_new(is_new));
                person = Some(known);
            }
            Err(RuleError::Failed(error)) if context.collects_all_problems() => {
                wrong.extend(error.into_problems()?);
            }
            Err(error) => return Err(error),
        }
    }
    record_action(context, plan, container, person, outcome, wrong)
}

/// Records the action of a helper request and executes its action functions. `outcome` has the entry of
/// the person, and `wrong` the problems of the person.
pub(super) fn record_action(
    context: &mut RuleContext<'_>,
    plan: &RawHelperRequest,
    container: Option<RecordAddress>,
    person: Option<StoredRecord>,
    mut outcome: RawHelperOutcome,
    mut wrong: Vec<Problem>,
) -> RuleResult<RawHelperOutcome> {
    let mut recorded = None;
    let mut recording = Recording::New;
    if let Some(draft) = &plan.action {
        let by = person.as_ref().map(|person| person.record.address());
        let is_canvass = plan.helper == HelperName::RecordCanvass;
        let part = if is_canvass {
            PropertyPath::member("canvass")
        } else {
            PropertyPath::default()
        };
        match action::record(context, draft, by, plan).map_err(|pause| pause.within(&part)) {
            Ok((action, done)) => {
                outcome.entry(
                    plan.helper.recorded_kind(),
                    EntryStatus::from_is_new(done.is_new()),
                );
                recording = done;
                recorded = Some(action);
            }
            // The person exists and only the action failed. Everything that depends on the action
            // is skipped.
            // Requirements: HLP-10.
            Err(RuleError::Failed(error)) if person.is_some() && !context.is_atomic() => {
                outcome.entry(
                    plan.helper.recorded_kind(),
                    EntryStatus::Failed(error.into_problems()?),
                );
                outcome.person = person.map(|person| person.record);
                return Ok(outcome);
            }
            Err(RuleError::Failed(error)) if context.collects_all_problems() => {
                wrong.extend(error.into_problems()?);
            }
            Err(error) => return Err(error),
        }
    }
    let is_refused = context.call.is_rejected || !wrong.is_empty();
    let done = RecordedAction {
        plan,
        person: person_of_functions(plan, container, person.as_ref(), recorded.as_ref()),
        action: recorded.as_ref(),
        recording,
        is_refused,
    };
    functions::run(context, &plan.functions, &done, &mut outcome)?;
    if is_refused || plan.atomicity == Atomicity::WholeCall && outcome.has_failures() {
        wrong.extend(outcome.problems());
        return Err(Error::invalid_all(wrong).into());
    }
    outcome.person = person.map(|person| person.record);
    outcome.action = recorded.map(|action| action.record);
    Ok(outcome)
}

/// Returns the person that gets the tags, lists and answers of a helper request.
pub(super) fn person_of_functions(
    plan: &RawHelperRequest,
    container: Option<RecordAddress>,
    person: Option<&StoredRecord>,
    action: Option<&StoredRecord>,
) -> Option<RecordAddress> {
    match person {
        _ if plan.helper == HelperName::RecordCanvass => container,
        Some(person) => Some(person.record.address()),
        // Without a posted person, the action may link a person. An anonymous request has no link.
        None => action.and_then(|action| action.record.link("person").cloned()),
    }
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
