//! Merges of people by an operation of a vendor: what it gets, and how conflicts and errors are reported.
//!
//! Requirements: MRG-02, MRG-14, MRG-16, MRG-19.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use async_trait::async_trait;
use http::{HeaderMap, Method};
use serde_json::{Value, json};
use svc_core::{
    Api, ApiBuilder, Context, Error, ErrorCode, Get, Problem, Record, Result, Tenant, Transactions,
    api::Request,
    auth::{Caller, Identity, Principal, Rights},
    backend::{MergePeople, MergedPeople, PeopleMerge},
    link::RecordAddress,
    model::{Kind, Person},
    record::Meta,
    value::{Identifier, Timestamp},
};

use crate::support::server::builder;

/// Members by number. Of the calls of `merge`, the first ones have a conflict.
#[derive(Default)]
struct Club {
    members: Mutex<BTreeMap<i64, Record<Person>>>,
    conflicts: usize,
    calls: AtomicUsize,
    ended: Mutex<Vec<&'static str>>,
}

fn member(number: i64, name: &str) -> Record<Person> {
    let identifier = Identifier::parse(&format!("mail:{number}"));
    let meta = Meta::new(number.into(), Timestamp::from_micros(1));
    let meta = meta.with_identifiers(&identifier.into_iter().collect::<Vec<_>>());
    Record::new(meta, Person::default().given_name(name))
}

impl Club {
    fn new(conflicts: usize) -> Arc<Self> {
        let members = [(1, "Ada"), (2, "Eve"), (3, "Kim")];
        let members = members.map(|(number, name)| (number, member(number, name)));
        Arc::new(Self {
            members: Mutex::new(members.into()),
            conflicts,
            ..Self::default()
        })
    }

    fn names(&self) -> Vec<String> {
        let members = self.members.lock().unwrap();
        let names = members.values().map(|it| it.fields().given_name);
        names.flatten().collect()
    }
}

#[async_trait]
impl Get<Person> for Club {
    async fn get(&self, _: &Context, at: &RecordAddress) -> Result<Option<Record<Person>>> {
        let members = self.members.lock().unwrap();
        Ok(at
            .id
            .as_number()
            .and_then(|number| members.get(&number).cloned()))
    }
}

#[async_trait]
impl MergePeople for Club {
    async fn merge(&self, cx: &Context, request: PeopleMerge) -> Result<MergedPeople> {
        let (Some(to), Some(from)) = (
            request.remaining.id.as_number(),
            request.merged.id.as_number(),
        ) else {
            return Err(Error::not_found());
        };
        if self.calls.fetch_add(1, Ordering::Relaxed) < self.conflicts {
            return Err(Error::conflict());
        }
        let mut members = self.members.lock().unwrap();
        request.check_expected_states(members[&to].meta(), members[&from].meta())?;
        for (number, other) in members
            .iter()
            .filter(|(number, _)| **number != to && **number != from)
        {
            let other = other.meta().identifiers.to_vec();
            let taken = request.identifiers.iter().position(|it| other.contains(it));
            if let Some(place) = taken {
                assert_eq!(*number, 3);
                return Err(Error::invalid(Problem::identifier_in_use(place)));
            }
        }
        let meta = Meta::new(to.into(), members[&to].meta().created)
            .with_modified(cx.received_at())
            .with_identifiers(&request.identifiers);
        let person = Record::new(meta, request.person());
        // Only a transaction stores it.
        if <Self as Transactions>::current(cx).is_none() {
            members.remove(&from);
            members.insert(to, person.clone());
        }
        Ok(MergedPeople::new(person).moved(Kind::Donation, 4))
    }
}

#[async_trait]
impl Transactions for Club {
    type Open = ();

    async fn begin(&self, _: &Context) -> Result<()> {
        Ok(())
    }

    async fn commit(&self, (): ()) -> Result<()> {
        self.ended.lock().unwrap().push("committed");
        Ok(())
    }

    async fn rollback(&self, (): ()) -> Result<()> {
        self.ended.lock().unwrap().push("rolled back");
        Ok(())
    }
}

fn registered(club: &Arc<Club>) -> ApiBuilder {
    builder().resource::<Person, _>(club, |people| people.get().merge())
}

