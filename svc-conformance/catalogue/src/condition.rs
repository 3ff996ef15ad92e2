//! Conditions: the terms that the catalogue and the checks may use, and their meaning.

use std::collections::BTreeSet;

use super::ability::{ABILITIES, Ability};
use super::types::CatalogueType;
use super::vocabulary::{Behaviour, CatalogueKindEntry};

/// What must be true for a requirement to apply, or for a check to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    /// The term holds.
    Is(ConditionWord),
    /// The term does not hold.
    Not(ConditionWord),
    /// All of them hold.
    All(Vec<Self>),
    /// One of them holds.
    Any(Vec<Self>),
}

/// A term as it is written, with its meaning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConditionWord {
    /// As it is written.
    pub text: String,
    /// What it means.
    pub term: ConditionTerm,
}

/// The meaning of a term.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConditionTerm {
    /// Nothing: it always holds.
    Always,
    /// The requirement is only described, and never judged.
    Never,
    /// The server requires a key, and the run has one.
    Auth,
    /// The run has a key of another tenant.
    OtherKey,
    /// The run has a key that lacks an operation.
    RestrictedKey,
    /// The run has a webhook receiver.
    WebhookReceiver,
    /// Helpers are declared, but no collections.
    HelpersOnly,
    /// A kind is declared.
    AnyKind,
    /// An operation of a declared kind is not declared, and a run can know its URL.
    OperationMissing,
    /// An action function is not declared.
    FunctionMissing,
    /// A rule that a request can violate is declared.
    OneConstraint,
    /// Two rules that one request can violate are declared.
    TwoConstraints,
    /// The URL of a missing record is declared.
    MissingAddress,
    /// Events sell tickets.
    TicketedEvent,
    /// A field of this type is declared.
    Type(CatalogueType),
    /// A field. The owner `*` means any resource.
    Field {
        /// The resource or shared object.
        owner: String,
        /// Its path in the owner.
        path: String,
    },
    /// A link. Without an owner, of any resource.
    Link {
        /// The resource.
        owner: Option<String>,
        /// The relation without prefix.
        name: String,
    },
    /// An operation on a kind, or on any.
    Operation {
        /// The kind.
        one: Option<String>,
        /// One of [`OPERATIONS`].
        operation: String,
    },
    /// What a client can do with records of a kind, or of any kind.
    Ability {
        /// The kind.
        one: Option<String>,
        /// The ability.
        ability: Ability,
    },
    /// A nested collection of the records of a kind.
    NestedCollection {
        /// The kind.
        one: String,
        /// The name of the collection.
        many: String,
    },
    /// A condition about helpers.
    Helper(HelperCondition),
    /// An action function. `None` for any.
    Function(Option<String>),
    /// A collection can be filtered by this field. `None` for any field.
    Filter(Option<String>),
    /// A collection can be ordered by a date.
    Order,
    /// A behaviour is declared.
    Behaviour(String),
    /// The run met it.
    Encountered(Encounter),
}

/// The meaning of a term about helpers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HelperCondition {
    /// One is declared.
    Any,
    /// One accepts calls without a key.
    AnyAnonymous,
    /// One that records something needs a key.
    WithKey,
    /// One accepts a person.
    WithPerson,
    /// One is declared that records something.
    ExceptSchedule,
    /// One can fail partly.
    NonAtomic,
    /// People are matched.
    MatchesPersons,
    /// The response of one is the person, or links to the person.
    ShowsPerson,
    /// The records that have one can be created and deleted.
    OfRemovable,
    /// The donation helper accepts links.
    DonationLinks,
    /// This one is declared.
    Named(String),
    /// This one accepts calls without a key.
    Anonymous(String),
}

/// What a run can meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Encounter {
    /// A page that is not the first.
    SecondPage,
    /// A page of a collection without records.
    EmptyCollection,
    /// An error response with a body.
    ErrorBody,
    /// A description of an error with a hint.
    Hint,
    /// A description of an error with a reference code.
    ReferenceCode,
    /// An entry of a non-atomic response that reports a failure.
    FailedEntry,
    /// A response with status 500.
    Status500,
}

