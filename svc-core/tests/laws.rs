//! The laws of a store, of the store in memory, and those of the rulebook.

#![cfg(feature = "store-tests")]

use svc_core::Tenant;
use svc_core::laws::{Broken, Laws, check, check_filters, check_rulebook};
use svc_core::memory::MemoryStore;

/// Compared with another one of its kind: undo, clock, together; and that equal histories are equal at all.
#[tokio::test]
async fn the_store_in_memory_keeps_the_laws() -> Result<(), Broken> {
    check(async || (MemoryStore::new(), ["one", "two"].map(Tenant::new))).await
}

/// UND-38: a membership that is loaded a second time is not a new one. Ten thousand histories had met it once, in this one.
#[tokio::test]
async fn und_38_a_membership_that_is_there_is_not_new_when_it_is_loaded() -> Result<(), Broken> {
    let histories = Laws::new().seed(4462).histories(1);
    histories.check(async || (MemoryStore::new(), ["one", "two"].map(Tenant::new))).await
}

#[tokio::test]
async fn the_rulebook_is_repeatable_and_keeps_the_order_of_calls() -> Result<(), Broken> {
    check_rulebook(300).await
}

/// FLT-01, FLT-02, FLT-05, FLT-08, FLT-09: 5 000 filters and orders, on pages that are walked over and jumped to.
#[tokio::test]
async fn flt_01_filters_show_what_each_record_says() -> Result<(), Broken> {
    check_filters(&MemoryStore::new(), ["one", "two"].map(Tenant::new), 5_000).await
}
