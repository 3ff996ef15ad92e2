//! Limits on the content of a record.
//!
//! Requirements: UND-17.

use crate::{
    draft::RawPatch,
    error::Problem,
    json::{ContentLimits, Object},
    store::StoredRecord,
};

/// Returns the problems of content that exceeds a limit after a change and has grown by it.
pub(super) fn exceeded_limits(
    caps: &ContentLimits,
    stored: &StoredRecord,
    before: &Object,
    after: &Object,
    patch: &RawPatch,
) -> Vec<Problem> {
    let mut problems = Vec::new();
    if let Some(identifiers) = &patch.identifiers
        && identifiers.len() > caps.identifiers
        && identifiers.len() > stored.record.meta().identifiers.to_vec().len()
    {
        problems.push(ContentLimits::too_many("identifiers", caps.identifiers));
    }
    problems.extend(caps.exceeded_by(before, after));
    problems
}
