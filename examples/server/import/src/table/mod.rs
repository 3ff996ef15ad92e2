//! Tables as spreadsheet programs and other programs write them.

mod encoding;
mod records;
mod unpack;

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use encoding_rs::{Encoding, UTF_8};
use encoding_rs_io::{DecodeReaderBytes, DecodeReaderBytesBuilder};

use self::encoding::{RowFormat, encoding_of, row_format};
use self::records::{RawRow, RowReader};
pub use self::records::{RowFault, column_letters};
pub use self::unpack::{FileFormat, TableLimits};

/// The size of the first part of a text, which shows how its rows are written.
const START: u64 = 64 * 1024;
/// The maximum number of columns.
pub(crate) const MAX_COLUMNS: usize = 1_000;

/// Why a file is not a table.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// The file cannot be read.
    #[error("it cannot be read: {0}")]
    Io(#[from] io::Error),
    /// The spreadsheet cannot be read.
    #[error("it is not a readable spreadsheet: {0}")]
    Spreadsheet(#[source] calamine::Error),
    /// The archive cannot be read.
    #[error("it is not a readable archive: {0}")]
    Zip(#[from] zip::result::ZipError),
    /// The archive does not contain exactly one file with a table.
    #[error("an archive must contain exactly one file, with a table that is not an archive itself")]
    Archive,
    /// The spreadsheet or the content of the archive is too large.
    #[error(
        "it is too large. The limit is {} MiB for a spreadsheet, and {} MiB for compressed text",
        .0.spreadsheet / (1024 * 1024), .0.text / (1024 * 1024)
    )]
    TooLarge(TableLimits),
    /// The file contains no row with column names.
    #[error("it contains no row with column names")]
    Empty,
    /// The first row is not usable.
    #[error("its first row cannot be used: {0}")]
    Head(#[from] RowFault),
    /// The table has too many columns.
    #[error("it has more than 1 000 columns")]
    TooManyColumns,
}

macro_rules! from_spreadsheet {
    ($($error:ident)*) => { $(
        impl From<calamine::$error> for TableError {
            fn from(error: calamine::$error) -> Self {
                Self::Spreadsheet(error.into())
            }
        }
    )* };
}
from_spreadsheet!(XlsxError XlsError OdsError);

/// The table in a file: CSV in any encoding and with any separator, a spreadsheet, or one of them in a
/// compressed file.
///
/// The first row that is not empty has the column names.
#[derive(Debug)]
pub struct Table {
    text: Arc<Mutex<File>>,
    format: FileFormat,
    encoding: &'static Encoding,
    rows: RowFormat,
    head: Vec<String>,
    head_row: u64,
}

impl Table {
    /// Opens a file, and reads the column names.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read, or if it has no row with column names.
    pub fn open(path: &Path) -> Result<Self, TableError> {
        Self::read(File::open(path)?)
    }

    /// Reads the column names of an open file.
    ///
    /// # Errors
    ///
    /// Same as [`Table::open`].
    pub fn read(file: File) -> Result<Self, TableError> {
        Self::read_within(file, TableLimits::default())
    }

    /// Reads the column names of an open file within these limits.
    ///
    /// # Errors
    ///
    /// Same as [`Table::open`].
    pub fn read_within(file: File, limits: TableLimits) -> Result<Self, TableError> {
        let (text, format) = unpack::unpacked(file, limits)?;
        let encoding = match format {
            FileFormat::Csv => encoding_of(BufReader::new(&text))?,
            _ => UTF_8,
        };
        let mut table = Self {
            text: Arc::new(Mutex::new(text)),
            format,
            encoding,
            rows: RowFormat::COMMAS,
            head: Vec::new(),
            head_row: 0,
        };
        if format == FileFormat::Csv {
            let mut start = Vec::new();
            table.decoded().take(START).read_to_end(&mut start)?;
            table.rows = row_format(&start);
        }
        let mut rows = table.all_rows()?;
        let head = loop {
            match rows.next().ok_or(TableError::Empty)?? {
                Row {
                    content: RowContent::Empty,
                    ..
                } => {}
                Row {
                    number,
                    content: RowContent::Cells(cells),
                } => break (number, cells),
                Row {
                    content: RowContent::Fault { fault, .. },
                    ..
                } => return Err(fault.into()),
            }
        };
        let (number, cells) = head;
        if cells.len() > MAX_COLUMNS {
            return Err(TableError::TooManyColumns);
        }
        table.head = cells.iter().map(|name| name.trim().to_owned()).collect();
        table.head_row = number;
        // Spreadsheet programs add empty cells.
        while table.head.last().is_some_and(String::is_empty) {
            table.head.pop();
        }
        Ok(table)
    }

    /// Returns what the file is.
    #[must_use]
    pub fn format(&self) -> FileFormat {
        self.format
    }

    /// Returns the encoding of the text, such as `windows-1252`.
    #[must_use]
    pub fn encoding(&self) -> &'static str {
        self.encoding.name()
    }

    /// Returns the separator of the cells of a CSV file.
    #[must_use]
    pub fn separator(&self) -> char {
        char::from(self.rows.separator)
    }

    /// Returns the column names. Each is trimmed, and can be empty.
    #[must_use]
    pub fn head(&self) -> &[String] {
        &self.head
    }

    /// Returns the rows after the one with the column names. They are read when the iterator is advanced,
    /// one at a time.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read.
    pub fn rows(&self) -> io::Result<Rows> {
        let mut rows = self.all_rows()?;
        while rows.number < self.head_row {
            if rows.next().transpose()?.is_none() {
                break;
            }
        }
        rows.columns = Some(self.head.len());
        rows.reader.set_columns(self.head.len());
        Ok(rows)
    }

    /// Returns the size of the text, and the time of its last change. They show whether another program has
    /// changed the file since it was opened.
    ///
    /// # Errors
    ///
    /// Returns an error if the file system does not report them.
    pub fn state(&self) -> io::Result<(u64, SystemTime)> {
        let file = self.text.lock().unwrap_or_else(PoisonError::into_inner);
        let metadata = file.metadata()?;
        Ok((metadata.len(), metadata.modified()?))
    }

    /// Returns a reader of the text of the table, from its start, in the encoding of the file. The text of a
    /// spreadsheet is CSV in UTF-8.
    #[must_use]
    pub fn text(&self) -> impl io::Read + use<> {
        PositionedFile {
            file: Arc::clone(&self.text),
            position: 0,
        }
    }

    fn all_rows(&self) -> io::Result<Rows> {
        let mut input = BufReader::new(self.decoded());
        // Spreadsheet programs do not show this line.
        if self.rows.names_separator {
            input.read_until(self.rows.line_end.byte(), &mut Vec::new())?;
        }
        Ok(Rows {
            reader: RowReader::new(input, self.rows.separator, self.rows.line_end),
            is_decoded: self.encoding != UTF_8,
            number: 0,
            columns: None,
        })
    }

    /// Returns the text from its start, in UTF-8 without a byte order mark.
    fn decoded(&self) -> DecodedText {
        let file = PositionedFile {
            file: Arc::clone(&self.text),
            position: 0,
        };
        DecodeReaderBytesBuilder::new()
            .encoding((self.encoding != UTF_8).then_some(self.encoding))
            .utf8_passthru(true)
            .strip_bom(true)
            .build(file)
    }
}

