//! A SQL engine from outside: its dialect and its database are only in this file.
//!
//! It executes its statements in SQLite, but under another name and with names in backticks.

use std::{
    sync::{
        Arc, LazyLock,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use svc_core::schema::ValueType;
use svc_sql::{
    ColumnType, Database, DatabaseError, RowLock, SqlDialect, Statement, TextRow, Transaction,
};
use svc_sqlite::DIALECT;
use tempfile::tempdir;

use crate::mapped::{Place, TestResult};

/// The dialect of the engine.
#[derive(Debug)]
struct Backticks;

/// Implements the methods that are the same as in SQLite.
macro_rules! as_in_sqlite {
    ($(fn $name:ident(&self $(, $argument:ident: $type:ty)*) -> $out:ty;)+) => {$(
        fn $name(&self $(, $argument: $type)*) -> $out {
            DIALECT.$name($($argument),*)
        }
    )+};
}

impl SqlDialect for Backticks {
    fn name(&self) -> &'static str {
        "Backtick SQL"
    }

    fn quote(&self, name: &str) -> String {
        format!("`{}`", name.replace('`', "``"))
    }

    fn upsert(&self, key: &str, changes: &[(&str, String)]) -> String {
        // Another text than that of SQLite, with the same meaning.
        let clause = DIALECT.upsert(key, changes);
        if changes.is_empty() {
            clause
        } else {
            format!("{clause} WHERE true")
        }
    }

    fn catalog(&self) -> [&'static str; 4] {
        static TEXTS: LazyLock<[String; 4]> =
            LazyLock::new(|| DIALECT.catalog().map(|text| text.replace("'\"'", "'`'")));
        let [columns, indexes, checks, foreign_keys] = &*TEXTS;
        [columns, indexes, checks, foreign_keys]
    }

    as_in_sqlite! {
        fn placeholder(&self, place: usize) -> String;
        fn text(&self, placeholder: &str) -> String;
        fn value(&self, placeholder: &str, class: ColumnType, sql_type: &str) -> String;
        fn cast_text(&self, expression: &str, sql_type: &str) -> String;
        fn as_text(&self, expression: &str) -> String;
        fn read(&self, name: &str, class: ColumnType, sql_type: &str) -> String;
        fn json_list(&self, value: &str, order: &str) -> [String; 2];
        fn json_rows(&self, columns: &str, order: &str) -> [String; 2];
        fn boolean(&self, truth: bool) -> &'static str;
        fn larger(&self) -> &'static str;
        fn lock(&self, lock: RowLock) -> &'static str;
        fn statement_timeout(&self, left: Duration) -> Option<Statement>;
        fn default_value(&self, default: Option<&str>) -> Option<String>;
        fn has_nul(&self) -> bool;
        fn has_loose_types(&self) -> bool;
        fn fills_primary_key(&self) -> bool;
        fn knows_expressions(&self) -> bool;
        fn next_id(&self, table: &str, column: &str, default: Option<&str>) -> Vec<String>;
        fn changes_views(&self) -> bool;
        fn library_tables(&self) -> &'static [&'static str];
        fn column_type(&self, ty: &ValueType) -> &'static str;
        fn date_column(&self) -> &'static str;
        fn id_column(&self, table: &str, column: &str) -> String;
        fn has_nullable_ids(&self) -> bool;
        fn order_advice(&self, table: &str) -> String;
        fn not_null_advice(&self, table: &str, column: &str) -> String;
        fn set_default(&self, table: &str, column: &str) -> Option<String>;
        fn index_name(&self, table: &str, columns: &str) -> String;
    }
}

/// The database of the engine. It rejects statements with names in the quotes of SQLite, and counts
/// the others.
struct BacktickDatabase {
    inner: Arc<dyn Database>,
    seen: Arc<AtomicUsize>,
}

impl BacktickDatabase {
    fn check(&self, statements: &[Statement]) -> Result<(), DatabaseError> {
        let has = |name: &'static str| move |it: &&Statement| it.text.contains(name);
        let seen = statements.iter().filter(has("`contacts`")).count();
        self.seen.fetch_add(seen, Ordering::Relaxed);
        match statements.iter().find(has("\"contacts\"")) {
            Some(foreign) => Err(DatabaseError::Other(foreign.text.to_string().into())),
            None => Ok(()),
        }
    }
}

#[async_trait]
impl Database for BacktickDatabase {
    fn dialect(&self) -> &'static dyn SqlDialect {
        &Backticks
    }

    async fn read(&self, statements: Vec<Statement>) -> Result<Vec<Vec<TextRow>>, DatabaseError> {
        self.check(&statements)?;
        self.inner.read(statements).await
    }

    async fn begin(
        &self,
        statements: Vec<Statement>,
    ) -> Result<(Box<dyn Transaction>, Vec<Vec<TextRow>>), DatabaseError> {
        self.check(&statements)?;
        self.inner.begin(statements).await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_engine_from_outside_conforms() -> TestResult {
    let folder = tempdir()?;
    let place = crate::mapped_sqlite::place(&folder)?;
    let seen = Arc::<AtomicUsize>::default();
    let database = BacktickDatabase {
        inner: place.database(),
        seen: Arc::clone(&seen),
    };
    Place::new(Arc::new(database)).conforms().await?;
    assert!(seen.load(Ordering::Relaxed) > 100, "{seen:?}");
    Ok(())
}
