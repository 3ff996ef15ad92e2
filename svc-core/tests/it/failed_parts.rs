//! Repeated helper requests of which parts failed, on the store in memory and on typed operations.
//!
//! Requirements: IDM-02, ERR-29.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::json;
use svc_core::{
    ApiBuilder, Context, IdempotencyStore, Result, Tenant, helper::FunctionName,
    store::StoredResponse,
};
use svc_store::memory::MemoryStore;

use crate::support::{
    partial_calls::{RepeatingClient, check_failed_parts},
    server::builder,
    store_backend::{StoreBackend, everything},
};

fn client(builder: ApiBuilder) -> RepeatingClient {
    RepeatingClient {
        api: builder.build().unwrap(),
        tenant: Tenant::new("one"),
    }
}

/// Returns a builder over typed operations whose helpers have action functions.
fn typed(backend: &Arc<StoreBackend>) -> ApiBuilder {
    everything(builder(), backend).action_functions([
        FunctionName::AddTags,
        FunctionName::AddLists,
        FunctionName::AddQuestionsResponsesUri,
    ])
}

#[tokio::test]
async fn idm_02_the_store_in_memory_executes_failed_parts_again() {
    let store = Arc::new(MemoryStore::new());
    check_failed_parts(&client(builder().store(&store))).await;
}

#[tokio::test]
async fn idm_02_typed_operations_with_transactions_execute_failed_parts_again() {
    let backend = Arc::new(StoreBackend::default());
    let builder = typed(&backend).transactions(&backend);
    check_failed_parts(&client(builder.idempotency(&backend))).await;
}

/// Stores responses, but cannot replace them.
struct FirstResponses(Arc<StoreBackend>);

#[async_trait]
impl IdempotencyStore for FirstResponses {
    async fn load(&self, cx: &Context, key: &Arc<str>) -> Result<Option<Vec<u8>>> {
        self.0.load(cx, key).await
    }

    async fn save(&self, cx: &Context, kept: StoredResponse) -> Result<()> {
        self.0.save(cx, kept).await
    }
}

/// Without transactions, or if a response cannot be replaced, the stored response is returned.
#[tokio::test]
async fn idm_02_other_typed_operations_return_the_stored_response() {
    for has_transactions in [false, true] {
        let backend = Arc::new(StoreBackend::default());
        let builder = typed(&backend);
        let client = client(if has_transactions {
            let responses = Arc::new(FirstResponses(Arc::clone(&backend)));
            builder.transactions(&backend).idempotency(&responses)
        } else {
            builder.idempotency(&backend)
        });
        let body = json!({"person": {"given_name": "Ada"}, "add_tags": ["later"]});
        let first = client.post("people/person_signup", "k", &body).await;
        assert_eq!((first.status, &first.replayed), (400, &None), "ERR-30");
        client.make("tags", json!({"name": "later"})).await;
        let again = client.post("people/person_signup", "k", &body).await;
        assert_eq!(again.replayed.as_deref(), Some("true"));
        assert_eq!((again.status, again.body), (400, first.body), "IDM-02");
        assert_eq!(client.total("people").await, 1, "IDM-01");
    }
}
