//! Hexadecimal digits.

/// The digits, each at the index of its value.
pub const HEX_DIGITS: &[u8; 16] = b"0123456789abcdef";

/// Returns the two digits of a byte.
#[must_use]
pub fn hex_digits(byte: u8) -> [u8; 2] {
    [byte >> 4, byte & 0xF].map(|half| HEX_DIGITS.get(usize::from(half)).copied().unwrap_or(b'0'))
}

#[cfg(test)]
mod tests {
    use super::hex_digits;

    #[test]
    fn every_byte_has_the_digits_that_formatting_gives_it() {
        for byte in 0..=u8::MAX {
            assert_eq!(
                hex_digits(byte)
                    .map(char::from)
                    .into_iter()
                    .collect::<String>(),
                format!("{byte:02x}")
            );
        }
    }
}
