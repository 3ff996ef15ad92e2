//! Servers that are stopped or started again while they are judged: none is accused, unless one of its requests ends it.

use std::error::Error;
use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use http::{Method, Request, Response};
use svc_conformance::{InProcess, Intensity, Keys, Outcome, Report, Suite, SuiteError, Target, TargetError};
use svc_self_test::second_server::Options;
use svc_self_test::subject::Subject;

use crate::support::{Server, ended, program};

/// What is decided of a request before the server sees it, by its method.
type Fate = Box<dyn FnMut(&Method) -> Result<(), TargetError> + Send>;

/// A server that can be stopped.
struct Stopping {
    server: Box<dyn Target>,
    fate: Mutex<Fate>,
}

impl std::fmt::Debug for Stopping {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Stopping")
    }
}

#[async_trait]
impl Target for Stopping {
    fn base(&self) -> &str {
        self.server.base()
    }

    fn is_local(&self) -> bool {
        true
    }

    async fn send(
        &self,
        request: Request<Bytes>,
        limit: usize,
        timeout: Duration,
    ) -> Result<Response<Bytes>, TargetError> {
        (self.fate.lock().expect("a fate"))(request.method())?;
        self.server.send(request, limit, timeout).await
    }

    async fn wait(&self, duration: Duration) {
        self.server.wait(duration).await;
    }
}

/// A short run against a server of which some requests get no answer.
async fn run(fate: impl FnMut(&Method) -> Result<(), TargetError> + Send + 'static) -> Result<Report, SuiteError> {
    let subject = Subject::second_server(Options::default());
    let (key, time) = (subject.key.clone(), subject.time.clone().unwrap_or_default());
    let server = InProcess::new(subject.wire).base(subject.base).on_wait(move |wait| time.pass(wait));
    let target = Stopping { server: Box::new(server), fate: Mutex::new(Box::new(fate)) };
    Suite::new(target).keys(Keys::primary(key)).only(["ENT", "HAL", "ERR-01"]).intensity(Intensity::Quick).run().await
}

fn refused() -> Result<(), TargetError> {
    Err(TargetError::Unreachable("connection refused".to_owned()))
}

fn broken() -> Result<(), TargetError> {
    Err(TargetError::Broken("connection reset".to_owned()))
}

#[tokio::test]
async fn a_server_that_is_stopped_is_not_judged() -> Result<(), Box<dyn Error>> {
    for last in [broken, refused] {
        let mut count = 0_usize;
        let report = run(move |_| {
            count += 1;
            match count {
                0..=100 => Ok(()),
                101 => last(),
                _ => refused(),
            }
        });
        let error = report.await.err().ok_or("a report")?;
        assert!(matches!(error, SuiteError::Gone(_)), "{error:?}");
        assert_eq!(error.exit_code(), 4);
        let said = error.to_string();
        assert!(said.starts_with("the server does not answer any more since request 101, of the check "), "{said}");
        assert!(said.contains("http://") && said.contains("Nothing is judged"), "{said}");
    }
    Ok(())
}

#[tokio::test]
async fn a_server_that_is_started_again_is_not_accused() -> Result<(), Box<dyn Error>> {
    let mut count = 0_usize;
    let report = run(move |_| {
        count += 1;
        if (101..105).contains(&count) { refused() } else { Ok(()) }
    });
    let report = report.await?;
    assert_eq!(report.count(Outcome::Fail), 0, "{report}");
    let row = report.row("ERR-01").ok_or("no row")?;
    assert!(row.outcome == Outcome::Inconclusive && row.reason.contains("failed once, not again"), "{row:?}");
    Ok(())
}

#[tokio::test]
async fn a_request_that_ends_the_server_each_time_is_a_finding() -> Result<(), Box<dyn Error>> {
    let mut down = 0_usize;
    let report = run(move |method| {
        if method == Method::POST {
            down = 3;
            return broken();
        }
        down = down.saturating_sub(1);
        if down > 0 { refused() } else { Ok(()) }
    });
    let report = report.await?;
    let row = report.row("ERR-01").ok_or("no row")?;
    assert_eq!(row.outcome, Outcome::Fail, "{row:?}");
    assert!(row.reason.contains("POST") && row.reason.contains("connection reset"), "{}", row.reason);
    Ok(())
}

/// The program keeps the journal of a run whose server is gone, and says how to remove what it created.
#[test]
fn what_was_created_can_be_removed_when_the_server_is_back() {
    let (server, folder) = (Server::good(), crate::support::folder());
    let before = server.records();
    let child = program(folder.path())
        .args(["run", &server.base, "--key", "k-one", "--quiet", "--intensity", "quick"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("the program");
    while server.records() == before {
        std::thread::yield_now();
    }
    drop(server);
    let (code, said) = ended(&child.wait_with_output().expect("its end"));
    assert_eq!((code, said.lines().count()), (4, 1), "{said}");
    let (_, journal) = said.trim().split_once("removed by: svc-conformance clean ").expect("a command");
    assert!(folder.path().join(journal).exists(), "{said}");
    assert!(!said.contains("k-one"), "{said}");
}
