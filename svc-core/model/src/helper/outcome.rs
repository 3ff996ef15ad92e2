//! The outcome of a helper request, with one report entry for each resource.
//!
//! Requirements: ERR-29 to ERR-33.

use std::marker::PhantomData;

use super::{HelperSpec, RawHelperOutcome};
use crate::{
    error::Problem,
    model::{Kind, Person},
    record::Record,
};

/// The status of one resource of a helper request.
///
/// Requirements: ERR-31.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntryStatus {
    /// The resource was created: 201.
    Created,
    /// The resource was matched, updated, or existed already: 200.
    Existing,
    /// The resource failed. The HTTP status is that of the code of the first problem.
    ///
    /// Requirements: ERR-22.
    Failed(Vec<Problem>),
}

impl EntryStatus {
    /// Returns the status of a resource that was either created or existed already.
    #[must_use]
    pub const fn from_is_new(is_new: bool) -> Self {
        if is_new {
            Self::Created
        } else {
            Self::Existing
        }
    }
}

/// What a write changed.
///
/// Requirements: BAT-12.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WriteEffect {
    /// The record of the response is new.
    Created,
    /// The record of the response existed. It was changed, or another record was created or changed.
    Updated,
    /// Nothing was changed.
    Unchanged,
}

impl WriteEffect {
    /// Every effect.
    pub const ALL: [Self; 3] = [Self::Created, Self::Updated, Self::Unchanged];

    /// Returns the name in documents.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Updated => "updated",
            Self::Unchanged => "unchanged",
        }
    }

    /// Returns the effect with a name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|effect| effect.as_str() == name)
    }
}

/// An entry of the report.
///
/// Requirements: ERR-20.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReportEntry {
    /// The kind of the resource.
    pub kind: Kind,
    /// The status of the resource.
    pub status: EntryStatus,
}

/// The outcome of a request to the helper `H`.
///
/// ```
/// use svc_core::{helper::{EntryStatus, HelperOutcome, PersonSignup}, model::{Kind, Person}, record::{Meta, Record}, value::{Id, Timestamp}};
/// let meta = Meta::new(Id::new("7").ok_or("id")?, Timestamp::from_micros(0));
/// let outcome = HelperOutcome::<PersonSignup>::person(Record::new(meta, Person::default()), EntryStatus::Created);
/// assert!(outcome.was_created(Kind::Person));
/// # Ok::<(), &str>(())
/// ```
#[derive(Debug)]
pub struct HelperOutcome<H> {
    raw: RawHelperOutcome,
    helper: PhantomData<fn() -> H>,
}

impl<H: HelperSpec> HelperOutcome<H> {
    /// Converts a raw outcome of this helper.
    #[must_use]
    pub fn from_raw(raw: RawHelperOutcome) -> Self {
        Self {
            raw,
            helper: PhantomData,
        }
    }

    /// Creates the outcome of a helper with a person, with the status of the person.
    #[must_use]
    pub fn person(person: Record<Person>, status: EntryStatus) -> Self {
        let mut raw = RawHelperOutcome {
            person: Some(person.into_raw()),
            ..RawHelperOutcome::default()
        };
        raw.entry(Kind::Person, status);
        Self::from_raw(raw)
    }

    /// Creates the outcome of a helper request without a person.
    #[must_use]
    pub fn without_person() -> Self {
        Self::from_raw(RawHelperOutcome::default())
    }

    /// Adds the action with its status.
    #[must_use]
    pub fn with_action(mut self, action: Record<H::Record>, status: EntryStatus) -> Self {
        self.raw.action = Some(action.into_raw());
        self.raw.entry(H::NAME.recorded_kind(), status);
        self
    }

    /// Adds the status of a tagging, an item or an answer.
    #[must_use]
    pub fn with_entry(mut self, kind: Kind, status: EntryStatus) -> Self {
        self.raw.entry(kind, status);
        self
    }

    /// Adds warnings, such as those about [omitted entries](super::OmittedEntries) of the person. Their
    /// properties are paths in the request body, such as `person.email_addresses`. An anonymous caller
    /// does not get them.
    ///
    /// Requirements: HLP-04.
    #[must_use]
    pub fn with_warnings(mut self, warnings: impl IntoIterator<Item = Problem>) -> Self {
        self.raw.warnings.extend(warnings);
        self
    }

    /// Returns one entry for each attempted resource, in the order person, action, taggings, items,
    /// answers.
    ///
    /// Requirements: ERR-31.
    #[must_use]
    pub fn entries(&self) -> &[ReportEntry] {
        &self.raw.entries
    }

    /// Returns whether a resource of this kind was created.
    #[must_use]
    pub fn was_created(&self, kind: Kind) -> bool {
        self.raw.was_created(kind)
    }

    /// Returns a reference to the raw outcome.
    #[must_use]
    pub fn as_raw(&self) -> &RawHelperOutcome {
        &self.raw
    }

    /// Returns the raw outcome.
    #[must_use]
    pub fn into_raw(self) -> RawHelperOutcome {
        self.raw
    }
}
