//! Ignored members of a body are reported: as warnings in the response, or as errors if the client
//! asks for it (RFC 7240).
//!
//! Requirements: UND-22.

use http::{HeaderMap, HeaderValue, Method};
use serde_json::{Value, json};
use svc_core::auth::{Caller, Rights};

use crate::support::server::{Answered, Server};

fn server() -> Server {
    Server::with(|api| api)
}

/// Sends a request with a preference.
fn preferring(
    server: &Server,
    preference: &'static str,
    method: &Method,
    to: &str,
    body: &Value,
) -> Answered {
    let headers = HeaderMap::from_iter([(
        http::HeaderName::from_static("prefer"),
        HeaderValue::from_static(preference),
    )]);
    server.send_with(
        &headers,
        Caller::with_rights(Rights::all()),
        method,
        to,
        &body.to_string(),
    )
}

/// Returns the warnings of a response as `CODE property hint`.
fn warnings(answer: &Answered) -> Vec<String> {
    let all = answer.json["ext:warnings"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let one = |warning: &Value| {
        assert!(
            warning["description"]
                .as_str()
                .is_some_and(|text| !text.is_empty()),
            "ERR-25: {warning}"
        );
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        format!(
            "{} {} {}",
            text(&warning["error_code"]),
            text(&warning["properties"][0]),
            text(&warning["hint"])
        )
        .trim()
        .to_owned()
    };
    all.iter().map(one).collect()
}

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

/// Returns a body with every sort of ignored member, and the expected warnings.
fn careless() -> (Value, Vec<&'static str>) {
    let body = json!({
        "given_nmae": "Ada",
        "created_date": "2020-01-01T00:00:00Z",
        "id": "7",
        "email_addresses": [{"address": "ada@example.org"}, {"adress": "ada@example.com", "address": "a@example.com"}],
        "custom_fields": {"anything": "goes"},
        "_links": {"svc:donations": {"href": "http://localhost/people/1"}, "svc:freind": {"href": "x"}, "self": {"href": "x"}},
        "favourite_colour": null,
    });
    // `serde_json` sorts the members by name. Those of an object come before those of its parts.
    let told = vec![
        "PROPERTY_READ_ONLY created_date",
        "PROPERTY_UNKNOWN favourite_colour",
        "PROPERTY_UNKNOWN given_nmae given_name",
        "PROPERTY_READ_ONLY id",
        "PROPERTY_UNKNOWN email_addresses[1].adress address",
        "PROPERTY_READ_ONLY _links.self",
        "PROPERTY_READ_ONLY _links.svc:donations",
        "PROPERTY_UNKNOWN _links.svc:freind",
    ];
    (body, told)
}

#[test]
fn und_22_what_is_not_taken_is_told_beside_the_answer() {
    let server = server();
    let (body, told) = careless();
    let answer = server.post("people", &body.to_string());
    assert_eq!((answer.status, warnings(&answer)), (201, owned(&told)));
    assert_eq!(
        answer.applied, None,
        "RFC 7240: the client sent no preference"
    );
    let mut stored = answer.json.clone();
    stored
        .as_object_mut()
        .expect("an object")
        .remove("ext:warnings");
    let extension = stored["_links"]["curies"]
        .as_array_mut()
        .and_then(Vec::pop)
        .expect("a curie");
    assert_eq!(extension["name"], "ext", "HAL-19");
    assert_eq!(
        stored,
        server.get(answer.link("self").expect("a link")).json,
        "UND-22: ignored members are not stored"
    );
    let changed = server.put(answer.link("self").expect("a link"), &body.to_string());
    assert_eq!((changed.status, warnings(&changed)), (200, owned(&told)));
    let lenient = preferring(&server, "handling=lenient", &Method::POST, "people", &body);
    assert_eq!(
        (lenient.status, lenient.applied.as_deref()),
        (201, Some("handling=lenient")),
        "RFC 7240"
    );
}

#[test]
fn und_22_strict_handling_refuses_what_is_not_taken() {
    let server = server();
    let (body, told) = careless();
    let before = server.get("people").json["total_records"].clone();
    let answer = preferring(&server, "handling=strict", &Method::POST, "people", &body);
    let expected: Vec<String> = told
        .iter()
        .map(|told| told.splitn(3, ' ').take(2).collect::<Vec<_>>().join(" "))
        .collect();
    let problems: Vec<String> = answer
        .problems()
        .iter()
        .map(|told| told.splitn(3, ' ').take(2).collect::<Vec<_>>().join(" "))
        .collect();
    assert_eq!(
        (answer.status, problems, answer.applied.as_deref()),
        (400, expected, Some("handling=strict"))
    );
    assert_eq!(answer.json["ext:warnings"], Value::Null, "each once");
    assert_eq!(server.get("people").json["total_records"], before, "ERR-04");
    let person = server.made("people", r#"{"given_name":"Ada"}"#);
    let changed = preferring(
        &server,
        "handling=strict",
        &Method::PUT,
        &person,
        &json!({"gvien_name": "A", "gender": 7}),
    );
    assert_eq!(
        changed.problems(),
        ["FIELD_INVALID gender", "PROPERTY_UNKNOWN gvien_name"],
        "ERR-39"
    );
    let fine = preferring(
        &server,
        "handling=strict",
        &Method::PUT,
        &person,
        &json!({"given_name": "A"}),
    );
    assert_eq!(
        (fine.status, fine.applied.as_deref()),
        (200, Some("handling=strict"))
    );
}

/// STR-01: the suite expects strict handling from servers that declare it.
#[test]
fn str_01_strict_handling_is_declared() {
    assert!(server().api.behaviours().contains(&"strict_handling"));
}

#[test]
fn und_22_helpers_tell_and_refuse_it_too() {
    let server = server();
    let petition = server.made("petitions", "{}");
    let helper = server
        .get(&petition)
        .link("svc:record_signature_helper")
        .expect("a helper")
        .to_owned();
    let body = json!({
        "person": {"family_nam": "L", "_links": {"svc:donations": {"href": "x"}}},
        "comment": "c",
        "add_tag": ["a"],
        "triggers": {"autoresponse": {"enable": true}},
    });
    let told = [
        "PROPERTY_UNKNOWN comment comments",
        "PROPERTY_UNKNOWN add_tag add_tags",
        "PROPERTY_UNKNOWN person.family_nam family_name",
        "PROPERTY_READ_ONLY person._links.svc:donations",
    ];
    let answer = server.post(&helper, &body.to_string());
    let warned = warnings(&answer);
    for told in told {
        assert!(
            warned.iter().any(|warned| warned == told),
            "UND-22: {told} in {warned:?}"
        );
    }
    let strict = preferring(&server, "handling=strict", &Method::POST, &helper, &body);
    assert_eq!(strict.status, 400, "UND-22");
    let stranger = server.post_unknown(
        &helper,
        &json!({"person": {"family_name": "L", "given_nam": "A"}}).to_string(),
    );
    assert_eq!(
        (stranger.status, stranger.text.as_str()),
        (200, "{}"),
        "HLP-07: an anonymous caller gets no warnings"
    );
    let headers = HeaderMap::from_iter([(
        http::HeaderName::from_static("prefer"),
        HeaderValue::from_static("handling=strict"),
    )]);
    let stranger = server.send_with(
        &headers,
        Caller::anonymous(),
        &Method::POST,
        &helper,
        r#"{"person":{"family_name":"L","given_nam":"A"}}"#,
    );
    assert_eq!(
        stranger.problems(),
        ["PROPERTY_UNKNOWN person.given_nam"],
        "UND-22: unless the caller asks for errors"
    );
    // Two members that set the same value.
    let person = server.made("people", r#"{"given_name":"Ada"}"#);
    let both = json!({"amount": 1, "_links": {"svc:person": {"href": person}, "person": {"href": person}}});
    let page = server.made("fundraising_pages", "{}");
    let donation = server.post(&format!("{page}/donations"), &both.to_string());
    assert_eq!(
        warnings(&donation),
        ["PROPERTY_OVERRULED _links.person"],
        "UND-22: {}",
        donation.text
    );
}

#[test]
fn und_22_an_identity_that_overrules_the_gender_is_told() {
    let server = server();
    let body = json!({"given_name": "A", "gender": "Male", "gender_identity": "Female"});
    let answer = server.post("people", &body.to_string());
    assert_eq!(
        warnings(&answer),
        ["PROPERTY_OVERRULED gender"],
        "RES-person-08"
    );
    let strict = preferring(
        &server,
        "handling=strict",
        &Method::PUT,
        answer.link("self").unwrap(),
        &body,
    );
    assert_eq!(
        strict.problems(),
        ["PROPERTY_OVERRULED gender"],
        "RES-person-08"
    );
    let agreeing = json!({"given_name": "A", "gender": "Female", "gender_identity": "Female"});
    assert_eq!(
        warnings(&server.post("people", &agreeing.to_string())),
        [""; 0]
    );
    // The stored identity overrules the gender as well.
    let stored = server.made(
        "people",
        r#"{"given_name": "A", "gender_identity": "Female"}"#,
    );
    let told = server.put(&stored, r#"{"gender": "Male"}"#);
    assert_eq!(
        (told.status, warnings(&told)),
        (200, vec!["PROPERTY_OVERRULED gender".to_owned()]),
        "RES-person-08"
    );
    assert_eq!(told.json["gender"], "Female", "RES-person-08");
    let refused = preferring(
        &server,
        "handling=strict",
        &Method::PUT,
        &stored,
        &json!({"gender": "Male"}),
    );
    assert_eq!(
        (refused.status, refused.problems()),
        (400, vec!["PROPERTY_OVERRULED gender".to_owned()]),
        "RES-person-08"
    );
    assert_eq!(
        warnings(&server.put(&stored, r#"{"gender": "Female"}"#)),
        [""; 0]
    );
    let changed = server.put(&stored, r#"{"gender": "Male", "gender_identity": "Male"}"#);
    assert_eq!(
        (changed.json["gender"].clone(), warnings(&changed)),
        (json!("Male"), Vec::new())
    );
}

/// A change may have read-only members with their stored values, in any notation.
#[test]
fn und_22_a_document_can_be_sent_back() {
    let server = server();
    let person = server.made("people", r#"{"given_name": "Ada"}"#);
    let page = server.made("fundraising_pages", "{}");
    let donation = json!({"amount": 1, "_links": {"svc:person": {"href": person}}});
    let donation = server.made(&format!("{page}/donations"), &donation.to_string());
    for own in [&person, &page, &donation] {
        let mut read = server.get(own).json;
        let strict = preferring(&server, "handling=strict", &Method::PUT, own, &read);
        assert_eq!(strict.status, 200, "UND-22: {}", strict.text);
        read = server.get(own).json;
        let changed = server.put(own, &read.to_string());
        assert_eq!((changed.status, warnings(&changed)), (200, Vec::new()));
    }
    // Links without prefix, paths instead of URLs, and dates in another zone.
    let mut read = server.get(&donation).json;
    let date = read["created_date"].as_str().expect("a date");
    let date = date.replace('Z', "+00:00");
    let path = |url: &str| url.replacen("http://localhost", "", 1);
    read["created_date"] = json!(date);
    read["_links"] = json!({"self": {"href": path(&donation)}, "person": {"href": path(&person)}});
    let fine = preferring(&server, "handling=strict", &Method::PUT, &donation, &read);
    assert_eq!(fine.status, 200, "UND-22: {}", fine.text);
    // Other values are named, and change nothing.
    let other = json!({
        "created_date": "2020-01-01T00:00:00Z",
        "modified_date": null,
        "_links": {"self": {"href": page}, "svc:attendance": {"href": page}, "svc:submission": {"href": person}},
    });
    let told = [
        "PROPERTY_READ_ONLY created_date",
        "PROPERTY_READ_ONLY modified_date",
        "PROPERTY_READ_ONLY _links.self",
        "PROPERTY_READ_ONLY _links.svc:attendance",
        "PROPERTY_READ_ONLY _links.svc:submission",
    ];
    let changed = server.put(&donation, &other.to_string());
    assert_eq!((changed.status, warnings(&changed)), (200, owned(&told)));
    let refused = preferring(&server, "handling=strict", &Method::PUT, &donation, &other);
    assert_eq!((refused.status, refused.problems()), (400, owned(&told)));
}

/// A change of a person accepts the envelope that a create accepts.
#[test]
fn und_22_an_envelope_is_accepted() {
    let server = server();
    let person = server.made("people", r#"{"identifiers": ["a:1"]}"#);
    let put = |body: &Value| server.put(&person, &body.to_string());
    let changed = put(&json!({"person": {"given_name": "Ada"}}));
    assert_eq!((changed.status, warnings(&changed)), (200, Vec::new()));
    assert_eq!(changed.json["given_name"], "Ada");
    let read = json!({"person": server.get(&person).json});
    let back = preferring(&server, "handling=strict", &Method::PUT, &person, &read);
    assert_eq!(back.status, 200, "UND-22: {}", back.text);
    let fine = put(&json!({"person": null, "given_name": "Eve"}));
    assert_eq!(
        (fine.json["given_name"].clone(), warnings(&fine)),
        (json!("Eve"), Vec::new())
    );
    server.made("people", r#"{"identifiers": ["b:1"]}"#);
    let wrong = json!({"person": {"gender": 7, "identifiers": ["a:1", "b:1"], "given_nam": "A"}, "given_name": "Ada"});
    let refused = preferring(&server, "handling=strict", &Method::PUT, &person, &wrong);
    assert_eq!(
        (refused.status, refused.problems()),
        (
            400,
            owned(&[
                "FIELD_INVALID person.gender",
                "PROPERTY_UNKNOWN given_name",
                "PROPERTY_UNKNOWN person.given_nam",
                "IDENTIFIER_IN_USE person.identifiers[1]",
            ])
        )
    );
    assert_eq!(
        put(&json!({"person": 7})).problems(),
        ["FIELD_INVALID person"]
    );
    let used = put(&json!({"person": {"identifiers": ["b:1"]}}));
    assert_eq!(used.problems(), ["IDENTIFIER_IN_USE person.identifiers[0]"]);
}

#[test]
fn und_22_an_answer_with_warnings_can_be_sent_back() {
    let server = server();
    let answer = server.post("people", r#"{"given_name": "A", "zz": 1}"#);
    assert_eq!(warnings(&answer), ["PROPERTY_UNKNOWN zz"]);
    let again = server.put(answer.link("self").unwrap(), &answer.text);
    assert_eq!((again.status, warnings(&again)), (200, Vec::new()));
}

#[test]
fn und_22_a_body_of_unknown_names_gets_a_short_answer() {
    let server = server();
    let petition = server.made("petitions", "{}");
    let many: serde_json::Map<String, Value> = (0..400)
        .map(|number| (format!("{number}{}", "x".repeat(2000)), json!(1)))
        .chain([("given_name".to_owned(), json!("A"))])
        .collect();
    let body = json!({ "person": many });
    let helper = format!("{petition}/record_signature_helper");
    let answer = preferring(&server, "handling=strict", &Method::POST, &helper, &body);
    assert_eq!((answer.status, answer.problems().len()), (400, 100));
    assert_eq!(answer.problems()[0], "PROPERTY_UNKNOWN person");
    assert!(answer.text.len() < 20_000, "{}", answer.text.len());
}

/// UND-22: a response names at most 100 members, in however many objects they are.
#[test]
fn und_22_many_objects_are_one_response() {
    let server = server();
    let wrong: serde_json::Map<String, Value> = (0..60)
        .map(|nth| (format!("x{nth}"), Value::Null))
        .collect();
    let addresses = vec![Value::Object(wrong); 5];
    let body = json!({"email_addresses": addresses, "phone_numbers": addresses});
    let answer = preferring(&server, "handling=strict", &Method::POST, "people", &body);
    let unknown = answer.problems();
    let unknown = unknown
        .iter()
        .filter(|it| it.starts_with("PROPERTY_UNKNOWN"));
    assert_eq!((answer.status, unknown.count()), (400, 100));
}
