//! The page of the change feed.
//!
//! Requirements: SYN-01 to SYN-13.

use svc_core::{error::ErrorCode, link::Target};

use super::{DocLinkGroup, DocPage, DocPages, DocSubject, DocTable, open};

/// Its name: that of the relation, without prefix.
pub(super) const NAME: &str = "changes";

pub(super) fn page(docs: &DocPages<'_>) -> DocPage {
    let api = docs.api;
    let summary =
        "What was created, changed and deleted since a cursor, in the order in which it was done.";
    let mut page = open(NAME, DocSubject::Link, api.change_feed_relation(), summary);
    if !api.has_change_feed() {
        page.notes
            .push("This server has no change feed.".to_owned());
        return page;
    }
    page.notes = [
        "To begin, note the `last` link of the feed, read the collections, and then follow that link: what is changed \
         meanwhile is told there.",
        "Where `has_more` is true, `next` leads to more that is there already. On the last page keep `last`, and come back to \
         it: it leads to whatever is changed later. A cursor never skips anything, however many programs write.",
        "A record is told once for each call that creates, changes or deletes it. Read it by its link to have it as it is \
         now; where that is 404, it was deleted since, and that is told later.",
        "Of a deleted record there is its address and nothing else, and the same of each record that went with it. Who \
         deletes a person here wants it forgotten: erase what you hold of it, also where other records name it.",
        "With `Prefer: wait=30` an answer comes when there is something to tell, and after so many seconds at the latest; \
         `Preference-Applied` says how many.",
        "With `Accept: text/event-stream` the same pages come as events of a stream that goes on: `data` is a page, `id` the \
         cursor behind it. The stream ends after half a minute or so, and when its key is revoked; come back with the last \
         `id` in `Last-Event-ID`, as every client for such streams does by itself.",
        "The server limits how many requests of a key and of a tenant wait or are streams at the same time. One above the \
         limit gets 429 with `Retry-After`; a request that does not wait is answered.",
        "A page shows the kinds that the key may read, so that it may have fewer entries than `per_page`, or none, though \
         more follow. A key that may read no kind gets 403.",
    ]
    .map(str::to_owned)
    .into();
    let rows = [
        ("what", "`created`, `changed` or `deleted`"),
        ("kind", "the name of its resource, such as `person`"),
        ("at", "when: its `modified_date` then"),
        (
            "_links",
            "under the relation of the kind, the address of the record; `self` is a page with this entry alone",
        ),
    ];
    let rows = rows
        .map(|(name, text)| (format!("`{name}`"), text.to_owned()))
        .into();
    page.facts.push(DocTable {
        title: "An entry",
        rows,
    });
    let parameters = api.change_feed_parameters().into_iter();
    let rows = parameters
        .map(|it| (format!("`{}`", it.name), it.text))
        .collect();
    page.facts.push(DocTable {
        title: "Parameters",
        rows,
    });
    page.requests = docs
        .examples()
        .public("Read what was changed", &Target::Changes)
        .into_iter()
        .collect();
    let codes = [
        ErrorCode::CursorInvalid,
        ErrorCode::CursorExpired,
        ErrorCode::PageInvalid,
        ErrorCode::KeyNotAllowed,
        ErrorCode::TooManyRequests,
    ];
    page.lists.push(DocLinkGroup {
        title: "How it fails",
        entries: codes.map(|code| docs.entry(code.as_str())).into(),
    });
    page
}
