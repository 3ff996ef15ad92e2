//! Reads the values of cells.

use serde_json::{Value, json};
use svc_core::value::{Identifier, country_named, region_named, stored_email, stored_phone};

use crate::amounts::{DecimalMark, MoneyText, currency_code};
use crate::dates::{DateOrder, PartialDate, day_of, is_no_date, timestamp_of};
use crate::member::{RecordField, ValueFormat};
use crate::names::plain_name;

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
];

/// The words for a value that is not known, as plain names.
const UNKNOWN: &[&str] = &[
    "u",
    "unknown",
    "na",
    "none",
    "null",
    "unbekannt",
    "inconnu",
    "desconocido",
];

/// The states of a subscription, from the least to the most strict.
const STATES: [&str; 4] = ["subscribed", "bouncing", "unsubscribed", "spam complaints"];

/// Names of languages, as plain names.
const LANGUAGES: &[(&str, &[&str])] = &[
    ("en", &["english", "englisch", "anglais", "ingles"]),
    ("de", &["german", "deutsch", "allemand", "aleman"]),
    ("fr", &["french", "franzosisch", "francais", "frances"]),
    ("es", &["spanish", "spanisch", "espagnol", "espanol"]),
    ("it", &["italian", "italienisch", "italien", "italiano"]),
    (
        "pt",
        &["portuguese", "portugiesisch", "portugais", "portugues"],
    ),
    (
        "nl",
        &["dutch", "niederlandisch", "neerlandais", "nederlands"],
    ),
    ("pl", &["polish", "polnisch", "polonais", "polski"]),
    ("zh", &["chinese", "chinesisch", "chinois", "chino"]),
    ("ar", &["arabic", "arabisch", "arabe"]),
    ("vi", &["vietnamese"]),
    ("tl", &["tagalog"]),
];

/// Suffixes of names, as plain names. A comma precedes them.
const SUFFIXES: &[&str] = &["jr", "sr", "ii", "iii", "iv", "phd", "md", "esq"];

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
            "optedin",
            "optin",
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
            "optedout",
            "optout",
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
    (
        "declined",
        &[
            "no",
            "notgoing",
            "notattending",
            "notcoming",
            "cannotattend",
            "regrets",
            "cancelled",
            "canceled",
            "nein",
            "abgesagt",
            "absage",
            "abgelehnt",
            "non",
            "n",
            "decline",
            "annule",
            "rechazado",
            "cancelado",
        ],
    ),
    (
        "tentative",
        &[
            "maybe",
            "interested",
            "undecided",
            "unsure",
            "vielleicht",
            "unsicher",
            "vorbehaltlich",
            "peutetre",
            "quizas",
            "talvez",
            "provisional",
        ],
    ),
    (
        "accepted",
        &[
            "yes",
            "y",
            "going",
            "attending",
            "coming",
            "registered",
            "signedup",
            "confirmed",
            "scheduled",
            "ja",
            "zugesagt",
            "zusage",
            "angemeldet",
            "angenommen",
            "oui",
            "accepte",
            "inscrit",
            "confirme",
            "si",
            "aceptado",
            "confirmado",
            "inscrito",
        ],
    ),
    (
        "needs action",
        &[
            "invited",
            "pending",
            "noresponse",
            "noreply",
            "notresponded",
            "awaitingreply",
            "eingeladen",
            "ausstehend",
            "offen",
            "keineantwort",
            "invite",
            "enattente",
            "sansreponse",
            "invitado",
            "pendiente",
            "sinrespuesta",
        ],
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
    /// The decimal mark in the column.
    pub(crate) decimal_mark: DecimalMark,
    /// The country of the address.
    pub(crate) country: Option<&'a str>,
    /// Whether the table was exported, so that cells contain the values of the API.
    pub(crate) is_export: bool,
}

