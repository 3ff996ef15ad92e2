//! Filters that return too much, too little, or something else.
//!
//! Requirements: FLT-01 to FLT-14.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use http::HeaderValue;
use serde_json::{Map, Value, json};
use svc_conformance::ids;

use super::{Mutant, MutationPoint, add, links, members, set};
use crate::interceptor::Interceptor;
use crate::link_map;
use crate::transport::{BufferedRequest, BufferedResponse};

const FAMILY: &str = "filters";

/// Replaces a filter before it is parsed.
fn read_as(name: &'static str, rows: &[&str], change: fn(&str) -> String) -> Mutant {
    Mutant::new(FAMILY, name, rows, move || {
        Interceptor::before(move |call, _| {
            let address = call.uri.to_string();
            if let Some((before, text, after)) = filter(&address) {
                let changed = format!("{before}filter={}{after}", change(text));
                if changed != address {
                    call.redirect(&changed);
                }
            }
            None
        })
    })
    .on_reference()
    .at(MutationPoint::Request)
}

/// Changes the pages of filtered collections.
fn shown(name: &'static str, rows: &[&str], change: fn(&mut Map<String, Value>)) -> Mutant {
    Mutant::new(FAMILY, name, rows, move || {
        Interceptor::pages(move |call, page, _| {
            if filter(&call.uri.to_string()).is_some() {
                change(page);
            }
        })
    })
    .on_reference()
}

/// Returns the part of an address before the filter, the text of the filter, and the part after it.
fn filter(address: &str) -> Option<(&str, &str, &str)> {
    let at = address.find("filter=")?;
    let (before, rest) = address.split_at_checked(at)?;
    let text = rest.strip_prefix("filter=")?;
    let end = text.find('&').unwrap_or(text.len());
    let (text, after) = text.split_at_checked(end)?;
    Some((before, text, after))
}

/// Removes a parameter from the links of a page.
fn without(page: &mut Map<String, Value>, parameter: &str, names: &[&str]) {
    for name in names {
        let link = links(page).and_then(|links| links.get_mut(*name)?.get_mut("href"));
        let Some(Value::String(href)) = link else {
            continue;
        };
        let Some((path, query)) = href.split_once('?') else {
            continue;
        };
        let kept: Vec<&str> = query
            .split('&')
            .filter(|pair| !pair.starts_with(parameter))
            .collect();
        *href = format!("{path}?{}", kept.join("&"));
    }
}

/// Executes the request without the parameter if the server rejects it and its text matches.
fn ignored(
    name: &'static str,
    rows: &[&str],
    parameter: &'static str,
    fits: fn(&str) -> bool,
) -> Mutant {
    Mutant::new(FAMILY, name, rows, move || {
        Interceptor::around(move |call, server| {
            Box::pin(async move {
                let address = call.uri.to_string();
                let answer = server.send(call.clone()).await;
                let Some((path, query)) = address.split_once('?').filter(|_| answer.status == 400)
                else {
                    return answer;
                };
                let is_meant = |pair: &&str| pair.strip_prefix(parameter).is_some_and(fits);
                let kept: Vec<&str> = query.split('&').filter(|pair| !is_meant(pair)).collect();
                if kept.len() == query.split('&').count() {
                    return answer;
                }
                server
                    .send(call.get(&format!("{path}?{}", kept.join("&"))))
                    .await
            })
        })
    })
    .on_reference()
}

/// Returns whether a filter of e-mail addresses has its values in capitals.
fn in_capitals(text: &str) -> bool {
    text.contains("FILTER.") && text.contains("email_address")
}

pub(super) fn faults() -> Vec<Mutant> {
    [forms(), changes()].concat()
}

