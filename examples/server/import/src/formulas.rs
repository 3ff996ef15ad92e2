//! Marks texts that spreadsheet programs would read as formulas.

use std::borrow::Cow;

/// The mark, which spreadsheet programs know as the start of a text.
const MARK: char = '\'';

/// Returns a text as a cell. In CSV, a text that a spreadsheet program would read as a formula gets a mark. A text
/// that begins with marks before a formula gets one more in every format, so that [`unmarked`] returns each text
/// unchanged.
pub(crate) fn marked(text: &str, is_csv: bool) -> Cow<'_, str> {
    let rest = text.trim_start_matches(MARK);
    let is_marked = rest.len() < text.len();
    if is_formula(rest) && (is_csv || is_marked) {
        Cow::Owned(format!("{MARK}{text}"))
    } else {
        Cow::Borrowed(text)
    }
}

/// Returns the text of a cell without the mark.
pub(crate) fn unmarked(cell: &str) -> &str {
    match cell.strip_prefix(MARK) {
        Some(text) if is_formula(text.trim_start_matches(MARK)) => text,
        _ => cell,
    }
}

/// Whether a spreadsheet program can read a text as a formula.
fn is_formula(text: &str) -> bool {
    const SIGNS: [char; 8] = ['=', '+', '-', '@', '＝', '＋', '－', '＠'];
    text.trim_start().starts_with(SIGNS) || text.starts_with(['\t', '\r', '\n'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_text_is_returned_unchanged() {
        for (text, csv, excel) in [
            ("=1+1", "'=1+1", "=1+1"),
            (" @x", "' @x", " @x"),
            ("'=1", "''=1", "''=1"),
            ("''-", "'''-", "'''-"),
            ("-", "'-", "-"),
            ("\t1", "'\t1", "\t1"),
            ("＋49", "'＋49", "＋49"),
            ("'t Hooft", "'t Hooft", "'t Hooft"),
            ("''", "''", "''"),
            ("", "", ""),
            ("a=b", "a=b", "a=b"),
        ] {
            assert_eq!(marked(text, true), csv);
            assert_eq!(marked(text, false), excel);
            assert_eq!(unmarked(csv), text);
            assert_eq!(unmarked(excel), text);
        }
    }
}
