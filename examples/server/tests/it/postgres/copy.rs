//! `svc-demo copy`: copies a file completely into PostgreSQL, even after interruptions.
//! `.ci/postgres` runs it.

use std::collections::HashMap;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use svc_core::auth::{Authenticator as _, Caller, Credentials};
use svc_core::duplicates::PersonKeyKind;
use svc_core::link::RecordAddress;
use svc_core::model::Kind;
use svc_core::page::{ListRequest, PageRequest};
use svc_core::raw::RawDraft;
use svc_core::store::{LookupKey, Store as _, WriteOperation, WriteOutcome, WriteRequest};
use svc_core::value::Timestamp;
use svc_core::{Context, Tenant};
use svc_postgres::{KeyOptions, KeyWebhooks, PostgresOptions, PostgresStore};
use svc_server::demo::cli::DatabaseUrl;
use svc_server::demo::{CopyResult, SchemaLocation, StartupError, copy};
use svc_store::compare::compare_stores;
use svc_store::store_testkit::StoreTests;

use super::support::{self, ClosedPort, until};
use crate::support::TestResult;
use crate::support::demo::demo;
use crate::support::program::{KEY, Program, outcome};

/// Creates a file with the data of the demo in two tenants, with the demo itself.
fn seeded(path: &Path, people: u32) -> TestResult {
    let other = format!("other={KEY}-other");
    let people = people.to_string();
    let program = Program::demo(path, &["--seed-people", &people, "--key", &other])?;
    program.terminate()?;
    assert!(program.end()?.0.success());
    Ok(())
}

fn open(path: &Path) -> svc_sqlite::SqliteStore {
    svc_sqlite::SqliteStore::open(svc_sqlite::SqliteOptions::new(path).shared()).expect("the file")
}

fn cx(tenant: &Tenant) -> Context {
    Context::new(tenant.clone(), Caller::anonymous(), Timestamp::now())
}

/// Returns a schema in the format of the command.
fn place(url: &str, schema: &str) -> Result<SchemaLocation, StartupError> {
    SchemaLocation::at("--to", &DatabaseUrl::from(url.to_owned()), Some(schema))
}

/// Returns the options of a store in the schema, with timeouts for a busy machine.
fn options(place: &SchemaLocation) -> PostgresOptions {
    place.options().busy_timeout(Duration::from_secs(60))
}

/// Returns the command for a schema.
fn command(path: &Path, url: &str, schema: &str) -> Command {
    let mut command = demo(path);
    command
        .args(["copy", "--from"])
        .arg(path)
        .args(["--to", url, "--schema", schema]);
    command
}

/// Returns each table of a schema with its number of rows, except for tables without an equivalent
/// in the file.
fn rows(server: &support::server::Server, schema: &str) -> Vec<String> {
    let tables = [
        "record",
        "identifier",
        "email",
        "text_key",
        "part",
        "holder",
        "alias",
        "person_key",
        "shared_key",
        "apart",
        "merge",
        "outbox",
        "api_key",
        "tenant",
    ];
    // The file reads the keys of e-mail addresses from `email`.
    let email = PersonKeyKind::Email.code();
    let counts = tables.map(|table| {
        let counted = match table {
            "person_key" => format!("count(*) FILTER (WHERE sort <> {email})"),
            _ => "count(*)".to_owned(),
        };
        format!("SELECT '{table}', {counted} FROM {schema}.{table}")
    });
    server
        .psql(&counts.join(" UNION ALL "))
        .lines()
        .map(str::to_owned)
        .collect()
}

/// Returns the same for the file.
fn rows_of_file(path: &Path) -> TestResult<Vec<String>> {
    let file = rusqlite::Connection::open(path)?;
    let count = |table: &str| -> TestResult<i64> {
        Ok(
            file.query_row(&format!("SELECT count(*) FROM {table}"), (), |row| {
                row.get(0)
            })?,
        )
    };
    let mut records = 0;
    for kind in Kind::ALL {
        records += count(kind.plural())?;
    }
    let mut rows = vec![format!("record|{records}")];
    for table in [
        "identifier",
        "email",
        "text_key",
        "part",
        "holder",
        "alias",
        "person_key",
        "shared_key",
        "apart",
        "merge",
        "outbox",
        "api_key",
        "tenant",
    ] {
        rows.push(format!("{table}|{}", count(table)?));
    }
    Ok(rows)
}

