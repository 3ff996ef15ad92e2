//! One row of the catalogue, and what it states: a field, a link, or a rule.

use std::fmt;

use serde::Deserialize;

use super::condition::{Condition, Term};
use super::{Level, split};

/// One requirement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Stable name such as `COL-23`; never renumbered, never reused.
    pub id: String,
    /// How binding the row is.
    pub level: Level,
    /// Where in the interface the row belongs.
    pub section: String,
    /// The requirement itself.
    pub statement: String,
    /// What switches the row on: names of capabilities joined by `not`, `and`, `or`; `always` or `never`.
    pub condition: String,
    /// How the row is seen from outside over HTTP.
    pub observed: String,
    /// What the reference server does, chiefly where the interface leaves a choice.
    pub reference: String,
    /// The checks of the suite that prove the row.
    pub checks: Vec<String>,
    /// The condition as the suite asks it.
    pub(crate) when: Condition,
    pub(super) states: States,
}

/// What a row states.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum States {
    Field(Field),
    Link(Link),
    Rule,
}

impl Row {
    /// The area of the row: its id without the number (`COL` of `COL-23`, `RES-person` of `RES-person-01`).
    #[must_use]
    pub fn area(&self) -> &str {
        split(&self.id).map_or("", |(area, _)| area)
    }

    /// The number of the row within its area, counted from 1.
    #[must_use]
    pub fn number(&self) -> usize {
        split(&self.id).map_or(0, |(_, number)| number)
    }

    /// The field that the row states.
    #[must_use]
    pub const fn field(&self) -> Option<&Field> {
        if let States::Field(field) = &self.states { Some(field) } else { None }
    }

    /// Whether its condition is that the field or link itself is declared.
    pub(crate) fn applies_where_declared(&self) -> bool {
        matches!(&self.when, Condition::Is(word) if matches!(&word.term, Term::Field { .. } | Term::Link { .. }))
    }

    /// The link that the row states.
    #[must_use]
    pub const fn link(&self) -> Option<&Link> {
        if let States::Link(link) = &self.states { Some(link) } else { None }
    }
}

/// A field of a resource or shared object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// The resource or shared object that has it; `entry_point`; `*` for every resource.
    pub owner: String,
    /// Its path in the owner, such as `share_options[].network_a_share.title`; `[]` after an array of objects.
    pub path: String,
    /// Its type.
    pub kind: Type,
    /// The listed values of an enum or flexenum.
    pub values: Vec<String>,
    /// The server keeps it.
    pub computed: bool,
    /// A create of the interface cannot do without it.
    pub required: bool,
    /// How it is observed.
    pub way: Way,
    /// The shared object, or the object in one, whose members it has.
    pub like: Option<String>,
    /// Members of that object which it has not.
    pub without: Vec<String>,
}

/// A link of a resource or of the entry point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// The resource that has it, or `entry_point`.
    pub owner: String,
    /// Its name without prefix.
    pub name: String,
    /// The kind that it leads to.
    pub target: Option<String>,
    /// It leads to a collection of that kind.
    pub many: bool,
    /// The helper whose address it is.
    pub helper: Option<String>,
    /// It is sent only where its target is known.
    pub optional: bool,
}

impl Link {
    /// Whether it leads to a person other than the record itself.
    pub(crate) fn is_to_person(&self) -> bool {
        self.target.as_deref() == Some("person") && !self.many && self.name != "self"
    }
}

/// How a field is observed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Way {
    /// TC: only the type.
    Type,
    /// CP: kept by the server.
    Computed,
    /// RT, EN or FX: what was sent comes back.
    RoundTrip,
}

/// The type of a field (TYP-01 to TYP-12).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "String")]
pub enum Type {
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
const TYPES: &[(&str, Type)] = &[
    ("string", Type::String),
    ("integer", Type::Integer),
    ("float", Type::Float),
    ("number", Type::Number),
    ("boolean", Type::Boolean),
    ("datetime", Type::Datetime),
    ("date", Type::Date),
    ("enum", Type::Enum),
    ("flexenum", Type::Flexenum),
    ("object", Type::Object),
    ("map", Type::Map),
    ("reference", Type::Reference),
    ("link", Type::Link),
    ("person", Type::Person),
    ("string[]", Type::Strings),
    ("object[]", Type::Objects),
    ("object or object[]", Type::OneOrMany),
];

impl Type {
    /// The words of the types that are no shared objects.
    pub(super) fn words<'w>() -> impl Iterator<Item = &'w str> {
        TYPES.iter().map(|(word, _)| *word)
    }

    /// The shared object that a field of this type carries.
    #[must_use]
    pub fn shared(&self) -> Option<&str> {
        if let Self::Shared(name) | Self::SharedList(name) = self { Some(name) } else { None }
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

impl From<String> for Type {
    fn from(word: String) -> Self {
        let known = TYPES.iter().find(|(name, _)| *name == word).map(|(_, kind)| kind.clone());
        known.unwrap_or_else(|| match word.strip_suffix("[]") {
            Some(name) => Self::SharedList(name.to_owned()),
            None => Self::Shared(word),
        })
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shared(name) => f.write_str(name),
            Self::SharedList(name) => write!(f, "{name}[]"),
            other => f.write_str(TYPES.iter().find(|(_, kind)| kind == other).map_or("", |(word, _)| word)),
        }
    }
}
