//! Matching a posted person, and merging it into an existing one.
//!
//! Requirements: HLP-04.

use proptest::prelude::*;
use svc_core::{
    helper::{DefaultMatching, MatchKey, MergePolicy, PersonMatching, emails, merge_person},
    model::Kind,
    read::{Json, JsonLimits, Object},
    value::{Identifier, forms},
};

use crate::support::{
    config,
    generate::{self, Dice},
};

fn object(text: &str) -> Object {
    Json::read(text.as_bytes(), &JsonLimits::default())
        .expect("JSON")
        .into_object()
        .expect("an object")
}

fn merged(known: &str, posted: &str, merge: MergePolicy) -> String {
    let mut known = object(known);
    merge_person(&mut known, &object(posted), merge);
    Json::Object(known).to_string()
}

/// Checks how a caller with a key changes a known person, and how an anonymous caller does that may
/// fill empty fields.
fn assert_merge(known: &str, posted: &str, with_key: &str, filled: &str) {
    let compact = |text: &str| Json::Object(object(text)).to_string();
    assert_eq!(
        merged(known, posted, MergePolicy::Replace),
        compact(with_key),
        "HLP-04: {known} with {posted}"
    );
    assert_eq!(
        merged(known, posted, MergePolicy::FillEmpty),
        compact(filled),
        "HLP-04: {known} with {posted}, anonymous caller"
    );
    for nothing in [MergePolicy::KeepExisting, MergePolicy::AlwaysCreate] {
        assert_eq!(
            merged(known, posted, nothing),
            compact(known),
            "HLP-04: {nothing:?} changes nothing"
        );
    }
}

#[test]
fn hlp_04_scalars_replace_or_fill() {
    assert_merge(
        r#"{"given_name":"A","source":""}"#,
        r#"{"given_name":"B","source":"web","employer":"E"}"#,
        r#"{"given_name":"B","source":"web","employer":"E"}"#,
        r#"{"given_name":"A","source":"web","employer":"E"}"#,
    );
    // `false` and `0` are values, not gaps; `null` sets nothing.
    assert_merge(
        r#"{"parties":[{"active":false}],"birthdate":{"year":0}}"#,
        r#"{"given_name":null,"birthdate":{"year":1990}}"#,
        r#"{"parties":[{"active":false}],"birthdate":{"year":1990}}"#,
        r#"{"parties":[{"active":false}],"birthdate":{"year":0}}"#,
    );
}

