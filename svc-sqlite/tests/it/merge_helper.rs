//! Merges of two people over the whole API, on the store in memory and on the store in a file.
//!
//! Requirements: MRG-01 to MRG-18.

use std::collections::BTreeMap;

use http::Method;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use svc_core::{
    api::{ApiBuilder, IfMatchPolicy},
    auth::{FixedKeys, Identity, Right, Rights},
    model::Kind,
    schema::Constraints,
};
use svc_docs::Docs;
use svc_sqlite::{SqliteOptions, SqliteStore};
use svc_tower::SvcService;
use tower::ServiceExt;

use crate::both_stores::{self, Answer, Subject, problem, rights, subjects};
use crate::server::{BASE, builder};

impl Answer {
    /// Returns the person to whom the first error links.
    fn person(&self) -> &str {
        let problem = &self.json["svc:error"]["resource_status"][0]["error_descriptions"][0];
        problem["_links"]["svc:person"]["href"]
            .as_str()
            .unwrap_or_else(|| panic!("{}", self.json))
    }
}

const LINK: &str = "_links.svc:person";

fn configured(api: ApiBuilder, if_match: IfMatchPolicy) -> ApiBuilder {
    api.merge_people().conditional_requests(if_match).batches()
}

/// Runs a check on both stores.
async fn each(check: impl AsyncFn(&Subject)) {
    both_stores::each(|api| configured(api, IfMatchPolicy::Optional), check).await;
}

fn address(status: &str, address: &str) -> Value {
    json!({"address": address, "status": status})
}

impl Subject {
    pub(crate) async fn people<const N: usize>(&self, bodies: [Value; N]) -> [String; N] {
        let mut made = Vec::new();
        for body in bodies {
            made.push(self.make("people", body).await);
        }
        made.try_into().unwrap()
    }

    pub(crate) async fn named<const N: usize>(&self, names: [&str; N]) -> [String; N] {
        self.people(names.map(|name| json!({"given_name": name})))
            .await
    }

    /// Sends a merge with further members and headers.
    pub(crate) async fn merge_as(
        &self,
        identity: Identity,
        remaining: &str,
        merged: &str,
        more: Value,
        headers: &[(&str, &str)],
    ) -> Answer {
        let mut body = json!({"_links": {"svc:person": {"href": merged}}});
        for (name, value) in more.as_object().unwrap() {
            body[name] = value.clone();
        }
        let address = format!("{remaining}/merge_helper");
        self.send(identity, Method::POST, &address, headers, &body)
            .await
    }

    pub(crate) async fn merge_with(&self, remaining: &str, merged: &str, more: Value) -> Answer {
        self.merge_as(self.full_key(), remaining, merged, more, &[])
            .await
    }

    /// Merges two people.
    pub(crate) async fn merge(&self, remaining: &str, merged: &str) -> Answer {
        let answer = self.merge_with(remaining, merged, json!({})).await;
        assert_eq!(answer.status, 200, "{}: {}", self.name, answer.json);
        answer
    }
}

/// Returns the response to a merge without what undoes it.
fn without_undo(answer: &Answer) -> Value {
    let mut person = answer.json.clone();
    let merge = person["ext:merge"].as_object_mut().unwrap();
    merge.remove("undo_until");
    let links = merge["_links"].as_object_mut().unwrap();
    links.remove("ext:undo_merge_helper");
    person
}

fn id(address: &str) -> &str {
    address.rsplit('/').next().unwrap()
}

/// Returns the identifier of a person in the namespace of the server.
fn own(address: &str) -> String {
    format!("here:{}", id(address))
}

/// MRG-02, MRG-05: the response is the remaining person with what the merge changed, and has the entity
/// tag of the next read.
#[tokio::test]
async fn a_merge_returns_the_remaining_person() {
    each(async |subject| {
        let [one, other] = subject
            .people([
                json!({"given_name": "Ada", "birthdate": {"year": 1990},
                    "email_addresses": [address("subscribed", "ada@x.org")]}),
                json!({"given_name": "Ada", "family_name": "King", "birthdate": {"year": 1991},
                    "email_addresses": [address("unsubscribed", "ADA@x.org"), address("subscribed", "a@y.org")]}),
            ])
            .await;
        let petition = subject.make("petitions", json!({})).await;
        let links = json!({"_links": {"svc:person": {"href": other}}});
        let signature = subject.make(&format!("{petition}/signatures"), links.clone()).await;
        let list = subject.make("lists", json!({"name": "L"})).await;
        let of_remaining = json!({"_links": {"svc:person": {"href": one}}});
        let items = [
            subject.make(&format!("{list}/items"), of_remaining).await,
            subject.make(&format!("{list}/items"), links).await,
        ];
        let person = subject.get(&one).await.json;
        assert_eq!(person["_links"]["ext:merge_helper"]["href"], format!("{one}/merge_helper"));
        let curies = person["_links"]["curies"].as_array().unwrap();
        assert!(curies.iter().any(|curie| curie["name"] == "ext"), "HAL-19");
        let answer = subject.merge(&one, &other).await;
        let merged = json!({
            "preview": false,
            "already": false,
            "moved": {"signatures": 1},
            "folded": [{"kind": "item",
                "_links": {"ext:remaining": {"href": items[0]}, "ext:merged": {"href": items[1]}}}],
            "overruled": [{"property": "birthdate", "remaining": {"year": 1990}, "merged": {"year": 1991}},
                {"property": "email_addresses[0].address", "remaining": "ada@x.org", "merged": "ADA@x.org"}],
            "tightened": [{"property": "email_addresses[0].status", "from": "subscribed", "to": "unsubscribed"}],
            "_links": {"ext:merged": {"href": other}},
        });
        assert_eq!(without_undo(&answer)["ext:merge"], merged, "{}", subject.name);
        let read = subject.get(&one).await;
        assert_eq!(answer.header("etag"), read.header("etag"), "{}", subject.name);
        assert!(answer.header("etag").is_some());
        assert_eq!(answer.header("content-location"), Some(&*one));
        let mut person = answer.json.clone();
        person.as_object_mut().unwrap().remove("ext:merge");
        assert_eq!(person, read.json);
        assert_eq!(person["family_name"], "King");
        assert_eq!(person["identifiers"], json!([own(&one), own(&other)]));
        assert_eq!(subject.get(&signature).await.json["_links"]["svc:person"]["href"], one);
    })
    .await;
}

