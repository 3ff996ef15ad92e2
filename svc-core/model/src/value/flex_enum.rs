//! Closed and flexible enums.

use std::fmt;

/// The listed values of an `enum` or a `flexenum`.
///
/// Requirements: TYP-08, TYP-09.
pub trait ClosedEnum: Copy {
    /// Every listed value as it is in JSON.
    ///
    /// Requirements: TYP-08.
    const VALUES: &'static [&'static str];

    /// Returns the value as it is in JSON.
    ///
    /// Requirements: TYP-08.
    fn as_str(self) -> &'static str;

    /// Returns the listed value with this text; `None` for any other text.
    ///
    /// Requirements: TYP-08.
    fn parse(text: &str) -> Option<Self>;
}

/// A `flexenum`: a listed value, or any other string.
///
/// Requirements: TYP-09, TYP-10.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum FlexEnum<E> {
    /// One of the listed values.
    ///
    /// Requirements: TYP-09.
    Listed(E),
    /// Any other string, exactly as sent. Create it with [`FlexEnum::parse`], so that it never
    /// contains a listed value.
    ///
    /// Requirements: TYP-09.
    Other(String),
}

impl<E: ClosedEnum> FlexEnum<E> {
    /// Accepts any string: listed values become [`FlexEnum::Listed`], all others
    /// [`FlexEnum::Other`].
    ///
    /// Requirements: TYP-09.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        E::parse(text).map_or_else(|| Self::Other(text.to_owned()), Self::Listed)
    }

    /// Returns the value as it is in JSON.
    ///
    /// Requirements: TYP-09.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Listed(known) => known.as_str(),
            Self::Other(text) => text,
        }
    }

    /// Returns the value if it is a listed one.
    ///
    /// Requirements: TYP-09.
    #[must_use]
    pub fn as_listed(&self) -> Option<E> {
        match self {
            Self::Listed(known) => Some(*known),
            Self::Other(_) => None,
        }
    }
}

impl<E: ClosedEnum> From<&str> for FlexEnum<E> {
    fn from(text: &str) -> Self {
        Self::parse(text)
    }
}

impl<E: ClosedEnum> fmt::Display for FlexEnum<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    struct Yes;

    impl ClosedEnum for Yes {
        const VALUES: &'static [&'static str] = &["yes"];

        fn as_str(self) -> &'static str {
            "yes"
        }

        fn parse(text: &str) -> Option<Self> {
            (text == "yes").then_some(Self)
        }
    }

    #[test]
    fn typ_09_any_string_is_taken_and_kept() {
        assert_eq!(FlexEnum::parse("yes"), FlexEnum::Listed(Yes), "TYP-09");
        for other in ["", "Yes", "perhaps", "✊"] {
            let value = FlexEnum::<Yes>::parse(other);
            assert_eq!((value.as_str(), value.as_listed()), (other, None), "TYP-09");
        }
    }
}
