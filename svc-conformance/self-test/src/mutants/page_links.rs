//! The target of `next` in each collection, pages against the published limits, and limits of what
//! is recorded.

use serde_json::Value;
use svc_conformance::ids;

use super::table::MutationStep::{
    Above, Add, Asked, Copy, Drop, Has, Is, Pop, Replace, Set, Status, Swap, Text, Value as With,
};
use super::table::MutationTarget::{Answers, Pages, Records, Sent};
use super::table::TriggerRequest::{Collection, Helper, Record};
use super::table::{MutationRow, line, table};
use super::{Mutant, MutationPoint};

const NEXT: &str = "_links.next.href";

/// Increments `page=<n>`.
fn later(href: &str) -> String {
    let raised = |pair: &str| match pair
        .strip_prefix("page=")
        .and_then(|number| number.parse::<u64>().ok())
    {
        Some(number) => format!("page={}", number.saturating_add(1)),
        None => pair.to_owned(),
    };
    let Some((path, query)) = href.split_once('?') else {
        return href.to_owned();
    };
    let pairs: Vec<String> = query.split('&').map(raised).collect();
    format!("{path}?{}", pairs.join("&"))
}

fn without_query(href: &str) -> String {
    href.split('?').next().unwrap_or_default().to_owned()
}

/// Removes repeated keys from a question's responses.
fn unique(list: &mut Value) {
    let mut keys: Vec<Value> = Vec::new();
    for response in list
        .as_array_mut()
        .into_iter()
        .flatten()
        .filter_map(Value::as_object_mut)
    {
        if response.get("key").is_some_and(|key| keys.contains(key)) {
            response.remove("key");
        }
        keys.extend(response.get("key").cloned());
    }
}

/// Reduces the names of responses to letters and digits.
fn named(list: &mut Value) {
    for response in list.as_array_mut().into_iter().flatten() {
        if let Some(Value::String(name)) = response.get_mut("name") {
            name.retain(|one| one.is_ascii_alphanumeric());
        }
    }
}

