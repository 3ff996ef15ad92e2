//! `watch`: runs, waits until the server restarts, and runs what failed again.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, SystemTime};

use http::Uri;
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;

use super::cli::{RunArgs, WatchArgs};
use super::{ProgramError, config, run, say};
use crate::outcome::RequirementOutcome;
use crate::report::{Report, RequirementReport};
use crate::values::display_text;

/// The time between two polls of the server or the file.
const LOOK: Duration = Duration::from_millis(200);
/// The time between two connections, and before the next attempt if a server did not respond.
const APART: Duration = Duration::from_secs(1);
/// The maximum time to wait for a connection.
const CONNECT: Duration = Duration::from_secs(5);

/// The time of the last write of a file, and its length.
type FileStamp = (SystemTime, u64);
/// Host and port.
type HostPort = (String, u16);
/// The last outcome of each requirement.
type KnownOutcomes = BTreeMap<String, RequirementReport>;

pub(super) async fn watch(options: WatchArgs) -> Result<u8, ProgramError> {
    if options
        .run
        .declaration
        .as_ref()
        .is_some_and(|path| path.as_os_str() == "-")
    {
        return Err(ProgramError::usage(
            "A declaration that is read before each run must be in a file; `-` is not allowed.",
        ));
    }
    let mut before = options.on_change.as_deref().and_then(stamp);
    let first = run::run_once(&options.run).await?;
    run::write_reports(&first, &options.run)?;
    let (mut known, mut code) = (KnownOutcomes::new(), run::exit_code(&first));
    learn(&mut known, &first);
    let mut trouble: Option<ProgramError> = None;
    loop {
        tokio::select! {
            // Starts to watch before the message that it waits.
            biased;
            _ = tokio::signal::ctrl_c() => return Ok(code),
            // A server that did not respond may still be starting.
            () = tokio::time::sleep(APART), if trouble.as_ref().is_some_and(|trouble| trouble.code == 4) => {}
            restarted = restart(&options, before), if trouble.as_ref().is_none_or(|trouble| trouble.code != 4) => restarted?,
        }
        before = options.on_change.as_deref().and_then(stamp);
        trouble = match rerun_failed(&options.run, &mut known).await {
            Ok(report) => {
                code = report.map_or(1, |report| run::exit_code(&report));
                None
            }
            // Interrupted.
            Err(trouble) if trouble.code == 5 => return Err(trouble),
            Err(again) => {
                if trouble.is_none_or(|before| before.to_string() != again.to_string()) {
                    say(&format!("{again}\n"));
                }
                Some(again)
            }
        }
    }
}

/// Runs what failed. Once nothing fails, runs everything and returns the report of that run.
async fn rerun_failed(
    options: &RunArgs,
    known: &mut KnownOutcomes,
) -> Result<Option<Report>, ProgramError> {
    let failed: Vec<RequirementReport> = known
        .values()
        .filter(|row| is_red(row.outcome))
        .cloned()
        .collect();
    if !failed.is_empty() {
        // A requirement that is observed in all traffic is run with the check that found the
        // failure.
        let checks = failed
            .iter()
            .flat_map(|row| row.findings.iter().map(|finding| finding.check.clone()));
        let only = failed
            .iter()
            .map(|row| row.id.clone())
            .chain(checks)
            .collect();
        let report = run::run_once(&RunArgs {
            only,
            ..options.clone()
        })
        .await?;
        say(&learn(known, &report));
        let left: Vec<&str> = failed
            .iter()
            .map(|row| row.id.as_str())
            .filter(|id| is_known_red(known, id))
            .collect();
        if !left.is_empty() {
            say(&format!(
                "{} of {} requirements still fail: {}\n",
                left.len(),
                failed.len(),
                left.join(", ")
            ));
            return Ok(None);
        }
        say("All failed requirements are green. Everything is run once more.\n");
    }
    let report = run::run_once(options).await?;
    let changes = learn(known, &report);
    run::write_reports(&report, options)?;
    say(&changes);
    Ok(Some(report))
}

