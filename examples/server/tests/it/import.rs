//! `svc-demo import`: imports a CSV file of people, reports each rejected row, and a repeated
//! import does nothing twice.
//!
//! Requirements: BAT-06, BAT-08.

use std::fmt::Write as _;
use std::fs;
use std::net::Ipv4Addr;
use std::path::Path;
use std::process::Command;

use tokio::net::TcpSocket;

use crate::support::TestResult;
use crate::support::client::Client;
use crate::support::program::{KEY, Program, outcome};

fn demo(folder: &Path) -> TestResult<Program> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_svc-demo"));
    command
        .args(["--port", "0", "--seed-people", "0", "--key"])
        .arg(format!("test={KEY}"));
    Program::start(command.arg("--data").arg(folder.join("demo.db")))?.loaded()
}

fn import(to: &str, file: &Path, key: &str, more: &[&str]) -> TestResult<(bool, String)> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_svc-demo"));
    command
        .arg("import")
        .arg(file)
        .args(["--url", to, "--map", "given_name=First,email=E-Mail"])
        .args(more);
    let (status, out, errors) = outcome(command.env("SVC_DEMO_IMPORT_KEY", key))?;
    Ok((status.success(), out + &errors))
}

async fn people(demo: &Program) -> TestResult<u64> {
    let mut client = Client::connect(demo.address()?, Some(KEY)).await?;
    Ok(
        client.get("/api/v1/people?per_page=1").await?["total_records"]
            .as_u64()
            .ok_or("no total")?,
    )
}

#[tokio::test]
async fn a_table_of_people_is_imported_once() -> TestResult {
    let folder = tempfile::tempdir()?;
    let demo = demo(folder.path())?;
    let file = folder.path().join("people.csv");
    let mut table = "First,family_name,E-Mail,gender,Shoe size\n".to_owned();
    for row in 0..600 {
        let gender = if row % 100 == 7 { "nothing known" } else { "" };
        writeln!(
            table,
            "Ada,\"King,\n{row}\",ada.{row}@example.org,{gender},38"
        )?;
    }
    fs::write(&file, &table)?;
    let (is_done, said) = import(&demo.base_url, &file, KEY, &["--dry-run"])?;
    assert!(
        is_done
            && said.contains("\"address\": \"ada.0@example.org\"")
            && said.contains("Shoe size"),
        "{said}"
    );
    let before = people(&demo).await?;
    let (is_done, said) = import(&demo.base_url, &file, KEY, &[])?;
    assert!(is_done && said.contains("594 rows, 6 rejected"), "{said}");
    assert_eq!(people(&demo).await? - before, 594);
    let refused = fs::read_to_string(folder.path().join("people.csv.refused.csv"))?;
    let mut rows = csv::Reader::from_reader(refused.as_bytes());
    assert_eq!(
        rows.headers()?.iter().take(4).collect::<Vec<_>>(),
        ["line", "reason", "First", "family_name"]
    );
    let rows: Vec<_> = rows.records().collect::<Result<_, _>>()?;
    assert_eq!(rows.len(), 6);
    // Each row has two lines, and the head has one.
    assert_eq!((&rows[0][0], &rows[0][3]), ("16", "King,\n7"));
    assert!(rows[0][1].contains("gender"), "{:?}", rows[0]);
    let (is_done, again) = import(&demo.base_url, &file, KEY, &[])?;
    assert_eq!((is_done, again), (true, said), "the same as before");
    assert_eq!(
        people(&demo).await? - before,
        594,
        "BAT-06: nothing is imported twice"
    );
    Ok(())
}

#[tokio::test]
async fn what_cannot_be_imported_says_why() -> TestResult {
    let folder = tempfile::tempdir()?;
    let demo = demo(folder.path())?;
    let file = folder.path().join("people.csv");
    fs::write(&file, "First,E-Mail\nAda,ada@example.org\n")?;
    let (is_done, said) = import(&demo.base_url, &file, "another-key", &[])?;
    assert!(
        !is_done && said.contains("401") && said.contains("SVC_DEMO_IMPORT_KEY"),
        "{said}"
    );
    let (is_done, said) = import(&demo.base_url, &file, "", &[])?;
    assert!(
        !is_done && said.contains("There is no API key in "),
        "{said}"
    );
    let (is_done, said) = import(&demo.base_url, &file, KEY, &["--map", "family_name=Last"])?;
    assert!(
        !is_done && said.contains("no column `Last`, only First, E-Mail"),
        "{said}"
    );
    // A reserved port without a server.
    let reserved = TcpSocket::new_v4()?;
    reserved.bind((Ipv4Addr::LOCALHOST, 0).into())?;
    let (is_done, said) = import(
        &format!("http://{}/", reserved.local_addr()?),
        &file,
        KEY,
        &[],
    )?;
    assert!(!is_done && said.contains("The server at "), "{said}");
    Ok(())
}
