//! Reads days and times in the notations of different countries.

use serde::{Deserialize, Serialize};
use svc_core::value::{Date, Timestamp};

use crate::names::plain_name;

/// The first letters of the names of months in English, German, French and Spanish, as plain names. The
/// longest that matches counts.
const MONTHS: [&[&str]; 12] = [
    &["jan", "ene"],
    &["feb", "fev"],
    &["mar", "marz"],
    &["apr", "avr", "abr"],
    &["may", "mai"],
    &["jun", "juin"],
    &["jul", "juil"],
    &["aug", "aou", "ago"],
    &["sep", "set"],
    &["oct", "okt"],
    &["nov"],
    &["dec", "dez", "dic"],
];

/// The first year of two digits that is in the 20th century. People who are imported are usually born before 2015.
const BIRTHS: u16 = 15;
/// The same for other dates.
const ACTIONS: u16 = 70;

/// Abbreviations of time zones as plain names, with their offsets.
const ZONES: [(&str, &str); 19] = [
    ("z", "+00:00"),
    ("utc", "+00:00"),
    ("gmt", "+00:00"),
    ("bst", "+01:00"),
    ("cet", "+01:00"),
    ("mez", "+01:00"),
    ("cest", "+02:00"),
    ("mesz", "+02:00"),
    ("est", "-05:00"),
    ("edt", "-04:00"),
    ("cst", "-06:00"),
    ("cdt", "-05:00"),
    ("mst", "-07:00"),
    ("mdt", "-06:00"),
    ("pst", "-08:00"),
    ("pdt", "-07:00"),
    ("akst", "-09:00"),
    ("akdt", "-08:00"),
    ("hst", "-10:00"),
];

/// The order of day and month.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DateOrder {
    /// It is not known.
    #[default]
    Unknown,
    /// The day is before the month, as in most countries.
    DayFirst,
    /// The month is before the day, as in the United States.
    MonthFirst,
}

/// The order that the cells of a column show.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct DateEvidence {
    day_first: u64,
    month_first: u64,
    /// Cells that are two dates.
    ambiguous: u64,
}

impl DateEvidence {
    pub(crate) fn add(&mut self, text: &str) {
        let (is_day_first, is_month_first) = match notation(text, BIRTHS) {
            Some(Notation::Numbers { first, second, .. }) => {
                if first <= 12 && second <= 12 && first != second {
                    self.ambiguous = self.ambiguous.saturating_add(1);
                }
                (first > 12 && second <= 12, first <= 12 && second > 12)
            }
            // The day is first in 31.05.1990, but not in 1990.05.31.
            Some(Notation::Known(_)) => {
                let first = text.trim_start().split('.').next().unwrap_or_default();
                let is_day = matches!(first.len(), 1 | 2) && text.contains('.');
                (
                    is_day && first.bytes().all(|one| one.is_ascii_digit()),
                    false,
                )
            }
            None => (false, false),
        };
        self.day_first = self.day_first.saturating_add(is_day_first.into());
        self.month_first = self.month_first.saturating_add(is_month_first.into());
    }

    /// Whether a cell is two dates, and no other cell shows which one it is.
    pub(crate) fn is_ambiguous(self) -> bool {
        self.ambiguous > 0 && self.order() == DateOrder::Unknown
    }

    /// Returns the order, if all cells agree on it.
    pub(crate) fn order(self) -> DateOrder {
        match (self.day_first, self.month_first) {
            (1.., 0) => DateOrder::DayFirst,
            (0, 1..) => DateOrder::MonthFirst,
            _ => DateOrder::Unknown,
        }
    }
}

/// Why a text is not a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum DateError {
    #[error("is not a date, such as 1990-05-31")]
    NoDate,
    #[error("has no time of day that can be read, such as 14:03 or 2:03 PM")]
    NoTime,
    #[error(
        "can be two dates, because the order of day and month is not known; use --dates day-first or month-first"
    )]
    Ambiguous,
}

/// A day, whose year can be unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PartialDate {
    pub(crate) year: Option<u16>,
    pub(crate) month: u8,
    pub(crate) day: u8,
}

