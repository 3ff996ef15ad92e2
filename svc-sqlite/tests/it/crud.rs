//! Create, read, update and delete of every kind.
//!
//! Requirements: UND-12, UND-13, UND-38.

use crate::server::{Server, minimal};
use serde_json::{Value, json};
use svc_sqlite::{SqliteOptions, SqliteStore};
use svc_store::store_testkit::{ContractViolation, check_names};

/// Collections at the top level that accept a plain create.
const CONTAINERS: [&str; 11] = [
    "people",
    "petitions",
    "events",
    "forms",
    "fundraising_pages",
    "tags",
    "lists",
    "questions",
    "share_pages",
    "advocacy_campaigns",
    "messages",
];

fn person_link(address: &str) -> Value {
    json!({"svc:person": {"href": address}})
}

/// CRU-13, CRU-22, CRU-03, ERR-16: the life cycle of a record of each kind at the top level.
#[tokio::test]
async fn containers_live_and_go() {
    let server = Server::start().await;
    for collection in CONTAINERS {
        let mut body = minimal(collection);
        body["origin_system"] = json!("first");
        body["identifiers"] = json!(["there:1", "there:2", "there:1"]);
        let made = server.post(collection, body).await;
        assert_eq!(made.status, 201, "CRU-13: {collection} {}", made.json);
        let address = made.self_link();
        let id = address.rsplit('/').next().unwrap();
        assert_eq!(
            made.json["identifiers"],
            json!([format!("here:{id}"), "there:1", "there:2"]),
            "CRU-03, TYP-14"
        );
        assert_eq!(
            made.json["created_date"], made.json["modified_date"],
            "TYP-16"
        );
        assert_eq!(
            server.get(&address).await.json,
            made.json,
            "CRU-22: {collection}"
        );
        assert_eq!(server.total(collection).await, 1, "COL-23: {collection}");
        let back = server.put(&address, made.json.clone()).await;
        assert_eq!(
            (back.status, back.warnings),
            (200, Value::Null),
            "UND-22: {collection}"
        );
        assert_eq!(back.json, made.json, "CRU-19: {collection}");

        let put = server
            .put(
                &address,
                json!({"identifiers": ["there:3"], "summary": "s", "created_date": "x"}),
            )
            .await;
        assert_eq!(put.status, 200, "ERR-15: {collection} {}", put.json);
        assert_eq!(
            put.json["identifiers"],
            json!([format!("here:{id}"), "there:3"]),
            "UND-25"
        );
        assert!(
            put.json["modified_date"].as_str() > made.json["modified_date"].as_str(),
            "CRU-19"
        );
        assert_eq!(
            put.json["created_date"], made.json["created_date"],
            "TYP-15"
        );

        let mut taken = minimal(collection);
        taken["identifiers"] = json!(["other:1", "there:3"]);
        let refused = server.post(collection, taken).await;
        assert_eq!(
            refused.codes(),
            ["IDENTIFIER_IN_USE"],
            "UND-24: {collection}"
        );
        assert_eq!(
            refused.descriptions()[0]["properties"],
            json!(["identifiers[1]"]),
            "UND-24"
        );
        assert_eq!(server.total(collection).await, 1, "CRU-21: {collection}");

        assert_eq!(
            server.delete(&address).await.status,
            204,
            "ERR-17: {collection}"
        );
        assert_eq!(
            server.get(&address).await.status,
            404,
            "ERR-11: {collection}"
        );
        assert_eq!(
            server.delete(&address).await.status,
            404,
            "ERR-16: {collection}"
        );
        assert_eq!(
            server.put(&address, json!({})).await.status,
            404,
            "UND-23: {collection}"
        );
        assert_eq!(server.total(collection).await, 0, "COL-23: {collection}");
        let mut again = minimal(collection);
        again["identifiers"] = json!(["there:3"]);
        server.make(collection, again).await;
    }
}

