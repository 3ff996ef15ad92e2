//! The page of webhooks.
//!
//! Requirements: HOOK-01 to HOOK-16.

use svc_core::error::ErrorCode;

use super::{DocLinkGroup, DocPage, DocPages, DocSubject, DocTable, changes, open};

/// The relation of the collection of webhooks, without prefix.
pub(super) const WEBHOOKS: &str = "webhooks";
/// That relation, and those of the operations on a webhook.
pub(super) const NAMES: [&str; 3] = [WEBHOOKS, "redeliver", "rotate_secret"];

/// Returns the page of one of these; `None` for another name.
pub(super) fn page(docs: &DocPages<'_>, name: &str) -> Option<DocPage> {
    let (api, name) = (docs.api, NAMES.into_iter().find(|known| *known == name)?);
    let summary = match name {
        "redeliver" => {
            "Makes a webhook send the changes after a cursor again; without a cursor, all changes."
        }
        "rotate_secret" => {
            "Replaces the secret of a webhook. For one day, the previous secret also signs the messages."
        }
        _ => {
            "Registrations of URLs that receive messages about created, changed and deleted records."
        }
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
        page.link_groups.push(DocLinkGroup {
            title: "See",
            entries: vec![docs.relation(WEBHOOKS)],
        });
        return Some(page);
    }
    let merged_into = api.dialect().relation(changes::MERGED_INTO);
    page.notes = [
        "A key needs the right `webhooks.manage`. Post the `url` of a receiver, and store the `secret` of the response: it is \
         shown only once.",
        "A webhook is visible only to keys that may read all of its kinds. Other keys get 403, and their list does not contain it. \
         When a key is revoked, some webhooks become `disabled`: those that it created, whose `url` it set, or that name it in \
         `changed_by`. \
         To reactivate one, send `PUT` with `{\"status\": \"active\"}` and another key.",
        "For each change of the selected kinds and events, the receiver gets a `POST` with a body such as \
         `{\"type\": \"person.created\", \"timestamp\": \"...\", \"data\": {\"_links\": {...}}}`. It contains only the URL of the record. \
         Read the record at this URL, with your key.",
        "If a person is merged into another one, the type is `person.merged`. It is `person.deleted` for a webhook without the event \
         `merged`. In both, `_links` also contains the URL of the other person as `{merged_into}`.",
        "Messages follow Standard Webhooks 1.0, for which there are libraries in most languages. Verify `webhook-signature` with \
         the secret before you trust a message, and reject a `webhook-timestamp` that is older than a few minutes.",
        "Each message is sent at least once, and not always in order. A repeated message has the same `webhook-id`: store the \
         ids for a few days, and ignore duplicates.",
        "Respond with 2xx within 15 seconds, before you do anything slow. A message that was not received is sent again after \
         5 seconds, 5 and 30 minutes, 2, 5, 10, 14, 20 and 24 hours, and is then abandoned. Redirects are not followed. If the \
         receiver responds with 410, the status becomes `ended`. After 429 or 503, the server waits for the time of `Retry-After`.",
        "After a change of the secret, `webhook-signature` has two signatures with a space between them; one valid signature \
         is sufficient.",
        "A webhook that was paused, or whose receiver was unavailable for a long time, continues at the same position. To get \
         messages again, post to `redeliver`: `{}` sends all changes in the change feed again, and `{\"after\": ...}` those after a cursor.",
    ]
    .map(|text| text.replace("{merged_into}", &merged_into))
    .into();
    let rows = [
        (
            "url",
            "the URL of the receiver: `https`, and reachable from the internet",
        ),
        (
            "kinds",
            "kinds of records, such as `person`, that the key may read; without it, all of these",
        ),
        (
            "events",
            "any of `created`, `changed`, `deleted` and `merged`; without it, all",
        ),
        (
            "status",
            "`active`, `paused`, `ended` after the receiver has responded with 410, or `disabled` after its key was revoked",
        ),
        (
            "secret",
            "only in the response that sets it: `whsec_` and base64",
        ),
        (
            "is_failing",
            "whether the last delivery failed; `failing_since` is the time of the first failure",
        ),
        (
            "total_delivered",
            "the number of delivered messages; `total_waiting` of those that will be sent again, `total_given_up` of abandoned ones",
        ),
        (
            "last_attempt",
            "the time of the attempt, and the `status` of the receiver's response or the `error`",
        ),
        (
            "next_attempt",
            "when the first waiting message is sent again",
        ),
        ("cursor", "the position of the webhook in the change feed"),
        (
            "created_by",
            "the name of the key that created the webhook; null for a key without a name",
        ),
        (
            "changed_by",
            "the last other `key` that changed `url` or `kinds`, or the status from `disabled`, and the time (`at`); null if there is none",
        ),
    ];
    page.tables
        .push(DocTable::of_names("Members of a webhook", rows));
    page.requests = docs.examples().of_webhooks();
    page.link_groups.push(docs.errors(&[
        ErrorCode::FieldRequired,
        ErrorCode::FieldInvalid,
        ErrorCode::PropertyUnknown,
        ErrorCode::CursorInvalid,
        ErrorCode::KeyNotAllowed,
    ]));
    Some(page)
}
