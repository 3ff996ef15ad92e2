//! The second service: it shares no code with the library, and behaves as the catalogue requires.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Full};
use serde_json::{Value, json};
use svc_self_test::independent_server::{
    HrefStyle, IndependentServer, ServerOptions, SimulatedClock,
};
use tokio::runtime::{Builder, Runtime};
use tower::ServiceExt;

struct Client {
    service: IndependentServer,
    runtime: Runtime,
    prefix: String,
    header: String,
    base: String,
    key: Option<&'static str>,
}

struct Reply {
    status: u16,
    media: Option<String>,
    json: Value,
}

impl Client {
    fn new(options: ServerOptions) -> Self {
        let (prefix, header, base) = (
            options.prefix.clone(),
            options.key_header.clone(),
            options.base.clone(),
        );
        let options = ServerOptions {
            clock: SimulatedClock::new(|| 1_767_603_600_123_456),
            ..options
        };
        let runtime = Builder::new_current_thread().build().expect("a runtime");
        Self {
            service: IndependentServer::new(options),
            runtime,
            prefix,
            header,
            base,
            key: Some("k-one"),
        }
    }

    fn send(&self, method: &str, url: &str, body: &Value) -> Reply {
        let host = self
            .base
            .split_once("://")
            .and_then(|(_, rest)| rest.split_once('/'))
            .expect("a host")
            .0;
        let url = if url.starts_with('/') {
            format!("http://{host}{url}")
        } else {
            url.to_owned()
        };
        let mut request = Request::builder().method(method).uri(&url);
        if let Some(key) = self.key {
            request = request.header(&self.header, key);
        }
        let bytes = if body.is_null() {
            Bytes::new()
        } else {
            Bytes::from(body.to_string())
        };
        let request = request.body(Full::new(bytes)).expect("a request");
        self.runtime.block_on(async {
            let response = self
                .service
                .clone()
                .oneshot(request)
                .await
                .unwrap_or_else(|never| match never {});
            let status = response.status().as_u16();
            let media = response
                .headers()
                .get("content-type")
                .map(|value| value.to_str().expect("text").to_owned());
            let bytes = response
                .into_body()
                .collect()
                .await
                .expect("a body")
                .to_bytes();
            Reply {
                status,
                media,
                json: serde_json::from_slice(&bytes).unwrap_or_default(),
            }
        })
    }

    fn get(&self, url: &str) -> Value {
        let reply = self.send("GET", url, &Value::Null);
        assert_eq!(reply.status, 200, "{url}: {}", reply.json);
        assert_eq!(
            reply.media.as_deref(),
            Some("application/hal+json"),
            "HAL-03 {url}"
        );
        reply.json
    }

    fn post(&self, url: &str, body: &Value) -> Value {
        let reply = self.send("POST", url, body);
        assert!(
            matches!(reply.status, 200 | 201),
            "{url} {body}: {} {}",
            reply.status,
            reply.json
        );
        reply.json
    }

    fn href(&self, record: &Value, name: &str) -> String {
        let name = if matches!(name, "self" | "next" | "service-meta") {
            name.to_owned()
        } else {
            format!("{}:{name}", self.prefix)
        };
        let href = record["_links"][&name]["href"].as_str();
        href.unwrap_or_else(|| panic!("no {name}: {record}"))
            .to_owned()
    }

    fn collection(&self, name: &str) -> String {
        self.href(&self.get(&self.base), name)
    }

    fn make(&self, collection: &str, body: &Value) -> Value {
        self.post(&self.collection(collection), body)
    }

    fn linked(&self, body: &Value, name: &str, to: &Value) -> Value {
        let mut body = body.clone();
        body["_links"][format!("{}:{name}", self.prefix)] =
            json!({ "href": self.href(to, "self") });
        body
    }

    fn members(&self, url: &str) -> Vec<Value> {
        let mut members = Vec::new();
        let mut next = Some(url.to_owned());
        while let Some(url) = next {
            let page = self.get(&url);
            let lists = page["_embedded"].as_object().expect("embedded");
            members.extend(
                lists
                    .values()
                    .next()
                    .and_then(Value::as_array)
                    .expect("a list")
                    .iter()
                    .cloned(),
            );
            next = page["_links"]["next"]["href"]
                .as_str()
                .map(ToOwned::to_owned);
        }
        members
    }

