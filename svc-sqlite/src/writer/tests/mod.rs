use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use rusqlite::Connection;
use svc_core::error::{Error, ErrorCode, ErrorKind, Problem};
use svc_core::value::Timestamp;
use tempfile::TempDir;

use super::WriteTransaction;
use crate::error::{Result, StoreError};
use crate::{SqliteOptions, SqliteStore};

type Boxed<T> = Box<dyn Fn(&mut WriteTransaction<'_>) -> Result<T> + Send>;

/// The result that a caller outside of this crate gets.
type Answer<T> = svc_core::Result<T>;

/// An open store with one table for the tests.
struct Bench {
    store: SqliteStore,
    folder: TempDir,
}

fn bench(options: impl FnOnce(SqliteOptions) -> SqliteOptions) -> Bench {
    let folder = tempfile::tempdir().unwrap();
    let store =
        SqliteStore::open(options(SqliteOptions::new(folder.path().join("data.db")))).unwrap();
    let bench = Bench { store, folder };
    bench
        .write(|job| {
            Ok(job
                .file
                .execute_batch("CREATE TABLE note (text TEXT PRIMARY KEY) STRICT")?)
        })
        .unwrap();
    bench
}

impl Bench {
    fn write<T: Send + 'static>(
        &self,
        work: impl Fn(&mut WriteTransaction<'_>) -> Result<T> + Send + 'static,
    ) -> Answer<T> {
        block_on(run(&self.store, None, work))
    }

    /// Runs works in one shared transaction and returns their results. `gate` holds the previous
    /// transaction.
    fn together<T: Send + 'static>(&self, gate: &Gate, works: Vec<Boxed<T>>) -> Vec<Answer<T>> {
        let mut first = Box::pin(run(&self.store, None, note("first")));
        assert!(poll(&mut first).is_pending());
        gate.waits.recv().unwrap();
        let mut answers: Vec<_> = works
            .into_iter()
            .map(|work| Box::pin(run(&self.store, None, work)))
            .collect();
        assert!(answers.iter_mut().all(|answer| poll(answer).is_pending()));
        gate.closed.store(false, Ordering::SeqCst);
        gate.leave.send(()).unwrap();
        block_on(first).unwrap();
        answers.into_iter().map(block_on).collect()
    }

    /// Changes the closed file with a function, and opens it again.
    fn reopened(
        self,
        options: impl FnOnce(SqliteOptions) -> SqliteOptions,
        meanwhile: impl FnOnce(&Path),
    ) -> Self {
        let Self { store, folder } = self;
        let path = store.path().to_owned();
        drop(store);
        meanwhile(&path);
        Self {
            store: SqliteStore::open(options(SqliteOptions::new(path))).unwrap(),
            folder,
        }
    }

    fn number(&self, sql: &str) -> i64 {
        self.store
            .readers()
            .with(|file| Ok(file.query_row(sql, (), |row| row.get(0))?))
            .unwrap()
    }

    fn notes(&self) -> Vec<String> {
        self.store
            .readers()
            .with(|file| {
                let mut notes = file.prepare_cached("SELECT text FROM note ORDER BY text")?;
                Ok(notes
                    .query_map((), |row| row.get(0))?
                    .collect::<rusqlite::Result<_>>()?)
            })
            .unwrap()
    }

    /// Opens a connection to the file as another process would.
    fn stranger(&self) -> Connection {
        Connection::open(self.folder.path().join("data.db")).unwrap()
    }
}

fn run<T, F>(
    store: &SqliteStore,
    deadline: Option<Instant>,
    work: F,
) -> impl Future<Output = Answer<T>> + Send + 'static + use<T, F>
where
    T: Send + 'static,
    F: Fn(&mut WriteTransaction<'_>) -> Result<T> + Send + 'static,
{
    let write = store.writer().run(deadline, work);
    async move { Ok(write.await?) }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap()
        .block_on(future)
}

fn poll<T>(future: &mut (impl Future<Output = T> + Unpin)) -> Poll<T> {
    std::pin::Pin::new(future).poll(&mut Context::from_waker(Waker::noop()))
}

fn note(text: &'static str) -> impl Fn(&mut WriteTransaction<'_>) -> Result<()> + Send + 'static {
    move |job| {
        job.file
            .prepare_cached("INSERT INTO note (text) VALUES (?1)")?
            .execute([text])?;
        Ok(())
    }
}

