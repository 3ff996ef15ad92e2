//! A target of an outreach or of a campaign.

use super::{EmailAddress, PhoneNumber, PostalAddress};
use crate::{schema::FieldRule, types::object};

object! {
    /// A target of an outreach or of a campaign (RES-target-01).
    Target: "target" {
        /// Title or position
        "RES-target-02" title: String,
        /// Organization of the target
        "RES-target-03" organization: String,
        /// Given name
        "RES-target-04" given_name: String,
        /// Family name
        "RES-target-05" family_name: String,
        /// Open civic data division identifier of the target's political geography, if applicable
        "RES-target-06" ocdid: String,
        /// Addresses of the target
        "RES-target-07" postal_addresses: Vec<PostalAddress> [FieldRule::CountryRegions],
        /// E-mail addresses of the target
        "RES-target-08" email_addresses: Vec<EmailAddress>,
        /// Phone numbers of the target
        "RES-target-09" phone_numbers: Vec<PhoneNumber>,
        /// Occupation (listed by the specification in the same table as the postal address fields)
        "RES-target-10" occupation: String,
    }
}
