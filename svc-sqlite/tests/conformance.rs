//! The conformance suite against this backend, in process: what a vendor would write.

use svc_conformance::{InProcess, Keys, Outcome, Report, Suite};
use svc_core::Vendor;
use svc_core::api::Api;
use svc_core::draft::RawDraft;
use svc_core::model::Kind;
use svc_core::value::{Id, Timestamp};
use svc_sqlite::{KeyOptions, Options, SeedRow, Store};
use svc_tower::SvcService;

async fn report(seed: u64) -> Report {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Store::open(Options::new(folder.path().join("conformance.db"))).expect("a store");
    let (one, two) = (store.ensure_tenant("one").await, store.ensure_tenant("two").await);
    let (one, two) = (one.expect("a tenant"), two.expect("a tenant"));
    let lacks = KeyOptions::new("restricted").read_only();
    // Who creates and changes records is known (LK rows on `creator` and `modified_by`).
    let holder = Id::new("0198f000-0000-7000-8000-000000000001").expect("an id");
    let draft = RawDraft::empty(Kind::Person);
    let person = SeedRow { id: holder.clone(), created: Timestamp::now(), draft, recorded_by: None };
    store.seed(&one, vec![person]).await.expect("a person");
    let key = store.create_key(&one, KeyOptions::new("primary").person(holder)).await.expect("a key").token;
    let other = store.create_key(&two, KeyOptions::new("other")).await.expect("a key").token;
    let restricted = store.create_key(&one, lacks).await.expect("a key").token;
    let api = Api::builder(Vendor::new("Example", "Conformance").motd("Welcome"));
    let api = store.register_all(api).keep_reads(store.clone());
    let api = api.base_url("http://localhost/api/v1/").authenticator(store.clone()).anonymous_helpers(store.clone());
    let service = SvcService::new(api.build().expect("an API")).under("/api/v1");
    Suite::new(InProcess::new(service).base("http://localhost/api/v1/"))
        .keys(Keys::primary(key).other_tenant(other).restricted(restricted, "people.create"))
        .seed(seed)
        .run()
        .await
        .expect("a run")
}

#[tokio::test]
async fn the_reference_server_conforms() {
    let report = report(42).await;
    println!("{report}");
    assert_eq!(report.count(Outcome::Fail) + report.count(Outcome::Error), 0, "{report}");
    assert!(report.count(Outcome::Pass) > 0, "{report}");
}