/// UND-12, UND-38, COL-04 to COL-18, RES-petition-10 and similar: the life cycle of each kind that
/// is under another.
#[tokio::test]
async fn actions_live_and_go() {
    let server = Server::start().await;
    let person = server.make("people", json!({"given_name": "Ada"})).await;
    for (container, members, total) in [
        ("petitions", "signatures", Some("total_signatures")),
        ("forms", "submissions", Some("total_submissions")),
        ("fundraising_pages", "donations", Some("total_donations")),
        ("events", "attendances", Some("total_accepted")),
        ("advocacy_campaigns", "outreaches", Some("total_outreaches")),
        ("questions", "answers", None),
        ("tags", "taggings", None),
        ("lists", "items", Some("total_items")),
    ] {
        let owner = server.make(container, minimal(container)).await;
        let other = server.make(container, minimal(container)).await;
        let below = server.get(&owner).await.link(&format!("svc:{members}"));
        let of_person = server.get(&person).await.link(&format!("svc:{members}"));
        assert_eq!(server.total(&below).await, 0, "COL-30: {members}");

        // An answer requires a value.
        let least = if members == "answers" {
            json!({"value": "v"})
        } else {
            json!({})
        };
        let missing = server.post(&below, least.clone()).await;
        assert_eq!(missing.codes(), ["PERSON_NOT_FOUND"], "CRU-02: {members}");
        let nobody = person_link("http://localhost/people/01980000-0000-7000-8000-000000000000");
        let mut unknown = least.clone();
        unknown["_links"] = nobody;
        let unknown = server.post(&below, unknown).await;
        assert_eq!(unknown.codes(), ["PERSON_NOT_FOUND"], "CRU-02: {members}");
        assert_eq!(
            unknown.descriptions()[0]["properties"],
            json!(["_links.svc:person"]),
            "CRU-02: {members}"
        );

        let mut body = least.clone();
        body["origin_system"] = json!("o");
        body["identifiers"] = json!(["a:1"]);
        body["_links"] = person_link(&person);
        let made = server.post(&below, body).await;
        assert_eq!(made.status, 201, "CRU-01: {members} {}", made.json);
        assert_eq!(made.location, Some(made.self_link()), "UND-33");
        assert_eq!(made.link("svc:person"), person, "CRU-02");
        assert_eq!(
            server.get(&made.self_link()).await.json,
            made.json,
            "CRU-22: {members}"
        );
        for collection in [&below, &of_person] {
            let page = server.get(collection).await;
            assert_eq!(page.json["total_records"], 1, "{collection}");
            let mut member = page.json["_embedded"][format!("svc:{members}")][0].clone();
            let mut alone = made.json.clone();
            for record in [&mut member, &mut alone] {
                record["_links"].as_object_mut().unwrap().remove("curies");
            }
            assert_eq!(member, alone, "COL-28: {members}");
        }
        if let Some(total) = total {
            assert_eq!(server.get(&owner).await.json[total], 1, "{total}");
            assert_eq!(server.get(&other).await.json[total], 0, "{total}");
        }
        // A wrong parent in the path (COL-19). Donations are at the top level.
        let id = made.self_link();
        let id = id.rsplit('/').next().unwrap();
        assert_eq!(
            server.get(&format!("{other}/{members}/{id}")).await.status,
            404,
            "COL-19: {members}"
        );
        assert_eq!(
            server.get(&format!("{owner}/{members}/{id}")).await.status,
            200,
            "COL-19: {members}"
        );
        let is_membership = matches!(members, "taggings" | "items");
        if !matches!(container, "tags" | "lists") {
            assert_eq!(
                server.delete(&owner).await.codes(),
                ["HAS_DEPENDENTS"],
                "UND-26: {container}"
            );
            let put = server
                .put(&made.self_link(), json!({"origin_system": "p"}))
                .await;
            assert_eq!(
                (put.status, &put.json["origin_system"]),
                (200, &json!("p")),
                "CRU-04: {members}"
            );
            for own in [&made.self_link(), &owner] {
                let read = server.get(own).await.json;
                let back = server.put(own, read).await;
                assert_eq!(
                    (back.status, back.warnings),
                    (200, Value::Null),
                    "UND-22: {own}"
                );
            }
        }
        if is_membership {
            let again = server
                .post(&below, json!({"_links": person_link(&person)}))
                .await;
            assert_eq!(
                (again.status, again.self_link()),
                (200, made.self_link()),
                "UND-38"
            );
        }
        assert_eq!(
            server.delete(&made.self_link()).await.status,
            204,
            "ERR-17: {members}"
        );
        assert_eq!(server.total(&below).await, 0, "COL-23: {members}");
        assert_eq!(server.total(&of_person).await, 0, "COL-23: {members}");
        if let Some(total) = total {
            assert_eq!(server.get(&owner).await.json[total], 0, "{total}");
        }
        assert_eq!(
            server.delete(&owner).await.status,
            204,
            "UND-12: {container}"
        );
    }
}