/// The terms without parts.
const PLAIN: &[(&str, ConditionTerm)] = &[
    ("always", ConditionTerm::Always),
    ("never", ConditionTerm::Never),
    ("auth", ConditionTerm::Auth),
    ("auth.multi_key", ConditionTerm::OtherKey),
    ("auth.restricted_key", ConditionTerm::RestrictedKey),
    ("webhook_receiver", ConditionTerm::WebhookReceiver),
    ("helpers_only", ConditionTerm::HelpersOnly),
    ("kind.declared", ConditionTerm::AnyKind),
    ("any.helper", ConditionTerm::Helper(HelperCondition::Any)),
    ("unsupported.operation", ConditionTerm::OperationMissing),
    ("unsupported.haf", ConditionTerm::FunctionMissing),
    ("rule.one", ConditionTerm::OneConstraint),
    ("rule.two", ConditionTerm::TwoConstraints),
    ("fixture.missing_address", ConditionTerm::MissingAddress),
    ("fixture.ticketed_event", ConditionTerm::TicketedEvent),
    ("haf.*", ConditionTerm::Function(None)),
    ("filter.*", ConditionTerm::Filter(None)),
    ("order.*", ConditionTerm::Order),
    ("helper.*", ConditionTerm::Helper(HelperCondition::Any)),
    (
        "helper.*.anonymous",
        ConditionTerm::Helper(HelperCondition::AnyAnonymous),
    ),
    (
        "helper.*.with_key",
        ConditionTerm::Helper(HelperCondition::WithKey),
    ),
    (
        "helper.*.with_person",
        ConditionTerm::Helper(HelperCondition::WithPerson),
    ),
    (
        "helper.*.but_schedule",
        ConditionTerm::Helper(HelperCondition::ExceptSchedule),
    ),
    (
        "helper.non_atomic",
        ConditionTerm::Helper(HelperCondition::NonAtomic),
    ),
    (
        "helper.match_person",
        ConditionTerm::Helper(HelperCondition::MatchesPersons),
    ),
    (
        "helper.*.shows_person",
        ConditionTerm::Helper(HelperCondition::ShowsPerson),
    ),
    (
        "helper.*.of_removable",
        ConditionTerm::Helper(HelperCondition::OfRemovable),
    ),
    (
        "helper.record_donation.links",
        ConditionTerm::Helper(HelperCondition::DonationLinks),
    ),
    (
        "met.second_page",
        ConditionTerm::Encountered(Encounter::SecondPage),
    ),
    (
        "met.empty_collection",
        ConditionTerm::Encountered(Encounter::EmptyCollection),
    ),
    (
        "met.error_body",
        ConditionTerm::Encountered(Encounter::ErrorBody),
    ),
    ("met.hint", ConditionTerm::Encountered(Encounter::Hint)),
    (
        "met.reference_code",
        ConditionTerm::Encountered(Encounter::ReferenceCode),
    ),
    (
        "met.failed_entry",
        ConditionTerm::Encountered(Encounter::FailedEntry),
    ),
    (
        "met.status.500",
        ConditionTerm::Encountered(Encounter::Status500),
    ),
];

/// The operations on records.
pub const OPERATIONS: &[&str] = &["list", "read", "create", "update", "delete"];

/// The action functions of the specification.
///
/// Requirements: HAF-01.
pub const FUNCTIONS: &[&str] = &[
    "add_tags",
    "add_tags_uri",
    "add_lists",
    "add_lists_uri",
    "add_questions_responses_uri",
    "triggers",
];

/// The fields by which collections may be filtered.
///
/// Requirements: FLT-01.
pub const FILTERS: &[&str] = &[
    "identifiers",
    "created_date",
    "modified_date",
    "email_address",
    "name",
    "family_name",
    "tag",
    "list",
];

/// Error returned for an unknown term, with the terms that are allowed in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownWordError {
    /// The unknown term.
    pub word: String,
    /// The allowed terms, joined by commas.
    pub known: String,
}

/// All names that the terms of a catalogue can contain.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Vocabulary {
    pub(super) kinds: Vec<CatalogueKindEntry>,
    pub(super) behaviours: Vec<Behaviour>,
    /// Owner and path.
    pub(super) fields: BTreeSet<(String, String)>,
    /// Owner and name.
    pub(super) links: BTreeSet<(String, String)>,
}

