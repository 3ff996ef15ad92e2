//! Runs the checks as tests of `cargo test`, each with its own name (feature `harness`).

use std::collections::BTreeSet;
use std::future::Future;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use libtest_mimic::{Arguments, Failed, Trial};
use svc_declaration::visible;
use tokio::runtime::{Builder, Runtime};

use crate::error::SuiteError;
use crate::outcome::RequirementOutcome;
use crate::pins;
use crate::plan::RunPlan;
use crate::report::Report;
use crate::suite::Suite;

/// Defines the `main` of a test whose entry has `harness = false`. Every check of a suite becomes a
/// test.
///
/// ```no_run
/// use svc_conformance::{Keys, Remote, Suite};
///
/// async fn suite() -> Suite {
///     let target = Remote::new("http://127.0.0.1:8080/api/v1/").expect("an address");
///     Suite::new(target).keys(Keys::primary("k1"))
/// }
///
/// svc_conformance::harness!(suite);
/// ```
#[macro_export]
macro_rules! harness {
    ($suite:path) => {
        fn main() -> ::std::process::ExitCode {
            $crate::harness::main($suite)
        }
    };
}

/// The state that the tests share. They run one after another, because concurrent checks would
/// change each other's totals.
struct HarnessState {
    runtime: Runtime,
    suite: Suite,
    /// The MUST requirements that some test observed to hold, and those that none did.
    decided: BTreeSet<String>,
    open: BTreeSet<String>,
    ran: usize,
}

/// Lists and runs the checks of a suite as tests, with the arguments of the process.
/// [`harness!`](crate::harness!) calls it.
///
/// A check that does not apply to this server is listed as ignored. The last test, `rows/decided`,
/// reports which applicable MUST requirements no check observed. It reports nothing if only some of
/// the checks ran.
pub fn main<M, F>(make: M) -> ExitCode
where
    M: FnOnce() -> F,
    F: Future<Output = Suite>,
{
    let arguments = Arguments {
        test_threads: Some(1),
        ..Arguments::from_args()
    };
    match planned(make) {
        Ok(trials) => libtest_mimic::run(&arguments, trials).exit_code(),
        Err(error) => {
            eprintln!(
                "the conformance suite cannot start: {}",
                visible(&error.to_string())
            );
            ExitCode::from(2)
        }
    }
}

/// Runs the checks of a suite inside one test, each alone as [`main`] does, and prints their
/// findings.
///
/// # Errors
///
/// Returns an error if the suite cannot start, or if a check failed.
pub fn run<M, F>(make: M) -> Result<(), Box<dyn std::error::Error>>
where
    M: FnOnce() -> F,
    F: Future<Output = Suite>,
{
    let arguments = Arguments {
        test_threads: Some(1),
        quiet: true,
        ..Arguments::default()
    };
    match libtest_mimic::run(&arguments, planned(make)?).num_failed {
        0 => Ok(()),
        failed => Err(format!("{failed} checks failed").into()),
    }
}

/// Returns the tests of a suite and their shared state.
fn planned<M, F>(make: M) -> Result<Vec<Trial>, SuiteError>
where
    M: FnOnce() -> F,
    F: Future<Output = Suite>,
{
    let runtime = Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    let runtime = runtime.map_err(|error| SuiteError::Usage(error.to_string()))?;
    let (suite, plan) = runtime.block_on(async {
        let suite = make().await;
        let plan = suite.plan().await?;
        Ok::<_, SuiteError>((suite, plan))
    })?;
    let shared = HarnessState {
        runtime,
        suite,
        decided: BTreeSet::new(),
        open: BTreeSet::new(),
        ran: 0,
    };
    Ok(trials(&plan, &Arc::new(Mutex::new(shared))))
}

