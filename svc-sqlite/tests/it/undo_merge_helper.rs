//! Undo of merges of people over the whole API, on the store in memory and on the store in a file.
//!
//! Requirements: MRG-20, MRG-21.

use std::time::Duration;

use http::Method;
use serde_json::{Value, json};
use svc_core::{
    api::{ApiBuilder, IfMatchPolicy},
    auth::{Caller, FixedKeys, Identity, Principal, Right, Rights},
};
use svc_store::memory::MemoryStore;

use crate::both_stores::{self, Answer, Subject, rights, subjects};
use crate::server::{BASE, builder};

const MERGES: &str = "ext:merges";
const UNDO: &str = "ext:undo_merge_helper";

fn configured(api: ApiBuilder) -> ApiBuilder {
    api.merge_people()
        .conditional_requests(IfMatchPolicy::Optional)
}

/// Runs a check on both stores.
async fn each(check: impl AsyncFn(&Subject)) {
    both_stores::each(configured, check).await;
}

fn href(links: &Value, name: &str) -> String {
    let href = links[name]["href"].as_str();
    href.unwrap_or_else(|| panic!("{links}")).to_owned()
}

/// Returns the URL that undoes the merge of a response.
fn undo_of(merge: &Answer) -> String {
    href(&merge.json["ext:merge"]["_links"], UNDO)
}

impl Subject {
    /// Returns the entries of the list of the merges into a person.
    async fn merges(&self, person: &str) -> Vec<Value> {
        let list = self.read(&format!("{person}/merges")).await;
        list["_embedded"][MERGES].as_array().unwrap().clone()
    }

    async fn undo(&self, address: &str) -> Answer {
        self.call(Method::POST, address, &json!({})).await
    }

    /// Returns a record without its modification date.
    async fn undated(&self, address: &str) -> Value {
        let mut record = self.read(address).await;
        record.as_object_mut().unwrap().remove("modified_date");
        record
    }
}

/// MRG-20: a merge, its entry in the list, and its undo. Both people are as before.
#[tokio::test]
async fn an_undone_merge_restores_both_people() {
    each(async |subject| {
        let [one, other] = subject
            .people([
                json!({"given_name": "Ada", "identifiers": ["crm:1"],
                    "email_addresses": [{"address": "ada@x.org", "status": "subscribed"}]}),
                json!({"given_name": "Ada", "family_name": "King", "identifiers": ["crm:2"],
                    "email_addresses": [{"address": "ada@x.org", "status": "unsubscribed"}]}),
            ])
            .await;
        let petition = subject.make("petitions", json!({})).await;
        let of_other = json!({"_links": {"svc:person": {"href": other}}});
        let signature = subject
            .make(&format!("{petition}/signatures"), of_other.clone())
            .await;
        let list = subject.make("lists", json!({"name": "L"})).await;
        let of_one = json!({"_links": {"svc:person": {"href": one}}});
        let items = [
            subject.make(&format!("{list}/items"), of_one).await,
            subject.make(&format!("{list}/items"), of_other).await,
        ];
        let mut before = Vec::new();
        for address in [&one, &other, &signature, &items[1], &petition, &list] {
            before.push(subject.undated(address).await);
        }
        let caller = Caller::with_rights(Rights::all()).with_key_name("desk");
        let desk = Identity::Authenticated(Principal::new(subject.tenant.clone(), caller));
        let merge = subject.merge_as(desk, &one, &other, json!({}), &[]).await;
        assert_eq!(merge.status, 200, "{}: {}", subject.name, merge.json);
        let merged = &merge.json["ext:merge"];
        let undo = undo_of(&merge);
        assert!(undo.starts_with(&format!("{one}/merges/")), "{undo}");
        // The list.
        let person = subject.read(&one).await;
        assert_eq!(href(&person["_links"], MERGES), format!("{one}/merges"));
        let answer = subject.get(&format!("{one}/merges")).await;
        assert_eq!(answer.header("cache-control"), Some("no-store"));
        assert_eq!(answer.url(), format!("{one}/merges"));
        let mut entries = subject.merges(&one).await;
        let created = entries[0].as_object_mut().unwrap().remove("created_date");
        assert!(created.unwrap().as_str() < merged["undo_until"].as_str());
        let entry = json!({
            "created_by": "desk",
            "undo_until": merged["undo_until"],
            "_links": {"ext:merged": {"href": other}, UNDO: {"href": undo}},
        });
        assert_eq!(entries, [entry], "{}", subject.name);
        // The undo.
        let answer = subject.undo(&undo).await;
        let undone = json!({
            "moved": {"signatures": 1},
            "folded": [{"kind": "item",
                "_links": {"ext:remaining": {"href": items[0]}, "ext:merged": {"href": items[1]}}}],
            "left": [],
            "_links": {"ext:restored": {"href": other}},
        });
        assert_eq!(answer.status, 200, "{}: {}", subject.name, answer.json);
        assert_eq!(answer.json["ext:undone_merge"], undone, "{}", subject.name);
        let read = subject.get(&one).await;
        assert_eq!(
            answer.header("etag"),
            read.header("etag"),
            "{}",
            subject.name
        );
        assert_eq!(answer.header("content-location"), Some(&*one));
        let mut person = answer.json.clone();
        person.as_object_mut().unwrap().remove("ext:undone_merge");
        assert_eq!(person, read.json);
        let mut after = Vec::new();
        for address in [&one, &other, &signature, &items[1], &petition, &list] {
            after.push(subject.undated(address).await);
        }
        assert_eq!(before, after, "{}", subject.name);
        assert_eq!(subject.merges(&one).await, [] as [Value; 0]);
        assert_eq!(subject.merges(&other).await, [] as [Value; 0]);
        // The merge no longer exists.
        let again = subject.undo(&undo).await;
        assert_eq!(again.status, 404, "{}: {}", subject.name, again.json);
        // The people can be merged again, and the merge can be undone again.
        let merge = subject.merge(&one, &other).await;
        assert_eq!(subject.merges(&one).await[0]["created_by"], Value::Null);
        assert_eq!(subject.undo(&undo_of(&merge)).await.status, 200);
    })
    .await;
}

