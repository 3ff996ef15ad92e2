//! Splits the text of a CSV file into rows.
//!
//! Other readers of CSV accept every quote. One quote that is never closed then makes a single cell of
//! all further rows. Here, it costs only the row that contains it.

use std::collections::VecDeque;
use std::io::{self, BufRead};

use super::encoding::LineEnd;

/// The maximum size of a row in bytes. Longer rows are reported, and their content is not stored.
const MAX_ROW: usize = 4 * 1024 * 1024;
/// The maximum number of lines of a row with line breaks in its cells.
const MAX_LINES: usize = 100;
/// The number of columns from which a line in a cell that has as many cells counts as a row.
const MANY_COLUMNS: usize = 4;

/// Why the cells of a row cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RowFault {
    /// A quote is not closed.
    #[error("A quotation mark is not closed")]
    OpenQuote,
    /// The row is longer than 4 MiB.
    #[error("The row is longer than 4 MiB")]
    TooLong,
    /// A cell contains bytes that are not text in the encoding of the file. It has the number of the
    /// column, from 0.
    #[error("Column {} contains bytes that are not text in the encoding of the file", column_letters(*.0))]
    NotText(usize),
    /// The row has more cells than the first row. It has both numbers.
    #[error("The row has {cells} cells, but the first row has {columns}")]
    TooManyCells {
        /// The number of cells in the row.
        cells: usize,
        /// The number of columns.
        columns: usize,
    },
}

/// Returns the name that spreadsheet programs show for a column: A for 0, AA for 26.
#[must_use]
pub fn column_letters(column: usize) -> String {
    let mut letters = Vec::new();
    let mut rest = column;
    loop {
        let letter = u8::try_from(rest % 26).unwrap_or_default();
        letters.push(char::from(b'A'.saturating_add(letter)));
        match (rest / 26).checked_sub(1) {
            Some(next) => rest = next,
            None => break,
        }
    }
    letters.iter().rev().collect()
}

/// The cells of a row as bytes, and why they cannot be used.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct RawRow {
    pub(super) cells: Vec<Vec<u8>>,
    pub(super) fault: Option<RowFault>,
}

/// Reads rows from text.
#[derive(Debug)]
pub(super) struct RowReader<R> {
    input: R,
    separator: u8,
    line_end: LineEnd,
    /// The number of columns, if it is known.
    columns: Option<usize>,
    /// Lines that were read for a row to which they do not belong.
    waiting: VecDeque<Line>,
}

/// A line with its end.
#[derive(Debug)]
struct Line {
    bytes: Vec<u8>,
    is_cut: bool,
}

impl<R: BufRead> RowReader<R> {
    pub(super) fn new(input: R, separator: u8, line_end: LineEnd) -> Self {
        Self {
            input,
            separator,
            line_end,
            columns: None,
            waiting: VecDeque::new(),
        }
    }

    /// Sets the number of columns. It shows which quotes are not closed.
    pub(super) fn set_columns(&mut self, columns: usize) {
        self.columns = Some(columns);
    }

    /// Returns the next row; `None` at the end of the text. An empty line is a row without cells.
    pub(super) fn next_row(&mut self) -> io::Result<Option<RawRow>> {
        let Some(first) = self.line()? else {
            return Ok(None);
        };
        if first.is_cut {
            return Ok(Some(RawRow {
                cells: Vec::new(),
                fault: Some(RowFault::TooLong),
            }));
        }
        let mut parser = CellParser::new(self.separator);
        if parser.add(&first.bytes) {
            return Ok(Some(parser.row(None)));
        }
        let mut lines = Vec::new();
        let (mut size, mut is_closed) = (first.bytes.len(), false);
        while parser.is_open() && lines.len() < MAX_LINES && size < MAX_ROW {
            let Some(line) = self.line()? else { break };
            size = size.saturating_add(line.bytes.len());
            is_closed = !line.is_cut && parser.add(&line.bytes);
            let is_cut = line.is_cut;
            lines.push(line);
            if is_closed || is_cut {
                break;
            }
        }
        if is_closed && !self.contains_row(&lines) {
            return Ok(Some(parser.row(None)));
        }
        for line in lines.into_iter().rev() {
            self.waiting.push_front(line);
        }
        let mut parser = CellParser::new(self.separator);
        parser.add_unquoted(&first.bytes);
        Ok(Some(parser.row(Some(RowFault::OpenQuote))))
    }

