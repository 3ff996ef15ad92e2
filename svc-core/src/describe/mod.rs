//! The macros that declare the tables: `resource!` for a kind, `object!` for a nested object, `closed_enum!` for a list
//! of values. A field, a link or a rule is written once, in such a table, and nowhere else.

mod field_type;

pub use field_type::{FieldType, Flag, MemberWriter, OneOrMany, Reference, StringMap};

/// Declares a nested object: its Rust struct, how it is read and written, and its table.
macro_rules! object {
    (
        $(#[doc = $doc:literal])+
        $name:ident : $wire:literal {
            $(
                $(#[doc = $fdoc:literal])+
                $field:ident $(as $fwire:literal)? : $ty:ty $([$($rule:expr),+])? $(= $mode:ident $($arg:literal)?)?
            ),+ $(,)?
        }
    ) => {
        $(#[doc = $doc])+
        #[derive(Debug, Clone, Default, PartialEq)]
        pub struct $name {
            $( $(#[doc = $fdoc])+ pub $field: Option<$ty>, )+
        }

        impl $name {
            /// The table of this object.
            pub const FIELDS: &'static $crate::schema::ObjectSchema = &$crate::schema::ObjectSchema {
                name: $wire,
                fields: &[$(
                    $crate::schema::Field {
                        name: $crate::describe::wire_name!($field $($fwire)?),
                        doc: concat!($($fdoc),+),
                        ty: <$ty as $crate::describe::FieldType>::TYPE,
                        mode: $crate::describe::mode!($($mode $($arg)?)?),
                        rules: &[$($($rule),+)?],
                    }
                ),+],
            };

            /// The typed view of an object that was validated against the table.
            #[must_use]
            pub fn from_object(object: &$crate::read::Object) -> Self {
                Self { $(
                    $field: object
                        .get($crate::describe::wire_name!($field $($fwire)?))
                        .and_then(<$ty as $crate::describe::FieldType>::read),
                )+ }
            }

            /// Writes the members that are set, each with a comma behind it, without braces.
            pub fn write_members(&self, out: &mut $crate::describe::MemberWriter<'_>) {
                $(
                    if let Some(value) = &self.$field {
                        out.member($crate::describe::wire_name!($field $($fwire)?), value);
                    }
                )+
            }
        }

        impl $crate::describe::FieldType for $name {
            const TYPE: $crate::schema::Type = $crate::schema::Type::Object(Self::FIELDS);

            fn read(json: &$crate::read::Json) -> Option<Self> {
                json.as_object().map(Self::from_object)
            }

            fn write(&self, out: &mut $crate::describe::MemberWriter<'_>) {
                out.object(|out| self.write_members(out));
            }
        }
    };
}

/// Declares a kind of resource: its struct, its table, its links and the keys of its fields.
macro_rules! resource {
    (
        $(#[doc = $doc:literal])+
        $name:ident : $singular:literal / $plural:literal $(in $home:ident)? $(under $parent:literal)?
        {
            $(
                $(#[doc = $fdoc:literal])+
                $field:ident $(as $fwire:literal)? : $ty:ty $([$($rule:expr),+])? $(= $mode:ident $($arg:literal)?)?
            ),+ $(,)?
        }
        links {
            $(
                $(#[doc = $ldoc:literal])+
                $link:ident : $shape:ident $target:ident $($write:ident)?
            ),* $(,)?
        }
        $(rules $rules:path)?
    ) => {
        $crate::describe::object! {
            $(#[doc = $doc])+
            $name: $singular {
                $(
                    $(#[doc = $fdoc])+
                    $field $(as $fwire)? : $ty $([$($rule),+])? $(= $mode $($arg)?)?
                ),+
            }
        }

        impl $crate::model::Resource for $name {
            const KIND: $crate::model::Kind = $crate::model::Kind::$name;
            const SCHEMA: &'static $crate::schema::KindSchema = &$crate::schema::KindSchema {
                kind: $crate::model::Kind::$name,
                singular: $singular,
                plural: $plural,
                doc: concat!($($doc),+),
                home: $crate::describe::optional!($($crate::model::Kind::$home)?),
                parent: $crate::describe::optional!($($parent)?),
                fields: $name::FIELDS,
                links: &[$(
                    $crate::schema::LinkSpec {
                        name: stringify!($link),
                        doc: concat!($($ldoc),+),
                        target: $crate::describe::link_target!($shape $target $($write)?),
                    }
                ),*],
                rules: $crate::describe::rules!($($rules)?),
            };

            fn from_object(object: &$crate::read::Object) -> Self {
                Self::from_object(object)
            }

            fn write_members(&self, out: &mut $crate::describe::MemberWriter<'_>) {
                self.write_members(out);
            }
        }

        $( $crate::describe::under!($name $shape $target); )*

        /// The fields of the table, for [`fields!`](crate::fields) and [`writable!`](crate::writable).
        #[allow(non_upper_case_globals, missing_docs, reason = "named as the fields of the table are")]
        pub mod key {
            #[allow(non_camel_case_types, dead_code, reason = "gives each field its position in the table")]
            enum Position { $($field),+ }
            $( pub const $field: $crate::field_set::FieldKey<super::$name> =
                $crate::field_set::FieldKey::new(Position::$field as u32); )+
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

macro_rules! mode {
    () => {
        $crate::schema::Mode::Stored
    };
    (computed) => {
        $crate::schema::Mode::Computed
    };
    (required) => {
        $crate::schema::Mode::Required
    };
    (receipt_time) => {
        $crate::schema::Mode::ReceiptTime
    };
    (default $value:literal) => {
        $crate::schema::Mode::Default($value)
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
    (one $kind:ident) => {
        $crate::schema::LinkTarget::One { kind: $crate::model::Kind::$kind, write: $crate::schema::LinkWrite::Never }
    };
    (one $kind:ident $write:ident) => {
        $crate::schema::LinkTarget::One { kind: $crate::model::Kind::$kind, write: $crate::schema::LinkWrite::$write }
    };
}

macro_rules! under {
    ($name:ident many $kind:ident) => {
        impl $crate::model::Under<$name> for $crate::model::$kind {}
    };
    ($name:ident $shape:ident $target:ident) => {};
}

/// Declares a closed list of values (TYP-08) or the listed values of a flexible one (TYP-09).
macro_rules! closed_enum {
    ($(#[doc = $doc:literal])+ $name:ident { $($variant:ident = $wire:literal),+ $(,)? }) => {
        $(#[doc = $doc])+
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

        impl $crate::describe::FieldType for $name {
            const TYPE: $crate::schema::Type =
                $crate::schema::Type::Enum(<Self as $crate::value::ClosedEnum>::VALUES);

            fn read(json: &$crate::read::Json) -> Option<Self> {
                json.as_str().and_then(<Self as $crate::value::ClosedEnum>::parse)
            }

            fn write(&self, out: &mut $crate::describe::MemberWriter<'_>) {
                out.string($crate::value::ClosedEnum::as_str(*self));
            }
        }
    };
}

pub(crate) use {closed_enum, link_target, mode, object, optional, resource, rules, under, wire_name};
