//! Repeated helper requests of which parts failed.
//!
//! Requirements: IDM-01 to IDM-08, ERR-29.

use std::sync::Arc;

use http::Method;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::{
    partial_calls::{Repeated, RepeatingClient, ada, check_failed_parts},
    server::Server,
};

const SIGN_UP: &str = "people/person_signup";

async fn client() -> (Server, RepeatingClient) {
    let server = Server::with(|options| options, svc_core::ApiBuilder::batches).await;
    let client = RepeatingClient {
        api: server.api.clone(),
        tenant: server.tenant.clone(),
    };
    (server, client)
}

async fn tag(client: &RepeatingClient, name: &str) {
    client.make("tags", json!({ "name": name })).await;
}

#[tokio::test]
async fn idm_02_failed_parts_are_executed_again() {
    let (_server, client) = client().await;
    check_failed_parts(&client).await;
}

/// IDM-03: of simultaneous repetitions, one executes the failed parts.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn idm_03_simultaneous_repetitions_execute_failed_parts_once() {
    let (_server, client) = client().await;
    let client = Arc::new(client);
    let question = json!({"question_type": "Paragraph", "identifiers": ["q:1"]});
    let body = json!({"person": ada(), "add_tags": ["later"],
        "add_questions_responses_uri": [{"question": "q:1", "value": "yes"}]});
    let first = client.post(SIGN_UP, "k", &body).await;
    assert_eq!(first.status, 400);
    tag(&client, "later").await;
    client.make("questions", question).await;
    let mut calls = JoinSet::new();
    for _ in 0..32 {
        let (client, body) = (Arc::clone(&client), body.clone());
        calls.spawn(async move { client.post(SIGN_UP, "k", &body).await });
    }
    let all = calls.join_all().await;
    let is_resumed = |reply: &&Repeated| reply.replayed.as_deref() == Some("partial");
    assert_eq!(all.iter().filter(is_resumed).count(), 1);
    assert!(all.iter().all(|reply| reply.status == 200));
    assert!(all.iter().all(|reply| reply.body == all[0].body), "IDM-02");
    for members in ["taggings", "answers"] {
        let of_person = format!("{}/{members}", first.person());
        assert_eq!(client.total(&of_person).await, 1, "{members}");
    }
}

/// A helper with a posted person, the helper of a canvass, and a create with a person.
#[tokio::test]
async fn idm_01_failed_parts_of_each_helper() {
    let (_server, client) = client().await;
    let person = client.make("people", ada()).await;
    let petition = client.make("petitions", json!({"title": "p"})).await;
    let signature = format!("{petition}/record_signature_helper");
    let posted = json!({"person": ada(), "add_tags": ["one"]});
    let canvass = json!({"canvass": {"contact_type": "phone"}, "add_tags": ["two"]});
    let created = json!({"person": ada(), "add_tags": ["three"]});
    let requests = [
        (signature, posted, "one", 200),
        (
            format!("{person}/record_canvass_helper"),
            canvass,
            "two",
            200,
        ),
        (format!("{petition}/signatures"), created, "three", 201),
    ];
    for (count, (path, body, name, status)) in (1..).zip(&requests) {
        let first = client.post(path, name, body).await;
        assert_eq!(first.status, 400, "{path}: {}", first.json());
        tag(&client, name).await;
        let again = client.post(path, name, body).await;
        assert_eq!(again.status, *status, "{path}: {}", again.json());
        assert_eq!(again.replayed.as_deref(), Some("partial"), "{path}");
        let taggings = client.total(&format!("{person}/taggings")).await;
        assert_eq!(taggings, count, "{path}");
    }
    assert_eq!(client.total("people").await, 1);
    assert_eq!(client.total(&format!("{person}/signatures")).await, 2);
    assert_eq!(client.total(&format!("{person}/canvasses")).await, 1);
}

