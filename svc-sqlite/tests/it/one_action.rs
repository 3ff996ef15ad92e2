//! One action of each person: a further signature on a petition or a further RSVP to an open event
//! changes the first one, on the store in memory and on the store in a file.
//!
//! Requirements: HLP-04, HLP-07.

use http::{HeaderMap, Method};
use serde_json::{Value, json};
use svc_core::{
    auth::{Caller, Identity, Principal, Right, Rights},
    helper::{HelperName, RecordAttendance, RecordSignature},
};

use crate::both_stores::{self, Subject};

async fn subjects() -> [Subject; 2] {
    both_stores::subjects(|api| {
        api.one_action_per_person::<RecordSignature>()
            .one_action_per_person::<RecordAttendance>()
            .batches()
    })
    .await
}

impl Subject {
    async fn post(&self, address: &str, body: &Value) -> (u16, Value) {
        self.post_with(address, body, &[]).await
    }

    async fn post_with(
        &self,
        address: &str,
        body: &Value,
        headers: &[(&str, &str)],
    ) -> (u16, Value) {
        let answer = self
            .send(self.full_key(), Method::POST, address, headers, body)
            .await;
        (answer.status, answer.json)
    }

    /// Calls a helper with a key, and returns the action.
    async fn done(&self, helper: &str, body: &Value) -> Value {
        let (status, json) = self.post(helper, body).await;
        assert_eq!(status, 200, "{}: {json}", self.name);
        json
    }

    /// Calls a helper without a key, and returns everything that the caller receives.
    async fn anonymously(&self, helper: &str, body: &Value) -> (u16, HeaderMap, String) {
        let caller = Caller::anonymous();
        let identity = Identity::Authenticated(Principal::new(self.tenant.clone(), caller));
        let reply = self.send(identity, Method::POST, helper, &[], body).await;
        let text = String::from_utf8(reply.body).unwrap();
        (reply.status, reply.headers, text)
    }

    async fn total(&self, collection: &str) -> u64 {
        self.read(collection).await["total_records"]
            .as_u64()
            .unwrap()
    }
}

fn address(record: &Value) -> String {
    record["_links"]["self"]["href"]
        .as_str()
        .unwrap_or_else(|| panic!("no self: {record}"))
        .to_owned()
}

/// Returns a body with a person and the other members.
fn of(name: &str, more: &Value) -> Value {
    let email = format!("{name}@example.org");
    let mut body = json!({"person": {"given_name": name, "email_addresses": [{"address": email}]}});
    let members = body.as_object_mut().unwrap();
    members.extend(more.as_object().unwrap().clone());
    body
}

/// HLP-04: a second signature changes the first. Sent values replace, the others stay, and equal
/// values change nothing.
#[tokio::test]
async fn hlp_04_a_second_signature_changes_the_first() {
    for subject in subjects().await {
        let petition = subject.make("petitions", json!({"title": "One"})).await;
        let helper = format!("{petition}/record_signature_helper");
        let first = json!({"comments": "First", "referrer_data": {"source": "web"}});
        let first = subject.done(&helper, &of("ada", &first)).await;
        let comment = json!({"comments": "Second", "identifiers": ["web:2"]});
        let second = subject.done(&helper, &of("ada", &comment)).await;
        assert_eq!(address(&second), address(&first), "{}", subject.name);
        assert_eq!(second["comments"], "Second");
        assert_eq!(second["referrer_data"], json!({"source": "web"}));
        assert_eq!(second["action_date"], first["action_date"]);
        assert!(second["identifiers"].to_string().contains("web:2"));
        assert_ne!(second["modified_date"], first["modified_date"]);
        // No value is different.
        for same in [json!({}), json!({"comments": "Second"}), comment] {
            let third = subject.done(&helper, &of("ada", &same)).await;
            assert_eq!(third, second, "{}: CRU-19", subject.name);
        }
        let changes = subject.read("changes?per_page=100").await;
        let changes = changes["_embedded"]["ext:changes"].as_array().unwrap();
        let of_signatures = changes.iter().filter(|it| it["kind"] == "signature");
        assert_eq!(of_signatures.count(), 2, "SYN-01: {changes:?}");
        let other = subject.done(&helper, &of("bob", &json!({}))).await;
        assert_ne!(address(&other), address(&first));
        assert_eq!(subject.total(&format!("{petition}/signatures")).await, 2);
        assert_eq!(subject.read(&petition).await["total_signatures"], 2);
        // On another petition, the person has no signature.
        let other = subject.make("petitions", json!({"title": "Other"})).await;
        let helper = format!("{other}/record_signature_helper");
        let signed = subject.done(&helper, &of("ada", &json!({}))).await;
        assert_ne!(address(&signed), address(&first));
    }
}

