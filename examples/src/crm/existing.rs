//! What the vendor had before: a CRM with its own tables, numbers, keys and pages. Nothing here knows of the interface.

use std::sync::{Arc, Mutex, PoisonError};

use axum::{Router, extract::State, routing::get};
use rusqlite::{Connection, OptionalExtension, Transaction};
use sha2::{Digest, Sha256};

const SCHEMA: &str = "
PRAGMA journal_mode = WAL;
PRAGMA foreign_keys = ON;
CREATE TABLE IF NOT EXISTS companies (
    company_no INTEGER PRIMARY KEY,
    name       TEXT NOT NULL UNIQUE
);
CREATE TABLE IF NOT EXISTS api_clients (
    secret     BLOB PRIMARY KEY,
    company_no INTEGER NOT NULL REFERENCES companies,
    may_write  INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS customers (
    customer_no INTEGER PRIMARY KEY AUTOINCREMENT,
    company_no  INTEGER NOT NULL REFERENCES companies,
    first_name  TEXT,
    last_name   TEXT,
    comes_from  TEXT,
    entered_at  INTEGER NOT NULL,
    edited_at   INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS customers_of ON customers (company_no);
CREATE TABLE IF NOT EXISTS customer_emails (
    customer_no INTEGER NOT NULL REFERENCES customers ON DELETE CASCADE,
    address     TEXT,
    is_main     INTEGER,
    used_for    TEXT,
    newsletter  TEXT
);
CREATE INDEX IF NOT EXISTS emails_of ON customer_emails (customer_no);
CREATE INDEX IF NOT EXISTS emails_by_address ON customer_emails (address COLLATE NOCASE);
CREATE TABLE IF NOT EXISTS campaigns (
    campaign_no INTEGER PRIMARY KEY AUTOINCREMENT,
    company_no  INTEGER NOT NULL REFERENCES companies,
    headline    TEXT,
    teaser      TEXT,
    demand      TEXT,
    entered_at  INTEGER NOT NULL,
    edited_at   INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS campaigns_of ON campaigns (company_no);
CREATE TABLE IF NOT EXISTS campaign_responses (
    response_no INTEGER PRIMARY KEY AUTOINCREMENT,
    company_no  INTEGER NOT NULL REFERENCES companies,
    campaign_no INTEGER REFERENCES campaigns,
    customer_no INTEGER REFERENCES customers ON DELETE SET NULL,
    remark      TEXT,
    given_on    TEXT,
    entered_at  INTEGER NOT NULL,
    edited_at   INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS responses_of_campaign ON campaign_responses (campaign_no);
CREATE INDEX IF NOT EXISTS responses_of_customer ON campaign_responses (customer_no);
CREATE TABLE IF NOT EXISTS external_refs (
    company_no INTEGER NOT NULL REFERENCES companies,
    kept_in    TEXT NOT NULL,
    row_no     INTEGER NOT NULL,
    ref        TEXT NOT NULL,
    UNIQUE (company_no, kept_in, ref)
);
CREATE INDEX IF NOT EXISTS refs_of ON external_refs (kept_in, row_no);
";

/// The vendor's database.
#[derive(Debug)]
pub struct Crm(Mutex<Connection>);

impl Crm {
    /// Opens the database, or makes it.
    ///
    /// # Errors
    ///
    /// SQLite cannot open it.
    pub fn open(file: &str) -> rusqlite::Result<Self> {
        let connection = Connection::open(file)?;
        connection.execute_batch(SCHEMA)?;
        Ok(Self(Mutex::new(connection)))
    }

    /// All of `work`, or nothing of it. A busier program would have more connections and do this on blocking threads.
    ///
    /// # Errors
    ///
    /// What `work` returns, or that the database failed.
    pub fn transaction<T, E: From<rusqlite::Error>>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut connection = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let transaction = connection.transaction()?;
        let done = work(&transaction)?;
        transaction.commit()?;
        Ok(done)
    }

    /// The number of the company of this name, which is founded when it is new.
    ///
    /// # Errors
    ///
    /// The database failed.
    pub fn company(&self, name: &str) -> rusqlite::Result<i64> {
        self.transaction(|tx| {
            tx.execute("INSERT OR IGNORE INTO companies (name) VALUES (?1)", [name])?;
            tx.query_row("SELECT company_no FROM companies WHERE name = ?1", [name], |row| row.get(0))
        })
    }

    /// A new API key of a company.
    ///
    /// # Errors
    ///
    /// The database failed.
    pub fn new_key(&self, company: i64, may_write: bool) -> rusqlite::Result<String> {
        let key = uuid::Uuid::new_v4().to_string();
        let client = (Self::secret(&key), company, may_write);
        self.transaction(|tx| tx.execute("INSERT INTO api_clients VALUES (?1, ?2, ?3)", client))?;
        Ok(key)
    }

    /// What is stored of a key.
    pub(super) fn secret(key: &str) -> [u8; 32] {
        Sha256::digest(key).into()
    }
}

/// The pages of the program.
pub fn pages(crm: Arc<Crm>) -> Router {
    let latest = async |State(crm): State<Arc<Crm>>| {
        let name = crm.transaction(|tx| {
            let sql = "SELECT coalesce(first_name, 'somebody') FROM customers ORDER BY customer_no DESC LIMIT 1";
            tx.query_row(sql, (), |row| row.get::<_, String>(0)).optional()
        });
        name.map_or_else(|error| error.to_string(), |name| format!("Our latest customer: {}", name.unwrap_or_default()))
    };
    Router::new().route("/", get(latest)).with_state(crm)
}
