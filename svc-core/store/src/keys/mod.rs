//! API keys. They are random, stored as SHA-256 hashes, cached in memory, and revoked immediately.
//!
//! A store stores a [`KeyInfo`] and a [`TokenHash`] for each key. It also stores a number that
//! increases whenever a key is created or revoked: the epoch of [`KeyCache`].
//!
//! Requirements: AUT-01 to AUT-08, UND-15.

mod cache;

use std::{collections::BTreeSet, fmt};

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use svc_core::{
    auth::{Caller, ParseRightError, Principal, Right, Rights},
    context::Tenant,
    error::{Error, Result},
    value::{Id, Timestamp},
};

use super::hex;
pub use cache::{KeyCache, KeyCacheEpochs};

/// The SHA-256 hash of the token of a key.
#[derive(Clone, Copy)]
pub struct TokenHash([u8; 32]);

impl TokenHash {
    /// Returns the hash of a token.
    #[must_use]
    pub fn from_token(token: &str) -> Self {
        Self(Sha256::digest(token).into())
    }

    /// Returns a hash from stored bytes, or `None` if the length is wrong.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// Returns the part of the hash that is used for lookups. The rest is compared in constant
    /// time.
    #[must_use]
    pub fn prefix(&self) -> i64 {
        self.0
            .first_chunk()
            .map_or(0, |first| i64::from_be_bytes(*first))
    }

    /// Returns the bytes to store.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns whether the stored bytes are equal to this hash, in constant time.
    #[must_use]
    pub fn matches(&self, stored: &[u8]) -> bool {
        self.0.as_slice().ct_eq(stored).into()
    }
}

impl fmt::Debug for TokenHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenHash")
    }
}

/// A new key to store.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct StoredKey {
    /// The data to store next to the hash.
    pub info: KeyInfo,
    /// The hash of the token.
    pub hash: TokenHash,
}

impl StoredKey {
    /// Creates a key with a random token of `svck_` and 64 hex digits. Returns it with the token
    /// for its holder.
    ///
    /// # Errors
    ///
    /// Returns an error if the system provides no random bytes.
    ///
    /// Requirements: UND-15.
    pub fn random(
        tenant: &Tenant,
        options: KeyOptions,
        now: Timestamp,
    ) -> Result<(Self, CreatedKey)> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes)?;
        let token = format!("svck_{}", hex::encode(&bytes));
        let key = Self::new(tenant, &token, options, now)?;
        let id = key.info.id.clone();
        Ok((key, CreatedKey { id, token }))
    }

    /// Creates a key from the stored data of another store.
    #[must_use]
    pub fn from_stored(info: KeyInfo, hash: TokenHash) -> Self {
        Self { info, hash }
    }

    /// The minimum length of a custom token. Short tokens could be guessed, because the number of
    /// attempts is not limited.
    pub const MIN_TOKEN_LENGTH: usize = 20;

    /// Creates a key with a custom token.
    ///
    /// # Errors
    ///
    /// Returns an error if the token is not a valid header value, if it is shorter than
    /// [`MIN_TOKEN_LENGTH`](Self::MIN_TOKEN_LENGTH), or if the system provides no random bytes.
    ///
    /// Requirements: UND-15.
    pub fn with_token(
        tenant: &Tenant,
        token: &str,
        options: KeyOptions,
        now: Timestamp,
    ) -> Result<Self, KeyError> {
        if token.len() > 256 || !token.bytes().all(|letter| letter.is_ascii_graphic()) {
            return Err(KeyError::InvalidToken);
        }
        if token.len() < Self::MIN_TOKEN_LENGTH {
            return Err(KeyError::TokenTooShort);
        }
        Ok(Self::new(tenant, token, options, now)?)
    }

    fn new(tenant: &Tenant, token: &str, options: KeyOptions, now: Timestamp) -> Result<Self> {
        let mut id = [0; 8];
        getrandom::fill(&mut id)?;
        let info = KeyInfo {
            hint: hint(token),
            label: options.label,
            rights: options.rights,
            read_only: options.read_only,
            person: options.person,
            expires: options.expires,
            ..KeyInfo::new(hex::encode(&id), tenant.clone(), now)
        };
        Ok(Self {
            info,
            hash: TokenHash::from_token(token),
        })
    }

    /// Returns the result if a key with this token already exists: the existing key if it belongs
    /// to the same tenant and is not revoked.
    ///
    /// # Errors
    ///
    /// Returns the reason why the token cannot be used.
    pub fn resolve_existing(&self, existing: KeyInfo) -> Result<KeyInfo, KeyError> {
        match existing.revoked {
            _ if existing.tenant != self.info.tenant => Err(KeyError::TokenInUse),
            Some(_) => Err(KeyError::TokenRevoked),
            None => Ok(existing),
        }
    }
}

/// The minimum length of a token of which a part is stored as plain text.
const HINTED: usize = 16;

