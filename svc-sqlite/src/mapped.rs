//! SQLite as the database of a mapped store. One thread writes and a few read, each with a
//! connection of its own.

use std::{
    fmt, io,
    path::Path,
    sync::{Arc, Mutex, PoisonError, mpsc},
    thread,
    time::Duration,
};

use async_trait::async_trait;
use futures_channel::oneshot;
use rusqlite::{
    Connection, ErrorCode, OpenFlags,
    config::DbConfig,
    ffi::{SQLITE_CONSTRAINT_CHECK, SQLITE_CONSTRAINT_DATATYPE, SQLITE_CONSTRAINT_NOTNULL},
    types::ValueRef,
};
use svc_sql::{Database, DatabaseError, SqlDialect, Statement, TextRow, Transaction};

use crate::dialect::DIALECT;

/// Number of reading threads.
const READERS: usize = 2;
/// How long a statement waits for the write of another program.
const PATIENCE: Duration = Duration::from_secs(2);

type StatementResults = Result<Vec<Vec<TextRow>>, DatabaseError>;

/// A read, and where its result is sent.
type ReadRequest = (Vec<Statement>, oneshot::Sender<StatementResults>);

/// A transaction that begins: its first statements, where their result is sent, and the source of
/// its further steps.
type BeginRequest = (
    Vec<Statement>,
    oneshot::Sender<StatementResults>,
    mpsc::Receiver<TransactionStep>,
);

/// The next step of a transaction. A transaction that gets no further step is rolled back.
enum TransactionStep {
    Run(Vec<Statement>, oneshot::Sender<StatementResults>),
    Commit(Vec<Statement>, oneshot::Sender<StatementResults>),
}

/// A data file with the tables of a vendor, for
/// [`MappedStore::connect`](svc_sql::MappedStore::connect).
///
/// Values are parameters of statements, and `SQLite` plans a statement once for all values. So it does
/// not use an index that only contains the rows with a certain tenant.
///
/// The vendor sets the journal mode and the durability. With `PRAGMA journal_mode = WAL`, reads and
/// writes do not wait for each other.
pub struct SqliteDatabase {
    reads: mpsc::Sender<ReadRequest>,
    begins: mpsc::Sender<BeginRequest>,
}

impl SqliteDatabase {
    /// Opens the existing data file at this path. Foreign keys are enforced.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be opened, or a thread cannot be started.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        let path = path.as_ref();
        let (reads, waiting) = mpsc::channel::<ReadRequest>();
        let waiting = Arc::new(Mutex::new(waiting));
        for _ in 0..READERS {
            let (connection, waiting) = (open(path)?, Arc::clone(&waiting));
            thread::Builder::new()
                .name("svc-mapped-reader".to_owned())
                .spawn(move || {
                    loop {
                        let next = waiting
                            .lock()
                            .unwrap_or_else(PoisonError::into_inner)
                            .recv();
                        let Ok((statements, reply)) = next else {
                            return;
                        };
                        if reply.is_canceled() {
                            continue;
                        }
                        _ = reply.send(read(&connection, &statements));
                    }
                })?;
        }
        let (begins, waiting) = mpsc::channel::<BeginRequest>();
        let connection = open(path)?;
        thread::Builder::new()
            .name("svc-mapped-writer".to_owned())
            .spawn(move || {
                for begin in waiting
                    .into_iter()
                    .filter(|(_, reply, _)| !reply.is_canceled())
                {
                    transaction(&connection, begin);
                }
            })?;
        Ok(Self { reads, begins })
    }
}

impl fmt::Debug for SqliteDatabase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteDatabase").finish_non_exhaustive()
    }
}

fn open(path: &Path) -> io::Result<Connection> {
    let connect = || {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(PATIENCE)?;
        // Otherwise SQLite compiles a statement with a range or a limit again for each new value.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        connection.pragma_update(None, "foreign_keys", true)?;
        connection.set_prepared_statement_cache_capacity(256);
        Ok(connection)
    };
    connect().map_err(io::Error::other::<rusqlite::Error>)
}

