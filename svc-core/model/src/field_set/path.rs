//! The path of a field of a kind, or of a member below it.

use std::{fmt, marker::PhantomData};

use super::FieldKey;
use crate::{
    model::Resource,
    schema::{Constraint, Constraints},
};

/// The path of a field of a kind, or of a member of its object or of the objects of its list.
///
/// It is a [`FieldKey`] such as `event::key::title`, or created by [`field!`](crate::field).
pub struct FieldPath<R> {
    first: &'static str,
    members: &'static [&'static str],
    kind: PhantomData<fn() -> R>,
}

impl<R: Resource> FieldPath<R> {
    /// Creates the path with these names.
    pub(crate) const fn new(names: &'static [&'static str]) -> Self {
        match names {
            [first, members @ ..] => Self {
                first,
                members,
                kind: PhantomData,
            },
            [] => Self {
                first: "",
                members: &[],
                kind: PhantomData,
            },
        }
    }

    /// Returns the constraint at this path, to be set.
    pub fn narrow(self, narrowing: &mut Constraints) -> &mut Constraint {
        let path: Vec<&str> = std::iter::once(self.first)
            .chain(self.members.iter().copied())
            .collect();
        narrowing.entry(&path)
    }
}

impl<R: Resource> From<FieldKey<R>> for FieldPath<R> {
    fn from(key: FieldKey<R>) -> Self {
        Self {
            first: key.name(),
            members: &[],
            kind: PhantomData,
        }
    }
}

impl<R> Clone for FieldPath<R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R> Copy for FieldPath<R> {}

impl<R> fmt::Debug for FieldPath<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.first)?;
        self.members
            .iter()
            .try_for_each(|name| write!(f, ".{name}"))
    }
}
