//! What every answer of the service must satisfy, whatever the request was.

use chrono::DateTime;
use http::Method;
use serde_json::{Map, Value};
use svc_conformance::ledger::Ledger;
use svc_conformance::row;

use crate::client::{Reply, descriptions};

/// Looks at one answer.
pub(crate) fn check(ledger: &Ledger, reply: &Reply) {
    let success = (200..300).contains(&reply.status);
    if success {
        let cache = reply.header("cache-control").unwrap_or_default();
        row!(ledger, "HAL-04", cache == "max-age=0, private, must-revalidate", "Cache-Control {cache:?} on {reply}");
    }
    if reply.body.is_empty() {
        return;
    }
    row!(ledger, "HAL-02", reply.json.is_object() && reply.method != Method::HEAD, "{reply}");
    let media = reply.header("content-type").unwrap_or_default();
    if success {
        row!(ledger, "HAL-03", media == "application/hal+json", "Content-Type {media:?} on {reply}");
        document(ledger, reply, &reply.json, true);
    } else if !matches!(reply.status, 401 | 403) {
        row!(ledger, "ERR-01", reply.error().is_object(), "{reply}");
        error(ledger, reply);
        for (name, value) in reply.json.as_object().into_iter().flatten() {
            if *name != format!("{}:error", reply.prefix) {
                document(ledger, reply, value, false);
            }
        }
    }
    row!(ledger, "ERR-03", reply.status != 204, "{reply}");
}

/// A resource, a collection or the entry point, with what is embedded in it.
fn document(ledger: &Ledger, reply: &Reply, json: &Value, top: bool) {
    let Some(object) = json.as_object() else { return };
    let bare = object.is_empty() || object.contains_key("notice");
    if bare {
        return;
    }
    let links = object.get("_links").and_then(Value::as_object);
    row!(ledger, "HAL-07", links.is_some(), "{reply}");
    let Some(links) = links else { return };
    let plain = ["self", "next", "previous", "prev", "curies", "docs"];
    for (rel, link) in links {
        let prefixed = rel.strip_prefix(reply.prefix).is_some_and(|rest| rest.starts_with(':') && rest.len() > 1);
        row!(ledger, "HAL-09", prefixed || plain.contains(&rel.as_str()), "{rel} in {reply}");
        let address = |link: &Value| link["href"].as_str().is_some_and(|href| href.starts_with("http"));
        let members = object.get("_embedded").is_some_and(|embedded| embedded.get(rel).is_some());
        let formed = match link {
            Value::Array(list) => (rel == "curies" || members) && list.iter().all(address),
            other => rel != "curies" && !members && address(other),
        };
        row!(ledger, "HAL-13", formed, "{rel}: {link} in {reply}");
    }
    if top {
        curies(ledger, reply, links);
    }
    for (rel, list) in object.get("_embedded").and_then(Value::as_object).into_iter().flatten() {
        row!(ledger, "HAL-08", links.contains_key(rel), "{rel} in {reply}");
        for member in list.as_array().into_iter().flatten() {
            row!(ledger, "HAL-07", member["_links"]["self"]["href"].is_string(), "{member} in {reply}");
            document(ledger, reply, member, false);
        }
    }
    common(ledger, reply, object);
}

fn curies(ledger: &Ledger, reply: &Reply, links: &Map<String, Value>) {
    let list = links.get("curies").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let good = list.iter().any(|curie| {
        let template = curie["href"].as_str().is_some_and(|href| href.contains("{rel}"));
        curie["name"] == reply.prefix && template && curie["templated"] == true
    });
    row!(ledger, "HAL-18", good, "{reply}");
}

