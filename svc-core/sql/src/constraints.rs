//! The constraints of the tables, as declared in the capability document.
//!
//! Requirements: CAP-04 to CAP-08.

use std::collections::BTreeSet;

use svc_core::{
    schema::{Constraint, Constraints, EntryValues, FieldRule, FieldSpec, ObjectSchema, ValueType},
    value::Amount,
};

use super::{
    column::Conversion,
    dialect::ColumnType,
    resolved_mapping::{FieldStorage, ResolvedField, ResolvedTable, StoredColumn},
};

impl ResolvedTable {
    /// Returns the required fields, the limits and the allowed values of the table.
    pub(crate) fn narrowing(&self) -> Constraints {
        let mut narrowing = Constraints::default();
        of_members(
            &self.members,
            self.kind.schema().fields,
            &mut Vec::new(),
            &mut narrowing,
        );
        // A new row gets the constant of a column without a value.
        let has_constant = |stored: &StoredColumn| {
            let mut constants = self.constants.iter();
            constants.any(|(column, _)| *column == stored.column)
        };
        for member in &self.members {
            if member.columns().any(has_constant) {
                let mut others = member.columns().filter(|stored| !has_constant(stored));
                narrowing.entry(&names(member)).required = others.any(is_required);
            }
        }
        for (path, value) in &self.defaults {
            let narrow = narrowing.entry(path);
            (narrow.default, narrow.required) = (Some(value.clone()), false);
        }
        narrowing
    }
}

/// Adds the constraints of the members below `path`. Below the top level, members without a column
/// are excluded.
fn of_members(
    members: &[ResolvedField],
    schema: &'static ObjectSchema,
    path: &mut Vec<&'static str>,
    narrowing: &mut Constraints,
) {
    let depth = path.len();
    for field in schema.fields {
        path.push(field.name);
        let leads = |member: &&ResolvedField| names(member).starts_with(path);
        let below: Vec<&ResolvedField> = members.iter().filter(leads).collect();
        match below.as_slice() {
            [] if depth > 0 => narrowing.entry(path).omit(),
            [] => {}
            [member] if member.path.len() == path.len() => match &member.stored {
                FieldStorage::Column(stored) => narrow(member, stored, narrowing.entry(path)),
                FieldStorage::Rows { members, .. } => {
                    if let Some(inner) = field.ty.object() {
                        let mut entries = Constraints::default();
                        of_entries(members, inner, &mut entries);
                        narrowing.entry(path).members.merge(entries);
                    }
                }
                FieldStorage::Entries(entries) => {
                    if let Some(inner) = field.ty.object() {
                        let of_list = of_columns(entries, inner);
                        let narrow = narrowing.entry(path);
                        narrow.members.merge(of_list);
                        narrow.max_items = u32::try_from(entries.len()).ok();
                        narrow.required = member.columns().any(is_required);
                    }
                }
                FieldStorage::Constant(_) => {}
            },
            _ => {
                if let ValueType::Object(inner) = field.ty {
                    of_members(members, inner, path, narrowing);
                }
            }
        }
        path.pop();
    }
}

/// Adds the constraints of the entries of a list. Members of an entry without a column are
/// excluded.
fn of_entries(
    members: &[ResolvedField],
    schema: &'static ObjectSchema,
    narrowing: &mut Constraints,
) {
    of_members(members, schema, &mut Vec::new(), narrowing);
    for field in schema.fields {
        if !members.iter().any(|member| {
            member
                .path
                .first()
                .is_some_and(|first| first.name == field.name)
        }) {
            narrowing.entry(&[field.name]).omit();
        }
    }
}

/// Returns the constraints of the entries of a list in columns of the row. An entry can be in the
/// columns of any of them, so the narrowest column counts.
fn of_columns(entries: &[Vec<ResolvedField>], schema: &'static ObjectSchema) -> Constraints {
    let mut all = Constraints::default();
    for members in entries {
        let mut of_entry = Constraints::default();
        of_members(members, schema, &mut Vec::new(), &mut of_entry);
        all.merge(of_entry);
    }
    // The other entries do not have the column.
    for member in entries.iter().flatten() {
        let narrow = all.entry(&names(member));
        (narrow.required, narrow.default) = (false, None);
    }
    // Without its only column, an entry would not be stored.
    let keys = entries.iter().map(|members| {
        let mut own = members.iter().filter(|member| member.shows_entry());
        own.next().filter(|_| own.next().is_none()).map(names)
    });
    let keys: Option<BTreeSet<Vec<&str>>> = keys.collect();
    if let Some(keys) = keys
        && let (1, Some(key)) = (keys.len(), keys.first())
    {
        all.entry(key).required = true;
    }
    for field in schema.fields {
        let of_field = |member: &&ResolvedField| {
            let first = member.path.first();
            first.is_some_and(|first| first.name == field.name)
        };
        let has = entries.iter().flatten().any(|member| of_field(&member));
        if !has {
            all.entry(&[field.name]).omit();
        }
        // A member with a constant in each entry has only these values.
        let constants = entries.iter().map(|members| {
            let member = members.iter().find(of_field)?;
            match &member.stored {
                FieldStorage::Constant(value) => Some(value.clone()),
                _ => None,
            }
        });
        let constants: Option<Vec<String>> = constants.collect();
        let narrow = all.entry(&[field.name]);
        if let (Some(values), ValueType::Enum(_) | ValueType::FlexEnum(_)) = (constants, field.ty) {
            narrow.values = Some(values);
        }
        narrow.in_entries = in_entries(entries, field);
    }
    all
}

