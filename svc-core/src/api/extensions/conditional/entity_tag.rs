//! Entity tags, lists of entity tags in requests, and HTTP dates (RFC 9110, sections 5.6.7 and
//! 8.8).

use std::fmt::{self, Write};

use chrono::{DateTime, Datelike, NaiveDateTime, Timelike};
use http::{HeaderMap, HeaderName, HeaderValue};

use crate::{
    record::RawRecord,
    value::{Timestamp, digest, digits, hex_digits},
};

const MICROS: i64 = 1_000_000;
const WEEKDAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// The strong entity tag of a representation, with 128 bits.
///
/// It depends on every byte of the representation. For a record it also depends on its version, if
/// the backend has one.
///
/// Equal bytes have the same tag in every process, also after a restart. Whatever else influences a
/// response (the URL, the query, the rights of the caller) influences the tag only through the
/// bytes.
///
/// # Examples
///
/// ```
/// use svc_core::api::EntityTag;
///
/// let tag = EntityTag::from_bytes(b"{}");
/// assert_eq!(tag, EntityTag::from_bytes(b"{}"));
/// assert_ne!(tag, EntityTag::from_bytes(b"{ }"));
/// ```
///
/// Requirements: ETG-01.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct EntityTag(u128);

impl EntityTag {
    /// Returns the tag of these bytes.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Self {
        Self(digest(bytes))
    }

    /// Returns the tag of these bytes, which represent a record.
    ///
    /// A new version of the record has a different tag, even if the bytes do not show the change or
    /// the change was undone.
    pub(super) fn of_record(bytes: &[u8], record: &RawRecord) -> Self {
        let own = Self::from_bytes(bytes);
        let Some(version) = record.meta().version else {
            return own;
        };
        Self(digest(
            &[&own.0.to_le_bytes()[..], &version.to_le_bytes()].concat(),
        ))
    }

    /// Returns the value of the `ETag` header.
    #[must_use]
    pub fn to_header(self) -> Option<HeaderValue> {
        HeaderValue::from_bytes(&self.text()).ok()
    }

    /// Returns the hexadecimal digits in quotes.
    fn text(self) -> [u8; 34] {
        let mut text = [b'"'; 34];
        let inside = self.0.to_be_bytes().into_iter().flat_map(hex_digits);
        text.iter_mut()
            .skip(1)
            .zip(inside)
            .for_each(|(place, digit)| *place = digit);
        text
    }
}

impl fmt::Display for EntityTag {
    /// Includes the quotes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text()
            .into_iter()
            .try_for_each(|byte| f.write_char(byte.into()))
    }
}

/// The condition of `If-Match` or `If-None-Match`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntityTagCondition {
    /// `*`: any state.
    Any,
    /// A list of tags, each with its quotes. Invalid tags are ignored, because they match nothing.
    Listed {
        /// Strong tags: the bytes are equal.
        strong: Vec<Box<[u8]>>,
        /// Weak tags: the meaning is the same.
        weak: Vec<Box<[u8]>>,
    },
}

impl EntityTagCondition {
    /// Reads the lines of a header; returns `None` if the header is missing.
    #[must_use]
    pub fn from_headers(headers: &HeaderMap, name: &HeaderName) -> Option<Self> {
        let mut lines = headers
            .get_all(name)
            .iter()
            .map(HeaderValue::as_bytes)
            .peekable();
        lines.peek()?;
        let (mut strong, mut weak) = (Vec::new(), Vec::new());
        for line in lines {
            if line.trim_ascii() == b"*" {
                return Some(Self::Any);
            }
            let mut rest = line;
            while !rest.is_empty() {
                let (is_weak, tag, behind) = first_tag(rest);
                match tag {
                    Some(tag) if is_weak => weak.push(tag.into()),
                    Some(tag) => strong.push(tag.into()),
                    None => {}
                }
                rest = behind;
            }
        }
        Some(Self::Listed { strong, weak })
    }

    /// Returns whether a representation with this tag matches by strong comparison, byte for byte
    /// (`If-Match`).
    #[must_use]
    pub fn matches_strong(&self, tag: &[u8]) -> bool {
        match self {
            Self::Any => true,
            Self::Listed { strong, .. } => strong.iter().any(|named| **named == *tag),
        }
    }

