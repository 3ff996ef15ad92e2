use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};
use std::{fs, thread};

use rusqlite::Connection;
use svc_core::error::Error;
use svc_core::{RevisionSource, Tenant};
use tempfile::TempDir;

use crate::error::{Result, StoreError};
use crate::{SqliteOptions, SqliteStore};

fn open(options: impl FnOnce(SqliteOptions) -> SqliteOptions) -> (SqliteStore, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let store =
        SqliteStore::open(options(SqliteOptions::new(folder.path().join("data.db")))).unwrap();
    (store, folder)
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap()
        .block_on(future)
}

fn tenants(file: &Connection) -> Result<i64> {
    Ok(file
        .prepare_cached("SELECT count(*) FROM tenant")?
        .query_row((), |row| row.get(0))?)
}

fn add_tenant(store: &SqliteStore, name: &'static str) {
    let add = store.writer().run(None, move |job| {
        job.file
            .execute("INSERT INTO tenant (name, created) VALUES (?1, 0)", [name])?;
        Ok(())
    });
    block_on(add).unwrap();
}

#[test]
fn a_reader_cannot_write() {
    let (store, _folder) = open(|options| options);
    let write = |file: &Connection| Ok(file.execute("DELETE FROM tenant", ())?);
    assert!(matches!(
        store.readers().with(write),
        Err(StoreError::Sqlite(_))
    ));
    assert!(matches!(
        block_on(store.readers().spawn(1, write)),
        Err(StoreError::Sqlite(_))
    ));
}

#[test]
fn a_snapshot_sees_one_moment_and_the_next_read_sees_the_write() {
    let (store, _folder) = open(|options| options);
    let moments = store
        .readers()
        .with(|file| {
            let before = tenants(file)?;
            add_tenant(&store, "one");
            Ok((before, tenants(file)?))
        })
        .unwrap();
    assert_eq!(moments, (0, 0));
    assert_eq!(store.readers().with(tenants).unwrap(), 1);
    assert_eq!(block_on(store.readers().spawn(1, tenants)).unwrap(), 1);
}

#[test]
fn a_failed_or_panicking_read_leaves_no_transaction() {
    let (store, _folder) = open(|options| options.max_readers(2));
    for _ in 0..4 {
        let failed = store
            .readers()
            .with(|file| tenants(file).and(Err::<(), StoreError>(Error::not_found().into())));
        assert!(matches!(failed, Err(StoreError::Rejected(error)) if error.is_not_found()));
        let panicked = block_on(store.readers().spawn(1, |file| -> Result<()> {
            tenants(file)?;
            panic!("a bug")
        }));
        assert!(matches!(panicked, Err(StoreError::Rejected(error)) if error.is_unexpected()));
    }
    // A transaction that was left open would not see this tenant.
    add_tenant(&store, "one");
    for _ in 0..4 {
        assert_eq!(store.readers().with(tenants).unwrap(), 1);
    }
}

/// UND-36, UND-15: a held snapshot includes everything that was acknowledged, and every change of
/// another process.
#[test]
fn a_snapshot_lasts_until_anybody_commits() {
    let (store, folder) = open(|options| options.max_readers(1));
    let foreign = Connection::open(folder.path().join("data.db")).unwrap();
    for turn in 0..3 {
        assert_eq!(store.readers().with(tenants).unwrap(), 2 * turn);
        foreign
            .execute(
                "INSERT INTO tenant (name, created) VALUES (?1, 0)",
                [format!("foreign {turn}")],
            )
            .unwrap();
        assert_eq!(store.readers().with(tenants).unwrap(), 2 * turn + 1);
        let own: &'static str = ["own 0", "own 1", "own 2"][usize::try_from(turn).unwrap()];
        add_tenant(&store, own);
    }
    assert_eq!(store.readers().with(tenants).unwrap(), 6);
}

/// UND-36: snapshots of idle connections do not let the log grow, and do not prevent emptying it.
#[test]
fn idle_snapshots_let_the_log_be_emptied() {
    let (store, folder) =
        open(|options| options.max_readers(4).busy_timeout(Duration::from_secs(60)));
    let log = || {
        fs::metadata(folder.path().join("data.db-wal"))
            .unwrap()
            .len()
    };
    add_tenant(&store, "one");
    assert!(log() > 0);
    assert_eq!(store.readers().with(tenants).unwrap(), 1);
    block_on(store.checkpoint()).unwrap();
    assert_eq!(log(), 0);
    assert_eq!(store.readers().with(tenants).unwrap(), 1);
}

