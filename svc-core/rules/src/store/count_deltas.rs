//! How many records collections win and lose within a transaction.

use std::collections::BTreeMap;

use crate::{model::Kind, value::Id};

/// A collection: the kind of its records, and the record that it is under; `None` for that of all.
pub type CollectionId = (Kind, Option<(Kind, Id)>);

/// How many records collections have won, or lost, since the store last wrote their totals.
#[derive(Debug, Clone, Default)]
pub struct CountDeltas(BTreeMap<CollectionId, i64>);

impl CountDeltas {
    /// Records of a kind come into the collection of all, or that under a record; with a number
    /// below 0 they leave it.
    pub fn add(&mut self, members: Kind, under: Option<(Kind, &Id)>, by: i64) {
        let won = self.0.entry(collection(members, under)).or_default();
        *won = won.saturating_add(by);
    }

    /// How many records a collection has won.
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

    /// Whether no collection has won or lost anything.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Hands over what each collection has won, to be added to its total, and begins anew.
    pub fn take(&mut self) -> impl Iterator<Item = (CollectionId, i64)> + use<> {
        std::mem::take(&mut self.0)
            .into_iter()
            .filter(|(_, won)| *won != 0)
    }
}

fn collection(members: Kind, under: Option<(Kind, &Id)>) -> CollectionId {
    (members, under.map(|(kind, id)| (kind, id.clone())))
}
