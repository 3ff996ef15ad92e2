//! The error object, and one page for each error code with its cause and how to mend it (Annex C, ERR-18 to ERR-28).

use svc_core::{error::Code, model::Kind, read::Json};

use super::{DocPage, Docs, Entry, Facts, Listing, Subject, open};

/// The page of the error object.
pub(super) fn error_object(docs: &Docs<'_>) -> DocPage {
    let title = docs.api.dialect().relation("error");
    let mut page = open("error", Subject::ErrorObject, title, "What a failed request is answered with.");
    if !docs.api.sends_error_bodies() {
        page.notes.push("401 and 403, and a read of what is not there, have no body on this server.".to_owned());
    }
    page.notes.push("A request that failed names everything that is wrong with it at once.".to_owned());
    let examples = docs.api.style_name() == "examples";
    page.fields = [
        ("request_type", "string", "`atomic`: nothing was done; `non-atomic`: parts of a helper call were"),
        ("response_code", "integer", "The HTTP status; 400 when non-atomic"),
        ("resource_status", "map", "An array: one entry, or for a non-atomic request one for each resource"),
        ("resource_status[].resource", "string", "Relation of the resource"),
        ("resource_status[].response_code", "integer", "The status of this entry"),
        (
            "resource_status[].error_descriptions",
            "map",
            "An array: what is wrong, all at once; absent where nothing is",
        ),
        ("error_descriptions[].error_code", "string", "One of the codes below"),
        ("error_descriptions[].description", "string", "What is wrong, for a human reader"),
        ("error_descriptions[].properties", "string[]", "The properties at fault, such as `responses[2].name`"),
        ("error_descriptions[].hint", "string", "How to mend it"),
        ("error_descriptions[].reference_code", "string", "Leads to this server's log"),
    ]
    .map(|(name, ty, text)| docs.plain(name, ty, text))
    .into();
    if examples {
        page.notes.push(
            "In entries of a non-atomic report, `error_descriptions` is called `errors` and `error_code` is called `code`."
                .to_owned(),
        );
    }
    page.requests = docs.examples().refused().into_iter().collect();
    let entries = Code::ALL.iter().map(|code| Entry::new(docs.href(code.as_str()), code.as_str())).collect();
    page.lists.push(Listing { title: "Codes", entries });
    page
}

/// The page of an error code; `None` when there is no such code.
pub(super) fn page(docs: &Docs<'_>, name: &str) -> Option<DocPage> {
    let code = Code::ALL.iter().copied().find(|code| code.as_str() == name)?;
    let mut page = open(code.as_str(), Subject::ErrorCode, format!("`{code}`"), code.meaning());
    let (cause, mend) = advice(code);
    let rows = [("Status", code.status().to_string()), ("Cause", cause.to_owned()), ("Mend", mend.to_owned())];
    page.facts.push(Facts { title: "Cause and mend", rows: rows.map(|(name, text)| (name.to_owned(), text)).into() });
    page.example = example(docs, code);
    let topic = match code {
        Code::BodyTooLarge | Code::JsonInvalid | Code::PageInvalid | Code::RequestTimeout => Some("limits"),
        Code::KeyInvalid | Code::KeyNotAllowed => Some("authentication"),
        Code::NotImplemented | Code::NotSupported => Some("capabilities"),
        Code::FieldInvalid | Code::FieldRequired => Some("types"),
        Code::PersonNotFound | Code::PersonRequired => Some("matching"),
        _ => None,
    };
    let mut entries = vec![docs.relation("error")];
    entries.extend(topic.map(|topic| docs.entry(topic)));
    page.lists.push(Listing { title: "See also", entries });
    Some(page)
}

