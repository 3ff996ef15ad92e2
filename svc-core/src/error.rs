//! What can go wrong: the closed list of error codes (Annex C), one problem with a request, and what a backend returns.

mod failure;
mod property;

use std::{borrow::Cow, fmt};

pub use failure::{Error, ErrorKind, Result};
pub use property::{Property, Segment};

/// Declares [`Code`]: wire name, HTTP status and the sentence that explains each code, written once.
macro_rules! codes {
    ($( #[doc = $meaning:literal] $(#[doc = $more:literal])* $name:ident = $wire:literal, $status:literal; )+) => {
        /// Machine-readable reason of a failure (ERR-24, Annex C). The list is closed: one documentation page per code.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Code {
            $( #[doc = $meaning] $(#[doc = $more])* $name, )+
        }

        impl Code {
            /// Every code, in the order of the table.
            pub const ALL: &'static [Code] = &[$(Code::$name),+];

            /// The name on the wire, in upper snake case (ERR-24).
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Code::$name => $wire),+ }
            }

            /// The HTTP status that goes with the code (ERR-19, ERR-22).
            #[must_use]
            pub const fn status(self) -> u16 {
                match self { $(Code::$name => $status),+ }
            }

            /// What the code means, in a sentence for a client (ERR-25).
            #[must_use]
            pub const fn meaning(self) -> &'static str {
                match self { $(Code::$name => $meaning.trim_ascii()),+ }
            }
        }
    };
}

codes! {
    /// One field has a value that it cannot take.
    FieldInvalid = "FIELD_INVALID", 400;
    /// A field that this server needs is missing.
    FieldRequired = "FIELD_REQUIRED", 400;
    /// The body is not JSON that this server reads.
    JsonInvalid = "JSON_INVALID", 400;
    /// An object in the body has the same key twice.
    DuplicateKey = "DUPLICATE_KEY", 400;
    /// The request needs a JSON body and has none.
    BodyMissing = "BODY_MISSING", 400;
    /// The HTTP request itself is ambiguous or not meant for this server.
    ///
    /// Row: UND-34.
    RequestInvalid = "REQUEST_INVALID", 400;
    /// A paging parameter is not a number that a page can have.
    PageInvalid = "PAGE_INVALID", 400;
    /// Another tag or list already has this name.
    NameInUse = "NAME_IN_USE", 400;
    /// Another record of this kind already has this identifier.
    ///
    /// Row: UND-24.
    IdentifierInUse = "IDENTIFIER_IN_USE", 400;
    /// The record still has actions or answers and cannot be deleted.
    ///
    /// Row: UND-26.
    HasDependents = "HAS_DEPENDENTS", 400;
    /// More than one entry of a list is marked as the primary one.
    MultiplePrimary = "MULTIPLE_PRIMARY", 400;
    /// A link leads to no person of this caller.
    PersonNotFound = "PERSON_NOT_FOUND", 400;
    /// A link in the body leads to no record of this caller.
    LinkNotFound = "LINK_NOT_FOUND", 400;
    /// An action function needs a person and the call names none.
    ///
    /// Row: UND-29.
    PersonRequired = "PERSON_REQUIRED", 400;
    /// A ticket has a title that no ticket level of the event has.
    TicketLevelDoesNotExist = "TICKET_LEVEL_DOES_NOT_EXIST", 400;
    /// A ticket level has fewer tickets left than were asked for.
    ///
    /// Row: LIM-05.
    TicketLimitExceeded = "TICKET_LIMIT_EXCEEDED", 400;
    /// Tickets were sent for an event that has none.
    TicketsNotAllowed = "TICKETS_NOT_ALLOWED", 400;
    /// The event is full.
    ///
    /// Row: LIM-04.
    CapacityExceeded = "CAPACITY_EXCEEDED", 400;
    /// The start lies after the end.
    StartDateAfterEndDate = "START_DATE_AFTER_END_DATE", 400;
    /// A Paragraph question takes no responses.
    ///
    /// Row: ERR-35.
    ParagraphCannotHaveResponses = "PARAGRAPH_CANNOT_HAVE_RESPONSES", 400;
    /// A response key has characters other than letters and digits.
    ResponseKeyInvalid = "RESPONSE_KEY_INVALID", 400;
    /// Two responses of one question have the same key.
    ///
    /// Row: ERR-40.
    ResponseKeyNotUnique = "RESPONSE_KEY_NOT_UNIQUE", 400;
    /// A response name has characters that are not allowed.
    ///
    /// Row: ERR-36.
    ResponseNameInvalid = "RESPONSE_NAME_INVALID", 400;
    /// The question has no response with this key.
    ///
    /// Row: HAF-09.
    ResponseKeyDoesNotExist = "RESPONSE_KEY_DOES_NOT_EXIST", 400;
    /// A `SingleChoice` question takes one response.
    ///
    /// Row: HAF-09.
    TooManyResponses = "TOO_MANY_RESPONSES", 400;
    /// No tag has this name.
    ///
    /// Row: ERR-37.
    TagNameDoesNotExist = "TAG_NAME_DOES_NOT_EXIST", 400;
    /// No tag has this address.
    ///
    /// Row: HAF-04.
    TagUriDoesNotExist = "TAG_URI_DOES_NOT_EXIST", 400;
    /// No list has this name.
    ///
    /// Row: HAF-05.
    ListNameDoesNotExist = "LIST_NAME_DOES_NOT_EXIST", 400;
    /// No list has this address.
    ///
    /// Row: HAF-06.
    ListUriDoesNotExist = "LIST_URI_DOES_NOT_EXIST", 400;
    /// No question has this identifier or address.
    ///
    /// Row: HAF-08.
    QuestionDoesNotExist = "QUESTION_DOES_NOT_EXIST", 400;
    /// The message is not scheduled, so there is nothing to cancel.
    ///
    /// Row: SCH-08.
    MessageNotScheduled = "MESSAGE_NOT_SCHEDULED", 400;
    /// The API key is missing or not valid.
    ///
    /// Row: AUT-03.
    KeyInvalid = "KEY_INVALID", 401;
    /// The API key may not do this.
    ///
    /// Row: AUT-04.
    KeyNotAllowed = "KEY_NOT_ALLOWED", 403;
    /// Nothing is found at this address.
    ResourceNotFound = "RESOURCE_NOT_FOUND", 404;
    /// The body came too slowly.
    ///
    /// Row: UND-17.
    RequestTimeout = "REQUEST_TIMEOUT", 408;
    /// The body is larger than this server takes.
    ///
    /// Row: UND-17.
    BodyTooLarge = "BODY_TOO_LARGE", 413;
    /// The body has a media type or a coding that this server does not read.
    ///
    /// Row: UND-27.
    MediaTypeNotSupported = "MEDIA_TYPE_NOT_SUPPORTED", 415;
    /// This server does not support the operation.
    ///
    /// Row: ERR-07.
    NotImplemented = "NOT_IMPLEMENTED", 500;
    /// This server does not support the kind of resource in this entry.
    ///
    /// Row: ERR-38.
    NotSupported = "NOT_SUPPORTED", 500;
    /// Something unexpected went wrong; the reference code leads to the log.
    ///
    /// Row: ERR-05.
    UnexpectedError = "UNEXPECTED_ERROR", 500;
    /// The server cannot answer now; try again later.
    ///
    /// Row: UND-36.
    Unavailable = "UNAVAILABLE", 503;
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One thing that is wrong with a request: an `ErrorDescription` of the interface (ERR-24 to ERR-28).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// Machine-readable reason (ERR-24).
    pub code: Code,
    /// The properties at fault (ERR-26).
    pub properties: Vec<Property>,
    /// How to fix it, for example a validation expression (ERR-27).
    pub hint: Option<String>,
    text: Cow<'static, str>,
}