/// Returns the value of a cell for a field, or why the field cannot have it. Returns `None` if the cell means
/// that there is no value.
pub(crate) fn value_of(
    field: &RecordField,
    text: &str,
    context: CellContext<'_>,
) -> Result<Option<Value>, String> {
    let text = text.trim();
    if field.is_reversed {
        return Ok(objection(field, text));
    }
    if context.is_export && is_exported(field, text) {
        return Ok(Some(text.into()));
    }
    let value = match field.format {
        ValueFormat::Text if field.member == Some("postal_code") => postal_code(text, context),
        ValueFormat::Text => text.into(),
        ValueFormat::Texts if field.line.is_some() => text.into(),
        ValueFormat::Texts => texts(text).into(),
        ValueFormat::Integer => match text.parse::<i64>() {
            Ok(number) => number.into(),
            Err(_) => return Err("is not a whole number".to_owned()),
        },
        ValueFormat::Float => match text.parse::<f64>() {
            Ok(number) if number.is_finite() => number.into(),
            _ => return Err("is not a number".to_owned()),
        },
        ValueFormat::Boolean => match yes_or_no(text) {
            Some(value) => value.into(),
            None => return Err("is neither yes nor no".to_owned()),
        },
        ValueFormat::Birthdate => return birthdate(text, context.dates),
        ValueFormat::Email => match stored_email(text) {
            Ok(address) => address.into(),
            Err(why) => return Err(format!("is not one e-mail address. {why}")),
        },
        ValueFormat::Phone => phone(text)?.into(),
        ValueFormat::Country => match country_named(text) {
            Some(code) => code.into(),
            None => return Err("is neither the code nor the name of a country".to_owned()),
        },
        ValueFormat::Region => match region_named(text, context.country) {
            Some((code, None)) => code.into(),
            // The caller sets both.
            Some((code, Some(country))) => json!({ "region": code, "country": country }),
            None => return Err("is neither the code nor the name of a region".to_owned()),
        },
        ValueFormat::Language => match language(text) {
            Some(tag) => tag.into(),
            None => return Err("is not the code of a language, such as `en`".to_owned()),
        },
        ValueFormat::Amount => match MoneyText::read(text, context.decimal_mark) {
            Ok(money) => money.to_json(),
            Err(why) => return Err(why.to_string()),
        },
        ValueFormat::Currency => match currency_code(text) {
            Some(code) => code.into(),
            None => return Err("is not the code of a currency, such as `EUR`".to_owned()),
        },
        ValueFormat::Timestamp if is_no_date(text) => return Ok(None),
        ValueFormat::Timestamp => match timestamp_of(text, context.dates) {
            Ok(timestamp) => timestamp.to_string().into(),
            Err(why) => return Err(why.to_string()),
        },
        ValueFormat::Listed(values) => match listed(values, text) {
            Some(value) => value.into(),
            None if UNKNOWN.contains(&plain_name(text).as_str()) => return Ok(None),
            None => {
                // A subscription can also be a consent.
                let state =
                    yes_or_no(text).map(|is| if is { "subscribed" } else { "unsubscribed" });
                match state.filter(|state| values.contains(state)) {
                    Some(state) => state.into(),
                    None => return Err(format!("is not one of {}", values.join(", "))),
                }
            }
        },
        ValueFormat::ListedOrOther(values) => listed(values, text).unwrap_or(text).into(),
    };
    Ok(Some(value))
}

/// Whether a text in an exported table is the value itself, and not a word that means a value.
fn is_exported(field: &RecordField, text: &str) -> bool {
    let is_part = |one: u8| one.is_ascii_uppercase() || one.is_ascii_digit();
    match field.format {
        ValueFormat::ListedOrOther(_) => true,
        ValueFormat::Region => text.len() <= 3 && text.bytes().all(is_part),
        ValueFormat::Language => {
            let first = text.split('-').next().unwrap_or_default();
            let is_in_tag = |one: u8| one.is_ascii_alphanumeric() || one == b'-';
            first.len() <= 3 && text.bytes().all(is_in_tag)
        }
        _ => false,
    }
}

