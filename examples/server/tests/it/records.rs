//! `svc-demo export people --to FILE`: writes the records of a server to a file, which an import reads.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use svc_import::{RowContent, Table};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::support::TestResult;
use crate::support::client::Client;
use crate::support::program::{KEY, Program, outcome};

/// The columns whose values a server sets.
const OF_SERVER: [&str; 3] = ["id", "created_date", "modified_date"];

fn demo(folder: &Path, people: &str) -> TestResult<Program> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_svc-demo"));
    command
        .args(["--port", "0", "--seed-people", people, "--key"])
        .arg(format!("test={KEY}"));
    Program::start(command.arg("--data").arg(folder.join("demo.db")))?.loaded()
}

fn export_command(url: &str, kind: &str, file: &Path, more: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_svc-demo"));
    command.args(["export", kind, "--url", url, "--to"]);
    command.arg(file).args(more).env("SVC_DEMO_EXPORT_KEY", KEY);
    command
}

fn export(url: &str, kind: &str, file: &Path, more: &[&str]) -> TestResult<(bool, String)> {
    let (status, out, errors) = outcome(&mut export_command(url, kind, file, more))?;
    Ok((status.success(), out + &errors))
}

/// Exports, and returns the rows.
fn exported(url: &str, kind: &str, file: &Path, more: &[&str]) -> TestResult<Vec<Row>> {
    let (is_done, said) = export(url, kind, file, more)?;
    assert!(is_done, "{said}");
    let names = fs::read_dir(file.parent().ok_or("no folder")?)?;
    for name in names {
        let name = name?.file_name().to_string_lossy().into_owned();
        assert!(!name.contains(".part"), "{name} is left");
    }
    rows(file)
}

/// The values of a row by their columns, in the order of the columns.
type Row = Vec<(String, String)>;

fn rows(file: &Path) -> TestResult<Vec<Row>> {
    let table = Table::open(file)?;
    let mut all = Vec::new();
    for row in table.rows()? {
        match row?.content {
            RowContent::Cells(cells) => {
                all.push(table.head().iter().cloned().zip(cells).collect());
            }
            other => return Err(format!("{other:?}").into()),
        }
    }
    Ok(all)
}

/// Returns rows without empty cells and what the server sets. The zeros at the end of a position have no meaning.
fn values(rows: &[Row]) -> BTreeSet<BTreeMap<String, String>> {
    let row = |row: &Row| {
        let cells = row.iter().cloned();
        let is_kept = |(name, cell): &(String, String)| {
            !cell.is_empty() && !OF_SERVER.contains(&name.as_str())
        };
        let plain = |(name, cell): (String, String)| match cell.parse::<f64>() {
            Ok(number) if name.ends_with("itude") => (name, number.to_string()),
            _ => (name, cell),
        };
        cells.filter(is_kept).map(plain).collect()
    };
    rows.iter().map(row).collect()
}

