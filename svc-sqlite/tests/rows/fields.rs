//! The fields of the interface, read from the statements of the catalogue: path, type and listed values of each.
//!
//! The expectations come from the catalogue and not from the tables of the service, so that a mistake in a table is seen.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use svc_conformance::catalogue::{Catalogue, Row};

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

fn owner(row: &'static Row) -> &'static str {
    row.area().trim_start_matches("RES-")
}

/// `` `path` (type). text ``
fn field(row: &'static Row) -> Option<Field> {
    let (path, rest) = row.statement.strip_prefix('`')?.split_once('`')?;
    let rest = rest.strip_prefix(" (")?;
    let mut depth = 1;
    let end = rest.find(|c| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        depth == 0
    })?;
    let kind = rest.get(..end)?;
    let text = rest.get(end..)?;
    text.starts_with(").").then_some(())?;
    let computed = row.observed.starts_with("CP") || row.reference.starts_with("compute") || owner(row) == "message";
    Some(Field { row: &row.id, owner: owner(row), path: path.to_owned(), shape: shape(kind), computed })
}

fn shape(kind: &str) -> Shape {
    let (name, listed) = kind.split_once(':').unwrap_or((kind, ""));
    let values = || listed.split('`').skip(1).step_by(2).map(ToOwned::to_owned).collect();
    match name {
        "string" => Shape::Text,
        "integer" => Shape::Integer,
        "float" => Shape::Float,
        "number" => Shape::Number,
        "boolean" => Shape::Boolean,
        "datetime" => Shape::DateTime,
        "date" => Shape::Date,
        "object" | "Person (inline object)" => Shape::Object,
        "string[]" => Shape::Texts,
        "enum" | "string with listed values" => Shape::Enum(values()),
        "flexenum" | "flexible enum" => Shape::Flex(values()),
        "link to a Person" | "reference" => Shape::Reference,
        "array" | "array of objects" => Shape::Objects,
        other if other.ends_with("[]") => Shape::Objects,
        other => panic!("the catalogue has an unknown type {other}"),
    }
}

/// `` Link `name` ... ``
fn kind_link(row: &'static Row) -> Option<Link> {
    let (name, _) = row.statement.strip_prefix("Link `")?.split_once('`')?;
    row.condition.starts_with("link:").then_some(())?;
    Some(Link { row: &row.id, owner: owner(row), name: name.to_owned() })
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
