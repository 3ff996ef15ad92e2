//! The conformance suite against the demo over HTTP, in every configuration that the specification
//! allows.
//!
//! `cargo test` runs two of the eight settings with the intensity `quick`. `.ci/run settings` runs
//! all of them at the default intensity, and all further runs that observe every MUST requirement.
//! It compares the matrix of the suite with the results (`BLESS=1` writes it).

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use http::Request;
use serde_json::Value;
use svc_conformance::{
    CleanUpReport, InProcess, Intensity, Keys, Remote, Report, RequirementOutcome, Suite, Target,
};
use svc_core::api::{Api, Vendor};
use svc_core::link::RecordAddress;
use svc_core::model::Kind;
use svc_core::raw::{RawPage, RawRecord};
use svc_core::store::{self, LookupKey, WriteRequest};
use svc_core::{Context, ListRequest};
use svc_sqlite::{KeyOptions, SqliteOptions, SqliteStore};
use svc_tower::SvcService;
use tokio::runtime::{Builder, Runtime};

use crate::support::program::Program;

const KEYS: [&str; 6] = [
    "--key",
    "demo=k-one-of-the-tenant-demo",
    "--key",
    "other=k-two-of-the-tenant-other",
    "--read-key",
    "demo=k-three-which-only-reads",
];

/// The option with which the demo sends to the receiver of the suite.
const PRIVATE_WEBHOOKS: &str = "--allow-private-webhooks";

/// Requirements that the eight runs do not observe need a demo with other options.
const MORE: &[(&str, &[&str])] = &[
    ("atomic helpers", &["--atomic-helpers"]),
    ("helpers only", &["--helpers-only"]),
    (
        "without haf.add_lists",
        &["--without-capability", "haf.add_lists"],
    ),
    ("changes with If-Match only", &["--require-if-match"]),
    ("private webhooks", &[PRIVATE_WEBHOOKS]),
];

/// The eight settings: response style, prefix, and whether anonymous callers may call helpers.
fn eight() -> Vec<(String, Vec<&'static str>)> {
    let mut all = Vec::new();
    for style in ["table", "examples"] {
        for prefix in ["svc", "osdi"] {
            for strangers in ["on", "off"] {
                let arguments = vec![
                    "--response-style",
                    style,
                    "--prefix",
                    prefix,
                    "--anonymous-helpers",
                    strangers,
                ];
                all.push((format!("{style} {prefix} {strangers}"), arguments));
            }
        }
    }
    all
}

fn runtime() -> Runtime {
    Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime")
}

/// Runs the suite against the demo. Returns the report, and the numbers of records before and
/// after.
fn run(arguments: &[&str], intensity: Intensity) -> (Report, u64, u64) {
    let folder = tempfile::tempdir().expect("a folder");
    let arguments = [&KEYS[..], &["--seed-people", "60"], arguments].concat();
    let demo = Program::demo(&folder.path().join("a.db"), &arguments).expect("a demo");
    let target: Arc<dyn Target> = Arc::new(Remote::new(&demo.base_url).expect("an address"));
    runtime().block_on(async {
        let before = records(target.as_ref()).await;
        let keys =
            Keys::primary("k-one-of-the-tenant-demo").other_tenant("k-two-of-the-tenant-other");
        let mut suite = Suite::from_shared(Arc::clone(&target))
            .keys(keys.restricted("k-three-which-only-reads", "people.create"))
            .intensity(intensity)
            .allow_side_effects(true)
            // The demo syncs each write, which can take long on a busy disk.
            .timeout(Duration::from_secs(60))
            .seed(42);
        if arguments.contains(&PRIVATE_WEBHOOKS) {
            suite = suite.webhook_receiver("127.0.0.1:0");
        }
        let report = suite.run().await.expect("a run");
        (report, before, records(target.as_ref()).await)
    })
}

