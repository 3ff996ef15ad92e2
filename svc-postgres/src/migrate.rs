//! Numbered changes of the tables, each made once, also where two processes start at the same time.

use svc_core::{
    store::migration::{Migration, Mismatch, missing},
    value::Timestamp,
};
use thiserror::Error;
use tokio_postgres::Client;

/// Every change, in order.
pub(crate) const MIGRATIONS: &[Migration] =
    &[Migration::new(1, "tables", include_str!("../migrations/0001_tables.sql"))];

/// Why a database cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// PostgreSQL, or the way to it.
    #[error("PostgreSQL: {0}")]
    Postgres(#[from] tokio_postgres::Error),
    /// The name of the schema cannot be one.
    #[error(
        "the schema `{0}` is no name: use 1 to 63 lower-case letters, digits and underscores, beginning with a letter"
    )]
    Schema(String),
    /// A later version of this library has changed the tables.
    #[error("the schema is of version {found}, this program knows versions up to {known}; use a newer program")]
    Newer {
        /// The version of the tables.
        found: u32,
        /// The highest version that this program knows.
        known: u32,
    },
    /// The record of changes does not fit what this program knows.
    #[error("migration {0} was not made as this program knows it (its checksum differs); restore a backup")]
    Damaged(u32),
}

/// Whether a schema can have this name: it goes into the text of statements.
pub(crate) fn is_schema(name: &str) -> bool {
    let good = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_';
    (1..=63).contains(&name.len())
        && name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.chars().all(good)
}

/// Brings the tables up to date in one transaction; whoever comes second waits and finds them so.
pub(crate) async fn migrate(client: &mut Client, schema: &str, now: Timestamp) -> Result<(), ConnectError> {
    // Outside of the transaction: two that make a schema at the same time may fail, and then it is there.
    if let Err(error) = client.batch_execute(&format!("CREATE SCHEMA IF NOT EXISTS {schema}")).await
        && error.code() != Some(&tokio_postgres::error::SqlState::UNIQUE_VIOLATION)
        && error.code() != Some(&tokio_postgres::error::SqlState::INSUFFICIENT_PRIVILEGE)
    {
        return Err(error.into());
    }
    let made = format!(
        "CREATE TABLE IF NOT EXISTS {schema}.migration (number int PRIMARY KEY, name text NOT NULL, checksum text NOT NULL, \
         applied bigint NOT NULL)"
    );
    if let Err(error) = client.batch_execute(&made).await
        && error.code() != Some(&tokio_postgres::error::SqlState::UNIQUE_VIOLATION)
    {
        return Err(error.into());
    }
    let transaction = client.transaction().await?;
    transaction.batch_execute(&format!("LOCK TABLE {schema}.migration IN EXCLUSIVE MODE")).await?;
    let rows =
        transaction.query(&format!("SELECT number, checksum FROM {schema}.migration ORDER BY number"), &[]).await?;
    let mut found = Vec::new();
    for row in rows {
        found.push((u32::try_from(row.try_get::<_, i32>(0)?).unwrap_or_default(), row.try_get::<_, String>(1)?));
    }
    let missing = missing(MIGRATIONS, &found).map_err(|mismatch| match mismatch {
        Mismatch::Newer(found) => {
            ConnectError::Newer { found, known: u32::try_from(MIGRATIONS.len()).unwrap_or(u32::MAX) }
        }
        Mismatch::Damaged(number) => ConnectError::Damaged(number),
    })?;
    for migration in missing {
        transaction.batch_execute(&migration.sql.replace("{s}", schema)).await?;
        let number = i32::try_from(migration.number).unwrap_or_default();
        transaction
            .execute(
                &format!("INSERT INTO {schema}.migration (number, name, checksum, applied) VALUES ($1, $2, $3, $4)"),
                &[&number, &migration.name, &migration.checksum(), &now.micros()],
            )
            .await?;
    }
    transaction.commit().await?;
    Ok(())
}
