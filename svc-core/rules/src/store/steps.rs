//! The steps of a request in a backend of single operations.

use crate::{
    draft::{RawDraft, RawPatch},
    error::Problem,
    link::RecordAddress,
    model::Kind,
    record::RawRecord,
};

/// An operation that a backend executes before the rules can continue.
#[derive(Debug, Clone)]
pub enum Step {
    /// Creates a record.
    Create(Box<RawDraft>),
    /// Changes the record at an address.
    Update(RecordAddress, Box<RawPatch>),
}

/// The record that a step created or changed, and whether it is new; or the problems for which the
/// backend rejected the step.
pub type StepResult = Result<(RawRecord, bool), Vec<Problem>>;

/// How the rules write in a backend of single operations, and the results so far.
///
/// Such a backend cannot apply [changes](super::Change): it creates and changes whole records, one
/// after the other, and assigns ids itself. The rules end with [`RuleError::NextStep`] at each
/// operation without a result. The backend executes it, adds the result, and runs the rules again.
///
/// [`RuleError::NextStep`]: super::RuleError::NextStep
///
/// Requirements: ERR-29, ERR-33, ERR-34.
#[derive(Debug, Default)]
pub struct StepLog {
    /// Whether a rejection undoes the earlier steps.
    pub is_atomic: bool,
    /// The kinds that can be found by identifiers and names.
    pub findable: Vec<Kind>,
    /// The kinds whose records can be changed.
    pub updatable: Vec<Kind>,
    /// The results of the steps, in order.
    pub results: Vec<StepResult>,
}
