//! A cache of valid keys, which avoids a database query for each request.

use std::{
    collections::HashMap,
    fmt,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use async_trait::async_trait;

use super::{Authenticator, Credentials, Principal};
use crate::error::Result;

/// The maximum number of cached keys. When it is reached, the cache is cleared.
const MOST: usize = 4096;

/// An authenticator that caches valid keys in memory for a given time.
///
/// A cached key remains valid for this time, even if it is revoked. Keys that are not valid are
/// never cached.
///
/// Use it only with authenticators that depend on nothing but the key.
///
/// ```
/// use std::time::Duration;
///
/// use svc_core::auth::{FixedKeys, CachedAuthenticator};
///
/// let keys = CachedAuthenticator::new(FixedKeys::new(), Duration::from_secs(5));
/// ```
///
/// Requirements: AUT-03.
pub struct CachedAuthenticator<A> {
    authenticator: A,
    time: Duration,
    known: Mutex<HashMap<String, (Instant, Principal)>>,
}

impl<A> CachedAuthenticator<A> {
    /// Creates a cache in front of an authenticator that stores valid keys for `time`.
    pub fn new(authenticator: A, time: Duration) -> Self {
        Self {
            authenticator,
            time,
            known: Mutex::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, (Instant, Principal)>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl<A: Authenticator> Authenticator for CachedAuthenticator<A> {
    async fn authenticate(&self, credentials: Credentials<'_>) -> Result<Option<Principal>> {
        let Some(key) = credentials.key else {
            return self.authenticator.authenticate(credentials).await;
        };
        let is_fresh = |(since, _): &&(Instant, Principal)| since.elapsed() < self.time;
        let known = self
            .lock()
            .get(key)
            .filter(is_fresh)
            .map(|(_, principal)| principal.clone());
        if known.is_some() {
            return Ok(known);
        }
        let asked = Instant::now();
        let found = self.authenticator.authenticate(credentials).await?;
        let mut remembered = self.lock();
        match &found {
            Some(principal) => {
                if remembered.len() >= MOST {
                    remembered.clear();
                }
                remembered.insert(key.to_owned(), (asked, principal.clone()));
            }
            None => _ = remembered.remove(key),
        }
        drop(remembered);
        Ok(found)
    }

    async fn authenticate_without_key(
        &self,
        credentials: Credentials<'_>,
    ) -> Result<Option<Principal>> {
        self.authenticator
            .authenticate_without_key(credentials)
            .await
    }
}

impl<A> fmt::Debug for CachedAuthenticator<A> {
    /// Omits the keys.
    ///
    /// Requirements: UND-42.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CachedAuthenticator")
            .field("time", &self.time)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

    use super::*;
    use crate::{
        auth::{Caller, Rights, Tenant},
        value::Timestamp,
    };

    /// One key that can be revoked, and the number of times it was checked.
    #[derive(Default)]
    struct Counted {
        asked: AtomicU32,
        is_revoked: AtomicBool,
    }

    #[async_trait]
    impl Authenticator for &Counted {
        async fn authenticate(&self, credentials: Credentials<'_>) -> Result<Option<Principal>> {
            self.asked.fetch_add(1, Ordering::Relaxed);
            let is_valid =
                credentials.key == Some("valid") && !self.is_revoked.load(Ordering::Relaxed);
            Ok(is_valid
                .then(|| Principal::new(Tenant::new("acme"), Caller::with_rights(Rights::all()))))
        }
    }

    fn holds(keys: &impl Authenticator, key: &str) -> bool {
        let (headers, extensions) = (http::HeaderMap::new(), http::Extensions::new());
        let credentials = Credentials {
            key: Some(key),
            headers: &headers,
            extensions: &extensions,
            now: Timestamp::MIN,
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        runtime
            .block_on(keys.authenticate(credentials))
            .unwrap()
            .is_some()
    }

    #[test]
    fn aut_03_a_valid_key_is_asked_for_once_and_another_each_time() {
        let counted = Counted::default();
        let keys = CachedAuthenticator::new(&counted, Duration::from_secs(60 * 60));
        assert!(
            holds(&keys, "valid")
                && holds(&keys, "valid")
                && !holds(&keys, "other")
                && !holds(&keys, "other")
        );
        assert_eq!(counted.asked.load(Ordering::Relaxed), 3);
        assert!(!format!("{keys:?}").contains("valid"), "UND-42");
    }

    #[test]
    fn aut_03_a_key_that_was_revoked_ends_when_it_is_asked_for_again() {
        let counted = Counted::default();
        let keys = CachedAuthenticator::new(&counted, Duration::ZERO);
        assert!(holds(&keys, "valid"));
        counted.is_revoked.store(true, Ordering::Relaxed);
        assert!(!holds(&keys, "valid"));
    }
}
