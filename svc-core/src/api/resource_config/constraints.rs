//! Constraints that a vendor sets when it registers a kind.
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

/// Methods for constraints. Each constraint is declared, enforced before an operation runs, and
/// checked for contradictions when the API is built.
impl<R: Resource, S> ResourceConfig<R, S> {
    /// Requires these fields on each create, also for the people and actions of helpers. A change
    /// must not clear them.
    ///
    /// Otherwise the response is 400 with `FIELD_REQUIRED`. Named members of a field are required
    /// if the field is sent, but the field itself is not:
    /// `writable!(person::{family_name, email_addresses::{address}})`.
    ///
    /// Requirements: CAP-05.
    #[must_use]
    #[allow(clippy::needless_pass_by_value, reason = "a set is made for each call")]
    pub fn required_fields(self, fields: WritableSet<R>) -> Self {
        self.narrowed(fields.fields().each(|narrow| narrow.required = true))
    }

    /// Accepts only these values of an enum, such as `["accepted", "declined"]` or
    /// `[AttendanceStatus::Accepted]`. A flexible enum then accepts no other values.
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

    /// Sets the value of a field that a create omits or a change clears.
    ///
    /// Requirements: CAP-08.
    #[must_use]
    #[allow(
        clippy::needless_pass_by_value,
        reason = "a value is created for each call"
    )]
    pub fn default(self, field: impl Into<FieldPath<R>>, value: impl ToString) -> Self {
        self.narrow_at(field, |narrow| narrow.default = Some(value.to_string()))
    }

    /// Accepts only integers or amounts in this range, such as `0..=2_147_483_647`.
    #[must_use]
    pub fn value_range<N: Into<Amount>>(
        self,
        field: impl Into<FieldPath<R>>,
        range: RangeInclusive<N>,
    ) -> Self {
        let (least, most) = range.into_inner();
        self.narrow_at(field, |narrow| {
            (narrow.min, narrow.max) = (Some(least.into()), Some(most.into()));
        })
    }

    /// Accepts only strings of at most this many characters. In a list of strings, the limit
    /// applies to each string.
    #[must_use]
    pub fn max_length(self, field: impl Into<FieldPath<R>>, characters: u32) -> Self {
        self.narrow_at(field, |narrow| narrow.max_length = Some(characters))
    }

    /// Accepts at most this many entries of a list, such as two e-mail addresses. A create or change
    /// with more entries is rejected.
    ///
    /// A helper request is not rejected because of the lists of its person: the entries that fit are
    /// stored, and the response has a warning `ENTRIES_OMITTED` about the others. The entries of an
    /// existing person remain. Of the new ones, a primary one comes first, then the others in their
    /// order.
    ///
    /// Requirements: CAP-04, HLP-04.
    #[must_use]
    pub fn max_items(self, field: impl Into<FieldPath<R>>, entries: u32) -> Self {
        self.narrow_at(field, |narrow| narrow.max_items = Some(entries))
    }

    fn narrow_at(self, field: impl Into<FieldPath<R>>, say: impl FnOnce(&mut Constraint)) -> Self {
        let mut narrowing = Constraints::default();
        say(field.into().narrow(&mut narrowing));
        self.narrowed(narrowing)
    }

    /// Merges constraints. If a field has two of them, both apply; of two defaults the last one
    /// applies.
    pub(super) fn narrowed(mut self, mut narrowing: Constraints) -> Self {
        narrowing.merge(self.registered.constraints.take().unwrap_or_default());
        self.registered.constraints = Some(narrowing);
        self
    }
}