/// Returns a test for each check, and one for all requirements.
fn trials(plan: &RunPlan, shared: &Arc<Mutex<HarnessState>>) -> Vec<Trial> {
    // A requirement whose checks are all excluded is not expected to be observed.
    let left_out = |row: &str| {
        let mut checks = plan
            .checks
            .iter()
            .filter(|check| check.rows.iter().any(|id| id == row))
            .peekable();
        checks.peek().is_some() && checks.all(|check| check.skip_reason.is_some())
    };
    let hidden: BTreeSet<String> = plan
        .checks
        .iter()
        .flat_map(|check| &check.rows)
        .filter(|row| left_out(row))
        .cloned()
        .collect();
    let due = plan
        .checks
        .iter()
        .filter(|check| check.skip_reason.is_none())
        .count();
    let mut trials: Vec<Trial> = Vec::new();
    for check in &plan.checks {
        let (shared, id) = (Arc::clone(shared), check.id.clone());
        let trial = Trial::test(check.id.clone(), move || {
            let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
            shared.check(&id)
        });
        trials.push(trial.with_ignored_flag(check.skip_reason.is_some()));
    }
    let shared = Arc::clone(shared);
    trials.push(Trial::test("rows/decided", move || {
        let shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
        let open: Vec<&String> = shared
            .open
            .difference(&shared.decided)
            .filter(|row| !hidden.contains(*row))
            .collect();
        if shared.ran < due || open.is_empty() {
            return Ok(());
        }
        Err(Failed::from(format!(
            "MUST requirements that apply and that no check observed: {open:?}"
        )))
    }));
    trials
}

impl HarnessState {
    /// Runs one check alone, with the same seed and requests as in a full run.
    fn check(&mut self, id: &str) -> Result<(), Failed> {
        let suite = self.suite.clone().exactly(id);
        let report = self
            .runtime
            .block_on(suite.run())
            .map_err(|error| visible(&error.to_string()).into_owned())?;
        self.ran = self.ran.saturating_add(1);
        for row in &report.rows {
            match row.outcome {
                RequirementOutcome::Pass
                | RequirementOutcome::Warn
                | RequirementOutcome::Waived
                | RequirementOutcome::Fail => {
                    self.decided.insert(row.id.clone());
                }
                _ => {}
            }
        }
        self.open
            .extend(report.inconclusive().map(|row| row.id.clone()));
        verdict(&report)
    }
}

/// Failed requirements, and records that are left although they could be deleted, fail the test of
/// a check.
fn verdict(report: &Report) -> Result<(), Failed> {
    let wrong = report
        .with_outcome(RequirementOutcome::Fail)
        .chain(report.with_outcome(RequirementOutcome::Error))
        .next()
        .is_some();
    if wrong || report.clean_up.failed || !report.broken_waivers.is_empty() {
        return Err(Failed::from(report.to_string()));
    }
    if report.drift.is_empty() {
        Ok(())
    } else {
        Err(Failed::from(visible(&pins::explain(&report.drift))))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::convert::Infallible;

    use bytes::Bytes;
    use http::{Request, Response};
    use http_body_util::Full;
    use tokio::runtime::Builder;
    use tower::service_fn;

    use super::HarnessState;
    use crate::keys::Keys;
    use crate::suite::Suite;
    use crate::target::InProcess;

    /// A server that responds to everything with the same object fails the test of a check of its
    /// entry point. The test also includes requirements that every response is judged by.
    #[test]
    fn a_check_that_finds_something_fails_its_test() {
        let text = "declaration_version = 1\n[collections.people]\nsingular = \"person\"\noperations = [\"list\"]\n";
        let declaration = crate::declared::read(text).expect("a declaration");
        let service = service_fn(|_: Request<Full<Bytes>>| async {
            Ok::<_, Infallible>(Response::new(Full::<Bytes>::new(Bytes::from_static(b"{}"))))
        });
        let suite = Suite::new(InProcess::new(service))
            .declaration(declaration)
            .keys(Keys::primary("k"));
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime");
        let mut shared = HarnessState {
            runtime,
            suite,
            decided: BTreeSet::new(),
            open: BTreeSet::new(),
            ran: 0,
        };
        let failed = shared.check("ent/document").expect_err("a failure");
        let text = failed.message().map(ToOwned::to_owned).unwrap_or_default();
        assert!(text.contains("FAIL HAL-03"), "{text}");
        assert!(shared.decided.contains("HAL-03") && shared.ran == 1);
    }
}
