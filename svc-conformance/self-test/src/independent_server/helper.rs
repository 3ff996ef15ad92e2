//! The eight helpers (HLP, HAF, SCH).

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::answer::{self, BodyProblem, ResourceResult, ServerResponse};
use super::check;
use super::dates;
use super::defects::Defect;
use super::kinds::{self, ServerKind};
use super::store::RecordNumber;
use super::write::{Links, TenantWrite};

/// The successful and failed parts of a request, in order.
#[derive(Debug, Default)]
struct HelperResult {
    entries: Vec<ResourceResult>,
    failed: bool,
}

/// The caller of a helper.
#[derive(Debug, Clone, Copy)]
pub(super) struct HelperCaller {
    pub(super) has_key: bool,
    /// Whether the caller may read people, so that the response can contain one.
    pub(super) reads: bool,
}

impl TenantWrite<'_> {
    /// Executes a record helper or the sign-up; `container` is the record that the helper belongs
    /// to.
    pub(super) fn help(
        &mut self,
        helper: &str,
        container: Option<RecordNumber>,
        body: &Map<String, Value>,
        caller: HelperCaller,
    ) -> ServerResponse {
        let kind = if helper == "person_signup" {
            kinds::kind("person")
        } else {
            kinds::made_by(helper)
        };
        let Some(kind) = kind else {
            return answer::not_supported(self.options, "error");
        };
        let mut problems = Vec::new();
        let is_canvass = kind.one == "canvass";
        let empty = Map::new();
        let own = match (kind.one, body.get("canvass")) {
            ("canvass", Some(Value::Object(canvass))) => canvass,
            ("person", _) => &empty,
            ("canvass", _) => {
                problems.push(BodyProblem::field(
                    "canvass",
                    "The fields must be in an object.",
                ));
                &empty
            }
            _ => body,
        };
        let path = if is_canvass { "canvass" } else { "" };
        let (fields, identifiers) = self.read(kind, own, path, &mut problems);
        let person = match body.get("person") {
            _ if is_canvass => None,
            Some(Value::Object(person)) => {
                kinds::kind("person").map(|kind| self.read(kind, person, "person", &mut problems))
            }
            Some(Value::Null) | None => None,
            Some(_) => {
                problems.push(BodyProblem::field("person", "A person must be an object."));
                None
            }
        };
        if kind.one == "person" && person.is_none() && problems.is_empty() {
            problems.push(BodyProblem::new(
                "FIELD_MISSING",
                "A person is required.",
                &["person"],
            ));
        }
        let mut links = Links::new();
        match (kind.container, container, is_canvass) {
            (Some(name), Some(number), _) => drop(links.insert(name, number)),
            (_, Some(number), true) => drop(links.insert("target", number)),
            _ => {}
        }
        self.body_links(kind, body, own, &mut links, &mut problems);
        check_functions(body, &mut problems);
        if !problems.is_empty() {
            self.missing_members(body, &mut problems);
            return answer::refused(self.options, 400, kind.one, problems);
        }
        let before = self.data.clone();
        let mut outcome = HelperResult::default();
        let mut who = if is_canvass { container } else { None };
        if let Some((fields, identifiers)) = person {
            let (number, status) = self.person(fields, identifiers, caller.has_key);
            outcome
                .entries
                .push(self.entry("person", status, Vec::new()));
            who = Some(number);
            links.insert("person", number);
        }
        if who.is_none() && !caller.has_key && self.options.has(Defect::RepeatsLendPeople) {
            let mut all = self
                .data
                .records
                .values()
                .filter(|record| record.kind.one == kind.one);
            let named = all.find(|record| {
                identifiers
                    .iter()
                    .any(|one| record.identifiers.contains(one))
            });
            who = named.and_then(|record| record.links.get("person").copied());
        }
        let mut made = who;
        if let Some(known) = self.acts_again(kind, &links, &fields) {
            outcome.entries.push(self.entry(kind.one, 200, Vec::new()));
            made = Some(known);
        } else if kind.one != "person" {
            match self.insert(kind, fields.clone(), identifiers, links) {
                Ok(number) => {
                    outcome.entries.push(self.entry(kind.one, 201, Vec::new()));
                    made = Some(number);
                }
                Err(problems) => {
                    *self.data = before;
                    return answer::refused(self.options, 400, kind.one, problems);
                }
            }
        }
        if let (true, Some(canvass), Some(target)) = (is_canvass, made, container) {
            self.canvass_answers(canvass, target, &fields);
        }
        self.functions(body, who, made, &mut outcome);
        if outcome.failed {
            return self.partly(kind, outcome, before, who, caller);
        }
        match made {
            Some(number) if caller.has_key => ServerResponse::json(200, self.shown(number)),
            _ => ServerResponse::json(200, json!({})),
        }
    }

    fn partly(
        &mut self,
        kind: &ServerKind,
        outcome: HelperResult,
        before: super::store::TenantData,
        who: Option<RecordNumber>,
        caller: HelperCaller,
    ) -> ServerResponse {
        if self.options.atomic_helpers {
            *self.data = before;
            let problems = outcome
                .entries
                .into_iter()
                .flat_map(|entry| entry.problems)
                .collect();
            return answer::refused(self.options, 400, kind.one, problems);
        }
        let mut body = answer::error(self.options, 400, false, &outcome.entries);
        let shows =
            (caller.has_key && caller.reads) || self.options.has(Defect::FailuresShowPeople);
        if let (Some(person), true) = (who, shows) {
            body.insert(self.options.rel("person"), self.shown(person));
        }
        ServerResponse::json(400, Value::Object(body))
    }

    fn entry(&self, resource: &str, status: u16, problems: Vec<BodyProblem>) -> ResourceResult {
        ResourceResult {
            resource: self.options.rel(resource),
            status,
            problems,
        }
    }

    /// Returns the unknown tags and lists that a body names.
    fn missing_members(&self, body: &Map<String, Value>, problems: &mut Vec<BodyProblem>) {
        for (function, of, code) in [
            ("add_tags", "tag", "TAG_NAME_DOES_NOT_EXIST"),
            ("add_lists", "list", "LIST_NAME_DOES_NOT_EXIST"),
        ] {
            let all = kinds::kind(of)
                .map(|kind| self.data.all(kind))
                .unwrap_or_default();
            for name in body
                .get(function)
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
            {
                if !all.iter().any(|record| record.text("name") == Some(name)) {
                    problems.push(BodyProblem::new(
                        code,
                        "No record has this name.",
                        &[function],
                    ));
                }
            }
        }
    }

    /// Links that a helper's body may have: those of a donation, and a canvass's canvasser.
    fn body_links(
        &self,
        kind: &ServerKind,
        body: &Map<String, Value>,
        own: &Map<String, Value>,
        links: &mut Links,
        problems: &mut Vec<BodyProblem>,
    ) {
        if kind.one == "donation" {
            for name in ["attendance", "submission"] {
                let Some(href) = self.sent_link(body, name) else {
                    continue;
                };
                let path = format!("_links.{}", self.options.rel(name));
                match self.linked(name, href) {
                    Some(number) => drop(links.insert(name, number)),
                    None => problems.push(BodyProblem::new(
                        "NO_SUCH_RECORD",
                        "The target of the link does not exist.",
                        &[path.as_str()],
                    )),
                }
            }
        }
        if kind.one == "canvass" {
            let sent = own
                .get("canvasser")
                .and_then(|sent| sent.as_str().or_else(|| sent.get("href")?.as_str()));
            let sent = sent
                .or_else(|| self.sent_link(own, "canvasser"))
                .or_else(|| self.sent_link(body, "canvasser"));
            if let Some(href) = sent {
                match self.linked("person", href) {
                    Some(number) => drop(links.insert("canvasser", number)),
                    None => problems.push(BodyProblem::field(
                        "canvass.canvasser",
                        "The target of the link is not a person.",
                    )),
                }
            }
        }
    }

    /// Returns the answer that a canvass's question response represents.
    fn canvass_answers(
        &mut self,
        canvass: RecordNumber,
        target: RecordNumber,
        fields: &Map<String, Value>,
    ) {
        let Some(response) = fields.get("question_response").and_then(Value::as_object) else {
            return;
        };
        let Some(question) = response
            .get("question")
            .and_then(Value::as_str)
            .and_then(|text| self.question(text))
        else {
            return;
        };
        let links = Links::from([
            ("question", question),
            ("person", target),
            ("canvass", canvass),
        ]);
        self.answer_of(response, links);
    }

    fn answer_of(&mut self, response: &Map<String, Value>, links: Links) {
        let Some(kind) = kinds::kind("answer") else {
            return;
        };
        let mut fields = Map::new();
        for name in ["value", "responses"] {
            if let Some(value) = response.get(name) {
                fields.insert(name.to_owned(), value.clone());
            }
        }
        drop(self.insert(kind, fields, Vec::new(), links));
    }

    /// Returns a question by its address or by one of its identifiers.
    ///
    /// Requirements: HAF-08.
    fn question(&self, text: &str) -> Option<RecordNumber> {
        self.linked("question", text).or_else(|| {
            let own = |number: RecordNumber| format!("{}:{number}", self.options.namespace);
            let questions = kinds::kind("question")
                .map(|kind| self.data.all(kind))
                .unwrap_or_default();
            let named = |one: &String| one == text;
            let found = questions
                .into_iter()
                .find(|one| own(one.number) == text || one.identifiers.iter().any(named));
            found.map(|record| record.number)
        })
    }

    /// Executes the action functions for a person.
    fn functions(
        &mut self,
        body: &Map<String, Value>,
        who: Option<RecordNumber>,
        made: Option<RecordNumber>,
        outcome: &mut HelperResult,
    ) {
        let texts = |name: &str| -> Vec<String> {
            let list = body
                .get(name)
                .and_then(Value::as_array)
                .map_or(&[][..], Vec::as_slice);
            list.iter()
                .filter_map(Value::as_str)
                .map(ToOwned::to_owned)
                .collect()
        };
        for (function, one, of, code) in [
            ("add_tags", "tagging", "tag", "TAG_NAME_DOES_NOT_EXIST"),
            ("add_tags_uri", "tagging", "tag", "TAG_URI_DOES_NOT_EXIST"),
            ("add_lists", "item", "list", "LIST_NAME_DOES_NOT_EXIST"),
            ("add_lists_uri", "item", "list", "LIST_URI_DOES_NOT_EXIST"),
        ] {
            let texts = texts(function);
            for (at, text) in texts.iter().enumerate() {
                let again =
                    self.options.repeats_count && texts.iter().take(at).any(|one| one == text);
                let found = if function.ends_with("_uri") {
                    self.linked(of, text)
                } else {
                    let all = kinds::kind(of)
                        .map(|kind| self.data.all(kind))
                        .unwrap_or_default();
                    all.into_iter()
                        .find(|record| record.text("name") == Some(text))
                        .map(|record| record.number)
                };
                match (found, who, kinds::kind(one)) {
                    (Some(container), Some(person), Some(kind)) => {
                        let mut links = Links::from([(of, container), ("person", person)]);
                        if let Some(canvass) =
                            made.filter(|number| self.data.of("canvass", *number).is_some())
                        {
                            links.insert("canvass", canvass);
                        }
                        let status = if self.member(kind, &links).is_some() && !again {
                            200
                        } else {
                            201
                        };
                        if status == 201 && !self.options.has(Defect::HelperWithoutTagging) {
                            drop(self.insert(kind, Map::new(), Vec::new(), links));
                        }
                        outcome.entries.push(self.entry(one, status, Vec::new()));
                    }
                    (None, _, _) => {
                        outcome.failed = true;
                        let problem = BodyProblem::new(
                            code,
                            "No record has this name or address.",
                            &[function],
                        );
                        outcome.entries.push(self.entry(one, 400, vec![problem]));
                    }
                    _ => {
                        outcome.failed = true;
                        let problem = BodyProblem::new(
                            "PERSON_NEEDED",
                            "This action function requires a person.",
                            &["person"],
                        );
                        outcome.entries.push(self.entry(one, 400, vec![problem]));
                    }
                }
            }
        }
        let answers = body
            .get("add_questions_responses_uri")
            .and_then(Value::as_array);
        for (at, response) in answers.into_iter().flatten().enumerate() {
            self.add_answer(at, response, who, made, outcome);
        }
    }

    fn add_answer(
        &mut self,
        at: usize,
        response: &Value,
        who: Option<RecordNumber>,
        made: Option<RecordNumber>,
        outcome: &mut HelperResult,
    ) {
        let path = format!("add_questions_responses_uri[{at}].");
        let mut problems = Vec::new();
        let empty = Map::new();
        let response = response.as_object().unwrap_or(&empty);
        let question = response
            .get("question")
            .and_then(Value::as_str)
            .and_then(|text| self.question(text));
        if question.is_none() {
            let property = format!("{path}question");
            problems.push(BodyProblem::new(
                "NO_SUCH_QUESTION",
                "The question does not exist.",
                &[property.as_str()],
            ));
        }
        self.check_answer(question, response, &path, &mut problems);
        self.check_answered(question, response, &path, &mut problems);
        let status = match (question, who, problems.is_empty()) {
            (Some(question), Some(person), true) => {
                let mut links = Links::from([("question", question), ("person", person)]);
                if let Some(record) = made.and_then(|number| self.data.records.get(&number))
                    && matches!(record.kind.one, "submission" | "canvass")
                {
                    links.insert(record.kind.one, record.number);
                }
                self.answer_of(response, links);
                201
            }
            (_, None, true) => {
                problems.push(BodyProblem::new(
                    "PERSON_NEEDED",
                    "This action function requires a person.",
                    &["person"],
                ));
                400
            }
            _ => 400,
        };
        outcome.failed |= status == 400;
        outcome.entries.push(self.entry("answer", status, problems));
    }

    /// Schedules a message, or cancels its schedule (SCH).
    pub(super) fn schedule(
        &mut self,
        message: RecordNumber,
        body: Option<&Map<String, Value>>,
    ) -> ServerResponse {
        const DATES: [&str; 2] = ["scheduled_start_date", "scheduled_stop_date"];
        let Some(record) = self.data.records.get_mut(&message).map(Arc::make_mut) else {
            return answer::not_found(self.options, "message");
        };
        let Some(body) = body else {
            if !record.body.contains_key("scheduled_start_date") {
                let problem =
                    BodyProblem::new("NOT_SCHEDULED", "The message is not scheduled.", &[]);
                return answer::refused(self.options, 400, "message", vec![problem]);
            }
            if !self.options.has(Defect::ScheduleNotCancelled) {
                record
                    .body
                    .retain(|name, _| !DATES.contains(&name.as_str()));
            }
            return notice("The schedule is cancelled.");
        };
        let mut read = Vec::new();
        let mut problems = Vec::new();
        for name in DATES {
            let sent = body.get(name).or_else(|| {
                body.get("scheduled_end_date")
                    .filter(|_| name == "scheduled_stop_date")
            });
            match sent.map(|sent| sent.as_str().and_then(dates::read)) {
                Some(Some(date)) => read.push((name, date)),
                Some(None) => {
                    problems.push(BodyProblem::field(name, "The value must be a timestamp."));
                }
                None if name == "scheduled_start_date" => {
                    problems.push(BodyProblem::new(
                        "FIELD_MISSING",
                        "A start time is required.",
                        &[name],
                    ));
                }
                None => {}
            }
        }
        if !problems.is_empty() {
            return answer::refused(self.options, 400, "message", problems);
        }
        record
            .body
            .retain(|name, _| !DATES.contains(&name.as_str()));
        for (name, date) in read {
            record
                .body
                .insert(name.to_owned(), dates::write(date, false).into());
        }
        record.modified = self.tenants.tick(self.now);
        notice("The message is scheduled.")
    }
}

