//! The helpers of the store: one request, one transaction, one outcome for each resource (HLP, HAF,
//! ERR-29 to ERR-34).

use crate::server::Server;
use serde_json::{Value, json};
use svc_core::{api::ApiLimits, read::ContentLimits};

fn ada() -> Value {
    json!({"given_name": "Ada", "email_addresses": [{"address": "ada@example.org"}]})
}

/// HLP-11 to HLP-15: each record helper creates the action and its person, and changes the totals.
#[tokio::test]
async fn every_record_helper() {
    let server = Server::start().await;
    for (container, helper, members, total) in [
        (
            "petitions",
            "record_signature_helper",
            "signatures",
            "total_signatures",
        ),
        (
            "forms",
            "record_submission_helper",
            "submissions",
            "total_submissions",
        ),
        (
            "fundraising_pages",
            "record_donation_helper",
            "donations",
            "total_donations",
        ),
        (
            "events",
            "record_attendance_helper",
            "attendances",
            "total_accepted",
        ),
        (
            "advocacy_campaigns",
            "record_outreach_helper",
            "outreaches",
            "total_outreaches",
        ),
    ] {
        let owner = server.make(container, json!({})).await;
        let helper = server.get(&owner).await.link(&format!("svc:{helper}"));
        let done = server
            .post(&helper, json!({"identifiers": ["x:1"], "person": ada()}))
            .await;
        assert_eq!(done.status, 200, "HLP-06: {helper} {}", done.json);
        assert_eq!(
            server.get(&done.self_link()).await.json,
            done.json,
            "CRU-22: {helper}"
        );
        assert_eq!(server.get(&owner).await.json[total], 1, "{total}");
        assert_eq!(
            server.total(&format!("{owner}/{members}")).await,
            1,
            "{members}"
        );
        assert_eq!(
            server
                .total(&format!("{}/{members}", done.link("svc:person")))
                .await,
            1,
            "{members}"
        );
        let without = server.post(&helper, json!({})).await;
        assert!(without.json["_links"].get("svc:person").is_none(), "UND-29");
        let needs = server.post(&helper, json!({"add_tags": ["x"]})).await;
        assert!(
            needs.codes().contains(&"PERSON_REQUIRED".to_owned()),
            "UND-29: {}",
            needs.json
        );

        // UND-24: a repeated request refers to the same action. The identifier of another
        // container's action is rejected.
        let again = json!({"identifiers": ["x:1", "x:2"], "origin_system": "o", "person": ada()});
        let again = server.post(&helper, again).await;
        assert_eq!(again.self_link(), done.self_link(), "UND-24");
        assert_eq!(again.json["origin_system"], "o", "UND-24");
        assert_eq!(
            again.json["action_date"], done.json["action_date"],
            "UND-24"
        );
        assert_eq!(
            again.json["identifiers"].as_array().unwrap().len(),
            3,
            "UND-24"
        );
        let other = server.make(container, json!({})).await;
        let elsewhere = helper.replace(&owner, &other);
        let refused = server
            .post(&elsewhere, json!({"identifiers": ["x:1"], "person": ada()}))
            .await;
        assert_eq!(
            (refused.status, refused.codes()),
            (400, vec!["IDENTIFIER_IN_USE".to_owned()]),
            "UND-24"
        );
        assert_eq!(
            refused.json["svc:error"]["request_type"], "atomic",
            "HLP-10"
        );
        assert_eq!(server.get(&other).await.json[total], 0, "UND-24");
        // Without a key, the stored action is unchanged.
        let before = server.get(&done.self_link()).await.json;
        let stranger = json!({"identifiers": ["x:1"], "origin_system": "stranger"});
        let answer = server
            .call_as(&server.stranger(), "POST", &helper, stranger)
            .await;
        assert_eq!((answer.status, answer.json), (200, json!({})), "HLP-07");
        assert_eq!(server.get(&done.self_link()).await.json, before, "UND-24");
    }
    assert_eq!(server.total("people").await, 1, "HLP-04");
    let missing = "petitions/01980000-0000-7000-8000-000000000000/record_signature_helper";
    assert_eq!(
        server
            .post(missing, json!({"person": {"given_name": "B"}}))
            .await
            .status,
        404,
        "HLP-23"
    );
    assert_eq!(server.total("people").await, 1, "HLP-23");
}

