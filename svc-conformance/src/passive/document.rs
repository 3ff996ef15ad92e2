//! Passive checks of documents: the entry point, records and collections, with embedded records.
//!
//! Requirements: HAL-07 to HAL-19.

use http::Method;
use serde_json::{Map, Value, json};
use svc_declaration::EXTENSIONS;

use super::{collection, values};
use crate::address;
use crate::check::CheckContext;
use crate::ids;
use crate::kinds::{CatalogueKind, kind, kind_of};
use crate::linked_resources::{LinkedResource, is_standard, meaning};
use crate::response::TestResponse;

/// Link relations of the IANA registry and of HAL that a document may contain without a prefix.
#[rustfmt::skip]
const PLAIN: &[&str] = &[
    "about", "alternate", "appendix", "author", "bookmark", "canonical", "collection", "contents", "copyright",
    "curies", "current", "describedby", "docs", "edit", "edit-form", "first", "glossary", "help", "hub", "icon",
    "index", "item", "last", "license", "monitor", "next", "payment", "predecessor-version", "prev", "previous",
    "preview", "privacy-policy", "profile", "related", "replies", "search", "section", "self", "service",
    "service-desc", "service-doc", "service-meta", "start", "status", "successor-version", "tag", "terms-of-service", "type", "up",
    "version-history", "via", "working-copy",
];

/// Relations without a prefix that the specification defines. Except for `curies`, each has a
/// single link.
const HELD: &[&str] = &[
    "curies",
    "docs",
    "first",
    "last",
    "next",
    "prev",
    "previous",
    "self",
    "service-meta",
];

/// Checks the body of a successful response.
pub(crate) fn whole(cx: &CheckContext, answer: &TestResponse) {
    let Some(object) = answer.json.as_object() else {
        return;
    };
    let bare =
        object.is_empty() || (object.contains_key("notice") && !object.contains_key("_links"));
    if bare {
        return;
    }
    let known = cx.run.relations.of(&answer.url);
    let is_read = answer.method == Method::GET;
    let is_page = object.contains_key("total_records") || object.contains_key("total_pages");
    match known {
        Some(LinkedResource::Record(of)) if is_read => {
            cx.observe(ids::HAL_14, !is_page, || {
                format!("the target of svc:{} is a collection: {answer}", of.one)
            });
        }
        Some(LinkedResource::Collection(of)) if is_read => {
            cx.observe(ids::HAL_14, is_page, || {
                format!(
                    "the target of svc:{} is not a collection: {answer}",
                    of.many
                )
            });
        }
        _ => {}
    }
    if is_page {
        if let Some(known @ LinkedResource::Collection(_)) = known {
            neighbours(cx, answer, object, known);
        }
        collection::check_page(cx, answer, known);
        check_document(cx, answer, &answer.json, None);
    } else {
        let of = match known {
            Some(
                LinkedResource::Record(of)
                | LinkedResource::Collection(of)
                | LinkedResource::Helper(of),
            ) => Some(of),
            None => None,
        };
        check_document(cx, answer, &answer.json, of);
    }
    if object.contains_key("_links") {
        curies(cx, answer, object, is_page);
    }
    extensions(cx, answer, object);
}

/// Records that the other pages of a collection belong to the same collection, whatever their URLs
/// are.
fn neighbours(
    cx: &CheckContext,
    answer: &TestResponse,
    page: &Map<String, Value>,
    known: LinkedResource,
) {
    for rel in ["self", "first", "prev", "previous", "next", "last"] {
        let href = page
            .get("_links")
            .and_then(|links| links.get(rel)?.get("href")?.as_str());
        // The resource of another relation is derived from its target.
        if let Some(url) = href.and_then(|href| address::resolve(&answer.url, href))
            && cx.run.relations.of(&url).is_none()
        {
            cx.run.relations.learn(&url, known);
        }
    }
}

