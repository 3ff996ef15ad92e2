//! Reads the values of cells.

use serde_json::{Value, json};
use svc_core::value::{self, Identifier, stored_email, stored_phone};

use crate::dates::{DateOrder, PartialDate, day_of};
use crate::member::{PersonField, ValueFormat};
use crate::names::plain_name;
use crate::places::{country_code, region_code};

/// The words for yes and no, as [plain names](plain_name).
const YES: &[&str] = &[
    "true",
    "yes",
    "y",
    "t",
    "1",
    "x",
    "on",
    "checked",
    "ja",
    "j",
    "oui",
    "o",
    "si",
    "s",
    "v",
    "vrai",
    "wahr",
    "verdadero",
    "optedin",
    "optin",
    "subscribed",
];
const NO: &[&str] = &[
    "false",
    "no",
    "n",
    "f",
    "0",
    "off",
    "unchecked",
    "nein",
    "non",
    "faux",
    "falsch",
    "falso",
    "optedout",
    "optout",
    "unsubscribed",
    "notsubscribed",
];

/// Values of lists, each with other words for it, as plain names.
const WORDS: &[(&str, &[&str])] = &[
    (
        "Female",
        &[
            "f", "w", "woman", "weiblich", "frau", "femme", "feminin", "mujer", "femenino",
        ],
    ),
    (
        "Male",
        &[
            "m",
            "man",
            "mannlich",
            "maennlich",
            "mann",
            "herr",
            "homme",
            "masculin",
            "hombre",
            "masculino",
        ],
    ),
    (
        "Other",
        &["o", "x", "d", "nonbinary", "nb", "divers", "autre", "otro"],
    ),
    (
        "subscribed",
        &[
            "active",
            "confirmed",
            "abonniert",
            "abonne",
            "inscrit",
            "suscrito",
        ],
    ),
    (
        "unsubscribed",
        &[
            "notsubscribed",
            "removed",
            "abgemeldet",
            "desabonne",
            "desinscrit",
        ],
    ),
    (
        "bouncing",
        &[
            "bounced",
            "bounce",
            "hardbounce",
            "cleaned",
            "invalid",
            "bad",
        ],
    ),
    (
        "spam complaints",
        &["spamcomplaint", "spam", "complained", "complaint", "abuse"],
    ),
    ("Democratic", &["d", "dem", "democrat", "democraticparty"]),
    ("Republican", &["r", "rep", "gop", "republicanparty"]),
    ("Independent", &["i", "ind", "independant", "unaffiliated"]),
];

/// What the value of a cell depends on in addition to the cell.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CellContext<'a> {
    /// The order of day and month in the column.
    pub(crate) dates: DateOrder,
    /// The country of the address.
    pub(crate) country: Option<&'a str>,
}