impl Vocabulary {
    /// Parses a condition. `not` binds tighter than `and`, and `and` tighter than `or`.
    pub(super) fn condition(&self, text: &str) -> Result<Condition, UnknownWordError> {
        let any = text.split(" or ").map(|all| {
            let all = all
                .split(" and ")
                .map(|word| match word.strip_prefix("not ") {
                    Some(word) => self.word(word).map(Condition::Not),
                    None => self.word(word).map(Condition::Is),
                });
            Ok(one_or(all.collect::<Result<_, _>>()?, Condition::All))
        });
        Ok(one_or(any.collect::<Result<_, _>>()?, Condition::Any))
    }

    fn word(&self, text: &str) -> Result<ConditionWord, UnknownWordError> {
        Ok(ConditionWord {
            text: text.to_owned(),
            term: self.term(text)?,
        })
    }

    fn term(&self, word: &str) -> Result<ConditionTerm, UnknownWordError> {
        if let Some((_, term)) = PLAIN.iter().find(|(name, _)| *name == word) {
            return Ok(term.clone());
        }
        if let Some(name) = word.strip_prefix("type:") {
            return Ok(ConditionTerm::Type(CatalogueType::from(one_of(
                name,
                word,
                CatalogueType::words(),
            )?)));
        }
        if let Some(place) = word.strip_prefix("field:") {
            return self
                .field(word, place)
                .map(|(owner, path)| ConditionTerm::Field { owner, path });
        }
        if let Some(place) = word.strip_prefix("link:") {
            return self.link(word, place);
        }
        if let Some(function) = word.strip_prefix("haf.") {
            return Ok(ConditionTerm::Function(Some(one_of(
                function,
                word,
                FUNCTIONS.iter().copied(),
            )?)));
        }
        if let Some(name) = word.strip_prefix("filter.") {
            return Ok(ConditionTerm::Filter(Some(one_of(
                name,
                word,
                FILTERS.iter().copied(),
            )?)));
        }
        if let Some(name) = word.strip_prefix("helper.") {
            return Ok(ConditionTerm::Helper(
                match name.strip_suffix(".anonymous") {
                    Some(helper) => HelperCondition::Anonymous(self.helper(helper, word)?),
                    None => HelperCondition::Named(self.helper(name, word)?),
                },
            ));
        }
        if self
            .behaviours
            .iter()
            .any(|behaviour| behaviour.name == word)
        {
            return Ok(ConditionTerm::Behaviour(word.to_owned()));
        }
        self.operation(word)
    }

    /// Returns the resources and shared objects that have fields.
    pub(super) fn owners(&self) -> impl Iterator<Item = &str> {
        self.fields.iter().map(|(owner, _)| owner.as_str())
    }

    /// Parses `<owner>.<path>`.
    pub(super) fn field(
        &self,
        word: &str,
        place: &str,
    ) -> Result<(String, String), UnknownWordError> {
        let (owner, path) = place.split_once('.').unwrap_or((place, ""));
        let owner = one_of(owner, word, self.owners().chain(["*"]))?;
        let paths = self
            .fields
            .iter()
            .filter(|(of, _)| *of == owner || owner == "*")
            .map(|(_, path)| path.as_str());
        Ok((owner.clone(), one_of(path, word, paths)?))
    }

    /// Parses `<owner>.<name>`, or a name alone.
    fn link(&self, word: &str, place: &str) -> Result<ConditionTerm, UnknownWordError> {
        let Some((owner, name)) = place.split_once('.') else {
            let name = one_of(
                place,
                word,
                self.links.iter().map(|(_, name)| name.as_str()),
            )?;
            return Ok(ConditionTerm::Link { owner: None, name });
        };
        let owner = one_of(
            owner,
            word,
            self.links.iter().map(|(owner, _)| owner.as_str()),
        )?;
        let names = self
            .links
            .iter()
            .filter(|(of, _)| *of == owner)
            .map(|(_, name)| name.as_str());
        Ok(ConditionTerm::Link {
            name: one_of(name, word, names)?,
            owner: Some(owner),
        })
    }

    /// Parses the name of a helper.
    pub(super) fn helper(&self, name: &str, word: &str) -> Result<String, UnknownWordError> {
        let helpers = self.kinds.iter().filter_map(|kind| kind.helper.as_deref());
        one_of(name, word, helpers.chain(["schedule"]))
    }

    /// Parses the relation of a kind.
    pub(super) fn kind(&self, one: &str) -> Result<String, UnknownWordError> {
        one_of(one, one, self.kinds.iter().map(|kind| kind.one.as_str()))
    }

