//! Helpers, action functions and message scheduling.

use serde_json::{Map, Value, json};
use svc_conformance::ids;

use super::{Mutant, MutationPoint, links, set};
use crate::interceptor::Interceptor;
use crate::link_map::ResourceKind;
use crate::transport::BufferedResponse;

const FAMILY: &str = "helpers";

/// A change to the request of a helper; `*` is every helper except the schedule.
fn posted(
    name: impl Into<String>,
    rows: &[&str],
    kind: &'static str,
    change: fn(&mut Map<String, Value>),
) -> Mutant {
    Mutant::new(FAMILY, name, rows, move || {
        Interceptor::sent(move |call, what, body, _| {
            if let Some(ResourceKind::Helper(made)) = what
                && call.method == "POST"
                && (made == kind || (kind == "*" && made != "message"))
            {
                change(body);
            }
        })
    })
    .at(MutationPoint::Backend)
}

/// A change to the response of a helper.
fn answered(
    name: &'static str,
    rows: &[&str],
    kind: &'static str,
    change: fn(&mut BufferedResponse),
) -> Mutant {
    Mutant::new(FAMILY, name, rows, move || {
        Interceptor::after(move |call, answer, sight| {
            if let Some(ResourceKind::Helper(made)) = sight.what(call)
                && answer.is_success()
                && (made == kind || (kind == "*" && made != "message"))
            {
                change(answer);
            }
        })
    })
}

/// Removes a link from the response of a helper.
fn without_link(
    name: &'static str,
    rows: &[&str],
    kind: &'static str,
    rel: &'static str,
) -> Mutant {
    Mutant::new(FAMILY, name, rows, move || {
        Interceptor::documents(move |call, document, _, sight| {
            if sight.what(call) == Some(ResourceKind::Helper(kind)) {
                let rel = if rel == "self" {
                    rel.to_owned()
                } else {
                    sight.rel(rel)
                };
                drop(links(document).and_then(|links| links.remove(&rel)));
            }
        })
    })
}

/// A change to each element of a list in a helper's body.
fn elements(
    name: &'static str,
    rows: &[&str],
    list: &'static str,
    change: fn(&mut Map<String, Value>),
) -> Mutant {
    Mutant::new("action functions", name, rows, move || {
        Interceptor::sent(move |_, what, body, _| {
            if !matches!(what, Some(ResourceKind::Helper(_))) {
                return;
            }
            for one in body
                .get_mut(list)
                .and_then(Value::as_array_mut)
                .into_iter()
                .flatten()
            {
                if let Some(one) = one.as_object_mut() {
                    change(one);
                }
            }
        })
    })
    .at(MutationPoint::Backend)
}

/// Ignores an action function.
fn ignored(function: &'static str, row: &'static str) -> Mutant {
    Mutant::new(
        "action functions",
        format!("{function} does nothing"),
        &[row, ids::HAF_01],
        move || {
            Interceptor::sent(move |_, what, body, _| {
                if matches!(what, Some(ResourceKind::Helper(_))) {
                    body.remove(function);
                }
            })
        },
    )
    .at(MutationPoint::Backend)
}

/// A helper that responds but stores only a few members.
fn forgetful(kind: &'static str, row: &'static str, total: &'static str) -> Mutant {
    Mutant::new(
        FAMILY,
        format!("the {kind} helper stores only the last field"),
        &[row, total, "RES-*", ids::HLP_06],
        move || {
            Interceptor::sent(move |_, what, body, _| {
                if what == Some(ResourceKind::Helper(kind)) {
                    let kept = ["person", "canvass", "add_tags", "_links", "tickets"];
                    body.retain(|name, _| kept.contains(&name.as_str()));
                    if let Some(Value::Object(canvass)) = body.get_mut("canvass") {
                        canvass.clear();
                    }
                }
            })
        },
    )
    .at(MutationPoint::Backend)
}

