//! The request and response of a batch.
//!
//! Requirements: BAT-01 to BAT-11, MRG-24.

use serde_json::{Value, json};
use svc_core::api::MAX_BATCH_ENTRIES;

use super::parts::{HAL, JSON};
use crate::documents::json_schema::Definitions;

/// The media types of lines. Each is described by the schema of one line.
const LINES: [&str; 2] = ["application/x-ndjson", "application/jsonl"];

/// Returns the content of a request: an array of the bodies of single calls, or lines of them. `entry`
/// is the schema of such a body.
pub(super) fn request(entry: &Value) -> Value {
    let array = json!({ "type": "array", "maxItems": MAX_BATCH_ENTRIES, "items": entry });
    let line = "The schema is that of one line: an entry.";
    let mut content = json!({ JSON: { "schema": array } });
    lines(
        &mut content,
        &json!({ "description": line, "anyOf": [entry] }),
    );
    content
}

/// Returns the content of a response, in the format of the request.
pub(super) fn answer(all: &mut Definitions<'_>) -> Value {
    let mut content = json!({ HAL: { "schema": all.batch() } });
    let line = "The schema is that of one line: the result of an entry, or the totals at the end.";
    lines(
        &mut content,
        &json!({ "description": line, "anyOf": [all.batch_result(), all.batch_totals()] }),
    );
    content
}

fn lines(content: &mut Value, line: &Value) {
    let Some(content) = content.as_object_mut() else {
        return;
    };
    content.extend(LINES.map(|media| (media.to_owned(), json!({ "schema": line }))));
}
