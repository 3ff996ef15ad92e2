//! Pages of a filtered or ordered collection: by keys, each an index lookup, or along the index
//! of a date. Each takes one round trip.
//!
//! Requirements: FLT-05 to FLT-08.

use svc_core::{
    Error,
    filter::{DateRange, FilterField, IndexKey, MAX_KEY_MATCHES, QueryPlan},
    link::{RecordAddress, Scope},
    model::Kind,
    raw::RawPage,
    store::{Lookup, LookupKey, StoredRecord},
};
use svc_store::{cursor::OrderedPageStart, lookup, ordered_pages::OrderedPages};
use uuid::Uuid;

use crate::{
    database::DatabaseHandle,
    error::{Result, StoreError},
    lookups::LookupBatch,
    page::decode_records,
    pipeline::{SqlQuery, values},
    rows::{code, stored},
};

impl DatabaseHandle {
    /// Returns a page of a filter on the collection of all records of a kind.
    pub(crate) async fn filtered(
        &self,
        kind: Kind,
        ordered: OrderedPages<'_>,
        plan: &QueryPlan,
    ) -> Result<RawPage> {
        if ordered.request.scope != Scope::All {
            return Err(Error::not_found().into());
        }
        match plan {
            QueryPlan::Keys(points) => self.of_points(kind, ordered, points).await,
            QueryPlan::DateRange(range) => self.of_range(kind, ordered, range).await,
            _ => Err(StoreError::unexpected(
                "this store does not support the plan",
            )),
        }
    }

    /// Returns the records that exist at these addresses, in any order.
    pub(crate) async fn records_at(
        &self,
        tenant: i64,
        addresses: &[RecordAddress],
    ) -> Result<Vec<StoredRecord>> {
        let questions = addresses.iter().map(|at| Lookup::Record(at.into()));
        let mut fetch = LookupBatch::new(&self.texts, tenant, questions.collect());
        let queries = fetch.take_queries();
        if queries.is_empty() {
            return Ok(Vec::new());
        }
        let given = self.read(tenant, queries).await?;
        fetch.records(&given)
    }

    async fn of_points(
        &self,
        kind: Kind,
        ordered: OrderedPages<'_>,
        points: &[IndexKey],
    ) -> Result<RawPage> {
        let (mut questions, mut emails) = (Vec::new(), Vec::new());
        for point in points {
            match point {
                IndexKey::Email(address) => {
                    emails.push(Uuid::from_bytes(lookup::hash_email(address)));
                }
                point => questions.push(Lookup::Record(LookupKey::from_index_key(kind, point))),
            }
        }
        let mut fetch = LookupBatch::new(&self.texts, ordered.tenant, questions);
        let mut queries = fetch.take_queries();
        let asked = queries.len();
        if !emails.is_empty() {
            // One more than the limit shows that there are too many.
            let most = i64::try_from(MAX_KEY_MATCHES.saturating_add(1)).unwrap_or(i64::MAX);
            queries.push(SqlQuery::new(
                &*self.texts.by_emails,
                values![ordered.tenant, emails, most],
            ));
        }
        if queries.is_empty() {
            return Ok(ordered.page_of_matches(Vec::new())?);
        }
        let given = self.read(ordered.tenant, queries).await?;
        let (one_by_one, people) = given.split_at_checked(asked).unwrap_or((&given, &[]));
        let mut found = fetch.records(one_by_one)?;
        for row in people.iter().flatten() {
            found.push(stored(row, 0)?);
        }
        Ok(ordered.page_of_matches(found)?)
    }

    async fn of_range(
        &self,
        kind: Kind,
        ordered: OrderedPages<'_>,
        range: &DateRange,
    ) -> Result<RawPage> {
        let (tenant, kind, whole) = (ordered.tenant, code(kind), range.is_unbounded());
        let date = match range.field {
            FilterField::CreatedDate => 0,
            FilterField::ModifiedDate => 1,
            _ => return Err(StoreError::unexpected("a range without a date")),
        };
        let text = |texts: &'_ [String; 2]| texts.get(date).cloned().unwrap_or_default();
        let limit = i64::from(ordered.request.page.size).saturating_add(1);
        let (known, query) = match ordered.start() {
            OrderedPageStart::After(mark) => {
                let values = values![tenant, kind, mark.time, mark.row, range.to, limit];
                (
                    Some(mark.total),
                    SqlQuery::new(text(&self.texts.dated_after), values),
                )
            }
            OrderedPageStart::Offset(position) => {
                let texts = if position == 0 {
                    &self.texts.dated_first
                } else {
                    &self.texts.dated_jump
                };
                let position = i64::try_from(position).unwrap_or(i64::MAX);
                (
                    None,
                    SqlQuery::new(
                        text(texts),
                        values![tenant, kind, range.from, position, range.to, limit, whole],
                    ),
                )
            }
        };
        let given = self.read(tenant, vec![query]).await?;
        let rows = given.first().map_or(&[][..], Vec::as_slice);
        let (total, first) = match (known, rows.first()) {
            (Some(total), _) => (total, 0),
            (None, Some(row)) => (
                u64::try_from(row.try_get::<_, i64>(0)?).unwrap_or_default(),
                1,
            ),
            (None, None) => return Err(StoreError::unexpected("a page without a total")),
        };
        Ok(ordered.page_of_range(decode_records(rows, first)?, total))
    }
}
