//! The error object, and one page for each error code with its cause and how to mend it (Annex C,
//! ERR-18 to ERR-28).

use svc_core::{error::Code, model::Kind, read::Json};

use super::{DocPage, DocPages, Entry, Facts, Listing, Subject, open};

/// The page of the error object.
pub(super) fn error_object(docs: &DocPages<'_>) -> DocPage {
    let title = docs.api.dialect().relation("error");
    let mut page = open(
        "error",
        Subject::ErrorObject,
        title,
        "What a failed request is answered with.",
    );
    if !docs.api.sends_error_bodies() {
        page.notes.push(
            "401 and 403, and a read of what is not there, have no body on this server.".to_owned(),
        );
    }
    page.notes
        .push("A request that failed names everything that is wrong with it at once.".to_owned());
    let examples = docs.api.style_name() == "examples";
    page.fields = [
        (
            "request_type",
            "string",
            "`atomic`: nothing was done; `non-atomic`: parts of a helper call were",
        ),
        (
            "response_code",
            "integer",
            "The HTTP status; 400 when non-atomic",
        ),
        (
            "resource_status",
            "map",
            "An array: one entry, or for a non-atomic request one for each resource",
        ),
        (
            "resource_status[].resource",
            "string",
            "Relation of the resource",
        ),
        (
            "resource_status[].response_code",
            "integer",
            "The status of this entry",
        ),
        (
            "resource_status[].error_descriptions",
            "map",
            "An array: what is wrong, all at once; absent where nothing is",
        ),
        (
            "error_descriptions[].error_code",
            "string",
            "One of the codes below",
        ),
        (
            "error_descriptions[].description",
            "string",
            "What is wrong, for a human reader",
        ),
        (
            "error_descriptions[].properties",
            "string[]",
            "The properties at fault, such as `responses[2].name`",
        ),
        ("error_descriptions[].hint", "string", "How to mend it"),
        (
            "error_descriptions[].reference_code",
            "string",
            "Leads to this server's log",
        ),
    ]
    .map(|(name, ty, text)| docs.plain(name, ty, text))
    .into();
    if examples {
        page.notes.push(
            "In entries of a non-atomic report, `error_descriptions` is called `errors` and `error_code` is called `code`."
                .to_owned(),
        );
    }
    page.notes.push(format!(
        "With a key, a write whose body has properties that are not taken is answered with a member `{}` beside the rest: an \
         array with what `error_descriptions` has. With the header `Prefer: handling=strict` they are errors.",
        docs.api.dialect().relation("warnings")
    ));
    page.requests = docs.examples().refused().into_iter().collect();
    let entries = Code::ALL
        .iter()
        .map(|code| Entry::new(docs.href(code.as_str()), code.as_str()))
        .collect();
    page.lists.push(Listing {
        title: "Codes",
        entries,
    });
    page
}

/// The page of the member that tells what of a body was not taken.
pub(super) fn warnings(docs: &DocPages<'_>) -> DocPage {
    let title = docs.api.dialect().relation("warnings");
    let summary = "What of a request's body was not taken, beside the answer to it.";
    let mut page = open("warnings", Subject::ErrorObject, title, summary);
    page.notes.push(
        "It stands in the answers to writes with a key, where there is something to tell. With the header `Prefer: \
         handling=strict` the same properties are errors, and nothing is done."
            .to_owned(),
    );
    page.fields = [
        ("[].error_code", "string", "Why it was not taken"),
        ("[].description", "string", "The same, for a human reader"),
        (
            "[].properties",
            "string[]",
            "The property that was not taken",
        ),
        ("[].hint", "string", "The name that was probably meant"),
    ]
    .map(|(name, ty, text)| docs.plain(name, ty, text))
    .into();
    let codes = [
        Code::PropertyUnknown,
        Code::PropertyReadOnly,
        Code::PropertyOverruled,
    ];
    let entries = codes
        .iter()
        .map(|code| Entry::new(docs.href(code.as_str()), code.as_str()))
        .collect();
    page.lists.push(Listing {
        title: "Codes",
        entries,
    });
    page.lists.push(Listing {
        title: "See also",
        entries: vec![docs.relation("error")],
    });
    page
}

