//! A change feed with entries that are wrong, unnecessary or missing.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use http::HeaderValue;
use serde_json::{Map, Value, json};
use svc_conformance::ids;

use super::{Mutant, MutationPoint, links, members, set};
use crate::interceptor::Interceptor;
use crate::link_map::ResourceKind;
use crate::transport::{BufferedRequest, BufferedResponse, address};

const FAMILY: &str = "changes";
const KEY: &str = "svc-api-token";

/// Returns whether a request is to the feed.
pub(super) fn is_feed(call: &BufferedRequest) -> bool {
    call.uri.path().trim_end_matches('/').ends_with("/changes")
}

/// A change to pages of the feed.
fn page(name: &'static str, rows: &[&str], change: fn(&mut Map<String, Value>)) -> Mutant {
    Mutant::new(FAMILY, name, rows, move || {
        Interceptor::documents(move |call, document, status, _| {
            if status == 200 && is_feed(call) {
                change(document);
            }
        })
    })
    .on_reference()
}

/// Removes entries.
fn silent(name: &'static str, rows: &[&str], is_told: fn(&Value) -> bool) -> Mutant {
    Mutant::new(FAMILY, name, rows, move || {
        Interceptor::documents(move |call, document, _, _| {
            if is_feed(call)
                && let Some(entries) = members(document)
            {
                entries.retain(is_told);
            }
        })
    })
    .on_reference()
}

/// A change to each entry.
fn entry(name: &'static str, rows: &[&str], change: fn(&mut Map<String, Value>)) -> Mutant {
    Mutant::new(FAMILY, name, rows, move || {
        Interceptor::documents(move |call, document, _, _| {
            let entries = if is_feed(call) {
                members(document)
            } else {
                None
            };
            entries
                .into_iter()
                .flatten()
                .filter_map(Value::as_object_mut)
                .for_each(change);
        })
    })
    .on_reference()
}

/// A change to requests to the feed.
fn asked(name: &'static str, rows: &[&str], change: fn(&mut BufferedRequest)) -> Mutant {
    Mutant::new(FAMILY, name, rows, move || {
        Interceptor::before(move |call, _| {
            if is_feed(call) {
                change(call);
            }
            None
        })
    })
    .on_reference()
    .at(MutationPoint::Backend)
}

/// Replaces a given key of requests.
fn lend(call: &mut BufferedRequest, of: Option<&str>, key: &'static str) {
    let has = call.headers.get(KEY).map(|value| value.as_bytes().to_vec());
    if has.as_deref() == of.map(str::as_bytes) {
        call.headers.insert(KEY, HeaderValue::from_static(key));
    }
}

/// Starts from the beginning, whatever the cursor is.
fn anew(call: &mut BufferedRequest) {
    let bare = call.uri.to_string();
    if let Some((bare, _)) = bare.split_once('?') {
        call.redirect(bare);
    }
}

fn what(entry: &Value) -> &str {
    entry["what"].as_str().unwrap_or_default()
}

/// Replaces a link by a copy of another link.
fn lead(page: &mut Map<String, Value>, name: &str, to: &str) {
    if let Some(links) = links(page)
        && let Some(link) = links.get(to).cloned()
    {
        links.insert(name.to_owned(), link);
    }
}

/// Removes a link.
fn unlink(document: &mut Map<String, Value>, rel: &str) {
    if let Some(links) = links(document) {
        links.remove(rel);
    }
}

pub(super) fn faults() -> Vec<Mutant> {
    [told(), unreported(), own_links(), asked_for(), streamed()].concat()
}

