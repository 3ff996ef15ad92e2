//! What checks of collections and addresses share: whether two representations are of one record and say the same.

use serde_json::{Map, Value, json};

use super::same::is_one;
use crate::answer::Record;
use crate::check::Cx;
use crate::client::Client;
use crate::generate::{self, Turn};
use crate::kinds::kind;
use crate::outcome::Stop;
use crate::values::{at, is_unset};

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

/// A total is the same in the answer to an update, after it, and in the collection of the entry point.
pub(super) async fn elsewhere(
    cx: &Cx,
    api: &Client<'_>,
    record: &Record,
    one: &str,
    totals: &[(&str, &str)],
) -> Result<(), Stop> {
    let (declared, Some(kind)) = (cx.declared(), kind(one)) else { return Ok(()) };
    if declared.behaves("totals_follow_later") || !declared.offers(one, "read") {
        return Ok(());
    }
    let alone = api.reread(record).await?;
    let mut shown = Vec::new();
    let field = declared.field(one, "origin_system");
    if declared.offers(one, "update") && field.is_some_and(|field| field.writable) {
        shown.push(("the answer to an update", api.change(&alone, &json!({ "origin_system": cx.unique() })).await?));
        shown.push(("a read after an update", api.reread(&alone).await?));
    }
    if declared.offers(one, "list") {
        let member = api.find_in(&api.collection(kind.many).await?, &alone).await?;
        shown.extend(member.map(|member| ("the collection", member)));
    }
    let number =
        |record: &Record, path: &str| at(&record.json, path).into_iter().map(Value::as_f64).collect::<Vec<_>>();
    let readable = |path: &str| declared.field(one, path).is_some_and(|field| field.readable);
    for (row, path) in totals.iter().filter(|(_, path)| readable(path)) {
        let expected = number(&alone, path);
        for (place, other) in &shown {
            let got = number(other, path);
            cx.holds(row, got == expected, || {
                format!("{path} is {expected:?} by its address, {got:?} in {place}: {}", other.short())
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
