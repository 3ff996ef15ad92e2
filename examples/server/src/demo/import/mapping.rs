//! Maps the columns of a CSV file to the members of a sign-up.

use std::collections::BTreeMap;

use csv::StringRecord;
use serde_json::{Map, Value, json};
use svc_core::model::Kind;
use svc_core::schema::{FieldSpec, ValueType};

/// Short names of members, and their paths in the body of a sign-up.
const SHORT: &[(&str, &[&str])] = &[
    ("email", &["person", "email_addresses", "0", "address"]),
    ("phone", &["person", "phone_numbers", "0", "number"]),
    (
        "street",
        &["person", "postal_addresses", "0", "address_lines", "0"],
    ),
    ("locality", &["person", "postal_addresses", "0", "locality"]),
    ("region", &["person", "postal_addresses", "0", "region"]),
    (
        "postal_code",
        &["person", "postal_addresses", "0", "postal_code"],
    ),
    ("country", &["person", "postal_addresses", "0", "country"]),
];

/// Members that are lists. The elements in a column are separated by `;`.
const LISTS: &[(&str, &[&str])] = &[
    ("identifiers", &["person", "identifiers"]),
    ("tags", &["add_tags"]),
    ("lists", &["add_lists"]),
];

const CUSTOM: &str = "custom_fields.";

/// The JSON type for the text of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ColumnFormat {
    Text,
    Integer,
    Boolean,
    List,
}

/// The target of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ColumnTarget {
    path: Vec<String>,
    form: ColumnFormat,
}

/// The target of each column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ColumnMapping {
    columns: Vec<(usize, ColumnTarget)>,
    /// Columns without a target.
    pub(super) left: Vec<String>,
}

impl ColumnMapping {
    /// Creates the mapping of a table with these column names. Columns with the name of a member
    /// need no pair.
    ///
    /// # Errors
    ///
    /// Returns an error if a pair has an unknown column or an unknown member.
    pub(super) fn new(head: &StringRecord, pairs: &[(String, String)]) -> Result<Self, String> {
        let mut given: BTreeMap<usize, &str> = BTreeMap::new();
        for (member, column) in pairs {
            let Some(place) = head.iter().position(|name| name.trim() == column) else {
                let names: Vec<&str> = head.iter().map(str::trim).collect();
                return Err(format!(
                    "there is no column `{column}`, only {}",
                    names.join(", ")
                ));
            };
            given.insert(place, member);
        }
        let (mut columns, mut left) = (Vec::new(), Vec::new());
        for (place, name) in head.iter().map(str::trim).enumerate() {
            let member = given.get(&place).copied();
            match (target(member.unwrap_or(name)), member) {
                (Some(target), _) => columns.push((place, target)),
                (None, Some(member)) => {
                    return Err(format!(
                        "`{member}` is not a member that a column can set; allowed are {}",
                        possible()
                    ));
                }
                (None, None) => left.push(name.to_owned()),
            }
        }
        if columns.is_empty() {
            return Err(format!(
                "no column has the name of a member; allowed are {}",
                possible()
            ));
        }
        Ok(Self { columns, left })
    }

    /// Returns the body of the sign-up for a row. Empty cells are left out.
    pub(super) fn body(&self, row: &StringRecord) -> Value {
        let mut body = json!({ "person": {} });
        for (place, ColumnTarget { path, form }) in &self.columns {
            let text = row.get(*place).unwrap_or_default().trim();
            if !text.is_empty() {
                put(&mut body, path, form.value(text));
            }
        }
        body
    }
}

impl ColumnFormat {
    fn value(self, text: &str) -> Value {
        match self {
            Self::List => text
                .split(';')
                .map(str::trim)
                .filter(|part| !part.is_empty())
                .collect(),
            // Other text is sent unchanged, and the server reports the problem.
            Self::Integer => text
                .parse::<i64>()
                .map_or_else(|_| text.into(), Value::from),
            Self::Boolean => match text.to_ascii_lowercase().as_str() {
                "true" | "yes" | "1" => true.into(),
                "false" | "no" | "0" => false.into(),
                _ => text.into(),
            },
            Self::Text => text.into(),
        }
    }
}