#[async_trait]
impl Database for SqliteDatabase {
    fn dialect(&self) -> &'static dyn SqlDialect {
        DIALECT
    }

    async fn read(&self, statements: Vec<Statement>) -> StatementResults {
        let (reply, given) = oneshot::channel();
        self.reads.send((statements, reply)).map_err(|_| ended())?;
        given.await.map_err(|_| ended())?
    }

    async fn begin(
        &self,
        statements: Vec<Statement>,
    ) -> Result<(Box<dyn Transaction>, Vec<Vec<TextRow>>), DatabaseError> {
        let (reply, given) = oneshot::channel();
        let (steps, next) = mpsc::channel();
        self.begins
            .send((statements, reply, next))
            .map_err(|_| ended())?;
        let given = given.await.map_err(|_| ended())??;
        Ok((Box::new(TransactionHandle { steps }), given))
    }
}

/// The caller's handle of a transaction. The thread rolls the transaction back when the handle is
/// dropped.
struct TransactionHandle {
    steps: mpsc::Sender<TransactionStep>,
}

impl TransactionHandle {
    async fn step(
        &self,
        statements: Vec<Statement>,
        step: fn(Vec<Statement>, oneshot::Sender<StatementResults>) -> TransactionStep,
    ) -> StatementResults {
        let (reply, given) = oneshot::channel();
        self.steps
            .send(step(statements, reply))
            .map_err(|_| ended())?;
        given.await.map_err(|_| ended())?
    }
}

#[async_trait]
impl Transaction for TransactionHandle {
    async fn execute(&mut self, statements: Vec<Statement>) -> StatementResults {
        self.step(statements, TransactionStep::Run).await
    }

    async fn commit(self: Box<Self>, statements: Vec<Statement>) -> StatementResults {
        self.step(statements, TransactionStep::Commit).await
    }

    async fn rollback(self: Box<Self>) {}
}

/// Runs one transaction from its beginning to its end, on the writing thread.
fn transaction(connection: &Connection, (statements, reply, steps): BeginRequest) {
    let begun = connection
        .execute_batch("BEGIN IMMEDIATE")
        .map_err(|error| trouble(&error));
    let given = begun.and_then(|()| run(connection, &statements));
    let has_begun = given.is_ok();
    // If the caller no longer waits, the transaction ends.
    if reply.send(given).is_ok() && has_begun {
        while let Ok(step) = steps.recv() {
            match step {
                TransactionStep::Run(statements, reply) => {
                    _ = reply.send(run(connection, &statements));
                }
                TransactionStep::Commit(statements, reply) => {
                    let given = run(connection, &statements);
                    let done = given.and_then(|given| {
                        connection
                            .execute_batch("COMMIT")
                            .map_err(|error| trouble(&error))?;
                        Ok(given)
                    });
                    end(connection);
                    _ = reply.send(done);
                    return;
                }
            }
        }
    }
    end(connection);
}

/// Rolls back an open transaction.
fn end(connection: &Connection) {
    if !connection.is_autocommit()
        && let Err(error) = connection.execute_batch("ROLLBACK")
    {
        tracing::error!(%error, "a transaction cannot be rolled back");
    }
}

/// Executes statements that read, on one snapshot.
fn read(connection: &Connection, statements: &[Statement]) -> StatementResults {
    connection
        .execute_batch("BEGIN")
        .map_err(|error| trouble(&error))?;
    let given = run(connection, statements);
    end(connection);
    given
}

fn run(connection: &Connection, statements: &[Statement]) -> StatementResults {
    statements
        .iter()
        .map(|statement| one(connection, statement).map_err(|error| trouble(&error)))
        .collect()
}

fn one(connection: &Connection, statement: &Statement) -> rusqlite::Result<Vec<TextRow>> {
    let mut prepared = connection.prepare_cached(&statement.text)?;
    let columns = prepared.column_count();
    let mut rows = prepared.query(rusqlite::params_from_iter(&statement.values))?;
    let mut given = Vec::new();
    while let Some(row) = rows.next()? {
        let column = |place: usize| {
            Ok(match row.get_ref(place)? {
                ValueRef::Null => None,
                ValueRef::Integer(number) => Some(number.to_string()),
                ValueRef::Real(number) => Some(number.to_string()),
                ValueRef::Text(text) | ValueRef::Blob(text) => {
                    Some(String::from_utf8_lossy(text).into_owned())
                }
            })
        };
        given.push(
            (0..columns)
                .map(column)
                .collect::<rusqlite::Result<TextRow>>()?,
        );
    }
    Ok(given)
}

