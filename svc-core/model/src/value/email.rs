//! The form in which e-mail addresses are stored, and the form in which they are compared.

use std::{borrow::Cow, fmt};

use idna::AsciiDenyList;
use unicode_normalization::UnicodeNormalization;

/// Maximum length of an e-mail address in bytes.
pub const MAX_EMAIL: usize = 254;
/// The number of the form in which addresses are compared. If it changes, stores build their indexes
/// of addresses again.
pub const EMAIL_FORM: u32 = 2;

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

/// Returns whether a text is certainly one address: a name of ASCII letters, digits and a few signs, and
/// a domain of ASCII letters and digits. This check is faster than [`checked`].
fn is_usual(text: &str) -> bool {
    let Some((name, domain)) = text.split_once('@') else {
        return false;
    };
    let is_of_name = |byte: u8| byte.is_ascii_alphanumeric() || b".+-_'".contains(&byte);
    let mut previous = b'.';
    let is_of_domain = |byte: u8| {
        let has_empty_part = byte == b'.' && previous == b'.';
        previous = byte;
        byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-') && !has_empty_part
    };
    text.len() <= MAX_EMAIL
        && !name.is_empty()
        && name.bytes().all(is_of_name)
        && domain.bytes().all(is_of_domain)
        && !domain.is_empty()
        && !domain.ends_with('.')
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
    let is_edge = |one: char| one.is_whitespace() || is_invisible(one) && !one.is_control();
    text.trim_matches(is_edge)
}

/// Returns what is between two characters that a text starts and ends with.
fn between(text: &str, start: char, end: char) -> Option<&str> {
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

/// Returns the form in which an e-mail address is compared. Two addresses with the same form belong
/// to the same mailbox.
///
/// The case of Latin letters does not matter, and neither does the notation of the domain: Unicode,
/// its ASCII form (`xn--`), composed or decomposed. Letters that only look alike are different, such as
/// the Kelvin sign and K in the name. Dots and `+` in the name are compared.
///
/// # Examples
///
/// ```
/// use svc_core::value::normalize_email;
///
/// assert_eq!(normalize_email(" Ada@BÜCHER.example"), "ada@xn--bcher-kva.example");
/// ```
///
/// Requirements: HLP-04.
#[must_use]
pub fn normalize_email(address: &str) -> String {
    let Some((name, domain)) = trimmed(address).rsplit_once('@') else {
        return email_as_sent(address);
    };
    match (compared_name(name), compared_domain(domain)) {
        (Some(name), Some(domain)) => format!("{name}@{domain}"),
        _ => email_as_sent(address),
    }
}

/// Returns the form in which the name of an address is compared. `None` for a name that cannot be
/// compared other than as it is.
fn compared_name(name: &str) -> Option<String> {
    let name = unquoted(name);
    if name.is_ascii() {
        let name = name.to_ascii_lowercase();
        return (!name.is_empty() && !name.contains(|one: char| one.is_ascii_control()))
            .then_some(name);
    }
    let becomes_ascii =
        |one: char| !one.is_ascii() && std::iter::once(one).nfd().all(|it| it.is_ascii());
    if name.contains(|one: char| is_invisible(one) || becomes_ascii(one)) {
        return None;
    }
    let lower: String = name.nfd().map(|one| one.to_ascii_lowercase()).collect();
    Some(lower.nfc().collect())
}

/// Returns a name without quotes if it means the same without them.
fn unquoted(name: &str) -> &str {
    let is_atom = |one: char| {
        one.is_ascii_alphanumeric()
            || "!#$%&'*+-/=?^_`{|}~.".contains(one)
            || !one.is_ascii() && !one.is_whitespace() && !is_invisible(one)
    };
    between(name, '"', '"')
        .filter(|inner| !inner.is_empty() && inner.chars().all(is_atom))
        .unwrap_or(name)
}

/// Returns the form in which a domain is compared: the ASCII form of UTS 46. `None` for a text that is
/// not a domain.
fn compared_domain(domain: &str) -> Option<Cow<'_, str>> {
    if domain.starts_with('[') {
        return domain
            .is_ascii()
            .then(|| domain.to_ascii_lowercase().into());
    }
    let domain = idna::domain_to_ascii_cow(domain.as_bytes(), AsciiDenyList::STD3).ok()?;
    let domain = match domain {
        Cow::Borrowed(domain) => Cow::Borrowed(domain.strip_suffix('.').unwrap_or(domain)),
        Cow::Owned(domain) => Cow::Owned(domain.strip_suffix('.').unwrap_or(&domain).to_owned()),
    };
    (domain.len() < MAX_EMAIL && domain.split('.').all(|part| !part.is_empty())).then_some(domain)
}

