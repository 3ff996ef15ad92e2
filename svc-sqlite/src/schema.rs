//! How each kind is stored in the file: its table and its statements, composed once from the tables
//! of `svc-core`.
//!
//! Only constant names are part of the text of a statement. Values are always bound.

use std::{ops::Deref, sync::LazyLock};

use svc_core::{
    model::{Kind, PerKind},
    schema::ReferenceSpec,
};
use svc_store::KindTable;

use crate::statements::TableStatements;

/// The table of a kind with its statements.
#[derive(Debug)]
pub(crate) struct SqliteTable {
    layout: KindTable,
    pub(crate) sql: TableStatements,
}

/// Returns the table of a kind.
pub(crate) fn table(kind: Kind) -> &'static SqliteTable {
    static TABLES: LazyLock<PerKind<SqliteTable>> = LazyLock::new(|| PerKind::new(SqliteTable::of));
    TABLES.get(kind)
}

impl SqliteTable {
    fn of(kind: Kind) -> Self {
        let layout = KindTable::for_kind(kind);
        let sql = TableStatements::of(&layout);
        Self { layout, sql }
    }

    /// Returns the columns of collections that are under other records.
    pub(crate) fn scopes(&self) -> impl Iterator<Item = &'static ReferenceSpec> {
        self.columns.iter().filter(|column| column.is_scope)
    }
}

impl Deref for SqliteTable {
    type Target = KindTable;

    fn deref(&self) -> &KindTable {
        &self.layout
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use rusqlite::Connection;

    use super::*;
    use crate::migrate::MIGRATIONS;

    pub(crate) fn file() -> Connection {
        let file = Connection::open_in_memory().unwrap();
        for migration in MIGRATIONS {
            file.execute_batch(migration.sql).unwrap();
        }
        file
    }

    /// Returns the query plan of SQLite for a statement, which proves that the statement fits the
    /// file.
    pub(crate) fn plan(file: &Connection, text: &str) -> String {
        let explain = format!("EXPLAIN QUERY PLAN {text}");
        let mut plan = file
            .prepare(&explain)
            .unwrap_or_else(|error| panic!("{text}: {error}"));
        let nothing =
            rusqlite::params_from_iter(vec![rusqlite::types::Null; plan.parameter_count()]);
        let steps = plan.query_map(nothing, |row| row.get(3)).unwrap();
        steps
            .collect::<rusqlite::Result<Vec<String>>>()
            .unwrap()
            .join("; ")
    }

    #[test]
    fn every_statement_fits_the_file_and_names_the_tenant() {
        let file = file();
        for kind in Kind::ALL {
            for text in table(*kind).sql.all() {
                assert!(text.contains("tenant"), "{text}");
                file.prepare(text)
                    .unwrap_or_else(|error| panic!("{text}: {error}"));
            }
        }
    }

    /// COL-22: pages, reads of single records, lookups and changes use an index. None of them scans
    /// a table or sorts.
    #[test]
    fn nothing_scans_or_sorts() {
        let file = file();
        for kind in Kind::ALL {
            for text in table(*kind).sql.all() {
                // The rows of a subquery are limited by the subquery.
                let steps = plan(&file, text).replace("SCAN (subquery-1)", "");
                assert!(
                    !steps.contains("SCAN") && !steps.contains("TEMP B-TREE"),
                    "{text}\n{steps}"
                );
            }
        }
    }
}