    fn total(&self, url: &str) -> u64 {
        self.get(url)["total_records"].as_u64().expect("a number")
    }

    fn codes(&self, reply: &Reply) -> Vec<(String, Vec<String>)> {
        let entries = reply.json[format!("{}:error", self.prefix)]["resource_status"]
            .as_array()
            .expect("entries");
        let problems = entries
            .iter()
            .filter_map(|entry| entry["error_descriptions"].as_array())
            .flatten();
        problems
            .map(|one| {
                let properties = one["properties"].as_array().expect("properties").iter();
                let properties = properties
                    .map(|name| name.as_str().expect("text").to_owned())
                    .collect();
                (
                    one["error_code"].as_str().expect("a code").to_owned(),
                    properties,
                )
            })
            .collect()
    }
}

fn sources(folder: &Path, into: &mut Vec<String>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, into);
        } else {
            into.push(fs::read_to_string(&path).expect("a source"));
        }
    }
}

#[test]
fn it_names_nothing_of_the_crates_it_helps_to_judge() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("self-test/src");
    let mut texts = vec![fs::read_to_string(folder.join("fields.rs")).expect("a source")];
    sources(&folder.join("independent_server"), &mut texts);
    assert!(texts.len() > 8, "the sources are found");
    for text in texts {
        for name in ["svc_core", "svc_tower", "svc_sqlite"] {
            assert!(
                !text.contains(name),
                "a source of the second service names {name}"
            );
        }
    }
}

#[test]
fn what_it_declares_is_there_cap_04() {
    let client = Client::new(ServerOptions::default());
    let declared = client.service.capabilities();
    let collections = declared["collections"].as_object().expect("collections");
    assert!(collections.len() >= 12, "{} kinds", collections.len());
    assert_eq!(declared["helpers"].as_object().expect("helpers").len(), 8);
    let entry = client.get(&client.base);
    for (many, about) in collections {
        let is_listed = about["operations"]
            .as_array()
            .expect("operations")
            .contains(&json!("list"));
        assert_eq!(
            entry["_links"].get(format!("svc:{many}")).is_some(),
            is_listed,
            "ENT-10 {many}"
        );
    }
    let published = client.send("GET", &client.href(&entry, "service-meta"), &Value::Null);
    assert_eq!(
        (published.status, &published.json),
        (200, &declared),
        "UND-40"
    );
}

#[test]
fn every_container_and_its_actions_live_and_die_cru() {
    let client = Client::new(ServerOptions::default());
    let person = client.make(
        "people",
        &json!({"given_name": "Ada", "identifiers": ["other:1", "other:1"]}),
    );
    assert_eq!(
        person["identifiers"],
        json!(["other:1", "second:1"]),
        "TYP-14"
    );
    for (many, one, below, least) in [
        ("petitions", "petition", "signatures", json!({"title": "T"})),
        ("forms", "form", "submissions", json!({})),
        (
            "fundraising_pages",
            "fundraising_page",
            "donations",
            json!({"currency": "EUR"}),
        ),
        ("events", "event", "attendances", json!({"capacity": 9})),
        (
            "advocacy_campaigns",
            "advocacy_campaign",
            "outreaches",
            json!({}),
        ),
        (
            "questions",
            "question",
            "answers",
            json!({"question_type": "Paragraph"}),
        ),
        ("tags", "tag", "taggings", json!({"name": "red"})),
        ("lists", "list", "items", json!({"name": "all"})),
    ] {
        let container = client.make(many, &least);
        let home = client.href(&container, below);
        assert_eq!(client.total(&home), 0, "COL-30 {below}");
        let refused = client.send("POST", &home, &json!({}));
        assert_eq!(refused.status, 400, "CRU-02 {below}");
        let action = client.post(&home, &client.linked(&json!({}), "person", &person));
        assert_eq!(
            client.get(&client.href(&action, one))["_links"]["self"],
            container["_links"]["self"],
            "{below}"
        );
        assert_eq!(client.total(&home), 1, "COL-23 {below}");
        let of_person = client.members(&client.href(&person, below));
        assert!(
            of_person
                .iter()
                .any(|one| one["identifiers"] == action["identifiers"]),
            "COL-11 {below}"
        );
        assert_eq!(
            client.get(&client.href(&action, "self")),
            action,
            "CRU-22 {below}"
        );
        let url = client.href(&action, "self");
        assert_eq!(
            client.send("DELETE", &url, &Value::Null).status,
            200,
            "CRU-14 {below}"
        );
        assert_eq!(
            client.send("GET", &url, &Value::Null).status,
            404,
            "ERR-11 {below}"
        );
        assert_eq!(
            client.send("DELETE", &url, &Value::Null).status,
            404,
            "ERR-16 {below}"
        );
        assert_eq!(client.total(&home), 0, "COL-23 {below}");
    }
}

