//! The mapped tables in PostgreSQL: the suite, equal simultaneous sign-ups, database failures, and
//! round trips counted on the socket.

use std::{sync::Arc, time::Duration};

use http::StatusCode;
use serde_json::json;
use svc_postgres::{PostgresDatabase, PostgresOptions};
use svc_sql::MappedStore;
use svc_vendor_examples::mapped::{POSTGRES, mapping};

use super::support::{self, proxy::Proxy, server::Server, until};
use crate::mapped::{Place, TestResult, call, call_of_another};

/// Creates a schema with the tables and two organisations.
fn schema(server: &Server) -> String {
    let name = server.schema();
    let mut sql = format!(
        "CREATE SCHEMA {name}; SET search_path = {name}; {POSTGRES};
         INSERT INTO orgs (id, slug, name) VALUES (1, 'acme', 'Acme'), (2, 'other', 'Other');
         INSERT INTO events (org_id, title, starts_at) VALUES (1, 'March', '2027-01-05T09:00:00Z');"
    );
    for (hash, org, scope) in crate::mapped::keys() {
        let hash = svc_store::hex::encode(&hash);
        let values = format!("({org}, decode('{hash}', 'hex'), '{scope}', 'test')");
        sql =
            sql + "INSERT INTO api_keys (org_id, token_hash, scope, label) VALUES " + &values + ";";
    }
    server.psql(&sql);
    name
}

