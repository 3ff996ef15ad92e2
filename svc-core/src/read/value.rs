//! Validates single values against their type and rules, and normalizes them.

use std::{borrow::Cow, ops::RangeInclusive};

use oxilangtag::LanguageTag;

use super::{Json, Number, value_path::ValuePath};
use crate::{
    error::{ErrorCode, Problem},
    helper::{is_primary, merge_equal_entries},
    schema::{FieldRule, ValueType},
    value::{
        Amount, Date, Identifier, Timestamp, calling_codes, country, currency, is_invisible,
        region, similar_country, stored_email, stored_phone, stored_text, without_at,
    },
};

/// The problem of a value whose position is not known yet.
#[derive(Debug)]
pub(crate) struct ValueError {
    text: String,
    hint: Option<String>,
}

impl ValueError {
    fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            hint: None,
        }
    }

    fn with_hint(text: &str, hint: &str) -> Self {
        Self {
            text: text.to_owned(),
            hint: Some(hint.to_owned()),
        }
    }

    /// Returns the error of a value that is not one of the allowed values.
    pub(super) fn not_allowed(raw: &Json, allowed: &str) -> Self {
        let text = match raw {
            Json::String(_) => format!("must be one of: {allowed}"),
            other => format!(
                "must be a string, not {}. Allowed: {allowed}",
                other.kind_name()
            ),
        };
        Self::with_hint(&text, allowed)
    }

    pub(crate) fn at(self, path: &ValuePath<'_>) -> Problem {
        let mut problem = Problem::new(
            ErrorCode::FieldInvalid,
            path.property(),
            format!("{{property}} {}.", self.text),
        );
        problem.hint = self.hint;
        problem
    }
}

/// Converts other JSON types that a rule accepts into the type of the table.
pub(crate) fn accept<'a>(rules: &[FieldRule], raw: &'a Json) -> Cow<'a, Json> {
    match raw {
        // A phone number may be sent as a JSON number. Requirements: RES-phone_number-03.
        Json::Number(number)
            if rules.contains(&FieldRule::PhoneNumber)
                && number.as_str().bytes().all(|b| b.is_ascii_digit()) =>
        {
            Cow::Owned(Json::from(number.as_str()))
        }
        _ => Cow::Borrowed(raw),
    }
}

/// Brings the texts of a list, or the only one of it, into the form in which they are stored.
pub(crate) fn store_texts(value: &mut Json, at: &ValuePath<'_>, problems: &mut Vec<Problem>) {
    let mut store = |item: &mut Json, at: &ValuePath<'_>| match item.as_str().map(free_text) {
        Some(Ok(text)) if item.as_str().map(str::len) != text.as_str().map(str::len) => {
            *item = text;
        }
        Some(Err(wrong)) => problems.push(wrong.at(at)),
        _ => {}
    };
    match value {
        Json::Array(items) => {
            for (place, item) in items.iter_mut().enumerate() {
                store(item, &ValuePath::Element(at, place));
            }
        }
        item => store(item, at),
    }
}

/// Returns a text in the form in which it is stored.
///
/// Requirements: UND-49.
pub(crate) fn free_text(text: &str) -> Result<Json, ValueError> {
    let text = stored_text(text).ok_or_else(|| {
        ValueError::new("must not have control characters other than tabs and line breaks")
    });
    text.map(Json::from)
}

