//! Metadata of the file: names and values of the table `meta`.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension, TransactionBehavior, types::FromSql};
use svc_core::link::ShareNames;

use crate::{
    error::StoreError,
    file::{FileError, io, sqlite},
    options::SqliteOptions,
};

fn value<T: FromSql>(file: &Connection, name: &str) -> rusqlite::Result<Option<T>> {
    let mut value = file.prepare_cached("SELECT value FROM meta WHERE name = ?1")?;
    value.query_row([name], |row| row.get(0)).optional()
}

/// Returns the measures that the totals of the file were counted with.
pub(crate) fn measures(file: &Connection) -> rusqlite::Result<Option<String>> {
    value(file, "measures")
}

/// Sets the measures that the totals of the file were counted with.
pub(crate) fn set_measures(file: &Connection, text: &str) -> rusqlite::Result<()> {
    let mut write =
        file.prepare_cached("INSERT OR REPLACE INTO meta (name, value) VALUES ('measures', ?1)")?;
    write.execute([text]).map(drop)
}

/// Returns the name in the table. It separates the marks of programs from the values of the store.
fn name_of(mark: &str) -> String {
    format!("mark.{mark}")
}

/// Returns a mark: a short text that a program stores in the file.
pub(crate) fn mark(file: &Connection, name: &str) -> rusqlite::Result<Option<String>> {
    value(file, &name_of(name))
}

/// Writes a mark, or replaces it.
pub(crate) fn set_mark(file: &Connection, name: &str, text: &str) -> rusqlite::Result<()> {
    let mut write =
        file.prepare_cached("INSERT OR REPLACE INTO meta (name, value) VALUES (?1, ?2)")?;
    write.execute([&name_of(name), text]).map(drop)
}

/// Returns every mark with its name.
pub(crate) fn marks(file: &Connection) -> rusqlite::Result<Vec<(String, String)>> {
    let mut marks = file.prepare_cached(
        "SELECT substr(name, 6), value FROM meta WHERE name GLOB 'mark.*' ORDER BY name",
    )?;
    marks
        .query_map((), |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect()
}

/// Returns the number of changes to keys.
pub(crate) fn key_epoch(file: &Connection) -> rusqlite::Result<i64> {
    let mut epoch = file.prepare_cached("SELECT value FROM meta WHERE name = 'key_epoch'")?;
    epoch.query_row((), |row| row.get(0))
}

/// Increments the number of changes to keys, so that every process reads its cached keys again.
pub(crate) fn next_key_epoch(file: &Connection) -> rusqlite::Result<()> {
    file.prepare_cached("UPDATE meta SET value = value + 1 WHERE name = 'key_epoch'")?
        .execute(())
        .map(drop)
}

/// Stores the names of the share objects in a new file. Rejects other names for an existing file.
pub(crate) fn share_names(
    connection: &mut Connection,
    options: &SqliteOptions,
) -> Result<ShareNames, FileError> {
    let failed = sqlite(&options.path);
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(&failed)?;
    let name = |which| value::<String>(&transaction, which).map_err(&failed);
    let stored = name("network_a")?.zip(name("network_b")?);
    if let Some(stored) = stored.and_then(|(a, b)| ShareNames::new(&a, &b)) {
        return if options.beside || stored == options.share_names {
            Ok(stored)
        } else {
            Err(FileError::ShareNames {
                path: options.path.clone(),
                stored,
            })
        };
    }
    let (network_a, network_b) = (
        options.share_names.network_a(),
        options.share_names.network_b(),
    );
    let sql =
        "INSERT OR REPLACE INTO meta (name, value) VALUES ('network_a', ?1), ('network_b', ?2)";
    transaction
        .execute(sql, [network_a, network_b])
        .map_err(&failed)?;
    transaction.commit().map_err(&failed)?;
    Ok(options.share_names.clone())
}

/// Returns the secret of the file's cursors. A new file gets a random one.
pub(crate) fn secret(connection: &mut Connection, path: &Path) -> Result<[u8; 32], FileError> {
    let failed = sqlite(path);
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(&failed)?;
    if let Some(secret) = value(&transaction, "secret").map_err(&failed)? {
        return Ok(secret);
    }
    let secret = new_secret().map_err(|error| io(path)(error.into()))?;
    set_secret(&transaction, secret).map_err(&failed)?;
    transaction.commit().map_err(&failed)?;
    Ok(secret)
}

/// Returns the same as [`secret`], within a transaction.
pub(crate) fn secret_within(file: &Connection) -> Result<[u8; 32], StoreError> {
    if let Some(secret) = value(file, "secret")? {
        return Ok(secret);
    }
    let secret = new_secret().map_err(|error| StoreError::unexpected(error.to_string()))?;
    set_secret(file, secret)?;
    Ok(secret)
}

fn new_secret() -> Result<[u8; 32], getrandom::Error> {
    let mut secret = [0; 32];
    getrandom::fill(&mut secret)?;
    Ok(secret)
}

fn set_secret(file: &Connection, secret: [u8; 32]) -> rusqlite::Result<()> {
    let sql = "INSERT INTO meta (name, value) VALUES ('secret', ?1)";
    file.execute(sql, [secret]).map(drop)
}
