//! Pages of a filtered or ordered collection, built from the records that a store has found.
//!
//! Requirements: FLT-05 to FLT-08.

use svc_core::store::StoredRecord;
use svc_core::{
    error::{Error, ErrorCode, Problem, Result},
    filter::{FILTER, Filter, FilterExpr, FilterSource, MAX_KEY_MATCHES, QueryPlan, matches},
    page::{ListRequest, NextPage, RawPage},
};

use crate::cursor::{CursorCodec, OrderedPageStart, OrderedPosition};

/// A filtered or ordered collection of a tenant.
#[derive(Debug, Clone, Copy)]
pub struct OrderedPages<'a> {
    /// The cursor codec of the store.
    pub cursors: &'a CursorCodec,
    /// The number of the tenant.
    pub tenant: i64,
    /// The name of the collection.
    pub collection: &'a [u8],
    /// The request.
    pub request: &'a ListRequest,
}

impl OrderedPages<'_> {
    /// Returns the page of the records that match the index keys of a filter.
    ///
    /// `found` contains the records of all keys, in any order and possibly repeated. A store does
    /// not need to look up more than one record above [`MAX_KEY_MATCHES`].
    ///
    /// # Errors
    ///
    /// Returns an error if there are more records, or if a stored record must be compared and its
    /// fields are not JSON.
    pub fn page_of_matches(&self, mut found: Vec<StoredRecord>) -> Result<RawPage> {
        found.sort_unstable_by_key(|stored| stored.row);
        found.dedup_by_key(|stored| stored.row);
        if found.len() > MAX_KEY_MATCHES {
            let text = format!(
                "The texts or e-mail addresses in {{property}} find more than {MAX_KEY_MATCHES} records. Use a longer text, or \
                 compare a text without other comparisons."
            );
            return Err(Error::invalid(Problem::new(
                ErrorCode::FilterInvalid,
                FILTER,
                text,
            )));
        }
        // If each alternative is a single index key, the records match without another check.
        let tree = self
            .request
            .filter
            .as_ref()
            .map(Filter::tree)
            .filter(|tree| !has_only_keys(tree));
        if let Some(tree) = tree {
            let mut kept = Vec::with_capacity(found.len());
            for stored in found {
                if matches(tree, &stored.record)? {
                    kept.push(stored);
                }
            }
            found = kept;
        }
        let mut keyed = Vec::with_capacity(found.len());
        for stored in found {
            keyed.push((self.request.sort_key(&stored.record)?, stored));
        }
        keyed.sort_by(|(one, _), (other, _)| one.cmp(other));
        let total = keyed.len() as u64;
        let begin = match self.start() {
            OrderedPageStart::After(mark) => {
                keyed.partition_point(|(key, stored)| (key, stored.row) <= (&mark.key, mark.row))
            }
            OrderedPageStart::Offset(position) => usize::try_from(position).unwrap_or(usize::MAX),
        };
        let rest = keyed.into_iter().skip(begin).map(|(_, stored)| stored);
        self.page_of_range(rest.collect(), total)
    }

    /// Returns the start of the page. A cursor outside the range of the request is ignored, such as
    /// that of a record whose text is not the one in the index.
    #[must_use]
    pub fn start(&self) -> OrderedPageStart {
        let start = self
            .cursors
            .decode_ordered(self.tenant, self.collection, self.request);
        let plan = self.request.planned().ok().flatten();
        match (&start, plan.as_deref()) {
            (OrderedPageStart::After(mark), Some(QueryPlan::Range(range)))
                if mark.key < range.from || mark.key > range.to =>
            {
                OrderedPageStart::Offset(self.request.page.records_before())
            }
            _ => start,
        }
    }

    /// Returns the page of a range. `found` contains the records after its start, with one more
    /// than the page size if there are more.
    ///
    /// # Errors
    ///
    /// Returns an error if the records are ordered by a text, and the fields of the last record are
    /// not JSON.
    pub fn page_of_range(&self, mut found: Vec<StoredRecord>, total: u64) -> Result<RawPage> {
        let size = usize::try_from(self.request.page.size).unwrap_or(usize::MAX);
        let more = found.len() > size;
        found.truncate(size);
        let mark = |stored: &StoredRecord| {
            let key = self.request.sort_key(&stored.record)?;
            Ok::<_, Error>(OrderedPosition::new(key, stored.row, total))
        };
        let last = found.last().filter(|_| more);
        let next = self.next(last.map(mark).transpose()?);
        let records = found.into_iter().map(|stored| stored.record).collect();
        Ok(RawPage::new(records, total).with_next(next))
    }

    fn next(&self, last: Option<OrderedPosition>) -> NextPage {
        self.cursors
            .encode_next_ordered(self.tenant, self.collection, self.request, last)
    }
}

/// Returns whether each comparison of an expression is an index key of its
/// [keys](svc_core::filter::QueryPlan::Keys) that finds only records that match. A name also finds a
/// record whose name has another case.
fn has_only_keys(tree: &FilterExpr) -> bool {
    match tree {
        FilterExpr::Compare(term) => term.field.source() != FilterSource::UniqueName,
        FilterExpr::Or(trees) => trees.iter().all(has_only_keys),
        FilterExpr::And(_) => false,
    }
}
