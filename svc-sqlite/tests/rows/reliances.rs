//! What programs in use rely on, beyond the rows: HTTP manners, forms of links and bodies, the order of checks.

use http::Method;
use serde_json::json;
use svc_conformance::row;

use crate::client::{Client, embedded, href, link, own, segments};
use crate::family::{Case, Family};
use crate::fixture::{Fixture, Setup};
use crate::kinds::{KINDS, least, make, unique};
use crate::world::World;

const CASES: &[Case] = &[
    ("identifiers and addresses", identity),
    ("forms of links", link_forms),
    ("full members", full_members),
    ("paging", paging),
    ("locations", locations),
    ("trailing slashes", trailing_slashes),
    ("documents put back", put_back),
    ("headers and parameters that mean nothing", ignored),
    ("payload in the wrong place", misplaced),
    ("HEAD, OPTIONS, PATCH", methods),
    ("any Accept", accept),
    ("ambiguous requests", ambiguous),
    ("the order of checks", order),
    ("error bodies everywhere", error_bodies),
    ("browsers", browsers),
];

pub(crate) static FAMILY: Family = Family::new("reliances", CASES);

fn identity(f: &Fixture) {
    let world = World::new(&f.api);
    for record in world.records.values() {
        let address = own(record);
        let first = record["identifiers"][0].as_str().unwrap_or_default();
        let (namespace, id) = first.split_once(':').expect("an identifier");
        assert_eq!(namespace, f.api.entry()["namespace"]);
        assert_eq!(segments(&address).first(), Some(&id), "{record}");
        assert!(!id.contains(':') && address.ends_with(id), "no slash and no query at the end: {address}");
    }
}

fn link_forms(f: &Fixture) {
    let api = &f.api;
    let world = World::new(api);
    for (one, record) in &world.records {
        for (rel, link) in record["_links"].as_object().into_iter().flatten() {
            assert_eq!(link.is_array(), rel == "curies", "{rel} of the {one}: {link}");
            let hrefs = if rel == "curies" { &link[0]["href"] } else { &link["href"] };
            assert!(hrefs.as_str().is_some_and(|href| href.starts_with("http://api.example.org/api/v1/")), "{hrefs}");
        }
        assert_eq!(record["_links"]["curies"][0]["templated"], true, "curies on every top-level document");
    }
    let tag = world.get("tag");
    let page = api.get(&api.href(tag, "taggings")).ok();
    assert!(
        page["_links"]["svc:taggings"].is_array() && page["_links"]["curies"].is_array(),
        "also with one member: {page}"
    );
}

/// Clients keep an embedded member under its `self`: it is the whole record.
fn full_members(f: &Fixture) {
    let api = &f.api;
    let world = World::new(api);
    for kind in KINDS.iter().filter(|kind| kind.under.is_none() && kind.one != "query") {
        let reply = api.get(&api.collection(kind.many));
        let text = reply.text();
        let place = text.find("\"_embedded\":{").and_then(|at| text.get(at + 13..)).unwrap_or_default();
        assert!(place.starts_with(&format!("\"svc:{}\":[", kind.many)), "the member array comes first: {reply}");
        for member in embedded(&reply.json) {
            assert_eq!(crate::client::stripped(&api.reread(member)), *member);
            assert!(member["_links"].get("curies").is_none(), "curies stand on the document only");
        }
    }
    assert!(world.records.len() > 15);
}

fn paging(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    for _ in 0..5 {
        api.create("lists", &json!({"name": unique("list")}));
    }
    let lists = api.collection("lists");
    let past = api.get(&format!("{lists}?page=9&per_page=2"));
    row!(ledger, "UND-19", past.status == 200 && embedded(&past.json).is_empty(), "{past}");
    let back = link(&past.json, "previous").map(|href| api.get(href).ok());
    row!(ledger, "UND-19", back.is_some_and(|page| page["page"] == 3), "`previous` leads to the last page: {past}");
    let middle = api.get(&format!("{lists}?page=2&per_page=2")).ok();
    let same = link(&middle, "previous").is_some() && link(&middle, "previous") == link(&middle, "prev");
    row!(ledger, "UND-32", same && link(&middle, "next").is_some(), "{middle}");
    let first = api.get(&href(&middle, "prev")).ok();
    row!(ledger, "UND-32", first["page"] == 1 && link(&first, "prev").is_none(), "{first}");
    let order = crate::client::addresses(&api.members(&lists));
    let walked = crate::client::addresses(&api.members(&format!("{lists}?per_page=2&background_request=true")));
    row!(ledger, "UND-20", order == walked, "{order:?} {walked:?}");
}

