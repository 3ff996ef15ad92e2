//! Reads single tokens from the start of a JSON text.

use super::write::plain_length;

/// The rest of a JSON text, with its offset.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scanner<'a> {
    total: usize,
    rest: &'a [u8],
    /// The whole text, if its strings are read and it is UTF-8.
    text: Option<&'a str>,
}

/// The problems of a string that has an end. Each is the offset of the first invalid byte.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct StringErrors {
    pub(super) nul: Option<usize>,
    pub(super) control: Option<usize>,
    pub(super) surrogate: Option<usize>,
    pub(super) utf8: Option<usize>,
}

/// The reason why a string has no end or cannot be read to its end, with the offset of the invalid
/// byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BrokenString {
    Unfinished(usize),
    Escape(usize),
}

impl<'a> Scanner<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self {
            total: bytes.len(),
            rest: bytes,
            text: None,
        }
    }

    /// Creates a scanner of a text whose strings are read.
    pub(super) fn of_strings(bytes: &'a [u8]) -> Self {
        Self {
            text: std::str::from_utf8(bytes).ok(),
            ..Self::new(bytes)
        }
    }

    /// Returns the offset of the next byte in the whole text.
    pub(super) fn offset(&self) -> usize {
        self.total.saturating_sub(self.rest.len())
    }

    pub(super) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    pub(super) fn next(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    /// Skips the byte if it is next.
    pub(super) fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        if found {
            self.next();
        }
        found
    }

    /// Skips the word if it is next.
    pub(super) fn take_word(&mut self, word: &[u8]) -> bool {
        self.rest
            .strip_prefix(word)
            .map(|rest| self.rest = rest)
            .is_some()
    }

    pub(super) fn skip_space(&mut self) {
        // Most clients send no white space.
        if self.peek().is_some_and(|byte| byte > b' ') {
            return;
        }
        self.run(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'));
    }

    /// Returns every character that can be part of a number.
    pub(super) fn number(&mut self) -> &'a [u8] {
        self.run(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E'))
    }

    /// Returns all bytes at the start for which `test` returns true.
    fn run(&mut self, test: impl Fn(u8) -> bool) -> &'a [u8] {
        let end = self
            .rest
            .iter()
            .position(|byte| !test(*byte))
            .unwrap_or(self.rest.len());
        let (run, rest) = self.rest.split_at_checked(end).unwrap_or((self.rest, &[]));
        self.rest = rest;
        run
    }

    /// Returns the string as [`Self::string`] does, but borrowed, if no character is escaped or
    /// invalid. Otherwise nothing is read.
    pub(super) fn plain_string(&mut self) -> Option<&'a str> {
        let length = plain_length(self.rest);
        let Some((_, [b'"', rest @ ..])) = self.rest.split_at_checked(length) else {
            return None;
        };
        let text = self.text?.get(self.offset()..)?.get(..length)?;
        self.rest = rest;
        Some(text)
    }

    /// Reads a string after its opening quote, including its closing quote. Invalid parts are
    /// replaced by U+FFFD.
    pub(super) fn string(&mut self) -> Result<(String, StringErrors), BrokenString> {
        let (mut text, mut flaws) = (String::new(), StringErrors::default());
        loop {
            let start = self.offset();
            let run = self.run(|byte| byte >= 0x20 && byte != b'"' && byte != b'\\');
            match std::str::from_utf8(run) {
                // Nearly all strings consist of one run.
                Ok(run) if text.is_empty() => text = run.into(),
                Ok(run) => text.push_str(run),
                Err(error) => {
                    flaws
                        .utf8
                        .get_or_insert(start.saturating_add(error.valid_up_to()));
                    text.push_str(&String::from_utf8_lossy(run));
                }
            }
            let at = self.offset();
            match self.next() {
                None => return Err(BrokenString::Unfinished(at)),
                Some(b'"') => return Ok((text, flaws)),
                Some(b'\\') => text.push(self.escape(at, &mut flaws)?),
                Some(control) => {
                    let flaw = if control == 0 {
                        &mut flaws.nul
                    } else {
                        &mut flaws.control
                    };
                    flaw.get_or_insert(at);
                    text.push(char::from(control));
                }
            }
        }
    }

    /// Skips a string after its opening quote, including its closing quote. Returns whether it is
    /// valid; unpaired surrogates and NUL are allowed, as in any JSON text.
    pub(super) fn skip_string(&mut self) -> bool {
        loop {
            let (_, rest) = self
                .rest
                .split_at_checked(plain_length(self.rest))
                .unwrap_or((&[], self.rest));
            self.rest = rest;
            let at = self.offset();
            match self.next() {
                Some(b'"') => return true,
                Some(b'\\') if self.escape(at, &mut StringErrors::default()).is_ok() => {}
                _ => return false,
            }
        }
    }

    /// Reads an escape after its backslash, which is at offset `at`.
    fn escape(&mut self, at: usize, flaws: &mut StringErrors) -> Result<char, BrokenString> {
        Ok(match self.next().ok_or(BrokenString::Unfinished(at))? {
            b'"' => '"',
            b'\\' => '\\',
            b'/' => '/',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let unit = self.hex4().ok_or(BrokenString::Escape(at))?;
                let scalar = self.scalar(unit).unwrap_or_else(|| {
                    flaws.surrogate.get_or_insert(at);
                    char::REPLACEMENT_CHARACTER
                });
                if scalar == '\0' {
                    flaws.nul.get_or_insert(at);
                }
                scalar
            }
            _ => return Err(BrokenString::Escape(at)),
        })
    }

    /// Returns the character of a UTF-16 unit, and reads the other half of its pair if there is
    /// one.
    fn scalar(&mut self, unit: u16) -> Option<char> {
        if !(0xD800..0xDC00).contains(&unit) {
            return char::from_u32(u32::from(unit));
        }
        let mut behind = *self;
        let low = behind.take_word(b"\\u").then(|| behind.hex4()).flatten()?;
        let pair = char::decode_utf16([unit, low]).next()?.ok()?;
        *self = behind;
        Some(pair)
    }

    fn hex4(&mut self) -> Option<u16> {
        let (digits, rest) = self.rest.split_at_checked(4)?;
        let mut value = 0_u16;
        for digit in digits {
            value = (value << 4) | u16::try_from(char::from(*digit).to_digit(16)?).ok()?;
        }
        self.rest = rest;
        Some(value)
    }
}
