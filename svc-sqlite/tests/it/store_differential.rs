//! Random histories of write requests on this store and on the store in memory: equal outcomes and
//! equal reads.

use std::sync::atomic::{AtomicU32, Ordering};

use svc_sqlite::{SqliteOptions, SqliteStore};
use svc_store::store_testkit::{ContractViolation, StoreTests};

async fn histories(histories: u64, calls: usize, seed: u64) -> Result<(), ContractViolation> {
    let folder = tempfile::tempdir().unwrap();
    let store =
        SqliteStore::open(SqliteOptions::new(folder.path().join("data.db")).relaxed_durability())
            .unwrap();
    let made = AtomicU32::new(0);
    let fresh = async || {
        let number = made.fetch_add(1, Ordering::Relaxed);
        let (one, two) = (format!("one{number}"), format!("two{number}"));
        (
            store.clone(),
            [
                store.ensure_tenant(&one).await.unwrap(),
                store.ensure_tenant(&two).await.unwrap(),
            ],
        )
    };
    StoreTests::new()
        .histories(histories)
        .calls(calls)
        .seed(seed)
        .check(fresh)
        .await
}

#[tokio::test]
async fn short_histories_are_those_of_the_store_in_memory() -> Result<(), ContractViolation> {
    histories(1_000, 8, 1_000_000).await
}

/// The same, with nine thousand more histories.
#[tokio::test]
#[ignore = "takes a minute: .ci/full histories"]
async fn ten_thousand_histories_are_those_of_the_store_in_memory() -> Result<(), ContractViolation>
{
    histories(10_000, 8, 1_000_000).await
}

/// A few long histories, which fill events and collections.
#[tokio::test]
async fn long_histories_are_those_of_the_store_in_memory() -> Result<(), ContractViolation> {
    histories(20, 300, 2_000_000).await
}
