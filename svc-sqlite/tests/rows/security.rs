//! What a caller must not reach: other tenants, operations without a right, a parser's weak spots, traces of the deleted.

use std::collections::{BTreeSet, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};

use http::Method;
use serde_json::{Value, json};
use svc_conformance::row;

use crate::client::{Client, addresses, embedded, link, own};
use crate::family::{Case, Family};
use crate::fields::{CARRIERS, FIELDS, Field, Shape};
use crate::fixture::Fixture;
use crate::kinds::{ACTIONS, KINDS, kind, least, make, unique};
use crate::values::{place, spoken};
use crate::world::World;

const CASES: &[Case] = &[
    ("every address of another tenant", every_address),
    ("every link to another tenant", every_link),
    ("every right", every_right),
    ("keys that end", keys_that_end),
    ("hostile values in every field", hostile_values),
    ("hostile members in every object", hostile_objects),
    ("erasure", erasure),
    ("paging while others write", paging_while_others_write),
];

pub(crate) static FAMILY: Family = Family::new("security", CASES);

/// Everything that a caller reaches by links, helper addresses and trailing slashes among them.
fn reachable(api: &Client) -> BTreeSet<String> {
    let mut seen = BTreeSet::new();
    let mut queue = VecDeque::from([api.base.clone()]);
    let mut fetched = BTreeSet::new();
    while let Some(url) = queue.pop_front() {
        if !fetched.insert(url.clone()) {
            continue;
        }
        let json = api.get(&url).ok();
        for (rel, link) in json["_links"].as_object().into_iter().flatten() {
            let many = link.as_array().map_or(std::slice::from_ref(link), Vec::as_slice);
            for href in many.iter().filter_map(|link| link["href"].as_str()) {
                if matches!(rel.as_str(), "curies" | "docs") || rel.ends_with(":capabilities") {
                    continue;
                }
                seen.insert(href.to_owned());
                if !rel.ends_with("_helper") {
                    queue.push_back(href.to_owned());
                }
            }
        }
    }
    seen
}

/// Every address that one key reaches is 404 for the other, whatever the method; nothing changes.
fn every_address(f: &Fixture) {
    let (api, other, ledger) = (&f.api, &f.other, &f.ledger);
    let _ = World::new(api);
    let theirs = reachable(other);
    let mine: Vec<_> = reachable(api).into_iter().filter(|address| !theirs.contains(address)).collect();
    assert!(mine.len() > 60, "{} addresses", mine.len());
    let is_helper = |address: &str| address.contains("_helper") || address.ends_with("/schedule");
    let before: Vec<_> =
        mine.iter().filter(|address| !is_helper(address)).map(|address| api.get(address).ok()).collect();
    let json = ("content-type", "application/json");
    for address in &mine {
        for method in [Method::GET, Method::HEAD, Method::POST, Method::PUT, Method::PATCH, Method::DELETE] {
            let body = if matches!(method, Method::GET | Method::HEAD) { "" } else { "{}" };
            for address in [address.clone(), format!("{address}/")] {
                let reply = other.send(method.clone(), &address, &[json], Some(body.into()));
                row!(ledger, "UND-37", reply.status == 404, "{reply}");
                row!(ledger, "AUT-02", reply.status == 404, "{reply}");
                let missing = address.replacen("01", "00", 1);
                let nobody = other.send(method.clone(), &missing, &[json], Some(body.into()));
                row!(ledger, "UND-37", nobody.text() == reply.text(), "as if it did not exist: {nobody} {reply}");
            }
        }
        // What an address could do is told to everybody, whether there is something or not (UND-28, UND-39).
        let allowed = |address: &str| {
            let reply = other.send(Method::OPTIONS, address, &[], None);
            (reply.status, reply.header("allow").map(ToOwned::to_owned), reply.body)
        };
        row!(ledger, "UND-37", allowed(address) == allowed(&address.replacen("01", "00", 1)), "OPTIONS {address}");
    }
    let after: Vec<_> =
        mine.iter().filter(|address| !is_helper(address)).map(|address| api.get(address).ok()).collect();
    row!(ledger, "AUT-08", before == after, "nothing has changed");
}