#[test]
fn hlp_04_an_identity_of_a_stranger_does_not_overwrite_the_gender() {
    assert_merge(
        r#"{"gender":"Female"}"#,
        r#"{"gender_identity":"trans man"}"#,
        r#"{"gender":"Female","gender_identity":"trans man"}"#,
        r#"{"gender":"Female"}"#,
    );
    for (known, posted, after) in [
        (
            r#"{"gender":"Female"}"#,
            "Female",
            r#"{"gender":"Female","gender_identity":"Female"}"#,
        ),
        (
            r#"{"gender":"Other"}"#,
            "Fluid",
            r#"{"gender":"Other","gender_identity":"Fluid"}"#,
        ),
        ("{}", "Male", r#"{"gender_identity":"Male"}"#),
    ] {
        let posted = format!(r#"{{"gender_identity":"{posted}"}}"#);
        assert_eq!(
            merged(known, &posted, MergePolicy::FillEmpty),
            after,
            "HLP-04: {known} with {posted}, anonymous caller"
        );
    }
}

#[test]
fn hlp_04_objects_merge_member_by_member_but_not_for_a_stranger() {
    let known = r#"{"birthdate":{"year":1990,"month":2},"custom_fields":{"a":"1"}}"#;
    assert_merge(
        known,
        r#"{"birthdate":{"month":3,"day":4},"custom_fields":{"a":"2","b":"3"}}"#,
        r#"{"birthdate":{"year":1990,"month":3,"day":4},"custom_fields":{"a":"2","b":"3"}}"#,
        known,
    );
    assert_merge(
        "{}",
        r#"{"custom_fields":{"gdpr_consent":"yes"}}"#,
        r#"{"custom_fields":{"gdpr_consent":"yes"}}"#,
        "{}",
    );
}

#[test]
fn hlp_04_an_empty_object_or_array_changes_nothing() {
    let known = r#"{"birthdate":{"year":1990},"ethnicities":["a"],"email_addresses":[{"address":"a@x.org"}]}"#;
    let posted = r#"{"birthdate":{},"ethnicities":[],"email_addresses":[],"profiles":[],"employer_address":{"location":{}}}"#;
    let after = r#"{"birthdate":{"year":1990},"ethnicities":["a"],"email_addresses":[{"address":"a@x.org"}],"employer_address":{"location":{}}}"#;
    assert_merge(known, posted, after, known);
}

#[test]
fn hlp_04_other_arrays_are_replaced_as_a_whole() {
    let known = r#"{"ethnicities":["a","b"],"languages_spoken":[]}"#;
    assert_merge(
        known,
        r#"{"ethnicities":["c"],"languages_spoken":["en"]}"#,
        r#"{"ethnicities":["c"],"languages_spoken":["en"]}"#,
        known,
    );
}

#[test]
fn hlp_04_email_addresses_merge_by_address_without_regard_to_case() {
    let known = r#"{"email_addresses":[{"address":"Ada@X.org","address_type":"work"},{"address":"b@x.org"}]}"#;
    assert_merge(
        known,
        r#"{"email_addresses":[{"address":" aDA@x.ORG","address_type":"personal"},{"address":"c@x.org"}]}"#,
        r#"{"email_addresses":[{"address":"Ada@X.org","address_type":"personal"},{"address":"b@x.org"},{"address":"c@x.org"}]}"#,
        known,
    );
}

#[test]
fn hlp_04_phone_numbers_merge_by_number_and_postal_addresses_by_their_lines() {
    let known = r#"{"phone_numbers":[{"number":"15550100"}],"postal_addresses":[{"address_lines":["1 Main St "," Flat 2"]}]}"#;
    assert_merge(
        known,
        r#"{"phone_numbers":[{"number":"15550100","extension":"7"}],"postal_addresses":[{"address_lines":["1 MAIN ST","flat 2"],"locality":"L"}]}"#,
        r#"{"phone_numbers":[{"number":"15550100","extension":"7"}],"postal_addresses":[{"address_lines":["1 Main St "," Flat 2"],"locality":"L"}]}"#,
        known,
    );
}

#[test]
fn hlp_04_a_stranger_may_add_a_postal_address_but_not_as_the_primary_one() {
    assert_merge(
        r#"{"postal_addresses":[{"address_lines":["1 Main St"]}]}"#,
        r#"{"postal_addresses":[{"address_lines":["2 High St"],"primary":true,"status":"verified","locality":"L"}]}"#,
        r#"{"postal_addresses":[{"address_lines":["1 Main St"]},{"address_lines":["2 High St"],"primary":true,"status":"verified","locality":"L"}]}"#,
        r#"{"postal_addresses":[{"address_lines":["1 Main St"]},{"address_lines":["2 High St"],"locality":"L"}]}"#,
    );
}

#[test]
fn hlp_04_a_posted_primary_takes_the_mark_but_not_for_a_stranger() {
    let known =
        r#"{"email_addresses":[{"address":"a@x.org","primary":true},{"address":"b@x.org"}]}"#;
    assert_merge(
        known,
        r#"{"email_addresses":[{"address":"b@x.org","primary":true}]}"#,
        r#"{"email_addresses":[{"address":"a@x.org","primary":false},{"address":"b@x.org","primary":true}]}"#,
        known,
    );
    // Text stays text (RES-phone_number-01).
    let known = r#"{"phone_numbers":[{"number":"1","primary":"false"},{"number":"2"}]}"#;
    assert_merge(
        known,
        r#"{"phone_numbers":[{"number":"1","primary":"true"},{"number":"3"}]}"#,
        r#"{"phone_numbers":[{"number":"1","primary":"true"},{"number":"2"},{"number":"3"}]}"#,
        known,
    );
    let known = r#"{"phone_numbers":[{"number":"1","primary":"true"}]}"#;
    assert_merge(
        known,
        r#"{"phone_numbers":[{"number":"2","primary":true}]}"#,
        r#"{"phone_numbers":[{"number":"1","primary":"false"},{"number":"2","primary":true}]}"#,
        known,
    );
}

#[test]
fn hlp_04_a_stranger_never_changes_a_subscription_or_a_consent() {
    let known = r#"{"email_addresses":[{"address":"a@x.org","status":"unsubscribed"},{"address":"b@x.org"}]}"#;
    assert_merge(
        known,
        r#"{"email_addresses":[{"address":"A@x.org","status":"subscribed"},{"address":"b@x.org","status":"subscribed"}]}"#,
        r#"{"email_addresses":[{"address":"a@x.org","status":"subscribed"},{"address":"b@x.org","status":"subscribed"}]}"#,
        known,
    );
    let known = r#"{"phone_numbers":[{"number":"1"}]}"#;
    assert_merge(
        known,
        r#"{"phone_numbers":[{"number":"1","do_not_call":false,"sms_capable":true}]}"#,
        r#"{"phone_numbers":[{"number":"1","do_not_call":false,"sms_capable":true}]}"#,
        known,
    );
}

#[test]
fn hlp_04_an_entry_without_address_is_added_once() {
    let known = r#"{"email_addresses":[{"primary":true}]}"#;
    let again = r#"{"email_addresses":[{"address_type":"work"}]}"#;
    let after = r#"{"email_addresses":[{"primary":true},{"address_type":"work"}]}"#;
    assert_merge(known, again, after, known);
    assert_merge(after, again, after, after);
}

#[test]
fn hlp_04_what_a_person_is_looked_up_by() {
    let person = object(
        r#"{"email_addresses":[{"address":"B@X.org "},{"address":"a@x.org","primary":true},{},{"address":"c@x.org","primary":"true"}]}"#,
    );
    assert_eq!(
        emails(&person).collect::<Vec<_>>(),
        ["a@x.org", "c@x.org", "b@x.org"],
        "HLP-04: the primary address first"
    );
    let identifiers = ["s:1", "s:2"].map(|text| Identifier::parse(text).unwrap());
    let keys = DefaultMatching.keys(&identifiers, &person);
    let expected = [
        MatchKey::Identifier(identifiers[0].clone()),
        MatchKey::Identifier(identifiers[1].clone()),
    ];
    assert_eq!(keys[..2], expected, "HLP-04: identifiers first");
    assert_eq!(keys[2], MatchKey::Email("a@x.org".to_owned()), "HLP-04");
    assert_eq!(
        DefaultMatching.keys(&[], &object(r#"{"given_name":"A"}"#)),
        [],
        "HLP-04: a name is not a key"
    );
    assert_eq!(forms::match_form(" Ada@X.ORG "), "ada@x.org", "HLP-04");
    assert_eq!(
        forms::match_form("mi\u{212a}e@x.org"),
        "mi\u{212a}e@x.org",
        "HLP-04: a similar letter is a different one"
    );
}

fn primaries(person: &Object, list: &str) -> usize {
    let entries = person
        .get(list)
        .and_then(Json::as_array)
        .unwrap_or_default();
    entries
        .iter()
        .filter_map(Json::as_object)
        .filter(|entry| svc_core::helper::is_primary(entry))
        .count()
}

proptest! {
    #![proptest_config(config(400))]

    #[test]
    fn hlp_04_laws_of_merging(known in any::<u64>(), posted in any::<u64>()) {
        let known = generate::body(&mut Dice::new(known), Kind::Person);
        let posted = generate::body(&mut Dice::new(posted), Kind::Person);
        for merge in [MergePolicy::Replace, MergePolicy::KeepExisting, MergePolicy::FillEmpty] {
            let mut once = known.clone();
            merge_person(&mut once, &posted, merge);
            for list in ["email_addresses", "phone_numbers", "postal_addresses"] {
                prop_assert!(primaries(&once, list) <= 1, "RES-email_address-02 {list}: {once:?}");
            }
            let mut same = known.clone();
            merge_person(&mut same, &Object::new(), merge);
            prop_assert_eq!(&same, &known, "HLP-04: an empty person changes nothing");
            let mut twice = once.clone();
            merge_person(&mut twice, &posted, merge);
            if merge != MergePolicy::Replace {
                prop_assert_eq!(&twice, &once, "HLP-04: a repeated merge changes nothing");
            }
            for (name, value) in &known {
                prop_assert!(once.contains(name), "HLP-04: no field is removed: {name}");
                if merge != MergePolicy::Replace && !value.is_empty_value() && name != "postal_addresses" {
                    prop_assert_eq!(once.get(name), Some(value), "HLP-04: an anonymous caller overwrites nothing");
                }
            }
        }
    }
}
