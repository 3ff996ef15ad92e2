//! `probe`: writes a declaration for a server that publishes none.

use std::fmt::Write as _;

use super::cli::ProbeArgs;
use super::{ProgramError, config, files, note, settings, write};
use crate::error::SuiteError;
use crate::suite::Suite;

pub(super) async fn probe(options: ProbeArgs) -> Result<u8, ProgramError> {
    let url = config::entry_point(options.url.as_deref())?;
    let mut suite = Suite::from_shared(settings::target(url, &options.access)?)
        .keys(settings::keys(&options.access)?)
        .timeout(options.timeout)
        .allow_writes(options.allow_writes)
        .allow_side_effects(false);
    if let Some(rate) = options.rate {
        suite = suite.rate(rate);
    }
    if let Some(name) = &options.key_header {
        suite = suite.key_header(name);
    }
    let journal = if options.allow_writes {
        Some(files::journal(&options.output_dir)?)
    } else {
        None
    };
    if let Some(journal) = &journal {
        suite = suite.journal(journal);
    }
    let probed = match (suite.probe().await, &journal) {
        (Err(error @ SuiteError::Gone(_)), Some(journal)) => {
            return Err(files::unfinished(
                error.exit_code(),
                &error.to_string(),
                journal,
            ));
        }
        (probed, _) => probed?,
    };
    let is_json = |path: &std::path::Path| {
        path.extension()
            .is_some_and(|extension| extension == "json")
    };
    match &options.output {
        Some(path) => {
            let text = if is_json(path) {
                probed.to_json()
            } else {
                probed.to_toml()
            };
            let broken = |error| {
                ProgramError::new(5, format!("{} cannot be written: {error}", path.display()))
            };
            std::fs::write(path, text).map_err(broken)?;
        }
        None => write(&probed.to_toml()),
    }
    let cleaned = &probed.clean_up;
    let mut text = format!(
        "{} requests, {} of {} records removed\n",
        probed.requests, cleaned.removed, cleaned.created
    );
    for one in &probed.notes {
        let _ = writeln!(text, "note: {}", crate::values::display_text(one, 400));
    }
    for (address, reason) in &cleaned.left {
        let _ = writeln!(
            text,
            "left: {} ({})",
            crate::values::display_text(address, 200),
            crate::values::display_text(reason, 300)
        );
    }
    note(&text);
    if let Some(journal) = journal.filter(|_| cleaned.left.is_empty()) {
        files::remove_journal(&journal, &options.output_dir);
    }
    Ok(if cleaned.failed { 6 } else { 0 })
}
