//! Addresses as templates and as patterns, from the layout of the server.

use serde_json::{Value, json};
use svc_core::{
    api::Api,
    context::BaseUrl,
    link::{RecordAddress, Target},
    model::Kind,
    value::Id,
};

/// A placeholder for any id. No layout contains it.
const OWN: &str = "ANY-RECORD-0";
const HOME: &str = "ANY-PARENT-0";

/// Returns a record of a kind, with placeholders as ids.
pub(in crate::documents) fn record(kind: Kind) -> Option<RecordAddress> {
    let own = Id::new(OWN)?;
    Some(match kind.schema().path_parent {
        Some(_) => RecordAddress::with_parent(kind, Id::new(HOME)?, own),
        None => RecordAddress::without_parent(kind, own),
    })
}

/// Returns the path of a target under the entry point as a template, and the names of its
/// parameters, the outer ones first.
///
/// `of` is the kind of the record in the path.
pub(in crate::documents) fn template(
    api: &Api,
    base: &BaseUrl,
    target: &Target,
    of: Option<Kind>,
) -> (String, Vec<String>) {
    let href = api.url(base, target);
    let path = href.strip_prefix(base.as_str()).unwrap_or(&href);
    let mut path = format!("/{path}");
    let mut names = Vec::new();
    let parts = of.map(|kind| [(HOME, kind.schema().path_parent), (OWN, Some(kind))]);
    for (id, kind) in parts.into_iter().flatten() {
        let Some(kind) = kind else { continue };
        if path.contains(id) {
            let name = format!("{}_id", kind.singular());
            path = path.replace(id, &format!("{{{name}}}"));
            names.push(name);
        }
    }
    (path, names)
}

/// Returns the schema of an address of a record of a kind.
pub(super) fn address_of(api: &Api, base: &BaseUrl, kind: Kind) -> Value {
    let plain = json!({ "type": "string", "format": "uri" });
    let Some(address) = record(kind) else {
        return plain;
    };
    let href = api.url(base, &Target::Record(address));
    if !href.contains(OWN) {
        return plain;
    }
    let id = "[A-Za-z0-9_\\-]{1,64}";
    let pattern = escaped(&href)
        .replace(&escaped(HOME), id)
        .replace(&escaped(OWN), id);
    json!({ "type": "string", "pattern": format!("^{pattern}$") })
}

/// Returns a text as a pattern that matches only this text.
fn escaped(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len());
    for letter in text.chars() {
        if r"\^$.*+?()[]{}|".contains(letter) {
            pattern.push('\\');
        }
        pattern.push(letter);
    }
    pattern
}
