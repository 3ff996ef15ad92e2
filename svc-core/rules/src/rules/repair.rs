//! Repairs data from older versions of this library.
//!
//! It limits amounts to their allowed range, converts flags of phone numbers to text, and converts
//! currencies to uppercase. It also normalizes e-mail addresses. Totals are counted by
//! [`Recount`](super::Recount).

use std::fmt;

use super::{holders::posted_holder, lists::list, person::person_key};
use crate::{
    draft::RawDraft,
    error::{PropertyPath, Result},
    helper::{PersonMatching, addresses},
    json::{Json, Number, Object},
    link::ShareNames,
    model::Kind,
    schema::{FieldRule, ObjectSchema, ValueType},
    store::{Change, IndexValues, LookupKey, ReplaceRecord, StoredRecord},
    value::{Amount, Id, currency},
};

/// Repairs the records of one tenant, one record at a time, in the order of
/// [`RecordRepair::KIND_ORDER`].
#[derive(Debug, Default)]
pub struct RecordRepair {
    rounded: Vec<RoundedAmount>,
}

/// An amount that was rounded because it had more digits than an amount may have.
///
/// Requirements: TYP-03.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RoundedAmount {
    /// The kind of the record.
    pub kind: Kind,
    /// The record.
    pub id: Id,
    /// The path of the amount in the record.
    pub property: PropertyPath,
    /// The amount before the repair.
    pub was: String,
    /// The amount after the repair.
    pub now: Amount,
}

impl fmt::Display for RoundedAmount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            kind,
            id,
            property,
            was,
            now,
        } = self;
        write!(
            f,
            "{} {id}: `{property}` changed from {was} to {now}",
            kind.singular()
        )
    }
}

impl RecordRepair {
    /// The kinds to repair, in this order.
    pub const KIND_ORDER: [Kind; 5] = [
        Kind::Person,
        Kind::Donation,
        Kind::Attendance,
        Kind::FundraisingPage,
        Kind::Event,
    ];

    /// Returns the changes that repair a record. Its modification date stays unchanged.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Unexpected`](crate::error::ErrorKind::Unexpected) for fields that cannot be
    /// read.
    pub fn record(&mut self, stored: &StoredRecord) -> Result<Vec<Change>> {
        // The fields are written under the names they were read with, even if the share objects
        // have other names.
        let names = ShareNames::default();
        let record = &stored.record;
        let before = record.to_fields(&names)?;
        let mut after = before.clone();
        let (kind, id) = (record.kind(), &record.meta().id);
        let mut walk = AmountRounder {
            kind,
            id,
            rounded: &mut self.rounded,
        };
        each_value(
            kind.schema().fields,
            &mut after,
            &PropertyPath::default(),
            &mut |ty, rules, value, at| walk.value(ty, rules, value, at),
        );
        let mut changes = Vec::new();
        // Texts and keys are not repaired, and only a later version has their index.
        let index = IndexValues::of(kind, &after);
        let had = IndexValues {
            emails: if kind == Kind::Person {
                folded(&before)
            } else {
                Vec::new()
            },
            texts: index.texts.clone(),
            keys: index.keys.clone(),
        };
        if before != after || had != index {
            let modified_by = record.link("modified_by").map(|person| person.id.clone());
            changes.push(Change::Replace(Box::new(ReplaceRecord {
                target: stored.at(),
                parent: record.address().parent,
                modified: record.meta().modified,
                modified_by,
                fields: names.wire_members(&after),
                identifiers: record.meta().identifiers.clone(),
                removed_identifiers: Vec::new(),
                added_identifiers: Vec::new(),
                name: None,
                added: index.without(&had),
                removed: had.without(&index),
            })));
        }
        Ok(changes)
    }

