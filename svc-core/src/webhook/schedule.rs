//! When a message is sent again.

use std::time::Duration;

use crate::{ops::Backoff, value::short_digest};

/// Attempts of a message, the first one included.
///
/// Requirements: HOOK-11.
pub const ATTEMPTS: usize = Backoff::STANDARD.max_attempts();

/// The longest time that a receiver may ask for.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);
/// How long nothing is sent to a receiver that has too much to do and does not say how long.
const BUSY: Duration = Duration::from_secs(30);

/// How long to wait after so many attempts; `None` after the last one. Each message waits a little
/// longer than another.
pub(super) fn wait(attempts: u32, message: &str) -> Option<Duration> {
    Backoff::STANDARD.delay(
        attempts,
        short_digest(format!("{message} {attempts}").as_bytes()),
    )
}

/// How long a receiver is left alone that answered with this status, and perhaps with
/// `Retry-After`.
pub(super) fn rest(status: u16, retry_after: Option<Duration>) -> Option<Duration> {
    match status {
        429 | 502 | 503 | 504 => Some(retry_after.unwrap_or(BUSY).min(LONGEST)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// HOOK-11: each message has its own waits, which are the same whoever counts them, and an end.
    #[test]
    fn messages_do_not_all_come_again_at_once() {
        assert_eq!(ATTEMPTS, 10);
        assert_ne!(wait(5, "msg_1"), wait(5, "msg_2"));
        assert_eq!(wait(5, "msg_1"), wait(5, "msg_1"));
        assert!(wait(9, "msg_1").is_some() && wait(10, "msg_1").is_none());
    }

    /// HOOK-11: a receiver says how long it wants to be left alone, up to a day.
    #[test]
    fn a_receiver_that_is_busy_is_left_alone() {
        assert_eq!(
            rest(429, Some(Duration::from_secs(7))),
            Some(Duration::from_secs(7))
        );
        assert_eq!(rest(503, None), Some(BUSY));
        assert_eq!(
            rest(504, Some(Duration::from_secs(1_000_000))),
            Some(LONGEST)
        );
        for other in [200, 400, 404, 410, 500] {
            assert_eq!(rest(other, Some(Duration::from_secs(7))), None, "{other}");
        }
    }
}
