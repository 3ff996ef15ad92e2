//! Helpers that are composed of registered operations, and the merging of people.
//!
//! Requirements: HLP-10, ERR-29 to ERR-33, HLP-04.

use serde_json::{Value, json};
use svc_core::{
    Error, ErrorCode, Problem, api::ResponseStyle, auth::Caller, helper::AnonymousPolicy,
    model::Kind, schema::Constraints,
};

use crate::support::server::{Answered, Server};

pub(crate) type Entry<'a> = (&'a str, u64, &'a [&'a str]);

pub(crate) fn assert_entries(answer: &Answered, row: &str, expected: &[Entry<'_>]) {
    let expected: Vec<(String, u64, Vec<String>)> = expected
        .iter()
        .map(|(kind, status, problems)| {
            (
                format!("svc:{kind}"),
                *status,
                problems.iter().map(ToString::to_string).collect(),
            )
        })
        .collect();
    assert_eq!(
        (answer.status, answer.entries()),
        (400, expected),
        "{row}: {}",
        answer.text
    );
    assert_eq!(
        answer.json["svc:error"]["request_type"], "non-atomic",
        "ERR-30"
    );
    assert_eq!(answer.json["svc:error"]["response_code"], 400, "ERR-19");
}

/// Creates a petition and returns the path of its signature helper.
pub(crate) fn signing(server: &Server) -> String {
    format!(
        "{}/record_signature_helper",
        server.made("petitions", r#"{"title":"P"}"#)
    )
}

#[test]
fn hlp_11_a_signature_and_its_person_in_one_call() {
    let server = Server::with(|api| api);
    let helper = signing(&server);
    let body = r#"{"comments":"yes","person":{"given_name":"Ada","email_addresses":[{"address":"ada@example.org"}]}}"#;
    let made = server.post(&helper, body);
    assert_eq!(
        (made.status, &made.json["comments"]),
        (200, &json!("yes")),
        "HLP-06, HLP-11"
    );
    let person = server.get(made.link("svc:person").unwrap());
    assert_eq!(person.json["given_name"], "Ada", "HLP-03");
    assert_eq!(person.json["id"], "person-1", "HLP-20");
    let unknown = server.post_unknown(&helper, body);
    assert_eq!(
        (unknown.status, unknown.text.as_str()),
        (200, "{}"),
        "HLP-07"
    );
    assert_eq!(
        (
            server.store.count(Kind::Person),
            server.store.count(Kind::Signature)
        ),
        (1, 2),
        "HLP-04"
    );
    let gone = server.post("petitions/none/record_signature_helper", body);
    assert_eq!(
        (gone.status, gone.problems()),
        (404, vec!["RESOURCE_NOT_FOUND ".to_owned()]),
        "HLP-23, HLP-09"
    );
    assert_eq!(server.store.count(Kind::Signature), 2, "HLP-23");
}

/// The vendor's error mapping applies to each step of a composed helper: a full table is a problem
/// of its record.
#[test]
fn err_31_an_error_that_the_vendor_knows_is_a_problem_of_its_record() {
    let full = |_: &(dyn std::error::Error + 'static)| {
        Some(Error::invalid(Problem::for_request(
            ErrorCode::CapacityExceeded,
            "The table is full.",
        )))
    };
    let server = Server::with(|api| api.map_errors(full));
    let helper = signing(&server);
    server.made("tags", r#"{"name":"known"}"#);
    let body =
        r#"{"person":{"email_addresses":[{"address":"a@example.org"}]},"add_tags":["known"]}"#;
    server.store.fail(Kind::Tagging);
    let expected: [Entry<'_>; 3] = [
        ("person", 201, &[]),
        ("signature", 201, &[]),
        ("tagging", 400, &["CAPACITY_EXCEEDED "]),
    ];
    assert_entries(&server.post(&helper, body), "ERR-31", &expected);
    server.store.fail(Kind::Signature);
    let refused = server.post(&helper, body);
    assert_eq!(
        (refused.status, refused.problems()),
        (400, vec!["CAPACITY_EXCEEDED ".to_owned()]),
        "{}",
        refused.text
    );
    assert_eq!(server.store.count(Kind::Signature), 1, "HLP-10");
    // An error that is not mapped is a server error.
    let plain = Server::with(|api| api);
    let helper = signing(&plain);
    plain.store.fail(Kind::Signature);
    assert_eq!(plain.post(&helper, body).status, 500, "ERR-05");
}

#[test]
fn err_29_to_32_a_partly_failed_call_is_reported_resource_by_resource() {
    let server = Server::with(|api| api);
    let helper = signing(&server);
    server.made("tags", r#"{"name":"known"}"#);
    let list = server.made("lists", r#"{"name":"list"}"#);
    let question = server.made(
        "questions",
        r#"{"question_type":"SingleChoice","responses":[{"key":"y"},{"key":"n"}],"identifiers":["q:1"]}"#,
    );
    let body = json!({
        "person": {"email_addresses": [{"address": "a@example.org"}]},
        "add_tags": ["known", "unknown"],
        "add_tags_uri": ["https://elsewhere.example/tags/1"],
        "add_lists": ["none"],
        "add_lists_uri": [list],
        "add_questions_responses_uri": [
            {"question": question, "responses": ["y"]},
            {"question": "q:1", "responses": ["y", "z"]},
            {"question": "q:2", "value": "text"},
        ],
    })
    .to_string();
    let expected: [Entry<'_>; 10] = [
        ("person", 201, &[]),
        ("signature", 201, &[]),
        ("tagging", 201, &[]),
        ("tagging", 400, &["TAG_NAME_DOES_NOT_EXIST add_tags"]),
        ("tagging", 400, &["TAG_URI_DOES_NOT_EXIST add_tags_uri"]),
        ("item", 400, &["LIST_NAME_DOES_NOT_EXIST add_lists"]),
        ("item", 201, &[]),
        ("answer", 201, &[]),
        (
            "answer",
            400,
            &[
                "RESPONSE_KEY_DOES_NOT_EXIST add_questions_responses_uri[1].responses[1]",
                "TOO_MANY_RESPONSES add_questions_responses_uri[1].responses",
            ],
        ),
        (
            "answer",
            400,
            &["QUESTION_DOES_NOT_EXIST add_questions_responses_uri[2].question"],
        ),
    ];
    let answer = server.post(&helper, &body);
    assert_entries(&answer, "ERR-29, ERR-31, HAF-02 to HAF-09", &expected);
    let person = answer.json["svc:person"]["_links"]["self"]["href"]
        .as_str()
        .expect("ERR-32");
    assert_eq!(
        answer.json["svc:signature"]["_links"]["svc:person"]["href"], person,
        "ERR-32"
    );
    assert_eq!(
        server.get(&format!("{person}/taggings")).json["total_records"],
        1,
        "HAF-02"
    );
    assert_eq!(
        server.get(&format!("{person}/answers")).json["total_records"],
        1,
        "HAF-07"
    );

    // Repeat the request: existing records have the status 200, but 201 for an anonymous caller,
    // who must not learn what exists (HLP-07).
    let again = server.post(&helper, &body);
    let statuses = |answer: &Answered| {
        answer
            .entries()
            .iter()
            .map(|entry| entry.1)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        statuses(&again),
        [200, 201, 200, 400, 400, 400, 200, 201, 400, 400],
        "ERR-31, HAF-02, HAF-05"
    );
    let unknown = server.post_unknown(&helper, &body);
    assert_eq!(
        statuses(&unknown),
        [201, 201, 201, 400, 400, 400, 201, 201, 400, 400],
        "HLP-07"
    );
    assert_eq!(
        (
            unknown.json.get("svc:person"),
            unknown.json.get("svc:signature")
        ),
        (None, None),
        "ERR-32, HLP-07"
    );
}

#[test]
fn err_33_the_other_spelling_under_the_other_style() {
    let server = Server::with(|api| api.response_style(ResponseStyle::Examples));
    let answer = server.post(
        "people/person_signup",
        r#"{"person": {"given_name": "Ada"},"add_tags":["no"]}"#,
    );
    let entry = &answer.json["svc:error"]["resource_status"][1];
    assert_eq!(
        (
            &entry["errors"][0]["code"],
            &entry["errors"][0]["properties"]
        ),
        (&json!("TAG_NAME_DOES_NOT_EXIST"), &json!(["add_tags"])),
        "ERR-33"
    );
    assert_eq!(
        (
            entry.get("error_descriptions"),
            entry["errors"][0].get("error_code")
        ),
        (None, None),
        "ERR-33"
    );
    let atomic = server.post("people", r#"{"gender":"no"}"#);
    assert_eq!(
        atomic.json["svc:error"]["resource_status"][0]["error_descriptions"][0]["error_code"],
        "FIELD_INVALID",
        "ERR-33"
    );
}

#[test]
fn hlp_10_an_action_that_cannot_be_stored_leaves_the_person() {
    let server = Server::with(|api| api);
    let helper = signing(&server);
    server.store.refuse(
        Kind::Signature,
        Problem::new(ErrorCode::FieldInvalid, "comments", "Not this."),
    );
    let body = r#"{"comments":"c","add_tags":["no"],"person":{"email_addresses":[{"address":"a@example.org"}]}}"#;
    let answer = server.post(&helper, body);
    assert_entries(
        &answer,
        "HLP-10",
        &[
            ("person", 201, &[]),
            ("signature", 400, &["FIELD_INVALID comments"]),
        ],
    );
    assert_entries(
        &server.post(&helper, body),
        "HLP-10",
        &[
            ("person", 200, &[]),
            ("signature", 400, &["FIELD_INVALID comments"]),
        ],
    );
    let alone = server.post(&helper, r#"{"comments":"c"}"#);
    assert_eq!(
        (alone.status, alone.problems()),
        (400, vec!["FIELD_INVALID comments".to_owned()]),
        "HLP-10"
    );
    assert_eq!(
        alone.json["svc:error"]["request_type"], "atomic",
        "ERR-20: one resource alone is atomic"
    );
}

#[test]
fn hlp_10_a_person_that_cannot_be_stored_stores_nothing() {
    let server = Server::with(|api| api);
    let helper = signing(&server);
    server.store.refuse(
        Kind::Person,
        Problem::new(
            ErrorCode::IdentifierInUse,
            "identifiers[0]",
            "`identifiers[0]` is taken.",
        ),
    );
    let answer = server.post(&helper, r#"{"person":{"identifiers":["a:1","a:1","b:1"]}}"#);
    assert_eq!(
        answer.problems(),
        ["IDENTIFIER_IN_USE person.identifiers[0]"],
        "ERR-26: named from the top of the body"
    );
    assert_eq!(answer.json["svc:error"]["request_type"], "atomic", "HLP-10");
    assert_eq!(
        (
            server.store.count(Kind::Person),
            server.store.count(Kind::Signature)
        ),
        (0, 0),
        "ERR-04"
    );
}

#[test]
fn hlp_10_what_is_wrong_in_the_body_refuses_the_whole_call() {
    let server = Server::with(|api| api);
    let helper = signing(&server);
    let writes = server.store.writes();
    let body = json!({
        "comments": 7,
        "person": {"gender": "no", "email_addresses": [{"address": "nobody"}], "identifiers": ["x"]},
        "add_tags": [1],
        "add_questions_responses_uri": [{"responses": "y"}],
    });
    let expected = [
        "FIELD_INVALID person.gender",
        "FIELD_INVALID person.email_addresses[0].address",
        "FIELD_INVALID person.identifiers[0]",
        "FIELD_INVALID comments",
        "FIELD_INVALID add_tags[0]",
        "FIELD_REQUIRED add_questions_responses_uri[0].question",
        "FIELD_INVALID add_questions_responses_uri[0].responses",
    ];
    assert_eq!(
        server.post(&helper, &body.to_string()).problems(),
        expected,
        "HLP-10, ERR-39"
    );
    assert_eq!(server.store.writes(), writes, "HLP-10");
    assert_eq!(
        server.post("people/person_signup", "{}").problems(),
        ["FIELD_REQUIRED person"],
        "HLP-19"
    );
    assert_eq!(
        server
            .post("people/person_signup", r#"{"person":[]}"#)
            .problems(),
        ["FIELD_INVALID person"],
        "HLP-19"
    );
}

/// RES-donation-06: the currency is checked before an operation is called.
#[test]
fn res_donation_06_a_donation_has_the_currency_of_its_page() {
    let server = Server::with(|api| api);
    let page = server.made("fundraising_pages", r#"{"currency":"EUR"}"#);
    let helper = format!("{page}/record_donation_helper");
    let person = r#""person":{"email_addresses":[{"address":"a@example.org"}]}"#;
    let entries: [Entry<'_>; 2] = [
        ("person", 201, &[]),
        ("donation", 400, &["FIELD_INVALID currency"]),
    ];
    let other = server.post(
        &helper,
        &format!(r#"{{"amount":5,"currency":"USD",{person}}}"#),
    );
    assert_entries(&other, "RES-donation-06", &entries);
    let other = server.post(
        &format!("{page}/donations"),
        r#"{"amount":5,"currency":"USD","_links":{"svc:person":{"href":"svc:none"}}}"#,
    );
    assert!(
        other
            .problems()
            .contains(&"FIELD_INVALID currency".to_owned()),
        "{}",
        other.text
    );
    let digits = server.post(&helper, &format!(r#"{{"amount":5.005,{person}}}"#));
    let entries: [Entry<'_>; 2] = [
        ("person", 200, &[]),
        ("donation", 400, &["FIELD_INVALID amount"]),
    ];
    assert_entries(&digits, "RES-donation-03", &entries);
    let same = server.post(
        &helper,
        &format!(r#"{{"amount":5,"currency":"EUR",{person}}}"#),
    );
    assert_eq!(same.status, 200, "{}", same.text);
}

#[test]
fn err_38_functions_that_are_switched_off() {
    let server = Server::with(|api| api.without_capability("haf.add_lists"));
    server.made("lists", r#"{"name":"l"}"#);
    let answer = server.post(
        "people/person_signup",
        r#"{"person": {"given_name": "Ada"},"add_lists":["l"],"triggers":{"autoresponse":{"enabled":true}}}"#,
    );
    let unsupported: [Entry<'_>; 3] = [
        ("person", 201, &[]),
        ("item", 500, &["NOT_SUPPORTED add_lists"]),
        ("message", 500, &["NOT_SUPPORTED triggers"]),
    ];
    assert_entries(&answer, "ERR-38", &unsupported);
    assert_eq!(
        server
            .post(
                "people/person_signup",
                r#"{"person": {"given_name": "Ada"},"add_lists":[],"triggers":{}}"#
            )
            .status,
        200,
        "ERR-38: no function was requested"
    );
    let wrong = server.post(
        "people/person_signup",
        r#"{"person": {"given_name": "Ada"},"triggers":{"sms_response":{"enabled":"yes","identifiers":["x"]}}}"#,
    );
    let expected = [
        "FIELD_INVALID triggers.sms_response.enabled",
        "FIELD_INVALID triggers.sms_response.identifiers[0]",
    ];
    assert_eq!(wrong.problems(), expected, "HAF-12, HAF-13");
}

#[test]
fn und_29_an_action_function_without_a_person() {
    let server = Server::with(|api| api);
    server.made("tags", r#"{"name":"t"}"#);
    let answer = server.post(&signing(&server), r#"{"add_tags":["t"]}"#);
    assert_entries(
        &answer,
        "UND-29",
        &[
            ("signature", 201, &[]),
            ("tagging", 400, &["PERSON_REQUIRED add_tags"]),
        ],
    );
}

#[test]
fn hlp_16_to_18_a_canvass() {
    let server = Server::with(|api| api);
    let target = server.made("people", r#"{"given_name":"Ada"}"#);
    let canvasser = server.made("people", r#"{"given_name":"Ada"}"#);
    let question = server.made("questions", r#"{"question_type":"Paragraph"}"#);
    let helper = server
        .get(&target)
        .link("svc:record_canvass_helper")
        .unwrap()
        .to_owned();
    let body = json!({
        "canvass": {"canvasser": canvasser, "success": true, "question_response": {"question": {"href": question}, "value": "v"}},
        "person": {"given_name": "ignored"},
    });
    let made = server.post(&helper, &body.to_string());
    assert_eq!(
        (
            made.status,
            made.link("svc:target"),
            made.link("svc:canvasser")
        ),
        (200, Some(target.as_str()), Some(canvasser.as_str())),
        "HLP-16, HLP-17 {}",
        made.text
    );
    assert_eq!(server.store.count(Kind::Person), 2, "HLP-18");
    assert_eq!(
        server.get(&format!("{target}/answers")).json["total_records"],
        1,
        "RES-canvass-08"
    );
    let linked =
        json!({"canvass": {}, "_links": {"svc:canvasser": {"href": canvasser}}}).to_string();
    assert_eq!(
        server.post(&helper, &linked).link("svc:canvasser"),
        Some(canvasser.as_str()),
        "RES-canvass-07"
    );
    let wrong = server.post(
        &helper,
        r#"{"canvass":{"canvasser":"nobody","success":1,"question_response":[{"question":5}]}}"#,
    );
    let expected = [
        "FIELD_INVALID canvass.success",
        "FIELD_INVALID canvass.question_response[0].question",
        "PERSON_NOT_FOUND canvass.canvasser",
    ];
    assert_eq!(wrong.problems(), expected, "RES-canvass-07, RES-canvass-09");
    assert_eq!(
        server.post(&helper, r#"{"canvass":7}"#).problems(),
        ["FIELD_INVALID canvass"],
        "HLP-16"
    );
    // The other members would be lost, and without a reason the contact would count as successful
    // (RES-canvass-06).
    for without in [
        "{}",
        r#"{"canvass":null}"#,
        r#"{"contact_type":"in-person","success":false,"status_code":"not-home"}"#,
    ] {
        assert_eq!(
            server.post(&helper, without).problems(),
            ["FIELD_REQUIRED canvass"],
            "HLP-16 {without}"
        );
    }
    let unknown = server.post(
        &helper,
        r#"{"canvass":{"question_response":{"question":"q:1"}}}"#,
    );
    assert_entries(
        &unknown,
        "ERR-31: a canvass has no person entry",
        &[
            ("canvass", 201, &[]),
            (
                "answer",
                400,
                &["QUESTION_DOES_NOT_EXIST canvass.question_response.question"],
            ),
        ],
    );
    let nobody = json!("/api/v1/people/none");
    for (body, property) in [
        (
            json!({"canvass": {"canvasser": nobody}}),
            "canvass.canvasser",
        ),
        (
            json!({"canvass": {"_links": {"canvasser": {"href": nobody}}}}),
            "canvass._links.svc:canvasser",
        ),
        (
            json!({"canvass": {}, "_links": {"svc:canvasser": {"href": nobody}}}),
            "_links.svc:canvasser",
        ),
    ] {
        let refused = server.post(&helper, &body.to_string()).problems();
        assert_eq!(
            refused,
            [format!("PERSON_NOT_FOUND {property}")],
            "RES-canvass-07, ERR-26: as it was sent"
        );
    }
    assert_eq!(
        server
            .post("people/none/record_canvass_helper", "{}")
            .status,
        404,
        "HLP-17"
    );
}

#[test]
fn hlp_19_a_signup_on_the_collection_answers_as_a_create() {
    let server = Server::with(|api| api);
    let body = r#"{"person":{"given_name":"A","email_addresses":[{"address":"A@example.org"}]}}"#;
    let made = server.post("people", body);
    assert_eq!(
        (made.status, made.location.as_deref()),
        (201, made.link("self")),
        "HLP-19"
    );
    let again = server.post("people", &body.replace("A@example", " a@Example"));
    assert_eq!(
        (again.status, again.location.as_deref(), again.link("self")),
        (200, None, made.link("self")),
        "HLP-19, HLP-04"
    );
    assert_eq!(server.store.count(Kind::Person), 1, "HLP-04");
}

/// Signs with a person that already exists and returns the person's fields afterwards.
fn merged(server: &Server, caller: Caller, known: &Value, posted: &Value) -> Value {
    let known = server.post("people", &known.to_string());
    assert_eq!(known.status, 201, "{}", known.text);
    let petition = server.made("petitions", "{}");
    let helper = format!("{petition}/record_signature_helper");
    let answer = server.send_as(
        caller,
        &http::Method::POST,
        &helper,
        &json!({ "person": posted }).to_string(),
    );
    assert_eq!(answer.status, 200, "{}", answer.text);
    let mut after = server.get(known.link("self").unwrap()).json;
    let fields = after.as_object_mut().unwrap();
    for common in [
        "identifiers",
        "created_date",
        "modified_date",
        "id",
        "_links",
    ] {
        fields.remove(common);
    }
    after
}

#[test]
fn hlp_04_the_merge_through_the_helper() {
    let server = Server::with(|api| api);
    let mail = |address: &str| json!([{"address": address}]);
    let known = json!({"given_name": "Ada", "source": "", "email_addresses": mail("a@x.org"), "languages_spoken": ["en"]});
    let posted = json!({"given_name": "Eve", "source": "web", "email_addresses": mail("A@X.org"), "languages_spoken": []});
    let expected = json!({"given_name": "Eve", "source": "web", "email_addresses": mail("a@x.org"), "languages_spoken": ["en"]});
    let key = || Caller::with_rights(svc_core::auth::Rights::all());
    assert_eq!(merged(&server, key(), &known, &posted), expected, "HLP-04");
    let server = Server::with(|api| api);
    assert_eq!(
        merged(&server, Caller::anonymous(), &known, &posted),
        known,
        "HLP-04: an anonymous caller"
    );
    let server = Server::with(|api| api.anonymous_policy(AnonymousPolicy::new().fill_empty()));
    let filled = json!({"given_name": "Ada", "source": "web", "email_addresses": mail("a@x.org"), "languages_spoken": ["en"]});
    assert_eq!(
        merged(&server, Caller::anonymous(), &known, &posted),
        filled,
        "HLP-04: an anonymous caller that may fill empty fields"
    );
}

/// A concurrent write between the lookup of a person and its change is not overwritten: the change
/// is repeated.
#[test]
fn hlp_10_a_composed_helper_undoes_nothing_of_other_calls() {
    let object = |text: &str| match svc_core::read::Json::read(
        text.as_bytes(),
        &svc_core::read::JsonLimits::default(),
    ) {
        Ok(svc_core::read::Json::Object(object)) => object,
        other => panic!("{other:?}"),
    };
    let server = Server::with(|api| api);
    let known = r#"{"email_addresses":[{"address":"a@x.org","status":"subscribed"}]}"#;
    let known = server.made("people", known);
    let helper = signing(&server);
    let unsubscribed = r#"{"email_addresses":[{"address":"a@x.org","status":"unsubscribed"}]}"#;
    server
        .store
        .meanwhile(vec![object(r#"{"source":"web"}"#), object(unsubscribed)]);
    let body = r#"{"person":{"given_name":"Ada","email_addresses":[{"address":"A@x.org"},{"address":"b@x.org"}]}}"#;
    assert_eq!(server.post(&helper, body).status, 200);
    let person = server.get(&known).json;
    let expected =
        json!([{"address": "a@x.org", "status": "unsubscribed"}, {"address": "b@x.org"}]);
    assert_eq!(person["email_addresses"], expected, "HLP-10");
    assert_eq!(
        (&person["given_name"], &person["source"]),
        (&json!("Ada"), &json!("web")),
        "HLP-10"
    );
    // The number of repetitions is limited.
    server.store.meanwhile(vec![object(unsubscribed); 100]);
    let busy = server.post(&helper, &body.replace("Ada", "Grace"));
    assert_eq!(
        (busy.status, busy.retry_after.as_deref()),
        (503, Some("1")),
        "UND-36"
    );
    assert_eq!(server.store.count(Kind::Signature), 1, "HLP-10");
}

/// A person that a concurrent request stores between the lookup and the create is found, even
/// without locks.
#[test]
fn hlp_12_of_equal_calls_at_once_the_second_finds_the_person_of_the_first() {
    let server = Server::with(|api| api);
    let helper = signing(&server);
    let body = r#"{"person":{"identifiers":["a:1"],"given_name":"Ada"}}"#;
    let both = server.post_twice_at_once(&helper, body);
    assert_eq!(
        both.each_ref().map(|answer| answer.status),
        [200, 200],
        "{both:?}"
    );
    assert_eq!(
        both[0].link("svc:person"),
        both[1].link("svc:person"),
        "UND-24"
    );
    assert_eq!(
        (
            server.store.count(Kind::Person),
            server.store.count(Kind::Signature)
        ),
        (1, 2),
        "HLP-12"
    );
    // Two people have only e-mail addresses. An earlier step must not be taken for the action of
    // the other request.
    let body =
        r#"{"identifiers":["a:4"],"person":{"email_addresses":[{"address":"b@example.org"}]}}"#;
    let both = server.post_twice_at_once(&helper, body);
    let mut statuses = both.each_ref().map(|answer| answer.status);
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 400], "{both:?}");
    let refused = both.iter().find(|answer| answer.status == 400).unwrap();
    let expected: [Entry<'_>; 2] = [
        ("person", 201, &[]),
        ("signature", 400, &["IDENTIFIER_IN_USE identifiers[0]"]),
    ];
    assert_entries(refused, "ERR-31", &expected);
    assert_eq!(server.store.count(Kind::Signature), 3, "HLP-12");
}

#[test]
fn hlp_04_a_stranger_who_is_never_matched_is_somebody_new() {
    let server =
        Server::with(|api| api.anonymous_policy(AnonymousPolicy::new().without_matching()));
    let helper = signing(&server);
    let body = r#"{"person":{"email_addresses":[{"address":"a@x.org"}]}}"#;
    server.post(&helper, body);
    assert_eq!(server.post_unknown(&helper, body).text, "{}", "HLP-07");
    assert_eq!(server.store.count(Kind::Person), 2, "HLP-04");
}

#[test]
fn hlp_04_a_match_brings_its_identifiers_along() {
    let server = Server::with(|api| api);
    let made = server.made(
        "people",
        r#"{"identifiers":["a:1"],"email_addresses":[{"address":"a@x.org"}]}"#,
    );
    let body =
        r#"{"person":{"identifiers":["b:1","a:1"],"email_addresses":[{"address":"a@x.org"}]}}"#;
    let signed = server.post("people/person_signup", body);
    assert_eq!(
        signed.link("self"),
        Some(made.as_str()),
        "HLP-04: matched by identifier first"
    );
    assert_eq!(
        signed.json["identifiers"],
        json!(["crm:person-1", "a:1", "b:1"]),
        "TYP-13: the sent value is stored"
    );
}

#[test]
fn hlp_04_of_several_the_oldest_is_meant() {
    let server = Server::with(|api| api);
    let made = |address: &str| {
        server.made(
            "people",
            &json!({"email_addresses": [{"address": address}]}).to_string(),
        )
    };
    let (old, _) = (made("old@x.org"), made("late@x.org"));
    let both = json!([{"address": "late@x.org", "primary": true}, {"address": "old@x.org"}]);
    let signed = server.post(
        "people/person_signup",
        &json!({"person": {"email_addresses": both}}).to_string(),
    );
    assert_eq!(signed.link("self"), Some(old.as_str()), "HLP-04");
}

#[test]
fn hlp_04_a_stranger_that_says_nothing_new_changes_nothing() {
    let server = Server::with(|api| api);
    let helper = signing(&server);
    let body = r#"{"person":{"given_name":"A","email_addresses":[{"address":"a@x.org"}],"identifiers":["a:1"]}}"#;
    let person = server
        .post(&helper, body)
        .link("svc:person")
        .unwrap()
        .to_owned();
    server.made("people", r#"{"identifiers":["b:1"]}"#);
    let before = server.get(&person).text;
    let stranger = body
        .replace(r#""A""#, r#""B""#)
        .replace(r#""a:1""#, r#""crm:person-9","a:1","b:1""#);
    assert_eq!(
        server.post_unknown(&helper, &stranger).text,
        "{}",
        "HLP-07: the response does not reveal whose identifiers these are"
    );
    assert_eq!(server.get(&person).text, before, "HLP-04");
    let known = server.post(&helper, body);
    assert_eq!(known.link("svc:person"), Some(person.as_str()), "HLP-04");
    assert_eq!(
        server.get(&person).text,
        before,
        "CRU-19: a caller with a key that sends nothing new"
    );
}

/// CRU-19: if a helper changes no value, the operation of the vendor is not called.
#[test]
fn cru_19_nothing_new_is_no_update() {
    let server = Server::with(|api| api);
    let body = json!({"person": {"identifiers": ["a:1"], "given_name": "Ada", "custom_fields": {"a": "1", "b": "2"},
        "email_addresses": [{"address": "a@x.org", "primary": true}]}});
    let signup = |body: &Value| server.post("people/person_signup", &body.to_string());
    let person = signup(&body).link("self").unwrap().to_owned();
    let (before, writes) = (server.get(&person).text, server.store.writes());
    let mut turned = body.clone();
    turned["person"]["custom_fields"] = json!({"b": "2", "a": "1"});
    turned["person"]["email_addresses"] = json!([{"primary": true, "address": "a@x.org"}]);
    for same in [&body, &turned] {
        assert_eq!(signup(same).link("self"), Some(person.as_str()), "{same}");
        assert_eq!(server.get(&person).text, before, "{same}");
        assert_eq!(server.store.writes(), writes, "{same}");
    }
    for (number, (name, value)) in (1..).zip([
        ("given_name", json!("Grace")),
        ("identifiers", json!(["a:1", "a:2"])),
    ]) {
        let mut other = body.clone();
        other["person"][name] = value;
        assert_eq!(signup(&other).link("self"), Some(person.as_str()), "{name}");
        assert_eq!(server.store.writes(), writes + number, "{name}");
    }
}

/// CRU-19: an update that gives no value another one does not reach the operation of the vendor,
/// unless clients can send a value that they cannot read.
#[test]
fn cru_19_an_update_without_another_value_is_not_passed_on() {
    let server = Server::with(|api| api);
    let body = r#"{"given_name":"Ada","identifiers":["a:1"],"email_addresses":[{"address":"a@x.org","primary":true}]}"#;
    let person = server.made("people", body);
    let petition = server.made("petitions", r#"{"title":"Trees"}"#);
    let link = json!({"_links": {"svc:person": {"href": person}}}).to_string();
    let signature = server.made(&format!("{petition}/signatures"), &link);
    let writes = server.store.writes();
    for (record, same) in [
        (&person, body),
        (&person, "{}"),
        (&person, r#"{"given_name":"Ada","family_name":null}"#),
        (&signature, &link),
    ] {
        let before = server.get(record).text;
        let answer = server.put(record, same);
        assert_eq!(
            (answer.status, answer.text),
            (200, before.clone()),
            "{same}"
        );
        assert_eq!(server.get(record).text, before, "{same}");
        assert_eq!(server.store.writes(), writes, "{same}");
    }
    let other = server.made("people", r#"{"given_name":"Grace"}"#);
    let link = json!({"_links": {"svc:person": {"href": other}}}).to_string();
    for (number, (record, other)) in (2..).zip([
        (&person, r#"{"given_name":"Grace"}"#),
        (&person, r#"{"identifiers":[]}"#),
        (&signature, &link),
    ]) {
        assert_eq!(server.put(record, other).status, 200, "{other}");
        assert_eq!(server.store.writes(), writes + number, "{other}");
    }
    let hiding = Server::with(|api| {
        let mut hidden = Constraints::default();
        hidden.entry(&["family_name"]).hidden = true;
        api.constraints(Kind::Person, hidden)
    });
    let person = hiding.made("people", r#"{"family_name":"Lovelace"}"#);
    let writes = hiding.store.writes();
    assert_eq!(hiding.put(&person, r#"{"family_name":null}"#).status, 200);
    assert_eq!(hiding.store.writes(), writes + 1, "the name can be stored");
}

#[test]
fn und_24_the_servers_own_identifier_of_an_inline_person() {
    let server = Server::with(|api| api);
    let made = server.made("people", r#"{"given_name":"A"}"#);
    let signed = server.post(
        "people/person_signup",
        r#"{"person":{"identifiers":["crm:person-1"],"given_name":"B"}}"#,
    );
    assert_eq!(
        (signed.link("self"), &signed.json["given_name"]),
        (Some(made.as_str()), &json!("B")),
        "UND-24: the same record"
    );
    let unknown = server.post(
        "people/person_signup",
        r#"{"person":{"identifiers":["x:1","crm:person-9"]}}"#,
    );
    assert_eq!(
        unknown.problems(),
        ["IDENTIFIER_IN_USE person.identifiers[1]"],
        "UND-24"
    );
    assert_eq!(server.store.count(Kind::Person), 1, "UND-24");
    server.made("people", r#"{"identifiers":["y:1"]}"#);
    let body = r#"{"person":{"identifiers":["x:1","crm:person-1","x:1","y:1"]}}"#;
    assert_eq!(
        server.post("people/person_signup", body).problems(),
        ["IDENTIFIER_IN_USE person.identifiers[3]"],
        "UND-24"
    );
}

/// A helper needs `find`, not `get`, of the people and actions that it looks up.
#[test]
fn hlp_04_a_person_that_cannot_be_read_is_found() {
    let store = std::sync::Arc::new(crate::support::typed_backend::Memory::default());
    let api = crate::support::server::builder()
        .resource::<svc_core::model::Person, _>(&store, |x| x.create().update().find())
        .resource::<svc_core::model::Petition, _>(&store, |x| x.get().create())
        .resource::<svc_core::model::Signature, _>(&store, |x| x.create().update().find())
        .compose_helper::<svc_core::helper::RecordSignature>()
        .compose_helper::<svc_core::helper::PersonSignup>()
        .build()
        .unwrap();
    let server = Server { api, store };
    let body =
        r#"{"person":{"identifiers":["x:1"],"email_addresses":[{"address":"a@example.org"}]}}"#;
    for _ in 0..2 {
        assert_eq!(server.post("people/person_signup", body).status, 200);
    }
    assert_eq!(server.store.count(Kind::Person), 1, "HLP-04");
    let helper = signing(&server);
    let body =
        r#"{"identifiers":["w:1"],"person":{"email_addresses":[{"address":"a@example.org"}]}}"#;
    for _ in 0..2 {
        let answer = server.post(&helper, body);
        assert_eq!(answer.status, 200, "{}", answer.text);
    }
    let stored = (
        server.store.count(Kind::Person),
        server.store.count(Kind::Signature),
    );
    assert_eq!(stored, (1, 1), "HLP-04, UND-24");
}

/// UND-39: a missing container comes before a helper that is not offered.
#[test]
fn und_39_an_inline_person_under_a_missing_container_is_404() {
    let store = std::sync::Arc::new(crate::support::typed_backend::Memory::default());
    let api = crate::support::server::builder()
        .resource::<svc_core::model::Petition, _>(&store, |x| x.get().create())
        .resource::<svc_core::model::Signature, _>(&store, svc_core::api::ResourceConfig::create)
        .build()
        .unwrap();
    let server = Server { api, store };
    let petition = server.made("petitions", "{}");
    let status = |petition: &str| {
        server
            .post(
                &format!("{petition}/signatures"),
                r#"{"person": {"given_name": "Ada"}}"#,
            )
            .status
    };
    assert_eq!((status("petitions/none"), status(&petition)), (404, 500));
}

#[test]
fn und_24_an_action_that_is_posted_again_is_updated() {
    let find = |api: svc_core::ApiBuilder,
                store: &std::sync::Arc<crate::support::typed_backend::Memory>| {
        api.resource::<svc_core::model::Person, _>(store, |x| x.get().create().update().find())
            .resource::<svc_core::model::Petition, _>(store, |x| x.list().get().create())
            .resource::<svc_core::model::Signature, _>(store, |x| {
                x.list_under::<svc_core::model::Petition>()
                    .get()
                    .create()
                    .update()
                    .find()
            })
            .compose_helper::<svc_core::helper::RecordSignature>()
    };
    let store = std::sync::Arc::new(crate::support::typed_backend::Memory::default());
    let api = find(crate::support::server::builder(), &store)
        .build()
        .unwrap();
    let server = Server { api, store };
    let (one, other) = (signing(&server), signing(&server));
    let body = r#"{"identifiers":["w:1"],"action_date":"long ago","comments":"first","person": {"given_name": "Ada"}}"#;
    let made = server.post(&one, body);
    let again = server.post(&one, r#"{"identifiers":["v:1","w:1"],"comments":"second"}"#);
    assert_eq!(
        (again.status, again.link("self")),
        (200, made.link("self")),
        "UND-24 {}",
        again.text
    );
    assert_eq!(
        (&again.json["comments"], &again.json["action_date"]),
        (&json!("second"), &json!("long ago")),
        "UND-24"
    );
    assert_eq!(
        again.json["identifiers"].as_array().unwrap()[1..],
        [json!("w:1"), json!("v:1")],
        "UND-24"
    );
    let by_new = server.post(
        &one,
        r#"{"identifiers":["v:1"],"comments":"by the new one"}"#,
    );
    assert_eq!(
        (by_new.status, by_new.link("self")),
        (200, made.link("self")),
        "UND-24 {}",
        by_new.text
    );
    let own = made.json["identifiers"][0].as_str().unwrap();
    let by_own = server.post(
        &one,
        &format!(r#"{{"identifiers":["{own}"],"comments":"third"}}"#),
    );
    assert_eq!(
        (by_own.link("self"), &by_own.json["comments"]),
        (made.link("self"), &json!("third")),
        "UND-24"
    );
    assert_eq!(
        server
            .post_unknown(&one, r#"{"identifiers":["w:1"],"comments":"stranger"}"#)
            .text,
        "{}",
        "UND-24"
    );
    assert_eq!(
        server.get(made.link("self").unwrap()).json["comments"],
        "third",
        "UND-24: unchanged without a key"
    );
    assert_eq!(
        server.store.count(Kind::Signature),
        2,
        "UND-24: an anonymous caller creates a new action"
    );
    for (body, place) in [
        (
            r#"{"identifiers":["x:1","x:1","w:1"]}"#.to_owned(),
            "identifiers[2]",
        ),
        (
            format!(r#"{{"identifiers":["x:1","{own}"]}}"#),
            "identifiers[1]",
        ),
    ] {
        assert_eq!(
            server.post(&other, &body).problems(),
            [format!("IDENTIFIER_IN_USE {place}")],
            "UND-24 {body}"
        );
    }
    assert_eq!(server.store.count(Kind::Signature), 2, "UND-24");
    server.post(&other, r#"{"identifiers":["y:1","y:2"]}"#);
    let both = server.post(&one, r#"{"identifiers":["y:1","w:1","y:2"]}"#);
    let in_use = [
        "IDENTIFIER_IN_USE identifiers[0]",
        "IDENTIFIER_IN_USE identifiers[2]",
    ];
    assert_eq!(
        both.problems(),
        in_use,
        "UND-24, ERR-39: those of another action"
    );
}

#[test]
fn hlp_01_helpers_are_posts() {
    let server = Server::with(|api| api);
    let helper = signing(&server);
    for method in [http::Method::GET, http::Method::PUT, http::Method::DELETE] {
        assert_eq!(
            server.send(&method, &helper, "{}").problems(),
            ["NOT_IMPLEMENTED "],
            "HLP-01 {method}"
        );
    }
    assert_eq!(
        server.post(&helper, "").status,
        200,
        "UND-27: an empty body is an empty object"
    );
}
