//! API keys: random, stored as SHA-256 only, checked from memory, revoked at once.
//!
//! A store keeps a [`KeyInfo`] and a [`TokenHash`] for each key, and a number that another one
//! follows whenever a key was issued or revoked: the epoch of [`KeyCache`].
//!
//! Requirements: AUT-01 to AUT-08, UND-15.

mod cache;

use std::{collections::BTreeSet, fmt};

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use svc_core::{
    auth::{Caller, ParseRightError, Right, Rights},
    context::Tenant,
    error::{Error, Result},
    value::{Id, Timestamp},
};

use super::hex;
pub use cache::{KeyCache, KeyCacheEpochs};

/// SHA-256 of a key's token.
#[derive(Clone, Copy)]
pub struct TokenHash([u8; 32]);

impl TokenHash {
    /// The hash of a token.
    #[must_use]
    pub fn of(token: &str) -> Self {
        Self(Sha256::digest(token).into())
    }

    /// A hash that was stored; `None` for bytes that are none.
    #[must_use]
    pub fn stored(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// The part that keys are looked up with; the rest is compared in constant time.
    #[must_use]
    pub fn prefix(&self) -> i64 {
        self.0
            .first_chunk()
            .map_or(0, |first| i64::from_be_bytes(*first))
    }

    /// What is stored.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Whether this hash was stored, in constant time.
    #[must_use]
    pub fn is(&self, stored: &[u8]) -> bool {
        self.0.as_slice().ct_eq(stored).into()
    }
}

impl fmt::Debug for TokenHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenHash")
    }
}

/// A key that is about to be stored.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct StoredKey {
    /// What is stored of it besides the hash.
    pub info: KeyInfo,
    /// What it is found by.
    pub hash: TokenHash,
}

impl StoredKey {
    /// A key with a random token, `svck_` and 64 hex digits, and what its holder is told.
    ///
    /// # Errors
    ///
    /// The system has no random numbers.
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

    /// A key that was issued elsewhere, as it was stored there.
    #[must_use]
    pub fn stored(info: KeyInfo, hash: TokenHash) -> Self {
        Self { info, hash }
    }

    /// The characters that a chosen token has at least: nothing slows down whoever tries short
    /// ones.
    pub const SHORTEST: usize = 20;

    /// A key with a token that was chosen before.
    ///
    /// # Errors
    ///
    /// A token that fits into no header or is shorter than [`SHORTEST`](Self::SHORTEST); or the
    /// system has no random numbers.
    ///
    /// Requirements: UND-15.
    pub fn with_token(
        tenant: &Tenant,
        token: &str,
        options: KeyOptions,
        now: Timestamp,
    ) -> Result<Self, KeyError> {
        if token.len() > 256 || !token.bytes().all(|letter| letter.is_ascii_graphic()) {
            return Err(KeyError::TokenUnfit);
        }
        if token.len() < Self::SHORTEST {
            return Err(KeyError::TokenShort);
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
            hash: TokenHash::of(token),
        })
    }

    /// What is answered where there is a key with this token already: that one when it is the
    /// tenant's own and in force.
    ///
    /// # Errors
    ///
    /// Why the token cannot be used.
    pub fn or_existing(&self, existing: KeyInfo) -> Result<KeyInfo, KeyError> {
        match existing.revoked {
            _ if existing.tenant != self.info.tenant => Err(KeyError::TokenTaken),
            Some(_) => Err(KeyError::TokenRevoked),
            None => Ok(existing),
        }
    }
}

/// The characters of the shortest token of which something is stored in clear.
const HINTED: usize = 16;

/// What is stored of a token besides its hash, so that a person knows it again: its last four
/// characters; nothing of a short one, which they would help to guess.
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