/// Changes responses of message scheduling.
fn schedule(
    name: &'static str,
    rows: &[&str],
    method: &'static str,
    change: fn(&mut BufferedResponse),
) -> Mutant {
    Mutant::new("scheduling", name, rows, move || {
        Interceptor::after(move |call, answer, sight| {
            if sight.what(call) == Some(ResourceKind::Helper("message"))
                && call.method == method
                && answer.is_success()
            {
                change(answer);
            }
        })
    })
}

#[expect(clippy::too_many_lines, reason = "a table of faults")]
pub(super) fn faults() -> Vec<Mutant> {
    let mut faults = vec![
        Mutant::new(FAMILY, "helpers answer to PUT", &[ids::HLP_01], || {
            Interceptor::before(|call, sight| {
                if matches!(sight.what(call), Some(ResourceKind::Helper(kind)) if kind != "message") && call.method == "PUT" {
                    call.method = http::Method::POST;
                }
                None
            })
        }),
        Mutant::new(FAMILY, "helpers answer to DELETE", &[ids::HLP_01], || {
            Interceptor::before(|call, sight| {
                let is_it = matches!(sight.what(call), Some(ResourceKind::Helper(kind)) if kind != "message")
                    && call.method == "DELETE";
                is_it.then(|| BufferedResponse::document(200, &json!({ "notice": "Nothing to do." })))
            })
        })
        .on_reference(),
        posted("helpers take no function", &["HAF-*"], "*", |body| {
            body.retain(|name, _| !name.starts_with("add_"));
        }),
        Mutant::new(FAMILY, "helpers refuse a person together with a function", &[ids::HLP_02, "HAF-*"], || {
            Interceptor::before(|call, sight| {
                let body = call.json().filter(|_| matches!(sight.what(call), Some(ResourceKind::Helper(_))))?;
                let both = body.contains_key("person") && body.keys().any(|name| name.starts_with("add_"));
                both.then(|| {
                    let description = json!({ "error_code": "NOT_ALLOWED", "description": "A person or a function, not both." });
                    let entry = json!({ "resource": sight.rel("person"), "response_code": 400, "error_descriptions": [description] });
                    let error = json!({ "request_type": "atomic", "response_code": 400, "resource_status": [entry] });
                    BufferedResponse::document(400, &json!({ sight.rel("error"): error }))
                })
            })
        }),
        posted("a posted person keeps its name only", &[ids::HLP_03, ids::HLP_19, "RES-person-*"], "*", |body| {
            if let Some(Value::Object(person)) = body.get_mut("person") {
                person.retain(|name, _| {
                    ["given_name", "family_name", "identifiers", "email_addresses"].contains(&name.as_str())
                });
            }
        }),
        posted("a posted person loses its addresses", &[ids::HLP_03, "RES-person-*", "RES-*"], "*", |body| {
            if let Some(Value::Object(person)) = body.get_mut("person") {
                person.remove("email_addresses");
                person.remove("phone_numbers");
            }
        })
        .on_reference(),
        posted("a posted person loses its identifiers", &[ids::HLP_03, ids::TYP_13, ids::TYP_17], "*", |body| {
            if let Some(Value::Object(person)) = body.get_mut("person") {
                person.remove("identifiers");
            }
            body.remove("identifiers");
        }),
        answered("helpers answer an id only", &[ids::HLP_06, "HLP-*", "RES-*"], "*", |answer| {
            if let Some(Value::Object(mut record)) = answer.json() {
                record.retain(|name, _| name == "identifiers");
                answer.set_json(&Value::Object(record));
            }
        }),
        answered("helpers answer 202", &[ids::HLP_06, "HLP-*"], "*", |answer| answer.status = 202).on_reference(),
        answered("helpers answer nothing", &[ids::HLP_06, "HLP-*"], "*", |answer| *answer = BufferedResponse::empty(204)),
        Mutant::new(FAMILY, "the matching method is not documented", &[ids::HLP_05], || {
            Interceptor::after(|_, answer, _| {
                let Ok(Value::Object(mut document)) = serde_json::from_slice::<Value>(&answer.body) else { return };
                if document.contains_key("person_matching") {
                    set(&mut document, "person_matching", "");
                    answer.set_json(&Value::Object(document));
                } else if let Some(docs) = links(&mut document).and_then(|links| links.get_mut("docs")) {
                    // The page that lists it is a different one.
                    if let Some(Value::String(href)) = docs.get_mut("href") {
                        href.push_str("gone/away");
                        answer.set_json(&Value::Object(document));
                    }
                }
            })
        })
        .on_reference(),
        forgetful("signature", ids::HLP_11, "RES-signature-*"),
        forgetful("submission", ids::HLP_12, "RES-submission-*"),
        forgetful("donation", ids::HLP_13, ids::RES_FUNDRAISING_PAGE_10),
        forgetful("outreach", ids::HLP_14, "RES-outreach-*"),
        forgetful("attendance", ids::HLP_15, "RES-attendance-*"),
        forgetful("canvass", ids::HLP_16, "RES-canvass-*"),
        Mutant::new(
            FAMILY,
            "the canvass helper's target is the one before",
            &[ids::HLP_17, ids::RES_CANVASS_12],
            || {
                let mut first: Option<Value> = None;
                Interceptor::records("canvass", move |record, sight| {
                    let rel = sight.rel("target");
                    if let Some(target) = links(record).and_then(|links| links.get_mut(&rel)) {
                        *target = first.get_or_insert_with(|| target.clone()).clone();
                    }
                })
            },
        ),
        Mutant::new(FAMILY, "the canvass helper takes a missing target", &[ids::HLP_17, ids::HLP_23], || {
            Interceptor::after(|call, answer, sight| {
                if sight.what(call) == Some(ResourceKind::Helper("canvass")) && answer.status == 404 {
                    *answer = BufferedResponse::document(200, &json!({ "success": true }));
                }
            })
        })
        .on_reference(),
        Mutant::new(FAMILY, "the canvass helper makes a second person", &[ids::HLP_18], || {
            Interceptor::around(|call, server| {
                Box::pin(async move {
                    if server.what(&call) == Some(ResourceKind::Helper("canvass"))
                        && let Some(person) = call.json().and_then(|mut body| body.remove("person"))
                        && let Some(home) = server.helper("person")
                    {
                        let mut signup = call.clone();
                        signup.redirect(&home);
                        signup.set_json(Map::from_iter([("person".to_owned(), person)]));
                        drop(server.send(signup).await);
                    }
                    server.send(call).await
                })
            })
        })
        .at(MutationPoint::Backend),
        posted("a signup keeps the last name only", &[ids::HLP_19, ids::HLP_03, "RES-person-*"], "person", |body| {
            if let Some(Value::Object(person)) = body.get_mut("person") {
                person.retain(|name, _| name == "family_name" || name == "identifiers");
            }
        }),
        without_link("a signup without attendances", &[ids::HLP_21, ids::RES_PERSON_41], "person", "attendances"),
        without_link("a signup without items", &[ids::HLP_21, ids::RES_PERSON_46], "person", "items"),
        without_link(
            "a donation without its page",
            &[ids::RES_DONATION_21, ids::HLP_13],
            "donation",
            "fundraising_page",
        ),
        without_link("a donation without self", &[ids::RES_DONATION_21, ids::HLP_13, "HAL-*"], "donation", "self"),
        without_link("an attendance without its event", &[ids::RES_ATTENDANCE_15, ids::HLP_15], "attendance", "event"),
        without_link("a canvass without answers", &[ids::RES_CANVASS_12, ids::HLP_16], "canvass", "answers"),
        without_link("a canvass without taggings", &[ids::RES_CANVASS_12, ids::HLP_16], "canvass", "taggings"),
        Mutant::new(FAMILY, "a canvass forgets its canvasser", &[ids::RES_CANVASS_07, ids::RES_CANVASS_12], || {
            Interceptor::records("canvass", |record, sight| {
                let rel = sight.rel("canvasser");
                drop(links(record).and_then(|links| links.remove(&rel)));
            })
        }),
        Mutant::new(FAMILY, "tickets' attendances are attended", &[ids::RES_ATTENDANCE_05], || {
            Interceptor::records("attendance", |record, _| {
                if record.contains_key("tickets") {
                    set(record, "attended", true);
                }
            })
        }),
        Mutant::new(
            FAMILY,
            "signature helper is elsewhere",
            &[ids::RES_SIGNATURE_08, ids::RES_PETITION_20, ids::HLP_11],
            || away("petition", "record_signature_helper"),
        ),
        Mutant::new(
            FAMILY,
            "outreach helper is elsewhere",
            &[ids::RES_OUTREACH_13, ids::RES_ADVOCACY_CAMPAIGN_21, ids::HLP_14],
            || away("advocacy_campaign", "record_outreach_helper"),
        )
        .on_reference(),
        Mutant::new(FAMILY, "signup helper is elsewhere", &[ids::RES_PERSON_49, ids::ENT_24, ids::HLP_19], || {
            Interceptor::entry(|document, sight| {
                let rel = sight.rel("person_signup_helper");
                if let Some(Value::String(href)) =
                    links(document).and_then(|links| links.get_mut(&rel)?.get_mut("href"))
                {
                    href.push_str("_elsewhere");
                }
            })
        }),
        Mutant::new(FAMILY, "schedule helper is elsewhere", &[ids::HLP_22, "SCH-*"], || {
            away("message", "schedule_helper")
        }),
    ];
    faults.extend(functions());
    faults.extend(scheduling());
    faults
}