/// UND-26: deleting a tag or a list deletes its taggings or items, and totals follow.
#[tokio::test]
async fn a_tag_takes_its_taggings_along() {
    let server = Server::start().await;
    let person = server.make("people", json!({"given_name": "Ada"})).await;
    for (container, members) in [("tags", "taggings"), ("lists", "items")] {
        let owner = server.make(container, json!({"name": "x"})).await;
        let member = server
            .make(
                &format!("{owner}/{members}"),
                json!({"_links": person_link(&person)}),
            )
            .await;
        assert_eq!(server.delete(&owner).await.status, 204, "UND-26");
        assert_eq!(server.get(&member).await.status, 404, "UND-26");
        assert_eq!(
            server.total(&format!("{person}/{members}")).await,
            0,
            "UND-26"
        );
    }
}

/// UND-02, UND-03: names of tags and lists are unique in a store.
#[tokio::test]
async fn names_are_unique_in_a_store() -> Result<(), ContractViolation> {
    let server = Server::start().await;
    check_names(&server.store, server.tenant.clone()).await
}

/// UND-02, UND-03: names of tags and lists are required and unique, on create and on update. A tag
/// and a list can have the same name. Helpers find them in any case, and filters exactly.
#[tokio::test]
async fn names_are_unique() {
    let server = Server::start().await;
    for collection in ["tags", "lists"] {
        let own = server.make(collection, json!({"name": "Volunteer"})).await;
        let other = server.make(collection, json!({"name": "Donor"})).await;
        for unnamed in [
            json!({}),
            json!({"name": null}),
            json!({"name": " \u{200b}"}),
        ] {
            let refused = server.post(collection, unnamed.clone()).await;
            assert_eq!(refused.codes(), ["FIELD_REQUIRED"], "{unnamed}");
        }
        let taken = server
            .post(
                collection,
                json!({"name": "VOLUNTEER", "identifiers": ["x:1"]}),
            )
            .await;
        assert_eq!(taken.codes(), ["NAME_IN_USE"], "UND-02: {collection}");
        let error = taken.json.to_string();
        for part in ["VOLUNTEER", &format!("add_{collection}")] {
            assert!(error.contains(part), "{error}");
        }
        let add =
            json!({"person": {"given_name": "Ada"}, format!("add_{collection}"): ["volunteer"]});
        let signed_up = server.post("people/person_signup", add).await;
        assert_eq!(signed_up.status, 200, "HAF-02: {}", signed_up.json);
        for (name, total) in [("Volunteer", 1), ("volunteer", 0)] {
            let found = format!("{collection}?filter=name%20eq%20'{name}'");
            assert_eq!(server.total(&found).await, total, "FLT-07: {name}");
        }
        assert_eq!(
            server
                .put(&other, json!({"name": "volunteer"}))
                .await
                .codes(),
            ["NAME_IN_USE"],
            "UND-03"
        );
        assert_eq!(
            server
                .put(&other, json!({"name": "donor", "description": "d"}))
                .await
                .status,
            200
        );
        assert_eq!(
            server.put(&other, json!({"name": null})).await.codes(),
            ["FIELD_REQUIRED"],
            "UND-02"
        );
        assert_eq!(
            server.put(&own, json!({"name": "VOLUNTEER"})).await.status,
            200,
            "UND-02"
        );
    }
}

