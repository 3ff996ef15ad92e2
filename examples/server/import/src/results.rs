//! The results of an import, row by row.

use std::fs::File;
use std::io::{self, IsTerminal, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use csv::Writer;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::Value;
use svc_declaration::visible;
use svc_import::{Rows, Table};

use super::next_to;
use super::rows::{PlannedRow, RowPlan, dropped};

/// The number of rows with each result.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct ImportCounts {
    /// Everything is stored.
    pub(super) imported: u64,
    /// The person is stored, but not every value of the row.
    pub(super) incomplete: u64,
    /// Nothing is stored.
    pub(super) rejected: u64,
    pub(super) empty: u64,
}

impl ImportCounts {
    /// Returns the number of rows with values.
    pub(super) fn all(self) -> u64 {
        let stored = self.imported.saturating_add(self.incomplete);
        stored.saturating_add(self.rejected)
    }

    fn total(self) -> u64 {
        self.all().saturating_add(self.empty)
    }

    /// Returns the counts as lines.
    pub(super) fn text(self, file: &Path) -> String {
        let rows = |count: u64| if count == 1 { "row" } else { "rows" };
        let mut text = format!("  imported     {} {}\n", self.imported, rows(self.imported));
        for (name, count, path) in [
            ("incomplete", self.incomplete, incomplete_file(file)),
            ("rejected", self.rejected, rejected_file(file)),
        ] {
            if count > 0 {
                let line = format!(
                    "  {name:<11}  {count} {}, see {}\n",
                    rows(count),
                    path.display()
                );
                text.push_str(&line);
            }
        }
        if self.empty > 0 {
            let line = format!("  empty        {} {}\n", self.empty, rows(self.empty));
            text.push_str(&line);
        }
        text
    }
}

/// Returns the file of rejected rows.
pub(super) fn rejected_file(file: &Path) -> PathBuf {
    next_to(file, ".rejected.csv")
}

/// Returns the file of rows of which not every value is stored.
fn incomplete_file(file: &Path) -> PathBuf {
    next_to(file, ".incomplete.csv")
}

/// Reads the results in step with their rows, so that neither is stored.
pub(super) struct ResultReader<'a> {
    rows: Rows,
    plan: &'a RowPlan,
    counts: ImportCounts,
    incomplete: ReportFile<'a>,
    rejected: ReportFile<'a>,
}

impl<'a> ResultReader<'a> {
    pub(super) fn new(table: &'a Table, plan: &'a RowPlan, file: &Path) -> io::Result<Self> {
        Ok(Self {
            rows: table.rows()?,
            plan,
            counts: ImportCounts::default(),
            incomplete: ReportFile::new(table, incomplete_file(file)),
            rejected: ReportFile::new(table, rejected_file(file)),
        })
    }

    /// Reads all results of a response.
    pub(super) async fn read(mut self, mut body: Incoming, total: u64) -> io::Result<ImportCounts> {
        let bar = progress_bar(total);
        let (mut is_whole, mut begun) = (false, Vec::new());
        while let Some(frame) = body.frame().await {
            let Ok(data) = frame.map_err(io::Error::other)?.into_data() else {
                continue;
            };
            for part in data.split_inclusive(|&byte| byte == b'\n') {
                begun.extend_from_slice(part);
                if begun.last() == Some(&b'\n') {
                    is_whole = self.line(&serde_json::from_slice(&begun)?)?;
                    begun.clear();
                }
            }
            bar.set_position(self.counts.total());
            bar.set_message(format!("{} rejected", self.counts.rejected));
        }
        bar.finish_and_clear();
        if !is_whole {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.incomplete.finish()?;
        self.rejected.finish()?;
        Ok(self.counts)
    }

    /// Processes a line of the response. Returns whether it is the last one.
    fn line(&mut self, line: &Value) -> io::Result<bool> {
        if line.get("total").is_some() {
            // The rows after the last one that was sent.
            return match self.next_sent()? {
                None => Ok(true),
                Some(_) => Err(io::Error::other("the server reported too few results")),
            };
        }
        let body = line.get("body").unwrap_or(&Value::Null);
        let Some((number, cells, left_out)) = self.next_sent()? else {
            return Err(io::Error::other(reason(body)));
        };
        let status = line.get("status").and_then(Value::as_u64);
        let is_stored = status.is_some_and(|status| status < 300);
        let failed = if is_stored {
            String::new()
        } else {
            reason(body)
        };
        let reasons = format!("{left_out} {failed}");
        let reasons = reasons.trim();
        if !is_stored && !is_person_stored(body) {
            self.counts.rejected = self.counts.rejected.saturating_add(1);
            self.rejected.add(number, &cells, reasons)
        } else if reasons.is_empty() {
            self.counts.imported = self.counts.imported.saturating_add(1);
            Ok(())
        } else {
            self.counts.incomplete = self.counts.incomplete.saturating_add(1);
            self.incomplete.add(number, &cells, reasons)
        }?;
        Ok(false)
    }

    /// Returns the number and the cells of the next row that was sent, and why it was sent without some values.
    /// Counts the rows before it.
    fn next_sent(&mut self) -> io::Result<Option<(u64, Vec<String>, String)>> {
        while let Some(row) = self.rows.next().transpose()? {
            let number = row.number;
            match self.plan.row(row) {
                PlannedRow::Empty => self.counts.empty = self.counts.empty.saturating_add(1),
                PlannedRow::Rejected { cells, reason } => {
                    self.counts.rejected = self.counts.rejected.saturating_add(1);
                    self.rejected.add(number, &cells, &reason)?;
                }
                PlannedRow::Sent { cells, row } => {
                    let left_out = dropped(&row.dropped, &cells);
                    return Ok(Some((number, cells, left_out)));
                }
            }
        }
        Ok(None)
    }
}

/// A table of rows with an additional column that has the reason.
///
/// It can be opened in spreadsheet programs, corrected, and imported.
struct ReportFile<'a> {
    head: &'a [String],
    separator: u8,
    path: PathBuf,
    /// The file, created for the first row.
    rows: Option<Writer<File>>,
}

