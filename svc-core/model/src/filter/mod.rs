//! Filters of collections: allowed fields, grammar, and query plans that need no full scan.
//!
//! A filter is a text such as `modified_date gt '2026-11-01T00:00:00Z'`. [`Filter::parse`] converts
//! it into a [`FilterExpr`], which is plain data. [`Filter::plan`] returns what a store must look
//! up: some [keys](QueryPlan::Keys), a [range](QueryPlan::Range) of one date or text, or the
//! [members](QueryPlan::Members) of one container. A filter that needs more than that is rejected
//! before a store is called.
//!
//! Each field is one line of the table [`FilterField`].
//!
//! Requirements: FLT-01 to FLT-14.

mod lexer;
mod matches;
mod parse;
mod query_plan;
#[cfg(test)]
mod tests;
mod text_key;

use std::{fmt, sync::Arc};

pub use matches::matches;
pub use query_plan::{FindKey, IndexKey, KeyRange, MembershipKey, QueryPlan, SortKey};
pub use text_key::{MAX_TEXT, TEXT_FORM, TextKey, name_key, text_keys};

use crate::{
    error::{ErrorCode, Problem},
    model::Kind,
    schema::LinkTarget,
    value::{Id, Identifier, Timestamp},
};

/// Maximum length of a filter in bytes.
pub const MAX_FILTER_BYTES: usize = 4_096;
/// Maximum number of values in a filter, over all its comparisons.
pub const MAX_VALUES: usize = 100;
/// Maximum nesting of parentheses.
pub const MAX_DEPTH: usize = 16;
/// Maximum number of records that the values of one filter may find. Only an e-mail address or a
/// text can belong to many records.
pub const MAX_KEY_MATCHES: usize = 1_000;

/// The query parameter of a filter.
pub const FILTER: &str = "filter";
/// The query parameter of an order.
pub const ORDER: &str = "order";

/// Returns the source of a field, from what follows the `=` of its line.
macro_rules! source {
    (identifiers) => {
        FilterSource::Identifiers
    };
    (date) => {
        FilterSource::Date
    };
    (email_addresses) => {
        FilterSource::EmailAddresses
    };
    (unique_name) => {
        FilterSource::UniqueName
    };
    (text $kind:ident . $field:ident) => {
        FilterSource::Text {
            kind: Kind::$kind,
            field: stringify!($field),
        }
    };
    (through $members:ident . $link:ident by $container:ident . name) => {
        FilterSource::Through(MembershipSpec {
            members: Kind::$members,
            link: stringify!($link),
            container: Kind::$container,
        })
    };
}

macro_rules! fields {
    ($( #[doc = $doc:literal] $name:ident $wire:literal, $example:literal = $($source:ident $(. $member:ident)?)+; )+) => {
        /// The fields that collections can be filtered by.
        ///
        /// Requirements: FLT-01.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum FilterField { $( #[doc = $doc] $name, )+ }

        impl FilterField {
            /// Every field.
            pub const ALL: &'static [Self] = &[$(Self::$name),+];

            /// Returns the name in filters and in the capability document.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $wire),+ }
            }

            /// Returns what the field compares, as a phrase.
            #[must_use]
            pub const fn text(self) -> &'static str {
                match self { $(Self::$name => $doc.trim_ascii()),+ }
            }

            /// Returns an example of a filter by this field.
            #[must_use]
            pub const fn example(self) -> &'static str {
                match self { $(Self::$name => $example),+ }
            }

            /// Returns what the field compares.
            #[must_use]
            pub const fn source(self) -> FilterSource {
                match self { $(Self::$name => source!($($source $(. $member)?)+)),+ }
            }
        }
    };
}

// The sources: `identifiers`, `date`, `email_addresses`, `unique_name`, a text field of one kind, or
// the name of a container through its members.
fields! {
    /// Any identifier of the record, including those of this server; compared exactly.
    Identifiers "identifiers", "identifiers eq 'crm:17'" = identifiers;
    /// When the record was created.
    CreatedDate "created_date", "created_date ge '2026-11-01T00:00:00Z'" = date;
    /// When the record was last changed.
    ModifiedDate "modified_date", "modified_date gt '2026-11-01T00:00:00Z'" = date;
    /// Any e-mail address of the person; the case of Latin letters and the notation are ignored.
    EmailAddress "email_address", "email_address eq 'ada@example.org'" = email_addresses;
    /// The name; compared exactly.
    Name "name", "name in ('volunteers', 'donors')" = unique_name;
    /// The family name of the person; the case of letters is ignored.
    FamilyName "family_name", "family_name sw 'love'" = text Person.family_name;
    /// The name of a tag that the person has; compared exactly.
    Tag "tag", "tag eq 'volunteers'" = through Tagging.person by Tag.name;
    /// The name of a list that the person is on; compared exactly.
    List "list", "list eq 'Newsletter'" = through Item.person by List.name;
}