/// UND-39, HLP-23: a missing container is 404, even if the request has other problems.
///
/// Requirements: ERR-38.
#[tokio::test]
async fn a_missing_container_comes_before_the_rules_on_the_call() {
    for atomic in [false, true] {
        let server = Server::with(
            |options| options,
            |api| {
                api.atomicity(if atomic {
                    svc_core::api::Atomicity::WholeCall
                } else {
                    svc_core::api::Atomicity::PerResource
                })
                .action_functions([])
            },
        )
        .await;
        for (container, helper) in [
            ("petitions", "record_signature_helper"),
            ("forms", "record_submission_helper"),
            ("fundraising_pages", "record_donation_helper"),
            ("events", "record_attendance_helper"),
            ("advocacy_campaigns", "record_outreach_helper"),
            ("people", "record_canvass_helper"),
            ("messages", "schedule"),
        ] {
            let helper = format!("{container}/01980000-0000-7000-8000-000000000000/{helper}");
            for body in [
                json!({}),
                json!({"person": ada(), "scheduled_start_date": "2030-01-01T00:00:00Z"}),
                json!({"person": {"given_name": 7}}),
                json!({"person": ada(), "add_tags": ["x"]}),
                json!({"canvass": {}, "add_tags": ["x"]}),
            ] {
                let answer = server.post(&helper, body.clone()).await;
                assert_eq!(
                    answer.status, 404,
                    "UND-39: atomic {atomic} {helper} {body}: {}",
                    answer.json
                );
            }
        }
    }
}

/// HLP-19 to HLP-21, HLP-04: sign-up matches by identifier, then by address, and merges.
#[tokio::test]
async fn sign_up_and_match() {
    let server = Server::start().await;
    let first = server
        .post("people/person_signup", json!({"person": ada()}))
        .await;
    assert_eq!(first.status, 200, "HLP-19: {}", first.json);
    let id = first.json["id"].as_str().unwrap().to_owned();
    assert!(first.self_link().ends_with(&id), "HLP-20");
    let more = json!({"person": {"identifiers": ["crm:1"], "family_name": "L",
        "email_addresses": [{"address": "second@example.org"}, {"address": "ADA@example.org", "status": "subscribed"}],
        "custom_fields": {}, "phone_numbers": []}});
    let merged = server.post("people/person_signup", more).await.json;
    assert_eq!(merged["id"], id.as_str(), "HLP-04");
    assert_eq!(merged["given_name"], "Ada", "HLP-04");
    assert_eq!(
        merged["email_addresses"].as_array().unwrap().len(),
        2,
        "HLP-04"
    );
    assert_eq!(
        merged["email_addresses"][0]["status"], "subscribed",
        "HLP-04"
    );
    // By identifier first, although another person has the address.
    let bob = server
        .make(
            "people",
            json!({"email_addresses": [{"address": "bob@example.org"}]}),
        )
        .await;
    let by_identifier = json!({"person": {"identifiers": ["crm:1"], "email_addresses": [{"address": "bob@example.org"}]}});
    assert_eq!(
        server
            .post("people/person_signup", by_identifier)
            .await
            .json["id"],
        id.as_str(),
        "HLP-04"
    );
    // The oldest of several.
    let oldest = server.post(
        "people/person_signup",
        json!({"person": {"email_addresses": [{"address": "BOB@example.org"}]}}),
    );
    assert_eq!(oldest.await.json["id"], id.as_str(), "HLP-04");
    server
        .put(&first.self_link(), json!({"email_addresses": []}))
        .await;
    let left = server.post(
        "people/person_signup",
        json!({"person": {"email_addresses": [{"address": "bob@example.org"}]}}),
    );
    assert_eq!(left.await.self_link(), bob, "clients.md 19");
    // The oldest of the people that several addresses match, whichever address is primary.
    server
        .make(
            "people",
            json!({"email_addresses": [{"address": "late@example.org"}]}),
        )
        .await;
    let both = json!({"person": {"email_addresses": [
        {"address": "late@example.org", "primary": true}, {"address": "bob@example.org"}]}});
    assert_eq!(
        server.post("people/person_signup", both).await.self_link(),
        bob,
        "HLP-04"
    );
    // By an identifier of this server. One that belongs to no person is rejected.
    let own = json!({"person": {"identifiers": [format!("here:{id}")], "source": "s"}});
    assert_eq!(
        server.post("people/person_signup", own).await.json["source"],
        "s",
        "UND-24"
    );
    let nobody = json!({"person": {"identifiers": ["here:01980000-0000-7000-8000-000000000000"]}});
    assert_eq!(
        server.post("people/person_signup", nobody).await.codes(),
        ["IDENTIFIER_IN_USE"],
        "UND-24"
    );
    // An identifier of another person is not moved.
    server.put(&bob, json!({"identifiers": ["crm:2"]})).await;
    let stolen = json!({"person": {"identifiers": ["crm:1", "crm:2"]}});
    assert_eq!(
        server.post("people/person_signup", stolen).await.codes(),
        ["IDENTIFIER_IN_USE"],
        "UND-24"
    );
    assert_eq!(server.total("people").await, 3);
}

