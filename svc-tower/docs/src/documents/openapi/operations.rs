//! The input and output of each method of a path.

use http::Method;
use serde_json::{Map, Value, json};
use svc_core::{
    api::{ContentType, OfferedOperation},
    link::{RecordAddress, Scope, Target},
    model::Kind,
    operation::{KeyRequirement, OperationSpec, RequestBodyKind, ResponseBodyKind},
    page::{ParameterValues, QueryParameter},
};

use super::{
    KEY, batches, conditional, idempotency,
    parts::{HAL, JSON, answer},
    routes::OpenApiPath,
};
use crate::documents::{
    json_schema::{Definitions, SchemaVariant, helper_needs_body},
    json_schema_names,
    parameters::parameters as of_query,
};

const EVENTS: ContentType = ContentType::EventStream;
const HTML: &str = "text/html";

/// Returns the path item of a route; `None` if no method of it is offered. `OPTIONS` and `HEAD` are
/// left out: `OPTIONS` is the same everywhere, and every `GET` has a `HEAD`. The description of the
/// document covers both.
pub(super) fn path_item(all: &mut Definitions<'_>, route: &OpenApiPath) -> Option<Value> {
    let mut item = Map::new();
    for offered in all.api.operations(&route.target) {
        for method in all
            .api
            .methods(offered.spec())
            .filter(|method| *method != Method::HEAD)
        {
            let about = operation(all, &method, route, &offered);
            item.insert(method.as_str().to_ascii_lowercase(), about);
        }
    }
    if item.is_empty() {
        return None;
    }
    let parameters: Vec<Value> = route
        .ids
        .iter()
        .map(|name| path_parameter(all, name, &route.target))
        .collect();
    if !parameters.is_empty() {
        item.insert("parameters".to_owned(), parameters.into());
    }
    Some(item.into())
}

fn path_parameter(all: &Definitions<'_>, name: &str, target: &Target) -> Value {
    let schema = match target {
        Target::JsonSchema(_) => json!({ "type": "string", "enum": json_schema_names(all.api) }),
        Target::Form(_) => json!({ "type": "string", "pattern": "^[a-z0-9_]{1,64}$" }),
        Target::DocsPage(_) => json!({ "type": "string", "pattern": "^[A-Za-z0-9_:\\-]{1,64}$" }),
        _ => json!({ "type": "string", "pattern": "^[A-Za-z0-9_\\-]{1,64}$" }),
    };
    json!({ "name": name, "in": "path", "required": true, "schema": schema })
}

fn operation(
    all: &mut Definitions<'_>,
    method: &Method,
    route: &OpenApiPath,
    offered: &OfferedOperation,
) -> Value {
    let spec = offered.spec();
    let mut about = Map::new();
    let id = spec.id(&route.target);
    let id = if spec.method == *method {
        id
    } else {
        format!("{}_{id}", method.as_str().to_ascii_lowercase())
    };
    about.insert("operationId".to_owned(), id.into());
    about.insert("summary".to_owned(), spec.summary(&route.target).into());
    if let Some(kind) = kind_of(&route.target) {
        about.insert("tags".to_owned(), json!([kind.plural()]));
    }
    match offered.key_requirement() {
        KeyRequirement::None => drop(about.insert("security".to_owned(), json!([]))),
        KeyRequirement::Optional => {
            drop(about.insert("security".to_owned(), json!([{ KEY: [] }, {}])));
        }
        _ => {}
    }
    let mut parameters = conditional::parameters(all.api, method, &route.target);
    let output = spec.default_success(all.api.response_style()).body;
    parameters.extend(paging(of_query(all.api, output, &route.target)));
    let is_of_records = matches!(
        spec.input,
        RequestBodyKind::Create
            | RequestBodyKind::Update
            | RequestBodyKind::Call
            | RequestBodyKind::Batch
            | RequestBodyKind::Merge
            | RequestBodyKind::UndoMerge
    );
    if let Some((content, is_needed)) = request_body(all, spec, &route.target) {
        if is_of_records {
            parameters.push(prefer(spec.input));
            parameters.extend(idempotency::parameter(all.api, method));
        }
        about.insert(
            "requestBody".to_owned(),
            json!({ "required": is_needed, "content": content }),
        );
    }
    if !parameters.is_empty() {
        about.insert("parameters".to_owned(), parameters.into());
    }
    let mut responses = Map::new();
    for success in spec.successes(all.api.response_style()) {
        let content = content(all, success.body, offered, &route.target);
        let mut response = answer(success.description, content);
        conditional::validators(all.api, success.body, &mut response);
        responses.insert(success.status.as_u16().to_string(), response);
    }
    failures(all, offered, route, &mut responses);
    let error = json!({ HAL: { "schema": all.error() } });
    conditional::answers(all.api, method, &route.target, &error, &mut responses);
    idempotency::answers(all.api, method, is_of_records, &error, &mut responses);
    about.insert("responses".to_owned(), responses.into());
    about.into()
}

