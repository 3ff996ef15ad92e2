//! One row of the catalogue, and what it states: a field, a link, or a rule.

use serde::Deserialize;

use super::condition::{Condition, ConditionTerm};
use super::types::CatalogueType;
use super::{Level, split};

/// One requirement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirement {
    /// Stable name such as `COL-23`; never renumbered, never reused.
    pub id: String,
    /// How binding the row is.
    pub level: Level,
    /// Where in the interface the row belongs.
    pub section: String,
    /// The requirement itself.
    pub statement: String,
    /// What switches the row on: names of capabilities joined by `not`, `and`, `or`; `always` or
    /// `never`.
    pub condition: String,
    /// How the row is seen from outside over HTTP.
    pub observed: String,
    /// What the reference server does, chiefly where the interface leaves a choice.
    pub reference: String,
    /// The checks of the suite that prove the row.
    pub checks: Vec<String>,
    /// The condition as the suite asks it.
    pub applies_if: Condition,
    pub(super) states: RequirementSubject,
}

/// What a row states.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RequirementSubject {
    Field(CatalogueField),
    Link(CatalogueLink),
    Rule,
}

impl Requirement {
    /// The area of the row: its id without the number (`COL` of `COL-23`, `RES-person` of
    /// `RES-person-01`).
    #[must_use]
    pub fn area(&self) -> &str {
        split(&self.id).map_or("", |(area, _)| area)
    }

    /// The number of the row within its area, counted from 1.
    #[must_use]
    pub fn number(&self) -> usize {
        split(&self.id).map_or(0, |(_, number)| number)
    }

    /// The field that the row states.
    #[must_use]
    pub const fn field(&self) -> Option<&CatalogueField> {
        if let RequirementSubject::Field(field) = &self.states {
            Some(field)
        } else {
            None
        }
    }

    /// Whether its condition is that the field or link itself is declared.
    #[must_use]
    pub fn applies_if_declared(&self) -> bool {
        matches!(&self.applies_if, Condition::Is(word) if matches!(&word.term, ConditionTerm::Field { .. } | ConditionTerm::Link { .. }))
    }

    /// The link that the row states.
    #[must_use]
    pub const fn link(&self) -> Option<&CatalogueLink> {
        if let RequirementSubject::Link(link) = &self.states {
            Some(link)
        } else {
            None
        }
    }
}

/// A field of a resource or shared object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CatalogueField {
    /// The resource or shared object that has it; `entry_point`; `*` for every resource.
    pub owner: String,
    /// Its path in the owner, such as `share_options[].network_a_share.title`; `[]` after an array
    /// of objects.
    pub path: String,
    /// Its type.
    pub kind: CatalogueType,
    /// The listed values of an enum or flexenum.
    pub values: Vec<String>,
    /// The server keeps it.
    pub computed: bool,
    /// A create of the interface cannot do without it.
    pub required: bool,
    /// How it is observed.
    pub way: ObservationMethod,
    /// The shared object, or the object in one, whose members it has.
    pub like: Option<String>,
    /// Members of that object which it has not.
    pub without: Vec<String>,
}

/// A link of a resource or of the entry point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CatalogueLink {
    /// The resource that has it, or `entry_point`.
    pub owner: String,
    /// Its name without prefix.
    pub name: String,
    /// The kind that it leads to.
    pub target: Option<String>,
    /// It leads to a collection of that kind.
    pub many: bool,
    /// The helper whose address it is.
    pub helper: Option<String>,
    /// It is sent only where its target is known.
    pub optional: bool,
}

impl CatalogueLink {
    /// Whether it leads to a person other than the record itself.
    #[must_use]
    pub fn is_to_person(&self) -> bool {
        self.target.as_deref() == Some("person") && !self.many && self.name != "self"
    }
}

/// How a field is observed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ObservationMethod {
    /// TC: only the type.
    Type,
    /// CP: kept by the server.
    Computed,
    /// RT, EN or FX: what was sent comes back.
    RoundTrip,
}