/// The parts of a date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Notation {
    /// The month and the day are known.
    Known(PartialDate),
    /// Two numbers whose order is not known.
    Numbers {
        first: u8,
        second: u8,
        year: Option<u16>,
    },
}

/// Returns the day that a text names, such as a birthdate.
pub(crate) fn day_of(text: &str, order: DateOrder) -> Result<PartialDate, DateError> {
    day_since(text, order, BIRTHS)
}

/// Returns the time that a text names, such as `5/31/2024 2:03 PM`. A day without a time starts at midnight, and a
/// time without a time zone is in UTC.
pub(crate) fn timestamp_of(text: &str, order: DateOrder) -> Result<Timestamp, DateError> {
    let text = text.trim();
    if let Some(timestamp) = Timestamp::parse(text) {
        return Ok(timestamp);
    }
    let PartialDate { year, month, day } = day_since(text, order, ACTIONS)?;
    let year = year.ok_or(DateError::NoDate)?;
    let time = match text.find(':') {
        Some(colon) => time_at(text, colon).ok_or(DateError::NoTime)?,
        None => "00:00:00Z".to_owned(),
    };
    let timestamp = Timestamp::parse(&format!("{year:04}-{month:02}-{day:02}T{time}"));
    timestamp.ok_or(DateError::NoTime)
}

/// Returns the time whose hours end at a colon, as in a timestamp.
fn time_at(text: &str, colon: usize) -> Option<String> {
    let (before, after) = text.split_at_checked(colon)?;
    let is_digit = |one: char| one.is_ascii_digit();
    let hours = before.get(before.trim_end_matches(is_digit).len()..)?;
    let hours: u8 = hours.parse().ok()?;
    let after = after.strip_prefix(':')?;
    // Minutes, and perhaps seconds with a fraction.
    let end = after.find(|one: char| !is_digit(one) && !matches!(one, ':' | '.' | ','));
    let (rest, after) = after.split_at_checked(end.unwrap_or(after.len()))?;
    let after = after.trim().trim_matches(['(', ')']);
    let plain: String = after
        .chars()
        .filter(|one| *one != '.' && !one.is_whitespace())
        .collect();
    let lower = plain.to_lowercase();
    let (half, zone) = match (lower.strip_prefix("am"), lower.strip_prefix("pm")) {
        (Some(zone), _) => (Some(0), zone),
        (None, Some(zone)) => (Some(12), zone),
        (None, None) => (None, lower.as_str()),
    };
    let hours = match half {
        Some(half) if (1..=12).contains(&hours) => hours.checked_rem(12)?.checked_add(half)?,
        Some(_) => return None,
        None => hours,
    };
    let zone = zone.trim_matches(['(', ')']);
    let zone = match ZONES.iter().find(|(name, _)| *name == zone) {
        Some((_, offset)) => offset,
        None if zone.is_empty() => "Z",
        None => zone,
    };
    Some(format!("{hours:02}:{}{zone}", rest.replace(',', ".")))
}

fn day_since(text: &str, order: DateOrder, century: u16) -> Result<PartialDate, DateError> {
    let day = match notation(text, century).ok_or(DateError::NoDate)? {
        Notation::Known(day) => day,
        Notation::Numbers {
            first,
            second,
            year,
        } => {
            let (month, day) = match order {
                DateOrder::DayFirst => (second, first),
                DateOrder::MonthFirst => (first, second),
                DateOrder::Unknown if first > 12 || first == second => (second, first),
                DateOrder::Unknown if second > 12 => (first, second),
                DateOrder::Unknown => return Err(DateError::Ambiguous),
            };
            PartialDate { year, month, day }
        }
    };
    // 2000 is a leap year and has a 29 February.
    let exists = Date::new(day.year.unwrap_or(2000), day.month, day.day).is_some();
    exists.then_some(day).ok_or(DateError::NoDate)
}

/// Whether a text is the date that databases write for none, such as `0000-00-00`.
pub(crate) fn is_no_date(text: &str) -> bool {
    let mut digits = text.chars().filter(char::is_ascii_digit).peekable();
    digits.peek().is_some() && digits.all(|digit| digit == '0')
}

