//! Double entry: the fields that the catalogue names, against the tables of `svc-core`. Whoever
//! changes one of them changes the other, or says here why they differ.

use std::collections::BTreeMap;

use svc_conformance::catalogue::{
    Catalogue, CatalogueField as EntryCommon, CatalogueType as Written,
};
use svc_core::api::type_name;
use svc_core::model::Kind;
use svc_core::schema::{FieldSpec, ObjectSchema, ValueType};

/// The shared objects and the fields that carry them.
const SHARED: &[(&str, &str)] = &[
    ("referrer_data", "referrer_data"),
    ("share_options", "share_options"),
    ("targets", "target"),
    ("target_list", "target"),
    ("postal_addresses", "postal_address"),
    ("email_addresses", "email_address"),
    ("phone_numbers", "phone_number"),
];

/// Where the two differ, each with the reason; `*` stands for all fields below.
const DIFFERENT: &[(&str, &str)] = &[
    ("attendance.tickets[].amount", AMOUNT),
    ("donation.recipients[].amount", AMOUNT),
    ("event.ticket_levels[].amount", AMOUNT),
    ("event.ticket_levels[].total_amount", AMOUNT),
    ("event.total_amount", AMOUNT),
    ("fundraising_page.total_amount", AMOUNT),
    (
        "canvass.canvasser",
        "a field of the helper's body, shown as a link (RES-canvass-07)",
    ),
    (
        "canvass.question_response",
        "one is taken as well as several",
    ),
    (
        "question.responses",
        "the suite does not judge one that is sent without a list",
    ),
    (
        "event.location.location.*",
        "a place on the map as in a postal address, which has the rows",
    ),
    (
        "person.employer_address.*",
        "a postal address, which has the rows",
    ),
    (
        "message.*",
        "the rows of messages are those of scheduling; the fields are what a message needs to be sent",
    ),
];

/// Money is exact: a decimal, sent as a number.
const AMOUNT: &str = "money is an exact decimal, sent as a number (TYP-03)";

/// Type and listed values of a field.
type Entry = (String, Vec<String>);

/// The tables of `svc-core`, by resource or shared object and path; `[]` after an array of objects.
fn tables() -> BTreeMap<String, Entry> {
    let mut all = BTreeMap::new();
    for kind in Kind::ALL {
        walk(kind.schema().fields, kind.singular(), "", &mut all);
    }
    all
}

fn walk(object: &ObjectSchema, owner: &str, above: &str, all: &mut BTreeMap<String, Entry>) {
    for field in object.fields {
        all.insert(format!("{owner}.{above}{}", field.name), entry(field));
        // An inline person is a person: its fields are entered once.
        let Some(inner) = field
            .ty
            .object()
            .filter(|_| (owner, field.name) != ("attendance", "person"))
        else {
            continue;
        };
        if let Some((_, shared)) = SHARED.iter().find(|(carrier, _)| *carrier == field.name) {
            walk(inner, shared, "", all);
        } else {
            let array = if matches!(field.ty, ValueType::Array(_)) {
                "[]"
            } else {
                ""
            };
            walk(inner, owner, &format!("{above}{}{array}.", field.name), all);
        }
    }
}

fn entry(field: &FieldSpec) -> Entry {
    let values = match &field.ty {
        ValueType::Enum(values) | ValueType::FlexEnum(values) => {
            values.iter().map(ToString::to_string).collect()
        }
        _ => Vec::new(),
    };
    (type_name(&field.ty), values)
}

/// The fields of resources and shared objects that the catalogue has.
fn rows() -> BTreeMap<String, Entry> {
    let catalogue = Catalogue::built_in().expect("a catalogue");
    let resources = catalogue
        .requirements()
        .iter()
        .filter(|row| row.id.starts_with("RES-"));
    let fields = resources.filter_map(|row| row.field());
    let entry = |field: &EntryCommon| (declared(&field.kind), field.values.clone());
    fields
        .map(|field| (format!("{}.{}", field.owner, field.path), entry(field)))
        .collect()
}

/// A type of the catalogue in the words of a declaration.
fn declared(kind: &Written) -> String {
    match kind {
        Written::Map | Written::Person | Written::Shared(_) => "object".to_owned(),
        Written::SharedList(_) => "object[]".to_owned(),
        other => other.to_string(),
    }
}

#[test]
fn the_catalogue_and_the_tables_of_svc_core_say_the_same() {
    let (tables, rows) = (tables(), rows());
    assert!(rows.len() > 250, "{} rows", rows.len());
    let mut found = Vec::new();
    for (place, (kind, values)) in &rows {
        match tables.get(place) {
            None => found.push(format!("{place}: svc-core has no such field")),
            Some((own, _)) if own != kind => found.push(format!(
                "{place}: {kind} in the catalogue, {own} in svc-core"
            )),
            Some((_, own)) if !values.is_empty() && own != values => {
                found.push(format!(
                    "{place}: {values:?} in the catalogue, {own:?} in svc-core"
                ));
            }
            Some(_) => {}
        }
    }
    let owners: Vec<&str> = rows
        .keys()
        .filter_map(|place| place.split('.').next())
        .collect();
    for place in tables.keys().filter(|place| !rows.contains_key(*place)) {
        let owner = place.split('.').next().unwrap_or_default();
        if owners.contains(&owner) {
            found.push(format!("{place}: the catalogue has no such row"));
        }
    }
    let is = |known: &str, difference: &str| {
        let place = difference.split(':').next().unwrap_or_default();
        known
            .strip_suffix('*')
            .map_or(place == known, |start| place.starts_with(start))
    };
    let unknown: Vec<&String> = found
        .iter()
        .filter(|one| !DIFFERENT.iter().any(|(known, _)| is(known, one)))
        .collect();
    assert!(unknown.is_empty(), "{unknown:#?}");
    let over: Vec<&str> = DIFFERENT
        .iter()
        .map(|(known, _)| *known)
        .filter(|known| !found.iter().any(|one| is(known, one)))
        .collect();
    assert_eq!(over, Vec::<&str>::new(), "these do not differ any more");
}
