//! Servers that declare `strict_handling` and treat ignored members incorrectly (STR).

use http::header::CONTENT_LENGTH;
use http::{HeaderName, HeaderValue, Method};
use serde_json::{Map, Value, json};
use svc_conformance::ids;

use super::table::{MutationRow, MutationStep, MutationTarget, TriggerRequest, line, table};
use super::{BaseServer, Mutant, MutationPoint, set};
use crate::interceptor::{InterceptedServer, Interceptor};
use crate::link_map::ResourceKind;
use crate::transport::{BufferedRequest, BufferedResponse};

const FAMILY: &str = "strict handling";
const PREFER: HeaderName = HeaderName::from_static("prefer");
const APPLIED: HeaderName = HeaderName::from_static("preference-applied");
const STRICT: HeaderValue = HeaderValue::from_static("handling=strict");
/// The member with the warnings of the reference server.
const WARNINGS: &str = "ext:warnings";

fn fault(
    name: &'static str,
    rows: &[&str],
    twist: impl Fn() -> Interceptor + Send + Sync + 'static,
) -> Mutant {
    Mutant::new(FAMILY, name, rows, twist).on_reference()
}

fn is_strict(call: &BufferedRequest) -> bool {
    call.headers.get(PREFER).is_some_and(|value| {
        value
            .to_str()
            .is_ok_and(|text| text.contains("handling=strict"))
    })
}

/// Returns whether a request is a single write, not a batch.
fn is_single(call: &BufferedRequest) -> bool {
    matches!(call.method, Method::POST | Method::PUT) && !is_batch(call)
}

fn is_batch(call: &BufferedRequest) -> bool {
    call.uri.path().ends_with("/batch")
}

fn is_create(_: &BufferedRequest, what: Option<ResourceKind>) -> bool {
    matches!(what, Some(ResourceKind::Collection(_)))
}

fn is_change(_: &BufferedRequest, what: Option<ResourceKind>) -> bool {
    matches!(what, Some(ResourceKind::Record(_)))
}

fn is_help(_: &BufferedRequest, what: Option<ResourceKind>) -> bool {
    matches!(what, Some(ResourceKind::Helper(_)))
}

/// A change to requests with the preference.
fn sent(
    name: &'static str,
    row: &'static str,
    is_meant: fn(&BufferedRequest, Option<ResourceKind>) -> bool,
    change: fn(&mut BufferedRequest),
) -> Mutant {
    fault(name, &[row], move || {
        Interceptor::before(move |call, sight| {
            if is_strict(call) && is_meant(call, sight.what(call)) {
                change(call);
            }
            None
        })
    })
    .at(MutationPoint::Request)
}

/// Ignores the preference of requests.
fn ignoring(
    name: &'static str,
    row: &'static str,
    is_meant: fn(&BufferedRequest, Option<ResourceKind>) -> bool,
) -> Mutant {
    sent(name, row, is_meant, |call| {
        drop(call.headers.remove(PREFER));
    })
}

/// Executes a request without the preference although it is rejected.
fn done_anyway(
    name: &'static str,
    row: &'static str,
    is_meant: fn(&BufferedRequest, Option<ResourceKind>) -> bool,
) -> Mutant {
    async fn twice(mut call: BufferedRequest, server: InterceptedServer) -> BufferedResponse {
        let refused = server.send(call.clone()).await;
        if refused.status == 400 {
            call.headers.remove(PREFER);
            server.send(call).await;
        }
        refused
    }
    fault(name, &[row], move || {
        Interceptor::around(move |call, server| {
            Box::pin(async move {
                if is_strict(&call) && is_single(&call) && is_meant(&call, server.what(&call)) {
                    return twice(call, server).await;
                }
                server.send(call).await
            })
        })
    })
    .at(MutationPoint::Backend)
}

/// A helper request that is rejected but creates its person.
async fn person_done(call: BufferedRequest, server: InterceptedServer) -> BufferedResponse {
    let refused = server.send(call.clone()).await;
    let person = call.json().and_then(|mut body| body.remove("person"));
    if let (400, Some(person), Some(sign_up)) = (refused.status, person, server.helper("person"))
        && is_strict(&call)
        && is_single(&call)
    {
        let mut call = call;
        call.redirect(&sign_up);
        call.set_json(Map::from_iter([("person".to_owned(), person)]));
        call.headers.remove(PREFER);
        server.send(call).await;
    }
    refused
}

