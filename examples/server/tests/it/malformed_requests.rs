//! Malformed and hostile requests over raw sockets, to the server of the demo with its service and
//! store.

use std::net::SocketAddr;
use std::time::Duration;

use clap::Parser;
use serde_json::Value;
use svc_server::demo::cli::Cli;
use svc_server::demo::{Data, DataLocation, LoadGate, LogOnlyDelivery, ServerSettings, service};
use svc_tower::server::{Server, ServerLimits};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::support::program::KEY;
use crate::support::{Answer, Raw, TestResult, own_loopback_address};

/// A limit that no test reaches.
const NEVER: Duration = Duration::from_secs(60 * 60);

/// The demo in this process.
struct Demo {
    address: SocketAddr,
    task: JoinHandle<()>,
    _folder: TempDir,
}

impl Demo {
    async fn start(limits: ServerLimits, arguments: &[&str]) -> TestResult<Self> {
        Self::behind(
            LoadGate::open(),
            NEVER,
            limits,
            arguments,
            std::future::pending(),
        )
        .await
    }

    /// Starts the demo with a gate, which the test controls, until it gets the order to stop.
    async fn behind(
        gate: LoadGate,
        patience: Duration,
        limits: ServerLimits,
        arguments: &[&str],
        stop: impl Future<Output = ()> + Send + 'static,
    ) -> TestResult<Self> {
        let folder = tempfile::tempdir()?;
        let key = format!("demo={KEY}");
        let given = [
            "svc-demo",
            "--seed-people",
            "1",
            "--base-url",
            "http://demo.example.org/",
            "--key",
            &key,
        ];
        let settings =
            ServerSettings::check(&Cli::try_parse_from(given.iter().chain(arguments))?.options)?;
        let data = Data::open(
            &DataLocation::File(folder.path().join("demo.db")),
            &settings,
        )
        .await?;
        for load in data.loads {
            load.run(&data.store, |_| true)
                .await
                .map_err(|error| format!("{error:?}"))?;
        }
        let service = service(
            &data.store,
            &settings,
            "http://demo.example.org/",
            LogOnlyDelivery::default(),
        )?;
        let listener = TcpListener::bind(own_loopback_address()).await?;
        let address = listener.local_addr()?;
        let server = Server::new(gate.before(service, patience)).limits(limits);
        let task = tokio::spawn(server.serve_until(listener, stop));
        Ok(Self {
            address,
            task,
            _folder: folder,
        })
    }

    /// Returns the response to data that is sent on a new connection.
    async fn answer(&self, sent: &str) -> TestResult<Answer> {
        let mut raw = Raw::connect(self.address).await?;
        raw.send(sent).await?;
        raw.answer().await
    }

    async fn json(&self, path: &str) -> TestResult<Value> {
        let sent = format!("GET {path} HTTP/1.1\r\nHost: x\r\nSVC-API-Token: {KEY}\r\n\r\n");
        Ok(serde_json::from_slice(&self.answer(&sent).await?.body)?)
    }
}

/// Returns the first error code of an error object.
fn code(answer: &Answer) -> TestResult<String> {
    let error: Value = serde_json::from_slice(&answer.body)?;
    let code =
        error["svc:error"]["resource_status"][0]["error_descriptions"][0]["error_code"].as_str();
    Ok(code.ok_or_else(|| answer.text())?.to_owned())
}

#[tokio::test]
async fn und_34_ambiguous_and_foreign_requests_are_refused_and_not_reflected() -> TestResult {
    let demo = Demo::start(ServerLimits::default(), &[]).await?;
    let key = format!("SVC-API-Token: {KEY}\r\n");
    for (what, sent) in [
        ("no Host", format!("GET / HTTP/1.1\r\n{key}\r\n")),
        (
            "two Hosts",
            format!("GET / HTTP/1.1\r\nHost: a.evil\r\nHost: b.evil\r\n{key}\r\n"),
        ),
        (
            "two equal Hosts",
            format!("GET / HTTP/1.1\r\nHost: a.evil\r\nHost: a.evil\r\n{key}\r\n"),
        ),
        (
            "two keys",
            format!("GET / HTTP/1.1\r\nHost: x\r\n{key}SVC-API-Token: planted.evil\r\n\r\n"),
        ),
        (
            "CONNECT",
            format!("CONNECT a.evil:443 HTTP/1.1\r\nHost: a.evil:443\r\n{key}\r\n"),
        ),
        (
            "TRACE",
            format!("TRACE / HTTP/1.1\r\nHost: a.evil\r\nX-Planted: b.evil\r\n{key}\r\n"),
        ),
        (
            "a foreign target",
            format!("GET http://a.evil/ HTTP/1.1\r\nHost: a.evil\r\n{key}\r\n"),
        ),
    ] {
        let answer = demo
            .answer(&sent)
            .await
            .map_err(|error| format!("{what}: {error}"))?;
        assert_eq!(answer.status, 400, "{what}: {}", answer.text());
        let whole = format!("{}{}", answer.head, answer.text());
        assert!(
            !whole.contains("evil") && !whole.contains("lanted") && !whole.contains(KEY),
            "{what}: {whole}"
        );
        if answer.header("content-length") != Some("0") {
            assert_eq!(code(&answer)?, "REQUEST_INVALID", "{what}");
        }
    }
    let answer = demo
        .answer(&format!(
            "GET / HTTP/1.1\r\nHost: a.evil\r\nX-Forwarded-Host: b.evil\r\n{key}\r\n"
        ))
        .await?;
    assert!(
        answer.status == 200 && !answer.text().contains("evil"),
        "{}",
        answer.text()
    );
    let answer = demo.answer(&format!("GET / HTTP/1.0\r\n{key}\r\n")).await?;
    assert_eq!(
        answer.status, 200,
        "HTTP/1.0 does not require a Host header"
    );
    Ok(())
}

