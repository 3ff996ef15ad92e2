//! Servers with one form of values: other forms are stored in it, or rejected.

use serde_json::{Map, Value, json};

use crate::interceptor::Interceptor;
use crate::link_map::ResourceKind;
use crate::transport::BufferedResponse;

/// Returns the one form of a text, which is a member of an object in `list`.
fn form(list: &str, name: &str, text: &str) -> String {
    let text = text.trim();
    match (list, name) {
        ("email_addresses", "address") => text.to_lowercase(),
        ("phone_numbers", "number") => text
            .chars()
            .filter(|one| one.is_ascii_digit() || *one == '+')
            .collect(),
        (_, "country" | "region") => text.to_uppercase(),
        _ => text.to_owned(),
    }
}

/// Calls a function with each text of a value: its path, the text, and its one form.
fn each_text(
    value: &mut Value,
    (list, name, path): (&str, &str, &str),
    act: &mut dyn FnMut(&str, &mut String, String),
) {
    match value {
        Value::String(text) => {
            let form = form(list, name, text);
            act(path, text, form);
        }
        Value::Array(all) => {
            for (at, one) in all.iter_mut().enumerate() {
                each_text(one, (name, name, &format!("{path}[{at}]")), act);
            }
        }
        Value::Object(members) => each_member(members, list, path, act),
        _ => {}
    }
}

fn each_member(
    members: &mut Map<String, Value>,
    list: &str,
    path: &str,
    act: &mut dyn FnMut(&str, &mut String, String),
) {
    for (name, value) in members.iter_mut().filter(|(name, _)| {
        // Their texts have no other form.
        !matches!(
            name.as_str(),
            "_links" | "identifiers" | "custom_fields" | "responses"
        )
    }) {
        let path = if path.is_empty() {
            name.clone()
        } else {
            format!("{path}.{name}")
        };
        each_text(value, (list, name, &path), act);
    }
}

/// Stores each text in its one form.
pub(super) fn stored() -> Interceptor {
    Interceptor::sent(|_, what, body, _| {
        if what.is_some() {
            each_member(body, "", "", &mut |_, text, form| *text = form);
        }
    })
}

/// Rejects a text that is not in its one form.
pub(super) fn refused() -> Interceptor {
    Interceptor::before(|call, sight| {
        let kind = sight.what(call).and_then(ResourceKind::kind)?;
        let mut wrong = Vec::new();
        each_member(&mut call.json()?, "", "", &mut |path, text, form| {
            if *text != form {
                wrong.push(path.to_owned());
            }
        });
        let description = json!({ "error_code": "OTHER_FORM", "description": "The value has another form.", "properties": wrong });
        (!wrong.is_empty())
            .then(|| BufferedResponse::rejected(|name| sight.rel(name), kind, &description))
    })
}
