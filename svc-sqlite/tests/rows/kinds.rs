//! The kinds of the interface as a client knows them, and how a record of each comes to be.
//!
//! Written from the catalogue, and so for a second time: with the tables of `svc-core` in their place a mistake there would
//! prove itself. The conformance suite has a list of its own for the same reason.

use serde_json::{Value, json};

use crate::client::{Client, own, segments};
use crate::fixture::Fixture;

/// One kind: its relation, the relation of its collection, and the kind of its container.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kind {
    pub(crate) one: &'static str,
    pub(crate) many: &'static str,
    /// The kind in whose collection it is created; none for the collections of the entry point.
    pub(crate) under: Option<&'static str>,
    /// The field of the container that counts it.
    pub(crate) counted: Option<&'static str>,
}

const fn top(one: &'static str, many: &'static str) -> Kind {
    Kind { one, many, under: None, counted: None }
}

const fn nested(one: &'static str, many: &'static str, under: &'static str, counted: Option<&'static str>) -> Kind {
    Kind { one, many, under: Some(under), counted }
}

/// Every kind.
pub(crate) const KINDS: &[Kind] = &[
    top("person", "people"),
    top("petition", "petitions"),
    top("event", "events"),
    top("form", "forms"),
    top("fundraising_page", "fundraising_pages"),
    top("tag", "tags"),
    top("list", "lists"),
    top("query", "queries"),
    top("question", "questions"),
    top("share_page", "share_pages"),
    top("advocacy_campaign", "advocacy_campaigns"),
    top("message", "messages"),
    nested("signature", "signatures", "petition", Some("total_signatures")),
    nested("submission", "submissions", "form", Some("total_submissions")),
    nested("donation", "donations", "fundraising_page", Some("total_donations")),
    nested("outreach", "outreaches", "advocacy_campaign", Some("total_outreaches")),
    nested("attendance", "attendances", "event", Some("total_accepted")),
    nested("answer", "answers", "question", None),
    nested("tagging", "taggings", "tag", None),
    nested("item", "items", "list", Some("total_items")),
    nested("canvass", "canvasses", "person", None),
];

/// The kinds that a record helper makes: kind, container, helper.
pub(crate) const ACTIONS: &[(&str, &str, &str)] = &[
    ("signature", "petition", "record_signature_helper"),
    ("submission", "form", "record_submission_helper"),
    ("donation", "fundraising_page", "record_donation_helper"),
    ("outreach", "advocacy_campaign", "record_outreach_helper"),
    ("attendance", "event", "record_attendance_helper"),
];

/// The collections that the entry point lists by the interface, and those that it may list.
pub(crate) const LISTED: &[(&str, &str)] = &[
    ("ENT-10", "people"),
    ("ENT-11", "petitions"),
    ("ENT-12", "events"),
    ("ENT-13", "forms"),
    ("ENT-14", "fundraising_pages"),
    ("ENT-15", "donations"),
    ("ENT-16", "tags"),
    ("ENT-17", "lists"),
    ("ENT-18", "queries"),
    ("ENT-19", "questions"),
    ("ENT-20", "share_pages"),
    ("ENT-21", "advocacy_campaigns"),
    ("ENT-21", "messages"),
];

/// The kind of this name.
pub(crate) fn kind(one: &str) -> Kind {
    KINDS.iter().copied().find(|kind| kind.one == one).unwrap_or_else(|| panic!("no kind {one}"))
}

/// Whether an address is that of a record of a kind, by the path shapes of the reference server.
pub(crate) fn addresses_kind(url: &str, one: &str) -> bool {
    segments(url).get(1).is_some_and(|segment| *segment == kind(one).many)
}

/// What a record of a kind needs at least.
pub(crate) fn least(one: &str) -> Value {
    match one {
        "question" => {
            json!({"question_type": "MultiChoice", "responses": [{"key": "a1", "name": "yes"}, {"key": "b2", "name": "no"}]})
        }
        "tag" | "list" => json!({"name": unique(one)}),
        "ticketed" => json!({"type": "ticketed", "ticket_levels": [
            {"title": "Standard", "amount": 10, "currency": "USD", "limit": 1_000_000},
            {"title": "Balcony", "amount": 20.5, "currency": "USD", "limit": 1_000_000},
        ]}),
        _ => json!({}),
    }
}

/// A name that nothing else in the process has.
pub(crate) fn unique(stem: &str) -> String {
    static NEXT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(1);
    format!("{stem}-{}", NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed))
}

/// Makes a record of a kind with these fields besides what it needs; an action goes under a container of its own.
pub(crate) fn make(fixture: &Fixture, api: &Client, one: &str, fields: &Value) -> Value {
    let mut body = least(one);
    if let (Some(body), Some(fields)) = (body.as_object_mut(), fields.as_object()) {
        body.extend(fields.clone());
    }
    let kind = kind(one);
    match kind.under {
        None => api.create(kind.many, &body),
        Some("person") => {
            let person = fixture.container(api, "person");
            let helper = api.href(&person, "record_canvass_helper");
            api.post(&helper, &json!({ "canvass": body })).ok()
        }
        Some(under) => {
            let ticketed = one == "attendance" && body.get("tickets").is_some();
            let container = fixture.container(api, if ticketed { "ticketed" } else { under });
            let membership = matches!(one, "tagging" | "item");
            let person = if membership { api.create("people", &json!({})) } else { fixture.container(api, "person") };
            api.act(&container, kind.many, &person, &body)
        }
    }
}

/// Whether a member of this address is in a collection.
pub(crate) fn contains(api: &Client, collection: &str, record: &Value) -> bool {
    api.members(collection).iter().any(|member| own(member) == own(record))
}
