//! Lists and other values in the fields of records.

use std::collections::BTreeMap;

use crate::json::{Json, Object};

/// Returns a list of a JSON object, or an empty one if there is none.
pub(super) fn list<'a>(fields: &'a Object, name: &str) -> &'a [Json] {
    fields
        .get(name)
        .and_then(Json::as_array)
        .unwrap_or_default()
}

/// Returns the text of a value with object members sorted by name, because a client may send them
/// in another order.
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
