//! The vendor's existing CRM, with its own tables, numbers, keys and pages. This code does not
//! depend on the API, except that the schema includes the triggers that number changes.

use std::sync::Arc;

use axum::{Router, extract::State, routing::get};
use rusqlite::Result;
use sha2::{Digest, Sha256};

use super::changes;
use super::client::Pool;

const SCHEMA: &str = "
PRAGMA journal_mode = WAL;
PRAGMA foreign_keys = ON;
CREATE TABLE IF NOT EXISTS companies (
    company_no  INTEGER PRIMARY KEY,
    name        TEXT NOT NULL UNIQUE,
    last_change INTEGER NOT NULL DEFAULT 0
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
    edited_at   INTEGER NOT NULL,
    change_no   INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX IF NOT EXISTS customers_changed ON customers (company_no, change_no);
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
    edited_at   INTEGER NOT NULL,
    change_no   INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX IF NOT EXISTS campaigns_changed ON campaigns (company_no, change_no);
CREATE INDEX IF NOT EXISTS campaigns_of ON campaigns (company_no);
CREATE TABLE IF NOT EXISTS campaign_responses (
    response_no INTEGER PRIMARY KEY AUTOINCREMENT,
    company_no  INTEGER NOT NULL REFERENCES companies,
    campaign_no INTEGER REFERENCES campaigns,
    customer_no INTEGER REFERENCES customers ON DELETE SET NULL,
    remark      TEXT,
    given_on    TEXT,
    entered_at  INTEGER NOT NULL,
    edited_at   INTEGER NOT NULL,
    change_no   INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX IF NOT EXISTS campaign_responses_changed ON campaign_responses (company_no, change_no);
CREATE INDEX IF NOT EXISTS responses_of_campaign ON campaign_responses (campaign_no);
CREATE INDEX IF NOT EXISTS responses_of_customer ON campaign_responses (customer_no);
CREATE TABLE IF NOT EXISTS labels (
    label_no   INTEGER PRIMARY KEY AUTOINCREMENT,
    company_no INTEGER NOT NULL REFERENCES companies,
    label      TEXT,
    note       TEXT,
    entered_at INTEGER NOT NULL,
    edited_at  INTEGER NOT NULL,
    change_no  INTEGER NOT NULL DEFAULT 0,
    UNIQUE (company_no, label)
);
CREATE INDEX IF NOT EXISTS labels_changed ON labels (company_no, change_no);
CREATE TABLE IF NOT EXISTS customer_labels (
    line_no     INTEGER PRIMARY KEY AUTOINCREMENT,
    company_no  INTEGER NOT NULL REFERENCES companies,
    label_no    INTEGER NOT NULL REFERENCES labels ON DELETE CASCADE,
    customer_no INTEGER NOT NULL REFERENCES customers ON DELETE CASCADE,
    entered_at  INTEGER NOT NULL,
    edited_at   INTEGER NOT NULL,
    change_no   INTEGER NOT NULL DEFAULT 0,
    UNIQUE (label_no, customer_no)
);
CREATE INDEX IF NOT EXISTS customer_labels_changed ON customer_labels (company_no, change_no);
CREATE INDEX IF NOT EXISTS labels_of_customer ON customer_labels (customer_no);
CREATE TABLE IF NOT EXISTS external_refs (
    company_no INTEGER NOT NULL REFERENCES companies,
    kept_in    TEXT NOT NULL,
    row_no     INTEGER NOT NULL,
    ref        TEXT NOT NULL,
    UNIQUE (company_no, kept_in, ref)
);
CREATE INDEX IF NOT EXISTS refs_of ON external_refs (kept_in, row_no);
CREATE TABLE IF NOT EXISTS kept_answers (
    company_no  INTEGER NOT NULL REFERENCES companies,
    key         TEXT NOT NULL,
    customer_no INTEGER REFERENCES customers ON DELETE CASCADE,
    answer      BLOB NOT NULL,
    kept_at     INTEGER NOT NULL,
    UNIQUE (company_no, key)
);
CREATE INDEX IF NOT EXISTS answers_of ON kept_answers (customer_no);
CREATE INDEX IF NOT EXISTS answers_by_age ON kept_answers (company_no, kept_at);
";

/// The vendor's database.
#[derive(Debug)]
pub struct Crm {
    pub(super) pool: Pool,
}

impl Crm {
    /// Opens the database, or creates it.
    ///
    /// # Errors
    ///
    /// Returns an error if SQLite cannot open it.
    pub fn open(file: &str) -> Result<Self> {
        Ok(Self {
            pool: Pool::open(file, &(SCHEMA.to_owned() + &changes::schema()))?,
        })
    }

    /// Returns the number of the company with this name, and creates the company if it does not
    /// exist.
    ///
    /// # Errors
    ///
    /// Returns an error if the database fails.
    pub async fn company(&self, name: &str) -> Result<i64> {
        let tx = self.pool.begin().await?;
        tx.execute(
            "INSERT OR IGNORE INTO companies (name) VALUES (?1)",
            &[&name],
        )
        .await?;
        let row = tx
            .query_one("SELECT company_no FROM companies WHERE name = ?1", &[&name])
            .await?;
        tx.commit().await?;
        row.get("company_no")
    }

    /// Creates an API key of a company.
    ///
    /// # Errors
    ///
    /// Returns an error if the database fails.
    pub async fn new_key(&self, company: i64, may_write: bool) -> Result<String> {
        let key = uuid::Uuid::new_v4().to_string();
        let tx = self.pool.begin().await?;
        tx.execute(
            "INSERT INTO api_clients VALUES (?1, ?2, ?3)",
            &[&Self::secret(&key), &company, &may_write],
        )
        .await?;
        tx.commit().await?;
        Ok(key)
    }

    /// Returns the hash that is stored for a key.
    pub(super) fn secret(key: &str) -> [u8; 32] {
        Sha256::digest(key).into()
    }

    /// Returns the number of campaigns. Anonymous callers learn nothing about customers.
    async fn campaigns(&self) -> Result<i64> {
        let sql = "SELECT count(*) AS campaigns FROM campaigns";
        self.pool
            .snapshot()
            .await?
            .query_one(sql, &[])
            .await?
            .get("campaigns")
    }
}

/// Returns the pages of the program.
pub fn pages(crm: Arc<Crm>) -> Router {
    let start = async |State(crm): State<Arc<Crm>>| match crm.campaigns().await {
        Ok(campaigns) => format!("Campaigns that you can support: {campaigns}"),
        Err(_) => "The page is not available. Try again later.".to_owned(),
    };
    Router::new().route("/", get(start)).with_state(crm)
}