/// IDM-08: the new response is deleted with each person that the first one contained.
#[tokio::test]
async fn idm_08_the_new_response_is_deleted_with_its_people() {
    let (_server, client) = client().await;
    let event = json!({"type": "ticketed", "ticket_levels": [{"title": "T"}]});
    let event = client.make("events", event).await;
    let holder = client.make(
        "people",
        json!({"given_name": "Kim", "identifiers": ["p:1"]}),
    );
    let holder = holder.await;
    let body = json!({"person": ada(), "add_tags": ["later"],
        "tickets": [{"title": "T", "person": {"given_name": "Kim", "identifiers": ["p:1"]}}]});
    let helper = format!("{event}/record_attendance_helper");
    let first = client.post(&helper, "k", &body).await;
    assert_eq!(first.status, 400, "{}", first.json());
    tag(&client, "later").await;
    let second = client.post(&helper, "k", &body).await;
    assert_eq!(second.replayed.as_deref(), Some("partial"));
    client.delete(&holder).await;
    let third = client.post(&helper, "k", &body).await;
    assert_eq!((third.status, third.replayed), (200, None), "a new request");
}

/// A response remains if the person or the action of the request no longer exists.
#[tokio::test]
async fn idm_02_nothing_is_executed_for_a_deleted_action() {
    let (_server, client) = client().await;
    let petition = client.make("petitions", json!({"title": "p"})).await;
    let helper = format!("{petition}/record_signature_helper");
    let body = json!({"person": ada(), "add_tags": ["later"]});
    let first = client.post(&helper, "k", &body).await;
    tag(&client, "later").await;
    let action = first.json()["svc:signature"]["_links"]["self"]["href"].clone();
    client.delete(action.as_str().unwrap()).await;
    let again = client.post(&helper, "k", &body).await;
    assert_eq!(again.replayed.as_deref(), Some("true"));
    assert_eq!(again.body, first.body);
    assert_eq!(client.total("people").await, 1);
    assert_eq!(
        client.total(&format!("{}/taggings", first.person())).await,
        0
    );
}

/// HLP-04: a warning does not prevent the repetition, and the new response has it, too.
#[tokio::test]
async fn idm_02_a_resumed_request_has_its_warnings() {
    let (_server, client) = client().await;
    let family = json!({"email_addresses": [{"address": "family@example.org"}]});
    for _ in 0..2 {
        client.make("people", family.clone()).await;
    }
    let body = json!({"person": family, "add_tags": ["later"]});
    let first = client.post(SIGN_UP, "k", &body).await;
    tag(&client, "later").await;
    let second = client.post(SIGN_UP, "k", &body).await;
    assert_eq!(
        (first.status, second.status, second.replayed.as_deref()),
        (400, 200, Some("partial"))
    );
    for reply in [&first, &second] {
        let warnings = &reply.json()["ext:warnings"];
        assert_eq!(
            warnings[0]["error_code"],
            "ADDRESS_SHARED",
            "{}",
            reply.json()
        );
    }
}

/// UND-24: an answer that failed is recorded, even if the person has the same one from another call.
#[tokio::test]
async fn idm_02_each_canvass_gets_its_own_answer() {
    let (_server, client) = client().await;
    let person = client.make("people", ada()).await;
    let helper = format!("{person}/record_canvass_helper");
    let body = json!({"canvass": {"success": true},
        "add_questions_responses_uri": [{"question": "q:1", "value": "yes"}]});
    for key in ["one", "two"] {
        assert_eq!(client.post(&helper, key, &body).await.status, 400);
    }
    let question = json!({"question_type": "Paragraph", "identifiers": ["q:1"]});
    client.make("questions", question).await;
    for (key, answers) in [("one", 1), ("two", 2)] {
        let again = client.post(&helper, key, &body).await;
        assert_eq!(
            again.replayed.as_deref(),
            Some("partial"),
            "{}",
            again.json()
        );
        assert_eq!(client.total(&format!("{person}/answers")).await, answers);
    }
}

