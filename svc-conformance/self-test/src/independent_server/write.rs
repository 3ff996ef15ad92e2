//! Creates, updates and deletes of records.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::answer::{self, BodyProblem, ServerResponse};
use super::check::{self, Reading};
use super::defects::{Defect, damage_delete, damage_update};
use super::kinds::{self, ServerKind};
use super::render::{self, RenderContext};
use super::store::{AllTenants, RecordData, RecordNumber, TenantData};
use super::{dates, options::ServerOptions};

/// The links of a new record.
pub(super) type Links = BTreeMap<&'static str, RecordNumber>;

/// One write request on the data of one tenant.
#[derive(Debug)]
pub(super) struct TenantWrite<'w> {
    pub(super) options: &'w ServerOptions,
    pub(super) data: &'w mut TenantData,
    pub(super) tenants: &'w mut AllTenants,
    pub(super) now: i64,
}

impl TenantWrite<'_> {
    pub(super) fn view(&self) -> RenderContext<'_> {
        RenderContext {
            options: self.options,
            data: self.data,
            turn: self.tenants.requests,
        }
    }

    /// Returns the full representation of a record.
    pub(super) fn shown(&self, number: RecordNumber) -> Value {
        self.data
            .records
            .get(&number)
            .map_or(Value::Null, |record| self.view().record(record, true))
    }

    /// Returns the record of a kind that an href links to.
    pub(super) fn linked(&self, kind: &str, href: &str) -> Option<RecordNumber> {
        let below = href
            .strip_prefix(&self.options.base)
            .or_else(|| href.strip_prefix(self.options.path()))?;
        let below = match below.strip_prefix('~') {
            Some(changing) => changing.split_once('/')?.1,
            None => below,
        };
        let below = match below.split_once('?') {
            Some((path, query)) => render::without_query(path, query),
            None => below.to_owned(),
        };
        let number = below
            .strip_prefix("r/")?
            .trim_end_matches('/')
            .parse()
            .ok()?;
        self.data.of(kind, number).map(|record| record.number)
    }

    /// Returns the href of a relation in a body.
    pub(super) fn sent_link<'b>(
        &self,
        body: &'b Map<String, Value>,
        name: &str,
    ) -> Option<&'b str> {
        body.get("_links")?
            .get(self.options.rel(name))?
            .get("href")?
            .as_str()
    }

    /// Returns the fields and foreign identifiers of a body, and adds what is wrong to the
    /// problems.
    pub(super) fn read(
        &self,
        kind: &ServerKind,
        body: &Map<String, Value>,
        path: &str,
        problems: &mut Vec<BodyProblem>,
    ) -> (Map<String, Value>, Vec<String>) {
        let reading = Reading {
            options: self.options,
            update: false,
        };
        let mut fields = reading.object(kind.fields(), body, path, problems);
        let identifiers = check::identifiers(body, path, problems).unwrap_or_default();
        match kind.one {
            "person" => check::finish_person(&mut fields),
            "question" => {
                if !fields.contains_key("question_type") && problems.is_empty() {
                    problems.push(BodyProblem::new(
                        "FIELD_MISSING",
                        "A question must have a type.",
                        &["question_type"],
                    ));
                }
                check::question(&fields, problems);
            }
            "event" => check::event(&fields, problems),
            _ => {}
        }
        (fields, identifiers)
    }

    /// Executes a `POST` to a collection; `container` is the record that the collection is below.
    pub(super) fn create(
        &mut self,
        kind: &'static ServerKind,
        body: &Map<String, Value>,
        container: Option<RecordNumber>,
    ) -> ServerResponse {
        let mut problems = Vec::new();
        let (fields, identifiers) = self.read(kind, body, "", &mut problems);
        let mut links = Links::new();
        if let (Some(name), Some(number)) = (kind.container, container) {
            links.insert(name, number);
            let path = format!("_links.{}", self.options.rel("person"));
            match self
                .sent_link(body, "person")
                .and_then(|href| self.linked("person", href))
            {
                Some(person) => drop(links.insert("person", person)),
                None => {
                    problems.push(BodyProblem::new(
                        "NO_SUCH_PERSON",
                        "The target of the link is not a person.",
                        &[path.as_str()],
                    ));
                }
            }
        }
        for name in ["creator", "organizer"] {
            if kind.to_one.contains(&name)
                && let Some(person) = self
                    .sent_link(body, name)
                    .and_then(|href| self.linked("person", href))
            {
                links.insert(name, person);
            }
        }
        self.check_name(kind, &fields, None, &mut problems);
        if kind.one == "answer" && problems.is_empty() {
            self.check_answer(links.get("question").copied(), &fields, "", &mut problems);
            self.check_answered(links.get("question").copied(), &fields, "", &mut problems);
        }
        if !problems.is_empty() {
            return answer::refused(self.options, 400, kind.one, problems);
        }
        if matches!(kind.one, "tagging" | "item")
            && let Some(known) = self.member(kind, &links)
        {
            return ServerResponse::json(200, self.shown(known));
        }
        if let Some(known) = self.acts_again(kind, &links, &fields) {
            return ServerResponse::json(200, self.shown(known));
        }
        match self.insert(kind, fields, identifiers, links) {
            Ok(number) => ServerResponse::json(self.options.create_status, self.shown(number)),
            Err(problems) => answer::refused(self.options, 400, kind.one, problems),
        }
    }

    /// Returns the existing membership of a person.
    pub(super) fn member(&self, kind: &ServerKind, links: &Links) -> Option<RecordNumber> {
        let container = kind.container?;
        let same = |record: &&Arc<RecordData>| {
            record.kind.one == kind.one
                && record.links.get(container) == links.get(container)
                && record.links.get("person") == links.get("person")
        };
        self.data
            .records
            .values()
            .find(same)
            .map(|record| record.number)
    }

    /// Updates the existing action of a person with these fields, if the options allow one for each
    /// person, and returns it.
    pub(super) fn acts_again(
        &mut self,
        kind: &ServerKind,
        links: &Links,
        fields: &Map<String, Value>,
    ) -> Option<RecordNumber> {
        let has_helper = kind
            .container
            .and_then(kinds::kind)
            .is_some_and(|home| home.helper.is_some());
        let is_repeatable = self
            .options
            .repeatable_kinds
            .iter()
            .any(|one| one == kind.one);
        let is_action = has_helper && links.contains_key("person") && !is_repeatable;
        let known = self
            .member(kind, links)
            .filter(|_| self.options.one_action_per_person && is_action)?;
        if let Some(record) = self.data.records.get_mut(&known).map(Arc::make_mut) {
            record.body.extend(fields.clone());
            record.modified = self.tenants.tick(self.now);
        }
        Some(known)
    }

    fn check_name(
        &self,
        kind: &'static ServerKind,
        fields: &Map<String, Value>,
        own: Option<RecordNumber>,
        problems: &mut Vec<BodyProblem>,
    ) {
        if !matches!(kind.one, "tag" | "list") {
            return;
        }
        let Some(name) = fields.get("name").filter(|name| !name.is_null()) else {
            return;
        };
        let known = self.data.all(kind);
        if known
            .iter()
            .any(|record| record.body.get("name") == Some(name) && Some(record.number) != own)
        {
            problems.push(BodyProblem::new(
                "NAME_TAKEN",
                "Another record has this name.",
                &["name"],
            ));
        }
    }

    /// Validates an answer to a question.
    ///
    /// Requirements: HAF-09.
    pub(super) fn check_answer(
        &self,
        question: Option<RecordNumber>,
        fields: &Map<String, Value>,
        path: &str,
        problems: &mut Vec<BodyProblem>,
    ) {
        let Some(question) = question.and_then(|number| self.data.of("question", number)) else {
            return;
        };
        let keys = fields
            .get("responses")
            .and_then(Value::as_array)
            .map_or(&[][..], Vec::as_slice);
        let path = format!("{path}responses");
        for key in keys {
            if !question
                .list("responses")
                .iter()
                .any(|response| response.get("key") == Some(key))
            {
                problems.push(BodyProblem::new(
                    "NO_SUCH_RESPONSE",
                    "The question does not have this response.",
                    &[path.as_str()],
                ));
            }
        }
        if question.text("question_type") == Some("SingleChoice") && keys.len() > 1 {
            problems.push(BodyProblem::new(
                "ONE_RESPONSE_ONLY",
                "The question takes one response.",
                &[path.as_str()],
            ));
        }
    }

    /// Requires at least one response to a question with choices.
    ///
    /// Requirements: RES-question-06.
    pub(super) fn check_answered(
        &self,
        question: Option<RecordNumber>,
        fields: &Map<String, Value>,
        path: &str,
        problems: &mut Vec<BodyProblem>,
    ) {
        let question = question.and_then(|number| self.data.of("question", number));
        let asks = question
            .and_then(|question| question.text("question_type"))
            .is_some_and(|sort| sort != "Paragraph");
        if asks
            && fields
                .get("responses")
                .and_then(Value::as_array)
                .is_none_or(Vec::is_empty)
        {
            let path = format!("{path}responses");
            problems.push(BodyProblem::new(
                "RESPONSE_NEEDED",
                "A response is required.",
                &[path.as_str()],
            ));
        }
    }

    /// Stores a validated record, unless its container is full.
    pub(super) fn insert(
        &mut self,
        kind: &'static ServerKind,
        mut body: Map<String, Value>,
        identifiers: Vec<String>,
        links: Links,
    ) -> Result<RecordNumber, Vec<BodyProblem>> {
        let created = self.tenants.tick(self.now);
        if kind
            .fields()
            .iter()
            .any(|field| field.name == "action_date")
        {
            body.entry("action_date")
                .or_insert_with(|| dates::write(created, false).into());
        }
        if kind.one == "event" {
            body.entry("transparence")
                .or_insert_with(|| "opaque".into());
        }
        if body.get("voided") == Some(&Value::Bool(true)) {
            body.entry("voided_date")
                .or_insert_with(|| dates::write(created, false).into());
        }
        if kind.one == "attendance"
            && let Some(event) = links.get("event")
        {
            self.admit(*event, &mut body)?;
        }
        let number = self.tenants.next();
        let mut record = RecordData {
            number,
            kind,
            body,
            identifiers,
            created,
            modified: created,
            links,
            updates: 0,
        };
        if self.options.has(Defect::DropsSecondIdentifier) {
            record.identifiers.truncate(1);
        }
        self.data.records.insert(number, Arc::new(record));
        Ok(number)
    }

    /// Returns whether an event has capacity for an attendance, and takes the sold tickets from
    /// their levels.
    fn admit(
        &mut self,
        event: RecordNumber,
        attendance: &mut Map<String, Value>,
    ) -> Result<(), Vec<BodyProblem>> {
        let Some(record) = self.data.of("event", event) else {
            return Ok(());
        };
        if self.options.cancelled_is_final && record.text("status") == Some("cancelled") {
            return Err(vec![BodyProblem::new(
                "EVENT_IS_CANCELLED",
                "The event is cancelled.",
                &[],
            )]);
        }
        let is_ticketed = record.text("type") == Some("ticketed");
        let tickets: Vec<Value> = attendance
            .get("tickets")
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default();
        if is_ticketed {
            attendance.remove("attended");
        } else if !tickets.is_empty() {
            return Err(vec![BodyProblem::new(
                "NO_TICKETS_HERE",
                "The event is not ticketed.",
                &["tickets"],
            )]);
        }
        let taken = if is_ticketed {
            self.data.tickets(event).len().saturating_add(tickets.len())
        } else {
            kinds::kind("event")
                .and_then(|kind| kind.below("attendances"))
                .map_or(0, |below| {
                    self.data.below(event, below).len().saturating_add(1)
                })
        };
        let slack = usize::from(self.options.has(Defect::CapacityOffByOne));
        let capacity = record
            .body
            .get("capacity")
            .and_then(Value::as_u64)
            .and_then(|most| usize::try_from(most).ok());
        if capacity.is_some_and(|most| taken > most.saturating_add(slack)) {
            return Err(vec![BodyProblem::new(
                "EVENT_IS_FULL",
                "The event is full.",
                &[],
            )]);
        }
        let mut levels: Vec<Value> = record.list("ticket_levels").to_vec();
        for ticket in &tickets {
            let title = ticket.get("title");
            let Some(level) = levels
                .iter_mut()
                .find(|level| title.is_some() && level.get("title") == title)
            else {
                continue;
            };
            let Some(limit) = level.get("limit").and_then(Value::as_i64) else {
                continue;
            };
            if limit < 1 && !self.options.has(Defect::TicketLimitIgnored) {
                return Err(vec![BodyProblem::new(
                    "SOLD_OUT",
                    "The tickets of this level are sold out.",
                    &["tickets"],
                )]);
            }
            if let Some(level) = level.as_object_mut() {
                level.insert("limit".to_owned(), limit.saturating_sub(1).into());
            }
        }
        if let Some(record) = self.data.records.get_mut(&event)
            && !levels.is_empty()
        {
            Arc::make_mut(record)
                .body
                .insert("ticket_levels".to_owned(), levels.into());
        }
        Ok(())
    }

    /// Executes a `PUT` on a record.
    pub(super) fn update(
        &mut self,
        number: RecordNumber,
        body: &Map<String, Value>,
    ) -> ServerResponse {
        let Some(record) = self.data.records.get(&number) else {
            return ServerResponse::empty(404);
        };
        let kind = record.kind;
        let mut record = RecordData::clone(record);
        let mut problems = Vec::new();
        let reading = Reading {
            options: self.options,
            update: true,
        };
        let sent = reading.object(kind.fields(), body, "", &mut problems);
        let identifiers = check::identifiers(body, "", &mut problems);
        for (name, value) in sent {
            if value.is_null() {
                record.body.remove(&name);
            } else {
                record.body.insert(name, value);
            }
        }
        match kind.one {
            "person" => check::finish_person(&mut record.body),
            "question" => {
                if !record.body.contains_key("question_type") {
                    problems.push(BodyProblem::new(
                        "FIELD_MISSING",
                        "A question must have a type.",
                        &["question_type"],
                    ));
                }
                check::question(&record.body, &mut problems);
            }
            "event" => check::event(&record.body, &mut problems),
            "attendance" => {
                let event = record
                    .links
                    .get("event")
                    .and_then(|event| self.data.of("event", *event));
                if event.is_some_and(|event| event.text("type") == Some("ticketed")) {
                    record.body.remove("attended");
                } else if !record.list("tickets").is_empty() {
                    problems.push(BodyProblem::new(
                        "NO_TICKETS_HERE",
                        "The event is not ticketed.",
                        &["tickets"],
                    ));
                }
            }
            _ => {}
        }
        self.check_name(kind, &record.body, Some(number), &mut problems);
        if kind.one == "answer" {
            self.check_answer(
                record.links.get("question").copied(),
                &record.body,
                "",
                &mut problems,
            );
        }
        if !problems.is_empty() {
            return answer::refused(self.options, 400, kind.one, problems);
        }
        if let Some(identifiers) = identifiers {
            let own = format!("{}:{number}", self.options.namespace);
            record.identifiers = identifiers.into_iter().filter(|one| *one != own).collect();
        }
        let is_action = kind.container.is_some() && record.links.contains_key("person");
        for (name, is_writable) in [
            ("organizer", kind.to_one.contains(&"organizer")),
            ("person", self.options.moves_actions && is_action),
        ] {
            if is_writable
                && let Some(person) = self
                    .sent_link(body, name)
                    .and_then(|href| self.linked("person", href))
            {
                record.links.insert(name, person);
            }
        }
        record.modified = self.tenants.tick(self.now);
        record.updates = record.updates.saturating_add(1);
        damage_update(|bug| self.options.has(bug), self.data, &mut record, body);
        self.data.records.insert(number, Arc::new(record));
        ServerResponse::json(200, self.shown(number))
    }

    /// Executes a `DELETE` of a record.
    pub(super) fn delete(&mut self, number: RecordNumber) -> ServerResponse {
        let Some(record) = self.data.records.get(&number) else {
            return answer::not_found(self.options, "error");
        };
        let record = RecordData::clone(record);
        if !damage_delete(|bug| self.options.has(bug), self.data, &record) {
            self.data.remove(number);
        }
        if self.options.delete_notice {
            ServerResponse::json(
                200,
                Value::Object(Map::from_iter([(
                    "notice".to_owned(),
                    "It is deleted.".into(),
                )])),
            )
        } else {
            ServerResponse::empty(204)
        }
    }
}
