//! Measures whether the response time for an anonymous caller reveals that a person is known.
//!
//! Requirements: HLP-07.

use std::path::Path;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use svc_core::model::Kind;
use svc_core::value::Id;
use svc_sqlite::SqliteOptions;
use svc_tower::SvcService;
use tokio::runtime::Runtime;
use tower::Service;

use crate::data::{self, Server};
use crate::measure::{Bound, Report, median};

/// Number of pairs: a request for a known person and one for an unknown person.
const PAIRS: u32 = 2_000;
/// Number of warm-up pairs before the measured ones.
const FIRST: u32 = 200;
/// Below this p-value the two are distinguishable.
const LEAST: f64 = 0.01;

/// Responses are sent at multiples of this duration.
const EVEN: Duration = Duration::from_millis(10);

/// Measures whether the two are distinguishable with a response-time quantum and, for comparison,
/// without one.
pub(crate) fn strangers(report: &mut Report, runtime: &Runtime, folder: &Path) {
    // Accurate to a few microseconds, while `tokio::time::sleep` rounds to whole milliseconds.
    let exact = |time| async move {
        tokio::task::spawn_blocking(move || std::thread::sleep(time))
            .await
            .expect("a thread");
    };
    let even = |service: SvcService| service.response_time_quantum(EVEN, exact);
    let durable = measured(runtime, SqliteOptions::new(folder.join("durable.db")), even);
    for (test, told) in [
        ("sign test", &durable.pairs),
        ("Mann-Whitney", &durable.ranks),
    ] {
        let what = format!("p that known and unknown take equally long, {test}");
        let detail = format!(
            "P(unknown slower) {:.3}, two-sided p {:.4}; {}",
            told.share, told.p, durable.medians
        );
        report.line(&what, Bound::AtLeast(LEAST), told.p, "", &detail);
    }
    let at_once = measured(
        runtime,
        SqliteOptions::new(folder.join("at_once.db")),
        |service| service,
    );
    println!(
        "(without quantum: P(unknown slower) {:.3} by sign test, {:.3} by Mann-Whitney; {})",
        at_once.pairs.share, at_once.ranks.share, at_once.medians
    );
}

/// The results of the requests to one server.
struct Measured {
    pairs: Told,
    ranks: Told,
    medians: String,
}

/// Measures signatures of anonymous callers, in consecutive pairs: one of a known person, one of an
/// unknown person.
fn measured(
    runtime: &Runtime,
    options: SqliteOptions,
    set: impl FnOnce(SvcService) -> SvcService,
) -> Measured {
    let server = runtime.block_on(Server::with(options));
    let petition = data::id(Kind::Petition, 0);
    runtime.block_on(async {
        server.load([data::petition(0)]).await;
        server
            .load((0..FIRST + PAIRS).map(|number| data::person(KNOWN + number)))
            .await;
    });
    let mut service = set(server.service.clone());
    let mut times = [Vec::new(), Vec::new()];
    for number in 0..FIRST + PAIRS {
        // The order alternates, so that effects of the preceding request cancel out.
        let sides = [KNOWN, UNKNOWN].map(|base| signature(&petition, base + number));
        let mut pair = [0.0; 2];
        let mut calls: Vec<_> = pair.iter_mut().zip(sides).collect();
        if number % 2 == 1 {
            calls.reverse();
        }
        for (time, request) in calls {
            *time = runtime.block_on(timed(&mut service, request));
        }
        if number >= FIRST {
            times
                .iter_mut()
                .zip(pair)
                .for_each(|(side, time)| side.push(time));
        }
    }
    let [known, unknown] = times;
    let (pairs, ranks) = (by_pairs(&known, &unknown), by_ranks(&known, &unknown));
    let (each, other) = (median(known), median(unknown));
    let medians = format!(
        "medians {each:.0} us known, {other:.0} us unknown, ratio {:.3}",
        other / each
    );
    Measured {
        pairs,
        ranks,
        medians,
    }
}

/// The first numbers of known and unknown people, with the same number of digits. The known ones
/// are loaded.
const KNOWN: u32 = 100_000;
const UNKNOWN: u32 = 200_000;

fn signature(petition: &Id, number: u32) -> Request<Full<Bytes>> {
    let body = format!(
        r#"{{"comments":"Count me in.","person":{{"given_name":"Ada","family_name":"Larsson","email_addresses":[{{"address":"person.{number}@example.org"}}]}}}}"#
    );
    let request = Request::post(format!(
        "/api/v1/petitions/{petition}/record_signature_helper"
    ));
    let request = request
        .header("host", "api.example.org")
        .header("content-type", "application/json");
    request.body(Full::new(body.into())).expect("a request")
}

/// Returns the microseconds until the response is complete.
async fn timed(service: &mut SvcService, request: Request<Full<Bytes>>) -> f64 {
    let begin = Instant::now();
    let answer = service
        .call(request)
        .await
        .unwrap_or_else(|never| match never {});
    let time = begin.elapsed().as_secs_f64() * 1e6;
    assert_eq!(
        answer.status(),
        http::StatusCode::OK,
        "the signature is recorded"
    );
    time
}

/// The result of a test of two samples.
struct Told {
    /// The share of pairs in which the second value is greater.
    share: f64,
    /// The two-sided p-value: the probability of such a difference if there is none.
    p: f64,
}

/// The sign test: each value of one sample against its neighbour of the other.
fn by_pairs(one: &[f64], other: &[f64]) -> Told {
    let (mut greater, mut pairs) = (0.0, 0.0);
    for (one, other) in one.iter().zip(other) {
        greater += wins(*one, *other);
        pairs += 1.0;
    }
    Told {
        share: greater / pairs,
        p: two_sided((greater - pairs / 2.0) / (pairs / 4.0_f64).sqrt()),
    }
}

/// The test of Mann and Whitney: each value of one sample against all of the other.
fn by_ranks(one: &[f64], other: &[f64]) -> Told {
    let (mut greater, mut all) = (0.0, 0.0);
    for one in one {
        for other in other {
            greater += wins(*one, *other);
            all += 1.0;
        }
    }
    let (first, second) = (f64::from(PAIRS), f64::from(PAIRS));
    let deviation = (first * second * (first + second + 1.0) / 12.0).sqrt();
    Told {
        share: greater / all,
        p: two_sided((greater - all / 2.0) / deviation),
    }
}

/// Returns 1 if the second value is greater, and one half if both are equal.
fn wins(one: f64, other: f64) -> f64 {
    match other.total_cmp(&one) {
        std::cmp::Ordering::Greater => 1.0,
        std::cmp::Ordering::Equal => 0.5,
        std::cmp::Ordering::Less => 0.0,
    }
}

/// Returns the two-sided p-value of a number of standard deviations: Abramowitz and Stegun 7.1.26,
/// exact to seven digits.
fn two_sided(deviations: f64) -> f64 {
    let x = deviations.abs() / std::f64::consts::SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * x);
    let factors = [
        1.061_405_429,
        -1.453_152_027,
        1.421_413_741,
        -0.284_496_736,
        0.254_829_592,
    ];
    factors.iter().fold(0.0, |sum, factor| (sum + factor) * t) * (-x * x).exp()
}
