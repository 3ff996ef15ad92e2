//! What checks of collections and addresses share: whether two representations are of one record and say the same.

use serde_json::{Map, Value};

use super::same::is_one;
use crate::answer::Record;
use crate::check::Cx;
use crate::generate::{self, Turn};
use crate::outcome::Stop;
use crate::session::Client;
use crate::values::is_unset;

/// Whether records of a kind can be made that nobody else knows.
pub(super) fn can_make(cx: &Cx, one: &str) -> bool {
    let declared = cx.declared();
    declared.offers(one, "create") || (one == "person" && declared.helps("person_signup"))
}

/// Values for every field of a kind that a client may send; a name of its own where records are told apart by it.
pub(super) fn filled(cx: &Cx, one: &str) -> Value {
    let body = generate::body(cx.declared(), one, Turn::All(0), &cx.unique());
    let body = body.and_then(|body| generate::sample(&body, cx.seed(one)));
    let Some(Value::Object(mut members)) = body else { return Value::Object(Map::new()) };
    members.retain(|_, value| !is_unset(Some(value)));
    if matches!(one, "tag" | "list") {
        members.insert("name".to_owned(), cx.unique().into());
    }
    Value::Object(members)
}

/// Holds a representation against what its `self` leads to, field by field.
pub(super) async fn compare(cx: &Cx, api: &Client<'_>, rows: &[&str], record: &Record, one: &str) -> Result<(), Stop> {
    let answer = api.get(&record.own()?).await?;
    let alone = answer.record();
    let right = answer.status == 200 && answer.json.is_object() && is_one(&alone, record);
    for row in rows {
        cx.holds(row, right, || format!("`self` of the {one} {} leads to {answer}", record.short()));
    }
    if !right {
        return Ok(());
    }
    let differs = different(&record.json, &alone.json);
    if differs.is_empty() {
        return Ok(());
    }
    // What differs between two readings, too, says nothing.
    let again = api.get(&record.own()?).await?;
    let volatile = different(&alone.json, &again.json);
    for name in differs.iter().filter(|name| !volatile.contains(name)) {
        for row in rows {
            cx.holds(row, false, || {
                format!("{name} of a {one} is {} in one place and {} by its address", record[name], alone[name])
            });
        }
    }
    Ok(())
}

/// Names of members that two representations do not agree on; totals may follow later, links and embedded records vary.
fn different(one: &Value, other: &Value) -> Vec<String> {
    let (one, other) = (lasting(one), lasting(other));
    let names: std::collections::BTreeSet<&String> =
        [&one, &other].into_iter().filter_map(Value::as_object).flat_map(Map::keys).collect();
    let differs = |name: &&&String| {
        let (one, other) = (one.get(*name), other.get(*name));
        let within = |one: Option<&Value>, other| generate::restored(one.unwrap_or(&Value::Null), other);
        !(within(one, other) && within(other, one))
    };
    names.iter().filter(differs).map(|name| (*name).clone()).collect()
}

/// A value without what may change by itself: links, embedded records and totals, those of the levels of an event, too.
fn lasting(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let kept = members.iter().filter(|(name, _)| !name.starts_with('_') && !name.starts_with("total_"));
            Value::Object(kept.map(|(name, value)| (name.clone(), lasting(value))).collect())
        }
        Value::Array(list) => list.iter().map(lasting).collect(),
        other => other.clone(),
    }
}
