//! Counts the requests that wait for changes, for each key and each tenant.
//!
//! Requirements: SYN-13.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use http::{HeaderValue, header::RETRY_AFTER};

use crate::{
    api::{Api, Response},
    context::{Context, Tenant},
    error::ErrorCode,
    link::Target,
};

/// Limits of how many requests wait for changes at the same time. Long polls and event streams
/// count.
///
/// Requirements: SYN-13.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct WaitLimits {
    /// The maximum for one API key. Keys without a [name](crate::auth::Caller::with_key_name) share
    /// the limit with keys that have the same rights.
    pub per_key: usize,
    /// The maximum for one tenant.
    pub per_tenant: usize,
}

impl WaitLimits {
    /// Sets the maximum for one API key.
    #[must_use]
    pub fn per_key(mut self, requests: usize) -> Self {
        self.per_key = requests;
        self
    }

    /// Sets the maximum for one tenant.
    #[must_use]
    pub fn per_tenant(mut self, requests: usize) -> Self {
        self.per_tenant = requests;
        self
    }
}

impl Default for WaitLimits {
    fn default() -> Self {
        Self {
            per_key: 16,
            per_tenant: 128,
        }
    }
}

/// The value of `Retry-After` if no slot is free, in seconds.
const RETRY_SECONDS: u64 = 5;

/// The used slots.
#[derive(Clone, Default)]
pub(super) struct WaitSlots(Arc<Mutex<HashMap<Tenant, TenantSlots>>>);

/// The used slots of a tenant: their total, and those of each key by
/// [`Caller::scope`](crate::auth::Caller::scope).
#[derive(Default)]
struct TenantSlots {
    total: usize,
    by_key: HashMap<String, usize>,
}

/// The limit that was reached.
#[derive(Debug, PartialEq, Eq)]
enum LimitReached {
    Key,
    Tenant,
}

impl WaitSlots {
    fn acquire(
        &self,
        tenant: &Tenant,
        key: String,
        limits: WaitLimits,
    ) -> Result<WaitSlot, LimitReached> {
        let mut tenants = self.lock();
        let used = tenants.get(tenant);
        if used
            .and_then(|used| used.by_key.get(&key))
            .copied()
            .unwrap_or_default()
            >= limits.per_key
        {
            return Err(LimitReached::Key);
        }
        if used.map_or(0, |used| used.total) >= limits.per_tenant {
            return Err(LimitReached::Tenant);
        }
        let used = tenants.entry(tenant.clone()).or_default();
        used.total = used.total.saturating_add(1);
        let of_key = used.by_key.entry(key.clone()).or_default();
        *of_key = of_key.saturating_add(1);
        Ok(WaitSlot {
            slots: self.clone(),
            tenant: tenant.clone(),
            key,
        })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Tenant, TenantSlots>> {
        // Nothing panics while it holds the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The slot of a waiting request. Dropping it frees the slot.
pub(super) struct WaitSlot {
    slots: WaitSlots,
    tenant: Tenant,
    key: String,
}

impl fmt::Debug for WaitSlot {
    /// Omits the caller.
    ///
    /// Requirements: UND-42.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WaitSlot")
    }
}

impl Drop for WaitSlot {
    fn drop(&mut self) {
        let mut tenants = self.slots.lock();
        let Some(used) = tenants.get_mut(&self.tenant) else {
            return;
        };
        used.total = used.total.saturating_sub(1);
        if let Some(of_key) = used.by_key.get_mut(&self.key) {
            *of_key = of_key.saturating_sub(1);
            if *of_key == 0 {
                used.by_key.remove(&self.key);
            }
        }
        if used.total == 0 {
            tenants.remove(&self.tenant);
        }
    }
}

impl Api {
    /// Acquires a slot for a waiting request.
    ///
    /// Returns the 429 response if the key or the tenant has no free slot.
    pub(super) fn wait_slot(&self, cx: &Context) -> Result<WaitSlot, Box<Response>> {
        let limits = self.extensions().changes.wait_limits;
        self.extensions().changes.wait_slots.acquire(cx.tenant(), cx.caller().scope(), limits).map_err(|reached| {
            let (limit, whose) = match reached {
                LimitReached::Key => (limits.per_key, "API key"),
                LimitReached::Tenant => (limits.per_tenant, "tenant"),
            };
            let text = format!(
                "At most {limit} requests of one {whose} can wait for changes at the same time. Retry without \
                 `Prefer: wait`, or later."
            );
            let mut reply = self.error_response(Some(&Target::Changes), ErrorCode::TooManyRequests, &text);
            reply.insert(RETRY_AFTER, Some(HeaderValue::from(RETRY_SECONDS)));
            Box::new(reply)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SYN-13: slots are counted for each key and each tenant, and a tenant without used slots is
    /// removed.
    #[test]
    fn syn_13_slots_are_given_back() {
        let (slots, limits) = (
            WaitSlots::default(),
            WaitLimits::default().per_key(2).per_tenant(3),
        );
        let (one, two) = (Tenant::new("one"), Tenant::new("two"));
        let acquire = |tenant, key: &str| slots.acquire(tenant, key.to_owned(), limits);
        let (a1, a2, b1) = (
            acquire(&one, "a").unwrap(),
            acquire(&one, "a").unwrap(),
            acquire(&one, "b").unwrap(),
        );
        assert_eq!(acquire(&one, "a").err(), Some(LimitReached::Key));
        assert_eq!(acquire(&one, "b").err(), Some(LimitReached::Tenant));
        let other = acquire(&two, "a").unwrap();
        drop(a1);
        let b2 = acquire(&one, "b").unwrap();
        assert_eq!(acquire(&one, "a").err(), Some(LimitReached::Tenant));
        drop((a2, b1, b2, other));
        assert!(slots.lock().is_empty());
        assert_eq!(
            slots
                .acquire(&one, "a".to_owned(), limits.per_tenant(0))
                .err(),
            Some(LimitReached::Tenant)
        );
        assert!(slots.lock().is_empty());
    }
}