/// Holds the writer before COMMIT: reports that it waits, and waits for permission. It must be
/// dropped before the store, even in a failed test, because closing the store waits for the writer.
struct Gate {
    waits: Receiver<()>,
    leave: Sender<()>,
    closed: Arc<AtomicBool>,
}

impl Gate {
    fn close(self) -> Self {
        self.closed.store(true, Ordering::SeqCst);
        self
    }
}

fn gate() -> (Gate, impl Fn() + Send + Sync + 'static) {
    let (says, waits) = mpsc::channel();
    let (leave, may) = mpsc::channel::<()>();
    let may = Mutex::new(may);
    let closed = Arc::new(AtomicBool::new(false));
    let is_closed = Arc::clone(&closed);
    let hold = move || {
        if is_closed.load(Ordering::SeqCst) {
            // A failed test no longer receives this. The writer then continues.
            let _ = says.send(());
            let _ = may.lock().unwrap_or_else(PoisonError::into_inner).recv();
        }
    };
    (
        Gate {
            waits,
            leave,
            closed,
        },
        hold,
    )
}

/// Queues `works` so that all of them share one transaction, and returns their results.
fn together<T: Send + 'static>(
    options: impl FnOnce(SqliteOptions) -> SqliteOptions,
    works: Vec<Boxed<T>>,
) -> (Bench, Vec<Answer<T>>) {
    let (gate, hold) = gate();
    let bench = bench(|start| options(start.inline_commit(false).before_commit(hold)));
    let answers = bench.together(&gate.close(), works);
    (bench, answers)
}

/// UND-36: a queued write gets no result before COMMIT. A result would already be in its future.
#[test]
fn no_answer_before_commit() {
    let (gate, hold) = gate();
    let bench = bench(|options| options.inline_commit(false).before_commit(hold));
    let gate = gate.close();
    let mut write = Box::pin(run(&bench.store, None, note("held")));
    assert!(poll(&mut write).is_pending());
    gate.waits.recv().unwrap();
    assert!(poll(&mut write).is_pending(), "answered before COMMIT");
    assert!(bench.notes().is_empty(), "visible before COMMIT");
    gate.closed.store(false, Ordering::SeqCst);
    gate.leave.send(()).unwrap();
    block_on(write).unwrap();
    assert_eq!(bench.notes(), ["held"]);
}

/// UND-36: a write on its caller's thread returns after COMMIT.
#[test]
fn no_return_before_commit() {
    let (gate, hold) = gate();
    let bench = bench(|options| options.before_commit(hold));
    std::thread::scope(|scope| {
        let gate = gate.close();
        let caller = scope.spawn(|| block_on(run(&bench.store, None, note("held"))));
        gate.waits.recv().unwrap();
        assert!(!caller.is_finished(), "returned before COMMIT");
        assert!(bench.notes().is_empty(), "visible before COMMIT");
        gate.closed.store(false, Ordering::SeqCst);
        gate.leave.send(()).unwrap();
        caller.join().unwrap().unwrap();
    });
    assert_eq!(bench.notes(), ["held"]);
}

/// UND-36: the writer's connection syncs fully and uses the write-ahead log.
#[test]
fn settings_of_the_writer() {
    let read = |options: fn(SqliteOptions) -> SqliteOptions| {
        bench(options)
            .write(|job| {
                let setting = |name: &str| {
                    job.file
                        .pragma_query_value(None, name, |row| row.get::<_, i64>(0))
                };
                let mode = job
                    .file
                    .pragma_query_value(None, "journal_mode", |row| row.get::<_, String>(0))?;
                Ok((
                    mode,
                    setting("synchronous")?,
                    setting("foreign_keys")?,
                    setting("secure_delete")?,
                ))
            })
            .unwrap()
    };
    assert_eq!(read(|options| options), ("wal".to_owned(), 2, 1, 1));
    assert_eq!(
        read(SqliteOptions::relaxed_durability),
        ("wal".to_owned(), 1, 1, 1)
    );
}

#[test]
fn an_idle_writer_commits_where_it_is_called() {
    let name = |inline| {
        let bench = bench(|options| options.inline_commit(inline));
        bench
            .write(|_| Ok(std::thread::current().name().map(ToOwned::to_owned)))
            .unwrap()
    };
    assert_eq!(
        name(true),
        std::thread::current().name().map(ToOwned::to_owned)
    );
    assert_eq!(name(false).as_deref(), Some("svc-sqlite-writer"));
}

