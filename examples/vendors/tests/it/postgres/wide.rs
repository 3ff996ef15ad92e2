//! The wide tables of an old program in PostgreSQL: the suite, and what its rows become.

use std::{sync::Arc, time::Duration};

use http::StatusCode;
use serde_json::{Value, json};
use svc_conformance::{InProcess, Intensity, Keys, Suite};
use svc_postgres::{PostgresDatabase, PostgresOptions};
use svc_sql::{Database, MappedStore};
use svc_tower::SvcService;
use svc_vendor_examples::wide::{INDEXES, ROWS, TABLES, interface};

use super::support::{self, server::Server};
use crate::mapped::{BASE, KEYS, TestResult, call};

/// Creates a schema with the tables and their rows.
fn schema(server: &Server) -> String {
    let name = server.schema();
    let mut sql =
        format!("CREATE SCHEMA {name}; SET search_path = {name}; {TABLES} {ROWS} {INDEXES}");
    for (hash, org, scope) in crate::mapped::keys() {
        let hash = svc_store::hex::encode(&hash);
        let values = format!("({org}, decode('{hash}', 'hex'), '{scope}')");
        sql = sql + "INSERT INTO api_keys (org_id, token_hash, scope) VALUES " + &values + ";";
    }
    server.psql(&sql);
    name
}

async fn service(server: &Server, schema: &str) -> TestResult<SvcService> {
    let url = format!("{}?options=-csearch_path%3D{schema}", server.url());
    let options = PostgresOptions::new(&url)?.busy_timeout(Duration::from_secs(60));
    let database: Arc<dyn Database> = Arc::new(PostgresDatabase::new(&options));
    MappedStore::create_library_tables(&database).await?;
    Ok(interface(database, BASE).await?)
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn the_suite_finds_nothing_wrong() -> TestResult {
    let server = support::server();
    let service = service(server, &schema(server)).await?;
    let [primary, other, restricted] = KEYS.map(|(key, ..)| key);
    let keys = Keys::primary(primary)
        .other_tenant(other)
        .restricted(restricted, "petitions.create");
    let intensity = match std::env::var("SVC_INTENSITY").as_deref() {
        Ok("default") => Intensity::Default,
        _ => Intensity::Quick,
    };
    let suite = Suite::new(InProcess::new(service).base_url(BASE)).keys(keys);
    let report = suite.intensity(intensity).seed(42).run().await?;
    println!("{report}");
    assert_eq!(report.exit_code(), 0, "{report}");
    Ok(())
}
