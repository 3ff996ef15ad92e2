//! Texts in the form in which an index compares them.
//!
//! Requirements: FLT-14.

use std::fmt;

use unicode_normalization::UnicodeNormalization;

use super::FilterField;
use crate::{
    json::{Json, Object},
    model::Kind,
    value::{digest, trimmed},
};

/// Maximum number of characters of a text in a filter.
pub const MAX_TEXT: usize = 63;
/// The number of characters of a text that an index contains. It is greater than [`MAX_TEXT`], so
/// an indexed text is equal to a text of a filter only if the whole texts are equal.
const INDEXED: usize = MAX_TEXT + 1;
/// The number of the form of texts. If it changes, stores build their indexes of texts again.
pub const TEXT_FORM: u32 = 2;
/// The last character. It is not assigned, and no indexed text contains it.
const LAST: char = char::MAX;

/// A text of a filterable field, in the form in which texts are compared: without spaces and
/// zero-width characters at both ends, in lower case, composed (NFC), and of limited length.
///
/// An index of texts contains this form and orders it by code points, which is the order of its
/// UTF-8 bytes.
///
/// # Examples
///
/// ```
/// use svc_core::filter::{FilterField, TextKey};
///
/// let one = TextKey::new(FilterField::FamilyName, " ÅSTRÖM").unwrap();
/// let other = TextKey::new(FilterField::FamilyName, "A\u{30a}stro\u{308}m").unwrap();
/// assert_eq!(one, other);
/// assert_eq!(one.text(), "åström");
/// assert!(TextKey::new(FilterField::FamilyName, "  ").is_none());
/// ```
///
/// Requirements: FLT-14.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TextKey {
    field: FilterField,
    text: String,
}

impl TextKey {
    /// Returns the key of a whole text; `None` for a text without characters.
    #[must_use]
    pub fn new(field: FilterField, text: &str) -> Option<Self> {
        Self::of(field, trimmed(&compared(text)))
    }

    /// Returns the key of the beginning of a text; `None` if it has no characters. A space at its end
    /// is compared.
    #[must_use]
    pub fn beginning(field: FilterField, text: &str) -> Option<Self> {
        Self::of(field, compared(text).trim_start())
    }

    fn of(field: FilterField, compared: &str) -> Option<Self> {
        let end = compared.char_indices().nth(INDEXED);
        let end = end.map_or(compared.len(), |(place, _)| place);
        let mut text = compared.get(..end).unwrap_or_default().to_owned();
        // Two names are equal only if the whole names are.
        if field.membership().is_some() && text.chars().count() > MAX_TEXT {
            let start: String = text.chars().take(INDEXED / 2).collect();
            text = format!("{start}{:032x}", digest(compared.as_bytes()));
        }
        (!text.is_empty()).then_some(Self { field, text })
    }

    /// Returns the field.
    #[must_use]
    pub const fn field(&self) -> FilterField {
        self.field
    }

    /// Returns the text in the form in which it is compared.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns whether this text starts with another one.
    #[must_use]
    pub fn starts_with(&self, start: &Self) -> bool {
        self.field == start.field && self.text.starts_with(&start.text)
    }

    /// Returns whether a filter can compare the text.
    pub(super) fn is_comparable(&self) -> bool {
        self.text.chars().count() <= MAX_TEXT
    }

    /// Returns a text that is greater than every text that starts with this one.
    pub(super) fn end(&self) -> String {
        format!("{}{LAST}", self.text)
    }
}

impl fmt::Debug for TextKey {
    /// Omits the text, because it may be personal data.
    ///
    /// Requirements: UND-42.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TextKey").field(&self.field).finish()
    }
}

/// Returns a text in the form in which texts are compared. A change of the form needs another
/// [`TEXT_FORM`].
fn compared(text: &str) -> String {
    if text.is_ascii() {
        let mut lower = text.to_ascii_lowercase();
        lower.retain(|one| !one.is_control());
        return lower;
    }
    let visible: String = text
        .chars()
        .filter(|one| !one.is_control() && *one != LAST)
        .collect();
    // Some letters have the same upper case, such as the two forms of a small sigma, whose lower
    // case depends on its place in the word.
    let lower = visible.to_uppercase().to_lowercase();
    let same = lower.replace('ς', "σ").replace('ß', "ss");
    same.nfc().collect()
}

/// Returns the texts of a record for the index of its kind.
///
/// Requirements: FLT-14, UND-02, UND-03.
pub fn text_keys(kind: Kind, fields: &Object) -> impl Iterator<Item = TextKey> {
    FilterField::of_index(kind).filter_map(|indexed| {
        let (_, field) = indexed.indexed()?;
        TextKey::new(indexed, fields.get(field).and_then(Json::as_str)?)
    })
}

