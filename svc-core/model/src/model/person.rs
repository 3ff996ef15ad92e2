//! A person who supports or takes actions.

use super::shared::{EmailAddress, Geocode, PhoneNumber, PostalAddress};
use crate::{
    types::{StringMap, closed_enum, object, resource},
    error::ErrorCode,
    json::{Json, Object},
    schema::{FieldRule, RecordValidator},
    value::{Date, FlexEnum, Timestamp},
};

resource! {
    /// A person who supports or takes actions.
    Person: "person" / "people" also ExposesId, HasNotFoundCode {
        /// Last name
        "RES-person-01" family_name: String,
        /// First name
        "RES-person-02" given_name: String,
        /// Usually a middle name
        "RES-person-03" additional_name: String,
        /// For example a title before the name
        "RES-person-04" honorific_prefix: String,
        /// For example a suffix after the name
        "RES-person-05" honorific_suffix: String,
        /// Gender
        "RES-person-06" gender: Gender,
        /// Free-form self-described identity; standard forms preferred
        "RES-person-07" gender_identity: String,
        /// Party
        "RES-person-10" party_identification: FlexEnum<PartyIdentification>,
        /// All party registrations, past and present
        "RES-person-11" parties: Vec<Party>,
        /// Where the record was acquired
        "RES-person-15" source: String,
        /// Unique strings
        "RES-person-16" ethnicities: Vec<String> [FieldRule::Unique],
        /// Unique RFC 5646 tags
        "RES-person-17" languages_spoken: Vec<String> [FieldRule::Unique, FieldRule::LanguageTag],
        /// RFC 5646 tag
        "RES-person-18" preferred_language: String [FieldRule::LanguageTag],
        /// Public profile URL
        "RES-person-19" browser_url: String,
        /// Administrative URL
        "RES-person-20" administrative_url: String,
        /// Date of birth in three members
        "RES-person-21" birthdate: Birthdate,
        /// Employer name
        "RES-person-25" employer: String,
        /// Same members as `postal_address` except `primary`, `address_type` and
        /// `last_verified_date`
        "RES-person-26" employer_address: EmployerAddress [FieldRule::CountryRegions],
        /// Postal addresses
        "RES-person-28" postal_addresses: Vec<PostalAddress> [FieldRule::OnePrimary, FieldRule::CountryRegions],
        /// E-mail addresses
        "RES-person-29" email_addresses: Vec<EmailAddress> [FieldRule::MergedEntries, FieldRule::OnePrimary],
        /// Phone numbers
        "RES-person-30" phone_numbers: Vec<PhoneNumber> [FieldRule::OnePrimary, FieldRule::CountryCalls],
        /// Online profiles of the person
        "RES-person-31" profiles: Vec<Profile>,
        /// Key/value pairs; values are strings
        "RES-person-36" custom_fields: StringMap,
    }
    links {
        /// The collection of that person's donations
        "RES-person-39" donations: many Donation,
        /// The collection of that person's submissions
        "RES-person-40" submissions: many Submission,
        /// The collection of that person's attendances
        "RES-person-41" attendances: many Attendance,
        /// The collection of that person's signatures
        "RES-person-42" signatures: many Signature,
        /// The collection of that person's outreaches
        "RES-person-43" outreaches: many Outreach,
        /// The collection of that person's answers
        "RES-person-44" answers: many Answer,
        /// The collection of that person's taggings
        "RES-person-45" taggings: many Tagging,
        /// The collection of that person's items
        "RES-person-46" items: many Item,
        /// The Person who last changed the record
        "RES-person-47" modified_by: one Person,
        /// The collection of canvasses of that person
        "UND-38" canvasses: many Canvass,
        /// Another name of the attendances
        "HLP-21" attendance: alias Attendance,
        /// The canvass helper
        "RES-person-48" record_canvass_helper: helper RecordCanvass,
        /// The canvass helper, with the spelling of the Person link list
        "RES-person-48" record_canvas_helper: helper RecordCanvass,
    }
    rules rules
}

/// The members of which a new person without an identifier has at least one, each with the members of
/// its objects that count if others do not.
///
/// Requirements: UND-48.
pub const KNOWN_BY: [(&str, &[&str]); 8] = [
    ("email_addresses", &["address"]),
    ("phone_numbers", &["number"]),
    ("given_name", &[]),
    ("family_name", &[]),
    ("additional_name", &[]),
    ("postal_addresses", &["venue", "address_lines", "locality", "region", "postal_code", "country"]),
    ("profiles", &["provider", "id", "url", "handle"]),
    ("custom_fields", &[]),
];

/// Members, each with the names that clients send by mistake, in lower case without separators.
const SIMILAR: [(&str, &[&str]); 9] = [
    (
        "email_addresses[].address",
        &["email", "emails", "emailaddress", "mail", "emailaddresses", "email1", "primaryemail"],
    ),
    (
        "phone_numbers[].number",
        &["phone", "phones", "phonenumber", "phonenumbers", "mobile", "mobilenumber", "mobilephone", "cell", "cellphone", "tel", "telephone", "primaryphone"],
    ),
    ("given_name", &["firstname", "forename", "first", "givenname", "name", "fullname", "displayname"]),
    ("family_name", &["lastname", "surname", "last", "familyname"]),
    ("additional_name", &["middlename", "middle"]),
    ("postal_addresses[].address_lines", &["address", "addresses", "postaladdress", "street", "address1", "street1", "addressline1"]),
    ("postal_addresses[].locality", &["city", "town", "locality"]),
    ("postal_addresses[].postal_code", &["zip", "zipcode", "zip5", "postcode", "postalcode"]),
    ("postal_addresses[].country", &["country", "countrycode"]),
];

