//! The example over PostgreSQL: the conformance suite, many simultaneous callers, a locked table,
//! and an unavailable database. `.ci/postgres` runs it.

mod mapped;
#[path = "../../../../../svc-postgres/tests/it/postgres/support/mod.rs"]
pub(crate) mod support;
pub(crate) mod wide;

use std::sync::Arc;
use std::time::Duration;

use http::{HeaderMap, StatusCode, header::RETRY_AFTER};
use serde_json::{Value, json};
use support::{proxy::Proxy, server::Server, until};
use svc_conformance::{InProcess, Intensity, Keys, Profile, RequirementOutcome, Suite};
use svc_tower::SvcService;
use svc_vendor_examples::postgres::{PostgresCrm, interface};

type Tried<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// The base URL for the suite.
const BASE: &str = "http://localhost/api/v1/";

/// The existing tables, and the additions.
const TABLES: [&str; 2] = [
    include_str!("../../../src/postgres/tables.sql"),
    include_str!("../../../src/postgres/more.sql"),
];

/// Starts a server with the tables, two organisations, and the keys `all`, `other` and `few`.
fn database() -> Server {
    let server = Server::start();
    for sql in TABLES {
        server.psql(sql);
    }
    server.psql("INSERT INTO orgs (slug, name) VALUES ('acme', 'Acme'), ('other', 'Other')");
    for (key, org, scope) in [
        ("all", 1, "all"),
        ("other", 2, "all"),
        ("few", 1, "people.read tags.read events.read"),
    ] {
        let values = format!("{org}, sha256('{key}'), '{scope}', '{key}'");
        server.psql(&format!(
            "INSERT INTO api_keys (org_id, token_hash, scope, label) VALUES ({values})"
        ));
    }
    server
}

fn service_at(url: &str, connections: usize) -> Tried<SvcService> {
    Ok(interface(&Arc::new(PostgresCrm::at(url, connections)?), BASE)?.mounted_at("/api/v1"))
}

/// Returns the response to a request with the key `all`. With a body it is a POST request.
async fn send(
    service: &SvcService,
    path: &str,
    body: Option<Value>,
) -> Tried<(StatusCode, HeaderMap, Value)> {
    crate::service::send(service, "all", path, body).await
}

/// Creates a record and returns its path.
async fn made(service: &SvcService, path: &str, body: Value) -> Tried<String> {
    let (status, _, made) = send(service, path, Some(body)).await?;
    assert_eq!(status, StatusCode::CREATED, "{path} {made}");
    let own = made["_links"]["self"]["href"]
        .as_str()
        .ok_or("its address")?;
    Ok(own
        .strip_prefix(BASE)
        .ok_or("an address of this server")?
        .to_owned())
}

