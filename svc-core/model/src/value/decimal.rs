//! The grammar of a JSON number, and its exact decimal value.

/// The parts of a JSON number. The text follows the JSON grammar: `-? int frac? exp?`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DecimalParts<'a> {
    pub(crate) negative: bool,
    /// The digits before the decimal point, never empty.
    int: &'a str,
    /// The digits after the decimal point.
    frac: &'a str,
    /// The exponent, limited to `±EXPONENT_LIMIT`.
    exponent: i64,
    /// Whether the text has neither a fraction nor an exponent.
    pub(crate) plain_integer: bool,
}

const EXPONENT_LIMIT: i64 = 1 << 40;

/// Splits a text into the digits at its start and the rest.
fn split_digits(text: &str) -> (&str, &str) {
    let end = text
        .bytes()
        .position(|byte| !byte.is_ascii_digit())
        .unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}

impl<'a> DecimalParts<'a> {
    /// Parses the text; `None` if it is not exactly one JSON number.
    pub(crate) fn parse(text: &'a str) -> Option<Self> {
        let (negative, rest) = text
            .strip_prefix('-')
            .map_or((false, text), |rest| (true, rest));
        let (int, rest) = split_digits(rest);
        if int.is_empty() || (int.len() > 1 && int.starts_with('0')) {
            return None;
        }
        let (frac, rest) = match rest.strip_prefix('.') {
            Some(rest) => Some(split_digits(rest)).filter(|(frac, _)| !frac.is_empty())?,
            None => ("", rest),
        };
        let (exponent, has_exponent) = match rest.strip_prefix(['e', 'E']) {
            Some(exponent) => (parse_exponent(exponent)?, true),
            None if rest.is_empty() => (0, false),
            None => return None,
        };
        Some(Self {
            negative,
            int,
            frac,
            exponent,
            plain_integer: frac.is_empty() && !has_exponent,
        })
    }

    /// Returns the digits without leading zeros; empty for zero.
    #[must_use]
    pub fn digits(&self) -> String {
        let mut digits = String::with_capacity(self.int.len().saturating_add(self.frac.len()));
        digits.push_str(self.int.trim_start_matches('0'));
        let frac = if digits.is_empty() {
            self.frac.trim_start_matches('0')
        } else {
            self.frac
        };
        digits.push_str(frac);
        digits
    }

    /// Returns the number of digits after the decimal point once the exponent is applied. A
    /// negative number is the number of missing zeros.
    pub(crate) fn scale(&self) -> i64 {
        i64::try_from(self.frac.len())
            .unwrap_or(i64::MAX)
            .saturating_sub(self.exponent)
    }

    /// Returns the value if it is integral and fits into 64 bits; `1.0` and `1e2` are integral.
    ///
    /// Requirements: TYP-02.
    pub(crate) fn to_i64(self) -> Option<i64> {
        let digits = self.digits();
        let significant = digits.trim_end_matches('0');
        if significant.is_empty() {
            return Some(0);
        }
        let zeros = i64::try_from(digits.len().checked_sub(significant.len())?).ok()?;
        let shift = u32::try_from(zeros.checked_sub(self.scale())?).ok()?;
        if significant.len() > 19 || shift > 19 {
            return None;
        }
        let value = significant
            .parse::<i128>()
            .ok()?
            .checked_mul(10_i128.checked_pow(shift)?)?;
        i64::try_from(if self.negative {
            value.checked_neg()?
        } else {
            value
        })
        .ok()
    }
}

/// Parses the digits of an exponent with their sign.
fn parse_exponent(text: &str) -> Option<i64> {
    let (negative, rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (digits, rest) = split_digits(rest);
    if digits.is_empty() || !rest.is_empty() {
        return None;
    }
    let value = digits
        .parse::<i64>()
        .unwrap_or(EXPONENT_LIMIT)
        .min(EXPONENT_LIMIT);
    Some(if negative {
        value.saturating_neg()
    } else {
        value
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typ_04_the_grammar_is_that_of_json() {
        for good in [
            "0",
            "-0",
            "10",
            "1.5",
            "-1.50",
            "1e2",
            "1E+2",
            "1.0e-2",
            "0.0",
            "1e99999999999999999999",
        ] {
            assert!(DecimalParts::parse(good).is_some(), "TYP-04: {good}");
        }
        for bad in [
            "", "-", "+1", "01", "-01", "1.", ".5", "1e", "1e+", "1e1.5", "0x1", " 1", "1 ", "1_0",
            "NaN", "١",
        ] {
            assert!(DecimalParts::parse(bad).is_none(), "TYP-04: {bad}");
        }
    }

    #[test]
    fn typ_02_integral_values() {
        let cases: [(&str, Option<i64>); 20] = [
            ("0", Some(0)),
            ("-0", Some(0)),
            ("-0.0e9", Some(0)),
            ("0e99999999999999999999", Some(0)),
            ("1.0", Some(1)),
            ("1e2", Some(100)),
            ("120e-1", Some(12)),
            ("1.5e1", Some(15)),
            ("0.001e3", Some(1)),
            ("9223372036854775807", Some(i64::MAX)),
            ("-9223372036854775808", Some(i64::MIN)),
            ("9223372036854775807.000", Some(i64::MAX)),
            ("9223372036854775808", None),
            ("-9223372036854775809", None),
            ("1.5", None),
            ("1e-1", None),
            ("1e18", Some(1_000_000_000_000_000_000)),
            ("1e19", None),
            ("1e99999999999999999999", None),
            ("1e-99999999999999999999", None),
        ];
        for (text, value) in cases {
            assert_eq!(
                DecimalParts::parse(text).and_then(DecimalParts::to_i64),
                value,
                "TYP-02: {text}"
            );
        }
    }
}
