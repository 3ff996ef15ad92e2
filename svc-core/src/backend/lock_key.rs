//! The keys that concurrent requests lock.

use crate::{auth::Tenant, helper::MatchKey, model::Kind};

/// A key that is locked while the library looks up the record, and creates it if there is none.
///
/// ```
/// use svc_core::{LockKey, Tenant, helper::MatchKey, model::Kind};
///
/// let of = |tenant, address: &str| LockKey::new(Tenant::new(tenant), Kind::Person, MatchKey::Email(address.to_owned()));
/// assert_eq!(of("acme", "ada@example.org").advisory_lock_id(), of("acme", "ada@example.org").advisory_lock_id());
/// assert_ne!(of("acme", "ada@example.org").advisory_lock_id(), of("other", "ada@example.org").advisory_lock_id());
/// ```
///
/// Requirements: HLP-04, UND-24.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub struct LockKey {
    /// The tenant that owns the records.
    pub tenant: Tenant,
    /// The kind of the records.
    pub kind: Kind,
    /// The key that is looked up.
    pub key: MatchKey,
}

impl LockKey {
    /// Creates a key for records of a kind.
    #[must_use]
    pub const fn new(tenant: Tenant, kind: Kind, key: MatchKey) -> Self {
        Self { tenant, kind, key }
    }

    /// Returns a number for the key, for numbered locks such as PostgreSQL's
    /// `pg_advisory_xact_lock`.
    ///
    /// The number is the same in every process and every version. Two keys rarely share a number.
    /// If they do, one request waits for the other.
    #[must_use]
    pub fn advisory_lock_id(&self) -> i64 {
        let (sort, text) = match &self.key {
            MatchKey::Identifier(identifier) => ("identifier", identifier.as_str()),
            MatchKey::Email(address) => ("email", address.as_str()),
        };
        let parts = [self.tenant.as_str(), self.kind.singular(), sort, text];
        // FNV-1a; no UTF-8 text contains 0xff.
        let bytes = parts
            .into_iter()
            .flat_map(|part| part.bytes().chain([0xff]));
        let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        hash.cast_signed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Identifier;

    fn email(address: &str) -> MatchKey {
        MatchKey::Email(address.to_owned())
    }

    #[test]
    fn a_number_stays_what_it_is() {
        let of =
            |tenant, kind, key| LockKey::new(Tenant::new(tenant), kind, key).advisory_lock_id();
        let identifier = || MatchKey::Identifier(Identifier::parse("a:1").unwrap());
        assert_eq!(
            of("acme", Kind::Person, email("ada@example.org")),
            NUMBER,
            "the number must not change, because processes of two versions share locks"
        );
        let others = [
            of("acme", Kind::Person, email("a:1")),
            of("acme", Kind::Person, identifier()),
            of("acme", Kind::Signature, identifier()),
            of("acm", Kind::Person, identifier()),
        ];
        let distinct: std::collections::BTreeSet<i64> = others.into_iter().collect();
        assert_eq!(distinct.len(), others.len());
    }

    /// The number of `acme`, `person`, `email` and `ada@example.org`, each followed by 0xff.
    const NUMBER: i64 = -1_917_115_965_377_389_604;
}
