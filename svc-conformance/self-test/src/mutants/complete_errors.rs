//! Servers that report one class of problems and hide another until the next request.
//!
//! Requirements: ERR-39.

use serde_json::{Map, Value};
use svc_conformance::ids;

use super::Mutant;
use crate::interceptor::Interceptor;

/// Hides descriptions while there are others.
fn later(name: &'static str, is_later: fn(&str) -> bool) -> Mutant {
    Mutant::new("reported late", name, &[ids::ERR_39], move || {
        Interceptor::entries(move |entry, _| {
            for list in ["error_descriptions", "errors"] {
                let Some(all) = entry.get_mut(list).and_then(Value::as_array_mut) else {
                    continue;
                };
                if !all.iter().all(|one| is_about(one, is_later)) {
                    all.retain(|one| !is_about(one, is_later));
                }
            }
        })
    })
}

fn is_about(description: &Value, is_it: fn(&str) -> bool) -> bool {
    let properties = description
        .as_object()
        .and_then(|one: &Map<String, Value>| one.get("properties")?.as_array());
    properties
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .any(is_it)
}

const fn is_function(property: &str) -> bool {
    matches!(property.as_bytes(), [b'a', b'd', b'd', b'_', ..])
}

pub(super) fn faults() -> Vec<Mutant> {
    vec![
        later("a wrong field hides a dangling link", |property| {
            property.starts_with("_links")
        }),
        later(
            "a wrong field hides a link in the reference server",
            |property| property.starts_with("_links"),
        )
        .on_reference(),
        later("a wrong field hides a missing tag", |property| {
            property == "add_tags"
        }),
        later(
            "a wrong field hides what functions name in the reference server",
            is_function,
        )
        .on_reference(),
        later("a wrong field hides a missing list", |property| {
            property == "add_lists"
        }),
        later("a wrong person hides what else is wrong", |property| {
            !property.starts_with("person")
        }),
        later("a missing tag hides a wrong person", |property| {
            property.starts_with("person.")
        }),
    ]
}