/// Checks extensions of a document: their prefix has a curie, and their members do not have the
/// prefix of the specification.
///
/// Requirements: HAL-19.
fn extensions(cx: &CheckContext, answer: &TestResponse, object: &Map<String, Value>) {
    let curies = object
        .get("_links")
        .and_then(|links| links["curies"].as_array())
        .map_or(&[][..], Vec::as_slice);
    let links = object
        .get("_links")
        .and_then(Value::as_object)
        .into_iter()
        .flat_map(Map::keys);
    for (rel, prefix) in links.filter_map(|rel| Some((rel, extension(rel)?))) {
        let is_named = curies.iter().any(|curie| curie["name"] == prefix);
        cx.observe(ids::HAL_19, is_named, || {
            format!("no curie for the prefix of the extension `{rel}` in {answer}")
        });
    }
    for (name, prefix) in object
        .keys()
        .filter_map(|name| Some((name, extension(name)?)))
    {
        cx.observe(ids::HAL_19, prefix != answer.prefix, || {
            format!("the extension `{name}` has the prefix of the specification, in {answer}")
        });
    }
}

/// Returns the prefix of a relation or member that is an extension.
fn extension(name: &str) -> Option<&str> {
    name.split_once(':')
        .filter(|(_, rest)| EXTENSIONS.contains(rest))
        .map(|(prefix, _)| prefix)
}

/// Checks one document or embedded member. If it is a record, its kind is given.
pub(crate) fn check_document(
    cx: &CheckContext,
    answer: &TestResponse,
    document: &Value,
    of: Option<CatalogueKind>,
) {
    let Some(object) = document.as_object() else {
        return;
    };
    let links = object.get("_links").and_then(Value::as_object);
    cx.observe(ids::HAL_07, links.is_some(), || {
        format!("no `_links` in {}", short(object, answer))
    });
    if let Some(links) = links {
        relations(cx, answer, object, links, of);
        if let (Some(of), Some(own)) = (of, links.get("self").and_then(|own| own["href"].as_str()))
            && let Some(own) = address::resolve(&answer.url, own)
        {
            cx.run.relations.learn(&own, LinkedResource::Record(of));
        }
    }
    for (rel, list) in object
        .get("_embedded")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        let linked = links.and_then(|links| links.get(rel));
        // A merge has no address.
        // Requirements: MRG-20.
        let merges = cx.declared().extension_of(&document["_embedded"], "merges");
        if merges != Some(rel.as_str()) {
            cx.observe(ids::HAL_08, linked.is_some(), || {
                format!("{rel} is embedded, not linked, in {answer}")
            });
        }
        let name = rel.strip_prefix(&format!("{}:", answer.prefix));
        let of = name.and_then(|name| kind_of(name).or_else(|| kind(name)));
        let members = list
            .as_array()
            .map_or(std::slice::from_ref(list), Vec::as_slice);
        // An entry about very many people who may be the same person has no address.
        // Requirements: DUP-05.
        for member in members.iter().filter(|it| it.get("crowd").is_none()) {
            check_document(cx, answer, member, of);
        }
    }
    if let Some(of) = of {
        values::record(cx, answer, document, object, of);
    }
}

