//! E-mail addresses.

use crate::{
    schema::FieldRule,
    types::{closed_enum, object},
    value::FlexEnum,
};

object! {
    /// An e-mail address.
    EmailAddress: "email_address" {
        /// Marks the primary address
        "RES-email_address-01" primary: bool,
        /// The e-mail address
        "RES-email_address-03" address: String [FieldRule::Email],
        /// Kind of address
        "RES-email_address-04" address_type: FlexEnum<EmailAddressType>,
        /// Subscription state
        "RES-email_address-05" status: EmailStatus,
    }
}

closed_enum! {
    /// Listed kinds of e-mail address (RES-email_address-04).
    EmailAddressType { Personal = "personal", Work = "work", Other = "other" }
}

closed_enum! {
    /// Subscription state of an e-mail address (RES-email_address-05).
    EmailStatus { Subscribed = "subscribed", Unsubscribed = "unsubscribed", Bouncing = "bouncing", SpamComplaints = "spam complaints" }
}
