//! COL and TYP: collections, paging, tenants; common fields.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use svc_conformance::row;

use crate::client::{Client, addresses, embedded, href, link, own, stripped};
use crate::family::{Case, Family};
use crate::fixture::Fixture;
use crate::kinds::{KINDS, LISTED, contains, kind, least, make, unique};
use crate::resources::is_instant;
use crate::values::{TEXTS, instant, long_text};
use crate::world::World;

const CASES: &[Case] = &[
    ("collections of the entry point", top),
    ("tenants", tenants),
    ("nested collections", nested),
    ("answers of a submission", submission_answers),
    ("collections of a person", of_a_person),
    ("paging", paging),
    ("an empty collection", empty),
    ("texts", texts),
    ("numbers", numbers),
    ("identifiers", identifiers),
    ("dates", dates),
    ("dates in helper input", helper_dates),
];

pub(crate) static FAMILY: Family = Family::new("COL TYP", CASES);

fn top(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    let world = World::new(api);
    for (_, many) in LISTED {
        let address = api.collection(many);
        let page = api.get(&address).ok();
        row!(ledger, "COL-01", page["total_records"].is_u64() && own(&page) == address, "{many}: {page}");
        let one = KINDS.iter().find(|kind| kind.many == *many).expect("a kind").one;
        if let Some(record) = world.records.get(one) {
            row!(ledger, "COL-31", contains(api, &address, record), "{many} lacks {record}");
            row!(ledger, "COL-03", api.reread(record)["_links"].is_object(), "{record}");
            row!(ledger, "ERR-10", api.get(&own(record)).status == 200);
        }
        row!(ledger, "COL-29", page["per_page"] == 25, "{page}");
    }
}

fn tenants(f: &Fixture) {
    let (api, other, ledger) = (&f.api, &f.other, &f.ledger);
    let world = World::new(api);
    for (_, many) in LISTED {
        let (mine, theirs) = (api.collection(many), other.collection(many));
        let theirs: BTreeSet<_> = addresses(&other.members(&theirs)).into_iter().collect();
        let mine = addresses(&api.members(&mine));
        row!(ledger, "COL-02", mine.iter().all(|address| !theirs.contains(address)), "{many}");
        row!(ledger, "AUT-02", mine.iter().all(|address| !theirs.contains(address)), "{many}");
    }
    for (one, record) in &world.records {
        row!(ledger, "COL-02", other.get(&own(record)).status == 404, "{one} of another tenant is seen");
    }
}

/// The collection of a container has its action, and the action leads back.
fn nested(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    let world = World::new(api);
    for (id, one) in [
        ("COL-04", "signature"),
        ("COL-05", "submission"),
        ("COL-06", "donation"),
        ("COL-07", "outreach"),
        ("COL-08", "attendance"),
        ("COL-09", "answer"),
    ] {
        let kind = kind(one);
        let under = kind.under.expect("a container");
        let (record, container) = (world.get(one), world.get(under));
        let members = api.members(&api.href(container, kind.many));
        row!(ledger, id, addresses(&members) == [own(record)], "{one}: {members:?}");
        row!(ledger, id, api.href(record, under) == own(container), "{record}");
        let shape = match one {
            "donation" => format!("{}donations/", api.base),
            _ => format!("{}/{}/", own(container), kind.many),
        };
        row!(ledger, id, own(record).starts_with(&shape), "{record}");
        let again = api.create(kind_of(under).many, &least(under));
        let empty = api.get(&api.href(&again, kind.many)).ok();
        row!(ledger, id, embedded(&empty).is_empty(), "a container sees another's {one}: {empty}");
    }
    let (submission, form) = (world.get("submission"), world.get("form"));
    let id = own(submission);
    let id = id.rsplit('/').next().unwrap_or_default();
    let short = api.get(&format!("{}submissions/{id}", api.base)).ok();
    row!(ledger, "COL-05", short == *submission && own(&short).starts_with(&own(form)), "{short}");
    let wrong = api.create("forms", &json!({}));
    row!(
        ledger,
        "COL-19",
        api.get(&format!("{}/submissions/{id}", own(&wrong))).status == 404,
        "a wrong parent is 404"
    );
}

fn kind_of(one: &str) -> crate::kinds::Kind {
    kind(one)
}

