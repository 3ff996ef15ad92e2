//! What every answer of a run must satisfy, whatever the request was.

mod collection;
mod document;
mod error;
mod values;

use http::Method;

use crate::answer::Answer;
use crate::check::Cx;

pub(crate) use values::row as row_of;

/// The rows that passive looks can observe, besides every field and link of the catalogue.
pub(crate) const ROWS: &[&str] = &[
    "HAL-01",
    "HAL-02",
    "HAL-03",
    "HAL-04",
    "HAL-07",
    "HAL-08",
    "HAL-09",
    "HAL-11",
    "HAL-12",
    "HAL-13",
    "HAL-14",
    "HAL-15",
    "HAL-18",
    "COL-20",
    "COL-21",
    "COL-22",
    "COL-23",
    "COL-25",
    "COL-26",
    "COL-30",
    "LIM-01",
    "LIM-03",
    "TYP-01",
    "TYP-02",
    "TYP-03",
    "TYP-04",
    "TYP-05",
    "TYP-06",
    "TYP-07",
    "TYP-08",
    "TYP-09",
    "TYP-11",
    "TYP-12",
    "TYP-13",
    "TYP-14",
    "TYP-15",
    "TYP-16",
    "ERR-01",
    "ERR-02",
    "ERR-03",
    "ERR-05",
    "ERR-06",
    "ERR-07",
    "ERR-18",
    "ERR-19",
    "ERR-20",
    "ERR-21",
    "ERR-22",
    "ERR-23",
    "ERR-24",
    "ERR-25",
    "ERR-26",
    "ERR-27",
    "ERR-28",
    "ERR-35",
    "ERR-36",
    "ERR-37",
    "ERR-38",
    "ENT-26",
    "RES-person-16",
    "RES-person-17",
    "RES-person-35",
    "RES-postal_address-02",
    "RES-email_address-02",
    "RES-phone_number-02",
    "RES-phone_number-03",
];

/// Looks at one answer.
pub(crate) fn look(cx: &Cx, answer: &Answer) {
    if answer.is_success() {
        let cache = answer.header("cache-control").unwrap_or_default();
        cx.holds("HAL-04", directives(cache), || format!("Cache-Control {cache:?} on {answer}"));
    }
    if answer.status == 204 {
        cx.holds("ERR-03", answer.body.is_empty(), || format!("a 204 has a body: {answer}"));
    }
    if answer.body.is_empty() || matches!(answer.status, 401 | 403) {
        return;
    }
    if answer.method == Method::HEAD {
        return;
    }
    if answer.is_success() {
        cx.holds("HAL-02", answer.json.is_object(), || format!("the body is no JSON object: {answer}"));
        let media = answer.header("content-type").unwrap_or_default();
        let kind = media.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        cx.holds("HAL-03", kind == "application/hal+json", || format!("Content-Type {media:?} on {answer}"));
        document::whole(cx, answer);
        let code = answer.json.get("response_code");
        cx.holds("ERR-03", code.is_none_or(|code| code == answer.status), || answer.to_string());
    } else {
        error::look(cx, answer);
    }
}

/// The three directives of HAL-04 as a set; order and case do not matter.
fn directives(value: &str) -> bool {
    let mut found: Vec<String> = value.split(',').map(|one| one.trim().to_ascii_lowercase()).collect();
    found.sort();
    found.dedup();
    found == ["max-age=0", "must-revalidate", "private"]
}
