//! What a caller without a key, or with a key for one helper, does to somebody known or learns of
//! him.

use std::collections::HashSet;

use serde_json::{Map, Value, json};
use svc_conformance::row;

use super::{Fault, Over, Place};
use crate::interceptor::Interceptor;
use crate::link_map::What;
use crate::second_server::{Defect, Key, Options, Strangers};
use crate::transport::{Answer, Call};

const FAMILY: &str = "strangers";

/// A service that matches people and declares that strangers change nobody.
fn leaving(options: &mut Options) {
    (options.matches_people, options.strangers) = (true, Strangers::Leave);
}

/// As declared, but for this.
fn behind(name: &'static str, set_up: fn(&mut Options)) -> Fault {
    Fault::new(FAMILY, name, &[row::HLP_07], Interceptor::default)
        .over(Over::SecondServer(set_up))
        .at(Place::Backend)
}

/// Services that declare that strangers change nobody, each with one defect.
macro_rules! leaving_but {
    ($($name:literal => $defect:expr),* $(,)?) => {
        vec![$(behind($name, |options| {
            leaving(options);
            options.defects.push($defect);
        })),*]
    };
}

/// An answer to a caller without a key about somebody whose address was posted before with one.
fn told(name: &'static str, change: fn(&mut Answer)) -> Fault {
    Fault::new(FAMILY, name, &[row::HLP_07], move || {
        let mut known: HashSet<String> = HashSet::new();
        Interceptor::after(move |call, answer, sight| {
            let has_key = call.headers.contains_key("svc-api-token");
            let helper = matches!(sight.what(call), Some(What::Helper(_)));
            let Some(address) = address(call, helper) else {
                return;
            };
            if has_key {
                known.insert(address);
            } else if helper && known.contains(&address) && answer.is_success() {
                change(answer);
            }
        })
    })
    .over(Over::SecondServer(leaving))
}

/// The first e-mail address of a posted person.
fn address(call: &Call, in_helper: bool) -> Option<String> {
    let body = Value::Object(call.json()?);
    let person = if in_helper {
        body.get("person")?
    } else {
        &body
    };
    Some(
        person
            .pointer("/email_addresses/0/address")?
            .as_str()?
            .to_lowercase(),
    )
}

pub(super) fn faults() -> Vec<Fault> {
    let mut all = leaving_but![
        "a stranger gives somebody known another primary address" => Defect::StrangersChange("email_addresses"),
        "a stranger gives somebody known a phone" => Defect::StrangersChange("phone_numbers"),
        "a stranger sets custom fields of somebody known" => Defect::StrangersChange("custom_fields"),
        "a stranger gives somebody known an identifier" => Defect::StrangersChange("identifiers"),
        "an anonymous caller subscribes a known person" => Defect::AnonymousSubscribes,
        "an anonymous caller fills the empty name of a known person" => Defect::StrangersChange("family_name"),
        "an anonymous caller fills the languages of a known person" => Defect::StrangersChange("languages_spoken"),
        "an anonymous caller adds a postal address to a known person" => Defect::StrangersChange("postal_addresses"),
        "a stranger renames somebody known" => Defect::StrangersChange("given_name"),
        "an action that a stranger names once more lends its person" => Defect::RepeatsLendPeople,
        "a failed call shows a stranger who is known" => Defect::FailuresShowPeople,
    ];
    all.extend([
        behind("a stranger renames whom an identifier names", |options| {
            options.strangers = Strangers::MatchNobody;
            options.defects.push(Defect::StrangersNameByIdentifier);
        }),
        told("a stranger is told that somebody is known", |answer| {
            answer.set_json(&json!({ "matched": true }));
        }),
        told("a stranger is refused for somebody known", |answer| {
            *answer = Answer::empty(409);
        }),
        told(
            "a stranger is answered nothing of somebody known",
            |answer| answer.set_json(&Value::Null),
        ),
        Fault::new(
            FAMILY,
            "a failed call shows people to a key for one helper",
            &[row::AUT_04],
            Interceptor::default,
        )
        .over(Over::SecondServer(|options| {
            options.matches_people = true;
            options.defects.push(Defect::FailuresShowPeople);
            options.keys.truncate(2);
            options
                .keys
                .push(Key::only("k-narrow", "one", &["helper.record_signature"]));
        }))
        .at(Place::Backend),
        Fault::new(
            FAMILY,
            "a stranger's failed call shows the person in the reference server",
            &[row::HLP_07],
            || {
                Interceptor::around(|call, server| {
                    Box::pin(async move {
                        let is_helper = matches!(server.what(&call), Some(What::Helper(_)));
                        let has_key = call.headers.contains_key("svc-api-token");
                        let address = address(&call, is_helper);
                        let mut answer = server.send(call).await;
                        let Some(address) = address else {
                            return answer;
                        };
                        if has_key && !is_helper && answer.is_success() {
                            server.remember(address, &answer);
                        } else if !has_key
                            && answer.status == 400
                            && let Some(Value::Object(mut report)) = answer.json()
                            && let Some(person) =
                                server.remembered(&address).and_then(|known| known.json())
                        {
                            report.insert(server.rel("person"), person);
                            answer.set_json(&Value::Object(Map::from_iter(report)));
                        }
                        answer
                    })
                })
            },
        )
        .on_reference(),
    ]);
    all
}
