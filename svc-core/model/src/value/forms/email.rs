//! The form in which e-mail addresses are compared.

use std::borrow::Cow;

use idna::AsciiDenyList;
use unicode_normalization::UnicodeNormalization;

use super::fold::is_format;
use crate::value::{
    MAX_EMAIL,
    email::{between, email_as_sent, is_invisible, is_usual, trimmed},
};

/// Maximum length of an address that is compared, and of its form, in bytes.
const MAX_FORM: usize = 320;

/// Returns the form of an e-mail address. Two addresses with the same form belong to the same mailbox.
///
/// The case of Latin letters does not matter, and neither does the notation of the domain: Unicode,
/// its ASCII form (`xn--`), composed or decomposed. Letters that only look alike are different, such as
/// the Kelvin sign and K in the name. Dots and `+` in the name are compared. `None` for a text that is not
/// exactly one address.
///
/// # Examples
///
/// ```
/// use svc_core::value::forms;
///
/// assert_eq!(forms::email("\"Ada\"@example.org.").as_deref(), Some("ada@example.org"));
/// assert_eq!(forms::email("Ada <ada@example.org>"), None);
/// ```
///
/// Requirements: HLP-04, UND-46.
#[must_use]
pub fn email(address: &str) -> Option<String> {
    compared(address).map(Cow::into_owned)
}

/// Returns the form by which an e-mail address is found: its [form](email), or the address in its own
/// notation, with Latin letters in lower case.
///
/// # Examples
///
/// ```
/// use svc_core::value::forms;
///
/// assert_eq!(forms::match_form(" Ada@BÜCHER.example"), "ada@xn--bcher-kva.example");
/// assert_eq!(forms::match_form("No Address"), "no address");
/// ```
///
/// Requirements: HLP-04, UND-46.
#[must_use]
pub fn match_form(address: &str) -> Cow<'_, str> {
    compared(address).unwrap_or_else(|| email_as_sent(address))
}

fn compared(address: &str) -> Option<Cow<'_, str>> {
    let address = trimmed(address);
    // The most frequent case.
    if is_usual(address) {
        return Some(email_as_sent(address));
    }
    checked(address)
}

/// Returns the form of an address without white space at its ends.
pub(super) fn checked(address: &str) -> Option<Cow<'_, str>> {
    if address.len() > MAX_FORM {
        return None;
    }
    let (name, domain) = address.rsplit_once('@')?;
    let form = format!("{}@{}", compared_name(name)?, compared_domain(domain)?);
    (form.len() <= MAX_FORM).then_some(form.into())
}

/// Returns the form of the name of an address. `None` for a text that is not a name, or contains an
/// invisible character or a look-alike of an ASCII character.
fn compared_name(name: &str) -> Option<String> {
    let name = match between(name, '"', '"') {
        Some(quoted) => unescaped(quoted)?,
        None if is_atoms(name) => name.to_owned(),
        None => return None,
    };
    let becomes_ascii =
        |one: char| !one.is_ascii() && std::iter::once(one).nfd().all(|it| it.is_ascii());
    if name.contains(|one: char| is_invisible(one) || is_format(one) || becomes_ascii(one)) {
        return None;
    }
    let lower: String = if name.is_ascii() {
        name.to_ascii_lowercase()
    } else {
        let lower = name.nfd().map(|one| one.to_ascii_lowercase());
        lower.nfc().collect()
    };
    Some(if is_atoms(&lower) {
        lower
    } else {
        let escaped = lower.replace('\\', "\\\\").replace('"', "\\\"");
        format!("\"{escaped}\"")
    })
}

/// Returns whether a name needs no quotes. Dots may be anywhere, because some mailers accept them.
fn is_atoms(name: &str) -> bool {
    let is_atom = |one: char| {
        if one.is_ascii() {
            one.is_ascii_alphanumeric() || "!#$%&'*+-/=?^_`{|}~.".contains(one)
        } else {
            !one.is_whitespace()
        }
    };
    !name.is_empty() && name.chars().all(is_atom)
}

/// Returns the text between quotes, without the backslashes that escape characters in it.
fn unescaped(quoted: &str) -> Option<String> {
    let mut letters = quoted.chars();
    let mut text = String::with_capacity(quoted.len());
    while let Some(one) = letters.next() {
        match one {
            '"' => return None,
            '\\' => text.push(letters.next()?),
            one => text.push(one),
        }
    }
    Some(text)
}

/// Returns the form of a domain: the ASCII form of UTS 46. `None` for a text that is not a domain.
fn compared_domain(domain: &str) -> Option<Cow<'_, str>> {
    if domain.starts_with('[') {
        let host = between(domain, '[', ']')?;
        let is_host = host.bytes().all(|byte| byte.is_ascii_graphic());
        return is_host.then(|| domain.to_ascii_lowercase().into());
    }
    let domain = idna::domain_to_ascii_cow(domain.as_bytes(), AsciiDenyList::STD3).ok()?;
    let domain = match domain {
        Cow::Borrowed(domain) => Cow::Borrowed(domain.strip_suffix('.').unwrap_or(domain)),
        Cow::Owned(domain) => Cow::Owned(domain.strip_suffix('.').unwrap_or(&domain).to_owned()),
    };
    (domain.len() < MAX_EMAIL && domain.split('.').all(|part| !part.is_empty())).then_some(domain)
}