/// Returns the value of a cell for a field, or why the field cannot have it.
pub(crate) fn value_of(
    field: &PersonField,
    text: &str,
    context: CellContext<'_>,
) -> Result<Value, String> {
    let text = text.trim();
    match field.format {
        ValueFormat::Text => Ok(text.into()),
        ValueFormat::Texts if field.line.is_some() => Ok(text.into()),
        ValueFormat::Texts => Ok(texts(text).into()),
        ValueFormat::Integer => match text.parse::<i64>() {
            Ok(number) => Ok(number.into()),
            Err(_) => Err("is not a whole number".to_owned()),
        },
        ValueFormat::Boolean => match yes_or_no(text) {
            Some(value) => Ok((value != field.is_reversed).into()),
            None => Err("is neither yes nor no".to_owned()),
        },
        ValueFormat::Birthdate => match day_of(text, context.dates) {
            Ok(PartialDate { year, month, day }) => {
                let mut date = json!({ "month": month, "day": day });
                if let (Some(date), Some(year)) = (date.as_object_mut(), year) {
                    date.insert("year".to_owned(), year.into());
                }
                Ok(date)
            }
            Err(why) => Err(why.to_string()),
        },
        ValueFormat::Email => match stored_email(text) {
            Ok(address) => Ok(address.into()),
            Err(why) => Err(format!("is not one e-mail address: {why}")),
        },
        ValueFormat::Phone => match stored_phone(text) {
            Ok(_) => Ok(text.into()),
            Err(why) => Err(format!("is not a phone number: {why}")),
        },
        ValueFormat::Country => country_code(text)
            .map(Value::from)
            .ok_or_else(|| "is neither the code nor the name of a country".to_owned()),
        ValueFormat::Region => region_code(text, context.country)
            .map(Value::from)
            .ok_or_else(|| "is neither the code nor the name of a region".to_owned()),
        ValueFormat::Language => {
            let is_tag = (2..=35).contains(&text.len())
                && text.split(['-', '_']).all(|part| {
                    (1..=8).contains(&part.len())
                        && part.bytes().all(|one| one.is_ascii_alphanumeric())
                })
                && text
                    .split(['-', '_'])
                    .next()
                    .is_some_and(|first| (2..=3).contains(&first.len()));
            if is_tag {
                Ok(text.replace('_', "-").into())
            } else {
                Err("is not the code of a language, such as `en`".to_owned())
            }
        }
        ValueFormat::Listed(values) => {
            let is_status = field.member == Some("status");
            listed(values, text, is_status && field.is_reversed, is_status)
                .map(Value::from)
                .ok_or_else(|| format!("is not one of {}", values.join(", ")))
        }
        ValueFormat::ListedOrOther(values) => {
            Ok(listed(values, text, false, false).unwrap_or(text).into())
        }
    }
}

/// Returns the listed value for a word. For a subscription, yes and no are words as well.
fn listed<'t>(
    values: &[&'static str],
    text: &'t str,
    is_reversed: bool,
    is_subscription: bool,
) -> Option<&'t str> {
    let plain = plain_name(text);
    if is_subscription && let Some(value) = yes_or_no(text) {
        let status = if value == is_reversed {
            "unsubscribed"
        } else {
            "subscribed"
        };
        return values.iter().copied().find(|one| *one == status);
    }
    let is_meant = |value: &&&'static str| {
        let words = WORDS.iter().find(|(of, _)| of == *value);
        plain_name(value) == plain
            || words.is_some_and(|(_, words)| words.contains(&plain.as_str()))
    };
    values.iter().find(is_meant).copied()
}

fn yes_or_no(text: &str) -> Option<bool> {
    let plain = plain_name(text);
    if YES.contains(&plain.as_str()) {
        Some(true)
    } else if NO.contains(&plain.as_str()) {
        Some(false)
    } else {
        None
    }
}

/// Returns the texts in a cell with a list, which commas, semicolons or vertical bars separate. Separators in
/// quotes belong to the text.
pub(crate) fn texts(cell: &str) -> Vec<String> {
    let (mut all, mut text, mut is_quoted) = (Vec::new(), String::new(), false);
    let mut end = |text: &mut String| {
        let part = text.trim();
        if !part.is_empty() && !all.iter().any(|known| known == part) {
            all.push(part.to_owned());
        }
        text.clear();
    };
    for one in cell.chars() {
        match one {
            '"' => is_quoted = !is_quoted,
            ',' | ';' | '|' | '\n' if !is_quoted => end(&mut text),
            one => text.push(one),
        }
    }
    end(&mut text);
    all
}

/// Returns the identifiers in a cell, each with its system, and those that are none.
pub(crate) fn identifiers(cell: &str, system: Option<&str>) -> (Vec<String>, Option<String>) {
    let (mut all, mut wrong) = (Vec::new(), None);
    let parts = match system {
        Some(system) => vec![format!("{system}:{}", cell.trim())],
        None => texts(cell),
    };
    for part in parts {
        match Identifier::parse(&part) {
            Some(identifier) => all.push(identifier.as_str().to_owned()),
            None => wrong = Some("is not an identifier of the form `<system>:<id>`".to_owned()),
        }
    }
    (all, wrong)
}

/// Returns the given name and the family name in a cell with both.
pub(crate) fn names_in(cell: &str) -> (Option<String>, Option<String>) {
    let text = |part: &str| {
        let part = part.trim();
        (!part.is_empty()).then(|| part.to_owned())
    };
    if let Some((family, given)) = cell.split_once(',') {
        return (text(given), text(family));
    }
    match cell.trim().rsplit_once(char::is_whitespace) {
        Some((given, family)) => (text(given), text(family)),
        None => (text(cell), None),
    }
}

