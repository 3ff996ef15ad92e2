//! The action functions of helpers: tags, lists, answers and triggers for the person of a request.
//!
//! Requirements: HAF-01 to HAF-13.

use std::collections::{HashMap, HashSet, hash_map::Entry};

use super::{CreateOptions, RuleContext, RuleResult, action::Recording, trigger_limit::limit_keys};
use crate::{
    draft::RawDraft,
    error::{ErrorCode, Problem, PropertyPath},
    helper::{
        ActionFunctions, AllowedAnswers, AnswerInput, EntryStatus, GroupKind, GroupRef,
        QuestionRef, RawHelperOutcome, RawHelperRequest, Triggers, answer_draft,
    },
    json::{Json, Object},
    link::RecordAddress,
    model::Kind,
    outbox::OutboxPayload,
    store::{LookupKey, RecordLocation, RuleError, StoredRecord},
    value::Id,
};

/// The person and the action of a helper request.
pub(super) struct RecordedAction<'a> {
    pub(super) plan: &'a RawHelperRequest,
    /// The person that gets the tags, lists and answers.
    pub(super) person: Option<RecordAddress>,
    pub(super) action: Option<&'a StoredRecord>,
    pub(super) recording: Recording,
    /// Whether the request is already rejected. The person may then be missing because it was
    /// invalid.
    pub(super) is_refused: bool,
}

impl RecordedAction<'_> {
    /// Returns whether there is no person for the tags, lists and answers.
    ///
    /// Requirements: UND-29.
    fn is_person_missing(&self) -> bool {
        self.person.is_none() && !self.is_refused
    }
}

/// Executes the action functions of a request. Each entry succeeds or fails separately.
///
/// Requirements: ERR-29.
pub(super) fn run(
    context: &mut RuleContext<'_>,
    functions: &ActionFunctions,
    done: &RecordedAction<'_>,
    outcome: &mut RawHelperOutcome,
) -> RuleResult<()> {
    for (kinds, all) in [
        (&GroupKind::TAGS, &functions.tags),
        (&GroupKind::LISTS, &functions.lists),
    ] {
        for named in all {
            let status = add_membership(context, kinds, named, done)?;
            outcome.entry(kinds.member, status);
        }
    }
    let mut known = QuestionCache {
        questions: HashMap::new(),
        answered: match &done.person {
            Some(person) if !done.recording.is_new() => {
                let newest_only = done.recording.is_further();
                earlier_answers(context, &person.id, &functions.responses, newest_only)?
            }
            _ => HashSet::new(),
        },
    };
    for response in &functions.responses {
        let status = respond(context, response, done, &mut known)?;
        outcome.entry(Kind::Answer, status);
    }
    let triggers = functions.triggers.as_ref();
    if let Some(triggers) = triggers.filter(|_| done.recording.triggers_responses()) {
        trigger(context, triggers, done)?;
    }
    Ok(())
}

/// Returns the answers of a person to the questions of a request. With `newest_only`, returns as many
/// of the newest answers to each question as the request contains: a newer answer can have replaced an
/// older one.
///
/// Requirements: HLP-04, UND-24.
fn earlier_answers(
    context: &mut RuleContext<'_>,
    person: &Id,
    responses: &[AnswerInput],
    newest_only: bool,
) -> RuleResult<HashSet<GivenAnswer>> {
    let keys = responses.iter().filter_map(|it| question_key(&it.question));
    let keys: Vec<LookupKey> = keys.collect();
    let mut counts: HashMap<Id, usize> = HashMap::new();
    for key in &keys {
        if let Some(question) = context.ledger.find(key)? {
            let count = counts.entry(question.id).or_default();
            *count = if newest_only {
                count.saturating_add(1)
            } else {
                usize::MAX
            };
        }
    }
    let mut newest = HashSet::new();
    if counts.is_empty() {
        return Ok(newest);
    }
    for answer in context.ledger.answered(person, &keys)?.iter().rev() {
        let question = answer.record.parent();
        let count = question.and_then(|question| counts.get_mut(question));
        if let (Some(question), Some(count)) = (question, count.filter(|count| **count > 0)) {
            *count = count.saturating_sub(1);
            let fields = context.fields(&answer.record)?;
            newest.insert(answer_to(question, &fields));
        }
    }
    Ok(newest)
}

/// Adds the person to a tag or a list.
///
/// Requirements: HAF-02 to HAF-06.
fn add_membership(
    context: &mut RuleContext<'_>,
    kinds: &GroupKind,
    named: &GroupRef,
    done: &RecordedAction<'_>,
) -> RuleResult<EntryStatus> {
    if done.is_person_missing() {
        return Ok(needs_person(kinds.property(named)));
    }
    let group = match group_key(kinds, named) {
        Some(key) => context.ledger.find(&key)?,
        None => None,
    };
    let Some(group) = group else {
        return Ok(EntryStatus::Failed(vec![kinds.unknown(named)]));
    };
    let Some(person) = &done.person else {
        return Ok(EntryStatus::Existing);
    };
    let mut draft = RawDraft::empty(kinds.member);
    draft.links = vec![
        (kinds.group.singular(), group.address()),
        (Kind::Person.singular(), person.clone()),
    ];
    entry(context, draft, done)
}

