//! Whether a row applies: the conditions of the catalogue, answered from the declaration, the keys and what the run met.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use crate::declared::{Declared, named};
use crate::fields;
use crate::keys::Keys;
use crate::kinds::FUNCTIONS;

/// What a run came across, for conditions that begin with `met.`.
#[derive(Debug, Default)]
pub(crate) struct Met(Mutex<BTreeSet<&'static str>>);

impl Met {
    pub(crate) fn add(&self, name: &'static str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(name);
    }

    fn has(&self, name: &str) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(name)
    }
}

/// Everything that conditions ask about.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Facts<'f> {
    pub(crate) declared: &'f Declared,
    pub(crate) keys: &'f Keys,
    pub(crate) met: &'f Met,
}

/// Why a row does not apply: the words of its condition that do not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Because(pub(crate) String);

impl Facts<'_> {
    /// `Ok` if the condition holds; `not` binds before `and`, `and` before `or`.
    pub(crate) fn applies(&self, row: &str, condition: &str) -> Result<(), Because> {
        let mut missing = Vec::new();
        for all in condition.split(" or ") {
            let unmet = all.split(" and ").find(|word| !self.term(row, word));
            match unmet {
                None => return Ok(()),
                Some(word) => missing.push(reason(word)),
            }
        }
        Err(Because(missing.join("; ")))
    }

    fn term(&self, row: &str, word: &str) -> bool {
        match word.strip_prefix("not ") {
            Some(word) => !self.name(row, word),
            None => self.name(row, word),
        }
    }

    fn name(&self, row: &str, name: &str) -> bool {
        let declared = self.declared;
        if let Some(place) = name.strip_prefix("field:") {
            return place.split_once('.').is_some_and(|(owner, path)| declared.has_field(owner, path));
        }
        if let Some(place) = name.strip_prefix("link:") {
            return self.link(place);
        }
        if let Some(met) = name.strip_prefix("met.") {
            return self.met.has(met);
        }
        if let Some(helper) = name.strip_prefix("helper.") {
            return self.helper(helper);
        }
        if let Some(function) = name.strip_prefix("haf.") {
            return if function == "*" { !declared.text.action_functions.is_empty() } else { declared.acts(function) };
        }
        match name {
            "always" => true,
            "auth" => declared.text.authentication.required && self.keys.primary.is_some(),
            "auth.multi_key" => self.keys.other_tenant.is_some(),
            "auth.restricted_key" => self.keys.restricted.is_some(),
            "helpers_only" => declared.helpers_only(),
            "kind.declared" => !declared.text.collections.is_empty(),
            "any.helper" => !declared.text.helpers.is_empty(),
            "unsupported.operation" => !declared.unsupported().is_empty(),
            "unsupported.haf" => FUNCTIONS.iter().any(|function| !declared.acts(function)),
            "rule.one" => declared.has_rule(),
            "rule.two" => {
                declared.behaves("validates_types") || (declared.has_rule() && declared.behaves("rule.response_name"))
            }
            "fixture.missing_address" => declared.text.missing_address.is_some(),
            "fixture.ticketed_event" => declared.has_field("event", "ticket_levels"),
            "field.of_type" => field_of_type(declared, row),
            "field.of_array_type" => has_shape(declared, &[fields::Shape::Texts, fields::Shape::Objects]),
            other => self.operation(other).unwrap_or_else(|| declared.behaves(other)),
        }
    }

    fn link(&self, place: &str) -> bool {
        let declared = self.declared;
        match place.split_once('.') {
            None => !declared.helpers_only(),
            Some(("entry_point", name)) => {
                let entry = declared.text.entry_point.as_ref();
                entry.is_some_and(|entry| entry.links.iter().any(|link| link == name))
            }
            Some((one, name)) => {
                let helper = name.strip_suffix("_helper").filter(|helper| helper.starts_with("record_"));
                declared.links(one, name)
                    || helper.is_some_and(|helper| declared.helps(helper) && declared.links(one, name))
            }
        }
    }

    fn helper(&self, name: &str) -> bool {
        let declared = self.declared;
        let helpers = &declared.text.helpers;
        match name {
            "*" => !helpers.is_empty(),
            "*.anonymous" => helpers.values().any(|helper| helper.anonymous),
            "*.with_person" => helpers.keys().any(|name| name != "schedule" && name != "record_canvass"),
            "*.but_schedule" => helpers.keys().any(|name| name != "schedule"),
            // A helper fails in part where one of its functions does.
            "non_atomic" => {
                let helps = helpers.keys().any(|name| name != "schedule");
                helps && declared.behaves("helper.non_atomic") && !declared.text.action_functions.is_empty()
            }
            "match_person" => declared.matches_persons(),
            "record_donation.links" => declared.behaves("helper.record_donation.links"),
            other => match other.strip_suffix(".anonymous") {
                Some(helper) => declared.helps_anyone(helper),
                None => declared.helps(other),
            },
        }
    }

    /// `<collection>.<operation>` or `<collection>.sub.<name>`; `None` for a name of another form.
    fn operation(&self, name: &str) -> Option<bool> {
        let (many, operation) = name.split_once('.')?;
        if many == "*" {
            return Some(self.declared.offers_any(operation));
        }
        let kind = named(many)?;
        Some(match operation.strip_prefix("sub.") {
            Some(sub) => self.declared.lists_below(kind.one, sub),
            None => self.declared.offers(kind.one, operation),
        })
    }
}

