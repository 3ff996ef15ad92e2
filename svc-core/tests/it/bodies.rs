//! Bodies of requests as drafts: what is parsed, and that all problems are reported together.

use svc_core::{
    BaseUrl, ErrorCode, Problem,
    error::PropertyPath,
    field_set::FieldSet,
    link::{ConventionalLayout, Dialect},
    model::{Attendance, Donation, Event, FundraisingPage, Kind, Message, Person, Question},
    raw::RawDraft,
    read::{BodyReader, ContentLimits, Json, JsonLimits, LinkReader},
    value::Timestamp,
};

fn draft(kind: Kind, body: &str) -> (RawDraft, Vec<Problem>) {
    let (base, dialect, limits) = (
        BaseUrl::default(),
        Dialect::default(),
        JsonLimits::default(),
    );
    let links = LinkReader {
        base: &base,
        layout: &ConventionalLayout,
        dialect: &dialect,
    };
    let bodies = BodyReader {
        links,
        namespace: "demo",
        limits: &limits,
        caps: &ContentLimits::ANONYMOUS,
        now: Timestamp::from_micros(0),
        reports_ignored: false,
    };
    let writable = match kind {
        Kind::Question => FieldSet::<Question>::writable().bits(),
        Kind::Event => FieldSet::<Event>::writable().bits(),
        Kind::Message => FieldSet::<Message>::writable().bits(),
        Kind::Attendance => FieldSet::<Attendance>::writable().bits(),
        Kind::Donation => FieldSet::<Donation>::writable().bits(),
        Kind::FundraisingPage => FieldSet::<FundraisingPage>::writable().bits(),
        _ => FieldSet::<Person>::writable().bits(),
    };
    let object = bodies.object(body.as_bytes()).expect("an object");
    let (draft, report) = bodies.draft(kind, writable, &object, None);
    (draft, report.problems)
}

/// Returns the draft and the problems of its fields. Other tests check required links.
fn fields(kind: Kind, body: &str) -> (RawDraft, Vec<Problem>) {
    let (draft, mut problems) = draft(kind, body);
    problems.retain(|problem| problem.properties != [PropertyPath::link("person")]);
    (draft, problems)
}

fn properties(problems: &[Problem]) -> Vec<String> {
    problems
        .iter()
        .flat_map(|problem| problem.properties.iter().map(ToString::to_string))
        .collect()
}

#[test]
fn cru_16_null_on_create_means_absent() {
    let (draft, problems) = draft(
        Kind::Person,
        r#"{"family_name":"L","given_name":null,"birthdate":{"year":null,"month":2}}"#,
    );
    assert_eq!(problems, []);
    assert!(!draft.fields.contains("given_name"));
    assert_eq!(
        Json::Object(draft.fields).to_vec(),
        br#"{"family_name":"L","birthdate":{"month":2}}"#
    );
}

#[test]
fn err_39_rules_between_fields_see_what_is_wrong_inside_them() {
    let body = r#"{"question_type":"Paragraph","responses":[7,{"key":"a","name":"no good"},{"key":"a","name":"b"}]}"#;
    let (_, problems) = draft(Kind::Question, body);
    let expected = [
        "responses[0]",
        "responses[1].name",
        "responses[2].key",
        "question_type",
        "responses",
    ]
    .map(str::to_owned);
    assert_eq!(properties(&problems), expected);
}

