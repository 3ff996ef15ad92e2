//! The fields and links of the resources and shared objects according to the catalogue, including
//! members inside objects. The second service serves them, and mutants damage them. All of it is
//! derived from the catalogue, so that no requirement is missing.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use svc_conformance::catalogue::{self, Catalogue, CatalogueType, Requirement};

/// The type of a value.
///
/// Requirements: TYP-01 to TYP-12.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldShape {
    /// Text.
    String,
    /// A number without a fraction.
    Integer,
    /// A floating-point number.
    Float,
    /// A number, whole or not.
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
    /// The URL of another record, as text.
    Reference,
    /// An object with arbitrary members that contain text.
    Texts,
    /// A link, not a member of the body.
    Link,
    /// A person inside another object.
    Person,
    /// An object with members.
    Object(Vec<ObjectField>),
    /// A list.
    Array(Box<FieldShape>),
}

/// A field with its requirement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectField {
    /// The name of the field in documents.
    pub name: String,
    /// The requirement of the field; empty if the catalogue leaves the field to the server.
    pub row: String,
    /// The type of the value.
    pub shape: FieldShape,
    /// Whether the server computes the field.
    pub computed: bool,
    /// Whether the field is required on create.
    pub required: bool,
}

/// A link with its requirement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectLink {
    /// The name of the link without prefix.
    pub name: String,
    /// The requirement of the link.
    pub row: String,
    /// Whether the link is sent only if its target is known.
    pub optional: bool,
}

/// The fields and links of a resource or shared object in the catalogue.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ObjectFields {
    /// The fields, in the catalogue's order.
    pub fields: Vec<ObjectField>,
    /// The links, including `self`.
    pub links: Vec<ObjectLink>,
}

static ALL: LazyLock<BTreeMap<&str, ObjectFields>> =
    LazyLock::new(|| rows().map(owner).map(|one| (one, describe(one))).collect());

/// Returns the requirements of the fields and links of resources and shared objects.
fn rows() -> impl Iterator<Item = &'static Requirement> {
    let rows = Catalogue::built_in()
        .map(Catalogue::requirements)
        .unwrap_or_default();
    rows.iter().filter(|row| {
        row.area().starts_with("RES-") && (row.field().is_some() || row.link().is_some())
    })
}

fn owner(row: &'static Requirement) -> &'static str {
    let field = row.field().map(|field| field.owner.as_str());
    field
        .or_else(|| row.link().map(|link| link.owner.as_str()))
        .unwrap_or_default()
}

/// Collects the fields and links of a resource or shared object, including those of the shared
/// objects in it.
fn describe(name: &str) -> ObjectFields {
    let mut described = ObjectFields::default();
    rows()
        .filter(|row| owner(row) == name)
        .for_each(|row| take(&mut described, row));
    described
}

/// Returns the fields and links of a resource or shared object by its singular name. The result is
/// empty if the catalogue does not have the name.
#[must_use]
pub fn described(name: &str) -> Option<&'static ObjectFields> {
    ALL.get(name)
}

/// Returns the fields of a resource or shared object.
#[must_use]
pub fn fields(name: &str) -> &'static [ObjectField] {
    described(name).map_or(&[], |described| described.fields.as_slice())
}

/// Returns every name with its fields and links.
pub fn all() -> impl Iterator<Item = (&'static str, &'static ObjectFields)> {
    ALL.iter().map(|(name, described)| (*name, described))
}

impl FieldShape {
    /// Returns the members of the object, or of the objects in the list.
    #[must_use]
    pub fn members(&self) -> &[ObjectField] {
        match self {
            Self::Object(fields) => fields,
            Self::Array(item) => item.members(),
            _ => &[],
        }
    }

    fn members_mut(&mut self) -> Option<&mut Vec<ObjectField>> {
        match self {
            Self::Object(fields) => Some(fields),
            Self::Array(item) => item.members_mut(),
            _ => None,
        }
    }
}

