//! The query plan of each statement with 100 000 records ("It must show" 2): no sequential scan of
//! `record`, in every plan mode.

use super::{server::options, support};
use svc_postgres::{PostgresStore, statements_for_tests};

/// The settings of a transaction of the store.
const SETTINGS: &str = "SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; SET enable_hashjoin = off; \
                        SET enable_mergejoin = off; SET enable_material = off";

/// Statements that also run outside a transaction, without settings.
const READS: [&str; 17] = [
    "page",
    "page_under",
    "rows_of_all",
    "rows_under",
    "total_of",
    "members_of_all",
    "members_under",
    "moved",
    "one",
    "by_identifier",
    "by_email",
    "by_name",
    "by_emails",
    "by_texts",
    "range_after",
    "range_first",
    "range_jump",
];

/// Returns the generic plan of a statement, which the server uses for any values.
fn plan(database: &support::server::Server, name: &str, text: &str) -> String {
    let settings = if READS.contains(&name) {
        "SET plan_cache_mode = force_generic_plan"
    } else {
        SETTINGS
    };
    let values = (1..=30)
        .rev()
        .find(|number| text.contains(&format!("${number}")))
        .unwrap_or(0);
    let nulls = vec!["NULL"; values].join(", ");
    database.psql(&format!(
        "{settings}; PREPARE it AS {text}; EXPLAIN EXECUTE it({nulls}); DEALLOCATE it"
    ))
}

/// Returns the lines of a plan that read more than the rows of a key: a whole table, or all rows of
/// a tenant.
fn scans(plan: &str) -> Vec<&str> {
    let tables = [
        "record",
        "email",
        "text_key",
        "identifier",
        "total",
        "part",
        "holder",
        "alias",
        "person_key",
        "shared_key",
        "apart",
        "merge",
    ];
    let is_scan = |line: &&str| {
        tables
            .iter()
            .any(|table| line.contains(&format!("Seq Scan on {table}")))
    };
    // The ledger has one row per tenant. Totals by currency or level, and webhooks, have few rows.
    let is_little = |before: &str| {
        ["ledger", "part", "webhook"]
            .iter()
            .any(|table| before.contains(table))
    };
    let is_tenants = |(before, line): &(&str, &str)| {
        line.trim() == "Index Cond: (tenant = $1)" && !is_little(before)
    };
    let lines = plan.lines().zip(plan.lines().skip(1));
    plan.lines()
        .filter(is_scan)
        .chain(lines.filter(is_tenants).map(|(before, _)| before))
        .collect()
}

/// Returns the statements with values, each with its name. Those that a recount executes before it
/// writes all totals and texts of a tenant are left out.
fn statements(schema: &str) -> Vec<(String, String)> {
    let all = statements_for_tests(schema).into_iter();
    all.filter(|(name, text)| text.contains('$') && !name.starts_with("clear_"))
        .collect()
}

/// Tables that were never analyzed and were empty when the plan was made. The plan remains while
/// they grow.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn no_statement_reads_all_of_a_tenant_without_statistics() {
    let database = support::server();
    let schema = database.schema();
    PostgresStore::connect(options(&database.url()).schema(&schema))
        .await
        .unwrap();
    for (name, text) in statements(&schema) {
        let plan = plan(database, &name, &text);
        assert_eq!(scans(&plan), Vec::<&str>::new(), "{name}: {text}\n{plan}");
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn no_statement_reads_all_records() {
    let database = support::server();
    let schema = database.schema();
    let store = PostgresStore::connect(options(&database.url()).schema(&schema))
        .await
        .unwrap();
    let tenant = store.ensure_tenant("demo").await.unwrap();
    assert_eq!(tenant.as_str(), "demo");
    // People, petitions and signatures, tags and taggings, with the keys of each statement.
    database.psql(&format!(
        "INSERT INTO {schema}.record (tenant, kind, id, seq, created, modified, l1, l2, l3, l4, modified_by, name, \
         identifiers, body) SELECT t.id, (n % 20) + 1, md5(n::text)::uuid, n, n, n, md5((n / 20 * 20)::text)::uuid, \
         md5((n % 1000)::text)::uuid, md5((n % 77)::text)::uuid, NULL, md5((n % 9)::text)::uuid, \
         CASE WHEN n % 20 IN (7, 8) THEN n::text END, '[]', '{{}}' FROM {schema}.tenant t, generate_series(1, 100000) n; \
         INSERT INTO {schema}.email SELECT t.id, md5('e' || n)::uuid, n FROM {schema}.tenant t, generate_series(1, 20000) n; \
         INSERT INTO {schema}.text_key SELECT t.id, 'family_name', 'name' || n, n FROM {schema}.tenant t, generate_series(1, 20000) n; \
         INSERT INTO {schema}.person_key SELECT t.id, n % 5 + 1, n / 3, n FROM {schema}.tenant t, generate_series(1, 20000) n; \
         INSERT INTO {schema}.shared_key SELECT t.id, n % 5 + 1, n, 2 FROM {schema}.tenant t, generate_series(1, 20000) n; \
         INSERT INTO {schema}.apart SELECT t.id, md5(n::text)::uuid, md5('o' || n)::uuid, n FROM {schema}.tenant t, generate_series(1, 20000) n; \
         ANALYZE {schema}.person_key, {schema}.shared_key, {schema}.apart; \
         INSERT INTO {schema}.identifier SELECT t.id, (n % 20) + 1, md5('i' || n)::uuid, n FROM {schema}.tenant t, \
         generate_series(1, 20000) n; \
         INSERT INTO {schema}.total (tenant, kind, scope, owner, records) SELECT t.id, (n % 20) + 1, 3, md5(n::text)::uuid, n \
         FROM {schema}.tenant t, generate_series(1, 20000) n; ANALYZE {schema}.record, {schema}.email, {schema}.text_key, {schema}.identifier, \
         {schema}.total"
    ));
    let number: i64 = database
        .psql(&format!("SELECT id FROM {schema}.tenant"))
        .trim()
        .parse()
        .unwrap();
    assert!(number > 0);
    let planted = format!("SELECT r.id FROM {schema}.record r WHERE r.tenant = $1 AND r.body = $2");
    assert_eq!(
        scans(&plan(database, "planted", &planted)).len(),
        1,
        "a scan is detected"
    );
    let texts = statements(&schema);
    assert!(texts.len() > 150, "{}", texts.len());
    for (name, text) in &texts {
        let plan = plan(database, name, text);
        assert_eq!(scans(&plan), Vec::<&str>::new(), "{name}: {text}\n{plan}");
    }

    // More than 10 000 records name this person. Those that are not counted are not read.
    let counts = texts.iter().find(|(name, _)| name == "linked_count");
    let (_, text) = counts.unwrap();
    let values = format!("{number}, ARRAY[md5('3')::uuid], ARRAY[50]::bigint[], ARRAY[0]");
    let run = |how: &str| {
        database.psql(&format!(
            "{SETTINGS}; PREPARE it AS {text}; {how} EXECUTE it({values}); DEALLOCATE it"
        ))
    };
    assert!(run("").contains("0|50"));
    let plan = run("EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF)");
    let scanned = plan
        .lines()
        .filter(|line| line.contains("Scan using record"));
    let read = scanned.filter_map(|line| {
        let rows = line.split("rows=").nth(1)?;
        let digits = rows.split(|it: char| !it.is_ascii_digit()).next()?;
        digits.parse::<u64>().ok()
    });
    assert_eq!(read.sum::<u64>(), 50, "{plan}");
    assert!(!plan.contains("Bitmap") && !plan.contains("Join"), "{plan}");
}