fn submission_answers(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    let question = api.create("questions", &least("question"));
    let form = api.create("forms", &json!({}));
    let body =
        json!({"person": {}, "add_questions_responses_uri": [{"question": own(&question), "responses": ["a1"]}]});
    let submission = api.post(&api.href(&form, "record_submission_helper"), &body).ok();
    let answers = api.members(&api.href(&submission, "answers"));
    row!(
        ledger,
        "COL-10",
        answers.len() == 1 && api.href(answers.first().expect("one"), "question") == own(&question),
        "{answers:?}"
    );
    let other = api.post(&api.href(&form, "record_submission_helper"), &json!({"person": {}})).ok();
    row!(ledger, "COL-10", api.members(&api.href(&other, "answers")).is_empty());
}

fn of_a_person(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    let world = World::new(api);
    let _another = World::new(api);
    let person = world.get("person");
    for (id, one) in [
        ("COL-11", "donation"),
        ("COL-12", "submission"),
        ("COL-13", "attendance"),
        ("COL-14", "signature"),
        ("COL-15", "outreach"),
        ("COL-16", "answer"),
        ("COL-17", "tagging"),
        ("COL-18", "item"),
    ] {
        let members = api.members(&api.href(person, kind(one).many));
        row!(ledger, id, members == [stripped(world.get(one))], "{one}: {members:?}");
    }
    let alias = format!("{}/attendance", own(person));
    row!(ledger, "COL-13", api.get(&alias).ok()["total_records"] == 1, "the alias `attendance`");
    row!(ledger, "COL-13", api.href(person, "attendances").ends_with("/attendances"));
}

fn paging(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    let tags = api.collection("tags");
    let mut made: Vec<Value> = (0..53).map(|_| api.create("tags", &json!({"name": unique("paged")}))).collect();
    walk(api, f, &tags, &made);
    for size in [1_u64, 7, 53, 54] {
        walk(api, f, &format!("{tags}?per_page={size}"), &made);
    }
    // A jump leads to the page that `next` leads to.
    let jump = api.get(&format!("{tags}?page=3")).ok();
    row!(ledger, "COL-24", addresses(embedded(&jump)) == addresses(made.get(50..).unwrap_or_default()), "{jump}");
    row!(ledger, "COL-22", jump["page"] == 3, "{jump}");
    row!(ledger, "COL-27", own(&jump).contains("page=3") && api.get(&own(&jump)).ok() == jump, "{jump}");
    let many = api.get(&format!("{tags}?per_page=5000")).ok();
    let within = embedded(&many).len() == 53 && many["per_page"] == 100;
    row!(ledger, "LIM-01", within, "{many}");
    row!(ledger, "COL-21", within, "{many}");
    for gone in made.split_off(40) {
        assert_eq!(api.delete(&own(&gone)).status, 204);
    }
    row!(ledger, "COL-23", api.total(&tags) == 40, "thirteen fewer");
    walk(api, f, &tags, &made);
}

/// Walks a collection by `next` and looks at each page.
fn walk(api: &Client, f: &Fixture, first: &str, expected: &[Value]) {
    let ledger = &f.ledger;
    let max = api.entry()["max_pagesize"].as_u64().expect("a number");
    let (mut at, mut members) = (1_u64, Vec::new());
    let mut page = api.get(first).ok();
    let size = page["per_page"].as_u64().expect("a number");
    let pages = (expected.len() as u64).div_ceil(size);
    loop {
        let list = embedded(&page);
        row!(ledger, "COL-20", page["total_pages"].as_u64() == Some(pages), "{page}");
        row!(ledger, "COL-21", page["per_page"].as_u64() == Some(size) && list.len() as u64 <= size, "{page}");
        row!(ledger, "LIM-01", size <= max && list.len() as u64 <= max, "{page}");
        row!(ledger, "COL-22", page["page"].as_u64() == Some(at), "{page}");
        row!(ledger, "COL-23", page["total_records"].as_u64() == Some(expected.len() as u64), "{page}");
        let hrefs = page["_links"]["svc:tags"].as_array().map_or(&[][..], Vec::as_slice);
        let hrefs: Vec<_> = hrefs.iter().filter_map(|link| link["href"].as_str()).map(ToOwned::to_owned).collect();
        row!(ledger, "COL-25", hrefs == addresses(list), "{page}");
        row!(ledger, "COL-26", page["_links"]["curies"][0]["templated"] == true, "{page}");
        row!(ledger, "COL-27", api.get(&own(&page)).ok() == page, "{page}");
        for member in list.iter().take(2) {
            row!(
                ledger,
                "COL-28",
                !api.get(&own(member)).json.is_null() && stripped(&api.reread(member)) == stripped(member),
                "{member}"
            );
        }
        members.extend(list.iter().cloned());
        let next = link(&page, "next").map(ToOwned::to_owned);
        row!(ledger, "COL-24", next.is_some() == (at < pages), "page {at} of {pages}: {page}");
        row!(
            ledger,
            "UND-32",
            (at > 1) == link(&page, "previous").is_some() && link(&page, "prev") == link(&page, "previous"),
            "{page}"
        );
        let Some(next) = next else { break };
        row!(ledger, "COL-24", next.contains(&format!("page={}", at + 1)), "{page}");
        at += 1;
        page = api.get(&next).ok();
    }
    row!(ledger, "COL-24", addresses(&members) == addresses(expected), "each member once, in the order of creation");
    row!(ledger, "COL-20", at == pages.max(1));
}