#[test]
fn updates_follow_the_five_rules_cru_15_to_19() {
    let client = Client::new(ServerOptions::default());
    let sent = json!({"given_name": "Ada", "family_name": "L", "languages_spoken": ["en", "fr", "en"],
        "birthdate": {"year": 1815}, "gender_identity": "trans female", "phone_numbers": [{"number": "+49 (30) 1"}]});
    let made = client.make("people", &sent);
    assert_eq!(
        made["languages_spoken"],
        json!(["en", "fr"]),
        "RES-person-17"
    );
    assert_eq!(made["gender"], "Female", "RES-person-09");
    assert_eq!(
        made["phone_numbers"][0]["number"], "49301",
        "RES-phone_number-03"
    );
    let url = client.href(&made, "self");
    let put = client.send(
        "PUT",
        &url,
        &json!({"family_name": null, "languages_spoken": ["fr"], "id": "7"}),
    );
    assert_eq!(put.status, 200);
    assert_eq!(put.json["given_name"], "Ada", "CRU-15");
    assert!(put.json.get("family_name").is_none(), "CRU-17");
    assert_eq!(put.json["languages_spoken"], json!(["fr"]), "CRU-18");
    assert_eq!(put.json["id"], made["id"], "CRU-16");
    assert!(
        put.json["modified_date"].as_str() > made["modified_date"].as_str(),
        "CRU-19"
    );
    assert_eq!(put.json["created_date"], made["created_date"], "TYP-15");
    let refused = client.send("PUT", &url, &json!({"given_name": 1, "gender": "x"}));
    assert_eq!(
        (refused.status, client.codes(&refused).len()),
        (400, 2),
        "ERR-39"
    );
    assert_eq!(client.get(&url), put.json, "CRU-20");
}

#[test]
fn a_question_tells_all_that_is_wrong_err_35_36_39_40() {
    let client = Client::new(ServerOptions::default());
    let responses = json!([{"key": "a", "name": "ok"}, {"key": "a", "name": "not ok"}]);
    let body = json!({"question_type": "Paragraph", "responses": responses});
    let reply = client.send("POST", &client.collection("questions"), &body);
    assert_eq!(reply.status, 400);
    let codes: BTreeMap<String, Vec<String>> = client.codes(&reply).into_iter().collect();
    assert_eq!(
        codes["PARAGRAPH_CANNOT_HAVE_RESPONSES"],
        ["question_type", "responses"]
    );
    assert_eq!(codes["RESPONSE_NAME_INVALID"], ["responses[1].name"]);
    assert!(
        codes
            .values()
            .any(|properties| *properties == ["responses[1].key"])
    );
    assert_eq!(client.total(&client.collection("questions")), 0, "CRU-21");
}

