//! What a store looks up for a filter. Only this file decides whether a filter can be answered.

use super::{
    Comparison, FilterError, FilterExpr, FilterField, FilterValue, MembershipSpec, Operator,
};
use crate::value::{Id, Identifier, Timestamp};

/// A key that finds records by an index.
#[derive(Clone, PartialEq, Eq, Hash)]
pub enum IndexKey {
    /// The record with this id.
    Id(Id),
    /// The record with this foreign identifier.
    ///
    /// Requirements: UND-24.
    Identifier(Identifier),
    /// Every person with this e-mail address, in [normal form](crate::helper::normalize_email).
    Email(String),
    /// The record with this name.
    ///
    /// Requirements: UND-02, UND-03.
    Name(String),
}

impl std::fmt::Debug for IndexKey {
    /// Omits the value, because it may be personal data.
    ///
    /// Requirements: UND-42.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Id(_) => "Id",
            Self::Identifier(_) => "Identifier",
            Self::Email(_) => "Email",
            Self::Name(_) => "Name",
        })
    }
}

/// The records whose date is between two timestamps, inclusive, in microseconds since 1970.
///
/// The range is empty if `to` is before `from`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct DateRange {
    /// The date.
    pub field: FilterField,
    /// The first timestamp.
    pub from: i64,
    /// The last timestamp.
    pub to: i64,
}

impl DateRange {
    /// Returns the range of all records, in the order of a date.
    #[must_use]
    pub fn unbounded(field: FilterField) -> Self {
        Self {
            field,
            from: Timestamp::MIN.as_micros(),
            to: Timestamp::MAX.as_micros(),
        }
    }

    /// Returns whether the range contains every record.
    #[must_use]
    pub fn is_unbounded(&self) -> bool {
        *self == Self::unbounded(self.field)
    }

    /// Returns the part of the range that also satisfies a comparison of its date.
    fn narrowed(mut self, term: &Comparison) -> Option<Self> {
        let [FilterValue::Date(date)] = term.values.as_slice() else {
            return None;
        };
        let micros = date.as_micros();
        match term.operator {
            Operator::Eq => (self.from, self.to) = (self.from.max(micros), self.to.min(micros)),
            Operator::Gt => self.from = self.from.max(micros.saturating_add(1)),
            Operator::Ge => self.from = self.from.max(micros),
            Operator::Lt => self.to = self.to.min(micros.saturating_sub(1)),
            Operator::Le => self.to = self.to.min(micros),
            Operator::Ne | Operator::In => return None,
        }
        Some(self)
    }
}

/// The lookups of a store for a filter.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum QueryPlan {
    /// The records that these keys find, without duplicates. Records that do not match the filter
    /// are left out: see [`matches`](super::matches).
    Keys(Vec<IndexKey>),
    /// The records of a range, ordered by its date, then by creation. Each of them matches the
    /// filter.
    DateRange(DateRange),
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

/// Returns the plan of an expression: points for each alternative, or one range for the whole
/// expression.
pub(super) fn plan(tree: &FilterExpr) -> Result<QueryPlan, FilterError> {
    if let Some(range) = range(tree) {
        return Ok(QueryPlan::DateRange(range));
    }
    if let Some((term, membership)) = membership(tree) {
        if let (FilterExpr::Compare(_), [FilterValue::Name(name)]) = (tree, &*term.values) {
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

const REFUSED: &str = "No index supports this filter. Compare one date only, with comparisons joined by `and`. Or compare \
                       an identifier, e-mail address or name by `eq` or `in` in each alternative of `or`, and join other \
                       comparisons to it by `and`.";

/// Returns the range of an expression that compares one date only.
fn range(tree: &FilterExpr) -> Option<DateRange> {
    let mut terms = Vec::new();
    conjunction(tree, &mut terms)?;
    let field = terms.first()?.field;
    let is_same = |term: &&Comparison| term.field == field;
    if !field.is_date() || !terms.iter().all(is_same) {
        return None;
    }
    terms
        .into_iter()
        .try_fold(DateRange::unbounded(field), DateRange::narrowed)
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

/// Returns keys that find every record that matches an expression, and possibly others. If there is
/// a choice, it returns the smallest number of keys.
fn points(tree: &FilterExpr) -> Result<Vec<IndexKey>, &Comparison> {
    match tree {
        FilterExpr::Compare(term) => {
            let is_point = matches!(term.operator, Operator::Eq | Operator::In);
            let points: Option<Vec<IndexKey>> = term.values.iter().map(point).collect();
            points.filter(|_| is_point).ok_or(term)
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
                    Ok(points) if best.as_ref().is_none_or(|best| points.len() < best.len()) => {
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

fn point(value: &FilterValue) -> Option<IndexKey> {
    Some(match value {
        FilterValue::Identifier(identifier) => IndexKey::Identifier(identifier.clone()),
        FilterValue::Id(id) => IndexKey::Id(id.clone()),
        FilterValue::Email(address) => IndexKey::Email(address.clone()),
        FilterValue::Name(name) => IndexKey::Name(name.clone()),
        FilterValue::Date(_) => return None,
    })
}
