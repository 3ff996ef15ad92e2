//! Keys that are known when the server starts, for vendors without a key management.

use std::fmt;

use async_trait::async_trait;

use super::{Authenticator, Caller, Credentials, Principal, Rights, Tenant};

/// A few keys that are known when the server starts, for example from the environment.
///
/// Nothing limits how fast a client can guess keys, so use at least 20 random characters. For keys
/// in a database, keys that expire, or keys shared with other programs, implement
/// [`Authenticator`].
///
/// # Examples
///
/// ```
/// use svc_core::{Tenant, auth::{FixedKeys, Rights}};
///
/// let keys = FixedKeys::new()
///     .with_key("a long random text", Tenant::new("acme"), Rights::all())
///     .with_key("another one", Tenant::new("acme"), Rights::read_only());
/// assert!(!format!("{keys:?}").contains("random"));
/// ```
///
/// Requirements: AUT-01 to AUT-04.
#[derive(Clone, Default)]
pub struct FixedKeys {
    keys: Vec<(String, Principal)>,
}

impl FixedKeys {
    /// Creates an authenticator without keys.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a key.
    ///
    /// An empty key is ignored, so that an unset variable does not grant access. If the same key is
    /// added twice, the last one counts.
    #[must_use]
    pub fn with_key(mut self, key: impl Into<String>, tenant: Tenant, rights: Rights) -> Self {
        let key = key.into();
        if !key.is_empty() {
            let caller = Caller::with_rights(rights).with_key_name(self.keys.len().to_string());
            self.keys.push((key, Principal::new(tenant, caller)));
        }
        self
    }
}

impl fmt::Debug for FixedKeys {
    /// Omits the keys.
    ///
    /// Requirements: UND-42.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FixedKeys")
            .field("keys", &self.keys.len())
            .finish()
    }
}

#[async_trait]
impl Authenticator for FixedKeys {
    async fn authenticate(&self, credentials: Credentials<'_>) -> crate::Result<Option<Principal>> {
        let Some(sent) = credentials.key else {
            return Ok(None);
        };
        let known = self.keys.iter().rfind(|(key, _)| is_same(key, sent));
        Ok(known.map(|(_, principal)| principal.clone()))
    }
}

/// Compares two texts without revealing by its duration where texts of equal length differ.
///
/// Requirements: UND-42.
fn is_same(one: &str, other: &str) -> bool {
    let differing = one.bytes().zip(other.bytes()).fold(0, |all, (one, other)| {
        std::hint::black_box(all | (one ^ other))
    });
    one.len() == other.len() && differing == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        auth::{Operation, Right},
        model::Kind,
        value::Timestamp,
    };

    fn principal(keys: &FixedKeys, key: Option<&str>) -> Option<Principal> {
        let (headers, extensions) = (http::HeaderMap::new(), http::Extensions::new());
        let now = Timestamp::from_micros(0);
        let credentials = Credentials {
            key,
            headers: &headers,
            extensions: &extensions,
            now,
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        runtime.block_on(keys.authenticate(credentials)).unwrap()
    }

    #[test]
    fn aut_03_a_key_is_known_or_not() {
        let keys = FixedKeys::new()
            .with_key("sesame", Tenant::new("a"), Rights::all())
            .with_key("reader", Tenant::new("b"), Rights::read_only())
            .with_key("", Tenant::new("c"), Rights::all());
        let write = Right::Operation(Kind::Person, Operation::Create);
        let Principal {
            tenant,
            caller: known,
        } = principal(&keys, Some("sesame")).unwrap();
        assert_eq!(
            (tenant.as_str(), known.has_right(write)),
            ("a", true),
            "AUT-02"
        );
        let Principal {
            tenant,
            caller: known,
        } = principal(&keys, Some("reader")).unwrap();
        assert_eq!(
            (tenant.as_str(), known.has_right(write)),
            ("b", false),
            "AUT-04"
        );
        for wrong in [
            None,
            Some(""),
            Some("sesam"),
            Some("sesame "),
            Some("Sesame"),
            Some("xesame"),
        ] {
            assert_eq!(principal(&keys, wrong), None, "AUT-03 {wrong:?}");
        }
    }
}
