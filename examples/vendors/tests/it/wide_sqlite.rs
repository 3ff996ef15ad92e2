//! The mapping of wide tables in a SQLite file.

use std::sync::Arc;

use http::StatusCode;
use serde_json::{Value, json};
use svc_conformance::{InProcess, Intensity, Keys, Suite};
use svc_core::{
    Api, Tenant, Vendor,
    auth::{FixedKeys, Rights},
    model::Kind,
};
use svc_sql::{Column, Database, EntryMapping, MappedStore, Mapping, TableMapping, TenantMapping};
use svc_sqlite::SqliteDatabase;
use svc_tower::SvcService;
use svc_vendor_examples::wide;
use tempfile::{TempDir, tempdir};

use crate::mapped::{BASE, KEYS, TestResult, call};

const TABLES: &str = "
CREATE TABLE organisations (id INTEGER PRIMARY KEY, slug varchar(50) NOT NULL UNIQUE, name text NOT NULL);
CREATE TABLE supporters (
    id INTEGER PRIMARY KEY, organisation_id INTEGER NOT NULL REFERENCES organisations,
    first_name varchar(100), last_name varchar(100), email varchar(255), email2 varchar(255),
    opt_in boolean NOT NULL, phone_home varchar(40), phone_mobile varchar(40), street varchar(200), city varchar(100),
    state varchar(50), zip varchar(20), languages varchar(200), extra JSON, bounced boolean NOT NULL DEFAULT 0,
    is_gone INTEGER NOT NULL DEFAULT 0, agrees boolean NOT NULL DEFAULT 1,
    created_at TIMESTAMP, updated_at TIMESTAMP, deleted_at TIMESTAMP);
CREATE TABLE petitions (
    id INTEGER PRIMARY KEY, organisation_id INTEGER NOT NULL REFERENCES organisations, slug varchar(100) NOT NULL,
    title varchar(200), body text, created_at TIMESTAMP, updated_at TIMESTAMP, deleted_at TIMESTAMP,
    UNIQUE (organisation_id, slug));
CREATE TABLE petition_signatures (
    id INTEGER PRIMARY KEY, petition_id INTEGER NOT NULL REFERENCES petitions, supporter_id INTEGER NOT NULL REFERENCES supporters,
    comment text, signed_at TIMESTAMP, UNIQUE (petition_id, supporter_id));
CREATE TABLE donation_pages (
    id INTEGER PRIMARY KEY, organisation_id INTEGER NOT NULL REFERENCES organisations, slug varchar(100) NOT NULL,
    title varchar(200), active boolean NOT NULL DEFAULT 1, created_at TIMESTAMP, updated_at TIMESTAMP,
    UNIQUE (organisation_id, slug));
CREATE TABLE donations (
    id INTEGER PRIMARY KEY, organisation_id INTEGER NOT NULL REFERENCES organisations,
    supporter_id INTEGER NOT NULL REFERENCES supporters, page_slug varchar(100) NOT NULL, amount_cents INTEGER NOT NULL,
    refunded boolean NOT NULL DEFAULT 0, created_at TIMESTAMP, updated_at TIMESTAMP);
CREATE INDEX s1 ON supporters (organisation_id, id);
CREATE INDEX s2 ON supporters (lower(email));
CREATE INDEX s3 ON supporters (lower(email2));
CREATE INDEX p1 ON petition_signatures (supporter_id, id);
CREATE INDEX d1 ON donations (organisation_id, id);
CREATE INDEX d2 ON donations (page_slug, id);
CREATE INDEX d3 ON donations (supporter_id, id);
INSERT INTO organisations VALUES (1, 'acme', 'Acme'), (2, 'other', 'Other');
INSERT INTO supporters (id, organisation_id, first_name, email, email2, opt_in, phone_mobile, created_at, updated_at) VALUES
 (1, 1, 'Ada', 'ada@example.org', NULL, 1, '(202) 555-0104', '2020-01-01T00:00:00Z', '2020-01-01T00:00:00Z'),
 (2, 1, 'Eve', 'eve@example.org', 'eve2@example.org', 0, 'n/a', '2020-01-01T00:00:00Z', '2020-01-01T00:00:00Z'),
 (3, 2, 'Kim', 'kim@example.org', NULL, 1, NULL, '2020-01-01T00:00:00Z', '2020-01-01T00:00:00Z');
