//! Limits on the content of a record.
//!
//! Requirements: UND-17.

use crate::{
    draft::RawPatch,
    error::{ErrorCode, Problem},
    json::{ContentLimits, Json, Object, weight},
    store::StoredRecord,
};

/// Returns the problems of content that exceeds a limit after a change and has grown by it.
pub(super) fn exceeded_limits(
    caps: &ContentLimits,
    stored: &StoredRecord,
    before: &Object,
    after: &Object,
    patch: &RawPatch,
) -> Vec<Problem> {
    let mut problems = Vec::new();
    if let Some(identifiers) = &patch.identifiers
        && identifiers.len() > caps.identifiers
        && identifiers.len() > stored.record.meta().identifiers.to_vec().len()
    {
        problems.push(too_many_entries("identifiers", caps.identifiers));
    }
    for (name, value) in after {
        // `custom_fields` is the only object with free member names.
        if value.as_array().is_none() && name != "custom_fields" {
            continue;
        }
        let most = caps.max_entries(name);
        let had = before.get(name).map_or(0, length);
        if length(value) > most && length(value) > had {
            problems.push(too_many_entries(name, most));
        }
    }
    let grew = |name: &str| {
        let weight = |object: &Object| object.get(name).map_or(0, |value| weight(name, value));
        weight(after) > weight(before)
    };
    if let Some(name) = caps.too_large(after, grew) {
        let text = format!(
            "{{property}} would make the record larger than {} bytes.",
            caps.record
        );
        problems.push(Problem::new(ErrorCode::FieldInvalid, name.to_owned(), text));
    }
    problems
}

/// Returns the problem of a list with too many entries.
fn too_many_entries(name: &str, most: usize) -> Problem {
    let text = format!("{{property}} must not have more than {most} entries.");
    Problem::new(ErrorCode::FieldInvalid, name.to_owned(), text)
}

fn length(value: &Json) -> usize {
    match value {
        Json::Array(items) => items.len(),
        Json::Object(object) => object.iter().count(),
        _ => 0,
    }
}
