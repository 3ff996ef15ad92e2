//! The conformance suite on this store: direct, and through a pooler. The choices that the
//! specification leaves to the server are pinned in the file of svc-sqlite.

use super::{
    server::options,
    support::{self, pgbouncer::Bouncer, server::url_of},
};
use svc_conformance::{InProcess, Keys, Suite};
use svc_core::{
    Tenant, Vendor,
    api::{Api, IfMatchPolicy},
    backend::{DeliveryOutcome, OutboxEntry},
    model::Kind,
    raw::RawDraft,
    store::ImportedRecord,
    value::{Id, Timestamp},
};
use svc_postgres::{KeyOptions, PostgresOptions, PostgresStore, StatementMode};
use svc_tower::SvcService;

/// Returns the suite for a store that is opened with these options.
async fn suite(options: PostgresOptions) -> Suite {
    let store = PostgresStore::connect(options).await.expect("a store");
    let (one, two) = (
        store.ensure_tenant("one").await,
        store.ensure_tenant("two").await,
    );
    let (one, two) = (one.expect("a tenant"), two.expect("a tenant"));
    // The key is bound to a person, for requirements about `creator` and `modified_by`.
    let holder = Id::new("0198f000-0000-7000-8000-000000000001").expect("an id");
    let person = ImportedRecord::new(
        holder.clone(),
        Timestamp::now(),
        RawDraft::empty(Kind::Person),
    );
    store
        .import_records(&one, vec![person])
        .await
        .expect("a person");
    let key = store
        .create_key(&one, KeyOptions::new("primary").person(holder))
        .await
        .expect("a key")
        .token;
    let other = store
        .create_key(&two, KeyOptions::new("other"))
        .await
        .expect("a key")
        .token;
    let reads = store
        .create_key(&one, KeyOptions::new("reads").read_only())
        .await
        .expect("a key")
        .token;
    let api = store.register_all(Api::builder(
        Vendor::new("Example", "Conformance").message_of_the_day("Welcome"),
    ));
    let shared = std::sync::Arc::new(store.clone());
    let api = api
        .change_feed(&shared)
        .webhooks(&shared)
        .delivery(|_: &Tenant, _: &OutboxEntry| Ok(DeliveryOutcome::Sent));
    let api = api
        .response_cache(store.clone())
        .conditional_requests(IfMatchPolicy::Optional)
        .batches();
    let api = api
        .base_url("http://localhost/api/v1/")
        .authenticator(store.clone())
        .anonymous_helpers(store.clone());
    let service = SvcService::new(api.build().expect("an API"))
        .with_docs(svc_docs::Docs::new())
        .mounted_at("/api/v1");
    Suite::new(InProcess::new(service).base_url("http://localhost/api/v1/"))
        .keys(
            Keys::primary(key)
                .other_tenant(other)
                .restricted(reads, "people.create"),
        )
        .seed(42)
        .pins(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../svc-sqlite/tests/reference.toml"
        ))
}

/// Direct, with named statements.
#[test]
#[ignore = "needs PostgreSQL: .ci/postgres"]
fn the_store_conforms() {
    let server = support::server();
    let options = options(&server.url()).schema(&server.schema());
    svc_conformance::harness::run(|| suite(options)).unwrap();
}

/// Through pgbouncer in transaction mode without named statements, as on a cluster, and with
/// row-level security for a role to which it applies.
#[test]
#[ignore = "needs PostgreSQL: .ci/postgres"]
fn the_store_conforms_through_a_pooler() {
    let server = support::server();
    let schema = server.schema();
    let bouncer = Bouncer::start(server, 4);
    // The pooler has this role in its list.
    server.cluster_role_of("fenced", bouncer.port());
    let options = options(&url_of("fenced", bouncer.port()))
        .schema(&schema)
        .row_level_security()
        .statement_mode(StatementMode::Unnamed)
        .cluster();
    svc_conformance::harness::run(|| suite(options)).unwrap();
}
