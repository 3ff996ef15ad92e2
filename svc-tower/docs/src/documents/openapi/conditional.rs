//! The headers and responses of conditional requests.
//!
//! Requirements: ETG-01 to ETG-10.

use http::Method;
use serde_json::{Map, Value, json};
use svc_core::{
    api::{Api, IfMatchPolicy},
    link::Target,
    operation::ResponseBodyKind,
};

use super::parts::answer;

/// Returns the header parameters that make a method conditional; none if conditions are not
/// supported.
pub(super) fn parameters(api: &Api, method: &Method, target: &Target) -> Vec<Value> {
    let Some(needs) = api.if_match_policy() else {
        return Vec::new();
    };
    let header = |name: &str, is_needed: bool, text: &str| {
        json!({
            "name": name,
            "in": "header",
            "required": is_needed,
            "description": text,
            "schema": { "type": "string" },
        })
    };
    if is_read(method) && is_conditional(target) {
        return vec![header(
            "If-None-Match",
            false,
            "The `ETag` of a response that the client has: 304 while it is current.",
        )];
    }
    if is_change(method, target) {
        let text =
            "The `ETag` of the record that the client knows: 412 if the record has changed since.";
        return vec![header("If-Match", needs == IfMatchPolicy::Required, text)];
    }
    Vec::new()
}

/// Returns the responses if a condition is not met.
pub(super) fn answers(
    api: &Api,
    method: &Method,
    target: &Target,
    error: &Value,
    responses: &mut Map<String, Value>,
) {
    let Some(needs) = api.if_match_policy() else {
        return;
    };
    let mut add = |status: &str, text: &str, content: Option<Value>| {
        responses.insert(status.to_owned(), answer(text, content));
    };
    if is_read(method) && is_conditional(target) {
        add("304", "The client already has the current response.", None);
    }
    if is_change(method, target) {
        add(
            "412",
            "The record does not meet the condition, and nothing was changed.",
            Some(error.clone()),
        );
        if needs == IfMatchPolicy::Required {
            add("428", "The request has no `If-Match`.", Some(error.clone()));
        }
    }
}

/// Adds the headers to a success that identify its body.
pub(super) fn validators(api: &Api, output: ResponseBodyKind, response: &mut Value) {
    let is_record = matches!(
        output,
        ResponseBodyKind::Record
            | ResponseBodyKind::Recorded
            | ResponseBodyKind::Merge
            | ResponseBodyKind::UndoneMerge
    );
    let is_tagged = is_record
        || matches!(
            output,
            ResponseBodyKind::EntryPoint
                | ResponseBodyKind::Capabilities
                | ResponseBodyKind::Collection
        );
    let Some(response) = response
        .as_object_mut()
        .filter(|_| api.if_match_policy().is_some() && is_tagged)
    else {
        return;
    };
    let header = |text: &str| json!({ "description": text, "schema": { "type": "string" } });
    let mut headers = Map::from_iter([(
        "ETag".to_owned(),
        header("Identifies every byte of the representation."),
    )]);
    if is_record {
        headers.insert(
            "Last-Modified".to_owned(),
            header("When the record was last changed, in whole seconds."),
        );
    }
    response.insert("headers".to_owned(), headers.into());
}

fn is_read(method: &Method) -> bool {
    *method == Method::GET
}

fn is_change(method: &Method, target: &Target) -> bool {
    let is_of_record = matches!(
        target,
        Target::Record(_) | Target::Merge(_) | Target::MergeBatch(_) | Target::UndoMerge(..)
    );
    is_of_record && !is_read(method)
}

/// Returns whether `svc-core` reads the target with entity tags; the other documents always have
/// them.
fn is_conditional(target: &Target) -> bool {
    matches!(
        target,
        Target::EntryPoint | Target::Capabilities | Target::Collection { .. } | Target::Record(_)
    )
}
