//! Counts the totals again if the measures of this program differ from those that the database was
//! counted with.

use svc_core::schema::measures_text;
use svc_store::migration::must_recount;

use super::PostgresStore;
use crate::{
    error::{ConnectError, StoreError},
    pipeline::{SqlQuery, values},
};

/// The name under which the database stores its measures.
const MEASURES: &str = "measures";

impl PostgresStore {
    /// Counts the totals of every tenant again, if necessary. An interrupted count starts again with
    /// the next connection.
    pub(super) async fn recount_if_changed(&self) -> Result<(), ConnectError> {
        let texts = &self.database().texts;
        let counted = SqlQuery::new(&*texts.meta, values![MEASURES.to_owned()]);
        let rows = self.database().query_one(None, counted).await?;
        let counted: Option<Vec<u8>> = rows
            .first()
            .map(|row| row.try_get(0))
            .transpose()
            .map_err(StoreError::from)?;
        let counted = counted.map(|text| String::from_utf8_lossy(&text).into_owned());
        if !must_recount(counted.as_deref()).map_err(ConnectError::UnknownMeasure)? {
            return Ok(());
        }
        for tenant in self.tenants().await.map_err(StoreError::from)? {
            self.database().recount(self.tenant(&tenant).await?).await?;
        }
        let set = values![MEASURES.to_owned(), measures_text().into_bytes()];
        let set = SqlQuery::new(&*texts.set_meta, set);
        self.database().query_one(None, set).await?;
        Ok(())
    }
}
