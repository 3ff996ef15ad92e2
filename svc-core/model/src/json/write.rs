//! Writing JSON.

use super::{Json, Object};

/// Appends a value without spaces.
pub(super) fn write(value: &Json, out: &mut Vec<u8>) {
    match value {
        Json::Null => out.extend_from_slice(b"null"),
        Json::Bool(true) => out.extend_from_slice(b"true"),
        Json::Bool(false) => out.extend_from_slice(b"false"),
        Json::Number(number) => out.extend_from_slice(number.as_str().as_bytes()),
        Json::String(text) => write_string(text, out),
        Json::Array(items) => {
            out.push(b'[');
            for (position, item) in items.iter().enumerate() {
                if position > 0 {
                    out.push(b',');
                }
                write(item, out);
            }
            out.push(b']');
        }
        Json::Object(object) => write_object(object, out),
    }
}

pub(super) fn write_object(object: &Object, out: &mut Vec<u8>) {
    out.push(b'{');
    write_members(object, out);
    out.push(b'}');
}

pub(super) fn write_members(object: &Object, out: &mut Vec<u8>) {
    for (position, (key, value)) in object.iter().enumerate() {
        if position > 0 {
            out.push(b',');
        }
        write_string(key, out);
        out.push(b':');
        write(value, out);
    }
}

/// Appends a JSON string with its quotes. Parts without escapes are copied as a whole.
///
/// Requirements: TYP-01.
pub fn write_string(text: &str, out: &mut Vec<u8>) {
    let mut rest = text.as_bytes();
    out.reserve(rest.len().saturating_add(2));
    out.push(b'"');
    while let Some((run, [escaped, behind @ ..])) = rest.split_at_checked(plain_length(rest)) {
        out.extend_from_slice(run);
        write_escape(*escaped, out);
        rest = behind;
    }
    out.extend_from_slice(rest);
    out.push(b'"');
}

fn needs_escape(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

/// Returns the number of bytes at the start that need no escape.
pub(super) fn plain_length(bytes: &[u8]) -> usize {
    // Blocks are checked without an early exit, so that the compiler can vectorize the loop.
    let block_is_plain = |block: &&[u8]| {
        !block
            .iter()
            .fold(false, |found, byte| found | needs_escape(*byte))
    };
    let start = bytes
        .chunks_exact(16)
        .take_while(block_is_plain)
        .count()
        .saturating_mul(16);
    let rest = bytes.get(start..).unwrap_or_default();
    start.saturating_add(
        rest.iter()
            .position(|byte| needs_escape(*byte))
            .unwrap_or(rest.len()),
    )
}

fn write_escape(byte: u8, out: &mut Vec<u8>) {
    let short = match byte {
        b'"' => b'"',
        b'\\' => b'\\',
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        0x08 => b'b',
        0x0C => b'f',
        _ => {
            let digit = |value: u8| char::from_digit(u32::from(value), 16).unwrap_or('0');
            out.extend_from_slice(b"\\u00");
            out.extend(
                [digit(byte >> 4), digit(byte & 15)]
                    .map(|digit| u8::try_from(digit).unwrap_or(b'0')),
            );
            return;
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}