/// What a new key may do, and for how long. The default may do everything, for ever.
///
/// ```
/// use svc_store::keys::KeyOptions;
///
/// let form = KeyOptions::new("web form").only(["helper.record_signature".parse().unwrap()]);
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
    /// A key that may do everything; the label is for the people who manage keys.
    pub fn new(label: impl Into<String>) -> Self {
        Self {
            label: label.into(),
            ..Self::default()
        }
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

/// A key as the people who manage keys see it; the token itself is nowhere.
///
/// Requirements: UND-15.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeyInfo {
    /// Names the key in this list and for its revocation; not secret.
    pub id: String,
    /// The tenant whose data it opens.
    pub tenant: Tenant,
    /// The last four characters of the token; empty for a short one.
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

impl KeyInfo {
    /// A key that may do everything, for ever.
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

    /// Whom the key stands for at this moment; `None` when it is revoked or expired.
    ///
    /// Requirements: AUT-03, AUT-04.
    #[must_use]
    pub fn holder(&self, now: Timestamp) -> Option<(Tenant, Caller)> {
        let is_in_force = self.revoked.is_none() && self.expires.is_none_or(|end| now < end);
        is_in_force.then(|| (self.tenant.clone(), self.caller()))
    }

    fn caller(&self) -> Caller {
        let rights = self
            .rights
            .as_ref()
            .map_or_else(Rights::all, |rights| Rights::only(rights.iter().copied()));
        let rights = if self.read_only {
            rights.without_writes()
        } else {
            rights
        };
        Caller::with_rights(rights)
            .with_person(self.person.clone())
            .with_key_name(&*self.id)
    }

    /// The rights as they are stored: `people.create helper.record_signature`; `None` for all.
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

    /// Takes over rights that were stored.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Unexpected`](svc_core::ErrorKind::Unexpected) for a text that names none.
    pub fn read_rights(&mut self, stored: Option<&str>) -> Result<()> {
        let rights = |text: &str| text.split_ascii_whitespace().map(str::parse).collect();
        self.rights = stored
            .map(rights)
            .transpose()
            .map_err(|unknown: ParseRightError| Error::from(unknown))?;
        Ok(())
    }
}

/// A key that was just issued: the only moment at which its token is known.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CreatedKey {
    /// Names the key for its revocation; not secret.
    pub id: String,
    /// The secret that goes into the key header.
    pub token: String,
}

impl fmt::Debug for CreatedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NewKey")
            .field("id", &self.id)
            .finish_non_exhaustive()
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
    #[error("a key has at most 256 characters, all of them visible ASCII, without spaces")]
    TokenUnfit,
    /// A token that a person chose can be guessed when it is short.
    #[error(
        "a key that is chosen has at least {} characters; choose them at random, as `openssl rand -hex 20` does, or let a \
         key be made",
        StoredKey::SHORTEST
    )]
    TokenShort,
    /// Another tenant has this token.
    #[error("another tenant has this key already; choose another one")]
    TokenTaken,
    /// The token was revoked; it does not come back.
    #[error("this key was revoked; choose another one")]
    TokenRevoked,
    /// The keys cannot be read or written now.
    #[error("the keys cannot be used now: {0:?}")]
    Storage(Error),
}

/// What happens to the webhooks of a key that is revoked: those that it created or was the last to
/// change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum KeyWebhooks {
    /// They are disabled, so that no receiver outlives its key.
    #[default]
    Disable,
    /// They go on sending.
    Keep,
}

/// The result of revoking a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Revocation {
    /// Whether the key was in force.
    pub was_in_force: bool,
    /// Number of webhooks that were disabled with it.
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

    /// UND-15: the token is random and in no record of the key but its last four characters.
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
            key.hash.is(TokenHash::of(&told.token).as_bytes())
                && !key.hash.is(TokenHash::of("x").as_bytes())
        );
        assert!(!key.hash.is(&[]));
    }

    /// UND-15: what a header cannot have is refused; what a tenant has already is not issued twice.
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
                matches!(key("a", token), Err(KeyError::TokenUnfit)),
                "{token:?}"
            );
        }
        for token in ["", "sesame", &"x".repeat(19)] {
            assert!(
                matches!(key("a", token), Err(KeyError::TokenShort)),
                "{token:?}"
            );
        }
        let said = KeyError::TokenShort.to_string();
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
        assert_eq!(own.or_existing(own.info.clone()).unwrap(), own.info);
        assert!(matches!(
            own.or_existing(foreign.info),
            Err(KeyError::TokenTaken)
        ));
        assert!(matches!(
            own.or_existing(revoked),
            Err(KeyError::TokenRevoked)
        ));
    }

    /// UND-15: of a short token nothing stands in clear.
    #[test]
    fn short_tokens_have_no_hint() {
        for token in ["", "abc", "sesame", "fifteen-letters"] {
            assert_eq!(hint(token), "", "{token}");
        }
        assert_eq!(hint("sixteen--letters"), "ters");
    }

    /// AUT-04: rights are stored as words, and read back as they were.
    #[test]
    fn rights_there_and_back() {
        let rights = ["people.read", "helper.record_signature"].map(|name| name.parse().unwrap());
        let (key, _) = issued(KeyOptions::new("a").only(rights));
        let mut read = KeyInfo::new(String::new(), Tenant::new("acme"), Timestamp::MIN);
        read.read_rights(key.info.stored_rights().as_deref())
            .unwrap();
        assert_eq!(read.rights, key.info.rights);
        assert!(read.read_rights(Some("people.fly")).is_err());
        read.read_rights(None).unwrap();
        assert_eq!((&read.rights, read.stored_rights()), (&None, None));
    }
}
