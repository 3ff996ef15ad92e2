//! Repeated requests that are executed twice or get a different response.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderName, HeaderValue};
use serde_json::Value;
use svc_conformance::ids;

use super::{Mutant, MutationPoint};
use crate::interceptor::{InterceptedServer, Interceptor};
use crate::link_map::{self, ResourceKind};
use crate::transport::{BufferedRequest, BufferedResponse};

const FAMILY: &str = "repeated requests";
const KEY: HeaderName = HeaderName::from_static("idempotency-key");
const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");
const TRUE: HeaderValue = HeaderValue::from_static("true");

fn fault(
    name: &'static str,
    row: &'static str,
    twist: impl Fn() -> Interceptor + Send + Sync + 'static,
) -> Mutant {
    Mutant::new(FAMILY, name, &[row], twist).on_reference()
}

/// A change to responses that are replayed.
fn replays(name: &'static str, row: &'static str, change: fn(&mut BufferedResponse)) -> Mutant {
    fault(name, row, move || {
        Interceptor::after(move |_, answer, _| {
            if answer.headers.contains_key(REPLAYED) {
                change(answer);
            }
        })
    })
}

/// Ignores the key of requests.
fn deaf(
    name: &'static str,
    row: &'static str,
    is_deaf: fn(&BufferedRequest, Option<ResourceKind>) -> bool,
) -> Mutant {
    fault(name, row, move || {
        Interceptor::before(move |call, sight| {
            if is_deaf(call, sight.what(call)) {
                call.headers.remove(KEY);
            }
            None
        })
    })
    .at(MutationPoint::Request)
}

/// Stores responses in the mutant under the name that `name` returns for a request, and replays
/// them.
async fn remembering(
    mut call: BufferedRequest,
    server: InterceptedServer,
    name: fn(&BufferedRequest, &str) -> String,
    wait: Duration,
) -> BufferedResponse {
    let Some(key) = call
        .headers
        .remove(KEY)
        .and_then(|key| key.to_str().map(str::to_owned).ok())
    else {
        return server.send(call).await;
    };
    let name = name(&call, &key);
    if let Some(mut known) = server.remembered(&name) {
        known.headers.insert(REPLAYED, TRUE);
        return known;
    }
    tokio::time::sleep(wait).await;
    let answer = server.send(call).await;
    if answer.is_success() {
        server.remember(name, &answer);
    }
    answer
}

/// A replay that returns the current state of the record.
async fn as_it_is(call: BufferedRequest, server: InterceptedServer) -> BufferedResponse {
    let mut answer = server.send(call.clone()).await;
    if answer.headers.contains_key(REPLAYED)
        && let Some(Value::Object(record)) = answer.json()
        && let Some(own) = link_map::href(&record, "self")
    {
        let now = server.send(call.get(own)).await;
        if now.status == 200 {
            answer.body = now.body;
            answer.headers.remove(http::header::CONTENT_LENGTH);
        }
    }
    answer
}

/// A replay at any address, by the caller, the key and the body.
async fn at_any_address(call: BufferedRequest, server: InterceptedServer) -> BufferedResponse {
    let key = call.headers.get(KEY);
    let name = format!(
        "{:?} {key:?} {:?}",
        call.headers.get("svc-api-token"),
        call.body
    );
    let is_keyed = key.is_some();
    let answer = server.send(call).await;
    if !is_keyed {
        return answer;
    }
    if answer.is_success() {
        server.remember(name, &answer);
    } else if answer.status == 422
        && let Some(mut known) = server.remembered(&name)
    {
        known.headers.insert(REPLAYED, TRUE);
        return known;
    }
    answer
}

fn with_its_body(call: &BufferedRequest, key: &str) -> String {
    format!("{key} {} {:?}", call.uri.path(), call.body)
}

/// Returns whether a request calls a helper with a key.
fn is_keyed_helper(call: &BufferedRequest, server: &InterceptedServer) -> bool {
    call.headers.contains_key(KEY) && matches!(server.what(call), Some(ResourceKind::Helper(_)))
}

