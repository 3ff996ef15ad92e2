//! The entry point, relations, curies and envelopes.

use serde_json::{Map, Value, json};
use svc_conformance::ids;

use super::{Mutant, MutationPoint, links, members, set};
use crate::interceptor::Interceptor;
use crate::link_map::ResourceKind;
use crate::transport::BufferedResponse;

const FAMILY: &str = "hypermedia";

/// The collections that the entry point links, with their requirements.
const COLLECTIONS: [(&str, &str); 11] = [
    ("people", ids::ENT_10),
    ("petitions", ids::ENT_11),
    ("events", ids::ENT_12),
    ("forms", ids::ENT_13),
    ("fundraising_pages", ids::ENT_14),
    ("donations", ids::ENT_15),
    ("tags", ids::ENT_16),
    ("lists", ids::ENT_17),
    ("queries", ids::ENT_18),
    ("questions", ids::ENT_19),
    ("share_pages", ids::ENT_20),
];

/// A change to every link of a record.
fn every_link(
    name: &'static str,
    rows: &[&str],
    change: fn(&str, Value) -> (String, Value),
) -> Mutant {
    Mutant::new(FAMILY, name, rows, move || {
        Interceptor::records("*", move |record, _| {
            if let Some(all) = links(record) {
                *all = std::mem::take(all)
                    .into_iter()
                    .map(|(rel, link)| change(&rel, link))
                    .collect();
            }
        })
    })
}

/// A change to the entry point.
fn entry(
    name: &'static str,
    rows: &[&str],
    change: fn(&mut Map<String, Value>, &mut Map<String, Value>),
) -> Mutant {
    Mutant::new("entry point", name, rows, move || {
        Interceptor::entry(move |document, _| {
            let Some(mut own) = links(document).map(std::mem::take) else {
                return;
            };
            change(document, &mut own);
            set(document, "_links", own);
        })
    })
}

/// A change to documents with extensions.
fn extended(name: &'static str, change: fn(&mut Map<String, Value>)) -> Mutant {
    let interceptor = move || Interceptor::documents(move |_, document, _, _| change(document));
    Mutant::new("curies", name, &[ids::HAL_19], interceptor).on_reference()
}

/// A change to the curies of some documents.
fn curies(name: &'static str, rows: &[&str], change: fn(&Value) -> Option<Value>) -> Mutant {
    Mutant::new("curies", name, rows, move || {
        Interceptor::documents(move |_, document, _, _| {
            let Some(links) = links(document) else { return };
            let Some(curies) = links.remove("curies") else {
                return;
            };
            if let Some(curies) = change(&curies) {
                links.insert("curies".to_owned(), curies);
            }
        })
    })
}

/// Returns the first link of an entry point whose relation has this ending.
fn ending(links: &Map<String, Value>, end: &str) -> Option<String> {
    links
        .keys()
        .find(|rel| rel.rsplit(':').next() == Some(end))
        .cloned()
}