/// MRG-01: the link and the operation need the right.
#[tokio::test]
async fn only_a_key_with_the_right_merges() {
    each(async |subject| {
        let [one, other, third] = subject.named(["Ada"; 3]).await;
        let all = || Rights::all();
        let others = || Right::all().filter(|right| *right != Right::MergePeople);
        let listed = || Rights::only(others());
        let named = || rights(&["people.read", "people.list", "people.merge"]);
        let link = async |rights: Rights, address: &str| {
            let identity = subject.key(rights);
            let answer = subject
                .send(identity, Method::GET, address, &[], &Value::Null)
                .await;
            assert_eq!(answer.status, 200);
            let person = match &answer.json["_embedded"]["svc:people"] {
                Value::Null => &answer.json,
                people => &people[0],
            };
            let has_curie = answer.json["_links"]["curies"].as_array().unwrap().len() > 1;
            let has_link = person["_links"].get("ext:merge_helper").is_some();
            assert_eq!(has_curie, has_link, "{}", answer.json);
            has_link
        };
        // Each twice, because the second response is cached.
        for address in [&*one, &*one, "people", "people"] {
            assert!(link(all(), address).await, "{address}");
            assert!(!link(listed(), address).await, "{address}");
            assert!(link(named(), address).await, "{address}");
            assert!(!link(Rights::read_only(), address).await, "{address}");
        }
        let merge = async |rights: Rights, merged: &str, more: Value| {
            subject
                .merge_as(subject.key(rights), &one, merged, more, &[])
                .await
        };
        for rights in [listed(), Rights::read_only()] {
            assert_eq!(merge(rights, &other, json!({})).await.status, 403);
        }
        let person = || json!({"person": {"family_name": "King"}});
        assert_eq!(
            merge(named(), &other, person()).await.status,
            403,
            "{}",
            subject.name
        );
        let anonymous = subject
            .merge_as(Identity::Anonymous, &one, &other, json!({}), &[])
            .await;
        assert_eq!(anonymous.status, 401);
        let invalid = subject
            .merge_as(Identity::InvalidKey, &one, &other, json!({}), &[])
            .await;
        assert_eq!(invalid.status, 401);
        assert_eq!(merge(named(), &other, json!({})).await.status, 200);
        // Without the right to read people, the response has no fields of a person.
        let update = || rights(&["people.merge", "people.update"]);
        let answer = merge(update(), &third, json!({"person": {"family_name": "King"}})).await;
        assert_eq!(answer.status, 200, "{}", answer.json);
        assert_eq!(answer.json.get("family_name"), None);
        assert_eq!(answer.json["ext:merge"]["overruled"], json!([]));
        assert_eq!(subject.get(&one).await.json["family_name"], "King");
    })
    .await;
}

/// MRG-03: people of another tenant do not exist.
#[tokio::test]
async fn tenants_are_separate() {
    each(async |subject| {
        let [one, other] = subject.named(["Ada"; 2]).await;
        let made = subject
            .send(
                subject.other_key(),
                Method::POST,
                "people",
                &[],
                &json!({"given_name": "Ada"}),
            )
            .await;
        let foreign = made.url();
        let answer = subject.merge_with(&one, &foreign, json!({})).await;
        answer.assert_rejected(400, "PERSON_NOT_FOUND", &[LINK]);
        let answer = subject
            .merge_as(subject.other_key(), &one, &foreign, json!({}), &[])
            .await;
        assert_eq!(answer.status, 404, "{}", answer.json);
        subject.merge(&one, &other).await;
        let read = subject
            .send(subject.other_key(), Method::GET, &other, &[], &Value::Null)
            .await;
        assert_eq!((read.status, read.header("location")), (404, None));
    })
    .await;
}

/// MRG-08: a preview returns what the merge returns, and stores nothing.
#[tokio::test]
async fn a_preview_stores_nothing() {
    each(async |subject| {
        let [one, other] = subject
            .people([
                json!({"given_name": "Ada"}),
                json!({"given_name": "Eve", "source": "import"}),
            ])
            .await;
        let petition = subject.make("petitions", json!({})).await;
        let links = json!({"_links": {"svc:person": {"href": other}}});
        let signature = subject.make(&format!("{petition}/signatures"), links).await;
        let mut before = Vec::new();
        for address in [&one, &other, &petition, &signature] {
            before.push(subject.get(address).await.json);
        }
        let key = [("idempotency-key", "k1")];
        let preview = json!({"preview": true, "person": {"family_name": "King"}});
        let preview = subject
            .merge_as(subject.full_key(), &one, &other, preview, &key)
            .await;
        assert_eq!(preview.status, 200, "{}", preview.json);
        for header in [
            "etag",
            "last-modified",
            "content-location",
            "idempotency-replayed",
        ] {
            assert_eq!(preview.header(header), None, "{header}");
        }
        let mut after = Vec::new();
        for address in [&one, &other, &petition, &signature] {
            after.push(subject.get(address).await.json);
        }
        assert_eq!(before, after, "{}", subject.name);
        let merge = json!({"preview": false, "person": {"family_name": "King"}});
        let merge = subject
            .merge_as(subject.full_key(), &one, &other, merge, &key)
            .await;
        assert_eq!(
            merge.status, 200,
            "the key of a preview is free: {}",
            merge.json
        );
        let mut preview = preview.json;
        assert_eq!(preview["ext:merge"]["preview"], true);
        preview["ext:merge"]["preview"] = json!(false);
        preview["modified_date"] = merge.json["modified_date"].clone();
        assert_eq!(preview, without_undo(&merge), "{}", subject.name);
    })
    .await;
}