/// Faults of pages.
fn told() -> Vec<Mutant> {
    vec![
        Mutant::new(
            FAMILY,
            "the feed is declared and not linked",
            &[ids::SYN_01],
            || {
                Interceptor::entry(|entry, sight| {
                    let rel = sight.rel("changes");
                    unlink(entry, &rel);
                })
            },
        )
        .on_reference(),
        page(
            "a page of the feed has no has_more",
            &[ids::SYN_01, ids::SYN_03, ids::SYN_05],
            |page| {
                page.remove("has_more");
            },
        ),
        silent(
            "deletions are not in the feed",
            &[ids::SYN_02, ids::SYN_04, ids::SYN_10],
            |entry| what(entry) != "deleted",
        ),
        silent(
            "new records are not in the feed",
            &[ids::SYN_02, ids::SYN_09],
            |entry| what(entry) != "created",
        ),
        silent(
            "changes of records are not in the feed",
            &[ids::SYN_02],
            |entry| what(entry) != "changed",
        ),
        silent(
            "deleted memberships are not in the feed",
            &[ids::SYN_02, ids::SYN_10],
            |entry| {
                what(entry) != "deleted"
                    || !matches!(entry["kind"].as_str(), Some("tagging" | "item"))
            },
        ),
        entry(
            "deletions are reported as changes",
            &[ids::SYN_02, ids::SYN_04, ids::SYN_10],
            |entry| {
                if entry.get("what") == Some(&json!("deleted")) {
                    set(entry, "what", "changed");
                }
            },
        ),
        entry(
            "every change is reported as new",
            &[ids::SYN_02, ids::SYN_04, ids::SYN_10],
            |entry| {
                set(entry, "what", "created");
            },
        ),
        page(
            "entries of a feed page are reversed",
            &[ids::SYN_04],
            |page| {
                if let Some(entries) = members(page) {
                    entries.reverse();
                }
            },
        ),
        page(
            "two changes of a page change places",
            &[ids::SYN_04],
            |page| {
                if let Some(entries) = members(page).filter(|entries| entries.len() > 1) {
                    let last = entries.len().saturating_sub(1);
                    entries.swap(last, last.saturating_sub(1));
                }
            },
        ),
        page(
            "the last change of a longer page is missed",
            &[ids::SYN_02, ids::SYN_04],
            |page| {
                members(page)
                    .filter(|entries| entries.len() > 1)
                    .into_iter()
                    .for_each(|entries| _ = entries.pop());
            },
        ),
        page(
            "a longer page repeats its first change",
            &[ids::SYN_04, ids::SYN_05],
            |page| {
                if let Some(entries) = members(page).filter(|entries| entries.len() > 1)
                    && let Some(first) = entries.first().cloned()
                {
                    entries.insert(0, first);
                }
            },
        ),
        page(
            "the cursor skips to the end of the feed",
            &[ids::SYN_02, ids::SYN_04],
            |page| {
                if page.get("has_more") == Some(&json!(true)) {
                    lead(page, "next", "last");
                }
            },
        ),
        page(
            "the cursor comes back to its own page",
            &[ids::SYN_04, ids::SYN_05],
            |page| {
                if page.get("has_more") == Some(&json!(true)) {
                    lead(page, "next", "self");
                }
            },
        ),
        page(
            "the last page of the feed has no last link",
            &[ids::SYN_05],
            |page| {
                if page.get("has_more") == Some(&json!(false)) {
                    unlink(page, "last");
                }
            },
        ),
        page(
            "the last page of the feed has a next link",
            &[ids::SYN_05],
            |page| {
                if page.get("has_more") == Some(&json!(false)) {
                    lead(page, "next", "last");
                }
            },
        ),
        page("has_more is always false", &[ids::SYN_05], |page| {
            set(page, "has_more", false);
        }),
        page(
            "every page of the feed claims to be the last",
            &[ids::SYN_02, ids::SYN_04],
            |page| {
                set(page, "has_more", false);
                unlink(page, "next");
            },
        ),
        page(
            "a page has more entries than per_page",
            &[ids::SYN_05],
            |page| set(page, "per_page", 0),
        ),
        entry("times of changes are not dates", &[ids::SYN_03], |entry| {
            set(entry, "at", "today");
        }),
        entry(
            "entries of the feed have no kind",
            &[ids::SYN_03, "SYN-*"],
            |entry| drop(entry.remove("kind")),
        ),
        entry(
            "every change is reported as upserted",
            &[ids::SYN_02, ids::SYN_03, ids::SYN_04, ids::SYN_10],
            |entry| {
                set(entry, "what", "upserted");
            },
        ),
        entry(
            "a deletion in the feed shows a name",
            &[ids::SYN_10],
            |entry| {
                if entry.get("what") == Some(&json!("deleted")) {
                    set(entry, "given_name", "Ada");
                }
            },
        ),
        entry(
            "the link of a deletion has a name",
            &[ids::SYN_10],
            |entry| {
                if entry.get("what") == Some(&json!("deleted")) {
                    let all = links(entry)
                        .into_iter()
                        .flat_map(|links| links.values_mut());
                    all.filter_map(Value::as_object_mut)
                        .for_each(|link| set(link, "title", "Ada"));
                }
            },
        ),
    ]
}

