//! Values of representations: finds them by path, compares them, and displays them.

use chrono::{DateTime, NaiveDateTime, Utc};
use serde_json::Value;
use svc_declaration::visible;

/// Returns the values at a path of a representation. `[]` visits every element of an array.
pub(crate) fn at<'v>(json: &'v Value, path: &str) -> Vec<&'v Value> {
    let mut found = Vec::new();
    each(json, path, &mut |value| found.push(value));
    found
}

/// Passes the same values to a function.
pub(crate) fn each<'v>(json: &'v Value, path: &str, see: &mut dyn FnMut(&'v Value)) {
    let (step, rest) = path
        .split_once('.')
        .map_or((path, None), |(step, rest)| (step, Some(rest)));
    let (name, is_list) = step
        .strip_suffix("[]")
        .map_or((step, false), |name| (name, true));
    let Some(member) = json.get(name) else { return };
    let list = member.as_array().filter(|_| is_list);
    for value in list.map_or(std::slice::from_ref(member), Vec::as_slice) {
        match rest {
            Some(rest) => each(value, rest, see),
            None => see(value),
        }
    }
}

/// Returns the first value at a path of a representation.
pub(crate) fn first<'v>(json: &'v Value, path: &str) -> Option<&'v Value> {
    at(json, path).into_iter().next()
}

/// Whether a value counts as not set: absent, null or empty.
///
/// Requirements: CAP-08, CRU-17.
pub(crate) fn is_unset(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null) => true,
        Some(Value::String(text)) => text.is_empty(),
        Some(Value::Array(list)) => list.is_empty(),
        Some(Value::Object(members)) => members.is_empty(),
        Some(_) => false,
    }
}

/// Parses an ISO 8601 timestamp. A timestamp without a zone is in UTC.
pub(crate) fn instant(text: &str) -> Option<DateTime<Utc>> {
    if let Ok(time) = DateTime::parse_from_rfc3339(text) {
        return Some(time.to_utc());
    }
    for form in ["%Y-%m-%dT%H:%M:%S%.f%#z", "%Y%m%dT%H%M%S%#z"] {
        if let Ok(time) = DateTime::parse_from_str(text, form) {
            return Some(time.to_utc());
        }
    }
    for form in [
        "%Y-%m-%dT%H:%M:%S%.f",
        "%Y-%m-%dT%H:%M",
        "%Y%m%dT%H%M%SZ",
        "%Y-%m-%dT%H:%MZ",
    ] {
        if let Ok(time) = NaiveDateTime::parse_from_str(text, form) {
            return Some(time.and_utc());
        }
    }
    None
}

/// Returns text of a server for a terminal: limited, on one line, and with invisible characters
/// shown by name.
pub(crate) fn display_text(text: &str, most: usize) -> String {
    let line: String = text
        .chars()
        .take(most)
        .map(|c| {
            if matches!(c, '\n' | '\r' | '\t') {
                ' '
            } else {
                c
            }
        })
        .collect();
    visible(&line).into_owned()
}