/// Reads a date. A year of two digits is in the 20th century from this one on.
fn notation(text: &str, century: u16) -> Option<Notation> {
    // The time after a date, such as `1990-05-31T00:00:00Z` or `5/31/1990 12:00 AM`.
    let words = text
        .split_whitespace()
        .take_while(|word| !word.contains(':') || word.contains('T'));
    let text = words.collect::<Vec<_>>().join(" ");
    let text = match text.split_once('T') {
        Some((date, time)) if time.contains(':') => date,
        _ => text.as_str(),
    };
    let mut parts = text
        .split(|one: char| !one.is_alphanumeric())
        .filter(|part| !part.is_empty());
    let (first, second, third) = (parts.next()?, parts.next()?, parts.next());
    if parts.next().is_some() {
        return None;
    }
    let number = |text: &str| text.parse::<u8>().ok();
    let known = |year, month, day| Some(Notation::Known(PartialDate { year, month, day }));
    if first.len() == 4 && first.bytes().all(|one| one.is_ascii_digit()) {
        let month = number(second).or_else(|| month(second))?;
        return known(first.parse().ok(), month, number(third?)?);
    }
    let year = match third {
        Some(third) => Some(year(third, century)?),
        None => None,
    };
    if let Some(month) = month(first) {
        return known(year, month, number(ordinal(second))?);
    }
    if let Some(month) = month(second) {
        return known(year, month, number(ordinal(first))?);
    }
    let (first, second) = (number(first)?, number(second)?);
    // Full stops are usual only where the day is first.
    if text.contains('.') {
        return known(year, second, first);
    }
    Some(Notation::Numbers {
        first,
        second,
        year,
    })
}

/// Returns the number in `1st`, `2nd` or `3rd`.
fn ordinal(text: &str) -> &str {
    text.trim_end_matches(|one: char| one.is_alphabetic())
}

/// Returns the year for four digits, or for two.
fn year(text: &str, century: u16) -> Option<u16> {
    let year: u16 = text.parse().ok()?;
    match text.len() {
        4 => Some(year),
        2 if year < century => Some(year.saturating_add(2000)),
        2 => Some(year.saturating_add(1900)),
        _ => None,
    }
}

