//! What an import would do, before it does it.

use std::fmt::Write as _;
use std::io;

use svc_declaration::visible;
use svc_import::{ColumnMapping, FileFormat, RowContent, Table, column_letters};

/// The number of rows whose values are shown.
const EXAMPLES: usize = 3;
/// The maximum number of letters of a shown text.
const WIDTH: usize = 28;

/// The rows of a table.
#[derive(Debug, Default)]
pub(super) struct Overview {
    /// The number of rows with values.
    pub(super) rows: u64,
    pub(super) empty: u64,
    /// The number of rows that cannot be read.
    pub(super) damaged: u64,
    /// The first rows with values.
    pub(super) examples: Vec<Vec<String>>,
}

impl Overview {
    /// Reads all rows. The mapping learns the order of dates.
    pub(super) fn read(table: &Table, mapping: &mut ColumnMapping) -> io::Result<Self> {
        let mut overview = Self::default();
        for row in table.rows()? {
            match row?.content {
                RowContent::Cells(cells) => {
                    overview.rows = overview.rows.saturating_add(1);
                    mapping.learn(&cells);
                    if overview.examples.len() < EXAMPLES {
                        overview.examples.push(cells);
                    }
                }
                RowContent::Empty => overview.empty = overview.empty.saturating_add(1),
                RowContent::Fault { .. } => overview.damaged = overview.damaged.saturating_add(1),
            }
        }
        Ok(overview)
    }

    /// Returns the number of all rows.
    pub(super) fn total(&self) -> u64 {
        self.rows
            .saturating_add(self.empty)
            .saturating_add(self.damaged)
    }

    /// Returns what the import would do, as lines.
    pub(super) fn text(&self, table: &Table, mapping: &ColumnMapping) -> String {
        let mut text = String::new();
        let format = match table.format() {
            FileFormat::Excel => "an Excel spreadsheet".to_owned(),
            FileFormat::OpenDocument => "an OpenDocument spreadsheet".to_owned(),
            _ => {
                let separator = match table.separator() {
                    '\t' => "tabs".to_owned(),
                    other => format!("`{other}`"),
                };
                format!("CSV in {}, separated by {separator}", table.encoding())
            }
        };
        let _ = writeln!(text, "  table        {format}");
        let damaged = match self.damaged {
            0 => String::new(),
            damaged => format!(", {damaged} that cannot be read"),
        };
        let _ = writeln!(
            text,
            "  rows         {}, {} empty{damaged}",
            self.rows, self.empty
        );
        let _ = writeln!(text, "  columns");
        for mapped in mapping.columns() {
            let name = table.head().get(mapped.column).map_or("", String::as_str);
            let examples = self
                .examples
                .iter()
                .filter_map(|row| row.get(mapped.column));
            let examples: Vec<String> = examples
                .filter(|cell| !cell.trim().is_empty())
                .map(|cell| shown(cell))
                .collect();
            let (letters, member) = (column_letters(mapped.column), mapped.member.to_string());
            let line = format!(
                "    {letters:<3}{:<WIDTH$}  {member:<40}  {}",
                shown(name),
                examples.join(" | ")
            );
            let _ = writeln!(text, "{}", line.trim_end());
        }
        for (title, columns) in [
            ("left out", mapping.left_out()),
            ("ignored", mapping.ignored()),
        ] {
            if !columns.is_empty() {
                let _ = writeln!(text, "  {title:<11}  {}", names(table, columns));
            }
        }
        text
    }
}

/// Returns columns with their letters and names.
pub(super) fn names(table: &Table, columns: &[usize]) -> String {
    let name = |column: &usize| {
        let name = table.head().get(*column).map_or("", String::as_str);
        format!("{} ({})", column_letters(*column), shown(name))
    };
    columns.iter().map(name).collect::<Vec<_>>().join(", ")
}

/// Returns a text on one line, with invisible characters shown by name, and cut if it is long.
fn shown(text: &str) -> String {
    let text = visible(text.trim()).replace(['\n', '\r', '\t'], " ");
    match text.char_indices().nth(WIDTH) {
        Some((end, _)) => format!("{}…", text.get(..end.saturating_sub(1)).unwrap_or_default()),
        None => text,
    }
}
