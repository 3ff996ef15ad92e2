//! Fields as this server supports them: the field specification with the constraints of this
//! server.
//!
//! Requirements: CAP-04.

use svc_core::{
    api::Api,
    model::Kind,
    schema::{Constraint, Constraints, EntryValues, FieldMode, FieldSpec, ObjectSchema, ValueType},
};

/// A field or a member as this server supports it.
#[derive(Debug, Clone, Copy)]
pub(super) struct EffectiveField<'a> {
    pub(super) field: &'static FieldSpec,
    pub(super) narrow: Option<&'a Constraint>,
}

impl From<&'static FieldSpec> for EffectiveField<'_> {
    /// Returns a field without constraints.
    fn from(field: &'static FieldSpec) -> Self {
        Self {
            field,
            narrow: None,
        }
    }
}

impl<'a> EffectiveField<'a> {
    /// Returns the fields of a kind that this server returns.
    pub(super) fn readable_fields(api: &'a Api, kind: Kind) -> impl Iterator<Item = Self> {
        Self::of(api, kind)
            .filter(move |(place, _)| api.is_field_readable(kind, *place))
            .map(|(_, own)| own)
    }

    /// Returns the fields of a kind that clients may send.
    pub(super) fn writable_fields(api: &'a Api, kind: Kind) -> impl Iterator<Item = Self> {
        let taken = move |(place, own): &(usize, Self)| {
            !own.field.is_computed() && api.is_field_writable(kind, *place)
        };
        Self::of(api, kind).filter(taken).map(|(_, own)| own)
    }

    /// Returns the fields of a kind, each with its position in the schema.
    pub(super) fn of(api: &'a Api, kind: Kind) -> impl Iterator<Item = (usize, Self)> {
        Self::in_table(kind.schema().fields, api.constraints(kind)).enumerate()
    }

    /// Returns the fields of an object schema.
    pub(super) fn in_table(
        table: &'static ObjectSchema,
        narrowing: Option<&'a Constraints>,
    ) -> impl Iterator<Item = Self> {
        let narrow = move |name| narrowing.and_then(|narrowing| narrowing.member(name));
        table.fields.iter().map(move |field| Self {
            field,
            narrow: narrow(field.name),
        })
    }

    /// Returns the constraints on the members of the field.
    pub(super) fn members(self) -> Option<&'a Constraints> {
        self.narrow
            .map(|narrow| &narrow.members)
            .filter(|members| !members.is_empty())
    }

    pub(super) fn is_required(self) -> bool {
        self.field.mode == FieldMode::Required || self.narrow.is_some_and(|narrow| narrow.required)
    }

    pub(super) fn is_readable(self) -> bool {
        !self.narrow.is_some_and(|narrow| narrow.hidden)
    }

    pub(super) fn is_writable(self) -> bool {
        !self.field.is_computed() && !self.narrow.is_some_and(|narrow| narrow.read_only)
    }

    /// Returns the allowed values of an enum. A flexible enum has allowed values if this server
    /// accepts no others.
    pub(super) fn values(self) -> Option<&'a [String]> {
        self.narrow?.values.as_deref()
    }

    /// Returns the value if a create omits the field.
    pub(super) fn default(self) -> Option<&'a str> {
        let table = match self.field.mode {
            FieldMode::Default(value) => Some(value),
            _ => None,
        };
        self.narrow
            .and_then(|narrow| narrow.default.as_deref())
            .or(table)
    }

    /// Returns the constraints as texts, including those on members.
    pub(super) fn words(self) -> Vec<String> {
        let Some(narrow) = self.narrow else {
            return Vec::new();
        };
        let mut words = Vec::new();
        match (narrow.min, narrow.max) {
            (Some(least), Some(most)) => words.push(format!("from {least} to {most}")),
            (Some(least), None) => words.push(format!("at least {least}")),
            (None, Some(most)) => words.push(format!("at most {most}")),
            (None, None) => {}
        }
        words.extend(
            narrow
                .max_length
                .map(|longest| format!("at most {longest} characters")),
        );
        words.extend(narrow.max_items.map(|most| match most {
            1 => "at most 1 entry".to_owned(),
            most => format!("at most {most} entries"),
        }));
        words.extend(narrow.in_entries.map(|values| match values {
            EntryValues::Distinct => "another value in each entry".to_owned(),
            EntryValues::First => "true in the first entry only".to_owned(),
            _ => "the same value in all entries".to_owned(),
        }));
        if let (Some(object), Some(members)) = (self.field.ty.object(), self.members()) {
            let all: Vec<Self> = Self::in_table(object, Some(members)).collect();
            let is_there = |own: &&Self| own.is_readable() || own.is_writable();
            let there: Vec<String> = all
                .iter()
                .filter(is_there)
                .map(|own| format!("`{}`", own.field.name))
                .collect();
            if there.len() < all.len() {
                words.push(format!("supported members: {}", there.join(", ")));
            }
            for own in all.iter().filter(is_there) {
                let mut said = own.words();
                if own.narrow.is_some_and(|narrow| narrow.required) {
                    said.insert(0, "required".to_owned());
                }
                said.extend(
                    own.values()
                        .map(|values| format!("one of {}", values.join(", "))),
                );
                let default = own.narrow.and_then(|narrow| narrow.default.as_deref());
                said.extend(default.map(|default| format!("default {default}")));
                if !said.is_empty() {
                    words.push(format!("`{}` {}", own.field.name, said.join(", ")));
                }
            }
        }
        words
    }

    /// Returns whether the value of the field is a text, or a list of texts.
    pub(super) fn is_text(self) -> bool {
        matches!(
            self.field.ty,
            ValueType::String | ValueType::FlexEnum(_) | ValueType::Array(ValueType::String)
        )
    }
}
