//! Some members of a field, in a set of fields.

use super::FieldBits;
use crate::schema::{Constraint, Constraints, ObjectSchema};

/// A field that is in a set with some of its members only. Created by [`fields!`](crate::fields).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PartialField {
    /// The position of the field in its table.
    place: usize,
    /// The positions of the members in the table of the object.
    bits: FieldBits,
    /// The members that are in the set only with some of their own members.
    inner: &'static [Self],
}

impl PartialField {
    /// Creates the set of these members of the field at a position.
    pub(crate) const fn new(
        place: usize,
        table: Option<&'static ObjectSchema>,
        members: &[&str],
        inner: &'static [Self],
    ) -> Self {
        let (mut bits, mut rest) = (0, members);
        while let [name, more @ ..] = rest {
            if let Some(place) = place_in(table, name) {
                bits |= 1 << place;
            }
            rest = more;
        }
        Self {
            place,
            bits: FieldBits::of(bits),
            inner,
        }
    }

    /// Returns whether a table has a member of this name; for the macros.
    #[doc(hidden)]
    #[must_use]
    pub const fn is_any(table: Option<&'static ObjectSchema>, name: &str) -> bool {
        place_in(table, name).is_some()
    }

    /// Returns whether a table has a member of this name that clients may write; for the macros.
    #[doc(hidden)]
    #[must_use]
    pub const fn is_writable(table: Option<&'static ObjectSchema>, name: &str) -> bool {
        match (table, place_in(table, name)) {
            (Some(table), Some(place)) => match table.fields.split_at_checked(place) {
                Some((_, [field, ..])) => !field.is_computed(),
                _ => false,
            },
            _ => false,
        }
    }

    /// Calls `leave_out` for each member that is not in the set.
    pub(super) fn others(
        sets: &[Self],
        table: &ObjectSchema,
        narrowing: &mut Constraints,
        leave_out: &impl Fn(&mut Constraint),
    ) {
        for set in sets {
            let Some(field) = table.fields.get(set.place) else {
                continue;
            };
            let Some(object) = field.ty.object() else {
                continue;
            };
            let members = &mut narrowing.entry(&[field.name]).members;
            for (place, member) in object.fields.iter().enumerate() {
                if !set.bits.contains(place) {
                    leave_out(members.entry(&[member.name]));
                }
            }
            Self::others(set.inner, object, members, leave_out);
        }
    }

    /// Calls `hold` for each field that is in the set, or for its members if only some of them are
    /// in the set.
    pub(super) fn each(
        sets: &[Self],
        bits: FieldBits,
        table: &ObjectSchema,
        narrowing: &mut Constraints,
        hold: &impl Fn(&mut Constraint),
    ) {
        for (place, field) in table
            .fields
            .iter()
            .enumerate()
            .filter(|(place, _)| bits.contains(*place))
        {
            match (
                sets.iter().find(|set| set.place == place),
                field.ty.object(),
            ) {
                (Some(set), Some(object)) => {
                    let members = &mut narrowing.entry(&[field.name]).members;
                    Self::each(set.inner, set.bits, object, members, hold);
                }
                _ => hold(narrowing.entry(&[field.name])),
            }
        }
    }
}

/// Returns the position of a member in the table of an object.
pub(crate) const fn place_in(table: Option<&'static ObjectSchema>, name: &str) -> Option<usize> {
    match table {
        Some(table) => table.position(name),
        None => None,
    }
}

/// Returns the table of the object in a member of an object.
pub(crate) const fn object_in(
    table: Option<&'static ObjectSchema>,
    name: &str,
) -> Option<&'static ObjectSchema> {
    match (table, place_in(table, name)) {
        (Some(table), Some(place)) => match table.fields.split_at_checked(place) {
            Some((_, [field, ..])) => field.ty.object(),
            _ => None,
        },
        _ => None,
    }
}
