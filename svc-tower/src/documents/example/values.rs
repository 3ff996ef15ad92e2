//! Example values of fields, valid by their tables. The one generator of them: documentation and exports use it.

use svc_core::{
    read::{Json, Limits, Object},
    schema::{Field, Mode, ObjectSchema, Rule, Type},
};

use super::words;

/// A moment, and a later one.
pub(super) const EARLIER: &str = "2026-03-14T17:30:00Z";
pub(super) const LATER: &str = "2026-03-14T19:30:00Z";

/// How much of an object an example shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// What tells most, of what a client sends.
    Short,
    /// Every field, and of the objects in them the first members.
    Outline,
    /// Every field, as it is read.
    Whole,
}

/// How many members of an object in a record an outline shows; the page of the object's type shows it whole.
const OUTLINED: usize = 2;

/// An example of a value, as the schema of one field show it: no longer than its type needs.
#[cfg(feature = "openapi")]
pub(in crate::documents) fn of_field(field: &Field, owner: &str) -> serde_json::Value {
    let example = value(&field.ty, field, owner, Extent::Short);
    serde_json::from_slice(&example.to_vec()).unwrap_or_default()
}

/// An example of a nested object with all its fields.
pub(in crate::documents) fn of_object(schema: &ObjectSchema) -> Json {
    object(schema, Extent::Whole)
}

pub(super) fn value(ty: &Type, field: &Field, owner: &str, extent: Extent) -> Json {
    match ty {
        Type::String | Type::Reference => Json::from(string(field, owner)),
        Type::Integer => Json::from(integer(field)),
        Type::Float => number(if field.name == "longitude" { "-89.65" } else { "39.8" }),
        Type::Amount => number("25.5"),
        Type::Boolean => Json::Bool(!matches!(field.name, "voided" | "do_not_call" | "all_day")),
        Type::Timestamp if field.name.contains("end_") || field.name.contains("stop_") => Json::from(LATER),
        Type::Timestamp => Json::from(EARLIER),
        Type::Date => Json::from("2026-03-14"),
        Type::Enum(values) | Type::FlexEnum(values) => {
            let fitting = words::choice(field.name).filter(|choice| values.contains(choice));
            Json::from(fitting.or(values.first().copied()).unwrap_or_default())
        }
        Type::Flag => Json::from("true"),
        Type::StringMap => {
            let mut map = Object::new();
            map.insert("shirt_size", "M");
            Json::Object(map)
        }
        Type::Array(item) => Json::Array(vec![value(item, field, owner, extent)]),
        Type::OneOrMany(item) => value(item, field, owner, extent),
        Type::Object(schema) => object(schema, extent),
        _ => Json::Null,
    }
}

fn object(schema: &ObjectSchema, extent: Extent) -> Json {
    // An inline person, which is a whole record, is shown by its name.
    let extent = if schema.fields.len() > 20 { Extent::Short } else { extent };
    let most = if extent == Extent::Outline { OUTLINED } else { usize::MAX };
    let mut members = Object::new();
    for field in chosen(schema.fields.iter(), extent).into_iter().take(most) {
        members.insert(field.name, value(&field.ty, field, schema.name, extent));
    }
    Json::Object(members)
}

/// The fields of an object that an example shows; where none is telling, the first.
pub(super) fn chosen(fields: impl Iterator<Item = &'static Field>, extent: Extent) -> Vec<&'static Field> {
    let fields: Vec<_> = fields.filter(|field| extent != Extent::Short || !field.is_computed()).collect();
    if extent != Extent::Short {
        return fields;
    }
    let shown = |field: &&Field| field.mode == Mode::Required || words::is_telling(field.name);
    let telling: Vec<_> = fields.iter().copied().filter(shown).collect();
    if telling.is_empty() { fields.into_iter().take(1).collect() } else { telling }
}

fn string(field: &Field, owner: &str) -> &'static str {
    for rule in field.rules {
        match rule {
            Rule::Email => return "rosa.rivera@example.org",
            Rule::CountryCode => return "US",
            Rule::CurrencyCode => return "USD",
            Rule::RegionCode => return "NY",
            Rule::LanguageCode => return "en",
            Rule::LanguageTag => return "en-US",
            Rule::PhoneNumber => return "12025550123",
            Rule::Identifiers => return "other_system:1001",
            _ => {}
        }
    }
    words::text(owner, field.name)
}

fn integer(field: &Field) -> i64 {
    match field.name {
        "month" => 3,
        "day" => 14,
        "year" => 1984,
        "minutes" => 60,
        "limit" | "capacity" => 100,
        "duration" => 240,
        _ => 1,
    }
}

fn number(text: &str) -> Json {
    Json::read(text.as_bytes(), &Limits::default()).unwrap_or_default()
}