/// Adds a path to a link of a kind, so that the link has no target.
fn away(kind: &'static str, rel: &'static str) -> Interceptor {
    Interceptor::records(kind, move |record, sight| {
        let rel = sight.rel(rel);
        if let Some(Value::String(href)) =
            links(record).and_then(|links| links.get_mut(&rel)?.get_mut("href"))
        {
            href.push_str("/elsewhere/now");
        }
    })
}

#[expect(clippy::too_many_lines, reason = "a table of faults")]
fn functions() -> Vec<Mutant> {
    vec![
        ignored("add_tags", ids::HAF_02),
        ignored("add_tags_uri", ids::HAF_04),
        ignored("add_lists", ids::HAF_05),
        ignored("add_lists_uri", ids::HAF_06),
        ignored("add_questions_responses_uri", ids::HAF_07),
        posted(
            "only record helpers take functions",
            &[ids::HAF_01],
            "person",
            |body| {
                body.retain(|name, _| name == "person");
            },
        ),
        posted(
            "the canvass helper takes no function",
            &[ids::HAF_01],
            "canvass",
            |body| {
                body.retain(|name, _| name == "canvass");
            },
        ),
        Mutant::new(
            "action functions",
            "an unknown tag is created",
            &[ids::HAF_03, ids::ERR_37, ids::ERR_30, ids::ERR_31],
            || {
                Interceptor::around(|call, server| {
                    Box::pin(async move {
                        let answer = server.send(call.clone()).await;
                        if answer.status != 400
                            || !String::from_utf8_lossy(&answer.body)
                                .contains("TAG_NAME_DOES_NOT_EXIST")
                        {
                            return answer;
                        }
                        let (Some(mut body), Some(tags)) = (call.json(), server.collection("tag"))
                        else {
                            return answer;
                        };
                        for name in body
                            .remove("add_tags")
                            .iter()
                            .flat_map(|list| list.as_array().cloned().unwrap_or_default())
                        {
                            let mut create = call.clone();
                            create.redirect(&tags);
                            create.set_json(Map::from_iter([("name".to_owned(), name)]));
                            drop(server.send(create).await);
                        }
                        let mut again = call;
                        again.set_json(body);
                        server.send(again).await
                    })
                })
            },
        )
        .at(MutationPoint::Backend),
        Mutant::new(
            "action functions",
            "an unknown tag is ignored",
            &[ids::HAF_03, ids::ERR_37, ids::ERR_30, ids::ERR_31],
            || {
                Interceptor::around(|mut call, server| {
                    Box::pin(async move {
                        let answer = server.send(call.clone()).await;
                        if answer.status != 400
                            || !String::from_utf8_lossy(&answer.body)
                                .contains("TAG_NAME_DOES_NOT_EXIST")
                        {
                            return answer;
                        }
                        if let Some(mut body) = call.json() {
                            body.remove("add_tags");
                            call.set_json(body);
                        }
                        server.send(call).await
                    })
                })
            },
        )
        .on_reference()
        .at(MutationPoint::Backend),
        elements(
            "questions are found by address only",
            &[ids::HAF_08],
            "add_questions_responses_uri",
            |one| {
                let question = one
                    .get("question")
                    .and_then(Value::as_str)
                    .unwrap_or_default();
                if !question.contains('/') {
                    set(one, "question", "none:0");
                }
            },
        ),
        elements(
            "questions are found by identifier only",
            &[ids::HAF_08, ids::HAF_07],
            "add_questions_responses_uri",
            |one| {
                let question = one
                    .get("question")
                    .and_then(Value::as_str)
                    .unwrap_or_default();
                if question.contains('/') {
                    set(one, "question", "none:0");
                }
            },
        )
        .on_reference(),
        elements(
            "response keys are ignored",
            &[ids::HAF_09],
            "add_questions_responses_uri",
            |one| {
                drop(one.remove("responses"));
            },
        ),
        elements(
            "response keys are not taken",
            &[ids::HAF_09],
            "add_questions_responses_uri",
            |one| {
                if one.contains_key("responses") {
                    set(one, "responses", json!(["no such key"]));
                }
            },
        ),
        elements(
            "free text is not taken",
            &[ids::HAF_10],
            "add_questions_responses_uri",
            |one| {
                if one.contains_key("value") {
                    set(one, "question", "none:0");
                }
            },
        ),
        posted("triggers are refused", &[ids::HAF_11], "*", |body| {
            if body.contains_key("triggers") {
                set(body, "add_tags", 5);
            }
        }),
        posted("a trigger is always on", &[ids::HAF_12], "*", |body| {
            for trigger in body
                .get_mut("triggers")
                .and_then(Value::as_object_mut)
                .into_iter()
                .flat_map(Map::values_mut)
            {
                if let Some(trigger) = trigger.as_object_mut() {
                    set(trigger, "enabled", true);
                }
            }
        }),
        posted(
            "a trigger that is off is refused",
            &[ids::HAF_12, ids::HAF_11],
            "*",
            |body| {
                let off = body
                    .get("triggers")
                    .is_some_and(|triggers| triggers.to_string().contains("false"));
                if off {
                    set(body, "add_tags", 5);
                }
            },
        ),
        Mutant::new(
            "action functions",
            "a trigger's identifiers become the record's",
            &[ids::HAF_13],
            || {
                Interceptor::sent(|_, what, body, _| {
                    if !matches!(what, Some(ResourceKind::Helper(_))) {
                        return;
                    }
                    let triggers = body
                        .get("triggers")
                        .and_then(Value::as_object)
                        .cloned()
                        .unwrap_or_default();
                    let more = triggers
                        .values()
                        .filter_map(|one| one.get("identifiers")?.as_array().cloned())
                        .flatten();
                    let more: Vec<Value> = more.collect();
                    if more.is_empty() {
                        return;
                    }
                    for owner in ["person", "canvass"] {
                        if let Some(Value::Object(inner)) = body.get_mut(owner) {
                            extend(inner, &more);
                        }
                    }
                    extend(body, &more);
                })
            },
        )
        .at(MutationPoint::Backend),
    ]
}

