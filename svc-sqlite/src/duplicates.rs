//! People who may be the same person: the index of their keys in the file, its pages, and dismissed
//! pairs.
//!
//! Requirements: DUP-01 to DUP-06.

use std::collections::HashSet;

use rusqlite::{Connection, OptionalExtension, Row};
use svc_core::{
    duplicates::MAX_PEOPLE_OF_KEY,
    model::Kind,
    store::{ApartPeople, DuplicatesPage},
    value::{Id, Timestamp},
};
use svc_store::duplicates::{DuplicatesQuery, HashedKey, MAX_COUNT, MAX_KEYS, SharedKey};
use svc_store::lookup::LookupHash;

use crate::{error::Result, record_id::RecordId, rows::by_row};

/// Returns a row with whether other people have the key; none if the person had it.
const ADD_KEY: &str = "INSERT INTO person_key (tenant, sort, hash, seq) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING
     RETURNING EXISTS (SELECT 1 FROM person_key WHERE tenant = ?1 AND sort = ?2 AND hash = ?3 AND seq <> ?4)";
/// Returns a row with whether other people have an address with the key; none if the person had it.
const ADD_ADDRESS: &str = "INSERT INTO email (tenant, hash, seq) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING
     RETURNING EXISTS (SELECT 1 FROM email WHERE tenant = ?1 AND hash BETWEEN ?4 AND ?5 AND seq <> ?3)";
const COUNT_MORE: &str =
    "INSERT INTO shared_key (tenant, sort, hash, members) VALUES (?1, ?2, ?3, 2)
     ON CONFLICT DO UPDATE SET members = members + 1 WHERE members < ?4";
const PEOPLE_WITH_KEY: &str = "SELECT seq FROM person_key WHERE tenant = ?1 AND sort = ?2 AND hash = ?3 ORDER BY seq LIMIT ?4";
const PEOPLE_WITH_ADDRESS: &str =
    "SELECT seq FROM email WHERE tenant = ?1 AND hash BETWEEN ?2 AND ?3 LIMIT ?4";
const SHARED_KEYS_FROM: &str = "SELECT sort, hash, members FROM shared_key
     WHERE tenant = ?1 AND (sort, hash) >= (?2, ?3) ORDER BY sort, hash LIMIT ?4";
const APART_FROM: &str =
    "SELECT other, at FROM apart WHERE tenant = ?1 AND one = ?2 ORDER BY other";
const FORGET: &str = "DELETE FROM apart WHERE tenant = ?1 AND (one = ?2 OR other = ?2)";

/// Adds a key of a person. A key that is an e-mail address is in the index of addresses instead: see
/// [`add_address`].
pub(crate) fn add_key(file: &Connection, tenant: i64, key: HashedKey, row: i64) -> Result<()> {
    let mut add = file.prepare_cached(ADD_KEY)?;
    let added = add.query_row((tenant, key.kind, key.hash, row), |row| row.get(0));
    match added.optional()? {
        Some(true) => count_one_more(file, tenant, key),
        _ => Ok(()),
    }
}

/// Adds an e-mail address of a person. `key` is the key of the person that it is, if it is one.
pub(crate) fn add_address(
    file: &Connection,
    tenant: i64,
    hash: &LookupHash,
    row: i64,
    key: Option<HashedKey>,
) -> Result<()> {
    let range = key.and_then(|key| Some((key, key.email_hashes()?)));
    let Some((key, [least, greatest])) = range else {
        let sql =
            "INSERT INTO email (tenant, hash, seq) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
        file.prepare_cached(sql)?.execute((tenant, hash, row))?;
        return Ok(());
    };
    let mut add = file.prepare_cached(ADD_ADDRESS)?;
    let added = add.query_row((tenant, hash, row, least, greatest), |row| row.get(0));
    match added.optional()? {
        Some(true) => count_one_more(file, tenant, key),
        _ => Ok(()),
    }
}

/// Removes a key of a person.
pub(crate) fn remove_key(file: &Connection, tenant: i64, key: HashedKey, row: i64) -> Result<()> {
    let sql = "DELETE FROM person_key WHERE tenant = ?1 AND sort = ?2 AND hash = ?3 AND seq = ?4";
    let removed = file
        .prepare_cached(sql)?
        .execute((tenant, key.kind, key.hash, row))?;
    if removed == 0 {
        return Ok(());
    }
    count_one_less(file, tenant, key)
}

