//! Exact decimals.

use std::{
    cmp::Ordering,
    fmt,
    hash::{Hash, Hasher},
};

use super::DecimalParts;

/// An exact decimal, such as an amount of money: at most 38 digits, before and after the decimal point together; never a binary float.
///
/// The scale is preserved: `10.50` is written as `10.50`, and is equal to `10.5`. Zero has no scale:
/// `0.00` is written as `0`.
///
/// Requirements: TYP-03, TYP-04.
#[derive(Clone, Copy, Default)]
pub struct Amount {
    mantissa: i128,
    /// The number of digits after the decimal point; 0 if the amount is zero.
    scale: u32,
}

/// One more than the largest mantissa: 38 digits.
const LIMIT: i128 = 10_i128.pow(Amount::MAX_DIGITS);

impl Amount {
    /// Zero.
    pub const ZERO: Self = Self {
        mantissa: 0,
        scale: 0,
    };

    /// The maximum number of digits, before and after the decimal point together.
    ///
    /// Requirements: TYP-03.
    pub const MAX_DIGITS: u32 = 38;

    /// The maximum numbers of digits before and after the decimal point of an amount of money from
    /// a client. The sum of 10^16 of the largest such amounts is still exact.
    pub const MONEY_DIGITS: (u32, u32) = (16, 6);

    /// Creates `mantissa` divided by ten to the power of `scale`; `None` if it has more than 38
    /// digits.
    #[must_use]
    pub fn new(mantissa: i128, scale: u32) -> Option<Self> {
        let fits = scale <= Self::MAX_DIGITS && mantissa.checked_abs()? < LIMIT;
        fits.then_some(Self::with_scale(mantissa, scale))
    }

    /// Creates an amount whose digits are known to fit.
    const fn with_scale(mantissa: i128, scale: u32) -> Self {
        let scale = if mantissa == 0 { 0 } else { scale };
        Self { mantissa, scale }
    }

    /// Returns whether a client may send it as an amount of money. Such an amount is not negative,
    /// with at most 16 digits before the decimal point and 6 after it.
    #[must_use]
    pub fn is_money(&self) -> bool {
        let (before, behind) = Self::MONEY_DIGITS;
        let whole = self
            .mantissa
            .checked_div(power(self.scale))
            .unwrap_or_default();
        self.mantissa >= 0 && self.scale <= behind && whole < power(before)
    }

