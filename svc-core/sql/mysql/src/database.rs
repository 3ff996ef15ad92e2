//! The database of a mapped store.

use std::{fmt, sync::Arc};

use async_trait::async_trait;
use svc_sql::{Database, DatabaseError, SqlDialect, Statement, TextRow, Transaction};

use crate::{
    dialect::DIALECT,
    options::MysqlOptions,
    pool::{ConnectionPool, Lease, LeasePurpose},
};

/// A MySQL or MariaDB database with the tables of a vendor, for
/// [`MappedStore::connect`](svc_sql::MappedStore::connect).
///
/// Each statement needs one round trip, and a first one to be prepared: the protocol has no pipelines.
pub struct MysqlDatabase {
    pool: Arc<ConnectionPool>,
}

impl MysqlDatabase {
    /// Creates a database from these options. It connects with the first statement.
    #[must_use]
    pub fn new(options: &MysqlOptions) -> Self {
        Self {
            pool: ConnectionPool::new(options),
        }
    }
}

impl fmt::Debug for MysqlDatabase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MysqlDatabase").finish_non_exhaustive()
    }
}

/// A transaction. If it is dropped, its connection is closed, and the server rolls it back.
struct TransactionHandle {
    lease: Lease,
}

#[async_trait]
impl Database for MysqlDatabase {
    fn dialect(&self) -> &'static dyn SqlDialect {
        DIALECT
    }

    async fn read(&self, statements: Vec<Statement>) -> Result<Vec<Vec<TextRow>>, DatabaseError> {
        let mut lease = self.pool.get(LeasePurpose::Reads).await?;
        lease.begin(None, &statements).await
    }

    async fn begin(
        &self,
        statements: Vec<Statement>,
    ) -> Result<(Box<dyn Transaction>, Vec<Vec<TextRow>>), DatabaseError> {
        let mut lease = self.pool.get(LeasePurpose::Writes).await?;
        let given = lease.begin(Some("START TRANSACTION"), &statements).await?;
        Ok((Box::new(TransactionHandle { lease }), given))
    }
}

#[async_trait]
impl Transaction for TransactionHandle {
    async fn execute(
        &mut self,
        statements: Vec<Statement>,
    ) -> Result<Vec<Vec<TextRow>>, DatabaseError> {
        self.lease.execute(&statements).await
    }

    async fn commit(
        mut self: Box<Self>,
        statements: Vec<Statement>,
    ) -> Result<Vec<Vec<TextRow>>, DatabaseError> {
        self.lease.commit(&statements).await
    }

    async fn rollback(mut self: Box<Self>) {
        self.lease.rollback().await;
    }
}
