//! The stored response of a request.
//!
//! Requirements: IDM-01 to IDM-08.

use std::{fmt, sync::Arc};

use bytes::Bytes;

use crate::value::{Id, Timestamp};

/// How long a response is stored: 24 hours, in microseconds.
const KEPT_FOR: i64 = 24 * 60 * 60 * 1_000_000;

/// A stored response.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredResponse {
    /// The key of the response: the idempotency key of the request and its caller, at most 320
    /// bytes.
    pub key: Arc<str>,
    /// The time of the transaction of the request.
    pub created_at: Timestamp,
    /// The people whose data the response may contain, each once. It is deleted when the first of
    /// them is erased.
    ///
    /// Requirements: UND-26.
    pub people: Vec<Id>,
    /// The response, in the form to return. A store does not interpret it.
    pub body: Bytes,
}

impl StoredResponse {
    /// Creates a stored response from stored data.
    #[must_use]
    pub fn new(key: Arc<str>, at: Timestamp, people: Vec<Id>, answer: Bytes) -> Self {
        Self {
            key,
            created_at: at,
            people,
            body: answer,
        }
    }

    /// Returns the time before which responses have expired when this one is stored.
    #[must_use]
    pub fn expires_before(&self) -> Timestamp {
        Self::oldest_at(self.created_at)
    }

    /// Returns the time before which responses have expired at `now`.
    #[must_use]
    pub fn oldest_at(now: Timestamp) -> Timestamp {
        Timestamp::from_micros(now.as_micros().saturating_sub(KEPT_FOR))
    }

    /// Returns whether a repeated request at this time gets the response.
    pub(crate) fn is_in_force(&self, now: Timestamp) -> bool {
        self.created_at >= Self::oldest_at(now)
    }
}

impl fmt::Debug for StoredResponse {
    /// Omits the key and the body, because they contain data of the client and of people.
    ///
    /// Requirements: UND-42.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoredResponse")
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
