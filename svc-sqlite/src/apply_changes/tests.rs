use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rusqlite::trace::TraceEventCodes;

use super::*;
use crate::schema::tests::file;

const TAG: &str = "018f8d9e-0000-7000-8000-000000000001";
const OTHER: &str = "018f8d9e-0000-7000-8000-000000000002";

/// Creates a tag with this many taggings, and a second tag that every tenth of these people has.
fn tagged(people: usize) -> Connection {
    let file = file();
    let [tag, other] = [TAG, OTHER].map(|id| RecordId::try_parse(&Id::new(id).unwrap()).unwrap());
    file.execute_batch("INSERT INTO tenant (id, name, created) VALUES (1, 'one', 0)")
        .unwrap();
    for (id, name) in [(tag, "tag"), (other, "other")] {
        let make = "INSERT INTO tags (tenant, id, created, modified, identifiers, body, name) VALUES (1, ?1, 0, 0, '', x'', ?2)";
        file.execute(make, (id, name)).unwrap();
    }
    for (id, step) in [(tag, 1), (other, 10)] {
        let make = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
             INSERT INTO taggings (tenant, id, created, modified, person, tag, identifiers, body)
             SELECT 1, randomblob(16), 0, 0, CAST(printf('person %09d', i) AS BLOB), ?2, '', x'' FROM n WHERE i % ?3 = 0";
        file.execute(make, (i64::try_from(people).unwrap(), id, step))
            .unwrap();
    }
    let code = table(Kind::Tagging).code;
    for scope in [Kind::Person, Kind::Tag] {
        let sql = format!(
            "INSERT INTO total (tenant, kind, scope, owner, records)
             SELECT 1, {code}, {}, {scope}, count(*) FROM taggings GROUP BY {scope}",
            table(scope).code,
            scope = scope.singular()
        );
        file.execute_batch(&sql).unwrap();
    }
    file
}

/// Returns how many totals differ from the number of members.
fn wrong_totals(file: &Connection) -> i64 {
    let wrong = |scope: Kind| -> i64 {
        let sql = format!(
            "SELECT count(*) FROM total WHERE kind = {} AND scope = {} AND records !=
             (SELECT count(*) FROM taggings WHERE tenant = 1 AND {} = total.owner)",
            table(Kind::Tagging).code,
            table(scope).code,
            scope.singular()
        );
        file.query_row(&sql, (), |row| row.get(0)).unwrap()
    };
    wrong(Kind::Person) + wrong(Kind::Tag)
}

fn number(file: &Connection, sql: &str) -> i64 {
    file.query_row(sql, (), |row| row.get(0)).unwrap()
}

/// CRU-05: deleting a tag with its taggings takes a fixed, small number of statements. Every total
/// is right afterwards.
#[test]
fn a_tag_goes_in_few_statements() {
    let mut counts = Vec::new();
    for people in [10, 100_000] {
        let mut file = tagged(people);
        assert_eq!(wrong_totals(&file), 0);
        let statements = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&statements);
        let count = move |_: rusqlite::trace::TraceEvent<'_>| {
            counter.fetch_add(1, Ordering::Relaxed);
        };
        file.trace_v2(TraceEventCodes::SQLITE_TRACE_STMT, Some(count))
            .unwrap();
        let tag = RecordSet::One(
            ChangeTarget::new(Kind::Tag, Id::new(TAG).unwrap(), 1),
            IndexValues::default(),
        );
        let mut tally = TenantDeltas::default();
        let mut apply = ChangeApplier::new(&file, 1, &mut tally);
        apply
            .change(&Change::Delete(RecordSet::Under(
                Kind::Tagging,
                "tag",
                Box::new(tag.clone()),
            )))
            .unwrap();
        apply.change(&Change::Delete(tag)).unwrap();
        let moves = apply.into_moves();
        store_counts(&file, &mut tally).unwrap();
        counts.push(statements.load(Ordering::Relaxed));
        assert!(
            moves.len() >= people && moves.iter().all(|change| !change.is_member),
            "COL-22 {}",
            moves.len()
        );
        assert_eq!(number(&file, "SELECT count(*) FROM tags"), 1);
        assert_eq!(
            number(&file, "SELECT count(*) FROM taggings"),
            i64::try_from(people / 10).unwrap()
        );
        assert_eq!(wrong_totals(&file), 0, "COL-23");
    }
    assert_eq!(counts[0], counts[1]);
    assert!(counts[0] < 32, "{counts:?}");
}
