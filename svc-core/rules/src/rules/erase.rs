//! Erases the remaining data about a deleted person: tickets that name the person, and triggered
//! server responses.
//!
//! Requirements: UND-26.

use super::{RuleContext, RuleResult};
use crate::{
    helper::emails,
    json::{Json, Object},
    store::Change,
    value::Id,
};

impl RuleContext<'_> {
    /// Erases a deleted person from the outbox and from the tickets that name the person.
    pub(super) fn erase_traces(&mut self, person: &Id, fields: &Object) -> RuleResult<()> {
        for held in self.ledger.holdings(person)? {
            let attendance = held.attendance;
            let mut attended = self.fields(&attendance.record)?;
            erase_holder(&mut attended, fields, &held.positions);
            self.ledger.note(&attendance);
            let fields = self.names().wire_members(&attended);
            self.ledger.change(Change::SetFields {
                at: attendance.at(),
                fields,
            });
        }
        self.ledger
            .change(Change::ErasePersonTraces(person.clone()));
        Ok(())
    }
}

/// Removes a person from the tickets at these positions, and from every other ticket that names the
/// person.
fn erase_holder(attendance: &mut Object, person: &Object, places: &[Option<i64>]) {
    let known: Vec<String> = emails(person).collect();
    let tickets = attendance.get_mut("tickets").and_then(Json::as_array_mut);
    for (place, ticket) in tickets.into_iter().flatten().enumerate() {
        let Some(ticket) = ticket.as_object_mut() else {
            continue;
        };
        let Some(holder) = ticket.get("person").and_then(Json::as_object) else {
            continue;
        };
        let is_place = i64::try_from(place).is_ok_and(|place| places.contains(&Some(place)));
        let has_address = emails(holder).any(|address| known.contains(&address));
        if is_place || has_address || has_same_name(holder, person) {
            ticket.remove("person");
        }
    }
}

fn has_same_name(one: &Object, other: &Object) -> bool {
    let name = |person: &Object| {
        let part = |name| {
            person
                .get(name)
                .and_then(Json::as_str)
                .map(str::to_lowercase)
        };
        part("given_name").zip(part("family_name"))
    };
    name(one).is_some() && name(one) == name(other)
}
