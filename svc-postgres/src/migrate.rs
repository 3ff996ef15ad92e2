//! Numbered migrations of the tables. Each is applied once, even if several processes start at the
//! same time.

use std::time::{Duration, Instant};

use svc_core::value::Timestamp;
use svc_store::migration::{Migration, MigrationError, pending};
use tokio_postgres::{Client, SimpleQueryMessage, error::SqlState};

use crate::{
    cluster::Topology, error::ConnectError, options::PostgresOptions, statements::containers,
};

/// Maximum time until a server is reached, before anything is created, and until what another
/// process creates is visible.
const PATIENCE: Duration = Duration::from_secs(10);
/// Time between two looks for what another process creates.
const VISIBLE_WAIT: Duration = Duration::from_millis(10);

/// Every migration, in order.
pub(crate) const MIGRATIONS: &[Migration] = &[
    Migration::new(1, "tables", include_str!("../migrations/0001_tables.sql")),
    Migration::new(2, "changes", include_str!("../migrations/0002_changes.sql")),
    Migration::new(3, "answers", include_str!("../migrations/0003_answers.sql")),
    Migration::new(4, "filters", include_str!("../migrations/0004_filters.sql")),
    Migration::new(5, "outbox", include_str!("../migrations/0005_outbox.sql")),
    Migration::new(
        6,
        "webhooks",
        include_str!("../migrations/0006_webhooks.sql"),
    ),
    Migration::new(7, "leases", include_str!("../migrations/0007_leases.sql")),
    Migration::new(
        8,
        "measures",
        include_str!("../migrations/0008_measures.sql"),
    ),
    Migration::new(9, "texts", include_str!("../migrations/0009_texts.sql")),
    Migration::new(
        10,
        "aliases",
        include_str!("../migrations/0010_aliases.sql"),
    ),
    Migration::new(
        11,
        "duplicates",
        include_str!("../migrations/0011_duplicates.sql"),
    ),
    Migration::new(12, "merges", include_str!("../migrations/0012_merges.sql")),
];

/// Every table.
pub(crate) const TABLES: [&str; 23] = [
    "migration",
    "meta",
    "lease",
    "tenant",
    "api_key",
    "ledger",
    "turn",
    "record",
    "identifier",
    "email",
    "text_key",
    "total",
    "part",
    "holder",
    "alias",
    "person_key",
    "shared_key",
    "apart",
    "merge",
    "outbox",
    "feed",
    "kept",
    "webhook",
];
/// The tables that belong to no tenant: the directories.
pub(crate) const DIRECTORIES: [&str; 5] = ["migration", "meta", "lease", "tenant", "api_key"];

/// Returns whether a schema can have this name, which becomes part of statements.
pub(crate) fn is_schema(name: &str) -> bool {
    let good =
        |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_';
    (1..=63).contains(&name.len())
        && name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.chars().all(good)
}

/// Returns the SQL of a migration for the tables in a schema.
pub(crate) fn ddl(migration: &Migration, schema: &str) -> String {
    migration
        .sql
        .replace("{s}", schema)
        .replace("{containers}", &containers())
}

/// Rejects tables whose distribution does not match the options: over a cluster, or on one server.
/// Missing tables are ignored.
async fn check_topology(
    client: &Client,
    options: &PostgresOptions,
    schema: &str,
) -> Result<(), ConnectError> {
    let is_cluster = is_cluster(client).await?;
    let (distributed, local) = parted(client, schema, is_cluster).await?;
    match Topology::of(options) {
        Topology::Cluster if !is_cluster => Err(ConnectError::NotACluster),
        // Another process that opens the same schema creates the first table before it distributes
        // all of them.
        Topology::Cluster if local.iter().any(|table| table != "migration") => {
            Err(ConnectError::NotDistributed {
                schema: schema.to_owned(),
                tables: local.join(", "),
            })
        }
        Topology::Server if !distributed.is_empty() => {
            Err(ConnectError::Distributed(schema.to_owned()))
        }
        _ => Ok(()),
    }
}

