use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::*;
use crate::writer::WriteTransaction;
use crate::{SqliteOptions, SqliteStore};

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(4)
        .build()
        .unwrap()
}

async fn set_up(store: &SqliteStore, sql: &'static str) {
    store
        .writer()
        .run(None, move |job| Ok(job.file.execute_batch(sql)?))
        .await
        .unwrap();
}

/// Backups made while 16 writers are active can be opened, and their totals equal their members.
#[test]
fn a_copy_shows_one_moment() {
    let folder = tempfile::tempdir().unwrap();
    let copies = runtime().block_on(async {
        let store = SqliteStore::open(SqliteOptions::new(folder.path().join("data.db"))).unwrap();
        set_up(
            &store,
            "CREATE TABLE member (text TEXT NOT NULL);
             CREATE TABLE tally (members INTEGER NOT NULL);
             INSERT INTO tally VALUES (0);
             WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
             INSERT INTO member SELECT printf('%0100d', i) FROM n;
             UPDATE tally SET members = 20000",
        )
        .await;
        let stop = Arc::new(AtomicBool::new(false));
        let writers: Vec<_> = (0..16)
            .map(|_| {
                let (store, stop) = (store.clone(), Arc::clone(&stop));
                tokio::spawn(async move {
                    while !stop.load(Ordering::Relaxed) {
                        let write = |job: &mut WriteTransaction<'_>| {
                            job.file
                                .prepare_cached("INSERT INTO member VALUES (hex(randomblob(50)))")?
                                .execute(())?;
                            job.file
                                .prepare_cached("UPDATE tally SET members = members + 1")?
                                .execute(())?;
                            Ok(())
                        };
                        store.writer().run(None, write).await.unwrap();
                    }
                })
            })
            .collect();
        let copies = ["one.db", "two.db", "three.db"].map(|name| folder.path().join(name));
        for copy in &copies {
            store.backup(copy).await.unwrap();
        }
        stop.store(true, Ordering::Relaxed);
        for writer in writers {
            writer.await.unwrap();
        }
        copies
    });
    let mut last = 20_000;
    for path in copies {
        let copy = SqliteStore::open(SqliteOptions::new(&path)).unwrap();
        let (members, total, sound) = copy
            .readers()
            .with(|file| {
                let number = |sql| file.query_row(sql, (), |row| row.get::<_, i64>(0));
                let sound: String =
                    file.query_row("PRAGMA integrity_check", (), |row| row.get(0))?;
                Ok((
                    number("SELECT count(*) FROM member")?,
                    number("SELECT members FROM tally")?,
                    sound,
                ))
            })
            .unwrap();
        assert_eq!((members, sound.as_str()), (total, "ok"));
        assert!(members >= last);
        last = members;
        #[cfg(unix)]
        assert_eq!(
            std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&path).unwrap().permissions())
                & 0o777,
            0o600
        );
    }
}

#[test]
fn nothing_is_overwritten_and_nothing_left_behind() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(SqliteOptions::new(folder.path().join("data.db"))).unwrap();
    let letter = folder.path().join("letter.txt");
    fs::write(&letter, "Dear all").unwrap();
    runtime().block_on(async {
        assert!(matches!(
            store.backup(&letter).await,
            Err(FileError::Exists { .. })
        ));
        assert!(matches!(
            store.backup(store.path()).await,
            Err(FileError::Exists { .. })
        ));
        let nowhere = folder.path().join("no folder").join("copy.db");
        assert!(matches!(
            store.backup(&nowhere).await,
            Err(FileError::Io { .. })
        ));
    });
    assert_eq!(fs::read_to_string(&letter).unwrap(), "Dear all");
}

/// Returns how often the text that marks planted values is in the files of the store.
fn planted(folder: &Path) -> usize {
    let files = fs::read_dir(folder).unwrap();
    files
        .map(|file| {
            fs::read(file.unwrap().path())
                .unwrap()
                .windows(7)
                .filter(|text| text == b"PLANTED")
                .count()
        })
        .sum()
}

const PEOPLE: &str = "CREATE TABLE person (seq INTEGER PRIMARY KEY, name TEXT, body TEXT);
                      CREATE INDEX by_name ON person (name)";

