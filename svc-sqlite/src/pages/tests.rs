use std::collections::{BTreeSet, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};

use proptest::prelude::*;

use super::*;
use crate::{Options, Store};

const HERE: &[u8] = b"here";

fn change(seq: i64, is_member: bool) -> Change {
    Change { collection: HERE.into(), seq, is_member }
}

fn rows(positions: &Arc<Positions>, collection: &[u8]) -> Vec<i64> {
    let row = |position| match positions.look(collection, position) {
        Look::Ready(seq) => seq,
        Look::Wait(_) | Look::Load(_) => None,
    };
    (0..).map_while(row).collect()
}

/// What may happen, in any order: a commit becomes visible in the file, the next commit's hook runs, a first read
/// begins, sees the file, or ends.
#[derive(Debug, Clone)]
enum Event {
    Commit(Vec<(i64, bool)>),
    Hook,
    Look,
    Scan,
    Finish,
    Forget,
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        4 => prop::collection::vec((0_i64..200, any::<bool>()), 1..4).prop_map(Event::Commit),
        3 => Just(Event::Hook),
        2 => Just(Event::Look),
        2 => Just(Event::Scan),
        2 => Just(Event::Finish),
        1 => Just(Event::Forget),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, rng_seed: proptest::test_runner::RngSeed::Fixed(22), ..ProptestConfig::default() })]

    /// COL-22, UND-20: however commits, their hooks and a first read interleave, all positions are right in the end.
    #[test]
    fn any_interleaving(events in prop::collection::vec(event(), 0..60)) {
        let positions = Arc::new(Positions::new());
        let mut file = BTreeSet::new();
        let mut hooks = VecDeque::new();
        let mut load = None;
        let mut scanned = None;
        for event in events {
            match event {
                Event::Commit(changes) => {
                    for (seq, is_member) in &changes {
                        if *is_member { file.insert(*seq) } else { file.remove(seq) };
                    }
                    hooks.push_back(changes.into_iter().map(|(seq, is_member)| change(seq, is_member)).collect::<Vec<_>>());
                }
                Event::Hook => if let Some(changes) = hooks.pop_front() { positions.follow(&changes) },
                Event::Look => if let Look::Load(new) = positions.look(HERE, 0) { load = Some(new) },
                Event::Scan => if load.is_some() { scanned = Some(file.iter().copied().collect::<Members>()) },
                Event::Finish => if let (true, Some(members)) = (load.is_some(), scanned.take()) {
                    load.take().unwrap().finish(members, 0).unwrap();
                },
                Event::Forget => { load = None; scanned = None },
            }
        }
        for changes in hooks {
            positions.follow(&changes);
        }
        if let (Some(load), Some(members)) = (load, scanned) {
            load.finish(members, 0).unwrap();
        }
        if let Look::Load(load) = positions.look(HERE, 0) {
            load.finish(file.iter().copied().collect(), 0).unwrap();
        }
        prop_assert_eq!(rows(&positions, HERE), file.into_iter().collect::<Vec<_>>());
    }
}

#[test]
fn the_least_used_go_first() {
    let positions = Arc::new(Positions::with_limits(3, usize::MAX));
    let load = |name: &[u8], count: i64| match positions.look(name, 0) {
        Look::Load(load) => load.finish((0..count).collect(), 0).map(|_| true).unwrap(),
        Look::Ready(_) => false,
        Look::Wait(_) => panic!("nobody loads"),
    };
    for name in [b"a", b"b", b"c"] {
        assert!(load(name, 10));
    }
    assert!(!load(b"a", 10));
    assert!(load(b"d", 10));
    assert!(!load(b"a", 10), "used since");
    assert!(load(b"b", 10), "forgotten");
    // By memory: the largest is kept alone.
    let positions = Arc::new(Positions::with_limits(3, 1_000));
    for (name, count) in [(b"a", 64), (b"b", 64), (b"c", 64_000)] {
        let Look::Load(load) = positions.look(name, 0) else { panic!("not known yet") };
        load.finish((0..count).collect(), 0).unwrap();
    }
    assert_eq!(positions.known().slots.len(), 1);
    assert_eq!(rows(&positions, b"c").len(), 64_000);
}

