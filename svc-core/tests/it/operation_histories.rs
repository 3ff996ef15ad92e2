//! Random histories of write requests on the store that consists of typed operations, and on the
//! store in memory: equal outcomes and equal reads. `SVC_LAWS` is the number of histories, and
//! `SVC_LAWS_SEED` the seed of the first.

use std::sync::Arc;

use async_trait::async_trait;
use svc_core::{
    Context, ListRequest, Problem, Result, Tenant,
    internal::store,
    link::RecordAddress,
    model::Kind,
    raw::{RawPage, RawRecord},
    store::{LookupKey, Store, WriteOutcome, WriteRequest},
};
use svc_store::store_testkit::{ContractViolation, Exclusion, StoreTests};

use crate::support::{
    server::builder,
    store_backend::{StoreBackend, everything},
};

/// The store of an API.
struct ApiStore(Arc<dyn Store>);

#[async_trait]
impl Store for ApiStore {
    async fn list(&self, cx: &Context, kind: Kind, request: &ListRequest) -> Result<RawPage> {
        self.0.list(cx, kind, request).await
    }

    async fn get(&self, cx: &Context, at: &RecordAddress) -> Result<Option<RawRecord>> {
        self.0.get(cx, at).await
    }

    async fn find(&self, cx: &Context, key: &LookupKey) -> Result<Option<RawRecord>> {
        self.0.find(cx, key).await
    }

    async fn write(&self, cx: &Context, request: WriteRequest) -> Result<WriteOutcome> {
        self.0.write(cx, request).await
    }

    async fn find_problems(&self, cx: &Context, request: WriteRequest) -> Result<Vec<Problem>> {
        self.0.find_problems(cx, request).await
    }
}

fn tests() -> StoreTests {
    StoreTests::new()
        // An API imports no records, and a client cannot send these operations.
        .without(Exclusion::Imports)
        .without(Exclusion::Merges)
        .without(Exclusion::UnspecifiedOperations)
        // No operation stores outbox entries, so composed helpers have no `triggers`.
        .without(Exclusion::Triggers)
        // The rules do not continue after a rejected step, because they could execute another one.
        // For a request that is already rejected, no step is executed, so the problems that only an
        // operation reports are missing.
        .without(Exclusion::FurtherProblems)
        // Known difference: the operation matches these people after the steps of the request, so it
        // can change the person of the request again.
        .without(Exclusion::TicketHolders)
        // Only a store executes such requests.
        .without(Exclusion::OneAction)
        // An operation finds only the oldest person with an address.
        .without(Exclusion::SharedAddresses)
        // Each step of a composed helper is an operation with a time of its own.
        .without(Exclusion::SharedDates)
}

/// CAP-04, HLP-10, ERR-29, ERR-34: an API over typed operations with transactions.
#[tokio::test]
async fn hlp_10_operations_with_transactions_are_a_store() -> Result<(), ContractViolation> {
    let make = async || {
        let backend = Arc::new(StoreBackend::default());
        let api = everything(builder(), &backend).transactions(&backend);
        let api = api.build().unwrap();
        (ApiStore(store(&api)), ["one", "two"].map(Tenant::new))
    };
    for tests in tests().runs(1_000) {
        let coverage = tests.check_and_count(&make).await?;
        println!("{coverage:#?}");
        assert!(coverage.records > 1_000, "{}", coverage.records);
    }
    Ok(())
}

