//! Creation, listing, revocation and verification of API keys.
//!
//! Requirements: AUT-01 to AUT-04, UND-15.

use async_trait::async_trait;
use svc_core::{
    Result, Tenant,
    auth::{Authenticator, Credentials, Principal},
    error::Error,
    webhooks::disable_webhooks,
};
use svc_store::keys::{
    CreatedKey, KeyError, KeyInfo, KeyOptions, KeyWebhooks, Revocation, StoredKey,
};

use super::SqliteStore;
use crate::keys;

impl SqliteStore {
    /// Creates a random key.
    ///
    /// # Errors
    ///
    /// Returns an error if the storage fails, or the tenant is unknown.
    ///
    /// Requirements: UND-15.
    pub async fn create_key(
        &self,
        tenant: &Tenant,
        options: KeyOptions,
    ) -> Result<CreatedKey, KeyError> {
        let (key, told) = StoredKey::random(tenant, options, self.now())?;
        self.add_key(key).await?;
        Ok(told)
    }

    /// Creates a key with a given token. If this tenant already has a key with the token, that key
    /// is returned unchanged.
    ///
    /// # Errors
    ///
    /// Returns an error if the storage fails, or why this token cannot be used.
    ///
    /// Requirements: UND-15.
    pub async fn create_key_with_token(
        &self,
        tenant: &Tenant,
        token: &str,
        options: KeyOptions,
    ) -> Result<KeyInfo, KeyError> {
        self.add_key(StoredKey::with_token(tenant, token, options, self.now())?)
            .await
    }

    async fn add_key(&self, key: StoredKey) -> Result<KeyInfo, KeyError> {
        self.writer()
            .run(None, move |job| keys::add(job.file, &key))
            .await
            .map_err(Error::from)?
    }

    /// Returns the keys of one tenant or of all in the order of issue, including revoked ones.
    ///
    /// # Errors
    ///
    /// Returns an error if the storage fails.
    ///
    /// Requirements: UND-15.
    pub fn list_keys(&self, tenant: Option<&Tenant>) -> Result<Vec<KeyInfo>> {
        Ok(self.readers().with(|file| keys::list(file, tenant))?)
    }

    /// Revokes a key, and disables its webhooks unless `webhooks` keeps them. No process accepts
    /// the key after this has returned.
    ///
    /// # Errors
    ///
    /// Returns an error if the storage fails. The key may then be revoked and its webhooks active:
    /// repeat the call.
    ///
    /// Requirements: UND-15, HOOK-16.
    pub async fn revoke_key(&self, id: &str, webhooks: KeyWebhooks) -> Result<Revocation> {
        let (key, now) = (id.to_owned(), self.now());
        let was_in_force = self
            .writer()
            .run(None, move |job| keys::revoke(job.file, &key, now))
            .await?;
        let key = self.list_keys(None)?.into_iter().find(|key| key.id == id);
        let disabled_webhooks = match (key, webhooks) {
            (Some(key), KeyWebhooks::Disable) => {
                disable_webhooks(self, &key.tenant, id, now).await?
            }
            _ => 0,
        };
        Ok(Revocation {
            was_in_force,
            disabled_webhooks,
        })
    }
}

/// Authenticates with the keys of the store. The key of a request determines tenant and rights.
///
/// Requirements: AUT-01 to AUT-04.
#[async_trait]
impl Authenticator for SqliteStore {
    async fn authenticate(&self, credentials: Credentials<'_>) -> Result<Option<Principal>> {
        let Some(token) = credentials.key else {
            return Ok(None);
        };
        let inner = &self.inner;
        Ok(keys::check(
            &inner.keys,
            &inner.data_version,
            &inner.readers,
            token,
            credentials.now,
        )?)
    }
}
