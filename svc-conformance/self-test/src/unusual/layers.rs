//! Unusual layers around a service.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use http::{HeaderValue, header};
use serde_json::{Map, Value, json};

use crate::independent_server::SimulatedTime;
use crate::interceptor::Interceptor;
use crate::link_map::{self, LinkMap, ResourceKind};
use crate::transport::{self, BufferedRequest, BufferedResponse};

/// Changes the case and order of header values, and adds headers.
pub(super) fn headers() -> Interceptor {
    Interceptor::after(|_, answer, _| {
        let headers = &mut answer.headers;
        headers.insert(
            header::CACHE_CONTROL,
            HeaderValue::from_static("Must-Revalidate,PRIVATE,  Max-Age=0"),
        );
        headers.insert(header::SERVER, HeaderValue::from_static("Second"));
        if headers
            .get(header::CONTENT_TYPE)
            .is_some_and(|media| media.as_bytes() == b"application/hal+json")
        {
            headers.insert(
                header::CONTENT_TYPE,
                HeaderValue::from_static("Application/HAL+JSON"),
            );
        }
    })
}

/// Adds a charset to the media type.
pub(super) fn charset() -> Interceptor {
    Interceptor::after(|_, answer, _| {
        if answer.is_hal() {
            let media = HeaderValue::from_static("application/hal+json; charset=utf-8");
            answer.headers.insert(header::CONTENT_TYPE, media);
        }
    })
}

/// Adds milliseconds, which are always zero, to the dates of records.
pub(super) fn milliseconds() -> Interceptor {
    Interceptor::documents(|call, document, _, sight| {
        sight.each_record(call, document, &mut |_, record| {
            for name in ["created_date", "modified_date"] {
                if let Some(Value::String(date)) = record.get_mut(name) {
                    *date = date.replace('Z', ".000Z");
                }
            }
        });
    })
}

