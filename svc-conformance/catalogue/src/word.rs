//! A word of a condition, for a reader.

use super::ability::Ability;
use super::condition::{HelperTerm, Term, Word};

impl Word {
    /// The word for a reader, as it holds or does not.
    #[must_use]
    pub fn said(&self, holds: bool) -> String {
        let (no, text) = (if holds { "" } else { "not " }, &self.text);
        let (sort, place) = text.split_once([':', '.']).unwrap_or(("", text));
        match &self.term {
            Term::Always => text.clone(),
            Term::Never => "described, never judged".to_owned(),
            Term::Field { .. } | Term::Link { .. } => format!("{sort} {place} is {no}declared"),
            Term::Type(kind) => format!("a field of type {kind} is {no}declared"),
            Term::Met(_) => format!("{no}met: {}", place.replace(['_', '.'], " ")),
            Term::Ability { one, ability } if !holds => {
                let of = if one.is_some() {
                    format!("of {sort} ")
                } else {
                    String::new()
                };
                format!("{of}{} is declared", ability.said())
            }
            Term::Ability { .. } => format!("{text} can be done as declared"),
            Term::OneRule if !holds => format!("{} is declared", Ability::Break.said()),
            Term::TwoRules if !holds => format!("{} is declared", Ability::BreakTwo.said()),
            Term::Helper(HelperTerm::WithPerson) if !holds => {
                "no helper that takes a person is declared".to_owned()
            }
            Term::Helper(HelperTerm::ButSchedule) if !holds => {
                "no helper that records something is declared".to_owned()
            }
            Term::Helper(HelperTerm::ShowsPerson) if !holds => {
                "no helper is declared whose answer is the person or leads there".to_owned()
            }
            Term::Helper(HelperTerm::OfRemovable) if !holds => {
                "no helper is declared of records that can be made and deleted".to_owned()
            }
            Term::WebhookReceiver => {
                format!(
                    "{} was given (--webhook-receiver)",
                    if holds { "a receiver" } else { "no receiver" }
                )
            }
            Term::OtherKey | Term::RestrictedKey if !holds => {
                format!("{text}: no such key was given")
            }
            _ => format!("{text} is {no}declared"),
        }
    }
}
