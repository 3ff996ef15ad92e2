//! Reads amounts of money in the notations of different countries.

use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};
use svc_core::value::{Amount, currency};

/// The most digits of an amount that are exact in JSON.
const MOST_DIGITS: usize = 15;

const DASHES: [char; 4] = ['-', '−', '–', '—'];

/// The signs and names of currencies, each with the currencies that it can mean. Without a column that names one of
/// them, it means the first.
const SIGNS: &[(&str, &[&str])] = &[
    ("€", &["EUR"]),
    ("euro", &["EUR"]),
    ("euros", &["EUR"]),
    (
        "$",
        &[
            "USD", "CAD", "AUD", "NZD", "MXN", "HKD", "SGD", "TWD", "ARS", "CLP", "COP", "UYU",
        ],
    ),
    ("dollar", &["USD", "CAD", "AUD", "NZD"]),
    ("dollars", &["USD", "CAD", "AUD", "NZD"]),
    ("us$", &["USD"]),
    ("ca$", &["CAD"]),
    ("c$", &["CAD"]),
    ("a$", &["AUD"]),
    ("au$", &["AUD"]),
    ("nz$", &["NZD"]),
    ("r$", &["BRL"]),
    ("£", &["GBP", "EGP", "GIP", "FKP", "SHP", "LBP", "SYP"]),
    ("¥", &["JPY", "CNY"]),
    ("kr", &["SEK", "NOK", "DKK", "ISK"]),
    ("kr.", &["DKK", "SEK", "NOK", "ISK"]),
    ("zł", &["PLN"]),
    ("kč", &["CZK"]),
    ("ft", &["HUF"]),
    ("fr.", &["CHF"]),
    ("sfr.", &["CHF"]),
    ("₹", &["INR"]),
    ("₽", &["RUB"]),
    ("₩", &["KRW"]),
    ("₪", &["ILS"]),
    ("₺", &["TRY"]),
    ("₴", &["UAH"]),
    ("₫", &["VND"]),
    ("₱", &["PHP"]),
    ("₦", &["NGN"]),
];

/// The mark before the fraction of an amount.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DecimalMark {
    /// It is not known.
    #[default]
    Unknown,
    /// A point, as in `1,234.50`.
    Point,
    /// A comma, as in `1.234,50`.
    Comma,
}

/// The decimal mark that the cells of a column show.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct AmountEvidence {
    points: u64,
    commas: u64,
}

impl AmountEvidence {
    pub(crate) fn add(&mut self, text: &str) {
        let found = AmountParts::read(text).and_then(|parts| mark_of(&parts.digits));
        match found {
            Some(DecimalMark::Point) => self.points = self.points.saturating_add(1),
            Some(DecimalMark::Comma) => self.commas = self.commas.saturating_add(1),
            _ => {}
        }
    }

    /// Returns the mark, if all cells that show one agree on it.
    pub(crate) fn mark(self) -> DecimalMark {
        match (self.points, self.commas) {
            (1.., 0) => DecimalMark::Point,
            (0, 1..) => DecimalMark::Comma,
            _ => DecimalMark::Unknown,
        }
    }
}

/// Why a text is not an amount.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum AmountError {
    #[error("is not an amount, such as 1234.50")]
    NoAmount,
    #[error(
        "can be two amounts, because the decimal mark is not known; use --decimal-mark point or --decimal-mark comma"
    )]
    Ambiguous,
    #[error("is a negative amount")]
    Negative,
    #[error("has too many digits for an amount")]
    TooLong,
}

/// The currencies that a code, a sign or a name can mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CurrencyHint {
    Code(&'static str),
    /// Any of them, and usually the first.
    Sign(&'static [&'static str]),
}

impl CurrencyHint {
    fn of(text: &str) -> Option<Self> {
        if let Some(code) = currency(text) {
            return Some(Self::Code(code));
        }
        let lower = text.to_lowercase();
        let mut known = SIGNS.iter();
        let (_, codes) = known.find(|(sign, _)| *sign == lower)?;
        Some(Self::Sign(codes))
    }

