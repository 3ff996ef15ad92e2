//! Actions of people, such as donations, whose values are in a row with their person.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use svc_core::helper::HelperName;
use svc_core::model::Kind;
use svc_core::schema::{FieldRule, ObjectSchema, ValueType};
use svc_core::value::{Amount, minor_digits};

use crate::amounts::{CurrencyHint, MoneyText};
use crate::mapping::DroppedCell;
use crate::member::{EntryKey, RecordField, ValueFormat};
use crate::values::{CellContext, identifiers, value_of};

/// A kind of action that the rows of a table can have, and the helper that records it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ActionKind(HelperName);

impl ActionKind {
    /// Every kind of action that can be imported.
    pub const ALL: [Self; 4] = [
        Self(HelperName::RecordSignature),
        Self(HelperName::RecordDonation),
        Self(HelperName::RecordAttendance),
        Self(HelperName::RecordSubmission),
    ];

    /// Returns the kind of action with a name, such as `donation` or `donations`.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|one| one.singular() == name || one.plural() == name)
    }

    /// Returns the helper that records it.
    #[must_use]
    pub fn helper(self) -> HelperName {
        self.0
    }

    /// Returns its name, such as `donation`.
    #[must_use]
    pub fn singular(self) -> &'static str {
        self.0.recorded_kind().schema().singular
    }

    /// Returns its plural, such as `donations`.
    #[must_use]
    pub fn plural(self) -> &'static str {
        self.0.recorded_kind().schema().plural
    }

    /// Returns the kind of the records that have such actions, such as petitions.
    #[must_use]
    pub fn container(self) -> Kind {
        // The four helpers have a container, so the default is never used.
        self.0.container_kind().unwrap_or(Kind::Person)
    }

    pub(crate) fn fields(self) -> &'static ObjectSchema {
        self.0.recorded_kind().schema().fields
    }

    /// Returns the kind and the member of a notation such as `donation.amount`.
    pub(crate) fn split(text: &str) -> Option<(Self, &str)> {
        let (name, member) = text.split_once('.')?;
        let mut all = Self::ALL.into_iter();
        Some((all.find(|one| one.singular() == name)?, member))
    }

    /// Returns the amount of the action, without which it has no meaning.
    pub(crate) fn amount(self) -> Option<&'static str> {
        let mut fields = self.fields().fields.iter();
        let amount = fields.find(|field| matches!(field.ty, ValueType::Amount));
        amount.map(|field| field.name)
    }
}

/// Whether a row is rejected if this value of its action cannot be read. Without it, the action would have another
/// meaning: another amount, currency or year, that a refunded donation counts, or that a person attends.
fn is_decisive(action: ActionKind, field: &RecordField) -> bool {
    let decides = ["currency", "action_date", "voided", "voided_date"];
    match field.format {
        ValueFormat::Amount | ValueFormat::Listed(_) => true,
        _ => action.amount().is_some() && decides.contains(&field.member.unwrap_or(field.field)),
    }
}

/// The objects of an action, by their field and their key in a list.
type ActionObjects = BTreeMap<&'static str, BTreeMap<Option<EntryKey>, Map<String, Value>>>;

/// The action of a row while it is made.
#[derive(Debug, Default)]
pub(crate) struct ActionBuilder {
    members: Map<String, Value>,
    objects: ActionObjects,
    identifiers: Vec<Value>,
    amounts: Vec<ReadAmount>,
    /// The values that reject the row.
    pub(crate) rejected: Vec<DroppedCell>,
}

/// An amount of an action.
#[derive(Debug)]
struct ReadAmount {
    field: RecordField,
    column: usize,
    amount: Amount,
    currency: Option<CurrencyHint>,
}

impl ActionBuilder {
    /// Sets a member from a cell.
    ///
    /// # Errors
    ///
    /// Returns why the action does not get the value.
    pub(crate) fn set(
        &mut self,
        action: ActionKind,
        field: &RecordField,
        cell: &str,
        column: usize,
        context: CellContext<'_>,
    ) -> Result<(), String> {
        let read = if field.format == ValueFormat::Amount {
            MoneyText::read(cell, context.decimal_mark)
                .map(|money| {
                    self.amounts.push(ReadAmount {
                        field: field.clone(),
                        column,
                        amount: money.amount,
                        currency: money.currency,
                    });
                    Some(money.to_json())
                })
                .map_err(|why| why.to_string())
        } else {
            value_of(field, cell, context)
        };
        match read {
            Ok(Some(value)) => {
                let name = field.member.unwrap_or(field.field);
                // Of several dates, the first one counts.
                self.object_of(field).entry(name).or_insert(value);
                Ok(())
            }
            Ok(None) => {
                if let ValueFormat::Listed(values) = field.format {
                    self.reject(column, format!("is not one of {}", values.join(", ")));
                }
                Ok(())
            }
            Err(reason) if is_decisive(action, field) => {
                self.reject(column, reason);
                Ok(())
            }
            Err(reason) => Err(reason),
        }
    }

