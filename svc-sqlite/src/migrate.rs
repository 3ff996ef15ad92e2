//! Numbered migrations of the data file. Each is applied once, and recorded with its checksum.

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};
use svc_core::value::Timestamp;
use svc_store::migration::{Migration, MigrationError, pending};

use crate::file::{FileError, sqlite};
use crate::repair::repair;

/// Every migration in order. Numbers start at 1 and have no gaps.
///
/// They are plain SQL, although most of `kinds` could be generated from the tables of `svc-core`. A
/// data file was created by the text of its release, so that text must never change. A test in
/// `schema.rs` checks that both agree.
pub(crate) const MIGRATIONS: &[Migration] = &[
    Migration::new(1, "floor", include_str!("../migrations/0001_floor.sql")),
    Migration::new(2, "kinds", include_str!("../migrations/0002_kinds.sql")),
    Migration::new(3, "turns", include_str!("../migrations/0003_turns.sql")),
    Migration::new(4, "repair", include_str!("../migrations/0004_repair.sql")).with_repair(),
    Migration::new(5, "changes", include_str!("../migrations/0005_changes.sql")),
    Migration::new(6, "answers", include_str!("../migrations/0006_answers.sql")),
    Migration::new(7, "filters", include_str!("../migrations/0007_filters.sql")),
    Migration::new(8, "outbox", include_str!("../migrations/0008_outbox.sql")),
    Migration::new(
        9,
        "webhooks",
        include_str!("../migrations/0009_webhooks.sql"),
    ),
    Migration::new(
        10,
        "measures",
        include_str!("../migrations/0010_measures.sql"),
    ),
    Migration::new(11, "texts", include_str!("../migrations/0011_texts.sql")),
    Migration::new(
        12,
        "aliases",
        include_str!("../migrations/0012_aliases.sql"),
    ),
    Migration::new(
        13,
        "duplicates",
        include_str!("../migrations/0013_duplicates.sql"),
    ),
    Migration::new(14, "merges", include_str!("../migrations/0014_merges.sql")),
];

/// Upgrades the file in one transaction (`may_change`), or only checks that it is up to date.
pub(crate) fn migrate(
    connection: &mut Connection,
    path: &Path,
    migrations: &[Migration],
    may_change: bool,
    now: Timestamp,
) -> Result<(), FileError> {
    let known = u32::try_from(migrations.len()).unwrap_or(u32::MAX);
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(sqlite(path))?;
    if may_change {
        transaction
            .execute_batch(
                "CREATE TABLE IF NOT EXISTS migration (
                     number INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, applied INTEGER NOT NULL
                 ) STRICT",
            )
            .map_err(sqlite(path))?;
    }
    let found = applied(&transaction).map_err(sqlite(path))?;
    let missing = pending(migrations, &found).map_err(|mismatch| match mismatch {
        MigrationError::Newer(found) => FileError::Newer {
            path: path.to_owned(),
            found,
            known,
        },
        MigrationError::Damaged(number) => FileError::Damaged {
            path: path.to_owned(),
            number,
        },
    })?;
    if !missing.is_empty() && !may_change {
        let found = found.last().map_or(0, |(number, _)| *number);
        return Err(FileError::Older {
            path: path.to_owned(),
            found,
            known,
        });
    }
    for migration in missing {
        transaction
            .execute_batch(migration.sql)
            .map_err(sqlite(path))?;
        transaction
            .execute(
                "INSERT INTO migration (number, name, checksum, applied) VALUES (?1, ?2, ?3, ?4)",
                (
                    migration.number,
                    migration.name,
                    migration.checksum(),
                    now.as_micros(),
                ),
            )
            .map_err(sqlite(path))?;
    }
    if missing.iter().any(|migration| migration.repairs) {
        repair(&transaction).map_err(|error| FileError::Repair {
            path: path.to_owned(),
            reason: error.into(),
        })?;
    }
    transaction.commit().map_err(sqlite(path))
}

