//! The kinds of records according to the catalogue: names, collections, links and operations.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::fields::{self, FieldShape, ObjectField};

/// One kind of record.
#[derive(Debug)]
pub(super) struct ServerKind {
    /// The singular name.
    pub(super) one: &'static str,
    /// The plural name, which is the name of collections.
    pub(super) many: &'static str,
    /// Whether the entry point links a collection of all records.
    pub(super) listed: bool,
    /// The container that an action is recorded under. Its name is also the name of the link.
    pub(super) container: Option<&'static str>,
    /// The operations in addition to list and read.
    pub(super) writes: &'static [&'static str],
    /// The collections below a record.
    pub(super) below: &'static [NestedCollection],
    /// The helper of a record.
    pub(super) helper: Option<&'static str>,
    /// The links to one record, in addition to the container.
    pub(super) to_one: &'static [&'static str],
}

/// A collection below a record.
#[derive(Debug, Clone, Copy)]
pub(super) struct NestedCollection {
    /// The name of the link to the collection.
    pub(super) name: &'static str,
    /// The singular name of the members' kind.
    pub(super) of: &'static str,
    /// The link from a member back to the record.
    pub(super) by: &'static str,
}

const ALL_WRITES: &[&str] = &["create", "update", "delete"];

const fn below(name: &'static str, of: &'static str, by: &'static str) -> NestedCollection {
    NestedCollection { name, of, by }
}

const PERSON: ServerKind = ServerKind {
    one: "person",
    many: "people",
    listed: true,
    container: None,
    writes: ALL_WRITES,
    below: &[
        below("donations", "donation", "person"),
        below("submissions", "submission", "person"),
        below("attendances", "attendance", "person"),
        below("signatures", "signature", "person"),
        below("outreaches", "outreach", "person"),
        below("answers", "answer", "person"),
        below("taggings", "tagging", "person"),
        below("items", "item", "person"),
        below("canvasses", "canvass", "target"),
    ],
    helper: Some("record_canvass"),
    to_one: &[],
};

const fn container(
    one: &'static str,
    many: &'static str,
    below: &'static [NestedCollection],
    helper: Option<&'static str>,
) -> ServerKind {
    ServerKind {
        one,
        many,
        listed: true,
        container: None,
        writes: ALL_WRITES,
        below,
        helper,
        to_one: &["creator"],
    }
}

const fn action(one: &'static str, many: &'static str, container: &'static str) -> ServerKind {
    ServerKind {
        one,
        many,
        listed: false,
        container: Some(container),
        writes: ALL_WRITES,
        below: &[],
        helper: None,
        to_one: &["person"],
    }
}

/// Every kind that the server offers, which excludes queries.
pub(super) static KINDS: [ServerKind; 20] = [
    PERSON,
    container(
        "petition",
        "petitions",
        &[below("signatures", "signature", "petition")],
        Some("record_signature"),
    ),
    ServerKind {
        to_one: &["creator", "organizer"],
        ..container(
            "event",
            "events",
            &[below("attendances", "attendance", "event")],
            Some("record_attendance"),
        )
    },
    container(
        "form",
        "forms",
        &[below("submissions", "submission", "form")],
        Some("record_submission"),
    ),
    container(
        "fundraising_page",
        "fundraising_pages",
        &[below("donations", "donation", "fundraising_page")],
        Some("record_donation"),
    ),
    ServerKind {
        listed: true,
        to_one: &["person", "attendance", "submission"],
        ..action("donation", "donations", "fundraising_page")
    },
    container("tag", "tags", &[below("taggings", "tagging", "tag")], None),
    container("list", "lists", &[below("items", "item", "list")], None),
    container(
        "question",
        "questions",
        &[below("answers", "answer", "question")],
        None,
    ),
    container("share_page", "share_pages", &[], None),
    container(
        "advocacy_campaign",
        "advocacy_campaigns",
        &[below("outreaches", "outreach", "advocacy_campaign")],
        Some("record_outreach"),
    ),
    ServerKind {
        to_one: &[],
        ..container("message", "messages", &[], Some("schedule"))
    },
    action("signature", "signatures", "petition"),
    ServerKind {
        below: &[below("answers", "answer", "submission")],
        ..action("submission", "submissions", "form")
    },
    action("attendance", "attendances", "event"),
    action("outreach", "outreaches", "advocacy_campaign"),
    action("answer", "answers", "question"),
    ServerKind {
        writes: &["create", "delete"],
        ..action("tagging", "taggings", "tag")
    },
    ServerKind {
        writes: &["create", "delete"],
        ..action("item", "items", "list")
    },
    ServerKind {
        one: "canvass",
        many: "canvasses",
        listed: false,
        container: None,
        writes: &["update", "delete"],
        below: &[
            below("answers", "answer", "canvass"),
            below("taggings", "tagging", "canvass"),
        ],
        helper: None,
        to_one: &["canvasser", "target"],
    },
];