/// A change to the descriptions of a rejection with the preference, and to their whole list.
fn refusals(name: &'static str, row: &'static str, change: fn(&mut Vec<Value>)) -> Mutant {
    fault(name, &[row], move || {
        Interceptor::documents(move |call, document, status, sight| {
            if status != 400 || !is_strict(call) {
                return;
            }
            let error = document.get_mut(&sight.rel("error"));
            let entries = error.and_then(|error| error.get_mut("resource_status")?.as_array_mut());
            for entry in entries.into_iter().flatten() {
                if let Some(list) = entry
                    .get_mut("error_descriptions")
                    .and_then(Value::as_array_mut)
                {
                    change(list);
                }
            }
        })
    })
}

/// A change to the response to a write that succeeded without the preference.
fn answers(
    name: &'static str,
    row: &'static str,
    is_meant: fn(&BufferedRequest, Option<ResourceKind>) -> bool,
    change: fn(&BufferedRequest, &mut Map<String, Value>),
) -> Mutant {
    fault(name, &[row], move || {
        Interceptor::documents(move |call, document, status, sight| {
            if status < 300
                && is_single(call)
                && !is_strict(call)
                && is_meant(call, sight.what(call))
            {
                change(call, document);
            }
        })
    })
}

/// Returns whether a property is inside another member.
fn is_inside(description: &Value) -> bool {
    let name = description
        .pointer("/properties/0")
        .and_then(Value::as_str)
        .unwrap_or_default();
    name.contains(['.', '['])
}

/// Returns the top-level members of a body that the warnings of its response name.
fn unknown(call: &BufferedRequest, document: &Map<String, Value>) -> Map<String, Value> {
    let warnings = document
        .get(WARNINGS)
        .and_then(Value::as_array)
        .map_or(&[][..], Vec::as_slice);
    let names: Vec<&str> = warnings
        .iter()
        .filter_map(|warning| warning.pointer("/properties/0").and_then(Value::as_str))
        .collect();
    let mut body = call.json().unwrap_or_default();
    body.retain(|name, _| names.contains(&name.as_str()));
    body
}

/// Adds to reads the members that the response to a create or a change had besides the record.
async fn storing(
    call: BufferedRequest,
    server: InterceptedServer,
    part: fn(&BufferedRequest, &Map<String, Value>) -> Map<String, Value>,
) -> BufferedResponse {
    let mut answer = server.send(call.clone()).await;
    let Some(Value::Object(mut document)) = answer.json() else {
        return answer;
    };
    let own = document
        .get("_links")
        .and_then(|links| links.get("self")?.get("href")?.as_str());
    let Some(own) = own.map(str::to_owned).filter(|_| answer.is_success()) else {
        return answer;
    };
    if call.method == Method::GET {
        if let Some(stored) = server.remembered(&own).and_then(|stored| stored.json())
            && let Value::Object(stored) = stored
        {
            document.extend(stored);
            answer.set_json(&Value::Object(document));
        }
    } else {
        let stored = part(&call, &document);
        if !stored.is_empty() {
            server.remember(
                own,
                &BufferedResponse::document(200, &Value::Object(stored)),
            );
        }
    }
    answer
}

fn stored(
    name: &'static str,
    row: &'static str,
    part: fn(&BufferedRequest, &Map<String, Value>) -> Map<String, Value>,
) -> Mutant {
    fault(name, &[row], move || {
        Interceptor::around(move |call, server| Box::pin(storing(call, server, part)))
    })
    .at(MutationPoint::Backend)
}

/// Faults of the warnings of creates, changes and helper requests, as data.
#[rustfmt::skip]
const LINES: &[MutationRow] = &[
    line("warnings name no property", ids::STR_06, MutationTarget::Answers("*", TriggerRequest::Any), &[MutationStep::Drop("more:warnings[].properties")]).over(STRICT_SERVER),
    line("warnings have no code", ids::STR_06, MutationTarget::Answers("*", TriggerRequest::Any), &[MutationStep::Drop("more:warnings[].error_code")]).over(STRICT_SERVER),
    line("warnings have no description", ids::STR_06, MutationTarget::Answers("*", TriggerRequest::Any), &[MutationStep::Drop("more:warnings[].description")]).over(STRICT_SERVER),
    line("warnings name one member", ids::STR_06, MutationTarget::Answers("*", TriggerRequest::Any), &[MutationStep::Cut("more:warnings", 1)]).over(STRICT_SERVER),
    line("warnings name members inside helper bodies without their path", ids::STR_06, MutationTarget::Answers("POST", TriggerRequest::Helper("*")),
        &[MutationStep::Text("more:warnings[].properties[]", last)]).over(STRICT_SERVER),
];

/// The second service with strict handling of members.
const STRICT_SERVER: BaseServer =
    BaseServer::SecondServer(|options| options.strict_handling = true);

