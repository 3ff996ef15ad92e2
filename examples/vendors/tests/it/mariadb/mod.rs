//! The mapped tables in MariaDB: the suite, equal simultaneous sign-ups, and database failures.
//! `.ci/mariadb` runs it.

mod server;
mod wide;

use std::{sync::Arc, time::Duration};

use http::StatusCode;
use serde_json::{Value, json};
use svc_mysql::{MysqlDatabase, MysqlOptions};
use svc_sql::{Database, MappedStore, Statement};
use svc_vendor_examples::mapped::{MYSQL, mapping};

use self::server::{Server, server, wait_for};
use crate::{
    mapped::{Place, TestResult, call, call_of_another},
    postgres::support::until,
};

/// Creates a database with the tables and two organisations, and returns its name.
fn place_at(server: &Server) -> TestResult<(Place, String)> {
    let (url, name) = server.database();
    let mut sql = format!(
        "USE {name}; {MYSQL}
         INSERT INTO orgs (id, slug, name) VALUES (1, 'acme', 'Acme'), (2, 'other', 'Other');
         INSERT INTO events (org_id, title, starts_at) VALUES (1, 'March', '2027-01-05 09:00:00');"
    );
    for (hash, org, scope) in crate::mapped::keys() {
        let hash = svc_store::hex::encode(&hash);
        let values = format!("({org}, x'{hash}', '{scope}', 'test')");
        sql =
            sql + "INSERT INTO api_keys (org_id, token_hash, scope, label) VALUES " + &values + ";";
    }
    server.sql(&sql);
    let options = MysqlOptions::new(&url)?.busy_timeout(Duration::from_secs(60));
    Ok((Place::new(Arc::new(MysqlDatabase::new(&options))), name))
}