/// HLP-04, HLP-07, "It must show" 13: an anonymous caller changes nothing of an existing person,
/// and learns nothing.
#[tokio::test]
async fn strangers() {
    let server = Server::start().await;
    let known = json!({"given_name": "Ada",
        "email_addresses": [{"address": "ada@example.org", "primary": true, "status": "unsubscribed"}]});
    let known = server.make("people", known).await;
    let petition = server.make("petitions", json!({})).await;
    let helper = server
        .get(&petition)
        .await
        .link("svc:record_signature_helper");
    server.make("tags", json!({"name": "t"})).await;
    let sign = |address: &str| {
        json!({"add_tags": ["t"], "person": {"given_name": "Eve", "family_name": "E",
            "email_addresses": [{"address": address, "primary": true, "status": "subscribed"}]}})
    };
    let cx = server.stranger();
    let of_known = server
        .call_as(&cx, "POST", &helper, sign("ada@example.org"))
        .await;
    let of_unknown = server
        .call_as(&cx, "POST", &helper, sign("new@example.org"))
        .await;
    assert_eq!(
        (of_known.status, &of_known.json),
        (of_unknown.status, &of_unknown.json),
        "HLP-07"
    );
    assert_eq!((of_known.status, of_known.json), (200, json!({})), "HLP-07");
    let person = server.get(&known).await.json;
    assert_eq!(
        (&person["given_name"], person.get("family_name")),
        (&json!("Ada"), None),
        "HLP-04"
    );
    assert_eq!(
        person["email_addresses"][0]["status"], "unsubscribed",
        "HLP-04"
    );
    assert_eq!(
        server.get(&petition).await.json["total_signatures"],
        2,
        "HLP-07"
    );
    assert_eq!(
        server.total(&format!("{known}/taggings")).await,
        1,
        "HAF-02"
    );
    let before = person["modified_date"].clone();
    server
        .call_as(&cx, "POST", &helper, sign("ada@example.org"))
        .await;
    assert_eq!(
        server.get(&known).await.json["modified_date"],
        before,
        "no record was created"
    );
    // A gender identity would set the gender by a rule. With an anonymous request it does not if a
    // gender is stored.
    server.put(&known, json!({"gender": "Female"})).await;
    let identity = json!({"person": {"gender_identity": "Male", "email_addresses": [{"address": "ada@example.org"}]}});
    server.call_as(&cx, "POST", &helper, identity).await;
    let person = server.get(&known).await.json;
    assert_eq!(
        (&person["gender"], person.get("gender_identity")),
        (&json!("Female"), None),
        "HLP-04"
    );
    // A partly failed request has the same response for existing and new people.
    let fail = |address: &str| {
        let mut body = sign(address);
        body["add_tags"] = json!(["nope"]);
        body
    };
    let of_known = server
        .call_as(&cx, "POST", &helper, fail("ada@example.org"))
        .await;
    let of_unknown = server
        .call_as(&cx, "POST", &helper, fail("newer@example.org"))
        .await;
    assert_eq!(of_known.json, of_unknown.json, "HLP-07");
    // An identifier of another person in an anonymous request cannot be recognised in the response
    // either.
    server.put(&known, json!({"identifiers": ["crm:1"]})).await;
    let tie = json!({"person": {"identifiers": ["crm:9", "crm:1"], "email_addresses": [{"address": "new@example.org"}]}});
    assert_eq!(
        server.call_as(&cx, "POST", &helper, tie).await.json,
        json!({}),
        "HLP-07"
    );
}