fn locations(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    for kind in KINDS.iter().filter(|kind| kind.under.is_none() && kind.one != "query") {
        let reply = api.post(&api.collection(kind.many), &least(kind.one));
        let location = reply.header("location").map(ToOwned::to_owned);
        row!(ledger, "UND-33", location == Some(own(&reply.json)), "{reply}");
    }
    let tag = api.create("tags", &least("tag"));
    let person = api.create("people", &json!({}));
    let body = api.linked(&json!({}), "person", &own(&person));
    let first = api.post(&api.href(&tag, "taggings"), &body);
    let again = api.post(&api.href(&tag, "taggings"), &body);
    row!(
        ledger,
        "UND-38",
        first.status == 201 && again.status == 200 && own(&first.json) == own(&again.json),
        "{again}"
    );
}

fn trailing_slashes(f: &Fixture) {
    let api = &f.api;
    let world = World::new(api);
    for record in world.records.values() {
        let plain = api.get(&own(record)).ok();
        let slashed = api.get(&format!("{}/", own(record)));
        assert_eq!(slashed.status, 200, "{slashed}");
        assert_eq!(slashed.json, plain);
    }
    for kind in KINDS.iter().filter(|kind| kind.under.is_none()) {
        let address = api.collection(kind.many);
        assert_eq!(api.get(&format!("{address}/")).ok()["_embedded"], api.get(&address).ok()["_embedded"]);
    }
    assert!(matches!(api.post(&format!("{}/", api.collection("people")), &json!({})).status, 201));
}

/// A whole document may be put back, with the response's headers and another label.
fn put_back(f: &Fixture) {
    let api = &f.api;
    let person =
        make(f, api, "person", &json!({"given_name": "Ada", "email_addresses": [{"address": "ada@example.org"}]}));
    for label in ["application/hal+json", "application/json; charset=utf-8", "application/json;charset=UTF-8"] {
        let read = api.get(&own(&person));
        let mut headers = vec![("content-type", label)];
        headers.extend([
            ("cache-control", "max-age=0, private, must-revalidate"),
            ("date", "Mon, 05 Jan 2026 09:00:00 GMT"),
            ("server", "x"),
        ]);
        let mut body = read.json.clone();
        body["given_name"] = json!(label);
        let put = api.send(Method::PUT, &own(&person), &headers, Some(body.to_string().into()));
        assert_eq!((put.status, &put.json["given_name"]), (200, &json!(label)), "{put}");
        assert_eq!(put.json["identifiers"], person["identifiers"]);
    }
    let upsert = api.put(&own(&person), &json!({"custom_fields": {"a": "b"}})).ok();
    let again = api.put(&own(&person), &json!({"custom_fields": {}})).ok();
    assert_eq!(upsert["custom_fields"], again["custom_fields"], "an empty object wipes nothing");
}

fn ignored(f: &Fixture) {
    let api = &f.api;
    let headers =
        [("authorization", "Bearer x"), ("x-unknown", "1"), ("if-none-match", "\"x\""), ("range", "bytes=0-1")];
    let reply =
        api.send(Method::GET, &format!("{}?background_request=true&x=%20", api.collection("people")), &headers, None);
    assert_eq!(reply.status, 200, "{reply}");
    let strange = [("content-type", "application/json"), ("authorization", "Basic eDp5")];
    let made = api.send(
        Method::POST,
        &format!("{}?background_request=true", api.collection("people")),
        &strange,
        Some("{}".into()),
    );
    assert_eq!(made.status, 201, "{made}");
}

fn misplaced(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    let people = api.collection("people");
    let before = api.total(&people);
    let query = api.send(Method::POST, &format!("{people}?given_name=Ada"), &[], None);
    row!(ledger, "UND-27", query.status == 400 && query.text().contains("JSON body"), "{query}");
    let form = api.post_text(&people, "given_name=Ada&family_name=Lovelace");
    let tells = |problem: &crate::client::Problem| {
        format!("{} {:?}", problem.description, problem.hint).to_lowercase().contains("form")
    };
    let named = form.problems().iter().any(tells);
    row!(ledger, "UND-27", form.status == 400 && named, "{form}");
    row!(ledger, "CRU-21", api.total(&people) == before);
}

