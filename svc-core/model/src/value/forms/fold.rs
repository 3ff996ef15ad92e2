//! Texts without the differences in notation that have no meaning.

use icu_properties::{
    CodePointMapData,
    props::{GeneralCategory, Script},
};
use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

/// Letters that Unicode does not decompose, each with its notation in other languages.
const LETTERS: [(char, &str); 12] = [
    ('ß', "ss"),
    ('æ', "ae"),
    ('œ', "oe"),
    ('ø', "o"),
    ('đ', "d"),
    ('ð', "d"),
    ('ł', "l"),
    ('þ', "th"),
    ('ħ', "h"),
    ('ŧ', "t"),
    ('ı', "i"),
    ('ς', "σ"),
];

/// Returns whether a character is a format character (Unicode category Cf), which is invisible.
pub(super) fn is_format(one: char) -> bool {
    !one.is_ascii() && category(one) == GeneralCategory::Format
}

/// Returns a text without case, accents, apostrophes, dots and format characters, and with one space in
/// place of white space, hyphens, commas and slashes, and of a dot between digits.
///
/// Marks are removed from letters of the Latin, Greek and Cyrillic scripts. In other scripts they are a
/// part of the letter, such as か and が.
pub(super) fn fold(text: &str) -> String {
    let mut folded = Folded::default();
    if text.is_ascii() {
        for one in text.chars() {
            folded.push(one.to_ascii_lowercase());
        }
        return folded.text;
    }
    let visible = text
        .chars()
        .filter(|one| !is_format(*one) && (*one == '.' || !vanishes(*one)));
    let compatible: String = visible.nfkc().collect();
    for one in compatible.to_lowercase().nfkd() {
        folded.push(one);
    }
    folded.text.nfc().collect()
}

#[derive(Default)]
struct Folded {
    text: String,
    /// Whether a space follows if the text continues.
    has_space: bool,
    /// Whether a space follows if the text continues with a digit: after a digit and a dot.
    has_dot: bool,
    /// Whether a mark is a part of the letter before it.
    has_marks: bool,
}

impl Folded {
    fn push(&mut self, one: char) {
        if vanishes(one) || is_format(one) {
            let after_digit = self.text.ends_with(|last: char| last.is_ascii_digit());
            self.has_dot |= one == '.' && after_digit && !self.has_space;
            return;
        }
        self.has_space |= std::mem::take(&mut self.has_dot) && one.is_ascii_digit();
        if is_separator(one) {
            self.has_space = !self.text.is_empty();
            self.has_marks = false;
            return;
        }
        let is_mark = !one.is_ascii() && is_combining_mark(one);
        if is_mark && !self.has_marks {
            return;
        }
        if !is_mark {
            self.has_marks = has_marks(one);
        }
        if std::mem::take(&mut self.has_space) {
            self.text.push(' ');
        }
        if one.is_ascii() {
            self.text.push(one);
            return;
        }
        match LETTERS.iter().find(|(letter, _)| *letter == one) {
            Some((_, notation)) => self.text.push_str(notation),
            None => self.text.push(one),
        }
    }
}

/// Returns whether marks are a part of this letter.
fn has_marks(letter: char) -> bool {
    !letter.is_ascii()
        && !matches!(
            CodePointMapData::<Script>::new().get(letter),
            Script::Latin | Script::Greek | Script::Cyrillic
        )
}

fn vanishes(one: char) -> bool {
    matches!(
        one,
        '.' | '\'' | '`' | '\u{b4}' | '\u{2b9}' | '\u{2bb}' | '\u{2bc}' | '\u{2018}'
            ..='\u{201b}' | '\u{2032}'
    )
}

fn is_separator(one: char) -> bool {
    one.is_whitespace()
        || matches!(one, '-' | ',' | '/' | '\u{2212}')
        || !one.is_ascii() && category(one) == GeneralCategory::DashPunctuation
}

fn category(one: char) -> GeneralCategory {
    CodePointMapData::<GeneralCategory>::new().get(one)
}
