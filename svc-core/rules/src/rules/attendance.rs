//! The places and tickets that attendances use, which never exceed those of the event.
//!
//! Requirements: RES-event-15 to RES-event-20, RES-event-27, RES-attendance-05, RES-attendance-08.

use std::collections::{BTreeMap, BTreeSet};

use super::{RuleContext, RuleResult, lists::list};
use crate::{
    error::{Error, ErrorCode, Problem, PropertyPath, quoted},
    json::{Json, Object},
    model::Kind,
    store::{Change, LookupKey, Totals},
    value::{Amount, Id},
};

/// The places and tickets of one attendance. Only an attendance that is accepted, or has no status,
/// uses any.
///
/// Requirements: RES-event-15.
#[derive(Debug, Default)]
pub(super) struct TicketUsage {
    pub(super) places: i64,
    /// The number of tickets and their prices, by title.
    pub(super) tickets: BTreeMap<String, (i64, Vec<Amount>)>,
}

impl TicketUsage {
    pub(super) fn of(attendance: Option<&Object>) -> Self {
        let mut share = Self::default();
        let Some(fields) = attendance.filter(|fields| counts(fields)) else {
            return share;
        };
        share.places = 1;
        for ticket in list(fields, "tickets").iter().filter_map(Json::as_object) {
            let level = share.tickets.entry(title(ticket).to_owned()).or_default();
            level.0 = level.0.saturating_add(1);
            level.1.extend(amount(ticket));
        }
        share
    }

    fn number(&self) -> i64 {
        self.tickets
            .values()
            .fold(0, |sum, (number, _)| sum.saturating_add(*number))
    }
}

fn counts(attendance: &Object) -> bool {
    matches!(
        attendance.get("status").and_then(Json::as_str),
        None | Some("accepted")
    )
}

fn title(level: &Object) -> &str {
    level
        .get("title")
        .and_then(Json::as_str)
        .unwrap_or_default()
}