/// MRG-20: what was changed after the merge stays, and is in the response.
#[tokio::test]
async fn later_changes_stay() {
    each(async |subject| {
        let [one, other] = subject
            .people([
                json!({"given_name": "Ada", "source": "desk"}),
                json!({"given_name": "Eve", "family_name": "King", "gender": "Female"}),
            ])
            .await;
        let undo = undo_of(&subject.merge(&one, &other).await);
        let change = json!({"given_name": "Kim", "family_name": "Li"});
        let changed = subject.call(Method::PUT, &one, &change).await;
        assert_eq!(changed.status, 200, "{}", changed.json);
        let answer = subject.undo(&undo).await;
        assert_eq!(answer.status, 200, "{}: {}", subject.name, answer.json);
        let left = answer.json["ext:undone_merge"]["left"].as_array().unwrap();
        assert!(
            left.contains(&json!("family_name")),
            "{}: {left:?}",
            subject.name
        );
        let remaining = subject.read(&one).await;
        assert_eq!(
            (&remaining["given_name"], &remaining["family_name"]),
            (&json!("Kim"), &json!("Li"))
        );
        assert_eq!(remaining.get("gender"), None, "{}", subject.name);
        let restored = subject.read(&other).await;
        assert_eq!(
            (&restored["given_name"], &restored["family_name"]),
            (&json!("Eve"), &json!("King"))
        );
    })
    .await;
}

