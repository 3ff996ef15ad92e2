//! The mounting examples run and answer.

use std::path::Path;

use crate::support::client::{Client, link};
use crate::support::program::Program;
use crate::support::{Raw, TestResult, own_loopback_address};

/// The key in the `curl` line that an example prints.
fn key(program: &Program) -> TestResult<&str> {
    let (_, rest) = program.said.split_once("SVC-API-Token: ").ok_or("no key")?;
    Ok(rest.split('\'').next().ok_or("no quote")?)
}

/// Posts a person, and finds it under the address that the answer names.
async fn serves(program: &Program) -> TestResult {
    let mut client = Client::connect(program.address()?, Some(key(program)?)).await?;
    let entry = client.get(&program.base_url).await?;
    let people = link(&entry, "svc:people")?;
    assert!(people.starts_with(&program.base_url), "{people}");
    let made = client
        .post(
            &people,
            &serde_json::json!({"person": {"given_name": "Ada"}}),
        )
        .await?;
    let found = client.get(&link(&made, "self")?).await?;
    assert_eq!(found["given_name"], "Ada");
    assert!(
        client
            .get(&format!("{}nothing", program.base_url))
            .await
            .is_err()
    );
    Ok(())
}

#[tokio::test]
async fn in_axum_under_a_prefix() -> TestResult {
    let folder = tempfile::tempdir()?;
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_axum_mount"));
    let mut program = Program::start(command.arg("127.0.0.1:0").arg(folder.path().join("a.db")))?;
    serves(&program).await?;
    let mut raw = Raw::connect(program.address()?).await?;
    raw.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        .await?;
    assert_eq!(
        raw.answer().await?.text(),
        "The pages of the program that was there before."
    );
    program.kill()
}

#[tokio::test]
async fn under_bare_hyper() -> TestResult {
    let folder = tempfile::tempdir()?;
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_hyper_mount"));
    let mut program = Program::start(command.arg("127.0.0.1:0").arg(folder.path().join("h.db")))?;
    serves(&program).await?;
    program.kill()
}

/// A program that was told to stop and takes no more connections, and one that it has, with a
/// request whose body it waits for.
async fn stopping(folder: &Path) -> TestResult<(Program, Raw)> {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_axum_mount"));
    let listen = own_loopback_address().to_string();
    let program = Program::start(command.arg(listen).arg(folder.join("a.db")))?;
    let (address, key) = (program.address()?, key(&program)?);
    let mut raw = Raw::connect(address).await?;
    let head = format!(
        "POST /api/v1/people HTTP/1.1\r\nHost: localhost\r\nSVC-API-Token: {key}\r\nContent-Length: 14\r\n"
    );
    raw.send(format!("{head}Expect: 100-continue\r\n\r\n"))
        .await?;
    assert_eq!(raw.answer().await?.status, 100);
    program.terminate()?;
    while Raw::connect(address).await.is_ok() {
        tokio::task::yield_now().await;
    }
    Ok((program, raw))
}

/// UND-42: SIGTERM lets the server of `svc_tower` answer who is waiting, and refuse who comes.
#[tokio::test]
async fn und_42_sigterm_drains() -> TestResult {
    let folder = tempfile::tempdir()?;
    let (program, mut raw) = stopping(folder.path()).await?;
    raw.send(r#"{"person": {}}"#).await?;
    let answer = raw.answer().await?;
    assert_eq!(
        (answer.status, answer.header("connection")),
        (201, Some("close")),
        "{}",
        answer.text()
    );
    assert!(program.end()?.0.success());
    Ok(())
}

/// UND-42: a second signal waits for nobody.
#[tokio::test]
async fn und_42_a_second_signal_ends_at_once() -> TestResult {
    let folder = tempfile::tempdir()?;
    let (program, mut raw) = stopping(folder.path()).await?;
    program.terminate()?;
    // The body never came, for which the server would have waited half a minute, and then answered.
    assert!(raw.rest().await?.is_empty());
    assert!(program.end()?.0.success());
    Ok(())
}