INSERT INTO supporters (id, organisation_id, first_name, email, email2, opt_in, created_at, updated_at, deleted_at) VALUES
 (4, 1, 'Old', 'old@example.org', NULL, 1, '2020-01-01T00:00:00Z', '2020-01-01T00:00:00Z', '2021-01-01T00:00:00Z'),
 (5, 1, 'Older', 'older@example.org', NULL, 1, '2020-01-01T00:00:00Z', '2020-01-01T00:00:00Z', '2021-01-01T00:00:00Z');
INSERT INTO petitions (id, organisation_id, slug, title, created_at, updated_at) VALUES
 (1, 1, 'clean-air', 'Clean air', '2020-01-01T00:00:00Z', '2020-01-01T00:00:00Z');
INSERT INTO petition_signatures (petition_id, supporter_id, signed_at) VALUES (1, 1, '2020-01-01T00:00:00Z');
INSERT INTO donation_pages (id, organisation_id, slug, title, created_at, updated_at) VALUES
 (1, 1, 'spring', 'Spring', '2020-01-01T00:00:00Z', '2020-01-01T00:00:00Z'),
 (2, 2, 'spring', 'Spring of the other', '2020-01-01T00:00:00Z', '2020-01-01T00:00:00Z');
INSERT INTO donations (organisation_id, supporter_id, page_slug, amount_cents, created_at, updated_at) VALUES
 (1, 1, 'spring', 500, '2020-01-01T00:00:00Z', '2020-01-01T00:00:00Z');
";

struct Tables {
    _folder: TempDir,
    connection: rusqlite::Connection,
    service: SvcService,
}

impl Tables {
    async fn new(mapping: Mapping) -> TestResult<Self> {
        Self::with(mapping, false).await
    }

    async fn with(mapping: Mapping, merges: bool) -> TestResult<Self> {
        let folder = tempdir()?;
        let file = folder.path().join("crm.db");
        let connection = rusqlite::Connection::open(&file)?;
        connection.execute_batch(TABLES)?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        let database: Arc<dyn Database> = Arc::new(SqliteDatabase::open(&file)?);
        MappedStore::create_library_tables(&database).await?;
        let store = MappedStore::connect(mapping, Arc::clone(&database)).await?;
        let [all, other, restricted] = KEYS.map(|(key, ..)| key);
        let keys = FixedKeys::new()
            .with_key(all, Tenant::new("1"), Rights::all())
            .with_key(other, Tenant::new("2"), Rights::all())
            .with_key(
                restricted,
                Tenant::new("1"),
                Rights::only(
                    "helper.person_signup people.read"
                        .split(' ')
                        .filter_map(|it| it.parse().ok()),
                ),
            );
        let api = Api::builder(Vendor::new("Acme", "Acme CRM").namespace("acme"));
        let api = store.register(api.base_url(BASE).authenticator(keys).batches());
        let api = if merges { api.merge_people() } else { api };
        Ok(Self {
            _folder: folder,
            connection,
            service: SvcService::new(api.build()?),
        })
    }

    fn text(&self, sql: &str) -> TestResult<String> {
        Ok(self.connection.query_row(sql, [], |row| {
            let value: rusqlite::types::Value = row.get(0)?;
            Ok(format!("{value:?}"))
        })?)
    }

    async fn send(&self, method: &str, path: &str, body: Value) -> TestResult<(StatusCode, Value)> {
        call(self.service.clone(), method, path, Some(body)).await
    }

    async fn get(&self, path: &str) -> TestResult<Value> {
        Ok(call(self.service.clone(), "GET", path, None).await?.1)
    }
}

fn entry() -> EntryMapping {
    EntryMapping::new()
}

fn people() -> TableMapping {
    TableMapping::new(Kind::Person, "supporters")
        .tenant("organisation_id")
        .field("given_name", "first_name")
        .insert_constant("opt_in", "0")
}

fn one(table: TableMapping) -> Mapping {
    Mapping::new(TenantMapping::by_number("organisations")).table(table)
}

