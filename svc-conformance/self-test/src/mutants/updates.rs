//! Creates, updates and deletes that do something else than requested.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value, json};
use svc_conformance::ids;

use super::{BaseServer, Mutant, MutationPoint, add, links, members, set};
use crate::interceptor::{InterceptedServer, Interceptor};
use crate::link_map::{self, ResourceKind};
use crate::transport::{BufferedRequest, BufferedResponse};

const FAMILY: &str = "update";

/// A change to the body of updates.
fn put(name: &'static str, rows: &[&str], change: fn(&mut Map<String, Value>)) -> Mutant {
    Mutant::new(FAMILY, name, rows, move || {
        Interceptor::sent(move |call, _, body, _| {
            if call.method == "PUT" {
                change(body);
            }
        })
    })
    .at(MutationPoint::Request)
}

/// An update before which the record is read.
fn read_first(
    name: &'static str,
    rows: &[&str],
    change: fn(&mut Map<String, Value>, &Map<String, Value>),
) -> Mutant {
    Mutant::new(FAMILY, name, rows, move || {
        Interceptor::around(
            move |mut call: BufferedRequest, server: InterceptedServer| {
                Box::pin(async move {
                    if call.method == "PUT"
                        && let Some(mut body) = call.json()
                    {
                        let stored = server.send(call.get(&call.uri.to_string())).await;
                        if let Some(Value::Object(stored)) = stored.json() {
                            change(&mut body, &stored);
                            call.set_json(body);
                        }
                    }
                    server.send(call).await
                })
            },
        )
    })
    .at(MutationPoint::Backend)
}

/// Changes the response to some writes.
fn answered(
    name: &'static str,
    rows: &[&str],
    change: fn(&BufferedRequest, &mut BufferedResponse, Option<ResourceKind>),
) -> Mutant {
    Mutant::new("write answer", name, rows, move || {
        Interceptor::after(move |call, answer, sight| {
            if call.is_write() && answer.is_success() {
                change(call, answer, sight.what(call));
            }
        })
    })
}

/// Responds to the nth request with this method to a record, without executing it.
fn swallowed(name: &'static str, rows: &[&str], nth: u32, method: &'static str) -> Mutant {
    Mutant::new("write lost", name, rows, move || {
        let mut counts: HashMap<String, u32> = HashMap::new();
        Interceptor::before(move |call, sight| {
            if call.method != method || !matches!(sight.what(call), Some(ResourceKind::Record(_))) {
                return None;
            }
            let count = counts.entry(call.address()).or_default();
            *count = count.saturating_add(1);
            if *count == nth {
                if method == "DELETE" {
                    return Some(BufferedResponse::document(
                        200,
                        &json!({ "notice": "It is deleted." }),
                    ));
                }
                call.method = http::Method::GET;
                call.body = bytes::Bytes::new();
            }
            None
        })
    })
    .at(MutationPoint::Backend)
}

