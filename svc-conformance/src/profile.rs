//! Profiles: what a named claim requires, from `profiles.toml`.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use crate::catalogue::{Catalogue, Requirement};
use crate::condition::{ConditionInputs, Encounters};
use crate::declared::DeclaredApi;
use crate::keys::Keys;

/// A claim about a server: what it must declare at least, and which requirements must hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Profile {
    /// Collections can be read. Nothing is written.
    #[serde(alias = "read-only")]
    Read,
    /// Helpers record people or actions.
    HelpersOnly,
    /// People and at least one action can be created, by REST or by a helper.
    Actions,
    /// People can be updated and grouped.
    Crm,
    /// Donations can be recorded and read.
    Fundraising,
    /// Events can be read and attendances recorded.
    Events,
    /// People can be synchronized with another system.
    Exchange,
    /// Everything that is declared.
    #[default]
    #[serde(alias = "full")]
    All,
}

/// A profile, as written in `profiles.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Definition {
    name: Profile,
    #[serde(default)]
    former: Vec<String>,
    claim: String,
    #[serde(default = "yes")]
    writes: bool,
    kinds: Option<Vec<String>>,
    needs: Vec<Need>,
}

/// Something that must be declared.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Need {
    what: String,
    condition: String,
}

const fn yes() -> bool {
    true
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    profile: Vec<Definition>,
}

/// The profiles of this version, read once.
static PROFILES: LazyLock<Vec<Definition>> = LazyLock::new(|| {
    let written = toml::from_str::<Written>(include_str!("../profiles.toml"));
    written.map_or_else(|_| Vec::new(), |written| written.profile)
});

impl Profile {
    /// Returns all profiles, in the order of `profiles.toml`.
    pub fn every() -> impl Iterator<Item = Self> {
        PROFILES.iter().map(|definition| definition.name)
    }

