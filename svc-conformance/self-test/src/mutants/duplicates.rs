//! Pairs of people that are wrong, missing, shown to others, or dismissed without effect.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use http::{HeaderValue, Method, header};
use serde_json::{Map, Value, json};
use svc_conformance::ids;
use svc_core::ApiBuilder;

use super::merges::{
    API_KEY, MergeFaults, both, change, is_merge, json_map, merging, objects, unlink,
};
use super::{BaseServer, Mutant, links, members, set};
use crate::interceptor::{InterceptedServer, Interceptor};
use crate::link_map::LinkMap;
use crate::transport::{BufferedRequest, BufferedResponse, address};

const FAMILY: MergeFaults = MergeFaults {
    family: "duplicates",
    server: pairing,
};
const LINK: &str = "ext:duplicates";

/// The reference server, which merges people and lists pairs.
fn pairing(api: ApiBuilder) -> ApiBuilder {
    merging(api).duplicates()
}

/// Returns whether a request is for a page of pairs.
fn is_page(call: &BufferedRequest) -> bool {
    call.method == Method::GET && call.uri.path().ends_with("/duplicates")
}

/// Returns whether a request is to a pair.
fn is_pair(call: &BufferedRequest) -> bool {
    call.uri.path().contains("/duplicates/")
}

/// Returns whether a request dismisses a pair, or takes this back.
fn dismissal(call: &BufferedRequest) -> Option<bool> {
    let body = call
        .json()
        .filter(|_| call.method == Method::PUT && is_pair(call))?;
    body.get("dismissed")?.as_bool()
}

/// Returns whether a request changes or deletes a person.
fn is_to_person(call: &BufferedRequest) -> bool {
    let rest = call.uri.path().split_once("/people/");
    rest.is_some_and(|(_, rest)| !rest.trim_end_matches('/').contains('/'))
}

/// A change of requests to pages and pairs.
fn asked(name: &'static str, row: &str, act: fn(&mut BufferedRequest)) -> Mutant {
    FAMILY.fault(name, row, move || {
        Interceptor::before(move |call, _| {
            if is_page(call) || is_pair(call) {
                act(call);
            }
            None
        })
    })
}

/// A change of pages.
fn pages(name: &'static str, row: &str, act: fn(&mut Map<String, Value>)) -> Mutant {
    FAMILY.fault(name, row, move || {
        Interceptor::documents(move |call, document, status, _| {
            if is_page(call) && status == 200 {
                act(document);
            }
        })
    })
}

/// A change of pairs, on pages and at their URLs.
fn pairs(name: &'static str, row: &str, act: fn(&mut Map<String, Value>)) -> Mutant {
    FAMILY.fault(name, row, move || Interceptor::documents(each_pair(act)))
}

/// Returns a change of each pair in a document.
fn each_pair(
    act: fn(&mut Map<String, Value>),
) -> impl FnMut(&BufferedRequest, &mut Map<String, Value>, u16, &LinkMap) {
    move |call, document, status, _| {
        if status != 200 {
            return;
        }
        if is_page(call) {
            objects(members(document)).for_each(act);
        } else if is_pair(call) {
            act(document);
        }
    }
}

/// Sets the key of a request, if it is this one.
fn lend(call: &mut BufferedRequest, of: &str, key: &'static str) {
    let own = call.headers.get(API_KEY).and_then(|own| own.to_str().ok());
    if own.unwrap_or_default() == of {
        call.headers.insert(API_KEY, HeaderValue::from_static(key));
    }
}

/// Shows pages as they were before a request that succeeded.
fn frozen(name: &'static str, row: &str, is_cause: fn(&BufferedRequest) -> bool) -> Mutant {
    type Pages = HashMap<String, BufferedResponse>;
    FAMILY.fault(name, row, move || {
        let pages = Arc::new(Mutex::new((Pages::new(), Pages::new())));
        Interceptor::around(move |call, server| {
            let pages = pages.clone();
            Box::pin(async move {
                let answer = server.send(call.clone()).await;
                let mut pages = pages.lock().unwrap_or_else(PoisonError::into_inner);
                let (latest, frozen) = &mut *pages;
                if is_cause(&call) && answer.is_success() {
                    frozen.clone_from(latest);
                }
                if !is_page(&call) || answer.status != 200 {
                    return answer;
                }
                let name = format!("{:?} {}", call.headers.get(API_KEY), call.address());
                let answer = frozen.get(&name).cloned().unwrap_or(answer);
                latest.insert(name, answer.clone());
                answer
            })
        })
    })
}

/// Repeats the last entry of the previous page on each further page.
fn repeated() -> Interceptor {
    let last: Arc<Mutex<Option<Value>>> = Arc::default();
    Interceptor::documents(move |call, page, status, _| {
        if !is_page(call) || status != 200 {
            return;
        }
        let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
        let is_further = call
            .uri
            .query()
            .is_some_and(|query| query.contains("after="));
        let Some(pairs) = members(page) else { return };
        let before = last.take().filter(|_| is_further);
        *last = pairs.last().cloned();
        if let Some(before) = before {
            pairs.insert(0, before);
            set(page, "per_page", 100);
        }
    })
}

