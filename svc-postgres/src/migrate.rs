//! Numbered changes of the tables, each made once, also where two processes start at the same time.

use svc_core::{
    link::ShareNames,
    store::migration::{Migration, Mismatch, missing},
    value::Timestamp,
};
use thiserror::Error;
use tokio_postgres::{Client, error::SqlState};

use crate::{
    error::told,
    options::Options,
    texts::{Texts, containers},
};

/// Every change, in order.
pub(crate) const MIGRATIONS: &[Migration] =
    &[Migration::new(1, "tables", include_str!("../migrations/0001_tables.sql"))];

/// Every table.
pub(crate) const TABLES: [&str; 13] = [
    "migration",
    "meta",
    "tenant",
    "api_key",
    "ledger",
    "turn",
    "record",
    "identifier",
    "email",
    "total",
    "part",
    "holder",
    "outbox",
];
/// Those that belong to no tenant: directories.
pub(crate) const DIRECTORIES: [&str; 4] = ["migration", "meta", "tenant", "api_key"];

/// Why a database cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// PostgreSQL, or the way to it.
    #[error("{}", told(.0))]
    Postgres(#[from] tokio_postgres::Error),
    /// The URL of the database cannot be read.
    #[error("the URL of the database cannot be read ({0}); it looks like postgres://user:password@host:5432/database")]
    Url(#[source] tokio_postgres::Error),
    /// The URL asks for TLS, which this program was built without.
    #[error(
        "the URL asks for TLS (sslmode=require), which this program was built without; build it with the feature `tls`"
    )]
    NoTls,
    /// TLS cannot be set up.
    #[error("TLS: {0}")]
    Tls(String),
    /// The names of the share objects are others than those of the tables.
    #[error("the tables have the share objects `{}` and `{}`; use these names, they cannot be changed", .0.network_a(), .0.network_b())]
    ShareNames(ShareNames),
    /// The system has no random numbers, or what was made of them is damaged.
    #[error("{0}")]
    Random(String),
    /// The schema holds tables of somebody else, or none.
    #[error("the schema `{0}` holds no tables of this program; nothing was removed")]
    NotOurs(String),
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

/// The text of a change for the tables in a schema.
pub(crate) fn ddl(migration: &Migration, schema: &str) -> String {
    migration.sql.replace("{s}", schema).replace("{containers}", &containers())
}

/// Brings the tables of these options up to date; the secret of their cursors.
pub(crate) async fn open(options: &Options) -> Result<[u8; 32], ConnectError> {
    let schema = &*options.schema;
    if !is_schema(schema) {
        return Err(ConnectError::Schema(schema.to_owned()));
    }
    let mut client = options.primary.connect().await?;
    migrate(&mut client, schema, (options.now)()).await?;
    if options.row_level_security {
        client.batch_execute(&fences(schema)).await?;
    }
    let texts = Texts::of(schema);
    let mut drawn = [0; 32];
    getrandom::fill(&mut drawn).map_err(|error| ConnectError::Random(error.to_string()))?;
    let secret = remembered(&client, &texts, "secret", &drawn).await?;
    let names = &options.share_names;
    let stored = [("network_a", names.network_a()), ("network_b", names.network_b())];
    let mut found = Vec::new();
    for (name, value) in stored {
        found.push(String::from_utf8_lossy(&remembered(&client, &texts, name, value.as_bytes()).await?).into_owned());
    }
    if let [a, b] = found.as_slice()
        && let Some(stored) = ShareNames::new(a, b)
        && stored != *names
    {
        return Err(ConnectError::ShareNames(stored));
    }
    secret.try_into().map_err(|_| ConnectError::Random("the secret of the cursors is damaged".to_owned()))
}

/// What the database remembers under a name; the first to come says what that is.
async fn remembered(client: &Client, texts: &Texts, name: &str, first: &[u8]) -> Result<Vec<u8>, ConnectError> {
    client.execute(&texts.make_meta, &[&name, &first]).await?;
    Ok(client.query_one(&texts.meta, &[&name]).await?.try_get(0)?)
}

/// A connection to the database of these options, and whether their schema has tables of this crate.
pub(crate) async fn look(options: &Options) -> Result<(Client, bool), ConnectError> {
    let schema = &*options.schema;
    if !is_schema(schema) {
        return Err(ConnectError::Schema(schema.to_owned()));
    }
    let client = options.primary.connect().await?;
    let text = "SELECT count(*) FROM information_schema.tables WHERE table_schema = $1 AND table_name = ANY($2)";
    let found: i64 = client.query_one(text, &[&schema, &&TABLES[..]]).await?.try_get(0)?;
    Ok((client, found > 0))
}

/// Removes the tables of these options with all that is in them.
pub(crate) async fn remove(options: &Options) -> Result<(), ConnectError> {
    let schema = &*options.schema;
    let (mut client, is_there) = look(options).await?;
    if !is_there {
        return Err(ConnectError::NotOurs(schema.to_owned()));
    }
    let transaction = client.transaction().await?;
    for table in TABLES {
        transaction.batch_execute(&format!("DROP TABLE IF EXISTS {schema}.{table}")).await?;
    }
    transaction.commit().await?;
    Ok(())
}

/// Row-level security: of the tables of tenants each transaction sees the rows of its own tenant, as `svc.tenant` names it. The
/// one look-up that finds a tenant sees containers of all.
fn fences(schema: &str) -> String {
    let own = "tenant = CASE WHEN current_setting('svc.tenant', true) ~ '^[0-9]+$' \
               THEN current_setting('svc.tenant', true)::bigint END";
    let fence = |table: &&str| {
        let name = format!("{schema}.{table}");
        format!(
            "DROP POLICY IF EXISTS of_the_tenant ON {name}; CREATE POLICY of_the_tenant ON {name} USING ({own}); \
             ALTER TABLE {name} ENABLE ROW LEVEL SECURITY; ALTER TABLE {name} FORCE ROW LEVEL SECURITY;"
        )
    };
    let tables: String = TABLES.iter().filter(|table| !DIRECTORIES.contains(table)).map(fence).collect();
    format!(
        "BEGIN; {tables} DROP POLICY IF EXISTS of_the_directory ON {schema}.record; CREATE POLICY of_the_directory ON {schema}.record \
         FOR SELECT USING (current_setting('svc.tenant', true) = 'directory' AND kind IN ({})); COMMIT",
        containers()
    )
}

/// Brings the tables up to date in one transaction; whoever comes second waits and finds them so.
async fn migrate(client: &mut Client, schema: &str, now: Timestamp) -> Result<(), ConnectError> {
    // Outside of the transaction: two that make a schema at the same time may fail, and then it is there.
    if let Err(error) = client.batch_execute(&format!("CREATE SCHEMA IF NOT EXISTS {schema}")).await
        && error.code() != Some(&SqlState::UNIQUE_VIOLATION)
        && error.code() != Some(&SqlState::INSUFFICIENT_PRIVILEGE)
    {
        return Err(error.into());
    }
    let made = format!(
        "CREATE TABLE IF NOT EXISTS {schema}.migration (number int PRIMARY KEY, name text NOT NULL, checksum text NOT NULL, \
         applied bigint NOT NULL)"
    );
    if let Err(error) = client.batch_execute(&made).await
        && error.code() != Some(&SqlState::UNIQUE_VIOLATION)
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
        transaction.batch_execute(&ddl(migration, schema)).await?;
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
