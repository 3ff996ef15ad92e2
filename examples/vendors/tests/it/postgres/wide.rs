//! The wide tables of an old program in PostgreSQL: the suite, and what its rows become.

use std::{sync::Arc, time::Duration};

use http::StatusCode;
use serde_json::{Value, json};
use svc_conformance::{InProcess, Intensity, Keys, Suite};
use svc_core::model::Kind;
use svc_postgres::{PostgresDatabase, PostgresOptions};
use svc_sql::{
    Column, Database, EntryMapping, ListMapping, MappedStore, Mapping, TableMapping, TenantMapping,
};
use svc_tower::SvcService;
use svc_vendor_examples::wide::{INDEXES, ROWS, TABLES, interface};

use super::support::{self, server::Server};
use crate::mapped::{BASE, KEYS, TestResult, call};

/// Creates a schema with the tables and their rows.
fn schema(server: &Server) -> String {
    let name = server.schema();
    let mut sql =
        format!("CREATE SCHEMA {name}; SET search_path = {name}; {TABLES} {ROWS} {INDEXES}");
    for (hash, org, scope) in crate::mapped::keys() {
        let hash = svc_store::hex::encode(&hash);
        let values = format!("({org}, decode('{hash}', 'hex'), '{scope}')");
        sql = sql + "INSERT INTO api_keys (org_id, token_hash, scope) VALUES " + &values + ";";
    }
    server.psql(&sql);
    name
}

async fn service(server: &Server, schema: &str) -> TestResult<SvcService> {
    let url = format!("{}?options=-csearch_path%3D{schema}", server.url());
    let options = PostgresOptions::new(&url)?.busy_timeout(Duration::from_secs(60));
    let database: Arc<dyn Database> = Arc::new(PostgresDatabase::new(&options));
    MappedStore::create_library_tables(&database).await?;
    Ok(interface(database, BASE).await?)
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn the_suite_finds_nothing_wrong() -> TestResult {
    let server = support::server();
    conforms(service(server, &schema(server)).await?).await
}

/// Runs the suite with the declaration of the server only.
pub(crate) async fn conforms(service: SvcService) -> TestResult {
    let [primary, other, restricted] = KEYS.map(|(key, ..)| key);
    let keys = Keys::primary(primary)
        .other_tenant(other)
        .restricted(restricted, "petitions.create");
    let intensity = match std::env::var("SVC_INTENSITY").as_deref() {
        Ok("default") => Intensity::Default,
        _ => Intensity::Quick,
    };
    let suite = Suite::new(InProcess::new(service).base_url(BASE)).keys(keys);
    let report = suite.intensity(intensity).seed(42).run().await?;
    println!("{report}");
    assert_eq!(report.exit_code(), 0, "{report}");
    Ok(())
}

async fn read(service: &SvcService, path: &str) -> TestResult<Value> {
    let (status, json) = call(service.clone(), "GET", path, None).await?;
    assert_eq!(status, StatusCode::OK, "{path}: {json}");
    Ok(json)
}

/// Returns the row of a supporter as JSON.
fn row(server: &Server, schema: &str, id: u32) -> TestResult<Value> {
    let sql = format!("SELECT to_jsonb(s) FROM {schema}.supporters s WHERE id = {id}");
    Ok(serde_json::from_str(server.psql(&sql).trim())?)
}

/// A row is read as a person, whatever the program has written into its columns.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn rows_are_read_as_they_are() -> TestResult {
    let server = support::server();
    check_rows(&service(server, &schema(server)).await?).await
}