fn sign_up(address: &str) -> Value {
    json!({"person": {"given_name": "Ada", "email_addresses": [{"address": address}]}})
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn the_suite_finds_that_it_conforms() -> Tried<()> {
    let database = database();
    let keys = Keys::primary("all")
        .other_tenant("other")
        .restricted("few", "people.create");
    let suite = Suite::new(InProcess::new(service_at(&database.url(), 8)?).base_url(BASE))
        .keys(keys)
        .profile(Profile::Actions);
    let report = suite.intensity(Intensity::Quick).seed(42).run().await?;
    println!("{report}");
    assert_eq!(
        report.count(RequirementOutcome::Fail) + report.count(RequirementOutcome::Error),
        0,
        "{report}"
    );
    // The requirement needs a field with a single object, and no declared field has one.
    let undecided: Vec<&str> = report.inconclusive().map(|row| row.id.as_str()).collect();
    assert!(
        undecided.is_empty() && report.count(RequirementOutcome::Pass) > 150,
        "{report}"
    );
    assert_eq!(
        (report.clean_up.removed, report.clean_up.left.len()),
        (report.clean_up.created, 0),
        "{report}"
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn hlp_04_twenty_equal_sign_ups_at_once_make_one_contact_a_hundred_times() -> Tried<()> {
    let database = database();
    let service = service_at(&database.url(), 20)?;
    let start = "2026-05-01T10:00:00Z";
    let event = made(
        &service,
        "events",
        json!({"title": "Picnic", "start_date": start}),
    )
    .await?;
    let helpers = [
        "people".to_owned(),
        format!("{event}/record_attendance_helper"),
    ];
    for round in 0..100 {
        let mut calls = tokio::task::JoinSet::new();
        for caller in 0..20 {
            let (service, helper) = (service.clone(), helpers[round % 2].clone());
            let address = format!(
                "{}{round}@example.org",
                if caller % 2 == 0 { "ada" } else { "ADA" }
            );
            calls.spawn(async move { send(&service, &helper, Some(sign_up(&address))).await });
        }
        while let Some(call) = calls.join_next().await {
            let (status, _, answer) = call??;
            assert!(status.is_success(), "HLP-19, HLP-12: {answer}");
        }
    }
    let counts = "SELECT (SELECT count(*) FROM contacts), (SELECT count(*) FROM contact_emails), (SELECT count(*) FROM rsvps)";
    assert_eq!(database.psql(counts), "100|100|50", "HLP-04");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn err_29_a_tag_that_does_not_exist_fails_alone_and_err_34_a_refused_call_leaves_nobody()
-> Tried<()> {
    let database = database();
    let service = service_at(&database.url(), 4)?;
    let tag = made(&service, "tags", json!({"name": "one"})).await?;
    let event = made(
        &service,
        "events",
        json!({"title": "Picnic", "start_date": "2026-05-01T10:00:00Z"}),
    )
    .await?;
    let mut body = sign_up("ada@example.org");
    body["add_tags"] = json!(["one", "none"]);
    body["add_tags_uri"] = json!([format!("{BASE}{tag}")]);
    let helper = format!("{event}/record_attendance_helper");
    let (status, _, answer) = send(&service, &helper, Some(body)).await?;
    let statuses: Vec<u64> = answer["svc:error"]["resource_status"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|entry| entry["response_code"].as_u64())
        .collect();
    assert_eq!(
        (status, statuses),
        (StatusCode::BAD_REQUEST, vec![201, 201, 201, 400, 200]),
        "ERR-29: {answer}"
    );
    let counts = "SELECT (SELECT count(*) FROM contacts), (SELECT count(*) FROM rsvps), (SELECT count(*) FROM contact_groups)";
    assert_eq!(database.psql(counts), "1|1|1", "ERR-29");
    // The event is deleted between the check and the insert: the person that was created before
    // does not remain.
    database.psql("CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION $$full$$; END'");
    database.psql(
        "CREATE TRIGGER refuse BEFORE INSERT ON rsvps FOR EACH ROW EXECUTE FUNCTION refuse()",
    );
    let (status, ..) = send(&service, &helper, Some(sign_up("bob@example.org"))).await?;
    assert_eq!(
        (status.as_u16(), database.psql(counts).as_str()),
        (500, "1|1|1"),
        "ERR-34, HLP-10"
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn und_36_a_locked_table_is_503_while_it_is_locked() -> Tried<()> {
    let database = database();
    let service = service_at(&database.url(), 4)?;
    let impatient = service
        .clone()
        .request_timeout(Some(Duration::from_secs(1)));
    assert_eq!(send(&service, "people", None).await?.0, StatusCode::OK);
    let client = support::client(&database.url()).await;
    client.batch_execute("BEGIN; LOCK TABLE contacts").await?;
    for body in [None, Some(sign_up("ada@example.org"))] {
        let (status, headers, _) = send(&impatient, "people", body).await?;
        assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE, "UND-36");
        assert!(headers.contains_key(RETRY_AFTER), "UND-36");
    }
    client.batch_execute("ROLLBACK").await?;
    let (status, _, people) = send(&service, "people", None).await?;
    assert_eq!(
        (status, &people["total_records"]),
        (StatusCode::OK, &json!(0)),
        "nothing of the request is stored"
    );
    assert_eq!(
        send(&service, "people", Some(sign_up("ada@example.org")))
            .await?
            .0,
        StatusCode::CREATED
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn und_36_a_database_that_is_away_is_503_and_the_service_is_back_by_itself() -> Tried<()> {
    let database = database();
    let service = service_at(&database.url(), 4)?;
    made(&service, "people", json!({"given_name": "Ada"})).await?;
    database.kill();
    for body in [None, Some(sign_up("ada@example.org"))] {
        let (status, headers, answer) = send(&service, "people", body).await?;
        assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE, "UND-36: {answer}");
        assert!(headers.contains_key(RETRY_AFTER), "UND-36");
    }
    database.start_again();
    let mut people = Value::Null;
    until("the service is back", async || {
        match send(&service, "people", None).await {
            Ok((StatusCode::OK, _, found)) => {
                people = found;
                true
            }
            _ => false,
        }
    })
    .await;
    assert_eq!(people["total_records"], json!(1), "UND-36: {people}");
    Ok(())
}

#[test]
#[ignore = "needs PostgreSQL: .ci/postgres"]
fn statements_and_round_trips_are_counted() -> Tried<()> {
    let database = database();
    // Each new session has this setting. A reload would reach existing sessions only when they wait
    // for a statement.
    database.psql("ALTER DATABASE postgres SET log_statement = 'all'");
    let way = Proxy::start(database.port());
    way.block_on(all_are_counted(&database, &way))
}

async fn all_are_counted(database: &Server, way: &Proxy) -> Tried<()> {
    let service = service_at(&way.url(), 1)?;
    let person = made(&service, "people", json!({"given_name": "Ada"})).await?;
    let event = made(
        &service,
        "events",
        json!({"title": "Picnic", "start_date": "2026-05-01T10:00:00Z"}),
    )
    .await?;
    made(&service, "tags", json!({"name": "one"})).await?;
    let helper = format!("{event}/record_attendance_helper");
    let mut number = 0;
    // Each with the statement for the key.
    for (what, path, most) in [
        ("list", "people", 3),
        ("get", person.as_str(), 2),
        ("create", "people", 7),
        ("sign-up of a new person", "people", 9),
        (
            "attendance of a new person, with a tag",
            helper.as_str(),
            20,
        ),
    ] {
        let body = |number: i32| {
            let mut posted = sign_up(&format!("a{number}@example.org"));
            match what {
                "list" | "get" => None,
                "create" => Some(posted["person"].take()),
                "sign-up of a new person" => Some(posted),
                _ => {
                    posted["add_tags"] = json!(["one"]);
                    Some(posted)
                }
            }
        };
        // The first request prepares the statements of the second.
        for is_counted in [false, true] {
            number += 1;
            way.reset();
            let said = database.log().len();
            let (status, _, answer) = send(&service, path, body(number)).await?;
            assert!(status.is_success(), "{what}: {answer}");
            let log = database.log();
            let lines = log.get(said..).unwrap_or_default().lines();
            let statements = lines
                .filter(|line| line.contains("execute ") || line.contains("statement: "))
                .count();
            if is_counted {
                println!(
                    "{what}: {statements} statements, {} round trips",
                    way.round_trips()
                );
                assert!(statements <= most, "{what}: {statements} statements");
            }
        }
    }
    Ok(())
}
