//! `replay`: sends the requests of a failure again.

use std::sync::Arc;

use super::cli::ReplayArgs;
use super::{ProgramError, say, settings};
use crate::outcome::RequirementOutcome;
use crate::replay::Replay;

pub(super) async fn replay(options: ReplayArgs) -> Result<u8, ProgramError> {
    let replay = Replay::from_json(&settings::text(&options.file)?)
        .map_err(|error| ProgramError::usage(format!("{}: {error}", options.file.display())))?;
    let target = settings::target_of(&replay.base, options.url.as_deref(), &options.access)?;
    let keys = settings::keys(&options.access)?;
    let mut suite = replay.suite(Arc::clone(&target), keys.clone());
    if options.allow_writes {
        suite = suite.allow_writes(true);
    }
    if replay.has_writes() && !suite.prepare().await?.settings.writes {
        let text = "The replay writes to a server that is not on this machine, or that links to another machine. Allow it with --allow-writes.";
        return Err(ProgramError::usage(text));
    }
    say(&format!(
        "{} {}: {}\n\n",
        replay.row,
        replay.check,
        crate::values::display_text(&replay.message, 1500)
    ));
    let steps = replay
        .send(target.as_ref(), &keys)
        .await
        .map_err(|error| ProgramError::new(error.exit_code(), error.to_string()))?;
    say(&format!("{steps}\n"));
    let report = suite.run().await?;
    let row = report
        .requirement(&replay.row)
        .ok_or_else(|| ProgramError::usage(format!("There is no requirement {}.", replay.row)))?;
    let reason = crate::values::display_text(&row.reason, 1500);
    say(&format!(
        "\nthe check {} again: {} {} {reason}\n",
        replay.check, row.id, row.outcome
    ));
    Ok(match row.outcome {
        RequirementOutcome::Fail => 1,
        RequirementOutcome::Pass | RequirementOutcome::Warn => 0,
        RequirementOutcome::Error => 5,
        _ => 3,
    })
}