fn empty(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    for kind in KINDS.iter().filter(|kind| kind.under.is_some_and(|under| under != "person")) {
        let under = kind.under.expect("a container");
        let container = api.create(kind_of(under).many, &least(under));
        let reply = api.get(&api.href(&container, kind.many));
        let raw = reply.text();
        let page = reply.ok();
        let none = page["total_records"] == 0 && page["page"] == 1 && page["total_pages"] == 0;
        let arrays =
            page["_embedded"][api.rel(kind.many)] == json!([]) && page["_links"][api.rel(kind.many)] == json!([]);
        row!(ledger, "COL-30", none && arrays, "{page}");
        row!(ledger, "COL-20", page["total_pages"] == 0, "{page}");
        let first = raw.find("\"_embedded\":{").and_then(|at| raw.get(at + 13..)).unwrap_or_default();
        row!(
            ledger,
            "COL-30",
            first.starts_with(&format!("\"{}\"", api.rel(kind.many))),
            "the members come first: {raw}"
        );
        let past = api.get(&format!("{}?page=9", api.href(&container, kind.many))).ok();
        row!(ledger, "UND-19", embedded(&past).is_empty(), "{past}");
    }
}

fn texts(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    let person = api.create("people", &json!({}));
    for text in TEXTS.iter().map(|text| (*text).to_owned()).chain([long_text()]) {
        let made = api.create("people", &json!({"family_name": text, "custom_fields": {"x": text}}));
        let kept = made["family_name"] == text && made["custom_fields"]["x"] == text && api.reread(&made) == made;
        row!(ledger, "TYP-01", kept, "{text:?} became {made}");
        let put = api.put(&own(&person), &json!({"given_name": text})).ok();
        row!(ledger, "TYP-01", put["given_name"] == text && api.reread(&person) == put, "{text:?} became {put}");
    }
}

