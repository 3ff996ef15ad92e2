//! The law of the feed: who follows its cursors has what is there, and is told it in the order in
//! which it was done.

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
    context::{Context, Tenant},
    draft::{RawDraft, RawPatch},
    link::RecordAddress,
    model::Kind,
    ops::{ChangeFeed, ChangeKind, FeedEntry, FeedPage, FeedRequest, FeedResponse},
    page::{ListRequest, NextPage, PageRequest},
    read::Object,
    store::{Store, WriteOperation, WriteOutcome, WriteRequest},
    value::{Id, Timestamp},
};

use super::{ContractViolation, History, StoreTests, together::at_once};

/// Checks the law of the feed over a hundred histories.
///
/// # Errors
///
/// The first time that it was seen to be broken.
pub async fn check_feed<S: Store + ChangeFeed>(
    make: impl AsyncFn() -> (S, [Tenant; 2]),
) -> Result<(), ContractViolation> {
    StoreTests::new().histories(100).check_feed(make).await
}

/// Checks that a poller misses nothing of what eight writers do at the same time, of whom each
/// tenth call is refused after it was decided: `calls` in all. The stores are of one database, such
/// as those of two processes.
///
/// # Errors
///
/// The first thing that was missed, told twice, or told in another order.
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
    at_once(all).await.into_iter().collect()
}

/// Checks that a store that keeps changes for an hour forgets those that are older, whenever its
/// tenant writes, and no other ones. `pass` moves its clock on.
///
/// # Errors
///
/// What was forgotten too early, kept too long, or answered otherwise.
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
    history.holds(Some(&first), 1).await?;
    pass(minutes(50));
    let third = history.written().await?;
    history.is_expired(&first).await?;
    history.holds(Some(&second), 1).await?;
    history.holds(None, 2).await?;
    // Where nothing is written nobody has missed anything.
    pass(minutes(100));
    history.holds(Some(&third), 0).await?;
    let last = history.written().await?;
    history.is_expired(&second).await?;
    history.holds(Some(&last), 0).await
}

const WRITERS: usize = 8;

/// What one client does.
type ClientFn<'a> = Pin<Box<dyn Future<Output = Result<(), ContractViolation>> + Send + 'a>>;

/// Lets others go on.
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

    /// Makes, changes and deletes people.
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
                .write(&cx, if is_refused { call.refused() } else { call })
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

    /// Makes a person, and gives the cursor behind it.
    async fn written(&self) -> Result<String, ContractViolation> {
        let (cx, work) = (
            self.cx(),
            WriteOperation::Create(RawDraft::empty(Kind::Person)),
        );
        let done = self.store.write(&cx, WriteRequest::new(&cx, work)).await;
        done.map_err(|error| self.broken("feed", format!("a write failed: {error:?}")))?;
        Ok(self.page(None, 1).await?.last_cursor)
    }

    /// Whether so many entries are behind a cursor.
    async fn holds(&self, after: Option<&str>, count: usize) -> Result<(), ContractViolation> {
        let page = self.page(after.map(str::to_owned), 100).await?;
        if page.entries.len() == count {
            return Ok(());
        }
        Err(self.broken(
            "feed",
            format!("{count} changes are to be kept behind {after:?}: {page:?}"),
        ))
    }

    async fn is_expired(&self, after: &str) -> Result<(), ContractViolation> {
        let request = FeedRequest::new(Some(after.to_owned()), Kind::ALL.to_vec(), 100);
        match self.store.read(&self.cx(), &request).await {
            Ok(FeedResponse::ExpiredCursor) => Ok(()),
            other => Err(self.broken("feed", format!("a cursor that is too old: {other:?}"))),
        }
    }

    /// Whether a replica has the people that are listed.
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
            request.page.number = request.page.number.saturating_add(1);
            request.page.cursor = match page.next {
                NextPage::Cursor(after) => Some(after),
                NextPage::Number if request.page.records_before() < page.total => None,
                NextPage::Number | NextPage::None => break,
            };
        }
        let missed: Vec<_> = listed
            .iter()
            .filter(|(at, date)| replica.live.get(*at) != Some(*date))
            .collect();
        if missed.is_empty() && listed.len() == replica.live.len() {
            return Ok(());
        }
        let text = format!(
            "{} are there, {} told, of them wrong: {missed:?}",
            listed.len(),
            replica.live.len()
        );
        Err(self.broken("feed", text))
    }
}

