//! The helper action functions: tags, lists, answers and triggers for the person of a call.
//!
//! Requirements: HAF-01 to HAF-13.

use std::collections::{HashMap, HashSet, hash_map::Entry};

use super::{CreateOptions, RuleContext, RuleResult, trigger_limit::limit_keys};
use crate::{
    draft::RawDraft,
    error::{Error, ErrorCode, Problem, PropertyPath},
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

/// Who a call is about, and what it recorded.
pub(super) struct RecordedAction<'a> {
    pub(super) plan: &'a RawHelperRequest,
    /// The person that tags, lists and answers are for.
    pub(super) person: Option<RecordAddress>,
    pub(super) action: Option<&'a StoredRecord>,
    /// Whether the action was recorded before, by an earlier try of the same call.
    ///
    /// Requirements: UND-24.
    pub(super) is_repeat: bool,
    /// Whether the call is refused already: nobody may be there, because the person was wrong.
    pub(super) is_refused: bool,
}

impl RecordedAction<'_> {
    /// Whether nobody is there whom tags, lists and answers could be for.
    ///
    /// Requirements: UND-29.
    fn lacks_person(&self) -> bool {
        self.person.is_none() && !self.is_refused
    }
}

/// Does what a call asks for its person; each entry succeeds or fails alone.
///
/// Requirements: ERR-29.
pub(super) fn run<G: RuleContext>(
    ground: &mut G,
    functions: &ActionFunctions,
    done: &RecordedAction<'_>,
    outcome: &mut RawHelperOutcome,
) -> RuleResult<()> {
    for (kinds, all) in [
        (&GroupKind::TAGS, &functions.tags),
        (&GroupKind::LISTS, &functions.lists),
    ] {
        for named in all {
            let status = join(ground, kinds, named, done)?;
            outcome.entry(kinds.member, status);
        }
    }
    let mut known = QuestionCache {
        questions: HashMap::new(),
        answered: HashSet::new(),
    };
    if let (Some(person), true) = (&done.person, done.is_repeat) {
        let questions: Vec<LookupKey> = functions
            .responses
            .iter()
            .filter_map(|it| question_key(&it.question))
            .collect();
        if !questions.is_empty() {
            for answer in ground.answered(&person.id, questions)? {
                if let Some(question) = answer.record.parent() {
                    let fields = answer.record.to_fields(ground.share_names())?;
                    known.answered.insert(answer_to(question, &fields));
                }
            }
        }
    }
    for response in &functions.responses {
        let status = respond(ground, response, done, &mut known)?;
        outcome.entry(Kind::Answer, status);
    }
    if let Some(triggers) = functions.triggers.as_ref().filter(|_| !done.is_repeat) {
        trigger(ground, triggers, done)?;
    }
    Ok(())
}

