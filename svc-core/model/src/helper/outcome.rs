//! What a helper did, resource by resource.
//!
//! Requirements: ERR-29 to ERR-33.

use std::marker::PhantomData;

use super::{HelperSpec, RawHelperOutcome};
use crate::{
    error::Problem,
    model::{Kind, Person},
    record::Record,
};

/// How one resource of a helper call fared.
///
/// Requirements: ERR-31.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntryStatus {
    /// It was created: 201.
    Created,
    /// It was matched, updated or already there: 200.
    Existing,
    /// It failed; the status is that of the first problem's code.
    ///
    /// Requirements: ERR-22.
    Failed(Vec<Problem>),
}

impl EntryStatus {
    /// How a resource fared that was either made or there already.
    #[must_use]
    pub const fn from_is_new(is_new: bool) -> Self {
        if is_new {
            Self::Created
        } else {
            Self::Existing
        }
    }
}

/// One line of the report.
///
/// Requirements: ERR-20.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReportEntry {
    /// The kind of the resource.
    pub kind: Kind,
    /// How it fared.
    pub status: EntryStatus,
}

/// What the helper `H` did.
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
    /// An outcome from its parts.
    #[must_use]
    pub fn from_raw(raw: RawHelperOutcome) -> Self {
        Self {
            raw,
            helper: PhantomData,
        }
    }

    /// The outcome of a helper that has a person: how the person fared.
    #[must_use]
    pub fn person(person: Record<Person>, status: EntryStatus) -> Self {
        let mut raw = RawHelperOutcome {
            person: Some(person.into_raw()),
            ..RawHelperOutcome::default()
        };
        raw.entry(Kind::Person, status);
        Self::from_raw(raw)
    }

    /// The outcome of a helper call without a person.
    #[must_use]
    pub fn without_person() -> Self {
        Self::from_raw(RawHelperOutcome::default())
    }

    /// Adds how the action fared.
    #[must_use]
    pub fn with_action(mut self, action: Record<H::Records>, status: EntryStatus) -> Self {
        self.raw.action = Some(action.into_raw());
        self.raw.entry(H::NAME.records(), status);
        self
    }

    /// Adds how a tagging, an item or an answer fared.
    #[must_use]
    pub fn with_entry(mut self, kind: Kind, status: EntryStatus) -> Self {
        self.raw.entry(kind, status);
        self
    }

    /// One entry for each attempted resource, in the order person, action, taggings, items,
    /// answers.
    ///
    /// Requirements: ERR-31.
    #[must_use]
    pub fn entries(&self) -> &[ReportEntry] {
        &self.raw.entries
    }

    /// Whether a resource of this kind was made.
    #[must_use]
    pub fn was_created(&self, kind: Kind) -> bool {
        self.raw.was_created(kind)
    }

    /// The outcome without its type, lent.
    #[must_use]
    pub fn as_raw(&self) -> &RawHelperOutcome {
        &self.raw
    }

    /// The outcome without its type.
    #[must_use]
    pub fn into_raw(self) -> RawHelperOutcome {
        self.raw
    }
}