/// What a client has that follows a feed.
#[derive(Default)]
struct FeedReplica {
    after: Option<String>,
    /// What is there, and when it was changed last.
    live: HashMap<RecordAddress, Timestamp>,
    last: Option<Timestamp>,
}

impl StoreTests {
    /// Checks the law of the feed.
    ///
    /// # Errors
    ///
    /// The first time that it was seen to be broken.
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
                history.told(&outcome);
                if let WriteOperation::Load(load) = &call.work {
                    loaded.insert(load.id.clone());
                }
                let replica = here.entry(history.here.tenant.clone()).or_default();
                // Small pages, so that cursors stand between the changes of one call.
                history.follow(replica, 2).await?;
            }
            // Members that no outcome has told are met on the way.
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
                format!("no page for {:?}: {other:?}", request.after),
            )),
        }
    }

    /// Follows the feed to its end.
    async fn follow(&self, replica: &mut FeedReplica, size: u32) -> Result<(), ContractViolation> {
        loop {
            let page = self.page(replica.after.clone(), size).await?;
            for FeedEntry { change: entry, .. } in page.entries {
                if replica.last.is_some_and(|last| entry.at < last) {
                    return Err(self.broken(
                        "feed",
                        format!("told behind what was done later: {entry:?}"),
                    ));
                }
                replica.last = Some(entry.at);
                let was_there = replica.live.contains_key(&entry.record);
                if was_there == (entry.what == ChangeKind::Created) {
                    return Err(self.broken(
                        "feed",
                        format!("there before: {was_there}, and now: {entry:?}"),
                    ));
                }
                match entry.what {
                    ChangeKind::Deleted => _ = replica.live.remove(&entry.record),
                    ChangeKind::Created | ChangeKind::Changed => {
                        _ = replica.live.insert(entry.record, entry.at);
                    }
                }
            }
            replica.after = Some(page.next_cursor.clone());
            if !page.has_more {
                return if page.next_cursor == page.last_cursor {
                    Ok(())
                } else {
                    Err(self.broken("feed", "it ends before its end".into()))
                };
            }
        }
    }

    /// Whether a replica has what is there.
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
                "read from its beginning it tells something else".into(),
            ));
        }
        let begin = self.page(None, 100).await?.entries;
        for entry in begin.iter().take(2).chain(begin.last()) {
            let alone = self.page(Some(entry.after.clone()), 1).await?.entries;
            if alone.first() != Some(entry) {
                return Err(self.broken(
                    "feed",
                    format!("its own cursor leads to {alone:?}: {entry:?}"),
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
            // A loaded record brings its dates, and was told when it came.
            let is_same =
                told == modified || told.is_some() && modified.is_some() && loaded.contains(&at.id);
            if !is_same {
                return Err(
                    self.broken("feed", format!("{at:?}: told {told:?}, there {modified:?}"))
                );
            }
        }
        if met != replica.live.len() {
            return Err(self.broken(
                "feed",
                format!("{} are told, {met} are there", replica.live.len()),
            ));
        }
        // No cursor leads into what others have.
        let stranger = Context::new(
            self.there.tenant.clone(),
            Caller::anonymous(),
            Timestamp::MAX,
        );
        let request = FeedRequest::new(replica.after.clone(), Kind::ALL.to_vec(), 10);
        match self.store.read(&stranger, &request).await {
            Ok(FeedResponse::UnknownCursor) => Ok(()),
            _ if request.after.is_none() => Ok(()),
            other => Err(self.broken("feed", format!("the cursor of another tenant: {other:?}"))),
        }
    }
}
