//! Evaluation of a filter for a single record, independent of any index.
//!
//! Requirements: FLT-02.

use super::{
    Comparison, FilterExpr, FilterField, FilterValue, FindKey, Operator, TextKey, text_keys,
};
use crate::{
    error::{Error, Result},
    helper::emails,
    json::Json,
    link::ShareNames,
    record::RawRecord,
    value::{Identifier, Timestamp},
};

/// Returns whether a record matches a filter.
///
/// A field with several values, such as identifiers, is equal to a value if one of its values is.
/// `ne` is the negation of `eq`.
///
/// # Errors
///
/// Returns an error if the stored fields are not JSON, or if the filter compares a
/// [membership](super::MembershipSpec).
pub fn matches(tree: &FilterExpr, record: &RawRecord) -> Result<bool> {
    evaluate(
        tree,
        &mut RecordMembers {
            record,
            identifiers: None,
            emails: None,
            texts: None,
        },
    )
}

/// A record with the members that were already read.
struct RecordMembers<'r> {
    record: &'r RawRecord,
    identifiers: Option<Vec<Identifier>>,
    emails: Option<Vec<String>>,
    texts: Option<Vec<TextKey>>,
}

fn evaluate(tree: &FilterExpr, seen: &mut RecordMembers<'_>) -> Result<bool> {
    match tree {
        FilterExpr::Compare(term) => compare(term, seen),
        FilterExpr::And(trees) => {
            for tree in trees {
                if !evaluate(tree, seen)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        FilterExpr::Or(trees) => {
            for tree in trees {
                if evaluate(tree, seen)? {
                    return Ok(true);
                }
            }
            Ok(false)
        }
    }
}

fn compare(term: &Comparison, seen: &mut RecordMembers<'_>) -> Result<bool> {
    let meta = seen.record.meta();
    let date = match term.field {
        FilterField::CreatedDate => meta.created,
        FilterField::ModifiedDate => meta.modified,
        field if field.membership().is_some() => {
            return Err(Error::unexpected(
                "a record does not contain its memberships",
            ));
        }
        _ => {
            let has = seen.has_any(&term.values, term.operator)?;
            return Ok(has != (term.operator == Operator::Ne));
        }
    };
    let than = |compare: fn(&Timestamp, &Timestamp) -> bool| {
        term.values
            .iter()
            .any(|value| matches!(value, FilterValue::Date(value) if compare(&date, value)))
    };
    Ok(match term.operator {
        Operator::Eq | Operator::In | Operator::StartsWith => than(Timestamp::eq),
        Operator::Ne => than(Timestamp::ne),
        Operator::Gt => than(Timestamp::gt),
        Operator::Ge => than(Timestamp::ge),
        Operator::Lt => than(Timestamp::lt),
        Operator::Le => than(Timestamp::le),
    })
}

impl RecordMembers<'_> {
    fn has_any(&mut self, values: &[FilterValue], operator: Operator) -> Result<bool> {
        for value in values {
            if self.has(value, operator)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn has(&mut self, value: &FilterValue, operator: Operator) -> Result<bool> {
        let record = self.record;
        let fields = || record.to_fields(&ShareNames::default());
        Ok(match value {
            FilterValue::Id(id) => record.meta().id == *id,
            FilterValue::Find(FindKey::Identifier(identifier)) => self
                .identifiers
                .get_or_insert_with(|| record.meta().identifiers.to_vec())
                .contains(identifier),
            FilterValue::Find(FindKey::Email(address)) => {
                if self.emails.is_none() {
                    self.emails = Some(emails(&fields()?).collect());
                }
                self.emails
                    .as_ref()
                    .is_some_and(|emails| emails.contains(address))
            }
            FilterValue::Find(FindKey::Name(name)) => {
                fields()?.get("name").and_then(Json::as_str) == Some(name)
            }
            FilterValue::Text(sought) => {
                if self.texts.is_none() {
                    self.texts = Some(text_keys(record.kind(), &fields()?).collect());
                }
                let is_found = |text: &TextKey| match operator {
                    Operator::StartsWith => text.starts_with(sought),
                    _ => text == sought,
                };
                self.texts
                    .as_ref()
                    .is_some_and(|texts| texts.iter().any(is_found))
            }
            FilterValue::Date(_) => false,
        })
    }
}
