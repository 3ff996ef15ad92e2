//! The people of the demo.

use std::collections::VecDeque;

use svc_core::link::RecordAddress;
use svc_core::model::Kind;
use svc_core::read::{Json, Object};
use svc_core::value::Identifier;

use super::row::{SeedRow, degrees, nested, object, texts};
use super::word_lists::{
    EMPLOYERS, FAMILY_NAMES, GIVEN_NAMES, PARTIES, PLACES, SOURCES, STREETS, Town,
};
use super::{ORIGIN, SeedBuilder};

impl SeedBuilder {
    /// Creates the person with this number.
    pub(super) fn person(&mut self, number: u32, out: &mut VecDeque<SeedRow>) -> RecordAddress {
        let (given, gender) = self
            .random
            .pick(GIVEN_NAMES)
            .copied()
            .unwrap_or(("Ada", "Female"));
        let family = self.random.text(FAMILY_NAMES);
        let fields = self.person_fields(number, given, family, gender);
        let mut row = self.row(Kind::Person, None, fields);
        if number.is_multiple_of(3) {
            row.draft.identifiers.extend(Identifier::parse(&format!(
                "voter_file:{}",
                100_000 + number
            )));
        }
        let address = row.address.clone();
        out.push_back(row);
        address
    }

    fn person_fields(&mut self, number: u32, given: &str, family: &str, gender: &str) -> Object {
        let random = &mut self.random;
        let mut fields = object([("family_name", family.into()), ("given_name", given.into())]);
        if random.percent(15) {
            fields.insert("additional_name", random.text(FAMILY_NAMES));
        }
        if random.percent(5) {
            fields.insert("honorific_prefix", "Dr.");
        }
        fields.insert("gender", gender);
        if random.percent(10) {
            fields.insert(
                "gender_identity",
                if gender == "Other" {
                    "non-binary"
                } else {
                    gender
                },
            );
        }
        if random.percent(40) {
            fields.insert("party_identification", random.text(PARTIES));
        }
        fields.insert("source", random.text(SOURCES));
        let second = random.text(&["es", "fr", "de", "zh", "ar"]);
        fields.insert(
            "languages_spoken",
            if random.percent(30) {
                texts(&["en", second])
            } else {
                texts(&["en"])
            },
        );
        fields.insert("preferred_language", "en");
        if random.percent(60) {
            let (month, day, year) = (
                1 + random.below(12),
                1 + random.below(28),
                1940 + random.below(66),
            );
            fields.insert(
                "birthdate",
                object([
                    ("month", month.into()),
                    ("day", day.into()),
                    ("year", year.into()),
                ]),
            );
        }
        if random.percent(30) {
            fields.insert("employer", random.text(EMPLOYERS));
        }
        fields.insert("postal_addresses", Json::Array(vec![self.home()]));
        fields.insert(
            "email_addresses",
            Json::Array(vec![self.email(number, given, family)]),
        );
        fields.insert("phone_numbers", Json::Array(vec![self.phone(number)]));
        let random = &mut self.random;
        if random.percent(10) {
            let handle = format!("{}{}", given.to_lowercase(), number);
            let url = format!("https://social.example.org/{handle}");
            let profile = [
                ("provider", "Example Social".into()),
                ("url", url.into()),
                ("handle", handle.into()),
            ];
            fields.insert("profiles", Json::Array(vec![nested(profile)]));
        }
        if random.percent(25) {
            let size = random.text(&["S", "M", "L", "XL"]);
            fields.insert(
                "custom_fields",
                object([("shirt_size", size.into()), ("origin", ORIGIN.into())]),
            );
        }
        fields
    }

    fn home(&mut self) -> Json {
        const NOWHERE: Town = Town {
            locality: "Springfield",
            region: "IL",
            postal_code: "62701",
            latitude: 0,
            longitude: 0,
        };
        let random = &mut self.random;
        let place = random.pick(PLACES).unwrap_or(&NOWHERE);
        let line = format!("{} {}", 1 + random.below(400), random.text(STREETS));
        let near = |middle: i32, off: u32| {
            degrees(middle.saturating_add_unsigned(off).saturating_sub(200))
        };
        let (north, east) = (random.below(400), random.below(400));
        nested([
            ("primary", true.into()),
            ("address_type", "Home".into()),
            ("address_lines", texts(&[&line])),
            ("locality", place.locality.into()),
            ("region", place.region.into()),
            ("postal_code", place.postal_code.into()),
            ("country", "US".into()),
            ("language", "en".into()),
            (
                "location",
                nested([
                    ("latitude", near(place.latitude, north)),
                    ("longitude", near(place.longitude, east)),
                    ("accuracy", "Approximate".into()),
                ]),
            ),
            (
                "status",
                random.text(&["Verified", "Verified", "Potential"]).into(),
            ),
        ])
    }

    fn email(&mut self, number: u32, given: &str, family: &str) -> Json {
        let address = format!(
            "{}.{}.{number}@example.org",
            given.to_lowercase(),
            family.to_lowercase()
        );
        let status = match self.random.below(100) {
            0..=84 => "subscribed",
            85..=94 => "unsubscribed",
            95..=98 => "bouncing",
            _ => "spam complaints",
        };
        nested([
            ("primary", true.into()),
            ("address", address.into()),
            ("address_type", "personal".into()),
            ("status", status.into()),
        ])
    }

    fn phone(&mut self, number: u32) -> Json {
        let digits = format!("1555010{:04}", number % 10_000);
        let mobile = self.random.percent(80);
        nested([
            // A string in the specification (RES-phone_number-01).
            ("primary", "true".into()),
            ("number", digits.into()),
            ("number_type", if mobile { "Mobile" } else { "Home" }.into()),
            ("country", "US".into()),
            ("sms_capable", mobile.into()),
            ("do_not_call", self.random.percent(5).into()),
        ])
    }
}
