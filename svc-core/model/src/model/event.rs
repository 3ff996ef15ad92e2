//! An event people can attend.

use super::shared::{Geocode, ShareOption};
use crate::{
    types::{closed_enum, object, resource},
    error::{ErrorCode, Problem},
    json::Object,
    schema::{FieldRule, RecordValidator, currency_of, elements, excess_digits},
    value::{Amount, Date, Timestamp},
};

resource! {
    /// An event people can attend.
    Event: "event" / "events" {
        /// Name of the creating system
        "RES-event-01" origin_system: String,
        /// Administrative name
        "RES-event-02" name: String,
        /// Public title
        "RES-event-03" title: String,
        /// Description, text and/or HTML
        "RES-event-04" description: String,
        /// Single text paragraph
        "RES-event-05" summary: String,
        /// Public URL
        "RES-event-06" browser_url: String,
        /// Administrative URL
        "RES-event-07" administrative_url: String,
        /// Image URL
        "RES-event-08" featured_image_url: String,
        /// Kind of event
        "RES-event-09" type_ as "type": EventType,
        /// Ticket levels
        "RES-event-10" ticket_levels: Vec<TicketLevel>,
        /// Number of accepted attendances; computed by the server
        "RES-event-18" total_accepted: i64 = count(Attendance where status is accepted or absent),
        /// Number of tickets sold; computed by the server
        "RES-event-19" total_tickets: i64 = count(Attendance.tickets where status is accepted or absent, each title),
        /// Money from ticket sales; computed by the server
        "RES-event-20" total_amount: Amount = sum(Attendance.tickets.amount where status is accepted or absent, each title),
        /// State of the event
        "RES-event-21" status: EventStatus,
        /// Shown to attendees after RSVP; text and/or HTML
        "RES-event-22" instructions: String,
        /// Start time
        "RES-event-23" start_date: Timestamp,
        /// End time
        "RES-event-24" end_date: Timestamp,
        /// Date for all-day events
        "RES-event-25" all_day_date: Date,
        /// True for all-day events
        "RES-event-26" all_day: bool,
        /// Maximum attendees
        "RES-event-27" capacity: i64 [FieldRule::NotNegative],
        /// Whether attendees may invite guests
        "RES-event-28" guests_can_invite_others: bool,
        /// Whether the event blocks time in online calendars; `opaque` is the default and a user
        /// may override it
        "RES-event-29" transparence: Transparence = default "opaque",
        /// Visibility
        "RES-event-30" visibility: Visibility,
        /// Location of the event
        "RES-event-31" location: EventLocation,
        /// Contact for the event
        "RES-event-41" contact: Contact,
        /// Reminders
        "RES-event-47" reminders: Vec<Reminder>,
        /// URL to share
        "RES-event-50" share_url: String,
        /// Computed number of shares
        "RES-event-51" total_shares: i64 = outside,
        /// Alternate ways to share the page
        "RES-event-52" share_options: Vec<ShareOption>,
    }
    links {
        /// The Person who created it
        "RES-event-54" creator: one Person Create,
        /// The Person who last changed it
        "RES-event-55" modified_by: one Person,
        /// The Person who organizes it
        "RES-event-56" organizer: one Person Create Change,
        /// Its attendances
        "RES-event-57" attendances: many Attendance,
        /// URL of the helper
        "RES-event-58" record_attendance_helper: helper RecordAttendance,
    }
    rules rules
}

object! {
    /// A level of tickets (RES-event-10).
    TicketLevel: "ticket_levels" {
        /// Title
        "RES-event-11" title: String,
        /// Earlier titles, which its sold tickets can have; computed by the server
        "RES-event-11" former_titles: Vec<String> = former title,
        /// Description
        "RES-event-12" description: String,
        /// Price per ticket
        "RES-event-13" amount: Amount,
        /// ISO 4217 code
        "RES-event-14" currency: String [FieldRule::CurrencyCode],
        /// Tickets available, excluding those already sold
        "RES-event-15" limit: i64 [FieldRule::NotNegative],
        /// Tickets sold; computed by the server
        "RES-event-16" total_tickets: i64 = part total_tickets,
        /// Money from this level; computed by the server
        "RES-event-17" total_amount: Amount = part total_amount,
    }
}