/// Answers a dismissal, or its end, as if it was executed.
async fn ignored(
    call: BufferedRequest,
    server: InterceptedServer,
    value: bool,
) -> BufferedResponse {
    if dismissal(&call) != Some(value) {
        return server.send(call).await;
    }
    let mut answer = server.send(call.get(&call.uri.to_string())).await;
    answer.edit(|pair| set(pair, "dismissed", value));
    answer
}

/// Ends the dismissals of a person who is merged.
fn ended_by_merge() -> Interceptor {
    let dismissed: Arc<Mutex<BTreeSet<String>>> = Arc::default();
    Interceptor::around(move |call, server| {
        let dismissed = dismissed.clone();
        Box::pin(async move {
            let answer = server.send(call.clone()).await;
            if !answer.is_success() {
                return answer;
            }
            let all = {
                let mut all = dismissed.lock().unwrap_or_else(PoisonError::into_inner);
                if dismissal(&call) == Some(true) {
                    all.insert(call.uri.to_string());
                }
                all.clone()
            };
            let id = |url: &str| {
                address(url)
                    .rsplit('/')
                    .next()
                    .unwrap_or_default()
                    .to_owned()
            };
            if let Some((remaining, merged)) = both(&call, &server.rel("person")) {
                for url in all.iter().filter(|url| url.contains(&id(&merged))) {
                    let url = url.replace(&id(&merged), &id(&remaining));
                    let fields = json_map(json!({ "dismissed": false }));
                    change(&call, &server, &url, fields).await;
                }
            }
            answer
        })
    })
}

pub(super) fn faults() -> Vec<Mutant> {
    [linked(), documents(), accesses(), dismissals(), changes()].concat()
}

/// Faults of the links, and of which people are a pair.
fn linked() -> Vec<Mutant> {
    let undeclared = Mutant::new(
        FAMILY.family,
        "pairs are linked, but not declared",
        &[ids::DUP_01],
        || {
            Interceptor::entry(|entry, _| {
                if let Some(links) = links(entry) {
                    links.insert(LINK.to_owned(), json!({ "href": "duplicates" }));
                }
            })
        },
    );
    vec![
        undeclared.over(BaseServer::Reference(|api| api)),
        FAMILY.fault("no entry point links to pairs", ids::DUP_01, || {
            Interceptor::entry(|entry, _| unlink(entry, LINK))
        }),
        FAMILY.fault("no person links to its pairs", ids::DUP_01, || {
            Interceptor::records("person", |person, _| unlink(person, LINK))
        }),
        pages(
            "people with equal values are no pair",
            ids::DUP_01,
            |page| {
                members(page).into_iter().for_each(Vec::clear);
            },
        ),
        asked(
            "a person has the pairs of all people",
            ids::DUP_01,
            |call| {
                let url = call.uri.to_string();
                if let Some((base, rest)) = url.split_once("/people/")
                    && let Some((_, rest)) = rest.split_once('/')
                {
                    call.redirect(&format!("{base}/{rest}"));
                }
            },
        ),
    ]
}

/// Faults of pairs and pages.
fn documents() -> Vec<Mutant> {
    vec![
        pairs("a pair has no reasons", ids::DUP_02, |pair| {
            set(pair, "reasons", json!([]));
            set(pair, "score", 0);
        }),
        pairs(
            "the score of a pair is that of its first reason",
            ids::DUP_02,
            |pair| {
                let reasons = pair.get("reasons").and_then(Value::as_array);
                let first = reasons.and_then(|all| all.first()?.get("weight").cloned());
                if let Some(first) = first {
                    set(pair, "score", first);
                }
            },
        ),
        pairs("the strength of a pair is a number", ids::DUP_02, |pair| {
            set(pair, "strength", 2);
        }),
        pages(
            "a page loses its last pair if there are more",
            ids::DUP_04,
            |page| {
                if page.get("has_more") == Some(&json!(true)) {
                    members(page).and_then(Vec::pop);
                }
            },
        ),
        pages("the last page of pairs has more", ids::DUP_04, |page| {
            set(page, "has_more", true);
        }),
        FAMILY.fault("a pair is on two pages", ids::DUP_04, repeated),
    ]
}

/// Faults of who gets pairs.
fn accesses() -> Vec<Mutant> {
    vec![
        asked("pairs are shown without a key", ids::DUP_03, |call| {
            if call.method == Method::GET {
                lend(call, "", "k-one");
            }
        }),
        asked("pairs are shown to another tenant", ids::DUP_03, |call| {
            lend(call, "k-two", "k-one");
        }),
        FAMILY.fault("caches may store pairs", ids::DUP_03, || {
            Interceptor::after(|call, answer, _| {
                if is_page(call) || is_pair(call) {
                    let cache = HeaderValue::from_static("max-age=0, private, must-revalidate");
                    answer.headers.insert(header::CACHE_CONTROL, cache);
                }
            })
        }),
        asked(
            "pairs are dismissed with any valid key",
            ids::DUP_06,
            |call| {
                if call.method == Method::PUT {
                    lend(call, "k-narrow", "k-one");
                }
            },
        ),
    ]
}

