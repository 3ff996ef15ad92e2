//! The people that hold tickets. They are matched when an attendance is recorded, and tracked when
//! its tickets change.
//!
//! Requirements: RES-attendance-14.

use super::{RuleContext, RuleResult, TicketHolderPolicy, check, lists::list, person};
use crate::{
    draft::RawDraft,
    error::{Problem, PropertyPath},
    helper::MergePolicy,
    json::{Json, Object, has_same_members},
    model::Kind,
    store::{Change, LookupKey, RuleError, StoredRecord},
    value::{Id, Identifier},
};

impl RuleContext<'_> {
    /// Matches the holders named in the tickets of an attendance. Returns each person with the
    /// position of the ticket, and adds the server's own identifier of the person to the ticket.
    ///
    /// `named` contains the people that the server's own identifiers name, with the position of
    /// their tickets.
    ///
    /// Requirements: RES-attendance-14.
    pub(super) fn recognise_holders(
        &mut self,
        fields: &mut Object,
        named: &[(usize, Id)],
        holders: TicketHolderPolicy,
        problems: &mut Vec<Problem>,
    ) -> RuleResult<Vec<(usize, Id)>> {
        let mut recognised = Vec::new();
        for (place, ticket) in list(fields, "tickets").iter().enumerate() {
            let own = named
                .iter()
                .find(|(of, _)| *of == place)
                .map(|(_, id)| id.clone());
            let Some(mut posted) = posted_holder(ticket, own) else {
                continue;
            };
            let person = match holders {
                TicketHolderPolicy::Match(merge) => {
                    let part = PropertyPath::member("tickets")
                        .push_index(place)
                        .push_member("person");
                    let wrong = posted.apply_defaults(self.call.received_at);
                    let holder = check(wrong)
                        .map_err(|error| RuleError::from(error).within(&part))
                        .and_then(|()| person::recognise(self, &posted, merge, &part));
                    match holder {
                        Ok((person, _)) => Some(person),
                        Err(RuleError::Failed(error)) => {
                            problems.extend(error.into_problems()?);
                            None
                        }
                        Err(pause) => return Err(pause),
                    }
                }
                TicketHolderPolicy::LinkKnown => {
                    // A person that does not exist is not recorded.
                    if let Some(own) = &posted.own
                        && self
                            .ledger
                            .find(&LookupKey::Id(Kind::Person, own.clone()))?
                            .is_none()
                    {
                        posted.own = None;
                    }
                    person::find_match(self, &posted, MergePolicy::KeepExisting)?
                }
            };
            if let Some(person) = person {
                recognised.push((place, person.record.meta().id.clone()));
            }
        }
        self.name_holders(fields, &recognised);
        Ok(recognised)
    }

    /// Records who holds which ticket of an attendance.
    pub(super) fn add_ticket_holder(
        &mut self,
        attendance: &StoredRecord,
        holders: Vec<(usize, Id)>,
    ) {
        for (place, person) in holders {
            let place = i64::try_from(place).unwrap_or(i64::MAX);
            self.ledger.change(Change::AddTicketHolder {
                at: attendance.at(),
                place,
                person,
            });
        }
    }

    /// Returns those of the named people that exist, one for each ticket. Adds a problem for each
    /// other one.
    pub(super) fn people(
        &mut self,
        named: &[(usize, Id)],
        problems: &mut Vec<Problem>,
    ) -> RuleResult<Vec<(usize, Id)>> {
        let mut known: Vec<(usize, Id)> = Vec::new();
        for (place, id) in named {
            let key = LookupKey::Id(Kind::Person, id.clone());
            // The id can be that of a person who was merged into another one.
            let found = self.ledger.find(&key)?.map(|person| (*place, person.id));
            let is_second = |holder: &(usize, Id)| {
                known
                    .iter()
                    .any(|other| other.0 == holder.0 && other != holder)
            };
            if let Some(holder) = found.filter(|holder| !is_second(holder)) {
                if !known.contains(&holder) {
                    known.push(holder);
                }
            } else {
                let part = PropertyPath::member("tickets")
                    .push_index(*place)
                    .push_member("person");
                problems.push(Problem::own_identifier_in_use().within(&part));
            }
        }
        Ok(known)
    }

    /// Inserts the server's own identifier of the holders into their tickets, in the first
    /// position. It identifies the person of a ticket.
    pub(super) fn name_holders(&self, fields: &mut Object, holders: &[(usize, Id)]) {
        if self.call.namespace.is_empty() || holders.is_empty() {
            return;
        }
        let Some(tickets) = fields.get_mut("tickets").and_then(Json::as_array_mut) else {
            return;
        };
        for (place, id) in holders {
            let ticket = tickets.get_mut(*place).and_then(Json::as_object_mut);
            let Some(holder) = ticket.and_then(|ticket| ticket.get_mut("person")?.as_object_mut())
            else {
                continue;
            };
            let own = Json::from(format!("{}:{id}", self.call.namespace));
            let mut identifiers = vec![own.clone()];
            let known = holder
                .get("identifiers")
                .and_then(Json::as_array)
                .unwrap_or_default();
            identifiers.extend(known.iter().filter(|known| **known != own).cloned());
            holder.insert("identifiers", Json::Array(identifiers));
        }
    }

    /// Tracks the holders of an attendance whose tickets were replaced. They are not matched again,
    /// but stay known at their new positions.
    ///
    /// Requirements: RES-attendance-14.
    pub(super) fn move_holders(
        &mut self,
        attendance: &StoredRecord,
        before: &Object,
        after: &Object,
    ) {
        let named = |fields: &Object| -> Vec<Option<TicketHolder>> {
            list(fields, "tickets")
                .iter()
                .map(|ticket| TicketHolder::of(ticket, &self.call.namespace))
                .collect()
        };
        let (had, mut has) = (named(before), named(after));
        let mut places = Vec::new();
        let mut left: Vec<(usize, TicketHolder)> = had
            .into_iter()
            .enumerate()
            .filter_map(|(place, holder)| Some((place, holder?)))
            .collect();
        // Each ticket takes over one previous holder: first the one at the same position, then the
        // same person, then one with equal members.
        let ways: [HolderCriterion; 3] = [
            |old, from, new, to| from == to && old.is(new),
            |old, _, new, _| old.own.is_some() && old.own == new.own,
            |old, _, new, _| old.is(new),
        ];
        for is_same in ways {
            left.retain(|(from, old)| {
                let found = has.iter().enumerate().position(|(to, new)| {
                    new.as_ref().is_some_and(|new| is_same(old, *from, new, to))
                });
                let Some(to) = found else { return true };
                if let Some(taken) = has.get_mut(to) {
                    *taken = None;
                }
                places.extend(i64::try_from(*from).ok().zip(i64::try_from(to).ok()));
                false
            });
        }
        self.ledger.change(Change::MoveTicketHolders {
            at: attendance.at(),
            places,
        });
    }
}

