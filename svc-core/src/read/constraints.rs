//! The accepted members of a kind in bodies, and the validation of values against constraints.
//!
//! Requirements: ERR-39.

use super::{
    Json, Number,
    value::{ValueError, apply, scalar},
    value_path::ValuePath,
};
use crate::{
    error::{ErrorCode, Problem},
    field_set::FieldBits,
    schema::{Constraint, Constraints, EntryValues, FieldSpec, ValueType},
};

/// The accepted members of one kind in bodies.
///
/// Requirements: CAP-04 to CAP-06.
#[derive(Debug, Clone, Copy)]
pub struct AcceptedMembers<'a> {
    /// The fields that a client may write.
    pub writable: FieldBits,
    /// The constraints; `None` if there are none.
    pub narrowing: Option<&'a Constraints>,
    /// Links to one record that the server does not store. They are unknown here.
    pub unlinked: &'a [&'static str],
    /// Whether an update may move records of the kind to other people and containers.
    ///
    /// Requirements: AUT-04, CRU-16.
    pub moves: bool,
    /// Whether several identifiers in the server's own namespace are accepted for a person, because
    /// the store merges people.
    ///
    /// Requirements: UND-24.
    pub merges: bool,
}

impl From<FieldBits> for AcceptedMembers<'_> {
    fn from(writable: FieldBits) -> Self {
        Self {
            writable,
            narrowing: None,
            unlinked: &[],
            moves: true,
            merges: false,
        }
    }
}

/// Validates an enum value against a constraint of its values; `None` if only the table applies.
///
/// Requirements: TYP-08.
pub(super) fn listed(
    narrow: &Constraint,
    ty: &ValueType,
    raw: &Json,
) -> Option<Result<Json, ValueError>> {
    let values = narrow.values.as_ref()?;
    let (ValueType::Enum(_) | ValueType::FlexEnum(_)) = ty else {
        return None;
    };
    Some(match raw {
        Json::String(text) if values.contains(text) => Ok(raw.clone()),
        _ => Err(ValueError::not_allowed(raw, &values.join(", "))),
    })
}

/// Adds the problems of a value of the right type, or of each value of a list.
pub(super) fn check(
    narrow: &Constraint,
    value: &Json,
    at: &ValuePath<'_>,
    problems: &mut Vec<Problem>,
) {
    if let Json::Array(items) = value {
        for (place, item) in items.iter().enumerate() {
            check(narrow, item, &ValuePath::Element(at, place), problems);
        }
        return;
    }
    if let Some((text, hint)) = out_of_range(narrow, value).or_else(|| too_long(narrow, value)) {
        problems.push(
            Problem::new(
                ErrorCode::FieldInvalid,
                at.property(),
                format!("{{property}} {text}."),
            )
            .with_hint(hint),
        );
    }
}

fn out_of_range(narrow: &Constraint, value: &Json) -> Option<(String, String)> {
    let number = value.as_number().and_then(Number::as_amount)?;
    let is_below = narrow.min.is_some_and(|least| number < least);
    let is_above = narrow.max.is_some_and(|most| number > most);
    let told = match (narrow.min, narrow.max) {
        (Some(least), Some(most)) => (
            format!("must be between {least} and {most}"),
            format!("{least}..{most}"),
        ),
        (Some(least), None) => (
            format!("must be at least {least}"),
            format!("{least} or more"),
        ),
        (None, Some(most)) => (format!("must be at most {most}"), format!("{most} or less")),
        (None, None) => return None,
    };
    (is_below || is_above).then_some(told)
}

fn too_long(narrow: &Constraint, value: &Json) -> Option<(String, String)> {
    let (longest, text) = (narrow.max_length?, value.as_str()?);
    let most = usize::try_from(longest).ok()?;
    // Every character has at least one byte.
    let is_over = text.len() > most && text.chars().nth(most).is_some();
    is_over.then(|| {
        (
            format!("must have at most {longest} characters"),
            format!("^.{{0,{longest}}}$"),
        )
    })
}

/// Returns the problem of a list with more entries than the constraint allows.
pub(super) fn too_many(narrow: &Constraint, value: &Json, at: &ValuePath<'_>) -> Option<Problem> {
    let (most, sent) = (narrow.max_items?, value.as_array()?.len());
    let is_over = usize::try_from(most).is_ok_and(|most| sent > most);
    is_over.then(|| {
        let text = format!("{{property}} has {sent} entries, but can have at most {most}.");
        Problem::new(ErrorCode::FieldInvalid, at.property(), text)
    })
}

/// Returns the problems of entries whose values of a member do not fit together.
///
/// Requirements: CAP-04.
pub(super) fn unfit_entries(
    narrow: &Constraint,
    value: &Json,
    at: &ValuePath<'_>,
    stores_what_fits: bool,
) -> Vec<Problem> {
    let mut problems = Vec::new();
    let entries = value.as_array().unwrap_or_default();
    for (name, member) in narrow.members.members() {
        let text = match member.in_entries {
            Some(EntryValues::Same) => {
                "must be the same in all entries, because this server stores it once."
            }
            Some(EntryValues::Distinct) if !stores_what_fits => {
                "must have another value in each entry on this server."
            }
            _ => continue,
        };
        let values = entries.iter().enumerate().filter_map(|(place, entry)| {
            let value = entry.as_object()?.get(name)?;
            Some((place, value)).filter(|(_, value)| !value.is_null())
        });
        let values: Vec<(usize, &Json)> = values.collect();
        let is_same = member.in_entries == Some(EntryValues::Same);
        let unfit = values
            .iter()
            .enumerate()
            .find_map(|(number, (place, value))| {
                let mut earlier = values.get(..number).unwrap_or_default().iter();
                let is_unfit = earlier.any(|(_, other)| (other != value) == is_same);
                is_unfit.then_some(*place)
            });
        if let Some(place) = unfit {
            let property = at.property().push_index(place).push_member(name.to_owned());
            let text = format!("{{property}} {text}");
            problems.push(Problem::new(ErrorCode::FieldInvalid, property, text));
        }
    }
    problems
}

/// Returns the default as a value of the field; `None` if there is none, or it is not a valid
/// value.
pub(super) fn default_of(narrow: &Constraint, field: &FieldSpec) -> Option<Json> {
    let text = narrow.default.as_deref()?;
    let raw = match field.ty {
        ValueType::Integer | ValueType::Float | ValueType::Amount => {
            Json::Number(Number::parse(text)?)
        }
        ValueType::Boolean => Json::Bool(text.parse().ok()?),
        _ => Json::from(text),
    };
    listed(narrow, &field.ty, &raw)
        .unwrap_or_else(|| scalar(&field.ty, &raw))
        .ok()
}

/// Returns what is wrong with the default as a value of the field, as text.
pub(crate) fn wrong_default(narrow: &Constraint, field: &FieldSpec) -> Option<String> {
    let text = narrow.default.as_deref()?;
    let Some(mut value) = default_of(narrow, field) else {
        return Some(match &narrow.values {
            Some(values) => format!(
                "`{text}` is not one of its allowed values ({})",
                values.join(", ")
            ),
            None => format!("`{text}` is not a value of its type"),
        });
    };
    let (mut problems, at) = (Vec::new(), ValuePath::Member(&ValuePath::Root, field.name));
    for rule in field.rules {
        apply(*rule, &mut value, &at, &mut problems);
    }
    check(narrow, &value, &at, &mut problems);
    let told = problems.first()?.description();
    Some(format!("`{text}`: {}", told.trim_end_matches('.')))
}
