//! New and changed records of a transaction.

use std::collections::BTreeMap;

use svc_core::store::InsertRecord;
use uuid::Uuid;

use crate::{
    error::Result,
    pipeline::{SqlValue, columns, of_tenant},
    record_layout::{SLOTS, layout},
    rows::try_parse,
};

/// A new record.
struct NewRow {
    kind: i16,
    id: Uuid,
    seq: i64,
    created: i64,
    modified: i64,
    links: LinkColumns,
    name: Option<String>,
    identifiers: String,
    body: Vec<u8>,
}

/// The targets of the link columns of a record, `modified_by` last.
type LinkColumns = [Option<Uuid>; 5];

/// New records.
#[derive(Default)]
pub(super) struct RowInserts(Vec<NewRow>);

impl RowInserts {
    pub(super) fn push(&mut self, insert: &InsertRecord, seq: i64) -> Result<()> {
        let record = &insert.record;
        let (meta, layout) = (record.meta(), layout(record.kind()));
        let mut links = LinkColumns::default();
        for (reference, column) in layout.columns() {
            let to = record
                .link(reference.name)
                .map(|to| try_parse(&to.id))
                .transpose()?;
            if let Some(link) = links.get_mut(place(column)) {
                *link = to;
            }
        }
        self.0.push(NewRow {
            kind: layout.code,
            id: try_parse(&meta.id)?,
            seq,
            created: meta.created.as_micros(),
            modified: meta.modified.as_micros(),
            links,
            name: insert.name.clone(),
            identifiers: meta.identifiers.as_json().to_owned(),
            body: record.wire_fields().to_vec(),
        });
        Ok(())
    }

    /// Returns the values of `insert_records`, or `None` if there are none.
    pub(super) fn values(self, tenant: i64) -> Option<Vec<SqlValue>> {
        let mut rows = self.0;
        if rows.is_empty() {
            return None;
        }
        let first = columns!(rows; kind, id, seq, created, modified);
        let links = linked(&rows.iter().map(|row| row.links));
        Some(of_tenant(
            tenant,
            [first, links, columns!(rows; name, identifiers, body)],
        ))
    }
}

/// Returns the position of a column in [`LinkColumns`].
pub(super) fn place(column: &str) -> usize {
    SLOTS
        .iter()
        .position(|slot| *slot == column)
        .unwrap_or(SLOTS.len())
}

fn linked(rows: &(impl Iterator<Item = LinkColumns> + Clone)) -> Vec<SqlValue> {
    let column = |place| {
        rows.clone()
            .map(|links| links.get(place).copied().flatten())
            .collect::<Vec<_>>()
    };
    (0..=SLOTS.len())
        .map(|place| column(place).into())
        .collect()
}

/// The update of a record. A `None` leaves a column unchanged, unless `flags` clears it.
#[derive(Default)]
pub(super) struct RowUpdate {
    flags: i32,
    pub(super) modified: Option<i64>,
    links: LinkColumns,
    name: Option<String>,
    pub(super) identifiers: Option<String>,
    pub(super) body: Option<Vec<u8>>,
    start: Option<i64>,
    stop: Option<i64>,
}

/// The bits of columns that may become null, as `update_records` reads them. The positions of
/// [`LinkColumns`] come first.
const NAME: i32 = 32;
const SCHEDULE: i32 = 64;

impl RowUpdate {
    /// Sets or clears the target of a link column.
    pub(super) fn link(&mut self, place: usize, to: Option<Uuid>) {
        if let Some(link) = self.links.get_mut(place) {
            *link = to;
            self.flags |= 1 << place;
        }
    }

    pub(super) fn name(&mut self, name: Option<String>) {
        self.name = name;
        self.flags |= NAME;
    }

    /// Sets start and stop of a message.
    pub(super) fn schedule(&mut self, start: Option<i64>, stop: Option<i64>) {
        (self.start, self.stop) = (start, stop);
        self.flags |= SCHEDULE;
    }
}

/// Changed records, each once, by kind and number.
#[derive(Default)]
pub(super) struct RowUpdates(BTreeMap<(i16, i64), RowUpdate>);

impl RowUpdates {
    /// Returns the update of a record so far.
    pub(super) fn of(&mut self, kind: i16, row: i64) -> &mut RowUpdate {
        self.0.entry((kind, row)).or_default()
    }

    /// Returns the values of `update_records`, or `None` if there are none.
    pub(super) fn values(self, tenant: i64) -> Option<Vec<SqlValue>> {
        if self.0.is_empty() {
            return None;
        }
        let (mut keys, mut rows): (Vec<_>, Vec<_>) = self.0.into_iter().unzip();
        let first = columns!(rows; flags, modified);
        let links = linked(&rows.iter().map(|row| row.links));
        let last = columns!(rows; name, identifiers, body, start, stop);
        Some(of_tenant(
            tenant,
            [columns!(keys; 0, 1), first, links, last],
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bits equal those in `update_records`.
    #[test]
    fn flags_say_what_may_become_empty() {
        let mut update = RowUpdate::default();
        assert_eq!(update.flags, 0);
        update.name(None);
        update.schedule(None, Some(1));
        assert_eq!(update.flags, 32 + 64);
        update.link(place("l1"), None);
        update.link(place("l4"), Some(Uuid::nil()));
        update.link(place("modified_by"), None);
        assert_eq!(update.flags, 1 + 8 + 16 + 32 + 64);
    }
}
