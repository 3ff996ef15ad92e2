//! What an import would do, as text for a terminal.

use std::fmt::Write as _;
use std::path::Path;

use svc_declaration::visible;
use svc_import::{
    ColumnMapping, FileFormat, ImportCounts, Overview, ReportPaths, Table, column_letters,
};

/// The maximum number of letters of a shown text.
const WIDTH: usize = 28;

/// Returns what the import would do, as lines.
pub(super) fn text(overview: &Overview, table: &Table, mapping: &ColumnMapping) -> String {
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
    let damaged = match overview.damaged {
        0 => String::new(),
        damaged => format!(", {damaged} that cannot be read"),
    };
    let _ = writeln!(
        text,
        "  rows         {}, {} empty{damaged}",
        overview.rows, overview.empty
    );
    let _ = writeln!(text, "  columns");
    for mapped in mapping.columns() {
        let name = table.head().get(mapped.column).map_or("", String::as_str);
        let examples = overview
            .examples
            .iter()
            .filter_map(|row| row.get(mapped.column));
        let examples: Vec<String> = examples
            .filter(|cell| !cell.trim().is_empty())
            .map(|cell| shown(cell))
            .collect();
        let (letters, member) = (column_letters(mapped.column), mapped.member.title());
        let line = format!(
            "    {letters:<3}{:<WIDTH$}  {member:<34}  {}",
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

/// Returns how many rows have each result, as lines.
pub(super) fn counts_text(counts: &ImportCounts, reports: &ReportPaths) -> String {
    let mut text = String::new();
    let see = |path: &Path| format!(", see {}", path.display());
    for (name, count, path) in [
        ("new", counts.created, None),
        ("updated", counts.updated, None),
        ("unchanged", counts.unchanged, None),
        ("imported", counts.imported, None),
        ("incomplete", counts.incomplete, Some(&reports.incomplete)),
        ("rejected", counts.rejected, Some(&reports.rejected)),
        ("empty", counts.empty, None),
    ] {
        if count > 0 {
            let rows = if count == 1 { "row" } else { "rows" };
            let see = path.map(|path| see(path)).unwrap_or_default();
            let _ = writeln!(text, "  {name:<11}  {count} {rows}{see}");
        }
    }
    text
}

/// Returns how many rows would have each result, as lines.
pub(super) fn preview_text(counts: &ImportCounts, reports: &ReportPaths) -> String {
    let lines = counts_text(counts, reports);
    format!(
        "  The import would have these results. Rows of one new person all count as new.\n{lines}"
    )
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