/// Counts a person who got a key that other people have. Most keys have one person, and their number is not
/// stored.
fn count_one_more(file: &Connection, tenant: i64, key: HashedKey) -> Result<()> {
    let most = i64::try_from(MAX_COUNT).unwrap_or(i64::MAX);
    file.prepare_cached(COUNT_MORE)?
        .execute((tenant, key.kind, key.hash, most))?;
    Ok(())
}

/// Counts a person who lost a key.
pub(crate) fn count_one_less(file: &Connection, tenant: i64, key: HashedKey) -> Result<()> {
    let known = shared_keys_of(file, tenant, &[key])?;
    let members = match known.first().map(|shared| shared.people) {
        Some(members) if members < MAX_COUNT => members.saturating_sub(1),
        Some(_) => {
            let people = people_with(file, tenant, key, MAX_COUNT)?;
            u64::try_from(people.len()).unwrap_or(u64::MAX)
        }
        None => return Ok(()),
    };
    if members > 1 {
        let sql = "UPDATE shared_key SET members = ?4
                   WHERE tenant = ?1 AND sort = ?2 AND hash = ?3 AND members <> ?4";
        let members = i64::try_from(members).unwrap_or(i64::MAX);
        file.prepare_cached(sql)?
            .execute((tenant, key.kind, key.hash, members))?;
    } else {
        let sql = "DELETE FROM shared_key WHERE tenant = ?1 AND sort = ?2 AND hash = ?3";
        file.prepare_cached(sql)?
            .execute((tenant, key.kind, key.hash))?;
    }
    Ok(())
}

/// Returns the rows of the people with a key in ascending order, at most `most`.
fn people_with(file: &Connection, tenant: i64, key: HashedKey, most: u64) -> Result<Vec<i64>> {
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    let mut people: Vec<i64> = if let Some([least, greatest]) = key.email_hashes() {
        let mut read = file.prepare_cached(PEOPLE_WITH_ADDRESS)?;
        let people = read.query_map((tenant, least, greatest, most), |row| row.get(0))?;
        people.collect::<rusqlite::Result<_>>()?
    } else {
        let mut read = file.prepare_cached(PEOPLE_WITH_KEY)?;
        let people = read.query_map((tenant, key.kind, key.hash, most), |row| row.get(0))?;
        people.collect::<rusqlite::Result<_>>()?
    };
    // Different addresses can have the same key.
    people.sort_unstable();
    Ok(people)
}

/// Removes all keys of all tenants.
pub(crate) fn clear_keys(file: &Connection) -> Result<()> {
    file.execute("DELETE FROM person_key", ())?;
    file.execute("DELETE FROM shared_key", ())?;
    Ok(())
}

/// Returns a page of people who may be the same person.
pub(crate) fn page(
    file: &Connection,
    tenant: i64,
    query: &DuplicatesQuery<'_>,
) -> Result<DuplicatesPage> {
    let keys = match query.keys_of_person() {
        Some(keys) => shared_keys_of(file, tenant, keys)?,
        None => shared_keys_from(file, tenant, query.first_key())?,
    };
    let mut selected = query.select(keys);
    let compared: Vec<HashedKey> = selected.compared_keys().collect();
    for key in compared {
        let mut people = people_with(file, tenant, key, MAX_PEOPLE_OF_KEY)?;
        people.dedup();
        for row in people {
            selected.add(key, row);
        }
    }
    let mut people = Vec::new();
    for row in selected.rows() {
        people.extend(by_row(file, tenant, Kind::Person, row)?);
    }
    let pairs = query.compare(&selected, &people);
    let other_keys = shared_keys_of(file, tenant, &pairs.other_keys())?;
    let mut dismissed = HashSet::new();
    for people in pairs.people() {
        if is_apart(file, tenant, &people)? {
            dismissed.insert(people);
        }
    }
    Ok(query.page(pairs, &other_keys, &dismissed))
}

/// Returns the shared keys from a key on, in order: those of a page and one more.
fn shared_keys_from(file: &Connection, tenant: i64, first: HashedKey) -> Result<Vec<SharedKey>> {
    let most = i64::try_from(MAX_KEYS.saturating_add(1)).unwrap_or(i64::MAX);
    let mut keys = file.prepare_cached(SHARED_KEYS_FROM)?;
    let keys = keys.query_map((tenant, first.kind, first.hash, most), shared_key)?;
    Ok(keys.collect::<rusqlite::Result<_>>()?)
}

