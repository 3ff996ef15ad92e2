//! Pages of a collection.
//!
//! Requirements: COL-20 to COL-31, UND-14, UND-19.

pub(crate) mod raw;
mod request;

pub use raw::RawPage;
#[doc(hidden)]
pub use request::{PageParameters, ParsedPageRequest, decoded, is_token, pairs};
pub use request::{PageRequest, ParameterValues, QueryParameter};

use std::{borrow::Cow, collections::HashSet};

use crate::{
    error::{Error, Result},
    filter::{
        Filter, FilterError, FilterField, FilterSource, KeyRange, QueryPlan, SortKey, matches,
        text_keys,
    },
    link::{Scope, ShareNames},
    model::Resource,
    record::{RawRecord, Record},
};

/// A request to read a collection: its scope, and the page.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListRequest {
    /// The scope: which records of the kind.
    ///
    /// Requirements: COL-01, COL-04 to COL-18.
    pub scope: Scope,
    /// The page.
    ///
    /// Requirements: COL-20.
    pub page: PageRequest,
    /// Selects records. It is present only if a [`FilterField`] is registered for the kind; it
    /// compares registered fields only and has a [plan](Self::query_plan).
    ///
    /// Requirements: FLT-01.
    pub filter: Option<Filter>,
    /// The date that the records are ordered by, then by creation; without it, they are in creation
    /// order.
    ///
    /// Requirements: FLT-09.
    pub order: Option<FilterField>,
}

impl ListRequest {
    /// Creates a request for one page of the records in a scope.
    #[must_use]
    pub fn new(scope: Scope, page: PageRequest) -> Self {
        Self {
            scope,
            page,
            filter: None,
            order: None,
        }
    }

    /// Selects the records that match a filter.
    #[must_use]
    pub fn with_filter(self, filter: Filter) -> Self {
        Self {
            filter: Some(filter),
            ..self
        }
    }

    /// Orders the records by a date.
    #[must_use]
    pub fn with_order(self, by: FilterField) -> Self {
        Self {
            order: Some(by),
            ..self
        }
    }

    /// Returns the sort key of a record in the requested order.
    ///
    /// Records with the same key are in creation order.
    ///
    /// # Errors
    ///
    /// Returns an error if the records are ordered by a text and the fields are not JSON.
    pub fn sort_key(&self, record: &RawRecord) -> Result<SortKey> {
        let range = || match self.filter.as_ref()?.plan() {
            Ok(QueryPlan::Range(range)) => Some(range.field),
            _ => None,
        };
        let Some(by) = self.order.or_else(range) else {
            return Ok(SortKey::Date(0));
        };
        Ok(match by {
            FilterField::CreatedDate => SortKey::Date(record.meta().created.as_micros()),
            FilterField::ModifiedDate => SortKey::Date(record.meta().modified.as_micros()),
            by if matches!(by.source(), FilterSource::Text { .. }) => {
                let fields = record.to_fields(&ShareNames::default())?;
                let text = text_keys(record.kind(), &fields).find(|key| key.field() == by);
                SortKey::Text(text.map_or_else(String::new, |key| key.text().to_owned()))
            }
            _ => SortKey::Date(0),
        })
    }

    /// Returns the page of the records that the [keys](QueryPlan::Keys) of the filter find.
    ///
    /// `found` may contain duplicates and records that do not match the filter. They are removed,
    /// and the rest is ordered, counted and cut.
    ///
    /// # Errors
    ///
    /// Returns an error if the fields of a record are not JSON.
    pub fn page_of_matches<R: Resource>(&self, found: Vec<Record<R>>) -> Result<Page<R>> {
        let mut found: Vec<RawRecord> = found.into_iter().map(Record::into_raw).collect();
        let mut seen = HashSet::new();
        found.retain(|record| seen.insert(record.meta().id.clone()));
        found.sort_by_key(|record| record.meta().created);
        self.page_of_all(found).map(Page::from_raw)
    }

