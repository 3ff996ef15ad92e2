//! What a finding is about: the one thing to mend that several rows can fail for.

use serde::{Deserialize, Serialize};

use crate::fields::{self, CheckedField, ValueShape};

/// The sorts of causes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CauseKind {
    /// A key lacks a right that the declaration promises.
    KeyRight,
    /// An operation or a helper that is declared is refused.
    Refused,
    /// A member is needed that is not declared as required.
    Needed,
    /// A field that is declared as writable is not stored.
    NotStored,
    /// A field reads otherwise than it was sent.
    Altered,
    /// A field that is declared is missing from answers.
    Missing,
    /// A field has another type, or a value that is not listed.
    Type,
    /// A link that is declared is missing, or leads elsewhere.
    Link,
    /// A helper takes an action function and does not do it.
    Function,
    /// A header of every answer.
    Header,
    /// The form of error bodies.
    ErrorBody,
    /// The pages of collections.
    Paging,
    /// The dates that the server keeps, or the form of dates.
    Dates,
}

/// The cause of a finding.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Cause {
    /// Its sort.
    pub flaw: CauseKind,
    /// The field, link, operation or header; empty where the sort says all.
    pub subject: String,
}

impl CauseKind {
    /// Whether the subject is a field.
    pub(crate) const fn is_of_a_field(self) -> bool {
        matches!(
            self,
            Self::Type | Self::Missing | Self::NotStored | Self::Altered
        )
    }

    /// Whether the subject is a field, a link or a header.
    pub(crate) const fn is_of_a_member(self) -> bool {
        self.is_of_a_field() || matches!(self, Self::Link | Self::Header | Self::Needed)
    }

    /// Its place among flaws of one subject: the one that explains the others comes first.
    pub(crate) const fn rank(self) -> u8 {
        match self {
            Self::Type => 0,
            Self::Missing => 1,
            Self::NotStored => 2,
            Self::Altered => 3,
            _ => 4,
        }
    }

    /// What is wrong and what to do, each with `{}` for the subject.
    const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::KeyRight => (
                "the key may not use {}, which is declared",
                "Give the run a key with this right, or declare less.",
            ),
            Self::Refused => (
                "{} is declared and refused",
                "Serve it, or take it out of the declaration.",
            ),
            Self::Needed => (
                "`{}` is needed and not declared as required",
                "Declare it with `required = true`, or do without it.",
            ),
            Self::NotStored => (
                "`{}` is declared as writable and not stored",
                "Declare less or store it.",
            ),
            Self::Altered => (
                "`{}` reads otherwise than it was sent",
                "Store what a client sends as it is; declare a field that the server computes with `writable = false`.",
            ),
            Self::Missing => (
                "`{}` is declared and missing from answers",
                "Declare less or send it.",
            ),
            Self::Type => (
                "`{}` has another type or value than the interface gives it",
                "Send the JSON type and, where values are listed, one of them.",
            ),
            Self::Link => (
                "the link `{}` is declared, and missing or leads elsewhere",
                "Declare less or send it.",
            ),
            Self::Function => (
                "helpers do not do as `{}` says, which is declared",
                "Run the function for every helper, or take it out of `action_functions`.",
            ),
            Self::Header => (
                "the header `{}` is not what the interface asks for",
                "Set it for all successful answers at one place.",
            ),
            Self::ErrorBody => (
                "error bodies have another form than the interface's",
                "Build all of them at one place: an object `error` with `request_type`, `response_code` and `resource_status`.",
            ),
            Self::Paging => (
                "the pages of collections do not add up",
                "Compute `page`, `per_page`, `total_pages`, `total_records`, the links and the members of a page from one query.",
            ),
            Self::Dates => (
                "dates are not kept or written as the interface asks",
                "Set `created_date` once and `modified_date` at each change, both by the server, in ISO 8601 with `Z`.",
            ),
        }
    }
}

impl Cause {
    pub(crate) fn new(flaw: CauseKind, subject: impl Into<String>) -> Self {
        Self {
            flaw,
            subject: subject.into(),
        }
    }

    /// That a field of the catalogue has a flaw; what stands in a shared object is named by the
    /// field that carries it.
    pub(crate) fn of_field(flaw: CauseKind, field: &CheckedField) -> Self {
        let carrier = fields::carrier(field.owner);
        let owner = match carrier {
            Some(name)
                if fields::all()
                    .iter()
                    .any(|one| one.path == name && one.shape == ValueShape::Objects) =>
            {
                format!("{name}[]")
            }
            Some(name) => name.to_owned(),
            None => field.owner.to_owned(),
        };
        Self::new(flaw, format!("{owner}.{}", field.path))
    }

    /// What is wrong, in words.
    #[must_use]
    pub fn description(&self) -> String {
        self.flaw.words().0.replace("{}", &self.subject)
    }

    /// What to do about it.
    #[must_use]
    pub const fn remedy(&self) -> &'static str {
        self.flaw.words().1
    }
}
