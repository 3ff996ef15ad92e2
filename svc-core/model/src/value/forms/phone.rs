//! The form in which phone numbers are compared.

use crate::value::{
    calling_codes,
    email::trimmed,
    phone::{only_digits, without_trunk_zero},
};

/// The least and the greatest number of digits of a number that is compared.
const DIGITS: std::ops::RangeInclusive<usize> = 8..=15;
/// The number of last digits that are not all equal in a number that exists.
const LAST: usize = 7;
/// The calling codes of countries where a `0` in front of a number is dialled only within the
/// country.
const TRUNK_ZERO: [&str; 24] = [
    "27", "31", "32", "33", "40", "41", "43", "44", "46", "49", "61", "62", "63", "64", "66", "81",
    "82", "84", "90", "91", "92", "94", "353", "358",
];

/// Returns the form of a phone number: its digits, which start with the calling code, and after a
/// semicolon those of its extension.
///
/// A `0` after the calling code is removed in countries where it is dialled only within the country.
/// Without `country`, the first digits are read as the calling code. `None` for a number that does
/// not start with the calling code of `country`, starts with `0`, or has fewer than 8 or more than 15
/// digits. Also `None` for a number that does not exist, and for an extension without digits.
///
/// # Examples
///
/// ```
/// use svc_core::value::forms;
///
/// let form = forms::phone("+44 (0)1632 960-001", Some("0123"), Some("GB"));
/// assert_eq!(form.as_deref(), Some("441632960001;123"));
/// assert_eq!(forms::phone("01632 960001", None, Some("GB")), None);
/// ```
///
/// Requirements: HLP-04.
#[must_use]
pub fn phone(number: &str, extension: Option<&str>, country: Option<&str>) -> Option<String> {
    let number = without_trunk_zero(trimmed(number));
    let number = number.strip_prefix('+').unwrap_or(&number);
    let mut form = only_digits(number).ok()?;
    let code = TRUNK_ZERO.iter().find(|code| form.starts_with(**code));
    if let Some(code) = code
        && form
            .get(code.len()..)
            .is_some_and(|rest| rest.starts_with('0'))
    {
        form.remove(code.len());
        // Numbers of these countries do not start with 0.
        if form.get(code.len()..)?.starts_with('0') {
            return None;
        }
    }
    let has_code = |country: &str| {
        let mut codes = calling_codes(country).peekable();
        codes.peek().is_none() || codes.any(|code| form.starts_with(code))
    };
    let last = form.as_bytes().last_chunk::<LAST>()?;
    let is_number = DIGITS.contains(&form.len())
        && !form.starts_with('0')
        && country.is_none_or(has_code)
        && last.windows(2).any(|pair| pair.first() != pair.last());
    if !is_number {
        return None;
    }
    if let Some(extension) = extension.map(str::trim).filter(|text| !text.is_empty()) {
        let digits = extension.chars().filter(char::is_ascii_digit);
        let digits: String = digits.skip_while(|digit| *digit == '0').collect();
        if digits.is_empty() {
            return None;
        }
        form.push(';');
        form.push_str(&digits);
    }
    Some(form)
}