/// Returns number and checksum of the migrations that the file has.
fn applied(connection: &Connection) -> rusqlite::Result<Vec<(u32, String)>> {
    if !connection.table_exists(None, "migration")? {
        return Ok(Vec::new());
    }
    let mut statement =
        connection.prepare("SELECT number, checksum FROM migration ORDER BY number")?;
    statement
        .query_map((), |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: Migration = Migration::new(1, "one", "CREATE TABLE one (a);\n");
    const TWO: Migration = Migration::new(2, "two", "CREATE TABLE two (a);\n");
    const BROKEN: Migration =
        Migration::new(2, "two", "CREATE TABLE two (a); CREATE TABLE one (a);");

    fn up(connection: &mut Connection, migrations: &[Migration]) -> Result<(), FileError> {
        migrate(
            connection,
            Path::new("people.db"),
            migrations,
            true,
            Timestamp::MIN,
        )
    }

    #[test]
    fn numbers_run_without_a_gap() {
        for (index, migration) in MIGRATIONS.iter().enumerate() {
            assert_eq!(migration.number as usize, index + 1, "{}", migration.name);
        }
    }

    #[test]
    fn each_change_is_made_once() {
        let mut file = Connection::open_in_memory().unwrap();
        up(&mut file, &[ONE]).unwrap();
        up(&mut file, &[ONE, TWO]).unwrap();
        up(&mut file, &[ONE, TWO]).unwrap();
        assert_eq!(applied(&file).unwrap().len(), 2);
    }

    #[test]
    fn a_failing_change_leaves_the_file_as_it_was() {
        let mut file = Connection::open_in_memory().unwrap();
        up(&mut file, &[ONE]).unwrap();
        assert!(matches!(
            up(&mut file, &[ONE, BROKEN]),
            Err(FileError::Sqlite { .. })
        ));
        assert_eq!(applied(&file).unwrap().len(), 1);
        assert!(!file.table_exists(None, "two").unwrap());
    }

    /// SYN-08: a file of the previous version gets a change feed, which has no entries at first.
    #[test]
    fn a_file_without_a_feed_gets_one() {
        let mut file = Connection::open_in_memory().unwrap();
        up(&mut file, &MIGRATIONS[..4]).unwrap();
        assert!(!file.table_exists(None, "feed").unwrap());
        up(&mut file, MIGRATIONS).unwrap();
        assert_eq!(
            file.query_row("SELECT count(*) FROM feed", (), |row| row.get::<_, i64>(0))
                .unwrap(),
            0
        );
    }

    #[test]
    fn a_newer_file_is_refused_in_one_line() {
        let mut file = Connection::open_in_memory().unwrap();
        up(&mut file, &[ONE, TWO]).unwrap();
        let error = up(&mut file, &[ONE]).unwrap_err();
        assert!(matches!(
            error,
            FileError::Newer {
                found: 2,
                known: 1,
                ..
            }
        ));
        assert_eq!(
            error.to_string(),
            "people.db: the file has version 2, but this program supports versions up to 1 only; use a newer program"
        );
    }

    #[test]
    fn a_damaged_checksum_is_refused() {
        let mut file = Connection::open_in_memory().unwrap();
        up(&mut file, &[ONE, TWO]).unwrap();
        file.execute("UPDATE migration SET checksum = 'x' WHERE number = 2", ())
            .unwrap();
        assert!(matches!(
            up(&mut file, &[ONE, TWO]),
            Err(FileError::Damaged { number: 2, .. })
        ));
        file.execute("DELETE FROM migration WHERE number = 1", ())
            .unwrap();
        assert!(matches!(
            up(&mut file, &[ONE, TWO]),
            Err(FileError::Damaged { number: 1, .. })
        ));
    }

    #[test]
    fn beside_a_server_nothing_is_changed() {
        let mut file = Connection::open_in_memory().unwrap();
        up(&mut file, &[ONE]).unwrap();
        let beside = migrate(
            &mut file,
            Path::new("people.db"),
            &[ONE, TWO],
            false,
            Timestamp::MIN,
        );
        assert!(matches!(
            beside,
            Err(FileError::Older {
                found: 1,
                known: 2,
                ..
            })
        ));
        migrate(
            &mut file,
            Path::new("people.db"),
            &[ONE],
            false,
            Timestamp::MIN,
        )
        .unwrap();
    }
}
