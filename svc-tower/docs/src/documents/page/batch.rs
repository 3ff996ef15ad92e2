//! The page of batches.
//!
//! Requirements: BAT-01 to BAT-11.

use svc_core::{api::MAX_BATCH_ENTRIES, error::ErrorCode};

use super::{DocLinkGroup, DocPage, DocPages, DocTable, topic};

/// Its name.
pub(super) const NAME: &str = "batch";

/// `None` where there are none.
pub(super) fn page(docs: &DocPages<'_>) -> Option<DocPage> {
    let api = docs.api;
    if !api.supports_batches() {
        return None;
    }
    let summary = "Many calls of a helper in one request: each entry is the body of a call, and is answered as that call would be.";
    let mut page = topic(NAME, "Many calls in one request", summary);
    page.notes = [
        format!("Up to {MAX_BATCH_ENTRIES} entries come as a JSON array with `Content-Type: application/json`. The answer is 200 with \
                 what became of each, in order, whatever that is: an entry that is refused stands in the way of no other."),
        "Any number of entries come as lines, one JSON object on each, with `application/x-ndjson` or `application/jsonl`. Each \
         is answered by a line, while the next ones are sent: read the answer while you send. The last line has `total`, \
         `succeeded` and `failed`; where it is missing, the stream broke off."
            .to_owned(),
        "Entries are done in their order, each wholly or not at all, and each sees what those before it did: a person who stands \
         there twice is one."
            .to_owned(),
        "Of an array, `body` is shown for every entry, of lines for those that failed. `Prefer: return=minimal` and \
         `return=representation` ask for the one or the other; `Prefer: handling=strict` holds for each entry."
            .to_owned(),
        format!("The bodies in the response to an array have at most {} bytes together. The results after that have no `body`: read \
                 the records at their `href`, or send the entries as lines.", api.limits().batch_response),
    ]
    .into();
    if api.supports_idempotency() {
        page.notes.push("With `Idempotency-Key` a batch may be sent again, whole or with more entries behind: what was done is answered as it was, and the rest is done.".to_owned());
    }
    let rows = [
        (
            "index",
            "the place of the entry, from 0; empty lines do not count",
        ),
        ("status", "the status of the single call"),
        ("href", "where the record is, if it succeeded"),
        ("body", "the body of the single call's answer"),
        (
            "code",
            "the error code, where the response had no room for `body`",
        ),
    ];
    let rows = rows
        .map(|(name, text)| (format!("`{name}`"), text.to_owned()))
        .into();
    page.facts.push(DocTable {
        title: "What became of an entry",
        rows,
    });
    let helpers = api.helpers().filter(|helper| helper.takes_batches());
    let entries = helpers
        .map(|helper| docs.relation(helper.relation()))
        .collect();
    page.lists.push(DocLinkGroup {
        title: "Helpers that take it",
        entries,
    });
    let codes = [
        ErrorCode::JsonInvalid,
        ErrorCode::BodyMissing,
        ErrorCode::BodyTooLarge,
        ErrorCode::MediaTypeNotSupported,
    ];
    page.lists.push(DocLinkGroup {
        title: "How it fails",
        entries: codes.map(|code| docs.entry(code.as_str())).into(),
    });
    Some(page)
}
