//! `/healthz` and `/metrics` of the demo: outside of the API, by default only with a loopback
//! address and without `--base-url`, and without personal data.
//!
//! Requirements: UND-42.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::thread;

use serde_json::json;

use crate::support::client::{Client, link};
use crate::support::demo::demo;
use crate::support::program::{KEY, Program, outcome};
use crate::support::{Answer, Raw, TestResult, own_loopback_address};

async fn get(program: &Program, path: &str) -> TestResult<Answer> {
    let mut raw = Raw::connect(program.address()?).await?;
    raw.send(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n"))
        .await?;
    raw.answer().await
}

/// Returns each series with its value.
fn series(text: &str) -> BTreeMap<&str, f64> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .filter_map(|line| {
            line.rsplit_once(' ')
                .and_then(|(name, value)| Some((name, value.parse().ok()?)))
        })
        .collect()
}

#[tokio::test]
async fn requests_are_counted_by_route_template_and_status() -> TestResult {
    let folder = tempfile::tempdir()?;
    let program = Program::demo(&folder.path().join("a.db"), &["--seed-people", "5"])?;
    let mut client = Client::connect(program.address()?, Some(KEY)).await?;
    let people = link(&client.get(&program.base_url).await?, "svc:people")?;
    let body = json!({"person": {"given_name": "Planted", "email_addresses": [{"address": "planted@example.org"}]}});
    let made = client
        .post(&format!("{people}/person_signup"), &body)
        .await?;
    let person = link(&made, "self")?;
    let id = made["id"].as_str().ok_or("no id")?;
    for _ in 0..3 {
        client.get(&person).await?;
    }
    assert_eq!(
        client
            .send("GET", &format!("{people}/unknown-id"), None)
            .await?
            .status,
        404
    );
    assert_eq!(
        client.send("BREW", &person, None).await?.status,
        500,
        "ERR-07"
    );
    assert_eq!(
        get(&program, "/api/v1/planted/path?planted=query")
            .await?
            .status,
        404
    );

    let answer = get(&program, "/metrics").await?;
    assert_eq!(
        (answer.status, answer.header("content-type")),
        (200, Some("text/plain; version=0.0.4; charset=utf-8"))
    );
    let text = answer.text();
    let series = series(&text);
    let requests = |labels: &str| {
        series
            .get(format!("svc_http_requests_total{{{labels}}}").as_str())
            .copied()
    };
    assert_eq!(
        requests(r#"method="GET",route="people/{id}",status="200""#),
        Some(3.0),
        "{text}"
    );
    assert_eq!(
        requests(r#"method="GET",route="people/{id}",status="404""#),
        Some(1.0),
        "{text}"
    );
    assert_eq!(
        requests(r#"method="other",route="people/{id}",status="500""#),
        Some(1.0),
        "{text}"
    );
    assert_eq!(
        requests(r#"method="POST",route="person_signup_helper",status="200""#),
        Some(1.0),
        "{text}"
    );
    assert_eq!(
        requests(r#"method="GET",route="none",status="404""#),
        Some(1.0),
        "{text}"
    );
    let get_person = r#"method="GET",route="people/{id}""#;
    assert_eq!(
        series.get(format!("svc_http_request_duration_seconds_count{{{get_person}}}").as_str()),
        Some(&4.0),
        "{text}"
    );
    let buckets = series.iter().filter(|(name, _)| {
        name.starts_with(&format!(
            "svc_http_request_duration_seconds_bucket{{{get_person}"
        ))
    });
    let mut buckets: Vec<f64> = buckets.map(|(_, count)| *count).collect();
    buckets.sort_by(f64::total_cmp);
    assert_eq!((buckets.len(), buckets.last()), (13, Some(&4.0)), "{text}");
    assert!(
        series["svc_write_transactions_total"] >= 1.0
            && series["svc_writes_total"] >= series["svc_write_transactions_total"],
        "{text}"
    );
    assert!(
        series["svc_commit_seconds_total"] > 0.0 && series["svc_read_connections_open"] >= 1.0,
        "{text}"
    );
    assert_eq!(
        (
            series["svc_queued_writes"],
            series["svc_read_connections_busy"]
        ),
        (0.0, 0.0),
        "{text}"
    );
    let bodies = ["held", "limit"].map(|which| series[format!("svc_body_bytes_{which}").as_str()]);
    assert_eq!(
        (bodies, series["svc_bodies_cut_total"]),
        ([0.0, 67_108_864.0], 0.0),
        "UND-43: {text}"
    );
    for secret in [
        KEY,
        id,
        "planted",
        "Planted",
        "BREW",
        "unknown-id",
        "example.org",
    ] {
        assert!(!text.contains(secret), "UND-42: {secret} in {text}");
    }
    // Every series has a `# TYPE` line, as the format requires.
    for name in series.keys().filter_map(|name| name.split('{').next()) {
        let name = ["_bucket", "_sum", "_count"]
            .iter()
            .find_map(|end| name.strip_suffix(end))
            .unwrap_or(name);
        assert_eq!(
            text.matches(&format!("# TYPE {name} ")).count(),
            1,
            "{name}"
        );
    }
    Ok(())
}

#[tokio::test]
async fn they_stand_beside_the_interface_and_only_where_they_may() -> TestResult {
    let folder = tempfile::tempdir()?;
    let program = Program::demo(&folder.path().join("a.db"), &["--seed-people", "1"])?;
    let health = get(&program, "/healthz").await?;
    assert_eq!((health.status, health.text().as_str()), (200, "ok\n"));
    assert_eq!(get(&program, "/api/v1/metrics").await?.status, 404);
    let mut client = Client::connect(program.address()?, None).await?;
    assert_eq!(client.send("POST", "/metrics", None).await?.status, 405);
    assert_eq!(client.send("HEAD", "/healthz", None).await?.status, 200);

    for refused in [
        &["--metrics", "off"][..],
        &[
            "--listen",
            "0.0.0.0",
            "--base-url",
            "http://demo.example.org/api/v1/",
        ],
        &["--base-url", "http://demo.example.org/"],
        // A proxy on the same machine is in front of it.
        &["--base-url", "http://demo.example.org/api/v1/"],
    ] {
        let arguments: Vec<&str> = ["--seed-people", "1"]
            .iter()
            .chain(refused)
            .copied()
            .collect();
        let program = Program::demo(
            &folder.path().join("refused.db"),
            &[&arguments[..], &["--reset"]].concat(),
        )?;
        for path in ["/metrics", "/healthz"] {
            let answer = get(&program, path).await?;
            assert!(
                answer.status == 404 && !answer.text().contains("svc_http_requests_total"),
                "{refused:?} {path}"
            );
        }
    }
    let wanted = [
        "--seed-people",
        "1",
        "--metrics",
        "on",
        "--base-url",
        "http://demo.example.org/api/v1/",
    ];
    let program = Program::demo(&folder.path().join("wanted.db"), &wanted)?;
    for path in ["/metrics", "/healthz"] {
        assert_eq!(get(&program, path).await?.status, 200, "{path}");
    }
    Ok(())
}

#[tokio::test]
async fn top_shows_them_as_a_table() -> TestResult {
    let folder = tempfile::tempdir()?;
    let data = folder.path().join("a.db");
    let listen = own_loopback_address().ip().to_string();
    let program = Program::demo(&data, &["--seed-people", "1", "--listen", &listen])?;
    let mut client = Client::connect(program.address()?, Some(KEY)).await?;
    let people = link(&client.get(&program.base_url).await?, "svc:people")?;
    for _ in 0..3 {
        client.get(&people).await?;
    }
    assert_eq!(
        client.send("POST", &people, Some(&json!([]))).await?.status,
        400
    );
    let address = program.address()?.to_string();
    let (status, out, errors) =
        outcome(demo(&data).args(["top", &address, "--count", "2", "--interval", "0.05"]))?;
    assert!(status.success(), "{errors}");
    let looks: Vec<&str> = out.split("route ").skip(1).collect();
    // Requests, per second, failed: no request arrives between the first and the second refresh.
    for (look, rate) in looks.iter().zip(["-", "0.0"]) {
        let row = |name: &str| {
            look.lines()
                .find(|line| line.starts_with(name))
                .map(|line| line.split_whitespace().collect::<Vec<_>>())
        };
        let list = row("GET    people ").ok_or("no row")?;
        assert_eq!(list[..5], ["GET", "people", "3", rate, "0"], "{look}");
        let create = row("POST   people ").ok_or("no row")?;
        assert_eq!(create[..5], ["POST", "people", "1", rate, "1"], "{look}");
        let busy: f64 = row("readers busy")
            .and_then(|words| words.last()?.parse().ok())
            .ok_or("no number")?;
        assert!(busy >= 0.0 && !look.contains(KEY), "{look}");
    }
    assert_eq!(looks.len(), 2, "{out}");
    drop(program);
    let (status, _, errors) = outcome(demo(&data).args(["top", &address, "--count", "1"]))?;
    assert!(
        status.code() == Some(1) && errors.contains("The metrics cannot be read"),
        "{errors}"
    );
    Ok(())
}

/// A server responds with characters that clear a terminal, set its title, and change the text
/// direction.
#[test]
fn top_names_the_invisible_characters_of_another_server() -> TestResult {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?.to_string();
    let answering = thread::spawn(move || {
        let (mut stream, _) = listener.accept()?;
        let _ = stream.read(&mut [0; 1024])?;
        let labels =
            "route=\"/\u{1b}[2J\u{1b}]0;owned\u{7}\u{202e}x\",method=\"GET\",status=\"200\"";
        stream.write_all(
            format!("HTTP/1.1 200 OK\r\n\r\nsvc_http_requests_total{{{labels}}} 1\n").as_bytes(),
        )
    });
    let folder = tempfile::tempdir()?;
    let (status, out, errors) =
        outcome(demo(&folder.path().join("a.db")).args(["top", &address, "--count", "1"]))?;
    answering.join().map_err(|_| "the server has panicked")??;
    assert!(status.success(), "{errors}");
    assert!(
        out.contains("GET    /[U+001B][2J[U+001B]]0;owned[U+0007][U+202E]x"),
        "{out:?}"
    );
    assert!(!out.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{out:?}");
    Ok(())
}
