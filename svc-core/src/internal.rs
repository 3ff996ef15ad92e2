//! What is public for `svc-tower` and for the macros of this crate alone. Nothing is promised of it.

use crate::{
    field_set::{FieldSet, WritableSet},
    model::Resource,
};

pub use crate::api::description::{Description, OwnRelation};

/// The kind that each table file declares, for [`fields!`](crate::fields).
pub mod kind_of {
    pub use crate::model::kind_of::*;
}

/// For [`writable!`](crate::writable), which has proved that no field of the set is computed.
#[must_use]
pub const fn proved<R: Resource>(set: FieldSet<R>) -> WritableSet<R> {
    WritableSet::proved(set)
}
