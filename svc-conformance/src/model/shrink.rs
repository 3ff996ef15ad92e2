//! The second shrinking: removes steps one by one, with the steps that depend on them, while the
//! same requirement still fails.

use super::execute::execute;
use super::{ModelAction, ModelMismatch, ModelStep};
use crate::check::CheckContext;
use crate::outcome::CheckStop;

/// The maximum number of executions of one search for a smaller case.
const MOST: usize = 120;

/// Returns the shortest sequence of steps after which the same requirement fails, with the
/// difference.
pub(crate) async fn shortened(
    cx: &CheckContext,
    mut steps: Vec<ModelStep>,
    mut found: ModelMismatch,
) -> Result<(Vec<ModelStep>, ModelMismatch), CheckStop> {
    // Steps after the difference did not cause it.
    steps.retain(|step| step.id <= found.after);
    let mut budget = MOST;
    // Large parts are removed first: most steps are unrelated to the difference.
    let mut size = (steps.len() / 2).max(1);
    loop {
        let mut removed = false;
        let ids: Vec<usize> = steps.iter().rev().map(|step| step.id).collect();
        for part in ids.chunks(size) {
            if budget == 0 || !steps.iter().any(|step| part.contains(&step.id)) {
                continue;
            }
            budget = budget.saturating_sub(1);
            let fewer = without(&steps, part);
            if let Some(difference) = broken(cx, &fewer, &found.row).await? {
                (steps, found) = (fewer, difference);
                removed = true;
            }
        }
        if budget == 0 || (size == 1 && !removed) {
            break;
        }
        size = (size / 2).max(1);
    }
    // Then the members of bodies, one by one.
    for at in 0..steps.len() {
        while budget > 0 {
            let mut smaller = None;
            for fewer in smaller_bodies(&steps, at) {
                if budget == 0 {
                    break;
                }
                budget = budget.saturating_sub(1);
                if let Some(difference) = broken(cx, &fewer, &found.row).await? {
                    smaller = Some((fewer, difference));
                    break;
                }
            }
            match smaller {
                Some(smaller) => (steps, found) = smaller,
                None => break,
            }
        }
    }
    Ok((steps, found))
}

async fn broken(
    cx: &CheckContext,
    steps: &[ModelStep],
    row: &str,
) -> Result<Option<ModelMismatch>, CheckStop> {
    let executed = execute(cx, steps).await?;
    Ok(executed
        .difference
        .filter(|difference| difference.row == row))
}

/// Returns the steps without some of them and those that depend on them.
fn without(steps: &[ModelStep], ids: &[usize]) -> Vec<ModelStep> {
    let mut gone = ids.to_vec();
    let mut kept = Vec::new();
    for step in steps {
        if gone.contains(&step.id) || step.needs().iter().any(|need| gone.contains(need)) {
            gone.push(step.id);
        } else {
            kept.push(step.clone());
        }
    }
    kept
}

/// Returns variants of the steps, each without one member in the body of one step.
fn smaller_bodies(steps: &[ModelStep], at: usize) -> Vec<Vec<ModelStep>> {
    let body = steps.get(at).and_then(|step| match &step.act {
        ModelAction::Create { body, .. }
        | ModelAction::Record { body, .. }
        | ModelAction::Update { body, .. } => body.as_object(),
        ModelAction::Delete { .. } => None,
    });
    let names: Vec<String> = body
        .into_iter()
        .flatten()
        .map(|(name, _)| name.clone())
        .collect();
    let shrunk = names.iter().filter_map(|name| {
        let mut fewer = steps.to_vec();
        let body = match &mut fewer.get_mut(at)?.act {
            ModelAction::Create { body, .. } | ModelAction::Record { body, .. } => body,
            // A change without fields is not a change.
            ModelAction::Update { body, .. } if names.len() > 1 => body,
            ModelAction::Update { .. } | ModelAction::Delete { .. } => return None,
        };
        body.as_object_mut()?.remove(name);
        Some(fewer)
    });
    shrunk.collect()
}