/// Returns whether the database is a node of a Citus cluster, that is, has the catalogue of
/// distributed tables.
async fn is_cluster(client: &Client) -> Result<bool, ConnectError> {
    let text = "SELECT to_regclass('pg_dist_partition') IS NOT NULL, ''";
    Ok(pairs(client, text)
        .await?
        .iter()
        .any(|(is_there, _)| is_there == "t"))
}

/// Returns the tables of the schema that are distributed, and those that are not.
async fn parted(
    client: &Client,
    schema: &str,
    is_cluster: bool,
) -> Result<(Vec<String>, Vec<String>), ConnectError> {
    // By a hash of the tenant, or as a reference table. Schema-based sharding is neither.
    let is_distributed = if is_cluster {
        "EXISTS (SELECT 1 FROM pg_dist_partition p WHERE p.logicalrelid = c.oid AND (p.partmethod = 'h' OR p.repmodel = 't'))"
    } else {
        "false"
    };
    let text = format!(
        "SELECT c.relname, {is_distributed} FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
         WHERE n.nspname = '{schema}' AND c.relkind = 'r' ORDER BY c.relname"
    );
    let tables = pairs(client, &text).await?;
    let ours = tables
        .into_iter()
        .filter(|(table, _)| TABLES.contains(&table.as_str()));
    let (distributed, local): (Vec<_>, Vec<_>) =
        ours.partition(|(_, is_distributed)| is_distributed == "t");
    let names =
        |tables: Vec<(String, String)>| tables.into_iter().map(|(table, _)| table).collect();
    Ok((names(distributed), names(local)))
}

/// Removes the tables of these options with all their data, but only if the first migration is
/// recorded.
pub(crate) async fn remove(options: &PostgresOptions) -> Result<(), ConnectError> {
    let schema = checked(options)?;
    let mut client = options.primary.within(PATIENCE).connect().await?;
    if !is_ours(&found(&client, schema).await?) {
        return Err(ConnectError::ForeignSchema(schema.to_owned()));
    }
    check_topology(&client, options, schema).await?;
    let transaction = client.transaction().await?;
    for table in TABLES {
        transaction
            .batch_execute(&format!("DROP TABLE IF EXISTS {schema}.{table}"))
            .await?;
    }
    Ok(transaction.commit().await?)
}

/// Returns whether the schema has tables of this crate.
pub(crate) async fn exists(options: &PostgresOptions) -> Result<bool, ConnectError> {
    let schema = checked(options)?;
    let client = options.primary.within(PATIENCE).connect().await?;
    Ok(is_ours(&found(&client, schema).await?))
}

fn is_ours(found: &[(u32, String)]) -> bool {
    let first = MIGRATIONS.first().map(Migration::checksum);
    found.first().map(|(_, checksum)| checksum) == first.as_ref()
}

fn checked(options: &PostgresOptions) -> Result<&str, ConnectError> {
    if is_schema(&options.schema) {
        Ok(&options.schema)
    } else {
        Err(ConnectError::InvalidSchemaName(options.schema.clone()))
    }
}

/// Returns the statements for row-level security. In tables of tenants, each transaction sees the
/// rows of its own tenant, which `svc.tenant` names.
///
/// The lookups across tenants see more: one the containers, one the outbox, one the webhooks, and
/// one the expired stored responses of all tenants.
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
    let tables: String = TABLES
        .iter()
        .filter(|table| !DIRECTORIES.contains(table))
        .map(fence)
        .collect();
    let found = |table: &str, which: &str| {
        format!(
            "DROP POLICY IF EXISTS of_the_directory ON {schema}.{table}; CREATE POLICY of_the_directory ON {schema}.{table} \
             FOR SELECT USING (current_setting('svc.tenant', true) = 'directory'{which});"
        )
    };
    let containers = found("record", &format!(" AND kind IN ({})", containers()));
    let whole = ["outbox", "webhook", "ledger", "kept", "merge"]
        .map(|table| found(table, ""))
        .join(" ");
    format!("{tables} {containers} {whole}")
}