/// Compares people with the rows of the example.
pub(crate) async fn check_rows(service: &SvcService) -> TestResult {
    let people = read(service, "people?per_page=1").await?;
    assert_eq!(people["total_records"], 570, "30 of 600 are deleted");
    let members = |person: Value| {
        let names = [
            "given_name",
            "family_name",
            "email_addresses",
            "phone_numbers",
            "postal_addresses",
            "languages_spoken",
            "custom_fields",
        ];
        let known = names.into_iter().filter(|name| !person[*name].is_null());
        known
            .map(|name| (name.to_owned(), person[name].clone()))
            .collect::<serde_json::Map<_, _>>()
    };
    let expected = [
        (
            24,
            json!({
                "given_name": "First 24", "family_name": "LAST 24",
                "email_addresses": [
                    { "primary": true, "address": "person.24@example.org", "status": "subscribed" },
                    { "primary": false, "address": "other.24@example.org", "status": "subscribed" },
                ],
                "phone_numbers": [
                    { "number": "14155550124", "number_type": "Mobile" },
                    { "number": "12025550124", "number_type": "Home" },
                ],
                "postal_addresses": [{
                    "address_lines": ["24 Main Street"], "locality": "Albany", "postal_code": "12207",
                }],
                "custom_fields": { "shirt_size": "M" },
            }),
        ),
        (
            // One text for two lines, a state in capitals, and a name that is an empty text.
            361,
            json!({
                "family_name": "LAST 361",
                "email_addresses": [
                    { "primary": true, "address": "Person.361@Example.ORG", "status": "unsubscribed" },
                ],
                "phone_numbers": [{ "number": "14155550161", "number_type": "Mobile" }],
                "postal_addresses": [{
                    "address_lines": ["361 Oak Avenue", "Apt 1"], "locality": "OAKLAND", "region": "CA",
                }],
            }),
        ),
        (
            // The second address only, and a code in place of a name.
            42,
            json!({
                "given_name": "First 42",
                "email_addresses": [{ "primary": false, "address": "other.42@example.org", "status": "subscribed" }],
                "phone_numbers": [{ "number": "12025550142", "number_type": "Home" }],
                "postal_addresses": [{
                    "address_lines": ["42 Main Street"], "locality": "Albany", "region": "TX", "postal_code": "12207",
                }],
            }),
        ),
    ];
    for (id, expected) in expected {
        let person = read(service, &format!("people/{id}")).await?;
        assert_eq!(Value::Object(members(person)), expected, "{id}");
    }
    let shared = read(
        service,
        "people?filter=email_address%20eq%20'SHARED@example.org'&per_page=1",
    )
    .await?;
    assert_eq!(shared["total_records"], 60);
    let (status, _) = call(service.clone(), "GET", "people/20", None).await?;
    assert_eq!(status, StatusCode::NOT_FOUND, "deleted");
    let donations = read(service, "people/10/donations").await?;
    assert_eq!(
        donations["_embedded"]["svc:donations"][0]["amount"],
        json!(5.10)
    );
    let pages = read(service, "fundraising_pages").await?;
    assert_eq!(pages["total_records"], 1, "one of two is not active");
    Ok(())
}

/// A change writes the columns of what has changed, and no others.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn a_change_writes_what_has_changed() -> TestResult {
    let server = support::server();
    let schema = schema(server);
    let service = service(server, &schema).await?;
    let before = row(server, &schema, 24)?;
    let change = json!({
        "family_name": "Lovelace",
        "phone_numbers": [
            { "number": "14155550124", "number_type": "Mobile" },
            { "number": "12025550199", "number_type": "Home" },
        ],
    });
    let (status, json) = call(service.clone(), "PUT", "people/24", Some(change)).await?;
    assert_eq!(status, StatusCode::OK, "{json}");
    let after = row(server, &schema, 24)?;
    let changed: Vec<(&str, &Value)> = after
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(name, value)| before[name.as_str()] != **value && *name != "updated_at")
        .map(|(name, value)| (name.as_str(), value))
        .collect();
    assert_eq!(
        changed,
        [
            ("full_name", &json!("First 24 Lovelace")),
            ("last_name", &json!("Lovelace")),
            ("phone_home", &json!("+12025550199")),
        ]
    );
    let change = json!({ "email_addresses": [
        { "address": "other.24@example.org", "primary": true, "status": "unsubscribed" },
        { "address": "person.24@example.org" },
    ] });
    let (status, json) = call(service.clone(), "PUT", "people/24", Some(change)).await?;
    assert_eq!(status, StatusCode::OK, "{json}");
    let after = row(server, &schema, 24)?;
    assert_eq!(
        [&after["email"], &after["email2"], &after["opt_in"]],
        [
            &json!("other.24@example.org"),
            &json!("person.24@example.org"),
            &json!(false)
        ]
    );
    let none = json!({ "email_addresses": [], "postal_addresses": [] });
    let (status, json) = call(service, "PUT", "people/24", Some(none)).await?;
    assert_eq!(status, StatusCode::OK, "{json}");
    let after = row(server, &schema, 24)?;
    for name in ["email", "email2", "street", "city", "state", "zip"] {
        assert!(after[name].is_null(), "{name}: {after}");
    }
    Ok(())
}

