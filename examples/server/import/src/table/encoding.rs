//! Finds the encoding, the line ends and the separator of a file.

use std::io::{self, BufRead};

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{
    Encoding, ISO_8859_4, ISO_8859_10, ISO_8859_13, MACINTOSH, UTF_8, UTF_16BE, UTF_16LE,
    WINDOWS_1252, WINDOWS_1254, WINDOWS_1257, WINDOWS_1258,
};

/// The separators of CSV files, the most common one first.
const SEPARATORS: [u8; 4] = [b',', b';', b'\t', b'|'];
/// The first line of files for Excel that name their separator.
const NAMED_SEPARATOR: &[u8] = b"sep=";
/// The number of bytes whose zeros show UTF-16 without a byte order mark.
const ZEROS_IN: usize = 4 * 1024;
/// The number of bytes from which an encoding is guessed. Only lines with other characters than those
/// of ASCII count.
const GUESSED_FROM: usize = 1024 * 1024;

/// The number of characters outside of ASCII from which a rare encoding is believed.
const MANY: u64 = 32;
/// Encodings that differ from Windows-1252 in few letters, and are rare.
const RARE: [&Encoding; 6] = [
    ISO_8859_4,
    ISO_8859_10,
    ISO_8859_13,
    WINDOWS_1254,
    WINDOWS_1257,
    WINDOWS_1258,
];

/// The byte that ends lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineEnd {
    Lf,
    Cr,
}

impl LineEnd {
    pub(super) fn byte(self) -> u8 {
        match self {
            Self::Lf => b'\n',
            Self::Cr => b'\r',
        }
    }
}

/// Returns the encoding of a file.
///
/// A byte order mark decides. Otherwise, the file is UTF-8 if most of its characters outside of ASCII are
/// valid in UTF-8: a single damaged byte does not change the encoding of the whole file.
pub(super) fn encoding_of(mut file: impl BufRead) -> io::Result<&'static Encoding> {
    let mut counts = TextCounts::default();
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    let start = file.fill_buf()?;
    if let Some((encoding, _)) = Encoding::for_bom(start) {
        return Ok(encoding);
    }
    if let Some(encoding) = by_zeros(start) {
        return Ok(encoding);
    }
    let (mut line, mut fed) = (Vec::new(), 0_usize);
    loop {
        line.clear();
        // Without line ends, a long text is read in parts.
        if read_part(&mut file, &mut line)? == 0 {
            break;
        }
        if !line.is_ascii() {
            counts.add(&line);
            if fed < GUESSED_FROM {
                detector.feed(&line, false);
                fed = fed.saturating_add(line.len());
            }
        }
    }
    if counts.is_utf8() {
        return Ok(UTF_8);
    }
    detector.feed(b"", true);
    let guessed = detector.guess(None, Utf8Detection::Deny);
    // A few names do not show in which of similar languages they are.
    let is_doubtful = counts.invalid < MANY && RARE.contains(&guessed);
    let guessed = if is_doubtful { WINDOWS_1252 } else { guessed };
    let is_mac = guessed == WINDOWS_1252 && counts.mac_letters > counts.windows_letters;
    Ok(if is_mac { MACINTOSH } else { guessed })
}

/// Reads up to the end of a line, at most 64 KiB.
fn read_part(file: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<usize> {
    use io::Read as _;
    file.take(64 * 1024).read_until(b'\n', line)
}

/// Returns UTF-16 if every other byte is often zero, as in text with Latin letters.
fn by_zeros(part: &[u8]) -> Option<&'static Encoding> {
    let part = part.get(..ZEROS_IN).unwrap_or(part);
    let zeros = |first: usize| {
        let bytes = part.iter().skip(first).step_by(2);
        bytes.filter(|byte| **byte == 0).count()
    };
    let (even, odd, many) = (zeros(0), zeros(1), (part.len() / 4).max(1));
    if odd > many && even <= many / 4 {
        Some(UTF_16LE)
    } else if even > many && odd <= many / 4 {
        Some(UTF_16BE)
    } else {
        None
    }
}

/// The characters outside of ASCII that are valid in UTF-8, and the sequences that are not.
#[derive(Debug, Default)]
struct TextCounts {
    valid: u64,
    invalid: u64,
    /// The bytes outside of ASCII that are small letters after a small letter in Windows-1252, and in the encoding
    /// of earlier Macintosh computers.
    windows_letters: u64,
    mac_letters: u64,
}

impl TextCounts {
    fn add(&mut self, text: &[u8]) {
        for chunk in text.utf8_chunks() {
            let valid = chunk.valid().chars().filter(|one| !one.is_ascii()).count();
            let valid = u64::try_from(valid).unwrap_or_default();
            self.valid = self.valid.saturating_add(valid);
            if !chunk.invalid().is_empty() {
                self.invalid = self.invalid.saturating_add(1);
            }
        }
        for pair in text.windows(2) {
            if let [b'a'..=b'z', 0x80..=0xFF] = pair {
                let byte = pair.get(1..).unwrap_or_default();
                let is_letter = |encoding: &'static Encoding| {
                    let text = encoding.decode_without_bom_handling(byte).0;
                    u64::from(text.chars().all(char::is_lowercase))
                };
                let (windows, mac) = (is_letter(WINDOWS_1252), is_letter(MACINTOSH));
                self.windows_letters = self.windows_letters.saturating_add(windows);
                self.mac_letters = self.mac_letters.saturating_add(mac);
            }
        }
    }

    fn is_utf8(&self) -> bool {
        self.invalid == 0 || self.valid > self.invalid
    }
}

