//! Compares what was read back with what was sent.

use serde_json::{Value, json};

use super::body::{FieldValue, JsonPathStep, described_values};
use crate::cause::{Cause, CauseKind};
use crate::check::CheckContext;
use crate::fields::{self, CheckedField, ObservationMethod, ValueShape};
use crate::linked_resources::LinkedResource;
use crate::response::Representation;
use crate::values::{instant, is_unset};

/// Whether a value that was read back equals the one that was sent for a field of the catalogue.
///
/// Empty, `null` and absent are equal. Timestamps are compared, not their text. Numbers may differ
/// by 1e-9. Computed and other members that the server adds in objects are ignored.
///
/// Requirements: CRU-17, TYP-06, TYP-03.
pub(crate) fn same(field: &CheckedField, sent: &Value, got: Option<&Value>, prefix: &str) -> bool {
    if is_nothing(sent) {
        return got.is_none_or(is_nothing);
    }
    let Some(got) = got else { return false };
    match (field.owner, field.path) {
        // A system may append the link or insert it with a template.
        // Requirements: RES-share_options-10, RES-share_options-13.
        ("share_options", "network_b_share.message" | "email_share.body") => got
            .as_str()
            .zip(sent.as_str())
            .is_some_and(|(got, sent)| got.contains(sent)),
        ("person", "custom_fields") => restored(sent, Some(&without_prefix(got, prefix))),
        _ if matches!(field.shape, ValueShape::Time) || field.path.ends_with("action_date") => {
            instants(sent, got)
        }
        _ => restored(sent, Some(got)),
    }
}

/// Whether every member that was sent is present, whatever its type. An object without a value in a list
/// is nothing.
pub(crate) fn restored(sent: &Value, got: Option<&Value>) -> bool {
    if is_nothing(sent) {
        return got.is_none_or(is_nothing);
    }
    let Some(got) = got else { return false };
    match (sent, got) {
        (Value::Object(sent), Value::Object(_)) => {
            sent.iter().all(|(name, value)| match name.as_str() {
                "message" | "body" if value.is_string() => got[name]
                    .as_str()
                    .zip(value.as_str())
                    .is_some_and(|(got, sent)| got.contains(sent)),
                _ => restored(value, got.get(name)),
            })
        }
        (Value::Array(sent), Value::Array(got)) => {
            let [sent, got] = [sent, got].map(|list| {
                let entries = list.iter().filter(|entry| !is_empty_entry(entry));
                entries.collect::<Vec<_>>()
            });
            sent.len() == got.len()
                && sent
                    .into_iter()
                    .zip(got)
                    .all(|(sent, got)| restored(sent, Some(got)))
        }
        (Value::Number(sent), Value::Number(got)) => close(sent.as_f64(), got.as_f64()),
        (Value::String(one), Value::String(other)) => {
            one == other || (looks_like_time(one) && instants(sent, got))
        }
        _ => sent == got,
    }
}

/// Whether a body has a value that a record does not have, in a field that can be read. The default of
/// a field is equal to `null`.
///
/// Requirements: CRU-19.
pub(crate) fn differs(cx: &CheckContext, one: &str, sent: &Value, read: &Value) -> bool {
    let prefix = &cx.declared().text.custom_field_prefix;
    let mut sent = sent.as_object().into_iter().flatten();
    sent.any(|(name, value)| {
        let declared = cx.declared().field(one, name).filter(|it| it.readable);
        let known = fields::find(one, name).zip(declared);
        known.is_some_and(|(field, declared)| {
            let is_default = value.is_null() && declared.default.is_some();
            !is_default && !same(field, value, read.get(name), prefix)
        })
    })
}

/// Whether a value is unset, or a list of nothing but empty objects.
fn is_nothing(value: &Value) -> bool {
    let is_list_of_none = value
        .as_array()
        .is_some_and(|list| list.iter().all(is_empty_entry));
    is_list_of_none || is_unset(Some(value))
}

/// Whether an entry of a list is an object without a value.
fn is_empty_entry(entry: &Value) -> bool {
    let members = entry.as_object();
    members.is_some_and(|members| members.values().all(|value| is_unset(Some(value))))
}

fn close(sent: Option<f64>, got: Option<f64>) -> bool {
    match (sent, got) {
        (Some(sent), Some(got)) => (sent - got).abs() <= 1e-9 * sent.abs().max(got.abs()),
        _ => false,
    }
}

fn looks_like_time(text: &str) -> bool {
    text.len() >= 20 && text.as_bytes().get(10) == Some(&b'T')
}

fn instants(sent: &Value, got: &Value) -> bool {
    match (
        sent.as_str().and_then(instant),
        got.as_str().and_then(instant),
    ) {
        // A server may store only whole seconds.
        (Some(sent), Some(got)) => sent == got || sent.timestamp() == got.timestamp(),
        _ => sent == got,
    }
}

fn without_prefix(got: &Value, prefix: &str) -> Value {
    match got {
        Value::Object(members) => members
            .iter()
            .map(|(name, value)| {
                (
                    name.strip_prefix(prefix).unwrap_or(name).to_owned(),
                    value.clone(),
                )
            })
            .collect::<serde_json::Map<_, _>>()
            .into(),
        other => other.clone(),
    }
}

/// Returns the cause of a value that is not read back: the innermost field at or below a path that
/// differs.
pub(crate) fn lost(
    cx: &CheckContext,
    one: &str,
    sent: &Value,
    read: &Value,
    place: &[JsonPathStep],
) -> Option<Cause> {
    let prefix = &cx.declared().text.custom_field_prefix;
    let differs = |value: &FieldValue<'_>| {
        let is_kept =
            value.field.way == ObservationMethod::RoundTrip && value.way.starts_with(place);
        is_kept
            && value.has_place_in(read)
            && !same(value.field, value.sent, value.in_another(read), prefix)
    };
    let all = described_values(cx.declared(), one, sent);
    let inner = all.iter().filter(|value| differs(value));
    let value = inner.reduce(|one, other| {
        if other.way.len() > one.way.len() {
            other
        } else {
            one
        }
    })?;
    let flaw = if is_unset(value.in_another(read)) {
        CauseKind::NotStored
    } else {
        CauseKind::Altered
    };
    Some(Cause::of_field(flaw, value.field))
}

/// Same as [`lost`], for one field of a record whose kind is derived from its URL.
pub(crate) fn lost_in(
    cx: &CheckContext,
    record: &Representation,
    name: &str,
    sent: &Value,
) -> Option<Cause> {
    match cx.run.relations.of(&record.link("self")?)? {
        LinkedResource::Record(kind) => {
            lost(cx, kind.one, &json!({ name: sent }), &record.json, &[])
        }
        _ => None,
    }
}