/// Returns the last four characters of a token, so that people can recognize it. Returns nothing
/// for a short token, because they would help to guess it.
fn hint(token: &str) -> String {
    if token.len() < HINTED {
        return String::new();
    }
    let start = token
        .char_indices()
        .rev()
        .nth(3)
        .map_or(0, |(index, _)| index);
    token.get(start..).unwrap_or_default().to_owned()
}

/// The rights and the lifetime of a new key. By default, a key has all rights and does not expire.
///
/// ```
/// use svc_store::keys::KeyOptions;
///
/// let form = KeyOptions::new("web form").rights(["helper.record_signature".parse().unwrap()]);
/// let reports = KeyOptions::new("reports").read_only();
/// ```
///
/// Requirements: UND-15, AUT-04.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeyOptions {
    label: String,
    rights: Option<BTreeSet<Right>>,
    read_only: bool,
    person: Option<Id>,
    expires: Option<Timestamp>,
}

impl KeyOptions {
    /// Creates options for a key with all rights. The label is shown to people who manage keys.
    pub fn new(label: impl Into<String>) -> Self {
        Self {
            label: label.into(),
            ..Self::default()
        }
    }

    /// Limits the key to these rights.
    #[must_use]
    pub fn rights(mut self, rights: impl IntoIterator<Item = Right>) -> Self {
        self.rights = Some(rights.into_iter().collect());
        self
    }

    /// Makes the key read-only.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        self.read_only = true;
        self
    }

    /// Binds the key to a person of its tenant, who becomes the `creator` and `modified_by` of its
    /// writes.
    #[must_use]
    pub fn person(mut self, person: Id) -> Self {
        self.person = Some(person);
        self
    }

    /// Sets when the key expires.
    #[must_use]
    pub fn expires_at(mut self, end: Timestamp) -> Self {
        self.expires = Some(end);
        self
    }
}

/// The data of a key for people who manage keys. It does not contain the token.
///
/// Requirements: UND-15.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeyInfo {
    /// Identifies the key in lists and for its revocation; not secret.
    pub id: String,
    /// The tenant whose data the key can access.
    pub tenant: Tenant,
    /// The last four characters of the token; empty for a short token.
    pub hint: String,
    /// The purpose of the key.
    pub label: String,
    /// The rights of the key; all rights if `None`.
    pub rights: Option<BTreeSet<Right>>,
    /// Whether the key is read-only.
    pub read_only: bool,
    /// The person that the key is bound to.
    pub person: Option<Id>,
    /// When the key was created.
    pub created: Timestamp,
    /// When the key expires.
    pub expires: Option<Timestamp>,
    /// When the key was revoked.
    pub revoked: Option<Timestamp>,
}

impl KeyInfo {
    /// Creates the data of a key with all rights that does not expire.
    #[must_use]
    pub fn new(id: String, tenant: Tenant, created: Timestamp) -> Self {
        Self {
            id,
            tenant,
            hint: String::new(),
            label: String::new(),
            rights: None,
            read_only: false,
            person: None,
            created,
            expires: None,
            revoked: None,
        }
    }

    /// Returns the principal of the key, or `None` if it is revoked or expired.
    ///
    /// Requirements: AUT-03, AUT-04.
    #[must_use]
    pub fn principal_at(&self, now: Timestamp) -> Option<Principal> {
        let is_in_force = self.revoked.is_none() && self.expires.is_none_or(|end| now < end);
        is_in_force.then(|| self.principal())
    }

    fn principal(&self) -> Principal {
        let rights = self
            .rights
            .as_ref()
            .map_or_else(Rights::all, |rights| Rights::only(rights.iter().copied()));
        let rights = if self.read_only {
            rights.without_writes()
        } else {
            rights
        };
        let caller = Caller::with_rights(rights)
            .with_person(self.person.clone())
            .with_key_name(&*self.id);
        Principal::new(self.tenant.clone(), caller)
    }

    /// Returns the rights in stored form: `people.create helper.record_signature`. `None` for all
    /// rights.
    #[must_use]
    pub fn stored_rights(&self) -> Option<String> {
        let names = |rights: &BTreeSet<Right>| {
            rights
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join(" ")
        };
        self.rights.as_ref().map(names)
    }

    /// Sets the rights from their stored form.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Unexpected`](svc_core::ErrorKind::Unexpected) if the text contains an unknown
    /// right.
    pub fn read_rights(&mut self, stored: Option<&str>) -> Result<()> {
        let rights = |text: &str| text.split_ascii_whitespace().map(str::parse).collect();
        self.rights = stored
            .map(rights)
            .transpose()
            .map_err(|unknown: ParseRightError| Error::from(unknown))?;
        Ok(())
    }
}

/// A new key with its token, which cannot be read again later.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CreatedKey {
    /// Identifies the key for its revocation; not secret.
    pub id: String,
    /// The secret token for the key header.
    pub token: String,
}

impl fmt::Debug for CreatedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CreatedKey")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