    /// Returns the code that is meant if no other value names one.
    pub(crate) fn code(self) -> Option<&'static str> {
        match self {
            Self::Code(code) => Some(code),
            Self::Sign(codes) => codes.first().copied(),
        }
    }

    /// Returns whether it can mean this currency.
    pub(crate) fn allows(self, code: &str) -> bool {
        match self {
            Self::Code(own) => own == code,
            Self::Sign(codes) => codes.contains(&code),
        }
    }
}

/// Returns the code of a currency, from its code, sign or name.
pub(crate) fn currency_code(text: &str) -> Option<&'static str> {
    CurrencyHint::of(text.trim())?.code()
}

/// An amount as it was read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MoneyText {
    pub(crate) amount: Amount,
    /// The text next to the amount.
    pub(crate) currency: Option<CurrencyHint>,
}

impl MoneyText {
    /// Reads an amount, such as `1,234.50`, `1.234,50`, `1 234,50 €`, `$12` or `CHF 12.-`.
    pub(crate) fn read(text: &str, mark: DecimalMark) -> Result<Self, AmountError> {
        // Numbers in JSON can have an exponent. Spreadsheets write a capital letter, and round the digits.
        let number = Amount::parse(text.trim()).filter(|_| text.contains('e'));
        if let Some(amount) = number.filter(Amount::is_money) {
            return Ok(Self {
                amount,
                currency: None,
            });
        }
        let parts = AmountParts::read(text).ok_or(AmountError::NoAmount)?;
        let mark = match mark_of(&parts.digits) {
            Some(DecimalMark::Unknown) if mark == DecimalMark::Unknown => {
                return Err(AmountError::Ambiguous);
            }
            Some(DecimalMark::Unknown) => mark,
            Some(found) => found,
            // Without a mark, it makes no difference.
            None => DecimalMark::Point,
        };
        let (decimal, grouping) = match mark {
            DecimalMark::Comma => (',', '.'),
            _ => ('.', ','),
        };
        let (whole, fraction) = match parts.digits.split_once(decimal) {
            Some((whole, fraction)) => (whole, fraction),
            None => (parts.digits.as_str(), ""),
        };
        if !fraction.bytes().all(|one| one.is_ascii_digit()) {
            return Err(AmountError::NoAmount);
        }
        let whole = without_grouping(whole, grouping).ok_or(AmountError::NoAmount)?;
        let whole = match whole.trim_start_matches('0') {
            "" => "0",
            digits => digits,
        };
        let fraction = fraction.trim_end_matches('0');
        if whole.len().saturating_add(fraction.len()) > MOST_DIGITS {
            return Err(AmountError::TooLong);
        }
        let text = match fraction {
            "" => whole.to_owned(),
            fraction => format!("{whole}.{fraction}"),
        };
        let amount = Amount::parse(&text).ok_or(AmountError::NoAmount)?;
        if parts.is_negative && !amount.is_zero() {
            return Err(AmountError::Negative);
        }
        if !amount.is_money() {
            return Err(AmountError::TooLong);
        }
        Ok(Self {
            amount,
            currency: parts.currency,
        })
    }

    /// Returns the amount as a number.
    pub(crate) fn to_json(self) -> Value {
        let text = self.amount.to_string();
        let whole = text.parse::<i64>().ok().map(Number::from);
        let number = whole.or_else(|| Number::from_f64(text.parse().ok()?));
        number.map_or(Value::Null, Value::Number)
    }
}

/// The parts of the text of an amount.
#[derive(Debug)]
struct AmountParts {
    is_negative: bool,
    /// The digits with points and commas, and `_` for other marks between groups of digits.
    digits: String,
    currency: Option<CurrencyHint>,
}

