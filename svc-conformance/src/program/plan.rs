//! `plan`: what a run would do.

use super::cli::RunOptions;
use super::{Trouble, say, settings};

pub(super) async fn plan(options: RunOptions) -> Result<u8, Trouble> {
    let plan = settings::suite(&options)?.plan().await?;
    say(&format!("{plan}\n"));
    Ok(
        if plan.checks.iter().any(|check| check.left_out.is_none()) {
            0
        } else {
            3
        },
    )
}
