//! Servers that limit the rate: the run waits as long as they request, reports it once, and no
//! requirement fails because of it.

use std::error::Error;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use http::{HeaderValue, header};
use svc_conformance::{InProcess, Intensity, Keys, Report, RequirementOutcome, Suite, SuiteError};
use svc_self_test::independent_server::{ServerOptions, SimulatedTime};
use svc_self_test::interceptor::Interceptor;
use svc_self_test::subject::TestSubject;
use svc_self_test::transport::BufferedResponse;

const AREAS: [&str; 2] = ["ENT", "HAL"];

/// Returns the response of a proxy, a page for people.
fn refusal(status: u16, retry_after: Option<&'static str>) -> BufferedResponse {
    let mut answer = BufferedResponse::empty(status);
    answer
        .headers
        .insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html"));
    answer.body = "<h1>Later</h1>".into();
    if let Some(asked) = retry_after {
        answer
            .headers
            .insert(header::RETRY_AFTER, HeaderValue::from_static(asked));
    }
    answer
}

struct Run {
    report: Result<Report, SuiteError>,
    notices: Vec<String>,
    /// Seconds that the run waited.
    waited: u64,
}

/// Runs the suite against a server that asks to wait at any time.
async fn run(
    refuse: impl FnMut(&SimulatedTime) -> Option<BufferedResponse> + Send + 'static,
) -> Run {
    let mut refuse = refuse;
    let subject = TestSubject::second_server(ServerOptions::default());
    let time = subject.time.clone().unwrap_or_default();
    let (key, base, clock) = (subject.key.clone(), subject.base.clone(), time.clone());
    let server = subject.behind(|wire, prefix| {
        Interceptor::before(move |_, _| refuse(&clock)).over(wire, prefix, &base)
    });
    let passes = time.clone();
    let target = InProcess::new(server.wire)
        .base_url(server.base)
        .on_wait(move |wait| passes.pass(wait));
    let notices = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&notices);
    let suite = Suite::new(target)
        .keys(Keys::primary(key))
        .only(AREAS)
        .intensity(Intensity::Quick)
        .clean_up(false);
    let suite = suite.on_progress(move |progress| {
        seen.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .extend(progress.notice.clone());
    });
    let report = suite.run().await;
    let notices = notices
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .clone();
    Run {
        report,
        notices,
        waited: time.passed().as_secs(),
    }
}

/// Rejects every eleventh request and asks to wait.
fn every_tenth(
    status: u16,
    retry_after: Option<&'static str>,
) -> impl FnMut(&SimulatedTime) -> Option<BufferedResponse> {
    let count = AtomicUsize::new(0);
    move |_| {
        (count.fetch_add(1, Ordering::Relaxed) % 11 == 10).then(|| refusal(status, retry_after))
    }
}

#[tokio::test]
async fn a_limited_run_says_so_once_and_comes_to_the_same() -> Result<(), Box<dyn Error>> {
    let free = run(|_| None).await;
    let outcomes = |report: &Report| {
        report
            .rows
            .iter()
            .map(|row| (row.id.clone(), row.outcome))
            .collect::<Vec<_>>()
    };
    let expected = outcomes(&free.report?);
    assert_eq!((free.notices, free.waited < 30), (Vec::new(), true));
    for (status, asked) in [(429, Some("2")), (429, None), (503, Some("2"))] {
        let limited = run(every_tenth(status, asked)).await;
        let report = limited.report?;
        assert_eq!(outcomes(&report), expected, "{status} {asked:?}");
        let [notice] = limited.notices.as_slice() else {
            return Err(format!("{:?}", limited.notices).into());
        };
        assert!(notice.contains(&format!("status {status}")), "{notice}");
        assert!(
            notice.contains(" more; --rate ") && notice.contains("needs about "),
            "{notice}"
        );
        assert!(limited.waited > 20, "{} s", limited.waited);
    }
    Ok(())
}

/// After 100 requests the server accepts no more.
#[tokio::test]
async fn a_server_that_takes_no_more_is_undecided_and_not_accused() -> Result<(), Box<dyn Error>> {
    let count = AtomicUsize::new(0);
    let limited = run(move |_| {
        (count.fetch_add(1, Ordering::Relaxed) >= 100).then(|| refusal(429, Some("3600")))
    })
    .await;
    let report = limited.report?;
    assert_eq!(report.count(RequirementOutcome::Fail), 0, "{report}");
    let open: Vec<_> = report
        .inconclusive()
        .filter(|row| row.reason.contains("the server limits the rate"))
        .collect();
    assert!(!open.is_empty(), "{report}");
    for row in open {
        assert!(row.advice.contains("--rate"), "{}", row.advice);
    }
    // Once one request was abandoned, the others do not wait: four waits of half a minute.
    assert_eq!(limited.waited / 60, 2, "{} s", limited.waited);
    Ok(())
}

#[tokio::test]
async fn an_entry_point_that_takes_nothing_is_one_sentence() {
    let limited = run(|_| Some(refusal(429, Some("1")))).await;
    let error = limited
        .report
        .err()
        .map(|error| error.to_string())
        .unwrap_or_default();
    assert!(error.contains("returns 429, even after waiting"), "{error}");
}
