//! Links in bodies, and the names of the dialect in both directions.
//!
//! Requirements: CRU-02, HAL-09 to HAL-11.

use serde_json::json;
use svc_core::{
    Problem,
    link::{Dialect, ShareNames},
    model::Kind,
};

use crate::support::{
    server::{Answered, Server},
    typed_backend::{Memory, PatchLinks},
};

fn with_person(href: &str) -> String {
    format!(
        r#"{{"_links":{{"svc:person":{{"href":{}}}}}}}"#,
        serde_json::Value::from(href)
    )
}

#[test]
fn cru_02_only_a_persons_own_address_is_a_link_to_it() {
    let server = Server::with(|api| api);
    let (petition, person) = (
        server.made("petitions", "{}"),
        server.made("people", r#"{"given_name":"Ada"}"#),
    );
    let signatures = format!("{petition}/signatures");
    for good in [
        person.clone(),
        person.replace("https://crm.example.org", ""),
        format!("{person}/"),
    ] {
        let made = server.post(&signatures, &with_person(&good));
        assert_eq!(
            (made.status, made.link("svc:person")),
            (201, Some(person.as_str())),
            "CRU-02 {good}"
        );
    }
    assert_eq!(
        server.get(&format!("{person}/signatures")).json["total_records"],
        3,
        "CRU-02, COL-14"
    );
    let writes = server.store.writes();
    for bad in [
        "",
        "/",
        "//",
        "people/person-1",
        "https://other.example.org/api/v1/people/person-1",
        "http://crm.example.org/api/v1/people/person-1",
        "https://crm.example.org:444/api/v1/people/person-1",
        "https://crm.example.org@evil.example/api/v1/people/person-1",
        "https://crm.example.org/api/v2/people/person-1",
        "//evil.example/api/v1/people/person-1",
        "https://crm.example.org/api/v1/../v1/people/person-1",
        "https://crm.example.org/api/v1/people/person-1?x=1",
        "https://crm.example.org/api/v1/people/person-1#x",
        "https://crm.example.org/api/v1/people/person%2D1",
        "https://crm.example.org/api/v1/people/none",
        "https://crm.example.org/api/v1/people",
        "https://crm.example.org/api/v1/people/person_signup",
        "javascript:alert(1)",
        petition.as_str(),
    ] {
        let answer = server.post(&signatures, &with_person(bad));
        assert_eq!(
            answer.problems(),
            ["PERSON_NOT_FOUND _links.svc:person"],
            "CRU-02 {bad}"
        );
    }
    for body in [
        "{}",
        r#"{"_links":{}}"#,
        r#"{"_links":7}"#,
        r#"{"_links":{"svc:person":null}}"#,
    ] {
        assert_eq!(
            server.post(&signatures, body).problems(),
            ["PERSON_NOT_FOUND _links.svc:person"],
            "CRU-02 {body}"
        );
    }
    // A link is an object with `href`; a URL alone is not a link (HAL-13).
    let person = server.made("people", r#"{"given_name":"Ada"}"#);
    let writes = writes + 1;
    for link in [
        json!([]),
        json!(7),
        json!({}),
        json!({"href": 7}),
        json!(person),
    ] {
        let body = json!({"_links": {"svc:person": link}}).to_string();
        assert_eq!(
            server.post(&signatures, &body).problems(),
            ["FIELD_INVALID _links.svc:person"],
            "HAL-13 {body}"
        );
    }
    assert_eq!(server.store.writes(), writes, "CRU-21");
}

#[test]
fn cru_16_links_of_an_update_are_ignored_except_those_that_change() {
    let server = Server::with(|api| api);
    let (person, other) = (
        server.made("people", r#"{"given_name":"Ada"}"#),
        server.made("people", r#"{"given_name":"Ada"}"#),
    );
    let links =
        |name: &str, href: &str| format!(r#"{{"_links":{{"svc:{name}":{{"href":"{href}"}}}}}}"#);
    let event = server.made("events", &links("creator", &person));
    assert_eq!(
        server.get(&event).link("svc:creator"),
        Some(person.as_str()),
        "RES-event-54"
    );
    assert_eq!(
        server
            .put(&event, &links("creator", &other))
            .link("svc:creator"),
        Some(person.as_str()),
        "CRU-16"
    );
    assert_eq!(
        server
            .put(&event, &links("organizer", &other))
            .link("svc:organizer"),
        Some(other.as_str()),
        "CRU-16"
    );
    let cleared = server.put(&event, r#"{"_links":{"svc:organizer":null}}"#);
    assert_eq!(
        (cleared.status, cleared.link("svc:organizer")),
        (200, None),
        "CRU-16"
    );
    let refused = server.put(&event, &links("organizer", &event));
    assert_eq!(
        refused.problems(),
        ["PERSON_NOT_FOUND _links.svc:organizer"],
        "CRU-02"
    );
}

/// CRU-16: an update of a vendor gets the links that change. If it ignores them, the response warns.
#[test]
fn cru_16_an_operation_that_ignores_links_is_reported() {
    let server = Server::with(|api| api);
    let person = || server.made("people", r#"{"given_name":"Ada"}"#);
    let (petition, ada, eve) = (server.made("petitions", "{}"), person(), person());
    let signature = server.post(&format!("{petition}/signatures"), &with_person(&ada));
    let signature = signature.link("self").unwrap().to_owned();
    let warnings = |answer: &Answered| -> Vec<String> {
        let all = answer.json["ext:warnings"].as_array();
        let text = |one: &serde_json::Value| format!("{} {}", one["error_code"], one["properties"]);
        all.into_iter().flatten().map(text).collect()
    };
    let read_only = [r#""PROPERTY_READ_ONLY" ["_links.svc:person"]"#.to_owned()];
    for (links, target, warned) in [
        (PatchLinks::Ignore, Some(&ada), read_only.as_slice()),
        (PatchLinks::Omit, None, &[]),
        (PatchLinks::Change, Some(&eve), &[]),
        (PatchLinks::Ignore, Some(&eve), &[]),
    ] {
        server.store.patch_links(links);
        let moved = server.put(&signature, &with_person(&eve));
        assert_eq!(
            (moved.status, moved.link("svc:person"), warnings(&moved)),
            (200, target.map(String::as_str), warned.to_vec()),
            "UND-22: {links:?}"
        );
    }
    server.store.patch_links(PatchLinks::Ignore);
    let event = server.made("events", "{}");
    let body = with_person(&ada).replace("svc:person", "svc:organizer");
    let answer = server.put(&event, &body);
    assert_eq!((answer.status, warnings(&answer)), (200, vec![]), "UND-22");
}

/// UND-22: a document with a link to a record of another server can be sent back. An update that
/// cannot change this link reports it.
#[test]
fn und_22_a_link_to_another_server_can_be_sent_back() {
    let server = Server::with(|api| api);
    let person = || server.made("people", r#"{"given_name":"Ada"}"#);
    let (petition, ada, eve) = (server.made("petitions", "{}"), person(), person());
    let signature = server.post(&format!("{petition}/signatures"), &with_person(&ada));
    let signature = signature.link("self").unwrap().to_owned();
    server
        .store
        .link_people_to("https://other.example/people/1");
    let document = server.get(&signature).text;
    assert!(
        document.contains("https://other.example/people/1"),
        "{document}"
    );
    let sent = server.put(&signature, &document);
    assert_eq!(sent.status, 200, "{}", sent.text);
    let sent = server.put(&signature, &document.replace("people/1", "people/2"));
    assert_eq!(sent.status, 400, "{}", sent.text);
    let moved = server.put(&signature, &with_person(&eve));
    assert_eq!(moved.status, 200, "{}", moved.text);
    assert_eq!(
        moved.json["ext:warnings"][0]["properties"][0],
        "_links.svc:person"
    );
}

#[test]
fn res_donation_22_a_donations_links_in_either_place() {
    let server = Server::with(|api| api);
    let (page, event) = (
        server.made("fundraising_pages", "{}"),
        server.made("events", "{}"),
    );
    let attendance = server
        .post(&format!("{event}/record_attendance_helper"), "{}")
        .link("self")
        .unwrap()
        .to_owned();
    let helper = format!("{page}/record_donation_helper");
    let link = format!(r#"{{"href":"{attendance}"}}"#);
    for body in [
        format!(r#"{{"_links":{{"svc:attendance":{link}}}}}"#),
        format!(r#"{{"svc:attendance":{link}}}"#),
        format!(r#"{{"attendance":{link}}}"#),
        format!(r#"{{"attendance":"{attendance}"}}"#),
    ] {
        let made = server.post(&helper, &body);
        assert_eq!(
            made.link("svc:attendance"),
            Some(attendance.as_str()),
            "RES-donation-22 {body} {}",
            made.text
        );
    }
    for (body, property) in [
        (
            r#"{"_links":{"svc:attendance":{"href":"x"}}}"#,
            "_links.svc:attendance",
        ),
        (r#"{"svc:attendance":{"href":"x"}}"#, "svc:attendance"),
        (r#"{"attendance":{"href":"x"}}"#, "attendance"),
    ] {
        assert_eq!(
            server.post(&helper, body).problems(),
            [format!("LINK_NOT_FOUND {property}")],
            "RES-donation-22"
        );
    }
}

#[test]
fn und_29_a_helper_links_its_inline_person_and_no_other() {
    let server = Server::with(|api| api);
    let (petition, person) = (
        server.made("petitions", "{}"),
        server.made("people", r#"{"given_name":"Ada"}"#),
    );
    let helper = format!("{petition}/record_signature_helper");
    let made = server.post(&helper, &with_person(&person));
    assert_eq!(
        (made.status, made.link("svc:person")),
        (200, None),
        "UND-29"
    );
    // Otherwise an anonymous caller could learn who is known (HLP-07).
    assert_eq!(
        server
            .post_unknown(
                &helper,
                &with_person("https://crm.example.org/api/v1/people/none")
            )
            .text,
        "{}",
        "HLP-07"
    );
    let both = format!(
        r#"{{"person":{{"given_name":"New"}},"_links":{{"svc:person":{{"href":"{person}"}}}}}}"#
    );
    let made = server.post(&helper, &both);
    let linked = made.link("svc:person").unwrap().to_owned();
    assert_eq!(
        (
            linked != person,
            server.get(&linked).json["given_name"].as_str()
        ),
        (true, Some("New")),
        "HLP-03"
    );
}

#[test]
fn und_31_an_inline_person_beside_a_link_is_refused() {
    let server = Server::with(|api| api);
    let (petition, person) = (
        server.made("petitions", "{}"),
        server.made("people", r#"{"given_name":"Ada"}"#),
    );
    let signatures = format!("{petition}/signatures");
    let made = server.post(
        &signatures,
        r#"{"comments":"c","person":{"given_name":"A"}}"#,
    );
    assert_eq!(
        (made.status, made.location.as_deref()),
        (201, made.link("self")),
        "UND-31"
    );
    assert_eq!(
        server.get(made.link("svc:person").unwrap()).json["given_name"],
        "A",
        "UND-31"
    );
    for name in ["svc:person", "person"] {
        let body = format!(
            r#"{{"person":{{"given_name":"A"}},"_links":{{"{name}":{{"href":"{person}"}}}}}}"#
        );
        assert_eq!(
            server.post(&signatures, &body).problems(),
            ["FIELD_INVALID person,_links.svc:person"],
            "UND-31 {name}"
        );
    }
}

#[test]
fn hal_09_to_11_another_prefix_and_other_share_names() {
    let names = ShareNames::new("birdsite_share", "facesite_share").unwrap();
    let dialect = Dialect::with_prefix("abc")
        .unwrap()
        .with_share_names(names.clone());
    assert_eq!(
        (dialect.key_header().as_str(), dialect.key_header_text()),
        ("abc-api-token", "ABC-API-Token".to_owned()),
        "HAL-10"
    );
    for store in [Memory::default(), Memory::stored(names)] {
        let server = Server::over(store, |api| api.dialect(dialect.clone()));
        let body = r#"{"share_options":[{"birdsite_share":{"title":"T"},"facesite_share":{"message":"M"},
            "network_a_share":{"title":"ignored"},"email_share":{"subject":"S"}}]}"#;
        let made = server.post("petitions", body);
        let option = &made.json["share_options"][0];
        assert_eq!(
            (
                &option["birdsite_share"]["title"],
                &option["facesite_share"]["message"]
            ),
            (&"T".into(), &"M".into()),
            "HAL-11"
        );
        assert!(!made.text.contains("svc"), "HAL-09: {}", made.text);
        let warned = &made.json["ext:warnings"][0]["properties"][0];
        assert_eq!(warned, "share_options[0].network_a_share", "HAL-11, UND-22");
        assert!(option["network_a_share"].is_null(), "HAL-11: {option}");
        assert!(made.link("abc:signatures").is_some(), "HAL-09");
        let wrong = server.post(
            "petitions",
            r#"{"share_options":[{"birdsite_share":{"title":7}}]}"#,
        );
        assert_eq!(
            wrong.problems(),
            ["FIELD_INVALID share_options[0].birdsite_share.title"],
            "ERR-26"
        );
        assert_eq!(wrong.entries()[0].0, "abc:petition", "ERR-21");
        let entry = server.get("");
        assert!(
            entry.json["abc_version"].is_string() && !entry.text.contains("svc"),
            "ENT-06, HAL-09: {}",
            entry.text
        );
        let document = server.get("docs/capabilities").text;
        assert!(!document.contains("svc"), "HAL-09: {document}");
    }
}

#[test]
fn hal_09_a_backend_names_links_without_knowing_the_prefix() {
    let server = Server::with(|api| api.dialect(Dialect::with_prefix("abc").unwrap()));
    server.store.refuse(
        Kind::Tag,
        Problem::new(
            svc_core::ErrorCode::LinkNotFound,
            "_links.creator",
            "It leads nowhere.",
        ),
    );
    assert_eq!(
        server.post("tags", r#"{"name": "t"}"#).problems(),
        ["LINK_NOT_FOUND _links.abc:creator"],
        "ERR-26"
    );
}
