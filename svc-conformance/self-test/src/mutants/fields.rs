//! Faults of fields, generated from the requirements of the catalogue. A field is lost or has
//! another type, a closed list is open, an open list is closed, or a total does not change.

use serde_json::{Map, Value};
use svc_conformance::ids;

use super::{Mutant, MutationPoint, set};
use crate::fields::{self, FieldShape, ObjectField};
use crate::interceptor::Interceptor;
use crate::link_map::NAMES;

/// A field with its path.
#[derive(Debug, Clone)]
struct FieldPosition {
    owner: &'static str,
    path: Vec<String>,
    field: ObjectField,
}

/// Every field that has its own requirement.
fn all() -> Vec<FieldPosition> {
    fn walk(
        owner: &'static str,
        fields: &[ObjectField],
        path: &[String],
        into: &mut Vec<FieldPosition>,
    ) {
        let area = format!("RES-{owner}-");
        for field in fields.iter().filter(|field| field.row.starts_with(&area)) {
            let path: Vec<String> = path.iter().cloned().chain([field.name.clone()]).collect();
            into.push(FieldPosition {
                owner,
                path: path.clone(),
                field: field.clone(),
            });
            walk(owner, field.shape.members(), &path, into);
        }
    }
    let mut all = Vec::new();
    for (owner, described) in fields::all() {
        walk(owner, &described.fields, &[], &mut all);
    }
    all
}

pub(super) fn faults() -> Vec<Mutant> {
    let mut faults = Vec::new();
    let mut typed: Vec<(&str, String)> = Vec::new();
    for at in all() {
        let row = at.field.row.clone();
        let name = format!("{}.{}", at.owner, at.path.join("."));
        if at.field.shape == FieldShape::Link {
            continue;
        }
        faults.push(if at.field.computed && at.field.name != "total_shares" {
            stuck(&at, format!("{name} stays at zero"), &row)
        } else {
            lost(&at, format!("{name} is lost"), &row)
        });
        match &at.field.shape {
            FieldShape::Enum(values) => {
                faults.push(open(&at, values, format!("{name} takes anything"), &row));
            }
            FieldShape::Flex(values) => faults.push(closed(
                &at,
                values,
                format!("{name} takes only what is listed"),
                &row,
            )),
            _ => {}
        }
        // One of each type in each object.
        let kind = std::mem::discriminant(&at.field.shape);
        let key = (at.owner, format!("{kind:?}"));
        if !typed.contains(&key) {
            typed.push(key);
            faults.push(mistyped(&at, format!("{name} has another type"), &row));
        }
    }
    faults
}

fn lost(at: &FieldPosition, name: String, row: &str) -> Mutant {
    let at = at.clone();
    Mutant::new("field lost", name, &[row], move || {
        let at = at.clone();
        shown(at.owner, move |object| {
            each(object, &at.path, &mut |parent, name| {
                drop(parent.remove(name));
            });
        })
    })
}

fn stuck(at: &FieldPosition, name: String, row: &str) -> Mutant {
    let at = at.clone();
    Mutant::new("total stays at zero", name, &[row], move || {
        let at = at.clone();
        shown(at.owner, move |object| {
            each(object, &at.path, &mut |parent, name| {
                if parent.contains_key(name) {
                    set(parent, name, 0);
                }
            });
        })
    })
}

fn mistyped(at: &FieldPosition, name: String, row: &str) -> Mutant {
    let at = at.clone();
    let typed = match &at.field.shape {
        FieldShape::String | FieldShape::Reference | FieldShape::Link => ids::TYP_01,
        FieldShape::Integer => ids::TYP_02,
        FieldShape::Float => ids::TYP_03,
        FieldShape::Number => ids::TYP_04,
        FieldShape::Boolean => ids::TYP_05,
        FieldShape::Datetime => ids::TYP_06,
        FieldShape::Date => ids::TYP_07,
        FieldShape::Enum(_) => ids::TYP_08,
        FieldShape::Flex(_) => ids::TYP_09,
        FieldShape::Texts | FieldShape::Person | FieldShape::Object(_) => ids::TYP_11,
        FieldShape::Array(_) => ids::TYP_12,
    };
    Mutant::new("wrong type", name, &[row, typed], move || {
        let at = at.clone();
        shown(at.owner, move |object| {
            each(object, &at.path, &mut |parent, name| {
                if let Some(value) = parent.get_mut(name) {
                    *value = other_type(value);
                }
            });
        })
    })
}

/// Returns a value of another type with the same meaning.
fn other_type(value: &Value) -> Value {
    match value {
        Value::String(text) => serde_json::json!({ "value": text }),
        Value::Object(object) => Value::Array(object.values().cloned().collect()),
        Value::Array(list) => {
            let named = list
                .iter()
                .enumerate()
                .map(|(at, value)| (at.to_string(), value.clone()));
            Value::Object(named.collect())
        }
        other => Value::String(other.to_string()),
    }
}

