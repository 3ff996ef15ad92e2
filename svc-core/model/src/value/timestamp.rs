//! Timestamps.

use std::{fmt, time::Duration};

use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta, Timelike as _, Utc};

use super::date::{DateScanner, digits, write_date};

/// A timestamp: UTC with microseconds, years 0001 to 9999.
///
/// Requirements: TYP-06.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Timestamp(i64);

impl Timestamp {
    /// The first timestamp: `0001-01-01T00:00:00Z`.
    pub const MIN: Self = Self(-62_135_596_800_000_000);

    /// The last timestamp: `9999-12-31T23:59:59.999999Z`.
    pub const MAX: Self = Self(253_402_300_799_999_999);

    /// Creates the timestamp this many microseconds after 1970-01-01T00:00:00Z, limited to the
    /// range from [`Self::MIN`] to [`Self::MAX`].
    #[must_use]
    pub const fn from_micros(micros: i64) -> Self {
        if micros < Self::MIN.0 {
            Self::MIN
        } else if micros > Self::MAX.0 {
            Self::MAX
        } else {
            Self(micros)
        }
    }

    /// Returns the microseconds since 1970-01-01T00:00:00Z.
    #[must_use]
    pub const fn as_micros(self) -> i64 {
        self.0
    }

    /// Returns the current time of the system clock.
    #[must_use]
    pub fn now() -> Self {
        Self::from_micros(Utc::now().timestamp_micros())
    }

    /// Returns this timestamp, or `before` plus one microsecond if this one is not later.
    ///
    /// Modification dates therefore always increase, even if the clock is set back.
    ///
    /// Requirements: CRU-19, TYP-16.
    #[must_use]
    pub fn at_least_after(self, before: Self) -> Self {
        self.max(Self::from_micros(before.0.saturating_add(1)))
    }

    /// Subtracts a duration, limited to [`Self::MIN`].
    #[must_use]
    pub fn saturating_sub(self, time: Duration) -> Self {
        let micros = i64::try_from(time.as_micros()).unwrap_or(i64::MAX);
        Self::from_micros(self.0.saturating_sub(micros))
    }

    /// Adds a duration, limited to [`Self::MAX`].
    #[must_use]
    pub fn saturating_add(self, time: Duration) -> Self {
        let micros = i64::try_from(time.as_micros()).unwrap_or(i64::MAX);
        Self::from_micros(self.0.saturating_add(micros))
    }

    /// Parses an ISO 8601 date-time with a zone: `Z` or any offset. The seconds can be missing.
    ///
    /// Digits of the second after the sixth are truncated. Returns `None` for a date-time without a
    /// zone, or with a space instead of the `T`. Also returns `None` if it does not exist in the
    /// calendar, or is outside the years 0001 to 9999.
    ///
    /// Requirements: TYP-06.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut cursor = DateScanner::new(text);
        let date = cursor.date()?;
        cursor.one_of(b"Tt")?;
        let time = parse_time(&mut cursor)?;
        let offset = parse_offset(&mut cursor)?;
        if !cursor.is_done() {
            return None;
        }
        let utc = NaiveDateTime::new(date, time).checked_sub_signed(offset)?;
        let micros = utc.and_utc().timestamp_micros();
        (Self::MIN.0..=Self::MAX.0)
            .contains(&micros)
            .then_some(Self(micros))
    }

    /// Appends the timestamp as `2026-01-05T09:00:00Z`, without quotes. The six digits of the
    /// microseconds are written only if they are not zero.
    ///
    /// Requirements: TYP-06.
    pub fn write(&self, out: &mut Vec<u8>) {
        let (date, time) = self.civil();
        write_date(date, out);
        for (mark, part) in [
            (b'T', time.hour()),
            (b':', time.minute()),
            (b':', time.second()),
        ] {
            let [tens, ones] = digits(part);
            out.extend_from_slice(&[mark, tens, ones]);
        }
        let micros = time.nanosecond() / 1000;
        if micros != 0 {
            out.push(b'.');
            out.extend_from_slice(&digits::<6>(micros));
        }
        out.push(b'Z');
    }

    fn civil(self) -> (NaiveDate, NaiveTime) {
        // Every value between MIN and MAX exists in the calendar, so the default is never used.
        let utc = DateTime::from_timestamp_micros(self.0)
            .unwrap_or_default()
            .naive_utc();
        (utc.date(), utc.time())
    }
}

/// Parses `HH:MM`, or `HH:MM:SS` with a fraction of any length.
fn parse_time(cursor: &mut DateScanner<'_>) -> Option<NaiveTime> {
    let hour = cursor.digits(2)?;
    cursor.one_of(b":")?;
    let minute = cursor.digits(2)?;
    if cursor.one_of(b":").is_none() {
        return NaiveTime::from_hms_opt(hour, minute, 0);
    }
    let second = cursor.digits(2)?;
    let mut micros = 0_u32;
    if cursor.one_of(b".").is_some() {
        let digits = cursor.all_digits();
        if digits.is_empty() {
            return None;
        }
        for digit in digits
            .iter()
            .copied()
            .chain(std::iter::repeat(b'0'))
            .take(6)
        {
            micros = micros
                .checked_mul(10)?
                .checked_add(u32::from(digit.wrapping_sub(b'0')))?;
        }
    }
    NaiveTime::from_hms_micro_opt(hour, minute, second, micros)
}

