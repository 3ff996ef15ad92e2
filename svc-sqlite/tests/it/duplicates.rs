//! People who may be the same person, in the file and in memory.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use proptest::{
    prelude::*,
    test_runner::{Config, RngSeed, TestRunner},
};
use serde_json::{Value, json};
use svc_core::{
    Context, Result, Tenant,
    auth::Caller,
    duplicates::{Evidence, Strength, compare},
    link::{RecordAddress, ShareNames},
    model::Kind,
    raw::{RawDraft, RawPatch},
    read::{Json, Object},
    store::{
        ApartPeople, DuplicatesEntry, DuplicatesPage, DuplicatesRequest, DuplicatesResponse,
        MergeRequest, Store, WriteOperation, WriteOutcome, WriteRequest,
    },
    value::{Id, Timestamp},
};
use svc_sqlite::{SqliteOptions, SqliteStore};
use svc_store::{
    duplicates::HashedKey,
    lookup::hash_email,
    memory::MemoryStore,
    transfer::{ExportBatch, ExportPosition},
};

/// A store with one tenant.
struct World {
    store: Arc<dyn Store>,
    tenant: Tenant,
}

fn file(folder: &tempfile::TempDir) -> SqliteStore {
    let options = SqliteOptions::new(folder.path().join("data.db")).relaxed_durability();
    SqliteStore::open(options).unwrap()
}

/// Runs a check on the store in memory and on a file.
async fn each(check: impl AsyncFn(World)) {
    check(World::new(MemoryStore::new(), Tenant::new("one"))).await;
    let folder = tempfile::tempdir().unwrap();
    let file = file(&folder);
    let tenant = file.ensure_tenant("one").await.unwrap();
    check(World::new(file, tenant)).await;
}

fn object(json: &Value) -> Object {
    match Json::read_kept(json.to_string().as_bytes()) {
        Some(Json::Object(object)) => object,
        other => panic!("{other:?}"),
    }
}

fn with_email(name: &str, address: &str) -> Value {
    json!({"given_name": name, "family_name": "Lovelace", "email_addresses": [{"address": address}]})
}

/// A pair of people with its strength and score.
type Pair = (Id, Id, Strength, i32);

fn pairs(entries: &[DuplicatesEntry]) -> Vec<Pair> {
    let pair = |entry: &DuplicatesEntry| match entry {
        DuplicatesEntry::Pair(pair) => {
            let [older, younger] =
                [&pair.older, &pair.younger].map(|person| person.meta().id.clone());
            let comparison = &pair.comparison;
            Some((older, younger, comparison.strength, comparison.score))
        }
        DuplicatesEntry::Crowd { .. } => None,
    };
    entries.iter().filter_map(pair).collect()
}

fn crowds(entries: &[DuplicatesEntry]) -> Vec<(Evidence, u64)> {
    let crowd = |entry: &DuplicatesEntry| match entry {
        DuplicatesEntry::Crowd { evidence, people } => Some((*evidence, *people)),
        DuplicatesEntry::Pair(_) => None,
    };
    entries.iter().filter_map(crowd).collect()
}

impl World {
    fn new(store: impl Store, tenant: Tenant) -> Self {
        let store = Arc::new(store);
        assert!(store.finds_duplicates());
        Self { store, tenant }
    }

    fn cx(&self) -> Context {
        Context::new(self.tenant.clone(), Caller::anonymous(), Timestamp::MAX)
    }

    async fn write(&self, operation: WriteOperation) -> Result<WriteOutcome> {
        let mut call = WriteRequest::received_at(Timestamp::from_micros(1), operation);
        call.namespace = "ns".into();
        self.store.write(&self.cx(), call).await
    }

