//! Whether a requirement applies: evaluates the conditions of the catalogue with the declaration,
//! the keys and what the run met.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use crate::catalogue::{
    Ability, CatalogueType, Condition, ConditionTerm, ConditionWord, Encounter, FUNCTIONS,
    HelperCondition,
};
use crate::declared::DeclaredApi;
use crate::fields::{self, ValueShape};
use crate::keys::Keys;
use crate::kinds::TICKETED;

/// What a run met, for terms that start with `met.`.
#[derive(Debug, Default)]
pub(crate) struct Encounters(Mutex<BTreeSet<Encounter>>);

impl Encounters {
    pub(crate) fn add(&self, encounter: Encounter) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(encounter);
    }

    fn has(&self, encounter: Encounter) -> bool {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .contains(&encounter)
    }
}

/// The data with which conditions are evaluated.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ConditionInputs<'f> {
    pub(crate) declared: &'f DeclaredApi,
    pub(crate) keys: &'f Keys,
    pub(crate) met: &'f Encounters,
    /// Whether the run has a webhook receiver.
    pub(crate) has_receiver: bool,
}

/// Why a requirement does not apply: the terms of its condition that do not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UnmetCondition(pub(crate) String);

impl ConditionInputs<'_> {
    /// Returns `Ok` if the condition holds.
    pub(crate) fn applies(&self, condition: &Condition) -> Result<(), UnmetCondition> {
        match condition {
            Condition::Is(word) if !self.term(&word.term) => Err(UnmetCondition(self.reason(word))),
            Condition::Not(word) if self.term(&word.term) => {
                Err(UnmetCondition(word.describe(true)))
            }
            Condition::Is(_) | Condition::Not(_) => Ok(()),
            Condition::All(list) => list.iter().try_for_each(|one| self.applies(one)),
            Condition::Any(list) => {
                let mut missing = Vec::new();
                for one in list {
                    match self.applies(one) {
                        Ok(()) => return Ok(()),
                        // Two alternatives can lack the same term.
                        Err(because) if missing.contains(&because.0) => {}
                        Err(because) => missing.push(because.0),
                    }
                }
                Err(UnmetCondition(missing.join("; ")))
            }
        }
    }

    /// Returns why a term does not hold.
    fn reason(&self, word: &ConditionWord) -> String {
        match (&word.term, &self.keys.restricted) {
            (ConditionTerm::RestrictedKey, Some((_, lacks))) => {
                format!(
                    "{lacks}, which the restricted key lacks, is not declared: use a key that lacks a declared operation"
                )
            }
            (ConditionTerm::Field { owner, path }, _)
                if self.declared.mentions(owner, path) && !self.declared.has_field(owner, path) =>
            {
                format!(
                    "field {owner}.{path} is declared, but no declared operation returns or accepts it"
                )
            }
            (ConditionTerm::Field { owner, path }, _) if self.declared.has_field(owner, path) => {
                let lacks = self
                    .lacks_for(owner, path)
                    .unwrap_or("nothing that fills it");
                format!("field {owner}.{path} is declared, but {lacks} is declared")
            }
            _ => word.describe(false),
        }
    }

    /// Returns what a run lacks to observe a field that depends on a record of another kind.
    /// Tickets, for example, need an event that sells them.
    fn lacks_for(&self, owner: &str, path: &str) -> Option<&'static str> {
        let declared = self.declared;
        let (there, lacks) = match (owner, path.split(['.', '[']).next()) {
            ("attendance", Some("tickets")) => (
                self.term(&ConditionTerm::TicketedEvent),
                "no event that sells tickets",
            ),
            ("canvass", Some("question_response")) => (
                declared.offers("question", "create"),
                "no create of a question",
            ),
            _ => return None,
        };
        Some(lacks).filter(|_| !there && !declared.is_listed(owner))
    }

    fn term(&self, term: &ConditionTerm) -> bool {
        let declared = self.declared;
        match term {
            ConditionTerm::Always => true,
            ConditionTerm::Never => false,
            ConditionTerm::Auth => {
                declared.text.authentication.required && self.keys.primary.is_some()
            }
            ConditionTerm::OtherKey => self.keys.other_tenant.is_some(),
            ConditionTerm::RestrictedKey => self
                .keys
                .restricted
                .as_ref()
                .is_some_and(|(_, lacks)| declared.offers_right(lacks)),
            ConditionTerm::WebhookReceiver => self.has_receiver,
            ConditionTerm::HelpersOnly => declared.helpers_only(),
            ConditionTerm::AnyKind => !declared.text.collections.is_empty(),
            ConditionTerm::OperationMissing => !declared.unsupported().is_empty(),
            // The suite sends no triggers to a server that does not declare them.
            ConditionTerm::FunctionMissing => {
                let mut others = FUNCTIONS.iter().filter(|function| **function != "triggers");
                others.any(|function| !declared.acts(function))
            }
            ConditionTerm::OneConstraint => declared
                .kinds()
                .any(|of| declared.can(of.one, Ability::Invalid)),
            ConditionTerm::TwoConstraints => {
                declared
                    .kinds()
                    .any(|of| of.under.is_none() && declared.can(of.one, Ability::TwoInvalid))
                    || (declared.offers("question", "create")
                        && declared.behaves("rule.response_name"))
            }
            ConditionTerm::MissingAddress => declared.text.missing_address.is_some(),
            ConditionTerm::TicketedEvent => {
                declared.has_field("event", "ticket_levels")
                    || declared.text.fixture.contains_key(TICKETED)
            }
            ConditionTerm::Type(kind) => has_type(declared, kind),
            ConditionTerm::Field { owner, path } => {
                declared.has_field(owner, path) && self.lacks_for(owner, path).is_none()
            }
            ConditionTerm::Link { owner: None, .. } => !declared.helpers_only(),
            ConditionTerm::Link {
                owner: Some(owner),
                name,
            } if owner == "entry_point" => {
                let entry = declared.text.entry_point.as_ref();
                entry.is_some_and(|entry| entry.links.contains(name))
            }
            ConditionTerm::Link {
                owner: Some(one),
                name,
            } => declared.links(one, name) && declared.shows(one),
            ConditionTerm::Operation {
                one: None,
                operation,
            } => declared.offers_any(operation),
            ConditionTerm::Operation {
                one: Some(one),
                operation,
            } => declared.offers(one, operation),
            ConditionTerm::Ability { one: None, ability } => {
                declared.kinds().any(|of| declared.can(of.one, *ability))
            }
            ConditionTerm::Ability {
                one: Some(one),
                ability,
            } => declared.can(one, *ability),
            ConditionTerm::NestedCollection { one, many } => declared.lists_below(one, many),
            ConditionTerm::Helper(helper) => self.helper(helper),
            ConditionTerm::Function(None) => !declared.text.action_functions.is_empty(),
            ConditionTerm::Function(Some(function)) => declared.acts(function),
            ConditionTerm::Filter(field) => declared.filters_any(field.as_deref()),
            ConditionTerm::Order => declared
                .kinds()
                .any(|kind| !declared.orders(kind).is_empty()),
            ConditionTerm::Behaviour(name) => declared.behaves(name),
            ConditionTerm::Encountered(encounter) => self.met.has(*encounter),
        }
    }

    fn helper(&self, helper: &HelperCondition) -> bool {
        let declared = self.declared;
        let helpers = &declared.text.helpers;
        let but_schedule = || helpers.keys().any(|name| name != "schedule");
        match helper {
            HelperCondition::Any => !helpers.is_empty(),
            HelperCondition::AnyAnonymous => helpers.values().any(|helper| helper.anonymous),
            HelperCondition::WithKey => helpers
                .iter()
                .any(|(name, helper)| name != "schedule" && !helper.anonymous),
            HelperCondition::WithPerson => declared.helps_persons(),
            HelperCondition::ShowsPerson => declared.shows_helped_person(),
            HelperCondition::OfRemovable => declared.helps_removable(),
            HelperCondition::ExceptSchedule => but_schedule(),
            // A helper can fail partly if one of its functions fails.
            HelperCondition::NonAtomic => {
                but_schedule()
                    && declared.behaves("helper.non_atomic")
                    && !declared.text.action_functions.is_empty()
            }
            HelperCondition::MatchesPersons => declared.matches_persons(),
            HelperCondition::DonationLinks => declared.behaves("helper.record_donation.links"),
            HelperCondition::Named(name) => declared.helps(name),
            HelperCondition::Anonymous(name) => declared.helps_anyone(name),
        }
    }
}