    /// Parses the text of a JSON number exactly, including exponents.
    ///
    /// Returns `None` if the text is not a JSON number or needs more than 38 digits.
    ///
    /// Requirements: TYP-03, TYP-04.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let parts = DecimalParts::parse(text)?;
        let digits = parts.digits();
        let scale = parts.scale();
        if digits.is_empty() {
            return Some(Self::ZERO);
        }
        if digits.len() > usize::try_from(Self::MAX_DIGITS).ok()? {
            return None;
        }
        let digits = digits.parse::<i128>().ok()?;
        let mantissa = if parts.negative {
            digits.checked_neg()?
        } else {
            digits
        };
        if let Ok(scale) = u32::try_from(scale) {
            return Self::new(mantissa, scale);
        }
        let zeros = u32::try_from(scale.checked_neg()?)
            .ok()
            .filter(|zeros| *zeros <= Self::MAX_DIGITS)?;
        Self::new(mantissa.checked_mul(10_i128.checked_pow(zeros)?)?, 0)
    }

    /// Returns the digits as an integer, without the decimal point.
    #[must_use]
    pub const fn mantissa(&self) -> i128 {
        self.mantissa
    }

    /// Returns the number of digits after the decimal point.
    #[must_use]
    pub const fn scale(&self) -> u32 {
        self.scale
    }

    /// Returns whether this number of digits after the decimal point is enough for the amount. Zeros
    /// at its end do not count.
    #[must_use]
    pub fn fits_digits(&self, digits: u32) -> bool {
        self.without_end_zeros().scale <= digits
    }

    /// Returns whether the amount is zero.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.mantissa() == 0
    }

    /// Returns whether the amount is negative.
    #[must_use]
    pub fn is_negative(&self) -> bool {
        self.mantissa() < 0
    }

    /// Returns the exact sum; `None` if it has more than 38 digits.
    #[must_use]
    pub fn checked_add(self, other: Self) -> Option<Self> {
        self.combine(other, i128::checked_add)
    }

    /// Returns the exact difference; `None` if it has more than 38 digits.
    #[must_use]
    pub fn checked_sub(self, other: Self) -> Option<Self> {
        self.combine(other, i128::checked_sub)
    }

    /// Returns the sum. It is exact for amounts of money. Other sums with too many digits are
    /// rounded to six digits after the decimal point.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        self.checked_add(other)
            .or_else(|| self.rounded().checked_add(other.rounded()))
            .unwrap_or(self)
    }

    /// Returns the difference, with the rounding of [`plus`](Self::plus).
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        self.plus(Self {
            mantissa: other.mantissa.saturating_neg(),
            ..other
        })
    }

    /// Rounds to the maximum number of digits after the decimal point that money has; a half is
    /// rounded away from zero.
    pub(crate) fn rounded(self) -> Self {
        let (_, behind) = Self::MONEY_DIGITS;
        let Some(unit) = self.scale.checked_sub(behind).map(power) else {
            return self;
        };
        let half = unit
            .checked_div(2)
            .unwrap_or_default()
            .saturating_mul(self.mantissa.signum());
        let mantissa = self
            .mantissa
            .saturating_add(half)
            .checked_div(unit)
            .unwrap_or_default();
        Self::with_scale(mantissa, behind)
    }

    /// Limits the amount to what money may be: at most 16 digits before the decimal point
    /// (otherwise the largest amount), 6 after it, and not negative.
    #[must_use]
    pub fn as_money(self) -> Self {
        let (before, behind) = Self::MONEY_DIGITS;
        if self.is_negative() {
            return Self::ZERO;
        }
        let rounded = self.rounded();
        let whole = rounded
            .mantissa
            .checked_div(power(rounded.scale))
            .unwrap_or_default();
        if whole < power(before) {
            return rounded;
        }
        let largest = power(before.saturating_add(behind)).saturating_sub(1);
        Self {
            mantissa: largest,
            scale: behind,
        }
    }

    /// Appends the amount as a JSON number. A whole amount outside 64 bits gets the suffix `e0`,
    /// because the reader rejects plain integers outside 64 bits.
    ///
    /// Requirements: TYP-03, UND-27.
    pub fn write(&self, out: &mut Vec<u8>) {
        use std::io::Write as _;
        // Writing into a Vec cannot fail.
        let _ = write!(out, "{self}{}", self.json_end());
    }

    /// Returns the suffix of the amount in JSON.
    pub(crate) fn json_end(&self) -> &'static str {
        let fits = i64::try_from(self.mantissa()).is_ok() || u64::try_from(self.mantissa()).is_ok();
        if self.scale() > 0 || fits { "" } else { "e0" }
    }

    /// Adds or subtracts exactly. Trailing zeros are dropped only if the digits would not fit
    /// otherwise.
    fn combine(self, other: Self, operation: impl Fn(i128, i128) -> Option<i128>) -> Option<Self> {
        let aligned = |left: Self, right: Self| {
            let scale = left.scale().max(right.scale());
            Some((
                operation(left.mantissa_at(scale)?, right.mantissa_at(scale)?)?,
                scale,
            ))
        };
        let (mut mantissa, mut scale) = aligned(self, other)
            .or_else(|| aligned(self.without_end_zeros(), other.without_end_zeros()))?;
        while mantissa.checked_abs()? >= LIMIT && scale > 0 && mantissa.checked_rem(10)? == 0 {
            mantissa = mantissa.checked_div(10)?;
            scale = scale.checked_sub(1)?;
        }
        Self::new(mantissa, scale)
    }

    /// Returns the digits as an integer with `scale` digits after the decimal point.
    fn mantissa_at(self, scale: u32) -> Option<i128> {
        self.mantissa()
            .checked_mul(10_i128.checked_pow(scale.checked_sub(self.scale())?)?)
    }

    fn without_end_zeros(self) -> Self {
        let Self {
            mut mantissa,
            mut scale,
        } = self;
        while scale > 0 && mantissa.checked_rem(10) == Some(0) {
            mantissa = mantissa.checked_div(10).unwrap_or_default();
            scale = scale.saturating_sub(1);
        }
        Self { mantissa, scale }
    }

    /// Returns the integer part, rounded down, and the fraction as 38 digits.
    fn parts(self) -> (i128, i128) {
        let unit = power(self.scale);
        let whole = self.mantissa.checked_div_euclid(unit).unwrap_or_default();
        let rest = self.mantissa.checked_rem_euclid(unit).unwrap_or_default();
        (
            whole,
            rest.saturating_mul(power(Self::MAX_DIGITS.saturating_sub(self.scale))),
        )
    }
}

/// Returns ten to the power of a number of digits that an amount can have.
fn power(digits: u32) -> i128 {
    10_i128.checked_pow(digits).unwrap_or(LIMIT)
}

impl PartialEq for Amount {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Amount {}

impl Hash for Amount {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Self { mantissa, scale } = self.without_end_zeros();
        (mantissa, scale).hash(state);
    }
}

impl Ord for Amount {
    fn cmp(&self, other: &Self) -> Ordering {
        self.parts().cmp(&other.parts())
    }
}

