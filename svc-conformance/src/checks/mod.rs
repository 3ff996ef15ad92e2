//! The checks, one file for each area. A check is a row of a table and an async function.
//!
//! To add one: write `async fn name(cx: &Cx) -> Result<(), Stop>` in the file of its area and a row
//! `Check::new("area/what-it-looks-at", &["ROW-01"], |cx| Box::pin(name(cx)))` in the table above it. Inside, send through
//! `cx.api()`, make records with `make`, and record every look with `cx.holds`, `cx.must` or `cx.prefers`. A check that
//! returns without a look at a row has not proven it.

mod entry;
mod refusals;
mod round_trip;
mod stateful;

use crate::check::Check;

/// Every check, in the order in which they run.
pub(crate) fn all() -> Vec<Check> {
    [entry::CHECKS, round_trip::CHECKS, refusals::CHECKS, stateful::CHECKS].concat()
}
