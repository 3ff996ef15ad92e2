//! `svc-demo top`: shows `/metrics` of a running demo as a table, repeatedly.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, IsTerminal as _};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::run::{say, write};
use super::startup_error::StartupError;

/// Maximum number of routes to show.
const ROUTES: usize = 15;
/// Maximum number of bytes to read from a response.
const MOST: u64 = 4 * 1024 * 1024;
/// The labels and series of the store. Missing series are not shown.
const STORE: [(&str, &str); 9] = [
    ("queued writes", "svc_queued_writes"),
    ("writes", "svc_writes_total"),
    ("transactions", "svc_write_transactions_total"),
    ("readers open", "svc_read_connections_open"),
    ("readers busy", "svc_read_connections_busy"),
    ("queued reads", "svc_queued_reads"),
    ("connections busy", "svc_connections_busy"),
    ("connections idle", "svc_connections_idle"),
    ("connection waits", "svc_connection_waiters"),
];

/// Shows the metrics of the demo at an address, `times` times or until it is stopped.
///
/// # Errors
///
/// Returns an error if there is no response, or the response has no metrics.
pub(super) async fn top(
    address: &str,
    every: Duration,
    times: Option<u32>,
) -> Result<(), StartupError> {
    let mut before: Option<(Instant, BTreeMap<String, RouteStats>)> = None;
    let mut shown = 0_u32;
    loop {
        let text = tokio::time::timeout(Duration::from_secs(10), read(address)).await;
        let text = text.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())).map_err(|error| {
            let what = format!("The metrics cannot be read: {error}.");
            StartupError::new(
                what,
                address,
                "Check that the server is running, that the argument is its host and port, and that /metrics is on (--metrics on).",
            )
        })?;
        let (now, routes) = (Instant::now(), routes(&text));
        let since = before
            .as_ref()
            .map(|(then, routes)| (now.duration_since(*then).as_secs_f64(), routes));
        if io::stdout().is_terminal() {
            write("\x1b[2J\x1b[H");
        }
        say(&format!("{}\n", view(&text, &routes, since)));
        shown = shown.saturating_add(1);
        if times.is_some_and(|times| shown >= times) {
            return Ok(());
        }
        before = Some((now, routes));
        tokio::time::sleep(every).await;
    }
}

async fn read(address: &str) -> io::Result<String> {
    let mut stream = TcpStream::connect(address).await?;
    let head = format!("GET /metrics HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).await?;
    let mut text = String::new();
    stream.take(MOST).read_to_string(&mut text).await?;
    let body = text
        .split_once("\r\n\r\n")
        .filter(|(head, _)| head.starts_with("HTTP/1.1 200"))
        .map(|(_, body)| body);
    body.map(str::to_owned)
        .ok_or_else(|| io::Error::other(text.lines().next().unwrap_or("no response").to_owned()))
}

/// One route with one method.
#[derive(Debug, Default)]
struct RouteStats {
    requests: f64,
    failed: f64,
    seconds: f64,
    /// Upper bounds of buckets in seconds, and the number of responses up to each.
    buckets: Vec<(f64, f64)>,
}

/// Returns the routes by name and method.
fn routes(text: &str) -> BTreeMap<String, RouteStats> {
    let mut routes: BTreeMap<String, RouteStats> = BTreeMap::new();
    for (name, value) in text.lines().filter_map(|line| line.rsplit_once(' ')) {
        let Some((name, labels)) = name.split_once('{') else {
            continue;
        };
        let label = |name: &str| {
            labels
                .split_once(&format!("{name}=\""))
                .and_then(|(_, rest)| rest.split('"').next())
        };
        let (Some(route), Some(method), Ok(value)) =
            (label("route"), label("method"), value.parse::<f64>())
        else {
            continue;
        };
        let route = routes.entry(format!("{method:<7}{route}")).or_default();
        match name {
            "svc_http_requests_total" => {
                route.requests += value;
                route.failed += if label("status").is_some_and(|status| status >= "400") {
                    value
                } else {
                    0.0
                };
            }
            "svc_http_request_duration_seconds_sum" => route.seconds = value,
            "svc_http_request_duration_seconds_bucket" => {
                route
                    .buckets
                    .extend(label("le").and_then(|end| Some((end.parse().ok()?, value))));
            }
            _ => {}
        }
    }
    routes
}

fn view(
    text: &str,
    routes: &BTreeMap<String, RouteStats>,
    since: Option<(f64, &BTreeMap<String, RouteStats>)>,
) -> String {
    let mut out = format!(
        "{:<48}{:>10}{:>10}{:>9}{:>10}{:>10}\n",
        "route", "requests", "per s", "failed", "mean ms", "p95 ms"
    );
    let mut busiest: Vec<(&String, &RouteStats)> = routes.iter().collect();
    busiest.sort_by(|(_, one), (_, other)| other.requests.total_cmp(&one.requests));
    for (name, route) in busiest.into_iter().take(ROUTES) {
        let rate = since.map_or_else(
            || "-".to_owned(),
            |(seconds, before)| {
                let before = before.get(name).map_or(0.0, |route| route.requests);
                format!("{:.1}", (route.requests - before) / seconds.max(0.001))
            },
        );
        let mean = route.seconds * 1000.0 / route.requests.max(1.0);
        let most = route
            .buckets
            .iter()
            .find(|(_, count)| *count >= route.requests * 0.95)
            .map(|(end, _)| end * 1000.0);
        let most = most
            .filter(|most| most.is_finite())
            .map_or_else(|| ">10000".to_owned(), |most| format!("<={most}"));
        let (requests, failed) = (route.requests, route.failed);
        let _ = writeln!(
            out,
            "{name:<48}{requests:>10}{rate:>10}{failed:>9}{mean:>10.2}{most:>10}"
        );
    }
    for (words, series) in STORE {
        let value = text
            .lines()
            .find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
        if let Some(value) = value {
            let _ = writeln!(out, "{words:<18}{value:>8}");
        }
    }
    out
}
