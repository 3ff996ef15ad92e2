//! The form in which phone numbers are stored.

use std::fmt;

use super::{codes::calling_codes, email::trimmed, is_invisible};

/// The least and the greatest number of digits of a phone number with its country code (E.164).
const DIGITS: std::ops::RangeInclusive<usize> = 7..=15;
/// How an extension begins, the longest first.
const EXTENSION_MARKS: [&str; 7] = [";ext=", "extension", "ext.", "ext", "x.", "x", "#"];

/// A phone number in the form in which it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredPhone {
    /// The digits, which start with the country code.
    pub digits: String,
    /// The digits of the extension, if the text contained one.
    pub extension: Option<String>,
}

/// Why a text is not a phone number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PhoneError {
    /// The text contains a character that is neither a digit nor a separator.
    Character(char),
    /// The number has fewer or more digits than a phone number with its country code.
    Length(usize),
}

impl fmt::Display for PhoneError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Character(one) => write!(f, "It contains `{one}`"),
            Self::Length(digits) => write!(
                f,
                "It has {digits} digits instead of {} to {}",
                DIGITS.start(),
                DIGITS.end()
            ),
        }
    }
}

impl std::error::Error for PhoneError {}

/// Returns a phone number in the form in which it is stored: its digits, which start with the country
/// code.
///
/// Separators, `tel:`, a leading `+` or `00`, and `(0)` after the country code are removed. An extension
/// such as `x12` or `ext. 12` is separated.
///
/// # Examples
///
/// ```
/// use svc_core::value::stored_phone;
///
/// let phone = stored_phone("+44 (0)20 7946-0000 ext. 12")?;
/// assert_eq!(phone.digits, "442079460000");
/// assert_eq!(phone.extension.as_deref(), Some("12"));
/// # Ok::<(), svc_core::value::PhoneError>(())
/// ```
///
/// # Errors
///
/// Returns the reason if the text is not a phone number.
///
/// Requirements: RES-phone_number-03.
pub fn stored_phone(text: &str) -> Result<StoredPhone, PhoneError> {
    // The most frequent case.
    let is_stored = DIGITS.contains(&text.len())
        && !text.starts_with("00")
        && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_stored {
        return Ok(StoredPhone {
            digits: text.to_owned(),
            extension: None,
        });
    }
    let text = trimmed(text);
    let text = match text.get(..4) {
        Some(start) if start.eq_ignore_ascii_case("tel:") => text.get(4..).unwrap_or_default(),
        _ => text,
    };
    let (number, extension) = split_extension(text)?;
    let number = without_trunk_zero(number);
    let digits = match number.split_once('+') {
        Some((start, rest)) if start.chars().all(is_separator) => only_digits(rest)?,
        _ => only_digits(&number)?,
    };
    let digits = without_international_prefix(&digits).to_owned();
    if !DIGITS.contains(&digits.len()) {
        return Err(PhoneError::Length(digits.len()));
    }
    Ok(StoredPhone { digits, extension })
}

/// The countries in which a number within the country starts with something other than `0`, each with
/// that start. It is empty if the `0` is a part of the number.
const TRUNK_PREFIXES: [(&str, &str); 6] = [
    ("HU", "06"),
    ("IT", ""),
    ("KZ", "8"),
    ("RU", "8"),
    ("SM", ""),
    ("VA", ""),
];

/// Returns a phone number as people write it in a country, in the form in which it is stored.
///
/// A number without `+`, `00` or the calling code of the country is one of this country, which is a code of
/// ISO 3166-1. A number of an unknown country must contain its country code.
///
/// # Examples
///
/// ```
/// use svc_core::value::typed_phone;
///
/// assert_eq!(typed_phone("(202) 555-0104", "US")?.digits, "12025550104");
/// assert_eq!(typed_phone("030 1234567", "DE")?.digits, "49301234567");
/// assert_eq!(typed_phone("+44 20 7946 0000", "DE")?.digits, "442079460000");
/// # Ok::<(), svc_core::value::PhoneError>(())
/// ```
///
/// # Errors
///
/// Returns the reason if the text is not a phone number.
///
/// Requirements: RES-phone_number-03.
pub fn typed_phone(text: &str, country: &str) -> Result<StoredPhone, PhoneError> {
    let plain = trimmed(text);
    let (number, _) = split_extension(plain)?;
    let is_international = number.contains('+') || number.starts_with("00");
    let code = calling_codes(country).next().filter(|_| !is_international);
    let Some(code) = code else {
        return stored_phone(plain);
    };
    let digits = only_digits(number)?;
    let trunk = TRUNK_PREFIXES.iter().find(|(of, _)| *of == country);
    let trunk = match trunk {
        Some((_, trunk)) => trunk,
        None if code == "1" => "1",
        None => "0",
    };
    let is_whole = digits.starts_with(code) && digits.len() > 10;
    let national = digits.strip_prefix(trunk).unwrap_or(&digits);
    if is_whole && (trunk.is_empty() || national.len() == digits.len() || code == "1") {
        return stored_phone(plain);
    }
    let rest = plain.get(number.len()..).unwrap_or_default();
    stored_phone(&format!("+{code}{national}{rest}"))
}

/// Separates the extension from a number.
fn split_extension(text: &str) -> Result<(&str, Option<String>), PhoneError> {
    let is_mark = |one: char| one.is_alphabetic() || matches!(one, '#' | ';');
    let Some((at, first)) = text.char_indices().find(|(_, one)| is_mark(*one)) else {
        return Ok((text, None));
    };
    let (number, rest) = text.split_at_checked(at).unwrap_or((text, ""));
    let starts = |mark: &&str| {
        rest.get(..mark.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(mark))
    };
    let mark = EXTENSION_MARKS.into_iter().find(starts);
    let extension = mark.and_then(|mark| rest.get(mark.len()..));
    let digits = extension.and_then(|text| only_digits(text.trim_start_matches([':', ' '])).ok());
    match digits.filter(|digits| !digits.is_empty()) {
        Some(digits) => Ok((number, Some(digits))),
        None => Err(PhoneError::Character(first)),
    }
}

