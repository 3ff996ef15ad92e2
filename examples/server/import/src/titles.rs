//! What columns set, in plain words.

use std::borrow::Cow;

use crate::action::ActionKind;
use crate::member::{EntryKey, Member, RecordField};

/// Titles of members whose name in the API is not plain English. `not` is for columns of objections, and `*` for
/// all entries of a row. Other members are called by their names.
const TITLES: &[(&str, &str)] = &[
    ("given_name", "First name"),
    ("family_name", "Last name"),
    ("additional_name", "Middle name"),
    ("honorific_prefix", "Title before the name, such as Dr."),
    ("honorific_suffix", "Suffix after the name, such as Jr."),
    ("party_identification", "Political party"),
    ("browser_url", "Website"),
    ("administrative_url", "Administrative website"),
    ("birthdate", "Date of birth"),
    ("birthdate.year", "Year of birth"),
    ("birthdate.month", "Month of birth"),
    ("birthdate.day", "Day of birth"),
    ("source", "Where the record comes from"),
    ("ethnicities", "Ethnicity"),
    ("email_addresses.address", "E-mail address"),
    ("email_addresses.address_type", "Kind of e-mail address"),
    ("email_addresses.primary", "Main e-mail address (yes or no)"),
    ("email_addresses.status", "E-mails wanted (subscribed)"),
    (
        "not email_addresses.status",
        "No e-mails wanted (unsubscribed)",
    ),
    ("phone_numbers.number", "Phone number"),
    ("phone_numbers.number_type", "Kind of phone number"),
    ("phone_numbers.primary", "Main phone number (yes or no)"),
    ("phone_numbers.extension", "Extension of the phone number"),
    (
        "phone_numbers.description",
        "Description of the phone number",
    ),
    ("phone_numbers.operator", "Phone company"),
    ("phone_numbers.country", "Country of the phone number"),
    ("phone_numbers.do_not_call", "No calls wanted"),
    ("not phone_numbers.do_not_call", "Calls wanted"),
    ("phone_numbers.sms_capable", "Text messages wanted"),
    ("not phone_numbers.sms_capable", "No text messages wanted"),
    ("postal_addresses.address_lines", "Street and house number"),
    ("postal_addresses.locality", "City"),
    ("postal_addresses.region", "State or region"),
    ("postal_addresses.postal_code", "Postal code"),
    ("postal_addresses.country", "Country"),
    ("postal_addresses.venue", "Building"),
    ("postal_addresses.language", "Language of the address"),
    ("postal_addresses.address_type", "Kind of address"),
    ("postal_addresses.primary", "Main address (yes or no)"),
    ("postal_addresses.status", "Status of the address"),
    ("profiles.provider", "Name of the social network"),
    ("profiles.id", "Profile number"),
    ("profiles.url", "Profile link"),
    ("profiles.handle", "Profile user name"),
];

/// The fields whose entries have a name of their own, and the member that is the entry itself.
const ENTRIES: &[(&str, &str, &str)] = &[
    ("email_addresses", "e-mail address", "address"),
    ("phone_numbers", "phone number", "number"),
    ("postal_addresses", "address", ""),
];

/// The members that people choose from, in the notation of [`Member::parse`].
const CHOICES: &[(&str, &[&str])] = &[
    (
        "Name",
        &[
            "given_name",
            "family_name",
            "full_name",
            "additional_name",
            "honorific_prefix",
            "honorific_suffix",
        ],
    ),
    (
        "E-mail",
        &[
            "email_addresses[1].address",
            "email_addresses[2].address",
            "email_addresses[3].address",
            "email_addresses[4].address",
            "email_addresses[personal].address",
            "email_addresses[work].address",
            "email_addresses[*].status",
            "not email_addresses[*].status",
        ],
    ),
    (
        "Phone",
        &[
            "phone_numbers[1].number",
            "phone_numbers[2].number",
            "phone_numbers[3].number",
            "phone_numbers[4].number",
            "phone_numbers[Mobile].number",
            "phone_numbers[Home].number",
            "phone_numbers[Work].number",
            "phone_numbers[*].do_not_call",
            "phone_numbers[*].sms_capable",
            "not phone_numbers[*].sms_capable",
        ],
    ),
    (
        "Postal address",
        &[
            "postal_addresses[1].address_lines[1]",
            "postal_addresses[1].address_lines[1]+",
            "postal_addresses[1].address_lines[2]",
            "postal_addresses[1].postal_code",
            "postal_addresses[1].locality",
            "postal_addresses[1].region",
            "postal_addresses[1].country",
        ],
    ),
    (
        "2nd postal address",
        &[
            "postal_addresses[2].address_lines[1]",
            "postal_addresses[2].address_lines[2]",
            "postal_addresses[2].postal_code",
            "postal_addresses[2].locality",
            "postal_addresses[2].region",
            "postal_addresses[2].country",
        ],
    ),
    (
        "About the person",
        &[
            "birthdate",
            "birthdate.year",
            "gender",
            "preferred_language",
            "languages_spoken",
            "ethnicities",
            "employer",
            "party_identification",
            "source",
            "browser_url",
            "profiles[facebook].url",
            "profiles[twitter].handle",
            "profiles[instagram].handle",
        ],
    ),
    ("Groups and numbers", &["tags", "lists", "identifiers"]),
];

/// Members that people choose from, under a heading.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemberGroup {
    /// The heading.
    pub title: &'static str,
    /// The members.
    pub members: Vec<Member>,
}