    async fn person(&self, fields: &Value) -> RecordAddress {
        let mut draft = RawDraft::empty(Kind::Person).with_fields(object(fields));
        assert_eq!(draft.apply_defaults(Timestamp::from_micros(0)), []);
        match self.write(WriteOperation::Create(draft)).await {
            Ok(WriteOutcome::Created { record, .. }) => record.address(),
            other => panic!("{other:?}"),
        }
    }

    async fn update(&self, at: &RecordAddress, fields: &Value) {
        let patch = RawPatch::new(Kind::Person, object(fields));
        let update = WriteOperation::Update(at.clone(), patch);
        self.write(update).await.unwrap();
    }

    async fn delete(&self, at: &RecordAddress) {
        self.write(WriteOperation::Delete(at.clone()))
            .await
            .unwrap();
    }

    async fn merge(&self, remaining: &RecordAddress, merged: &RecordAddress) {
        let request = MergeRequest::new(remaining.clone(), merged.clone());
        self.write(WriteOperation::Merge(Box::new(request)))
            .await
            .unwrap();
    }

    async fn dismiss(&self, one: &RecordAddress, other: &RecordAddress, is_apart: bool) -> bool {
        let since = is_apart.then(|| Timestamp::from_micros(7));
        let apart = ApartPeople::new(one.id.clone(), other.id.clone(), since);
        self.store.set_apart(&self.cx(), &apart).await.unwrap()
    }

    async fn page(&self, request: &DuplicatesRequest) -> DuplicatesPage {
        match self.store.duplicates(&self.cx(), request).await.unwrap() {
            DuplicatesResponse::Page(page) => page,
            other @ DuplicatesResponse::UnknownCursor => panic!("{other:?}"),
        }
    }

    /// Returns the entries of all pages.
    async fn all(&self, mut request: DuplicatesRequest) -> Vec<DuplicatesEntry> {
        let mut entries = Vec::new();
        for _ in 0..1_000 {
            let page = self.page(&request).await;
            assert!(page.entries.len() <= request.size as usize);
            entries.extend(page.entries);
            match page.next {
                Some(next) => request = request.after(next),
                None => return entries,
            }
        }
        panic!("there are too many pages");
    }

    async fn pairs(&self) -> Vec<(Id, Id)> {
        let found = pairs(&self.all(DuplicatesRequest::new(100)).await);
        found
            .into_iter()
            .map(|(one, other, ..)| (one, other))
            .collect()
    }
}

fn ids(one: &RecordAddress, other: &RecordAddress) -> (Id, Id) {
    (one.id.clone(), other.id.clone())
}

#[tokio::test]
async fn dup_01_pairs_follow_the_people() {
    each(async |world| {
        let one = world.person(&with_email("Ada", "ada@example.org")).await;
        let other = world
            .person(&with_email("Grace", "grace@example.org"))
            .await;
        assert_eq!(world.pairs().await, []);
        // A change creates a pair, and another one ends it.
        let email = |address: &str| json!({"email_addresses": [{"address": address}]});
        world.update(&other, &email("ADA@Example.org")).await;
        let found = pairs(&world.all(DuplicatesRequest::new(10)).await);
        let strong = (one.id.clone(), other.id.clone(), Strength::Strong, 14);
        assert_eq!(found, [strong]);
        world
            .update(&one, &json!({"employer": "Analytical Engines"}))
            .await;
        assert_eq!(world.pairs().await, [ids(&one, &other)]);
        world.update(&other, &email("grace@example.org")).await;
        assert_eq!(world.pairs().await, []);
        world.update(&other, &email("ada@example.org")).await;
        let third = world.person(&with_email("Ada", "ada@example.org")).await;
        assert_eq!(world.pairs().await.len(), 3);
        world.delete(&one).await;
        assert_eq!(world.pairs().await, [ids(&other, &third)]);
        world.delete(&third).await;
        assert_eq!(world.pairs().await, []);
    })
    .await;
}