    /// Parses `<collection>.<operation>`, `*.<operation>`, the same with an ability, or
    /// `<collection>.sub.<collection>`.
    fn operation(&self, word: &str) -> Result<ConditionTerm, UnknownWordError> {
        let (many, operation) = word.split_once('.').unwrap_or((word, ""));
        let collections = || self.kinds.iter().map(|kind| kind.many.as_str());
        let kind = self.kinds.iter().find(|kind| kind.many == many);
        if kind.is_none() && many != "*" {
            let plain = PLAIN.iter().map(|(name, _)| *name);
            let behaviours = self
                .behaviours
                .iter()
                .map(|behaviour| behaviour.name.as_str());
            let begun = [
                "field:...",
                "link:...",
                "type:...",
                "helper....",
                "haf....",
                "filter....",
                "*....",
            ];
            one_of(
                word,
                word,
                plain.chain(behaviours).chain(begun).chain(collections()),
            )?;
        }
        let one = kind.map(|kind| kind.one.clone());
        if let Some((_, ability)) = ABILITIES.iter().find(|(name, _)| *name == operation) {
            return Ok(ConditionTerm::Ability {
                one,
                ability: *ability,
            });
        }
        let known = || {
            OPERATIONS
                .iter()
                .copied()
                .chain(ABILITIES.iter().map(|(name, _)| *name))
        };
        match (operation.strip_prefix("sub."), one) {
            (Some(below), Some(one)) => Ok(ConditionTerm::NestedCollection {
                one,
                many: one_of(below, word, collections())?,
            }),
            (_, one) => Ok(ConditionTerm::Operation {
                one,
                operation: one_of(operation, word, known())?,
            }),
        }
    }
}

/// Returns the only condition of a list, or the list as one condition.
fn one_or(mut all: Vec<Condition>, several: fn(Vec<Condition>) -> Condition) -> Condition {
    if all.len() == 1 {
        all.pop().unwrap_or(Condition::All(all))
    } else {
        several(all)
    }
}

/// Returns the name, if it is one of the known names.
pub(super) fn one_of<'k>(
    name: &str,
    word: &str,
    known: impl Iterator<Item = &'k str>,
) -> Result<String, UnknownWordError> {
    let known: BTreeSet<&str> = known.collect();
    if known.contains(name) {
        return Ok(name.to_owned());
    }
    Err(UnknownWordError {
        word: word.to_owned(),
        known: known.into_iter().collect::<Vec<_>>().join(", "),
    })
}

impl Condition {
    /// Whether it is a single term with this prefix, such as `field:person.`.
    #[must_use]
    pub fn starts_with(&self, pattern: &str) -> bool {
        matches!(self, Self::Is(word) if word.text.starts_with(pattern))
    }

    /// Whether it contains this term.
    #[must_use]
    pub fn contains_word(&self, text: &str) -> bool {
        match self {
            Self::Is(word) | Self::Not(word) => word.text == text,
            Self::All(list) | Self::Any(list) => list.iter().any(|one| one.contains_word(text)),
        }
    }

    /// Returns its terms, in their order.
    #[must_use]
    pub fn words(&self) -> Vec<&ConditionWord> {
        match self {
            Self::Is(word) | Self::Not(word) => vec![word],
            Self::All(list) | Self::Any(list) => list.iter().flat_map(Self::words).collect(),
        }
    }

    /// Returns the condition in words.
    #[must_use]
    pub fn describe(&self) -> String {
        match self {
            Self::Is(word) => word.describe(true),
            Self::Not(word) => word.describe(false),
            Self::All(list) => joined(list, " and "),
            Self::Any(list) => shared_first(list).unwrap_or_else(|| joined(list, "; or ")),
        }
    }
}

/// Returns the descriptions of conditions with a separator between them.
fn joined(conditions: &[Condition], separator: &str) -> String {
    let described: Vec<String> = conditions.iter().map(Condition::describe).collect();
    described.join(separator)
}

