//! Typed, constant keys of a kind's fields and links, and sets of fields, for restrictions on what is read and written
//! (CAP-04, CAP-06).

use std::{fmt, marker::PhantomData};

use crate::{
    model::Resource,
    schema::{Field, LinkTarget},
};

/// One field of a kind, by its place in the table.
pub struct FieldKey<R> {
    position: u32,
    kind: PhantomData<fn() -> R>,
}

impl<R: Resource> FieldKey<R> {
    /// The field at a place of the table.
    #[must_use]
    pub(crate) const fn new(position: u32) -> Self {
        Self { position, kind: PhantomData }
    }

    /// Whether a client may write it.
    #[must_use]
    pub const fn is_writable(&self) -> bool {
        match R::SCHEMA.fields.fields.split_at_checked(self.position as usize) {
            Some((_, [field, ..])) => !field.is_computed(),
            _ => false,
        }
    }

    /// The row of the table.
    #[must_use]
    pub fn field(&self) -> Option<&'static Field> {
        R::SCHEMA.fields.fields.get(self.position as usize)
    }
}

impl<R> Clone for FieldKey<R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R> Copy for FieldKey<R> {}

impl<R: Resource> fmt::Debug for FieldKey<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.field().map_or("?", |field| field.name))
    }
}

/// One link of a kind that leads to one record, such as `petition::link::creator`.
///
/// A misspelt link, one of another kind, or one that leads to a collection or to a helper, does not compile.
pub struct LinkKey<R> {
    name: &'static str,
    kind: PhantomData<fn() -> R>,
}

impl<R: Resource> LinkKey<R> {
    /// The link of this name of the table.
    #[must_use]
    pub(crate) const fn new(name: &'static str) -> Self {
        Self { name, kind: PhantomData }
    }

    /// The link to one record that has this name; `None` when the kind has none. For programs that are generic over the
    /// kind: for a kind that is known there are constants, which the compiler checks.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let link = R::SCHEMA.link(name)?;
        matches!(link.target, LinkTarget::One { .. }).then_some(Self::new(link.name))
    }

    /// Its name in the table.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }
}

impl<R> Clone for LinkKey<R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R> Copy for LinkKey<R> {}

impl<R> fmt::Debug for LinkKey<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// A set of fields of one kind, made by [`fields!`](crate::fields).
pub struct FieldSet<R> {
    bits: u64,
    kind: PhantomData<fn() -> R>,
}

impl<R: Resource> FieldSet<R> {
    /// The set of these fields.
    #[must_use]
    pub const fn of(keys: &[FieldKey<R>]) -> Self {
        let mut bits = 0;
        let mut rest = keys;
        while let [key, tail @ ..] = rest {
            bits |= 1 << key.position;
            rest = tail;
        }
        Self { bits, kind: PhantomData }
    }

    /// Every field of the kind that a client may write.
    #[must_use]
    pub fn writable() -> Self {
        Self::matching(|field| !field.is_computed())
    }

    /// Every field of the kind.
    #[must_use]
    pub fn all() -> Self {
        Self::matching(|_| true)
    }

    /// The fields of the kind for which `holds`.
    pub fn matching(holds: impl Fn(&Field) -> bool) -> Self {
        let fields = R::SCHEMA.fields.fields.iter().enumerate();
        let bits = fields.filter(|(_, field)| holds(field)).fold(0, |bits, (place, _)| bits | 1 << place);
        Self { bits, kind: PhantomData }
    }

    /// Whether the field is in the set.
    #[must_use]
    pub const fn contains(&self, key: FieldKey<R>) -> bool {
        self.bits & (1 << key.position) != 0
    }

    /// Whether the set is empty.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.bits == 0
    }

    /// The set without its type, one bit for each place of the table.
    #[must_use]
    pub const fn bits(&self) -> FieldBits {
        FieldBits(self.bits)
    }
}

impl<R> Clone for FieldSet<R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R> Copy for FieldSet<R> {}

impl<R> PartialEq for FieldSet<R> {
    fn eq(&self, other: &Self) -> bool {
        self.bits == other.bits
    }
}

impl<R: Resource> fmt::Debug for FieldSet<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fields = R::SCHEMA.fields.fields.iter().enumerate();
        f.debug_set().entries(fields.filter(|(place, _)| self.bits & (1 << place) != 0).map(|(_, x)| x.name)).finish()
    }
}

/// A set of fields that a client may write, made by [`writable!`](crate::writable).
#[derive(Debug)]
pub struct WritableSet<R: Resource>(FieldSet<R>);

impl<R: Resource> WritableSet<R> {
    /// For [`writable!`](crate::writable), which has proved that no field of the set is computed.
    pub(crate) const fn proved(set: FieldSet<R>) -> Self {
        Self(set)
    }

    /// The fields.
    #[must_use]
    pub const fn fields(&self) -> FieldSet<R> {
        self.0
    }
}

/// A set of fields whose kind is known elsewhere: one bit for each place of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FieldBits(u64);

impl FieldBits {
    /// Every place of every table.
    pub const ALL: Self = Self(u64::MAX);

    /// The fields at these places of the table.
    #[cfg(feature = "mapped")]
    pub(crate) fn at(places: impl Iterator<Item = usize>) -> Self {
        Self(
            places.fold(0, |bits, place| {
                bits | 1_u64.checked_shl(u32::try_from(place).unwrap_or(64)).unwrap_or_default()
            }),
        )
    }

    /// Whether the field at this place of the table is in the set.
    #[must_use]
    pub const fn contains(self, place: usize) -> bool {
        place < 64 && self.0 & (1 << place) != 0
    }

    /// The fields that are in both sets.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

/// A constant set of fields of one kind: `fields!(person::{given_name, family_name})`.
///
/// A misspelt field, or one of another kind, does not compile.
#[macro_export]
macro_rules! fields {
    ($kind:ident :: { $($field:ident),* $(,)? }) => {{
        const SET: $crate::field_set::FieldSet<$crate::internal::kind_of::$kind> =
            $crate::field_set::FieldSet::of(&[$($crate::model::$kind::key::$field),*]);
        SET
    }};
}

/// A constant set of fields that clients may write: `writable!(person::{given_name, family_name})`.
///
/// A misspelt field, one of another kind, or one that the system keeps, does not compile.
#[macro_export]
macro_rules! writable {
    ($kind:ident :: { $($field:ident),* $(,)? }) => {{
        $(
            const _: () = assert!(
                $crate::model::$kind::key::$field.is_writable(),
                concat!("`", stringify!($field), "` is kept by the system: it cannot be made writable"),
            );
        )*
        $crate::internal::proved($crate::fields!($kind::{ $($field),* }))
    }};
}