async fn merge(api: &Api, body: Value) -> (u16, Value) {
    let mut body = body;
    body["_links"] = json!({"svc:person": {"href": "https://crm.example.org/api/v1/people/2"}});
    let headers = HeaderMap::new();
    let method = Method::POST;
    let request = Request::new(&method, "people/1/merge_helper")
        .with_headers(&headers)
        .with_body(body.to_string());
    let caller = Caller::with_rights(Rights::all());
    let who = Identity::Authenticated(Principal::new(Tenant::new("one"), caller));
    let answer = api.handle(who, request).await;
    (
        answer.status.as_u16(),
        serde_json::from_slice(&answer.body).unwrap(),
    )
}

/// Returns the code and the property of the first problem of a response.
fn problem(answer: &Value) -> [&str; 2] {
    let all = &answer["svc:error"]["resource_status"][0]["error_descriptions"][0];
    [&all["error_code"], &all["properties"][0]].map(|it| it.as_str().unwrap_or_default())
}

#[tokio::test]
async fn mrg_02_a_conflict_without_a_transaction_is_tried_again() {
    for (conflicts, calls, status) in [(0, 1, 200), (3, 4, 200), (100, 9, 503)] {
        let club = Club::new(conflicts);
        let api = registered(&club).merge_people().build().unwrap();
        let (answered, answer) = merge(&api, json!({})).await;
        assert_eq!(answered, status, "{answer}");
        assert_eq!(club.calls.load(Ordering::Relaxed), calls);
        let names: &[&str] = match status {
            200 => &["Ada", "Kim"],
            _ => &["Ada", "Eve", "Kim"],
        };
        assert_eq!(club.names(), names);
    }
}

#[tokio::test]
async fn mrg_02_a_conflict_in_a_transaction_begins_another_one() {
    let club = Club::new(2);
    let api = registered(&club)
        .merge_people()
        .transactions(&club)
        .build()
        .unwrap();
    let (status, answer) = merge(&api, json!({})).await;
    assert_eq!(status, 200, "{answer}");
    assert_eq!(
        answer["identifiers"],
        json!(["crm:1", "mail:1", "crm:2", "mail:2"])
    );
    assert_eq!(answer["ext:merge"]["moved"], json!({"donations": 4}));
    let ended = std::mem::take(&mut *club.ended.lock().unwrap());
    assert_eq!(ended, ["rolled back", "rolled back", "committed"]);
}

#[tokio::test]
async fn mrg_19_a_preview_is_rolled_back_or_not_offered() {
    let club = Club::new(0);
    let api = registered(&club).merge_people().build().unwrap();
    // Without `find`, the former address of a merged person finds nothing.
    assert!(!api.previews_merges() && !api.forwards_merged_people());
    let (status, answer) = merge(&api, json!({"preview": true})).await;
    assert_eq!(
        (status, problem(&answer)),
        (400, ["FIELD_INVALID", "preview"])
    );
    assert_eq!(club.names().len(), 3);
    let api = registered(&club)
        .merge_people()
        .transactions(&club)
        .build()
        .unwrap();
    assert!(api.previews_merges());
    let (status, answer) = merge(&api, json!({"preview": true})).await;
    assert_eq!(
        (status, &answer["ext:merge"]["preview"]),
        (200, &json!(true))
    );
    assert_eq!(*club.ended.lock().unwrap(), ["rolled back"]);
}

#[tokio::test]
async fn mrg_16_an_identifier_of_a_third_person_is_named_as_sent() {
    let club = Club::new(0);
    let api = registered(&club).merge_people().build().unwrap();
    let sent = json!({"person": {"identifiers": ["mail:1", "mail:3"]}});
    let (status, answer) = merge(&api, sent).await;
    let expected = [ErrorCode::IdentifierInUse.as_str(), "person.identifiers[1]"];
    assert_eq!((status, problem(&answer)), (400, expected), "{answer}");
    assert_eq!(club.names().len(), 3);
}

#[test]
fn mrg_01_merges_need_their_operations() {
    let club = Club::new(0);
    let problems = |api: ApiBuilder| {
        let problems = api
            .build()
            .expect_err("a contradiction")
            .problems()
            .to_vec();
        problems
            .into_iter()
            .filter(|it| it.contains("merge"))
            .collect::<Vec<_>>()
    };
    let alone = builder().resource::<Person, _>(&club, svc_core::api::ResourceConfig::merge);
    assert_eq!(problems(alone.merge_people()).len(), 1);
    let reads = builder().resource::<Person, _>(&club, svc_core::api::ResourceConfig::get);
    assert_eq!(problems(reads.merge_people()).len(), 1);
    assert_eq!(problems(registered(&club)).len(), 1);
}
