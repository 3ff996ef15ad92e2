//! The form in which e-mail addresses are stored.

use std::{borrow::Cow, fmt};

use super::forms::match_form;

/// Maximum length of an e-mail address in bytes.
pub const MAX_EMAIL: usize = 254;

/// The characters that separate the parts of a domain (UTS 46).
const DOTS: [char; 4] = ['.', '\u{3002}', '\u{ff0e}', '\u{ff61}'];

/// Why a text is not an e-mail address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum EmailError {
    /// There is no `@`.
    NoAt,
    /// There is more than one `@`.
    SeveralAts,
    /// The text is a list of addresses.
    SeveralAddresses,
    /// There is no name before the `@`.
    NoName,
    /// The domain is empty, or has an empty part.
    EmptyPart,
    /// The text contains a character that is not allowed.
    Character(char),
    /// The text contains white space.
    Space,
    /// The text contains a control character or an invisible character.
    Invisible,
    /// The text is longer than [`MAX_EMAIL`].
    TooLong,
}

impl fmt::Display for EmailError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoAt => f.write_str("It has no `@`"),
            Self::SeveralAts => f.write_str("It has more than one `@`"),
            Self::SeveralAddresses => f.write_str(
                "It contains several addresses. Send each of them in an entry of its own",
            ),
            Self::NoName => f.write_str("It has nothing before the `@`"),
            Self::EmptyPart => f.write_str("Its domain has an empty part"),
            Self::Character(one) => write!(f, "It contains `{one}`"),
            Self::Space => f.write_str("It contains white space"),
            Self::Invisible => f.write_str("It contains an invisible or control character"),
            Self::TooLong => write!(f, "It has more than {MAX_EMAIL} bytes"),
        }
    }
}

impl std::error::Error for EmailError {}

/// Returns an e-mail address in the form in which it is stored: without white space and zero-width
/// characters at both ends.
///
/// # Examples
///
/// ```
/// use svc_core::value::{EmailError, stored_email};
///
/// assert_eq!(stored_email("\u{a0}Ada+news@Example.ORG "), Ok("Ada+news@Example.ORG"));
/// assert_eq!(stored_email("a@example.org, b@example.org"), Err(EmailError::SeveralAddresses));
/// assert_eq!(stored_email("a@example..org"), Err(EmailError::EmptyPart));
/// ```
///
/// # Errors
///
/// Returns the reason if the text is not exactly one address.
///
/// Requirements: RES-email_address-03.
pub fn stored_email(text: &str) -> Result<&str, EmailError> {
    if is_usual(text) {
        return Ok(text);
    }
    checked(text)
}

/// The ASCII letters, digits and signs of a usual name, as bits.
const OF_NAME: u128 = ascii_set(".+-_'");
/// Those of a usual domain.
const OF_DOMAIN: u128 = ascii_set(".-");

/// Returns the set of ASCII letters, digits and these signs.
const fn ascii_set(signs: &str) -> u128 {
    let mut set = 0;
    let mut byte = 0_u8;
    while byte < 128 {
        if byte.is_ascii_alphanumeric() {
            set |= 1 << byte;
        }
        byte += 1;
    }
    let mut signs = signs.as_bytes();
    while let [sign, rest @ ..] = signs {
        set |= 1 << *sign;
        signs = rest;
    }
    set
}

/// Returns whether a text is certainly one address: a name of ASCII letters, digits and a few signs, and
/// a domain of ASCII letters and digits, without an ASCII form of other letters (`xn--`). This check is
/// faster than [`checked`].
pub(super) fn is_usual(text: &str) -> bool {
    let is_in = |set: u128, byte: u8| byte < 128 && set >> byte & 1 == 1;
    let bytes = text.as_bytes();
    let name = bytes.iter().take_while(|byte| is_in(OF_NAME, **byte));
    let at = name.count();
    let Some((b'@', domain)) = bytes.get(at..).and_then(<[u8]>::split_first) else {
        return false;
    };
    let mut previous = b'.';
    let is_of_domain = |byte: &u8| {
        let is_twice = *byte == previous && matches!(byte, b'.' | b'-');
        previous = *byte;
        is_in(OF_DOMAIN, *byte) && !is_twice
    };
    at > 0 && text.len() <= MAX_EMAIL && domain.iter().all(is_of_domain) && previous != b'.'
}

