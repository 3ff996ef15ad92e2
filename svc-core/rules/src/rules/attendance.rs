//! The places and tickets that attendances use, which never exceed those of the event.
//!
//! Requirements: RES-event-15 to RES-event-20, RES-event-27, RES-attendance-05, RES-attendance-08.

use std::collections::BTreeMap;

use super::{
    RuleContext, RuleResult,
    lists::list,
    measures::{Contribution, PartList},
};
use crate::{
    error::{ErrorCode, Problem, PropertyPath, quoted},
    json::{Json, Object, has_same_members},
    model::Kind,
    schema::{currency_of, excess_digits},
    store::{Change, Totals},
    value::Id,
};

/// The measures of an event that its capacity limits.
const ACCEPTED: &str = "total_accepted";
const TICKETS: &str = "total_tickets";

pub(super) fn title(level: &Object) -> &str {
    level
        .get("title")
        .and_then(Json::as_str)
        .unwrap_or_default()
}

/// An event without a type is ticketed if it has ticket levels.
fn is_ticketed(event: &Object) -> bool {
    match event.get("type").and_then(Json::as_str) {
        Some(kind) => kind == "ticketed",
        None => event
            .get("ticket_levels")
            .is_some_and(|levels| !levels.is_empty()),
    }
}

pub(super) fn levels(event: &Object) -> impl Iterator<Item = &Object> {
    list(event, "ticket_levels")
        .iter()
        .filter_map(Json::as_object)
}

impl RuleContext<'_> {
    /// Returns whether an event has ticket levels, or an attendance has tickets.
    pub(super) fn sells_tickets(&mut self, event: &Id, attendance: &Object) -> RuleResult<bool> {
        let stored = self.container(Kind::Event, event)?;
        let event = self.fields(&stored.record)?;
        let has_levels = is_ticketed(&event) || levels(&event).next().is_some();
        Ok(has_levels || !list(attendance, "tickets").is_empty())
    }

    /// Takes the places and tickets of an attendance from the event, and returns those it had
    /// before.
    ///
    /// Also completes the attendance: a ticket without a price gets the price of its level, and
    /// `attended` is removed if the tickets have their own. `tickets_sent` is whether the request
    /// contains tickets.
    pub(super) fn apply_attendance(
        &mut self,
        event: &Id,
        before: Option<&Object>,
        mut after: Option<&mut Object>,
        tickets_sent: bool,
        problems: &mut Vec<Problem>,
    ) -> RuleResult<()> {
        let stored = self.container(Kind::Event, event)?;
        let mut fields = self.fields(&stored.record)?;
        let ticketed = is_ticketed(&fields);
        let contribution =
            |fields: Option<&Object>| Contribution::of(Kind::Event, Kind::Attendance, fields);
        let had = contribution(before);
        if let Some(after) = after.as_deref_mut() {
            if ticketed {
                after.remove("attended");
            }
            let sells_more =
                |has: Contribution| has.whole.count(TICKETS) > had.whole.count(TICKETS);
            // The level of a ticket that was not sold before can have been removed since.
            if tickets_sent || sells_more(contribution(Some(after))) {
                check_tickets(&fields, ticketed, after, problems);
            }
        }
        let has = contribution(after.as_deref());
        let is_cancelled = fields.get("status").and_then(Json::as_str) == Some("cancelled");
        let declines =
            |fields: &Object| fields.get("status").and_then(Json::as_str) == Some("declined");
        let takes_more = |measure| has.whole.count(measure) > had.whole.count(measure);
        let is_new = before.is_none() && after.as_deref().is_some_and(|after| !declines(after));
        if is_cancelled && (is_new || takes_more(ACCEPTED) || takes_more(TICKETS)) {
            let code = ErrorCode::EventCancelled;
            problems.push(Problem::new(code, "status", code.meaning()).with_hint("declined"));
        }
        let (sum, parts) = self.change_totals(&stored, &fields, &had, &has)?;
        check_capacity(&fields, ticketed, takes_more, &sum, problems);
        if take_from_levels(&mut fields, &had, &has, parts, problems) {
            let fields = self.names().wire_members(&fields);
            self.ledger.change(Change::SetFields {
                at: stored.at(),
                fields,
            });
        }
        Ok(())
    }
}

/// Takes tickets from the limits of the levels and shows the new totals there. Returns whether a
/// level changed. `parts` contains the new totals by the titles of tickets.
fn take_from_levels(
    event: &mut Object,
    had: &Contribution,
    has: &Contribution,
    mut parts: BTreeMap<String, Totals>,
    problems: &mut Vec<Problem>,
) -> bool {
    let Some(list) = PartList::of(Kind::Event) else {
        return false;
    };
    let mut is_changed = false;
    let levels = event.get_mut(list.field).and_then(Json::as_array_mut);
    for level in levels.into_iter().flatten().filter_map(Json::as_object_mut) {
        let own = list.take(level, &mut parts);
        let is_in = |of: &Contribution| own.keys().any(|name| of.parts.contains_key(name));
        if !is_in(had) && !is_in(has) {
            continue;
        }
        let tickets = |of: &Contribution| tickets(own.keys().filter_map(|name| of.parts.get(name)));
        let taken = tickets(has).saturating_sub(tickets(had));
        if let Some(left) = level.get("limit").and_then(Json::as_i64) {
            if taken > 0 && taken > left {
                let text = format!(
                    "The ticket level {} has fewer tickets left than requested.",
                    quoted(title(level))
                );
                problems.push(Problem::new(
                    ErrorCode::TicketLimitExceeded,
                    "tickets",
                    text,
                ));
            }
            level.insert("limit", Json::integer(left.saturating_sub(taken)));
        }
        list.show(level, &own);
        is_changed = true;
    }
    is_changed
}

