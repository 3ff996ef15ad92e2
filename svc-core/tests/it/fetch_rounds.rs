//! How many rounds of lookups a rule needs from a store that can only return what was fetched.

use std::cell::Cell;

use serde_json::{Value, json};
use svc_core::auth::Caller;
use svc_core::context::{Context, Tenant};
use svc_core::helper::{
    ActionFunctions, AnswerInput, Atomicity, DefaultMatching, GroupRef, HelperName, MergePolicy,
    ONE_ACTION_KINDS, QuestionRef, ScheduleChange,
};
use svc_core::link::{RecordAddress, ShareNames};
use svc_core::model::Kind;
use svc_core::raw::{RawDraft, RawHelperRequest, RawPatch};
use svc_core::read::{Json, Object};
use svc_core::rules::{Decision, decide, initial_lookups_one_per_person};
use svc_core::store::{
    Change, IdSequence, InsertRecord, Lookup, LookupCache, LookupKey, LookupSource as _,
    MergeRequest, PendingChanges, RuleError, TransactionContext, UndoMergeRequest, WriteOperation,
    WriteOutcome, WriteRequest,
};
use svc_core::value::{Id, Identifier, Timestamp};
use svc_core::{ErrorCode, Result};
use svc_store::memory::MemoryStore;

/// A remote store that counts the rounds.
struct Remote {
    store: MemoryStore,
    tenant: Tenant,
    rounds: Cell<usize>,
    asked: Cell<usize>,
    /// The kinds of which a container has one record for each person.
    once: Cell<&'static [Kind]>,
}

impl Remote {
    fn new() -> Self {
        Self {
            store: MemoryStore::new(),
            tenant: Tenant::new("one"),
            rounds: Cell::new(0),
            asked: Cell::new(0),
            once: Cell::new(&[]),
        }
    }

    fn decide(&self, call: &WriteRequest) -> Result<Decision> {
        let decision = self.decide_after(call, &PendingChanges::default())?;
        Ok(decision.expect("no earlier changes"))
    }

    /// Returns the decision after the changes of earlier requests of the transaction. `None` if the
    /// store has to apply these changes first.
    fn decide_after(
        &self,
        call: &WriteRequest,
        before: &PendingChanges,
    ) -> Result<Option<Decision>> {
        let (ids, names, time) = (
            IdSequence::default(),
            ShareNames::default(),
            self.store.next_timestamp(&self.tenant),
        );
        let once = self.once.get();
        let turn =
            TransactionContext::new(time, &ids, &names, &DefaultMatching).one_per_person(once);
        let (mut fetched, mut wanted) = (
            LookupCache::default(),
            initial_lookups_one_per_person(call, &DefaultMatching, once),
        );
        self.rounds.set(0);
        self.asked.set(0);
        loop {
            if !wanted.is_empty() {
                self.rounds.set(self.rounds.get() + 1);
                self.asked.set(self.asked.get() + wanted.len());
            }
            self.store.fetch_into(&self.tenant, &wanted, &mut fetched);
            match decide(call, &turn, &mut fetched, before) {
                Err(RuleError::MissingLookups(more)) => {
                    assert!(self.rounds.get() < 20, "{more:?}");
                    wanted = more;
                }
                Err(RuleError::Failed(error)) => return Err(error),
                Err(RuleError::UnflushedChanges) => return Ok(None),
                Err(other) => panic!("{other}"),
                Ok(decision) => return Ok(Some(decision)),
            }
        }
    }

    /// Returns the outcome of a write request that may need this many rounds.
    fn call(&self, work: WriteOperation, rounds: usize) -> Result<WriteOutcome> {
        let what = format!("{work:?}");
        let call = call(&self.tenant, work);
        let time = self.store.next_timestamp(&self.tenant);
        let decision = self.decide(&call);
        assert!(
            self.rounds.get() <= rounds,
            "{} rounds, not {rounds}: {what}",
            self.rounds.get()
        );
        let Decision {
            changes, outcome, ..
        } = decision?;
        self.store.commit(&self.tenant, time, &changes)?;
        Ok(outcome.split_warnings().0)
    }

