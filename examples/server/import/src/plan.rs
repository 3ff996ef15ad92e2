//! What happens to each row of a table, and the requests of the rows.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};

use serde_json::Value;

use crate::{ColumnMapping, DroppedCell, Row, RowContent, Rows, Table, column_letters};

/// Why a row is not sent.
const UNKNOWN: &str = "The row has no e-mail address, phone number or identifier.";

/// How rows become requests.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RowPlan {
    /// The members that the columns set.
    pub mapping: ColumnMapping,
    /// Whether a value that its member cannot have rejects the row, instead of being left out.
    pub is_strict: bool,
    /// Whether a row is sent without a value that identifies its person. If it is sent again, it creates another
    /// person.
    pub accepts_unknown: bool,
}

/// What happens to a row.
#[derive(Debug, Clone, PartialEq)]
pub enum PlannedRow {
    /// Nothing, because it is empty.
    Empty,
    /// It is not sent, for this reason.
    Rejected(String),
    /// It is sent.
    Sent {
        /// The body of a request to the helper.
        body: Value,
        /// Which values it does not contain, and why; empty if it contains all.
        left_out: String,
    },
}

impl RowPlan {
    /// Creates a plan that leaves out wrong values, and rejects rows that identify no one.
    #[must_use]
    pub fn new(mapping: ColumnMapping) -> Self {
        Self {
            mapping,
            is_strict: false,
            accepts_unknown: false,
        }
    }

    /// Returns what happens to a row.
    #[must_use]
    pub fn row(&self, content: &RowContent) -> PlannedRow {
        let cells = match content {
            RowContent::Empty => return PlannedRow::Empty,
            RowContent::Fault { fault, .. } => return PlannedRow::Rejected(format!("{fault}.")),
            RowContent::Cells(cells) => cells,
        };
        let row = self.mapping.row(cells);
        let left_out = reasons(&row.dropped, cells);
        let wrong = reasons(&row.rejected, cells);
        let is_known = row.identifies || self.accepts_unknown;
        let is_accepted = wrong.is_empty() && (left_out.is_empty() || !self.is_strict);
        if is_known && is_accepted {
            let body = row.body;
            return PlannedRow::Sent { body, left_out };
        }
        let unknown = if is_known { "" } else { UNKNOWN };
        PlannedRow::Rejected(sentences(&[&wrong, &left_out, unknown]))
    }
}

/// Returns those of the texts that are not empty, separated by spaces.
pub(crate) fn sentences(texts: &[&str]) -> String {
    let texts = texts.iter().copied().filter(|text| !text.is_empty());
    texts.collect::<Vec<_>>().join(" ")
}

/// Returns why values are not part of a request, as sentences.
fn reasons(all: &[DroppedCell], cells: &[String]) -> String {
    let reasons = all.iter().map(|dropped| {
        let cell = cells.get(dropped.column).map(|cell| cell.trim());
        let cell = cell.unwrap_or_default();
        let letters = column_letters(dropped.column);
        match cell {
            "" => format!("Column {letters} {}.", dropped.reason),
            cell => format!("`{cell}` in column {letters} {}.", dropped.reason),
        }
    });
    reasons.collect::<Vec<_>>().join(" ")
}

/// What happened to rows of the requests.
#[derive(Debug)]
pub(crate) enum RowNote {
    /// These rows were not sent. They are empty or rejected.
    Skipped { first: u64, last: u64 },
    /// This row was sent without some values, for this reason.
    Sent { number: u64, reason: String },
}

/// The number of rows that are looked at before other work can continue.
const MAX_ROWS_AT_ONCE: usize = 2_000;

/// The requests of a table: a line of JSON for each row that is sent, in order.
///
/// Lines are made when they are requested, so that a table of any size needs little memory.
#[derive(Debug)]
pub struct RequestLines {
    rows: Rows,
    plan: RowPlan,
    notes: Sender<RowNote>,
    /// The last rows, if they were not sent. They need no more memory than one of them.
    skipped: Option<(u64, u64)>,
    actions: SentActions,
}

impl RequestLines {
    pub(crate) fn new(table: &Table, plan: &RowPlan) -> io::Result<(Self, Receiver<RowNote>)> {
        let (notes, received) = channel();
        let lines = Self {
            rows: table.rows()?,
            plan: plan.clone(),
            notes,
            skipped: None,
            actions: SentActions::default(),
        };
        Ok((lines, received))
    }