/// Whether a field is declared that checks treat as this type.
fn has_type(declared: &DeclaredApi, kind: &CatalogueType) -> bool {
    let shape = ValueShape::from(kind);
    fields::all()
        .iter()
        .any(|field| field.shape == shape && declared.has_field(field.owner, field.path))
}

#[cfg(test)]
mod tests {
    use super::{ConditionInputs, Encounters};
    use crate::catalogue::Catalogue;
    use crate::declared::{DeclarationSource, DeclaredApi, read};
    use crate::keys::Keys;

    #[test]
    fn a_declared_array_switches_its_row_on() {
        let text = |kind: &str, name: &str| {
            format!(
                "declaration_version = 1\nbehaviours = [\"without.identifiers\"]\n[collections.people]\n\
                 singular = \"person\"\noperations = [\"create\", \"read\", \"update\"]\n\
                 [collections.people.fields.{name}]\ntype = \"{kind}\"\n"
            )
        };
        let row = Catalogue::built_in()
            .expect("a catalogue")
            .requirement("CRU-18")
            .expect("a row");
        let applies = |text: &str| {
            let declared =
                DeclaredApi::new(read(text).expect("a declaration"), DeclarationSource::Given);
            let (keys, met) = (Keys::none(), Encounters::default());
            ConditionInputs {
                declared: &declared,
                keys: &keys,
                met: &met,
                has_receiver: false,
            }
            .applies(&row.applies_if)
            .is_ok()
        };
        assert!(applies(&text("string[]", "ethnicities")));
        assert!(!applies(&text("string", "given_name")));
    }
}
