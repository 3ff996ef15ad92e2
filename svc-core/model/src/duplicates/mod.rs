//! Records that may represent the same person: the keys that such records share, and the weighted
//! comparison of two people.
//!
//! A store indexes the [keys](person_keys) of its people and compares only people who share a key. The
//! weights are constants. A pair is a suggestion; no people are merged because of it.
//!
//! # Examples
//!
//! ```
//! use svc_core::{Draft, duplicates::{Strength, compare}, model::{Person, shared::EmailAddress}};
//!
//! let person = |given_name: &str, address: &str| {
//!     let person = Person::default().given_name(given_name).family_name("Lovelace");
//!     let person = person.email_addresses([EmailAddress::default().address(address)]);
//!     Draft::new(&person).into_raw().fields
//! };
//! let (one, other) = (person("Ada", "ada@example.org"), person("ADA", "Ada@Example.org"));
//! let found = compare(&one, &other);
//! assert_eq!(found.map(|found| (found.strength, found.score)), Some((Strength::Strong, 22)));
//! ```
//!
//! Requirements: DUP-01, DUP-02.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use crate::{
    helper::distinct_emails,
    json::{Json, Object},
    link::ShareNames,
    record::RawRecord,
    value::forms,
};

/// The version of the keys. If it changes, stores rebuild their indexes of keys.
pub const KEYS_VERSION: u32 = 2;

/// The largest number of people with one key that are compared. More people with one key, such as the
/// phone number of an office, are a crowd.
///
/// Requirements: DUP-05.
pub const MAX_PEOPLE_OF_KEY: u64 = 50;

/// The lowest score of a strong pair.
const STRONG_SCORE: i32 = 8;

/// The lowest score of a weak pair.
const WEAK_SCORE: i32 = 12;

/// What two people can have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Evidence {
    /// An online profile.
    Profile,
    /// An e-mail address.
    Email,
    /// A phone number.
    Phone,
    /// The name.
    Name,
    /// The date of birth.
    Birthdate,
    /// A postal code.
    PostalCode,
    /// The generation in the honorific suffix, such as `Jr`. Only a difference has a weight.
    Generation,
}

impl Evidence {
    /// Every kind of evidence.
    pub const ALL: [Self; 7] = [
        Self::Profile,
        Self::Email,
        Self::Phone,
        Self::Name,
        Self::Birthdate,
        Self::PostalCode,
        Self::Generation,
    ];

    /// Returns the name in documents: the field, or `name` for the given name and the family name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Profile => "profiles",
            Self::Email => "email_addresses",
            Self::Phone => "phone_numbers",
            Self::Name => "name",
            Self::Birthdate => "birthdate",
            Self::PostalCode => "postal_addresses",
            Self::Generation => "honorific_suffix",
        }
    }

    /// Returns the paths of the values that are compared.
    #[must_use]
    pub const fn values(self) -> &'static [&'static [&'static str]] {
        match self {
            Self::Profile => &[
                &["profiles", "provider"],
                &["profiles", "id"],
                &["profiles", "handle"],
            ],
            Self::Email => &[&["email_addresses", "address"]],
            Self::Phone => &[&["phone_numbers", "number"]],
            Self::Name => &[&["given_name"], &["family_name"]],
            Self::Birthdate => &[
                &["birthdate", "year"],
                &["birthdate", "month"],
                &["birthdate", "day"],
            ],
            Self::PostalCode => &[&["postal_addresses", "postal_code"]],
            Self::Generation => &[&["honorific_suffix"]],
        }
    }

    /// Returns the weight if two people have it in common, and the weight if they differ in it. Each is
    /// the rounded logarithm to base 2 of a ratio: how frequent this is among two records of one person,
    /// divided by how frequent it is among records of two people.
    ///
    /// Requirements: DUP-02.
    #[must_use]
    pub const fn weights(self) -> (i32, i32) {
        match self {
            Self::Profile => (16, 0),
            Self::Email => (14, 0),
            Self::Phone => (10, 0),
            Self::Name => (8, -6),
            Self::Birthdate => (8, -8),
            Self::PostalCode => (6, -1),
            Self::Generation => (0, -6),
        }
    }

    /// Returns whether it identifies a person or a household by itself.
    const fn is_strong(self) -> bool {
        matches!(self, Self::Profile | Self::Email | Self::Phone)
    }
}

/// The kind of a [key](PersonKey). Its number is stored; it also orders the keys, the most
/// reliable first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum PersonKeyKind {
    /// An online profile.
    Profile = 1,
    /// An e-mail address.
    Email = 2,
    /// A phone number.
    Phone = 3,
    /// The name and the date of birth.
    NameAndBirthdate = 4,
    /// The name and a postal code.
    NameAndPostalCode = 5,
}