/// Completes the sent tickets of an attendance with what the stored ticket at the same position with
/// the same title has in addition: its price, and the identifiers of a holder with the same members.
pub(super) fn complete_tickets(before: &Object, after: &mut Object) {
    let sent = after.get_mut("tickets").and_then(Json::as_array_mut);
    let pairs = list(before, "tickets")
        .iter()
        .zip(sent.into_iter().flatten());
    for (stored, sent) in pairs {
        let (Some(stored), Some(sent)) = (stored.as_object(), sent.as_object_mut()) else {
            continue;
        };
        if title(stored) != title(sent) {
            continue;
        }
        complete(sent, stored, &["amount", "currency"]);
        let holder = sent.get_mut("person").and_then(Json::as_object_mut);
        if let (Some(holder), Some(stored)) =
            (holder, stored.get("person").and_then(Json::as_object))
        {
            let mut named = holder.clone();
            complete(&mut named, stored, &["identifiers"]);
            if has_same_members(&named, stored) {
                *holder = named;
            }
        }
    }
}

/// Adds the members that an object lacks.
fn complete(sent: &mut Object, stored: &Object, names: &[&'static str]) {
    for name in names {
        if let Some(value) = stored.get(name).filter(|_| !sent.contains(name)) {
            sent.insert(*name, value.clone());
        }
    }
}

/// Returns the number of tickets in some parts.
pub(super) fn tickets<'t>(parts: impl IntoIterator<Item = &'t Totals>) -> i64 {
    let counts = parts.into_iter().map(|part| part.count(TICKETS));
    counts.fold(0, i64::saturating_add)
}

/// Checks that each ticket has the title of a level, or a former one, and the currency of the level.
///
/// Requirements: RES-event-11, RES-event-15.
fn check_tickets(
    event: &Object,
    ticketed: bool,
    attendance: &mut Object,
    problems: &mut Vec<Problem>,
) {
    let Some(list) = attendance.get_mut("tickets").and_then(Json::as_array_mut) else {
        return;
    };
    if !ticketed {
        if !list.is_empty() {
            problems.push(Problem::new(
                ErrorCode::TicketsNotAllowed,
                "tickets",
                "This event has no tickets.",
            ));
        }
        return;
    }
    let mut by_title = BTreeMap::new();
    for level in levels(event) {
        let names = PartList::of(Kind::Event).map(|list| list.names(level));
        for name in names.into_iter().flatten() {
            by_title.entry(name).or_insert(level);
        }
    }
    for (place, ticket) in list.iter_mut().enumerate() {
        let Some(ticket) = ticket.as_object_mut() else {
            continue;
        };
        let Some(level) = by_title.get(title(ticket)).copied() else {
            let property = PropertyPath::member("tickets")
                .push_index(place)
                .push_member("title");
            let text = format!(
                "The event has no ticket level with the title {}.",
                quoted(title(ticket))
            );
            problems.push(Problem::new(
                ErrorCode::TicketLevelDoesNotExist,
                property,
                text,
            ));
            continue;
        };
        let currency = |object: &Object| {
            object
                .get("currency")
                .and_then(Json::as_str)
                .map(str::to_ascii_uppercase)
        };
        if let (Some(asked), Some(known)) = (currency(ticket), currency(level))
            && asked != known
        {
            let property = PropertyPath::member("tickets")
                .push_index(place)
                .push_member("currency");
            let text = format!("{{property}} must be {known}, the currency of the ticket level.");
            problems.push(Problem::new(ErrorCode::FieldInvalid, property, text).with_hint(known));
        }
        if let (None, Some(known)) = (currency_of(ticket), currency_of(level)) {
            let at = PropertyPath::member("tickets").push_index(place);
            problems.extend(excess_digits(&at, ticket, "amount", known));
        }
        for name in ["amount", "currency"] {
            if !ticket.contains(name)
                && let Some(value) = level.get(name)
            {
                ticket.insert(name, value.clone());
            }
        }
    }
}

/// Checks the capacity: an open event counts attendances, a ticketed event counts tickets.
///
/// If the capacity is lowered later, existing attendances keep their places.
///
/// Requirements: RES-event-27.
fn check_capacity(
    event: &Object,
    ticketed: bool,
    takes_more: impl Fn(&'static str) -> bool,
    sum: &Totals,
    problems: &mut Vec<Problem>,
) {
    let Some(capacity) = event.get("capacity").and_then(Json::as_i64) else {
        return;
    };
    let measure = if ticketed { TICKETS } else { ACCEPTED };
    if takes_more(measure) && sum.count(measure) > capacity {
        let property = if ticketed { "tickets" } else { "status" };
        problems.push(Problem::new(
            ErrorCode::CapacityExceeded,
            property,
            "The event is full.",
        ));
    }
}
