use proptest::prelude::*;

use super::*;
use crate::page::{ListRequest, PageRequest};

const PERSON: [FilterField; 6] = [
    FilterField::Identifiers,
    FilterField::CreatedDate,
    FilterField::ModifiedDate,
    FilterField::EmailAddress,
    FilterField::FamilyName,
    FilterField::Tag,
];

fn read(text: &str) -> Result<Filter, FilterError> {
    Filter::parse(text, &PERSON, "acme")
}

fn plan(text: &str) -> Result<QueryPlan, FilterError> {
    read(text)
        .unwrap_or_else(|wrong| panic!("{text}: {wrong}"))
        .plan()
        .cloned()
        .map_err(FilterError::clone)
}

fn micros(text: &str) -> i64 {
    Timestamp::parse(text).unwrap().as_micros()
}

/// FLT-10: `and` binds tighter than `or`. Keywords are case-insensitive, quotes can be doubled, and
/// dates can be written without quotes.
#[test]
fn flt_10_the_grammar() {
    let tree = |text: &str| format!("{:?}", read(text).unwrap().tree());
    let and_first = tree("identifiers eq 'a:1' or identifiers eq 'a:2' and email_address ne 'x@y'");
    assert!(and_first.starts_with("Or([Compare("), "{and_first}");
    assert!(
        tree("(identifiers eq 'a:1' or identifiers eq 'a:2') and email_address ne 'x@y'")
            .starts_with("And([Or(")
    );
    let quoted = read("IDENTIFIERS In ('a:it''s', 'a:2')").unwrap();
    let FilterExpr::Compare(term) = quoted.tree() else {
        panic!("{quoted:?}")
    };
    assert_eq!(
        (term.field, term.operator, term.at),
        (FilterField::Identifiers, Operator::In, 1)
    );
    assert_eq!(
        term.values[0],
        FilterValue::Find(FindKey::Identifier(
            crate::value::Identifier::parse("a:it's").unwrap()
        ))
    );
    for date in [
        "'2026-11-01'",
        "2026-11-01",
        "2026-11-01T00:00:00Z",
        "'2026-11-01T01:00:00+01:00'",
        // A `+` that is not encoded is a space in a query.
        "'2026-11-01T01:00:00 01:00'",
        "2026-11-01T01:00:00 01:00",
        "2026-11-01T01:00:00 0100",
        "2026-11-01T01:00:00 01",
    ] {
        let range = plan(&format!("modified_date ge {date}")).unwrap();
        let QueryPlan::Range(range) = range else {
            panic!("{range:?}")
        };
        let day = SortKey::Date(micros("2026-11-01T00:00:00Z"));
        assert_eq!(range.from, day, "{date}");
    }
}

/// FLT-06, FLT-07: values are compared in the normal form of lookups. The server's own identifiers
/// become ids.
#[test]
fn flt_07_values_have_the_form_of_look_ups() {
    let points = |text| match plan(text).unwrap() {
        QueryPlan::Keys(points) => points,
        other => panic!("{other:?}"),
    };
    assert_eq!(
        points("email_address eq ' Ada@Example.ORG '"),
        [IndexKey::Find(FindKey::Email(String::from(
            "ada@example.org"
        )))]
    );
    assert_eq!(
        points("identifiers eq 'acme:17'"),
        [IndexKey::Id(Id::new("17").unwrap())]
    );
    assert_eq!(points("identifiers in ('a:1', 'a:1')").len(), 1);
    assert_eq!(
        points("Identifier eq 'a:1'"),
        points("identifiers eq 'a:1'")
    );
    assert_eq!(
        points("email_address in ('a@xn--bcher-kva.example', 'A@BÜCHER.example')").len(),
        1,
        "UND-46"
    );
}