/// Returns the description of alternatives that all begin with the same term, which it contains
/// once. `None` if they do not.
fn shared_first(alternatives: &[Condition]) -> Option<String> {
    let parts: Vec<(&Condition, &[Condition])> = alternatives
        .iter()
        .map(|one| match one {
            Condition::All(terms) => terms.split_first().filter(|(_, rest)| !rest.is_empty()),
            _ => None,
        })
        .collect::<Option<_>>()?;
    let (first, _) = parts.first()?;
    if !parts.iter().all(|(term, _)| term == first) {
        return None;
    }
    let rests: Vec<String> = parts
        .iter()
        .map(|(_, rest)| joined(rest, " and "))
        .collect();
    Some(format!(
        "{}, and one of these holds: {}",
        first.describe(),
        rests.join("; or ")
    ))
}

#[cfg(test)]
mod tests {
    use crate::{Catalogue, CatalogueError};

    /// A term that begins every alternative is described once.
    #[test]
    fn a_shared_first_term_is_described_once() {
        let described = |text: &str| {
            let catalogue = Catalogue::built_in().unwrap();
            catalogue.condition(text).unwrap().describe()
        };
        assert_eq!(
            described("auth and *.list or auth and *.create"),
            "the run has the key that the server requires (--key), and one of these holds: \
             a collection declares the operation list; \
             or a collection declares the operation create"
        );
        assert_eq!(
            described("auth or auth and *.list"),
            "the run has the key that the server requires (--key); \
             or the run has the key that the server requires (--key) \
             and a collection declares the operation list"
        );
    }

    /// For every type of term, one that is mistyped: the error names the requirement, its line, the
    /// term, and the allowed terms.
    #[test]
    fn a_word_that_means_nothing_is_refused() {
        let text = |condition: &str| {
            format!(
                "[[area]]\nname = \"COL\"\nsection = \"s\"\n\n[[area]]\nname = \"RES-person\"\nsection = \"s\"\n\n\
                 [[kind]]\none = \"person\"\nmany = \"people\"\nhelper = \"person_signup\"\n\n\
                 [[behaviour]]\nname = \"validates_types\"\nmeans = \"m\"\n\n\
                 [[field]]\nid = \"RES-person-01\"\nowner = \"person\"\npath = \"gender\"\ntype = \"string\"\nmeans = \"m\"\n\
                 checks = []\n\n[[link]]\nid = \"RES-person-02\"\nowner = \"person\"\nname = \"self\"\nmeans = \"m\"\nchecks = []\n\n\
                 [[rule]]\nid = \"COL-01\"\nlevel = \"MUST\"\nstatement = \"s\"\ncondition = \"{condition}\"\n\
                 observed = \"o\"\nreference = \"-\"\nchecks = []\n"
            )
        };
        for word in [
            "always",
            "not auth",
            "webhook_receiver",
            "people.list",
            "*.read",
            "people.sub.people",
            "people.make",
            "*.break_two",
            "field:person.gender",
            "field:*.gender",
            "link:person.self",
            "link:self",
            "helper.person_signup",
            "helper.person_signup.anonymous",
            "haf.add_tags",
            "filter.*",
            "filter.name",
            "order.*",
            "validates_types",
            "met.error_body",
            "type:string[]",
            "auth and not helpers_only or never",
        ] {
            assert!(
                Catalogue::parse(&text(word)).is_ok(),
                "{word}: {:?}",
                Catalogue::parse(&text(word)).err()
            );
        }
        for (word, possible) in [
            ("allways", "always"),
            ("poeple.list", "people"),
            ("people.lst", "list"),
            ("people.sub.persons", "people"),
            ("*.sub.people", "list"),
            ("field:person.sex", "gender"),
            ("field:human.gender", "person"),
            ("link:person.me", "self"),
            ("link:human.self", "person"),
            ("helper.person_signin", "person_signup"),
            ("haf.add_tag", "add_tags"),
            ("filter.names", "name"),
            ("validates_type", "validates_types"),
            ("met.error", "met.error_body"),
            ("type:text", "string"),
            ("", "always"),
            ("not", "always"),
        ] {
            let error = Catalogue::parse(&text(&format!("auth and not {word}"))).expect_err(word);
            let CatalogueError::Word {
                row,
                line,
                word: named,
                known,
            } = &error
            else {
                panic!("{error}")
            };
            assert_eq!(
                (row.as_str(), *line, named.as_str()),
                ("COL-01", 34, word),
                "{error}"
            );
            assert!(known.split(", ").any(|one| one == possible), "{error}");
        }
    }
}