/// Every link that a body can have is refused when it leads to another tenant's record, as one that leads nowhere is.
fn every_link(f: &Fixture) {
    let (api, other, ledger) = (&f.api, &f.other, &f.ledger);
    let (theirs, mine) = (World::new(api), World::new(other));
    let person = own(theirs.get("person"));
    for (one, name) in [
        ("petition", "creator"),
        ("event", "organizer"),
        ("event", "creator"),
        ("tag", "creator"),
        ("question", "creator"),
    ] {
        let collection = other.collection(kind(one).many);
        let before = other.total(&collection);
        let reply = other.post(&collection, &other.linked(&least(one), name, &person));
        let refused = reply.refuses("PERSON_NOT_FOUND", &format!("_links.svc:{name}"));
        row!(ledger, "AUT-02", refused && other.total(&collection) == before, "{reply}");
    }
    let put = other.put(&own(mine.get("event")), &other.linked(&json!({}), "organizer", &person));
    row!(ledger, "AUT-02", put.refuses("PERSON_NOT_FOUND", "_links.svc:organizer"), "{put}");
    for kind in KINDS.iter().filter(|kind| kind.under.is_some_and(|under| under != "person")) {
        let collection = other.href(mine.get(kind.under.unwrap_or_default()), kind.many);
        let before = other.total(&collection);
        let reply = other.post(&collection, &other.linked(&json!({}), "person", &person));
        let refused = reply.refuses("PERSON_NOT_FOUND", "_links.svc:person");
        row!(ledger, "AUT-02", refused && other.total(&collection) == before, "{reply}");
    }
    let donate = other.href(mine.get("fundraising_page"), "record_donation_helper");
    for name in ["attendance", "submission"] {
        let reply = other.post(&donate, &other.linked(&json!({"person": {}}), name, &own(theirs.get(name))));
        row!(ledger, "AUT-02", reply.refuses("LINK_NOT_FOUND", &format!("_links.svc:{name}")), "{reply}");
    }
    let canvass = other.href(mine.get("person"), "record_canvass_helper");
    let reply = other.post(&canvass, &json!({"canvass": {"canvasser": person}}));
    row!(ledger, "AUT-02", reply.says("PERSON_NOT_FOUND"), "{reply}");
    let question = theirs.get("question");
    for named in [json!(own(question)), question["identifiers"][0].clone()] {
        let body = json!({"canvass": {"question_response": {"question": named, "responses": ["a1"]}}});
        let reply = other.post(&canvass, &body);
        row!(ledger, "AUT-02", reply.says("QUESTION_DOES_NOT_EXIST"), "{reply}");
    }
    // An identifier or an address of another tenant matches nobody here.
    let mail = format!("{}@example.org", unique("tenant"));
    let id = unique("crm:tenant");
    let first = api.create("people", &json!({"identifiers": [id], "email_addresses": [{"address": mail}]}));
    let signup = other.href(&other.entry(), "person_signup_helper");
    let second = other
        .post(
            &signup,
            &json!({"person": {"identifiers": [id], "email_addresses": [{"address": mail}], "source": "two"}}),
        )
        .ok();
    row!(ledger, "AUT-02", own(&first) != own(&second) && api.reread(&first) == first, "{second}");
}