    /// Adds the identifiers in a cell.
    ///
    /// # Errors
    ///
    /// Returns why the cell has something else.
    pub(crate) fn add_identifiers(
        &mut self,
        cell: &str,
        system: Option<&str>,
    ) -> Result<(), String> {
        let (found, wrong) = identifiers(cell, system);
        self.identifiers.extend(found.into_iter().map(Value::from));
        wrong.map_or(Ok(()), Err)
    }

    /// Rejects the row because of a cell.
    pub(crate) fn reject(&mut self, column: usize, reason: impl Into<String>) {
        let reason = reason.into();
        self.rejected.push(DroppedCell { column, reason });
    }

    /// Whether the row has an amount.
    pub(crate) fn has_amount(&self) -> bool {
        !self.amounts.is_empty()
    }

    /// Adds the currencies of amounts, and rejects amounts that their currency cannot have.
    pub(crate) fn check_amounts(&mut self, kind: ActionKind) {
        for read in std::mem::take(&mut self.amounts) {
            let ReadAmount {
                field,
                column,
                amount,
                currency,
            } = read;
            let Some((object, name)) = self.currency_of(kind, &field) else {
                continue;
            };
            if let Some(code) = currency.and_then(CurrencyHint::code) {
                object.entry(name).or_insert_with(|| code.into());
            }
            let Some(code) = object.get(name).and_then(Value::as_str) else {
                continue;
            };
            let is_other = currency.is_some_and(|hint| !hint.allows(code));
            let has_excess = minor_digits(code).is_some_and(|digits| !amount.fits_digits(digits));
            let code = code.to_owned();
            if is_other {
                self.reject(column, format!("is not in the currency of the row, {code}"));
            } else if has_excess {
                let reason = format!("has more digits after the decimal mark than {code} has");
                self.reject(column, reason);
            }
        }
    }

    /// Returns the members of the action.
    pub(crate) fn finish(self) -> Map<String, Value> {
        let mut members = self.members;
        for (field, objects) in self.objects {
            let is_list = objects.keys().any(Option::is_some);
            let mut objects = objects.into_values().map(Value::Object);
            let value = if is_list {
                Some(objects.collect())
            } else {
                objects.next()
            };
            members.extend(value.map(|value| (field.to_owned(), value)));
        }
        if !self.identifiers.is_empty() {
            members.insert("identifiers".to_owned(), self.identifiers.into());
        }
        members
    }

    /// Returns the object that has a member.
    fn object_of(&mut self, field: &RecordField) -> &mut Map<String, Value> {
        if field.member.is_none() {
            return &mut self.members;
        }
        let objects = self.objects.entry(field.field).or_default();
        objects.entry(field.entry.clone()).or_default()
    }

    /// Returns the object and the member with the currency of an amount: next to the amount, or in the action.
    fn currency_of(
        &mut self,
        kind: ActionKind,
        amount: &RecordField,
    ) -> Option<(&mut Map<String, Value>, &'static str)> {
        let currency = |schema: &'static ObjectSchema| {
            let mut fields = schema.fields.iter();
            let field = fields.find(|field| field.rules.contains(&FieldRule::CurrencyCode))?;
            Some(field.name)
        };
        let own = amount.member.and_then(|_| {
            let field = kind.fields().field(amount.field)?;
            currency(field.ty.object()?)
        });
        match own {
            Some(name) => Some((self.object_of(amount), name)),
            None => Some((&mut self.members, currency(kind.fields())?)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_a_container_and_a_helper_for_people() {
        for kind in ActionKind::ALL {
            let helper = kind.helper();
            assert!(helper.accepts_person() && helper.accepts_batches());
            assert!(helper.accepts_action_functions());
            assert_eq!(helper.container_kind(), Some(kind.container()));
            assert_eq!(ActionKind::from_name(kind.plural()), Some(kind));
        }
        assert_eq!(ActionKind::from_name("people"), None);
        let amounts = ActionKind::ALL.map(ActionKind::amount);
        assert_eq!(amounts, [None, Some("amount"), None, None]);
    }
}
