//! Turns within this process: however many calls of a tenant wait, they hold few connections.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Calls of a tenant that are in a transaction at once: one works, the next has begun and waits for
/// its turn in the database.
const AT_ONCE: usize = 2;
/// Tenants that are remembered before those are forgotten for which nobody waits.
const REMEMBERED: usize = 1_024;

/// Who is at work for each tenant.
#[derive(Debug, Default)]
pub(super) struct TenantLocks(Mutex<HashMap<String, Arc<Semaphore>>>);

impl TenantLocks {
    /// Waits until the tenant's calls before have begun to end, in the order of calls. The turn
    /// ends when what this returns is dropped.
    pub(super) async fn wait(&self, tenant: &str) -> Option<OwnedSemaphorePermit> {
        // Nobody closes it, so that there is always a permit.
        self.of(tenant).acquire_owned().await.ok()
    }

    fn of(&self, tenant: &str) -> Arc<Semaphore> {
        let mut tenants = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = tenants.get(tenant) {
            return Arc::clone(known);
        }
        if tenants.len() >= REMEMBERED {
            // A permit holds its semaphore, as does whoever waits for one.
            tenants.retain(|_, one| Arc::strong_count(one) > 1);
        }
        let new = Arc::new(Semaphore::new(AT_ONCE));
        tenants.insert(tenant.to_owned(), Arc::clone(&new));
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn tenants_are_forgotten_when_nobody_is_at_work_for_them() {
        let turns = TenantLocks::default();
        let busy = turns.wait("busy").await;
        for number in 0..5 * REMEMBERED {
            drop(turns.wait(&number.to_string()).await);
        }
        let tenants = turns.0.lock().unwrap_or_else(PoisonError::into_inner);
        assert!(tenants.len() <= REMEMBERED, "{}", tenants.len());
        assert_eq!(
            tenants.get("busy").map(|one| one.available_permits()),
            Some(AT_ONCE - 1),
            "one is at work"
        );
        drop((tenants, busy));
    }
}
