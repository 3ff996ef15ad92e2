//! Every row that binds a server, shown by the reference server over HTTP: each family of rows walks a running service by
//! links only, and a row counts as proven only through `row!`.

mod access;
mod client;
mod collections;
mod corners;
mod crud;
mod errors;
mod family;
mod fields;
mod fixture;
mod helpers;
mod hypermedia;
mod kinds;
#[path = "../log/mod.rs"]
mod log;
mod passive;
mod reliances;
mod resources;
mod security;
mod tables;
mod values;
mod world;

use svc_conformance::catalogue::{Catalogue, Level};
use svc_conformance::ledger::Ledger;

use crate::family::Family;

static FAMILIES: &[&Family] = &[
    &hypermedia::FAMILY,
    &collections::FAMILY,
    &resources::OBJECTS_FAMILY,
    &resources::CONTAINERS_FAMILY,
    &resources::ACTIONS_FAMILY,
    &crud::FAMILY,
    &helpers::FAMILY,
    &helpers::COMPOSED_FAMILY,
    &access::FAMILY,
    &errors::FAMILY,
    &tables::FAMILY,
    &reliances::FAMILY,
    &corners::FAMILY,
    &security::FAMILY,
];

/// MUST rows that this program does not prove, each with its reason; none today.
const EXEMPT: &[(&str, &str)] = &[];

#[test]
fn hal_entry_point_version() {
    hypermedia::FAMILY.assert();
}

#[test]
fn collections_and_types() {
    collections::FAMILY.assert();
}

#[test]
fn resources_shared_objects_and_person() {
    resources::OBJECTS_FAMILY.assert();
}

#[test]
fn resources_containers() {
    resources::CONTAINERS_FAMILY.assert();
}

#[test]
fn resources_actions() {
    resources::ACTIONS_FAMILY.assert();
}

#[test]
fn create_update_delete() {
    crud::FAMILY.assert();
}

#[test]
fn helpers_functions_scheduling() {
    helpers::FAMILY.assert();
}

#[test]
fn helpers_through_the_default_runner() {
    helpers::COMPOSED_FAMILY.assert();
}

#[test]
fn authentication() {
    access::FAMILY.assert();
}

#[test]
fn errors_and_limits() {
    errors::FAMILY.assert();
}

#[test]
fn what_programs_rely_on() {
    reliances::FAMILY.assert();
}

#[test]
fn corners_of_the_interface() {
    corners::FAMILY.assert();
}

#[test]
fn tenants_rights_hostile_input_erasure() {
    security::FAMILY.assert();
}

#[test]
fn fields_of_the_tables() {
    tables::FAMILY.assert();
}

/// The log of everything above has no key and no planted personal value.
#[test]
fn the_log_is_clean() {
    for family in FAMILIES {
        family.report(&Ledger::new());
    }
    assert!(log::lines() > 1000, "the service says nothing: {} lines", log::lines());
    log::assert_clean();
}

#[test]
fn every_must_row_is_proven() {
    let catalogue = Catalogue::built_in().expect("a catalogue");
    let ledger = Ledger::new();
    for family in FAMILIES {
        family.report(&ledger);
    }
    assert!(EXEMPT.len() <= 25, "at most 25 rows may be exempt");
    for (id, _) in EXEMPT {
        assert!(catalogue.row(id).is_some_and(|row| row.level == Level::Must), "{id} is no MUST row");
        assert_eq!(ledger.count(id), 0, "{id} is proven: it needs no exemption");
    }
    let missing = ledger.missing(catalogue, Level::Must, EXEMPT);
    let list: Vec<String> = missing.iter().map(|row| format!("{}: {}", row.id, row.statement)).collect();
    assert!(list.is_empty(), "{} MUST rows are not proven:\n{}", list.len(), list.join("\n"));
}
