//! Pages of people who may be the same person.
//!
//! Requirements: DUP-01 to DUP-06.

use std::collections::HashSet;

use svc_core::{
    Error, Tenant,
    model::Kind,
    store::{
        ApartPeople, DuplicatesRequest, DuplicatesResponse, Lookup, LookupKey, StoredPair,
        StoredRecord,
    },
    value::Id,
};
use svc_store::duplicates::{DuplicateIndex, DuplicatesQuery, HashedKey, MAX_KEYS, SharedKey};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::{
    database::{DatabaseHandle, Snapshot},
    error::{Result, StoreError},
    lookups::LookupBatch,
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

    /// Returns a page of people who may be the same person, from one snapshot.
    pub(crate) async fn duplicates(
        &self,
        tenant: i64,
        of: &Tenant,
        request: &DuplicatesRequest,
    ) -> Result<DuplicatesResponse> {
        self.in_snapshot(tenant, |snapshot| {
            self.duplicates_in(snapshot, tenant, of, request)
        })
        .await
    }

    async fn duplicates_in(
        &self,
        mut snapshot: Snapshot,
        tenant: i64,
        of: &Tenant,
        request: &DuplicatesRequest,
    ) -> Result<DuplicatesResponse> {
        let (texts, index) = (&self.texts.duplicates, self.duplicate_index()?);
        let mut person = None;
        if let Some(id) = &request.person {
            let mut fetch = self.people([id], tenant);
            let given = snapshot.read(fetch.take_queries()).await?;
            person = fetch.records(&given)?.pop();
            if person.is_none() {
                snapshot.read_last(Vec::new()).await?;
                return Err(Error::not_found().into());
            }
        }
        let query = match DuplicatesQuery::new(index, of, request, person.as_ref()) {
            Ok(query) => query,
            Err(refused) => {
                snapshot.read_last(Vec::new()).await?;
                return Ok(refused);
            }
        };
        let keys = if let Some(keys) = query.keys_of_person() {
            SqlQuery::new(&*texts.shared, of_keys(tenant, keys))
        } else {
            let first = query.first_key();
            let most = i64::try_from(MAX_KEYS.saturating_add(1)).unwrap_or(i64::MAX);
            let values = values![tenant, sort(first), first.hash, most];
            SqlQuery::new(&*texts.shared_from, values)
        };
        let mut selected = query.select(shared_keys(&snapshot.read(vec![keys]).await?)?);
        let compared: Vec<HashedKey> = selected.compared_keys().collect();
        let people = SqlQuery::new(&*texts.people_of_keys, of_keys(tenant, &compared));
        for row in snapshot.read(vec![people]).await?.iter().flatten() {
            selected.add(key(row)?, row.try_get(2)?);
        }
        let people = SqlQuery::new(&*texts.people, values![tenant, selected.rows()]);
        let people = snapshot.read(vec![people]).await?;
        let people: Vec<StoredRecord> = people
            .iter()
            .flatten()
            .map(|row| stored(row, 0))
            .collect::<Result<_>>()?;
        let pairs = query.compare(&selected, &people);
        let mut people: Vec<(Uuid, Uuid)> = Vec::new();
        for [one, other] in pairs.people() {
            people.push((try_parse(&one)?, try_parse(&other)?));
        }
        let last = vec![
            SqlQuery::new(&*texts.shared, of_keys(tenant, &pairs.other_keys())),
            SqlQuery::new(&*texts.apart, of_tenant(tenant, [columns!(people; 0, 1)])),
        ];
        let mut given = snapshot.read_last(last).await?;
        let mut dismissed = HashSet::new();
        for row in given.pop().iter().flatten() {
            let (one, other): (Uuid, Uuid) = (row.try_get(0)?, row.try_get(1)?);
            let people = ApartPeople::new(Id::from(one), Id::from(other), None);
            dismissed.insert(people.people);
        }
        let page = query.page(pairs, &shared_keys(&given)?, &dismissed);
        Ok(DuplicatesResponse::Page(page))
    }

    /// Returns two people, and whether they are dismissed as a pair, from one snapshot. Returns `None` if
    /// one of them does not exist.
    pub(crate) async fn duplicate_pair(
        &self,
        tenant: i64,
        people: [&Id; 2],
    ) -> Result<Option<StoredPair>> {
        let [Some(one), Some(other)] = people.map(Id::as_uuid) else {
            return Ok(None);
        };
        let apart = [one.min(other), one.max(other)];
        self.in_snapshot(tenant, |snapshot| {
            self.pair_in(snapshot, tenant, people, apart)
        })
        .await
    }

    async fn pair_in(
        &self,
        snapshot: Snapshot,
        tenant: i64,
        people: [&Id; 2],
        [one, other]: [Uuid; 2],
    ) -> Result<Option<StoredPair>> {
        let mut fetch = self.people(people, tenant);
        let mut queries = fetch.take_queries();
        let apart = values![tenant, vec![one], vec![other]];
        queries.push(SqlQuery::new(&*self.texts.duplicates.apart, apart));
        let mut given = snapshot.read_last(queries).await?;
        let is_dismissed = given.pop().is_some_and(|rows| !rows.is_empty());
        let mut found = fetch.records(&given)?;
        let people = found.pop().zip(found.pop());
        Ok(people.map(|(one, other)| StoredPair::new(one, other, is_dismissed)))
    }

    /// Returns the lookups of people with these ids.
    fn people<const N: usize>(&self, ids: [&Id; N], tenant: i64) -> LookupBatch<'_> {
        let people = ids.map(|id| Lookup::Record(LookupKey::Id(Kind::Person, id.clone())));
        LookupBatch::new(&self.texts, tenant, people.into())
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

/// Returns the keys in the rows of a statement.
fn shared_keys(given: &[Vec<Row>]) -> Result<Vec<SharedKey>> {
    given.iter().flatten().map(shared_key).collect()
}

fn shared_key(row: &Row) -> Result<SharedKey> {
    let members: i64 = row.try_get(2)?;
    let people = u64::try_from(members).unwrap_or_default();
    Ok(SharedKey::new(key(row)?, people))
}
