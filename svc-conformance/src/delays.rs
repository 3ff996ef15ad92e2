//! What makes a run slow: waits that the target asks for, and slow responses. The run reports it
//! once, with the estimated time.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The minimum number of responses for a mean response time.
const ENOUGH: u32 = 5;
/// The mean response time from which a target is slow.
const SLOW: Duration = Duration::from_millis(250);
/// The duration of a run from which a slow target is reported.
const LONG: Duration = Duration::from_secs(2 * 60);

/// What has made a run slow so far.
#[derive(Debug, Default)]
pub(crate) struct Delays(Mutex<DelayState>);

#[derive(Debug, Default)]
struct DelayState {
    answers: u32,
    /// The time of all responses, including waits.
    took: Duration,
    /// The status with which the target first asked the client to wait.
    limit: Option<u16>,
    /// Whether the target asked to wait in response to every attempt at a request.
    has_given_up: bool,
    is_reported: bool,
}

impl Delays {
    /// Counts a response.
    pub(crate) fn answered(&self, took: Duration) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.answers = state.answers.saturating_add(1);
        state.took = state.took.saturating_add(took);
    }

    /// Counts a wait that the target asked for.
    pub(crate) fn waited(&self, status: u16, wait: Duration) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.took = state.took.saturating_add(wait);
        state.limit.get_or_insert(status);
    }

    /// Records whether a request was abandoned because the target asked to wait again and again.
    /// The next request then does not wait.
    pub(crate) fn gave_up(&self, gave_up: bool) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .has_given_up = gave_up;
    }

    /// Whether the last request was abandoned.
    pub(crate) fn has_given_up(&self) -> bool {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .has_given_up
    }

    /// Returns the message about a slow run that has `left` requests to send. The message is
    /// returned once; later calls return `None`.
    pub(crate) fn line(&self, left: usize) -> Option<String> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if state.is_reported || state.answers == 0 {
            return None;
        }
        let mean = state.took.checked_div(state.answers)?;
        let needed = mean.saturating_mul(u32::try_from(left).unwrap_or(u32::MAX));
        let line = match state.limit {
            Some(status) => format!(
                "the server limits the rate (status {status}): each wait is at most 30 s, and the \
                 run needs about {} more; --rate {} avoids the waits",
                rounded(needed),
                sustained(mean)
            ),
            None if state.answers >= ENOUGH && mean >= SLOW && needed >= LONG => format!(
                "the server needs {:.1} s per request: the run needs about {} more; --only and \
                 --intensity quick send fewer requests, and --rate N sends at most N per second",
                mean.as_secs_f64(),
                rounded(needed)
            ),
            None => return None,
        };
        state.is_reported = true;
        Some(line)
    }
}

/// Returns the requests per second at which the target asked for no wait, with one decimal place
/// below ten.
fn sustained(mean: Duration) -> String {
    let rate = mean.as_secs_f64().max(0.001).recip();
    if rate < 10.0 {
        format!("{:.1}", (rate * 10.0).floor().max(1.0) / 10.0)
    } else {
        format!("{:.0}", rate.floor())
    }
}

/// Returns a time in the largest suitable unit.
fn rounded(time: Duration) -> String {
    let minutes = time.as_secs().div_ceil(60);
    match (time.as_secs(), minutes) {
        (seconds @ 0..100, _) => format!("{seconds} s"),
        (_, minutes @ 0..100) => format!("{minutes} min"),
        (_, minutes) => format!("{} h {} min", minutes / 60, minutes % 60),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Delays;

    #[test]
    fn a_target_that_asks_to_wait_is_named_once() {
        let delays = Delays::default();
        for _ in 0..20 {
            delays.answered(Duration::ZERO);
        }
        assert_eq!(delays.line(7_000), None, "nothing was waited for");
        delays.waited(429, Duration::from_secs(2));
        let line = delays.line(7_000).expect("a line");
        assert!(
            line.contains("status 429")
                && line.contains("about 12 min more")
                && line.contains("--rate 10 "),
            "{line}"
        );
        delays.waited(429, Duration::from_secs(2));
        assert_eq!(delays.line(7_000), None, "it is reported once");
    }

    #[test]
    fn a_slow_target_is_named_where_the_run_needs_long() {
        let slow = |answers: usize, took: Duration, left: usize| {
            let delays = Delays::default();
            (0..answers).for_each(|_| delays.answered(took));
            delays.line(left)
        };
        let line = slow(5, Duration::from_secs(2), 7_000).expect("a line");
        assert!(
            line.contains("needs 2.0 s")
                && line.contains("about 3 h 54 min more")
                && line.contains("--rate N"),
            "{line}"
        );
        assert_eq!(
            slow(4, Duration::from_secs(2), 7_000),
            None,
            "too few responses"
        );
        assert_eq!(
            slow(50, Duration::from_millis(100), 7_000),
            None,
            "fast enough"
        );
        assert_eq!(
            slow(50, Duration::from_secs(2), 10),
            None,
            "nearly finished"
        );
    }
}
