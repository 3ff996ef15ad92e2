//! Everything of a tenant as changes, in parts: what moves it from one store into another.
//!
//! Nothing is new to a store that applies them: an [`InsertRecord`] for each record, with whatever
//! finds it, and behind it what the rulebook would have said of it. Within a kind the order stays,
//! so that of several people with one address the oldest stays the oldest, and pages stay as they
//! are. Records come after those that they lead to; only who changed a person may come after that
//! person.

use std::{fmt, str::FromStr, sync::LazyLock};

use svc_core::store::{
    Change, ChangeTarget, InsertRecord, Lookup, LookupKey, LookupResult, LookupSource, RuleError,
    StoredRecord, Totals,
};
use svc_core::{
    error::{Error, Result},
    helper::distinct_emails,
    json::Json,
    link::ShareNames,
    model::Kind,
    ops::OutboxEntry,
    record::{ComputedValue, RawRecord},
    schema::{ComputedSource, FieldSpec},
    value::{Id, Timestamp},
};

/// Every kind, after those that it leads to.
#[must_use]
pub fn order() -> &'static [Kind] {
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

/// Where an export goes on. As text it outlasts a restart: `people:17`, `outbox:3`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExportPosition {
    /// The records of a kind; behind all of them what is to be sent.
    kind: Option<Kind>,
    /// The last row that was exported.
    row: i64,
}

impl ExportPosition {
    /// The beginning.
    #[must_use]
    pub fn start() -> Self {
        Self {
            kind: order().first().copied(),
            row: 0,
        }
    }

    /// The kind whose records come next; `None` for what is to be sent.
    #[must_use]
    pub fn kind(self) -> Option<Kind> {
        self.kind
    }

    /// The row after which it goes on.
    #[must_use]
    pub fn row(self) -> i64 {
        self.row
    }

    /// Behind a row of the same kind.
    #[must_use]
    pub fn after(self, row: i64) -> Self {
        Self { row, ..self }
    }

    /// The beginning of what comes behind this kind; `None` at the end of everything.
    #[must_use]
    pub fn behind(self) -> Option<Self> {
        let kind = self.kind?;
        let place = order().iter().position(|known| *known == kind)?;
        Some(Self {
            kind: order().get(place.saturating_add(1)).copied(),
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
        let unknown = || Error::unexpected(format!("`{text}` is no position of an export"));
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

/// A part of an export. What belongs to a record is in the same part.
#[derive(Debug)]
#[non_exhaustive]
pub struct ExportBatch {
    /// To be applied in this order, all or none.
    pub changes: Vec<Change>,
    /// How many records it has.
    pub records: u64,
    /// The moment of the tenant's last write when this was read: the same in every part, unless
    /// somebody writes meanwhile, and then the parts do not fit each other.
    pub clock: Timestamp,
    /// Where the next part begins; `None` at the end.
    pub next: Option<ExportPosition>,
}

impl ExportBatch {
    /// Nothing, read after the write of this moment.
    #[must_use]
    pub fn new(clock: Timestamp) -> Self {
        Self {
            changes: Vec::new(),
            records: 0,
            clock,
            next: None,
        }
    }

    /// Adds a record with everything of it. `holders` are the people noted in the tickets of an
    /// attendance, with the place of their ticket; below zero for one that is not known any more.
    /// What it comes to is asked for.
    ///
    /// # Errors
    ///
    /// What the answers say; [`RuleError::Failed`] for fields that cannot be read.
    pub fn push(
        &mut self,
        stored: &StoredRecord,
        holders: Vec<(i64, Id)>,
        answers: &mut dyn LookupSource,
    ) -> Result<(), RuleError> {
        let record = &stored.record;
        let (kind, id) = (record.kind(), record.meta().id.clone());
        let at = || ChangeTarget::new(kind, id.clone(), StoredRecord::NEW);
        let (name, emails) = found_by(record)?;
        let identifiers = record.meta().identifiers.to_vec();
        // What it comes to follows from what is behind it.
        let mut new = record.clone();
        new.reset_computed();
        let mut insert = InsertRecord::new(new);
        insert.identifiers = identifiers;
        insert.name = name;
        insert.emails = emails;
        self.changes.push(Change::Insert(Box::new(insert)));
        if let Some(members) = kind
            .schema()
            .fields
            .fields
            .iter()
            .filter_map(FieldSpec::source)
            .find_map(summed)
        {
            let (of, key) = ((kind, id.clone()), LookupKey::Id(kind, id.clone()));
            if let LookupResult::Sum(sum) = answers.answer(&Lookup::Sum(key.clone()))?
                // 0.0 is sent with its digits.
                && (sum != Totals::default() || sum.amount.to_string() != "0")
            {
                self.changes.push(Change::SetSum {
                    of: of.clone(),
                    members,
                    sum,
                });
            }
            if let LookupResult::Parts(parts) = answers.answer(&Lookup::Parts(key))? {
                let part = |(name, sum)| Change::SetPart {
                    of: of.clone(),
                    name,
                    sum,
                };
                self.changes.extend(parts.into_iter().map(part));
            }
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
                start,
                stop,
            });
        }
        self.changes
            .extend(holders.into_iter().map(|(place, person)| Change::Hold {
                at: at(),
                place,
                person,
            }));
        self.records = self.records.saturating_add(1);
        Ok(())
    }

    /// Adds something to send: it is tried from the beginning there.
    pub fn push_outbox(&mut self, dispatch: OutboxEntry) {
        self.changes.push(Change::Outbox(Box::new(dispatch)));
    }
}

/// The kind whose sums are noted for this source.
fn summed(source: ComputedSource) -> Option<Kind> {
    match source {
        ComputedSource::Accepted(members)
        | ComputedSource::Number(members)
        | ComputedSource::Sum(members) => Some(members),
        _ => None,
    }
}

/// The unique name of a record, and the addresses that a person is found by.
pub(super) fn found_by(record: &RawRecord) -> Result<(Option<String>, Vec<String>)> {
    let unique = record.kind().schema().unique_name();
    let is_person = record.kind() == Kind::Person;
    if unique.is_none() && !is_person {
        return Ok((None, Vec::new()));
    }
    let fields = record.to_fields(&ShareNames::default())?;
    let name = unique
        .and_then(|field| fields.get(field.name))
        .and_then(Json::as_str)
        .map(str::to_owned);
    Ok((
        name,
        if is_person {
            distinct_emails(&fields)
        } else {
            Vec::new()
        },
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_comes_after_those_that_it_leads_to() {
        assert_eq!(order().len(), Kind::ALL.len());
        for (place, kind) in order().iter().enumerate() {
            for reference in kind
                .schema()
                .references()
                .iter()
                .filter(|reference| reference.kind != *kind)
            {
                assert!(
                    order()[..place].contains(&reference.kind),
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
            let there = here.after(17);
            assert_eq!(there.to_string().parse::<ExportPosition>().unwrap(), there);
            kinds.push(here.kind());
            position = there.behind();
        }
        let expected: Vec<_> = order().iter().copied().map(Some).chain([None]).collect();
        assert_eq!(kinds, expected);
        for text in ["", "people", "people:", "people:x", "unicorns:1"] {
            assert!(text.parse::<ExportPosition>().is_err(), "{text}");
        }
    }
}