/// Returns whether every table of tenants has its policy. If so, no lock is needed that would wait
/// for readers.
async fn is_fenced(client: &Client, schema: &str) -> Result<bool, ConnectError> {
    let text = format!(
        "SELECT c.relname, p.polname FROM pg_policy p JOIN pg_class c ON c.oid = p.polrelid \
         JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = '{schema}' AND c.relrowsecurity \
         AND c.relforcerowsecurity AND p.polname IN ('of_the_tenant', 'of_the_directory')"
    );
    // One for each of those tables, and those for the lookups.
    Ok(pairs(client, &text).await?.len() == TABLES.len() - DIRECTORIES.len() + 6)
}

/// Upgrades the tables in one transaction. A second process waits, and then finds them upgraded.
///
/// If nothing is missing, nothing is changed and no right to change anything is needed. On a
/// cluster, new tables are distributed in the same transaction.
pub(crate) async fn migrate(options: &PostgresOptions) -> Result<(), ConnectError> {
    let schema = checked(options)?;
    let mut client = options.primary.within(PATIENCE).connect().await?;
    check_topology(&client, options, schema).await?;
    if !pending_migrations(&found(&client, schema).await?)?.is_empty() {
        // Outside the transaction, which would end with the first failure.
        create_if_missing(&client, &format!("CREATE SCHEMA IF NOT EXISTS {schema}")).await?;
        create_if_missing(&client, &record(schema)).await?;
        let transaction = client.transaction().await?;
        transaction
            .batch_execute(&format!("LOCK TABLE {schema}.migration IN EXCLUSIVE MODE"))
            .await?;
        for migration in pending_migrations(&found(transaction.client(), schema).await?)? {
            transaction.batch_execute(&ddl(migration, schema)).await?;
            transaction
                .batch_execute(&recorded(migration, schema, (options.now)()))
                .await?;
        }
        if Topology::of(options) == Topology::Cluster {
            let (_, local) = parted(transaction.client(), schema, true).await?;
            for table in TABLES
                .iter()
                .filter(|table| local.iter().any(|local| local == *table))
            {
                transaction
                    .batch_execute(&distributing(table, schema))
                    .await?;
            }
        }
        transaction.commit().await?;
    }
    if options.row_level_security && !is_fenced(&client, schema).await? {
        let transaction = client.transaction().await?;
        // While this waits for the lock, readers would wait for it.
        let waits = options.patience.as_millis().max(1);
        transaction
            .batch_execute(&format!("SET LOCAL lock_timeout = {waits}"))
            .await?;
        transaction
            .batch_execute(&format!("LOCK TABLE {schema}.migration IN EXCLUSIVE MODE"))
            .await?;
        if !is_fenced(transaction.client(), schema).await? {
            transaction.batch_execute(&fences(schema)).await?;
        }
        transaction.commit().await?;
    }
    Ok(())
}

/// Executes a `CREATE ... IF NOT EXISTS`, also while other processes execute the same.
///
/// If another process creates the same, the statement fails when that process has committed. The
/// new name is visible to this connection slightly later, so the statement is repeated until it
/// finds the name. A user without the right to create passes: the statements that follow need only
/// what exists.
async fn create_if_missing(client: &Client, statement: &str) -> Result<(), tokio_postgres::Error> {
    // Which one it is depends on the progress of the other process.
    let simultaneous = [
        SqlState::UNIQUE_VIOLATION,
        SqlState::DUPLICATE_SCHEMA,
        SqlState::DUPLICATE_TABLE,
        SqlState::DUPLICATE_OBJECT,
    ];
    let started = Instant::now();
    loop {
        let made = client.batch_execute(statement).await;
        match made.as_ref().err().and_then(tokio_postgres::Error::code) {
            Some(code) if *code == SqlState::INSUFFICIENT_PRIVILEGE => return Ok(()),
            Some(code) if simultaneous.contains(code) && started.elapsed() < PATIENCE => {
                tokio::time::sleep(VISIBLE_WAIT).await;
            }
            _ => return made,
        }
    }
}