/// HLP-04, HLP-07: an anonymous caller changes no existing person, also not the holder of a ticket.
#[tokio::test]
async fn hlp_04_an_anonymous_ticket_changes_no_person() {
    use http::Method;
    use svc_core::{
        api::Request,
        auth::{Caller, Identity, Principal, Rights},
        helper::RecordAttendance,
    };
    for mode in ["store", "store, composed", "operations, composed"] {
        let memory = Arc::new(svc_store::memory::MemoryStore::new());
        let api = match mode {
            "store" => builder().store(&memory),
            "store, composed" => builder()
                .store(&memory)
                .compose_helper::<RecordAttendance>(),
            _ => {
                let backend = Arc::new(StoreBackend::default());
                everything(builder(), &backend).transactions(&backend)
            }
        }
        .build()
        .unwrap();
        let send = async |caller: Caller, method: Method, path: &str, body: &str| {
            let path = path
                .strip_prefix("https://crm.example.org/api/v1/")
                .unwrap_or(path);
            let request = Request::new(&method, path).with_base_url(api.base_url().clone());
            let who = Identity::Authenticated(Principal::new(Tenant::new("one"), caller));
            let answer = api.handle(who, request.with_body(body.to_owned())).await;
            serde_json::from_slice::<serde_json::Value>(&answer.body).unwrap_or_default()
        };
        let key = || Caller::with_rights(Rights::all());
        let at = |json: &serde_json::Value, link: &str| {
            json["_links"][link]["href"].as_str().unwrap().to_owned()
        };
        let person = send(
            key(),
            Method::POST,
            "people",
            r#"{"given_name":"Ada","email_addresses":[{"address":"ada@example.org"}]}"#,
        )
        .await;
        let event = send(
            key(),
            Method::POST,
            "events",
            r#"{"type":"ticketed","ticket_levels":[{"title":"A"}]}"#,
        )
        .await;
        let body = r#"{"person":{"email_addresses":[{"address":"eve@example.org"}]},"tickets":[{"title":"A","person":{"given_name":"Eve","email_addresses":[{"address":"ada@example.org"}]}}]}"#;
        send(
            Caller::anonymous(),
            Method::POST,
            &at(&event, "svc:record_attendance_helper"),
            body,
        )
        .await;
        let after = send(key(), Method::GET, &at(&person, "self"), "").await;
        assert_eq!(after["given_name"], "Ada", "{mode}");
    }
}

/// HLP-04: typed operations warn about an address of another person if they find people.
#[tokio::test]
async fn hlp_04_typed_operations_warn_of_an_address_of_another_person() {
    use http::Method;
    use svc_core::{
        api::Request,
        auth::{Caller, Identity, Principal, Rights},
        model::Person,
    };
    for finds in [true, false] {
        let backend = Arc::new(StoreBackend::default());
        let api = if finds {
            everything(builder(), &backend)
        } else {
            builder().resource::<Person, _>(&backend, svc_core::api::ResourceConfig::all_operations)
        };
        let api = api.build().unwrap();
        let send = async |method: Method, path: &str, addresses: &[&str]| {
            let path = path
                .strip_prefix("https://crm.example.org/api/v1/")
                .unwrap_or(path);
            let list = addresses
                .iter()
                .map(|it| serde_json::json!({ "address": it }));
            let person = serde_json::json!({ "email_addresses": list.collect::<Vec<_>>() });
            let body = match path {
                "people/person_signup" => serde_json::json!({ "person": person }),
                _ => person,
            };
            let request = Request::new(&method, path).with_base_url(api.base_url().clone());
            let caller = Caller::with_rights(Rights::all());
            let who = Identity::Authenticated(Principal::new(Tenant::new("one"), caller));
            let answer = api.handle(who, request.with_body(body.to_string())).await;
            let json: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
            let own = json["_links"]["self"]["href"].as_str().unwrap_or_default();
            let warnings = json["ext:warnings"].as_array().into_iter().flatten();
            let named = warnings.map(|it| {
                let property = it["properties"][0].as_str().unwrap_or_default();
                let other = it["_links"]["svc:person"]["href"].as_str();
                format!("{property} {}", other.unwrap_or_default())
            });
            (own.to_owned(), named.collect::<Vec<_>>())
        };
        let expected = |property: &str, other: &str| {
            let all = finds.then(|| format!("{property}.address {other}"));
            all.into_iter().collect::<Vec<_>>()
        };
        let (ada, none) = send(Method::POST, "people", &["ada@example.org"]).await;
        assert!(none.is_empty(), "{none:?}");
        let (bob, warned) = send(
            Method::POST,
            "people",
            &["b@example.org", "ADA@example.org"],
        )
        .await;
        assert_eq!(warned, expected("email_addresses[1]", &ada));
        let (_, none) = send(Method::PUT, &bob, &["b@example.org", "ada@example.org"]).await;
        assert!(none.is_empty(), "{none:?}");
        let (_, warned) = send(Method::PUT, &ada, &["ada@example.org", "b@example.org"]).await;
        assert_eq!(warned, expected("email_addresses[1]", &bob));
        if finds {
            let (eve, _) = send(Method::POST, "people", &["eve@example.org"]).await;
            let both = ["eve@example.org", "ada@example.org"];
            let (own, warned) = send(Method::POST, "people/person_signup", &both).await;
            assert_eq!(
                (own, warned),
                (ada, expected("person.email_addresses[0]", &eve))
            );
        }
    }
}
