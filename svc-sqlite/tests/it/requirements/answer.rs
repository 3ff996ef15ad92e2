//! A response in the form of transcripts: one line with the server's choices, without ids, times
//! and addresses.

use std::fmt::Write as _;

use bytes::Bytes;
use http::HeaderMap;
use serde_json::Value;

/// Headers that transcripts contain.
const SHOWN: &[&str] = &[
    "allow",
    "www-authenticate",
    "retry-after",
    "content-encoding",
    "location",
    "access-control-allow-origin",
    "access-control-allow-methods",
    "access-control-allow-headers",
];

/// One response.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    pub(crate) prefix: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// Returns the response as lines.
    pub(crate) fn shown(&self) -> Vec<String> {
        let mut head = self.status.to_string();
        let media = self.header("content-type").unwrap_or_default();
        if !media.is_empty() && (self.body.is_empty() || media != "application/hal+json") {
            let _ = write!(head, " {media}");
        }
        for name in SHOWN {
            if let Some(value) = self.header(name) {
                let _ = write!(head, " <{name}: {value}>");
            }
        }
        let json = self.json();
        let error = &json[format!("{}:error", self.prefix)];
        if !error.is_object() {
            if json.is_object() {
                let _ = write!(head, " {}", document(&json, &self.prefix, &self.text()));
            }
            return vec![head];
        }
        let _ = write!(
            head,
            " {}",
            error["request_type"].as_str().unwrap_or_default()
        );
        let mut lines = Vec::new();
        for entry in error["resource_status"].as_array().into_iter().flatten() {
            let _ = write!(
                head,
                " {}={}",
                entry["resource"].as_str().unwrap_or_default(),
                entry["response_code"]
            );
            if entry["errors"].is_array() {
                head.push_str(" (errors)");
            }
            for one in descriptions(entry) {
                let code = one["error_code"]
                    .as_str()
                    .or(one["code"].as_str())
                    .unwrap_or_default();
                let mut line = format!("! {code} {}", one["properties"]);
                let _ = write!(line, " {}", one["description"].as_str().unwrap_or_default());
                if let Some(hint) = one["hint"].as_str() {
                    let _ = write!(line, " Hint: {hint}");
                }
                if one["reference_code"].is_string() {
                    line.push_str(" (with a reference)");
                }
                lines.push(line);
            }
        }
        for (name, beside) in json
            .as_object()
            .into_iter()
            .flatten()
            .filter(|(name, _)| !name.ends_with(":error"))
        {
            lines.push(format!("+ {name} {}", document(beside, &self.prefix, "")));
        }
        lines.insert(0, head);
        lines
    }
}

fn descriptions(entry: &Value) -> &[Value] {
    let list = entry
        .get("error_descriptions")
        .or_else(|| entry.get("errors"));
    list.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Relations to one record.
const ONE: &str = "person target canvasser creator modified_by organizer petition form event fundraising_page \
    advocacy_campaign question tag list submission";

/// Members whose value differs in each run.
const VOLATILE: &[&str] = &["identifiers", "created_date", "modified_date", "id"];

/// Returns a record or a page as text: its fields, and its links to a single record or to another
/// page.
fn document(json: &Value, prefix: &str, raw: &str) -> String {
    let Value::Object(mut fields) = json.clone() else {
        return json.to_string();
    };
    fields.retain(|name, _| !name.starts_with('_') && !VOLATILE.contains(&name.as_str()));
    let tickets = fields
        .get_mut("tickets")
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten();
    tickets
        .filter_map(|it| it.pointer_mut("/person/identifiers/0"))
        .for_each(|own| *own = "<own>".into());
    let own = json["_links"]["self"]["href"].as_str().unwrap_or_default();
    let mut text = format!("{own} {}", Value::Object(fields));
    if json["created_date"] != json["modified_date"] {
        text.push_str(" (changed)");
    }
    for identifier in json["identifiers"].as_array().into_iter().flatten().skip(1) {
        let _ = write!(text, " +{}", identifier.as_str().unwrap_or_default());
    }
    for (rel, link) in json["_links"].as_object().into_iter().flatten() {
        let Some(href) = link["href"].as_str() else {
            continue;
        };
        let name = rel
            .strip_prefix(prefix)
            .and_then(|rel| rel.strip_prefix(':'))
            .unwrap_or_default();
        if ONE.split_ascii_whitespace().any(|one| one == name) {
            let _ = write!(text, " {name}={href}");
        }
        if let Some((_, query)) = href
            .split_once('?')
            .filter(|_| matches!(rel.as_str(), "next" | "previous" | "prev"))
        {
            let _ = write!(
                text,
                " {rel}={}",
                query.split("&after").next().unwrap_or_default()
            );
        }
    }
    if json.get("vendor_name").is_some() {
        let rels = json["_links"]
            .as_object()
            .into_iter()
            .flat_map(serde_json::Map::keys);
        let _ = write!(
            text,
            " {}",
            rels.map(String::as_str).collect::<Vec<_>>().join(" ")
        );
    }
    // Clients read the first member of `_embedded`.
    let first = raw
        .split_once("\"_embedded\":{\"")
        .and_then(|(_, rest)| rest.split_once('"'));
    if let Some((first, _)) = first {
        let list = json["_embedded"][first].as_array().into_iter().flatten();
        let owns: Vec<_> = list
            .filter_map(|member| member["_links"]["self"]["href"].as_str())
            .collect();
        let _ = write!(text, " [{}]", owns.join(" "));
    }
    text
}