/// A criterion by which a holder before a change, with its position, equals one after the change.
type HolderCriterion = fn(&TicketHolder, usize, &TicketHolder, usize) -> bool;

/// The person of a ticket, for the comparison of tickets before and after a change.
struct TicketHolder {
    /// The server's own identifier of the person.
    own: Option<String>,
    /// All members except identifiers, because a client can omit identifiers that named the person.
    members: Object,
}

impl TicketHolder {
    fn of(ticket: &Json, namespace: &str) -> Option<Self> {
        let mut members = ticket.as_object()?.get("person")?.as_object()?.clone();
        let identifiers = members.remove("identifiers");
        let mut identifiers = identifiers
            .iter()
            .filter_map(Json::as_array)
            .flatten()
            .filter_map(Json::as_str);
        let is_own = |text: &&str| {
            text.strip_prefix(namespace)
                .is_some_and(|rest| rest.starts_with(':'))
        };
        let own = identifiers.find(is_own).map(str::to_owned);
        Some(Self { own, members })
    }

    /// Returns whether both describe the same person and do not have different own identifiers.
    fn is(&self, other: &Self) -> bool {
        has_same_members(&self.members, &other.members)
            && (self.own == other.own || self.own.is_none() || other.own.is_none())
    }
}

/// Returns the person that a ticket names, as a posted person. `None` if the ticket names none.
pub(super) fn posted_holder(ticket: &Json, own: Option<Id>) -> Option<RawDraft> {
    let holder = ticket.as_object()?.get("person")?.as_object()?;
    let mut posted = RawDraft::empty(Kind::Person);
    posted.fields = holder.clone();
    posted.own = own;
    let identifiers = posted.fields.remove("identifiers");
    let identifiers = identifiers
        .as_ref()
        .and_then(Json::as_array)
        .unwrap_or_default();
    posted.identifiers = identifiers
        .iter()
        .filter_map(Json::as_str)
        .filter_map(Identifier::parse)
        .collect();
    let says_nothing =
        posted.fields.is_empty() && posted.identifiers.is_empty() && posted.own.is_none();
    (!says_nothing).then_some(posted)
}
