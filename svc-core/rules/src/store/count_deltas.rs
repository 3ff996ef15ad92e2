//! The changes of collection counts within a transaction.

use std::collections::BTreeMap;

use crate::{model::Kind, value::Id};

/// A collection of records.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct CollectionId {
    /// The kind of the records.
    pub members: Kind,
    /// The record that they are under, or `None` for all records of the kind.
    pub under: Option<(Kind, Id)>,
}

impl CollectionId {
    /// Creates the id of the collection of all records of a kind, or of those under a record.
    #[must_use]
    pub fn new(members: Kind, under: Option<(Kind, &Id)>) -> Self {
        Self {
            members,
            under: under.map(|(kind, id)| (kind, id.clone())),
        }
    }
}

/// The change of each collection count since the store last wrote the counts.
#[derive(Debug, Clone, Default)]
pub struct CountDeltas(BTreeMap<CollectionId, i64>);

impl CountDeltas {
    /// Adds a number of records to a collection: all records of a kind, or those under a record. A
    /// negative number removes records.
    pub fn add(&mut self, members: Kind, under: Option<(Kind, &Id)>, by: i64) {
        let won = self.0.entry(CollectionId::new(members, under)).or_default();
        *won = won.saturating_add(by);
    }

    /// Returns the change of the count of a collection.
    #[must_use]
    pub fn delta(&self, members: Kind, under: Option<(Kind, &Id)>) -> i64 {
        if self.0.is_empty() {
            0
        } else {
            self.0
                .get(&CollectionId::new(members, under))
                .copied()
                .unwrap_or_default()
        }
    }

    /// Returns whether all counts are unchanged.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the change of each collection count and resets all changes to zero.
    pub fn take(&mut self) -> impl Iterator<Item = (CollectionId, i64)> + use<> {
        std::mem::take(&mut self.0)
            .into_iter()
            .filter(|(_, won)| *won != 0)
    }
}
