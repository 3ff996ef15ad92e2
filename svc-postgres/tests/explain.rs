//! What the server makes of each statement with 100 000 records ("It must show" 2): no sequential scan of `record`, however
//! the statement is planned.

mod server;
mod support;

use svc_postgres::{Options, Store, statements_for_tests};

#[tokio::test(flavor = "multi_thread")]
async fn no_statement_reads_all_records() {
    let Some(database) = support::server() else { return };
    let schema = database.schema();
    let store = Store::connect(Options::new(&database.url()).unwrap().schema(&schema)).await.unwrap();
    let tenant = store.ensure_tenant("demo").await.unwrap();
    assert_eq!(tenant.as_str(), "demo");
    // People, petitions and signatures, tags and taggings: with what each statement goes by.
    database.psql(&format!(
        "INSERT INTO {schema}.record (tenant, kind, id, seq, created, modified, l1, l2, l3, l4, modified_by, name, \
         identifiers, body) SELECT t.id, (n % 20) + 1, md5(n::text)::uuid, n, n, n, md5((n / 20 * 20)::text)::uuid, \
         md5((n % 1000)::text)::uuid, md5((n % 77)::text)::uuid, NULL, md5((n % 9)::text)::uuid, \
         CASE WHEN n % 20 IN (7, 8) THEN n::text END, '[]', '{{}}' FROM {schema}.tenant t, generate_series(1, 100000) n; \
         INSERT INTO {schema}.email SELECT t.id, md5('e' || n)::uuid, n FROM {schema}.tenant t, generate_series(1, 20000) n; \
         INSERT INTO {schema}.identifier SELECT t.id, (n % 20) + 1, md5('i' || n)::uuid, n FROM {schema}.tenant t, \
         generate_series(1, 20000) n; \
         INSERT INTO {schema}.total (tenant, kind, scope, owner, records) SELECT t.id, (n % 20) + 1, 3, md5(n::text)::uuid, n \
         FROM {schema}.tenant t, generate_series(1, 20000) n; ANALYZE {schema}.record, {schema}.email, {schema}.identifier, \
         {schema}.total"
    ));
    let number: i64 = database.psql(&format!("SELECT id FROM {schema}.tenant")).trim().parse().unwrap();
    assert!(number > 0);
    let scans = |text: &str| {
        let values = (1..=30).rev().find(|number| text.contains(&format!("${number}"))).unwrap_or(0);
        let nulls = vec!["NULL"; values].join(", ");
        // The plan that is kept for any values, which a server settles on, too.
        let plan = database.psql(&format!(
            "SET plan_cache_mode = force_generic_plan; PREPARE it AS {text}; EXPLAIN EXECUTE it({nulls}); DEALLOCATE it"
        ));
        let is_scan = |line: &str| {
            ["record", "email", "identifier", "total"]
                .iter()
                .any(|table| line.contains(&format!("Seq Scan on {table}")))
        };
        plan.lines().any(is_scan).then_some(plan)
    };
    let planted = format!("SELECT r.id FROM {schema}.record r WHERE r.tenant = $1 AND r.body = $2");
    assert!(scans(&planted).is_some(), "a scan is seen");
    let texts: Vec<_> = statements_for_tests(&schema).into_iter().filter(|(_, text)| text.contains('$')).collect();
    assert!(texts.len() > 300, "{}", texts.len());
    for (name, text) in texts {
        assert_eq!(scans(&text), None, "{name}: {text}");
    }
}
