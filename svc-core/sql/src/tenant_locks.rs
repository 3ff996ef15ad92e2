//! Write queues within this process. The waiting requests of a tenant use few connections.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The maximum number of requests of a tenant in a transaction. One is executed, and the next one
/// has started its transaction and waits for the lock in the database.
const AT_ONCE: usize = 2;
/// The number of tenants at which unused entries are removed.
const REMEMBERED: usize = 1_024;

/// The requests in progress for each tenant.
#[derive(Debug, Default)]
pub(super) struct TenantLocks(Mutex<HashMap<String, Arc<Semaphore>>>);

impl TenantLocks {
    /// Waits until the request can start its transaction, in the order of requests. The permit is
    /// released when it is dropped.
    pub(super) async fn wait(&self, tenant: &str) -> Option<OwnedSemaphorePermit> {
        // The semaphore is never closed, so there is always a permit.
        self.of(tenant).acquire_owned().await.ok()
    }

    fn of(&self, tenant: &str) -> Arc<Semaphore> {
        let mut tenants = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = tenants.get(tenant) {
            return Arc::clone(known);
        }
        if tenants.len() >= REMEMBERED {
            // A permit holds its semaphore, and so does a request that waits for one.
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
            "one request is in progress"
        );
        drop((tenants, busy));
    }
}
