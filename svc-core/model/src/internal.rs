//! Items for the macros of this crate and for the related crates. They may change in any release.

use crate::{
    field_set::{self, FieldPath, FieldSet, PartialField, WritableSet},
    model::Resource,
    schema::ObjectSchema,
};

/// The kind of each table file, for [`fields!`](crate::fields).
pub mod kind_of {
    pub use crate::model::kind_of::*;
}

/// For [`writable!`](crate::writable), which has checked that no field of the set is computed.
#[must_use]
pub const fn proved<R: Resource>(set: FieldSet<R>) -> WritableSet<R> {
    WritableSet::proved(set)
}

/// For [`fields!`](crate::fields): some members of the field at a position, whose object has this
/// table.
#[must_use]
pub const fn within(
    place: usize,
    table: Option<&'static ObjectSchema>,
    members: &[&str],
    inner: &'static [PartialField],
) -> PartialField {
    PartialField::new(place, table, members, inner)
}

/// For [`fields!`](crate::fields): the set, limited to some members of these fields.
#[must_use]
pub const fn set_within<R: Resource>(
    set: FieldSet<R>,
    within: &'static [PartialField],
) -> FieldSet<R> {
    set.within(within)
}

/// For [`fields!`](crate::fields): the table of the object in a member of an object.
#[must_use]
pub const fn object_in(
    table: Option<&'static ObjectSchema>,
    name: &str,
) -> Option<&'static ObjectSchema> {
    field_set::object_in(table, name)
}

/// For [`fields!`](crate::fields): the position of a member of an object. Unknown members were
/// rejected before.
#[must_use]
pub const fn place_in(table: Option<&'static ObjectSchema>, name: &str) -> usize {
    match field_set::place_in(table, name) {
        Some(place) => place,
        None => usize::MAX,
    }
}

/// For [`field!`](crate::field): the path with these names.
#[must_use]
pub const fn path<R: Resource>(names: &'static [&'static str]) -> FieldPath<R> {
    FieldPath::new(names)
}