fn kind_of(target: &Target) -> Option<Kind> {
    match target {
        Target::Collection { kind, .. }
        | Target::Record(RecordAddress { kind, .. })
        | Target::Merge(RecordAddress { kind, .. })
        | Target::MergeBatch(RecordAddress { kind, .. })
        | Target::PersonMerges(RecordAddress { kind, .. })
        | Target::UndoMerge(RecordAddress { kind, .. }, _) => Some(*kind),
        Target::Helper { helper, .. } | Target::Batch { helper, .. } => {
            Some(helper.recorded_kind())
        }
        _ => None,
    }
}

/// Returns the parameters of a collection or of the change feed; other parameters are ignored.
///
/// Requirements: COL-29, UND-14, SYN-05.
fn paging(parameters: Vec<QueryParameter>) -> Vec<Value> {
    let parameter = |it: QueryParameter| {
        let schema = match it.values {
            ParameterValues::Number(default) => {
                json!({ "type": "integer", "minimum": 1, "default": default })
            }
            ParameterValues::Text { example } => json!({ "type": "string", "examples": [example] }),
            ParameterValues::OneOf(values) => json!({ "type": "string", "enum": values }),
            _ => json!({ "type": "string" }),
        };
        let text = format!("{}.", it.text);
        json!({ "name": it.name, "in": "query", "required": false, "description": text, "schema": schema })
    };
    parameters.into_iter().map(parameter).collect()
}

/// Returns the header that selects how ignored members are handled, and for a batch how much the
/// response contains.
///
/// Requirements: UND-22, BAT-09.
fn prefer(input: RequestBodyKind) -> Value {
    let strict = "`handling=strict` makes ignored members an error (RFC 7240).";
    let (text, schema) = match input {
        RequestBodyKind::Batch => (
            format!(
                "{strict} `return=minimal` leaves out the bodies of entries that succeeded, `return=representation` includes them."
            ),
            json!({ "type": "string", "examples": ["handling=strict", "return=minimal, handling=strict"] }),
        ),
        _ => (
            strict.to_owned(),
            json!({ "type": "string", "enum": ["handling=strict", "handling=lenient"] }),
        ),
    };
    json!({ "name": "Prefer", "in": "header", "required": false, "description": text, "schema": schema })
}

/// Returns the content of the request body, and whether the body is required.
fn request_body(
    all: &mut Definitions<'_>,
    spec: &OperationSpec,
    target: &Target,
) -> Option<(Value, bool)> {
    if spec.input == RequestBodyKind::Batch {
        let entry = match target {
            Target::Batch { helper, .. } => all.helper(*helper),
            _ => all.merge_body(),
        };
        return Some((batches::request(&entry), true));
    }
    let (schema, is_needed) = match (spec.input, target) {
        (RequestBodyKind::Call, Target::Helper { helper, .. }) => {
            Some((all.helper(*helper), helper_needs_body(all.api, *helper)))
        }
        (
            RequestBodyKind::Create,
            Target::Collection {
                kind,
                scope: Scope::Under(of),
            },
        ) if kind.schema().is_nested_under(of.kind) => Some((all.below_body(*kind), true)),
        (RequestBodyKind::Create, _) => Some((all.create_body(kind_of(target)?), true)),
        (RequestBodyKind::NewWebhook, _) => Some((all.webhook_body(true), true)),
        (RequestBodyKind::Webhook, _) => Some((all.webhook_body(false), true)),
        (RequestBodyKind::DuplicatePair, _) => Some((all.duplicate_pair_body(), true)),
        (RequestBodyKind::Redelivery, _) => Some((all.redelivery(), false)),
        (RequestBodyKind::Merge, _) => Some((all.merge_body(), true)),
        (RequestBodyKind::UndoMerge, _) => Some((all.undo_merge_body(), false)),
        (RequestBodyKind::Update, _) => Some((all.update_body(kind_of(target)?), true)),
        _ => None,
    }?;
    Some((json!({ JSON: { "schema": schema } }), is_needed))
}