/// Executes a repeated request with failed parts again.
async fn parts_anew(mut call: BufferedRequest, server: InterceptedServer) -> BufferedResponse {
    if !is_keyed_helper(&call, &server) {
        return server.send(call).await;
    }
    let name = format!("{:?} {:?}", call.headers.get(KEY), call.body);
    if server.remembered(&name).is_some() {
        call.headers.remove(KEY);
        return server.send(call).await;
    }
    let answer = server.send(call).await;
    if answer.status == 400 {
        server.remember(name, &answer);
    }
    answer
}

/// Records the action again together with the failed parts. Without identifiers, the server does
/// not recognize the action.
async fn action_again(mut call: BufferedRequest, server: InterceptedServer) -> BufferedResponse {
    let answer = server.send(call.clone()).await;
    if let Some(mut body) = call.json().filter(|_| is_partial(&answer)) {
        body.remove("identifiers");
        call.set_json(body);
        call.headers.remove(KEY);
        server.send(call).await;
    }
    answer
}

fn is_partial(answer: &BufferedResponse) -> bool {
    answer
        .headers
        .get(REPLAYED)
        .is_some_and(|replayed| replayed == "partial")
}

/// Faults of repeated requests with failed parts.
fn failed_parts() -> Vec<Mutant> {
    vec![
        fault(
            "a request with failed parts is executed each time",
            ids::IDM_02,
            || Interceptor::around(|call, server| Box::pin(parts_anew(call, server))),
        )
        .at(MutationPoint::Backend),
        fault(
            "failed parts that succeed record the action again",
            ids::IDM_02,
            || Interceptor::around(|call, server| Box::pin(action_again(call, server))),
        )
        .at(MutationPoint::Backend),
        replays(
            "a replay of failed parts has only the error",
            ids::IDM_02,
            |answer| {
                if answer.status == 400
                    && let Some(Value::Object(mut document)) = answer.json()
                {
                    document.retain(|name, _| name.ends_with(":error"));
                    answer.set_json(&Value::Object(document));
                }
            },
        ),
        replays(
            "failed parts that succeed are marked as a replay",
            ids::IDM_02,
            |answer| {
                if is_partial(answer) {
                    answer.headers.insert(REPLAYED, TRUE);
                }
            },
        ),
    ]
}

pub(super) fn faults() -> Vec<Mutant> {
    [keys(), failed_parts()].concat()
}

