//! Conditional requests with wrong responses.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use http::header::{ETAG, IF_MATCH, IF_NONE_MATCH, IF_UNMODIFIED_SINCE, LAST_MODIFIED};
use http::{HeaderName, HeaderValue, Method, StatusCode};
use serde_json::Value;
use svc_conformance::ids;
use svc_core::api::{ApiBuilder, IfMatchPolicy};

use super::{BaseServer, Mutant, MutationPoint};
use crate::interceptor::Interceptor;
use crate::link_map::{self, ResourceKind};
use crate::transport::{BufferedRequest, BufferedResponse};

const FAMILY: &str = "conditional";

/// The reference server with conditional requests.
pub(crate) fn conditional(api: ApiBuilder) -> ApiBuilder {
    api.conditional_requests(IfMatchPolicy::Optional)
}

/// The reference server with conditional requests, which requires `If-Match` for changes.
pub(crate) fn strict(api: ApiBuilder) -> ApiBuilder {
    api.conditional_requests(IfMatchPolicy::Required)
}

fn fault(
    name: &'static str,
    row: &'static str,
    twist: impl Fn() -> Interceptor + Send + Sync + 'static,
) -> Mutant {
    Mutant::new(FAMILY, name, &[row], twist).over(BaseServer::Reference(conditional))
}

/// Changes the responses to successful requests of one method to one target.
fn answers(
    name: &'static str,
    row: &'static str,
    method: Method,
    wanted: fn(Option<ResourceKind>) -> bool,
    change: fn(&mut BufferedResponse),
) -> Mutant {
    fault(name, row, move || {
        let method = method.clone();
        Interceptor::after(move |call, answer, sight| {
            if call.method == method && answer.is_success() && wanted(sight.what(call)) {
                change(answer);
            }
        })
    })
}

/// Changes or removes the condition of a request before it arrives.
fn conditions(
    name: &'static str,
    row: &'static str,
    which: HeaderName,
    change: fn(&BufferedRequest, &str) -> Option<String>,
) -> Mutant {
    fault(name, row, move || {
        let which = which.clone();
        Interceptor::before(move |call, _| {
            let sent = call.headers.get(&which)?.to_str().ok()?.to_owned();
            match change(call, &sent) {
                Some(other) => drop(
                    call.headers
                        .insert(which.clone(), HeaderValue::try_from(other).ok()?),
                ),
                None => drop(call.headers.remove(&which)),
            }
            None
        })
    })
    .at(MutationPoint::Request)
}

fn is_record(what: Option<ResourceKind>) -> bool {
    matches!(what, Some(ResourceKind::Record(_)))
}

fn is_collection(what: Option<ResourceKind>) -> bool {
    matches!(what, Some(ResourceKind::Collection(_)))
}

/// An entity tag of one member of a record, instead of the whole representation.
fn tag_from(member: &'static str) -> impl Fn() -> Interceptor {
    tag_of(is_record, move |json| {
        json.get(member).map(ToString::to_string)
    })
}

/// An entity tag of the addresses and the number of a collection's members.
fn tag_of_addresses(json: &Value) -> Option<String> {
    let all = json
        .get("_embedded")?
        .as_object()?
        .values()
        .find_map(Value::as_array)?;
    let owns: Vec<&str> = all
        .iter()
        .filter_map(|one| one.pointer("/_links/self/href")?.as_str())
        .collect();
    Some(format!(
        "{:?} {}",
        json.get("total_records"),
        owns.join(" ")
    ))
}

/// An entity tag of a part of a target, instead of the whole representation.
fn tag_of(
    wanted: fn(Option<ResourceKind>) -> bool,
    of: impl Fn(&Value) -> Option<String> + Copy + Send + Sync + 'static,
) -> impl Fn() -> Interceptor {
    move || {
        Interceptor::around(move |mut call, server| {
            Box::pin(async move {
                let named = call.headers.remove(IF_NONE_MATCH);
                let mut answer = server.send(call.clone()).await;
                let shown = answer
                    .json()
                    .filter(|_| wanted(server.what(&call)) && answer.status == 200);
                let Some(of) = shown.as_ref().and_then(of) else {
                    return answer;
                };
                let mut hash = DefaultHasher::new();
                of.hash(&mut hash);
                let tag = format!("\"{:x}\"", hash.finish());
                if named.is_some_and(|named| {
                    named
                        .to_str()
                        .is_ok_and(|named| named == "*" || named.contains(&tag))
                }) {
                    answer = BufferedResponse {
                        body: bytes::Bytes::new(),
                        status: StatusCode::NOT_MODIFIED.as_u16(),
                        ..answer
                    };
                }
                if let Ok(tag) = HeaderValue::try_from(tag) {
                    answer.headers.insert(ETAG, tag);
                }
                answer
            })
        })
    }
}

pub(super) fn faults() -> Vec<Mutant> {
    [forms(), changes()].concat()
}

