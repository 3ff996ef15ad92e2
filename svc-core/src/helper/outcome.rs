//! What a helper did, resource by resource (ERR-29 to ERR-33).

use std::marker::PhantomData;

use super::{FunctionName, HelperSpec};
use crate::{
    error::Problem,
    model::{Kind, Person},
    record::{RawRecord, Record},
};

/// How one resource of a helper call fared (ERR-31).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum EntryStatus {
    /// It was created: 201.
    Created,
    /// It was matched, updated or already there: 200.
    Existing,
    /// It failed; the status is that of the first problem's code (ERR-22).
    Failed(Vec<Problem>),
}

impl EntryStatus {
    /// How a resource fared that was either made or there already.
    #[must_use]
    pub const fn stored(is_new: bool) -> Self {
        if is_new { Self::Created } else { Self::Existing }
    }
}

/// One line of the report (ERR-20).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Entry {
    /// The kind of the resource.
    pub kind: Kind,
    /// How it fared.
    pub status: EntryStatus,
}

/// What a helper did, without the type of the helper.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct RawOutcome {
    /// One entry for each attempted resource, in the order person, action, taggings, items, answers (ERR-31).
    pub entries: Vec<Entry>,
    /// The person as it is now.
    pub person: Option<RawRecord>,
    /// What the helper answers with: the action, for person signup `None`, for schedule the message.
    pub action: Option<RawRecord>,
}

impl RawOutcome {
    /// Whether an entry failed.
    #[must_use]
    pub fn has_failures(&self) -> bool {
        self.entries.iter().any(|entry| matches!(entry.status, EntryStatus::Failed(_)))
    }

    /// Every problem of every entry.
    #[must_use]
    pub fn problems(&self) -> Vec<Problem> {
        let problems = self.entries.iter().filter_map(|entry| match &entry.status {
            EntryStatus::Failed(problems) => Some(problems.iter().cloned()),
            _ => None,
        });
        problems.flatten().collect()
    }

    /// Adds a line to the report.
    pub fn entry(&mut self, kind: Kind, status: EntryStatus) {
        self.entries.push(Entry { kind, status });
    }

    /// Adds a function that this server does not support, among those of its kind (ERR-31, ERR-38). Where person or
    /// action failed, what hangs on them was not tried (HLP-10).
    pub(crate) fn refused_function(&mut self, kind: Kind, problem: Problem) {
        let failed = |entry: &Entry| matches!(entry.status, EntryStatus::Failed(_)) && place(entry.kind) == 0;
        if self.entries.iter().any(failed) {
            return;
        }
        let behind = self.entries.iter().filter(|entry| place(entry.kind) <= place(kind)).count();
        self.entries.insert(behind, Entry { kind, status: EntryStatus::Failed(vec![problem]) });
    }

    /// How the person fared, or for a helper without one the action.
    #[must_use]
    pub fn was_created(&self, kind: Kind) -> bool {
        self.entries.iter().any(|entry| entry.kind == kind && entry.status == EntryStatus::Created)
    }
}

/// Where the entries of a kind stand in the report: person and action first, then in the order of the functions (ERR-31).
fn place(kind: Kind) -> usize {
    FunctionName::all().position(|function| function.reports() == kind).map_or(0, |place| place.saturating_add(1))
}

/// What the helper `H` did.
///
/// ```
/// use svc_core::{helper::{EntryStatus, Outcome, PersonSignup}, model::Person, record::{Meta, Record}, value::{Id, Timestamp}};
/// let meta = Meta::new(Id::new("7").ok_or("id")?, Timestamp::from_micros(0));
/// let outcome = Outcome::<PersonSignup>::person(Record::new(meta, Person::default()), EntryStatus::Created);
/// assert!(!outcome.into_raw().has_failures());
/// # Ok::<(), &str>(())
/// ```
#[derive(Debug)]
pub struct Outcome<H> {
    raw: RawOutcome,
    helper: PhantomData<fn() -> H>,
}

impl<H: HelperSpec> Outcome<H> {
    /// An outcome from its parts.
    #[must_use]
    pub fn from_raw(raw: RawOutcome) -> Self {
        Self { raw, helper: PhantomData }
    }

    /// The outcome of a helper that has a person: how the person fared.
    #[must_use]
    pub fn person(person: Record<Person>, status: EntryStatus) -> Self {
        let mut raw = RawOutcome { person: Some(person.into_raw()), ..RawOutcome::default() };
        raw.entry(Kind::Person, status);
        Self::from_raw(raw)
    }

    /// The outcome of a helper call without a person.
    #[must_use]
    pub fn without_person() -> Self {
        Self::from_raw(RawOutcome::default())
    }

    /// Adds how the action fared.
    #[must_use]
    pub fn action(mut self, action: Record<H::Records>, status: EntryStatus) -> Self {
        self.raw.action = Some(action.into_raw());
        self.raw.entry(H::NAME.records(), status);
        self
    }

    /// Adds how a tagging, an item or an answer fared.
    #[must_use]
    pub fn also(mut self, kind: Kind, status: EntryStatus) -> Self {
        self.raw.entry(kind, status);
        self
    }

    /// The outcome without its type.
    #[must_use]
    pub fn into_raw(self) -> RawOutcome {
        self.raw
    }
}