#[expect(clippy::too_many_lines, reason = "a table of faults")]
pub(super) fn faults() -> Vec<Mutant> {
    let mut faults = vec![
        put("null is ignored", &[ids::CRU_17], |body| {
            body.retain(|_, value| !value.is_null());
        }),
        put(
            "null is ignored in the reference server",
            &[ids::CRU_17],
            |body| body.retain(|_, value| !value.is_null()),
        )
        .on_reference(),
        put("an empty list is ignored", &[ids::CRU_18], |body| {
            body.retain(|_, value| *value != json!([]));
        }),
        put(
            "only the first member of a list is taken",
            &[ids::CRU_18, "RES-*"],
            |body| {
                for list in body.values_mut().filter_map(Value::as_array_mut) {
                    list.truncate(1);
                }
            },
        ),
        put("lists are sorted", &[ids::CRU_18], |body| {
            for list in body.values_mut().filter_map(Value::as_array_mut) {
                list.sort_by_key(ToString::to_string);
            }
        }),
        read_first(
            "fields that are not sent are emptied",
            &[ids::CRU_15, "CRU-*"],
            |body, stored| {
                for name in stored.keys() {
                    let kept = [
                        "_links",
                        "identifiers",
                        "created_date",
                        "modified_date",
                        "id",
                        "question_type",
                    ];
                    if !kept.contains(&name.as_str()) && !body.contains_key(name) {
                        set(body, name, Value::Null);
                    }
                }
            },
        ),
        read_first(
            "fields that are not sent are emptied in the reference server",
            &[ids::CRU_15, "CRU-*"],
            |body, stored| {
                for name in ["description", "summary", "title", "family_name", "comments"] {
                    if stored.contains_key(name) && !body.contains_key(name) {
                        set(body, name, Value::Null);
                    }
                }
            },
        )
        .on_reference(),
        read_first("lists are merged", &[ids::CRU_18], |body, stored| {
            for (name, value) in body.iter_mut().filter(|(name, _)| *name != "identifiers") {
                if let (Value::Array(list), Some(Value::Array(known))) = (value, stored.get(name)) {
                    let new: Vec<Value> = list
                        .iter()
                        .filter(|one| !known.contains(one))
                        .cloned()
                        .collect();
                    *list = known.iter().cloned().chain(new).collect();
                }
            }
        }),
        read_first(
            "lists are merged in the reference server",
            &[ids::CRU_18],
            |body, stored| {
                for (name, value) in body.iter_mut().filter(|(name, _)| *name != "identifiers") {
                    if let (Value::Array(list), Some(Value::Array(known))) =
                        (value, stored.get(name))
                    {
                        let new: Vec<Value> = list
                            .iter()
                            .filter(|one| !known.contains(one))
                            .cloned()
                            .collect();
                        *list = known.iter().cloned().chain(new).collect();
                    }
                }
            },
        )
        .on_reference(),
        read_first(
            "a field once set stays",
            &[ids::CRU_04, ids::CRU_08, ids::CRU_11, ids::CRU_15, "CRU-*"],
            |body, stored| {
                body.retain(|name, value| {
                    value.is_null() || !stored.contains_key(name) || name == "identifiers"
                });
            },
        ),
        swallowed(
            "the second update of a record is lost",
            &["CRU-*"],
            2,
            "PUT",
        ),
        swallowed(
            "every first update is lost",
            &["CRU-*", ids::ERR_15],
            1,
            "PUT",
        ),
        swallowed(
            "the first delete is lost",
            &[ids::CRU_05, ids::CRU_09, ids::CRU_14, ids::COL_23, "ERR-*"],
            1,
            "DELETE",
        ),
        Mutant::new(
            FAMILY,
            "modified_date stays",
            &[ids::CRU_19, ids::TYP_16],
            || frozen(false),
        )
        .at(MutationPoint::Backend),
        Mutant::new(
            FAMILY,
            "modified_date stays in the reference server",
            &[ids::CRU_19, ids::TYP_16],
            || frozen(false),
        )
        .on_reference(),
        Mutant::new(
            FAMILY,
            "modified_date stays, in whole seconds",
            &[ids::CRU_19, ids::TYP_16],
            || frozen(false),
        )
        .over(BaseServer::SecondServer(|options| {
            options.whole_seconds = true;
        }))
        .at(MutationPoint::Backend),
        Mutant::new(
            FAMILY,
            "modified_date goes back",
            &[ids::CRU_19, ids::TYP_16],
            || frozen(true),
        ),
        Mutant::new(
            FAMILY,
            "created_date moves with updates",
            &[ids::TYP_15],
            || {
                Interceptor::records("*", |record, _| {
                    if let Some(modified) = record.get("modified_date").cloned() {
                        set(record, "created_date", modified);
                    }
                })
            },
        )
        .on_reference(),
        Mutant::new(
            FAMILY,
            "a total can be written",
            &[ids::RES_PETITION_10, ids::RES_FORM_10, "RES-*"],
            || {
                let mut written: HashMap<String, Value> = HashMap::new();
                Interceptor::documents(move |call, document, status, sight| {
                    let own = call.address();
                    if call.is_write() && status < 300 {
                        let total = call.json().and_then(|body| {
                            body.into_iter()
                                .find(|(name, _)| name.starts_with("total_"))
                        });
                        let at =
                            link_map::href(document, "self").map_or(own, crate::transport::address);
                        if let Some((name, total)) = total {
                            written.insert(format!("{at} {name}"), total);
                        }
                    }
                    sight.each_record(call, document, &mut |_, record| {
                        let at = link_map::href(record, "self")
                            .map(crate::transport::address)
                            .unwrap_or_default();
                        for (name, value) in record.iter_mut() {
                            if let Some(total) = written.get(&format!("{at} {name}")) {
                                *value = total.clone();
                            }
                        }
                    });
                })
            },
        )
        .at(MutationPoint::Backend),
        answered(
            "a create answers 202",
            &[ids::CRU_13, ids::ERR_13, "CRU-*"],
            |call, answer, what| {
                if call.method == "POST" && matches!(what, Some(ResourceKind::Collection(_))) {
                    answer.status = 202;
                }
            },
        ),
        answered(
            "a create answers 200 now and 201 then",
            &[ids::CRU_13],
            |call, answer, what| {
                if call.method == "POST"
                    && matches!(what, Some(ResourceKind::Collection(_)))
                    && answer.body.len().is_multiple_of(2)
                {
                    answer.status = 200;
                }
            },
        )
        .on_reference(),
        answered(
            "a create answers without the record",
            &[ids::CRU_01, ids::CRU_10, ids::CRU_12, ids::ERR_13, "CRU-*"],
            |call, answer, what| {
                if call.method == "POST" && matches!(what, Some(ResourceKind::Collection(_))) {
                    answer.set_json(&json!({}));
                }
            },
        ),
        answered(
            "an update answers 204",
            &[ids::CRU_04, ids::CRU_08, ids::CRU_11, ids::ERR_15],
            |call, answer, _| {
                if call.method == "PUT" {
                    *answer = BufferedResponse::empty(204);
                }
            },
        ),
        answered(
            "an update answers 201",
            &[ids::ERR_15, ids::CRU_04, ids::CRU_08],
            |call, answer, _| {
                if call.method == "PUT" {
                    answer.status = 201;
                }
            },
        )
        .on_reference(),
        answered(
            "an update answers only what was sent",
            &[
                ids::CRU_04,
                ids::CRU_08,
                ids::CRU_11,
                ids::CRU_15,
                ids::ERR_15,
            ],
            |call, answer, _| {
                let (Some(body), Some(Value::Object(mut record))) = (call.json(), answer.json())
                else {
                    return;
                };
                if call.method == "PUT" {
                    record.retain(|name, _| {
                        body.contains_key(name)
                            || name.starts_with('_')
                            || name.ends_with("_date")
                            || name == "identifiers"
                    });
                    answer.set_json(&Value::Object(record));
                }
            },
        ),
        answered(
            "a delete answers 202",
            &[ids::CRU_05, ids::CRU_09, ids::CRU_14, ids::ERR_17],
            |call, answer, _| {
                if call.method == "DELETE" {
                    answer.status = 202;
                }
            },
        ),
        answered(
            "a delete answers 200 without notice",
            &[ids::CRU_14, ids::CRU_05, ids::CRU_09, ids::ERR_17],
            |call, answer, _| {
                if call.method == "DELETE" && answer.status == 200 {
                    answer.set_json(&json!({ "deleted": true }));
                }
            },
        ),
        answered(
            "a delete answers the record's notice as a number",
            &[ids::CRU_14, ids::CRU_05, ids::CRU_09],
            |call, answer, _| {
                if call.method == "DELETE" && answer.status == 200 {
                    answer.set_json(&json!({ "notice": 1 }));
                }
            },
        ),
        Mutant::new(
            "write lost",
            "a new record is not listed",
            &[ids::CRU_22, ids::COL_23, ids::COL_31],
            || hidden(false),
        )
        .on_reference(),
        Mutant::new(
            "write lost",
            "a deleted record is still listed",
            &[ids::CRU_05, ids::CRU_09, ids::COL_23, "CRU-*"],
            || ghosts(false),
        ),
        Mutant::new(
            "write lost",
            "a deleted record is still readable",
            &[ids::CRU_05, ids::CRU_09, ids::ERR_11],
            || ghosts(true),
        )
        .on_reference(),
        Mutant::new(
            "write lost",
            "a deleted record still counts",
            &[ids::COL_23],
            || {
                let mut deleted: HashMap<&'static str, i64> = HashMap::new();
                Interceptor::documents(move |call, document, status, sight| {
                    let Some(kind) = sight.what(call).and_then(ResourceKind::kind) else {
                        return;
                    };
                    if call.method == "DELETE" && status < 300 {
                        let count = deleted.entry(kind).or_default();
                        *count = count.saturating_add(1);
                    } else if document.contains_key("_embedded") && !call.address().contains("/r/")
                    {
                        let more = deleted.get(kind).copied().unwrap_or_default();
                        add(document, "total_records", more);
                    }
                })
            },
        )
        .at(MutationPoint::Backend),
        Mutant::new(
            "rejected",
            "a refused create is stored",
            &[ids::CRU_21, ids::ERR_04],
            || unconditional("POST"),
        )
        .at(MutationPoint::Backend),
        Mutant::new(
            "rejected",
            "a refused create is stored in the reference server",
            &[ids::CRU_21, ids::ERR_04],
            || unconditional("POST"),
        )
        .on_reference(),
        Mutant::new(
            "rejected",
            "a refused update is stored",
            &[ids::CRU_20, ids::ERR_04, ids::ERR_14],
            || unconditional("PUT"),
        )
        .at(MutationPoint::Backend),
    ];
    faults.extend(actions());
    faults
}

