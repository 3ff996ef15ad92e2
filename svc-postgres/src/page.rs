//! Pages of a collection.

use svc_core::{
    Error, ListRequest,
    model::Kind,
    raw::{RawPage, RawRecord},
    store::StoredRecord,
};
use svc_store::{
    cursor::{CursorCodec, PageStart, REREADS},
    ordered_pages::OrderedPages,
};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::{
    collection_query::CollectionQuery,
    database::DatabaseHandle,
    error::{Result, StoreError},
    page_jumps::PageJumps,
    rows::stored,
};

impl DatabaseHandle {
    /// Returns a page of a collection.
    pub(crate) async fn page(
        &self,
        jumps: &PageJumps,
        cursors: &CursorCodec,
        tenant: i64,
        kind: Kind,
        request: &ListRequest,
    ) -> Result<RawPage> {
        let ListRequest { scope, page, .. } = request;
        let place = CollectionQuery::of(tenant, kind, scope)?;
        let collection = place.collection();
        if let Some(plan) = request.query_plan()? {
            return self
                .filtered(
                    kind,
                    OrderedPages {
                        cursors,
                        tenant,
                        collection: &collection,
                        request,
                    },
                    &plan,
                )
                .await;
        }
        let start = cursors.decode(tenant, &collection, page);
        // One more than the page shows whether others follow.
        let limit = i64::from(page.size).saturating_add(1);
        let mut rereads = REREADS;
        loop {
            let after = match start {
                PageStart::AfterRow(row) => row,
                PageStart::Offset(position) => {
                    jumps.to(self, &place, position).await?.unwrap_or(i64::MAX)
                }
            };
            let (queries, first) = if self.topology.splits_pages() {
                (place.routed(&self.texts, after, limit).into(), 0)
            } else {
                (vec![place.page_sql(&self.texts, after, limit)], 2)
            };
            let read = |given: Vec<Vec<Row>>| read(&given, &place, first, page.size);
            let found = |read: Read| {
                let next = cursors.encode_next(tenant, &collection, page, read.last);
                RawPage::new(read.records, read.total).with_next(next)
            };
            let page_found = found(read(self.read(tenant, queries).await?)?);
            if rereads == 0 || start.agrees(page, &page_found) {
                return Ok(page_found);
            }
            // The start is not of the same snapshot as the records, so one statement finds both.
            if let PageStart::Offset(position) = start
                && !self.topology.splits_pages()
            {
                let query = place.whole_at(&self.texts, position, limit);
                return Ok(found(read(self.read(tenant, vec![query]).await?)?));
            }
            rereads = rereads.saturating_sub(1);
        }
    }
}

/// The results of the statements of a page.
struct Read {
    records: Vec<RawRecord>,
    /// The row of the last record, if more follow.
    last: Option<i64>,
    /// The number of records in the collection.
    total: u64,
}

fn read(given: &[Vec<Row>], place: &CollectionQuery, first: usize, size: u32) -> Result<Read> {
    let total = given.first().and_then(|rows| rows.first());
    let total = total.ok_or_else(|| StoreError::unexpected("a page without a total"))?;
    if !place.has_owner(total.try_get::<_, Option<Vec<Option<Uuid>>>>(1)?.as_deref()) {
        return Err(Error::not_found().into());
    }
    let size = usize::try_from(size).unwrap_or(usize::MAX);
    let (records, last) = records(given.last().map_or(&[][..], Vec::as_slice), first, size)?;
    let total: i64 = total.try_get(0)?;
    Ok(Read {
        records,
        last,
        total: u64::try_from(total).unwrap_or_default(),
    })
}

/// Returns the records in the rows of a page, whose columns begin at `first`.
pub(crate) fn decode_records(rows: &[Row], first: usize) -> Result<Vec<StoredRecord>> {
    let mut records = Vec::with_capacity(rows.len());
    for row in rows {
        // A page without records has one row, for the total.
        if row.try_get::<_, Option<i16>>(first)?.is_some() {
            records.push(stored(row, first)?);
        }
    }
    Ok(records)
}

/// Returns the records of a page, and the row of the last one if more follow.
fn records(rows: &[Row], first: usize, size: usize) -> Result<(Vec<RawRecord>, Option<i64>)> {
    let mut records = decode_records(rows, first)?;
    let more = records.len() > size;
    records.truncate(size);
    let last = records.last().filter(|_| more).map(|stored| stored.row);
    Ok((
        records.into_iter().map(|stored| stored.record).collect(),
        last,
    ))
}
