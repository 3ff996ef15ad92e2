//! Measures how long the suite takes against the reference server: in process, over loopback, and
//! at the lowest intensity.
//!
//! `cargo bench -p svc-conformance --bench suite` runs all parts; `-- quick`, `-- process`, `--
//! loopback` runs one of them. Each line shows a bound, the measured time, and `ok` or `MISSED`.
//! After a miss, the exit code is 1.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use svc_conformance::{Intensity, Keys, Remote, Report, Suite};
use svc_self_test::subject::TestSubject;
use svc_self_test::transport::Transport;
use svc_self_test::trial;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tower::ServiceExt;

fn main() -> ExitCode {
    let runtime = Runtime::new().expect("a runtime");
    let mut kept = true;
    if is_asked_for("quick") {
        let run = in_process(Intensity::Quick);
        kept &= told("quick, in process", 5, runtime.block_on(run));
    }
    if is_asked_for("process") {
        let run = in_process(Intensity::Default);
        kept &= told("default, in process", 20, runtime.block_on(run));
    }
    if is_asked_for("loopback") {
        kept &= told(
            "default, over loopback",
            60,
            runtime.block_on(over_loopback()),
        );
    }
    if kept {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Whether the command line selects this part: it names parts, or none for all of them.
fn is_asked_for(part: &str) -> bool {
    let mut named = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with('-'))
        .peekable();
    named.peek().is_none() || named.any(|name| name == part)
}

/// Prints the time of a run and its bound.
fn told(what: &str, bound: u64, (report, took): (Report, Duration)) -> bool {
    assert!(report.is_conformant(), "{report}");
    let kept = took < Duration::from_secs(bound);
    let verdict = if kept { "ok" } else { "MISSED" };
    let seconds = took.as_secs_f64();
    println!(
        "{what:<24} under {bound:>3} s   took {seconds:>6.2} s   {verdict:<6}  ({} requests)",
        report.requests
    );
    kept
}

async fn in_process(intensity: Intensity) -> (Report, Duration) {
    let subject = TestSubject::reference(|api| api).await.expect("a server");
    let suite = trial::suite(&subject, intensity, 42).clean_up(true);
    let began = Instant::now();
    (suite.run().await.expect("a run"), began.elapsed())
}

async fn over_loopback() -> (Report, Duration) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let base = format!(
        "http://{}/api/v1/",
        listener.local_addr().expect("an address")
    );
    let subject = TestSubject::reference(|api| api.base_url(&base))
        .await
        .expect("a server");
    let serving = tokio::spawn(serve(listener, subject.wire.clone()));
    let keys = Keys::primary("k-one")
        .other_tenant("k-two")
        .restricted("k-narrow", "people.create");
    let suite = Suite::new(Remote::new(&base).expect("an address"))
        .keys(keys)
        .seed(42)
        .allow_side_effects(true);
    let began = Instant::now();
    let report = suite.run().await.expect("a run");
    let took = began.elapsed();
    serving.abort();
    (report, took)
}

async fn serve(listener: TcpListener, wire: Transport) {
    while let Ok((stream, _)) = listener.accept().await {
        let wire = wire.clone();
        let answer = move |request: http::Request<Incoming>| {
            let wire = wire.clone();
            async move {
                let (parts, body) = request.into_parts();
                let body = body.collect().await?.to_bytes();
                let answer = wire
                    .oneshot(http::Request::from_parts(parts, Full::new(body)))
                    .await;
                Ok::<_, hyper::Error>(answer.unwrap_or_else(|never| match never {}))
            }
        };
        let _ = stream.set_nodelay(true);
        tokio::spawn(
            hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(stream), service_fn(answer)),
        );
    }
}
