//! Executes every step of the guide "Map your tables", unchanged.

use std::{error::Error, sync::Arc};

use svc_sql::{Database, MappedStore};

type TestResult<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

const GUIDE: &str = include_str!("../../../../svc-tower/src/guide/map_your_tables.md");
const COMPILED: &str = include_str!("mapped/guide.rs");

/// The guide to wide tables, and the mapping that it shows.
const WIDE_GUIDE: &str = include_str!("../../../../svc-tower/src/guide/old_and_wide_tables.md");
const WIDE_MAPPING: &str = include_str!("../../src/wide/mapping.rs");

/// Returns the blocks of a guide that start with `fence`.
fn blocks(guide: &'static str, fence: &str) -> Vec<&'static str> {
    let begin = format!("```{fence}\n");
    let behind = guide.split(&*begin).skip(1);
    behind
        .filter_map(|rest| rest.split_once("```").map(|(block, _)| block))
        .collect()
}

/// The code in the guides is the code that is compiled here.
#[test]
fn the_guides_show_what_is_run() {
    // Line breaks do not matter.
    let words = |text: &str| {
        text.replace("pub(crate) ", "")
            .split_whitespace()
            .collect::<String>()
            .replace(",)", ")")
            .replace(",]", "]")
    };
    for (guide, compiled, count) in [(GUIDE, COMPILED, 3), (WIDE_GUIDE, WIDE_MAPPING, 1)] {
        let compiled = words(compiled);
        let shown = blocks(guide, "rust,ignore");
        assert_eq!(shown.len(), count);
        for block in shown {
            assert!(
                compiled.contains(&words(block)),
                "the guide differs from the compiled code:\n{block}"
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_newcomer_walks_it() -> TestResult {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("crm.db");
    let [tables, missing] = blocks(GUIDE, "sql")
        .try_into()
        .map_err(|_| "two blocks of SQL")?;
    let connection = rusqlite::Connection::open(&file)?;
    connection.execute_batch(tables)?;
    connection.execute_batch("INSERT INTO organisations VALUES (1, 'Acme'), (2, 'Other')")?;
    let database: Arc<dyn Database> = Arc::new(svc_sqlite::SqliteDatabase::open(&file)?);
    // The reported problems are those of the guide. After each fix of the report, the tables are
    // those of the SQL in the guide.
    MappedStore::create_library_tables(&database).await?;
    let mut reported_sql = Vec::new();
    while let Err(report) =
        MappedStore::connect(crate::mapped::guide::mapping(), Arc::clone(&database)).await
    {
        let report = report.to_string();
        let fixes: Vec<&str> = report
            .lines()
            .map(str::trim)
            .filter(|line| line.ends_with(';'))
            .collect();
        assert!(!fixes.is_empty(), "{report}");
        connection.execute_batch(&fixes.concat())?;
        reported_sql.extend(fixes.iter().map(|sql| (*sql).to_owned()));
    }
    let mut shown: Vec<&str> = missing.lines().collect();
    reported_sql.sort_unstable();
    shown.sort_unstable();
    assert_eq!(shown, reported_sql, "the guide shows the reported SQL");
    // The tables are served, and the service conforms.
    let report =
        crate::mapped::guide::check(crate::mapped::guide::interface(database).await?).await?;
    assert_eq!(report.exit_code(), 0, "{report}");
    Ok(())
}
