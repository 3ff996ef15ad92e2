//! The conformance suite on the store in memory, with the same settings as on this store: both
//! conform alike.

use async_trait::async_trait;
use svc_conformance::{InProcess, Intensity, Keys, RequirementOutcome, Suite};
use svc_core::api::{Api, ApiBuilder, IfMatchPolicy};
use svc_core::auth::{Authenticator, Caller, Credentials, Operation, Principal, Right, Rights};
use svc_core::backend::{DeliveryOutcome, OutboxEntry};
use svc_core::model::Kind;
use svc_core::raw::RawDraft;
use svc_core::schema::Constraints;
use svc_core::store::{ImportedRecord, Store, WriteOperation, WriteRequest};
use svc_core::value::{Id, Timestamp};
use svc_core::{Context, Result, Tenant, Vendor};
use svc_store::memory::MemoryStore;
use svc_tower::SvcService;

const HOLDER: &str = "0198f000-0000-7000-8000-000000000001";

/// Keys of the suite. The first is bound to a person, for requirements about `creator` and
/// `modified_by`.
struct OfTheSuite;

#[async_trait]
impl Authenticator for OfTheSuite {
    async fn authenticate(&self, credentials: Credentials<'_>) -> Result<Option<Principal>> {
        let (tenant, caller) = match credentials.key {
            Some("key-of-one") => (
                "one",
                Caller::with_rights(Rights::all()).with_person(Id::new(HOLDER)),
            ),
            Some("key-of-another") => ("two", Caller::with_rights(Rights::all())),
            Some("key-that-reads") => ("one", Caller::with_rights(Rights::read_only())),
            Some("key-without-people") => ("one", Caller::with_rights(all_but_reading_people())),
            _ => return Ok(None),
        };
        Ok(Some(Principal::new(Tenant::new(tenant), caller)))
    }
}

fn all_but_reading_people() -> Rights {
    let reads_people = Right::Operation(Kind::Person, Operation::Read);
    Rights::only(Right::all().filter(|right| *right != reads_people))
}

async fn suite() -> Suite {
    let pins = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/reference.toml");
    suite_of(|api| api).await.pins(pins)
}

async fn suite_of(configure: impl Fn(ApiBuilder) -> ApiBuilder) -> Suite {
    let store = MemoryStore::new();
    let id = Id::new(HOLDER).expect("an id");
    let load = ImportedRecord::new(id, Timestamp::now(), RawDraft::empty(Kind::Person));
    let cx = Context::new(Tenant::new("one"), Caller::anonymous(), Timestamp::now());
    store
        .write(
            &cx,
            WriteRequest::new(&cx, WriteOperation::Import(Box::new(load))),
        )
        .await
        .expect("a person");
    let api = Api::builder(Vendor::new("Example", "Conformance").message_of_the_day("Welcome"));
    let shared = std::sync::Arc::new(store.clone());
    let api = store
        .register_all(api)
        .change_feed(&shared)
        .webhooks(&shared)
        .response_cache(store.clone());
    let api = api.conditional_requests(IfMatchPolicy::Optional).batches();
    let api = api.delivery(|_: &Tenant, _: &OutboxEntry| Ok(DeliveryOutcome::Sent));
    let api = api
        .base_url("http://localhost/api/v1/")
        .authenticator(OfTheSuite)
        .anonymous_helpers(store.clone());
    // Without documentation, which no requirement of the suite needs.
    let api = configure(api).build().expect("an API");
    let service = SvcService::new(api).mounted_at("/api/v1");
    Suite::new(InProcess::new(service).base_url("http://localhost/api/v1/"))
        .keys(
            Keys::primary("key-of-one")
                .other_tenant("key-of-another")
                .restricted("key-that-reads", "people.create"),
        )
        .seed(42)
}

#[test]
fn the_store_in_memory_conforms() {
    svc_conformance::harness::run(suite).unwrap();
}

/// CAP-04: the suite sends at most as many entries of a list as the server declares.
#[tokio::test]
async fn a_server_with_short_lists_conforms() {
    let mut all = Vec::new();
    for (emails, phones, places) in [(2, 2, 1), (1, 1, 2)] {
        let short = |api: ApiBuilder| {
            let mut people = Constraints::default();
            people.entry(&["email_addresses"]).max_items = Some(emails);
            people.entry(&["phone_numbers"]).max_items = Some(phones);
            people.entry(&["postal_addresses"]).max_items = Some(places);
            people.entry(&["languages_spoken"]).max_items = Some(phones);
            people.entry(&["ethnicities"]).max_items = Some(phones);
            people.entry(&["profiles"]).max_items = Some(emails);
            let lines = people.entry(&["postal_addresses", "address_lines"]);
            lines.max_items = Some(places);
            let api = api.constraints(Kind::Person, people);
            api.merge_people().duplicates()
        };
        for intensity in [Intensity::Quick] {
            let suite = suite_of(short).await.intensity(intensity);
            let report = suite.run().await.unwrap();
            let outcomes = [
                RequirementOutcome::Fail,
                RequirementOutcome::Error,
                RequirementOutcome::Inconclusive,
            ];
            let wrong = outcomes.into_iter().flat_map(|it| report.with_outcome(it));
            let most = (emails, phones, places);
            all.extend(wrong.map(|row| {
                let reason = &row.reason;
                format!(
                    "{most:?} {intensity:?}: {} {}: {reason}",
                    row.id, row.outcome
                )
            }));
        }
    }
    assert_eq!(all, Vec::<String>::new());
}

/// HOOK-03: the suite detects a key that reads webhooks of a kind without the right to read it, and
/// reports no other key.
#[tokio::test]
async fn the_suite_sees_who_reaches_the_webhooks_of_a_kind() {
    for (key, expected) in [
        ("key-without-people", RequirementOutcome::Pass),
        ("key-of-one", RequirementOutcome::Fail),
    ] {
        let keys = Keys::primary("key-of-one").restricted(key, "people.read");
        let report = suite()
            .await
            .keys(keys)
            .only(["hook/key"])
            .run()
            .await
            .unwrap();
        let outcome = report.requirement("HOOK-03").map(|row| row.outcome);
        assert_eq!(outcome, Some(expected), "{key}: {report}");
    }
}