/// HAF-02 to HAF-10, ERR-29 to ERR-33: each failing part fails alone, at its position in the
/// report.
#[tokio::test]
async fn functions() {
    let server = Server::start().await;
    let tag = server.make("tags", json!({"name": "Volunteer"})).await;
    let list = server.make("lists", json!({"name": "News"})).await;
    let question = server
        .make(
            "questions",
            json!({"question_type": "SingleChoice", "identifiers": ["q:1"],
            "responses": [{"key": "hc"}, {"key": "tax"}]}),
        )
        .await;
    let all = json!({"person": ada(), "add_tags": ["Volunteer"], "add_tags_uri": [tag], "add_lists": ["News"],
        "add_lists_uri": [list], "add_questions_responses_uri": [
            {"question": question, "responses": ["hc"]}, {"question": "q:1", "responses": ["tax"], "value": "other"}],
        "triggers": {"autoresponse": {"enabled": true, "identifiers": ["mailer:12"]}}});
    let done = server.post("people/person_signup", all).await;
    assert_eq!(done.status, 200, "{}", done.json);
    for (link, count) in [("svc:taggings", 1), ("svc:items", 1), ("svc:answers", 2)] {
        assert_eq!(
            server.total(&done.link(link)).await,
            count,
            "HAF-02, HAF-05, HAF-07: {link}"
        );
    }
    assert_eq!(
        server.total(&format!("{question}/answers")).await,
        2,
        "HAF-07"
    );
    assert_eq!(server.get(&list).await.json["total_items"], 1, "UND-03");
    let tagging = server.walk(&format!("{tag}/taggings")).await[0].clone();
    assert_eq!(tagging["item_type"], "svc:person", "UND-05");

    let nope = "http://localhost/tags/01980000-0000-7000-8000-000000000000";
    let failing = json!({"person": {"given_name": "Bo"}, "add_tags": ["Volunteer", "None"], "add_tags_uri": [nope],
        "add_lists": ["None"], "add_lists_uri": [tag], "add_questions_responses_uri": [
            {"question": "q:9"}, {"question": question, "responses": ["hc", "no", "tax"]},
            {"question": question, "responses": ["tax"]}]});
    let report = server.post("people/person_signup", failing).await;
    assert_eq!(report.status, 400, "ERR-30");
    assert_eq!(
        report.json["svc:error"]["request_type"], "non-atomic",
        "ERR-30"
    );
    let entries = report.entries();
    let expected = [
        ("svc:person", 201),
        ("svc:tagging", 201),
        ("svc:tagging", 400),
        ("svc:tagging", 400),
        ("svc:item", 400),
        ("svc:item", 400),
        ("svc:answer", 400),
        ("svc:answer", 400),
        ("svc:answer", 201),
    ];
    assert_eq!(
        entries,
        expected.map(|(resource, status)| (resource.to_owned(), status)),
        "ERR-31"
    );
    assert_eq!(
        report.codes(),
        [
            "TAG_NAME_DOES_NOT_EXIST",
            "TAG_URI_DOES_NOT_EXIST",
            "LIST_NAME_DOES_NOT_EXIST",
            "LIST_URI_DOES_NOT_EXIST",
            "QUESTION_DOES_NOT_EXIST",
            "RESPONSE_KEY_DOES_NOT_EXIST",
            "TOO_MANY_RESPONSES"
        ],
        "HAF-03 to HAF-09"
    );
    assert_eq!(
        report.descriptions()[0]["properties"],
        json!(["add_tags"]),
        "ERR-37"
    );
    let person = report.json["svc:person"]["_links"]["self"]["href"]
        .as_str()
        .unwrap();
    assert_eq!(
        server.total(&format!("{person}/taggings")).await,
        1,
        "ERR-29"
    );
}