/// Returns the last segment of a path.
fn last(path: &str) -> String {
    path.rsplit('.').next().unwrap_or_default().to_owned()
}

pub(super) fn faults() -> Vec<Mutant> {
    [ignored(), refused(), tolerated(), table(FAMILY, LINES)].concat()
}

/// Faults of a preference without effect.
fn ignored() -> Vec<Mutant> {
    vec![
        ignoring(
            "creates ignore the preference for strict handling",
            ids::STR_01,
            is_create,
        ),
        ignoring(
            "creates of signatures ignore the preference for strict handling",
            ids::STR_01,
            |_, what| what == Some(ResourceKind::Collection("signature")),
        ),
        ignoring(
            "changes ignore the preference for strict handling",
            ids::STR_02,
            is_change,
        ),
        ignoring(
            "helpers ignore the preference for strict handling",
            ids::STR_08,
            is_help,
        ),
        ignoring(
            "the sign-up ignores the preference for strict handling",
            ids::STR_08,
            |_, what| what == Some(ResourceKind::Helper("person")),
        ),
        ignoring(
            "the helper for signatures ignores the preference for strict handling",
            ids::STR_08,
            |_, what| what == Some(ResourceKind::Helper("signature")),
        ),
        ignoring(
            "batches ignore the preference for strict handling",
            ids::STR_09,
            |call, _| is_batch(call),
        ),
        ignoring(
            "the preference counts only as the first one",
            ids::STR_02,
            |call, _| {
                call.headers
                    .get(PREFER)
                    .is_some_and(|value| value != STRICT)
            },
        ),
        sent(
            "strict creates take what only the server sets",
            ids::STR_03,
            is_create,
            |call| {
                if let Some(mut body) = call.json() {
                    body.retain(|name, _| name != "created_date");
                    call.set_json(body);
                }
            },
        ),
        sent(
            "strict helper calls take any member of a person",
            ids::STR_08,
            is_help,
            |call| {
                if let Some(mut body) = call.json()
                    && let Some(person) = body.get_mut("person").and_then(Value::as_object_mut)
                {
                    person.retain(|name, _| !name.contains("unknown"));
                    call.set_json(body);
                }
            },
        ),
    ]
}

/// Rejections that are different or missing.
fn refused() -> Vec<Mutant> {
    let after = |name: &'static str, row: &'static str, act: fn(&mut BufferedResponse)| {
        fault(name, &[row], move || {
            Interceptor::after(move |call, answer, _| {
                if is_strict(call) && is_single(call) {
                    act(answer);
                }
            })
        })
    };
    vec![
        done_anyway(
            "strict creates are refused and done",
            ids::STR_01,
            is_create,
        ),
        done_anyway(
            "strict changes are refused and done",
            ids::STR_02,
            is_change,
        ),
        done_anyway(
            "strict helper calls are refused and done",
            ids::STR_08,
            is_help,
        ),
        fault(
            "helper calls that are refused strictly create their person",
            &[ids::STR_08],
            || Interceptor::around(|call, server| Box::pin(person_done(call, server))),
        )
        .at(MutationPoint::Backend),
        refusals("strict refusals name no property", ids::STR_01, |list| {
            for one in list.iter_mut().filter_map(Value::as_object_mut) {
                one.remove("properties");
            }
        }),
        refusals(
            "strict refusals name the first member alone",
            ids::STR_01,
            |list| list.truncate(1),
        ),
        refusals(
            "strict refusals name no member inside an object",
            ids::STR_01,
            |list| {
                list.retain(|one| !is_inside(one));
            },
        ),
        refusals(
            "strict refusals name the object around a member",
            ids::STR_08,
            |list| {
                for name in list
                    .iter_mut()
                    .filter_map(|one| one.pointer_mut("/properties/0"))
                {
                    let outer = name
                        .as_str()
                        .and_then(|name| name.rsplit_once('.'))
                        .map(|(outer, _)| outer.to_owned());
                    *name = outer.map_or_else(|| name.clone(), Value::from);
                }
            },
        ),
        after("strict refusals are answered 422", ids::STR_01, |answer| {
            if answer.status == 400 {
                answer.status = 422;
            }
        }),
        after("no answer repeats the preference", ids::STR_04, |answer| {
            drop(answer.headers.remove(APPLIED));
        }),
        after(
            "refusals do not repeat the preference",
            ids::STR_04,
            |answer| {
                if answer.status == 400 {
                    answer.headers.remove(APPLIED);
                }
            },
        ),
        fault(
            "the preference for strict handling is refused",
            &[ids::STR_04],
            || {
                Interceptor::before(|call, sight| {
                    let problem = json!({"error_code": "NO_SUCH_PREFERENCE", "description": "No."});
                    let entry = json!({"resource": sight.rel("error"), "response_code": 400, "error_descriptions": [problem]});
                    let error = json!({"request_type": "atomic", "response_code": 400, "resource_status": [entry]});
                    is_strict(call).then(|| {
                        BufferedResponse::document(400, &json!({ sight.rel("error"): error }))
                    })
                })
            },
        ),
    ]
}

