//! Faults of anonymous callers, and of callers with a key for one helper: what they change of a
//! known person, and what they learn about that person.

use std::collections::HashSet;

use serde_json::{Map, Value, json};
use svc_conformance::ids;

use super::{BaseServer, Mutant, MutationPoint};
use crate::independent_server::{AnonymousEffect, Defect, ServerKey, ServerOptions};
use crate::interceptor::Interceptor;
use crate::link_map::ResourceKind;
use crate::transport::{BufferedRequest, BufferedResponse};

const FAMILY: &str = "anonymous callers";

/// A service that matches people and declares that anonymous callers cannot change them.
fn leaving(options: &mut ServerOptions) {
    (options.matches_people, options.strangers) = (true, AnonymousEffect::Leave);
}

/// As declared, except for this fault.
fn behind(name: &'static str, set_up: fn(&mut ServerOptions)) -> Mutant {
    Mutant::new(FAMILY, name, &[ids::HLP_07], Interceptor::default)
        .over(BaseServer::SecondServer(set_up))
        .at(MutationPoint::Backend)
}

/// Services that declare that anonymous callers cannot change anyone, each with one defect.
macro_rules! leaving_but {
    ($($name:literal => $defect:expr),* $(,)?) => {
        vec![$(behind($name, |options| {
            leaving(options);
            options.defects.push($defect);
        })),*]
    };
}

/// Changes the response to an anonymous caller about a person whose address was posted before with
/// a key.
fn told(name: &'static str, change: fn(&mut BufferedResponse)) -> Mutant {
    Mutant::new(FAMILY, name, &[ids::HLP_07], move || {
        let mut known: HashSet<String> = HashSet::new();
        Interceptor::after(move |call, answer, sight| {
            let has_key = call.headers.contains_key("svc-api-token");
            let helper = matches!(sight.what(call), Some(ResourceKind::Helper(_)));
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
    .over(BaseServer::SecondServer(leaving))
}

/// Returns the first e-mail address of a posted person.
fn address(call: &BufferedRequest, in_helper: bool) -> Option<String> {
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

pub(super) fn faults() -> Vec<Mutant> {
    let mut all = leaving_but![
        "an anonymous caller changes the primary address of a known person" => Defect::StrangersChange("email_addresses"),
        "an anonymous caller adds a phone to a known person" => Defect::StrangersChange("phone_numbers"),
        "an anonymous caller sets custom fields of a known person" => Defect::StrangersChange("custom_fields"),
        "an anonymous caller adds an identifier to a known person" => Defect::StrangersChange("identifiers"),
        "an anonymous caller subscribes a known person" => Defect::AnonymousSubscribes,
        "an anonymous caller fills the empty name of a known person" => Defect::StrangersChange("family_name"),
        "an anonymous caller fills the languages of a known person" => Defect::StrangersChange("languages_spoken"),
        "an anonymous caller adds a postal address to a known person" => Defect::StrangersChange("postal_addresses"),
        "an anonymous caller renames a known person" => Defect::StrangersChange("given_name"),
        "an anonymous caller changes the person of an existing action" => Defect::RepeatsLendPeople,
        "a failed call shows an anonymous caller a known person" => Defect::FailuresShowPeople,
    ];
    all.extend([
        behind(
            "an anonymous caller renames a person by identifier",
            |options| {
                options.strangers = AnonymousEffect::MatchNobody;
                options.defects.push(Defect::StrangersNameByIdentifier);
            },
        ),
        told(
            "an anonymous caller learns that a person is known",
            |answer| {
                answer.set_json(&json!({ "matched": true }));
            },
        ),
        told(
            "an anonymous caller is refused for a known person",
            |answer| {
                *answer = BufferedResponse::empty(409);
            },
        ),
        told(
            "an anonymous caller gets null for a known person",
            |answer| answer.set_json(&Value::Null),
        ),
        Mutant::new(
            FAMILY,
            "a failed call shows people to a key for one helper",
            &[ids::AUT_04],
            Interceptor::default,
        )
        .over(BaseServer::SecondServer(|options| {
            options.matches_people = true;
            options.defects.push(Defect::FailuresShowPeople);
            options.keys.truncate(2);
            options.keys.push(ServerKey::only(
                "k-narrow",
                "one",
                &["helper.record_signature"],
            ));
        }))
        .at(MutationPoint::Backend),
        Mutant::new(
            FAMILY,
            "a failed anonymous call shows the person in the reference server",
            &[ids::HLP_07],
            || {
                Interceptor::around(|call, server| {
                    Box::pin(async move {
                        let is_helper = matches!(server.what(&call), Some(ResourceKind::Helper(_)));
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
