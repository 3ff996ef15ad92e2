//! Typed, constant keys of the fields and links of a kind, and sets of fields. They restrict what
//! is read and written.
//!
//! Requirements: CAP-04, CAP-06.

mod partial;
mod path;

use std::{fmt, marker::PhantomData};

use crate::{
    model::Resource,
    schema::{Constraint, Constraints, FieldSpec, LinkTarget, ObjectSchema},
};

pub use partial::PartialField;
pub(crate) use partial::{object_in, place_in};
pub use path::FieldPath;

/// A field of a kind, identified by its position in the table.
pub struct FieldKey<R> {
    position: u32,
    kind: PhantomData<fn() -> R>,
}

impl<R: Resource> FieldKey<R> {
    /// Creates the key of the field at a position of the table.
    #[must_use]
    pub(crate) const fn new(position: u32) -> Self {
        Self {
            position,
            kind: PhantomData,
        }
    }

    /// Returns the position in the table.
    #[must_use]
    pub const fn position(&self) -> usize {
        self.position as usize
    }

    /// Returns the name in the table; empty if the table has no such position.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match R::SCHEMA
            .fields
            .fields
            .split_at_checked(self.position as usize)
        {
            Some((_, [field, ..])) => field.name,
            _ => "",
        }
    }

    /// Returns whether a client may write the field.
    #[must_use]
    pub const fn is_writable(&self) -> bool {
        match R::SCHEMA
            .fields
            .fields
            .split_at_checked(self.position as usize)
        {
            Some((_, [field, ..])) => !field.is_computed(),
            _ => false,
        }
    }

    /// Returns the table of the object, or of the objects of the list, in the field; `None` for any
    /// other field.
    #[must_use]
    pub const fn object_schema(&self) -> Option<&'static ObjectSchema> {
        match R::SCHEMA
            .fields
            .fields
            .split_at_checked(self.position as usize)
        {
            Some((_, [field, ..])) => field.ty.object(),
            _ => None,
        }
    }

    /// Returns the field as the table declares it.
    #[must_use]
    pub fn spec(&self) -> Option<&'static FieldSpec> {
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
        f.write_str(self.spec().map_or("?", |field| field.name))
    }
}

/// A link of a kind to one record, such as `petition::link::creator`.
///
/// A misspelled link, a link of another kind, or a link to a collection or a helper does not
/// compile.
pub struct LinkKey<R> {
    name: &'static str,
    kind: PhantomData<fn() -> R>,
}

impl<R: Resource> LinkKey<R> {
    /// Creates the key of the link with this name in the table.
    #[must_use]
    pub(crate) const fn new(name: &'static str) -> Self {
        Self {
            name,
            kind: PhantomData,
        }
    }

    /// Returns the link to one record with this name, or `None` if the kind has none.
    ///
    /// Use it in programs that are generic over the kind. For a known kind, use the constants,
    /// which the compiler checks.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let link = R::SCHEMA.link(name)?;
        matches!(link.target, LinkTarget::One { .. }).then_some(Self::new(link.name))
    }

    /// Returns the name in the table.
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

/// A set of fields of one kind, created by [`fields!`](crate::fields). It can contain a field with
/// only some of its members.
pub struct FieldSet<R> {
    bits: u64,
    /// The fields that are in the set with only some of their members.
    within: &'static [PartialField],
    kind: PhantomData<fn() -> R>,
}

impl<R: Resource> FieldSet<R> {
    /// Creates the set of these fields.
    #[must_use]
    pub const fn from_keys(keys: &[FieldKey<R>]) -> Self {
        let mut bits = 0;
        let mut rest = keys;
        while let [key, tail @ ..] = rest {
            bits |= 1 << key.position;
            rest = tail;
        }
        Self {
            bits,
            within: &[],
            kind: PhantomData,
        }
    }

    /// Limits these fields of the set to some of their members.
    #[must_use]
    pub(crate) const fn within(self, within: &'static [PartialField]) -> Self {
        Self { within, ..self }
    }

