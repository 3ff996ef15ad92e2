//! The former address of a person that was merged by an operation of a vendor: reads, changes, links, and
//! the own identifier in bodies.
//!
//! Requirements: MRG-08 to MRG-12, MRG-15, MRG-16.

use std::sync::Arc;

use async_trait::async_trait;
use http::Method;
use serde_json::{Value, json};
use svc_core::{
    ApiBuilder, ChangeFeed, Context, Error, FeedRequest, FeedResponse, Get, Helper, Problem,
    Result, Tenant,
    auth::{Caller, Operation, Right, Rights},
    backend::{ChangeKind, FeedEntry, FeedPage, RecordChange},
    error::PropertyPath,
    helper::{EntryStatus, HelperOutcome, HelperRequest, PersonSignup},
    link::RecordAddress,
    model::{Kind, Person},
    value::{Id, Timestamp},
};
use svc_store::memory::MemoryStore;

use crate::support::{
    server::{Answered, Server, builder},
    typed_backend::Memory,
};

const BASE: &str = "https://crm.example.org/api/v1/";

/// Returns the URL of a person.
fn person(number: u32) -> String {
    format!("{BASE}people/person-{number}")
}

/// Returns the links of a body to a person.
fn link_to(number: u32) -> Value {
    json!({"svc:person": {"href": person(number)}})
}

/// Merges a person into another one.
fn merge(server: &Server, into: u32, merged: u32) -> Answered {
    let body = json!({"_links": link_to(merged)}).to_string();
    server.post(&format!("{}/merge_helper", person(into)), &body)
}

/// Returns a server with four people, of whom the second was merged into the first one, and a petition.
fn merged(has_transactions: bool) -> Server {
    merged_with(|builder, store| {
        if has_transactions {
            builder.transactions(store)
        } else {
            builder
        }
    })
}

