//! Requests from reviews of this library that no other test sends.

use crate::server::Server;
use serde_json::{Value, json};
use svc_core::{
    helper::{MatchKey, PersonMatching},
    read::{ContentLimits, Object},
    value::Identifier,
};

/// UND-17: a request has a limited number of tickets, with a key and without. One with more stores
/// nothing.
#[tokio::test]
async fn a_call_has_so_many_tickets() {
    let server = Server::start().await;
    let event = server
        .make(
            "events",
            json!({"type": "ticketed", "ticket_levels": [{"title": "T"}]}),
        )
        .await;
    let helper = format!("{event}/record_attendance_helper");
    let tickets = |many: usize| json!({ "tickets": vec![json!({"title": "T"}); many] });
    let callers = [
        (server.caller(), ContentLimits::default()),
        (server.stranger(), ContentLimits::ANONYMOUS),
    ];
    for (taken, (caller, caps)) in (0..).zip(callers) {
        let most = caps.max_entries("tickets");
        let refused = server
            .call_as(&caller, "POST", &helper, tickets(most + 1))
            .await;
        assert_eq!(refused.status, 400, "UND-17");
        assert_eq!(
            refused.descriptions()[0]["properties"],
            json!(["tickets"]),
            "UND-17"
        );
        assert_eq!(
            server.total(&format!("{event}/attendances")).await,
            taken,
            "UND-17"
        );
        assert_eq!(
            server
                .call_as(&caller, "POST", &helper, tickets(most))
                .await
                .status,
            200,
            "UND-17"
        );
    }
}

/// HAF-09, HAF-10: an answer in a canvass needs a value, as everywhere else.
#[tokio::test]
async fn an_answer_in_a_canvass_has_an_answer() {
    let server = Server::start().await;
    let person = server.make("people", json!({"given_name": "Ada"})).await;
    let keys = json!([{"key": "a"}, {"key": "b"}]);
    let choice = server
        .make(
            "questions",
            json!({"question_type": "SingleChoice", "responses": keys}),
        )
        .await;
    let text = server
        .make("questions", json!({"question_type": "Paragraph"}))
        .await;
    let helper = format!("{person}/record_canvass_helper");
    let said = |question: &str, answer: &Value| {
        let mut response = json!({"question": {"href": question}});
        response
            .as_object_mut()
            .unwrap()
            .extend(answer.as_object().unwrap().clone());
        json!({"canvass": {"success": true, "question_response": response}})
    };
    for (question, answer, missing) in [
        (&choice, json!({"responses": []}), "responses"),
        (&choice, json!({}), "responses"),
        (&text, json!({"value": " "}), "value"),
        (&text, json!({}), "value"),
    ] {
        let reply = server.post(&helper, said(question, &answer)).await;
        let told = reply.descriptions();
        assert!(
            told.iter().any(|one| one["error_code"] == "FIELD_REQUIRED"),
            "HAF-10: {answer}: {}",
            reply.json
        );
        let at = told[0]["properties"][0]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        assert!(
            at.starts_with("canvass.question_response") && at.ends_with(missing),
            "HAF-10: {at}"
        );
        assert_eq!(
            server.total(&format!("{question}/answers")).await,
            0,
            "HAF-10: {answer}"
        );
    }
    assert_eq!(
        server
            .post(&helper, said(&choice, &json!({"responses": ["a"]})))
            .await
            .status,
        200,
        "HAF-09"
    );
}

/// RES-question-07, RES-question-08: a question of choices has responses, and each can be chosen by
/// its key.
#[tokio::test]
async fn a_question_of_choices_can_be_answered() {
    let server = Server::start().await;
    for kind in ["SingleChoice", "MultiChoice"] {
        let asked = |responses: Value| json!({"question_type": kind, "responses": responses});
        for (responses, at) in [
            (json!([]), "responses"),
            (json!([{"title": "A"}, {"key": "b"}]), "responses[0].key"),
        ] {
            let refused = server.post("questions", asked(responses)).await;
            assert_eq!(
                refused.codes(),
                ["FIELD_REQUIRED"],
                "RES-question-07: {}",
                refused.json
            );
            assert_eq!(
                refused.descriptions()[0]["properties"],
                json!([at]),
                "RES-question-08"
            );
        }
        let without = server
            .post("questions", json!({"question_type": kind}))
            .await;
        assert_eq!(without.codes(), ["FIELD_REQUIRED"], "RES-question-07");
    }
}

/// A method that uses one system of identifiers only, as in the guide on person matching.
#[derive(Debug)]
struct ByMemberNumber;

impl PersonMatching for ByMemberNumber {
    fn keys(&self, identifiers: &[Identifier], _: &Object) -> Vec<MatchKey> {
        let ours = identifiers
            .iter()
            .filter(|identifier| identifier.system() == "members");
        ours.cloned().map(MatchKey::Identifier).collect()
    }

    fn description(&self) -> &'static str {
        "By member number only. A match merges."
    }
}

/// HLP-07: also with a custom method, an anonymous caller does not learn whether a person has an
/// identifier.
#[tokio::test]
async fn no_identifier_of_a_stranger_tells_who_is_known() {
    let server = Server::with(|options| options.person_matching(ByMemberNumber), |api| api).await;
    let petition = server.make("petitions", json!({})).await;
    let known = server
        .make(
            "people",
            json!({"identifiers": ["crm:1", "members:1"], "given_name": "Ada"}),
        )
        .await;
    let before = server.get(&known).await.json;
    let helper = format!("{petition}/record_signature_helper");
    for identifier in ["crm:1", "crm:2", "members:1", "members:2"] {
        let body = json!({"person": {"identifiers": [identifier], "given_name": "E"}});
        let answer = server
            .call_as(&server.stranger(), "POST", &helper, body)
            .await;
        assert_eq!(
            (answer.status, answer.json),
            (200, json!({})),
            "HLP-07: {identifier}"
        );
        assert_eq!(
            server.get(&known).await.json,
            before,
            "HLP-04: {identifier}"
        );
    }
}
