//! Status codes and error objects.

use serde_json::{Map, Value, json};
use svc_conformance::ids;

use super::table::MutationStep::{
    Bare, Body, Copy, Done, Drop, Empty, Failed, Has, Repeat, Replace, Set, Status, Swap, Text,
    Value as As,
};
use super::table::MutationTarget::{Answers, Descriptions, Entries, Errors};
use super::table::TriggerRequest::{Any, Collection, Record};
use super::table::{MutationRow, line, table};
use super::{BaseServer, Mutant, MutationPoint, set};
use crate::interceptor::Interceptor;
use crate::link_map::ResourceKind;
use crate::transport::BufferedResponse;

const FAMILY: &str = "error object";

/// Returns the descriptions of an error, in one list.
fn descriptions(error: &mut Map<String, Value>) -> Vec<&mut Value> {
    let entries = error
        .get_mut("resource_status")
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten();
    entries
        .filter_map(|entry| entry.get_mut("error_descriptions")?.as_array_mut())
        .flatten()
        .collect()
}

/// Makes every create of a share page fail, as declared, with this response.
fn unexpected(name: &'static str, body: fn() -> Value) -> Mutant {
    Mutant::new("status", name, &[ids::ERR_05], move || {
        Interceptor::after(move |call, answer, sight| {
            if call.method == "POST"
                && sight.what(call) == Some(ResourceKind::Collection("share_page"))
            {
                *answer = BufferedResponse::document(500, &body());
            } else {
                answer.declare("fault_injection");
            }
        })
    })
    .at(MutationPoint::Backend)
}

/// Replaces a given error code of descriptions by `INVALID`.
fn without_code(name: &'static str, rows: &[&str], code: &'static str) -> Mutant {
    Mutant::new("rules", name, rows, move || {
        Interceptor::errors(move |error, _| {
            for one in descriptions(error) {
                if one.get("error_code").and_then(Value::as_str) == Some(code)
                    && let Some(one) = one.as_object_mut()
                {
                    set(one, "error_code", "INVALID");
                }
            }
        })
    })
}

/// Accepts a question that breaks a rule, by removing the part that breaks it.
fn lenient(name: &'static str, rows: &[&str], fix: fn(&mut Map<String, Value>)) -> Mutant {
    Mutant::new("rules", name, rows, move || {
        Interceptor::sent(move |call, what, body, _| {
            if call.is_write() && what.and_then(ResourceKind::kind) == Some("question") {
                fix(body);
            }
        })
    })
    .at(MutationPoint::Request)
}

fn responses(body: &mut Map<String, Value>) -> impl Iterator<Item = &mut Map<String, Value>> {
    let list = body.get_mut("responses").and_then(Value::as_array_mut);
    list.into_iter().flatten().filter_map(Value::as_object_mut)
}

pub(super) fn faults() -> Vec<Mutant> {
    [
        table(FAMILY, OBJECTS),
        table("status", STATUSES),
        statuses(),
        rules(),
    ]
    .concat()
}