/// ERR-39: all problems that only the store can detect are reported together.
#[tokio::test]
async fn all_faults_at_once() {
    let server = Server::start().await;
    server
        .make("tags", json!({"name": "a", "identifiers": ["x:1", "x:2"]}))
        .await;
    let refused = server
        .post(
            "tags",
            json!({"name": "a", "identifiers": ["x:1", "y:1", "x:2"]}),
        )
        .await;
    let mut codes = refused.codes();
    codes.sort();
    assert_eq!(
        codes,
        ["IDENTIFIER_IN_USE", "IDENTIFIER_IN_USE", "NAME_IN_USE"],
        "ERR-39"
    );
}

/// RES-petition-17, RES-petition-18, RES-person-47, RES-event-56: who created and who changed a
/// record.
#[tokio::test]
async fn creators_and_organizers() {
    let server = Server::start().await;
    let person = server.make("people", json!({"given_name": "Ada"})).await;
    let other = server.make("people", json!({"given_name": "Ada"})).await;
    let cx = server.bound(&person);
    let made = server.call_as(&cx, "POST", "petitions", json!({})).await;
    assert_eq!(
        (made.link("svc:creator"), made.link("svc:modified_by")),
        (person.clone(), person.clone())
    );
    let put = server.put(&made.self_link(), json!({"title": "t"})).await;
    assert_eq!(put.link("svc:creator"), person, "RES-petition-17");
    assert!(
        put.json["_links"].get("svc:modified_by").is_none(),
        "RES-petition-18: changed with an unbound key"
    );
    let sent =
        json!({"_links": {"svc:creator": {"href": other}, "svc:organizer": {"href": other}}});
    let event = server.call_as(&cx, "POST", "events", sent).await;
    assert_eq!(
        (event.link("svc:creator"), event.link("svc:organizer")),
        (other.clone(), other.clone())
    );
    let moved = server
        .put(
            &event.self_link(),
            json!({"_links": {"svc:organizer": {"href": person}}}),
        )
        .await;
    assert_eq!(moved.link("svc:organizer"), person, "CRU-16");
    let cleared = server
        .put(
            &event.self_link(),
            json!({"_links": {"svc:organizer": null}}),
        )
        .await;
    assert!(
        cleared.json["_links"].get("svc:organizer").is_none(),
        "CRU-16"
    );
    assert_eq!(
        server.get(&event.self_link()).await.json,
        cleared.json,
        "CRU-16"
    );
    // A key whose person was deleted can still write, and its writes name no person (UND-26).
    assert_eq!(server.delete(&person).await.status, 204);
    let made = server.call_as(&cx, "POST", "petitions", json!({})).await;
    assert_eq!(made.status, 201, "{}", made.json);
    for link in ["svc:creator", "svc:modified_by"] {
        assert!(made.json["_links"].get(link).is_none(), "RES-petition-17");
    }
}

