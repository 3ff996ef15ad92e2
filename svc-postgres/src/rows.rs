//! Rows of the table `record` as records.

use bytes::Bytes;
use svc_core::{
    link::Address,
    model::Kind,
    raw::RawRecord,
    record::{Computed, Identifiers, Meta},
    schema::Source,
    store::Stored,
    value::{Amount, Id, Timestamp},
};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::{
    error::{Result, StoreError},
    layout::{SLOTS, kind_of, layout},
};

/// How many columns a record has in what a statement gives.
pub(crate) const COLUMNS: usize = 22;

/// The id of a record that is in this database, or comes into it.
pub(crate) fn known(id: &Id) -> Result<Uuid> {
    id.uuid()
        .ok_or_else(|| StoreError::unexpected(format!("{id} is no canonical UUID")))
}

/// The record whose columns begin at `first`, as [`columns`](crate::texts) names them.
pub(crate) fn stored(row: &Row, first: usize) -> Result<Stored> {
    let at = |offset: usize| first.saturating_add(offset);
    let kind = kind_of(row.try_get(at(0))?)
        .ok_or_else(|| StoreError::unexpected("a stored record of no kind"))?;
    let layout = layout(kind);
    let mut meta = Meta::new(
        row.try_get::<_, Uuid>(at(2))?.into(),
        Timestamp::from_micros(row.try_get(at(3))?),
    );
    meta.modified = Timestamp::from_micros(row.try_get(at(4))?);
    meta.identifiers = Identifiers::from_stored(row.try_get(at(5))?);
    let body: &[u8] = row.try_get(at(6))?;
    let mut record = RawRecord::stored(kind, meta, Bytes::copy_from_slice(body));
    for (reference, column) in layout.columns() {
        let slot = SLOTS.iter().position(|slot| *slot == column);
        let Some(to) =
            row.try_get::<_, Option<Uuid>>(at(slot.map_or(11, |slot| slot.saturating_add(7))))?
        else {
            continue;
        };
        let home = match slot.filter(|_| reference.home_link().is_some()) {
            Some(slot) => row.try_get::<_, Option<Uuid>>(at(slot.saturating_add(18)))?,
            None => None,
        };
        record.add_link(
            reference.name,
            Address::new(reference.kind, to.into(), home.map(Id::from)).into(),
        );
    }
    for (name, source) in &layout.table.computed {
        if let Some(value) = computed(row, first, *source)? {
            record.add_computed(name, value);
        }
    }
    Ok(Stored::new(row.try_get(at(1))?, record))
}

fn computed(row: &Row, first: usize, source: Source) -> Result<Option<Computed>> {
    let at = |offset: usize| first.saturating_add(offset);
    let count = |offset| {
        Ok::<_, StoreError>(
            row.try_get::<_, Option<i64>>(at(offset))?
                .unwrap_or_default(),
        )
    };
    let moment = |offset| {
        Ok::<_, StoreError>(
            row.try_get::<_, Option<i64>>(at(offset))?
                .map(Timestamp::from_micros),
        )
    };
    Ok(match source {
        Source::Outside => Some(Computed::Count(0)),
        Source::Relation(kind) => Some(Computed::Relation(kind)),
        Source::Count(_) => Some(Computed::Count(count(14)?)),
        Source::Accepted(_) => Some(Computed::Count(count(15)?)),
        Source::Number(_) => Some(Computed::Count(count(16)?)),
        Source::Sum(_) => {
            let text: Option<&str> = row.try_get(at(17))?;
            Some(Computed::Amount(
                text.and_then(Amount::parse).unwrap_or_default(),
            ))
        }
        Source::ScheduledStart => moment(12)?.map(Computed::Timestamp),
        Source::ScheduledStop => moment(13)?.map(Computed::Timestamp),
        // Sent with every record, from its own columns.
        Source::Clock => None,
    })
}

/// The kind's code, which every key begins with.
pub(crate) fn code(kind: Kind) -> i16 {
    layout(kind).code
}
