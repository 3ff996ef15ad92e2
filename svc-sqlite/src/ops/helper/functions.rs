//! The helper action functions: tags, lists, answers and triggers for the person of a call (HAF-01 to HAF-13).

use svc_core::{
    FindKey,
    describe::{FieldType, MemberWriter},
    draft::RawDraft,
    error::{Code, Error, Problem, Result},
    helper::{EntryStatus, Functions, MatchKey, Named, QuestionRef, RawOutcome, ResponseInput, Triggers},
    link::Address,
    model::Kind,
    read::{Json, Object},
};

use super::{Done, status};
use crate::{
    ops::{create::New, get::with_key},
    record_id::RecordId,
    rows::{Stored, by_id},
    schema::table,
    session::Session,
};

/// What an entry of a report is made of: the record and whether it is new, or what was wrong.
type Entry = std::result::Result<(Stored, bool), Vec<Problem>>;

impl Session<'_> {
    /// Does what a call asks for its person; each entry succeeds or fails alone (ERR-29).
    pub(super) fn functions(&mut self, functions: &Functions, done: &Done<'_>, outcome: &mut RawOutcome) -> Result<()> {
        for (kind, of, named) in
            [(Kind::Tagging, Kind::Tag, &functions.tags), (Kind::Item, Kind::List, &functions.lists)]
        {
            for named in named {
                let entry = self.join(kind, of, named, done)?;
                report(outcome, kind, entry);
            }
            unsupported(functions, kind, outcome);
        }
        for response in &functions.responses {
            let entry = self.respond(response, done)?;
            report(outcome, Kind::Answer, entry);
        }
        unsupported(functions, Kind::Answer, outcome);
        if let Some(triggers) = functions.triggers.as_ref().filter(|_| !done.is_repeat) {
            self.trigger(triggers, done)?;
        }
        unsupported(functions, Kind::Message, outcome);
        Ok(())
    }

    /// Ties the person to a tag or a list (HAF-02 to HAF-06).
    fn join(&mut self, kind: Kind, of: Kind, named: &Named, done: &Done<'_>) -> Result<Entry> {
        let is_tag = of == Kind::Tag;
        let (found, property, code) = match named {
            Named::Name(name) => {
                let found = with_key(self.file, self.tenant, of, &FindKey::Name(name.clone()))?;
                if is_tag {
                    (found, "add_tags", Code::TagNameDoesNotExist)
                } else {
                    (found, "add_lists", Code::ListNameDoesNotExist)
                }
            }
            Named::Address(id) => {
                let id = id.as_ref().and_then(RecordId::parse);
                let found = id.map(|id| by_id(self.file, self.tenant, of, id)).transpose()?.flatten();
                if is_tag {
                    (found, "add_tags_uri", Code::TagUriDoesNotExist)
                } else {
                    (found, "add_lists_uri", Code::ListUriDoesNotExist)
                }
            }
        };
        let mut problems = Vec::new();
        if found.is_none() {
            let how = if matches!(named, Named::Name(_)) { "name" } else { "address" };
            problems.push(Problem::new(code, property, format!("No {} has this {how}.", of.singular())));
        }
        if done.person.is_none() {
            problems.push(person_required(property));
        }
        let (Some(container), Some(person)) = (found, done.person) else { return Ok(Err(problems)) };
        let parent = kind.schema().parent.ok_or_else(|| Error::unexpected("a membership without container"))?;
        let links = vec![
            (parent, Address::top(of, container.id.to_id()?)),
            ("person", Address::top(Kind::Person, person.to_id()?)),
        ];
        let draft = RawDraft { links, ..RawDraft::empty(kind) };
        self.create(draft, &recorded_by(kind, done)).map(Ok)
    }

    /// Records an answer of the person (HAF-07 to HAF-10).
    fn respond(&mut self, response: &ResponseInput, done: &Done<'_>) -> Result<Entry> {
        let question = match &response.question {
            QuestionRef::Id(id) => {
                let id = RecordId::parse(id);
                id.map(|id| by_id(self.file, self.tenant, Kind::Question, id)).transpose()?.flatten()
            }
            QuestionRef::Identifier(identifier) => {
                let key = FindKey::Match(MatchKey::Identifier(identifier.clone()));
                with_key(self.file, self.tenant, Kind::Question, &key)?
            }
            QuestionRef::Unknown => None,
        };
        let mut problems = Vec::new();
        if let Some(question) = &question {
            problems.extend(check_responses(&question.fields(self.names())?, response));
        } else {
            let property = format!("{}.question", response.path);
            let text = format!("`{property}` names no question of this server.");
            problems.push(Problem::new(Code::QuestionDoesNotExist, property, text));
        }
        if done.person.is_none() {
            problems.push(person_required(&response.path));
        }
        let (Some(question), Some(person), true) = (question, done.person, problems.is_empty()) else {
            return Ok(Err(problems));
        };
        let mut fields = Object::new();
        if let Some(value) = &response.value {
            fields.insert("value", value.as_str());
        }
        if !response.responses.is_empty() {
            let keys = response.responses.iter().map(|key| Json::from(key.as_str()));
            fields.insert("responses", keys.collect::<Vec<Json>>());
        }
        if done.is_repeat
            && let Some(answer) = self.same_answer(&question, person, &fields)?
        {
            return Ok(Ok((answer, false)));
        }
        let links = vec![
            ("question", Address::top(Kind::Question, question.id.to_id()?)),
            ("person", Address::top(Kind::Person, person.to_id()?)),
        ];
        let mut draft = RawDraft { fields, links, ..RawDraft::empty(Kind::Answer) };
        for problem in draft.complete(self.now) {
            self.problem(problem);
        }
        self.create(draft, &recorded_by(Kind::Answer, done)).map(Ok)
    }

    /// The answer that an earlier try of the same call recorded.
    fn same_answer(&self, question: &Stored, person: RecordId, fields: &Object) -> Result<Option<Stored>> {
        let answers = table(Kind::Answer);
        let Some(column) = answers.column("person") else { return Ok(None) };
        for seq in self.rows_under(answers, column, person)? {
            let Some(answer) = crate::rows::by_row(self.file, self.tenant, Kind::Answer, seq)? else { continue };
            if answer.parent() == Some(question.id) {
                let known = answer.fields(self.names())?;
                if ["value", "responses"].iter().all(|name| known.get(name) == fields.get(name)) {
                    return Ok(Some(answer));
                }
            }
        }
        Ok(None)
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

/// Response keys that a question does not have, or more of them than it takes (HAF-09).
fn check_responses(question: &Object, response: &ResponseInput) -> Vec<Problem> {
    let mut problems = Vec::new();
    let known = question.get("responses").and_then(Json::as_array).unwrap_or_default();
    let has_key = |key: &str| {
        let of = |response: &Json| response.as_object().and_then(|response| response.get("key")?.as_str()) == Some(key);
        known.iter().any(of)
    };
    for (place, _) in response.responses.iter().enumerate().filter(|(_, key)| !has_key(key)) {
        let property = format!("{}.responses[{place}]", response.path);
        let text = format!("The question has no response with the key in `{property}`.");
        problems.push(Problem::new(Code::ResponseKeyDoesNotExist, property, text));
    }
    let is_single = question.get("question_type").and_then(Json::as_str) == Some("SingleChoice");
    if is_single && response.responses.len() > 1 {
        let property = format!("{}.responses", response.path);
        problems.push(Problem::new(Code::TooManyResponses, property, "This question takes one response."));
    }
    problems
}

/// A submission's answers, and a canvass's answers and taggings, remember it (UND-01).
fn recorded_by(kind: Kind, done: &Done<'_>) -> New<'static> {
    let action = done.action.filter(|action| table(kind).scope(action.kind).is_some());
    New { recorded_by: action.map(|action| (action.kind, action.id)), ..New::default() }
}

fn person_required(property: &str) -> Problem {
    Problem::new(Code::PersonRequired, property, format!("`{property}` needs a person, and the call names none."))
}

fn report(outcome: &mut RawOutcome, kind: Kind, entry: Entry) {
    outcome.entry(
        kind,
        match entry {
            Ok((_, is_new)) => status(is_new),
            Err(problems) => EntryStatus::Failed(problems),
        },
    );
}

fn unsupported(functions: &Functions, kind: Kind, outcome: &mut RawOutcome) {
    for (_, problem) in functions.unsupported.iter().filter(|(of, _)| *of == kind) {
        outcome.entry(kind, EntryStatus::Failed(vec![problem.clone()]));
    }
}