/// Error raised when a key cannot be created.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The tenant does not exist.
    #[error("there is no tenant named `{0}`")]
    UnknownTenant(String),
    /// The token is not a valid header value.
    #[error("a key must have at most 256 characters, only visible ASCII without spaces")]
    InvalidToken,
    /// The custom token is so short that it can be guessed.
    #[error(
        "a custom key must have at least {} characters; use random ones, for example from `openssl rand -hex 20`, or \
         generate a key",
        StoredKey::MIN_TOKEN_LENGTH
    )]
    TokenTooShort,
    /// Another tenant has this token.
    #[error("another tenant already has this key; use a different one")]
    TokenInUse,
    /// The token was revoked and cannot be used again.
    #[error("this key was revoked; use a different one")]
    TokenRevoked,
    /// The keys cannot be read or written.
    #[error("the store of the keys failed: {0:?}")]
    Storage(Error),
}

/// What happens to the webhooks of a revoked key: those that it created, whose `url` it set, or that
/// name it in `changed_by`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum KeyWebhooks {
    /// Disable them, so that no webhook outlives its key.
    #[default]
    Disable,
    /// Leave them active.
    Keep,
}

/// The result of revoking a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Revocation {
    /// Whether the key was valid before.
    pub was_in_force: bool,
    /// The number of webhooks that were disabled.
    pub disabled_webhooks: usize,
}

impl From<Error> for KeyError {
    fn from(error: Error) -> Self {
        Self::Storage(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn issued(options: KeyOptions) -> (StoredKey, CreatedKey) {
        StoredKey::random(&Tenant::new("acme"), options, Timestamp::MIN).unwrap()
    }

    /// The token is random. A key stores only its last four characters.
    ///
    /// Requirements: UND-15.
    #[test]
    fn a_token_is_told_once() {
        let ((key, told), (_, other)) =
            (issued(KeyOptions::new("a")), issued(KeyOptions::new("a")));
        assert!(
            told.token.starts_with("svck_") && told.token.len() == 69 && told.token != other.token
        );
        assert!(told.token.ends_with(&key.info.hint) && key.info.hint.len() == 4);
        assert!(
            !format!("{key:?} {told:?}").contains(&told.token[5..]),
            "UND-42"
        );
        assert!(
            key.hash
                .matches(TokenHash::from_token(&told.token).as_bytes())
                && !key.hash.matches(TokenHash::from_token("x").as_bytes())
        );
        assert!(!key.hash.matches(&[]));
    }

    /// A token that is not a valid header value is rejected, and an existing token is not created
    /// twice.
    ///
    /// Requirements: UND-15.
    #[test]
    fn chosen_tokens() {
        let key = |tenant: &str, token: &str| {
            StoredKey::with_token(
                &Tenant::new(tenant),
                token,
                KeyOptions::default(),
                Timestamp::MIN,
            )
        };
        for token in ["a b", "ä", "a\n", &"x".repeat(257)] {
            assert!(
                matches!(key("a", token), Err(KeyError::InvalidToken)),
                "{token:?}"
            );
        }
        for token in ["", "sesame", &"x".repeat(19)] {
            assert!(
                matches!(key("a", token), Err(KeyError::TokenTooShort)),
                "{token:?}"
            );
        }
        let said = KeyError::TokenTooShort.to_string();
        assert!(
            said.contains("at least 20 characters") && said.contains("openssl rand"),
            "{said}"
        );
        let token = "open-sesame-0123456789";
        let (own, foreign) = (key("a", token).unwrap(), key("b", token).unwrap());
        assert_eq!(key("a", &"x".repeat(20)).unwrap().info.hint, "xxxx");
        let revoked = KeyInfo {
            revoked: Some(Timestamp::MIN),
            ..own.info.clone()
        };
        assert_eq!(own.resolve_existing(own.info.clone()).unwrap(), own.info);
        assert!(matches!(
            own.resolve_existing(foreign.info),
            Err(KeyError::TokenInUse)
        ));
        assert!(matches!(
            own.resolve_existing(revoked),
            Err(KeyError::TokenRevoked)
        ));
    }

    /// No part of a short token is stored as plain text.
    ///
    /// Requirements: UND-15.
    #[test]
    fn short_tokens_have_no_hint() {
        for token in ["", "abc", "sesame", "fifteen-letters"] {
            assert_eq!(hint(token), "", "{token}");
        }
        assert_eq!(hint("sixteen--letters"), "ters");
    }

    /// Rights are unchanged after they are stored and read.
    ///
    /// Requirements: AUT-04.
    #[test]
    fn rights_there_and_back() {
        let rights = ["people.read", "helper.record_signature"].map(|name| name.parse().unwrap());
        let (key, _) = issued(KeyOptions::new("a").rights(rights));
        let mut read = KeyInfo::new(String::new(), Tenant::new("acme"), Timestamp::MIN);
        read.read_rights(key.info.stored_rights().as_deref())
            .unwrap();
        assert_eq!(read.rights, key.info.rights);
        assert!(read.read_rights(Some("people.fly")).is_err());
        read.read_rights(None).unwrap();
        assert_eq!((&read.rights, read.stored_rights()), (&None, None));
    }
}