/// The changes that the feed lacks, each with its kind.
const LACKING: [(&str, &str); 22] = [
    ("person", "deleted"),
    ("petition", "changed"),
    ("event", "created"),
    ("form", "deleted"),
    ("fundraising_page", "changed"),
    ("advocacy_campaign", "created"),
    ("share_page", "deleted"),
    ("share_page", "changed"),
    ("question", "created"),
    ("tag", "changed"),
    ("list", "deleted"),
    ("message", "created"),
    ("message", "changed"),
    ("signature", "created"),
    ("submission", "changed"),
    ("donation", "deleted"),
    ("outreach", "changed"),
    ("attendance", "deleted"),
    ("answer", "created"),
    ("canvass", "created"),
    ("tagging", "created"),
    ("item", "created"),
];

/// Records and changes that the feed does not contain.
fn unreported() -> Vec<Mutant> {
    let mut faults = Vec::from(LACKING.map(|(kind, done)| {
        Mutant::new(
            FAMILY,
            format!("the feed lacks each {kind} that is {done}"),
            &[ids::SYN_02],
            move || {
                Interceptor::documents(move |call, document, _, _| {
                    if let Some(entries) = members(document).filter(|_| is_feed(call)) {
                        entries.retain(|entry| entry["kind"] != kind || what(entry) != done);
                    }
                })
            },
        )
        .on_reference()
    }));
    faults.extend([
        indirect("the feed lacks what helpers record", |kind, done| {
            done == "created" && !matches!(kind, "person" | "tagging" | "item" | "answer")
        }),
        indirect("the feed lacks people that helpers create", |kind, done| {
            kind == "person" && done == "created"
        }),
        indirect("the feed lacks people that helpers change", |kind, done| {
            kind == "person" && done == "changed"
        }),
        indirect("the feed lacks taggings of a function", |kind, done| {
            kind == "tagging" && done == "created"
        }),
        indirect("the feed lacks items of a function", |kind, done| {
            kind == "item" && done == "created"
        }),
        indirect("the feed lacks answers of a function", |kind, done| {
            kind == "answer" && done == "created"
        }),
        entry("every change has the same date", &[ids::SYN_03], |entry| {
            set(entry, "at", "2020-01-01T00:00:00Z");
        }),
        page(
            "a page that is exactly full announces more",
            &[ids::SYN_05],
            |page| {
                let count = members(page).map(|entries| entries.len());
                let size = page
                    .get("per_page")
                    .and_then(Value::as_u64)
                    .and_then(|size| usize::try_from(size).ok());
                if page.get("has_more") == Some(&json!(false)) && count == size {
                    set(page, "has_more", true);
                    lead(page, "next", "last");
                }
            },
        ),
        too_early(),
    ]);
    faults
}

/// Returns the address of the record of an entry.
pub(super) fn about(entry: &Value) -> Option<String> {
    let links = entry["_links"].as_object()?;
    let (_, link) = links.iter().find(|(rel, _)| *rel != "self")?;
    link["href"].as_str().map(address)
}

/// Removes entries of some kinds where no request created or changed the record directly.
fn indirect(name: &'static str, is_meant: fn(&str, &str) -> bool) -> Mutant {
    Mutant::new(FAMILY, name, &[ids::SYN_02], move || {
        let mut direct: HashSet<String> = HashSet::new();
        Interceptor::documents(move |call, document, status, sight| {
            if call.method == "PUT" {
                direct.insert(call.address());
            } else if call.method == "POST"
                && status < 300
                && matches!(sight.what(call), Some(ResourceKind::Collection(_)))
            {
                let own = links(document)
                    .and_then(|links| links.get("self")?["href"].as_str().map(address));
                direct.extend(own);
            } else if let Some(entries) = members(document).filter(|_| is_feed(call)) {
                entries.retain(|entry| {
                    let kind = entry["kind"].as_str().unwrap_or_default();
                    !is_meant(kind, what(entry))
                        || about(entry).is_some_and(|own| direct.contains(&own))
                });
            }
        })
    })
    .on_reference()
}