/// MRG-06, MRG-07: a repeated merge changes nothing, and a merge that is not possible names the reason.
#[tokio::test]
async fn a_merge_that_is_not_possible_changes_nothing() {
    each(async |subject| {
        let [one, other, third] = subject.named(["Ada"; 3]).await;
        let unknown = format!("{BASE}people/0199c1a5-7c11-7000-8000-000000000000");
        let same = subject.merge_with(&one, &one, json!({})).await;
        same.assert_rejected(400, "MERGE_SAME_PERSON", &[LINK]);
        let none = subject.merge_with(&one, &unknown, json!({})).await;
        none.assert_rejected(400, "PERSON_NOT_FOUND", &[LINK]);
        assert_eq!(
            subject.merge_with(&unknown, &one, json!({})).await.status,
            404
        );
        subject.merge(&one, &other).await;
        let before = subject.get(&one).await;
        let again = subject.merge(&one, &other).await;
        assert_eq!(again.json["ext:merge"]["already"], true);
        assert_eq!(again.json["ext:merge"]["moved"], json!({}));
        assert_eq!(again.header("etag"), before.header("etag"));
        assert_eq!(subject.get(&one).await.json, before.json);
        let elsewhere = subject.merge_with(&third, &other, json!({})).await;
        elsewhere.assert_rejected(400, "PERSON_MERGED", &[LINK]);
        assert_eq!(elsewhere.person(), one);
        let crossing = subject.merge_with(&other, &one, json!({})).await;
        crossing.assert_rejected(410, "PERSON_MERGED", &[]);
        assert_eq!(crossing.person(), one);
        // The body has further problems.
        let wrong = subject
            .merge_with(&other, &third, json!({"preview": 7}))
            .await;
        assert_eq!(
            (wrong.status, wrong.person()),
            (410, &*one),
            "{}",
            subject.name
        );
        let none = json!({"_links": {}});
        let wrong = subject.merge_with(&other, "", none.clone()).await;
        assert_eq!(
            (wrong.status, wrong.person()),
            (410, &*one),
            "{}",
            subject.name
        );
        assert_eq!(subject.merge_with(&unknown, "", none).await.status, 404);
    })
    .await;
}

/// MRG-09: both entity tags are compared.
#[tokio::test]
async fn both_entity_tags_must_be_current() {
    each(async |subject| {
        let [one, other] = subject.named(["Ada", "Eve"]).await;
        let tag = async |address: &str| {
            subject
                .get(address)
                .await
                .header("etag")
                .unwrap()
                .to_owned()
        };
        let (remaining, merged) = (tag(&one).await, tag(&other).await);
        let merge = async |if_match: &str, merged_tag: &str| {
            let more = json!({"merged_etag": merged_tag});
            let headers = [("if-match", if_match)];
            subject
                .merge_as(subject.full_key(), &one, &other, more, &headers)
                .await
        };
        let changed = json!({"family_name": "King"});
        for address in [&one, &other] {
            assert_eq!(
                subject.call(Method::PUT, address, &changed).await.status,
                200
            );
        }
        let (remaining_now, merged_now) = (tag(&one).await, tag(&other).await);
        let old = merge(&remaining, &merged_now).await;
        old.assert_rejected(412, "PRECONDITION_FAILED", &[]);
        for old in [&*merged, merged.trim_matches('"'), "x"] {
            let old = merge(&remaining_now, old).await;
            old.assert_rejected(412, "PRECONDITION_FAILED", &["merged_etag"]);
        }
        assert_eq!(subject.get(&other).await.status, 200);
        let done = merge(&remaining_now, merged_now.trim_matches('"')).await;
        assert_eq!(done.status, 200, "{}", done.json);
    })
    .await;
    for subject in subjects(|api| configured(api, IfMatchPolicy::Required)).await {
        let [one, other] = subject.named(["Ada", "Eve"]).await;
        let remaining = subject.get(&one).await;
        let merged = subject.get(&other).await;
        let merged = json!({"merged_etag": merged.header("etag").unwrap()});
        let merge = async |more: &Value, headers: &[(&str, &str)]| {
            subject
                .merge_as(subject.full_key(), &one, &other, more.clone(), headers)
                .await
        };
        let missing = merge(&merged, &[]).await;
        missing.assert_rejected(428, "PRECONDITION_REQUIRED", &[]);
        let if_match = [("if-match", remaining.header("etag").unwrap())];
        let missing = merge(&json!({}), &if_match).await;
        missing.assert_rejected(428, "PRECONDITION_REQUIRED", &["merged_etag"]);
        // The repeated request has the entity tags from before the merge.
        for is_repeated in [false, true] {
            let done = merge(&merged, &if_match).await;
            assert_eq!(done.status, 200, "{}: {}", subject.name, done.json);
            assert_eq!(done.json["ext:merge"]["already"], json!(is_repeated));
        }
    }
}

