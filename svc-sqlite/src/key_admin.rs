//! Issuing, listing and revoking API keys (UND-15).

use std::collections::BTreeSet;
use std::fmt;

use rusqlite::{Connection, OptionalExtension, Row};
use svc_core::Tenant;
use svc_core::auth::Right;
use svc_core::error::{Error, Result};
use svc_core::value::{Id, Timestamp};

use crate::keys::{Hash, hash, hint, person_of, prefix, random_token, rights_of};
use crate::store::Store;
use crate::tenants;
use crate::writer::Job;

/// What a new key may do, and for how long (UND-15, AUT-04). The default may do everything, for ever.
///
/// ```
/// use svc_sqlite::KeyOptions;
///
/// let form = KeyOptions::new("web form").only(["helper.record_signature".parse().unwrap()]);
/// let reports = KeyOptions::new("reports").read_only();
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeyOptions {
    label: String,
    rights: Option<BTreeSet<Right>>,
    read_only: bool,
    person: Option<Id>,
    expires: Option<Timestamp>,
}

impl KeyOptions {
    /// A key that may do everything; the label is for the people who manage keys.
    pub fn new(label: impl Into<String>) -> Self {
        Self { label: label.into(), ..Self::default() }
    }

    /// It may do only this.
    #[must_use]
    pub fn only(mut self, rights: impl IntoIterator<Item = Right>) -> Self {
        self.rights = Some(rights.into_iter().collect());
        self
    }

    /// It may change nothing.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        self.read_only = true;
        self
    }

    /// It is bound to a person of its tenant: the `creator` and `modified_by` of what it writes.
    #[must_use]
    pub fn person(mut self, person: Id) -> Self {
        self.person = Some(person);
        self
    }

    /// It is in force until this moment.
    #[must_use]
    pub fn expires(mut self, end: Timestamp) -> Self {
        self.expires = Some(end);
        self
    }
}

/// A key as the people who manage keys see it; the token itself is nowhere (UND-15).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeyInfo {
    /// Names the key in this list and for its revocation; not secret.
    pub id: String,
    /// The tenant whose data it opens.
    pub tenant: Tenant,
    /// The last four characters of the token.
    pub hint: String,
    /// What it is for.
    pub label: String,
    /// What it may do; everything when `None`.
    pub rights: Option<BTreeSet<Right>>,
    /// Whether it may change nothing.
    pub read_only: bool,
    /// The person it is bound to.
    pub person: Option<Id>,
    /// When it was issued.
    pub created: Timestamp,
    /// Until when it is in force.
    pub expires: Option<Timestamp>,
    /// When it was revoked.
    pub revoked: Option<Timestamp>,
}

/// A key that was just issued: the only moment at which its token is known.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NewKey {
    /// Names the key for its revocation; not secret.
    pub id: String,
    /// The secret that goes into the key header.
    pub token: String,
}

impl fmt::Debug for NewKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NewKey").field("id", &self.id).finish_non_exhaustive()
    }
}

/// Why a key was not issued.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// There is no such tenant.
    #[error("there is no tenant named `{0}`")]
    TenantUnknown(String),
    /// A token must fit into a header.
    #[error("a key has 1 to 256 visible ASCII characters, without spaces")]
    TokenUnfit,
    /// Another tenant has this token.
    #[error("another tenant has this key already; choose another one")]
    TokenTaken,
    /// The token was revoked; it does not come back.
    #[error("this key was revoked; choose another one")]
    TokenRevoked,
    /// The data file cannot be used now.
    #[error("the data file cannot be used: {0:?}")]
    Storage(Error),
}

impl From<Error> for KeyError {
    fn from(error: Error) -> Self {
        Self::Storage(error)
    }
}

impl Store {
    /// Issues a random key (UND-15).
    ///
    /// # Errors
    /// Storage trouble, or an unknown tenant.
    pub async fn create_key(&self, tenant: &Tenant, options: KeyOptions) -> Result<NewKey, KeyError> {
        let token = random_token()?;
        let key = self.add_key(tenant, &token, options).await?;
        Ok(NewKey { id: key.id, token })
    }

    /// Makes a key with a token that was chosen before, unless this tenant has it already; then that one is returned as
    /// it is (UND-15).
    ///
    /// # Errors
    /// Storage trouble, or why this token cannot be used.
    pub async fn add_key_with_token(
        &self,
        tenant: &Tenant,
        token: &str,
        options: KeyOptions,
    ) -> Result<KeyInfo, KeyError> {
        if !(1..=256).contains(&token.len()) || !token.bytes().all(|letter| letter.is_ascii_graphic()) {
            return Err(KeyError::TokenUnfit);
        }
        self.add_key(tenant, token, options).await
    }

