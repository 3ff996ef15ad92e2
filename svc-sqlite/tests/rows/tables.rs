//! The tables against the catalogue, and the round trip of the fields that only the tables state.

use std::collections::BTreeMap;

use svc_conformance::row;
use svc_core::model::Kind;
use svc_core::schema::{self, ObjectSchema, Type};

use crate::family::{Case, Family};
use crate::fields::{FIELDS, Field, LINKS, Shape};
use crate::fixture::Fixture;
use crate::resources::field_of;

const CASES: &[Case] = &[
    ("tags, lists, messages", |fixture| fields(fixture, &["tag", "list", "message"])),
    ("answers, taggings, items, canvasses", |fixture| fields(fixture, &["answer", "tagging", "item", "canvass"])),
    ("common fields", common),
];

pub(crate) static FAMILY: Family = Family::new("tables", CASES);

/// Every field of every kind and object, by the row that it names.
fn by_row() -> BTreeMap<&'static str, Vec<&'static schema::Field>> {
    fn walk(object: &'static ObjectSchema, found: &mut BTreeMap<&'static str, Vec<&'static schema::Field>>) {
        for field in object.fields {
            assert!(!field.row.is_empty(), "{}.{} names no row", object.name, field.name);
            let list = found.entry(field.row).or_default();
            if list.iter().any(|known| std::ptr::eq(*known, field)) {
                continue;
            }
            list.push(field);
            if let Some(inner) = field.ty.object() {
                walk(inner, found);
            }
        }
    }
    let mut found = BTreeMap::new();
    for kind in Kind::ALL {
        walk(kind.schema().fields, &mut found);
    }
    found
}

/// The shape of a type.
fn shape(ty: &Type) -> Shape {
    let owned = |values: &[&str]| values.iter().map(|value| (*value).to_owned()).collect();
    match ty {
        Type::String | Type::Flag => Shape::Text,
        Type::Integer => Shape::Integer,
        Type::Float | Type::Amount => Shape::Float,
        Type::Boolean => Shape::Boolean,
        Type::Timestamp => Shape::DateTime,
        Type::Date => Shape::Date,
        Type::Enum(values) => Shape::Enum(owned(values)),
        Type::FlexEnum(values) => Shape::Flex(owned(values)),
        Type::Reference => Shape::Reference,
        Type::Array(Type::String) => Shape::Texts,
        Type::Array(_) => Shape::Objects,
        Type::StringMap | Type::OneOrMany(_) | Type::Object(_) => Shape::Object,
        _ => unreachable!("a type that this test does not know: {ty:?}"),
    }
}

/// Every field and link of the catalogue stands in the tables under its row, with its name and type.
#[test]
fn tables_say_what_the_catalogue_says() {
    let tables = by_row();
    assert_eq!((FIELDS.len(), LINKS.len()), (278, 53), "the catalogue is read as it should be");
    for field in FIELDS.iter().filter(|field| field.row != "RES-canvass-07") {
        let name = field.path.rsplit('.').next().unwrap_or_default().trim_end_matches("[]");
        let expected = if field.shape == Shape::Number { Shape::Float } else { field.shape.clone() };
        let sorted = |shape: Shape| match shape {
            Shape::Enum(mut values) => {
                values.sort();
                Shape::Enum(values)
            }
            other => other,
        };
        let found = tables.get(field.row).map_or(&[][..], Vec::as_slice);
        let same = |table: &&&schema::Field| {
            table.name == name
                && sorted(shape(&table.ty)) == sorted(expected.clone())
                && table.is_computed() == field.computed
        };
        assert!(
            found.iter().find(same).is_some(),
            "{} {} {expected:?}: the tables have {found:?}",
            field.row,
            field.path
        );
    }
    for link in LINKS.iter().filter(|link| link.name != "self") {
        let kind = Kind::ALL.iter().find(|kind| kind.schema().singular == link.owner).expect("a kind");
        let spec = kind.schema().link(&link.name);
        assert_eq!(spec.map(|spec| spec.row), Some(link.row), "{} {}", link.owner, link.name);
    }
}

/// The fields of kinds whose fields the interface leaves to the server.
fn fields(fixture: &Fixture, kinds: &[&'static str]) {
    for kind in Kind::ALL.iter().map(|kind| kind.schema()).filter(|schema| kinds.contains(&schema.singular)) {
        for (seed, table) in kind.fields.fields.iter().enumerate() {
            let row = table.row;
            if !row.starts_with("UND") || table.name == "item_type" {
                continue;
            }
            let field = Field {
                row,
                owner: kind.singular,
                path: table.name.to_owned(),
                shape: shape(&table.ty),
                computed: table.is_computed(),
            };
            field_of(fixture, &field, kind.singular, table.name, seed);
        }
    }
}

/// The common fields are those of the interface.
fn common(fixture: &Fixture) {
    let names: Vec<_> = schema::COMMON.fields.iter().map(|field| (field.row, field.is_computed())).collect();
    row!(fixture.ledger, "TYP-13", names.first() == Some(&("TYP-13", false)));
    row!(fixture.ledger, "TYP-15", names.get(1) == Some(&("TYP-15", true)));
    row!(fixture.ledger, "TYP-16", names.get(2) == Some(&("TYP-16", true)));
}
