//! HAL, ENT, VER, CAP: the entry point, links, and what the service says of itself.

use std::collections::{BTreeSet, VecDeque};

use http::Method;
use serde_json::{Value, json};
use svc_conformance::row;

use crate::client::{Client, Names, addresses, embedded, href, link, own, segments};
use crate::family::{Case, Family};
use crate::fixture::{Fixture, Setup};
use crate::kinds::{ACTIONS, KINDS, LISTED, addresses_kind, kind};
use crate::values::{find, valid};
use crate::world::World;
use crate::{fields, resources};

const CASES: &[Case] = &[
    ("entry point", entry_point),
    ("links of the entry point", entry_links),
    ("documentation", documentation),
    ("capabilities", capabilities),
    ("the declaration", declaration),
    ("defaults", defaults),
    ("any prefix", any_prefix),
    ("another dialect", another_dialect),
    ("every link", every_link),
    ("record form", record_form),
    ("share names", share_names),
];

pub(crate) static FAMILY: Family = Family::new("HAL ENT VER CAP", CASES);

fn entry_point(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    let entry = api.entry();
    let bare = api.get(api.base.trim_end_matches('/')).ok();
    row!(ledger, "ENT-01", entry == bare && entry == api.anonymous().entry(), "{entry}");
    row!(ledger, "ENT-02", entry["motd"].is_string());
    row!(ledger, "ENT-03", entry["max_pagesize"] == 100, "{entry}");
    row!(ledger, "ENT-04", entry["vendor_name"].is_string());
    row!(ledger, "ENT-05", entry["product_name"].is_string());
    row!(ledger, "ENT-06", entry["svc_version"].as_str().is_some_and(|version| !version.is_empty()), "{entry}");
    row!(ledger, "VER-01", entry["svc_version"] == "1.2.0", "{entry}");
    let namespace = entry["namespace"].as_str().unwrap_or_default();
    row!(ledger, "ENT-07", !namespace.is_empty(), "{entry}");
    let person = api.create("people", &json!({}));
    let own_one = person["identifiers"][0].as_str().unwrap_or_default();
    let expected = format!("{namespace}:{}", segments(&own(&person)).first().unwrap_or(&""));
    row!(ledger, "ENT-08", own_one == expected, "{person}");
    row!(ledger, "ENT-09", api.get(&own(&entry)).ok() == entry, "{entry}");
    let curie = &entry["_links"]["curies"][0];
    row!(ledger, "ENT-26", curie["name"] == "svc" && curie["templated"] == true, "{entry}");
    row!(ledger, "HAL-18", curie["href"].as_str().is_some_and(|href| href.ends_with("docs/v1/{rel}")), "{entry}");
    let titled = |(_, link): (&String, &Value)| link["title"].as_str().is_some_and(|title| !title.is_empty());
    let links = entry["_links"].as_object().expect("links");
    row!(ledger, "ENT-25", links.iter().filter(|(rel, _)| *rel != "curies").all(titled), "{entry}");
}

fn entry_links(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    let entry = api.entry();
    for (id, many) in LISTED {
        let page = api.get(&href(&entry, &api.rel(many))).ok();
        let collection = page["total_records"].is_u64() && page["_links"][api.rel(many)].is_array();
        row!(ledger, id, collection, "{many}: {page}");
    }
    let signup = href(&entry, "svc:person_signup_helper");
    row!(ledger, "ENT-24", api.post(&signup, &json!({"person": {}})).status == 200);
    for (id, many) in LISTED.iter().filter(|(id, _)| *id != "ENT-21") {
        let fewer = f.with(&Setup { without: vec![format!("{many}.list")], ..Setup::default() });
        let entry = fewer.api.entry();
        row!(ledger, id, link(&entry, &api.rel(many)).is_none(), "{many} is listed though it does not exist: {entry}");
    }
    let fewer = f.with(&Setup { without: vec!["helper.person_signup".into()], ..Setup::default() });
    row!(ledger, "ENT-24", link(&fewer.api.entry(), "svc:person_signup_helper").is_none());
}