/// UND-24: an answer that another request has recorded for the same action is not recorded again.
#[tokio::test]
async fn idm_02_an_answer_of_another_key_is_recorded_once() {
    let (_server, client) = client().await;
    let petition = client.make("petitions", json!({"title": "p"})).await;
    let helper = format!("{petition}/record_signature_helper");
    let body = json!({"identifiers": ["web:1"], "person": ada(),
        "add_questions_responses_uri": [{"question": "q:1", "value": "yes"}]});
    let first = client.post(&helper, "one", &body).await;
    assert_eq!(first.status, 400);
    let question = json!({"question_type": "Paragraph", "identifiers": ["q:1"]});
    client.make("questions", question).await;
    for key in ["two", "one"] {
        let again = client.post(&helper, key, &body).await;
        assert_eq!(again.status, 200, "{key}: {}", again.json());
        let answers = format!("{}/answers", first.person());
        assert_eq!(client.total(&answers).await, 1, "{key}");
    }
}

/// HLP-04: failed parts are executed only for the person of the first execution.
#[tokio::test]
async fn idm_02_nothing_is_executed_for_a_person_linked_later() {
    let (_server, client) = client().await;
    let petition = client.make("petitions", json!({"title": "p"})).await;
    let helper = format!("{petition}/record_signature_helper");
    let body = json!({"identifiers": ["web:1"], "add_tags": ["later"]});
    let first = client.post(&helper, "k", &body).await;
    assert_eq!(first.status, 400);
    tag(&client, "later").await;
    let linked = json!({"identifiers": ["web:1"], "person": ada()});
    assert_eq!(client.post(&helper, "other", &linked).await.status, 200);
    let again = client.post(&helper, "k", &body).await;
    assert_eq!(
        (again.replayed.as_deref(), again.body),
        (Some("true"), first.body)
    );
}

/// A rejected request has no stored response.
#[tokio::test]
async fn idm_04_a_rejected_request_does_not_use_up_its_key() {
    let (_server, client) = client().await;
    let rejected = json!({"person": {"given_name": 7}, "add_tags": ["later"]});
    for _ in 0..2 {
        let rejected = client.post(SIGN_UP, "k", &rejected).await;
        assert_eq!((rejected.status, rejected.replayed), (400, None));
    }
    let fixed = client.post(SIGN_UP, "k", &json!({"person": ada()})).await;
    assert_eq!((fixed.status, fixed.replayed), (200, None));
}

/// BAT-06: a repeated batch executes the failed parts of its entries.
#[tokio::test]
async fn bat_06_a_repeated_batch_executes_failed_parts() {
    let (_server, client) = client().await;
    let entry = |name: &str| json!({"person": {"given_name": name}, "add_tags": ["later"], "add_lists": [name]});
    let batch = json!([entry("a"), entry("b")]);
    let path = format!("{SIGN_UP}/batch");
    let send = async || -> Vec<u64> {
        let reply = client.post(&path, "k", &batch).await.json();
        let results = reply["results"].as_array().cloned().unwrap_or_default();
        let status = |result: &Value| result["status"].as_u64().unwrap_or_default();
        results.iter().map(status).collect()
    };
    assert_eq!(send().await, [400, 400]);
    tag(&client, "later").await;
    client.make("lists", json!({"name": "b"})).await;
    assert_eq!(send().await, [400, 200]);
    client.make("lists", json!({"name": "a"})).await;
    assert_eq!(send().await, [200, 200]);
    assert_eq!(send().await, [200, 200]);
    assert_eq!(client.total("people").await, 2);
    let tags = client
        .send(Method::GET, "tags", None, &Value::Null)
        .await
        .json();
    let tag = tags["_embedded"]["svc:tags"][0]["_links"]["self"]["href"].clone();
    assert_eq!(
        client
            .total(&format!("{}/taggings", tag.as_str().unwrap()))
            .await,
        2
    );
}