    /// Returns the set of every field of the kind that a client may write.
    #[must_use]
    pub fn writable() -> Self {
        Self::from_fn(|field| !field.is_computed())
    }

    /// Returns the set of every field of the kind.
    #[must_use]
    pub fn all() -> Self {
        Self::from_fn(|_| true)
    }

    /// Returns the set of the fields of the kind for which `holds` returns true.
    pub fn from_fn(holds: impl Fn(&FieldSpec) -> bool) -> Self {
        let fields = R::SCHEMA.fields.fields.iter().enumerate();
        let bits = fields
            .filter(|(_, field)| holds(field))
            .fold(0, |bits, (place, _)| bits | 1 << place);
        Self {
            bits,
            within: &[],
            kind: PhantomData,
        }
    }

    /// Returns the constraints that result from calling `leave_out` for each member that is not in
    /// the set, although its field is.
    pub fn others(&self, leave_out: impl Fn(&mut Constraint)) -> Constraints {
        let mut narrowing = Constraints::default();
        PartialField::others(self.within, R::SCHEMA.fields, &mut narrowing, &leave_out);
        narrowing
    }

    /// Returns the constraints that result from calling `hold` for each field of the set, or for
    /// its members if the set contains only some of them.
    pub fn each(&self, hold: impl Fn(&mut Constraint)) -> Constraints {
        let mut narrowing = Constraints::default();
        PartialField::each(
            self.within,
            self.bits(),
            R::SCHEMA.fields,
            &mut narrowing,
            &hold,
        );
        narrowing
    }

    /// Returns whether the set contains the field, at least with some of its members.
    #[must_use]
    pub const fn contains(&self, key: FieldKey<R>) -> bool {
        self.bits & (1 << key.position) != 0
    }

    /// Returns whether the set is empty.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.bits == 0
    }

    /// Returns the set without its type, with one bit for each position of the table.
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
        self.bits == other.bits && self.within == other.within
    }
}

impl<R: Resource> fmt::Debug for FieldSet<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fields = R::SCHEMA.fields.fields.iter().enumerate();
        f.debug_set()
            .entries(
                fields
                    .filter(|(place, _)| self.bits & (1 << place) != 0)
                    .map(|(_, x)| x.name),
            )
            .finish()
    }
}

/// A set of fields that a client may write, created by [`writable!`](crate::writable).
#[derive(Debug)]
pub struct WritableSet<R: Resource>(FieldSet<R>);

impl<R: Resource> WritableSet<R> {
    /// For [`writable!`](crate::writable), which has checked that no field of the set is computed.
    pub(crate) const fn proved(set: FieldSet<R>) -> Self {
        Self(set)
    }

    /// Returns the fields.
    #[must_use]
    pub const fn fields(&self) -> FieldSet<R> {
        self.0
    }
}

/// A set of fields without its kind: one bit for each position of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FieldBits(u64);

impl FieldBits {
    /// Creates the set of the fields at these positions.
    #[must_use]
    pub const fn of(places: u64) -> Self {
        Self(places)
    }

    /// Removes the field at this position.
    #[must_use]
    pub const fn without(self, place: usize) -> Self {
        if place < 64 {
            Self(self.0 & !(1 << place))
        } else {
            self
        }
    }

    /// The set of every position of every table.
    pub const ALL: Self = Self(u64::MAX);

    /// Creates the set of the fields at these positions of the table.
    pub fn at(places: impl Iterator<Item = usize>) -> Self {
        Self(places.fold(0, |bits, place| {
            bits | 1_u64
                .checked_shl(u32::try_from(place).unwrap_or(64))
                .unwrap_or_default()
        }))
    }

    /// Returns whether the set contains the field at this position of the table.
    #[must_use]
    pub const fn contains(self, place: usize) -> bool {
        place < 64 && self.0 & (1 << place) != 0
    }

