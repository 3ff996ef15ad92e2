//! Compares two normalized documents, field by field.

use serde_json::Value;

/// Returns the differences between two documents. Each has the path of the field with the old and
/// the new value, such as `body.title: "A" -> "B"`.
#[must_use]
pub fn differences(before: &Value, after: &Value) -> Vec<String> {
    let mut found = Vec::new();
    compare("", before, after, &mut found);
    found
}

fn compare(path: &str, before: &Value, after: &Value, found: &mut Vec<String>) {
    match (before, after) {
        (Value::Object(old), Value::Object(new)) => {
            let below = |name: &str| {
                if path.is_empty() {
                    name.to_owned()
                } else {
                    format!("{path}.{name}")
                }
            };
            for (name, old) in old {
                match new.get(name) {
                    Some(new) => compare(&below(name), old, new, found),
                    None => found.push(format!("{}: {} -> gone", below(name), short(old))),
                }
            }
            for (name, new) in new.iter().filter(|(name, _)| !old.contains_key(*name)) {
                found.push(format!("{}: new, {}", below(name), short(new)));
            }
        }
        (Value::Array(old), Value::Array(new)) if old.len() == new.len() => {
            for (place, (old, new)) in old.iter().zip(new).enumerate() {
                compare(&format!("{path}[{place}]"), old, new, found);
            }
        }
        _ if before == after => {}
        _ => found.push(format!("{path}: {} -> {}", short(before), short(after))),
    }
}

/// Returns a value on one line, shortened.
fn short(value: &Value) -> String {
    let text = value.to_string();
    let cut: String = text.chars().take(120).collect();
    if cut.len() < text.len() {
        format!("{cut}...")
    } else {
        cut
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::differences;

    #[test]
    fn each_difference_is_told_by_its_field() {
        let before =
            json!({"body": {"a": 1, "b": {"c": "x"}, "d": [1, {"e": 2}], "f": [1]}, "status": 200});
        let after =
            json!({"body": {"a": 1, "b": {"c": "y", "g": null}, "d": [1, {"e": 3}], "f": [1, 2]}});
        let expected = [
            r#"body.b.c: "x" -> "y""#,
            "body.b.g: new, null",
            "body.d[1].e: 2 -> 3",
            "body.f: [1] -> [1,2]",
            "status: 200 -> gone",
        ];
        assert_eq!(differences(&before, &after), expected);
        assert_eq!(differences(&before, &before), Vec::<String>::new());
        assert_eq!(differences(&json!([]), &json!({})), [": [] -> {}"]);
    }
}
