//! The page of the change feed.
//!
//! Requirements: SYN-01 to SYN-13.

use svc_core::{error::ErrorCode, link::Target};

use super::{DocLinkGroup, DocPage, DocPages, DocSubject, DocTable, open, webhooks};

/// The name of the page: that of the relation, without prefix.
pub(super) const NAME: &str = "changes";
/// The relation of a link of an entry, without prefix.
pub(super) const MERGED_INTO: &str = "merged_into";

/// Returns the page of the link to the record that a deleted record was merged into.
pub(super) fn merged_into(docs: &DocPages<'_>) -> DocPage {
    let mut page = open(
        MERGED_INTO,
        DocSubject::Link,
        docs.api.dialect().relation(MERGED_INTO),
        "The record that a deleted record was merged into. It is in entries of the change feed, and in messages of webhooks.",
    );
    let entries = [NAME, webhooks::WEBHOOKS].map(|name| docs.relation(name));
    page.link_groups.push(DocLinkGroup {
        title: "See",
        entries: entries.into(),
    });
    page
}

pub(super) fn page(docs: &DocPages<'_>) -> DocPage {
    let api = docs.api;
    let summary = "The records that were created, changed and deleted since a cursor, in order.";
    let mut page = open(NAME, DocSubject::Link, api.change_feed_relation(), summary);
    if !api.has_change_feed() {
        page.notes
            .push("This server has no change feed.".to_owned());
        return page;
    }
    let merged_into = api.dialect().relation(MERGED_INTO);
    page.notes = [
        "To start, store the `last` link of the feed, then read the collections, and then follow the stored link. It has \
         the changes that happen while you read.",
        "If `has_more` is true, `next` links to more changes. On the last page, store the `last` link and request it \
         later. It then has the changes after this page. A cursor never skips a change, however many programs write.",
        "The feed has one entry for each record that a call creates, changes or deletes. Read the record by its link to \
         get its current state. If that gives 404, it has been deleted; a later entry reports this.",
        "The entry of a deleted record has only its address. Each record that was deleted with it has its own entry. \
         A person who is deleted wants to be forgotten. Erase your copy, also where other records name the person.",
        "If a person was merged into another one, `_links` of the entry also contains the URL of the other person as \
         `{merged_into}`. If a record then has another address, its former address has such an entry. The entries \
         of the records that now belong to the other person come earlier.",
        "With `Prefer: wait=30` the response is sent as soon as there is a change, and after 30 seconds at the latest; \
         `Preference-Applied` has the actual number.",
        "With `Accept: text/event-stream` the pages are sent as events of a stream: `data` is a page, `id` is the \
         cursor after it. The stream ends after about half a minute, and when its key is revoked. Reconnect with the last \
         `id` in `Last-Event-ID`; clients for such streams do so automatically.",
        "The server limits how many requests of a key and of a tenant may wait or be open as streams at the same time. A request above \
         the limit gets 429 with `Retry-After`; a request that does not wait is always possible.",
        "A page has only entries of kinds that the key may read. It may therefore have fewer entries than `per_page`, or none, \
         although more follow. A key that may read no kind gets 403.",
    ]
    .map(|text| text.replace("{merged_into}", &merged_into))
    .into();
    let rows = [
        ("what", "`created`, `changed` or `deleted`"),
        ("kind", "the kind of the record, such as `person`"),
        (
            "at",
            "the time of the change: the `modified_date` of the record",
        ),
        (
            "_links",
            "the URL of the record under the relation of its kind; `self` is a page with only this entry; \
             `{merged_into}` is the record that a deleted record was merged into",
        ),
    ];
    let rows = rows.map(|(name, text)| (name, text.replace("{merged_into}", &merged_into)));
    page.tables.push(DocTable::of_names("Feed entry", rows));
    page.tables
        .push(DocTable::of_parameters(api.change_feed_parameters()));
    page.requests = docs
        .examples()
        .public("Read the change feed", &Target::Changes)
        .into_iter()
        .collect();
    page.link_groups.push(docs.errors(&[
        ErrorCode::CursorInvalid,
        ErrorCode::CursorExpired,
        ErrorCode::PageInvalid,
        ErrorCode::KeyNotAllowed,
        ErrorCode::TooManyRequests,
    ]));
    page
}
