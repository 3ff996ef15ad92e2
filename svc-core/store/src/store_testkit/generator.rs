//! Random requests that are the same for equal stores. A step of a history depends only on its seed
//! and on the outcomes of earlier requests.

use std::time::Duration;

use svc_core::{
    auth::Operation,
    draft::{RawDraft, RawPatch},
    error::PropertyPath,
    helper::{
        ActionFunctions, AnonymousPolicy, AnswerInput, Atomicity, GroupRef, HelperName,
        MergePolicy, ONE_ACTION_KINDS, QuestionRef, RawHelperRequest, ScheduleChange, Trigger,
        Triggers,
    },
    link::RecordAddress,
    model::Kind,
    read::{Json, Object},
    schema::{LinkTarget, LinkUpdate},
    store::{
        ImportedRecord, LookupKey, MergeRequest, ResponseRecorder, UndoMergeRequest,
        WriteOperation, WriteRequest,
    },
    value::{Id, Identifier, Timestamp},
};

use super::canonical::in_short;

/// A random number generator: `SplitMix64`.
#[derive(Debug, Clone)]
pub(super) struct Rng(u64);

impl Rng {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `end`.
    pub(super) fn below(&mut self, end: usize) -> usize {
        let end = u64::try_from(end).unwrap_or(u64::MAX).max(1);
        usize::try_from(self.roll().checked_rem(end).unwrap_or_default()).unwrap_or_default()
    }

    /// Returns `true` once in `times` calls on average.
    pub(super) fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    fn one<'a, T: ?Sized>(&mut self, of: &[&'a T]) -> Option<&'a T> {
        of.get(self.below(of.len())).copied()
    }
}

/// The records that a history knows, in the order of their first appearance, and the number of its
/// steps.
#[derive(Debug, Default, Clone)]
pub(super) struct KnownRecords {
    pub(super) records: Vec<RecordAddress>,
    /// The stored merges, each by the remaining person and its id.
    pub(super) merges: Vec<(RecordAddress, Id)>,
    pub(super) steps: usize,
}

/// Generates the next request.
pub(super) struct RequestGenerator<'a> {
    pub(super) dice: &'a mut Rng,
    pub(super) known: &'a KnownRecords,
    /// The records of the other tenant. They must not exist for this one.
    pub(super) foreign: &'a KnownRecords,
    /// The kinds to create.
    pub(super) kinds: &'static [Kind],
}

/// Returns the kinds of the history for a seed: all kinds, or only events and related kinds. Some
/// combinations of tickets only occur if all requests are about them.
pub(super) fn kinds(seed: u64) -> &'static [Kind] {
    if seed % 4 == 3 {
        &[
            Kind::Person,
            Kind::Event,
            Kind::Attendance,
            Kind::Attendance,
        ]
    } else {
        Kind::ALL
    }
}

const PEOPLE: [&str; 4] = [
    r#"{"given_name":"Ada","family_name":"L","email_addresses":[{"address":"ada@example.org"}]}"#,
    r#"{"given_name":"Bob","email_addresses":[{"address":"BOB@example.org"},{"address":"ada@example.org"}]}"#,
    r#"{"given_name":"Eve","email_addresses":[{"address":"bob@example.org","primary":true}],"source":"web"}"#,
    r#"{"family_name":"Nobody"}"#,
];

const TICKETED: &str = r#"{"type":"ticketed","capacity":3,"ticket_levels":[{"title":"A","amount":5,"currency":"EUR","limit":2},{"title":"B","amount":0.5}]}"#;
/// Tickets of two people, and the same tickets in reverse order.
const HELD: &str = r#"{"tickets":[{"title":"A","person":{"given_name":"Ada","email_addresses":[{"address":"ada@example.org"}]}},{"title":"B","person":{"given_name":"Kim","identifiers":["person:1"]}}]}"#;
const SWAPPED: &str = r#"{"tickets":[{"title":"B","person":{"given_name":"Kim","identifiers":["person:1"]}},{"title":"A","person":{"given_name":"Ada","email_addresses":[{"address":"ada@example.org"}]}}]}"#;