/// Faults of filters that need no earlier change of the records.
fn forms() -> Vec<Mutant> {
    vec![
        Mutant::new(
            FAMILY,
            "filters are ignored",
            &[ids::FLT_01, "FLT-*"],
            || {
                Interceptor::before(|call, _| {
                    let address = call.uri.to_string();
                    if let Some((before, _, after)) = filter(&address) {
                        call.redirect(
                            format!("{before}{}", after.trim_start_matches('&'))
                                .trim_end_matches(['?', '&']),
                        );
                    }
                    None
                })
            },
        )
        .on_reference()
        .at(MutationPoint::Request),
        read_as("gt is read as ge", &[ids::FLT_02, ids::FLT_01], |text| {
            text.replace("%20gt%20", "%20ge%20")
        }),
        read_as("lt is read as le", &[ids::FLT_02, ids::FLT_01], |text| {
            text.replace("%20lt%20", "%20le%20")
        }),
        read_as("or is read as and", &[ids::FLT_10], |text| {
            text.replace("%20or%20", "%20and%20")
        }),
        read_as(
            "in takes the first value alone",
            &[ids::FLT_10, ids::FLT_08, ids::FLT_01, ids::FLT_05],
            |text| match (text.find("%2C"), text.find("%29")) {
                (Some(comma), Some(end)) if comma < end && text.contains("%20in%20") => {
                    format!(
                        "{}{}",
                        text.get(..comma).unwrap_or_default(),
                        text.get(end..).unwrap_or_default()
                    )
                }
                _ => text.to_owned(),
            },
        ),
        read_as(
            "addresses are compared with their case",
            &[ids::FLT_06, ids::FLT_05],
            |text| {
                if in_capitals(text) {
                    text.replace("FILTER.", "NOBODY.")
                } else {
                    text.to_owned()
                }
            },
        ),
        read_as(
            "identifiers are compared without case",
            &[ids::FLT_07],
            |text| {
                if text.starts_with("identifiers%20eq") {
                    text.to_lowercase().replace("%2c", "%2C")
                } else {
                    text.to_owned()
                }
            },
        ),
        read_as(
            "the name of a tag is compared as its beginning",
            &[ids::FLT_13, ids::FLT_01],
            |text| match text.strip_suffix("x%27") {
                Some(start) if text.starts_with("tag%20eq") => format!("{start}%27"),
                _ => text.to_owned(),
            },
        ),
        read_as(
            "people are found by lists that they are not on",
            &[ids::FLT_13, "FLT-*"],
            |text| {
                if text.starts_with("list%20eq") {
                    "created_date%20ge%20%272000-01-01%27".to_owned()
                } else {
                    text.to_owned()
                }
            },
        ),
        read_as(
            "the start of a family name is compared with the whole name",
            &[ids::FLT_14, "FLT-*"],
            |text| text.replace("family_name%20sw", "family_name%20eq"),
        ),
        read_as(
            "a family name is compared with its start",
            &[ids::FLT_14, ids::FLT_01],
            |text| text.replace("family_name%20eq", "family_name%20sw"),
        ),
        shown(
            "the total of a filter is that of the collection",
            &[ids::FLT_05, ids::COL_23, ids::COL_20],
            |page| {
                add(page, "total_records", 7);
            },
        ),
        shown(
            "the next page is that of the collection",
            &[ids::FLT_08, ids::FLT_01, ids::COL_24],
            |page| {
                without(page, "filter", &["next"]);
            },
        ),
        shown(
            "self of a filtered page is the collection",
            &[ids::FLT_08, ids::COL_27],
            |page| {
                without(page, "filter", &["self"]);
            },
        ),
        shown(
            "a filtered page lacks its first record",
            &[ids::FLT_01, "FLT-*"],
            |page| {
                drop(
                    members(page)
                        .filter(|members| !members.is_empty())
                        .map(|members| members.remove(0)),
                );
            },
        ),
        Mutant::new(
            FAMILY,
            "a wrong filter is refused without its place",
            &[ids::FLT_03],
            || {
                Interceptor::documents(|call, document, status, _| {
                    if status == 400 && filter(&call.uri.to_string()).is_some() {
                        let mut text = Value::Object(std::mem::take(document)).to_string();
                        text = text.replace("at character ", "somewhere ");
                        let marked: Vec<&str> = text.split("somewhere ").collect();
                        let cut = marked.iter().enumerate().map(|(at, part)| {
                            if at == 0 {
                                part
                            } else {
                                part.trim_start_matches(|letter: char| letter.is_ascii_digit())
                            }
                        });
                        let text: String = cut.collect::<Vec<_>>().join("somewhere");
                        if let Ok(Value::Object(changed)) = serde_json::from_str(&text) {
                            *document = changed;
                        }
                    }
                })
            },
        )
        .on_reference(),
        ignored(
            "a filter by what is not declared is ignored",
            &[ids::FLT_04, ids::FLT_03],
            "filter=",
            |text| {
                ["origin_system", "name", "email_address", "no_such"]
                    .iter()
                    .any(|field| text.starts_with(field))
            },
        ),
        ignored(
            "an order that is not declared is ignored",
            &[ids::FLT_04],
            "order=",
            |_| true,
        ),
        Mutant::new(
            FAMILY,
            "ordered pages are upside down",
            &[ids::FLT_09],
            || {
                Interceptor::pages(|call, page, _| {
                    if call.uri.to_string().contains("order=")
                        && let Some(members) = members(page)
                    {
                        members.reverse();
                    }
                })
            },
        )
        .on_reference(),
        Mutant::new(
            FAMILY,
            "a filter finds what is another tenant's",
            &[ids::FLT_11],
            || {
                Interceptor::before(|call, _| {
                    if filter(&call.uri.to_string()).is_some() && key(call) == Some("k-two") {
                        call.headers
                            .insert("svc-api-token", HeaderValue::from_static("k-one"));
                    }
                    None
                })
            },
        )
        .on_reference()
        .at(MutationPoint::Request),
        Mutant::new(
            FAMILY,
            "a filter is answered as it was the first time",
            &[ids::FLT_12],
            || {
                let mut known: HashMap<String, BufferedResponse> = HashMap::new();
                Interceptor::after(move |call, answer, _| {
                    if filter(&call.uri.to_string()).is_some() && answer.is_success() {
                        let name = format!("{:?} {}", key(call), call.uri);
                        *answer = known.entry(name).or_insert_with(|| answer.clone()).clone();
                    }
                })
            },
        )
        .on_reference(),
    ]
}

