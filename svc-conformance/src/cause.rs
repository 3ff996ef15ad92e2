//! The cause of a finding: the one thing to fix, which can make several requirements fail.

use serde::{Deserialize, Serialize};

use crate::fields::{self, CheckedField, ValueShape};

/// The kind of a cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CauseKind {
    /// A key lacks a right that the declaration promises.
    KeyRight,
    /// A declared operation or helper is rejected.
    Refused,
    /// A member is required but not declared as required.
    Needed,
    /// A field is declared as writable but not stored.
    NotStored,
    /// A field is not read back as it was sent.
    Altered,
    /// A declared field is missing from responses.
    Missing,
    /// A field has another type, or a value that is not listed.
    Type,
    /// A declared link is missing or has another target.
    Link,
    /// A helper accepts an action function but does not execute it.
    Function,
    /// A header of every response.
    Header,
    /// The structure of error bodies.
    ErrorBody,
    /// The pages of collections.
    Paging,
    /// The dates that the server sets, or the format of dates.
    Dates,
}

/// The cause of a finding.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Cause {
    /// Its kind.
    pub flaw: CauseKind,
    /// The field, link, operation or header. Empty if the kind needs no subject.
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

    /// Returns its rank among the causes of one subject. The cause that explains the others is
    /// first.
    pub(crate) const fn rank(self) -> u8 {
        match self {
            Self::Type => 0,
            Self::Missing => 1,
            Self::NotStored => 2,
            Self::Altered => 3,
            _ => 4,
        }
    }

    /// Returns what is wrong and what to do, each with `{}` for the subject.
    const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::KeyRight => (
                "the key has no right to {}, which is declared",
                "Give the run a key with this right, or declare less.",
            ),
            Self::Refused => (
                "{} is declared but rejected",
                "Implement it, or remove it from the declaration.",
            ),
            Self::Needed => (
                "`{}` is required but not declared as required",
                "Declare it with `required = true`, or make it optional.",
            ),
            Self::NotStored => (
                "`{}` is declared as writable but not stored",
                "Store it, or declare less.",
            ),
            Self::Altered => (
                "`{}` is not read back as it was sent",
                "Store the value unchanged. Declare a field that the server computes with `writable = false`.",
            ),
            Self::Missing => (
                "`{}` is declared but missing from responses",
                "Return it, or declare less.",
            ),
            Self::Type => (
                "`{}` has a type or value that the specification does not allow",
                "Return the JSON type of the specification. Where values are listed, return one of them.",
            ),
            Self::Link => (
                "the link `{}` is declared, but is missing or has another target",
                "Return it, or declare less.",
            ),
            Self::Function => (
                "helpers do not execute `{}`, which is declared",
                "Execute the function in every helper, or remove it from `action_functions`.",
            ),
            Self::Header => (
                "the header `{}` is not as the specification requires",
                "Set it for all successful responses in one place.",
            ),
            Self::ErrorBody => (
                "error bodies do not have the structure of the specification",
                "Build all of them in one place: an object `error` with `request_type`, `response_code` and `resource_status`.",
            ),
            Self::Paging => (
                "the pages of collections are inconsistent",
                "Compute `page`, `per_page`, `total_pages`, `total_records`, the links and the members of a page from one query.",
            ),
            Self::Dates => (
                "dates are not set or formatted as the specification requires",
                "Let the server set `created_date` once and `modified_date` at each change, in ISO 8601 with `Z`.",
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

    /// Returns the cause of a flaw of a catalogue field. A field of a shared object is named after
    /// the field that contains the object.
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

    /// Returns what is wrong, in words.
    #[must_use]
    pub fn description(&self) -> String {
        self.flaw.words().0.replace("{}", &self.subject)
    }

    /// Returns what to do about it.
    #[must_use]
    pub const fn remedy(&self) -> &'static str {
        self.flaw.words().1
    }
}
