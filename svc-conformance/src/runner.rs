//! The runner: executes every selected check once, and a failing check again from the start. Each
//! check is isolated and limited in time.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::task::Poll;
use std::time::Duration;

use tokio::time::error::Elapsed;

use crate::catalogue::{Catalogue, Requirement};
use crate::check::{ATTEMPTS, Check, CheckContext, CheckFuture};
use crate::error::SuiteError;
use crate::outcome::{CheckStop, Finding, Observations};
use crate::plan::costs;
use crate::progress::{Progress, ProgressFn};
use crate::recorder::Exchange;
use crate::run_context::RunContext;
use crate::selection::Selection;

/// The reason of a check that did not run because the run ended at a failure.
pub(crate) const ENDED: &str = "the run ended at an earlier failure";

/// How a check ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CheckEnd {
    /// It finished, or stopped at a requirement that does not hold.
    Done,
    NotApplicable(String),
    Disabled(String),
    Inconclusive(String),
    /// The response to a step of a custom check was not as expected.
    UnexpectedResponse(String),
    /// It exceeded its time.
    TimedOut {
        after: Duration,
        why: String,
    },
    Error(String),
}

impl CheckEnd {
    /// Returns why a check did not finish. Empty if it did.
    pub(crate) fn reason(&self) -> &str {
        match self {
            Self::Done => "",
            Self::NotApplicable(why)
            | Self::Disabled(why)
            | Self::Inconclusive(why)
            | Self::UnexpectedResponse(why)
            | Self::TimedOut { why, .. }
            | Self::Error(why) => why,
        }
    }
}

/// The result of one check.
#[derive(Debug, Clone)]
pub(crate) struct CheckResult {
    pub(crate) check: Check,
    pub(crate) end: CheckEnd,
    pub(crate) seen: BTreeMap<String, Observations>,
    /// What was missing to observe a requirement.
    pub(crate) lacks: BTreeMap<String, String>,
    /// Requirements that failed in one attempt but not in another.
    pub(crate) unstable: BTreeMap<String, Vec<Finding>>,
    /// The exchanges of a failed attempt.
    pub(crate) trace: Vec<Arc<Exchange>>,
    pub(crate) requests: usize,
    pub(crate) records: usize,
    /// The choices of the server in the first attempt.
    pub(crate) pins: BTreeSet<String>,
}

/// Runs every check that is selected and applies.
///
/// # Errors
/// Returns an error if the target was stopped.
pub(crate) async fn run(
    run: &Arc<RunContext>,
    catalogue: &Catalogue,
    all: &[Check],
    selection: &Selection,
    watch: Option<&ProgressFn>,
) -> Result<Vec<CheckResult>, SuiteError> {
    let tell = |check: &str, done: usize, broken: usize| {
        if let Some(ProgressFn(watch)) = watch {
            let requests = run.recorder.count();
            let progress = Progress {
                check: check.to_owned(),
                done,
                all: all.len(),
                requests,
                broken,
                notice: None,
            };
            watch(&progress);
            run.progress
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .0 = progress;
        }
    };
    let chosen = |check: &&Check| {
        selection
            .alone
            .as_ref()
            .is_none_or(|alone| check.id == alone)
    };
    let mut order: Vec<&Check> = all.iter().filter(chosen).collect();
    if let Some(rows) = run
        .settings
        .stop_at
        .as_ref()
        .filter(|rows| !rows.is_empty())
    {
        let rows: Vec<&Requirement> = rows
            .iter()
            .filter_map(|id| catalogue.requirement(id))
            .collect();
        order.sort_by_key(|check| !rows.iter().any(|row| check.covers(row)));
    }
    let runs = order
        .iter()
        .filter(|check| reason_not_to_run(run, catalogue, all, selection, check).is_none());
    let expected = runs
        .filter_map(|check| costs(check.id, run.settings.intensity))
        .map(|(requests, _)| requests);
    run.expected
        .store(expected.fold(0, usize::saturating_add), Ordering::Relaxed);
    run.progress
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .1 = watch.cloned();
    let mut confirmed = BTreeSet::new();
    let mut ran = Vec::new();
    let mut stopped = false;
    for check in order {
        tell(check.id, ran.len(), confirmed.len());
        if stopped {
            ran.push(CheckResult::without(
                *check,
                CheckEnd::Disabled(ENDED.to_owned()),
            ));
            continue;
        }
        let one = match reason_not_to_run(run, catalogue, all, selection, check) {
            Some(end) => CheckResult::without(*check, end),
            None => attempts(run, *check, &confirmed).await,
        };
        if let Some(gone) = run.gone.get() {
            return Err(SuiteError::Gone(gone.clone() + &failed_before(&confirmed)));
        }
        let broken = || {
            one.seen
                .iter()
                .filter(|(_, seen)| !seen.violations.is_empty())
                .map(|(row, _)| row.clone())
        };
        stopped = broken().any(|id| run.ends_at(&id));
        confirmed.extend(broken());
        ran.push(one);
    }
    tell("", ran.len(), confirmed.len());
    Ok(ran)
}

