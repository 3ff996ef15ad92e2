//! The helper action functions: tags, lists, answers and triggers for the person of a call (HAF-01 to HAF-13).

use std::collections::{HashMap, HashSet, hash_map::Entry};

use svc_core::{
    FindKey,
    describe::{FieldType, MemberWriter},
    draft::RawDraft,
    error::Result,
    helper::{
        Choices, EntryStatus, Functions, MEMBERSHIPS, MatchKey, Membership, Named, QuestionRef, RawOutcome,
        ResponseInput, Triggers, answer_draft, needs_person, unknown_question,
    },
    link::Address,
    model::Kind,
    read::{Json, Object},
};

use super::{Done, status};
use crate::{
    ops::{create::New, get::with_key},
    record_id::RecordId,
    rows::{by_id, by_row},
    schema::table,
    session::Session,
};

impl Session<'_> {
    /// Does what a call asks for its person; each entry succeeds or fails alone (ERR-29).
    pub(super) fn functions(&mut self, functions: &Functions, done: &Done<'_>, outcome: &mut RawOutcome) -> Result<()> {
        for (kinds, all) in [(MEMBERSHIPS.0, &functions.tags), (MEMBERSHIPS.1, &functions.lists)] {
            for named in all {
                let status = self.join(kinds, named, done)?;
                outcome.entry(kinds.member, status);
            }
        }
        let answered = match done.person {
            Some(person) if done.is_repeat && !functions.responses.is_empty() => self.answered(person)?,
            _ => HashSet::new(),
        };
        let mut known = Known { questions: HashMap::new(), answered };
        for response in &functions.responses {
            let status = self.respond(response, done, &mut known)?;
            outcome.entry(Kind::Answer, status);
        }
        if let Some(triggers) = functions.triggers.as_ref().filter(|_| !done.is_repeat) {
            self.trigger(triggers, done)?;
        }
        Ok(())
    }

    /// Ties the person to a tag or a list (HAF-02 to HAF-06).
    fn join(&mut self, kinds: Membership, named: &Named, done: &Done<'_>) -> Result<EntryStatus> {
        let Some(person) = done.person else { return Ok(needs_person(kinds.property(named))) };
        let group = match named {
            Named::Name(name) => with_key(self.file, self.tenant, kinds.group, &FindKey::Name(name.clone()))?,
            Named::Address(Some(id)) => match RecordId::parse(id) {
                Some(id) => by_id(self.file, self.tenant, kinds.group, id)?,
                None => None,
            },
            Named::Address(None) => None,
        };
        let Some(group) = group else { return Ok(EntryStatus::Failed(vec![kinds.unknown(named)])) };
        let mut draft = RawDraft::empty(kinds.member);
        draft.links = vec![
            (kinds.group.singular(), Address::top(kinds.group, group.id.to_id())),
            (Kind::Person.singular(), Address::top(Kind::Person, person.to_id())),
        ];
        let (_, is_new) = self.create(draft, &recorded_by(kinds.member, done))?;
        Ok(status(is_new))
    }

    /// Records an answer of the person (HAF-07 to HAF-10), unless an earlier try of the same call did (UND-24).
    fn respond(&mut self, response: &ResponseInput, done: &Done<'_>, known: &mut Known) -> Result<EntryStatus> {
        let Some(person) = done.person else { return Ok(needs_person(&response.path)) };
        let name = match &response.question {
            QuestionRef::Id(id) => (true, id.as_str()),
            QuestionRef::Identifier(identifier) => (false, identifier.as_str()),
            QuestionRef::Unknown => return Ok(EntryStatus::Failed(vec![unknown_question(response)])),
        };
        let name = (name.0, name.1.to_owned());
        let question = match known.questions.entry(name) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => unknown.insert(self.question(&response.question)?),
        };
        let Some((question, choices)) = question else {
            return Ok(EntryStatus::Failed(vec![unknown_question(response)]));
        };
        let problems = choices.check(&response.responses, &format!("{}.responses", response.path));
        if !problems.is_empty() {
            return Ok(EntryStatus::Failed(problems));
        }
        let mut draft = answer_draft(response);
        if done.is_repeat && !known.answered.insert(answer_to(*question, &draft.fields)) {
            return Ok(EntryStatus::Existing);
        }
        draft.links = vec![
            (Kind::Question.singular(), Address::top(Kind::Question, question.to_id())),
            (Kind::Person.singular(), Address::top(Kind::Person, person.to_id())),
        ];
        for problem in draft.complete(self.now) {
            self.problem(problem);
        }
        let (_, is_new) = self.create(draft, &recorded_by(Kind::Answer, done))?;
        Ok(status(is_new))
    }

    /// The question that a response is to, with what may be answered to it.
    fn question(&self, question: &QuestionRef) -> Result<Option<(RecordId, Choices)>> {
        let question = match question {
            QuestionRef::Id(id) => match RecordId::parse(id) {
                Some(id) => by_id(self.file, self.tenant, Kind::Question, id)?,
                None => None,
            },
            QuestionRef::Identifier(identifier) => {
                let key = FindKey::Match(MatchKey::Identifier(identifier.clone()));
                with_key(self.file, self.tenant, Kind::Question, &key)?
            }
            QuestionRef::Unknown => None,
        };
        question.map(|question| Ok((question.id, Choices::of(&question.fields(self.names())?)))).transpose()
    }

    /// What a person has answered: read once, however many answers a call brings.
    fn answered(&self, person: RecordId) -> Result<HashSet<Answered>> {
        let answers = table(Kind::Answer);
        let mut answered = HashSet::new();
        let Some(column) = answers.column(Kind::Person.singular()) else { return Ok(answered) };
        for seq in self.rows_under(answers, column, person)? {
            let Some(answer) = by_row(self.file, self.tenant, Kind::Answer, seq)? else { continue };
            if let Some(question) = answer.parent() {
                answered.insert(answer_to(question, &answer.fields(self.names())?));
            }
        }
        Ok(answered)
    }

    /// Puts the server responses that a call asks for into the outbox (HAF-11).
    fn trigger(&mut self, triggers: &Triggers, done: &Done<'_>) -> Result<()> {
        let mut body = Vec::new();
        triggers.write(&mut MemberWriter::new(&mut body, self.names()));
        self.file
            .prepare_cached(
                "INSERT INTO outbox (tenant, created, helper, person, action, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )?
            .execute((
                self.tenant,
                self.now.micros(),
                done.helper.as_str(),
                done.person,
                done.action.map(|action| action.id),
                body,
            ))?;
        Ok(())
    }
}

/// What the answers of one call have to do with, each read once however many answers there are.
struct Known {
    /// The questions by their id (`true`) or an identifier.
    questions: HashMap<(bool, String), Option<(RecordId, Choices)>>,
    /// What an earlier try of the call recorded (UND-24).
    answered: HashSet<Answered>,
}

/// A question, and what was answered to it.
type Answered = (RecordId, [Option<String>; 2]);

fn answer_to(question: RecordId, fields: &Object) -> Answered {
    (question, ["value", "responses"].map(|name| fields.get(name).map(Json::to_string)))
}

/// A submission's answers, and a canvass's answers and taggings, remember it (UND-01).
fn recorded_by(kind: Kind, done: &Done<'_>) -> New<'static> {
    let action = done.action.filter(|action| table(kind).scope(action.kind).is_some());
    New { recorded_by: action.map(|action| (action.kind, action.id)), ..New::default() }
}
