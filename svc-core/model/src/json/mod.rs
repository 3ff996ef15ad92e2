//! A JSON tree with a strict reader and a writer. Numbers preserve their text, and objects preserve
//! the order of their members.
//!
//! Requirements: UND-27.

mod access;
mod check;
mod compare;
mod content_limits;
mod member_filter;
mod merge;
mod number;
mod object;
mod reader;
mod scan;
mod write;

#[cfg(test)]
pub(crate) mod tests;

use std::fmt;

#[doc(hidden)]
pub use check::{is_items, is_members};
pub use compare::{has_same_members, is_same, is_stored};
pub use content_limits::ContentLimits;
#[doc(hidden)]
pub use content_limits::weight;
#[doc(hidden)]
pub use member_filter::{MemberAction, MemberFilter};
pub use merge::{merge_patch, merge_value};
pub use number::Number;
pub use object::Object;
pub use write::write_string;

use crate::error::Problem;

/// A JSON value as a client sent it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
// The `repr` makes a value start with a whole word, so that moving it moves words. A tag of one
// byte next to a boolean would make it move bytes.
#[repr(u64)]
pub enum Json {
    /// `null`.
    #[default]
    Null,
    /// `true` or `false`.
    ///
    /// Requirements: TYP-05.
    Bool(bool),
    /// A number, stored as its text.
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

/// The limits for a JSON text.
///
/// Requirements: UND-17, UND-27.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct JsonLimits {
    /// Maximum nesting of arrays and objects; values above [`JsonLimits::MAX_DEPTH`] are reduced to
    /// it.
    pub depth: usize,
    /// Maximum number of members in one object.
    pub keys: usize,
    /// Maximum number of values in the whole text.
    pub values: usize,
    /// Maximum length of the text of a number.
    pub number_digits: usize,
}

impl JsonLimits {
    /// The largest depth that can be allowed, because reading and dropping a tree use the stack.
    pub const MAX_DEPTH: usize = 128;

    /// Maximum number of JSON problems that one response lists.
    pub const MAX_PROBLEMS: usize = 100;

    /// Sets the maximum nesting of arrays and objects; values above [`JsonLimits::MAX_DEPTH`] are
    /// reduced to it.
    #[must_use]
    pub fn depth(mut self, depth: usize) -> Self {
        self.depth = depth;
        self
    }

    /// Sets the maximum number of members in one object.
    #[must_use]
    pub fn keys(mut self, keys: usize) -> Self {
        self.keys = keys;
        self
    }

    /// Sets the maximum number of values in the whole text.
    #[must_use]
    pub fn values(mut self, values: usize) -> Self {
        self.values = values;
        self
    }

    /// Sets the maximum length of the text of a number.
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
    /// Returns up to [`JsonLimits::MAX_PROBLEMS`] problems. Each names the path and the byte, and none
    /// repeats what was sent.
    ///
    /// The reader stops at a syntax error and at a limit. It continues after these problems:
    ///
    /// - duplicate keys, and numbers that are too large
    /// - NUL and other raw control characters
    /// - escapes that are not a Unicode scalar value, and bytes that are not UTF-8
    ///
    /// Requirements: UND-27.
    pub fn read(bytes: &[u8], limits: &JsonLimits) -> Result<Self, Vec<Problem>> {
        reader::read(bytes, limits)
    }

    /// Reads JSON that a store stored or this library wrote, or returns `None` if the text is not
    /// one JSON value.
    ///
    /// The strict rules of [`Json::read`] do not apply, so that a record with a NUL character, for
    /// example, is still readable. If keys are equal, the first one is used.
    #[must_use]
    pub fn read_kept(bytes: &[u8]) -> Option<Self> {
        reader::read_stored(bytes)
    }

    /// Appends the value as JSON without spaces.
    pub fn write(&self, out: &mut Vec<u8>) {
        write::write(self, out);
    }

    /// Returns the value as JSON without spaces.
    #[must_use]
    pub fn to_vec(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.write(&mut out);
        out
    }

    /// Returns whether the value is `null`.
    #[must_use]
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// Returns the value of a boolean.
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

    /// Returns the number.
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

    /// Returns the value of a number that is integral and fits into 64 bits.
    ///
    /// Requirements: TYP-02.
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        self.as_number().and_then(Number::as_i64)
    }

    /// Returns the text of a string.
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

    /// Returns the elements of an array.
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

    /// Returns the elements of an array for changes.
    ///
    /// Requirements: TYP-12.
    pub fn as_array_mut(&mut self) -> Option<&mut Vec<Json>> {
        if let Self::Array(value) = self {
            Some(value)
        } else {
            None
        }
    }

    /// Returns the object.
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

    /// Returns the object for changes.
    ///
    /// Requirements: TYP-11.
    pub fn as_object_mut(&mut self) -> Option<&mut Object> {
        if let Self::Object(value) = self {
            Some(value)
        } else {
            None
        }
    }

    /// Returns the object.
    ///
    /// # Errors
    ///
    /// Returns the value unchanged if it is not an object.
    ///
    /// Requirements: TYP-11.
    pub fn into_object(self) -> Result<Object, Self> {
        if let Self::Object(value) = self {
            Ok(value)
        } else {
            Err(self)
        }
    }

    /// Returns the type of the value for messages: `a string`, `an object`, ...
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
