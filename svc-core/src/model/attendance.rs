//! An attendance at an event.

use super::{Person, shared::ReferrerData};
use crate::{
    describe::{closed_enum, object, resource},
    schema::Rule,
    value::Amount,
};

resource! {
    /// An attendance at an event.
    Attendance: "attendance" / "attendances" in Event under "event" {
        /// Creating system (RES-attendance-01).
        origin_system: String,
        /// When the RSVP was made (RES-attendance-02).
        action_date: String = receipt_time,
        /// Response (RES-attendance-03).
        status: AttendanceStatus,
        /// For RSVPs to open events: whether the person came (RES-attendance-04).
        attended: bool,
        /// Comment (RES-attendance-06).
        comment: String,
        /// Where the action came from (RES-attendance-07).
        referrer_data: ReferrerData,
        /// Tickets; ticketed events only (RES-attendance-08).
        tickets: Vec<Ticket>,
    }
    links {
        /// The event (RES-attendance-15).
        event: one Event,
        /// The attendee, or the buyer of the tickets (UND-08).
        person: one Person Required,
    }
}

object! {
    /// A ticket (RES-attendance-08).
    Ticket: "tickets" {
        /// Title (RES-attendance-09).
        title: String,
        /// Description (RES-attendance-10).
        description: String,
        /// Price (RES-attendance-11).
        amount: Amount,
        /// ISO 4217 code (RES-attendance-12).
        currency: String [Rule::CurrencyCode],
        /// Whether the holder came (RES-attendance-13).
        attended: bool,
        /// The ticket holder, who may differ from the buyer (RES-attendance-14).
        person: Person,
    }
}

closed_enum! {
    /// Response of an attendee (RES-attendance-03).
    AttendanceStatus { Declined = "declined", Tentative = "tentative", Accepted = "accepted", NeedsAction = "needs action" }
}
