//! The common parts of the descriptions of operations.

use serde_json::{Value, json};

/// The media type of HAL documents.
pub(super) const HAL: &str = "application/hal+json";
/// The media type of bodies of requests.
pub(super) const JSON: &str = "application/json";

/// Returns the description of a response.
pub(super) fn answer(description: &str, content: Option<Value>) -> Value {
    match content {
        Some(content) => json!({ "description": description, "content": content }),
        None => json!({ "description": description }),
    }
}