const OBJECTS: &[MutationRow] = &[
    line(
        "errors under another relation",
        "ERR-01 ERR-12 ERR-14 ERR-16",
        Answers("*", Any),
        &[
            Has("svc:error"),
            Copy("svc:error", "error"),
            Drop("svc:error"),
        ],
    ),
    line(
        "errors without a body",
        "ERR-12 ERR-14 ERR-16 ERR-07",
        Answers("*", Any),
        &[Failed, Bare],
    ),
    line(
        "no request_type",
        ids::ERR_18,
        Errors,
        &[Drop("request_type")],
    ),
    line(
        "request_type is partial",
        ids::ERR_18,
        Errors,
        &[Set("request_type", "partial")],
    )
    .on_reference(),
    line(
        "request_type is a flag",
        ids::ERR_18,
        Errors,
        &[Set("request_type", "true")],
    ),
    line(
        "response_code is a text",
        ids::ERR_19,
        Errors,
        &[As("response_code", |code| *code = code.to_string().into())],
    ),
    line(
        "response_code is another than the status",
        ids::ERR_19,
        Errors,
        &[Set("response_code", "418")],
    )
    .on_reference(),
    line(
        "no response_code",
        ids::ERR_19,
        Errors,
        &[Drop("response_code")],
    ),
    line(
        "resource_status is an object",
        "ERR-20 ERR-12 ERR-14",
        Errors,
        &[Copy("resource_status[0]", "resource_status")],
    ),
    line(
        "an atomic error has two entries",
        ids::ERR_20,
        Errors,
        &[Repeat("resource_status")],
    )
    .on_reference(),
    line(
        "resource_status is empty",
        "ERR-20 ERR-12 ERR-14 ERR-16",
        Errors,
        &[Set("resource_status", "[]")],
    ),
    line(
        "resource without prefix",
        ids::ERR_21,
        Entries,
        &[Text("resource", |name| last(name, ':'))],
    ),
    line(
        "resource is an object",
        ids::ERR_21,
        Entries,
        &[Set("resource", "{}")],
    )
    .on_reference(),
    line(
        "an entry's code is a text",
        ids::ERR_22,
        Entries,
        &[Set("response_code", "\"400\"")],
    ),
    line(
        "an entry's code is out of the table",
        ids::ERR_22,
        Entries,
        &[Set("response_code", "422")],
    )
    .on_reference(),
    line(
        "no code of an entry",
        ids::ERR_22,
        Entries,
        &[Drop("response_code")],
    ),
    line(
        "descriptions are an object",
        "ERR-23 ERR-12 ERR-14",
        Entries,
        &[Copy("error_descriptions[0]", "error_descriptions")],
    ),
    line(
        "no descriptions",
        "ERR-23 ERR-12 ERR-14 ERR-16",
        Entries,
        &[Drop("error_descriptions")],
    )
    .on_reference(),
    line(
        "descriptions are empty",
        "ERR-23 ERR-12 ERR-14",
        Entries,
        &[Set("error_descriptions", "[]")],
    ),
    line(
        "codes in small letters",
        "ERR-24 ERR-35 ERR-36 ERR-37",
        Descriptions,
        &[Text("error_code", str::to_lowercase)],
    ),
    line(
        "codes are numbers",
        ids::ERR_24,
        Descriptions,
        &[Set("error_code", "17")],
    )
    .on_reference(),
    line(
        "an empty description",
        ids::ERR_25,
        Descriptions,
        &[Set("description", "")],
    ),
    line(
        "a description in two languages",
        ids::ERR_25,
        Descriptions,
        &[Set(
            "description",
            "{\"en\": \"Wrong\", \"de\": \"Falsch\"}",
        )],
    )
    .on_reference(),
    line(
        "properties are one text",
        ids::ERR_26,
        Descriptions,
        &[Copy("properties[0]", "properties")],
    ),
    line(
        "properties are counted from one",
        "ERR-26 ERR-36",
        Descriptions,
        &[
            Replace("properties[]", "[1]", "[2]"),
            Replace("properties[]", "[0]", "[1]"),
        ],
    ),
    line(
        "properties are pointers",
        "ERR-26 ERR-36",
        Descriptions,
        &[Text("properties[]", |name| {
            format!("/{}", name.replace(['[', '.'], "/").replace(']', ""))
        })],
    )
    .on_reference(),
    line(
        "properties name nothing",
        "ERR-26 ERR-35 ERR-36 ERR-37",
        Descriptions,
        &[Set("properties", "[]")],
    ),
];

/// Returns the part after the last occurrence of a character.
fn last(text: &str, mark: char) -> String {
    text.rsplit(mark).next().unwrap_or_default().to_owned()
}

const STATUSES: &[MutationRow] = &[
    line(
        "what is wrong is 422",
        "ERR-12 ERR-14",
        Answers("*", Any),
        &[Status(400), Swap(422)],
    ),
    line(
        "a wrong create is 500",
        ids::ERR_12,
        Answers("POST", Any),
        &[Status(400), Swap(500)],
    )
    .on_reference(),
    line(
        "a wrong update is 409",
        ids::ERR_14,
        Answers("PUT", Any),
        &[Status(400), Swap(409)],
    ),
    line(
        "a wrong create is answered 200 with an error",
        "ERR-12 ERR-01",
        Answers("POST", Any),
        &[Status(400), Swap(200)],
    )
    .on_reference(),
    line(
        "what is not supported is 405",
        "ERR-07 CAP-07",
        Answers("*", Any),
        &[Status(500), Empty(405)],
    ),
    line(
        "what is not supported is 500 without a body",
        ids::ERR_07,
        Answers("*", Any),
        &[Status(500), Empty(500)],
    )
    .on_reference(),
    line(
        "what is not supported is 404",
        "ERR-07 CAP-07",
        Answers("*", Any),
        &[Status(500), Swap(404)],
    ),
    line(
        "a deleted record is gone with 410",
        "ERR-11 CRU-05 CRU-09",
        Answers("GET", Any),
        &[Status(404), Swap(410)],
    ),
    line(
        "a deleted record is 200 with nothing",
        "ERR-11 CRU-05 CRU-09",
        Answers("GET", Any),
        &[Status(404), Body(200, "{}")],
    )
    .on_reference(),
    line(
        "a deleted record is 404 with a page",
        ids::ERR_11,
        Answers("GET", Record("*")),
        &[
            Status(404),
            Body(404, "{\"title\": \"Not found\", \"_links\": {}}"),
        ],
    ),
    line(
        "a second delete is 204",
        ids::ERR_16,
        Answers("DELETE", Any),
        &[Status(404), Empty(204)],
    ),
    line(
        "a second delete has no body",
        ids::ERR_16,
        Answers("DELETE", Any),
        &[Status(404), Empty(404)],
    )
    .on_reference(),
    line(
        "a create fails unexpectedly without an error",
        "ERR-13 CRU-*",
        Answers("POST", Collection("share_page")),
        &[Empty(500)],
    )
    .on_reference(),
    line(
        "a delete leaves a body in 204",
        "ERR-17 CRU-14 CRU-05 CRU-09",
        Answers("DELETE", Any),
        &[Done, Body(204, "{\"notice\": \"gone\"}")],
    ),
    line(
        "a read answers 203",
        "ERR-10 COL-03 HAL-16",
        Answers("GET", Record("*")),
        &[Done, Swap(203)],
    ),
];

