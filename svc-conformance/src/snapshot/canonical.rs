//! Normalizes a document by removing what differs between runs. Members are in order, ids are
//! ordinals, and URLs, dates and markers of the run are replaced by words.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use serde_json::{Map, Value};

use crate::values::instant;

/// Normalizes documents.
#[derive(Debug)]
pub(super) struct Canonical<'b> {
    base: &'b str,
    /// The prefixes of the markers of this run. Digits and dashes after them belong to the marker.
    marks: Vec<String>,
    /// The timestamps that were sent, which are not from a clock.
    sent: BTreeSet<DateTime<Utc>>,
    /// Ids that do not look like ids.
    known: BTreeSet<String>,
    /// The ids in the order in which they appear.
    ids: Vec<String>,
}

impl<'b> Canonical<'b> {
    /// Creates a normalizer for documents whose URLs start with `base`.
    pub(super) const fn new(base: &'b str) -> Self {
        Self {
            base,
            marks: Vec::new(),
            sent: BTreeSet::new(),
            known: BTreeSet::new(),
            ids: Vec::new(),
        }
    }

    /// Adds a word that occurs only in the values of the run.
    pub(super) fn mark(mut self, mark: &str) -> Self {
        self.marks.push(mark.to_owned());
        self
    }

    /// Adds the body that was sent.
    pub(super) fn sent(mut self, body: &Value) -> Self {
        self.note_sent(body);
        self
    }

    /// Adds the URL of the record. Its last segment is its id.
    pub(super) fn record(mut self, own: &str) -> Self {
        self.known
            .extend(own.rsplit('/').next().map(ToOwned::to_owned));
        self
    }

    fn note_sent(&mut self, value: &Value) {
        match value {
            Value::String(text) => self.sent.extend(instant(text)),
            Value::Array(items) => items.iter().for_each(|item| self.note_sent(item)),
            Value::Object(members) => members.values().for_each(|member| self.note_sent(member)),
            _ => {}
        }
    }

    /// Returns the normalized document.
    pub(super) fn document(&mut self, value: &Value) -> Value {
        self.value("", value)
    }

    fn value(&mut self, name: &str, value: &Value) -> Value {
        match value {
            Value::Object(members) => {
                let mut members: Vec<(&String, &Value)> = members.iter().collect();
                members.sort_by_key(|(name, _)| name.as_str());
                Value::Object(
                    members
                        .into_iter()
                        .map(|(name, value)| (name.clone(), self.value(name, value)))
                        .collect::<Map<_, _>>(),
                )
            }
            Value::Array(items) => {
                Value::Array(items.iter().map(|item| self.value(name, item)).collect())
            }
            Value::String(id) if name == "id" => Value::String(self.ordinal(id)),
            Value::Number(id) if name == "id" => Value::String(self.ordinal(&id.to_string())),
            Value::String(text) => Value::String(self.text(name, text)),
            other => other.clone(),
        }
    }

    fn text(&mut self, name: &str, text: &str) -> String {
        if let Some(path) = text.strip_prefix(self.base) {
            return format!("<base>/{}", self.path(path));
        }
        if let Some(when) = instant(text) {
            return if self.sent.contains(&when) {
                text.to_owned()
            } else {
                "<date>".to_owned()
            };
        }
        let unmarked = self.without_marks(text);
        if unmarked != text {
            return unmarked;
        }
        match text.split_once(':') {
            Some((system, id)) if name == "identifiers" => format!("{system}:{}", self.ordinal(id)),
            _ if is_uuid(text) => self.ordinal(text),
            _ => unmarked,
        }
    }

    /// Returns the path after the base URL. Its query is unchanged.
    fn path(&mut self, path: &str) -> String {
        let (path, query) = path.split_at(path.find(['?', '#']).unwrap_or(path.len()));
        let mut parts = Vec::new();
        for part in path.split('/') {
            let is_id = looks_like_id(part) || self.known.contains(part);
            parts.push(if is_id {
                self.ordinal(part)
            } else {
                part.to_owned()
            });
        }
        format!("{}{query}", parts.join("/"))
    }

    /// Returns the ordinal of an id.
    fn ordinal(&mut self, id: &str) -> String {
        let place = self
            .ids
            .iter()
            .position(|known| known == id)
            .unwrap_or_else(|| {
                self.ids.push(id.to_owned());
                self.ids.len().saturating_sub(1)
            });
        format!("<id {}>", place.saturating_add(1))
    }

    fn without_marks(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for mark in self.marks.iter().filter(|mark| !mark.is_empty()) {
            let mut parts = text.split(mark.as_str());
            let mut out = parts.next().unwrap_or_default().to_owned();
            for part in parts {
                out.push_str("<mark>");
                let number = part
                    .strip_prefix('-')
                    .map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()));
                out.push_str(number.unwrap_or(part));
            }
            text = out;
        }
        text
    }
}

/// Whether a path segment consists of characters of ids, and contains one that words do not have.
fn looks_like_id(part: &str) -> bool {
    let is_version = part
        .strip_prefix('v')
        .is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()));
    let made_of = part
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    made_of
        && !is_version
        && part
            .bytes()
            .any(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase())
}

fn is_uuid(text: &str) -> bool {
    let lengths = text.split('-').map(str::len);
    lengths.eq([8, 4, 4, 4, 12])
        && text
            .bytes()
            .all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::Canonical;

    #[test]
    fn ids_dates_and_addresses_become_words_and_members_are_in_order() {
        let text = include_str!("../../tests/golden/canonical.json");
        let golden: Value = serde_json::from_str(text).expect("JSON");
        let mut canonical = Canonical::new("http://h/api/v1/")
            .mark("run-7")
            .record("http://h/api/v1/tags/abc");
        canonical = canonical.sent(&json!({"start_date": "2030-01-01T00:00:00+00:00"}));
        let found = canonical.document(&golden["document"]).to_string();
        assert_eq!(found, golden["canonical"].to_string());
    }
}
