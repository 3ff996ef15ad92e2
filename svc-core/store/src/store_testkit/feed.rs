//! The contract of the feed: a client that follows the cursors receives all changes in the order in
//! which they were made.

use std::{
    collections::{HashMap, HashSet},
    future::poll_fn,
    pin::Pin,
    sync::atomic::{AtomicUsize, Ordering},
    task::Poll,
    time::Duration,
};

use svc_core::{
    auth::Caller,
    backend::{ChangeFeed, ChangeKind, FeedEntry, FeedPage, FeedRequest, FeedResponse},
    context::{Context, Tenant},
    draft::{RawDraft, RawPatch},
    link::RecordAddress,
    model::Kind,
    page::{ListRequest, PageRequest},
    read::Object,
    store::{Store, WriteOperation, WriteOutcome, WriteRequest},
    value::{Id, Timestamp},
};

use super::{ContractViolation, History, StoreTests, concurrency::poll_all};

/// Checks the contract of the feed with one hundred histories.
///
/// # Errors
///
/// Returns the first violation.
pub async fn check_feed<S: Store + ChangeFeed>(
    make: impl AsyncFn() -> (S, [Tenant; 2]),
) -> Result<(), ContractViolation> {
    StoreTests::new().histories(100).check_feed(make).await
}

/// Checks that a polling client misses no change of eight concurrent writers.
///
/// The writers send `calls` requests in total, and every tenth one is rejected after its decision.
/// The stores share one database, like those of two processes.
///
/// # Errors
///
/// Returns the first change that was missed, repeated, or out of order.
pub async fn check_feed_among_writers<S: Store + ChangeFeed + Clone>(
    stores: &[S],
    tenant: &Tenant,
    calls: usize,
) -> Result<(), ContractViolation> {
    let at_work = AtomicUsize::new(WRITERS);
    let of = |number: usize| {
        stores
            .iter()
            .cycle()
            .nth(number)
            .map(|store| History::of(store, tenant))
    };
    let mut all: Vec<ClientFn<'_>> = Vec::new();
    for number in 0..WRITERS {
        let Some(history) = of(number) else {
            return Ok(());
        };
        let at_work = &at_work;
        all.push(Box::pin(async move {
            let done = history.writes(number, calls.div_ceil(WRITERS)).await;
            at_work.fetch_sub(1, Ordering::AcqRel);
            done
        }));
    }
    let (followers, at_work) = (stores.len(), &at_work);
    for number in 0..followers {
        let Some(history) = of(number) else { continue };
        all.push(Box::pin(async move {
            let mut replica = FeedReplica::default();
            while at_work.load(Ordering::Acquire) > 0 {
                history.follow(&mut replica, 10).await?;
                pause().await;
            }
            history.follow(&mut replica, 10).await?;
            history.lists(&replica).await
        }));
    }
    poll_all(all).await.into_iter().collect()
}

/// Checks that a store with a retention of one hour deletes older changes, and only those, when its
/// tenant writes. `pass` moves the clock of the store forward.
///
/// # Errors
///
/// Returns the first change that was deleted too early or too late, or an unexpected response.
///
/// Requirements: SYN-08.
pub async fn check_feed_expires<S: Store + ChangeFeed + Clone>(
    store: &S,
    tenant: &Tenant,
    pass: impl Fn(Duration),
) -> Result<(), ContractViolation> {
    let history = History::of(store, tenant);
    let minutes = |count: u64| Duration::from_secs(count.saturating_mul(60));
    let first = history.written().await?;
    pass(minutes(50));
    let second = history.written().await?;
    history.check_entry_count(Some(&first), 1).await?;
    pass(minutes(50));
    let third = history.written().await?;
    history.is_expired(&first).await?;
    history.check_entry_count(Some(&second), 1).await?;
    history.check_entry_count(None, 2).await?;
    // Without new writes, no client has missed anything.
    pass(minutes(100));
    history.check_entry_count(Some(&third), 0).await?;
    let last = history.written().await?;
    history.is_expired(&second).await?;
    history.check_entry_count(Some(&last), 0).await
}

const WRITERS: usize = 8;

/// The actions of one client.
type ClientFn<'a> = Pin<Box<dyn Future<Output = Result<(), ContractViolation>> + Send + 'a>>;

