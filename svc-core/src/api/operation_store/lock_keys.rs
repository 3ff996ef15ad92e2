//! The keys that a write request locks before its lookups.

use super::merged_people::own_identifier;
use crate::{
    auth::Tenant,
    backend::LockKey,
    helper::{MatchKey, MergePolicy, PersonMatching},
    link::RecordAddress,
    model::Kind,
    store::{WriteOperation, WriteRequest},
    value::Identifier,
};

/// Returns the keys that a write request locks before its lookups: those of person matching, the
/// identifiers that it stores, and the own ones of two people to merge, and of a person whose identifiers
/// change. They are unique and ordered by lock number.
pub(super) fn lock_keys(
    tenant: &Tenant,
    call: &WriteRequest,
    matching: &dyn PersonMatching,
) -> Vec<LockKey> {
    let mut keys = Vec::new();
    let mut lock = |kind, found: Vec<MatchKey>| {
        keys.extend(
            found
                .into_iter()
                .map(|key| LockKey::new(tenant.clone(), kind, key)),
        );
    };
    let named = |identifiers: &[Identifier]| {
        identifiers
            .iter()
            .cloned()
            .map(MatchKey::Identifier)
            .collect()
    };
    let own =
        |at: &RecordAddress| own_identifier(&call.namespace, &at.id).map(MatchKey::Identifier);
    match &call.operation {
        WriteOperation::Create(draft) => lock(draft.kind, named(&draft.identifiers)),
        WriteOperation::Update(at, patch) => {
            lock(
                at.kind,
                named(patch.identifiers.as_deref().unwrap_or_default()),
            );
            // A concurrent merge can add identifiers.
            if at.kind == Kind::Person && patch.identifiers.is_some() {
                lock(at.kind, own(at).into_iter().collect());
            }
        }
        WriteOperation::Helper(plan) => {
            if let Some(person) = plan
                .person
                .as_ref()
                .filter(|_| plan.merge != MergePolicy::AlwaysCreate)
            {
                lock(
                    Kind::Person,
                    matching.keys(&person.identifiers, &person.fields),
                );
                lock(Kind::Person, named(&person.identifiers));
            }
            if let Some(action) = &plan.action {
                lock(action.kind, named(&action.identifiers));
            }
        }
        WriteOperation::Merge(request) => {
            let people = [&request.remaining, &request.merged];
            lock(Kind::Person, people.into_iter().filter_map(own).collect());
        }
        WriteOperation::Delete(_) | WriteOperation::Import(_) | WriteOperation::UndoMerge(_) => {}
    }
    keys.sort_by_cached_key(|key| (key.advisory_lock_id(), key.clone()));
    keys.dedup();
    keys
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        draft::Draft,
        helper::{DefaultMatching, HelperName, RawHelperRequest},
        json::Object,
        model::{Person, shared::EmailAddress},
        store::MergeRequest,
        value::Timestamp,
    };

    fn email(address: &str) -> MatchKey {
        MatchKey::Email(address.to_owned())
    }

    fn request(operation: WriteOperation) -> WriteRequest {
        WriteRequest::received_at(Timestamp::from_micros(0), operation)
    }

    #[test]
    fn mrg_17_a_merge_locks_both_people_in_one_order() {
        let at = |id: i64| RecordAddress::without_parent(Kind::Person, id.into());
        let locked = |remaining, merged| {
            let merge = MergeRequest::new(at(remaining), at(merged));
            let mut request = request(WriteOperation::Merge(Box::new(merge)));
            request.namespace = "acme".into();
            lock_keys(&Tenant::new("acme"), &request, &DefaultMatching)
        };
        assert_eq!(locked(1, 2).len(), 2);
        assert_eq!(locked(1, 2), locked(2, 1));
    }

    #[test]
    fn hlp_04_und_24_a_helper_locks_what_it_looks_up_each_once_in_one_order() {
        let address = |address: &str| EmailAddress::default().address(address);
        let posted = |addresses: Vec<EmailAddress>| {
            let mut plan = RawHelperRequest::empty(HelperName::PersonSignup);
            let mut person = Draft::new(&Person::default().email_addresses(addresses)).into_raw();
            person.identifiers.extend(Identifier::parse("a:1"));
            plan.person = Some(person);
            plan
        };
        let locked = |plan: RawHelperRequest| {
            lock_keys(
                &Tenant::new("acme"),
                &request(WriteOperation::Helper(Box::new(plan))),
                &DefaultMatching,
            )
        };
        let one = locked(posted(vec![
            address("A@example.org"),
            address("b@example.org"),
            address("a@example.org"),
        ]));
        let other = locked(posted(vec![
            address("b@example.org"),
            address("a@example.org"),
        ]));
        assert_eq!(one.len(), 3, "{one:?}");
        assert_eq!(one, other, "the order of the addresses does not matter");
        let numbers: Vec<i64> = one.iter().map(LockKey::advisory_lock_id).collect();
        assert!(numbers.is_sorted(), "{numbers:?}");
        let mut apart = posted(vec![address("a@example.org")]);
        apart.merge = MergePolicy::AlwaysCreate;
        assert_eq!(
            locked(apart),
            [],
            "HLP-07: a person that is never matched is not looked up"
        );
    }

    /// A method that matches by household instead of by e-mail address.
    #[derive(Debug)]
    struct ByHousehold;

    impl PersonMatching for ByHousehold {
        fn keys(&self, _: &[Identifier], _: &Object) -> Vec<MatchKey> {
            vec![email("household@example.org")]
        }

        fn description(&self) -> &'static str {
            "By household."
        }
    }

    #[test]
    fn und_24_identifiers_are_locked_whatever_the_method() {
        let mut person = crate::draft::RawDraft::empty(Kind::Person);
        person.identifiers.extend(Identifier::parse("a:1"));
        let tenant = Tenant::new("acme");
        let alone = lock_keys(
            &tenant,
            &request(WriteOperation::Create(person.clone())),
            &ByHousehold,
        );
        assert_eq!(alone.len(), 1, "a create matches no person: {alone:?}");
        let mut plan = RawHelperRequest::empty(HelperName::PersonSignup);
        plan.person = Some(person);
        assert_eq!(
            lock_keys(
                &tenant,
                &request(WriteOperation::Helper(Box::new(plan))),
                &ByHousehold
            )
            .len(),
            2
        );
    }
}