/// Returns 404 for the first read of a record after the feed returned its entry.
fn too_early() -> Mutant {
    Mutant::new(
        FAMILY,
        "a record is reported before it can be read",
        &[ids::SYN_03],
        || {
            let early: Arc<Mutex<(HashSet<String>, HashSet<String>)>> = Arc::default();
            let later = Arc::clone(&early);
            Interceptor::before(move |call, _| {
                let mut early = early.lock().unwrap_or_else(PoisonError::into_inner);
                (call.method == "GET" && early.1.remove(&call.address()))
                    .then(|| BufferedResponse::empty(404))
            })
            .and_after(move |call, answer, _| {
                let Some(Value::Object(mut page)) = answer.json().filter(|_| is_feed(call)) else {
                    return;
                };
                let mut early = later.lock().unwrap_or_else(PoisonError::into_inner);
                let created = members(&mut page)
                    .into_iter()
                    .flatten()
                    .filter(|entry| what(entry) == "created");
                for own in created.filter_map(|entry| about(entry)) {
                    if early.0.insert(own.clone()) {
                        early.1.insert(own);
                    }
                }
            })
        },
    )
    .on_reference()
}

/// Gives every entry of a page the same `self`.
fn give_self(page: &mut Map<String, Value>, from: &str) {
    let Some(link) = links(page).and_then(|links| links.get(from).cloned()) else {
        return;
    };
    let entries = members(page)
        .into_iter()
        .flatten()
        .filter_map(Value::as_object_mut);
    for links in entries.filter_map(links) {
        set(links, "self", link.clone());
    }
}

/// Faults of the `self` link of entries.
fn own_links() -> Vec<Mutant> {
    vec![
        entry("entries have no `self`", &[ids::SYN_03], |entry| {
            unlink(entry, "self");
        }),
        page(
            "`self` of every entry is the page",
            &[ids::SYN_03],
            |page| give_self(page, "self"),
        ),
        page(
            "`self` of an entry links to the end of the feed",
            &[ids::SYN_03],
            |page| {
                give_self(page, "last");
            },
        ),
    ]
}

/// Faults of keys and cursors.
fn asked_for() -> Vec<Mutant> {
    vec![
        asked(
            "the feed is readable without a key",
            &[ids::SYN_06],
            |call| {
                lend(call, None, "k-one");
            },
        ),
        asked(
            "the feed is readable without the right",
            &[ids::SYN_06],
            |call| {
                lend(call, Some("k-narrow"), "k-one");
            },
        ),
        asked(
            "the feed is readable by another tenant",
            &[ids::SYN_09],
            |call| lend(call, Some("k-two"), "k-one"),
        ),
        asked(
            "a cursor of another tenant starts from the beginning",
            &[ids::SYN_09],
            |call| {
                if call.headers.get(KEY).is_some_and(|key| key == "k-two")
                    && call.uri.query().is_some()
                {
                    anew(call);
                }
            },
        ),
        asked(
            "a damaged cursor starts from the beginning",
            &[ids::SYN_07],
            |call| {
                let is_damaged = |query: &str| {
                    query.contains("no-such") || query.ends_with("zz") || query.ends_with('=')
                };
                if call.uri.query().is_some_and(is_damaged) {
                    anew(call);
                }
            },
        ),
        Mutant::new(
            FAMILY,
            "a damaged cursor is refused without its name",
            &[ids::SYN_07],
            || {
                Interceptor::descriptions(|one, _| {
                    if one.get("error_code") == Some(&json!("CURSOR_INVALID")) {
                        set(one, "properties", json!([]));
                    }
                })
            },
        )
        .on_reference(),
        Mutant::new(
            FAMILY,
            "a damaged cursor is answered 404",
            &[ids::SYN_07],
            || {
                Interceptor::after(|call, answer: &mut BufferedResponse, _| {
                    if is_feed(call)
                        && answer.status == 400
                        && call
                            .uri
                            .query()
                            .is_some_and(|query| query.contains("no-such"))
                    {
                        answer.status = 404;
                    }
                })
            },
        )
        .on_reference(),
    ]
}

