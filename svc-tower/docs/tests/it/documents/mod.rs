//! The JSON Schemas and the `OpenAPI` document, compared with independent validators and with the
//! behaviour of the server.

#[path = "../../../../../svc-core/tests/it/support/mod.rs"]
#[allow(dead_code, reason = "shared with other tests")]
mod support;

mod bodies;
mod constraints;
mod forms;
mod openapi;
mod routes;

use http_body_util::{BodyExt, Empty};
use serde_json::Value;
use svc_core::Api;
use svc_docs::{Docs, documents::json_schema};
use svc_tower::SvcService;
use tower::ServiceExt;

use support::server::Server;

/// Returns the JSON document at an address or at a path under the entry point; `None` for 404.
fn served(server: &Server, to: &str) -> Option<Value> {
    let path = to
        .strip_prefix(server.api.base_url().as_str())
        .unwrap_or(to);
    let request = http::Request::get(format!("/{path}"))
        .body(Empty::<&[u8]>::new())
        .expect("a request");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let answer = SvcService::new(server.api.clone())
            .with_docs(Docs::new())
            .oneshot(request)
            .await
            .expect("a response");
        if answer.status() == http::StatusCode::NOT_FOUND {
            return None;
        }
        let is_hal = path == "docs/capabilities";
        let media = if is_hal {
            "application/hal+json"
        } else {
            "application/json"
        };
        assert_eq!(answer.headers()["content-type"], media, "{to}");
        let body = answer
            .into_body()
            .collect()
            .await
            .expect("a body")
            .to_bytes();
        Some(serde_json::from_slice(&body).expect("JSON"))
    })
}

/// Returns a validator of a document that also checks formats.
fn validator(document: &Value) -> jsonschema::Validator {
    jsonschema::draft202012::options()
        .should_validate_formats(true)
        .build(document)
        .unwrap_or_else(|wrong| panic!("{wrong} in {document}"))
}

/// Returns a validator of one definition of a document.
fn validator_of(api: &Api, name: &str, form: &str) -> jsonschema::Validator {
    let mut document = json_schema(api, api.base_url(), name).expect("a document");
    let definition = format!("{name}{form}");
    assert!(
        document["$defs"].get(&definition).is_some(),
        "{definition} is not a definition of {name}"
    );
    document["$ref"] = format!("#/$defs/{definition}").into();
    validator(&document)
}

/// Returns the faults of a value, each with its path.
fn faults(validator: &jsonschema::Validator, value: &Value) -> Vec<String> {
    validator
        .iter_errors(value)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect()
}