/// People with every column, and with values that formats can damage.
fn people() -> Vec<Value> {
    let address = |number: u32, status: &str| json!({"address": format!("mail.{number}@example.org"), "status": status});
    vec![
        json!({
            "identifiers": ["van:007", "other:8"],
            "given_name": "=HYPERLINK(\"http://localhost\")", "family_name": "O'Neil, \"Jo\"; x|y",
            "additional_name": "'=1", "honorific_prefix": "@", "honorific_suffix": "-", "gender": "Female",
            "gender_identity": "woman", "party_identification": "D", "source": "+1",
            "parties": [{"identification": "Dem", "active": true, "last_verified_date": "2026-01-05T09:00:00Z"},
                {"identification": "Democratic", "active": false}],
            "ethnicities": ["a, b", "c \"d\"", "'=e"], "languages_spoken": ["en-GB", "de"], "preferred_language": "de-CH",
            "browser_url": "https://example.org/?a=1&b=2", "administrative_url": "https://example.org/x",
            "birthdate": {"year": 1990, "month": 5, "day": 4}, "employer": "Line one\nline two\n\n\"line four\"",
            "employer_address": {"address_lines": ["1 Main St", "Unit 2"], "region": "BY", "postal_code": "0123",
                "location": {"latitude": 1.5, "longitude": -0.25}, "status": "Bad"},
            "email_addresses": [
                {"address": "first@example.org", "primary": true, "address_type": "work", "status": "subscribed"},
                address(2, "unsubscribed"), address(3, "bouncing"), address(4, "spam complaints"),
            ],
            "phone_numbers": [
                {"number": "493012345678", "extension": "007", "number_type": "mobile", "sms_capable": true,
                    "do_not_call": false, "primary": true, "country": "DE", "description": "=x", "operator": "O"},
                {"number": "4915112345678", "number_type": "Work", "sms_capable": false, "do_not_call": true},
            ],
            "postal_addresses": [
                {"primary": true, "address_type": "Home", "venue": "Hall, A", "address_lines": ["12 Main St,\nUnit 5", "c/o \"Ada\""],
                    "locality": "Boston", "region": "MA", "postal_code": "02110", "country": "US", "language": "en",
                    "location": {"latitude": 42.5, "longitude": -71.25, "accuracy": "Rooftop"}, "status": "Verified",
                    "last_verified_date": "2026-01-05T09:00:00Z"},
                {"address_type": "Work", "postal_code": "007", "region": "BY"},
                {"country": "DE", "status": "Past"},
            ],
            "profiles": [{"provider": "network_a", "id": "0012", "handle": "ada", "url": "https://example.org/ada"},
                {"handle": "second"}],
            "custom_fields": {"shoe size": "038", "=note": "-5", "Phone": "+49", "E-Mail": "none", "x.y[1]": "1,5", "ü": "a\tb"},
        }),
        json!({"given_name": "Nobody", "birthdate": {"month": 2, "day": 29}}),
        json!({"family_name": "１２", "birthdate": {"year": 1850}, "email_addresses": [address(9, "unsubscribed")]}),
    ]
}

/// People that are exported and imported into an empty server are the same.
#[tokio::test]
async fn an_export_is_imported_into_an_empty_server() -> TestResult {
    let folder = tempfile::tempdir()?;
    let source = demo(folder.path(), "250")?;
    let mut client = Client::connect(source.address()?, Some(KEY)).await?;
    for person in people() {
        let body = json!({"person": person, "add_tags": ["a, \"b\"", "=c"], "add_lists": ["d"]});
        for (kind, name) in [("tags", "a, \"b\""), ("tags", "=c"), ("lists", "d")] {
            let page = client.walk(&format!("/api/v1/{kind}")).await?;
            if !page.iter().any(|known| known["name"] == name) {
                client
                    .post(&format!("/api/v1/{kind}"), &json!({"name": name}))
                    .await?;
            }
        }
        client.post("/api/v1/people/person_signup", &body).await?;
    }
    let total = client.get("/api/v1/people?per_page=1").await?["total_records"].clone();
    let mut earlier = None;
    for ending in ["csv", "xlsx"] {
        let folder = folder.path().join(ending);
        fs::create_dir(&folder)?;
        let file = |name: &str| folder.join(format!("{name}.{ending}"));
        let people = exported(&source.base_url, "people", &file("source"), &[])?;
        assert_eq!(json!(people.len()), total);
        let heads: Vec<&str> = people[0].iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(
            heads[..5],
            [
                "id",
                "given_name",
                "family_name",
                "email_addresses[1].address",
                "identifiers"
            ]
        );
        let expected = values(&people);
        let tagged =
            |row: &&BTreeMap<String, String>| row.contains_key("tags") && row.contains_key("lists");
        assert!(expected.iter().filter(tagged).count() >= 3);
        let target = demo(&folder, "0")?;
        let before = values(&exported(&target.base_url, "people", &file("before"), &[])?);
        let mut import = Command::new(env!("CARGO_BIN_EXE_svc-demo"));
        import
            .arg("import")
            .arg(file("source"))
            .args(["--url", &target.base_url]);
        import.args(["--yes", "--no-identity", "--create-tags"]);
        let (status, out, errors) = outcome(import.env("SVC_DEMO_IMPORT_KEY", KEY))?;
        assert!(
            status.success() && !out.contains("left out"),
            "{out}{errors}"
        );
        assert!(
            out.contains("incomplete   0 rows") || !out.contains("incomplete"),
            "{out}"
        );
        let copied = values(&exported(&target.base_url, "people", &file("copied"), &[])?);
        let lost: Vec<_> = expected.difference(&copied).collect();
        let added: Vec<_> = copied
            .difference(&expected)
            .filter(|row| !before.contains(*row))
            .collect();
        assert!(
            lost.is_empty() && added.is_empty(),
            "lost {lost:#?}\nadded {added:#?}\n{out}"
        );
        // In CSV, formulas have a mark, and otherwise the values are those of the spreadsheet.
        let unmarked: BTreeSet<BTreeMap<String, String>> = expected
            .into_iter()
            .map(|row| {
                row.into_iter()
                    .map(|(name, cell)| (name, cell.trim_start_matches('\'').to_owned()))
                    .collect()
            })
            .collect();
        assert!(earlier.is_none_or(|earlier| earlier == unmarked));
        earlier = Some(unmarked);
    }
    Ok(())
}

