//! Pages of people who may be the same person.
//!
//! Requirements: DUP-01 to DUP-06.

use std::collections::HashSet;

use svc_core::{
    store::{ApartPeople, DuplicatesPage, StoredRecord},
    value::Id,
};
use svc_store::duplicates::{DuplicateIndex, DuplicatesQuery, HashedKey, MAX_KEYS, SharedKey};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::{
    database::DatabaseHandle,
    error::{Result, StoreError},
    pipeline::{SqlQuery, SqlValue, columns, of_tenant, values},
    rows::{stored, try_parse},
};

/// Returns the number of the kind of a key as it is stored.
pub(crate) fn sort(key: HashedKey) -> i16 {
    i16::try_from(key.kind).unwrap_or_default()
}

impl DatabaseHandle {
    /// Returns the hashes of keys.
    pub(crate) fn duplicate_index(&self) -> Result<&DuplicateIndex> {
        let index = self.duplicates.get();
        index.ok_or_else(|| StoreError::unexpected("the secret of the database is not read yet"))
    }

    /// Returns a page of people who may be the same person.
    pub(crate) async fn duplicates(
        &self,
        tenant: i64,
        query: &DuplicatesQuery<'_>,
    ) -> Result<DuplicatesPage> {
        let texts = &self.texts.duplicates;
        let keys = if let Some(keys) = query.keys_of_person() {
            self.shared_keys(tenant, keys).await?
        } else {
            let first = query.first_key();
            let most = i64::try_from(MAX_KEYS.saturating_add(1)).unwrap_or(i64::MAX);
            let values = values![tenant, sort(first), first.hash, most];
            let rows = self.rows(tenant, &texts.shared_from, values).await?;
            rows.iter().map(shared_key).collect::<Result<_>>()?
        };
        let mut selected = query.select(keys);
        let compared: Vec<HashedKey> = selected.compared_keys().collect();
        let values = of_keys(tenant, &compared);
        for row in self.rows(tenant, &texts.people_of_keys, values).await? {
            selected.add(key(&row)?, row.try_get(2)?);
        }
        let rows = values![tenant, selected.rows()];
        let people = self.rows(tenant, &texts.people, rows).await?;
        let people: Vec<StoredRecord> = people
            .iter()
            .map(|row| stored(row, 0))
            .collect::<Result<_>>()?;
        let pairs = query.compare(&selected, &people);
        let other_keys = self.shared_keys(tenant, &pairs.other_keys()).await?;
        let mut people: Vec<(Uuid, Uuid)> = Vec::new();
        for [one, other] in pairs.people() {
            people.push((try_parse(&one)?, try_parse(&other)?));
        }
        let mut dismissed = HashSet::new();
        if !people.is_empty() {
            let values = of_tenant(tenant, [columns!(people; 0, 1)]);
            for row in self.rows(tenant, &texts.apart, values).await? {
                let (one, other): (Uuid, Uuid) = (row.try_get(0)?, row.try_get(1)?);
                let people = ApartPeople::new(Id::from(one), Id::from(other), None);
                dismissed.insert(people.people);
            }
        }
        Ok(query.page(pairs, &other_keys, &dismissed))
    }

    /// Records that two people are not the same person, or deletes this.
    pub(crate) async fn set_apart(&self, tenant: i64, apart: &ApartPeople) -> Result<()> {
        let (text, values) = self.texts.duplicates.apart_change(tenant, apart)?;
        self.query_one(Some(tenant), SqlQuery::new(text, values))
            .await
            .map(drop)
    }

    /// Returns those keys that several people have.
    async fn shared_keys(&self, tenant: i64, keys: &[HashedKey]) -> Result<Vec<SharedKey>> {
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        let values = of_keys(tenant, keys);
        let text = &self.texts.duplicates.shared;
        let rows = self.rows(tenant, text, values).await?;
        rows.iter().map(shared_key).collect()
    }

    async fn rows(&self, tenant: i64, text: &str, values: Vec<SqlValue>) -> Result<Vec<Row>> {
        let query = SqlQuery::new(text, values);
        let mut given = self.read(tenant, vec![query]).await?;
        Ok(given.pop().unwrap_or_default())
    }
}

fn of_keys(tenant: i64, keys: &[HashedKey]) -> Vec<SqlValue> {
    let mut keys: Vec<(i16, i64)> = keys.iter().map(|key| (sort(*key), key.hash)).collect();
    of_tenant(tenant, [columns!(keys; 0, 1)])
}

fn key(row: &Row) -> Result<HashedKey> {
    let (sort, hash): (i16, i64) = (row.try_get(0)?, row.try_get(1)?);
    Ok(HashedKey::new(sort.into(), hash))
}

fn shared_key(row: &Row) -> Result<SharedKey> {
    let members: i64 = row.try_get(2)?;
    let people = u64::try_from(members).unwrap_or_default();
    Ok(SharedKey::new(key(row)?, people))
}
