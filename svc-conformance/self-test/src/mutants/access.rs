//! Keys, rights and tenants.

use http::HeaderValue;
use serde_json::{Map, Value, json};
use svc_conformance::ids;

use super::{Mutant, MutationPoint, set};
use crate::interceptor::{InterceptedServer, Interceptor};
use crate::link_map::ResourceKind;
use crate::transport::{BufferedRequest, BufferedResponse};

const FAMILY: &str = "keys and tenants";

/// Returns the value of the header that carries a key.
fn key(call: &BufferedRequest) -> Option<&str> {
    call.headers
        .values()
        .filter_map(|value| value.to_str().ok())
        .find(|value| value.starts_with("k-"))
}

/// Sends the same request with another key.
fn with_key(call: &BufferedRequest, key: &'static str) -> BufferedRequest {
    let mut call = call.clone();
    let name = call
        .headers
        .iter()
        .find(|(_, value)| value.as_bytes().starts_with(b"k-"))
        .map(|(name, _)| name.clone());
    if let Some(name) = name {
        call.headers.insert(name, HeaderValue::from_static(key));
    }
    call
}

/// Lets requests with the key of the second tenant see the data of the first, if `when` returns
/// true.
fn leak(
    name: &'static str,
    rows: &[&str],
    when: fn(&BufferedRequest, Option<ResourceKind>, &InterceptedServer) -> bool,
) -> Mutant {
    let rows: Vec<&str> = rows
        .iter()
        .copied()
        .chain([ids::AUT_02, ids::COL_02])
        .collect();
    Mutant::new("tenant leak", name, &rows, move || {
        Interceptor::around(move |call, server| {
            Box::pin(async move {
                if key(&call) == Some("k-two") && when(&call, server.what(&call), &server) {
                    return server.send(with_key(&call, "k-one")).await;
                }
                server.send(call).await
            })
        })
    })
    .at(MutationPoint::Backend)
}

/// Replaces responses that have a given status by empty ones with another status.
fn instead(name: &'static str, rows: &[&str], from: u16, to: u16) -> Mutant {
    Mutant::new(FAMILY, name, rows, move || {
        Interceptor::after(move |_, answer, _| {
            if answer.status == from {
                *answer = BufferedResponse::empty(to);
            }
        })
    })
}

/// Executes requests that are rejected with a given status.
fn applied(name: &'static str, rows: &[&str], status: u16, method: &'static str) -> Mutant {
    Mutant::new("refused write applied", name, rows, move || {
        Interceptor::around(move |call, server| {
            Box::pin(async move {
                let answer = server.send(call.clone()).await;
                if answer.status == status
                    && call.is_write()
                    && (method.is_empty() || call.method == method)
                {
                    let mut again = with_key(&call, "k-one");
                    if key(&call).is_none() || status == 401 {
                        let name = if again.headers.contains_key("svc-api-token") {
                            "svc-api-token"
                        } else {
                            "SVC-API-Token"
                        };
                        if let Ok(name) = name.parse::<http::HeaderName>() {
                            again
                                .headers
                                .insert(name, HeaderValue::from_static("k-one"));
                        }
                    }
                    drop(server.send(again).await);
                }
                answer
            })
        })
    })
    .at(MutationPoint::Backend)
}

/// Accepts requests without a valid key as if they had one.
fn trusting(name: &'static str, rows: &[&str], when: fn(&BufferedRequest) -> bool) -> Mutant {
    Mutant::new(FAMILY, name, rows, move || {
        Interceptor::around(move |call, server| {
            Box::pin(async move {
                let answer = server.send(call.clone()).await;
                if !matches!(answer.status, 401 | 403) || !when(&call) {
                    return answer;
                }
                let mut again = call;
                if let Ok(name) = "SVC-API-Token".parse::<http::HeaderName>() {
                    again
                        .headers
                        .insert(name, HeaderValue::from_static("k-one"));
                }
                server.send(again).await
            })
        })
    })
    .at(MutationPoint::Backend)
}

/// Changes a helper's response to an anonymous caller.
fn anonymous(name: &'static str, rows: &[&str], change: fn(&mut BufferedResponse)) -> Mutant {
    Mutant::new("anonymous helper", name, rows, move || {
        Interceptor::after(move |call, answer, sight| {
            let is_helper = matches!(sight.what(call), Some(ResourceKind::Helper(_)));
            if is_helper && call.method == "POST" && key(call).is_none() && answer.is_success() {
                change(answer);
            }
        })
    })
}

