//! What happens to each row, and the lines of the request.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use http_body::{Body, Frame};
use svc_import::{ColumnMapping, DroppedCell, MappedRow, Row, RowContent, Rows, column_letters};

/// Bytes of lines that are prepared in one part.
const PART: usize = 32 * 1024;

/// Why a row is not sent.
const UNKNOWN: &str = "The row has no e-mail address, phone number or identifier.";

/// How rows become requests.
#[derive(Debug, Clone)]
pub(super) struct RowPlan {
    pub(super) mapping: ColumnMapping,
    pub(super) is_strict: bool,
    /// Whether a row without a value that identifies its person is sent.
    pub(super) accepts_unknown: bool,
}

/// What happens to a row.
#[derive(Debug)]
pub(super) enum PlannedRow {
    /// Nothing, because it is empty.
    Empty,
    /// It is not sent.
    Rejected { cells: Vec<String>, reason: String },
    /// It is sent.
    Sent { cells: Vec<String>, row: MappedRow },
}

impl RowPlan {
    pub(super) fn row(&self, row: Row) -> PlannedRow {
        match row.content {
            RowContent::Empty => PlannedRow::Empty,
            RowContent::Fault { fault, cells } => PlannedRow::Rejected {
                cells,
                reason: format!("{fault}."),
            },
            RowContent::Cells(cells) => {
                let row = self.mapping.row(&cells);
                let is_known = row.identifies || self.accepts_unknown;
                let unknown = if is_known { "" } else { UNKNOWN };
                let reason = format!("{} {unknown}", dropped(&row.dropped, &cells));
                let reason = reason.trim().to_owned();
                if !is_known || self.is_strict && !row.dropped.is_empty() {
                    return PlannedRow::Rejected { cells, reason };
                }
                PlannedRow::Sent { cells, row }
            }
        }
    }
}

/// Returns why values are not part of a request.
pub(super) fn dropped(all: &[DroppedCell], cells: &[String]) -> String {
    let sentences = all.iter().map(|dropped| {
        let cell = cells.get(dropped.column).map(|cell| cell.trim());
        let cell = cell.unwrap_or_default();
        let letters = column_letters(dropped.column);
        format!("`{cell}` in column {letters} {}.", dropped.reason)
    });
    sentences.collect::<Vec<_>>().join(" ")
}

/// The rows of a table as lines, which are made while the connection sends them.
pub(super) struct NdjsonBody {
    pub(super) rows: Rows,
    pub(super) plan: RowPlan,
}

impl Body for NdjsonBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let this = &mut *self;
        let mut part = BytesMut::with_capacity(PART);
        while part.len() < PART {
            match this.rows.next() {
                Some(Ok(row)) => {
                    if let PlannedRow::Sent { row, .. } = this.plan.row(row) {
                        part.extend_from_slice(row.body.to_string().as_bytes());
                        part.extend_from_slice(b"\n");
                    }
                }
                None => break,
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
            }
        }
        Poll::Ready((!part.is_empty()).then(|| Ok(Frame::data(part.freeze()))))
    }
}
