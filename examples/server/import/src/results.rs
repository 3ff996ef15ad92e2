//! The results of an import, row by row.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::Receiver;

use csv::Writer;
use serde_json::Value;
use svc_core::helper::WriteEffect;
use svc_declaration::visible;

use crate::formulas::{marked, unmarked};
use crate::plan::{PlannedRow, RequestLines, RowNote, repeated_identifier, sentences};
use crate::{ActionKind, RowContent, RowPlan, Rows, Table};

/// The number of rows with each result. Each row of a table has one.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ImportCounts {
    /// Everything is stored, and the record is new.
    pub created: u64,
    /// Everything is stored, and changed a record that existed.
    pub updated: u64,
    /// Everything was stored before.
    pub unchanged: u64,
    /// Everything is stored. The server does not report what it changed.
    pub imported: u64,
    /// The person or the action is stored, but not every value of the row.
    pub incomplete: u64,
    /// Nothing is stored, or only the person of an action that is not stored.
    pub rejected: u64,
    /// The row has no values.
    pub empty: u64,
}

impl ImportCounts {
    /// Returns the number of rows with values.
    #[must_use]
    pub fn with_values(&self) -> u64 {
        [
            self.created,
            self.updated,
            self.unchanged,
            self.imported,
            self.incomplete,
            self.rejected,
        ]
        .into_iter()
        .fold(0, u64::saturating_add)
    }

    /// Returns the number of all rows.
    #[must_use]
    pub fn all(&self) -> u64 {
        self.with_values().saturating_add(self.empty)
    }
}

/// The files in which rows are reported. Each has the columns of the table and one more, `error`.
///
/// They can be opened in spreadsheet programs, corrected, and imported.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReportPaths {
    /// The rows of which nothing is stored.
    pub rejected: PathBuf,
    /// The rows of which not every value is stored.
    pub incomplete: PathBuf,
}

impl ReportPaths {
    /// Returns files with the name of the table and an ending.
    #[must_use]
    pub fn next_to(table: &Path) -> Self {
        let with = |ending| {
            let mut name = table.as_os_str().to_owned();
            name.push(ending);
            PathBuf::from(name)
        };
        Self {
            rejected: with(".rejected.csv"),
            incomplete: with(".incomplete.csv"),
        }
    }
}

/// Reads the response to the [requests](RequestLines) of a table, in step with their rows. No row is
/// stored.
#[derive(Debug)]
pub struct ImportResults {
    notes: Receiver<RowNote>,
    counts: ImportCounts,
    reports: Reports,
    /// The start of a line that has not arrived completely.
    begun: Vec<u8>,
    is_complete: bool,
    plan: RowPlan,
    /// The kind of action of each row; `None` for a table of people.
    action: Option<ActionKind>,
}

impl ImportResults {
    /// Begins an import: returns its requests, and the reader of their results. Rows are reported in these
    /// files; files of an earlier import are deleted.
    ///
    /// # Errors
    ///
    /// Returns an error if the table cannot be read.
    pub fn begin(
        table: &Table,
        plan: &RowPlan,
        reports: &ReportPaths,
    ) -> io::Result<(RequestLines, Self)> {
        let (lines, notes) = RequestLines::new(table, plan)?;
        let results = Self {
            notes,
            counts: ImportCounts::default(),
            reports: Reports::new(table, reports)?,
            begun: Vec::new(),
            is_complete: false,
            plan: plan.clone(),
            action: plan.mapping.action(),
        };
        Ok((lines, results))
    }

    /// Reads a part of the response.
    ///
    /// # Errors
    ///
    /// Returns an error if it is not the response to the requests, or if a report cannot be written.
    pub fn read(&mut self, data: &[u8]) -> io::Result<()> {
        for part in data.split_inclusive(|&byte| byte == b'\n') {
            self.begun.extend_from_slice(part);
            if self.begun.last() == Some(&b'\n') {
                let line = serde_json::from_slice(&self.begun)?;
                self.begun.clear();
                self.line(&line)?;
            }
        }
        Ok(())
    }