fn notice(text: &str) -> ServerResponse {
    ServerResponse::json(200, json!({ "notice": text }))
}

/// Validates the action functions without their person.
fn check_functions(body: &Map<String, Value>, problems: &mut Vec<BodyProblem>) {
    for name in ["add_tags", "add_tags_uri", "add_lists", "add_lists_uri"] {
        let Some(value) = body.get(name) else {
            continue;
        };
        if !value
            .as_array()
            .is_some_and(|list| list.iter().all(Value::is_string))
        {
            problems.push(BodyProblem::field(
                name,
                "The value must be a list of texts.",
            ));
        }
    }
    if body
        .get("add_questions_responses_uri")
        .is_some_and(|value| !value.is_array())
    {
        problems.push(BodyProblem::field(
            "add_questions_responses_uri",
            "The value must be a list.",
        ));
    }
    let Some(triggers) = body.get("triggers") else {
        return;
    };
    for name in ["autoresponse", "sms_response", "call_response"] {
        let Some(trigger) = triggers.get(name) else {
            continue;
        };
        let path = format!("triggers.{name}");
        if trigger
            .get("enabled")
            .is_some_and(|enabled| !enabled.is_boolean())
        {
            problems.push(BodyProblem::field(
                &format!("{path}.enabled"),
                "The value must be true or false.",
            ));
        }
        if let Some(trigger) = trigger.as_object() {
            check::identifiers(trigger, &path, problems);
        }
    }
}