/// Validates a value that is neither an object nor an array of the tables.
///
/// Requirements: TYP-01 to TYP-09.
pub(crate) fn scalar(ty: &ValueType, raw: &Json) -> Result<Json, ValueError> {
    let wanted = |what: &str| ValueError::new(format!("must be {what}, not {}", raw.kind_name()));
    match (ty, raw) {
        (ValueType::FlexEnum(_), Json::String(text)) => free_text(text),
        // Free texts are brought into their form by the field.
        (ValueType::String | ValueType::Reference, Json::String(_))
        | (ValueType::Boolean, Json::Bool(_)) => Ok(raw.clone()),
        // Always a string in JSON. Requirements: RES-phone_number-01.
        (ValueType::Flag, Json::Bool(set)) => Ok(Json::from(if *set { "true" } else { "false" })),
        (ValueType::Reference, Json::Object(link)) => match link.get("href") {
            Some(href @ Json::String(_)) => Ok(href.clone()),
            _ => Err(ValueError::new(
                "must be a URL, an identifier, or an object with `href`",
            )),
        },
        (ValueType::Flag, Json::String(text)) if matches!(text.as_str(), "true" | "false") => {
            Ok(raw.clone())
        }
        (ValueType::Integer, Json::Number(number)) => {
            let integer = number
                .as_i64()
                .ok_or_else(|| ValueError::new("must be a whole number that fits into 64 bits"));
            integer.map(Json::integer)
        }
        (ValueType::Float, Json::Number(number)) => match number.as_f64() {
            Some(_) => Ok(raw.clone()),
            None => Err(ValueError::new("must be a number that fits into 64 bits")),
        },
        (ValueType::Amount, Json::Number(number)) => {
            let amount = Amount::parse(number.as_str())
                .filter(|amount| amount.is_money() || amount.is_negative());
            match amount {
                Some(amount) if amount.is_negative() => {
                    Err(ValueError::new("must not be negative"))
                }
                Some(amount) => Ok(Json::from(amount)),
                None => Err(ValueError::new(
                    "must be an amount with at most 16 digits before the decimal point and 6 after it",
                )),
            }
        }
        (ValueType::Timestamp, Json::String(text)) => match Timestamp::parse(text) {
            Some(timestamp) => Ok(Json::from(timestamp.to_string())),
            None => Err(ValueError::with_hint(
                "must be an ISO 8601 timestamp with a zone, such as 2026-01-05T09:00:00Z",
                "2026-01-05T09:00:00Z",
            )),
        },
        (ValueType::Date, Json::String(text)) => match Date::parse(text) {
            Some(_) => Ok(raw.clone()),
            None => Err(ValueError::with_hint(
                "must be an ISO 8601 date, such as 2026-01-05",
                "2026-01-05",
            )),
        },
        (ValueType::Enum(values), Json::String(text)) => {
            if values.contains(&text.as_str()) {
                return Ok(raw.clone());
            }
            Err(ValueError::not_allowed(raw, &values.join(", ")))
        }
        (ValueType::String | ValueType::FlexEnum(_), _) => Err(wanted("a string")),
        (ValueType::Enum(values), _) => Err(ValueError::not_allowed(raw, &values.join(", "))),
        (ValueType::Boolean, _) => Err(wanted("true or false")),
        (ValueType::Flag, _) => Err(ValueError::new(
            "must be true or false, as a boolean or as a string",
        )),
        (ValueType::Reference, _) => Err(wanted("a URL or an identifier")),
        (ValueType::Integer | ValueType::Float | ValueType::Amount, _) => Err(wanted("a number")),
        (ValueType::Timestamp, _) => Err(wanted("a string with an ISO 8601 timestamp")),
        (ValueType::Date, _) => Err(wanted("a string with an ISO 8601 date")),
        (ValueType::Array(_), _) => Err(wanted("an array")),
        (ValueType::Object(_) | ValueType::StringMap | ValueType::OneOrMany(_), _) => {
            Err(wanted("an object"))
        }
    }
}