/// ERR-34: with atomic helpers, one failing part undoes the whole request.
#[tokio::test]
async fn atomic_helpers() {
    let server = Server::with(
        |options| options,
        |api| api.atomicity(svc_core::api::Atomicity::WholeCall),
    )
    .await;
    let petition = server.make("petitions", json!({})).await;
    let helper = server
        .get(&petition)
        .await
        .link("svc:record_signature_helper");
    let refused = server
        .post(
            &helper,
            json!({"person": ada(), "add_tags": ["None", "Nil"], "add_lists": ["No"]}),
        )
        .await;
    assert_eq!(
        refused.json["svc:error"]["request_type"], "atomic",
        "ERR-34"
    );
    assert_eq!(refused.codes().len(), 3, "ERR-39");
    assert_eq!(server.total("people").await, 0, "ERR-34");
    assert_eq!(
        server.get(&petition).await.json["total_signatures"],
        0,
        "ERR-34"
    );
}

/// UND-01, COL-10, RES-canvass-08 to RES-canvass-12: which answers a submission and a canvass have
/// recorded.
#[tokio::test]
async fn submissions_and_canvasses_remember() {
    let server = Server::start().await;
    server.make("tags", json!({"name": "t"})).await;
    let question = server
        .make("questions", json!({"question_type": "Paragraph"}))
        .await;
    let answer = json!([{"question": question, "value": "v"}]);
    let form = server.make("forms", json!({})).await;
    let helper = server.get(&form).await.link("svc:record_submission_helper");
    let submitted = server
        .post(
            &helper,
            json!({"person": ada(), "add_questions_responses_uri": answer}),
        )
        .await;
    let answers = submitted.link("svc:answers");
    assert_eq!(server.total(&answers).await, 1, "COL-10");
    let person = submitted.link("svc:person");
    let canvasser = server.make("people", json!({"given_name": "Ada"})).await;
    let helper = server.get(&person).await.link("svc:record_canvass_helper");
    let canvass = json!({"canvass": {"contact_type": "in-person", "success": true, "canvasser": canvasser,
        "question_response": {"question": {"href": question}, "value": "w"}},
        "add_tags": ["t"], "person": {"given_name": "ignored"}});
    let canvass = server.post(&helper, canvass).await;
    assert_eq!(canvass.status, 200, "HLP-16: {}", canvass.json);
    assert_eq!(
        (canvass.link("svc:target"), canvass.link("svc:canvasser")),
        (person.clone(), canvasser),
        "HLP-17"
    );
    assert_eq!(server.total("people").await, 2, "HLP-18");
    assert_eq!(
        server.total(&canvass.link("svc:answers")).await,
        1,
        "RES-canvass-12"
    );
    assert_eq!(
        server.total(&canvass.link("svc:taggings")).await,
        1,
        "RES-canvass-12"
    );
    assert_eq!(
        server.total(&format!("{person}/answers")).await,
        2,
        "COL-16"
    );
    assert_eq!(
        server.total(&format!("{person}/canvasses")).await,
        1,
        "UND-38"
    );
    // UND-01: deleting them does not delete the answers.
    assert_eq!(server.delete(&submitted.self_link()).await.status, 204);
    assert_eq!(server.get(&answers).await.status, 404, "UND-37");
    assert_eq!(server.delete(&canvass.self_link()).await.status, 204);
    assert_eq!(
        server.total(&format!("{question}/answers")).await,
        2,
        "UND-01"
    );
    let unknown = json!({"canvass": {"canvasser": "http://localhost/people/01980000-0000-7000-8000-000000000000"}});
    assert_eq!(
        server.post(&helper, unknown).await.codes(),
        ["PERSON_NOT_FOUND"],
        "RES-canvass-07"
    );
}

