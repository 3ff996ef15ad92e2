//! The responses of the service: a status with a body, or an error.

use serde_json::{Map, Value, json};

use super::ServerOptions;

/// Status and body, before headers are added.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ServerResponse {
    pub(super) status: u16,
    pub(super) body: Option<Value>,
    /// Text that is not a HAL document, with its media type.
    pub(super) page: Option<(&'static str, String)>,
}

impl ServerResponse {
    pub(super) fn json(status: u16, body: Value) -> Self {
        Self {
            status,
            body: Some(body),
            page: None,
        }
    }

    pub(super) const fn empty(status: u16) -> Self {
        Self {
            status,
            body: None,
            page: None,
        }
    }
}

/// One problem of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BodyProblem {
    pub(super) code: &'static str,
    pub(super) text: String,
    pub(super) properties: Vec<String>,
    pub(super) hint: Option<String>,
}

impl BodyProblem {
    pub(super) fn new(code: &'static str, text: impl Into<String>, properties: &[&str]) -> Self {
        let properties = properties.iter().map(|one| (*one).to_owned()).collect();
        Self {
            code,
            text: text.into(),
            properties,
            hint: None,
        }
    }

    /// Creates a problem of one field.
    pub(super) fn field(path: &str, text: impl Into<String>) -> Self {
        Self::new("VALUE_NOT_ACCEPTED", text, &[path])
    }
}

/// The outcome of one resource of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ResourceResult {
    pub(super) resource: String,
    pub(super) status: u16,
    pub(super) problems: Vec<BodyProblem>,
}

/// Writes the error object.
pub(super) fn error(
    options: &ServerOptions,
    status: u16,
    is_atomic: bool,
    entries: &[ResourceResult],
) -> Map<String, Value> {
    let entries: Vec<Value> = entries
        .iter()
        .map(|entry| written(options, entry, is_atomic))
        .collect();
    let about = json!({
        "request_type": if is_atomic { "atomic" } else { "non-atomic" },
        "response_code": status,
        "resource_status": entries,
    });
    Map::from_iter([(options.rel("error"), about)])
}

/// Returns the response to a rejected request, which has no effect.
pub(super) fn refused(
    options: &ServerOptions,
    status: u16,
    resource: &str,
    problems: Vec<BodyProblem>,
) -> ServerResponse {
    let entry = ResourceResult {
        resource: options.rel(resource),
        status,
        problems,
    };
    ServerResponse::json(
        status,
        Value::Object(error(options, status, true, &[entry])),
    )
}

pub(super) fn not_found(options: &ServerOptions, resource: &str) -> ServerResponse {
    refused(
        options,
        404,
        resource,
        vec![BodyProblem::new(
            "NO_SUCH_RECORD",
            "The record does not exist.",
            &[],
        )],
    )
}

pub(super) fn not_supported(options: &ServerOptions, resource: &str) -> ServerResponse {
    refused(
        options,
        500,
        resource,
        vec![BodyProblem::new(
            "NOT_IMPLEMENTED",
            "This operation is not implemented.",
            &[],
        )],
    )
}

fn written(options: &ServerOptions, entry: &ResourceResult, is_atomic: bool) -> Value {
    let mut object = Map::new();
    object.insert("resource".to_owned(), entry.resource.clone().into());
    object.insert("response_code".to_owned(), entry.status.into());
    if entry.problems.is_empty() {
        return Value::Object(object);
    }
    let short = options.short_entries && !is_atomic;
    let (list, code) = if short {
        ("errors", "code")
    } else {
        ("error_descriptions", "error_code")
    };
    let problems = entry.problems.iter().map(|problem| {
        let mut one = description(problem, code);
        if let Some(one) = one.as_object_mut().filter(|_| entry.status == 500) {
            one.insert("reference_code".to_owned(), "m-1".into());
        }
        one
    });
    object.insert(list.to_owned(), problems.collect::<Vec<_>>().into());
    Value::Object(object)
}

/// Writes one problem, with its code under this name.
pub(super) fn description(problem: &BodyProblem, code: &str) -> Value {
    let mut one = Map::new();
    one.insert(code.to_owned(), problem.code.into());
    one.insert("description".to_owned(), problem.text.clone().into());
    one.insert("properties".to_owned(), problem.properties.clone().into());
    if let Some(hint) = &problem.hint {
        one.insert("hint".to_owned(), hint.clone().into());
    }
    Value::Object(one)
}
