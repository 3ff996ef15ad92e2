//! The demo with a PostgreSQL database instead of its file: it behaves the same, and never prints
//! the password of the URL.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use svc_conformance::{Intensity, Keys, Remote, Suite};
use tempfile::{TempDir, tempdir};

use super::support::pgbouncer::Bouncer;
use super::support::server::Server;
use super::support::{self, ClosedPort, until};
use crate::support::client::{Client, link};
use crate::support::demo::bare_demo;
use crate::support::program::{KEY, Program, outcome};
use crate::support::{Answer, Raw, TestResult};

/// The password in each URL. [`Program`] searches its output for it.
const PASSWORD: &str = "PLANTED-password";

/// A separate schema of the server, and a cache folder for the demo.
struct Place {
    url: String,
    schema: String,
    cache: TempDir,
}

impl Place {
    fn new(server: &Server) -> TestResult<Self> {
        let url = server.url().replace("svc@", &format!("svc:{PASSWORD}@"));
        Ok(Self {
            url,
            schema: server.schema(),
            cache: tempdir()?,
        })
    }

    fn demo(&self, arguments: &[&str]) -> Command {
        let mut command = bare_demo();
        // The password is also hidden at this log level.
        command
            .env("XDG_CACHE_HOME", self.cache.path())
            .env("RUST_LOG", "trace");
        command
            .args(["--database", &self.url, "--schema", &self.schema])
            .args(arguments);
        command
    }

    fn start(&self, arguments: &[&str]) -> TestResult<Program> {
        let program = Program::start(self.demo(&["--port", "0"]).args(arguments))?.loaded()?;
        assert!(!program.said.contains(PASSWORD), "{}", program.said);
        Ok(program)
    }

    /// Returns the output of a command.
    fn says(&self, arguments: &[&str]) -> TestResult<String> {
        let (status, out, errors) = outcome(&mut self.demo(arguments))?;
        assert!(status.success() && !out.contains(PASSWORD), "{out}{errors}");
        assert_eq!(errors, "");
        Ok(out)
    }

    /// Returns the error message of a start or a command that must fail.
    fn refused(&self, arguments: &[&str]) -> TestResult<String> {
        let (status, out, errors) = outcome(&mut self.demo(arguments))?;
        assert_eq!(status.code(), Some(1), "{out}{errors}");
        assert!(
            errors.contains("  where: ") && errors.contains("  hint: "),
            "{errors}"
        );
        assert!(
            !out.contains("PLANTED") && !errors.contains("PLANTED"),
            "{out}{errors}"
        );
        assert!(errors.lines().count() == 3, "{errors}");
        Ok(errors)
    }

    fn keys_files(&self) -> Vec<PathBuf> {
        let all = std::fs::read_dir(self.cache.path().join("svc-demo"))
            .into_iter()
            .flatten();
        all.filter_map(|file| Some(file.ok()?.path())).collect()
    }
}