/// UND-36: the changes of a job that fails or panics are undone, and those of the other jobs are
/// committed. Returns the result of each.
fn kinds<T>(answers: &[Answer<T>]) -> Vec<Result<&T, &ErrorKind>> {
    answers
        .iter()
        .map(|answer| answer.as_ref().map_err(Error::kind))
        .collect()
}

#[test]
fn a_failing_job_is_undone_alone() {
    let in_use = Problem::for_request(ErrorCode::NameInUse, "in use");
    let refused = in_use.clone();
    let (bench, answers) = together(
        |options| options,
        vec![
            Box::new(note("a")),
            Box::new(move |job| {
                note("b")(job)?;
                Err(Error::invalid(refused.clone()).into())
            }),
            Box::new(|job| {
                note("c")(job)?;
                panic!("a bug");
            }),
            Box::new(note("a")),
            Box::new(note("d")),
        ],
    );
    let unexpected = Err(&ErrorKind::Unexpected);
    assert_eq!(
        kinds(&answers),
        [
            Ok(&()),
            Err(&ErrorKind::Invalid(vec![in_use])),
            unexpected,
            unexpected,
            Ok(&())
        ]
    );
    assert_eq!(bench.notes(), ["a", "d", "first"]);
    // The same holds for a job that is alone in its transaction.
    for inline in [false, true] {
        let bench = self::bench(|options| options.inline_commit(inline));
        let lost =
            bench.write(|job| note("x")(job).and(Err::<(), StoreError>(Error::not_found().into())));
        assert!(matches!(lost, Err(error) if error.is_not_found()));
        let lost = bench.write(|job| note("x")(job).map(|()| panic!("a bug")));
        assert!(matches!(lost, Err(error) if error.is_unexpected()));
        bench.write(note("y")).unwrap();
        assert_eq!(bench.notes(), ["y"]);
    }
}

/// UND-36: waiting writes share one COMMIT, as many as the options allow.
#[test]
fn a_transaction_has_as_many_writes_as_allowed() {
    let commits = |batch| {
        let notes: Vec<Boxed<()>> = vec![
            Box::new(note("a")),
            Box::new(note("b")),
            Box::new(note("c")),
            Box::new(note("d")),
        ];
        let (bench, answers) = together(|options| options.max_batch_size(batch), notes);
        assert!(answers.iter().all(Result::is_ok), "{answers:?}");
        let commits = bench.store.stats().commits;
        // The table and the first note each have a transaction of their own.
        (commits.transactions - 2, commits.largest_transaction)
    };
    assert_eq!(
        (commits(256), commits(3), commits(1), commits(0)),
        ((1, 4), (2, 3), (4, 1), (4, 1))
    );
}

/// UND-45: a tenant with many waiting writes delays another one only by a small transaction. Its
/// own writes are executed in order.
#[test]
fn tenants_are_served_in_turn() {
    let (gate, hold) = gate();
    let bench = bench(|options| options.inline_commit(false).before_commit(hold));
    let gate = gate.close();
    let mut first = Box::pin(run(&bench.store, None, note("first")));
    assert!(poll(&mut first).is_pending());
    gate.waits.recv().unwrap();
    let order = Arc::new(Mutex::new(Vec::new()));
    let write = |tenant: i64, number: usize| {
        let order = Arc::clone(&order);
        let job = move |_: &mut WriteTransaction<'_>| {
            order.lock().unwrap().push((tenant, number));
            Ok(())
        };
        Box::pin(bench.store.writer().run_for(tenant, None, job, true))
    };
    let mut answers: Vec<_> = (0..200).map(|number| write(1, number)).collect();
    answers.extend((0..2).map(|number| write(2, number)));
    assert!(answers.iter_mut().all(|answer| poll(answer).is_pending()));
    gate.closed.store(false, Ordering::SeqCst);
    gate.leave.send(()).unwrap();
    block_on(first).unwrap();
    for answer in answers {
        block_on(answer).unwrap();
    }
    assert!(
        bench.store.stats().commits.largest_transaction <= 16,
        "{:?}",
        bench.store.stats()
    );
    let order = order.lock().unwrap();
    let busy: Vec<usize> = order
        .iter()
        .filter(|(tenant, _)| *tenant == 1)
        .map(|(_, number)| *number)
        .collect();
    assert_eq!(
        busy,
        (0..200).collect::<Vec<_>>(),
        "the writes of a tenant are executed in order"
    );
    let quiet: Vec<usize> = order
        .iter()
        .enumerate()
        .filter(|(_, (tenant, _))| *tenant == 2)
        .map(|(at, _)| at)
        .collect();
    assert_eq!(
        quiet,
        [1, 3],
        "each write of the other tenant follows one of the first tenant"
    );
}

