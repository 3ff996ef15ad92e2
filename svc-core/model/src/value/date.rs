//! Calendar dates.

use std::fmt;

use chrono::{Datelike as _, NaiveDate};

/// A calendar date: `YYYY-MM-DD`, years 0001 to 9999.
///
/// Requirements: TYP-07.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Date(NaiveDate);

impl Date {
    /// Creates a date if it exists in the calendar.
    ///
    /// Requirements: TYP-07.
    #[must_use]
    pub fn new(year: u16, month: u8, day: u8) -> Option<Self> {
        if !(1..=9999).contains(&year) {
            return None;
        }
        NaiveDate::from_ymd_opt(i32::from(year), u32::from(month), u32::from(day)).map(Self)
    }

    /// Parses `YYYY-MM-DD`; the date must exist.
    ///
    /// Requirements: TYP-07.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut cursor = DateScanner::new(text);
        let date = cursor.date()?;
        cursor.is_done().then_some(Self(date))
    }

    /// Returns the year, 1 to 9999.
    #[must_use]
    pub fn year(&self) -> i32 {
        self.0.year()
    }

    /// Returns the month, 1 to 12.
    #[must_use]
    pub fn month(&self) -> u32 {
        self.0.month()
    }

    /// Returns the day of the month, 1 to 31.
    #[must_use]
    pub fn day(&self) -> u32 {
        self.0.day()
    }

    /// Appends `YYYY-MM-DD`, without quotes.
    ///
    /// Requirements: TYP-07.
    pub fn write(&self, out: &mut Vec<u8>) {
        write_date(self.0, out);
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:04}-{:02}-{:02}",
            self.0.year(),
            self.0.month(),
            self.0.day()
        )
    }
}

impl fmt::Debug for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Date({self})")
    }
}

/// Appends a date with a year of four digits.
pub(super) fn write_date(date: NaiveDate, out: &mut Vec<u8>) {
    let [tens, ones] = digits(date.month());
    out.extend_from_slice(&digits::<4>(date.year().unsigned_abs()));
    out.extend_from_slice(&[b'-', tens, ones, b'-']);
    out.extend_from_slice(&digits::<2>(date.day()));
}

/// Returns exactly `N` decimal digits.
#[must_use]
pub fn digits<const N: usize>(mut value: u32) -> [u8; N] {
    let mut digits = [b'0'; N];
    for digit in digits.iter_mut().rev() {
        // A remainder below ten always fits.
        *digit = b'0'.saturating_add(u8::try_from(value % 10).unwrap_or(0));
        value /= 10;
    }
    digits
}

/// Parses dates and times at the start of a text.
pub(super) struct DateScanner<'a>(&'a [u8]);

impl<'a> DateScanner<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self(text.as_bytes())
    }

    /// Parses `YYYY-MM-DD` of an existing date, years 0001 to 9999.
    pub(super) fn date(&mut self) -> Option<NaiveDate> {
        let year = self.digits(4)?;
        self.one_of(b"-")?;
        let month = self.digits(2)?;
        self.one_of(b"-")?;
        let day = self.digits(2)?;
        if year == 0 {
            return None;
        }
        NaiveDate::from_ymd_opt(i32::try_from(year).ok()?, month, day)
    }

    /// Parses exactly `count` ASCII digits (at most nine) as a number.
    pub(super) fn digits(&mut self, count: usize) -> Option<u32> {
        let (digits, rest) = self.0.split_at_checked(count)?;
        let mut value = 0_u32;
        for digit in digits {
            let digit = digit.is_ascii_digit().then(|| digit.wrapping_sub(b'0'))?;
            value = value.checked_mul(10)?.checked_add(u32::from(digit))?;
        }
        self.0 = rest;
        Some(value)
    }

    /// Returns all digits at the start.
    pub(super) fn all_digits(&mut self) -> &'a [u8] {
        let end = self
            .0
            .iter()
            .position(|byte| !byte.is_ascii_digit())
            .unwrap_or(self.0.len());
        let (digits, rest) = self.0.split_at_checked(end).unwrap_or((self.0, &[]));
        self.0 = rest;
        digits
    }

    /// Parses one of the given characters.
    pub(super) fn one_of(&mut self, accepted: &[u8]) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        accepted.contains(first).then(|| {
            self.0 = rest;
            *first
        })
    }

    pub(super) fn is_done(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn typ_07_only_real_dates_in_one_form() {
        for good in [
            "2024-02-29",
            "2000-02-29",
            "0001-01-01",
            "9999-12-31",
            "2026-01-05",
        ] {
            assert_eq!(
                Date::parse(good).map(|date| date.to_string()).as_deref(),
                Some(good),
                "TYP-07"
            );
        }
        for bad in [
            "",
            "2023-02-29",
            "1900-02-29",
            "2026-13-01",
            "2026-00-01",
            "2026-01-00",
            "2026-04-31",
            "0000-01-01",
            "2026-1-5",
            "20260105",
            "2026-01-05T00:00:00Z",
            "2026-01-05 ",
            " 2026-01-05",
            "-026-01-05",
            "+026-01-05",
            "02026-01-05",
            "2026/01/05",
            "٢٠٢٦-01-05",
            "2026-W01-1",
        ] {
            assert_eq!(Date::parse(bad), None, "TYP-07: {bad:?}");
        }
    }

    proptest! {
        #![proptest_config(crate::value::proptest_config::config())]

        #[test]
        fn typ_07_round_trip(year in 1..=9999_u16, month in 1..=12_u8, day in 1..=31_u8) {
            if let Some(date) = Date::new(year, month, day) {
                prop_assert_eq!(Date::parse(&date.to_string()), Some(date), "TYP-07");
                let mut bytes = Vec::new();
                date.write(&mut bytes);
                prop_assert_eq!(String::from_utf8(bytes).unwrap(), date.to_string(), "TYP-07");
            }
        }

        #[test]
        fn typ_07_any_text_is_safe(text in any::<String>()) {
            let _ = Date::parse(&text);
        }
    }
}
