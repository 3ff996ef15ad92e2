//! The tokens of a filter, each with its start position.

use std::borrow::Cow;

use super::FilterError;

/// A token of a filter.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// Letters, digits, and the other characters of numbers and dates.
    Word(&'a str),
    /// Text in single quotes; doubled quotes are replaced by single ones.
    Quoted(Cow<'a, str>),
    /// `(`.
    Open,
    /// `)`.
    Close,
    /// `,`.
    Comma,
}

/// Returns the tokens of a text, each with the position of its first character, counted from 1.
pub(super) fn tokens(text: &str) -> Result<Vec<(usize, Token<'_>)>, FilterError> {
    // A comparison consists of three tokens.
    let mut tokens = Vec::with_capacity(4);
    let (mut rest, mut at) = (text, 1_usize);
    while let Some(first) = rest.chars().next() {
        let (token, length) = match first {
            ' ' | '\t' => (None, 1),
            '(' => (Some(Token::Open), 1),
            ')' => (Some(Token::Close), 1),
            ',' => (Some(Token::Comma), 1),
            '\'' => {
                let length = quoted(rest).ok_or_else(|| {
                    FilterError::new(at, "The closing quote is missing. End the value with `'`, and write a quote inside it as `''`.")
                })?;
                let inner = rest.get(1..length.saturating_sub(1)).unwrap_or_default();
                let inner = if inner.contains('\'') {
                    inner.replace("''", "'").into()
                } else {
                    inner.into()
                };
                (Some(Token::Quoted(inner)), length)
            }
            first if in_word(first) => {
                let length = rest.find(|letter| !in_word(letter)).unwrap_or(rest.len());
                (rest.get(..length).map(Token::Word), length)
            }
            _ => {
                return Err(FilterError::new(
                    at,
                    "This character has no meaning here. Put values in single quotes.",
                ));
            }
        };
        let (word, behind) = rest.split_at_checked(length).unwrap_or((rest, ""));
        tokens.extend(token.map(|token| (at, token)));
        at = at.saturating_add(word.chars().count());
        rest = behind;
    }
    Ok(tokens)
}

/// Returns the length of a quoted text at the start, including both quotes; `None` if the closing
/// quote is missing.
fn quoted(text: &str) -> Option<usize> {
    let mut from = 1_usize;
    loop {
        let close = from.checked_add(text.get(from..)?.find('\'')?)?;
        let behind = close.checked_add(1)?;
        if !text.get(behind..)?.starts_with('\'') {
            return Some(behind);
        }
        from = behind.checked_add(1)?;
    }
}

fn in_word(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | '.' | ':' | '+' | '-')
}
