//! The results that the rules of one request have got from the operations. Other requests can
//! change the data concurrently.

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

/// How often a record is read again after a concurrent change.
const CONFLICTS: usize = 8;

/// The results of the operations so far.
#[derive(Default)]
pub(super) struct OperationCache {
    /// The names in records that operations return.
    pub(super) names: ShareNames,
    pub(super) records: HashMap<LookupKey, Option<RawRecord>>,
    /// The completed steps, in order.
    pub(super) steps: Vec<StepOutcome>,
    /// How often a record was changed concurrently between its lookup and its change.
    conflicts: usize,
    /// The last step that was preceded by a second lookup of identifiers. There is at most one for
    /// each step.
    looked_again: Option<usize>,
}

impl OperationCache {
    /// Returns whether the lookup of one of the draft's identifiers found no record.
    pub(super) fn was_absent(&self, draft: &RawDraft) -> bool {
        let mut keys = draft
            .identifiers
            .iter()
            .map(|identifier| LookupKey::Identifier(draft.kind, identifier.clone()));
        keys.any(|key| matches!(self.records.get(&key), Some(None)))
    }

    /// Returns whether the create of a [missed](Self::missed) record was rejected because a
    /// concurrent request has stored one of its identifiers.
    ///
    /// This can happen without locks. The record is then looked up again, and the rules continue
    /// with it.
    pub(super) fn was_created_concurrently(&mut self, kind: Kind, done: &StepOutcome) -> bool {
        let is_taken = |problem: &Problem| problem.code == ErrorCode::IdentifierInUse;
        let is_first = self.looked_again != Some(self.steps.len());
        let came = is_first
            && done
                .as_ref()
                .is_err_and(|problems| problems.iter().any(is_taken));
        if came {
            self.looked_again = Some(self.steps.len());
            // Only for its kind: the lookups for earlier steps stay, so that these steps are not
            // executed again. For people, an e-mail address may also exist now.
            self.records
                .retain(|key, record| record.is_some() || key.kind() != Some(kind));
        }
        came
    }

    /// Forgets a record after a concurrent change. It is read again, and the rules run with its new
    /// state.
    pub(super) fn forget(&mut self, at: &RecordAddress) -> Result<()> {
        self.conflicts = self.conflicts.saturating_add(1);
        let is_it = |record: &RawRecord| record.kind() == at.kind && record.meta().id == at.id;
        // A change by a step of this request cannot be repeated.
        let is_changed = self.steps.iter().flatten().any(|(record, _)| is_it(record));
        if self.conflicts > CONFLICTS || is_changed {
            return Err(Error::unavailable(Duration::from_secs(1))
                .with_source("other requests keep changing the same record"));
        }
        self.records
            .retain(|_, record| !record.as_ref().is_some_and(is_it));
        Ok(())
    }
}