/// Returns the value of a cell in a column of objections, such as `Do not email`. Only a clear no is not an
/// objection, and it is not a consent either.
fn objection(field: &RecordField, text: &str) -> Option<Value> {
    let plain = plain_name(text);
    let is_none = yes_or_no(text) == Some(false)
        || UNKNOWN.contains(&plain.as_str())
        || is_no_date(text)
        || listed(&["subscribed"], text).is_some();
    if is_none {
        return None;
    }
    Some(match field.format {
        ValueFormat::Boolean => false.into(),
        _ => "unsubscribed".into(),
    })
}

/// Returns the stricter of two values of a consent.
pub(crate) fn stricter(member: &str, one: Value, other: Value) -> Value {
    let rank = |value: &Value| match (value.as_str(), value.as_bool()) {
        (Some(state), _) => STATES.iter().position(|known| *known == state),
        // `sms_capable` is a consent, and `do_not_call` an objection.
        (None, Some(value)) => Some(usize::from(value == (member == "do_not_call"))),
        _ => None,
    };
    if rank(&other) > rank(&one) {
        other
    } else {
        one
    }
}

/// Whether a value of a consent restricts what may be done.
pub(crate) fn is_objection(member: &str, value: &Value) -> bool {
    match (value.as_str(), value.as_bool()) {
        (Some(state), _) => matches!(state, "unsubscribed" | "spam complaints"),
        (None, Some(value)) => value == (member == "do_not_call"),
        _ => false,
    }
}

fn birthdate(text: &str, dates: DateOrder) -> Result<Option<Value>, String> {
    if is_no_date(text) {
        return Ok(None);
    }
    if let Some(year) = text
        .parse::<u16>()
        .ok()
        .filter(|year| (1900..=2100).contains(year))
    {
        return Ok(Some(json!({ "year": year })));
    }
    let PartialDate { year, month, day } = day_of(text, dates).map_err(|why| why.to_string())?;
    let mut date = json!({ "month": month, "day": day });
    if let (Some(date), Some(year)) = (date.as_object_mut(), year) {
        date.insert("year".to_owned(), year.into());
    }
    Ok(Some(date))
}

/// The countries with postal codes of five digits, the first of which can be zero.
const FIVE_DIGITS: [&str; 13] = [
    "DE", "EE", "ES", "FI", "FR", "IT", "KR", "LT", "MX", "MY", "TR", "UA", "US",
];

/// Returns a postal code. Spreadsheet programs remove the zero at its start.
fn postal_code(text: &str, context: CellContext<'_>) -> Value {
    let text = without_fraction(text);
    let is_short = text.len() == 4 && text.bytes().all(|one| one.is_ascii_digit());
    if is_short
        && context
            .country
            .is_some_and(|country| FIVE_DIGITS.contains(&country))
    {
        return format!("0{text}").into();
    }
    text.into()
}

fn phone(text: &str) -> Result<String, String> {
    let text = without_fraction(text);
    let is_exponent =
        text.contains(['E', 'e']) && text.parse::<f64>().is_ok() || text.contains("E+");
    if is_exponent {
        return Err(
            "has lost digits of a phone number; format the column as text in the spreadsheet, and enter it again"
                .to_owned(),
        );
    }
    let digits = |part: &str| part.chars().filter(char::is_ascii_digit).count();
    let parts = text
        .split([',', ';', '/'])
        .flat_map(|part| part.split(" or "));
    if parts.filter(|part| digits(part) >= 6).count() > 1 {
        return Err("contains several phone numbers".to_owned());
    }
    match stored_phone(text) {
        Ok(_) => Ok(text.to_owned()),
        Err(why) => Err(format!("is not a phone number. {why}")),
    }
}

