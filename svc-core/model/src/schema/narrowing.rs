//! What a server has of a kind that is narrower than the interface: the one truth of what
//! validation enforces, what records show, and what capability document, schemas and pages say.
//!
//! Requirements: CAP-04 to CAP-08.

use std::collections::BTreeMap;

use crate::value::Amount;

/// What a server has of one kind's fields that is narrower than the interface, by the names of the
/// tables.
///
/// Registration fills it (`.required_fields(...)`, `.allowed_values(...)`, ... of
/// `ResourceConfig`); a program that learns it when it starts, such as from its
/// tables, hands it over with `ApiBuilder::constraints`.
///
/// # Examples
///
/// ```
/// use svc_core::schema::Constraints;
///
/// let mut people = Constraints::default();
/// people.at(&["family_name"]).required = true;
/// people.at(&["family_name"]).longest = Some(200);
/// people.at(&["email_addresses", "status"]).leave_out();
/// assert!(people.get(&["email_addresses", "status"]).is_some_and(|status| status.is_absent()));
/// assert!(people.get(&["email_addresses", "address"]).is_none(), "as the interface has it");
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Constraints {
    members: BTreeMap<String, Constraint>,
}

/// What is narrower at one field, or at one member of an object or of a list's objects. The default
/// is as the interface has it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Constraint {
    /// A create must have it, and a change cannot empty it.
    ///
    /// Requirements: CAP-05.
    pub required: bool,
    /// It does not leave the server.
    pub unreadable: bool,
    /// It is not taken from clients.
    ///
    /// Requirements: CAP-06.
    pub unwritable: bool,
    /// The only values of an enum; those of a flexible enum close it.
    ///
    /// Requirements: TYP-08, TYP-09.
    pub values: Option<Vec<String>>,
    /// What it is where a create leaves it out, and where a change empties it: a text, or a number,
    /// `true` or `false` as text.
    ///
    /// Requirements: CAP-08.
    pub default: Option<String>,
    /// The least whole number or amount.
    pub least: Option<Amount>,
    /// The greatest whole number or amount.
    pub most: Option<Amount>,
    /// How many characters a text has at most.
    pub longest: Option<u32>,
    /// What is narrower at the members of the object, or of each object of the list, that stands
    /// here.
    pub members: Constraints,
}

impl Constraints {
    /// What is narrower at the end of a path of names, to be set. An empty path leads nowhere: what
    /// is set there is not found again.
    pub fn at(&mut self, path: &[&str]) -> &mut Constraint {
        match path {
            [] | [_] => self.members.entry(path.concat()).or_default(),
            [name, rest @ ..] => self
                .members
                .entry((*name).to_owned())
                .or_default()
                .members
                .at(rest),
        }
    }

    /// What is narrower at the end of a path of names; `None` where nothing is.
    #[must_use]
    pub fn get(&self, path: &[&str]) -> Option<&Constraint> {
        match path {
            [] => None,
            [name] => self.member(name),
            [name, rest @ ..] => self.member(name)?.members.get(rest),
        }
    }

    /// What is narrower at the field of this name.
    #[must_use]
    pub fn member(&self, name: &str) -> Option<&Constraint> {
        self.members.get(name)
    }

    /// The fields at which something is narrower.
    pub fn members(&self) -> impl Iterator<Item = (&str, &Constraint)> {
        self.members
            .iter()
            .map(|(name, narrow)| (name.as_str(), narrow))
    }

    /// Whether all is as the interface has it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.members.values().all(Constraint::is_empty)
    }

    /// Adds what another one says. What both say holds both; of two defaults the one that is there
    /// already stays.
    pub fn merge(&mut self, other: Self) {
        for (name, narrow) in other.members {
            self.members.entry(name).or_default().merge(narrow);
        }
    }
}

impl Constraint {
    /// Leaves the field out: the server has no such field, so that it is neither shown nor taken
    /// nor declared.
    pub fn leave_out(&mut self) {
        (self.unreadable, self.unwritable) = (true, true);
    }

    /// Whether the server has no such field.
    #[must_use]
    pub fn is_absent(&self) -> bool {
        self.unreadable && self.unwritable
    }

    fn is_empty(&self) -> bool {
        let Self {
            required,
            unreadable,
            unwritable,
            values,
            default,
            least,
            most,
            longest,
            members,
        } = self;
        let flags = *required || *unreadable || *unwritable;
        let bounds = values.is_some() || least.is_some() || most.is_some() || longest.is_some();
        !flags && !bounds && default.is_none() && members.is_empty()
    }

    fn merge(&mut self, other: Self) {
        self.required |= other.required;
        self.unreadable |= other.unreadable;
        self.unwritable |= other.unwritable;
        self.values = match (self.values.take(), other.values) {
            (Some(mine), Some(theirs)) => Some(
                mine.into_iter()
                    .filter(|value| theirs.contains(value))
                    .collect(),
            ),
            (mine, theirs) => mine.or(theirs),
        };
        self.default = self.default.take().or(other.default);
        self.least = self.least.max(other.least);
        self.most = [self.most, other.most].into_iter().flatten().min();
        self.longest = [self.longest, other.longest].into_iter().flatten().min();
        self.members.merge(other.members);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CAP-04: what a registration says and what the tables say hold together, whatever is said
    /// first.
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
        *mine.at(&["status"]) = Constraint {
            values: texts(&["accepted", "declined"]),
            default: Some("accepted".to_owned()),
            least: Some(1.into()),
            longest: Some(20),
            ..Constraint::default()
        };
        let mut tables = Constraints::default();
        *tables.at(&["status"]) = Constraint {
            required: true,
            values: texts(&["declined", "tentative"]),
            default: Some("declined".to_owned()),
            least: Some(0.into()),
            most: Some(9.into()),
            longest: Some(30),
            ..Constraint::default()
        };
        tables.at(&["tickets", "title"]).leave_out();
        mine.merge(tables.clone());
        let both = Constraint {
            required: true,
            values: texts(&["declined"]),
            default: Some("accepted".to_owned()),
            least: Some(1.into()),
            most: Some(9.into()),
            longest: Some(20),
            ..Constraint::default()
        };
        assert_eq!(mine.get(&["status"]), Some(&both));
        assert!(
            mine.get(&["tickets", "title"])
                .is_some_and(Constraint::is_absent)
        );
        assert!(!mine.is_empty());
        assert_eq!(mine.get(&[]), None);
        let mut nothing = Constraints::default();
        let _ = nothing.at(&["a", "b"]);
        assert!(nothing.is_empty(), "a look is no word");
        nothing.merge(mine.clone());
        assert_eq!(nothing.get(&["status"]), mine.get(&["status"]));
    }
}