/// Unknown members that are rejected, stored, or not named, without the preference.
fn tolerated() -> Vec<Mutant> {
    let always = |name: &'static str, is_meant: fn(&BufferedRequest) -> bool| {
        fault(name, &[ids::STR_05], move || {
            Interceptor::before(move |call, _| {
                if is_single(call) && is_meant(call) {
                    call.headers.insert(PREFER, STRICT);
                }
                None
            })
        })
        .at(MutationPoint::Request)
    };
    let silent: fn(&BufferedRequest, &mut Map<String, Value>) =
        |_, document| drop(document.remove(WARNINGS));
    vec![
        always("creates are strict without the preference", |call| {
            call.method == Method::POST
        }),
        always("lenient handling is strict", |call| {
            call.headers
                .get(PREFER)
                .is_some_and(|value| value == "handling=lenient")
        }),
        answers("creates have no warnings", ids::STR_06, is_create, silent),
        answers("changes have no warnings", ids::STR_06, is_change, silent),
        answers(
            "helper calls have no warnings",
            ids::STR_06,
            is_help,
            silent,
        ),
        answers(
            "creates echo unknown members",
            ids::STR_05,
            is_create,
            |call, document| {
                document.extend(unknown(call, document));
            },
        ),
        answers(
            "helper calls echo unknown members",
            ids::STR_05,
            is_help,
            |call, document| {
                document.extend(unknown(call, document));
            },
        ),
        stored("unknown members are stored", ids::STR_05, unknown),
        stored("warnings are stored", ids::STR_05, |_, document| {
            let mut document = document.clone();
            document.retain(|name, _| name == WARNINGS);
            document
        }),
        answers(
            "records that are put back have warnings",
            ids::STR_07,
            is_change,
            |call, document| {
                if call
                    .json()
                    .is_some_and(|body| body.contains_key("created_date"))
                    && let Some(warnings) = document.get_mut(WARNINGS).and_then(Value::as_array_mut)
                {
                    let text = "The server sets `created_date`.";
                    let one = json!({"error_code": "X", "description": text, "properties": ["created_date"]});
                    warnings.push(one);
                }
            },
        ),
        fault(
            "changes with members that the server sets are refused",
            &[ids::STR_07],
            || {
                Interceptor::before(|call, sight| {
                    let is_whole = call.json().is_some_and(|body| body.contains_key("_links"));
                    if is_whole && is_change(call, sight.what(call)) {
                        call.headers.insert(PREFER, STRICT);
                        call.headers.remove(CONTENT_LENGTH);
                    }
                    None
                })
            },
        )
        .at(MutationPoint::Request),
        fault(
            "changes with unknown members do nothing",
            &[ids::STR_05],
            || {
                Interceptor::before(|call, sight| {
                    let mut body = call.json().unwrap_or_default();
                    if is_change(call, sight.what(call))
                        && body.keys().any(|name| name.starts_with("unknown"))
                    {
                        body.retain(|name, _| name.starts_with("unknown"));
                        call.set_json(body);
                    }
                    None
                })
            },
        )
        .at(MutationPoint::Request),
        fault(
            "entries of a batch have no warnings",
            &[ids::STR_09],
            || {
                Interceptor::documents(|call, document, _, _| {
                    let results = document
                        .get_mut("results")
                        .and_then(Value::as_array_mut)
                        .filter(|_| is_batch(call));
                    for body in results
                        .into_iter()
                        .flatten()
                        .filter_map(|one| one.get_mut("body")?.as_object_mut())
                    {
                        body.remove(WARNINGS);
                    }
                })
            },
        ),
        fault(
            "an entry that is refused strictly ends its batch",
            &[ids::STR_09],
            || {
                Interceptor::documents(|call, document, _, _| {
                    let mut has_failed = false;
                    let results = document.get_mut("results").and_then(Value::as_array_mut);
                    for one in results
                        .into_iter()
                        .flatten()
                        .filter(|_| is_strict(call))
                        .filter_map(Value::as_object_mut)
                    {
                        if has_failed {
                            set(one, "status", 424);
                        }
                        has_failed |= one
                            .get("status")
                            .and_then(Value::as_u64)
                            .is_some_and(|status| status >= 400);
                    }
                })
            },
        ),
    ]
}
