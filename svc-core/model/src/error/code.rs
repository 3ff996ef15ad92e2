//! The closed list of error codes (Annex C): this file holds all that is said of each.

use std::fmt;

/// Declares [`ErrorCode`]: wire name, HTTP status and the sentences that explain each code, written
/// once.
macro_rules! codes {
    ($( #[doc = $meaning:literal] $(#[doc = $more:literal])* $name:ident = $wire:literal, $status:literal, cause $cause:literal, mend $mend:literal; )+) => {
        /// Machine-readable reason of a failure (ERR-24, Annex C). The list is closed: one
        /// documentation page per code.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum ErrorCode {
            $( #[doc = $meaning] $(#[doc = $more])* $name, )+
        }

        impl ErrorCode {
            /// Every code, in the order of the table.
            pub const ALL: &'static [ErrorCode] = &[$(ErrorCode::$name),+];

            /// The name on the wire, in upper snake case.
            ///
            /// Requirements: ERR-24.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(ErrorCode::$name => $wire),+ }
            }

            /// The HTTP status that goes with the code.
            ///
            /// Requirements: ERR-19, ERR-22.
            #[must_use]
            pub const fn status(self) -> u16 {
                match self { $(ErrorCode::$name => $status),+ }
            }

            /// What the code means, in a sentence for a client.
            ///
            /// Requirements: ERR-25.
            #[must_use]
            pub const fn meaning(self) -> &'static str {
                match self { $(ErrorCode::$name => $meaning.trim_ascii()),+ }
            }

            /// Why it comes, in a sentence for the page of the code.
            #[must_use]
            pub const fn cause(self) -> &'static str {
                match self { $(ErrorCode::$name => $cause),+ }
            }

            /// What a client does then, in a sentence for the page of the code.
            #[must_use]
            pub const fn mend(self) -> &'static str {
                match self { $(ErrorCode::$name => $mend),+ }
            }
        }
    };
}