/// HLP-04, AUT-04: a key that may call the helper and not change signatures changes no signature that an
/// e-mail address finds. It records another one.
#[tokio::test]
async fn aut_04_a_key_without_the_right_to_change_actions_changes_none() {
    for subject in subjects().await {
        let petition = subject.make("petitions", json!({"title": "One"})).await;
        let helper = format!("{petition}/record_signature_helper");
        let first = subject
            .done(&helper, &of("ada", &json!({"comments": "First"})))
            .await;
        let right = Right::Helper(HelperName::RecordSignature);
        let body = of("ada", &json!({"comments": "Other"}));
        let identity = subject.key(Rights::only([right]));
        let reply = subject
            .send(identity, Method::POST, &helper, &[], &body)
            .await;
        assert_eq!(reply.status, 200, "{}", subject.name);
        let stored = subject.read(&address(&first)).await;
        assert_eq!(stored["comments"], "First", "{}", subject.name);
        assert_eq!(subject.total(&format!("{petition}/signatures")).await, 2);
    }
}

/// HLP-04: if several actions exist, the newest one changes. An identifier comes first (UND-24).
#[tokio::test]
async fn hlp_04_the_newest_action_changes_unless_an_identifier_finds_another() {
    for subject in subjects().await {
        let petition = subject.make("petitions", json!({})).await;
        let known = json!({"identifiers": ["crm:1"]});
        let person = subject.make("people", known.clone()).await;
        let links = json!({"svc:person": {"href": person}});
        let mut signatures = Vec::new();
        for identifier in ["web:1", "web:2"] {
            let body = json!({"identifiers": [identifier], "_links": links});
            signatures.push(subject.make(&format!("{petition}/signatures"), body).await);
        }
        let helper = format!("{petition}/record_signature_helper");
        let body = json!({"person": known, "comments": "New"});
        let changed = subject.done(&helper, &body).await;
        assert_eq!(address(&changed), signatures[1], "{}", subject.name);
        let body = json!({"person": known, "comments": "Old", "identifiers": ["web:1"]});
        let changed = subject.done(&helper, &body).await;
        assert_eq!(address(&changed), signatures[0], "UND-24");
        assert_eq!(subject.read(&signatures[1]).await["comments"], "New");
        assert_eq!(subject.total(&format!("{petition}/signatures")).await, 2);
        // Other operations and helpers have no limit.
        let body = json!({"_links": links});
        subject.make(&format!("{petition}/signatures"), body).await;
        let form = subject.make("forms", json!({})).await;
        for _ in 0..2 {
            let helper = format!("{form}/record_submission_helper");
            subject.done(&helper, &of("ada", &json!({}))).await;
        }
        assert_eq!(subject.total(&format!("{form}/submissions")).await, 2);
    }
}

/// HLP-04: a second RSVP to an open event changes the first, and takes a seat only if the first has
/// none.
#[tokio::test]
async fn hlp_04_a_second_rsvp_takes_no_second_seat() {
    for subject in subjects().await {
        let event = subject.make("events", json!({"capacity": 1})).await;
        let helper = format!("{event}/record_attendance_helper");
        let accepted = of("ada", &json!({"status": "accepted"}));
        let first = subject.done(&helper, &accepted).await;
        let comment = of("ada", &json!({"status": "accepted", "comment": "By train"}));
        let second = subject.done(&helper, &comment).await;
        assert_eq!(address(&second), address(&first), "{}", subject.name);
        assert_eq!(subject.read(&event).await["total_accepted"], 1);
        let (status, json) = subject
            .post(&helper, &of("bob", &json!({"status": "accepted"})))
            .await;
        assert_eq!(status, 400, "{json}");
        assert!(json.to_string().contains("CAPACITY_EXCEEDED"), "{json}");
        // A declined RSVP frees the seat. Then another person takes it, and the event is full.
        let declined = of("ada", &json!({"status": "declined"}));
        let changed = subject.done(&helper, &declined).await;
        assert_eq!(changed["status"], "declined");
        assert_eq!(changed["comment"], "By train", "what was not sent stays");
        assert_eq!(subject.read(&event).await["total_accepted"], 0);
        subject
            .done(&helper, &of("bob", &json!({"status": "accepted"})))
            .await;
        let (status, json) = subject.post(&helper, &accepted).await;
        assert_eq!(status, 400, "{json}");
        assert_eq!(subject.read(&address(&first)).await["status"], "declined");
        assert_eq!(subject.total(&format!("{event}/attendances")).await, 2);
    }
}