fn place() -> TestResult<Place> {
    Ok(place_at(server())?.0)
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs MariaDB: .ci/mariadb"]
async fn the_suite_finds_nothing_wrong() -> TestResult {
    place()?.conforms().await
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs MariaDB: .ci/mariadb"]
async fn hlp_04_equal_sign_ups_at_once_are_one_person() -> TestResult {
    place()?.signs_up_at_once(20).await
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs MariaDB: .ci/mariadb"]
async fn flt_01_people_are_filtered_by_lookups() -> TestResult {
    place()?.filters_by_lookups().await
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs MariaDB: .ci/mariadb"]
async fn res_person_29_rows_of_a_list_stay_with_their_entries() -> TestResult {
    place()?.keeps_rows_of_a_list().await
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs MariaDB: .ci/mariadb"]
async fn cru_16_actions_move_to_other_people() -> TestResult {
    place()?.moves_actions().await
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs MariaDB: .ci/mariadb"]
async fn haf_11_what_is_triggered_is_sent() -> TestResult {
    place()?.sends_what_is_triggered().await
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs MariaDB: .ci/mariadb"]
async fn mrg_02_people_are_merged() -> TestResult {
    place()?.merges_people().await
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs MariaDB: .ci/mariadb"]
async fn mrg_01_tables_outside_of_the_mapping_are_declared() -> TestResult {
    place()?.merges_declared_tables().await
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs MariaDB: .ci/mariadb"]
async fn mrg_04_unique_addresses_are_merged() -> TestResult {
    place()?.merges_unique_addresses().await
}

/// Processes that start at the same time create the tables of the library once.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "needs MariaDB: .ci/mariadb"]
async fn library_tables_are_created_once() -> TestResult {
    for _ in 0..3 {
        let (url, _) = server().database();
        let options = MysqlOptions::new(&url)?.busy_timeout(Duration::from_secs(60));
        let starting: Vec<_> = (0..8)
            .map(|_| {
                let database = MysqlDatabase::new(&options);
                tokio::spawn(async move { MappedStore::create_library_tables(&database).await })
            })
            .collect();
        for start in starting {
            start.await??;
        }
    }
    Ok(())
}

/// UND-41, HLP-04: the collation of the columns ignores case and accents. Ids are compared exactly, and
/// e-mail addresses without regard to case only.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs MariaDB: .ci/mariadb"]
async fn und_41_ids_and_addresses_are_compared_exactly() -> TestResult {
    let (place, name) = place_at(server())?;
    server().sql(&format!(
        "INSERT INTO {name}.contacts (org_id, public_id, first_name) VALUES (1, 'abc-DEF', 'Ada')"
    ));
    let service = place.service().await?;
    for (id, status) in [
        ("abc-DEF", StatusCode::OK),
        ("ABC-def", StatusCode::NOT_FOUND),
    ] {
        let path = format!("people/{id}");
        assert_eq!(call(service.clone(), "GET", &path, None).await?.0, status);
    }
    let sign_up = |address: &str| {
        let addresses = json!([{ "address": address }]);
        Some(json!({ "person": { "email_addresses": addresses } }))
    };
    for address in ["josé@example.org", "jose@example.org", "JOSE@example.org"] {
        let body = sign_up(address);
        let (status, answer) = call(service.clone(), "POST", "people/person_signup", body).await?;
        assert!(status.is_success(), "{address}: {answer}");
    }
    let (_, people) = call(service, "GET", "people", None).await?;
    assert_eq!(people["total_records"], 3, "{people}");
    Ok(())
}

/// ERR-13: the client must fix values that the vendor's tables reject, and nothing of the request is
/// stored.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs MariaDB: .ci/mariadb"]
async fn values_that_the_tables_do_not_take() -> TestResult {
    let (place, name) = place_at(server())?;
    server().sql(&format!(
        "USE {name}; CREATE UNIQUE INDEX one_name ON contacts (last_name);
         ALTER TABLE contacts ADD CHECK (first_name <> 'unnamed');
         ALTER TABLE events ADD CHECK (ends_at < '2100-01-01')"
    ));
    let service = place.service().await?;
    let post = async |path: &str, body| call(service.clone(), "POST", path, Some(body)).await;
    let lovelace = json!({ "family_name": "Lovelace" });
    assert_eq!(
        post("people", lovelace.clone()).await?.0,
        StatusCode::CREATED
    );
    for (path, body) in [
        ("people", lovelace),
        (
            "people",
            json!({ "given_name": "unnamed", "email_addresses": [{ "address": "a@example.org" }] }),
        ),
        (
            "events",
            json!({ "title": "-", "start_date": "2027-01-05T09:00:00Z", "end_date": "2100-01-05T09:00:00Z" }),
        ),
        (
            "events",
            json!({ "title": "-", "start_date": "2027-01-05T09:00:00Z", "capacity": 2_147_483_648_u32 }),
        ),
    ] {
        let (status, answer) = post(path, body).await?;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{answer}");
    }
    let left = server().sql(&format!(
        "SELECT count(*) FROM {name}.contacts UNION ALL SELECT count(*) FROM {name}.contact_emails"
    ));
    assert_eq!(left.split_whitespace().collect::<Vec<_>>(), ["1", "0"]);
    Ok(())
}

/// UND-36: even if many requests of one organisation wait, there are connections for another one.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs MariaDB: .ci/mariadb"]
async fn a_busy_organisation_holds_up_no_other() -> TestResult {
    let (place, _) = place_at(server())?;
    let service = place.service().await?;
    let person = || Some(json!({ "given_name": "Ada" }));
    let (status, answer) = call(service.clone(), "POST", "people", person()).await?;
    assert_eq!(status, StatusCode::CREATED, "{answer}");
    let lock = "SELECT * FROM svc_turns WHERE tenant = '1' FOR UPDATE";
    let database = place.database();
    let begun = database.begin(vec![Statement::new(lock, Vec::new())]);
    let (transaction, _) = begun.await.map_err(|trouble| trouble.to_string())?;
    let waiting: Vec<_> = (0..20)
        .map(|_| tokio::spawn(call(service.clone(), "POST", "people", person())))
        .collect();
    for _ in 0..10 {
        let (status, answer) = call_of_another(service.clone(), "POST", "people", person()).await?;
        assert_eq!(status, StatusCode::CREATED, "UND-36: {answer}");
    }
    transaction.rollback().await;
    for call in waiting {
        let (status, answer) = call.await??;
        assert_eq!(status, StatusCode::CREATED, "{answer}");
    }
    Ok(())
}

/// UND-36: a request that waits for a locked row gets 503 while the row is still locked, and its
/// transaction ends.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs MariaDB: .ci/mariadb"]
async fn a_locked_row() -> TestResult {
    let (place, name) = place_at(server())?;
    let service = place.service().await?;
    let impatient = service
        .clone()
        .request_timeout(Some(Duration::from_millis(700)));
    let person = || Some(json!({ "given_name": "Ada" }));
    let (_, ada) = call(service.clone(), "POST", "people", person()).await?;
    let path = ada["_links"]["self"]["href"].as_str().unwrap_or_default();
    let path = path.trim_start_matches("http://localhost/");
    let lock = "SELECT * FROM contacts FOR UPDATE";
    let database = place.database();
    let begun = database.begin(vec![Statement::new(lock, Vec::new())]);
    let (transaction, _) = begun.await.map_err(|trouble| trouble.to_string())?;
    let eve = || Some(json!({ "given_name": "Eve" }));
    let (status, answer) = call(impatient.clone(), "PUT", path, eve()).await?;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE, "UND-36: {answer}");
    let (status, _) = call(impatient, "GET", path, None).await?;
    assert_eq!(status, StatusCode::OK, "a read waits for no row");
    let others = format!(
        "SELECT count(*) = 1 FROM information_schema.innodb_trx t JOIN information_schema.processlist p \
         ON p.id = t.trx_mysql_thread_id WHERE p.db = '{name}'"
    );
    wait_for(server(), &others);
    transaction.rollback().await;
    let (status, answer) = call(service, "PUT", path, eve()).await?;
    assert_eq!(status, StatusCode::OK, "{answer}");
    Ok(())
}

/// UND-36: without a database, requests get 503. The service recovers without a restart.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs MariaDB: .ci/mariadb"]
async fn a_database_that_is_away() -> TestResult {
    let server = Server::start();
    let service = place_at(&server)?.0.service().await?;
    server.stop();
    let person = || Some(json!({ "given_name": "Ada" }));
    for (method, body) in [("GET", None), ("POST", person())] {
        let (status, answer) = call(service.clone(), method, "people", body).await?;
        assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE, "{answer}");
    }
    server.start_again();
    until("the service is back", async || {
        call(service.clone(), "POST", "people", person())
            .await
            .is_ok_and(|(status, _)| status == StatusCode::CREATED)
    })
    .await;
    Ok(())
}

/// Changes that make the tables incompatible with the mapping, each with a part of the report.
const WRONG: [(&str, &str); 9] = [
    (
        "ALTER TABLE contacts CHANGE first_name firstname varchar(255)",
        "did you mean `firstname`",
    ),
    (
        "ALTER TABLE contact_groups DROP COLUMN svc_id",
        "`contact_groups` has no column `svc_id`",
    ),
    (
        "ALTER TABLE events MODIFY seats text",
        "`events.seats` has the type text",
    ),
    (
        "ALTER TABLE events ADD COLUMN room text NOT NULL",
        "`events.room` is NOT NULL",
    ),
    (
        "ALTER TABLE rsvps MODIFY answer varchar(10) NOT NULL CHECK (answer IN ('yes', 'no'))",
        "only accepts yes, no",
    ),
    (
        "ALTER TABLE rsvps MODIFY answer enum('yes', 'maybe') NOT NULL",
        "only accepts yes, maybe",
    ),
    (
        "ALTER TABLE contacts DROP INDEX public_id",
        "two rows of `contacts` can have the same `public_id`",
    ),
    (
        "DROP INDEX contact_emails_address ON contact_emails",
        "CREATE INDEX svc_contact_emails_address ON contact_emails (address);",
    ),
    (
        "DROP TABLE svc_turns",
        "CREATE TABLE IF NOT EXISTS svc_turns",
    ),
];

/// Each incompatible table is reported. SQL of the report, without `...`, can be executed.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs MariaDB: .ci/mariadb"]
async fn wrong_tables_are_reported() -> TestResult {
    for (wrong, expected) in WRONG {
        let (place, name) = place_at(server())?;
        place.service().await?;
        server().sql(&format!("USE {name}; {wrong}"));
        let connected = MappedStore::connect(mapping(), place.database()).await;
        let report = connected.err().ok_or(wrong)?.to_string();
        assert!(report.contains(expected), "{wrong}: {report}");
        let lines = report.lines().map(str::trim);
        let fixes = lines.filter(|line| line.ends_with(';') && !line.contains("..."));
        for fix in fixes {
            server().sql(&format!("USE {name}; {fix}"));
        }
    }
    Ok(())
}

/// The rows of a list are read completely, and JSON columns like text.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs MariaDB: .ci/mariadb"]
async fn ent_24_long_lists_are_read_completely() -> TestResult {
    let (place, name) = place_at(server())?;
    let service = place.service().await?;
    let body = Some(json!({ "given_name": "A \"quoted\" \\ name\u{1F600}" }));
    let (status, person) = call(service.clone(), "POST", "people", body).await?;
    assert_eq!(status, StatusCode::CREATED, "{person}");
    server().sql(&format!(
        "INSERT INTO {name}.contact_emails (contact_id, address) \
         SELECT c.id, CONCAT(s.seq, REPEAT('a', 200), '@example.org') FROM {name}.contacts c, mysql.seq_1_to_9000 s"
    ));
    let (_, people) = call(service, "GET", "people", None).await?;
    let read = &people["_embedded"]["svc:people"][0];
    assert_eq!(read["given_name"], person["given_name"]);
    let addresses = read["email_addresses"].as_array().map(Vec::len);
    assert_eq!(addresses, Some(9000), "{}", Value::Null);
    Ok(())
}
