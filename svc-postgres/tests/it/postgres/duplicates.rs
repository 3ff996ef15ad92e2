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
