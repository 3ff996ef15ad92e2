//! The forms in which values of people are compared.
//!
//! Two values with the same form are the same value: an e-mail address of the same mailbox, or the same
//! phone number. `None` means that a value has no form and is not compared. Values are stored and
//! returned as they were sent; only indexes contain forms.
//!
//! # Examples
//!
//! ```
//! use svc_core::value::forms;
//!
//! assert_eq!(forms::email(" Ada@BÜCHER.example").as_deref(), Some("ada@xn--bcher-kva.example"));
//! assert_eq!(forms::phone("4401632960001", None, None).as_deref(), Some("441632960001"));
//! assert_eq!(forms::name("José", "García-Márquez").as_deref(), Some("garciamarquez jose"));
//! assert_eq!(forms::birthdate(1970, 1, 1), None);
//! ```
//!
//! Requirements: HLP-04, UND-46.

mod email;
mod fold;
mod phone;
mod postal_code;
#[cfg(test)]
mod tests;

use super::{Date, text::without_at};
pub use email::{email, match_form};
use fold::fold;
pub use phone::phone;
pub use postal_code::postal_code;

/// The number of the forms. If it changes, stores build their indexes of e-mail addresses again.
pub const VERSION: u32 = 3;

/// Days of birth that programs store for an unknown one: year, month and day.
const UNKNOWN_DAYS: [(u16, u8, u8); 4] = [(1900, 1, 1), (1901, 1, 1), (1970, 1, 1), (2000, 1, 1)];

/// Returns the form of the name of a person: the first given name and the family name, without case,
/// accents and punctuation.
///
/// The two parts are sorted, so a person whose names are exchanged has the same form. Other
/// alphabets are not transliterated, and short forms of names are different names. `None` if a part is
/// missing or only an initial.
///
/// # Examples
///
/// ```
/// use svc_core::value::forms;
///
/// assert_eq!(forms::name("Ada Mary", "LOVELACE"), forms::name("Lovelace", "Ada"));
/// assert_eq!(forms::name("A.", "Lovelace"), None);
/// ```
#[must_use]
pub fn name(given_name: &str, family_name: &str) -> Option<String> {
    let given = fold(given_name);
    let first = given.split(' ').next().unwrap_or_default();
    let family = fold(family_name).replace(' ', "");
    let is_name = |part: &str| {
        let mut letters = part.chars();
        letters
            .next()
            .is_some_and(|one| !one.is_ascii() || letters.next().is_some())
    };
    if !is_name(first) || !is_name(&family) {
        return None;
    }
    let (one, other) = if *first <= *family {
        (first, &*family)
    } else {
        (&*family, first)
    };
    Some(format!("{one} {other}"))
}

/// Returns the form of the lines of a postal address: one text without case, accents and
/// punctuation. `None` if it is empty.
#[must_use]
pub fn address_lines<'a>(lines: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let mut form = String::new();
    for line in lines {
        let line = fold(line);
        if !form.is_empty() && !line.is_empty() {
            form.push(' ');
        }
        form.push_str(&line);
    }
    (!form.is_empty()).then_some(form)
}

/// Returns the form of a date of birth. `None` for a day that does not exist, and for days that often
/// represent an unknown date, such as 1 January 1970.
#[must_use]
pub fn birthdate(year: i64, month: i64, day: i64) -> Option<String> {
    let year = u16::try_from(year).ok()?;
    let (month, day) = (u8::try_from(month).ok()?, u8::try_from(day).ok()?);
    let date = Date::new(year, month, day)?;
    (!UNKNOWN_DAYS.contains(&(year, month, day))).then(|| date.to_string())
}

/// Returns the form of an online profile: its provider, and its id or else its handle.
///
/// `None` without a provider, or with neither id nor handle.
#[must_use]
pub fn profile(provider: &str, id: Option<&str>, handle: Option<&str>) -> Option<String> {
    let provider = fold(provider);
    let is_present = |text: &&str| !text.is_empty();
    let name = if let Some(id) = id.map(str::trim).filter(is_present) {
        id.to_owned()
    } else {
        let handle = without_at(handle?).trim_end();
        format!("@{}", Some(handle).filter(is_present)?.to_lowercase())
    };
    (!provider.is_empty()).then(|| format!("{provider} {name}"))
}
