//! People who may be the same person: the same pages as those of the store in memory.

use std::collections::BTreeSet;

use super::{server::options, support};
use serde_json::{Value, json};
use svc_core::{
    Context, Tenant,
    auth::Caller,
    link::RecordAddress,
    model::Kind,
    raw::{RawDraft, RawPatch},
    read::{Json, Object},
    store::{
        ApartPeople, DuplicatesEntry, DuplicatesRequest, DuplicatesResponse, MergeRequest, Store,
        WriteOperation, WriteOutcome, WriteRequest,
    },
    value::Timestamp,
};
use svc_postgres::PostgresStore;
use svc_store::memory::MemoryStore;

/// A store with the people of a history, in the order of their creation.
struct World<S> {
    store: S,
    tenant: Tenant,
    people: Vec<RecordAddress>,
}

fn object(json: &Value) -> Object {
    match Json::read_kept(json.to_string().as_bytes()) {
        Some(Json::Object(object)) => object,
        other => panic!("{other:?}"),
    }
}

impl<S: Store> World<S> {
    fn cx(&self) -> Context {
        Context::new(self.tenant.clone(), Caller::anonymous(), Timestamp::MAX)
    }

    async fn write(&self, operation: WriteOperation) -> WriteOutcome {
        let mut call = WriteRequest::received_at(Timestamp::from_micros(1), operation);
        call.namespace = "ns".into();
        self.store.write(&self.cx(), call).await.unwrap()
    }

    /// Executes one step of the history.
    async fn step(&mut self, step: usize) {
        let place = |number: usize, count: usize| number.checked_rem(count).unwrap_or_default();
        let count = self.people.len();
        let (at, to) = (place(step * 7, count), place(step * 5 + 1, count));
        match step % 9 {
            0..5 => {
                let mut draft = RawDraft::empty(Kind::Person).with_fields(object(&fields(step)));
                assert_eq!(draft.apply_defaults(Timestamp::from_micros(0)), []);
                match self.write(WriteOperation::Create(draft)).await {
                    WriteOutcome::Created { record, .. } => self.people.push(record.address()),
                    other => panic!("{other:?}"),
                }
            }
            5 => {
                let patch = RawPatch::new(Kind::Person, object(&fields(step * 3)));
                let at = self.people[at].clone();
                self.write(WriteOperation::Update(at, patch)).await;
            }
            6 => {
                let at = self.people.remove(at);
                self.write(WriteOperation::Delete(at)).await;
            }
            7 if at != to => {
                let merged = self.people.remove(at);
                let to = self.people[place(step, count - 1)].clone();
                let request = MergeRequest::new(to, merged);
                self.write(WriteOperation::Merge(Box::new(request))).await;
            }
            _ if at != to => {
                let [one, other] = [at, to].map(|place| self.people[place].id.clone());
                let since = step.is_multiple_of(2).then(|| Timestamp::from_micros(7));
                let apart = ApartPeople::new(one, other, since);
                assert!(self.store.set_apart(&self.cx(), &apart).await.unwrap());
            }
            _ => {}
        }
    }

    /// Returns the pairs of all pages, by the positions of the people, with their scores.
    async fn pairs(&self, mut request: DuplicatesRequest) -> Vec<(usize, usize, i32)> {
        let position = |person: &svc_core::raw::RawRecord| {
            let id = &person.meta().id;
            self.people.iter().position(|at| at.id == *id).unwrap()
        };
        let mut pairs = Vec::new();
        loop {
            let response = self.store.duplicates(&self.cx(), &request).await.unwrap();
            let DuplicatesResponse::Page(page) = response else {
                panic!("{response:?}");
            };
            for entry in page.entries {
                if let DuplicatesEntry::Pair(pair) = entry {
                    let score = pair.comparison.score;
                    pairs.push((position(&pair.older), position(&pair.younger), score));
                }
            }
            let Some(next) = page.next else {
                pairs.sort_unstable();
                return pairs;
            };
            request = request.after(next);
        }
    }
}

fn fields(step: usize) -> Value {
    let given = ["Ada", "Grace", "José"][step % 3];
    let address = format!("person{}@example.org", step % 4);
    json!({"given_name": given, "family_name": "Lovelace",
        "birthdate": {"year": 1985, "month": 12, "day": step % 2 + 1},
        "email_addresses": [{"address": address}],
        "postal_addresses": [{"postal_code": format!("1011{}", step % 5)}]})
}

/// DUP-04: the pages after a history agree with those of the store in memory, also after the index is
/// built again.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn pages_agree_with_the_store_in_memory() {
    let database = support::server();
    let schema = database.schema();
    let options = options(&database.url()).schema(&schema);
    let store = PostgresStore::connect(options.clone()).await.unwrap();
    let tenant = store.ensure_tenant("demo").await.unwrap();
    let (memory, people) = (MemoryStore::new(), Vec::new());
    let mut world = World {
        store,
        tenant,
        people,
    };
    let mut memory = World {
        store: memory,
        tenant: world.tenant.clone(),
        people: Vec::new(),
    };
    for step in 0..90 {
        world.step(step).await;
        memory.step(step).await;
    }
    let expected = memory.pairs(DuplicatesRequest::new(100)).await;
    assert!(expected.len() > 50, "{expected:?}");
    assert_eq!(world.pairs(DuplicatesRequest::new(7)).await, expected);
    let distinct: BTreeSet<_> = expected.iter().collect();
    assert_eq!(distinct.len(), expected.len());
    for place in 0..world.people.len() {
        let of = |world: &RecordAddress| DuplicatesRequest::new(3).of_person(world.id.clone());
        let here = world.pairs(of(&world.people[place])).await;
        assert_eq!(here, memory.pairs(of(&memory.people[place])).await);
    }
    database.psql(&format!(
        "DELETE FROM {schema}.meta WHERE name = 'measures'; DELETE FROM {schema}.person_key; DELETE FROM {schema}.shared_key"
    ));
    world.store = PostgresStore::connect(options).await.unwrap();
    assert_eq!(world.pairs(DuplicatesRequest::new(7)).await, expected);
    let wrong = database.psql(&format!(
        "SELECT count(*) FROM (SELECT tenant, sort, hash, count(*) AS members FROM {schema}.person_key GROUP BY 1, 2, 3 \
         HAVING count(*) > 1) k FULL JOIN {schema}.shared_key s USING (tenant, sort, hash) \
         WHERE k.members IS DISTINCT FROM s.members"
    ));
    assert_eq!(wrong.trim(), "0");
}

