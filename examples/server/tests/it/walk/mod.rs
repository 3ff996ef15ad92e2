//! The walk that `tests/it/browser/step_export.rs` records in the explorer, exported as a Rust test and as
//! a check. Both are compiled as they were downloaded, run against a fresh demo each, and print the
//! same records (point 6 of the pages).

#[rustfmt::skip]
mod recorded_check;
#[rustfmt::skip]
mod recorded_walk;

use std::process::Command;
use std::time::Duration;

use svc_conformance::{Keys, Remote, Suite};

use crate::support::TestResult;
use crate::support::program::{KEY, outcome};
use crate::support::walk::{RECORDS, fresh_demo, told};

/// A timeout that a busy machine does not reach.
const PATIENT: Duration = Duration::from_secs(5 * 60);

/// Returns the output of a test of this program about the records. The test is run by its name
/// against a fresh demo.
fn run(test: &str) -> TestResult<String> {
    let (demo, _folder) = fresh_demo()?;
    let mut command = Command::new(std::env::current_exe()?);
    command.args([
        test,
        "--exact",
        "--ignored",
        "--nocapture",
        "--test-threads=2",
    ]);
    command.env("SVC_BASE", &demo.base_url).env("SVC_KEY", KEY);
    let (status, said, errors) = outcome(&mut command)?;
    assert!(
        status.success() && said.contains("running 1 test"),
        "{test}: {said}{errors}"
    );
    Ok(said)
}

#[test]
fn the_rust_test_does_the_walk_again() -> TestResult {
    let program = include_str!("recorded_walk.rs");
    assert_eq!(
        told(&run("walk::recorded_walk::recorded_walk")?, program),
        RECORDS
    );
    Ok(())
}

#[test]
fn the_check_does_the_walk_again() -> TestResult {
    let program = include_str!("recorded_check.rs");
    assert_eq!(
        told(&run("walk::recorded_check_by_itself")?, program),
        RECORDS
    );
    Ok(())
}

/// Runs the exported check as in its header, in a separate program, so that its output can be read.
#[tokio::test]
#[ignore = "is run by another test"]
async fn recorded_check_by_itself() -> TestResult {
    let target = Remote::new(&std::env::var("SVC_BASE")?)?;
    let keys = Keys::primary(std::env::var("SVC_KEY")?);
    let report = Suite::new(target)
        .keys(keys)
        .timeout(PATIENT)
        .run_custom(recorded_check::RECORDED_WALK)
        .await?;
    report.assert_complete();
    Ok(())
}

/// A check with an unexpected response fails and names the step. Its records are removed.
#[tokio::test]
async fn a_check_of_ones_own_says_which_step_was_answered_otherwise() -> TestResult {
    use svc_conformance::custom_check::{Check, CheckContext, CheckStop};

    async fn look(cx: &CheckContext) -> Result<(), CheckStop> {
        let entry = cx
            .request(0, "GET", cx.base())
            .send_expecting(200, &[])
            .await?;
        let people = entry.url_at(&["_links", "svc:people", "href"])?;
        cx.request(1, "GET", &people)
            .without_key()
            .send_expecting(401, &[])
            .await?;
        cx.request(2, "POST", &people)
            .body("{\"given_name\": \"Ida\"}")
            .send_expecting(201, &[])
            .await?;
        cx.request(3, "POST", &people)
            .body("{\"given_name\": 4}")
            .send_expecting(400, &["NO_SUCH_CODE"])
            .await?;
        Ok(())
    }
    let (demo, _folder) = fresh_demo()?;
    let suite = Suite::new(Remote::new(&demo.base_url)?)
        .keys(Keys::primary(KEY))
        .timeout(PATIENT);
    let report = suite
        .run_custom(Check::custom("own/otherwise", |cx| Box::pin(look(cx))))
        .await?;
    let end = &report.checks[0].end;
    assert!(
        end.starts_with("failed: step 3: expected 400 NO_SUCH_CODE, found POST "),
        "{end}"
    );
    assert_eq!((report.clean_up.created, report.clean_up.removed), (1, 1));
    let failed = std::panic::catch_unwind(|| report.assert_complete());
    assert!(failed.is_err());
    Ok(())
}