/// Adds the field or link of one requirement.
fn take(described: &mut ObjectFields, row: &Requirement) {
    if let Some(link) = row.link() {
        if described.links.iter().all(|known| known.name != link.name) {
            described.links.push(ObjectLink {
                name: link.name.clone(),
                row: row.id.clone(),
                optional: link.optional,
            });
        }
        return;
    }
    let Some(stated) = row.field() else { return };
    let mut path: Vec<&str> = stated
        .path
        .split('.')
        .map(|step| step.trim_end_matches("[]"))
        .collect();
    let Some(own) = path.pop() else { return };
    let field = ObjectField {
        name: own.to_owned(),
        row: row.id.clone(),
        shape: shape(stated),
        computed: stated.computed,
        required: stated.required,
    };
    let mut place = &mut described.fields;
    for step in path {
        let Some(parent) = place.iter_mut().find(|field| field.name == step) else {
            return;
        };
        let Some(members) = parent.shape.members_mut() else {
            return;
        };
        place = members;
    }
    place.retain(|known| known.name != own);
    place.push(field);
}

/// Returns the type of a field, with the members of the shared objects in it.
fn shape(field: &catalogue::CatalogueField) -> FieldShape {
    let object = |name: &str| FieldShape::Object(describe(name).fields);
    let list = |shape: FieldShape| FieldShape::Array(Box::new(shape));
    match &field.kind {
        CatalogueType::String => FieldShape::String,
        CatalogueType::Integer => FieldShape::Integer,
        CatalogueType::Float => FieldShape::Float,
        CatalogueType::Number => FieldShape::Number,
        CatalogueType::Boolean => FieldShape::Boolean,
        CatalogueType::Datetime => FieldShape::Datetime,
        CatalogueType::Date => FieldShape::Date,
        CatalogueType::Enum => FieldShape::Enum(field.values.clone()),
        CatalogueType::Flexenum => FieldShape::Flex(field.values.clone()),
        CatalogueType::Reference => FieldShape::Reference,
        CatalogueType::Link => FieldShape::Link,
        CatalogueType::Person => FieldShape::Person,
        CatalogueType::Map => FieldShape::Texts,
        CatalogueType::Strings => list(FieldShape::String),
        CatalogueType::Shared(name) => object(name),
        CatalogueType::SharedList(name) => list(object(name)),
        CatalogueType::Objects | CatalogueType::OneOrMany => list(FieldShape::Object(Vec::new())),
        CatalogueType::Object => {
            let place = field.like.as_deref().unwrap_or_default();
            let (owner, inside) = place.split_once('.').unwrap_or((place, ""));
            let mut members = describe(owner).fields;
            if let Some(member) = members.iter().find(|member| member.name == inside) {
                members = member.shape.members().to_vec();
            }
            members.retain(|member| !field.without.contains(&member.name));
            FieldShape::Object(members)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_catalogue_names_is_found() {
        let of = |owner: &str, name: &str| {
            fields(owner)
                .iter()
                .find(|field| field.name == name)
                .cloned()
        };
        let gender = of("person", "gender").expect("a field");
        assert_eq!(gender.row, "RES-person-06");
        assert_eq!(
            gender.shape,
            FieldShape::Enum(["Female", "Male", "Other"].map(ToOwned::to_owned).into())
        );
        let address = of("person", "postal_addresses").expect("a field");
        assert!(
            address
                .shape
                .members()
                .iter()
                .any(|field| field.name == "status" && field.shape.members().is_empty())
        );
        let level = of("event", "ticket_levels").expect("a field");
        assert!(
            level
                .shape
                .members()
                .iter()
                .any(|field| field.name == "total_amount" && field.computed)
        );
        assert_eq!(
            of("donation", "voided").map(|field| field.row),
            Some("RES-donation-16".to_owned())
        );
        let place = of("event", "location").expect("a field");
        let geocode = place
            .shape
            .members()
            .iter()
            .find(|field| field.name == "location")
            .expect("a field");
        assert!(
            geocode
                .shape
                .members()
                .iter()
                .any(|field| field.name == "latitude")
        );
        assert!(
            described("petition")
                .is_some_and(|petition| petition.links.iter().any(|link| link.name == "creator"))
        );
    }

    #[test]
    fn no_row_of_a_field_is_left_out() {
        fn rows<'f>(fields: &'f [ObjectField], into: &mut Vec<&'f str>) {
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
            .requirements()
            .iter()
            .filter(|row| {
                row.area().starts_with("RES-")
                    && row.level == svc_conformance::catalogue::Level::Must
            })
            .map(|row| row.id.as_str())
            .filter(|row| !known.contains(row))
            .collect();
        // Rules about fields, not fields.
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