const fn is_red(outcome: RequirementOutcome) -> bool {
    matches!(
        outcome,
        RequirementOutcome::Fail | RequirementOutcome::Error
    )
}

fn is_known_red(known: &KnownOutcomes, id: &str) -> bool {
    known.get(id).is_some_and(|row| is_red(row.outcome))
}

/// Stores the outcomes of a run, and returns which requirements turned green or red.
fn learn(known: &mut KnownOutcomes, report: &Report) -> String {
    let mut text = String::new();
    for row in report.rows.iter().filter(|row| {
        !matches!(
            row.outcome,
            RequirementOutcome::Disabled | RequirementOutcome::Inconclusive
        )
    }) {
        let before = known
            .insert(row.id.clone(), row.clone())
            .map(|before| is_red(before.outcome));
        let _ = match (before, is_red(row.outcome)) {
            (Some(true), false) => writeln!(text, "green {} ({})", row.id, row.outcome),
            (Some(false), true) => {
                writeln!(text, "red   {} {}", row.id, display_text(&row.reason, 300))
            }
            _ => Ok(()),
        };
    }
    text
}

/// Waits until the server stopped and restarted, or until the file has changed and the server
/// responds.
async fn restart(options: &WatchArgs, before: Option<FileStamp>) -> Result<(), ProgramError> {
    let address = address(config::entry_point(options.run.url.as_deref())?)?;
    if let Some(path) = &options.on_change {
        say(&format!(
            "waiting for a change of {} (Ctrl-C ends)\n",
            path.display()
        ));
        while stamp(path).is_none_or(|now| Some(now) == before) {
            tokio::time::sleep(LOOK).await;
        }
    } else {
        let connection = connected(&address).await;
        say("waiting for the server to stop (Ctrl-C ends)\n");
        wait_until_stopped(&address, connection).await;
    }
    say("waiting for the server to start\n");
    while connected(&address).await.is_none() {
        tokio::time::sleep(LOOK).await;
    }
    Ok(())
}

/// Waits until the server stopped, even if another process replaced it immediately. Both of two
/// connections are then closed together. A server that closes idle connections closes them with the
/// same interval in which they were opened.
async fn wait_until_stopped(address: &HostPort, mut connection: Option<TcpStream>) {
    while let Some(mut first) = connection {
        if tokio::time::timeout(APART, closed(&mut first))
            .await
            .is_ok()
        {
            return;
        }
        let Some(mut second) = connected(address).await else {
            return;
        };
        // After a restart between the two connections, only the first one is closed.
        if tokio::time::timeout(Duration::ZERO, closed(&mut first))
            .await
            .is_ok()
        {
            return;
        }
        tokio::select! {
            () = closed(&mut first) => {}
            () = async { while connected(address).await.is_some() { tokio::time::sleep(LOOK).await } } => return,
        }
        if tokio::time::timeout(LOOK, closed(&mut second))
            .await
            .is_ok()
        {
            return;
        }
        connection = connected(address).await;
    }
}

async fn closed(connection: &mut TcpStream) {
    let _ = connection.read(&mut [0]).await;
}

/// Returns the stamp of a file. `None` while the file does not exist.
fn stamp(path: &Path) -> Option<FileStamp> {
    let found = std::fs::metadata(path).ok()?;
    Some((found.modified().ok()?, found.len()))
}

/// Returns the host and port of a URL.
fn address(url: &str) -> Result<HostPort, ProgramError> {
    let uri: Uri = url
        .parse()
        .map_err(|error| ProgramError::usage(format!("`{url}` is not a valid URL: {error}")))?;
    let host = uri
        .host()
        .unwrap_or_default()
        .trim_matches(['[', ']'])
        .to_owned();
    let port = uri
        .port_u16()
        .unwrap_or(if uri.scheme_str() == Some("https") {
            443
        } else {
            80
        });
    Ok((host, port))
}

async fn connected((host, port): &HostPort) -> Option<TcpStream> {
    tokio::time::timeout(CONNECT, TcpStream::connect((host.as_str(), *port)))
        .await
        .ok()?
        .ok()
}
