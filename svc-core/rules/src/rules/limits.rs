//! Limits on the content of a record.
//!
//! Requirements: UND-17.

use crate::{
    draft::RawPatch,
    error::Problem,
    json::{ContentLimits, Object},
    record::RawRecord,
    store::WriteRequest,
    value::Identifier,
};

/// Returns the problems of content that exceeds a limit after a change and has grown by it. Own
/// identifiers of merged people do not count.
pub(super) fn exceeded_limits(
    call: &WriteRequest,
    stored: &RawRecord,
    before: &Object,
    after: &Object,
    patch: &RawPatch,
) -> Vec<Problem> {
    let (caps, namespace) = (&call.limits, &*call.namespace);
    let count = |identifiers: &[Identifier]| {
        let foreign = identifiers.iter().filter(|it| it.system() != namespace);
        foreign.count()
    };
    let mut problems = Vec::new();
    if let Some(identifiers) = &patch.identifiers
        && count(identifiers) > caps.identifiers
        && count(identifiers) > count(&stored.meta().identifiers.to_vec())
    {
        problems.push(ContentLimits::too_many("identifiers", caps.identifiers));
    }
    problems.extend(caps.exceeded_by(before, after));
    problems
}
