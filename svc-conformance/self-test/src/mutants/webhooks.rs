//! Webhooks that are visible to other tenants, expose their secrets, or have a forbidden address.

use std::collections::{HashMap, HashSet};

use http::{HeaderValue, Method};
use serde_json::{Map, Value, json};
use svc_conformance::ids;

use super::{Mutant, MutationPoint, links, members, set};
use crate::interceptor::Interceptor;
use crate::transport::{BufferedRequest, BufferedResponse, address};

const FAMILY: &str = "webhooks";
const KEY: &str = "svc-api-token";
/// The secret that a mutant exposes.
const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=";

/// Returns the path below `webhooks` of a request about them.
fn below(call: &BufferedRequest) -> Option<&str> {
    let (_, below) = call.uri.path().split_once("/webhooks")?;
    Some(below.trim_matches('/'))
}

fn is_list(call: &BufferedRequest) -> bool {
    below(call).is_some_and(str::is_empty)
}

fn is_one(call: &BufferedRequest) -> bool {
    below(call).is_some_and(|below| !below.is_empty() && !below.contains('/'))
}

fn is_at(call: &BufferedRequest, end: &str) -> bool {
    below(call).is_some_and(|below| below.ends_with(end))
}

/// A change to documents about webhooks.
fn shown(
    name: &'static str,
    rows: &[&str],
    change: fn(&BufferedRequest, &mut Map<String, Value>, u16),
) -> Mutant {
    Mutant::new(FAMILY, name, rows, move || {
        Interceptor::documents(move |call, document, status, _| {
            if below(call).is_some() {
                change(call, document, status);
            }
        })
    })
    .on_reference()
}

/// A change to responses about webhooks.
fn answered(
    name: &'static str,
    rows: &[&str],
    change: fn(&BufferedRequest, &mut BufferedResponse),
) -> Mutant {
    Mutant::new(FAMILY, name, rows, move || {
        Interceptor::after(move |call, answer, _| {
            if below(call).is_some() {
                change(call, answer);
            }
        })
    })
    .on_reference()
}

/// A change to requests about webhooks. Returns a response if the server is not called.
fn asked(
    name: &'static str,
    rows: &[&str],
    change: fn(&mut BufferedRequest) -> Option<BufferedResponse>,
) -> Mutant {
    Mutant::new(FAMILY, name, rows, move || {
        Interceptor::before(move |call, _| {
            if below(call).is_some() {
                change(call)
            } else {
                None
            }
        })
    })
    .on_reference()
    .at(MutationPoint::Backend)
}

/// Changes the body of a request.
fn sent(
    call: &mut BufferedRequest,
    change: impl FnOnce(&mut Map<String, Value>),
) -> Option<BufferedResponse> {
    if let Some(mut body) = call.json() {
        change(&mut body);
        call.set_json(body);
    }
    None
}

/// Replaces a URL with one of these hosts by a valid one, so that the server accepts the request.
fn blind(
    hosts: &'static [&'static str],
) -> impl Fn(&mut BufferedRequest) -> Option<BufferedResponse> {
    move |call| {
        sent(call, |body| {
            let url = body.get("url").and_then(Value::as_str).unwrap_or_default();
            if hosts.iter().any(|host| url.contains(host)) {
                set(body, "url", "https://hooks.example.org/");
            }
        })
    }
}

