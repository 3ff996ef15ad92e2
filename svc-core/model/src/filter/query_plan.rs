//! What a store looks up for a filter. Only this file decides whether a filter can be answered.

use super::{
    Comparison, FilterError, FilterExpr, FilterField, FilterSource, FilterValue, MembershipSpec,
    Operator, TextKey,
};
use crate::{
    helper::MatchKey,
    value::{Id, Identifier, Timestamp},
};

/// A key that a record is looked up by, other than its id.
#[derive(Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FindKey {
    /// The record with this name, which is unique; compared exactly.
    ///
    /// Requirements: UND-02, UND-03.
    Name(String),
    /// The record with this foreign identifier.
    ///
    /// Requirements: UND-24.
    Identifier(Identifier),
    /// The people with this e-mail address, in the [form](crate::value::forms::match_form) in which
    /// addresses are compared. A database can have another
    /// [notation](crate::value::email_notations) of it. The oldest person is found if one is sought.
    Email(String),
}

impl From<MatchKey> for FindKey {
    fn from(key: MatchKey) -> Self {
        match key {
            MatchKey::Identifier(identifier) => Self::Identifier(identifier),
            MatchKey::Email(address) => Self::Email(address),
        }
    }
}

impl std::fmt::Debug for FindKey {
    /// Omits the value, because it may be personal data.
    ///
    /// Requirements: UND-42.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Name(_) => "Name",
            Self::Identifier(_) => "Identifier",
            Self::Email(_) => "Email",
        })
    }
}

/// A key of a filter, which finds records by an index.
#[derive(Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum IndexKey {
    /// The record with this id.
    Id(Id),
    /// Every record with this key.
    Find(FindKey),
    /// Every record with this text.
    ///
    /// Requirements: FLT-14.
    Text(TextKey),
    /// Every record whose text starts with this one.
    ///
    /// Requirements: FLT-14.
    TextStart(TextKey),
}

impl std::fmt::Debug for IndexKey {
    /// Omits the value, because it may be personal data.
    ///
    /// Requirements: UND-42.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Id(_) => "Id",
            Self::Find(_) => "Find",
            Self::Text(_) => "Text",
            Self::TextStart(_) => "TextStart",
        })
    }
}

impl IndexKey {
    /// Returns the first and the last text that the key finds; `None` for a key that is not a text.
    #[must_use]
    pub fn texts(&self) -> Option<(FilterField, String, String)> {
        match self {
            Self::Text(key) => Some((key.field(), key.text().to_owned(), key.text().to_owned())),
            Self::TextStart(key) => Some((key.field(), key.text().to_owned(), key.end())),
            _ => None,
        }
    }
}

/// A value that the records of a collection are ordered by. Only values of one field are compared.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum SortKey {
    /// A date in microseconds since 1970; 0 in creation order.
    Date(i64),
    /// A text in normal form: see [`TextKey`]. Empty for a record without the text.
    Text(String),
}

impl std::fmt::Debug for SortKey {
    /// Omits a text, because it may be personal data.
    ///
    /// Requirements: UND-42.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Date(micros) => f.debug_tuple("Date").field(micros).finish(),
            Self::Text(_) => f.write_str("Text"),
        }
    }
}

/// The records whose date or text is between two values, inclusive.
///
/// The range is empty if `to` is before `from`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeyRange {
    /// The field.
    pub field: FilterField,
    /// The first value.
    pub from: SortKey,
    /// The last value.
    pub to: SortKey,
}

impl KeyRange {
    /// Returns the range of all records, in the order of a date.
    #[must_use]
    pub fn unbounded(date: FilterField) -> Self {
        Self {
            field: date,
            from: SortKey::Date(Timestamp::MIN.as_micros()),
            to: SortKey::Date(Timestamp::MAX.as_micros()),
        }
    }

    /// Returns whether the range contains every record.
    #[must_use]
    pub fn is_unbounded(&self) -> bool {
        *self == Self::unbounded(self.field)
    }

    /// Returns the range of the records whose text is equal to the value of a comparison, or starts
    /// with it.
    fn of_text(term: &Comparison) -> Option<Self> {
        let [FilterValue::Text(key)] = term.values.as_slice() else {
            return None;
        };
        let from = key.text().to_owned();
        let to = match term.operator {
            Operator::Eq | Operator::In => from.clone(),
            Operator::StartsWith => key.end(),
            _ => return None,
        };
        Some(Self {
            field: term.field,
            from: SortKey::Text(from),
            to: SortKey::Text(to),
        })
    }

    /// Returns the range of the records whose date satisfies each comparison.
    fn of_dates(terms: &[&Comparison]) -> Option<Self> {
        let (mut from, mut to) = (Timestamp::MIN.as_micros(), Timestamp::MAX.as_micros());
        for term in terms {
            let [FilterValue::Date(date)] = term.values.as_slice() else {
                return None;
            };
            let micros = date.as_micros();
            match term.operator {
                Operator::Eq => (from, to) = (from.max(micros), to.min(micros)),
                Operator::Gt => from = from.max(micros.saturating_add(1)),
                Operator::Ge => from = from.max(micros),
                Operator::Lt => to = to.min(micros.saturating_sub(1)),
                Operator::Le => to = to.min(micros),
                Operator::Ne | Operator::In | Operator::StartsWith => return None,
            }
        }
        Some(Self {
            field: terms.first()?.field,
            from: SortKey::Date(from),
            to: SortKey::Date(to),
        })
    }
}