async fn same(
    file: &svc_sqlite::SqliteStore,
    copy: &PostgresStore,
    tenant: &Tenant,
) -> TestResult<String> {
    match compare_stores(file, copy, tenant, |_| {}).await? {
        Ok(compared) => Ok(compared.digest),
        Err(difference) => Err(format!("{}: {difference}", tenant.as_str()).into()),
    }
}

/// Applies all requests of the server to both stores: their outcomes are the same.
async fn goes_on_alike(
    file: &svc_sqlite::SqliteStore,
    copied: &PostgresStore,
    tenant: &Tenant,
) -> TestResult {
    let cx = cx(tenant);
    let people = file
        .list(
            &cx,
            Kind::Person,
            &ListRequest::all(PageRequest::new(1, 40)),
        )
        .await?;
    let newest = people
        .records
        .iter()
        .map(|person| person.meta().modified)
        .max()
        .expect("people");
    let mut known = 0;
    for person in &people.records {
        let fields = person.to_fields_lossy(file.share_names());
        let Some(email) = svc_core::helper::emails(&fields).next() else {
            continue;
        };
        let key = LookupKey::Email(email);
        let (here, there) = (file.find(&cx, &key).await?, copied.find(&cx, &key).await?);
        assert_eq!(
            here.map(|it| it.meta().id.clone()),
            there.map(|it| it.meta().id.clone())
        );
        known += 1;
    }
    assert!(known > 20, "{known}");
    // A new record is later than all copied ones, and is counted.
    let made = copied
        .write(
            &cx,
            WriteRequest::new(&cx, WriteOperation::Create(RawDraft::empty(Kind::Person))),
        )
        .await?;
    let WriteOutcome::Created {
        record,
        is_new: true,
    } = made
    else {
        panic!("{made:?}")
    };
    assert!(record.meta().created > newest);
    let after = copied
        .list(&cx, Kind::Person, &ListRequest::all(PageRequest::new(1, 1)))
        .await?;
    assert_eq!(after.total, people.total + 1);
    copied
        .write(
            &cx,
            WriteRequest::new(&cx, WriteOperation::Delete(record.address())),
        )
        .await?;
    // Cascades of people and events depend on tables and links that are not part of a record.
    let events = file
        .list(&cx, Kind::Event, &ListRequest::all(PageRequest::new(1, 2)))
        .await?;
    for at in people
        .records
        .iter()
        .chain(&events.records)
        .map(svc_core::raw::RawRecord::address)
    {
        let delete =
            |at: &RecordAddress| WriteRequest::new(&cx, WriteOperation::Delete(at.clone()));
        let (told, meant) = (
            file.write(&cx, delete(&at)).await,
            copied.write(&cx, delete(&at)).await,
        );
        assert_eq!(told.is_ok(), meant.is_ok(), "{at:?}: {told:?} {meant:?}");
    }
    same(file, copied, tenant).await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn a_file_moves_whole_and_stops_and_goes_on_as_often_as_it_likes() -> TestResult {
    let server = support::server();
    let (folder, schema) = (tempfile::tempdir()?, server.schema());
    let path = folder.path().join("demo.db");
    seeded(&path, 1500)?;
    let file = open(&path);
    let tenants = file.tenants()?;
    assert_eq!(tenants.len(), 2);
    let issued = file
        .create_key(&tenants[0], KeyOptions::new("kept").read_only())
        .await?;
    let gone = file
        .create_key(&tenants[0], KeyOptions::new("revoked"))
        .await?;
    assert!(
        file.revoke_key(&gone.id, KeyWebhooks::Disable)
            .await?
            .was_in_force
    );
    let to = || place(&server.url(), &schema);

    // The copy ends after each part, and resumes; a copy that is dropped within a part also does.
    let waits = format!(
        "SELECT count(*) FROM pg_locks WHERE relation = to_regclass('{schema}.record') AND NOT granted"
    );
    let (mut ends, mut last) = (0, HashMap::new());
    let copied = loop {
        if ends % 3 == 2 {
            let holder = support::client(&server.url()).await;
            holder
                .batch_execute(&format!("BEGIN; LOCK TABLE {schema}.record IN SHARE MODE"))
                .await?;
            let place = to()?;
            tokio::select! {
                copied = copy(&path, &place, |_| true) => panic!("it has written: {copied:?}"),
                () = until("a part waits", async || server.psql(&waits) != "0") => {}
            }
            holder.batch_execute("COMMIT").await?;
        }
        let place = to()?;
        let part = copy(&path, &place, |step| {
            let before = last.get(step.tenant).copied().unwrap_or_default();
            assert!(
                step.done <= step.all && (step.verifies || step.done >= before),
                "{step:?}"
            );
            if !step.verifies {
                last.insert(step.tenant.to_owned(), step.done);
            }
            step.verifies
        });
        match part.await? {
            None => ends += 1,
            copied => break copied,
        }
        assert!(ends < 100);
    };
    let copied = copied.expect("it is complete");
    assert!(ends > 3, "{ends}");
    assert!(copied[0].records > 5000, "{copied:?}");
    assert_eq!(rows(server, &schema), rows_of_file(&path)?);

    let target = PostgresStore::connect(options(&to()?)).await?;
    assert_eq!(target.tenants().await?, tenants);
    for (tenant, copied) in tenants.iter().zip(&copied) {
        assert_eq!(same(&file, &target, tenant).await?, copied.digest);
        assert_eq!(copied.tenant, tenant.as_str());
    }
    // UND-15: the same tokens are valid, and revoked keys stay revoked.
    for (token, is_taken) in [(KEY, true), (&*issued.token, true), (&*gone.token, false)] {
        let (headers, extensions) = (http::HeaderMap::new(), http::Extensions::new());
        let credentials = || Credentials::new(Some(token), &headers, &extensions, Timestamp::now());
        let (here, there) = (
            file.authenticate(credentials()).await?,
            target.authenticate(credentials()).await?,
        );
        assert_eq!(here.is_some(), is_taken);
        assert_eq!(format!("{here:?}"), format!("{there:?}"));
    }
    assert_eq!(target.list_keys(None).await?, file.list_keys(None)?);
    for (name, value) in file.metadata_entries()? {
        assert_eq!(target.metadata(&name).await?, Some(value));
    }

    // A second copy changes nothing, and compares again.
    let numbers = || {
        server.psql(&format!(
            "SELECT tenant, seq, clock FROM {schema}.ledger ORDER BY tenant"
        ))
    };
    let before = numbers();
    let (status, said, errors) = outcome(&mut command(&path, &server.url(), &schema))?;
    assert!(status.success(), "{errors}");
    assert_eq!(
        said.matches("copied earlier and verified again without differences")
            .count(),
        2,
        "{said}"
    );
    assert!(
        said.contains(&copied[0].digest)
            && !said.contains("keys")
            && !said.contains("A server is running"),
        "{said}"
    );
    assert_eq!(numbers(), before);
    for tenant in &tenants {
        goes_on_alike(&file, &target, tenant).await?;
    }
    Ok(())
}

/// A file that is copied again: keys are updated, changed records are reported, and a database in
/// use is not changed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn what_changed_after_a_copy_is_told() -> TestResult {
    let server = support::server();
    let (folder, schema) = (tempfile::tempdir()?, server.schema());
    let path = folder.path().join("demo.db");
    seeded(&path, 100)?;
    let file = open(&path);
    let tenants = file.tenants()?;
    let tenant = &tenants[0];
    let revoked = file
        .create_key(tenant, KeyOptions::new("revoked later"))
        .await?;
    let to = || place(&server.url(), &schema);
    let again = async || -> TestResult<(CopyResult, usize)> {
        let copied = copy(&path, &to()?, |_| true)
            .await?
            .expect("it is complete");
        Ok((copied[0].state, copied[0].keys))
    };
    assert_eq!(again().await?.0, CopyResult::Copied);
    assert_eq!(again().await?, (CopyResult::Same, 0));

    let added = file
        .create_key(tenant, KeyOptions::new("added later"))
        .await?;
    file.revoke_key(&revoked.id, KeyWebhooks::Disable).await?;
    assert_eq!(again().await?, (CopyResult::Same, 2));
    assert_eq!(again().await?, (CopyResult::Same, 0));
    let target = PostgresStore::connect(options(&to()?)).await?;
    for (token, is_taken) in [(&added.token, true), (&revoked.token, false)] {
        let (headers, extensions) = (http::HeaderMap::new(), http::Extensions::new());
        let caller = target
            .authenticate(Credentials::new(
                Some(token),
                &headers,
                &extensions,
                Timestamp::now(),
            ))
            .await?;
        assert_eq!(caller.is_some(), is_taken);
    }

    // Another client works with the copy: it cannot be compared, and is not changed.
    let create = WriteRequest::new(
        &cx(tenant),
        WriteOperation::Create(RawDraft::empty(Kind::Person)),
    );
    target.write(&cx(tenant), create.clone()).await?;
    let before = rows(server, &schema);
    assert_eq!(again().await?, (CopyResult::InUse, 0));
    assert_eq!(rows(server, &schema), before);

    // The file is used again: new records are not copied, and the command reports this.
    let program = Program::demo(&path, &[])?;
    let (status, said, errors) = outcome(&mut command(&path, &server.url(), &schema))?;
    assert!(
        status.success() && said.contains("A server is running on the file"),
        "{said}{errors}"
    );
    program.terminate()?;
    assert!(program.end()?.0.success());
    file.write(&cx(tenant), create).await?;
    let (status, said, errors) = outcome(&mut command(&path, &server.url(), &schema))?;
    assert!(!status.success(), "{said}");
    assert!(
        errors.contains("changed in the file since it was copied") && errors.contains("--schema"),
        "{errors}"
    );
    assert_eq!(rows(server, &schema), before);
    Ok(())
}

