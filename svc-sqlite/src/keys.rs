//! API keys in the file: stored only as SHA-256, checked from memory, revoked immediately.
//!
//! Requirements: AUT-01 to AUT-08, UND-15.

use rusqlite::{Connection, Row};
use svc_core::{
    Tenant,
    auth::Principal,
    value::{Id, Timestamp},
};
use svc_store::keys::{KeyCache, KeyError, KeyInfo, StoredKey, TokenHash};

use crate::{
    commit_counter::CommitCounter,
    error::{Result, StoreError},
    metadata,
    read_pool::ReadPool,
    tenants,
};

const SELECT: &str = "SELECT api_key.id, tenant.name, hint, label, rights, read_only, person, api_key.created, expires,
     revoked, hash FROM api_key JOIN tenant ON tenant.id = api_key.tenant";

/// Returns the identity of a token, or `None` if the token is unknown, revoked or expired.
///
/// Requirements: AUT-03.
pub(crate) fn check(
    cache: &KeyCache,
    data_version: &CommitCounter,
    readers: &ReadPool,
    token: &str,
    now: Timestamp,
) -> Result<Option<Principal>> {
    let hash = TokenHash::from_token(token);
    if let Some(holder) = cache.get(&hash, data_version.key_epoch()?, now) {
        return Ok(holder);
    }
    let (epoch, key) =
        readers.with(|file| Ok((metadata::key_epoch(file)?, with_hash(file, &hash)?)))?;
    cache.insert(&hash, epoch, key.as_ref());
    Ok(key.and_then(|key| key.principal_at(now)))
}

/// Stores a key, unless a key with the same token exists.
pub(crate) fn add(file: &Connection, key: &StoredKey) -> Result<Result<KeyInfo, KeyError>> {
    let (info, hash) = (&key.info, &key.hash);
    let Some(tenant) = tenants::number(file, &info.tenant)? else {
        return Ok(Err(KeyError::UnknownTenant(
            info.tenant.as_str().to_owned(),
        )));
    };
    if let Some(existing) = with_hash(file, hash)? {
        return Ok(key.resolve_existing(existing));
    }
    file.prepare_cached(
        "INSERT INTO api_key (id, tenant, prefix, hash, hint, label, rights, read_only, person, created, expires)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
    )?
    .execute((
        &info.id,
        tenant,
        hash.prefix(),
        hash.as_bytes(),
        &info.hint,
        &info.label,
        info.stored_rights(),
        info.read_only,
        info.person.as_ref().map(Id::as_str),
        info.created.as_micros(),
        info.expires.map(Timestamp::as_micros),
    ))?;
    metadata::next_key_epoch(file)?;
    Ok(Ok(info.clone()))
}

/// Returns the keys of one tenant or of all in the order of issue, including revoked ones. `read`
/// converts each row.
fn all<T>(
    file: &Connection,
    tenant: Option<&Tenant>,
    read: fn(&Row<'_>) -> Result<T>,
) -> Result<Vec<T>> {
    let sql = format!(
        "{SELECT} WHERE ?1 IS NULL OR tenant.name = ?1 ORDER BY api_key.created, api_key.id"
    );
    let mut keys = file.prepare_cached(&sql)?;
    keys.query_and_then([tenant.map(Tenant::as_str)], read)?
        .collect()
}

/// Returns every key, in the form for key management.
pub(crate) fn list(file: &Connection, tenant: Option<&Tenant>) -> Result<Vec<KeyInfo>> {
    all(file, tenant, info)
}

/// Returns every key with its hash.
pub(crate) fn issued(file: &Connection) -> Result<Vec<StoredKey>> {
    all(file, None, |row| {
        let hash = TokenHash::from_bytes(row.get_ref(10)?.as_blob()?);
        Ok(StoredKey::from_stored(
            info(row)?,
            hash.ok_or_else(|| StoreError::unexpected("a stored key is damaged"))?,
        ))
    })
}

/// Revokes a key. Returns `false` if there is no active key with this id.
pub(crate) fn revoke(file: &Connection, id: &str, now: Timestamp) -> Result<bool> {
    let mut revoke =
        file.prepare_cached("UPDATE api_key SET revoked = ?2 WHERE id = ?1 AND revoked IS NULL")?;
    let revoked = revoke.execute((id, now.as_micros()))?;
    metadata::next_key_epoch(file)?;
    Ok(revoked > 0)
}

/// Returns the key with this hash, including a revoked one.
fn with_hash(file: &Connection, wanted: &TokenHash) -> Result<Option<KeyInfo>> {
    let mut keys = file.prepare_cached(&format!("{SELECT} WHERE prefix = ?1"))?;
    let mut rows = keys.query([wanted.prefix()])?;
    while let Some(row) = rows.next()? {
        if wanted.matches(row.get_ref(10)?.as_blob()?) {
            return info(row).map(Some);
        }
    }
    Ok(None)
}

fn info(row: &Row<'_>) -> Result<KeyInfo> {
    let moment = |column| {
        Ok::<_, rusqlite::Error>(
            row.get::<_, Option<i64>>(column)?
                .map(Timestamp::from_micros),
        )
    };
    let tenant = Tenant::new(row.get::<_, String>(1)?);
    let mut key = KeyInfo::new(row.get(0)?, tenant, Timestamp::from_micros(row.get(7)?));
    key.hint = row.get(2)?;
    key.label = row.get(3)?;
    key.read_rights(row.get::<_, Option<String>>(4)?.as_deref())?;
    key.read_only = row.get(5)?;
    key.person = row
        .get::<_, Option<String>>(6)?
        .as_deref()
        .and_then(Id::new);
    (key.expires, key.revoked) = (moment(8)?, moment(9)?);
    Ok(key)
}
