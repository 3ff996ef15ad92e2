//! The constraints of a server that are narrower than the specification. Validation, responses, the
//! capability document, schemas and pages all use them.
//!
//! Requirements: CAP-04 to CAP-08.

use std::collections::BTreeMap;

use crate::value::Amount;

/// The constraints of this server for the fields of one kind, by the names of the tables.
///
/// Registration fills them (`.required_fields(...)`, `.allowed_values(...)`, ... of
/// `ResourceConfig`). A program that determines them at startup, for example from its tables,
/// passes them to `ApiBuilder::constraints`.
///
/// # Examples
///
/// ```
/// use svc_core::schema::Constraints;
///
/// let mut people = Constraints::default();
/// people.entry(&["family_name"]).required = true;
/// people.entry(&["family_name"]).max_length = Some(200);
/// people.entry(&["email_addresses", "status"]).omit();
/// assert!(people.get(&["email_addresses", "status"]).is_some_and(|status| status.is_omitted()));
/// assert!(people.get(&["email_addresses", "address"]).is_none(), "as the interface has it");
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Constraints {
    members: BTreeMap<String, Constraint>,
}

/// The constraint of one field, or of one member of an object or of a list's objects. By default,
/// nothing is constrained.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Constraint {
    /// A create must contain it, and a change cannot clear it.
    ///
    /// Requirements: CAP-05.
    pub required: bool,
    /// It is never sent.
    pub hidden: bool,
    /// Clients cannot set it.
    ///
    /// Requirements: CAP-06.
    pub read_only: bool,
    /// The allowed values of an enum; a flexible enum becomes closed.
    ///
    /// Requirements: TYP-08, TYP-09.
    pub values: Option<Vec<String>>,
    /// The value if a create omits it, and after a change clears it: a text, or a number, `true` or
    /// `false` as text.
    ///
    /// Requirements: CAP-08.
    pub default: Option<String>,
    /// The minimum of a whole number or amount.
    pub min: Option<Amount>,
    /// The maximum of a whole number or amount.
    pub max: Option<Amount>,
    /// The maximum length of a text in characters.
    pub max_length: Option<u32>,
    /// The maximum number of entries of a list. Of the lists of the person of a helper request, the
    /// entries that fit are stored.
    ///
    /// Requirements: CAP-04.
    pub max_items: Option<u32>,
    /// How the values of this member in the entries of a list depend on each other.
    ///
    /// Requirements: CAP-04.
    pub in_entries: Option<EntryValues>,
    /// The constraints of the members of the object, or of each object of the list.
    pub members: Constraints,
}

/// How the values of a member in the entries of a list depend on each other, because the list is
/// stored in a fixed number of columns.
///
/// Requirements: CAP-04.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum EntryValues {
    /// All entries have the same value, such as the consent of the person.
    Same,
    /// Each entry has another value, such as the type of a phone number.
    Distinct,
    /// Only the first entry has the value true, such as the mark of the primary address.
    First,
}

impl EntryValues {
    /// Returns the name in the capability document.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Distinct => "distinct",
            Self::First => "first",
        }
    }
}

impl Constraints {
    /// Returns the constraint at a path of names, to be set. A constraint that is set at an empty
    /// path has no effect.
    pub fn entry(&mut self, path: &[&str]) -> &mut Constraint {
        match path {
            [] | [_] => self.members.entry(path.concat()).or_default(),
            [name, rest @ ..] => self
                .members
                .entry((*name).to_owned())
                .or_default()
                .members
                .entry(rest),
        }
    }

    /// Returns the constraint at a path of names, if there is one.
    #[must_use]
    pub fn get(&self, path: &[&str]) -> Option<&Constraint> {
        match path {
            [] => None,
            [name] => self.member(name),
            [name, rest @ ..] => self.member(name)?.members.get(rest),
        }
    }

    /// Returns the constraint of the field with this name.
    #[must_use]
    pub fn member(&self, name: &str) -> Option<&Constraint> {
        self.members.get(name)
    }

