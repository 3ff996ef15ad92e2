//! Helpers, action functions and message scheduling.

use serde_json::{Map, Value, json};

use super::{Fault, Place, links, set};
use crate::sight::What;
use crate::twist::Twist;
use crate::wire::Answer;

const FAMILY: &str = "helpers";

/// A change to what a helper is sent; `*` for every helper but the schedule.
fn posted(name: impl Into<String>, rows: &[&str], kind: &'static str, change: fn(&mut Map<String, Value>)) -> Fault {
    Fault::new(FAMILY, name, rows, move || {
        Twist::sent(move |call, what, body, _| {
            if let Some(What::Helper(made)) = what
                && call.method == "POST"
                && (made == kind || (kind == "*" && made != "message"))
            {
                change(body);
            }
        })
    })
    .at(Place::Backend)
}

/// A change to what a helper answers.
fn answered(name: &'static str, rows: &[&str], kind: &'static str, change: fn(&mut Answer)) -> Fault {
    Fault::new(FAMILY, name, rows, move || {
        Twist::after(move |call, answer, sight| {
            if let Some(What::Helper(made)) = sight.what(call)
                && answer.is_success()
                && (made == kind || (kind == "*" && made != "message"))
            {
                change(answer);
            }
        })
    })
}

/// A link is missing in what a helper answers.
fn without_link(name: &'static str, rows: &[&str], kind: &'static str, rel: &'static str) -> Fault {
    Fault::new(FAMILY, name, rows, move || {
        Twist::documents(move |call, document, _, sight| {
            if sight.what(call) == Some(What::Helper(kind)) {
                let rel = if rel == "self" { rel.to_owned() } else { sight.rel(rel) };
                drop(links(document).and_then(|links| links.remove(&rel)));
            }
        })
    })
}

/// A change to each element of a list in a helper's body.
fn elements(name: &'static str, rows: &[&str], list: &'static str, change: fn(&mut Map<String, Value>)) -> Fault {
    Fault::new("action functions", name, rows, move || {
        Twist::sent(move |_, what, body, _| {
            if !matches!(what, Some(What::Helper(_))) {
                return;
            }
            for one in body.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
                if let Some(one) = one.as_object_mut() {
                    change(one);
                }
            }
        })
    })
    .at(Place::Backend)
}

/// A function is passed over.
fn ignored(function: &'static str, row: &'static str) -> Fault {
    Fault::new("action functions", format!("{function} does nothing"), &[row, "HAF-01"], move || {
        Twist::sent(move |_, what, body, _| {
            if matches!(what, Some(What::Helper(_))) {
                body.remove(function);
            }
        })
    })
    .at(Place::Backend)
}

/// A helper that answers but stores nothing.
fn forgetful(kind: &'static str, row: &'static str, total: &'static str) -> Fault {
    Fault::new(
        FAMILY,
        format!("the {kind} helper stores only the last field"),
        &[row, total, "RES-*", "HLP-06"],
        move || {
            Twist::sent(move |_, what, body, _| {
                if what == Some(What::Helper(kind)) {
                    let kept = ["person", "canvass", "add_tags", "_links", "tickets"];
                    body.retain(|name, _| kept.contains(&name.as_str()));
                    if let Some(Value::Object(canvass)) = body.get_mut("canvass") {
                        canvass.clear();
                    }
                }
            })
        },
    )
    .at(Place::Backend)
}

/// Scheduling answers otherwise.
fn schedule(name: &'static str, rows: &[&str], method: &'static str, change: fn(&mut Answer)) -> Fault {
    Fault::new("scheduling", name, rows, move || {
        Twist::after(move |call, answer, sight| {
            if sight.what(call) == Some(What::Helper("message")) && call.method == method && answer.is_success() {
                change(answer);
            }
        })
    })
}