    /// Adds lines to a text until it has at least this size, no row is left, or it has looked at some rows. Returns
    /// whether rows can be left.
    ///
    /// # Errors
    ///
    /// Returns an error if the table cannot be read.
    pub fn add_to(&mut self, text: &mut Vec<u8>, size: usize) -> io::Result<bool> {
        for _ in 0..MAX_ROWS_AT_ONCE {
            if text.len() >= size {
                break;
            }
            let Some(Row { number, content }) = self.rows.next().transpose()? else {
                self.note_skipped();
                return Ok(false);
            };
            match self.plan.row(&content) {
                PlannedRow::Sent { body, left_out } if self.actions.add(&body).is_none() => {
                    serde_json::to_writer(&mut *text, &body)?;
                    text.push(b'\n');
                    self.note_skipped();
                    let reason = left_out;
                    self.note(RowNote::Sent { number, reason });
                }
                _ => {
                    let first = self.skipped.map_or(number, |(first, _)| first);
                    self.skipped = Some((first, number));
                }
            }
        }
        Ok(true)
    }

    fn note_skipped(&mut self) {
        if let Some((first, last)) = self.skipped.take() {
            self.note(RowNote::Skipped { first, last });
        }
    }

    /// If no one reads the results any longer, the notes are not needed.
    fn note(&self, note: RowNote) {
        let _ = self.notes.send(note);
    }
}

/// Returns why a row that the plan accepts was not sent: an earlier row has an identifier of its action.
pub(crate) fn repeated_identifier(body: &Value) -> String {
    let identifiers = body.get("identifiers").and_then(Value::as_array);
    let identifiers = identifiers.into_iter().flatten().filter_map(Value::as_str);
    let identifiers: Vec<String> = identifiers.map(|one| format!("`{one}`")).collect();
    format!(
        "An earlier row has the identifier {} and other values.",
        identifiers.join(" or ")
    )
}

/// The identifiers of the actions that were sent. An action with the identifier of another one would change it, and
/// an amount would be lost.
#[derive(Debug, Default)]
struct SentActions(HashMap<u64, u64>);

impl SentActions {
    /// Adds the action of a request. Returns its identifier if an earlier request with other values has it.
    fn add<'b>(&mut self, body: &'b Value) -> Option<&'b str> {
        let identifiers = body.get("identifiers")?.as_array()?;
        let content = hash_of(&body.to_string());
        let mut identifiers = identifiers.iter().filter_map(Value::as_str);
        identifiers.find(|identifier| {
            let known = self.0.entry(hash_of(identifier)).or_insert(content);
            *known != content
        })
    }
}

fn hash_of(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::{MappingOptions, Synonyms};

    /// Rows that are not sent need no memory of their own, however many there are.
    #[test]
    fn rows_that_are_not_sent_have_one_note() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("people.csv");
        let rows = "\n,a\n,b\n".repeat(3_000);
        fs::write(
            &path,
            format!("Email,Name\n{rows}a@example.org,Ada\n{rows}"),
        )
        .expect("a file");
        let table = Table::open(&path).expect("a table");
        let synonyms = Synonyms::built_in().expect("names");
        let mapping = ColumnMapping::new(table.head(), &synonyms, &MappingOptions::default());
        let plan = RowPlan::new(mapping.expect("a mapping"));
        let (mut lines, notes) = RequestLines::new(&table, &plan).expect("rows");
        let (mut text, mut turns) = (Vec::new(), 1);
        while lines.add_to(&mut text, usize::MAX).expect("rows") {
            turns += 1;
        }
        assert!(turns > 5, "{turns}");
        let lines = text.split_inclusive(|byte| *byte == b'\n');
        assert_eq!(lines.count(), 1);
        let notes: Vec<RowNote> = notes.try_iter().collect();
        let [
            RowNote::Skipped {
                first: 2,
                last: 9_001,
            },
            RowNote::Sent { number: 9_002, .. },
            RowNote::Skipped {
                first: 9_003,
                last: 18_002,
            },
        ] = notes[..]
        else {
            panic!("{notes:?}");
        };
    }
}