/// MRG-20: the link, the list and the undo need the right. The response has only what the key may read.
#[tokio::test]
async fn only_a_key_with_the_right_undoes_merges() {
    each(async |subject| {
        let [one, other] = subject.named(["Ada"; 2]).await;
        let petition = subject.make("petitions", json!({})).await;
        let of_other = json!({"_links": {"svc:person": {"href": other}}});
        subject
            .make(&format!("{petition}/signatures"), of_other)
            .await;
        let undo = undo_of(&subject.merge(&one, &other).await);
        let list = format!("{one}/merges");
        let send = async |identity: Identity, method: Method, address: &str| {
            subject
                .send(identity, method, address, &[], &Value::Null)
                .await
        };
        let others = || Rights::only(Right::all().filter(|right| *right != Right::MergePeople));
        for refused in [others(), Rights::read_only()] {
            let person = send(subject.key(refused.clone()), Method::GET, &one).await;
            assert_eq!(person.json["_links"].get(MERGES), None, "{}", person.json);
            for (method, address) in [(Method::GET, &list), (Method::POST, &undo)] {
                let key = subject.key(refused.clone());
                assert_eq!(send(key, method, address).await.status, 403, "{address}");
            }
        }
        for (method, address) in [(Method::GET, &list), (Method::POST, &undo)] {
            for identity in [Identity::Anonymous, Identity::InvalidKey] {
                let answer = send(identity, method.clone(), address).await;
                assert_eq!(answer.status, 401, "{address}");
            }
        }
        let few = || subject.key(rights(&["people.merge"]));
        assert_eq!(send(few(), Method::GET, &list).await.status, 200);
        let answer = send(few(), Method::POST, &undo).await;
        assert_eq!(answer.status, 200, "{}: {}", subject.name, answer.json);
        assert_eq!(answer.json.get("given_name"), None);
        assert_eq!(answer.json["ext:undone_merge"]["moved"], json!({}));
        assert_eq!(subject.get(&other).await.status, 200);
    })
    .await;
}

/// MRG-20: merges of other people, of other tenants, and unknown ones do not exist.
#[tokio::test]
async fn an_unknown_merge_is_not_found() {
    each(async |subject| {
        let [one, other, third] = subject.named(["Ada"; 3]).await;
        let undo = undo_of(&subject.merge(&one, &other).await);
        let id = "0199c1a5-7c11-7000-8000-000000000000";
        let unknown = format!("{BASE}people/{id}");
        for (method, address) in [
            (Method::GET, format!("{one}/merges")),
            (Method::POST, undo.clone()),
        ] {
            let key = subject.other_key();
            let answer = subject.send(key, method, &address, &[], &Value::Null).await;
            assert_eq!(answer.status, 404, "{address}: {}", answer.json);
        }
        for (method, address) in [
            (Method::GET, format!("{unknown}/merges")),
            (Method::POST, undo.replace(&one, &unknown)),
            (Method::POST, undo.replace(&one, &third)),
            (Method::POST, format!("{one}/merges/{id}/undo")),
            (Method::POST, format!("{one}/merges/x/undo")),
        ] {
            let answer = subject.call(method, &address, &Value::Null).await;
            answer.assert_rejected(404, "RESOURCE_NOT_FOUND", &[]);
        }
        assert_eq!(subject.get(&other).await.status, 301, "{}", subject.name);
        assert_eq!(subject.merges(&third).await, [] as [Value; 0]);
    })
    .await;
}

/// MRG-21: a later merge into the person is undone first.
#[tokio::test]
async fn a_later_merge_is_undone_first() {
    each(async |subject| {
        let [one, two, three] = subject.named(["Ada"; 3]).await;
        let first = undo_of(&subject.merge(&one, &two).await);
        let second = undo_of(&subject.merge(&one, &three).await);
        let links = |entries: &[Value]| {
            let of = |entry: &Value| {
                let links = &entry["_links"];
                (href(links, "ext:merged"), links[UNDO]["href"].clone())
            };
            entries.iter().map(of).collect::<Vec<_>>()
        };
        assert_eq!(
            links(&subject.merges(&one).await),
            [(three.clone(), json!(second)), (two.clone(), Value::Null)],
            "{}",
            subject.name
        );
        let before = subject.read(&one).await;
        let refused = subject.undo(&first).await;
        refused.assert_rejected(409, "MERGE_NOT_UNDOABLE", &[]);
        assert_eq!(subject.read(&one).await, before);
        assert_eq!(subject.undo(&second).await.status, 200);
        assert_eq!(
            links(&subject.merges(&one).await),
            [(two.clone(), json!(first))],
            "{}",
            subject.name
        );
        assert_eq!(subject.undo(&first).await.status, 200);
        for address in [&two, &three] {
            assert_eq!(subject.get(address).await.status, 200);
        }
    })
    .await;
}

