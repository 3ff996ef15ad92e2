//! Values that fit what a server declares of a field in addition to its type, and values that just
//! violate it.
//!
//! Requirements: CAP-04.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

use serde_json::{Value, json};
use svc_declaration::DeclaredField;

use crate::declared::DeclaredApi;
use crate::fields::{CheckedField, ValueShape};

/// Returns the listed values that a server accepts: those of the catalogue that it declares.
pub(super) fn values(
    field: &DeclaredField,
    known: Option<&CheckedField>,
    shape: ValueShape,
) -> Vec<String> {
    let declared = field.values.clone().unwrap_or_default();
    let is_taken = |value: &String| {
        shape != ValueShape::Enum || declared.is_empty() || declared.contains(value)
    };
    let listed = known.into_iter().flat_map(|known| &known.values);
    let taken: Vec<String> = listed
        .map(|value| (*value).to_owned())
        .filter(is_taken)
        .collect();
    // A flexible enum without free text may have other values.
    if taken.is_empty() { declared } else { taken }
}

/// Returns the declared maximum number of entries of a list.
pub(crate) fn max_items(field: &DeclaredField) -> usize {
    let most = field.max_items.and_then(|most| usize::try_from(most).ok());
    most.unwrap_or(usize::MAX)
}

/// Returns whether values of the entries of a list decide in which order they are stored.
pub(crate) fn has_order(declared: &DeclaredApi, one: &str, name: &str) -> bool {
    let field = declared.field(one, name);
    let members = field.and_then(|field| field.fields.as_ref());
    let mut members = members.into_iter().flatten();
    members.any(|(_, member)| matches!(member.in_entries.as_deref(), Some("first" | "distinct")))
}

/// Returns a list of objects whose values fit together as declared: the same, distinct, or true in the
/// first entry only.
pub(super) fn fit_entries(
    fields: &BTreeMap<String, DeclaredField>,
    mut entries: Vec<Value>,
) -> Value {
    for (name, field) in fields {
        let Some(dependent) = field.in_entries.as_deref() else {
            continue;
        };
        let sent = entries.iter().find_map(|entry| entry.get(name).cloned());
        let values = field.values.as_deref().unwrap_or_default();
        for (place, entry) in entries.iter_mut().enumerate() {
            let (Some(value), Some(sent)) = (entry.get_mut(name), &sent) else {
                continue;
            };
            let fitting = match (dependent, &*value) {
                ("same", _) => Some(sent.clone()),
                ("distinct", _) => values.get(place).map(|text| json!(text)),
                ("first", Value::Bool(_)) => Some(json!(place == 0)),
                ("first", Value::String(_)) => Some(json!((place == 0).to_string())),
                _ => None,
            };
            *value = fitting.unwrap_or_else(|| value.clone());
        }
    }
    Value::Array(entries)
}

/// Returns the value, adjusted to the declared range, length and number of entries. In a list, every
/// element is adjusted.
pub(super) fn fit(field: &DeclaredField, value: Value) -> Value {
    let bound = |text: &Option<String>| serde_json::from_str::<Value>(text.as_deref()?).ok();
    match value {
        Value::Number(number) => {
            let least = bound(&field.minimum).filter(|least| number.as_f64() < least.as_f64());
            let most = bound(&field.maximum).filter(|most| number.as_f64() > most.as_f64());
            least.or(most).unwrap_or(Value::Number(number))
        }
        Value::String(text) => json!(shortened(field, text)),
        Value::Array(list) => {
            let list = list.into_iter().take(max_items(field));
            list.map(|value| fit(field, value)).collect()
        }
        other => other,
    }
}

/// Shortens a text to the allowed length, but keeps its unique part. An address remains valid.
fn shortened(field: &DeclaredField, text: String) -> String {
    let most = field
        .max_length
        .and_then(|most| usize::try_from(most).ok())
        .unwrap_or(usize::MAX);
    if text.chars().count() <= most {
        return text;
    }
    let own = format!(
        "{:x}",
        BuildHasherDefault::<DefaultHasher>::default().hash_one(&text)
    );
    let (front, end) = if text.contains('@') {
        ("", "@a.org")
    } else {
        (text.as_str(), "")
    };
    let room = most.saturating_sub(end.len());
    let front = front.chars().take(room.saturating_sub(own.len()));
    front.chain(own.chars()).take(room).collect::<String>() + end
}

/// Returns values that just violate what is declared, each with a description, and whether it
/// violates a closed list.
pub(super) fn beyond(
    field: &DeclaredField,
    known: Option<&CheckedField>,
) -> Vec<(&'static str, Value, bool)> {
    let step = |text: Option<&String>, by: i64| {
        text?.parse::<i64>().ok()?.checked_add(by).map(Value::from)
    };
    let long = field
        .max_length
        .filter(|most| *most < 10_000)
        .and_then(|most| usize::try_from(most).ok());
    let long = long.map(|most| json!("x".repeat(most.saturating_add(1))));
    let listed = field
        .values
        .as_ref()
        .filter(|_| field.kind == "enum")
        .zip(known);
    let untaken = listed.and_then(|(taken, known)| {
        known
            .values
            .iter()
            .find(|value| !taken.iter().any(|it| it == *value))
    });
    let all = [
        (
            "more than its maximum",
            step(field.maximum.as_ref(), 1),
            false,
        ),
        (
            "less than its minimum",
            step(field.minimum.as_ref(), -1),
            false,
        ),
        (
            "too long",
            long.map(|text| {
                if field.kind.ends_with("[]") {
                    json!([text])
                } else {
                    text
                }
            }),
            false,
        ),
        (
            "a value that is not declared",
            untaken.map(|value| json!(value)),
            true,
        ),
    ];
    all.into_iter()
        .filter_map(|(what, value, is_list)| Some((what, value?, is_list)))
        .collect()
}