fn checked(text: &str) -> Result<&str, EmailError> {
    let address = trimmed(text);
    let ats = address.matches('@').count();
    if ats > 1 && address.contains([',', ';', ' ']) {
        return Err(EmailError::SeveralAddresses);
    }
    if let Some(one) = address.chars().find(|one| is_foreign(*one)) {
        return Err(match one {
            one if is_invisible(one) => EmailError::Invisible,
            one if one.is_whitespace() => EmailError::Space,
            one => EmailError::Character(one),
        });
    }
    let (name, domain) = match (ats, address.split_once('@')) {
        (1, Some(parts)) => parts,
        (0, _) => return Err(EmailError::NoAt),
        _ => return Err(EmailError::SeveralAts),
    };
    if name.is_empty() {
        return Err(EmailError::NoName);
    }
    if let Some(one) = wrong_in_name(name).or_else(|| wrong_in_domain(domain)) {
        return Err(EmailError::Character(one));
    }
    let parts = between(domain, '[', ']').unwrap_or(domain);
    if parts.split(DOTS).any(str::is_empty) {
        return Err(EmailError::EmptyPart);
    }
    if address.len() > MAX_EMAIL {
        return Err(EmailError::TooLong);
    }
    Ok(address)
}

/// Returns a text without white space and zero-width characters at both ends.
#[must_use]
pub fn trimmed(text: &str) -> &str {
    // The most frequent case.
    if let ([first, ..], [.., last]) = (text.as_bytes(), text.as_bytes())
        && first.is_ascii_graphic()
        && last.is_ascii_graphic()
    {
        return text;
    }
    let is_edge = |one: char| one.is_whitespace() || is_invisible(one) && !one.is_control();
    text.trim_matches(is_edge)
}

/// Returns what is between two characters that a text starts and ends with.
pub(super) fn between(text: &str, start: char, end: char) -> Option<&str> {
    text.strip_prefix(start)?.strip_suffix(end)
}

/// Returns whether a character is not allowed anywhere in an address.
fn is_foreign(one: char) -> bool {
    one.is_whitespace() || is_invisible(one) || matches!(one, ',' | ';' | '<' | '>')
}

/// Returns whether a character ends a line for some mailers, or is invisible (Unicode categories
/// Cc, Zl, Zp and Cf).
#[must_use]
pub fn is_invisible(one: char) -> bool {
    one.is_control()
        || matches!(one, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2064}' | '\u{feff}')
}

/// Returns the first character that is not allowed in the name of an address, unless the name is
/// quoted.
fn wrong_in_name(name: &str) -> Option<char> {
    match between(name, '"', '"') {
        Some(inner) => inner.chars().find(|one| *one == '"'),
        None => name
            .chars()
            .find(|one| matches!(one, '(' | ')' | '[' | ']' | ':' | '\\' | '"')),
    }
}

/// Returns the first character that is not allowed in a domain. An address of a host in brackets is
/// allowed.
fn wrong_in_domain(domain: &str) -> Option<char> {
    let is_part = |one: char| {
        !one.is_ascii() || one.is_ascii_alphanumeric() || matches!(one, '.' | '-' | '_')
    };
    match between(domain, '[', ']') {
        Some(inner) => inner
            .chars()
            .find(|one| !one.is_ascii() || !is_part(*one) && *one != ':'),
        None => domain.chars().find(|one| !is_part(*one)),
    }
}

/// Returns the notations in which a backend can have stored an address, with Latin letters in lower
/// case: the compared form, the same with its domain in Unicode, and the address as it is.
#[must_use]
pub fn email_notations(address: &str) -> Vec<String> {
    let compared = match_form(address).into_owned();
    let mut notations = Vec::with_capacity(1);
    if let Some((name, domain)) = compared.rsplit_once('@')
        && domain.split('.').any(|part| part.starts_with("xn--"))
        && let (unicode, Ok(())) = idna::domain_to_unicode(domain)
    {
        notations.push(format!("{name}@{unicode}"));
    }
    let sent = email_as_sent(address).into_owned();
    if sent != compared && !notations.contains(&sent) {
        notations.push(sent);
    }
    notations.insert(0, compared);
    notations
}

