//! Tenants of a store, including the lookup of the tenant for helper requests without a key.
//!
//! Requirements: AUT-02, HLP-07.

use std::sync::PoisonError;

use async_trait::async_trait;
use svc_core::{Error, Result, Tenant, auth::TenantResolver, link::RecordAddress, model::Kind};
use svc_store::{KindTable, parse_tenant};
use uuid::Uuid;

use super::PostgresStore;
use crate::{
    error::{self, StoreError},
    pipeline::{SqlQuery, values},
    rows::code,
};

impl PostgresStore {
    /// Creates a tenant unless it exists.
    ///
    /// # Errors
    ///
    /// Returns an error if the database fails. Also returns an error if the name is empty, is
    /// longer than 64 bytes, or has control characters or spaces.
    ///
    /// Requirements: AUT-02.
    pub async fn ensure_tenant(&self, name: &str) -> Result<Tenant> {
        let tenant = parse_tenant(name)?;
        if self.number(&tenant).await?.is_some() {
            return Ok(tenant);
        }
        // Numbers are random with 63 bits, so that processes do not have to agree on the next one.
        let drawn = i64::try_from(Uuid::new_v4().as_u128() >> 65)
            .unwrap_or(1)
            .max(1);
        let make = values![drawn, name.to_owned(), self.now().as_micros()];
        self.database()
            .query_one(
                None,
                SqlQuery::new(&*self.database().texts.make_tenant, make),
            )
            .await?;
        // If another process was faster, its number is used.
        let number = self.stored_number(&tenant).await?;
        let number = number.ok_or_else(|| Error::unexpected("a created tenant is missing"))?;
        let ledger = SqlQuery::new(&*self.database().texts.make_ledger, values![number]);
        self.database().query_one(Some(number), ledger).await?;
        self.remember(&tenant, number);
        Ok(tenant)
    }

    /// Returns every tenant in the order of creation.
    ///
    /// # Errors
    ///
    /// Returns an error if the database fails.
    pub async fn tenants(&self) -> Result<Vec<Tenant>> {
        let rows = self
            .database()
            .query_one(
                None,
                SqlQuery::new(&*self.database().texts.tenants, Vec::new()),
            )
            .await?;
        let name = |row: &tokio_postgres::Row| {
            Ok(Tenant::new(
                row.try_get::<_, String>(0).map_err(StoreError::from)?,
            ))
        };
        rows.iter().map(name).collect()
    }

    /// Returns the number of a tenant.
    pub(super) async fn number(&self, tenant: &Tenant) -> error::Result<Option<i64>> {
        let known = self
            .inner
            .tenants
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(tenant)
            .copied();
        if known.is_some() {
            return Ok(known);
        }
        let Some(number) = self.stored_number(tenant).await? else {
            return Ok(None);
        };
        // The process that created it may have ended before it created the ledger.
        let seq = SqlQuery::new(&*self.database().texts.seq, values![number]);
        if self
            .database()
            .query_one(Some(number), seq)
            .await?
            .is_empty()
        {
            return Ok(None);
        }
        self.remember(tenant, number);
        Ok(Some(number))
    }

    async fn stored_number(&self, tenant: &Tenant) -> error::Result<Option<i64>> {
        let query = SqlQuery::new(
            &*self.database().texts.tenant,
            values![tenant.as_str().to_owned()],
        );
        Ok(self
            .database()
            .query_one(None, query)
            .await?
            .first()
            .map(|row| row.try_get(0))
            .transpose()?)
    }

    fn remember(&self, tenant: &Tenant, number: i64) {
        self.inner
            .tenants
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(tenant.clone(), number);
    }

    /// Returns the number of the tenant of a request.
    pub(super) async fn tenant(&self, tenant: &Tenant) -> error::Result<i64> {
        let number = self.number(tenant).await?;
        number.ok_or_else(|| StoreError::unexpected("the tenant does not exist"))
    }
}

#[async_trait]
impl TenantResolver for PostgresStore {
    async fn tenant_of(&self, container: &RecordAddress) -> Result<Option<Tenant>> {
        let Some(id) = container
            .id
            .as_uuid()
            .filter(|_| KindTable::for_kind(container.kind).is_container())
        else {
            return Ok(None);
        };
        let texts = &self.database().texts;
        let query = SqlQuery::new(&*texts.owners, values![id, code(container.kind)]);
        let mut owners = self.database().query_one(None, query).await?;
        if owners.is_empty() && container.kind == Kind::Person {
            let query = SqlQuery::new(&*texts.merged_owners, values![id]);
            owners = self.database().query_one(None, query).await?;
        }
        match owners.as_slice() {
            // Only imported data can give two tenants a record with the same id. The tenant is then
            // ambiguous.
            [row] => Ok(Some(Tenant::new(
                row.try_get::<_, String>(0).map_err(StoreError::from)?,
            ))),
            _ => Ok(None),
        }
    }
}
