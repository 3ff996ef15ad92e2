//! Converts request bodies into drafts, patches and helper requests, with every problem that can be
//! found without a store.
//!
//! Requirements: ERR-39.

use super::{
    AcceptedMembers, ContentLimits, Json, JsonLimits, LinkReader, Object, Validator,
    identifiers::own_in_use,
    ignored::{
        BodyReport, LINKS, MemberRole, OtherMembers, PERSON, RecordPart, is_enveloped,
        report_gender, similar_members,
    },
    link::{LinkPurpose, href},
    stored::StoredDocument,
    validate::ValidationMode,
    value_path::ValuePath,
};
use crate::{
    draft::{RawDraft, RawPatch},
    error::{ErrorCode, Problem, PropertyPath},
    field_set::FieldBits,
    helper::{
        ActionFunctions, AnonymousPolicy, AnswerInput, Atomicity, FunctionFields, FunctionName,
        GroupRef, HelperName, MergePolicy, QuestionRef, RawHelperRequest, ScheduleChange,
        ScheduleFields, Triggers,
    },
    link::RecordAddress,
    model::Kind,
    schema::Constraints,
    types::FieldType,
    value::{ClosedEnum, Identifier, Timestamp},
};

/// Reads the body of one request.
#[derive(Debug, Clone, Copy)]
pub struct BodyReader<'a> {
    /// Resolves URLs.
    pub links: LinkReader<'a>,
    /// The server's namespace.
    ///
    /// Requirements: ENT-07.
    pub namespace: &'a str,
    /// The limits of the JSON text.
    ///
    /// Requirements: UND-17.
    pub limits: &'a JsonLimits,
    /// The maximum sizes of a record and of a request.
    ///
    /// Requirements: UND-17.
    pub caps: &'a ContentLimits,
    /// The time of receipt.
    pub now: Timestamp,
    /// Whether the ignored members are reported: see [`BodyReport::ignored`].
    ///
    /// Requirements: UND-22.
    pub reports_ignored: bool,
}

/// The options for reading the body of a helper request.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct HelperBodyOptions<'a> {
    /// The helper.
    pub helper: HelperName,
    /// The record that the helper belongs to.
    pub container: Option<&'a RecordAddress>,
    /// The accepted members of the action.
    pub action: AcceptedMembers<'a>,
    /// The accepted members of a person.
    pub person: AcceptedMembers<'a>,
    /// The action functions that this server supports.
    pub functions: &'a [FunctionName],
    /// What remains if one part fails.
    ///
    /// Requirements: ERR-34.
    pub atomicity: Atomicity,
    /// The policy for anonymous callers; `None` for a caller with a key.
    pub anonymous_policy: Option<&'a AnonymousPolicy>,
    /// Whether the key may change people. Otherwise an existing person remains unchanged.
    ///
    /// Requirements: UND-31.
    pub may_change_people: bool,
}

impl<'a> HelperBodyOptions<'a> {
    /// Creates the options for a caller with a key that may change people, with the
    /// default [`Atomicity`].
    ///
    /// Requirements: ERR-34.
    #[must_use]
    pub fn new(
        helper: HelperName,
        container: Option<&'a RecordAddress>,
        action: AcceptedMembers<'a>,
        person: AcceptedMembers<'a>,
        functions: &'a [FunctionName],
    ) -> Self {
        Self {
            helper,
            container,
            action,
            person,
            functions,
            atomicity: Atomicity::default(),
            anonymous_policy: None,
            may_change_people: true,
        }
    }
}

