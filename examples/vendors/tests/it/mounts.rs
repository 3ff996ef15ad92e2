//! Runs the mounting examples and sends requests to them.

use std::path::Path;

use crate::support::client::{Client, link};
use crate::support::program::Program;
use crate::support::{Raw, TestResult, own_loopback_address};

/// Returns the key in the `curl` command that an example prints.
fn key(program: &Program) -> TestResult<&str> {
    let (_, rest) = program.said.split_once("SVC-API-Token: ").ok_or("no key")?;
    Ok(rest.split('\'').next().ok_or("no quote")?)
}

/// Posts a person, and reads it at the URL of the response.
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
        "The pages of the existing program."
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

/// Returns a program that is stopping and accepts no more connections, and a connection with a
/// request whose body it waits for.
async fn stopping(folder: &Path) -> TestResult<(Program, Raw)> {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_axum_mount"));
    let listen = own_loopback_address().to_string();
    let program = Program::start(command.arg(listen).arg(folder.join("a.db")))?;
    let (address, key) = (program.address()?, key(&program)?);
    let mut raw = Raw::connect(address).await?;
    let head = format!(
        "POST /api/v1/people HTTP/1.1\r\nHost: localhost\r\nSVC-API-Token: {key}\r\nContent-Length: 33\r\n"
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

/// UND-42: after SIGTERM, the server of `svc_tower` completes open requests and rejects new ones.
#[tokio::test]
async fn und_42_sigterm_drains() -> TestResult {
    let folder = tempfile::tempdir()?;
    let (program, mut raw) = stopping(folder.path()).await?;
    raw.send(r#"{"person": {"given_name": "Ada"}}"#).await?;
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

/// UND-42: a second signal stops the server immediately.
#[tokio::test]
async fn und_42_a_second_signal_ends_at_once() -> TestResult {
    let folder = tempfile::tempdir()?;
    let (program, mut raw) = stopping(folder.path()).await?;
    program.terminate()?;
    // The body never arrived; the server would have waited for it for half a minute, and then
    // responded.
    assert!(raw.rest().await?.is_empty());
    assert!(program.end()?.0.success());
    Ok(())
}