fn within(name: &'static str, hosts: &'static [&'static str]) -> Mutant {
    let fault = Mutant::new(FAMILY, name, &[ids::HOOK_05], move || {
        let blind = blind(hosts);
        Interceptor::before(move |call, _| if is_list(call) { blind(call) } else { None })
    });
    fault.on_reference().at(MutationPoint::Backend)
}

/// Lists deleted webhooks.
fn listed_for_ever() -> Interceptor {
    let (mut known, mut gone) = (HashMap::<String, Value>::new(), HashSet::<String>::new());
    Interceptor::after(move |call, answer, _| {
        if is_one(call) && call.method == Method::DELETE && answer.is_success() {
            gone.insert(call.address());
        }
        let Some(Value::Object(mut list)) = answer
            .json()
            .filter(|_| is_list(call) && call.method == Method::GET)
        else {
            return;
        };
        let mut more = Vec::new();
        if let Some(all) = members(&mut list) {
            for one in all.iter() {
                let own = one
                    .pointer("/_links/self/href")
                    .and_then(Value::as_str)
                    .map(address);
                known.extend(own.map(|own| (own, one.clone())));
            }
            more.extend(gone.iter().filter_map(|own| known.get(own).cloned()));
            all.extend(more.clone());
        }
        let links = links(&mut list)
            .into_iter()
            .flatten()
            .find(|(name, _)| name.ends_with("webhooks"));
        if let Some(links) = links.and_then(|(_, links)| links.as_array_mut()) {
            links.extend(
                more.iter()
                    .filter_map(|one| one.pointer("/_links/self").cloned()),
            );
        }
        answer.set_json(&Value::Object(list));
    })
}

pub(super) fn faults() -> Vec<Mutant> {
    [documents(), secrets(), refusals(), callers()].concat()
}

/// Faults of representations.
fn documents() -> Vec<Mutant> {
    vec![
        Mutant::new(
            FAMILY,
            "webhooks are declared and not linked",
            &[ids::HOOK_01],
            || {
                Interceptor::entry(|entry, sight| {
                    let rel = sight.rel("webhooks");
                    if let Some(links) = links(entry) {
                        links.remove(&rel);
                    }
                })
            },
        )
        .on_reference(),
        shown(
            "the list of webhooks has no links",
            &[ids::HOOK_01],
            |call, document, _| {
                if is_list(call)
                    && call.method == Method::GET
                    && let Some(links) = links(document)
                {
                    links.retain(|name, _| !name.ends_with("webhooks"));
                }
            },
        ),
        shown(
            "the list of webhooks lacks one",
            &[ids::HOOK_01, ids::HOOK_04],
            |call, document, _| {
                if is_list(call)
                    && let Some(all) = members(document)
                {
                    all.pop();
                }
            },
        ),
        shown(
            "webhooks have no redeliver link",
            &[ids::HOOK_01, ids::HOOK_10],
            |_, document, _| {
                if let Some(links) = links(document) {
                    links.retain(|name, _| !name.ends_with("redeliver"));
                }
            },
        ),
        shown(
            "webhooks show other events than those that were sent",
            &[ids::HOOK_01, ids::HOOK_06],
            |_, document, _| {
                if document.contains_key("events") {
                    set(document, "events", json!(["changed", "created", "deleted"]));
                }
            },
        ),
        answered(
            "a webhook is made and answered 200",
            &[ids::HOOK_02],
            |_, answer| {
                if answer.status == 201 {
                    answer.status = 200;
                }
            },
        ),
        answered(
            "a webhook is made without Location",
            &[ids::HOOK_02],
            |_, answer| {
                answer.headers.remove(http::header::LOCATION);
            },
        ),
        asked(
            "changes of webhooks are not stored",
            &[ids::HOOK_06],
            |call| {
                if is_one(call) && call.method == Method::PUT {
                    sent(call, Map::clear)
                } else {
                    None
                }
            },
        ),
        asked(
            "a change of a webhook sets the rest back",
            &[ids::HOOK_06],
            |call| {
                if !is_one(call) || call.method != Method::PUT {
                    return None;
                }
                sent(call, |body| {
                    body.entry("events").or_insert_with(|| json!(["deleted"]));
                })
            },
        ),
        asked("webhooks cannot pause", &[ids::HOOK_06], |call| {
            let is_change = call.method == Method::PUT;
            sent(call, |body| {
                if is_change && body.contains_key("status") {
                    set(body, "status", "active");
                }
            })
        }),
        asked(
            "deletes of webhooks are not executed",
            &[ids::HOOK_06],
            |call| {
                let is_deletion = is_one(call) && call.method == Method::DELETE;
                is_deletion.then(|| BufferedResponse::empty(204))
            },
        ),
        Mutant::new(
            FAMILY,
            "a deleted webhook stays in the list",
            &[ids::HOOK_01],
            listed_for_ever,
        )
        .on_reference()
        .at(MutationPoint::Backend),
        answered(
            "a deleted webhook is gone with 410",
            &[ids::HOOK_06],
            |call, answer| {
                if is_one(call) && answer.status == 404 {
                    answer.status = 410;
                }
            },
        ),
    ]
}

/// Faults of secrets.
fn secrets() -> Vec<Mutant> {
    vec![
        shown(
            "a new webhook has no secret",
            &[ids::HOOK_02],
            |_, document, _| drop(document.remove("secret")),
        ),
        shown("secrets are short", &[ids::HOOK_02], |_, document, _| {
            if document.contains_key("secret") {
                set(document, "secret", "whsec_c2VjcmV0");
            }
        }),
        shown(
            "all new webhooks have one secret",
            &[ids::HOOK_02],
            |call, document, status| {
                if is_list(call) && call.method == Method::POST && status == 201 {
                    set(document, "secret", SECRET);
                }
            },
        ),
        shown(
            "secrets have no prefix",
            &[ids::HOOK_02],
            |_, document, _| {
                if let Some(secret) = document.get("secret").and_then(Value::as_str) {
                    let bare = secret.trim_start_matches("whsec_").to_owned();
                    set(document, "secret", bare);
                }
            },
        ),
        shown(
            "a webhook shows its secret whenever it is read",
            &[ids::HOOK_02, ids::HOOK_09],
            |call, document, status| {
                if is_one(call) && call.method == Method::GET && status == 200 {
                    set(document, "secret", SECRET);
                }
            },
        ),
        shown(
            "a change shows the secret",
            &[ids::HOOK_02],
            |call, document, status| {
                if is_one(call) && call.method == Method::PUT && status == 200 {
                    set(document, "secret", SECRET);
                }
            },
        ),
        shown(
            "the list shows secrets",
            &[ids::HOOK_02],
            |call, document, _| {
                let all = if is_list(call) && call.method == Method::GET {
                    members(document)
                } else {
                    None
                };
                all.into_iter()
                    .flatten()
                    .filter_map(Value::as_object_mut)
                    .for_each(|one| set(one, "secret", SECRET));
            },
        ),
        shown(
            "another secret is not shown",
            &[ids::HOOK_09],
            |call, document, _| {
                if is_at(call, "rotate_secret") {
                    document.remove("secret");
                }
            },
        ),
        Mutant::new(
            FAMILY,
            "another secret is the same one",
            &[ids::HOOK_09],
            || {
                Interceptor::documents(|call, document, _, _| {
                    if below(call).is_some() && document.contains_key("secret") {
                        set(document, "secret", SECRET);
                    }
                })
            },
        )
        .on_reference(),
        answered(
            "another secret is made with 201",
            &[ids::HOOK_09],
            |call, answer| {
                if is_at(call, "rotate_secret") && answer.status == 200 {
                    answer.status = 201;
                }
            },
        ),
    ]
}

/// Faults of validation.
fn refusals() -> Vec<Mutant> {
    vec![
        Mutant::new(
            FAMILY,
            "only the first error of a webhook is reported",
            &[ids::HOOK_04],
            || {
                Interceptor::entries(|entry, _| {
                    if let Some(all) = entry
                        .get_mut("error_descriptions")
                        .and_then(Value::as_array_mut)
                    {
                        all.truncate(1);
                    }
                })
            },
        )
        .on_reference(),
        asked(
            "unknown kinds of webhooks are ignored",
            &[ids::HOOK_04],
            |call| {
                sent(call, |body| {
                    if let Some(kinds) = body.get_mut("kinds").and_then(Value::as_array_mut) {
                        kinds.retain(|kind| kind != "no_such_kind");
                    }
                })
            },
        ),
        asked(
            "a webhook without a url is taken",
            &[ids::HOOK_04],
            |call| {
                if is_list(call) && call.method == Method::POST {
                    return sent(call, |body| {
                        body.entry("url")
                            .or_insert_with(|| json!("https://hooks.example.org/"));
                    });
                }
                None
            },
        ),
        answered(
            "what is wrong with a webhook is answered 422",
            &[ids::HOOK_04, ids::HOOK_05],
            |call, answer| {
                if is_list(call) && answer.status == 400 {
                    answer.status = 422;
                }
            },
        ),
        within(
            "webhook URLs can be loopback addresses",
            &["//127.0.0.1", "//[::1]", "//0.0.0.0", "//[::]"],
        ),
        within(
            "webhook URLs can be the name of this machine",
            &["localhost"],
        ),
        asked(
            "an update can set a webhook URL on this machine",
            &[ids::HOOK_05],
            |call| {
                if is_one(call) && call.method == Method::PUT {
                    blind(&["127", "localhost"])(call)
                } else {
                    None
                }
            },
        ),
        asked(
            "an update can set any webhook URL",
            &[ids::HOOK_05],
            |call| {
                if is_one(call) && call.method == Method::PUT {
                    blind(&["://"])(call)
                } else {
                    None
                }
            },
        ),
        within(
            "addresses in other notations are not checked",
            &["127.1/", "2130706433", "0x", "0177"],
        ),
        within(
            "webhook URLs can be in private networks",
            &["//10.", "//172.16", "//192.168", "//[fd00"],
        ),
        within(
            "webhook URLs can be cloud metadata addresses",
            &["169.254", "metadata"],
        ),
        within(
            "embedded IPv4 addresses are not checked",
            &["[::ffff", "[64:ff9b", "[2002"],
        ),
        within(
            "webhook URLs can be multicast or reserved addresses",
            &["//224", "//255", "[ff02", "//192.0.2", "//198.18"],
        ),
        asked(
            "an unknown cursor lets a webhook begin at the beginning",
            &[ids::HOOK_10],
            |call| {
                if is_at(call, "redeliver") {
                    sent(call, Map::clear)
                } else {
                    None
                }
            },
        ),
        answered(
            "an unknown cursor is answered 404",
            &[ids::HOOK_10],
            |call, answer| {
                if is_at(call, "redeliver") && answer.status == 400 {
                    answer.status = 404;
                }
            },
        ),
        answered(
            "redelivery of webhooks is not implemented",
            &[ids::HOOK_10],
            |call, answer| {
                if is_at(call, "redeliver") && answer.status == 200 {
                    *answer = BufferedResponse::empty(501);
                }
            },
        ),
    ]
}

/// Faults of rights.
fn callers() -> Vec<Mutant> {
    vec![
        asked(
            "webhooks are readable without a key",
            &[ids::HOOK_03],
            |call| {
                if !call.headers.contains_key(KEY) {
                    call.headers.insert(KEY, HeaderValue::from_static("k-one"));
                }
                None
            },
        ),
        asked("any key will do for webhooks", &[ids::HOOK_03], |call| {
            if call
                .headers
                .get(KEY)
                .is_some_and(|key| key == "no-such-key-0000")
            {
                call.headers.insert(KEY, HeaderValue::from_static("k-one"));
            }
            None
        }),
        asked(
            "webhooks are those of all tenants",
            &[ids::HOOK_14],
            |call| {
                if call.headers.get(KEY).is_some_and(|key| key == "k-two") {
                    call.headers.insert(KEY, HeaderValue::from_static("k-one"));
                }
                None
            },
        ),
        asked(
            "webhooks of other tenants are found by their address",
            &[ids::HOOK_14],
            |call| {
                if !is_list(call) && call.headers.get(KEY).is_some_and(|key| key == "k-two") {
                    call.headers.insert(KEY, HeaderValue::from_static("k-one"));
                }
                None
            },
        ),
        answered(
            "webhooks of other tenants are forbidden",
            &[ids::HOOK_14],
            |call, answer| {
                if answer.status == 404 && call.headers.get(KEY).is_some_and(|key| key == "k-two") {
                    answer.status = 403;
                }
            },
        ),
    ]
}

/// Behaviour that is permitted: more members of a webhook than the requirements need.
pub(super) fn free() -> Vec<Mutant> {
    vec![shown(
        "webhooks have a name besides",
        &[],
        |_, document, _| {
            if document.contains_key("url") {
                set(document, "name", "CRM");
            }
        },
    )]
}