/// A pair with several common keys is returned once, also if each page has one entry.
#[tokio::test]
async fn dup_04_each_pair_is_on_one_page() {
    each(async |world| {
        let person = json!({"given_name": "Ada", "family_name": "Lovelace",
            "birthdate": {"year": 1985, "month": 12, "day": 10},
            "phone_numbers": [{"number": "441632960001"}],
            "postal_addresses": [{"postal_code": "SW1A 1AA"}],
            "email_addresses": [{"address": "a@example.org"}, {"address": "b@example.org"}]});
        let mut people = Vec::new();
        for _ in 0..4 {
            people.push(world.person(&person).await);
        }
        for size in [1, 2, 3, 100] {
            let found = pairs(&world.all(DuplicatesRequest::new(size)).await);
            let distinct: BTreeSet<_> = found.iter().map(|pair| (&pair.0, &pair.1)).collect();
            assert_eq!((found.len(), distinct.len()), (6, 6), "{size}");
            assert!(found.iter().all(|pair| pair.3 == 14 + 10 + 8 + 8 + 6));
            let of_second = DuplicatesRequest::new(size).of_person(people[1].id.clone());
            let found = pairs(&world.all(of_second).await);
            let others: Vec<_> = found.iter().map(|pair| (&pair.0, &pair.1)).collect();
            let [a, b, c, d] = [0, 1, 2, 3].map(|place: usize| &people[place].id);
            assert_eq!(others, [(a, b), (b, c), (b, d)], "{size}");
        }
        let unknown = DuplicatesRequest::new(1).of_person(Id::from(7));
        let error = world
            .store
            .duplicates(&world.cx(), &unknown)
            .await
            .unwrap_err();
        assert!(error.is_not_found());
    })
    .await;
}

/// A page ends before the last key, also if its cursor is the end of a key or pairs are dismissed.
#[tokio::test]
async fn dup_04_pages_of_many_keys_are_complete() {
    each(async |world| {
        let mut people = Vec::new();
        for number in 0..120 {
            let address = format!("p{number}@example.org");
            let mut pair = Vec::new();
            for name in ["Ada", "Grace"] {
                pair.push(world.person(&with_email(name, &address)).await);
            }
            people.push(pair);
        }
        for size in [1, 50, 100] {
            let found = pairs(&world.all(DuplicatesRequest::new(size)).await);
            let distinct: BTreeSet<_> = found.iter().map(|pair| &pair.0).collect();
            assert_eq!((found.len(), distinct.len()), (120, 120), "{size}");
        }
        for pair in &people[1..] {
            assert!(world.dismiss(&pair[0], &pair[1], true).await);
        }
        for size in [1, 100] {
            let found = pairs(&world.all(DuplicatesRequest::new(size)).await);
            assert_eq!(found.len(), 1, "{size}");
        }
    })
    .await;
}

/// A cursor is only valid for its tenant and its person.
#[tokio::test]
async fn dup_04_cursors_are_bound() {
    each(async |world| {
        let mut people = Vec::new();
        for _ in 0..3 {
            people.push(world.person(&with_email("Ada", "ada@example.org")).await);
        }
        let first = world.page(&DuplicatesRequest::new(1)).await;
        let next = first.next.unwrap();
        let of = |cursor: &str| DuplicatesRequest::new(1).after(cursor);
        let mut damaged = next.clone();
        damaged.replace_range(0..1, if next.starts_with('0') { "1" } else { "0" });
        for request in [
            of(&next).of_person(people[0].id.clone()),
            of("0"),
            of(""),
            of(&damaged),
        ] {
            let response = world.store.duplicates(&world.cx(), &request).await.unwrap();
            assert!(
                matches!(response, DuplicatesResponse::UnknownCursor),
                "{request:?}"
            );
        }
        assert_eq!(world.page(&of(&next)).await.entries.len(), 1);
    })
    .await;
}