#[expect(clippy::too_many_lines, reason = "a table of faults")]
pub(super) fn faults() -> Vec<Mutant> {
    vec![
        leak("lists of another tenant", &[], |call, what, _| {
            call.method == "GET" && matches!(what, Some(ResourceKind::Collection(_)))
        }),
        leak("lists of another tenant in the reference server", &[], |call, what, _| {
            call.method == "GET" && matches!(what, Some(ResourceKind::Collection(_)))
        })
        .on_reference(),
        leak("people of another tenant", &[], |call, what, _| {
            call.method == "GET" && what == Some(ResourceKind::Collection("person"))
        }),
        instead("a bad key is 403", &[ids::AUT_03, ids::ERR_08], 401, 403),
        instead("a bad key is 400", &[ids::AUT_03, ids::AUT_07, ids::ERR_08], 401, 400).on_reference(),
        instead("a bad key is not found", &[ids::AUT_03, ids::AUT_07, ids::ERR_08], 401, 404),
        instead("a bad key is redirected to a login page", &[ids::AUT_03, ids::AUT_07, ids::ERR_08], 401, 302),
        instead("a missing right is 401", &[ids::AUT_04, ids::ERR_09], 403, 401),
        instead("a missing right is 404", &[ids::AUT_04, ids::ERR_09], 403, 404).on_reference(),
        instead("a missing right is 500", &[ids::AUT_04, ids::ERR_09], 403, 500),
        trusting("rights are not checked", &[ids::AUT_04, ids::AUT_08, ids::ERR_09], |call| {
            key(call) == Some("k-narrow")
        }),
        trusting("any key will do", &[ids::AUT_03, ids::ERR_08], |call| {
            call.headers.contains_key("svc-api-token") && key(call).is_none()
        })
        .on_reference(),
        trusting("no key will do", &[ids::AUT_07], |call| !call.headers.contains_key("svc-api-token")),
        trusting("no key will do for reading", &[ids::AUT_07], |call| {
            call.method == "GET" && !call.headers.contains_key("svc-api-token")
        })
        .on_reference(),
        Mutant::new(FAMILY, "the entry point takes any key", &[ids::AUT_03, ids::ERR_08], || {
            Interceptor::before(|call, sight| {
                if sight.what(call) == Some(ResourceKind::Entry) {
                    call.headers.remove("svc-api-token");
                }
                None
            })
        })
        .at(MutationPoint::Request),
        Mutant::new(FAMILY, "the key belongs into another header", &[ids::AUT_01, ids::HAL_10], || {
            Interceptor::before(|call, _| {
                call.headers.remove("svc-api-token");
                None
            })
        })
        .at(MutationPoint::Request)
        .on_reference(),
        Mutant::new(FAMILY, "the key is taken from the query", &[ids::AUT_01, ids::HAL_10], || {
            Interceptor::before(|call, _| {
                let has_query = call.uri.query().is_some_and(|query| query.contains("key="));
                if !has_query && call.is_write() {
                    call.headers.remove("svc-api-token");
                }
                None
            })
        })
        .at(MutationPoint::Request),
        applied("a write without the right is done", &[ids::AUT_08, ids::AUT_04], 403, ""),
        applied("a write without the right is done in the reference server", &[ids::AUT_08, ids::AUT_04], 403, "")
            .on_reference(),
        applied("a delete with a bad key is done", &[ids::AUT_08], 401, "DELETE"),
        applied("a create without a key is done", &[ids::AUT_08, ids::AUT_07], 401, "POST"),
        applied("an update with a bad key is done", &[ids::AUT_08], 401, "PUT"),
        anonymous("an anonymous caller gets the record", &[ids::HLP_07, ids::AUT_06], |answer| {
            answer.set_json(&json!({ "identifiers": ["second:1"] }));
        }),
        anonymous("an anonymous caller gets no body", &[ids::HLP_07], |answer| answer.body = bytes::Bytes::new()).on_reference(),
        anonymous("an anonymous caller gets a notice", &[ids::HLP_07], |answer| answer.set_json(&json!({ "notice": "Thank you." }))),
        anonymous("an anonymous caller gets null", &[ids::HLP_07, ids::HAL_02], |answer| answer.body = "null".into()),
        anonymous("an anonymous call is accepted later", &[ids::HLP_07], |answer| answer.status = 202),
        Mutant::new(
            "anonymous helper",
            "anonymous calls are refused though declared",
            &[ids::HLP_07, ids::HLP_08, ids::AUT_06],
            || {
                Interceptor::before(|call, sight| {
                    let is_helper = matches!(sight.what(call), Some(ResourceKind::Helper(_))) && key(call).is_none();
                    is_helper.then(|| BufferedResponse::empty(401))
                })
            },
        ),
        Mutant::new("anonymous helper", "anonymous calls store nothing", &[ids::HLP_07], || {
            Interceptor::before(|call, sight| {
                let is_helper =
                    matches!(sight.what(call), Some(ResourceKind::Helper(kind)) if kind != "person" && kind != "message");
                let no_key = !call.headers.contains_key("svc-api-token");
                (is_helper && no_key && call.method == "POST")
                    .then(|| BufferedResponse::document(200, &Value::Object(Map::new())))
            })
        })
        .at(MutationPoint::Backend),
        Mutant::new(FAMILY, "a 404 response has only a message", &[ids::HAL_02, ids::AUT_05, ids::ERR_01], || {
            Interceptor::after(|_, answer, _| {
                if answer.status == 404 && answer.is_hal() {
                    let mut body = Map::new();
                    set(&mut body, "message", "nothing here");
                    answer.set_json(&Value::Object(body));
                }
            })
        }),
    ]
}
