//! Measures: what a computed field counts or sums over the records under its record.

use std::fmt::{self, Write as _};

use crate::names::Kind;

/// A number or an amount that the server computes over the records of a kind under a record.
///
/// [`Display`](fmt::Display) writes it as in the table of its kind, for example
/// `sum(Donation.amount unless voided, of currency)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Measure {
    /// Whether values are counted or summed.
    pub aggregate: Aggregate,
    /// The kind of the records.
    pub of: Kind,
    /// The path to the values. Without a path, the records themselves are counted. The first of two
    /// members is an array of objects.
    pub path: &'static [&'static str],
    /// Which records count.
    pub condition: MeasureCondition,
    /// The parts of the measure that are stored in addition.
    pub parts: MeasureParts,
}

/// How a measure combines its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aggregate {
    /// Their number. The field is an integer.
    Count,
    /// Their sum, an exact decimal. The field is an amount.
    Sum,
}

/// Which records count in a measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MeasureCondition {
    /// All records.
    All,
    /// Records whose field has this value.
    Is {
        /// The field.
        field: &'static str,
        /// The value.
        value: &'static str,
        /// Whether records without the field also count.
        or_absent: bool,
    },
    /// Records whose flag is not true.
    Unless(&'static str),
}

/// The parts of a measure. Each has a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MeasureParts {
    /// There are none.
    Whole,
    /// A part for each value of this member in the elements of the first path member. The record
    /// shows each part in the element of its own array with the same value.
    Each(&'static str),
    /// A part for each value of this member in the records, in capitals. The measure is the sum of
    /// the part that has the record's own value and the part without a value. If the record has no
    /// value, it is the sum of all parts.
    Of(&'static str),
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let aggregate = match self.aggregate {
            Aggregate::Count => "count",
            Aggregate::Sum => "sum",
        };
        write!(f, "{aggregate}({:?}", self.of)?;
        for member in self.path {
            write!(f, ".{member}")?;
        }
        match self.condition {
            MeasureCondition::All => {}
            MeasureCondition::Is {
                field,
                value,
                or_absent,
            } => {
                let or_absent = if or_absent { " or absent" } else { "" };
                write!(f, " where {field} is {value}{or_absent}")?;
            }
            MeasureCondition::Unless(flag) => write!(f, " unless {flag}")?,
        }
        match self.parts {
            MeasureParts::Whole => {}
            MeasureParts::Each(member) => write!(f, ", each {member}")?,
            MeasureParts::Of(member) => write!(f, ", of {member}")?,
        }
        f.write_str(")")
    }
}

/// Returns every measure, one a line: the kind and the field with the measure.
///
/// A store saves this text with its totals. If the text of the program differs later, the store
/// counts its totals again.
#[must_use]
pub fn measures_text() -> String {
    let mut text = String::new();
    for kind in Kind::ALL {
        for (field, measure) in kind.schema().measures() {
            // Writing to a string cannot fail.
            _ = writeln!(text, "{kind:?}.{field} = {measure}");
        }
    }
    text
}
