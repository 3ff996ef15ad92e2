//! The fields that a kind may have, from the catalogue, and which of them a representation
//! contains.

use std::collections::BTreeMap;

use serde_json::Value;
use svc_declaration::{DeclaredDialect, DeclaredField};

use crate::fields::{self, CheckedField, ObservationMethod, ValueShape};
use crate::values::is_unset;

/// The maximum depth of nested objects that are examined.
const DEPTH: usize = 6;

/// Kinds whose text fields have no requirements of their own in the catalogue.
const TEXTS: &[(&str, &[&str])] = &[
    ("tag", &["name", "description"]),
    ("list", &["name", "description"]),
    ("query", &["name", "description"]),
];

/// Objects whose members are described by another object: the owner, the path, the describing
/// object, its path, and the missing members.
const ALSO: &[(&str, &str, &str, &str, &[&str])] = &[
    (
        "person",
        "employer_address.",
        "postal_address",
        "",
        &["primary", "address_type", "last_verified_date"],
    ),
    (
        "event",
        "location.location.",
        "postal_address",
        "location.",
        &[],
    ),
];

/// Returns every field of a resource or shared object in the catalogue, in the form of a
/// declaration.
pub(super) fn fields(owner: &str, dialect: &DeclaredDialect) -> BTreeMap<String, DeclaredField> {
    let mut found = tree(owner, "", dialect, 0);
    for name in TEXTS
        .iter()
        .filter(|(of, _)| *of == owner)
        .flat_map(|(_, names)| *names)
    {
        let text = found.entry((*name).to_owned()).or_default();
        "string".clone_into(&mut text.kind);
    }
    found
}

fn tree(
    owner: &str,
    above: &str,
    dialect: &DeclaredDialect,
    depth: usize,
) -> BTreeMap<String, DeclaredField> {
    let mut found = BTreeMap::new();
    if depth > DEPTH {
        return found;
    }
    for field in fields::of(owner) {
        let Some(rest) = field.path.strip_prefix(above) else {
            continue;
        };
        let step = rest.split('.').next().unwrap_or_default();
        let name = step.trim_end_matches("[]");
        let wire = wire(name, dialect);
        if found.contains_key(wire) {
            continue;
        }
        let own = fields::find(owner, &format!("{above}{name}"));
        let mut declared = own.map_or_else(|| group(step), leaf);
        let inner = if let Some(shared) = fields::shared(name) {
            tree(shared, "", dialect, depth.saturating_add(1))
        } else {
            let array = if declared.kind.ends_with("[]") {
                "[]"
            } else {
                ""
            };
            tree(
                owner,
                &format!("{above}{name}{array}."),
                dialect,
                depth.saturating_add(1),
            )
        };
        declared.fields = Some(inner).filter(|inner| !inner.is_empty());
        found.insert(wire.to_owned(), declared);
    }
    for (_, _, of, at, without) in ALSO
        .iter()
        .filter(|(one, place, ..)| (*one, *place) == (owner, above))
    {
        let mut also = tree(of, at, dialect, depth.saturating_add(1));
        also.retain(|name, _| !without.contains(&name.as_str()));
        also.append(&mut found);
        found = also;
    }
    found
}

/// Returns the name in messages for a name in the catalogue.
fn wire<'n>(name: &'n str, dialect: &'n DeclaredDialect) -> &'n str {
    match name {
        "network_a_share" => &dialect.network_a_share,
        "network_b_share" => &dialect.network_b_share,
        other => other,
    }
}

/// Returns the field for an object of which the catalogue describes only the members.
fn group(step: &str) -> DeclaredField {
    let mut declared = DeclaredField::default();
    (if step.ends_with("[]") {
        "object[]"
    } else {
        "object"
    })
    .clone_into(&mut declared.kind);
    declared
}

fn leaf(field: &CheckedField) -> DeclaredField {
    let mut declared = DeclaredField::default();
    let kind = match field.shape {
        ValueShape::Text => "string",
        ValueShape::Integer => "integer",
        ValueShape::Float => "float",
        ValueShape::Number => "number",
        ValueShape::Boolean => "boolean",
        ValueShape::Time => "datetime",
        ValueShape::Date => "date",
        ValueShape::Enum => "enum",
        ValueShape::Flexible => "flexenum",
        ValueShape::Object => "object",
        ValueShape::Texts => "string[]",
        ValueShape::Objects | ValueShape::OneOrMany => "object[]",
        ValueShape::Reference => "reference",
    };
    kind.clone_into(&mut declared.kind);
    declared.computed = field.way == ObservationMethod::Computed;
    declared.writable = !declared.computed;
    if matches!(field.shape, ValueShape::Enum | ValueShape::Flexible) && !field.values.is_empty() {
        declared.values = Some(
            field
                .values
                .iter()
                .map(|value| (*value).to_owned())
                .collect(),
        );
    }
    declared
}