    /// Returns the name of the profile on the command line, such as `helpers-only`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::HelpersOnly => "helpers-only",
            Self::Actions => "actions",
            Self::Crm => "crm",
            Self::Fundraising => "fundraising",
            Self::Events => "events",
            Self::Exchange => "exchange",
            Self::All => "all",
        }
    }

    fn definition(self) -> Option<&'static Definition> {
        PROFILES.iter().find(|definition| definition.name == self)
    }

    /// Returns names of earlier versions that the program still accepts.
    #[must_use]
    pub fn former(self) -> &'static [String] {
        self.definition()
            .map_or(&[], |definition| &definition.former)
    }

    /// Returns what clients can do with a server that conforms to the profile, as a sentence.
    #[must_use]
    pub fn claim(self) -> &'static str {
        self.definition().map_or("", |definition| &definition.claim)
    }

    /// Returns what must be declared at least.
    pub fn needs(self) -> impl Iterator<Item = &'static str> {
        self.definition()
            .into_iter()
            .flat_map(|definition| &definition.needs)
            .map(|need| need.what.as_str())
    }

    /// Returns the kinds whose fields and links must hold. `None` for every declared kind.
    #[must_use]
    pub fn kinds(self) -> Option<&'static [String]> {
        self.definition()
            .and_then(|definition| definition.kinds.as_deref())
    }

    /// Whether the suite may write.
    pub(crate) fn writes(self) -> bool {
        self.definition().is_none_or(|definition| definition.writes)
    }

    /// Whether a requirement must hold for the claim, if it applies. A requirement about the fields
    /// and links of a kind must hold if the kind belongs to the profile.
    #[must_use]
    pub fn has_row(self, row: &Requirement) -> bool {
        let kind = row
            .area()
            .strip_prefix("RES-")
            .filter(|name| crate::kinds::kind(name).is_some());
        match (self.kinds(), kind) {
            (Some(kinds), Some(kind)) => kinds.iter().any(|one| one == kind),
            _ => true,
        }
    }

    /// Returns what a declaration lacks for the profile, one sentence each.
    pub(crate) fn missing(self, declared: &DeclaredApi) -> Vec<String> {
        let (keys, met) = (Keys::none(), Encounters::default());
        let facts = ConditionInputs {
            declared,
            keys: &keys,
            met: &met,
            has_receiver: false,
        };
        let holds = |need: &&Need| {
            let condition = Catalogue::built_in()
                .ok()
                .and_then(|catalogue| catalogue.condition(&need.condition).ok());
            condition.is_some_and(|condition| facts.applies(&condition).is_ok())
        };
        let needs = self
            .definition()
            .into_iter()
            .flat_map(|definition| &definition.needs);
        let lacking = needs.filter(|need| !holds(need));
        lacking
            .map(|need| {
                format!(
                    "{} requires {}; the declaration has none",
                    self.as_str(),
                    need.what
                )
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{PROFILES, Profile, Written};
    use crate::catalogue::Catalogue;
    use crate::declared::{DeclarationSource, DeclaredApi, read};
    use crate::kinds::kind;

    /// The file can be read, each variant is in it once, and its terms and kinds are valid.
    #[test]
    fn the_built_in_profiles_are_sound() {
        let written: Written = toml::from_str(include_str!("../profiles.toml")).expect("profiles");
        assert_eq!(written.profile.len(), 8);
        let catalogue = Catalogue::built_in().expect("a catalogue");
        for definition in PROFILES.iter() {
            let name = definition.name.as_str();
            assert_eq!(
                PROFILES
                    .iter()
                    .filter(|one| one.name == definition.name)
                    .count(),
                1,
                "{name}"
            );
            for name in definition.former.iter().map(String::as_str).chain([name]) {
                let read =
                    serde_json::from_value::<Profile>(serde_json::json!(name)).expect("a profile");
                assert_eq!(read, definition.name, "{name}");
            }
            for need in &definition.needs {
                assert!(
                    catalogue.condition(&need.condition).is_ok(),
                    "{name}: {}",
                    need.condition
                );
            }
            for one in definition.kinds.iter().flatten() {
                let has_rows = catalogue
                    .requirements()
                    .iter()
                    .any(|row| row.area() == format!("RES-{one}"));
                assert!(kind(one).is_some() && has_rows, "{name}: {one}");
            }
        }
    }

    #[test]
    fn each_profile_needs_its_least() {
        let declared = |rest: &str| {
            let text = format!("declaration_version = 1\n{rest}");
            DeclaredApi::new(
                read(&text).expect("a declaration"),
                DeclarationSource::Given,
            )
        };
        let lacks = |text: &str| {
            Profile::every()
                .map(|profile| profile.missing(&declared(text)).len())
                .collect::<Vec<_>>()
        };
        let people = "[collections.people]\noperations = [\"create\", \"list\", \"read\", \"update\"]\nfilter = [\"modified_date\"]\n";
        // read, helpers-only, actions, crm, fundraising, events, exchange, all
        assert_eq!(lacks(""), [1, 1, 2, 4, 3, 2, 4, 1]);
        assert_eq!(
            lacks("[collections.tags]\noperations = [\"list\", \"read\"]\n"),
            [0, 1, 2, 4, 3, 2, 4, 0]
        );
        assert_eq!(
            lacks("[helpers.person_signup]\n[helpers.record_signature]\n"),
            [1, 0, 0, 3, 3, 2, 3, 0]
        );
        assert_eq!(
            lacks("[helpers.record_canvass]\n"),
            [1, 0, 2, 4, 3, 2, 4, 0]
        );
        assert_eq!(lacks("[helpers.schedule]\n"), [1, 1, 2, 4, 3, 2, 4, 0]);
        assert_eq!(lacks(people), [0, 1, 1, 1, 3, 2, 0, 0]);
        let tags = "[collections.taggings]\noperations = [\"create\"]\n";
        assert_eq!(lacks(&format!("{people}{tags}")), [0, 1, 1, 0, 3, 2, 0, 0]);
        let events = "[collections.events]\noperations = [\"list\", \"read\"]\n[helpers.record_attendance]\n";
        assert_eq!(
            lacks(&format!("{people}{events}")),
            [0, 0, 0, 1, 3, 0, 0, 0]
        );
        let pages = "[collections.fundraising_pages]\noperations = [\"read\"]\n[collections.donations]\noperations = [\"create\", \"read\"]\n";
        assert_eq!(lacks(pages), [1, 1, 1, 4, 0, 2, 4, 0]);
    }

    /// Requirements about the fields of another kind are not part of a claim. All others are part
    /// of every claim.
    #[test]
    fn a_profile_has_the_rows_of_its_kinds_and_every_general_row() {
        let catalogue = Catalogue::built_in().expect("a catalogue");
        let has =
            |profile: Profile, id: &str| profile.has_row(catalogue.requirement(id).expect("a row"));
        for id in ["RES-person-01", "COL-20", "ERR-01", "RES-postal_address-01"] {
            assert!(Profile::every().all(|profile| has(profile, id)), "{id}");
        }
        assert!(has(Profile::Events, "RES-event-01") && !has(Profile::Crm, "RES-event-01"));
        assert!(has(Profile::Exchange, "RES-event-01") && has(Profile::All, "RES-event-01"));
    }
}
