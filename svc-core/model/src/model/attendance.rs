//! An attendance at an event.

use super::{Person, shared::ReferrerData};
use crate::{
    types::{FieldType, MemberWriter, closed_enum, object, resource},
    error::Problem,
    json::{Json, Object},
    schema::{COMMON, FieldSpec, ObjectSchema, FieldRule, RecordValidator, ValueType, currency_of, elements, excess_digits},
    value::Amount,
};

resource! {
    /// An attendance at an event.
    Attendance: "attendance" / "attendances" in Event under "event" {
        /// Creating system
        "RES-attendance-01" origin_system: String,
        /// When the RSVP was made
        "RES-attendance-02" action_date: String = receipt_time,
        /// Response
        "RES-attendance-03" status: AttendanceStatus,
        /// For RSVPs to open events: whether the person attended
        "RES-attendance-04" attended: bool,
        /// Comment
        "RES-attendance-06" comment: String,
        /// Where the action came from
        "RES-attendance-07" referrer_data: ReferrerData,
        /// Tickets; ticketed events only
        "RES-attendance-08" tickets: Vec<Ticket>,
    }
    links {
        /// The event
        "RES-attendance-15" event: one Event restrict,
        /// The attendee, or the buyer of the tickets
        "UND-08" person: one Person Required Move,
    }
    rules rules
}

object! {
    /// A ticket (RES-attendance-08).
    Ticket: "tickets" {
        /// Title
        "RES-attendance-09" title: String,
        /// Description
        "RES-attendance-10" description: String,
        /// Price
        "RES-attendance-11" amount: Amount,
        /// ISO 4217 code
        "RES-attendance-12" currency: String [FieldRule::CurrencyCode],
        /// Whether the holder attended
        "RES-attendance-13" attended: bool,
        /// The ticket holder, who may differ from the buyer
        "RES-attendance-14" person: Holder,
    }
}

/// The holder of a ticket: an inline person with its foreign identifiers.
///
/// Requirements: RES-attendance-14, TYP-17.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Holder {
    /// Identifiers of the form `<system_name>:<id>`.
    ///
    /// Requirements: TYP-13.
    pub identifiers: Option<Vec<String>>,
    /// The other fields of a person.
    pub person: Person,
}

impl Holder {
    /// Creates a holder from a person, without foreign identifiers.
    #[must_use]
    pub fn new(person: Person) -> Self {
        Self { identifiers: None, person }
    }

    /// Sets the field [`identifiers`](field@Self::identifiers).
    #[must_use]
    pub fn identifiers(mut self, identifiers: Vec<String>) -> Self {
        self.identifiers = Some(identifiers);
        self
    }

    /// The table of this object: the identifiers, followed by the fields of a person.
    pub const FIELDS: &'static ObjectSchema = &ObjectSchema::new("person", &Self::ALL);

    #[expect(clippy::indexing_slicing, reason = "evaluated by the compiler, which would report a panic")]
    const ALL: [FieldSpec; Person::FIELDS.fields.len() + 1] = {
        let [identifiers, ..] = COMMON.fields else { panic!("identifiers come first") };
        let mut all = [*identifiers; Person::FIELDS.fields.len() + 1];
        let (mut rest, mut place) = (Person::FIELDS.fields, 1);
        while let [field, more @ ..] = rest {
            all[place] = *field;
            (rest, place) = (more, place + 1);
        }
        all
    };
}

impl FieldType for Holder {
    const TYPE: ValueType = ValueType::Object(Self::FIELDS);

    fn read_json(json: &Json) -> Option<Self> {
        let object = json.as_object()?;
        let identifiers = object.get("identifiers").and_then(Vec::read_json);
        Some(Self { identifiers, person: Person::from_object(object) })
    }

    fn write_json(&self, out: &mut MemberWriter<'_>) {
        out.object(|out| {
            if let Some(identifiers) = &self.identifiers {
                out.member("identifiers", identifiers);
            }
            self.person.write_members(out);
        });
    }
}

closed_enum! {
    /// Response of an attendee (RES-attendance-03).
    AttendanceStatus { Declined = "declined", Tentative = "tentative", Accepted = "accepted", NeedsAction = "needs action" }
}

/// Checks that prices have no more digits after the decimal point than their currency.
///
/// Requirements: RES-attendance-11.
fn rules(cx: &mut RecordValidator<'_>) {
    cx.report_new(wrong_prices);
}

fn wrong_prices(attendance: &Object) -> Vec<Problem> {
    elements(attendance, "tickets")
        .filter_map(|(at, ticket)| excess_digits(&at, ticket, "amount", currency_of(ticket)?))
        .collect()
}
