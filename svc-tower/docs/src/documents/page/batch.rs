//! The page of batches.
//!
//! Requirements: BAT-01 to BAT-11.

use svc_core::{api::MAX_BATCH_ENTRIES, error::ErrorCode, helper::HelperName};

use super::{DocLinkGroup, DocPage, DocPages, DocTable, merges::MERGE_HELPER, topic};

/// The name of the page.
pub(super) const NAME: &str = "batch";

/// Returns the page; `None` if the server has no batches.
pub(super) fn page(docs: &DocPages<'_>) -> Option<DocPage> {
    let api = docs.api;
    if !api.supports_batches() {
        return None;
    }
    let summary = "Send many calls of a helper in one request. Each entry is the body of one call, and gets the response to that call.";
    let mut page = topic(NAME, "Batches", summary);
    page.notes = [
        format!("Send up to {MAX_BATCH_ENTRIES} entries as a JSON array with `Content-Type: application/json`. The response is 200 with \
                 the result of each entry, in order. A rejected entry does not affect the others."),
        "Send any number of entries as lines, each with one JSON object, with `application/x-ndjson` or `application/jsonl`. Each \
         line gets a response line while you send the next ones: read the response while you send. The last line has `total`, \
         `succeeded` and `failed`. If it is missing, the stream was interrupted."
            .to_owned(),
        "Entries are executed in order, each like a single call. Each sees the effects of the previous ones: a person who occurs twice is \
         created once."
            .to_owned(),
        "The response to an array has a `body` for each entry; the response to lines only for failed ones. `Prefer: return=minimal` and \
         `return=representation` select one or the other. `Prefer: handling=strict` applies to each entry."
            .to_owned(),
        format!("The bodies in the response to an array have at most {} bytes in total. The results after that have no `body`: read \
                 the records at their `href`, or send the entries as lines.", api.limits().batch_response),
    ]
    .into();
    if api.supports_idempotency() {
        page.notes.push("With `Idempotency-Key` you can send a batch again, unchanged or with more entries at its end. Entries that were executed get their first response; the others are executed.".to_owned());
    }
    let rows = [
        (
            "index",
            "the position of the entry, from 0; empty lines do not count",
        ),
        ("status", "the status of the call"),
        ("href", "the URL of the record, if the call succeeded"),
        (
            "effect",
            "`created`, `updated` or `unchanged`, if the call succeeded and its effect is known",
        ),
        ("body", "the response body of the call"),
        (
            "code",
            "the first error code of a failed call, if the result has no `body`",
        ),
    ];
    page.tables
        .push(DocTable::of_names("Result of an entry", rows));
    let helpers = api.helpers().filter(|helper| helper.accepts_batches());
    let merges = api.merges_people().then_some(MERGE_HELPER);
    let entries = helpers
        .map(HelperName::relation)
        .chain(merges)
        .map(|relation| docs.relation(relation))
        .collect();
    page.link_groups.push(DocLinkGroup {
        title: "Helpers that accept batches",
        entries,
    });
    page.link_groups.push(docs.errors(&[
        ErrorCode::JsonInvalid,
        ErrorCode::BodyMissing,
        ErrorCode::BodyTooLarge,
        ErrorCode::MediaTypeNotSupported,
    ]));
    Some(page)
}