/// Whether a field of the type that a TYP row is about is declared.
fn field_of_type(declared: &Declared, row: &str) -> bool {
    use fields::Shape as S;
    let shapes: &[S] = match row {
        "TYP-01" => &[S::Text],
        "TYP-02" => &[S::Integer],
        "TYP-03" => &[S::Float],
        "TYP-04" => &[S::Number],
        "TYP-05" => &[S::Boolean],
        "TYP-06" => &[S::Time],
        "TYP-07" => &[S::Date],
        "TYP-08" => &[S::Enum],
        "TYP-09" => &[S::Flexible],
        "TYP-11" => &[S::Object, S::Objects],
        "TYP-12" => &[S::Texts, S::Objects],
        _ => return false,
    };
    has_shape(declared, shapes)
}

fn has_shape(declared: &Declared, shapes: &[fields::Shape]) -> bool {
    fields::all().iter().any(|field| shapes.contains(&field.shape) && declared.has_field(field.owner, field.path))
}

/// A word of a condition that does not hold, for a reader.
fn reason(word: &str) -> String {
    let (no, name) = word.strip_prefix("not ").map_or(("not ", word), |name| ("", name));
    match name.split_once(':') {
        _ if name == "never" => "described, never judged".to_owned(),
        Some((sort, place)) => format!("{sort} {place} is {no}declared"),
        None => match name.strip_prefix("met.") {
            Some(met) => format!("{no}met: {}", met.replace(['_', '.'], " ")),
            None if matches!(name, "auth.multi_key" | "auth.restricted_key") => {
                format!("{name}: no such key was given")
            }
            None => format!("{name} is {no}declared"),
        },
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{Facts, Met};
    use crate::catalogue::Catalogue;
    use crate::declared::{Declared, Source, named, read};
    use crate::keys::Keys;

    /// Words that a declaration lists among its behaviours.
    const BEHAVIOURS: &[&str] =
        &["rule.response_name", "capacity_enforced", "ticket_limit_enforced", "fault_injection", "never"];

    /// A word that means nothing would switch its row off for every server.
    #[test]
    fn every_word_of_a_condition_means_something() {
        let text = "declaration_version = 1\n[collections.people]\noperations = [\"list\"]\n[helpers.person_signup]\n";
        let declared = Declared::new(read(text).expect("a declaration"), Source::Given);
        let (keys, met) = (Keys::none(), Met::default());
        let facts = Facts { declared: &declared, keys: &keys, met: &met };
        let mut unknown = BTreeSet::new();
        for row in Catalogue::built_in().expect("a catalogue").rows() {
            for word in row.condition.split(' ').filter(|word| !matches!(*word, "and" | "or" | "not")) {
                let placed = ["field:", "link:", "met.", "helper.", "haf."].iter().any(|start| word.starts_with(start));
                let operation = word.split_once('.').is_some_and(|(many, _)| many == "*" || named(many).is_some());
                let known = placed || operation || BEHAVIOURS.contains(&word) || KNOWN.contains(&word);
                if !known {
                    unknown.insert(word);
                }
                let _ = facts.applies(&row.id, word);
            }
        }
        assert_eq!(unknown, BTreeSet::new());
    }

    /// The words that `name` answers itself.
    const KNOWN: &[&str] = &[
        "always",
        "auth",
        "auth.multi_key",
        "auth.restricted_key",
        "helpers_only",
        "kind.declared",
        "any.helper",
        "unsupported.operation",
        "unsupported.haf",
        "rule.one",
        "rule.two",
        "fixture.missing_address",
        "fixture.ticketed_event",
        "field.of_type",
        "field.of_array_type",
    ];

    #[test]
    fn a_declared_array_switches_its_row_on() {
        let text = |kind: &str, name: &str| {
            format!(
                "declaration_version = 1\nbehaviours = [\"without.identifiers\"]\n[collections.people]\n\
                 singular = \"person\"\noperations = [\"read\"]\n\
                 [collections.people.fields.{name}]\ntype = \"{kind}\"\n"
            )
        };
        let applies = |text: &str| {
            let declared = Declared::new(read(text).expect("a declaration"), Source::Given);
            let (keys, met) = (Keys::none(), Met::default());
            Facts { declared: &declared, keys: &keys, met: &met }.applies("CRU-18", "field.of_array_type").is_ok()
        };
        assert!(applies(&text("string[]", "ethnicities")));
        assert!(!applies(&text("string", "given_name")));
    }
}
