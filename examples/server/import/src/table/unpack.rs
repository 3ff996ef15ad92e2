//! Makes the text of a table from compressed files and spreadsheets.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};

use calamine::{Data, Ods, Reader as _, SheetVisible, Xls, Xlsx};
use flate2::read::MultiGzDecoder;
use zip::ZipArchive;

use super::{MAX_COLUMNS, TableError};

/// The maximum sizes of what is in a file, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct TableLimits {
    /// The text in a compressed file or a spreadsheet, which is written to a temporary file. Default: 16 GiB.
    pub text: u64,
    /// A spreadsheet without its compression, which is read into memory. Default: 512 MiB.
    pub spreadsheet: u64,
}

impl Default for TableLimits {
    fn default() -> Self {
        Self {
            text: 16 * 1024 * 1024 * 1024,
            spreadsheet: 512 * 1024 * 1024,
        }
    }
}

impl TableLimits {
    /// Sets the maximum size of text.
    #[must_use]
    pub fn text(self, bytes: u64) -> Self {
        Self {
            text: bytes,
            ..self
        }
    }

    /// Sets the maximum size of a spreadsheet.
    #[must_use]
    pub fn spreadsheet(self, bytes: u64) -> Self {
        Self {
            spreadsheet: bytes,
            ..self
        }
    }
}

const GZIP: &[u8] = b"\x1F\x8B";
const ZIP: &[u8] = b"PK\x03\x04";
/// The format of Excel before 2007.
const COMPOUND_FILE: &[u8] = b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1";

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileFormat {
    /// Text with separators.
    Csv,
    /// A spreadsheet of Excel.
    Excel,
    /// An Open Document spreadsheet (`.ods`).
    OpenDocument,
}

/// Returns a file with the text of the table, and what the original file is. The text of a spreadsheet is
/// in UTF-8 with commas, and has a line for each row of the sheet.
pub(super) fn unpacked(file: File, limits: TableLimits) -> Result<(File, FileFormat), TableError> {
    unpacked_once(file, limits, true)
}

fn unpacked_once(
    mut file: File,
    limits: TableLimits,
    is_outermost: bool,
) -> Result<(File, FileFormat), TableError> {
    let mut start = [0; COMPOUND_FILE.len()];
    let length = read_start(&mut file, &mut start)?;
    file.seek(SeekFrom::Start(0))?;
    let start = start.get(..length).unwrap_or_default();
    if start.starts_with(GZIP) && is_outermost {
        let content = copied(MultiGzDecoder::new(BufReader::new(file)), limits)?;
        return unpacked_once(content, limits, false);
    }
    if start.starts_with(COMPOUND_FILE) {
        let text = range_text(Xls::new(bounded(file, limits)?)?, limits)?;
        return Ok((text, FileFormat::Excel));
    }
    if start.starts_with(ZIP) {
        return unzipped(file, limits, is_outermost);
    }
    Ok((file, FileFormat::Csv))
}

