//! Filters of collections: what may be asked, how it is written, and how it is found without
//! reading a whole collection.
//!
//! A filter is a text such as `modified_date gt '2026-11-01T00:00:00Z'`. [`Filter::read`] makes a
//! [`FilterExpr`] of it, which is plain data, and [`Filter::plan`] says what a store has to look
//! up: some [points](QueryPlan::Points), or a [range](QueryPlan::Range) of one date. Anything that
//! would need more than that is refused before a store is asked.
//!
//! Requirements: FLT-01 to FLT-12.

mod kept;
mod lexer;
mod parse;
mod plan;
#[cfg(test)]
mod tests;

use std::{fmt, sync::Arc};

pub use kept::matches;
pub use plan::{DateRange, IndexKey, QueryPlan};

use crate::{
    error::{ErrorCode, Problem},
    model::Kind,
    value::{Id, Identifier, Timestamp},
};

/// Bytes that a filter has at most.
pub const LONGEST: usize = 4_096;
/// Values that a filter has at most, over all its comparisons.
pub const MOST_VALUES: usize = 100;
/// Parentheses within each other at most.
pub const DEEPEST: usize = 16;
/// Records that the values of one filter may lead to. Only e-mail addresses are shared by many.
pub const MOST_FOUND: usize = 1_000;

/// The query parameter of a filter.
pub const FILTER: &str = "filter";
/// The query parameter of an order.
pub const ORDER: &str = "order";

macro_rules! fields {
    ($( #[doc = $doc:literal] $name:ident = $wire:literal, $example:literal; )+) => {
        /// What collections can be filtered by.
        ///
        /// Requirements: FLT-01.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum FilterField { $( #[doc = $doc] $name, )+ }

        impl FilterField {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$name),+];

            /// The name in filters and in the capability document.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $wire),+ }
            }

            /// What it compares, in a phrase.
            #[must_use]
            pub const fn text(self) -> &'static str {
                match self { $(Self::$name => $doc.trim_ascii()),+ }
            }

            /// A filter by it.
            #[must_use]
            pub const fn example(self) -> &'static str {
                match self { $(Self::$name => $example),+ }
            }
        }
    };
}

fields! {
    /// Any identifier of the record, the server's own among them; compared exactly.
    Identifiers = "identifiers", "identifiers eq 'crm:17'";
    /// When the record was created.
    CreatedDate = "created_date", "created_date ge '2026-11-01T00:00:00Z'";
    /// When the record was last changed.
    ModifiedDate = "modified_date", "modified_date gt '2026-11-01T00:00:00Z'";
    /// Any e-mail address of the person; compared without regard to the case of Latin letters.
    EmailAddress = "email_address", "email_address eq 'ada@example.org'";
    /// The name; compared exactly.
    Name = "name", "name in ('volunteers', 'donors')";
}

impl FilterField {
    /// What records of a kind can be filtered by at all; which of it a server has is declared.
    pub fn of(kind: Kind) -> impl Iterator<Item = Self> {
        let has = move |field: &Self| match field {
            Self::Identifiers | Self::CreatedDate | Self::ModifiedDate => true,
            Self::EmailAddress => kind == Kind::Person,
            Self::Name => kind.schema().unique_name().is_some(),
        };
        Self::ALL.iter().copied().filter(has)
    }

    /// Whether its values are dates: they have an order, and a collection can be ordered by them.
    ///
    /// Requirements: FLT-09.
    #[must_use]
    pub const fn is_date(self) -> bool {
        matches!(self, Self::CreatedDate | Self::ModifiedDate)
    }

    /// The field of the kind's table that it shows something of; `None` where every record has it.
    #[must_use]
    pub const fn shows(self) -> Option<&'static str> {
        match self {
            Self::EmailAddress => Some("email_addresses"),
            Self::Name => Some("name"),
            Self::Identifiers | Self::CreatedDate | Self::ModifiedDate => None,
        }
    }

    /// The operators that it can be compared by.
    pub fn operators(self) -> impl Iterator<Item = Operator> {
        let fits = move |operator: &Operator| self.is_date() || !operator.needs_order();
        Operator::ALL.iter().copied().filter(fits)
    }
}

/// How a field is compared.
///
/// Requirements: FLT-02.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Operator {
    /// It has the value.
    Eq,
    /// It has not the value.
    Ne,
    /// It is greater: later.
    Gt,
    /// It is the same or greater.
    Ge,
    /// It is less: earlier.
    Lt,
    /// It is the same or less.
    Le,
    /// It has one of the values.
    In,
}