/// How the rows of a text are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RowFormat {
    pub(super) separator: u8,
    pub(super) line_end: LineEnd,
    /// Whether the first line only names the separator.
    pub(super) names_separator: bool,
}

impl RowFormat {
    /// Commas, and a line feed after each row.
    pub(super) const COMMAS: Self = Self {
        separator: b',',
        line_end: LineEnd::Lf,
        names_separator: false,
    };
}

/// Returns how the rows of a text are written, from its first part.
pub(super) fn row_format(start: &[u8]) -> RowFormat {
    let line_end = line_end(start);
    let mut lines = start.split(|byte| *byte == line_end.byte());
    let first = lines.next().unwrap_or_default().trim_ascii();
    let named = match first.split_at_checked(NAMED_SEPARATOR.len()) {
        Some((name, [separator])) if name.eq_ignore_ascii_case(NAMED_SEPARATOR) => Some(*separator),
        _ => None,
    };
    if let Some(separator) = named {
        return RowFormat {
            separator,
            line_end,
            names_separator: true,
        };
    }
    let lines = start.split(|byte| *byte == line_end.byte());
    let mut lines = lines.filter(|line| !line.trim_ascii().is_empty());
    let head = lines.next().unwrap_or_default();
    let most = SEPARATORS
        .into_iter()
        .map(|separator| (count(head, separator), separator))
        // The first of several with the same number.
        .rev()
        .max_by_key(|(count, _)| *count);
    RowFormat {
        separator: most.map_or(b',', |(_, separator)| separator),
        line_end,
        names_separator: false,
    }
}

/// Returns the byte that ends most lines. Line breaks in cells do not count.
fn line_end(start: &[u8]) -> LineEnd {
    let (mut is_quoted, mut feeds, mut returns) = (false, 0_usize, 0_usize);
    for (place, byte) in start.iter().enumerate() {
        match byte {
            b'"' => is_quoted = !is_quoted,
            b'\n' if !is_quoted => feeds = feeds.saturating_add(1),
            b'\r' if !is_quoted && start.get(place.saturating_add(1)) != Some(&b'\n') => {
                returns = returns.saturating_add(1);
            }
            _ => {}
        }
    }
    if returns > feeds {
        LineEnd::Cr
    } else {
        LineEnd::Lf
    }
}

/// Returns how often a byte is outside of quotes.
fn count(line: &[u8], wanted: u8) -> usize {
    let (mut is_quoted, mut count) = (false, 0_usize);
    for byte in line {
        if *byte == b'"' {
            is_quoted = !is_quoted;
        } else if !is_quoted && *byte == wanted {
            count = count.saturating_add(1);
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use encoding_rs::{WINDOWS_1251, WINDOWS_1252};

    fn of(bytes: &[u8]) -> &'static Encoding {
        encoding_of(bytes).expect("bytes")
    }

    #[test]
    fn encodings_are_found() {
        let text = "Vorname;Straße\nJosé;Größe\n";
        let (windows, ..) = WINDOWS_1252.encode(text);
        let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        let with_mark = |mark: &[u8], rest: &[u8]| [mark, rest].concat();
        let (russian, ..) = WINDOWS_1251.encode("имя,фамилия\nИван,Петров\n");
        for (bytes, encoding) in [
            (text.as_bytes().to_vec(), UTF_8),
            (b"plain,ascii\n".to_vec(), UTF_8),
            (Vec::new(), UTF_8),
            (with_mark(b"\xEF\xBB\xBF", b"a,b"), UTF_8),
            (windows.to_vec(), WINDOWS_1252),
            (b"name\nJos\xE9\n".to_vec(), WINDOWS_1252),
            (b"name\nAna\xEFs\n".to_vec(), WINDOWS_1252),
            (russian.to_vec(), WINDOWS_1251),
            (little.clone(), UTF_16LE),
            (big.clone(), UTF_16BE),
            (with_mark(b"\xFF\xFE", &little), UTF_16LE),
            (with_mark(b"\xFE\xFF", &big), UTF_16BE),
        ] {
            assert_eq!(of(&bytes), encoding, "{bytes:?}");
        }
    }

    #[test]
    fn a_damaged_byte_does_not_change_the_encoding() {
        let text = ["é,ü,ß\n".as_bytes(), b"Jos\xE9,x,y\n", "à,ö,ñ\n".as_bytes()].concat();
        assert_eq!(of(&text), UTF_8);
    }

    #[test]
    fn separators_and_line_ends_are_found() {
        for (text, separator, line_end) in [
            ("a,b;c,d\n1,2", b',', LineEnd::Lf),
            ("\n\"a,b,c\";b\n", b';', LineEnd::Lf),
            ("a\tb\r\nc", b'\t', LineEnd::Lf),
            ("a|b\rc|d\r", b'|', LineEnd::Cr),
            ("a|b\r\"c\nd\"|e\r", b'|', LineEnd::Cr),
            ("email\nx", b',', LineEnd::Lf),
            ("a,b;c", b',', LineEnd::Lf),
        ] {
            let found = row_format(text.as_bytes());
            let expected = RowFormat {
                separator,
                line_end,
                names_separator: false,
            };
            assert_eq!(found, expected, "{text}");
        }
        let named = row_format(b"SEP=|\r\na,b,c|d\r\n");
        assert!(named.names_separator && named.separator == b'|');
    }
}
