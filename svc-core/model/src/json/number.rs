//! Numbers as text.

use std::fmt;

use crate::value::{Amount, DecimalParts};

/// A JSON number, stored as the text that was sent. Two numbers are equal if their texts are equal.
///
/// Requirements: TYP-02 to TYP-04.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Number(Box<str>);

impl Number {
    /// Parses a text that is exactly one JSON number.
    ///
    /// Requirements: TYP-04.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        DecimalParts::parse(text).map(|_| Self(Box::from(text)))
    }

    /// Creates a number from a text that is known to be a JSON number.
    pub(super) fn from_checked(text: &str) -> Self {
        Self(Box::from(text))
    }

    /// Returns the shortest number that reads back as this value; `None` for infinities and NaN.
    ///
    /// Requirements: TYP-03.
    #[must_use]
    pub fn from_f64(value: f64) -> Option<Self> {
        // The debug format uses an exponent where the plain format would be an integer of more than
        // 64 bits.
        let text = format!("{value:?}");
        value
            .is_finite()
            .then(|| Self(Box::from(text.strip_suffix(".0").unwrap_or(&text))))
    }

    /// Returns the text as it was sent.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the value if it is integral and fits into 64 bits; `1.0` and `1e2` are integral.
    ///
    /// Requirements: TYP-02.
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        self.0
            .parse()
            .ok()
            .or_else(|| DecimalParts::parse(&self.0).and_then(DecimalParts::to_i64))
    }

    /// Returns the nearest 64-bit float; `None` if it is not finite.
    ///
    /// Requirements: TYP-03.
    #[must_use]
    pub fn as_f64(&self) -> Option<f64> {
        self.0.parse().ok().filter(|value: &f64| value.is_finite())
    }

    /// Returns `0` if the number is zero, and otherwise the number unchanged.
    ///
    /// Requirements: TYP-03.
    #[must_use]
    pub fn with_plain_zero(self) -> Self {
        match self.as_amount() {
            Some(amount) if amount.is_zero() => Self::from(amount),
            _ => self,
        }
    }

    /// Returns the exact decimal if it has at most 38 digits.
    ///
    /// Requirements: TYP-03, TYP-04.
    #[must_use]
    pub fn as_amount(&self) -> Option<Amount> {
        Amount::parse(&self.0)
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Debug for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Number({})", self.0)
    }
}

macro_rules! from {
    ($($source:ty),+) => {$(
        impl From<$source> for Number {
            fn from(value: $source) -> Self {
                Self(value.to_string().into_boxed_str())
            }
        }
    )+};
}

from!(i64, u64, i32, u32);

impl From<Amount> for Number {
    fn from(amount: Amount) -> Self {
        Self(format!("{amount}{}", amount.json_end()).into_boxed_str())
    }
}