/// Returns the content of a success: media types and their schemas; `None` for no body.
fn content(
    all: &mut Definitions<'_>,
    output: ResponseBodyKind,
    offered: &OfferedOperation,
    target: &Target,
) -> Option<Value> {
    let one = |media: &str, schema: Value| Some(json!({ media: { "schema": schema } }));
    match output {
        ResponseBodyKind::EntryPoint => one(HAL, all.entry_point()),
        ResponseBodyKind::Page => Some(documentation()),
        ResponseBodyKind::Explorer => one(HTML, json!({ "type": "string" })),
        ResponseBodyKind::Capabilities => one(HAL, all.capabilities()),
        ResponseBodyKind::Document => one(JSON, json!({ "type": "object" })),
        ResponseBodyKind::Collection => one(HAL, all.page(kind_of(target)?)),
        ResponseBodyKind::Changes => Some(
            json!({ HAL: { "schema": all.changes() }, EVENTS.as_str(): { "schema": { "type": "string" } } }),
        ),
        ResponseBodyKind::Duplicates => one(HAL, all.duplicates()),
        ResponseBodyKind::DuplicatePair => one(HAL, all.duplicate_pair()),
        ResponseBodyKind::Webhooks => one(HAL, all.webhooks()),
        ResponseBodyKind::Webhook => one(HAL, all.webhook(false)),
        ResponseBodyKind::WebhookSecret => one(HAL, all.webhook(true)),
        ResponseBodyKind::Record => one(HAL, all.kind(kind_of(target)?, SchemaVariant::Read)),
        ResponseBodyKind::Recorded => {
            let record = all.kind(kind_of(target)?, SchemaVariant::Read);
            // Without a key, the response has no content (HLP-07).
            let nothing = json!({ "type": "object", "maxProperties": 0 });
            let is_anonymous = offered.key_requirement() == KeyRequirement::Optional;
            one(
                HAL,
                if is_anonymous {
                    json!({ "anyOf": [record, nothing] })
                } else {
                    record
                },
            )
        }
        ResponseBodyKind::Batch => Some(batches::answer(all)),
        ResponseBodyKind::Merge => one(HAL, all.merge_result()),
        ResponseBodyKind::Merges => one(HAL, all.merges()),
        ResponseBodyKind::UndoneMerge => one(HAL, all.undone_merge()),
        ResponseBodyKind::Notice => one(HAL, all.notice()),
        _ => None,
    }
}

/// Returns the content of a documentation page: HTML for people, and HAL for programs that request
/// it with `Accept`.
///
/// Requirements: ENT-22.
fn documentation() -> Value {
    json!({
        HAL: { "schema": { "type": "object" } },
        HTML: { "schema": { "type": "string" } },
    })
}

/// Returns whether a target is a person, or below one, so that a merge moves it to another address.
///
/// Requirements: MRG-11, MRG-12.
fn is_of_person(target: &Target) -> bool {
    match target {
        Target::Record(at) => {
            at.kind == Kind::Person || at.kind.schema().path_parent == Some(Kind::Person)
        }
        Target::Merge(_)
        | Target::MergeBatch(_)
        | Target::PersonMerges(_)
        | Target::UndoMerge(..) => true,
        _ => false,
    }
}

/// Returns the responses of a method that fails.
///
/// Requirements: ERR-01 to ERR-12, UND-39.
fn failures(
    all: &mut Definitions<'_>,
    offered: &OfferedOperation,
    route: &OpenApiPath,
    responses: &mut Map<String, Value>,
) {
    let error = json!({ HAL: { "schema": all.error() } });
    let bodies = all.api.sends_error_bodies();
    let is_forwarded = all.api.forwards_merged_people() && is_of_person(&route.target);
    let mut add = |status: &str, description: &str, has_body: bool| {
        let content = has_body.then(|| error.clone());
        responses.insert(status.to_owned(), answer(description, content));
    };
    let is_record = matches!(
        route.target,
        Target::Collection { .. } | Target::Record(_) | Target::Helper { .. }
    );
    if offered.key_requirement() != KeyRequirement::None {
        add("401", "The key is missing or not valid.", bodies);
        add("403", "The key lacks the required right.", bodies);
    }
    if !route.ids.is_empty() {
        let is_read = offered.spec().method == Method::GET;
        add(
            "404",
            "The record does not exist.",
            bodies || !is_read || !is_record,
        );
    }
    if matches!(route.target, Target::Changes | Target::Redelivery(_)) {
        add("410", "The cursor has expired.", true);
    }
    if offered.spec().input == RequestBodyKind::UndoMerge {
        add("409", "The merge can no longer be undone.", true);
    }
    if is_forwarded && offered.spec().method == Method::GET {
        add("301", "The person was merged into another one.", true);
    } else if is_forwarded {
        add("410", "The person was merged into another one.", true);
    }
    add("400", "The request is not valid.", true);
    add("default", "Any other error.", true);
}
