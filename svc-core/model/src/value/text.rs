//! Free texts.

use std::borrow::Cow;

/// Returns a free text in the form in which it is stored: without white space at both ends.
///
/// Returns `None` for a text with control characters other than tabs and line breaks.
///
/// ```
/// use svc_core::value::stored_text;
///
/// assert_eq!(stored_text("\u{a0}Ada \n"), Some("Ada"));
/// assert_eq!(stored_text("a\u{1b}b"), None);
/// ```
///
/// Requirements: UND-49.
#[must_use]
pub fn stored_text(text: &str) -> Option<&str> {
    let text = text.trim_matches(is_space);
    let has_control = if text.is_ascii() {
        // Every byte is checked, because for short texts this is faster than to stop at the first one.
        text.bytes()
            .fold(false, |found, byte| found | is_control(char::from(byte)))
    } else {
        text.contains(is_control)
    };
    (!has_control).then_some(text)
}

/// Returns a text of an earlier version in the form in which texts are stored now. Control characters
/// become spaces.
#[must_use]
pub fn without_control_characters(text: &str) -> Cow<'_, str> {
    match stored_text(text) {
        Some(text) => text.into(),
        None => text
            .replace(is_control, " ")
            .trim_matches(is_space)
            .to_owned()
            .into(),
    }
}

/// Returns a handle without `@` and white space in front of it.
#[must_use]
pub fn without_at(handle: &str) -> &str {
    handle.trim_start_matches(|one| one == '@' || is_space(one))
}

/// White space, and two characters that programs write at the ends of texts. Other invisible characters
/// can be a part of the text, such as a mark of its direction.
fn is_space(one: char) -> bool {
    one.is_whitespace() || matches!(one, '\u{200b}' | '\u{feff}')
}

fn is_control(one: char) -> bool {
    one.is_control() && !matches!(one, '\t' | '\n' | '\r')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// UND-49: white space inside a text, and joined characters, are unchanged.
    #[test]
    fn und_49_a_free_text_is_stored_without_white_space_at_both_ends() {
        for (sent, stored) in [
            ("", Some("")),
            (" \u{a0}\u{feff}\u{200b}", Some("")),
            ("  Ada  King ", Some("Ada  King")),
            ("\tone\r\ntwo\t three\n", Some("one\r\ntwo\t three")),
            (
                "\u{1f468}\u{200d}\u{1f469}",
                Some("\u{1f468}\u{200d}\u{1f469}"),
            ),
            ("a\u{7}b", None),
            ("a\u{7f}", None),
            ("\u{e9}\u{1b}b", None),
            ("a\u{92}b", None),
        ] {
            assert_eq!(stored_text(sent), stored, "{sent:?}");
        }
    }

    /// UND-49: stored control characters become spaces.
    #[test]
    fn und_49_a_former_text_has_no_control_characters() {
        for (former, stored) in [
            (" Ada ", "Ada"),
            ("\u{1}Ada\u{b}King\u{92}", "Ada King"),
            ("\u{7}", ""),
        ] {
            assert_eq!(without_control_characters(former), stored);
        }
    }

    #[test]
    fn the_fast_check_of_ascii_texts_finds_the_same_characters() {
        for letter in '\0'..='\u{ff}' {
            let text = format!("a{letter}b");
            assert_eq!(
                stored_text(&text).is_none(),
                is_control(letter),
                "{letter:?}"
            );
        }
    }
}