/// UND-26: a deleted row remains, and a sign-up restores it.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn a_deleted_person_can_return() -> TestResult {
    let server = support::server();
    let schema = schema(server);
    let service = service(server, &schema).await?;
    let before = row(server, &schema, 24)?;
    let (status, _) = call(service.clone(), "DELETE", "people/24", None).await?;
    assert_eq!(status, StatusCode::NO_CONTENT);
    let (status, _) = call(service.clone(), "GET", "people/24", None).await?;
    assert_eq!(status, StatusCode::NOT_FOUND);
    let deleted = row(server, &schema, 24)?;
    assert!(!deleted["deleted_at"].is_null());
    assert_eq!(deleted["email"], before["email"], "the row remains");
    let signatures = read(&service, "petitions/1/signatures?per_page=100").await?;
    let links = signatures.to_string().matches("people/24\"").count();
    assert_eq!(links, 0, "no link to a deleted person");
    // Another person has this address, so no one returns.
    let sign_up =
        |address: &str| json!({ "person": { "email_addresses": [{ "address": address }] } });
    let shared = Some(sign_up("shared@example.org"));
    let (status, json) = call(service.clone(), "POST", "people/person_signup", shared).await?;
    assert_eq!(status, StatusCode::OK, "{json}");
    let gone = server.psql(&format!(
        "SELECT count(*) FROM {schema}.supporters WHERE deleted_at IS NOT NULL"
    ));
    assert_eq!(gone.trim(), "31");
    let again = Some(sign_up("OTHER.24@example.org"));
    let (status, json) = call(service.clone(), "POST", "people/person_signup", again).await?;
    assert_eq!(status, StatusCode::OK, "{json}");
    let path = json["_links"]["self"]["href"].as_str().unwrap_or_default();
    assert!(path.ends_with("people/24"), "HLP-04: {json}");
    assert!(row(server, &schema, 24)?["deleted_at"].is_null());
    Ok(())
}

/// HLP-04: simultaneous equal sign-ups are one row.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn simultaneous_equal_sign_ups_are_one_row() -> TestResult {
    let server = support::server();
    let schema = schema(server);
    let service = service(server, &schema).await?;
    let body = json!({
        "person": {
            "given_name": "Grace",
            "email_addresses": [{ "address": "grace@example.org", "status": "subscribed" }],
            "phone_numbers": [{ "number": "12025550142" }],
        },
        "comments": "Yes",
    });
    let calls: Vec<_> = (0..20)
        .map(|_| {
            let path = "petitions/1/record_signature_helper";
            tokio::spawn(call(service.clone(), "POST", path, Some(body.clone())))
        })
        .collect();
    for call in calls {
        let (status, json) = call.await??;
        assert_eq!(status, StatusCode::OK, "{json}");
    }
    let rows = server.psql(&format!(
        "SELECT count(*), bool_and(opt_in), max(phone_mobile) FROM {schema}.supporters WHERE lower(email) = 'grace@example.org'
         UNION ALL SELECT count(*), NULL, max(comment) FROM {schema}.petition_signatures WHERE comment = 'Yes'"
    ));
    assert_eq!(
        rows.split_whitespace().collect::<Vec<_>>(),
        ["1|t|+12025550142", "1||Yes"]
    );
    Ok(())
}