fn documentation(f: &Fixture) {
    let (api, ledger) = (&f.api.anonymous(), &f.ledger);
    let entry = api.entry();
    let docs = &entry["_links"]["docs"];
    row!(ledger, "ENT-23", docs["name"] == "Docs" && docs["index"] == "index", "{entry}");
    let start = api.send_raw(Method::GET, &href(&entry, "docs"), &[], None);
    let page = |reply: &crate::client::Reply| {
        reply.status == 200 && reply.header("content-type").is_some_and(|media| media.starts_with("text/html"))
    };
    row!(ledger, "ENT-22", docs.is_object() && page(&start), "{start}");
    let policy = start.header("content-security-policy").unwrap_or_default();
    let guarded = policy == "default-src 'none'; style-src 'self'; frame-ancestors 'none'";
    row!(ledger, "ENT-22", guarded && start.header("x-content-type-options") == Some("nosniff"), "{policy}");
    let text = start.text().to_lowercase();
    row!(ledger, "HLP-05", text.contains("match") && text.contains("e-mail"), "{start}");
    let template = entry["_links"]["curies"][0]["href"].as_str().expect("a template");
    for kind in KINDS {
        for name in [kind.one, kind.many] {
            let reply = api.send_raw(Method::GET, &template.replace("{rel}", name), &[], None);
            row!(ledger, "ENT-22", page(&reply), "{reply}");
        }
    }
}

fn capabilities(f: &Fixture) {
    let (api, ledger) = (&f.api.anonymous(), &f.ledger);
    let address = href(&api.entry(), "svc:capabilities");
    let reply = api.send_raw(Method::GET, &address, &[], None);
    let json = reply.header("content-type") == Some("application/json");
    row!(ledger, "UND-40", reply.status == 200 && json && reply.json["declaration_version"] == 1, "{reply}");
    row!(ledger, "CAP-04", address.ends_with("/docs/capabilities") && reply.text().contains("people"), "{reply}");
    let fewer = f.with(&Setup { without: vec!["petitions.delete".into()], ..Setup::default() });
    let less = fewer.api.send_raw(Method::GET, &address, &[], None);
    row!(
        ledger,
        "CAP-04",
        less.status == 200 && less.json != reply.json,
        "the declaration follows what is supported: {less}"
    );
}

/// Every field, link, operation, helper and function of the interface is declared, as it is served.
fn declaration(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    let declared = api.send_raw(Method::GET, &href(&api.entry(), "svc:capabilities"), &[], None).json;
    let field = |one: &str, path: &str| {
        let top = &declared["collections"][kind(one).many];
        path.split('.').fold(top, |at, step| &at["fields"][step.trim_end_matches("[]")]).clone()
    };
    for expected in fields::FIELDS.iter().filter(|field| field.row != "RES-canvass-07") {
        let own_place = (expected.owner, String::new());
        let places = fields::CARRIERS.iter().filter(|(object, ..)| *object == expected.owner);
        let mut places: Vec<_> = places.map(|(_, one, place)| (*one, format!("{place}."))).collect();
        if places.is_empty() {
            places.push(own_place);
        }
        for (one, place) in places {
            let found = field(one, &format!("{place}{}", expected.path));
            let same = found["computed"] == expected.computed
                && found["readable"] == true
                && found["writable"] == !expected.computed;
            row!(ledger, "CAP-04", same, "{one} {place}{}: {found}", expected.path);
        }
    }
    for link in fields::LINKS.iter().filter(|link| link.name != "self") {
        let links = declared["collections"][kind(link.owner).many]["links"].as_array();
        row!(
            ledger,
            "CAP-04",
            links.is_some_and(|links| links.iter().any(|name| name == link.name.as_str())),
            "{link:?}"
        );
    }
    for kind in KINDS {
        let expected: &[&str] = match kind.one {
            "query" => &["list", "read", "update"],
            "tagging" | "item" => &["read", "create", "delete"],
            "canvass" => &["read", "update", "delete"],
            "donation" => &["list", "read", "create", "update", "delete"],
            _ if kind.under.is_some() => &["read", "create", "update", "delete"],
            _ => &["list", "read", "create", "update", "delete"],
        };
        let found = &declared["collections"][kind.many]["operations"];
        row!(ledger, "CAP-04", *found == json!(expected), "{}: {found}", kind.many);
    }
    let helpers = declared["helpers"].as_object().map_or(0, serde_json::Map::len);
    let functions = declared["action_functions"].as_array().map_or(0, Vec::len);
    row!(ledger, "CAP-04", (helpers, functions) == (8, 6), "{declared}");
    for (name, helper) in declared["helpers"].as_object().into_iter().flatten() {
        let anonymous = !matches!(name.as_str(), "person_signup" | "schedule");
        row!(ledger, "CAP-04", helper["anonymous"] == anonymous, "{name}: {helper}");
    }
    for behaviour in
        ["conventional_paths", "validates_enums", "validates_types", "capacity_enforced", "ticket_limit_enforced"]
    {
        let list = declared["behaviours"].as_array();
        row!(ledger, "CAP-04", list.is_some_and(|list| list.iter().any(|name| name == behaviour)), "{behaviour}");
    }
    row!(
        ledger,
        "HLP-05",
        declared["person_matching"].as_str().is_some_and(|text| text.contains("e-mail")),
        "{declared}"
    );
}