/// Validates a value of the right type against a rule, and normalizes it.
pub(crate) fn apply(
    rule: FieldRule,
    value: &mut Json,
    at: &ValuePath<'_>,
    problems: &mut Vec<Problem>,
) {
    let invalid = |text: &str, hint: &str| {
        Problem::new(
            ErrorCode::FieldInvalid,
            at.property(),
            format!("{{property}} {text}."),
        )
        .with_hint(hint)
    };
    match rule {
        FieldRule::Between(low, high) => {
            let number = value.as_number().and_then(Number::as_f64);
            #[allow(
                clippy::cast_precision_loss,
                reason = "the bounds of the tables are small"
            )]
            if !number.is_some_and(|number| (low as f64..=high as f64).contains(&number)) {
                problems.push(invalid(
                    &format!("must be between {low} and {high}"),
                    &format!("{low}..{high}"),
                ));
            }
        }
        FieldRule::NotNegative => {
            if value.as_i64().is_none_or(|number| number < 0) {
                problems.push(invalid("must not be negative", "0 or more"));
            }
        }
        FieldRule::Email => {
            let Some(text) = value.as_str() else { return };
            match stored_email(text) {
                Ok(address) if address.len() == text.len() => {}
                Ok(address) => *value = Json::from(address),
                Err(error) => problems.push(invalid(
                    &format!("must be one e-mail address, such as name@example.org. {error}"),
                    "name@example.org",
                )),
            }
        }
        FieldRule::OneLine => {
            if value.as_str().is_some_and(has_breaks) {
                problems.push(invalid(
                    "must be a single line without control characters",
                    "^[^\\x00-\\x1F]*$",
                ));
            }
        }
        FieldRule::CountryCode => {
            let Some(text) = value.as_str() else { return };
            match (country(text), similar_country(text)) {
                (Some(code), _) => set_text(value, code),
                (None, Some(meant)) => problems.push(invalid(
                    &format!("must be an ISO 3166-1 alpha-2 country code, such as US. Use {meant}"),
                    meant,
                )),
                (None, None) => problems.push(invalid(
                    "must be an ISO 3166-1 alpha-2 country code, such as US",
                    "US",
                )),
            }
        }
        FieldRule::CurrencyCode => match value.as_str().and_then(currency) {
            Some(code) => *value = Json::from(code),
            None => problems.push(invalid(
                "must be an ISO 4217 currency code, such as USD",
                "USD",
            )),
        },
        FieldRule::RegionCode => {
            let Some(text) = value.as_str() else { return };
            match region(text) {
                Some(code) => set_text(value, &code),
                None => problems.push(invalid(
                    "must be the last part of an ISO 3166-2 code, such as NY in US-NY",
                    "^[A-Za-z0-9]{1,3}$",
                )),
            }
        }
        FieldRule::LanguageCode => {
            if !value.as_str().is_some_and(|text| is_letters(text, 2..=3)) {
                problems.push(invalid(
                    "must be an ISO 639 language code, such as en",
                    "^[A-Za-z]{2,3}$",
                ));
            }
        }
        FieldRule::LanguageTag if !matches!(value, Json::Array(_)) => {
            if value
                .as_str()
                .is_none_or(|tag| LanguageTag::parse(tag).is_err())
            {
                problems.push(invalid(
                    "must be an RFC 5646 language tag, such as en-US",
                    "en-US",
                ));
            }
        }
        FieldRule::PhoneNumber => {
            let Some(text) = value.as_str() else { return };
            match stored_phone(text) {
                Ok(phone) => set_text(value, &phone.digits),
                Err(error) => problems.push(invalid(
                    &format!("must be a phone number with the country code. {error}"),
                    "^[0-9]{7,15}$",
                )),
            }
        }
        FieldRule::WithoutAt => {
            let Some(text) = value.as_str() else { return };
            let rest = without_at(text);
            if rest.len() < text.len() {
                *value = Json::from(rest);
            }
        }
        FieldRule::ResponseKey => {
            let is_key =
                |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric());
            if !value.as_str().is_some_and(is_key) {
                let text = "{property} must consist of letters and digits.";
                problems.push(
                    Problem::new(ErrorCode::ResponseKeyInvalid, at.property(), text)
                        .with_hint("^[A-Za-z0-9]+$"),
                );
            }
        }
        FieldRule::ResponseName => {
            let is_name = |text: &str| {
                !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
            };
            if !value.as_str().is_some_and(is_name) {
                let text = "{property} must consist of letters, digits and underscores.";
                problems.push(
                    Problem::new(ErrorCode::ResponseNameInvalid, at.property(), text)
                        .with_hint("^[A-Za-z0-9_]+$"),
                );
            }
        }
        // Only a store knows the other records.
        FieldRule::UniqueName => {}
        FieldRule::CountryRegions => match value {
            Json::Array(addresses) => {
                for (place, address) in addresses.iter().enumerate() {
                    problems.extend(wrong_region(address, &ValuePath::Element(at, place)));
                }
            }
            address => problems.extend(wrong_region(address, at)),
        },
        FieldRule::MergedEntries => {
            if let (Json::Array(items), ValuePath::Member(_, field)) = (value, at) {
                merge_equal_entries(field, items);
            }
        }
        FieldRule::Unique
        | FieldRule::OnePrimary
        | FieldRule::UniqueKeys
        | FieldRule::Identifiers
        | FieldRule::LanguageTag
        | FieldRule::CountryCalls => {
            if let Json::Array(items) = value {
                apply_to_array(rule, items, at, problems);
            }
        }
    }
}

