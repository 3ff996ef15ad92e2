//! The data of a tenant as changes, in batches, for a transfer from one store to another.
//!
//! A store applies the usual changes: an [`InsertRecord`] for each record with its keys, followed
//! by the changes that the rules would have made. The order within a kind stays the same. Of
//! several people with one address, the oldest therefore stays the oldest, and pages stay the same.
//! Records come after the targets of their links. Only the person who changed another person may
//! come later.

use std::{fmt, str::FromStr, sync::LazyLock};

use svc_core::store::{
    ApartPeople, Change, ChangeTarget, IndexValues, InsertRecord, LookupKey, LookupSource,
    MergeRecord, RuleError, StoredRecord,
};
use svc_core::{
    backend::OutboxEntry,
    error::{Error, Result},
    json::Json,
    link::ShareNames,
    model::Kind,
    record::{ComputedValue, RawRecord},
    schema::ComputedSource,
    value::{Id, Timestamp},
};

/// Returns all kinds. Each comes after the kinds of its link targets.
#[must_use]
pub fn kinds_in_dependency_order() -> &'static [Kind] {
    static ORDER: LazyLock<Vec<Kind>> = LazyLock::new(|| {
        let (mut left, mut order) = (Kind::ALL.to_vec(), Vec::new());
        while !left.is_empty() {
            let is_free = |kind: &Kind| {
                let mut others = kind
                    .schema()
                    .references()
                    .iter()
                    .map(|reference| reference.kind);
                others.all(|other| other == *kind || order.contains(&other))
            };
            let free = left.iter().position(is_free).unwrap_or_default();
            order.push(left.remove(free));
        }
        order
    });
    &ORDER
}

/// The position at which an export continues. It can be stored as text: `people:17`, `outbox:3`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExportPosition {
    /// The kind of the records. `None` is the outbox, which comes after all kinds.
    kind: Option<Kind>,
    /// The last row that was exported.
    row: i64,
}

impl ExportPosition {
    /// Returns the start of an export.
    #[must_use]
    pub fn start() -> Self {
        Self {
            kind: kinds_in_dependency_order().first().copied(),
            row: 0,
        }
    }

    /// Returns the kind of the next records; `None` for the outbox.
    #[must_use]
    pub fn kind(self) -> Option<Kind> {
        self.kind
    }

    /// Returns the row after which the export continues.
    #[must_use]
    pub fn row(self) -> i64 {
        self.row
    }

    /// Returns the position after a row of the same kind.
    #[must_use]
    pub fn after_row(self, row: i64) -> Self {
        Self { row, ..self }
    }

    /// Returns the start of the next kind; `None` at the end of the export.
    #[must_use]
    pub fn next_kind(self) -> Option<Self> {
        let kind = self.kind?;
        let place = kinds_in_dependency_order()
            .iter()
            .position(|known| *known == kind)?;
        Some(Self {
            kind: kinds_in_dependency_order()
                .get(place.saturating_add(1))
                .copied(),
            row: 0,
        })
    }
}

impl fmt::Display for ExportPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}:{}",
            self.kind.map_or("outbox", Kind::plural),
            self.row
        )
    }
}

impl FromStr for ExportPosition {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let unknown = || Error::unexpected(format!("`{text}` is not a valid export position"));
        let (kind, row) = text.split_once(':').ok_or_else(unknown)?;
        let kind = match kind {
            "outbox" => None,
            kind => Some(
                *Kind::ALL
                    .iter()
                    .find(|known| known.plural() == kind)
                    .ok_or_else(unknown)?,
            ),
        };
        Ok(Self {
            kind,
            row: row.parse().map_err(|_| unknown())?,
        })
    }
}

/// A batch of an export. All data of a record is in the same batch.
#[derive(Debug)]
#[non_exhaustive]
pub struct ExportBatch {
    /// The changes, to be applied in this order, all or none.
    pub changes: Vec<Change>,
    /// The number of records.
    pub records: u64,
    /// The time of the tenant's last write. If it differs between batches, the data has changed
    /// during the export and the batches are inconsistent.
    pub clock: Timestamp,
    /// The start of the next batch; `None` at the end.
    pub next: Option<ExportPosition>,
}

impl ExportBatch {
    /// Creates an empty batch that was read after the write with this time.
    #[must_use]
    pub fn new(clock: Timestamp) -> Self {
        Self {
            changes: Vec::new(),
            records: 0,
            clock,
            next: None,
        }
    }

