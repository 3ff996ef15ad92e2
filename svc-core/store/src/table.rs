//! The layout of a store with a table for each kind: names, columns and numbers, derived from the
//! schema.

use svc_core::{
    helper::HelperName,
    model::Kind,
    schema::{ComputedSource, ReferenceSpec},
};

/// The table of a kind. Its names are constants and can be used in SQL text.
#[derive(Debug)]
#[non_exhaustive]
pub struct KindTable {
    /// The kind.
    pub kind: Kind,
    /// The number of the kind in stored data: [`Kind::code`].
    pub code: i64,
    /// The name of the table, which is that of the collection.
    pub name: &'static str,
    /// The columns that contain the id of another record.
    pub columns: &'static [ReferenceSpec],
    /// The column of the container that a record is created under.
    pub parent: Option<usize>,
    /// The computed fields of the top level.
    pub computed: Vec<(&'static str, ComputedSource)>,
    /// The kind whose records this kind counts, such as signatures for a petition.
    pub counts: Option<Kind>,
}

impl KindTable {
    /// Returns the table of a kind.
    #[must_use]
    pub fn for_kind(kind: Kind) -> Self {
        let schema = kind.schema();
        let columns = schema.references();
        let parent = schema
            .parent
            .and_then(|parent| columns.iter().position(|column| column.name == parent));
        let computed = schema
            .fields
            .fields
            .iter()
            .filter_map(|field| Some((field.name, field.source()?)));
        let computed: Vec<_> = computed.collect();
        let counts = computed
            .iter()
            .find_map(|(_, source)| source.measured_kind());
        Self {
            kind,
            code: kind.code(),
            name: kind.plural(),
            columns,
            parent,
            computed,
            counts,
        }
    }

    /// Returns the column for the collection under a record of `parent`; `None` if there is no such
    /// collection.
    #[must_use]
    pub fn scope_column(&self, parent: Kind) -> Option<usize> {
        self.columns
            .iter()
            .position(|column| column.kind == parent && column.is_scope)
    }

    /// Returns the position of a column.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    /// Returns whether the name of a record must be unique for the tenant.
    ///
    /// Requirements: UND-02, UND-03.
    #[must_use]
    pub fn has_unique_name(&self) -> bool {
        self.kind.schema().unique_name().is_some()
    }

    /// Returns whether helper requests without a key can address records of this kind.
    ///
    /// Requirements: HLP-07.
    #[must_use]
    pub fn is_container(&self) -> bool {
        HelperName::ALL
            .iter()
            .any(|helper| helper.allows_anonymous() && helper.container_kind() == Some(self.kind))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_kind_has_its_own_number() {
        let codes: BTreeSet<i64> = Kind::ALL.iter().map(|kind| kind.code()).collect();
        assert_eq!(codes.len(), Kind::ALL.len());
        assert!(!codes.contains(&0), "0 means no container");
    }

    /// Each collection of the specification uses one column.
    ///
    /// Requirements: COL-04 to COL-18.
    #[test]
    fn every_scope_has_its_column() {
        for kind in Kind::ALL {
            for parent in kind.schema().scope_kinds() {
                assert!(
                    KindTable::for_kind(*kind).scope_column(parent).is_some(),
                    "{kind:?} under {parent:?}"
                );
            }
        }
        let canvasses = KindTable::for_kind(Kind::Canvass);
        assert_eq!(
            canvasses.scope_column(Kind::Person),
            canvasses.column("target")
        );
        assert_eq!(
            KindTable::for_kind(Kind::Petition).scope_column(Kind::Person),
            None,
            "a creator is not a container"
        );
    }

    /// The totals of a record have one kind of members, as in RES-petition-10.
    #[test]
    fn every_kind_adds_up_one_other() {
        for kind in Kind::ALL {
            let table = KindTable::for_kind(*kind);
            for counted in table
                .computed
                .iter()
                .filter_map(|(_, source)| source.measured_kind())
            {
                assert_eq!(table.counts, Some(counted), "{kind:?}");
                assert_eq!(counted.schema().parent_kind(), Some(*kind));
            }
        }
    }
}
