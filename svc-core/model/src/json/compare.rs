//! The comparison of values.

use super::{Json, Object};

/// Returns whether two values are equal. The order of members and the notation of numbers have no
/// meaning, and a member that is `null` is absent. The order of a list is a part of its value.
///
/// Requirements: UND-22, CRU-19.
#[must_use]
pub fn is_same(one: &Json, other: &Json) -> bool {
    match (one, other) {
        (Json::Number(one), Json::Number(other)) => {
            let amount = one.as_amount();
            one == other || amount.is_some() && amount == other.as_amount()
        }
        (Json::Array(one), Json::Array(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .zip(other)
                    .all(|(one, other)| is_same(one, other))
        }
        (Json::Object(one), Json::Object(other)) => has_same_members(one, other),
        _ => one == other,
    }
}

/// Returns whether the members of two objects are equal: see [`is_same`].
#[must_use]
pub fn has_same_members(one: &Object, other: &Object) -> bool {
    one == other || are_members_of(one, other) && are_members_of(other, one)
}

fn are_members_of(one: &Object, other: &Object) -> bool {
    one.iter()
        .all(|(name, value)| is_stored(value, other.get(name)))
}

/// Returns whether a value is equal to a stored one, or `null` if there is none.
#[must_use]
pub fn is_stored(sent: &Json, stored: Option<&Json>) -> bool {
    match stored.filter(|stored| !stored.is_null()) {
        Some(stored) => is_same(sent, stored),
        None => sent.is_null(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::JsonLimits;

    #[test]
    fn cru_19_notation_is_no_value_and_the_order_of_entries_is() {
        let same = |one: &str, other: &str| {
            let [one, other] = [one, other]
                .map(|text| Json::read(text.as_bytes(), &JsonLimits::default()).unwrap());
            is_same(&one, &other)
        };
        for (one, other) in [
            (
                r#"{"a":1,"b":[{"c":true,"d":"e"}]}"#,
                r#"{"b":[{"d":"e","c":true}],"a":1}"#,
            ),
            (r#"{"a":{"b":null}}"#, r#"{"a":{},"c":null}"#),
            ("5", "5.00"),
        ] {
            assert!(same(one, other) && same(other, one), "{one} {other}");
        }
        for (one, other) in [
            (r#"["a","b"]"#, r#"["b","a"]"#),
            (r#"["a"]"#, r#"["a","a"]"#),
            (r#"{"a":1}"#, r#"{"a":1,"b":1}"#),
            (r#"{"a":1}"#, r#"{"b":1}"#),
            ("[null]", "[]"),
            ("5", "5.01"),
            (r#""5""#, "5"),
        ] {
            assert!(!same(one, other) && !same(other, one), "{one} {other}");
        }
    }
}
