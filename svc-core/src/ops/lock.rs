//! What calls at once take turns for.

use crate::{auth::Tenant, helper::MatchKey, model::Kind};

/// A key of records of a tenant, to be locked while it is looked up and what is not found is made.
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
    /// Whose records.
    pub tenant: Tenant,
    /// The kind of the records.
    pub kind: Kind,
    /// What is looked up.
    pub key: MatchKey,
}

impl LockKey {
    /// A key of records of a kind.
    #[must_use]
    pub const fn new(tenant: Tenant, kind: Kind, key: MatchKey) -> Self {
        Self { tenant, kind, key }
    }

    /// A number that stands for the key, for locks that have numbers, such as PostgreSQL's
    /// `pg_advisory_xact_lock`: the same in every process and every version. That two keys have one
    /// number is rare, and makes one call wait for another.
    #[must_use]
    pub fn advisory_lock_id(&self) -> i64 {
        let (sort, text) = match &self.key {
            MatchKey::Identifier(identifier) => ("identifier", identifier.as_str()),
            MatchKey::Email(address) => ("email", address.as_str()),
        };
        let parts = [self.tenant.as_str(), self.kind.singular(), sort, text];
        // FNV-1a; 0xff is in no UTF-8 text.
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
            "processes of two versions share locks"
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

    /// Of `acme`, `person`, `email` and `ada@example.org`, each ended by 0xff.
    const NUMBER: i64 = -1_917_115_965_377_389_604;
}
