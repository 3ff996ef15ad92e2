//! Errors: the closed list of error codes (Annex C), the problems of a request, and the error type
//! of backends.

mod backend_error;
mod code;
mod property_path;

use std::borrow::Cow;

pub use backend_error::{Error, ErrorKind, Result};
pub use code::ErrorCode;
pub use property_path::{PathSegment, PropertyPath};

use crate::link::RecordAddress;

/// Length of a name in a description, in characters.
const MAX_QUOTED: usize = 80;

/// Returns a name from a request in quotation marks, for the description of a problem. Control
/// characters are escaped. A name of more than 80 characters is shortened.
#[must_use]
pub fn quoted(name: &str) -> String {
    match name.char_indices().nth(MAX_QUOTED) {
        Some((end, _)) => format!("{:?}…", name.get(..end).unwrap_or_default()),
        None => format!("{name:?}"),
    }
}

/// One problem of a request: an `ErrorDescription` of the specification.
///
/// Requirements: ERR-24 to ERR-28.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// Machine-readable reason.
    ///
    /// Requirements: ERR-24.
    pub code: ErrorCode,
    /// The properties that cause the problem.
    ///
    /// Requirements: ERR-26.
    pub properties: Vec<PropertyPath>,
    /// How to fix the problem, for example the allowed values.
    ///
    /// Requirements: ERR-27.
    pub hint: Option<String>,
    /// The other record that the problem concerns. A warning has a link to it.
    pub other: Option<RecordAddress>,
    text: Cow<'static, str>,
}

/// Placeholder for the first property, which is inserted when the description is written.
const NAMED: &str = "{property}";

impl Problem {
    /// Creates a problem of one property. In the description, `{property}` is replaced by the
    /// property as the client wrote it:
    ///
    /// ```
    /// use svc_core::{ErrorCode, Problem};
    /// let problem = Problem::new(ErrorCode::FieldInvalid, "tickets[0].title", "{property} is sold out.");
    /// assert_eq!(problem.description(), "`tickets[0].title` is sold out.");
    /// ```
    pub fn new(
        code: ErrorCode,
        property: impl Into<PropertyPath>,
        description: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self {
            code,
            text: description.into(),
            properties: vec![property.into()],
            hint: None,
            other: None,
        }
    }

    /// Creates a problem of the request as a whole.
    pub fn for_request(code: ErrorCode, description: impl Into<Cow<'static, str>>) -> Self {
        Self {
            code,
            text: description.into(),
            properties: Vec::new(),
            hint: None,
            other: None,
        }
    }

    /// Creates a problem that concerns several properties.
    pub fn for_properties(
        code: ErrorCode,
        properties: &[&str],
        description: impl Into<Cow<'static, str>>,
    ) -> Self {
        let properties = properties.iter().copied().map(PropertyPath::from).collect();
        Self {
            code,
            text: description.into(),
            properties,
            hint: None,
            other: None,
        }
    }

    /// Creates the problem of an identifier that another record has. `place` is its index in the
    /// draft.
    ///
    /// Requirements: UND-24.
    #[must_use]
    pub fn identifier_in_use(place: usize) -> Self {
        let property = PropertyPath::member("identifiers").push_index(place);
        Self::new(
            ErrorCode::IdentifierInUse,
            property,
            "{property} is the identifier of another record.",
        )
    }

    /// Creates the warning about an e-mail address that another person also has. `place` is its
    /// index in the draft.
    ///
    /// Requirements: HLP-04.
    #[must_use]
    pub fn address_shared(place: usize, other: RecordAddress) -> Self {
        let property = PropertyPath::member("email_addresses")
            .push_index(place)
            .push_member("address");
        let text = "{property} is also an e-mail address of another person.";
        Self {
            other: Some(other),
            ..Self::new(ErrorCode::AddressShared, property, text)
        }
    }

    /// Creates the problem of a person that was merged into another one.
    #[must_use]
    pub fn person_merged(into: RecordAddress) -> Self {
        Self {
            other: Some(into),
            ..Self::for_request(
                ErrorCode::PersonMerged,
                "The person was merged into another one.",
            )
        }
    }

    /// Creates the problem of an identifier in the server's own namespace that does not identify a
    /// record.
    ///
    /// Requirements: UND-24.
    #[must_use]
    pub fn own_identifier_in_use() -> Self {
        let text = "{property} is the identifier of another record.";
        Self::new(
            ErrorCode::IdentifierInUse,
            PropertyPath::member("identifiers"),
            text,
        )
    }

    /// Returns the description for a human reader, with the properties as the library names them.
    ///
    /// Requirements: ERR-25.
    #[must_use]
    pub fn description(&self) -> String {
        self.described(PropertyPath::to_string)
    }

    /// Returns the description with each property written by `spelled`.
    pub fn described(&self, spelled: impl Fn(&PropertyPath) -> String) -> String {
        match self.properties.first() {
            Some(property) if self.text.contains(NAMED) => self
                .text
                .replace(NAMED, &format!("`{}`", spelled(property))),
            _ => self.text.clone().into_owned(),
        }
    }

    /// Prefixes the properties with a part of the body.
    ///
    /// Requirements: ERR-26.
    #[must_use]
    pub fn within(mut self, part: &PropertyPath) -> Self {
        if !part.segments().is_empty() {
            self.properties = self
                .properties
                .into_iter()
                .map(|property| property.prefixed_with(part))
                .collect();
        }
        self
    }

    /// Prefixes the description with its subject.
    #[must_use]
    pub fn with_subject(mut self, what: &str) -> Self {
        self.text = format!("{what}: {}", self.text).into();
        self
    }

    /// Returns whether this problem may be the cause of the other one.
    ///
    /// Invalid parts of a body are removed before a store checks it, so the store can find problems
    /// that result from the removal.
    #[must_use]
    pub fn explains(&self, other: &Self) -> bool {
        let is_missing = other.code == ErrorCode::FieldRequired;
        let explains = |own: &PropertyPath, other: &PropertyPath| {
            own.contains(other) || is_missing && other.contains(own)
        };
        self.properties
            .iter()
            .any(|own| other.properties.iter().any(|other| explains(own, other)))
    }

    /// Adds a hint about how to fix the problem.
    ///
    /// Requirements: ERR-27.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn a_quoted_name_is_one_short_line() {
        assert_eq!(quoted("Volunteers"), "\"Volunteers\"");
        assert_eq!(quoted("a\"b\nc"), "\"a\\\"b\\nc\"");
        let long = quoted(&"ß".repeat(200));
        assert_eq!(long, format!("\"{}\"…", "ß".repeat(80)));
    }
}
