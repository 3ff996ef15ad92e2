//! Passive checks of error bodies.
//!
//! Requirements: ERR-01 to ERR-28.

use serde_json::{Value, json};

use super::document;
use crate::catalogue::Encounter;
use crate::check::CheckContext;
use crate::ids;
use crate::kinds::kind;
use crate::response::{TestResponse, descriptions};

/// The codes that an entry may have: those of the table, then the additional ones.
///
/// Requirements: ERR-22.
const CODES: [u64; 19] = [
    200, 201, 204, 400, 401, 403, 404, 500, 405, 408, 409, 410, 412, 413, 415, 422, 428, 501, 503,
];

/// Checks the body of a failed response other than 401 and 403.
pub(crate) fn check_error(cx: &CheckContext, answer: &TestResponse) {
    if !(400..600).contains(&answer.status) {
        cx.observe(ids::ERR_01, false, || {
            format!("neither success nor failure: {answer}")
        });
        return;
    }
    if answer.status == 500 {
        unexpected(cx, answer);
    }
    // A 404 needs no body. If there is one, it is judged elsewhere.
    // Requirements: ERR-11.
    let Some(error) = answer.error() else {
        let bare = !answer.problems().is_empty();
        cx.observe(ids::ERR_01, bare, || {
            format!("the body has no error object: {answer}")
        });
        cx.prefers(ids::ERR_02, !bare, || {
            format!("a description outside an entry: {answer}")
        });
        return;
    };
    cx.observe(ids::ERR_01, true, String::new);
    cx.run.met.add(Encounter::ErrorBody);
    let sort = error["request_type"].as_str().unwrap_or_default();
    cx.observe(ids::ERR_18, matches!(sort, "atomic" | "non-atomic"), || {
        format!("request_type {sort:?}: {answer}")
    });
    let code = error["response_code"].as_u64();
    cx.observe(ids::ERR_19, code == Some(answer.status.into()), || {
        format!("response_code {}: {answer}", json!(code))
    });
    cx.observe(
        ids::ERR_03,
        code.is_none_or(|code| code == u64::from(answer.status)),
        || answer.to_string(),
    );
    if sort == "non-atomic" {
        cx.observe(ids::ERR_19, code == Some(400), || {
            format!("non-atomic with {}: {answer}", json!(code))
        });
    }
    let entries = answer.entries();
    let right = if sort == "non-atomic" {
        entries.len() >= 2
    } else {
        entries.len() == 1
    };
    cx.observe(ids::ERR_20, right, || {
        format!("{} entries in a {sort} error: {answer}", entries.len())
    });
    for one in entries {
        entry(cx, answer, one, sort == "non-atomic");
    }
    let bare = entries.iter().all(|entry| descriptions(entry).is_empty());
    cx.prefers(ids::ERR_02, !bare, || {
        format!("no descriptions in any entry: {answer}")
    });
    for (rel, value) in answer.json.as_object().into_iter().flatten() {
        let name = rel
            .strip_prefix(&format!("{}:", answer.prefix))
            .filter(|name| *name != "error");
        if let Some(of) = name.and_then(kind) {
            document::check_document(cx, answer, value, Some(of));
        }
    }
}

