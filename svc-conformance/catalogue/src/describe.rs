//! The description of a term for a reader.

use super::ability::Ability;
use super::condition::{ConditionTerm, ConditionWord, Encounter, HelperCondition};

impl ConditionWord {
    /// Returns the description of the term, if it holds or does not hold.
    #[must_use]
    pub fn describe(&self, holds: bool) -> String {
        let (no, text) = (if holds { "" } else { "not " }, &self.text);
        let a_or_no = |what: &str| {
            let article = if holds { article(what) } else { "no" };
            format!("{article} {what}")
        };
        match &self.term {
            ConditionTerm::Always => text.clone(),
            ConditionTerm::Never => "described, never judged".to_owned(),
            ConditionTerm::Auth if holds => {
                "the run has the key that the server requires (--key)".into()
            }
            ConditionTerm::Auth => "the server requires no key, or the run has none (--key)".into(),
            ConditionTerm::OtherKey => {
                a_or_no("key of another tenant") + " was given (--other-tenant-key)"
            }
            ConditionTerm::RestrictedKey => {
                a_or_no("key without one right") + " was given (--restricted-key)"
            }
            ConditionTerm::WebhookReceiver => {
                a_or_no("receiver") + " was given (--webhook-receiver)"
            }
            ConditionTerm::HelpersOnly if holds => {
                "helpers are declared, but no collections".into()
            }
            ConditionTerm::HelpersOnly => "a collection is declared, or no helper is".into(),
            ConditionTerm::AnyKind => a_or_no("collection") + " is declared",
            ConditionTerm::OperationMissing if holds => {
                "an operation of a declared collection is not declared".into()
            }
            ConditionTerm::OperationMissing => {
                "no operation that a run could try is missing in the declaration".into()
            }
            ConditionTerm::FunctionMissing if holds => "an action function is not declared".into(),
            ConditionTerm::FunctionMissing => {
                "no action function that a run could try is missing in the declaration".into()
            }
            ConditionTerm::OneConstraint => ability(Ability::Invalid, None, holds),
            ConditionTerm::TwoConstraints => ability(Ability::TwoInvalid, None, holds),
            ConditionTerm::MissingAddress => {
                format!("`missing_address`, the URL of a missing record, is {no}declared")
            }
            ConditionTerm::TicketedEvent => {
                format!("an event that sells tickets is {no}declared (fixture `ticketed_event`)")
            }
            ConditionTerm::Type(kind) => format!("a field of type {kind} is {no}declared"),
            ConditionTerm::Field { owner, path } if owner == "*" => {
                a_or_no("collection") + &format!(" declares the field {path}")
            }
            ConditionTerm::Field { owner, path } => {
                format!("field {owner}.{path} is {no}declared")
            }
            ConditionTerm::Link { owner: None, name } => {
                a_or_no("collection") + &format!(" declares the link {name}")
            }
            ConditionTerm::Link {
                owner: Some(owner),
                name,
            } => format!("link {owner}.{name} is {no}declared"),
            ConditionTerm::Operation {
                one: None,
                operation,
            } => a_or_no("collection") + &format!(" declares the operation {operation}"),
            ConditionTerm::Operation { one: Some(_), .. } => format!("{text} is {no}declared"),
            ConditionTerm::Ability { one, ability: of } => ability(*of, one.as_deref(), holds),
            ConditionTerm::NestedCollection { one, many } => {
                format!("the collection {many} of one {one} is {no}declared")
            }
            ConditionTerm::Helper(condition) => helper(condition, holds),
            ConditionTerm::Function(None) => a_or_no("action function") + " is declared",
            ConditionTerm::Function(Some(name)) => {
                format!("the action function {name} is {no}declared")
            }
            ConditionTerm::Filter(None) => a_or_no("filter") + " is declared",
            ConditionTerm::Filter(Some(field)) => format!("a filter by {field} is {no}declared"),
            ConditionTerm::Order => format!("an order by a date is {no}declared"),
            ConditionTerm::Behaviour(name) => format!("the behaviour {name} is {no}declared"),
            ConditionTerm::Encountered(encounter) => {
                "the run received ".to_owned() + &a_or_no(encountered(*encounter))
            }
        }
    }
}

/// Returns the indefinite article of a noun.
fn article(noun: &str) -> &'static str {
    if noun.starts_with(['a', 'e', 'i', 'o']) {
        "an"
    } else {
        "a"
    }
}

/// Returns the description of an ability, of one kind or of any.
fn ability(ability: Ability, one: Option<&str>, holds: bool) -> String {
    let of = one.map(|one| format!(" for {one}")).unwrap_or_default();
    let what = if holds {
        ability.describe_declared()
    } else {
        ability.describe()
    };
    format!("{what} is declared{of}")
}

/// Returns the description of a condition about helpers.
fn helper(condition: &HelperCondition, holds: bool) -> String {
    let (no, some) = if holds { ("", "a") } else { ("not ", "no") };
    match condition {
        HelperCondition::Any => format!("{some} helper is declared"),
        HelperCondition::AnyAnonymous => {
            format!("{some} helper that accepts requests without a key is declared")
        }
        HelperCondition::WithKey => {
            format!("{some} helper that records something and requires a key is declared")
        }
        HelperCondition::WithPerson => format!("{some} helper that accepts a person is declared"),
        HelperCondition::ExceptSchedule => {
            format!("{some} helper that records something is declared")
        }
        HelperCondition::NonAtomic => {
            format!("{some} helper that can fail partly is declared (`helper.non_atomic`)")
        }
        HelperCondition::MatchesPersons => {
            format!("{some} helper that matches people is declared (`helper.match_person`)")
        }
        HelperCondition::ShowsPerson => {
            format!("{some} declared helper returns the person or a link to the person")
        }
        HelperCondition::OfRemovable => {
            format!("{some} helper is declared for records that can be created and deleted")
        }
        HelperCondition::DonationLinks => {
            format!("the behaviour helper.record_donation.links is {no}declared")
        }
        HelperCondition::Named(name) => format!("the helper {name} is {no}declared"),
        HelperCondition::Anonymous(name) => {
            format!("the helper {name} is {no}declared as accepting requests without a key")
        }
    }
}

/// Returns the description of what a run can receive.
const fn encountered(encounter: Encounter) -> &'static str {
    match encounter {
        Encounter::SecondPage => "page after the first",
        Encounter::EmptyCollection => "page of a collection without records",
        Encounter::ErrorBody => "error response with a body",
        Encounter::Hint => "description of an error with a hint",
        Encounter::ReferenceCode => "description of an error with a reference code",
        Encounter::FailedEntry => "non-atomic response with a failed entry",
        Encounter::Status500 => "response with status 500",
    }
}