impl PersonKeyKind {
    /// Every kind, in order.
    pub const ALL: [Self; 5] = [
        Self::Profile,
        Self::Email,
        Self::Phone,
        Self::NameAndBirthdate,
        Self::NameAndPostalCode,
    ];

    /// Returns the number that is stored.
    #[must_use]
    pub const fn code(self) -> i64 {
        self as i64
    }

    /// Returns the kind with a number.
    #[must_use]
    pub fn from_code(code: i64) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.code() == code)
    }

    /// Returns the evidence that people with a common key have.
    #[must_use]
    pub const fn evidence(self) -> Evidence {
        match self {
            Self::Profile => Evidence::Profile,
            Self::Email => Evidence::Email,
            Self::Phone => Evidence::Phone,
            Self::NameAndBirthdate => Evidence::Birthdate,
            Self::NameAndPostalCode => Evidence::PostalCode,
        }
    }
}

/// A value that records of one person often share. Two people are only compared if they share a key.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct PersonKey {
    /// The kind.
    pub kind: PersonKeyKind,
    /// The [form](forms) of the value.
    pub text: String,
}

/// How likely two records represent one person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Strength {
    /// Both have a name and either a date of birth or a postal code in common.
    Weak,
    /// Both have a profile, an e-mail address or a phone number in common.
    Strong,
}

impl Strength {
    /// Returns the name in documents.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Weak => "weak",
            Self::Strong => "strong",
        }
    }
}

/// The result of the comparison of two people who may be the same person.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Comparison {
    /// How likely they are the same person.
    pub strength: Strength,
    /// The sum of the weights.
    pub score: i32,
    /// What they have in common and what differs, each with its weight.
    pub reasons: Vec<(Evidence, i32)>,
}

/// Returns the keys of a person with these fields, each once and in order.
#[must_use]
pub fn person_keys(fields: &Object) -> Vec<PersonKey> {
    ComparedPerson::of(fields).keys().into_iter().collect()
}

/// Returns the comparison of two people with these fields; `None` if they are not likely the same
/// person.
#[must_use]
pub fn compare(one: &Object, other: &Object) -> Option<Comparison> {
    ComparedPerson::of(one).compare(&ComparedPerson::of(other))
}

/// The values of a person that are compared, in their [`forms`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ComparedPerson {
    profiles: BTreeSet<String>,
    emails: BTreeSet<String>,
    phones: BTreeSet<String>,
    name: Option<String>,
    birthdate: Option<String>,
    /// Each postal code with its country.
    places: BTreeSet<(String, Option<String>)>,
    generation: Option<&'static str>,
}

impl ComparedPerson {
    /// Returns the values of a person with these fields.
    #[must_use]
    pub fn of(fields: &Object) -> Self {
        let number = |name| fields.get("birthdate")?.as_object()?.get(name)?.as_i64();
        let birthdate = || forms::birthdate(number("year")?, number("month")?, number("day")?);
        let name = || forms::name(text(fields, "given_name")?, text(fields, "family_name")?);
        let profiles = entries(fields, "profiles").filter_map(|entry| {
            let (id, handle) = (text(entry, "id"), text(entry, "handle"));
            forms::profile(text(entry, "provider")?, id, handle)
        });
        let phones = entries(fields, "phone_numbers").filter_map(|entry| {
            let (extension, country) = (text(entry, "extension"), text(entry, "country"));
            forms::phone(text(entry, "number")?, extension, country)
        });
        let places = entries(fields, "postal_addresses").filter_map(|entry| {
            let country = text(entry, "country").map(str::trim);
            let country = country.filter(|country| !country.is_empty());
            let code = forms::postal_code(text(entry, "postal_code")?, country)?;
            Some((code, country.map(str::to_uppercase)))
        });
        Self {
            profiles: profiles.collect(),
            emails: distinct_emails(fields)
                .into_iter()
                .filter(|address| forms::email(address).is_some())
                .collect(),
            phones: phones.collect(),
            name: name(),
            birthdate: birthdate(),
            places: places.collect(),
            generation: text(fields, "honorific_suffix").and_then(generation),
        }
    }

    /// Returns the values of a stored person. A damaged record has none.
    #[must_use]
    pub fn of_record(person: &RawRecord) -> Self {
        let fields = person.to_fields(&ShareNames::default());
        Self::of(&fields.unwrap_or_default())
    }

