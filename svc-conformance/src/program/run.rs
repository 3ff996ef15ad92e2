//! `run`: checks a server and reports the results.

use super::cli::RunArgs;
use super::{ProgramError, files, note, progress, say, settings, snapshots};
use crate::error::SuiteError;
use crate::formats::Format;
use crate::pins;
use crate::report::Report;

/// The exit code for a server that conforms but differs from its pins.
const DRIFT: u8 = 7;

pub(super) async fn run(options: RunArgs) -> Result<u8, ProgramError> {
    let report = run_once(&options).await?;
    write_reports(&report, &options)?;
    Ok(exit_code(&report))
}

/// Returns the exit code of the program.
pub(super) fn exit_code(report: &Report) -> u8 {
    match report.exit_code() {
        0 if !report.drift.is_empty() => DRIFT,
        code => code,
    }
}

/// Runs the suite once, with its journal and the replay files of its failures.
pub(super) async fn run_once(options: &RunArgs) -> Result<Report, ProgramError> {
    let mut suite = settings::suite(options)?;
    let earlier = files::earlier(&options.previous_report)?;
    let _tried = files::writable(options)?;
    let journal = files::journal(&options.output_dir)?;
    suite = suite.journal(&journal);
    if !options.quiet {
        suite = progress::shown(suite);
    }
    let result = tokio::select! {
        result = suite.run() => result,
        _ = tokio::signal::ctrl_c() => return Err(files::unfinished(5, "interrupted", &journal)),
    };
    let mut report = match result {
        Ok(report) => report,
        Err(error @ SuiteError::Gone(_)) => {
            return Err(files::unfinished(
                error.exit_code(),
                &error.to_string(),
                &journal,
            ));
        }
        Err(error) => {
            // Nothing was created yet.
            files::remove_journal(&journal, &options.output_dir);
            return Err(error.into());
        }
    };
    report.earlier = earlier;
    report.catalogue_url = options.catalogue_url.clone();
    files::replays(&mut report, &options.output_dir)?;
    if report.clean_up.left.is_empty() {
        files::remove_journal(&journal, &options.output_dir);
    } else {
        note(&format!(
            "Some records are left. To try again: svc-conformance clean-up {}\n",
            journal.display()
        ));
    }
    Ok(report)
}

/// Prints the report, and writes the requested report files.
pub(super) fn write_reports(report: &Report, options: &RunArgs) -> Result<(), ProgramError> {
    let on_stdout = options
        .report
        .iter()
        .any(|(_, path)| path.as_os_str() == "-");
    if !on_stdout {
        say(&report.to_format(Format::Text));
    }
    files::reports(report, &options.report)?;
    if let Some(path) = &options.result {
        files::result(report, path, options.server_name.as_deref())?;
    }
    if let Some(folder) = &options.snapshots {
        let text = snapshots::compared(&report.snapshots, folder, options.update_snapshots)?;
        if on_stdout { note(&text) } else { say(&text) }
    }
    let drift = pins::explain(&report.drift);
    if on_stdout {
        note(&drift);
    } else {
        say(&drift);
    }
    Ok(())
}
