//! Example values of fields, valid according to the schema. The documentation and the exports use
//! this generator.

use svc_core::{
    read::{Json, JsonLimits, Object},
    schema::{Constraints, FieldRule, FieldSpec, ObjectSchema, ValueType},
    value::Amount,
};

use super::{
    moments::{EARLIER, LATER},
    sample_text,
};
use crate::documents::effective_field::EffectiveField;

/// How much of an object an example contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ExampleDetail {
    /// The most informative fields that a client sends.
    Short,
    /// Every field, with only the first members of nested objects.
    Outline,
    /// Every field, as in a response.
    Whole,
}

/// The number of members of a nested object in an outline. The page of the object type shows the
/// whole object.
const OUTLINED: usize = 2;

/// Returns an example value for the schema of one field, not longer than its type needs.
pub(in crate::documents) fn of_field(own: EffectiveField<'_>, owner: &str) -> serde_json::Value {
    let example = value(&own.field.ty, own, owner, ExampleDetail::Short);
    serde_json::from_slice(&example.to_vec()).unwrap_or_default()
}

/// Returns an example of a field with a plain value.
pub(in crate::documents) fn of_plain(own: EffectiveField<'_>, owner: &str) -> Json {
    value(&own.field.ty, own, owner, ExampleDetail::Short)
}

/// Returns an example of a nested object with all its fields.
pub(in crate::documents) fn of_object(schema: &'static ObjectSchema) -> Json {
    object(schema, None, ExampleDetail::Whole)
}

/// Returns an example value of a type, within the constraints of this server.
pub(super) fn value(
    ty: &ValueType,
    own: EffectiveField<'_>,
    owner: &str,
    extent: ExampleDetail,
) -> Json {
    let field = own.field;
    match ty {
        ValueType::Enum(_) | ValueType::FlexEnum(_) if own.values().is_some() => {
            let fitting = sample_text::choice(field.name);
            let values = own.values().unwrap_or_default();
            let known = values.iter().find(|value| Some(value.as_str()) == fitting);
            Json::from(
                known
                    .or(values.first())
                    .map(String::as_str)
                    .unwrap_or_default(),
            )
        }
        ValueType::String | ValueType::Reference => {
            Json::from(shortened(own, string(field, owner)))
        }
        ValueType::Integer => within(own, &integer(field).to_string()),
        ValueType::Float => number(if field.name == "longitude" {
            "-89.65"
        } else {
            "39.8"
        }),
        ValueType::Amount => within(own, "25.5"),
        ValueType::Boolean => {
            Json::Bool(!matches!(field.name, "voided" | "do_not_call" | "all_day"))
        }
        ValueType::Timestamp if field.name.contains("end_") || field.name.contains("stop_") => {
            Json::from(LATER)
        }
        ValueType::Timestamp => Json::from(EARLIER),
        ValueType::Date => Json::from("2026-03-14"),
        ValueType::Enum(values) | ValueType::FlexEnum(values) => {
            let fitting = sample_text::choice(field.name).filter(|choice| values.contains(choice));
            Json::from(fitting.or(values.first().copied()).unwrap_or_default())
        }
        ValueType::Flag => Json::from("true"),
        ValueType::StringMap => {
            let mut map = Object::new();
            map.insert("shirt_size", "M");
            Json::Object(map)
        }
        ValueType::Array(item) => Json::Array(vec![value(item, own, owner, extent)]),
        ValueType::OneOrMany(item) => value(item, own, owner, extent),
        ValueType::Object(schema) => object(schema, own.members(), extent),
    }
}

fn object(
    schema: &'static ObjectSchema,
    narrowing: Option<&Constraints>,
    extent: ExampleDetail,
) -> Json {
    // An inline person is a whole record; the example contains only the name.
    let extent = if schema.fields.len() > 20 {
        ExampleDetail::Short
    } else {
        extent
    };
    let most = if extent == ExampleDetail::Outline {
        OUTLINED
    } else {
        usize::MAX
    };
    let mut members = Object::new();
    let is_shown = |own: &EffectiveField<'_>| {
        if extent == ExampleDetail::Short {
            own.is_writable()
        } else {
            own.is_readable()
        }
    };
    let shown = EffectiveField::in_table(schema, narrowing).filter(is_shown);
    for own in chosen(shown, extent).into_iter().take(most) {
        members.insert(
            own.field.name,
            value(&own.field.ty, own, schema.name, extent),
        );
    }
    Json::Object(members)
}

/// Returns the fields of an object that an example contains; the first field if none is
/// informative.
pub(super) fn chosen<'a>(
    fields: impl Iterator<Item = EffectiveField<'a>>,
    extent: ExampleDetail,
) -> Vec<EffectiveField<'a>> {
    let fields: Vec<_> = fields
        .filter(|own| extent != ExampleDetail::Short || !own.field.is_computed())
        .collect();
    if extent != ExampleDetail::Short {
        return fields;
    }
    let shown =
        |own: &EffectiveField<'_>| own.is_required() || sample_text::is_telling(own.field.name);
    let telling: Vec<_> = fields.iter().copied().filter(shown).collect();
    if telling.is_empty() {
        fields.into_iter().take(1).collect()
    } else {
        telling
    }
}

fn string(field: &FieldSpec, owner: &str) -> &'static str {
    for rule in field.rules {
        match rule {
            FieldRule::Email => return "rosa.rivera@example.org",
            FieldRule::CountryCode => return "US",
            FieldRule::CurrencyCode => return "USD",
            FieldRule::RegionCode => return "NY",
            FieldRule::LanguageCode => return "en",
            FieldRule::LanguageTag => return "en-US",
            FieldRule::PhoneNumber => return "12025550123",
            FieldRule::Identifiers => return "other_system:1001",
            _ => {}
        }
    }
    sample_text::text(owner, field.name)
}

fn integer(field: &FieldSpec) -> i64 {
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

/// Returns a number, or the nearest one that this server accepts.
fn within(own: EffectiveField<'_>, text: &str) -> Json {
    let wanted = Amount::parse(text).unwrap_or_default();
    let (least, most) = own
        .narrow
        .map_or((None, None), |narrow| (narrow.min, narrow.max));
    let most = most.map_or(wanted, |most| wanted.min(most));
    Json::from(least.map_or(most, |least| most.max(least)))
}

/// Returns a text, shortened to the length that this server accepts.
fn shortened(own: EffectiveField<'_>, text: &str) -> String {
    let longest = own
        .narrow
        .and_then(|narrow| narrow.max_length)
        .filter(|_| own.is_text());
    let longest = longest
        .and_then(|longest| usize::try_from(longest).ok())
        .unwrap_or(usize::MAX);
    text.chars().take(longest).collect()
}

fn number(text: &str) -> Json {
    Json::read(text.as_bytes(), &JsonLimits::default()).unwrap_or_default()
}
