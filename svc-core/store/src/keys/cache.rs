//! Keys that were looked up, in memory: a check of a known key asks the store for its epoch only.
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

use svc_core::{auth::Caller, context::Tenant, value::Timestamp};

use super::{KeyInfo, TokenHash};

/// Keys kept in memory; beyond, all are forgotten and read again as they come.
const REMEMBERED: usize = 10_000;

/// Keys as they were at one epoch: the number of changes to keys that the store has seen.
#[derive(Default)]
pub struct KeyCache {
    known: RwLock<CachedKeys>,
}

#[derive(Default)]
struct CachedKeys {
    epoch: i64,
    /// By prefix. Two keys with one prefix, which nobody can make on purpose, push each other out.
    keys: HashMap<i64, (TokenHash, CachedKey)>,
}

/// What a check needs of a key.
struct CachedKey {
    tenant: Tenant,
    caller: Caller,
    expires: Option<Timestamp>,
}

impl KeyCache {
    /// Whom a token stands for at this moment, when it was looked up in this epoch.
    #[must_use]
    pub fn holder(
        &self,
        hash: &TokenHash,
        epoch: i64,
        now: Timestamp,
    ) -> Option<Option<(Tenant, Caller)>> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        if known.epoch != epoch {
            return None;
        }
        let (_, held) = known
            .keys
            .get(&hash.prefix())
            .filter(|(known, _)| hash.is(known.as_bytes()))?;
        Some(
            held.expires
                .is_none_or(|end| now < end)
                .then(|| (held.tenant.clone(), held.caller.clone())),
        )
    }

    /// Keeps what was read after so many changes, unless it is revoked; what is older than what is
    /// known already is not kept.
    pub fn learn(&self, hash: &TokenHash, epoch: i64, key: Option<&KeyInfo>) {
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
                tenant: key.tenant.clone(),
                caller: key.caller(),
                expires: key.expires,
            };
            known.keys.insert(hash.prefix(), (*hash, held));
        }
    }
}

/// Epochs for a store that other processes change without its notice: one ends with each change by
/// this process, and after a time.
#[derive(Debug)]
pub struct KeyCacheEpochs {
    lasts: Duration,
    began: Instant,
    changes: AtomicI64,
}

impl KeyCacheEpochs {
    /// Each lasts so long at most; no time at all, and there are none.
    #[must_use]
    pub fn new(lasts: Duration) -> Self {
        Self {
            lasts,
            began: Instant::now(),
            changes: AtomicI64::default(),
        }
    }

    /// The epoch now, unless nothing is to be remembered.
    #[must_use]
    pub fn now(&self) -> Option<i64> {
        let times = self
            .began
            .elapsed()
            .as_nanos()
            .checked_div(self.lasts.as_nanos())?;
        i64::try_from(times)
            .ok()?
            .checked_add(self.changes.load(Ordering::SeqCst))
    }

    /// A key was changed.
    pub fn end(&self) {
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
    use super::*;

    /// UND-15: an epoch ends with a change; without a time there is none.
    #[test]
    fn epochs_go_on() {
        let epochs = KeyCacheEpochs::new(Duration::from_secs(60 * 60));
        assert_eq!(epochs.now(), Some(0));
        epochs.end();
        assert_eq!(epochs.now(), Some(1));
        assert_eq!(KeyCacheEpochs::new(Duration::ZERO).now(), None);
        let short = KeyCacheEpochs::new(Duration::from_nanos(1));
        assert!(short.now().is_some_and(|epoch| epoch > 0));
    }

    /// UND-15, AUT-03: what was read before a revocation is not believed after it; a key ends when
    /// it says so.
    #[test]
    fn an_epoch_ends_what_is_known() {
        let (cache, hash) = (KeyCache::default(), TokenHash::of("sesame"));
        let at = Timestamp::from_micros;
        let mut key = KeyInfo::new("1".to_owned(), Tenant::new("acme"), at(0));
        key.expires = Some(at(10));
        assert!(cache.holder(&hash, 1, at(1)).is_none(), "not looked up yet");
        cache.learn(&hash, 1, Some(&key));
        assert!(cache.holder(&hash, 1, at(9)).unwrap().is_some());
        assert!(cache.holder(&hash, 1, at(10)).unwrap().is_none(), "expired");
        assert!(cache.holder(&TokenHash::of("other"), 1, at(1)).is_none());
        assert!(
            cache.holder(&hash, 2, at(1)).is_none(),
            "a key was changed since"
        );
        cache.learn(&TokenHash::of("other"), 2, None);
        cache.learn(&hash, 1, Some(&key));
        assert!(
            cache.holder(&hash, 2, at(1)).is_none() && cache.holder(&hash, 1, at(1)).is_none(),
            "read too early"
        );
        key.revoked = Some(at(5));
        cache.learn(&hash, 2, Some(&key));
        assert!(cache.holder(&hash, 2, at(1)).is_none(), "revoked");
    }
}
