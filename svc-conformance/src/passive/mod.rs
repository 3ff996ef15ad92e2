//! Passive checks: what every response of a run must fulfil, whatever the request was.

mod collection;
mod document;
mod error;
mod values;

use http::Method;

use crate::answer::TestResponse;
use crate::check::CheckContext;
use crate::row;

pub(crate) use values::{is_shape, row as row_of};

/// The requirements that passive checks can observe, in addition to every field and link of the
/// catalogue.
#[rustfmt::skip]
pub(crate) const ROWS: &[&str] = &[
    row::HAL_01, row::HAL_02, row::HAL_03, row::HAL_04, row::HAL_07, row::HAL_08, row::HAL_09, row::HAL_11, row::HAL_12,
    row::HAL_13, row::HAL_14, row::HAL_18, row::HAL_19, row::COL_20, row::COL_21, row::COL_22, row::COL_23, row::COL_25,
    row::COL_26, row::COL_30, row::LIM_01, row::LIM_03, row::TYP_01, row::TYP_02, row::TYP_03, row::TYP_04, row::TYP_05,
    row::TYP_06, row::TYP_07, row::TYP_08, row::TYP_09, row::TYP_11, row::TYP_12, row::TYP_13, row::TYP_14, row::TYP_15,
    row::TYP_16, row::ERR_01, row::ERR_02, row::ERR_03, row::ERR_05, row::ERR_06, row::ERR_07, row::ERR_18, row::ERR_19,
    row::ERR_20, row::ERR_21, row::ERR_22, row::ERR_23, row::ERR_24, row::ERR_25, row::ERR_26, row::ERR_27, row::ERR_28,
    row::ERR_35, row::ERR_36, row::ERR_37, row::ERR_38, row::ENT_26, row::RES_PERSON_16, row::RES_PERSON_17,
    row::RES_PERSON_35, row::RES_POSTAL_ADDRESS_02, row::RES_EMAIL_ADDRESS_02, row::RES_PHONE_NUMBER_02,
    row::RES_PHONE_NUMBER_03,
];

/// Checks one response.
pub(crate) fn look(cx: &CheckContext, answer: &TestResponse) {
    if answer.is_success() {
        let cache = answer.header("cache-control").unwrap_or_default();
        cx.holds(row::HAL_04, directives(cache), || {
            format!("Cache-Control {cache:?} on {answer}")
        });
    }
    if answer.status == 204 {
        cx.holds(row::ERR_03, answer.body.is_empty(), || {
            format!("a 204 has a body: {answer}")
        });
    }
    if answer.body.is_empty() || matches!(answer.status, 401 | 403) || answer.method == Method::HEAD
    {
        return;
    }
    if answer.is_success() {
        cx.holds(row::HAL_02, answer.json.is_object(), || {
            format!("the body is not a JSON object: {answer}")
        });
        let media = answer.header("content-type").unwrap_or_default();
        let kind = media
            .split(';')
            .next()
            .unwrap_or_default()
            .trim()
            .to_ascii_lowercase();
        cx.holds(row::HAL_03, kind == "application/hal+json", || {
            format!("Content-Type {media:?} on {answer}")
        });
        document::whole(cx, answer);
        let code = answer.json.get("response_code");
        cx.holds(
            row::ERR_03,
            code.is_none_or(|code| code == answer.status),
            || answer.to_string(),
        );
    } else {
        error::look(cx, answer);
    }
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