/// Returns a kind by its singular name.
pub(super) fn kind(one: &str) -> Option<&'static ServerKind> {
    KINDS.iter().find(|kind| kind.one == one)
}

/// Returns the kind that a record helper creates.
pub(super) fn made_by(helper: &str) -> Option<&'static ServerKind> {
    kind(helper.strip_prefix("record_")?)
}

/// Returns whether this is the name of a helper that anonymous callers may use.
pub(super) fn is_record_helper(helper: &str) -> bool {
    helper.starts_with("record_")
}

/// The names of the helpers.
pub(super) const HELPERS: [&str; 8] = [
    "record_signature",
    "record_submission",
    "record_donation",
    "record_outreach",
    "record_attendance",
    "record_canvass",
    "person_signup",
    "schedule",
];

/// The names of the action functions.
pub(super) const FUNCTIONS: [&str; 6] = [
    "add_tags",
    "add_tags_uri",
    "add_lists",
    "add_lists_uri",
    "add_questions_responses_uri",
    "triggers",
];

impl ServerKind {
    /// Returns the kind's fields: those of the catalogue, or those of this server if the catalogue
    /// leaves them open.
    pub(super) fn fields(&self) -> &'static [ObjectField] {
        FIELDS.get(self.one).map_or(&[], Vec::as_slice)
    }

    /// Returns whether the kind has an operation.
    pub(super) fn can(&self, operation: &str) -> bool {
        match operation {
            "read" => true,
            "list" => self.listed,
            other => self.writes.contains(&other),
        }
    }

    /// Returns the collection below a record by the name of its link.
    pub(super) fn below(&self, name: &str) -> Option<&'static NestedCollection> {
        self.below.iter().find(|below| below.name == name)
    }
}

static FIELDS: LazyLock<BTreeMap<&'static str, Vec<ObjectField>>> = LazyLock::new(|| {
    KINDS
        .iter()
        .map(|kind| {
            let mut all: Vec<ObjectField> = fields::fields(kind.one).to_vec();
            // A link, not a member.
            all.retain(|field| field.shape != FieldShape::Link);
            all.extend(open(kind.one));
            (kind.one, all)
        })
        .collect()
});

/// Returns the fields of the kinds that the catalogue leaves to the server.
fn open(one: &str) -> Vec<ObjectField> {
    let field = |name: &str, shape: FieldShape, computed: bool| ObjectField {
        name: name.to_owned(),
        row: String::new(),
        shape,
        computed,
        required: false,
    };
    let text = |name: &str| field(name, FieldShape::String, false);
    match one {
        "tag" => vec![text("name"), text("description")],
        "list" => vec![
            text("name"),
            text("title"),
            text("summary"),
            field("total_items", FieldShape::Integer, true),
        ],
        "answer" => {
            vec![
                text("origin_system"),
                text("value"),
                field(
                    "responses",
                    FieldShape::Array(Box::new(FieldShape::String)),
                    false,
                ),
            ]
        }
        "tagging" | "item" => vec![text("origin_system")],
        "message" => vec![text("name"), text("subject"), text("body"), text("from")],
        _ => Vec::new(),
    }
}
