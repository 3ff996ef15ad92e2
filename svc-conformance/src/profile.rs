//! Profiles: the least that a named claim needs.

use serde::{Deserialize, Serialize};

use crate::declared::Declared;
use crate::kinds::ACTIONS;

/// The least that a claim needs; what a server declares besides is judged, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// Collections can be read; nothing is written.
    ReadOnly,
    /// Helpers record actions.
    HelpersOnly,
    /// People and at least one action can be created, by REST or by a helper.
    Actions,
    /// Everything that is declared.
    #[default]
    Full,
}

impl Profile {
    /// The profile as the program takes it, such as `read-only`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::HelpersOnly => "helpers-only",
            Self::Actions => "actions",
            Self::Full => "full",
        }
    }

    /// What a declaration lacks of the profile's least, in sentences.
    pub(crate) fn lacks(self, declared: &Declared) -> Vec<String> {
        let records = |one: &&str| declared.helps(&format!("record_{one}"));
        let creates = |one: &&str| declared.offers(one, "create") || records(one);
        let mut lacks = Vec::new();
        let mut needs = |holds: bool, what: &str| {
            if !holds {
                lacks.push(format!("{} needs {what}; the declaration has none", self.as_str()));
            }
        };
        match self {
            Self::ReadOnly => {
                let reads = declared.kinds().any(|kind| {
                    declared.offers(kind.one, "read")
                        && (declared.offers(kind.one, "list")
                            || declared.kinds().any(|above| declared.lists_below(above.one, kind.many)))
                });
                needs(reads, "a collection that can be listed and whose records can be read");
            }
            Self::HelpersOnly => {
                let helper = declared.helps("person_signup") || declared.helps("record_canvass");
                needs(helper || ACTIONS.iter().any(records), "a helper that records a person or an action");
            }
            Self::Actions => {
                let person = declared.offers("person", "create") || declared.helps("person_signup");
                needs(person, "a way to create a person");
                needs(ACTIONS.iter().any(creates), "a way to record an action of a person");
            }
            Self::Full => {
                let any = declared.kinds().next().is_some() || !declared.text.helpers.is_empty();
                needs(any, "a collection or a helper");
            }
        }
        lacks
    }
}

#[cfg(test)]
mod tests {
    use super::Profile;
    use crate::declared::{Declared, Source, read};

    #[test]
    fn each_profile_needs_its_least() {
        let declared = |rest: &str| {
            let text = format!("declaration_version = 1\n{rest}");
            Declared::new(read(&text).expect("a declaration"), Source::Given)
        };
        let none = declared("");
        let reads = declared("[collections.tags]\noperations = [\"list\", \"read\"]\n");
        let helps = declared("[helpers.person_signup]\n[helpers.record_signature]\n");
        let profiles = [Profile::ReadOnly, Profile::HelpersOnly, Profile::Actions, Profile::Full];
        let lacks = |declared| profiles.map(|profile| profile.lacks(declared).len());
        assert_eq!(lacks(&none), [1, 1, 2, 1]);
        assert_eq!(lacks(&reads), [0, 1, 2, 0]);
        assert_eq!(lacks(&helps), [1, 0, 0, 0]);
    }
}
