use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::{json::JsonLimits, value::proptest_config::config};

fn object(text: &str) -> Object {
    let json = Json::read(text.as_bytes(), &JsonLimits::default()).unwrap();
    json.into_object().unwrap()
}

fn found(one: &str, other: &str) -> Option<(Strength, i32)> {
    let (one, other) = (object(one), object(other));
    let found = compare(&one, &other);
    assert_eq!(compare(&other, &one), found, "in both directions");
    found.map(|found| (found.strength, found.score))
}

const ADA: &str = r#""given_name": "Ada", "family_name": "Lovelace""#;

/// The consequences of the weights.
#[test]
fn dup_02_weights_decide() {
    let email = r#""email_addresses": [{"address": "ada@example.org"}]"#;
    let phone = r#""phone_numbers": [{"number": "441632960001"}]"#;
    let day = r#""birthdate": {"year": 1985, "month": 12, "day": 10}"#;
    let code = r#""postal_addresses": [{"postal_code": "SW1A 1AA", "country": "GB"}]"#;
    let other = r#""given_name": "Grace", "family_name": "Hopper""#;
    let other_day = r#""birthdate": {"year": 1986, "month": 12, "day": 10}"#;
    let strong = |score| Some((Strength::Strong, score));
    let weak = |score| Some((Strength::Weak, score));
    for (one, two, result) in [
        (
            format!("{{{ADA}, {email}}}"),
            format!("{{{ADA}, {email}}}"),
            strong(22),
        ),
        (format!("{{{email}}}"), format!("{{{email}}}"), strong(14)),
        // A family with one address.
        (
            format!("{{{ADA}, {email}}}"),
            format!("{{{other}, {email}}}"),
            strong(8),
        ),
        (
            format!("{{{ADA}, {email}, {day}}}"),
            format!("{{{other}, {email}, {other_day}}}"),
            None,
        ),
        // A family with one phone number.
        (
            format!("{{{ADA}, {phone}}}"),
            format!("{{{other}, {phone}}}"),
            None,
        ),
        (
            format!("{{{ADA}, {phone}}}"),
            format!("{{{ADA}, {phone}}}"),
            strong(18),
        ),
        (
            format!("{{{ADA}, {day}}}"),
            format!("{{{ADA}, {day}}}"),
            weak(16),
        ),
        (
            format!("{{{ADA}, {code}}}"),
            format!("{{{ADA}, {code}}}"),
            weak(14),
        ),
        (
            format!("{{{ADA}, {day}}}"),
            format!("{{{ADA}, {other_day}}}"),
            None,
        ),
        (format!("{{{ADA}}}"), format!("{{{ADA}}}"), None),
        // The same day and place, but not the same name.
        (
            format!("{{{ADA}, {day}, {code}}}"),
            format!(r#"{{"given_name": "Ada", "family_name": "Byron", {day}, {code}}}"#),
            None,
        ),
        (
            format!(r#"{{{ADA}, {code}, "honorific_suffix": "Jr."}}"#),
            format!(r#"{{{ADA}, {code}, "honorific_suffix": "Sr."}}"#),
            None,
        ),
        (
            format!(r#"{{{ADA}, {email}, "honorific_suffix": "Ph.D., Junior"}}"#),
            format!(r#"{{{ADA}, {email}, "honorific_suffix": "III"}}"#),
            strong(16),
        ),
    ] {
        assert_eq!(found(&one, &two), result, "{one} {two}");
    }
}

#[test]
fn dup_02_reasons_have_the_weights() {
    let one = object(&format!(
        r#"{{{ADA}, "email_addresses": [{{"address": "ada@example.org"}}], "postal_addresses": [{{"postal_code": "10115"}}]}}"#
    ));
    let other = object(&format!(
        r#"{{{ADA}, "email_addresses": [{{"address": "x@example.org"}}, {{"address": "ADA@EXAMPLE.org"}}],
           "postal_addresses": [{{"postal_code": "10117"}}]}}"#
    ));
    let found = compare(&one, &other).unwrap();
    let expected = [
        (Evidence::Email, 14),
        (Evidence::Name, 8),
        (Evidence::PostalCode, -1),
    ];
    assert_eq!((found.score, &*found.reasons), (21, &expected[..]));
}

/// Postal codes are compared with their countries, if both have one.
#[test]
fn dup_02_postal_codes_have_countries() {
    let person = |country: &str| {
        format!(r#"{{{ADA}, "postal_addresses": [{{"postal_code": "10115"{country}}}]}}"#)
    };
    let [none, de, fr] = ["", r#", "country": "DE""#, r#", "country": "FR""#].map(person);
    let weak = Some((Strength::Weak, 14));
    assert_eq!(found(&none, &de), weak);
    assert_eq!(found(&de, &de), weak);
    assert_eq!(found(&de, &fr), None);
}

#[test]
fn dup_01_keys_of_a_person() {
    let person = object(
        r#"{"given_name": "José", "family_name": "García", "birthdate": {"year": 1985, "month": 12, "day": 10},
            "email_addresses": [{"address": "Jose@Example.org"}, {"address": "no address"}],
            "phone_numbers": [{"number": "441632960001", "extension": "7"}, {"number": "01632 960001"}],
            "postal_addresses": [{"postal_code": "sw1a 1aa", "country": "GB"}, {"postal_code": "SW1A1AA"}, {"postal_code": "n/a"}],
            "profiles": [{"provider": "Example", "handle": "@Jose"}, {"provider": "Example"}]}"#,
    );
    let keys: Vec<(i64, String)> = person_keys(&person)
        .into_iter()
        .map(|key| (key.kind.code(), key.text))
        .collect();
    let expected = [
        (1, "example @jose"),
        (2, "jose@example.org"),
        (3, "441632960001;7"),
        (4, "garcia jose\n1985-12-10"),
        (5, "garcia jose\nSW1A1AA"),
    ];
    assert_eq!(keys, expected.map(|(kind, text)| (kind, text.to_owned())));
    assert_eq!(person_keys(&object("{}")), []);
    assert_eq!(
        person_keys(&object(r#"{"email_addresses": 1, "birthdate": []}"#)),
        []
    );
    for kind in PersonKeyKind::ALL {
        assert_eq!(PersonKeyKind::from_code(kind.code()), Some(kind));
    }
    assert_eq!(PersonKeyKind::from_code(6), None);
}

fn person() -> impl Strategy<Value = String> {
    let select = |values: &'static [&str]| prop::sample::select(values);
    (
        prop::option::of(select(&["Ada", "Grace", "José"])),
        prop::option::of(select(&["Lovelace", "Hopper", "Ada"])),
        prop::option::of(1..3),
        prop::collection::vec(select(&["a@x.org", "A@x.org", "b@x.org", "c@"]), 0..3),
        prop::collection::vec(select(&["441632960001", "4401632960001", "1"]), 0..2),
        prop::collection::vec(select(&["10115", "D-10115", "n/a"]), 0..3),
        prop::option::of(select(&["Jr.", "Sr.", "Ph.D."])),
    )
        .prop_map(|(given, family, day, emails, phones, codes, suffix)| {
            let mut members = Vec::new();
            members.extend(given.map(|it| format!(r#""given_name": "{it}""#)));
            members.extend(family.map(|it| format!(r#""family_name": "{it}""#)));
            members.extend(suffix.map(|it| format!(r#""honorific_suffix": "{it}""#)));
            members.extend(
                day.map(|it| format!(r#""birthdate": {{"year": 1985, "month": 12, "day": {it}}}"#)),
            );
            let list = |name: &str, member: &str, values: Vec<&str>| {
                let entry = |value| format!(r#"{{"{member}": "{value}"}}"#);
                let values: Vec<String> = values.into_iter().map(entry).collect();
                format!(r#""{name}": [{}]"#, values.join(", "))
            };
            members.push(list("email_addresses", "address", emails));
            members.push(list("phone_numbers", "number", phones));
            members.push(list("postal_addresses", "postal_code", codes));
            format!("{{{}}}", members.join(", "))
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..config() })]

    /// A store compares only people with a common key, and misses no pair.
    #[test]
    fn dup_01_people_of_a_pair_share_a_key(one in person(), other in person()) {
        let (one, other) = (object(&one), object(&other));
        let found = compare(&one, &other);
        prop_assert_eq!(compare(&other, &one), found.clone());
        if let Some(found) = found {
            let keys: BTreeSet<PersonKey> = person_keys(&one).into_iter().collect();
            prop_assert!(person_keys(&other).iter().any(|key| keys.contains(key)));
            prop_assert_eq!(found.score, found.reasons.iter().map(|(_, weight)| weight).sum::<i32>());
        }
    }
}

/// Evidence that clients cannot read neither makes a pair nor changes one.
#[test]
fn dup_03_hidden_evidence_is_not_compared() {
    let person = |day: u8| {
        let fields = format!(
            r#"{{{ADA}, "email_addresses": [{{"address": "ada@example.org"}}], "birthdate": {{"year": 1985, "month": 12, "day": {day}}}}}"#
        );
        ComparedPerson::of(&object(&fields))
    };
    let without = |day, hidden: &[Evidence]| {
        let found = person(1).compare_without(&person(day), hidden);
        found.map(|found| (found.strength, found.score))
    };
    assert_eq!(without(1, &[]), Some((Strength::Strong, 30)));
    assert_eq!(without(1, &[Evidence::Email]), Some((Strength::Weak, 16)));
    assert_eq!(without(1, &[Evidence::Email, Evidence::Name]), None);
    assert_eq!(without(2, &[]), Some((Strength::Strong, 14)));
    let hidden = [Evidence::Birthdate];
    assert_eq!(without(2, &hidden), Some((Strength::Strong, 22)));
    for evidence in Evidence::ALL {
        let paths = evidence.values().iter();
        let schema = crate::model::Kind::Person.schema().fields;
        assert!(paths.clone().all(|path| schema.position(path[0]).is_some()));
    }
}
