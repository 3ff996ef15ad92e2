//! Updates and repeated requests that a server may also answer in another way.

use http::Method;
use serde_json::{Value, json};

use crate::interceptor::{InterceptedServer, Interceptor};
use crate::link_map::{self, ResourceKind};
use crate::transport::{BufferedRequest, BufferedResponse, address};

/// Returns a member of the document in a response.
fn member(answer: &BufferedResponse, name: &str) -> Value {
    answer
        .json()
        .and_then(|document| document.get(name).cloned())
        .unwrap_or_default()
}

/// Advances `modified_date` on every successful update: an update without another value is followed
/// by two others.
pub(super) fn dates_advance() -> Interceptor {
    Interceptor::around(|call, server| Box::pin(advanced(call, server)))
}

async fn advanced(call: BufferedRequest, server: InterceptedServer) -> BufferedResponse {
    if call.method != Method::PUT || !matches!(server.what(&call), Some(ResourceKind::Record(_))) {
        return server.send(call).await;
    }
    let before = server.send(call.get(&call.uri.to_string())).await;
    let mut answer = server.send(call.clone()).await;
    let date = member(&answer, "modified_date");
    if !answer.is_success() || member(&before, "modified_date") != date {
        return answer;
    }
    let stored = member(&answer, "origin_system");
    let mut last = None;
    for text in [json!(format!("not {stored}")), stored] {
        let mut call = call.clone();
        call.headers.remove(http::header::IF_MATCH);
        call.set_json([("origin_system".to_owned(), text)].into_iter().collect());
        last = Some(server.send(call).await);
    }
    let date = last.map(|last| member(&last, "modified_date"));
    if let (Some(Value::Object(mut record)), Some(date @ Value::String(_))) = (answer.json(), date)
    {
        record.insert("modified_date".to_owned(), date);
        answer.set_json(&Value::Object(record));
    }
    answer
}

/// Returns the stored response to each repeated request with failed parts.
pub(super) fn failed_parts_replayed() -> Interceptor {
    Interceptor::around(|call, server| Box::pin(replayed(call, server)))
}

async fn replayed(call: BufferedRequest, server: InterceptedServer) -> BufferedResponse {
    let is_helper = matches!(server.what(&call), Some(ResourceKind::Helper(_)));
    let Some(key) = call.headers.get("idempotency-key").filter(|_| is_helper) else {
        return server.send(call).await;
    };
    let caller = call.headers.get("svc-api-token");
    let name = format!("{caller:?} {key:?} {} {:?}", call.uri, call.body);
    if let Some(mut known) = server.remembered(&name) {
        let is_true = http::HeaderValue::from_static("true");
        known.headers.insert("idempotency-replayed", is_true);
        return known;
    }
    let answer = server.send(call).await;
    let error = member(&answer, &server.rel("error"));
    if error.get("request_type").and_then(Value::as_str) == Some("non-atomic") {
        server.remember(name, &answer);
    }
    answer
}

/// Returns the address of the person to which a document links.
fn person(document: &serde_json::Map<String, Value>, rel: &str) -> Option<String> {
    link_map::href(document, rel).map(address)
}

/// Rejects an update that links a record to another person.
pub(super) fn moves_refused() -> Interceptor {
    Interceptor::around(|call, server| Box::pin(unmoved(call, server)))
}

async fn unmoved(call: BufferedRequest, server: InterceptedServer) -> BufferedResponse {
    let rel = server.rel("person");
    let sent = call.json().and_then(|body| person(&body, &rel));
    if let (Some(ResourceKind::Record(kind)), Some(sent)) = (server.what(&call), sent)
        && call.method == Method::PUT
        && let Some(Value::Object(stored)) =
            server.send(call.get(&call.uri.to_string())).await.json()
        && person(&stored, &rel).is_some_and(|stored| stored != sent)
    {
        let description = json!({ "error_code": "PERSON_FIXED", "description": "The person cannot be changed.", "properties": [format!("_links.{rel}")] });
        return BufferedResponse::rejected(|name| server.rel(name), kind, &description);
    }
    server.send(call).await
}

/// Ignores the person in an update.
pub(super) fn moves_ignored() -> Interceptor {
    Interceptor::sent(|call, _, body, sight| {
        if call.method == Method::PUT
            && let Some(links) = body.get_mut("_links").and_then(Value::as_object_mut)
        {
            links.remove(&sight.rel("person"));
        }
    })
}