    /// Returns the fields that have a constraint.
    pub fn members(&self) -> impl Iterator<Item = (&str, &Constraint)> {
        self.members
            .iter()
            .map(|(name, narrow)| (name.as_str(), narrow))
    }

    /// Returns whether there is no constraint.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.members.values().all(Constraint::is_empty)
    }

    /// Adds other constraints. Both then apply; of two defaults the existing one remains.
    pub fn merge(&mut self, other: Self) {
        for (name, narrow) in other.members {
            self.members.entry(name).or_default().merge(narrow);
        }
    }
}

impl Constraint {
    /// Removes the field from the API: it is not sent, accepted or declared.
    pub fn omit(&mut self) {
        (self.hidden, self.read_only) = (true, true);
    }

    /// Returns whether the server does not have the field.
    #[must_use]
    pub fn is_omitted(&self) -> bool {
        self.hidden && self.read_only
    }

    fn is_empty(&self) -> bool {
        let Self {
            required,
            hidden: unreadable,
            read_only: unwritable,
            values,
            default,
            min: least,
            max: most,
            max_length: longest,
            max_items,
            in_entries,
            members,
        } = self;
        let flags = *required || *unreadable || *unwritable;
        let bounds = values.is_some() || least.is_some() || most.is_some();
        let sizes = longest.is_some() || max_items.is_some() || in_entries.is_some();
        !sizes && !flags && !bounds && default.is_none() && members.is_empty()
    }

    fn merge(&mut self, other: Self) {
        self.required |= other.required;
        self.hidden |= other.hidden;
        self.read_only |= other.read_only;
        self.values = match (self.values.take(), other.values) {
            (Some(mine), Some(theirs)) => Some(
                mine.into_iter()
                    .filter(|value| theirs.contains(value))
                    .collect(),
            ),
            (mine, theirs) => mine.or(theirs),
        };
        self.default = self.default.take().or(other.default);
        self.min = self.min.max(other.min);
        self.max = [self.max, other.max].into_iter().flatten().min();
        self.max_length = [self.max_length, other.max_length]
            .into_iter()
            .flatten()
            .min();
        self.in_entries = self.in_entries.or(other.in_entries);
        self.max_items = [self.max_items, other.max_items]
            .into_iter()
            .flatten()
            .min();
        self.members.merge(other.members);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CAP-04: the constraints of the registration and of the tables both apply, in any order.
    #[test]
    fn cap_04_what_two_say_holds_both() {
        let texts = |values: &[&str]| {
            Some(
                values
                    .iter()
                    .map(|&value| value.to_owned())
                    .collect::<Vec<_>>(),
            )
        };
        let mut mine = Constraints::default();
        *mine.entry(&["status"]) = Constraint {
            values: texts(&["accepted", "declined"]),
            default: Some("accepted".to_owned()),
            min: Some(1.into()),
            max_length: Some(20),
            max_items: Some(3),
            ..Constraint::default()
        };
        let mut tables = Constraints::default();
        *tables.entry(&["status"]) = Constraint {
            required: true,
            values: texts(&["declined", "tentative"]),
            default: Some("declined".to_owned()),
            min: Some(0.into()),
            max: Some(9.into()),
            max_length: Some(30),
            max_items: Some(2),
            ..Constraint::default()
        };
        tables.entry(&["tickets", "title"]).omit();
        mine.merge(tables.clone());
        let both = Constraint {
            required: true,
            values: texts(&["declined"]),
            default: Some("accepted".to_owned()),
            min: Some(1.into()),
            max: Some(9.into()),
            max_length: Some(20),
            max_items: Some(2),
            ..Constraint::default()
        };
        assert_eq!(mine.get(&["status"]), Some(&both));
        assert!(
            mine.get(&["tickets", "title"])
                .is_some_and(Constraint::is_omitted)
        );
        assert!(!mine.is_empty());
        assert_eq!(mine.get(&[]), None);
        let mut nothing = Constraints::default();
        let _ = nothing.entry(&["a", "b"]);
        assert!(nothing.is_empty(), "reading a constraint does not add one");
        nothing.merge(mine.clone());
        assert_eq!(nothing.get(&["status"]), mine.get(&["status"]));
    }
}
