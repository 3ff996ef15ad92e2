//! The macros that declare the tables: `resource!` for a kind, `object!` for a nested object,
//! `closed_enum!` for a list of values. Each field, link and rule is declared only once, in such a
//! table.
//!
//! # The lines of a table
//!
//! ```text
//! Tagging: "tagging" / "taggings"     singular / plural relation
//!     in Tag                          records live in the path of a tag; without it, at the top
//!     under "tag"                     the link to the container that a record is created under
//!     once per person                 one container has one record for each person
//!     without update                  operations that the interface does not have for the kind
//!     also Unlisted                   what only a few kinds have, see `KindFeature`
//! {
//!     /// What the field is
//!     "UND-05" name as "wire": String [FieldRule::UniqueName] = required,
//! }
//! links {
//!     /// Where the link leads
//!     "UND-05" person: one Person Required cascade,
//! }
//! ```
//!
//! The requirement id precedes each field and link.
//!
//! After the `=` of a field there is one of these:
//!
//! - nothing (clients may set the field), `required`, `default "..."` or `receipt_time`
//! - the source of a computed value: `outside`, `outside absent`, `relation Person`,
//!   `schedule start`, `schedule stop`, or a measure
//!
//! A measure is computed over the records under the record:
//!
//! - `count(Signature)`: the number of records
//! - `count(Attendance where status is accepted or absent)`: of those that meet a condition
//! - `count(Donation unless voided)`: of those whose flag is not true
//! - `count(Attendance.tickets)`: of the elements of an array
//! - `sum(Donation.amount)`, `sum(Attendance.tickets.amount)`: the sum of amounts
//! - `..., each title`: also for each title of the elements. In the array of the record with these
//!   titles, a field `= part total_tickets` has the value of its element, also of the titles in its
//!   field `= former title`.
//! - `..., of currency`: only of the records with the currency of the record
//!
//! A link points to `one` record, to `many` (an `alias` is a second name of such a collection), or
//! to a `helper`. A link to one record declares when a client may send it: in a create (`Create` or
//! `Required`, see `LinkWrite`), and in an update (`Change` or `Move`, see `LinkUpdate`). The default
//! is never. It also declares what happens to the record when the linked record is deleted: `cascade`,
//! `restrict` or `clear`, the default.

mod field_mode;
mod field_type;

pub use field_type::{FieldType, MemberWriter, OneOrMany, RecordReference, StringMap, TextFlag};