async fn get(program: &Program, path: &str) -> TestResult<Answer> {
    let mut raw = Raw::connect(program.address()?).await?;
    raw.send(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n"))
        .await?;
    raw.answer().await
}

/// Returns the keys that a start prints.
fn tokens(program: &Program) -> Vec<String> {
    program
        .said
        .split_whitespace()
        .filter(|word| word.starts_with("svck_"))
        .map(str::to_owned)
        .collect()
}

/// A client that repeats a request after 503, as the API requires.
///
/// Requirements: UND-36.
struct Patient(Client);

impl Patient {
    async fn connect(program: &Program, key: Option<&str>) -> TestResult<Self> {
        Ok(Self(Client::connect(program.address()?, key).await?))
    }

    async fn send(
        &mut self,
        method: &str,
        address: &str,
        body: Option<&Value>,
    ) -> TestResult<Answer> {
        loop {
            let answer = self.0.send(method, address, body).await?;
            if answer.status != 503 {
                return Ok(answer);
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    async fn get(&mut self, address: &str) -> TestResult<Value> {
        let answer = self.send("GET", address, None).await?;
        assert_eq!(answer.status, 200, "{address}: {}", answer.text());
        Ok(serde_json::from_slice(&answer.body)?)
    }

    async fn post(&mut self, address: &str, body: &Value) -> TestResult<Value> {
        let answer = self.send("POST", address, Some(body)).await?;
        assert!(
            (200..300).contains(&answer.status),
            "{address}: {}",
            answer.text()
        );
        Ok(serde_json::from_slice(&answer.body)?)
    }

    async fn walk(&mut self, collection: &str) -> TestResult<Vec<Value>> {
        let (mut next, mut members) = (Some(format!("{collection}?per_page=100")), Vec::new());
        while let Some(address) = next {
            let page = self.get(&address).await?;
            let embedded = page["_embedded"]
                .as_object()
                .and_then(|all| all.values().next())
                .ok_or("no members")?;
            members.extend(embedded.as_array().ok_or("no array")?.iter().cloned());
            next = link(&page, "next").ok();
        }
        Ok(members)
    }
}

async fn people(program: &Program, key: &str) -> TestResult<u64> {
    let mut client = Patient::connect(program, Some(key)).await?;
    let people = client.get(&format!("{}people", program.base_url)).await?;
    Ok(people["total_records"].as_u64().ok_or("no total")?)
}

#[tokio::test]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn everything_is_as_with_the_file() -> TestResult {
    let server = support::server();
    let place = Place::new(server)?;
    let program = place.start(&["--seed-people", "20"])?;
    let shown = format!(
        "  data         postgres://127.0.0.1:{}/postgres, schema {}\n",
        server.port(),
        place.schema
    );
    assert!(program.said.contains(&shown), "{}", program.said);
    let keys = tokens(&program);
    assert!(
        keys.len() >= 2 && program.said.contains("(demo, read-only)"),
        "{}",
        program.said
    );
    assert_eq!(people(&program, &keys[0]).await?, 20);

    // A signature with a key and one without.
    let mut client = Patient::connect(&program, Some(&keys[0])).await?;
    let petition = client
        .walk(&format!("{}petitions", program.base_url))
        .await?
        .remove(0);
    let (helper, signatures) = (
        link(&petition, "svc:record_signature_helper")?,
        link(&petition, "svc:signatures")?,
    );
    let total = client.get(&signatures).await?["total_records"]
        .as_u64()
        .ok_or("no total")?;
    let signature = |name: &str| {
        let address = format!("{name}@example.org");
        json!({"comments": "PLANTED", "person": {"given_name": name, "email_addresses": [{"address": address}]}})
    };
    client.post(&helper, &signature("ada")).await?;
    Patient::connect(&program, None)
        .await?
        .post(&helper, &signature("grace"))
        .await?;
    assert_eq!(client.get(&signatures).await?["total_records"], total + 2);
    assert_eq!(people(&program, &keys[0]).await?, 22);
    let creator = client.get(&link(&petition, "svc:creator")?).await?;
    let new = client
        .post(
            &format!("{}petitions", program.base_url),
            &json!({"title": "A new one"}),
        )
        .await?;
    assert_eq!(
        link(&new, "svc:creator")?,
        link(&creator, "self")?,
        "keys are bound to a person"
    );
    let mut reader = Patient::connect(&program, Some(&keys[1])).await?;
    assert_eq!(
        reader
            .send("DELETE", &link(&new, "self")?, None)
            .await?
            .status,
        403
    );

    // It exists after a restart, and so do the keys.
    program.terminate()?;
    assert_eq!(program.end()?.0.code(), Some(0));
    let program = place.start(&["--seed-people", "30", "--share-names", "a_share,b_share"])?;
    assert_eq!(tokens(&program), keys);
    assert_eq!(people(&program, &keys[0]).await?, 22);
    for note in [
        "--seed-people applies to a new schema only",
        "--share-names applies to a new schema only",
    ] {
        assert!(program.said.contains(note), "{}", program.said);
    }
    program.terminate()?;
    program.end()?;

    let program = place.start(&["--seed-people", "7", "--reset"])?;
    let new = tokens(&program);
    assert!(!new.contains(&keys[0]), "{}", program.said);
    assert_eq!(people(&program, &new[0]).await?, 7);
    let mut client = Patient::connect(&program, Some(&keys[0])).await?;
    assert_eq!(
        client.send("GET", "/api/v1/people", None).await?.status,
        401
    );
    Ok(())
}

#[tokio::test]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn keys_are_managed_beside_the_server_and_kept_for_their_owner() -> TestResult {
    let server = support::server();
    let place = Place::new(server)?;
    let nothing = place.refused(&["keys", "list"])?;
    assert!(
        nothing.contains("The schema contains no data") && nothing.contains("--schema"),
        "{nothing}"
    );
    let schemas = server.psql("SELECT nspname FROM pg_namespace");
    assert!(
        !schemas.lines().any(|name| name == place.schema),
        "nothing is created: {schemas}"
    );

    let program = place.start(&["--seed-people", "3"])?;
    let path = format!("{}people", program.base_url);
    for _ in 0..3 {
        let out = place.says(&["keys", "create", "--label", "web form"])?;
        let (id, token) = (
            out.split(' ').nth(2).ok_or("no id")?,
            out.lines().nth(1).ok_or("no token")?,
        );
        let mut client = Patient::connect(&program, Some(token)).await?;
        client.get(&path).await?;
        client
            .post(
                "/api/v1/webhooks",
                &json!({"url": "https://hooks.example.org/"}),
            )
            .await?;
        let revoked = place.says(&["keys", "revoke", id])?;
        assert!(
            revoked.contains("1 webhook of the key is now disabled."),
            "HOOK-16: {revoked}"
        );
        assert_eq!(client.send("GET", &path, None).await?.status, 401, "UND-15");
        let list = place.says(&["keys", "list"])?;
        let line = list
            .lines()
            .find(|line| line.starts_with(id))
            .ok_or("not listed")?;
        assert!(
            line.contains("revoked") && line.contains("web form") && !list.contains(token),
            "{list}"
        );
        assert!(
            place
                .refused(&["keys", "revoke", id])?
                .contains("There is no active key")
        );
    }
    for (option, value) in [("--tenant", "nobody"), ("--person", "x")] {
        assert!(
            place
                .refused(&["keys", "create", option, value])?
                .contains(option),
            "{option}"
        );
    }
    // A revoked key is also removed from the file of the keys that the demo shows.
    let keys = tokens(&program);
    let [file] = place
        .keys_files()
        .try_into()
        .map_err(|files| format!("{files:?}"))?;
    let text = std::fs::read_to_string(&file)?;
    let id = text
        .lines()
        .nth(1)
        .and_then(|line| line.split('\t').next())
        .ok_or("no key")?;
    assert!(
        text.contains(&keys[0])
            && !text.contains(PASSWORD)
            && program.said.contains(&file.display().to_string())
    );
    place.says(&["keys", "revoke", id])?;
    assert!(!std::fs::read_to_string(&file)?.contains(&keys[0]));
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(
            std::fs::metadata(&file)?.permissions().mode() & 0o777,
            0o600
        );
    }
    Ok(())
}

#[tokio::test]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn metrics_tell_of_the_connections() -> TestResult {
    let server = support::server();
    let place = Place::new(server)?;
    let program = place.start(&[
        "--seed-people",
        "3",
        "--statement-mode",
        "unnamed",
        "--max-connections",
        "3",
    ])?;
    assert_eq!(people(&program, &tokens(&program)[0]).await?, 3);
    until("it is healthy", async || {
        get(&program, "/healthz")
            .await
            .is_ok_and(|answer| answer.text() == "ok\n")
    })
    .await;
    let number_in = |text: &str, name: &str| -> TestResult<f64> {
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix(name))
            .ok_or_else(|| format!("no {name}: {text}"))?;
        Ok(line.trim().parse()?)
    };
    // A request returns its connection after its client has the response.
    let mut text = String::new();
    until("the connections are idle", async || {
        text = get(&program, "/metrics").await.expect("metrics").text();
        ["svc_connections_busy ", "svc_connection_waiters "]
            .iter()
            .all(|name| number_in(&text, name).is_ok_and(|it| it == 0.0))
    })
    .await;
    let number = |name: &str| number_in(&text, name);
    assert!(
        number("svc_writes_total ")? >= 1.0 && number("svc_commit_seconds_total ")? > 0.0,
        "{text}"
    );
    assert!(
        number("svc_write_transactions_total ")? >= 1.0
            && number("svc_write_transaction_size_max ")? >= 1.0,
        "{text}"
    );
    assert!(number("svc_queued_writes ")? == 0.0, "{text}");
    assert!(
        (1.0..=3.0).contains(&number("svc_connections_idle ")?),
        "{text}"
    );
    assert!(
        !text.contains("svc_read_connections") && !text.contains(PASSWORD),
        "{text}"
    );
    let table = place.says(&["top", &program.address()?.to_string(), "--count", "1"])?;
    for row in [
        "queued writes",
        "transactions",
        "connections busy",
        "connections idle",
        "connection waits",
    ] {
        assert!(table.lines().any(|line| line.starts_with(row)), "{table}");
    }
    assert!(!table.contains("readers"), "{table}");
    Ok(())
}

