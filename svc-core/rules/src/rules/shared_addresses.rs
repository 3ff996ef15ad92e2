//! The e-mail addresses of a request that another person also has.
//!
//! They are stored, and no person loses an address. The outcome warns about them.
//!
//! Requirements: HLP-04.

use std::collections::HashSet;

use super::{RuleContext, RuleResult};
use crate::{
    error::{Problem, PropertyPath},
    helper::distinct_emails,
    json::{Json, Object},
    link::ShareNames,
    model::Kind,
    record::RawRecord,
    store::{Change, RecordLocation, WriteOperation, WriteOutcome, WriteRequest},
    value::forms,
};

/// The e-mail addresses that a request sends for a person. There are none if the caller gets no
/// warning about them.
///
/// Requirements: HLP-04.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct PostedAddresses {
    /// Each address once in [form](forms::match_form), with its number among the distinct ones.
    pub addresses: Vec<(usize, String)>,
    /// The part of the body with the person.
    part: PropertyPath,
}

impl PostedAddresses {
    /// Returns the addresses of a request.
    #[must_use]
    pub fn of(call: &WriteRequest) -> Self {
        let mut posted = Self::default();
        if !call.reports_shared_addresses {
            return posted;
        }
        let person = match &call.operation {
            WriteOperation::Create(draft) if draft.kind == Kind::Person => Some(&draft.fields),
            WriteOperation::Update(at, patch) if at.kind == Kind::Person => Some(&patch.fields),
            WriteOperation::Helper(plan) => {
                posted.part = PropertyPath::member("person");
                plan.person.as_ref().map(|person| &person.fields)
            }
            _ => None,
        };
        posted.addresses = person.map(addresses).unwrap_or_default();
        posted
    }

    /// Returns a warning for each address that both the person of the request and another one have.
    /// `holders` returns people with an address, the oldest first.
    ///
    /// # Errors
    ///
    /// Returns the error of `holders`.
    pub fn warnings<E>(
        &self,
        own: &RawRecord,
        mut holders: impl FnMut(&str) -> Result<Vec<RecordLocation>, E>,
    ) -> Result<Vec<Problem>, E> {
        let mut shared = Vec::new();
        for posted in &self.addresses {
            let mut holders = holders(&posted.1)?.into_iter();
            let other = holders.find(|holder| holder.id != own.meta().id);
            shared.extend(other.map(|other| (posted, other)));
        }
        if !shared.is_empty() {
            // The addresses of a request that may not change the person were not stored.
            let stored = distinct_emails(&own.to_fields_lossy(&ShareNames::default()));
            shared.retain(|((_, address), _)| stored.contains(address));
        }
        let warnings = shared.into_iter().map(|((place, _), other)| {
            Problem::address_shared(*place, other.address()).within(&self.part)
        });
        Ok(warnings.collect())
    }
}

fn addresses(person: &Object) -> Vec<(usize, String)> {
    let list = person.get("email_addresses").and_then(Json::as_array);
    let mut seen = HashSet::new();
    let distinct = list.into_iter().flatten().filter_map(|entry| {
        let address = forms::match_form(entry.as_object()?.get("address")?.as_str()?).into_owned();
        seen.insert(address.clone()).then_some(address)
    });
    distinct.enumerate().collect()
}

impl RuleContext<'_> {
    /// Returns a warning for each address of the request that another person has. An update only
    /// warns about the addresses that it adds.
    pub(super) fn shared_addresses(&mut self, outcome: &WriteOutcome) -> RuleResult<Vec<Problem>> {
        let Some(own) = outcome.person() else {
            return Ok(Vec::new());
        };
        let mut posted = PostedAddresses::of(self.call);
        if let WriteOperation::Update(..) = self.call.operation {
            let mut changes = self.ledger.changes.iter();
            let added = changes.find_map(|change| match change {
                Change::Replace(replace) if replace.target.id == own.meta().id => {
                    Some(&replace.added.emails)
                }
                _ => None,
            });
            let is_added = |address: &String| added.is_some_and(|added| added.contains(address));
            posted.addresses.retain(|(_, address)| is_added(address));
        }
        posted.warnings(own, |address| self.ledger.email_holders(address))
    }
}