codes! {
    /// One field has a value that it cannot take.
    FieldInvalid = "FIELD_INVALID", 400,
        cause "The value has another type than the field, or breaks a rule of it. `properties` names the field by its path.",
        mend "Look the field up on the page of its resource, and send a value of its type.";
    /// A field that this server needs is missing.
    FieldRequired = "FIELD_REQUIRED", 400,
        cause "A create leaves out a field or a link that it must have.",
        mend "Send the field or link that `properties` names.";
    /// The body has a property that is none of what is written.
    ///
    /// Row: UND-22.
    PropertyUnknown = "PROPERTY_UNKNOWN", 400,
        cause "Nothing here has this name. It is an error where the request has `Prefer: handling=strict`, else a warning beside the answer.",
        mend "Correct the name, which `hint` may tell, or leave the property out.";
    /// The body has a property that only the server sets.
    ///
    /// Row: UND-22.
    PropertyReadOnly = "PROPERTY_READ_ONLY", 400,
        cause "The server keeps this property itself, such as dates, sums and most links. It is an error where the request has `Prefer: handling=strict`.",
        mend "Leave the property out.";
    /// The body says the same thing twice, and one of both counts.
    ///
    /// Row: UND-22.
    PropertyOverruled = "PROPERTY_OVERRULED", 400,
        cause "Two properties stand for the same thing, such as a link in `_links` and one beside it. The description names the one that counts.",
        mend "Send one of both.";
    /// The body is not JSON that this server reads.
    JsonInvalid = "JSON_INVALID", 400,
        cause "The body is cut off, has a comma or quote too many, or is nested deeper or larger than this server reads.",
        mend "Let a JSON library write the body, and stay within the limits.";
    /// An object in the body has the same key twice.
    DuplicateKey = "DUPLICATE_KEY", 400,
        cause "Two members of one object have the same name, so that it is not clear which counts.",
        mend "Send each name once.";
    /// The request needs a JSON body and has none.
    BodyMissing = "BODY_MISSING", 400,
        cause "The request came without a body, or with its fields in the address.",
        mend "Send the fields as a JSON object with `Content-Type: application/json`.";
    /// The HTTP request itself is ambiguous or not meant for this server.
    ///
    /// Row: UND-34.
    RequestInvalid = "REQUEST_INVALID", 400,
        cause "The request names two hosts or two keys, another host, or a method that no resource has.",
        mend "Send one `Host` and one key, to the addresses that links lead to. A proxy in between may be at fault.";
    /// The header `Idempotency-Key` holds no key.
    ///
    /// Row: IDM-05.
    IdempotencyKeyInvalid = "IDEMPOTENCY_KEY_INVALID", 400,
        cause "The header `Idempotency-Key` is empty, stands there twice, or holds more than 255 characters or others than printable ones of ASCII.",
        mend "Send one key, such as a random UUID, in quotes or without: `Idempotency-Key: \"8e03978e-40d5-43dd-bc93-6894a57f9324\"`.";
    /// A paging parameter is not a number that a page can have.
    PageInvalid = "PAGE_INVALID", 400,
        cause "`page` or `per_page` is not a whole number from 1.",
        mend "Follow the `next` link instead of counting, or send a number from 1.";
    /// The cursor is none that the change feed gave to this key's tenant.
    ///
    /// Row: SYN-07.
    CursorInvalid = "CURSOR_INVALID", 400,
        cause "`after` was cut off or put together by hand, or is a cursor of another server, collection or tenant.",
        mend "Follow `next` and `last` links as they are. Without one, begin anew: note `last` of the change feed, read the collections, then follow it.";
    /// A filter or an order is not one that this collection has.
    ///
    /// Row: FLT-03.
    FilterInvalid = "FILTER_INVALID", 400,
        cause "`filter` does not follow the grammar, names a field that this collection cannot be filtered by, or asks for something that no index leads to; or `order` is no date that the collection can be ordered by.",
        mend "Mend the filter at the character that the description names; the page on filters has the grammar, and the capability document says which fields each collection has.";
    /// Another tag or list already has this name.
    NameInUse = "NAME_IN_USE", 400,
        cause "Names of tags and lists are unique, and this one is taken.",
        mend "Use the record that has the name, or another name.";
    /// Another record of this kind already has this identifier.
    ///
    /// Row: UND-24.
    IdentifierInUse = "IDENTIFIER_IN_USE", 400,
        cause "Identifiers are unique for each kind, and another record has this one.",
        mend "Change that record instead, or send the identifier of the right one.";
    /// The record still has actions or answers and cannot be deleted.
    ///
    /// Row: UND-26.
    HasDependents = "HAS_DEPENDENTS", 400,
        cause "Signatures, donations, answers or the like still belong to the record.",
        mend "Delete these first, or keep the record.";
    /// More than one entry of a list is marked as the primary one.
    MultiplePrimary = "MULTIPLE_PRIMARY", 400,
        cause "Several addresses or numbers of one person are marked as primary.",
        mend "Mark one, or none.";
    /// A link leads to no person of this caller.
    PersonNotFound = "PERSON_NOT_FOUND", 400,
        cause "The link to a person leads to nobody of this tenant: it was deleted, or is from another server.",
        mend "Send the `self` link of a person of this server, or the person itself with a helper.";
    /// A link in the body leads to no record of this caller.
    LinkNotFound = "LINK_NOT_FOUND", 400,
        cause "A link in the body leads to nothing of this tenant, or to another kind of record.",
        mend "Send the `self` link of a record of the right kind.";
    /// An action function needs a person and the call names none.
    ///
    /// Row: UND-29.
    PersonRequired = "PERSON_REQUIRED", 400,
        cause "Tags, lists and answers belong to a person, and the call names none.",
        mend "Send a `person` with the call.";
    /// A ticket has a title that no ticket level of the event has.
    TicketLevelDoesNotExist = "TICKET_LEVEL_DOES_NOT_EXIST", 400,
        cause "The title of a ticket has to be that of a ticket level of the event.",
        mend "Read the event, and send a title from its `ticket_levels`.";
    /// A ticket level has fewer tickets left than were asked for.
    ///
    /// Row: LIM-05.
    TicketLimitExceeded = "TICKET_LIMIT_EXCEEDED", 400,
        cause "Fewer tickets of this level are left than were asked for. None were sold.",
        mend "Ask for fewer tickets, or for those of another level.";
    /// Tickets were sent for an event that has none.
    TicketsNotAllowed = "TICKETS_NOT_ALLOWED", 400,
        cause "The event has the type `open`, or no ticket levels.",
        mend "Leave `tickets` out.";
    /// The event is full.
    ///
    /// Row: LIM-04.
    CapacityExceeded = "CAPACITY_EXCEEDED", 400,
        cause "The event has as many attendances as its `capacity` allows.",
        mend "Ask its organizer, or for another event.";
    /// The event is cancelled.
    ///
    /// Row: RES-event-21.
    EventCancelled = "EVENT_CANCELLED", 400,
        cause "The event takes no attendances any more: its `status` is `cancelled`.",
        mend "Ask its organizer, or for another event.";
    /// The start lies after the end.
    StartDateAfterEndDate = "START_DATE_AFTER_END_DATE", 400,
        cause "The end has to be at the start or later.",
        mend "Exchange the dates, or mend one of them; mind the time zones.";
    /// A Paragraph question takes no responses.
    ///
    /// Row: ERR-35.
    ParagraphCannotHaveResponses = "PARAGRAPH_CANNOT_HAVE_RESPONSES", 400,
        cause "A question of the type `Paragraph` is answered with free text.",
        mend "Leave `responses` out, or make it a `SingleChoice` or `MultiChoice` question.";
    /// A response key has characters other than letters and digits.
    ResponseKeyInvalid = "RESPONSE_KEY_INVALID", 400,
        cause "Keys of responses have letters and digits only.",
        mend "Send such a key.";
    /// Two responses of one question have the same key.
    ///
    /// Row: ERR-40.
    ResponseKeyNotUnique = "RESPONSE_KEY_NOT_UNIQUE", 400,
        cause "A key stands for one response of its question.",
        mend "Give each response its own key.";
    /// A response name has characters that are not allowed.
    ///
    /// Row: ERR-36.
    ResponseNameInvalid = "RESPONSE_NAME_INVALID", 400,
        cause "Names of responses have letters, digits and underscore only.",
        mend "Send such a name; free text belongs into `title`.";
    /// The question has no response with this key.
    ///
    /// Row: HAF-09.
    ResponseKeyDoesNotExist = "RESPONSE_KEY_DOES_NOT_EXIST", 400,
        cause "An answer chose a key that its question does not have.",
        mend "Read the question, and send a `key` from its `responses`.";
    /// A `SingleChoice` question takes one response.
    ///
    /// Row: HAF-09.
    TooManyResponses = "TOO_MANY_RESPONSES", 400,
        cause "An answer chose several responses of a `SingleChoice` question.",
        mend "Send one key in `responses`.";
    /// No tag has this name.
    ///
    /// Row: ERR-37.
    TagNameDoesNotExist = "TAG_NAME_DOES_NOT_EXIST", 400,
        cause "Helpers add existing tags; they make none.",
        mend "Create the tag first, or send the name of one that is there.";
    /// No tag has this address.
    ///
    /// Row: HAF-04.
    TagUriDoesNotExist = "TAG_URI_DOES_NOT_EXIST", 400,
        cause "The address leads to no tag of this tenant.",
        mend "Send the `self` link of a tag.";
    /// No list has this name.
    ///
    /// Row: HAF-05.
    ListNameDoesNotExist = "LIST_NAME_DOES_NOT_EXIST", 400,
        cause "Helpers add to existing lists; they make none.",
        mend "Create the list first, or send the name of one that is there.";
    /// No list has this address.
    ///
    /// Row: HAF-06.
    ListUriDoesNotExist = "LIST_URI_DOES_NOT_EXIST", 400,
        cause "The address leads to no list of this tenant.",
        mend "Send the `self` link of a list.";
    /// No question has this identifier or address.
    ///
    /// Row: HAF-08.
    QuestionDoesNotExist = "QUESTION_DOES_NOT_EXIST", 400,
        cause "The identifier or address leads to no question of this tenant.",
        mend "Send the `self` link of a question, or one of its identifiers.";
    /// The message is not scheduled, so there is nothing to cancel.
    ///
    /// Row: SCH-08.
    MessageNotScheduled = "MESSAGE_NOT_SCHEDULED", 400,
        cause "The message has no schedule, so none can be cancelled.",
        mend "Nothing is to be done.";
    /// The API key is missing or not valid.
    ///
    /// Row: AUT-03.
    KeyInvalid = "KEY_INVALID", 401,
        cause "There is no key in the request, it is misspelt, it has expired, or it was revoked.",
        mend "Send a valid key in the header that the authentication page names.";
    /// The API key may not do this.
    ///
    /// Row: AUT-04.
    KeyNotAllowed = "KEY_NOT_ALLOWED", 403,
        cause "The key is valid, and limited to other kinds or operations, or to reading.",
        mend "Ask the operator of this server for a key with this right.";
    /// Nothing is found at this address.
    ResourceNotFound = "RESOURCE_NOT_FOUND", 404,
        cause "The record was deleted, belongs to another tenant, or never was; or the address was put together by hand.",
        mend "Begin at the entry point, and follow links.";
    /// What follows the cursor is not kept any more.
    ///
    /// Row: SYN-08.
    CursorExpired = "CURSOR_EXPIRED", 410,
        cause "The feed was cut, or has begun anew because the data came from another store or a backup, since the cursor was given.",
        mend "Begin anew: note `last` of the change feed, read the collections, then follow it.";
    /// The body came too slowly.
    ///
    /// Row: UND-17.
    RequestTimeout = "REQUEST_TIMEOUT", 408,
        cause "The connection is slow, or the client stopped sending.",
        mend "Send the request again.";
    /// The record is no longer as the request says that it is.
    ///
    /// Row: ETG-07.
    PreconditionFailed = "PRECONDITION_FAILED", 412,
        cause "The request came with `If-Match` or another condition, and the record was changed since the answer that the entity tag is from. Nothing was done.",
        mend "Read the record again, make the change to what it holds now, and send it with the new `ETag` in `If-Match`.";
    /// The body is larger than this server takes.
    ///
    /// Row: UND-17.
    BodyTooLarge = "BODY_TOO_LARGE", 413,
        cause "The body has more bytes than this server takes.",
        mend "Send less at once; see the limits.";
    /// The body has a media type or a coding that this server does not read.
    ///
    /// Row: UND-27.
    MediaTypeNotSupported = "MEDIA_TYPE_NOT_SUPPORTED", 415,
        cause "The body is not declared as JSON, or is compressed.",
        mend "Send `Content-Type: application/json`, and no `Content-Encoding`.";
    /// The key of the request belongs to another request.
    ///
    /// Row: IDM-04.
    IdempotencyKeyReused = "IDEMPOTENCY_KEY_REUSED", 422,
        cause "A request with this `Idempotency-Key` was answered before, and had another address or body. Nothing was done.",
        mend "Send a new key with each new request, such as a random UUID, and the same key only with the very same request.";
    /// The request changes a record and does not say which state of it.
    ///
    /// Row: ETG-09.
    PreconditionRequired = "PRECONDITION_REQUIRED", 428,
        cause "This server takes changes and deletions only with `If-Match`, so that nobody undoes what somebody else has just written.",
        mend "Read the record, and send its `ETag` in `If-Match`.";
    /// Too many requests of the API key or its tenant wait for changes.
    ///
    /// Row: SYN-13.
    TooManyRequests = "TOO_MANY_REQUESTS", 429,
        cause "As many requests with `Prefer: wait` and event streams are open as this server allows for one key or one tenant.",
        mend "Close those that are not needed, ask without `Prefer: wait`, or repeat the request after the seconds in `Retry-After`.";
    /// This server does not support the operation.
    ///
    /// Row: ERR-07.
    NotImplemented = "NOT_IMPLEMENTED", 500,
        cause "The address is one of the interface, and this server does not offer the operation there.",
        mend "Read the capability document: it names what there is.";
    /// This server does not support the kind of resource in this entry.
    ///
    /// Row: ERR-38.
    NotSupported = "NOT_SUPPORTED", 500,
        cause "A helper call asks for an action function that this server does not have. The rest of the call was done.",
        mend "Leave the function out; the capability document names those that there are.";
    /// Something unexpected went wrong; the reference code leads to the log.
    ///
    /// Row: ERR-05.
    UnexpectedError = "UNEXPECTED_ERROR", 500,
        cause "A fault of the server, not of the request.",
        mend "Send the request again later; quote `reference_code` to the operator if it stays.";
    /// The server cannot answer now; try again later.
    ///
    /// Row: UND-36.
    Unavailable = "UNAVAILABLE", 503,
        cause "The store is busy, full or being looked after.",
        mend "Send the request again after the seconds in `Retry-After`.";
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