/// A store with two people who have an e-mail address in common.
async fn pair_of_people(schema: &str) -> World<PostgresStore> {
    let options = options(&support::server().url()).schema(schema);
    let store = PostgresStore::connect(options).await.unwrap();
    let tenant = store.ensure_tenant("demo").await.unwrap();
    let people = Vec::new();
    let mut world = World {
        store,
        tenant,
        people,
    };
    for step in [0, 4] {
        world.step(step).await;
    }
    world
}

/// Executes SQL in a transaction that locks something. Waits until it has the lock, and continues when a
/// connection of the store waits for it.
async fn locked(
    locks: &str,
    mode: &str,
    table: &str,
    then: &str,
) -> tokio::task::JoinHandle<String> {
    let database = support::server();
    let script = format!(
        "BEGIN; {locks}; DO $$ BEGIN WHILE NOT EXISTS (SELECT 1 FROM pg_stat_activity a \
         WHERE pg_backend_pid() = ANY(pg_blocking_pids(a.pid))) LOOP PERFORM pg_sleep(0.01); PERFORM pg_stat_clear_snapshot(); \
         END LOOP; END $$; {then}; COMMIT"
    );
    let task = tokio::task::spawn_blocking(move || database.psql(&script));
    let wait = format!(
        "SELECT count(*) > 0 FROM pg_locks WHERE granted AND mode = '{mode}' AND relation = '{table}'::regclass"
    );
    tokio::task::spawn_blocking(move || database.wait_for(&wait))
        .await
        .unwrap();
    task
}

/// DUP-04: all statements of a page read the same state, and so do those of a pair.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn a_page_is_from_one_snapshot() {
    let schema = support::server().schema();
    let world = pair_of_people(&schema).await;
    let table = format!("{schema}.apart");
    let insert = format!(
        "INSERT INTO {table} SELECT r.tenant, min(r.id::text)::uuid, max(r.id::text)::uuid, 7 FROM {schema}.record r \
         JOIN {schema}.email e ON e.tenant = r.tenant AND e.seq = r.seq GROUP BY r.tenant"
    );
    let lock = format!("LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE");
    let meanwhile = locked(&lock, "AccessExclusiveLock", &table, &insert).await;
    // The pair is dismissed after the page has read the people.
    assert_eq!(world.pairs(DuplicatesRequest::new(10)).await.len(), 1);
    meanwhile.await.unwrap();
    assert_eq!(world.pairs(DuplicatesRequest::new(10)).await, []);
    let [one, other] = [0, 1].map(|place: usize| &world.people[place].id);
    let pair = world.store.duplicate_pair(&world.cx(), [other, one]).await;
    let pair = pair.unwrap().unwrap();
    assert!(pair.is_dismissed);
    assert_eq!(
        [&pair.older.meta().id, &pair.younger.meta().id],
        [one, other]
    );
}

/// DUP-06: a dismissal locks the tenant before it checks the people. Its number is that of a write, so a
/// replica without it is not read.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn a_dismissal_is_a_write_of_the_tenant() {
    let database = support::server();
    let schema = database.schema();
    let world = pair_of_people(&schema).await;
    let ledger = format!("{schema}.ledger");
    let seq = || -> i64 {
        let seq = database.psql(&format!("SELECT seq FROM {ledger}"));
        seq.trim().parse().unwrap()
    };
    let apart = || database.psql(&format!("SELECT count(*) FROM {schema}.apart"));
    let [one, other] = [0, 1].map(|place: usize| world.people[place].id.clone());
    let dismissal = ApartPeople::new(one.clone(), other.clone(), Some(Timestamp::from_micros(7)));
    let before = seq();
    assert!(
        world
            .store
            .set_apart(&world.cx(), &dismissal)
            .await
            .unwrap()
    );
    assert_eq!((seq(), apart().trim()), (before + 1, "1"));
    let end = ApartPeople::new(one.clone(), other.clone(), None);
    assert!(world.store.set_apart(&world.cx(), &end).await.unwrap());
    assert_eq!((seq(), apart().trim()), (before + 2, "0"));

    let lock = format!("SELECT seq FROM {ledger} FOR UPDATE");
    let delete = format!(
        "DELETE FROM {schema}.record WHERE id = '{}'",
        other.as_str()
    );
    let meanwhile = locked(&lock, "RowShareLock", &ledger, &delete).await;
    let set = world.store.set_apart(&world.cx(), &dismissal).await;
    meanwhile.await.unwrap();
    assert!(!set.unwrap(), "the person was deleted in between");
    assert_eq!((seq(), apart().trim()), (before + 2, "0"));
}