/// Lists what had failed before the target was stopped.
fn failed_before(rows: &BTreeSet<String>) -> String {
    let first: Vec<&str> = rows.iter().map(String::as_str).take(5).collect();
    match rows.len().saturating_sub(first.len()) {
        _ if rows.is_empty() => String::new(),
        0 => format!(". Failed before: {}", first.join(", ")),
        more => format!(". Failed before: {} and {more} more", first.join(", ")),
    }
}

/// Returns why a check is left out of a run.
pub(crate) fn reason_not_to_run(
    run: &RunContext,
    catalogue: &Catalogue,
    all: &[Check],
    selection: &Selection,
    check: &Check,
) -> Option<CheckEnd> {
    let rows = || {
        catalogue
            .requirements()
            .iter()
            .filter(|row| check.covers(row))
            .collect::<Vec<&Requirement>>()
    };
    if !selection.is_everything() && !selection.has_check(check, &rows(), all) {
        return Some(CheckEnd::Disabled("not selected".to_owned()));
    }
    if check.intensity > run.settings.intensity {
        return Some(CheckEnd::Disabled("only at a higher intensity".to_owned()));
    }
    if check.writes && !run.settings.writes {
        return Some(CheckEnd::Disabled(
            "writes to this server are not allowed".to_owned(),
        ));
    }
    if check.side_effects && !run.settings.side_effects {
        return Some(CheckEnd::Disabled(
            "side effects are not allowed on this server".to_owned(),
        ));
    }
    match catalogue.condition(&check.condition()) {
        Ok(needs) => run
            .facts()
            .applies(&needs)
            .err()
            .map(|because| CheckEnd::NotApplicable(because.0)),
        Err(unknown) => Some(CheckEnd::Error(format!(
            "its condition `{}` is invalid",
            unknown.word
        ))),
    }
}

impl CheckResult {
    const fn without(check: Check, end: CheckEnd) -> Self {
        Self {
            check,
            end,
            seen: BTreeMap::new(),
            lacks: BTreeMap::new(),
            unstable: BTreeMap::new(),
            trace: Vec::new(),
            requests: 0,
            records: 0,
            pins: BTreeSet::new(),
        }
    }
}

/// Runs a check. If a requirement fails that has not failed before, the check runs again from the
/// start.
async fn attempts(
    run: &Arc<RunContext>,
    check: Check,
    confirmed: &BTreeSet<String>,
) -> CheckResult {
    let before = run.recorder.count();
    let records = run.journal.created();
    let closed = run.closed.load(Ordering::Relaxed);
    let (mut first, mut end) = attempt(run, check, 0).await;
    if run.closed.load(Ordering::Relaxed) != closed {
        // The server may or may not have processed a request, so the check runs again.
        (first, end) = attempt(run, check, ATTEMPTS).await;
    }
    let mut seen = first.seen();
    let mut ran = CheckResult {
        pins: first.pins(),
        lacks: first.lacking(),
        ..CheckResult::without(check, end)
    };
    let broken = |seen: &BTreeMap<String, Observations>| -> BTreeMap<String, Vec<Finding>> {
        let broken = seen.iter().filter(|(_, seen)| !seen.violations.is_empty());
        broken
            .map(|(row, seen)| (row.clone(), seen.violations.clone()))
            .collect()
    };
    let mut open = broken(&seen);
    open.retain(|row, _| !confirmed.contains(row) && run.applicable(row).is_some());
    let (from, to) = first.span();
    if (first.has_failed() || matches!(ran.end, CheckEnd::UnexpectedResponse(_))) && from > 0 {
        ran.trace = run.recorder.between(from, to);
    }
    let mut times: BTreeMap<String, usize> = open.keys().map(|row| (row.clone(), 1)).collect();
    for number in 1..ATTEMPTS {
        if run.gone.get().is_some() || times.values().all(|times| *times > 1) {
            break;
        }
        let (again, _) = attempt(run, check, number).await;
        for (row, findings) in broken(&again.seen()) {
            if confirmed.contains(&row) || run.applicable(&row).is_none() {
                continue;
            }
            let count = times.entry(row.clone()).or_default();
            *count = count.saturating_add(1);
            open.entry(row.clone()).or_default();
            // A failure that occurs only in a later attempt counts as seen. A second occurrence
            // confirms it.
            seen.entry(row.clone())
                .or_default()
                .violations
                .extend(findings.clone());
            open.entry(row).or_default().extend(findings);
        }
    }
    for (row, count) in times {
        if count < 2 {
            if let Some(seen) = seen.get_mut(&row) {
                seen.violations.clear();
            }
            ran.unstable
                .insert(row.clone(), open.remove(&row).unwrap_or_default());
        }
    }
    ran.seen = seen;
    let after = run.recorder.count();
    ran.requests = after.saturating_sub(before);
    ran.records = run.journal.created().saturating_sub(records);
    run.recorder.forget(before.saturating_add(1), after);
    ran
}