/// Returns an address in its own notation, with Latin letters in lower case.
#[must_use]
pub fn email_as_sent(address: &str) -> Cow<'_, str> {
    let address = trimmed(address);
    if address.bytes().any(|byte| byte.is_ascii_uppercase()) {
        address.to_ascii_lowercase().into()
    } else {
        address.into()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::value::proptest_config::{awkward, config};

    proptest! {
        #![proptest_config(config())]

        /// The fast check accepts only what the whole check accepts.
        #[test]
        fn a_usual_address_is_an_address(text in "[a-zA-Z0-9.+_' @-]{0,6}@?([a-z0-9.-]{0,8}|[a-z]{240,260})") {
            if is_usual(&text) {
                prop_assert_eq!(checked(&text), Ok(text.as_str()));
            }
        }
    }

    #[test]
    fn one_address_is_stored_as_sent() {
        for address in [
            "Ada+news@Example.ORG",
            "o'brien@example.org",
            "ada..l@example.org",
            "用户@例子.广告",
            "josé@example.museum",
            "ada@localhost",
            "ada@exa_mple.org",
            "ada@[IPv6:2001:DB8::1]",
            "\"ada\"@example.org",
            "a=b/c!#$%&*?^_`{|}~@example.org",
        ] {
            assert_eq!(stored_email(address), Ok(address));
            for (start, end) in [(" ", "\t"), ("\u{a0}", "\u{feff}"), ("\u{200b}", "\r\n")] {
                let dirty = format!("{start}{address}{end}");
                assert_eq!(stored_email(&dirty), Ok(address), "{dirty:?}");
            }
        }
    }

    #[test]
    fn everything_else_is_an_error_with_its_reason() {
        for (text, error) in [
            ("", EmailError::NoAt),
            ("ada", EmailError::NoAt),
            ("ada@", EmailError::EmptyPart),
            ("@example.org", EmailError::NoName),
            ("a@x.org, b@x.org", EmailError::SeveralAddresses),
            ("a@x.org;b@x.org", EmailError::SeveralAddresses),
            ("a@x.org b@x.org", EmailError::SeveralAddresses),
            ("a@x.org;", EmailError::Character(';')),
            ("a b@x.org", EmailError::Space),
            ("a@x\u{a0}y.org", EmailError::Space),
            ("a@@x.org", EmailError::SeveralAts),
            ("a@x..org", EmailError::EmptyPart),
            ("a@x.org.", EmailError::EmptyPart),
            ("a@.x.org", EmailError::EmptyPart),
            ("a@x。。org", EmailError::EmptyPart),
            ("a@[]", EmailError::EmptyPart),
            ("a@[1..2]", EmailError::EmptyPart),
            ("a@[ü]", EmailError::Character('ü')),
            ("a@x.org\u{7f}", EmailError::Invisible),
            ("Ada <ada@x.org>", EmailError::Space),
            ("<ada@x.org>", EmailError::Character('<')),
            ("mailto:ada@x.org", EmailError::Character(':')),
            ("ada(work)@x.org", EmailError::Character('(')),
            ("ada@x.org/home", EmailError::Character('/')),
            ("a\u{200b}b@x.org", EmailError::Invisible),
            ("a\r\nBcc: b@x.org", EmailError::Invisible),
        ] {
            assert_eq!(stored_email(text), Err(error), "{text:?}");
        }
        let long = format!("{}@x.org", "a".repeat(MAX_EMAIL));
        assert_eq!(stored_email(&long), Err(EmailError::TooLong));
    }

    #[test]
    fn a_backend_can_have_stored_either_notation_of_a_domain() {
        assert_eq!(email_notations("Ada@x.org"), ["ada@x.org"]);
        assert_eq!(
            email_notations("ada@BÜCHER.example"),
            [
                "ada@xn--bcher-kva.example",
                "ada@bücher.example",
                "ada@bÜcher.example"
            ]
        );
        assert_eq!(email_notations("x@xn--zzzzzz.example").len(), 1);
        assert_eq!(
            email_notations("JOSÉ@x.org"),
            ["josé@x.org", "josÉ@x.org"],
            "a database can fold ASCII only"
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 20_000, ..config() })]

        #[test]
        fn what_is_stored_is_stored_again(name in awkward(), domain in awkward()) {
            let address = format!("{name}@{domain}");
            if let Ok(stored) = stored_email(&address) {
                prop_assert_eq!(stored_email(stored), Ok(stored));
                prop_assert_eq!(match_form(stored), match_form(&address));
            }
        }
    }
}