/// Returns the key of a unique name of a record of a kind. Names with equal keys are the same name.
/// `None` if the name has no visible characters, or if records of the kind have no unique name.
///
/// # Examples
///
/// ```
/// use svc_core::{filter::name_key, model::Kind};
///
/// assert_eq!(name_key(Kind::Tag, " VOLUNTEERS"), name_key(Kind::Tag, "volunteers"));
/// assert_eq!(name_key(Kind::Tag, "\u{a0}\u{200b}"), None);
/// ```
///
/// Requirements: UND-02, UND-03.
#[must_use]
pub fn name_key(kind: Kind, name: &str) -> Option<TextKey> {
    let indexed = FilterField::of_index(kind).find(|field| field.membership().is_some())?;
    TextKey::new(indexed, name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> TextKey {
        TextKey::new(FilterField::FamilyName, text).unwrap()
    }

    /// FLT-14: the form of a text does not depend on case, composition, and spaces at its ends.
    #[test]
    fn flt_14_the_form_of_a_text() {
        assert_eq!(key(" O'BRIEN\t").text(), "o'brien");
        assert_eq!(key("Nguye\u{302}\u{303}n"), key("NGUYỄN"));
        assert_eq!(key("GROẞ"), key("groß"));
        assert_eq!(key("GROSS"), key("groß"));
        assert_eq!(key("YILDIZ"), key("Yıldız"));
        assert_eq!(key("e\u{1}\u{301}"), key("É"));
        assert_eq!(key("\u{1} Smith"), key("smith"));
        assert!(key("ΟΔΥΣΣΕΥΣ").starts_with(&key("ΟΔΥΣ")));
        assert_eq!(key("a\u{0}b\u{10ffff}").text(), "ab");
        assert!(key("Österby").starts_with(&key("öst")));
        assert!(!key("Öst").starts_with(&key("österby")));
        assert_eq!(key("\u{feff}Smith\u{200b} "), key("smith"));
        assert_eq!(
            TextKey::new(FilterField::FamilyName, "\u{a0} \u{200b}"),
            None
        );
    }

    /// FLT-14: a letter and its upper and lower case are equal, and the form of a text has the same
    /// form. If a new version of Unicode changes the sum, raise [`TEXT_FORM`].
    #[test]
    fn flt_14_the_form_of_each_letter() {
        let mut sum = 0_u64;
        let mut different = Vec::new();
        for letter in (char::MIN..=char::MAX).filter(|one| one.is_alphabetic()) {
            let form = compared(&letter.to_string());
            let cases = [
                letter.to_uppercase().to_string(),
                letter.to_lowercase().to_string(),
                form.clone(),
            ];
            if cases.iter().any(|other| compared(other) != form) {
                different.push(letter);
            }
            for byte in form.bytes() {
                sum = sum.wrapping_mul(31).wrapping_add(u64::from(byte));
            }
        }
        assert_eq!(different, Vec::<char>::new());
        assert_eq!((TEXT_FORM, sum), (2, 1_424_435_015_224_240_816));
    }

    /// FLT-14: a space at the end of a beginning is compared.
    #[test]
    fn flt_14_the_beginning_of_a_text() {
        let start = |text: &str| TextKey::beginning(FilterField::FamilyName, text).unwrap();
        let name = key("Van der Berg");
        assert!(name.starts_with(&start(" VAN ")) && name.starts_with(&start("van")));
        assert!(!key("Vance").starts_with(&start("van ")));
    }

    /// FLT-14: texts that are longer than the index are not equal to any text of a filter.
    #[test]
    fn flt_14_long_texts_are_cut() {
        let long = key(&"ü".repeat(INDEXED + 10));
        assert_eq!(long, key(&"ü".repeat(INDEXED)));
        assert!(!long.is_comparable());
        let longest = key(&"ü".repeat(MAX_TEXT));
        assert!(longest.is_comparable() && long.starts_with(&longest) && long != longest);
    }

    /// UND-02, UND-03: names are the same without regard to case and composition, as a whole.
    #[test]
    fn und_02_und_03_names_are_compared_as_a_whole() {
        let name = |text: &str| name_key(Kind::Tag, text).unwrap();
        assert_eq!(name("Z\u{fc}rich "), name("ZU\u{308}RICH"));
        assert_ne!(Some(name("one")), name_key(Kind::List, "one"));
        let long = "\u{fc}".repeat(INDEXED);
        assert_eq!(name(&long), name(&long.to_uppercase()));
        assert_ne!(name(&long), name(&format!("{long}x")));
        assert_eq!(name(&long).text().chars().count(), INDEXED);
        assert_eq!(name_key(Kind::Tag, " \u{a0}\u{feff}\u{200b}\u{1}"), None);
        assert_eq!(name_key(Kind::Person, "one"), None);
    }
}