/// MRG-21: the person that remained was merged into another one. Reads of its merges are redirected, and
/// the undo is rejected until the later merge is undone.
#[tokio::test]
async fn a_merge_into_a_merged_person_cannot_be_undone() {
    each(async |subject| {
        let [one, two, three] = subject.named(["Ada"; 3]).await;
        let undo = undo_of(&subject.merge(&two, &three).await);
        let last = undo_of(&subject.merge(&one, &two).await);
        let answer = subject.get(&format!("{two}/merges")).await;
        assert_eq!(
            (answer.status, answer.header("location")),
            (301, Some(&*format!("{one}/merges"))),
            "{}",
            subject.name
        );
        let answer = subject.undo(&undo).await;
        answer.assert_rejected(409, "MERGE_NOT_UNDOABLE", &[]);
        let answer = subject.undo(&format!("{two}/merges/x/undo")).await;
        answer.assert_rejected(410, "PERSON_MERGED", &[]);
        assert_eq!(subject.undo(&last).await.status, 200, "{}", subject.name);
        let answer = subject.undo(&undo).await;
        assert_eq!(answer.status, 200, "{}: {}", subject.name, answer.json);
        assert_eq!(subject.get(&three).await.status, 200);
    })
    .await;
}

/// MRG-21: a merge cannot be undone after the configured period.
#[tokio::test]
async fn a_merge_cannot_be_undone_for_ever() {
    // Shorter than the unit of timestamps: the period is over at the time of the merge.
    let period = Duration::from_nanos(1);
    let subjects = subjects(|api| configured(api).undo_merges_for(period)).await;
    for subject in subjects {
        let [one, other] = subject.named(["Ada"; 2]).await;
        let undo = undo_of(&subject.merge(&one, &other).await);
        for entry in subject.merges(&one).await {
            assert_eq!(entry["_links"].get(UNDO), None, "{}", subject.name);
        }
        let answer = subject.undo(&undo).await;
        answer.assert_rejected(409, "MERGE_NOT_UNDOABLE", &[]);
        assert_eq!(subject.get(&other).await.status, 301);
    }
}

/// MRG-21: after the remaining person was deleted, nothing of the merge is left.
#[tokio::test]
async fn a_merge_into_a_deleted_person_does_not_exist() {
    each(async |subject| {
        let [one, other] = subject.named(["Ada"; 2]).await;
        let undo = undo_of(&subject.merge(&one, &other).await);
        let deleted = subject.call(Method::DELETE, &one, &Value::Null).await;
        assert_eq!(deleted.status, 204);
        let list = subject.get(&format!("{one}/merges")).await;
        let answer = subject.undo(&undo).await;
        assert_eq!((list.status, answer.status), (404, 404), "{}", subject.name);
        assert_eq!(subject.get(&other).await.status, 404);
    })
    .await;
}

/// IDM-02: a repeated request with an idempotency key gets the first response.
#[tokio::test]
async fn a_repeated_request_gets_the_first_response() {
    each(async |subject| {
        let [one, other] = subject.named(["Ada"; 2]).await;
        let undo = undo_of(&subject.merge(&one, &other).await);
        let key = [("idempotency-key", "undo")];
        let send = async |address: &str| {
            let identity = subject.full_key();
            subject
                .send(identity, Method::POST, address, &key, &json!({}))
                .await
        };
        let first = send(&undo).await;
        assert_eq!(first.status, 200, "{}: {}", subject.name, first.json);
        let again = send(&undo).await;
        assert_eq!((again.status, &again.json), (200, &first.json));
        assert_eq!(again.header("idempotency-replayed"), Some("true"));
        let next = undo_of(&subject.merge(&one, &other).await);
        let reused = send(&next).await;
        reused.assert_rejected(422, "IDEMPOTENCY_KEY_REUSED", &[]);
        assert_eq!(subject.get(&other).await.status, 301);
    })
    .await;
}

