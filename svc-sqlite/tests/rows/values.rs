//! Valid and invalid values of each field, and how a value is put into a body and found in a record.

use chrono::DateTime;
use serde_json::{Value, json};

use crate::fields::{Field, Shape, members};

/// Texts that a careless server damages: empty, long, beyond the basic plane, combining, right to left, quotes, controls.
pub(crate) const TEXTS: &[&str] = &[
    "plain",
    "",
    "  spaces stay  ",
    "quote \" backslash \\ slash / <b>markup</b> & 'apostrophe'",
    "tab\tline\nreturn\r end",
    "na\u{ef}ve \u{fc}ber",
    "e\u{301} is not \u{e9}",
    "\u{5e9}\u{5dc}\u{5d5}\u{5dd} \u{645}\u{631}\u{62d}\u{628}\u{627}",
    "\u{1f600}\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467} \u{10ffff}",
    "\u{7f}\u{200b}\u{feff}\u{2028}",
    "DROP TABLE people; -- %s ${x} {{y}}",
    "null",
];

/// A text of a few thousand characters.
pub(crate) fn long_text() -> String {
    "long \u{e9}\u{1f600} ".repeat(700)
}

/// Valid values of a field, the first one being an ordinary one. `seed` turns the texts so that all of them are tried.
pub(crate) fn valid(owner: &str, path: &str, shape: &Shape, seed: usize) -> Vec<Value> {
    if let Some(special) = special(owner, path) {
        return special;
    }
    match shape {
        Shape::Text => {
            let at = |offset: usize| TEXTS.get((seed + offset) % TEXTS.len()).copied().unwrap_or("plain");
            vec![json!("plain"), json!(at(0)), json!(at(5))]
        }
        Shape::Integer => vec![json!(3), json!(0), json!(2_147_483_648_i64)],
        Shape::Float | Shape::Number => vec![json!(12.5), json!(0), json!(1_234_567.89)],
        Shape::Boolean => vec![json!(true), json!(false)],
        Shape::DateTime => ["2026-01-05T09:00:00Z", "2026-07-01T12:30:00.25+02:00", "2028-02-29T23:59:59-11:30"]
            .map(Value::from)
            .to_vec(),
        Shape::Date => ["2026-12-31", "2028-02-29"].map(Value::from).to_vec(),
        Shape::Texts => vec![json!(["one", "two", "\u{1f600}"]), json!([]), json!(["two", "one"])],
        Shape::Enum(values) => values.iter().map(|value| json!(value)).collect(),
        Shape::Flex(values) => {
            values.iter().map(String::as_str).chain(["free form", "\u{fc}"]).map(Value::from).collect()
        }
        Shape::Object => vec![object(owner, path, 0)],
        Shape::Objects => {
            let element = format!("{path}[]");
            let list =
                |indices: &[usize]| Value::Array(indices.iter().map(|at| object(owner, &element, *at)).collect());
            vec![list(&[0]), list(&[]), list(&[2, 0, 1])]
        }
        Shape::Reference => Vec::new(),
    }
}

/// Values for which the interface has a narrower rule than the type.
fn special(owner: &str, path: &str) -> Option<Vec<Value>> {
    let texts = |list: &[&str]| Some(list.iter().copied().map(Value::from).collect());
    let numbers = |list: &[f64]| Some(list.iter().copied().map(Value::from).collect());
    let integers = |list: &[i64]| Some(list.iter().copied().map(Value::from).collect());
    let last = path.rsplit('.').next().unwrap_or_default();
    match (owner, last) {
        ("phone_number", "primary") => texts(&["true", "false"]),
        ("phone_number", "number") => texts(&["15550100101", "4915550100"]),
        ("email_address", "address") => texts(&["ada@example.org", "Gr\u{fc}n+x@EXAMPLE.org"]),
        ("person", "languages_spoken") => Some(vec![json!(["en", "pt-BR"]), json!([])]),
        ("person", "preferred_language") => texts(&["en", "zh-Hant-TW"]),
        ("person", "month") => integers(&[6, 1, 12]),
        ("person", "day") => integers(&[15, 1, 31]),
        ("person", "year") => integers(&[1984, 1000, 9999]),
        ("person", "handle") => texts(&["ada", "ada.lovelace"]),
        ("person", "gender_identity") => texts(&["agender", "\u{1f308}"]),
        ("person", "employer_address") => Some(vec![json!({
            "venue": "Hall", "address_lines": ["1 Main Street", "Floor 2"], "locality": "Springfield", "region": "IL",
            "postal_code": "62701", "country": "US", "language": "en", "status": "Verified",
            "location": {"latitude": 39.8, "longitude": -89.6, "accuracy": "Approximate"},
        })]),
        ("person", "custom_fields") => Some(vec![json!({"shoe size": "42", "\u{fc}": ""}), json!({"a.b[0]": "x"})]),
        ("question", "key") => texts(&["a1", "Z9"]),
        ("question", "name") if path != "name" => texts(&["first_choice", "B2"]),
        ("attendance", "title") => texts(&["Standard", "Balcony"]),
        ("attendance", "currency") => texts(&["USD"]),
        ("event", "limit") => integers(&[1000, 0]),
        ("event", "capacity" | "minutes") | ("outreach", "duration") => integers(&[1000, 0, 2_147_483_648]),
        ("attendance", "person") => {
            Some(vec![json!({"given_name": "Holder", "email_addresses": [{"address": "holder@example.org"}]})])
        }
        ("answer", "responses") => Some(vec![json!(["a1"]), json!(["b2", "a1"])]),
        (_, "country") => texts(&["US", "DE"]),
        (_, "currency") => texts(&["USD", "EUR"]),
        (_, "latitude") => numbers(&[51.5074, -90.0, 90.0]),
        (_, "longitude") => numbers(&[-0.1278, -180.0, 180.0]),
        _ => None,
    }
}

