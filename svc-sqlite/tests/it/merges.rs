//! Merges of two people, in the file and in memory: what moves, what remains, and what the old address
//! finds.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::{Value, json};
use svc_core::{
    Context, ErrorCode, ListRequest, Result, Tenant,
    auth::Caller,
    backend::{ChangeFeed, ChangeKind, FeedPage, FeedRequest, FeedResponse},
    helper::{HelperName, Trigger, Triggers},
    link::{RecordAddress, Scope},
    model::Kind,
    page::PageRequest,
    raw::{RawDraft, RawHelperRequest, RawPatch, RawRecord},
    read::{Json, Object},
    store::{
        LookupKey, MergeOutcome, MergeRequest, Precondition, ResponseRecorder, Store,
        WriteOperation, WriteOutcome, WriteRequest,
    },
    value::{Id, Identifier, Timestamp},
};
use svc_sqlite::{SqliteOptions, SqliteStore};
use svc_store::{
    memory::MemoryStore,
    transfer::{ExportBatch, ExportPosition},
};

/// A store with one tenant.
pub(crate) struct World {
    pub(crate) store: Arc<dyn Store>,
    feed: Arc<dyn ChangeFeed>,
    tenant: Tenant,
    /// The namespace of the server's own identifiers.
    namespace: &'static str,
}

pub(crate) fn file(folder: &tempfile::TempDir) -> SqliteStore {
    let options = SqliteOptions::new(folder.path().join("data.db")).relaxed_durability();
    SqliteStore::open(options).unwrap()
}

/// Runs a check on the store in memory and on a file.
pub(crate) async fn each(check: impl AsyncFn(World)) {
    let memory = Arc::new(MemoryStore::new());
    check(World::new(memory, Tenant::new("one"))).await;
    let folder = tempfile::tempdir().unwrap();
    let file = file(&folder);
    let tenant = file.ensure_tenant("one").await.unwrap();
    check(World::new(Arc::new(file), tenant)).await;
}

fn object(json: &Value) -> Object {
    match Json::read_kept(json.to_string().as_bytes()) {
        Some(Json::Object(object)) => object,
        other => panic!("{other:?}"),
    }
}

fn identifiers(fields: &mut Object) -> Option<Vec<Identifier>> {
    let Some(Json::Array(all)) = fields.remove("identifiers") else {
        return None;
    };
    let texts = all.iter().filter_map(Json::as_str);
    Some(texts.filter_map(Identifier::parse).collect())
}

