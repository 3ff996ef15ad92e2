//! A server that responds with garbage, aborts responses, stalls, sends too much, or links in
//! circles gets a finding. The suite does not crash or hang.

use std::convert::Infallible;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::Full;
use svc_conformance::{
    Declaration, Format, InProcess, Keys, Report, RequirementOutcome, Suite, read_declaration,
};
use tower::service_fn;

fn declaration() -> Declaration {
    let text = r#"
        declaration_version = 1
        [entry_point]
        fields = ["motd"]
        [collections.people]
        singular = "person"
        operations = ["list", "read", "create"]
        links = []
        [collections.people.fields.given_name]
        type = "string"
    "#;
    read_declaration(text).expect("a declaration")
}

type Answer = Result<Response<Full<Bytes>>, Infallible>;

async fn run<S>(service: S) -> Result<Report, svc_conformance::SuiteError>
where
    S: tower::Service<Request<Full<Bytes>>, Response = Response<Full<Bytes>>, Error = Infallible>
        + Clone
        + Send
        + 'static,
    S::Future: Send,
{
    Suite::new(InProcess::new(service))
        .declaration(declaration())
        .keys(Keys::primary("k-one"))
        .timeout(Duration::from_millis(200))
        .stop_at_failure_of(Vec::<String>::new())
        .run()
        .await
}

fn page(next: &str) -> String {
    format!(
        "{{\"total_records\": 1, \"total_pages\": 1, \"per_page\": 25, \"page\": 1, \"_links\": {{\"self\": {{\"href\": \"/\"}}, \
         \"svc:people\": {{\"href\": \"/people\"}}, \"next\": {{\"href\": \"{next}\"}}}}, \"_embedded\": {{\"svc:people\": []}}}}"
    )
}

#[tokio::test]
async fn garbage_is_a_finding() {
    for garbage in [
        "",
        "\u{0}\u{1}",
        "<html>",
        "[1, 2",
        "null",
        "{\"_links\": 7, \"_embedded\": \"x\"}",
    ] {
        let service =
            service_fn(move |_| async move { Answer::Ok(Response::new(Full::from(garbage))) });
        let report = run(service).await.expect("a report");
        assert!(
            report.count(RequirementOutcome::Fail) > 0,
            "{garbage:?}: {report}"
        );
        assert_eq!(
            (report.exit_code(), report.count(RequirementOutcome::Error)),
            (1, 0),
            "{report}"
        );
    }
}

/// Characters that clear a terminal, set its title, or reverse the text after them.
#[tokio::test]
async fn invisible_characters_of_a_server_are_named_in_every_report() {
    let hostile = "\u{1b}[2J\u{1b}]0;owned\u{7}\u{9b}31m\r\u{202e}\u{2066}\u{200b}";
    let page = page("/people?page=2");
    let body = page.replacen(
        '{',
        &format!("{{\"motd\": [\"{hostile}\"], \"total_records\": \"\u{202e}\", "),
        1,
    );
    let body = body.replacen(
        "\"svc:people\": []",
        "\"svc:people\": [{\"given_name\": {\"\u{202e}\": \"\u{2067}\"}}]",
        1,
    );
    let service = service_fn(move |_| {
        let response = Response::builder()
            .header("x-id", "\u{202e}")
            .body(Full::from(body.clone()));
        async move { Answer::Ok(response.expect("a response")) }
    });
    let report = run(service).await.expect("a report");
    assert!(report.count(RequirementOutcome::Fail) > 0, "{report}");
    for format in [Format::Text, Format::Html, Format::Junit, Format::Markdown] {
        let text = report.to_format(format);
        let found = text.find(|c: char| {
            (c.is_control() && c != '\n' && c != '\t')
                || matches!(c, '\u{200b}' | '\u{202e}' | '\u{2066}' | '\u{2067}')
        });
        let near = found.map(|at| text[..at].chars().rev().take(80).collect::<String>());
        assert_eq!(near, None, "{format:?}");
    }
    assert!(
        report.to_string().contains("[U+202E]")
            && report.to_format(Format::Html).contains("[U+001B]"),
        "{report}"
    );
}