impl BodyReader<'_> {
    /// Reads the object of the body.
    ///
    /// # Errors
    ///
    /// Returns every problem of the JSON text.
    ///
    /// Requirements: UND-27.
    pub fn object(&self, body: &[u8]) -> Result<Object, Vec<Problem>> {
        match Json::read(body, self.limits)? {
            Json::Object(object) => Ok(object),
            other => {
                let text = format!("The body must be a JSON object, not {}.", other.kind_name());
                Err(vec![Problem::for_request(ErrorCode::JsonInvalid, text)])
            }
        }
    }

    /// Reads a record to create, under a container if the kind has one.
    ///
    /// Requirements: CRU-01.
    #[must_use]
    pub fn draft<'t>(
        &self,
        kind: Kind,
        taken: impl Into<AcceptedMembers<'t>>,
        body: &Object,
        container: Option<&RecordAddress>,
    ) -> (RawDraft, BodyReport) {
        let below = container.filter(|container| kind.schema().is_nested_under(container.kind));
        let wanted = if below.is_some() {
            LinkPurpose::Below
        } else {
            LinkPurpose::Create
        };
        let mut report = BodyReport::default();
        let part = RecordPart {
            kind,
            taken: taken.into(),
            purpose: wanted,
            helper: None,
        };
        let mut draft = self.fields(part, body, &ValuePath::Root, &mut report);
        if draft.own.take().is_some() {
            report.problems.push(own_in_use(self.own_position(body)));
        }
        match (kind.schema().parent, container) {
            _ if below.is_some() => draft.recorded_by = below.cloned(),
            (Some(parent), Some(container)) => draft.links.insert(0, (parent, container.clone())),
            _ => {}
        }
        (draft, report)
    }

    /// Returns a validator that reports what is wanted.
    fn validator(&self, mode: ValidationMode) -> Validator<'_> {
        Validator::new(self.links.dialect.share_names(), self.caps, mode)
            .reporting(self.reports_ignored)
    }

    /// Reads the common part of a draft and of the person and action of a helper request.
    fn fields(
        &self,
        part: RecordPart<'_>,
        body: &Object,
        path: &ValuePath<'_>,
        report: &mut BodyReport,
    ) -> RawDraft {
        let RecordPart { kind, taken, .. } = part;
        let schema = kind.schema();
        let mut draft = RawDraft::empty(kind);
        let mut validator = self.validator(ValidationMode::Create);
        validator.stores_what_fits = kind == Kind::Person && part.purpose == LinkPurpose::Helper;
        let others = OtherMembers {
            tables: if part.helper.is_some() {
                &[FunctionFields::FIELDS]
            } else {
                &[]
            },
            role: &|name| self.record_role(part, body, name),
            names: match part.helper {
                Some(helper) if helper.accepts_person() => &["person", "identifiers", LINKS],
                _ => &["identifiers", LINKS],
            },
            similar: similar_members(kind),
        };
        let before = report.problems.len();
        draft.fields = validator.record(schema.fields, taken, body, path, &others);
        draft.unsent = self.unsent(taken, body, &draft.fields);
        draft.holders = self.holders(&mut draft.fields);
        let (identifiers, own) = self.identifiers(body, path, &mut validator, part);
        draft.identifiers = identifiers.unwrap_or_default();
        let mut own = own.into_iter();
        draft.own = own.next();
        draft.further_own = own.collect();
        report.take(validator);
        if kind == Kind::Person && self.reports_ignored {
            report_gender(body.get("gender_identity"), body, path, report);
        }
        // A member with another problem could be what is known.
        if kind == Kind::Person && report.problems.len() == before {
            report
                .problems
                .extend(self.empty_person(&draft, body, part, path));
        }
        report.problems.extend(self.too_large(&draft.fields, path));
        let (unlinked, problems) = (taken.unlinked, &mut report.problems);
        let links = self
            .links
            .read(schema, body, path, part.purpose, unlinked, problems);
        report.ignore(self.ignored_links(part, body, path, None));
        draft.links = links
            .into_iter()
            .filter_map(|(name, address)| Some((name, address?)))
            .collect();
        let of_the_whole = draft.apply_defaults(self.now);
        if !of_the_whole.is_empty() {
            let part = path.property();
            report.problems.extend(
                of_the_whole
                    .into_iter()
                    .map(|problem| problem.within(&part)),
            );
        }
        draft
    }

    /// Returns the fields of a draft that were not sent and have their default.
    fn unsent(&self, taken: AcceptedMembers<'_>, body: &Object, fields: &Object) -> Vec<String> {
        let names = self.links.dialect.share_names();
        let of_default = taken
            .narrowing
            .into_iter()
            .flat_map(Constraints::members)
            .filter(|(name, narrow)| {
                let is_sent = body
                    .get(names.to_wire(name))
                    .is_some_and(|value| !value.is_null());
                narrow.default.is_some() && !is_sent && fields.contains(name)
            });
        of_default.map(|(name, _)| name.to_owned()).collect()
    }

    /// Returns the problem of a record that exceeds the maximum size.
    fn too_large(&self, fields: &Object, path: &ValuePath<'_>) -> Option<Problem> {
        let name = self.caps.too_large(fields, |_| true)?;
        let text = format!(
            "With {{property}} the record exceeds the limit of {} bytes.",
            self.caps.record
        );
        Some(Problem::new(
            ErrorCode::FieldInvalid,
            ValuePath::Member(path, name).property(),
            text,
        ))
    }

    /// Reads a change of the record at an address. The fields of a person can also be in an envelope, as
    /// in a create: `{"person": {...}}`.
    ///
    /// `stored` is the record as the caller reads it. Read-only members with its values are not
    /// reported as ignored. If the body has no gender identity, the one of the record decides whether
    /// `gender` is.
    ///
    /// Requirements: CRU-04, RES-person-08, UND-22.
    #[must_use]
    pub fn patch<'t>(
        &self,
        at: &RecordAddress,
        taken: impl Into<AcceptedMembers<'t>>,
        body: &Object,
        stored: Option<&Object>,
    ) -> (RawPatch, BodyReport) {
        let (schema, taken) = (at.kind.schema(), taken.into());
        let mut report = BodyReport::default();
        let inside = ValuePath::Member(&ValuePath::Root, PERSON);
        let empty = Object::new();
        let (body, path) = if is_enveloped(at.kind, body) {
            report.ignore(self.beside_envelope(body));
            match body.get(PERSON) {
                Some(Json::Object(person)) => (person, &inside),
                other => {
                    let wrong = other.map(|other| not_an_object(PERSON, other));
                    report.problems.extend(wrong);
                    (&empty, &inside)
                }
            }
        } else {
            (body, &ValuePath::Root)
        };
        let compared = stored.map(|document| StoredDocument {
            kind: at.kind,
            document,
            path,
        });
        let mut validator = self.validator(ValidationMode::Update).comparing(compared);
        let part = RecordPart {
            kind: at.kind,
            taken,
            purpose: LinkPurpose::Update { moves: taken.moves },
            helper: None,
        };
        let others = OtherMembers {
            role: &|name| self.record_role(part, body, name),
            names: &["identifiers", LINKS],
            similar: similar_members(at.kind),
            ..OtherMembers::NONE
        };
        let mut fields = validator.record(schema.fields, taken, body, path, &others);
        let holders = self.holders(&mut fields);
        let (identifiers, own) = self.identifiers(body, path, &mut validator, part);
        report.take(validator);
        if at.kind == Kind::Person && self.reports_ignored {
            let sent = body.get("gender_identity");
            let identity = sent.or_else(|| stored?.get("gender_identity"));
            report_gender(identity, body, path, &mut report);
            report.needs_stored = sent.is_none() && body.contains("gender");
        }
        report.problems.extend(self.too_large(&fields, path));
        let accepts_several = part.accepts_merged_people();
        if !accepts_several && own.iter().any(|own| *own != at.id) {
            let position = self.own_position(body).prefixed_with(&path.property());
            report.problems.push(own_in_use(position));
        }
        let before = report.problems.len();
        let linked = stored.map(|stored| self.without_foreign_links(body, stored));
        let links = self.links.read(
            schema,
            linked.as_ref().unwrap_or(body),
            path,
            part.purpose,
            taken.unlinked,
            &mut report.problems,
        );
        report.needs_stored |= report.problems.len() > before;
        report.ignore(self.ignored_links(part, body, path, stored));
        let is_read_only = |problem: &Problem| problem.code == ErrorCode::PropertyReadOnly;
        report.needs_stored |= report.ignored.iter().any(is_read_only);
        report.needs_stored &= stored.is_none();
        let mut change = RawPatch::new(at.kind, fields);
        change.identifiers = identifiers;
        if accepts_several {
            change.own = own;
        }
        change.holders = holders;
        change.sold_tickets = sold_tickets(at.kind, body);
        change.links = links;
        (change, report)
    }

    /// Reads a helper request.
    ///
    /// Requirements: HLP-02.
    #[must_use]
    pub fn helper_request(
        &self,
        call: &HelperBodyOptions<'_>,
        body: &Object,
    ) -> (RawHelperRequest, BodyReport) {
        let mut plan = RawHelperRequest::empty(call.helper);
        plan.container = call.container.cloned();
        plan.atomicity = call.atomicity;
        plan.anonymous = call.anonymous_policy.is_some();
        plan.merge = match call.anonymous_policy {
            Some(strangers) => strangers.merge(),
            None if call.may_change_people => MergePolicy::Replace,
            None => MergePolicy::KeepExisting,
        };
        let mut report = BodyReport::default();
        if call.helper == HelperName::Schedule {
            plan.schedule = self.schedule(body, &mut report);
            return (plan, report);
        }
        if call.helper.accepts_person() {
            plan.person = self.person(call, body, &mut report);
        }
        if call.helper != HelperName::PersonSignup {
            plan.action = Some(self.action(call, body, &mut report));
        }
        plan.functions = self.functions(call, body, &mut report);
        if call.helper == HelperName::RecordCanvass {
            let response = plan
                .action
                .as_ref()
                .and_then(|action| action.fields.get("question_response"));
            let responses = response.map(|value| {
                self.responses(
                    value,
                    &PropertyPath::member("canvass").push_member("question_response"),
                )
            });
            plan.functions
                .responses
                .splice(0..0, responses.unwrap_or_default());
        }
        let ActionFunctions {
            tags,
            lists,
            responses,
            ..
        } = &plan.functions;
        if [tags.len(), lists.len(), responses.len()]
            .iter()
            .sum::<usize>()
            > self.caps.functions
        {
            let all = [
                "add_tags",
                "add_tags_uri",
                "add_lists",
                "add_lists_uri",
                "add_questions_responses_uri",
            ];
            let sent: Vec<&str> = all.into_iter().filter(|name| body.contains(name)).collect();
            let text = format!(
                "The request has more than {} tags, lists and answers.",
                self.caps.functions
            );
            report.problems.push(Problem::for_properties(
                ErrorCode::FieldInvalid,
                &sent,
                text,
            ));
        }
        if let Some(strangers) = call.anonymous_policy {
            strangers.restrict(&mut plan);
        }
        (plan, report)
    }

    fn person(
        &self,
        call: &HelperBodyOptions<'_>,
        body: &Object,
        report: &mut BodyReport,
    ) -> Option<RawDraft> {
        let path = ValuePath::Member(&ValuePath::Root, "person");
        match body.get("person") {
            Some(Json::Object(person)) => {
                let part = RecordPart {
                    kind: Kind::Person,
                    taken: call.person,
                    purpose: LinkPurpose::Helper,
                    helper: None,
                };
                let mut draft = self.fields(part, person, &path, report);
                draft.links = Vec::new();
                Some(draft)
            }
            None | Some(Json::Null) => {
                if call.helper == HelperName::PersonSignup {
                    report.problems.push(Problem::new(
                        ErrorCode::FieldRequired,
                        "person",
                        "{property} is required.",
                    ));
                }
                None
            }
            Some(other) => {
                report.problems.push(not_an_object("person", other));
                None
            }
        }
    }

    fn action(
        &self,
        call: &HelperBodyOptions<'_>,
        body: &Object,
        report: &mut BodyReport,
    ) -> RawDraft {
        let kind = call.helper.recorded_kind();
        let inside = ValuePath::Member(&ValuePath::Root, "canvass");
        let empty = Object::new();
        let (fields, path) = match body.get("canvass") {
            _ if call.helper != HelperName::RecordCanvass => (body, &ValuePath::Root),
            Some(Json::Object(canvass)) => (canvass, &inside),
            None | Some(Json::Null) => {
                let text = "{property} is required: it contains the fields of the canvass.";
                report
                    .problems
                    .push(Problem::new(ErrorCode::FieldRequired, "canvass", text));
                (&empty, &inside)
            }
            Some(other) => {
                report.problems.push(not_an_object("canvass", other));
                (&empty, &inside)
            }
        };
        let is_canvass = call.helper == HelperName::RecordCanvass;
        let part = RecordPart {
            kind,
            taken: call.action,
            purpose: LinkPurpose::Helper,
            helper: (!is_canvass).then_some(call.helper),
        };
        let mut draft = self.fields(part, fields, path, report);
        if is_canvass {
            report.ignore(self.ignored_links(part, body, &ValuePath::Root, None));
        }
        if is_canvass && draft.link("canvasser").is_none() {
            // The link to the canvasser can also be in `_links` of the body.
            // Requirements: RES-canvass-07.
            let links = self.links.read(
                kind.schema(),
                &without_top_links(body),
                &ValuePath::Root,
                part.purpose,
                call.action.unlinked,
                &mut report.problems,
            );
            draft.links.extend(
                links
                    .into_iter()
                    .filter_map(|(name, address)| Some((name, address?))),
            );
        }
        if let (Some(parent), Some(container)) = (kind.schema().parent, call.container) {
            draft.links.insert(0, (parent, container.clone()));
        }
        draft
    }

    fn functions(
        &self,
        call: &HelperBodyOptions<'_>,
        body: &Object,
        report: &mut BodyReport,
    ) -> ActionFunctions {
        let (schema, path) = (FunctionFields::FIELDS, ValuePath::Root);
        let mut validator = self.validator(ValidationMode::Create);
        // Otherwise the action has the members next to the functions.
        let valid = match call.helper {
            HelperName::PersonSignup | HelperName::RecordCanvass => {
                let names: &[&str] = if call.helper == HelperName::PersonSignup {
                    &["person"]
                } else {
                    &["canvass", LINKS]
                };
                let others = OtherMembers {
                    role: &|name| names.contains(&name).then_some(MemberRole::Part),
                    names,
                    ..OtherMembers::NONE
                };
                validator.record(schema, FieldBits::ALL.into(), body, &path, &others)
            }
            _ => validator.part(schema, body, &path),
        };
        report.take(validator);
        let mut functions = ActionFunctions::default();
        for name in FunctionName::all() {
            let Some(value) = valid.get(name.as_str()).filter(|value| !value.is_empty()) else {
                continue;
            };
            let refused = if !call.functions.contains(&name) {
                Some("{property} is not supported by this server.")
            } else if call
                .anonymous_policy
                .is_some_and(|strangers| !strangers.may_use(name))
            {
                Some("{property} requires an API key.")
            } else {
                None
            };
            if let Some(text) = refused {
                functions.unsupported.push((
                    name.reported_kind(),
                    Problem::new(ErrorCode::NotSupported, name.as_str(), text),
                ));
                continue;
            }
            let texts = || {
                value
                    .as_array()
                    .unwrap_or_default()
                    .iter()
                    .filter_map(Json::as_str)
            };
            let addresses = |kind| {
                texts().map(move |href| {
                    GroupRef::Address(self.links.parse_kind(kind, href).map(|it| it.id))
                })
            };
            match name {
                FunctionName::AddTags => functions
                    .tags
                    .extend(texts().map(|name| GroupRef::Name(name.to_owned()))),
                FunctionName::AddTagsUri => functions.tags.extend(addresses(Kind::Tag)),
                FunctionName::AddLists => functions
                    .lists
                    .extend(texts().map(|name| GroupRef::Name(name.to_owned()))),
                FunctionName::AddListsUri => functions.lists.extend(addresses(Kind::List)),
                FunctionName::AddQuestionsResponsesUri => {
                    functions
                        .responses
                        .extend(self.responses(value, &PropertyPath::member(name.as_str())));
                }
                FunctionName::Triggers => functions.triggers = Triggers::read_json(value),
            }
        }
        functions
    }

    /// Reads the answers in an array of objects, or in one object.
    fn responses(&self, value: &Json, path: &PropertyPath) -> Vec<AnswerInput> {
        let one = |object: &Object, path: PropertyPath| {
            let question = object
                .get("question")
                .map_or(QuestionRef::Unknown, |question| self.question(question));
            let responses =
                Vec::<String>::read_json(object.get("responses").unwrap_or(&Json::Null))
                    .unwrap_or_default();
            let mut response = AnswerInput::new(question, responses, path);
            response.value = object
                .get("value")
                .and_then(Json::as_str)
                .map(str::to_owned);
            response
        };
        match value {
            Json::Array(items) => {
                let objects = items
                    .iter()
                    .enumerate()
                    .filter_map(|(place, item)| Some((place, item.as_object()?)));
                objects
                    .map(|(place, object)| one(object, path.clone().push_index(place)))
                    .collect()
            }
            Json::Object(object) => vec![one(object, path.clone())],
            _ => Vec::new(),
        }
    }

    fn question(&self, question: &Json) -> QuestionRef {
        let Some(text) = href(question) else {
            return QuestionRef::Unknown;
        };
        if let Some(address) = self.links.parse_kind(Kind::Question, text) {
            return QuestionRef::Id(address.id);
        }
        if let Some(id) = self.own_id(text) {
            return QuestionRef::Id(id);
        }
        match Identifier::parse(text) {
            Some(identifier) if !text.contains("://") => QuestionRef::Identifier(identifier),
            _ => QuestionRef::Unknown,
        }
    }

    fn schedule(&self, body: &Object, report: &mut BodyReport) -> Option<ScheduleChange> {
        let mut body = body.clone();
        let mut stop_name = "scheduled_stop_date";
        if !body.contains(stop_name)
            && let Some(end) = body.remove("scheduled_end_date")
        {
            body.insert(stop_name, end);
            stop_name = "scheduled_end_date";
        }
        let mut validator = self.validator(ValidationMode::Create);
        let others = OtherMembers {
            role: &|name| {
                let is_second = name == "scheduled_end_date";
                is_second.then(|| MemberRole::Overruled("scheduled_stop_date".to_owned()))
            },
            ..OtherMembers::NONE
        };
        let (schema, taken) = (ScheduleFields::FIELDS, FieldBits::ALL.into());
        let valid = validator.record(schema, taken, &body, &ValuePath::Root, &others);
        let valid = ScheduleFields::from_object(&valid);
        for mut problem in std::mem::take(&mut validator.problems) {
            // The problem must use the name that the client sent. Requirements: SCH-07.
            if problem.properties == [PropertyPath::member("scheduled_stop_date")] {
                problem.properties = vec![PropertyPath::member(stop_name)];
            }
            report.problems.push(problem);
        }
        report.take(validator);
        let (start, stop) = (valid.scheduled_start_date?, valid.scheduled_stop_date);
        if stop.is_some_and(|stop| stop < start) {
            let properties = ["scheduled_start_date", stop_name];
            let text = "The start date is after the end date.";
            report.problems.push(Problem::for_properties(
                ErrorCode::StartDateAfterEndDate,
                &properties,
                text,
            ));
        }
        Some(ScheduleChange::Set { start, stop })
    }
}

/// Returns a body that contains only the links in `_links`.
fn without_top_links(body: &Object) -> Object {
    body.get("_links")
        .map(|links| ("_links", links.clone()))
        .into_iter()
        .collect()
}

/// Returns the `total_tickets` of the sent ticket levels, each with the index of its level.
fn sold_tickets(kind: Kind, body: &Object) -> Vec<(usize, i64)> {
    let levels = match kind {
        Kind::Event => body.get("ticket_levels").and_then(Json::as_array),
        _ => None,
    };
    let sold = |level: &Json| level.as_object()?.get("total_tickets")?.as_i64();
    let levels = levels.into_iter().flatten().enumerate();
    levels
        .filter_map(|(place, level)| Some((place, sold(level)?)))
        .collect()
}

fn not_an_object(property: &str, value: &Json) -> Problem {
    let text = format!("{{property}} must be an object, not {}.", value.kind_name());
    Problem::new(ErrorCode::FieldInvalid, property, text)
}
