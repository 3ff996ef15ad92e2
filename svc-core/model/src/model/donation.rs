//! A donation of money.

use super::shared::ReferrerData;
use crate::{
    error::ErrorCode,
    json::{Json, Number, Object},
    schema::{FieldRule, RecordValidator, currency_of, elements, wrong_amounts},
    types::{closed_enum, object, resource},
    value::{Amount, FlexEnum, Timestamp},
};

resource! {
    /// A donation of money.
    Donation: "donation" / "donations" under "fundraising_page" {
        /// Creating system
        "RES-donation-01" origin_system: String,
        /// When the donation was made
        "RES-donation-02" action_date: String = receipt_time,
        /// Total after any credits, in `currency`; without it, the sum of the recipients' amounts
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
        "RES-donation-21" fundraising_page: one FundraisingPage Move restrict,
        /// The donor
        "RES-donation-21" person: one Person Required Move,
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

/// Applies the rules of voids and amounts.
fn rules(cx: &mut RecordValidator<'_>) {
    void(cx);
    cx.report_new(|donation| {
        currency_of(donation).map_or_else(Vec::new, |currency| wrong_amounts(donation, currency))
    });
    if cx.touches(&["recipients"]) && !cx.has("amount") && !cx.clears("amount") {
        sum_recipients(cx);
    }
}

/// Voids a donation that is sent with a new `voided_date` and without `voided`. Sets the date of a voided
/// donation, and removes that of a donation that is not voided.
///
/// Requirements: RES-donation-18.
fn void(cx: &mut RecordValidator<'_>) {
    let date_before = cx.before().and_then(|before| before.get("voided_date"));
    let is_dated = cx.has("voided_date") && cx.fields().get("voided_date") != date_before;
    let says_voided = cx.touches(&["voided"]) && (cx.has("voided") || cx.clears("voided"));
    if is_dated && !says_voided {
        cx.set("voided", Json::Bool(true));
    }
    if cx.boolean("voided") == Some(true) {
        cx.set_receipt_time_if_missing("voided_date");
    } else if cx.boolean("voided") == Some(false) || cx.clears("voided") {
        cx.remove("voided_date");
    }
}

/// Sets the amount of a donation to the sum of its recipients' amounts.
///
/// Requirements: RES-donation-03.
fn sum_recipients(cx: &mut RecordValidator<'_>) {
    let Some(sum) = sum_of_recipients(cx.fields()) else { return };
    if sum.is_money() {
        cx.set("amount", Json::from(sum));
    } else {
        let text = "The sum of the amounts of {property} must have at most 16 digits before the decimal point.";
        cx.report(ErrorCode::FieldInvalid, &["recipients"], text);
    }
}

/// Returns the sum of the recipients' amounts, or `None` if there are none.
fn sum_of_recipients(donation: &Object) -> Option<Amount> {
    let amounts = elements(donation, "recipients").filter_map(|(_, recipient)| recipient.get("amount")?.as_number().and_then(Number::as_amount));
    amounts.reduce(Amount::plus)
}
