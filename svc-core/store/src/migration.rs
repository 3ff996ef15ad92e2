//! Numbered changes of a store's tables, each made once and remembered with its checksum.

use sha2::{Digest, Sha256};

use super::hex;

/// One change of the tables. What was once released is never edited; a new number follows.
#[derive(Debug, Clone, Copy)]
pub struct Migration {
    /// Numbers run from 1 without a gap.
    pub number: u32,
    /// What it is called.
    pub name: &'static str,
    /// Its statements.
    pub sql: &'static str,
    /// Whether the records are brought to the rules of today behind it: see
    /// [`RecordRepair`](svc_core::rules::RecordRepair).
    pub repairs: bool,
}

impl Migration {
    /// A change of the tables only.
    #[must_use]
    pub const fn new(number: u32, name: &'static str, sql: &'static str) -> Self {
        Self {
            number,
            name,
            sql,
            repairs: false,
        }
    }

    /// A change behind which the records are repaired.
    #[must_use]
    pub const fn with_repair(self) -> Self {
        Self {
            repairs: true,
            ..self
        }
    }

    /// SHA-256 of the text, in hex; line ends do not count, so that it is the same on every system.
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

/// Why tables cannot be brought up to date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MigrationError {
    /// A later version of the program has changed them: they are of this version.
    Newer(u32),
    /// The change of this number was not made as this program knows it.
    Damaged(u32),
}

/// The changes that are missing where those with these numbers and checksums were made.
///
/// # Errors
///
/// What was made is not what this program knows.
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
