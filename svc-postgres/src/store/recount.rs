//! Derives totals, forms of values and indexes again if this program derives others than the program
//! that last did.

use std::time::Duration;

use svc_core::rules::Recount;
use svc_store::migration::must_recount;

use super::PostgresStore;
use crate::{
    error::{ConnectError, Result, StoreError},
    pipeline::{SqlQuery, values},
};

/// The name under which the database stores its measures.
const MEASURES: &str = "measures";
/// The pause before a tenant is counted again after a temporary error.
const PAUSE: Duration = Duration::from_secs(1);
/// Maximum number of attempts for a tenant.
const ATTEMPTS: u32 = 600;

impl PostgresStore {
    /// Derives the totals, values and indexes of every tenant again, if necessary. If it is interrupted,
    /// the next connection starts it again. Several processes may do it simultaneously.
    pub(super) async fn recount_if_changed(&self) -> Result<(), ConnectError> {
        if !self.must_recount().await? {
            return Ok(());
        }
        tracing::info!(
            "the totals are counted again, values are brought into the form of this version, and the \
             indexes of addresses, texts and keys are rebuilt"
        );
        for tenant in self.tenants().await.map_err(StoreError::from)? {
            // A tenant whose creation was interrupted has no records.
            let Some(number) = self.number(&tenant).await? else {
                continue;
            };
            let mut attempts = 0;
            while let Err(error) = self.database().recount(number).await {
                attempts += 1;
                if !error.passes() || attempts == ATTEMPTS {
                    return Err(error.of_tenant(Some(number)).into());
                }
                tokio::time::sleep(PAUSE).await;
                // Perhaps another process has counted concurrently.
                if !self.must_recount().await? {
                    return Ok(());
                }
            }
        }
        let set = values![MEASURES.to_owned(), Recount::basis().into_bytes()];
        let set = SqlQuery::new(&*self.database().texts.set_meta, set);
        self.database().query_one(None, set).await?;
        Ok(())
    }

    async fn must_recount(&self) -> Result<bool, ConnectError> {
        let counted = values![MEASURES.to_owned()];
        let counted = SqlQuery::new(&*self.database().texts.meta, counted);
        let rows = self.database().query_one(None, counted).await?;
        let counted: Option<Vec<u8>> = rows
            .first()
            .map(|row| row.try_get(0))
            .transpose()
            .map_err(StoreError::from)?;
        let counted = counted.map(|text| String::from_utf8_lossy(&text).into_owned());
        must_recount(counted.as_deref()).map_err(ConnectError::UnknownMeasure)
    }
}