    /// Returns whether a representation with this tag matches by weak comparison (`If-None-Match`).
    #[must_use]
    pub fn matches_weak(&self, tag: &[u8]) -> bool {
        match self {
            Self::Any => true,
            Self::Listed { strong, weak } => strong.iter().chain(weak).any(|named| **named == *tag),
        }
    }
}

/// Returns whether the first tag of a list is weak, the tag, and the rest of the list.
///
/// A tag can contain a comma inside its quotes.
fn first_tag(list: &[u8]) -> (bool, Option<&[u8]>, &[u8]) {
    let list = list.trim_ascii_start();
    let weak = list.strip_prefix(b"W/");
    let tag = weak.unwrap_or(list);
    let closing = tag
        .strip_prefix(b"\"")
        .and_then(|inside| inside.iter().position(|&byte| byte == b'"'));
    let length = closing
        .and_then(|place| place.checked_add(2))
        .unwrap_or_default();
    let (tag, behind) = tag.split_at_checked(length).unwrap_or((&[], tag));
    let comma = behind.iter().position(|&byte| byte == b',');
    let (between, behind) = behind
        .split_at_checked(comma.unwrap_or(behind.len()))
        .unwrap_or((behind, &[]));
    let is_tag = !tag.is_empty() && between.trim_ascii().is_empty();
    (
        weak.is_some(),
        is_tag.then_some(tag),
        behind.strip_prefix(b",").unwrap_or_default(),
    )
}

/// Formats a timestamp as an HTTP date, in whole seconds. The fraction is cut off.
pub(super) fn http_date(moment: Timestamp) -> Option<HeaderValue> {
    let moment = DateTime::from_timestamp(moment.as_micros().div_euclid(MICROS), 0)?;
    let (day, year, time) = (
        digits::<2>(moment.day()),
        digits::<4>(moment.year().unsigned_abs()),
        moment.time(),
    );
    let weekday = WEEKDAYS.get(usize::try_from(moment.weekday().num_days_from_monday()).ok()?)?;
    let month = MONTHS.get(usize::try_from(moment.month0()).ok()?)?;
    let [hour, minute, second] = [time.hour(), time.minute(), time.second()].map(digits::<2>);
    // Formatted without chrono, which parses a pattern again for each date.
    let text = [
        weekday.as_bytes(),
        b", ",
        &day,
        b" ",
        month.as_bytes(),
        b" ",
        &year,
        b" ",
        &hour,
        b":",
        &minute,
        b":",
        &second,
        b" GMT",
    ];
    HeaderValue::try_from(text.concat()).ok()
}

/// Parses the date of a header into seconds since 1970, in each of the three formats.
///
/// Returns `None` if the header is missing, repeated or invalid.
pub(super) fn seconds(headers: &HeaderMap, name: &HeaderName) -> Option<i64> {
    let mut lines = headers.get_all(name).iter();
    let (Some(line), None) = (lines.next(), lines.next()) else {
        return None;
    };
    let text = line.to_str().ok()?.trim();
    let forms = [
        "%a, %d %b %Y %H:%M:%S GMT",
        "%A, %d-%b-%y %H:%M:%S GMT",
        "%a %b %e %H:%M:%S %Y",
    ];
    forms.iter().find_map(|form| {
        Some(
            NaiveDateTime::parse_from_str(text, form)
                .ok()?
                .and_utc()
                .timestamp(),
        )
    })
}

#[cfg(test)]
mod tests {
    use http::header::{IF_MATCH, IF_UNMODIFIED_SINCE};
    use proptest::prelude::*;

    use super::*;

    fn named(lines: &[&[u8]]) -> EntityTagCondition {
        let lines = lines
            .iter()
            .map(|line| (IF_MATCH, HeaderValue::from_bytes(line).unwrap()));
        EntityTagCondition::from_headers(&lines.collect(), &IF_MATCH).unwrap()
    }

