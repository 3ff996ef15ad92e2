//! The form in which postal codes are compared.

use unicode_normalization::UnicodeNormalization;

/// Countries, each with the letters that are written in front of its postal codes.
const PREFIXES: [(&str, &[&str]); 22] = [
    ("AT", &["A", "AT"]),
    ("BE", &["B", "BE"]),
    ("CH", &["CH"]),
    ("CZ", &["CZ"]),
    ("DE", &["D", "DE"]),
    ("DK", &["DK"]),
    ("EE", &["EE"]),
    ("ES", &["E", "ES"]),
    ("FI", &["FI", "FIN"]),
    ("FR", &["F", "FR"]),
    ("HR", &["HR"]),
    ("HU", &["H", "HU"]),
    ("IT", &["I", "IT"]),
    ("LI", &["FL", "LI"]),
    ("LT", &["LT"]),
    ("LU", &["L", "LU"]),
    ("LV", &["LV"]),
    ("NL", &["NL"]),
    ("NO", &["N", "NO"]),
    ("PL", &["PL"]),
    ("SE", &["S", "SE"]),
    ("SI", &["SI"]),
];
/// The number of digits that are compared of a postal code of the United States.
const US_DIGITS: usize = 5;

/// Returns the form of a postal code: its letters and digits, in upper case.
///
/// In the country that `country` names, letters of the country in front of the code are removed, and a
/// code of the United States has five digits. `None` for a text without a digit, with fewer than three
/// characters, or with zeros or nines only.
///
/// # Examples
///
/// ```
/// use svc_core::value::forms;
///
/// assert_eq!(forms::postal_code("D-10115", Some("DE")).as_deref(), Some("10115"));
/// assert_eq!(forms::postal_code("sw1a 1aa", Some("GB")).as_deref(), Some("SW1A1AA"));
/// assert_eq!(forms::postal_code("n/a", None), None);
/// ```
#[must_use]
pub fn postal_code(code: &str, country: Option<&str>) -> Option<String> {
    let upper = if code.is_ascii() {
        code.to_ascii_uppercase()
    } else {
        code.nfkc().collect::<String>().to_uppercase()
    };
    let form: String = upper.chars().filter(|one| one.is_alphanumeric()).collect();
    let country = country.unwrap_or_default();
    let prefixes = PREFIXES
        .iter()
        .find(|(code, _)| code.eq_ignore_ascii_case(country))
        .map_or(&[][..], |(_, prefixes)| prefixes);
    let mut form = prefixes
        .iter()
        .filter_map(|prefix| form.strip_prefix(prefix))
        .find(|rest| rest.starts_with(|one: char| one.is_ascii_digit()))
        .map_or_else(|| form.clone(), str::to_owned);
    if country.eq_ignore_ascii_case("US") {
        form.retain(|one| one.is_ascii_digit());
        if form.len() < US_DIGITS {
            return None;
        }
        form.truncate(US_DIGITS);
    }
    let is_only = |digit: char| form.chars().all(|one| one == digit);
    let is_code = form.contains(|one: char| one.is_ascii_digit())
        && form.chars().nth(2).is_some()
        && !is_only('0')
        && !is_only('9');
    is_code.then_some(form)
}