/// Faults of keys and of their responses.
fn keys() -> Vec<Mutant> {
    vec![
        deaf("idempotency keys are ignored", ids::IDM_01, |_, _| true),
        deaf("helpers ignore idempotency keys", ids::IDM_02, |_, what| {
            matches!(what, Some(ResourceKind::Helper(_)))
        }),
        deaf("creates ignore idempotency keys", ids::IDM_01, |_, what| {
            matches!(what, Some(ResourceKind::Collection(_)))
        }),
        deaf("creates of events ignore keys", ids::IDM_01, |_, what| {
            what == Some(ResourceKind::Collection("event"))
        }),
        deaf(
            "the helper for outreaches ignores keys",
            ids::IDM_02,
            |_, what| what == Some(ResourceKind::Helper("outreach")),
        ),
        deaf(
            "the helper for attendances ignores keys",
            ids::IDM_02,
            |_, what| what == Some(ResourceKind::Helper("attendance")),
        ),
        deaf(
            "the helper for canvasses ignores keys",
            ids::IDM_02,
            |_, what| what == Some(ResourceKind::Helper("canvass")),
        ),
        deaf("the sign-up ignores keys", ids::IDM_02, |_, what| {
            what == Some(ResourceKind::Helper("person"))
        }),
        fault(
            "a replay shows the record as it is now",
            ids::IDM_02,
            || Interceptor::around(|call, server| Box::pin(as_it_is(call, server))),
        ),
        fault(
            "the same body at another address by the same key is done",
            ids::IDM_04,
            || {
                Interceptor::before(|call, _| {
                    let key = call
                        .headers
                        .get(KEY)?
                        .to_str()
                        .ok()?
                        .trim_matches('"')
                        .to_owned();
                    let path: String = call
                        .uri
                        .path()
                        .chars()
                        .filter(char::is_ascii_alphanumeric)
                        .collect();
                    if !key.is_empty() {
                        call.headers.insert(
                            KEY,
                            HeaderValue::try_from(format!("\"{key}-{path}\"")).ok()?,
                        );
                    }
                    None
                })
            },
        )
        .at(MutationPoint::Backend),
        fault(
            "the same body at another address by the same key is a replay",
            ids::IDM_04,
            || Interceptor::around(|call, server| Box::pin(at_any_address(call, server))),
        )
        .at(MutationPoint::Backend),
        replays(
            "a replay is not marked as a replay",
            ids::IDM_02,
            |answer| {
                answer.headers.remove(REPLAYED);
            },
        ),
        replays("a replay has another status", ids::IDM_02, |answer| {
            answer.status = 200;
        }),
        replays("a replay has other bytes", ids::IDM_02, |answer| {
            answer.body = Bytes::from([&answer.body[..], b" "].concat());
        }),
        replays("a replay has no Location", ids::IDM_02, |answer| {
            answer.headers.remove(http::header::LOCATION);
        }),
        fault("every response is marked as a replay", ids::IDM_02, || {
            Interceptor::after(|call, answer, _| {
                if call.headers.contains_key(KEY) {
                    answer.headers.insert(REPLAYED, TRUE);
                }
            })
        }),
        fault(
            "simultaneous requests with one key are all executed",
            ids::IDM_03,
            || {
                Interceptor::around(|call, server| {
                    Box::pin(remembering(
                        call,
                        server,
                        with_its_body,
                        Duration::from_millis(20),
                    ))
                })
            },
        )
        .at(MutationPoint::Backend),
        fault(
            "another request by the same key is done",
            ids::IDM_04,
            || {
                Interceptor::around(|call, server| {
                    Box::pin(async move {
                        let answer = server.send(call.clone()).await;
                        if answer.status != 422 {
                            return answer;
                        }
                        let mut call = call;
                        call.headers.remove(KEY);
                        server.send(call).await
                    })
                })
            },
        ),
        fault(
            "another request by the same key is answered as the first",
            ids::IDM_04,
            || {
                Interceptor::around(|call, server| {
                    let by_key = |_: &BufferedRequest, key: &str| key.to_owned();
                    Box::pin(remembering(call, server, by_key, Duration::ZERO))
                })
            },
        )
        .at(MutationPoint::Backend),
        fault(
            "another request by the same key is refused as any other",
            ids::IDM_04,
            || {
                Interceptor::after(|_, answer, _| {
                    if answer.status == 422 {
                        answer.status = 400;
                    }
                })
            },
        ),
        deaf("an empty key is none", ids::IDM_05, |call, _| {
            call.headers.get(KEY).is_some_and(|key| key == "\"\"")
        }),
        fault("keys are shared by tenants", ids::IDM_07, || {
            Interceptor::around(|call, server| {
                Box::pin(remembering(call, server, with_its_body, Duration::ZERO))
            })
        })
        .at(MutationPoint::Backend),
        fault("a replay shows a deleted person", ids::IDM_08, || {
            Interceptor::around(|call, server| {
                let by_caller = |call: &BufferedRequest, key: &str| {
                    format!(
                        "{:?} {}",
                        call.headers.get("svc-api-token"),
                        with_its_body(call, key)
                    )
                };
                Box::pin(remembering(call, server, by_caller, Duration::ZERO))
            })
        })
        .at(MutationPoint::Backend),
    ]
}

/// Behaviour that looks like a fault but is permitted.
pub(super) fn free() -> Vec<Mutant> {
    vec![
        Mutant::new(FAMILY, "first answers say that they are", &[], || {
            Interceptor::after(|call, answer, _| {
                if call.headers.contains_key(KEY) && !answer.headers.contains_key(REPLAYED) {
                    answer
                        .headers
                        .insert(REPLAYED, HeaderValue::from_static("false"));
                }
            })
        })
        .on_reference(),
    ]
}