fn numbers(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    let event = api.create("events", &json!({}));
    for number in [0, 1, i64::from(i32::MAX), i64::from(u32::MAX), 9_007_199_254_740_993, i64::MAX] {
        let put = api.put(&own(&event), &json!({"capacity": number})).ok();
        row!(ledger, "TYP-02", put["capacity"].as_i64() == Some(number), "{put}");
    }
    let whole = api.send(
        http::Method::PUT,
        &own(&event),
        &[("content-type", "application/json")],
        Some(br#"{"capacity":1.5}"#.to_vec().into()),
    );
    row!(ledger, "TYP-02", whole.refuses("FIELD_INVALID", "capacity"), "{whole}");
    let page = api.create("fundraising_pages", &json!({}));
    for text in ["9007199254740993.01", "0.1", "10.50", "123456789012345678.12", "1e2", "0"] {
        let body = format!(
            r#"{{"amount":{text},"recipients":[{{"amount":{text}}}],"_links":{{"svc:person":{{"href":"{}"}}}}}}"#,
            own(&api.create("people", &json!({})))
        );
        let reply = api.post_text(&api.href(&page, "donations"), &body);
        let made = reply.clone().created();
        let raw = api.get(&own(&made)).text();
        let expected = if text == "1e2" { "100" } else { text };
        let digits = raw.matches(&format!("\"amount\":{expected}")).count() == 2;
        row!(ledger, "TYP-04", digits, "{text}: {raw}");
        row!(ledger, "TYP-03", digits, "{text}: {raw}");
    }
    let total = api.get(&own(&page)).text();
    row!(ledger, "RES-fundraising_page-10", total.contains("\"total_amount\":132463988267086781.73"), "{total}");
}

fn identifiers(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    let many = [unique("a:1"), unique("b:x:y"), unique("C_d-e.f:\u{fc}")];
    let mut sent = many.to_vec();
    sent.extend(many.iter().take(2).cloned());
    let made = api.create("people", &json!({ "identifiers": sent }));
    let list = made["identifiers"].as_array().expect("identifiers");
    row!(ledger, "TYP-13", many.iter().all(|sent| list.iter().any(|got| got == sent)), "{made}");
    row!(ledger, "TYP-14", list.len() == 4 && list.get(1..).is_some_and(|rest| rest == many), "{made}");
    for bad in ["no colon", ":x", "x:", "", "a b:1"] {
        let reply = api.post(&api.collection("people"), &json!({"identifiers": [bad]}));
        row!(ledger, "TYP-13", reply.refuses("FIELD_INVALID", "identifiers[0]"), "{reply}");
    }
    let taken = api.post(&api.collection("people"), &json!({"identifiers": [many.first()]}));
    row!(ledger, "UND-24", taken.refuses("IDENTIFIER_IN_USE", "identifiers[0]"), "{taken}");
    let put = api.put(&own(&made), &json!({"identifiers": []})).ok();
    row!(ledger, "UND-25", put["identifiers"] == json!([list.first()]), "{put}");
}

fn dates(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    let before = chrono::Utc::now() - chrono::TimeDelta::seconds(1);
    let forged = json!({"created_date": "2001-01-01T00:00:00Z", "modified_date": "2001-01-01T00:00:00Z"});
    for kind in KINDS.iter().filter(|kind| kind.one != "query") {
        let made = make(f, api, kind.one, &forged);
        let created = made["created_date"].as_str().and_then(instant);
        let now = chrono::Utc::now() + chrono::TimeDelta::seconds(1);
        row!(ledger, "TYP-15", created.is_some_and(|at| at > before && at < now), "{made}");
        row!(ledger, "TYP-16", made["created_date"] == made["modified_date"], "one reading of the clock: {made}");
        if matches!(kind.one, "tagging" | "item") {
            continue;
        }
        let mut last = made.clone();
        for round in ["one", "two"] {
            let mut body = forged.clone();
            body[if kind.one == "person" { "given_name" } else { "origin_system" }] = json!(round);
            let put = api.put(&own(&made), &body).ok();
            row!(ledger, "TYP-15", put["created_date"] == made["created_date"], "{put}");
            let later =
                put["modified_date"].as_str().and_then(instant) > last["modified_date"].as_str().and_then(instant);
            row!(ledger, "TYP-16", later, "{last} then {put}");
            last = put;
        }
    }
    let event = api.create("events", &json!({"start_date": "2026-01-05T09:00:00.5+02:00"}));
    row!(ledger, "TYP-06", event["start_date"] == "2026-01-05T07:00:00.500000Z", "{event}");
    row!(
        ledger,
        "TYP-07",
        api.create("events", &json!({"all_day_date": "2028-02-29"}))["all_day_date"] == "2028-02-29"
    );
}

fn helper_dates(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    let petition = api.create("petitions", &json!({}));
    let old = "2001-01-01T00:00:00Z";
    let id = unique("sys:helper");
    let body = json!({"created_date": old, "modified_date": old, "identifiers": [id],
        "person": {"created_date": old, "modified_date": old, "identifiers": [id]}});
    let made = api.post(&api.href(&petition, "record_signature_helper"), &body).ok();
    let person = api.follow(&made, "person");
    for record in [&made, &person] {
        let kept = record["identifiers"][1] == id.as_str() && is_instant(&record["created_date"]);
        row!(ledger, "TYP-17", kept && record["created_date"] != old && record["modified_date"] != old, "{record}");
    }
    assert_eq!(href(&made, "svc:person"), own(&person));
}
