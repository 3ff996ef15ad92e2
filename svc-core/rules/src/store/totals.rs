//! The totals of a record: the values of its measures.

use std::{collections::BTreeMap, fmt::Write as _, sync::LazyLock};

use crate::{
    model::Kind,
    record::{ComputedValue, RawRecord},
    schema::{ComputedSource, Measure},
    value::Amount,
};

/// The values of the measures of a record, or of one part of them, by the name of the field.
///
/// A measure without an entry is 0. A number that is counted has no digits after the decimal point.
///
/// Requirements: RES-event-16 to RES-event-20, RES-fundraising_page-09, RES-fundraising_page-10.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Totals(BTreeMap<&'static str, Amount>);

impl Totals {
    /// Returns the value of a measure.
    #[must_use]
    pub fn value(&self, field: &str) -> Amount {
        self.0.get(field).copied().unwrap_or_default()
    }

    /// Returns the value of a measure that counts.
    #[must_use]
    pub fn count(&self, field: &str) -> i64 {
        i64::try_from(self.value(field).mantissa()).unwrap_or(i64::MAX)
    }

    /// Sets the value of a measure.
    pub fn set(&mut self, field: &'static str, value: Amount) {
        if value.is_zero() {
            self.0.remove(field);
        } else {
            self.0.insert(field, value);
        }
    }

    /// Returns whether every measure is 0.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Sets the computed fields of a record that show the totals.
    pub fn show_on(&self, record: &mut RawRecord) {
        for (field, measure) in record.kind().schema().measures() {
            let value = ComputedValue::of_measure(measure, self.value(field));
            record.set_computed(ComputedSource::Measure(measure), Some(value));
        }
    }

    /// Returns the text that a store saves, for example `total_donations=2 total_amount=12.50`.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for (field, value) in &self.0 {
            let space = if text.is_empty() { "" } else { " " };
            // Writing to a string cannot fail.
            _ = write!(text, "{space}{field}={value}");
        }
        text
    }

    /// Parses the text of [`to_text`](Self::to_text). Returns `None` if a value is not a number.
    /// Fields that are not measures are ignored.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        static FIELDS: LazyLock<Vec<&str>> = LazyLock::new(|| {
            let measures = Kind::ALL.iter().flat_map(|kind| kind.schema().measures());
            measures.map(|(field, _)| field).collect()
        });
        let mut totals = Self::default();
        for (field, value) in text.split(' ').filter_map(|entry| entry.split_once('=')) {
            if let Some(known) = FIELDS.iter().find(|known| **known == field) {
                totals.set(known, Amount::parse(value)?);
            }
        }
        Some(totals)
    }

    /// Returns the value of one measure in the text of [`to_text`](Self::to_text). A value that is
    /// not a number is returned as 0.
    #[must_use]
    pub fn value_in(text: &str, field: &str, measure: Measure) -> ComputedValue {
        let mut entries = text.split(' ').filter_map(|entry| entry.split_once('='));
        let value = entries.find(|(of, _)| *of == field);
        let value = value.and_then(|(_, value)| Amount::parse(value));
        ComputedValue::of_measure(measure, value.unwrap_or_default())
    }

    /// Adds to the value of a measure.
    pub(crate) fn add(&mut self, field: &'static str, value: Amount) {
        self.set(field, self.value(field).plus(value));
    }

    pub(crate) fn plus(&mut self, other: &Self) {
        self.combine(other, Amount::plus);
    }

    pub(crate) fn minus(&mut self, other: &Self) {
        self.combine(other, Amount::minus);
    }

    fn combine(&mut self, other: &Self, with: fn(Amount, Amount) -> Amount) {
        for (field, value) in &other.0 {
            self.set(field, with(self.value(field), *value));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn res_fundraising_page_10_text_preserves_digits() {
        let mut totals = Totals::default();
        assert_eq!(totals.to_text(), "");
        totals.set("total_donations", Amount::new(2, 0).unwrap());
        totals.set("total_amount", Amount::parse("12.50").unwrap());
        let text = totals.to_text();
        assert_eq!(text, "total_amount=12.50 total_donations=2");
        assert_eq!(Totals::parse(&text).unwrap().to_text(), text);
        assert_eq!(Totals::parse("total_of_later=1"), Some(Totals::default()));
        assert_eq!(Totals::parse("total_donations=x"), None);
    }

    #[test]
    fn totals_of_nothing_are_empty() {
        let mut totals = Totals::default();
        let mut two = Totals::default();
        two.set("total_donations", Amount::new(2, 0).unwrap());
        totals.plus(&two);
        assert_eq!(totals.count("total_donations"), 2);
        totals.minus(&two);
        assert!(totals.is_empty());
    }
}