/// Stands in a description for the first property, which is named when the sentence is written.
const NAMED: &str = "{property}";

impl Problem {
    /// A problem with one property. In the description `{property}` stands for it, as the client wrote it:
    ///
    /// ```
    /// use svc_core::{Code, Problem};
    /// let problem = Problem::new(Code::FieldInvalid, "tickets[0].title", "{property} is sold out.");
    /// assert_eq!(problem.description(), "`tickets[0].title` is sold out.");
    /// ```
    pub fn new(code: Code, property: impl Into<Property>, description: impl Into<Cow<'static, str>>) -> Self {
        Self { code, text: description.into(), properties: vec![property.into()], hint: None }
    }

    /// A problem with the request as a whole.
    pub fn general(code: Code, description: impl Into<Cow<'static, str>>) -> Self {
        Self { code, text: description.into(), properties: Vec::new(), hint: None }
    }

    /// A problem between several properties.
    pub fn between(code: Code, properties: &[&str], description: impl Into<Cow<'static, str>>) -> Self {
        let properties = properties.iter().copied().map(Property::from).collect();
        Self { code, text: description.into(), properties, hint: None }
    }

    /// The problem of an identifier that another record has (UND-24): the one at this place of the draft.
    #[must_use]
    pub fn identifier_in_use(place: usize) -> Self {
        let property = Property::member("identifiers").element(place);
        Self::new(Code::IdentifierInUse, property, "{property} is the identifier of another record.")
    }

    /// The problem of an identifier in the server's own namespace that names no record (UND-24).
    #[must_use]
    pub(crate) fn own_identifier_in_use() -> Self {
        let text = "{property} is the identifier of another record.";
        Self::new(Code::IdentifierInUse, Property::member("identifiers"), text)
    }

    /// What is wrong, for a human reader, with the properties as they stand (ERR-25).
    #[must_use]
    pub fn description(&self) -> String {
        self.described(Property::to_string)
    }

    /// The same with each property spelled as told.
    pub(crate) fn described(&self, spelled: impl Fn(&Property) -> String) -> String {
        match self.properties.first() {
            Some(property) if self.text.contains(NAMED) => {
                self.text.replace(NAMED, &format!("`{}`", spelled(property)))
            }
            _ => self.text.clone().into_owned(),
        }
    }

    /// The same problem where a part of the body stands: named from the top of the body (ERR-26).
    #[must_use]
    pub(crate) fn within(mut self, part: &Property) -> Self {
        if !part.segments().is_empty() {
            self.properties = self.properties.into_iter().map(|property| property.within(part)).collect();
        }
        self
    }

    /// The same problem, its description begun by what it is about.
    #[must_use]
    pub fn about(mut self, what: &str) -> Self {
        self.text = format!("{what}: {}", self.text).into();
        self
    }

    /// Adds how to fix it (ERR-27).
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}
