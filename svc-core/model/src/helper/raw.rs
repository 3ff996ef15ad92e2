//! Helper requests and outcomes without the type of the helper, for runners that serve all helpers.

use super::{
    ActionFunctions, Atomicity, EntryStatus, FunctionName, HelperName, MergePolicy, ReportEntry,
    ScheduleChange,
};
use crate::{draft::RawDraft, error::Problem, link::RecordAddress, names::Kind, record::RawRecord};

/// A helper request as plain data.
///
/// The request is validated. The backend checks what only the store knows, such as whether a tag
/// exists or an event is full.
///
/// Requirements: HLP-02.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RawHelperRequest {
    /// The helper.
    pub helper: HelperName,
    /// The record that the helper belongs to; `None` for person signup.
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
    /// The change of the schedule helper.
    ///
    /// Requirements: SCH-01, SCH-04.
    pub schedule: Option<ScheduleChange>,
    /// What remains if one part fails. With [`Atomicity::WholeCall`], a failed request returns
    /// [`ErrorKind::Invalid`](crate::ErrorKind::Invalid) with every problem.
    ///
    /// Requirements: ERR-34.
    pub atomicity: Atomicity,
    /// Whether the caller is anonymous. An anonymous request never changes an action that was
    /// recorded before. Of its identifiers, its action gets only those that no other record has.
    ///
    /// Requirements: HLP-07, UND-24.
    pub anonymous: bool,
    /// How the posted person is merged into an existing one.
    ///
    /// Requirements: HLP-04.
    pub merge: MergePolicy,
    /// Whether a person has one action in the container. A request with a key then changes the newest
    /// action of the person. An anonymous request records another action only if its content differs.
    ///
    /// Only a store executes such a request. It does not apply to an attendance with tickets, or at
    /// an event with ticket levels.
    ///
    /// Requirements: HLP-04.
    pub one_action_per_person: bool,
    /// Whether the request changes nothing, and has the outcome that it would have.
    ///
    /// Requirements: BAT-13.
    pub is_preview: bool,
}

impl RawHelperRequest {
    /// Creates an empty request of a caller with a key, for tests of runners.
    #[must_use]
    pub fn empty(helper: HelperName) -> Self {
        Self {
            helper,
            container: None,
            person: None,
            action: None,
            functions: ActionFunctions::default(),
            schedule: None,
            atomicity: Atomicity::default(),
            anonymous: false,
            merge: MergePolicy::Replace,
            one_action_per_person: false,
            is_preview: false,
        }
    }
}

/// The outcome of a helper request, without the type of the helper.
#[derive(Debug, Default, Clone)]
#[non_exhaustive]
pub struct RawHelperOutcome {
    /// One entry for each attempted resource, in the order person, action, taggings, items,
    /// answers.
    ///
    /// Requirements: ERR-31.
    pub entries: Vec<ReportEntry>,
    /// The person after the request.
    pub person: Option<RawRecord>,
    /// The resource of the response: the action, `None` for person signup, the message for
    /// schedule.
    pub action: Option<RawRecord>,
    /// Whether nothing was changed, if it is known.
    ///
    /// Requirements: BAT-12.
    pub is_unchanged: Option<bool>,
    /// The warnings of a helper that a backend executes itself.
    pub warnings: Vec<Problem>,
}

impl RawHelperOutcome {
    /// Returns whether an entry failed.
    #[must_use]
    pub fn has_failures(&self) -> bool {
        self.entries
            .iter()
            .any(|entry| matches!(entry.status, EntryStatus::Failed(_)))
    }

    /// Returns every problem of every entry.
    #[must_use]
    pub fn problems(&self) -> Vec<Problem> {
        let problems = self.entries.iter().filter_map(|entry| match &entry.status {
            EntryStatus::Failed(problems) => Some(problems.iter().cloned()),
            _ => None,
        });
        problems.flatten().collect()
    }

    /// Adds an entry to the report.
    pub fn entry(&mut self, kind: Kind, status: EntryStatus) {
        self.entries.push(ReportEntry { kind, status });
    }

    /// Adds a function that this server does not support, next to the other entries of its kind.
    ///
    /// If the person or the action failed, the functions that depend on it were not attempted.
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

    /// Returns whether a resource of this kind was created.
    #[must_use]
    pub fn was_created(&self, kind: Kind) -> bool {
        self.entries
            .iter()
            .any(|entry| entry.kind == kind && entry.status == EntryStatus::Created)
    }
}

/// Returns the position of a kind in the report: person and action first, then in the order of the
/// functions.
///
/// Requirements: ERR-31.
fn place(kind: Kind) -> usize {
    FunctionName::all()
        .position(|function| function.reported_kind() == kind)
        .map_or(0, |place| place.saturating_add(1))
}