fn apply_to_array(
    rule: FieldRule,
    items: &mut Vec<Json>,
    at: &ValuePath<'_>,
    problems: &mut Vec<Problem>,
) {
    match rule {
        FieldRule::Unique => {
            let mut seen = std::collections::BTreeSet::new();
            items.retain(|item| {
                item.as_str()
                    .is_none_or(|text| seen.insert(text.to_owned()))
            });
        }
        FieldRule::OnePrimary
            if items
                .iter()
                .filter_map(Json::as_object)
                .filter(|entry| is_primary(entry))
                .count()
                > 1 =>
        {
            let text = "At most one entry of {property} can be primary.";
            problems.push(Problem::new(
                ErrorCode::MultiplePrimary,
                at.property(),
                text,
            ));
        }
        FieldRule::UniqueKeys => {
            let mut seen = std::collections::BTreeSet::new();
            for (place, item) in items.iter().enumerate() {
                let key = item
                    .as_object()
                    .and_then(|object| object.get("key"))
                    .and_then(Json::as_str);
                if key.is_some_and(|key| !seen.insert(key)) {
                    let property = at.property().push_index(place).push_member("key");
                    let text = "{property} must differ from the keys of earlier responses.";
                    problems.push(Problem::new(
                        ErrorCode::ResponseKeyNotUnique,
                        property,
                        text,
                    ));
                }
            }
        }
        FieldRule::LanguageTag => {
            for (place, item) in items
                .iter_mut()
                .enumerate()
                .filter(|(_, item)| !item.is_null())
            {
                apply(rule, item, &ValuePath::Element(at, place), problems);
            }
        }
        FieldRule::CountryCalls => {
            for (place, item) in items.iter().enumerate() {
                let text = |name| item.as_object()?.get(name)?.as_str();
                if let (Some(number), Some(country)) = (text("number"), text("country"))
                    && number.bytes().all(|digit| digit.is_ascii_digit())
                    && let Some(code) = calling_codes(country).next()
                    && !calling_codes(country).any(|code| number.starts_with(code))
                {
                    let text =
                        format!("{{property}} must start with the country code of {country}.");
                    let property = at.property().push_index(place).push_member("number");
                    problems.push(
                        Problem::new(ErrorCode::FieldInvalid, property, text)
                            .with_hint(format!("^{code}[0-9]+$")),
                    );
                }
            }
        }
        FieldRule::Identifiers => {
            for (place, item) in items.iter().enumerate() {
                if item
                    .as_str()
                    .is_some_and(|text| Identifier::parse(text).is_none())
                {
                    let at = ValuePath::Element(at, place);
                    let text = "{property} must have the form `<system_name>:<id>`.";
                    problems.push(
                        Problem::new(ErrorCode::FieldInvalid, at.property(), text)
                            .with_hint("^[A-Za-z0-9_.-]+:.+$"),
                    );
                }
            }
        }
        _ => {}
    }
}

/// Returns whether a text has characters that break a line or are [invisible](is_invisible). Most
/// texts are ASCII, which is checked faster.
fn has_breaks(text: &str) -> bool {
    if text.is_ascii() {
        text.bytes().any(|byte| byte.is_ascii_control())
    } else {
        text.contains(is_invisible)
    }
}

/// Countries in which the code of every region has two letters.
const LETTER_REGIONS: [&str; 6] = ["BR", "CA", "CH", "DE", "IN", "US"];

/// Returns the problem of an address whose region is not possible in its country.
fn wrong_region(address: &Json, at: &ValuePath<'_>) -> Option<Problem> {
    let text = |name| address.as_object()?.get(name)?.as_str();
    let (region, country) = (text("region")?, text("country")?);
    let is_wrong = LETTER_REGIONS.contains(&country) && !is_letters(region, 2..=2);
    is_wrong.then(|| {
        let text = format!("{{property}} must be two letters in {country}.");
        let property = at.property().push_member("region");
        Problem::new(ErrorCode::FieldInvalid, property, text).with_hint("^[A-Za-z]{2}$")
    })
}

fn is_letters(text: &str, many: RangeInclusive<usize>) -> bool {
    many.contains(&text.len()) && text.bytes().all(|b| b.is_ascii_alphabetic())
}

/// Replaces a text unless it is the same.
fn set_text(value: &mut Json, text: &str) {
    if value.as_str() != Some(text) {
        *value = Json::from(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RES-email_address-03: the fast check of ASCII texts finds the same characters.
    #[test]
    fn every_character_that_is_invisible_is_found() {
        for letter in '\0'..=char::MAX {
            assert_eq!(
                has_breaks(&format!("a{letter}b")),
                is_invisible(letter),
                "{letter:?}"
            );
        }
    }
}