/// UND-45: many tenants with one write each share a transaction. The writes of one tenant also
/// share one with those of no tenant.
#[test]
fn small_transactions_are_for_tenants_with_many_writes() {
    for tenants in [
        (1..=40).collect::<Vec<i64>>(),
        [vec![1; 40], vec![0; 40]].concat(),
    ] {
        let (gate, hold) = gate();
        let bench = bench(|options| options.inline_commit(false).before_commit(hold));
        let gate = gate.close();
        let mut first = Box::pin(run(&bench.store, None, note("first")));
        assert!(poll(&mut first).is_pending());
        gate.waits.recv().unwrap();
        let write = |tenant: &i64| {
            Box::pin(bench.store.writer().run_for(
                *tenant,
                None,
                |_: &mut WriteTransaction<'_>| Ok(()),
                true,
            ))
        };
        let mut answers: Vec<_> = tenants.iter().map(write).collect();
        assert!(answers.iter_mut().all(|answer| poll(answer).is_pending()));
        gate.closed.store(false, Ordering::SeqCst);
        gate.leave.send(()).unwrap();
        block_on(first).unwrap();
        for answer in answers {
            block_on(answer).unwrap();
        }
        assert_eq!(
            bench.store.stats().commits.largest_transaction,
            tenants.len() as u64,
            "{tenants:?}"
        );
    }
}

/// UND-36: if COMMIT fails, every job of the transaction fails, including those that had succeeded.
#[test]
fn a_failed_commit_acknowledges_nothing() {
    let (bench, answers) = together(
        |options| options,
        vec![
            Box::new(note("a")),
            Box::new(|job| {
                // A deferred constraint lets the job pass and COMMIT fail.
                job.file.execute_batch("PRAGMA defer_foreign_keys = ON")?;
                job.file.execute(
                    "INSERT INTO api_key (id, tenant, prefix, hash, hint, label, read_only, created)
                     VALUES ('k', 99, 0, x'', '', '', 0, 0)",
                    (),
                )?;
                Ok(())
            }),
            Box::new(|_| Err(Error::not_found().into())),
        ],
    );
    assert!(
        answers
            .iter()
            .all(|answer| matches!(answer, Err(error) if error.is_unexpected())),
        "{answers:?}"
    );
    assert_eq!(bench.notes(), ["first"]);
    bench.write(note("after")).unwrap();
    assert_eq!(bench.notes(), ["after", "first"]);
}

/// UND-36: if SQLite ends the transaction during a job, the jobs before and after it also fail.
#[test]
fn a_lost_transaction_acknowledges_nothing() {
    let (bench, answers) = together(
        |options| options,
        vec![
            Box::new(note("a")),
            Box::new(|job| {
                // SQLite itself does this after some I/O errors.
                job.file.execute_batch("ROLLBACK")?;
                let failure = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_FULL);
                Err(rusqlite::Error::SqliteFailure(failure, None).into())
            }),
            Box::new(note("b")),
        ],
    );
    assert!(
        answers
            .iter()
            .all(|answer| matches!(answer, Err(error) if error.is_unavailable())),
        "{answers:?}"
    );
    assert_eq!(bench.notes(), ["first"]);
}

#[test]
fn hooks_run_after_commit_in_order_and_only_for_what_stays() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let hooked = |number: i32, keep: bool| -> Boxed<()> {
        let seen = Arc::clone(&seen);
        Box::new(move |job| {
            let seen = Arc::clone(&seen);
            job.after_commit(move || {
                seen.lock().unwrap().push(number);
                assert_ne!(number, 3, "a bug in a hook");
            });
            // The fourth job fails after it has written, so all of them run again.
            if number == 4 {
                note("undone")(job)?;
            }
            if keep {
                Ok(())
            } else {
                Err(Error::not_found().into())
            }
        })
    };
    let (bench, _) = together(
        |options| options,
        (1..=6)
            .map(|number| hooked(number, number % 2 == 1))
            .collect(),
    );
    assert_eq!(*seen.lock().unwrap(), [1, 3, 5]);
    bench.write(hooked(7, true)).unwrap();
    let _ = bench.write(hooked(8, false));
    assert_eq!(*seen.lock().unwrap(), [1, 3, 5, 7]);
    assert_eq!(bench.notes(), ["first"]);
}