/// Parses `Z`, `+HH:MM`, `+HHMM` or `+HH`.
fn parse_offset(cursor: &mut DateScanner<'_>) -> Option<TimeDelta> {
    let sign = cursor.one_of(b"Zz+-")?;
    if matches!(sign, b'Z' | b'z') {
        return Some(TimeDelta::zero());
    }
    let hours = cursor.digits(2)?;
    let colon = cursor.one_of(b":").is_some();
    let minutes = if colon || !cursor.is_done() {
        cursor.digits(2)?
    } else {
        0
    };
    if hours > 23 || minutes > 59 {
        return None;
    }
    let offset = TimeDelta::minutes(i64::from(hours.checked_mul(60)?.checked_add(minutes)?));
    if sign == b'-' {
        TimeDelta::zero().checked_sub(&offset)
    } else {
        Some(offset)
    }
}

impl From<Timestamp> for String {
    /// Returns the same text as [`Timestamp::write`] and `to_string`, without a formatter.
    fn from(timestamp: Timestamp) -> Self {
        let mut text = Vec::with_capacity(27);
        timestamp.write(&mut text);
        // The text is ASCII, so the default is never used.
        Self::from_utf8(text).unwrap_or_default()
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&String::from(*self))
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Timestamp({self})")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(text: &str) -> Option<String> {
        Timestamp::parse(text).map(|timestamp| timestamp.to_string())
    }

    #[test]
    fn typ_06_any_offset_becomes_utc() {
        for (sent, kept) in [
            ("2026-01-05T09:00:00Z", "2026-01-05T09:00:00Z"),
            ("2026-01-05t09:00:00z", "2026-01-05T09:00:00Z"),
            ("2026-01-05T09:00Z", "2026-01-05T09:00:00Z"),
            ("2026-01-05T09:00+0100", "2026-01-05T08:00:00Z"),
            ("2026-01-05T09:00:00+01:00", "2026-01-05T08:00:00Z"),
            ("2026-01-05T09:00:00+0530", "2026-01-05T03:30:00Z"),
            ("2026-01-05T23:00:00-08", "2026-01-06T07:00:00Z"),
            ("2026-01-05T09:00:00-00:00", "2026-01-05T09:00:00Z"),
            ("2026-01-05T09:00:00.0Z", "2026-01-05T09:00:00Z"),
            ("2026-01-05T09:00:00.5Z", "2026-01-05T09:00:00.500000Z"),
            (
                "2026-01-05T09:00:00.1234569999999Z",
                "2026-01-05T09:00:00.123456Z",
            ),
            ("1969-12-31T23:59:59.999999Z", "1969-12-31T23:59:59.999999Z"),
            ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"),
            ("9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999999Z"),
        ] {
            assert_eq!(text(sent).as_deref(), Some(kept), "TYP-06: {sent}");
        }
    }

    #[test]
    fn typ_06_anything_else_is_refused() {
        for bad in [
            "",
            "2026-01-05",
            "2026-01-05T09Z",
            "2026-01-05T09:00:00",
            "2026-01-05 09:00:00Z",
            "2026-02-30T09:00:00Z",
            "2026-01-05T24:00:00Z",
            "2026-01-05T23:59:60Z",
            "2026-01-05T09:60:00Z",
            "2026-01-05T09:00:00.Z",
            "2026-01-05T09:00:00Zx",
            "2026-01-05T09:00:00+24:00",
            "2026-01-05T09:00:00+01:60",
            "2026-01-05T09:00:00+1:00",
            "2026-01-05T09:00:00+01:",
            "2026-01-05T09:00:00+",
            "2026-01-05T09:00:00 Z",
            "0000-01-01T00:00:00Z",
            "0001-01-01T00:00:00+00:01",
            "9999-12-31T23:59:59-00:01",
            "10000-01-01T00:00:00Z",
            "2026-01-05T09:00:00,5Z",
            "1767603600",
            "2026-01-05T09:00:00UTC",
            " 2026-01-05T09:00:00Z",
        ] {
            assert_eq!(Timestamp::parse(bad), None, "TYP-06: {bad:?}");
        }
    }

    #[test]
    fn typ_06_the_ends_are_where_they_are_said_to_be() {
        assert_eq!(
            Timestamp::MIN,
            Timestamp::parse("0001-01-01T00:00:00Z").unwrap(),
            "TYP-06"
        );
        assert_eq!(
            Timestamp::MAX,
            Timestamp::parse("9999-12-31T23:59:59.999999Z").unwrap(),
            "TYP-06"
        );
        assert_eq!(Timestamp::from_micros(i64::MAX), Timestamp::MAX, "TYP-06");
        assert_eq!(Timestamp::from_micros(i64::MIN), Timestamp::MIN, "TYP-06");
        assert!(Timestamp::now() > Timestamp::from_micros(0), "TYP-06");
    }

    proptest! {
        #![proptest_config(crate::value::proptest_config::config())]

        #[test]
        fn typ_06_round_trip(micros in Timestamp::MIN.0..=Timestamp::MAX.0) {
            let timestamp = Timestamp::from_micros(micros);
            prop_assert_eq!(timestamp.as_micros(), micros, "TYP-06");
            prop_assert_eq!(Timestamp::parse(&timestamp.to_string()), Some(timestamp), "TYP-06");
        }

        #[test]
        fn typ_06_text_sorts_as_time(a in any::<u32>(), b in any::<u32>()) {
            let [a, b] = [a, b].map(|seconds| Timestamp::from_micros(i64::from(seconds) * 1_000_000));
            prop_assert_eq!(a.cmp(&b), a.to_string().cmp(&b.to_string()), "TYP-06");
        }

        #[test]
        fn typ_06_any_text_is_safe(text in "[-+:.0-9TZtz ]{0,40}") {
            if let Some(timestamp) = Timestamp::parse(&text) {
                prop_assert_eq!(Timestamp::parse(&timestamp.to_string()), Some(timestamp), "TYP-06");
            }
        }
    }
}