/// MRG-11, MRG-12: reads of the old address are redirected, changes are rejected, and what others record
/// there is recorded for the remaining person.
#[tokio::test]
async fn the_old_address_means_the_remaining_person() {
    each(async |subject| {
        let [one, other] = subject
            .people([
                json!({"given_name": "Ada", "identifiers": ["crm:1"]}),
                json!({"given_name": "Eve", "identifiers": ["crm:2"]}),
            ])
            .await;
        let canvass = json!({"canvass": {"contact_type": "phone"}});
        let helper = format!("{other}/record_canvass_helper");
        let first = subject.call(Method::POST, &helper, &canvass).await;
        assert_eq!(first.status, 200, "{}", first.json);
        let first = first.url();
        subject.merge(&one, &other).await;
        let moved = |address: &str| address.replace(id(&other), id(&one));
        for address in [
            other.clone(),
            format!("{other}?x=1"),
            format!("{other}/signatures?per_page=5&page=2"),
            format!("{other}/taggings"),
            first.clone(),
        ] {
            for method in [Method::GET, Method::HEAD] {
                let answer = subject.call(method, &address, &Value::Null).await;
                let at = format!("{} {address}: {}", subject.name, answer.json);
                assert_eq!(answer.status, 301, "{at}");
                assert_eq!(answer.header("location"), Some(&*moved(&address)), "{at}");
                assert_eq!(answer.header("cache-control"), Some("no-store"), "{at}");
                assert_eq!(answer.problems(), problem("PERSON_MERGED", &[]), "{at}");
                assert_eq!(answer.person(), one, "{at}");
                assert_eq!(answer.header("etag"), None, "{at}");
            }
        }
        assert_eq!(
            subject.get(&moved(&first)).await.status,
            200,
            "{}",
            subject.name
        );
        // A key that may not read people gets the response for an unknown person.
        let few = rights(&["signatures.list"]);
        let below = format!("{other}/signatures");
        let answer = subject
            .send(subject.key(few), Method::GET, &below, &[], &Value::Null)
            .await;
        assert_eq!((answer.status, answer.header("location")), (404, None));
        let answer = subject
            .send(Identity::Anonymous, Method::GET, &other, &[], &Value::Null)
            .await;
        assert_eq!(answer.status, 401);
        let mut change = json!({"given_name": "Kim"});
        for (method, address) in [
            (Method::PUT, &other),
            (Method::DELETE, &other),
            (Method::PUT, &first),
            (Method::DELETE, &first),
        ] {
            let answer = subject.call(method.clone(), address, &change).await;
            let at = format!("{} {method} {address}: {}", subject.name, answer.json);
            assert_eq!((answer.status, answer.person()), (410, &*one), "{at}");
            assert_eq!(answer.problems(), problem("PERSON_MERGED", &[]), "{at}");
        }
        change["email_addresses"] = json!(7);
        let answer = subject.call(Method::PUT, &other, &change).await;
        assert_eq!(
            (answer.status, answer.person()),
            (410, &*one),
            "{}",
            answer.json
        );
        // Helpers, with and without a key.
        for identity in [subject.full_key(), Identity::Anonymous] {
            let answer = subject
                .send(identity, Method::POST, &helper, &[], &canvass)
                .await;
            assert_eq!(answer.status, 200, "{}: {}", subject.name, answer.json);
        }
        let batch = subject
            .call(Method::POST, &format!("{helper}/batch"), &json!([canvass]))
            .await;
        assert_eq!(
            batch.json["succeeded"], 1,
            "{}: {}",
            subject.name, batch.json
        );
        let canvasses = subject.get(&format!("{one}/canvasses")).await.json;
        assert_eq!(canvasses["total_records"], 4, "{}", subject.name);
        // Links to the address.
        let petition = subject.make("petitions", json!({})).await;
        let link = json!({"_links": {"svc:person": {"href": other}}});
        let signature = subject.make(&format!("{petition}/signatures"), link).await;
        let read = subject.get(&signature).await.json;
        assert_eq!(read["_links"]["svc:person"]["href"], one);
        // Identifiers.
        let former = own(&other);
        for identifier in [&*former, "crm:2", "crm:1"] {
            let filter = format!("people?filter=identifiers%20eq%20'{identifier}'");
            let found = subject.get(&filter).await.json;
            assert_eq!(
                found["_embedded"]["svc:people"][0]["_links"]["self"]["href"],
                one
            );
        }
        let signup = json!({"person": {"identifiers": [former], "family_name": "King"}});
        let answer = subject
            .call(Method::POST, "people/person_signup", &signup)
            .await;
        assert_eq!(
            (answer.status, answer.url()),
            (200, one.clone()),
            "{}",
            answer.json
        );
        // A response can be sent back, and does not remove the identifiers.
        let person = subject.get(&one).await;
        assert_eq!(person.json["family_name"], "King");
        let strict = [("prefer", "handling=strict")];
        let mut sent = person.json.clone();
        sent["ext:merge"] = json!({"already": false});
        let put = subject
            .send(subject.full_key(), Method::PUT, &one, &strict, &sent)
            .await;
        assert_eq!(put.status, 200, "{}: {}", subject.name, put.json);
        assert_eq!(put.json, person.json);
        let put = json!({"identifiers": ["crm:3"]});
        let put = subject.call(Method::PUT, &one, &put).await;
        assert_eq!(
            put.json["identifiers"],
            json!([own(&one), "crm:3", own(&other)])
        );
        let stolen =
            json!({"identifiers": [own(&one), "here:0199c1a5-7c11-7000-8000-000000000000"]});
        assert_eq!(subject.call(Method::PUT, &one, &stolen).await.status, 400);
        // A deleted person has no old addresses.
        assert_eq!(
            subject
                .call(Method::DELETE, &one, &Value::Null)
                .await
                .status,
            204
        );
        for method in [Method::GET, Method::PUT, Method::DELETE] {
            let answer = subject
                .call(method, &other, &json!({"given_name": "X"}))
                .await;
            assert_eq!(
                (answer.status, answer.header("location")),
                (404, None),
                "{}",
                subject.name
            );
        }
    })
    .await;
}

