//! On a cluster that shards by tenant: the worker of each tenant, which is queried directly without
//! the coordinator.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use crate::pool::ConnectionPool;

/// How long the location of a tenant is cached. After a move the old node also answers, but more
/// slowly.
const KNOWN: Duration = Duration::from_secs(60);
/// How long the coordinator is used instead of a worker that cannot be reached.
pub(crate) const FALLBACK_DURATION: Duration = Duration::from_secs(5);

/// The host and the port of a worker.
pub(crate) type WorkerAddress = (String, u16);

/// The workers of a cluster, each with connections of its own.
#[derive(Default)]
pub(crate) struct CitusWorkers {
    pools: Mutex<HashMap<WorkerAddress, Arc<ConnectionPool>>>,
    /// The pool for the statements of each tenant, and until when it is valid.
    placements: Mutex<HashMap<i64, (Arc<ConnectionPool>, Instant)>>,
}

impl CitusWorkers {
    /// Returns the pool of a tenant's worker, if it is known.
    pub(crate) fn get(&self, tenant: i64) -> Option<Arc<ConnectionPool>> {
        let homes = self
            .placements
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        homes
            .get(&tenant)
            .filter(|(_, until)| Instant::now() < *until)
            .map(|(pool, _)| Arc::clone(pool))
    }

    /// Records the worker of a tenant. `make` creates its pool.
    pub(crate) fn resolve(
        &self,
        tenant: i64,
        node: WorkerAddress,
        make: impl FnOnce(&WorkerAddress) -> ConnectionPool,
    ) -> Arc<ConnectionPool> {
        let pool = {
            let mut pools = self.pools.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(
                pools
                    .entry(node)
                    .or_insert_with_key(|node| Arc::new(make(node))),
            )
        };
        self.insert(tenant, &pool, KNOWN);
        pool
    }

    /// Uses this pool for a tenant for a short time, because its worker is unknown or cannot be
    /// reached.
    pub(crate) fn fall_back(&self, tenant: i64, pool: &Arc<ConnectionPool>) {
        self.insert(tenant, pool, FALLBACK_DURATION);
    }

    fn insert(&self, tenant: i64, pool: &Arc<ConnectionPool>, time: Duration) {
        if let Some(until) = Instant::now().checked_add(time) {
            let mut homes = self
                .placements
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            homes.insert(tenant, (Arc::clone(pool), until));
        }
    }
}