/// The error object in which a code comes: of a record, or of one part of a helper call, and with the properties at fault.
fn example(docs: &Docs<'_>, code: Code) -> Option<Json> {
    let in_parts = docs.api.behaviours().contains(&"helper.non_atomic");
    let of_part = PARTS.iter().find(|(known, ..)| *known == code);
    let of_record = RECORDS.iter().find(|(known, ..)| *known == code);
    match (of_part, of_record) {
        (Some((_, kind, property)), _) if in_parts => docs.examples().report(*kind, code, &[property]),
        (Some((_, kind, property)), _) => docs.examples().failure(Some(*kind), code, &[property]),
        (None, Some((_, kind, properties))) => docs.examples().failure(Some(*kind), code, properties),
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
    (Code::TicketLevelDoesNotExist, Kind::Attendance, &["tickets[0].title"]),
    (Code::TicketLimitExceeded, Kind::Attendance, &["tickets"]),
    (Code::TicketsNotAllowed, Kind::Attendance, &["tickets"]),
    (Code::CapacityExceeded, Kind::Attendance, &["status"]),
    (Code::StartDateAfterEndDate, Kind::Event, &["start_date", "end_date"]),
    (Code::ParagraphCannotHaveResponses, Kind::Question, &["question_type", "responses"]),
    (Code::ResponseKeyInvalid, Kind::Question, &["responses[0].key"]),
    (Code::ResponseKeyNotUnique, Kind::Question, &["responses[2].key"]),
    (Code::ResponseNameInvalid, Kind::Question, &["responses[0].name"]),
    (Code::MessageNotScheduled, Kind::Message, &[]),
];

/// Codes of the action functions of a helper, each with the kind of the part that fails and the property that it names.
const PARTS: &[(Code, Kind, &str)] = &[
    (Code::PersonRequired, Kind::Tagging, "add_tags"),
    (Code::TagNameDoesNotExist, Kind::Tagging, "add_tags"),
    (Code::TagUriDoesNotExist, Kind::Tagging, "add_tags_uri"),
    (Code::ListNameDoesNotExist, Kind::Item, "add_lists"),
    (Code::ListUriDoesNotExist, Kind::Item, "add_lists_uri"),
    (Code::QuestionDoesNotExist, Kind::Answer, "add_questions_responses_uri[0].question"),
    (Code::ResponseKeyDoesNotExist, Kind::Answer, "add_questions_responses_uri[0].responses[0]"),
    (Code::TooManyResponses, Kind::Answer, "add_questions_responses_uri[0].responses"),
    (Code::NotSupported, Kind::Tagging, "add_tags"),
];

/// Why a code comes, and what a client does then.
const ADVICE: &[(Code, &str, &str)] = &[
    (
        Code::FieldInvalid,
        "The value has another type than the field, or breaks a rule of it. `properties` names the field by its path.",
        "Look the field up on the page of its resource, and send a value of its type.",
    ),
    (
        Code::FieldRequired,
        "A create leaves out a field or a link that it must have.",
        "Send the field or link that `properties` names.",
    ),
    (
        Code::JsonInvalid,
        "The body is cut off, has a comma or quote too many, or is nested deeper or larger than this server reads.",
        "Let a JSON library write the body, and stay within the limits.",
    ),
    (
        Code::DuplicateKey,
        "Two members of one object have the same name, so that it is not clear which counts.",
        "Send each name once.",
    ),
    (
        Code::BodyMissing,
        "The request came without a body, or with its fields in the address.",
        "Send the fields as a JSON object with `Content-Type: application/json`.",
    ),
    (
        Code::RequestInvalid,
        "The request names two hosts or two keys, another host, or a method that no resource has.",
        "Send one `Host` and one key, to the addresses that links lead to. A proxy in between may be at fault.",
    ),
    (
        Code::PageInvalid,
        "`page` or `per_page` is not a whole number from 1.",
        "Follow the `next` link instead of counting, or send a number from 1.",
    ),
    (
        Code::NameInUse,
        "Names of tags and lists are unique, and this one is taken.",
        "Use the record that has the name, or another name.",
    ),
    (
        Code::IdentifierInUse,
        "Identifiers are unique for each kind, and another record has this one.",
        "Change that record instead, or send the identifier of the right one.",
    ),
    (
        Code::HasDependents,
        "Signatures, donations, answers or the like still belong to the record.",
        "Delete these first, or keep the record.",
    ),
    (Code::MultiplePrimary, "Several addresses or numbers of one person are marked as primary.", "Mark one, or none."),
    (
        Code::PersonNotFound,
        "The link to a person leads to nobody of this tenant: it was deleted, or is from another server.",
        "Send the `self` link of a person of this server, or the person itself with a helper.",
    ),
    (
        Code::LinkNotFound,
        "A link in the body leads to nothing of this tenant, or to another kind of record.",
        "Send the `self` link of a record of the right kind.",
    ),
    (
        Code::PersonRequired,
        "Tags, lists and answers belong to a person, and the call names none.",
        "Send a `person` with the call.",
    ),
    (
        Code::TicketLevelDoesNotExist,
        "The title of a ticket has to be that of a ticket level of the event.",
        "Read the event, and send a title from its `ticket_levels`.",
    ),
    (
        Code::TicketLimitExceeded,
        "Fewer tickets of this level are left than were asked for. None were sold.",
        "Ask for fewer tickets, or for those of another level.",
    ),
    (Code::TicketsNotAllowed, "The event has the type `open`, or no ticket levels.", "Leave `tickets` out."),
    (
        Code::CapacityExceeded,
        "The event has as many attendances as its `capacity` allows.",
        "Ask its organizer, or for another event.",
    ),
    (
        Code::StartDateAfterEndDate,
        "The end has to be at the start or later.",
        "Exchange the dates, or mend one of them; mind the time zones.",
    ),
    (
        Code::ParagraphCannotHaveResponses,
        "A question of the type `Paragraph` is answered with free text.",
        "Leave `responses` out, or make it a `SingleChoice` or `MultiChoice` question.",
    ),
    (Code::ResponseKeyInvalid, "Keys of responses have letters and digits only.", "Send such a key."),
    (Code::ResponseKeyNotUnique, "A key stands for one response of its question.", "Give each response its own key."),
    (
        Code::ResponseNameInvalid,
        "Names of responses have letters, digits and underscore only.",
        "Send such a name; free text belongs into `title`.",
    ),
    (
        Code::ResponseKeyDoesNotExist,
        "An answer chose a key that its question does not have.",
        "Read the question, and send a `key` from its `responses`.",
    ),
    (
        Code::TooManyResponses,
        "An answer chose several responses of a `SingleChoice` question.",
        "Send one key in `responses`.",
    ),
    (
        Code::TagNameDoesNotExist,
        "Helpers add existing tags; they make none.",
        "Create the tag first, or send the name of one that is there.",
    ),
    (Code::TagUriDoesNotExist, "The address leads to no tag of this tenant.", "Send the `self` link of a tag."),
    (
        Code::ListNameDoesNotExist,
        "Helpers add to existing lists; they make none.",
        "Create the list first, or send the name of one that is there.",
    ),
    (Code::ListUriDoesNotExist, "The address leads to no list of this tenant.", "Send the `self` link of a list."),
    (
        Code::QuestionDoesNotExist,
        "The identifier or address leads to no question of this tenant.",
        "Send the `self` link of a question, or one of its identifiers.",
    ),
    (Code::MessageNotScheduled, "The message has no schedule, so none can be cancelled.", "Nothing is to be done."),
    (
        Code::KeyInvalid,
        "There is no key in the request, it is misspelt, it has expired, or it was revoked.",
        "Send a valid key in the header that the authentication page names.",
    ),
    (
        Code::KeyNotAllowed,
        "The key is valid, and limited to other kinds or operations, or to reading.",
        "Ask the operator of this server for a key with this right.",
    ),
    (
        Code::ResourceNotFound,
        "The record was deleted, belongs to another tenant, or never was; or the address was put together by hand.",
        "Begin at the entry point, and follow links.",
    ),
    (Code::RequestTimeout, "The connection is slow, or the client stopped sending.", "Send the request again."),
    (Code::BodyTooLarge, "The body has more bytes than this server takes.", "Send less at once; see the limits."),
    (
        Code::MediaTypeNotSupported,
        "The body is not declared as JSON, or is compressed.",
        "Send `Content-Type: application/json`, and no `Content-Encoding`.",
    ),
    (
        Code::NotImplemented,
        "The address is one of the interface, and this server does not offer the operation there.",
        "Read the capability document: it names what there is.",
    ),
    (
        Code::NotSupported,
        "A helper call asks for an action function that this server does not have. The rest of the call was done.",
        "Leave the function out; the capability document names those that there are.",
    ),
    (
        Code::UnexpectedError,
        "A fault of the server, not of the request.",
        "Send the request again later; quote `reference_code` to the operator if it stays.",
    ),
    (
        Code::Unavailable,
        "The store is busy, full or being looked after.",
        "Send the request again after the seconds in `Retry-After`.",
    ),
];

/// Why a code comes, and what a client does then.
fn advice(code: Code) -> (&'static str, &'static str) {
    let found = ADVICE.iter().find(|(known, ..)| *known == code);
    found.map_or((code.meaning(), ""), |(_, cause, mend)| (cause, mend))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn err_24_each_code_has_one_cause_and_one_mend() {
        let named: Vec<Code> = ADVICE.iter().map(|(code, ..)| *code).collect();
        assert_eq!(named, Code::ALL);
    }
}