/// Removes the `(0)` after a country code, which is dialled only within the country.
pub(super) fn without_trunk_zero(number: &str) -> String {
    match number.split_once("(0)") {
        Some((code, rest)) if code.contains(|one: char| one.is_ascii_digit()) => {
            format!("{code}{rest}")
        }
        _ => number.to_owned(),
    }
}

/// Removes the `00` in front of a country code.
fn without_international_prefix(digits: &str) -> &str {
    let mut rest = digits;
    while let Some(behind) = rest.strip_prefix("00") {
        rest = behind;
    }
    rest
}

/// Returns the digits of a text without separators.
pub(super) fn only_digits(text: &str) -> Result<String, PhoneError> {
    let mut digits = String::with_capacity(text.len());
    for one in text.chars() {
        if one.is_ascii_digit() {
            digits.push(one);
        } else if !is_separator(one) {
            return Err(PhoneError::Character(one));
        }
    }
    Ok(digits)
}

/// Returns whether people and office programs write a character between the digits of a number.
fn is_separator(one: char) -> bool {
    one.is_whitespace()
        || is_invisible(one) && !one.is_control()
        || matches!(
            one,
            '-' | '.' | '/' | '(' | ')' | '[' | ']' | '\u{2010}'
                ..='\u{2015}' | '\u{2212}' | '\u{fe58}' | '\u{fe63}' | '\u{ff0d}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn res_phone_number_03_numbers_have_one_form() {
        for (digits, texts) in [
            (
                "15550100199",
                &[
                    "+1 (555) 010-0199",
                    "tel:+1-555-010-0199",
                    "1.555.010.0199",
                    "15550100199",
                    "+1\u{a0}555\u{2011}010\u{2013}0199",
                    "\u{202a}+1 555 010 0199\u{202c}",
                    "001 555 010 0199",
                    "(+1) 555 010 0199",
                    "00 001 555 010 0199",
                ][..],
            ),
            (
                "491701234567",
                &["00491701234567", "+49 170/123 45 67", "0049 (0)170 1234567"],
            ),
            (
                "441632960001",
                &["+44 (0)1632 960001", "+44 1632 960-001", "44(0)1632960001"],
            ),
        ] {
            for text in texts {
                let phone = stored_phone(text);
                assert_eq!(phone.as_ref().map(|it| &*it.digits), Ok(digits), "{text:?}");
                assert_eq!(phone.map(|it| it.extension), Ok(None), "{text:?}");
            }
        }
    }

    #[test]
    fn res_phone_number_04_an_extension_is_separated() {
        for text in [
            "12025550100x12",
            "+1 202 555 0100 ext. 12",
            "+1 202 555 0100 EXT 12",
            "12025550100 extension: 12",
            "12025550100 #12",
            "tel:+12025550100;ext=12",
        ] {
            let phone = stored_phone(text).unwrap();
            assert_eq!(phone.digits, "12025550100", "{text}");
            assert_eq!(phone.extension.as_deref(), Some("12"), "{text}");
        }
    }

    #[test]
    fn a_number_without_a_country_code_is_one_of_the_country() {
        for (text, country, digits) in [
            ("(202) 555-0104", "US", "12025550104"),
            ("1-202-555-0104", "US", "12025550104"),
            ("202.555.0104 ext. 9", "CA", "12025550104"),
            ("+49 30 1234567", "US", "49301234567"),
            ("0049 30 1234567", "US", "49301234567"),
            ("030/1234567", "DE", "49301234567"),
            ("49301234567", "DE", "49301234567"),
            ("(0)30 1234567", "DE", "49301234567"),
            ("06 1 234 5678", "HU", "3612345678"),
            ("06 1234 5678", "IT", "390612345678"),
            ("8 495 123-45-67", "RU", "74951234567"),
            ("612 345 678", "ES", "34612345678"),
            ("12025550104", "XX", "12025550104"),
        ] {
            let phone = typed_phone(text, country);
            assert_eq!(phone.as_ref().map(|it| &*it.digits), Ok(digits), "{text}");
        }
        assert_eq!(
            typed_phone("202.555.0104 ext. 9", "US").unwrap().extension,
            Some("9".to_owned())
        );
        for text in ["", "n/a", "555", "call the office"] {
            assert!(typed_phone(text, "US").is_err(), "{text}");
        }
    }

    #[test]
    fn everything_else_is_an_error_with_its_reason() {
        for (text, error) in [
            ("", PhoneError::Length(0)),
            ("123456", PhoneError::Length(6)),
            ("1234567890123456", PhoneError::Length(16)),
            ("call me", PhoneError::Character('c')),
            ("1-800-FLOWERS", PhoneError::Character('F')),
            ("12025550100x", PhoneError::Character('x')),
            ("12025550100, 12025550101", PhoneError::Character(',')),
            ("1+2025550100", PhoneError::Character('+')),
            ("++12025550100", PhoneError::Character('+')),
            (
                "\u{660}\u{661}\u{662}\u{663}\u{664}\u{665}\u{666}",
                PhoneError::Character('\u{660}'),
            ),
            ("1202\n5550100\u{7}", PhoneError::Character('\u{7}')),
        ] {
            assert_eq!(stored_phone(text), Err(error), "{text:?}");
        }
    }
}
