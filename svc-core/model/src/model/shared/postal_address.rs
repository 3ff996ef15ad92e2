//! Postal addresses and their geographic positions.

use crate::{
    schema::FieldRule,
    types::{closed_enum, object},
    value::Timestamp,
};

object! {
    /// A postal address.
    PostalAddress: "postal_address" {
        /// Marks the primary address
        "RES-postal_address-01" primary: bool,
        /// Kind of address
        "RES-postal_address-03" address_type: PostalAddressType,
        /// Optional venue or building name
        "RES-postal_address-04" venue: String,
        /// Street address lines
        "RES-postal_address-05" address_lines: Vec<String>,
        /// City or local administrative area
        "RES-postal_address-06" locality: String,
        /// Subdivision code per ISO 3166-2, without the country
        "RES-postal_address-07" region: String [FieldRule::RegionCode],
        /// Region-specific postal code
        "RES-postal_address-08" postal_code: String,
        /// ISO 3166-1 alpha-2 country code
        "RES-postal_address-09" country: String [FieldRule::CountryCode],
        /// ISO 639 language code of the recorded address
        "RES-postal_address-10" language: String [FieldRule::LanguageCode],
        /// Geocode with the three members below
        "RES-postal_address-11" location: Geocode,
        /// Status of the address
        "RES-postal_address-15" status: PostalAddressStatus,
        /// Last verification time
        "RES-postal_address-16" last_verified_date: Timestamp,
    }
}

object! {
    /// The geographic position of an address (RES-postal_address-11).
    Geocode: "location" {
        /// Signed latitude
        "RES-postal_address-12" latitude: f64 [FieldRule::Between(-90, 90)],
        /// Signed longitude
        "RES-postal_address-13" longitude: f64 [FieldRule::Between(-180, 180)],
        /// Accuracy
        "RES-postal_address-14" accuracy: Accuracy,
    }
}

closed_enum! {
    /// Kind of a postal address (RES-postal_address-03).
    PostalAddressType { Home = "Home", Work = "Work", Mailing = "Mailing" }
}

closed_enum! {
    /// State of a postal address (RES-postal_address-15).
    PostalAddressStatus { Potential = "Potential", Verified = "Verified", Bad = "Bad", Past = "Past" }
}

closed_enum! {
    /// Accuracy of a geocode (RES-postal_address-14).
    Accuracy { Rooftop = "Rooftop", Approximate = "Approximate" }
}