/// HLP-04: attendances with tickets, or at events with ticket levels, are always new.
#[tokio::test]
async fn hlp_04_ticketed_events_stay_as_they_are() {
    for subject in subjects().await {
        let levels = json!([{"title": "Seat", "amount": 5, "currency": "EUR", "limit": 9}]);
        for event in [
            json!({"type": "ticketed", "ticket_levels": levels}),
            json!({"ticket_levels": levels}),
        ] {
            let event = subject.make("events", event).await;
            let helper = format!("{event}/record_attendance_helper");
            for tickets in [json!([{"title": "Seat"}]), json!([])] {
                for _ in 0..2 {
                    let body = of("ada", &json!({"tickets": tickets}));
                    subject.done(&helper, &body).await;
                }
            }
            assert_eq!(subject.total(&format!("{event}/attendances")).await, 4);
            assert_eq!(subject.read(&event).await["total_tickets"], 2);
        }
        // Tickets that were sold before the levels were removed stay unchanged.
        let event = subject.make("events", json!({"type": "open"})).await;
        let (status, json) = subject
            .post(
                &format!("{event}/record_attendance_helper"),
                &of("ada", &json!({"tickets": [{"title": "Seat"}]})),
            )
            .await;
        assert_eq!(status, 400, "{json}");
        assert!(json.to_string().contains("TICKETS_NOT_ALLOWED"), "{json}");
    }
}

/// HLP-04: answers are compared with the newest ones of the person. "Yes, no, yes" ends with yes.
#[tokio::test]
async fn hlp_04_answers_are_compared_with_the_newest_ones() {
    for subject in subjects().await {
        let petition = subject.make("petitions", json!({})).await;
        let mut questions = Vec::new();
        for title in ["One", "Two"] {
            let question = json!({"title": title, "question_type": "Paragraph"});
            questions.push(subject.make("questions", question).await);
        }
        let helper = format!("{petition}/record_signature_helper");
        let answer = |question: &str, value: &str| json!({"question": question, "value": value});
        let send = async |answers: Vec<Value>| {
            let body = of("ada", &json!({"add_questions_responses_uri": answers}));
            let signature = subject.done(&helper, &body).await;
            let person = signature["_links"]["svc:person"]["href"].as_str().unwrap();
            let answers = subject.read(&format!("{person}/answers")).await;
            let all = answers["_embedded"]["svc:answers"].as_array().unwrap();
            let values = all.iter().map(|it| it["value"].as_str().unwrap());
            values.collect::<Vec<_>>().join(" ")
        };
        let one = |value: &str| answer(&questions[0], value);
        assert_eq!(send(vec![one("yes")]).await, "yes", "{}", subject.name);
        assert_eq!(send(vec![one("yes")]).await, "yes");
        assert_eq!(send(vec![one("no")]).await, "yes no");
        assert_eq!(send(vec![one("yes")]).await, "yes no yes");
        // Two answers are compared with two.
        assert_eq!(send(vec![one("no"), one("yes")]).await, "yes no yes");
        // Each question has its own answers.
        let both = vec![one("yes"), answer(&questions[1], "no")];
        assert_eq!(send(both.clone()).await, "yes no yes no");
        assert_eq!(send(both).await, "yes no yes no");
        assert_eq!(subject.total(&format!("{petition}/signatures")).await, 1);
    }
}

/// HLP-07: a call without a key changes no action, and its response is that for a person without an
/// action. It records another action only if the content differs.
#[tokio::test]
async fn hlp_07_an_anonymous_caller_changes_no_action_and_sees_no_difference() {
    for subject in subjects().await {
        let question = json!({"title": "Why", "question_type": "Paragraph"});
        let question = subject.make("questions", question).await;
        let petition = subject.make("petitions", json!({})).await;
        let helper = format!("{petition}/record_signature_helper");
        let known = subject
            .done(&helper, &of("ada", &json!({"comments": "Mine"})))
            .await;
        let before = subject.read(&address(&known)).await;
        let total = async || subject.total(&format!("{petition}/signatures")).await;
        let circumstances = json!({
            "comments": "Mine", "origin_system": "Other", "referrer_data": {"source": "mail"},
            "action_date": "2020-01-01T00:00:00Z", "identifiers": ["web:9"],
        });
        let answers = json!({
            "comments": "Mine", "add_questions_responses_uri": [{"question": question, "value": "Because"}],
        });
        let failing = json!({"comments": "Mine", "add_tags": ["no such tag"]});
        let wrong = json!({"comments": 7});
        for (place, (more, recorded)) in [
            (json!({"comments": "Mine"}), 0),
            (circumstances, 0),
            (answers, 0),
            (failing, 0),
            (wrong, 0),
            (json!({"comments": "Other"}), 1),
            (json!({"comments": "Other"}), 0),
            (json!({}), 1),
        ]
        .into_iter()
        .enumerate()
        {
            let newcomer = format!("new{place}");
            let unknown = subject.anonymously(&helper, &of(&newcomer, &more)).await;
            let had = total().await;
            let answer = subject.anonymously(&helper, &of("ada", &more)).await;
            assert_eq!(answer, unknown, "{}: {more}", subject.name);
            assert_eq!(total().await, had + recorded, "{}: {more}", subject.name);
        }
        assert_eq!(subject.read(&address(&known)).await, before);
        // The total of the petition counts the recorded signatures.
        let totals = subject.read(&petition).await;
        assert_eq!(totals["total_signatures"], total().await);
    }
}

