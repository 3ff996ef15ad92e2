//! Limits on the content of a record.
//!
//! Requirements: CAP-04, UND-17.

use crate::{
    draft::RawPatch,
    error::{ErrorCode, Problem},
    json::{ContentLimits, Json, Object},
    model::Kind,
    record::RawRecord,
    schema::Constraints,
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
    if stored.kind() == Kind::Person {
        let constraints = &call.person_constraints;
        problems.extend(overlong_lists(constraints, before, after));
    }
    problems
}

/// Returns a problem for each list that exceeds its maximum number of entries after a change, and has
/// grown by it.
fn overlong_lists(constraints: &Constraints, before: &Object, after: &Object) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (name, constraint) in constraints.members() {
        let entries = |object: &Object| {
            object
                .get(name)
                .and_then(Json::as_array)
                .map_or(0, <[_]>::len)
        };
        let (had, has) = (entries(before), entries(after));
        if let Some(most) = constraint.max_items
            && usize::try_from(most).is_ok_and(|most| has > most)
            && has > had
        {
            let text =
                format!("{{property}} would have {has} entries, but can have at most {most}.");
            problems.push(Problem::new(ErrorCode::FieldInvalid, name.to_owned(), text));
        }
    }
    problems
}