impl PartialOrd for Amount {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl From<i32> for Amount {
    fn from(value: i32) -> Self {
        Self::from(i64::from(value))
    }
}

impl From<i64> for Amount {
    fn from(value: i64) -> Self {
        Self {
            mantissa: value.into(),
            scale: 0,
        }
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (digits, sign) = (
            self.mantissa.unsigned_abs(),
            if self.mantissa < 0 { "-" } else { "" },
        );
        let unit = power(self.scale).unsigned_abs();
        let whole = digits.checked_div(unit).unwrap_or_default();
        match usize::try_from(self.scale) {
            Ok(0) | Err(_) => write!(f, "{sign}{whole}"),
            Ok(scale) => write!(
                f,
                "{sign}{whole}.{:0scale$}",
                digits.checked_rem(unit).unwrap_or_default()
            ),
        }
    }
}

impl fmt::Debug for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Amount({self})")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::json::{Json, JsonLimits, Number};

    fn text(text: &str) -> Option<String> {
        Amount::parse(text).map(|amount| amount.to_string())
    }

    #[test]
    fn typ_03_amounts_come_back_digit_for_digit() {
        for same in [
            "0",
            "10.50",
            "-10.50",
            "9007199254740993.01",
            "12345678901234567890123456789012345678",
        ] {
            assert_eq!(text(same).as_deref(), Some(same), "TYP-03");
        }
        let small = "0.00000000000000000000000000000000000001";
        assert_eq!(text(small).as_deref(), Some(small), "TYP-03");
        let cases = [
            ("1e3", "1000"),
            ("1.5e1", "15"),
            ("1.50e1", "15.0"),
            ("15E-1", "1.5"),
            ("1e37", &format!("1{:037}", 0)),
        ];
        for (sent, kept) in cases {
            assert_eq!(text(sent).as_deref(), Some(kept), "TYP-04");
        }
    }

    #[test]
    fn typ_03_zero_is_always_written_as_0() {
        for zero in [
            "0",
            "-0",
            "0.00",
            "-0.00",
            "0E-2",
            "0e5",
            "0e99999999999999999999",
        ] {
            assert_eq!(text(zero).as_deref(), Some("0"), "TYP-03: {zero}");
        }
        let tiny = Amount::parse("0.0000001").unwrap();
        let difference = tiny.minus(Amount::parse("0.00000010").unwrap());
        for zero in [Amount::new(0, 2).unwrap(), tiny.as_money(), difference] {
            assert_eq!(zero.to_string(), "0", "TYP-03");
        }
    }

    #[test]
    fn typ_03_more_than_38_digits_do_not_fit() {
        for bad in [
            "123456789012345678901234567890123456789",
            "1e38",
            "1e-39",
            "1e999999999999",
            "1e-999999999999",
            "0x1",
            "",
            "NaN",
        ] {
            assert_eq!(Amount::parse(bad), None, "TYP-03: {bad}");
        }
    }

    #[test]
    fn typ_03_sums_are_exact_or_refused() {
        let sum = |left, right| {
            Amount::parse(left)?
                .checked_add(Amount::parse(right)?)
                .map(|sum| sum.to_string())
        };
        assert_eq!(sum("0.1", "0.2").as_deref(), Some("0.3"), "TYP-03");
        assert_eq!(sum("10.50", "1").as_deref(), Some("11.50"), "TYP-03");
        assert_eq!(
            sum("1e37", "0.0000000000").as_deref(),
            text("1e37").as_deref(),
            "TYP-03"
        );
        assert_eq!(
            sum("1e37", "0.1"),
            None,
            "TYP-03: a sum that would be rounded is rejected"
        );
        assert_eq!(
            sum("99999999999999999999999999999999999999", "1"),
            None,
            "TYP-03"
        );
    }

    #[test]
    fn typ_03_what_money_is() {
        for good in [
            "0",
            "0.00",
            "10.50",
            "9999999999999999.999999",
            "1e15",
            "0.000001",
            "15e-1",
        ] {
            assert!(Amount::parse(good).unwrap().is_money(), "TYP-03: {good}");
        }
        for bad in [
            "-1",
            "-0.000001",
            "10000000000000000",
            "1e16",
            "0.0000001",
            "1.0000000",
        ] {
            assert!(!Amount::parse(bad).unwrap().is_money(), "TYP-03: {bad}");
        }
    }

    #[test]
    fn typ_03_what_does_not_fit_is_rounded_to_six_digits() {
        let sum = |one: &str, other: &str| {
            Amount::parse(one)
                .unwrap()
                .plus(Amount::parse(other).unwrap())
                .to_string()
        };
        assert_eq!(sum("0.1", "0.2"), "0.3", "TYP-03");
        assert_eq!(
            sum("0.0000000000000000000000000001", "5000"),
            "5000.0000000000000000000000000001",
            "TYP-03"
        );
        assert_eq!(
            sum("0.0000000000000000000000000001", "999999999999"),
            "999999999999",
            "TYP-03"
        );
        assert_eq!(
            sum("-0.0000005000000000000000000001", "999999999999"),
            "999999999998.999999",
            "TYP-03"
        );
    }