    fn make(
        &self,
        kind: Kind,
        fields: &Value,
        links: &[(&'static str, &RecordAddress)],
    ) -> RecordAddress {
        match self.call(WriteOperation::Create(draft(kind, fields, links)), 1) {
            Ok(WriteOutcome::Created { record, .. }) => record.address(),
            other => panic!("{kind:?}: {other:?}"),
        }
    }
}

fn object(json: &Value) -> Object {
    match Json::read_kept(json.to_string().as_bytes()) {
        Some(Json::Object(object)) => object,
        other => panic!("{other:?}"),
    }
}

/// Creates an anonymous write request at time zero.
fn call(tenant: &Tenant, work: WriteOperation) -> WriteRequest {
    let mut call = WriteRequest::new(
        &Context::new(
            tenant.clone(),
            Caller::anonymous(),
            Timestamp::from_micros(0),
        ),
        work,
    );
    call.reports_shared_addresses = true;
    call
}

fn draft(kind: Kind, fields: &Value, links: &[(&'static str, &RecordAddress)]) -> RawDraft {
    let mut draft = RawDraft::empty(kind).with_fields(object(fields));
    if let Some(Json::Array(identifiers)) = draft.fields.remove("identifiers") {
        draft.identifiers = identifiers
            .iter()
            .filter_map(Json::as_str)
            .filter_map(Identifier::parse)
            .collect();
    }
    draft.links = links
        .iter()
        .map(|(name, to)| (*name, (*to).clone()))
        .collect();
    assert_eq!(draft.apply_defaults(Timestamp::from_micros(0)), []);
    draft
}

/// The records that exist before a test.
struct World {
    remote: Remote,
    ada: RecordAddress,
    event: RecordAddress,
    tickets: RecordAddress,
    petition: RecordAddress,
    form: RecordAddress,
    page: RecordAddress,
    campaign: RecordAddress,
    message: RecordAddress,
    tag: RecordAddress,
    list: RecordAddress,
    question: RecordAddress,
}

fn world() -> World {
    let remote = Remote::new();
    let levels =
        json!([{"title": "A", "amount": 5, "currency": "EUR", "limit": 90}, {"title": "B"}]);
    let make = |kind, fields| remote.make(kind, &fields, &[]);
    World {
        ada: make(
            Kind::Person,
            json!({"given_name": "Ada", "identifiers": ["p:1"], "email_addresses": [{"address": "ada@example.org"}]}),
        ),
        event: make(Kind::Event, json!({"type": "open", "capacity": 90})),
        tickets: make(
            Kind::Event,
            json!({"type": "ticketed", "ticket_levels": levels}),
        ),
        petition: make(Kind::Petition, json!({})),
        form: make(Kind::Form, json!({})),
        page: make(Kind::FundraisingPage, json!({"currency": "EUR"})),
        campaign: make(Kind::AdvocacyCampaign, json!({})),
        message: make(Kind::Message, json!({})),
        tag: make(Kind::Tag, json!({"name": "t"})),
        list: make(Kind::List, json!({"name": "l"})),
        question: make(
            Kind::Question,
            json!({"identifiers": ["q:1"], "question_type": "SingleChoice", "responses": [{"key": "a"}]}),
        ),
        remote,
    }
}

impl World {
    /// Returns action functions with tags, lists and answers in every notation.
    fn functions(&self) -> ActionFunctions {
        let answer =
            |question, path: &str| AnswerInput::new(question, vec!["a".into()], path.into());
        let identifier = Identifier::parse("q:1").unwrap();
        let mut functions = ActionFunctions::default();
        functions.tags = vec![
            GroupRef::Name("t".into()),
            GroupRef::Address(Some(self.tag.id.clone())),
            GroupRef::Name("none".into()),
        ];
        functions.lists = vec![
            GroupRef::Name("l".into()),
            GroupRef::Address(Some(self.list.id.clone())),
            GroupRef::Address(None),
        ];
        functions.responses = vec![
            answer(QuestionRef::Id(self.question.id.clone()), "0"),
            answer(QuestionRef::Identifier(identifier), "1"),
            answer(QuestionRef::Unknown, "2"),
        ];
        functions
    }

    fn plan(&self, helper: HelperName, container: Option<&RecordAddress>) -> RawHelperRequest {
        let mut plan = RawHelperRequest::empty(helper);
        plan.container = container.cloned();
        plan.functions = self.functions();
        plan
    }
}

/// Returns no person, new people with and without an e-mail address, and a known one by identifier
/// and by e-mail address.
fn people() -> [Option<Value>; 5] {
    [
        None,
        Some(json!({"family_name": "Nobody"})),
        Some(json!({"given_name": "Eve", "email_addresses": [{"address": "eve@example.org"}]})),
        Some(json!({"identifiers": ["p:1", "p:2"], "source": "web"})),
        Some(
            json!({"email_addresses": [{"address": "ADA@example.org"}, {"address": "new@example.org"}], "source": "x"}),
        ),
    ]
}

/// Engine 3, law 5: each helper request needs one fetch, whatever its body has. A repeated request
/// finds what the first one recorded.
#[test]
fn a_helper_takes_one_fetch() {
    let world = world();
    let holder = json!({"given_name": "Kim", "email_addresses": [{"address": "kim@example.org"}]});
    let known =
        json!({"identifiers": ["p:1"], "email_addresses": [{"address": "ada@example.org"}]});
    let tickets =
        json!({"tickets": [{"title": "A", "person": holder}, {"title": "B", "person": known}]});
    let helpers = [
        (
            HelperName::RecordSignature,
            Some(&world.petition),
            json!({}),
        ),
        (HelperName::RecordSubmission, Some(&world.form), json!({})),
        (
            HelperName::RecordDonation,
            Some(&world.page),
            json!({"amount": 5, "currency": "EUR"}),
        ),
        (HelperName::RecordOutreach, Some(&world.campaign), json!({})),
        (
            HelperName::RecordAttendance,
            Some(&world.event),
            json!({"status": "accepted"}),
        ),
        (HelperName::RecordAttendance, Some(&world.tickets), tickets),
        (HelperName::RecordCanvass, Some(&world.ada), json!({})),
        (HelperName::PersonSignup, None, json!({})),
    ];
    for (number, (helper, container, fields)) in helpers.into_iter().enumerate() {
        for (place, person) in people().into_iter().enumerate() {
            for again in [false, true] {
                let mut plan = world.plan(helper, container);
                let kind = helper.recorded_kind();
                plan.one_action_per_person = ONE_ACTION_KINDS.contains(&kind) && number != 0;
                if helper.accepts_person() {
                    let person = person
                        .clone()
                        .or_else(|| container.is_none().then(|| json!({})));
                    plan.person = person.map(|person| draft(Kind::Person, &person, &[]));
                }
                if let Some((parent, container)) =
                    helper.recorded_kind().schema().parent.zip(container)
                {
                    let identifiers = if place > 1 {
                        vec![format!("a:{number}-{place}")]
                    } else {
                        Vec::new()
                    };
                    let mut fields = fields.clone();
                    fields["identifiers"] = json!(identifiers);
                    let mut links = vec![(parent, container)];
                    if plan.person.is_none() && helper.accepts_person() && again {
                        links.push(("person", &world.ada));
                    }
                    plan.action = Some(draft(helper.recorded_kind(), &fields, &links));
                }
                if place == 4 && helper.allows_anonymous() {
                    plan.anonymous = true;
                    plan.merge = MergePolicy::KeepExisting;
                }
                if place == 2 {
                    plan.atomicity = Atomicity::WholeCall;
                }
                match world.remote.call(WriteOperation::Helper(Box::new(plan)), 1) {
                    Ok(WriteOutcome::HelperDone(_)) => {}
                    Err(error) if place == 2 && error.is_invalid() => {}
                    other => panic!("{helper:?} {place}: {other:?}"),
                }
            }
        }
    }
}

/// The schedule helper.
#[test]
fn a_schedule_takes_one_fetch() {
    let world = world();
    let (start, late) = (Timestamp::from_micros(1), Timestamp::from_micros(2));
    let unknown = RecordAddress::without_parent(Kind::Message, Id::from(7));
    let bodies = [
        (ScheduleChange::Cancel, &world.message, false),
        (
            ScheduleChange::Set { start, stop: None },
            &world.message,
            true,
        ),
        (
            ScheduleChange::Set {
                start,
                stop: Some(late),
            },
            &world.message,
            true,
        ),
        (ScheduleChange::Cancel, &world.message, true),
        (ScheduleChange::Cancel, &unknown, false),
    ];
    for (schedule, message, is_done) in bodies {
        let mut plan = world.plan(HelperName::Schedule, Some(message));
        (plan.schedule, plan.functions) = (Some(schedule), ActionFunctions::default());
        assert_eq!(
            world
                .remote
                .call(WriteOperation::Helper(Box::new(plan)), 1)
                .is_ok(),
            is_done,
            "{schedule:?}"
        );
    }
}

#[test]
fn a_create_takes_one_fetch_an_update_one_and_a_delete_three() {
    let world = world();
    let (ada, one_of) = (&world.ada, |kind, fields, links: &[_]| {
        world.remote.make(kind, &fields, links)
    });
    let eve = one_of(
        Kind::Person,
        json!({"email_addresses": [{"address": "eve@example.org"}]}),
        &[],
    );
    let ticket = json!({"tickets": [{"title": "A", "person": {"email_addresses": [{"address": "eve@example.org"}]}}]});
    let made = [
        one_of(
            Kind::Signature,
            json!({"identifiers": ["s:1"]}),
            &[("petition", &world.petition), ("person", ada)],
        ),
        one_of(
            Kind::Donation,
            json!({"amount": 5}),
            &[("fundraising_page", &world.page), ("person", ada)],
        ),
        one_of(
            Kind::Attendance,
            json!({"attended": true}),
            &[("event", &world.event), ("person", ada)],
        ),
        one_of(
            Kind::Attendance,
            ticket.clone(),
            &[("event", &world.tickets), ("person", ada)],
        ),
        one_of(
            Kind::Answer,
            json!({"responses": ["a"]}),
            &[("question", &world.question), ("person", ada)],
        ),
        one_of(
            Kind::Tagging,
            json!({}),
            &[("tag", &world.tag), ("person", ada)],
        ),
        one_of(
            Kind::Item,
            json!({}),
            &[("list", &world.list), ("person", ada)],
        ),
        one_of(
            Kind::Submission,
            json!({}),
            &[("form", &world.form), ("person", ada)],
        ),
    ];
    let update = |at: &RecordAddress, fields: Value, identifiers: Option<&[&str]>| {
        let identifiers =
            identifiers.map(|them| them.iter().filter_map(|it| Identifier::parse(it)).collect());
        let mut patch = RawPatch::new(at.kind, object(&fields));
        patch.identifiers = identifiers;
        let outcome = world
            .remote
            .call(WriteOperation::Update(at.clone(), patch), 1);
        assert!(
            matches!(outcome, Ok(WriteOutcome::Updated(Some(_)))),
            "{:?}: {outcome:?}",
            at.kind
        );
    };
    let [signature, donation, attendance, ticketed, answer, ..] = &made;
    update(
        &eve,
        json!({"email_addresses": [{"address": "new@example.org"}]}),
        Some(&["p:9"]),
    );
    update(signature, json!({"comments": "Yes"}), Some(&["s:2"]));
    update(donation, json!({"amount": 7}), None);
    update(donation, json!({"voided": true}), None);
    update(attendance, json!({"status": "declined"}), None);
    update(ticketed, json!({"tickets": [{"title": "B"}]}), None);
    update(answer, json!({"value": "and more"}), None);
    update(answer, json!({"responses": ["a"], "value": null}), None);
    update(
        &world.tickets,
        json!({"ticket_levels": [{"title": "A"}, {"title": "B"}]}),
        None,
    );
    let question =
        json!({"question_type": "SingleChoice", "responses": [{"key": "a"}, {"key": "b"}]});
    update(&world.question, question, None);
    for (at, fields) in [
        (&world.question, json!({"responses": [{"key": "b"}]})),
        (&world.question, json!({"question_type": "MultiChoice"})),
        (&world.tickets, json!({"ticket_levels": [{"title": "A"}]})),
        (&world.tickets, json!({"type": "open"})),
    ] {
        let patch = RawPatch::new(at.kind, object(&fields));
        let refused = world
            .remote
            .call(WriteOperation::Update(at.clone(), patch), 2);
        let code = refused
            .err()
            .and_then(|error| Some(error.problems().first()?.code));
        assert_eq!(code, Some(ErrorCode::HasDependents), "{fields}");
    }
    update(&world.page, json!({"currency": "USD"}), None);
    update(&world.tag, json!({"name": "u"}), None);
    update(&world.list, json!({"origin_system": "x"}), None);
    let unknown = RecordAddress::without_parent(Kind::Person, Id::from(7));
    let delete = |at: &RecordAddress| world.remote.call(WriteOperation::Delete(at.clone()), 3);
    assert!(matches!(delete(&unknown), Ok(WriteOutcome::Deleted(false))));
    assert!(
        matches!(delete(&world.petition), Err(error) if error.is_invalid()),
        "UND-26"
    );
    for at in made.iter().chain([
        ada,
        &eve,
        &world.petition,
        &world.page,
        &world.tickets,
        &world.tag,
        &world.message,
    ]) {
        assert!(
            matches!(delete(at), Ok(WriteOutcome::Deleted(true))),
            "{at:?}"
        );
    }
}

/// CRU-16: a move to another person takes one fetch, and so does one to another page with its totals.
#[test]
fn a_move_takes_one_fetch() {
    let world = world();
    let (remote, ada) = (&world.remote, &world.ada);
    let eve = remote.make(Kind::Person, &json!({"given_name": "Eve"}), &[]);
    let page = remote.make(Kind::FundraisingPage, &json!({}), &[]);
    let unknown = RecordAddress::without_parent(Kind::Person, Id::from(7));
    let containers = [
        (Kind::Signature, "petition", &world.petition, json!({})),
        (Kind::Submission, "form", &world.form, json!({})),
        (
            Kind::Donation,
            "fundraising_page",
            &world.page,
            json!({"amount": 5}),
        ),
        (Kind::Attendance, "event", &world.event, json!({})),
        (
            Kind::Outreach,
            "advocacy_campaign",
            &world.campaign,
            json!({}),
        ),
        (
            Kind::Answer,
            "question",
            &world.question,
            json!({"responses": ["a"]}),
        ),
    ];
    for (kind, parent, container, fields) in containers {
        let at = remote.make(kind, &fields, &[(parent, container), ("person", ada)]);
        let change_in = |rounds, links: Vec<(&'static str, Option<RecordAddress>)>| {
            let mut patch = RawPatch::new(kind, Object::new());
            patch.links = links;
            remote.call(WriteOperation::Update(at.clone(), patch), rounds)
        };
        let change = |links| change_in(1, links);
        let moved = change(vec![("person", Some(eve.clone()))]);
        let Ok(WriteOutcome::Updated(Some(record))) = moved else {
            panic!("{kind:?}: {moved:?}");
        };
        assert_eq!(record.link("person"), Some(&eve));
        // A person who is not found can be a merged one.
        let refused = change_in(2, vec![("person", Some(unknown.clone()))]);
        assert!(
            refused.is_err_and(|error| error.is_invalid()),
            "CRU-16: {kind:?}"
        );
        if kind == Kind::Donation {
            let links = vec![
                ("person", Some(ada.clone())),
                ("fundraising_page", Some(page.clone())),
            ];
            assert!(change(links).is_ok());
        }
    }
}

/// CRU-16: a later request of one transaction sees the new targets of links, their totals and their
/// collections, although the store has to apply a move before it is asked.
#[test]
fn a_later_request_of_a_transaction_sees_a_move() {
    let world = world();
    let remote = &world.remote;
    let mut pending = PendingChanges::default();
    let mut unflushed = Vec::new();
    let mut decide = |work: WriteOperation| {
        let call = call(&remote.tenant, work);
        let decision = remote.decide_after(&call, &pending).unwrap();
        let decision = decision.unwrap_or_else(|| {
            let time = remote.store.next_timestamp(&remote.tenant);
            remote
                .store
                .commit(&remote.tenant, time, &unflushed)
                .unwrap();
            unflushed.clear();
            pending = PendingChanges::default();
            remote.decide(&call).unwrap()
        });
        pending.absorb(&decision.changes);
        unflushed.extend(decision.changes.clone());
        let record = decision.outcome.into_written().expect("a record").0;
        (record, decision.changes)
    };
    let mut make = |kind, fields: &Value, links: &[(&'static str, &RecordAddress)]| {
        decide(WriteOperation::Create(draft(kind, fields, links)))
            .0
            .address()
    };
    let eve = make(Kind::Person, &json!({"given_name": "Eve"}), &[]);
    let first = make(Kind::FundraisingPage, &json!({}), &[]);
    let page = make(Kind::FundraisingPage, &json!({}), &[]);
    let donation = make(
        Kind::Donation,
        &json!({"amount": 5, "currency": "EUR"}),
        &[("fundraising_page", &first), ("person", &world.ada)],
    );
    let answer = make(
        Kind::Answer,
        &json!({"responses": ["a"]}),
        &[("question", &world.question), ("person", &world.ada)],
    );
    let patch = |at: &RecordAddress, links: &[(&'static str, &RecordAddress)], fields: &Value| {
        let mut patch = RawPatch::new(at.kind, object(fields));
        let target = |(name, to): &(&'static str, &RecordAddress)| (*name, Some((*to).clone()));
        patch.links = links.iter().map(target).collect();
        WriteOperation::Update(at.clone(), patch)
    };
    let links = [("fundraising_page", &page), ("person", &eve)];
    decide(patch(&donation, &links, &json!({})));
    decide(patch(&answer, &[("person", &eve)], &json!({})));
    let (record, changes) = decide(patch(&donation, &links, &json!({})));
    assert_eq!(record.link("person"), Some(&eve));
    assert_eq!(record.link("fundraising_page"), Some(&page));
    assert!(changes.is_empty(), "CRU-19: {changes:?}");
    let (_, changes) = decide(patch(&donation, &[], &json!({"amount": 7})));
    let counted: Vec<String> = changes
        .iter()
        .filter_map(|change| match change {
            Change::SetTotals { of, sum } => Some(format!("{} {}", of.1 == page.id, sum.to_text())),
            _ => None,
        })
        .collect();
    assert_eq!(counted.len(), 1, "{counted:?}");
    assert!(counted[0].starts_with("true"), "{counted:?}");
    let (record, _) = decide(patch(&answer, &[], &json!({"value": "and more"})));
    assert_eq!(record.link("person"), Some(&eve));
}

/// UND-26: deleting a tag needs few lookups and few changes, however many taggings it has.
#[test]
fn a_tag_with_100_000_taggings_goes_in_a_few_changes() {
    let world = world();
    let (store, tenant) = (&world.remote.store, &world.remote.tenant);
    let one = world.remote.make(
        Kind::Tagging,
        &json!({}),
        &[("tag", &world.tag), ("person", &world.ada)],
    );
    let key = LookupKey::from(&one);
    let mut found = store.lookup_all(tenant, &[Lookup::Record(key.clone())]);
    let one = found.record(&key).unwrap().expect("a tagging");
    // In the form in which a store stores them, without validation.
    let taggings: Vec<Change> = (0..100_000_u128)
        .map(|number| {
            let id = uuid::Uuid::from_u128(number).into();
            let mut record = svc_core::raw::RawRecord::from_wire(
                Kind::Tagging,
                svc_core::record::Meta::new(id, Timestamp::from_micros(0)),
                one.record.wire_fields().to_vec(),
            );
            record.add_link("tag", world.tag.clone().into());
            Change::Insert(Box::new(InsertRecord::new(record)))
        })
        .collect();
    store
        .commit(tenant, store.next_timestamp(tenant), &taggings)
        .unwrap();
    let call = call(tenant, WriteOperation::Delete(world.tag.clone()));
    let decision = world.remote.decide(&call).unwrap();
    let asked = (world.remote.rounds.get(), world.remote.asked.get());
    assert!(asked.0 <= 3 && asked.1 <= 10, "{asked:?}");
    assert!(decision.changes.len() <= 10, "{:?}", decision.changes);
    store
        .commit(tenant, store.next_timestamp(tenant), &decision.changes)
        .unwrap();
    let mut left = store.lookup_all(tenant, &[Lookup::Find(key.clone())]);
    assert_eq!(left.find(&key).unwrap(), None);
}

/// A merge takes two fetches, whatever the two people have: the first one counts the records. Of kinds
/// with one record for each person, the older one remains, unless money would be lost.
#[test]
fn a_merge_takes_two_fetches() {
    let world = world();
    let (remote, ada) = (&world.remote, &world.ada);
    let person = |name: &str| remote.make(Kind::Person, &json!({"given_name": name}), &[]);
    let merge = |from: &RecordAddress, rounds| {
        let request = MergeRequest::new(ada.clone(), from.clone());
        match remote.call(WriteOperation::Merge(Box::new(request)), rounds) {
            Ok(WriteOutcome::Merged(outcome)) => Ok(outcome),
            Ok(other) => panic!("{other:?}"),
            Err(error) => Err(error),
        }
    };
    let has = |kind, container: (&'static str, &RecordAddress), of: &RecordAddress| {
        let fields = if kind == Kind::Donation {
            json!({"amount": 5, "currency": "EUR"})
        } else {
            json!({})
        };
        remote.make(kind, &fields, &[container, ("person", of)])
    };
    let eve = person("Eve");
    for of in [ada, &eve] {
        has(Kind::Tagging, ("tag", &world.tag), of);
        has(Kind::Item, ("list", &world.list), of);
    }
    has(Kind::Donation, ("fundraising_page", &world.page), &eve);
    let outcome = merge(&eve, 2).unwrap();
    assert_eq!(outcome.moved, [(Kind::Donation, 1)]);
    assert_eq!(outcome.folded.len(), 2);
    assert!(merge(&eve, 2).unwrap().is_repeated);

    let kim = person("Kim");
    let signatures = [
        has(Kind::Signature, ("petition", &world.petition), &kim),
        has(Kind::Signature, ("petition", &world.petition), ada),
    ];
    let attendances = [
        has(Kind::Attendance, ("event", &world.event), ada),
        has(Kind::Attendance, ("event", &world.event), &kim),
    ];
    remote
        .once
        .set(&[Kind::Signature, Kind::Attendance, Kind::Donation]);
    // The containers of the actions take a third one.
    let outcome = merge(&kim, 3).unwrap();
    assert_eq!(outcome.moved, []);
    let folded: Vec<_> = outcome
        .folded
        .iter()
        .map(|pair| (&pair.remaining, &pair.merged))
        .collect();
    assert_eq!(
        folded,
        [
            (&signatures[0], &signatures[1]),
            (&attendances[0], &attendances[1])
        ]
    );
    let key = LookupKey::from(&signatures[0]);
    let mut found = remote
        .store
        .lookup_all(&remote.tenant, &[Lookup::Record(key.clone())]);
    let record = found.record(&key).unwrap().unwrap().record;
    assert_eq!(record.link("person"), Some(ada));

    let lee = person("Lee");
    remote.once.set(&[]);
    has(Kind::Donation, ("fundraising_page", &world.page), &lee);
    remote.once.set(&[Kind::Donation]);
    let problems = merge(&lee, 2).unwrap_err().into_problems().unwrap();
    assert_eq!(problems[0].code, ErrorCode::MergeConflict);
}

/// MRG-20: an undo takes two fetches, whatever the merge has moved and folded. The capacity of an event
/// does not reject it.
#[test]
fn an_undo_takes_two_fetches() {
    let world = world();
    let (remote, ada) = (&world.remote, &world.ada);
    let eve = remote.make(Kind::Person, &json!({"given_name": "Eve"}), &[]);
    let make =
        |kind: Kind,
         fields: Value,
         container: (&'static str, &RecordAddress),
         of: &RecordAddress| { remote.make(kind, &fields, &[container, ("person", of)]) };
    let event = json!({"type": "open", "capacity": 2});
    let event = remote.make(Kind::Event, &event, &[]);
    let accepted = json!({"status": "accepted"});
    let all = [
        make(
            Kind::Signature,
            json!({"comments": "E"}),
            ("petition", &world.petition),
            &eve,
        ),
        make(
            Kind::Signature,
            json!({"comments": "A"}),
            ("petition", &world.petition),
            ada,
        ),
        make(Kind::Attendance, accepted.clone(), ("event", &event), ada),
        make(Kind::Attendance, accepted, ("event", &event), &eve),
        make(Kind::Tagging, json!({}), ("tag", &world.tag), ada),
        make(Kind::Tagging, json!({}), ("tag", &world.tag), &eve),
        make(
            Kind::Donation,
            json!({"amount": 5, "currency": "EUR"}),
            ("fundraising_page", &world.page),
            &eve,
        ),
        event.clone(),
        world.petition.clone(),
        world.tag.clone(),
        eve.clone(),
    ];
    let state = || -> Vec<String> {
        let keys = all.iter().map(LookupKey::from);
        let lookups: Vec<Lookup> = keys.map(Lookup::Record).collect();
        let mut found = remote.store.lookup_all(&remote.tenant, &lookups);
        let record = |at: &RecordAddress| {
            let record = found
                .record(&at.into())
                .unwrap()
                .map(|stored| stored.record);
            let record = record.map(|record| {
                let fields = String::from_utf8_lossy(record.wire_fields()).into_owned();
                let mut links: Vec<String> =
                    record.links().iter().map(|it| format!("{it:?}")).collect();
                links.sort_unstable();
                format!("{fields} {links:?} {:?}", record.computed())
            });
            format!("{at:?} {record:?}")
        };
        all.iter().map(record).collect()
    };
    let before = state();
    remote.once.set(&[Kind::Signature, Kind::Attendance]);
    let mut request = MergeRequest::new(ada.clone(), eve.clone());
    request.undo_for = Some(std::time::Duration::from_secs(60));
    let merge = remote
        .call(WriteOperation::Merge(Box::new(request)), 3)
        .unwrap();
    let WriteOutcome::Merged(merged) = merge else {
        panic!("{merge:?}")
    };
    assert_eq!(merged.folded.len(), 3);
    assert_ne!(state(), before);
    let resize = |capacity: u32| {
        let patch = RawPatch::new(Kind::Event, object(&json!({"capacity": capacity})));
        let update = WriteOperation::Update(event.clone(), patch);
        remote.call(update, 3).unwrap();
    };
    resize(1);
    let undo = UndoMergeRequest::new(ada.clone(), merged.undo.unwrap().id);
    let undo = WriteOperation::UndoMerge(undo);
    match remote.call(undo.clone(), 2).unwrap() {
        WriteOutcome::MergeUndone(undone) => {
            assert_eq!(undone.folded.len(), 3);
            assert_eq!(undone.moved, [(Kind::Donation, 1)]);
        }
        other => panic!("{other:?}"),
    }
    resize(2);
    for (before, after) in before.iter().zip(state()) {
        assert_eq!(*before, after);
    }
    assert!(remote.call(undo, 1).unwrap_err().is_not_found());
}

/// A merge of too many records is rejected after one fetch, which counts them and reads none of them.
#[test]
fn a_merge_of_too_many_records_reads_none_of_them() {
    let world = world();
    let remote = &world.remote;
    let eve = remote.make(Kind::Person, &json!({"given_name": "Eve"}), &[]);
    for _ in 0..3 {
        let links = [("petition", &world.petition), ("person", &eve)];
        remote.make(Kind::Signature, &json!({}), &links);
    }
    let mut request = MergeRequest::new(world.ada.clone(), eve);
    request.max_records = 2;
    let merge = |request: &MergeRequest, rounds| {
        remote.call(WriteOperation::Merge(Box::new(request.clone())), rounds)
    };
    let problems = merge(&request, 1).unwrap_err().into_problems().unwrap();
    assert_eq!(problems[0].code, ErrorCode::MergeTooLarge);
    assert_eq!(remote.asked.get(), 3, "two people and a number");
    request.max_records = 3;
    assert!(merge(&request, 2).is_ok());
}
