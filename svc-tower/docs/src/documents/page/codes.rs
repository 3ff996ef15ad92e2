//! The pages of the error object and of each error code, with its cause and how to fix it.
//!
//! Requirements: ERR-18 to ERR-28.

use svc_core::{error::ErrorCode, model::Kind, read::Json};

use super::{DocLinkGroup, DocPage, DocPages, DocReference, DocSubject, DocTable, open};

/// Returns the page of the error object.
pub(super) fn error_object(docs: &DocPages<'_>) -> DocPage {
    let title = docs.api.dialect().relation("error");
    let mut page = open(
        "error",
        DocSubject::ErrorObject,
        title,
        "The body of the response to a failed request.",
    );
    if !docs.api.sends_error_bodies() {
        page.notes.push(
            "On this server, the responses 401, 403, and 404 to a read have no body.".to_owned(),
        );
    }
    page.notes
        .push("The response to a failed request lists all of its problems.".to_owned());
    let examples = docs.api.response_style_name() == "examples";
    page.fields = [
        (
            "request_type",
            "string",
            "`atomic`: nothing was stored; `non-atomic`: parts of a helper call were stored",
        ),
        (
            "response_code",
            "integer",
            "The HTTP status; 400 if non-atomic",
        ),
        (
            "resource_status",
            "map",
            "An array with one entry; for a non-atomic response, with one entry for each resource",
        ),
        (
            "resource_status[].resource",
            "string",
            "The relation of the resource",
        ),
        (
            "resource_status[].response_code",
            "integer",
            "The status of this entry",
        ),
        (
            "resource_status[].error_descriptions",
            "map",
            "An array of all problems; absent if there are none",
        ),
        (
            "error_descriptions[].error_code",
            "string",
            "One of the codes below",
        ),
        (
            "error_descriptions[].description",
            "string",
            "A description of the problem, for people to read",
        ),
        (
            "error_descriptions[].properties",
            "string[]",
            "The properties that have the problem, such as `responses[2].name`",
        ),
        ("error_descriptions[].hint", "string", "How to fix it"),
        (
            "error_descriptions[].reference_code",
            "string",
            "Identifies an entry in the log of this server",
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
        "If a write with a key has a body with ignored members, the response has an additional member `{}`. It is an \
         array like `error_descriptions`. With the header `Prefer: handling=strict`, such members are errors. The member \
         also warns about e-mail addresses that another person has.",
        docs.api.dialect().relation("warnings")
    ));
    page.requests = docs.examples().refused().into_iter().collect();
    let entries = ErrorCode::ALL
        .iter()
        .map(|code| DocReference::new(docs.href(code.as_str()), code.as_str()))
        .collect();
    page.link_groups.push(DocLinkGroup {
        title: "Codes",
        entries,
    });
    page
}

/// Returns the page of the member that lists the warnings of a response.
pub(super) fn warnings(docs: &DocPages<'_>) -> DocPage {
    let title = docs.api.dialect().relation("warnings");
    let summary = "What the server ignored or omitted of a request body, and the e-mail addresses that another person also has.";
    let mut page = open("warnings", DocSubject::ErrorObject, title, summary);
    page.notes.push(
        "The response to a write with a key has this member if the server ignored members of the body. With the header \
         `Prefer: handling=strict`, such members are errors, and nothing is stored."
            .to_owned(),
    );
    page.notes.push(format!(
        "If the key may read people, the response also warns about e-mail addresses that another person has. This is not an \
         error, also with the header. The code is `{}`. With an `Idempotency-Key` there is no link to that person, because the \
         response is stored.",
        ErrorCode::AddressShared
    ));
    page.notes.push(format!(
        "A helper request is executed, also if its person has more entries in a list than the server can store. If the \
         request has a key, the response warns about the entries that were omitted. The code is `{}`.",
        ErrorCode::EntriesOmitted
    ));
    let person = docs.api.dialect().relation(Kind::Person.singular());
    let link = format!("[]._links.{person}.href");
    page.fields = [
        ("[].error_code", "string", "The reason of the warning"),
        (
            "[].description",
            "string",
            "The same, as a text for people to read",
        ),
        (
            "[].properties",
            "string[]",
            "The path of the ignored member or the address",
        ),
        ("[].hint", "string", "The name that was probably intended"),
        (&*link, "string", "The other person with the address"),
    ]
    .map(|(name, ty, text)| docs.plain(name, ty, text))
    .into();
    let codes = [
        ErrorCode::PropertyUnknown,
        ErrorCode::PropertyReadOnly,
        ErrorCode::PropertyOverruled,
        ErrorCode::PropertyEmpty,
        ErrorCode::AddressShared,
        ErrorCode::EntriesOmitted,
    ];
    let entries = codes
        .iter()
        .map(|code| DocReference::new(docs.href(code.as_str()), code.as_str()))
        .collect();
    page.link_groups.push(DocLinkGroup {
        title: "Codes",
        entries,
    });
    page.link_groups.push(DocLinkGroup {
        title: "See also",
        entries: vec![docs.relation("error")],
    });
    page
}

