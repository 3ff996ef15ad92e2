//! JSON Merge Patch (RFC 7396), which defines the meaning of PUT.
//!
//! Requirements: CRU-17, UND-21.

use super::{Json, Object};

/// Applies a JSON Merge Patch (RFC 7396): `null` removes a member, an object is merged into its
/// member, and any other value replaces it.
///
/// Requirements: CRU-17, UND-21.
pub fn merge_patch(target: &mut Object, patch: &Object) {
    for (name, change) in patch {
        match change {
            Json::Null => {
                target.remove(name);
            }
            Json::Object(inner) => {
                if let Some(member) = target.get_mut(name) {
                    merge_object(member, inner);
                } else {
                    let mut member = Object::new();
                    merge_patch(&mut member, inner);
                    target.insert(name, member);
                }
            }
            other => {
                target.insert(name, other.clone());
            }
        }
    }
}

/// Applies a JSON Merge Patch of any type to a value of any type (RFC 7396, section 2).
///
/// Requirements: UND-21.
pub fn merge_value(target: &mut Json, patch: &Json) {
    match patch {
        Json::Object(patch) => merge_object(target, patch),
        other => *target = other.clone(),
    }
}

/// Merges into an object; any other value is treated as an empty object.
fn merge_object(target: &mut Json, patch: &Object) {
    if let Json::Object(object) = target {
        merge_patch(object, patch);
    } else {
        let mut object = Object::new();
        merge_patch(&mut object, patch);
        *target = Json::Object(object);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::json::JsonLimits;
    use crate::json::tests::{any_json, any_object};

    fn merged(target: &str, patch: &str) -> String {
        let read = |text: &str| Json::read(text.as_bytes(), &JsonLimits::default()).unwrap();
        let mut target = read(target);
        merge_value(&mut target, &read(patch));
        target.to_string()
    }

    #[test]
    fn und_21_the_table_of_rfc_7396() {
        for (target, patch, result) in [
            (r#"{"a":"b"}"#, r#"{"a":"c"}"#, r#"{"a":"c"}"#),
            (r#"{"a":"b"}"#, r#"{"b":"c"}"#, r#"{"a":"b","b":"c"}"#),
            (r#"{"a":"b"}"#, r#"{"a":null}"#, "{}"),
            (r#"{"a":"b","b":"c"}"#, r#"{"a":null}"#, r#"{"b":"c"}"#),
            (r#"{"a":["b"]}"#, r#"{"a":"c"}"#, r#"{"a":"c"}"#),
            (r#"{"a":"c"}"#, r#"{"a":["b"]}"#, r#"{"a":["b"]}"#),
            (
                r#"{"a":{"b":"c"}}"#,
                r#"{"a":{"b":"d","c":null}}"#,
                r#"{"a":{"b":"d"}}"#,
            ),
            (r#"{"a":[{"b":"c"}]}"#, r#"{"a":[1]}"#, r#"{"a":[1]}"#),
            (r#"["a","b"]"#, r#"["c","d"]"#, r#"["c","d"]"#),
            (r#"{"a":"b"}"#, r#"["c"]"#, r#"["c"]"#),
            (r#"{"a":"foo"}"#, "null", "null"),
            (r#"{"a":"foo"}"#, r#""bar""#, r#""bar""#),
            (r#"{"e":null}"#, r#"{"a":1}"#, r#"{"e":null,"a":1}"#),
            ("[1,2]", r#"{"a":"b","c":null}"#, r#"{"a":"b"}"#),
            ("{}", r#"{"a":{"bb":{"ccc":null}}}"#, r#"{"a":{"bb":{}}}"#),
        ] {
            assert_eq!(
                merged(target, patch),
                result,
                "UND-21: {target} with {patch}"
            );
        }
    }

    /// Returns the result of applying a patch to an empty target: the value without `null` members
    /// at any depth.
    fn applied_to_nothing(patch: &Json) -> Json {
        match patch {
            Json::Object(members) => Json::Object(
                members
                    .iter()
                    .filter(|(_, value)| !value.is_null())
                    .map(|(key, value)| (key, applied_to_nothing(value)))
                    .collect(),
            ),
            other => other.clone(),
        }
    }

    proptest! {
        #![proptest_config(crate::value::proptest_config::config())]

        #[test]
        fn und_21_twice_is_once(target in any_object(), patch in any_object()) {
            let mut once = target;
            merge_patch(&mut once, &patch);
            let mut twice = once.clone();
            merge_patch(&mut twice, &patch);
            prop_assert_eq!(once, twice, "UND-21");
        }

        #[test]
        fn und_21_an_empty_patch_changes_nothing(target in any_object()) {
            let mut same = target.clone();
            merge_patch(&mut same, &Object::new());
            prop_assert_eq!(same, target, "UND-21");
        }

        #[test]
        fn und_21_each_member_follows_its_rule(target in any_object(), patch in any_object()) {
            let mut result = target.clone();
            merge_patch(&mut result, &patch);
            for (key, change) in &patch {
                let mut expected = target.get(key).cloned().unwrap_or_default();
                merge_value(&mut expected, change);
                let expected = (!change.is_null()).then_some(expected);
                prop_assert_eq!(result.get(key), expected.as_ref(), "UND-21");
            }
            for (key, kept) in target.iter().filter(|(key, _)| !patch.contains(key)) {
                prop_assert_eq!(result.get(key), Some(kept), "UND-21: what is not sent remains unchanged");
            }
        }

        #[test]
        fn und_21_nothing_takes_all_but_null(patch in any_json()) {
            let mut result = Json::Null;
            merge_value(&mut result, &patch);
            prop_assert_eq!(result, applied_to_nothing(&patch), "UND-21");
        }
    }
}
