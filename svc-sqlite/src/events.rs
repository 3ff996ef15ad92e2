//! What attendances take from an event: places and tickets, never more than there are (RES-event-15 to RES-event-20,
//! RES-event-27, RES-attendance-05, RES-attendance-08).

use std::collections::BTreeMap;

use svc_core::{
    error::{Code, Error, Problem, Result},
    model::Kind,
    read::{Json, Object},
    value::Amount,
};

use crate::{
    record_id::RecordId,
    rows::{body, by_id},
    schema::table,
    session::Session,
    totals::Sum,
};

/// What one attendance takes. Only one that is accepted, or says nothing, takes something (RES-event-15).
#[derive(Debug, Default)]
struct Share {
    places: i64,
    /// Tickets and their price by title.
    tickets: BTreeMap<String, (i64, Vec<Amount>)>,
}

impl Share {
    fn of(attendance: Option<&Object>) -> Self {
        let mut share = Self::default();
        let Some(fields) = attendance.filter(|fields| counts(fields)) else { return share };
        share.places = 1;
        for ticket in tickets(fields) {
            let level = share.tickets.entry(title(ticket).to_owned()).or_default();
            level.0 = level.0.saturating_add(1);
            level.1.extend(amount(ticket));
        }
        share
    }

    fn number(&self) -> i64 {
        self.tickets.values().fold(0, |sum, (number, _)| sum.saturating_add(*number))
    }
}

fn counts(attendance: &Object) -> bool {
    matches!(attendance.get("status").and_then(Json::as_str), None | Some("accepted"))
}

fn tickets(attendance: &Object) -> impl Iterator<Item = &Object> {
    let list = attendance.get("tickets").and_then(Json::as_array).unwrap_or_default();
    list.iter().filter_map(Json::as_object)
}

fn title(level: &Object) -> &str {
    level.get("title").and_then(Json::as_str).unwrap_or_default()
}

fn amount(ticket: &Object) -> Option<Amount> {
    Amount::parse(ticket.get("amount")?.as_number()?.as_str())
}

/// An event that says nothing of its type has tickets when it has ticket levels.
fn is_ticketed(event: &Object) -> bool {
    match event.get("type").and_then(Json::as_str) {
        Some(kind) => kind == "ticketed",
        None => event.get("ticket_levels").is_some_and(|levels| !levels.is_empty()),
    }
}

fn levels(event: &Object) -> impl Iterator<Item = &Object> {
    list_of_levels(event).iter().filter_map(Json::as_object)
}

fn list_of_levels(event: &Object) -> &[Json] {
    event.get("ticket_levels").and_then(Json::as_array).unwrap_or_default()
}

