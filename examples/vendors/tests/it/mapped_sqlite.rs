//! The mapped tables in a SQLite file: the suite, and many equal simultaneous sign-ups.

use std::sync::Arc;

use svc_vendor_examples::mapped::SQLITE;
use tempfile::{TempDir, tempdir};

use crate::mapped::{Place, TestResult};

/// Creates a data file with the tables and two organisations.
pub(crate) fn place(folder: &TempDir) -> TestResult<Place> {
    let file = folder.path().join("crm.db");
    let connection = rusqlite::Connection::open(&file)?;
    connection.execute_batch(SQLITE)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.execute_batch(
        "INSERT INTO orgs (id, slug, name) VALUES (1, 'acme', 'Acme'), (2, 'other', 'Other');
         INSERT INTO events (org_id, public_id, title, starts_at)
         VALUES (1, '0198f000-0000-7000-8000-0000000000e1', 'March', '2027-01-05T09:00:00Z');",
    )?;
    for (hash, org, scope) in crate::mapped::keys() {
        let insert =
            "INSERT INTO api_keys (org_id, token_hash, scope, label) VALUES (?1, ?2, ?3, 'test')";
        connection.execute(insert, (org, hash, scope))?;
    }
    Ok(Place::new(Arc::new(svc_sqlite::SqliteDatabase::open(
        &file,
    )?)))
}

#[tokio::test(flavor = "multi_thread")]
async fn the_suite_finds_nothing_wrong() -> TestResult {
    let folder = tempdir()?;
    place(&folder)?.conforms().await
}

#[tokio::test(flavor = "multi_thread")]
async fn hlp_04_equal_sign_ups_at_once_are_one_person() -> TestResult {
    let folder = tempdir()?;
    place(&folder)?.signs_up_at_once(20).await
}

/// What a request sends is already stored: no row is written.
#[tokio::test(flavor = "multi_thread")]
async fn cru_19_nothing_new_is_no_write() -> TestResult {
    let folder = tempdir()?;
    let place = place(&folder)?;
    let connection = rusqlite::Connection::open(folder.path().join("crm.db"))?;
    connection.execute_batch("CREATE TABLE writes (id INTEGER PRIMARY KEY);")?;
    for table in ["contacts", "contact_emails", "rsvps"] {
        for write in ["INSERT", "UPDATE", "DELETE"] {
            connection.execute_batch(&format!(
                "CREATE TRIGGER {table}_{write} AFTER {write} ON {table}
                 BEGIN INSERT INTO writes VALUES (NULL); END;"
            ))?;
        }
    }
    let writes = || -> TestResult<i64> {
        let count = "SELECT count(*) FROM writes";
        Ok(connection.query_row(count, [], |row| row.get(0))?)
    };
    place.writes_nothing_new(writes).await
}

#[tokio::test(flavor = "multi_thread")]
async fn flt_01_people_are_filtered_by_lookups() -> TestResult {
    let folder = tempdir()?;
    place(&folder)?.filters_by_lookups().await
}

#[tokio::test(flavor = "multi_thread")]
async fn res_person_29_rows_of_a_list_stay_with_their_entries() -> TestResult {
    let folder = tempdir()?;
    place(&folder)?.keeps_rows_of_a_list().await
}

#[tokio::test(flavor = "multi_thread")]
async fn cru_16_actions_move_to_other_people() -> TestResult {
    let folder = tempdir()?;
    place(&folder)?.moves_actions().await
}

#[tokio::test(flavor = "multi_thread")]
async fn haf_11_what_is_triggered_is_sent() -> TestResult {
    let folder = tempdir()?;
    place(&folder)?.sends_what_is_triggered().await
}

#[tokio::test(flavor = "multi_thread")]
async fn mrg_02_people_are_merged() -> TestResult {
    let folder = tempdir()?;
    place(&folder)?.merges_people().await
}

#[tokio::test(flavor = "multi_thread")]
async fn mrg_01_tables_outside_of_the_mapping_are_declared() -> TestResult {
    let folder = tempdir()?;
    place(&folder)?.merges_declared_tables().await
}

#[tokio::test(flavor = "multi_thread")]
async fn mrg_04_unique_addresses_are_merged() -> TestResult {
    let folder = tempdir()?;
    place(&folder)?.merges_unique_addresses().await
}