/// Returns a number without the `.0` that programs add to numbers in a column with empty cells.
fn without_fraction(text: &str) -> &str {
    match text.split_once('.') {
        Some((number, fraction))
            if !number.is_empty()
                && number.bytes().all(|one| one.is_ascii_digit())
                && !fraction.is_empty()
                && fraction.bytes().all(|one| one == b'0') =>
        {
            number
        }
        _ => text,
    }
}

/// Returns the tag of a language, from its tag or its name.
fn language(text: &str) -> Option<String> {
    // Such as `English (United States)`.
    let name = text.split('(').next().unwrap_or_default().trim();
    let plain = plain_name(name);
    let mut known = LANGUAGES.iter();
    if let Some((tag, _)) = known.find(|(_, names)| names.contains(&plain.as_str())) {
        return Some((*tag).to_owned());
    }
    let tag = name.replace('_', "-");
    let mut parts = tag.split('-');
    let is_part = |part: &str, most: usize| {
        (2..=most).contains(&part.len()) && part.bytes().all(|one| one.is_ascii_alphanumeric())
    };
    let is_tag =
        parts.next().is_some_and(|first| is_part(first, 3)) && parts.all(|part| is_part(part, 8));
    is_tag.then_some(tag)
}

/// Returns the listed value for a word.
fn listed(values: &[&'static str], text: &str) -> Option<&'static str> {
    let plain = plain_name(text);
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

/// Returns a cell with a list of texts, which [`texts`] reads.
pub(crate) fn joined<T: AsRef<str>>(all: &[T]) -> String {
    let mut cell = String::new();
    for text in all {
        let text = text.as_ref();
        if !cell.is_empty() {
            cell.push_str(", ");
        }
        if text.contains(['"', ',', ';', '|', '\n']) {
            cell.push('"');
            cell.push_str(&text.replace('"', "\"\""));
            cell.push('"');
        } else {
            cell.push_str(text);
        }
    }
    cell
}

/// Returns the texts in a cell with a list, which commas, semicolons or vertical bars separate. Separators in
/// quotes belong to the text, and two quotes in quotes are one.
pub(crate) fn texts(cell: &str) -> Vec<String> {
    let (mut all, mut text, mut is_quoted) = (Vec::new(), String::new(), false);
    let mut end = |text: &mut String| {
        let part = text.trim();
        if !part.is_empty() && !all.iter().any(|known| known == part) {
            all.push(part.to_owned());
        }
        text.clear();
    };
    let mut letters = cell.chars().peekable();
    while let Some(one) = letters.next() {
        match one {
            '"' if is_quoted && letters.next_if_eq(&'"').is_some() => text.push('"'),
            '"' => is_quoted = !is_quoted,
            ',' | ';' | '|' | '\n' if !is_quoted => end(&mut text),
            one => text.push(one),
        }
    }
    end(&mut text);
    all
}

/// Returns the identifiers in a cell, each with its system, and why a part is not an identifier.
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

/// The parts of a name.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct NameParts {
    pub(crate) given: Option<String>,
    pub(crate) family: Option<String>,
    pub(crate) suffix: Option<String>,
}

/// Returns the parts of a name in one cell.
pub(crate) fn names_in(cell: &str) -> NameParts {
    let text = |part: &str| {
        let part = part.trim();
        (!part.is_empty()).then(|| part.to_owned())
    };
    let mut parts = cell.split(',');
    let (before, after, more) = (parts.next().unwrap_or_default(), parts.next(), parts.next());
    let is_suffix = |part: &str| SUFFIXES.contains(&plain_name(part).as_str());
    match (after, more) {
        (Some(suffix), None) if is_suffix(suffix) => NameParts {
            suffix: text(suffix),
            ..names_in(before)
        },
        (Some(given), None) => NameParts {
            given: text(given),
            family: text(before),
            suffix: None,
        },
        (Some(_), Some(_)) => NameParts {
            given: text(cell),
            ..NameParts::default()
        },
        (None, _) => match before.trim().rsplit_once(char::is_whitespace) {
            Some((given, family)) => NameParts {
                given: text(given),
                family: text(family),
                suffix: None,
            },
            None => NameParts {
                given: text(before),
                ..NameParts::default()
            },
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::member::Member;

    fn read(member: &str, text: &str) -> Result<Option<Value>, String> {
        let Some(Member::Field(field) | Member::Action(_, field)) = Member::parse(member) else {
            panic!("{member}");
        };
        value_of(&field, text, CellContext::default())
    }

    #[test]
    fn exported_values_are_not_interpreted() {
        let context = CellContext {
            is_export: true,
            ..CellContext::default()
        };
        for (member, text, value) in [
            ("party_identification", "D", json!("D")),
            ("phone_numbers[1].number_type", "mobile", json!("mobile")),
            ("postal_addresses[1].region", "BY", json!("BY")),
            ("postal_addresses[1].country", "Spain", json!("ES")),
            ("preferred_language", "x-klingon", json!("x-klingon")),
            ("preferred_language", "English", json!("en")),
            ("postal_addresses[1].location.latitude", "-0.5", json!(-0.5)),
            ("gender", "Female", json!("Female")),
        ] {
            let Some(Member::Field(field)) = Member::parse(member) else {
                panic!("{member}");
            };
            assert_eq!(
                value_of(&field, text, context),
                Ok(Some(value)),
                "{member} {text}"
            );
        }
    }

    #[test]
    fn words_become_values() {
        for (member, text, value) in [
            ("gender", "F", json!("Female")),
            ("gender", "männlich", json!("Male")),
            ("gender", "Non-binary", json!("Other")),
            ("phone_numbers[1].do_not_call", "x", json!(true)),
            ("not phone_numbers[*].sms_capable", "1", json!(false)),
            ("party_identification", "DEM", json!("Democratic")),
            ("party_identification", "Greens", json!("Greens")),
            ("preferred_language", "en_GB", json!("en-GB")),
            ("preferred_language", "English (United States)", json!("en")),
            ("ethnicities", "a; b", json!(["a", "b"])),
            (
                "birthdate",
                "1990-05-04",
                json!({"year": 1990, "month": 5, "day": 4}),
            ),
            ("birthdate", "5/31", json!({"month": 5, "day": 31})),
            ("birthdate", "1990", json!({"year": 1990})),
            ("postal_addresses[1].country", "deutschland", json!("DE")),
            (
                "postal_addresses[1].region",
                "bayern",
                json!({"region": "BY", "country": "DE"}),
            ),
            ("postal_addresses[1].postal_code", "2139.0", json!("2139")),
            (
                "phone_numbers[1].number",
                "(555) 010-0199 x12",
                json!("(555) 010-0199 x12"),
            ),
            (
                "phone_numbers[1].number",
                "5550100199.0",
                json!("5550100199"),
            ),
            ("phone_numbers[1].number", "030/123456", json!("030/123456")),
            ("donation.amount", "1.234,50 €", json!(1234.5)),
            ("donation.amount", "12", json!(12)),
            ("donation.currency", "chf", json!("CHF")),
            ("donation.currency", "£", json!("GBP")),
            ("donation.payment.method", "cash", json!("Cash")),
            ("donation.voided", "yes", json!(true)),
            (
                "donation.action_date",
                "5/31/2024 2:03 PM",
                json!("2024-05-31T14:03:00Z"),
            ),
            ("attendance.status", "ACCEPTED", json!("accepted")),
            ("attendance.status", "Needs-Action", json!("needs action")),
            ("attendance.status", "Ja", json!("accepted")),
            ("attendance.status", "No", json!("declined")),
            ("attendance.status", "peut-être", json!("tentative")),
        ] {
            assert_eq!(read(member, text), Ok(Some(value)), "{member} {text}");
        }
        for (member, text) in [
            ("gender", "U"),
            ("birthdate", "0000-00-00"),
            ("signature.action_date", "0000-00-00 00:00:00"),
        ] {
            assert_eq!(read(member, text), Ok(None), "{member} {text}");
        }
    }

    /// No value becomes a looser consent than it is.
    #[test]
    fn consents_and_objections() {
        let (yes, no) = (Some("subscribed"), Some("unsubscribed"));
        for (text, state) in [
            ("Subscribed", yes),
            ("Yes", yes),
            ("opted in", yes),
            ("0", no),
            ("Opted Out", no),
            ("not subscribed", no),
            ("spam complaint", Some("spam complaints")),
            ("Cleaned", Some("bouncing")),
            ("unknown", None),
        ] {
            let value = state.map(Value::from);
            assert_eq!(read("email_addresses[*].status", text), Ok(value), "{text}");
        }
        for (text, state) in [
            ("Yes", no),
            ("1", no),
            ("Opted Out", no),
            ("Unsubscribed", no),
            ("2023-05-01", no),
            ("by phone", no),
            ("No", None),
            ("0", None),
            ("subscribed", None),
            ("0000-00-00", None),
        ] {
            let value = state.map(Value::from);
            assert_eq!(
                read("not email_addresses[*].status", text),
                Ok(value),
                "{text}"
            );
        }
        let strict = |one: &str, other: &str| stricter("status", one.into(), other.into());
        assert_eq!(strict("subscribed", "unsubscribed"), "unsubscribed");
        assert_eq!(strict("spam complaints", "bouncing"), "spam complaints");
        assert_eq!(stricter("do_not_call", false.into(), true.into()), true);
        assert_eq!(stricter("sms_capable", true.into(), false.into()), false);
    }

    #[test]
    fn what_a_field_cannot_have_is_reported_with_the_reason() {
        for (member, text, why) in [
            ("gender", "maybe", "is not one of Female, Male, Other"),
            (
                "email_addresses[*].status",
                "perhaps",
                "is not one of subscribed, unsubscribed",
            ),
            (
                "email_addresses[1].address",
                "a@x.org, b@x.org",
                "is not one e-mail address",
            ),
            (
                "phone_numbers[1].number",
                "call me",
                "is not a phone number",
            ),
            (
                "phone_numbers[1].number",
                "555-1234 / 555-9876",
                "contains several phone numbers",
            ),
            ("phone_numbers[1].number", "4,91511E+11", "has lost digits"),
            ("birthdate", "03/04/1990", "day"),
            ("birthdate.year", "MCMXC", "is not a whole number"),
            ("donation.amount", "1,234", "can be two amounts"),
            ("donation.amount", "some", "is not an amount"),
            ("donation.currency", "gold", "is not the code of a currency"),
            ("donation.action_date", "yesterday", "is not a date"),
            (
                "attendance.status",
                "perhaps later",
                "is not one of declined, tentative, accepted, needs action",
            ),
            (
                "preferred_language",
                "Klingon",
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
        let all = ["a", "b, c", "\"d\"", "e\"", "f\ng"];
        assert_eq!(texts(&joined(&all)), all);
        for (cell, given, family, suffix) in [
            ("Ada King", "Ada", "King", ""),
            ("King, Ada", "Ada", "King", ""),
            ("Ada Augusta King", "Ada Augusta", "King", ""),
            ("John Smith, Jr.", "John", "Smith", "Jr."),
            ("Ada", "Ada", "", ""),
            ("a, b, c", "a, b, c", "", ""),
        ] {
            let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
            let expected = NameParts {
                given: text(given),
                family: text(family),
                suffix: text(suffix),
            };
            assert_eq!(names_in(cell), expected, "{cell}");
        }
        assert_eq!(
            identifiers("7", Some("van")),
            (vec!["van:7".to_owned()], None)
        );
        let (all, wrong) = identifiers("van:7; x", None);
        assert_eq!(all, ["van:7"]);
        assert!(wrong.is_some());
    }
}