#[test]
fn who_waits_is_woken_and_takes_over() {
    let positions = Arc::new(Positions::new());
    let Look::Load(first) = positions.look(HERE, 0) else { panic!("not known yet") };
    let Look::Wait(mut end) = positions.look(HERE, 0) else { panic!("somebody reads it") };
    assert_eq!(end.try_recv(), Ok(None));
    drop(first);
    assert_eq!(end.try_recv(), Err(oneshot::Canceled));
    assert!(matches!(positions.look(HERE, 0), Look::Load(_)));
}

/// COL-22: jumps agree with the file while 4 threads write and a small memory forces first reads again and again.
#[test]
fn with_the_store() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(Options::new(folder.path().join("data.db"))).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_all().build().unwrap();
    let positions = Arc::new(Positions::with_limits(1, usize::MAX));
    let scan = |kind: i64| {
        move |file: &Connection, tell: &mut dyn FnMut(i64)| {
            let mut rows = file.prepare_cached("SELECT seq FROM member WHERE kind = ?1 ORDER BY seq")?;
            let mut rows = rows.query([kind])?;
            while let Some(row) = rows.next()? {
                tell(row.get(0)?);
            }
            Ok(())
        }
    };
    runtime.block_on(async {
        let table = "CREATE TABLE member (seq INTEGER PRIMARY KEY, kind INTEGER); CREATE INDEX i ON member (kind, seq)";
        store.writer().run(None, |job| Ok(job.execute_batch(table)?)).await.unwrap();
        let jumps = Arc::new(AtomicU64::new(0));
        let mut tasks = Vec::new();
        for worker in 0..4_i64 {
            let (store, positions, jumps) = (store.clone(), Arc::clone(&positions), Arc::clone(&jumps));
            tasks.push(tokio::spawn(async move {
                for step in 0..150_i64 {
                    let (kind, remove) = ((worker + step) % 2, step % 5 == 4);
                    let follow = Arc::clone(&positions);
                    let write = store.writer().run(None, move |job| {
                        let seq: Option<i64> = if remove {
                            job.prepare_cached("DELETE FROM member WHERE seq = (SELECT min(seq) FROM member WHERE kind = ?1) RETURNING seq")?
                                .query([kind])?
                                .next()?
                                .map(|row| row.get(0))
                                .transpose()?
                        } else {
                            job.prepare_cached("INSERT INTO member (kind) VALUES (?1)")?.execute([kind])?;
                            Some(job.last_insert_rowid())
                        };
                        let changes: Vec<_> = seq
                            .map(|seq| Change { collection: [u8::try_from(kind).unwrap()].into(), seq, is_member: !remove })
                            .into_iter()
                            .collect();
                        let follow = Arc::clone(&follow);
                        job.after_commit(move || follow.follow(&changes));
                        Ok(())
                    });
                    write.await.unwrap();
                    let name = [u8::try_from(kind).unwrap()];
                    positions.nth(store.readers(), &name, 0, scan(kind)).await.unwrap();
                    jumps.fetch_add(1, Ordering::Relaxed);
                }
            }));
        }
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(jumps.load(Ordering::Relaxed), 600);
        for kind in 0..2_i64 {
            let mut expected = Vec::new();
            store.readers().with(|file| scan(kind)(file, &mut |seq| expected.push(seq))).unwrap();
            let name = [u8::try_from(kind).unwrap()];
            let mut found = Vec::new();
            while let Some(seq) =
                positions.nth(store.readers(), &name, found.len() as u64, scan(kind)).await.unwrap()
            {
                found.push(seq);
            }
            assert_eq!(found, expected);
        }
    });
}
