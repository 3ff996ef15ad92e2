use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rusqlite::Connection;
use svc_core::auth::Caller;
use svc_core::context::Context;
use svc_core::model::Kind;
use svc_core::page::{ListRequest, NextPage, PageRequest};
use svc_core::raw::RawDraft;
use svc_core::store::{WriteOperation, WriteRequest};
use svc_core::value::Timestamp;
use svc_store::offset_index::{MembershipChange, OffsetIndex, collection_key};

use crate::error::Result;
use crate::{SqliteOptions, SqliteStore};

fn rows(file: &Connection, kind: i64) -> Result<Vec<i64>> {
    let mut rows = file.prepare_cached("SELECT seq FROM member WHERE kind = ?1 ORDER BY seq")?;
    Ok(rows
        .query_map([kind], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?)
}

/// COL-23: a page by number agrees with its own total, even if the offset index is newer than the
/// snapshot of the read.
#[tokio::test]
async fn a_page_agrees_with_its_total_when_the_index_does_not() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(SqliteOptions::new(folder.path().join("data.db"))).unwrap();
    let tenant = store.ensure_tenant("demo").await.unwrap();
    let cx = || Context::new(tenant.clone(), Caller::anonymous(), Timestamp::MAX);
    for _ in 0..7 {
        let create = WriteOperation::Create(RawDraft::empty(Kind::Person));
        svc_core::store::Store::write(&store, &cx(), WriteRequest::new(&cx(), create))
            .await
            .unwrap();
    }
    let page = async |number| {
        let request = ListRequest::all(PageRequest::new(number, 3));
        let page = svc_core::store::Store::list(&store, &cx(), Kind::Person, &request)
            .await
            .unwrap();
        (page.records.len(), page.total, page.next == NextPage::None)
    };
    assert_eq!(page(3).await, (1, 7, true));
    // Simulates that another connection has deleted the first person and created another one, and
    // that the index has followed.
    let number = store
        .readers()
        .with(|file| Ok(file.query_row("SELECT tenant FROM people", (), |row| row.get(0))?))
        .unwrap();
    let people = || collection_key(number, Kind::Person, None);
    store
        .offset_index()
        .apply(&[MembershipChange::new(people(), 1, false)]);
    assert_eq!(page(3).await, (1, 7, true), "deleted");
    store.offset_index().apply(&[
        MembershipChange::new(people(), 8, true),
        MembershipChange::new(people(), 1, true),
    ]);
    for (number, expected) in [(2, (3, 7, false)), (3, (1, 7, true)), (4, (0, 7, true))] {
        assert_eq!(page(number).await, expected, "recorded: {number}");
    }
}

async fn nth(
    store: &SqliteStore,
    index: &Arc<OffsetIndex>,
    kind: i64,
    position: u64,
) -> Option<i64> {
    let name = [u8::try_from(kind).unwrap()];
    let read = |mut load: svc_store::offset_index::IndexLoad| {
        store.readers().spawn(1, move |file| {
            rows(file, kind)?
                .into_iter()
                .for_each(|row| load.insert(row));
            Ok(load.finish()?)
        })
    };
    index.nth(&name, position, read).await.unwrap()
}

/// COL-22: jumps agree with the file while 4 threads write, and a small memory limit forces
/// repeated loads of the index.
#[test]
fn jumps_agree_with_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(SqliteOptions::new(folder.path().join("data.db"))).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(4)
        .enable_all()
        .build()
        .unwrap();
    let index = Arc::new(OffsetIndex::with_limits(1, usize::MAX));
    runtime.block_on(async {
        let table = "CREATE TABLE member (seq INTEGER PRIMARY KEY, kind INTEGER); CREATE INDEX i ON member (kind, seq)";
        store.writer().run(None, |job| Ok(job.file.execute_batch(table)?)).await.unwrap();
        let jumps = Arc::new(AtomicU64::new(0));
        let mut tasks = Vec::new();
        for worker in 0..4_i64 {
            let (store, index, jumps) = (store.clone(), Arc::clone(&index), Arc::clone(&jumps));
            tasks.push(tokio::spawn(async move {
                for step in 0..150_i64 {
                    let (kind, remove) = ((worker + step) % 2, step % 5 == 4);
                    let follow = Arc::clone(&index);
                    let write = store.writer().run(None, move |job| {
                        let seq: Option<i64> = if remove {
                            job.file.prepare_cached("DELETE FROM member WHERE seq = (SELECT min(seq) FROM member WHERE kind = ?1) RETURNING seq")?
                                .query([kind])?
                                .next()?
                                .map(|row| row.get(0))
                                .transpose()?
                        } else {
                            job.file.prepare_cached("INSERT INTO member (kind) VALUES (?1)")?.execute([kind])?;
                            Some(job.file.last_insert_rowid())
                        };
                        let changes: Vec<_> = seq
                            .map(|row| MembershipChange::new([u8::try_from(kind).unwrap()].into(), row, !remove))
                            .into_iter()
                            .collect();
                        let follow = Arc::clone(&follow);
                        job.after_commit(move || follow.apply(&changes));
                        Ok(())
                    });
                    write.await.unwrap();
                    nth(&store, &index, kind, 0).await;
                    jumps.fetch_add(1, Ordering::Relaxed);
                }
            }));
        }
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(jumps.load(Ordering::Relaxed), 600);
        for kind in 0..2_i64 {
            let expected = store.readers().with(|file| rows(file, kind)).unwrap();
            let mut found = Vec::new();
            while let Some(row) = nth(&store, &index, kind, found.len() as u64).await {
                found.push(row);
            }
            assert_eq!(found, expected);
        }
    });
}
