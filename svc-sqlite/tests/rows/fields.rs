//! The fields of the interface as the catalogue has them: path, type and listed values of each.
//!
//! The expectations come from the catalogue and not from the tables of the service, so that a mistake in a table is seen.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use svc_conformance::catalogue::{Catalogue, Row, Type};

/// The type of a field as the catalogue states it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Shape {
    Text,
    Integer,
    Float,
    Number,
    Boolean,
    DateTime,
    Date,
    Object,
    Objects,
    Texts,
    Enum(Vec<String>),
    Flex(Vec<String>),
    /// A link to a person or a reference: has its own test.
    Reference,
}

/// One field of a kind or of a shared object.
#[derive(Debug, Clone)]
pub(crate) struct Field {
    pub(crate) row: &'static str,
    /// The kind or shared object, such as `person` or `postal_address`.
    pub(crate) owner: &'static str,
    /// The path within the owner, such as `parties[].active`.
    pub(crate) path: String,
    pub(crate) shape: Shape,
    /// Kept by the server.
    pub(crate) computed: bool,
}

/// A link of a kind.
#[derive(Debug, Clone)]
pub(crate) struct Link {
    pub(crate) row: &'static str,
    pub(crate) owner: &'static str,
    pub(crate) name: String,
}

/// Every field that a row of the catalogue states.
pub(crate) static FIELDS: LazyLock<Vec<Field>> = LazyLock::new(|| rows().filter_map(field).collect());

/// Every link of a kind that a row of the catalogue states.
pub(crate) static LINKS: LazyLock<Vec<Link>> = LazyLock::new(|| rows().filter_map(kind_link).collect());

/// Where shared objects stand: the object, the kind that carries it, and the place.
pub(crate) const CARRIERS: &[(&str, &str, &str)] = &[
    ("referrer_data", "signature", "referrer_data"),
    ("referrer_data", "submission", "referrer_data"),
    ("referrer_data", "donation", "referrer_data"),
    ("referrer_data", "outreach", "referrer_data"),
    ("referrer_data", "attendance", "referrer_data"),
    ("share_options", "form", "share_options[]"),
    ("share_options", "fundraising_page", "share_options[]"),
    ("share_options", "petition", "share_options[]"),
    ("share_options", "share_page", "share_options[]"),
    ("share_options", "advocacy_campaign", "share_options[]"),
    ("share_options", "event", "share_options[]"),
    ("target", "advocacy_campaign", "target_list[]"),
    ("target", "outreach", "targets[]"),
    ("postal_address", "person", "postal_addresses[]"),
    ("email_address", "person", "email_addresses[]"),
    ("phone_number", "person", "phone_numbers[]"),
];

/// The rows of kinds and shared objects.
fn rows() -> impl Iterator<Item = &'static Row> {
    let catalogue = Catalogue::built_in().expect("a catalogue");
    catalogue.rows().iter().filter(|row| row.area().starts_with("RES-"))
}

fn field(row: &'static Row) -> Option<Field> {
    let field = row.field()?;
    // Messages get their dates from the schedule helper alone.
    let computed = field.computed || field.owner == "message";
    let shape = shape(&field.kind, &field.values);
    Some(Field { row: &row.id, owner: &field.owner, path: field.path.clone(), shape, computed })
}

fn shape(kind: &Type, values: &[String]) -> Shape {
    match kind {
        Type::String => Shape::Text,
        Type::Integer => Shape::Integer,
        Type::Float => Shape::Float,
        Type::Number => Shape::Number,
        Type::Boolean => Shape::Boolean,
        Type::Datetime => Shape::DateTime,
        Type::Date => Shape::Date,
        Type::Object | Type::Map | Type::Person | Type::Shared(_) => Shape::Object,
        Type::Strings => Shape::Texts,
        Type::Objects | Type::SharedList(_) | Type::OneOrMany => Shape::Objects,
        Type::Enum => Shape::Enum(values.to_vec()),
        Type::Flexenum => Shape::Flex(values.to_vec()),
        Type::Link | Type::Reference => Shape::Reference,
    }
}

/// A link that applies where it is declared.
fn kind_link(row: &'static Row) -> Option<Link> {
    let link = row.link().filter(|_| row.condition.starts_with("link:"))?;
    Some(Link { row: &row.id, owner: &link.owner, name: link.name.clone() })
}

/// The members of an object: the fields of its owner directly below a path, by name.
pub(crate) fn members(owner: &str, path: &str) -> BTreeMap<String, &'static Field> {
    let below = |field: &&'static Field| {
        let rest = if path.is_empty() {
            Some(field.path.as_str())
        } else {
            field.path.strip_prefix(path).and_then(|r| r.strip_prefix('.'))
        };
        field.owner == owner && rest.is_some_and(|rest| !rest.contains('.'))
    };
    let name = |field: &'static Field| {
        let name = field.path.rsplit('.').next().unwrap_or_default();
        (name.trim_end_matches("[]").to_owned(), field)
    };
    FIELDS.iter().filter(below).map(name).collect()
}