fn defaults(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    let made = api.create("people", &json!({"family_name": "Lovelace"}));
    let absent = |name: &str| made[name].is_null() || made[name] == json!([]);
    row!(
        ledger,
        "CAP-08",
        ["given_name", "gender", "email_addresses", "custom_fields"].into_iter().all(absent),
        "{made}"
    );
    let event = api.create("events", &json!({}));
    row!(ledger, "CAP-08", event["transparence"] == "opaque" && event["capacity"].is_null(), "{event}");
    row!(ledger, "RES-event-29", event["transparence"] == "opaque", "{event}");
    for (one, ..) in ACTIONS {
        let made = crate::kinds::make(f, api, one, &json!({}));
        row!(ledger, "CAP-08", resources::is_instant(&made["action_date"]), "{one}: {made}");
        let made = crate::kinds::make(f, api, one, &json!({"action_date": null, "origin_system": null}));
        let set = resources::is_instant(&made["action_date"]) && made["origin_system"].is_null();
        row!(ledger, "CRU-16", set, "null on create means absent: {made}");
    }
}

fn any_prefix(f: &Fixture) {
    for base in ["http://api.example.org/", "https://example.org/deep/er/path/v3/"] {
        let other = f.with(&Setup { base: base.into(), ..Setup::default() });
        let entry = other.api.entry();
        let plain = |text: &str| text.starts_with(base);
        row!(f.ledger, "HAL-01", plain(&own(&entry)) && plain(&href(&entry, "svc:people")), "{entry}");
        let bare = other.api.get(base.trim_end_matches('/')).ok();
        row!(f.ledger, "HAL-01", bare == entry, "{bare}");
        let person = other.api.create("people", &json!({"given_name": "Ada"}));
        row!(f.ledger, "HAL-01", plain(&own(&person)) && other.api.reread(&person) == person, "{person}");
    }
}

fn another_dialect(f: &Fixture) {
    let names = Names { prefix: "abc", key_header: "ABC-API-Token", version: "abc_version" };
    let other = f.with(&Setup { names: names.clone(), ..Setup::default() });
    let entry = other.api.entry();
    row!(f.ledger, "HAL-09", link(&entry, "abc:people").is_some() && !entry.to_string().contains("svc:"), "{entry}");
    row!(f.ledger, "VER-01", entry[names.version] == "1.2.0", "{entry}");
    let person = other.api.create("people", &json!({"given_name": "Ada"}));
    row!(f.ledger, "HAL-10", other.api.reread(&person) == person);
    let lower = crate::client::Names { key_header: "abc-api-token", ..names };
    let lower = Client { names: lower, ..other.api.clone() };
    row!(f.ledger, "HAL-10", lower.get(&own(&person)).status == 200, "header names are matched without case");
    let standard = Client { names: Names { prefix: "abc", ..Names::STANDARD }, ..other.api.clone() };
    row!(f.ledger, "HAL-10", standard.get(&own(&person)).status == 401, "the header of another dialect is no key");
    let tag = other.api.create("tags", &json!({"name": "x"}));
    let tagging = other.api.act(&tag, "taggings", &person, &json!({}));
    row!(f.ledger, "HAL-09", tagging["item_type"] == "abc:person", "{tagging}");
}

/// Walks the whole service by links only.
fn every_link(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    let world = World::new(api);
    let mut met = BTreeSet::new();
    let mut seen = BTreeSet::new();
    let mut queue = VecDeque::from([api.base.clone()]);
    while let Some(url) = queue.pop_front() {
        if !seen.insert(url.clone()) {
            continue;
        }
        let reply = api.get(&url);
        row!(ledger, "HAL-05", reply.status == 200, "{reply}");
        let json = reply.json;
        row!(ledger, "HAL-16", !json["identifiers"].is_array() || own(&json) == url, "{url} has another self: {json}");
        met.extend(json["_links"]["self"]["href"].as_str().map(ToOwned::to_owned));
        for (rel, link) in json["_links"].as_object().into_iter().flatten() {
            let name = rel.split_once(':').map_or(rel.as_str(), |(_, name)| name);
            if matches!(name, "curies" | "docs" | "capabilities") || name.ends_with("_helper") {
                continue;
            }
            if let Some(list) = link.as_array() {
                let members: Vec<_> =
                    list.iter().filter_map(|link| link["href"].as_str()).map(ToOwned::to_owned).collect();
                row!(ledger, "HAL-06", members == addresses(embedded(&json)), "{json}");
                queue.extend(members);
            } else if let Some(target) = link["href"].as_str() {
                relation(api, f, name, target);
                queue.push_back(target.to_owned());
            }
        }
    }
    for (one, record) in &world.records {
        row!(ledger, "HAL-05", met.contains(&own(record)), "the {one} is not reached by links");
    }
}