const PAGING: &[MutationRow] = &[
    line(
        "next of people skips a page",
        "COL-24 COL-23",
        Pages("person"),
        &[Text(NEXT, later)],
    ),
    line(
        "next of petitions skips a page",
        "COL-24 COL-23",
        Pages("petition"),
        &[Text(NEXT, later)],
    ),
    line(
        "next of events skips a page",
        "COL-24 COL-23",
        Pages("event"),
        &[Text(NEXT, later)],
    )
    .on_reference(),
    line(
        "next of questions skips a page",
        "COL-24 COL-23",
        Pages("question"),
        &[Text(NEXT, later)],
    ),
    line(
        "next of donations skips a page",
        "COL-24 COL-23",
        Pages("donation"),
        &[Text(NEXT, later)],
    ),
    line(
        "next of tags skips a page",
        "COL-24 COL-23",
        Pages("tag"),
        &[Text(NEXT, later)],
    )
    .on_reference(),
    line(
        "next of attendances skips a page",
        "COL-24 COL-23",
        Pages("attendance"),
        &[Text(NEXT, later)],
    ),
    line(
        "next of submissions skips a page",
        "COL-24 COL-23",
        Pages("submission"),
        &[Text(NEXT, later)],
    )
    .on_reference(),
    line(
        "next of taggings skips a page",
        "COL-24 COL-23",
        Pages("tagging"),
        &[Text(NEXT, later)],
    ),
    line(
        "next of people links to the page itself",
        "COL-24 COL-23",
        Pages("person"),
        &[Has(NEXT), Copy("_links.self.href", NEXT)],
    ),
    line(
        "next of forms links to the first page",
        "COL-24 COL-23",
        Pages("form"),
        &[Text(NEXT, without_query)],
    ),
    line(
        "people have no next page",
        "COL-24 COL-23 COL-20",
        Pages("person"),
        &[Drop("_links.next")],
    )
    .on_reference(),
    line(
        "forms have no next page",
        "COL-24 COL-23 COL-20",
        Pages("form"),
        &[Drop("_links.next")],
    ),
    line(
        "next of people is under another parameter",
        ids::COL_24,
        Pages("person"),
        &[Replace(NEXT, "?page=", "?p=")],
    ),
    line(
        "the second page of people has page number 1",
        ids::COL_22,
        Pages("person"),
        &[Above("page", 1.0), Set("page", "1")],
    ),
    line(
        "the second page of petitions has page number 3",
        ids::COL_22,
        Pages("petition"),
        &[Above("page", 1.0), Add("page", 1)],
    )
    .on_reference(),
    line(
        "the second page of people lacks a member",
        "COL-24 COL-23",
        Pages("person"),
        &[
            Is("page", "2"),
            Has("_links.next"),
            Pop("_embedded.*"),
            Pop("_links.svc:people"),
        ],
    ),
    line(
        "the first page of people lacks a member",
        "COL-24 COL-23",
        Pages("person"),
        &[
            Has("_links.next"),
            Pop("_embedded.*"),
            Pop("_links.svc:people"),
        ],
    )
    .on_reference(),
    line(
        "the second page of people counts another total",
        "COL-23 COL-20",
        Pages("person"),
        &[Is("page", "2"), Add("total_records", 1)],
    ),
    line(
        "self of later pages of people is the first page",
        ids::COL_27,
        Pages("person"),
        &[Above("page", 1.0), Text("_links.self.href", without_query)],
    ),
    line(
        "the second page of tags is as long as is asked for",
        "COL-24 LIM-01 COL-21",
        Pages("tag"),
        &[
            Asked("page=2"),
            Set("per_page", "5000"),
            Set("total_pages", "1"),
        ],
    ),
    line(
        "a page of as many as are asked for",
        "LIM-01 COL-21",
        Pages("*"),
        &[
            Asked("per_page=500"),
            Set("per_page", "500"),
            Set("total_pages", "1"),
        ],
    )
    .at(MutationPoint::Backend),
    line(
        "page 0 is answered as page 0",
        ids::COL_22,
        Answers("GET", Collection("*")),
        &[
            Asked("page=0"),
            Swap(200),
            Drop("svc:error"),
            Set("page", "0"),
            Set("per_page", "20"),
            Set("total_records", "1000"),
            Set("total_pages", "50"),
            Set("_links", "{}"),
        ],
    ),
    line(
        "page -1 is an unexpected error of its own form",
        "ERR-01 ERR-05",
        Answers("GET", Collection("*")),
        &[
            Asked("page=-1"),
            Swap(500),
            Drop("svc:error"),
            Set("message", "OFFSET must not be negative"),
        ],
    )
    .on_reference(),
    line(
        "a page after the last has a next page",
        ids::COL_24,
        Pages("*"),
        &[
            Asked("page=99999"),
            Set(
                "_links.next",
                "{\"href\": \"http://crm.example.org/rest/all/people?page=3\"}",
            ),
        ],
    ),
    line(
        "a page after the last counts nothing",
        ids::COL_23,
        Pages("*"),
        &[
            Asked("page=99999"),
            Set("total_records", "0"),
            Set("total_pages", "0"),
        ],
    ),
];