fn month(text: &str) -> Option<u8> {
    let plain = plain_name(text);
    if plain.len() < 3 || plain.bytes().any(|one| one.is_ascii_digit()) {
        return None;
    }
    let place = MONTHS
        .iter()
        .position(|starts| starts.iter().any(|start| plain.starts_with(start)))?;
    u8::try_from(place.saturating_add(1)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str, order: DateOrder) -> Result<String, DateError> {
        day_of(text, order).map(|PartialDate { year, month, day }| match year {
            Some(year) => format!("{year:04}-{month:02}-{day:02}"),
            None => format!("{month:02}-{day:02}"),
        })
    }

    #[test]
    fn days_in_many_notations() {
        for text in [
            "1990-05-31",
            "1990/5/31",
            "1990-05-31T00:00:00Z",
            "31.05.1990",
            "31. 5. 1990",
            "5/31/1990",
            "31/5/1990",
            "05-31-90",
            "5/31/1990 12:00 AM",
            "May 31, 1990 12:00 AM",
            "31 May 1990",
            "May 31st, 1990",
            "31. Mai 1990",
            "31 mayo 1990",
        ] {
            assert_eq!(
                day(text, DateOrder::Unknown).as_deref(),
                Ok("1990-05-31"),
                "{text}"
            );
        }
        for (text, expected) in [
            ("05/31", "05-31"),
            ("29 Feb", "02-29"),
            ("1 août 1990", "1990-08-01"),
            ("1. März 90", "1990-03-01"),
            ("1 juin 2001", "2001-06-01"),
            ("1 juillet 2001", "2001-07-01"),
        ] {
            assert_eq!(
                day(text, DateOrder::Unknown).as_deref(),
                Ok(expected),
                "{text}"
            );
        }
    }

    #[test]
    fn the_order_of_day_and_month_decides() {
        assert_eq!(
            day("3/4/1990", DateOrder::DayFirst).as_deref(),
            Ok("1990-04-03")
        );
        assert_eq!(
            day("3/4/1990", DateOrder::MonthFirst).as_deref(),
            Ok("1990-03-04")
        );
        assert_eq!(
            day("3/4/1990", DateOrder::Unknown),
            Err(DateError::Ambiguous)
        );
        assert_eq!(
            day("31/5/1990", DateOrder::MonthFirst),
            Err(DateError::NoDate)
        );
        assert!(is_no_date("0000-00-00") && !is_no_date("") && !is_no_date("2000-01-01"));
        assert_eq!(
            day("4/4/1990", DateOrder::Unknown).as_deref(),
            Ok("1990-04-04")
        );
        for text in [
            "",
            "1990",
            "soon",
            "30 Feb",
            "13/13/1990",
            "30.02.1990",
            "1/2/3/4",
            "0/0/0",
            "1990-13-01",
        ] {
            assert_eq!(
                day(text, DateOrder::DayFirst),
                Err(DateError::NoDate),
                "{text}"
            );
        }
    }

    #[test]
    fn times_in_many_notations() {
        for (text, expected) in [
            ("2024-05-31", "2024-05-31T00:00:00Z"),
            ("2024-05-31T14:03:22Z", "2024-05-31T14:03:22Z"),
            ("2024-05-31T14:03:22-05:00", "2024-05-31T19:03:22Z"),
            ("2024-05-31T14:03:22", "2024-05-31T14:03:22Z"),
            ("2024-05-31 14:03:22", "2024-05-31T14:03:22Z"),
            ("2024-05-31 14:03:22.5", "2024-05-31T14:03:22.500000Z"),
            ("2024-05-31 14:03:22 -0500", "2024-05-31T19:03:22Z"),
            ("2024-05-31 14:03:22 UTC", "2024-05-31T14:03:22Z"),
            ("2024-05-31 14:03:22 EST", "2024-05-31T19:03:22Z"),
            ("31.05.2024 14:03", "2024-05-31T14:03:00Z"),
            ("31.05.24, 14:03", "2024-05-31T14:03:00Z"),
            ("5/31/24 2:03 PM", "2024-05-31T14:03:00Z"),
            ("5/31/2024 12:03 am", "2024-05-31T00:03:00Z"),
            ("5/31/2024 12:03 p.m. (EDT)", "2024-05-31T16:03:00Z"),
            ("May 31, 2024 2:03:22 PM", "2024-05-31T14:03:22Z"),
            ("31/05/99", "1999-05-31T00:00:00Z"),
        ] {
            let read = timestamp_of(text, DateOrder::Unknown).map(|read| read.to_string());
            assert_eq!(read.as_deref(), Ok(expected), "{text}");
        }
        for (text, why) in [
            ("3/4/2024 14:03", DateError::Ambiguous),
            ("5/31", DateError::NoDate),
            ("soon", DateError::NoDate),
            ("14:03", DateError::NoDate),
            ("2024-05-31 25:03", DateError::NoTime),
            ("2024-05-31 13:03 PM", DateError::NoTime),
            ("2024-05-31 14:03 Mars", DateError::NoTime),
        ] {
            assert_eq!(timestamp_of(text, DateOrder::Unknown), Err(why), "{text}");
        }
        let first = timestamp_of("3/4/2024 14:03", DateOrder::DayFirst);
        assert_eq!(
            first.map(|read| read.to_string()).as_deref(),
            Ok("2024-04-03T14:03:00Z")
        );
    }

    #[test]
    fn a_column_shows_its_order() {
        let order = |cells: &[&str]| {
            let mut evidence = DateEvidence::default();
            for cell in cells {
                evidence.add(cell);
            }
            evidence.order()
        };
        assert_eq!(order(&["3/4/1990", "5/31/1990", ""]), DateOrder::MonthFirst);
        assert_eq!(order(&["3/4/1990", "31/5/1990"]), DateOrder::DayFirst);
        assert_eq!(order(&["31/5/1990", "5/31/1990"]), DateOrder::Unknown);
        assert_eq!(order(&["3/4/1990"]), DateOrder::Unknown);
        assert_eq!(order(&["3/4/1990", "31.05.1990"]), DateOrder::DayFirst);
        assert_eq!(order(&["3/4/1990", "1990.05.31"]), DateOrder::Unknown);
    }
}
