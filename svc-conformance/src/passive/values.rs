//! Passive checks of the values of fields: type, format and listed values of every field in the
//! catalogue.

use std::borrow::Cow;

use chrono::NaiveDate;
use serde_json::{Map, Value, json};

use crate::cause::{Cause, CauseKind};
use crate::check::CheckContext;
use crate::fields::{self, CheckedField, ObservationMethod, ValueShape};
use crate::ids;
use crate::kinds::CatalogueKind;
use crate::response::TestResponse;
use crate::values::{at, each, instant};

/// Checks every declared field and link of one record.
pub(crate) fn record(
    cx: &CheckContext,
    answer: &TestResponse,
    record: &Value,
    object: &Map<String, Value>,
    of: CatalogueKind,
) {
    owner(cx, answer, record, of.one);
    present(cx, answer, record, of);
    common(cx, answer, object);
    links(cx, answer, object, of);
    if of.one == "person" {
        person(cx, answer, record);
    }
}

/// Checks the fields of a resource or shared object.
fn owner(cx: &CheckContext, answer: &TestResponse, object: &Value, name: &str) {
    for field in fields::of(name) {
        each(object, &wire(cx, field.path), &mut |value| {
            if value.is_null() {
                return;
            }
            one(cx, answer, field, value);
            let last = field
                .path
                .rsplit('.')
                .next()
                .unwrap_or_default()
                .trim_end_matches("[]");
            let Some(shared) = fields::shared(last) else {
                return;
            };
            for member in value
                .as_array()
                .map_or(std::slice::from_ref(value), Vec::as_slice)
            {
                owner(cx, answer, member, shared);
            }
        });
    }
}

/// Returns a path of the catalogue with the names that this server uses.
pub(crate) fn wire<'p>(cx: &CheckContext, path: &'p str) -> Cow<'p, str> {
    if !cx.declared().renames() {
        return Cow::Borrowed(path);
    }
    let name = |step: &'p str| {
        step.strip_suffix("[]")
            .map_or((step, ""), |name| (name, "[]"))
    };
    if path
        .split('.')
        .all(|step| cx.declared().wire(name(step).0) == name(step).0)
    {
        return Cow::Borrowed(path);
    }
    let steps = path
        .split('.')
        .map(|step| [cx.declared().wire(name(step).0), name(step).1].concat());
    Cow::Owned(steps.collect::<Vec<_>>().join("."))
}

fn one(cx: &CheckContext, answer: &TestResponse, field: &CheckedField, value: &Value) {
    let right = is_shape(value, field.shape) && is_listed(value, field);
    let found = || format!("{}.{} is {value}: {answer}", field.owner, field.path);
    let entries = matches!(value.as_array(), Some(list) if field.shape == ValueShape::Objects && !list.is_empty());
    for row in [
        Some(field.row),
        row(field.shape),
        entries.then_some(ids::TYP_11),
    ]
    .into_iter()
    .flatten()
    {
        cx.observe_with_cause(row, right, found, || {
            Some(Cause::of_field(CauseKind::Type, field))
        });
    }
    if field.shape == ValueShape::Time && right {
        let zulu = value
            .as_str()
            .is_some_and(|text| text.ends_with(['Z', 'z']));
        cx.prefers(ids::TYP_06, zulu, || {
            format!("{}.{} is not in UTC: {value}", field.owner, field.path)
        });
    }
    if field.row == ids::RES_PHONE_NUMBER_03 {
        let digits = value
            .as_str()
            .is_some_and(|text| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()));
        cx.observe(ids::RES_PHONE_NUMBER_03, digits, found);
        cx.observe(ids::LIM_03, digits, found);
    }
    if field.row == ids::RES_PERSON_35 {
        cx.observe(
            ids::RES_PERSON_35,
            value.as_str().is_some_and(|text| !text.starts_with('@')),
            found,
        );
    }
    if matches!(field.row, ids::RES_PERSON_16 | ids::RES_PERSON_17) {
        cx.observe(field.row, is_unique(value), found);
    }
}

