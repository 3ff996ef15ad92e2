//! Faults of links, generated from the requirements of the catalogue: a link that is missing, or
//! one with another target.

use serde_json::json;
use svc_conformance::ids;

use super::{Mutant, links};
use crate::fields;
use crate::interceptor::Interceptor;
use crate::link_map::NAMES;

pub(super) fn faults() -> Vec<Mutant> {
    let mut faults = Vec::new();
    for (owner, described) in fields::all() {
        if !NAMES.iter().any(|(one, _)| *one == owner) {
            continue;
        }
        for link in &described.links {
            let (name, row) = (link.name.clone(), link.row.as_str());
            let fault = match name.as_str() {
                "self" => Mutant::new(
                    "link missing",
                    format!("{owner} without self"),
                    &[row, ids::HAL_16],
                    move || {
                        Interceptor::alone(owner, |call, record, _| {
                            if call.method == "GET"
                                && let Some(links) = links(record)
                            {
                                links.remove("self");
                            }
                        })
                    },
                ),
                // Sent only if the person is known, so that none is missing.
                _ if link.optional => {
                    let dangling = format!("{owner}'s {name} link is dangling");
                    Mutant::new("link elsewhere", dangling, &[row, ids::HAL_15], move || {
                        let name = name.clone();
                        Interceptor::records(owner, move |record, sight| {
                            let rel = sight.rel(&name);
                            if let Some(link) = links(record).and_then(|links| links.get_mut(&rel))
                            {
                                let href = link
                                    .get("href")
                                    .and_then(|href| href.as_str())
                                    .unwrap_or_default();
                                *link = json!({ "href": format!("{href}0x") });
                            }
                        })
                    })
                    .on_reference()
                }
                "record_canvas_helper" => Mutant::new(
                    "link missing",
                    "people without the canvass helper",
                    &[row, ids::HLP_16],
                    || {
                        Interceptor::records("person", |record, sight| {
                            for name in ["record_canvas_helper", "record_canvass_helper"] {
                                let rel = sight.rel(name);
                                drop(links(record).and_then(|links| links.remove(&rel)));
                            }
                        })
                    },
                ),
                _ => Mutant::new(
                    "link missing",
                    format!("{owner} without {name}"),
                    &[row],
                    move || {
                        let name = name.clone();
                        Interceptor::records(owner, move |record, sight| {
                            let rel = sight.rel(&name);
                            drop(links(record).and_then(|links| links.remove(&rel)));
                        })
                    },
                ),
            };
            faults.push(fault);
        }
    }
    faults
}