/// Converts an error to the category that determines the handling: retry here, let the client
/// retry, or fail. Messages of `SQLite` contain nothing that people sent.
fn trouble(error: &rusqlite::Error) -> DatabaseError {
    let cause = || format!("SQLite: {error}").into();
    match (
        error.sqlite_error_code(),
        error.sqlite_error().map(|error| error.extended_code),
    ) {
        (
            _,
            Some(SQLITE_CONSTRAINT_CHECK | SQLITE_CONSTRAINT_NOTNULL | SQLITE_CONSTRAINT_DATATYPE),
        ) => DatabaseError::InvalidValue(cause()),
        (Some(ErrorCode::ConstraintViolation), _) => DatabaseError::ConstraintViolation(cause()),
        (Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked), _) => {
            DatabaseError::Unavailable(cause())
        }
        _ => DatabaseError::Other(cause()),
    }
}

fn ended() -> DatabaseError {
    DatabaseError::Unavailable("the thread of the data file has ended".into())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use http::Method;
    use rusqlite::StatementStatus;
    use svc_core::{
        Api, Tenant, Vendor,
        api::Request,
        auth::{Authenticator, Caller, Credentials, Identity, Principal, Rights},
        context::Context,
        helper::RecordSignature,
        link::ShareNames,
        model::Kind,
        page::{ListRequest, PageRequest},
        store::Store,
        value::Timestamp,
    };
    use svc_sql::{Database, MappedStore, Mapping, TableMapping, TenantMapping};

    use super::{SqliteDatabase, open};

    /// Otherwise every page of every mapped table costs a compilation.
    #[test]
    fn a_statement_is_compiled_once_for_all_values() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("crm.db");
        rusqlite::Connection::open(&path)
            .and_then(|file| {
                file.execute_batch(
                    "CREATE TABLE people (id INTEGER PRIMARY KEY, deleted INTEGER, name TEXT); \
                     CREATE INDEX present ON people (name) WHERE deleted = 0",
                )
            })
            .unwrap();
        let connection = open(&path).unwrap();
        let mut statement = connection
            .prepare("SELECT id FROM people WHERE deleted = ?1 AND name > ?2 LIMIT ?3")
            .unwrap();
        for limit in 1..9 {
            let mut rows = statement.query((0, "a", limit)).unwrap();
            assert!(rows.next().unwrap().is_none());
        }
        assert_eq!(statement.get_status(StatementStatus::RePrepare), 0);
    }

    struct NoKeys;

    #[async_trait::async_trait]
    impl Authenticator for NoKeys {
        async fn authenticate(&self, _: Credentials<'_>) -> svc_core::Result<Option<Principal>> {
            Ok(None)
        }
    }

    /// HLP-04: a second signature of a person changes the first, although the table allows several.
    #[tokio::test]
    async fn hlp_04_a_second_signature_changes_the_first() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("crm.db");
        let common = "key INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, \
                      created_at TEXT NOT NULL, updated_at TEXT NOT NULL";
        let petition = "0198f000-0000-7000-8000-000000000001";
        let values = format!("'{petition}', '2026-01-05T09:00:00Z', '2026-01-05T09:00:00Z'");
        rusqlite::Connection::open(&path)
            .and_then(|file| {
                file.execute_batch(&format!(
                    "CREATE TABLE people ({common}, name TEXT); \
                     CREATE TABLE petitions ({common}); \
                     CREATE TABLE signatures ({common}, petition INTEGER NOT NULL REFERENCES petitions, \
                         person INTEGER REFERENCES people, comments TEXT); \
                     CREATE INDEX signatures_of ON signatures (petition, key); \
                     CREATE INDEX signatures_by ON signatures (person, key); \
                     INSERT INTO petitions VALUES (1, {values})"
                ))
            })
            .unwrap();
        let database: Arc<dyn Database> = Arc::new(SqliteDatabase::open(&path).unwrap());
        MappedStore::create_library_tables(&database).await.unwrap();
        let table = |kind, name: &str| TableMapping::new(kind, name).key("key").order_column("key");
        let signatures = table(Kind::Signature, "signatures")
            .link("petition", "petition")
            .link("person", "person")
            .field("comments", "comments");
        let mapping = Mapping::new(TenantMapping::single("acme"))
            .table(table(Kind::Person, "people").field("given_name", "name"))
            .table(table(Kind::Petition, "petitions"))
            .table(signatures);
        let store = MappedStore::connect(mapping, database).await.unwrap();
        let api = store.register(Api::builder(Vendor::new("Acme", "CRM")));
        let api = api
            .one_action_per_person::<RecordSignature>()
            .base_url("http://localhost/")
            .authenticator(NoKeys)
            .build()
            .unwrap();
        let helper = format!("petitions/{petition}/record_signature_helper");
        let send = async |caller: Caller, comments: &str, person: &str| {
            let body = format!(
                r#"{{"person": {{"given_name": "Ada", "identifiers": ["web:{person}"]}}, "comments": "{comments}"}}"#
            );
            let request = Request::new(&Method::POST, helper.as_str()).with_body(body);
            let principal = Principal::new(Tenant::new("acme"), caller);
            let reply = api
                .handle(Identity::Authenticated(principal), request)
                .await;
            assert_eq!(reply.status, 200, "{:?}", reply.body);
        };
        let all = || Caller::with_rights(Rights::all());
        for (comments, person) in [("One", "1"), ("Other", "2"), ("Two", "1"), ("Two", "1")] {
            send(all(), comments, person).await;
        }
        let stored = || {
            let file = rusqlite::Connection::open(&path).unwrap();
            let mut rows = file
                .prepare("SELECT comments FROM signatures ORDER BY key")
                .unwrap();
            let texts = rows.query_map((), |row| row.get::<_, String>(0)).unwrap();
            texts.collect::<rusqlite::Result<Vec<_>>>().unwrap()
        };
        assert_eq!(stored(), ["Two", "Other"]);
    }

    /// TYP-03: zero is read as `0`, whatever digits the program has stored.
    #[tokio::test]
    async fn zero_has_no_digits() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("crm.db");
        let common = "key INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, \
                      created_at TEXT NOT NULL, updated_at TEXT NOT NULL";
        let values = "'0198f000-0000-7000-8000-000000000001', '2026-01-05T09:00:00Z', '2026-01-05T09:00:00Z'";
        rusqlite::Connection::open(&path)
            .and_then(|file| {
                file.execute_batch(&format!(
                    "CREATE TABLE people ({common}); \
                     CREATE TABLE pages ({common}); \
                     CREATE TABLE gifts ({common}, page INTEGER NOT NULL REFERENCES pages, \
                         person INTEGER REFERENCES people, amount REAL, shares JSON); \
                     CREATE INDEX gifts_of ON gifts (page, key); \
                     CREATE INDEX gifts_by ON gifts (person, key); \
                     INSERT INTO pages VALUES (1, {values}); \
                     INSERT INTO gifts VALUES (1, {values}, 1, NULL, 0, '[{{\"amount\":0.00}},{{\"amount\":1.50}}]')"
                ))
            })
            .unwrap();
        let database: Arc<dyn Database> = Arc::new(SqliteDatabase::open(&path).unwrap());
        MappedStore::create_library_tables(&database).await.unwrap();
        let table = |kind, name: &str| TableMapping::new(kind, name).key("key").order_column("key");
        let gifts = table(Kind::Donation, "gifts")
            .link("fundraising_page", "page")
            .link("person", "person")
            .field("amount", "amount")
            .field("recipients", "shares");
        let mapping = Mapping::new(TenantMapping::single("acme"))
            .table(table(Kind::Person, "people"))
            .table(table(Kind::FundraisingPage, "pages"))
            .table(gifts);
        let store = MappedStore::connect(mapping, database).await.unwrap();
        let cx = Context::new(Tenant::new("acme"), Caller::anonymous(), Timestamp::now());
        let request = ListRequest::all(PageRequest::new(1, 25));
        let page = store.list(&cx, Kind::Donation, &request).await.unwrap();
        let fields = page.records[0].to_fields(&ShareNames::default()).unwrap();
        let read = svc_core::json::Json::Object(fields).to_string();
        let expected = r#"{"amount":0,"recipients":[{"amount":0},{"amount":1.50}]}"#;
        assert_eq!(read, expected, "TYP-03");
    }
}