fn methods(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    let person = api.create("people", &json!({"given_name": "Ada"}));
    for address in [own(&person), api.collection("people"), api.base.clone()] {
        let get = api.get(&address);
        let head = api.send(Method::HEAD, &address, &[], None);
        row!(ledger, "UND-28", head.status == 200 && head.body.is_empty(), "{head}");
        row!(ledger, "UND-28", head.header("content-type") == get.header("content-type"), "{head}");
        let options = api.anonymous().send(Method::OPTIONS, &address, &[], None);
        let allow = options.header("allow").unwrap_or_default();
        row!(
            ledger,
            "UND-28",
            options.status == 204 && allow.contains("GET") && allow.contains("HEAD"),
            "{options} {allow}"
        );
    }
    let allow =
        |address: &str| api.send(Method::OPTIONS, address, &[], None).header("allow").unwrap_or_default().to_owned();
    row!(ledger, "UND-28", allow(&own(&person)).contains("DELETE") && !allow(&own(&person)).contains("POST"));
    row!(
        ledger,
        "UND-28",
        allow(&api.collection("queries")).contains("GET") && !allow(&api.collection("queries")).contains("POST")
    );
    let patch = api.send(Method::PATCH, &own(&person), &[("content-type", "application/json")], Some("{}".into()));
    row!(ledger, "ERR-07", patch.status == 500 && patch.says("NOT_IMPLEMENTED"), "{patch}");
    let other = f.with(&Setup { patch: svc_core::api::PatchMethod::AsPut, ..Setup::default() });
    let person = other.api.create("people", &json!({"given_name": "Ada", "source": "x"}));
    let body = json!({"given_name": "Grace"}).to_string();
    let patch =
        other.api.send(Method::PATCH, &own(&person), &[("content-type", "application/json")], Some(body.into()));
    row!(
        ledger,
        "ERR-15",
        patch.status == 200 && patch.json["given_name"] == "Grace" && patch.json["source"] == "x",
        "{patch}"
    );
}

fn accept(f: &Fixture) {
    let api = &f.api;
    for list in ["text/html", "application/xml;q=0.9, */*;q=0.1", "nonsense", "", "application/json, text/plain, */*"] {
        let reply = api.send(
            Method::GET,
            &api.collection("people"),
            &[("accept", list), ("accept-encoding", "br, gzip")],
            None,
        );
        row!(f.ledger, "UND-30", reply.status == 200 && reply.header("content-encoding").is_none(), "{reply}");
    }
}

/// HTTP that a server may refuse is refused, and nothing of it comes back in a link.
fn ambiguous(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    let people = api.collection("people");
    let two_hosts = api.send(Method::GET, &people, &[("host", "evil.example.com")], None);
    row!(ledger, "UND-34", two_hosts.status == 400 && two_hosts.says("REQUEST_INVALID"), "{two_hosts}");
    let two_keys = api.send(Method::GET, &people, &[("svc-api-token", "another")], None);
    row!(ledger, "UND-34", two_keys.status == 400 && two_keys.says("REQUEST_INVALID"), "{two_keys}");
    for method in [Method::TRACE, Method::CONNECT] {
        let reply = api.send(method, &people, &[], None);
        row!(ledger, "UND-34", reply.status == 400, "{reply}");
    }
    let forwarded = [("x-forwarded-host", "evil.example.com"), ("forwarded", "host=evil.example.com;proto=https")];
    let reply = api.send(Method::GET, &people, &forwarded, None);
    row!(ledger, "UND-34", reply.status == 200 && !reply.text().contains("evil"), "{reply}");
    let elsewhere = people.replace("api.example.org", "evil.example.com");
    let reply = api.send(Method::GET, &elsewhere, &[], None);
    row!(ledger, "UND-34", !reply.text().contains("evil"), "links never follow the Host header: {reply}");
}