impl Member {
    /// Returns what a column with this member contains, in plain words, such as `First name` or `2nd e-mail
    /// address`.
    #[must_use]
    pub fn title(&self) -> String {
        match self {
            Self::Ignored => "Leave out".to_owned(),
            Self::FullName => "Full name".to_owned(),
            Self::Tags => "Tags".to_owned(),
            Self::Lists => "Lists".to_owned(),
            Self::Identifiers(None) => "Numbers in other systems, such as van:1234".to_owned(),
            Self::Identifiers(Some(system)) => format!("Number in {}", system.replace('_', " ")),
            Self::Custom(key) => format!("Custom field: {key}"),
            Self::Field(field) => field.title(),
            Self::ActionIdentifiers(action, None) => {
                format!("Numbers of the {} in other systems", words_of(*action))
            }
            Self::ActionIdentifiers(action, Some(system)) => {
                let system = system.replace('_', " ");
                format!("Number of the {} in {system}", words_of(*action))
            }
            Self::Action(action, field) => {
                format!("{} of the {}", field.title(), words_of(*action))
            }
        }
    }

    /// Returns the members that most tables need, in groups. Tables can also have others.
    #[must_use]
    pub fn choices() -> Vec<MemberGroup> {
        let groups = CHOICES.iter().map(|(title, members)| MemberGroup {
            title,
            members: members.iter().filter_map(|one| Self::parse(one)).collect(),
        });
        groups.collect()
    }
}

impl RecordField {
    fn title(&self) -> String {
        let path: Vec<&str> = [Some(self.field), self.member, self.inner]
            .into_iter()
            .flatten()
            .collect();
        let path = path.join(".");
        let titled = |path: &str| {
            let known = TITLES.iter().find(|(known, _)| *known == path);
            known.map(|(_, title)| *title)
        };
        let reversed = titled(&format!("not {path}")).filter(|_| self.is_reversed);
        let plain = titled(&path).map_or_else(
            || words(self.inner.or(self.member).unwrap_or(self.field)),
            Cow::from,
        );
        let title = match reversed {
            Some(title) => title.to_owned(),
            None if self.is_reversed => format!("Not: {plain}"),
            None => plain.into_owned(),
        };
        let title = match self.line {
            Some(line @ 1..) => format!("{title}, line {}", line.saturating_add(1)),
            _ => title,
        };
        let title = if self.is_added {
            format!("{title} (rest, such as the number alone)")
        } else {
            title
        };
        self.of_entry(title)
    }

    /// Adds the entry to the title of its member: `2nd e-mail address`, or `City of the home address`.
    fn of_entry(&self, title: String) -> String {
        let which = match &self.entry {
            None | Some(EntryKey::All | EntryKey::Number(1)) => return title,
            Some(EntryKey::Number(number)) => ordinal(*number),
            Some(EntryKey::Type(_, value)) => value.replace('_', " "),
        };
        let entry = ENTRIES.iter().find(|(field, ..)| *field == self.field);
        let Some((_, noun, main)) = entry else {
            return format!("{title} ({})", capitalized(&which));
        };
        if self.member == Some(main) {
            return format!("{} {noun}", capitalized(&which));
        }
        format!("{title} ({} {noun})", which.to_lowercase())
    }
}

/// Returns the name of an action as words.
fn words_of(action: ActionKind) -> String {
    action.singular().replace('_', " ")
}

/// Returns the name of a member as words.
fn words(name: &'static str) -> Cow<'static, str> {
    capitalized(&name.replace('_', " ")).into()
}

fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).collect()
}

/// Returns a number from 2 as a word, such as `2nd`.
fn ordinal(number: usize) -> String {
    let ending = match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn title(text: &str) -> String {
        Member::parse(text)
            .unwrap_or_else(|| panic!("{text}"))
            .title()
    }

    #[test]
    fn members_have_plain_titles() {
        for (member, expected) in [
            ("given_name", "First name"),
            ("preferred_language", "Preferred language"),
            ("email_addresses[1].address", "E-mail address"),
            ("email_addresses[2].address", "2nd e-mail address"),
            ("email_addresses[13].address", "13th e-mail address"),
            ("email_addresses[work].address", "Work e-mail address"),
            ("phone_numbers[Mobile].number", "Mobile phone number"),
            ("postal_addresses[1].locality", "City"),
            ("postal_addresses[Home].locality", "City (home address)"),
            ("postal_addresses[2].locality", "City (2nd address)"),
            (
                "postal_addresses[1].address_lines[2]",
                "Street and house number, line 2",
            ),
            ("profiles[twitter].handle", "Profile user name (Twitter)"),
            (
                "not email_addresses[*].status",
                "No e-mails wanted (unsubscribed)",
            ),
            ("identifiers[action_network]", "Number in action network"),
            ("custom_fields.Shoe size", "Custom field: Shoe size"),
            ("ignored", "Leave out"),
        ] {
            assert_eq!(title(member), expected);
        }
    }

    #[test]
    fn titles_are_unique_and_in_no_notation() {
        let mut titles = BTreeSet::new();
        for (group, members) in CHOICES {
            for member in *members {
                let title = title(member);
                assert!(
                    titles.insert(title.clone()),
                    "{group}: {title} is not unique"
                );
            }
        }
        let named = Member::all();
        let named = named.iter().filter(|text| !text.contains('<'));
        for title in named.map(|text| title(text)).chain(titles) {
            assert!(!title.contains(['_', '[', '*']), "{title}");
            let first = title.chars().next().expect("a title");
            assert!(first.is_uppercase() || first.is_ascii_digit(), "{title}");
        }
        let known: BTreeSet<&str> = TITLES.iter().map(|(path, _)| *path).collect();
        assert_eq!(known.len(), TITLES.len());
    }
}
