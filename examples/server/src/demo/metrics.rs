//! The metrics of `/metrics` in the text format of Prometheus: requests by route template and
//! status, latency, and the work of the store.
//!
//! Labels are templates such as `people/{id}`. They never contain a path, a key or personal data.

use prometheus::core::Collector;
use prometheus::proto::MetricFamily;
use prometheus::{
    Counter, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGauge, Opts, Registry,
    Result, TextEncoder,
};
use svc_tower::{BodyBudgetUsage, ObservedResponse};

use super::database::{ConnectionStats, StoreStats};
use super::startup_error::StartupError;

/// The upper bounds of the latency buckets, in seconds.
const BUCKETS: [f64; 12] = [
    0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2.5, 10.0,
];

/// Counts responses. Cheap to clone; all clones share their counters.
#[derive(Debug, Clone)]
pub struct Metrics {
    registry: Registry,
    /// By route, method and status.
    requests: IntCounterVec,
    /// By route and method.
    latency: HistogramVec,
}

impl Metrics {
    /// Creates metrics without any response.
    ///
    /// # Errors
    ///
    /// Returns an error if the metrics cannot be registered.
    pub fn new() -> std::result::Result<Self, StartupError> {
        Self::registered().map_err(|error| {
            let what = format!("The metrics cannot be registered: {error}.");
            StartupError::new(what, "--metrics on", "Start the server with --metrics off.")
        })
    }

    fn registered() -> Result<Self> {
        let requests = Opts::new(
            "svc_http_requests_total",
            "Responses by route, method and status.",
        );
        let latency = HistogramOpts::new(
            "svc_http_request_duration_seconds",
            "Time from the head of a request to its response.",
        );
        let metrics = Self {
            registry: Registry::new(),
            requests: IntCounterVec::new(requests, &["route", "method", "status"])?,
            latency: HistogramVec::new(latency.buckets(BUCKETS.to_vec()), &["route", "method"])?,
        };
        metrics
            .registry
            .register(Box::new(metrics.requests.clone()))?;
        metrics
            .registry
            .register(Box::new(metrics.latency.clone()))?;
        Ok(metrics)
    }

    /// Counts one response.
    pub fn count(&self, answered: &ObservedResponse<'_>) {
        let (route, method) = (answered.route().to_string(), answered.method());
        // The number of values matches the number of labels; otherwise nothing is counted.
        if let Ok(latency) = self
            .latency
            .get_metric_with_label_values(&[&*route, method])
        {
            latency.observe(answered.duration().as_secs_f64());
        }
        if let Ok(requests) = self.requests.get_metric_with_label_values(&[
            &*route,
            method,
            answered.status().as_str(),
        ]) {
            requests.inc();
        }
    }

    /// Returns all metrics as text, with the statistics of the store and the memory of incomplete
    /// request bodies.
    ///
    /// # Errors
    ///
    /// Returns an error if a metric cannot be written in this format.
    pub fn text(&self, store: &StoreStats, bodies: BodyBudgetUsage) -> Result<String> {
        let mut families = self.registry.gather();
        families.extend(of_store(store)?);
        families.extend(of_bodies(bodies)?);
        TextEncoder::new().encode_to_string(&families)
    }
}

/// Returns the metrics of a store.
fn of_store(store: &StoreStats) -> Result<Vec<MetricFamily>> {
    let commits = store.commits;
    let mut families = vec![
        gauge(
            "svc_queued_writes",
            "Writes in the write queue.",
            store.writes_waiting,
        )?,
        counter("svc_writes_total", "Executed writes.", commits.writes)?,
        counter(
            "svc_write_transactions_total",
            "Transactions of writes; each is one sync.",
            commits.transactions,
        )?,
        gauge(
            "svc_write_transaction_size_max",
            "Writes in the largest transaction.",
            commits.largest_transaction,
        )?,
    ];
    let seconds = Counter::new(
        "svc_commit_seconds_total",
        "Time in COMMIT, most of it in the sync.",
    )?;
    seconds.inc_by(commits.commit_time.as_secs_f64());
    families.push(seconds.collect());
    families.extend(match store.connections {
        ConnectionStats::Readers {
            open,
            busy,
            waiting,
        } => [
            gauge(
                "svc_read_connections_open",
                "Open reading connections.",
                open,
            )?,
            gauge(
                "svc_read_connections_busy",
                "Busy reading connections.",
                busy,
            )?,
            gauge(
                "svc_queued_reads",
                "Reads that wait for a connection.",
                waiting,
            )?,
        ],
        ConnectionStats::Pool { busy, idle, wanted } => [
            gauge(
                "svc_connections_busy",
                "Busy connections to the database.",
                busy,
            )?,
            gauge(
                "svc_connections_idle",
                "Idle connections to the database.",
                idle,
            )?,
            gauge(
                "svc_connection_waiters",
                "Calls that wait for a connection.",
                wanted,
            )?,
        ],
    });
    Ok(families.into_iter().flatten().collect())
}

