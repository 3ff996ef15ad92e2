//! The stateful search: a tour through the operations of each relation, then random sequences of
//! operations. After each step, the server is compared with the model.

use proptest::strategy::{Strategy, ValueTree};

use super::prelude::*;
use crate::generate::runner;
use crate::model::{self, Choice, ModelMismatch, ModelStep};

/// The maximum number of executions of the first shrinking.
const MOST_SHRINKS: usize = 16;

/// The requirements that sequences of requests can violate.
#[rustfmt::skip]
const SEQUENCES: &[&str] = &[
    ids::COL_11, ids::COL_12, ids::COL_13, ids::COL_14, ids::COL_15, ids::COL_16, ids::COL_17, ids::COL_18, ids::COL_23,
    ids::COL_31, ids::CRU_14, ids::CRU_15, ids::CRU_17, ids::CRU_22, ids::ERR_11, ids::ERR_13, ids::ERR_15, ids::CRU_19,
    ids::TYP_13, ids::TYP_15, ids::AUT_02, "field:person.", "field:petition.", "field:event.", "field:form.",
    "field:fundraising_page.", "field:question.", "field:share_page.", "field:advocacy_campaign.", "field:signature.",
    "field:submission.", "field:donation.", "field:outreach.", "field:attendance.",
];

pub(super) const CHECKS: &[Check] =
    &[check!("mod/sequences", SEQUENCES, sequences).needs("*.create and *.read")];

async fn sequences(cx: &CheckContext) -> Result<(), CheckStop> {
    for steps in model::tours(cx) {
        if let Some((steps, found)) = differs(cx, &steps).await? {
            let (steps, found) = if cx.is_repetition() {
                (steps, found)
            } else {
                model::shortened(cx, steps, found).await?
            };
            return Err(told(cx, &steps, &found, "a tour"));
        }
    }
    for case in 0..cx.cases(6, 40, 300) {
        let random = &mut runner(cx.seed(&format!("sequence {case}")));
        let Ok(mut tree) = model::choices(cx.cases(16, 28, 60)).new_tree(random) else {
            continue;
        };
        let steps = model::resolve(cx, &tree.current());
        let Some((steps, found)) = differs(cx, &steps).await? else {
            continue;
        };
        let (steps, found) = if cx.is_repetition() {
            (steps, found)
        } else {
            let (steps, found) = simpler(cx, &mut tree, steps, found).await?;
            model::shortened(cx, steps, found).await?
        };
        return Err(told(
            cx,
            &steps,
            &found,
            &format!("{} random sequences", case.saturating_add(1)),
        ));
    }
    Ok(())
}

/// Returns the steps and the first difference from the model, if there is one.
async fn differs(
    cx: &CheckContext,
    steps: &[ModelStep],
) -> Result<Option<(Vec<ModelStep>, ModelMismatch)>, CheckStop> {
    let executed = model::execute(cx, steps).await?;
    for row in &executed.held {
        cx.observe(row, true, String::new);
    }
    Ok(executed.difference.map(|found| (steps.to_vec(), found)))
}

/// Records a difference. The first attempt provides the smallest case; another attempt shows
/// whether it occurs again.
fn told(
    cx: &CheckContext,
    steps: &[ModelStep],
    found: &ModelMismatch,
    found_in: &str,
) -> CheckStop {
    if cx.is_repetition() {
        cx.observe_with_cause(
            &found.row,
            false,
            || found.message.clone(),
            || found.cause.clone(),
        );
        return CheckStop::Failed;
    }
    let rel = |name: &str| cx.declared().rel(name);
    let mut lines: Vec<String> = steps.iter().map(|step| step.line(&rel)).collect();
    if let Some(last) = lines.last_mut() {
        last.push_str("   <- ");
        last.push_str(&found.message);
    }
    cx.breaks(
        &found.row,
        || format!("{} (found in {found_in})", found.message),
        &lines,
        found.cause.clone(),
    );
    CheckStop::Failed
}

/// The first shrinking, by proptest, over the choices.
async fn simpler(
    cx: &CheckContext,
    tree: &mut impl ValueTree<Value = Vec<Choice>>,
    steps: Vec<ModelStep>,
    found: ModelMismatch,
) -> Result<(Vec<ModelStep>, ModelMismatch), CheckStop> {
    let mut best = (steps, found);
    let mut moved = tree.simplify();
    for _ in 0..MOST_SHRINKS {
        if !moved {
            break;
        }
        let steps = model::resolve(cx, &tree.current());
        let executed = model::execute(cx, &steps).await?;
        match executed
            .difference
            .filter(|difference| difference.row == best.1.row)
        {
            Some(difference) => {
                best = (steps, difference);
                moved = tree.simplify();
            }
            None => moved = tree.complicate(),
        }
    }
    Ok(best)
}
