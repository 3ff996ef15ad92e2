//! The contents of error descriptions: codes, properties, and whether they fit the problem.

use serde_json::Value;
use svc_conformance::ids;

use super::table::MutationStep::{
    Cut, Drop, Has, Is, Not, Replace, Set, Status, Text, Value as With,
};
use super::table::MutationTarget::{Answers, Descriptions, Entries, Errors, Sent};
use super::table::TriggerRequest::{Any, Collection, Helper};
use super::table::{MutationRow, line, table};
use super::{BaseServer, Mutant};

const FAMILY: &str = "error codes";
const DESCRIPTIONS: &str = "svc:error.resource_status[].error_descriptions";

/// Replaces the index 1 in a property by 0, except in those of responses.
fn first_index(property: &str) -> String {
    if property.starts_with("responses") {
        property.to_owned()
    } else {
        property.replace("[1]", "[0]")
    }
}

fn two_digits(property: &str) -> String {
    property.replace("[10]", "[1]")
}

/// Adds names of other members of the body to the properties.
fn more(properties: &mut Value) {
    if let Some(list) = properties.as_array_mut().filter(|list| list.len() == 1) {
        list.extend(["origin_system", "identifiers", "given_name", "title"].map(Value::from));
    }
}

/// Gives each description the properties of the next one.
fn rotated(list: &mut Value) {
    let Some(list) = list.as_array_mut().filter(|list| list.len() > 1) else {
        return;
    };
    let properties: Vec<Value> = list
        .iter()
        .filter_map(|one| one.get("properties").cloned())
        .collect();
    for (one, properties) in list.iter_mut().zip(properties.iter().cycle().skip(1)) {
        if let Some(one) = one.as_object_mut() {
            one.insert("properties".to_owned(), properties.clone());
        }
    }
}

/// Removes blanks at the end of the names of responses.
fn trimmed(list: &mut Value) {
    for response in list.as_array_mut().into_iter().flatten() {
        if let Some(Value::String(name)) = response.get_mut("name") {
            *name = name.trim_end().to_owned();
        }
    }
}

fn plain(list: &mut Value) {
    for response in list.as_array_mut().into_iter().flatten() {
        if let Some(Value::String(name)) = response
            .get_mut("name")
            .filter(|name| name.as_str().is_some_and(|name| !name.is_ascii()))
        {
            "plain".clone_into(name);
        }
    }
}

/// Reports only the first problem of each list of objects.
fn one_of_each_list(list: &mut Value) {
    let Some(list) = list.as_array_mut() else {
        return;
    };
    let mut met: Vec<String> = Vec::new();
    list.retain(|one| {
        let name = one
            .pointer("/properties/0")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let Some((start, _)) = name.split_once('[') else {
            return true;
        };
        let is_new = start.starts_with("responses") || !met.iter().any(|known| known == start);
        met.push(start.to_owned());
        is_new
    });
}

macro_rules! lacking {
    ($name:literal, $rows:literal, $code:literal, $member:literal) => {
        line(
            $name,
            $rows,
            Descriptions,
            &[Is("error_code", $code), Drop($member)],
        )
    };
}