type DecodedText = DecodeReaderBytes<PositionedFile, Vec<u8>>;

/// A file that is read from a position of its own. Several readers share the open file.
#[derive(Debug)]
struct PositionedFile {
    file: Arc<Mutex<File>>,
    position: u64,
}

impl io::Read for PositionedFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(self.position))?;
        let read = file.read(buffer)?;
        let more = u64::try_from(read).unwrap_or_default();
        self.position = self.position.saturating_add(more);
        Ok(read)
    }
}

/// A row of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The number that spreadsheet programs show for the row: 1 for the first row of the file.
    pub number: u64,
    /// The cells.
    pub content: RowContent,
}

/// The cells of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RowContent {
    /// Cells, at least one of which is not empty. There can be fewer than columns.
    Cells(Vec<String>),
    /// No cell has a value.
    Empty,
    /// The cells cannot be used.
    Fault {
        /// Why.
        fault: RowFault,
        /// The cells as far as they can be read. They have U+FFFD in place of what is not text.
        cells: Vec<String>,
    },
}

impl RowContent {
    /// Returns the cells.
    #[must_use]
    pub fn into_cells(self) -> Vec<String> {
        match self {
            Self::Cells(cells) | Self::Fault { cells, .. } => cells,
            Self::Empty => Vec::new(),
        }
    }
}

/// The rows of a table, in their order.
#[derive(Debug)]
pub struct Rows {
    reader: RowReader<BufReader<DecodedText>>,
    is_decoded: bool,
    number: u64,
    /// The number of columns, if it is known.
    columns: Option<usize>,
}

impl Iterator for Rows {
    type Item = io::Result<Row>;

    fn next(&mut self) -> Option<Self::Item> {
        let raw = self.reader.next_row().transpose()?;
        self.number = self.number.saturating_add(1);
        let number = self.number;
        Some(raw.map(|raw| Row {
            number,
            content: self.content(raw),
        }))
    }
}

impl Rows {
    fn content(&self, raw: RawRow) -> RowContent {
        let RawRow { cells, mut fault } = raw;
        let mut texts = Vec::with_capacity(cells.len());
        for (column, cell) in cells.into_iter().enumerate() {
            let text = String::from_utf8(cell);
            let is_text = match &text {
                Ok(text) => !(self.is_decoded && text.contains(char::REPLACEMENT_CHARACTER)),
                Err(_) => false,
            };
            if !is_text && fault.is_none() {
                fault = Some(RowFault::NotText(column));
            }
            texts.push(
                text.unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()),
            );
        }
        let has_value = |text: &String| !text.trim().is_empty();
        let used = texts
            .iter()
            .rposition(has_value)
            .map_or(0, |last| last.saturating_add(1));
        if let Some(columns) = self.columns.filter(|columns| used > *columns) {
            fault = fault.or(Some(RowFault::TooManyCells {
                cells: used,
                columns,
            }));
        }
        match fault {
            Some(fault) => RowContent::Fault {
                fault,
                cells: texts,
            },
            None if used == 0 => RowContent::Empty,
            None => RowContent::Cells(texts),
        }
    }
}

#[cfg(test)]
mod tests;