/// Faults of dismissals.
fn dismissals() -> Vec<Mutant> {
    vec![
        FAMILY.around(
            "a dismissal has no effect",
            ids::DUP_06,
            |call, server, ()| ignored(call, server, true),
        ),
        FAMILY.around(
            "a dismissal does not end",
            ids::DUP_06,
            |call, server, ()| ignored(call, server, false),
        ),
        frozen("a dismissed pair stays on its pages", ids::DUP_06, |call| {
            dismissal(call) == Some(true)
        }),
        FAMILY.fault("a dismissed pair is not found", ids::DUP_06, || {
            Interceptor::after(|call, answer, _| {
                let document = answer.json().unwrap_or_default();
                if is_pair(call)
                    && call.method == Method::GET
                    && document.get("dismissed") == Some(&json!(true))
                {
                    *answer = BufferedResponse::empty(404);
                }
            })
        }),
        FAMILY.fault("a dismissal ends with a merge", ids::DUP_06, ended_by_merge),
    ]
}

/// Faults of pairs after people change.
fn changes() -> Vec<Mutant> {
    vec![
        frozen("a changed person stays in its pairs", ids::DUP_07, |call| {
            call.method == Method::PUT && is_to_person(call)
        }),
        frozen("a deleted person stays in its pairs", ids::DUP_07, |call| {
            call.method == Method::DELETE && is_to_person(call)
        }),
        frozen("a merged person stays in its pairs", ids::DUP_07, is_merge),
    ]
}

/// Shows pairs with another score, in another order, and without the people.
fn other_pairs() -> Interceptor {
    let mut change = each_pair(|pair| {
        pair.remove("_embedded");
        if pair.contains_key("reasons") {
            let reason = json!({ "field": "everything", "weight": 3.5 });
            set(pair, "reasons", json!([reason]));
            set(pair, "score", 3.5);
            set(pair, "strength", "weak");
            set(pair, "likelihood", 0.7);
        }
    });
    Interceptor::documents(move |call, document, status, sight| {
        change(call, document, status, sight);
        if is_page(call)
            && let Some(list) = members(document)
        {
            list.reverse();
        }
    })
}

/// Returns an empty page first, then pages with one entry, and a crowd on each page.
async fn short_pages(mut call: BufferedRequest, server: InterceptedServer) -> BufferedResponse {
    if !is_page(&call) {
        return server.send(call).await;
    }
    let url = call.uri.to_string();
    let is_first = !url.contains("after=") && !url.contains("begin=1");
    let mark = if url.contains('?') { '&' } else { '?' };
    let begin = format!("{url}{mark}begin=1");
    let url = url.replace("&begin=1", "").replace("?begin=1", "");
    call.redirect(&url);
    if !url.contains("per_page=") {
        let mark = if url.contains('?') { '&' } else { '?' };
        call.redirect(&format!("{url}{mark}per_page=1"));
    }
    let mut answer = server.send(call).await;
    answer.edit(|page| {
        let Some(list) = members(page) else { return };
        if is_first {
            list.clear();
            set(page, "has_more", true);
            if let Some(links) = links(page) {
                set(links, "next", json!({ "href": begin }));
            }
            return;
        }
        list.insert(0, json!({ "crowd": 812, "field": "phone_numbers" }));
        let size = list.len();
        set(page, "per_page", size);
    });
    answer
}

/// Responds with other codes, and to dismissals without a document.
fn other_codes() -> Interceptor {
    Interceptor::after(|call, answer, _| {
        if !is_page(call) && !is_pair(call) {
            return;
        }
        match (answer.status, &call.method) {
            (200, &Method::PUT) => *answer = BufferedResponse::empty(204),
            (403, _) => *answer = BufferedResponse::empty(404),
            (404, _) => *answer = BufferedResponse::empty(410),
            (200, _) => {
                let cache = HeaderValue::from_static("No-Store, private");
                answer.headers.insert(header::CACHE_CONTROL, cache);
            }
            _ => {}
        }
    })
}

/// Behaviour that looks like a fault but is permitted.
pub(super) fn free() -> Vec<Mutant> {
    let unusual = |name, twist: fn() -> Interceptor| {
        Mutant::new(FAMILY.family, name, &[], twist).over(BaseServer::Reference(pairing))
    };
    vec![
        unusual("pairs have other scores, and links alone", other_pairs),
        unusual("pages of pairs are short or empty, and have crowds", || {
            Interceptor::around(|call, server| Box::pin(short_pages(call, server)))
        }),
        unusual(
            "pairs have other codes, and no cache stores them",
            other_codes,
        ),
        unusual("pairs are listed, with tags", Interceptor::default),
    ]
}