/// HLP-07: an anonymous RSVP of a person who has a seat gets the response of one who has none, also
/// at a full event.
#[tokio::test]
async fn hlp_07_a_full_event_rejects_everyone_alike() {
    for subject in subjects().await {
        let event = subject.make("events", json!({"capacity": 1})).await;
        let helper = format!("{event}/record_attendance_helper");
        let body = |name| of(name, &json!({"status": "accepted"}));
        assert_eq!(subject.anonymously(&helper, &body("ada")).await.0, 200);
        let known = subject.anonymously(&helper, &body("ada")).await;
        let unknown = subject.anonymously(&helper, &body("bob")).await;
        assert_eq!(known, unknown, "{}", subject.name);
        assert_eq!(known.0, 400, "{}", known.2);
        assert_eq!(subject.read(&event).await["total_accepted"], 1);
        assert_eq!(subject.total(&format!("{event}/attendances")).await, 1);
        // With a key, the seat is known.
        subject.done(&helper, &body("ada")).await;
        // An event with seats takes none for an equal RSVP.
        let event = subject.make("events", json!({"capacity": 2})).await;
        let helper = format!("{event}/record_attendance_helper");
        for _ in 0..3 {
            assert_eq!(subject.anonymously(&helper, &body("ada")).await.0, 200);
        }
        assert_eq!(subject.read(&event).await["total_accepted"], 1);
    }
}

/// BAT, HLP-04: the second entry of a person in a batch changes the action of the first.
#[tokio::test]
async fn hlp_04_a_batch_has_one_action_of_a_person() {
    for subject in subjects().await {
        let petition = subject.make("petitions", json!({})).await;
        let entries = json!([
            of("ada", &json!({"comments": "One"})),
            of("bob", &json!({})),
            of("ada", &json!({"comments": "Two"})),
            of("ada", &json!({"comments": "Two"})),
        ]);
        let (status, json) = subject
            .post(
                &format!("{petition}/record_signature_helper/batch"),
                &entries,
            )
            .await;
        assert_eq!(status, 200, "{json}");
        let results = json["results"].as_array().unwrap();
        assert_eq!(results.len(), 4, "{json}");
        assert!(results.iter().all(|it| it["status"] == 200), "{json}");
        let signatures = subject.read(&format!("{petition}/signatures")).await;
        assert_eq!(signatures["total_records"], 2, "{}", subject.name);
        let first = &signatures["_embedded"]["svc:signatures"][0];
        assert_eq!(first["comments"], "Two");
        assert_eq!(subject.read(&petition).await["total_signatures"], 2);
    }
}

/// IDM-01, IDM-02: a repeated request with its key changes nothing again. Failed parts are executed
/// for the same action.
#[tokio::test]
async fn idm_02_a_repeated_request_has_its_first_response() {
    for subject in subjects().await {
        let petition = subject.make("petitions", json!({})).await;
        let helper = format!("{petition}/record_signature_helper");
        let sent = |comment: &str| of("ada", &json!({"comments": comment}));
        let key = [("idempotency-key", "one")];
        let first = subject.post_with(&helper, &sent("One"), &key).await;
        subject.done(&helper, &sent("Two")).await;
        let again = subject.post_with(&helper, &sent("One"), &key).await;
        assert_eq!(again, first, "{}", subject.name);
        let signature = address(&first.1);
        assert_eq!(subject.read(&signature).await["comments"], "Two");
        let tag = format!("late {}", subject.name);
        let body = of("ada", &json!({"comments": "Two", "add_tags": [tag]}));
        let key = [("idempotency-key", "two")];
        assert_eq!(subject.post_with(&helper, &body, &key).await.0, 400);
        subject.make("tags", json!({"name": tag})).await;
        let (status, json) = subject.post_with(&helper, &body, &key).await;
        assert_eq!((status, address(&json)), (200, signature), "{json}");
        assert_eq!(subject.total(&format!("{petition}/signatures")).await, 1);
    }
}
