//! The fields and links that the catalogue names, read from its `RES` rows: what the second service serves, and what a
//! fault can hit. Nothing here is written by hand, so that no row is left out.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use svc_conformance::catalogue::{Catalogue, Row};

/// The form of a value (TYP-01 to TYP-12).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shape {
    /// Text.
    String,
    /// A number without a fraction.
    Integer,
    /// A number.
    Float,
    /// A number, integral or not.
    Number,
    /// True or false.
    Boolean,
    /// A timestamp.
    Datetime,
    /// A calendar date.
    Date,
    /// One value of a closed list.
    Enum(Vec<String>),
    /// One value of a list, or any other text.
    Flex(Vec<String>),
    /// The address of another record, as text.
    Reference,
    /// An object whose members are free and hold text.
    Texts,
    /// A link, not a member of the body.
    Link,
    /// A person inside another object.
    Person,
    /// An object with members.
    Object(Vec<Field>),
    /// A list.
    Array(Box<Shape>),
}

/// One field with the row that states it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Its name on the wire.
    pub name: String,
    /// The row that states it, empty where the catalogue leaves the field to the server.
    pub row: String,
    /// The form of its value.
    pub shape: Shape,
    /// Whether the server computes it.
    pub computed: bool,
}

/// One link with the row that states it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// Its name without prefix.
    pub name: String,
    /// The row that states it.
    pub row: String,
}

/// What the catalogue says of one resource or shared object.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Described {
    /// Its fields, in the catalogue's order.
    pub fields: Vec<Field>,
    /// Its links, `self` among them.
    pub links: Vec<Link>,
}

/// Shared objects come first: resources contain them.
const SHARED: [&str; 6] =
    ["referrer_data", "share_options", "postal_address", "email_address", "phone_number", "target"];

static ALL: LazyLock<BTreeMap<String, Described>> = LazyLock::new(|| {
    let rows = Catalogue::built_in().map(Catalogue::rows).unwrap_or_default();
    let mut all = BTreeMap::new();
    let owner = |row: &Row| row.area().strip_prefix("RES-").map(ToOwned::to_owned);
    let mut owners: Vec<String> = SHARED.iter().map(ToString::to_string).collect();
    for row in rows {
        if let Some(owner) = owner(row)
            && !owners.contains(&owner)
        {
            owners.push(owner);
        }
    }
    for name in owners {
        let mut described = Described::default();
        for row in rows.iter().filter(|row| owner(row).as_ref() == Some(&name)) {
            take(&mut described, row, &all);
        }
        all.insert(name, described);
    }
    all
});

/// What the catalogue says of a resource or shared object, by its singular name; nothing for a name it does not have.
#[must_use]
pub fn described(name: &str) -> Option<&'static Described> {
    ALL.get(name)
}

/// The fields of a resource or shared object.
#[must_use]
pub fn fields(name: &str) -> &'static [Field] {
    described(name).map_or(&[], |described| described.fields.as_slice())
}

/// Every name with what the catalogue says of it.
pub fn all() -> impl Iterator<Item = (&'static str, &'static Described)> {
    ALL.iter().map(|(name, described)| (name.as_str(), described))
}

impl Shape {
    /// The members of the object, or of the objects in the list.
    #[must_use]
    pub fn members(&self) -> &[Field] {
        match self {
            Self::Object(fields) => fields,
            Self::Array(item) => item.members(),
            _ => &[],
        }
    }

    fn members_mut(&mut self) -> Option<&mut Vec<Field>> {
        match self {
            Self::Object(fields) => Some(fields),
            Self::Array(item) => item.members_mut(),
            _ => None,
        }
    }
}

/// Adds what one row states.
fn take(described: &mut Described, row: &Row, shared: &BTreeMap<String, Described>) {
    if let Some(rest) = row.statement.strip_prefix("Link `")
        && let Some((name, _)) = rest.split_once('`')
    {
        if described.links.iter().all(|link| link.name != name) {
            described.links.push(Link { name: name.to_owned(), row: row.id.clone() });
        }
        return;
    }
    let Some((name, label)) = row.statement.strip_prefix('`').and_then(|rest| rest.split_once("` (")) else { return };
    let Some(label) = to_the_closing_bracket(label) else { return };
    let Some(shape) = shape(row, label, name, shared) else { return };
    let computed = row.statement.contains("omputed");
    let mut path: Vec<&str> = name.split('.').map(|step| step.trim_end_matches("[]")).collect();
    let Some(own) = path.pop() else { return };
    let field = Field { name: own.to_owned(), row: row.id.clone(), shape, computed };
    let mut place = &mut described.fields;
    for step in path {
        let Some(parent) = place.iter_mut().find(|field| field.name == step) else { return };
        if parent.shape.members_mut().is_none() {
            // An object whose members follow in rows of their own.
            parent.shape = match parent.shape {
                Shape::Array(_) => Shape::Array(Box::new(Shape::Object(Vec::new()))),
                _ => Shape::Object(Vec::new()),
            };
        }
        let Some(members) = parent.shape.members_mut() else { return };
        place = members;
    }
    place.retain(|known| known.name != own);
    place.push(field);
}

