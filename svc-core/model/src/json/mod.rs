//! A JSON tree, its strict reader and its writer. Numbers keep their text, objects keep their
//! order.
//!
//! Requirements: UND-27.

mod access;
mod caps;
mod check;
mod filter;
mod merge;
mod number;
mod object;
mod reader;
mod scan;
mod write;

#[cfg(test)]
pub(crate) mod tests;

use std::fmt;

pub use caps::ContentLimits;
#[doc(hidden)]
pub use caps::weight;
#[doc(hidden)]
pub use check::{is_items, is_members};
#[doc(hidden)]
pub use filter::{MemberAction, MemberFilter};
pub use merge::{merge_patch, merge_value};
pub use number::Number;
pub use object::Object;
pub use write::write_string;

use crate::error::Problem;

/// A JSON value as a client sent it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
// With a whole word in front, moving a value is moving words; a boolean beside a tag of one byte
// would make it moving bytes.
#[repr(u64)]
pub enum Json {
    /// `null`.
    #[default]
    Null,
    /// `true` or `false`.
    ///
    /// Requirements: TYP-05.
    Bool(bool),
    /// A number, kept as its text.
    ///
    /// Requirements: TYP-02 to TYP-04.
    Number(Number),
    /// A string.
    ///
    /// Requirements: TYP-01.
    String(String),
    /// An array.
    ///
    /// Requirements: TYP-12.
    Array(Vec<Json>),
    /// An object.
    ///
    /// Requirements: TYP-11.
    Object(Object),
}

/// How large a JSON text may be.
///
/// Requirements: UND-17, UND-27.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct JsonLimits {
    /// How deep arrays and objects may be nested; more than [`JsonLimits::DEEPEST`] counts as that.
    pub depth: usize,
    /// How many members one object may have.
    pub keys: usize,
    /// How many values the text may have in all.
    pub values: usize,
    /// How long the text of one number may be.
    pub number_digits: usize,
}

impl JsonLimits {
    /// The largest depth that can be allowed: reading and dropping a tree use the stack.
    pub const DEEPEST: usize = 128;

    /// How many problems with the JSON itself one answer lists at most.
    pub const PROBLEMS: usize = 100;

    /// How deep arrays and objects may be nested; more than [`JsonLimits::DEEPEST`] counts as that.
    #[must_use]
    pub fn depth(mut self, depth: usize) -> Self {
        self.depth = depth;
        self
    }

    /// How many members one object may have.
    #[must_use]
    pub fn keys(mut self, keys: usize) -> Self {
        self.keys = keys;
        self
    }

    /// How many values a text may have in all.
    #[must_use]
    pub fn values(mut self, values: usize) -> Self {
        self.values = values;
        self
    }

    /// How long the text of one number may be.
    #[must_use]
    pub fn number_digits(mut self, digits: usize) -> Self {
        self.number_digits = digits;
        self
    }
}

impl Default for JsonLimits {
    fn default() -> Self {
        Self {
            depth: 64,
            keys: 1000,
            values: 100_000,
            number_digits: 400,
        }
    }
}

impl Json {
    /// Reads exactly one JSON value.
    ///
    /// # Errors
    ///
    /// Every problem that can be told apart, at most [`JsonLimits::PROBLEMS`]: duplicate keys, NUL
    /// and other raw control characters, escapes that are no Unicode scalar value, bytes that are
    /// not UTF-8 and numbers that are too large are collected; the reader stops at an error of
    /// syntax and at a limit. Each names the path and the byte, none repeats what was sent.
    ///
    /// Requirements: UND-27.
    pub fn read(bytes: &[u8], limits: &JsonLimits) -> Result<Self, Vec<Problem>> {
        reader::read(bytes, limits)
    }