#[expect(clippy::too_many_lines, reason = "a table: one fault after the other")]
pub(super) fn faults() -> Vec<Fault> {
    let mut faults = vec![
        Fault::new(FAMILY, "helpers answer to PUT", &["HLP-01"], || {
            Twist::before(|call, sight| {
                if matches!(sight.what(call), Some(What::Helper(kind)) if kind != "message") && call.method == "PUT" {
                    call.method = http::Method::POST;
                }
                None
            })
        }),
        Fault::new(FAMILY, "helpers answer to DELETE", &["HLP-01"], || {
            Twist::before(|call, sight| {
                let is_it = matches!(sight.what(call), Some(What::Helper(kind)) if kind != "message")
                    && call.method == "DELETE";
                is_it.then(|| Answer::document(200, &json!({ "notice": "Nothing to do." })))
            })
        })
        .on_reference(),
        posted("helpers take no function", &["HAF-*"], "*", |body| {
            body.retain(|name, _| !name.starts_with("add_"));
        }),
        Fault::new(FAMILY, "helpers refuse a function beside a person", &["HLP-02", "HAF-*"], || {
            Twist::before(|call, sight| {
                let body = call.json().filter(|_| matches!(sight.what(call), Some(What::Helper(_))))?;
                let both = body.contains_key("person") && body.keys().any(|name| name.starts_with("add_"));
                both.then(|| {
                    let description = json!({ "error_code": "NOT_ALLOWED", "description": "A person or a function, not both." });
                    let entry = json!({ "resource": sight.rel("person"), "response_code": 400, "error_descriptions": [description] });
                    let error = json!({ "request_type": "atomic", "response_code": 400, "resource_status": [entry] });
                    Answer::document(400, &json!({ sight.rel("error"): error }))
                })
            })
        }),
        posted("a posted person keeps its name only", &["HLP-03", "HLP-19", "RES-person-*"], "*", |body| {
            if let Some(Value::Object(person)) = body.get_mut("person") {
                person.retain(|name, _| {
                    ["given_name", "family_name", "identifiers", "email_addresses"].contains(&name.as_str())
                });
            }
        }),
        posted("a posted person loses its addresses", &["HLP-03", "RES-person-*", "RES-*"], "*", |body| {
            if let Some(Value::Object(person)) = body.get_mut("person") {
                person.remove("email_addresses");
                person.remove("phone_numbers");
            }
        })
        .on_reference(),
        posted("a posted person loses its identifiers", &["HLP-03", "TYP-13", "TYP-17"], "*", |body| {
            if let Some(Value::Object(person)) = body.get_mut("person") {
                person.remove("identifiers");
            }
            body.remove("identifiers");
        }),
        answered("helpers answer an id only", &["HLP-06", "HLP-*", "RES-*"], "*", |answer| {
            if let Some(Value::Object(mut record)) = answer.json() {
                record.retain(|name, _| name == "identifiers");
                answer.set_json(&Value::Object(record));
            }
        }),
        answered("helpers answer 202", &["HLP-06", "HLP-*"], "*", |answer| answer.status = 202).on_reference(),
        answered("helpers answer nothing", &["HLP-06", "HLP-*"], "*", |answer| *answer = Answer::empty(204)),
        Fault::new(FAMILY, "the matching method is not told", &["HLP-05"], || {
            Twist::after(|_, answer, _| {
                let Ok(Value::Object(mut document)) = serde_json::from_slice::<Value>(&answer.body) else { return };
                if document.contains_key("person_matching") {
                    set(&mut document, "person_matching", "");
                    answer.set_json(&Value::Object(document));
                } else if let Some(docs) = links(&mut document).and_then(|links| links.get_mut("docs")) {
                    // The page that tells it is elsewhere.
                    if let Some(Value::String(href)) = docs.get_mut("href") {
                        href.push_str("gone/away");
                        answer.set_json(&Value::Object(document));
                    }
                }
            })
        })
        .on_reference(),
        forgetful("signature", "HLP-11", "RES-signature-*"),
        forgetful("submission", "HLP-12", "RES-submission-*"),
        forgetful("donation", "HLP-13", "RES-fundraising_page-10"),
        forgetful("outreach", "HLP-14", "RES-outreach-*"),
        forgetful("attendance", "HLP-15", "RES-attendance-*"),
        forgetful("canvass", "HLP-16", "RES-canvass-*"),
        Fault::new(FAMILY, "the canvass helper's target is the one before", &["HLP-17", "RES-canvass-12"], || {
            let mut first: Option<Value> = None;
            Twist::records("canvass", move |record, sight| {
                let rel = sight.rel("target");
                if let Some(target) = links(record).and_then(|links| links.get_mut(&rel)) {
                    *target = first.get_or_insert_with(|| target.clone()).clone();
                }
            })
        }),
        Fault::new(FAMILY, "the canvass helper takes a missing target", &["HLP-17", "HLP-23"], || {
            Twist::after(|call, answer, sight| {
                if sight.what(call) == Some(What::Helper("canvass")) && answer.status == 404 {
                    *answer = Answer::document(200, &json!({ "success": true }));
                }
            })
        })
        .on_reference(),
        Fault::new(FAMILY, "the canvass helper makes a second person", &["HLP-18"], || {
            Twist::around(|call, server| {
                Box::pin(async move {
                    if server.what(&call) == Some(What::Helper("canvass"))
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
        .at(Place::Backend),
        posted("a signup keeps the last name only", &["HLP-19", "HLP-03", "RES-person-*"], "person", |body| {
            if let Some(Value::Object(person)) = body.get_mut("person") {
                person.retain(|name, _| name == "family_name" || name == "identifiers");
            }
        }),
        without_link("a signup without attendances", &["HLP-21", "RES-person-41"], "person", "attendances"),
        without_link("a signup without items", &["HLP-21", "RES-person-46"], "person", "items"),
        without_link("a donation without its page", &["RES-donation-21", "HLP-13"], "donation", "fundraising_page"),
        without_link("a donation without self", &["RES-donation-21", "HLP-13", "HAL-*"], "donation", "self"),
        without_link("an attendance without its event", &["RES-attendance-15", "HLP-15"], "attendance", "event"),
        without_link("a canvass without answers", &["RES-canvass-12", "HLP-16"], "canvass", "answers"),
        without_link("a canvass without taggings", &["RES-canvass-12", "HLP-16"], "canvass", "taggings"),
        Fault::new(FAMILY, "a canvass forgets its canvasser", &["RES-canvass-07", "RES-canvass-12"], || {
            Twist::records("canvass", |record, sight| {
                let rel = sight.rel("canvasser");
                drop(links(record).and_then(|links| links.remove(&rel)));
            })
        }),
        Fault::new(FAMILY, "tickets' attendances are attended", &["RES-attendance-05"], || {
            Twist::records("attendance", |record, _| {
                if record.contains_key("tickets") {
                    set(record, "attended", true);
                }
            })
        }),
        Fault::new(FAMILY, "signature helper is elsewhere", &["RES-signature-08", "RES-petition-20", "HLP-11"], || {
            away("petition", "record_signature_helper")
        }),
        Fault::new(
            FAMILY,
            "outreach helper is elsewhere",
            &["RES-outreach-13", "RES-advocacy_campaign-21", "HLP-14"],
            || away("advocacy_campaign", "record_outreach_helper"),
        )
        .on_reference(),
        Fault::new(FAMILY, "signup helper is elsewhere", &["RES-person-49", "ENT-24", "HLP-19"], || {
            Twist::entry(|document, sight| {
                let rel = sight.rel("person_signup_helper");
                if let Some(Value::String(href)) =
                    links(document).and_then(|links| links.get_mut(&rel)?.get_mut("href"))
                {
                    href.push_str("_elsewhere");
                }
            })
        }),
        Fault::new(FAMILY, "schedule helper is elsewhere", &["HLP-22", "SCH-*"], || away("message", "schedule_helper")),
    ];
    faults.extend(functions());
    faults.extend(scheduling());
    faults
}

/// A helper's link that leads to nothing.
fn away(kind: &'static str, rel: &'static str) -> Twist {
    Twist::records(kind, move |record, sight| {
        let rel = sight.rel(rel);
        if let Some(Value::String(href)) = links(record).and_then(|links| links.get_mut(&rel)?.get_mut("href")) {
            href.push_str("/elsewhere/now");
        }
    })
}

#[expect(clippy::too_many_lines, reason = "a table: one fault after the other")]
fn functions() -> Vec<Fault> {
    vec![
        ignored("add_tags", "HAF-02"),
        ignored("add_tags_uri", "HAF-04"),
        ignored("add_lists", "HAF-05"),
        ignored("add_lists_uri", "HAF-06"),
        ignored("add_questions_responses_uri", "HAF-07"),
        posted("only record helpers take functions", &["HAF-01"], "person", |body| {
            body.retain(|name, _| name == "person");
        }),
        posted("the canvass helper takes no function", &["HAF-01"], "canvass", |body| {
            body.retain(|name, _| name == "canvass");
        }),
        Fault::new("action functions", "an unknown tag is created", &["HAF-03", "ERR-37", "ERR-30", "ERR-31"], || {
            Twist::around(|call, server| {
                Box::pin(async move {
                    let answer = server.send(call.clone()).await;
                    if answer.status != 400
                        || !String::from_utf8_lossy(&answer.body).contains("TAG_NAME_DOES_NOT_EXIST")
                    {
                        return answer;
                    }
                    let (Some(mut body), Some(tags)) = (call.json(), server.collection("tag")) else { return answer };
                    for name in
                        body.remove("add_tags").iter().flat_map(|list| list.as_array().cloned().unwrap_or_default())
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
        })
        .at(Place::Backend),
        Fault::new(
            "action functions",
            "an unknown tag is passed over",
            &["HAF-03", "ERR-37", "ERR-30", "ERR-31"],
            || {
                Twist::around(|mut call, server| {
                    Box::pin(async move {
                        let answer = server.send(call.clone()).await;
                        if answer.status != 400
                            || !String::from_utf8_lossy(&answer.body).contains("TAG_NAME_DOES_NOT_EXIST")
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
        .at(Place::Backend),
        elements("questions are found by address only", &["HAF-08"], "add_questions_responses_uri", |one| {
            let question = one.get("question").and_then(Value::as_str).unwrap_or_default();
            if !question.contains('/') {
                set(one, "question", "none:0");
            }
        }),
        elements(
            "questions are found by identifier only",
            &["HAF-08", "HAF-07"],
            "add_questions_responses_uri",
            |one| {
                let question = one.get("question").and_then(Value::as_str).unwrap_or_default();
                if question.contains('/') {
                    set(one, "question", "none:0");
                }
            },
        )
        .on_reference(),
        elements("response keys are not looked at", &["HAF-09"], "add_questions_responses_uri", |one| {
            drop(one.remove("responses"));
        }),
        elements("response keys are not taken", &["HAF-09"], "add_questions_responses_uri", |one| {
            if one.contains_key("responses") {
                set(one, "responses", json!(["no such key"]));
            }
        }),
        elements("free text is not taken", &["HAF-10"], "add_questions_responses_uri", |one| {
            if one.contains_key("value") {
                set(one, "question", "none:0");
            }
        }),
        posted("triggers are refused", &["HAF-11"], "*", |body| {
            if body.contains_key("triggers") {
                set(body, "add_tags", 5);
            }
        }),
        posted("a trigger is always on", &["HAF-12"], "*", |body| {
            for trigger in body.get_mut("triggers").and_then(Value::as_object_mut).into_iter().flat_map(Map::values_mut)
            {
                if let Some(trigger) = trigger.as_object_mut() {
                    set(trigger, "enabled", true);
                }
            }
        }),
        posted("a trigger that is off is refused", &["HAF-12", "HAF-11"], "*", |body| {
            let off = body.get("triggers").is_some_and(|triggers| triggers.to_string().contains("false"));
            if off {
                set(body, "add_tags", 5);
            }
        }),
        Fault::new("action functions", "a trigger's identifiers become the record's", &["HAF-13"], || {
            Twist::sent(|_, what, body, _| {
                if !matches!(what, Some(What::Helper(_))) {
                    return;
                }
                let triggers = body.get("triggers").and_then(Value::as_object).cloned().unwrap_or_default();
                let more = triggers.values().filter_map(|one| one.get("identifiers")?.as_array().cloned()).flatten();
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
        })
        .at(Place::Backend),
    ]
}

fn extend(object: &mut Map<String, Value>, more: &[Value]) {
    let mut list = object.get("identifiers").and_then(Value::as_array).cloned().unwrap_or_default();
    list.extend(more.iter().cloned());
    set(object, "identifiers", list);
}

fn scheduling() -> Vec<Fault> {
    vec![
        Fault::new("scheduling", "dates of a schedule are lost", &["SCH-01", "RES-message-01", "SCH-07"], || {
            Twist::records("message", |record, _| {
                record.remove("scheduled_start_date");
                record.remove("scheduled_stop_date");
            })
        })
        .on_reference(),
        Fault::new(
            "scheduling",
            "only the start of a schedule is kept",
            &["SCH-01", "SCH-07", "RES-message-02"],
            || {
                Twist::sent(|_, what, body, _| {
                    if what == Some(What::Helper("message")) {
                        body.remove("scheduled_stop_date");
                    }
                })
            },
        )
        .at(Place::Backend),
        Fault::new("scheduling", "the stop date has another name", &["SCH-07", "SCH-01", "RES-message-02"], || {
            Twist::records("message", |record, _| {
                if let Some(stop) = record.remove("scheduled_stop_date") {
                    set(record, "scheduled_end_date", stop);
                }
            })
        }),
        schedule("a schedule answers without notice", &["SCH-02"], "POST", |answer| answer.set_json(&json!({}))),
        schedule("a schedule answers 204", &["SCH-02"], "POST", |answer| *answer = Answer::empty(204)).on_reference(),
        schedule("a schedule's notice is empty", &["SCH-02"], "POST", |answer| {
            answer.set_json(&json!({ "notice": "" }));
        }),
        schedule("cancelling answers 204", &["SCH-05"], "DELETE", |answer| *answer = Answer::empty(204)),
        schedule("cancelling answers a number", &["SCH-05"], "DELETE", |answer| {
            answer.set_json(&json!({ "notice": 0 }));
        })
        .on_reference(),
        Fault::new("scheduling", "a cancelled schedule stays in the reference server", &["SCH-04"], || {
            Twist::before(|call, sight| {
                let is_it = sight.what(call) == Some(What::Helper("message")) && call.method == "DELETE";
                is_it.then(|| Answer::document(200, &json!({ "notice": "It is cancelled." })))
            })
        })
        .on_reference()
        .at(Place::Backend),
        Fault::new("scheduling", "a wrong date schedules", &["SCH-06"], || {
            Twist::after(|call, answer, sight| {
                if sight.what(call) == Some(What::Helper("message")) && call.method == "POST" && answer.status == 400 {
                    *answer = Answer::document(200, &json!({ "notice": "It is scheduled." }));
                }
            })
        }),
        Fault::new("scheduling", "a missing message is scheduled", &["SCH-06", "HLP-23"], || {
            Twist::after(|call, answer, sight| {
                if sight.what(call) == Some(What::Helper("message")) && answer.status == 404 {
                    *answer = Answer::document(200, &json!({ "notice": "It is scheduled." }));
                }
            })
        })
        .on_reference(),
        Fault::new("scheduling", "only PUT schedules", &["HLP-22", "SCH-01", "SCH-02"], || {
            Twist::before(|call, sight| {
                if sight.what(call) == Some(What::Helper("message")) && call.method == "POST" {
                    call.method = http::Method::PATCH;
                }
                None
            })
        }),
        Fault::new("scheduling", "nothing cancels", &["HLP-22", "SCH-04", "SCH-05"], || {
            Twist::before(|call, sight| {
                if sight.what(call) == Some(What::Helper("message")) && call.method == "DELETE" {
                    call.method = http::Method::PATCH;
                }
                None
            })
        }),
    ]
}
