//! A page without the type of its kind.

use super::NextPage;
use crate::record::RawRecord;

/// One page of a collection, without the type of its kind.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct RawPage {
    /// The records, in creation order, then by id.
    ///
    /// Requirements: UND-20.
    pub records: Vec<RawRecord>,
    /// How many records the collection has.
    ///
    /// Requirements: COL-23.
    pub total: u64,
    /// What comes behind the last record.
    pub next: NextPage,
}

impl RawPage {
    /// A page of a store that keeps no continuations: the `next` link follows from the numbers.
    #[must_use]
    pub fn new(records: Vec<RawRecord>, total: u64) -> Self {
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
}