#[tokio::test]
async fn und_17_a_chunked_body_of_2_mib_is_too_large() -> TestResult {
    let demo = Demo::start(ServerLimits::default(), &[]).await?;
    let mut raw = Raw::connect(demo.address).await?;
    raw.send(format!("POST /tags HTTP/1.1\r\nHost: x\r\nSVC-API-Token: {KEY}\r\nTransfer-Encoding: chunked\r\n\r\n"))
        .await?;
    let chunk = format!("10000\r\n{}\r\n", " ".repeat(0x10000));
    for _ in 0..32 {
        raw.send(&chunk).await?;
    }
    raw.send("0\r\n\r\n").await?;
    let answer = raw.answer().await?;
    assert_eq!(
        (answer.status, answer.header("connection")),
        (413, Some("close"))
    );
    assert_eq!(code(&answer)?, "BODY_TOO_LARGE");
    assert!(raw.rest().await?.is_empty());
    // The next request is served.
    assert_eq!(demo.json("/tags").await?["page"], 1);
    Ok(())
}

#[tokio::test]
async fn und_39_a_body_without_a_key_is_not_read() -> TestResult {
    let demo = Demo::start(ServerLimits::default().body_timeout(NEVER), &[]).await?;
    let mut raw = Raw::connect(demo.address).await?;
    raw.send(
        "POST /tags HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\nExpect: 100-continue\r\n\r\n",
    )
    .await?;
    assert_eq!(raw.answer().await?.status, 401);
    Ok(())
}

#[tokio::test]
async fn und_17_a_slow_body_is_answered_408() -> TestResult {
    let limits = ServerLimits::default()
        .header_timeout(NEVER)
        .body_timeout(Duration::from_millis(50))
        .idle_timeout(NEVER);
    let demo = Demo::start(limits, &[]).await?;
    let head = format!("POST /tags HTTP/1.1\r\nHost: x\r\nSVC-API-Token: {KEY}\r\n");
    let answer = demo
        .answer(&format!("{head}Content-Length: 20\r\n\r\n{{\"name\":"))
        .await?;
    assert_eq!(
        (answer.status, answer.header("connection")),
        (408, Some("close"))
    );
    assert_eq!(code(&answer)?, "REQUEST_TIMEOUT");
    Ok(())
}

#[tokio::test]
async fn und_42_a_slow_head_ends_the_connection() -> TestResult {
    let limits = ServerLimits::default()
        .header_timeout(Duration::from_millis(50))
        .body_timeout(NEVER)
        .idle_timeout(NEVER);
    let demo = Demo::start(limits, &[]).await?;
    let mut raw = Raw::connect(demo.address).await?;
    raw.send("GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ").await?;
    assert!(raw.rest().await?.is_empty());
    Ok(())
}

/// UND-36: while the data loads, a request waits. After the timeout it gets the error response of
/// the API.
#[tokio::test]
async fn und_36_requests_wait_for_the_data_or_are_told_to_come_again() -> TestResult {
    let (gate, opener) = LoadGate::closed();
    let patience = Duration::from_millis(20);
    let demo = Demo::behind(
        gate,
        patience,
        ServerLimits::default(),
        &[],
        std::future::pending(),
    )
    .await?;
    let body = r#"{"name": "new"}"#;
    let length = body.len();
    let sent = format!(
        "POST /tags HTTP/1.1\r\nHost: x\r\nSVC-API-Token: {KEY}\r\nContent-Length: {length}\r\n\r\n{body}"
    );
    let answer = demo.answer(&sent).await?;
    assert_eq!(
        (answer.status, answer.header("retry-after")),
        (503, Some("1"))
    );
    assert_eq!(
        (code(&answer)?.as_str(), answer.header("content-type")),
        ("UNAVAILABLE", Some("application/hal+json"))
    );
    assert_eq!(answer.header("connection"), Some("close"));
    let error: Value = serde_json::from_slice(&answer.body)?;
    let entry = &error["svc:error"]["resource_status"][0];
    assert!(
        entry["resource"] == "svc:tag"
            && entry["error_descriptions"][0]["reference_code"].is_string(),
        "{error}"
    );
    opener.open();
    assert_eq!(demo.answer(&sent).await?.status, 201);
    Ok(())
}

