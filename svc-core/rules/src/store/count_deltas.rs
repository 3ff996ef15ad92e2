//! The changes of collection counts within a transaction.

use std::collections::BTreeMap;

use crate::{model::Kind, value::Id};

/// A collection: the kind of its records, and the record that they are under, or `None` for all
/// records.
pub type CollectionId = (Kind, Option<(Kind, Id)>);

/// The change of each collection count since the store last wrote the counts.
#[derive(Debug, Clone, Default)]
pub struct CountDeltas(BTreeMap<CollectionId, i64>);

impl CountDeltas {
    /// Adds a number of records to a collection: all records of a kind, or those under a record. A
    /// negative number removes records.
    pub fn add(&mut self, members: Kind, under: Option<(Kind, &Id)>, by: i64) {
        let won = self.0.entry(collection(members, under)).or_default();
        *won = won.saturating_add(by);
    }

    /// Returns the change of the count of a collection.
    #[must_use]
    pub fn delta(&self, members: Kind, under: Option<(Kind, &Id)>) -> i64 {
        if self.0.is_empty() {
            0
        } else {
            self.0
                .get(&collection(members, under))
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

fn collection(members: Kind, under: Option<(Kind, &Id)>) -> CollectionId {
    (members, under.map(|(kind, id)| (kind, id.clone())))
}
