//! What a vendor has narrower than the interface, said where a kind is registered.
//!
//! Requirements: CAP-04 to CAP-08.

use std::ops::RangeInclusive;

use super::ResourceConfig;
use crate::{
    field_set::{FieldPath, WritableSet},
    model::Resource,
    schema::{Constraint, Constraints},
    value::Amount,
};

/// Each is declared, enforced before an operation runs, and held against what else is registered
/// when the API is built.
impl<R: Resource, S> ResourceConfig<R, S> {
    /// Asks for these fields on each create, also for the people and actions of helpers, and lets
    /// no change empty them: else the answer is 400 with `FIELD_REQUIRED`. Of a field with members,
    /// these are required wherever the field is sent, but not the field itself:
    /// `writable!(person::{family_name, email_addresses::{address}})`.
    ///
    /// Requirements: CAP-05.
    #[must_use]
    #[allow(clippy::needless_pass_by_value, reason = "a set is made for this call")]
    pub fn required_fields(self, fields: WritableSet<R>) -> Self {
        self.narrowed(fields.fields().each(|narrow| narrow.required = true))
    }

    /// Takes only these values of an enum, such as `["accepted", "declined"]` or
    /// `[AttendanceStatus::Accepted]`; a flexible enum takes no others then.
    ///
    /// Requirements: TYP-08, TYP-09.
    #[must_use]
    pub fn allowed_values<V: ToString>(
        self,
        field: impl Into<FieldPath<R>>,
        values: impl IntoIterator<Item = V>,
    ) -> Self {
        let values = values.into_iter().map(|value| value.to_string()).collect();
        self.narrow_at(field, |narrow| narrow.values = Some(values))
    }

    /// What the field is where a create leaves it out, and where a change empties it.
    ///
    /// Requirements: CAP-08.
    #[must_use]
    #[allow(
        clippy::needless_pass_by_value,
        reason = "a value is made for this call"
    )]
    pub fn default(self, field: impl Into<FieldPath<R>>, value: impl ToString) -> Self {
        self.narrow_at(field, |narrow| narrow.default = Some(value.to_string()))
    }

    /// Takes only whole numbers or amounts from the first to the last, such as `0..=2_147_483_647`.
    #[must_use]
    pub fn value_range<N: Into<Amount>>(
        self,
        field: impl Into<FieldPath<R>>,
        range: RangeInclusive<N>,
    ) -> Self {
        let (least, most) = range.into_inner();
        self.narrow_at(field, |narrow| {
            (narrow.least, narrow.most) = (Some(least.into()), Some(most.into()));
        })
    }

    /// Takes only texts of at most so many characters; of a list of texts, each.
    #[must_use]
    pub fn max_length(self, field: impl Into<FieldPath<R>>, characters: u32) -> Self {
        self.narrow_at(field, |narrow| narrow.longest = Some(characters))
    }

    fn narrow_at(self, field: impl Into<FieldPath<R>>, say: impl FnOnce(&mut Constraint)) -> Self {
        let mut narrowing = Constraints::default();
        say(field.into().narrow(&mut narrowing));
        self.narrowed(narrowing)
    }

    /// What is said twice of one field holds both; of two defaults the last.
    pub(super) fn narrowed(mut self, mut narrowing: Constraints) -> Self {
        narrowing.merge(self.registered.narrowing.take().unwrap_or_default());
        self.registered.narrowing = Some(narrowing);
        self
    }
}
