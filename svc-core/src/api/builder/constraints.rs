//! Constraints from the registration and from programs: merges them and checks them against the
//! schema.
//!
//! Requirements: CAP-04 to CAP-08.

use super::ApiBuilder;
use crate::{
    api::KindRegistration,
    field_set::FieldBits,
    model::Kind,
    schema::{Constraint, Constraints, FieldMode, FieldSpec, ObjectSchema, ValueType},
};

impl ApiBuilder {
    /// Adds constraints of a kind: required fields, allowed values, defaults, ranges, maximum
    /// lengths, maximum numbers of entries, and members that the server does not have.
    ///
    /// Use this for constraints that a program finds out when it starts, for example from its
    /// tables. They are declared and enforced like those that
    /// [`ResourceConfig`](crate::api::ResourceConfig) sets at compile time. If both set
    /// constraints, both apply. If both set a default, that of the registration applies.
    #[must_use]
    pub fn constraints(mut self, kind: Kind, narrowing: Constraints) -> Self {
        self.narrowings.push((kind, narrowing));
        self
    }

    /// Merges all constraints of each kind.
    pub(super) fn merge_constraints(&mut self) {
        for (kind, narrowing) in std::mem::take(&mut self.narrowings) {
            match self.kinds.get_mut(&kind) {
                Some(registered) => registered.constraints.get_or_insert_default().merge(narrowing),
                None => self.wrong.push(format!(
                    "{} have constraints but are not registered: register them, or remove `.constraints(...)`",
                    kind.plural()
                )),
            }
        }
        for (kind, registered) in &mut self.kinds {
            registered
                .constraints
                .take_if(|narrowing| narrowing.is_empty());
            let narrowing = registered.constraints.iter().flat_map(Constraints::members);
            for (name, narrow) in narrowing {
                let Some(place) = kind.schema().fields.position(name) else {
                    continue;
                };
                for (set, is_out) in [
                    (&mut registered.readable, narrow.hidden),
                    (&mut registered.writable, narrow.read_only),
                ] {
                    if is_out {
                        *set = Some(set.unwrap_or(FieldBits::ALL).without(place));
                    }
                }
            }
            // A filter must not reveal what the server does not show.
            let mut fields = std::mem::take(&mut registered.filterable);
            fields.retain(|field| {
                let shown = field.shows();
                shown.is_none_or(|name| registered.shows(*kind, name))
            });
            registered.filterable = fields;
        }
    }
}

/// Adds every contradiction in the constraints of a kind.
pub(super) fn contradictions(
    kind: Kind,
    registered: &KindRegistration,
    problems: &mut Vec<String>,
) {
    let Some(narrowing) = &registered.constraints else {
        return;
    };
    let schema = kind.schema().fields;
    let mut walk = ConstraintChecker { kind, problems };
    let is_taken = |name: &str| {
        let place = schema.position(name);
        place.is_some_and(|place| {
            registered
                .writable
                .is_none_or(|writable| writable.contains(place))
        })
    };
    walk.object(schema, narrowing, "", &is_taken);
}

struct ConstraintChecker<'a> {
    kind: Kind,
    problems: &'a mut Vec<String>,
}