/// UND-42: a shutdown also completes requests that wait for the data.
#[tokio::test]
async fn und_42_a_stop_does_not_lose_those_who_wait_for_the_data() -> TestResult {
    let (gate, opener) = LoadGate::closed();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let stopped = async {
        let _ = stopped.await;
    };
    let demo = Demo::behind(gate, NEVER, ServerLimits::default(), &[], stopped).await?;
    let mut raw = Raw::connect(demo.address).await?;
    raw.send(format!(
        "GET /tags HTTP/1.1\r\nHost: x\r\nSVC-API-Token: {KEY}\r\n\r\n"
    ))
    .await?;
    stop.send(()).map_err(|()| "the server ended by itself")?;
    // The listener closes while the request waits. Then the data is available.
    while Raw::connect(demo.address).await.is_ok() {
        tokio::task::yield_now().await;
    }
    opener.open();
    assert_eq!(raw.answer().await?.status, 200);
    Ok(demo.task.await?)
}

/// Returns the response to a preflight request.
async fn preflight(demo: &Demo, path: &str) -> TestResult<Answer> {
    let sent = format!(
        "OPTIONS {path} HTTP/1.1\r\nHost: x\r\nOrigin: https://www.example.org\r\n\
         Access-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: content-type\r\n\r\n"
    );
    demo.answer(&sent).await
}

/// Returns the paths of all links of a document.
fn paths(document: &Value) -> Vec<(String, String)> {
    let links = document["_links"].as_object().into_iter().flatten();
    let path = |href: &Value| {
        href.as_str()?
            .strip_prefix("http://demo.example.org")
            .map(str::to_owned)
    };
    links
        .filter_map(|(name, link)| Some((name.clone(), path(&link["href"])?)))
        .collect()
}

/// Returns the URLs of the entry point, of the first record of each of its collections, and of
/// their links.
async fn addresses(demo: &Demo) -> TestResult<Vec<(String, String)>> {
    let entry = paths(&demo.json("/").await?);
    let mut all = entry.clone();
    for (name, path) in entry {
        if name.starts_with("svc:") && !name.ends_with("_helper") {
            let page = demo.json(&path).await?;
            all.extend(paths(&page["_embedded"][name.as_str()][0]));
        }
    }
    Ok(all)
}

#[tokio::test]
async fn hlp_08_browsers_may_call_record_helpers_when_told_and_nothing_else() -> TestResult {
    const RECORD_HELPERS: [&str; 7] = [
        "svc:record_signature_helper",
        "svc:record_submission_helper",
        "svc:record_donation_helper",
        "svc:record_outreach_helper",
        "svc:record_attendance_helper",
        // One helper with two names.
        "svc:record_canvas_helper",
        "svc:record_canvass_helper",
    ];
    let closed = Demo::start(ServerLimits::default(), &[]).await?;
    let open = Demo::start(
        ServerLimits::default(),
        &["--cors", "https://www.example.org"],
    )
    .await?;
    let mut helpers = std::collections::BTreeSet::new();
    for (name, path) in addresses(&open).await? {
        let answer = preflight(&closed, &path).await?;
        assert!(
            !answer.head.to_lowercase().contains("access-control"),
            "off: {path}: {}",
            answer.head
        );
        let answer = preflight(&open, &path).await?;
        let allowed = answer.header("access-control-allow-origin");
        if RECORD_HELPERS.contains(&&*name) {
            assert_eq!(allowed, Some("https://www.example.org"), "{path}");
            assert_eq!(
                answer.header("access-control-allow-methods"),
                Some("POST"),
                "{path}"
            );
            helpers.insert(name);
        } else {
            assert_eq!(allowed, None, "{name} {path}");
        }
    }
    assert_eq!(helpers.len(), RECORD_HELPERS.len());
    let closed_to_strangers = Demo::start(
        ServerLimits::default(),
        &["--cors", "any", "--anonymous-helpers", "off"],
    )
    .await?;
    for (_, path) in addresses(&closed_to_strangers).await? {
        let answer = preflight(&closed_to_strangers, &path).await?;
        assert!(
            !answer.head.to_lowercase().contains("access-control"),
            "{path}: {}",
            answer.head
        );
    }
    Ok(())
}