/// The common fields of a record.
fn common(ledger: &Ledger, reply: &Reply, object: &Map<String, Value>) {
    if let Some(identifiers) = object.get("identifiers") {
        let list = identifiers.as_array().map_or(&[][..], Vec::as_slice);
        let formed = |entry: &Value| {
            entry.as_str().and_then(|e| e.split_once(':')).is_some_and(|(s, i)| !s.is_empty() && !i.is_empty())
        };
        row!(ledger, "TYP-13", !list.is_empty() && list.iter().all(formed), "{identifiers} in {reply}");
        let distinct = list.iter().enumerate().all(|(at, entry)| !list.iter().take(at).any(|other| other == entry));
        row!(ledger, "TYP-14", distinct, "{identifiers} in {reply}");
        let time = |name: &str| {
            let text = object.get(name).and_then(Value::as_str).filter(|text| text.ends_with('Z'));
            text.and_then(|text| DateTime::parse_from_rfc3339(text).ok())
        };
        let (created, modified) = (time("created_date"), time("modified_date"));
        row!(ledger, "TYP-15", created.is_some(), "{reply}");
        row!(ledger, "TYP-16", created.is_some() && modified >= created, "{reply}");
    }
}

/// The error object.
fn error(ledger: &Ledger, reply: &Reply) {
    let error = reply.error();
    let text = error.to_string().to_lowercase();
    let leaks =
        ["select ", "insert into", "constraint", "sqlite", "rows.db", "/tmp/", "/target/", ".rs:", "panicked", "svck_"];
    row!(ledger, "ERR-25", !leaks.iter().any(|leak| text.contains(leak)), "internals leak: {reply}");
    let kind = error["request_type"].as_str().unwrap_or_default();
    row!(ledger, "ERR-18", matches!(kind, "atomic" | "non-atomic"), "{reply}");
    let code = error["response_code"].as_u64();
    row!(ledger, "ERR-19", code == Some(reply.status.into()), "{reply}");
    row!(ledger, "ERR-19", kind != "non-atomic" || code == Some(400), "{reply}");
    let entries = reply.entries();
    row!(ledger, "ERR-20", if kind == "atomic" { entries.len() == 1 } else { entries.len() >= 2 }, "{reply}");
    row!(ledger, "ERR-02", entries.iter().any(|entry| !descriptions(entry).is_empty()), "{reply}");
    for entry in entries {
        let relation = entry["resource"].as_str().unwrap_or_default();
        row!(ledger, "ERR-21", relation.starts_with(&format!("{}:", reply.prefix)), "{reply}");
        let code = entry["response_code"].as_u64().unwrap_or_default();
        let table = [200, 201, 204, 400, 401, 403, 404, 500, 405, 408, 412, 413, 415, 501, 503];
        row!(ledger, "ERR-22", table.contains(&code), "{reply}");
        let list = descriptions(entry);
        row!(ledger, "ERR-23", (code >= 400) != list.is_empty(), "{reply}");
        for description in list {
            let code = description.get("error_code").or_else(|| description.get("code")).and_then(Value::as_str);
            let word = |w: &str| !w.is_empty() && w.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit());
            row!(ledger, "ERR-24", code.is_some_and(|code| code.split('_').all(word)), "{reply}");
            let text = description["description"].as_str().unwrap_or_default();
            row!(ledger, "ERR-25", !text.is_empty() && !names_a_row(text), "{reply}");
            let names = description["properties"].as_array();
            row!(ledger, "ERR-26", names.is_some_and(|names| names.iter().all(Value::is_string)), "{reply}");
            row!(ledger, "ERR-27", description.get("hint").is_none_or(Value::is_string), "{reply}");
            row!(ledger, "ERR-28", description.get("reference_code").is_none_or(Value::is_string), "{reply}");
        }
    }
    if matches!(reply.status, 500 | 503) {
        let list = entries.first().map_or(&[][..], descriptions);
        let reference = list.first().and_then(|description| description["reference_code"].as_str());
        row!(ledger, "ERR-06", reference.is_some_and(|code| code.len() == 36), "{reply}");
    }
    row!(ledger, "ERR-03", reply.json.get("response_code").is_none(), "{reply}");
}

/// Whether a text for clients speaks of a row of the catalogue.
fn names_a_row(text: &str) -> bool {
    text.as_bytes().windows(6).any(|six| {
        let (area, number) = six.split_at(3);
        area.iter().all(u8::is_ascii_uppercase)
            && number.starts_with(b"-")
            && number.iter().skip(1).all(u8::is_ascii_digit)
    })
}
