use proptest::prelude::*;

use super::*;
use crate::{json::JsonLimits, model::Kind, value::proptest_config::config};

fn object(text: &str) -> Object {
    let json = Json::read(text.as_bytes(), &JsonLimits::default()).unwrap();
    json.into_object().unwrap()
}

fn merge(remaining: &str, merged: &str) -> MergedPerson {
    merge_people(&object(remaining), &object(merged), ConsentMerge::Each)
}

/// Returns the paths of the overruled values, each with both values.
fn overruled(result: &MergedPerson) -> Vec<String> {
    let text = |value: Option<&Json>| value.map_or("-".to_owned(), ToString::to_string);
    let entries = result.overruled.iter();
    entries
        .map(|it| {
            format!(
                "{}: {} / {}",
                it.property,
                text(it.remaining.as_ref()),
                text(it.merged.as_ref())
            )
        })
        .collect()
}

fn assert_merge(remaining: &str, merged: &str, fields: &str, lost: &[&str]) {
    let result = merge(remaining, merged);
    let found = Json::Object(result.fields.clone());
    assert!(
        is_same(&found, &Json::Object(object(fields))),
        "{remaining} and {merged}: {found}"
    );
    assert_eq!(overruled(&result), lost, "{remaining} and {merged}");
}

#[test]
fn scalars_of_the_remaining_person_stay_unless_they_are_empty() {
    assert_merge(
        r#"{"given_name":"Ada","source":"","custom_fields":{"a":"1","b":""}}"#,
        r#"{"given_name":"A.","source":"web","family_name":"King","custom_fields":{"a":"2","b":"3","c":"4"}}"#,
        r#"{"given_name":"Ada","source":"web","family_name":"King","custom_fields":{"a":"1","b":"3","c":"4"}}"#,
        &[
            r#"custom_fields.a: "1" / "2""#,
            r#"given_name: "Ada" / "A.""#,
        ],
    );
}