/// Each mapping that does not fit the tables has its message.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn each_wrong_mapping_is_reported_with_its_fix() -> TestResult {
    let server = support::server();
    let schema = schema(server);
    server.psql(&format!(
        "SET search_path = {schema}; CREATE VIEW members AS SELECT * FROM supporters WHERE last_name IS NOT NULL"
    ));
    let url = format!("{}?options=-csearch_path%3D{schema}", server.url());
    let options = PostgresOptions::new(&url)?.busy_timeout(Duration::from_secs(60));
    let database: Arc<dyn Database> = Arc::new(PostgresDatabase::new(&options));
    MappedStore::create_library_tables(&database).await?;
    let people = || {
        TableMapping::new(Kind::Person, "supporters")
            .tenant("organisation_id")
            .insert_constant("opt_in", "false")
    };
    let pages = || {
        TableMapping::new(Kind::FundraisingPage, "donation_pages")
            .tenant("organisation_id")
            .slug("slug")
    };
    let donations = || {
        TableMapping::new(Kind::Donation, "donations")
            .tenant("organisation_id")
            .link_by("fundraising_page", "page_slug", "slug")
            .link("person", "supporter_id")
            .field("amount", Column::new("amount_cents").scaled(2))
    };
    let entry = || EntryMapping::new().field("address", "email");
    let rows = ListMapping::new("supporters", "id").field("address", "email");
    let view = TableMapping::new(Kind::Person, "members").tenant("organisation_id");
    let wrong: [(&str, Vec<TableMapping>); 14] = [
        (
            "a list in rows of its own table",
            vec![people().list("email_addresses", rows)],
        ),
        (
            "amounts in cents",
            vec![
                people(),
                pages(),
                donations().field("credited_amount", "amount_cents"),
            ],
        ),
        (
            "a status in a boolean column",
            vec![people().field("gender", "opt_in")],
        ),
        (
            "other values for true and false",
            vec![people().field("gender", Column::new("opt_in").flag("Female", "Yes"))],
        ),
        (
            "an amount in a text column",
            vec![
                people(),
                pages(),
                donations().field("credited_amount", Column::new("page_slug").scaled(2)),
            ],
        ),
        ("a view without its key", vec![view.clone()]),
        ("a view without its order", vec![view.view().key("id")]),
        (
            "a date of deletion that is always there",
            vec![people().deleted_at("updated_at")],
        ),
        (
            "a date of deletion in an integer",
            vec![people().deleted_at("legacy_score")],
        ),
        (
            "a return without deletion marks",
            vec![people().restored_by_helpers()],
        ),
        (
            "a column for two members",
            vec![
                people()
                    .field("given_name", "first_name")
                    .field("additional_name", "first_name"),
            ],
        ),
        (
            "entries that the list does not have",
            vec![people().entries(
                "email_addresses",
                [
                    entry().constant("kind", "home").constant("primary", "yes"),
                    EntryMapping::new(),
                ],
            )],
        ),
        (
            "a link to a column that is not unique",
            vec![
                people(),
                pages(),
                donations().link_by("person", "page_slug", "city"),
            ],
        ),
        (
            "a slug in a date",
            vec![
                people(),
                TableMapping::new(Kind::Petition, "petitions")
                    .tenant("organisation_id")
                    .slug("created_at"),
            ],
        ),
    ];
    let mut report = String::new();
    for (what, tables) in wrong {
        let mapping = Mapping::new(TenantMapping::by_number("organisations"));
        let mapping = tables.into_iter().fold(mapping, Mapping::table);
        let Err(problem) = MappedStore::connect(mapping, Arc::clone(&database)).await else {
            return Err(format!("no problem is reported for {what}").into());
        };
        report = format!("{report}-- {what}\n{problem}\n\n");
    }
    let golden = "tests/it/mapped/wrong_mappings.txt";
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