impl ConstraintChecker<'_> {
    fn object(
        &mut self,
        schema: &ObjectSchema,
        narrowing: &Constraints,
        path: &str,
        is_taken: &dyn Fn(&str) -> bool,
    ) {
        for (name, narrow) in narrowing.members() {
            let at = format!("{path}{name}");
            let Some(field) = schema.field(name) else {
                let known: Vec<&str> = schema.fields.iter().map(|field| field.name).collect();
                self.wrong(
                    &at,
                    &format!("is not a field: use one of {}", known.join(", ")),
                );
                continue;
            };
            self.field(
                field,
                narrow,
                &at,
                is_taken(name) && !narrow.read_only && !field.is_computed(),
            );
        }
    }

    fn field(&mut self, field: &FieldSpec, narrow: &Constraint, at: &str, is_taken: bool) {
        let is_required = narrow.required || field.mode == FieldMode::Required;
        if narrow.required && !is_taken {
            self.wrong(
                at,
                "is required but not writable: add it to `.writable_fields(...)`, or do not require it",
            );
        }
        if narrow.default.is_some() && !is_taken {
            self.wrong(at, "has a default but is not writable: add it to `.writable_fields(...)`, or remove the default");
        }
        if narrow.default.is_some() && is_required {
            self.wrong(
                at,
                "is required and has a default, which is never used: remove one of the two",
            );
        }
        if let Some(values) = &narrow.values {
            self.values(field, values, at);
        }
        self.range(field, narrow, at);
        if let Some(longest) = narrow.max_length {
            let is_text = matches!(
                field.ty,
                ValueType::String | ValueType::FlexEnum(_) | ValueType::Array(ValueType::String)
            );
            if !is_text {
                self.wrong(
                    at,
                    "has a maximum length but is not a string: set one only for strings and lists of strings",
                );
            } else if longest == 0 {
                self.wrong(
                    at,
                    "has the maximum length 0, so no string fits: raise it, or exclude the field",
                );
            }
        }
        if let Some(most) = narrow.max_items {
            if !matches!(field.ty, ValueType::Array(_) | ValueType::OneOrMany(_)) {
                self.wrong(
                    at,
                    "has a maximum number of entries but is not a list: set one only for lists",
                );
            } else if most == 0 {
                self.wrong(
                    at,
                    "has the maximum number of entries 0, so no entry fits: raise it, or exclude the field",
                );
            }
        }
        if let Some(wrong) = crate::read::wrong_default(narrow, field) {
            self.wrong(at, &format!("has an invalid default: {wrong}"));
        }
        match field.ty.object() {
            Some(object) => {
                let has_none = object.fields.iter().all(|member| {
                    narrow
                        .members
                        .member(member.name)
                        .is_some_and(Constraint::is_omitted)
                });
                if has_none {
                    self.wrong(at, "has no members left: exclude the field itself");
                }
                self.object(object, &narrow.members, &format!("{at}."), &|_| is_taken);
            }
            None if !narrow.members.is_empty() => {
                self.wrong(at, "has constraints on members but is not an object");
            }
            None => {}
        }
    }

    fn values(&mut self, field: &FieldSpec, values: &[String], at: &str) {
        let (ValueType::Enum(listed) | ValueType::FlexEnum(listed)) = field.ty else {
            self.wrong(
                at,
                "has allowed values but is not an enum: call `.allowed_values(...)` only for enums",
            );
            return;
        };
        if values.is_empty() {
            self.wrong(
                at,
                "has no allowed values: name at least one, or exclude the field",
            );
        }
        let is_closed = matches!(field.ty, ValueType::Enum(_));
        for value in values
            .iter()
            .filter(|value| is_closed && !listed.contains(&value.as_str()))
        {
            self.wrong(
                at,
                &format!(
                    "has no value `{value}`: use values from {}",
                    listed.join(", ")
                ),
            );
        }
    }

    fn range(&mut self, field: &FieldSpec, narrow: &Constraint, at: &str) {
        let is_number = matches!(field.ty, ValueType::Integer | ValueType::Amount);
        if (narrow.min.is_some() || narrow.max.is_some()) && !is_number {
            self.wrong(
                at,
                "has a range but is not a number: set one only for integers and amounts",
            );
        }
        if let (Some(least), Some(most)) = (narrow.min, narrow.max)
            && least > most
        {
            self.wrong(
                at,
                &format!("has an empty range: the minimum {least} exceeds the maximum {most}"),
            );
        }
    }

    fn wrong(&mut self, at: &str, what: &str) {
        self.problems
            .push(format!("`{at}` of {} {what}", self.kind.plural()));
    }
}