/// ERR-35, CRU-20: rules between fields also use the stored record, and a rejected update changes
/// nothing.
#[tokio::test]
async fn rules_on_update() {
    let server = Server::start().await;
    let question = server
        .make(
            "questions",
            json!({"question_type": "SingleChoice", "responses": [{"key": "a"}]}),
        )
        .await;
    let before = server.get(&question).await.json;
    let refused = server
        .put(
            &question,
            json!({"question_type": "Paragraph", "title": "x"}),
        )
        .await;
    assert_eq!(
        refused.codes(),
        ["PARAGRAPH_CANNOT_HAVE_RESPONSES"],
        "ERR-35"
    );
    assert_eq!(server.get(&question).await.json, before, "CRU-20");
    let event = server
        .make("events", json!({"start_date": "2026-01-02T00:00:00Z"}))
        .await;
    let refused = server
        .put(&event, json!({"end_date": "2026-01-01T00:00:00Z"}))
        .await;
    assert_eq!(
        refused.codes(),
        ["START_DATE_AFTER_END_DATE"],
        "RES-event-24"
    );
}

/// SCH-01 to SCH-08: a message is scheduled, rescheduled and cancelled.
#[tokio::test]
async fn messages_are_scheduled() {
    let server = Server::start().await;
    let message = server
        .make(
            "messages",
            json!({"name": "m", "scheduled_start_date": "2026-01-01T00:00:00Z"}),
        )
        .await;
    let made = server.get(&message).await;
    assert!(
        made.json.get("scheduled_start_date").is_none(),
        "RES-message-01"
    );
    let helper = made.link("svc:schedule_helper");
    assert_eq!(
        server.delete(&helper).await.codes(),
        ["MESSAGE_NOT_SCHEDULED"],
        "SCH-08"
    );
    let dates = json!({"scheduled_start_date": "2026-03-01T12:00:00Z", "scheduled_end_date": "2026-03-02T12:00:00Z"});
    let scheduled = server.post(&helper, dates.clone()).await;
    assert_eq!(scheduled.status, 200, "SCH-02: {}", scheduled.json);
    assert!(
        scheduled.json["notice"]
            .as_str()
            .is_some_and(|text| !text.is_empty()),
        "SCH-02"
    );
    let read = server.get(&message).await.json;
    assert_eq!(
        read["scheduled_start_date"], "2026-03-01T12:00:00Z",
        "SCH-01"
    );
    assert_eq!(
        read["scheduled_stop_date"], "2026-03-02T12:00:00Z",
        "SCH-07"
    );
    assert_ne!(read["modified_date"], made.json["modified_date"], "TYP-16");
    assert_eq!(server.post(&helper, dates).await.status, 200, "SCH-08");
    assert_eq!(server.get(&message).await.json, read, "TYP-16");
    server
        .post(
            &helper,
            json!({"scheduled_start_date": "2026-04-01T12:00:00Z"}),
        )
        .await;
    assert!(
        server
            .get(&message)
            .await
            .json
            .get("scheduled_stop_date")
            .is_none(),
        "SCH-08"
    );
    assert_eq!(server.delete(&helper).await.status, 200, "SCH-05");
    assert!(
        server
            .get(&message)
            .await
            .json
            .get("scheduled_start_date")
            .is_none(),
        "SCH-04"
    );
    server.delete(&message).await;
    let gone = server
        .post(
            &helper,
            json!({"scheduled_start_date": "2026-04-01T12:00:00Z"}),
        )
        .await;
    assert_eq!(gone.status, 404, "SCH-06");
}

/// UND-14, COL-22: a cursor of another page number or size is ignored, and the number is used.
#[tokio::test]
async fn a_continuation_leads_to_its_own_page_only() {
    let server = Server::start().await;
    for name in 0..10 {
        server
            .make("people", json!({"given_name": name.to_string()}))
            .await;
    }
    let next = server.get("people?per_page=2").await.link("next");
    let names = async |address: &str| {
        let page = server.get(address).await.json;
        let members = page["_embedded"]["svc:people"].as_array().unwrap().clone();
        members
            .iter()
            .map(|member| member["given_name"].as_str().unwrap().to_owned())
            .collect::<String>()
    };
    assert_eq!(names(&next).await, "23", "COL-24");
    assert_eq!(
        names(&next.replace("?page=2", "?page=4")).await,
        "67",
        "COL-22: the fourth page"
    );
    assert_eq!(
        names(&next.replace("per_page=2", "per_page=3")).await,
        "345",
        "COL-22: the second page of three"
    );
    assert_eq!(
        names(&next.replace("?page=2", "?page=9")).await,
        "",
        "UND-19"
    );
}

