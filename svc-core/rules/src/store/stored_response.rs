//! An answer that is kept for a call that comes again.
//!
//! Requirements: IDM-01 to IDM-08.

use std::{fmt, sync::Arc};

use bytes::Bytes;

use crate::value::{Id, Timestamp};

/// How long an answer is kept: 24 hours, in microseconds.
const KEPT_FOR: i64 = 24 * 60 * 60 * 1_000_000;

/// An answer that is kept.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredResponse {
    /// What it is kept under, which is the key of the request with whose it is: at most 320 bytes.
    pub key: Arc<str>,
    /// When the call had its turn.
    pub created_at: Timestamp,
    /// The people whom it may tell of, each once: it goes with the first of them who is erased.
    ///
    /// Requirements: UND-26.
    pub people: Vec<Id>,
    /// The answer, as it has to be given back: a store looks at nothing in it.
    pub body: Bytes,
}

impl StoredResponse {
    /// An answer as a store has kept it.
    #[must_use]
    pub fn new(key: Arc<str>, at: Timestamp, people: Vec<Id>, answer: Bytes) -> Self {
        Self {
            key,
            created_at: at,
            people,
            body: answer,
        }
    }

    /// What is older than this may be thrown away when the answer is kept.
    #[must_use]
    pub fn expires_before(&self) -> Timestamp {
        Self::oldest_at(self.created_at)
    }

    /// The time before which responses are deleted at `now`.
    #[must_use]
    pub fn oldest_at(now: Timestamp) -> Timestamp {
        Timestamp::from_micros(now.micros().saturating_sub(KEPT_FOR))
    }

    /// Whether it is given to a call at this moment.
    pub(crate) fn is_in_force(&self, now: Timestamp) -> bool {
        self.created_at >= Self::oldest_at(now)
    }
}

impl fmt::Debug for StoredResponse {
    /// Without key and answer: these are the client's and people's data.
    ///
    /// Requirements: UND-42.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kept")
            .field("at", &self.created_at)
            .field("people", &self.people.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idm_06_an_answer_is_in_force_for_a_day() {
        let at = Timestamp::from_micros(KEPT_FOR);
        let kept = StoredResponse::new("key".into(), at, Vec::new(), Bytes::new());
        let later = |micros: i64| Timestamp::from_micros(KEPT_FOR.saturating_add(micros));
        assert!(kept.is_in_force(later(0)) && kept.is_in_force(later(KEPT_FOR)));
        assert!(!kept.is_in_force(later(KEPT_FOR + 1)));
        assert_eq!(kept.expires_before(), Timestamp::from_micros(0));
    }
}