/// UND-36: a batch runs once. It runs again only if a job failed after it had written, and later
/// batches are prepared for that.
#[test]
fn a_batch_is_done_again_when_a_job_has_to_be_undone() {
    let attempts = |fails_with: Option<bool>| {
        let count = Arc::new(AtomicI64::new(0));
        let counted = |text: &'static str| -> Boxed<()> {
            let count = Arc::clone(&count);
            Box::new(move |job| {
                count.fetch_add(1, Ordering::SeqCst);
                note(text)(job)
            })
        };
        let failing: Boxed<()> = Box::new(move |job| match fails_with {
            None => Ok(()),
            Some(false) => Err(Error::not_found().into()),
            Some(true) => note("undone")(job).and(Err(Error::not_found().into())),
        });
        let (bench, answers) =
            together(|options| options, vec![counted("a"), failing, counted("b")]);
        assert!(matches!(answers.as_slice(), [Ok(()), _, Ok(())]));
        assert_eq!(
            answers.get(1).is_some_and(Result::is_ok),
            fails_with.is_none()
        );
        assert_eq!(bench.notes(), ["a", "b", "first"]);
        count.load(Ordering::SeqCst)
    };
    assert_eq!(attempts(None), 2);
    assert_eq!(attempts(Some(false)), 2);
    // The first job ran once, then both ran in the second attempt.
    assert_eq!(attempts(Some(true)), 3);
}

/// UND-36: the results and hooks are those of the committed attempt, even if the two attempts end
/// differently.
#[test]
fn the_last_attempt_is_the_one_that_counts() {
    let hooked = Arc::new(Mutex::new(Vec::new()));
    // Job `name` writes the number of its attempt, and panics in attempt `bug`.
    let job = |name: &'static str, bug: i64| -> Boxed<i64> {
        let (attempts, hooked) = (AtomicI64::new(0), Arc::clone(&hooked));
        Box::new(move |job| {
            let attempt = attempts.fetch_add(1, Ordering::SeqCst) + 1;
            job.file.execute(
                "INSERT INTO note (text) VALUES (?1)",
                [format!("{name} {attempt}")],
            )?;
            let hooked = Arc::clone(&hooked);
            job.after_commit(move || hooked.lock().unwrap().push(format!("{name} {attempt}")));
            assert_ne!(attempt, bug, "a bug");
            Ok(attempt)
        })
    };
    let (bench, answers) = together(
        |options| options,
        vec![job("a", 0), job("b", 2), job("c", 1)],
    );
    assert_eq!(
        kinds(&answers),
        [Ok(&2), Err(&ErrorKind::Unexpected), Ok(&2)]
    );
    assert_eq!(bench.notes(), ["a 2", "c 2", "first"]);
    assert_eq!(*hooked.lock().unwrap(), ["a 2", "c 2"]);
}