    /// Returns the keys.
    #[must_use]
    pub fn keys(&self) -> BTreeSet<PersonKey> {
        let of = |kind| {
            move |text: &String| PersonKey {
                kind,
                text: text.clone(),
            }
        };
        let with_name = |kind, value: &String| {
            let text = format!("{}\n{value}", self.name.as_ref()?);
            Some(PersonKey { kind, text })
        };
        let profiles = self.profiles.iter().map(of(PersonKeyKind::Profile));
        let emails = self.emails.iter().map(of(PersonKeyKind::Email));
        let phones = self.phones.iter().map(of(PersonKeyKind::Phone));
        let birthdate = self.birthdate.iter();
        let birthdate = birthdate.filter_map(|day| with_name(PersonKeyKind::NameAndBirthdate, day));
        let places = self.places.iter();
        let places =
            places.filter_map(|(code, _)| with_name(PersonKeyKind::NameAndPostalCode, code));
        profiles
            .chain(emails)
            .chain(phones)
            .chain(birthdate)
            .chain(places)
            .collect()
    }

    /// Returns the comparison with another person; `None` if they are not likely the same person.
    #[must_use]
    pub fn compare(&self, other: &Self) -> Option<Comparison> {
        self.compare_without(other, &[])
    }

    /// Returns the comparison with another person as if both had none of this evidence.
    ///
    /// Requirements: DUP-03.
    #[must_use]
    pub fn compare_without(&self, other: &Self, hidden: &[Evidence]) -> Option<Comparison> {
        let reasons: Vec<(Evidence, i32)> = Evidence::ALL
            .into_iter()
            .filter(|evidence| !hidden.contains(evidence))
            .filter_map(|evidence| {
                let (same, different) = evidence.weights();
                let weight = if self.agrees(other, evidence)? {
                    same
                } else {
                    different
                };
                (weight != 0).then_some((evidence, weight))
            })
            .collect();
        let score: i32 = reasons.iter().map(|(_, weight)| weight).sum();
        let agrees = |is_one: fn(Evidence) -> bool| {
            let mut reasons = reasons.iter();
            reasons.any(|(evidence, weight)| *weight > 0 && is_one(*evidence))
        };
        let strength = if agrees(Evidence::is_strong) {
            (score >= STRONG_SCORE).then_some(Strength::Strong)?
        } else {
            let is_weak = score >= WEAK_SCORE && agrees(|evidence| evidence == Evidence::Name);
            is_weak.then_some(Strength::Weak)?
        };
        Some(Comparison {
            strength,
            score,
            reasons,
        })
    }

    /// Returns whether two people have something in common, or differ in it. `None` if one of them does
    /// not have it, and for names with one common word.
    fn agrees(&self, other: &Self, evidence: Evidence) -> Option<bool> {
        let shared = |one: &BTreeSet<String>, other: &BTreeSet<String>| {
            (!one.is_empty() && !other.is_empty()).then(|| !one.is_disjoint(other))
        };
        match evidence {
            Evidence::Profile => shared(&self.profiles, &other.profiles),
            Evidence::Email => shared(&self.emails, &other.emails),
            Evidence::Phone => shared(&self.phones, &other.phones),
            Evidence::Name => {
                let (one, other) = (self.name.as_ref()?, other.name.as_ref()?);
                let has_word = |word| other.split(' ').any(|it| it == word);
                if one != other && one.split(' ').any(has_word) {
                    return None;
                }
                Some(one == other)
            }
            Evidence::Birthdate => Some(self.birthdate.as_ref()? == other.birthdate.as_ref()?),
            Evidence::PostalCode => {
                if self.places.is_empty() || other.places.is_empty() {
                    return None;
                }
                let mut pairs = self
                    .places
                    .iter()
                    .flat_map(|one| other.places.iter().map(move |other| (one, other)));
                Some(pairs.any(|((one, here), (other, there))| {
                    one == other && (here.is_none() || there.is_none() || here == there)
                }))
            }
            Evidence::Generation => Some(self.generation? == other.generation?),
        }
    }
}

/// Returns the generation that a suffix names.
fn generation(suffix: &str) -> Option<&'static str> {
    let names = [
        ("jr", "jr"),
        ("junior", "jr"),
        ("sr", "sr"),
        ("senior", "sr"),
        ("ii", "ii"),
        ("iii", "iii"),
    ];
    let folded = forms::address_lines([suffix])?;
    let mut words = folded.split(' ');
    words.find_map(|word| Some(names.iter().find(|(name, _)| *name == word)?.1))
}

fn text<'a>(object: &'a Object, name: &str) -> Option<&'a str> {
    object.get(name)?.as_str()
}

fn entries<'a>(object: &'a Object, name: &str) -> impl Iterator<Item = &'a Object> {
    let list = object.get(name).and_then(Json::as_array);
    list.into_iter().flatten().filter_map(Json::as_object)
}
