//! What another store has exported, taken over as it is: no rule is asked.

use async_trait::async_trait;
use svc_core::{
    Error, Result, Tenant,
    model::Kind,
    store::{
        Change, Stored,
        compare::Scan,
        keys::{IssuedKey, KeyError},
    },
    value::Timestamp,
};

use super::Store;
use crate::{
    error,
    pipeline::{Query, values},
    rows::{self, code},
    turn::restore::{Part, remembered},
};

impl Store {
    /// Writes changes that another store has exported, all or none, and a mark that says how far the copy is, in the same
    /// transaction: whoever was interrupted reads the mark and goes on behind it, also where it is unknown whether this has
    /// come to an end. Later writes of the tenant get later dates than anything that was brought, and than `clock`.
    ///
    /// `marks` are the one that the part before has left, and the new one. Before the first part there is none, and the tenant
    /// has no records. Keys come afterwards, and nobody serves the tenant until then.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Unexpected`](svc_core::ErrorKind::Unexpected) where the tenant has been written to by anybody else; trouble
    /// with the database.
    pub async fn restore(
        &self,
        tenant: &Tenant,
        changes: &[Change],
        clock: Timestamp,
        marks: (Option<&str>, &str),
    ) -> Result<()> {
        let number = self.known_number(tenant).await?;
        let name = mark_of(tenant);
        Ok(self.inner.restore(number, Part { changes, clock, name: &name, marks }).await?)
    }

    /// The mark that the last part of a copy has left, and whether nobody has written since; `None` where there was no copy.
    ///
    /// # Errors
    ///
    /// Trouble with the database, or an unknown tenant.
    pub async fn restored(&self, tenant: &Tenant) -> Result<Option<(String, bool)>> {
        let (number, inner) = (self.known_number(tenant).await?, &self.inner);
        let Some(known) = self.meta(mark_of(tenant)).await? else { return Ok(None) };
        let seq = Query::new(&*inner.texts.seq, values![number]);
        let given = inner.ask(&inner.pool, Some(number), vec![seq]).await?;
        let seq = given.first().and_then(|rows| rows.first()).map(|row| row.try_get(0)).transpose();
        let seq: i64 = seq.map_err(error::StoreError::from)?.unwrap_or_default();
        let mark = known.split_once(' ').map_or("", |(_, mark)| mark).to_owned();
        Ok(Some((mark.clone(), remembered(seq, &mark) == known)))
    }

    /// Takes a key over as it is: its token opens this store, too. One that is here already stays, and is revoked where the
    /// other one is.
    ///
    /// # Errors
    ///
    /// [`KeyError::TokenTaken`] where another key has the same token; trouble with the database, or an unknown tenant.
    pub async fn restore_key(&self, key: &IssuedKey) -> Result<(), KeyError> {
        match self.insert_key(key).await? {
            None => Ok(()),
            Some(known) if known.id == key.info.id && known.tenant == key.info.tenant => {
                if key.info.revoked.is_some() && known.revoked.is_none() {
                    self.revoke_key(&known.id).await?;
                }
                Ok(())
            }
            Some(_) => Err(KeyError::TokenTaken),
        }
    }

    async fn known_number(&self, tenant: &Tenant) -> Result<i64> {
        let number = self.number(tenant).await?;
        number.ok_or_else(|| Error::unexpected("this database has no such tenant"))
    }
}

/// Where it is remembered how far a copy of a tenant is.
fn mark_of(tenant: &Tenant) -> String {
    format!("restored.{}", tenant.as_str())
}

#[async_trait]
impl Scan for Store {
    async fn scan(&self, tenant: &Tenant, kind: Kind, after: i64, most: u32) -> Result<Vec<Stored>> {
        let (number, inner) = (self.known_number(tenant).await?, &self.inner);
        let page = values![number, code(kind), after, i64::from(most)];
        let given = inner.ask(&inner.pool, Some(number), vec![Query::new(&*inner.texts.rows_of_all, page)]).await?;
        Ok(given.iter().flatten().map(|row| rows::stored(row, 0)).collect::<error::Result<_>>()?)
    }
}
