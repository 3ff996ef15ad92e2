//! The page of webhooks.
//!
//! Requirements: HOOK-01 to HOOK-16.

use svc_core::error::ErrorCode;

use super::{DocLinkGroup, DocPage, DocPages, DocSubject, DocTable, open};

/// The relation that leads to the webhooks, without prefix.
pub(super) const WEBHOOKS: &str = "webhooks";
/// That one, and the relations of what a webhook is told to do.
pub(super) const NAMES: [&str; 3] = [WEBHOOKS, "redeliver", "rotate_secret"];

/// The page of one of these; `None` for another name.
pub(super) fn page(docs: &DocPages<'_>, name: &str) -> Option<DocPage> {
    let (api, name) = (docs.api, NAMES.into_iter().find(|known| *known == name)?);
    let summary = match name {
        "redeliver" => {
            "Lets a webhook send again what was changed behind a cursor, from the beginning without one."
        }
        "rotate_secret" => {
            "Gives a webhook another secret; the one before signs for a day beside it."
        }
        _ => "Receivers that are told what was created, changed and deleted.",
    };
    let mut page = open(
        name,
        DocSubject::Link,
        api.dialect().relation(name),
        summary,
    );
    if !api.has_webhooks() {
        page.notes.push("This server has no webhooks.".to_owned());
        return Some(page);
    }
    if name != WEBHOOKS {
        page.lists.push(DocLinkGroup {
            title: "See",
            entries: vec![docs.relation(WEBHOOKS)],
        });
        return Some(page);
    }
    page.notes = [
        "A key needs the right `webhooks.manage`. Post the `url` of a receiver, and keep the `secret` of the answer: it is shown \
         once.",
        "A webhook is visible only to keys that may read all of its kinds. Other keys get 403, and their list does not contain it. \
         Revoking a key disables the webhooks that it created or was the last to redirect; a `PUT` of `{\"status\": \"active\"}` \
         with another key reactivates one.",
        "For each change of the kinds and events that are named, the receiver is sent a `POST` with a body such as \
         `{\"type\": \"person.created\", \"timestamp\": \"...\", \"data\": {\"_links\": {...}}}`. It holds the address of the record and nothing \
         else: read the record by it, with your key.",
        "Messages follow Standard Webhooks 1.0, for which there are libraries in most languages. Verify `webhook-signature` with \
         the secret before you believe a message, and refuse a `webhook-timestamp` that is older than some minutes.",
        "A message comes at least once, and not always in order. Whoever was told before is told with the same `webhook-id`: \
         keep the ids of some days, and pass over what you know.",
        "Answer 2xx within 15 seconds, before you do anything slow. What has not arrived is sent again after 5 seconds, 5 and 30 \
         minutes, 2, 5, 10, 14, 20 and 24 hours, then it is given up. No redirect is followed; 410 ends the webhook; `Retry-After` \
         of 429 and 503 is respected.",
        "While the secret is changed, `webhook-signature` has two signatures with a space between them; one that fits is \
         enough.",
        "A webhook that was paused, or whose receiver was away for long, goes on where it was. To be told again post to \
         `redeliver`: `{}` for everything that the change feed has, or `{\"after\": ...}` with a cursor of it.",
    ]
    .map(str::to_owned)
    .into();
    let rows = [
        (
            "url",
            "where messages go: `https`, and a host that everybody can reach",
        ),
        (
            "kinds",
            "kinds of records, such as `person`; those that the key may read, and all of them where none are named",
        ),
        (
            "events",
            "of `created`, `changed` and `deleted`; all where none are named",
        ),
        (
            "status",
            "`active`, `paused`, `ended` where the receiver has answered 410, or `disabled` where its key was revoked",
        ),
        ("secret", "shown when it is new: `whsec_` and base64"),
        (
            "is_failing",
            "whether the last message has not arrived; `failing_since` says since when",
        ),
        (
            "total_delivered",
            "messages that have arrived; `total_waiting` those that are tried again, `total_given_up` those that are not",
        ),
        (
            "last_attempt",
            "when it was, and the `status` that the receiver answered, or the `error`",
        ),
        (
            "next_attempt",
            "when the first of the messages that wait is sent again",
        ),
        ("cursor", "how far it has read the change feed"),
        (
            "created_by",
            "the name of the key that created it; null for a key without a name",
        ),
        (
            "changed_by",
            "the last other `key` that changed `url` or `kinds` or reactivated it, and when (`at`); null where there is none",
        ),
    ];
    let rows = rows
        .map(|(name, text)| (format!("`{name}`"), text.to_owned()))
        .into();
    page.facts.push(DocTable {
        title: "A webhook",
        rows,
    });
    page.requests = docs.examples().of_webhooks();
    let codes = [
        ErrorCode::FieldRequired,
        ErrorCode::FieldInvalid,
        ErrorCode::PropertyUnknown,
        ErrorCode::CursorInvalid,
        ErrorCode::KeyNotAllowed,
    ];
    page.lists.push(DocLinkGroup {
        title: "How it fails",
        entries: codes.map(|code| docs.entry(code.as_str())).into(),
    });
    Some(page)
}
