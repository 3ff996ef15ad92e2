//! Pollers that read changes since their last poll, while others write, must miss nothing. The
//! tests of svc-postgres also use this module.
//!
//! Requirements: FLT-12, SYN-04, SYN-12.

use std::{
    collections::HashSet,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use http::{HeaderMap, HeaderName, HeaderValue, Method, header::ACCEPT};
use serde_json::Value;
use svc_core::{
    Api, ChangeFeed, Context, FeedRequest, FeedResponse, ListRequest, PageRequest, Tenant, Vendor,
    api::{Request, Timer, WaitLimits},
    auth::{Caller, FixedKeys, Identity, Principal, Rights},
    filter::{Filter, FilterField},
    model::Kind,
    page::NextPage,
    raw::{RawDraft, RawPatch},
    read::Object,
    store::{Store, WriteOperation, WriteOutcome, WriteRequest},
    value::{Id, Identifier, Timestamp},
};
use tokio::task::JoinSet;

/// One in ten of the requests of each writer is rejected and rolled back.
const WRITERS: usize = 8;

/// The number of requests of all writers: 1 000, or `SVC_FEED_CALLS`.
pub(crate) fn calls() -> usize {
    std::env::var("SVC_FEED_CALLS")
        .ok()
        .and_then(|number| number.parse().ok())
        .unwrap_or(1_000)
}

fn draft(identifier: &str) -> RawDraft {
    let mut draft = RawDraft::empty(Kind::Person);
    draft.fields.insert("given_name", "Ada");
    draft.identifiers.extend(Identifier::parse(identifier));
    draft
}

/// Counts polls. Writers, however fast, wait for at least two polls before they have finished.
#[derive(Default)]
struct Watched {
    looks: AtomicUsize,
    streams: AtomicUsize,
}

impl Watched {
    /// Waits for two polls, and for a stream that was read to its end.
    async fn wait(&self) {
        while self.looks.load(Ordering::Acquire) < 2 || self.streams.load(Ordering::Acquire) < 1 {
            tokio::task::yield_now().await;
        }
    }
}

/// Creates and changes people. Returns the last change of each.
async fn write<S: Store>(
    store: &S,
    cx: &Context,
    writer: usize,
    calls: usize,
    watched: &Watched,
) -> Vec<(Id, Timestamp)> {
    let mut made = Vec::new();
    for number in 0..calls {
        if number == calls / 2 {
            watched.wait().await;
        }
        let (own, is_refused) = (format!("w{writer}:{number}"), number % 10 == 9);
        let work = match made.last() {
            Some((at, _)) if number % 3 == 2 && !is_refused => {
                let mut fields = Object::new();
                fields.insert("given_name", format!("Ada {number}"));
                WriteOperation::Update(
                    svc_core::link::RecordAddress::without_parent(Kind::Person, Id::clone(at)),
                    RawPatch::new(Kind::Person, fields),
                )
            }
            // The identifier is in use: the request changes nothing.
            _ => WriteOperation::Create(draft(if is_refused { "taken:1" } else { &own })),
        };
        match store.write(cx, WriteRequest::new(cx, work)).await {
            Ok(WriteOutcome::Created { record, .. }) => {
                made.push((record.meta().id.clone(), record.meta().modified));
            }
            Ok(WriteOutcome::Updated(Some(record))) => {
                made.pop();
                made.push((record.meta().id.clone(), record.meta().modified));
            }
            other => assert!(is_refused && other.is_err(), "{other:?}"),
        }
    }
    made
}

/// Reads the changes since a time. Returns the time to continue from.
async fn look<S: Store>(
    store: &S,
    cx: &Context,
    since: Timestamp,
    seen: &mut HashSet<(Id, Timestamp)>,
) -> Timestamp {
    let text = format!("modified_date gt '{since}'");
    let filter = Filter::parse(&text, &[FilterField::ModifiedDate], "here").unwrap();
    let mut request = ListRequest::all(PageRequest::new(1, 7)).with_filter(filter);
    let mut last = since;
    loop {
        let page = store.list(cx, Kind::Person, &request).await.unwrap();
        for record in page.records {
            let meta = record.meta();
            assert!(
                meta.modified > last,
                "FLT-09: {} is not after {last}",
                meta.modified
            );
            last = meta.modified;
            seen.insert((meta.id.clone(), meta.modified));
        }
        let NextPage::Cursor(after) = page.next else {
            return last;
        };
        request.page = PageRequest::new(request.page.number + 1, 7).with_cursor(after);
    }
}

/// Reads the changes after a cursor. Returns the cursor to continue from.
async fn follow<S: ChangeFeed>(
    store: &S,
    cx: &Context,
    mut after: Option<String>,
    seen: &mut HashSet<(Id, Timestamp)>,
) -> Option<String> {
    loop {
        let request = FeedRequest::new(after, vec![Kind::Person], 7);
        let FeedResponse::Page(page) = store.read(cx, &request).await.unwrap() else {
            panic!("no page for {request:?}")
        };
        seen.extend(
            page.entries
                .into_iter()
                .map(|entry| (entry.change.address.id, entry.change.changed_at)),
        );
        after = Some(page.next_cursor);
        if !page.has_more {
            return after;
        }
    }
}

/// Event streams of the whole API, one after another.
struct Events {
    api: Api,
    tenant: Tenant,
    last: Option<String>,
    seen: HashSet<(Id, Timestamp)>,
    streams: usize,
}

impl Events {
    fn of<S: Store + ChangeFeed + Clone>(store: &S, tenant: &Tenant) -> Self {
        let store = Arc::new(store.clone());
        let api = Api::builder(Vendor::new("Acme", "CRM"))
            .store(&store)
            .change_feed(&store)
            .authenticator(FixedKeys::new());
        // So short that many streams end while others write.
        let api = api
            .base_url("http://localhost/")
            .max_wait(Duration::from_millis(100))
            .build()
            .unwrap();
        Self {
            api,
            tenant: tenant.clone(),
            last: None,
            seen: HashSet::new(),
            streams: 0,
        }
    }

    /// Reads one stream to its end.
    async fn read(&mut self) {
        let mut headers =
            HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static("text/event-stream"))]);
        if let Some(last) = &self.last {
            headers.insert("last-event-id", last.parse().unwrap());
        }
        let who = Identity::Authenticated(Principal::new(
            self.tenant.clone(),
            Caller::with_rights(Rights::all()),
        ));
        let request = Request::new(&Method::GET, "changes")
            .with_query(Some("per_page=7"))
            .with_headers(&headers);
        let reply = self.api.handle(who, request.with_timer(&Tokio)).await;
        assert_eq!(reply.status, 200, "SYN-12: {:?}", self.last);
        let mut part = Some(reply.body);
        let mut following = reply.event_stream.unwrap();
        self.streams += 1;
        while let Some(event) = part {
            self.take(std::str::from_utf8(&event).unwrap());
            part = following.next(&Tokio).await;
        }
    }

    fn take(&mut self, event: &str) {
        for line in event.lines() {
            if let Some(id) = line.strip_prefix("id: ") {
                self.last = Some(id.to_owned());
            } else if let Some(page) = line.strip_prefix("data: ") {
                let page: Value = serde_json::from_str(page).unwrap();
                for entry in page["_embedded"]["ext:changes"].as_array().unwrap() {
                    let href = entry["_links"]["svc:person"]["href"].as_str().unwrap();
                    let id = Id::new(href.rsplit('/').next().unwrap()).unwrap();
                    self.seen
                        .insert((id, Timestamp::parse(entry["at"].as_str().unwrap()).unwrap()));
                }
            }
        }
    }
}