/// UND-36, UND-26: the log is emptied while other threads read without a pause.
#[test]
fn the_log_is_emptied_under_readers() {
    let (store, folder) =
        open(|options| options.max_readers(4).busy_timeout(Duration::from_secs(60)));
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    store.readers().with(tenants).unwrap();
                }
            });
        }
        let done: Vec<_> = ["one", "two", "three"]
            .into_iter()
            .map(|name| {
                add_tenant(&store, name);
                block_on(store.checkpoint())
            })
            .collect();
        stop.store(true, Ordering::Relaxed);
        for done in done {
            done.unwrap();
        }
    });
    assert_eq!(
        fs::metadata(folder.path().join("data.db-wal"))
            .unwrap()
            .len(),
        0
    );
}

/// UND-36: an idle server lets other programs empty the log.
#[test]
fn snapshots_that_nobody_uses_end() {
    let (store, folder) = open(|options| options);
    add_tenant(&store, "one");
    assert_eq!(store.readers().with(tenants).unwrap(), 1);
    let foreign = Connection::open(folder.path().join("data.db")).unwrap();
    foreign.busy_timeout(Duration::ZERO).unwrap();
    let is_busy = || {
        foreign
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |row| {
                row.get::<_, bool>(0)
            })
            .unwrap()
    };
    let begin = Instant::now();
    while is_busy() {
        assert!(begin.elapsed() < Duration::from_secs(5 * 60));
        thread::sleep(Duration::from_millis(10));
    }
}

/// Returns the value of a future that does not wait.
fn now<T>(future: impl Future<Output = T>) -> T {
    match std::pin::pin!(future).poll(&mut std::task::Context::from_waker(std::task::Waker::noop()))
    {
        std::task::Poll::Ready(value) => value,
        std::task::Poll::Pending => panic!("it waits"),
    }
}

/// COL-22: a page that was found between a commit and its hooks is not cached as one that was found
/// after them.
#[test]
fn changes_count_what_follows_a_commit() {
    let (store, _folder) = open(|options| options);
    let between = Arc::new(Mutex::new(None));
    let (of_hook, seen, index) = (
        store.clone(),
        Arc::clone(&between),
        Arc::clone(store.offset_index()),
    );
    let write = store.writer().run(None, move |job| {
        job.file
            .execute("INSERT INTO tenant (name, created) VALUES ('one', 0)", ())?;
        let (of_hook, seen, index) = (of_hook.clone(), Arc::clone(&seen), Arc::clone(&index));
        job.after_commit(move || {
            *seen.lock().unwrap() = now(of_hook.revision(&Tenant::new("one"), Instant::now()));
        });
        job.after_commit(move || index.apply(&[]));
        Ok(())
    });
    block_on(write).unwrap();
    let (between, after) = (
        *between.lock().unwrap(),
        now(store.revision(&Tenant::new("one"), Instant::now())),
    );
    assert!(between.is_some() && after.is_some());
    assert_ne!(between, after);
    assert_eq!(
        now(store.revision(&Tenant::new("one"), Instant::now())),
        after
    );
}

/// COL-22: a request probes the file once. It also sees later commits of this process, even for a
/// request that began before. Requests that begin after a commit of another process see that
/// commit.
#[test]
fn one_look_serves_a_request_and_hides_no_commit() {
    let (store, folder) = open(|options| options);
    let begun = Instant::now();
    let since = |moment| now(store.revision(&Tenant::new("one"), moment)).unwrap();
    let people = |moment| store.readers().with_since(moment, tenants).unwrap();
    let before = since(begun);
    assert_eq!((since(begun), people(begun)), (before, 0));
    add_tenant(&store, "one");
    assert_ne!(since(begun), before);
    assert_eq!(people(begun), 1);
    let other = Connection::open(folder.path().join("data.db")).unwrap();
    other
        .execute("INSERT INTO tenant (name, created) VALUES ('two', 0)", ())
        .unwrap();
    assert_eq!(people(Instant::now()), 2);
}

/// UND-36: no free connection within the busy timeout is 503.
#[test]
fn an_exhausted_pool_is_unavailable_and_recovers() {
    let (store, _folder) = open(|options| {
        options
            .max_readers(2)
            .busy_timeout(Duration::from_millis(10))
    });
    let (taken, is_taken) = mpsc::channel();
    let leaves: Vec<_> = (0..2)
        .map(|_| {
            let (leave, may) = mpsc::channel::<()>();
            let taken = taken.clone();
            let mut read = Box::pin(store.readers().spawn(1, move |_| {
                taken.send(()).unwrap();
                may.recv().unwrap();
                Ok(())
            }));
            let pending = read
                .as_mut()
                .poll(&mut std::task::Context::from_waker(std::task::Waker::noop()));
            assert!(pending.is_pending());
            is_taken.recv().unwrap();
            (leave, read)
        })
        .collect();
    assert!(matches!(
        store.readers().with(tenants),
        Err(StoreError::Transient(_))
    ));
    for (leave, read) in leaves {
        leave.send(()).unwrap();
        block_on(read).unwrap();
    }
    assert_eq!(store.readers().with(tenants).unwrap(), 0);
}