/// The text before the bracket that closes the one already open.
fn to_the_closing_bracket(text: &str) -> Option<&str> {
    let mut open = 1_usize;
    for (at, character) in text.char_indices() {
        match character {
            '(' => open = open.saturating_add(1),
            ')' => open = open.saturating_sub(1),
            _ => {}
        }
        if open == 0 {
            return text.get(..at);
        }
    }
    None
}

/// The shape that a label such as "enum: `Female`, `Male`" means.
fn shape(row: &Row, label: &str, name: &str, shared: &BTreeMap<String, Described>) -> Option<Shape> {
    let object = |name: &str| Shape::Object(shared.get(name).map(|known| known.fields.clone()).unwrap_or_default());
    let list = |shape: Shape| Shape::Array(Box::new(shape));
    let (kind, values) = label.split_once(':').unwrap_or((label, ""));
    let values = || values.split('`').skip(1).step_by(2).map(ToOwned::to_owned).collect::<Vec<_>>();
    let own = name.rsplit('.').next().unwrap_or(name);
    Some(match kind {
        "string" => Shape::String,
        "integer" => Shape::Integer,
        "float" => Shape::Float,
        "number" => Shape::Number,
        "boolean" => Shape::Boolean,
        "datetime" => Shape::Datetime,
        "date" => Shape::Date,
        "enum" | "string with listed values" => Shape::Enum(values()),
        "flexenum" | "flexible enum" => Shape::Flex(values()),
        "reference" => Shape::Reference,
        "link to a Person" => Shape::Link,
        "Person (inline object)" => Shape::Person,
        "string[]" => list(Shape::String),
        "Postal Address[]" => list(object("postal_address")),
        "Email Address[]" => list(object("email_address")),
        "Phone Number[]" => list(object("phone_number")),
        "Target[]" => list(object("target")),
        "array" if own == "share_options" => list(object("share_options")),
        "array" | "array of objects" => list(Shape::Object(Vec::new())),
        "object" => match own {
            "referrer_data" => object("referrer_data"),
            "custom_fields" => Shape::Texts,
            "employer_address" => {
                let left_out = ["primary", "address_type", "last_verified_date"];
                let mut fields = shared.get("postal_address").map(|known| known.fields.clone()).unwrap_or_default();
                fields.retain(|field| !left_out.contains(&field.name.as_str()));
                Shape::Object(fields)
            }
            // "Geocode as in postal_address".
            "location" if row.statement.contains("as in postal_address") => {
                shared.get("postal_address")?.fields.iter().find(|field| field.name == "location")?.shape.clone()
            }
            _ => Shape::Object(Vec::new()),
        },
        "true/false" => return None,
        other if other.ends_with("[]") => list(Shape::Object(Vec::new())),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_catalogue_names_is_found() {
        let of = |owner: &str, name: &str| fields(owner).iter().find(|field| field.name == name).cloned();
        let gender = of("person", "gender").expect("a field");
        assert_eq!(gender.row, "RES-person-06");
        assert_eq!(gender.shape, Shape::Enum(["Female", "Male", "Other"].map(ToOwned::to_owned).into()));
        let address = of("person", "postal_addresses").expect("a field");
        assert!(address.shape.members().iter().any(|field| field.name == "status" && field.shape.members().is_empty()));
        let level = of("event", "ticket_levels").expect("a field");
        assert!(level.shape.members().iter().any(|field| field.name == "total_amount" && field.computed));
        assert_eq!(of("donation", "voided").map(|field| field.row), Some("RES-donation-16".to_owned()));
        let place = of("event", "location").expect("a field");
        let geocode = place.shape.members().iter().find(|field| field.name == "location").expect("a field");
        assert!(geocode.shape.members().iter().any(|field| field.name == "latitude"));
        assert!(described("petition").is_some_and(|petition| petition.links.iter().any(|link| link.name == "creator")));
    }

    #[test]
    fn no_row_of_a_field_is_left_out() {
        fn rows<'f>(fields: &'f [Field], into: &mut Vec<&'f str>) {
            for field in fields {
                into.push(&field.row);
                rows(field.shape.members(), into);
            }
        }
        let mut known = Vec::new();
        for (_, described) in all() {
            rows(&described.fields, &mut known);
            known.extend(described.links.iter().map(|link| link.row.as_str()));
        }
        let catalogue = Catalogue::built_in().expect("a catalogue");
        let left: Vec<&str> = catalogue
            .rows()
            .iter()
            .filter(|row| row.area().starts_with("RES-") && row.level == svc_conformance::catalogue::Level::Must)
            .map(|row| row.id.as_str())
            .filter(|row| !known.contains(row))
            .collect();
        // Rules about fields rather than fields.
        let rules = [
            "RES-referrer_data-01",
            "RES-share_options-01",
            "RES-share_options-02",
            "RES-target-01",
            "RES-postal_address-02",
            "RES-email_address-02",
            "RES-phone_number-02",
            "RES-person-08",
            "RES-person-09",
            "RES-person-49",
            "RES-signature-08",
            "RES-donation-21",
            "RES-attendance-05",
            "RES-attendance-15",
            "RES-outreach-13",
            "RES-canvass-12",
        ];
        assert_eq!(left, rules);
    }
}