/// FLT-02: a conjunction of comparisons of one date is a range with two ends.
#[test]
fn flt_02_a_range_of_one_date() {
    let (day, next) = (
        micros("2026-11-01T00:00:00Z"),
        micros("2026-11-02T00:00:00Z"),
    );
    for (text, from, to) in [
        (
            "gt '2026-11-01' and modified_date lt '2026-11-02'",
            day + 1,
            next - 1,
        ),
        (
            "ge '2026-11-01' and modified_date le '2026-11-02'",
            day,
            next,
        ),
        ("eq '2026-11-01'", day, day),
        (
            "ge '2026-11-01' and (modified_date ge '2026-11-02')",
            next,
            Timestamp::MAX.as_micros(),
        ),
        (
            "lt '2026-11-01' and modified_date gt '2026-11-02'",
            next + 1,
            day - 1,
        ),
    ] {
        let range = KeyRange {
            field: FilterField::ModifiedDate,
            from: SortKey::Date(from),
            to: SortKey::Date(to),
        };
        assert_eq!(
            plan(&format!("modified_date {text}")).unwrap(),
            QueryPlan::Range(range),
            "{text}"
        );
    }
}

/// FLT-04: a filter that needs a full scan is rejected, at the comparison that no index supports.
#[test]
fn flt_04_what_no_index_leads_to_is_refused() {
    for (text, at) in [
        ("email_address ne 'a@b'", 1),
        ("identifiers eq 'a:1' or modified_date gt '2026-11-01'", 25),
        (
            "modified_date gt '2026-11-01' or modified_date lt '2025-11-01'",
            1,
        ),
        (
            "modified_date gt '2026-11-01' and created_date gt '2026-11-01'",
            1,
        ),
        (
            "modified_date gt '2026-11-01' and modified_date ne '2026-12-01'",
            1,
        ),
        ("modified_date in ('2026-11-01', '2026-11-02')", 1),
    ] {
        assert_eq!(plan(text).unwrap_err().position, at, "{text}");
    }
    for text in [
        "modified_date gt '2026-11-01' and identifiers eq 'a:1'",
        "(identifiers eq 'a:1' and email_address ne 'a@b') or email_address in ('c@d')",
        "modified_date gt '2026-11-01' and (identifiers eq 'a:1' or email_address eq 'a@b')",
    ] {
        assert!(matches!(plan(text), Ok(QueryPlan::Keys(_))), "{text}");
    }
}

/// FLT-03: each error has its position and the allowed alternatives.
#[test]
fn flt_03_mistakes_are_told_with_their_place() {
    for (text, at, says) in [
        ("", 1, "Unexpected end"),
        ("identifiers", 11, "`eq`"),
        ("identifiers eq", 14, "crm:17"),
        ("identifiers eq 17", 16, "single quotes"),
        ("identifiers eq 'no colon'", 16, "crm:17"),
        ("identifiers gt 'a:1'", 13, "`eq`, `ne` or `in`"),
        (
            "given_name eq 'Ada'",
            1,
            "`identifiers`, `created_date`, `modified_date`, `email_address`, `family_name` or `tag`",
        ),
        ("modified_date gt 'yesterday'", 18, "2026-11-01"),
        ("modified_date gt '2026-02-30'", 18, "2026-11-01"),
        ("(identifiers eq 'a:1'", 21, "`)`"),
        ("identifiers eq 'a:1')", 21, "no matching"),
        ("identifiers eq 'a:1' identifiers eq 'a:2'", 22, "`and`"),
        ("identifiers eq 'a:1", 16, "closing quote"),
        ("identifiers in 'a:1'", 16, "`(`"),
        ("identifiers in ()", 17, "crm:17"),
        ("identifiers = 'a:1'", 13, "no meaning"),
        ("email_address eq ''", 18, "e-mail"),
        ("family_name sw ' '", 16, "a text in single quotes"),
        ("email_address sw 'ada'", 15, "`eq`, `ne` or `in`"),
        ("modified_date sw '2026'", 15, "`gt`"),
    ] {
        let wrong = read(text).unwrap_err();
        assert!(
            wrong.position == at && wrong.message.contains(says),
            "{text}: {wrong}"
        );
    }
    let many = vec!["'a:1'"; MAX_VALUES + 1].join(",");
    assert!(
        read(&format!("identifiers in ({many})"))
            .unwrap_err()
            .message
            .contains("100 values")
    );
    assert!(
        read(&"(".repeat(MAX_DEPTH + 1))
            .unwrap_err()
            .message
            .contains("nested")
    );
    assert!(
        read(&" ".repeat(MAX_FILTER_BYTES + 1))
            .unwrap_err()
            .message
            .contains("bytes")
    );
}

