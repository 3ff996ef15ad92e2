//! The vendor's API keys, and whose campaign a call without a key signs.

use async_trait::async_trait;
use rusqlite::OptionalExtension;
use svc_core::auth::{AnonymousTenant, Authenticator, Caller, Credentials, Rights};
use svc_core::link::Address;
use svc_core::{Result, Tenant};

use super::existing::Crm;

#[async_trait]
impl Authenticator for Crm {
    async fn authenticate(&self, credentials: Credentials<'_>) -> Result<Option<(Tenant, Caller)>> {
        let secret = Self::secret(credentials.key.unwrap_or_default());
        let sql = "SELECT company_no, may_write FROM api_clients WHERE secret = ?1";
        let client = self.transaction(|tx| {
            let client = tx.query_row(sql, [secret], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, bool>(1)?)));
            client.optional()
        });
        let rights = |may_write| if may_write { Rights::all() } else { Rights::read_only() };
        Ok(client?.map(|(company, may_write)| (Tenant::from(company), Caller::with_rights(rights(may_write)))))
    }
}

#[async_trait]
impl AnonymousTenant for Crm {
    async fn tenant_of(&self, campaign: &Address) -> Result<Option<Tenant>> {
        let sql = "SELECT company_no FROM campaigns WHERE campaign_no = ?1";
        let company =
            |tx: &rusqlite::Transaction<'_>| tx.query_row(sql, [campaign.id.number()], |row| row.get::<_, i64>(0));
        Ok(self.transaction(|tx| company(tx).optional())?.map(Tenant::from))
    }
}