/// Returns the fields that a representation contains. If some were sent (`sent`), only those count
/// as writable. Otherwise the catalogue decides.
pub(super) fn visible_fields(
    assumed: &BTreeMap<String, DeclaredField>,
    got: &Value,
    sent: Option<&Value>,
) -> BTreeMap<String, DeclaredField> {
    let mut found = BTreeMap::new();
    for (name, field) in assumed {
        let value = got.get(name);
        if is_unset(value) {
            continue;
        }
        let (mut field, given) = (field.clone(), sent.and_then(|sent| sent.get(name)));
        if sent.is_some() && is_unset(given) {
            field.writable = false;
        }
        if let Some(inner) = field.fields.take() {
            field.fields = Some(members(&inner, value.unwrap_or(&Value::Null), given));
        }
        found.insert(name.clone(), field);
    }
    found
}

/// Returns the members of an object, or of all objects of an array.
fn members(
    assumed: &BTreeMap<String, DeclaredField>,
    got: &Value,
    sent: Option<&Value>,
) -> BTreeMap<String, DeclaredField> {
    let Value::Array(list) = got else {
        return visible_fields(assumed, got, sent);
    };
    let mut found = BTreeMap::new();
    for (at, one) in list.iter().enumerate() {
        merge(
            &mut found,
            visible_fields(
                assumed,
                one,
                sent.map(|sent| sent.get(at).unwrap_or(&Value::Null)),
            ),
        );
    }
    found
}

/// Adds the fields that another representation contains.
pub(super) fn merge(
    into: &mut BTreeMap<String, DeclaredField>,
    more: BTreeMap<String, DeclaredField>,
) {
    for (name, field) in more {
        let known = into.entry(name).or_insert_with(|| field.clone());
        known.writable |= field.writable;
        if let Some(more) = field.fields {
            merge(known.fields.get_or_insert_default(), more);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use svc_declaration::DeclaredDialect;

    use super::{fields, visible_fields};

    /// The catalogue describes these members with the requirements of a postal address.
    ///
    /// Requirements: RES-person-26.
    #[test]
    fn members_that_another_object_has_rows_for_are_found() {
        let person = fields("person", &DeclaredDialect::default());
        let address = person["employer_address"].fields.as_ref().expect("members");
        assert_eq!(
            address.keys().collect::<Vec<_>>(),
            [
                "address_lines",
                "country",
                "language",
                "locality",
                "location",
                "postal_code",
                "region",
                "status",
                "venue"
            ]
        );
        assert_eq!(
            address["status"].values.as_ref().map(Vec::len),
            Some(3),
            "those of the address of an employer"
        );
        let event = fields("event", &DeclaredDialect::default());
        let place = event["location"].fields.as_ref().expect("members");
        assert!(
            place["location"]
                .fields
                .as_ref()
                .is_some_and(|inner| inner.contains_key("latitude"))
        );
    }

    #[test]
    fn what_is_shown_is_declared_and_what_was_not_sent_is_not_writable() {
        let assumed = fields("person", &DeclaredDialect::default());
        assert!(
            assumed["email_addresses"]
                .fields
                .as_ref()
                .is_some_and(|inner| inner.contains_key("address"))
        );
        assert!(
            assumed["birthdate"]
                .fields
                .as_ref()
                .is_some_and(|inner| inner.contains_key("month"))
        );
        let got = json!({"given_name": "Ada", "family_name": "B", "other": 1, "gender": null,
            "email_addresses": [{"address": "a@example.org", "status": "subscribed"}]});
        let sent = json!({"given_name": "Ada", "email_addresses": [{"address": "a@example.org"}]});
        let found = visible_fields(&assumed, &got, Some(&sent));
        assert_eq!(
            found.keys().collect::<Vec<_>>(),
            ["email_addresses", "family_name", "given_name"]
        );
        assert!(found["given_name"].writable && !found["family_name"].writable);
        let inner = found["email_addresses"].fields.as_ref().expect("members");
        assert!(inner["address"].writable && !inner["status"].writable);
    }
}