/// Returns the number of records in all collections of the entry point.
async fn records(target: &dyn Target) -> u64 {
    let read = async |url: &str| {
        let mut request = Request::get(url);
        for prefix in ["svc", "osdi"] {
            request = request.header(format!("{prefix}-api-token"), "k-one-of-the-tenant-demo");
        }
        let request = request.body(Bytes::new()).expect("a request");
        let answer = target
            .send(request, 8_000_000, Duration::from_secs(60))
            .await
            .expect("an answer");
        serde_json::from_slice::<Value>(answer.body()).unwrap_or_default()
    };
    let entry = read(target.base()).await;
    let mut sum = 0;
    for (rel, link) in entry["_links"].as_object().expect("links") {
        if let (true, Some(href)) = (
            rel.contains(':') && !rel.ends_with("_helper"),
            link["href"].as_str(),
        ) {
            sum += read(href).await["total_records"]
                .as_u64()
                .unwrap_or_default();
        }
    }
    sum
}

/// Checks that the server conforms, every applicable MUST requirement was decided, and no created
/// record remains.
fn assert_clean(name: &str, report: &Report, before: u64, after: u64) {
    report.assert_conformant();
    let undecided: Vec<_> = report.inconclusive().collect();
    assert!(undecided.is_empty(), "{name}: {undecided:#?}");
    assert_eq!(report.exit_code(), 0, "{name}: {report}");
    let CleanUpReport {
        created,
        removed,
        left,
        failed,
        ..
    } = &report.clean_up;
    assert!(
        *created > 100 && created == removed && left.is_empty() && !failed,
        "{name}: {report}"
    );
    assert_eq!(before, after, "{name}: records before and after");
}

#[test]
fn the_demo_conforms() {
    let (report, before, after) = run(&[], Intensity::Quick);
    assert_clean("the demo", &report, before, after);
}

#[test]
fn the_demo_conforms_in_the_other_style_under_another_prefix_without_strangers() {
    let (name, arguments) = eight().pop().expect("eight");
    let (report, before, after) = run(&arguments, Intensity::Quick);
    assert_clean(&name, &report, before, after);
    assert!(
        report
            .rows
            .iter()
            .any(|row| row.outcome == RequirementOutcome::NotApplicable && row.id == "AUT-06"),
        "{report}"
    );
}

/// A store that cannot read its tags.
struct Broken(SqliteStore);

#[async_trait]
impl store::Store for Broken {
    async fn list(
        &self,
        cx: &Context,
        kind: Kind,
        request: &ListRequest,
    ) -> svc_core::Result<RawPage> {
        match kind {
            Kind::Tag => Err(svc_core::Error::unexpected("the disk failed")),
            kind => self.0.list(cx, kind, request).await,
        }
    }

    async fn get(&self, cx: &Context, at: &RecordAddress) -> svc_core::Result<Option<RawRecord>> {
        self.0.get(cx, at).await
    }

    async fn find(&self, cx: &Context, key: &LookupKey) -> svc_core::Result<Option<RawRecord>> {
        self.0.find(cx, key).await
    }

    async fn write(
        &self,
        cx: &Context,
        call: WriteRequest,
    ) -> svc_core::Result<store::WriteOutcome> {
        self.0.write(cx, call).await
    }
}

/// Runs the suite on a service in this process whose backend fails.
fn failing() -> Report {
    let folder = tempfile::tempdir().expect("a folder");
    runtime().block_on(async {
        let store =
            SqliteStore::open(SqliteOptions::new(folder.path().join("a.db"))).expect("a store");
        let tenant = store.ensure_tenant("one").await.expect("a tenant");
        let key = store
            .create_key(&tenant, KeyOptions::new("primary"))
            .await
            .expect("a key")
            .token;
        let api = Api::builder(Vendor::new("Example", "Failing"))
            .base_url("http://localhost/api/v1/")
            .authenticator(store.clone())
            .store(&Arc::new(Broken(store)));
        let api = api.build().expect("an API");
        let mut declaration = svc_core::api::capabilities(&api, api.base_url());
        declaration.behaviours.push("fault_injection".to_owned());
        let target = InProcess::new(SvcService::new(api).mounted_at("/api/v1"))
            .base_url("http://localhost/api/v1/");
        let suite = Suite::new(target)
            .declaration(declaration)
            .keys(Keys::primary(key))
            .seed(42);
        suite
            .only(["ERR-05", "ERR-06", "col/members"])
            .run()
            .await
            .expect("a run")
    })
}

