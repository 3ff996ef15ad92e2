//! The tests for all stores, run with the in-memory store.

use std::sync::Arc;

use async_trait::async_trait;
use svc_core::helper::{MatchKey, PersonMatching};
use svc_core::link::RecordAddress;
use svc_core::model::Kind;
use svc_core::raw::{RawPage, RawRecord};
use svc_core::read::Object;
use svc_core::store::{LookupKey, Store, WriteOutcome, WriteRequest};
use svc_core::value::Identifier;
use svc_core::{ChangeFeed, Context, FeedRequest, FeedResponse, ListRequest, Tenant};
use svc_store::memory::MemoryStore;
use svc_store::store_testkit::{
    ContractViolation, NumberedPages, StoreTests, check, check_feed, check_feed_among_writers,
    check_filters, check_names, check_outgoing, check_recount, check_rulebook, check_webhooks,
};

/// Compares the store with a second one: undo, clock and batches. Equal histories must have equal
/// results.
#[tokio::test]
async fn the_store_in_memory_keeps_the_laws() -> Result<(), ContractViolation> {
    check(async || (MemoryStore::new(), ["one", "two"].map(Tenant::new))).await
}

/// MRG-20: histories undo merges, and try to undo merges for which it is too late.
#[tokio::test]
async fn mrg_20_histories_undo_merges() -> Result<(), ContractViolation> {
    let histories = StoreTests::new().calls(60).histories(100).seed(9_000);
    let coverage = histories
        .check_and_count(async || (MemoryStore::new(), ["one", "two"].map(Tenant::new)))
        .await?;
    let undone = coverage.operations["people.undo merge"];
    assert!(undone.effects > 2 && undone.rejections > 2, "{undone:?}");
    Ok(())
}

/// UND-38: a membership that is loaded a second time is not new. Of ten thousand histories, only
/// this one covered it.
#[tokio::test]
async fn und_38_a_membership_that_is_there_is_not_new_when_it_is_loaded()
-> Result<(), ContractViolation> {
    let histories = StoreTests::new().seed(4462).histories(1);
    histories
        .check(async || (MemoryStore::new(), ["one", "two"].map(Tenant::new)))
        .await
}

/// HOOK-12, HOOK-14: the in-memory store stores webhooks correctly.
#[tokio::test]
async fn hook_14_webhooks_are_kept() -> Result<(), ContractViolation> {
    check_webhooks(&MemoryStore::new(), ["one", "two"].map(Tenant::new)).await
}

#[tokio::test]
async fn the_rulebook_is_repeatable_and_keeps_the_order_of_calls() -> Result<(), ContractViolation>
{
    check_rulebook(300).await
}

/// RES-event-16 to RES-event-20, RES-fundraising_page-09, RES-fundraising_page-10: a store that
/// preserves its totals passes, and a store that loses its records fails.
#[tokio::test]
async fn different_totals_break_the_contract() -> Result<(), ContractViolation> {
    let tenants = || ["one", "two"].map(Tenant::new);
    check_recount(MemoryStore::new(), tenants(), async |store| store).await?;
    let lost = check_recount(MemoryStore::new(), tenants(), async |_| MemoryStore::new()).await;
    let lost = lost.unwrap_err();
    assert_eq!((lost.law, lost.step), ("recount", 2));
    Ok(())
}

/// HAF-11, SCH-01, SCH-04, UND-26: compares the store with a second one.
#[tokio::test]
async fn haf_11_what_is_to_be_sent_is_equal_for_equal_calls() -> Result<(), ContractViolation> {
    check_outgoing(
        &Arc::new(MemoryStore::new()),
        ["one", "two"].map(Tenant::new),
        3_000,
    )
    .await
}

/// SYN-02, SYN-04: a client that follows the feed gets every record.
#[tokio::test]
async fn syn_02_the_feed_of_the_store_in_memory_is_complete() -> Result<(), ContractViolation> {
    check_feed(async || (MemoryStore::new(), ["one", "two"].map(Tenant::new))).await
}

/// Returns the number of requests of the writers; `SVC_FEED_CALLS=100000` for a long run.
fn calls() -> usize {
    std::env::var("SVC_FEED_CALLS")
        .ok()
        .and_then(|number| number.parse().ok())
        .unwrap_or(2_000)
}

/// SYN-02, SYN-04: the feed misses none of the changes of concurrent writers.
#[tokio::test]
async fn syn_04_a_poller_among_writers_misses_nothing() -> Result<(), ContractViolation> {
    check_feed_among_writers(&[MemoryStore::new()], &Tenant::new("one"), calls()).await
}