/// Returns the member that a client means by the name of another API or of a form.
///
/// Requirements: UND-48.
#[must_use]
pub fn similar_member(name: &str) -> Option<&'static str> {
    let plain: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    let plain = plain.to_ascii_lowercase();
    let meant = SIMILAR.iter().find(|(_, names)| names.contains(&&*plain));
    meant.map(|(member, _)| *member)
}

object! {
    /// A party registration (RES-person-11).
    Party: "parties" {
        /// Party, same values as `party_identification`
        "RES-person-12" identification: FlexEnum<PartyIdentification>,
        /// Last verification
        "RES-person-13" last_verified_date: Timestamp,
        /// Whether the registration is active
        "RES-person-14" active: bool,
    }
}

object! {
    /// A date of birth in three members (RES-person-21).
    Birthdate: "birthdate" {
        /// Month
        "RES-person-22" month: i64 [FieldRule::Between(1, 12)],
        /// Day
        "RES-person-23" day: i64 [FieldRule::Between(1, 31)],
        /// Year, four digits
        "RES-person-24" year: i64 [FieldRule::Between(1000, 9999)],
    }
}

object! {
    /// The address of an employer (RES-person-26).
    EmployerAddress: "employer_address" {
        /// Optional venue or building name
        "RES-person-26" venue: String,
        /// Street address lines
        "RES-person-26" address_lines: Vec<String>,
        /// City or local administrative area
        "RES-person-26" locality: String,
        /// Subdivision code per ISO 3166-2, without the country
        "RES-person-26" region: String [FieldRule::RegionCode],
        /// Region-specific postal code
        "RES-person-26" postal_code: String,
        /// ISO 3166-1 alpha-2 country code
        "RES-person-26" country: String [FieldRule::CountryCode],
        /// ISO 639 language code of the recorded address
        "RES-person-26" language: String [FieldRule::LanguageCode],
        /// Geographic position
        "RES-person-26" location: Geocode,
        /// Status of the employer address
        "RES-person-27" status: EmployerAddressStatus,
    }
}

object! {
    /// An online profile (RES-person-31).
    Profile: "profiles" {
        /// Provider
        "RES-person-32" provider: String,
        /// Id at the provider
        "RES-person-33" id: String,
        /// URL of the profile
        "RES-person-34" url: String,
        /// Handle, without a leading @
        "RES-person-35" handle: String [FieldRule::WithoutAt],
    }
}

closed_enum! {
    /// Gender (RES-person-06).
    Gender { Female = "Female", Male = "Male", Other = "Other" }
}

closed_enum! {
    /// Listed parties (RES-person-10).
    PartyIdentification { None = "None", Democratic = "Democratic", Republican = "Republican", Independent = "Independent" }
}

closed_enum! {
    /// State of an employer address (RES-person-27).
    EmployerAddressStatus { Potential = "Potential", Verified = "Verified", Bad = "Bad" }
}

/// Sets `gender` from a plain or compound `gender_identity`, and checks the birthdate.
///
/// Requirements: RES-person-08, RES-person-09.
fn rules(cx: &mut RecordValidator<'_>) {
    if cx.touches(&["birthdate"]) && cx.object("birthdate").is_some_and(is_no_day) {
        cx.report(ErrorCode::FieldInvalid, &["birthdate.day"], "The month does not have this day.");
    }
    let Some(gender) = cx.text("gender_identity").and_then(gender_of) else { return };
    cx.set("gender", Json::from(gender));
}

/// Returns whether the day and month do not exist in any year, or not in the given year.
///
/// Requirements: RES-person-21.
fn is_no_day(birthdate: &Object) -> bool {
    let part = |name: &str| birthdate.get(name).and_then(Json::as_i64);
    let (Some(month), Some(day)) = (part("month"), part("day")) else { return false };
    // 2000 is a leap year and has a 29 February.
    let year = part("year").and_then(|year| u16::try_from(year).ok()).unwrap_or(2000);
    let (Ok(month), Ok(day)) = (u8::try_from(month), u8::try_from(day)) else { return false };
    (1..=12).contains(&month) && (1..=31).contains(&day) && Date::new(year, month, day).is_none()
}

/// Returns the gender that an identity contains as a separate word; `None` if it contains both or
/// neither.
#[must_use]
pub fn gender_of(identity: &str) -> Option<&'static str> {
    let names = |words: [&str; 2]| {
        let is_named = |word: &str| words.iter().any(|name| word.eq_ignore_ascii_case(name));
        identity.split(|letter: char| !letter.is_alphanumeric()).any(is_named)
    };
    match (names(["female", "woman"]), names(["male", "man"])) {
        (true, false) => Some("Female"),
        (false, true) => Some("Male"),
        _ => None,
    }
}
