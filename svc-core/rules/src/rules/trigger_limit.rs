//! Server responses that anonymous callers trigger are sent at most once in 24 hours.
//!
//! The limit is for a person, a trigger and a container. A call that creates a person has a new one
//! each time, so each e-mail address and phone number of the posted person is limited, too.
//!
//! Requirements: HAF-14.

use std::sync::Arc;

use bytes::Bytes;

use super::{RuleResult, StoreRuleContext, lists::list};
use crate::{
    helper::{RawHelperRequest, TriggerName, normalize_email},
    outbox::OutboxPayload,
    store::{Change, StoredResponse},
    value::{ClosedEnum, Id, digest},
};

impl StoreRuleContext<'_> {
    /// Notes a server response to send to a person, unless one was noted under any of the keys
    /// within 24 hours.
    ///
    /// The notes are stored as responses of calls with `Idempotency-Key` are: for 24 hours, and no
    /// longer than the person. The reply to the caller is the same in both cases, and so are the
    /// lookups.
    pub(super) fn send_once_a_day(
        &mut self,
        response: OutboxPayload,
        person: &Id,
        keys: &[Arc<str>],
    ) -> RuleResult<()> {
        let now = self.turn.time;
        let mut was_sent = false;
        for key in keys {
            was_sent |= self
                .ledger
                .kept(key)?
                .is_some_and(|kept| kept.is_in_force(now));
        }
        if was_sent {
            return Ok(());
        }
        for key in keys {
            let kept =
                StoredResponse::new(Arc::clone(key), now, vec![person.clone()], Bytes::new());
            self.ledger.change(Change::Keep(Box::new(kept)));
        }
        self.send(response);
        Ok(())
    }
}

/// The keys that limit a response to a person.
pub(super) fn limit_keys(
    plan: &RawHelperRequest,
    trigger: TriggerName,
    person: &Id,
) -> Vec<Arc<str>> {
    let mut keys = contact_keys(plan, trigger);
    keys.push(key(plan, trigger, person.as_str()));
    keys
}

/// The keys that do not depend on the id of the person: one for each e-mail address and phone
/// number that is posted.
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
        .map(|address| normalize_email(&address));
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

/// The digits of a number, without the zeros that it may begin with.
fn normal_phone(number: &str) -> String {
    number
        .chars()
        .filter(char::is_ascii_digit)
        .skip_while(|digit| *digit == '0')
        .collect()
}

/// A key that no stored response has: those begin with the scope of their caller.
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