/// Runs a check once.
async fn attempt(run: &Arc<RunContext>, check: Check, number: usize) -> (CheckContext, CheckEnd) {
    let cx = CheckContext::new(Arc::clone(run), check, number);
    let limit = run.settings.check_timeout;
    let end = match within(run, limit, caught((check.run)(&cx))).await {
        Ok(Ok(Ok(()) | Err(CheckStop::Failed))) => CheckEnd::Done,
        Ok(Ok(Err(CheckStop::Inconclusive(reason)))) => CheckEnd::Inconclusive(reason),
        Ok(Ok(Err(CheckStop::Disabled(reason)))) => CheckEnd::Disabled(reason),
        Ok(Ok(Err(CheckStop::UnexpectedResponse(reason)))) => CheckEnd::UnexpectedResponse(reason),
        Ok(Err(panic)) => CheckEnd::Error(panic),
        Err(_) => CheckEnd::TimedOut {
            after: limit,
            why: format!("the check did not finish within {limit:?} (--check-timeout)"),
        },
    };
    (cx, end)
}

/// Returns the result of a future within a time. Time in which its requests wait for the rate limit
/// is not counted.
async fn within<T>(
    run: &RunContext,
    limit: Duration,
    future: impl Future<Output = T>,
) -> Result<T, Elapsed> {
    let mut future = pin!(future);
    let mut charged = run.waited();
    let mut left = limit;
    loop {
        let end = tokio::time::timeout(left, &mut future).await;
        let waited = run.waited();
        left = waited.saturating_sub(charged);
        charged = waited;
        if end.is_ok() || left.is_zero() {
            return end;
        }
    }
}

/// A future that returns a panic as an outcome. An error of the suite must not end the run.
async fn caught(mut running: CheckFuture<'_>) -> Result<Result<(), CheckStop>, String> {
    poll_fn(
        |context| match catch_unwind(AssertUnwindSafe(|| running.as_mut().poll(context))) {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(result)) => Poll::Ready(Ok(result)),
            Err(panic) => Poll::Ready(Err(message(panic.as_ref()))),
        },
    )
    .await
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "the check panicked".to_owned())
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::future::{pending, poll_fn};
    use std::task::Poll;
    use std::time::Duration;

    use bytes::Bytes;
    use http::{Request, Response};
    use http_body_util::Full;
    use tower::service_fn;

    use super::within;
    use crate::run_context::RunContext;
    use crate::suite::Suite;
    use crate::target::InProcess;

    async fn run(rate: f64) -> RunContext {
        let declaration = crate::declared::read("declaration_version = 1").expect("a declaration");
        let service = service_fn(|_: Request<Full<Bytes>>| async {
            Ok::<_, Infallible>(Response::new(Full::<Bytes>::new(Bytes::from_static(b"{}"))))
        });
        Suite::new(InProcess::new(service))
            .declaration(declaration)
            .rate(rate)
            .prepare()
            .await
            .expect("a run")
    }

    /// A low rate limit must not end a check early: the waits of its requests are not counted.
    #[tokio::test]
    async fn what_requests_wait_for_their_turn_is_not_charged() {
        let run = run(0.01).await;
        run.wait_for_rate().await;
        assert_eq!(
            run.waited(),
            Duration::ZERO,
            "the first request is sent immediately"
        );
        let mut polled = false;
        let mut turn = std::pin::pin!(run.wait_for_rate());
        // No time is left. The second request waits for the rate limit, and the check then
        // continues.
        let check = poll_fn(|context| {
            let waits = turn.as_mut().poll(context).is_pending();
            if std::mem::replace(&mut polled, true) {
                return Poll::Ready(waits);
            }
            context.waker().wake_by_ref();
            Poll::Pending
        });
        assert_eq!(within(&run, Duration::ZERO, check).await.ok(), Some(true));
        assert!(run.waited() > Duration::from_secs(50), "{:?}", run.waited());
        // Earlier waits must not extend the time of a later check.
        assert!(within(&run, Duration::ZERO, pending::<()>()).await.is_err());
    }
}