const LIMITS: &[MutationRow] = &[
    line(
        "the attendance helper knows no capacity",
        ids::LIM_04,
        Answers("POST", Helper("attendance")),
        &[
            Is(
                "svc:error.resource_status[0].error_descriptions[0].error_code",
                "EVENT_IS_FULL",
            ),
            Swap(200),
            Drop("svc:error"),
            Set("identifiers", "[\"second:0\"]"),
        ],
    ),
    line(
        "a capacity of 1 is none",
        ids::LIM_04,
        Sent("*", Collection("event")),
        &[Is("capacity", "1"), Set("capacity", "9001")],
    )
    .and(
        Records("event"),
        &[Is("capacity", "9001"), Set("capacity", "1")],
    ),
    line(
        "a lowered capacity is not enforced",
        ids::LIM_04,
        Sent("PUT", Record("event")),
        &[Has("capacity"), Set("capacity", "9001")],
    )
    .and(
        Records("event"),
        &[Is("capacity", "9001"), Set("capacity", "1")],
    ),
    line(
        "the attendance helper knows no limit of tickets",
        ids::LIM_05,
        Answers("POST", Helper("attendance")),
        &[
            Is(
                "svc:error.resource_status[0].error_descriptions[0].error_code",
                "SOLD_OUT",
            ),
            Swap(200),
            Drop("svc:error"),
            Set("identifiers", "[\"second:0\"]"),
        ],
    ),
    line(
        "only the first level of tickets has a limit",
        ids::LIM_05,
        Sent("*", Collection("event")),
        &[
            Is("ticket_levels[1].limit", "2"),
            Set("ticket_levels[1].limit", "9001"),
        ],
    ),
    line(
        "a limit of tickets binds each sale alone",
        ids::LIM_05,
        Answers("POST", Collection("attendance")),
        &[
            Status(400),
            Is(
                "svc:error.resource_status[0].error_descriptions[0].error_code",
                "SOLD_OUT",
            ),
            Swap(201),
            Drop("svc:error"),
            Set("identifiers", "[\"second:0\"]"),
        ],
    ),
    line(
        "keys of responses may repeat on update",
        "LIM-06 ERR-40 RES-question-08",
        Sent("PUT", Record("question")),
        &[With("responses", unique)],
    ),
    line(
        "names of responses are not checked on update",
        ids::ERR_36,
        Sent("PUT", Record("question")),
        &[With("responses", named)],
    ),
    line(
        "an empty key of a response is taken",
        ids::RES_QUESTION_08,
        Sent("*", Collection("question")),
        &[Is("responses[0].key", ""), Set("responses[0].key", "k9001")],
    )
    .and(
        Records("question"),
        &[Is("responses[0].key", "k9001"), Set("responses[0].key", "")],
    ),
    line(
        "a key with a blank at its end is taken",
        ids::RES_QUESTION_08,
        Sent("*", Collection("question")),
        &[
            Is("responses[0].key", "a1 "),
            Set("responses[0].key", "k9002"),
        ],
    )
    .and(
        Records("question"),
        &[
            Is("responses[0].key", "k9002"),
            Set("responses[0].key", "a1 "),
        ],
    ),
];

/// Accepts an invalid phone number and returns it unchanged. The server stores a valid one instead.
macro_rules! phone {
    ($name:literal, $method:literal $to:expr, $place:literal, $sent:literal is $kept:literal) => {
        line(
            $name,
            "LIM-03 RES-phone_number-03",
            Sent($method, $to),
            &[
                Is($place, concat!("\"", $sent, "\"")),
                Set($place, concat!("\"", $kept, "\"")),
            ],
        )
        .and(
            Records("person"),
            &[
                Is("phone_numbers[0].number", concat!("\"", $kept, "\"")),
                Set("phone_numbers[0].number", concat!("\"", $sent, "\"")),
            ],
        )
    };
}

const PHONES: &[MutationRow] = &[
    phone!("a phone number with an extension is accepted", "POST" Collection("person"), "phone_numbers[0].number",
        "15550100103x7" is "1555010010307"),
    phone!("a phone number with a leading blank is accepted", "POST" Collection("person"), "phone_numbers[0].number",
        " 15550100104" is "1555010010400"),
    phone!("a phone number in other digits is accepted", "POST" Collection("person"), "phone_numbers[0].number",
        "\u{661}\u{665}\u{665}" is "1555010010500"),
    phone!("phone numbers are not checked on update", "PUT" Record("person"), "phone_numbers[0].number",
        "+1 (555) 010-0101" is "1555010010600"),
    phone!("helpers do not check phone numbers", "POST" Helper("*"), "person.phone_numbers[0].number",
        "+1 (555) 010-0101" is "1555010010700"),
];

pub(super) fn faults() -> Vec<Mutant> {
    [
        table("next page", PAGING),
        table("limits", LIMITS),
        table("limits", PHONES),
    ]
    .concat()
}