/// More than 50 people with a key are a crowd. Its pairs are found by other keys only.
#[tokio::test]
async fn dup_05_a_crowd_has_one_entry() {
    each(async |world| {
        let person = |number: u32| {
            let name = if number < 2 {
                "Ada".to_owned()
            } else {
                format!("Ada{number:03}")
            };
            json!({"given_name": name, "family_name": "Lovelace",
                "phone_numbers": [{"number": "441632960001"}],
                "postal_addresses": [{"postal_code": "SW1A 1AA"}]})
        };
        let mut people = Vec::new();
        for number in 0..50 {
            people.push(world.person(&person(number)).await);
        }
        let all = world.all(DuplicatesRequest::new(100)).await;
        assert_eq!(crowds(&all), []);
        // A page compares some pairs only.
        let first = world.page(&DuplicatesRequest::new(1_000)).await;
        assert!(first.next.is_some() && first.entries.len() <= 200);
        assert_eq!(pairs(&all).len(), 50 * 49 / 2);
        people.push(world.person(&person(50)).await);
        let all = world.all(DuplicatesRequest::new(100)).await;
        assert_eq!(crowds(&all), [(Evidence::Phone, 51)]);
        let (one, other) = ids(&people[0], &people[1]);
        assert_eq!(pairs(&all), [(one, other, Strength::Strong, 24)]);
        let of_one = DuplicatesRequest::new(1).of_person(people[0].id.clone());
        let all = world.all(of_one).await;
        assert_eq!((crowds(&all).len(), pairs(&all).len()), (1, 1));
        world.delete(&people[50]).await;
        let all = world.all(DuplicatesRequest::new(25)).await;
        assert_eq!((crowds(&all).len(), pairs(&all).len()), (0, 50 * 49 / 2));
    })
    .await;
}

/// The number of people of a crowd is counted up to 1 000, also while people leave it.
#[tokio::test]
async fn dup_05_a_crowd_is_counted_up_to_a_limit() {
    each(async |world| {
        let one = json!({"given_name": "Ada", "phone_numbers": [{"number": "441632960001"}]});
        let mut people = Vec::new();
        for _ in 0..1_002 {
            people.push(world.person(&one).await);
        }
        for expected in [1_000, 1_000, 1_000, 999, 998] {
            let all = world.all(DuplicatesRequest::new(100)).await;
            assert_eq!(crowds(&all), [(Evidence::Phone, expected)]);
            world.delete(&people.pop().unwrap()).await;
        }
        world.person(&one).await;
        let all = world.all(DuplicatesRequest::new(100)).await;
        assert_eq!(crowds(&all), [(Evidence::Phone, 998)]);
    })
    .await;
}

#[tokio::test]
async fn dup_06_dismissed_pairs() {
    each(async |world| {
        let mut people = Vec::new();
        for _ in 0..3 {
            people.push(world.person(&with_email("Ada", "ada@example.org")).await);
        }
        let [a, b, c] = [&people[0], &people[1], &people[2]];
        assert!(world.dismiss(b, a, true).await);
        assert_eq!(world.pairs().await, [ids(a, c), ids(b, c)]);
        assert!(world.dismiss(a, b, true).await, "a repetition");
        assert!(world.dismiss(a, b, false).await);
        assert_eq!(world.pairs().await.len(), 3);
        assert!(world.dismiss(a, b, false).await, "a repetition");
        let unknown = RecordAddress::without_parent(Kind::Person, Id::from(7));
        assert!(!world.dismiss(a, &unknown, true).await);
        // It ends with a person.
        assert!(world.dismiss(a, b, true).await);
        world.delete(b).await;
        assert!(!world.dismiss(a, b, true).await);
        assert_eq!(world.pairs().await, [ids(a, c)]);
    })
    .await;
}