async fn mapped(
    server: &Server,
    schema: &str,
    tables: Vec<TableMapping>,
) -> TestResult<SvcService> {
    let url = format!("{}?options=-csearch_path%3D{schema}", server.url());
    let options = PostgresOptions::new(&url)?.busy_timeout(Duration::from_secs(60));
    let database: Arc<dyn Database> = Arc::new(PostgresDatabase::new(&options));
    MappedStore::create_library_tables(&database).await?;
    let mapping = Mapping::new(TenantMapping::by_number("organisations"));
    let mapping = tables.into_iter().fold(mapping, Mapping::table);
    let store = MappedStore::connect(mapping, database).await?;
    let keys = svc_core::auth::FixedKeys::new().with_key(
        KEYS[0].0,
        svc_core::Tenant::new("1"),
        svc_core::auth::Rights::all(),
    );
    let api = svc_core::Api::builder(svc_core::Vendor::new("Acme", "Acme CRM").namespace("acme"));
    Ok(SvcService::new(
        store
            .register(api.base_url(BASE).authenticator(keys))
            .build()?,
    ))
}

/// ERR-13: a text that is too long for its column is rejected.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn a_text_that_is_too_long_is_rejected() -> TestResult {
    let server = support::server();
    let schema = schema(server);
    server.psql(&format!("SET search_path = {schema}; ALTER TABLE supporters ALTER COLUMN phone_home TYPE varchar(10) USING NULL"));
    let service = service(server, &schema).await?;
    let mut wrong = Vec::new();
    for body in [
        json!({ "languages_spoken": vec!["english"; 60] }),
        json!({ "postal_addresses": [{ "address_lines": ["x".repeat(150), "y".repeat(150)] }] }),
        json!({ "postal_addresses": [{ "address_lines": ["x"], "region": "z".repeat(80) }] }),
        json!({ "phone_numbers": [{ "number": "12025550104", "number_type": "Home" }] }),
    ] {
        let (status, json) = call(service.clone(), "PUT", "people/24", Some(body.clone())).await?;
        if status != StatusCode::BAD_REQUEST {
            wrong.push(format!("{status} {json}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    Ok(())
}

/// ERR-13: an amount that is too large for its column is rejected.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn an_amount_that_is_too_large_is_rejected() -> TestResult {
    let server = support::server();
    let schema = schema(server);
    server.psql(&format!(
        "SET search_path = {schema}; ALTER TABLE donations ALTER COLUMN amount_cents TYPE bigint"
    ));
    let service = service(server, &schema).await?;
    let body = json!({ "amount": 1e18, "_links": { "svc:person": { "href": format!("{BASE}people/24") } } });
    let (status, json) = call(
        service.clone(),
        "POST",
        "fundraising_pages/1/donations",
        Some(body),
    )
    .await?;
    assert_eq!(status, StatusCode::BAD_REQUEST, "{json}");
    Ok(())
}

/// A view needs a default for the numbers of new records.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn a_view_gets_new_records() -> TestResult {
    let server = support::server();
    let schema = schema(server);
    server.psql(&format!("SET search_path = {schema}; ALTER TABLE supporters ALTER COLUMN opt_in SET DEFAULT false; CREATE VIEW members AS SELECT * FROM supporters"));
    let view = TableMapping::new(Kind::Person, "members")
        .tenant("organisation_id")
        .key("id")
        .order_column("id")
        .view()
        .field("given_name", "first_name")
        .deleted_at("deleted_at")
        .restored_by_helpers()
        .entries(
            "email_addresses",
            [EntryMapping::new().field("address", "email")],
        );
    let refused = mapped(server, &schema, vec![view.clone()]).await.err();
    let text = refused.map(|error| error.to_string()).unwrap_or_default();
    assert!(
        text.contains("does not number the column `members.id`"),
        "{text}"
    );
    server.psql(&format!(
        "ALTER VIEW {schema}.members ALTER COLUMN id SET DEFAULT nextval('{schema}.supporters_id_seq')"
    ));
    let service = mapped(server, &schema, vec![view]).await?;
    let body = || Some(json!({ "given_name": "A" }));
    let (status, json) = call(service.clone(), "PUT", "people/24", body()).await?;
    assert_eq!(status, StatusCode::OK, "{json}");
    let (status, json) = call(service, "POST", "people", body()).await?;
    assert_eq!(status, StatusCode::CREATED, "{json}");
    Ok(())
}

/// A list is required if one of its columns cannot be NULL.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn an_entry_that_must_be_there() -> TestResult {
    let server = support::server();
    let schema = schema(server);
    server.psql(&format!("SET search_path = {schema}; ALTER TABLE supporters ALTER COLUMN opt_in SET DEFAULT false; UPDATE supporters SET email2 = '' WHERE email2 IS NULL; ALTER TABLE supporters ALTER COLUMN email2 SET NOT NULL"));
    let entry = |column| EntryMapping::new().field("address", column);
    let people = TableMapping::new(Kind::Person, "supporters")
        .tenant("organisation_id")
        .entries("email_addresses", [entry("email"), entry("email2")]);
    let service = mapped(server, &schema, vec![people]).await?;
    let body = json!({ "email_addresses": [{ "address": "one@example.org" }] });
    let (created, _) = call(service.clone(), "POST", "people", Some(body.clone())).await?;
    let (changed, json) = call(service.clone(), "PUT", "people/24", Some(body)).await?;
    assert!(
        !created.is_server_error() && !changed.is_server_error(),
        "{created} {changed} {json}"
    );
    Ok(())
}