/// Returns the same server with further settings.
fn merged_with(settings: impl FnOnce(ApiBuilder, &Arc<Memory>) -> ApiBuilder) -> Server {
    let server = Server::merging(settings);
    for number in 1..=4 {
        let address = format!("{number}@example.org");
        let body = json!({"identifiers": [format!("mail:{number}")], "email_addresses": [{"address": address}]});
        assert_eq!(server.made("people", &body.to_string()), person(number));
    }
    server.made("petitions", r#"{"title": "A"}"#);
    let signature = json!({"_links": link_to(2)}).to_string();
    server.made("petitions/petition-1/signatures", &signature);
    assert_eq!(merge(&server, 1, 2).status, 200);
    server.store.looks();
    server
}

/// Returns the status, `Location`, problems and link to the remaining person of a response.
fn outcome(answer: &Answered) -> (u16, Option<&str>, Vec<String>, Option<&str>) {
    let link = &answer.json["svc:error"]["resource_status"][0]["error_descriptions"][0];
    let link = link["_links"]["svc:person"]["href"].as_str();
    (
        answer.status,
        answer.location.as_deref(),
        answer.problems(),
        link,
    )
}

#[test]
fn mrg_09_reads_are_redirected() {
    let server = merged(false);
    assert!(server.api.forwards_merged_people());
    let one = person(1);
    let problems = vec!["PERSON_MERGED ".to_owned()];
    for path in ["", "/signatures", "/signatures?per_page=1", "/taggings"] {
        let answer = server.get(&format!("{}{path}", person(2)));
        let location = format!("{one}{path}");
        let expected = (301, Some(&*location), problems.clone(), Some(&*one));
        assert_eq!(outcome(&answer), expected, "{path}");
        assert_eq!(server.store.looks().all, 1, "{path}");
    }
    for path in ["", "/signatures", "/taggings"] {
        assert_eq!(server.get(&format!("{one}{path}")).status, 200);
    }
    assert_eq!(
        server.store.looks().all,
        0,
        "a read that finds its record has no further lookup"
    );
    assert_eq!(server.get(&person(9)).status, 404);
    // A key that may not read people gets the response for an unknown person.
    let read = Right::Operation(Kind::Person, Operation::Read);
    let others = Rights::only(Right::all().filter(|right| *right != read));
    let answers = [2, 9].map(|number| {
        let caller = Caller::with_rights(others.clone());
        let answer = server.send_as(
            caller,
            &Method::GET,
            &format!("{}/signatures", person(number)),
            "",
        );
        (answer.status, answer.location, answer.text)
    });
    assert_eq!(answers[0], answers[1]);
}

#[test]
fn mrg_09_several_merges_redirect_to_the_last_person() {
    for has_transactions in [false, true] {
        let server = merged(has_transactions);
        assert_eq!(merge(&server, 3, 1).status, 200);
        for number in [1, 2] {
            let answer = server.get(&person(number));
            assert_eq!(answer.location, Some(person(3)));
            assert_eq!(server.store.looks().all, 1);
        }
        assert_eq!(server.delete(&person(3)).status, 204);
        for number in [1, 2, 3] {
            assert_eq!(server.get(&person(number)).status, 404);
        }
    }
}

#[test]
fn mrg_10_changes_are_rejected() {
    for has_transactions in [false, true] {
        let server = merged(has_transactions);
        let (one, two) = (person(1), person(2));
        for answer in [
            server.put(&two, r#"{"given_name": "Eve"}"#),
            server.delete(&two),
            merge(&server, 2, 3),
        ] {
            let problems = vec!["PERSON_MERGED ".to_owned()];
            assert_eq!(outcome(&answer), (410, None, problems, Some(&*one)));
        }
        assert_eq!(server.store.count(Kind::Person), 3);
        assert_eq!(server.get(&one).json["given_name"], Value::Null);
    }
}

#[test]
fn mrg_11_a_link_to_a_merged_person_is_one_to_the_remaining_person() {
    for has_transactions in [false, true] {
        let server = merged(has_transactions);
        let (signatures, one) = ("petitions/petition-1/signatures", person(1));
        let body = json!({"_links": link_to(2)}).to_string();
        let created = server.post(signatures, &body);
        assert_eq!(created.status, 201, "{}", created.text);
        assert_eq!(created.link("svc:person"), Some(&*one));
        // The lookup follows the rejection.
        assert_eq!(server.store.looks().all, 1);
        let body = json!({"_links": link_to(1)}).to_string();
        assert_eq!(server.post(signatures, &body).status, 201);
        assert_eq!(server.store.looks().all, 0);

        let body = json!({"_links": link_to(3)}).to_string();
        let other = server.made(signatures, &body);
        let body = json!({"_links": link_to(2)}).to_string();
        let changed = server.put(&other, &body);
        assert_eq!(changed.status, 200, "{}", changed.text);
        assert_eq!(changed.link("svc:person"), Some(&*one));
        // A person that never existed is still rejected.
        let body = json!({"_links": link_to(9)}).to_string();
        let answer = server.post(signatures, &body);
        assert_eq!(answer.problems(), ["PERSON_NOT_FOUND _links.svc:person"]);
        // The other problems of a body are reported alone.
        let body = json!({"comments": 5, "_links": link_to(2)}).to_string();
        let answer = server.post(signatures, &body);
        assert_eq!(answer.status, 400);
        assert!(!answer.text.contains("PERSON_NOT_FOUND"), "{}", answer.text);
    }
}

#[test]
fn mrg_11_helpers_below_the_old_address_and_with_links_to_it() {
    for has_transactions in [false, true] {
        let server = merged(has_transactions);
        let (one, three) = (person(1), person(3));
        for (target, canvasser, expected) in [(2, 3, [&one, &three]), (3, 2, [&three, &one])] {
            let link = json!({"svc:canvasser": {"href": person(canvasser)}});
            let body = json!({"canvass": {"success": true}, "_links": link}).to_string();
            let helper = format!("{}/record_canvass_helper", person(target));
            let answer = server.post(&helper, &body);
            assert_eq!(answer.status, 200, "{}", answer.text);
            let found = ["svc:target", "svc:canvasser"].map(|name| answer.link(name));
            assert_eq!(found, expected.map(|url| Some(url.as_str())));
        }
        assert_eq!(server.store.count(Kind::Canvass), 2);
    }
}

#[test]
fn mrg_11_the_own_identifier_of_a_merged_person_in_helpers() {
    for has_transactions in [false, true] {
        let server = merged(has_transactions);
        let one = person(1);
        for identifiers in [
            json!(["crm:person-2"]),
            json!(["crm:person-2", "crm:person-1"]),
            json!(["crm:person-1", "crm:person-2"]),
        ] {
            let person = json!({"identifiers": identifiers, "given_name": "Ada"});
            let body = json!({ "person": person }).to_string();
            let answer = server.post("people/person_signup_helper", &body);
            assert_eq!(answer.status, 200, "{}", answer.text);
            assert_eq!(answer.link("self"), Some(&*one));
            let signed = server.post("petitions/petition-1/record_signature_helper", &body);
            assert_eq!(signed.link("svc:person"), Some(&*one), "{}", signed.text);
        }
        // The id of no one, and that of a third person.
        for (identifiers, position) in [
            (json!(["crm:person-9"]), 0),
            (json!(["crm:person-2", "crm:person-3"]), 1),
        ] {
            let body = json!({"person": {"identifiers": identifiers}}).to_string();
            let answer = server.post("people/person_signup_helper", &body);
            let expected = format!("IDENTIFIER_IN_USE person.identifiers[{position}]");
            assert_eq!(answer.problems(), [expected], "{}", answer.text);
        }
        assert_eq!(server.store.count(Kind::Person), 3);
    }
}

/// A sign-up of a person with an own identifier.
struct SignUps(Arc<Memory>);

#[async_trait]
impl Helper<PersonSignup> for SignUps {
    async fn run(
        &self,
        cx: &Context,
        request: HelperRequest<PersonSignup>,
    ) -> Result<HelperOutcome<PersonSignup>> {
        let posted = request.required_person()?;
        let own = posted.own_id().ok_or_else(Error::conflict)?;
        let at = RecordAddress::without_parent(Kind::Person, own.clone());
        let person = Get::<Person>::get(&*self.0, cx, &at).await?;
        let person = person.ok_or_else(|| {
            let part = PropertyPath::member("person");
            Error::invalid(Problem::own_identifier_in_use().within(&part))
        })?;
        Ok(HelperOutcome::person(person, EntryStatus::Existing))
    }
}

#[test]
fn mrg_11_the_own_identifier_of_a_merged_person_in_a_native_helper() {
    let store = Arc::new(Memory::default());
    let api = builder()
        .resource::<Person, _>(&store, |people| people.get().create().find().merge())
        .helper::<PersonSignup>(&Arc::new(SignUps(Arc::clone(&store))))
        .merge_people()
        .build()
        .unwrap();
    let server = Server { api, store };
    for _ in 1..=3 {
        server.made("people", r#"{"given_name": "Ada"}"#);
    }
    assert_eq!(merge(&server, 1, 2).status, 200);
    let sign_up = |identifiers: Value| {
        let body = json!({"person": {"identifiers": identifiers}}).to_string();
        server.post("people/person_signup_helper", &body)
    };
    for identifiers in [
        json!(["crm:person-2"]),
        json!(["crm:person-2", "crm:person-1"]),
        json!(["crm:person-1", "crm:person-2"]),
    ] {
        let answer = sign_up(identifiers);
        assert_eq!(answer.link("self"), Some(&*person(1)), "{}", answer.text);
    }
    for (identifiers, position) in [
        (json!(["mail:1", "crm:person-9"]), 1),
        (json!(["crm:person-2", "crm:person-3"]), 1),
    ] {
        let expected = format!("IDENTIFIER_IN_USE person.identifiers[{position}]");
        assert_eq!(sign_up(identifiers).problems(), [expected]);
    }
}

#[test]
fn mrg_15_mrg_16_a_person_is_merged_once() {
    for has_transactions in [false, true] {
        let server = merged(has_transactions);
        let writes = server.store.writes();
        let again = merge(&server, 1, 2);
        assert_eq!(again.status, 200, "{}", again.text);
        assert_eq!(again.json["ext:merge"]["already"], true);
        assert_eq!(again.json["identifiers"][0], "crm:person-1");
        let elsewhere = merge(&server, 3, 2);
        let problems = vec!["PERSON_MERGED _links.svc:person".to_owned()];
        assert_eq!(
            outcome(&elsewhere),
            (400, None, problems, Some(&*person(1)))
        );
        let unknown = merge(&server, 1, 9);
        assert_eq!(unknown.problems(), ["PERSON_NOT_FOUND _links.svc:person"]);
        assert_eq!(server.store.writes(), writes);
    }
}

/// `Find` is also used for person matching, so that it can find people that a caller may not read.
#[test]
fn mrg_09_a_person_that_the_caller_may_not_read_is_not_revealed() {
    for hide in [Server::hide_person, Server::give_person_away] {
        let server = merged(false);
        hide(&server, "person-1");
        for method in [Method::GET, Method::PUT, Method::DELETE] {
            let [answer, unknown] = [2, 9].map(|number| {
                let answer = server.send(&method, &person(number), r#"{"given_name": "Eve"}"#);
                (answer.status, answer.location, answer.text)
            });
            assert_eq!((answer.0, &answer), (404, &unknown));
        }
        let body = json!({"_links": link_to(2)}).to_string();
        let answer = server.post("petitions/petition-1/signatures", &body);
        assert_eq!(answer.problems(), ["PERSON_NOT_FOUND _links.svc:person"]);
        let answer = merge(&server, 3, 2);
        assert_eq!(answer.problems(), ["PERSON_NOT_FOUND _links.svc:person"]);
    }
}

/// The own identifiers of merged people stay between the sent ones.
#[test]
fn und_24_the_position_of_an_identifier_is_that_in_the_body() {
    for has_transactions in [false, true] {
        let server = merged(has_transactions);
        for (identifiers, positions) in [
            (json!(["mail:8", "mail:9", "mail:3"]), vec![2]),
            (json!(["mail:3", "mail:4"]), vec![0, 1]),
            (json!(["crm:person-2", "mail:8", "mail:4"]), vec![2]),
        ] {
            let body = json!({ "identifiers": identifiers }).to_string();
            let answer = server.put(&person(1), &body);
            let expected = positions
                .iter()
                .map(|place| format!("IDENTIFIER_IN_USE identifiers[{place}]"));
            assert_eq!(answer.problems(), expected.collect::<Vec<_>>(), "{body}");
        }
    }
}

/// A change feed with fixed entries.
struct Entries(Vec<RecordChange>);

#[async_trait]
impl ChangeFeed for Entries {
    async fn read(&self, _: &Context, _: &FeedRequest) -> Result<FeedResponse> {
        let entries = self.0.iter().map(|it| FeedEntry::new("0", it.clone()));
        let page = FeedPage::new(entries.collect(), "1".to_owned(), "1".to_owned(), false);
        Ok(FeedResponse::Page(page))
    }
}

#[test]
fn mrg_12_the_entry_of_a_merged_person_has_the_remaining_one() {
    use ChangeKind::{Changed, Deleted};
    let at = |kind, id| RecordAddress::without_parent(kind, Id::new(id).unwrap());
    let entry = |what, kind, id| RecordChange::new(what, Timestamp::from_micros(1), at(kind, id));
    let other = Some(at(Kind::Person, "person-4"));
    let entries = vec![
        entry(Deleted, Kind::Person, "person-2"),
        entry(Changed, Kind::Person, "person-1"),
        entry(Deleted, Kind::Person, "person-9"),
        entry(Deleted, Kind::Tag, "person-2"),
        entry(Deleted, Kind::Person, "person-2").with_merged_into(other.clone()),
    ];
    let server = merged_with(|builder, _| {
        let webhooks = Arc::new(MemoryStore::new());
        let builder = builder.change_feed(&Arc::new(Entries(entries)));
        builder.webhooks(&webhooks)
    });
    // The sender of webhooks has no request.
    let caller = Caller::with_rights(Rights::read_only());
    let cx = Context::new(Tenant::new("one"), caller, Timestamp::from_micros(2));
    let feed = server.api.webhook_sources().unwrap().changes;
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    let request = FeedRequest::new(None, vec![Kind::Person, Kind::Tag], 10);
    let response = runtime.unwrap().block_on(feed.read(&cx, &request));
    let FeedResponse::Page(page) = response.unwrap() else {
        panic!("no page")
    };
    let found = page.entries.into_iter().map(|it| it.change.merged_into);
    let one = Some(at(Kind::Person, "person-1"));
    assert_eq!(found.collect::<Vec<_>>(), [one, None, None, None, other]);
    assert_eq!(server.store.looks().all, 2);
}