/// A server that can stop to respond.
struct Gate {
    url: String,
    /// The number of requests that are still answered.
    open: Arc<AtomicUsize>,
    /// The number of requests that were not answered.
    stopped: Arc<AtomicUsize>,
}

impl Gate {
    /// Forwards requests to a server. Further ones get no response, and their connections can be closed.
    async fn before(server: &Program, is_silent: bool) -> TestResult<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let path = server.base_url.splitn(4, '/').nth(3).ok_or("no path")?;
        let gate = Self {
            url: format!("http://{}/{path}", listener.local_addr()?),
            open: Arc::new(AtomicUsize::new(usize::MAX)),
            stopped: Arc::default(),
        };
        let (open, stopped) = (Arc::clone(&gate.open), Arc::clone(&gate.stopped));
        let address = server.address()?;
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let (open, stopped) = (Arc::clone(&open), Arc::clone(&stopped));
                tokio::spawn(async move {
                    let Ok(server) = TcpStream::connect(address).await else {
                        return;
                    };
                    let (mut requests, mut to_client) = client.into_split();
                    let (mut responses, mut to_server) = server.into_split();
                    let copy = async move { tokio::io::copy(&mut responses, &mut to_client).await };
                    let copying = tokio::spawn(copy);
                    let mut request = Vec::new();
                    while matches!(requests.read_buf(&mut request).await, Ok(1..)) {
                        if !request.ends_with(b"\r\n\r\n") {
                            continue;
                        }
                        let is_open = |left: usize| left.checked_sub(1);
                        if open
                            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, is_open)
                            .is_err()
                        {
                            stopped.fetch_add(1, Ordering::Relaxed);
                            if !is_silent {
                                break;
                            }
                        } else if to_server.write_all(&request).await.is_err() {
                            break;
                        }
                        request.clear();
                    }
                    copying.abort();
                });
            }
        });
        Ok(gate)
    }

    /// Begins an export of people, and kills it when it has had this number of responses.
    async fn kill_export(&self, responses: usize, file: &Path) -> TestResult {
        self.open.store(responses, Ordering::Relaxed);
        self.stopped.store(0, Ordering::Relaxed);
        let mut command = export_command(&self.url, "people", file, &["--force"]);
        let mut child = command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        while self.stopped.load(Ordering::Relaxed) == 0 && child.try_wait()?.is_none() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        child.kill()?;
        child.wait()?;
        Ok(())
    }
}

