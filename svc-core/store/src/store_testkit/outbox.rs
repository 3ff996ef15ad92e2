//! The contract of the outbox: it contains exactly the entries of committed requests, one sender
//! claims each entry at a time, and settled entries are removed.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use svc_core::{
    auth::Caller,
    context::{Context, Tenant},
    draft::RawDraft,
    error::{Error, Result},
    helper::{Atomicity, HelperName, RawHelperRequest, ScheduleChange, Trigger, Triggers},
    json::{Json, Object},
    link::RecordAddress,
    model::Kind,
    store::{ImportedRecord, Outbox, OutboxClaim, Store, WriteOperation, WriteRequest},
    value::{Id, Timestamp},
};

use super::{ContractViolation, generator::Rng};
use crate::memory::MemoryStore;

/// The number of people and messages of each tenant.
const SOME: usize = 4;
/// The duration of a claim, in steps.
const LEASE: i64 = 5;

/// Checks with random requests that the outbox is equal to that of a [`MemoryStore`].
///
/// The requests trigger server responses, schedule messages and cancel schedules, and delete people
/// and messages. Claims are settled, postponed, or left until they expire. The outbox of the store
/// must be empty at first, for all tenants.
///
/// # Errors
///
/// Returns the first step with a difference.
///
/// Requirements: HAF-11, SCH-01, SCH-04, HAF-14, UND-26.
pub async fn check_outgoing<S: Store>(
    store: &Arc<S>,
    tenants: [Tenant; 2],
    steps: usize,
) -> Result<(), ContractViolation> {
    let mut law = OutboxTest {
        dice: Rng::new(11),
        step: 0,
        limits: store.stores_responses(),
        known: BTreeMap::new(),
    };
    let model = Arc::new(MemoryStore::new());
    let any: Arc<dyn Store> = Arc::<S>::clone(store);
    let (Some(told), Some(meant)) = (any.outbox(), Arc::clone(&model).outbox()) else {
        return Err(law.broken("the store has no outbox"));
    };
    for cx in tenants.map(|tenant| Context::new(tenant, Caller::anonymous(), moment(0))) {
        for call in law.first(&cx) {
            for store in [Arc::<S>::clone(store) as Arc<dyn Store>, model.clone()] {
                store
                    .write(&cx, call.clone())
                    .await
                    .map_err(|error| law.broken(&format!("{error:?}")))?;
            }
        }
        law.known.insert(cx.tenant().clone(), Vec::new());
    }
    while law.step < steps {
        law.step = law.step.saturating_add(1);
        if law.dice.one_in(3) {
            law.send(&*told, &*meant).await?;
        } else {
            let cx = law.caller();
            let call = WriteRequest::new(&cx, law.call());
            let (told, meant) = (
                store.write(&cx, call.clone()).await,
                model.write(&cx, call).await,
            );
            if told.is_ok() != meant.is_ok() {
                return Err(law.broken(&format!("{told:?} instead of {meant:?}")));
            }
        }
    }
    Ok(())
}

struct OutboxTest {
    dice: Rng,
    step: usize,
    /// Whether the store limits triggers of anonymous callers.
    limits: bool,
    /// The claims of both stores that are neither settled nor postponed.
    known: BTreeMap<Tenant, Vec<[OutboxClaim; 2]>>,
}

fn moment(step: i64) -> Timestamp {
    Timestamp::from_micros(1_700_000_000_000_000_i64.saturating_add(step.saturating_mul(1_000_000)))
}

fn id(kind: Kind, number: usize) -> Option<Id> {
    Id::new(&format!(
        "0198f000-0000-7000-8000-{:04}{number:08}",
        kind as usize
    ))
}

impl OutboxTest {
    fn broken(&self, text: &str) -> ContractViolation {
        ContractViolation {
            law: "outgoing",
            seed: 11,
            step: self.step,
            text: text.to_owned(),
        }
    }

    fn now(&self) -> Timestamp {
        moment(i64::try_from(self.step).unwrap_or_default())
    }

    fn caller(&mut self) -> Context {
        let place = self.dice.below(self.known.len());
        let tenant = self.known.keys().nth(place).cloned();
        Context::new(
            tenant.unwrap_or_else(|| Tenant::new("")),
            Caller::anonymous(),
            self.now(),
        )
    }

    /// Returns the requests that create the initial people and messages.
    fn first(&self, cx: &Context) -> Vec<WriteRequest> {
        let kinds = [Kind::Person, Kind::Message].into_iter();
        let all = kinds.flat_map(|kind| {
            (0..SOME).filter_map(move |number| Some((kind, number, id(kind, number)?)))
        });
        let load = |(kind, number, id)| {
            let mut draft = RawDraft::empty(kind);
            if kind == Kind::Person {
                draft.fields = address(number);
            }
            WriteRequest::new(
                cx,
                WriteOperation::Import(Box::new(ImportedRecord::new(id, self.now(), draft))),
            )
        };
        all.map(load).collect()
    }

    fn any(&mut self, kind: Kind) -> Option<RecordAddress> {
        Some(RecordAddress::without_parent(
            kind,
            id(kind, self.dice.below(SOME))?,
        ))
    }