/// Accepts a value outside the closed list, and replaces it by one of the list.
fn open(at: &FieldPosition, values: &[String], name: String, row: &str) -> Mutant {
    let (at, values) = (at.clone(), values.to_vec());
    Mutant::new("list open", name, &[row, ids::TYP_08], move || {
        let (at, values) = (at.clone(), values.clone());
        Interceptor::sent(move |_, what, body, _| {
            let kind = what
                .and_then(crate::link_map::ResourceKind::kind)
                .unwrap_or_default();
            let first = values.first().cloned().unwrap_or_default();
            owned(at.owner, kind, body, &mut |object| {
                each(object, &at.path, &mut |parent, name| {
                    let is_listed = |text: &str| values.iter().any(|value| value == text);
                    if parent
                        .get(name)
                        .and_then(Value::as_str)
                        .is_some_and(|text| !is_listed(text))
                    {
                        set(parent, name, first.clone());
                    }
                });
            });
        })
    })
    .at(MutationPoint::Request)
}

/// Replaces free text by the first listed value.
fn closed(at: &FieldPosition, values: &[String], name: String, row: &str) -> Mutant {
    let (at, values) = (at.clone(), values.to_vec());
    Mutant::new("list closed", name, &[row, ids::TYP_09], move || {
        let (at, values) = (at.clone(), values.clone());
        shown(at.owner, move |object| {
            each(object, &at.path, &mut |parent, name| {
                let is_listed = |text: &str| values.iter().any(|value| value == text);
                if parent
                    .get(name)
                    .and_then(Value::as_str)
                    .is_some_and(|text| !is_listed(text))
                {
                    set(parent, name, values.first().cloned().unwrap_or_default());
                }
            });
        })
    })
}

/// Changes the objects of an owner in every response.
fn shown(
    owner: &'static str,
    mut act: impl FnMut(&mut Map<String, Value>) + Send + 'static,
) -> Interceptor {
    Interceptor::documents(move |call, document, _, sight| {
        sight.each_record(call, document, &mut |kind, record| {
            owned(owner, kind, record, &mut act);
        });
    })
}

/// Calls a function with the objects of an owner in a body: the record itself, or the shared
/// objects in it.
fn owned(
    owner: &str,
    kind: &str,
    body: &mut Map<String, Value>,
    act: &mut dyn FnMut(&mut Map<String, Value>),
) {
    if owner == kind && owner == "canvass" {
        // A helper's canvass is an object in its body.
        if let Some(Value::Object(canvass)) = body.get_mut("canvass") {
            act(canvass);
        }
    }
    if owner == "person" && kind != "person" {
        if let Some(Value::Object(person)) = body.get_mut("person") {
            act(person);
        }
    } else if NAMES.iter().any(|(one, _)| *one == owner) {
        if owner == kind {
            act(body);
        }
        if owner == "person"
            && let Some(Value::Object(person)) = body.get_mut("person")
        {
            act(person);
        }
    } else {
        shared(owner, body, act);
    }
}

/// Calls a function with the shared objects at any depth.
fn shared(
    owner: &str,
    body: &mut Map<String, Value>,
    act: &mut dyn FnMut(&mut Map<String, Value>),
) {
    for (name, value) in body.iter_mut().filter(|(name, _)| *name != "_links") {
        let is_here = match name.as_str() {
            "postal_addresses" => owner == "postal_address",
            "email_addresses" => owner == "email_address",
            "phone_numbers" => owner == "phone_number",
            "targets" | "target_list" => owner == "target",
            name => name == owner,
        };
        match value {
            Value::Object(object) => {
                if is_here {
                    act(object);
                }
                shared(owner, object, act);
            }
            Value::Array(list) => {
                for object in list.iter_mut().filter_map(Value::as_object_mut) {
                    if is_here {
                        act(object);
                    }
                    shared(owner, object, act);
                }
            }
            _ => {}
        }
    }
}

/// Calls a function with the object that contains the last name of a path, through lists.
fn each(
    object: &mut Map<String, Value>,
    path: &[String],
    act: &mut dyn FnMut(&mut Map<String, Value>, &str),
) {
    match path {
        [] => {}
        [name] => act(object, name),
        [first, rest @ ..] => match object.get_mut(first) {
            Some(Value::Object(inner)) => each(inner, rest, act),
            Some(Value::Array(list)) => {
                for inner in list.iter_mut().filter_map(Value::as_object_mut) {
                    each(inner, rest, act);
                }
            }
            _ => {}
        },
    }
}