#[test]
fn helpers_record_an_action_with_its_person_hlp_haf() {
    let client = Client::new(ServerOptions::default());
    let tag = client.make("tags", &json!({"name": "red"}));
    let list = client.make("lists", &json!({"name": "all"}));
    let question = client.make(
        "questions",
        &json!({"question_type": "SingleChoice", "responses": [{"key": "y"}]}),
    );
    let own = |record: &Value| client.href(record, "self");
    let functions = json!({"person": {"given_name": "Ada"}, "add_tags": ["red"], "add_tags_uri": [own(&tag)],
        "add_lists_uri": [own(&list)], "triggers": {"autoresponse": {"enabled": true, "identifiers": ["m:1"]}},
        "add_questions_responses_uri": [{"question": own(&question), "responses": ["y"]}]});
    let mut seen = BTreeSet::new();
    for (many, helper, total) in [
        ("petitions", "record_signature_helper", "total_signatures"),
        ("forms", "record_submission_helper", "total_submissions"),
        (
            "fundraising_pages",
            "record_donation_helper",
            "total_donations",
        ),
        (
            "advocacy_campaigns",
            "record_outreach_helper",
            "total_outreaches",
        ),
        ("events", "record_attendance_helper", "total_accepted"),
    ] {
        let container = client.make(many, &json!({}));
        let mut body = functions.clone();
        body["amount"] = json!(2.5);
        let made = client.post(&client.href(&container, helper), &body);
        let person = client.get(&client.href(&made, "person"));
        assert_eq!(
            client.total(&client.href(&person, "taggings")),
            1,
            "HAF-02 {helper}"
        );
        assert_eq!(
            client.total(&client.href(&person, "items")),
            1,
            "HAF-06 {helper}"
        );
        assert_eq!(
            client.total(&client.href(&person, "answers")),
            1,
            "HAF-07 {helper}"
        );
        assert_eq!(client.get(&own(&container))[total], 1, "HLP-11 {helper}");
        seen.insert(person["id"].as_str().expect("HLP-20").to_owned());
        let partly = client.send(
            "POST",
            &client.href(&container, helper),
            &json!({"person": {}, "add_tags": ["no"]}),
        );
        assert_eq!(partly.status, 400, "ERR-30");
        assert_eq!(
            client.codes(&partly),
            [(
                "TAG_NAME_DOES_NOT_EXIST".to_owned(),
                vec!["add_tags".to_owned()]
            )]
        );
        assert_eq!(client.get(&own(&container))[total], 2, "ERR-29");
    }
    assert_eq!(seen.len(), 5, "HLP-04: no person is matched");
    let ada = client.post(
        &client.collection("person_signup_helper"),
        &json!({"person": {"given_name": "Ada"}}),
    );
    let canvass = json!({"canvass": {"success": true, "canvasser": own(&ada),
        "question_response": {"question": own(&question), "responses": ["y"]}}, "person": {"given_name": "No"}});
    let before = client.total(&client.collection("people"));
    let made = client.post(&client.href(&ada, "record_canvass_helper"), &canvass);
    assert_eq!(client.href(&made, "target"), own(&ada), "HLP-17");
    assert_eq!(
        client.total(&client.href(&made, "answers")),
        1,
        "RES-canvass-08"
    );
    assert_eq!(client.total(&client.collection("people")), before, "HLP-18");
    let message = client.make("messages", &json!({"subject": "S"}));
    let schedule = client.href(&message, "schedule_helper");
    let dates = json!({"scheduled_start_date": "2030-01-01T00:00:00Z", "scheduled_stop_date": "2030-01-02T01:00:00+01:00"});
    assert!(
        client.post(&schedule, &dates)["notice"].is_string(),
        "SCH-02"
    );
    assert_eq!(
        client.get(&own(&message))["scheduled_stop_date"],
        "2030-01-02T00:00:00Z",
        "SCH-01"
    );
    assert_eq!(
        client.send("DELETE", &schedule, &Value::Null).status,
        200,
        "SCH-05"
    );
    assert!(
        client
            .get(&own(&message))
            .get("scheduled_start_date")
            .is_none(),
        "SCH-04"
    );
}