object! {
    /// The location of an event (RES-event-31).
    EventLocation: "location" {
        /// Venue
        "RES-event-32" venue: String,
        /// Address lines
        "RES-event-33" address_lines: Vec<String>,
        /// Locality
        "RES-event-34" locality: String,
        /// Region
        "RES-event-35" region: String,
        /// Postal code
        "RES-event-36" postal_code: String,
        /// Country
        "RES-event-37" country: String [FieldRule::CountryCode],
        /// Language
        "RES-event-38" language: String [FieldRule::LanguageCode],
        /// Geocode of the location
        "RES-event-39" location: Geocode,
        /// False if the location is shared only with people who have answered
        "RES-event-40" public: bool,
    }
}

object! {
    /// The contact for an event (RES-event-41).
    Contact: "contact" {
        /// Contact name
        "RES-event-42" name: String,
        /// Contact email address
        "RES-event-43" email_address: String [FieldRule::OneLine],
        /// Contact phone number
        "RES-event-44" phone_number: String,
        /// Contact additional info
        "RES-event-45" additional_info: String,
        /// False if the contact is shared only with people who have answered
        "RES-event-46" public: bool,
    }
}

object! {
    /// A reminder before an event (RES-event-47).
    Reminder: "reminders" {
        /// Channel
        "RES-event-48" method: ReminderMethod,
        /// Minutes before the start
        "RES-event-49" minutes: i64 [FieldRule::NotNegative],
    }
}

closed_enum! {
    /// Type of an event (RES-event-09).
    EventType { Ticketed = "ticketed", Open = "open" }
}

closed_enum! {
    /// State of an event (RES-event-21).
    EventStatus { Confirmed = "confirmed", Tentative = "tentative", Cancelled = "cancelled" }
}

closed_enum! {
    /// Whether an event blocks time in calendars (RES-event-29).
    Transparence { Opaque = "opaque", Transparent = "transparent" }
}

closed_enum! {
    /// The visibility of an event (RES-event-30).
    Visibility { Public = "public", Private = "private" }
}

closed_enum! {
    /// Channel of a reminder (RES-event-48).
    ReminderMethod { Email = "email", Sms = "sms" }
}

/// Checks that an event does not end before it starts, and that its ticket levels have one currency.
///
/// Requirements: RES-event-14, RES-event-24.
fn rules(cx: &mut RecordValidator<'_>) {
    cx.report_new(wrong_levels);
    if let (Some(start), Some(end)) = (cx.timestamp("start_date"), cx.timestamp("end_date"))
        && end < start
    {
        cx.report(ErrorCode::StartDateAfterEndDate, &["start_date", "end_date"], "The start date is after the end date.");
    }
}

/// Returns a problem for each ticket level with another currency than the first one that has a
/// currency, and for each price that has more digits after the decimal point than its currency.
fn wrong_levels(event: &Object) -> Vec<Problem> {
    let levels = || elements(event, "ticket_levels");
    let Some(currency) = levels().find_map(|(_, level)| currency_of(level)) else { return Vec::new() };
    let mut problems = Vec::new();
    for (at, level) in levels() {
        let own = currency_of(level).unwrap_or(currency);
        if own != currency {
            let text = format!("{{property}} must be {currency}, the currency of the other ticket levels, but is {own}.");
            problems.push(Problem::new(ErrorCode::FieldInvalid, at.clone().push_member("currency"), text).with_hint(currency));
        }
        problems.extend(excess_digits(&at, level, "amount", own));
    }
    problems
}