/// A merged person is in no pair. What was dismissed for it is dismissed for the remaining person.
#[tokio::test]
async fn dup_06_a_merge_moves_dismissed_pairs() {
    each(async |world| {
        let mut people = Vec::new();
        for _ in 0..4 {
            people.push(world.person(&with_email("Ada", "ada@example.org")).await);
        }
        let [a, b, c, d] = [&people[0], &people[1], &people[2], &people[3]];
        for other in [a, c] {
            assert!(world.dismiss(b, other, true).await);
        }
        assert!(world.dismiss(a, c, true).await);
        world.merge(a, b).await;
        assert_eq!(world.pairs().await, [ids(a, d), ids(c, d)]);
        world.merge(d, a).await;
        assert_eq!(world.pairs().await, []);
        assert!(world.dismiss(d, c, false).await);
        assert_eq!(world.pairs().await, [ids(c, d)]);
    })
    .await;
}

/// Another tenant has other pairs.
#[tokio::test]
async fn dup_03_tenants_are_separate() {
    let folder = tempfile::tempdir().unwrap();
    let file = file(&folder);
    let tenant = file.ensure_tenant("one").await.unwrap();
    let other = file.ensure_tenant("other").await.unwrap();
    let one = World::new(file.clone(), tenant);
    let other = World::new(file, other);
    one.person(&with_email("Ada", "ada@example.org")).await;
    other.person(&with_email("Ada", "ada@example.org")).await;
    assert_eq!(
        (one.pairs().await, other.pairs().await),
        (Vec::new(), Vec::new())
    );
}

/// The index is built for a file of an earlier version. An export contains dismissed pairs.
#[tokio::test]
async fn dup_01_earlier_files_and_copies_have_the_index() {
    let folder = tempfile::tempdir().unwrap();
    let (people, expected) = {
        let file = file(&folder);
        let tenant = file.ensure_tenant("one").await.unwrap();
        let world = World::new(file.clone(), tenant);
        let mut people = Vec::new();
        for _ in 0..3 {
            people.push(world.person(&with_email("Ada", "ada@example.org")).await);
        }
        assert!(world.dismiss(&people[0], &people[1], true).await);
        let expected = world.pairs().await;
        (people, expected)
    };
    let path = folder.path().join("data.db");
    let connection = rusqlite::Connection::open(&path).unwrap();
    let keys = |table: &str| {
        let sql = format!("SELECT count(*) FROM {table}");
        connection
            .query_row(&sql, (), |row| row.get::<_, i64>(0))
            .unwrap()
    };
    // The keys of addresses are in the index of addresses.
    let numbers = ["email", "person_key", "shared_key"].map(keys);
    assert_eq!(numbers, [3, 0, 1]);
    connection
        .execute_batch(
            "DELETE FROM person_key; DELETE FROM shared_key;
             UPDATE meta SET value = replace(value, 'keys 2', 'keys 1') WHERE name = 'measures'",
        )
        .unwrap();
    drop(connection);
    let file = file(&folder);
    let tenant = file.ensure_tenant("one").await.unwrap();
    let world = World::new(file.clone(), tenant.clone());
    assert_eq!(world.pairs().await, expected);
    assert_eq!(
        expected,
        [ids(&people[0], &people[2]), ids(&people[1], &people[2])]
    );

    let copy = MemoryStore::new();
    let mut position = Some(ExportPosition::start());
    while let Some(from) = position {
        let ExportBatch { changes, next, .. } = file.export(&tenant, from, 10).unwrap();
        let time = copy.next_timestamp(&tenant);
        copy.commit(&tenant, time, &changes).unwrap();
        position = next;
    }
    let copy = World::new(copy, tenant);
    assert_eq!(copy.pairs().await, expected);
}

/// A text without a form. It is not a key.
const NO_ADDRESS: &str = "unknown";

/// What a random history does.
#[derive(Debug, Clone)]
enum Step {
    Create(Value),
    Update(usize, Value),
    Delete(usize),
    Merge(usize, usize),
    Dismiss(usize, usize, bool),
}