/// HAF-09, RES-question-07, UND-12: a value that a question does not allow is rejected in every
/// kind of request.
#[tokio::test]
async fn answers_fit_their_question() {
    let server = Server::start().await;
    let person = server.make("people", json!({"given_name": "Ada"})).await;
    let answer = |responses: Value| json!({"responses": responses, "_links": person_link(&person)});
    let keys = json!([{"key": "a"}, {"key": "b"}]);
    let (none, required) = ("RESPONSE_KEY_DOES_NOT_EXIST", "FIELD_REQUIRED");
    for (kind, responses, sent, expected) in [
        ("SingleChoice", &keys, json!(["a"]), vec![]),
        (
            "SingleChoice",
            &keys,
            json!([]),
            vec![(required, "responses")],
        ),
        (
            "MultiChoice",
            &keys,
            json!([]),
            vec![(required, "responses")],
        ),
        (
            "SingleChoice",
            &keys,
            json!(["c"]),
            vec![(none, "responses[0]")],
        ),
        (
            "SingleChoice",
            &keys,
            json!(["a", "b"]),
            vec![("TOO_MANY_RESPONSES", "responses")],
        ),
        (
            "SingleChoice",
            &keys,
            json!(["a", "c"]),
            vec![(none, "responses[1]"), ("TOO_MANY_RESPONSES", "responses")],
        ),
        ("MultiChoice", &keys, json!(["b", "a"]), vec![]),
        (
            "MultiChoice",
            &keys,
            json!(["x", "a", "y"]),
            vec![(none, "responses[0]"), (none, "responses[2]")],
        ),
    ] {
        let question = server
            .make(
                "questions",
                json!({"question_type": kind, "responses": responses}),
            )
            .await;
        let answers = format!("{question}/answers");
        let made = server.post(&answers, answer(sent.clone())).await;
        // It sends the other value first, so that the update is a change.
        let stored = server.make(&answers, answer(json!(["b"]))).await;
        let changed = server.put(&stored, json!({ "responses": sent })).await;
        for (reply, done) in [(made, 201), (changed, 200)] {
            let named = |one: &Value| (one["error_code"].clone(), one["properties"].clone());
            let said: Vec<_> = reply.descriptions().iter().map(named).collect();
            let expected: Vec<_> = expected
                .iter()
                .map(|(code, at)| (json!(code), json!([at])))
                .collect();
            assert_eq!(said, expected, "HAF-09 {kind} {sent}: {}", reply.json);
            assert_eq!(
                reply.status,
                if expected.is_empty() { done } else { 400 },
                "HAF-09 {kind} {sent}"
            );
        }
        let members = 1 + u64::from(expected.is_empty());
        assert_eq!(
            server.total(&answers).await,
            members,
            "CRU-21 {kind} {sent}"
        );
    }
    // The answer to a Paragraph question is its text.
    let question = server
        .make("questions", json!({"question_type": "Paragraph"}))
        .await;
    let answers = format!("{question}/answers");
    let said = |value: Value| json!({"value": value, "_links": person_link(&person)});
    for empty in [json!(null), json!(""), json!(" ")] {
        assert_eq!(
            server.post(&answers, said(empty)).await.codes(),
            [required],
            "HAF-10"
        );
    }
    assert_eq!(
        server.post(&answers, answer(json!(["a"]))).await.codes(),
        [none, required],
        "HAF-09, HAF-10"
    );
    let text = server.make(&answers, said(json!("v"))).await;
    assert_eq!(
        server.put(&text, json!({"value": ""})).await.codes(),
        [required],
        "HAF-10"
    );
    assert_eq!(
        server
            .put(&text, json!({"origin_system": "o"}))
            .await
            .status,
        200,
        "HAF-10"
    );
    // A valid answer is unchanged when its question gets more responses.
    let question = server
        .make(
            "questions",
            json!({"question_type": "MultiChoice", "responses": keys}),
        )
        .await;
    let kept = server
        .make(&format!("{question}/answers"), answer(json!(["a", "b"])))
        .await;
    let more = json!({"responses": [{"key": "c"}, {"key": "b", "title": "B"}, {"key": "a"}]});
    assert_eq!(server.put(&question, more).await.status, 200);
    assert_eq!(
        server
            .put(&kept, json!({"responses": ["a", "b"], "value": "v"}))
            .await
            .status,
        200,
        "CRU-15"
    );
    assert_eq!(
        server.put(&kept, json!({"responses": ["d"]})).await.codes(),
        [none],
        "HAF-09"
    );
    assert_eq!(
        server.put(&kept, json!({"responses": null})).await.codes(),
        [required],
        "HAF-09"
    );
}