    /// Limits the size of each report. A larger one is an error.
    #[must_use]
    pub fn with_largest_report(mut self, bytes: u64) -> Self {
        self.reports.rejected.left = bytes;
        self.reports.incomplete.left = bytes;
        self
    }

    /// Returns the counts of the rows so far.
    #[must_use]
    pub fn counts(&self) -> ImportCounts {
        self.counts
    }

    /// Ends the reports, and returns the counts of all rows.
    ///
    /// # Errors
    ///
    /// Returns an error if the response was not complete, or if a report cannot be written.
    pub fn finish(self) -> io::Result<ImportCounts> {
        if !self.is_complete {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.reports.finish()?;
        Ok(self.counts)
    }

    /// Reads a line of the response.
    fn line(&mut self, line: &Value) -> io::Result<()> {
        if line.get("total").is_some() {
            // The rows after the last one that was sent.
            return match self.next_sent()? {
                None => {
                    self.is_complete = true;
                    Ok(())
                }
                Some(_) => Err(io::Error::other("the server reported too few results")),
            };
        }
        let body = line.get("body").unwrap_or(&Value::Null);
        let Some((number, left_out)) = self.next_sent()? else {
            return Err(io::Error::other(error_text(body)));
        };
        let status = line.get("status").and_then(Value::as_u64);
        let is_stored = status.is_some_and(|status| status < 300);
        let failed = if is_stored {
            String::new()
        } else {
            error_text(body)
        };
        let recorded = self.action.map_or("person", ActionKind::singular);
        let is_recorded = is_stored || is_part_stored(body, recorded);
        let missing = match self.action {
            Some(_) if !is_recorded && is_part_stored(body, "person") => {
                format!("Only the person is stored, not the {recorded}.")
            }
            _ => String::new(),
        };
        let reason = sentences(&[&left_out, &missing, &failed]);
        let reason = reason.as_str();
        if !is_recorded {
            add_one(&mut self.counts.rejected);
            let cells = self.reports.row(number)?.into_cells();
            return self.reports.rejected.add(number, &cells, reason);
        }
        if !reason.is_empty() {
            add_one(&mut self.counts.incomplete);
            let cells = self.reports.row(number)?.into_cells();
            return self.reports.incomplete.add(number, &cells, reason);
        }
        let effect = line.get("effect").and_then(Value::as_str);
        add_one(match effect.and_then(WriteEffect::from_name) {
            Some(WriteEffect::Created) => &mut self.counts.created,
            Some(WriteEffect::Updated) => &mut self.counts.updated,
            Some(WriteEffect::Unchanged) => &mut self.counts.unchanged,
            None => &mut self.counts.imported,
        });
        Ok(())
    }

    /// Returns the number of the next row that was sent, and why it was sent without some values. Counts and
    /// reports the rows before it.
    fn next_sent(&mut self) -> io::Result<Option<(u64, String)>> {
        while let Ok(note) = self.notes.try_recv() {
            match note {
                RowNote::Sent { number, reason } => return Ok(Some((number, reason))),
                RowNote::Skipped { first, last } => {
                    for number in first..=last {
                        self.skip(number)?;
                    }
                }
            }
        }
        Ok(None)
    }

    /// Counts a row that was not sent, and reports it with its reason.
    fn skip(&mut self, number: u64) -> io::Result<()> {
        let content = self.reports.row(number)?;
        let reason = match self.plan.row(&content) {
            PlannedRow::Empty => {
                add_one(&mut self.counts.empty);
                return Ok(());
            }
            PlannedRow::Rejected(reason) => reason,
            PlannedRow::Sent { body, .. } => repeated_identifier(&body),
        };
        add_one(&mut self.counts.rejected);
        self.reports
            .rejected
            .add(number, &content.into_cells(), &reason)
    }
}

fn add_one(count: &mut u64) {
    *count = count.saturating_add(1);
}

/// The two reports. They read the rows that they contain once more.
#[derive(Debug)]
struct Reports {
    rows: Rows,
    rejected: ReportFile,
    incomplete: ReportFile,
}

impl Reports {
    fn new(table: &Table, paths: &ReportPaths) -> io::Result<Self> {
        Ok(Self {
            rows: table.rows()?,
            rejected: ReportFile::new(table, paths.rejected.clone()),
            incomplete: ReportFile::new(table, paths.incomplete.clone()),
        })
    }