fn relations(
    cx: &CheckContext,
    answer: &TestResponse,
    object: &Map<String, Value>,
    links: &Map<String, Value>,
    of: Option<CatalogueKind>,
) {
    let own = format!("{}:", answer.prefix);
    for (rel, link) in links {
        let name = rel.strip_prefix(&own);
        cx.observe(ids::HAL_09, is_relation(rel, name, links), || {
            format!("the relation `{rel}` has neither the prefix `{own}` nor a registered name, in {answer}")
        });
        if let Some(name) = name {
            cx.observe(ids::HAL_19, is_standard(name), || {
                format!(
                    "the specification does not define `{rel}`, which has its prefix, in {answer}"
                )
            });
        }
        // The targets of other relations are vendor-specific.
        if name.is_none() && !HELD.contains(&rel.as_str()) {
            continue;
        }
        let members = object
            .get("_embedded")
            .and_then(|embedded| embedded.get(rel))
            .is_some_and(Value::is_array);
        // A pair of duplicates has links to two people.
        // Requirements: DUP-02.
        let has_lists = ["total_records", "reasons", "dismissed"]
            .iter()
            .any(|name| object.contains_key(*name));
        let many = rel == "curies"
            || (has_lists && name.is_some_and(|name| kind_of(name).is_some()))
            || members;
        let formed = match link {
            Value::Array(list) => {
                many && list
                    .iter()
                    .all(|link| rel == "curies" || leads(&answer.url, link))
            }
            other => rel != "curies" && !members && leads(&answer.url, other),
        };
        cx.observe(ids::HAL_13, formed, || {
            format!("the link `{rel}` is {link}, in {answer}")
        });
        let Some(known) = name.and_then(|name| meaning(name, of)) else {
            continue;
        };
        let known = match (link, known) {
            (Value::Array(_), LinkedResource::Collection(of)) => LinkedResource::Record(of),
            (_, known) => known,
        };
        for link in link
            .as_array()
            .map_or(std::slice::from_ref(link), Vec::as_slice)
        {
            if let Some(url) = link["href"]
                .as_str()
                .and_then(|href| address::resolve(&answer.url, href))
            {
                cx.run.relations.learn(&url, known);
            }
        }
    }
}

/// Whether it is a relation of the specification, a registered one, or one with a curie in the
/// document.
///
/// Requirements: ENT-27.
fn is_relation(rel: &str, name: Option<&str>, links: &Map<String, Value>) -> bool {
    if let Some(name) = name {
        return !name.is_empty();
    }
    match rel.split_once(':') {
        None => PLAIN.contains(&rel),
        Some((_, rest)) if rest.starts_with("//") => true,
        Some((prefix, rest)) => {
            let curies = links
                .get("curies")
                .and_then(Value::as_array)
                .map_or(&[][..], Vec::as_slice);
            // A record embedded in a page has no curies of its own.
            let foreign = curies.is_empty() || curies.iter().any(|curie| curie["name"] == prefix);
            let interface = kind(rest).is_some() || kind_of(rest).is_some();
            foreign && !rest.is_empty() && !interface
        }
    }
}

fn leads(document: &str, link: &Value) -> bool {
    let templated = link["templated"] == true;
    let href = link["href"].as_str().filter(|href| !href.is_empty());
    href.is_some_and(|href| templated || address::resolve(document, href).is_some())
}

/// Checks the curies of every document that has some. The entry point and collections must have
/// them.
///
/// Requirements: HAL-18.
fn curies(cx: &CheckContext, answer: &TestResponse, object: &Map<String, Value>, is_page: bool) {
    let curies = object.get("_links").and_then(|links| links.get("curies"));
    let is_entry = answer.url == cx.run.target.base();
    if curies.is_none() && !is_page && !is_entry {
        return;
    }
    let list = curies
        .and_then(Value::as_array)
        .map_or(&[][..], Vec::as_slice);
    let good = list.iter().any(|curie| {
        let template = curie["href"]
            .as_str()
            .is_some_and(|href| href.contains("{rel}"));
        curie["name"] == answer.prefix && template && curie["templated"] == true
    });
    for (row, _) in [
        (ids::HAL_18, true),
        (ids::COL_26, is_page),
        (ids::ENT_26, is_entry),
    ]
    .iter()
    .filter(|one| one.1)
    {
        cx.observe(row, good, || {
            format!("curies are {} in {answer}", json!(curies))
        });
    }
}

fn short(object: &Map<String, Value>, answer: &TestResponse) -> String {
    let text: String = Value::Object(object.clone())
        .to_string()
        .chars()
        .take(300)
        .collect();
    format!("{text} of {}", answer.request)
}