/// Tokio's timer.
struct Tokio;

impl Timer for Tokio {
    fn sleep(&self, time: Duration) -> Option<Pin<Box<dyn Future<Output = ()> + Send>>> {
        Some(Box::pin(tokio::time::sleep(time)))
    }
}

/// FLT-12, SYN-04, SYN-12: pollers by `modified_date`, by cursor and by events miss no change of
/// writers on these stores. One request in ten is rolled back. The stores share a database, such as
/// those of two processes.
pub(crate) async fn misses_nothing<S: Store + ChangeFeed + Clone>(
    stores: &[S],
    tenant: &Tenant,
    calls: usize,
) {
    let cx = || Context::new(tenant.clone(), Caller::anonymous(), Timestamp::now());
    let (here, there) = (stores.first().unwrap(), stores.last().unwrap());
    here.write(
        &cx(),
        WriteRequest::new(&cx(), WriteOperation::Create(draft("taken:1"))),
    )
    .await
    .unwrap();
    let calls = calls.div_ceil(WRITERS);
    let watched = Arc::new(Watched::default());
    let mut writers = JoinSet::new();
    for writer in 0..WRITERS {
        let (store, cx, watched) = (
            stores[writer % stores.len()].clone(),
            cx(),
            Arc::clone(&watched),
        );
        writers.spawn(async move { write(&store, &cx, writer, calls, &watched).await });
    }
    let are_done = Arc::new(AtomicBool::new(false));
    let streamed = tokio::spawn({
        let (mut events, are_done, watched) = (
            Events::of(there, tenant),
            Arc::clone(&are_done),
            Arc::clone(&watched),
        );
        async move {
            loop {
                let is_last = are_done.load(Ordering::Acquire);
                events.read().await;
                watched.streams.fetch_add(1, Ordering::Release);
                if is_last {
                    return events;
                }
            }
        }
    });
    let (mut by_date, mut by_cursor) = (HashSet::new(), HashSet::new());
    let (mut since, mut after) = (Timestamp::MIN, None);
    let mut written = Vec::new();
    while !writers.is_empty() {
        since = look(here, &cx(), since, &mut by_date).await;
        after = follow(there, &cx(), after, &mut by_cursor).await;
        watched.looks.fetch_add(1, Ordering::Release);
        while let Some(done) = writers.try_join_next() {
            written.extend(done.unwrap());
        }
        tokio::task::yield_now().await;
    }
    are_done.store(true, Ordering::Release);
    // A store without cursors returns one page per poll.
    while let next = look(here, &cx(), since, &mut by_date).await
        && next > since
    {
        since = next;
    }
    follow(there, &cx(), after, &mut by_cursor).await;
    let events = streamed.await.unwrap();
    let looks = watched.looks.load(Ordering::Acquire);
    assert!(
        looks > 1 && written.len() > WRITERS * calls / 2,
        "{looks} polls of {} records",
        written.len()
    );
    assert!(events.streams > 1, "streams end, and are continued");
    for (how, seen) in [
        ("FLT-12, by date", by_date),
        ("SYN-04, by cursor", by_cursor),
        ("SYN-12, by events", events.seen),
    ] {
        let missed: Vec<_> = written
            .iter()
            .filter(|change| !seen.contains(change))
            .collect();
        assert!(
            missed.is_empty(),
            "{how}: missed {} of {}: {missed:?}",
            missed.len(),
            written.len()
        );
    }
}