#[tokio::test]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn a_database_that_goes_away_is_told_and_waited_for() -> TestResult {
    let server = Server::start();
    let place = Place::new(&server)?;
    let program = place.start(&["--seed-people", "3", "--key", &format!("demo={KEY}")])?;
    server.kill();
    let answer = get(&program, "/healthz").await?;
    assert_eq!(
        (answer.status, answer.text().as_str()),
        (503, "the database does not respond\n")
    );
    let answer = Client::connect(program.address()?, Some(KEY))
        .await?
        .send("GET", "/api/v1/people", None)
        .await?;
    assert!(
        answer.status == 503 && answer.header("retry-after").is_some(),
        "{answer:?}"
    );
    server.start_again();
    until("it is healthy", async || {
        get(&program, "/healthz")
            .await
            .is_ok_and(|answer| answer.status == 200)
    })
    .await;
    assert_eq!(people(&program, KEY).await?, 3);
    Ok(())
}

#[tokio::test]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn two_that_start_at_once_share_what_they_load() -> TestResult {
    let server = support::server();
    let place = Place::new(server)?;
    let key = format!("demo={KEY}");
    let start = || {
        Program::start(&mut place.demo(&["--port", "0", "--seed-people", "1500", "--key", &key]))
    };
    let (one, two) = (start()?, start()?);
    let (one, two) = (one.loaded()?, two.loaded()?);
    for program in [&one, &two] {
        assert_eq!(people(program, KEY).await?, 1500);
    }
    let mut client = Patient::connect(&one, Some(KEY)).await?;
    client
        .post(
            &format!("{}tags", one.base_url),
            &json!({"name": "of the first"}),
        )
        .await?;
    let tags = Patient::connect(&two, Some(KEY))
        .await?
        .walk(&format!("{}tags", two.base_url))
        .await?;
    assert!(
        tags.iter().any(|tag| tag["name"] == "of the first"),
        "a server reads what the other one has written"
    );
    Ok(())
}

