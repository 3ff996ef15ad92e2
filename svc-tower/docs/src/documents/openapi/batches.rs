//! What a batch takes and answers (BAT).

use serde_json::{Value, json};
use svc_core::{api::MAX_BATCH_ENTRIES, helper::HelperName};

use super::parts::{HAL, JSON};
use crate::documents::json_schema::Definitions;

/// The media types of lines, each of which is described by the schema of one line.
const LINES: [&str; 2] = ["application/x-ndjson", "application/jsonl"];

/// The content of a request: an array of the bodies of single calls, or lines of them.
pub(super) fn request(all: &mut Definitions<'_>, helper: HelperName) -> Value {
    let entry = all.helper(helper);
    let array = json!({ "type": "array", "maxItems": MAX_BATCH_ENTRIES, "items": entry });
    let line = "The schema is that of one line: an entry.";
    let mut content = json!({ JSON: { "schema": array } });
    lines(
        &mut content,
        &json!({ "description": line, "anyOf": [entry] }),
    );
    content
}

/// The content of an answer, in the form of the request.
pub(super) fn answer(all: &mut Definitions<'_>) -> Value {
    let mut content = json!({ HAL: { "schema": all.batch() } });
    let line = "The schema is that of one line: what became of an entry, or the totals at the end.";
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
