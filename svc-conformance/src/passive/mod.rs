//! Passive checks: what every response of a run must fulfil, whatever the request was.

mod collection;
mod document;
mod error;
mod values;

use http::Method;

use crate::check::CheckContext;
use crate::ids;
use crate::response::TestResponse;

pub(crate) use values::{is_shape, row as row_of};

/// The requirements that passive checks can observe, in addition to every field and link of the
/// catalogue.
#[rustfmt::skip]
pub(crate) const ROWS: &[&str] = &[
    ids::HAL_01, ids::HAL_02, ids::HAL_03, ids::HAL_04, ids::HAL_07, ids::HAL_08, ids::HAL_09, ids::HAL_11, ids::HAL_12,
    ids::HAL_13, ids::HAL_14, ids::HAL_18, ids::HAL_19, ids::COL_20, ids::COL_21, ids::COL_22, ids::COL_23, ids::COL_25,
    ids::COL_26, ids::COL_30, ids::LIM_01, ids::LIM_03, ids::TYP_01, ids::TYP_02, ids::TYP_03, ids::TYP_04, ids::TYP_05,
    ids::TYP_06, ids::TYP_07, ids::TYP_08, ids::TYP_09, ids::TYP_11, ids::TYP_12, ids::TYP_13, ids::TYP_14, ids::TYP_15,
    ids::TYP_16, ids::ERR_01, ids::ERR_02, ids::ERR_03, ids::ERR_05, ids::ERR_06, ids::ERR_07, ids::ERR_18, ids::ERR_19,
    ids::ERR_20, ids::ERR_21, ids::ERR_22, ids::ERR_23, ids::ERR_24, ids::ERR_25, ids::ERR_26, ids::ERR_27, ids::ERR_28,
    ids::ERR_35, ids::ERR_36, ids::ERR_37, ids::ERR_38, ids::ENT_26, ids::RES_PERSON_16, ids::RES_PERSON_17,
    ids::RES_PERSON_35, ids::RES_POSTAL_ADDRESS_02, ids::RES_EMAIL_ADDRESS_02, ids::RES_PHONE_NUMBER_02,
    ids::RES_PHONE_NUMBER_03,
];

/// Checks one response.
pub(crate) fn check_response(cx: &CheckContext, answer: &TestResponse) {
    if answer.is_success() {
        let cache = answer.header("cache-control").unwrap_or_default();
        let is_right = directives(cache) || (is_unstored(cx, answer) && forbids_storage(cache));
        cx.observe(ids::HAL_04, is_right, || {
            format!("Cache-Control {cache:?} on {answer}")
        });
    }
    if answer.status == 204 {
        cx.observe(ids::ERR_03, answer.body.is_empty(), || {
            format!("a 204 has a body: {answer}")
        });
    }
    if answer.body.is_empty() || matches!(answer.status, 401 | 403) || answer.method == Method::HEAD
    {
        return;
    }
    // The body of a redirect from the URL of a merged person is not judged.
    // Requirements: MRG-09.
    let is_redirect = matches!(answer.status, 301 | 308) && answer.header("location").is_some();
    if is_redirect && cx.declared().behaves("merge_people.forwards") {
        return;
    }
    if answer.is_success() {
        cx.observe(ids::HAL_02, answer.json.is_object(), || {
            format!("the body is not a JSON object: {answer}")
        });
        let media = answer.header("content-type").unwrap_or_default();
        let kind = media
            .split(';')
            .next()
            .unwrap_or_default()
            .trim()
            .to_ascii_lowercase();
        cx.observe(ids::HAL_03, kind == "application/hal+json", || {
            format!("Content-Type {media:?} on {answer}")
        });
        document::whole(cx, answer);
        let code = answer.json.get("response_code");
        cx.observe(
            ids::ERR_03,
            code.is_none_or(|code| code == answer.status),
            || answer.to_string(),
        );
    } else {
        error::check_error(cx, answer);
    }
}

/// Whether a response is a page or a pair of duplicates, or a list of merges. No cache may store these.
///
/// Requirements: DUP-03.
fn is_unstored(cx: &CheckContext, answer: &TestResponse) -> bool {
    let embeds = |name| {
        let record = answer.record();
        cx.declared()
            .extension(&record, "_embedded", name)
            .is_some()
    };
    answer["dismissed"].is_boolean() || embeds("duplicates") || embeds("merges")
}

/// Whether the value of `Cache-Control` forbids caches to store the response.
pub(crate) fn forbids_storage(value: &str) -> bool {
    value
        .split(',')
        .any(|one| one.trim().eq_ignore_ascii_case("no-store"))
}

/// Compares the three directives of `Cache-Control` as a set. Order and case do not matter.
///
/// Requirements: HAL-04.
fn directives(value: &str) -> bool {
    let mut found: Vec<String> = value
        .split(',')
        .map(|one| one.trim().to_ascii_lowercase())
        .collect();
    found.sort();
    found.dedup();
    found == ["max-age=0", "must-revalidate", "private"]
}