/// What a filterable field compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FilterSource {
    /// The identifiers of the record.
    Identifiers,
    /// A date of every record.
    Date,
    /// The e-mail addresses of a person.
    EmailAddresses,
    /// The name, which is unique.
    UniqueName,
    /// A text field, as a whole or by its beginning. Many records can have the same text: see
    /// [`TextKey`].
    Text {
        /// The kind of the records.
        kind: Kind,
        /// The field of the kind's table.
        field: &'static str,
    },
    /// The name of a container that a member links to the record. The API reads the members itself,
    /// so no store evaluates it.
    Through(MembershipSpec),
}

/// How records belong to containers, such as people to tags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct MembershipSpec {
    /// The kind of the members, which are listed under the container.
    pub members: Kind,
    /// The link of a member to the record.
    pub link: &'static str,
    /// The kind of the container. Its name is unique.
    pub container: Kind,
}

impl MembershipSpec {
    /// Returns the kind of the records that the members link to.
    #[must_use]
    pub fn target(&self) -> Option<Kind> {
        match self.members.schema().link(self.link)?.target {
            LinkTarget::One { kind, .. } => Some(kind),
            _ => None,
        }
    }
}

impl FilterField {
    /// Returns the fields that records of a kind can be filtered by. Each server declares which of
    /// them it supports.
    pub fn of(kind: Kind) -> impl Iterator<Item = Self> {
        let has = move |field: &Self| match field.source() {
            FilterSource::Identifiers | FilterSource::Date => true,
            FilterSource::EmailAddresses => kind == Kind::Person,
            FilterSource::UniqueName => kind.schema().unique_name().is_some(),
            FilterSource::Text { kind: of, .. } => kind == of,
            FilterSource::Through(membership) => membership.target() == Some(kind),
        };
        Self::ALL.iter().copied().filter(has)
    }

    /// Returns the fields whose values a record itself has. A store evaluates their filters.
    pub fn of_records(kind: Kind) -> impl Iterator<Item = Self> {
        Self::of(kind).filter(|field| field.membership().is_none())
    }

    /// Returns the text fields that records of a kind can be filtered by.
    pub fn of_texts(kind: Kind) -> impl Iterator<Item = Self> {
        Self::of(kind).filter(|field| matches!(field.source(), FilterSource::Text { .. }))
    }

    /// Returns the fields whose texts a store has in an index of the records of a kind: see
    /// [`TextKey`].
    pub fn of_index(kind: Kind) -> impl Iterator<Item = Self> {
        let is_of_kind = move |field: &Self| field.indexed().is_some_and(|(of, _)| of == kind);
        Self::ALL.iter().copied().filter(is_of_kind)
    }

    /// Returns the kind and the field of its table whose texts a store has in an index.
    const fn indexed(self) -> Option<(Kind, &'static str)> {
        match self.source() {
            FilterSource::Text { kind, field } => Some((kind, field)),
            FilterSource::Through(membership) => Some((membership.container, "name")),
            _ => None,
        }
    }

    /// Returns whether a filter can name the field like this. `identifier` means `identifiers`.
    #[must_use]
    pub fn is_named(self, name: &str) -> bool {
        self.as_str().eq_ignore_ascii_case(name)
            || self == Self::Identifiers && name.eq_ignore_ascii_case("identifier")
    }

    /// Returns how records belong to the containers that the field names.
    #[must_use]
    pub const fn membership(self) -> Option<MembershipSpec> {
        match self.source() {
            FilterSource::Through(membership) => Some(membership),
            _ => None,
        }
    }

    /// Returns whether the values are dates. A collection can be ordered by a date.
    ///
    /// Requirements: FLT-09.
    #[must_use]
    pub const fn is_date(self) -> bool {
        matches!(self.source(), FilterSource::Date)
    }

