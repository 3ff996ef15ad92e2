//! The types of fields.

use std::fmt;

use serde::Deserialize;

/// The type of a field.
///
/// Requirements: TYP-01 to TYP-12.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "String")]
pub enum CatalogueType {
    /// Text.
    String,
    /// A number without a fraction.
    Integer,
    /// A number.
    Float,
    /// A number, integral or not.
    Number,
    /// True or false.
    Boolean,
    /// A timestamp.
    Datetime,
    /// A calendar date.
    Date,
    /// One value of a closed list.
    Enum,
    /// One value of a list, or any other text.
    Flexenum,
    /// An object with the members that other rows state.
    Object,
    /// An object with keys of the client's own, and texts.
    Map,
    /// The address of another record, as text or as an object with `href`.
    Reference,
    /// A record that is sent as an address and shown as a link.
    Link,
    /// A person inside another object.
    Person,
    /// Texts.
    Strings,
    /// Objects.
    Objects,
    /// One object or several.
    OneOrMany,
    /// The shared object of this name.
    Shared(String),
    /// A list of the shared object of this name.
    SharedList(String),
}

/// Every type with a word of its own.
const TYPES: &[(&str, CatalogueType)] = &[
    ("string", CatalogueType::String),
    ("integer", CatalogueType::Integer),
    ("float", CatalogueType::Float),
    ("number", CatalogueType::Number),
    ("boolean", CatalogueType::Boolean),
    ("datetime", CatalogueType::Datetime),
    ("date", CatalogueType::Date),
    ("enum", CatalogueType::Enum),
    ("flexenum", CatalogueType::Flexenum),
    ("object", CatalogueType::Object),
    ("map", CatalogueType::Map),
    ("reference", CatalogueType::Reference),
    ("link", CatalogueType::Link),
    ("person", CatalogueType::Person),
    ("string[]", CatalogueType::Strings),
    ("object[]", CatalogueType::Objects),
    ("object or object[]", CatalogueType::OneOrMany),
];

impl CatalogueType {
    /// The words of the types that are no shared objects.
    pub(super) fn words<'w>() -> impl Iterator<Item = &'w str> {
        TYPES.iter().map(|(word, _)| *word)
    }

    /// The shared object that a field of this type carries.
    #[must_use]
    pub fn shared(&self) -> Option<&str> {
        if let Self::Shared(name) | Self::SharedList(name) = self {
            Some(name)
        } else {
            None
        }
    }

    /// The type in a statement, where its field says nothing else.
    pub(super) fn label(&self) -> String {
        match self {
            Self::Objects | Self::SharedList(_) => "array".to_owned(),
            Self::Map | Self::Shared(_) => "object".to_owned(),
            other => other.to_string(),
        }
    }
}

impl From<String> for CatalogueType {
    fn from(word: String) -> Self {
        let known = TYPES
            .iter()
            .find(|(name, _)| *name == word)
            .map(|(_, kind)| kind.clone());
        known.unwrap_or_else(|| match word.strip_suffix("[]") {
            Some(name) => Self::SharedList(name.to_owned()),
            None => Self::Shared(word),
        })
    }
}

impl fmt::Display for CatalogueType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shared(name) => f.write_str(name),
            Self::SharedList(name) => write!(f, "{name}[]"),
            other => f.write_str(
                TYPES
                    .iter()
                    .find(|(_, kind)| kind == other)
                    .map_or("", |(word, _)| word),
            ),
        }
    }
}
