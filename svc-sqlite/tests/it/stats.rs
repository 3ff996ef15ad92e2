//! Statistics of a store.
//!
//! Requirements: UND-36.

use svc_core::auth::{Caller, Rights};
use svc_core::model::Tag;
use svc_core::store::{Store as _, WriteOperation, WriteRequest};
use svc_core::value::Timestamp;
use svc_core::{Context, Draft, Tenant};
use svc_sqlite::{SqliteOptions, SqliteStore};

#[tokio::test]
async fn writes_share_transactions_and_are_counted() {
    let folder = tempfile::tempdir().expect("a folder");
    // Without inline commits, every write goes through the queue.
    let store =
        SqliteStore::open(SqliteOptions::new(folder.path().join("stats.db")).inline_commit(false))
            .expect("a store");
    let tenant = store.ensure_tenant("one").await.expect("a tenant");
    let before = store.stats();
    assert_eq!(
        (
            before.queued_writes,
            before.busy_readers,
            before.queued_reads
        ),
        (0, 0, 0)
    );
    let mut writes = Vec::new();
    for number in 0..40 {
        let (store, tenant) = (store.clone(), tenant.clone());
        writes.push(tokio::spawn(async move {
            let cx = context(tenant);
            let tag = Tag::default().name(format!("tag {number}"));
            let call = WriteRequest::new(&cx, WriteOperation::Create(Draft::new(&tag).into_raw()));
            let made = store.write(&cx, call).await.expect("a tag");
            drop(made);
        }));
    }
    for write in writes {
        write.await.expect("a write");
    }
    let after = store.stats();
    let (was, now) = (before.commits, after.commits);
    let (made, batches) = (now.writes - was.writes, now.transactions - was.transactions);
    assert_eq!((made, after.queued_writes), (40, 0));
    assert!(
        (1..=40).contains(&batches) && now.largest_transaction >= made.div_ceil(batches),
        "{after:?}"
    );
    assert!(now.commit_time > was.commit_time);
    let at = svc_core::link::RecordAddress::without_parent(svc_core::model::Kind::Tag, 1.into());
    assert!(
        store
            .get(&context(tenant), &at)
            .await
            .expect("a read")
            .is_none()
    );
    assert!(store.stats().open_readers >= 1);
    assert_eq!(store.stats().busy_readers, 0);
}

fn context(tenant: Tenant) -> Context {
    Context::new(tenant, Caller::with_rights(Rights::all()), Timestamp::now())
}
