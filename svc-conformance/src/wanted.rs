//! Which fixture a row waits for: a record of a kind that the row is about, or of the kind around it, where a run can create none.

use crate::catalogue::{HelperTerm, Row, Term};
use crate::declared::Declared;
use crate::kinds::{KINDS, Kind, LIMITED, TICKETED, kind};

/// The name of the fixture that a row needs unless such a record is listed; none where what it needs can be created.
pub(crate) fn wanted(declared: &Declared, row: &Row) -> Option<&'static str> {
    // What is said last says most: a field of an event, and that its places are enforced.
    row.when.words().iter().rev().find_map(|word| match &word.term {
        Term::Behaviour(name) if name == "capacity_enforced" && !declared.makes_alone("event") => Some(LIMITED),
        Term::TicketedEvent if !declared.makes_alone("event") => Some(TICKETED),
        Term::Helper(HelperTerm::Named(name) | HelperTerm::Anonymous(name)) => {
            around(declared, KINDS.iter().copied().find(|kind| kind.helper == Some(name.as_str()))?)
        }
        term => of(declared, kind(about(term)?)?),
    })
}

/// The kind that a word is about.
fn about(term: &Term) -> Option<&str> {
    match term {
        Term::Field { owner, .. } | Term::Link { owner: Some(owner), .. } => Some(owner),
        Term::Operation { one: Some(one), .. } | Term::Ability { one: Some(one), .. } | Term::Below { one, .. } => {
            Some(one)
        }
        _ => None,
    }
}

/// A record of the kind itself, or what it is made in.
fn of(declared: &Declared, kind: Kind) -> Option<&'static str> {
    if !declared.shows(kind.one) && !declared.takes(kind.one) {
        return None;
    }
    if kind.under.is_some() && declared.can(kind.one, crate::catalogue::Ability::Make) {
        return around(declared, kind);
    }
    Some(kind.one).filter(|one| !declared.makes_alone(one))
}

/// The container of a kind, where none can be created.
fn around(declared: &Declared, kind: Kind) -> Option<&'static str> {
    kind.under.filter(|under| !declared.makes_alone(under))
}
