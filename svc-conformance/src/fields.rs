//! The fields and links that the catalogue states, read from its rows: name, type and listed values of each.

use std::sync::LazyLock;

use crate::catalogue::{Catalogue, Row};

/// The type of a value on the wire (TYP-01 to TYP-12).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Shape {
    Text,
    Integer,
    Float,
    Number,
    Boolean,
    Time,
    Date,
    Enum,
    Flexible,
    Object,
    /// Texts.
    Texts,
    /// Objects.
    Objects,
    /// An address, an identifier, or an object with `href`.
    Reference,
    /// One object or several.
    OneOrMany,
}

/// How the catalogue says that a field is observed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// TC: only the type.
    Type,
    /// CP: kept by the server.
    Computed,
    /// RT, EN or FX: what was sent comes back.
    RoundTrip,
}

/// One field of the catalogue.
#[derive(Debug, Clone)]
pub(crate) struct Field {
    /// Its row.
    pub(crate) row: &'static str,
    /// The resource or shared object that has it.
    pub(crate) owner: &'static str,
    /// Its path in the owner, such as `share_options[].network_a_share.title`; `[]` after an array.
    pub(crate) path: &'static str,
    pub(crate) shape: Shape,
    pub(crate) values: Vec<&'static str>,
    pub(crate) way: Way,
}

/// The shared objects and the fields that carry them, in whatever resource or object these stand.
pub(crate) const SHARED: &[(&str, &[&str])] = &[
    ("referrer_data", &["referrer_data"]),
    ("share_options", &["share_options"]),
    ("target", &["targets", "target_list"]),
    ("postal_address", &["postal_addresses"]),
    ("email_address", &["email_addresses"]),
    ("phone_number", &["phone_numbers"]),
];

/// The shared object that a field of this name carries.
pub(crate) fn shared(name: &str) -> Option<&'static str> {
    SHARED.iter().find(|(_, carriers)| carriers.contains(&name)).map(|(object, _)| *object)
}

static FIELDS: LazyLock<Vec<Field>> = LazyLock::new(|| {
    let rows = Catalogue::built_in().map_or(&[][..], Catalogue::rows);
    rows.iter().filter_map(field).collect()
});

/// Every field of the catalogue, in its order.
pub(crate) fn all() -> &'static [Field] {
    &FIELDS
}

/// The fields of a resource or shared object.
pub(crate) fn of(owner: &str) -> impl Iterator<Item = &'static Field> {
    FIELDS.iter().filter(move |field| field.owner == owner)
}

/// The field at a path of an owner.
pub(crate) fn find(owner: &str, path: &str) -> Option<&'static Field> {
    FIELDS.iter().find(|field| field.owner == owner && field.path == path)
}

/// The field of a row whose condition is exactly one declared field and whose statement begins with its name and type.
fn field(row: &'static Row) -> Option<Field> {
    let place = row.condition.strip_prefix("field:").filter(|place| !place.contains(' '))?;
    let (owner, path) = place.split_once('.')?;
    let rest = row.statement.strip_prefix('`')?;
    let (_, rest) = rest.split_once("` (")?;
    let typed = rest.split(')').next()?;
    let (shape, values) = shape(typed)?;
    let way = match row.observed.split([' ', ';', ',']).next()? {
        "TC" => Way::Type,
        "CP" => Way::Computed,
        _ => Way::RoundTrip,
    };
    Some(Field { row: &row.id, owner, path, shape, values, way })
}

/// A type as the catalogue writes it, with the values it lists.
fn shape(typed: &'static str) -> Option<(Shape, Vec<&'static str>)> {
    let (name, listed) = typed.split_once(':').unwrap_or((typed, ""));
    let values = listed.split('`').skip(1).step_by(2).collect();
    let shape = match name.split([',', ';']).next()?.trim() {
        "string" => Shape::Text,
        "integer" => Shape::Integer,
        "float" => Shape::Float,
        "number" => Shape::Number,
        "boolean" => Shape::Boolean,
        "datetime" => Shape::Time,
        "date" => Shape::Date,
        "enum" | "string with listed values" => Shape::Enum,
        "flexenum" | "flexible enum" | "flexunum" => Shape::Flexible,
        "object" | "Person (inline object" | "Person" => Shape::Object,
        "string[]" => Shape::Texts,
        "reference" | "link to a Person" => Shape::Reference,
        "QuestionResponse[]" => Shape::OneOrMany,
        "array" | "array of objects" => Shape::Objects,
        other if other.ends_with("[]") => Shape::Objects,
        _ => return None,
    };
    Some((shape, values))
}