#[test]
fn pairs_of_fields_come_from_one_person() {
    assert_merge(
        r#"{"gender":"Other","employer":""}"#,
        r#"{"gender_identity":"woman","employer":"E","employer_address":{"locality":"Paris"}}"#,
        r#"{"gender":"Other","employer":"E","employer_address":{"locality":"Paris"}}"#,
        &[r#"gender_identity: - / "woman""#],
    );
    assert_merge(
        r#"{"employer":"E"}"#,
        r#"{"employer":"F","employer_address":{"locality":"Paris"}}"#,
        r#"{"employer":"E"}"#,
        &[
            r#"employer: "E" / "F""#,
            r#"employer_address: - / {"locality":"Paris"}"#,
        ],
    );
}

#[test]
fn a_date_of_birth_is_merged_as_a_whole() {
    for (remaining, merged, result, is_lost) in [
        (
            r#"{"year":1990}"#,
            r#"{"year":1990,"month":2}"#,
            r#"{"year":1990,"month":2}"#,
            false,
        ),
        (
            r#"{"year":1990,"month":2}"#,
            r#"{"year":1990}"#,
            r#"{"year":1990,"month":2}"#,
            false,
        ),
        (
            r#"{"year":1990}"#,
            r#"{"year":1991,"month":2}"#,
            r#"{"year":1990}"#,
            true,
        ),
        (
            r#"{"year":1990}"#,
            r#"{"month":2}"#,
            r#"{"year":1990}"#,
            true,
        ),
        (
            r#"{"year":1990}"#,
            r#"{"month":2,"day":3}"#,
            r#"{"month":2,"day":3}"#,
            true,
        ),
        ("{}", r#"{"month":2}"#, r#"{"month":2}"#, false),
    ] {
        let date = |date: &str| format!(r#"{{"birthdate":{date}}}"#);
        let merged_person = merge(&date(remaining), &date(merged));
        let found = Json::Object(merged_person.fields.clone()).to_string();
        assert_eq!(found, date(result), "{remaining} and {merged}");
        assert_eq!(
            !merged_person.overruled.is_empty(),
            is_lost,
            "{remaining} and {merged}"
        );
    }
}

#[test]
fn lists_contain_the_entries_of_both() {
    assert_merge(
        r#"{"languages_spoken":["fr","en"],"parties":[{"identification":"Green","active":true}]}"#,
        r#"{"languages_spoken":["en","de"],"parties":[{"identification":"Green","active":false},{"identification":"Green","last_verified_date":"2020-01-01T00:00:00Z"}]}"#,
        r#"{"languages_spoken":["fr","en","de"],"parties":[{"identification":"Green","active":true},{"identification":"Green","last_verified_date":"2020-01-01T00:00:00Z"}]}"#,
        &["parties[0].active: true / false"],
    );
    assert_merge(
        r#"{"phone_numbers":[{"number":"4401632960001","do_not_call":false,"sms_capable":true}]}"#,
        r#"{"phone_numbers":[{"number":"441632960001","do_not_call":true,"sms_capable":false,"operator":"A"},{"number":"441632960001","extension":"7"}]}"#,
        r#"{"phone_numbers":[{"number":"4401632960001","do_not_call":true,"sms_capable":true,"operator":"A"},{"number":"441632960001","extension":"7"}]}"#,
        &[
            r#"phone_numbers[0].number: "4401632960001" / "441632960001""#,
            "phone_numbers[0].sms_capable: true / false",
        ],
    );
    assert_merge(
        r#"{"profiles":[{"provider":"Example","handle":"Ada"}]}"#,
        r#"{"profiles":[{"provider":"example","handle":"ada","url":"https://x.org"},{"provider":"example","id":"1"}]}"#,
        r#"{"profiles":[{"provider":"Example","handle":"Ada","url":"https://x.org"},{"provider":"example","id":"1"}]}"#,
        &[
            r#"profiles[0].provider: "Example" / "example""#,
            r#"profiles[0].handle: "Ada" / "ada""#,
        ],
    );
}

#[test]
fn a_postal_address_has_the_state_of_its_last_verification() {
    let place = |members: &str| {
        format!(
            r#"{{"postal_addresses":[{{"address_lines":["1 Main St."],"postal_code":"12345","country":"US"{members}}}]}}"#
        )
    };
    let (early, late) = (
        r#","status":"Verified","last_verified_date":"2020-01-01T00:00:00Z""#,
        r#","status":"Past","last_verified_date":"2024-01-01T00:00:00Z""#,
    );
    for (remaining, merged, result, lost) in [
        (early, late, late, 2),
        (late, early, late, 2),
        ("", early, early, 0),
        (r#","status":"Bad""#, late, late, 1),
        (
            r#","status":"Bad""#,
            r#","status":"Past""#,
            r#","status":"Bad""#,
            1,
        ),
        (late, "", late, 0),
    ] {
        let found = merge(&place(remaining), &place(merged));
        let expected = Json::Object(object(&place(result)));
        assert!(
            is_same(&Json::Object(found.fields), &expected),
            "{remaining} and {merged}"
        );
        assert_eq!(found.overruled.len(), lost, "{remaining} and {merged}");
    }
    let other = merge(
        r#"{"postal_addresses":[{"address_lines":["1 Main St"],"postal_code":"12345","country":"US"}]}"#,
        r#"{"postal_addresses":[{"address_lines":["1 MAIN ST"],"postal_code":"54321","country":"US"}]}"#,
    );
    let places = other
        .fields
        .get("postal_addresses")
        .and_then(Json::as_array);
    assert_eq!(places.map(<[Json]>::len), Some(2), "another postal code");
}

#[test]
fn the_primary_entry_of_the_remaining_person_stays_primary() {
    let list = |entries: &str| format!(r#"{{"email_addresses":[{entries}]}}"#);
    for (remaining, merged, result) in [
        (
            r#"{"address":"a@x.org","primary":true}"#,
            r#"{"address":"b@x.org","primary":true}"#,
            r#"{"address":"a@x.org","primary":true},{"address":"b@x.org","primary":false}"#,
        ),
        (
            r#"{"address":"a@x.org"}"#,
            r#"{"address":"b@x.org","primary":true},{"address":"c@x.org","primary":true}"#,
            r#"{"address":"a@x.org"},{"address":"b@x.org","primary":true},{"address":"c@x.org","primary":false}"#,
        ),
        (
            r#"{"address":"a@x.org","primary":false}"#,
            r#"{"address":"a@x.org","primary":true}"#,
            r#"{"address":"a@x.org","primary":true}"#,
        ),
    ] {
        let found = Json::Object(merge(&list(remaining), &list(merged)).fields);
        assert_eq!(found.to_string(), list(result));
    }
    let flag = |flag: &str| {
        format!(r#"{{"phone_numbers":[{{"number":"1{flag}2025550100","primary":"true"}}]}}"#)
    };
    let found = Json::Object(merge(&flag(""), &flag("1")).fields).to_string();
    assert!(found.ends_with(r#""primary":"false"}]}"#), "{found}");
}

/// C-2: each pair of statuses has the stricter one, and a change of a consent is listed.
#[test]
fn of_two_statuses_the_stricter_one_remains() {
    let statuses = [
        None,
        Some("subscribed"),
        Some("bouncing"),
        Some("unsubscribed"),
        Some("spam complaints"),
    ];
    let list = |address: &str, status: Option<&str>| {
        let status = status.map_or_else(String::new, |it| format!(r#","status":"{it}""#));
        object(&format!(
            r#"{{"email_addresses":[{{"address":"{address}"{status}}}]}}"#
        ))
    };
    let status = |result: &MergedPerson, place: usize| {
        let list = result
            .fields
            .get("email_addresses")
            .unwrap()
            .as_array()
            .unwrap();
        let entry = list.get(place).unwrap().as_object().unwrap();
        text(entry, "status").map(str::to_owned)
    };
    for (rank, remaining) in statuses.into_iter().enumerate() {
        for (other_rank, merged) in statuses.into_iter().enumerate() {
            let strictest = statuses[rank.max(other_rank)].map(str::to_owned);
            for consent in [ConsentMerge::Each, ConsentMerge::Strictest] {
                let case = format!("{remaining:?} and {merged:?}, {consent:?}");
                let result = merge_people(
                    &list("a@x.org", remaining),
                    &list("A@x.org", merged),
                    consent,
                );
                assert_eq!(status(&result, 0), strictest, "{case}");
                let tightened = other_rank > rank.max(1);
                assert_eq!(!result.tightened.is_empty(), tightened, "{case}");
                // The other spelling of the address is also overruled.
                let is_overruled = other_rank < rank && merged.is_some();
                assert_eq!(
                    result.overruled.len(),
                    1 + usize::from(is_overruled),
                    "{case}"
                );

                let result = merge_people(
                    &list("a@x.org", remaining),
                    &list("b@x.org", merged),
                    consent,
                );
                let strict = |own: usize, other: usize| {
                    let is_tightened = consent == ConsentMerge::Strictest && own < 2 && other > 2;
                    statuses[if is_tightened { 3 } else { own }].map(str::to_owned)
                };
                assert_eq!(status(&result, 0), strict(rank, other_rank), "{case}");
                assert_eq!(status(&result, 1), strict(other_rank, rank), "{case}");
            }
        }
    }
}

#[test]
fn a_list_that_is_too_long_is_an_error() {
    let list = |from: usize, to: usize| {
        let entries = (from..to).map(|place| Json::from(format!("e{place}")));
        let list = ("ethnicities", Json::Array(entries.collect()));
        [list].into_iter().collect::<Object>()
    };
    let limits = ContentLimits::default().entries(5);
    for (remaining, merged, is_allowed) in [
        (list(0, 3), list(1, 5), true),
        (list(0, 3), list(2, 6), false),
        (list(0, 7), list(2, 6), true),
        (list(0, 7), list(2, 8), false),
    ] {
        let result = merge_people(&remaining, &merged, ConsentMerge::Each);
        assert_eq!(result.check_limits(&remaining, &limits).is_ok(), is_allowed);
    }
}

/// Each group, list or object of the table exists, and each list of people has a rule.
#[test]
fn the_table_has_each_list_of_a_person() {
    let schema = Kind::Person.schema();
    let named = |name: &str| FIELDS.iter().any(|(names, _)| names.contains(&name));
    for name in FIELDS.iter().flat_map(|(names, _)| *names) {
        assert!(
            schema.fields.fields.iter().any(|field| field.name == *name),
            "{name}"
        );
    }
    for field in schema.fields.fields {
        let is_scalar = !matches!(
            field.ty,
            crate::schema::ValueType::Array(_) | crate::schema::ValueType::Object(_)
        );
        assert!(
            is_scalar || field.is_computed() || named(field.name),
            "{}",
            field.name
        );
    }
}

/// A person that depends on bytes.
struct Dice(Vec<u8>);

impl Dice {
    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        let byte = usize::from(self.0.pop().unwrap_or_default());
        from[byte % from.len()]
    }

    /// Returns the entries that are not empty.
    fn list(&mut self, entries: &[&[&str]], members: &[&[&str]]) -> String {
        let mut list = Vec::new();
        let mut has_primary = false;
        for entry in entries {
            let entry = self.pick(entry);
            let mut text: Vec<String> = members
                .iter()
                .map(|member| self.pick(member).to_owned())
                .collect();
            text.insert(0, entry.to_owned());
            if !has_primary && self.pick(&["", "", "1"]) == "1" {
                has_primary = true;
                text.push(r#""primary":true"#.to_owned());
            }
            text.retain(|member| !member.is_empty());
            if !entry.is_empty() {
                list.push(format!("{{{}}}", text.join(",")));
            }
        }
        format!("[{}]", list.join(","))
    }

    fn person(&mut self) -> Object {
        let mut members: Vec<String> = Vec::new();
        for values in [
            &[
                "",
                r#""given_name":"Ada""#,
                r#""given_name":"A.""#,
                r#""given_name":"""#,
            ][..],
            &["", r#""source":"web""#, r#""source":"paper""#],
            &["", r#""gender":"Female""#, r#""gender":"Other""#],
            &[
                "",
                r#""gender_identity":"woman""#,
                r#""gender_identity":"fluid""#,
            ],
            &["", r#""employer":"E""#, r#""employer":"F""#],
            &["", r#""employer_address":{"locality":"Paris"}"#],
            &[
                "",
                r#""birthdate":{"year":1990}"#,
                r#""birthdate":{"year":1990,"month":2}"#,
                r#""birthdate":{"month":2,"day":3}"#,
                r#""birthdate":{"year":1991}"#,
            ],
            &[
                "",
                r#""ethnicities":["a","b"]"#,
                r#""ethnicities":["b","c"]"#,
                r#""ethnicities":[]"#,
            ],
            &[
                "",
                r#""custom_fields":{"a":"1","b":"2"}"#,
                r#""custom_fields":{"a":"2","c":""}"#,
                r#""custom_fields":{"c":"3"}"#,
            ],
            &[
                "",
                r#""parties":[{"identification":"Green","active":true}]"#,
                r#""parties":[{"identification":"Green","active":false},{"identification":"Red"}]"#,
            ],
            &[
                "",
                r#""profiles":[{"provider":"x","id":"1"}]"#,
                r#""profiles":[{"provider":"X","id":"1","url":"https://x.org"},{"provider":"x","handle":"Ada"}]"#,
            ],
        ] {
            members.push(self.pick(values).to_owned());
        }
        let emails = self.list(
            &[
                &["", r#""address":"a@x.org""#, r#""address":"A@X.org""#],
                &[
                    "",
                    r#""address":"b@bücher.example""#,
                    r#""address":"b@xn--bcher-kva.example""#,
                ],
                &["", r#""address":"c@x.org""#],
            ],
            &[
                &[
                    "",
                    r#""status":"subscribed""#,
                    r#""status":"bouncing""#,
                    r#""status":"unsubscribed""#,
                    r#""status":"spam complaints""#,
                ],
                &["", r#""address_type":"work""#, r#""address_type":"other""#],
            ],
        );
        let phones = self.list(
            &[
                &[
                    "",
                    r#""number":"441632960001""#,
                    r#""number":"4401632960001""#,
                ],
                &[
                    "",
                    r#""number":"441632960001","extension":"7""#,
                    r#""number":"441632960001","extension":"07""#,
                ],
            ],
            &[
                &["", r#""do_not_call":true"#, r#""do_not_call":false"#],
                &["", r#""sms_capable":true"#, r#""sms_capable":false"#],
                &["", r#""operator":"O""#],
            ],
        );
        let places = self.list(
            &[
                &[
                    "",
                    r#""address_lines":["1 Main St."],"postal_code":"12345""#,
                    r#""address_lines":["1 MAIN ST"],"postal_code":"12345""#,
                ],
                &["", r#""locality":"Paris""#],
            ],
            &[
                &["", r#""status":"Verified""#, r#""status":"Past""#],
                &[
                    "",
                    r#""last_verified_date":"2020-01-01T00:00:00Z""#,
                    r#""last_verified_date":"2024-01-01T00:00:00Z""#,
                ],
                &["", r#""venue":"V""#, r#""venue":"W""#],
            ],
        );
        members.push(format!(r#""email_addresses":{emails}"#));
        members.push(format!(r#""phone_numbers":{phones}"#));
        members.push(format!(r#""postal_addresses":{places}"#));
        members.retain(|member| !member.is_empty());
        object(&format!("{{{}}}", members.join(",")))
    }
}

fn people() -> impl Strategy<Value = Object> {
    prop::collection::vec(any::<u8>(), 64).prop_map(|bytes| Dice(bytes).person())
}

/// Returns the lists of the table, with their rules.
fn lists() -> impl Iterator<Item = (&'static str, &'static EntryMerge)> {
    FIELDS.iter().flat_map(|(names, rule)| {
        let entries = match rule {
            FieldMerge::Entries(entries) => Some(*entries),
            _ => None,
        };
        names.iter().filter_map(move |name| Some((*name, entries?)))
    })
}

fn entries<'a>(person: &'a Object, name: &str) -> &'a [Json] {
    person
        .get(name)
        .and_then(Json::as_array)
        .unwrap_or_default()
}

/// Returns the members of an entry that have a value; none for a text.
fn members(entry: &Json) -> Vec<(&str, &Json)> {
    let members = entry.as_object().into_iter().flatten();
    members
        .filter(|(name, value)| *name != "primary" && !value.is_empty_value())
        .collect()
}

/// Returns whether the property has a value, or the value is listed.
fn is_listed(
    result: &MergedPerson,
    property: &PropertyPath,
    stored: Option<&Json>,
    value: &Json,
) -> bool {
    let is_it = |it: Option<&Json>| it.is_some_and(|it| is_same(it, value));
    stored.is_some_and(|stored| is_same(stored, value))
        || result.overruled.iter().any(|it| {
            it.property == *property && (is_it(it.remaining.as_ref()) || is_it(it.merged.as_ref()))
        })
        || result
            .tightened
            .iter()
            .any(|it| it.property == *property && is_it(it.from.as_ref()))
}

/// Removes marks of entries that are not primary, and the date of birth.
fn comparable(person: &Object) -> Json {
    let mut person = person.clone();
    person.remove("birthdate");
    for (name, _) in lists() {
        if let Some(list) = person.get_mut(name) {
            list.objects_mut()
                .filter(|entry| !is_primary(entry))
                .for_each(|entry| _ = entry.remove("primary"));
        }
    }
    person.retain(|_, value| !value.is_empty_value());
    Json::Object(person)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..config() })]

    /// C-1, C-2 and C-3: no entry or value of either person is lost, no consent is looser, and what the
    /// fields do not contain is listed.
    #[test]
    fn invariants_of_merging(remaining in people(), merged in people(), is_strict in any::<bool>()) {
        let consent = if is_strict { ConsentMerge::Strictest } else { ConsentMerge::Each };
        let result = merge_people(&remaining, &merged, consent);
        for (name, rule) in lists() {
            let stored = entries(&result.fields, name);
            for entry in entries(&remaining, name).iter().chain(entries(&merged, name)) {
                let key = key_of(entry, rule);
                let place = stored.iter().position(|it| key_of(it, rule) == key);
                prop_assert!(place.is_some(), "C-1: {name} {entry}");
                let place = place.unwrap();
                let now = stored[place].as_object();
                if let (Some(ConsentMember { name: member, rank }), Some(now), Some(was)) = (rule.consent, now, entry.as_object()) {
                    prop_assert!(rank(now.get(member)) >= rank(was.get(member)), "C-2: {name} {entry}");
                }
                for (member, value) in members(entry) {
                    let property = PropertyPath::member(name).push_index(place).push_member(member.to_owned());
                    let stored = now.and_then(|now| now.get(member));
                    prop_assert!(is_listed(&result, &property, stored, value), "C-3: {property} {value}");
                }
            }
            let marked = |person: &Object| entries(person, name).iter().filter(|it| it.as_object().is_some_and(is_primary)).count();
            prop_assert_eq!(marked(&result.fields), marked(&remaining).max(marked(&merged)), "{}", name);
        }
        for person in [&remaining, &merged] {
            for (name, value) in person {
                if value.is_empty_value() || lists().any(|(list, _)| list == name) {
                    continue;
                }
                let property = PropertyPath::member(name.to_owned());
                let now = result.fields.get(name);
                match value {
                    Json::Object(all) if name == "custom_fields" => for (member, value) in all {
                        let property = property.clone().push_member(member.to_owned());
                        let now = now.and_then(Json::as_object).and_then(|now| now.get(member));
                        prop_assert!(value.is_empty_value() || is_listed(&result, &property, now, value), "C-3: {property}");
                    },
                    Json::Object(all) if name == "birthdate" => {
                        let is_part = now.and_then(Json::as_object).is_some_and(|now| all.iter().all(|(name, value)| now.get(name) == Some(value)));
                        prop_assert!(is_part || is_listed(&result, &property, now, value), "C-3: {property}");
                    }
                    _ => prop_assert!(is_listed(&result, &property, now, value), "C-3: {property}"),
                }
            }
        }
    }

    /// The result does not depend on which two of three people are merged first, apart from dates of
    /// birth that contradict each other.
    #[test]
    fn merging_is_associative(a in people(), b in people(), c in people()) {
        let merge = |one: &Object, other: &Object| merge_people(one, other, ConsentMerge::Each).fields;
        let (left, right) = (merge(&merge(&a, &b), &c), merge(&a, &merge(&b, &c)));
        prop_assert!(is_same(&comparable(&left), &comparable(&right)), "{} / {}", comparable(&left), comparable(&right));
        let date = |person: &Object| person.get("birthdate").cloned().and_then(|date| date.into_object().ok()).unwrap_or_default();
        let dates = [date(&a), date(&b), date(&c)];
        let agrees = |one: &Object, other: &Object| one.iter().all(|(name, value)| other.get(name).is_none_or(|it| it == value));
        if dates.iter().all(|one| dates.iter().all(|other| agrees(one, other))) {
            prop_assert_eq!(left.get("birthdate"), right.get("birthdate"));
        }
    }

    /// A person that was merged before changes nothing.
    #[test]
    fn a_repeated_merge_changes_nothing(remaining in people(), merged in people()) {
        let once = merge_people(&remaining, &merged, ConsentMerge::Strictest).fields;
        let twice = merge_people(&once, &merged, ConsentMerge::Strictest);
        prop_assert_eq!(&twice.fields, &once);
        prop_assert!(twice.tightened.is_empty());
    }
}
