//! The same work in hand-written code, on the same tables, with the same client. Each request is a
//! separate transaction, statement by statement.

use tokio_postgres::{Client, Config, NoTls, Statement, types::ToSql};
use uuid::Uuid;

/// A connection that signs a petition, one request at a time.
pub(crate) struct Naive {
    client: Client,
    tenant: i64,
    petition: Uuid,
    find_petition: Statement,
    find_email: Statement,
    next: Statement,
    record: Statement,
    email: Statement,
    count: Statement,
}

impl Naive {
    pub(crate) async fn connect(url: &str, schema: &str, tenant: i64, petition: Uuid) -> Self {
        let config: Config = url.parse().expect("a URL");
        let (client, connection) = config.connect(NoTls).await.expect("a connection");
        tokio::spawn(connection);
        let prepare = async |text: String| client.prepare(&text).await.expect("a statement");
        Self {
            find_petition: prepare(format!(
                "SELECT body FROM {schema}.record WHERE tenant = $1 AND kind = $2 AND id = $3"
            ))
            .await,
            find_email: prepare(format!("SELECT seq FROM {schema}.email WHERE tenant = $1 AND hash = $2")).await,
            next: prepare(format!("UPDATE {schema}.ledger SET seq = seq + 2 WHERE tenant = $1 RETURNING seq")).await,
            record: prepare(format!(
                "INSERT INTO {schema}.record (tenant, kind, id, seq, created, modified, l1, l2, identifiers, body) \
                 VALUES ($1, $2, $3, $4, 0, 0, $5, $6, '[]', $7)"
            ))
            .await,
            email: prepare(format!("INSERT INTO {schema}.email (tenant, hash, seq) VALUES ($1, $2, $3)")).await,
            count: prepare(format!(
                "INSERT INTO {schema}.total AS o (tenant, kind, scope, owner, records) VALUES ($1, $2, $3, $4, 1) \
                 ON CONFLICT (tenant, kind, scope, owner) DO UPDATE SET records = o.records + 1"
            ))
            .await,
            client,
            tenant,
            petition,
        }
    }

    /// Records one signature of a new person, with twelve round trips.
    pub(crate) async fn sign(&mut self) {
        let Self {
            client,
            tenant,
            petition,
            ..
        } = self;
        let (person, signature, hash, all) =
            (Uuid::now_v7(), Uuid::now_v7(), Uuid::new_v4(), Uuid::nil());
        let body =
            br#"{"given_name":"Ada","email_addresses":[{"address":"ada@example.org"}]}"#.as_slice();
        let none: Option<Uuid> = None;
        let (people, signatures, petitions) = (1_i16, 19_i16, 3_i16);
        let transaction = client.transaction().await.expect("a transaction");
        let done = async {
            transaction
                .query_opt(&self.find_petition, &[tenant, &petitions, petition])
                .await?;
            transaction
                .query_opt(&self.find_email, &[tenant, &hash])
                .await?;
            let seq: i64 = transaction.query_one(&self.next, &[tenant]).await?.get(0);
            transaction
                .execute(
                    &self.record,
                    &[tenant, &people, &person, &(seq - 1), &none, &none, &body],
                )
                .await?;
            transaction
                .execute(&self.email, &[tenant, &hash, &(seq - 1)])
                .await?;
            let (one, other) = (Some(*petition), Some(person));
            transaction
                .execute(
                    &self.record,
                    &[tenant, &signatures, &signature, &seq, &one, &other, &body],
                )
                .await?;
            transaction
                .execute(&self.count, &[tenant, &people, &0_i16, &all])
                .await?;
            transaction
                .execute(&self.count, &[tenant, &signatures, &0_i16, &all])
                .await?;
            transaction
                .execute(&self.count, &[tenant, &signatures, &petitions, petition])
                .await?;
            transaction
                .execute(&self.count, &[tenant, &signatures, &people, &person])
                .await?;
            transaction.commit().await
        };
        done.await.expect("a signature");
    }
}

/// A connection that executes empty transactions of tenants, to measure the cost of a transaction
/// itself.
pub(crate) struct Empty {
    client: Client,
    lock: Statement,
    guard: Statement,
}

impl Empty {
    pub(crate) async fn connect(url: &str, schema: &str) -> Self {
        let config: Config = url.parse().expect("a URL");
        let (client, connection) = config.connect(NoTls).await.expect("a connection");
        tokio::spawn(connection);
        let texts = svc_postgres::statements_for_tests(schema);
        let prepare = async |name: &str| {
            let (_, text) = texts
                .iter()
                .find(|(it, _)| it == name)
                .expect("a statement of the store");
            client.prepare(text).await.expect("a statement")
        };
        let (lock, guard) = (prepare("lock").await, prepare("guard").await);
        Self {
            client,
            lock,
            guard,
        }
    }

    /// Executes an empty transaction of a tenant with the settings of the store, in two round
    /// trips.
    pub(crate) async fn turn(&self, tenant: i64) {
        const BEGIN: &str = "BEGIN; SET LOCAL lock_timeout = 2000; \
                             SET LOCAL idle_in_transaction_session_timeout = 4000; \
                             SET LOCAL plan_cache_mode = force_generic_plan; SET LOCAL enable_seqscan = off; \
                             SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off; \
                             SET LOCAL enable_material = off";
        let (client, locked) = (&self.client, [&tenant as &(dyn ToSql + Sync)]);
        let (begun, row) = tokio::join!(
            client.batch_execute(BEGIN),
            client.query_one(&self.lock, &locked)
        );
        begun.expect("a transaction");
        let row = row.expect("a ledger");
        let (seq, clock): (i64, i64) = (row.get(0), row.get(1));
        let next = seq + 1;
        let values: [&(dyn ToSql + Sync); 4] = [&tenant, &next, &clock, &seq];
        let (guarded, committed) = tokio::join!(
            client.execute(&self.guard, &values),
            client.batch_execute("COMMIT")
        );
        assert_eq!(guarded.expect("the guard"), 1);
        committed.expect("a commit");
    }
}
