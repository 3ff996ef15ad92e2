//! Creation, listing, revocation and verification of API keys.
//!
//! Requirements: AUT-01 to AUT-04, UND-15.

use async_trait::async_trait;
use svc_core::{
    Result, Tenant,
    auth::{Authenticator, Credentials, Principal},
    value::{Id, Timestamp},
    webhooks::disable_webhooks,
};
use svc_store::keys::{
    CreatedKey, KeyError, KeyInfo, KeyOptions, KeyWebhooks, Revocation, StoredKey, TokenHash,
};
use tokio_postgres::Row;

use super::PostgresStore;
use crate::{
    error::{self, StoreError},
    pipeline::{SqlQuery, values},
};

impl PostgresStore {
    /// Creates a random key.
    ///
    /// # Errors
    ///
    /// Returns an error if the database fails, or the tenant is unknown.
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
    /// Returns an error if the database fails, or why this token cannot be used.
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
        let existing = self.insert_key(&key).await?;
        existing.map_or_else(
            || Ok(key.info.clone()),
            |existing| key.resolve_existing(existing),
        )
    }

    /// Stores a key. Returns the existing key if there is one with the same token.
    pub(super) async fn insert_key(&self, key: &StoredKey) -> Result<Option<KeyInfo>, KeyError> {
        let (info, hash) = (&key.info, &key.hash);
        let Some(tenant) = self
            .number(&info.tenant)
            .await
            .map_err(svc_core::Error::from)?
        else {
            return Err(KeyError::UnknownTenant(info.tenant.as_str().to_owned()));
        };
        let values = values![
            info.id.clone(),
            tenant,
            hash.prefix(),
            hash.as_bytes().to_vec(),
            info.hint.clone(),
            info.label.clone(),
            info.stored_rights(),
            info.read_only,
            info.person
                .as_ref()
                .map(|person| person.as_str().to_owned()),
            info.created.as_micros(),
            info.expires.map(Timestamp::as_micros),
            info.revoked.map(Timestamp::as_micros),
        ];
        let added = self
            .database()
            .query_one(None, SqlQuery::new(&*self.database().texts.add_key, values))
            .await;
        self.inner.keys.1.advance();
        if !added.map_err(svc_core::Error::from)?.is_empty() {
            return Ok(None);
        }
        // A key with this token exists.
        Ok(Some(
            self.key(hash)
                .await
                .map_err(svc_core::Error::from)?
                .ok_or(KeyError::TokenInUse)?,
        ))
    }

    /// Returns the keys of one tenant or of all in the order of issue, including revoked ones.
    ///
    /// # Errors
    ///
    /// Returns an error if the database fails.
    ///
    /// Requirements: UND-15.
    pub async fn list_keys(&self, tenant: Option<&Tenant>) -> Result<Vec<KeyInfo>> {
        let values = values![tenant.map(|tenant| tenant.as_str().to_owned())];
        let rows = self
            .database()
            .query_one(None, SqlQuery::new(&*self.database().texts.keys, values))
            .await?;
        Ok(rows.iter().map(info).collect::<error::Result<_>>()?)
    }

    /// Revokes a key, and disables its webhooks unless `webhooks` keeps them. No process accepts
    /// the key after this has returned, except for the time of
    /// [`PostgresOptions::key_cache_ttl`](crate::PostgresOptions::key_cache_ttl).
    ///
    /// # Errors
    ///
    /// Returns an error if the database fails. The key may then be revoked and its webhooks active:
    /// repeat the call.
    ///
    /// Requirements: UND-15, HOOK-16.
    pub async fn revoke_key(&self, id: &str, webhooks: KeyWebhooks) -> Result<Revocation> {
        let now = self.now();
        let query = SqlQuery::new(
            &*self.database().texts.revoke_key,
            values![id.to_owned(), now.as_micros()],
        );
        let was_in_force = !self.database().query_one(None, query).await?.is_empty();
        self.inner.keys.1.advance();
        let key = self
            .list_keys(None)
            .await?
            .into_iter()
            .find(|key| key.id == id);
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

    /// Returns the key with this hash, including a revoked one.
    async fn key(&self, hash: &TokenHash) -> error::Result<Option<KeyInfo>> {
        let query = SqlQuery::new(&*self.database().texts.key, values![hash.prefix()]);
        for row in &self.database().query_one(None, query).await? {
            if hash.matches(row.try_get(10)?) {
                return info(row).map(Some);
            }
        }
        Ok(None)
    }
}

/// Authenticates with the keys of the store. The key of a request determines tenant and rights.
///
/// Requirements: AUT-01 to AUT-04.
#[async_trait]
impl Authenticator for PostgresStore {
    async fn authenticate(&self, credentials: Credentials<'_>) -> Result<Option<Principal>> {
        let Some(token) = credentials.key else {
            return Ok(None);
        };
        let hash = TokenHash::from_token(token);
        let (cache, epochs) = &self.inner.keys;
        let epoch = epochs.current();
        if let Some(holder) = epoch.and_then(|epoch| cache.get(&hash, epoch, credentials.now)) {
            return Ok(holder);
        }
        let key = self.key(&hash).await?;
        if let Some(epoch) = epoch {
            cache.insert(&hash, epoch, key.as_ref());
        }
        Ok(key.and_then(|key| key.principal_at(credentials.now)))
    }
}

fn info(row: &Row) -> error::Result<KeyInfo> {
    let moment = |column| {
        Ok::<_, StoreError>(
            row.try_get::<_, Option<i64>>(column)?
                .map(Timestamp::from_micros),
        )
    };
    let tenant = Tenant::new(row.try_get::<_, String>(1)?);
    let mut key = KeyInfo::new(
        row.try_get(0)?,
        tenant,
        Timestamp::from_micros(row.try_get(7)?),
    );
    key.hint = row.try_get(2)?;
    key.label = row.try_get(3)?;
    key.read_rights(row.try_get::<_, Option<&str>>(4)?)?;
    key.read_only = row.try_get(5)?;
    key.person = row.try_get::<_, Option<&str>>(6)?.and_then(Id::new);
    (key.expires, key.revoked) = (moment(8)?, moment(9)?);
    Ok(key)
}