impl RequestGenerator<'_> {
    /// Returns the next request.
    pub(super) fn call(&mut self) -> WriteRequest {
        let opening = self.opening();
        let is_refused = opening.is_none() && self.dice.one_in(16);
        let work = opening.unwrap_or_else(|| self.work());
        let caller = if self.dice.one_in(3) {
            Some(self.any(Kind::Person).id)
        } else {
            None
        };
        let may_repeat = self.dice.one_in(6)
            && !is_refused
            && matches!(work, WriteOperation::Create(_) | WriteOperation::Helper(_));
        let key = self.dice.below(4);
        let mut call = WriteRequest::received_at(self.moment(), work);
        call.caller = caller;
        call.is_rejected = is_refused;
        call.reports_shared_addresses = true;
        call.response_recorder = may_repeat.then(|| {
            ResponseRecorder::new(format!("key {key}").into(), |outcome, _| {
                Ok(in_short(outcome).into())
            })
        });
        call
    }

    /// Returns the first operations of a history about events: tickets change their positions, and
    /// one loses its holder.
    fn opening(&mut self) -> Option<WriteOperation> {
        let (kind, fields) = match self.known.steps {
            _ if self.kinds == Kind::ALL => return None,
            1 => (Kind::Event, TICKETED),
            2 => (Kind::Person, PEOPLE[0]),
            3 => (Kind::Attendance, HELD),
            4 => (Kind::Attendance, SWAPPED),
            5 => return Some(WriteOperation::Delete(self.any(Kind::Person))),
            _ => return None,
        };
        let known = self.of_kind(kind).first().copied().cloned();
        if let Some(at) = known {
            let patch = RawPatch::new(kind, object(fields));
            return Some(WriteOperation::Update(at, patch));
        }
        let mut draft = self.draft(kind, 3);
        draft.fields = object(fields);
        Some(WriteOperation::Create(draft))
    }

    fn work(&mut self) -> WriteOperation {
        match self.dice.below(16) {
            0..=3 => self.create(),
            4..=5 => self.update(),
            6 => self.delete(),
            7 => self.load(),
            8 if !self.known.merges.is_empty() && self.dice.one_in(2) => self.undo_merge(),
            8 => self.merge(),
            _ => self.help(),
        }
    }

    /// Returns when the request is received. Each request has a different time.
    fn moment(&self) -> Timestamp {
        let second = i64::try_from(self.known.steps).unwrap_or_default();
        Timestamp::from_micros(
            second
                .saturating_add(1_900_000_000)
                .saturating_mul(1_000_000),
        )
    }

    fn of_kind(&self, kind: Kind) -> Vec<&RecordAddress> {
        self.known
            .records
            .iter()
            .filter(|address| address.kind == kind)
            .collect()
    }

    /// Returns the address of a record of a kind: known, deleted, of another tenant, or
    /// nonexistent.
    fn any(&mut self, kind: Kind) -> RecordAddress {
        let foreign = self
            .foreign
            .records
            .iter()
            .find(|address| address.kind == kind)
            .cloned();
        let none = RecordAddress::without_parent(kind, uuid::Uuid::from_u128(7).into());
        match self.dice.below(12) {
            0 => none,
            1 => foreign.unwrap_or(none),
            _ => {
                let place = self.dice.below(self.of_kind(kind).len());
                self.of_kind(kind)
                    .get(place)
                    .copied()
                    .cloned()
                    .unwrap_or(none)
            }
        }
    }

    /// Returns the address of a record of any kind.
    pub(super) fn anything(&mut self) -> RecordAddress {
        let place = self.dice.below(self.known.records.len());
        self.known
            .records
            .get(place)
            .cloned()
            .unwrap_or_else(|| self.any(Kind::Person))
    }

    /// Returns a key that may match a record.
    pub(super) fn key(&mut self) -> LookupKey {
        let email = self
            .dice
            .one(&["ada@example.org", "bob@example.org", "new@example.org"])
            .unwrap_or_default();
        let name = self.dice.one(&["n0", "n1"]).unwrap_or_default().to_owned();
        let kind = if self.dice.one_in(2) {
            Kind::Person
        } else {
            Kind::Signature
        };
        let identifier = self.identifiers(kind, 1).pop();
        match (self.dice.below(3), identifier) {
            (0, _) | (_, None) => LookupKey::Email(email.to_owned()),
            (1, _) => LookupKey::Name(
                if self.dice.one_in(2) {
                    Kind::Tag
                } else {
                    Kind::List
                },
                name,
            ),
            (_, Some(identifier)) => LookupKey::Identifier(kind, identifier),
        }
    }

    fn identifiers(&mut self, kind: Kind, often: usize) -> Vec<Identifier> {
        if !self.dice.one_in(often) {
            return Vec::new();
        }
        let first = self.dice.below(4);
        let numbers = if self.dice.one_in(3) {
            vec![first, 4]
        } else {
            vec![first]
        };
        let text = numbers
            .into_iter()
            .map(|number| format!("{}:{number}", kind.singular()));
        text.filter_map(|text| Identifier::parse(&text)).collect()
    }

    /// Returns valid fields of a record.
    fn fields(&mut self, kind: Kind) -> Object {
        let bodies: &[&str] = match kind {
            Kind::Person => &PEOPLE,
            Kind::Tag | Kind::List => &[r#"{"name":"n0"}"#, r#"{"name":"n1"}"#, r#"{"name":"n2"}"#],
            Kind::Event => &[
                r#"{"type":"open","capacity":1}"#,
                r#"{"type":"open"}"#,
                TICKETED,
                r#"{"ticket_levels":[{"title":"A","amount":7,"currency":"EUR"}]}"#,
            ],
            Kind::FundraisingPage => &[r#"{"currency":"EUR"}"#, r#"{"currency":"USD"}"#, "{}"],
            Kind::Donation => &[
                r#"{"amount":5,"currency":"EUR"}"#,
                r#"{"amount":0.1,"currency":"USD"}"#,
                r#"{"amount":0.2}"#,
                r#"{"amount":3,"currency":"EUR","voided":true}"#,
            ],
            Kind::Attendance => &[
                "{}",
                r#"{"status":"accepted","attended":true}"#,
                r#"{"status":"declined"}"#,
                r#"{"tickets":[{"title":"A"}]}"#,
                r#"{"tickets":[{"title":"A","amount":1},{"title":"B"},{"title":"A"}]}"#,
                HELD,
                SWAPPED,
                r#"{"tickets":[{"title":"C"}]}"#,
            ],
            Kind::Question => &[
                r#"{"question_type":"SingleChoice","responses":[{"key":"a"},{"key":"b"}]}"#,
                r#"{"question_type":"Paragraph"}"#,
            ],
            Kind::Answer => &[
                r#"{"responses":["a"]}"#,
                r#"{"responses":["a","b"]}"#,
                r#"{"value":"yes"}"#,
            ],
            Kind::Message => &[r#"{"subject":"one"}"#, r#"{"subject":"two"}"#],
            _ => &[
                "{}",
                r#"{"origin_system":"here"}"#,
                r#"{"origin_system":"there"}"#,
            ],
        };
        object(self.dice.one(bodies).unwrap_or("{}"))
    }

    /// Returns a record to create, with a container of the right kind if its kind needs one.
    fn draft(&mut self, kind: Kind, often: usize) -> RawDraft {
        let mut draft = RawDraft::empty(kind);
        draft.fields = self.fields(kind);
        draft.identifiers = self.identifiers(kind, often);
        if kind == Kind::Attendance && self.dice.one_in(4) {
            draft.holders.extend(
                self.of_kind(Kind::Person)
                    .first()
                    .map(|person| (0, person.id.clone())),
            );
        }
        draft.apply_defaults(self.moment());
        for reference in kind
            .schema()
            .references()
            .iter()
            .filter(|reference| reference.is_link)
        {
            let needed = Some(reference.name) == kind.schema().parent || reference.name == "person";
            let set_by_the_rules = matches!(reference.name, "creator" | "modified_by");
            if !set_by_the_rules && (needed || self.dice.one_in(3)) {
                draft.links.push((reference.name, self.any(reference.kind)));
            }
        }
        draft
    }

    /// Returns a kind to create, or a kind that it needs and that has no record yet.
    fn kind(&mut self) -> Kind {
        let place = self.dice.below(self.kinds.len());
        let kind = self.kinds.get(place).copied().unwrap_or(Kind::Person);
        if kind.schema().has_operation(Operation::Create) {
            self.or_container(kind)
        } else {
            Kind::Person
        }
    }

    fn or_container(&self, kind: Kind) -> Kind {
        let parent = kind
            .schema()
            .parent_kind()
            .filter(|parent| self.of_kind(*parent).is_empty());
        let person = kind.schema().link("person").map(|_| Kind::Person);
        parent
            .or(person.filter(|_| self.of_kind(Kind::Person).is_empty()))
            .unwrap_or(kind)
    }

    fn create(&mut self) -> WriteOperation {
        let kind = self.kind();
        WriteOperation::Create(self.draft(kind, 3))
    }

    fn load(&mut self) -> WriteOperation {
        let kind = self.kind();
        let number = self.known.steps.saturating_add(1000) as u128;
        // Sometimes the id already exists.
        let id = if self.dice.one_in(8) {
            self.any(kind).id
        } else {
            uuid::Uuid::from_u128(number).into()
        };
        let created = Timestamp::from_micros(i64::try_from(self.known.steps).unwrap_or_default());
        let mut draft = self.draft(kind, 3);
        if kind == Kind::Message {
            draft
                .fields
                .insert("scheduled_start_date", Json::from("2031-01-01T00:00:00Z"));
        }
        draft.recorded_by =
            (kind == Kind::Answer && self.dice.one_in(2)).then(|| self.any(Kind::Submission));
        WriteOperation::Import(Box::new(ImportedRecord::new(id, created, draft)))
    }

    fn update(&mut self) -> WriteOperation {
        let at = self.anything();
        let kind = at.kind;
        let mut fields = if self.dice.one_in(3) {
            Object::new()
        } else {
            self.fields(kind)
        };
        if kind == Kind::Person && self.dice.one_in(4) {
            fields.insert("email_addresses", Json::Null);
        }
        let identifiers = self.dice.one_in(3).then(|| self.identifiers(kind, 1));
        let links = self.changed_links(kind);
        // A wrong parent makes the address invalid.
        // Requirements: COL-19.
        let parent = if self.dice.one_in(12) {
            Some(uuid::Uuid::from_u128(8).into())
        } else {
            at.parent
        };
        let mut patch = RawPatch::new(kind, fields);
        patch.identifiers = identifiers;
        patch.links = links;
        WriteOperation::Update(RecordAddress::new(at.kind, at.id, parent), patch)
    }

    /// Returns new targets of the links that an update may change. A link of a record that moves is
    /// not cleared.
    fn changed_links(&mut self, kind: Kind) -> Vec<(&'static str, Option<RecordAddress>)> {
        let mut links = Vec::new();
        for link in kind.schema().links {
            let LinkTarget::One {
                kind: to, update, ..
            } = link.target
            else {
                continue;
            };
            if update == LinkUpdate::Never || !self.dice.one_in(2) {
                continue;
            }
            let is_cleared = update == LinkUpdate::Change && self.dice.one_in(3);
            links.push((link.name, (!is_cleared).then(|| self.any(to))));
        }
        links
    }

    fn merge(&mut self) -> WriteOperation {
        let (remaining, merged) = (self.any(Kind::Person), self.any(Kind::Person));
        let mut request = MergeRequest::new(remaining, merged);
        request.is_preview = self.dice.one_in(4);
        if self.dice.one_in(4) {
            let mut patch = RawPatch::new(Kind::Person, object(r#"{"additional_name":"Merged"}"#));
            patch.identifiers = self
                .dice
                .one_in(2)
                .then(|| self.identifiers(Kind::Person, 1));
            request.patch = Some(patch);
        }
        if self.dice.one_in(8) {
            request.max_records = 1;
        }
        // Some merges can no longer be undone. Stores without merges get the same further requests.
        let is_short = self.known.steps.is_multiple_of(8);
        request.undo_for = Some(Duration::from_secs(if is_short { 0 } else { 86_400 }));
        request.key_name = Some("Key".to_owned());
        WriteOperation::Merge(Box::new(request))
    }

    /// Undoes the latest stored merge, any other one, or one of another person.
    fn undo_merge(&mut self) -> WriteOperation {
        let merges = &self.known.merges;
        let place = match self.dice.below(3) {
            0 => self.dice.below(merges.len()),
            _ => merges.len().saturating_sub(1),
        };
        let known = merges.get(place).cloned();
        let none = || uuid::Uuid::from_u128(7).into();
        let (mut remaining, merge) =
            known.unwrap_or_else(|| (RecordAddress::without_parent(Kind::Person, none()), none()));
        if self.dice.one_in(12) {
            remaining = self.any(Kind::Person);
        }
        WriteOperation::UndoMerge(UndoMergeRequest::new(remaining, merge))
    }

    fn delete(&mut self) -> WriteOperation {
        WriteOperation::Delete(self.anything())
    }

    fn help(&mut self) -> WriteOperation {
        let helpers: Vec<HelperName> = HelperName::ALL
            .iter()
            .copied()
            .filter(|helper| self.kinds.contains(&helper.recorded_kind()))
            .collect();
        let place = self.dice.below(helpers.len());
        let helper = helpers
            .get(place)
            .copied()
            .unwrap_or(HelperName::PersonSignup);
        if let Some(kind) = helper
            .container_kind()
            .filter(|kind| self.of_kind(*kind).is_empty())
        {
            return WriteOperation::Create(self.draft(kind, 3));
        }
        let mut plan = RawHelperRequest::empty(helper);
        plan.container = helper.container_kind().map(|kind| self.any(kind));
        if self.dice.one_in(4) {
            plan.atomicity = Atomicity::WholeCall;
        }
        if self.dice.one_in(8) {
            plan.merge = MergePolicy::KeepExisting;
        }
        let is_limited = ONE_ACTION_KINDS.contains(&helper.recorded_kind());
        plan.one_action_per_person = is_limited && self.dice.one_in(2);
        if helper == HelperName::Schedule {
            let (start, stop) = (self.moment(), self.dice.one_in(2).then_some(Timestamp::MAX));
            plan.schedule = Some(if self.dice.one_in(3) {
                ScheduleChange::Cancel
            } else {
                ScheduleChange::Set { start, stop }
            });
            return WriteOperation::Helper(Box::new(plan));
        }
        if helper.accepts_person() && (helper == HelperName::PersonSignup || !self.dice.one_in(4)) {
            let mut person = self.draft(Kind::Person, 3);
            person.own = self.own_id(Kind::Person);
            plan.person = Some(person);
        }
        if helper != HelperName::PersonSignup {
            let mut action = self.draft(helper.recorded_kind(), 2);
            action.own = self.own_id(helper.recorded_kind());
            let parent = helper.recorded_kind().schema().parent;
            action
                .links
                .retain(|(name, _)| Some(*name) != parent && *name != "person");
            action.links.extend(parent.zip(plan.container.clone()));
            if helper.accepts_person() && plan.person.is_none() && self.dice.one_in(2) {
                action.links.push(("person", self.any(Kind::Person)));
            }
            plan.action = Some(action);
        }
        plan.functions = self.functions();
        if helper.allows_anonymous() && self.dice.one_in(3) {
            let strangers = [
                AnonymousPolicy::new(),
                AnonymousPolicy::new().fill_empty(),
                AnonymousPolicy::new().without_matching(),
            ];
            let place = self.dice.below(strangers.len());
            if let Some(strangers) = strangers.get(place) {
                plan.anonymous = true;
                plan.merge = strangers.merge();
                strangers.restrict(&mut plan);
            }
        }
        WriteOperation::Helper(Box::new(plan))
    }

    /// Sometimes returns an own id: a known one, or one that no record has.
    fn own_id(&mut self, kind: Kind) -> Option<Id> {
        self.dice.one_in(8).then(|| self.any(kind).id)
    }

    fn functions(&mut self) -> ActionFunctions {
        let mut functions = ActionFunctions::default();
        for (kind, named) in [
            (Kind::Tag, &mut functions.tags),
            (Kind::List, &mut functions.lists),
        ] {
            if self.dice.one_in(3) {
                named.push(GroupRef::Name(
                    self.dice.one(&["n0", "n1"]).unwrap_or_default().to_owned(),
                ));
            }
            if self.dice.one_in(4) {
                named.push(GroupRef::Address(if self.dice.one_in(4) {
                    None
                } else {
                    Some(self.any(kind).id)
                }));
            }
        }
        for place in 0..self.dice.below(3) {
            let question = match (
                self.dice.below(4),
                self.identifiers(Kind::Question, 1).pop(),
            ) {
                (0, _) => QuestionRef::Unknown,
                (1, Some(identifier)) => QuestionRef::Identifier(identifier),
                _ => QuestionRef::Id(self.any(Kind::Question).id),
            };
            let is_choice = self.dice.one_in(2);
            let responses = if is_choice {
                vec!["a".to_owned()]
            } else {
                Vec::new()
            };
            let path = PropertyPath::member("add_questions_responses_uri").push_index(place);
            let mut response = AnswerInput::new(question, responses, path);
            response.value = (!is_choice).then(|| "yes".to_owned());
            functions.responses.push(response);
        }
        if self.dice.one_in(6) {
            let autoresponse = Trigger::default().enabled(true);
            functions.triggers = Some(Triggers::default().autoresponse(autoresponse));
        }
        functions
    }
}

/// Reads a JSON object. An invalid text is an empty object.
pub(super) fn object(text: &str) -> Object {
    match Json::read_kept(text.as_bytes()) {
        Some(Json::Object(object)) => object,
        _ => Object::new(),
    }
}