    /// Whether a line in the middle of a row is a row of its own. The quote before it is then not closed.
    fn contains_row(&self, lines: &[Line]) -> bool {
        let Some(columns) = self.columns.filter(|columns| *columns >= MANY_COLUMNS) else {
            return false;
        };
        let inner = lines.split_last().map_or(&[][..], |(_, inner)| inner);
        inner.iter().any(|line| {
            let mut parser = CellParser::new(self.separator);
            parser.add(&line.bytes) && parser.cells.len() == columns
        })
    }

    fn line(&mut self) -> io::Result<Option<Line>> {
        if let Some(line) = self.waiting.pop_front() {
            return Ok(Some(line));
        }
        let end = self.line_end.byte();
        let (mut line, mut has_any) = (
            Line {
                bytes: Vec::new(),
                is_cut: false,
            },
            false,
        );
        loop {
            let part = match self.input.fill_buf() {
                Ok(part) => part,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if part.is_empty() {
                return Ok(has_any.then_some(line));
            }
            has_any = true;
            let found = memchr::memchr(end, part);
            let length = found.map_or(part.len(), |at| at.saturating_add(1));
            if line.is_cut || line.bytes.len().saturating_add(length) > MAX_ROW {
                line.is_cut = true;
                line.bytes.clear();
            } else {
                line.bytes.extend(part.iter().take(length));
            }
            self.input.consume(length);
            if found.is_some() {
                return Ok(Some(line));
            }
        }
    }
}

/// Where the parser is in a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CellState {
    Start,
    Plain,
    Quoted,
    /// After a quote in a quoted cell: its end, or the first of two quotes.
    Closed,
}

/// Splits the lines of one row into cells.
#[derive(Debug)]
struct CellParser {
    separator: u8,
    state: CellState,
    cells: Vec<Vec<u8>>,
    cell: Vec<u8>,
    /// Whether the current cell began in an earlier line.
    spans_lines: bool,
    is_broken: bool,
}

impl CellParser {
    fn new(separator: u8) -> Self {
        Self {
            separator,
            state: CellState::Start,
            cells: Vec::new(),
            cell: Vec::new(),
            spans_lines: false,
            is_broken: false,
        }
    }

    /// Whether further lines can complete the row.
    fn is_open(&self) -> bool {
        self.state == CellState::Quoted && !self.is_broken
    }

    /// Adds a line. Returns whether the row is complete.
    fn add(&mut self, line: &[u8]) -> bool {
        let content = without_end(line);
        for &byte in content {
            match (self.state, byte) {
                (CellState::Quoted, b'"') => self.state = CellState::Closed,
                (CellState::Quoted, _) => self.cell.push(byte),
                (CellState::Closed, b'"') => {
                    self.cell.push(b'"');
                    self.state = CellState::Quoted;
                }
                (CellState::Start, b'"') => self.state = CellState::Quoted,
                (_, byte) if byte == self.separator => self.end_cell(),
                // Text after a quoted cell, such as `"Ada" King`. After a line break, the quote
                // probably begins a cell of another row.
                (CellState::Closed, _) if self.spans_lines && byte != b' ' => {
                    self.is_broken = true;
                    return false;
                }
                (CellState::Start | CellState::Plain | CellState::Closed, _) => {
                    self.cell.push(byte);
                    self.state = CellState::Plain;
                }
            }
        }
        if self.state == CellState::Quoted {
            self.cell.extend(line.iter().skip(content.len()));
            self.spans_lines = true;
            return false;
        }
        // An empty line has no cells.
        if !(content.is_empty() && self.cells.is_empty() && self.cell.is_empty()) {
            self.end_cell();
        }
        true
    }

