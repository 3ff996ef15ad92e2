//! The e-mail addresses of a request that another person also has.
//!
//! They are stored, and no person loses an address. The outcome warns about them.
//!
//! Requirements: HLP-04.

use std::collections::HashSet;

use super::{RuleContext, RuleResult};
use crate::{
    error::{Problem, PropertyPath},
    json::{Json, Object},
    model::Kind,
    store::{Change, RecordLocation, WriteOperation, WriteOutcome, WriteRequest},
    value::{Id, normalize_email},
};

/// The e-mail addresses that a request sends for a person. There are none if the caller gets no
/// warning about them.
///
/// Requirements: HLP-04.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct PostedAddresses {
    /// Each address once in [normal form](normalize_email), with its index in the draft.
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

    /// Returns a warning for each address that another person than `own` has. `holders` returns
    /// people with an address, the oldest first.
    ///
    /// # Errors
    ///
    /// Returns the error of `holders`.
    pub fn warnings<E>(
        &self,
        own: &Id,
        mut holders: impl FnMut(&str) -> Result<Vec<RecordLocation>, E>,
    ) -> Result<Vec<Problem>, E> {
        let mut warnings = Vec::new();
        for (place, address) in &self.addresses {
            let mut holders = holders(address)?.into_iter();
            let other = holders.find(|holder| holder.id != *own);
            warnings.extend(
                other.map(|other| {
                    Problem::address_shared(*place, other.address()).within(&self.part)
                }),
            );
        }
        Ok(warnings)
    }
}

fn addresses(person: &Object) -> Vec<(usize, String)> {
    let list = person.get("email_addresses").and_then(Json::as_array);
    let sent = list.into_iter().flatten().enumerate();
    let mut seen = HashSet::new();
    sent.filter_map(|(place, entry)| {
        let address = normalize_email(entry.as_object()?.get("address")?.as_str()?);
        seen.insert(address.clone()).then_some((place, address))
    })
    .collect()
}

impl RuleContext<'_> {
    /// Returns a warning for each address of the request that another person has. An update only
    /// warns about the addresses that it adds.
    pub(super) fn shared_addresses(&mut self, outcome: &WriteOutcome) -> RuleResult<Vec<Problem>> {
        let Some(own) = outcome.person().map(|person| &person.meta().id) else {
            return Ok(Vec::new());
        };
        let mut posted = PostedAddresses::of(self.call);
        if let WriteOperation::Update(..) = self.call.operation {
            let mut changes = self.ledger.changes.iter();
            let added = changes.find_map(|change| match change {
                Change::Replace(replace) if replace.target.id == *own => {
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
