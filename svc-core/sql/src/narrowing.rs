//! What tables have narrower than the interface, as a declaration (CAP-04 to CAP-08).

use svc_core::{
    schema::{Narrow, Narrowing, ObjectSchema, Rule, Type},
    value::Amount,
};

use super::{
    class::Class,
    resolved::{Column, Mapped, Member, Stored},
};

impl Mapped {
    /// What its fields are at least, at most and only.
    pub(crate) fn narrowing(&self) -> Narrowing {
        let mut narrowing = Narrowing::default();
        of_members(
            &self.members,
            self.kind.schema().fields,
            &mut Vec::new(),
            &mut narrowing,
        );
        for (path, value) in &self.defaults {
            let narrow = narrowing.at(path);
            (narrow.default, narrow.required) = (Some(value.clone()), false);
        }
        narrowing
    }
}

/// Members that lead below `path`. Below the top, what has no column is left out.
fn of_members(
    members: &[Member],
    schema: &'static ObjectSchema,
    path: &mut Vec<&'static str>,
    narrowing: &mut Narrowing,
) {
    let depth = path.len();
    for field in schema.fields {
        path.push(field.name);
        let leads = |member: &&Member| names(member).starts_with(path);
        let below: Vec<&Member> = members.iter().filter(leads).collect();
        match below.as_slice() {
            [] if depth > 0 => narrowing.at(path).leave_out(),
            [] => {}
            [member] if member.path.len() == path.len() => match &member.stored {
                Stored::Column { column, values } => {
                    narrow(member, column, values, narrowing.at(path));
                }
                Stored::Rows { members, .. } => {
                    if let Some(inner) = field.ty.object() {
                        let mut entries = Narrowing::default();
                        of_entries(members, inner, &mut entries);
                        narrowing.at(path).members.merge(entries);
                    }
                }
            },
            _ => {
                if let Type::Object(inner) = field.ty {
                    of_members(members, inner, path, narrowing);
                }
            }
        }
        path.pop();
    }
}

/// The members of a list's entries: none of them is left out by being at the top of the entry.
fn of_entries(members: &[Member], schema: &'static ObjectSchema, narrowing: &mut Narrowing) {
    of_members(members, schema, &mut Vec::new(), narrowing);
    for field in schema.fields {
        if !members.iter().any(|member| {
            member
                .path
                .first()
                .is_some_and(|first| first.name == field.name)
        }) {
            narrowing.at(&[field.name]).leave_out();
        }
    }
}

fn names(member: &Member) -> Vec<&'static str> {
    member.path.iter().map(|field| field.name).collect()
}

/// What a column says of its field.
fn narrow(member: &Member, column: &Column, values: &[(String, String)], narrow: &mut Narrow) {
    let Some(field) = member.field() else { return };
    narrow.default = column.default.as_ref().map(|default| {
        values
            .iter()
            .find(|(_, stored)| stored == default)
            .map_or(default, |(value, _)| value)
            .clone()
    });
    if let (Type::Boolean, Some(number @ ("0" | "1"))) = (field.ty, narrow.default.as_deref()) {
        narrow.default = Some((number == "1").to_string());
    }
    if narrow
        .default
        .as_ref()
        .is_some_and(|default| !has(&field.ty, default))
    {
        narrow.default = None;
    }
    narrow.required = !column.nullable && !column.has_default;
    if !values.is_empty() {
        narrow.values = Some(values.iter().map(|(value, _)| value.clone()).collect());
    }
    if column.class == Class::Text && matches!(field.ty, Type::String) {
        narrow.longest = column.longest;
    }
    let is_bounded = |rule: &Rule| matches!(rule, Rule::NotNegative | Rule::Between(..));
    if let (Type::Integer, Class::Integer(_)) = (field.ty, column.class)
        && column.most < i64::MAX
    {
        narrow.most = Some(Amount::from(column.most));
        if !field.rules.iter().any(is_bounded) {
            narrow.least = Some(Amount::from(column.most.saturating_neg().saturating_sub(1)));
        }
    }
}

/// Whether the interface has such a value.
fn has(ty: &Type, value: &str) -> bool {
    match ty {
        Type::Enum(known) => known.contains(&value),
        Type::Boolean => matches!(value, "true" | "false"),
        Type::Integer => value.parse::<i64>().is_ok(),
        Type::String | Type::FlexEnum(_) => true,
        _ => false,
    }
}