    /// Returns the field of the kind's table that the filter reveals; `None` if every record has
    /// it.
    #[must_use]
    pub const fn shows(self) -> Option<&'static str> {
        match self.source() {
            FilterSource::EmailAddresses => Some("email_addresses"),
            FilterSource::UniqueName => Some("name"),
            FilterSource::Text { field, .. } => Some(field),
            FilterSource::Identifiers | FilterSource::Date | FilterSource::Through(_) => None,
        }
    }

    /// Returns the operators that can be used with the field.
    pub fn operators(self) -> impl Iterator<Item = Operator> {
        let fits = move |operator: &Operator| match self.source() {
            FilterSource::Date => *operator != Operator::StartsWith,
            FilterSource::Through(_) => *operator == Operator::Eq,
            FilterSource::Text { .. } => !operator.needs_order(),
            _ => !operator.needs_order() && *operator != Operator::StartsWith,
        };
        Operator::ALL.iter().copied().filter(fits)
    }
}

/// How a field is compared.
///
/// Requirements: FLT-02.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Operator {
    /// Equal to the value.
    Eq,
    /// Not equal to the value.
    Ne,
    /// Greater, which means later.
    Gt,
    /// Greater or equal.
    Ge,
    /// Less, which means earlier.
    Lt,
    /// Less or equal.
    Le,
    /// Equal to one of the values.
    In,
    /// The beginning of the text is the value.
    ///
    /// Requirements: FLT-14.
    StartsWith,
}

impl Operator {
    /// Every operator.
    pub const ALL: &'static [Self] = &[
        Self::Eq,
        Self::Ne,
        Self::Gt,
        Self::Ge,
        Self::Lt,
        Self::Le,
        Self::In,
        Self::StartsWith,
    ];

    /// Returns the name in filters.
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
            Self::StartsWith => "sw",
        }
    }

    /// Returns the meaning as a sentence.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Eq => "The field has the value.",
            Self::Ne => "The field does not have the value.",
            Self::Gt => "The date is later.",
            Self::Ge => "The date is equal or later.",
            Self::Lt => "The date is earlier.",
            Self::Le => "The date is equal or earlier.",
            Self::In => "The field has one of the values.",
            Self::StartsWith => "The text starts with the value.",
        }
    }

    /// Returns whether the operator compares the order of values.
    const fn needs_order(self) -> bool {
        matches!(self, Self::Gt | Self::Ge | Self::Lt | Self::Le)
    }
}

/// A value that a field is compared with, in normal form.
#[derive(Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FilterValue {
    /// A foreign identifier, an e-mail address or a name.
    Find(FindKey),
    /// An identifier in the server's own namespace: the id of the record.
    ///
    /// Requirements: ENT-08.
    Id(Id),
    /// A text.
    Text(TextKey),
    /// A timestamp.
    Date(Timestamp),
}

impl fmt::Debug for FilterValue {
    /// Omits the value, because it may be personal data.
    ///
    /// Requirements: UND-42.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Find(_) => "Find",
            Self::Id(_) => "Id",
            Self::Text(_) => "Text",
            Self::Date(_) => "Date",
        })
    }
}

/// One comparison of a filter.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Comparison {
    /// The field.
    pub field: FilterField,
    /// The operator.
    pub operator: Operator,
    /// One value; with [`Operator::In`] one or more. After an id, [`Filter::with_merged_people`] adds the
    /// same identifier as text.
    pub values: Vec<FilterValue>,
    /// The position of its first character in the text, counted from 1.
    pub at: usize,
}

/// The expression of a filter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FilterExpr {
    /// The comparison is true.
    Compare(Comparison),
    /// All of two or more expressions are true.
    And(Vec<FilterExpr>),
    /// At least one of two or more expressions is true.
    Or(Vec<FilterExpr>),
}

impl FilterExpr {
    /// Returns whether a comparison has an id of this server.
    fn has_ids(&self) -> bool {
        let is_id = |value: &FilterValue| matches!(value, FilterValue::Id(_));
        match self {
            Self::Compare(comparison) => comparison.values.iter().any(is_id),
            Self::And(parts) | Self::Or(parts) => parts.iter().any(Self::has_ids),
        }
    }

