//! The command-line program: `svc-conformance run URL` and its other commands.

mod ask;
mod catalogue;
mod clean_up;
mod cli;
mod compare;
mod config;
mod diff;
mod explain;
mod files;
mod init;
mod list;
mod plan;
mod probe;
mod profiles;
mod progress;
mod replay;
mod results;
mod run;
mod settings;
mod snapshots;
mod watch;

use std::ffi::OsString;
use std::fmt;
use std::process::ExitCode;

use svc_declaration::visible;

use crate::error::SuiteError;
use cli::Command;

/// Runs the program with the arguments of the process. The exit codes are those of
/// [`Report::exit_code`](crate::Report::exit_code) and [`SuiteError::exit_code`].
#[must_use]
pub fn main() -> ExitCode {
    let given: Vec<OsString> = std::env::args_os().collect();
    let cli = if ask::can_ask(&given) {
        None
    } else {
        Some(config::cli(&given))
    };
    let cli = match cli.transpose() {
        Ok(cli) => cli,
        Err(trouble) => return ended(Err(trouble)),
    };
    let runtime = match tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => {
            return ended(Err(ProgramError::new(
                5,
                format!("The asynchronous runtime cannot start: {error}"),
            )));
        }
    };
    ended(runtime.block_on(async {
        match cli {
            Some(cli) => command(cli.command).await,
            None => ask::ask().await,
        }
    }))
}

async fn command(command: Command) -> Result<u8, ProgramError> {
    match command {
        Command::Init(options) => init::init(options).await,
        Command::Run(options) => run::run(*options).await,
        Command::Watch(options) => watch::watch(*options).await,
        Command::Plan(options) => plan::plan(*options).await,
        Command::Probe(options) => probe::probe(options).await,
        Command::Replay(options) => replay::replay(options).await,
        Command::CleanUp(options) => clean_up::clean_up(options).await,
        Command::List(options) => list::list(&options),
        Command::Profiles(options) => Ok(profiles::profiles(&options)),
        Command::Catalogue { folder } => catalogue::catalogue(&folder),
        Command::Results(options) => results::results(&options),
        Command::Explain { what } => explain::explain(&what),
        Command::Compare(options) => compare::compare(&options),
        Command::Diff { old, new } => diff::diff(&old, &new),
    }
}

fn ended(result: Result<u8, ProgramError>) -> ExitCode {
    match result {
        Ok(code) => ExitCode::from(code),
        Err(trouble) => {
            note(&format!("svc-conformance: {trouble}\n"));
            ExitCode::from(trouble.code)
        }
    }
}

/// The error with which the program ends without a result.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ProgramError {
    code: u8,
    text: String,
}

impl ProgramError {
    fn new(code: u8, text: impl Into<String>) -> Self {
        Self {
            code,
            text: text.into(),
        }
    }

    /// Returns the error for invalid arguments or unreadable files (exit code 2).
    fn usage(text: impl Into<String>) -> Self {
        Self::new(2, text)
    }
}

impl fmt::Display for ProgramError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl From<SuiteError> for ProgramError {
    fn from(error: SuiteError) -> Self {
        let hint = match &error {
            SuiteError::NotPublished(_) => {
                "; create one with `svc-conformance probe URL` and pass it with --declaration FILE"
            }
            _ => "",
        };
        Self::new(error.exit_code(), format!("{error}{hint}"))
    }
}

/// Prints text to standard output, with invisible characters shown by name.
fn say(text: &str) {
    write(&visible(text));
}

/// Prints text to standard error, with invisible characters shown by name.
fn note(text: &str) {
    eprint!("{}", visible(text));
}

/// Prints a document to standard output unchanged. A closed pipe is not an error.
fn write(text: &str) {
    use std::io::Write as _;
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}