/// Returns the notations in which a backend can have stored an address, with Latin letters in lower
/// case: the compared form, the same with its domain in Unicode, and the address as it is.
#[must_use]
pub fn email_notations(address: &str) -> Vec<String> {
    let compared = normalize_email(address);
    let mut notations = Vec::with_capacity(1);
    if let Some((name, domain)) = compared.rsplit_once('@')
        && domain.split('.').any(|part| part.starts_with("xn--"))
        && let (unicode, Ok(())) = idna::domain_to_unicode(domain)
    {
        notations.push(format!("{name}@{unicode}"));
    }
    let sent = email_as_sent(address);
    if sent != compared && !notations.contains(&sent) {
        notations.push(sent);
    }
    notations.insert(0, compared);
    notations
}

/// Returns an address in its own notation, with Latin letters in lower case.
#[must_use]
pub fn email_as_sent(address: &str) -> String {
    trimmed(address).to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::value::proptest_config::config;

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
    fn hlp_04_addresses_of_one_mailbox_have_one_form() {
        for (compared, addresses) in [
            (
                "ada@example.org",
                &[
                    " Ada@Example.ORG ",
                    "ada@example.org.",
                    "\"ada\"@example.org",
                ][..],
            ),
            (
                "ada@xn--bcher-kva.example",
                &[
                    "ada@BÜCHER.example",
                    "ada@bu\u{308}cher.example",
                    "ada@bücher。example",
                    "ada@xn--bcher-kva.example",
                    "ada@XN--BCHER-KVA.example",
                ],
            ),
            ("ada@xn--strae-oqa.example", &["ada@straße.example"]),
            ("ada@strasse.example", &["ada@strasse.example"]),
            (
                "josé@example.org",
                &["jose\u{301}@example.org", "josé@EXAMPLE.org"],
            ),
            ("jose@example.org", &["jose@example.org"]),
            (
                "mi\u{212a}e@x.org",
                &["mi\u{212a}e@x.org", "MI\u{212a}E@X.org"],
            ),
            ("ada@kelvin.example", &["ada@\u{212a}elvin.example"]),
            (
                "\"ada lovelace\"@example.org",
                &["\"Ada Lovelace\"@example.org"],
            ),
            ("a.d.a+news@gmail.com", &["A.d.a+news@gmail.com"]),
            ("ada@googlemail.com", &["ada@googlemail.com"]),
            ("ada@[ipv6:2001:db8::1]", &["ada@[IPv6:2001:DB8::1]"]),
            ("ada..l@localhost", &["ada..l@localhost"]),
            ("ada@exa_mple.org", &["Ada@exa_mple.org"]),
            ("аda@example.org", &["аda@example.org"]),
            ("用户@xn--fsqu00a.xn--4rr70v", &["用户@例子.广告"]),
            ("no address", &["No Address"]),
        ] {
            for address in addresses {
                assert_eq!(normalize_email(address), compared, "{address:?}");
            }
        }
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

    /// Texts of characters that are difficult to compare.
    fn awkward() -> impl Strategy<Value = String> {
        let letters: Vec<char> =
            "aAbzZ09.-_+@\"\\ \u{a0}\u{301}\u{308}\u{212a}éÉßẞςσΣıİаÅ\u{212b}ﬁ。ü\u{200b}\u{200d}[]:xn漢\u{5d0}"
                .chars()
                .collect();
        prop::collection::vec(prop::sample::select(letters), 0..14)
            .prop_map(|letters| letters.into_iter().collect())
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 20_000, ..config() })]

        #[test]
        fn the_form_of_a_form_is_itself(name in awkward(), domain in awkward()) {
            let address = format!("{name}@{domain}");
            let compared = normalize_email(&address);
            prop_assert_eq!(normalize_email(&compared), compared.clone());
            // The form of earlier versions is joined with others, but never split.
            prop_assert_eq!(normalize_email(&address.trim().to_ascii_lowercase()), compared.clone());
            // No letter outside of ASCII becomes one of ASCII in a name.
            let names = [compared.as_str(), trimmed(&address)]
                .map(|text| text.rsplit_once('@').map(|(name, _)| name.is_ascii()));
            prop_assert_eq!(names[0], names[1], "{:?}", address);
        }

        #[test]
        fn what_is_stored_is_stored_again(name in awkward(), domain in awkward()) {
            let address = format!("{name}@{domain}");
            if let Ok(stored) = stored_email(&address) {
                prop_assert_eq!(stored_email(stored), Ok(stored));
                prop_assert_eq!(normalize_email(stored), normalize_email(&address));
            }
        }
    }
}