/// Returns the type requirement of a shape.
pub(crate) const fn row(shape: ValueShape) -> Option<&'static str> {
    Some(match shape {
        ValueShape::Text => ids::TYP_01,
        ValueShape::Integer => ids::TYP_02,
        ValueShape::Float => ids::TYP_03,
        ValueShape::Number => ids::TYP_04,
        ValueShape::Boolean => ids::TYP_05,
        ValueShape::Time => ids::TYP_06,
        ValueShape::Date => ids::TYP_07,
        ValueShape::Enum => ids::TYP_08,
        ValueShape::Flexible => ids::TYP_09,
        ValueShape::Object => ids::TYP_11,
        ValueShape::Texts | ValueShape::Objects => ids::TYP_12,
        ValueShape::Reference | ValueShape::OneOrMany => return None,
    })
}

fn is_listed(value: &Value, field: &CheckedField) -> bool {
    field.shape != ValueShape::Enum
        || value
            .as_str()
            .is_some_and(|text| field.values.contains(&text))
}

/// Whether a value has the JSON type and format of a shape.
pub(crate) fn is_shape(value: &Value, shape: ValueShape) -> bool {
    match shape {
        ValueShape::Text | ValueShape::Enum | ValueShape::Flexible => value.is_string(),
        // 3.0 has no fraction, however it is written.
        ValueShape::Integer => {
            value.is_i64()
                || value.is_u64()
                || value.as_f64().is_some_and(|number| number.fract() == 0.0)
        }
        ValueShape::Float | ValueShape::Number => value.is_number(),
        ValueShape::Boolean => value.is_boolean(),
        ValueShape::Time => value.as_str().is_some_and(|text| instant(text).is_some()),
        ValueShape::Date => value
            .as_str()
            .is_some_and(|text| NaiveDate::parse_from_str(text, "%Y-%m-%d").is_ok()),
        ValueShape::Object => value.is_object(),
        ValueShape::Texts => value
            .as_array()
            .is_some_and(|list| list.iter().all(Value::is_string)),
        ValueShape::Objects => value
            .as_array()
            .is_some_and(|list| list.iter().all(Value::is_object)),
        ValueShape::Reference => value.is_string() || value["href"].is_string(),
        ValueShape::OneOrMany => {
            value.is_object()
                || value
                    .as_array()
                    .is_some_and(|list| list.iter().all(Value::is_object))
        }
    }
}

fn is_unique(value: &Value) -> bool {
    let list = value.as_array().map_or(&[][..], Vec::as_slice);
    list.iter()
        .enumerate()
        .all(|(at, one)| !list.iter().take(at).any(|other| other == one))
}

/// Checks that declared computed fields are present.
fn present(cx: &CheckContext, answer: &TestResponse, record: &Value, of: CatalogueKind) {
    for field in fields::of(of.one).filter(|field| field.way != ObservationMethod::RoundTrip) {
        let declared = cx.declared().field(of.one, field.path);
        if declared.is_some_and(|field| field.computed && field.readable) {
            inside(cx, answer, record, field, field.path);
        }
    }
    let Some(_) = cx.declared().field(of.one, "share_options") else {
        return;
    };
    for field in fields::of("share_options").filter(|field| field.way == ObservationMethod::Type) {
        let place = format!("share_options[].{}", field.path);
        if cx
            .declared()
            .field(of.one, &place)
            .is_some_and(|field| field.computed && field.readable)
        {
            inside(cx, answer, record, field, &place);
        }
    }
}