#[test]
fn res_phone_number_03_only_whole_numbers_are_phone_numbers() {
    let number = |number: &str| {
        draft(
            Kind::Person,
            &format!(r#"{{"phone_numbers":[{{"number":{number}}}]}}"#),
        )
        .1
    };
    assert_eq!(number("15550100101"), []);
    for wrong in ["1.5", "-1", "1e3"] {
        assert_eq!(properties(&number(wrong)), ["phone_numbers[0].number"]);
    }
}

#[test]
fn und_24_an_identifier_of_the_servers_own_is_named_by_its_place() {
    let (_, problems) = draft(
        Kind::Person,
        r#"{"identifiers":["no colon","crm:1","demo:other"]}"#,
    );
    assert_eq!(properties(&problems), ["identifiers[0]", "identifiers[2]"]);
}

/// Returns the stored value of a field, or the invalid properties.
fn kept(field: &str, value: &str) -> Result<String, Vec<String>> {
    let (draft, mut problems) = draft(Kind::Person, &format!(r#"{{"{field}":{value}}}"#));
    problems.retain(|problem| problem.code != ErrorCode::PersonEmpty);
    if problems.is_empty() {
        Ok(Json::Object(draft.fields).to_string())
    } else {
        Err(properties(&problems))
    }
}

#[test]
fn res_phone_number_03_a_number_has_the_country_code_of_its_country() {
    let number = |number: &str, country: &str| {
        kept(
            "phone_numbers",
            &format!(
                r#"[{{"number":"1234567","country":"BV"}},{{"number":"{number}","country":"{country}"}}]"#
            ),
        )
    };
    for (right, country) in [
        ("12025550123", "US"),
        ("+44 7946 000900", "gb"),
        ("43 1 2345", "AT"),
        ("5550123", "HM"),
        ("0049 30 123", "DE"),
        ("390549123", "SM"),
        ("378549123", "SM"),
        ("9971234", "KZ"),
    ] {
        assert!(number(right, country).is_ok(), "{right} {country}");
    }
    for (wrong, country) in [
        ("5550123", "US"),
        ("030 1234567", "DE"),
        ("12025550123", "FR"),
    ] {
        assert_eq!(
            number(wrong, country),
            Err(vec!["phone_numbers[1].number".to_owned()]),
            "{wrong} {country}"
        );
    }
    let (_, problems) = draft(
        Kind::Person,
        r#"{"phone_numbers":[{"number":"5550123","country":"US"}]}"#,
    );
    let [problem] = problems.as_slice() else {
        panic!("{problems:?}")
    };
    assert_eq!(problem.hint.as_deref(), Some("^1[0-9]+$"));
}

#[test]
fn res_person_17_18_languages_are_well_formed_tags() {
    for tag in [
        "en",
        "zh-Hant-TW",
        "de-CH-1901",
        "sl-rozaj-biske",
        "x-private",
        "i-klingon",
        "EN-us",
    ] {
        assert!(
            kept("preferred_language", &format!("\"{tag}\"")).is_ok(),
            "{tag}"
        );
    }
    for wrong in ["not a tag!", "e", "en_US", "en-", "langueFrancaise"] {
        assert!(
            kept("preferred_language", &format!("\"{wrong}\"")).is_err(),
            "{wrong}"
        );
    }
    let many = kept("languages_spoken", r#"["en","no tag","en","en_GB"]"#);
    assert_eq!(
        many,
        Err(vec![
            "languages_spoken[1]".to_owned(),
            "languages_spoken[2]".to_owned()
        ])
    );
}

#[test]
fn res_postal_address_07_10_a_region_has_two_letters_and_a_language_two_or_three() {
    let one =
        |name: &str, value: &str| kept("postal_addresses", &format!(r#"[{{"{name}":"{value}"}}]"#));
    for (name, right) in [
        ("region", "NY"),
        ("region", "by"),
        ("language", "en"),
        ("language", "yue"),
    ] {
        assert!(one(name, right).is_ok(), "{right}");
    }
    for (name, wrong) in [
        ("region", "Illinois"),
        ("region", "US-IL"),
        ("language", "English"),
        ("language", "e"),
    ] {
        assert_eq!(
            one(name, wrong),
            Err(vec![format!("postal_addresses[0].{name}")]),
            "{wrong}"
        );
    }
    assert!(kept("employer_address", r#"{"region":"Illinois"}"#).is_err());
}

#[test]
fn res_donation_06_a_currency_is_one_of_the_list_in_capitals() {
    let currency = |code: &str| {
        draft(
            Kind::FundraisingPage,
            &format!(r#"{{"currency":"{code}"}}"#),
        )
    };
    assert_eq!(
        Json::Object(currency("eur").0.fields).to_string(),
        r#"{"currency":"EUR"}"#
    );
    assert_eq!(
        currency("DEM").1,
        [],
        "a withdrawn currency can occur in old records"
    );
    for wrong in ["ABC", "euro", "E R"] {
        assert_eq!(properties(&currency(wrong).1), ["currency"], "{wrong}");
    }
}

#[test]
fn res_donation_03_amounts_have_the_digits_of_their_currency() {
    let wrong = |kind, body: &str| properties(&fields(kind, body).1);
    for good in [
        r#"{"amount":1.25,"currency":"EUR"}"#,
        r#"{"amount":1.500,"currency":"EUR"}"#,
        r#"{"amount":100.00,"currency":"JPY"}"#,
        r#"{"amount":1.125,"currency":"KWD"}"#,
        r#"{"amount":1.000001,"currency":"XAU"}"#,
        r#"{"amount":1.000001}"#,
    ] {
        assert_eq!(wrong(Kind::Donation, good), [""; 0], "{good}");
    }
    let donation = r#"{"amount":1.5,"credited_amount":0.1,"currency":"jpy","recipients":[{"amount":1},{"amount":0.5}]}"#;
    assert_eq!(
        wrong(Kind::Donation, donation),
        ["amount", "credited_amount", "recipients[1].amount"]
    );
    let (_, problems) = fields(Kind::Donation, r#"{"amount":10.505,"currency":"EUR"}"#);
    assert_eq!(
        problems[0].description(),
        "`amount` must have at most 2 digits after the decimal point in EUR, but is 10.505."
    );
    let tickets = r#"{"tickets":[{"amount":1.555},{"amount":1.5,"currency":"JPY"}]}"#;
    assert_eq!(wrong(Kind::Attendance, tickets), ["tickets[1].amount"]);
}

#[test]
fn res_donation_03_a_donation_without_amount_has_the_sum_of_its_recipients() {
    let amount = |body: &str| {
        let (draft, problems) = fields(Kind::Donation, body);
        let amount = draft.fields.get("amount").map(ToString::to_string);
        (amount, properties(&problems))
    };
    let sum = |text: &str| (Some(text.to_owned()), Vec::new());
    let recipients = r#""recipients":[{"amount":30},{"display_name":"B"},{"amount":20.5}]"#;
    assert_eq!(amount(&format!("{{{recipients}}}")), sum("50.5"));
    assert_eq!(
        amount(&format!(r#"{{"amount":40,{recipients}}}"#)),
        sum("40")
    );
    assert_eq!(
        amount(r#"{"recipients":[{"display_name":"B"}]}"#),
        (None, Vec::new())
    );
    let largest = r#"{"recipients":[{"amount":9999999999999999},{"amount":1}]}"#;
    assert_eq!(amount(largest), (None, vec!["recipients".to_owned()]));
}

#[test]
fn res_donation_18_a_donation_with_a_voided_date_is_voided() {
    let voided = |body: &str| fields(Kind::Donation, body).0.fields;
    let dated = voided(r#"{"voided_date":"2026-01-05T09:00:00Z"}"#);
    assert_eq!(dated.get("voided").and_then(Json::as_bool), Some(true));
    let contrary = voided(r#"{"voided":false,"voided_date":"2026-01-05T09:00:00Z"}"#);
    assert_eq!(contrary.get("voided").and_then(Json::as_bool), Some(false));
    assert!(!contrary.contains("voided_date"));
}

#[test]
fn res_event_14_ticket_levels_have_one_currency() {
    let wrong = |levels: &str| draft(Kind::Event, &format!(r#"{{"ticket_levels":{levels}}}"#)).1;
    let one = r#"[{"title":"A"},{"title":"B","currency":"eur","amount":1.25},{"title":"C","currency":"EUR"}]"#;
    assert_eq!(wrong(one), []);
    let two = r#"[{"currency":"JPY","amount":5},{"currency":"EUR","amount":1.25},{"amount":0.5}]"#;
    let problems = wrong(two);
    assert_eq!(
        properties(&problems),
        ["ticket_levels[1].currency", "ticket_levels[2].amount"]
    );
    assert_eq!(
        problems[0].description(),
        "`ticket_levels[1].currency` must be JPY, the currency of the other ticket levels, but is EUR."
    );
}

#[test]
fn res_email_address_03_what_mailers_use_is_one_line() {
    for unseen in ["\\r\\n", "\\u2028", "\\u200b", "\\u007f"] {
        let address = |owner: &str, field: &str| {
            format!(r#"{{"{owner}":{{"{field}":"a{unseen}b@example.org"}}}}"#)
        };
        let in_list = format!(r#"{{"email_addresses":[{{"address":"a{unseen}b@example.org"}}]}}"#);
        assert_eq!(
            properties(&draft(Kind::Person, &in_list).1),
            ["email_addresses[0].address"],
            "{unseen}"
        );
        let event = address("contact", "email_address");
        assert_eq!(
            properties(&draft(Kind::Event, &event).1),
            ["contact.email_address"],
            "{unseen}"
        );
        let message = format!(r#"{{"from":"a{unseen}b","reply_to":"b{unseen}c"}}"#);
        assert_eq!(
            properties(&draft(Kind::Message, &message).1),
            ["from", "reply_to"],
            "{unseen}"
        );
    }
    assert_eq!(
        draft(Kind::Message, r#"{"from":"Ada <ada@example.org>"}"#).1,
        []
    );
}

#[test]
fn und_17_the_servers_own_identifier_does_not_count() {
    let body = |many: usize| {
        let foreign: Vec<String> = (0..many)
            .map(|number| format!("\"crm:{number}\""))
            .collect();
        format!(r#"{{"identifiers":["demo:1",{}]}}"#, foreign.join(","))
    };
    let most = ContentLimits::ANONYMOUS.max_entries("identifiers");
    // Only the identifier of the server is a problem in a create.
    assert_eq!(
        properties(&draft(Kind::Person, &body(most)).1),
        ["identifiers[0]"]
    );
    assert_eq!(
        properties(&draft(Kind::Person, &body(most + 1)).1),
        ["identifiers", "identifiers[0]"],
        "UND-17"
    );
}
