//! Pages of a collection that is filtered or ordered, from what a store has found.
//!
//! Requirements: FLT-05 to FLT-08.

use svc_core::store::StoredRecord;
use svc_core::{
    error::{Error, ErrorCode, Problem, Result},
    filter::{FILTER, Filter, FilterExpr, MOST_FOUND, matches},
    page::{ListRequest, NextPage, RawPage},
};

use crate::cursor::{CursorCodec, OrderedPageStart, OrderedPosition};

/// A filtered or ordered collection of a tenant.
#[derive(Debug, Clone, Copy)]
pub struct OrderedPages<'a> {
    /// The cursors of the store.
    pub cursors: &'a CursorCodec,
    /// The tenant's number.
    pub tenant: i64,
    /// The name of the collection.
    pub collection: &'a [u8],
    /// What was asked for.
    pub request: &'a ListRequest,
}

impl OrderedPages<'_> {
    /// The page of the records that the points of a filter lead to, and of no others, whatever
    /// their order and however often each is among them. More than [`MOST_FOUND`] need not be
    /// looked up.
    ///
    /// # Errors
    ///
    /// Where that are too many, and where the fields of a stored record are to be compared and are
    /// not JSON.
    pub fn of_points(&self, mut found: Vec<StoredRecord>) -> Result<RawPage> {
        found.sort_unstable_by_key(|stored| stored.row);
        found.dedup_by_key(|stored| stored.row);
        if found.len() > MOST_FOUND {
            let text = format!(
                "{{property}} leads to more than {MOST_FOUND} records. Ask for less at once."
            );
            return Err(Error::invalid(Problem::new(
                ErrorCode::FilterInvalid,
                FILTER,
                text,
            )));
        }
        // What the points lead to fits already where each alternative is one point.
        let tree = self
            .request
            .filter
            .as_ref()
            .map(Filter::tree)
            .filter(|tree| !is_of_points_alone(tree));
        if let Some(tree) = tree {
            let mut kept = Vec::with_capacity(found.len());
            for stored in found {
                if matches(tree, &stored.record)? {
                    kept.push(stored);
                }
            }
            found = kept;
        }
        found.sort_by_key(|stored| self.request.sort_key(&stored.record));
        let total = found.len() as u64;
        let begin = match self.start() {
            OrderedPageStart::After(mark) => {
                let place =
                    |stored: &StoredRecord| (self.request.sort_key(&stored.record), stored.row);
                found.partition_point(|stored| place(stored) <= (mark.time, mark.row))
            }
            OrderedPageStart::At(position) => usize::try_from(position).unwrap_or(usize::MAX),
        };
        found.drain(..begin.min(found.len()));
        Ok(self.of_range(found, total))
    }

    /// Where the page begins.
    #[must_use]
    pub fn start(&self) -> OrderedPageStart {
        self.cursors
            .ordered_start(self.tenant, self.collection, self.request)
    }

    /// The page of a range: the records behind its start, one more than the page has where more
    /// follow.
    #[must_use]
    pub fn of_range(&self, mut found: Vec<StoredRecord>, total: u64) -> RawPage {
        let size = usize::try_from(self.request.page.size).unwrap_or(usize::MAX);
        let more = found.len() > size;
        found.truncate(size);
        let mark = |stored: &StoredRecord| {
            OrderedPosition::new(self.request.sort_key(&stored.record), stored.row, total)
        };
        let next = self.next(found.last().filter(|_| more).map(mark));
        RawPage::new(
            found.into_iter().map(|stored| stored.record).collect(),
            total,
        )
        .with_next(next)
    }

    fn next(&self, last: Option<OrderedPosition>) -> NextPage {
        self.cursors
            .ordered_next(self.tenant, self.collection, self.request, last)
    }
}

/// Whether each comparison of a tree that [points](svc_core::filter::Plan::Points) are looked up
/// for is one of these points.
fn is_of_points_alone(tree: &FilterExpr) -> bool {
    match tree {
        FilterExpr::Is(_) => true,
        FilterExpr::Any(trees) => trees.iter().all(is_of_points_alone),
        FilterExpr::All(_) => false,
    }
}
