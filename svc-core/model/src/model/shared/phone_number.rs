//! Phone numbers.

use crate::{
    schema::FieldRule,
    types::{TextFlag, closed_enum, object},
    value::FlexEnum,
};

object! {
    /// A phone number.
    PhoneNumber: "phone_number" {
        /// Marks the primary number; a string in the specification, although it is a flag
        "RES-phone_number-01" primary: TextFlag,
        /// Must include the country code and use numeric characters only
        "RES-phone_number-03" number: String [FieldRule::PhoneNumber],
        /// Optional extension
        "RES-phone_number-04" extension: String,
        /// Free-form description
        "RES-phone_number-05" description: String,
        /// Kind of number
        "RES-phone_number-06" number_type: FlexEnum<PhoneNumberType>,
        /// Carrier or operator
        "RES-phone_number-07" operator: String,
        /// ISO 3166-1 alpha-2 code
        "RES-phone_number-08" country: String [FieldRule::CountryCode],
        /// True when the number accepts SMS
        "RES-phone_number-09" sms_capable: bool,
        /// True when the number is on a national do-not-call registry
        "RES-phone_number-10" do_not_call: bool,
    }
}

closed_enum! {
    /// Listed kinds of phone number (RES-phone_number-06).
    PhoneNumberType { Home = "Home", Work = "Work", Mobile = "Mobile", Other = "Other", Daytime = "Daytime", Evening = "Evening", Fax = "Fax" }
}
