//! When a message is sent again.

use std::time::Duration;

use crate::value::digest;

const SECOND: u64 = 1;
const MINUTE: u64 = 60 * SECOND;
const HOUR: u64 = 60 * MINUTE;

/// How long after the first, second ... failed attempt the next one comes: some three days in all (HOOK-11).
const AFTER: [u64; 9] =
    [5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR];

/// Attempts of a message, the first one included.
pub const ATTEMPTS: usize = AFTER.len() + 1;

/// The longest time that a receiver may ask for.
const LONGEST: Duration = Duration::from_secs(24 * HOUR);
/// How long nothing is sent to a receiver that has too much to do and does not say how long.
const BUSY: Duration = Duration::from_secs(30);

/// How long to wait after so many attempts; `None` after the last one. Up to a tenth is added, another part for each message, so
/// that they do not all come at once.
pub(super) fn wait(attempts: u32, message: &str) -> Option<Duration> {
    let seconds = *AFTER.get(usize::try_from(attempts).ok()?.checked_sub(1)?)?;
    let part = digest(format!("{message} {attempts}").as_bytes()) % 1_000;
    let jitter = u64::try_from(part).unwrap_or_default().saturating_mul(seconds) / 10;
    Some(Duration::from_secs(seconds).saturating_add(Duration::from_millis(jitter)))
}

/// How long a receiver is left alone that answered with this status, and perhaps with `Retry-After`.
pub(super) fn rest(status: u16, retry_after: Option<Duration>) -> Option<Duration> {
    match status {
        429 | 502 | 503 | 504 => Some(retry_after.unwrap_or(BUSY).min(LONGEST)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// HOOK-11: ten attempts in some three days, each a little later than it is written.
    #[test]
    fn attempts_are_spread_over_three_days() {
        let mut all = Duration::ZERO;
        for (place, seconds) in AFTER.iter().enumerate() {
            let attempts = u32::try_from(place).unwrap() + 1;
            let waited = wait(attempts, "msg_1").unwrap();
            let written = Duration::from_secs(*seconds);
            assert!(waited >= written && waited < written.mul_f64(1.1), "{attempts}: {waited:?}");
            all += waited;
        }
        assert!((75..84).contains(&(all.as_secs() / HOUR)), "{all:?}");
        assert_eq!(wait(u32::try_from(ATTEMPTS).unwrap(), "msg_1"), None);
        assert_ne!(wait(5, "msg_1"), wait(5, "msg_2"));
        assert_eq!(wait(5, "msg_1"), wait(5, "msg_1"));
    }

    /// HOOK-11: a receiver says how long it wants to be left alone, up to a day.
    #[test]
    fn a_receiver_that_is_busy_is_left_alone() {
        assert_eq!(rest(429, Some(Duration::from_secs(7))), Some(Duration::from_secs(7)));
        assert_eq!(rest(503, None), Some(BUSY));
        assert_eq!(rest(504, Some(Duration::from_secs(1_000_000))), Some(LONGEST));
        for other in [200, 400, 404, 410, 500] {
            assert_eq!(rest(other, Some(Duration::from_secs(7))), None, "{other}");
        }
    }
}
