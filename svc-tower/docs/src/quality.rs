//! Headers with quality values, such as `Accept` (RFC 9110, 12.4.2).

use http::{HeaderMap, HeaderName};

/// Returns the values of a header in lower case, each with its quality in thousandths.
pub(crate) fn qualities<'h>(
    headers: &'h HeaderMap,
    name: &HeaderName,
) -> impl Iterator<Item = (String, u16)> + 'h {
    let values = headers
        .get_all(name)
        .iter()
        .filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).map(|named| {
        let mut parts = named.split(';').map(str::trim);
        let what = parts.next().unwrap_or_default().to_ascii_lowercase();
        let quality =
            parts.find_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q=")));
        (what, quality.map_or(1000, thousandths))
    })
}

/// Returns a quality such as `0.5` in thousandths. A value that is not a number counts as 1.
fn thousandths(quality: &str) -> u16 {
    let (whole, fraction) = quality.split_once('.').unwrap_or((quality, ""));
    if whole != "0" {
        return 1000;
    }
    let digits: String = fraction.chars().chain("000".chars()).take(3).collect();
    digits.parse().unwrap_or(1000)
}
