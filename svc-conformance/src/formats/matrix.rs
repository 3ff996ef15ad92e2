//! CSV: which checks observed which requirement, how often, and the outcome.

use std::fmt::Write as _;

use crate::catalogue::Catalogue;
use crate::report::Report;

pub(super) fn written(report: &Report) -> String {
    let mut text = "row,level,condition,checks,observations,outcome,reason\n".to_owned();
    let catalogue = Catalogue::built_in().ok();
    for row in &report.rows {
        let condition = catalogue
            .and_then(|catalogue| catalogue.requirement(&row.id))
            .map_or("", |row| &row.condition);
        let cells = [
            row.id.clone(),
            row.level.clone(),
            condition.to_owned(),
            row.checks.join(" "),
            row.observations.to_string(),
            row.outcome.as_str().to_owned(),
            row.reason.clone(),
        ];
        let cells: Vec<String> = cells.iter().map(|cell| quoted(cell)).collect();
        let _ = writeln!(text, "{}", cells.join(","));
    }
    text
}

/// Quotes a cell according to RFC 4180. A cell that a spreadsheet would read as a formula starts
/// with a space.
fn quoted(cell: &str) -> String {
    let guard = if cell.starts_with(['=', '+', '-', '@']) {
        " "
    } else {
        ""
    };
    if cell.contains([',', '"', '\n', '\r']) || !guard.is_empty() {
        format!("\"{guard}{}\"", cell.replace('"', "\"\""))
    } else {
        cell.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn cells_are_quoted_where_needed() {
        for (cell, expected) in [
            ("a b", "a b"),
            ("a,b", "\"a,b\""),
            ("\"", "\"\"\"\""),
            ("a\nb", "\"a\nb\""),
            ("=1", "\" =1\""),
            ("", ""),
        ] {
            assert_eq!(quoted(cell), expected);
        }
    }
}