/// UND-24: a repeated request creates no duplicates.
#[tokio::test]
async fn a_retry_is_safe() {
    let server = Server::start().await;
    server.make("tags", json!({"name": "t"})).await;
    let question = server
        .make("questions", json!({"question_type": "Paragraph"}))
        .await;
    let petition = server.make("petitions", json!({})).await;
    let helper = server
        .get(&petition)
        .await
        .link("svc:record_signature_helper");
    let call = json!({"identifiers": ["x:1"], "person": ada(), "add_tags": ["t"],
        "add_questions_responses_uri": [{"question": question, "value": "v"}]});
    let first = server.post(&helper, call.clone()).await;
    let second = server.post(&helper, call).await;
    assert_eq!(first.self_link(), second.self_link(), "UND-24");
    let person = first.link("svc:person");
    for members in ["signatures", "taggings", "answers"] {
        assert_eq!(
            server.total(&format!("{person}/{members}")).await,
            1,
            "UND-24: {members}"
        );
    }
}

/// RES-donation-22: a donation links an attendance or a submission, and the link is removed with
/// its target.
#[tokio::test]
async fn donation_links() {
    let server = Server::start().await;
    let event = server.make("events", json!({})).await;
    let form = server.make("forms", json!({})).await;
    let page = server.make("fundraising_pages", json!({})).await;
    let attendance = server
        .post(&format!("{event}/record_attendance_helper"), json!({}))
        .await
        .self_link();
    let submission = server
        .post(&format!("{form}/record_submission_helper"), json!({}))
        .await
        .self_link();
    let donation = json!({"amount": 5, "_links": {"svc:attendance": {"href": attendance}},
        "svc:submission": {"href": submission}});
    let donation = server
        .post(&format!("{page}/record_donation_helper"), donation)
        .await;
    assert_eq!(donation.status, 200, "{}", donation.json);
    assert_eq!(
        donation.link("svc:attendance"),
        attendance,
        "RES-donation-22"
    );
    assert_eq!(
        donation.link("svc:submission"),
        submission,
        "RES-donation-22"
    );
    let read = server.get(&donation.self_link()).await;
    assert_eq!(read.link("svc:attendance"), attendance, "RES-donation-22");
    let wrong = attendance.replace(
        event.rsplit('/').next().unwrap(),
        "01980000-0000-7000-8000-000000000000",
    );
    let wrong = json!({"_links": {"svc:attendance": {"href": wrong}}});
    let wrong = server
        .post(&format!("{page}/record_donation_helper"), wrong)
        .await;
    assert_eq!(wrong.codes(), ["LINK_NOT_FOUND"], "RES-donation-22");
    assert_eq!(server.delete(&attendance).await.status, 204);
    assert!(
        server.get(&donation.self_link()).await.json["_links"]
            .get("svc:attendance")
            .is_none(),
        "RES-donation-22"
    );
}

/// UND-17: the work for a body within the limits is linear in its length. With quadratic work this
/// test would not end.
#[tokio::test]
async fn long_lists_are_no_more_work_than_their_length() {
    const MANY: usize = 4_000;
    // A server with very large limits for a record.
    let caps = ContentLimits::default()
        .entries(MANY)
        .identifiers(MANY)
        .record(usize::MAX)
        .functions(4 * MANY);
    let server = Server::with(
        |options| options,
        |api| api.limits(ApiLimits::default().content(caps)),
    )
    .await;
    let list = |element: &dyn Fn(usize) -> Value| (0..MANY).map(element).collect::<Vec<_>>();
    let (one, other) = (
        server.make("petitions", json!({})).await,
        server.make("petitions", json!({})).await,
    );
    let options = list(&|place| json!({"key": place.to_string()}));
    let question =
        json!({"question_type": "MultiChoice", "responses": options, "identifiers": ["q:1"]});
    let question = server.make("questions", question).await;
    let mut body = json!({
        "identifiers": list(&|place| json!(format!("a:{place}"))),
        "person": {
            "identifiers": list(&|place| json!(format!("p:{place}"))),
            "email_addresses": list(&|place| json!({"address": format!("{place}@example.org")})),
            "phone_numbers": list(&|place| json!({"number": format!("1555{place:06}")})),
        },
        "add_questions_responses_uri": list(&|_| json!({"question": "q:1", "responses": ["7"]})),
    });
    for (answers, round) in [(MANY as u64, "first"), (MANY as u64, "again")] {
        let signed = server
            .post(&format!("{one}/record_signature_helper"), body.clone())
            .await;
        assert_eq!(signed.status, 200, "HLP-11 {round}: {}", signed.json);
        assert_eq!(
            server.total(&format!("{question}/answers")).await,
            answers,
            "UND-24 {round}"
        );
    }
    body["person"] = Value::Null;
    let refused = server
        .post(&format!("{other}/record_signature_helper"), body)
        .await;
    assert_eq!(refused.status, 400, "UND-24");
    assert_eq!(
        refused.descriptions()[0]["properties"],
        json!(["identifiers[0]"]),
        "UND-24"
    );
}