/// Returns how the values of a member in the entries depend on each other.
fn in_entries(entries: &[Vec<ResolvedField>], field: &FieldSpec) -> Option<EntryValues> {
    let is_it = |member: &&ResolvedField| {
        let first = member.path.first();
        first.is_some_and(|first| first.name == field.name)
    };
    let all = entries
        .iter()
        .map(|members| members.iter().find(is_it).map(|member| &member.stored));
    let all: Vec<Option<&FieldStorage>> = all.collect();
    let is_false = |stored: Option<&FieldStorage>| match stored {
        Some(FieldStorage::Constant(value)) => value == "false",
        other => other.is_none(),
    };
    let column = |stored: Option<&FieldStorage>| match stored {
        Some(FieldStorage::Column(stored)) => Some(stored.column.raw.clone()),
        _ => None,
    };
    let constant = |stored: Option<&FieldStorage>| match stored {
        Some(FieldStorage::Constant(value)) => Some(value.clone()),
        _ => None,
    };
    let columns: Option<BTreeSet<String>> = all.iter().copied().map(column).collect();
    let constants: Option<BTreeSet<String>> = all.iter().copied().map(constant).collect();
    match all.as_slice() {
        [_, _, ..] if columns.is_some_and(|columns| columns.len() == 1) => Some(EntryValues::Same),
        [Some(FieldStorage::Constant(value)), rest @ ..]
            if value == "true" && rest.iter().all(|other| is_false(*other)) =>
        {
            Some(EntryValues::First)
        }
        [_, _, ..] if constants.is_some_and(|values| values.len() == all.len()) => {
            Some(EntryValues::Distinct)
        }
        _ => None,
    }
}

fn names(member: &ResolvedField) -> Vec<&'static str> {
    member.path.iter().map(|field| field.name).collect()
}

/// Adds the constraints of a column to its field.
fn narrow(member: &ResolvedField, stored: &StoredColumn, narrow: &mut Constraint) {
    let StoredColumn { column, conversion } = stored;
    let Some(field) = member.field() else { return };
    let default = column.default.as_ref();
    narrow.default = default.and_then(|default| Some(conversion.read(default)?.into_owned()));
    if let (ValueType::Boolean, Some(number @ ("0" | "1"))) = (field.ty, narrow.default.as_deref())
    {
        narrow.default = Some((number == "1").to_string());
    }
    if narrow
        .default
        .as_ref()
        .is_some_and(|default| !has(&field.ty, default))
    {
        narrow.default = None;
    }
    narrow.required = is_required(stored);
    narrow.read_only = column.is_generated;
    let values = conversion.values();
    if !values.is_empty() {
        narrow.values = Some(values.iter().map(|(value, _)| value.clone()).collect());
    }
    if column.class == ColumnType::Text
        && *conversion == Conversion::None
        && matches!(field.ty, ValueType::String)
    {
        narrow.max_length = column.longest;
    }
    let is_bounded =
        |rule: &FieldRule| matches!(rule, FieldRule::NotNegative | FieldRule::Between(..));
    let ColumnType::Integer(_) = column.class else {
        return;
    };
    if column.most == i64::MAX {
        return;
    }
    let of_units = |units: i64, digits: u32| Amount::new(i128::from(units), digits);
    let least = column.most.saturating_neg().saturating_sub(1);
    match (&field.ty, conversion) {
        (ValueType::Integer, _) => {
            narrow.max = Some(Amount::from(column.most));
            if !field.rules.iter().any(is_bounded) {
                narrow.min = Some(Amount::from(least));
            }
        }
        (ValueType::Amount, Conversion::Scaled(digits)) => {
            narrow.max = of_units(column.most, *digits);
        }
        _ => {}
    }
}

/// Returns whether a column needs a value, and has no default.
fn is_required(stored: &StoredColumn) -> bool {
    let column = &stored.column;
    !column.nullable && !column.has_default
}

/// Returns whether the specification allows a value.
fn has(ty: &ValueType, value: &str) -> bool {
    match ty {
        ValueType::Enum(known) => known.contains(&value),
        ValueType::Boolean => matches!(value, "true" | "false"),
        ValueType::Integer => value.parse::<i64>().is_ok(),
        ValueType::String | ValueType::FlexEnum(_) => true,
        _ => false,
    }
}