fn entry(cx: &CheckContext, answer: &TestResponse, entry: &Value, non_atomic: bool) {
    let relation = entry["resource"].as_str().unwrap_or_default();
    let prefixed = relation
        .strip_prefix(&format!("{}:", answer.prefix))
        .is_some_and(|name| !name.is_empty());
    cx.observe(ids::ERR_21, prefixed, || {
        format!("resource {relation:?}: {answer}")
    });
    let code = entry["response_code"].as_u64().unwrap_or_default();
    cx.observe(ids::ERR_22, CODES.contains(&code), || {
        format!("entry code {code}: {answer}")
    });
    let whole = answer
        .error()
        .and_then(|error| error["response_code"].as_u64());
    // The entry of an unsupported feature has its own code.
    // Requirements: ERR-38.
    let unsupported = descriptions(entry)
        .iter()
        .any(|one| one["error_code"] == "NOT_SUPPORTED");
    cx.observe(
        ids::ERR_22,
        non_atomic || unsupported || Some(code) == whole,
        || {
            format!(
                "the only entry has {code}, but the request has {}: {answer}",
                json!(whole)
            )
        },
    );
    let list = descriptions(entry);
    if matches!(code, 400 | 500) {
        cx.run.met.add(Encounter::FailedEntry);
        let own = entry
            .get("error_descriptions")
            .or_else(|| entry.get("errors").filter(|_| non_atomic));
        let filled = own
            .and_then(Value::as_array)
            .is_some_and(|list| !list.is_empty());
        cx.observe(ids::ERR_23, filled, || {
            format!("an entry with {code} has no descriptions: {answer}")
        });
        if non_atomic {
            let spelling = if entry.get("error_descriptions").is_some() {
                "error_descriptions"
            } else {
                "errors"
            };
            cx.chose("descriptions of non-atomic entries", spelling);
        }
    }
    for description in list {
        meant(cx, answer, description, non_atomic.then_some(code));
        let code = description
            .get("error_code")
            .or_else(|| description.get("code").filter(|_| non_atomic));
        let word = |word: &str| {
            !word.is_empty()
                && word
                    .bytes()
                    .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit())
        };
        let snake =
            code.is_none_or(|code| code.as_str().is_some_and(|code| code.split('_').all(word)));
        cx.observe(ids::ERR_24, snake, || {
            format!("error_code {}: {answer}", json!(code))
        });
        let text = description.get("description");
        let said = text.is_none_or(|text| text.as_str().is_some_and(|text| !text.is_empty()));
        cx.observe(ids::ERR_25, said, || {
            format!("description {}: {answer}", json!(text))
        });
        let names = description.get("properties");
        let listed = names.is_none_or(|names| {
            names
                .as_array()
                .is_some_and(|names| names.iter().all(Value::is_string))
        });
        cx.observe(ids::ERR_26, listed, || {
            format!("properties {}: {answer}", json!(names))
        });
        for (row, name) in [(ids::ERR_27, "hint"), (ids::ERR_28, "reference_code")] {
            if let Some(value) = description.get(name) {
                cx.run.met.add(if name == "hint" {
                    Encounter::Hint
                } else {
                    Encounter::ReferenceCode
                });
                cx.observe(row, value.is_string(), || {
                    format!("{name} {value}: {answer}")
                });
            }
        }
    }
}

/// Checks a description: it must state what is wrong. A code of the specification must be used only
/// for its error. Outside `part`, which is the status of one part of a helper request, a server may
/// use `NOT_SUPPORTED` as it likes.
///
/// Requirements: ERR-35 to ERR-38.
fn meant(cx: &CheckContext, answer: &TestResponse, description: &Value, part: Option<u64>) {
    let text = |name: &str| description[name].as_str().filter(|text| !text.is_empty());
    let code = text("error_code").or_else(|| text("code"));
    cx.observe(
        ids::ERR_23,
        code.is_some() || text("description").is_some(),
        || format!("a description has neither a code nor a reason: {answer}"),
    );
    let names = description["properties"].as_array();
    let names: Vec<&str> = names
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let (row, fits) = match (code, part) {
        (Some("PARAGRAPH_CANNOT_HAVE_RESPONSES"), _) => (
            ids::ERR_35,
            names.iter().any(|name| name.contains("question_type")),
        ),
        (Some("RESPONSE_NAME_INVALID"), _) => (
            ids::ERR_36,
            names
                .iter()
                .any(|name| name.contains("responses[") && name.ends_with("].name")),
        ),
        (Some("TAG_NAME_DOES_NOT_EXIST"), _) => (ids::ERR_37, names.contains(&"add_tags")),
        (Some("NOT_SUPPORTED"), Some(status)) => (ids::ERR_38, status >= 500),
        _ => return,
    };
    cx.observe(row, fits, || {
        format!("{} is used for another error: {answer}", json!(code))
    });
    for row in [row, ids::ERR_25] {
        cx.observe(row, text("description").is_some(), || {
            format!("{} has no reason: {answer}", json!(code))
        });
    }
}

/// Checks a 500: it is either unsupported or unexpected, and the body states which.
///
/// Requirements: ERR-07, ERR-05, ERR-06.
fn unexpected(cx: &CheckContext, answer: &TestResponse) {
    let list = answer.descriptions();
    let not_there = |description: &&Value| {
        let code = description
            .get("error_code")
            .or_else(|| description.get("code"));
        code.is_some_and(|code| code == "NOT_IMPLEMENTED" || code == "NOT_SUPPORTED")
    };
    if !list.is_empty() && list.iter().all(not_there) {
        return;
    }
    cx.run.met.add(Encounter::Status500);
    let told = list
        .iter()
        .any(|d| d["error_code"].is_string() && d["description"].is_string());
    cx.observe(ids::ERR_05, told, || {
        format!("an unexpected error without a description of it: {answer}")
    });
    let named = list.iter().all(|d| {
        d["reference_code"]
            .as_str()
            .is_some_and(|code| !code.is_empty())
    });
    cx.prefers(ids::ERR_06, named && !list.is_empty(), || {
        format!("no reference_code: {answer}")
    });
}
