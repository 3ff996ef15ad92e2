//! Numbered migrations of a store's tables. Each is applied once and recorded with its checksum.

use sha2::{Digest, Sha256};
use svc_core::rules::Recount;

use super::hex;

/// A migration of the tables. A released migration is never edited; later changes get a new number.
#[derive(Debug, Clone, Copy)]
pub struct Migration {
    /// The number. Numbers start at 1 and have no gaps.
    pub number: u32,
    /// The name.
    pub name: &'static str,
    /// The SQL statements.
    pub sql: &'static str,
    /// Whether the records are repaired after the migration: see
    /// [`RecordRepair`](svc_core::rules::RecordRepair).
    pub repairs: bool,
}

impl Migration {
    /// Creates a migration that only changes tables.
    #[must_use]
    pub const fn new(number: u32, name: &'static str, sql: &'static str) -> Self {
        Self {
            number,
            name,
            sql,
            repairs: false,
        }
    }

    /// Marks the migration so that records are repaired after it.
    #[must_use]
    pub const fn with_repair(self) -> Self {
        Self {
            repairs: true,
            ..self
        }
    }

    /// Returns the SHA-256 of the SQL text in hex digits. Line endings do not count, so the
    /// checksum is the same on every system.
    #[must_use]
    pub fn checksum(&self) -> String {
        let mut hash = Sha256::new();
        for line in self.sql.lines() {
            hash.update(line);
            hash.update(b"\n");
        }
        hex::encode(&hash.finalize())
    }
}

/// Error raised when tables cannot be migrated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MigrationError {
    /// A newer version of the program has migrated the tables. Contains their version.
    Newer(u32),
    /// The applied migration with this number differs from that of this program.
    Damaged(u32),
}

/// Returns the migrations that are missing. `made` contains the numbers and checksums of applied
/// migrations.
///
/// # Errors
///
/// Returns an error if the applied migrations differ from those of this program.
pub fn pending<'a>(
    all: &'a [Migration],
    made: &[(u32, String)],
) -> Result<&'a [Migration], MigrationError> {
    let known = all.last().map_or(0, |migration| migration.number);
    if let Some((number, _)) = made.last().filter(|(number, _)| *number > known) {
        return Err(MigrationError::Newer(*number));
    }
    for (migration, (number, checksum)) in all.iter().zip(made) {
        if migration.number != *number || migration.checksum() != *checksum {
            return Err(MigrationError::Damaged(migration.number));
        }
    }
    Ok(all.get(made.len()..).unwrap_or_default())
}

/// Returns whether totals, values and indexes have to be derived again, because this program derives
/// others than the program that last did. `counted` is the [`Recount::basis`] of that program.
///
/// # Errors
///
/// Returns the name of a measure, index or form of values that this program does not have. Only a newer program
/// derives it.
pub fn must_recount(counted: Option<&str>) -> Result<bool, String> {
    let own = Recount::basis();
    let Some(counted) = counted else {
        return Ok(true);
    };
    let name = |line: &str| line.split_once(" = ").map(|(name, _)| name.to_owned());
    let known: Vec<_> = own.lines().filter_map(name).collect();
    match counted
        .lines()
        .filter_map(name)
        .find(|name| !known.contains(name))
    {
        Some(unknown) => Err(unknown),
        None => Ok(counted != own),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Migration; 2] = [
        Migration::new(1, "one", "CREATE TABLE one (a);\n"),
        Migration::new(2, "two", "CREATE TABLE two (a);\n").with_repair(),
    ];

    #[test]
    fn line_ends_do_not_change_a_checksum() {
        let windows = Migration {
            sql: "CREATE TABLE one (a);\r\n",
            ..ALL[0]
        };
        assert_eq!(ALL[0].checksum(), windows.checksum());
    }

    #[test]
    fn totals_are_counted_again_after_a_change_of_the_measures() {
        let own = Recount::basis();
        assert_eq!(must_recount(None), Ok(true));
        assert_eq!(must_recount(Some(&own)), Ok(false));
        let without = own.replace("Event.total_accepted", "Event.total_later");
        assert_eq!(
            must_recount(Some(&without)),
            Err("Event.total_later".to_owned())
        );
        let other = own.replace("or absent", "");
        assert_eq!(must_recount(Some(&other)), Ok(true));
        let earlier: Vec<&str> = own.lines().skip(1).collect();
        assert_eq!(must_recount(Some(&earlier.join("\n"))), Ok(true));
    }

    #[test]
    fn what_was_made_decides_what_is_missing() {
        let made = |numbers: &[u32]| -> Vec<(u32, String)> {
            numbers
                .iter()
                .map(|number| (*number, ALL[(number - 1) as usize % 2].checksum()))
                .collect()
        };
        let numbers = |made: &[(u32, String)]| {
            pending(&ALL, made)
                .map(|missing| missing.iter().map(|it| it.number).collect::<Vec<_>>())
        };
        assert_eq!(numbers(&[]), Ok(vec![1, 2]));
        assert_eq!(numbers(&made(&[1])), Ok(vec![2]));
        assert_eq!(numbers(&made(&[1, 2])), Ok(vec![]));
        assert_eq!(numbers(&made(&[1, 2, 3])), Err(MigrationError::Newer(3)));
        assert_eq!(numbers(&made(&[2])), Err(MigrationError::Damaged(1)));
        assert_eq!(
            numbers(&[(1, "x".to_owned())]),
            Err(MigrationError::Damaged(1))
        );
    }
}
