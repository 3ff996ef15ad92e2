//! Read your writes: every link of a write's response can be followed immediately, and totals
//! include the write.
//!
//! Requirements: CRU-22, COL-31.

use crate::server::{Answer, Server};
use proptest::prelude::*;
use serde_json::{Value, json};
use svc_core::link::Target;

/// Follows every link of a record, except to helpers.
async fn follow(server: &Server, answer: &Answer) {
    let links = answer.json["_links"]
        .as_object()
        .unwrap_or_else(|| panic!("no links: {}", answer.json));
    for (relation, link) in links {
        let Some(href) = link["href"].as_str().filter(|_| relation != "curies") else {
            continue;
        };
        match server
            .api
            .route(href.strip_prefix(crate::server::BASE).unwrap())
            .unwrap()
        {
            Target::Helper { .. } => {}
            Target::Collection { .. } => {
                let page = server.get(href).await;
                assert_eq!(page.status, 200, "CRU-22: {relation} {}", page.json);
                let members = page.json["_embedded"]
                    .as_object()
                    .unwrap()
                    .values()
                    .next()
                    .unwrap();
                let total = page.json["total_records"].as_u64().unwrap();
                assert_eq!(
                    members.as_array().unwrap().len() as u64,
                    total.min(25),
                    "COL-23: {relation}"
                );
            }
            _ => assert_eq!(server.get(href).await.status, 200, "CRU-22: {relation}"),
        }
    }
    let read = server.get(&answer.self_link()).await;
    assert_eq!(read.json, answer.json, "CRU-22");
}

fn containers() -> [(&'static str, &'static str, &'static str); 5] {
    [
        ("petitions", "record_signature_helper", "signatures"),
        ("forms", "record_submission_helper", "submissions"),
        ("fundraising_pages", "record_donation_helper", "donations"),
        ("events", "record_attendance_helper", "attendances"),
        ("advocacy_campaigns", "record_outreach_helper", "outreaches"),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 24,
        failure_persistence: None,
        rng_seed: proptest::test_runner::RngSeed::Fixed(22),
        ..ProptestConfig::default()
    })]

    /// CRU-22: random writes, each of whose links is followed.
    #[test]
    fn every_link_of_a_write(steps in proptest::collection::vec((0..8_u8, 0..5_usize, 0..6_u32, any::<bool>()), 1..25)) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let server = Server::start().await;
            server.make("tags", json!({"name": "t"})).await;
            server.make("lists", json!({"name": "l"})).await;
            let question = server.make("questions", json!({"question_type": "Paragraph"})).await;
            let key_person = server.make("people", json!({"given_name": "Ada"})).await;
            let mut owners = Vec::new();
            for (collection, ..) in containers() {
                owners.push(server.make(collection, json!({})).await);
            }
            let mut last: Option<String> = None;
            for (what, which, who, bound) in steps {
                let cx = if bound { server.bound(&key_person) } else { server.caller() };
                let person = json!({"email_addresses": [{"address": format!("p{who}@example.org")}]});
                let (collection, helper, members) = containers()[which];
                let functions = json!({"person": person, "add_tags": ["t"], "add_lists": ["l"],
                    "add_questions_responses_uri": [{"question": question, "value": "v"}]});
                let answer = match what {
                    0 => server.call_as(&cx, "POST", collection, json!({})).await,
                    1 => server.call_as(&cx, "POST", "people/person_signup", functions).await,
                    2 | 3 => server.call_as(&cx, "POST", &format!("{}/{helper}", owners[which]), functions).await,
                    4 => {
                        let person = server.call_as(&cx, "POST", "people/person_signup", json!({"person": person})).await;
                        let link = json!({"_links": {"svc:person": {"href": person.self_link()}}});
                        server.call_as(&cx, "POST", &format!("{}/{members}", owners[which]), link).await
                    }
                    5 => {
                        let person = server.call_as(&cx, "POST", "people/person_signup", json!({"person": person})).await;
                        let canvass = json!({"canvass": {"canvasser": key_person}, "add_tags": ["t"]});
                        server.call_as(&cx, "POST", &person.link("svc:record_canvass_helper"), canvass).await
                    }
                    6 => match last.take() {
                        Some(address) => server.call_as(&cx, "PUT", &address, json!({"origin_system": "o"})).await,
                        None => continue,
                    },
                    _ => match last.take() {
                        Some(address) => {
                            let deleted = server.call_as(&cx, "DELETE", &address, Value::Null).await;
                            if deleted.status == 204 {
                                assert_eq!(server.get(&address).await.status, 404, "ERR-17");
                            } else {
                                assert_eq!(deleted.codes(), ["HAS_DEPENDENTS"], "UND-26");
                            }
                            continue;
                        }
                        None => continue,
                    },
                };
                assert!(matches!(answer.status, 200 | 201), "{what} {}", answer.json);
                follow(&server, &answer).await;
                last = Some(answer.self_link()).filter(|address| *address != key_person);
            }
            // In the end each collection has as many members as its total.
            for (collection, ..) in containers() {
                assert_eq!(server.total(collection).await, server.walk(collection).await.len() as u64, "COL-23");
            }
            for person in server.walk("people").await {
                for members in ["signatures", "submissions", "donations", "attendances", "outreaches", "answers", "items"] {
                    let of_person = person["_links"][format!("svc:{members}")]["href"].as_str().unwrap();
                    let walked = server.walk(&format!("{of_person}?per_page=2")).await.len() as u64;
                    assert_eq!(server.total(of_person).await, walked, "COL-23: {members}");
                }
            }
        });
    }
}