    /// Returns the positions of the fields, in the order of the table.
    pub fn places(self) -> impl Iterator<Item = usize> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let place = rest.trailing_zeros();
            rest &= rest.wrapping_sub(1);
            (place < u64::BITS).then_some(place as usize)
        })
    }

    /// Returns the fields that are in both sets.
    #[must_use]
    pub const fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

/// Creates a constant set of fields of one kind: `fields!(person::{given_name, family_name})`.
///
/// Some members of an object, or of a list of objects, can be named:
/// `fields!(person::{given_name, email_addresses::{address, primary}})`. A misspelled field or
/// member, or one of another kind, does not compile.
#[macro_export]
macro_rules! fields {
    ($kind:ident :: { $($field:ident $(:: { $($inner:tt)* })?),* $(,)? }) => {{
        const WITHIN: &[$crate::field_set::PartialField] = &[$($(
            $crate::within!($crate::model::$kind::key::$field.object_schema(), $crate::field_set::PartialField::is_any, "",
                $crate::model::$kind::key::$field.position(), $field, { $($inner)* })
        ,)?)*];
        const SET: $crate::field_set::FieldSet<$crate::internal::kind_of::$kind> = $crate::internal::set_within(
            $crate::field_set::FieldSet::from_keys(&[$($crate::model::$kind::key::$field),*]),
            WITHIN,
        );
        SET
    }};
}

/// Creates a constant set of fields that clients may write:
/// `writable!(person::{given_name, family_name})`. As in [`fields!`](crate::fields), some members
/// of an object can be named.
///
/// A misspelled field, a field of another kind, or a computed field does not compile.
#[macro_export]
macro_rules! writable {
    ($kind:ident :: { $($field:ident $(:: { $($inner:tt)* })?),* $(,)? }) => {{
        $(
            const _: () = assert!(
                $crate::model::$kind::key::$field.is_writable(),
                concat!("`", stringify!($field), "` is computed by the server: it cannot be made writable"),
            );
            $(
                const _: $crate::field_set::PartialField =
                    $crate::within!($crate::model::$kind::key::$field.object_schema(), $crate::field_set::PartialField::is_writable,
                        " that clients may write", $crate::model::$kind::key::$field.position(), $field, { $($inner)* });
            )?
        )*
        $crate::internal::proved($crate::fields!($kind::{ $($field $(:: { $($inner)* })?),* }))
    }};
}

/// Creates a constant path of one field of a kind: `field!(event::title)`,
/// `field!(person::email_addresses::address)`.
///
/// A misspelled name does not compile.
#[macro_export]
macro_rules! field {
    ($kind:ident :: $field:ident $(:: $member:ident)*) => {{
        const NAMES: &[&str] = &[$crate::model::$kind::key::$field.name() $(, stringify!($member))*];
        const PATH: $crate::field_set::FieldPath<$crate::internal::kind_of::$kind> = {
            let table = $crate::model::$kind::key::$field.object_schema();
            $(
                let named = $crate::field_set::PartialField::is_any(table, stringify!($member));
                assert!(named, concat!("there is no member `", stringify!($member), "` here"));
                let table = $crate::internal::object_in(table, stringify!($member));
            )*
            let _ = table;
            $crate::internal::path(NAMES)
        };
        PATH
    }};
}

/// Creates the set of some members of a field, for [`fields!`](crate::fields).
#[doc(hidden)]
#[macro_export]
macro_rules! within {
    (
        $table:expr, $holds:path, $which:literal, $place:expr, $of:ident,
        { $($member:ident $(:: { $($inner:tt)* })?),* $(,)? }
    ) => {{
        $(
            assert!(
                $holds($table, stringify!($member)),
                concat!("`", stringify!($of), "` has no member `", stringify!($member), "`", $which),
            );
        )*
        const INNER: &[$crate::field_set::PartialField] = &[$($(
            $crate::within!(
                $crate::internal::object_in($table, stringify!($member)), $holds, $which,
                $crate::internal::place_in($table, stringify!($member)), $member, { $($inner)* })
        ,)?)*];
        $crate::internal::within($place, $table, &[$(stringify!($member)),*], INNER)
    }};
}