/// Whether a code is that of a country.
pub(crate) fn is_country(code: &str) -> bool {
    value::country(code).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::member::Member;

    fn read(member: &str, text: &str) -> Result<Value, String> {
        let Some(Member::Field(field)) = Member::parse(member) else {
            panic!("{member}");
        };
        value_of(&field, text, CellContext::default())
    }

    #[test]
    fn words_become_values() {
        for (member, text, value) in [
            ("gender", "F", json!("Female")),
            ("gender", "männlich", json!("Male")),
            ("gender", "Non-binary", json!("Other")),
            (
                "email_addresses[1].status",
                "Subscribed",
                json!("subscribed"),
            ),
            ("email_addresses[1].status", "Yes", json!("subscribed")),
            ("email_addresses[1].status", "0", json!("unsubscribed")),
            (
                "email_addresses[1].status",
                "spam complaint",
                json!("spam complaints"),
            ),
            (
                "not email_addresses[1].status",
                "Yes",
                json!("unsubscribed"),
            ),
            ("not email_addresses[1].status", "", json!("")),
            ("phone_numbers[1].do_not_call", "x", json!(true)),
            ("not phone_numbers[1].sms_capable", "1", json!(false)),
            ("party_identification", "DEM", json!("Democratic")),
            ("party_identification", "Greens", json!("Greens")),
            ("preferred_language", "en_GB", json!("en-GB")),
            ("ethnicities", "a; b", json!(["a", "b"])),
            (
                "birthdate",
                "1990-05-04",
                json!({"year": 1990, "month": 5, "day": 4}),
            ),
            ("postal_addresses[1].country", "deutschland", json!("DE")),
            (
                "phone_numbers[1].number",
                "(555) 010-0199 x12",
                json!("(555) 010-0199 x12"),
            ),
        ] {
            if !text.is_empty() {
                assert_eq!(read(member, text), Ok(value), "{member} {text}");
            }
        }
    }

    #[test]
    fn what_a_field_cannot_have_is_refused_with_the_reason() {
        for (member, text, why) in [
            ("gender", "unknown", "is not one of Female, Male, Other"),
            (
                "email_addresses[1].status",
                "perhaps",
                "is not one of subscribed, unsubscribed",
            ),
            (
                "email_addresses[1].address",
                "a@x.org, b@x.org",
                "is not one e-mail address",
            ),
            ("phone_numbers[1].number", "none", "is not a phone number"),
            ("birthdate", "03/04/1990", "day"),
            ("birthdate.year", "MCMXC", "is not a whole number"),
            (
                "preferred_language",
                "English",
                "is not the code of a language",
            ),
            (
                "postal_addresses[1].country",
                "Atlantis",
                "is neither the code nor the name",
            ),
        ] {
            let said = read(member, text).expect_err(text);
            assert!(said.contains(why), "{member} {text}: {said}");
        }
    }

    #[test]
    fn lists_names_and_identifiers_in_a_cell() {
        assert_eq!(
            texts("\"volunteer\",\"Phone Bank\""),
            ["volunteer", "Phone Bank"]
        );
        assert_eq!(texts("a, \"b, c\"; d|a|"), ["a", "b, c", "d"]);
        assert_eq!(texts(" ; "), Vec::<String>::new());
        let names = |cell| names_in(cell);
        let both = |given: &str, family: &str| (Some(given.to_owned()), Some(family.to_owned()));
        assert_eq!(names("Ada King"), both("Ada", "King"));
        assert_eq!(names("King, Ada"), both("Ada", "King"));
        assert_eq!(names("Ada Augusta King"), both("Ada Augusta", "King"));
        assert_eq!(names("Ada"), (Some("Ada".to_owned()), None));
        assert_eq!(
            identifiers("7", Some("van")),
            (vec!["van:7".to_owned()], None)
        );
        let (all, wrong) = identifiers("van:7; x", None);
        assert_eq!(all, ["van:7"]);
        assert!(wrong.is_some());
    }
}