/// Declares a nested object: its Rust struct, its conversion from and to JSON, and its table.
macro_rules! object {
    (
        $(#[doc = $doc:literal])+
        $name:ident : $wire:literal {
            $(
                $(#[doc = $fdoc:literal])+
                $row:literal
                $field:ident $(as $fwire:literal)? : $ty:ty
                    $([$($rule:expr),+])? $(= $mode:ident $($value:literal)? $($of:ident)? $(($($measure:tt)+))?)?
            ),+ $(,)?
        }
    ) => {
        $(#[doc = $doc])+
        #[derive(Debug, Clone, Default, PartialEq)]
        #[non_exhaustive]
        pub struct $name {
            $( #[doc = concat!($($fdoc,)+ " (", $row, ").")] pub $field: Option<$ty>, )+
        }

        impl $name {
            /// The table of this object.
            pub const FIELDS: &'static $crate::schema::ObjectSchema = &$crate::schema::ObjectSchema::new(
                $wire,
                &[$(
                    $crate::schema::FieldSpec {
                        name: $crate::types::wire_name!($field $($fwire)?),
                        requirement: $row,
                        doc: concat!($($fdoc),+).trim_ascii(),
                        ty: <$ty as $crate::types::FieldType>::TYPE,
                        mode: $crate::types::mode!($($mode $($value)? $($of)? $(($($measure)+))?)?),
                        rules: &[$($($rule),+)?],
                    }
                ),+],
            );

            /// Converts an object that was validated against the table into the typed struct.
            #[must_use]
            pub fn from_object(object: &$crate::json::Object) -> Self {
                Self { $(
                    $field: object
                        .get($crate::types::wire_name!($field $($fwire)?))
                        .and_then(<$ty as $crate::types::FieldType>::read_json),
                )+ }
            }

            $(
                #[doc = concat!("Sets the field [`", stringify!($field), "`](field@Self::", stringify!($field), ").")]
                #[must_use]
                pub fn $field(mut self, value: impl Into<$ty>) -> Self {
                    self.$field = Some(value.into());
                    self
                }
            )+

            /// Writes the members that are set, each with a trailing comma, without braces.
            pub fn write_members(&self, out: &mut $crate::types::MemberWriter<'_>) {
                $(
                    if let Some(value) = &self.$field {
                        out.member($crate::types::wire_name!($field $($fwire)?), value);
                    }
                )+
            }
        }

        impl $crate::types::FieldType for $name {
            const TYPE: $crate::schema::ValueType = $crate::schema::ValueType::Object(Self::FIELDS);

            fn read_json(json: &$crate::json::Json) -> Option<Self> {
                json.as_object().map(Self::from_object)
            }

            fn write_json(&self, out: &mut $crate::types::MemberWriter<'_>) {
                out.object(|out| self.write_members(out));
            }
        }
    };
}

/// Declares a kind: its struct, its table, its links and the keys of its fields.
macro_rules! resource {
    (
        $(#[doc = $doc:literal])+
        $name:ident : $singular:literal / $plural:literal $(in $home:ident)? $(under $parent:literal)?
        $(once per $member:ident)? $(without $($without:ident),+)? $(also $($peculiar:ident),+)?
        {
            $(
                $(#[doc = $fdoc:literal])+
                $row:literal
                $field:ident $(as $fwire:literal)? : $ty:ty
                    $([$($rule:expr),+])? $(= $mode:ident $($value:literal)? $($of:ident)? $(($($measure:tt)+))?)?
            ),+ $(,)?
        }
        links {
            $(
                $(#[doc = $ldoc:literal])+
                $lrow:literal
                $link:ident : $shape:ident $target:ident $($mark:ident)*
            ),* $(,)?
        }
        $(rules $rules:path)?
    ) => {
        $crate::types::object! {
            $(#[doc = $doc])+
            $name: $singular {
                $(
                    $(#[doc = $fdoc])+
                    $row
                    $field $(as $fwire)? : $ty $([$($rule),+])? $(= $mode $($value)? $($of)? $(($($measure)+))?)?
                ),+
            }
        }

        impl $crate::model::Resource for $name {
            const KIND: $crate::model::Kind = $crate::model::Kind::$name;
            const SCHEMA: &'static $crate::schema::KindSchema = &$crate::schema::KindSchema {
                kind: $crate::model::Kind::$name,
                singular: $singular,
                plural: $plural,
                doc: concat!($($doc),+).trim_ascii(),
                path_parent: $crate::types::optional!($($crate::model::Kind::$home)?),
                parent: $crate::types::optional!($($parent)?),
                unique_per: $crate::types::optional!($(stringify!($member))?),
                unsupported_operations: &[$($($crate::types::operation!($without)),+)?],
                features: &[$($($crate::schema::KindFeature::$peculiar),+)?],
                fields: $name::FIELDS,
                links: &[$(
                    $crate::schema::LinkSpec {
                        name: stringify!($link),
                        requirement: $lrow,
                        doc: concat!($($ldoc),+).trim_ascii(),
                        target: $crate::types::link_target!($shape $target $($mark)*),
                    }
                ),*],
                rules: $crate::types::rules!($($rules)?),
            };

            fn from_object(object: &$crate::json::Object) -> Self {
                Self::from_object(object)
            }

            fn write_members(&self, out: &mut $crate::types::MemberWriter<'_>) {
                self.write_members(out);
            }
        }

        $( $crate::types::under!($name $shape $target); )*

        /// The fields of the table, for [`fields!`](crate::fields) and
        /// [`writable!`](crate::writable).
        #[allow(non_upper_case_globals, missing_docs, reason = "named as the fields of the table are")]
        pub mod key {
            #[allow(non_camel_case_types, dead_code, reason = "gives each field its position in the table")]
            enum Position { $($field),+ }
            $( pub const $field: $crate::field_set::FieldKey<super::$name> =
                $crate::field_set::FieldKey::new(Position::$field as u32); )+
        }

        /// The links of the table to one record, for
        /// [`Record::with_link`](crate::Record::with_link),
        /// [`Draft::with_link`](crate::Draft::with_link) and `ResourceConfig::without_link`.
        #[allow(non_upper_case_globals, reason = "named as the links of the table are")]
        pub mod link {
            $( $crate::types::link_key!($name $link $shape $($ldoc)+ " (" $lrow ").");
            )*
        }
    };
}

macro_rules! wire_name {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident $wire:literal) => {
        $wire
    };
}

macro_rules! optional {
    () => {
        None
    };
    ($value:expr) => {
        Some($value)
    };
}

macro_rules! rules {
    () => {
        $crate::schema::no_rules
    };
    ($rules:path) => {
        $rules
    };
}

macro_rules! link_target {
    (many $kind:ident) => {
        $crate::schema::LinkTarget::Many { kind: $crate::model::Kind::$kind, alias: false }
    };
    (alias $kind:ident) => {
        $crate::schema::LinkTarget::Many { kind: $crate::model::Kind::$kind, alias: true }
    };
    (helper $helper:ident) => {
        $crate::schema::LinkTarget::Helper($crate::helper::HelperName::$helper)
    };
    (one $kind:ident $($mark:ident)*) => {
        $crate::types::link_target!(@one $kind Never Never Clear; $($mark)*)
    };
    (@one $kind:ident $write:ident $update:ident $on_delete:ident;) => {
        $crate::schema::LinkTarget::One {
            kind: $crate::model::Kind::$kind,
            write: $crate::schema::LinkWrite::$write,
            update: $crate::schema::LinkUpdate::$update,
            on_delete: $crate::schema::OnDelete::$on_delete,
        }
    };
    (@one $kind:ident $write:ident $update:ident $on_delete:ident; Create $($mark:ident)*) => {
        $crate::types::link_target!(@one $kind Create $update $on_delete; $($mark)*)
    };
    (@one $kind:ident $write:ident $update:ident $on_delete:ident; Required $($mark:ident)*) => {
        $crate::types::link_target!(@one $kind Required $update $on_delete; $($mark)*)
    };
    (@one $kind:ident $write:ident $update:ident $on_delete:ident; Change $($mark:ident)*) => {
        $crate::types::link_target!(@one $kind $write Change $on_delete; $($mark)*)
    };
    (@one $kind:ident $write:ident $update:ident $on_delete:ident; Move $($mark:ident)*) => {
        $crate::types::link_target!(@one $kind $write Move $on_delete; $($mark)*)
    };
    (@one $kind:ident $write:ident $update:ident $on_delete:ident; cascade $($mark:ident)*) => {
        $crate::types::link_target!(@one $kind $write $update Cascade; $($mark)*)
    };
    (@one $kind:ident $write:ident $update:ident $on_delete:ident; restrict $($mark:ident)*) => {
        $crate::types::link_target!(@one $kind $write $update Restrict; $($mark)*)
    };
    (@one $kind:ident $write:ident $update:ident $on_delete:ident; clear $($mark:ident)*) => {
        $crate::types::link_target!(@one $kind $write $update Clear; $($mark)*)
    };
    (@one $kind:ident $write:ident $update:ident $on_delete:ident; $other:ident $($mark:ident)*) => {
        compile_error!(concat!(
            "a link has `Create`, `Required`, `Change`, `Move`, `cascade`, `restrict` or `clear`, not `",
            stringify!($other),
            "`"
        ))
    };
}

/// An operation that the specification does not define for the kind, after `without`.
macro_rules! operation {
    (create) => {
        $crate::names::Operation::Create
    };
    (update) => {
        $crate::names::Operation::Update
    };
    (delete) => {
        $crate::names::Operation::Delete
    };
    ($other:ident) => {
        compile_error!(concat!(
            "a kind can be without `create`, `update` or `delete`, not `",
            stringify!($other),
            "`"
        ))
    };
}

/// Declares the key of a link to one record; other links have none.
macro_rules! link_key {
    ($name:ident $link:ident one $($doc:expr)+) => {
        #[doc = concat!($($doc),+)]
        pub const $link: $crate::field_set::LinkKey<super::$name> =
            $crate::field_set::LinkKey::new(stringify!($link));
    };
    ($name:ident $link:ident $shape:ident $($doc:expr)+) => {};
}

macro_rules! under {
    ($name:ident many $kind:ident) => {
        impl $crate::model::Under<$name> for $crate::model::$kind {}
    };
    ($name:ident $shape:ident $target:ident) => {};
}

/// Declares a closed list of values, or the known values of a flexible one.
///
/// Requirements: TYP-08, TYP-09.
macro_rules! closed_enum {
    ($(#[doc = $doc:literal])+ $name:ident { $($variant:ident = $wire:literal),+ $(,)? }) => {
        $crate::types::closed_enum! {
            @define $(#[doc = $doc])+ #[non_exhaustive] $name { $($variant = $wire),+ }
        }
    };
    // The related crates match such an enum without a wildcard.
    (exhaustive $(#[doc = $doc:literal])+ $name:ident { $($variant:ident = $wire:literal),+ $(,)? }) => {
        $crate::types::closed_enum! {
            @define $(#[doc = $doc])+ $name { $($variant = $wire),+ }
        }
    };
    (@define $(#[$attribute:meta])+ $name:ident { $($variant:ident = $wire:literal),+ $(,)? }) => {
        $(#[$attribute])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name { $( #[doc = concat!("`", $wire, "`")] $variant, )+ }

        impl $crate::value::ClosedEnum for $name {
            const VALUES: &'static [&'static str] = &[$($wire),+];

            fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $wire),+ }
            }

            fn parse(text: &str) -> Option<Self> {
                match text { $($wire => Some(Self::$variant),)+ _ => None }
            }
        }

        impl std::fmt::Display for $name {
            /// Writes the value as it is in JSON.
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad($crate::value::ClosedEnum::as_str(*self))
            }
        }

        impl $crate::types::FieldType for $name {
            const TYPE: $crate::schema::ValueType =
                $crate::schema::ValueType::Enum(<Self as $crate::value::ClosedEnum>::VALUES);

            fn read_json(json: &$crate::json::Json) -> Option<Self> {
                json.as_str().and_then(<Self as $crate::value::ClosedEnum>::parse)
            }

            fn write_json(&self, out: &mut $crate::types::MemberWriter<'_>) {
                out.string($crate::value::ClosedEnum::as_str(*self));
            }
        }
    };
}

pub(crate) use field_mode::{measure, mode};
pub(crate) use {
    closed_enum, link_key, link_target, object, operation, optional, resource, rules, under,
    wire_name,
};
