//! The words of a filter, each with the place at which it begins.

use std::borrow::Cow;

use super::FilterError;

/// A word of a filter.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// Letters, digits and what numbers and dates are written with.
    Word(&'a str),
    /// What stands in single quotes, doubled ones made one.
    Quoted(Cow<'a, str>),
    /// `(`.
    Open,
    /// `)`.
    Close,
    /// `,`.
    Comma,
}

/// The words of a text, each with the character at which it begins, counted from 1.
pub(super) fn tokens(text: &str) -> Result<Vec<(usize, Token<'_>)>, FilterError> {
    // A comparison has three.
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
                    FilterError::new(at, "This quote is not closed. Close it with `'`; write a quote inside as `''`.")
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

/// How long what begins with a quote is, up to and with the quote that closes it; `None` where
/// there is none.
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