/// The conformance suite over HTTP, with a direct connection and with a pooler without named
/// statements.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn the_demo_conforms_on_a_database() -> TestResult {
    let server = support::server();
    let pooler = Bouncer::is_installed().then(|| Bouncer::start(server, 8));
    let (direct, behind) = (Place::new(server)?, Place::new(server)?);
    let mut ways = vec![(direct, "prepared")];
    if let Some(pooler) = &pooler {
        ways.push((
            Place {
                url: pooler.url(),
                ..behind
            },
            "unnamed",
        ));
    }
    let other = "k-two-of-the-tenant-other";
    for (place, statements) in ways {
        let keys = format!("demo={KEY},other={other}");
        let demo = place.start(&[
            "--seed-people",
            "60",
            "--statement-mode",
            statements,
            "--key",
            &keys,
        ])?;
        let report = Suite::from_shared(Arc::new(Remote::new(&demo.base_url)?))
            .keys(Keys::primary(KEY).other_tenant(other))
            .intensity(Intensity::Quick)
            .timeout(Duration::from_secs(60))
            .seed(42)
            .run()
            .await?;
        report.assert_conformant();
        assert_eq!(report.exit_code(), 0, "{statements}: {report}");
    }
    Ok(())
}

#[tokio::test]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn reads_can_be_answered_by_a_replica() -> TestResult {
    let server = Server::start();
    let standby = server.standby("copy");
    let place = Place::new(&server)?;
    let replica = Place::new(&standby)?.url;
    let program = place.start(&[
        "--seed-people",
        "3",
        "--key",
        &format!("demo={KEY}"),
        "--replica",
        &replica,
    ])?;
    let note = format!(
        "the server sends reads to the replica 127.0.0.1:{}/postgres",
        standby.port()
    );
    assert!(program.said.contains(&note), "{}", program.said);
    let mut client = Patient::connect(&program, Some(KEY)).await?;
    for number in 0..5 {
        let tag = client
            .post(
                &format!("{}tags", program.base_url),
                &json!({"name": format!("tag {number}")}),
            )
            .await?;
        assert_eq!(
            client.get(&link(&tag, "self")?).await?["name"],
            tag["name"],
            "a client reads its own writes"
        );
    }
    Ok(())
}