/// UND-24, MRG-08: a list of identifiers that was read can be sent wherever it is read, and changes
/// nothing. One former identifier alone also means the remaining person.
#[tokio::test]
async fn the_own_identifiers_of_merged_people_are_accepted() {
    each(async |subject| {
        let [one, other, third] = subject
            .people([
                json!({"given_name": "Ada", "identifiers": ["crm:1"]}),
                json!({"given_name": "Eve", "identifiers": ["crm:2"]}),
                json!({"given_name": "Kim"}),
            ])
            .await;
        let own_ones = [&one, &other, &third].map(|it| own(it));
        let [first, former, earlier] = own_ones.each_ref().map(String::as_str);
        subject.merge(&other, &third).await;
        // The own identifiers can also be sent with the merge that adds them.
        let all = [first, "crm:1", former, "crm:2", earlier];
        let person = json!({"person": {"identifiers": [first, "crm:1", former, earlier]}});
        let merged = subject.merge_with(&one, &other, person).await;
        assert_eq!(merged.status, 200, "{}: {}", subject.name, merged.json);
        let stored = subject.read(&one).await;
        assert_eq!(stored["identifiers"], json!(all), "{}", subject.name);
        let petition = subject.make("petitions", json!({})).await;
        let signatures = format!("{petition}/signatures");
        for sent in [
            &all[..],
            &[former],
            &[earlier],
            &[former, first],
            &[earlier, "crm:2", former, "crm:1"],
            &[first, earlier, former, "crm:1", "crm:2"],
        ] {
            let person = json!({"identifiers": sent});
            let body = json!({"person": person});
            let at = format!("{}: {sent:?}", subject.name);
            let signup = subject
                .call(Method::POST, "people/person_signup", &body)
                .await;
            assert_eq!(signup.status, 200, "{at}: {}", signup.json);
            assert_eq!(signup.url(), one, "{at}");
            let signature = subject.make(&signatures, body.clone()).await;
            let signature = subject.read(&signature).await;
            assert_eq!(signature["_links"]["svc:person"]["href"], one, "{at}");
            let again = subject.merge_with(&one, &third, body).await;
            assert_eq!(again.status, 200, "{at}: {}", again.json);
            // A change replaces the foreign identifiers.
            let own = sent.iter().filter(|it| it.starts_with("here:")).copied();
            let sent: Vec<&str> = own.chain(["crm:1", "crm:2"]).collect();
            let put = json!({"identifiers": sent});
            let put = subject.call(Method::PUT, &one, &put).await;
            assert_eq!(put.status, 200, "{at}: {}", put.json);
            assert_eq!(subject.read(&one).await, stored, "{at}");
        }
        let other = subject.named(["Zoe"]).await;
        let body = json!({"person": {"identifiers": [first, former]}, "preview": true});
        let preview = subject.merge_with(&one, &other[0], body).await;
        assert_eq!(preview.status, 200, "{}", preview.json);
    })
    .await;
}

/// UND-24: an identifier of another person is rejected next to those of the person, at its position.
#[tokio::test]
async fn the_own_identifiers_of_other_people_are_rejected() {
    each(async |subject| {
        let [one, other, foreign, last] = subject
            .people([
                json!({"given_name": "Ada"}),
                json!({"given_name": "Eve"}),
                json!({"given_name": "Kim", "identifiers": ["crm:3"]}),
                json!({"given_name": "Zoe"}),
            ])
            .await;
        subject.merge(&one, &other).await;
        let stored = subject.read(&one).await;
        let own_ones = [&one, &other, &foreign].map(|it| own(it));
        let [first, former, foreign] = own_ones.each_ref().map(String::as_str);
        let unknown = "here:0199c1a5-7c11-7000-8000-000000000000";
        let petition = subject.make("petitions", json!({})).await;
        let signatures = format!("{petition}/signatures");
        let in_use = "IDENTIFIER_IN_USE";
        for (sent, position) in [
            (&[first, foreign][..], 1),
            (&[former, "crm:1", foreign], 2),
            (&["crm:1", first, unknown, former], 2),
            (&[former, first, "crm:3"], 2),
        ] {
            let person = json!({"identifiers": sent});
            let body = json!({"person": person});
            let property = format!("person.identifiers[{position}]");
            for address in ["people/person_signup", &*signatures] {
                let answer = subject.call(Method::POST, address, &body).await;
                answer.assert_rejected(400, in_use, &[&property]);
            }
            // A key that changes no people.
            let few = rights(&["people.create", "signatures.create", "people.read"]);
            let answer = subject
                .send(subject.key(few), Method::POST, &signatures, &[], &body)
                .await;
            if sent.contains(&"crm:3") {
                assert_ne!(answer.status, 400, "{}", answer.json);
            } else {
                answer.assert_rejected(400, in_use, &[&property]);
            }
            let answer = subject.merge_with(&one, &last, body).await;
            answer.assert_rejected(400, in_use, &[&property]);
            let answer = subject.call(Method::PUT, &one, &person).await;
            answer.assert_rejected(400, in_use, &[&format!("identifiers[{position}]")]);
        }
        // The first one identifies the person.
        for (sent, positions) in [
            (&[foreign, first, former][..], vec![1, 2]),
            (&[unknown, first], vec![0]),
        ] {
            let body = json!({"person": {"identifiers": sent}});
            let answer = subject
                .call(Method::POST, "people/person_signup", &body)
                .await;
            let property =
                |it: usize| (in_use.to_owned(), vec![format!("person.identifiers[{it}]")]);
            let expected: Vec<_> = positions.into_iter().map(property).collect();
            assert_eq!((answer.status, answer.problems()), (400, expected));
        }
        // No person can be created with them, and no other record has several.
        let create = json!({"given_name": "X", "identifiers": [first, former]});
        let answer = subject.call(Method::POST, "people", &create).await;
        let properties: Vec<_> = answer.problems().into_iter().flat_map(|it| it.1).collect();
        assert_eq!(
            (answer.status, properties.len()),
            (400, 2),
            "{}",
            answer.json
        );
        assert_eq!(subject.read(&one).await, stored, "{}", subject.name);
    })
    .await;
}