/// Ties the person to a tag or a list.
///
/// Requirements: HAF-02 to HAF-06.
fn join<G: RuleContext>(
    ground: &mut G,
    kinds: &GroupKind,
    named: &GroupRef,
    done: &RecordedAction<'_>,
) -> RuleResult<EntryStatus> {
    if done.lacks_person() {
        return Ok(needs_person(kinds.property(named)));
    }
    let group = match group_key(kinds, named) {
        Some(key) => ground.find(&key)?,
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
    entry(ground, draft, done)
}

/// Records an answer of the person, unless an earlier try of the same call did.
///
/// Requirements: HAF-07 to HAF-10, UND-24.
fn respond<G: RuleContext>(
    ground: &mut G,
    response: &AnswerInput,
    done: &RecordedAction<'_>,
    known: &mut QuestionCache,
) -> RuleResult<EntryStatus> {
    if done.lacks_person() {
        return Ok(needs_person(response.path.clone()));
    }
    let Some(key) = question_key(&response.question) else {
        return Ok(EntryStatus::Failed(vec![unknown_question(response)]));
    };
    let question = match known.questions.entry(key) {
        Entry::Occupied(known) => known.into_mut(),
        Entry::Vacant(unknown) => {
            let question = ground.record(unknown.key())?;
            let names = ground.share_names();
            let question = question.map(|it| {
                Ok::<_, Error>((it.found(), AllowedAnswers::of(&it.record.to_fields(names)?)))
            });
            unknown.insert(question.transpose()?)
        }
    };
    let Some((question, choices)) = question else {
        return Ok(EntryStatus::Failed(vec![unknown_question(response)]));
    };
    let mut problems = choices.wrong_keys(&response.responses, &response.path);
    problems.extend(choices.wrong_value(response.value.as_deref(), &response.path));
    let mut draft = answer_draft(response);
    if problems.is_empty()
        && done.is_repeat
        && !known
            .answered
            .insert(answer_to(&question.id, &draft.fields))
    {
        return Ok(EntryStatus::Existing);
    }
    problems.extend(draft.apply_defaults(ground.received()));
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
    entry(ground, draft, done)
}

/// Creates one entry; what is refused fails the entry alone.
fn entry<G: RuleContext>(
    ground: &mut G,
    mut draft: RawDraft,
    done: &RecordedAction<'_>,
) -> RuleResult<EntryStatus> {
    // A submission's answers, and a canvass's answers and taggings, remember it (UND-01).
    let action = done.action.map(|action| action.record.address());
    let references = draft.kind.schema().references();
    draft.recorded_by = action.filter(|action| {
        references
            .iter()
            .any(|it| it.is_scope && it.kind == action.kind)
    });
    match ground.create(&draft, &CreateOptions::default()) {
        Ok((_, is_new)) => Ok(EntryStatus::from_is_new(is_new)),
        Err(RuleError::Failed(error)) => Ok(EntryStatus::Failed(error.into_problems()?)),
        Err(other) => Err(other),
    }
}

/// Notes the server responses that a call asks for, each by itself: one that cannot be sent does
/// not send the others again. An anonymous call that has no person sends none.
///
/// Requirements: HAF-11.
fn trigger<G: RuleContext>(
    ground: &mut G,
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
            _ if !done.plan.anonymous => ground.trigger(response),
            Some(person) => {
                ground.trigger_once_a_day(response, person, &limit_keys(done.plan, trigger, person))
            }
            None => Ok(()),
        }
    })
}

/// What the answers of one call have to do with, each read once however many answers there are.
struct QuestionCache {
    questions: HashMap<LookupKey, Option<(RecordLocation, AllowedAnswers)>>,
    /// What an earlier try of the call recorded.
    ///
    /// Requirements: UND-24.
    answered: HashSet<GivenAnswer>,
}

/// A question, and what was answered to it.
type GivenAnswer = (Id, [Option<String>; 2]);

fn answer_to(question: &Id, fields: &Object) -> GivenAnswer {
    (
        question.clone(),
        ["value", "responses"].map(|name| fields.get(name).map(Json::to_string)),
    )
}

/// What a question is looked up by; `None` for something that no question can have.
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

/// What a tag or a list is looked up by; `None` for an address that leads to nothing of this
/// server.
pub(super) fn group_key(kinds: &GroupKind, named: &GroupRef) -> Option<LookupKey> {
    match named {
        GroupRef::Name(name) => Some(LookupKey::Name(kinds.group, name.clone())),
        GroupRef::Address(id) => id.as_ref().map(|id| LookupKey::Id(kinds.group, id.clone())),
    }
}

/// The status of an action function that needs a person where there is none.
///
/// Requirements: UND-29.
fn needs_person(property: impl Into<PropertyPath>) -> EntryStatus {
    EntryStatus::Failed(vec![Problem::new(
        ErrorCode::PersonRequired,
        property,
        ErrorCode::PersonRequired.meaning(),
    )])
}

/// The problem of a question that does not exist.
///
/// Requirements: HAF-08.
fn unknown_question(response: &AnswerInput) -> Problem {
    let code = ErrorCode::QuestionDoesNotExist;
    Problem::new(code, response.path.clone().then("question"), code.meaning())
}