/// Returns the page of an error code; `None` if there is no such code.
pub(super) fn page(docs: &DocPages<'_>, name: &str) -> Option<DocPage> {
    let code = ErrorCode::ALL
        .iter()
        .copied()
        .find(|code| code.as_str() == name)?;
    let mut page = open(
        code.as_str(),
        DocSubject::ErrorCode,
        format!("`{code}`"),
        code.meaning(),
    );
    let rows = [
        ("Status", code.status().to_string()),
        ("Cause", code.cause().to_owned()),
        ("How to fix it", code.remedy().to_owned()),
    ];
    page.tables.push(DocTable {
        title: "Cause and solution",
        rows: rows.map(|(name, text)| (name.to_owned(), text)).into(),
    });
    page.example = example(docs, code);
    let topic = match code {
        ErrorCode::BodyTooLarge
        | ErrorCode::JsonInvalid
        | ErrorCode::PageInvalid
        | ErrorCode::RequestTimeout => Some("limits"),
        ErrorCode::KeyInvalid | ErrorCode::KeyNotAllowed => Some("authentication"),
        ErrorCode::NotImplemented | ErrorCode::NotSupported => Some("capabilities"),
        ErrorCode::FieldInvalid | ErrorCode::FieldRequired => Some("types"),
        ErrorCode::PreconditionFailed | ErrorCode::PreconditionRequired
            if docs.api.if_match_policy().is_some() =>
        {
            Some("conditional_requests")
        }
        ErrorCode::IdempotencyKeyInvalid | ErrorCode::IdempotencyKeyReused
            if docs.api.supports_idempotency() =>
        {
            Some("idempotency")
        }
        ErrorCode::PersonNotFound | ErrorCode::PersonRequired => Some("matching"),
        ErrorCode::FilterInvalid => Some("filters"),
        _ => None,
    };
    let mut entries = vec![docs.relation("error")];
    entries.extend(topic.map(|topic| docs.entry(topic)));
    page.link_groups.push(DocLinkGroup {
        title: "See also",
        entries,
    });
    Some(page)
}

/// Returns an example of an error object with a code: that of a record, or of one part of a helper
/// call. It names the properties that have the problem.
fn example(docs: &DocPages<'_>, code: ErrorCode) -> Option<Json> {
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

/// The codes of records, each with a kind and the properties that the example names.
const RECORDS: &[(ErrorCode, Kind, &[&str])] = &[
    (ErrorCode::FieldInvalid, Kind::Person, &["gender"]),
    (ErrorCode::FieldRequired, Kind::Question, &["question_type"]),
    (ErrorCode::PageInvalid, Kind::Person, &["page"]),
    (ErrorCode::PersonEmpty, Kind::Person, &["email"]),
    (ErrorCode::PropertyEmpty, Kind::Person, &["gender"]),
    (
        ErrorCode::AddressShared,
        Kind::Person,
        &["email_addresses[0].address"],
    ),
    (
        ErrorCode::EntriesOmitted,
        Kind::Person,
        &["person.email_addresses"],
    ),
    (ErrorCode::ParameterUnknown, Kind::Person, &["limit"]),
    (ErrorCode::NameInUse, Kind::Tag, &["name"]),
    (
        ErrorCode::IdentifierInUse,
        Kind::Person,
        &["identifiers[0]"],
    ),
    (ErrorCode::HasDependents, Kind::Petition, &[]),
    (
        ErrorCode::MultiplePrimary,
        Kind::Person,
        &["email_addresses"],
    ),
    (
        ErrorCode::PersonNotFound,
        Kind::Signature,
        &["_links.person"],
    ),
    (ErrorCode::LinkNotFound, Kind::Answer, &["_links.question"]),
    (
        ErrorCode::TicketLevelDoesNotExist,
        Kind::Attendance,
        &["tickets[0].title"],
    ),
    (
        ErrorCode::TicketLimitExceeded,
        Kind::Attendance,
        &["tickets"],
    ),
    (ErrorCode::TicketsNotAllowed, Kind::Attendance, &["tickets"]),
    (ErrorCode::CapacityExceeded, Kind::Attendance, &["status"]),
    (
        ErrorCode::StartDateAfterEndDate,
        Kind::Event,
        &["start_date", "end_date"],
    ),
    (
        ErrorCode::ParagraphCannotHaveResponses,
        Kind::Question,
        &["question_type", "responses"],
    ),
    (
        ErrorCode::ResponseKeyInvalid,
        Kind::Question,
        &["responses[0].key"],
    ),
    (
        ErrorCode::ResponseKeyNotUnique,
        Kind::Question,
        &["responses[2].key"],
    ),
    (
        ErrorCode::ResponseNameInvalid,
        Kind::Question,
        &["responses[0].name"],
    ),
    (ErrorCode::MessageNotScheduled, Kind::Message, &[]),
    (ErrorCode::PreconditionFailed, Kind::Person, &[]),
    (ErrorCode::PreconditionRequired, Kind::Person, &[]),
    (ErrorCode::IdempotencyKeyInvalid, Kind::Person, &[]),
    (ErrorCode::IdempotencyKeyReused, Kind::Person, &[]),
];

/// The codes of action functions, each with the kind of the part that fails and the property that
/// it names.
const PARTS: &[(ErrorCode, Kind, &str)] = &[
    (ErrorCode::PersonRequired, Kind::Tagging, "add_tags"),
    (ErrorCode::TagNameDoesNotExist, Kind::Tagging, "add_tags"),
    (ErrorCode::TagUriDoesNotExist, Kind::Tagging, "add_tags_uri"),
    (ErrorCode::ListNameDoesNotExist, Kind::Item, "add_lists"),
    (ErrorCode::ListUriDoesNotExist, Kind::Item, "add_lists_uri"),
    (
        ErrorCode::QuestionDoesNotExist,
        Kind::Answer,
        "add_questions_responses_uri[0].question",
    ),
    (
        ErrorCode::ResponseKeyDoesNotExist,
        Kind::Answer,
        "add_questions_responses_uri[0].responses[0]",
    ),
    (
        ErrorCode::TooManyResponses,
        Kind::Answer,
        "add_questions_responses_uri[0].responses",
    ),
    (ErrorCode::NotSupported, Kind::Tagging, "add_tags"),
];