/// HLP-07: the response to an anonymous caller does not depend on the identifiers.
#[tokio::test]
async fn own_identifiers_do_not_change_anonymous_responses() {
    each(async |subject| {
        let [one, other, third] = subject.named(["Ada", "Eve", "Kim"]).await;
        subject.merge(&one, &other).await;
        let petition = subject.make("petitions", json!({})).await;
        let address = format!("{petition}/record_signature_helper");
        let unknown = "here:0199c1a5-7c11-7000-8000-000000000000".to_owned();
        let mut answers = Vec::new();
        for sent in [
            [own(&one), own(&other)],
            [own(&other), own(&one)],
            [own(&one), own(&third)],
            [unknown.clone(), own(&one)],
        ] {
            let body = json!({"person": {"given_name": "Ada", "identifiers": sent}});
            let identity = Identity::Anonymous;
            let answer = subject
                .send(identity, Method::POST, &address, &[], &body)
                .await;
            answers.push((answer.status, answer.json));
        }
        let first = answers[0].clone();
        assert!(answers.iter().all(|it| *it == first), "{answers:?}");
        // Nothing was recorded for the person.
        let signatures = subject.read(&format!("{one}/signatures")).await;
        assert_eq!(signatures["total_records"], 0, "{}", subject.name);
    })
    .await;
}

/// MRG-08: a filter finds people by former identifiers in every position of the filter.
#[tokio::test]
async fn a_filter_finds_people_by_former_identifiers() {
    each(async |subject| {
        let [one, other, third, last, alone] = subject
            .people(
                ["crm:1", "crm:2", "crm:3", "crm:4", "crm:5"]
                    .map(|it| json!({"identifiers": [it]})),
            )
            .await;
        subject.merge(&other, &last).await;
        subject.merge(&one, &other).await;
        subject.merge(&third, &alone).await;
        let [first, former, earlier, another] = [&one, &other, &last, &alone].map(|it| own(it));
        for (filter, expected) in [
            (format!("identifiers eq '{former}'"), vec![&one]),
            (
                format!("identifiers eq '{earlier}' or identifiers eq 'crm:3'"),
                vec![&one, &third],
            ),
            (
                format!("identifiers eq 'crm:3' or identifiers eq '{former}'"),
                vec![&one, &third],
            ),
            (
                format!("identifiers in ('{earlier}', '{another}')"),
                vec![&one, &third],
            ),
            (
                format!("identifiers in ('{first}', '{former}', '{earlier}')"),
                vec![&one],
            ),
            (
                format!("identifiers eq '{former}' and identifiers eq 'crm:1'"),
                vec![&one],
            ),
            (
                format!("identifiers eq 'crm:1' and identifiers ne '{former}'"),
                vec![],
            ),
            (
                format!("identifiers eq '{former}' and identifiers eq '{another}'"),
                vec![],
            ),
        ] {
            let at = format!("{}: {filter}", subject.name);
            let filter = filter.replace(' ', "%20");
            let found = subject.read(&format!("people?filter={filter}")).await;
            let people = found["_embedded"]["svc:people"].as_array();
            let mut people: Vec<&str> = people
                .into_iter()
                .flatten()
                .map(|it| it["_links"]["self"]["href"].as_str().unwrap())
                .collect();
            let mut expected: Vec<&str> = expected.into_iter().map(String::as_str).collect();
            people.sort_unstable();
            expected.sort_unstable();
            assert_eq!(people, expected, "{at}");
            assert_eq!(found["total_records"], expected.len(), "{at}");
        }
    })
    .await;
}

/// UND-17, MRG-08: own identifiers of merged people do not count towards the limit of identifiers.
#[tokio::test]
async fn own_identifiers_of_merged_people_do_not_count() {
    each(async |subject| {
        let foreign = |numbers: std::ops::Range<usize>| -> Vec<String> {
            numbers.map(|number| format!("crm:{number}")).collect()
        };
        let [one, other, third, last] = subject
            .people([
                json!({"given_name": "Ada", "identifiers": foreign(0..60)}),
                json!({"given_name": "Eve", "identifiers": foreign(60..100)}),
                json!({"given_name": "Kim"}),
                json!({"given_name": "Zoe", "identifiers": ["crm:100"]}),
            ])
            .await;
        subject.merge(&one, &other).await;
        subject.merge(&one, &third).await;
        let stored = subject.read(&one).await;
        let all = stored["identifiers"].as_array().unwrap();
        assert_eq!(all.len(), 103, "{}", subject.name);
        let person = json!({"identifiers": all});
        let put = subject.call(Method::PUT, &one, &person).await;
        assert_eq!(put.status, 200, "{}", put.json);
        let body = json!({"person": person});
        let signup = subject
            .call(Method::POST, "people/person_signup", &body)
            .await;
        assert_eq!(signup.status, 200, "{}", signup.json);
        assert_eq!(subject.read(&one).await, stored);
        let many = subject.merge_with(&one, &last, json!({})).await;
        many.assert_rejected(400, "FIELD_INVALID", &["identifiers"]);
        let mut all = all.clone();
        all.push(json!("crm:100"));
        let person = json!({"identifiers": all});
        let put = subject.call(Method::PUT, &one, &person).await;
        put.assert_rejected(400, "FIELD_INVALID", &["identifiers"]);
        let body = json!({"person": person});
        let signup = subject
            .call(Method::POST, "people/person_signup", &body)
            .await;
        signup.assert_rejected(400, "FIELD_INVALID", &["person.identifiers"]);
    })
    .await;
}