/// Returns the metrics of incomplete request bodies.
fn of_bodies(bodies: BodyBudgetUsage) -> Result<impl Iterator<Item = MetricFamily>> {
    let families = [
        gauge(
            "svc_body_bytes_held",
            "Bytes that incomplete request bodies use.",
            bodies.held,
        )?,
        gauge(
            "svc_body_bytes_limit",
            "Maximum number of bytes of all incomplete request bodies together.",
            bodies.limit,
        )?,
        counter(
            "svc_bodies_cut_total",
            "Incomplete request bodies that were cut with 503.",
            bodies.cut,
        )?,
    ];
    Ok(families.into_iter().flatten())
}

fn counter(name: &str, help: &str, value: u64) -> Result<Vec<MetricFamily>> {
    let counter = IntCounter::new(name, help)?;
    counter.inc_by(value);
    Ok(counter.collect())
}

fn gauge(name: &str, help: &str, value: impl TryInto<i64>) -> Result<Vec<MetricFamily>> {
    let gauge = IntGauge::new(name, help)?;
    gauge.set(value.try_into().unwrap_or(i64::MAX));
    Ok(gauge.collect())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;

    use svc_store::commits::CommitStats;

    use super::*;

    /// Returns the names of the metrics in a text.
    fn names(text: &str) -> BTreeSet<&str> {
        let of_name = |letter: char| letter.is_ascii_lowercase() || letter == '_';
        let words = text
            .split(|letter| !of_name(letter))
            .filter(|word| word.starts_with("svc_"));
        // A histogram has three series, with suffixes of its name.
        let series = ["_bucket", "_sum", "_count"];
        words
            .map(|word| {
                series
                    .iter()
                    .find_map(|part| word.strip_suffix(part))
                    .unwrap_or(word)
            })
            .collect()
    }

    /// Returns the names of all metrics of both stores in `/metrics`.
    fn served() -> BTreeSet<String> {
        let metrics = Metrics::new().expect("metrics");
        let families = |connections| {
            let stats = StoreStats {
                writes_waiting: 0,
                commits: CommitStats::default(),
                connections,
            };
            metrics
                .requests
                .with_label_values(&["people", "GET", "200"])
                .inc();
            metrics
                .latency
                .with_label_values(&["people", "GET"])
                .observe(0.1);
            metrics
                .text(&stats, svc_tower::BodyBudget::new(0).usage())
                .expect("a text")
        };
        let texts = [
            families(ConnectionStats::Readers {
                open: 0,
                busy: 0,
                waiting: 0,
            }),
            families(ConnectionStats::Pool {
                busy: 0,
                idle: 0,
                wanted: 0,
            }),
        ];
        let types = texts
            .iter()
            .flat_map(|text| text.lines())
            .filter_map(|line| line.strip_prefix("# TYPE "));
        types
            .filter_map(|line| line.split(' ').next())
            .map(str::to_owned)
            .collect()
    }

    #[test]
    fn rules_and_dashboard_name_metrics_that_are_served() {
        let served = served();
        assert_eq!(served.len(), 16, "{served:?}");
        for file in [
            "../operations/alerts.yaml",
            "../operations/alerts-test.yaml",
            "../operations/dashboard.json",
        ] {
            let text = fs::read_to_string(format!("{}/{file}", env!("CARGO_MANIFEST_DIR")))
                .expect("a file");
            let named = names(&text);
            assert!(named.len() > 5, "{file}: {named:?}");
            let unknown: Vec<_> = named
                .into_iter()
                .filter(|name| !served.contains(*name))
                .collect();
            assert_eq!(unknown, Vec::<&str>::new(), "{file}");
        }
    }

    #[test]
    fn every_metric_is_described() {
        let chapter = fs::read_to_string(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../svc-postgres/src/operations.md"
        ));
        let chapter = chapter.expect("the chapter");
        let rows: BTreeSet<String> = chapter
            .lines()
            .filter_map(|line| line.strip_prefix("| `svc_")?.split('`').next())
            .map(|name| format!("svc_{name}"))
            .collect();
        assert_eq!(rows, served());
    }
}