/// RES-question-06, RES-question-07: a question with answers keeps its type and its responses.
#[tokio::test]
async fn what_answers_refer_to_is_not_removed() {
    let server = Server::start().await;
    let person = server.make("people", json!({"given_name": "Ada"})).await;
    let keys = json!([{"key": "a", "title": "A"}, {"key": "b"}, {"key": "c"}]);
    let question = json!({"question_type": "MultiChoice", "responses": keys});
    let question = server.make("questions", question).await;
    let removed = json!({"responses": [{"key": "a"}, {"key": "b"}]});
    assert_eq!(server.put(&question, removed).await.status, 200);
    let answers = format!("{question}/answers");
    let answer = json!({"responses": ["a"], "_links": person_link(&person)});
    let answer = server.make(&answers, answer).await;

    let read = server.get(&question).await.json;
    let back = server.put(&question, read.clone()).await;
    assert_eq!((back.status, back.warnings), (200, Value::Null), "UND-22");
    let renamed = json!({"responses": [{"key": "a"}, {"key": "d"}, {"key": "e"}]});
    let refused = server.put(&question, renamed).await;
    assert_eq!(refused.status, 400);
    let description = &refused.descriptions()[0];
    assert_eq!(description["error_code"], "HAS_DEPENDENTS");
    assert_eq!(description["properties"], json!(["responses"]));
    assert_eq!(
        description["description"],
        r#"`responses` must contain the keys "b", because the question has 1 answer."#
    );
    let other = json!({"question_type": "Paragraph", "responses": null});
    let refused = server.put(&question, other).await;
    assert_eq!(refused.codes(), ["HAS_DEPENDENTS", "HAS_DEPENDENTS"]);
    assert_eq!(
        refused.descriptions()[0]["description"],
        "`question_type` must be MultiChoice, because the question has 1 answer."
    );
    assert_eq!(
        server.get(&question).await.json["responses"],
        read["responses"]
    );

    assert_eq!(server.delete(&answer).await.status, 204);
    let other = json!({"question_type": "Paragraph", "responses": null});
    assert_eq!(server.put(&question, other).await.status, 200);
}