/// CAP-04: what a merge changed does not contain members that the server hides.
#[tokio::test]
async fn hidden_members_are_not_in_what_a_merge_changed() {
    let hiding = |api: ApiBuilder| {
        let mut hidden = Constraints::default();
        for path in [
            &["source"][..],
            &["email_addresses", "status"],
            &["birthdate", "day"],
            &["birthdate", "year"],
            &["employer_address", "location", "latitude"],
        ] {
            hidden.entry(path).hidden = true;
        }
        configured(api, IfMatchPolicy::Optional).constraints(Kind::Person, hidden)
    };
    both_stores::each(hiding, async |subject| {
        let person = |source: &str, status: &str, date: [i64; 3], location: [f64; 2]| {
            let [year, month, day] = date;
            let [latitude, longitude] = location;
            json!({
                "source": source,
                "email_addresses": [address(status, "ada@x.org"), address("subscribed", source)],
                "birthdate": {"year": year, "month": month, "day": day},
                "employer_address": {"locality": "Rome", "location":
                    {"latitude": latitude, "longitude": longitude, "accuracy": "Rooftop"}},
            })
        };
        let [one, other, third] = subject
            .people([
                person("a@x.org", "subscribed", [1990, 1, 1], [1.5, 2.5]),
                person("b@x.org", "unsubscribed", [1991, 2, 3], [3.5, 4.5]),
                person("c@x.org", "unsubscribed", [1992, 1, 4], [5.5, 2.5]),
            ])
            .await;
        let merge = subject.merge(&one, &other).await.json["ext:merge"].clone();
        let location = |longitude: f64| {
            json!({"locality": "Rome", "location": {"longitude": longitude, "accuracy": "Rooftop"}})
        };
        assert_eq!(merge["tightened"], json!([]), "{merge}");
        let birthdate = json!({"property": "birthdate", "remaining": {"month": 1}, "merged": {"month": 2}});
        let employer = json!({"property": "employer_address",
            "remaining": location(2.5), "merged": location(4.5)});
        assert_eq!(merge["overruled"], json!([employer, birthdate]), "{merge}");
        // Only hidden members differ.
        let merge = subject.merge(&one, &third).await.json["ext:merge"].clone();
        assert_eq!(merge["overruled"], json!([]), "{merge}");
    })
    .await;
}

/// MRG-10: a chain of merges ends at the last person.
#[tokio::test]
async fn a_chain_ends_at_the_last_person() {
    each(async |subject| {
        let [one, two, three] = subject.named(["Ada"; 3]).await;
        subject.merge(&two, &three).await;
        subject.merge(&one, &two).await;
        for old in [&two, &three] {
            let answer = subject.get(old).await;
            assert_eq!(
                (answer.status, answer.header("location")),
                (301, Some(&*one))
            );
        }
    })
    .await;
}

/// MRG-02, UND-22: all problems of a body are in one response, and unknown members are warnings.
#[tokio::test]
async fn every_problem_of_a_body_is_reported() {
    each(async |subject| {
        let [one, other] = subject.named(["Ada", "Eve"]).await;
        let wrong = json!({
            "merged_etag": 7,
            "person": {"given_name": 7, "email_addresses": [{"address": "x"}]},
            "consent": "none",
            "preview": "yes",
        });
        let answer = subject.merge_with(&one, "people", wrong).await;
        let codes: BTreeMap<String, String> = answer
            .problems()
            .into_iter()
            .map(|(code, properties)| (properties.join(","), code))
            .collect();
        let invalid = "FIELD_INVALID";
        let expected = [
            (LINK, "PERSON_NOT_FOUND"),
            ("merged_etag", invalid),
            ("consent", invalid),
            ("preview", invalid),
            ("person.given_name", invalid),
            ("person.email_addresses[0].address", invalid),
        ];
        let expected = expected.map(|(property, code)| (property.to_owned(), code.to_owned()));
        assert_eq!(
            (answer.status, codes),
            (400, expected.into()),
            "{}",
            answer.json
        );
        let address = format!("{one}/merge_helper");
        for (body, property) in [
            (json!({}), LINK),
            (json!({"_links": {"svc:person": null}}), LINK),
            (json!({"_links": 7}), "_links"),
            (
                json!({"_links": {"svc:person": {"href": other}}, "person": 7}),
                "person",
            ),
        ] {
            let answer = subject.call(Method::POST, &address, &body).await;
            let properties: Vec<String> =
                answer.problems().into_iter().flat_map(|it| it.1).collect();
            assert_eq!(
                (answer.status, properties),
                (400, vec![property.to_owned()]),
                "{body}"
            );
        }
        let empty = subject.call(Method::POST, &address, &Value::Null).await;
        empty.assert_rejected(400, "BODY_MISSING", &[]);
        let unknown = json!({"previw": true, "person": {"given_nam": "X"}});
        let strict = [("prefer", "handling=strict")];
        let answer = subject
            .merge_as(subject.full_key(), &one, &other, unknown.clone(), &strict)
            .await;
        let names = ["person.given_nam", "previw"];
        let mut found: Vec<_> = answer.problems().into_iter().flat_map(|it| it.1).collect();
        found.sort();
        assert_eq!(
            (answer.status, &*found),
            (400, &names.map(str::to_owned)[..]),
            "{}",
            answer.json
        );
        let answer = subject
            .merge_as(subject.full_key(), &one, &other, unknown, &[])
            .await;
        assert_eq!(answer.status, 200, "{}", answer.json);
        let warned = answer.json["ext:warnings"].as_array().unwrap();
        let mut warned: Vec<_> = warned
            .iter()
            .map(|it| it["properties"][0].as_str().unwrap())
            .collect();
        warned.sort_unstable();
        assert_eq!(warned, names);
        let curies = answer.json["_links"]["curies"].as_array().unwrap();
        assert_eq!(
            curies.iter().filter(|curie| curie["name"] == "ext").count(),
            1
        );
    })
    .await;
}

