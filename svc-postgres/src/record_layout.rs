//! The columns of the links of each kind in the table `record`, derived from the tables of
//! `svc-core`.

use std::sync::LazyLock;

use svc_core::{
    model::{Kind, PerKind},
    schema::ReferenceSpec,
};
use svc_store::KindTable;
use uuid::Uuid;

/// The columns of links in the table `record`, except `modified_by`.
pub(crate) const SLOTS: [&str; 4] = ["l1", "l2", "l3", "l4"];

/// Every column of links.
pub(crate) const LINK_COLUMNS: [&str; 5] = ["l1", "l2", "l3", "l4", "modified_by"];

/// Represents the owner of the collection of all records.
pub(crate) const ALL: Uuid = Uuid::nil();

/// The layout of a kind in the table `record`.
#[derive(Debug)]
pub(crate) struct RecordLayout {
    pub(crate) table: KindTable,
    /// The code of the kind in every key.
    pub(crate) code: i16,
    /// The column of each link, in the order of `table.columns`.
    columns: Vec<&'static str>,
}

/// Returns the layout of a kind.
pub(crate) fn layout(kind: Kind) -> &'static RecordLayout {
    static LAYOUTS: LazyLock<PerKind<RecordLayout>> =
        LazyLock::new(|| PerKind::new(RecordLayout::of));
    LAYOUTS.get(kind)
}

/// Returns the kind of a code.
pub(crate) fn kind_of(code: i16) -> Option<Kind> {
    Kind::ALL
        .iter()
        .copied()
        .find(|kind| layout(*kind).code == code)
}

impl RecordLayout {
    fn of(kind: Kind) -> Self {
        let table = KindTable::for_kind(kind);
        let mut slots = SLOTS.iter();
        let place = |reference: &ReferenceSpec| match reference.name {
            "modified_by" => "modified_by",
            // A kind with more links than columns fails a test below.
            _ => slots.next().copied().unwrap_or_default(),
        };
        let columns = table.columns.iter().map(place).collect();
        let code = i16::try_from(table.code).unwrap_or_default();
        Self {
            table,
            code,
            columns,
        }
    }

    /// Returns each link with its column.
    pub(crate) fn columns(&self) -> impl Iterator<Item = (&'static ReferenceSpec, &'static str)> {
        self.table.columns.iter().zip(self.columns.iter().copied())
    }

    /// Returns the column of a link.
    pub(crate) fn column(&self, link: &str) -> Option<(&'static ReferenceSpec, &'static str)> {
        self.columns().find(|(reference, _)| reference.name == link)
    }

    /// Returns the column of the collection under a record of `parent`.
    pub(crate) fn scope(&self, parent: Kind) -> Option<&'static str> {
        self.columns()
            .find(|(reference, _)| reference.kind == parent && reference.is_scope)
            .map(|(_, column)| column)
    }

    /// Returns the links that have collections of this kind.
    pub(crate) fn scopes(&self) -> impl Iterator<Item = (&'static ReferenceSpec, &'static str)> {
        self.columns().filter(|(reference, _)| reference.is_scope)
    }

    /// Returns the column of the container.
    pub(crate) fn parent(&self) -> Option<&'static str> {
        self.columns.get(self.table.parent?).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_link_has_a_place_of_its_own() {
        for kind in Kind::ALL {
            let mut places: Vec<_> = layout(*kind).columns().map(|(_, column)| column).collect();
            assert!(places.iter().all(|place| !place.is_empty()), "{kind:?}");
            places.sort_unstable();
            places.dedup();
            assert_eq!(places.len(), layout(*kind).table.columns.len(), "{kind:?}");
            assert_eq!(kind_of(layout(*kind).code), Some(*kind));
        }
    }

    #[test]
    fn memberships_lie_alike() {
        let places = |kind| (layout(kind).parent(), layout(kind).scope(Kind::Person));
        assert_eq!(places(Kind::Tagging), places(Kind::Item));
    }
}