/// Any history is copied and works: sums, parts, holders, links that are not sent, and the outbox.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn whatever_there_may_be_moves() -> TestResult {
    let server = support::server();
    let (folder, schema) = (tempfile::tempdir()?, server.schema());
    let path = folder.path().join("data.db");
    let made = svc_sqlite::SqliteStore::open(svc_sqlite::SqliteOptions::new(&path))?;
    let number = AtomicU32::new(0);
    let histories = StoreTests::new().histories(16).calls(80).seed(7_000);
    let checked = histories.check(async || {
        let number = number.fetch_add(1, Ordering::Relaxed);
        let one = made
            .ensure_tenant(&format!("one{number}"))
            .await
            .expect("a tenant");
        (
            made.clone(),
            [
                one,
                made.ensure_tenant(&format!("two{number}"))
                    .await
                    .expect("a tenant"),
            ],
        )
    });
    checked.await?;
    drop(made);
    let to = || place(&server.url(), &schema);
    let copied = copy(&path, &to()?, |_| true)
        .await?
        .expect("it is complete");
    assert!(
        copied.iter().map(|copied| copied.records).sum::<u64>() > 300,
        "{copied:?}"
    );
    let counts = rows_of_file(&path)?;
    assert_eq!(rows(server, &schema), counts);
    let is_seen = |table: &&str| !counts.iter().any(|count| *count == format!("{table}|0"));
    assert!(
        ["part", "holder", "outbox", "identifier", "email"]
            .iter()
            .all(is_seen),
        "{counts:?}"
    );
    let (file, target) = (open(&path), PostgresStore::connect(options(&to()?)).await?);
    for tenant in file.tenants()? {
        let cx = cx(&tenant);
        let first = ListRequest::all(PageRequest::new(1, 1000));
        let mut all = file.list(&cx, Kind::Person, &first).await?.records;
        for kind in [Kind::Event, Kind::Form, Kind::FundraisingPage] {
            all.extend(file.list(&cx, kind, &first).await?.records);
        }
        // None of these requests has a date.
        for at in all.iter().map(svc_core::raw::RawRecord::address) {
            let delete = || WriteRequest::new(&cx, WriteOperation::Delete(at.clone()));
            let (told, meant) = (
                file.write(&cx, delete()).await,
                target.write(&cx, delete()).await,
            );
            assert_eq!(told.is_ok(), meant.is_ok(), "{at:?}: {told:?} {meant:?}");
        }
        same(&file, &target, &tenant).await?;
    }
    assert_eq!(rows(server, &schema), rows_of_file(&path)?);
    Ok(())
}