#[test]
fn tickets_and_places_run_out_lim_04_05() {
    let client = Client::new(ServerOptions::default());
    let level = json!({"title": "A", "amount": 10.5, "limit": 1});
    let event = client.make(
        "events",
        &json!({"type": "ticketed", "ticket_levels": [level]}),
    );
    let helper = client.href(&event, "record_attendance_helper");
    let sale = json!({"person": {}, "attended": true, "tickets": [{"title": "A"}]});
    let made = client.post(&helper, &sale);
    assert!(made.get("attended").is_none(), "RES-attendance-05");
    assert_eq!(client.send("POST", &helper, &sale).status, 400, "LIM-05");
    let event = client.get(&client.href(&event, "self"));
    assert_eq!(
        (&event["total_tickets"], &event["total_amount"]),
        (&json!(1), &json!(10.5)),
        "RES-event-19"
    );
    assert_eq!(event["ticket_levels"][0]["limit"], 0, "RES-event-15");
    let small = client.make("events", &json!({"capacity": 1}));
    let helper = client.href(&small, "record_attendance_helper");
    client.post(&helper, &json!({"person": {}}));
    let people = client.total(&client.collection("people"));
    assert_eq!(
        client.send("POST", &helper, &json!({"person": {}})).status,
        400,
        "LIM-04"
    );
    assert_eq!(client.total(&client.collection("people")), people, "ERR-04");
}

#[test]
fn pages_lead_over_every_member_once_col_20_to_24() {
    let client = Client::new(ServerOptions {
        per_page: 3,
        ..ServerOptions::default()
    });
    let tags = client.collection("tags");
    for at in 0..7 {
        client.make("tags", &json!({ "name": format!("t{at}") }));
    }
    let page = client.get(&tags);
    assert_eq!(
        (&page["total_pages"], &page["per_page"]),
        (&json!(3), &json!(3))
    );
    let names: Vec<Value> = client
        .members(&tags)
        .iter()
        .map(|tag| tag["name"].clone())
        .collect();
    assert_eq!(names, ["t0", "t1", "t2", "t3", "t4", "t5", "t6"]);
    assert!(client.href(&page, "next").ends_with("page=2"));
}

#[test]
fn keys_and_tenants_are_apart_aut() {
    let mut client = Client::new(ServerOptions::default());
    let person = client.make("people", &json!({}));
    let url = client.href(&person, "self");
    let people = client.collection("people");
    let petition = client.make("petitions", &json!({}));
    let helper = client.href(&petition, "record_signature_helper");
    for (key, method, url, status) in [
        (Some("k-two"), "GET", &url, 404),
        (Some("k-two"), "DELETE", &url, 404),
        (Some("k-narrow"), "DELETE", &url, 403),
        (Some("k-narrow"), "GET", &url, 200),
        (Some("wrong"), "GET", &people, 401),
        (None, "GET", &people, 401),
        (None, "POST", &helper, 200),
        (Some("k-one"), "PATCH", &url, 500),
        (Some("k-one"), "DELETE", &helper, 500),
    ] {
        client.key = key;
        let reply = client.send(method, url, &Value::Null);
        assert_eq!(reply.status, status, "{method} {url} {key:?}");
        if key.is_none() && status == 200 {
            assert_eq!(reply.json, json!({}), "HLP-07");
        }
    }
    client.key = Some("k-two");
    assert_eq!(client.total(&people), 0, "COL-02");
}

#[test]
fn what_is_free_can_be_otherwise() {
    let client = Client::new(ServerOptions {
        prefix: "osdi".to_owned(),
        key_header: "X-Key".to_owned(),
        hrefs: HrefStyle::Changing,
        create_status: 200,
        delete_notice: false,
        empty_is_bare: true,
        whole_seconds: true,
        custom_field_prefix: "vendor_".to_owned(),
        ..ServerOptions::default()
    });
    let people = client.collection("people");
    assert_eq!(client.get(&people), json!({}), "COL-30");
    let reply = client.send("POST", &people, &json!({"custom_fields": {"a": "b"}}));
    assert_eq!(
        (reply.status, &reply.json["custom_fields"]),
        (200, &json!({"vendor_a": "b"})),
        "RES-person-37"
    );
    let url = client.href(&reply.json, "self");
    assert_ne!(client.href(&client.get(&url), "self"), url, "HAL-06");
    assert_eq!(
        client.send("DELETE", &url, &Value::Null).status,
        204,
        "CRU-14"
    );
    let relative = Client::new(ServerOptions {
        hrefs: HrefStyle::Relative,
        ..ServerOptions::default()
    });
    assert_eq!(relative.collection("people"), "/rest/all/people", "HAL-13");
}
