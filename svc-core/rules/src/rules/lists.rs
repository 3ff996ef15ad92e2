//! Lists and other values in the fields of records.

use std::collections::BTreeMap;

use crate::json::{Json, Object};

/// A list of a JSON object; empty where it has none.
pub(super) fn list<'a>(fields: &'a Object, name: &str) -> &'a [Json] {
    fields
        .get(name)
        .and_then(Json::as_array)
        .unwrap_or_default()
}

/// The text of a value with the members of objects in the order of their names: what a client sends
/// back may have another.
pub(super) fn in_order(value: &Json) -> String {
    match value {
        Json::Array(items) => format!(
            "[{}]",
            items.iter().map(in_order).collect::<Vec<_>>().join(",")
        ),
        Json::Object(object) => {
            let members: BTreeMap<&str, String> = object
                .iter()
                .map(|(name, value)| (name, in_order(value)))
                .collect();
            let members = members
                .iter()
                .map(|(name, value)| format!("{}:{value}", Json::from(*name)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(","))
        }
        other => other.to_string(),
    }
}
