//! The wide tables of an old program in MariaDB: the suite, equal simultaneous sign-ups, and deleted rows
//! that return.

use std::{sync::Arc, time::Duration};

use http::StatusCode;
use serde_json::json;
use svc_mysql::{MysqlDatabase, MysqlOptions};
use svc_sql::{Database, MappedStore};
use svc_tower::SvcService;
use svc_vendor_examples::wide::{MYSQL, interface};

use super::server::server;
use crate::{
    mapped::{BASE, TestResult, call},
    postgres::wide::{check_rows, conforms},
};

/// Creates a database with the tables and their rows, and returns its name.
async fn service() -> TestResult<(SvcService, String)> {
    let (url, name) = server().database();
    let mut sql = format!("USE {name}; {}", MYSQL.concat());
    for (hash, org, scope) in crate::mapped::keys() {
        let hash = svc_store::hex::encode(&hash);
        let values = format!("({org}, x'{hash}', '{scope}')");
        sql = sql + "INSERT INTO api_keys (org_id, token_hash, scope) VALUES " + &values + ";";
    }
    server().sql(&sql);
    let options = MysqlOptions::new(&url)?.busy_timeout(Duration::from_secs(60));
    let database: Arc<dyn Database> = Arc::new(MysqlDatabase::new(&options));
    MappedStore::create_library_tables(&database).await?;
    Ok((interface(database, BASE).await?, name))
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs MariaDB: .ci/mariadb"]
async fn the_suite_finds_nothing_wrong() -> TestResult {
    conforms(service().await?.0).await
}

/// A row is read as a person, whatever the program has written into its columns.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs MariaDB: .ci/mariadb"]
async fn rows_are_read_as_they_are() -> TestResult {
    check_rows(&service().await?.0).await
}

/// HLP-04: twenty equal sign-ups make one row. If it is deleted, it is gone, and returns with the next
/// sign-up.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs MariaDB: .ci/mariadb"]
async fn hlp_04_a_deleted_row_returns() -> TestResult {
    let (service, name) = service().await?;
    let sign_up = || {
        let address = json!({ "address": "Ada@Example.org", "status": "subscribed" });
        let person = json!({ "email_addresses": [address] });
        let body = Some(json!({ "person": person }));
        call(service.clone(), "POST", "people/person_signup", body)
    };
    let calls = (0..20).map(|_| tokio::spawn(sign_up()));
    let mut people = Vec::new();
    for call in calls.collect::<Vec<_>>() {
        let (status, person) = call.await??;
        assert!(status.is_success(), "{person}");
        people.push(person["_links"]["self"]["href"].clone());
    }
    people.dedup();
    let [person] = people.as_slice() else {
        return Err(format!("{people:?}").into());
    };
    let path = person.as_str().unwrap_or_default().trim_start_matches(BASE);
    let rows = format!("SELECT count(*) FROM {name}.supporters WHERE email = 'ada@example.org'");
    for _ in 0..2 {
        let (status, answer) = call(service.clone(), "DELETE", path, None).await?;
        assert_eq!(status, StatusCode::NO_CONTENT, "{answer}");
        let (status, _) = call(service.clone(), "GET", path, None).await?;
        assert_eq!(status, StatusCode::NOT_FOUND);
        let (status, again) = sign_up().await?;
        assert!(status.is_success(), "{again}");
        assert_eq!(again["_links"]["self"]["href"], *person, "HLP-04");
        assert_eq!(server().sql(&rows), "1");
    }
    Ok(())
}
