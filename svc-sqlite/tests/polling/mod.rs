//! Somebody who reads what was changed since the last look, while others write: nothing may be missed (FLT-12). The tests of
//! svc-postgres use it, too.

use std::collections::HashSet;

use svc_core::{
    Context, ListRequest, PageRequest, Tenant,
    auth::Caller,
    filter::{Filter, Filterable},
    model::Kind,
    page::Next,
    raw::{RawDraft, RawPatch},
    read::Object,
    store::{Call, Outcome, Store, Work},
    value::{Id, Identifier, Timestamp},
};
use tokio::task::JoinSet;

/// Writers, and calls of each: one in ten is refused and rolled back.
const WRITERS: usize = 8;
const CALLS: usize = 120;

fn draft(identifier: &str) -> RawDraft {
    let mut draft = RawDraft::empty(Kind::Person);
    draft.fields.insert("given_name", "Ada");
    draft.identifiers.extend(Identifier::parse(identifier));
    draft
}

/// Creates and changes people; what the last change of each was.
async fn write<S: Store>(store: &S, cx: &Context, writer: usize) -> Vec<(Id, Timestamp)> {
    let mut made = Vec::new();
    for number in 0..CALLS {
        let (own, is_refused) = (format!("w{writer}:{number}"), number % 10 == 9);
        let work = match made.last() {
            Some((at, _)) if number % 3 == 2 && !is_refused => {
                let mut fields = Object::new();
                fields.insert("given_name", format!("Ada {number}"));
                Work::Update(
                    svc_core::link::Address::top(Kind::Person, Id::clone(at)),
                    RawPatch::new(Kind::Person, fields),
                )
            }
            // An identifier that is taken: nothing of the call stays.
            _ => Work::Create(draft(if is_refused { "taken:1" } else { &own })),
        };
        match store.write(cx, Call::new(cx, work)).await {
            Ok(Outcome::Created { record, .. }) => made.push((record.meta().id.clone(), record.meta().modified)),
            Ok(Outcome::Updated(Some(record))) => {
                made.pop();
                made.push((record.meta().id.clone(), record.meta().modified));
            }
            other => assert!(is_refused && other.is_err(), "{other:?}"),
        }
    }
    made
}

/// What was changed since a moment, and the moment to go on from.
async fn look<S: Store>(store: &S, cx: &Context, since: Timestamp, seen: &mut HashSet<(Id, Timestamp)>) -> Timestamp {
    let text = format!("modified_date gt '{since}'");
    let filter = Filter::read(&text, &[Filterable::ModifiedDate], "here").unwrap();
    let mut request = ListRequest::all(PageRequest::new(1, 7)).filtered(filter);
    let mut last = since;
    loop {
        let page = store.list(cx, Kind::Person, &request).await.unwrap();
        for record in page.records {
            let meta = record.meta();
            assert!(meta.modified > last, "FLT-09: {} is behind {last}", meta.modified);
            last = meta.modified;
            seen.insert((meta.id.clone(), meta.modified));
        }
        let Next::After(after) = page.next else { return last };
        request.page = PageRequest::new(request.page.number + 1, 7).after(after);
    }
}

/// FLT-12: a poller by `modified_date` against writers, some of whose calls are rolled back, misses no change.
pub(crate) async fn misses_nothing<S: Store + Clone>(store: &S, tenant: &Tenant) {
    let cx = || Context::new(tenant.clone(), Caller::anonymous(), Timestamp::now());
    store.write(&cx(), Call::new(&cx(), Work::Create(draft("taken:1")))).await.unwrap();
    let mut writers = JoinSet::new();
    for writer in 0..WRITERS {
        let (store, cx) = (store.clone(), cx());
        writers.spawn(async move { write(&store, &cx, writer).await });
    }
    let (mut seen, mut since, mut looks) = (HashSet::new(), Timestamp::MIN, 0_usize);
    let mut written = Vec::new();
    while !writers.is_empty() {
        since = look(store, &cx(), since, &mut seen).await;
        looks += 1;
        while let Some(done) = writers.try_join_next() {
            written.extend(done.unwrap());
        }
        tokio::task::yield_now().await;
    }
    look(store, &cx(), since, &mut seen).await;
    assert!(looks > 1 && written.len() > WRITERS * CALLS / 2, "{looks} looks at {} records", written.len());
    let missed: Vec<_> = written.iter().filter(|change| !seen.contains(change)).collect();
    assert!(missed.is_empty(), "FLT-12: missed {} of {}: {missed:?}", missed.len(), written.len());
}