    /// Returns the people that the tickets of an attendance name.
    ///
    /// Each entry has the position of the ticket and the lookup keys of the person; the first match
    /// counts. Older versions did not record the people of changed tickets.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Unexpected`](crate::error::ErrorKind::Unexpected) for fields that cannot be
    /// read.
    ///
    /// Requirements: RES-attendance-14.
    pub fn holders(
        stored: &StoredRecord,
        matching: &dyn PersonMatching,
    ) -> Result<Vec<(i64, Vec<LookupKey>)>> {
        if stored.record.kind() != Kind::Attendance {
            return Ok(Vec::new());
        }
        let fields = stored.record.to_fields(&ShareNames::default())?;
        let tickets = (0..).zip(list(&fields, "tickets"));
        let named =
            tickets.filter_map(|(place, ticket)| Some((place, posted_holder(ticket, None)?)));
        let keys = |posted: &RawDraft| {
            matching
                .keys(&posted.identifiers, &posted.fields)
                .iter()
                .map(person_key)
                .collect()
        };
        Ok(named
            .map(|(place, posted)| (place, keys(&posted)))
            .collect())
    }

    /// Returns the amounts that were rounded.
    #[must_use]
    pub fn rounded(&self) -> &[RoundedAmount] {
        &self.rounded
    }
}

/// Returns the addresses under which a person was found, each once. Older versions also converted
/// letters outside of ASCII to lowercase.
fn folded(person: &Object) -> Vec<String> {
    let mut addresses = addresses(person, |address| address.trim().to_lowercase());
    addresses.sort_unstable();
    addresses.dedup();
    addresses
}

/// A function that receives a value, with its type, the rules of its field and its path.
type ValueVisitor<'v> = dyn FnMut(&ValueType, &[FieldRule], &mut Json, &PropertyPath) + 'v;

/// Passes every value in the fields of a record to a function, with its type, the rules of its field
/// and its path. A function that receives an object or array receives its members afterwards.
pub(super) fn each_value(
    schema: &ObjectSchema,
    object: &mut Object,
    at: &PropertyPath,
    visit: &mut ValueVisitor<'_>,
) {
    for field in schema.fields.iter().filter(|field| !field.is_computed()) {
        if let Some(value) = object.get_mut(field.name) {
            let at = at.clone().push_member(field.name);
            each_within(&field.ty, field.rules, value, &at, visit);
        }
    }
}

fn each_within(
    ty: &ValueType,
    rules: &[FieldRule],
    value: &mut Json,
    at: &PropertyPath,
    visit: &mut ValueVisitor<'_>,
) {
    if let (ValueType::OneOrMany(item), false) = (ty, matches!(value, Json::Array(_))) {
        return each_within(item, rules, value, at, visit);
    }
    visit(ty, rules, value, at);
    match (ty, value) {
        (ValueType::Object(schema), Json::Object(object)) => each_value(schema, object, at, visit),
        (ValueType::Array(item) | ValueType::OneOrMany(item), Json::Array(items)) => {
            for (place, value) in items.iter_mut().enumerate() {
                each_within(item, rules, value, &at.clone().push_index(place), visit);
            }
        }
        _ => {}
    }
}

/// Rounds the amounts of a record.
struct AmountRounder<'a> {
    kind: Kind,
    id: &'a Id,
    rounded: &'a mut Vec<RoundedAmount>,
}

impl AmountRounder<'_> {
    fn value(&mut self, ty: &ValueType, rules: &[FieldRule], value: &mut Json, at: &PropertyPath) {
        match (ty, value) {
            (ValueType::Flag, value @ Json::Bool(_)) => {
                *value = Json::from(if *value == Json::Bool(true) {
                    "true"
                } else {
                    "false"
                });
            }
            (ValueType::Amount, value @ Json::Number(_)) => self.amount(value, at),
            (ValueType::String, value @ Json::String(_))
                if rules.contains(&FieldRule::CurrencyCode) =>
            {
                if let Some(code) = value.as_str().and_then(currency) {
                    *value = Json::from(code);
                }
            }
            _ => {}
        }
    }

    /// Limits an amount to at most sixteen digits before and six after the decimal point, and to
    /// values from zero.
    ///
    /// Requirements: TYP-03.
    fn amount(&mut self, value: &mut Json, at: &PropertyPath) {
        let Some(was) = value.as_number().map(Number::as_str) else {
            return;
        };
        let known = Amount::parse(was);
        let now = known.map_or(Amount::ZERO, Amount::as_money);
        if known != Some(now) {
            let (kind, id, was) = (self.kind, self.id.clone(), was.to_owned());
            self.rounded.push(RoundedAmount {
                kind,
                id,
                property: at.clone(),
                was,
                now,
            });
        }
        *value = Json::from(now);
    }
}
