//! Warns about the e-mail addresses of a request that another person also has, if the operations of
//! a vendor find people by address.
//!
//! Requirements: HLP-04.

use std::collections::HashMap;

use super::{CONCURRENT_READS, HelperBackend, OperationStore, join_all::join_all};
use crate::{
    context::Context,
    error::{Error, Result},
    helper::distinct_emails,
    link::{RecordAddress, ShareNames},
    model::Kind,
    names::Operation,
    rules::PostedAddresses,
    store::{
        LookupKey, RecordLocation, Store, StoredRecord, WriteOperation, WriteOutcome, WriteRequest,
    },
};

/// The addresses of a request, and the person whom the backend finds by each of them.
#[derive(Default)]
pub(super) struct SharedAddresses {
    posted: PostedAddresses,
    holders: HashMap<String, RecordLocation>,
}

impl OperationStore {
    /// Looks up the addresses of a request that runs no rules, before it is executed. Without a
    /// transaction, a lookup that fails finds no one, so that the request is executed without a warning.
    ///
    /// # Errors
    ///
    /// In a transaction, the error of a lookup, because the failed statement ends the transaction.
    pub(super) async fn shared_addresses(
        &self,
        cx: &Context,
        call: &WriteRequest,
    ) -> Result<SharedAddresses> {
        let mut shared = SharedAddresses::default();
        let is_composed = match &call.operation {
            WriteOperation::Helper(plan) => {
                matches!(
                    self.helpers.get(&plan.helper),
                    Some(HelperBackend::Composed)
                )
            }
            _ => false,
        };
        if is_composed || !self.backend(Kind::Person).finds() {
            return Ok(shared);
        }
        shared.posted = PostedAddresses::of(call);
        let addresses = &mut shared.posted.addresses;
        if let WriteOperation::Update(at, _) = &call.operation
            && !addresses.is_empty()
        {
            let had = self.stored_addresses(cx, at).await?;
            addresses.retain(|(_, address)| !had.contains(address));
        }
        for some in addresses.chunks(CONCURRENT_READS) {
            let keys = some
                .iter()
                .map(|(_, address)| LookupKey::Email(address.clone()));
            let keys: Vec<LookupKey> = keys.collect();
            let found = join_all(keys.iter().map(|key| self.find(cx, key)).collect()).await;
            for ((_, address), found) in some.iter().zip(found) {
                let person = self.unless_failed(found)?;
                let person = person.map(|person| StoredRecord::by_age(person).location());
                shared
                    .holders
                    .extend(person.map(|person| (address.clone(), person)));
            }
        }
        Ok(shared)
    }

    /// Returns the addresses of a stored person; none if the person cannot be read.
    async fn stored_addresses(&self, cx: &Context, at: &RecordAddress) -> Result<Vec<String>> {
        if !self.backend(at.kind).has(at.kind, Operation::Read) {
            return Ok(Vec::new());
        }
        let stored = self.unless_failed(self.get(cx, at).await)?;
        let fields = stored.and_then(|stored| stored.to_fields(&ShareNames::default()).ok());
        Ok(fields.as_ref().map(distinct_emails).unwrap_or_default())
    }

    /// Returns what a lookup found; nothing if it failed outside a transaction.
    fn unless_failed<T>(&self, found: Result<Option<T>>) -> Result<Option<T>> {
        match found {
            Err(error) if self.transactions.is_none() || error.is_not_found() => Ok(None),
            found => found,
        }
    }
}

impl SharedAddresses {
    /// Adds the warnings to the outcome of the request.
    pub(super) fn warn(&self, outcome: WriteOutcome) -> Result<WriteOutcome> {
        let Some(person) = outcome.person() else {
            return Ok(outcome);
        };
        let warnings = self.posted.warnings::<Error>(person, |address| {
            Ok(self.holders.get(address).cloned().into_iter().collect())
        });
        Ok(outcome.with_warnings(warnings?))
    }
}