/// UND-36: with a full queue, a passed deadline, or a caller that no longer waits, a write is
/// rejected and never started.
#[test]
fn what_cannot_be_done_in_time_is_not_begun() {
    let (gate, hold) = gate();
    let bench = bench(|options| {
        options
            .inline_commit(false)
            .max_queued_writes(4)
            .before_commit(hold)
    });
    let gate = gate.close();
    let run = |deadline, text| Box::pin(run(&bench.store, deadline, note(text)));
    let mut first = run(None, "first");
    assert!(poll(&mut first).is_pending());
    gate.waits.recv().unwrap();
    let mut late = run(Some(Instant::now()), "late");
    let mut gone = run(None, "gone");
    assert!(poll(&mut late).is_pending());
    assert!(poll(&mut gone).is_pending());
    let Poll::Ready(Err(full)) = poll(&mut run(None, "too many")) else {
        panic!("half of the queue is full")
    };
    assert_eq!(
        full.kind(),
        &ErrorKind::Unavailable {
            retry_after: Duration::from_secs(1)
        }
    );
    // The other half is for other tenants.
    let other = |deadline| {
        Box::pin(
            bench
                .store
                .writer()
                .run_for(7, deadline, note("other"), true),
        )
    };
    let (mut other, mut another) = (other(Some(Instant::now())), other(Some(Instant::now())));
    assert!(poll(&mut other).is_pending() && poll(&mut another).is_pending());
    let over = poll(&mut Box::pin(bench.store.writer().run_for(
        8,
        None,
        note("over"),
        true,
    )));
    assert!(
        matches!(over, Poll::Ready(Err(_))),
        "the whole queue is full"
    );
    drop(gone);
    gate.closed.store(false, Ordering::SeqCst);
    gate.leave.send(()).unwrap();
    block_on(first).unwrap();
    assert!(matches!(block_on(late), Err(error) if error.is_unavailable()));
    assert_eq!(bench.notes(), ["first"]);
    // The same on the caller's thread.
    let bench = self::bench(|options| options);
    let late = block_on(self::run(&bench.store, Some(Instant::now()), note("late")));
    assert!(matches!(late, Err(error) if error.is_unavailable()));
    assert!(bench.notes().is_empty());
}

/// UND-36: the caller's thread does not wait for a file that another process locks.
#[test]
fn a_busy_file_does_not_block_the_thread_of_the_caller() {
    let bench = bench(|options| options.busy_timeout(Duration::from_secs(5 * 60)));
    let stranger = bench.stranger();
    stranger.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut write = Box::pin(run(&bench.store, None, note("a")));
    assert!(
        poll(&mut write).is_pending(),
        "the caller's thread waited for another process"
    );
    stranger.execute_batch("ROLLBACK").unwrap();
    block_on(write).unwrap();
    assert_eq!(bench.notes(), ["a"]);
}

/// UND-36: a file that another process locks is 503 after the busy timeout.
#[test]
fn a_busy_file_is_unavailable_and_recovers() {
    let bench = bench(|options| options.busy_timeout(Duration::from_millis(20)));
    let stranger = bench.stranger();
    stranger.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert!(matches!(bench.write(note("a")), Err(error) if error.is_unavailable()));
    stranger.execute_batch("ROLLBACK").unwrap();
    bench.write(note("b")).unwrap();
    assert_eq!(bench.notes(), ["b"]);
}

/// UND-36: a full disk is 503. Nothing of the rejected write is stored, and small writes succeed.
#[test]
fn a_full_file_is_unavailable_and_recovers() {
    let bench = bench(|options| options.max_page_count(240));
    let large = |job: &mut WriteTransaction<'_>| {
        note("large")(job)?;
        job.file
            .execute("INSERT INTO note (text) VALUES (hex(zeroblob(200000)))", ())?;
        Ok(())
    };
    assert!(matches!(bench.write(large), Err(error) if error.is_unavailable()));
    assert!(bench.notes().is_empty());
    bench.write(note("small")).unwrap();
    bench
        .write(|job| {
            Ok(job
                .file
                .pragma_update_and_check(None, "max_page_count", 1000, |_| Ok(()))?)
        })
        .unwrap();
    bench.write(large).unwrap();
    assert_eq!(bench.notes().len(), 3);
    // The file becomes full in the middle of a batch: only acknowledged writes are stored.
    let (bench, answers) = together(
        |options| options.max_page_count(240),
        vec![Box::new(note("a")), Box::new(large), Box::new(note("b"))],
    );
    let acknowledged = answers.iter().filter(|answer| answer.is_ok()).count();
    assert!(matches!(answers.get(1), Some(Err(error)) if error.is_unavailable()));
    assert_eq!(bench.notes().len(), acknowledged + 1);
}

/// UND-36: if the file becomes read-only, writes get 500, both before and inside a transaction.
/// Later writes succeed.
#[test]
fn a_read_only_file_is_unexpected_and_recovers() {
    let bench = bench(|options| options);
    let refused = bench.write(|job| {
        job.file.pragma_update(None, "query_only", true)?;
        let refused = note("a")(job);
        job.file.pragma_update(None, "query_only", false)?;
        refused
    });
    assert!(matches!(refused, Err(error) if error.is_unexpected()));
    bench.write(note("b")).unwrap();
    bench
        .write(|job| Ok(job.file.pragma_update(None, "query_only", true)?))
        .unwrap();
    assert!(matches!(bench.write(note("c")), Err(error) if error.is_unexpected()));
    assert_eq!(bench.notes(), ["b"]);
}

