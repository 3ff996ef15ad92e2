//! A filter over stored bytes for the fields of a kind that are sent.
//!
//! Requirements: CAP-04.

use crate::{
    field_set::FieldBits,
    json::{MemberAction, MemberFilter},
    link::ShareNames,
    model::Kind,
    schema::{Constraint, Constraints, ObjectSchema},
};

/// Returns a filter for the fields of a kind; `None` if all of them are sent, so that stored bytes
/// are copied.
pub(super) fn filter(
    kind: Kind,
    readable: Option<FieldBits>,
    narrowing: Option<&Constraints>,
    names: &ShareNames,
) -> Option<MemberFilter> {
    let schema = kind.schema().fields;
    let filter = match readable {
        None => narrowing.map(|narrowing| visible_members(schema, narrowing, names))?,
        Some(readable) => {
            let kept = schema
                .fields
                .iter()
                .enumerate()
                .filter(|(place, _)| readable.contains(*place));
            kept.fold(MemberFilter::default(), |filter, (_, field)| {
                let narrow = narrowing.and_then(|narrowing| narrowing.member(field.name));
                filter.with(
                    names.to_wire(field.name),
                    member_action(schema, field.name, narrow, names),
                )
            })
        }
    };
    (!filter.is_identity()).then_some(filter)
}

/// Returns a filter that omits the unreadable members of an object.
fn visible_members(
    schema: &ObjectSchema,
    narrowing: &Constraints,
    names: &ShareNames,
) -> MemberFilter {
    narrowing
        .members()
        .fold(
            MemberFilter::copy_others(),
            |filter, (name, narrow)| match member_action(schema, name, Some(narrow), names) {
                MemberAction::Copy => filter,
                fate => filter.with(names.to_wire(name), fate),
            },
        )
}

fn member_action(
    schema: &ObjectSchema,
    name: &str,
    narrow: Option<&Constraint>,
    names: &ShareNames,
) -> MemberAction {
    let Some(narrow) = narrow else {
        return MemberAction::Copy;
    };
    if narrow.hidden {
        return MemberAction::Skip;
    }
    let object = schema.field(name).and_then(|field| field.ty.object());
    let filter = object
        .map(|object| visible_members(object, &narrow.members, names))
        .filter(|filter| !filter.is_identity());
    filter.map_or(MemberAction::Copy, MemberAction::Filter)
}