fn read_start(file: &mut File, start: &mut [u8]) -> io::Result<usize> {
    let mut length = 0;
    while let Some(rest) = start.get_mut(length..).filter(|rest| !rest.is_empty()) {
        match file.read(rest) {
            Ok(0) => break,
            Ok(read) => length = length.saturating_add(read),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(length)
}

/// Returns the reader of a spreadsheet, if it is not too large.
fn bounded(file: File, limits: TableLimits) -> Result<BufReader<File>, TableError> {
    if file.metadata()?.len() > limits.spreadsheet {
        return Err(TableError::TooLarge(limits));
    }
    Ok(BufReader::new(file))
}

fn unzipped(
    file: File,
    limits: TableLimits,
    is_outermost: bool,
) -> Result<(File, FileFormat), TableError> {
    let mut archive = ZipArchive::new(BufReader::new(file.try_clone()?))?;
    let names = archive.file_names().map(|name| name.map(Cow::into_owned));
    let names: Vec<String> = names.collect::<Result<_, _>>()?;
    let has = |wanted: &str| names.iter().any(|name| name == wanted);
    if has("xl/workbook.xml") || has("content.xml") {
        let mut size = 0_u64;
        for index in 0..archive.len() {
            size = size.saturating_add(archive.by_index(index)?.size());
        }
        if size > limits.spreadsheet {
            return Err(TableError::TooLarge(limits));
        }
        return if has("content.xml") {
            let text = range_text(Ods::new(bounded(file, limits)?)?, limits)?;
            Ok((text, FileFormat::OpenDocument))
        } else {
            let text = excel_text(bounded(file, limits)?, limits)?;
            Ok((text, FileFormat::Excel))
        };
    }
    // Some programs add folders and hidden files.
    let is_table = |name: &&String| {
        let file = name.rsplit('/').next().unwrap_or_default();
        !(name.starts_with("__MACOSX/") || file.is_empty() || file.starts_with('.'))
    };
    let tables: Vec<&String> = names.iter().filter(is_table).collect();
    match tables.as_slice() {
        [name] if is_outermost => {
            unpacked_once(copied(archive.by_name(name)?, limits)?, limits, false)
        }
        _ => Err(TableError::Archive),
    }
}

/// Copies text to a temporary file.
fn copied(text: impl Read, limits: TableLimits) -> Result<File, TableError> {
    let mut file = tempfile::tempfile()?;
    let copied = io::copy(&mut text.take(limits.text.saturating_add(1)), &mut file)?;
    if copied > limits.text {
        return Err(TableError::TooLarge(limits));
    }
    file.seek(SeekFrom::Start(0))?;
    Ok(file)
}

/// Returns the name of the first sheet that is not hidden.
fn first_sheet(sheets: &[calamine::Sheet]) -> Option<String> {
    let is_shown = |sheet: &&calamine::Sheet| sheet.visible == SheetVisible::Visible;
    let first = sheets.iter().find(is_shown).or(sheets.first())?;
    Some(first.name.clone())
}

/// Writes the cells of a sheet as lines, so that the number of a line is the number of its row.
struct SheetWriter {
    lines: csv::Writer<File>,
    row: u32,
    cells: Vec<String>,
    written: u64,
    limits: TableLimits,
}

impl SheetWriter {
    fn new(limits: TableLimits) -> Result<Self, TableError> {
        let lines = csv::WriterBuilder::new()
            .flexible(true)
            .from_writer(tempfile::tempfile()?);
        Ok(Self {
            lines,
            row: 0,
            cells: Vec::new(),
            written: 0,
            limits,
        })
    }

    /// Adds a cell. Cells are in the order of rows and columns.
    fn add(&mut self, (row, column): (u32, u32), text: String) -> Result<(), TableError> {
        while self.row < row {
            self.end_row()?;
        }
        let column = usize::try_from(column).unwrap_or(usize::MAX);
        if column >= MAX_COLUMNS {
            return Err(TableError::TooManyColumns);
        }
        let padding = column.saturating_sub(self.cells.len());
        self.cells.resize(column, String::new());
        let size = u64::try_from(text.len().saturating_add(padding)).unwrap_or(u64::MAX);
        self.written = self.written.saturating_add(size).saturating_add(1);
        if self.written > self.limits.text {
            return Err(TableError::TooLarge(self.limits));
        }
        self.cells.push(text);
        Ok(())
    }

    fn end_row(&mut self) -> Result<(), TableError> {
        if self.cells.is_empty() {
            // An empty line. The writer would quote an empty row.
            self.lines.flush()?;
            self.lines.get_ref().write_all(b"\n")?;
        } else {
            let written = self.lines.write_record(&self.cells);
            written.map_err(io::Error::from)?;
            self.cells.clear();
        }
        self.row = self.row.saturating_add(1);
        Ok(())
    }

    fn finish(mut self) -> Result<File, TableError> {
        if !self.cells.is_empty() {
            self.end_row()?;
        }
        let mut file = self
            .lines
            .into_inner()
            .map_err(csv::IntoInnerError::into_error)?;
        file.seek(SeekFrom::Start(0))?;
        Ok(file)
    }
}

/// Returns the text of the first sheet of a spreadsheet, which is read as a whole.
fn range_text<R>(mut book: R, limits: TableLimits) -> Result<File, TableError>
where
    R: calamine::Reader<BufReader<File>>,
    TableError: From<R::Error>,
{
    let mut lines = SheetWriter::new(limits)?;
    let Some(sheet) = first_sheet(book.sheets_metadata()) else {
        return lines.finish();
    };
    let cells = book.worksheet_range(&sheet)?;
    let (first_row, first_column) = cells.start().unwrap_or_default();
    for (row, column, value) in cells.used_cells() {
        let at =
            |first: u32, more: usize| first.saturating_add(u32::try_from(more).unwrap_or(u32::MAX));
        lines.add(
            (at(first_row, row), at(first_column, column)),
            text_of(value),
        )?;
    }
    lines.finish()
}

/// Returns the text of the first sheet of a newer spreadsheet of Excel, whose cells are read one by one.
fn excel_text(file: BufReader<File>, limits: TableLimits) -> Result<File, TableError> {
    let mut book = Xlsx::new(file)?;
    let mut lines = SheetWriter::new(limits)?;
    let Some(sheet) = first_sheet(book.sheets_metadata()) else {
        return lines.finish();
    };
    let mut cells = book.worksheet_cells_reader(&sheet)?;
    while let Some(cell) = cells.next_cell()? {
        let text = text_of(&Data::from(cell.get_value().clone()));
        if !text.is_empty() {
            lines.add(cell.get_position(), text)?;
        }
    }
    lines.finish()
}

/// Returns the value of a cell as text: numbers without a decimal point if they have no fraction, and dates
/// in ISO 8601. A cell with an error is empty.
fn text_of(value: &Data) -> String {
    match value {
        Data::Int(number) => number.to_string(),
        // Large numbers without an exponent, such as phone numbers.
        Data::Float(number) => {
            let text = number.to_string();
            // Three digits after the point could also be thousands.
            match text.split_once('.') {
                Some((_, fraction)) if fraction.len() == 3 => format!("{text}0"),
                _ => text,
            }
        }
        Data::String(text) | Data::DateTimeIso(text) | Data::DurationIso(text) => text.clone(),
        Data::Bool(value) => value.to_string(),
        Data::DateTime(time) if time.is_duration() => time.as_f64().to_string(),
        // The day 0, which programs write for a missing date.
        Data::DateTime(time) if time.as_f64() < 1.0 => String::new(),
        Data::DateTime(time) => {
            let (year, month, day, hour, minute, second, _) = time.to_ymd_hms_milli();
            let date = format!("{year:04}-{month:02}-{day:02}");
            if (hour, minute, second) == (0, 0, 0) {
                date
            } else {
                format!("{date}T{hour:02}:{minute:02}:{second:02}")
            }
        }
        Data::Error(_) | Data::Empty => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A number of a spreadsheet always has a point before its fraction.
    #[test]
    fn numbers_are_never_thousands() {
        for (number, text) in [
            (33.333, "33.3330"),
            (1.5, "1.5"),
            (12.0, "12"),
            (0.1234, "0.1234"),
        ] {
            assert_eq!(text_of(&Data::Float(number)), text);
        }
    }
}