    #[test]
    fn etg_05_tags_are_compared_as_the_header_asks() {
        assert_eq!(
            EntityTagCondition::from_headers(&HeaderMap::new(), &IF_MATCH),
            None
        );
        assert!(
            named(&[b" * "]).matches_strong(b"\"a\"")
                && named(&[b"\"b\"", b"*"]).matches_strong(b"\"a\"")
        );
        for list in [
            &b"\"a\""[..],
            b"\"b\", \"a\"",
            b",, \"b\" ,\"a\",",
            b"\"x, y\",\"a\"",
            b"W/\"c\",\"a\"",
            b"nonsense, \"a\"",
        ] {
            assert!(
                named(&[list]).matches_strong(b"\"a\""),
                "{}",
                list.escape_ascii()
            );
        }
        for list in [
            &b""[..],
            b"a",
            b"\"a",
            b"\"b\"",
            b"W/\"a\"",
            b"w/\"a\"",
            b"\"x,\"a\"\"",
            b"\"a\"\"b\"",
            b"\"A\"",
        ] {
            assert!(
                !named(&[list]).matches_strong(b"\"a\""),
                "{}",
                list.escape_ascii()
            );
        }
        assert!(
            named(&[b"W/\"a\""]).matches_weak(b"\"a\"")
                && named(&[b"\"b\"", b"\"a\""]).matches_weak(b"\"a\"")
        );
        assert!(
            named(&[b"\"x, y\""]).matches_strong(b"\"x, y\"")
                && !named(&[b"\"x, \"a\", y\""]).matches_weak(b"\"b\"")
        );
    }

    #[test]
    fn etg_03_dates_are_read_in_every_form() {
        let date = |text: &str| {
            let headers =
                HeaderMap::from_iter([(IF_UNMODIFIED_SINCE, HeaderValue::from_str(text).unwrap())]);
            seconds(&headers, &IF_UNMODIFIED_SINCE)
        };
        for text in [
            "Sun, 06 Nov 1994 08:49:37 GMT",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994",
        ] {
            assert_eq!(date(text), Some(784_111_777), "{text}");
        }
        for text in [
            "",
            "yesterday",
            "1994-11-06T08:49:37Z",
            "Sun, 06 Nov 1994 08:49:37 CET",
        ] {
            assert_eq!(date(text), None, "{text}");
        }
        let written = http_date(Timestamp::from_micros(784_111_777_900_000)).unwrap();
        assert_eq!(written, "Sun, 06 Nov 1994 08:49:37 GMT");
        assert_eq!(
            http_date(Timestamp::MIN).unwrap(),
            "Mon, 01 Jan 0001 00:00:00 GMT"
        );
        assert_eq!(
            http_date(Timestamp::MAX).unwrap(),
            "Fri, 31 Dec 9999 23:59:59 GMT"
        );
    }

    proptest! {
        #![proptest_config(crate::testing::config())]

        #[test]
        fn etg_03_any_moment_is_written_as_http_does(micros in Timestamp::MIN.as_micros()..=Timestamp::MAX.as_micros()) {
            let written = http_date(Timestamp::from_micros(micros)).unwrap();
            let moment = DateTime::from_timestamp(micros.div_euclid(MICROS), 0).unwrap();
            prop_assert_eq!(written.to_str().unwrap(), moment.format("%a, %d %b %Y %H:%M:%S GMT").to_string());
        }

        #[test]
        fn etg_01_a_tag_stands_for_its_bytes(one: Vec<u8>, other: Vec<u8>) {
            prop_assert_eq!(EntityTag::from_bytes(&one) == EntityTag::from_bytes(&other), one == other);
            let tag = EntityTag::from_bytes(&one).to_header().unwrap();
            prop_assert_eq!(&tag, &format!("\"{:032x}\"", EntityTag::from_bytes(&one).0));
            prop_assert_eq!(&tag, &EntityTag::from_bytes(&one).to_string());
            prop_assert!(named(&[b"\"x\", ", tag.as_bytes()]).matches_strong(tag.as_bytes()));
        }

        #[test]
        fn etg_05_any_list_can_be_read(list in prop::collection::vec(any::<u8>(), 0..40)) {
            if HeaderValue::from_bytes(&list).is_ok() {
                let _ = named(&[&list]);
            }
        }
    }
}
