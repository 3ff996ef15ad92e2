//! The same work by hand on the same tables through the same client: each call a transaction of its own, statement by statement.

use tokio_postgres::{Client, Config, NoTls, Statement};
use uuid::Uuid;

/// A connection that signs a petition, one call at a time.
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

    /// One signature by somebody new: twelve round trips.
    pub(crate) async fn sign(&mut self) {
        let Self { client, tenant, petition, .. } = self;
        let (person, signature, hash, all) = (Uuid::now_v7(), Uuid::now_v7(), Uuid::new_v4(), Uuid::nil());
        let body = br#"{"given_name":"Ada","email_addresses":[{"address":"ada@example.org"}]}"#.as_slice();
        let none: Option<Uuid> = None;
        let (people, signatures, petitions) = (1_i16, 19_i16, 3_i16);
        let transaction = client.transaction().await.expect("a transaction");
        let done = async {
            transaction.query_opt(&self.find_petition, &[tenant, &petitions, petition]).await?;
            transaction.query_opt(&self.find_email, &[tenant, &hash]).await?;
            let seq: i64 = transaction.query_one(&self.next, &[tenant]).await?.get(0);
            transaction.execute(&self.record, &[tenant, &people, &person, &(seq - 1), &none, &none, &body]).await?;
            transaction.execute(&self.email, &[tenant, &hash, &(seq - 1)]).await?;
            let (one, other) = (Some(*petition), Some(person));
            transaction.execute(&self.record, &[tenant, &signatures, &signature, &seq, &one, &other, &body]).await?;
            transaction.execute(&self.count, &[tenant, &people, &0_i16, &all]).await?;
            transaction.execute(&self.count, &[tenant, &signatures, &0_i16, &all]).await?;
            transaction.execute(&self.count, &[tenant, &signatures, &petitions, petition]).await?;
            transaction.execute(&self.count, &[tenant, &signatures, &people, &person]).await?;
            transaction.commit().await
        };
        done.await.expect("a signature");
    }
}