#[expect(clippy::too_many_lines, reason = "a table of faults")]
pub(super) fn faults() -> Vec<Mutant> {
    let mut faults = vec![
        every_link("links are plain texts", &[ids::HAL_13], |rel, link| {
            let href = link.get("href").cloned().filter(|_| rel.contains(':'));
            (rel.to_owned(), href.unwrap_or(link))
        }),
        every_link("a single link is an array", &[ids::HAL_13], |rel, link| {
            let is_one = rel.contains(':') && link.is_object();
            (rel.to_owned(), if is_one { json!([link]) } else { link })
        })
        .on_reference(),
        every_link("relations without prefix", &[ids::HAL_09, "RES-*"], |rel, link| {
            (rel.rsplit(':').next().unwrap_or(rel).to_owned(), link)
        }),
        every_link("relations under another prefix", &[ids::HAL_09, "RES-*"], |rel, link| {
            (rel.split_once(':').map_or_else(|| rel.to_owned(), |(_, name)| format!("vnd:{name}")), link)
        }),
        Mutant::new(FAMILY, "hrefs with a scheme of their own", &[ids::HAL_13], || {
            Interceptor::alone("*", |_, record, _| {
                for link in links(record).into_iter().flat_map(Map::values_mut) {
                    if let Some(Value::String(href)) = link.get_mut("href")
                        && let Some((_, rest)) = href.clone().split_once("://")
                    {
                        *href = format!("crm://{rest}");
                    }
                }
            })
        }),
        Mutant::new(FAMILY, "an empty href", &[ids::HAL_13], || {
            Interceptor::records("person", |record, sight| {
                let rel = sight.rel("taggings");
                if let Some(link) = links(record).and_then(|links| links.get_mut(&rel)) {
                    *link = json!({ "href": "" });
                }
            })
        }),
        Mutant::new(FAMILY, "no links in embedded records", &[ids::HAL_07], || {
            Interceptor::pages(|_, page, _| {
                for member in members(page).into_iter().flatten().filter_map(Value::as_object_mut) {
                    member.remove("_links");
                }
            })
        }),
        Mutant::new(FAMILY, "no links in answers to updates", &[ids::HAL_07, "CRU-*"], || {
            Interceptor::alone("*", |call, record, _| {
                if call.method == "PUT" {
                    record.remove("_links");
                }
            })
        })
        .on_reference(),
        Mutant::new(FAMILY, "the person link points to a collection", &[ids::HAL_14, ids::HAL_15, "RES-*"], || {
            Interceptor::records("signature", |record, sight| {
                let rel = sight.rel("person");
                if let Some(Value::String(href)) =
                    links(record).and_then(|links| links.get_mut(&rel)).and_then(|link| link.get_mut("href"))
                {
                    href.push_str("/taggings");
                }
            })
        }),
        Mutant::new(
            FAMILY,
            "the signatures link points to the petition",
            &[ids::HAL_14, ids::RES_PETITION_19, ids::COL_04],
            || {
                Interceptor::records("petition", |record, sight| {
                    let rel = sight.rel("signatures");
                    let Some(links) = links(record) else { return };
                    if let Some(own) = links.get("self").cloned() {
                        links.insert(rel, own);
                    }
                })
            },
        ),
        Mutant::new(FAMILY, "the petition link points to the person", &[ids::HAL_15, ids::RES_SIGNATURE_07], || {
            Interceptor::records("signature", |record, sight| {
                let Some(links) = links(record) else { return };
                if let Some(person) = links.get(&sight.rel("person")).cloned() {
                    links.insert(sight.rel("petition"), person);
                }
            })
        }),
        Mutant::new(FAMILY, "self links to the previous record", &[ids::HAL_16], || {
            let mut last: Option<Value> = None;
            Interceptor::alone("tag", move |call, record, _| {
                if call.method != "GET" {
                    return;
                }
                let Some(own) = links(record).and_then(|links| links.get_mut("self")) else { return };
                let this = own.clone();
                if let Some(last) = last.replace(this.clone()).filter(|last| *last != this) {
                    *own = last;
                }
            })
        }),
        Mutant::new(FAMILY, "self of a new record is dangling", &[ids::HAL_06, ids::HAL_16, ids::CRU_22], || {
            Interceptor::alone("*", |call, record, _| {
                if call.method == "POST"
                    && let Some(Value::String(href)) =
                        links(record).and_then(|links| links.get_mut("self")?.get_mut("href"))
                {
                    href.push_str("00");
                }
            })
        }),
        Mutant::new(FAMILY, "a record in an envelope", &[ids::HAL_17, ids::COL_03], || {
            Interceptor::after(|call, answer, sight| {
                let (Some(ResourceKind::Record(kind)), Some(record)) = (sight.what(call), answer.json()) else { return };
                if call.method == "GET" && answer.is_success() {
                    answer.set_json(&json!({ kind: record }));
                }
            })
        }),
        curies("no curies", &[ids::HAL_18, ids::ENT_26, ids::COL_26], |_| None),
        curies("curies without template", &[ids::HAL_18, ids::HAL_19, ids::ENT_26, ids::COL_26], |_| {
            Some(json!([{ "name": "svc", "href": "http://example.org/docs/", "templated": true }]))
        })
        .on_reference(),
        curies("curies templated by a text", &[ids::HAL_18, ids::ENT_26, ids::COL_26], |curies| {
            let mut curies = curies.clone();
            for curie in curies.as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
                set(curie, "templated", "true");
            }
            Some(curies)
        }),
        curies("curies are one object", &[ids::HAL_18, ids::ENT_26, ids::COL_26], |curies| curies.get(0).cloned()),
        curies("curies of another name", &[ids::HAL_18, ids::ENT_26, ids::COL_26], |curies| {
            let mut curies = curies.clone();
            for curie in curies.as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
                set(curie, "name", "other");
            }
            Some(curies)
        }),
        extended("extensions have the prefix of the specification", |document| {
            let Some(all) = links(document) else { return };
            *all = std::mem::take(all).into_iter().map(|(rel, link)| (rel.replace("ext:", "svc:"), link)).collect();
        }),
        entry("a relation with the prefix of the specification is an invention", &[ids::HAL_19], |_, links| {
            set(links, "svc:newsfeed", json!({ "href": "http://example.org/news", "title": "News" }));
        })
        .on_reference(),
        extended("extensions have no curie", |document| {
            let curies = links(document).and_then(|links| links.get_mut("curies")).and_then(Value::as_array_mut);
            if let Some(curies) = curies {
                curies.retain(|curie| curie["name"] != "ext");
            }
        }),
        Mutant::new("curies", "no curies on collections", &[ids::COL_26], || {
            Interceptor::pages(|_, page, _| drop(links(page).and_then(|links| links.remove("curies"))))
        })
        .on_reference(),
        entry("message of the day is a number", &[ids::ENT_02], |document, _| set(document, "motd", 5)),
        entry("page size is a text", &[ids::ENT_03, ids::LIM_01], |document, _| set(document, "max_pagesize", "50")),
        entry("page size is less than a page has", &[ids::LIM_01], |document, _| set(document, "max_pagesize", 19)),
        entry("vendor is an object", &[ids::ENT_04], |document, _| set(document, "vendor_name", json!({ "en": "V" }))),
        entry("product is null and a list", &[ids::ENT_05], |document, _| set(document, "product_name", json!(["P"]))),
        entry("version is a number", &[ids::ENT_06, ids::VER_01], |document, _| set(document, "svc_version", 1.2)),
        entry("version is empty", &[ids::VER_01], |document, _| set(document, "svc_version", "")),
        entry("no version", &[ids::VER_01, ids::ENT_06], |document, _| drop(document.remove("svc_version")))
            .on_reference(),
        entry("namespace is a number", &[ids::ENT_07], |document, _| set(document, "namespace", 7)),
        entry("another namespace than in identifiers", &[ids::ENT_08, ids::CRU_03], |document, _| {
            set(document, "namespace", "elsewhere");
        }),
        entry("entry point without self", &[ids::ENT_09], |_, links| drop(links.remove("self"))),
        entry("self links to people", &[ids::ENT_09], |_, links| {
            if let Some(people) = ending(links, "people").and_then(|rel| links.get(&rel).cloned()) {
                links.insert("self".to_owned(), people);
            }
        }),
        entry("no documentation", &[ids::ENT_22], |_, links| drop(links.remove("docs"))),
        entry("documentation without name", &[ids::ENT_23], |_, links| {
            if let Some(docs) = links.get_mut("docs").and_then(Value::as_object_mut) {
                docs.remove("name");
            }
        }),
        entry("documentation's index is a number", &[ids::ENT_23], |_, links| {
            if let Some(docs) = links.get_mut("docs").and_then(Value::as_object_mut) {
                set(docs, "index", 1);
            }
        })
        .on_reference(),
        entry("no signup helper", &[ids::ENT_24, ids::HLP_19, ids::RES_PERSON_49], |_, links| {
            if let Some(rel) = ending(links, "person_signup_helper") {
                links.remove(&rel);
            }
        }),
        entry("nothing but itself", &[ids::HAL_05, "ENT-*"], |_, links| links.retain(|rel, _| !rel.contains(':'))),
        Mutant::new("entry point", "only without a slash at the end", &[ids::ENT_01, ids::HAL_01], || {
            Interceptor::after(|call, answer, sight| {
                if sight.what(call) == Some(ResourceKind::Entry) && call.uri.path().ends_with('/') {
                    *answer = BufferedResponse::empty(404);
                }
            })
        }),
        Mutant::new("entry point", "a list of addresses", &[ids::ENT_01, ids::HAL_02], || {
            Interceptor::after(|call, answer, sight| {
                if sight.what(call) == Some(ResourceKind::Entry) {
                    answer.body = "[\"people\"]".into();
                }
            })
        }),
        Mutant::new(FAMILY, "declared updates are not there", &[ids::CAP_04, ids::CRU_11, ids::CRU_15], || {
            Interceptor::before(|call, sight| {
                if sight.what(call) == Some(ResourceKind::Record("question")) && call.method == "PUT" {
                    call.method = http::Method::PATCH;
                }
                None
            })
        })
        .at(MutationPoint::Request),
        Mutant::new(FAMILY, "a declared collection is not there", &[ids::CAP_04, ids::ENT_16, ids::COL_01], || {
            Interceptor::after(|call, answer, sight| {
                if sight.what(call) == Some(ResourceKind::Collection("tag")) && call.method == "GET" {
                    *answer = BufferedResponse::empty(404);
                }
            })
        }),
    ];
    for (many, row) in COLLECTIONS {
        let remove = format!("no link to {many}");
        let fault = Mutant::new("entry point", remove, &[row, ids::COL_01], move || {
            Interceptor::entry(move |document, sight| {
                let rel = sight.rel(many);
                drop(links(document).and_then(|links| links.remove(&rel)));
            })
        });
        faults.push(if many == "queries" {
            fault.on_reference()
        } else {
            fault
        });
    }
    faults
}

/// Behaviour of an entry point that is permitted.
pub(super) fn free() -> Vec<Mutant> {
    vec![
        Mutant::new("entry point", "only with a slash at the end", &[], || {
            Interceptor::after(|call, answer, sight| {
                if sight.what(call) == Some(ResourceKind::Entry) && !call.uri.path().ends_with('/')
                {
                    *answer = BufferedResponse::empty(404);
                }
            })
        }),
        Mutant::new(FAMILY, "relations of the vendor", &[], || {
            Interceptor::documents(|_, document, status, _| {
                if status < 300
                    && let Some(links) = links(document)
                {
                    let twins = json!([{ "href": "https://example.org/a" }, { "href": "https://example.org/b" }]);
                    set(links, "https://example.org/rels/twins", twins);
                    set(
                        links,
                        "related",
                        json!({ "href": "mailto:office@example.org" }),
                    );
                }
            })
        }),
    ]
}
