//! How each kind lies in the file: its table, its columns, and its statements, composed once from the interface's tables.
//!
//! Only constant names go into the text of a statement; values are always bound.

use std::sync::LazyLock;

use svc_core::{
    each_kind,
    model::Kind,
    schema::{Reference, Rule, Source},
};

use crate::statements::Statements;

/// The table of a kind.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) kind: Kind,
    /// Stands for the kind in the file, for ever.
    pub(crate) code: i64,
    /// Its name is that of the collection.
    pub(crate) name: &'static str,
    /// Columns that hold the id of another record.
    pub(crate) columns: &'static [Reference],
    /// The column of the container that a record is created under.
    pub(crate) parent: Option<usize>,
    /// The computed fields of the top level.
    pub(crate) computed: Vec<(&'static str, Source)>,
    /// The kind whose records this one counts, such as signatures for a petition.
    pub(crate) counts: Option<Kind>,
    pub(crate) sql: Statements,
}

/// The table of a kind.
pub(crate) fn table(kind: Kind) -> &'static Table {
    macro_rules! one_of {
        (($kind:expr) $($name:ident)+) => {
            match $kind {
                $(Kind::$name => {
                    static TABLE: LazyLock<Table> = LazyLock::new(|| Table::of(Kind::$name));
                    &TABLE
                })+
            }
        };
    }
    each_kind!(one_of(kind))
}

impl Table {
    fn of(kind: Kind) -> Self {
        let schema = kind.schema();
        let columns = schema.references();
        let parent = schema.parent.and_then(|parent| columns.iter().position(|column| column.name == parent));
        let computed = schema.fields.fields.iter().filter_map(|field| Some((field.name, field.source()?)));
        let computed: Vec<_> = computed.collect();
        let counts = computed.iter().find_map(|(_, source)| source.adds_up());
        let mut table = Self {
            kind,
            code: code(kind),
            name: kind.plural(),
            columns,
            parent,
            computed,
            counts,
            sql: Statements::default(),
        };
        table.sql = Statements::of(&table);
        table
    }

    /// The column that the collection under a record of `parent` goes by; `None` when there is no such collection.
    pub(crate) fn scope(&self, parent: Kind) -> Option<usize> {
        self.columns.iter().position(|column| column.kind == parent && column.is_scope)
    }

    /// The place of a column.
    pub(crate) fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    /// Whether records have a name that no other of the tenant may have (UND-02, UND-03).
    pub(crate) fn has_unique_name(&self) -> bool {
        self.kind.schema().unique_name().is_some()
    }

    /// Whether a record ties a person to a tag or a list, once (UND-38).
    pub(crate) fn is_membership(&self) -> bool {
        self.kind.schema().unique_links().is_some()
    }

    /// Whether helper calls without a key may address its records (HLP-07).
    pub(crate) fn is_container(&self) -> bool {
        svc_core::helper::HelperName::ALL
            .iter()
            .any(|helper| helper.may_be_anonymous() && helper.container() == Some(self.kind))
    }

    /// A column that only this table has, with a value for look-ups: the name of tags and lists, the page's currency.
    pub(crate) fn typed_column(&self) -> Option<&'static str> {
        let schema = self.kind.schema();
        let sums_money = self.computed.iter().any(|(_, source)| matches!(source, Source::Sum(_)));
        let currency = || schema.fields.fields.iter().find(|field| field.rules.contains(&Rule::CurrencyCode));
        schema.unique_name().or_else(|| currency().filter(|_| sums_money)).map(|field| field.name)
    }
}

/// The number that stands for a kind in the file. Numbers are never given to another kind.
pub(crate) fn code(kind: Kind) -> i64 {
    match kind {
        Kind::Person => 1,
        Kind::Petition => 2,
        Kind::Event => 3,
        Kind::Form => 4,
        Kind::FundraisingPage => 5,
        Kind::Donation => 6,
        Kind::Tag => 7,
        Kind::List => 8,
        Kind::Query => 9,
        Kind::Question => 10,
        Kind::SharePage => 11,
        Kind::AdvocacyCampaign => 12,
        Kind::Message => 13,
        Kind::Signature => 14,
        Kind::Submission => 15,
        Kind::Attendance => 16,
        Kind::Outreach => 17,
        Kind::Answer => 18,
        Kind::Tagging => 19,
        Kind::Item => 20,
        Kind::Canvass => 21,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use rusqlite::Connection;

    use super::*;
    use crate::migrate::MIGRATIONS;

    fn file() -> Connection {
        let file = Connection::open_in_memory().unwrap();
        for migration in MIGRATIONS {
            file.execute_batch(migration.sql).unwrap();
        }
        file
    }

    #[test]
    fn every_kind_has_its_own_number() {
        let codes: BTreeSet<i64> = Kind::ALL.iter().map(|kind| code(*kind)).collect();
        assert_eq!(codes.len(), Kind::ALL.len());
        assert!(!codes.contains(&0), "0 stands for no container");
    }

    /// COL-04 to COL-18: each collection of the interface goes by one column.
    #[test]
    fn every_scope_has_its_column() {
        for kind in Kind::ALL {
            for parent in kind.schema().scopes() {
                assert!(table(*kind).scope(parent).is_some(), "{kind:?} under {parent:?}");
            }
        }
        let canvasses = table(Kind::Canvass);
        assert_eq!(canvasses.scope(Kind::Person), canvasses.column("target"));
        assert_eq!(table(Kind::Petition).scope(Kind::Person), None, "a creator is no container");
    }

    /// The row of totals has one kind of members for each kind of owner; what has a total has a row.
    #[test]
    fn every_kind_adds_up_one_other() {
        for kind in Kind::ALL {
            let table = table(*kind);
            for counted in table.computed.iter().filter_map(|(_, source)| source.adds_up()) {
                assert_eq!(table.counts, Some(counted), "{kind:?}");
                assert_eq!(counted.schema().parent_kind(), Some(*kind));
            }
        }
    }

    #[test]
    fn every_statement_fits_the_file_and_names_the_tenant() {
        let file = file();
        for kind in Kind::ALL {
            for text in table(*kind).sql.all() {
                assert!(text.contains("tenant"), "{text}");
                file.prepare(text).unwrap_or_else(|error| panic!("{text}: {error}"));
            }
        }
    }

    /// Pages, point reads, look-ups and changes go by an index, never through a table or a sort.
    #[test]
    fn nothing_scans_or_sorts() {
        let file = file();
        for kind in Kind::ALL {
            for text in table(*kind).sql.all() {
                let mut plan = file.prepare(&format!("EXPLAIN QUERY PLAN {text}")).unwrap();
                let nothing = rusqlite::params_from_iter(vec![rusqlite::types::Null; plan.parameter_count()]);
                let steps = plan.query_map(nothing, |row| row.get(3)).unwrap();
                let steps: Vec<String> = steps.collect::<rusqlite::Result<_>>().unwrap();
                let steps = steps.join("; ");
                assert!(!steps.contains("SCAN") && !steps.contains("TEMP B-TREE"), "{text}\n{steps}");
            }
        }
    }
}
