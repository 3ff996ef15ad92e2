//! The JSON Schemas and the `OpenAPI` document against validators that others wrote, and against what the server does.

#[path = "../support/mod.rs"]
#[allow(dead_code, reason = "shared with other tests")]
mod support;

mod bodies;
mod documents;
mod routes;

use serde_json::Value;
use svc_core::{Api, export::json_schema};

/// A validator of a document that asserts formats, too.
fn validator(document: &Value) -> jsonschema::Validator {
    jsonschema::draft202012::options()
        .should_validate_formats(true)
        .build(document)
        .unwrap_or_else(|wrong| panic!("{wrong} in {document}"))
}

/// A validator of one definition of a document.
fn validator_of(api: &Api, name: &str, form: &str) -> jsonschema::Validator {
    let mut document = json_schema(api, api.base(), name).expect("a document");
    let definition = format!("{name}{form}");
    assert!(document["$defs"].get(&definition).is_some(), "{definition} is no definition of {name}");
    document["$ref"] = format!("#/$defs/{definition}").into();
    validator(&document)
}

/// What is wrong with a value, each with its place.
fn faults(validator: &jsonschema::Validator, value: &Value) -> Vec<String> {
    validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect()
}