/// Returns why a mapping does not fit the tables.
async fn refused(mapping: Mapping) -> TestResult<String> {
    match Tables::new(mapping).await {
        Ok(_) => Err("the mapping is accepted".into()),
        Err(error) => Ok(error.to_string()),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_suite_finds_nothing_wrong() -> TestResult {
    let tables = Tables::new(wide::mapping()).await?;
    let [primary, other, restricted] = KEYS.map(|(key, ..)| key);
    let keys = Keys::primary(primary)
        .other_tenant(other)
        .restricted(restricted, "petitions.create");
    let suite = Suite::new(InProcess::new(tables.service.clone()).base_url(BASE)).keys(keys);
    let report = suite.intensity(Intensity::Quick).seed(42).run().await?;
    println!("{report}");
    assert_eq!(report.exit_code(), 0, "{report}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_that_refer_to_a_deleted_row_remain() -> TestResult {
    let tables = Tables::new(wide::mapping()).await?;
    let (status, json) = tables.send("DELETE", "petitions/1", json!({})).await?;
    assert!(!status.is_server_error(), "{status} {json}");
    let (status, json) = tables
        .send("DELETE", "fundraising_pages/1", json!({}))
        .await?;
    assert!(!status.is_server_error(), "{status} {json}");
    let signatures = tables.text("SELECT count(*) FROM petition_signatures")?;
    let donations = tables.text("SELECT count(*) FROM donations")?;
    assert_eq!([signatures, donations], ["Integer(1)", "Integer(1)"]);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn one_deleted_person_is_restored() -> TestResult {
    let tables = Tables::new(wide::mapping()).await?;
    let gone = "SELECT count(*) FROM supporters WHERE deleted_at IS NOT NULL";
    let sign_up = json!({ "person": { "email_addresses": [
        { "address": "ada@example.org" }, { "address": "old@example.org" }] } });
    let (status, json) = tables.send("POST", "people/person_signup", sign_up).await?;
    assert!(status.is_success(), "{status} {json}");
    let href = json["_links"]["self"]["href"].clone();
    assert_eq!(
        tables.text(gone)?,
        "Integer(2)",
        "Ada matches, no one returns: {href}"
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn two_deleted_people_are_not_both_restored() -> TestResult {
    let tables = Tables::new(wide::mapping()).await?;
    let gone = "SELECT count(*) FROM supporters WHERE deleted_at IS NOT NULL";
    let sign_up = json!({ "person": { "email_addresses": [
        { "address": "older@example.org" }, { "address": "old@example.org" }] } });
    let (status, json) = tables.send("POST", "people/person_signup", sign_up).await?;
    assert!(status.is_success(), "{status} {json}");
    assert_eq!(tables.text(gone)?, "Integer(1)");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_preview_restores_no_one() -> TestResult {
    let tables = Tables::new(wide::mapping()).await?;
    let gone = "SELECT count(*) FROM supporters WHERE deleted_at IS NOT NULL";
    let item = json!({ "person": { "email_addresses": [{ "address": "old@example.org" }] } });
    let (status, json) = tables
        .send(
            "POST",
            "people/person_signup/batch?preview=true",
            json!([item]),
        )
        .await?;
    assert!(status.is_success(), "{status} {json}");
    assert_eq!(tables.text(gone)?, "Integer(2)");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restored_person_is_a_changed_person() -> TestResult {
    let tables = Tables::new(wide::mapping()).await?;
    let sign_up = json!({ "person": { "email_addresses": [{ "address": "old@example.org" }] } });
    let (status, json) = tables.send("POST", "people/person_signup", sign_up).await?;
    assert!(status.is_success(), "{status} {json}");
    let modified = tables.text("SELECT updated_at FROM supporters WHERE id = 4")?;
    assert_ne!(modified, "Text(\"2020-01-01T00:00:00Z\")");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_number_marks_deleted_rows() -> TestResult {
    let tables = Tables::new(one(people().deleted_if("is_gone", "true"))).await?;
    let people = tables.get("people").await?;
    assert_eq!(people["total_records"], 4, "no row is deleted");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn two_entries_of_the_same_type() -> TestResult {
    let number = |column| entry().field("number", Column::new(column).phone("US"));
    let of = people().entries(
        "phone_numbers",
        [
            number("phone_mobile").constant("number_type", "Mobile"),
            number("phone_home").constant("number_type", "Mobile"),
        ],
    );
    let tables = Tables::new(one(of)).await?;
    let body = json!({ "phone_numbers": [
        { "number": "12025550101", "number_type": "Mobile" }, { "number": "12025550102", "number_type": "Mobile" }] });
    let (status, json) = tables.send("PUT", "people/1", body).await?;
    assert_eq!(status, StatusCode::OK, "{json}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_space_does_not_separate_values() -> TestResult {
    let languages = Column::new("languages").joined(" ");
    let text = refused(one(people().field("languages_spoken", languages))).await?;
    assert!(text.contains("map it without `.joined(...)`"), "{text}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mark_that_is_always_there_is_not_an_entry() -> TestResult {
    let address = |column| entry().field("address", column).field("primary", "bounced");
    let of = people().entries(
        "email_addresses",
        [entry().field("address", "email"), address("email2")],
    );
    let tables = Tables::new(one(of)).await?;
    let ada = tables.get("people/1").await?;
    assert_eq!(
        ada["email_addresses"].as_array().map(Vec::len),
        Some(1),
        "{ada}"
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unsubscribed_person_remains_unsubscribed() -> TestResult {
    let consent = Column::new("agrees").flag("subscribed", "unsubscribed");
    let address = |column| {
        entry()
            .field("address", column)
            .field("status", consent.clone())
    };
    let tables = Tables::new(one(
        people().entries("email_addresses", [address("email"), address("email2")])
    ))
    .await?;
    tables
        .connection
        .execute_batch("UPDATE supporters SET agrees = 0")?;
    let body = json!({ "email_addresses": [{ "address": "ada@example.org" }, { "address": "ada2@example.org" }] });
    let (status, json) = tables.send("PUT", "people/1", body).await?;
    assert_eq!(status, StatusCode::OK, "{json}");
    assert_eq!(
        tables.text("SELECT agrees FROM supporters WHERE id = 1")?,
        "Integer(0)",
        "{}",
        json["email_addresses"]
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_is_mapped_once() -> TestResult {
    let of = people()
        .entries("email_addresses", [entry().field("address", "email")])
        .entries("email_addresses", [entry().field("address", "email2")]);
    let text = refused(one(of)).await?;
    assert!(
        text.contains("`email_addresses` of people is mapped twice"),
        "{text}"
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn each_entry_has_its_address() -> TestResult {
    let consent = Column::new("opt_in").flag("subscribed", "unsubscribed");
    let of = people().entries("email_addresses", [entry().field("status", consent)]);
    let text = refused(one(of)).await?;
    assert!(text.contains("has no column for `address`"), "{text}");
    let text = refused(one(people().entries("email_addresses", []))).await?;
    assert!(
        text.contains("`email_addresses` of people has no entries"),
        "{text}"
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_text_in_place_of_a_number_is_not_overwritten() -> TestResult {
    let tables = Tables::new(wide::mapping()).await?;
    let sign_up = json!({ "person": { "email_addresses": [{ "address": "eve@example.org" }],
        "phone_numbers": [{ "number": "12025550142" }] } });
    let (status, json) = tables.send("POST", "people/person_signup", sign_up).await?;
    assert!(status.is_success(), "{status} {json}");
    assert_eq!(
        tables.text("SELECT phone_mobile FROM supporters WHERE id = 2")?,
        "Text(\"n/a\")"
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn each_problem_is_reported_once() -> TestResult {
    let consent = Column::new("opted").flag("subscribed", "unsubscribed");
    let address = |column| {
        entry()
            .field("address", column)
            .field("status", consent.clone())
    };
    let of = people().entries("email_addresses", [address("email"), address("email2")]);
    let Err(error) = Tables::new(one(of)).await else {
        return Err("accepted".into());
    };
    let text = error.to_string();
    assert_eq!(text.matches("no column `opted`").count(), 1, "{text}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slug_is_not_also_a_field() -> TestResult {
    let of = TableMapping::new(Kind::Petition, "petitions")
        .tenant("organisation_id")
        .slug("slug")
        .field("title", "slug");
    let text = refused(one(people()).table(of)).await?;
    assert!(text.contains("`petitions.slug` is mapped twice"), "{text}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_view_of_sqlite_is_refused() -> TestResult {
    let of = TableMapping::new(Kind::Person, "members")
        .tenant("organisation_id")
        .key("id")
        .order_column("id")
        .view()
        .field("given_name", "first_name")
        .entries("email_addresses", [entry().field("address", "email")]);
    let folder = tempdir()?;
    let file = folder.path().join("crm.db");
    let connection = rusqlite::Connection::open(&file)?;
    connection.execute_batch(TABLES)?;
    connection.execute_batch("CREATE VIEW members AS SELECT * FROM supporters")?;
    let database: Arc<dyn Database> = Arc::new(SqliteDatabase::open(&file)?);
    MappedStore::create_library_tables(&database).await?;
    let Err(error) = MappedStore::connect(one(of), Arc::clone(&database)).await else {
        return Err("the mapping is accepted".into());
    };
    let text = error.to_string();
    assert!(
        text.contains("a view, which SQLite cannot change"),
        "{text}"
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn links_by_slug_stay_in_the_tenant() -> TestResult {
    let tables = Tables::new(wide::mapping()).await?;
    let other = KEYS[1].0;
    let _ = other;
    let (status, json) = crate::mapped::call_of_another(
        tables.service.clone(),
        "GET",
        "fundraising_pages/2/donations",
        None,
    )
    .await?;
    assert!(status.is_success(), "{status} {json}");
    assert_eq!(
        (status, &json["total_records"]),
        (StatusCode::OK, &json!(0)),
        "{json}"
    );
    let (status, json) = crate::mapped::call_of_another(
        tables.service.clone(),
        "DELETE",
        "fundraising_pages/2",
        None,
    )
    .await?;
    assert!(status.is_success(), "{json}");
    assert_eq!(tables.text("SELECT count(*) FROM donations")?, "Integer(1)");
    for path in [
        "people/1",
        "people/4",
        "petitions/1",
        "petitions/1/signatures",
        "donations/1",
    ] {
        let (status, json) =
            crate::mapped::call_of_another(tables.service.clone(), "GET", path, None).await?;
        assert_eq!(status, StatusCode::NOT_FOUND, "{path} {json}");
    }
    let sign_up = json!({ "person": { "email_addresses": [{ "address": "old@example.org" }] } });
    let (status, json) = crate::mapped::call_of_another(
        tables.service.clone(),
        "POST",
        "people/person_signup",
        Some(sign_up),
    )
    .await?;
    assert!(status.is_success(), "{json}");
    assert_eq!(
        tables.text("SELECT deleted_at FROM supporters WHERE id = 4")?,
        "Text(\"2021-01-01T00:00:00Z\")"
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_without_the_right_to_change_people_restores_nobody() -> TestResult {
    let tables = Tables::new(wide::mapping()).await?;
    let sign_up = json!({ "person": { "email_addresses": [{ "address": "old@example.org" }] } });
    let (status, json) = crate::mapped::call_by(
        KEYS[2].0,
        tables.service.clone(),
        "POST",
        "people/person_signup",
        Some(sign_up),
    )
    .await?;
    assert!(status.is_success(), "{status} {json}");
    assert_eq!(
        tables.text("SELECT deleted_at FROM supporters WHERE id = 4")?,
        "Text(\"2021-01-01T00:00:00Z\")"
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_who_was_merged_does_not_return() -> TestResult {
    let tables = Tables::new(wide::mapping()).await?;
    tables
        .connection
        .execute_batch("INSERT INTO svc_forwards VALUES ('1', '4', '1')")?;
    let sign_up = json!({ "person": { "email_addresses": [{ "address": "old@example.org" }] } });
    let (status, json) = tables.send("POST", "people/person_signup", sign_up).await?;
    assert!(status.is_success(), "{status} {json}");
    assert_eq!(
        tables.text("SELECT deleted_at FROM supporters WHERE id = 4")?,
        "Text(\"2021-01-01T00:00:00Z\")"
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_row_is_not_deleted_by_its_default() -> TestResult {
    let text = refused(one(people().deleted_if("agrees", "true"))).await?;
    assert!(text.contains("would be deleted"), "{text}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_constant_can_be_true() -> TestResult {
    let of = people().insert_constant("bounced", "true");
    let tables = Tables::new(one(of)).await?;
    let (status, json) = tables
        .send("POST", "people", json!({ "given_name": "New" }))
        .await?;
    assert_eq!(status, StatusCode::CREATED, "{json}");
    assert_eq!(
        tables.text("SELECT bounced FROM supporters ORDER BY id DESC LIMIT 1")?,
        "Integer(1)"
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_omitted_address_does_not_subscribe() -> TestResult {
    let tables = Tables::new(wide::mapping()).await?;
    let sign_up = json!({ "person": { "email_addresses": [{ "address": "eve@example.org" }, { "address": "new@example.org", "status": "subscribed" }] } });
    let (status, json) = tables.send("POST", "people/person_signup", sign_up).await?;
    assert!(status.is_success(), "{status} {json}");
    assert_eq!(
        tables.text("SELECT opt_in FROM supporters WHERE id = 2")?,
        "Integer(0)"
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_without_addresses_who_has_unsubscribed_is_merged() -> TestResult {
    let tables = Tables::with(wide::mapping(), true).await?;
    tables.connection.execute_batch("UPDATE supporters SET opt_in = 0, email = NULL WHERE id = 1; UPDATE supporters SET opt_in = 1, phone_mobile = NULL WHERE id = 2")?;
    let link = json!({ "_links": { "svc:person": { "href": format!("{BASE}people/2") } } });
    let (status, json) = tables.send("POST", "people/1/merge_helper", link).await?;
    assert!(status.is_success(), "{status} {json}");

    assert_eq!(
        tables.text("SELECT opt_in FROM supporters WHERE id = 1")?,
        "Integer(0)"
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_merged_person_does_not_return_after_the_address_changed() -> TestResult {
    let tables = Tables::with(wide::mapping(), true).await?;
    tables
        .connection
        .execute_batch("UPDATE supporters SET email2 = NULL, phone_mobile = NULL WHERE id = 2")?;
    let link = json!({ "_links": { "svc:person": { "href": format!("{BASE}people/2") } } });
    let (status, json) = tables.send("POST", "people/1/merge_helper", link).await?;
    assert!(status.is_success(), "{status} {json}");
    let body = json!({ "email_addresses": [{ "address": "ada@example.org" }] });
    let (status, json) = tables.send("PUT", "people/1", body).await?;
    assert!(status.is_success(), "{status} {json}");
    let sign_up = json!({ "person": { "email_addresses": [{ "address": "eve@example.org" }] } });
    let (status, json) = tables.send("POST", "people/person_signup", sign_up).await?;
    assert!(status.is_success(), "{status} {json}");
    assert_ne!(
        tables.text("SELECT deleted_at FROM supporters WHERE id = 2")?,
        "Null",
        "{}",
        json["_links"]["self"]
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_address_does_not_get_the_status_of_a_removed_one() -> TestResult {
    let consent = Column::new("opt_in").flag("subscribed", "unsubscribed");
    let first = entry().field("address", "email").field("status", consent);
    let tables = Tables::new(one(people().entries(
        "email_addresses",
        [first, entry().field("address", "email2")],
    )))
    .await?;
    for body in [
        json!([{ "address": "ada@example.org", "status": "subscribed" }]),
        json!([]),
        json!([{ "address": "b@example.org", "status": null }]),
    ] {
        let (status, json) = tables
            .send("PUT", "people/1", json!({ "email_addresses": body }))
            .await?;
        assert_eq!(status, StatusCode::OK, "{json}");
    }
    let json = tables.get("people/1").await?;
    assert_ne!(json["email_addresses"][0]["status"], "subscribed");
    Ok(())
}

/// HLP-04: a number of a type that the table does not have is omitted, and the action is recorded.
#[tokio::test(flavor = "multi_thread")]
async fn a_number_of_another_type_is_omitted() -> TestResult {
    let tables = Tables::new(wide::mapping()).await?;
    let sign_up = json!({ "person": { "email_addresses": [{ "address": "new@example.org" }],
        "phone_numbers": [{ "number": "12025550142", "number_type": "Work" }] } });
    let (status, json) = tables.send("POST", "people/person_signup", sign_up).await?;
    assert_eq!(status, StatusCode::OK, "{json}");
    assert!(json.to_string().contains("ENTRIES_OMITTED"), "{json}");
    let body = json!({ "phone_numbers": [{ "number": "12025550142", "number_type": "Work" }] });
    let (status, json) = tables.send("POST", "people", body).await?;
    assert_eq!(status, StatusCode::BAD_REQUEST, "{json}");
    Ok(())
}