/// MRG-17: a repeated request with an idempotency key gets the first response, also after the merge.
#[tokio::test]
async fn a_repeated_request_gets_the_first_response() {
    each(async |subject| {
        let [one, other] = subject.named(["Ada", "Eve"]).await;
        let petition = subject.make("petitions", json!({})).await;
        let link = json!({"_links": {"svc:person": {"href": other}}});
        let key = [("idempotency-key", "signature")];
        let sign = async || {
            let address = format!("{petition}/signatures");
            subject
                .send(subject.full_key(), Method::POST, &address, &key, &link)
                .await
        };
        let signature = sign().await;
        let merge_key = [("idempotency-key", "merge")];
        let merge = async |more: Value| {
            subject
                .merge_as(subject.full_key(), &one, &other, more, &merge_key)
                .await
        };
        let first = merge(json!({})).await;
        assert_eq!(first.status, 200);
        let again = merge(json!({})).await;
        assert_eq!(
            (again.status, &again.json),
            (200, &first.json),
            "{}",
            subject.name
        );
        assert_eq!(again.header("idempotency-replayed"), Some("true"));
        assert_eq!(again.json["ext:merge"]["already"], false);
        let reused = merge(json!({"consent": "strictest"})).await;
        reused.assert_rejected(422, "IDEMPOTENCY_KEY_REUSED", &[]);
        let again = sign().await;
        assert_eq!(
            (again.status, &again.json),
            (signature.status, &signature.json)
        );
        let total = subject.get(&format!("{petition}/signatures")).await.json;
        assert_eq!(total["total_records"], 1);
    })
    .await;
}

/// MRG-01: the capability document declares merges, and a server without them has no link.
#[tokio::test]
async fn merges_are_offered_only_if_they_are_enabled() {
    each(async |subject| {
        let behaviours = subject.get("docs/capabilities").await.json["behaviours"].clone();
        for name in [
            "merge_people",
            "merge_people.preview",
            "merge_people.forwards",
        ] {
            assert!(
                behaviours.as_array().unwrap().contains(&json!(name)),
                "{name}"
            );
        }
    })
    .await;
    let server = crate::server::Server::start().await;
    let one = server.make("people", json!({"given_name": "Ada"})).await;
    let read = server.get(&one).await;
    assert_eq!(read.json["_links"].get("ext:merge_helper"), None);
    let answer = server.post(&format!("{one}/merge_helper"), json!({})).await;
    assert_eq!(
        (answer.status, answer.codes()),
        (500, vec!["NOT_IMPLEMENTED".to_owned()])
    );
}

/// MRG-11: over HTTP, a redirection is not cached, and the response to `HEAD` has no body.
#[tokio::test]
async fn a_redirection_is_not_cached() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(SqliteOptions::new(folder.path().join("data.db"))).unwrap();
    let tenant = store.ensure_tenant("demo").await.unwrap();
    let keys = FixedKeys::new().with_key("sesame", tenant, Rights::all());
    let api = configured(store.register_all(builder()), IfMatchPolicy::Optional)
        .authenticator(keys)
        .build()
        .unwrap();
    let service = SvcService::new(api).with_docs(Docs::new());
    let send = async |method: Method, path: &str, body: Value| {
        let path = path.strip_prefix(BASE).unwrap_or(path);
        let body = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        let request = http::Request::builder()
            .method(method)
            .uri(format!("/{path}"))
            .header("svc-api-token", "sesame")
            .header("content-type", "application/json")
            .header("content-length", body.len())
            .body(body)
            .unwrap();
        let (parts, body) = service.clone().oneshot(request).await.unwrap().into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        (parts.status.as_u16(), parts.headers, body)
    };
    let mut people = Vec::new();
    for name in ["Ada", "Eve"] {
        let (_, headers, _) = send(Method::POST, "people", json!({"given_name": name})).await;
        people.push(headers["location"].to_str().unwrap().to_owned());
    }
    let [one, other] = &*people else {
        panic!("{people:?}")
    };
    let body = json!({"_links": {"svc:person": {"href": other}}});
    let (status, headers, body) = send(Method::POST, &format!("{one}/merge_helper"), body).await;
    assert_eq!(
        (status, headers.contains_key("etag")),
        (200, true),
        "{body:?}"
    );
    for (method, has_body) in [(Method::GET, true), (Method::HEAD, false)] {
        let (status, headers, body) = send(method, other, Value::Null).await;
        assert_eq!((status, !body.is_empty()), (301, has_body));
        assert_eq!(
            (
                headers["location"].to_str().unwrap(),
                headers["cache-control"].to_str().unwrap()
            ),
            (&**one, "no-store")
        );
    }
    // The relations of the link and of the response have a page.
    let of_merge = ["merge_helper", "merge", "remaining", "merged"];
    let of_undo = ["merges", "undo_merge_helper", "undone_merge", "restored"];
    for name in of_merge.into_iter().chain(of_undo) {
        let (status, ..) = send(Method::GET, &format!("docs/v1/{name}"), Value::Null).await;
        assert_eq!(status, 200, "{name}");
    }
}
