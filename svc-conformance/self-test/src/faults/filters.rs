//! Filters that show too much, too little, or something else (FLT-01 to FLT-12).

use std::collections::HashMap;

use http::HeaderValue;
use serde_json::{Map, Value};
use svc_conformance::row;

use super::{Fault, Place, add, links, members};
use crate::interceptor::Interceptor;
use crate::transport::{Answer, Call};

const FAMILY: &str = "filters";

/// A filter is read as another one.
fn read_as(name: &'static str, rows: &[&str], change: fn(&str) -> String) -> Fault {
    Fault::new(FAMILY, name, rows, move || {
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
    .at(Place::Request)
}

/// The pages of filtered collections show something else.
fn shown(name: &'static str, rows: &[&str], change: fn(&mut Map<String, Value>)) -> Fault {
    Fault::new(FAMILY, name, rows, move || {
        Interceptor::pages(move |call, page, _| {
            if filter(&call.uri.to_string()).is_some() {
                change(page);
            }
        })
    })
    .on_reference()
}

/// What stands before the filter of an address, its text, and what stands behind.
fn filter(address: &str) -> Option<(&str, &str, &str)> {
    let at = address.find("filter=")?;
    let (before, rest) = address.split_at_checked(at)?;
    let text = rest.strip_prefix("filter=")?;
    let end = text.find('&').unwrap_or(text.len());
    let (text, after) = text.split_at_checked(end)?;
    Some((before, text, after))
}

/// The links of a page lose a parameter.
fn without(page: &mut Map<String, Value>, parameter: &str, names: &[&str]) {
    for name in names {
        let link = links(page).and_then(|links| links.get_mut(*name)?.get_mut("href"));
        let Some(Value::String(href)) = link else { continue };
        let Some((path, query)) = href.split_once('?') else { continue };
        let kept: Vec<&str> = query.split('&').filter(|pair| !pair.starts_with(parameter)).collect();
        *href = format!("{path}?{}", kept.join("&"));
    }
}

/// Answers without the parameter where the server refuses it and the text fits.
fn ignored(name: &'static str, rows: &[&str], parameter: &'static str, fits: fn(&str) -> bool) -> Fault {
    Fault::new(FAMILY, name, rows, move || {
        Interceptor::around(move |call, server| {
            Box::pin(async move {
                let address = call.uri.to_string();
                let answer = server.send(call.clone()).await;
                let Some((path, query)) = address.split_once('?').filter(|_| answer.status == 400) else {
                    return answer;
                };
                let is_meant = |pair: &&str| pair.strip_prefix(parameter).is_some_and(fits);
                let kept: Vec<&str> = query.split('&').filter(|pair| !is_meant(pair)).collect();
                if kept.len() == query.split('&').count() {
                    return answer;
                }
                server.send(call.get(&format!("{path}?{}", kept.join("&")))).await
            })
        })
    })
    .on_reference()
}

/// The text with quoted values in another case.
fn in_capitals(text: &str) -> bool {
    text.contains("FILTER.") && text.contains("email_address")
}

pub(super) fn faults() -> Vec<Fault> {
    vec![
        Fault::new(FAMILY, "filters are ignored", &[row::FLT_01, "FLT-*"], || {
            Interceptor::before(|call, _| {
                let address = call.uri.to_string();
                if let Some((before, _, after)) = filter(&address) {
                    call.redirect(format!("{before}{}", after.trim_start_matches('&')).trim_end_matches(['?', '&']));
                }
                None
            })
        })
        .on_reference()
        .at(Place::Request),
        read_as("gt is read as ge", &[row::FLT_02, row::FLT_01], |text| text.replace("%20gt%20", "%20ge%20")),
        read_as("lt is read as le", &[row::FLT_02, row::FLT_01], |text| text.replace("%20lt%20", "%20le%20")),
        read_as("or is read as and", &[row::FLT_10], |text| text.replace("%20or%20", "%20and%20")),
        read_as(
            "in takes the first value alone",
            &[row::FLT_10, row::FLT_08, row::FLT_01, row::FLT_05],
            |text| match (text.find("%2C"), text.find("%29")) {
                (Some(comma), Some(end)) if comma < end && text.contains("%20in%20") => {
                    format!("{}{}", text.get(..comma).unwrap_or_default(), text.get(end..).unwrap_or_default())
                }
                _ => text.to_owned(),
            },
        ),
        read_as("addresses are compared with their case", &[row::FLT_06, row::FLT_05], |text| {
            if in_capitals(text) { text.replace("FILTER.", "NOBODY.") } else { text.to_owned() }
        }),
        read_as("identifiers are compared without case", &[row::FLT_07], |text| {
            if text.starts_with("identifiers%20eq") {
                text.to_lowercase().replace("%2c", "%2C")
            } else {
                text.to_owned()
            }
        }),
        shown("the total of a filter is that of the collection", &[row::FLT_05, row::COL_23, row::COL_20], |page| {
            add(page, "total_records", 7);
        }),
        shown("the next page is that of the collection", &[row::FLT_08, row::FLT_01, row::COL_24], |page| {
            without(page, "filter", &["next"]);
        }),
        shown("self of a filtered page is the collection", &[row::FLT_08, row::COL_27], |page| {
            without(page, "filter", &["self"]);
        }),
        shown("a filtered page lacks its first record", &[row::FLT_01, "FLT-*"], |page| {
            drop(members(page).filter(|members| !members.is_empty()).map(|members| members.remove(0)));
        }),
        Fault::new(FAMILY, "a wrong filter is refused without its place", &[row::FLT_03], || {
            Interceptor::documents(|call, document, status, _| {
                if status == 400 && filter(&call.uri.to_string()).is_some() {
                    let mut text = Value::Object(std::mem::take(document)).to_string();
                    text = text.replace("at character ", "somewhere ");
                    let marked: Vec<&str> = text.split("somewhere ").collect();
                    let cut = marked.iter().enumerate().map(|(at, part)| {
                        if at == 0 { part } else { part.trim_start_matches(|letter: char| letter.is_ascii_digit()) }
                    });
                    let text: String = cut.collect::<Vec<_>>().join("somewhere");
                    if let Ok(Value::Object(changed)) = serde_json::from_str(&text) {
                        *document = changed;
                    }
                }
            })
        })
        .on_reference(),
        ignored("a filter by what is not declared is ignored", &[row::FLT_04, row::FLT_03], "filter=", |text| {
            ["origin_system", "name", "email_address", "no_such"].iter().any(|field| text.starts_with(field))
        }),
        ignored("an order that is not declared is ignored", &[row::FLT_04], "order=", |_| true),
        Fault::new(FAMILY, "ordered pages are upside down", &[row::FLT_09], || {
            Interceptor::pages(|call, page, _| {
                if call.uri.to_string().contains("order=")
                    && let Some(members) = members(page)
                {
                    members.reverse();
                }
            })
        })
        .on_reference(),
        Fault::new(FAMILY, "a filter finds what is another tenant's", &[row::FLT_11], || {
            Interceptor::before(|call, _| {
                if filter(&call.uri.to_string()).is_some() && key(call) == Some("k-two") {
                    call.headers.insert("svc-api-token", HeaderValue::from_static("k-one"));
                }
                None
            })
        })
        .on_reference()
        .at(Place::Request),
        Fault::new(FAMILY, "a filter is answered as it was the first time", &[row::FLT_12], || {
            let mut known: HashMap<String, Answer> = HashMap::new();
            Interceptor::after(move |call, answer, _| {
                if filter(&call.uri.to_string()).is_some() && answer.is_success() {
                    let name = format!("{:?} {}", key(call), call.uri);
                    *answer = known.entry(name).or_insert_with(|| answer.clone()).clone();
                }
            })
        })
        .on_reference(),
    ]
}

fn key(call: &Call) -> Option<&str> {
    call.headers.get("svc-api-token")?.to_str().ok()
}
