//! The headers and responses for `Idempotency-Key`.
//!
//! Requirements: IDM-01 to IDM-08.

use http::Method;
use serde_json::{Map, Value, json};
use svc_core::api::Api;

use super::parts::answer;

/// Returns the header parameter for repeated requests; `None` if it is not supported.
pub(super) fn parameter(api: &Api, method: &Method) -> Option<Value> {
    is_repeatable(api, method).then(|| {
        json!({
            "name": "Idempotency-Key",
            "in": "header",
            "required": false,
            "description": "A unique name for the request, such as a random UUID. A repeated request with the same key gets the first \
                            response and is not executed again.",
            "schema": { "type": "string", "minLength": 1, "maxLength": 257 },
        })
    })
}

/// Returns the response to a reused key, and the header that marks a repeated response.
pub(super) fn answers(
    api: &Api,
    method: &Method,
    takes_body: bool,
    error: &Value,
    responses: &mut Map<String, Value>,
) {
    if !takes_body || !is_repeatable(api, method) {
        return;
    }
    let text = "Another request has used this `Idempotency-Key`. Nothing was changed.";
    responses.insert("422".to_owned(), answer(text, Some(error.clone())));
    for status in ["200", "201"] {
        let Some(response) = responses.get_mut(status).and_then(Value::as_object_mut) else {
            continue;
        };
        let headers = response.entry("headers").or_insert_with(|| json!({}));
        if let Some(headers) = headers.as_object_mut() {
            let replayed = json!({
                "description": "`true`: the response is a repetition of an earlier one. `partial`: the parts of the request that had failed were executed again.",
                "schema": { "type": "string" },
            });
            headers.insert("Idempotency-Replayed".to_owned(), replayed);
        }
    }
}

fn is_repeatable(api: &Api, method: &Method) -> bool {
    api.supports_idempotency() && *method == Method::POST
}