/// Faults of the requirements for actions that are created with the link of their person.
fn actions() -> Vec<Mutant> {
    vec![
        Mutant::new(
            "action",
            "a signature's comments are lost on create",
            &[ids::CRU_01, ids::RES_SIGNATURE_03],
            || {
                Interceptor::sent(|call, what, body, _| {
                    if call.method == "POST" && what == Some(ResourceKind::Collection("signature"))
                    {
                        body.remove("comments");
                        body.remove("origin_system");
                    }
                })
            },
        )
        .at(MutationPoint::Request),
        Mutant::new(
            "action",
            "a signature's person is another one",
            &[ids::CRU_02, ids::RES_SIGNATURE_06, ids::COL_14],
            || {
                let mut first: Option<Value> = None;
                Interceptor::sent(move |_, what, body, sight| {
                    if what != Some(ResourceKind::Collection("signature")) {
                        return;
                    }
                    let rel = sight.rel("person");
                    if let Some(link) = links(body).and_then(|links| links.get_mut(&rel)) {
                        *link = first.get_or_insert_with(|| link.clone()).clone();
                    }
                })
            },
        )
        .at(MutationPoint::Backend),
        Mutant::new(
            "action",
            "a link to a missing person is accepted",
            &[ids::CRU_02, ids::CRU_06],
            || {
                Interceptor::around(|mut call, server| {
                    Box::pin(async move {
                        let answer = server.send(call.clone()).await;
                        let is_action = matches!(
                            server.what(&call),
                            Some(ResourceKind::Collection("signature" | "submission"))
                        );
                        if answer.status != 400 || !is_action || call.method != "POST" {
                            return answer;
                        }
                        // A new person replaces it.
                        let Some(mut body) = call.json() else {
                            return answer;
                        };
                        let rel = server.rel("person");
                        let person = server.known("person");
                        if let Some(links) = links(&mut body) {
                            links.insert(rel, json!({ "href": person }));
                        }
                        call.set_json(body);
                        server.send(call).await
                    })
                })
            },
        )
        .at(MutationPoint::Backend),
        Mutant::new(
            "action",
            "a new record has no identifier of its own",
            &[ids::CRU_03, ids::ENT_08],
            || {
                Interceptor::alone("*", |call, record, _| {
                    if call.method == "POST"
                        && let Some(Value::Array(list)) = record.get_mut("identifiers")
                    {
                        list.retain(|one| {
                            !one.as_str().is_some_and(|one| one.starts_with("second:"))
                        });
                    }
                })
            },
        ),
        Mutant::new(
            "action",
            "a submission without answers and form",
            &[ids::CRU_07, "RES-submission-*"],
            || {
                Interceptor::alone("submission", |call, record, sight| {
                    if call.method == "POST"
                        && matches!(sight.what(call), Some(ResourceKind::Collection(_)))
                    {
                        for name in ["answers", "form"] {
                            let rel = sight.rel(name);
                            drop(links(record).and_then(|links| links.remove(&rel)));
                        }
                    }
                })
            },
        ),
        write_of(
            "a submission is created without its fields",
            "POST",
            "submission",
            &[ids::CRU_06],
        ),
        write_of(
            "updates of submissions are lost",
            "PUT",
            "submission",
            &[ids::CRU_08],
        ),
        write_of(
            "updates of signatures are lost",
            "PUT",
            "signature",
            &[ids::CRU_04],
        ),
        write_of(
            "updates of questions are lost",
            "PUT",
            "question",
            &[ids::CRU_11],
        ),
        write_of(
            "a question is created without its fields",
            "POST",
            "question",
            &[ids::CRU_10, "RES-question-*"],
        ),
        write_of(
            "a share page is created without its fields",
            "POST",
            "share_page",
            &[ids::CRU_12, "RES-share_page-*"],
        ),
        delete_of("deletes of signatures are lost", "signature", ids::CRU_05),
        delete_of("deletes of submissions are lost", "submission", ids::CRU_09),
    ]
}

