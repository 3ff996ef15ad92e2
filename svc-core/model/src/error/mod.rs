//! What can go wrong: the closed list of error codes (Annex C), one problem with a request, and
//! what a backend returns.

mod code;
mod failure;
mod property;

use std::borrow::Cow;

pub use code::ErrorCode;
pub use failure::{Error, ErrorKind, Result};
pub use property::{PathSegment, PropertyPath};

/// One thing that is wrong with a request: an `ErrorDescription` of the interface.
///
/// Requirements: ERR-24 to ERR-28.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// Machine-readable reason.
    ///
    /// Requirements: ERR-24.
    pub code: ErrorCode,
    /// The properties at fault.
    ///
    /// Requirements: ERR-26.
    pub properties: Vec<PropertyPath>,
    /// How to fix it, for example a validation expression.
    ///
    /// Requirements: ERR-27.
    pub hint: Option<String>,
    text: Cow<'static, str>,
}

/// Stands in a description for the first property, which is named when the sentence is written.
const NAMED: &str = "{property}";

impl Problem {
    /// A problem with one property. In the description `{property}` stands for it, as the client
    /// wrote it:
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
        }
    }

    /// A problem with the request as a whole.
    pub fn general(code: ErrorCode, description: impl Into<Cow<'static, str>>) -> Self {
        Self {
            code,
            text: description.into(),
            properties: Vec::new(),
            hint: None,
        }
    }

    /// A problem between several properties.
    pub fn between(
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
        }
    }

    /// The problem of an identifier that another record has: the one at this place of the draft.
    ///
    /// Requirements: UND-24.
    #[must_use]
    pub fn identifier_in_use(place: usize) -> Self {
        let property = PropertyPath::member("identifiers").element(place);
        Self::new(
            ErrorCode::IdentifierInUse,
            property,
            "{property} is the identifier of another record.",
        )
    }

    /// The problem of an identifier in the server's own namespace that names no record.
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

    /// What is wrong, for a human reader, with the properties as they stand.
    ///
    /// Requirements: ERR-25.
    #[must_use]
    pub fn description(&self) -> String {
        self.described(PropertyPath::to_string)
    }

    /// The same with each property spelled as told.
    pub fn described(&self, spelled: impl Fn(&PropertyPath) -> String) -> String {
        match self.properties.first() {
            Some(property) if self.text.contains(NAMED) => self
                .text
                .replace(NAMED, &format!("`{}`", spelled(property))),
            _ => self.text.clone().into_owned(),
        }
    }

    /// The same problem where a part of the body stands: named from the top of the body.
    ///
    /// Requirements: ERR-26.
    #[must_use]
    pub fn within(mut self, part: &PropertyPath) -> Self {
        if !part.segments().is_empty() {
            self.properties = self
                .properties
                .into_iter()
                .map(|property| property.within(part))
                .collect();
        }
        self
    }

    /// The same problem, its description begun by what it is about.
    #[must_use]
    pub fn about(mut self, what: &str) -> Self {
        self.text = format!("{what}: {}", self.text).into();
        self
    }

    /// Whether the other problem may be there only because of this one: what is wrong with a body
    /// is left out of what a store is shown of it.
    #[must_use]
    pub fn explains(&self, other: &Self) -> bool {
        let is_missing = other.code == ErrorCode::FieldRequired;
        let explains = |own: &PropertyPath, other: &PropertyPath| {
            own.holds(other) || is_missing && other.holds(own)
        };
        self.properties
            .iter()
            .any(|own| other.properties.iter().any(|other| explains(own, other)))
    }

    /// Adds how to fix it.
    ///
    /// Requirements: ERR-27.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}