    /// Returns the page of records that are given in creation order and without duplicates.
    ///
    /// # Errors
    ///
    /// Returns an error if a record has fields that are not JSON, or if the filter cannot be
    /// evaluated.
    pub fn page_of_all(&self, all: Vec<RawRecord>) -> Result<RawPage> {
        let mut kept = Vec::new();
        for record in all {
            if self
                .filter
                .as_ref()
                .map_or(Ok(true), |filter| matches(filter.tree(), &record))?
            {
                kept.push((self.sort_key(&record)?, record));
            }
        }
        // The sort is stable: records with the same key remain in creation order.
        kept.sort_by(|(one, _), (other, _)| one.cmp(other));
        let total = kept.len() as u64;
        Ok(RawPage::new(
            self.page
                .select(kept.into_iter())
                .map(|(_, record)| record)
                .collect(),
            total,
        ))
    }

    /// Returns what a store looks up; `None` for a collection without filter and order.
    ///
    /// # Errors
    ///
    /// Returns an error for a filter that no index supports, or for an order by another date than
    /// that of the range. Requests from clients were checked before.
    pub fn query_plan(&self) -> Result<Option<QueryPlan>> {
        self.planned()
            .map(|plan| plan.map(Cow::into_owned))
            .map_err(|wrong| Error::invalid(wrong.into()))
    }

    /// Returns what a store looks up, with the filter error if that is not possible.
    ///
    /// # Errors
    ///
    /// Returns an error if no index supports the filter in the requested order.
    pub fn planned(&self) -> Result<Option<Cow<'_, QueryPlan>>, FilterError> {
        let plan = match (&self.filter, self.order) {
            (None, None) => return Ok(None),
            (None, Some(order)) => Cow::Owned(QueryPlan::Range(KeyRange::unbounded(order))),
            (Some(filter), _) => Cow::Borrowed(filter.plan().map_err(FilterError::clone)?),
        };
        match (plan.as_ref(), self.order) {
            (QueryPlan::Range(range), Some(order)) if range.field != order => {
                Err(FilterError::of_order(range.field))
            }
            (QueryPlan::Members(key), Some(_)) => {
                Err(FilterError::of_ordered_members(key.membership.members))
            }
            _ => Ok(Some(plan)),
        }
    }

    /// Creates a request for one page of all records of the tenant.
    #[must_use]
    pub fn all(page: PageRequest) -> Self {
        Self::new(Scope::All, page)
    }
}

/// What follows the last record of a page.
///
/// Requirements: COL-24.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum NextPage {
    /// The store has no cursors. The `next` link is computed from the page numbers.
    #[default]
    Number,
    /// More records, after this cursor. It is opaque to clients and contains only letters, digits,
    /// `-` and `_`.
    Cursor(String),
    /// Nothing: this is the last page, even if the numbers differ because records were deleted.
    None,
}

/// One page of a collection.
#[derive(Debug)]
#[non_exhaustive]
pub struct Page<R> {
    /// The records, in creation order, then by id. Empty after the last page.
    ///
    /// Requirements: UND-20, UND-19.
    pub records: Vec<Record<R>>,
    /// The exact number of records in the collection, not an estimate and not the number on this
    /// page.
    ///
    /// If other programs write the same rows, count them for each page (`SELECT count(*)`), with an
    /// index on the columns that select the collection. A store that is the only writer can
    /// maintain a counter for each collection.
    ///
    /// Requirements: COL-23.
    pub total: u64,
    /// What follows the last record.
    pub next: NextPage,
}

impl<R: Resource> Page<R> {
    /// Creates a page of a store without cursors. The `next` link is computed from the page
    /// numbers.
    #[must_use]
    pub fn new(records: Vec<Record<R>>, total: u64) -> Self {
        Self {
            records,
            total,
            next: NextPage::Number,
        }
    }

    /// Sets what follows the last record.
    #[must_use]
    pub fn with_next(mut self, next: NextPage) -> Self {
        self.next = next;
        self
    }

    /// Returns the raw page.
    #[must_use]
    pub fn into_raw(self) -> RawPage {
        let records = self.records.into_iter().map(Record::into_raw).collect();
        RawPage {
            records,
            total: self.total,
            next: self.next,
        }
    }

    /// Converts a raw page of this kind.
    #[must_use]
    pub fn from_raw(raw: RawPage) -> Self {
        let records = raw.records.into_iter().map(Record::from_raw).collect();
        Self {
            records,
            total: raw.total,
            next: raw.next,
        }
    }
}
