//! The vendor's API keys, and the organisation of the event that a request without a key is for.

use async_trait::async_trait;
use sha2::{Digest, Sha256};
use svc_core::auth::{Authenticator, Caller, Credentials, Principal, Rights, TenantResolver};
use svc_core::link::RecordAddress;
use svc_core::{Result, Tenant};

use super::transactions::PostgresCrm;

#[async_trait]
impl Authenticator for PostgresCrm {
    async fn authenticate(&self, credentials: Credentials<'_>) -> Result<Option<Principal>> {
        let hash = Sha256::digest(credentials.key.unwrap_or_default());
        let sql = "SELECT org_id, scope FROM api_keys WHERE token_hash = $1";
        let rows = self
            .connect()
            .await?
            .query(sql, &[&hash.as_slice()])
            .await?;
        let Some(key) = rows.first() else {
            return Ok(None);
        };
        let rights = match key.try_get("scope")? {
            "all" => Rights::all(),
            only => Rights::only(
                only.split(' ')
                    .map(str::parse)
                    .collect::<Result<Vec<_>, _>>()?,
            ),
        };
        Ok(Some(Principal::new(
            Tenant::from(key.try_get::<_, i64>("org_id")?),
            Caller::with_rights(rights),
        )))
    }
}

#[async_trait]
impl TenantResolver for PostgresCrm {
    async fn tenant_of(&self, at: &RecordAddress) -> Result<Option<Tenant>> {
        let rows = self
            .connect()
            .await?
            .query(
                "SELECT org_id FROM events WHERE public_id = $1",
                &[&at.id.as_uuid()],
            )
            .await?;
        Ok(rows
            .first()
            .map(|row| row.try_get::<_, i64>("org_id"))
            .transpose()?
            .map(Tenant::from))
    }
}