/// UND-42: the logged form of a filter contains none of its values.
#[test]
fn und_42_values_are_not_shown() {
    let filter =
        read("email_address eq 'ada@example.org' or identifiers in ('crm:17', 'acme:18')").unwrap();
    let shown = format!("{filter:?} {:?}", filter.plan().unwrap());
    assert!(
        !shown.contains("ada") && !shown.contains("17") && !shown.contains("18"),
        "{shown}"
    );
}

fn config(cases: u32) -> ProptestConfig {
    let rng_seed = proptest::test_runner::RngSeed::Fixed(20);
    ProptestConfig {
        failure_persistence: None,
        rng_seed,
        cases,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config(5_000))]

    /// FLT-03: 5 000 texts with a part of a filter cut, doubled or misplaced. Each invalid one is
    /// rejected at a position inside the text, and the error repeats nothing of it.
    #[test]
    fn flt_03_broken_texts_are_refused_in_their_place(
        words in proptest::collection::vec(prop_oneof![
            Just("identifiers"), Just("modified_date"), Just("eq"), Just("gt"), Just("in"), Just("and"), Just("or"),
            Just("("), Just(")"), Just(","), Just("'crm:secret'"), Just("'2026-11-01'"), Just("'secret"), Just("\u{e9}secret"),
        ], 0..12),
    ) {
        let text = words.join(" ");
        if let Err(wrong) = read(&text) {
            prop_assert!((1..=text.chars().count().max(1)).contains(&wrong.position), "{text}: {wrong}");
            prop_assert!(!wrong.message.contains("secret"), "{text}: {wrong}");
        } else {
            prop_assert!(words.len() >= 3, "{text}");
        }
    }

    /// FLT-03: any text is safe.
    #[test]
    fn flt_03_any_text_is_safe(text in "\\PC{0,60}") {
        if let Err(wrong) = read(&text) {
            prop_assert!((1..=text.chars().count().max(1)).contains(&wrong.position), "{text}: {wrong}");
        }
    }
}

/// FLT-14: a text alone is a range of the index of texts. With other comparisons it is a key.
#[test]
fn flt_14_a_text_is_a_range_or_a_key() {
    let range = |text: &str| match plan(text).unwrap() {
        QueryPlan::Range(KeyRange {
            field: FilterField::FamilyName,
            from: SortKey::Text(from),
            to: SortKey::Text(to),
        }) => (from, to),
        other => panic!("{text}: {other:?}"),
    };
    let love = "love".to_owned();
    assert_eq!(range("family_name eq 'LOVE'"), (love.clone(), love.clone()));
    let (from, to) = range("(family_name sw 'Love')");
    assert!(from == love && to.as_str() > "lovelace" && to.as_str() < "lovf");
    let keys = |text: &str| match plan(text).unwrap() {
        QueryPlan::Keys(keys) => keys,
        other => panic!("{text}: {other:?}"),
    };
    let key = |text: &str| TextKey::new(FilterField::FamilyName, text).unwrap();
    for text in [
        "family_name sw 'love' and modified_date gt '2026-11-01'",
        "created_date gt '2026-11-01' and family_name sw 'love' and family_name ne 'Lovett'",
    ] {
        assert_eq!(keys(text), [IndexKey::TextStart(key("Love"))], "{text}");
    }
    // Keys that find fewer records, in any order.
    for text in [
        "family_name sw 's' and identifiers eq 'crm:17'",
        "identifiers eq 'crm:17' and family_name sw 's'",
        "identifiers eq 'crm:17' and email_address eq 'a@b' and family_name eq 's'",
    ] {
        let found = keys(text);
        let is_identifier = |key: &IndexKey| matches!(key, IndexKey::Find(FindKey::Identifier(_)));
        assert!(
            found.len() == 1 && found.iter().all(is_identifier),
            "{text}"
        );
    }
    assert_eq!(
        keys("family_name sw 's' and identifiers in ('a:1', 'a:2')").len(),
        2
    );
    assert_eq!(
        keys("family_name in ('Love', 'Byron', 'LOVE')"),
        [IndexKey::Text(key("love")), IndexKey::Text(key("byron"))]
    );
    assert_eq!(plan("family_name ne 'love'").unwrap_err().position, 1);
    let long = "x".repeat(MAX_TEXT + 1);
    let wrong = read(&format!("family_name eq '{long}'")).unwrap_err();
    assert!(wrong.message.contains("more than 63 characters"), "{wrong}");
    let request = ListRequest::all(PageRequest::new(1, 25))
        .with_filter(read("family_name sw 'love'").unwrap())
        .with_order(FilterField::CreatedDate);
    assert_eq!(
        request.planned().unwrap_err().message,
        "A collection that is filtered by `family_name` is always ordered by it. Omit `order`."
    );
}