    proptest! {
        #![proptest_config(crate::value::proptest_config::config())]

        #[test]
        fn typ_03_text_round_trip(mantissa in -LIMIT + 1..LIMIT, scale in 0..=38_u32) {
            let amount = Amount::new(mantissa, scale).unwrap();
            let again = Amount::parse(&amount.to_string()).unwrap();
            let scale = if mantissa == 0 { 0 } else { scale };
            prop_assert_eq!((again.mantissa(), again.scale()), (mantissa, scale), "TYP-03");
            let mut bytes = Vec::new();
            amount.write(&mut bytes);
            let written = String::from_utf8(bytes).unwrap();
            prop_assert_eq!(written.strip_suffix("e0").unwrap_or(&written), amount.to_string(), "TYP-03");
            let number = Json::read(written.as_bytes(), &JsonLimits::default()).unwrap();
            prop_assert_eq!(number.as_number().and_then(Number::as_amount), Some(amount), "UND-27: {}", written);
            prop_assert_eq!(Json::from(amount).to_string(), written, "TYP-03");
        }

        #[test]
        fn typ_03_sums_against_integers(
            values in proptest::collection::vec((-10_i128.pow(20)..10_i128.pow(20), 0..=6_u32), 0..50),
        ) {
            let mut sum = Amount::ZERO;
            let mut micros = 0_i128;
            for (mantissa, scale) in values {
                sum = sum.checked_add(Amount::new(mantissa, scale).unwrap()).unwrap();
                micros += mantissa * 10_i128.pow(6 - scale);
            }
            prop_assert_eq!(sum, Amount::new(micros, 6).unwrap(), "TYP-03");
        }

        #[test]
        fn typ_03_no_sum_is_rounded(
            a in -LIMIT + 1..LIMIT, b in -LIMIT + 1..LIMIT, s in 0..=38_u32, t in 0..=38_u32,
        ) {
            let (left, right) = (Amount::new(a, s).unwrap(), Amount::new(b, t).unwrap());
            if let Some(sum) = left.checked_add(right) {
                prop_assert_eq!(sum.checked_sub(left), Some(right), "TYP-03");
                prop_assert_eq!(sum.checked_sub(right), Some(left), "TYP-03");
            } else {
                // In the finer of the two scales the sum has more than 38 digits, or more than an
                // i128 can hold.
                let scale = s.max(t);
                let fine = |mantissa: i128, from| mantissa.checked_mul(10_i128.pow(scale - from));
                let sum = fine(a, s).zip(fine(b, t)).and_then(|(a, b)| a.checked_add(b));
                prop_assert!(sum.is_none_or(|sum| sum.abs() >= LIMIT), "TYP-03");
            }
        }

        #[test]
        fn typ_03_subtraction_undoes_addition(a in any::<i64>(), b in any::<i64>(), s in 0..=4_u32, t in 0..=4_u32) {
            let (a, b) = (Amount::new(a.into(), s).unwrap(), Amount::new(b.into(), t).unwrap());
            prop_assert_eq!(a.checked_add(b).unwrap().checked_sub(b).unwrap(), a, "TYP-03");
        }

        #[test]
        fn typ_03_order_is_that_of_the_values(
            a in -LIMIT + 1..LIMIT, b in -LIMIT + 1..LIMIT, s in 0..=38_u32, t in 0..=38_u32,
        ) {
            // Integer part, then 38 digits of fraction.
            let exact = |mantissa: i128, scale| {
                let unit = 10_i128.pow(scale);
                (mantissa.div_euclid(unit), mantissa.rem_euclid(unit) * 10_i128.pow(38 - scale))
            };
            let (left, right) = (Amount::new(a, s).unwrap(), Amount::new(b, t).unwrap());
            prop_assert_eq!(left.cmp(&right), exact(a, s).cmp(&exact(b, t)), "TYP-03");
        }

        #[test]
        fn typ_03_equal_amounts_of_any_scale_hash_equally(a in any::<i64>(), zeros in 0..=9_u32, s in 0..=9_u32) {
            let short = Amount::new(a.into(), s).unwrap();
            let long = Amount::new(i128::from(a) * 10_i128.pow(zeros), s + zeros).unwrap();
            let amounts = std::collections::HashSet::from([short, long]);
            prop_assert_eq!(amounts.len(), 1, "TYP-03");
        }

        #[test]
        fn typ_03_any_text_is_safe(text in "[-+0-9.eE]{0,60}") {
            if let Some(amount) = Amount::parse(&text) {
                prop_assert_eq!(Amount::parse(&amount.to_string()), Some(amount), "TYP-03");
            }
        }
    }
}