fn amount(ticket: &Object) -> Option<Amount> {
    Amount::parse(ticket.get("amount")?.as_number()?.as_str())
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

fn levels(event: &Object) -> impl Iterator<Item = &Object> {
    list(event, "ticket_levels")
        .iter()
        .filter_map(Json::as_object)
}

impl RuleContext<'_> {
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
        let stored = self
            .ledger
            .record(&LookupKey::Id(Kind::Event, event.clone()))?;
        let stored = stored.ok_or_else(|| Error::unexpected("an attendance without its event"))?;
        let mut fields = self.fields(&stored.record)?;
        let ticketed = is_ticketed(&fields);
        if let Some(after) = after.as_deref_mut() {
            if ticketed {
                after.remove("attended");
            }
            if tickets_sent {
                check_tickets(&fields, ticketed, after, problems);
            }
        }
        let (had, has) = (TicketUsage::of(before), TicketUsage::of(after.as_deref()));
        let is_cancelled = fields.get("status").and_then(Json::as_str) == Some("cancelled");
        let declines =
            |fields: &Object| fields.get("status").and_then(Json::as_str) == Some("declined");
        let takes_more = has.places > had.places || has.number() > had.number();
        let is_new = before.is_none() && after.as_deref().is_some_and(|after| !declines(after));
        if is_cancelled && (is_new || takes_more) {
            let code = ErrorCode::EventCancelled;
            problems.push(Problem::new(code, "status", code.meaning()).with_hint("declined"));
        }
        let mut sum = self.ledger.sum(Kind::Event, event)?;
        sum.accepted = sum
            .accepted
            .saturating_add(has.places)
            .saturating_sub(had.places);
        sum.number = sum
            .number
            .saturating_add(has.number())
            .saturating_sub(had.number());
        check_capacity(&fields, ticketed, &had, &has, sum, problems);
        self.ledger.note(&stored);
        let changed = self.apply_levels(event, &mut fields, &had, &has, &mut sum, problems)?;
        let of = (Kind::Event, event.clone());
        self.ledger.change(Change::SetTotals {
            of,
            members: Kind::Attendance,
            sum,
        });
        if changed {
            let fields = self.names().wire_members(&fields);
            self.ledger.change(Change::SetFields {
                at: stored.at(),
                fields,
            });
        }
        Ok(())
    }

    /// Moves tickets and amounts between the levels. Returns whether a level changed.
    fn apply_levels(
        &mut self,
        event: &Id,
        fields: &mut Object,
        had: &TicketUsage,
        has: &TicketUsage,
        sum: &mut Totals,
        problems: &mut Vec<Problem>,
    ) -> RuleResult<bool> {
        let titles: BTreeSet<&String> = had.tickets.keys().chain(has.tickets.keys()).collect();
        if titles.is_empty() {
            return Ok(false);
        }
        let parts = self.ledger.parts(Kind::Event, event)?;
        let mut places = BTreeMap::new();
        for (place, level) in list(fields, "ticket_levels").iter().enumerate() {
            if let Some(level) = level.as_object() {
                places.entry(title(level).to_owned()).or_insert(place);
            }
        }
        let mut changed = false;
        for name in titles {
            let none = (0, Vec::new());
            let (gone, new) = (
                had.tickets.get(name).unwrap_or(&none),
                has.tickets.get(name).unwrap_or(&none),
            );
            let mut part = parts.get(name).copied().unwrap_or_default();
            part.number = part.number.saturating_add(new.0).saturating_sub(gone.0);
            let money = |total: Amount| {
                let left = gone.1.iter().copied().fold(total, Amount::minus);
                new.1.iter().copied().fold(left, Amount::plus)
            };
            part.amount = money(part.amount);
            sum.amount = money(sum.amount);
            let of = (Kind::Event, event.clone());
            self.ledger.change(Change::SetPartTotals {
                of,
                name: name.clone(),
                sum: part,
            });
            let list = fields.get_mut("ticket_levels").and_then(Json::as_array_mut);
            let level = places
                .get(name)
                .and_then(|place| list?.get_mut(*place)?.as_object_mut());
            let Some(level) = level else { continue };
            let taken = new.0.saturating_sub(gone.0);
            if let Some(left) = level.get("limit").and_then(Json::as_i64) {
                if taken > 0 && taken > left {
                    let text = format!(
                        "The ticket level {} has fewer tickets left than requested.",
                        quoted(name)
                    );
                    problems.push(Problem::new(
                        ErrorCode::TicketLimitExceeded,
                        "tickets",
                        text,
                    ));
                }
                level.insert("limit", Json::integer(left.saturating_sub(taken)));
            }
            show(level, part);
            changed = true;
        }
        Ok(changed)
    }

    /// Sets the sold tickets on the levels of an event after a client replaced the levels.
    ///
    /// Requirements: RES-event-16.
    pub(super) fn show_levels(&mut self, event: &Id, fields: &mut Object) -> RuleResult<()> {
        write_level_totals(fields, &self.ledger.parts(Kind::Event, event)?);
        Ok(())
    }
}

/// Checks that each ticket has the title and the currency of a level.
///
/// Requirements: RES-event-15.
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
        by_title.entry(title(level)).or_insert(level);
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
    had: &TicketUsage,
    has: &TicketUsage,
    sum: Totals,
    problems: &mut Vec<Problem>,
) {
    let Some(capacity) = event.get("capacity").and_then(Json::as_i64) else {
        return;
    };
    let (before, after, taken) = if ticketed {
        (had.number(), has.number(), sum.number)
    } else {
        (had.places, has.places, sum.accepted)
    };
    if after > before && taken > capacity {
        let property = if ticketed { "tickets" } else { "status" };
        problems.push(Problem::new(
            ErrorCode::CapacityExceeded,
            property,
            "The event is full.",
        ));
    }
}

/// Sets the sold tickets on the levels of an event. Of several levels with one title, the first is
/// used.
pub(super) fn write_level_totals(event: &mut Object, parts: &BTreeMap<String, Totals>) {
    let levels = event.get_mut("ticket_levels").and_then(Json::as_array_mut);
    let mut shown = BTreeSet::new();
    for level in levels.into_iter().flatten().filter_map(Json::as_object_mut) {
        let name = title(level).to_owned();
        let part = parts.get(&name).copied().unwrap_or_default();
        show(
            level,
            if shown.insert(name) {
                part
            } else {
                Totals::default()
            },
        );
    }
}

fn show(level: &mut Object, part: Totals) {
    level.insert("total_tickets", Json::integer(part.number));
    level.insert("total_amount", Json::from(part.amount));
}