/// FLT-14: each text is a field of its kind's table.
#[test]
fn flt_14_texts_are_in_the_tables() {
    let fields = FilterField::of_texts(Kind::Person).collect::<Vec<_>>();
    assert_eq!(fields, [FilterField::FamilyName]);
    for field in FilterField::ALL {
        if let FilterSource::Text { kind, field } = field.source() {
            assert!(kind.schema().fields.field(field).is_some(), "{field}");
            assert!(kind.schema().has_collection(), "{field}");
        }
    }
}

/// FLT-13: the name of a container is the whole filter, and has no other order.
#[test]
fn flt_13_the_name_of_a_container_stands_alone() {
    let Ok(QueryPlan::Members(key)) = plan("tag eq 'o''clock'") else {
        panic!("no plan of members");
    };
    assert_eq!(
        (key.name.as_str(), key.membership.container),
        ("o'clock", Kind::Tag)
    );
    assert_eq!(key.membership.target(), Some(Kind::Person));
    for (text, at) in [
        ("tag eq 'a' and identifiers eq 'b:1'", 1),
        ("identifiers eq 'b:1' or (tag eq 'a')", 26),
        ("tag eq 'a' or tag eq 'b'", 1),
    ] {
        let wrong = plan(text).unwrap_err();
        assert_eq!(
            (wrong.position, wrong.message.as_str()),
            (
                at,
                "`tag` cannot be combined with other comparisons. Remove them."
            ),
            "{text}"
        );
    }
    for text in ["tag ne 'a'", "tag in ('a', 'b')", "tag gt 'a'"] {
        let wrong = read(text).unwrap_err();
        assert_eq!(
            (wrong.position, wrong.message.as_str()),
            (5, "`tag` does not support this operator. Expected `eq`."),
            "{text}"
        );
    }
    let filter = read("tag eq 'a'").unwrap();
    let request = ListRequest::all(PageRequest::new(1, 25))
        .with_filter(filter)
        .with_order(FilterField::CreatedDate);
    assert_eq!(
        request.planned().unwrap_err().message,
        "This filter returns the records in the order of their taggings. Omit `order`."
    );
}

/// The members of a container are listed under it, and link to records of another kind. The name of
/// the container is unique.
#[test]
fn flt_13_memberships_are_in_the_tables() {
    let mut found = 0;
    for field in FilterField::ALL {
        let Some(membership) = field.membership() else {
            continue;
        };
        found += 1;
        let members = membership.members.schema();
        assert_eq!(members.parent_kind(), Some(membership.container));
        assert!(membership.target().is_some(), "{}", field.as_str());
        assert!(membership.container.schema().unique_name().is_some());
        assert_eq!(field.as_str(), membership.container.singular());
    }
    assert!(found > 0);
}

/// MRG-08: the own identifier of a merged person is among those of the remaining one. Every comparison
/// with it also finds that person.
#[test]
fn mrg_08_an_own_identifier_also_finds_the_remaining_person() {
    let text = "identifiers eq 'acme:2' or identifiers in ('crm:1', 'acme:3')";
    let filter = read(text).unwrap().with_merged_people("acme");
    assert_eq!(filter.text(), text);
    let find = |text| IndexKey::Find(FindKey::Identifier(Identifier::parse(text).unwrap()));
    let keys = vec![
        IndexKey::Id(2.into()),
        find("acme:2"),
        find("crm:1"),
        IndexKey::Id(3.into()),
        find("acme:3"),
    ];
    assert_eq!(filter.plan().unwrap(), &QueryPlan::Keys(keys));
    let dates = read("modified_date gt '2026-11-01'").unwrap();
    assert_eq!(dates.with_merged_people("acme"), dates);
}
