//! Clean-up: removes what the run created and nothing else; its outcome is apart from the verdict.

use std::sync::Arc;

use serde::Serialize;

use crate::check::{Check, Cx, Stop};
use crate::run::Run;

/// Rounds over what is left: a container goes after what it contains.
const ROUNDS: usize = 4;

/// What came of clean-up.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct CleanUp {
    /// Records that the run created and did not remove itself.
    pub created: usize,
    /// Of those, how many are gone.
    pub removed: usize,
    /// Addresses that are left, each with the reason.
    pub left: Vec<(String, String)>,
    /// Whether a record is left that could have been deleted (exit code 6).
    pub failed: bool,
}

/// Clean-up was not asked for.
pub(crate) fn kept(run: &Run) -> CleanUp {
    let left = run.journal.left();
    CleanUp {
        created: left.len(),
        removed: 0,
        left: left.into_iter().map(|(own, _)| (own, "clean-up was turned off".to_owned())).collect(),
        failed: false,
    }
}

/// Removes every record of the journal, newest first.
pub(crate) async fn clean(run: &Arc<Run>) -> CleanUp {
    let check = Check::new("clean-up", &[], |_| Box::pin(async { Ok(()) }));
    let cx = Cx::new(Arc::clone(run), check, 0);
    let mut left = run.journal.left();
    let created = left.len();
    let mut reasons = Vec::new();
    let mut failed = false;
    for _ in 0..ROUNDS {
        let before = left.len();
        reasons.clear();
        failed = false;
        let mut still = Vec::new();
        for (own, marker) in left {
            match remove(&cx, &own, marker.as_deref()).await {
                Removal::Gone => run.journal.write(crate::journal::Line::Removed { own }),
                Removal::Left(reason, possible) => {
                    failed |= possible;
                    reasons.push((own.clone(), reason));
                    still.push((own, marker));
                }
            }
        }
        left = still;
        if left.is_empty() || left.len() == before {
            break;
        }
    }
    CleanUp { created, removed: created.saturating_sub(left.len()), left: reasons, failed }
}

enum Removal {
    Gone,
    /// Why it is left, and whether it could have been deleted.
    Left(String, bool),
}

/// Removes one record, after a look at whether it still is the one that the run created.
async fn remove(cx: &Cx, own: &str, marker: Option<&str>) -> Removal {
    let api = cx.api();
    let failed = |stop: Stop| Removal::Left(format!("{stop:?}"), true);
    if let Some(marker) = marker {
        let answer = match api.get(own).await {
            Ok(answer) => answer,
            Err(stop) => return failed(stop),
        };
        if answer.status == 404 {
            return Removal::Gone;
        }
        if answer.status == 200 && !answer.record().carries(marker) {
            return Removal::Left("it does not carry the marker of this run any more".to_owned(), false);
        }
    }
    match api.delete(own).await {
        Ok(answer) if matches!(answer.status, 200 | 204 | 404) => Removal::Gone,
        Ok(answer) if matches!(answer.status, 403 | 405 | 500 | 501) => {
            Removal::Left(format!("deletion is not offered: {}", answer.status), false)
        }
        Ok(answer) => Removal::Left(answer.to_string(), true),
        Err(stop) => failed(stop),
    }
}
