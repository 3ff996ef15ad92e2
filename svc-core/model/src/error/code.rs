//! The closed list of error codes (Annex C), with the texts that explain each code.

use std::fmt;

/// Declares [`ErrorCode`]: the name, the HTTP status and the explanation of each code.
macro_rules! codes {
    ($( #[doc = $meaning:literal] $(#[doc = $more:literal])* $name:ident = $wire:literal, $status:literal, cause $cause:literal, remedy $remedy:literal; )+) => {
        /// Machine-readable reason of a failure. The list is closed (Annex C), and each code has a
        /// documentation page.
        ///
        /// Requirements: ERR-24.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum ErrorCode {
            $( #[doc = $meaning] $(#[doc = $more])* $name, )+
        }

        impl ErrorCode {
            /// Every code, in the order of the table.
            pub const ALL: &'static [ErrorCode] = &[$(ErrorCode::$name),+];

            /// Returns the name in responses, in upper snake case.
            ///
            /// Requirements: ERR-24.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(ErrorCode::$name => $wire),+ }
            }

            /// Returns the HTTP status of the code.
            ///
            /// Requirements: ERR-19, ERR-22.
            #[must_use]
            pub const fn status(self) -> u16 {
                match self { $(ErrorCode::$name => $status),+ }
            }

            /// Returns what the code means, as a sentence for clients.
            ///
            /// Requirements: ERR-25.
            #[must_use]
            pub const fn meaning(self) -> &'static str {
                match self { $(ErrorCode::$name => $meaning.trim_ascii()),+ }
            }

            /// Returns why the error occurs, as text for the page of the code.
            #[must_use]
            pub const fn cause(self) -> &'static str {
                match self { $(ErrorCode::$name => $cause),+ }
            }

            /// Returns how a client can fix the error, as text for the page of the code.
            #[must_use]
            pub const fn remedy(self) -> &'static str {
                match self { $(ErrorCode::$name => $remedy),+ }
            }
        }
    };
}