impl<'a> ReportFile<'a> {
    fn new(table: &'a Table, path: PathBuf) -> Self {
        // Rows of an earlier import are reported again.
        let _ = std::fs::remove_file(&path);
        Self {
            head: table.head(),
            separator: u8::try_from(table.separator()).unwrap_or(b','),
            path,
            rows: None,
        }
    }

    fn add(&mut self, number: u64, cells: &[String], reason: &str) -> io::Result<()> {
        let rows = match &mut self.rows {
            Some(rows) => rows,
            none => {
                let mut file = File::create(&self.path)?;
                // Excel reads UTF-8 only with this mark.
                file.write_all("\u{FEFF}".as_bytes())?;
                let mut rows = csv::WriterBuilder::new()
                    .flexible(true)
                    .delimiter(self.separator)
                    .from_writer(file);
                rows.write_record(self.head.iter().map(String::as_str).chain(["error"]))?;
                none.insert(rows)
            }
        };
        let reason = format!("Row {number}: {reason}");
        let columns = self.head.len();
        let missing = std::iter::repeat_n("", columns.saturating_sub(cells.len()));
        let in_columns = cells
            .iter()
            .take(columns)
            .map(String::as_str)
            .chain(missing);
        let others = cells.iter().skip(columns).map(String::as_str);
        rows.write_record(in_columns.chain([reason.as_str()]).chain(others))?;
        Ok(())
    }

    fn finish(self) -> io::Result<()> {
        match self.rows {
            Some(mut rows) => rows.flush(),
            None => Ok(()),
        }
    }
}

/// Returns the statuses of the parts of a request in an error object of the server.
fn parts(body: &Value) -> impl Iterator<Item = &Value> {
    body.as_object()
        .into_iter()
        .flatten()
        .filter_map(|(_, error)| error.get("resource_status")?.as_array())
        .flatten()
}

/// Returns whether the person of a sign-up is stored, although another part failed.
fn is_person_stored(body: &Value) -> bool {
    parts(body).any(|part| {
        let is_person = part
            .get("resource")
            .and_then(Value::as_str)
            .is_some_and(|resource| resource.ends_with(":person"));
        let status = part.get("response_code").and_then(Value::as_u64);
        is_person && status.is_some_and(|status| status < 300)
    })
}

/// Returns the descriptions and hints of an error object of the server on one line, with invisible characters
/// shown by name.
pub(super) fn reason(body: &Value) -> String {
    let lists =
        parts(body).flat_map(|status| [status.get("error_descriptions"), status.get("errors")]);
    let texts = lists
        .filter_map(|list| list?.as_array())
        .flatten()
        .filter_map(|error| {
            let text = error.get("description")?.as_str()?;
            let hint = error.get("hint").and_then(Value::as_str);
            Some(hint.map_or_else(|| text.to_owned(), |hint| format!("{text} Hint: {hint}")))
        });
    visible(&texts.collect::<Vec<_>>().join(" ")).replace(['\n', '\t'], " ")
}

/// Returns a progress bar on the terminal, which is hidden if there is no terminal.
fn progress_bar(rows: u64) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(rows);
    let style = ProgressStyle::with_template(
        "  importing    [{bar:32}] {percent} %, {pos} rows, {msg}, {per_sec}, {eta} left",
    );
    let bar = match style {
        Ok(style) => bar.with_style(style.progress_chars("=> ")),
        Err(_) => bar,
    };
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}
