//! Which fixture a row waits for: a record of a kind that the row is about, or of the kind around
//! it, where a run can create none.

use crate::catalogue::{Ability, HelperTerm, Row, Term};
use crate::declared::Declared;
use crate::kinds::{HELPERS, HelperFixture, Kind, LIMITED, TICKETED, helper_fixture, kind};

/// The name of the fixture that a row needs unless such a record is listed; none where what it
/// needs can be created.
pub(crate) fn wanted(declared: &Declared, row: &Row) -> Option<&'static str> {
    // What is said last says most: a field of an event, and that its places are enforced.
    row.when
        .words()
        .iter()
        .rev()
        .find_map(|word| match &word.term {
            Term::Behaviour(name)
                if name == "capacity_enforced" && !declared.makes_alone("event") =>
            {
                Some(LIMITED)
            }
            Term::TicketedEvent if !declared.makes_alone("event") => Some(TICKETED),
            Term::Helper(HelperTerm::Named(name) | HelperTerm::Anonymous(name)) => HELPERS
                .iter()
                .find(|fixture| fixture.helper == name)
                .and_then(|fixture| around(declared, fixture)),
            Term::Helper(_) => any_helper(declared),
            term => of(declared, kind(about(term)?)?),
        })
}

/// The kind that a word is about.
fn about(term: &Term) -> Option<&str> {
    match term {
        Term::Field { owner, .. }
        | Term::Link {
            owner: Some(owner), ..
        } => Some(owner),
        Term::Operation { one: Some(one), .. }
        | Term::Ability { one: Some(one), .. }
        | Term::Below { one, .. } => Some(one),
        _ => None,
    }
}

/// A record of the kind itself, or what it is made in.
fn of(declared: &Declared, kind: Kind) -> Option<&'static str> {
    if !declared.shows(kind.one) && !declared.takes(kind.one) {
        return None;
    }
    let container = kind.under.filter(|_| declared.can(kind.one, Ability::Make));
    match (
        container,
        HELPERS
            .iter()
            .find(|fixture| kind.helper == Some(fixture.helper)),
    ) {
        (Some(_), Some(fixture)) if declared.helps(fixture.helper) => around(declared, fixture),
        (Some(under), _) => Some(under).filter(|under| !declared.makes_alone(under)),
        (None, _) => Some(kind.one).filter(|one| !declared.makes_alone(one)),
    }
}

/// The container of a helper, where a run cannot come to one.
fn around(declared: &Declared, fixture: &HelperFixture) -> Option<&'static str> {
    let is_reached = declared.leads_to_helper(fixture.of, fixture.helper);
    (!is_reached).then(|| fixture_of(declared, fixture.of))
}

/// The container of the first helper, where a run can come to no helper.
fn any_helper(declared: &Declared) -> Option<&'static str> {
    let is_reached = |fixture: &&HelperFixture| around(declared, fixture).is_none();
    let mut offered = HELPERS
        .iter()
        .filter(|fixture| declared.helps(fixture.helper));
    if declared.helps("person_signup") || offered.clone().any(|fixture| is_reached(&fixture)) {
        return None;
    }
    around(declared, offered.next()?)
}

/// The name of the fixture that stands for a record of a kind: that of its helper, where a record
/// cannot be read.
fn fixture_of(declared: &Declared, one: &'static str) -> &'static str {
    let is_known =
        |fixture: &&HelperFixture| declared.helps(fixture.helper) && !declared.offers(one, "read");
    helper_fixture(one)
        .filter(is_known)
        .map_or(one, |fixture| fixture.name.as_str())
}
