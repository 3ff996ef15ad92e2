//! Random histories of write requests on mapped tables and on the store in memory: equal outcomes
//! and equal reads. `SVC_LAWS` is the number of histories, and `SVC_LAWS_SEED` the seed of the
//! first.
//!
//! The tables have a column for each field and link that a mapping supports, and no constraints
//! except those that a mapping requires. So the mapping narrows nothing, and the store in memory is
//! a model of it.

use std::{
    fmt::Write as _,
    path::Path,
    sync::atomic::{AtomicI64, Ordering},
};

use rusqlite::Connection;
use serde_json::json;
use svc_core::{
    Api, Tenant, Vendor,
    auth::{FixedKeys, Rights},
    helper::HelperName,
    model::Kind,
    schema::{ObjectSchema, ReferenceSpec, ValueType},
};
use svc_sql::{ListMapping, MappedStore, Mapping, TableMapping, TenantMapping};
use svc_sqlite::{DIALECT, SqliteDatabase};
use svc_store::store_testkit::{Exclusion, StoreTests};
use svc_tower::SvcService;

use crate::mapped::{TestResult, call};

/// The fields that a mapping does not support: tickets.
const TICKETS: [(Kind, &str); 2] = [
    (Kind::Event, "ticket_levels"),
    (Kind::Attendance, "tickets"),
];

/// The fields that are lists in rows of a table of their own. A mapping can also store a list in a
/// JSON column.
const LISTS: [(Kind, &str); 2] = [
    (Kind::Person, "email_addresses"),
    (Kind::Question, "responses"),
];

/// Returns whether a mapping supports a reference: a link to a record that is not below another one.
fn is_mapped(reference: &ReferenceSpec) -> bool {
    reference.is_link && reference.kind.schema().path_parent.is_none()
}

/// Returns the names and SQL types of the writable fields of an object.
fn columns(schema: &'static ObjectSchema) -> impl Iterator<Item = (&'static str, &'static str)> {
    let fields = schema.fields.iter().filter(|field| !field.is_computed());
    fields.map(|field| (field.name, DIALECT.column_type(&field.ty)))
}

/// The mapping of a kind, and the SQL that creates its tables.
fn table(kind: Kind) -> (TableMapping, String) {
    let (schema, name) = (kind.schema(), kind.singular());
    let (table_name, mut sql) = (format!("t_{name}"), String::new());
    let mut mapping = TableMapping::new(kind, table_name.as_str())
        .tenant("org_id")
        .id("svc_id");
    let mut lines = vec![
        "id INTEGER PRIMARY KEY AUTOINCREMENT".to_owned(),
        "svc_id TEXT NOT NULL UNIQUE".to_owned(),
        "org_id INTEGER NOT NULL REFERENCES orgs".to_owned(),
        "created_at TEXT NOT NULL".to_owned(),
        "updated_at TEXT NOT NULL".to_owned(),
    ];
    let mut indexes = format!("CREATE INDEX i_{name} ON {table_name} (org_id, id);\n");
    for (field, sql_type) in columns(schema.fields) {
        if TICKETS.contains(&(kind, field)) {
            continue;
        }
        if LISTS.contains(&(kind, field)) {
            let spec = schema.fields.field(field).expect("a field of the table");
            let ValueType::Array(item) = spec.ty else {
                panic!("{field} is not a list");
            };
            let (rows, mut list_lines) = (format!("r_{name}_{field}"), String::new());
            let mut list = ListMapping::new(rows.as_str(), "owner_id");
            for (member, sql_type) in columns(item.object().expect("objects")) {
                list = list.field(member, format!("f_{member}"));
                _ = write!(list_lines, ", f_{member} {sql_type}");
            }
            mapping = mapping.list(field, list);
            _ = writeln!(
                indexes,
                "CREATE TABLE {rows} (id INTEGER PRIMARY KEY, \
                 owner_id INTEGER NOT NULL REFERENCES {table_name} ON DELETE CASCADE{list_lines});\n\
                 CREATE INDEX i_{rows} ON {rows} (owner_id);"
            );
            if field == "email_addresses" {
                _ = writeln!(
                    indexes,
                    "CREATE INDEX i_address ON {rows} (lower(f_address));"
                );
            }
            continue;
        }
        mapping = mapping.field(field, format!("f_{field}"));
        lines.push(format!("f_{field} {sql_type}"));
    }
    for reference in schema.references().iter().filter(|it| is_mapped(it)) {
        let (link, target) = (reference.name, reference.kind.singular());
        mapping = mapping.link(link, format!("l_{link}"));
        // Without an action, the foreign key rejects what the rules have to delete or clear first.
        lines.push(format!(
            "l_{link} INTEGER REFERENCES t_{target} DEFERRABLE INITIALLY DEFERRED"
        ));
        _ = writeln!(
            indexes,
            "CREATE INDEX i_{name}_{link} ON {table_name} (l_{link}, id);"
        );
    }
    if let Some(unique) = schema.unique_name() {
        lines.push(format!("UNIQUE (org_id, f_{})", unique.name));
    }
    if let Some([group, person]) = schema.unique_links() {
        lines.push(format!("UNIQUE (l_{group}, l_{person})"));
    }
    _ = writeln!(
        sql,
        "CREATE TABLE {table_name} (\n    {}\n);",
        lines.join(",\n    ")
    );
    sql.push_str(&indexes);
    (mapping, sql)
}

