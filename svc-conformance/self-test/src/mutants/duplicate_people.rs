//! People who are posted twice: which person a server matches, and what it does with the later
//! values.

use std::collections::HashMap;

use serde_json::{Map, Value, json};
use svc_conformance::ids;

use super::{BaseServer, Mutant, MutationPoint, set};
use crate::independent_server::{Defect, ServerOptions};
use crate::interceptor::Interceptor;
use crate::link_map::{self, ResourceKind};

const FAMILY: &str = "matching";

fn matched(options: &mut ServerOptions) {
    options.matches_people = true;
}

/// Returns the first address of a posted person.
fn mail(person: &Map<String, Value>) -> Option<&str> {
    person
        .get("email_addresses")?
        .get(0)?
        .get("address")?
        .as_str()
}

/// Treats people of helper requests as one person if their keys are equal: the server gets the
/// address of the first one.
fn taken_for(
    name: &'static str,
    key: fn(&Map<String, Value>) -> Option<String>,
    over: fn(&mut ServerOptions),
) -> Mutant {
    Mutant::new(
        FAMILY,
        name,
        &[ids::HLP_03, ids::HLP_11, ids::HLP_12, ids::HLP_19, "HLP-*"],
        move || {
            let mut known: HashMap<String, Value> = HashMap::new();
            Interceptor::sent(move |_, what, body, _| {
                let Some(Value::Object(person)) = body
                    .get_mut("person")
                    .filter(|_| matches!(what, Some(ResourceKind::Helper(_))))
                else {
                    return;
                };
                let Some(key) = key(person) else { return };
                let own = mail(person)
                    .filter(|address| !address.is_empty())
                    .map(ToOwned::to_owned);
                let own =
                    json!([{ "address": own.unwrap_or_else(|| format!("{key}@nobody.example")) }]);
                let first = known.entry(key).or_insert(own).clone();
                set(person, "email_addresses", first);
            })
        },
    )
    .over(BaseServer::SecondServer(over))
    .at(MutationPoint::Backend)
}

/// A change to the posted person if its address was posted before.
fn again(name: &'static str, rows: &[&str], change: fn(&mut Map<String, Value>)) -> Mutant {
    Mutant::new(FAMILY, name, rows, move || {
        let mut known: Vec<String> = Vec::new();
        Interceptor::sent(move |_, what, body, _| {
            let Some(Value::Object(person)) = body
                .get_mut("person")
                .filter(|_| matches!(what, Some(ResourceKind::Helper(_))))
            else {
                return;
            };
            let Some(address) = mail(person).map(str::to_lowercase) else {
                return;
            };
            if known.contains(&address) {
                change(person);
            }
            known.push(address);
        })
    })
    .over(BaseServer::SecondServer(matched))
    .at(MutationPoint::Backend)
}

/// A change to the representation of a person whose address was posted more than once.
fn shown(name: &'static str, rows: &[&str], change: fn(&mut Map<String, Value>)) -> Mutant {
    Mutant::new(FAMILY, name, rows, move || {
        let mut known: HashMap<String, u32> = HashMap::new();
        Interceptor::documents(move |call, document, status, sight| {
            if matches!(sight.what(call), Some(ResourceKind::Helper(_)))
                && status < 300
                && let Some(address) = call
                    .json()
                    .and_then(|body| mail(body.get("person")?.as_object()?).map(str::to_lowercase))
            {
                let times = known.entry(address).or_default();
                *times = times.saturating_add(1);
            }
            sight.each_record(call, document, &mut |kind, record| {
                let times = mail(record).and_then(|address| known.get(&address.to_lowercase()));
                if kind == "person" && times.is_some_and(|times| *times > 1) {
                    change(record);
                }
            });
        })
    })
    .over(BaseServer::SecondServer(matched))
}

/// Responds to the second action of a person whose address was posted before with the first action,
/// and does not store it.
fn once(name: &'static str, kind: &'static str, row: &'static str) -> Mutant {
    Mutant::new(FAMILY, name, &[row, ids::HLP_03, ids::HLP_06], move || {
        Interceptor::around(move |call, server| {
            Box::pin(async move {
                let person = call.json().and_then(|mut body| body.remove("person"));
                let address = person
                    .as_ref()
                    .and_then(|person| mail(person.as_object()?).map(str::to_lowercase));
                let (true, Some(address)) = (
                    server.what(&call) == Some(ResourceKind::Helper(kind)),
                    address,
                ) else {
                    return server.send(call).await;
                };
                if let Some(known) = server.remembered(&address) {
                    return known;
                }
                let answer = server.send(call).await;
                server.remember(address, &answer);
                answer
            })
        })
    })
    .over(BaseServer::SecondServer(matched))
    .at(MutationPoint::Backend)
}

