//! Answers without responses, canvasses without their object, primary phone numbers whose marker is
//! not text.

use std::collections::HashSet;

use serde_json::{Map, Value, json};
use svc_conformance::ids;

use super::{Mutant, MutationPoint, set};
use crate::interceptor::Interceptor;
use crate::link_map::ResourceKind;

/// Sends the first response of the question instead of some answers.
fn taken(name: &'static str, row: &'static str, when: fn(&Map<String, Value>) -> bool) -> Mutant {
    Mutant::new("action functions", name, &[row], move || {
        Interceptor::sent(move |_, what, body, _| {
            if what == Some(ResourceKind::Collection("answer")) && when(body) {
                set(body, "responses", json!(["a1"]));
            }
            let list = "add_questions_responses_uri";
            for one in body
                .get_mut(list)
                .and_then(Value::as_array_mut)
                .into_iter()
                .flatten()
            {
                if let Some(one) = one.as_object_mut().filter(|one| when(one)) {
                    set(one, "responses", json!(["a1"]));
                }
            }
        })
    })
    .at(MutationPoint::Backend)
}

fn is_empty(body: &Map<String, Value>) -> bool {
    body.get("responses")
        .and_then(Value::as_array)
        .is_some_and(Vec::is_empty)
}

fn is_bare(body: &Map<String, Value>) -> bool {
    body.contains_key("question") && !body.contains_key("responses") && !body.contains_key("value")
}

fn bare_canvass() -> Mutant {
    Mutant::new(
        "helpers",
        "a canvass without its object is taken",
        &[ids::HLP_16],
        || {
            Interceptor::sent(|_, what, body, _| {
                if what == Some(ResourceKind::Helper("canvass")) && !body.contains_key("canvass") {
                    set(body, "canvass", json!({}));
                }
            })
        },
    )
    .at(MutationPoint::Backend)
}

pub(super) fn faults() -> Vec<Mutant> {
    vec![
        taken(
            "an empty list of responses is taken by a helper",
            ids::HAF_09,
            is_empty,
        ),
        taken(
            "an empty list of responses is taken",
            ids::RES_QUESTION_06,
            is_empty,
        )
        .on_reference(),
        taken(
            "a helper takes an answer without an answer",
            ids::HAF_09,
            is_bare,
        ),
        taken(
            "the reference server takes an answer without an answer",
            ids::HAF_09,
            is_bare,
        )
        .on_reference(),
        bare_canvass(),
        Mutant {
            name: "the reference server takes a canvass without its object".to_owned(),
            ..bare_canvass()
        }
        .on_reference(),
        Mutant::new(
            "shared object",
            "the mark of a phone is what was sent",
            &[ids::RES_PHONE_NUMBER_01],
            || {
                let mut marked: HashSet<String> = HashSet::new();
                Interceptor::documents(move |call, document, _, sight| {
                    if let Some(body) = call.json() {
                        for phone in phones(&body).filter(|phone| phone["primary"].is_boolean()) {
                            marked.extend(phone["number"].as_str().map(ToOwned::to_owned));
                        }
                    }
                    sight.each_record(call, document, &mut |kind, record| {
                        let list = record
                            .get_mut("phone_numbers")
                            .and_then(Value::as_array_mut);
                        for phone in list.into_iter().flatten().filter(|_| kind == "person") {
                            if phone["number"]
                                .as_str()
                                .is_some_and(|number| marked.contains(number))
                            {
                                phone["primary"] = json!(phone["primary"] == "true");
                            }
                        }
                    });
                })
            },
        )
        .on_reference(),
    ]
}

fn phones(body: &Map<String, Value>) -> impl Iterator<Item = &Value> {
    body.get("phone_numbers")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
}
