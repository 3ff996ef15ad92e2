//! Checks for text that a database cannot store.

use svc_core::{
    error::{Error, ErrorCode, Problem, Result},
    json::{Json, Object},
};

use super::{SqlDialect, resolved_mapping::ResolvedTable, row::at};

/// Rejects text with U+0000 if the database does not support it.
///
/// Requirements: ERR-13.
pub(super) fn check_texts(
    dialect: &'static dyn SqlDialect,
    table: &ResolvedTable,
    fields: &Object,
) -> Result<()> {
    if dialect.has_nul() {
        return Ok(());
    }
    let wrong = table
        .members
        .iter()
        .filter(|member| at(fields, member).is_some_and(has_zero))
        .map(|member| {
            let path = member
                .path
                .iter()
                .map(|field| field.name)
                .collect::<Vec<_>>()
                .join(".");
            let text = "{property} must not contain the character U+0000.";
            Problem::new(ErrorCode::FieldInvalid, &*path, text)
        });
    let wrong: Vec<Problem> = wrong.collect();
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(Error::invalid_all(wrong))
    }
}

fn has_zero(json: &Json) -> bool {
    match json {
        Json::String(text) => text.contains('\0'),
        Json::Array(list) => list.iter().any(has_zero),
        Json::Object(object) => object.iter().any(|(_, json)| has_zero(json)),
        Json::Null | Json::Bool(_) | Json::Number(_) => false,
    }
}
