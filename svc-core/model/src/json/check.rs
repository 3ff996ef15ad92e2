//! Checks that a stored text is JSON, without creating values.

use super::JsonLimits;
use super::scan::Scanner;
use crate::value::DecimalParts;

/// Returns whether a text consists of the members of a JSON object, without the braces.
#[must_use]
pub fn is_members(bytes: &[u8]) -> bool {
    let mut scan = Scanner::new(bytes);
    bytes.is_empty()
        || std::str::from_utf8(bytes).is_ok() && members(&mut scan, 1) && scan.peek().is_none()
}

/// Returns whether a text consists of the elements of a JSON array, without the brackets.
#[must_use]
pub fn is_items(bytes: &[u8]) -> bool {
    let mut scan = Scanner::new(bytes);
    bytes.is_empty()
        || std::str::from_utf8(bytes).is_ok() && items(&mut scan, 1) && scan.peek().is_none()
}

fn members(scan: &mut Scanner<'_>, depth: usize) -> bool {
    loop {
        scan.skip_space();
        if !string(scan) {
            return false;
        }
        scan.skip_space();
        if !scan.take(b':') || !value(scan, depth) {
            return false;
        }
        if !scan.take(b',') {
            return true;
        }
    }
}

fn items(scan: &mut Scanner<'_>, depth: usize) -> bool {
    loop {
        if !value(scan, depth) {
            return false;
        }
        if !scan.take(b',') {
            return true;
        }
    }
}

/// Skips a value and the white space around it.
fn value(scan: &mut Scanner<'_>, depth: usize) -> bool {
    scan.skip_space();
    let is_value = match scan.peek() {
        Some(b'"') => string(scan),
        Some(b'-' | b'0'..=b'9') => {
            std::str::from_utf8(scan.number()).is_ok_and(|text| DecimalParts::parse(text).is_some())
        }
        Some(b'{') => nested(scan, depth, b'}', members),
        Some(b'[') => nested(scan, depth, b']', items),
        _ => scan.take_word(b"null") || scan.take_word(b"true") || scan.take_word(b"false"),
    };
    scan.skip_space();
    is_value
}

/// Skips an object or an array that ends with `end`.
fn nested(
    scan: &mut Scanner<'_>,
    depth: usize,
    end: u8,
    inside: fn(&mut Scanner<'_>, usize) -> bool,
) -> bool {
    scan.next();
    scan.skip_space();
    depth < JsonLimits::MAX_DEPTH
        && (scan.take(end) || inside(scan, depth.saturating_add(1)) && scan.take(end))
}

/// Skips a string with its quotes.
fn string(scan: &mut Scanner<'_>) -> bool {
    scan.take(b'"') && scan.skip_string()
}

#[cfg(test)]
mod tests {
    use super::{is_items, is_members};
    use crate::json::Json;

    const SOUND: &str = r#""name":"Zi\"m\u00e9r","list":[1,-2.5e3,{},[],{"a":null}],"yes":true,"no" : false , "object":{"b":[""]}"#;

    #[test]
    fn members_are_members() {
        for sound in ["", SOUND, r#""a":1"#] {
            assert!(is_members(sound.as_bytes()), "{sound}");
        }
        for broken in [
            ",",
            "\"a\"",
            "\"a\":",
            "\"a\":1,",
            "a:1",
            "\"a\":01",
            "\"a\":1}",
            "{\"a\":1}",
            "\"a\":\"\n\"",
            "\"a\":\"\\x\"",
        ] {
            assert!(!is_members(broken.as_bytes()), "{broken}");
        }
        assert!(!is_members(b"\"a\":\"\xFF\""), "not UTF-8");
        let deep = |depth: usize| format!("\"a\":{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(is_members(deep(127).as_bytes()) && !is_members(deep(128).as_bytes()));
        assert!(
            !is_members(format!("\"a\":{}", "[".repeat(1_000_000)).as_bytes()),
            "the stack does not overflow"
        );
    }

    #[test]
    fn items_are_items() {
        for sound in ["", "\"a:1\"", "\"a:1\",\"b:2\""] {
            assert!(is_items(sound.as_bytes()), "{sound}");
        }
        for broken in [",", "\"a:1", "\"a:1\",", "\"a:1\"\"b:2\"", "\"a:1\"]"] {
            assert!(!is_items(broken.as_bytes()), "{broken}");
        }
    }

    /// Whichever bit is flipped, another reader accepts a text exactly if the check accepts it.
    #[test]
    fn no_flipped_bit_makes_a_200_that_is_not_json() {
        let mut bytes = SOUND.as_bytes().to_vec();
        for bit in 0..bytes.len() * 8 {
            bytes[bit / 8] ^= 1 << (bit % 8);
            let object = [b"{", &*bytes, b"}"].concat();
            let expected = serde_json::from_slice::<serde_json::Value>(&object).is_ok();
            assert_eq!(
                is_members(&bytes),
                expected,
                "{}",
                String::from_utf8_lossy(&bytes)
            );
            assert!(!expected || Json::read_kept(&object).is_some());
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
    }
}
