//! What `/metrics` tells, in Prometheus' text format: requests by route template and status, latency, and the store's work.
//!
//! Labels are templates such as `people/{id}`: no path, no key and no personal data gets here. A few counters do not need a
//! library of a dozen packages.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use svc_tower::Answered;

use super::database::{Connections, Stats};

/// The upper ends of the latency's buckets, in microseconds.
const BUCKETS: [u64; 12] =
    [250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 500_000, 2_500_000, 10_000_000];

/// Counts answers. Cheap to clone; clones count together.
#[derive(Debug, Clone, Default)]
pub struct Metrics {
    counted: Arc<Mutex<Counted>>,
}

#[derive(Debug, Default)]
struct Counted {
    /// By route, method and status.
    requests: BTreeMap<(String, &'static str, u16), u64>,
    /// By route and method.
    latency: BTreeMap<(String, &'static str), Latency>,
}

#[derive(Debug, Default)]
struct Latency {
    /// Answers in each bucket, those of the buckets below not included.
    buckets: [u64; BUCKETS.len()],
    count: u64,
    sum: Duration,
}

impl Metrics {
    /// Counts one answer.
    pub fn count(&self, answered: &Answered<'_>) {
        let (route, method) = (answered.route().to_string(), answered.method());
        let mut counted = self.lock();
        let latency = counted.latency.entry((route.clone(), method)).or_default();
        latency.count = latency.count.saturating_add(1);
        latency.sum = latency.sum.saturating_add(answered.time());
        let micros = u64::try_from(answered.time().as_micros()).unwrap_or(u64::MAX);
        let bucket = BUCKETS.iter().position(|end| micros <= *end).and_then(|place| latency.buckets.get_mut(place));
        if let Some(bucket) = bucket {
            *bucket = bucket.saturating_add(1);
        }
        let requests = counted.requests.entry((route, method, answered.status().as_u16())).or_default();
        *requests = requests.saturating_add(1);
    }

    fn lock(&self) -> MutexGuard<'_, Counted> {
        self.counted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Everything as text, with what the store says of itself.
    #[must_use]
    pub fn text(&self, store: &Stats) -> String {
        let mut text = String::with_capacity(16 * 1024);
        // Writing to a string does not fail.
        let _ = self.write(store, &mut text);
        text
    }

    fn write(&self, store: &Stats, out: &mut String) -> fmt::Result {
        let counted = self.lock();
        head(out, "svc_requests_total", "counter", "Answers by route, method and status.")?;
        for ((route, method, status), count) in &counted.requests {
            writeln!(out, "svc_requests_total{{route=\"{route}\",method=\"{method}\",status=\"{status}\"}} {count}")?;
        }
        let name = "svc_request_seconds";
        head(out, name, "histogram", "Time from a request's head to its answer.")?;
        for ((route, method), latency) in &counted.latency {
            let labels = format!("route=\"{route}\",method=\"{method}\"");
            let mut below = 0_u64;
            for (end, count) in BUCKETS.iter().zip(&latency.buckets) {
                below = below.saturating_add(*count);
                let end = Duration::from_micros(*end).as_secs_f64();
                writeln!(out, "{name}_bucket{{{labels},le=\"{end}\"}} {below}")?;
            }
            writeln!(out, "{name}_bucket{{{labels},le=\"+Inf\"}} {}", latency.count)?;
            writeln!(out, "{name}_sum{{{labels}}} {}", latency.sum.as_secs_f64())?;
            writeln!(out, "{name}_count{{{labels}}} {}", latency.count)?;
        }
        drop(counted);
        let Stats { commits, .. } = store;
        let seconds = commits.time.as_secs_f64();
        value(out, "svc_writes_waiting", "gauge", "Writes in the writer's queue.", store.writes_waiting)?;
        value(out, "svc_writes_total", "counter", "Writes that were carried out.", commits.writes)?;
        value(
            out,
            "svc_batches_total",
            "counter",
            "Transactions that writes shared; each is one sync.",
            commits.batches,
        )?;
        value(out, "svc_batch_writes_max", "gauge", "Writes in the largest transaction.", commits.largest_batch)?;
        value(out, "svc_commit_seconds_total", "counter", "Time spent in COMMIT, most of it in the sync.", seconds)?;
        match store.connections {
            Connections::Readers { open, busy, waiting } => {
                value(out, "svc_readers_open", "gauge", "Reading connections.", open)?;
                value(out, "svc_readers_busy", "gauge", "Reading connections at work.", busy)?;
                value(out, "svc_reads_waiting", "gauge", "Reads that wait for a connection.", waiting)
            }
            Connections::Pool { busy, idle, wanted } => {
                value(out, "svc_connections_busy", "gauge", "Connections to the database at work.", busy)?;
                value(out, "svc_connections_idle", "gauge", "Connections to the database without work.", idle)?;
                value(out, "svc_connections_wanted", "gauge", "Calls that wait for a connection.", wanted)
            }
        }
    }
}

fn head(out: &mut String, name: &str, kind: &str, help: &str) -> fmt::Result {
    writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}")
}

fn value(out: &mut String, name: &str, kind: &str, help: &str, value: impl fmt::Display) -> fmt::Result {
    head(out, name, kind, help)?;
    writeln!(out, "{name} {value}")
}
