//! A column of a mapping, and how it stores the values of a field.

use std::borrow::Cow;

use svc_core::value::{Amount, typed_phone};

/// A column of a table, and how it stores the values of a field.
///
/// A name alone is a column that stores the values as they are.
///
/// ```
/// use svc_sql::{Column, TableMapping};
/// use svc_core::model::Kind;
///
/// TableMapping::new(Kind::Donation, "donations")
///     .field("currency", "currency_code")
///     .field("amount", Column::new("amount_cents").scaled(2))
///     .field("transparence", Column::new("is_public").flag("Transparent", "Private"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    pub(super) name: String,
    pub(super) conversion: Conversion,
}

/// How a column stores the values of a field.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) enum Conversion {
    /// As they are.
    #[default]
    None,
    /// Pairs of a value in the API and its value in the column. Other values are rejected.
    Values(Vec<(String, String)>),
    /// Pairs of a value in the API and its name in the column. Other values are stored as they are.
    Names(Vec<(String, String)>),
    /// Whole numbers, in units of this many digits after the decimal point.
    Scaled(u32),
    /// Phone numbers as people write them in this country.
    Phone(String),
    /// A list of texts, separated by this text.
    Joined(String),
}

impl Column {
    /// Creates a column that stores the values of a field as they are.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            conversion: Conversion::None,
        }
    }

    /// Stores each value of an enumeration as another value: pairs of a value in the API and its
    /// value in the column. Other values are rejected.
    #[must_use]
    pub fn values<const N: usize>(mut self, values: [(&str, &str); N]) -> Self {
        self.conversion = Conversion::Values(pairs(values));
        self
    }

    /// Stores one value of an enumeration as true, and another one as false. Other values are
    /// rejected.
    #[must_use]
    pub fn flag(self, if_true: &str, if_false: &str) -> Self {
        self.values([(if_true, "true"), (if_false, "false")])
    }

    /// Stores codes as names: pairs of a code in the API and its name in the column, such as `NY` and
    /// `New York`. Names are read without regard to case. Other values are stored and read as they
    /// are.
    ///
    /// See [`region_names`](svc_core::value::region_names) and
    /// [`country_names`](svc_core::value::country_names).
    #[must_use]
    pub fn names<'a>(mut self, names: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        self.conversion = Conversion::Names(pairs(names));
        self
    }

    /// Stores an amount as a whole number of its smallest unit: with 2 digits, 12.50 as 1250. An
    /// amount with more digits is rejected.
    #[must_use]
    pub fn scaled(mut self, digits: u32) -> Self {
        self.conversion = Conversion::Scaled(digits);
        self
    }

    /// Stores a list of texts as one text, such as the lines of an address with `"\n"`, or languages with
    /// `", "`. Spaces around a text do not count. A text that contains the separator is rejected.
    #[must_use]
    pub fn joined(mut self, separator: impl Into<String>) -> Self {
        self.conversion = Conversion::Joined(separator.into());
        self
    }

    /// Reads phone numbers as people write them, such as `(202) 555-0104`. A number without a country
    /// code is one of this country, which is a code of ISO 3166-1 such as `US`. A text that is not
    /// a phone number is not read.
    ///
    /// A changed number is stored as `+12025550104`.
    ///
    /// Requirements: RES-phone_number-03.
    #[must_use]
    pub fn phone(mut self, country: impl Into<String>) -> Self {
        self.conversion = Conversion::Phone(country.into());
        self
    }
}

impl From<&str> for Column {
    fn from(name: &str) -> Self {
        Self::new(name)
    }
}

impl From<String> for Column {
    fn from(name: String) -> Self {
        Self::new(name)
    }
}

fn pairs<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Vec<(String, String)> {
    pairs
        .into_iter()
        .map(|(value, stored)| (value.to_owned(), stored.to_owned()))
        .collect()
}