/// Returns the statement that creates the table of applied migrations.
fn record(schema: &str) -> String {
    format!(
        "CREATE TABLE IF NOT EXISTS {schema}.migration (number int PRIMARY KEY, name text NOT NULL, checksum text NOT NULL, \
         applied bigint NOT NULL)"
    )
}

/// Returns the statement that records a migration. It contains only numbers and names of this
/// crate, and hex.
fn recorded(migration: &Migration, schema: &str, now: Timestamp) -> String {
    let (number, name, checksum) = (migration.number, migration.name, migration.checksum());
    format!(
        "INSERT INTO {schema}.migration VALUES ({number}, '{name}', '{checksum}', {})",
        now.as_micros()
    )
}

/// Returns the recorded migrations, in order.
async fn found(client: &Client, schema: &str) -> Result<Vec<(u32, String)>, ConnectError> {
    // Ordered by the column: `number` alone would be the selected text, in which 10 comes before 2.
    let text =
        format!("SELECT m.number::text, m.checksum FROM {schema}.migration m ORDER BY m.number");
    let rows = match pairs(client, &text).await {
        Err(error)
            if error.code().is_some_and(|code| {
                [SqlState::UNDEFINED_TABLE, SqlState::INVALID_SCHEMA_NAME].contains(code)
            }) =>
        {
            return Ok(Vec::new());
        }
        rows => rows?,
    };
    Ok(rows
        .into_iter()
        .filter_map(|(number, checksum)| Some((number.parse().ok()?, checksum)))
        .collect())
}

/// Returns rows of two columns.
async fn pairs(
    client: &Client,
    text: &str,
) -> Result<Vec<(String, String)>, tokio_postgres::Error> {
    let rows = client.simple_query(text).await?;
    let pairs = rows.iter().filter_map(|message| match message {
        SimpleQueryMessage::Row(row) => Some((row.get(0)?.to_owned(), row.get(1)?.to_owned())),
        _ => None,
    });
    Ok(pairs.collect())
}

fn pending_migrations(found: &[(u32, String)]) -> Result<&'static [Migration], ConnectError> {
    pending(MIGRATIONS, found).map_err(|mismatch| match mismatch {
        MigrationError::Newer(found) => ConnectError::Newer {
            found,
            known: u32::try_from(MIGRATIONS.len()).unwrap_or(u32::MAX),
        },
        MigrationError::Damaged(number) => ConnectError::Damaged(number),
    })
}

/// Returns the statements that create the tables on a Citus cluster, for a user with that right.
/// Directories are on every node, and all other tables are sharded by tenant.
pub(crate) fn on_citus(options: &PostgresOptions) -> Result<String, ConnectError> {
    let schema = checked(options)?;
    let made = MIGRATIONS.iter().map(|migration| {
        format!(
            "{}{};\n",
            ddl(migration, schema),
            recorded(migration, schema, (options.now)())
        )
    });
    let distributed = TABLES
        .iter()
        .map(|table| format!("{};\n", distributing(table, schema)));
    let first = format!(
        "CREATE SCHEMA IF NOT EXISTS {schema};\n{};\n",
        record(schema)
    );
    Ok(std::iter::once(first)
        .chain(made)
        .chain(distributed)
        .collect())
}

/// Returns the statement that distributes a table: a directory to every node, every other table by
/// tenant.
fn distributing(table: &str, schema: &str) -> String {
    match table {
        table if DIRECTORIES.contains(&table) => {
            format!("SELECT create_reference_table('{schema}.{table}')")
        }
        "ledger" => format!("SELECT create_distributed_table('{schema}.ledger', 'tenant')"),
        table => {
            format!(
                "SELECT create_distributed_table('{schema}.{table}', 'tenant', colocate_with => '{schema}.ledger')"
            )
        }
    }
}