/// Records an answer of the person, unless an earlier attempt of the same request did.
///
/// Requirements: HAF-07 to HAF-10, UND-24.
fn respond(
    context: &mut RuleContext<'_>,
    response: &AnswerInput,
    done: &RecordedAction<'_>,
    known: &mut QuestionCache,
) -> RuleResult<EntryStatus> {
    if done.is_person_missing() {
        return Ok(needs_person(response.path.clone()));
    }
    let Some(key) = question_key(&response.question) else {
        return Ok(EntryStatus::Failed(vec![unknown_question(response)]));
    };
    let question = match known.questions.entry(key) {
        Entry::Occupied(known) => known.into_mut(),
        Entry::Vacant(unknown) => {
            let question = match context.ledger.record(unknown.key())? {
                Some(it) => Some((
                    it.location(),
                    AllowedAnswers::of(&context.fields(&it.record)?),
                )),
                None => None,
            };
            unknown.insert(question)
        }
    };
    let Some((question, choices)) = question else {
        return Ok(EntryStatus::Failed(vec![unknown_question(response)]));
    };
    let mut problems = choices.wrong_keys(&response.responses, &response.path);
    problems.extend(choices.wrong_value(response.value.as_deref(), &response.path));
    let mut draft = answer_draft(response);
    if problems.is_empty()
        && !done.recording.is_new()
        && !known
            .answered
            .insert(answer_to(&question.id, &draft.fields))
    {
        return Ok(EntryStatus::Existing);
    }
    problems.extend(draft.apply_defaults(context.call.received_at));
    if !problems.is_empty() {
        return Ok(EntryStatus::Failed(problems));
    }
    let Some(person) = &done.person else {
        return Ok(EntryStatus::Existing);
    };
    draft.links = vec![
        (Kind::Question.singular(), question.address()),
        (Kind::Person.singular(), person.clone()),
    ];
    entry(context, draft, done)
}

/// Creates one entry. A rejection fails only this entry.
fn entry(
    context: &mut RuleContext<'_>,
    mut draft: RawDraft,
    done: &RecordedAction<'_>,
) -> RuleResult<EntryStatus> {
    // Answers and taggings of a canvass, and answers of a submission, refer to it.
    // Requirements: UND-01.
    let action = done.action.map(|action| action.record.address());
    let references = draft.kind.schema().references();
    draft.recorded_by = action.filter(|action| {
        references
            .iter()
            .any(|it| it.is_scope && it.kind == action.kind)
    });
    match context.create(&draft, &CreateOptions::default()) {
        Ok((_, is_new)) => Ok(EntryStatus::from_is_new(is_new)),
        Err(RuleError::Failed(error)) => Ok(EntryStatus::Failed(error.into_problems()?)),
        Err(other) => Err(other),
    }
}

/// Adds the server responses that a request triggers to the outbox, each as a separate entry.
///
/// If one cannot be sent, the others are not sent again. An anonymous request without a person
/// triggers none.
///
/// Requirements: HAF-11.
fn trigger(
    context: &mut RuleContext<'_>,
    triggers: &Triggers,
    done: &RecordedAction<'_>,
) -> RuleResult<()> {
    let person = done.person.as_ref().map(|person| person.id.clone());
    triggers.requested().try_for_each(|(trigger, identifiers)| {
        let response = OutboxPayload::Response {
            trigger,
            identifiers: identifiers.to_vec(),
            helper: done.plan.helper,
            person: person.clone(),
            action: done.action.map(|action| action.record.meta().id.clone()),
        };
        match &person {
            _ if !done.plan.anonymous => {
                context.send(response);
                Ok(())
            }
            Some(person) => {
                context.send_once_a_day(response, person, &limit_keys(done.plan, trigger, person))
            }
            None => Ok(()),
        }
    })
}

/// The questions of one request and earlier answers to them. Each is read once, even for many
/// answers.
struct QuestionCache {
    questions: HashMap<LookupKey, Option<(RecordLocation, AllowedAnswers)>>,
    /// The answers that an earlier attempt of the request recorded.
    ///
    /// Requirements: UND-24.
    answered: HashSet<GivenAnswer>,
}

/// A question and the answer to it.
type GivenAnswer = (Id, [Option<String>; 2]);

fn answer_to(question: &Id, fields: &Object) -> GivenAnswer {
    (
        question.clone(),
        ["value", "responses"].map(|name| fields.get(name).map(Json::to_string)),
    )
}

/// Returns the lookup key of a question, or `None` if no question can match.
///
/// Requirements: HAF-08.
pub(super) fn question_key(question: &QuestionRef) -> Option<LookupKey> {
    match question {
        QuestionRef::Id(id) => Some(LookupKey::Id(Kind::Question, id.clone())),
        QuestionRef::Identifier(identifier) => {
            Some(LookupKey::Identifier(Kind::Question, identifier.clone()))
        }
        QuestionRef::Unknown => None,
    }
}

/// Returns the lookup key of a tag or a list, or `None` if the address is not one of this server.
pub(super) fn group_key(kinds: &GroupKind, named: &GroupRef) -> Option<LookupKey> {
    match named {
        GroupRef::Name(name) => Some(LookupKey::Name(kinds.group, name.clone())),
        GroupRef::Address(id) => id.as_ref().map(|id| LookupKey::Id(kinds.group, id.clone())),
    }
}

/// Returns the status of an action function that needs a person when there is none.
///
/// Requirements: UND-29.
fn needs_person(property: impl Into<PropertyPath>) -> EntryStatus {
    EntryStatus::Failed(vec![Problem::new(
        ErrorCode::PersonRequired,
        property,
        ErrorCode::PersonRequired.meaning(),
    )])
}

/// Returns the problem of a question that does not exist.
///
/// Requirements: HAF-08.
fn unknown_question(response: &AnswerInput) -> Problem {
    Problem::new(
        ErrorCode::QuestionDoesNotExist,
        response.path.clone().push_member("question"),
        "{property} does not identify a question of this server.",
    )
}