impl Conversion {
    /// Returns the API value of a text in the column. `None` if it has none.
    pub(crate) fn read<'a>(&'a self, text: &'a str) -> Option<Cow<'a, str>> {
        Some(match self {
            Self::None | Self::Joined(_) => Cow::Borrowed(text),
            Self::Values(values) => Cow::Borrowed(
                values
                    .iter()
                    .find(|(_, stored)| stored == text)
                    .map_or(text, |(value, _)| value),
            ),
            Self::Names(names) => Cow::Borrowed(
                names
                    .iter()
                    .find(|(_, name)| name.to_lowercase() == text.trim().to_lowercase())
                    .map_or(text, |(value, _)| value),
            ),
            Self::Scaled(digits) => Cow::Owned(from_units(text, *digits)?),
            Self::Phone(country) => Cow::Owned(typed_phone(text, country).ok()?.digits),
        })
    }

    /// Returns the text of the column for an API value. `None` if the column cannot store it.
    pub(crate) fn write(&self, value: &str) -> Option<String> {
        Some(match self {
            Self::None | Self::Joined(_) => value.to_owned(),
            Self::Values(pairs) | Self::Names(pairs) => pairs
                .iter()
                .find(|(of, _)| of == value)
                .map_or(value, |(_, stored)| stored)
                .to_owned(),
            Self::Scaled(digits) => to_units(value, *digits)?,
            Self::Phone(_) => format!("+{value}"),
        })
    }

    /// Returns the name of the method that sets the conversion.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::None => "",
            Self::Values(_) => ".values(...)",
            Self::Names(_) => ".names(...)",
            Self::Scaled(_) => ".scaled(...)",
            Self::Phone(_) => ".phone(...)",
            Self::Joined(_) => ".joined(...)",
        }
    }

    /// Returns the pairs of a column that only accepts certain values.
    pub(crate) fn values(&self) -> &[(String, String)] {
        match self {
            Self::Values(values) => values,
            _ => &[],
        }
    }
}

/// Returns an amount from a whole number of units: 1250 with 2 digits is 12.50.
fn from_units(text: &str, digits: u32) -> Option<String> {
    let units = text.trim().parse().ok()?;
    Some(Amount::new(units, digits)?.to_string())
}

/// Returns the whole number of units of an amount. `None` if the amount is not a multiple of the
/// unit.
fn to_units(value: &str, digits: u32) -> Option<String> {
    let amount = Amount::parse(value).filter(|amount| amount.fits_digits(digits))?;
    let units = if let Some(missing) = digits.checked_sub(amount.scale()) {
        let factor = 10_i128.checked_pow(missing)?;
        amount.mantissa().checked_mul(factor)?
    } else {
        // The digits after them are zeros.
        let zeros = amount.scale().checked_sub(digits)?;
        amount.mantissa().checked_div(10_i128.checked_pow(zeros)?)?
    };
    Some(units.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_whole_numbers_of_units() {
        for (units, digits, amount) in [
            ("1250", 2, "12.50"),
            ("5", 2, "0.05"),
            ("-5", 2, "-0.05"),
            ("0", 2, "0"),
            ("7", 0, "7"),
            ("-1234567", 3, "-1234.567"),
        ] {
            let column = Conversion::Scaled(digits);
            assert_eq!(column.read(units).as_deref(), Some(amount));
            assert_eq!(column.write(amount).as_deref(), Some(units));
        }
        let cents = Conversion::Scaled(2);
        assert_eq!(cents.write("12.5").as_deref(), Some("1250"));
        assert_eq!(cents.write("12.500").as_deref(), Some("1250"));
        assert_eq!(cents.write("12.505"), None, "a part of a cent");
        assert_eq!(cents.write("1e2").as_deref(), Some("10000"));
        assert_eq!(cents.read("12.5"), None, "not a whole number");
    }

    #[test]
    fn names_are_read_without_regard_to_case() {
        let states = Conversion::Names(pairs([("NY", "New York")]));
        assert_eq!(states.read("new york ").as_deref(), Some("NY"));
        assert_eq!(states.read("BY").as_deref(), Some("BY"));
        assert_eq!(states.write("NY").as_deref(), Some("New York"));
        assert_eq!(states.write("BY").as_deref(), Some("BY"));
    }

    #[test]
    fn phone_numbers_are_read_as_they_are_written() {
        let phones = Conversion::Phone("US".to_owned());
        assert_eq!(
            phones.read("(202) 555-0104").as_deref(),
            Some("12025550104")
        );
        assert_eq!(phones.read("n/a"), None);
        assert_eq!(phones.write("12025550104").as_deref(), Some("+12025550104"));
    }
}
