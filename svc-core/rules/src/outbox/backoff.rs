//! The schedule of retries.

use std::time::Duration;

/// The pauses between attempts, each longer than the previous one. The first attempt has no pause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff(&'static [u64]);

impl Default for Backoff {
    fn default() -> Self {
        Self::STANDARD
    }
}

impl Backoff {
    /// The schedule that Standard Webhooks 1.0 recommends: ten attempts within about three days.
    ///
    /// The pauses are 5 seconds, 5 and 30 minutes, and 2, 5, 10, 14, 20 and 24 hours.
    pub const STANDARD: Self =
        Self(&[5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400]);

    /// Returns the pause after this number of failed attempts, or `None` after the last attempt.
    ///
    /// `number` makes the pause up to a fifth longer, so that entries that failed together are not
    /// retried together. Any number is allowed.
    #[must_use]
    pub fn delay(self, attempts: u32, number: u64) -> Option<Duration> {
        let place = usize::try_from(attempts.checked_sub(1)?).ok()?;
        let pause = Duration::from_secs(*self.0.get(place)?);
        // Thousandths of the extra time are precise enough.
        let part = u32::try_from(number.checked_rem(1_000)?).ok()?;
        Some(pause.saturating_add(pause.checked_div(5_000)?.saturating_mul(part)))
    }

    /// Returns the total number of attempts, including the first one.
    #[must_use]
    pub const fn max_attempts(self) -> usize {
        self.0.len().saturating_add(1)
    }

    /// Returns whether this number of attempts exceeds the maximum.
    #[must_use]
    pub fn is_exhausted(self, attempts: u32) -> bool {
        usize::try_from(attempts).is_ok_and(|attempts| attempts > self.max_attempts())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_attempts_in_three_days() {
        let pauses: Vec<u64> = (1..=10)
            .map_while(|it| Backoff::STANDARD.delay(it, 0))
            .map(|it| it.as_secs())
            .collect();
        assert_eq!(
            pauses,
            [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400]
        );
        assert_eq!(Backoff::STANDARD.delay(10, 0), None);
        assert_eq!(
            Backoff::STANDARD.delay(0, 0),
            None,
            "nothing has failed yet"
        );
        assert!(!Backoff::STANDARD.is_exhausted(10) && Backoff::STANDARD.is_exhausted(11));
    }

    #[test]
    fn the_pause_is_up_to_a_fifth_longer_and_never_shorter() {
        for number in [0, 1, 999, 1_000, u64::MAX] {
            for attempts in 1..10 {
                let (least, pause) = (
                    Backoff::STANDARD.delay(attempts, 0).unwrap(),
                    Backoff::STANDARD.delay(attempts, number).unwrap(),
                );
                assert!(
                    least <= pause && pause < least * 6 / 5,
                    "{pause:?} after {attempts}"
                );
            }
        }
        assert_ne!(Backoff::STANDARD.delay(1, 1), Backoff::STANDARD.delay(1, 2));
    }
}