pub(super) fn faults() -> Vec<Mutant> {
    vec![
        taken_for(
            "people without an address are one",
            |person| mail(person).is_none().then(String::new),
            matched,
        ),
        taken_for(
            "people are matched by the part before the at sign",
            |person| Some(mail(person)?.split('@').next()?.to_lowercase()),
            matched,
        ),
        taken_for(
            "people are matched by twelve characters of an address",
            |person| Some(mail(person)?.chars().take(12).collect()),
            matched,
        ),
        taken_for(
            "people are matched by the end of an address",
            |person| {
                let address = mail(person)?;
                Some(
                    address
                        .chars()
                        .skip(address.chars().count().saturating_sub(20))
                        .collect(),
                )
            },
            matched,
        ),
        taken_for(
            "people of one given name are one",
            |person| Some(person.get("given_name")?.as_str()?.to_owned()),
            matched,
        ),
        taken_for(
            "people are matched by address, which is not declared",
            |person| Some(mail(person)?.to_owned()),
            |_| {},
        ),
        again(
            "a matched person takes texts alone",
            &[ids::HLP_03],
            |person| {
                person.retain(|name, value| {
                    value.is_string() || ["identifiers", "email_addresses"].contains(&name.as_str())
                });
            },
        ),
        again(
            "a matched person takes no further identifiers",
            &[ids::HLP_03],
            |person| {
                drop(person.remove("identifiers"));
            },
        ),
        again(
            "a matched person takes no custom fields",
            &[ids::HLP_03],
            |person| drop(person.remove("custom_fields")),
        ),
        shown(
            "a matched person has its address twice",
            &[ids::HLP_03],
            |record| {
                if let Some(list) = record
                    .get_mut("email_addresses")
                    .and_then(Value::as_array_mut)
                {
                    list.extend(list.first().cloned());
                }
            },
        ),
        shown(
            "a matched person was created later",
            &[ids::TYP_15],
            |record| {
                if let Some(modified) = record.get("modified_date").cloned() {
                    set(record, "created_date", modified);
                }
            },
        ),
        shown(
            "a matched person was not modified",
            &[ids::TYP_16, ids::CRU_19],
            |record| {
                if let Some(created) = record.get("created_date").cloned() {
                    set(record, "modified_date", created);
                }
            },
        ),
        shown(
            "a matched person lost its other identifiers",
            &[ids::HLP_03, ids::TYP_13],
            |record| {
                if let Some(list) = record.get_mut("identifiers").and_then(Value::as_array_mut) {
                    list.truncate(1);
                }
            },
        ),
        once(
            "the second signature of a person is the first",
            "signature",
            ids::HLP_11,
        ),
        once(
            "the second submission of a person is the first",
            "submission",
            ids::HLP_12,
        ),
        once(
            "the second donation of a person is the first",
            "donation",
            ids::HLP_13,
        ),
        once(
            "the second outreach of a person is the first",
            "outreach",
            ids::HLP_14,
        ),
        once(
            "the second attendance of a person is the first",
            "attendance",
            ids::HLP_15,
        ),
        Mutant::new(
            FAMILY,
            "people are looked up before they are inserted",
            &[ids::HLP_05],
            Interceptor::default,
        )
        .over(BaseServer::SecondServer(|options| {
            matched(options);
            options.defects.push(Defect::LooksUpBeforeInsert);
        }))
        .at(MutationPoint::Backend),
        Mutant::new(
            FAMILY,
            "a signup of a known person returns the old record",
            &[ids::HLP_06, ids::HLP_19, ids::HLP_03],
            stale,
        )
        .over(BaseServer::SecondServer(matched)),
    ]
}

/// Behaviour that the specification permits for people who are posted twice.
pub(super) fn free() -> Vec<Mutant> {
    vec![
        again("a matched person keeps its names", &[], |person| {
            person.retain(|name, _| name != "given_name" && name != "family_name");
        }),
        taken_for(
            "people with an empty address are one",
            |person| {
                mail(person)
                    .filter(|one| one.trim().is_empty())
                    .map(|_| String::new())
            },
            matched,
        ),
    ]
}

/// The response to a sign-up represents each person as at the first sign-up.
fn stale() -> Interceptor {
    let mut first: HashMap<String, Map<String, Value>> = HashMap::new();
    Interceptor::documents(move |call, document, status, sight| {
        if sight.what(call) == Some(ResourceKind::Helper("person")) && status < 300 {
            let own = link_map::href(document, "self")
                .unwrap_or_default()
                .to_owned();
            *document = first.entry(own).or_insert_with(|| document.clone()).clone();
        }
    })
}