impl AmountParts {
    fn read(text: &str) -> Option<Self> {
        let text = text.trim();
        // Accountants write negative amounts in parentheses.
        let inner = text
            .strip_prefix('(')
            .and_then(|text| text.strip_suffix(')'));
        let text = inner.unwrap_or(text);
        let is_digit = |one: char| one.is_ascii_digit();
        let (before, rest) = text.split_at_checked(text.find(is_digit)?)?;
        let (number, after) = rest.split_at_checked(rest.rfind(is_digit)?.checked_add(1)?)?;
        let mut digits = String::with_capacity(number.len());
        // Such as `.50`, but not `Fr.50`.
        let before = match before.strip_suffix(['.', ',']) {
            Some(short) if !short.ends_with(char::is_alphabetic) => {
                digits.push('0');
                digits.extend(before.chars().next_back());
                short
            }
            _ => before,
        };
        for one in number.chars() {
            match one {
                '0'..='9' | '.' | ',' => digits.push(one),
                '\'' | '’' => digits.push('_'),
                one if one.is_whitespace() && !one.is_control() => digits.push('_'),
                _ => return None,
            }
        }
        // Such as `12,-` or `12.–`.
        let after = match after.strip_prefix(['.', ',']) {
            Some(dashes) => {
                let rest = dashes.trim_start_matches(DASHES);
                (rest.len() < dashes.len()).then_some(rest)?
            }
            None => after,
        };
        let is_negative = inner.is_some() || before.contains(DASHES) || after.contains(DASHES);
        let sign = |text: &str| {
            let text: String = text
                .chars()
                .filter(|one| *one != '+' && !DASHES.contains(one))
                .collect();
            text.trim().to_owned()
        };
        let currency = match (sign(before).as_str(), sign(after).as_str()) {
            ("", "") => None,
            (one, "") | ("", one) => Some(CurrencyHint::of(one)?),
            // Such as `$12 CAD`.
            (one, other) => {
                let (one, other) = (CurrencyHint::of(one)?, CurrencyHint::of(other)?);
                let (code, sign) = match one {
                    CurrencyHint::Code(_) => (one, other),
                    CurrencyHint::Sign(_) => (other, one),
                };
                sign.allows(code.code()?).then_some(Some(code))?
            }
        };
        Some(Self {
            is_negative,
            digits,
            currency,
        })
    }
}

/// Returns the decimal mark of digits with marks: `None` if they have neither a point nor a comma, and an unknown
/// mark if both meanings are possible, as in `1,234`.
fn mark_of(digits: &str) -> Option<DecimalMark> {
    let (point, comma) = (digits.rfind('.'), digits.rfind(','));
    let (at, own, other) = match (point, comma) {
        (None, None) => return None,
        (Some(point), Some(comma)) => {
            return Some(if point > comma {
                DecimalMark::Point
            } else {
                DecimalMark::Comma
            });
        }
        (Some(at), None) => (at, DecimalMark::Point, DecimalMark::Comma),
        (None, Some(at)) => (at, DecimalMark::Comma, DecimalMark::Point),
    };
    let (before, after) = digits.split_at_checked(at)?;
    if before.contains(['.', ',']) {
        return Some(other);
    }
    // The mark and three digits.
    let can_be_group = after.len() == 4
        && (1..=3).contains(&before.len())
        && !before.starts_with('0')
        && !before.contains('_');
    Some(if can_be_group {
        DecimalMark::Unknown
    } else {
        own
    })
}

