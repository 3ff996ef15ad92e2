//! What a method takes and answers by `Idempotency-Key` (IDM).

use http::Method;
use serde_json::{Map, Value, json};
use svc_core::api::Api;

use super::parts::answer;

/// The header with which a request may come again; `None` where it does not count.
pub(super) fn parameter(api: &Api, method: &Method) -> Option<Value> {
    is_repeatable(api, method).then(|| {
        json!({
            "name": "Idempotency-Key",
            "in": "header",
            "required": false,
            "description": "A name that no other request has, such as a random UUID: sent again with it, the request is answered as \
                            before and nothing is done twice.",
            "schema": { "type": "string", "minLength": 1, "maxLength": 257 },
        })
    })
}

/// The answer to a key of another request, and the mark of an answer that is given again.
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
    let text = "Another request has this `Idempotency-Key`, and nothing was done.";
    responses.insert("422".to_owned(), answer(text, Some(error.clone())));
    for status in ["200", "201"] {
        let Some(response) = responses.get_mut(status).and_then(Value::as_object_mut) else {
            continue;
        };
        let headers = response.entry("headers").or_insert_with(|| json!({}));
        if let Some(headers) = headers.as_object_mut() {
            let replayed = json!({ "description": "`true`: the answer that was given before.", "schema": { "type": "string" } });
            headers.insert("Idempotency-Replayed".to_owned(), replayed);
        }
    }
}

fn is_repeatable(api: &Api, method: &Method) -> bool {
    api.supports_idempotency() && *method == Method::POST
}
