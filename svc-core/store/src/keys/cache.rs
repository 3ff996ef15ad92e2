//! A cache of API keys. For a cached key, a check only reads the current epoch from the store.
//!
//! Requirements: AUT-03.

use std::{
    collections::HashMap,
    fmt,
    sync::{
        PoisonError, RwLock,
        atomic::{AtomicI64, Ordering},
    },
    time::{Duration, Instant},
};

use svc_core::{auth::Principal, value::Timestamp};

use super::{KeyInfo, TokenHash};

/// The maximum number of cached keys. When it is reached, the cache is cleared.
const REMEMBERED: usize = 10_000;

/// API keys at one epoch, which is the number of key changes that the store has seen.
#[derive(Default)]
pub struct KeyCache {
    known: RwLock<CachedKeys>,
}

#[derive(Default)]
struct CachedKeys {
    epoch: i64,
    /// The keys by hash prefix. Two keys with the same prefix replace each other. An attacker
    /// cannot create such keys.
    keys: HashMap<i64, (TokenHash, CachedKey)>,
}

/// The data of a key that a check needs.
struct CachedKey {
    principal: Principal,
    expires: Option<Timestamp>,
}

impl KeyCache {
    /// Returns the principal of a token if it was looked up in this epoch. The inner `None`
    /// is an expired key.
    #[must_use]
    pub fn get(&self, hash: &TokenHash, epoch: i64, now: Timestamp) -> Option<Option<Principal>> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        if known.epoch != epoch {
            return None;
        }
        let (_, held) = known
            .keys
            .get(&hash.prefix())
            .filter(|(known, _)| hash.matches(known.as_bytes()))?;
        Some(
            held.expires
                .is_none_or(|end| now < end)
                .then(|| held.principal.clone()),
        )
    }

    /// Caches a key that was read in this epoch, unless it is revoked. A key from an older epoch
    /// than the cached ones is ignored.
    pub fn insert(&self, hash: &TokenHash, epoch: i64, key: Option<&KeyInfo>) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if epoch < known.epoch {
            return;
        }
        if epoch > known.epoch || known.keys.len() >= REMEMBERED {
            known.keys.clear();
        }
        known.epoch = epoch;
        if let Some(key) = key.filter(|key| key.revoked.is_none()) {
            let held = CachedKey {
                principal: key.principal(),
                expires: key.expires,
            };
            known.keys.insert(hash.prefix(), (*hash, held));
        }
    }
}

/// Epochs for a store whose keys other processes may change without notification. An epoch ends
/// with each change by this process, and after a maximum duration.
#[derive(Debug)]
pub struct KeyCacheEpochs {
    lasts: Duration,
    began: Instant,
    changes: AtomicI64,
}

impl KeyCacheEpochs {
    /// Creates epochs with this maximum duration. With a duration of zero, nothing is cached.
    #[must_use]
    pub fn new(lasts: Duration) -> Self {
        Self {
            lasts,
            began: Instant::now(),
            changes: AtomicI64::default(),
        }
    }

    /// Returns the current epoch, or `None` if nothing is cached.
    #[must_use]
    pub fn current(&self) -> Option<i64> {
        let times = self
            .began
            .elapsed()
            .as_nanos()
            .checked_div(self.lasts.as_nanos())?;
        i64::try_from(times)
            .ok()?
            .checked_add(self.changes.load(Ordering::SeqCst))
    }

    /// Ends the current epoch because a key was changed.
    pub fn advance(&self) {
        self.changes.fetch_add(1, Ordering::SeqCst);
    }
}

impl fmt::Debug for KeyCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyCache")
    }
}

#[cfg(test)]
mod tests {
    use svc_core::auth::Tenant;

    use super::*;

    /// An epoch ends with a change. With a duration of zero there are no epochs.
    ///
    /// Requirements: UND-15.
    #[test]
    fn epochs_go_on() {
        let epochs = KeyCacheEpochs::new(Duration::from_secs(60 * 60));
        assert_eq!(epochs.current(), Some(0));
        epochs.advance();
        assert_eq!(epochs.current(), Some(1));
        assert_eq!(KeyCacheEpochs::new(Duration::ZERO).current(), None);
        let short = KeyCacheEpochs::new(Duration::from_nanos(1));
        assert!(short.current().is_some_and(|epoch| epoch > 0));
    }

    /// A key that was read before a revocation is not used after it, and a key ends at its expiry
    /// time.
    ///
    /// Requirements: UND-15, AUT-03.
    #[test]
    fn an_epoch_ends_what_is_known() {
        let (cache, hash) = (KeyCache::default(), TokenHash::from_token("sesame"));
        let at = Timestamp::from_micros;
        let mut key = KeyInfo::new("1".to_owned(), Tenant::new("acme"), at(0));
        key.expires = Some(at(10));
        assert!(cache.get(&hash, 1, at(1)).is_none(), "not looked up yet");
        cache.insert(&hash, 1, Some(&key));
        assert!(cache.get(&hash, 1, at(9)).unwrap().is_some());
        assert!(cache.get(&hash, 1, at(10)).unwrap().is_none(), "expired");
        assert!(
            cache
                .get(&TokenHash::from_token("other"), 1, at(1))
                .is_none()
        );
        assert!(
            cache.get(&hash, 2, at(1)).is_none(),
            "a key has changed in the meantime"
        );
        cache.insert(&TokenHash::from_token("other"), 2, None);
        cache.insert(&hash, 1, Some(&key));
        assert!(
            cache.get(&hash, 2, at(1)).is_none() && cache.get(&hash, 1, at(1)).is_none(),
            "read too early"
        );
        key.revoked = Some(at(5));
        cache.insert(&hash, 2, Some(&key));
        assert!(cache.get(&hash, 2, at(1)).is_none(), "revoked");
    }
}