fn fields() -> impl Strategy<Value = Value> {
    let select = |values: &'static [&str]| prop::sample::select(values);
    (
        select(&["Ada", "Grace", "José", "Jose"]),
        select(&["Lovelace", "Hopper"]),
        1..3,
        prop::collection::vec(select(&["a@x.org", "A@X.org", "b@x.org", NO_ADDRESS]), 0..3),
        prop::collection::vec(select(&["441632960001", "441632960002"]), 0..2),
        prop::collection::vec(select(&["10115", "10117"]), 0..3),
    )
        .prop_map(|(given, family, day, emails, phones, codes)| {
            let list = |name: &str, values: Vec<&str>| {
                let entry = |value| json!({ name: value });
                values.into_iter().map(entry).collect::<Vec<_>>()
            };
            json!({"given_name": given, "family_name": family,
                "birthdate": {"year": 1985, "month": 12, "day": day},
                "email_addresses": list("address", emails),
                "phone_numbers": list("number", phones),
                "postal_addresses": list("postal_code", codes)})
        })
}

fn step() -> impl Strategy<Value = Step> {
    let place = 0..100_usize;
    prop_oneof![
        5 => fields().prop_map(Step::Create),
        3 => (place.clone(), fields()).prop_map(|(at, fields)| Step::Update(at, fields)),
        1 => place.clone().prop_map(Step::Delete),
        1 => (place.clone(), place.clone()).prop_map(|(one, other)| Step::Merge(one, other)),
        2 => (place.clone(), place, any::<bool>())
            .prop_map(|(one, other, is_apart)| Step::Dismiss(one, other, is_apart)),
    ]
}

/// Compares the pages of random people with a comparison of all people.
async fn compare_all(world: &World, steps: &[Step], size: u32) {
    let mut people: Vec<RecordAddress> = Vec::new();
    let mut apart: BTreeSet<BTreeSet<Id>> = BTreeSet::new();
    for step in steps {
        let at = |place: &usize| place.checked_rem(people.len());
        match step {
            Step::Create(fields) => people.push(world.person(fields).await),
            Step::Update(place, fields) => {
                if let Some(place) = at(place) {
                    world.update(&people[place], fields).await;
                }
            }
            Step::Delete(place) => {
                if let Some(place) = at(place) {
                    let person = people.remove(place);
                    world.delete(&person).await;
                    apart.retain(|pair| !pair.contains(&person.id));
                }
            }
            Step::Merge(one, other) => {
                let (Some(one), Some(other)) = (at(one), at(other)) else {
                    continue;
                };
                if one != other {
                    let remaining = people[one].clone();
                    let merged = people.remove(other);
                    world.merge(&remaining, &merged).await;
                    let renamed = |id: Id| {
                        if id == merged.id {
                            remaining.id.clone()
                        } else {
                            id
                        }
                    };
                    apart = std::mem::take(&mut apart)
                        .into_iter()
                        .map(|pair| pair.into_iter().map(renamed).collect::<BTreeSet<_>>())
                        .filter(|pair| pair.len() == 2)
                        .collect();
                }
            }
            Step::Dismiss(one, other, is_apart) => {
                let (Some(one), Some(other)) = (at(one), at(other)) else {
                    continue;
                };
                if one != other {
                    assert!(world.dismiss(&people[one], &people[other], *is_apart).await);
                    let pair = [one, other].map(|place| people[place].id.clone()).into();
                    _ = if *is_apart {
                        apart.insert(pair)
                    } else {
                        apart.remove(&pair)
                    };
                }
            }
        }
    }
    let mut fields: Vec<(Id, Object)> = Vec::new();
    for person in &people {
        let record = world.store.get(&world.cx(), person).await.unwrap().unwrap();
        let values = record.to_fields(&ShareNames::default()).unwrap();
        fields.push((person.id.clone(), values));
    }
    let mut expected: BTreeMap<(Id, Id), i32> = BTreeMap::new();
    for (place, (one, of_one)) in fields.iter().enumerate() {
        for (other, of_other) in &fields[place + 1..] {
            if apart.contains(&BTreeSet::from([one.clone(), other.clone()])) {
                continue;
            }
            if let Some(found) = compare(of_one, of_other) {
                expected.insert((one.clone(), other.clone()), found.score);
            }
        }
    }
    let found = pairs(&world.all(DuplicatesRequest::new(size)).await);
    let by_people: BTreeMap<(Id, Id), i32> = found
        .iter()
        .map(|(one, other, _, score)| ((one.clone(), other.clone()), *score))
        .collect();
    assert_eq!(found.len(), by_people.len(), "each pair once");
    assert_eq!(by_people, expected);
    for person in &people {
        let request = DuplicatesRequest::new(size).of_person(person.id.clone());
        let found = pairs(&world.all(request).await);
        let found: Vec<(Id, Id)> = found.into_iter().map(|it| (it.0, it.1)).collect();
        let distinct: BTreeSet<&(Id, Id)> = found.iter().collect();
        assert_eq!(found.len(), distinct.len(), "each pair once");
        let is_own = |pair: &&(Id, Id)| pair.0 == person.id || pair.1 == person.id;
        let own: BTreeSet<&(Id, Id)> = expected.keys().filter(is_own).collect();
        assert_eq!(distinct, own);
    }
}