/// RES-submission-07, UND-01: the answers of a submission are created below it, for the person of
/// the submission.
#[tokio::test]
async fn answers_of_a_submission() {
    let server = Server::start().await;
    let ada = server.make("people", json!({"given_name": "Ada"})).await;
    let bob = server.make("people", json!({"given_name": "Ada"})).await;
    let form = server.make("forms", json!({})).await;
    let link = |to: &str| json!({"href": to});
    let by_ada = json!({"_links": {"svc:person": link(&ada)}});
    let submission = server
        .make(&format!("{form}/submissions"), by_ada.clone())
        .await;
    let question = server
        .make("questions", json!({"question_type": "Paragraph"}))
        .await;
    let answers = server.get(&submission).await.link("svc:answers");
    let answer = |more: Value| {
        let mut body = json!({"value": "Yes", "_links": {"svc:question": link(&question)}});
        body["_links"]
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        body
    };
    let made = server.post(&answers, answer(json!({}))).await;
    assert_eq!(
        (made.status, &made.warnings),
        (201, &Value::Null),
        "RES-submission-07: {}",
        made.json
    );
    assert_eq!(
        (made.link("svc:person"), made.link("svc:question")),
        (ada.clone(), question.clone())
    );
    let other = server
        .post(&answers, answer(json!({"svc:person": link(&bob)})))
        .await;
    assert_eq!(other.link("svc:person"), bob, "UND-01");
    for collection in [&answers, &format!("{question}/answers")] {
        assert_eq!(
            server.total(collection).await,
            2,
            "RES-submission-07: {collection}"
        );
    }
    let wrong = server
        .post(
            &answers,
            json!({"value": 7, "_links": {"svc:person": {"href": "nobody"}}}),
        )
        .await;
    let wrong: Vec<_> = wrong
        .descriptions()
        .iter()
        .map(|it| it["properties"][0].clone())
        .collect();
    assert_eq!(
        wrong,
        ["value", "_links.svc:person", "_links.svc:question"],
        "ERR-39"
    );
    let elsewhere = link("http://localhost/questions/018f8d9e-0000-7000-8000-000000000009");
    let lost = json!({"zz": 1, "value": 7, "_links": {"svc:question": elsewhere, "svc:person": {"href": "nobody"}}});
    let lost = server.post(&answers, lost).await;
    let properties: Vec<_> = lost
        .descriptions()
        .iter()
        .map(|it| it["properties"][0].clone())
        .collect();
    assert_eq!(
        lost.status, 400,
        "ERR-39: the body links the container of the answer"
    );
    assert_eq!(
        properties,
        ["value", "_links.svc:person", "_links.svc:question"],
        "ERR-39"
    );
    let unanswered = server
        .post(
            &answers,
            json!({"_links": {"svc:question": link(&question)}}),
        )
        .await;
    assert_eq!(unanswered.codes(), ["FIELD_REQUIRED"], "HAF-09");
    let nowhere = format!(
        "{}/answers",
        submission.replace(|digit: char| digit.is_ascii_digit(), "0")
    );
    assert_eq!(
        server.post(&nowhere, answer(json!({}))).await.status,
        404,
        "COL-19"
    );
    assert_eq!(server.total(&answers).await, 2, "CRU-21");
    // A submission whose person was deleted needs a person in the request.
    server.delete(&ada).await;
    let nobody = server.post(&answers, answer(json!({}))).await;
    assert_eq!(nobody.codes(), ["PERSON_NOT_FOUND"], "UND-29");
}

/// COL-23: a cached response is not used after a write, of this server or of another one on the
/// file.
#[tokio::test]
async fn col_23_what_is_kept_ends_with_a_write() {
    let folder = tempfile::tempdir().unwrap();
    let options = || SqliteOptions::new(folder.path().join("data.db"));
    let one = Server::on(SqliteStore::open(options()).unwrap()).await;
    let other = Server::on(SqliteStore::open(options().shared()).unwrap()).await;
    let person = one.make("people", json!({"given_name": "0"})).await;
    for (round, writer) in [&one, &other, &one, &other].into_iter().enumerate() {
        for reader in [&one, &other] {
            for _ in 0..3 {
                assert_eq!(
                    reader.get(&person).await.json["given_name"],
                    round.to_string()
                );
                assert_eq!(
                    reader.total("people").await,
                    1 + u64::try_from(round).unwrap()
                );
            }
        }
        let name = (round + 1).to_string();
        assert_eq!(
            writer
                .put(&person, json!({"given_name": name}))
                .await
                .status,
            200
        );
        writer.make("people", json!({"given_name": "Ada"})).await;
    }
}