/// UND-26: deleted rows are overwritten, and after a checkpoint they are in none of the store's
/// files.
#[test]
fn erased_values_are_gone_after_a_checkpoint() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(SqliteOptions::new(folder.path().join("data.db"))).unwrap();
    runtime().block_on(async {
        set_up(&store, PEOPLE).await;
        set_up(
            &store,
            "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
             INSERT INTO person (name, body) SELECT 'PLANTED ' || i, printf('PLANTED %0*d', i * 20, i) FROM n",
        )
        .await;
        store.checkpoint().await.unwrap();
        assert!(planted(folder.path()) >= 1_500);
        set_up(&store, "DELETE FROM person WHERE seq % 2 = 1").await;
        set_up(&store, "DELETE FROM person").await;
        store.checkpoint().await.unwrap();
    });
    assert_eq!(planted(folder.path()), 0);
}

/// UND-26: compacting also removes the copies that SQLite made when it moved rows between pages.
#[test]
fn copies_of_erased_values_are_gone_after_compacting() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(SqliteOptions::new(folder.path().join("data.db"))).unwrap();
    runtime().block_on(async {
        set_up(&store, PEOPLE).await;
        // Unsorted names, and bodies of many lengths, some of them over several pages: rows move
        // between pages all the time.
        let mut dice = 7_u64;
        let mut roll = |sides: u64| {
            dice = dice
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (dice >> 33) % sides
        };
        for _ in 0..200 {
            let steps: Vec<_> = (0..100)
                .map(|_| (roll(4), roll(1_000_000_007), roll(300), roll(6_000)))
                .collect();
            let work = move |job: &mut WriteTransaction<'_>| {
                for (what, name, length, who) in steps.iter().copied() {
                    let body =
                        format!("PLANTED-{name}-").repeat(usize::try_from(length).unwrap() / 8 + 1);
                    let (name, who) = (format!("PLANTED {name}"), i64::try_from(who).unwrap());
                    match what {
                        0 => job
                            .file
                            .execute("DELETE FROM person WHERE seq = ?1", [who])?,
                        1 => job
                            .file
                            .execute("UPDATE person SET body = ?2 WHERE seq = ?1", (who, body))?,
                        _ => job.file.execute(
                            "INSERT INTO person (name, body) VALUES (?1, ?2)",
                            (name, body),
                        )?,
                    };
                }
                Ok(())
            };
            store.writer().run(None, work).await.unwrap();
        }
        set_up(&store, "DELETE FROM person WHERE seq % 7 > 0").await;
        set_up(
            &store,
            "UPDATE person SET name = 'somebody ' || seq, body = ''",
        )
        .await;
        store.checkpoint().await.unwrap();
        assert!(
            planted(folder.path()) > 0,
            "a checkpoint alone is now sufficient: change the documentation"
        );
        store.compact().await.unwrap();
        // The store can still be used.
        set_up(&store, "INSERT INTO person (name, body) VALUES ('new', '')").await;
    });
    assert_eq!(planted(folder.path()), 0);
}

/// UND-36: a checkpoint that a long read blocks returns an error, and succeeds after the read.
#[test]
fn a_checkpoint_waits_for_readers() {
    let folder = tempfile::tempdir().unwrap();
    let options = SqliteOptions::new(folder.path().join("data.db"));
    let store = SqliteStore::open(options.clone().busy_timeout(Duration::from_secs(60))).unwrap();
    let impatient =
        SqliteStore::open(options.shared().busy_timeout(Duration::from_millis(10))).unwrap();
    let log = folder.path().join("data.db-wal");
    let runtime = runtime();
    let held = store.readers().with(|file| {
        file.query_row("SELECT count(*) FROM tenant", (), |row| {
            row.get::<_, i64>(0)
        })?;
        runtime.block_on(store.ensure_tenant("t"))?;
        Ok(runtime.block_on(impatient.checkpoint()).is_err())
    });
    assert!(held.unwrap(), "a reader still needs the log");
    runtime.block_on(store.checkpoint()).unwrap();
    assert_eq!(fs::metadata(log).unwrap().len(), 0);
}