    /// Adds a line in which quotes have no meaning.
    fn add_unquoted(&mut self, line: &[u8]) {
        let separator = self.separator;
        self.cells = without_end(line)
            .split(|byte| *byte == separator)
            .map(<[u8]>::to_vec)
            .collect();
    }

    fn end_cell(&mut self) {
        self.cells.push(std::mem::take(&mut self.cell));
        self.state = CellState::Start;
        self.spans_lines = false;
    }

    fn row(self, fault: Option<RowFault>) -> RawRow {
        RawRow {
            cells: self.cells,
            fault,
        }
    }
}

/// Returns a line without its end.
fn without_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str) -> Vec<RawRow> {
        let mut reader = RowReader::new(text.as_bytes(), b',', LineEnd::Lf);
        std::iter::from_fn(|| reader.next_row().expect("text")).collect()
    }

    fn cells(text: &str) -> Vec<Vec<String>> {
        let row = |row: RawRow| {
            assert_eq!(row.fault, None, "{text}");
            let cells = row.cells.into_iter();
            cells
                .map(|cell| String::from_utf8(cell).expect("UTF-8"))
                .collect()
        };
        rows(text).into_iter().map(row).collect()
    }

    #[test]
    fn cells_with_separators_quotes_and_line_breaks() {
        let text = "a,\"b, c\",\"d \"\"e\"\"\"\r\n\"two\r\nlines\",,\n\n\"Ada\" King,x";
        let expected: [&[&str]; 4] = [
            &["a", "b, c", "d \"e\""],
            &["two\r\nlines", "", ""],
            &[],
            &["Ada King", "x"],
        ];
        assert_eq!(cells(text), expected);
    }

    /// A quote that is not closed costs its row, wherever later quotes are.
    #[test]
    fn an_open_quote_costs_one_row() {
        for rest in [
            "3,4\n5,6\n",
            "3,\"4\"\n5,6\n",
            "\"3, 3\",4\n5,6\n",
            "3,x \"4\"\n5,6\n",
        ] {
            let text = format!("1,\"2\n{rest}");
            let found = rows(&text);
            assert_eq!(found.len(), 3, "{text}: {found:?}");
            let faults: Vec<bool> = found.iter().map(|row| row.fault.is_some()).collect();
            assert_eq!(faults, [true, false, false], "{text}");
            assert_eq!(found[0].fault, Some(RowFault::OpenQuote));
            assert_eq!(found[0].cells, [b"1".to_vec(), b"\"2".to_vec()]);
            assert_eq!(found[2].cells, [b"5".to_vec(), b"6".to_vec()]);
        }
    }

    #[test]
    fn a_row_in_a_cell_shows_an_open_quote() {
        let text = "a,b,c,\"d\ne,f,g,h\ni,j,k,l 5\",m\nn,o,p,q\n";
        let mut reader = RowReader::new(text.as_bytes(), b',', LineEnd::Lf);
        reader.set_columns(4);
        let rows = std::iter::from_fn(|| reader.next_row().expect("text"));
        let faults: Vec<bool> = rows.map(|row| row.fault.is_some()).collect();
        assert_eq!(faults, [true, false, false, false]);
    }

    #[test]
    fn a_row_can_be_too_long() {
        let text = format!("a,b\n{},c\nd,e", "x".repeat(MAX_ROW));
        let found = rows(&text);
        let faults: Vec<Option<RowFault>> = found.into_iter().map(|row| row.fault).collect();
        assert_eq!(faults, [None, Some(RowFault::TooLong), None]);
    }

    #[test]
    fn letters_of_columns() {
        let all = [0, 25, 26, 51, 52, 701, 702].map(column_letters);
        assert_eq!(all, ["A", "Z", "AA", "AZ", "BA", "ZZ", "AAA"]);
    }
}
