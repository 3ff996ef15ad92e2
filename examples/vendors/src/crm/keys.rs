//! The vendor's API keys, and the company of the campaign that a request without a key signs.

use async_trait::async_trait;
use svc_core::auth::{Authenticator, Caller, Credentials, Principal, Rights, TenantResolver};
use svc_core::link::RecordAddress;
use svc_core::{Result, Tenant};

use super::existing::Crm;

#[async_trait]
impl Authenticator for Crm {
    async fn authenticate(&self, credentials: Credentials<'_>) -> Result<Option<Principal>> {
        let secret = Self::secret(credentials.key.unwrap_or_default());
        let sql = "SELECT company_no, may_write FROM api_clients WHERE secret = ?1";
        let Some(client) = self
            .pool
            .snapshot()
            .await?
            .query_opt(sql, &[&secret])
            .await?
        else {
            return Ok(None);
        };
        let rights = if client.get("may_write")? {
            Rights::all()
        } else {
            Rights::read_only()
        };
        Ok(Some(Principal::new(
            Tenant::from(client.get::<i64>("company_no")?),
            Caller::with_rights(rights),
        )))
    }
}

#[async_trait]
impl TenantResolver for Crm {
    async fn tenant_of(&self, campaign: &RecordAddress) -> Result<Option<Tenant>> {
        let sql = "SELECT company_no FROM campaigns WHERE campaign_no = ?1";
        let campaign = self
            .pool
            .snapshot()
            .await?
            .query_opt(sql, &[&campaign.id.as_number()])
            .await?;
        Ok(campaign
            .map(|row| row.get::<i64>("company_no"))
            .transpose()?
            .map(Tenant::from))
    }
}
