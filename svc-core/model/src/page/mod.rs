//! Pages of a collection.
//!
//! Requirements: COL-20 to COL-31, UND-14, UND-19.

pub(crate) mod raw;
mod request;

pub use raw::RawPage;
pub use request::{PageRequest, ParameterValues, QueryParameter};
#[doc(hidden)]
pub use request::{ParsedPageRequest, decoded, is_token, pairs};

use std::{borrow::Cow, collections::HashSet};

use crate::{
    error::{Error, Result},
    filter::{DateRange, Filter, FilterError, FilterField, QueryPlan, matches},
    link::Scope,
    model::Resource,
    record::{RawRecord, Record},
};

/// A collection to read: which records, and which page of them.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListRequest {
    /// Which records of the kind.
    ///
    /// Requirements: COL-01, COL-04 to COL-18.
    pub scope: Scope,
    /// Which page of them.
    ///
    /// Requirements: COL-20.
    pub page: PageRequest,
    /// Which of these records alone. It is there only where some [`FilterField`] is registered for
    /// the kind, compares these alone, and has a [plan](Self::query_plan).
    ///
    /// Requirements: FLT-01.
    pub filter: Option<Filter>,
    /// The date that they are ordered by, then by creation; in the order of creation where there is
    /// none.
    ///
    /// Requirements: FLT-09.
    pub order: Option<FilterField>,
}

impl ListRequest {
    /// One page of the records in a scope.
    #[must_use]
    pub fn new(scope: Scope, page: PageRequest) -> Self {
        Self {
            scope,
            page,
            filter: None,
            order: None,
        }
    }

    /// The same of the records that fit a filter alone.
    #[must_use]
    pub fn with_filter(self, filter: Filter) -> Self {
        Self {
            filter: Some(filter),
            ..self
        }
    }

    /// The same in the order of a date.
    #[must_use]
    pub fn with_order(self, by: FilterField) -> Self {
        Self {
            order: Some(by),
            ..self
        }
    }

    /// What a record stands at in the order that is asked for: its date in microseconds, 0 in the
    /// order of creation. Records at the same place stand in the order of creation.
    #[must_use]
    pub fn sort_key(&self, record: &RawRecord) -> i64 {
        let range = || match self.filter.as_ref()?.plan() {
            Ok(QueryPlan::Range(range)) => Some(range.field),
            _ => None,
        };
        match self.order.or_else(range) {
            Some(FilterField::CreatedDate) => record.meta().created.micros(),
            Some(FilterField::ModifiedDate) => record.meta().modified.micros(),
            _ => 0,
        }
    }

    /// The page of the records that the [points](QueryPlan::Points) of the filter lead to, however
    /// often each is among them: what does not fit the filter is left out, and the rest is ordered,
    /// counted and cut.
    ///
    /// # Errors
    ///
    /// When the fields of a record are not JSON.
    pub fn page_of_matches<R: Resource>(&self, found: Vec<Record<R>>) -> Result<Page<R>> {
        let mut found: Vec<RawRecord> = found.into_iter().map(Record::into_raw).collect();
        let mut seen = HashSet::new();
        found.retain(|record| seen.insert(record.meta().id.clone()));
        found.sort_by_key(|record| record.meta().created);
        self.page_of_all(found).map(Page::from_raw)
    }

    /// The same of records in the order of creation, each once.
    ///
    /// # Errors
    ///
    /// A record has fields that are not JSON, or the filter cannot be evaluated.
    pub fn page_of_all(&self, all: Vec<RawRecord>) -> Result<RawPage> {
        let mut kept = Vec::new();
        for record in all {
            if self
                .filter
                .as_ref()
                .map_or(Ok(true), |filter| matches(filter.tree(), &record))?
            {
                kept.push((self.sort_key(&record), record));
            }
        }
        // Stable: records of one moment stay in the order of creation.
        kept.sort_by_key(|(time, _)| *time);
        let total = kept.len() as u64;
        Ok(RawPage::new(
            self.page
                .select(kept.into_iter())
                .map(|(_, record)| record)
                .collect(),
            total,
        ))
    }

    /// What a store looks up; `None` for a collection without filter and order.
    ///
    /// # Errors
    ///
    /// For a request that was not made of a client's: a filter for which nothing can be looked up,
    /// or an order by another date than that of the range.
    pub fn query_plan(&self) -> Result<Option<QueryPlan>> {
        self.planned()
            .map(|plan| plan.map(Cow::into_owned))
            .map_err(|wrong| Error::invalid(wrong.into()))
    }

    /// The same, and what is wrong where nothing can be looked up.
    ///
    /// # Errors
    ///
    /// No index answers the filter in the requested order.
    pub fn planned(&self) -> Result<Option<Cow<'_, QueryPlan>>, FilterError> {
        let plan = match (&self.filter, self.order) {
            (None, None) => return Ok(None),
            (None, Some(order)) => Cow::Owned(QueryPlan::Range(DateRange::whole(order))),
            (Some(filter), _) => Cow::Borrowed(filter.plan().map_err(FilterError::clone)?),
        };
        match (plan.as_ref(), self.order) {
            (QueryPlan::Range(range), Some(order)) if range.field != order => {
                Err(FilterError::of_order(range.field))
            }
            _ => Ok(Some(plan)),
        }
    }

    /// One page of all records of the tenant.
    #[must_use]
    pub fn all(page: PageRequest) -> Self {
        Self::new(Scope::All, page)
    }
}

/// What comes behind the last record of a page.
///
/// Requirements: COL-24.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum NextPage {
    /// The store keeps no continuations: the `next` link follows from the numbers.
    #[default]
    Number,
    /// More records, behind this continuation, opaque to clients: letters, digits, `-` and `_`
    /// only.
    Cursor(String),
    /// Nothing: this is the last page, whatever the numbers say after records went away.
    None,
}

/// One page of a collection.
#[derive(Debug)]
#[non_exhaustive]
pub struct Page<R> {
    /// The records, in creation order, then by id. Beyond the last page: none.
    ///
    /// Requirements: UND-20, UND-19.
    pub records: Vec<Record<R>>,
    /// How many records the collection has, exactly: neither an estimate nor the number on this
    /// page.
    ///
    /// Where other programs write the same rows, it is counted with each page, by an index on what
    /// the collection is selected by (`SELECT count(*)`). A store that alone writes its rows keeps
    /// a counter for each collection and counts nothing.
    ///
    /// Requirements: COL-23.
    pub total: u64,
    /// What comes behind the last record.
    pub next: NextPage,
}

impl<R: Resource> Page<R> {
    /// A page of a store that keeps no continuations: the `next` link follows from the numbers.
    #[must_use]
    pub fn new(records: Vec<Record<R>>, total: u64) -> Self {
        Self {
            records,
            total,
            next: NextPage::Number,
        }
    }

    /// The same page, with what comes behind its last record.
    #[must_use]
    pub fn with_next(mut self, next: NextPage) -> Self {
        self.next = next;
        self
    }

    /// The page without the type of its kind.
    #[must_use]
    pub fn into_raw(self) -> RawPage {
        let records = self.records.into_iter().map(Record::into_raw).collect();
        RawPage {
            records,
            total: self.total,
            next: self.next,
        }
    }

    /// The typed view of a page of this kind.
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