/// Lets other tasks run.
pub(super) async fn pause() {
    let mut has_waited = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut has_waited, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

impl<S: Store + ChangeFeed + Clone> History<S> {
    fn of(store: &S, tenant: &Tenant) -> Self {
        Self::new(0, store.clone(), [tenant.clone(), tenant.clone()], true)
    }

    /// Creates, changes and deletes people.
    async fn writes(self, number: usize, calls: usize) -> Result<(), ContractViolation> {
        let (cx, mut own) = (self.cx(), Vec::<RecordAddress>::new());
        for step in 0..calls {
            let work = match (step % 4, own.last().cloned()) {
                (2, Some(at)) => {
                    WriteOperation::Update(at, RawPatch::new(Kind::Person, Object::default()))
                }
                (3, Some(at)) if step % 8 == 3 => WriteOperation::Delete(at),
                _ => WriteOperation::Create(RawDraft::empty(Kind::Person)),
            };
            let is_refused = step.wrapping_add(number) % 10 == 9;
            let call = WriteRequest::new(&cx, work);
            match self
                .store
                .write(&cx, if is_refused { call.rejected() } else { call })
                .await
            {
                Ok(WriteOutcome::Created { record, .. }) => own.push(record.address()),
                Ok(WriteOutcome::Deleted(_)) => _ = own.pop(),
                Ok(_) => {}
                Err(_) if is_refused => {}
                Err(error) => return Err(self.broken("feed", format!("a write failed: {error:?}"))),
            }
            pause().await;
        }
        Ok(())
    }

    /// Creates a person, and returns the cursor after it.
    async fn written(&self) -> Result<String, ContractViolation> {
        let (cx, work) = (
            self.cx(),
            WriteOperation::Create(RawDraft::empty(Kind::Person)),
        );
        let done = self.store.write(&cx, WriteRequest::new(&cx, work)).await;
        done.map_err(|error| self.broken("feed", format!("a write failed: {error:?}")))?;
        Ok(self.page(None, 1).await?.last_cursor)
    }

    /// Checks that there is this number of entries after a cursor.
    async fn check_entry_count(
        &self,
        after: Option<&str>,
        count: usize,
    ) -> Result<(), ContractViolation> {
        let page = self.page(after.map(str::to_owned), 100).await?;
        if page.entries.len() == count {
            return Ok(());
        }
        Err(self.broken(
            "feed",
            format!("expected {count} changes after {after:?}: {page:?}"),
        ))
    }

    async fn is_expired(&self, after: &str) -> Result<(), ContractViolation> {
        let request = FeedRequest::new(Some(after.to_owned()), Kind::ALL.to_vec(), 100);
        match self.store.read(&self.cx(), &request).await {
            Ok(FeedResponse::ExpiredCursor) => Ok(()),
            other => Err(self.broken("feed", format!("expected an expired cursor: {other:?}"))),
        }
    }

    /// Checks that a replica has all listed people.
    async fn lists(&self, replica: &FeedReplica) -> Result<(), ContractViolation> {
        let (cx, mut listed) = (self.cx(), HashMap::new());
        let mut request = ListRequest::all(PageRequest::new(1, 100));
        loop {
            let page = self.store.list(&cx, Kind::Person, &request).await;
            let page =
                page.map_err(|error| self.broken("feed", format!("a read failed: {error:?}")))?;
            listed.extend(
                page.records
                    .iter()
                    .map(|record| (record.address(), record.meta().modified)),
            );
            match page.next_request(&request.page) {
                Some(next) => request.page = next,
                None => break,
            }
        }
        let missed: Vec<_> = listed
            .iter()
            .filter(|(at, date)| replica.live.get(*at) != Some(*date))
            .collect();
        if missed.is_empty() && listed.len() == replica.live.len() {
            return Ok(());
        }
        let text = format!(
            "the store has {} people, the feed {}; different: {missed:?}",
            listed.len(),
            replica.live.len()
        );
        Err(self.broken("feed", text))
    }
}

/// The state of a client that follows a feed.
#[derive(Default)]
struct FeedReplica {
    after: Option<String>,
    /// The existing records, with the time of their last change.
    live: HashMap<RecordAddress, Timestamp>,
    /// The records that were deleted at an address.
    left: HashSet<(Kind, Id)>,
    last: Option<Timestamp>,
}

impl StoreTests {
    /// Checks the contract of the feed.
    ///
    /// # Errors
    ///
    /// Returns the first violation.
    pub async fn check_feed<S: Store + ChangeFeed>(
        self,
        make: impl AsyncFn() -> (S, [Tenant; 2]),
    ) -> Result<(), ContractViolation> {
        for seed in (self.seed..).take(usize::try_from(self.histories).unwrap_or(usize::MAX)) {
            let (store, tenants) = make().await;
            let mut history = History::new(seed, store, tenants, true);
            let (mut here, mut loaded) = (HashMap::<Tenant, FeedReplica>::new(), HashSet::new());
            while history.steps < self.calls {
                history.choose();
                let call = history.call();
                let outcome = history.store.write(&history.cx(), call.clone()).await;
                history.describe_outcome(&outcome);
                if let WriteOperation::Import(load) = &call.operation {
                    loaded.insert(load.id.clone());
                }
                let replica = here.entry(history.here.tenant.clone()).or_default();
                // Pages are small, so that cursors also occur between the changes of one request.
                history.follow(replica, 2).await?;
            }
            // Members that are not part of an outcome are found here.
            history.everything().await;
            for _ in 0..2 {
                std::mem::swap(&mut history.here, &mut history.there);
                let replica = here.remove(&history.here.tenant).unwrap_or_default();
                history.ends_with(&replica, &loaded).await?;
            }
        }
        Ok(())
    }
}

impl<S: Store + ChangeFeed> History<S> {
    async fn page(&self, after: Option<String>, size: u32) -> Result<FeedPage, ContractViolation> {
        let request = FeedRequest::new(after, Kind::ALL.to_vec(), size);
        match self.store.read(&self.cx(), &request).await {
            Ok(FeedResponse::Page(page)) if page.entries.len() <= size as usize => Ok(page),
            other => Err(self.broken(
                "feed",
                format!("expected a page after {:?}: {other:?}", request.after),
            )),
        }
    }

    /// Follows the feed to its end.
    async fn follow(&self, replica: &mut FeedReplica, size: u32) -> Result<(), ContractViolation> {
        loop {
            let page = self.page(replica.after.clone(), size).await?;
            for FeedEntry { change: entry, .. } in page.entries {
                if replica.last.is_some_and(|last| entry.changed_at < last) {
                    return Err(self.broken(
                        "feed",
                        format!("an entry after one of a later change: {entry:?}"),
                    ));
                }
                replica.last = Some(entry.changed_at);
                let own = (entry.address.kind, entry.address.id.clone());
                // A record that leaves its address is changed at the next one.
                let has_moved = entry.change == ChangeKind::Changed && replica.left.remove(&own);
                let was_there = has_moved || replica.live.contains_key(&entry.address);
                if was_there == (entry.change == ChangeKind::Created) {
                    return Err(self.broken(
                        "feed",
                        format!("the record existed before: {was_there}; entry: {entry:?}"),
                    ));
                }
                match entry.change {
                    ChangeKind::Deleted => {
                        replica.live.remove(&entry.address);
                        replica.left.insert(own);
                    }
                    ChangeKind::Created | ChangeKind::Changed => {
                        _ = replica.live.insert(entry.address, entry.changed_at);
                    }
                }
            }
            replica.after = Some(page.next_cursor.clone());
            if !page.has_more {
                return if page.next_cursor == page.last_cursor {
                    Ok(())
                } else {
                    Err(self.broken("feed", "the last page is not at the end of the feed".into()))
                };
            }
        }
    }

    /// Checks that a replica is equal to the store.
    async fn ends_with(
        &self,
        replica: &FeedReplica,
        loaded: &HashSet<Id>,
    ) -> Result<(), ContractViolation> {
        let mut again = FeedReplica::default();
        self.follow(&mut again, 100).await?;
        if again.live != replica.live {
            return Err(self.broken(
                "feed",
                "reading it again from the start gives a different result".into(),
            ));
        }
        let begin = self.page(None, 100).await?.entries;
        for entry in begin.iter().take(2).chain(begin.last()) {
            let alone = self.page(Some(entry.after.clone()), 1).await?.entries;
            if alone.first() != Some(entry) {
                return Err(self.broken(
                    "feed",
                    format!("the cursor of an entry returns {alone:?} instead of {entry:?}"),
                ));
            }
        }
        let mut met = 0_usize;
        for at in &self.here.known.records {
            let found = self.store.get(&self.cx(), at).await;
            let found =
                found.map_err(|error| self.broken("feed", format!("a read failed: {error:?}")))?;
            let modified = found.as_ref().map(|record| record.meta().modified);
            let told = replica.live.get(at).copied();
            met = met.saturating_add(usize::from(told.is_some()));
            // An imported record has dates of its own. Its entry has the time of the import.
            let is_same =
                told == modified || told.is_some() && modified.is_some() && loaded.contains(&at.id);
            if !is_same {
                return Err(self.broken(
                    "feed",
                    format!("{at:?}: {told:?} in the feed, {modified:?} in the store"),
                ));
            }
        }
        if met != replica.live.len() {
            return Err(self.broken(
                "feed",
                format!(
                    "{} records in the feed, {met} in the store",
                    replica.live.len()
                ),
            ));
        }
        // A cursor gives no access to the feed of another tenant.
        let stranger = Context::new(
            self.there.tenant.clone(),
            Caller::anonymous(),
            Timestamp::MAX,
        );
        let request = FeedRequest::new(replica.after.clone(), Kind::ALL.to_vec(), 10);
        match self.store.read(&stranger, &request).await {
            Ok(FeedResponse::UnknownCursor) => Ok(()),
            _ if request.after.is_none() => Ok(()),
            other => Err(self.broken(
                "feed",
                format!("the cursor of another tenant is not rejected: {other:?}"),
            )),
        }
    }
}
