//! Returns which fixture a requirement needs: a record of its kind, or of the kind that contains
//! it, if the run cannot create one.

use crate::catalogue::{Ability, ConditionTerm, HelperCondition, Requirement};
use crate::declared::DeclaredApi;
use crate::kinds::{
    CatalogueKind, HELPERS, HelperFixture, LIMITED, TICKETED, helper_fixture, kind,
};

/// Returns the name of the fixture that a requirement needs unless such a record is listed. `None`
/// if the run can create what it needs.
pub(crate) fn wanted(declared: &DeclaredApi, row: &Requirement) -> Option<&'static str> {
    // The last terms are the most specific: a field of an event, and that its capacity is enforced.
    row.applies_if
        .words()
        .iter()
        .rev()
        .find_map(|word| match &word.term {
            ConditionTerm::Behaviour(name)
                if name == "capacity_enforced" && !declared.makes_alone("event") =>
            {
                Some(LIMITED)
            }
            ConditionTerm::TicketedEvent if !declared.makes_alone("event") => Some(TICKETED),
            ConditionTerm::Helper(
                HelperCondition::Named(name) | HelperCondition::Anonymous(name),
            ) => HELPERS
                .iter()
                .find(|fixture| fixture.helper == name)
                .and_then(|fixture| around(declared, fixture)),
            ConditionTerm::Helper(_) => any_helper(declared),
            term => of(declared, kind(about(term)?)?),
        })
}

/// Returns the kind that a term is about.
fn about(term: &ConditionTerm) -> Option<&str> {
    match term {
        ConditionTerm::Field { owner, .. }
        | ConditionTerm::Link {
            owner: Some(owner), ..
        } => Some(owner),
        ConditionTerm::Operation { one: Some(one), .. }
        | ConditionTerm::Ability { one: Some(one), .. }
        | ConditionTerm::NestedCollection { one, .. } => Some(one),
        _ => None,
    }
}

/// Returns a record of the kind itself, or of the kind in which it is created.
fn of(declared: &DeclaredApi, kind: CatalogueKind) -> Option<&'static str> {
    if !declared.shows(kind.one) && !declared.accepts_any_field(kind.one) {
        return None;
    }
    let container = kind
        .under
        .filter(|_| declared.can(kind.one, Ability::Create));
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

/// Returns the container of a helper, if the run cannot reach one.
fn around(declared: &DeclaredApi, fixture: &HelperFixture) -> Option<&'static str> {
    let is_reached = declared.leads_to_helper(fixture.of, fixture.helper);
    (!is_reached).then(|| fixture_of(declared, fixture.of))
}

/// Returns the container of the first helper, if the run can reach no helper.
fn any_helper(declared: &DeclaredApi) -> Option<&'static str> {
    let is_reached = |fixture: &&HelperFixture| around(declared, fixture).is_none();
    let mut offered = HELPERS
        .iter()
        .filter(|fixture| declared.helps(fixture.helper));
    if declared.helps("person_signup") || offered.clone().any(|fixture| is_reached(&fixture)) {
        return None;
    }
    around(declared, offered.next()?)
}

/// Returns the name of the fixture for a record of a kind: that of its helper if the record cannot
/// be read.
fn fixture_of(declared: &DeclaredApi, one: &'static str) -> &'static str {
    let is_known =
        |fixture: &&HelperFixture| declared.helps(fixture.helper) && !declared.offers(one, "read");
    helper_fixture(one)
        .filter(is_known)
        .map_or(one, |fixture| fixture.name.as_str())
}