fn key(call: &BufferedRequest) -> Option<&str> {
    call.headers.get("svc-api-token")?.to_str().ok()
}

/// Faults that are visible only after a change, or with values and texts of a special form.
fn changes() -> Vec<Mutant> {
    vec![
        read_as(
            "modified_date is read as created_date",
            &[ids::FLT_02, ids::FLT_01],
            |text| text.replace("modified_date", "created_date"),
        ),
        read_as(
            "created_date is read as modified_date",
            &[ids::FLT_02, ids::FLT_01],
            |text| text.replace("created_date", "modified_date"),
        ),
        read_as(
            "the offset of a date is ignored",
            &[ids::FLT_02, ids::FLT_01],
            |text| text.replace("%2B02%3A00", "Z").replace("-05%3A00", "Z"),
        ),
        read_as("or binds tighter than and", &[ids::FLT_10], |text| {
            match (text.split_once("%20or%20"), text.contains("%28")) {
                (Some((first, rest)), false) => {
                    match (first.rsplit_once("%20and%20"), rest.split_once("%20and%20")) {
                        (Some((before, first)), _) => {
                            format!("{before}%20and%20%28{first}%20or%20{rest}%29")
                        }
                        (None, Some((second, after))) => {
                            format!("%28{first}%20or%20{second}%29%20and%20{after}")
                        }
                        (None, None) => text.to_owned(),
                    }
                }
                _ => text.to_owned(),
            }
        }),
        read_as(
            "what follows a whole filter is ignored",
            &[ids::FLT_03],
            |text| match text
                .rfind("%27")
                .and_then(|at| text.split_at_checked(at.saturating_add(3)))
            {
                Some((whole, rest)) if !rest.is_empty() && !text.contains("%28") => {
                    whole.to_owned()
                }
                _ => text.to_owned(),
            },
        ),
        addresses("only the first e-mail address is compared", |place, _| {
            place == 0
        }),
        addresses(
            "only subscribed e-mail addresses are compared",
            |_, entry| entry["status"] != "unsubscribed",
        ),
        Mutant::new(
            FAMILY,
            "a filter does not find what was changed",
            &[ids::FLT_01, ids::FLT_12],
            || {
                let (mut made, mut changed) = (HashSet::new(), HashSet::new());
                Interceptor::documents(move |call, document, status, _| {
                    let values = || call.json().map(|body| values(&body)).unwrap_or_default();
                    if call.method == "POST" {
                        made.extend(values());
                    } else if call.method == "PUT" && status == 200 {
                        changed.extend(values().into_iter().filter(|value| !made.contains(value)));
                    } else if let Some((_, text, _)) = filter(&call.uri.to_string())
                        && changed.iter().any(|value| text.contains(value.as_str()))
                    {
                        none_fits(document);
                    }
                })
            },
        )
        .on_reference(),
        found_by_old_values(),
        ordered(
            "records are ordered by created_date alone",
            &[ids::FLT_09],
            |call| {
                let address = call
                    .uri
                    .to_string()
                    .replace("order=modified_date", "order=created_date");
                call.redirect(&address);
            },
        ),
        ordered(
            "records are ordered by modified_date alone",
            &[ids::FLT_09],
            |call| {
                let address = call
                    .uri
                    .to_string()
                    .replace("order=created_date", "order=modified_date");
                call.redirect(&address);
            },
        ),
        Mutant::new(
            FAMILY,
            "the next page has no order",
            &[ids::FLT_08, ids::FLT_09],
            || {
                Interceptor::pages(|call, page, _| {
                    if call.uri.to_string().contains("order=") {
                        without(page, "order", &["next"]);
                    }
                })
            },
        )
        .on_reference(),
        ignored_below("a filter below a record is ignored"),
    ]
}