fn place(url: &str, schema: &str) -> TestResult<Place> {
    let url = format!("{url}?options=-csearch_path%3D{schema}");
    let options = PostgresOptions::new(&url)?.busy_timeout(Duration::from_secs(60));
    Ok(Place::new(Arc::new(PostgresDatabase::new(&options))))
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn the_suite_finds_nothing_wrong() -> TestResult {
    let server = support::server();
    place(&server.url(), &schema(server))?.conforms().await
}

/// Processes that start at the same time create the tables of the library once.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn library_tables_are_created_once() -> TestResult {
    let server = support::server();
    for _ in 0..10 {
        let url = format!(
            "{}?options=-csearch_path%3D{}",
            server.url(),
            schema(server)
        );
        let options = PostgresOptions::new(&url)?;
        let starting: Vec<_> = (0..8)
            .map(|_| {
                let database = PostgresDatabase::new(&options);
                tokio::spawn(async move { MappedStore::create_library_tables(&database).await })
            })
            .collect();
        for start in starting {
            start.await??;
        }
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn hlp_04_equal_sign_ups_at_once_are_one_person() -> TestResult {
    let server = support::server();
    place(&server.url(), &schema(server))?
        .signs_up_at_once(100)
        .await
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn flt_01_people_are_filtered_by_lookups() -> TestResult {
    let server = support::server();
    place(&server.url(), &schema(server))?
        .filters_by_lookups()
        .await
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn res_person_29_rows_of_a_list_stay_with_their_entries() -> TestResult {
    let server = support::server();
    place(&server.url(), &schema(server))?
        .keeps_rows_of_a_list()
        .await
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn cru_16_actions_move_to_other_people() -> TestResult {
    let server = support::server();
    place(&server.url(), &schema(server))?.moves_actions().await
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn haf_11_what_is_triggered_is_sent() -> TestResult {
    let server = support::server();
    place(&server.url(), &schema(server))?
        .sends_what_is_triggered()
        .await
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn mrg_02_people_are_merged() -> TestResult {
    let server = support::server();
    place(&server.url(), &schema(server))?.merges_people().await
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn mrg_01_tables_outside_of_the_mapping_are_declared() -> TestResult {
    let server = support::server();
    place(&server.url(), &schema(server))?
        .merges_declared_tables()
        .await
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn mrg_04_unique_addresses_are_merged() -> TestResult {
    let server = support::server();
    place(&server.url(), &schema(server))?
        .merges_unique_addresses()
        .await
}

/// MRG-06: a merge waits for a transaction of another program that refers to the merged person, and moves
/// its row. Otherwise the foreign key would delete the row with the person.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn mrg_06_a_concurrent_record_is_not_lost() -> TestResult {
    let server = support::server();
    let schema = schema(server);
    let service = place(&server.url(), &schema)?.service().await?;
    let mut people = Vec::new();
    for name in ["Ada", "Eve"] {
        let body = Some(json!({ "given_name": name }));
        let (_, person) = call(service.clone(), "POST", "people", body).await?;
        let url = person["_links"]["self"]["href"].as_str().map(str::to_owned);
        people.push(url.ok_or("no address")?);
    }
    let client = support::client(&server.url()).await;
    client
        .batch_execute(&format!(
            "SET search_path = {schema}; BEGIN; INSERT INTO rsvps (event_id, contact_id, answer) \
             SELECT e.id, c.id, 'yes' FROM events e, contacts c WHERE c.first_name = 'Eve'"
        ))
        .await?;
    let path = people[0].trim_start_matches("http://localhost/");
    let path = format!("{path}/merge_helper");
    let body = json!({ "_links": { "svc:person": { "href": people[1] } } });
    let merge = tokio::spawn(async move { call(service, "POST", &path, Some(body)).await });
    let wait = "SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event_type = 'Lock' \
                AND query LIKE '%FOR UPDATE%'";
    until("the merge waits for the person", async || {
        server.psql(wait) == "t"
    })
    .await;
    client.batch_execute("COMMIT").await?;
    let (status, merged) = merge.await??;
    assert_eq!(status, StatusCode::OK, "{merged}");
    assert_eq!(merged["ext:merge"]["moved"], json!({ "attendances": 1 }));
    let holder = format!(
        "SELECT string_agg(c.first_name, ' ') FROM {schema}.rsvps r JOIN {schema}.contacts c ON c.id = r.contact_id"
    );
    assert_eq!(server.psql(&holder), "Ada");
    Ok(())
}

/// UND-36: even if many requests of one organisation wait, there are connections for another one.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn a_busy_organisation_holds_up_no_other() -> TestResult {
    let server = support::server();
    let schema = schema(server);
    let service = place(&server.url(), &schema)?.service().await?;
    let person = || Some(json!({ "given_name": "Ada" }));
    let (status, answer) = call(service.clone(), "POST", "people", person()).await?;
    assert_eq!(status, StatusCode::CREATED, "{answer}");
    let client = support::client(&server.url()).await;
    client
        .batch_execute(&format!(
            "BEGIN; SELECT * FROM {schema}.svc_turns WHERE tenant = '1' FOR UPDATE"
        ))
        .await?;
    let waiting: Vec<_> = (0..40)
        .map(|_| tokio::spawn(call(service.clone(), "POST", "people", person())))
        .collect();
    let wait = format!(
        "SELECT count(*) > 1 FROM pg_stat_activity a JOIN pg_locks l USING (pid) WHERE a.wait_event_type = 'Lock' \
         AND l.relation = '{schema}.svc_turns'::regclass"
    );
    until("they wait for the row of the organisation", async || {
        server.psql(&wait) == "t"
    })
    .await;
    for _ in 0..10 {
        let (status, answer) = call_of_another(service.clone(), "POST", "people", person()).await?;
        assert_eq!(status, StatusCode::CREATED, "UND-36: {answer}");
    }
    client.batch_execute("ROLLBACK").await?;
    for call in waiting {
        let (status, answer) = call.await??;
        assert_eq!(status, StatusCode::CREATED, "{answer}");
    }
    Ok(())
}

/// UND-36: a request that waits for a locked table gets 503 while the table is still locked.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn a_locked_table() -> TestResult {
    let server = support::server();
    let schema = schema(server);
    let service = place(&server.url(), &schema)?.service().await?;
    let impatient = service
        .clone()
        .request_timeout(Some(Duration::from_millis(700)));
    let client = support::client(&server.url()).await;
    client
        .batch_execute(&format!("BEGIN; LOCK TABLE {schema}.contacts"))
        .await?;
    let person = json!({ "given_name": "Ada" });
    for (method, body) in [("POST", Some(person.clone())), ("GET", None)] {
        let (status, answer) = call(impatient.clone(), method, "people", body).await?;
        assert_eq!(
            status,
            StatusCode::SERVICE_UNAVAILABLE,
            "UND-36: {method} {answer}"
        );
    }
    client.batch_execute("ROLLBACK").await?;
    let (status, answer) = call(service, "POST", "people", Some(person)).await?;
    assert_eq!(status, StatusCode::CREATED, "{answer}");
    Ok(())
}

/// UND-36: without a database, requests get 503. The service recovers without a restart.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn a_database_that_is_away() -> TestResult {
    let server = Server::start();
    let service = place(&server.url(), &schema(&server))?.service().await?;
    server.stop();
    for (method, body) in [
        ("GET", None),
        ("POST", Some(json!({ "given_name": "Ada" }))),
    ] {
        let (status, answer) = call(service.clone(), method, "people", body).await?;
        assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE, "{answer}");
    }
    server.start_again();
    until("the service is back", async || {
        let person = Some(json!({ "given_name": "Ada" }));
        call(service.clone(), "POST", "people", person)
            .await
            .is_ok_and(|(status, _)| status == StatusCode::CREATED)
    })
    .await;
    Ok(())
}

/// The number of round trips of a request with a cached key and prepared statements.
#[test]
#[ignore = "needs PostgreSQL: .ci/postgres"]
fn round_trips() -> TestResult {
    let way = Proxy::start(support::server().port());
    way.block_on(count_round_trips(&way))
}

async fn count_round_trips(way: &Proxy) -> TestResult {
    let service = place(&way.url(), &schema(support::server()))?
        .service()
        .await?;
    let count = async |method: &str, path: &str, body: fn(u32) -> Option<serde_json::Value>| {
        let mut answer = serde_json::Value::Null;
        for number in 0..2 {
            way.reset();
            let (status, given) = call(service.clone(), method, path, body(number)).await?;
            assert!(status.is_success(), "{method} {path}: {status} {given}");
            answer = given;
        }
        TestResult::Ok((way.round_trips(), answer))
    };
    let event = |number: u32| {
        Some(json!({ "title": format!("{number}"), "start_date": "2027-01-05T09:00:00Z" }))
    };
    let (trips, event) = count("POST", "events", event).await?;
    assert_eq!(trips, 2, "a create");
    count("POST", "tags", |number| {
        Some(json!({ "name": format!("{number}") }))
    })
    .await?;
    assert_eq!(
        count("GET", "events?per_page=1", |_| None).await?.0,
        1,
        "a page"
    );
    let path = |link: &str| {
        let href = event["_links"][link]["href"].as_str().unwrap_or_default();
        href.trim_start_matches("http://localhost/").to_owned()
    };
    assert_eq!(
        count("GET", &path("self"), |_| None).await?.0,
        1,
        "a record"
    );
    assert_eq!(
        count("GET", &path("svc:attendances"), |_| None).await?.0,
        1,
        "a page below a record"
    );
    let title = |number: u32| Some(json!({ "title": format!("again {number}") }));
    assert_eq!(count("PUT", &path("self"), title).await?.0, 2, "an update");
    let helper = |number: u32| {
        let address = format!("p{number}@example.org");
        Some(
            json!({ "person": { "email_addresses": [{ "address": address }] }, "add_tags": ["0", "1"] }),
        )
    };
    assert_eq!(
        count("POST", "people/person_signup", helper).await?.0,
        2,
        "a helper with a new person"
    );
    assert_eq!(
        count("POST", &path("svc:record_attendance_helper"), helper)
            .await?
            .0,
        2,
        "with a known one"
    );
    Ok(())
}

/// Changes that make the tables incompatible with the mapping, one by one.
const WRONG: [&str; 15] = [
    "ALTER TABLE contacts RENAME first_name TO firstname",
    "ALTER TABLE events DROP COLUMN org_id",
    "ALTER TABLE contact_groups DROP COLUMN svc_order",
    "ALTER TABLE events DROP COLUMN public_id, ADD COLUMN public_id numeric UNIQUE",
    "ALTER TABLE events DROP COLUMN public_id, ADD COLUMN public_id bigint UNIQUE",
    "ALTER TABLE events DROP CONSTRAINT events_public_id_key",
    "ALTER TABLE events ALTER seats TYPE text",
    "DELETE FROM events; ALTER TABLE events ADD COLUMN room text NOT NULL",
    "ALTER TABLE rsvps DROP CONSTRAINT rsvps_answer_check, ADD CHECK (answer IN ('yes', 'no'))",
    "ALTER TABLE rsvps DROP CONSTRAINT rsvps_event_id_contact_id_key",
    "ALTER TABLE groups DROP CONSTRAINT groups_org_id_name_key",
    "DROP INDEX contact_emails_address",
    "DROP INDEX contact_emails_contact",
    "DROP INDEX contacts_org",
    "DROP TABLE svc_turns",
];

/// Each incompatible table has its message. If the message contains SQL to fix the table, this SQL
/// fixes it.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn wrong_tables_are_told_with_what_mends_them() -> TestResult {
    let server = support::server();
    let mut report = String::new();
    for wrong in WRONG {
        let schema = schema(server);
        let place = place(&server.url(), &schema)?;
        place.service().await?;
        server.psql(&format!("SET search_path = {schema}; {wrong}"));
        report = report + "-- " + wrong + "\n";
        let mut last = String::new();
        while let Err(problem) = MappedStore::connect(mapping(), place.database()).await {
            let problem = problem.to_string();
            report = report + &problem + "\n\n";
            let fixes: Vec<&str> = problem
                .lines()
                .map(str::trim)
                .filter(|line| line.ends_with(';'))
                .collect();
            // Some problems cannot be fixed by SQL alone. Others need a column with another name,
            // which the mapping must contain.
            if fixes.is_empty()
                || fixes.iter().any(|sql| {
                    sql.contains("...") || sql.contains("svc_id ") || sql.contains("svc_capacity")
                })
            {
                last = problem;
                break;
            }
            assert_ne!(problem, last, "{wrong}: {fixes:?} changes nothing");
            // Adding a required column needs a table without rows.
            server.psql(&format!(
                "SET search_path = {schema}; DELETE FROM events; {}",
                fixes.join(" ")
            ));
            last = problem;
        }
        assert!(!last.is_empty(), "no problem is reported for: {wrong}");
    }
    let golden = "tests/it/mapped/wrong_tables.txt";
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(golden, &report)?;
    }
    assert_eq!(
        report,
        std::fs::read_to_string(golden)?,
        "run with BLESS=1: {golden}"
    );
    Ok(())
}

/// ERR-13: the client must fix values that the vendor's tables reject, and nothing of the request
/// is stored.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn values_that_the_tables_do_not_take() -> TestResult {
    let server = support::server();
    let schema = schema(server);
    server.psql(&format!(
        "SET search_path = {schema}; CREATE UNIQUE INDEX ON contacts (last_name);
         ALTER TABLE contacts ADD CHECK (first_name <> 'nobody'); ALTER TABLE events ADD CHECK (ends_at < '2100-01-01')"
    ));
    let service = place(&server.url(), &schema)?.service().await?;
    let post = async |path: &str, body| call(service.clone(), "POST", path, Some(body)).await;
    assert_eq!(
        post("people", json!({ "family_name": "Lovelace" }))
            .await?
            .0,
        StatusCode::CREATED
    );
    for (path, body, property) in [
        ("people", json!({ "given_name": "a\u{0}b" }), "given_name"),
        ("people", json!({ "family_name": "Lovelace" }), ""),
        (
            "people",
            json!({ "given_name": "nobody", "email_addresses": [{ "address": "a@example.org" }] }),
            "",
        ),
        (
            "events",
            json!({ "title": "-", "start_date": "2027-01-05T09:00:00Z", "end_date": "2100-01-05T09:00:00Z" }),
            "",
        ),
        (
            "events",
            json!({ "title": "-", "start_date": "2027-01-05T09:00:00Z", "capacity": 2_147_483_648_u32 }),
            "capacity",
        ),
    ] {
        let (status, answer) = post(path, body).await?;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{answer}");
        let report = &answer["svc:error"]["resource_status"][0]["error_descriptions"][0];
        assert_eq!(
            report["properties"][0].as_str().unwrap_or_default(),
            property,
            "{answer}"
        );
    }
    let left = server.psql(&format!(
        "SELECT count(*) FROM {schema}.contacts UNION ALL SELECT count(*) FROM {schema}.contact_emails"
    ));
    assert_eq!(left.split_whitespace().collect::<Vec<_>>(), ["1", "0"]);
    Ok(())
}