impl Session<'_> {
    /// Takes from an event what an attendance needs now, and gives back what it needed before.
    ///
    /// Completes the attendance from the event: tickets without a price get that of their level, and `attended` is
    /// dropped where the tickets have their own. `tickets_sent` tells whether this request brought the tickets.
    pub(crate) fn settle_attendance(
        &mut self,
        event: RecordId,
        before: Option<&Object>,
        mut after: Option<&mut Object>,
        tickets_sent: bool,
    ) -> Result<()> {
        let stored = by_id(self.file, self.tenant, Kind::Event, event)?;
        let stored = stored.ok_or_else(|| Error::unexpected("an attendance without its event"))?;
        let mut fields = stored.fields(self.names())?;
        let ticketed = is_ticketed(&fields);
        if let Some(after) = after.as_deref_mut() {
            if ticketed {
                after.remove("attended");
            }
            if tickets_sent {
                self.check_tickets(&fields, ticketed, after);
            }
        }
        let (had, has) = (Share::of(before), Share::of(after.as_deref()));
        let (members, owner) = (table(Kind::Attendance), table(Kind::Event));
        let mut sum = self.sum(members, owner, event)?;
        sum.accepted = sum.accepted.saturating_add(has.places).saturating_sub(had.places);
        sum.tickets = sum.tickets.saturating_add(has.number()).saturating_sub(had.number());
        self.check_capacity(&fields, ticketed, &had, &has, sum);
        let changed = self.settle_levels(event, &mut fields, &had, &has, &mut sum)?;
        self.set_sum(members, owner, event, sum)?;
        if changed {
            self.set_body(owner, stored.seq, &body(&fields, self.names()))?;
        }
        Ok(())
    }

    /// Each ticket belongs to the level of its title, and costs in its currency (RES-event-15).
    fn check_tickets(&mut self, event: &Object, ticketed: bool, attendance: &mut Object) {
        let Some(list) = attendance.get_mut("tickets").and_then(Json::as_array_mut) else { return };
        if !ticketed {
            if !list.is_empty() {
                self.problem(Problem::new(Code::TicketsNotAllowed, "tickets", "This event has no tickets."));
            }
            return;
        }
        let mut by_title = BTreeMap::new();
        for level in levels(event) {
            by_title.entry(title(level)).or_insert(level);
        }
        for (place, ticket) in list.iter_mut().enumerate() {
            let Some(ticket) = ticket.as_object_mut() else { continue };
            let Some(level) = by_title.get(title(ticket)).copied() else {
                let property = format!("tickets[{place}].title");
                let text = format!("The event has no ticket level of the title in `{property}`.");
                self.problem(Problem::new(Code::TicketLevelDoesNotExist, property, text));
                continue;
            };
            let currency = |object: &Object| object.get("currency").and_then(Json::as_str).map(str::to_ascii_uppercase);
            if let (Some(asked), Some(known)) = (currency(ticket), currency(level))
                && asked != known
            {
                let property = format!("tickets[{place}].currency");
                let text = format!("`{property}` is not the currency of the ticket level.");
                self.problem(Problem::new(Code::FieldInvalid, property, text).hint(known));
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

    /// An open event has places for attendances, a ticketed one for tickets; lowering it later takes nothing away
    /// (RES-event-27).
    fn check_capacity(&mut self, event: &Object, ticketed: bool, had: &Share, has: &Share, sum: Sum) {
        let Some(capacity) = event.get("capacity").and_then(Json::as_i64) else { return };
        let (before, after, taken) =
            if ticketed { (had.number(), has.number(), sum.tickets) } else { (had.places, has.places, sum.accepted) };
        if after > before && taken > capacity {
            let property = if ticketed { "tickets" } else { "status" };
            self.problem(Problem::new(Code::CapacityExceeded, property, "The event is full."));
        }
    }

    /// Moves tickets and money between the levels; whether a level changed.
    fn settle_levels(
        &mut self,
        event: RecordId,
        fields: &mut Object,
        had: &Share,
        has: &Share,
        sum: &mut Sum,
    ) -> Result<bool> {
        let titles: std::collections::BTreeSet<&String> = had.tickets.keys().chain(has.tickets.keys()).collect();
        let mut changed = false;
        let mut places = BTreeMap::new();
        for (place, level) in list_of_levels(fields).iter().enumerate() {
            if let Some(level) = level.as_object() {
                places.entry(title(level).to_owned()).or_insert(place);
            }
        }
        for name in titles {
            let none = (0, Vec::new());
            let (gone, new) = (had.tickets.get(name).unwrap_or(&none), has.tickets.get(name).unwrap_or(&none));
            let mut part = self.part(event, name)?;
            part.tickets = part.tickets.saturating_add(new.0).saturating_sub(gone.0);
            let money = |mut total: Amount| {
                for amount in &gone.1 {
                    total = total.checked_sub(*amount)?;
                }
                for amount in &new.1 {
                    total = total.checked_add(*amount)?;
                }
                Some(total)
            };
            let (Some(of_part), Some(of_event)) = (money(part.amount), money(sum.amount)) else {
                let text = "With these tickets the sum of money has too many digits.";
                self.problem(Problem::new(Code::FieldInvalid, "tickets", text));
                continue;
            };
            part.amount = of_part;
            sum.amount = of_event;
            self.set_part(event, name, part)?;
            let list = fields.get_mut("ticket_levels").and_then(Json::as_array_mut);
            let level = places.get(name).and_then(|place| list?.get_mut(*place)?.as_object_mut());
            let Some(level) = level else { continue };
            let taken = new.0.saturating_sub(gone.0);
            if let Some(left) = level.get("limit").and_then(Json::as_i64) {
                if taken > 0 && taken > left {
                    let text = "This ticket level has fewer tickets left.";
                    self.problem(Problem::new(Code::TicketLimitExceeded, "tickets", text));
                }
                level.insert("limit", Json::integer(left.saturating_sub(taken)));
            }
            show(level, part);
            changed = true;
        }
        Ok(changed)
    }

    /// Writes what was sold into the levels of an event whose levels a client replaced (RES-event-16).
    pub(crate) fn show_levels(&self, event: RecordId, fields: &mut Object) -> Result<()> {
        let mut parts: BTreeMap<String, Sum> = self.parts(event)?.into_iter().collect();
        let list = fields.get_mut("ticket_levels").and_then(Json::as_array_mut);
        for level in list.into_iter().flatten().filter_map(Json::as_object_mut) {
            let part = parts.remove(title(level)).unwrap_or_default();
            show(level, part);
        }
        Ok(())
    }
}

fn show(level: &mut Object, part: Sum) {
    level.insert("total_tickets", Json::integer(part.tickets));
    level.insert("total_amount", Json::from(part.amount));
}