    fn add_identifiers(&mut self, namespace: &str) {
        match self {
            Self::Compare(comparison) => {
                let values = &mut comparison.values;
                let ids = values.iter().filter_map(|value| match value {
                    FilterValue::Id(id) => Identifier::parse(&format!("{namespace}:{id}")),
                    _ => None,
                });
                let identifiers: Vec<_> = ids.map(FindKey::Identifier).collect();
                values.extend(identifiers.into_iter().map(FilterValue::Find));
            }
            Self::And(parts) | Self::Or(parts) => {
                for part in parts {
                    part.add_identifiers(namespace);
                }
            }
        }
    }
}

/// A validated filter of a collection: its text and its expression.
///
/// It was sent by a client, and it compares declared fields only. It is cheap to clone.
#[derive(Clone, PartialEq, Eq)]
pub struct Filter(Arc<ParsedFilter>);

#[derive(PartialEq, Eq)]
struct ParsedFilter {
    text: String,
    tree: FilterExpr,
    plan: Result<QueryPlan, FilterError>,
}

impl Filter {
    /// Parses a filter.
    ///
    /// `fields` are the fields that the collection can be filtered by. Identifiers in `namespace`
    /// are the server's own.
    ///
    /// # Errors
    ///
    /// Returns the first problem with its position and the allowed alternatives. The error contains
    /// no part of the text, because the text may contain personal data.
    ///
    /// Requirements: FLT-03.
    pub fn parse(text: &str, fields: &[FilterField], namespace: &str) -> Result<Self, FilterError> {
        let tree = parse::tree(text, fields, namespace)?;
        let plan = query_plan::plan(&tree);
        Ok(Self(Arc::new(ParsedFilter {
            text: text.to_owned(),
            tree,
            plan,
        })))
    }

    /// Returns the text as it was sent. Links to other pages repeat it.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// Returns the expression.
    #[must_use]
    pub fn tree(&self) -> &FilterExpr {
        &self.0.tree
    }

    /// Returns a filter of people that also finds those into whom a person was merged, by the own
    /// identifier of the merged person: it is among the identifiers of the remaining one. The text
    /// remains unchanged.
    ///
    /// Requirements: MRG-08.
    #[must_use]
    pub fn with_merged_people(&self, namespace: &str) -> Self {
        if !self.0.tree.has_ids() {
            return self.clone();
        }
        let mut tree = self.0.tree.clone();
        tree.add_identifiers(namespace);
        let plan = query_plan::plan(&tree);
        Self(Arc::new(ParsedFilter {
            text: self.0.text.clone(),
            tree,
            plan,
        }))
    }

    /// Returns what a store looks up to find the records.
    ///
    /// # Errors
    ///
    /// Returns the first comparison that no index supports.
    ///
    /// Requirements: FLT-04.
    pub fn plan(&self) -> Result<&QueryPlan, &FilterError> {
        self.0.plan.as_ref()
    }
}

impl fmt::Debug for Filter {
    /// Omits the values.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Filter").field(&self.0.tree).finish()
    }
}

/// The problem of a filter, with its position.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("at character {position}: {message}")]
pub struct FilterError {
    /// The position in the text, counted from 1. If something is missing at the end, it is the last
    /// character.
    pub position: usize,
    /// The problem and the allowed alternatives, in whole sentences without any part of the text.
    pub message: String,
}

impl FilterError {
    fn new(at: usize, text: impl Into<String>) -> Self {
        Self {
            position: at.max(1),
            message: text.into(),
        }
    }

    /// Creates the error for the members of a container that are ordered by a date.
    pub(crate) fn of_ordered_members(members: Kind) -> Self {
        let members = members.plural();
        Self::new(
            1,
            format!(
                "This filter returns the records in the order of their {members}. Omit `order`."
            ),
        )
    }

    /// Creates the error for a range that is ordered by another field.
    pub(crate) fn of_order(field: FilterField) -> Self {
        let name = field.as_str();
        Self::new(
            1,
            format!(
                "A collection that is filtered by `{name}` is always ordered by it. Omit `order`."
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
                "{{property}} is invalid at character {}: {}",
                wrong.position, wrong.message
            ),
        )
    }
}

/// Joins names for a message: `a`, `b` or `c`.
fn one_of<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    match names.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::from("nothing"),
    }
}
