//! Checks for values that the columns cannot store.

use svc_core::{
    error::{Error, ErrorCode, Problem, Result},
    json::{Json, Object},
};

use super::{
    SqlDialect,
    column::Conversion,
    resolved_mapping::{FieldStorage, ResolvedField, ResolvedTable},
    row::at,
};

/// Rejects text with U+0000 if the database does not support it, and values that a column cannot store
/// in the way that the mapping declares.
///
/// Requirements: ERR-13.
pub(super) fn check_values(
    dialect: &'static dyn SqlDialect,
    table: &ResolvedTable,
    fields: &Object,
) -> Result<()> {
    let problem = |member: &ResolvedField| {
        let value = at(fields, member)?;
        let text = if !dialect.has_nul() && has_zero(value) {
            "{property} must not contain the character U+0000.".to_owned()
        } else {
            unstorable(dialect, member, value)?
        };
        let path: Vec<&str> = member.path.iter().map(|field| field.name).collect();
        let path = path.join(".");
        Some(Problem::new(ErrorCode::FieldInvalid, &*path, text))
    };
    let wrong: Vec<Problem> = table.members.iter().filter_map(problem).collect();
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(Error::invalid_all(wrong))
    }
}

/// Returns why the column of a member cannot store a value.
fn unstorable(
    dialect: &'static dyn SqlDialect,
    member: &ResolvedField,
    value: &Json,
) -> Option<String> {
    let stored = match &member.stored {
        FieldStorage::Column(stored) => stored,
        FieldStorage::Rows { members, .. } => return in_entries(dialect, members, value),
        FieldStorage::Entries(entries) => {
            let mut all = entries.iter();
            return all.find_map(|members| in_entries(dialect, members, value));
        }
        FieldStorage::Constant(_) => return None,
    };
    let is_unset = |value: &Json| match value {
        Json::Null => true,
        Json::Array(list) => list.is_empty(),
        _ => false,
    };
    if is_unset(value) || stored.text(dialect, Some(value)).is_some() {
        return None;
    }
    Some(match &stored.conversion {
        Conversion::Scaled(digits) => {
            format!("{{property}} can have at most {digits} digits after the decimal point.")
        }
        Conversion::Joined(separator) => {
            let mark = separator.trim_matches(' ').escape_default();
            format!(
                "{{property}} must not contain `{mark}`, which separates its values, or an empty text."
            )
        }
        _ => "{property} has a value that this server cannot store.".to_owned(),
    })
}

/// Returns why the columns of the entries of a list cannot store them.
fn in_entries(
    dialect: &'static dyn SqlDialect,
    members: &[ResolvedField],
    list: &Json,
) -> Option<String> {
    let entries = list.as_array().unwrap_or_default();
    let mut entries = entries.iter().filter_map(Json::as_object);
    entries.find_map(|entry| {
        members
            .iter()
            .find_map(|member| unstorable(dialect, member, at(entry, member)?))
    })
}

fn has_zero(json: &Json) -> bool {
    match json {
        Json::String(text) => text.contains('\0'),
        Json::Array(list) => list.iter().any(has_zero),
        Json::Object(object) => object.iter().any(|(_, json)| has_zero(json)),
        Json::Null | Json::Bool(_) | Json::Number(_) => false,
    }
}
