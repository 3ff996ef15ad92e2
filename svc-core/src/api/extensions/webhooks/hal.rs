//! Webhooks as HAL documents, and the body of a message.
//!
//! Requirements: HOOK-02, HOOK-06, HOOK-07.

use super::NAME;
use crate::{
    backend::RecordChange,
    hal::{Hal, MERGED_INTO, close, text_member},
    json::write_string,
    link::Target,
    value::Timestamp,
    webhooks::{EventType, Webhook, WebhookStatus},
};

/// Writes a webhook, with its secret if that is new.
pub(super) fn webhook(
    hal: &Hal<'_>,
    webhook: &Webhook,
    secret: Option<&str>,
    is_whole: bool,
    out: &mut Vec<u8>,
) {
    out.push(b'{');
    text_member("url", Some(&webhook.url), out);
    if let Some(secret) = secret {
        text_member("secret", Some(secret), out);
    }
    words(
        "kinds",
        webhook.kinds.iter().map(|kind| kind.singular()),
        out,
    );
    words(
        "events",
        webhook.events.iter().map(|what| what.as_str()),
        out,
    );
    text_member("status", Some(webhook.status.as_str()), out);
    let is_failing = webhook.failing_since.is_some();
    let numbers = format!(
        "\"is_failing\":{is_failing},\"total_delivered\":{},\"total_waiting\":{},\"total_given_up\":{},",
        webhook.delivered,
        webhook.pending_retries.len(),
        webhook.abandoned
    );
    out.extend_from_slice(numbers.as_bytes());
    moment("failing_since", webhook.failing_since, out);
    let is_active = webhook.status == WebhookStatus::Active;
    let next = webhook
        .pending_retries
        .iter()
        .map(|waiting| waiting.next)
        .min()
        .max(webhook.paused_until);
    moment(
        "next_attempt",
        next.filter(|_| is_active && !webhook.pending_retries.is_empty()),
        out,
    );
    out.extend_from_slice(b"\"last_attempt\":");
    match &webhook.last_attempt {
        Some(last) => {
            out.push(b'{');
            moment("at", Some(last.at), out);
            let status = last
                .status
                .map_or_else(|| "null".to_owned(), |status| status.to_string());
            out.extend_from_slice(format!("\"status\":{status},").as_bytes());
            text_member("error", last.error.as_deref(), out);
            close(out, b'}');
        }
        None => out.extend_from_slice(b"null"),
    }
    out.push(b',');
    text_member("cursor", webhook.cursor.as_deref(), out);
    moment("created_date", Some(webhook.created), out);
    moment("modified_date", Some(webhook.modified), out);
    text_member("created_by", webhook.created_by.as_deref(), out);
    out.extend_from_slice(b"\"changed_by\":");
    match &webhook.changed_by {
        Some(change) => {
            out.push(b'{');
            text_member("key", change.key.as_deref(), out);
            moment("at", Some(change.at), out);
            close(out, b'}');
        }
        None => out.extend_from_slice(b"null"),
    }
    out.push(b',');
    out.extend_from_slice(b"\"_links\":{");
    if is_whole {
        hal.write_extended_curies(out);
        out.push(b',');
    }
    let id = || webhook.id.clone();
    link("self", &hal.href(&Target::Webhook(id())), out);
    let relation = |name| hal.relations.dialect.relation(name);
    link(
        &relation("redeliver"),
        &hal.href(&Target::Redelivery(id())),
        out,
    );
    link(
        &relation("rotate_secret"),
        &hal.href(&Target::SecretRotation(id())),
        out,
    );
    close(out, b'}');
    out.push(b'}');
}

/// Writes all webhooks of a tenant.
pub(super) fn webhooks(hal: &Hal<'_>, all: &[Webhook], out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"_links\":{");
    hal.write_extended_curies(out);
    out.push(b',');
    link("self", &hal.href(&Target::Webhooks), out);
    let relation = hal.relations.dialect.relation(NAME.relation());
    write_string(&relation, out);
    out.extend_from_slice(b":[");
    for one in all {
        hal.write_link(&Target::Webhook(one.id.clone()), out);
        out.push(b',');
    }
    close(out, b']');
    out.extend_from_slice(b"},\"_embedded\":{");
    write_string(&relation, out);
    out.extend_from_slice(b":[");
    for one in all {
        webhook(hal, one, None, false, out);
        out.push(b',');
    }
    close(out, b']');
    out.extend_from_slice(b"}}");
}

/// Writes the body of a message: what happened, when, and the URL of the record. It has no data of
/// the record.
///
/// Requirements: HOOK-07.
pub(super) fn message(hal: &Hal<'_>, event: EventType, entry: &RecordChange, out: &mut Vec<u8>) {
    let kind = entry.address.kind.singular();
    out.push(b'{');
    text_member("type", Some(&format!("{kind}.{event}")), out);
    text_member("timestamp", Some(&entry.changed_at.to_string()), out);
    out.extend_from_slice(b"\"data\":{\"_links\":{");
    link(
        &hal.relations.dialect.relation(kind),
        &hal.href(&Target::Record(entry.address.clone())),
        out,
    );
    if let Some(into) = &entry.merged_into {
        link(
            &hal.relations.dialect.relation(MERGED_INTO),
            &hal.href(&Target::Record(into.clone())),
            out,
        );
    }
    close(out, b'}');
    out.extend_from_slice(b"}}");
}

fn words<'w>(name: &str, words: impl Iterator<Item = &'w str>, out: &mut Vec<u8>) {
    write_string(name, out);
    out.extend_from_slice(b":[");
    for word in words {
        write_string(word, out);
        out.push(b',');
    }
    close(out, b']');
    out.push(b',');
}

fn moment(name: &str, micros: Option<i64>, out: &mut Vec<u8>) {
    text_member(
        name,
        micros
            .map(|micros| Timestamp::from_micros(micros).to_string())
            .as_deref(),
        out,
    );
}

fn link(name: &str, href: &str, out: &mut Vec<u8>) {
    write_string(name, out);
    out.extend_from_slice(b":{\"href\":");
    write_string(href, out);
    out.extend_from_slice(b"},");
}
