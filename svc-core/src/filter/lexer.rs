//! The words of a filter, each with the place at which it begins.

use super::Wrong;

/// A word of a filter.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// Letters, digits and what numbers and dates are written with.
    Word(String),
    /// What stands in single quotes, doubled ones made one.
    Quoted(String),
    /// `(`.
    Open,
    /// `)`.
    Close,
    /// `,`.
    Comma,
}

/// The words of a text, each with the character at which it begins, counted from 1.
pub(super) fn tokens(text: &str) -> Result<Vec<(usize, Token)>, Wrong> {
    let mut letters = (1_usize..).zip(text.chars()).peekable();
    let mut tokens = Vec::new();
    while let Some((at, letter)) = letters.next() {
        let token = match letter {
            ' ' | '\t' => continue,
            '(' => Token::Open,
            ')' => Token::Close,
            ',' => Token::Comma,
            '\'' => {
                let mut quoted = String::new();
                loop {
                    match letters.next() {
                        Some((_, '\'')) if letters.next_if(|(_, next)| *next == '\'').is_some() => quoted.push('\''),
                        Some((_, '\'')) => break,
                        Some((_, letter)) => quoted.push(letter),
                        None => {
                            return Err(Wrong::new(
                                at,
                                "This quote is not closed. Close it with `'`; write a quote inside as `''`.",
                            ));
                        }
                    }
                }
                Token::Quoted(quoted)
            }
            first if in_word(first) => {
                let mut word = String::from(first);
                while let Some((_, letter)) = letters.next_if(|(_, letter)| in_word(*letter)) {
                    word.push(letter);
                }
                Token::Word(word)
            }
            _ => return Err(Wrong::new(at, "This character has no meaning here. Put values in single quotes.")),
        };
        tokens.push((at, token));
    }
    Ok(tokens)
}

fn in_word(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | '.' | ':' | '+' | '-')
}
