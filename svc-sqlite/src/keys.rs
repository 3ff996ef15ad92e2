//! API keys: random, stored as SHA-256 only, checked from memory, revoked at once (AUT-01 to AUT-08, UND-15).

use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

use async_trait::async_trait;
use rusqlite::{Connection, Row};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use svc_core::Tenant;
use svc_core::auth::{Authenticator, Caller, Credentials, Right, Rights};
use svc_core::error::Result;
use svc_core::value::{Id, Timestamp};

use crate::file::open_reader;
use crate::options::Options;
use crate::store::Store;
use crate::trouble::{settle, taints};

/// Keys kept in memory; beyond, all are forgotten and read again as they come.
const REMEMBERED: usize = 10_000;
/// Checks of keys that run at the same time, each over a connection of its own.
const STATES: usize = 4;

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
struct Known {
    hash: Hash,
    tenant: Tenant,
    caller: Caller,
    expires: Option<Timestamp>,
}

/// The keys of a data file, in memory.
pub(crate) struct Keys {
    path: PathBuf,
    patience: Duration,
    /// Two requests on two cores do not wait for each other.
    states: [Mutex<State>; STATES],
}

/// One connection of its own: `data_version` tells what others, the writer included, committed since it last looked.
#[derive(Default)]
struct State {
    file: Option<Connection>,
    version: Option<i64>,
    epoch: i64,
    /// By prefix. Two keys with one prefix, which nobody can make on purpose, push each other out.
    known: HashMap<i64, Known>,
}

impl Keys {
    pub(crate) fn new(options: &Options) -> Self {
        Self {
            path: options.path.clone(),
            patience: options.busy_timeout,
            states: std::array::from_fn(|_| Mutex::default()),
        }
    }

    /// Whom a token stands for at this moment; `None` when it is unknown, revoked or expired (AUT-03).
    pub(crate) fn check(&self, token: &str, now: Timestamp) -> Result<Option<(Tenant, Caller)>> {
        let hash = hash(token);
        let mut state = self.state();
        let state = &mut *state;
        let known = state.find(self, &hash).map_err(|error| {
            if taints(&error) {
                state.file = None;
            }
            settle(error)
        });
        let known = known?.then(|| state.known.get(&prefix(&hash))).flatten();
        Ok(known
            .filter(|key| bool::from(key.hash.ct_eq(&hash)) && key.expires.is_none_or(|end| now < end))
            .map(|key| (key.tenant.clone(), key.caller.clone())))
    }
}

impl Keys {
    /// A state that nobody uses now, or else the first one.
    fn state(&self) -> MutexGuard<'_, State> {
        let free = self.states.iter().find_map(|state| match state.try_lock() {
            Ok(state) => Some(state),
            Err(TryLockError::Poisoned(state)) => Some(state.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        });
        let [first, ..] = &self.states;
        free.unwrap_or_else(|| first.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl State {
    /// Whether a key with the prefix of `hash` is now in memory; what has changed in the file is forgotten first.
    fn find(&mut self, keys: &Keys, hash: &Hash) -> Result<bool> {
        if self.file.is_none() {
            // Versions are a connection's own count.
            self.version = None;
        }
        let file = self.file.take().map_or_else(|| open_reader(&keys.path, keys.patience), Ok)?;
        let file = &*self.file.insert(file);
        let version = file.prepare_cached("PRAGMA data_version")?.query_row((), |row| row.get::<_, i64>(0))?;
        if self.version != Some(version) {
            // Somebody committed something; the epoch tells whether it was about keys. It is read after the version:
            // what is committed in between shows in the version next time.
            let epoch = file
                .prepare_cached("SELECT value FROM meta WHERE name = 'key_epoch'")?
                .query_row((), |row| row.get(0))?;
            if epoch != self.epoch {
                self.known.clear();
                self.epoch = epoch;
            }
            self.version = Some(version);
        }
        if self.known.get(&prefix(hash)).is_some_and(|key| bool::from(key.hash.ct_eq(hash))) {
            return Ok(true);
        }
        let Some(key) = read(file, hash)? else { return Ok(false) };
        if self.known.len() >= REMEMBERED {
            self.known.clear();
        }
        self.known.insert(prefix(hash), key);
        Ok(true)
    }
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
            Some(token) => self.keys().check(token, credentials.now),
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
