//! The description of a term for a reader.

use super::ability::Ability;
use super::condition::{ConditionTerm, ConditionWord, HelperCondition};

impl ConditionWord {
    /// Returns the description of the term, if it holds or does not hold.
    #[must_use]
    pub fn describe(&self, holds: bool) -> String {
        let (no, text) = (if holds { "" } else { "not " }, &self.text);
        let (sort, place) = text.split_once([':', '.']).unwrap_or(("", text));
        match &self.term {
            ConditionTerm::Always => text.clone(),
            ConditionTerm::Never => "described, never judged".to_owned(),
            ConditionTerm::Field { .. } | ConditionTerm::Link { .. } => {
                format!("{sort} {place} is {no}declared")
            }
            ConditionTerm::Type(kind) => format!("a field of type {kind} is {no}declared"),
            ConditionTerm::Encountered(_) => format!("{no}met: {}", place.replace(['_', '.'], " ")),
            ConditionTerm::Ability { one, ability } if !holds => {
                let of = if one.is_some() {
                    format!("of {sort} ")
                } else {
                    String::new()
                };
                format!("{of}{} is declared", ability.describe())
            }
            ConditionTerm::Ability { .. } => format!("the declaration allows {text}"),
            ConditionTerm::OneConstraint if !holds => {
                format!("{} is declared", Ability::Invalid.describe())
            }
            ConditionTerm::TwoConstraints if !holds => {
                format!("{} is declared", Ability::TwoInvalid.describe())
            }
            ConditionTerm::Helper(HelperCondition::WithPerson) if !holds => {
                "no helper that accepts a person is declared".to_owned()
            }
            ConditionTerm::Helper(HelperCondition::ExceptSchedule) if !holds => {
                "no helper that records something is declared".to_owned()
            }
            ConditionTerm::Helper(HelperCondition::ShowsPerson) if !holds => {
                "no declared helper returns the person or a link to the person".to_owned()
            }
            ConditionTerm::Helper(HelperCondition::OfRemovable) if !holds => {
                "no helper is declared for records that can be created and deleted".to_owned()
            }
            ConditionTerm::WebhookReceiver => {
                format!(
                    "{} was given (--webhook-receiver)",
                    if holds { "a receiver" } else { "no receiver" }
                )
            }
            ConditionTerm::OtherKey | ConditionTerm::RestrictedKey if !holds => {
                format!("{text}: no such key was given")
            }
            _ => format!("{text} is {no}declared"),
        }
    }
}