/// Faults that are visible only after a write, or to another tenant.
fn changes() -> Vec<Mutant> {
    vec![
        fault(
            "the-etag-of-a-collection-is-that-of-its-addresses",
            ids::ETG_04,
            tag_of(is_collection, tag_of_addresses),
        ),
        answers(
            "the-etag-of-a-create-is-another-one",
            ids::ETG_08,
            Method::POST,
            is_collection,
            |answer| {
                answer
                    .headers
                    .insert(ETAG, HeaderValue::from_static("\"created\""));
            },
        ),
        fault("last-modified-stays-after-a-change", ids::ETG_03, || {
            let mut first: HashMap<String, HeaderValue> = HashMap::new();
            Interceptor::after(move |_, answer, _| {
                let Some(date) = answer.headers.get(LAST_MODIFIED).cloned() else {
                    return;
                };
                let Some(Value::Object(record)) = answer.json() else {
                    return;
                };
                let Some(own) = link_map::href(&record, "self") else {
                    return;
                };
                let first = first.entry(own.to_owned()).or_insert(date);
                answer.headers.insert(LAST_MODIFIED, first.clone());
            })
        }),
        conditions(
            "if-match-without-quotes-is-ignored",
            ids::ETG_07,
            IF_MATCH,
            |_, sent| (sent == "*" || sent.contains('"')).then(|| sent.to_owned()),
        ),
        fault("not-modified-for-another-tenant", ids::ETG_05, || {
            Interceptor::around(|call, server| {
                Box::pin(async move {
                    let named = call
                        .headers
                        .get(IF_NONE_MATCH)
                        .filter(|_| call.headers.contains_key("svc-api-token"));
                    let known = server.remembered(&call.address());
                    if let Some(known) =
                        known.filter(|known| named.is_some() && known.headers.get(ETAG) == named)
                    {
                        return BufferedResponse {
                            body: bytes::Bytes::new(),
                            status: StatusCode::NOT_MODIFIED.as_u16(),
                            headers: known.headers,
                        };
                    }
                    let answer = server.send(call.clone()).await;
                    if call.method == Method::GET && answer.status == 200 {
                        server.remember(call.address(), &answer);
                    } else if call.is_write() {
                        server.remember(call.address(), &BufferedResponse::empty(answer.status));
                    }
                    answer
                })
            })
        }),
    ]
}