/// A key with one right can do that one thing: every kind, every operation, every helper.
fn every_right(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    let world = World::new(api);
    let petition = own(world.get("petition"));
    let mut attempts: Vec<(String, Method, String, Value)> = Vec::new();
    for kind in KINDS.iter().filter(|kind| kind.one != "query") {
        let record = own(world.get(kind.one));
        let collection = match kind.under {
            None => api.collection(kind.many),
            Some("person") => api.href(world.get("person"), kind.many),
            Some(under) => api.href(world.get(under), kind.many),
        };
        let named = |operation: &str| format!("{}.{operation}", kind.many);
        attempts.push((named("list"), Method::GET, collection.clone(), json!({})));
        attempts.push((named("read"), Method::GET, record.clone(), json!({})));
        if kind.under != Some("person") {
            let person = api.create("people", &json!({}));
            attempts.push((
                named("create"),
                Method::POST,
                collection,
                api.linked(&least(kind.one), "person", &own(&person)),
            ));
        }
        if !matches!(kind.one, "tagging" | "item") {
            attempts.push((named("update"), Method::PUT, record.clone(), json!({"identifiers": [unique("x:y")]})));
        }
        // Deletes what nothing hangs on.
        let lone = if kind.under.is_some() {
            own(&make(f, api, kind.one, &json!({})))
        } else {
            own(&api.create(kind.many, &least(kind.one)))
        };
        attempts.push((named("delete"), Method::DELETE, lone, json!({})));
    }
    for (_, under, helper) in ACTIONS.iter().chain([&("canvass", "person", "record_canvass_helper")]) {
        let right = format!("helper.{}", helper.trim_end_matches("_helper"));
        attempts.push((right, Method::POST, api.href(world.get(under), helper), json!({})));
    }
    attempts.push((
        "helper.person_signup".into(),
        Method::POST,
        api.href(&api.entry(), "person_signup_helper"),
        json!({"person": {}}),
    ));
    let schedule = json!({"scheduled_start_date": "2026-03-01T12:00:00Z"});
    attempts.push((
        "helper.schedule".into(),
        Method::POST,
        api.href(world.get("message"), "schedule_helper"),
        schedule,
    ));
    let send = |caller: &Client, (_, method, address, body): &(String, Method, String, Value)| {
        let body = (*method != Method::GET).then(|| body.to_string().into());
        caller.send(method.clone(), address, &[("content-type", "application/json")], body)
    };
    let state = || api.get(&petition).ok();
    let before = state();
    let all: Vec<&str> = attempts.iter().map(|(right, ..)| right.as_str()).collect();
    for attempt in &attempts {
        let others: Vec<&str> = all.iter().copied().filter(|right| *right != attempt.0).collect();
        let without = f.caller(&others);
        let refused = send(&without, attempt);
        row!(ledger, "AUT-04", refused.status == 403 && refused.body.is_empty(), "without {}: {refused}", attempt.0);
        let reading = attempt.1 == Method::GET;
        let by_reader = send(&f.reader, attempt);
        row!(
            ledger,
            "AUT-04",
            (by_reader.status == 200) == reading && (by_reader.status == 403) != reading,
            "{by_reader}"
        );
    }
    row!(ledger, "AUT-08", state() == before, "refused requests change nothing");
    for attempt in &attempts {
        let only = f.caller(&[&attempt.0]);
        let done = send(&only, attempt);
        row!(ledger, "AUT-04", (200..300).contains(&done.status), "with {} alone: {done}", attempt.0);
    }
}

/// A key that has expired or was revoked is none, from the next request on.
fn keys_that_end(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    let people = api.collection("people");
    let expired = api.with_key(&f.expired_key());
    let revoked = api.with_key(&f.revoked_key());
    for caller in [expired, revoked] {
        for reply in [caller.get(&people), caller.post(&people, &json!({})), caller.get(&api.base)] {
            row!(ledger, "AUT-03", reply.status == 401 && reply.body.is_empty(), "{reply}");
        }
    }
    let (id, token) = f.fresh_key();
    let caller = api.with_key(&token);
    row!(ledger, "AUT-01", caller.get(&people).status == 200);
    f.revoke(&id);
    row!(ledger, "AUT-03", caller.get(&people).status == 401, "revocation acts at once");
}

/// Every place of every kind where a client can write, with a body around it that is otherwise right.
fn places() -> Vec<(&'static Field, &'static str, String)> {
    let mut list = Vec::new();
    for field in
        FIELDS.iter().filter(|field| !field.computed && field.shape != Shape::Reference && field.owner != "canvass")
    {
        let carriers: Vec<_> = CARRIERS.iter().filter(|(object, ..)| *object == field.owner).collect();
        if carriers.is_empty() {
            list.push((field, field.owner, field.path.clone()));
        }
        for (_, one, at) in carriers {
            list.push((field, *one, format!("{at}.{}", field.path)));
        }
    }
    list
}

/// Where records of a kind are created, and how many there are.
fn target(f: &Fixture, one: &str) -> String {
    let api = &f.api;
    match kind(one).under {
        None => api.collection(kind(one).many),
        Some(under) => api.href(&f.container(api, under), kind(one).many),
    }
}

