//! The schedule of retries.

use std::time::Duration;

use crate::{backend::Backoff, value::short_digest};

/// The maximum number of attempts to deliver a message, including the first one.
///
/// Requirements: HOOK-11.
pub const MAX_ATTEMPTS: usize = Backoff::STANDARD.max_attempts();

/// The maximum pause that a receiver can request.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);
/// The pause for an overloaded receiver that does not send `Retry-After`.
const BUSY: Duration = Duration::from_secs(30);

/// Returns the pause after this number of attempts, or `None` after the last one. The pauses of
/// different messages differ slightly.
pub(super) fn retry_delay(attempts: u32, message: &str) -> Option<Duration> {
    Backoff::STANDARD.delay(
        attempts,
        short_digest(format!("{message} {attempts}").as_bytes()),
    )
}

/// Returns the pause of the whole webhook after a response with this status and an optional
/// `Retry-After`.
pub(super) fn pause_after(status: u16, retry_after: Option<Duration>) -> Option<Duration> {
    match status {
        429 | 502 | 503 | 504 => Some(retry_after.unwrap_or(BUSY).min(LONGEST)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each message has its own pauses, which do not depend on the process that computes them, and
    /// a last attempt.
    ///
    /// Requirements: HOOK-11.
    #[test]
    fn messages_do_not_all_come_again_at_once() {
        assert_eq!(MAX_ATTEMPTS, 10);
        assert_ne!(retry_delay(5, "msg_1"), retry_delay(5, "msg_2"));
        assert_eq!(retry_delay(5, "msg_1"), retry_delay(5, "msg_1"));
        assert!(retry_delay(9, "msg_1").is_some() && retry_delay(10, "msg_1").is_none());
    }

    /// A receiver can request a pause of up to one day.
    ///
    /// Requirements: HOOK-11.
    #[test]
    fn a_receiver_that_is_busy_is_left_alone() {
        assert_eq!(
            pause_after(429, Some(Duration::from_secs(7))),
            Some(Duration::from_secs(7))
        );
        assert_eq!(pause_after(503, None), Some(BUSY));
        assert_eq!(
            pause_after(504, Some(Duration::from_secs(1_000_000))),
            Some(LONGEST)
        );
        for other in [200, 400, 404, 410, 500] {
            assert_eq!(
                pause_after(other, Some(Duration::from_secs(7))),
                None,
                "{other}"
            );
        }
    }
}