/// A change to the text of an event stream.
fn stream(name: &'static str, change: fn(&str) -> String) -> Mutant {
    Mutant::new(FAMILY, name, &[ids::SYN_12], move || {
        Interceptor::after(move |call, answer: &mut BufferedResponse, _| {
            if is_stream(call) && answer.status == 200 {
                answer.body = change(&String::from_utf8_lossy(&answer.body)).into();
            }
        })
    })
    .on_reference()
}

fn is_stream(call: &BufferedRequest) -> bool {
    is_feed(call)
        && call
            .headers
            .get("accept")
            .is_some_and(|accept| accept == "text/event-stream")
}

/// Faults of an event stream.
fn streamed() -> Vec<Mutant> {
    vec![
        stream("the first event is not sent", |text| {
            text.split_once("\n\n")
                .map_or("", |(_, rest)| rest)
                .to_owned()
        }),
        stream("events have no cursor", |text| text.replace("id: ", "no: ")),
        stream("events are not pages", |text| {
            text.replace("data: {", "data: ")
        }),
        Mutant::new(
            FAMILY,
            "the header Last-Event-ID is ignored",
            &[ids::SYN_12],
            || {
                Interceptor::before(|call, _| {
                    call.headers.remove("last-event-id");
                    None
                })
            },
        )
        .on_reference()
        .at(MutationPoint::Backend),
        Mutant::new(
            FAMILY,
            "a request for a stream gets a page",
            &[ids::SYN_12],
            || {
                Interceptor::before(|call, _| {
                    if is_feed(call) {
                        call.headers.remove("accept");
                    }
                    None
                })
            },
        )
        .on_reference()
        .at(MutationPoint::Backend),
        Mutant::new(
            FAMILY,
            "every event has the cursor of the one before",
            &[ids::SYN_12],
            || {
                Interceptor::after(|call, answer: &mut BufferedResponse, _| {
                    if is_stream(call) && answer.status == 200 {
                        let text = String::from_utf8_lossy(&answer.body).into_owned();
                        let ids: Vec<&str> = text
                            .lines()
                            .filter_map(|line| line.strip_prefix("id: "))
                            .collect();
                        let mut moved = text.clone();
                        for (before, id) in ids.iter().zip(ids.iter().skip(1)).rev() {
                            moved =
                                moved.replacen(&format!("id: {id}"), &format!("id: {before}"), 1);
                        }
                        answer.body = moved.into();
                    }
                })
            },
        )
        .on_reference(),
    ]
}

/// Behaviour that is permitted: one entry per record on a page, dates in whole seconds, small
/// pages.
pub(super) fn free() -> Vec<Mutant> {
    vec![
        page("records are reported once a page", &[], |page| {
            if let Some(entries) = members(page) {
                let mut later: HashSet<String> = HashSet::new();
                entries.reverse();
                entries.retain(|entry| about(entry).is_none_or(|own| later.insert(own)));
                entries.reverse();
            }
        }),
        entry("changes are dated in whole seconds", &[], |entry| {
            let at = entry.get("at").and_then(Value::as_str).unwrap_or_default();
            if let Some((seconds, _)) = at.split_once('.') {
                set(entry, "at", format!("{seconds}Z"));
            }
        }),
        asked("a page of the feed has two entries", &[], |call| {
            let (bare, query) = (
                call.uri.path().to_owned(),
                call.uri.query().unwrap_or_default().to_owned(),
            );
            let kept = query
                .split('&')
                .filter(|pair| !pair.starts_with("per_page=") && !pair.is_empty());
            let kept = ["per_page=2"]
                .into_iter()
                .chain(kept)
                .collect::<Vec<_>>()
                .join("&");
            let origin = call
                .uri
                .to_string()
                .split(&bare)
                .next()
                .unwrap_or_default()
                .to_owned();
            call.redirect(&format!("{origin}{bare}?{kept}"));
        }),
    ]
}