fn part(file: &Path, ending: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

fn ids(rows: &[Row]) -> Vec<&str> {
    rows.iter().map(|row| row[0].1.as_str()).collect()
}

/// An export goes on after a server was unavailable and after it was killed, without a missing or doubled record.
#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_export_goes_on() -> TestResult {
    let folder = tempfile::tempdir()?;
    let demo = demo(folder.path(), "900")?;
    let expected = exported(
        &demo.base_url,
        "people",
        &folder.path().join("all.csv"),
        &[],
    )?;
    let file = folder.path().join("people.csv");
    let gate = Gate::before(&demo, false).await?;
    // The entry point, the capabilities, and three pages.
    gate.open.store(5, Ordering::Relaxed);
    let (is_done, said) = export(&gate.url, "people", &file, &[])?;
    assert!(
        !is_done && said.contains("was interrupted") && said.contains("same command"),
        "{said}"
    );
    assert!(!file.exists());
    let read = fs::read_to_string(part(&file, ".part"))?.lines().count();
    assert!(read > 0 && read < expected.len(), "{read}");
    // A page that was not written completely.
    let mut records = fs::OpenOptions::new()
        .append(true)
        .open(part(&file, ".part"))?;
    records.write_all(b"[{\"given_name\": \"A")?;
    gate.open.store(usize::MAX, Ordering::Relaxed);
    let (is_done, said) = export(&gate.url, "people", &file, &[])?;
    assert!(
        is_done && said.contains(&format!("after {read} records")),
        "{said}"
    );
    assert_eq!(rows(&file)?, expected);
    // Killed while it waits for a page, and while it reads tags.
    let gate = Gate::before(&demo, true).await?;
    for open in [3, 6, 14] {
        gate.kill_export(open, &file).await?;
    }
    gate.open.store(usize::MAX, Ordering::Relaxed);
    let (is_done, said) = export(&gate.url, "people", &file, &["--force"])?;
    assert!(is_done && said.contains("resumed"), "{said}");
    assert_eq!(rows(&file)?, expected);
    // A page that the server no longer knows.
    gate.kill_export(4, &file).await?;
    let state = part(&file, ".part.state");
    let mut text: Value = serde_json::from_slice(&fs::read(&state)?)?;
    text["pending"][0]["url"] = format!("{}nothing/here", gate.url).into();
    fs::write(&state, text.to_string())?;
    gate.open.store(usize::MAX, Ordering::Relaxed);
    let (is_done, said) = export(&gate.url, "people", &file, &["--force"])?;
    assert!(is_done && said.contains("restarted"), "{said}");
    assert_eq!(rows(&file)?, expected);
    assert_eq!(
        ids(&expected).iter().collect::<BTreeSet<_>>().len(),
        expected.len()
    );
    Ok(())
}

/// Actions have their person, and those below a container are read through all containers.
#[tokio::test]
async fn actions_are_exported_with_their_people() -> TestResult {
    let folder = tempfile::tempdir()?;
    let demo = demo(folder.path(), "60")?;
    let mut client = Client::connect(demo.address()?, Some(KEY)).await?;
    let donations = client.walk("/api/v1/donations").await?;
    let rows = exported(
        &demo.base_url,
        "donations",
        &folder.path().join("donations.csv"),
        &[],
    )?;
    assert_eq!(rows.len(), donations.len());
    let heads: Vec<&str> = rows[0].iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        heads[..6],
        [
            "id",
            "person.id",
            "given_name",
            "family_name",
            "email_addresses[1].address",
            "fundraising_page.id"
        ]
    );
    assert!(
        heads.contains(&"donation.amount") && heads.contains(&"donation.action_date"),
        "{heads:?}"
    );
    for (row, donation) in rows.iter().zip(&donations) {
        let person = donation["_links"]["svc:person"]["href"]
            .as_str()
            .ok_or("no person")?;
        let path = person.splitn(4, '/').nth(3).ok_or("no path")?;
        let person = client.get(&format!("/{path}")).await?;
        assert_eq!(row[2].1, person["given_name"].as_str().unwrap_or_default());
        assert_eq!(
            row[4].1,
            person["email_addresses"][0]["address"]
                .as_str()
                .unwrap_or_default()
        );
    }
    let mut signatures = 0;
    for petition in client.walk("/api/v1/petitions").await? {
        signatures += petition["total_signatures"].as_u64().ok_or("no total")?;
    }
    let file = folder.path().join("signatures.ndjson");
    let (is_done, said) = export(&demo.base_url, "signatures", &file, &[])?;
    assert!(
        is_done && said.contains(&format!("{signatures} exported")),
        "{said}"
    );
    let text = fs::read_to_string(&file)?;
    let mut petitions = BTreeSet::new();
    for line in text.lines() {
        let signature: Value = serde_json::from_str(line)?;
        assert!(signature.get("_embedded").is_none());
        petitions.insert(signature["_links"]["svc:petition"]["href"].to_string());
    }
    assert_eq!(u64::try_from(text.lines().count())?, signatures);
    assert!(petitions.len() > 1);
    Ok(())
}