/// The program is killed within a part, as by a power failure, and started again until the copy is
/// complete.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn a_copy_that_is_killed_goes_on() -> TestResult {
    const LOCK: &str = "4711";
    let server = support::server();
    let (folder, schema) = (tempfile::tempdir()?, server.schema());
    let path = folder.path().join("demo.db");
    seeded(&path, 2500)?;
    // The last statement of a part waits for a lock once the number of allowed parts is used up.
    PostgresStore::connect(options(&place(&server.url(), &schema)?)).await?;
    server.psql(&format!(
        "CREATE TABLE {schema}.allowed AS SELECT 0 AS parts; \
         CREATE FUNCTION {schema}.waits() RETURNS trigger LANGUAGE plpgsql AS 'DECLARE remain int; BEGIN \
         UPDATE {schema}.allowed SET parts = parts - 1 RETURNING parts INTO remain; \
         IF remain < 0 THEN PERFORM pg_advisory_xact_lock_shared(TG_RELID::int, {LOCK}); END IF; RETURN NEW; END'; \
         CREATE TRIGGER waits BEFORE INSERT ON {schema}.meta FOR EACH ROW WHEN (NEW.name LIKE '%restored.%') \
         EXECUTE FUNCTION {schema}.waits()"
    ));
    let lock = format!("'{schema}.meta'::regclass::oid::int, {LOCK}");
    let waits = format!(
        "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted \
         AND classid = '{schema}.meta'::regclass AND objid = {LOCK}"
    );
    let holder = support::client(&server.url()).await;
    let mut kills = 0;
    let said = loop {
        server.psql(&format!("UPDATE {schema}.allowed SET parts = 1"));
        holder
            .batch_execute(&format!("SELECT pg_advisory_lock({lock})"))
            .await?;
        let mut child = command(&path, &server.url(), &schema)
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()?;
        let mut status = None;
        until("the program has ended or waits", async || {
            status = child.try_wait().expect("its state");
            status.is_some() || server.psql(&waits) != "0"
        })
        .await;
        if status.is_none() {
            child.kill()?;
        }
        let output = child.wait_with_output()?;
        holder
            .batch_execute(&format!("SELECT pg_advisory_unlock({lock})"))
            .await?;
        if let Some(status) = status {
            assert!(
                status.success(),
                "{}",
                String::from_utf8_lossy(&output.stderr)
            );
            break String::from_utf8_lossy(&output.stdout).into_owned();
        }
        kills += 1;
        assert!(kills < 100);
    };
    assert!(kills > 2, "{kills}");
    assert_eq!(said.matches("SHA-256").count(), 2, "{said}");
    assert_eq!(rows(server, &schema), rows_of_file(&path)?);
    Ok(())
}