    async fn add_key(&self, tenant: &Tenant, token: &str, options: KeyOptions) -> Result<KeyInfo, KeyError> {
        let mut id = [0; 8];
        getrandom::fill(&mut id).map_err(Error::from)?;
        let key = KeyInfo {
            id: crate::hex::encode(&id),
            tenant: tenant.clone(),
            hint: hint(token),
            label: options.label,
            rights: options.rights,
            read_only: options.read_only,
            person: options.person,
            created: self.now(),
            expires: options.expires,
            revoked: None,
        };
        let hash = hash(token);
        self.writer().run(None, move |job| add(job, &key, &hash)).await?
    }

    /// Every key, revoked ones too, of one tenant or of all, in the order in which they were issued (UND-15).
    ///
    /// # Errors
    /// Storage trouble.
    pub fn list_keys(&self, tenant: Option<&Tenant>) -> Result<Vec<KeyInfo>> {
        self.readers().with(|file| {
            let sql = format!("{SELECT} WHERE ?1 IS NULL OR tenant.name = ?1 ORDER BY api_key.created, api_key.id");
            let mut keys = file.prepare_cached(&sql)?;
            let mut rows = keys.query([tenant.map(Tenant::as_str)])?;
            let mut list = Vec::new();
            while let Some(row) = rows.next()? {
                list.push(info(row)?);
            }
            Ok(list)
        })
    }

    /// Revokes a key; when this has returned, no check in any process takes it (UND-15). `false`: no such key in force.
    ///
    /// # Errors
    /// Storage trouble.
    pub async fn revoke_key(&self, id: &str) -> Result<bool> {
        let (id, now) = (id.to_owned(), self.now());
        let revoke = move |job: &mut Job<'_>| {
            let revoked = job
                .prepare_cached("UPDATE api_key SET revoked = ?2 WHERE id = ?1 AND revoked IS NULL")?
                .execute((&id, now.micros()))?;
            next_epoch(job)?;
            Ok(revoked > 0)
        };
        self.writer().run(None, revoke).await
    }
}

fn add(job: &Job<'_>, key: &KeyInfo, hash: &Hash) -> Result<Result<KeyInfo, KeyError>> {
    let Some(tenant) = tenants::id(job, &key.tenant)? else {
        return Ok(Err(KeyError::TenantUnknown(key.tenant.as_str().to_owned())));
    };
    if let Some(existing) = with_hash(job, hash)? {
        return Ok(match existing.revoked {
            _ if existing.tenant != key.tenant => Err(KeyError::TokenTaken),
            Some(_) => Err(KeyError::TokenRevoked),
            None => Ok(existing),
        });
    }
    let rights = key.rights.as_ref().map(|rights| {
        let names: Vec<_> = rights.iter().map(ToString::to_string).collect();
        names.join(" ")
    });
    job.prepare_cached(
        "INSERT INTO api_key (id, tenant, prefix, hash, hint, label, rights, read_only, person, created, expires)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
    )?
    .execute((
        &key.id,
        tenant,
        prefix(hash),
        hash,
        &key.hint,
        &key.label,
        rights,
        key.read_only,
        key.person.as_ref().map(Id::as_str),
        key.created.micros(),
        key.expires.map(Timestamp::micros),
    ))?;
    next_epoch(job)?;
    Ok(Ok(key.clone()))
}

/// Tells every process that what it remembers of the keys may be out of date.
fn next_epoch(job: &Job<'_>) -> Result<()> {
    job.prepare_cached("UPDATE meta SET value = value + 1 WHERE name = 'key_epoch'")?.execute(())?;
    Ok(())
}

const SELECT: &str = "SELECT api_key.id, tenant.name, hint, label, rights, read_only, person, api_key.created, expires,
     revoked, hash FROM api_key JOIN tenant ON tenant.id = api_key.tenant";

fn info(row: &Row<'_>) -> Result<KeyInfo> {
    let rights: Option<String> = row.get(4)?;
    Ok(KeyInfo {
        id: row.get(0)?,
        tenant: Tenant::new(row.get::<_, String>(1)?),
        hint: row.get(2)?,
        label: row.get(3)?,
        rights: rights.map(|rights| rights_of(&rights)).transpose()?.map(|rights| rights.into_iter().collect()),
        read_only: row.get(5)?,
        person: person_of(row, 6)?,
        created: Timestamp::from_micros(row.get(7)?),
        expires: row.get::<_, Option<i64>>(8)?.map(Timestamp::from_micros),
        revoked: row.get::<_, Option<i64>>(9)?.map(Timestamp::from_micros),
    })
}

/// The key with this hash, revoked or not.
fn with_hash(file: &Connection, wanted: &Hash) -> Result<Option<KeyInfo>> {
    let mut key = file.prepare_cached(&format!("{SELECT} WHERE prefix = ?1 AND hash = ?2"))?;
    key.query_row((prefix(wanted), wanted), |row| Ok(info(row))).optional()?.transpose()
}
