//! API keys: random, stored as SHA-256 only, checked from memory, revoked at once (AUT-01 to AUT-08, UND-15).

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use async_trait::async_trait;
use rusqlite::{Connection, Row};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use svc_core::Tenant;
use svc_core::auth::{Authenticator, Caller, Credentials, Right, Rights};
use svc_core::error::Result;
use svc_core::value::{Id, Timestamp};

use crate::changes::Changes;
use crate::readers::Readers;
use crate::store::Store;
use crate::trouble::settle;

/// Keys kept in memory; beyond, all are forgotten and read again as they come.
const REMEMBERED: usize = 10_000;

/// SHA-256 of a key's token.
pub(crate) type Hash = [u8; 32];

pub(crate) fn hash(token: &str) -> Hash {
    Sha256::digest(token).into()
}

/// The part of a hash that keys are looked up with; the rest is compared in constant time.
pub(crate) fn prefix(hash: &Hash) -> i64 {
    hash.first_chunk().map_or(0, |first| i64::from_be_bytes(*first))
}

/// A key that is in force, as far as its hash goes.
#[derive(Clone)]
struct Known {
    hash: Hash,
    tenant: Tenant,
    caller: Caller,
    expires: Option<Timestamp>,
}

/// The keys of a data file, in memory.
pub(crate) struct Keys {
    changes: Arc<Changes>,
    known: RwLock<KnownKeys>,
}

/// Keys that were looked up, as they were after so many changes to keys.
#[derive(Default)]
struct KnownKeys {
    epoch: i64,
    /// By prefix. Two keys with one prefix, which nobody can make on purpose, push each other out.
    by_prefix: HashMap<i64, Known>,
}

impl Keys {
    pub(crate) fn new(changes: Arc<Changes>) -> Self {
        Self { changes, known: RwLock::default() }
    }

    /// Whom a token stands for at this moment; `None` when it is unknown, revoked or expired (AUT-03).
    pub(crate) fn check(&self, readers: &Readers, token: &str, now: Timestamp) -> Result<Option<(Tenant, Caller)>> {
        let hash = hash(token);
        let current = self.changes.key_epoch().map_err(|error| settle(error.into()))?;
        {
            let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
            if known.epoch == current
                && let Some(key) = known.find(&hash)
            {
                return Ok(key.holder(now));
            }
        }
        let (epoch, key) = readers.with(|file| Ok((epoch(file)?, read(file, &hash)?)))?;
        let holder = key.as_ref().and_then(|key| key.holder(now));
        self.known.write().unwrap_or_else(PoisonError::into_inner).learn(epoch, key);
        Ok(holder)
    }
}

impl KnownKeys {
    fn find(&self, hash: &Hash) -> Option<&Known> {
        self.by_prefix.get(&prefix(hash)).filter(|key| bool::from(key.hash.ct_eq(hash)))
    }

    /// Keeps what was read after so many changes; what is older than what is known already is not kept.
    fn learn(&mut self, epoch: i64, key: Option<Known>) {
        if epoch < self.epoch {
            return;
        }
        if epoch > self.epoch || self.by_prefix.len() >= REMEMBERED {
            self.by_prefix.clear();
        }
        self.epoch = epoch;
        if let Some(key) = key {
            self.by_prefix.insert(prefix(&key.hash), key);
        }
    }
}

impl Known {
    /// Whom the key stands for, unless it has expired.
    fn holder(&self, now: Timestamp) -> Option<(Tenant, Caller)> {
        self.expires.is_none_or(|end| now < end).then(|| (self.tenant.clone(), self.caller.clone()))
    }
}

/// The number of changes to keys.
pub(crate) fn epoch(file: &Connection) -> rusqlite::Result<i64> {
    let mut epoch = file.prepare_cached("SELECT value FROM meta WHERE name = 'key_epoch'")?;
    epoch.query_row((), |row| row.get(0))
}

/// The key with this hash, unless it is revoked.
fn read(file: &Connection, wanted: &Hash) -> Result<Option<Known>> {
    let mut keys = file.prepare_cached(
        "SELECT api_key.hash, tenant.name, rights, read_only, person, expires
         FROM api_key JOIN tenant ON tenant.id = api_key.tenant WHERE prefix = ?1 AND revoked IS NULL",
    )?;
    let mut rows = keys.query([prefix(wanted)])?;
    while let Some(row) = rows.next()? {
        let hash: Hash = row.get(0)?;
        if bool::from(hash.ct_eq(wanted)) {
            let rights = match row.get::<_, Option<String>>(2)? {
                Some(only) => Rights::only(rights_of(&only)?),
                None => Rights::all(),
            };
            let rights = if row.get(3)? { rights.reading() } else { rights };
            return Ok(Some(Known {
                hash,
                tenant: Tenant::new(row.get::<_, String>(1)?),
                caller: Caller::with_rights(rights).bound_to(person_of(row, 4)?),
                expires: row.get::<_, Option<i64>>(5)?.map(Timestamp::from_micros),
            }));
        }
    }
    Ok(None)
}

/// Rights as they are stored: `people.create helper.record_signature`.
pub(crate) fn rights_of(text: &str) -> Result<Vec<Right>> {
    Ok(text.split_ascii_whitespace().map(str::parse).collect::<std::result::Result<_, _>>()?)
}

/// The person that a key is bound to.
pub(crate) fn person_of(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<Id>> {
    Ok(row.get::<_, Option<String>>(column)?.as_deref().and_then(Id::new))
}

/// A store knows its own keys: the key of a request gives tenant and rights (AUT-01 to AUT-04).
#[async_trait]
impl Authenticator for Store {
    async fn authenticate(&self, credentials: Credentials<'_>) -> Result<Option<(Tenant, Caller)>> {
        match credentials.key {
            Some(token) => self.keys().check(self.readers(), token, credentials.now),
            None => Ok(None),
        }
    }
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Keys")
    }
}

/// What is stored of a token besides its hash, so that a person knows it again: its last four characters.
pub(crate) fn hint(token: &str) -> String {
    let start = token.char_indices().rev().nth(3).map_or(0, |(index, _)| index);
    token.get(start..).unwrap_or_default().to_owned()
}

/// A random token: `svck_` and 64 hex digits.
pub(crate) fn random_token() -> Result<String> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes)?;
    Ok(format!("svck_{}", crate::hex::encode(&bytes)))
}
