//! Compares the fields of the catalogue with the tables of `svc-core`. If you change one of them,
//! change the other as well, or add the reason for the difference here.

use std::collections::BTreeMap;

use svc_conformance::catalogue::{
    Catalogue, CatalogueField as EntryCommon, CatalogueType as Written,
};
use svc_core::api::type_name;
use svc_core::model::Kind;
use svc_core::schema::{FieldSpec, ObjectSchema, ValueType};

/// The fields that contain shared objects, with the names of the objects.
const SHARED: &[(&str, &str)] = &[
    ("referrer_data", "referrer_data"),
    ("share_options", "share_options"),
    ("targets", "target"),
    ("target_list", "target"),
    ("postal_addresses", "postal_address"),
    ("email_addresses", "email_address"),
    ("phone_numbers", "phone_number"),
];

/// The differences, each with the reason; `*` is every field below.
const DIFFERENT: &[(&str, &str)] = &[
    ("attendance.tickets[].amount", AMOUNT),
    ("donation.recipients[].amount", AMOUNT),
    ("event.ticket_levels[].amount", AMOUNT),
    ("event.ticket_levels[].total_amount", AMOUNT),
    ("event.total_amount", AMOUNT),
    ("fundraising_page.total_amount", AMOUNT),
    (
        "canvass.canvasser",
        "a field of the helper's body that responses have as a link (RES-canvass-07)",
    ),
    (
        "canvass.question_response",
        "a single value is accepted as well as several",
    ),
    (
        "question.responses",
        "the suite does not test a single value without a list",
    ),
    (
        "event.location.location.*",
        "coordinates as in a postal address, which has the requirements",
    ),
    (
        "person.employer_address.*",
        "a postal address, which has the requirements",
    ),
    (
        "event.ticket_levels[].former_titles",
        "an addition of the reference implementation (RES-event-11)",
    ),
    (
        "message.*",
        "the requirements of messages are those of scheduling; the fields are those that sending \
            a message needs",
    ),
];

/// Amounts are exact decimals, sent as numbers.
const AMOUNT: &str = "money is an exact decimal, sent as a number (TYP-03)";

/// The type and the listed values of a field.
type Entry = (String, Vec<String>);

/// Returns the fields of `svc-core`, by resource or shared object and path; `[]` follows an array
/// of objects.
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
        // An inline person is a person: its fields are listed only once.
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

/// Returns the fields of resources and shared objects in the catalogue.
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

/// Returns a type of the catalogue as a declaration names it.
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
            None => found.push(format!("{place}: svc-core does not have this field")),
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
            found.push(format!(
                "{place}: the catalogue does not have this requirement"
            ));
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
    assert_eq!(
        over,
        Vec::<&str>::new(),
        "these do not differ; remove them from the list"
    );
}