/// UND-22: the request has no body or an empty object. Unknown members are warnings, with strict handling
/// errors.
#[tokio::test]
async fn unknown_members_of_the_body_are_reported() {
    each(async |subject| {
        let [one, other] = subject.named(["Ada"; 2]).await;
        let undo = undo_of(&subject.merge(&one, &other).await);
        let unknown = json!({"preview": true});
        let strict = [("prefer", "handling=strict")];
        let answer = subject
            .send(subject.full_key(), Method::POST, &undo, &strict, &unknown)
            .await;
        answer.assert_rejected(400, "PROPERTY_UNKNOWN", &["preview"]);
        assert_eq!(subject.get(&other).await.status, 301);
        let list = subject.call(Method::POST, &undo, &json!([])).await;
        list.assert_rejected(400, "JSON_INVALID", &[]);
        let answer = subject.call(Method::POST, &undo, &unknown).await;
        assert_eq!(answer.status, 200, "{}", answer.json);
        assert_eq!(
            answer.json["ext:warnings"][0]["properties"],
            json!(["preview"])
        );
        let undo = undo_of(&subject.merge(&one, &other).await);
        let answer = subject
            .send(
                subject.full_key(),
                Method::POST,
                &undo,
                &strict,
                &Value::Null,
            )
            .await;
        assert_eq!(answer.status, 200, "{}", answer.json);
        assert_eq!(answer.json.get("ext:warnings"), None);
    })
    .await;
}

/// ETG-07, ETG-09: `If-Match` is the entity tag of the remaining person.
#[tokio::test]
async fn the_entity_tag_of_the_person_must_be_current() {
    for policy in [IfMatchPolicy::Optional, IfMatchPolicy::Required] {
        let subjects = subjects(|api| api.merge_people().conditional_requests(policy)).await;
        for subject in subjects {
            let [one, other] = subject.named(["Ada"; 2]).await;
            let tag = async |address: &str| {
                let answer = subject.get(address).await;
                answer.header("etag").unwrap().to_owned()
            };
            let old = tag(&one).await;
            let merged = json!({"merged_etag": tag(&other).await});
            let merge = subject
                .merge_as(
                    subject.full_key(),
                    &one,
                    &other,
                    merged,
                    &[("if-match", &old)],
                )
                .await;
            assert_eq!(merge.status, 200, "{}", merge.json);
            let undo = undo_of(&merge);
            let send = async |headers: &[(&str, &str)]| {
                let identity = subject.full_key();
                subject
                    .send(identity, Method::POST, &undo, headers, &Value::Null)
                    .await
            };
            let outdated = send(&[("if-match", &old)]).await;
            outdated.assert_rejected(412, "PRECONDITION_FAILED", &[]);
            if policy == IfMatchPolicy::Required {
                send(&[])
                    .await
                    .assert_rejected(428, "PRECONDITION_REQUIRED", &[]);
            }
            let done = send(&[("if-match", &tag(&one).await)]).await;
            assert_eq!(done.status, 200, "{}: {}", subject.name, done.json);
        }
    }
}

/// MRG-20: the capability document declares the undo, unless the period is zero.
#[tokio::test]
async fn merges_can_be_undone_only_if_that_is_enabled() {
    each(async |subject| {
        let behaviours = subject.read("docs/capabilities").await["behaviours"].clone();
        let behaviours = behaviours.as_array().unwrap();
        assert!(behaviours.contains(&json!("merge_people.undo")));
    })
    .await;
    for subject in subjects(|api| configured(api).undo_merges_for(Duration::ZERO)).await {
        let behaviours = subject.read("docs/capabilities").await["behaviours"].clone();
        let behaviours = behaviours.as_array().unwrap();
        assert!(behaviours.contains(&json!("merge_people")));
        assert!(!behaviours.contains(&json!("merge_people.undo")));
        let [one, other] = subject.named(["Ada"; 2]).await;
        let merge = subject.merge(&one, &other).await;
        let merged = &merge.json["ext:merge"];
        assert_eq!(merged.get("undo_until"), None);
        assert_eq!(merged["_links"], json!({"ext:merged": {"href": other}}));
        assert_eq!(merge.json["_links"].get(MERGES), None);
        for (method, address) in [
            (Method::GET, format!("{one}/merges")),
            (Method::POST, format!("{one}/merges/x/undo")),
        ] {
            let answer = subject.call(method, &address, &Value::Null).await;
            answer.assert_rejected(500, "NOT_IMPLEMENTED", &[]);
        }
    }
    let store = MemoryStore::new();
    let api = store
        .register_all(builder())
        .authenticator(FixedKeys::new());
    let error = api.undo_merges_for(Duration::ZERO).build().unwrap_err();
    let [problem] = error.problems() else {
        panic!("{error}")
    };
    assert!(problem.contains("`.merge_people()`"), "{problem}");
}
