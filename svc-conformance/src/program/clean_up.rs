//! `clean-up`: deletes the records that a run left on the server.

use std::fmt::Write as _;

use super::cli::CleanUpArgs;
use super::{ProgramError, say, settings};
use crate::clean_up;
use crate::error::SuiteError;
use crate::values::display_text;

pub(super) async fn clean_up(options: CleanUpArgs) -> Result<u8, ProgramError> {
    let keys = settings::keys(&options.access)?;
    if let Err(error) = std::fs::File::open(&options.journal) {
        return Err(ProgramError::usage(format!(
            "{} cannot be read: {error}. `run` writes its journal to the folder of `--output-dir`, which is \
             `out` by default",
            options.journal.display()
        )));
    }
    let target =
        |base: &str| match settings::target_of(base, options.url.as_deref(), &options.access) {
            Ok(target) if target.base() == base => Ok(target),
            Ok(target) => Err(SuiteError::Usage(format!(
                "The journal belongs to a run against {base}, not {}.",
                target.base()
            ))),
            Err(trouble) => Err(SuiteError::Usage(trouble.text)),
        };
    let cleaned = clean_up::clean_up_from_journal(&options.journal, keys, target)
        .await
        .map_err(|error| match error {
            // The journal is a file that the command line names.
            SuiteError::Journal(error) => {
                ProgramError::usage(format!("{}: {error}", options.journal.display()))
            }
            other => other.into(),
        })?;
    let mut text = format!(
        "clean-up: {} of {} records removed\n",
        cleaned.removed, cleaned.created
    );
    for (address, reason) in &cleaned.left {
        let _ = writeln!(
            text,
            "  left: {} ({})",
            display_text(address, 200),
            display_text(reason, 300)
        );
    }
    say(&text);
    if cleaned.left.is_empty() {
        let _ = std::fs::remove_file(&options.journal);
    }
    Ok(if cleaned.failed { 6 } else { 0 })
}
