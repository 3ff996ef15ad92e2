//! A donation of money.

use super::shared::ReferrerData;
use crate::{
    types::{closed_enum, object, resource},
    schema::RecordValidator,
    schema::FieldRule,
    value::{Amount, FlexEnum, Timestamp},
};

resource! {
    /// A donation of money.
    Donation: "donation" / "donations" under "fundraising_page" {
        /// Creating system
        "RES-donation-01" origin_system: String,
        /// When the donation was made
        "RES-donation-02" action_date: String = receipt_time,
        /// Total after any credits, in `currency`
        "RES-donation-03" amount: Amount,
        /// Amount credited back to the donor
        "RES-donation-04" credited_amount: Amount,
        /// Date of the credit
        "RES-donation-05" credited_date: Timestamp,
        /// ISO 4217 code
        "RES-donation-06" currency: String [FieldRule::CurrencyCode],
        /// Recipients
        "RES-donation-07" recipients: Vec<Recipient>,
        /// Payment with the three members below
        "RES-donation-11" payment: Payment,
        /// Sequence number or other value unique to this donation within a subscription
        "RES-donation-15" subscription_instance: String,
        /// Whether voided
        "RES-donation-16" voided: bool,
        /// Date of the void
        "RES-donation-17" voided_date: Timestamp,
        /// URL where the donation was taken
        "RES-donation-19" url: String,
        /// Where the action came from
        "RES-donation-20" referrer_data: ReferrerData,
    }
    links {
        /// The page that received it
        "RES-donation-21" fundraising_page: one FundraisingPage restrict,
        /// The donor
        "RES-donation-21" person: one Person Required,
        /// The attendance it belongs to
        "RES-donation-22" attendance: one Attendance Create,
        /// The submission it belongs to
        "RES-donation-22" submission: one Submission Create,
    }
    rules rules
}

object! {
    /// A recipient of a donation (RES-donation-07).
    Recipient: "recipients" {
        /// Display name
        "RES-donation-08" display_name: String,
        /// Legal name
        "RES-donation-09" legal_name: String,
        /// Amount to this recipient
        "RES-donation-10" amount: Amount,
    }
}

object! {
    /// How a donation was paid (RES-donation-11).
    Payment: "payment" {
        /// Payment method; other values allowed
        "RES-donation-12" method: FlexEnum<PaymentMethod>,
        /// Reference number
        "RES-donation-13" reference_number: String,
        /// Whether an authorization is stored
        "RES-donation-14" authorization_stored: bool,
    }
}

closed_enum! {
    /// Listed methods of payment (RES-donation-12).
    PaymentMethod { CreditCard = "Credit Card", Check = "Check", Cash = "Cash", ElectronicFundsTransfer = "Electronic Funds Transfer" }
}

/// Sets `voided_date` of a voided donation, and removes it if `voided` is false.
///
/// Requirements: RES-donation-18.
fn rules(cx: &mut RecordValidator<'_>) {
    if cx.boolean("voided") == Some(true) {
        cx.set_receipt_time_if_missing("voided_date");
    } else if cx.boolean("voided") == Some(false) {
        cx.remove("voided_date");
    }
}
