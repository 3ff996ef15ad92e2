//! Small accessors of JSON values.

use super::{Json, JsonLimits, Number, Object};

impl Json {
    /// Creates a JSON number.
    #[must_use]
    pub fn integer(value: i64) -> Self {
        Self::Number(Number::from(value))
    }

    /// Returns whether the value is an empty object or array.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Array(items) => items.is_empty(),
            Self::Object(object) => object.is_empty(),
            _ => false,
        }
    }

    /// Returns whether the value has no content: `null`, an empty string, an empty object or array.
    #[must_use]
    pub fn is_empty_value(&self) -> bool {
        match self {
            Self::Null => true,
            Self::String(text) => text.is_empty(),
            other => other.is_empty(),
        }
    }

    /// Returns the object itself, or the objects of the array.
    pub fn objects_mut(&mut self) -> impl Iterator<Item = &mut Object> {
        let items: Vec<&mut Object> = match self {
            Self::Object(object) => vec![object],
            Self::Array(items) => items.iter_mut().filter_map(Self::as_object_mut).collect(),
            _ => Vec::new(),
        };
        items.into_iter()
    }
}

impl JsonLimits {
    /// Returns the limits for JSON that this library wrote itself.
    #[must_use]
    pub const fn trusted() -> Self {
        Self {
            depth: 256,
            keys: usize::MAX,
            values: usize::MAX,
            number_digits: usize::MAX,
        }
    }
}
