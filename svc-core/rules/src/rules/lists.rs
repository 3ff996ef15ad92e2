//! Lists in the fields of records.

use crate::json::{Json, Object};

/// Returns a list of a JSON object, or an empty one if there is none.
pub(super) fn list<'a>(fields: &'a Object, name: &str) -> &'a [Json] {
    fields
        .get(name)
        .and_then(Json::as_array)
        .unwrap_or_default()
}
