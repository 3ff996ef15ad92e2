//! Indented JSON for people, with short values on one line.

use std::fmt::Write as _;

use svc_core::read::{Json, write_string};

/// The maximum number of characters of a value on one line.
const ONE_LINE: usize = 76;

/// Returns the value as indented JSON.
pub(super) fn pretty(value: &Json) -> String {
    let mut out = String::new();
    write(value, 0, &mut out);
    out
}

fn write(value: &Json, depth: usize, out: &mut String) {
    let line = one_line(value);
    let is_nested = match value {
        Json::Array(items) => items
            .iter()
            .any(|item| matches!(item, Json::Object(_) | Json::Array(_))),
        Json::Object(members) => members
            .iter()
            .any(|(_, member)| matches!(member, Json::Object(_) | Json::Array(_))),
        _ => false,
    };
    let width = line.len().saturating_add(depth.saturating_mul(2));
    if width <= ONE_LINE && (!is_nested || depth > 0) {
        out.push_str(&line);
        return;
    }
    match value {
        Json::Array(items) => {
            let items = items.iter().map(|item| (None, item));
            lines('[', ']', items, depth, out);
        }
        Json::Object(members) => {
            let members = members.iter().map(|(name, member)| (Some(name), member));
            lines('{', '}', members, depth, out);
        }
        _ => out.push_str(&line),
    }
}

fn lines<'a>(
    open: char,
    close: char,
    items: impl Iterator<Item = (Option<&'a str>, &'a Json)>,
    depth: usize,
    out: &mut String,
) {
    out.push(open);
    let inner = depth.saturating_add(1);
    for (place, (name, item)) in items.enumerate() {
        out.push_str(if place == 0 { "\n" } else { ",\n" });
        indent(inner, out);
        if let Some(name) = name {
            let _ = write!(out, "{}: ", quoted(name));
        }
        write(item, inner, out);
    }
    out.push('\n');
    indent(depth, out);
    out.push(close);
}

fn indent(depth: usize, out: &mut String) {
    out.extend(std::iter::repeat_n("  ", depth));
}

fn one_line(value: &Json) -> String {
    let list = |items: Vec<String>| items.join(", ");
    match value {
        Json::Array(items) => format!("[{}]", list(items.iter().map(one_line).collect())),
        Json::Object(members) if members.is_empty() => "{}".to_owned(),
        Json::Object(members) => {
            let member = |(name, member)| format!("{}: {}", quoted(name), one_line(member));
            format!("{{ {} }}", list(members.iter().map(member).collect()))
        }
        other => other.to_string(),
    }
}

fn quoted(text: &str) -> String {
    let mut out = Vec::new();
    write_string(text, &mut out);
    String::from_utf8(out).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use svc_core::read::JsonLimits;

    #[test]
    fn what_is_indented_reads_as_it_was() {
        let text = r#"{"a":[{"b":"\"x","c":[]},1.50],"d":{},"e":{"f":{"g":[1,2,{"h":null}]}},"i":"a longer text of some eighty characters, so that it does not stand on one line"}"#;
        let value = Json::read(text.as_bytes(), &JsonLimits::default()).unwrap();
        let indented = pretty(&value);
        assert_eq!(
            Json::read(indented.as_bytes(), &JsonLimits::default()).unwrap(),
            value
        );
        assert_eq!(indented.lines().count(), 6, "{indented}");
    }
}
