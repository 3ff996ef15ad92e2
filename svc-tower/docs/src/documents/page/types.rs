//! The pages of field types: the plain ones, and every nested object.
//!
//! Requirements: TYP-01 to TYP-12.

use std::sync::LazyLock;

use svc_core::{
    helper::{FunctionFields, ScheduleFields},
    model::Kind,
    read::{Json, JsonLimits},
    schema::{ObjectSchema, ValueType},
};

use super::{DocLinkGroup, DocPage, DocPages, DocReference, DocSubject, access::FieldAccess, open};
use crate::documents::{example::of_object, is_same};

/// The prefix of a type in the name of its page.
pub(super) const PREFIX: &str = "type-";

/// The plain types: the name, a description, and an example as JSON.
const PLAIN: &[(&str, &str, &str)] = &[
    ("string", "A JSON string.", "\"Rosa\""),
    (
        "integer",
        "A JSON number without a fraction, of at most 64 bits. `7.0` is not an integer.",
        "7",
    ),
    (
        "float",
        "A JSON number, stored as a 64-bit binary floating-point number.",
        "39.8",
    ),
    (
        "number",
        "An amount of money: a JSON number of at most 16 digits before the decimal point and 6 after it. It is not negative, stored digit for digit, and never rounded.",
        "25.5",
    ),
    (
        "boolean",
        "`true` or `false`. The strings `\"true\"` and `\"false\"` are rejected.",
        "true",
    ),
    (
        "datetime",
        "An ISO 8601 timestamp as a string. It needs `Z` or an offset, is stored with microseconds, and is returned in UTC.",
        "\"2026-03-14T17:30:00Z\"",
    ),
    (
        "date",
        "An ISO 8601 calendar date as a string.",
        "\"2026-03-14\"",
    ),
    (
        "enum",
        "A string that is one of the listed values, with the same case. Any other value is rejected.",
        "\"confirmed\"",
    ),
    (
        "flexenum",
        "A string: one of the listed values or any other value.",
        "\"personal\"",
    ),
    (
        "reference",
        "A record, by its address or by one of its identifiers: a string, or an object with `href`.",
        "\"other_system:1001\"",
    ),
    (
        "map",
        "An object with any keys and with strings as values. `null` removes a key.",
        "{\"shirt_size\":\"M\"}",
    ),
];

/// Every nested object of the specification, each once, with the name of its page after the prefix.
static OBJECTS: LazyLock<Vec<(String, &'static ObjectSchema)>> = LazyLock::new(|| {
    let mut objects = Vec::new();
    let kinds = Kind::ALL.iter().map(|kind| kind.schema().fields);
    for table in kinds.chain([FunctionFields::FIELDS, ScheduleFields::FIELDS]) {
        collect(table, &mut objects);
    }
    objects
});

fn collect(table: &'static ObjectSchema, objects: &mut Vec<(String, &'static ObjectSchema)>) {
    for inner in table.fields.iter().filter_map(|field| field.ty.object()) {
        if objects.iter().any(|(_, known)| is_same(known, inner)) {
            continue;
        }
        let is_taken = |name: &str| objects.iter().any(|(known, _)| known == name);
        let name = if is_taken(inner.name) {
            format!("{}-{}", table.name, inner.name)
        } else {
            inner.name.to_owned()
        };
        objects.push((name, inner));
        collect(inner, objects);
    }
}

/// Returns the name of the page of a type; for an array, that of its elements.
pub(super) fn page_name(ty: &ValueType) -> String {
    let name = match ty {
        ValueType::Integer => "integer",
        ValueType::Float => "float",
        ValueType::Amount => "number",
        ValueType::Boolean => "boolean",
        ValueType::Timestamp => "datetime",
        ValueType::Date => "date",
        ValueType::Enum(_) => "enum",
        ValueType::FlexEnum(_) => "flexenum",
        ValueType::Reference => "reference",
        ValueType::StringMap => "map",
        ValueType::Array(item) | ValueType::OneOrMany(item) => return page_name(item),
        ValueType::Object(schema) => OBJECTS
            .iter()
            .find(|(_, known)| is_same(known, schema))
            .map_or("map", |(name, _)| name),
        ValueType::String | ValueType::Flag => "string",
    };
    format!("{PREFIX}{name}")
}

/// Returns the names of the pages of all types.
pub(super) fn names() -> impl Iterator<Item = String> {
    let plain = PLAIN.iter().map(|(name, ..)| *name);
    plain
        .chain(OBJECTS.iter().map(|(name, _)| name.as_str()))
        .map(|name| format!("{PREFIX}{name}"))
}

/// Returns links to the pages of all types: the plain ones, then the objects.
pub(super) fn lists(docs: &DocPages<'_>) -> Vec<DocLinkGroup> {
    let link = |name: &str| DocReference::new(docs.href(&format!("{PREFIX}{name}")), name);
    let plain = PLAIN
        .iter()
        .map(|(name, text, _)| link(name).text(*text))
        .collect();
    let objects = OBJECTS.iter().map(|(name, _)| link(name)).collect();
    vec![
        DocLinkGroup {
            title: "Plain types",
            entries: plain,
        },
        DocLinkGroup {
            title: "Objects",
            entries: objects,
        },
    ]
}

/// Returns the page of a type; `None` for an unknown type.
pub(super) fn page(docs: &DocPages<'_>, page_name: &str) -> Option<DocPage> {
    let name = page_name.strip_prefix(PREFIX)?;
    let begin = |text: &str| {
        open(
            page_name.to_owned(),
            DocSubject::Type,
            format!("Type `{name}`"),
            text,
        )
    };
    if let Some((_, text, example)) = PLAIN.iter().find(|(known, ..)| *known == name) {
        let mut page = begin(text);
        page.notes
            .push("`[]` after a type means an array of such values. An array is always replaced as a whole.".to_owned());
        page.example = Json::read(example.as_bytes(), &JsonLimits::default()).ok();
        page.link_groups = users(docs, page_name);
        return Some(page);
    }
    let (_, schema) = OBJECTS.iter().find(|(known, _)| known == name)?;
    let mut page = begin(
        "An object in a record. It can be read and written if the field that contains it can.",
    );
    page.fields = schema
        .fields
        .iter()
        .map(|field| docs.field(field, FieldAccess::BOTH))
        .collect();
    let mut example = of_object(schema);
    if let Some(members) = example.as_object_mut() {
        docs.api.dialect().share_names().rename_to_wire(members);
    }
    page.example = Some(example);
    page.link_groups = users(docs, page_name);
    Some(page)
}

/// Returns links to the kinds and objects with fields of a type; none for a type that nearly all of
/// them use.
fn users(docs: &DocPages<'_>, name: &str) -> Vec<DocLinkGroup> {
    let has = |table: &ObjectSchema| {
        table
            .fields
            .iter()
            .any(|field| page_name(&field.ty) == name)
    };
    let kinds = Kind::ALL
        .iter()
        .filter(|kind| has(kind.schema().fields))
        .map(|kind| docs.relation(kind.singular()));
    let objects = OBJECTS.iter().filter(|(_, table)| has(table));
    let objects = objects
        .map(|(name, _)| DocReference::new(docs.href(&format!("{PREFIX}{name}")), name.as_str()));
    let mut entries: Vec<DocReference> = kinds.chain(objects).collect();
    if has(FunctionFields::FIELDS) {
        entries.extend(
            docs.api
                .helpers()
                .filter(|helper| helper.accepts_action_functions())
                .map(|it| docs.relation(it.relation())),
        );
    }
    vec![DocLinkGroup {
        title: "Used in",
        entries,
    }]
}