fn draft(kind: Kind, fields: &Value, links: &[(&'static str, &RecordAddress)]) -> RawDraft {
    let mut draft = RawDraft::empty(kind).with_fields(object(fields));
    draft.identifiers = identifiers(&mut draft.fields).unwrap_or_default();
    let links = links.iter().map(|(name, to)| (*name, (*to).clone()));
    draft.links = links.collect();
    assert_eq!(draft.apply_defaults(Timestamp::from_micros(0)), []);
    draft
}

fn patch(kind: Kind, fields: &Value) -> RawPatch {
    let mut patch = RawPatch::new(kind, object(fields));
    patch.identifiers = identifiers(&mut patch.fields);
    patch
}

pub(crate) fn with_email(name: &str, address: &str) -> Value {
    json!({"given_name": name, "email_addresses": [{"address": address}]})
}

/// Returns the request of a helper for a signature of the person with an e-mail address of Eve.
pub(crate) fn signature_of_eve(petition: &RecordAddress) -> RawHelperRequest {
    let links = [("petition", petition)];
    let mut plan = RawHelperRequest::empty(HelperName::RecordSignature);
    plan.container = Some(petition.clone());
    plan.person = Some(draft(Kind::Person, &with_email("Eve", "eve@x.org"), &[]));
    plan.action = Some(draft(Kind::Signature, &json!({}), &links));
    plan
}

/// Returns the codes of a rejection with their properties.
pub(crate) fn codes<T: std::fmt::Debug>(result: Result<T>) -> Vec<(ErrorCode, Vec<String>)> {
    let problems = result.unwrap_err().into_problems().unwrap();
    let property = |it: &svc_core::Problem| it.properties.iter().map(ToString::to_string).collect();
    problems.iter().map(|it| (it.code, property(it))).collect()
}

fn merge_of(remaining: &RecordAddress, merged: &RecordAddress) -> MergeRequest {
    MergeRequest::new(remaining.clone(), merged.clone())
}

fn refused(code: ErrorCode) -> Vec<(ErrorCode, Vec<String>)> {
    let property = "_links.person".to_owned();
    vec![(code, vec![property])]
}

impl World {
    pub(crate) fn new<S: Store + ChangeFeed>(store: Arc<S>, tenant: Tenant) -> Self {
        Self {
            store: Arc::clone(&store) as Arc<dyn Store>,
            feed: store,
            tenant,
            namespace: "ns",
        }
    }

    pub(crate) fn cx(&self) -> Context {
        Context::new(self.tenant.clone(), Caller::anonymous(), Timestamp::MAX)
    }

    pub(crate) async fn write(&self, operation: WriteOperation) -> Result<WriteOutcome> {
        self.write_with(operation, |call| call).await
    }

    pub(crate) async fn write_with(
        &self,
        operation: WriteOperation,
        with: impl FnOnce(WriteRequest) -> WriteRequest,
    ) -> Result<WriteOutcome> {
        let mut call = WriteRequest::received_at(Timestamp::from_micros(1), operation);
        call.namespace = self.namespace.into();
        self.store.write(&self.cx(), with(call)).await
    }

    pub(crate) async fn make(
        &self,
        kind: Kind,
        fields: Value,
        links: &[(&'static str, &RecordAddress)],
    ) -> RecordAddress {
        let operation = WriteOperation::Create(draft(kind, &fields, links));
        match self.write(operation).await {
            Ok(WriteOutcome::Created { record, .. }) => record.address(),
            other => panic!("{kind:?}: {other:?}"),
        }
    }

    pub(crate) async fn person(&self, fields: Value) -> RecordAddress {
        self.make(Kind::Person, fields, &[]).await
    }

    pub(crate) async fn people<const N: usize>(&self, names: [&str; N]) -> [RecordAddress; N] {
        let mut people = Vec::new();
        for name in names {
            people.push(self.person(json!({"given_name": name})).await);
        }
        people.try_into().unwrap()
    }

    /// Creates two people with e-mail addresses.
    pub(crate) async fn ada_and_eve(&self) -> [RecordAddress; 2] {
        [
            self.person(with_email("Ada", "ada@x.org")).await,
            self.person(with_email("Eve", "eve@x.org")).await,
        ]
    }

    pub(crate) async fn petition(&self) -> RecordAddress {
        self.make(Kind::Petition, json!({}), &[]).await
    }

    pub(crate) async fn sign(
        &self,
        petition: &RecordAddress,
        person: &RecordAddress,
    ) -> RecordAddress {
        let links = [("petition", petition), ("person", person)];
        self.make(Kind::Signature, json!({}), &links).await
    }

    pub(crate) async fn update(&self, at: &RecordAddress, fields: Value) -> Result<WriteOutcome> {
        let patch = patch(at.kind, &fields);
        self.write(WriteOperation::Update(at.clone(), patch)).await
    }

    pub(crate) async fn delete(&self, at: &RecordAddress) -> Result<WriteOutcome> {
        self.write(WriteOperation::Delete(at.clone())).await
    }

    pub(crate) async fn merge(&self, request: MergeRequest) -> Result<MergeOutcome> {
        match self.write(WriteOperation::Merge(Box::new(request))).await? {
            WriteOutcome::Merged(outcome) => Ok(*outcome),
            other => panic!("{other:?}"),
        }
    }

    /// Merges the second person into the first one.
    pub(crate) async fn merged(
        &self,
        remaining: &RecordAddress,
        merged: &RecordAddress,
    ) -> MergeOutcome {
        let request = merge_of(remaining, merged);
        self.merge(request).await.unwrap()
    }

    pub(crate) async fn get(&self, at: &RecordAddress) -> Option<RawRecord> {
        self.store.get(&self.cx(), at).await.unwrap()
    }

    pub(crate) async fn fields(&self, at: &RecordAddress) -> Value {
        let record = self.get(at).await.unwrap_or_else(|| panic!("{at:?}"));
        let fields = record.to_fields(&svc_core::link::ShareNames::default());
        serde_json::from_slice(&Json::Object(fields.unwrap()).to_vec()).unwrap()
    }

    pub(crate) async fn find(&self, key: LookupKey) -> Option<RecordAddress> {
        let found = self.store.find(&self.cx(), &key).await.unwrap();
        found.map(|record| record.address())
    }

    pub(crate) async fn forwarded(&self, at: &RecordAddress) -> Option<Id> {
        self.store
            .forwarded_person(&self.cx(), &at.id)
            .await
            .unwrap()
    }

    /// Returns the addresses in a collection.
    pub(crate) async fn list(
        &self,
        kind: Kind,
        under: Option<&RecordAddress>,
    ) -> Vec<RecordAddress> {
        let scope = under.map_or(Scope::All, |at| Scope::Under(at.clone()));
        let request = ListRequest::new(scope, PageRequest::new(1, 100));
        let page = self.store.list(&self.cx(), kind, &request).await.unwrap();
        assert_eq!(page.total, page.records.len() as u64);
        page.records.iter().map(RawRecord::address).collect()
    }

    pub(crate) async fn computed(&self, at: &RecordAddress, name: &str) -> String {
        let record = self.get(at).await.unwrap();
        let all: BTreeMap<_, _> = record.computed().iter().cloned().collect();
        format!("{:?}", all[name])
    }

    /// Returns the page of the feed after a cursor.
    pub(crate) async fn feed_page(&self, after: Option<String>) -> FeedPage {
        let request = FeedRequest::new(after, Kind::ALL.to_vec(), 100);
        match self.feed.read(&self.cx(), &request).await.unwrap() {
            FeedResponse::Page(page) => page,
            other => panic!("{other:?}"),
        }
    }

    /// Returns the feed entries after a cursor, and the next cursor.
    pub(crate) async fn feed(
        &self,
        after: Option<String>,
    ) -> (Vec<(ChangeKind, RecordAddress)>, String) {
        let page = self.feed_page(after).await;
        let entries = page.entries.into_iter();
        let entries = entries.map(|entry| (entry.change.change, entry.change.address));
        (entries.collect(), page.next_cursor)
    }

    /// Returns the deleted records of the whole feed that name the record they were merged into, with that
    /// record.
    pub(crate) async fn merged_into(&self) -> Vec<(RecordAddress, RecordAddress)> {
        let page = self.feed_page(None).await;
        assert!(!page.has_more);
        let mut pointers = Vec::new();
        for change in page.entries.into_iter().map(|entry| entry.change) {
            if let Some(into) = change.merged_into {
                assert_eq!(change.change, ChangeKind::Deleted);
                pointers.push((change.address, into));
            }
        }
        pointers
    }

    /// Returns everything that a client can read of these records, for comparisons.
    pub(crate) async fn snapshot(&self, all: &[&RecordAddress]) -> Vec<String> {
        let mut texts = Vec::new();
        for at in all {
            let record = self.get(at).await;
            let fields = record.as_ref().map(|it| it.wire_fields().to_vec());
            texts.push(format!("{record:?} {fields:?}"));
        }
        texts
    }
}

/// S1: the stricter status of each address remains, and all identifiers find the remaining person.
#[tokio::test]
async fn addresses_have_the_stricter_status() {
    each(async |world| {
        let one = world
            .person(json!({"given_name": "Ada", "identifiers": ["crm:1"],
                "email_addresses": [{"address": "ada@x.org", "status": "subscribed"}]}))
            .await;
        let other = world
            .person(json!({"identifiers": ["shop:2"], "email_addresses": [
                {"address": "ADA@x.org", "status": "unsubscribed"}, {"address": "a@y.org", "status": "subscribed"}]}))
            .await;
        let outcome = world.merged(&one, &other).await;
        assert!(!outcome.is_preview && !outcome.is_repeated);
        let own = format!("ns:{}", other.id);
        let record = world.get(&one).await.unwrap();
        let known: Vec<String> = record.meta().identifiers.to_vec().iter().map(ToString::to_string).collect();
        assert_eq!(known, ["crm:1", &own, "shop:2"]);
        assert_eq!(outcome.person.meta(), record.meta());
        for text in known {
            let identifier = Identifier::parse(&text).unwrap();
            let found = world.find(LookupKey::Identifier(Kind::Person, identifier)).await;
            assert_eq!(found.as_ref(), Some(&one), "{text}");
        }
        for address in ["ada@x.org", "a@y.org"] {
            assert_eq!(world.find(LookupKey::Email(address.into())).await.as_ref(), Some(&one));
        }
        let fields = world.fields(&one).await;
        let statuses: Vec<_> = fields["email_addresses"].as_array().unwrap().iter().map(|it| &it["status"]).collect();
        assert_eq!(statuses, ["unsubscribed", "subscribed"]);
        assert_eq!(outcome.tightened.len(), 1);
        assert_eq!(world.get(&other).await.map(|it| it.address()), None);
        assert_eq!(world.forwarded(&other).await.as_ref(), Some(&one.id));
        assert_eq!(world.list(Kind::Person, None).await, [one]);
    })
    .await;
}

/// S2: a person is on a list once, and the feed has the deleted records last.
#[tokio::test]
async fn memberships_are_folded() {
    each(async |world| {
        let [one, other] = world.ada_and_eve().await;
        let list = world.make(Kind::List, json!({"name": "L"}), &[]).await;
        let tags = [
            world.make(Kind::Tag, json!({"name": "T"}), &[]).await,
            world.make(Kind::Tag, json!({"name": "T2"}), &[]).await,
        ];
        let item = async |person, id: &str| {
            let fields = json!({"identifiers": [id]});
            world
                .make(Kind::Item, fields, &[("list", &list), ("person", person)])
                .await
        };
        let tagging = async |tag, person| {
            world
                .make(
                    Kind::Tagging,
                    json!({}),
                    &[("tag", tag), ("person", person)],
                )
                .await
        };
        let items = [item(&one, "i:1").await, item(&other, "i:2").await];
        let alone = tagging(&tags[0], &other).await;
        // Here the merged person has the older one.
        let both = [
            tagging(&tags[1], &other).await,
            tagging(&tags[1], &one).await,
        ];
        let (_, cursor) = world.feed(None).await;
        let outcome = world.merged(&one, &other).await;
        assert_eq!(outcome.moved, [(Kind::Tagging, 1)]);
        assert_eq!(outcome.folded.len(), 2);
        assert_eq!(
            world.list(Kind::Item, Some(&list)).await,
            [items[0].clone()]
        );
        assert_eq!(world.computed(&list, "total_items").await, "Count(1)");
        let identifiers = world
            .get(&items[0])
            .await
            .unwrap()
            .meta()
            .identifiers
            .to_vec();
        assert_eq!(identifiers.len(), 2);
        for identifier in identifiers {
            let found = world
                .find(LookupKey::Identifier(Kind::Item, identifier))
                .await;
            assert_eq!(found.as_ref(), Some(&items[0]));
        }
        assert_eq!(
            world.list(Kind::Tagging, Some(&one)).await,
            [alone.clone(), both[0].clone()]
        );
        assert_eq!(world.list(Kind::Item, Some(&one)).await, [items[0].clone()]);
        let (entries, _) = world.feed(Some(cursor)).await;
        assert_eq!(
            entries,
            [
                (ChangeKind::Changed, one.clone()),
                (ChangeKind::Changed, alone),
                (ChangeKind::Deleted, both[1].clone()),
                (ChangeKind::Changed, both[0].clone()),
                (ChangeKind::Deleted, items[1].clone()),
                (ChangeKind::Changed, items[0].clone()),
                (ChangeKind::Deleted, other.clone()),
            ]
        );
        // Of folded records, only the deleted person is merged.
        assert_eq!(world.merged_into().await, [(other, one)]);
    })
    .await;
}

/// The entry of a merged person names the person that remains, also after a second merge. The entry of a
/// canvass that moved names its new address. The names are removed when that person is deleted.
#[tokio::test]
async fn the_feed_names_the_remaining_person() {
    each(async |world| {
        let [a, b, c, d] = &world.people(["A", "B", "C", "D"]).await;
        let links = [("target", c), ("canvasser", d)];
        let canvass = world.make(Kind::Canvass, json!({}), &links).await;
        let below = |person: &RecordAddress| {
            let parent = Some(person.id.clone());
            RecordAddress::new(Kind::Canvass, canvass.id.clone(), parent)
        };
        assert_eq!(canvass, below(c));
        world.merged(b, c).await;
        let pointers = [(below(c), below(b)), (c.clone(), b.clone())];
        assert_eq!(world.merged_into().await, pointers);
        world.merged(a, b).await;
        let pointers = [
            (below(c), below(a)),
            (c.clone(), a.clone()),
            (below(b), below(a)),
            (b.clone(), a.clone()),
        ];
        assert_eq!(world.merged_into().await, pointers);
        // A person that was not merged has no name in its entry.
        world.delete(d).await.unwrap();
        assert_eq!(world.merged_into().await, pointers);
        let (before, _) = world.feed(None).await;
        world.delete(&below(a)).await.unwrap();
        world.delete(a).await.unwrap();
        assert_eq!(world.merged_into().await, []);
        let (after, _) = world.feed(None).await;
        assert_eq!(after[..before.len()], before);
    })
    .await;
}

/// S3: the totals of an event stay the same, tickets name the remaining person, and a deletion of that
/// person leaves no name.
#[tokio::test]
async fn tickets_name_the_remaining_person() {
    each(async |world| {
        let [one, other] = world.ada_and_eve().await;
        let event = json!({"type": "ticketed", "capacity": 3,
            "ticket_levels": [{"title": "A", "amount": 5, "currency": "EUR", "limit": 3}]});
        let event = world.make(Kind::Event, event, &[]).await;
        let ticket = |name: &str, address: &str| {
            json!({"title": "A", "person": {"given_name": name, "email_addresses": [{"address": address}]}})
        };
        let buys = async |person: &RecordAddress, tickets: Vec<Value>| {
            let links = [("event", &event), ("person", person)];
            world.make(Kind::Attendance, json!({"tickets": tickets}), &links).await
        };
        let first = buys(&one, vec![ticket("Ada", "ada@x.org")]).await;
        let second = buys(&other, vec![ticket("Ada", "ada@x.org"), ticket("Eve", "eve@x.org")]).await;
        let totals = async || (world.computed(&event, "total_tickets").await, world.computed(&event, "total_amount").await);
        let before = totals().await;
        let outcome = world.merged(&one, &other).await;
        assert_eq!(outcome.moved, [(Kind::Attendance, 1)]);
        assert_eq!(totals().await, before);
        let own = json!(format!("ns:{}", one.id));
        let fields = world.fields(&second).await;
        for ticket in fields["tickets"].as_array().unwrap() {
            assert_eq!(ticket["person"]["identifiers"][0], own, "{fields}");
        }
        assert_eq!(world.list(Kind::Attendance, Some(&one)).await, [first.clone(), second.clone()]);
        world.delete(&one).await.unwrap();
        assert_eq!(totals().await, before);
        for attendance in [&first, &second] {
            let fields = world.fields(attendance).await.to_string();
            assert!(!fields.contains("ns:") && !fields.contains("x.org"), "{fields}");
        }
        assert_eq!((world.forwarded(&other).await, world.get(&one).await.map(|_| ())), (None, None));
    })
    .await;
}

/// S4: what is recorded for the merged person belongs to the remaining one, before and after the merge.
#[tokio::test]
async fn the_old_address_means_the_remaining_person() {
    each(async |world| {
        let [one, other] = world.ada_and_eve().await;
        let petition = world.petition().await;
        let by_email = async || {
            let operation = WriteOperation::Helper(Box::new(signature_of_eve(&petition)));
            world.write(operation).await.unwrap()
        };
        by_email().await;
        world.merged(&one, &other).await;
        by_email().await;
        world.sign(&petition, &other).await;
        assert_eq!(world.list(Kind::Signature, Some(&one)).await.len(), 3);
        assert_eq!(
            world.computed(&petition, "total_signatures").await,
            "Count(3)"
        );
        assert_eq!(
            world.list(Kind::Person, None).await,
            std::slice::from_ref(&one)
        );
        // An own identifier in a body.
        let mut plan = RawHelperRequest::empty(HelperName::PersonSignup);
        let mut posted = draft(Kind::Person, &json!({"family_name": "King"}), &[]);
        posted.own = Some(other.id.clone());
        plan.person = Some(posted);
        world
            .write(WriteOperation::Helper(Box::new(plan)))
            .await
            .unwrap();
        assert_eq!(world.fields(&one).await["family_name"], "King");
        // Changes at the old address are rejected.
        let merged = vec![(ErrorCode::PersonMerged, Vec::new())];
        assert_eq!(
            codes(world.update(&other, json!({"given_name": "X"})).await),
            merged
        );
        assert_eq!(codes(world.delete(&other).await), merged);
        let request = merge_of(&other, &one);
        assert_eq!(
            codes(world.merge(request).await),
            merged,
            "a crossing merge"
        );
        assert_eq!(world.fields(&one).await["given_name"], "Eve");
    })
    .await;
}

/// Every kind moves, and only links to the actions of the person set a new date.
#[tokio::test]
async fn every_kind_moves() {
    each(async |world| {
        let [one, other] = world.ada_and_eve().await;
        let third = world.person(json!({"given_name": "Kim"})).await;
        let creator = [("creator", &other)];
        let petition = world.make(Kind::Petition, json!({}), &creator).await;
        let form = world.make(Kind::Form, json!({}), &[]).await;
        let page = world.make(Kind::FundraisingPage, json!({}), &[]).await;
        let campaign = world.make(Kind::AdvocacyCampaign, json!({}), &[]).await;
        let event = world
            .make(
                Kind::Event,
                json!({"type": "open"}),
                &[("organizer", &other)],
            )
            .await;
        let question = json!({"question_type": "SingleChoice", "responses": [{"key": "a"}]});
        let question = world.make(Kind::Question, question, &[]).await;
        let tag = world.make(Kind::Tag, json!({"name": "T"}), &[]).await;
        let list = world.make(Kind::List, json!({"name": "L"}), &[]).await;
        let of = async |kind, container: (&'static str, &RecordAddress), fields| {
            world
                .make(kind, fields, &[container, ("person", &other)])
                .await
        };
        let actions = [
            of(Kind::Signature, ("petition", &petition), json!({})).await,
            of(Kind::Submission, ("form", &form), json!({})).await,
            of(
                Kind::Donation,
                ("fundraising_page", &page),
                json!({"amount": 5, "currency": "EUR"}),
            )
            .await,
            of(Kind::Outreach, ("advocacy_campaign", &campaign), json!({})).await,
            of(Kind::Attendance, ("event", &event), json!({})).await,
            of(
                Kind::Answer,
                ("question", &question),
                json!({"responses": ["a"]}),
            )
            .await,
            of(Kind::Tagging, ("tag", &tag), json!({})).await,
            of(Kind::Item, ("list", &list), json!({})).await,
        ];
        let canvasses = [
            world
                .make(
                    Kind::Canvass,
                    json!({}),
                    &[("target", &third), ("canvasser", &other)],
                )
                .await,
            world
                .make(
                    Kind::Canvass,
                    json!({}),
                    &[("target", &other), ("canvasser", &other)],
                )
                .await,
        ];
        let containers = [&petition, &event];
        let undated: Vec<_> = [world.get(&petition).await, world.get(&event).await]
            .into_iter()
            .flatten()
            .map(|it| it.meta().modified)
            .collect();
        let totals = world.computed(&page, "total_amount").await;
        let (_, cursor) = world.feed(None).await;
        let outcome = world.merged(&one, &other).await;
        assert_eq!(
            outcome.moved.iter().map(|(_, count)| *count).sum::<u64>(),
            12,
            "{:?}",
            outcome.moved
        );
        let (entries, _) = world.feed(Some(cursor)).await;
        for action in &actions {
            let record = world.get(action).await.unwrap();
            assert_eq!(record.link("person"), Some(&one), "{action:?}");
            assert!(
                world.list(action.kind, Some(&one)).await.contains(action),
                "{action:?}"
            );
            assert!(record.meta().modified > record.meta().created, "{action:?}");
            assert!(
                entries.contains(&(ChangeKind::Changed, action.clone())),
                "{action:?}"
            );
        }
        assert_eq!(
            world.get(&canvasses[0]).await.unwrap().link("canvasser"),
            Some(&one)
        );
        // The address of a canvass contains its target.
        assert!(world.get(&canvasses[1]).await.is_none());
        let now = world.list(Kind::Canvass, Some(&one)).await;
        assert_eq!((now.len(), &now[0].id), (1, &canvasses[1].id));
        let record = world.get(&now[0]).await.unwrap();
        assert_eq!(
            (record.link("target"), record.link("canvasser")),
            (Some(&one), Some(&one))
        );
        let place = |entry| entries.iter().position(|it| *it == entry);
        let (left, came) = (
            place((ChangeKind::Deleted, canvasses[1].clone())),
            place((ChangeKind::Changed, now[0].clone())),
        );
        assert!(left.is_some() && left < came, "{entries:?}");
        for (container, before) in containers.into_iter().zip(undated) {
            let record = world.get(container).await.unwrap();
            assert_eq!(record.meta().modified, before);
            assert!(!entries.iter().any(|(_, at)| at == container));
        }
        assert_eq!(
            world.get(&petition).await.unwrap().link("creator"),
            Some(&one)
        );
        assert_eq!(
            world.get(&event).await.unwrap().link("organizer"),
            Some(&one)
        );
        assert_eq!(world.computed(&page, "total_amount").await, totals);
        assert_eq!(entries.last(), Some(&(ChangeKind::Deleted, other)));
        assert_eq!(entries.first(), Some(&(ChangeKind::Changed, one)));
    })
    .await;
}

/// A preview has the outcome of the merge, and changes nothing.
#[tokio::test]
async fn a_preview_changes_nothing() {
    each(async |world| {
        let one = world
            .person(json!({"given_name": "Ada", "identifiers": ["crm:1"]}))
            .await;
        let other = world.person(with_email("Eve", "eve@x.org")).await;
        let petition = world.petition().await;
        let signature = world.sign(&petition, &other).await;
        let all = [&one, &other, &petition, &signature];
        let (before, (_, cursor)) = (world.snapshot(&all).await, world.feed(None).await);
        let mut request = merge_of(&one, &other);
        request.patch = Some(patch(Kind::Person, &json!({"family_name": "King"})));
        request.is_preview = true;
        let preview = world.merge(request.clone()).await.unwrap();
        assert!(preview.is_preview);
        assert_eq!(world.snapshot(&all).await, before);
        assert_eq!(world.feed(Some(cursor)).await.0, []);
        assert_eq!(world.forwarded(&other).await, None);
        request.is_preview = false;
        let merge = world.merge(request).await.unwrap();
        assert_eq!(merge.person.wire_fields(), preview.person.wire_fields());
        assert_eq!(
            (merge.moved, merge.overruled),
            (preview.moved, preview.overruled)
        );
        assert_eq!(world.fields(&one).await["family_name"], "King");
    })
    .await;
}

/// A repeated merge changes nothing. A merge that is not possible has its own code.
#[tokio::test]
async fn a_merge_that_is_not_possible_changes_nothing() {
    each(async |world| {
        let [one, other] = world.ada_and_eve().await;
        let third = world.person(json!({"given_name": "Kim"})).await;
        let none = RecordAddress::without_parent(Kind::Person, Id::from(7));
        let merge =
            async |to: &RecordAddress, from: &RecordAddress| world.merge(merge_of(to, from)).await;
        assert_eq!(
            codes(merge(&one, &one).await),
            refused(ErrorCode::MergeSamePerson)
        );
        assert_eq!(
            codes(merge(&one, &none).await),
            refused(ErrorCode::PersonNotFound)
        );
        assert!(merge(&none, &one).await.unwrap_err().is_not_found());
        let mut request = merge_of(&one, &other);
        request.merged_condition = Some(Precondition::new(true, |_| false));
        let failed = vec![(
            ErrorCode::PreconditionFailed,
            vec!["merged_etag".to_owned()],
        )];
        assert_eq!(codes(world.merge(request.clone()).await), failed);
        request.merged_condition = None;
        let fails = Precondition::new(true, |_| false);
        let operation = WriteOperation::Merge(Box::new(request));
        let failed = world
            .write_with(operation, |call| call.only_if(Some(&fails)))
            .await;
        assert!(failed.unwrap_err().is_precondition_failed());
        assert_eq!(world.list(Kind::Person, None).await.len(), 3);

        merge(&one, &other).await.unwrap();
        let before = world.snapshot(&[&one]).await;
        let (_, cursor) = world.feed(None).await;
        let again = merge(&one, &other).await.unwrap();
        assert!(again.is_repeated && again.moved.is_empty());
        assert_eq!(again.person.address(), one);
        assert_eq!(
            codes(merge(&third, &other).await),
            refused(ErrorCode::PersonMerged)
        );
        assert_eq!(world.snapshot(&[&one]).await, before);
        assert_eq!(world.feed(Some(cursor)).await.0, []);
    })
    .await;
}

/// Everyone who was merged into a merged person is found at the last person, until that one is deleted.
#[tokio::test]
async fn chains_end_at_the_last_person() {
    each(async |world| {
        let [a, b, c, d] = &world.people(["A", "B", "C", "D"]).await;
        world.merged(b, c).await;
        world.merged(b, d).await;
        world.merged(a, b).await;
        for merged in [b, c, d] {
            assert_eq!(world.forwarded(merged).await.as_ref(), Some(&a.id));
        }
        assert!(world.merged(a, c).await.is_repeated);
        let known = world.get(a).await.unwrap().meta().identifiers.to_vec();
        let own = [b, c, d].map(|at| format!("ns:{}", at.id));
        assert_eq!(
            known.iter().map(ToString::to_string).collect::<Vec<_>>(),
            own
        );
        let petition = world.petition().await;
        let sign = async || {
            let links = [("petition", &petition), ("person", d)];
            let operation = WriteOperation::Create(draft(Kind::Signature, &json!({}), &links));
            world.write(operation).await
        };
        sign().await.unwrap();
        assert_eq!(world.list(Kind::Signature, Some(a)).await.len(), 1);
        let signature = world.list(Kind::Signature, Some(a)).await;
        world.delete(&signature[0]).await.unwrap();
        world.delete(a).await.unwrap();
        for merged in [b, c, d] {
            assert_eq!(world.forwarded(merged).await, None);
        }
        assert_eq!(codes(sign().await), refused(ErrorCode::PersonNotFound));
        assert!(matches!(
            world.delete(b).await,
            Ok(WriteOutcome::Deleted(false))
        ));
    })
    .await;
}

/// A merge changes at most a number of records, or none.
#[tokio::test]
async fn a_merge_of_too_many_records_changes_nothing() {
    each(async |world| {
        let [one, other] = world.ada_and_eve().await;
        let petition = world
            .make(Kind::Petition, json!({}), &[("creator", &other)])
            .await;
        for _ in 0..3 {
            world.sign(&petition, &other).await;
        }
        let mut request = merge_of(&one, &other);
        request.max_records = 3;
        assert_eq!(
            codes(world.merge(request.clone()).await),
            refused(ErrorCode::MergeTooLarge)
        );
        assert_eq!(world.list(Kind::Signature, Some(&other)).await.len(), 3);
        let mut reverse = merge_of(&other, &one);
        reverse.max_records = 0;
        reverse.is_preview = true;
        world.merge(reverse).await.unwrap();
        request.max_records = 4;
        let outcome = world.merge(request).await.unwrap();
        assert_eq!(outcome.moved, [(Kind::Petition, 1), (Kind::Signature, 3)]);
        assert_eq!(world.list(Kind::Signature, Some(&one)).await.len(), 3);
    })
    .await;
}

/// Each record that names the merged person counts once: by several links, or by a link and by tickets. The
/// two people do not count.
#[tokio::test]
async fn the_limit_of_a_merge_counts_each_record_once() {
    each(async |world| {
        let one = world.person(with_email("Ada", "ada@x.org")).await;
        let other = world.person(with_email("Eve", "eve@x.org")).await;
        let by_other = [("creator", &other), ("organizer", &other)];
        let level = json!([{"title": "A", "amount": 5, "currency": "EUR", "limit": 9}]);
        let event = json!({"type": "ticketed", "capacity": 9, "ticket_levels": level});
        let event = world.make(Kind::Event, event, &by_other).await;
        let ticket = json!({"title": "A", "person": {"given_name": "Eve", "email_addresses": [{"address": "eve@x.org"}]}});
        for person in [&one, &other] {
            let links = [("event", &event), ("person", person)];
            let fields = json!({"tickets": [ticket, ticket]});
            world.make(Kind::Attendance, fields, &links).await;
        }
        for person in [&one, &other] {
            let changes = patch(Kind::Person, &json!({"employer": "Analytical Engines"}));
            let update = WriteOperation::Update(person.clone(), changes);
            let caller = other.id.clone();
            let updated = world.write_with(update, |mut call| {
                call.caller = Some(caller);
                call
            });
            updated.await.unwrap();
        }
        let mut request = MergeRequest::new(one.clone(), other.clone());
        request.is_preview = true;
        for (max_records, is_allowed) in [(0, false), (2, false), (3, true)] {
            request.max_records = max_records;
            let outcome = world.merge(request.clone()).await;
            if is_allowed {
                outcome.unwrap();
            } else {
                assert_eq!(codes(outcome), refused(ErrorCode::MergeTooLarge));
            }
        }
    })
    .await;
}

/// UND-26: stored responses and outbox entries of the merged person are those of the remaining person, and
/// are deleted with that one.
#[tokio::test]
async fn what_names_the_merged_person_is_deleted_with_the_remaining_one() {
    each(async |world| {
        let [one, other] = world.ada_and_eve().await;
        let petition = world.petition().await;
        let mut plan = signature_of_eve(&petition);
        plan.functions.triggers =
            Some(Triggers::default().autoresponse(Trigger::default().enabled(true)));
        let recorder = ResponseRecorder::new("key".into(), |_, _| Ok("stored".into()));
        let call = async || {
            let operation = WriteOperation::Helper(Box::new(plan.clone()));
            world
                .write_with(operation, |call| call.keeping(&recorder))
                .await
                .unwrap()
        };
        call().await;
        world.merged(&one, &other).await;
        let outbox = Arc::clone(&world.store).outbox().unwrap();
        let claimed = async |at: i64| {
            let (now, until) = (Timestamp::from_micros(at), Timestamp::from_micros(at + 1));
            outbox.claim_due(now, until, 10).await.unwrap().claims
        };
        let claims = claimed(10).await;
        let recipients: Vec<_> = claims
            .iter()
            .filter_map(|it| it.entry.recipient())
            .collect();
        assert_eq!(recipients, [&one.id]);
        assert!(matches!(call().await, WriteOutcome::Replayed(_)), "IDM-01");
        for signature in world.list(Kind::Signature, Some(&one)).await {
            world.delete(&signature).await.unwrap();
        }
        world.delete(&one).await.unwrap();
        assert!(claimed(20).await.is_empty());
        assert!(matches!(call().await, WriteOutcome::HelperDone(_)));
    })
    .await;
}

/// An export contains the ids of merged people.
#[tokio::test]
async fn an_export_has_the_ids_of_merged_people() {
    let folder = tempfile::tempdir().unwrap();
    let file = file(&folder);
    let tenant = file.ensure_tenant("one").await.unwrap();
    let world = World::new(Arc::new(file.clone()), tenant.clone());
    let [one, other] = world.ada_and_eve().await;
    world.merged(&one, &other).await;
    let (copy, mut from) = (MemoryStore::new(), Some(ExportPosition::start()));
    while let Some(position) = from {
        let ExportBatch { changes, next, .. } = file.export(&tenant, position, 100).unwrap();
        let time = copy.next_timestamp(&tenant);
        copy.commit(&tenant, time, &changes).unwrap();
        from = next;
    }
    let copy = World::new(Arc::new(copy), tenant);
    assert_eq!(copy.forwarded(&other).await, Some(one.id));
}

/// Two people who are merged into each other simultaneously become one person.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn crossing_merges_leave_one_person() {
    each(async |world| {
        for _ in 0..10 {
            let [one, other] = world.people(["Ada", "Eve"]).await;
            let merge = |to: &RecordAddress, from: &RecordAddress| world.merge(merge_of(to, from));
            let (here, there) = tokio::join!(merge(&one, &other), merge(&other, &one));
            assert_eq!(usize::from(here.is_ok()) + usize::from(there.is_ok()), 1);
            let refused = if here.is_ok() { there } else { here };
            assert_eq!(codes(refused), [(ErrorCode::PersonMerged, Vec::new())]);
            let remaining = [world.get(&one).await, world.get(&other).await];
            assert_eq!(remaining.iter().flatten().count(), 1);
        }
        assert_eq!(world.list(Kind::Person, None).await.len(), 10);
    })
    .await;
}
