//! Taking single tokens from the front of a JSON text.

use super::write::plain_length;

/// The rest of a JSON text, and where it begins.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scanner<'a> {
    total: usize,
    rest: &'a [u8],
    /// The whole of it, where its strings are taken and it is UTF-8.
    text: Option<&'a str>,
}

/// What is wrong with a string that has an end nevertheless. Each holds the first byte at fault.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct StringErrors {
    pub(super) nul: Option<usize>,
    pub(super) control: Option<usize>,
    pub(super) surrogate: Option<usize>,
    pub(super) utf8: Option<usize>,
}

/// Why a string has no end, or cannot be read to its end; holds the byte at fault.
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

    /// The same of a text whose strings are taken.
    pub(super) fn of_strings(bytes: &'a [u8]) -> Self {
        Self {
            text: std::str::from_utf8(bytes).ok(),
            ..Self::new(bytes)
        }
    }

    /// The offset of the next byte in the whole text.
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

    /// Takes the byte if it comes next.
    pub(super) fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        if found {
            self.next();
        }
        found
    }

    /// Takes the word if it comes next.
    pub(super) fn take_word(&mut self, word: &[u8]) -> bool {
        self.rest
            .strip_prefix(word)
            .map(|rest| self.rest = rest)
            .is_some()
    }

    pub(super) fn skip_space(&mut self) {
        // Most clients send none.
        if self.peek().is_some_and(|byte| byte > b' ') {
            return;
        }
        self.run(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'));
    }

    /// Everything that can stand in a number.
    pub(super) fn number(&mut self) -> &'a [u8] {
        self.run(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E'))
    }

    /// Takes all bytes at the front for which the test holds.
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

    /// The same as [`Self::string`], lent, if no character of it is escaped or at fault; else
    /// nothing is taken.
    pub(super) fn plain_string(&mut self) -> Option<&'a str> {
        let length = plain_length(self.rest);
        let Some((_, [b'"', rest @ ..])) = self.rest.split_at_checked(length) else {
            return None;
        };
        let text = self.text?.get(self.offset()..)?.get(..length)?;
        self.rest = rest;
        Some(text)
    }

    /// A string behind its opening quote, up to and with its closing quote. What is at fault is
    /// replaced by U+FFFD.
    pub(super) fn string(&mut self) -> Result<(String, StringErrors), BrokenString> {
        let (mut text, mut flaws) = (String::new(), StringErrors::default());
        loop {
            let start = self.offset();
            let run = self.run(|byte| byte >= 0x20 && byte != b'"' && byte != b'\\');
            match std::str::from_utf8(run) {
                // Nearly all strings are one run.
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

    /// Takes a string behind its opening quote, up to and with its closing quote. Whether it is one
    /// without flaws but unpaired surrogates and NUL, which a JSON text may have.
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

    /// An escape behind its backslash, which stands at `at`.
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

    /// The character that a UTF-16 unit stands for, with the other half of its pair if it has one.
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