/// The kinds that have a table: all with a top-level container. Messages have schedules, which a
/// mapping does not support.
fn kinds() -> impl Iterator<Item = Kind> {
    Kind::ALL.iter().copied().filter(|kind| {
        let schema = kind.schema();
        let needed = |it: &&ReferenceSpec| Some(it.name) == schema.parent;
        *kind != Kind::Message && schema.references().iter().filter(needed).all(is_mapped)
    })
}

fn tests() -> StoreTests {
    let mut tests = StoreTests::new()
        .without(Exclusion::Helper(HelperName::Schedule))
        .without(Exclusion::Totals)
        .without(Exclusion::UndoneMerges)
        // The ids of all tenants are in one unique column.
        .without(Exclusion::ForeignIds)
        // Members are in the order of the schema.
        .without(Exclusion::MemberOrder);
    for kind in Kind::ALL.iter().copied() {
        if !kinds().any(|mapped| mapped == kind) {
            tests = tests.without(Exclusion::Kind(kind));
        }
        for reference in kind.schema().references() {
            if !is_mapped(reference) {
                tests = tests.without(Exclusion::Reference(kind, reference.name));
            }
        }
    }
    for (kind, field) in TICKETS {
        tests = tests.without(Exclusion::Field(kind, field));
    }
    tests
}

/// Creates the tables of all kinds in a file, and the store over them.
async fn mapped_store(connection: &Connection, file: &Path) -> TestResult<MappedStore> {
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.execute_batch("CREATE TABLE orgs (id INTEGER PRIMARY KEY)")?;
    let mut mapping = Mapping::new(TenantMapping::by_number("orgs"));
    for kind in kinds() {
        let (table, sql) = table(kind);
        connection.execute_batch(&sql)?;
        mapping = mapping.table(table);
    }
    let database = SqliteDatabase::open(file)?;
    MappedStore::create_library_tables(&database).await?;
    Ok(MappedStore::connect(mapping, database).await?)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn und_38_mapped_tables_are_a_store() -> TestResult {
    // Nothing is killed here, so syncs would only take time.
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir())?;
    let file = folder.path().join("crm.db");
    let connection = Connection::open(&file)?;
    let store = mapped_store(&connection, &file).await?;
    let mut clear = "PRAGMA foreign_keys = 0;".to_owned();
    for kind in kinds() {
        _ = write!(clear, "DELETE FROM t_{};", kind.singular());
    }
    let organisations = AtomicI64::new(1);
    let make = async || {
        // Ids are unique in the whole table, and the imports of all histories have the same ids.
        connection.execute_batch(&clear).expect("empty tables");
        let one = organisations.fetch_add(2, Ordering::Relaxed);
        let other = one + 1;
        connection
            .execute("INSERT INTO orgs (id) VALUES (?1), (?2)", (one, other))
            .expect("two organisations");
        (store.clone(), [Tenant::from(one), Tenant::from(other)])
    };
    for tests in tests().runs(1200) {
        let coverage = tests.check_and_count(&make).await?;
        println!("{coverage:#?}");
        assert!(coverage.records > 1_000, "{}", coverage.records);
    }
    Ok(())
}

/// A page without a currency, such as one of another program, accepts donations in the currency of
/// the donations that it has. Voided donations do not count.
///
/// Requirements: RES-donation-06.
#[tokio::test]
async fn res_donation_06_a_page_without_currency_has_that_of_its_donations() -> TestResult {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("crm.db");
    let connection = Connection::open(&file)?;
    let store = mapped_store(&connection, &file).await?;
    connection.execute("INSERT INTO orgs (id) VALUES (1)", ())?;
    let keys = FixedKeys::new().with_key("key of acme 0123456789", Tenant::from(1), Rights::all());
    let api = Api::builder(Vendor::new("Acme", "Acme CRM").namespace("acme"))
        .base_url("http://localhost/")
        .authenticator(keys);
    let service = SvcService::new(store.register(api).build()?);
    let send = async |method, path: &str, body| {
        let body = Some(body);
        let (status, response) = call(service.clone(), method, path, body).await?;
        let address = response["_links"]["self"]["href"].as_str();
        let path = address.and_then(|it| it.strip_prefix("http://localhost/"));
        TestResult::Ok((status.as_u16(), path.unwrap_or_default().to_owned()))
    };
    let (_, page) = send("POST", "fundraising_pages", json!({"title": "Spring"})).await?;
    let (_, person) = send("POST", "people", json!({"given_name": "Ada"})).await?;
    let donations = format!("{page}/donations");
    let give = async |currency: &str| {
        let links = json!({"svc:person": {"href": format!("http://localhost/{person}")}});
        let body = json!({"amount": 5, "currency": currency, "_links": links});
        send("POST", &donations, body).await
    };
    let (status, first) = give("EUR").await?;
    assert_eq!(status, 201);
    let of_page = |currency: Option<&str>| {
        let sql = "UPDATE t_fundraising_page SET f_currency = ?1";
        connection.execute(sql, [currency])
    };
    // Another program writes codes in small letters, and empty texts.
    for (own, stored) in [(None, "EUR"), (Some(""), "EUR"), (None, "eur")] {
        of_page(own)?;
        connection.execute("UPDATE t_donation SET f_currency = ?1", [stored])?;
        assert_eq!(give("USD").await?.0, 400, "{own:?} {stored}");
    }
    // The only donation can have another currency, and a voided one does not count.
    let change = json!({"currency": "GBP"});
    assert_eq!(send("PUT", &first, change).await?.0, 200);
    of_page(None)?;
    assert_eq!(give("EUR").await?.0, 400);
    assert_eq!(send("PUT", &first, json!({"voided": true})).await?.0, 200);
    of_page(None)?;
    assert_eq!(give("EUR").await?.0, 201);
    Ok(())
}
