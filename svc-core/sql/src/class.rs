//! What a column of a database can hold.

/// What a column can hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    Text,
    Uuid,
    /// Whole numbers up to this one, and down to its negative.
    Integer(i64),
    /// Numbers with a fraction.
    Decimal,
    Boolean,
    Moment,
    Date,
    Json,
    /// An array of texts.
    Texts,
    Other,
}