fn target(member: &str) -> Option<ColumnTarget> {
    let at = |path: &[&str], form| {
        Some(ColumnTarget {
            path: path.iter().map(ToString::to_string).collect(),
            form,
        })
    };
    if let Some((_, path)) = SHORT.iter().find(|(name, _)| *name == member) {
        return at(path, ColumnFormat::Text);
    }
    if let Some((_, path)) = LISTS.iter().find(|(name, _)| *name == member) {
        return at(path, ColumnFormat::List);
    }
    if let Some(key) = member.strip_prefix(CUSTOM).filter(|key| !key.is_empty()) {
        return at(&["person", "custom_fields", key], ColumnFormat::Text);
    }
    let field = own_fields().find(|field| field.name == member)?;
    at(&["person", member], form(field)?)
}

/// Returns the column format of a field, or `None` if one column cannot contain it.
fn form(field: &FieldSpec) -> Option<ColumnFormat> {
    match field.ty {
        ValueType::String
        | ValueType::Enum(_)
        | ValueType::FlexEnum(_)
        | ValueType::Timestamp
        | ValueType::Date => Some(ColumnFormat::Text),
        ValueType::Integer => Some(ColumnFormat::Integer),
        ValueType::Boolean => Some(ColumnFormat::Boolean),
        _ => None,
    }
}

fn own_fields() -> impl Iterator<Item = &'static FieldSpec> {
    Kind::Person
        .schema()
        .fields
        .fields
        .iter()
        .filter(|field| !field.is_computed() && form(field).is_some())
}

fn possible() -> String {
    let short = SHORT.iter().chain(LISTS).map(|(name, _)| *name);
    short
        .chain(own_fields().map(|field| field.name))
        .chain(["custom_fields.<name>"])
        .collect::<Vec<_>>()
        .join(", ")
}

/// Sets the value at a path and creates missing parts. A number in the path is the index of an
/// element.
fn put(value: &mut Value, path: &[String], leaf: Value) {
    let Some((first, rest)) = path.split_first() else {
        *value = leaf;
        return;
    };
    let inside = if first == "0" {
        if !value.is_array() {
            *value = json!([null]);
        }
        value.get_mut(0)
    } else {
        if !value.is_object() {
            *value = Value::Object(Map::new());
        }
        value
            .as_object_mut()
            .map(|members| members.entry(first.as_str()).or_insert(Value::Null))
    };
    if let Some(inside) = inside {
        put(inside, rest, leaf);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(member: &str, column: &str) -> (String, String) {
        (member.to_owned(), column.to_owned())
    }

    #[test]
    fn columns_become_a_sign_up() {
        let head = StringRecord::from(vec![
            "First",
            "family_name",
            "E-Mail",
            "City",
            "tags",
            "Shoe size",
        ]);
        let pairs = [
            pair("given_name", "First"),
            pair("email", "E-Mail"),
            pair("locality", "City"),
        ];
        let mapping = ColumnMapping::new(&head, &pairs).expect("a mapping");
        assert_eq!(mapping.left, ["Shoe size"]);
        let row = StringRecord::from(vec!["Ada", " King ", "ada@example.org", "", "a; b;", "38"]);
        let person = json!({"given_name": "Ada", "family_name": "King", "email_addresses": [{"address": "ada@example.org"}]});
        assert_eq!(
            mapping.body(&row),
            json!({"person": person, "add_tags": ["a", "b"]})
        );
        // A row that is too short has empty cells at its end.
        assert_eq!(
            mapping.body(&StringRecord::from(vec!["Ada"])),
            json!({"person": {"given_name": "Ada"}})
        );
    }

    #[test]
    fn what_cannot_be_mapped_says_what_could() {
        let head = StringRecord::from(vec!["a", "b"]);
        let said =
            |pairs: &[(String, String)]| ColumnMapping::new(&head, pairs).expect_err("no mapping");
        assert!(said(&[pair("email", "c")]).contains("no column `c`, only a, b"));
        assert!(
            said(&[pair("emial", "a")]).contains(
                "`emial` is not a member that a column can set; allowed are email, phone"
            )
        );
        assert!(said(&[]).contains("no column has the name of a member"));
        let mapping =
            ColumnMapping::new(&head, &[pair("custom_fields.b", "b")]).expect("a mapping");
        let row = StringRecord::from(vec!["", "7"]);
        assert_eq!(
            mapping.body(&row),
            json!({"person": {"custom_fields": {"b": "7"}}})
        );
    }
}
