//! Values within what a server declares of a field beyond its type, and values just beyond it (CAP-04).

use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::{Value, json};
use svc_declaration::DeclaredField;

use crate::fields::{Field, Shape};

/// The listed values that a server takes: of those of the catalogue the ones that it declares.
pub(super) fn values(field: &DeclaredField, known: Option<&Field>, shape: Shape) -> Vec<String> {
    let declared = || field.values.clone().unwrap_or_default();
    let Some(known) = known.filter(|known| !known.values.is_empty()) else { return declared() };
    let is_taken =
        |value: &&&str| shape != Shape::Enum || field.values.is_none() || declared().iter().any(|it| it == *value);
    let taken: Vec<String> = known.values.iter().filter(is_taken).map(|value| (*value).to_owned()).collect();
    // A flexible enum that is closed may have others.
    if taken.is_empty() { declared() } else { taken }
}

/// The value, brought into the declared range and length; of a list, each.
pub(super) fn fit(field: &DeclaredField, value: Value) -> Value {
    match value {
        Value::Number(number) => {
            let (least, most) = (bound(&field.minimum), bound(&field.maximum));
            let is_beyond =
                |bound: &(Value, f64), sign: f64| number.as_f64().is_some_and(|it| (it - bound.1) * sign > 0.0);
            let nearest =
                most.filter(|most| is_beyond(most, 1.0)).or_else(|| least.filter(|least| is_beyond(least, -1.0)));
            nearest.map_or(Value::Number(number), |(bound, _)| bound)
        }
        Value::String(text) => json!(shortened(field, text)),
        Value::Array(list) => list.into_iter().map(|value| fit(field, value)).collect(),
        other => other,
    }
}

/// A declared bound, as it is sent and as it is compared.
fn bound(text: &Option<String>) -> Option<(Value, f64)> {
    let value: Value = serde_json::from_str(text.as_deref()?).ok()?;
    let number = value.as_f64()?;
    Some((value, number))
}

/// As much of a text as fits, with what tells it from others; an address stays one.
fn shortened(field: &DeclaredField, text: String) -> String {
    let most = field.max_length.and_then(|most| usize::try_from(most).ok()).unwrap_or(usize::MAX);
    if text.chars().count() <= most {
        return text;
    }
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    let own = format!("{:x}", hasher.finish());
    let (front, end) = text.split_once('@').map_or((text.as_str(), String::new()), |(_, _)| ("", "@a.org".to_owned()));
    let room = most.saturating_sub(own.len()).saturating_sub(end.len());
    let whole = format!("{}{own}", front.chars().take(room).collect::<String>());
    whole.chars().take(most.saturating_sub(end.len())).collect::<String>() + &end
}

/// Values just beyond what is declared, each with what it is, and whether it is one of a list that is not taken.
pub(super) fn beyond(field: &DeclaredField, known: Option<&Field>) -> Vec<(&'static str, Value, bool)> {
    let step = |text: &Option<String>, by: i64| {
        let whole = text.as_deref()?.parse::<i64>().ok().and_then(|bound| bound.checked_add(by));
        whole.map(Value::from)
    };
    let long = field.max_length.filter(|most| *most < 10_000).and_then(|most| usize::try_from(most).ok());
    let long = long.map(|most| json!("x".repeat(most.saturating_add(1))));
    let listed = field.values.as_ref().filter(|_| field.kind == "enum").zip(known);
    let untaken =
        listed.and_then(|(taken, known)| known.values.iter().find(|value| !taken.iter().any(|it| it == *value)));
    let all = [
        ("more than its maximum", step(&field.maximum, 1), false),
        ("less than its minimum", step(&field.minimum, -1), false),
        ("too long", long.map(|text| if field.kind.ends_with("[]") { json!([text]) } else { text }), false),
        ("a value that is not declared", untaken.map(|value| json!(value)), true),
    ];
    all.into_iter().filter_map(|(what, value, is_list)| Some((what, value?, is_list))).collect()
}
