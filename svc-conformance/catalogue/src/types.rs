//! The types of fields.

use std::fmt;

use serde::Deserialize;

/// The type of a field.
///
/// Requirements: TYP-01 to TYP-12.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "String")]
pub enum CatalogueType {
    /// A string.
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
    /// An object with the members that other requirements describe.
    Object,
    /// An object with keys chosen by the client, and string values.
    Map,
    /// The URL of another record, as a string or as an object with `href`.
    Reference,
    /// A record that is sent as a URL and returned as a link.
    Link,
    /// A person inside another object.
    Person,
    /// A list of strings.
    Strings,
    /// A list of objects.
    Objects,
    /// One object or several.
    OneOrMany,
    /// The shared object with this name.
    Shared(String),
    /// A list of the shared object with this name.
    SharedList(String),
}

/// Every type with its own name in the catalogue.
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
    /// Returns the names of the types that are not shared objects.
    pub(super) fn words<'w>() -> impl Iterator<Item = &'w str> {
        TYPES.iter().map(|(word, _)| *word)
    }

    /// Returns the shared object that a field of this type contains.
    #[must_use]
    pub fn shared(&self) -> Option<&str> {
        if let Self::Shared(name) | Self::SharedList(name) = self {
            Some(name)
        } else {
            None
        }
    }

    /// Returns the type as a statement describes it, unless its field has a label.
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