/// Returns the median time of a read of the second tenant, while the first one writes and this many
/// requests wait for its changes.
pub(crate) async fn median_read_among_waiters<S: Store + ChangeFeed + Clone>(
    store: &S,
    [busy, other]: [&Tenant; 2],
    waiters: usize,
) -> Duration {
    let shared = Arc::new(store.clone());
    let api = Api::builder(Vendor::new("Acme", "CRM"))
        .store(&shared)
        .change_feed(&shared)
        .authenticator(FixedKeys::new());
    let api = api.wait_limits(WaitLimits::default().per_key(waiters).per_tenant(waiters));
    let api = api.base_url("http://localhost/").build().unwrap();
    let answered = Arc::new(AtomicUsize::new(0));
    let mut waiting = JoinSet::new();
    for _ in 0..waiters {
        let (api, busy, answered) = (api.clone(), busy.clone(), Arc::clone(&answered));
        waiting.spawn(async move {
            let headers = HeaderMap::from_iter([(
                HeaderName::from_static("prefer"),
                HeaderValue::from_static("wait=30"),
            )]);
            let mut query = None;
            loop {
                let who = Identity::Authenticated(Principal::new(
                    busy.clone(),
                    Caller::with_rights(Rights::all()),
                ));
                let request = Request::new(&Method::GET, "changes").with_query(query.as_deref());
                let reply = api
                    .handle(who, request.with_headers(&headers).with_timer(&Tokio))
                    .await;
                assert_eq!(reply.status, 200);
                let page: Value = serde_json::from_slice(&reply.body).unwrap();
                let href = page["_links"]["last"]["href"].as_str().unwrap();
                query = href.split_once('?').map(|(_, query)| query.to_owned());
                answered.fetch_add(1, Ordering::Release);
            }
        });
    }
    let write = async || {
        let cx = Context::new(busy.clone(), Caller::anonymous(), Timestamp::now());
        store
            .write(
                &cx,
                WriteRequest::new(&cx, WriteOperation::Create(RawDraft::empty(Kind::Person))),
            )
            .await
            .unwrap();
    };
    let mut times = Vec::new();
    for _ in 0..15 {
        let before = answered.load(Ordering::Acquire);
        write().await;
        for _ in 0..20 {
            let who = Identity::Authenticated(Principal::new(
                other.clone(),
                Caller::with_rights(Rights::all()),
            ));
            let begun = Instant::now();
            let reply = api.handle(who, Request::new(&Method::GET, "people")).await;
            times.push(begun.elapsed());
            assert_eq!(reply.status, 200);
        }
        while answered.load(Ordering::Acquire) < before + waiters {
            tokio::task::yield_now().await;
        }
    }
    times.sort();
    times[times.len() / 2]
}

/// Prints how much 800 waiting requests of one tenant slow down the reads of another tenant. The
/// goal is a factor of at most 2.
pub(crate) async fn compare_among_waiters<S: Store + ChangeFeed + Clone>(
    store: &S,
    tenants: [&Tenant; 2],
) {
    for _ in 0..3 {
        let without = median_read_among_waiters(store, tenants, 0).await;
        let with = median_read_among_waiters(store, tenants, 800).await;
        println!(
            "median read: {without:?} alone, {with:?} with 800 waiters: {:.1} (goal: at most 2)",
            with.div_duration_f64(without)
        );
    }
}

/// The same poll misses changes that have the date of their receipt instead of their commit. A poll
/// that could not miss anything would prove nothing.
#[test]
fn dates_of_receipt_miss_changes() {
    let (mut committed, mut seen, mut since) = (Vec::new(), Vec::new(), 0);
    let mut held: Vec<(usize, usize)> = Vec::new();
    for received in 1..=100 {
        // Each third transaction is delayed until five more have arrived.
        let until = if received % 3 == 0 {
            received + 5
        } else {
            received
        };
        held.push((received, until));
        committed.extend(
            held.extract_if(.., |(_, until)| *until <= received)
                .map(|(received, _)| received),
        );
        seen.extend(committed.iter().copied().filter(|date| *date > since));
        since = since.max(committed.iter().copied().max().unwrap_or_default());
    }
    let missed = committed.iter().filter(|date| !seen.contains(date)).count();
    assert!(missed > 20, "{missed} of {}", committed.len());
}