/// A feed that omits the last entry of each page with more than one.
#[derive(Clone)]
struct Forgetful(MemoryStore);

#[async_trait]
impl ChangeFeed for Forgetful {
    async fn read(&self, cx: &Context, request: &FeedRequest) -> svc_core::Result<FeedResponse> {
        let mut feed = self.0.read(cx, request).await?;
        if let FeedResponse::Page(page) = &mut feed
            && page.entries.len() > 1
        {
            page.entries.pop();
        }
        Ok(feed)
    }
}

#[async_trait]
impl Store for Forgetful {
    async fn list(
        &self,
        cx: &Context,
        kind: Kind,
        request: &ListRequest,
    ) -> svc_core::Result<RawPage> {
        self.0.list(cx, kind, request).await
    }

    async fn get(&self, cx: &Context, at: &RecordAddress) -> svc_core::Result<Option<RawRecord>> {
        Store::get(&self.0, cx, at).await
    }

    async fn find(&self, cx: &Context, key: &LookupKey) -> svc_core::Result<Option<RawRecord>> {
        self.0.find(cx, key).await
    }

    async fn write(&self, cx: &Context, call: WriteRequest) -> svc_core::Result<WriteOutcome> {
        self.0.write(cx, call).await
    }
}

#[tokio::test]
async fn a_feed_that_forgets_breaks_the_law() {
    let store = || Forgetful(MemoryStore::new());
    let histories = check_feed(async || (store(), ["one", "two"].map(Tenant::new))).await;
    assert_eq!(histories.unwrap_err().law, "feed");
    let writers = check_feed_among_writers(&[store()], &Tenant::new("one"), 200).await;
    assert_eq!(writers.unwrap_err().law, "feed");
}

/// FLT-01, FLT-02, FLT-05, FLT-08, FLT-09: 5 000 filters and orders, with pages read by cursor and
/// by number.
#[tokio::test]
async fn flt_01_filters_show_what_each_record_says() -> Result<(), ContractViolation> {
    check_filters(&MemoryStore::new(), ["one", "two"].map(Tenant::new), 5_000).await
}

/// UND-02, UND-03: names are unique without regard to case.
#[tokio::test]
async fn und_02_names_are_unique() -> Result<(), ContractViolation> {
    check_names(&MemoryStore::new(), Tenant::new("one")).await
}

/// HLP-04, MRG-06, MRG-20: sign-ups create one person for each mailbox, and totals are right after merges.
/// `SVC_LAWS` is the number of histories.
#[tokio::test]
async fn hlp_04_sign_ups_create_one_person_for_each_mailbox() -> Result<(), ContractViolation> {
    let tests = StoreTests::new();
    let tests = tests.clone().of_environment().unwrap_or(tests);
    tests
        .check_matching(async || (MemoryStore::new(), ["one", "two"].map(Tenant::new)))
        .await
}

/// A method that never matches people.
#[derive(Debug)]
struct NeverMatches;

impl PersonMatching for NeverMatches {
    fn keys(&self, _: &[Identifier], _: &Object) -> Vec<MatchKey> {
        Vec::new()
    }

    fn description(&self) -> &'static str {
        "Never."
    }
}

#[tokio::test]
async fn a_store_that_never_matches_violates_the_contract() {
    let store = || MemoryStore::new().person_matching(NeverMatches);
    let tests = StoreTests::new().histories(2);
    let checked = tests
        .check_matching(async || (store(), ["one", "two"].map(Tenant::new)))
        .await;
    let violation = checked.unwrap_err();
    assert_eq!(violation.law, "matching");
    assert!(violation.text.contains("several people"), "{violation}");
}

/// COL-23, COL-28: a page by number agrees with its own total during concurrent writes.
async fn pages_agree(pages: usize) -> Result<(), ContractViolation> {
    let (store, tenant) = (MemoryStore::new(), Tenant::new("one"));
    let pages_by_number = Arc::new(NumberedPages::new(store, tenant));
    let writer = Arc::clone(&pages_by_number);
    let writer = tokio::spawn(async move { writer.write().await });
    pages_by_number.read(pages).await?;
    writer.await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn col_23_pages_by_number_agree_with_their_totals() -> Result<(), ContractViolation> {
    pages_agree(1_000).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "30 000 pages: .ci/full pages"]
async fn col_23_many_pages_by_number_agree_with_their_totals() -> Result<(), ContractViolation> {
    pages_agree(30_000).await
}