#[tokio::test]
async fn too_large_a_body_is_a_finding() {
    let large = Bytes::from(vec![b' '; 100 * 1024 * 1024]);
    let service = service_fn(move |request: Request<Full<Bytes>>| {
        let body = if request.uri().path() == "/" {
            Bytes::from_static(b"{}")
        } else {
            large.clone()
        };
        async move { Answer::Ok(Response::new(Full::new(body))) }
    });
    let report = run(service).await.expect("a report");
    assert_eq!(
        (report.exit_code(), report.count(RequirementOutcome::Error)),
        (1, 0),
        "{report}"
    );
}

#[tokio::test]
async fn silence_is_no_hang() {
    let service = service_fn(|request: Request<Full<Bytes>>| async move {
        if request.uri().path() != "/" || request.headers().contains_key("svc-api-token") {
            std::future::pending::<()>().await;
        }
        Answer::Ok(Response::new(Full::from("{}")))
    });
    let report = run(service).await.expect("a report");
    assert_eq!(
        (report.exit_code(), report.count(RequirementOutcome::Error)),
        (1, 0),
        "{report}"
    );
}

#[tokio::test]
async fn a_server_that_never_answers_is_unreachable() {
    let service = service_fn(|_| std::future::pending::<Answer>());
    let error = run(service).await.expect_err("no report");
    assert_eq!(error.exit_code(), 4);
}

#[tokio::test]
async fn pages_without_end_are_a_finding() {
    for next in [
        "/people",
        "/people?page=1",
        "//[",
        "http://elsewhere.example.org/",
        "mailto:a@example.org",
    ] {
        let service =
            service_fn(move |_| async move { Answer::Ok(Response::new(Full::from(page(next)))) });
        let report = run(service).await.expect("a report");
        assert_eq!(
            (report.exit_code(), report.count(RequirementOutcome::Error)),
            (1, 0),
            "{report}"
        );
    }
}

#[cfg(not(feature = "https"))]
#[test]
fn https_without_the_feature_is_refused_with_its_name() {
    let refused = svc_conformance::Remote::new("https://crm.example.org/").expect_err("no TLS");
    assert!(
        refused
            .to_string()
            .contains("built without the feature `https`"),
        "{refused}"
    );
}

#[tokio::test]
async fn a_target_that_asks_to_wait_is_waited_for() {
    let (waits, turns) = (
        Arc::new(Mutex::new(Vec::new())),
        Arc::new(AtomicUsize::new(0)),
    );
    let service = service_fn(move |_: Request<Full<Bytes>>| {
        let is_busy = turns.fetch_add(1, Ordering::Relaxed).is_multiple_of(2);
        async move {
            let mut response = Response::new(Full::from(if is_busy {
                String::new()
            } else {
                page("/people?page=2")
            }));
            if is_busy {
                *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
                response
                    .headers_mut()
                    .insert("retry-after", "7".parse().expect("a value"));
            }
            Answer::Ok(response)
        }
    });
    let waited = Arc::clone(&waits);
    let target = InProcess::new(service)
        .on_wait(move |duration| waited.lock().expect("waits").push(duration));
    let suite = Suite::new(target)
        .declaration(declaration())
        .keys(Keys::primary("k-one"))
        .only(["ENT-01"]);
    let report = suite.run().await.expect("a report");
    // Each request was postponed once, and this is not a failure of the server.
    assert_eq!(
        report.requirement("ENT-01").map(|row| row.outcome),
        Some(RequirementOutcome::Pass),
        "{report}"
    );
    let waits = waits.lock().expect("waits");
    assert!(
        waits.len() > 1 && waits.iter().all(|wait| *wait == Duration::from_secs(7)),
        "{waits:?}"
    );
}