#[test]
fn a_failing_backend_is_seen_to_say_so() {
    let report = failing();
    assert_eq!(
        report.requirement("ERR-05").map(|row| row.outcome),
        Some(RequirementOutcome::Pass),
        "{report}"
    );
}

/// Returns the reports of all settings in their order. Two run at a time.
fn all_runs() -> Vec<(String, Report)> {
    let more = MORE
        .iter()
        .map(|(name, arguments)| ((*name).to_owned(), arguments.to_vec()));
    let settings: Vec<(String, Vec<&str>)> = eight().into_iter().chain(more).collect();
    let (next, done) = (Mutex::new(0..settings.len()), Mutex::new(BTreeMap::new()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(at) = { next.lock().expect("a number").next() } {
                    let (name, arguments) = &settings[at];
                    let (report, before, after) = run(arguments, Intensity::Default);
                    println!(
                        "{name}: {:.1} s, {} requests",
                        report.seconds, report.requests
                    );
                    if at < 8 {
                        assert_clean(name, &report, before, after);
                    } else {
                        // Without records in a collection, most helpers are not reachable.
                        let wrong = report.count(RequirementOutcome::Fail)
                            + report.count(RequirementOutcome::Error);
                        assert_eq!(wrong, 0, "{name}: {report}");
                    }
                    done.lock()
                        .expect("reports")
                        .insert(at, (name.clone(), report));
                }
            });
        }
    });
    let mut reports: Vec<(String, Report)> =
        done.into_inner().expect("reports").into_values().collect();
    reports.push(("failing backend".to_owned(), failing()));
    reports
}

fn matrix() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../svc-conformance/matrix.csv")
}

/// Returns the third column of the matrix: the first run that observed a requirement, and the
/// number of runs that did.
fn seen(reports: &[(String, Report)], id: &str) -> String {
    let saw = |report: &&(String, Report)| {
        report
            .1
            .requirement(id)
            .is_some_and(|row| row.observations > 0)
    };
    reports
        .iter()
        .find(saw)
        .map(|(name, _)| name.clone())
        .unwrap_or_default()
}

#[test]
#[ignore = "takes minutes: .ci/run settings"]
fn the_demo_conforms_in_every_setting_and_every_must_row_is_seen() {
    let reports = all_runs();
    assert_eq!(reports.len(), 14);
    let text = fs::read_to_string(matrix()).expect("the matrix");
    let mut written = String::new();
    let mut unseen = Vec::new();
    for (at, line) in text.lines().enumerate() {
        // Only the last two cells can contain commas or quotes.
        let mut cells: Vec<String> = line.splitn(5, ',').map(ToOwned::to_owned).collect();
        if at > 0 {
            cells[3] = seen(&reports, &cells[0]);
            if cells[1] == "MUST" && cells[3].is_empty() {
                unseen.push(cells[0].clone());
            }
        }
        written.push_str(&(cells.join(",") + "\n"));
    }
    if std::env::var_os("BLESS").is_some() {
        fs::write(matrix(), &written).expect("the matrix can be written");
    }
    let differs = text
        .lines()
        .zip(written.lines())
        .find(|(one, other)| one != other);
    println!("MUST requirements that no run observed: {unseen:?}");
    if std::env::var_os("BLESS").is_none() {
        assert_eq!(differs, None, "run with BLESS=1");
    }
}