/// The lookups of a store for a filter.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum QueryPlan {
    /// The records that these keys find, without duplicates. Records that do not match the filter
    /// are left out: see [`matches`](super::matches).
    Keys(Vec<IndexKey>),
    /// The records of a range, ordered by its field, then by creation. Each of them matches the
    /// filter.
    Range(KeyRange),
    /// The records that the members of a container link to, in the order of the members.
    Members(MembershipKey),
}

/// The members of one container.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MembershipKey {
    /// How the records belong to the container.
    pub membership: MembershipSpec,
    /// The name of the container.
    pub name: String,
}

impl std::fmt::Debug for MembershipKey {
    /// Omits the name, because it may be personal data.
    ///
    /// Requirements: UND-42.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MembershipKey")
            .field("membership", &self.membership)
            .finish_non_exhaustive()
    }
}

/// Returns the plan of an expression: one range or one container for the whole expression, or
/// points for each alternative.
pub(super) fn plan(tree: &FilterExpr) -> Result<QueryPlan, FilterError> {
    if let Some(range) = range(tree) {
        return Ok(QueryPlan::Range(range));
    }
    if let Some((term, membership)) = membership(tree) {
        if let (FilterExpr::Compare(_), [FilterValue::Find(FindKey::Name(name))]) =
            (tree, &*term.values)
        {
            let name = name.clone();
            return Ok(QueryPlan::Members(MembershipKey { membership, name }));
        }
        let name = term.field.as_str();
        let text = format!("`{name}` cannot be combined with other comparisons. Remove them.");
        return Err(FilterError::new(term.at, text));
    }
    let mut points = points(tree).map_err(|term| FilterError::new(term.at, REFUSED))?;
    if points.len() > 1 {
        let mut seen = std::collections::HashSet::new();
        points.retain(|point| seen.insert(point.clone()));
    }
    Ok(QueryPlan::Keys(points))
}

const REFUSED: &str = "No index supports this filter. Compare one date only, with comparisons joined by `and`. Or compare an \
                       identifier, e-mail address, name or text by `eq` or `in` in each alternative of `or`, and join other \
                       comparisons to it by `and`.";

/// Returns the range of an expression that compares one date only, or one text once.
fn range(tree: &FilterExpr) -> Option<KeyRange> {
    let mut terms = Vec::new();
    conjunction(tree, &mut terms)?;
    let field = terms.first()?.field;
    let is_same = |term: &&Comparison| term.field == field;
    match (field.source(), terms.as_slice()) {
        (FilterSource::Text { .. }, [term]) => KeyRange::of_text(term),
        (FilterSource::Date, terms) if terms.iter().all(is_same) => KeyRange::of_dates(terms),
        _ => None,
    }
}

/// Collects every comparison of an expression without alternatives.
fn conjunction<'t>(tree: &'t FilterExpr, into: &mut Vec<&'t Comparison>) -> Option<()> {
    match tree {
        FilterExpr::Compare(term) => into.push(term),
        FilterExpr::And(trees) => trees.iter().try_for_each(|tree| conjunction(tree, into))?,
        FilterExpr::Or(_) => return None,
    }
    Some(())
}

/// Returns the first comparison with the name of a container.
fn membership(tree: &FilterExpr) -> Option<(&Comparison, MembershipSpec)> {
    match tree {
        FilterExpr::Compare(term) => Some((term, term.field.membership()?)),
        FilterExpr::And(trees) | FilterExpr::Or(trees) => trees.iter().find_map(membership),
    }
}

/// Returns whether keys can find many records, from the most likely on, and then their number.
fn cost(keys: &[IndexKey]) -> (bool, bool, usize) {
    let has = |of: fn(&IndexKey) -> bool| keys.iter().any(of);
    (
        has(|key| matches!(key, IndexKey::TextStart(_))),
        has(|key| matches!(key, IndexKey::Text(_) | IndexKey::Find(FindKey::Email(_)))),
        keys.len(),
    )
}

/// Returns keys that find every record that matches an expression, and possibly others. If there is
/// a choice, it returns those that find the fewest records.
fn points(tree: &FilterExpr) -> Result<Vec<IndexKey>, &Comparison> {
    match tree {
        FilterExpr::Compare(term) => {
            let point = |value: &FilterValue| point(value, term.operator);
            let points: Option<Vec<IndexKey>> = term.values.iter().map(point).collect();
            points.ok_or(term)
        }
        FilterExpr::Or(trees) => {
            let each: Vec<Vec<IndexKey>> = trees.iter().map(points).collect::<Result<_, _>>()?;
            Ok(each.concat())
        }
        FilterExpr::And(trees) => {
            let mut refused = None;
            let mut best: Option<Vec<IndexKey>> = None;
            for tree in trees {
                match points(tree) {
                    Ok(points) if best.as_ref().is_none_or(|best| cost(&points) < cost(best)) => {
                        best = Some(points);
                    }
                    Ok(_) => {}
                    Err(term) => _ = refused.get_or_insert(term),
                }
            }
            match (best, refused) {
                (Some(best), _) => Ok(best),
                (None, Some(term)) => Err(term),
                (None, None) => Ok(Vec::new()),
            }
        }
    }
}

/// Returns the key that finds the records with a value; `None` if no index does.
fn point(value: &FilterValue, operator: Operator) -> Option<IndexKey> {
    match (operator, value) {
        (Operator::StartsWith, FilterValue::Text(key)) => Some(IndexKey::TextStart(key.clone())),
        (Operator::Eq | Operator::In, FilterValue::Text(key)) => Some(IndexKey::Text(key.clone())),
        (Operator::Eq | Operator::In, FilterValue::Id(id)) => Some(IndexKey::Id(id.clone())),
        (Operator::Eq | Operator::In, FilterValue::Find(key)) => Some(IndexKey::Find(key.clone())),
        _ => None,
    }
}