    /// Adds a record with all its data.
    ///
    /// `holders` contains the people recorded for the tickets of an attendance, with the position
    /// of the ticket. A negative position means that it is not known. The totals of the record are
    /// looked up in `answers`.
    ///
    /// # Errors
    ///
    /// Returns the errors of the lookups, and [`RuleError::Failed`] if fields cannot be read.
    pub fn push(
        &mut self,
        stored: &StoredRecord,
        holders: Vec<(i64, Id)>,
        answers: &mut dyn LookupSource,
    ) -> Result<(), RuleError> {
        let record = &stored.record;
        let (kind, id) = (record.kind(), record.meta().id.clone());
        let at = || ChangeTarget::new(kind, id.clone(), StoredRecord::UNSAVED_ROW);
        let (name, index) = found_by(record)?;
        let identifiers = record.meta().identifiers.to_vec();
        // The computed fields follow from the changes that come after the insertion.
        let mut new = record.clone();
        new.reset_computed();
        let mut insert = InsertRecord::new(new);
        insert.identifiers = identifiers;
        insert.name = name;
        insert.index = index;
        self.changes.push(Change::Insert(Box::new(insert)));
        if kind.schema().measures().next().is_some() {
            let (of, key) = ((kind, id.clone()), LookupKey::Id(kind, id.clone()));
            let sum = answers.totals(&key)?;
            if !sum.is_empty() {
                self.changes.push(Change::SetTotals {
                    of: of.clone(),
                    sum,
                });
            }
            let part = |(name, sum)| Change::SetPartTotals {
                of: of.clone(),
                name,
                sum,
            };
            let parts = answers.part_totals(&key)?;
            self.changes.extend(parts.into_iter().map(part));
        }
        let moment = |source| match record.computed_value(source) {
            Some(ComputedValue::Timestamp(moment)) => Some(*moment),
            _ => None,
        };
        let (start, stop) = (
            moment(ComputedSource::ScheduledStart),
            moment(ComputedSource::ScheduledStop),
        );
        if start.or(stop).is_some() {
            self.changes.push(Change::SetSchedule {
                at: at(),
                modified: record.meta().modified,
                start,
                stop,
            });
        }
        self.changes.extend(
            holders
                .into_iter()
                .map(|(place, person)| Change::AddTicketHolder {
                    at: at(),
                    place,
                    person,
                }),
        );
        self.records = self.records.saturating_add(1);
        Ok(())
    }

    /// Adds the id of a person who was merged into another one.
    pub fn push_forwarded_person(&mut self, from: Id, to: Id) {
        self.changes.push(Change::ForwardPerson { from, to });
    }

    /// Adds a merge of two people that can be undone.
    pub fn push_merge(&mut self, merge: MergeRecord) {
        self.changes.push(Change::StoreMerge(Box::new(merge)));
    }

    /// Adds two people who are not the same person.
    pub fn push_apart(&mut self, apart: ApartPeople) {
        self.changes.push(Change::SetApart(apart));
    }

    /// Adds an outbox entry. The target store starts its attempts again.
    pub fn push_outbox(&mut self, dispatch: OutboxEntry) {
        self.changes.push(Change::Enqueue(Box::new(dispatch)));
    }
}

/// Returns the unique name of a record, and the other values that it is found by.
pub(super) fn found_by(record: &RawRecord) -> Result<(Option<String>, IndexValues)> {
    let kind = record.kind();
    let unique = kind.schema().unique_name();
    if unique.is_none() && !IndexValues::has_any(kind) {
        return Ok((None, IndexValues::default()));
    }
    let fields = record.to_fields(&ShareNames::default())?;
    let name = unique
        .and_then(|field| fields.get(field.name))
        .and_then(Json::as_str)
        .map(str::to_owned);
    Ok((name, IndexValues::of(kind, &fields)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_comes_after_those_that_it_leads_to() {
        assert_eq!(kinds_in_dependency_order().len(), Kind::ALL.len());
        for (place, kind) in kinds_in_dependency_order().iter().enumerate() {
            for reference in kind
                .schema()
                .references()
                .iter()
                .filter(|reference| reference.kind != *kind)
            {
                assert!(
                    kinds_in_dependency_order()[..place].contains(&reference.kind),
                    "{kind:?} before {:?}",
                    reference.kind
                );
            }
        }
    }

    #[test]
    fn positions_lead_through_everything_and_outlast_a_restart() {
        let (mut position, mut kinds) = (Some(ExportPosition::start()), Vec::new());
        while let Some(here) = position {
            let there = here.after_row(17);
            assert_eq!(there.to_string().parse::<ExportPosition>().unwrap(), there);
            kinds.push(here.kind());
            position = there.next_kind();
        }
        let expected: Vec<_> = kinds_in_dependency_order()
            .iter()
            .copied()
            .map(Some)
            .chain([None])
            .collect();
        assert_eq!(kinds, expected);
        for text in ["", "people", "people:", "people:x", "unicorns:1"] {
            assert!(text.parse::<ExportPosition>().is_err(), "{text}");
        }
    }
}