/// Returns those keys that several people have.
fn shared_keys_of(file: &Connection, tenant: i64, keys: &[HashedKey]) -> Result<Vec<SharedKey>> {
    let sql =
        "SELECT sort, hash, members FROM shared_key WHERE tenant = ?1 AND sort = ?2 AND hash = ?3";
    let mut read = file.prepare_cached(sql)?;
    let mut shared = Vec::new();
    for key in keys {
        let found = read.query_row((tenant, key.kind, key.hash), shared_key);
        shared.extend(found.optional()?);
    }
    Ok(shared)
}

fn shared_key(row: &Row<'_>) -> rusqlite::Result<SharedKey> {
    let key = HashedKey::new(row.get(0)?, row.get(1)?);
    let people: i64 = row.get(2)?;
    Ok(SharedKey::new(
        key,
        u64::try_from(people).unwrap_or_default(),
    ))
}

/// Returns whether two people, in the order of their ids, are dismissed as a pair.
pub(crate) fn is_apart(file: &Connection, tenant: i64, [one, other]: &[Id; 2]) -> Result<bool> {
    let sql = "SELECT 1 FROM apart WHERE tenant = ?1 AND one = ?2 AND other = ?3";
    let pair = (
        tenant,
        RecordId::try_parse(one)?,
        RecordId::try_parse(other)?,
    );
    Ok(file.prepare_cached(sql)?.exists(pair)?)
}

/// Records that two people are not the same person, or deletes this.
pub(crate) fn set_apart(file: &Connection, tenant: i64, apart: &ApartPeople) -> Result<()> {
    let [one, other] = &apart.people;
    let (one, other) = (RecordId::try_parse(one)?, RecordId::try_parse(other)?);
    match apart.since {
        Some(since) => file
            .prepare_cached(
                "INSERT INTO apart (tenant, one, other, at) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT DO UPDATE SET at = excluded.at",
            )?
            .execute((tenant, one, other, since.as_micros()))?,
        None => file
            .prepare_cached("DELETE FROM apart WHERE tenant = ?1 AND one = ?2 AND other = ?3")?
            .execute((tenant, one, other))?,
    };
    Ok(())
}

/// Returns the dismissed pairs of which a person is the one with the smaller id.
pub(crate) fn apart_from(
    file: &Connection,
    tenant: i64,
    person: RecordId,
) -> Result<Vec<ApartPeople>> {
    let mut pairs = file.prepare_cached(APART_FROM)?;
    let pairs = pairs.query_map((tenant, person), |row| {
        let (other, at): (RecordId, i64) = (row.get(0)?, row.get(1)?);
        let since = Some(Timestamp::from_micros(at));
        Ok(ApartPeople::new(person.to_id(), other.to_id(), since))
    })?;
    Ok(pairs.collect::<rusqlite::Result<_>>()?)
}

/// Changes a merged person in the dismissed pairs to the person that remains.
pub(crate) fn forward(file: &Connection, tenant: i64, from: RecordId, to: RecordId) -> Result<()> {
    // The pair of the two people is dismissed no longer.
    let renamed = "SELECT tenant, min(it, ?3), max(it, ?3), at FROM
                   (SELECT tenant, CASE WHEN one = ?2 THEN other ELSE one END AS it, at FROM apart
                    WHERE tenant = ?1 AND (one = ?2 OR other = ?2)) WHERE it <> ?3";
    let sql =
        format!("INSERT INTO apart (tenant, one, other, at) {renamed} ON CONFLICT DO NOTHING");
    file.prepare_cached(&sql)?.execute((tenant, from, to))?;
    forget(file, tenant, from)
}

/// Deletes the dismissed pairs of a person.
pub(crate) fn forget(file: &Connection, tenant: i64, person: RecordId) -> Result<()> {
    file.prepare_cached(FORGET)?.execute((tenant, person))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::schema::tests::{file, plan};

    /// The statements of keys, pages and dismissed pairs use an index, and do not sort.
    #[test]
    fn dup_01_statements_use_an_index() {
        let file = file();
        for sql in [
            super::ADD_KEY,
            super::ADD_ADDRESS,
            super::PEOPLE_WITH_KEY,
            super::PEOPLE_WITH_ADDRESS,
            super::SHARED_KEYS_FROM,
            super::APART_FROM,
            super::FORGET,
        ] {
            let steps = plan(&file, sql);
            assert!(
                !steps.contains("SCAN") && !steps.contains("B-TREE"),
                "{sql}\n{steps}"
            );
        }
    }
}