const LINES: &[MutationRow] = &[
    line(
        "descriptions are texts",
        "ERR-23 ERR-24 ERR-12",
        Entries,
        &[Set("error_descriptions[]", "Wrong")],
    ),
    line(
        "descriptions are empty objects",
        "ERR-23 ERR-12 ERR-25",
        Entries,
        &[Set("error_descriptions[]", "{}")],
    )
    .on_reference(),
    line(
        "descriptions are nothing",
        "ERR-23 ERR-12 ERR-25",
        Entries,
        &[Set("error_descriptions[]", "null")],
    ),
    line(
        "descriptions have only properties",
        "ERR-23 ERR-25",
        Entries,
        &[
            Drop("error_descriptions[].error_code"),
            Drop("error_descriptions[].description"),
        ],
    ),
    line(
        "the last of several descriptions is empty",
        "ERR-23 ERR-25 ERR-39",
        Entries,
        &[
            Has("error_descriptions[1]"),
            Set("error_descriptions[-1]", "{}"),
        ],
    ),
    line(
        "a missing record has no code",
        "ERR-16 ERR-23",
        Entries,
        &[
            Is("response_code", "404"),
            Set("error_descriptions", "[{}]"),
        ],
    )
    .on_reference(),
    lacking!(
        "responses of a Paragraph without a description",
        "ERR-25 ERR-35",
        "PARAGRAPH_CANNOT_HAVE_RESPONSES",
        "description"
    ),
    lacking!(
        "names of responses without a description",
        "ERR-25 ERR-36",
        "RESPONSE_NAME_INVALID",
        "description"
    )
    .on_reference(),
    lacking!(
        "unknown tags without a description",
        "ERR-25 ERR-37",
        "TAG_NAME_DOES_NOT_EXIST",
        "description"
    ),
    lacking!(
        "what is not supported without a description",
        "ERR-25 ERR-38",
        "NOT_SUPPORTED",
        "description"
    )
    .over(BaseServer::Reference(|api| {
        api.without_capability("haf.add_lists")
    })),
    line(
        "each wrong value is a bad name of a response",
        ids::ERR_36,
        Descriptions,
        &[
            Is("error_code", "VALUE_NOT_ACCEPTED"),
            Set("error_code", "RESPONSE_NAME_INVALID"),
        ],
    ),
    line(
        "each wrong value is a Paragraph with responses",
        ids::ERR_35,
        Descriptions,
        &[
            Is("error_code", "VALUE_NOT_ACCEPTED"),
            Set("error_code", "PARAGRAPH_CANNOT_HAVE_RESPONSES"),
        ],
    ),
    line(
        "each wrong value is an unknown tag",
        ids::ERR_37,
        Descriptions,
        &[
            Is("error_code", "VALUE_NOT_ACCEPTED"),
            Set("error_code", "TAG_NAME_DOES_NOT_EXIST"),
        ],
    ),
    line(
        "the entry of an atomic error failed unexpectedly",
        "ERR-22 ERR-19",
        Errors,
        &[
            Is("request_type", "atomic"),
            Is("response_code", "400"),
            Set("resource_status[0].response_code", "500"),
        ],
    ),
    line(
        "the entry of an atomic error succeeded",
        "ERR-22 ERR-19",
        Errors,
        &[
            Is("request_type", "atomic"),
            Set("resource_status[0].response_code", "200"),
        ],
    )
    .on_reference(),
    line(
        "the entry of an atomic error was not found",
        "ERR-22 ERR-19",
        Errors,
        &[
            Is("request_type", "atomic"),
            Is("response_code", "400"),
            Set("resource_status[0].response_code", "404"),
        ],
    ),
    line(
        "every element of a list is the first",
        ids::ERR_26,
        Descriptions,
        &[Text("properties[]", first_index)],
    ),
    line(
        "every element of a list is the first in the reference server",
        ids::ERR_26,
        Descriptions,
        &[Text("properties[]", first_index)],
    )
    .on_reference(),
    line(
        "the eleventh response is the second",
        "ERR-36 ERR-26",
        Descriptions,
        &[Text("properties[]", two_digits)],
    ),
    line(
        "properties name what is right, too",
        ids::ERR_26,
        Descriptions,
        &[
            Not("error_code", "PARAGRAPH_CANNOT_HAVE_RESPONSES"),
            With("properties", more),
        ],
    ),
    line(
        "properties name what is right, too, in the reference server",
        ids::ERR_26,
        Descriptions,
        &[
            Not("error_code", "PARAGRAPH_CANNOT_HAVE_RESPONSES"),
            With("properties", more),
        ],
    )
    .on_reference(),
    line(
        "descriptions have each other's properties",
        "ERR-26 ERR-35 ERR-36 ERR-39",
        Entries,
        &[With("error_descriptions", rotated)],
    ),
    line(
        "descriptions have each other's properties in the reference server",
        "ERR-26 ERR-35 ERR-36 ERR-39",
        Entries,
        &[With("error_descriptions", rotated)],
    )
    .on_reference(),
    line(
        "only the first error of an update is reported",
        ids::ERR_39,
        Answers("PUT", Any),
        &[Status(400), Cut(DESCRIPTIONS, 1)],
    ),
    line(
        "only the first error of an update is reported by the reference server",
        ids::ERR_39,
        Answers("PUT", Any),
        &[Status(400), Cut(DESCRIPTIONS, 1)],
    )
    .on_reference(),
    line(
        "only the first error of a helper is reported",
        ids::ERR_39,
        Answers("POST", Helper("*")),
        &[Status(400), Cut(DESCRIPTIONS, 1)],
    ),
    line(
        "only the first error of a list is reported",
        ids::ERR_39,
        Entries,
        &[With("error_descriptions", one_of_each_list)],
    ),
    line(
        "a blank at the end of a name of a response is cut off",
        "ERR-36 ERR-39",
        Sent("POST", Collection("question")),
        &[With("responses", trimmed)],
    ),
    line(
        "names of responses have letters of every language",
        "ERR-36 ERR-39",
        Sent("POST", Collection("question")),
        &[With("responses", plain)],
    ),
    line(
        "an unknown tag next to a known one is ignored",
        "HAF-03 ERR-37",
        Sent("POST", Helper("*")),
        &[With("add_tags", known_first)],
    ),
    line(
        "an unknown list is reported as an unknown tag",
        ids::ERR_37,
        Descriptions,
        &[
            Is("error_code", "LIST_NAME_DOES_NOT_EXIST"),
            Set("error_code", "TAG_NAME_DOES_NOT_EXIST"),
        ],
    ),
    line(
        "an unknown tag is named by its index",
        "ERR-37 HAF-03",
        Descriptions,
        &[
            Is("error_code", "TAG_NAME_DOES_NOT_EXIST"),
            Replace("properties[]", "add_tags", "add_tags[0]"),
        ],
    ),
];

/// Removes the names that are not tags, if there are several names.
fn known_first(list: &mut Value) {
    if let Some(list) = list.as_array_mut().filter(|list| list.len() > 1) {
        list.retain(|name| {
            !name
                .as_str()
                .is_some_and(|name| name.starts_with("no such tag"))
        });
    }
}

pub(super) fn faults() -> Vec<Mutant> {
    table(FAMILY, LINES)
}

/// Codes that a server may use for any problem outside the parts of a helper request.
const FREE: &[MutationRow] = &[
    line(
        "each wrong value is not supported",
        "",
        Descriptions,
        &[
            Is("error_code", "VALUE_NOT_ACCEPTED"),
            Set("error_code", "NOT_SUPPORTED"),
        ],
    ),
    line(
        "each wrong type is not supported",
        "",
        Descriptions,
        &[
            Is("error_code", "FIELD_INVALID"),
            Set("error_code", "NOT_SUPPORTED"),
        ],
    )
    .on_reference(),
    line(
        "each wrong value is not implemented",
        "",
        Descriptions,
        &[
            Is("error_code", "VALUE_NOT_ACCEPTED"),
            Set("error_code", "NOT_IMPLEMENTED"),
        ],
    ),
];

pub(super) fn free() -> Vec<Mutant> {
    table(FAMILY, FREE)
}