/// The log is copied into the file and restarts while writes continue, on their callers' threads or
/// not.
#[test]
fn the_log_stays_short() {
    for inline in [false, true] {
        let bench = bench(|options| options.inline_commit(inline));
        let stop = AtomicBool::new(false);
        // A reader holds it while it reads. Some of the writes wait until no reader holds it.
        let pause = RwLock::new(());
        std::thread::scope(|scope| {
            // The snapshots that readers hold do not prevent it.
            for _ in 0..2 {
                scope.spawn(|| {
                    while !stop.load(Ordering::Relaxed) {
                        let _reads = pause.read().unwrap();
                        let last = |file: &Connection| {
                            Ok(file.query_row(
                                "SELECT coalesce(max(rowid), 0) FROM note",
                                (),
                                |row| row.get::<_, i64>(0),
                            )?)
                        };
                        bench.store.readers().with(last).unwrap();
                    }
                });
            }
            for number in 0..40 {
                let paused = (number % 4 == 0).then(|| pause.write().unwrap());
                // About 500 pages.
                let large = |job: &mut WriteTransaction<'_>| {
                    Ok(job
                        .file
                        .execute("INSERT INTO note VALUES (hex(randomblob(500000)))", ())?)
                };
                bench.write(large).unwrap();
                // The log is copied after the response.
                let begun = std::time::Instant::now();
                while paused.is_some() && bench.store.writer().shared.engine().has_long_log() {
                    assert!(
                        begun.elapsed() < Duration::from_secs(5 * 60),
                        "the log is not copied"
                    );
                    std::thread::sleep(Duration::from_millis(1));
                }
            }
            stop.store(true, Ordering::Relaxed);
        });
        let log = std::fs::metadata(bench.folder.path().join("data.db-wal"))
            .unwrap()
            .len();
        // About 20 000 pages were written through it. It restarts after each write that waits for
        // the readers.
        let pages = log / 4120;
        assert!(
            pages < 10_000,
            "inline {inline}: the log has grown to {pages} pages"
        );
    }
}

/// 64 callers: each gets one result, and every acknowledged write is stored.
#[test]
fn many_callers() {
    const CALLERS: i64 = 64;
    const EACH: i64 = 40;
    let bench = bench(|options| options);
    let next = Arc::new(AtomicI64::new(0));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(4)
        .build()
        .unwrap();
    runtime.block_on(async {
        let callers: Vec<_> = (0..CALLERS)
            .map(|_| {
                let (store, next) = (bench.store.clone(), Arc::clone(&next));
                tokio::spawn(async move {
                    for _ in 0..EACH {
                        let number = next.fetch_add(1, Ordering::SeqCst);
                        let work = move |job: &mut WriteTransaction<'_>| {
                            job.file
                                .prepare_cached("INSERT INTO note (text) VALUES (?1)")?
                                .execute([number.to_string()])?;
                            if number % 10 == 0 {
                                Err(Error::not_found().into())
                            } else {
                                Ok(())
                            }
                        };
                        assert_eq!(run(&store, None, work).await.is_ok(), number % 10 != 0);
                    }
                })
            })
            .collect();
        for caller in callers {
            caller.await.unwrap();
        }
    });
    assert_eq!(
        bench.notes().len(),
        usize::try_from(CALLERS * EACH * 9 / 10).unwrap()
    );
}

/// The last handle of a store may be dropped anywhere, including inside a job on the writer's own
/// thread.
#[test]
fn a_store_closes_inside_its_own_job() {
    let bench = bench(|options| options.inline_commit(false));
    let path = bench.store.path().to_owned();
    let Bench { store, folder } = bench;
    let last = Mutex::new(Some(store.clone()));
    let answer = run(&store, None, move |job| {
        note("last")(job)?;
        drop(last.lock().unwrap().take());
        Ok(())
    });
    let mut answer = Box::pin(answer);
    let _ = poll(&mut answer);
    drop(store);
    block_on(answer).unwrap();
    let text: String = Connection::open(path)
        .unwrap()
        .query_row("SELECT text FROM note", (), |row| row.get(0))
        .unwrap();
    assert_eq!(text, "last");
    drop(folder);
}

mod damaged;
mod tally;
