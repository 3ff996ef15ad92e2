//! Timestamps as microseconds since 1970, and calendar dates.

/// Parses an ISO 8601 timestamp. It is in UTC if it has no zone.
pub(super) fn read(text: &str) -> Option<i64> {
    let (date, rest) = text.split_once(['T', 't', ' '])?;
    let days = days(date)?;
    let (clock, offset) = zone(rest)?;
    let (whole, fraction) = clock.split_once(['.', ',']).unwrap_or((clock, ""));
    let mut parts = whole.split(':');
    let hours = part(parts.next()?, 23)?;
    let minutes = part(parts.next()?, 59)?;
    let seconds = part(parts.next().unwrap_or("00"), 60)?;
    if parts.next().is_some() || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let micros: i64 = format!("{fraction:0<6}").get(..6)?.parse().ok()?;
    let total = days
        .checked_mul(86_400)?
        .checked_add(hours * 3600 + minutes * 60 + seconds)?
        .checked_sub(offset)?;
    total.checked_mul(1_000_000)?.checked_add(micros)
}

/// Returns whether a text is a calendar date, `YYYY-MM-DD`.
pub(super) fn is_date(text: &str) -> bool {
    days(text).is_some()
}

/// Formats a timestamp in UTC.
pub(super) fn write(micros: i64, whole_seconds: bool) -> String {
    let seconds = micros.div_euclid(1_000_000);
    let fraction = micros.rem_euclid(1_000_000);
    let (year, month, day) = civil(seconds.div_euclid(86_400));
    let of_day = seconds.rem_euclid(86_400);
    let clock = format!(
        "{:02}:{:02}:{:02}",
        of_day / 3600,
        of_day / 60 % 60,
        of_day % 60
    );
    if whole_seconds || fraction == 0 {
        format!("{year:04}-{month:02}-{day:02}T{clock}Z")
    } else {
        format!("{year:04}-{month:02}-{day:02}T{clock}.{fraction:06}Z")
    }
}

/// Parses a number of two digits with a maximum.
fn part(text: &str, most: i64) -> Option<i64> {
    let digits = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
    digits
        .then(|| text.parse::<i64>().ok())
        .flatten()
        .filter(|value| *value <= most)
}

/// Splits the zone from a time. Returns the time and the offset of the zone in seconds.
fn zone(text: &str) -> Option<(&str, i64)> {
    if let Some(clock) = text.strip_suffix(['Z', 'z']) {
        return Some((clock, 0));
    }
    let Some(at) = text.rfind(['+', '-']) else {
        return Some((text, 0));
    };
    let (clock, offset) = text.split_at(at);
    let sign = if offset.starts_with('-') { -1 } else { 1 };
    let digits: String = offset
        .chars()
        .skip(1)
        .filter(|character| *character != ':')
        .collect();
    let hours = part(digits.get(..2)?, 23)?;
    let minutes = if digits.len() == 2 {
        0
    } else {
        part(digits.get(2..)?, 59)?
    };
    Some((clock, sign * (hours * 3600 + minutes * 60)))
}

/// Returns the days since 1970 of a calendar date.
fn days(text: &str) -> Option<i64> {
    let mut parts = text.splitn(3, '-');
    let year = parts
        .next()
        .filter(|year| year.len() == 4 && year.bytes().all(|byte| byte.is_ascii_digit()))?;
    let year: i64 = year.parse().ok()?;
    let month = part(parts.next()?, 12)?;
    let day = part(parts.next()?, 31)?;
    if month == 0 || day == 0 {
        return None;
    }
    // The months of a year that begins in March; the leap day is its last.
    let shifted = if month <= 2 { year - 1 } else { year };
    let of_era = shifted.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let found = shifted.div_euclid(400) * 146_097 + of_era * 365 + of_era / 4 - of_era / 100
        + of_year
        - 719_468;
    // February 30 is not a date.
    (civil(found) == (year, month, day)).then_some(found)
}

/// Returns year, month and day for a number of days since 1970.
fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_come_back_as_instants() {
        for (text, expected) in [
            ("1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z"),
            (
                "2024-02-29T23:30:00.25+01:00",
                "2024-02-29T22:30:00.250000Z",
            ),
            ("1969-12-31T19:00:00-05", "1970-01-01T00:00:00Z"),
            ("2000-03-01T00:00Z", "2000-03-01T00:00:00Z"),
        ] {
            assert_eq!(
                read(text).map(|micros| write(micros, false)).as_deref(),
                Some(expected),
                "{text}"
            );
        }
        for text in [
            "2023-02-29T00:00:00Z",
            "soon",
            "2023-01-01",
            "2023-13-01T00:00:00Z",
            "2023-01-01T25:00:00Z",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
        assert!(is_date("2024-02-29") && !is_date("2023-02-29") && !is_date("2024-2-9"));
    }
}