/// A write of one kind that stores only the necessary fields.
fn write_of(name: &'static str, method: &'static str, kind: &'static str, rows: &[&str]) -> Mutant {
    let rows: Vec<&str> = rows.iter().copied().chain([ids::CRU_15]).collect();
    Mutant::new("action", name, &rows, move || {
        Interceptor::sent(move |call, what, body, _| {
            if call.method == method && what.and_then(ResourceKind::kind) == Some(kind) {
                body.retain(|name, _| {
                    ["_links", "question_type", "identifiers"].contains(&name.as_str())
                });
            }
        })
    })
    .at(MutationPoint::Backend)
}

fn delete_of(name: &'static str, kind: &'static str, row: &'static str) -> Mutant {
    Mutant::new(
        "action",
        name,
        &[row, ids::CRU_14, ids::ERR_16, ids::ERR_11],
        move || {
            Interceptor::before(move |call, sight| {
                let is_it =
                    call.method == "DELETE" && sight.what(call) == Some(ResourceKind::Record(kind));
                is_it.then(|| BufferedResponse::empty(204))
            })
        },
    )
    .at(MutationPoint::Backend)
}

/// Always returns the first modified date of each record, or an earlier one.
fn frozen(back: bool) -> Interceptor {
    let mut first: HashMap<String, Value> = HashMap::new();
    Interceptor::records("*", move |record, _| {
        let Some(own) = link_map::href(record, "self").map(ToOwned::to_owned) else {
            return;
        };
        let (Some(modified), Some(created)) = (
            record.get("modified_date").cloned(),
            record.get("created_date").cloned(),
        ) else {
            return;
        };
        let known = first.entry(own).or_insert_with(|| modified.clone());
        if back && *known != modified {
            set(record, "modified_date", created);
        } else if !back {
            set(record, "modified_date", known.clone());
        }
    })
}

