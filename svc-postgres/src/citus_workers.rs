//! On a cluster that shards by tenant: the worker that has a tenant, reached without the way over
//! the coordinator.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use crate::pool::ConnectionPool;

/// How long it is taken for granted where a tenant is. After a move the old place answers as well;
/// it is only slower.
const KNOWN: Duration = Duration::from_secs(60);
/// How long the first server is asked instead of one that cannot be reached.
pub(crate) const FALLBACK_DURATION: Duration = Duration::from_secs(5);

/// The host and the port of a worker.
pub(crate) type WorkerAddress = (String, u16);

/// The workers of a cluster, each with connections of its own.
#[derive(Default)]
pub(crate) struct CitusWorkers {
    pools: Mutex<HashMap<WorkerAddress, Arc<ConnectionPool>>>,
    /// Where the statements of each tenant go, and until when.
    placements: Mutex<HashMap<i64, (Arc<ConnectionPool>, Instant)>>,
}

impl CitusWorkers {
    /// Where the statements of a tenant go, as far as that is known.
    pub(crate) fn get(&self, tenant: i64) -> Option<Arc<ConnectionPool>> {
        let homes = self.placements.lock().unwrap_or_else(PoisonError::into_inner);
        homes
            .get(&tenant)
            .filter(|(_, until)| Instant::now() < *until)
            .map(|(pool, _)| Arc::clone(pool))
    }

    /// A tenant is at home at a worker, which is reached as `make` says.
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

    /// The statements of a tenant go here for a while: its own worker is not known, or cannot be
    /// reached.
    pub(crate) fn fall_back(&self, tenant: i64, pool: &Arc<ConnectionPool>) {
        self.insert(tenant, pool, FALLBACK_DURATION);
    }

    fn insert(&self, tenant: i64, pool: &Arc<ConnectionPool>, time: Duration) {
        if let Some(until) = Instant::now().checked_add(time) {
            let mut homes = self.placements.lock().unwrap_or_else(PoisonError::into_inner);
            homes.insert(tenant, (Arc::clone(pool), until));
        }
    }
}
