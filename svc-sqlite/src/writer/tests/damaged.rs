//! Damaged pages. A request that needs one gets 503, others are not affected, and no partial change
//! is stored.
//!
//! Requirements: UND-36.

use std::fs::{self, OpenOptions};
use std::io::{Seek, SeekFrom, Write};

use super::*;

const PAGE: usize = 4096;

impl Bench {
    fn root(&self, name: &str) -> usize {
        let page = self.number(&format!(
            "SELECT rootpage FROM sqlite_schema WHERE name = '{name}'"
        ));
        usize::try_from(page).unwrap()
    }

    /// Runs the works in one shared transaction, after a change to the file.
    fn together_after<T: Send + 'static>(
        self,
        meanwhile: impl FnOnce(&Path),
        works: Vec<Boxed<T>>,
    ) -> (Self, Vec<Answer<T>>) {
        let (gate, hold) = gate();
        let bench = self.reopened(
            |options| options.inline_commit(false).before_commit(hold),
            meanwhile,
        );
        let answers = bench.together(&gate.close(), works);
        (bench, answers)
    }
}

fn page(path: &Path, number: usize) -> Vec<u8> {
    let bytes = fs::read(path).unwrap();
    bytes.chunks(PAGE).nth(number - 1).unwrap().to_vec()
}

/// Overwrites a page, starting at an offset.
fn overwrite(path: &Path, number: usize, place: usize, bytes: &[u8]) {
    let mut file = OpenOptions::new().write(true).open(path).unwrap();
    file.seek(SeekFrom::Start(((number - 1) * PAGE + place) as u64))
        .unwrap();
    file.write_all(bytes).unwrap();
}

fn spoil(path: &Path, number: usize) {
    overwrite(path, number, 0, &[0xAA; PAGE]);
}

fn bench_with(schema: &'static str) -> Bench {
    let bench = bench(|options| options);
    bench
        .write(move |job| Ok(job.file.execute_batch(schema)?))
        .unwrap();
    bench
}

fn sql(text: &'static str) -> Boxed<()> {
    Box::new(move |job| {
        job.file.execute(text, ())?;
        Ok(())
    })
}

/// UND-36: only a request that needs a damaged page gets 503. The page is not cached, so a repaired
/// disk is used.
#[test]
fn a_corrupt_page_is_unavailable_and_recovers() {
    let bench = bench(|options| options);
    bench.write(note("a")).unwrap();
    let root = bench.root("note");
    let mut sound = Vec::new();
    let bench = bench.reopened(
        |options| options,
        |path| {
            sound = page(path, root);
            spoil(path, root);
        },
    );
    let read = |bench: &Bench| {
        let count = bench.store.readers().with(|file| {
            Ok(file
                .prepare_cached("SELECT count(*) FROM note")?
                .query_row((), |row| row.get::<_, i64>(0))?)
        });
        Answer::Ok(count?)
    };
    assert!(matches!(read(&bench), Err(error) if error.is_unavailable()));
    assert!(matches!(bench.write(note("b")), Err(error) if error.is_unavailable()));
    bench
        .write(|job| {
            Ok(job
                .file
                .execute("INSERT INTO tenant (name, created) VALUES ('t', 0)", ())?)
        })
        .unwrap();
    overwrite(bench.store.path(), root, 0, &sound);
    assert_eq!(read(&bench).unwrap(), 1);
    bench.write(note("c")).unwrap();
    assert_eq!(bench.notes(), ["a", "c"]);
}

/// UND-36: jobs that read a damaged page fail, and the other jobs of their transaction succeed,
/// with savepoints or without. The page is not cached.
#[test]
fn a_damaged_page_is_no_trouble_of_others() {
    // Causes all jobs to run again, in savepoints.
    let undone: Boxed<()> = Box::new(|job| note("undone")(job).and(Err(Error::not_found().into())));
    for before in [None, Some(undone)] {
        let bench = bench_with("CREATE TABLE bad (a TEXT) STRICT");
        let root = bench.root("bad");
        let mut works: Vec<Boxed<()>> = before.into_iter().collect();
        let undone = works.len();
        works.extend([
            Box::new(note("a")) as Boxed<()>,
            Box::new(|job| {
                Ok(job
                    .file
                    .query_row("SELECT count(*) FROM bad", (), |_| Ok(()))?)
            }),
            Box::new(note("b")),
            sql("INSERT INTO bad VALUES ('x')"),
            Box::new(note("c")),
        ]);
        let mut sound = Vec::new();
        let damage = |path: &Path| {
            sound = page(path, root);
            spoil(path, root);
        };
        let (bench, answers) = bench.together_after(damage, works);
        let kept = |answer: &Answer<()>| match answer {
            Ok(()) => true,
            Err(error) if error.is_unavailable() => false,
            Err(error) => panic!("{error:?}"),
        };
        let answers: Vec<bool> = answers[undone..].iter().map(kept).collect();
        assert_eq!(answers, [true, false, true, false, true]);
        assert_eq!(bench.notes(), ["a", "b", "c", "first"]);
        overwrite(bench.store.path(), root, 0, &sound);
        bench.write(sql("INSERT INTO bad VALUES ('y')")).unwrap();
        assert_eq!(bench.number("SELECT count(*) FROM bad"), 1);
    }
}

/// UND-36: a DELETE that finds an index without its entry fails. Its change to the other index is
/// not committed with the other jobs of the transaction.
#[test]
fn what_failed_half_way_is_undone() {
    for (damaged, sound) in [
        (
            "half_a",
            "SELECT count(b) FROM half INDEXED BY half_b WHERE b >= ''",
        ),
        (
            "half_b",
            "SELECT count(a) FROM half INDEXED BY half_a WHERE a >= ''",
        ),
    ] {
        let bench = bench_with(
            "CREATE TABLE half (a TEXT, b TEXT) STRICT;
             CREATE INDEX half_a ON half (a); CREATE INDEX half_b ON half (b);
             INSERT INTO half VALUES ('value', 'value');",
        );
        let root = bench.root(damaged);
        let damage = |path: &Path| {
            let place = page(path, root)
                .windows(5)
                .position(|text| text == b"value")
                .unwrap();
            overwrite(path, root, place, b"eulav");
        };
        let works = vec![
            Box::new(note("a")) as Boxed<()>,
            sql("DELETE FROM half WHERE rowid = 1"),
            Box::new(note("b")),
        ];
        let (bench, answers) = bench.together_after(damage, works);
        let unavailable = ErrorKind::Unavailable {
            retry_after: Duration::from_secs(30),
        };
        assert_eq!(
            kinds(&answers),
            [Ok(&()), Err(&unavailable), Ok(&())],
            "{damaged}"
        );
        assert_eq!(bench.notes(), ["a", "b", "first"]);
        assert_eq!(
            bench.number("SELECT count(*) FROM half NOT INDEXED"),
            1,
            "{damaged}"
        );
        assert_eq!(
            bench.number(sound),
            1,
            "{damaged}: the entry in the undamaged index"
        );
    }
}