    /// Returns a row after those of earlier calls.
    fn row(&mut self, number: u64) -> io::Result<RowContent> {
        for row in self.rows.by_ref() {
            let row = row?;
            if row.number == number {
                return Ok(row.content);
            }
        }
        Err(io::Error::other("the file has changed during the import"))
    }

    fn finish(self) -> io::Result<()> {
        self.rejected.finish()?;
        self.incomplete.finish()
    }
}

/// A table of rows with an additional column that has the reason.
#[derive(Debug)]
struct ReportFile {
    head: Vec<String>,
    separator: u8,
    path: PathBuf,
    /// The number of bytes that can be added.
    left: u64,
    /// The file, created for the first row.
    rows: Option<Writer<File>>,
}

impl ReportFile {
    fn new(table: &Table, path: PathBuf) -> Self {
        // Rows of an earlier import are reported again.
        let _ = std::fs::remove_file(&path);
        Self {
            head: table.head().to_vec(),
            separator: u8::try_from(table.separator()).unwrap_or(b','),
            path,
            left: u64::MAX,
            rows: None,
        }
    }

    /// Adds a row. Texts that spreadsheet programs would read as formulas get a mark, which an import removes.
    fn add(&mut self, number: u64, cells: &[String], reason: &str) -> io::Result<()> {
        let rows = match &mut self.rows {
            Some(rows) => rows,
            none => {
                let mut options = OpenOptions::new();
                options.write(true).create_new(true);
                // The rows are personal data.
                let mut file = only_for_user(&mut options).open(&self.path)?;
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
        let size: usize = cells.iter().map(String::len).sum();
        let size = u64::try_from(size.saturating_add(reason.len())).unwrap_or(u64::MAX);
        let left = self.left.checked_sub(size);
        self.left = left.ok_or(io::ErrorKind::StorageFull)?;
        let columns = self.head.len();
        let shown = |cell: &String| marked(unmarked(cell), true).into_owned();
        let missing = std::iter::repeat_n(String::new(), columns.saturating_sub(cells.len()));
        let in_columns = cells.iter().take(columns).map(shown).chain(missing);
        let others = cells.iter().skip(columns).map(shown);
        rows.write_record(in_columns.chain([reason]).chain(others))?;
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

/// Returns whether the person or the action of a request is stored, although another part failed.
fn is_part_stored(body: &Value, kind: &str) -> bool {
    parts(body).any(|part| {
        let resource = part.get("resource").and_then(Value::as_str);
        let (_, name) = resource
            .and_then(|name| name.rsplit_once(':'))
            .unwrap_or_default();
        let status = part.get("response_code").and_then(Value::as_u64);
        name == kind && status.is_some_and(|status| status < 300)
    })
}

/// Returns the descriptions and hints of an error object of the server on one line, with invisible characters
/// shown by name.
#[must_use]
pub fn error_text(body: &Value) -> String {
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

/// Creates files that no other user of the computer can read, on systems with such rights.
pub fn only_for_user(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}

#[cfg(test)]
mod tests {
    use std::io::{Seek as _, SeekFrom};

    use encoding_rs::WINDOWS_1252;
    use proptest::prelude::*;

    use super::*;
    use crate::{ColumnMapping, MappingOptions, Synonyms};

    /// How the bytes of a file are made of its text.
    #[derive(Debug, Clone, Copy)]
    enum Writing {
        Utf8,
        Utf8WithMark,
        Utf16Le,
        Utf16Be,
        Windows1252,
        Gzip,
    }

    impl Writing {
        fn bytes(self, text: &str) -> Vec<u8> {
            match self {
                Self::Utf8 => text.as_bytes().to_vec(),
                Self::Utf8WithMark => format!("\u{FEFF}{text}").into_bytes(),
                Self::Utf16Le => {
                    let marked = format!("\u{FEFF}{text}");
                    marked.encode_utf16().flat_map(u16::to_le_bytes).collect()
                }
                Self::Utf16Be => {
                    let marked = format!("\u{FEFF}{text}");
                    marked.encode_utf16().flat_map(u16::to_be_bytes).collect()
                }
                Self::Windows1252 => WINDOWS_1252.encode(text).0.into_owned(),
                Self::Gzip => {
                    let mut gzip =
                        flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
                    gzip.write_all(text.as_bytes()).expect("bytes");
                    gzip.finish().expect("bytes")
                }
            }
        }
    }

    /// A cell: usual values, values that no member can have, and what damages rows.
    fn cell() -> impl Strategy<Value = String> {
        prop_oneof![
            4 => "[a-z]{1,8}@example\\.org",
            4 => "[A-Za-zäöüé ]{0,12}",
            2 => "[+0-9() -]{0,16}",
            2 => "[0-9]{1,2}[/.-][0-9]{1,2}[/.-][0-9]{2,4}",
            1 => Just("\"".to_owned()),
            1 => Just("\"a\"b".to_owned()),
            1 => Just("a\nb,c;d\te|f".to_owned()),
            1 => Just("\0".to_owned()),
            1 => Just("\u{200B}\u{FEFF}".to_owned()),
            1 => "\\PC{0,20}",
        ]
    }

    /// Returns the response of a server that stores some rows, some in part, and rejects some.
    fn response(requests: &[u8], seed: u8) -> Vec<u8> {
        let results = [
            r#"{"status":200,"effect":"created"}"#,
            r#"{"status":200,"effect":"updated"}"#,
            r#"{"status":200,"effect":"unchanged"}"#,
            r#"{"status":200}"#,
            r#"{"status":400,"body":{"x:error":{"resource_status":[{"resource":"x:person","response_code":400,"errors":[{"description":"No."}]}]}}}"#,
            r#"{"status":400,"body":{"x:error":{"resource_status":[{"resource":"x:person","response_code":201},{"resource":"x:tagging","response_code":400,"errors":[{"description":"No."}]}]}}}"#,
        ];
        let rows = requests.split_inclusive(|byte| *byte == b'\n');
        let mut text = String::new();
        for (row, _) in rows.enumerate() {
            text.push_str(results[(row + usize::from(seed)) % results.len()]);
            text.push('\n');
        }
        text.push_str("{\"total\":0}\n");
        text.into_bytes()
    }

    /// Returns the number of rows of a report.
    fn rows_in(path: &Path, separator: char) -> u64 {
        let separator = u8::try_from(separator).expect("one byte");
        let mut reader = csv::ReaderBuilder::new();
        let reader = reader.flexible(true).delimiter(separator).from_path(path);
        let rows = reader.map_or(0, |reader| {
            reader.into_records().map(Result::unwrap).count()
        });
        u64::try_from(rows).expect("a number")
    }

    /// A row whose action is not stored is rejected, even if its person is stored.
    #[test]
    fn only_the_person_of_a_donation_is_stored() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("donations.csv");
        std::fs::write(&path, "Email,Amount\na@x.org,5\nb@x.org,6\n").expect("a file");
        let table = Table::open(&path).expect("a table");
        let synonyms = Synonyms::built_in().expect("names");
        let options = MappingOptions {
            action: ActionKind::from_name("donations"),
            ..MappingOptions::default()
        };
        let mapping = ColumnMapping::new(table.head(), &synonyms, &options).expect("a mapping");
        let reports = ReportPaths::next_to(&path);
        let begun = ImportResults::begin(&table, &RowPlan::new(mapping), &reports);
        let (mut lines, mut results) = begun.expect("a table");
        lines
            .add_to(&mut Vec::new(), usize::MAX)
            .expect("the requests");
        let response = concat!(
            r#"{"status":400,"body":{"x:error":{"resource_status":[{"resource":"x:person","response_code":201},{"resource":"x:donation","response_code":400,"errors":[{"description":"No."}]}]}}}"#,
            "\n",
            r#"{"status":400,"body":{"x:error":{"resource_status":[{"resource":"x:person","response_code":201},{"resource":"x:donation","response_code":201},{"resource":"x:tagging","response_code":400,"errors":[{"description":"No."}]}]}}}"#,
            "\n{\"total\":2}\n",
        );
        results.read(response.as_bytes()).expect("results");
        let counts = results.finish().expect("the end");
        assert_eq!((counts.rejected, counts.incomplete), (1, 1), "{counts:?}");
        let rejected = std::fs::read_to_string(&reports.rejected).expect("a report");
        let reason = "Row 2: Only the person is stored, not the donation. No.";
        assert!(rejected.contains(reason), "{rejected}");
    }

    proptest! {
        /// Every row of every file has exactly one result, and the rows of the reports are those that were
        /// counted.
        ///
        /// Requirements: BAT-08.
        #[test]
        fn every_row_has_a_result(
            rows in prop::collection::vec(prop::collection::vec(cell(), 0..6), 0..30),
            large in prop::option::weighted(0.01, 0_usize..30),
            separator in prop::sample::select(vec![",", ";", "\t", "|"]),
            line_end in prop::sample::select(vec!["\n", "\r\n", "\r"]),
            quotes in any::<bool>(),
            writing in prop::sample::select(vec![
                Writing::Utf8, Writing::Utf8WithMark, Writing::Utf16Le, Writing::Utf16Be,
                Writing::Windows1252, Writing::Gzip,
            ]),
            damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..3),
            seed in any::<u8>(),
            part in 1_usize..200,
            (is_strict, accepts_unknown) in any::<(bool, bool)>(),
        ) {
            let mut text = ["First name", "E-mail", "Phone", "Birthday", "Tags", "Notes"].join(separator);
            text.push_str(line_end);
            for (place, row) in rows.iter().enumerate() {
                let cells = row.iter().map(|cell| if quotes { format!("\"{}\"", cell.replace('"', "\"\"")) } else { cell.clone() });
                text.push_str(&cells.collect::<Vec<_>>().join(separator));
                if large == Some(place) {
                    text.push_str(&"x".repeat(1024 * 1024));
                }
                text.push_str(line_end);
            }
            let mut bytes = writing.bytes(&text);
            for (place, byte) in damage {
                if !matches!(writing, Writing::Gzip) && !bytes.is_empty() {
                    let place = place.index(bytes.len());
                    bytes[place] = byte;
                }
            }
            let folder = tempfile::tempdir().expect("a folder");
            let path = folder.path().join("table.csv");
            let mut file = File::create_new(&path).expect("a file");
            file.write_all(&bytes).expect("bytes");
            file.seek(SeekFrom::Start(0)).expect("the start");
            let Ok(table) = Table::open(&path) else { return Ok(()) };
            let synonyms = Synonyms::built_in().expect("names");
            let options = MappingOptions { rest_custom: true, ..MappingOptions::default() };
            let Ok(mapping) = ColumnMapping::new(table.head(), &synonyms, &options) else { return Ok(()) };
            let mut plan = RowPlan::new(mapping);
            (plan.is_strict, plan.accepts_unknown) = (is_strict, accepts_unknown);
            let reports = ReportPaths::next_to(&path);
            let (mut lines, mut results) = ImportResults::begin(&table, &plan, &reports).expect("a table");
            let mut requests = Vec::new();
            while lines.add_to(&mut requests, usize::MAX).expect("lines") {}
            for data in response(&requests, seed).chunks(part) {
                results.read(data).expect("results");
            }
            let counts = results.finish().expect("the end");
            let all = u64::try_from(table.rows().expect("rows").count()).expect("a number");
            prop_assert_eq!(counts.all(), all, "{:?}", counts);
            prop_assert_eq!(rows_in(&reports.rejected, table.separator()), counts.rejected);
            prop_assert_eq!(rows_in(&reports.incomplete, table.separator()), counts.incomplete);
        }
    }
}