/// An object of a field with every member that a client can set; `at` is its position in an array.
fn object(owner: &str, path: &str, at: usize) -> Value {
    let (owner, path) = shared(owner, path);
    let mut object = json!({});
    for (name, field) in members(owner, path) {
        let skip = field.computed || (name == "primary" && at > 0);
        let (member_owner, member_path) = (owner, field.path.as_str());
        if skip {
            continue;
        }
        let values = valid(member_owner, member_path, &field.shape, at);
        if let Some(value) = values.into_iter().next() {
            object[name.as_str()] = match (owner, name.as_str()) {
                ("question", "key") => json!(format!("key{at}")),
                ("attendance", "title") => json!(if at == 0 { "Standard" } else { "Balcony" }),
                ("event", "title") => json!(format!("Level {at}")),
                ("email_address", "address") => json!(format!("ada{at}@example.org")),
                _ => value,
            };
        }
    }
    object
}

/// Where the members of an object are described: a shared object has an area of its own.
fn shared<'a>(owner: &'a str, path: &'a str) -> (&'a str, &'a str) {
    let last = path.rsplit('.').next().unwrap_or_default();
    match (owner, last) {
        (_, "referrer_data") => ("referrer_data", ""),
        (_, "share_options[]") => ("share_options", ""),
        ("advocacy_campaign", "target_list[]") | ("outreach", "targets[]") => ("target", ""),
        ("person" | "target", "postal_addresses[]") => ("postal_address", ""),
        ("person" | "target", "email_addresses[]") => ("email_address", ""),
        ("person" | "target", "phone_numbers[]") => ("phone_number", ""),
        ("event", "location") if path == "location.location" => ("postal_address", "location"),
        _ => (owner, path),
    }
}

/// Values of a wrong type, or outside a closed list.
pub(crate) fn invalid(field: &Field) -> Vec<Value> {
    let lenient = |name: &str| field.owner == "phone_number" && field.path == name;
    match &field.shape {
        Shape::Text if lenient("number") => vec![json!(true), json!("call me"), json!({})],
        Shape::Text if lenient("primary") => vec![json!(1), json!([])],
        Shape::Text => vec![json!(7), json!({"a": 1}), json!(["x"])],
        Shape::Integer => vec![json!("3"), json!(1.5), json!(true)],
        Shape::Float | Shape::Number => vec![json!("12.5"), json!(true), json!({})],
        Shape::Boolean => vec![json!("yes"), json!(1), json!([])],
        Shape::DateTime => vec![json!("yesterday"), json!(7), json!("2026-13-01T00:00:00Z"), json!("2026-01-05")],
        Shape::Date => vec![json!("31/12/2026"), json!(7), json!("2026-02-29")],
        Shape::Texts => vec![json!("one"), json!({}), json!(7)],
        Shape::Enum(_) => vec![json!("no such value"), json!(7)],
        Shape::Flex(_) => vec![json!(7), json!([])],
        Shape::Object => vec![json!("x"), json!([]), json!(7)],
        Shape::Objects => vec![json!("x"), json!({}), json!(7)],
        Shape::Reference => Vec::new(),
    }
}

/// A body with a value at a path; `[]` makes an array of one.
pub(crate) fn place(path: &str, value: &Value) -> Value {
    let (first, rest) = path.split_once('.').map_or((path, None), |(first, rest)| (first, Some(rest)));
    let value = rest.map_or_else(|| value.clone(), |rest| place(rest, value));
    match first.strip_suffix("[]") {
        Some(name) => json!({ name: [value] }),
        None => json!({ first: value }),
    }
}

/// The value at a path; `[]` is the first element.
pub(crate) fn find<'v>(record: &'v Value, path: &str) -> &'v Value {
    path.split('.').fold(record, |value, step| match step.strip_suffix("[]") {
        Some(name) => &value[name][0],
        None => &value[step],
    })
}

/// The name of a path in an error: `parties[0].active`.
pub(crate) fn spoken(path: &str) -> String {
    path.replace("[]", "[0]")
}

/// Whether what came back is what was sent: every member sent, arrays in order, numbers to nine digits, dates as instants.
pub(crate) fn same(sent: &Value, got: &Value, dates: bool) -> bool {
    match (sent, got) {
        (Value::Object(sent), Value::Object(got)) => sent.iter().all(|(name, value)| {
            let dates = (name.ends_with("_date") && name != "action_date") || dates;
            got.get(name).is_some_and(|got| same(value, got, dates))
        }),
        (Value::Array(sent), Value::Array(got)) => {
            sent.len() == got.len() && sent.iter().zip(got).all(|(sent, got)| same(sent, got, dates))
        }
        (Value::Number(sent), Value::Number(got)) => {
            let (sent, got) = (sent.as_f64().unwrap_or(f64::NAN), got.as_f64().unwrap_or(f64::NAN));
            (sent - got).abs() <= 1e-9 * sent.abs().max(1e-9)
        }
        (Value::String(sent), Value::String(got)) => {
            sent == got || (dates && instant(sent) == instant(got) && instant(got).is_some())
        }
        _ => sent == got,
    }
}

/// The instant that a text names.
pub(crate) fn instant(text: &str) -> Option<DateTime<chrono::FixedOffset>> {
    DateTime::parse_from_rfc3339(text).ok()
}