/// Data of other programs, and writes during the copy, are reported in a line. Nothing is mixed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn what_does_not_fit_is_refused() -> TestResult {
    let server = support::server();
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("demo.db");
    seeded(&path, 600)?;
    let schema = server.schema();
    let to = || place(&server.url(), &schema);
    let refused = async |text: &str| -> TestResult {
        let trouble = copy(&path, &to()?, |_| true).await.expect_err(text);
        assert!(trouble.to_string().contains(text), "{trouble}");
        assert!(trouble.remedy().contains("--schema"), "{trouble}");
        Ok(())
    };
    // The tenant has its own person.
    let target = PostgresStore::connect(options(&to()?)).await?;
    let tenant = target.ensure_tenant("demo").await?;
    let create = WriteRequest::new(
        &cx(&tenant),
        WriteOperation::Create(RawDraft::empty(Kind::Person)),
    );
    target.write(&cx(&tenant), create.clone()).await?;
    let before = rows(server, &schema);
    refused("contains data of the tenant demo that does not come from this copy").await?;
    assert_eq!(before[0], rows(server, &schema)[0]);

    // Another client writes into an incomplete copy.
    let schema = server.schema();
    let to = || place(&server.url(), &schema);
    assert_eq!(copy(&path, &to()?, |_| false).await?, None);
    let target = PostgresStore::connect(options(&to()?)).await?;
    target.write(&cx(&tenant), create.clone()).await?;
    let trouble = copy(&path, &to()?, |_| true)
        .await
        .expect_err("another client wrote");
    assert!(
        trouble.what().contains("that does not come from this copy"),
        "{trouble}"
    );

    // Another client writes into the file.
    let schema = server.schema();
    let to = || place(&server.url(), &schema);
    assert_eq!(copy(&path, &to()?, |_| false).await?, None);
    let file = open(&path);
    file.write(&cx(&tenant), create).await?;
    let trouble = copy(&path, &to()?, |_| true)
        .await
        .expect_err("the file was written to");
    assert!(
        trouble
            .what()
            .contains("were changed in the file since the copy began"),
        "{trouble}"
    );

    // The share objects have other names.
    let schema = server.schema();
    let names = svc_core::link::ShareNames::new("one_share", "two_share").expect("names");
    PostgresStore::connect(
        PostgresOptions::new(&server.url())?
            .schema(&schema)
            .share_names(names),
    )
    .await?;
    let trouble = copy(&path, &place(&server.url(), &schema)?, |_| true)
        .await
        .expect_err("other names");
    assert!(trouble.what().contains("one_share"), "{trouble}");

    // No server responds. The password is not printed.
    let closed = ClosedPort::new();
    let url = format!(
        "postgres://svc:planted-password@127.0.0.1:{}/postgres",
        closed.number()
    );
    let (status, said, errors) = outcome(&mut command(&path, &url, "svc"))?;
    assert!(!status.success() && errors.contains("hint:"), "{errors}");
    assert!(
        !said.contains("planted") && !errors.contains("planted"),
        "{said}{errors}"
    );
    Ok(())
}