fn extend(object: &mut Map<String, Value>, more: &[Value]) {
    let mut list = object
        .get("identifiers")
        .and_then(Value::as_array)
        .cloned()
        .unwrap_or_default();
    list.extend(more.iter().cloned());
    set(object, "identifiers", list);
}

fn scheduling() -> Vec<Mutant> {
    vec![
        Mutant::new(
            "scheduling",
            "dates of a schedule are lost",
            &[ids::SCH_01, ids::RES_MESSAGE_01, ids::SCH_07],
            || {
                Interceptor::records("message", |record, _| {
                    record.remove("scheduled_start_date");
                    record.remove("scheduled_stop_date");
                })
            },
        )
        .on_reference(),
        Mutant::new(
            "scheduling",
            "the stop date of a schedule is lost",
            &[ids::SCH_01, ids::SCH_07, ids::RES_MESSAGE_02],
            || {
                Interceptor::sent(|_, what, body, _| {
                    if what == Some(ResourceKind::Helper("message")) {
                        body.remove("scheduled_stop_date");
                    }
                })
            },
        )
        .at(MutationPoint::Backend),
        Mutant::new(
            "scheduling",
            "the stop date has another name",
            &[ids::SCH_07, ids::SCH_01, ids::RES_MESSAGE_02],
            || {
                Interceptor::records("message", |record, _| {
                    if let Some(stop) = record.remove("scheduled_stop_date") {
                        set(record, "scheduled_end_date", stop);
                    }
                })
            },
        ),
        schedule(
            "a schedule answers without notice",
            &[ids::SCH_02],
            "POST",
            |answer| answer.set_json(&json!({})),
        ),
        schedule("a schedule answers 204", &[ids::SCH_02], "POST", |answer| {
            *answer = BufferedResponse::empty(204);
        })
        .on_reference(),
        schedule(
            "a schedule's notice is empty",
            &[ids::SCH_02],
            "POST",
            |answer| {
                answer.set_json(&json!({ "notice": "" }));
            },
        ),
        schedule(
            "cancelling answers 204",
            &[ids::SCH_05],
            "DELETE",
            |answer| *answer = BufferedResponse::empty(204),
        ),
        schedule(
            "cancelling answers a number",
            &[ids::SCH_05],
            "DELETE",
            |answer| {
                answer.set_json(&json!({ "notice": 0 }));
            },
        )
        .on_reference(),
        Mutant::new(
            "scheduling",
            "a cancelled schedule stays in the reference server",
            &[ids::SCH_04],
            || {
                Interceptor::before(|call, sight| {
                    let is_it = sight.what(call) == Some(ResourceKind::Helper("message"))
                        && call.method == "DELETE";
                    is_it.then(|| {
                        BufferedResponse::document(200, &json!({ "notice": "It is cancelled." }))
                    })
                })
            },
        )
        .on_reference()
        .at(MutationPoint::Backend),
        Mutant::new(
            "scheduling",
            "a wrong date schedules",
            &[ids::SCH_06],
            || {
                Interceptor::after(|call, answer, sight| {
                    if sight.what(call) == Some(ResourceKind::Helper("message"))
                        && call.method == "POST"
                        && answer.status == 400
                    {
                        *answer = BufferedResponse::document(
                            200,
                            &json!({ "notice": "It is scheduled." }),
                        );
                    }
                })
            },
        ),
        Mutant::new(
            "scheduling",
            "a missing message is scheduled",
            &[ids::SCH_06, ids::HLP_23],
            || {
                Interceptor::after(|call, answer, sight| {
                    if sight.what(call) == Some(ResourceKind::Helper("message"))
                        && answer.status == 404
                    {
                        *answer = BufferedResponse::document(
                            200,
                            &json!({ "notice": "It is scheduled." }),
                        );
                    }
                })
            },
        )
        .on_reference(),
        Mutant::new(
            "scheduling",
            "only PUT schedules",
            &[ids::HLP_22, ids::SCH_01, ids::SCH_02],
            || {
                Interceptor::before(|call, sight| {
                    if sight.what(call) == Some(ResourceKind::Helper("message"))
                        && call.method == "POST"
                    {
                        call.method = http::Method::PATCH;
                    }
                    None
                })
            },
        ),
        Mutant::new(
            "scheduling",
            "nothing cancels",
            &[ids::HLP_22, ids::SCH_04, ids::SCH_05],
            || {
                Interceptor::before(|call, sight| {
                    if sight.what(call) == Some(ResourceKind::Helper("message"))
                        && call.method == "DELETE"
                    {
                        call.method = http::Method::PATCH;
                    }
                    None
                })
            },
        ),
    ]
}
