//! The minimal body with which a record can be created.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use svc_declaration::DeclaredField;

use super::{BodyVariant, body, sample};
use crate::check::CheckContext;

/// Returns the minimal body with which a record of a kind can be created: what the specification
/// requires, and what is declared as required.
pub(crate) fn minimal_body(cx: &CheckContext, one: &str) -> Value {
    let mut least = match one {
        "question" => json!({"question_type": "MultiChoice",
            "responses": [{"key": "a1", "name": "yes"}, {"key": "b2", "name": "no"}]}),
        "tag" | "list" => json!({"name": cx.unique()}),
        // One of the responses of that question.
        "answer"
            if cx
                .declared()
                .field("answer", "responses")
                .is_some_and(|field| field.writable) =>
        {
            json!({"responses": ["a1"]})
        }
        _ => json!({}),
    };
    least = complete(cx, one, least);
    let fields = cx.declared().fields(one).into_iter().flatten();
    let missing = |(name, field): &(&String, &DeclaredField)| {
        field.required && least.get(name.as_str()).is_none()
    };
    let missing: Vec<&String> = fields.filter(missing).map(|(name, _)| name).collect();
    if missing.is_empty() {
        return least;
    }
    let whole = body(cx.declared(), one, BodyVariant::All(0), &cx.unique());
    let whole = whole
        .and_then(|whole| sample(&whole, cx.seed("least")))
        .unwrap_or_default();
    if let Some(members) = least.as_object_mut() {
        for name in missing {
            members.extend(whole.get(name).map(|value| (name.clone(), value.clone())));
        }
    }
    least
}

/// Returns the same body with what the declaration requires in its objects, such as a `name` for
/// each of `responses`.
pub(crate) fn complete(cx: &CheckContext, one: &str, mut body: Value) -> Value {
    let Some(fields) = cx.declared().fields(one) else {
        return body;
    };
    for turn in LISTS {
        if !lacks(fields, &body) {
            break;
        }
        let whole = super::body(cx.declared(), one, BodyVariant::All(turn), &cx.unique());
        let whole = whole.and_then(|whole| sample(&whole, cx.seed("least")));
        fill(fields, &mut body, &whole.unwrap_or_default());
    }
    body
}

/// Variants in which every list has elements.
const LISTS: [usize; 4] = [0, 4, 8, 12];

/// Returns the objects in a value, each with its possible fields.
fn inner<'f, 'v>(
    fields: &'f BTreeMap<String, DeclaredField>,
    value: &'v Value,
) -> impl Iterator<Item = (&'f BTreeMap<String, DeclaredField>, &'v Value)> {
    let nested = fields
        .iter()
        .filter_map(|(name, field)| Some((field.fields.as_ref()?, value.get(name)?)));
    nested.flat_map(|(inner, value)| {
        let objects = value
            .as_array()
            .map_or(std::slice::from_ref(value), Vec::as_slice);
        objects
            .iter()
            .filter(|one| one.is_object())
            .map(move |one| (inner, one))
    })
}

/// Whether an object in a value lacks a required member.
fn lacks(fields: &BTreeMap<String, DeclaredField>, value: &Value) -> bool {
    inner(fields, value).any(|(inner, object)| {
        inner
            .iter()
            .any(|(name, field)| field.required && field.writable && object.get(name).is_none())
            || lacks(inner, object)
    })
}

/// Copies what the objects in a value require from a whole body.
fn fill(fields: &BTreeMap<String, DeclaredField>, value: &mut Value, whole: &Value) {
    for (name, field) in fields {
        let (Some(inner), Some(value)) = (&field.fields, value.get_mut(name)) else {
            continue;
        };
        let whole = &whole[name.as_str()];
        let wholes = whole
            .as_array()
            .map_or(std::slice::from_ref(whole), Vec::as_slice);
        let objects = match value {
            Value::Array(list) => list.as_mut_slice(),
            other => std::slice::from_mut(other),
        };
        for (object, whole) in objects.iter_mut().zip(wholes.iter().cycle()) {
            let Some(members) = object.as_object_mut() else {
                continue;
            };
            let needed = inner
                .iter()
                .filter(|(_, field)| field.required && field.writable);
            for (name, value) in needed.filter_map(|(name, _)| Some((name, whole.get(name)?))) {
                members.entry(name.clone()).or_insert_with(|| value.clone());
            }
            fill(inner, object, whole);
        }
    }
}

/// Returns the members of one object, overwritten by those of another.
pub(crate) fn with(base: &Value, over: &Value) -> Value {
    let mut base = base.clone();
    if let (Some(base), Some(over)) = (base.as_object_mut(), over.as_object()) {
        base.extend(over.clone());
    }
    base
}

/// Returns an object without some of its members.
pub(crate) fn without(base: &Value, names: &[&str]) -> Value {
    let mut base = base.clone();
    if let Some(base) = base.as_object_mut() {
        base.retain(|name, _| !names.contains(&name.as_str()));
    }
    base
}