/// A change to the sort order of requests.
fn ordered(name: &'static str, rows: &[&str], change: fn(&mut BufferedRequest)) -> Mutant {
    Mutant::new(FAMILY, name, rows, move || {
        Interceptor::before(move |call, _| {
            change(call);
            None
        })
    })
    .on_reference()
    .at(MutationPoint::Request)
}

/// Ignores filters of collections below a record.
fn ignored_below(name: &'static str) -> Mutant {
    Mutant::new(FAMILY, name, &[ids::FLT_04], || {
        Interceptor::before(|call, _| {
            let address = call.uri.to_string();
            if let Some((path, _)) = address
                .split_once("?filter=")
                .filter(|_| call.uri.path().split('/').count() > 5)
            {
                call.redirect(path);
            }
            None
        })
    })
    .on_reference()
    .at(MutationPoint::Request)
}

/// Finds people by some of their e-mail addresses only.
fn addresses(name: &'static str, counts: fn(usize, &Value) -> bool) -> Mutant {
    Mutant::new(FAMILY, name, &[ids::FLT_06], move || {
        Interceptor::pages(move |call, page, _| {
            let address = call.uri.to_string();
            let Some((_, text, _)) =
                filter(&address).filter(|(_, text, _)| text.starts_with("email_address%20eq"))
            else {
                return;
            };
            let asked = text.to_lowercase();
            let is_found = |member: &Value| {
                let all = member["email_addresses"]
                    .as_array()
                    .map_or(&[][..], Vec::as_slice);
                let own = all
                    .iter()
                    .enumerate()
                    .filter(|(place, entry)| counts(*place, entry));
                let mut own = own.filter_map(|(_, entry)| entry["address"].as_str());
                own.any(|own| asked.contains(&encoded(&own.to_lowercase()).to_lowercase()))
            };
            if !members(page).is_some_and(|members| members.iter().any(is_found)) {
                none_fits(page);
            }
        })
    })
    .on_reference()
}

/// Finds records also by values that a change has removed.
fn found_by_old_values() -> Mutant {
    Mutant::new(
        FAMILY,
        "a filter finds a record by its old values",
        &[ids::FLT_01, ids::FLT_12],
        || {
            let known: Arc<Mutex<HashMap<String, String>>> = Arc::default();
            let renamed = Arc::clone(&known);
            let mut shown: HashMap<String, Vec<String>> = HashMap::new();
            Interceptor::before(move |call, _| {
                let address = call.uri.to_string();
                let (before, text, after) = filter(&address)?;
                let known = known.lock().unwrap_or_else(PoisonError::into_inner);
                let (old, new) = known.iter().find(|(old, _)| text.contains(old.as_str()))?;
                call.redirect(&format!("{before}filter={}{after}", text.replace(old, new)));
                None
            })
            .and_after(move |call, answer, _| {
                let Some(Value::Object(record)) = answer.json().filter(|_| call.is_write()) else {
                    return;
                };
                let Some(own) = link_map::href(&record, "self") else {
                    return;
                };
                let new = values(&record);
                let old = shown
                    .insert(own.to_owned(), new.clone())
                    .unwrap_or_default();
                let gone = old.into_iter().filter(|old| !new.contains(old));
                let pairs = gone.filter_map(|old| Some((old, new.first()?.clone())));
                renamed
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .extend(pairs);
            })
        },
    )
    .on_reference()
}

/// Returns the name and the e-mail addresses of a record, as a filter compares them.
fn values(record: &Map<String, Value>) -> Vec<String> {
    let all = record
        .get("email_addresses")
        .and_then(Value::as_array)
        .map_or(&[][..], Vec::as_slice);
    let addresses = all.iter().filter_map(|entry| entry["address"].as_str());
    record
        .get("name")
        .and_then(Value::as_str)
        .into_iter()
        .chain(addresses)
        .map(encoded)
        .collect()
}

/// Percent-encodes everything that a query cannot contain unencoded.
fn encoded(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let one = |byte: u8| {
        if plain(byte) {
            char::from(byte).to_string()
        } else {
            format!("%{byte:02X}")
        }
    };
    text.bytes().map(one).collect()
}

/// Removes all members of a page.
fn none_fits(page: &mut Map<String, Value>) {
    if let Some(members) = members(page) {
        members.clear();
        set(page, "total_records", 0);
        set(page, "total_pages", 0);
    }
    for (_, link) in links(page)
        .into_iter()
        .flatten()
        .filter(|(rel, link)| *rel != "curies" && link.is_array())
    {
        *link = json!([]);
    }
}