fn inside(
    cx: &CheckContext,
    answer: &TestResponse,
    record: &Value,
    field: &CheckedField,
    path: &str,
) {
    let path = wire(cx, path);
    let (parents, name) = match path.rsplit_once('.') {
        Some((parent, name)) => (at(record, parent), name),
        None => (vec![record], &*path),
    };
    for parent in parents.into_iter().filter(|parent| parent.is_object()) {
        let there = parent.get(name).is_some_and(|value| !value.is_null());
        let found = || format!("the declared computed field {path} is missing: {answer}");
        cx.observe_with_cause(field.row, there, found, || {
            Some(Cause::of_field(CauseKind::Missing, field))
        });
    }
}

/// Checks the fields that every resource has.
///
/// Requirements: TYP-13 to TYP-16.
fn common(cx: &CheckContext, answer: &TestResponse, object: &Map<String, Value>) {
    if let Some(identifiers) = object.get("identifiers").filter(|value| !value.is_null()) {
        let list = identifiers.as_array();
        let formed = |entry: &Value| {
            entry
                .as_str()
                .and_then(|e| e.split_once(':'))
                .is_some_and(|(s, i)| !s.is_empty() && !i.is_empty())
        };
        cx.observe(
            ids::TYP_13,
            list.is_some_and(|list| list.iter().all(formed)),
            || format!("{identifiers} in {answer}"),
        );
        cx.observe(
            ids::TYP_12,
            is_shape(identifiers, ValueShape::Texts),
            || format!("{identifiers} in {answer}"),
        );
        cx.observe(ids::TYP_14, is_unique(identifiers), || {
            format!("{identifiers} in {answer}")
        });
    }
    let time = |name: &str| object.get(name).filter(|value| !value.is_null());
    let read = |value: Option<&Value>| value.and_then(Value::as_str).and_then(instant);
    let (created, modified) = (time("created_date"), time("modified_date"));
    for (row, value) in [(ids::TYP_15, created), (ids::TYP_16, modified)] {
        if value.is_some() {
            for row in [row, ids::TYP_06] {
                cx.observe(row, read(value).is_some(), || {
                    format!("{} is not a timestamp, in {answer}", json!(value))
                });
            }
        }
    }
    if let (Some(created), Some(modified)) = (read(created), read(modified)) {
        cx.observe(ids::TYP_16, modified >= created, || {
            format!("modified before it was created: {answer}")
        });
    }
}

/// Checks that the declared links of the catalogue are in every representation. Links to a person
/// are only required if the person is known.
fn links(cx: &CheckContext, answer: &TestResponse, object: &Map<String, Value>, of: CatalogueKind) {
    let Some(links) = object.get("_links").and_then(Value::as_object) else {
        return;
    };
    for (row, link) in fields::links(of.one).filter(|(row, _)| row.applies_if_declared()) {
        let name = link.name.as_str();
        let rel = if name == "self" {
            name.to_owned()
        } else {
            cx.declared().rel(name)
        };
        let is_embedded = || {
            object
                .get("_embedded")
                .is_some_and(|embedded| embedded.get(&rel).is_some())
        };
        let there = links.contains_key(&rel) || (cx.declared().helpers_only() && is_embedded());
        if there || (!link.is_to_person() && cx.declared().links(of.one, name)) {
            cx.observe(&row.id, there, || format!("no link `{rel}` in {answer}"));
        }
    }
}

/// Checks that at most one of each kind of contact is primary.
fn person(cx: &CheckContext, answer: &TestResponse, person: &Value) {
    let places = [
        (ids::RES_POSTAL_ADDRESS_02, "postal_addresses"),
        (ids::RES_EMAIL_ADDRESS_02, "email_addresses"),
        (ids::RES_PHONE_NUMBER_02, "phone_numbers"),
    ];
    for (row, name) in places {
        if let Some(list) = person[name].as_array() {
            let primary = list
                .iter()
                .filter(|one| one["primary"] == true || one["primary"] == "true")
                .count();
            cx.observe(row, primary <= 1, || {
                format!("{primary} of {name} are primary: {answer}")
            });
        }
    }
}