codes! {
    /// A field has an invalid value.
    FieldInvalid = "FIELD_INVALID", 400,
        cause "The value has the wrong type or breaks a rule of the field. `properties` contains the path of the field.",
        remedy "Look up the field on the page of its resource, and send a valid value.";
    /// A required field is missing.
    FieldRequired = "FIELD_REQUIRED", 400,
        cause "A create request does not contain a field or link that this server requires, or a change clears it. A blank name counts as missing.",
        remedy "Send the field or link that `properties` names.";
    /// The body contains an unknown property.
    ///
    /// Requirements: UND-22.
    PropertyUnknown = "PROPERTY_UNKNOWN", 400,
        cause "The resource has no property with this name. With `Prefer: handling=strict` this is an error, otherwise a warning in the response.",
        remedy "Correct the name (see `hint`), or omit the property.";
    /// The body contains a property that only the server can set.
    ///
    /// Requirements: UND-22.
    PropertyReadOnly = "PROPERTY_READ_ONLY", 400,
        cause "The server sets this property itself, such as dates, totals and most links. With `Prefer: handling=strict` this is an error.",
        remedy "Omit the property.";
    /// Two properties set the same value, and one of them is ignored.
    ///
    /// Requirements: UND-22.
    PropertyOverruled = "PROPERTY_OVERRULED", 400,
        cause "The body sets one value with two properties, for example with a member and with a link in `_links`. The description names the property that is used.",
        remedy "Send only one of them.";
    /// A property has an empty text in place of a value.
    ///
    /// Requirements: UND-47.
    PropertyEmpty = "PROPERTY_EMPTY", 400,
        cause "The text of the property is empty, but its type has no empty value. With `Prefer: handling=strict` this is an error, otherwise the property counts as omitted.",
        remedy "Omit the property.";
    /// The request contains a person of whom nothing is known.
    ///
    /// Requirements: UND-48.
    PersonEmpty = "PERSON_EMPTY", 400,
        cause "The person has no identifier, e-mail address, phone number, name, address, online profile or custom field. The usual cause is a name that this API does not know, such as `email`.",
        remedy "Send at least one of them. If the message names unknown properties, correct their names.";
    /// Another person also has the e-mail address.
    ///
    /// Requirements: HLP-04.
    AddressShared = "ADDRESS_SHARED", 200,
        cause "The request contains an e-mail address that another person also has. Both people have it now, because families share addresses. This is only a warning, also with `Prefer: handling=strict`. Keys without the right to read people do not get it.",
        remedy "Follow the link of the warning to the other person. If both are the same person, merge them.";
    /// Entries of a list were not stored, because the list is full.
    ///
    /// Requirements: HLP-04.
    EntriesOmitted = "ENTRIES_OMITTED", 200,
        cause "The person of a helper request would have more entries in a list than this server can store. The request was executed, the entries that fit were stored, and the others were omitted. This is only a warning, also with `Prefer: handling=strict`. The maximum is `max_items` in the capability document.",
        remedy "To store another entry, change the person: replace the list by the entries that it should have.";
    /// The body is not valid JSON, or exceeds a limit of this server.
    JsonInvalid = "JSON_INVALID", 400,
        cause "The body is incomplete, contains a syntax error such as an extra comma or quote, or exceeds the limits for size or nesting.",
        remedy "Create the body with a JSON library, and stay within the limits.";
    /// An object in the body contains the same key twice.
    DuplicateKey = "DUPLICATE_KEY", 400,
        cause "Two members of one object have the same name, so the value is ambiguous.",
        remedy "Send each name once.";
    /// The request requires a JSON body but has none.
    BodyMissing = "BODY_MISSING", 400,
        cause "The request has no body, or its fields are in the query string.",
        remedy "Send the fields as a JSON object with `Content-Type: application/json`.";
    /// The HTTP request is ambiguous or is not meant for this server.
    ///
    /// Requirements: UND-34.
    RequestInvalid = "REQUEST_INVALID", 400,
        cause "The request names two hosts, two keys, or another host, or uses a method that no resource supports.",
        remedy "Send one `Host` header and one key, and use the URLs of links. Check for a proxy that changes requests.";
    /// The header `Idempotency-Key` is invalid.
    ///
    /// Requirements: IDM-05.
    IdempotencyKeyInvalid = "IDEMPOTENCY_KEY_INVALID", 400,
        cause "The header `Idempotency-Key` is empty, repeated, longer than 255 characters, or not printable ASCII.",
        remedy "Send one key, such as a random UUID, with or without quotes: `Idempotency-Key: \"8e03978e-40d5-43dd-bc93-6894a57f9324\"`.";
    /// A paging parameter is not a valid number.
    PageInvalid = "PAGE_INVALID", 400,
        cause "`page` or `per_page` is not a whole number greater than 0.",
        remedy "Follow the `next` link, or send a whole number greater than 0.";
    /// A query parameter resembles one of the collection, or is unknown with strict handling. It would
    /// otherwise be ignored.
    ///
    /// Requirements: UND-14.
    ParameterUnknown = "PARAMETER_UNKNOWN", 400,
        cause "The query has a parameter whose name another API uses, such as `limit`, or whose name is misspelled. Without this error, the response would contain records that the request does not ask for. With `Prefer: handling=strict`, every unknown parameter of a collection is this error.",
        remedy "Use the parameter that the message names, or omit it.";
    /// The cursor does not belong to this change feed.
    ///
    /// Requirements: SYN-07.
    CursorInvalid = "CURSOR_INVALID", 400,
        cause "`after` is incomplete or was not created by this server, or it is a cursor of another server, collection or tenant.",
        remedy "Use the `next` and `last` links unchanged. Without a cursor, note the `last` link of the change feed, read the collections, then follow the noted link.";
    /// The filter or the order is not valid for this collection.
    ///
    /// Requirements: FLT-03.
    FilterInvalid = "FILTER_INVALID", 400,
        cause "`filter` has a syntax error, names a field that is not filterable in this collection, or needs a comparison that no index supports. Or `order` is not a sortable date of this collection.",
        remedy "Fix the filter at the reported position. The grammar is on the page about filters, and the capability document lists the fields of each collection.";
    /// Another tag or list already has this name.
    NameInUse = "NAME_IN_USE", 400,
        cause "The names of tags and lists must be unique without regard to case, and another record has this name.",
        remedy "Use the record with this name, or choose another name.";
    /// Another record of this kind already has this identifier.
    ///
    /// Requirements: UND-24.
    IdentifierInUse = "IDENTIFIER_IN_USE", 400,
        cause "Identifiers must be unique within a kind, and another record has this one.",
        remedy "Change that record, or send a different identifier.";
    /// Actions or answers refer to the record, or to what the request removes or changes.
    ///
    /// Requirements: UND-26, RES-question-06, RES-question-07, RES-event-10.
    HasDependents = "HAS_DEPENDENTS", 400,
        cause "The request deletes a record with signatures, donations, answers or similar records. Or it changes the type of a question with answers, removes one of its responses, or removes a ticket level with sold tickets.",
        remedy "Delete these records first, or do not delete the record. Send what the error names unchanged.";
    /// More than one entry of a list is marked as primary.
    MultiplePrimary = "MULTIPLE_PRIMARY", 400,
        cause "Several addresses or phone numbers of one person are marked as primary.",
        remedy "Mark at most one entry as primary.";
    /// The linked person does not exist.
    PersonNotFound = "PERSON_NOT_FOUND", 400,
        cause "The tenant has no person with this URL. The person was deleted, or the URL is from another server.",
        remedy "Send the `self` link of a person of this server, or send the person in a helper request.";
    /// A record that the body links to does not exist.
    LinkNotFound = "LINK_NOT_FOUND", 400,
        cause "A link in the body does not identify a record of this tenant, or the record has the wrong kind.",
        remedy "Send the `self` link of a record of the right kind.";
    /// A person cannot be merged into itself.
    MergeSamePerson = "MERGE_SAME_PERSON", 400,
        cause "The person to merge is the person in the address.",
        remedy "Send the link of another person.";
    /// The two people have records that cannot belong to one person.
    MergeConflict = "MERGE_CONFLICT", 400,
        cause "This server allows one record of a kind for each person in a container, and both people have one. Only one of them could remain, and the other one has money or tickets. Nothing was changed.",
        remedy "Move or delete one of the two records, then merge the people.";
    /// The person to merge has too many records.
    MergeTooLarge = "MERGE_TOO_LARGE", 400,
        cause "The merge would move more records than this server moves in one transaction. Nothing was changed.",
        remedy "Merge the two people the other way round.";
    /// The merge of two people can no longer be undone.
    ///
    /// Requirements: MRG-20.
    MergeNotUndoable = "MERGE_NOT_UNDOABLE", 409,
        cause "The time in which the merge could be undone is over, the remaining person was merged into another one, or a later merge into the remaining person was not undone. Nothing was changed.",
        remedy "Undo the later merges first. After the time is over, create the other person again.";
    /// An action function needs a person, and the request has none.
    ///
    /// Requirements: UND-29.
    PersonRequired = "PERSON_REQUIRED", 400,
        cause "Tags, lists and answers need a person, and the request does not contain one.",
        remedy "Send a `person` in the request.";
    /// A ticket has a title that no ticket level of the event has.
    TicketLevelDoesNotExist = "TICKET_LEVEL_DOES_NOT_EXIST", 400,
        cause "The title of each ticket must be the title of a ticket level of the event.",
        remedy "Read the event, and send a title from its `ticket_levels`.";
    /// The ticket level has fewer tickets left than requested.
    ///
    /// Requirements: LIM-05.
    TicketLimitExceeded = "TICKET_LIMIT_EXCEEDED", 400,
        cause "The request asks for more tickets than are left at this level. No tickets were sold.",
        remedy "Request fewer tickets, or tickets of another level.";
    /// The event does not have tickets.
    TicketsNotAllowed = "TICKETS_NOT_ALLOWED", 400,
        cause "The type of the event is `open`, or the event has no ticket levels.",
        remedy "Omit `tickets`.";
    /// The event is full.
    ///
    /// Requirements: LIM-04.
    CapacityExceeded = "CAPACITY_EXCEEDED", 400,
        cause "The event already has as many attendances as its `capacity` allows.",
        remedy "Contact the organizer, or choose another event.";
    /// The event is cancelled.
    ///
    /// Requirements: RES-event-21.
    EventCancelled = "EVENT_CANCELLED", 400,
        cause "The event does not accept attendances because its `status` is `cancelled`.",
        remedy "Contact the organizer, or choose another event.";
    /// The start date is after the end date.
    StartDateAfterEndDate = "START_DATE_AFTER_END_DATE", 400,
        cause "The end date must be equal to the start date or later.",
        remedy "Swap the dates, or correct one of them. Check the time zones.";
    /// A Paragraph question cannot have responses.
    ///
    /// Requirements: ERR-35.
    ParagraphCannotHaveResponses = "PARAGRAPH_CANNOT_HAVE_RESPONSES", 400,
        cause "A question of type `Paragraph` is answered with free text.",
        remedy "Omit `responses`, or use the type `SingleChoice` or `MultiChoice`.";
    /// A response key contains characters other than letters and digits.
    ResponseKeyInvalid = "RESPONSE_KEY_INVALID", 400,
        cause "Response keys may contain letters and digits only.",
        remedy "Send a key that consists of letters and digits.";
    /// Two responses of one question have the same key.
    ///
    /// Requirements: ERR-40.
    ResponseKeyNotUnique = "RESPONSE_KEY_NOT_UNIQUE", 400,
        cause "Each response of a question must have its own key.",
        remedy "Use a different key for each response.";
    /// A response name contains characters that are not allowed.
    ///
    /// Requirements: ERR-36.
    ResponseNameInvalid = "RESPONSE_NAME_INVALID", 400,
        cause "Response names may contain letters, digits and underscores only.",
        remedy "Change the name, and send free text in `title`.";
    /// The question has no response with this key.
    ///
    /// Requirements: HAF-09.
    ResponseKeyDoesNotExist = "RESPONSE_KEY_DOES_NOT_EXIST", 400,
        cause "An answer uses a key that its question does not have.",
        remedy "Read the question, and send a `key` from its `responses`.";
    /// A `SingleChoice` question accepts one response only.
    ///
    /// Requirements: HAF-09.
    TooManyResponses = "TOO_MANY_RESPONSES", 400,
        cause "An answer contains several responses to a `SingleChoice` question.",
        remedy "Send one key in `responses`.";
    /// No tag has this name.
    ///
    /// Requirements: ERR-37.
    TagNameDoesNotExist = "TAG_NAME_DOES_NOT_EXIST", 400,
        cause "Helpers only add tags that already exist.",
        remedy "Create the tag first, or send the name of an existing tag.";
    /// No tag has this URL.
    ///
    /// Requirements: HAF-04.
    TagUriDoesNotExist = "TAG_URI_DOES_NOT_EXIST", 400,
        cause "The URL does not identify a tag of this tenant.",
        remedy "Send the `self` link of a tag.";
    /// No list has this name.
    ///
    /// Requirements: HAF-05.
    ListNameDoesNotExist = "LIST_NAME_DOES_NOT_EXIST", 400,
        cause "Helpers only use lists that already exist.",
        remedy "Create the list first, or send the name of an existing list.";
    /// No list has this URL.
    ///
    /// Requirements: HAF-06.
    ListUriDoesNotExist = "LIST_URI_DOES_NOT_EXIST", 400,
        cause "The URL does not identify a list of this tenant.",
        remedy "Send the `self` link of a list.";
    /// No question has this identifier or URL.
    ///
    /// Requirements: HAF-08.
    QuestionDoesNotExist = "QUESTION_DOES_NOT_EXIST", 400,
        cause "The identifier or URL does not identify a question of this tenant.",
        remedy "Send the `self` link of a question, or one of its identifiers.";
    /// The message is not scheduled, so there is nothing to cancel.
    ///
    /// Requirements: SCH-08.
    MessageNotScheduled = "MESSAGE_NOT_SCHEDULED", 400,
        cause "The message has no schedule that could be cancelled.",
        remedy "No action is needed.";
    /// The API key is missing or not valid.
    ///
    /// Requirements: AUT-03.
    KeyInvalid = "KEY_INVALID", 401,
        cause "The request has no key, or the key is misspelled, expired or revoked.",
        remedy "Send a valid key in the header that the authentication page names.";
    /// The API key does not have the required right.
    ///
    /// Requirements: AUT-04.
    KeyNotAllowed = "KEY_NOT_ALLOWED", 403,
        cause "The key is valid, but it is limited to other kinds or operations, or to reading.",
        remedy "Ask the operator of this server for a key with this right.";
    /// The resource does not exist.
    ResourceNotFound = "RESOURCE_NOT_FOUND", 404,
        cause "The record was deleted, belongs to another tenant, or never existed; or the URL is not one of this API.",
        remedy "Start at the entry point, and follow links.";
    /// The cursor has expired.
    ///
    /// Requirements: SYN-08.
    CursorExpired = "CURSOR_EXPIRED", 410,
        cause "Since the cursor was created, the feed was truncated, or it restarted because the data was copied from another store or restored from a backup.",
        remedy "Start again: note the `last` link of the change feed, read the collections, then follow the noted link.";
    /// The person was merged into another one.
    PersonMerged = "PERSON_MERGED", 410,
        cause "The request changes, deletes or merges a person at an address that the person no longer has. The record is now part of another person. Nothing was changed.",
        remedy "Follow the link of the error to the other person, read it, and send the request to its address.";
    /// The body of the request arrived too slowly.
    ///
    /// Requirements: UND-17.
    RequestTimeout = "REQUEST_TIMEOUT", 408,
        cause "The connection is slow, or the client stopped sending.",
        remedy "Send the request again.";
    /// The record has changed since the state that the request names.
    ///
    /// Requirements: ETG-07.
    PreconditionFailed = "PRECONDITION_FAILED", 412,
        cause "The request has `If-Match` or another condition, and the record has changed since the response with this entity tag. Nothing was changed.",
        remedy "Read the record again, apply the change to its current state, and send the new `ETag` in `If-Match`.";
    /// The body is larger than this server accepts.
    ///
    /// Requirements: UND-17.
    BodyTooLarge = "BODY_TOO_LARGE", 413,
        cause "The size of the body exceeds the limit of this server.",
        remedy "Split the request; see the documented limits.";
    /// The media type or content coding of the body is not supported.
    ///
    /// Requirements: UND-27.
    MediaTypeNotSupported = "MEDIA_TYPE_NOT_SUPPORTED", 415,
        cause "The body is not declared as JSON, or it is compressed.",
        remedy "Send `Content-Type: application/json`, and omit `Content-Encoding`.";
    /// The idempotency key was already used for another request.
    ///
    /// Requirements: IDM-04.
    IdempotencyKeyReused = "IDEMPOTENCY_KEY_REUSED", 422,
        cause "This server has a stored response for this `Idempotency-Key`, and that request had another URL or body. Nothing was changed.",
        remedy "Send a new key, such as a random UUID, with each new request. Send the same key only to repeat an identical request.";
    /// The request must name the state of the record that it changes.
    ///
    /// Requirements: ETG-09.
    PreconditionRequired = "PRECONDITION_REQUIRED", 428,
        cause "This server requires `If-Match` for changes and deletions, so that concurrent changes are not overwritten.",
        remedy "Read the record, and send its `ETag` in `If-Match`.";
    /// Too many requests of this API key or tenant wait for changes.
    ///
    /// Requirements: SYN-13.
    TooManyRequests = "TOO_MANY_REQUESTS", 429,
        cause "This key or tenant has reached the limit of open requests with `Prefer: wait` and open event streams.",
        remedy "Close the connections that you do not need, omit `Prefer: wait`, or repeat the request after the seconds in `Retry-After`.";
    /// This server does not support the operation.
    ///
    /// Requirements: ERR-07.
    NotImplemented = "NOT_IMPLEMENTED", 500,
        cause "The URL is defined by the API, but this server does not offer the operation.",
        remedy "See the capability document for the supported operations.";
    /// This server does not support the kind of resource in this entry.
    ///
    /// Requirements: ERR-38.
    NotSupported = "NOT_SUPPORTED", 500,
        cause "The helper request contains an action function that this server does not support. The other parts of the request were executed.",
        remedy "Omit the action function; see the capability document for the supported ones.";
    /// An unexpected error occurred; the log has details under the reference code.
    ///
    /// Requirements: ERR-05.
    UnexpectedError = "UNEXPECTED_ERROR", 500,
        cause "The server failed. The request is not the cause.",
        remedy "Send the request again later. If the error persists, send the `reference_code` to the operator.";
    /// The server is temporarily unavailable; try again later.
    ///
    /// Requirements: UND-36.
    Unavailable = "UNAVAILABLE", 503,
        cause "The store is busy, out of space, or under maintenance.",
        remedy "Send the request again after the seconds in `Retry-After`.";
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