/// A link to a column of another type is refused.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn a_link_to_a_column_of_another_type() -> TestResult {
    let server = support::server();
    let schema = schema(server);
    let people = TableMapping::new(Kind::Person, "supporters")
        .tenant("organisation_id")
        .insert_constant("opt_in", "false");
    let pages = TableMapping::new(Kind::FundraisingPage, "donation_pages")
        .tenant("organisation_id")
        .slug("slug");
    let donations = TableMapping::new(Kind::Donation, "donations")
        .tenant("organisation_id")
        .link_by("fundraising_page", "page_slug", "id")
        .link("person", "supporter_id")
        .field("amount", Column::new("amount_cents").scaled(2));
    let refused = mapped(server, &schema, vec![people, pages, donations])
        .await
        .err();
    let text = refused.map(|error| error.to_string()).unwrap_or_default();
    assert!(
        text.contains("refers to `id` of the type integer"),
        "{text}"
    );
    Ok(())
}

/// A value of a deletion mark that its column cannot contain is refused.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn a_mark_that_the_column_cannot_contain() -> TestResult {
    let server = support::server();
    let schema = schema(server);
    let people = TableMapping::new(Kind::Person, "supporters")
        .tenant("organisation_id")
        .insert_constant("opt_in", "false")
        .deleted_if("legacy_score", "true");
    let refused = mapped(server, &schema, vec![people]).await.err();
    let text = refused.map(|error| error.to_string()).unwrap_or_default();
    assert!(text.contains("which cannot be `true`"), "{text}");
    Ok(())
}

/// A number that no row can have is not found.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn a_number_that_is_too_large_is_not_found() -> TestResult {
    let server = support::server();
    let service = service(server, &schema(server)).await?;
    let mut wrong = Vec::new();
    for path in [
        "people/3000000000",
        "petitions/3000000000/signatures",
        "people/-1",
        "people/007",
    ] {
        let (status, json) = call(service.clone(), "GET", path, None).await?;
        if status != StatusCode::NOT_FOUND {
            wrong.push(format!("{path} {status} {json}"));
        }
    }
    let body =
        json!({ "_links": { "svc:person": { "href": format!("{BASE}people/3000000000") } } });
    let (status, json) = call(
        service.clone(),
        "POST",
        "petitions/1/signatures",
        Some(body),
    )
    .await?;
    if status.is_server_error() {
        wrong.push(format!("link {status} {json}"));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    Ok(())
}

/// UND-26: rows that refer to a deleted row remain.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn rows_that_refer_to_a_deleted_row_remain() -> TestResult {
    let server = support::server();
    let schema = schema(server);
    let service = service(server, &schema).await?;
    let count = || {
        server.psql(&format!("SELECT (SELECT count(*) FROM {schema}.petition_signatures), (SELECT count(*) FROM {schema}.donations)"))
    };
    let before = count();
    for path in ["petitions/1", "fundraising_pages/1"] {
        let (status, json) = call(service.clone(), "DELETE", path, None).await?;
        assert!(!status.is_server_error(), "{path} {status} {json}");
    }
    assert_eq!(count(), before);
    Ok(())
}
