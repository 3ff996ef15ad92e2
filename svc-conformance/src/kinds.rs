//! The kinds of the interface as a client knows them; written from the catalogue, not from the tables of `svc-core`.

/// One kind: its relation, that of its collection, and how a record of it comes to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Kind {
    /// Relation of one record (HAL-14).
    pub(crate) one: &'static str,
    /// Relation of its collection.
    pub(crate) many: &'static str,
    /// The kind in whose collection it is created; none for the collections of the entry point.
    pub(crate) under: Option<&'static str>,
    /// The field of the container that counts it.
    pub(crate) counted: Option<&'static str>,
    /// The helper of the container that records it.
    pub(crate) helper: Option<&'static str>,
}

const fn top(one: &'static str, many: &'static str) -> Kind {
    Kind { one, many, under: None, counted: None, helper: None }
}

const fn nested(
    one: &'static str,
    many: &'static str,
    under: &'static str,
    counted: Option<&'static str>,
    helper: Option<&'static str>,
) -> Kind {
    Kind { one, many, under: Some(under), counted, helper }
}

/// Every kind, containers before what they contain.
pub(crate) const KINDS: &[Kind] = &[
    Kind { helper: Some("person_signup"), ..top("person", "people") },
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
    nested("signature", "signatures", "petition", Some("total_signatures"), Some("record_signature")),
    nested("submission", "submissions", "form", Some("total_submissions"), Some("record_submission")),
    nested("donation", "donations", "fundraising_page", Some("total_donations"), Some("record_donation")),
    nested("outreach", "outreaches", "advocacy_campaign", Some("total_outreaches"), Some("record_outreach")),
    nested("attendance", "attendances", "event", Some("total_accepted"), Some("record_attendance")),
    nested("answer", "answers", "question", None, None),
    nested("tagging", "taggings", "tag", None, None),
    nested("item", "items", "list", Some("total_items"), None),
    nested("canvass", "canvasses", "person", None, Some("record_canvass")),
];

/// The kinds that an action helper with a person records.
pub(crate) const ACTIONS: &[&str] = &["signature", "submission", "donation", "outreach", "attendance"];

/// The action functions of the interface (HAF-01).
pub(crate) const FUNCTIONS: &[&str] =
    &["add_tags", "add_tags_uri", "add_lists", "add_lists_uri", "add_questions_responses_uri", "triggers"];

/// The kind with this relation.
pub(crate) fn kind(one: &str) -> Option<Kind> {
    KINDS.iter().copied().find(|kind| kind.one == one)
}

/// The kind whose collection has this name.
pub(crate) fn kind_of(many: &str) -> Option<Kind> {
    KINDS.iter().copied().find(|kind| kind.many == many)
}