impl Operator {
    /// All of them.
    pub const ALL: &'static [Self] = &[
        Self::Eq,
        Self::Ne,
        Self::Gt,
        Self::Ge,
        Self::Lt,
        Self::Le,
        Self::In,
    ];

    /// Its name in filters.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Eq => "eq",
            Self::Ne => "ne",
            Self::Gt => "gt",
            Self::Ge => "ge",
            Self::Lt => "lt",
            Self::Le => "le",
            Self::In => "in",
        }
    }

    /// What it asks, in a sentence.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Eq => "It has the value.",
            Self::Ne => "It has not the value.",
            Self::Gt => "It is later.",
            Self::Ge => "It is that moment or later.",
            Self::Lt => "It is earlier.",
            Self::Le => "It is that moment or earlier.",
            Self::In => "It has one of the values.",
        }
    }

    /// Whether it asks which value comes first.
    const fn needs_order(self) -> bool {
        matches!(self, Self::Gt | Self::Ge | Self::Lt | Self::Le)
    }
}

/// A value that a field is compared with, in the form in which it is compared.
#[derive(Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FilterValue {
    /// A foreign identifier.
    Identifier(Identifier),
    /// An identifier in the server's own namespace: the id of the record.
    ///
    /// Requirements: ENT-08.
    Id(Id),
    /// An e-mail address in [normal form](crate::helper::normalize_email).
    Email(String),
    /// A name.
    Name(String),
    /// A moment.
    Date(Timestamp),
}

impl fmt::Debug for FilterValue {
    /// Without the value: it may be personal data.
    ///
    /// Requirements: UND-42.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Identifier(_) => "Identifier",
            Self::Id(_) => "Id",
            Self::Email(_) => "Email",
            Self::Name(_) => "Name",
            Self::Date(_) => "Date",
        })
    }
}

/// One comparison of a filter.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Comparison {
    /// What is compared.
    pub field: FilterField,
    /// How.
    pub operator: Operator,
    /// With what: one value, or any number from one on where the operator is [`Operator::In`].
    pub values: Vec<FilterValue>,
    /// The character of the text at which it begins, counted from 1.
    pub at: usize,
}

/// What a filter says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FilterExpr {
    /// A comparison holds.
    Is(Comparison),
    /// Each of two or more holds.
    All(Vec<FilterExpr>),
    /// One of two or more holds.
    Any(Vec<FilterExpr>),
}

/// A filter of a collection: its text, and what that says. It comes from a client, was read whole,
/// and compares declared fields only. Cheap to clone.
#[derive(Clone, PartialEq, Eq)]
pub struct Filter(Arc<ParsedFilter>);

#[derive(PartialEq, Eq)]
struct ParsedFilter {
    text: String,
    tree: FilterExpr,
    plan: Result<QueryPlan, FilterError>,
}

impl Filter {
    /// Reads a filter over some of what records of a kind can be filtered by. Identifiers in
    /// `namespace` are the server's own.
    ///
    /// # Errors
    ///
    /// The first thing that is wrong with it: at which character, and what would be possible there.
    /// No part of the text is repeated: it may hold personal data.
    ///
    /// Requirements: FLT-03.
    pub fn read(text: &str, fields: &[FilterField], namespace: &str) -> Result<Self, FilterError> {
        let tree = parse::tree(text, fields, namespace)?;
        let plan = plan::plan(&tree);
        Ok(Self(Arc::new(ParsedFilter {
            text: text.to_owned(),
            tree,
            plan,
        })))
    }

    /// The text as it was sent: links to other pages repeat it.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// What it says.
    #[must_use]
    pub fn tree(&self) -> &FilterExpr {
        &self.0.tree
    }

    /// What a store looks up to answer it.
    ///
    /// # Errors
    ///
    /// The first comparison for which nothing can be looked up.
    ///
    /// Requirements: FLT-04.
    pub fn plan(&self) -> Result<&QueryPlan, &FilterError> {
        self.0.plan.as_ref()
    }
}

impl fmt::Debug for Filter {
    /// Without values.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Filter").field(&self.0.tree).finish()
    }
}

/// What is wrong with a filter, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("at character {at}: {text}")]
pub struct FilterError {
    /// The character of the text, counted from 1; the last one where something is missing behind
    /// it.
    pub at: usize,
    /// What is wrong, and what would be possible: whole sentences without any of the text.
    pub text: String,
}

impl FilterError {
    fn new(at: usize, text: impl Into<String>) -> Self {
        Self {
            at: at.max(1),
            text: text.into(),
        }
    }

    /// A range of one date that is to be ordered by another.
    pub(crate) fn of_order(field: FilterField) -> Self {
        let name = field.as_str();
        Self::new(
            1,
            format!(
                "A collection that is filtered by `{name}` is ordered by it. Leave `order` out."
            ),
        )
    }
}

impl From<FilterError> for Problem {
    fn from(wrong: FilterError) -> Self {
        Self::new(
            ErrorCode::FilterInvalid,
            FILTER,
            format!(
                "{{property}} is wrong at character {}: {}",
                wrong.at, wrong.text
            ),
        )
    }
}

/// Words for a message: `a`, `b` or `c`.
fn one_of<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    match names.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::from("nothing"),
    }
}
