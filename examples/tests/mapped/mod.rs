//! What both databases of the mapped example are tried with.
#![allow(dead_code, unreachable_pub, reason = "each test file uses its part")]

use std::{error::Error, sync::Arc};

use http::{Request, StatusCode};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use svc_conformance::{InProcess, Intensity, Keys, Suite};
use svc_core::mapped::{Database, MappedStore};
use svc_examples::mapped::interface;
use svc_tower::SvcService;
use tower::ServiceExt;

pub type TestResult<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

const BASE: &str = "http://localhost/";
/// The keys of the tests, with the number of the organisation and what they may do.
const KEYS: [(&str, i64, &str); 3] = [
    ("key of acme 0123456789", 1, "all"),
    ("key of other 0123456789", 2, "all"),
    ("key of a form 0123456789", 1, "helper.person_signup people.read"),
];

/// What the table of keys has for them.
pub fn keys() -> impl Iterator<Item = (Vec<u8>, i64, &'static str)> {
    KEYS.into_iter().map(|(key, org, scope)| (Sha256::digest(key).to_vec(), org, scope))
}

/// The tables in some database.
pub struct Place {
    database: Arc<dyn Database>,
}

impl Place {
    pub fn new(database: Arc<dyn Database>) -> Self {
        Self { database }
    }

    pub fn database(&self) -> Arc<dyn Database> {
        Arc::clone(&self.database)
    }

    pub async fn service(&self) -> TestResult<SvcService> {
        MappedStore::create_own_tables(&self.database).await?;
        Ok(interface(Arc::clone(&self.database), BASE).await?)
    }

    /// The suite, with what the server declares of itself and nothing else.
    pub async fn conforms(&self) -> TestResult {
        let [primary, other, restricted] = KEYS.map(|(key, ..)| key);
        let keys = Keys::primary(primary).other_tenant(other).restricted(restricted, "tags.create");
        let intensity = match std::env::var("SVC_INTENSITY").as_deref() {
            Ok("default") => Intensity::Default,
            _ => Intensity::Quick,
        };
        let suite = Suite::new(InProcess::new(self.service().await?).base(BASE)).keys(keys);
        let report = suite.intensity(intensity).seed(42).run().await?;
        println!("{report}");
        assert_eq!(report.exit_code(), 0, "{report}");
        Ok(())
    }

    /// As many callers sign one new person up at the same moment, round after round.
    pub async fn signs_up_at_once(&self, rounds: usize) -> TestResult {
        let service = self.service().await?;
        for round in 0..rounds {
            let body = json!({ "person": { "email_addresses": [{ "address": format!("ada{round}@example.org") }] } });
            let calls = (0..20)
                .map(|_| tokio::spawn(call(service.clone(), "POST", "people/person_signup", Some(body.clone()))));
            let mut ids = Vec::new();
            for call in calls.collect::<Vec<_>>() {
                let (status, answer) = call.await??;
                assert!(status.is_success(), "HLP-04: {status} {answer}");
                ids.push(answer["_links"]["self"]["href"].as_str().map(str::to_owned));
            }
            ids.dedup();
            assert_eq!(ids.len(), 1, "HLP-04: one person in round {round}: {ids:?}");
        }
        let (_, people) = call(service, "GET", "people?per_page=1", None).await?;
        assert_eq!(people["total_records"], rounds, "HLP-04");
        Ok(())
    }
}

/// An answer of the service to a call with the first key.
pub async fn call(
    service: SvcService,
    method: &str,
    path: &str,
    body: Option<Value>,
) -> TestResult<(StatusCode, Value)> {
    let request = Request::builder().method(method).uri(format!("{BASE}{path}"));
    let request = request.header("SVC-API-Token", KEYS[0].0).header("content-type", "application/json");
    let body = body.map(|body| body.to_string()).unwrap_or_default();
    let answer = service.oneshot(request.body(body)?).await?;
    let status = answer.status();
    let bytes = answer.into_body().collect().await?.to_bytes();
    Ok((status, serde_json::from_slice(&bytes).unwrap_or(Value::Null)))
}
