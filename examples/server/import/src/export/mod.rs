//! Writes records as tables with the columns that an import reads.

mod columns;
mod record;
mod writer;

use std::io;
use std::path::Path;

pub use columns::{ExportColumn, ExportColumns, UnknownColumn, UsedColumns};
pub use record::ExportRecord;
pub use writer::{Cell, TableWriter};

/// The format of an exported file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportFormat {
    /// CSV in UTF-8.
    Csv,
    /// A spreadsheet of Excel.
    Excel,
    /// A record in JSON on each line.
    Ndjson,
}

impl ExportFormat {
    /// Returns the format for the ending of a file: `.csv`, `.xlsx` or `.ndjson`.
    #[must_use]
    pub fn of(path: &Path) -> Option<Self> {
        let ending = path.extension()?.to_str()?;
        let formats = [
            ("csv", Self::Csv),
            ("xlsx", Self::Excel),
            ("ndjson", Self::Ndjson),
        ];
        let is_it = |(known, _): &&(&str, Self)| known.eq_ignore_ascii_case(ending);
        formats.iter().find(is_it).map(|(_, format)| *format)
    }
}

/// Why records cannot be written as a table.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// The file cannot be written.
    #[error("it cannot be written: {0}")]
    Io(#[from] io::Error),
    /// The spreadsheet cannot be written.
    #[error("the spreadsheet cannot be written: {0}")]
    Excel(#[from] rust_xlsxwriter::XlsxError),
    /// There are more rows than a spreadsheet can have.
    #[error("a spreadsheet can have 1 048 575 rows below the column names; use a .csv file")]
    TooManyRows,
    /// A text is longer than a cell of a spreadsheet can be. It has the number of the row, from 1.
    #[error(
        "row {0} has a text of more than 32 767 characters, which is the limit of a spreadsheet; use a .csv file"
    )]
    TooLongText(u32),
    /// The records need more columns than a table that is imported can have.
    #[error(
        "the records need more than 1 000 columns; choose columns with --columns, or use an .ndjson file"
    )]
    TooManyColumns,
    /// A list has more entries than there are columns for. It has the name of the column.
    #[error(
        "there is no column `{0}`, because a list has more entries than a table can have; choose columns with --columns, or use an .ndjson file"
    )]
    TooManyEntries(String),
    /// A line of records is not one.
    #[error("its records cannot be read")]
    NoRecord,
}
