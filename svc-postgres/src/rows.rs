//! Conversion of the rows of the table `record` to records.

use bytes::Bytes;
use svc_core::{
    link::RecordAddress,
    model::Kind,
    raw::RawRecord,
    record::{ComputedValue, Identifiers, Meta},
    schema::ComputedSource,
    store::{StoredRecord, Totals},
    value::{Id, Timestamp},
};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::{
    error::{Result, StoreError},
    record_layout::{SLOTS, kind_of, layout},
};

/// Number of columns of a record in the result of a statement.
pub(crate) const COLUMNS: usize = 20;

/// Returns the id of a record that is in this database or is added to it.
pub(crate) fn try_parse(id: &Id) -> Result<Uuid> {
    id.as_uuid()
        .ok_or_else(|| StoreError::unexpected(format!("{id} is not a canonical UUID")))
}

/// Returns the record whose columns begin at `first`, as [`columns`](crate::statements) names them.
pub(crate) fn stored(row: &Row, first: usize) -> Result<StoredRecord> {
    let at = |offset: usize| first.saturating_add(offset);
    let kind = kind_of(row.try_get(at(0))?)
        .ok_or_else(|| StoreError::unexpected("a stored record has no kind"))?;
    let layout = layout(kind);
    let mut meta = Meta::new(
        row.try_get::<_, Uuid>(at(2))?.into(),
        Timestamp::from_micros(row.try_get(at(3))?),
    );
    meta.modified = Timestamp::from_micros(row.try_get(at(4))?);
    meta.identifiers = Identifiers::from_stored(row.try_get(at(5))?);
    let body: &[u8] = row.try_get(at(6))?;
    let mut record = RawRecord::from_wire(kind, meta, Bytes::copy_from_slice(body));
    for (reference, column) in layout.columns() {
        let slot = SLOTS.iter().position(|slot| *slot == column);
        let Some(to) =
            row.try_get::<_, Option<Uuid>>(at(slot.map_or(11, |slot| slot.saturating_add(7))))?
        else {
            continue;
        };
        let home = match slot.filter(|_| reference.container_link().is_some()) {
            Some(slot) => row.try_get::<_, Option<Uuid>>(at(slot.saturating_add(16)))?,
            None => None,
        };
        record.add_link(
            reference.name,
            RecordAddress::new(reference.kind, to.into(), home.map(Id::from)).into(),
        );
    }
    for (name, source) in &layout.table.computed {
        if let Some(value) = computed(row, first, name, *source)? {
            record.add_computed(name, value);
        }
    }
    Ok(StoredRecord::new(row.try_get(at(1))?, record))
}

fn computed(
    row: &Row,
    first: usize,
    field: &str,
    source: ComputedSource,
) -> Result<Option<ComputedValue>> {
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
        ComputedSource::AlwaysZero => Some(ComputedValue::Count(0)),
        ComputedSource::Relation(kind) => Some(ComputedValue::Relation(kind)),
        ComputedSource::Count(_) => Some(ComputedValue::Count(count(14)?)),
        ComputedSource::Measure(measure) => {
            let text: Option<&str> = row.try_get(at(15))?;
            Some(Totals::value_in(text.unwrap_or_default(), field, measure))
        }
        ComputedSource::ScheduledStart => moment(12)?.map(ComputedValue::Timestamp),
        ComputedSource::ScheduledStop => moment(13)?.map(ComputedValue::Timestamp),
        // These values are in columns of every record, in the body, or nowhere.
        ComputedSource::Clock
        | ComputedSource::Part(_)
        | ComputedSource::Former(_)
        | ComputedSource::AlwaysAbsent => None,
    })
}

/// Returns the code of the kind, with which every key begins.
pub(crate) fn code(kind: Kind) -> i16 {
    layout(kind).code
}
