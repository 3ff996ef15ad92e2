//! The conformance suite against this backend, in process, each of its checks a test of its own:
//! what a vendor copies.
//!
//! What this server chose where the interface leaves a choice is pinned in `reference.toml`;
//! `UPDATE_PINS=1` writes it.
//!
//! It needs an entry in `Cargo.toml`: `[[test]]` with `name = "conformance"` and `harness = false`.

use std::sync::Arc;

use svc_conformance::{InProcess, Keys, Suite};
use svc_core::api::{Api, IfMatchPolicy};
use svc_core::backend::{DeliveryOutcome, OutboxEntry};
use svc_core::model::Kind;
use svc_core::raw::RawDraft;
use svc_core::store::ImportedRecord;
use svc_core::value::{Id, Timestamp};
use svc_core::{Tenant, Vendor};
use svc_sqlite::{KeyOptions, SqliteOptions, SqliteStore};
use svc_tower::SvcService;

async fn suite() -> Suite {
    // The checks use the data as long as the process lives.
    let folder = tempfile::tempdir().expect("a folder").keep();
    let store =
        SqliteStore::open(SqliteOptions::new(folder.join("conformance.db"))).expect("a store");
    let (one, two) = (
        store.ensure_tenant("one").await,
        store.ensure_tenant("two").await,
    );
    let (one, two) = (one.expect("a tenant"), two.expect("a tenant"));
    // Who creates and changes records is known (LK rows on `creator` and `modified_by`).
    let holder = Id::new("0198f000-0000-7000-8000-000000000001").expect("an id");
    let draft = RawDraft::empty(Kind::Person);
    let person = ImportedRecord::new(holder.clone(), Timestamp::now(), draft);
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
    let api = Api::builder(Vendor::new("Example", "Conformance").message_of_the_day("Welcome"));
    let shared = Arc::new(store.clone());
    let api = store
        .register_all(api)
        .change_feed(&shared)
        .webhooks(&shared)
        .response_cache(store.clone());
    let api = api.conditional_requests(IfMatchPolicy::Optional).batches();
    let api = api.delivery(|_: &Tenant, _: &OutboxEntry| Ok(DeliveryOutcome::Sent));
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
        .pins(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/reference.toml"))
}

svc_conformance::harness!(suite);