#[tokio::test]
async fn columns_filters_and_wrong_options() -> TestResult {
    let folder = tempfile::tempdir()?;
    let demo = demo(folder.path(), "60")?;
    let mut client = Client::connect(demo.address()?, Some(KEY)).await?;
    let person = client.walk("/api/v1/people").await?.pop().ok_or("nobody")?;
    let address = person["email_addresses"][0]["address"]
        .as_str()
        .ok_or("no address")?;
    let filter = format!("email_address eq '{address}'");
    let file = folder.path().join("people.csv");
    let columns = [
        "--columns",
        "email_addresses.address,id",
        "--columns",
        "family_name",
        "--filter",
        &filter,
    ];
    let rows = exported(&demo.base_url, "people", &file, &columns)?;
    assert_eq!(rows.len(), 1);
    let heads: Vec<&str> = rows[0].iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(heads, ["email_addresses[1].address", "id", "family_name"]);
    assert_eq!(rows[0][0].1, address);
    let other = |name: &str| folder.path().join(name);
    for (kind, file, more, expected) in [
        ("people", file.clone(), vec![], "The file exists"),
        (
            "people",
            other("people.txt"),
            vec![],
            ".csv, .xlsx or .ndjson",
        ),
        (
            "people",
            other("a.csv"),
            vec!["--columns", "first name"],
            "email_addresses[1].address",
        ),
        (
            "donations",
            other("a.csv"),
            vec!["--columns", "amount"],
            "donation.amount",
        ),
        (
            "people",
            other("a.ndjson"),
            vec!["--columns", "id"],
            "Omit --columns",
        ),
        (
            "people",
            other("a.csv"),
            vec!["--filter", "name is 'x'"],
            "status 400",
        ),
        ("people", other("none/a.csv"), vec![], "cannot be written"),
        (
            "people",
            other("a.csv"),
            vec!["--key-file", "/none"],
            "There is no API key in /none",
        ),
        ("nobody", other("a.csv"), vec![], "unrecognized subcommand"),
    ] {
        let (is_done, said) = export(&demo.base_url, kind, &file, &more)?;
        assert!(!is_done && said.contains(expected), "{said}");
        assert!(said.lines().all(|line| !line.contains(KEY)));
    }
    assert!(!other("a.csv").exists());
    let mut wrong = export_command(&demo.base_url, "people", &other("b.csv"), &[]);
    let (status, _, errors) = outcome(wrong.env("SVC_DEMO_EXPORT_KEY", "another-key"))?;
    assert!(
        !status.success() && errors.contains("401") && errors.contains("SVC_DEMO_EXPORT_KEY"),
        "{errors}"
    );
    let (is_done, said) = export(
        &demo.base_url,
        "people",
        &file,
        &["--force", "--columns", "id"],
    )?;
    assert!(is_done, "{said}");
    // Files of other programs remain.
    fs::write(other("c.csv.part"), "mine")?;
    let (is_done, said) = export(&demo.base_url, "people", &other("c.csv"), &[])?;
    assert!(
        !is_done && said.contains("no export has written it"),
        "{said}"
    );
    assert_eq!(fs::read_to_string(other("c.csv.part"))?, "mine");
    Ok(())
}
