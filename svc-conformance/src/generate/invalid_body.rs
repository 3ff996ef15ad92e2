//! Bodies that violate exactly one declared rule.

use serde_json::{Value, json};

use super::body::overlong;
use super::{constraints, minimal_body, sample, with};
use crate::check::CheckContext;
use crate::declared::DeclaredApi;
use crate::fields::{self, ValueShape};
use crate::kinds::kind;

/// A body with one error, and the property that a response must name.
#[derive(Debug, Clone)]
pub(crate) struct InvalidBody {
    /// What is wrong, in words.
    pub(crate) what: String,
    pub(crate) body: Value,
    pub(crate) property: String,
    /// The requirement of the field.
    pub(crate) row: Option<&'static str>,
    /// Whether the value is not in a closed list.
    pub(crate) is_list: bool,
}

/// Returns every top-level error of a kind that the declared behaviours allow to judge.
pub(crate) fn faults(cx: &CheckContext, one: &str) -> Vec<InvalidBody> {
    let declared = cx.declared();
    let Some(own) = declared.fields(one) else {
        return Vec::new();
    };
    let base = minimal_body(cx, one);
    let mut faults = Vec::new();
    for (at, (name, field)) in own.iter().enumerate() {
        if !field.writable || field.computed {
            continue;
        }
        let known = fields::find(one, name);
        faults.extend(constraints::beyond(field, known).into_iter().map(
            |(what, wrong, is_list)| InvalidBody {
                what: format!("{name} is {what}"),
                body: with(&base, &json!({ name: wrong })),
                property: name.clone(),
                row: known.map(|known| known.row),
                is_list,
            },
        ));
        // A list of texts can be too short to exceed the maximum.
        let overlong = field
            .max_items
            .and_then(|_| overlong(declared, one, name, &cx.unique()));
        let overlong = overlong.and_then(|list| sample(&list, cx.seed("overlong")));
        if let Some(Value::Array(list)) = overlong
            && list.len() > constraints::max_items(field)
        {
            faults.push(InvalidBody {
                what: format!("{name} has one entry more than its maximum"),
                body: with(&base, &json!({ name: list })),
                property: name.clone(),
                row: known.map(|known| known.row),
                is_list: false,
            });
        }
        if declared.behaves("validates_types")
            && let Some(known) = known
            && let Some(wrong) = wrong(known.shape, at)
        {
            faults.push(InvalidBody {
                what: format!("{name} has another type"),
                body: with(&base, &json!({ name: wrong })),
                property: name.clone(),
                row: Some(known.row),
                is_list: false,
            });
        }
        if declared.behaves("validates_enums")
            && let Some(known) = known.filter(|known| known.shape == ValueShape::Enum)
        {
            faults.push(InvalidBody {
                what: format!("{name} has an unlisted value"),
                body: with(&base, &json!({ name: "svc-conformance unlisted" })),
                property: name.clone(),
                row: Some(known.row),
                is_list: true,
            });
        }
    }
    // Without the responses, which may not be valid for the type that a server could use instead.
    if one == "question" && declared.behaves("validates_enums") {
        let typed = faults
            .iter()
            .filter(|fault| fault.is_list && fault.property == "question_type");
        let alone =
            |fault: &InvalidBody| json!({ "question_type": fault.body.get("question_type") });
        let alone: Vec<InvalidBody> = typed
            .map(|fault| InvalidBody {
                body: alone(fault),
                ..fault.clone()
            })
            .collect();
        faults.extend(alone);
    }
    faults.extend(nested(declared, one, &base));
    faults
}

/// Below the top level: one unlisted value in each closed list, and another type for each number
/// and boolean.
fn nested(declared: &DeclaredApi, one: &str, base: &Value) -> Vec<InvalidBody> {
    if kind(one).is_none() {
        return Vec::new();
    }
    let mut faults = Vec::new();
    for (at, field) in fields::all().iter().enumerate() {
        let (what, wrong, behaviour) = match field.shape {
            ValueShape::Enum => (
                "an unlisted value",
                Some(json!("svc-conformance unlisted")),
                "validates_enums",
            ),
            ValueShape::Integer | ValueShape::Float | ValueShape::Number | ValueShape::Boolean => {
                ("another type", wrong(field.shape, at), "validates_types")
            }
            _ => continue,
        };
        let Some(wrong) = wrong.filter(|_| declared.behaves(behaviour)) else {
            continue;
        };
        for (of, place) in declared.places(field.owner, field.path) {
            let writable = declared
                .field(one, &place)
                .is_some_and(|field| field.writable);
            if of.one != one || !place.contains('.') || !writable || place.contains("tickets[]") {
                continue;
            }
            let (body, property) = inside(declared, &place, wrong.clone());
            faults.push(InvalidBody {
                what: format!("{place} has {what}"),
                body: with(base, &body),
                property,
                row: Some(field.row),
                is_list: field.shape == ValueShape::Enum,
            });
        }
    }
    faults
}

/// Returns a body with a value at a path, and the property that names the path.
pub(crate) fn inside(declared: &DeclaredApi, path: &str, value: Value) -> (Value, String) {
    let mut body = value;
    for step in path.rsplit('.') {
        let (name, each) = step
            .strip_suffix("[]")
            .map_or((step, false), |name| (name, true));
        let inner = if each { json!([body]) } else { body };
        body = json!({ declared.wire(name): inner });
    }
    let steps = path.split('.').map(|step| match step.strip_suffix("[]") {
        Some(name) => format!("{}[0]", declared.wire(name)),
        None => declared.wire(step).to_owned(),
    });
    (body, steps.collect::<Vec<_>>().join("."))
}

/// Returns a value of a wrong JSON type for a shape. In some variants, a careless server could
/// convert it. `None` if several types are allowed.
fn wrong(shape: ValueShape, turn: usize) -> Option<Value> {
    let near = turn.is_multiple_of(2);
    Some(match shape {
        ValueShape::Text | ValueShape::Enum | ValueShape::Flexible if near => json!(7),
        ValueShape::Text | ValueShape::Enum | ValueShape::Flexible => json!({"not": "a text"}),
        ValueShape::Integer | ValueShape::Float | ValueShape::Number if near => json!(true),
        ValueShape::Integer | ValueShape::Float | ValueShape::Number => json!({"not": "a number"}),
        ValueShape::Boolean if near => json!(1),
        ValueShape::Boolean => json!("perhaps"),
        ValueShape::Time | ValueShape::Date => json!("not a date"),
        ValueShape::Object => json!("not an object"),
        ValueShape::Texts | ValueShape::Objects => json!("not an array"),
        ValueShape::Reference | ValueShape::OneOrMany => return None,
    })
}