/// Omits new records from their collection.
fn hidden(_: bool) -> Interceptor {
    let mut seen: HashMap<String, HashSet<String>> = HashMap::new();
    Interceptor::pages(move |call, page, _| {
        let is_first = !seen.contains_key(call.uri.path());
        let known = seen.entry(call.uri.path().to_owned()).or_default();
        let own = |member: &Value| {
            member
                .pointer("/_links/self/href")
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        if let Some(members) = members(page) {
            if is_first {
                known.extend(members.iter().map(own));
            } else {
                members.retain(|member| known.contains(&own(member)));
            }
        }
    })
}

/// Deleted records that remain readable, or listed.
fn ghosts(readable: bool) -> Interceptor {
    let mut last: HashMap<String, Value> = HashMap::new();
    let mut gone: Vec<(&'static str, Value)> = Vec::new();
    let mut dead: HashSet<String> = HashSet::new();
    Interceptor::after(move |call, answer, sight| {
        let (at, what) = (call.address(), sight.what(call));
        if call.method == "DELETE" && answer.is_success() {
            if let (Some(record), Some(kind)) =
                (last.get(&at).cloned(), what.and_then(ResourceKind::kind))
            {
                gone.push((kind, record));
                dead.insert(at);
            }
            return;
        }
        if readable && answer.status == 404 && call.method == "GET" && dead.contains(&at) {
            if let Some(record) = last.get(&at) {
                *answer = BufferedResponse::document(200, record);
            }
            return;
        }
        let Some(Value::Object(mut document)) = answer.json() else {
            return;
        };
        sight.each_record(call, &mut document.clone(), &mut |_, record| {
            if let Some(own) = link_map::href(record, "self") {
                last.insert(
                    crate::transport::address(own),
                    Value::Object(record.clone()),
                );
            }
        });
        if let (false, Some(ResourceKind::Collection(kind))) = (readable, what)
            && document.get("page") == document.get("total_pages")
            && let Some(members) = members(&mut document)
        {
            members.extend(
                gone.iter()
                    .filter(|(one, _)| *one == kind)
                    .map(|(_, record)| record.clone()),
            );
            answer.set_json(&Value::Object(document));
        }
    })
}

/// Executes a rejected request, with the valid fields only.
fn unconditional(method: &'static str) -> Interceptor {
    Interceptor::around(move |mut call, server| {
        Box::pin(async move {
            let answer = server.send(call.clone()).await;
            let is_record = matches!(
                server.what(&call),
                Some(ResourceKind::Collection(_) | ResourceKind::Record(_))
            );
            if answer.status != 400 || call.method != method || !is_record {
                return answer;
            }
            if let Some(mut body) = call.json() {
                body.retain(|name, _| {
                    ["_links", "identifiers", "name", "title", "given_name"]
                        .contains(&name.as_str())
                });
                body.retain(|name, value| {
                    name == "_links" || name == "identifiers" || value.is_string()
                });
                if server.what(&call) == Some(ResourceKind::Collection("question")) {
                    set(&mut body, "question_type", "Paragraph");
                }
                if body.is_empty()
                    || body
                        .keys()
                        .all(|name| name == "identifiers" || name == "_links")
                {
                    set(&mut body, "description", "Not as it was");
                }
                call.set_json(body);
                drop(server.send(call).await);
            }
            answer
        })
    })
}
