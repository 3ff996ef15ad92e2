//! What calls at once take turns for.

use crate::{
    auth::Tenant,
    helper::{MatchKey, Merge, PersonMatching},
    model::Kind,
    store::Work,
    value::Identifier,
};

/// A key of records of a tenant, to be locked while it is looked up and what is not found is made (HLP-04, UND-24).
///
/// ```
/// use svc_core::{LockKey, Tenant, helper::MatchKey, model::Kind};
///
/// let of = |tenant, address: &str| LockKey::new(Tenant::new(tenant), Kind::Person, MatchKey::Email(address.to_owned()));
/// assert_eq!(of("acme", "ada@example.org").number(), of("acme", "ada@example.org").number());
/// assert_ne!(of("acme", "ada@example.org").number(), of("other", "ada@example.org").number());
/// ```
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

    /// A number that stands for the key, for locks that have numbers, such as PostgreSQL's `pg_advisory_xact_lock`: the same
    /// in every process and every version. That two keys have one number is rare, and makes one call wait for another.
    #[must_use]
    pub fn number(&self) -> i64 {
        let (sort, text) = match &self.key {
            MatchKey::Identifier(identifier) => ("identifier", identifier.as_str()),
            MatchKey::Email(address) => ("email", address.as_str()),
        };
        let parts = [self.tenant.as_str(), self.kind.singular(), sort, text];
        // FNV-1a; 0xff is in no UTF-8 text.
        let bytes = parts.into_iter().flat_map(|part| part.bytes().chain([0xff]));
        let hash =
            bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        hash.cast_signed()
    }
}

/// What a call locks before it looks anything up, each once, in the order of the numbers: what its person is recognised by,
/// and the identifiers that it stores.
pub(crate) fn lock_keys(tenant: &Tenant, work: &Work, matching: &dyn PersonMatching) -> Vec<LockKey> {
    let mut keys = Vec::new();
    let mut lock = |kind, found: Vec<MatchKey>| {
        keys.extend(found.into_iter().map(|key| LockKey::new(tenant.clone(), kind, key)));
    };
    let named = |identifiers: &[Identifier]| identifiers.iter().cloned().map(MatchKey::Identifier).collect();
    match work {
        Work::Create(draft) => lock(draft.kind, named(&draft.identifiers)),
        Work::Update(at, patch) => lock(at.kind, named(patch.identifiers.as_deref().unwrap_or_default())),
        Work::Help(plan) => {
            if let Some(person) = plan.person.as_ref().filter(|_| plan.merge != Merge::Apart) {
                lock(Kind::Person, matching.keys(&person.identifiers, &person.fields));
                lock(Kind::Person, named(&person.identifiers));
            }
            if let Some(action) = &plan.action {
                lock(action.kind, named(&action.identifiers));
            }
        }
        Work::Delete(_) | Work::Load(_) => {}
    }
    keys.sort_by_cached_key(|key| (key.number(), key.clone()));
    keys.dedup();
    keys
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        draft::Draft,
        helper::{HelperName, RawPlan, StockMatching},
        json::Object,
        model::{Person, shared::EmailAddress},
    };

    fn email(address: &str) -> MatchKey {
        MatchKey::Email(address.to_owned())
    }

    #[test]
    fn a_number_stays_what_it_is() {
        let of = |tenant, kind, key| LockKey::new(Tenant::new(tenant), kind, key).number();
        let identifier = || MatchKey::Identifier(Identifier::parse("a:1").unwrap());
        assert_eq!(of("acme", Kind::Person, email("ada@example.org")), NUMBER, "processes of two versions share locks");
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

    #[test]
    fn hlp_04_und_24_a_helper_locks_what_it_looks_up_each_once_in_one_order() {
        let address = |address: &str| EmailAddress::default().address(address);
        let posted = |addresses: Vec<EmailAddress>| {
            let mut plan = RawPlan::empty(HelperName::PersonSignup);
            let mut person = Draft::new(&Person::default().email_addresses(addresses)).into_raw();
            person.identifiers.extend(Identifier::parse("a:1"));
            plan.person = Some(person);
            plan
        };
        let locked = |plan: RawPlan| lock_keys(&Tenant::new("acme"), &Work::Help(Box::new(plan)), &StockMatching);
        let one = locked(posted(vec![address("A@example.org"), address("b@example.org"), address("a@example.org")]));
        let other = locked(posted(vec![address("b@example.org"), address("a@example.org")]));
        assert_eq!(one.len(), 3, "{one:?}");
        assert_eq!(one, other, "whatever the order of the addresses");
        let numbers: Vec<i64> = one.iter().map(LockKey::number).collect();
        assert!(numbers.is_sorted(), "{numbers:?}");
        let mut apart = posted(vec![address("a@example.org")]);
        apart.merge = Merge::Apart;
        assert_eq!(locked(apart), [], "HLP-07: who is never matched is not looked up");
    }

    /// A method by something that the addresses say, not by themselves.
    #[derive(Debug)]
    struct ByHousehold;

    impl PersonMatching for ByHousehold {
        fn keys(&self, _: &[Identifier], _: &Object) -> Vec<MatchKey> {
            vec![email("household@example.org")]
        }

        fn text(&self) -> &'static str {
            "By household."
        }
    }

    #[test]
    fn und_24_identifiers_are_locked_whatever_the_method() {
        let mut person = crate::draft::RawDraft::empty(Kind::Person);
        person.identifiers.extend(Identifier::parse("a:1"));
        let tenant = Tenant::new("acme");
        let alone = lock_keys(&tenant, &Work::Create(person.clone()), &ByHousehold);
        assert_eq!(alone.len(), 1, "a create recognises nobody: {alone:?}");
        let mut plan = RawPlan::empty(HelperName::PersonSignup);
        plan.person = Some(person);
        assert_eq!(lock_keys(&tenant, &Work::Help(Box::new(plan)), &ByHousehold).len(), 2);
    }
}
