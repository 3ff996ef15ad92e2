//! `list`: lists the requirements and the checks.

use std::fmt::Write as _;

use super::cli::ListArgs;
use super::{ProgramError, say};
use crate::catalogue::Catalogue;
use crate::checks;
use crate::selection::Selection;

pub(super) fn list(options: &ListArgs) -> Result<u8, ProgramError> {
    let catalogue =
        Catalogue::built_in().map_err(|error| ProgramError::new(5, error.to_string()))?;
    let all = checks::all();
    let selection = Selection {
        only: options.patterns.clone(),
        ..Selection::default()
    };
    selection.verify(catalogue, &all)?;
    let mut text = String::new();
    if options.checks {
        for check in &all {
            let rows: Vec<_> = catalogue
                .requirements()
                .iter()
                .filter(|row| check.covers(row))
                .collect();
            if selection.has_check(check, &rows, &all) {
                let ids: Vec<&str> = rows.iter().map(|row| row.id.as_str()).collect();
                let _ = writeln!(text, "{:<40} {}", check.id, ids.join(" "));
            }
        }
    } else {
        for row in catalogue
            .requirements()
            .iter()
            .filter(|row| selection.has_row(row, &all))
        {
            let _ = writeln!(text, "{:<24} {:<6} {}", row.id, row.level, row.statement);
        }
    }
    say(&text);
    Ok(0)
}