    fn call(&mut self) -> WriteOperation {
        if self.dice.one_in(12) {
            let kind = if self.dice.one_in(2) {
                Kind::Person
            } else {
                Kind::Message
            };
            if let Some(at) = self.any(kind) {
                return WriteOperation::Delete(at);
            }
        }
        let mut plan = RawHelperRequest::empty(HelperName::PersonSignup);
        if self.dice.one_in(2) {
            plan = RawHelperRequest::empty(HelperName::Schedule);
            plan.container = self.any(Kind::Message);
            let ahead = |dice: &mut Rng| i64::try_from(dice.below(20)).unwrap_or_default();
            let start = self
                .now()
                .saturating_add(Duration::from_secs(ahead(&mut self.dice).unsigned_abs()));
            let stop = self.dice.one_in(2).then_some(Timestamp::MAX);
            let is_over = self.dice.one_in(3);
            plan.schedule = Some(if is_over {
                ScheduleChange::Cancel
            } else {
                ScheduleChange::Set { start, stop }
            });
            return WriteOperation::Helper(Box::new(plan));
        }
        // Some people are new, and some already exist.
        let mut person = RawDraft::empty(Kind::Person);
        person.fields = address(self.dice.below(SOME.saturating_add(1)));
        plan.person = Some(person);
        let mut trigger = |one_in| {
            let enabled = if self.dice.one_in(4) {
                None
            } else {
                Some(!self.dice.one_in(3))
            };
            self.dice.one_in(one_in).then(|| {
                let mut trigger = Trigger::default().identifiers(vec![format!("mail:{one_in}")]);
                trigger.enabled = enabled;
                trigger
            })
        };
        let mut triggers = Triggers::default();
        triggers.autoresponse = trigger(1);
        triggers.sms_response = trigger(3);
        triggers.call_response = trigger(5);
        plan.functions.triggers = Some(triggers);
        // Triggers of anonymous requests are sent once a day.
        // Requirements: HAF-14.
        plan.anonymous = self.limits && self.dice.one_in(3);
        // The tag does not exist, so the request is rejected as a whole.
        plan.atomicity = Atomicity::WholeCall;
        if self.dice.one_in(5) {
            plan.functions.tags.push("none".into());
        }
        WriteOperation::Helper(Box::new(plan))
    }

    /// Compares the due entries, then settles some of them, postpones some, and leaves the others.
    async fn send(
        &mut self,
        told: &dyn Outbox,
        meant: &dyn Outbox,
    ) -> Result<(), ContractViolation> {
        let now = self.now();
        let until = now.saturating_add(Duration::from_secs(LEASE.unsigned_abs()));
        let failed = |law: &Self, error: &Error| law.broken(&format!("{error:?}"));
        let one = told
            .claim_due(now, until, 1_000)
            .await
            .map_err(|error| failed(self, &error))?;
        let other = meant
            .claim_due(now, until, 1_000)
            .await
            .map_err(|error| failed(self, &error))?;
        if one.next_due != other.next_due {
            return Err(self.broken(&format!(
                "the next due time is {:?} instead of {:?}",
                one.next_due, other.next_due
            )));
        }
        let (one, other) = (in_order(one.claims), in_order(other.claims));
        let names = |claims: &[OutboxClaim]| claims.iter().map(comparable).collect::<Vec<_>>();
        if names(&one) != names(&other) {
            return Err(self.broken(&format!(
                "{:#?} instead of {:#?}",
                names(&one),
                names(&other)
            )));
        }
        for pair in one.into_iter().zip(other).map(|(one, other)| [one, other]) {
            let [told_claim, meant_claim] = &pair;
            let again = now.saturating_add(Duration::from_secs(3));
            let done = match self.dice.below(4) {
                0 | 1 => (
                    told.complete(told_claim).await,
                    meant.complete(meant_claim).await,
                ),
                2 => (
                    told.reschedule(told_claim, again).await,
                    meant.reschedule(meant_claim, again).await,
                ),
                _ => {
                    self.known
                        .entry(told_claim.tenant.clone())
                        .or_default()
                        .push(pair);
                    continue;
                }
            };
            done.0.and(done.1).map_err(|error| failed(self, &error))?;
        }
        // A late sender must not postpone an entry that another sender has claimed since. It can
        // settle an entry that no longer exists.
        let late: Vec<[OutboxClaim; 2]> = self.known.values_mut().filter_map(Vec::pop).collect();
        for [told_claim, meant_claim] in late {
            let done = if self.dice.one_in(2) {
                (
                    told.complete(&told_claim).await,
                    meant.complete(&meant_claim).await,
                )
            } else {
                (
                    told.reschedule(&told_claim, now).await,
                    meant.reschedule(&meant_claim, now).await,
                )
            };
            done.0.and(done.1).map_err(|error| failed(self, &error))?;
        }
        Ok(())
    }
}

fn address(number: usize) -> Object {
    let (mut fields, mut entry) = (Object::new(), Object::new());
    entry.insert("address", format!("{number}@example.org"));
    fields.insert("email_addresses", Json::Array(vec![Json::Object(entry)]));
    fields
}

/// Returns the text of a claim for the comparison, without random ids.
fn comparable(claim: &OutboxClaim) -> String {
    let known = |id: Option<&Id>| {
        id.filter(|id| id.as_str().starts_with("0198f000"))
            .map(Id::as_str)
            .map(str::to_owned)
    };
    let dispatch = &claim.entry;
    let (person, message) = (known(dispatch.recipient()), known(dispatch.message()));
    let (tenant, due) = (claim.tenant.as_str(), dispatch.due_at().as_micros());
    format!(
        "{tenant} {} {due} {person:?} {message:?} {}",
        dispatch.log_label(),
        claim.attempts
    )
}

fn in_order(mut claims: Vec<OutboxClaim>) -> Vec<OutboxClaim> {
    claims.sort_by_cached_key(|claim| (comparable(claim), claim.row));
    claims
}