/// Values that break careless readers, in every field: a 400 with the error object, and nothing is stored.
fn hostile_values(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    let person = own(&f.container(api, "person"));
    let deep = "[".repeat(70) + &"]".repeat(70);
    let wide = format!("[{}1]", "1,".repeat(200_000));
    let raw: &[(&str, &str)] = &[
        ("JSON_INVALID", "1e400"),
        ("JSON_INVALID", "123456789012345678901234567890"),
        ("JSON_INVALID", "-99999999999999999999"),
        ("JSON_INVALID", r#""a\u0000b""#),
        ("JSON_INVALID", r#""\ud83d""#),
        ("JSON_INVALID", "01"),
        ("JSON_INVALID", "+1"),
        ("JSON_INVALID", "NaN"),
        ("JSON_INVALID", "'single'"),
        ("JSON_INVALID", "\"line\nbreak\""),
        ("JSON_INVALID", &deep),
        ("DUPLICATE_KEY", r#"{"a":1,"a":2}"#),
    ];
    for (at, (_, one, path)) in places().into_iter().enumerate() {
        let collection = target(f, one);
        let before = api.total(&collection);
        let body = api.linked(&least(one), "person", &person);
        let mut body = body;
        merge(&mut body, &place(&path, &json!("MARK")));
        let text = body.to_string();
        // All of them in turn over the fields of a kind, four in each field.
        for offset in [0, 3, 6, 9] {
            let (code, value) = raw.get((at + offset) % raw.len()).copied().unwrap_or(("JSON_INVALID", "01"));
            let reply = api.post_text(&collection, &text.replace("\"MARK\"", value));
            row!(ledger, "ERR-12", reply.status == 400 && reply.says(code), "{one} {path}: {reply}");
        }
        row!(ledger, "CRU-21", api.total(&collection) == before, "{one} {path}");
    }
    let people = api.collection("people");
    let before = api.total(&people);
    let reply = api.post_text(&people, &format!("{{\"ethnicities\":{wide}}}"));
    row!(ledger, "ERR-12", reply.status == 400 && api.total(&people) == before, "a body of 400 000 values");
}

/// An object or array in the place of every value, and text that means something to SQL, a shell or a file system.
fn hostile_objects(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    let person = own(&f.container(api, "person"));
    let texts = [
        "'; DROP TABLE people; --",
        "../../../etc/passwd",
        "%2e%2e%2f",
        "$(reboot)`id`",
        "{{7*7}}${7*7}",
        "\u{202e}evil",
    ];
    for (at, (field, one, path)) in places().into_iter().enumerate() {
        let collection = target(f, one);
        let before = api.total(&collection);
        let wrong = match field.shape {
            Shape::Object | Shape::Texts | Shape::Objects => json!("x"),
            _ => json!({"$gt": ""}),
        };
        let mut body = api.linked(&least(one), "person", &person);
        merge(&mut body, &place(&path, &wrong));
        let reply = api.post(&collection, &body);
        let named = reply
            .problems()
            .iter()
            .any(|problem| problem.properties.iter().any(|name| name.starts_with(&spoken(&path))));
        row!(ledger, "ERR-12", reply.status == 400 && named, "{one} {path}: {reply}");
        row!(ledger, "CRU-21", api.total(&collection) == before, "{one} {path}");
        let strict = crate::values::valid(field.owner, &field.path, &field.shape, at);
        let free = field.shape == Shape::Text && crate::values::TEXTS.iter().any(|text| strict.contains(&json!(text)));
        if free && !(one == "attendance" && path.starts_with("tickets")) {
            let text = texts.get(at % texts.len()).copied().unwrap_or("x");
            let made = make(f, api, one, &place(&path, &json!(text)));
            row!(
                ledger,
                "TYP-01",
                *crate::values::find(&api.reread(&made), &path) == json!(text),
                "{one} {path}: {made}"
            );
        }
    }
}

/// Puts one body into another, member by member; arrays of one by their element.
fn merge(into: &mut Value, from: &Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (name, value) in from {
                merge(into.entry(name.clone()).or_insert(Value::Null), value);
            }
        }
        (Value::Array(into), Value::Array(from)) if !into.is_empty() => {
            into.iter_mut().zip(from).for_each(|(into, from)| merge(into, from));
        }
        (into, from) => *into = from.clone(),
    }
}

/// What was known of a deleted person is nowhere in the data file (UND-26).
fn erasure(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    let planted = [
        "PLANTEDname",
        "PLANTEDfamily",
        "plantedmail@example.org",
        "155501999887",
        "PLANTEDstreet",
        "PLANTEDcustom",
        "PLANTEDholder",
        "PLANTEDanswer",
        "planted:identifier",
        "PLANTEDprofile",
        "planted:trigger",
        "PLANTEDgrown",
    ];
    let person = json!({
        "given_name": "PLANTEDname", "family_name": "PLANTEDfamily", "identifiers": ["planted:identifier"],
        "email_addresses": [{"address": "plantedmail@example.org"}], "phone_numbers": [{"number": "155501999887"}],
        "postal_addresses": [{"address_lines": ["PLANTEDstreet"]}], "custom_fields": {"x": "PLANTEDcustom"},
        "profiles": [{"handle": "PLANTEDprofile"}],
    });
    let question = api.create("questions", &json!({"question_type": "Paragraph"}));
    let petition = api.create("petitions", &json!({}));
    let body = json!({"person": person, "add_questions_responses_uri": [{"question": own(&question), "value": "PLANTEDanswer"}],
        "triggers": {"autoresponse": {"enabled": true, "identifiers": ["planted:trigger"]}}});
    let signature = api.post(&api.href(&petition, "record_signature_helper"), &body).ok();
    let person = api.follow(&signature, "person");
    let event = api.create("events", &least("ticketed"));
    let holder = json!({"given_name": "PLANTEDholder", "email_addresses": [{"address": "plantedmail@example.org"}]});
    let tickets = json!({"person": {"given_name": "Buyer"}, "tickets": [{"title": "Standard", "person": holder}]});
    let attendance = api.post(&api.href(&event, "record_attendance_helper"), &tickets).ok();
    // Rows that grow move between pages; the neighbours make the pages split.
    for round in 0..40 {
        let text = "PLANTEDgrown ".repeat(round * 5);
        assert_eq!(api.put(&own(&person), &json!({"custom_fields": {"grows": text}})).status, 200);
        api.create("people", &json!({"given_name": "neighbour", "source": "n".repeat(round * 40)}));
    }
    let canvass = api
        .post(&api.href(&person, "record_canvass_helper"), &json!({"canvass": {"status_code": "PLANTEDgrown"}}))
        .ok();
    assert_eq!(api.get(&own(&canvass)).status, 200);
    let found = |bytes: &[u8]| -> Vec<&str> {
        planted.into_iter().filter(|text| bytes.windows(text.len()).any(|window| window == text.as_bytes())).collect()
    };
    assert!(found(&f.data_files()).len() >= 10, "the values are there before: {:?}", found(&f.data_files()));
    assert_eq!(api.delete(&own(&person)).status, 204);
    f.compact();
    let left = found(&f.data_files());
    row!(ledger, "UND-26", left.is_empty(), "left in the file: {left:?}");
    let (signature, attendance) = (api.reread(&signature), api.reread(&attendance));
    row!(
        ledger,
        "UND-26",
        link(&signature, "svc:person").is_none() && attendance["tickets"][0].get("person").is_none(),
        "{attendance}"
    );
    row!(ledger, "UND-26", api.reread(&event)["total_tickets"] == 1 && api.reread(&petition)["total_signatures"] == 1);
    row!(ledger, "UND-26", api.total(&api.href(&question, "answers")) == 0);
}

/// A walk by `next` meets each record that stays exactly once, while others come and go.
fn paging_while_others_write(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    let lists = api.collection("lists");
    let make = |stem: &str| api.create("lists", &json!({ "name": unique(stem) }));
    let mut staying = Vec::new();
    let mut going = Vec::new();
    for at in 0..60 {
        if at % 3 == 0 {
            going.push(make("going"));
        } else {
            staying.push(own(&make("staying")));
        }
    }
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for gone in &going {
                assert_eq!(api.delete(&own(gone)).status, 204);
                make("coming");
            }
            done.store(true, Ordering::Release);
        });
        let mut rounds = 0;
        while !done.load(Ordering::Acquire) || rounds < 3 {
            rounds += 1;
            for size in [3, 7, 100] {
                let met = addresses(&walk(api, &format!("{lists}?per_page={size}")));
                let once: BTreeSet<_> = met.iter().collect();
                row!(ledger, "COL-24", once.len() == met.len(), "a record is met twice: {met:?}");
                let kept: Vec<_> = met.iter().filter(|address| staying.contains(address)).cloned().collect();
                row!(ledger, "UND-20", kept == staying, "each record that stays, once, in order: {kept:?}");
            }
        }
    });
    row!(ledger, "COL-23", api.total(&lists) == 60);
}

/// The members met by `next`, without a look at totals: others write.
fn walk(api: &Client, first: &str) -> Vec<Value> {
    let mut members = Vec::new();
    let mut next = Some(first.to_owned());
    while let Some(url) = next {
        let page = api.get(&url).ok();
        members.extend(embedded(&page).iter().cloned());
        next = link(&page, "next").map(ToOwned::to_owned);
    }
    members
}