/// Returns the digits before the decimal mark. Groups have three digits, and two in India.
fn without_grouping(text: &str, grouping: char) -> Option<String> {
    let groups: Vec<&str> = text.split([grouping, '_']).collect();
    let is_number =
        |group: &&str| !group.is_empty() && group.bytes().all(|one| one.is_ascii_digit());
    let is_grouped = match groups.as_slice() {
        [_] => true,
        [first, middle @ .., last] => {
            first.len() <= 3
                && last.len() == 3
                && middle.iter().all(|group| matches!(group.len(), 2 | 3))
        }
        [] => false,
    };
    (is_grouped && groups.iter().all(is_number)).then(|| groups.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, mark: DecimalMark) -> Result<String, AmountError> {
        MoneyText::read(text, mark).map(|read| {
            let code = read
                .currency
                .and_then(CurrencyHint::code)
                .unwrap_or_default();
            format!("{} {code}", read.to_json()).trim().to_owned()
        })
    }

    #[test]
    fn amounts_in_many_notations() {
        for (text, expected) in [
            ("12", "12"),
            ("0", "0"),
            ("12.50", "12.5"),
            ("12,5", "12.5"),
            ("1,234.50", "1234.5"),
            ("1.234,50", "1234.5"),
            ("1 234,50", "1234.5"),
            ("1\u{202f}234,50\u{a0}€", "1234.5 EUR"),
            ("1'234.50", "1234.5"),
            ("12,34,567.00", "1234567"),
            ("1,234,567", "1234567"),
            ("1.234.567", "1234567"),
            ("1234.567", "1234.567"),
            ("0.500", "0.5"),
            (".50", "0.5"),
            ("007", "7"),
            ("12 €", "12 EUR"),
            ("€12", "12 EUR"),
            ("$12", "12 USD"),
            ("$ 1,234.50", "1234.5 USD"),
            ("CA$12", "12 CAD"),
            ("$12 CAD", "12 CAD"),
            ("12 usd", "12 USD"),
            ("CHF 12.-", "12 CHF"),
            ("12,– €", "12 EUR"),
            ("Fr.12.50", "12.5 CHF"),
            ("12 Euro", "12 EUR"),
            ("100 kr", "100 SEK"),
            ("+12", "12"),
            ("-0", "0"),
            ("1e2", "100"),
        ] {
            assert_eq!(
                read(text, DecimalMark::Unknown).as_deref(),
                Ok(expected),
                "{text}"
            );
        }
    }

    #[test]
    fn what_is_not_one_amount() {
        for (text, why) in [
            ("", AmountError::NoAmount),
            ("free", AmountError::NoAmount),
            ("12 apples", AmountError::NoAmount),
            ("12%", AmountError::NoAmount),
            ("€12 USD", AmountError::NoAmount),
            ("12 34", AmountError::NoAmount),
            ("12-34", AmountError::NoAmount),
            ("1.2.3", AmountError::NoAmount),
            ("1,23.456,00", AmountError::NoAmount),
            ("12.", AmountError::NoAmount),
            ("2026-03-05", AmountError::NoAmount),
            ("1.2E+05", AmountError::NoAmount),
            ("1,234", AmountError::Ambiguous),
            ("1.234 €", AmountError::Ambiguous),
            ("-12", AmountError::Negative),
            ("($12.00)", AmountError::Negative),
            ("12-", AmountError::Negative),
            ("1234567890123456", AmountError::TooLong),
            ("1.1234567", AmountError::TooLong),
        ] {
            assert_eq!(read(text, DecimalMark::Unknown), Err(why), "{text}");
        }
    }

    #[test]
    fn other_cells_show_the_decimal_mark() {
        let mark = |cells: &[&str]| {
            let mut evidence = AmountEvidence::default();
            for cell in cells {
                evidence.add(cell);
            }
            evidence.mark()
        };
        assert_eq!(mark(&["1,234", "12.50", "x", ""]), DecimalMark::Point);
        assert_eq!(mark(&["1.234", "12,50 €"]), DecimalMark::Comma);
        assert_eq!(mark(&["1.234.567"]), DecimalMark::Comma);
        assert_eq!(mark(&["1,234", "12"]), DecimalMark::Unknown);
        assert_eq!(mark(&["12.50", "12,50"]), DecimalMark::Unknown);
        assert_eq!(read("1,234", DecimalMark::Point).as_deref(), Ok("1234"));
        assert_eq!(read("1,234", DecimalMark::Comma).as_deref(), Ok("1.234"));
    }

    #[test]
    fn currencies_by_code_sign_and_name() {
        for (text, code) in [
            ("eur", "EUR"),
            ("€", "EUR"),
            (" $ ", "USD"),
            ("Dollars", "USD"),
        ] {
            assert_eq!(currency_code(text), Some(code), "{text}");
        }
        assert_eq!(currency_code("gold"), None);
        let dollar = CurrencyHint::of("$").expect("a sign");
        assert!(dollar.allows("CAD") && !dollar.allows("EUR"));
    }
}
