//! What the rules of one call have seen of the operations, which others use at the same time.

use std::{collections::HashMap, time::Duration};

use super::StepOutcome;
use crate::{
    draft::RawDraft,
    error::{Error, ErrorCode, Problem, Result},
    link::{RecordAddress, ShareNames},
    model::Kind,
    record::RawRecord,
    store::LookupKey,
};

/// How often a record is looked up again because somebody else has changed it meanwhile.
const CONFLICTS: usize = 8;

/// What the operations have answered so far.
#[derive(Default)]
pub(super) struct OperationCache {
    /// Operations hand records over under the names of the tables.
    pub(super) names: ShareNames,
    pub(super) records: HashMap<LookupKey, Option<RawRecord>>,
    /// The steps that were done, in their order.
    pub(super) steps: Vec<StepOutcome>,
    /// How often a record was changed by somebody else between its look-up and its change.
    conflicts: usize,
    /// The step before which it was looked again who has come meanwhile: once for each step.
    looked_again: Option<usize>,
}

impl OperationCache {
    /// Whether an identifier of a draft was looked up and nobody had it.
    pub(super) fn was_absent(&self, draft: &RawDraft) -> bool {
        let mut keys = draft
            .identifiers
            .iter()
            .map(|identifier| LookupKey::Identifier(draft.kind, identifier.clone()));
        keys.any(|key| matches!(self.records.get(&key), Some(None)))
    }

    /// Whether a record that was [missed](Self::missed) was refused because somebody else has
    /// stored one of its identifiers since, which happens where nothing locks: then whoever has it
    /// is looked up again, and the rules run on that.
    pub(super) fn was_created_concurrently(&mut self, kind: Kind, done: &StepOutcome) -> bool {
        let is_taken = |problem: &Problem| problem.code == ErrorCode::IdentifierInUse;
        let is_first = self.looked_again != Some(self.steps.len());
        let came = is_first
            && done
                .as_ref()
                .is_err_and(|problems| problems.iter().any(is_taken));
        if came {
            self.looked_again = Some(self.steps.len());
            // Of its kind alone: what was looked up for the steps before stays, so that these are
            // not taken again. Of people also an address may have come with it.
            self.records
                .retain(|key, record| record.is_some() || key.kind() != Some(kind));
        }
        came
    }

    /// Forgets a record that somebody else has changed: it is looked up again, and the rules run on
    /// what it is now.
    pub(super) fn forget(&mut self, at: &RecordAddress) -> Result<()> {
        self.conflicts = self.conflicts.saturating_add(1);
        let is_it = |record: &RawRecord| record.kind() == at.kind && record.meta().id == at.id;
        // What a step of this call has made of it cannot be made again.
        let is_changed = self.steps.iter().flatten().any(|(record, _)| is_it(record));
        if self.conflicts > CONFLICTS || is_changed {
            return Err(Error::unavailable(Duration::from_secs(1))
                .with_source("others change the same record again and again"));
        }
        self.records
            .retain(|_, record| !record.as_ref().is_some_and(is_it));
        Ok(())
    }
}