#[test]
fn dup_04_pages_agree_with_a_comparison_of_all_people() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let config = Config {
        rng_seed: RngSeed::Fixed(7396),
        failure_persistence: None,
        ..Config::with_cases(40)
    };
    let folder = tempfile::tempdir().unwrap();
    let file = file(&folder);
    let number = std::cell::Cell::new(0);
    let histories = (prop::collection::vec(step(), 0..40), 1..5_u32);
    let result = TestRunner::new(config).run(&histories, |(steps, size)| {
        runtime.block_on(async {
            number.set(number.get() + 1);
            let tenant = file
                .ensure_tenant(&format!("tenant{}", number.get()))
                .await
                .unwrap();
            compare_all(
                &World::new(MemoryStore::new(), tenant.clone()),
                &steps,
                size,
            )
            .await;
            compare_all(&World::new(file.clone(), tenant), &steps, size).await;
        });
        Ok(())
    });
    result.unwrap();
    let connection = rusqlite::Connection::open(folder.path().join("data.db")).unwrap();
    let wrong = "SELECT count(*) FROM
        (SELECT tenant, sort, hash, count(*) AS members FROM person_key GROUP BY 1, 2, 3 HAVING count(*) > 1) k
        FULL JOIN (SELECT * FROM shared_key WHERE sort <> 2) s USING (tenant, sort, hash)
        WHERE k.members IS NOT s.members";
    let wrong: i64 = connection.query_row(wrong, (), |row| row.get(0)).unwrap();
    assert_eq!(wrong, 0);
    let sql = "SELECT tenant, hash, count(*) FROM email WHERE hash <> ?1 GROUP BY 1, 2 HAVING count(*) > 1";
    let mut addresses = connection.prepare(sql).unwrap();
    let addresses = addresses.query_map([hash_email(NO_ADDRESS)], |row| {
        let key = HashedKey::of_email(&row.get(1)?);
        Ok(((row.get(0)?, key.hash), row.get(2)?))
    });
    let sql = "SELECT tenant, hash, members FROM shared_key WHERE sort = 2";
    let mut shared = connection.prepare(sql).unwrap();
    let shared = shared.query_map((), |row| Ok(((row.get(0)?, row.get(1)?), row.get(2)?)));
    let numbers = [addresses.unwrap().collect(), shared.unwrap().collect()];
    let [addresses, shared]: [rusqlite::Result<BTreeMap<(i64, i64), i64>>; 2] = numbers;
    assert_eq!(addresses.unwrap(), shared.unwrap());
}
