//! A requirement of the catalogue, and its subject: a field, a link, or a rule.

use serde::Deserialize;

use super::condition::{Condition, ConditionTerm};
use super::types::CatalogueType;
use super::{Level, split};

/// A requirement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirement {
    /// The stable id, such as `COL-23`. It is never renumbered and never reused.
    pub id: String,
    /// How binding the requirement is.
    pub level: Level,
    /// The section of the specification to which it belongs.
    pub section: String,
    /// The statement: what the server must do.
    pub statement: String,
    /// When the requirement applies: terms joined by `not`, `and`, `or`, or `always`, or `never`.
    pub condition: String,
    /// How the requirement is observed from outside, over HTTP.
    pub observed: String,
    /// What the reference server does, mainly where the specification leaves a choice.
    pub reference: String,
    /// The checks of the suite that prove the requirement.
    pub checks: Vec<String>,
    /// The parsed condition.
    pub applies_if: Condition,
    pub(super) states: RequirementSubject,
}

/// The subject of a requirement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RequirementSubject {
    Field(CatalogueField),
    Link(CatalogueLink),
    Rule,
}

impl Requirement {
    /// Returns the area of the requirement: its id without the number (`COL` of `COL-23`,
    /// `RES-person` of `RES-person-01`).
    #[must_use]
    pub fn area(&self) -> &str {
        split(&self.id).map_or("", |(area, _)| area)
    }

    /// Returns the number of the requirement within its area, counted from 1.
    #[must_use]
    pub fn number(&self) -> usize {
        split(&self.id).map_or(0, |(_, number)| number)
    }

    /// Returns the field that the requirement describes.
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

    /// Returns the link that the requirement describes.
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
    /// The resource or shared object that contains it, `entry_point`, or `*` for every resource.
    pub owner: String,
    /// Its path in the owner, such as `share_options[].network_a_share.title`. `[]` follows the
    /// name of an array of objects.
    pub path: String,
    /// Its type.
    pub kind: CatalogueType,
    /// The listed values of an enum or flexenum.
    pub values: Vec<String>,
    /// Whether the server sets it.
    pub computed: bool,
    /// Whether the specification requires it in a create.
    pub required: bool,
    /// How it is observed.
    pub way: ObservationMethod,
    /// The shared object, or the object in one, that defines its members.
    pub like: Option<String>,
    /// The members of that object that it does not have.
    pub without: Vec<String>,
}

/// A link of a resource or of the entry point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CatalogueLink {
    /// The resource that has it, or `entry_point`.
    pub owner: String,
    /// Its name without prefix.
    pub name: String,
    /// The kind of its target.
    pub target: Option<String>,
    /// Whether its target is a collection of that kind.
    pub many: bool,
    /// The helper to which it links.
    pub helper: Option<String>,
    /// Whether it is sent only if its target is known.
    pub optional: bool,
}

impl CatalogueLink {
    /// Whether its target is a person other than the record itself.
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
    /// CP: the server sets it.
    Computed,
    /// RT, EN or FX: the sent value is read back.
    RoundTrip,
}
