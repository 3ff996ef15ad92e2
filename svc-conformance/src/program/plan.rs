//! `plan`: shows what a run would do.

use super::cli::RunArgs;
use super::{ProgramError, say, settings};

pub(super) async fn plan(options: RunArgs) -> Result<u8, ProgramError> {
    let plan = settings::suite(&options)?.plan().await?;
    say(&format!("{plan}\n"));
    Ok(
        if plan.checks.iter().any(|check| check.skip_reason.is_none()) {
            0
        } else {
            3
        },
    )
}