#[expect(clippy::too_many_lines, reason = "a table")]
fn forms() -> Vec<Mutant> {
    vec![
        answers(
            "no-etag-on-records",
            ids::ETG_01,
            Method::GET,
            is_record,
            |answer| {
                answer.headers.remove(ETAG);
            },
        ),
        answers(
            "weak-etags-on-records-that-change",
            ids::ETG_01,
            Method::GET,
            is_record,
            |answer| {
                if let Some(weak) = answer
                    .headers
                    .get(ETAG)
                    .and_then(|tag| tag.to_str().ok())
                    .map(|tag| format!("W/{tag}"))
                    && let Ok(weak) = HeaderValue::try_from(weak)
                {
                    answer.headers.insert(ETAG, weak);
                }
            },
        ),
        answers(
            "no-etag-on-collections",
            ids::ETG_02,
            Method::GET,
            is_collection,
            |answer| {
                answer.headers.remove(ETAG);
            },
        ),
        answers(
            "an-etag-without-quotes",
            ids::ETG_02,
            Method::GET,
            |what| what == Some(ResourceKind::Entry),
            |answer| {
                answer.headers.insert(ETAG, HeaderValue::from_static("one"));
            },
        ),
        answers(
            "last-modified-is-long-ago",
            ids::ETG_03,
            Method::GET,
            is_record,
            |answer| {
                answer.headers.insert(
                    LAST_MODIFIED,
                    HeaderValue::from_static("Sun, 06 Nov 1994 08:49:37 GMT"),
                );
            },
        ),
        answers(
            "last-modified-is-not-an-http-date",
            ids::ETG_03,
            Method::GET,
            is_record,
            |answer| {
                answer.headers.insert(
                    LAST_MODIFIED,
                    HeaderValue::from_static("2026-01-05T09:00:00Z"),
                );
            },
        ),
        fault(
            "the-etag-is-that-of-the-creation",
            ids::ETG_04,
            tag_from("created_date"),
        ),
        fault(
            "the-etag-does-not-count-totals",
            ids::ETG_04,
            tag_from("modified_date"),
        ),
        conditions(
            "if-none-match-is-ignored",
            ids::ETG_05,
            IF_NONE_MATCH,
            |_, _| None,
        ),
        conditions(
            "if-none-match-is-ignored-on-head",
            ids::ETG_05,
            IF_NONE_MATCH,
            |call, sent| (call.method != Method::HEAD).then(|| sent.to_owned()),
        ),
        conditions(
            "weak-tags-in-if-none-match-are-ignored",
            ids::ETG_05,
            IF_NONE_MATCH,
            |_, sent| (!sent.starts_with("W/")).then(|| sent.to_owned()),
        ),
        conditions(
            "of-a-list-the-first-tag-counts",
            ids::ETG_05,
            IF_NONE_MATCH,
            |_, sent| sent.split(',').next().map(ToOwned::to_owned),
        ),
        conditions(
            "any-tag-in-if-none-match-is-current",
            ids::ETG_06,
            IF_NONE_MATCH,
            |_, _| Some("*".to_owned()),
        ),
        conditions("if-match-is-ignored", ids::ETG_07, IF_MATCH, |_, _| None),
        conditions(
            "if-match-is-ignored-on-delete",
            ids::ETG_07,
            IF_MATCH,
            |call, sent| (call.method != Method::DELETE).then(|| sent.to_owned()),
        ),
        conditions(
            "if-match-compares-weakly",
            ids::ETG_07,
            IF_MATCH,
            |_, sent| Some(sent.replace("W/", "")),
        ),
        fault("412-and-done-all-the-same", ids::ETG_07, || {
            Interceptor::around(|call, server| {
                Box::pin(async move {
                    let answer = server.send(call.clone()).await;
                    if answer.status == StatusCode::PRECONDITION_FAILED.as_u16() {
                        let mut call = call;
                        call.headers.remove(IF_MATCH);
                        server.send(call).await;
                    }
                    answer
                })
            })
        }),
        conditions(
            "if-match-any-is-no-tag",
            ids::ETG_08,
            IF_MATCH,
            |_, sent| {
                Some(if sent == "*" {
                    "\"*\"".to_owned()
                } else {
                    sent.to_owned()
                })
            },
        ),
        answers(
            "the-etag-of-a-change-is-another-one",
            ids::ETG_08,
            Method::PUT,
            is_record,
            |answer| {
                answer
                    .headers
                    .insert(ETAG, HeaderValue::from_static("\"written\""));
            },
        ),
        fault("changes-are-taken-without-if-match", ids::ETG_09, || {
            Interceptor::before(|call, _| {
                if !call.headers.contains_key(IF_MATCH) {
                    call.headers.insert(IF_MATCH, HeaderValue::from_static("*"));
                }
                None
            })
        })
        .over(BaseServer::Reference(strict))
        .at(MutationPoint::Request),
        fault("428-and-done-all-the-same", ids::ETG_09, || {
            Interceptor::around(|call, server| {
                Box::pin(async move {
                    let answer = server.send(call.clone()).await;
                    if answer.status == StatusCode::PRECONDITION_REQUIRED.as_u16() {
                        let mut call = call;
                        call.headers.insert(IF_MATCH, HeaderValue::from_static("*"));
                        server.send(call).await;
                    }
                    answer
                })
            })
        })
        .over(BaseServer::Reference(strict)),
        fault(
            "if-match-is-compared-before-the-change",
            ids::ETG_10,
            || {
                Interceptor::around(|mut call, server| {
                    Box::pin(async move {
                        let named = call
                            .headers
                            .get(IF_MATCH)
                            .filter(|named| *named != "*")
                            .cloned();
                        if let Some(named) = named.filter(|_| call.method == Method::PUT) {
                            let read = call.get(&call.uri.to_string());
                            let now = server.send(read).await;
                            if now.headers.get(ETAG) == Some(&named) {
                                tokio::time::sleep(std::time::Duration::from_millis(20)).await;
                                call.headers.remove(IF_MATCH);
                            }
                        }
                        server.send(call).await
                    })
                })
            },
        )
        .at(MutationPoint::Backend),
        conditions(
            "if-unmodified-since-is-ignored",
            ids::ETG_11,
            IF_UNMODIFIED_SINCE,
            |_, _| None,
        ),
    ]
}

/// Behaviour that looks like a fault but is permitted: weak tags of documents that are not records,
/// no `Last-Modified`, no tag on writes.
pub(super) fn free() -> Vec<Mutant> {
    vec![
        answers(
            "weak-etags-of-collections",
            "",
            Method::GET,
            |what| !is_record(what),
            |answer| {
                if let Some(weak) = answer
                    .headers
                    .get(ETAG)
                    .and_then(|tag| tag.to_str().ok())
                    .map(|tag| format!("W/{tag}"))
                    && let Ok(weak) = HeaderValue::try_from(weak)
                {
                    answer.headers.insert(ETAG, weak);
                }
            },
        ),
        answers("no-last-modified", "", Method::GET, is_record, |answer| {
            answer.headers.remove(LAST_MODIFIED);
        }),
        answers(
            "no-etag-on-changes",
            "",
            Method::PUT,
            |_| true,
            |answer| {
                answer.headers.remove(ETAG);
            },
        ),
        Mutant::new(FAMILY, "a-deleted-record-is-412-with-if-match", &[], || {
            Interceptor::after(|call, answer, _| {
                if answer.status == 404 && call.headers.contains_key(IF_MATCH) {
                    answer.status = StatusCode::PRECONDITION_FAILED.as_u16();
                    let error = String::from_utf8_lossy(&answer.body).replace(":404", ":412");
                    answer.body = error
                        .replace("RESOURCE_NOT_FOUND", "PRECONDITION_FAILED")
                        .into();
                }
            })
        })
        .over(BaseServer::Reference(conditional)),
    ]
}
