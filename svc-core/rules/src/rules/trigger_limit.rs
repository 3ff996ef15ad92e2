//! Limits server responses that anonymous callers trigger to one in 24 hours.
//!
//! The limit applies to each combination of person, trigger and container. A request that creates a
//! person has a new one each time. The limit therefore also applies to each e-mail address and
//! phone number of the posted person.
//!
//! Requirements: HAF-14.

use std::sync::Arc;

use bytes::Bytes;

use super::{RuleContext, RuleResult, lists::list};
use crate::{
    helper::{RawHelperRequest, TriggerName},
    outbox::OutboxPayload,
    store::{Change, StoredResponse},
    value::{ClosedEnum, Id, digest, forms},
};

impl RuleContext<'_> {
    /// Adds a server response to a person to the outbox, unless one was sent under any of the keys
    /// within 24 hours.
    ///
    /// The keys are stored like responses of requests with an `Idempotency-Key`: for 24 hours, and
    /// not longer than the person. The response to the caller and the lookups are the same in both
    /// cases.
    pub(super) fn send_once_a_day(
        &mut self,
        response: OutboxPayload,
        person: &Id,
        keys: &[Arc<str>],
    ) -> RuleResult<()> {
        let now = self.turn.timestamp;
        let mut was_sent = false;
        for key in keys {
            was_sent |= self
                .ledger
                .stored_response(key)?
                .is_some_and(|kept| kept.is_in_force(now));
        }
        if was_sent {
            return Ok(());
        }
        for key in keys {
            let kept =
                StoredResponse::new(Arc::clone(key), now, vec![person.clone()], Bytes::new());
            self.ledger.change(Change::StoreResponse(Box::new(kept)));
        }
        self.send(response);
        Ok(())
    }
}

/// Returns the keys that limit a server response to a person.
pub(super) fn limit_keys(
    plan: &RawHelperRequest,
    trigger: TriggerName,
    person: &Id,
) -> Vec<Arc<str>> {
    let mut keys = contact_keys(plan, trigger);
    keys.push(key(plan, trigger, person.as_str()));
    keys
}

/// Returns the keys that do not depend on the id of the person: one for each posted e-mail address
/// and phone number.
pub(super) fn contact_keys(plan: &RawHelperRequest, trigger: TriggerName) -> Vec<Arc<str>> {
    let Some(person) = &plan.person else {
        return Vec::new();
    };
    let texts = |name: &str, member: &'static str| {
        let entries = list(&person.fields, name).iter();
        entries
            .filter_map(move |entry| entry.as_object()?.get(member)?.as_str())
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let emails = texts("email_addresses", "address")
        .into_iter()
        .map(|address| forms::match_form(&address).into_owned());
    let numbers = texts("phone_numbers", "number")
        .into_iter()
        .map(|number| normal_phone(&number));
    let mut keys: Vec<Arc<str>> = emails
        .chain(numbers)
        .map(|contact| key(plan, trigger, &contact))
        .collect();
    keys.sort();
    keys.dedup();
    keys
}

/// Returns the form of a phone number, or its digits without leading zeros if it has none.
fn normal_phone(number: &str) -> String {
    let digits = || {
        let digits = number.chars().filter(char::is_ascii_digit);
        digits.skip_while(|digit| *digit == '0').collect()
    };
    forms::phone(number, None, None).unwrap_or_else(digits)
}

/// Returns a key that cannot equal the key of a stored response, which starts with the scope of the
/// caller.
fn key(plan: &RawHelperRequest, trigger: TriggerName, whom: &str) -> Arc<str> {
    let container = plan
        .container
        .as_ref()
        .map_or("", |container| container.id.as_str());
    let text = format!(
        "{} {} {container} {whom}",
        trigger.as_str(),
        plan.helper.as_str()
    );
    format!("trigger {:032x}", digest(text.as_bytes())).into()
}
