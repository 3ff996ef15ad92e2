//! Lists and other values in the fields of records.

use crate::json::{Json, Object};

/// Returns a list of a JSON object, or an empty one if there is none.
pub(super) fn list<'a>(fields: &'a Object, name: &str) -> &'a [Json] {
    fields
        .get(name)
        .and_then(Json::as_array)
        .unwrap_or_default()
}

/// Returns whether two values are the same. The order of entries is a part of a list, but a client may
/// send the members of an object in another order.
pub(super) fn is_same(one: &Json, other: &Json) -> bool {
    match (one, other) {
        (Json::Array(some), Json::Array(others)) => {
            some.len() == others.len()
                && some
                    .iter()
                    .zip(others)
                    .all(|(one, other)| is_same(one, other))
        }
        (Json::Object(some), Json::Object(others)) => has_same_members(some, others),
        _ => one == other,
    }
}

/// Returns whether two objects have the same members, in any order.
pub(super) fn has_same_members(one: &Object, other: &Object) -> bool {
    one == other
        || one.len() == other.len()
            && one
                .iter()
                .all(|(name, value)| other.get(name).is_some_and(|other| is_same(value, other)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::JsonLimits;

    #[test]
    fn cru_19_the_order_of_members_is_no_value_and_that_of_entries_is() {
        let same = |one: &str, other: &str| {
            let [one, other] = [one, other]
                .map(|text| Json::read(text.as_bytes(), &JsonLimits::default()).unwrap());
            is_same(&one, &other)
        };
        assert!(same(
            r#"{"a":1,"b":[{"c":null,"d":"e"}]}"#,
            r#"{"b":[{"d":"e","c":null}],"a":1}"#
        ));
        for (one, other) in [
            (r#"["a","b"]"#, r#"["b","a"]"#),
            (r#"["a"]"#, r#"["a","a"]"#),
            (r#"{"a":1}"#, r#"{"a":1,"b":1}"#),
            (r#"{"a":1}"#, r#"{"b":1}"#),
            (r#"{"a":null}"#, "{}"),
            ("5", "5.00"),
            (r#""5""#, "5"),
        ] {
            assert!(!same(one, other) && !same(other, one), "{one} {other}");
        }
    }
}
