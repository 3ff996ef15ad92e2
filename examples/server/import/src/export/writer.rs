//! Writes tables as CSV or as spreadsheets.

use std::borrow::Cow;
use std::fmt;
use std::fs::File;
use std::io::{BufWriter, IntoInnerError, Write as _};
use std::path::Path;

use csv::{Terminator, WriterBuilder};
use rust_xlsxwriter::{Workbook, XlsxError};

use super::{ExportError, ExportFormat};
use crate::formulas::marked;

/// The maximum number of rows of a spreadsheet, with the one of the column names.
const MAX_EXCEL_ROWS: u32 = 1_048_576;

/// The content of a cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cell<'r> {
    /// A text of people, which could look like a formula.
    Text(Cow<'r, str>),
    /// A number, a yes or no, or a text of the API.
    Plain(Cow<'r, str>),
}

impl Cell<'_> {
    /// A cell without a value.
    pub const EMPTY: Self = Self::Plain(Cow::Borrowed(""));

    /// Returns the content without a mark.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Text(text) | Self::Plain(text) => text,
        }
    }

    fn written(&self, is_csv: bool) -> Cow<'_, str> {
        match self {
            Self::Text(text) => marked(text, is_csv),
            Self::Plain(text) => Cow::Borrowed(text),
        }
    }
}

/// Writes the rows of a table one by one. It needs little memory.
///
/// CSV is in UTF-8 with a byte order mark, with commas and with CRLF after each row, so that Excel reads it. A text
/// that a spreadsheet program would read as a formula gets an apostrophe before it, which an import removes. All
/// cells of a spreadsheet are texts, which keep leading zeros.
pub struct TableWriter(Format);

impl fmt::Debug for TableWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let format = match self.0 {
            Format::Csv(_) => ExportFormat::Csv,
            Format::Excel { .. } => ExportFormat::Excel,
        };
        f.debug_tuple("TableWriter").field(&format).finish()
    }
}

enum Format {
    Csv(Box<csv::Writer<BufWriter<File>>>),
    Excel {
        book: Box<Workbook>,
        file: File,
        rows: u32,
    },
}

impl TableWriter {
    /// Creates a writer of CSV.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be written.
    pub fn csv(file: File) -> Result<Self, ExportError> {
        let mut file = BufWriter::new(file);
        file.write_all("\u{FEFF}".as_bytes())?;
        let rows = WriterBuilder::new()
            .terminator(Terminator::CRLF)
            .from_writer(file);
        Ok(Self(Format::Csv(Box::new(rows))))
    }

    /// Creates a writer of a spreadsheet. A temporary file in the folder has its rows until
    /// [`finish`](Self::finish).
    ///
    /// # Errors
    ///
    /// Returns an error if no file can be created in the folder.
    pub fn excel(file: File, folder: &Path) -> Result<Self, ExportError> {
        let mut book = Box::new(Workbook::new());
        book.set_tempdir(folder)?;
        book.add_worksheet_with_constant_memory()?;
        Ok(Self(Format::Excel {
            book,
            file,
            rows: 0,
        }))
    }

    /// Adds a row.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be written, or if the format cannot have such a row.
    pub fn add(&mut self, cells: &[Cell<'_>]) -> Result<(), ExportError> {
        match &mut self.0 {
            Format::Csv(rows) => {
                for cell in cells {
                    rows.write_field(cell.written(true).as_bytes())
                        .map_err(std::io::Error::from)?;
                }
                rows.write_record(None::<&[u8]>)
                    .map_err(std::io::Error::from)?;
            }
            Format::Excel { book, rows, .. } => {
                if *rows >= MAX_EXCEL_ROWS {
                    return Err(ExportError::TooManyRows);
                }
                let sheet = book.worksheet_from_index(0)?;
                for (column, cell) in cells.iter().enumerate() {
                    let text = cell.written(false);
                    let column = u16::try_from(column).map_err(|_| ExportError::TooManyColumns)?;
                    if !text.is_empty() {
                        sheet
                            .write_string(*rows, column, text)
                            .map_err(|error| match error {
                                XlsxError::MaxStringLengthExceeded => {
                                    ExportError::TooLongText(rows.saturating_add(1))
                                }
                                error => error.into(),
                            })?;
                    }
                }
                *rows = rows.saturating_add(1);
            }
        }
        Ok(())
    }

    /// Writes the end of the file, and returns it.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be written.
    pub fn finish(self) -> Result<File, ExportError> {
        match self.0 {
            Format::Csv(rows) => {
                let file = rows.into_inner().map_err(csv::IntoInnerError::into_error)?;
                let file = file.into_inner().map_err(IntoInnerError::into_error)?;
                Ok(file)
            }
            Format::Excel {
                mut book, mut file, ..
            } => {
                book.save_to_writer(&mut file)?;
                Ok(file)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;
    use crate::{RowContent, Table};

    const ROWS: [[&str; 3]; 4] = [
        ["a", "b", "c"],
        ["=1", "02110", "one, \"two\"\nthree\r\nfour"],
        ["", "_x000D_", "'=x"],
        ["ü", "\u{1F600}", "a;b"],
    ];

    fn written(mut table: TableWriter) -> File {
        for row in ROWS {
            let cells = row.map(|text| Cell::Text(text.into()));
            table.add(&cells).expect("a row");
        }
        table.finish().expect("a file")
    }

    /// Returns the rows of a file as an import reads them, without marks.
    fn read(path: &Path) -> Vec<Vec<String>> {
        let table = Table::open(path).expect("a table");
        let rows = table
            .rows()
            .expect("rows")
            .map(|row| match row.expect("a row").content {
                RowContent::Cells(cells) => cells
                    .iter()
                    .map(|cell| crate::formulas::unmarked(cell).to_owned())
                    .collect(),
                other => panic!("{other:?}"),
            });
        std::iter::once(table.head().to_vec()).chain(rows).collect()
    }

    #[test]
    fn tables_are_read_as_they_were_written() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("people.csv");
        written(TableWriter::csv(File::create(&path).expect("a file")).expect("a table"));
        assert_eq!(read(&path), ROWS);
        let mut text = String::new();
        let mut file = File::open(&path).expect("a file");
        file.read_to_string(&mut text).expect("text");
        assert!(
            text.starts_with("\u{FEFF}a,b,c\r\n'=1,02110,\"one, \"\"two"),
            "{text}"
        );
        let path = folder.path().join("people.xlsx");
        let file = File::create(&path).expect("a file");
        written(TableWriter::excel(file, folder.path()).expect("a table"));
        assert_eq!(read(&path), ROWS);
        let files = std::fs::read_dir(folder.path()).expect("a folder").count();
        assert_eq!(files, 2, "no temporary file is left");
    }

    #[test]
    fn a_text_can_be_too_long_for_a_spreadsheet() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = tempfile::tempfile().expect("a file");
        let mut table = TableWriter::excel(file, folder.path()).expect("a table");
        let cell = |length: usize| [Cell::Text("x".repeat(length).into())];
        table.add(&cell(32_767)).expect("a row");
        let error = table.add(&cell(32_768)).expect_err("too long");
        assert!(matches!(error, ExportError::TooLongText(2)), "{error}");
    }
}