/// The page of an error code; `None` when there is no such code.
pub(super) fn page(docs: &DocPages<'_>, name: &str) -> Option<DocPage> {
    let code = Code::ALL
        .iter()
        .copied()
        .find(|code| code.as_str() == name)?;
    let mut page = open(
        code.as_str(),
        Subject::ErrorCode,
        format!("`{code}`"),
        code.meaning(),
    );
    let rows = [
        ("Status", code.status().to_string()),
        ("Cause", code.cause().to_owned()),
        ("Mend", code.mend().to_owned()),
    ];
    page.facts.push(Facts {
        title: "Cause and mend",
        rows: rows.map(|(name, text)| (name.to_owned(), text)).into(),
    });
    page.example = example(docs, code);
    let topic = match code {
        Code::BodyTooLarge | Code::JsonInvalid | Code::PageInvalid | Code::RequestTimeout => {
            Some("limits")
        }
        Code::KeyInvalid | Code::KeyNotAllowed => Some("authentication"),
        Code::NotImplemented | Code::NotSupported => Some("capabilities"),
        Code::FieldInvalid | Code::FieldRequired => Some("types"),
        Code::PreconditionFailed | Code::PreconditionRequired
            if docs.api.conditional_requests().is_some() =>
        {
            Some("conditional_requests")
        }
        Code::IdempotencyKeyInvalid | Code::IdempotencyKeyReused if docs.api.keeps_answers() => {
            Some("idempotency")
        }
        Code::PersonNotFound | Code::PersonRequired => Some("matching"),
        Code::FilterInvalid => Some("filters"),
        _ => None,
    };
    let mut entries = vec![docs.relation("error")];
    entries.extend(topic.map(|topic| docs.entry(topic)));
    page.lists.push(Listing {
        title: "See also",
        entries,
    });
    Some(page)
}

/// The error object in which a code comes: of a record, or of one part of a helper call, and with
/// the properties at fault.
fn example(docs: &DocPages<'_>, code: Code) -> Option<Json> {
    let in_parts = docs.api.behaviours().contains(&"helper.non_atomic");
    let of_part = PARTS.iter().find(|(known, ..)| *known == code);
    let of_record = RECORDS.iter().find(|(known, ..)| *known == code);
    match (of_part, of_record) {
        (Some((_, kind, property)), _) if in_parts => {
            docs.examples().report(*kind, code, &[property])
        }
        (Some((_, kind, property)), _) => docs.examples().failure(Some(*kind), code, &[property]),
        (None, Some((_, kind, properties))) => {
            docs.examples().failure(Some(*kind), code, properties)
        }
        (None, None) => docs.examples().failure(None, code, &[]),
    }
}

/// Codes of records, each with a kind that it comes with and the properties that it names there.
const RECORDS: &[(Code, Kind, &[&str])] = &[
    (Code::FieldInvalid, Kind::Person, &["gender"]),
    (Code::FieldRequired, Kind::Question, &["question_type"]),
    (Code::PageInvalid, Kind::Person, &["page"]),
    (Code::NameInUse, Kind::Tag, &["name"]),
    (Code::IdentifierInUse, Kind::Person, &["identifiers[0]"]),
    (Code::HasDependents, Kind::Petition, &[]),
    (Code::MultiplePrimary, Kind::Person, &["email_addresses"]),
    (Code::PersonNotFound, Kind::Signature, &["_links.person"]),
    (Code::LinkNotFound, Kind::Answer, &["_links.question"]),
    (
        Code::TicketLevelDoesNotExist,
        Kind::Attendance,
        &["tickets[0].title"],
    ),
    (Code::TicketLimitExceeded, Kind::Attendance, &["tickets"]),
    (Code::TicketsNotAllowed, Kind::Attendance, &["tickets"]),
    (Code::CapacityExceeded, Kind::Attendance, &["status"]),
    (
        Code::StartDateAfterEndDate,
        Kind::Event,
        &["start_date", "end_date"],
    ),
    (
        Code::ParagraphCannotHaveResponses,
        Kind::Question,
        &["question_type", "responses"],
    ),
    (
        Code::ResponseKeyInvalid,
        Kind::Question,
        &["responses[0].key"],
    ),
    (
        Code::ResponseKeyNotUnique,
        Kind::Question,
        &["responses[2].key"],
    ),
    (
        Code::ResponseNameInvalid,
        Kind::Question,
        &["responses[0].name"],
    ),
    (Code::MessageNotScheduled, Kind::Message, &[]),
    (Code::PreconditionFailed, Kind::Person, &[]),
    (Code::PreconditionRequired, Kind::Person, &[]),
    (Code::IdempotencyKeyInvalid, Kind::Person, &[]),
    (Code::IdempotencyKeyReused, Kind::Person, &[]),
];

/// Codes of the action functions of a helper, each with the kind of the part that fails and the
/// property that it names.
const PARTS: &[(Code, Kind, &str)] = &[
    (Code::PersonRequired, Kind::Tagging, "add_tags"),
    (Code::TagNameDoesNotExist, Kind::Tagging, "add_tags"),
    (Code::TagUriDoesNotExist, Kind::Tagging, "add_tags_uri"),
    (Code::ListNameDoesNotExist, Kind::Item, "add_lists"),
    (Code::ListUriDoesNotExist, Kind::Item, "add_lists_uri"),
    (
        Code::QuestionDoesNotExist,
        Kind::Answer,
        "add_questions_responses_uri[0].question",
    ),
    (
        Code::ResponseKeyDoesNotExist,
        Kind::Answer,
        "add_questions_responses_uri[0].responses[0]",
    ),
    (
        Code::TooManyResponses,
        Kind::Answer,
        "add_questions_responses_uri[0].responses",
    ),
    (Code::NotSupported, Kind::Tagging, "add_tags"),
];
