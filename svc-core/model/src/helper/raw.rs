//! What a helper call asks for and what it did, without the type of the helper: for runners that
//! serve all of them.

use super::{
    ActionFunctions, EntryStatus, FunctionName, HelperName, MergePolicy, ReportEntry,
    ScheduleChange,
};
use crate::{draft::RawDraft, error::Problem, link::RecordAddress, names::Kind, record::RawRecord};

/// A helper call as plain data.
///
/// Everything in it was validated: what only the store can know (whether a tag exists, whether an
/// event is full) is left to the runner.
///
/// Requirements: HLP-02.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RawHelperRequest {
    /// Which helper.
    pub helper: HelperName,
    /// The record it belongs to; `None` for person signup.
    pub container: Option<RecordAddress>,
    /// The inline person.
    ///
    /// Requirements: HLP-03.
    pub person: Option<RawDraft>,
    /// The action to record; `None` for person signup and schedule.
    pub action: Option<RawDraft>,
    /// The action functions.
    ///
    /// Requirements: HAF-01.
    pub functions: ActionFunctions,
    /// What the schedule helper asks for.
    ///
    /// Requirements: SCH-01, SCH-04.
    pub schedule: Option<ScheduleChange>,
    /// Whether all of it must succeed or nothing be stored; the report is then an
    /// [`ErrorKind::Invalid`](crate::ErrorKind::Invalid) with every problem.
    ///
    /// Requirements: ERR-34.
    pub atomic: bool,
    /// Whether the call has no key: then it finds no action that was recorded before, and its
    /// action keeps those of its identifiers that nothing else has.
    ///
    /// Requirements: HLP-07, UND-24.
    pub anonymous: bool,
    /// What becomes of a posted person who is known.
    ///
    /// Requirements: HLP-04.
    pub merge: MergePolicy,
}

impl RawHelperRequest {
    /// A call with a key that asks for nothing, for tests of runners.
    #[must_use]
    pub fn empty(helper: HelperName) -> Self {
        Self {
            helper,
            container: None,
            person: None,
            action: None,
            functions: ActionFunctions::default(),
            schedule: None,
            atomic: false,
            anonymous: false,
            merge: MergePolicy::Replace,
        }
    }
}

/// What a helper did, without the type of the helper.
#[derive(Debug, Default, Clone)]
#[non_exhaustive]
pub struct RawHelperOutcome {
    /// One entry for each attempted resource, in the order person, action, taggings, items,
    /// answers.
    ///
    /// Requirements: ERR-31.
    pub entries: Vec<ReportEntry>,
    /// The person as it is now.
    pub person: Option<RawRecord>,
    /// What the helper answers with: the action, for person signup `None`, for schedule the
    /// message.
    pub action: Option<RawRecord>,
}

impl RawHelperOutcome {
    /// Whether an entry failed.
    #[must_use]
    pub fn has_failures(&self) -> bool {
        self.entries
            .iter()
            .any(|entry| matches!(entry.status, EntryStatus::Failed(_)))
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
        self.entries.push(ReportEntry { kind, status });
    }

    /// Adds a function that this server does not support, among those of its kind. Where person or
    /// action failed, what hangs on them was not tried.
    ///
    /// Requirements: ERR-31, ERR-38, HLP-10.
    pub fn refused_function(&mut self, kind: Kind, problem: Problem) {
        let failed = |entry: &ReportEntry| {
            matches!(entry.status, EntryStatus::Failed(_)) && place(entry.kind) == 0
        };
        if self.entries.iter().any(failed) {
            return;
        }
        let behind = self
            .entries
            .iter()
            .filter(|entry| place(entry.kind) <= place(kind))
            .count();
        self.entries.insert(
            behind,
            ReportEntry {
                kind,
                status: EntryStatus::Failed(vec![problem]),
            },
        );
    }

    /// Whether a resource of this kind was made.
    #[must_use]
    pub fn was_created(&self, kind: Kind) -> bool {
        self.entries
            .iter()
            .any(|entry| entry.kind == kind && entry.status == EntryStatus::Created)
    }
}

/// Where the entries of a kind stand in the report: person and action first, then in the order of
/// the functions.
///
/// Requirements: ERR-31.
fn place(kind: Kind) -> usize {
    FunctionName::all()
        .position(|function| function.reported_kind() == kind)
        .map_or(0, |place| place.saturating_add(1))
}