/// UND-17: fifty requests at every limit, with a key and without, do not grow a person beyond the
/// limits of a record. The stored record and a page of it stay within bounds, and a small request
/// is still accepted.
#[tokio::test]
async fn fifty_calls_at_every_cap_grow_nobody() {
    let server = Server::start().await;
    let petition = server.make("petitions", json!({})).await;
    let helper = format!("{petition}/record_signature_helper");
    let known = server
        .make(
            "people",
            json!({"email_addresses": [{"address": "ada@example.org"}]}),
        )
        .await;
    let list =
        |many: usize, element: &dyn Fn(usize) -> Value| (0..many).map(element).collect::<Vec<_>>();
    let person = |round: usize, caps: ContentLimits| {
        let text = |place: usize| format!("{round}x{place}");
        let entries = caps.max_entries("phone_numbers");
        let custom: serde_json::Map<String, Value> = (0..caps.max_entries("custom_fields"))
            .map(|place| (text(place), json!("x".repeat(200))))
            .collect();
        json!({
            "identifiers": list(caps.max_entries("identifiers"), &|place| json!(format!("crm:{}", text(place)))),
            "email_addresses": list(entries, &|place| match place {
                0 => json!({"address": "ada@example.org"}),
                _ => json!({"address": format!("{}@example.org", text(place))}),
            }),
            "phone_numbers": list(entries, &|place| json!({"number": format!("1555{round:02}{place:03}")})),
            "postal_addresses": list(entries, &|place| json!({"address_lines": [text(place)]})),
            "custom_fields": custom,
        })
    };
    let record = ContentLimits::default();
    let small = json!({"person": {"email_addresses": [{"address": "ada@example.org"}], "given_name": "Ada"}});
    for round in 0..50 {
        let taken = server
            .post(&helper, json!({"person": person(round, record)}))
            .await
            .status;
        assert!(matches!(taken, 200 | 400), "UND-17: {taken}");
        // Values in one request are within the limit. Additional values are rejected as a whole.
        assert_eq!(taken == 200, round == 0, "UND-17: {round}");
        let before = server.get(&known).await.json;
        let body = json!({"person": person(round, ContentLimits::ANONYMOUS)});
        let strange = server
            .call_as(&server.stranger(), "POST", &helper, body)
            .await;
        assert_eq!((strange.status, strange.json), (200, json!({})), "HLP-07");
        assert_eq!(server.get(&known).await.json, before, "HLP-04");
        assert_eq!(
            server.post(&helper, small.clone()).await.status,
            200,
            "UND-17: {round}"
        );
    }
    let stored = server.get(&known).await.json;
    for name in ["email_addresses", "phone_numbers", "postal_addresses"] {
        assert!(
            stored[name].as_array().unwrap().len() <= record.max_entries(name),
            "UND-17: {name}"
        );
    }
    assert!(
        stored.to_string().len() < 2 * 64 * 1024,
        "UND-17: {} bytes",
        stored.to_string().len()
    );
    let page = server.get("people").await.json;
    assert_eq!(page["total_records"], 1, "HLP-04");
    assert!(
        page.to_string().len() < 3 * 64 * 1024,
        "UND-17: a page of one person"
    );
}
