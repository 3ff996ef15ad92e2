//! The least body with which a record can be made.

use serde_json::{Value, json};
use svc_declaration::DeclaredField;

use super::{Turn, body, sample};
use crate::check::Cx;

/// The least body with which a record of a kind can be made: what the interface needs, and what is declared required.
pub(crate) fn least(cx: &Cx, one: &str) -> Value {
    let mut least = match one {
        "question" => json!({"question_type": "MultiChoice",
            "responses": [{"key": "a1", "name": "yes"}, {"key": "b2", "name": "no"}]}),
        "tag" | "list" => json!({"name": cx.unique()}),
        // One of the responses of that question.
        "answer" if cx.declared().field("answer", "responses").is_some_and(|field| field.writable) => {
            json!({"responses": ["a1"]})
        }
        _ => json!({}),
    };
    let fields = cx.declared().fields(one).into_iter().flatten();
    let missing = |(name, field): &(&String, &DeclaredField)| field.required && least.get(name.as_str()).is_none();
    let missing: Vec<&String> = fields.filter(missing).map(|(name, _)| name).collect();
    if missing.is_empty() {
        return least;
    }
    let whole = body(cx.declared(), one, Turn::All(0), &cx.unique());
    let whole = whole.and_then(|whole| sample(&whole, cx.seed("least"))).unwrap_or_default();
    if let Some(members) = least.as_object_mut() {
        for name in missing {
            members.extend(whole.get(name).map(|value| (name.clone(), value.clone())));
        }
    }
    least
}

/// Members of one object over those of another.
pub(crate) fn with(base: &Value, over: &Value) -> Value {
    let mut base = base.clone();
    if let (Some(base), Some(over)) = (base.as_object_mut(), over.as_object()) {
        base.extend(over.clone());
    }
    base
}

/// An object without some of its members.
pub(crate) fn without(base: &Value, names: &[&str]) -> Value {
    let mut base = base.clone();
    if let Some(base) = base.as_object_mut() {
        base.retain(|name, _| !names.contains(&name.as_str()));
    }
    base
}
