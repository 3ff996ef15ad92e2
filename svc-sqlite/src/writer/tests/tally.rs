//! The clocks and counts that a transaction holds in memory until its end.

use svc_core::model::Kind;

use super::*;
use crate::tenant_deltas::last_write_timestamp;

/// TYP-16: the times of write requests in one transaction increase per tenant, and the last of each
/// is stored in the file. A failed request, or one of a repeated transaction, does not advance the
/// clock.
#[test]
fn turns_of_a_transaction_follow_each_other() {
    fn turn(tenant: i64, text: &'static str, fails: bool) -> Boxed<Timestamp> {
        Box::new(move |job| {
            let time = Timestamp::from_micros(1_000)
                .at_least_after(last_write_timestamp(job.file, job.tally, tenant)?);
            note(text)(job)?;
            if fails {
                return Err(StoreError::unexpected(
                    "a transaction that fails after it has written",
                ));
            }
            job.tally.set_last_timestamp(tenant, time);
            Ok(time)
        })
    }
    for one_fails in [false, true] {
        let (gate, hold) = gate();
        let bench = bench(|options| options.inline_commit(false).before_commit(hold));
        let tenants = "INSERT INTO tenant (id, name, created) VALUES (1, 'one', 0), (2, 'two', 0)";
        bench
            .write(move |job| Ok(job.file.execute_batch(tenants)?))
            .unwrap();
        let gate = gate.close();
        let works = vec![
            turn(1, "a", false),
            turn(2, "b", false),
            turn(1, "c", one_fails),
            turn(1, "d", false),
        ];
        let told = bench.together(&gate, works);
        let micros = |told: &Answer<Timestamp>| told.as_ref().ok().map(|time| time.as_micros());
        let told: Vec<Option<i64>> = told.iter().map(micros).collect();
        let clock =
            |tenant: i64| bench.number(&format!("SELECT clock FROM tenant WHERE id = {tenant}"));
        if one_fails {
            assert_eq!(
                told,
                [Some(1_000), Some(1_000), None, Some(1_001)],
                "with savepoints"
            );
            assert_eq!([clock(1), clock(2)], [1_001, 1_000]);
        } else {
            assert_eq!(told, [Some(1_000), Some(1_000), Some(1_001), Some(1_002)]);
            assert_eq!([clock(1), clock(2)], [1_002, 1_000]);
        }
    }
}

/// COL-23: the counts of a job are stored if it is committed, and not if it is undone, with
/// savepoints and without.
#[test]
fn jobs_that_are_undone_count_for_nothing() {
    fn counting(text: &'static str, writes: bool, fails: bool) -> Boxed<()> {
        Box::new(move |job| {
            if writes {
                note(text)(job)?;
                job.tally.add_count(1, Kind::Tag, None, 1);
            }
            if fails {
                Err(StoreError::unexpected("a job that fails"))
            } else {
                Ok(())
            }
        })
    }
    let (gate, hold) = gate();
    let bench = bench(|options| options.inline_commit(false).before_commit(hold));
    let mut gate = gate.close();
    let rounds = [
        ("nothing fails", ["a", "b", "c"], false),
        ("done again", ["d", "e", "f"], true),
        ("wary", ["g", "h", "i"], true),
    ];
    for (number, (round, [first, second, third], fails)) in (1..).zip(rounds) {
        let works = vec![
            counting(first, true, false),
            counting("", false, true),
            counting(second, true, fails),
            counting(third, true, false),
        ];
        let told = bench.together(&gate, works);
        assert_eq!(
            told.iter().map(Result::is_ok).collect::<Vec<_>>(),
            [true, false, !fails, true],
            "{round}"
        );
        let total = bench.number("SELECT records FROM total WHERE tenant = 1");
        assert_eq!(total, 2 * number + 1, "{round}: notes of committed jobs");
        bench
            .write(|job| Ok(job.file.execute("DELETE FROM note", ())?))
            .unwrap();
        gate = gate.close();
    }
}