fn statuses() -> Vec<Mutant> {
    vec![
        Mutant::new(
            "status",
            "every 30th read fails",
            &[ids::ERR_10, "COL-*", "ENT-*", "RES-*", "CRU-*"],
            || {
                let mut count = 0_u32;
                Interceptor::after(move |call, answer, _| {
                    count = count.wrapping_add(u32::from(call.method == "GET"));
                    if call.method == "GET" && answer.is_success() && count.is_multiple_of(30) {
                        *answer = BufferedResponse::document(
                            500,
                            &json!({ "message": "java.lang.NullPointerException" }),
                        );
                    }
                })
            },
        ),
        unexpected(
            "an unexpected error is a line of its log",
            || json!({ "message": "java.lang.NullPointerException" }),
        ),
        unexpected("an unexpected error has no descriptions", || {
            let entry = json!({ "resource": "svc:share_page", "response_code": 500, "error_descriptions": [] });
            json!({ "svc:error": { "request_type": "atomic", "response_code": 500, "resource_status": [entry] } })
        }),
        Mutant::new(
            FAMILY,
            "errors as text",
            &[
                ids::ERR_01,
                ids::ERR_12,
                ids::ERR_14,
                ids::ERR_16,
                ids::HAL_02,
            ],
            || {
                Interceptor::after(|_, answer, _| {
                    if answer.status >= 400 && !answer.body.is_empty() {
                        answer.body = "\"Something went wrong\"".into();
                    }
                })
            },
        )
        .on_reference(),
    ]
}

