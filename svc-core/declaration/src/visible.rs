//! Makes text of another program safe for a terminal or a report.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Replaces each invisible character with its name, such as `[U+202E]`.
///
/// Invisible characters are control characters, format characters, and the line and paragraph
/// separators. Format characters are those of the Unicode category Cf, which includes changes of
/// the text direction. Line feeds, tabs and the joiners of words and pictures (U+200C, U+200D) are
/// not replaced.
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_invisible) {
        return Cow::Borrowed(text);
    }
    let mut named = String::with_capacity(text.len().saturating_add(16));
    for c in text.chars() {
        if is_invisible(c) {
            // Writing to a string cannot fail.
            let _ = write!(named, "[U+{:04X}]", u32::from(c));
        } else {
            named.push(c);
        }
    }
    Cow::Owned(named)
}

/// Returns whether the explorer names the character (`dom.js`), or it is a carriage return, which
/// moves the cursor of a terminal.
fn is_invisible(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_control() && !matches!(c, '\n' | '\t');
    }
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{890}'..='\u{891}' | '\u{8e2}' | '\u{180e}'
            | '\u{200b}' | '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2064}' | '\u{2066}'..='\u{206f}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{110bd}' | '\u{110cd}' | '\u{13430}'..='\u{1343f}'
            | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0001}' | '\u{e0020}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::visible;

    #[test]
    fn invisible_characters_are_named() {
        let text = "a\u{1b}[2Jb\rc\u{9b}\u{7f}\u{202e}\u{2066}\u{2028}\u{ad}\u{feff}\u{e0041}";
        let named = "a[U+001B][2Jb[U+000D]c[U+009B][U+007F][U+202E][U+2066][U+2028][U+00AD][U+FEFF][U+E0041]";
        assert_eq!(visible(text), named);
    }

    #[test]
    fn other_text_stays_as_it_is() {
        for text in [
            "",
            "a\tb\nc",
            "Zoë ✊🏽 👩\u{200d}🚒 می\u{200c}خواهم e\u{301} [U+202E]",
        ] {
            assert!(
                matches!(visible(text), std::borrow::Cow::Borrowed(same) if same == text),
                "{text}"
            );
        }
    }
}