/// A singular relation leads to a resource, a plural one to a collection.
fn relation(api: &Client, f: &Fixture, name: &str, target: &str) {
    let found = api.get(target).ok();
    // `svc:attendance` on a person is a collection.
    let alias = name == "attendance" && found["page"].is_u64();
    if let Some(kind) = KINDS.iter().find(|kind| kind.one == name && !alias) {
        row!(f.ledger, "HAL-14", found["identifiers"].is_array(), "{name}: {found}");
        row!(f.ledger, "HAL-15", addresses_kind(&own(&found), kind.one), "{name}: {found}");
    }
    if KINDS.iter().any(|kind| kind.many == name) || alias {
        row!(f.ledger, "HAL-14", found["total_records"].is_u64(), "{name}: {found}");
    }
    if matches!(name, "creator" | "modified_by" | "organizer" | "canvasser" | "target") {
        row!(f.ledger, "HAL-15", addresses_kind(&own(&found), "person"), "{name}: {found}");
    }
}

fn record_form(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    let world = World::new(api);
    for (one, record) in &world.records {
        // Totals of containers have followed what was made since.
        let record = &api.reread(record);
        let read = api.reread(record);
        let enveloped = read.get(api.rel(one)).is_some() || read.get(*one).is_some_and(Value::is_object);
        row!(ledger, "HAL-17", read["identifiers"].is_array() && !enveloped, "{read}");
        row!(ledger, "HAL-16", read == *record && own(&read) == own(record), "{one}: {record} but {read}");
        row!(ledger, "HAL-08", read.get("_embedded").is_none(), "{read}");
        let id = own(record);
        let id = segments(&id).first().copied().unwrap_or_default().to_owned();
        let form: Vec<usize> = id.split('-').map(str::len).collect();
        row!(ledger, "HAL-12", form == [8, 4, 4, 4, 12] && id.chars().nth(14) == Some('7'), "{id}");
        row!(ledger, "HLP-20", (*one == "person") == (record["id"] == json!(id)), "only a person has an id: {record}");
    }
    let other = Client { names: Names { key_header: "svc-api-token", ..Names::STANDARD }, ..api.clone() };
    row!(ledger, "HAL-10", other.get(&own(world.get("person"))).status == 200, "header names are matched without case");
    row!(ledger, "HAL-10", api.get(&own(world.get("person"))).status == 200);
}

fn share_names(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    for (_, one, _) in fields::CARRIERS.iter().filter(|(object, ..)| *object == "share_options") {
        let option = valid(one, "share_options", &fields::Shape::Objects, 0).into_iter().next().expect("a value");
        let made = crate::kinds::make(f, api, one, &json!({ "share_options": option }));
        let names: BTreeSet<_> =
            made["share_options"][0].as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect();
        row!(
            ledger,
            "HAL-11",
            names == BTreeSet::from(["email_share", "network_a_share", "network_b_share"]),
            "{made}"
        );
        row!(ledger, "RES-share_options-01", find(&made, "share_options[].email_share.subject").is_string(), "{made}");
        for count in [0_usize, 1, 3] {
            let list: Vec<_> = (0..count).map(|at| json!({"email_share": {"subject": format!("{at}")}})).collect();
            let put = api.put(&own(&made), &json!({ "share_options": list })).ok();
            let got: Vec<_> = put["share_options"]
                .as_array()
                .into_iter()
                .flatten()
                .map(|o| o["email_share"]["subject"].clone())
                .collect();
            let order: Vec<_> = (0..count).map(|at| json!(format!("{at}"))).collect();
            row!(ledger, "RES-share_options-02", got == order && api.reread(&made) == put, "{put}");
        }
    }
    assert_eq!(kind("form").many, "forms");
}