#[test]
#[ignore = "needs PostgreSQL: .ci/postgres"]
fn what_a_file_needs_a_program_for_postgresql_does_itself() -> TestResult {
    let server = support::server();
    let place = Place::new(server)?;
    let backup = place.refused(&["backup", "copy.db"])?;
    assert!(
        backup.contains(&format!("pg_dump --schema={} ", place.schema)),
        "{backup}"
    );
    let compact = place.refused(&["compact"])?;
    assert!(
        compact.contains("VACUUM (FULL)") && compact.contains(&place.schema),
        "{compact}"
    );
    assert!(!Path::new("copy.db").exists());
    assert!(place.says(&["export", "schema"])?.contains("person"));
    Ok(())
}

#[test]
#[ignore = "needs PostgreSQL: .ci/postgres"]
fn a_database_that_cannot_be_used_is_told_with_what_to_do() -> TestResult {
    let server = support::server();
    let place = Place::new(server)?;
    let in_schema = |url: String, schema: &str| -> TestResult<Place> {
        Ok(Place {
            url,
            schema: schema.to_owned(),
            cache: tempdir()?,
        })
    };
    let start = ["--port", "0", "--seed-people", "1"];
    let tell = |url: String, what: &str, remedy: &str| -> TestResult {
        for more in [&[][..], &["--reset"]] {
            let said = in_schema(url.clone(), &place.schema)?.refused(&[&start, more].concat())?;
            assert!(said.contains(what) && said.contains(remedy), "{said}");
        }
        Ok(())
    };
    let closed = ClosedPort::new();
    let gone = format!(
        "postgres://svc:{PASSWORD}@127.0.0.1:{}/postgres",
        closed.number()
    );
    tell(gone, "Connection refused", "Check the host and port")?;
    let nowhere = format!("postgres://svc:{PASSWORD}@nowhere.invalid/postgres");
    tell(
        nowhere,
        "postgres://nowhere.invalid:5432/postgres, schema",
        "PostgreSQL is running",
    )?;
    tell(
        place.url.replace("/postgres", "/nobodys"),
        "\"nobodys\" does not exist",
        "createdb",
    )?;
    tell(
        place.url.replace("svc:", "nobody:"),
        "role \"nobody\" does not exist",
        "user and password",
    )?;
    tell(
        format!("{}?sslmode=require", place.url),
        "TLS",
        "sslmode=disable",
    )?;
    tell(
        place.url.replace("postgres://", "mysql://"),
        "cannot be read",
        "postgres://user:password@host",
    )?;
    let said = in_schema(place.url.clone(), "A-b")?.refused(&start)?;
    assert!(
        said.contains("--schema A-b") && said.contains("lower-case"),
        "{said}"
    );
    let said = place.refused(&["--port", "0", "--data", "a.db"])?;
    assert!(said.contains("--data, --database"), "{said}");

    drop(place.start(&["--seed-people", "1"])?);
    let migration = format!("{}.migration", place.schema);
    server.psql(&format!(
        "INSERT INTO {migration} SELECT 4711, name, checksum, applied FROM {migration} LIMIT 1"
    ));
    for arguments in [&start[..], &["keys", "list"]] {
        let said = place.refused(arguments)?;
        assert!(
            said.contains("version 4711") && said.contains("Use a newer program."),
            "{said}"
        );
    }
    Ok(())
}
