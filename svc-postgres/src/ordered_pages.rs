//! Pages of a filtered or ordered collection: by keys, each an index lookup, or along the index
//! of a date or a text. Each takes one round trip.
//!
//! Requirements: FLT-05 to FLT-08.

use svc_core::{
    Error,
    filter::{FilterField, FindKey, IndexKey, KeyRange, MAX_KEY_MATCHES, QueryPlan, SortKey},
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
    pipeline::{SqlQuery, SqlValue, columns, of_tenant, values},
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
            QueryPlan::Range(range) => self.of_range(kind, ordered, range).await,
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
        let (mut questions, mut emails, mut texts) = (Vec::new(), Vec::new(), Vec::new());
        for point in points {
            if let IndexKey::Find(FindKey::Email(address)) = point {
                emails.push(Uuid::from_bytes(lookup::hash_email(address)));
            } else if let Some((field, first, last)) = point.texts() {
                texts.push((field.as_str().to_owned(), first, last));
            } else if let Some(key) = LookupKey::from_index_key(kind, point) {
                questions.push(Lookup::Record(key));
            } else {
                return Err(StoreError::unexpected("an unknown key of an index"));
            }
        }
        let mut fetch = LookupBatch::new(&self.texts, ordered.tenant, questions);
        let mut queries = fetch.take_queries();
        let asked = queries.len();
        // One more than the limit shows that there are too many.
        let most = i64::try_from(MAX_KEY_MATCHES.saturating_add(1)).unwrap_or(i64::MAX);
        if !texts.is_empty() {
            let parts = [columns!(texts; 0, 1, 2), values![code(kind), most]];
            queries.push(SqlQuery::new(
                &*self.texts.by_texts,
                of_tenant(ordered.tenant, parts),
            ));
        }
        if !emails.is_empty() {
            queries.push(SqlQuery::new(
                &*self.texts.by_emails,
                values![ordered.tenant, emails, most],
            ));
        }
        if queries.is_empty() {
            return Ok(ordered.page_of_matches(Vec::new())?);
        }
        let given = self.read(ordered.tenant, queries).await?;
        let (one_by_one, several) = given.split_at_checked(asked).unwrap_or((&given, &[]));
        let mut found = fetch.records(one_by_one)?;
        for row in several.iter().flatten() {
            found.push(stored(row, 0)?);
        }
        Ok(ordered.page_of_matches(found)?)
    }

    async fn of_range(
        &self,
        kind: Kind,
        ordered: OrderedPages<'_>,
        range: &KeyRange,
    ) -> Result<RawPage> {
        let (tenant, kind) = (ordered.tenant, code(kind));
        let texts = &*self.texts;
        let by = match range.field {
            FilterField::CreatedDate => 0,
            FilterField::ModifiedDate => 1,
            _ => 2,
        };
        let text = |texts: &'_ [String; 3]| texts.get(by).cloned().unwrap_or_default();
        let size = i64::from(ordered.request.page.size).saturating_add(1);
        let head = vec![SqlValue::from(tenant), SqlValue::from(kind)];
        let (known, text, start, whole) = match ordered.start() {
            OrderedPageStart::After(mark) => {
                let start = [value(&mark.key), SqlValue::from(mark.row)];
                (Some(mark.total), text(&texts.range_after), start, None)
            }
            OrderedPageStart::Offset(position) => {
                let text = text(if position == 0 {
                    &texts.range_first
                } else {
                    &texts.range_jump
                });
                let position = i64::try_from(position).unwrap_or(i64::MAX);
                let start = [value(&range.from), SqlValue::from(position)];
                (None, text, start, Some(range.is_unbounded()))
            }
        };
        let last = match range.from {
            SortKey::Date(_) => whole.map(SqlValue::from),
            SortKey::Text(_) => Some(SqlValue::from(range.field.as_str().to_owned())),
        };
        let end = [value(&range.to), SqlValue::from(size)];
        let parameters = head
            .into_iter()
            .chain(start)
            .chain(end)
            .chain(last)
            .collect();
        let query = SqlQuery::new(text, parameters);
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
        Ok(ordered.page_of_range(decode_records(rows, first)?, total)?)
    }
}

fn value(key: &SortKey) -> SqlValue {
    match key {
        SortKey::Date(micros) => SqlValue::from(*micros),
        SortKey::Text(text) => SqlValue::from(text.clone()),
    }
}