/// Delays every 100th response, including the first.
pub(super) fn slow() -> Interceptor {
    let count = Arc::new(AtomicU32::new(0));
    Interceptor::around(move |call, server| {
        let is_late = count.fetch_add(1, Ordering::Relaxed).is_multiple_of(100);
        Box::pin(async move {
            if is_late {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            server.send(call).await
        })
    })
}

/// Rejects every request after the first 400 until the client has waited for a second.
pub(super) fn rate_limited(time: &SimulatedTime) -> Interceptor {
    let time = time.clone();
    let (mut count, mut began) = (0_u32, time.passed());
    Interceptor::before(move |_, _| {
        if time.passed() >= began.saturating_add(Duration::from_secs(1)) {
            (count, began) = (0, time.passed());
        }
        count = count.saturating_add(1);
        (count > 400).then(|| {
            let mut answer = BufferedResponse::empty(429);
            answer
                .headers
                .insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
            answer
        })
    })
}

/// Updates totals of records and collections only on the second read, as declared.
pub(super) fn later() -> Interceptor {
    let mut last: HashMap<String, Value> = HashMap::new();
    let mut delay = move |at: &str, object: &mut Map<String, Value>| {
        let names: Vec<String> = object
            .keys()
            .filter(|name| {
                name.starts_with("total_") && *name != "total_records" && *name != "total_pages"
            })
            .cloned()
            .collect();
        for name in names {
            if let Some(value) = object.get(&name).cloned() {
                let shown = last
                    .insert(format!("{at} {name}"), value.clone())
                    .unwrap_or(value);
                object.insert(name, shown);
            }
        }
    };
    Interceptor::after(move |call, answer, sight| {
        if answer.declare("totals_follow_later") {
            return;
        }
        if !matches!(sight.what(call), Some(ResourceKind::Record(_))) || call.method != "GET" {
            return;
        }
        if let Some(Value::Object(mut document)) = answer.json() {
            let own = link_map::href(&document, "self")
                .map(transport::address)
                .unwrap_or_default();
            delay(&own, &mut document);
            answer.set_json(&Value::Object(document));
        }
    })
}

/// Ignores the page size of a request.
pub(super) fn one_page_size() -> Interceptor {
    Interceptor::before(|call, _| {
        let text = call.uri.to_string();
        let (bare, query) = text.split_once('?')?;
        let rest: Vec<&str> = query
            .split('&')
            .filter(|pair| !pair.starts_with("per_page="))
            .collect();
        call.redirect(&match rest.join("&") {
            rest if rest.is_empty() => bare.to_owned(),
            rest => format!("{bare}?{rest}"),
        });
        None
    })
}

/// Rejects a list with more than 20 elements.
pub(super) fn short_lists() -> Interceptor {
    fn longest(value: &Value) -> usize {
        match value {
            Value::Array(list) => list.iter().map(longest).fold(list.len(), usize::max),
            Value::Object(members) => members.values().map(longest).fold(0, usize::max),
            _ => 0,
        }
    }
    Interceptor::before(|call, sight| {
        let body = call
            .json()
            .filter(|body| body.values().any(|value| longest(value) > 20))?;
        let properties: Vec<&String> = body
            .iter()
            .filter(|(_, value)| longest(value) > 20)
            .map(|(name, _)| name)
            .collect();
        let description = json!({ "error_code": "TOO_MANY", "description": "At most 20 elements are allowed.", "properties": properties });
        Some(BufferedResponse::rejected(
            |name| sight.rel(name),
            "person",
            &description,
        ))
    })
}

/// Requires a member of each object in a list of a kind, as declared.
pub(super) fn needed_inside(
    one: &'static str,
    list: &'static str,
    member: &'static str,
) -> Interceptor {
    let refuses = move |call: &mut BufferedRequest, sight: &LinkMap| {
        let body = call.json()?;
        let own = body
            .get(list)
            .filter(|_| sight.what(call).and_then(ResourceKind::kind) == Some(one));
        let inline = || {
            body.get("person")
                .filter(|_| one == "person")
                .and_then(|person| person.get(list))
        };
        let (place, objects) = match own {
            Some(own) => (String::new(), own),
            None => ("person.".to_owned(), inline()?),
        };
        let lacking = objects.as_array()?.iter().enumerate();
        let lacking = lacking.filter(|(_, object)| object.get(member).is_none_or(Value::is_null));
        let lacking: Vec<String> = lacking
            .map(|(at, _)| format!("{place}{list}[{at}].{member}"))
            .collect();
        let description = json!({ "error_code": "MEMBER_NEEDED", "description": "A member is required.", "properties": lacking });
        (!lacking.is_empty())
            .then(|| BufferedResponse::rejected(|name| sight.rel(name), one, &description))
    };
    Interceptor::before(refuses).and_after(move |_, answer, _| {
        let Ok(mut document) = serde_json::from_slice::<Value>(&answer.body) else {
            return;
        };
        let many = link_map::NAMES
            .iter()
            .find(|(name, _)| *name == one)
            .map_or("", |(_, many)| *many);
        let required = format!("/collections/{many}/fields/{list}/fields/{member}/required");
        if let Some(required) = document.pointer_mut(&required) {
            *required = true.into();
            answer.set_json(&document);
        }
    })
}

/// Accepts only the declared filters: of people by address and date, and of tags by name. Others
/// are rejected.
pub(super) fn few_filters() -> Interceptor {
    fn declared(many: &str, list: &str) -> &'static [&'static str] {
        match (many, list) {
            ("people", "filter") => &["email_address", "modified_date"],
            ("tags", "filter") => &["name"],
            _ => &[],
        }
    }
    Interceptor::after(|call, answer, sight| {
        let text = call.uri.to_string();
        if let Ok(Value::Object(mut document)) = serde_json::from_slice::<Value>(&answer.body)
            && document.contains_key("declaration_version")
        {
            for (many, collection) in document
                .get_mut("collections")
                .and_then(Value::as_object_mut)
                .into_iter()
                .flatten()
            {
                for list in ["filter", "order"] {
                    if let Some(shown) = collection.get_mut(list) {
                        *shown = json!(declared(many, list));
                    }
                }
            }
            answer.set_json(&Value::Object(document));
        } else if let Some((path, query)) = text.split_once('?') {
            let many = path.rsplit('/').next().unwrap_or_default();
            let is_refused = query
                .split('&')
                .filter_map(|pair| pair.split_once('='))
                .any(|(name, value)| {
                    let is_letter = |one: char| one.is_ascii_lowercase() || one == '_';
                    let field = value.split(|one| !is_letter(one)).next();
                    let is_known = [
                        "identifiers",
                        "created_date",
                        "modified_date",
                        "email_address",
                        "family_name",
                        "name",
                        "tag",
                        "list",
                    ]
                    .contains(&field.unwrap_or_default());
                    let is_declared = declared(many, name).contains(&field.unwrap_or_default());
                    matches!(name, "filter" | "order") && is_known && !is_declared
                });
            if is_refused && answer.is_success() {
                let description = json!({ "error_code": "FILTER_INVALID", "description": "Unexpected text at character 1." });
                let kind = link_map::NAMES
                    .iter()
                    .find(|(_, name)| *name == many)
                    .map_or("", |(one, _)| *one);
                *answer = BufferedResponse::rejected(|name| sight.rel(name), kind, &description);
            }
        }
    })
}
