//! Conversion of bytes to lowercase hex digits, and back.

use svc_core::value::{HEX_DIGITS, hex_digits};

/// Returns two hex digits for each byte.
#[must_use]
pub fn encode(bytes: &[u8]) -> String {
    bytes
        .iter()
        .flat_map(|byte| hex_digits(*byte))
        .map(char::from)
        .collect()
}

/// Returns the bytes of text from [`encode`], or `None` for any other text.
#[must_use]
pub fn decode<const N: usize>(text: &str) -> Option<[u8; N]> {
    decode_all(text)?.try_into().ok()
}

/// Returns any number of bytes of text from [`encode`], or `None` for any other text.
#[must_use]
pub fn decode_all(text: &str) -> Option<Vec<u8>> {
    let digit = |text: u8| {
        HEX_DIGITS
            .iter()
            .position(|digit| *digit == text)
            .and_then(|value| u8::try_from(value).ok())
    };
    let (pairs, []) = text.as_bytes().as_chunks::<2>() else {
        return None;
    };
    pairs
        .iter()
        .map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        let bytes: [u8; 256] = std::array::from_fn(|byte| u8::try_from(byte).unwrap());
        assert_eq!(decode(&encode(&bytes)), Some(bytes));
        assert_eq!(encode(&[0, 0x1F, 0xA0]), "001fa0");
    }

    #[test]
    fn only_its_own_writing() {
        for text in [
            "", "0", "00", "000", "0000000", "00000g", "00000A", "0000é0", "00000 ",
        ] {
            assert_eq!(decode::<3>(text), None, "{text}");
        }
    }
}