#[expect(clippy::too_many_lines, reason = "a table of faults")]
fn rules() -> Vec<Mutant> {
    let mut faults = vec![
        lenient(
            "a Paragraph takes responses",
            &[ids::ERR_35, ids::ERR_39],
            |body| {
                if body.get("question_type") == Some(&json!("Paragraph")) {
                    body.remove("responses");
                }
            },
        ),
        lenient(
            "names of responses are not checked",
            &[ids::ERR_36, ids::ERR_39],
            |body| {
                for response in responses(body) {
                    if let Some(Value::String(name)) = response.get_mut("name") {
                        name.retain(|one| one.is_ascii_alphanumeric() || one == '_');
                        name.push('x');
                    }
                }
            },
        )
        .on_reference(),
        lenient(
            "keys of responses may repeat",
            &[ids::ERR_40, ids::LIM_06, ids::RES_QUESTION_08],
            |body| {
                let mut keys: Vec<Value> = Vec::new();
                let list = body.get_mut("responses").and_then(Value::as_array_mut);
                for response in list.into_iter().flatten().filter_map(Value::as_object_mut) {
                    let Some(key) = response.get("key").cloned() else {
                        continue;
                    };
                    if keys.contains(&key) {
                        response.remove("key");
                    }
                    keys.push(key);
                }
            },
        ),
        without_code(
            "responses of a Paragraph under another code",
            &[ids::ERR_35],
            "PARAGRAPH_CANNOT_HAVE_RESPONSES",
        ),
        without_code(
            "names of responses under another code",
            &[ids::ERR_36],
            "RESPONSE_NAME_INVALID",
        )
        .on_reference(),
        without_code(
            "unknown tags under another code",
            &[ids::ERR_37, ids::HAF_03],
            "TAG_NAME_DOES_NOT_EXIST",
        ),
        Mutant::new(
            "rules",
            "only the first error is reported",
            &[ids::ERR_39],
            first_only,
        ),
        Mutant::new(
            "rules",
            "only the first error is reported by the reference server",
            &[ids::ERR_39],
            first_only,
        )
        .on_reference(),
        Mutant::new(
            "rules",
            "all error descriptions repeat the first",
            &[ids::ERR_39, ids::ERR_26],
            || {
                Interceptor::errors(|error, _| {
                    let mut all = descriptions(error);
                    let Some(first) = all.first().map(|one| (*one).clone()) else {
                        return;
                    };
                    for one in &mut all {
                        **one = first.clone();
                    }
                })
            },
        ),
        Mutant::new(
            "non-atomic",
            "a partial failure is reported as atomic",
            &[ids::ERR_30, ids::ERR_18, ids::ERR_20, ids::ERR_31],
            || Interceptor::errors(|error, _| set(error, "request_type", "atomic")),
        ),
        Mutant::new(
            "non-atomic",
            "a partial failure is 207",
            &[ids::ERR_30, ids::ERR_19],
            || {
                Interceptor::after(|_, answer, _| {
                    if answer.status == 400
                        && String::from_utf8_lossy(&answer.body).contains("\"non-atomic\"")
                    {
                        answer.status = 207;
                    }
                })
            },
        )
        .on_reference(),
        Mutant::new(
            "non-atomic",
            "a partial failure names only what failed",
            &[ids::ERR_31, ids::ERR_20],
            || {
                Interceptor::errors(|error, _| {
                    if let Some(list) = error
                        .get_mut("resource_status")
                        .and_then(Value::as_array_mut)
                    {
                        list.retain(|entry| entry.get("response_code") == Some(&json!(400)));
                    }
                })
            },
        ),
        Mutant::new(
            "non-atomic",
            "a partial failure is reported as a success",
            &[ids::ERR_30, ids::ERR_37, ids::HAF_03],
            || {
                Interceptor::after(|_, answer, _| {
                    if answer.status == 400
                        && String::from_utf8_lossy(&answer.body).contains("\"non-atomic\"")
                    {
                        *answer = BufferedResponse::document(200, &json!({}));
                    }
                })
            },
        ),
        Mutant::new(
            "non-atomic",
            "entries under a third spelling",
            &[ids::ERR_33, ids::ERR_23, ids::ERR_31],
            || {
                Interceptor::documents(|_, document, _, sight| {
                    let Some(Value::Object(error)) = document.get_mut(&sight.rel("error")) else {
                        return;
                    };
                    if error.get("request_type") != Some(&json!("non-atomic")) {
                        return;
                    }
                    for entry in error
                        .get_mut("resource_status")
                        .and_then(Value::as_array_mut)
                        .into_iter()
                        .flatten()
                    {
                        if let Some(entry) = entry.as_object_mut()
                            && let Some(list) = entry.remove("error_descriptions")
                        {
                            set(entry, "messages", list);
                        }
                    }
                })
            },
        ),
        Mutant::new(
            "non-atomic",
            "a failed atomic helper stores the person",
            &[ids::ERR_34, ids::ERR_04],
            left_behind,
        )
        .over(BaseServer::SecondServer(|options| {
            options.atomic_helpers = true;
        }))
        .at(MutationPoint::Backend),
        Mutant::new(
            "non-atomic",
            "what the server does not do is 400",
            &[ids::ERR_38],
            || {
                Interceptor::entries(|entry, _| {
                    if entry.get("response_code") == Some(&json!(500)) {
                        set(entry, "response_code", 400);
                    }
                })
            },
        )
        .over(BaseServer::Reference(|api| {
            api.without_capability("haf.add_lists")
        })),
        Mutant::new(
            "non-atomic",
            "an unsupported function is ignored silently",
            &[ids::ERR_38],
            || {
                Interceptor::sent(|_, what, body, _| {
                    if matches!(what, Some(ResourceKind::Helper(_))) {
                        body.remove("add_lists");
                    }
                })
            },
        )
        .over(BaseServer::Reference(|api| {
            api.without_capability("haf.add_lists")
        }))
        .at(MutationPoint::Backend),
    ];
    faults.push(
        without_code(
            "what the server does not do under another code",
            &[ids::ERR_38],
            "NOT_SUPPORTED",
        )
        .over(BaseServer::Reference(|api| {
            api.without_capability("haf.add_lists")
        })),
    );
    faults
}

fn first_only() -> Interceptor {
    Interceptor::entries(|entry, _| {
        if let Some(list) = entry
            .get_mut("error_descriptions")
            .and_then(Value::as_array_mut)
        {
            list.truncate(1);
        }
    })
}

/// A helper request that failed as a whole but stores its person.
fn left_behind() -> Interceptor {
    Interceptor::around(|call, server| {
        Box::pin(async move {
            let answer = server.send(call.clone()).await;
            if answer.status != 400 || !matches!(server.what(&call), Some(ResourceKind::Helper(_)))
            {
                return answer;
            }
            if let (Some(person), Some(home)) = (
                call.json().and_then(|mut body| body.remove("person")),
                server.helper("person"),
            ) {
                let mut signup = call.clone();
                signup.redirect(&home);
                signup.set_json(Map::from_iter([("person".to_owned(), person)]));
                drop(server.send(signup).await);
            }
            answer
        })
    })
}
