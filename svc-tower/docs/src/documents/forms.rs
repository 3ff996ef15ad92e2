//! The data that a form needs about one route: its part of the `OpenAPI` document, and the schemas
//! that it refers to. The explorer reads this part when a form is opened, instead of the whole
//! document.

use serde_json::{Map, Value, json};
use svc_core::{
    api::Api,
    context::BaseUrl,
    link::{RecordAddress, Scope, Target},
};

use super::openapi::{OpenApiPath, openapi, routes};

/// The name of the list of all routes.
pub(crate) const ROUTES: &str = "routes";

/// Returns the document with this name: the list of all routes, or the data for the form of one.
/// Returns `None` for an unknown name.
pub(crate) fn form(api: &Api, base: &BaseUrl, name: &str) -> Option<Value> {
    let routes = routes(api, base);
    if name == ROUTES {
        return Some(list(api, base, &openapi(api, base), &routes));
    }
    // Before anything large is created: an anonymous caller can send any name.
    let path = &routes
        .iter()
        .find(|route| name_of(&route.target).as_deref() == Some(name))?
        .path;
    let whole = openapi(api, base);
    let mut item = whole.get("paths")?.get(path)?.clone();
    for operation in operations(&mut item) {
        operation.remove("responses");
    }
    let mut schemas = Map::new();
    collect(&item, &whole, &mut schemas);
    Some(json!({ "path": path, "item": item, "components": { "schemas": schemas } }))
}

/// Returns every route with its operations and their response statuses.
fn list(api: &Api, base: &BaseUrl, whole: &Value, routes: &[OpenApiPath]) -> Value {
    let mut listed = Vec::new();
    for OpenApiPath { path, target, .. } in routes {
        let Some(item) = whole.get("paths").and_then(|paths| paths.get(path)) else {
            continue;
        };
        let form = name_of(target).filter(|_| has_form(item));
        let mut item = item.clone();
        if let Some(item) = item.as_object_mut() {
            item.remove("parameters");
        }
        for operation in operations(&mut item) {
            operation.retain(|name, _| {
                matches!(
                    name.as_str(),
                    "operationId" | "summary" | "responses" | "security"
                )
            });
            if let Some(responses) = operation
                .get_mut("responses")
                .and_then(Value::as_object_mut)
            {
                responses.retain(|status, response| {
                    if let Some(response) = response.as_object_mut() {
                        response.retain(|name, _| name == "content");
                    }
                    status.starts_with('2')
                });
            }
        }
        let mut route = json!({ "path": path, "item": item });
        if let (Some(name), Some(route)) = (form, route.as_object_mut()) {
            route.insert(
                "form".to_owned(),
                api.url(base, &Target::Form(name.into())).into(),
            );
        }
        listed.push(route);
    }
    json!({
        "key_header": api.dialect().key_header_text(),
        "prefix": api.dialect().prefix(),
        "extension_prefix": api.dialect().extension_prefix(),
        "max_pagesize": api.limits().max_page_size,
        "routes": listed,
    })
}

/// Returns the name of a route, from its target; `None` for a target without input.
fn name_of(target: &Target) -> Option<String> {
    let below = |address: &RecordAddress, name: &str| format!("{}_{name}", address.kind.singular());
    let helper = |container: &Option<RecordAddress>, relation: &str| match container {
        Some(container) => below(container, relation),
        None => relation.to_owned(),
    };
    Some(match target {
        Target::Collection {
            kind,
            scope: Scope::All,
        } => kind.plural().to_owned(),
        Target::Collection {
            kind,
            scope: Scope::Under(parent),
        } => below(parent, kind.plural()),
        Target::Record(address) => address.kind.singular().to_owned(),
        Target::Helper {
            helper: called,
            container,
        } => helper(container, called.relation()),
        Target::Batch {
            helper: called,
            container,
        } => helper(container, &format!("{}_batch", called.relation())),
        Target::Merge(person) => below(person, "merge"),
        Target::MergeBatch(person) => below(person, "merge_batch"),
        Target::PersonMerges(person) => below(person, "merges"),
        Target::UndoMerge(person, _) => below(person, "undo_merge"),
        Target::Changes => "changes".to_owned(),
        Target::Duplicates => "duplicates".to_owned(),
        Target::PersonDuplicates(person) => below(person, "duplicates"),
        Target::DuplicatePair(..) => "duplicate".to_owned(),
        Target::Webhooks => "webhooks".to_owned(),
        Target::Webhook(_) => "webhook".to_owned(),
        Target::Redelivery(_) => "webhook_redelivery".to_owned(),
        Target::SecretRotation(_) => "webhook_secret".to_owned(),
        _ => return None,
    })
}

/// Returns whether a form has anything to fill in: a body, or parameters of an operation.
fn has_form(item: &Value) -> bool {
    let members = item.as_object().into_iter().flatten();
    members
        .filter(|(name, _)| *name != "parameters")
        .any(|(_, operation)| {
            operation.get("requestBody").is_some() || operation.get("parameters").is_some()
        })
}

fn operations(item: &mut Value) -> impl Iterator<Item = &mut Map<String, Value>> {
    let members = item.as_object_mut().into_iter().flatten();
    members
        .filter(|(name, _)| *name != "parameters")
        .filter_map(|(_, operation)| operation.as_object_mut())
}

/// Collects every schema that a part refers to, directly or indirectly.
fn collect(part: &Value, whole: &Value, schemas: &mut Map<String, Value>) {
    match part {
        Value::Object(members) => {
            if let Some(reference) = members.get("$ref").and_then(Value::as_str) {
                take(reference, whole, schemas);
            }
            members
                .values()
                .for_each(|inner| collect(inner, whole, schemas));
        }
        Value::Array(items) => items
            .iter()
            .for_each(|inner| collect(inner, whole, schemas)),
        _ => {}
    }
}

fn take(reference: &str, whole: &Value, schemas: &mut Map<String, Value>) {
    let Some(place) = reference.strip_prefix('#') else {
        return;
    };
    let Some((_, name)) = place.rsplit_once('/') else {
        return;
    };
    if schemas.contains_key(name) {
        return;
    }
    if let Some(schema) = whole.pointer(place) {
        schemas.insert(name.to_owned(), schema.clone());
        collect(schema, whole, schemas);
    }
}
