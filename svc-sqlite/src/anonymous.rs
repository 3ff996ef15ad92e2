//! Whose a container is: what helper calls without a key work on (HLP-07). The one look-up that does not begin with the
//! tenant, because it finds it.

use async_trait::async_trait;
use rusqlite::OptionalExtension;
use svc_core::{Tenant, auth::AnonymousTenant, error::Result, link::Address};

use crate::{
    record_id::RecordId,
    schema::{Table, code},
    session::Session,
    store::Store,
};

#[async_trait]
impl AnonymousTenant for Store {
    async fn tenant_of(&self, container: &Address) -> Result<Option<Tenant>> {
        let Some(id) = RecordId::parse(&container.id) else { return Ok(None) };
        self.readers().with(|file| {
            let tenant = file
                .prepare_cached(
                    "SELECT t.name FROM container c JOIN tenant t ON t.id = c.tenant WHERE c.id = ?1 AND c.kind = ?2",
                )?
                .query_row((id, code(container.kind)), |row| row.get::<_, String>(0))
                .optional()?;
            Ok(tenant.map(Tenant::new))
        })
    }
}

impl Session<'_> {
    /// Lets helper calls without a key find a new container.
    pub(crate) fn open_to_strangers(&self, table: &Table, id: RecordId) -> Result<()> {
        self.file.prepare_cached("INSERT INTO container (id, kind, tenant) VALUES (?1, ?2, ?3)")?.execute((
            id,
            table.code,
            self.tenant,
        ))?;
        Ok(())
    }

    /// Forgets a container that goes.
    pub(crate) fn close_to_strangers(&self, table: &Table, id: RecordId) -> Result<()> {
        self.file.prepare_cached("DELETE FROM container WHERE id = ?1 AND kind = ?2 AND tenant = ?3")?.execute((
            id,
            table.code,
            self.tenant,
        ))?;
        Ok(())
    }
}
