//! Exports all data of a tenant as changes, for another store.

use rusqlite::Connection;
use svc_core::{backend::OutboxEntry, model::Kind};
use svc_store::{
    TenantDeltas,
    transfer::{ExportBatch, ExportPosition},
};

use crate::{
    aliases, duplicates,
    error::{Result, StoreError},
    lookups::{SqliteLookups, holders},
    merges,
    record_id::RecordId,
    rows::records_after,
    schema::table,
    tenant_deltas::last_write_timestamp,
};

/// Returns the batch that starts at a position, with this many records and responses at most.
pub(crate) fn batch(
    file: &Connection,
    tenant: i64,
    from: ExportPosition,
    most: usize,
) -> Result<ExportBatch> {
    let mut batch = ExportBatch::new(last_write_timestamp(
        file,
        &TenantDeltas::default(),
        tenant,
    )?);
    let mut answers = SqliteLookups::new(file, tenant);
    batch.next = Some(from);
    let mut room = most.max(1);
    while let Some(at) = batch.next.filter(|_| room > 0) {
        let Some(kind) = at.kind() else {
            let responses = outbox(file, tenant, at.row(), room)?;
            batch.next = if responses.len() < room {
                None
            } else {
                responses.last().map(|(row, _)| at.after_row(*row))
            };
            for (_, dispatch) in responses {
                batch.push_outbox(dispatch);
            }
            break;
        };
        let page = records_after(file, tenant, kind, at.row(), room)?;
        for stored in &page.records {
            let holders = holders(file, tenant, kind, stored.row)?;
            let holders = holders
                .into_iter()
                .map(|(place, person)| (place, person.to_id()))
                .collect();
            let pushed = batch.push(stored, holders, &mut answers);
            pushed.map_err(|pause| answers.failure(pause, |error| error))?;
            if kind == Kind::Person {
                let to = &stored.record.meta().id;
                let person = RecordId::try_parse(to)?;
                for from in aliases::of(file, tenant, person)? {
                    batch.push_forwarded_person(from.to_id(), to.clone());
                }
                for merge in merges::of(file, tenant, person)? {
                    batch.push_merge(merge);
                }
                for apart in duplicates::apart_from(file, tenant, person)? {
                    batch.push_apart(apart);
                }
            }
        }
        batch.next = if page.is_last {
            at.next_kind()
        } else {
            page.records.last().map(|last| at.after_row(last.row))
        };
        // A batch that ends inside a kind is full.
        room = if page.is_last {
            room.saturating_sub(page.records.len())
        } else {
            0
        };
    }
    Ok(batch)
}

/// Returns the number of records of a tenant, over all kinds.
pub(crate) fn records(file: &Connection, tenant: i64) -> Result<u64> {
    let mut total = file
        .prepare_cached("SELECT COALESCE(SUM(records), 0) FROM total WHERE tenant = ?1 AND kind = ?2 AND scope = ?3")?;
    let mut all = 0_u64;
    for members in Kind::ALL.iter().map(|kind| table(*kind)) {
        let container = members
            .parent
            .and_then(|parent| members.columns.get(parent));
        let container = container.filter(|_| !members.kind.schema().has_collection());
        let scope = container.map_or(0, |column| table(column.kind).code);
        let records: i64 = total.query_row((tenant, members.code, scope), |row| row.get(0))?;
        all = all.saturating_add(u64::try_from(records).unwrap_or_default());
    }
    Ok(all)
}

/// Returns the outbox entries after a row, with their rows.
fn outbox(
    file: &Connection,
    tenant: i64,
    after: i64,
    most: usize,
) -> Result<Vec<(i64, OutboxEntry)>> {
    let mut statement = file.prepare_cached(
        "SELECT seq, body FROM outbox WHERE tenant = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3",
    )?;
    let rows = statement.query_and_then(
        (tenant, after, i64::try_from(most).unwrap_or(i64::MAX)),
        |row| {
            let dispatch = OutboxEntry::parse(row.get_ref(1)?.as_str()?);
            Ok((
                row.get(0)?,
                dispatch.ok_or_else(|| {
                    StoreError::unexpected("an outbox entry was written by another version")
                })?,
            ))
        },
    )?;
    rows.collect()
}