/// The first check that fails decides (UND-39).
fn order(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    let json = ("content-type", "application/json");
    let send = |caller: &Client, method: Method, address: &str, headers: &[(&str, &str)], body: &str| {
        caller.send(method, address, headers, Some(body.to_owned().into())).status
    };
    let wrong = api.with_key("wrong");
    let large = "x".repeat(1_200_000);
    let people = api.collection("people");
    let gone = format!("{people}/no-such-person");
    let nowhere = format!("{}nowhere", api.base);
    let helper = api.href(&api.create("petitions", &json!({})), "record_signature_helper");
    let text = ("content-type", "text/plain");
    for (what, got, expected) in [
        ("an address of nobody before a bad key", send(&wrong, Method::GET, &nowhere, &[json], ""), 404),
        (
            "a bad key before an operation that is not supported",
            send(&wrong, Method::PATCH, &people, &[json], "{"),
            401,
        ),
        ("not supported before a missing right", send(&f.reader, Method::DELETE, &people, &[json], ""), 500),
        ("a missing right before the media type", send(&f.reader, Method::POST, &people, &[text], "{"), 403),
        ("the media type before the size", send(api, Method::POST, &people, &[text], &large), 415),
        ("the size before the JSON", send(api, Method::POST, &people, &[json], &large), 413),
        ("the JSON before a missing record", send(api, Method::PUT, &gone, &[json], "{"), 400),
        (
            "a missing record before the rules on the body",
            send(api, Method::PUT, &gone, &[json], r#"{"given_name":7}"#),
            404,
        ),
        ("not supported on a missing record", send(api, Method::POST, &gone, &[json], "{}"), 404),
        ("a key before an anonymous call", send(&wrong, Method::POST, &helper, &[json], "{}"), 401),
    ] {
        row!(ledger, "UND-39", got == expected, "{what}: {got}");
    }
    row!(
        ledger,
        "UND-39",
        api.anonymous().send(Method::OPTIONS, &people, &[], None).status == 204,
        "OPTIONS needs no key"
    );
}

fn error_bodies(f: &Fixture) {
    let other = f.with(&Setup { error_bodies: svc_core::api::ErrorBodies::Everywhere, ..Setup::default() });
    let people = other.api.collection("people");
    for (reply, code) in [
        (other.api.get(&format!("{people}/none")), "RESOURCE_NOT_FOUND"),
        (other.api.with_key("wrong").get(&people), "KEY_INVALID"),
        (other.reader.post(&people, &json!({})), "KEY_NOT_ALLOWED"),
    ] {
        row!(
            f.ledger,
            "AUT-05",
            reply.says(code) && reply.header("content-type") == Some("application/hal+json"),
            "{reply}"
        );
    }
}

/// Browser code without a key posts JSON to record helpers: off by default.
fn browsers(f: &Fixture) {
    let api = &f.api;
    let helper = api.href(&api.create("petitions", &json!({})), "record_signature_helper");
    let preflight = [
        ("origin", "https://example.org"),
        ("access-control-request-method", "POST"),
        ("access-control-request-headers", "content-type"),
    ];
    let reply = api.anonymous().send_raw(Method::OPTIONS, &helper, &preflight, None);
    row!(f.ledger, "HLP-08", reply.header("access-control-allow-origin").is_none(), "{reply}");
    let posted = api.anonymous().send(
        Method::POST,
        &helper,
        &[("origin", "https://example.org"), ("content-type", "application/json")],
        Some("{}".into()),
    );
    row!(
        f.ledger,
        "HLP-08",
        posted.status == 200 && posted.text() == "{}" && posted.header("access-control-allow-origin").is_none(),
        "{posted}"
    );
    let other = f.with(&Setup { cors: true, ..Setup::default() });
    let world = World::new(&other.api);
    let mut helpers: Vec<String> =
        crate::kinds::ACTIONS.iter().map(|(_, under, name)| other.api.href(world.get(under), name)).collect();
    helpers.push(other.api.href(world.get("person"), "record_canvass_helper"));
    for helper in &helpers {
        let reply = other.api.anonymous().send_raw(Method::OPTIONS, helper, &preflight, None);
        let allowed = reply.header("access-control-allow-origin").is_some()
            && reply.header("access-control-allow-methods").is_some_and(|methods| methods.contains("POST"))
            && reply
                .header("access-control-allow-headers")
                .is_some_and(|names| names.to_lowercase().contains("content-type"));
        row!(f.ledger, "HLP-08", (200..300).contains(&reply.status) && allowed, "{reply}");
    }
    let mut elsewhere = vec![other.api.collection("people"), other.api.base.clone(), own(world.get("person"))];
    elsewhere.push(other.api.href(&other.api.entry(), "person_signup_helper"));
    for address in &elsewhere {
        let reply = other.api.send_raw(Method::OPTIONS, address, &preflight, None);
        row!(f.ledger, "HLP-08", reply.header("access-control-allow-origin").is_none(), "{reply}");
    }
}
