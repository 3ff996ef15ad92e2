//! Status, body and form of every response (CRU, COL, ERR).

use std::time::Duration;

use http::Method;
use serde_json::{Value, json};
use svc_core::{
    Error, ErrorCode, Problem,
    api::{ApiLimits, ErrorBodies, ResponseStyle},
    auth::Caller,
    link::Target,
    model::Kind,
    read::ContentLimits,
};

use crate::support::server::Server;

fn table() -> Server {
    Server::with(|api| api)
}

fn examples() -> Server {
    Server::with(|api| api.response_style(ResponseStyle::Examples))
}

#[test]
fn cru_13_and_14_the_two_styles() {
    let server = table();
    let made = server.post("people", r#"{"given_name":"A"}"#);
    assert_eq!(
        (made.status, made.location.as_deref()),
        (201, made.link("self")),
        "CRU-13, UND-33"
    );
    assert_eq!(
        made.json["identifiers"],
        json!(["crm:person-1"]),
        "CRU-03, ENT-08"
    );
    assert_eq!(
        made.json["_links"]["curies"][0]["templated"], true,
        "HAL-18"
    );
    assert_eq!(
        server.get(made.link("self").unwrap()).text,
        made.text,
        "CRU-22"
    );
    let gone = server.delete(made.link("self").unwrap());
    assert_eq!((gone.status, gone.text.as_str()), (204, ""), "CRU-14");
    let again = server.delete(made.link("self").unwrap());
    assert_eq!(
        (again.status, again.problems()),
        (404, vec!["RESOURCE_NOT_FOUND ".to_owned()]),
        "ERR-16"
    );

    let server = examples();
    let made = server.post("people", r#"{"given_name":"Ada"}"#);
    assert_eq!(
        (made.status, made.location.as_deref()),
        (200, None),
        "CRU-13"
    );
    let gone = server.delete(made.link("self").unwrap());
    assert_eq!(
        (gone.status, gone.json),
        (200, json!({"notice": "The person was deleted."})),
        "CRU-05"
    );
}

#[test]
fn err_11_a_read_of_nothing_has_no_body_unless_error_bodies_are_everywhere() {
    let server = table();
    for path in [
        "people/none",
        "petitions/none/signatures",
        "petitions/none/signatures/none",
    ] {
        assert_eq!(
            (server.get(path).status, server.get(path).text),
            (404, String::new()),
            "ERR-11 {path}"
        );
        assert_eq!(server.send(&Method::HEAD, path, "").status, 404, "UND-28");
    }
    assert_eq!(
        server.put("people/none", "{}").problems(),
        ["RESOURCE_NOT_FOUND "],
        "UND-23"
    );
    assert_eq!(
        server.post("petitions/none/signatures", "{}").status,
        404,
        "UND-39: checked before the body"
    );
    assert_eq!(
        server.put("people/none", r#"{"gender":"no"}"#).status,
        404,
        "UND-39"
    );
    let bare = server.api.error_response(None, ErrorCode::KeyInvalid, "no");
    assert_eq!((bare.status.as_u16(), bare.body.len()), (401, 0), "AUT-05");
    let server = Server::with(|api| api.error_bodies(ErrorBodies::Everywhere));
    assert_eq!(
        server.get("people/none").problems(),
        ["RESOURCE_NOT_FOUND "],
        "ERR-11"
    );
    assert!(
        !server
            .api
            .error_response(None, ErrorCode::KeyNotAllowed, "no")
            .body
            .is_empty(),
        "AUT-05"
    );
}

#[test]
fn col_19_a_wrong_parent_is_404() {
    let server = table();
    let (one, other) = (
        server.made("petitions", "{}"),
        server.made("petitions", "{}"),
    );
    let person = server.made("people", r#"{"given_name":"Ada"}"#);
    let body = format!(r#"{{"_links":{{"svc:person":{{"href":"{person}"}}}}}}"#);
    let signature = server.made(&format!("{one}/signatures"), &body);
    let elsewhere = signature.replace(&one, &other);
    assert_eq!(server.get(&signature).status, 200, "COL-04");
    for method in [Method::GET, Method::PUT, Method::DELETE] {
        assert_eq!(
            server.send(&method, &elsewhere, "{}").status,
            404,
            "COL-19 {method}"
        );
    }
    assert_eq!(server.get(&signature).status, 200, "COL-19: still there");
    assert_eq!(
        server.get(&format!("{other}/signatures")).json["total_records"],
        0,
        "COL-30"
    );
}

#[test]
fn col_20_to_32_pages() {
    let server =
        Server::with(|api| api.limits(ApiLimits::default().default_page_size(2).max_page_size(3)));
    for number in 0..5 {
        server.made("people", &format!(r#"{{"given_name":"{number}"}}"#));
    }
    let mut seen = Vec::new();
    let mut next = Some("people".to_owned());
    let mut number = 0;
    while let Some(href) = next {
        let page = server.get(&href);
        number += 1;
        let counts = ["total_pages", "per_page", "page", "total_records"]
            .map(|name| page.json[name].as_u64().unwrap());
        assert_eq!(counts, [3, 2, number, 5], "COL-20 to COL-23");
        let members = page.json["_embedded"]["svc:people"].as_array().unwrap();
        let links = page.json["_links"]["svc:people"].as_array().unwrap();
        let own: Vec<&Value> = members
            .iter()
            .map(|member| &member["_links"]["self"])
            .collect();
        assert_eq!(links.iter().collect::<Vec<_>>(), own, "COL-25");
        assert!(
            members
                .iter()
                .all(|member| member["_links"].get("curies").is_none()),
            "HAL-18: top-level only"
        );
        seen.extend(
            members
                .iter()
                .map(|member| member["given_name"].as_str().unwrap().to_owned()),
        );
        assert_eq!(
            server.get(page.link("self").unwrap()).text,
            page.text,
            "COL-27"
        );
        assert_eq!(page.link("prev").is_some(), number > 1, "UND-32");
        assert_eq!(page.link("prev"), page.link("previous"), "UND-32");
        next = page.link("next").map(str::to_owned);
    }
    assert_eq!((seen.concat().as_str(), number), ("01234", 3), "COL-24");
    let beyond = server.get("people?page=9");
    assert_eq!(
        (
            beyond.status,
            beyond.json["_embedded"]["svc:people"]
                .as_array()
                .unwrap()
                .len()
        ),
        (200, 0),
        "UND-19"
    );
    assert!(beyond.link("next").is_none(), "COL-24");
    assert!(
        beyond.link("previous").unwrap().ends_with("people?page=3"),
        "UND-19"
    );
    assert_eq!(
        server.get("people?per_page=100&x=y").json["per_page"],
        3,
        "LIM-01, UND-14"
    );
    assert!(
        !server.get("people?x=y&per_page=1").text.contains("x=y"),
        "COL-24"
    );
    assert_eq!(
        server.get("people?page=0&per_page=a").problems(),
        ["PAGE_INVALID page", "PAGE_INVALID per_page"],
        "UND-14"
    );
    assert_eq!(
        server.get("people?limit=10&x=y&%24top=5&page=a").problems(),
        [
            "PAGE_INVALID page",
            "PARAMETER_UNKNOWN limit",
            "PARAMETER_UNKNOWN $top"
        ],
        "UND-14"
    );
}

#[test]
fn und_27_bodies_that_cannot_be_read() {
    let server = table();
    for (body, expected) in [
        ("", "BODY_MISSING "),
        (" \n", "BODY_MISSING "),
        ("[]", "JSON_INVALID "),
        ("{", "JSON_INVALID "),
        (
            r#"{"given_name":"a","given_name":"b"}"#,
            "DUPLICATE_KEY given_name",
        ),
        ("{\"given_name\":\"\\u0000\"}", "JSON_INVALID given_name"),
        (r#"{"given_name":"\ud800"}"#, "JSON_INVALID given_name"),
    ] {
        let answer = server.post("people", body);
        assert_eq!(
            (answer.status, answer.problems()),
            (400, vec![expected.to_owned()]),
            "UND-27 {body:?}"
        );
    }
    assert_eq!(server.store.writes(), 0, "CRU-21");
    assert!(
        server
            .post("people", &"[".repeat(100))
            .text
            .contains("JSON_INVALID"),
        "UND-17"
    );
}

/// The elements of a list that is too long are not validated. The list is reported together with
/// the other problems.
#[test]
fn und_17_a_record_and_a_call_hold_so_much() {
    let server = table();
    let many = |entry: &str, count: usize| vec![entry; count].join(",");
    let fields = (0..101)
        .map(|number| format!(r#""f{number}":"x""#))
        .collect::<Vec<_>>()
        .join(",");
    for (body, expected) in [
        (
            format!(r#"{{"email_addresses":[{}]}}"#, many("7", 51)),
            "FIELD_INVALID email_addresses",
        ),
        (
            format!(r#"{{"ethnicities":[{}]}}"#, many(r#""a""#, 51)),
            "FIELD_INVALID ethnicities",
        ),
        (
            format!(r#"{{"identifiers":[{}]}}"#, many(r#""a:1""#, 101)),
            "FIELD_INVALID identifiers",
        ),
        (
            format!(r#"{{"custom_fields":{{{fields}}}}}"#),
            "FIELD_INVALID custom_fields",
        ),
        (
            format!(
                r#"{{"given_name":"{}","source":"web"}}"#,
                "x".repeat(65_536)
            ),
            "FIELD_INVALID given_name",
        ),
    ] {
        let answer = server.post("people", &body);
        assert_eq!(
            (answer.status, answer.problems()),
            (400, vec![expected.to_owned()]),
            "UND-17"
        );
    }
    let helper = format!(
        "{}/record_signature_helper",
        server.made("petitions", r#"{"title":"P"}"#)
    );
    let call = |functions: Value| {
        let mut call = json!({"person": {"given_name": "Ada"}});
        call.as_object_mut()
            .unwrap()
            .extend(functions.as_object().unwrap().clone());
        call.to_string()
    };
    let tags = |count: usize| call(json!({"add_tags": vec!["t"; count]}));
    assert_eq!(
        server.post(&helper, &tags(101)).problems(),
        ["FIELD_INVALID add_tags"],
        "UND-17"
    );
    assert_eq!(
        server.post(&helper, &tags(60)).entries().len(),
        62,
        "ERR-31"
    );
    let both = call(json!({"add_tags": vec!["t"; 60], "add_lists": vec!["t"; 60]}));
    assert_eq!(
        server.post(&helper, &both).problems(),
        ["FIELD_INVALID add_tags,add_lists"],
        "UND-17"
    );
    // Limits are lower for an anonymous caller (F4, F6). A body above them is rejected before
    // anything is stored.
    let before = server.store.writes();
    assert_eq!(
        server.post_unknown(&helper, &tags(21)).problems(),
        ["FIELD_INVALID add_tags"],
        "UND-17"
    );
    let numbers = format!(
        r#"{{"person":{{"phone_numbers":[{}]}}}}"#,
        many(r#"{"number":"15550100"}"#, 11)
    );
    assert_eq!(
        server.post_unknown(&helper, &numbers).problems(),
        ["FIELD_INVALID person.phone_numbers"],
        "UND-17"
    );
    assert_eq!(server.store.writes(), before, "UND-17");
}

/// A campaign and an outreach have up to 1 000 targets, within the size of a record.
#[test]
fn und_17_a_thousand_targets() {
    let server = Server::with(|api| api);
    let targets = |list: &str, name: &str, number: usize| {
        let target = format!(r#"{{"given_name":"{name}"}}"#);
        format!(r#"{{"{list}":[{}]}}"#, vec![target; number].join(","))
    };
    let campaign = |name: &str, number| {
        server.post("advocacy_campaigns", &targets("target_list", name, number))
    };
    let all = campaign("A", 1_000);
    assert_eq!(all.status, 201, "UND-17: {}", all.text);
    let refused = ["FIELD_INVALID target_list"];
    assert_eq!(campaign("A", 1_001).problems(), refused, "UND-17");
    assert_eq!(campaign(&"A".repeat(64), 1_000).problems(), refused);
    let helper = all.link("svc:record_outreach_helper").expect("a helper");
    let outreach = |number| targets("targets", "A", number);
    let made = server.post(helper, &outreach(1_000));
    assert_eq!(made.status, 200, "UND-17: {}", made.text);
    assert_eq!(
        server.post(helper, &outreach(1_001)).problems(),
        ["FIELD_INVALID targets"],
        "UND-17"
    );
    let anonymous = server.post_unknown(helper, &outreach(500));
    assert_eq!(anonymous.status, 200, "UND-17: {}", anonymous.text);
}

/// Repeated merges are limited to the same size, also for a caller with a key. A record that was
/// larger before may stay larger (F4).
#[test]
fn und_17_no_record_grows_beyond_its_size() {
    let caps = ContentLimits::default()
        .entries(3)
        .identifiers(3)
        .custom_fields(3)
        .record(2_000);
    let server = Server::with(|api| api.limits(ApiLimits::default().content(caps)));
    let signup =
        |person: &str| server.post("people/person_signup", &format!(r#"{{"person":{person}}}"#));
    let of = |rest: &str| format!(r#"{{"email_addresses":[{{"address":"a@x.org"}}],{rest}}}"#);
    for (list, entry) in [
        ("phone_numbers", r#"{"number":"155501N"}"#),
        ("postal_addresses", r#"{"address_lines":["N Main St"]}"#),
    ] {
        for number in 0..3 {
            let body = of(&format!(
                r#""{list}":[{}]"#,
                entry.replace('N', &number.to_string())
            ));
            assert_eq!(signup(&body).status, 200, "UND-17");
        }
        let body = of(&format!(r#""{list}":[{}]"#, entry.replace('N', "9")));
        assert_eq!(
            signup(&body).problems(),
            [format!("FIELD_INVALID person.{list}")],
            "UND-17"
        );
    }
    let named = |from: usize| {
        (from..from + 3)
            .map(|it| format!(r#""f{it}":"x""#))
            .collect::<Vec<_>>()
            .join(",")
    };
    assert_eq!(
        signup(&of(&format!(r#""custom_fields":{{{}}}"#, named(0)))).status,
        200,
        "UND-17"
    );
    let more = signup(&of(&format!(r#""custom_fields":{{{}}}"#, named(3))));
    assert_eq!(
        more.problems(),
        ["FIELD_INVALID person.custom_fields"],
        "UND-17"
    );
    for (from, expected) in [
        (0, Vec::new()),
        (2, vec!["FIELD_INVALID person.identifiers"]),
    ] {
        let identifiers = (from..from + 3)
            .map(|it| format!(r#""s:{it}""#))
            .collect::<Vec<_>>()
            .join(",");
        assert_eq!(
            signup(&of(&format!(r#""identifiers":[{identifiers}]"#))).problems(),
            expected,
            "UND-17"
        );
    }
    let long = |name: &str| of(&format!(r#""{name}":"{}""#, "x".repeat(900)));
    assert_eq!(signup(&long("given_name")).status, 200, "UND-17");
    assert_eq!(
        signup(&long("family_name")).problems(),
        ["FIELD_INVALID person.family_name"],
        "UND-17"
    );
    assert_eq!(
        signup(&of(r#""given_name":"short""#)).status,
        200,
        "UND-17: a change that makes it smaller is accepted"
    );
}

#[test]
fn res_phone_number_01_the_mark_is_text_whatever_was_sent() {
    let server = table();
    for (sent, shown) in [
        ("true", "true"),
        ("false", "false"),
        (r#""true""#, "true"),
        (r#""false""#, "false"),
    ] {
        let body = format!(r#"{{"phone_numbers":[{{"number":"15550100","primary":{sent}}}]}}"#);
        assert_eq!(
            server.post("people", &body).json["phone_numbers"][0]["primary"],
            shown,
            "RES-phone_number-01 {sent}"
        );
    }
}

#[test]
fn res_person_21_a_birthdate_is_a_day_that_there_is() {
    let server = table();
    let born = |birthdate: Value| {
        server.post(
            "people",
            &json!({"given_name": "A", "birthdate": birthdate}).to_string(),
        )
    };
    for good in [
        json!({"month": 2, "day": 29}),
        json!({"year": 2024, "month": 2, "day": 29}),
        json!({"day": 31}),
        json!({"year": 1990, "day": 31}),
        json!({"year": 1990, "month": 12, "day": 31}),
    ] {
        assert_eq!(born(good.clone()).status, 201, "RES-person-21 {good}");
    }
    for bad in [
        json!({"month": 2, "day": 31}),
        json!({"month": 2, "day": 30}),
        json!({"year": 2023, "month": 2, "day": 29}),
        json!({"month": 4, "day": 31}),
    ] {
        assert_eq!(
            born(bad.clone()).problems(),
            ["FIELD_INVALID birthdate.day"],
            "RES-person-21 {bad}"
        );
    }
    let person = server.made("people", r#"{"given_name":"A","birthdate":{"month":2}}"#);
    let day = server.put(&person, r#"{"birthdate":{"day":31}}"#);
    assert_eq!(
        day.problems(),
        ["FIELD_INVALID birthdate.day"],
        "RES-person-21: the merged date is validated"
    );
}

#[test]
fn err_39_an_answer_lists_a_thousand_problems_at_most() {
    let caps = ContentLimits::default().entries(100_000);
    let server = Server::with(|api| api.limits(ApiLimits::default().content(caps)));
    let many = "7,".repeat(30_000);
    let body =
        format!(r#"{{"email_addresses":[{many}7],"phone_numbers":[{many}7],"gender":"no"}}"#);
    let answer = server.post("people", &body);
    assert_eq!(
        (answer.status, answer.problems().len()),
        (400, 1000),
        "ERR-39: the response stays small"
    );
}

#[test]
fn err_39_the_example_of_the_row() {
    let server = table();
    let body = r#"{"question_type":"Paragraph","responses":[{"key":"a","name":"ok"},{"key":"b","name":"not ok"}]}"#;
    let expected = [
        "RESPONSE_NAME_INVALID responses[1].name",
        "PARAGRAPH_CANNOT_HAVE_RESPONSES question_type,responses",
    ];
    assert_eq!(
        server.post("questions", body).problems(),
        expected,
        "ERR-39, ERR-35, ERR-36"
    );
    let question = server.made("questions", r#"{"question_type":"Paragraph"}"#);
    let body = r#"{"responses":[{"key":"b","name":"not ok"}]}"#;
    let expected = [
        "RESPONSE_NAME_INVALID responses[0].name",
        "PARAGRAPH_CANNOT_HAVE_RESPONSES question_type,responses",
    ];
    assert_eq!(
        server.put(&question, body).problems(),
        expected,
        "ERR-35: also validated against the stored type"
    );
    assert_eq!(
        server
            .put(&question, r#"{"question_type":null}"#)
            .problems(),
        ["FIELD_REQUIRED question_type"],
        "CRU-17"
    );
    let body = r#"{"question_type":"MultiChoice","responses":[{"key":"a"},{"key":"a"}]}"#;
    assert_eq!(
        server.post("questions", body).problems(),
        ["RESPONSE_KEY_NOT_UNIQUE responses[1].key"],
        "ERR-40"
    );
}

#[test]
fn cru_16_null_on_create_means_absent() {
    let server = table();
    let made = server.post(
        "events",
        r#"{"transparence":null,"title":null,"location":{"venue":null}}"#,
    );
    assert_eq!(made.json["transparence"], "opaque", "CRU-16: the default");
    assert_eq!(
        (made.json.get("title"), &made.json["location"]),
        (None, &json!({})),
        "CRU-16"
    );
}

#[test]
fn und_24_identifiers_are_named_by_their_place_in_the_body() {
    let server = table();
    let first = server.made("people", r#"{"identifiers":["a:1","b:1"]}"#);
    let second = server.made("people", r#"{"identifiers":["c:1"]}"#);
    let own = "crm:person-2";
    for (body, place) in [
        (r#"{"identifiers":["x:1","a:1"]}"#, "identifiers[1]"),
        (
            r#"{"identifiers":["x:1","x:1","x:1","a:1"]}"#,
            "identifiers[3]",
        ),
    ] {
        assert_eq!(
            server.post("people", body).problems(),
            [format!("IDENTIFIER_IN_USE {place}")],
            "UND-24 {body}"
        );
    }
    let body = format!(r#"{{"identifiers":["{own}","c:1","b:1"]}}"#);
    let refused = server.put(&second, &body);
    assert_eq!(
        refused.problems(),
        ["IDENTIFIER_IN_USE identifiers[2]"],
        "UND-24"
    );
    assert!(
        refused.text.contains("`identifiers[2]` is the identifier"),
        "ERR-25: {}",
        refused.text
    );
    let body = r#"{"identifiers":["c:1","crm:person-1"]}"#;
    assert_eq!(
        server.put(&second, body).problems(),
        ["IDENTIFIER_IN_USE identifiers[1]"],
        "UND-24"
    );
    let body = r#"{"identifiers":["d:1","no colon","crm:other"]}"#;
    let expected = [
        "FIELD_INVALID identifiers[1]",
        "IDENTIFIER_IN_USE identifiers[2]",
    ];
    assert_eq!(server.post("people", body).problems(), expected, "ERR-39");
    let helper = "people/person_signup";
    let body =
        r#"{"person":{"identifiers":["x:1"],"email_addresses":[{"address":"a@example.org"}]}}"#;
    assert_eq!(server.post(helper, body).status, 200, "HLP-19");
    let kept = server.put(
        &second,
        &format!(r#"{{"identifiers":["d:1","{own}","d:1"]}}"#),
    );
    assert_eq!(
        kept.json["identifiers"],
        json!([own, "d:1"]),
        "UND-25, TYP-14"
    );
    assert_eq!(
        server.put(&first, r#"{"identifiers":null}"#).json["identifiers"],
        json!(["crm:person-1"]),
        "UND-25"
    );
}

#[test]
fn err_05_and_und_36_failures_of_a_backend() {
    let server = table();
    let target = Target::Collection {
        kind: Kind::Tag,
        scope: svc_core::link::Scope::All,
    };
    let reply = server
        .api
        .backend_error_response(Some(&target), Error::unexpected("/var/secret and SELECT"));
    let text = String::from_utf8(reply.body.to_vec()).unwrap();
    let json: Value = serde_json::from_str(&text).unwrap();
    let entry = &json["svc:error"]["resource_status"][0];
    assert_eq!(
        (reply.status.as_u16(), &entry["resource"]),
        (500, &json!("svc:tag")),
        "ERR-05, ERR-21"
    );
    assert_eq!(
        entry["error_descriptions"][0]["error_code"], "UNEXPECTED_ERROR",
        "ERR-05"
    );
    assert_eq!(
        entry["error_descriptions"][0]["reference_code"].as_str(),
        reply.reference_code.as_deref(),
        "ERR-28"
    );
    assert!(
        !text.contains("secret") && !text.contains("SELECT"),
        "ERR-05: nothing leaks"
    );
    let reply = server
        .api
        .backend_error_response(None, Error::unavailable(Duration::from_millis(6001)));
    assert_eq!(
        (reply.status.as_u16(), reply.header("retry-after")),
        (503, Some("7")),
        "UND-36: rounded up"
    );
    let reply = server
        .api
        .backend_error_response(None, Error::invalid_all(Vec::new()));
    assert_eq!(
        reply.status.as_u16(),
        500,
        "ERR-12: a rejection without a reason is an error of the backend"
    );
    assert_eq!(
        server.api.panic_response(None).status.as_u16(),
        500,
        "ERR-05"
    );
}

#[test]
fn err_21_an_error_names_what_was_addressed() {
    let server = table();
    let resource = |answer: &crate::support::server::Answered| answer.entries()[0].0.clone();
    assert_eq!(resource(&server.post("tags", "")), "svc:tag", "ERR-21");
    let petition = server.made("petitions", "{}");
    let helper = server.post(
        &format!("{petition}/record_signature_helper"),
        r#"{"comments":7}"#,
    );
    assert_eq!(
        resource(&helper),
        "svc:signature",
        "ERR-21: for a helper, the kind that it creates"
    );
    let reply = server
        .api
        .error_response(None, ErrorCode::ResourceNotFound, "nothing here");
    assert!(
        String::from_utf8_lossy(&reply.body).contains(r#""resource":"svc:error""#),
        "ERR-21"
    );
}

#[test]
fn ent_01_the_entry_point_is_public_and_so_is_what_it_says_about_itself() {
    let server = table();
    let entry = server.send_as(Caller::anonymous(), &Method::GET, "", "");
    assert_eq!(
        (entry.status, &entry.json["namespace"]),
        (200, &json!("crm")),
        "ENT-01, ENT-07"
    );
    assert_eq!(entry.json["svc_version"], "1.2.0", "ENT-06, VER-01");
    assert_eq!(
        (
            &entry.json["_links"]["docs"]["name"],
            &entry.json["_links"]["docs"]["index"]
        ),
        (&json!("Docs"), &json!("index")),
        "ENT-23"
    );
    assert_eq!(
        server.get(entry.link("self").unwrap()).text,
        entry.text,
        "ENT-09"
    );
    let document = server.send_as(
        Caller::anonymous(),
        &Method::GET,
        entry.link("service-meta").unwrap(),
        "",
    );
    assert_eq!(document.json["declaration_version"], 1, "UND-40");
    assert!(
        document.json["person_matching"]
            .as_str()
            .is_some_and(|text| text.contains("oldest")),
        "HLP-05"
    );
}

#[test]
fn a_backends_hint_reaches_the_client() {
    let server = table();
    server.store.refuse(
        Kind::Tag,
        Problem::new(ErrorCode::NameInUse, "name", "In use.").with_hint("another"),
    );
    let answer = server.post("tags", r#"{"name":"a"}"#);
    assert_eq!(
        (answer.status, answer.problems()),
        (400, vec!["NAME_IN_USE name".to_owned()]),
        "ERR-14"
    );
    assert!(answer.text.contains(r#""hint":"another""#), "ERR-27");
    assert_eq!(server.store.count(Kind::Tag), 0, "CRU-21");
}

/// A program that sends e-mail would take a line break in an address for another header.
#[test]
fn res_email_address_01_no_control_characters() {
    let server = table();
    for bad in [
        r"x\r\nBcc: all@example.org",
        r"a\u0001@example.org",
        r"a@exam\tple.org",
        r"a@example.org\u007f",
    ] {
        let made = server.post(
            "people",
            &format!(r#"{{"email_addresses":[{{"address":"{bad}"}}]}}"#),
        );
        assert_eq!(
            made.problems(),
            ["FIELD_INVALID email_addresses[0].address"],
            "{bad}"
        );
    }
    let made = server.post(
        "people",
        r#"{"email_addresses":[{"address":" ünïcode@exämple.org "}]}"#,
    );
    assert_eq!(made.status, 201, "{}", made.text);
}
