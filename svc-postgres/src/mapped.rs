//! PostgreSQL as the database of a mapped store: a pool, and statements of the mapping that are
//! sent without waiting in between.

use std::{fmt, sync::Arc, time::Duration};

use async_trait::async_trait;
use svc_sql::{Database, DatabaseError, SqlDialect, Statement, TextRow, Transaction};
use tokio_postgres::error::SqlState;

use crate::{
    dialect::DIALECT,
    error::StoreError,
    options::PostgresOptions,
    pipeline::{SqlQuery, SqlValue},
    pool::{ConnectionPool, Lease, LeasePurpose},
};

/// A PostgreSQL database with the tables of a vendor, for
/// [`MappedStore::connect`](svc_sql::MappedStore::connect).
pub struct PostgresDatabase {
    pool: Arc<ConnectionPool>,
    patience: Duration,
}

impl PostgresDatabase {
    /// Creates a database from these options. Only the URL, `max_connections`, `busy_timeout` and `statement_mode` are used.
    #[must_use]
    pub fn new(options: &PostgresOptions) -> Self {
        let PostgresOptions {
            primary,
            connections,
            patience,
            statements,
            ..
        } = options;
        let pool = ConnectionPool::new(
            primary.within(*patience),
            *connections,
            *patience,
            *statements,
        );
        Self {
            pool: Arc::new(pool),
            patience: *patience,
        }
    }
}

impl fmt::Debug for PostgresDatabase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresDatabase").finish_non_exhaustive()
    }
}

/// A transaction. If it is dropped during a request, its connection is closed, and the server rolls
/// it back.
struct TransactionHandle {
    lent: Lease,
    patience: Duration,
}

#[async_trait]
impl Database for PostgresDatabase {
    fn dialect(&self) -> &'static dyn SqlDialect {
        DIALECT
    }

    async fn read(&self, statements: Vec<Statement>) -> Result<Vec<Vec<TextRow>>, DatabaseError> {
        let mut lent = self.pool.get(LeasePurpose::Reads).await.map_err(trouble)?;
        run(&mut lent, &queries(&statements), self.patience).await
    }

    async fn begin(
        &self,
        statements: Vec<Statement>,
    ) -> Result<(Box<dyn Transaction>, Vec<Vec<TextRow>>), DatabaseError> {
        let mut lent = self.pool.get(LeasePurpose::Writes).await.map_err(trouble)?;
        lent.begins();
        let mut all = vec![SqlQuery::control("BEGIN")];
        all.extend(queries(&statements));
        let given = run(&mut lent, &all, self.patience).await?;
        Ok((
            Box::new(TransactionHandle {
                lent,
                patience: self.patience,
            }),
            given,
        ))
    }
}

#[async_trait]
impl Transaction for TransactionHandle {
    async fn execute(
        &mut self,
        statements: Vec<Statement>,
    ) -> Result<Vec<Vec<TextRow>>, DatabaseError> {
        run(&mut self.lent, &queries(&statements), self.patience).await
    }

    async fn commit(
        mut self: Box<Self>,
        statements: Vec<Statement>,
    ) -> Result<Vec<Vec<TextRow>>, DatabaseError> {
        let mut all = queries(&statements);
        all.push(SqlQuery::control("COMMIT"));
        let given = run(&mut self.lent, &all, self.patience).await?;
        self.lent.mark_clean();
        Ok(given)
    }

    async fn rollback(mut self: Box<Self>) {
        if self
            .lent
            .run(&[SqlQuery::control("ROLLBACK")], self.patience)
            .await
            .is_ok()
        {
            self.lent.mark_clean();
        }
    }
}

fn queries(statements: &[Statement]) -> Vec<SqlQuery<'_>> {
    let query = |statement: &'_ Statement| -> Vec<SqlValue> {
        statement
            .values
            .iter()
            .cloned()
            .map(SqlValue::from)
            .collect()
    };
    statements
        .iter()
        .map(|statement| SqlQuery::new(&*statement.text, query(statement)))
        .collect()
}

/// Returns the rows of each statement, whose columns are all text.
async fn run(
    lent: &mut Lease,
    queries: &[SqlQuery<'_>],
    patience: Duration,
) -> Result<Vec<Vec<TextRow>>, DatabaseError> {
    let given = lent
        .run(queries, patience)
        .await
        .map_err(|(_, error)| trouble(error))?;
    let row = |row: &tokio_postgres::Row| {
        (0..row.len())
            .map(|column| row.try_get(column))
            .collect::<Result<TextRow, _>>()
    };
    let rows =
        |rows: Vec<tokio_postgres::Row>| rows.iter().map(row).collect::<Result<Vec<TextRow>, _>>();
    given
        .into_iter()
        .map(rows)
        .collect::<Result<_, _>>()
        .map_err(|error| DatabaseError::Other(format!("a column is not text: {error}").into()))
}

/// Converts an error to the category that determines the handling: retry here, let the client
/// retry, or fail.
fn trouble(error: StoreError) -> DatabaseError {
    let state = error.state().cloned();
    let error = svc_core::Error::from(error);
    let (passes, cause) = (error.is_unavailable(), format!("{error:#}").into());
    match state {
        Some(
            SqlState::UNIQUE_VIOLATION
            | SqlState::EXCLUSION_VIOLATION
            | SqlState::FOREIGN_KEY_VIOLATION
            | SqlState::RESTRICT_VIOLATION,
        ) => DatabaseError::ConstraintViolation(cause),
        Some(SqlState::T_R_SERIALIZATION_FAILURE | SqlState::T_R_DEADLOCK_DETECTED) => {
            DatabaseError::Conflict(cause)
        }
        Some(SqlState::CHECK_VIOLATION | SqlState::NOT_NULL_VIOLATION) => {
            DatabaseError::InvalidValue(cause)
        }
        // Data exceptions: too long, out of range, or malformed.
        Some(state) if state.code().starts_with("22") => DatabaseError::InvalidValue(cause),
        _ if passes => DatabaseError::Unavailable(cause),
        _ => DatabaseError::Other(cause),
    }
}
