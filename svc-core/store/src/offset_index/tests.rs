use std::collections::{BTreeSet, VecDeque};

use proptest::prelude::*;

use super::*;

const HERE: &[u8] = b"here";

fn change(row: i64, is_member: bool) -> MembershipChange {
    MembershipChange {
        collection: HERE.into(),
        row,
        is_member,
    }
}

/// Inserts every row, like a store.
fn finish(mut load: IndexLoad, members: &RankBitmap) {
    (0..)
        .map_while(|position| members.nth(position))
        .for_each(|row| load.insert(row));
    load.finish().unwrap();
}

fn rows(index: &Arc<OffsetIndex>, collection: &[u8]) -> Vec<i64> {
    let row = |position| match index.lookup(collection, position) {
        SlotLookup::Ready(seq) => seq,
        SlotLookup::Wait(_) | SlotLookup::Load(_) => None,
    };
    (0..).map_while(row).collect()
}

/// The events, in any order: a commit becomes visible in the file, the hook of the next commit
/// runs, a first read starts, reads the file, or ends.
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

    /// The index is correct at the end for every interleaving of commits, their hooks and a first
    /// read.
    ///
    /// Requirements: COL-22, UND-20.
    #[test]
    fn any_interleaving(events in prop::collection::vec(event(), 0..60)) {
        let index = Arc::new(OffsetIndex::default());
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
                Event::Hook => if let Some(changes) = hooks.pop_front() { index.apply(&changes) },
                Event::Look => if let SlotLookup::Load(new) = index.lookup(HERE, 0) { load = Some(new) },
                Event::Scan => if load.is_some() { scanned = Some(file.iter().copied().collect::<RankBitmap>()) },
                Event::Finish => if let (true, Some(members)) = (load.is_some(), scanned.take()) {
                    finish(load.take().unwrap(), &members);
                },
                Event::Forget => { load = None; scanned = None },
            }
        }
        for changes in hooks {
            index.apply(&changes);
        }
        if let (Some(load), Some(members)) = (load, scanned) {
            finish(load, &members);
        }
        if let SlotLookup::Load(load) = index.lookup(HERE, 0) {
            finish(load, &file.iter().copied().collect());
        }
        prop_assert_eq!(rows(&index, HERE), file.into_iter().collect::<Vec<_>>());
    }
}

#[test]
fn the_least_used_go_first() {
    let index = Arc::new(OffsetIndex::with_limits(3, usize::MAX));
    let load = |name: &[u8], count: i64| match index.lookup(name, 0) {
        SlotLookup::Load(load) => {
            finish(load, &(0..count).collect());
            true
        }
        SlotLookup::Ready(_) => false,
        SlotLookup::Wait(_) => panic!("the collection is not being loaded"),
    };
    for name in [b"a", b"b", b"c"] {
        assert!(load(name, 10));
    }
    assert!(!load(b"a", 10));
    assert!(load(b"d", 10));
    assert!(!load(b"a", 10), "used in the meantime");
    assert!(load(b"b", 10), "removed");
    // By memory: the largest collection is stored alone.
    let index = Arc::new(OffsetIndex::with_limits(3, 1_000));
    for (name, count) in [(b"a", 64), (b"b", 64), (b"c", 64_000)] {
        let SlotLookup::Load(load) = index.lookup(name, 0) else {
            panic!("expected a load")
        };
        finish(load, &(0..count).collect());
    }
    assert_eq!(index.lock().slots.len(), 1);
    assert_eq!(rows(&index, b"c").len(), 64_000);
}

#[test]
fn who_waits_is_woken_and_takes_over() {
    let index = Arc::new(OffsetIndex::default());
    let SlotLookup::Load(first) = index.lookup(HERE, 0) else {
        panic!("expected a load")
    };
    let SlotLookup::Wait(mut end) = index.lookup(HERE, 0) else {
        panic!("expected to wait for the load")
    };
    assert_eq!(end.try_recv(), Ok(None));
    drop(first);
    assert_eq!(end.try_recv(), Err(oneshot::Canceled));
    assert!(matches!(index.lookup(HERE, 0), SlotLookup::Load(_)));
}