    /// Reads JSON that a store kept or this library wrote: what is asked of clients
    /// ([`Json::read`]) is not asked of it, so that no record is lost for a NUL character that came
    /// into it in other ways. Of equal keys the first counts.
    ///
    /// `None` if the text is not one JSON value.
    #[must_use]
    pub fn read_kept(bytes: &[u8]) -> Option<Self> {
        reader::read_kept(bytes)
    }

    /// Appends the value as JSON without spaces.
    pub fn write(&self, out: &mut Vec<u8>) {
        write::write(self, out);
    }

    /// The value as JSON without spaces.
    #[must_use]
    pub fn to_vec(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.write(&mut out);
        out
    }

    /// Whether the value is `null`.
    #[must_use]
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// The value of a boolean.
    ///
    /// Requirements: TYP-05.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        if let Self::Bool(value) = self {
            Some(*value)
        } else {
            None
        }
    }

    /// The number.
    ///
    /// Requirements: TYP-02 to TYP-04.
    #[must_use]
    pub fn as_number(&self) -> Option<&Number> {
        if let Self::Number(value) = self {
            Some(value)
        } else {
            None
        }
    }

    /// The value of a number that is integral and fits 64 bits.
    ///
    /// Requirements: TYP-02.
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        self.as_number().and_then(Number::as_i64)
    }

    /// The text of a string.
    ///
    /// Requirements: TYP-01.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        if let Self::String(value) = self {
            Some(value)
        } else {
            None
        }
    }

    /// The elements of an array.
    ///
    /// Requirements: TYP-12.
    #[must_use]
    pub fn as_array(&self) -> Option<&[Json]> {
        if let Self::Array(value) = self {
            Some(value)
        } else {
            None
        }
    }

    /// The elements of an array, to change them.
    ///
    /// Requirements: TYP-12.
    pub fn as_array_mut(&mut self) -> Option<&mut Vec<Json>> {
        if let Self::Array(value) = self {
            Some(value)
        } else {
            None
        }
    }

    /// The object.
    ///
    /// Requirements: TYP-11.
    #[must_use]
    pub fn as_object(&self) -> Option<&Object> {
        if let Self::Object(value) = self {
            Some(value)
        } else {
            None
        }
    }

    /// The object, to change it.
    ///
    /// Requirements: TYP-11.
    pub fn as_object_mut(&mut self) -> Option<&mut Object> {
        if let Self::Object(value) = self {
            Some(value)
        } else {
            None
        }
    }

    /// The object itself; any other value comes back unchanged.
    ///
    /// # Errors
    ///
    /// The value, if it is not an object.
    ///
    /// Requirements: TYP-11.
    pub fn into_object(self) -> Result<Object, Self> {
        if let Self::Object(value) = self {
            Ok(value)
        } else {
            Err(self)
        }
    }

    /// What the value is, for sentences: `a string`, `an object`, ...
    ///
    /// Requirements: ERR-25.
    #[must_use]
    pub fn kind_name(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Number(_) => "a number",
            Self::String(_) => "a string",
            Self::Array(_) => "an array",
            Self::Object(_) => "an object",
        }
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(std::str::from_utf8(&self.to_vec()).map_err(|_| fmt::Error)?)
    }
}

macro_rules! from {
    ($($source:ty => $variant:ident),+ $(,)?) => {$(
        impl From<$source> for Json {
            fn from(value: $source) -> Self {
                Self::$variant(value.into())
            }
        }
    )+};
}

from! {
    bool => Bool, i64 => Number, u64 => Number, i32 => Number, u32 => Number, Number => Number,
    crate::value::Amount => Number,
    &str => String, String => String, Vec<Json> => Array, Object => Object,
}

macro_rules! from_text {
    ($($source:ty),+ $(,)?) => {$(
        impl From<$source> for Json {
            fn from(value: $source) -> Self {
                Self::String(value.to_string())
            }
        }
    )+};
}

from_text!(
    crate::value::Timestamp,
    crate::value::Date,
    &crate::value::Id,
    &crate::value::Identifier
);

impl<T: Into<Json>> From<Option<T>> for Json {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}
