//! Brings the values of stored records into the form in which this version stores them.

use std::{borrow::Cow, collections::HashSet, fmt};

use super::repair::each_value;
use crate::{
    error::{PathSegment, PropertyPath},
    filter::{TextKey, name_key},
    helper::merge_equal_entries,
    json::{Json, Object},
    link::RecordAddress,
    model::Kind,
    schema::{FieldRule, ObjectSchema, ValueType},
    value::{
        country, eu_country, region, stored_email, stored_phone, stored_text, trimmed, without_at,
        without_control_characters,
    },
};

/// The number of the form of stored values. If it changes, stores bring their values into the new
/// form.
pub(super) const VALUE_FORM: u32 = 3;
/// The maximum number of values of a tenant that are listed, converted or unchanged.
const MAX_LISTED: usize = 1_000;

/// A stored value that was not in the form of this version. Rules between several members of an
/// object, such as those of the country of a phone number, are not checked.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FormerValue {
    /// The record.
    pub record: RecordAddress,
    /// The path of the value in the record.
    pub property: PropertyPath,
    /// Whether the value is in the form now. Otherwise this version has no form for it, and it is
    /// unchanged.
    pub is_converted: bool,
}

impl fmt::Display for FormerValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            record,
            property,
            is_converted,
        } = self;
        let result = if *is_converted {
            "has the form of this version now"
        } else {
            "is not valid in this version, and is unchanged"
        };
        write!(
            f,
            "{} {}: `{property}` {result}",
            record.kind.singular(),
            record.id
        )
    }
}

/// The values of the records of a tenant that were not in the form of this version.
#[derive(Debug, Default)]
pub(super) struct FormerValues {
    converted: ValueList,
    unchanged: ValueList,
    /// The unique names so far.
    names: HashSet<TextKey>,
}

/// The first values, and the number of the others.
#[derive(Debug, Default)]
struct ValueList {
    listed: Vec<FormerValue>,
    others: u64,
}

impl FormerValues {
    /// Brings the values of a record into the form of this version. Unique names stay unchanged. A blank
    /// one, and one that an earlier record has, are listed.
    pub(super) fn convert(&mut self, at: &RecordAddress, fields: &mut Object) {
        let schema = at.kind.schema().fields;
        let start = PropertyPath::default();
        let mut has_empty = false;
        each_value(schema, fields, &start, &mut |ty, rules, value, property| {
            let is_converted = match value.as_str() {
                // The index of names has it in the same form.
                Some(name) if rules.contains(&FieldRule::UniqueName) => {
                    let is_new = name_key(at.kind, name).is_some_and(|key| self.names.insert(key));
                    (!is_new).then_some(false)
                }
                _ => convert(ty, rules, value, property),
            };
            let Some(is_converted) = is_converted else {
                return;
            };
            has_empty |= value.is_null();
            let list = if is_converted {
                &mut self.converted
            } else {
                &mut self.unchanged
            };
            if list.listed.len() < MAX_LISTED {
                list.listed.push(FormerValue {
                    record: at.clone(),
                    property: property.clone(),
                    is_converted,
                });
            } else {
                list.others = list.others.saturating_add(1);
            }
        });
        if has_empty {
            remove_empty(fields);
        }
    }

    /// Returns the first 1 000 values that were converted, and the first 1 000 that are unchanged.
    pub(super) fn listed(&self) -> impl Iterator<Item = &FormerValue> {
        self.converted.listed.iter().chain(&self.unchanged.listed)
    }

    /// Writes the paths of the values to the log.
    pub(super) fn log(&self) {
        for value in &self.converted.listed {
            tracing::info!("{value}");
        }
        if self.converted.others > 0 {
            let others = self.converted.others;
            tracing::info!("{others} other values have the form of this version now");
        }
        for value in &self.unchanged.listed {
            tracing::warn!("{value}");
        }
        if self.unchanged.others > 0 {
            let others = self.unchanged.others;
            tracing::warn!(
                "{others} other values are not valid in this version, and are unchanged"
            );
        }
    }
}

/// Returns whether records of a kind can have values with a form.
pub(super) fn has_any(kind: Kind) -> bool {
    fn of_object(schema: &ObjectSchema) -> bool {
        let mut fields = schema.fields.iter().filter(|field| !field.is_computed());
        fields.any(|field| of_type(&field.ty))
    }
    fn of_type(ty: &ValueType) -> bool {
        match ty {
            ValueType::Amount | ValueType::String | ValueType::FlexEnum(_) => true,
            ValueType::Object(schema) => of_object(schema),
            ValueType::Array(item) | ValueType::OneOrMany(item) => of_type(item),
            _ => false,
        }
    }
    of_object(kind.schema().fields)
}

const fn has_form(rule: &FieldRule) -> bool {
    matches!(
        rule,
        FieldRule::Email
            | FieldRule::PhoneNumber
            | FieldRule::CountryCode
            | FieldRule::RegionCode
            | FieldRule::WithoutAt
            | FieldRule::MergedEntries
    )
}

/// Brings a value into its form. Returns `None` if it already is, and otherwise whether it was
/// possible.
fn convert(
    ty: &ValueType,
    rules: &[FieldRule],
    value: &mut Json,
    property: &PropertyPath,
) -> Option<bool> {
    if let (ValueType::Object(schema), Json::Object(object)) = (ty, &mut *value) {
        let is_entry = matches!(property.segments().last(), Some(PathSegment::Element(_)));
        if is_entry && lacks_address(schema, object) {
            *value = Json::Null;
            return Some(true);
        }
        return separate_extension(schema, object).then_some(true);
    }
    if let (ValueType::Amount, Json::Number(number)) = (ty, &mut *value) {
        let form = number.clone().with_plain_zero();
        let is_former = *number != form;
        *number = form;
        return is_former.then_some(true);
    }
    let rule = rules.iter().find(|rule| has_form(rule));
    if let (Some(FieldRule::MergedEntries), Json::Array(entries)) = (rule, &mut *value) {
        let Some(PathSegment::Member(list)) = property.segments().last() else {
            return None;
        };
        // What is not an address may not be equal to anything else.
        let before = entries.len();
        if entries.iter().all(has_address) {
            merge_equal_entries(list, entries);
        }
        return (entries.len() < before).then_some(true);
    }
    let is_text = matches!(ty, ValueType::String | ValueType::FlexEnum(_));
    if !is_text || rules.iter().any(FieldRule::is_exact) {
        return None;
    }
    let text = value.as_str()?;
    if rule.is_some_and(is_address_or_code) && trimmed(text).is_empty() {
        *value = Json::Null;
        return Some(true);
    }
    let sent = stored_text(text).unwrap_or(text);
    let form: Option<Cow<'_, str>> = match rule {
        Some(FieldRule::Email) => stored_email(sent).ok().map(Cow::from),
        Some(FieldRule::PhoneNumber) => stored_phone(sent).ok().map(|phone| phone.digits.into()),
        Some(FieldRule::CountryCode) => country(sent).or_else(|| eu_country(sent)).map(Cow::from),
        Some(FieldRule::RegionCode) => region(sent).map(Cow::from),
        Some(FieldRule::WithoutAt) => {
            let handle = without_control_characters(text);
            Some(without_at(&handle).to_owned().into())
        }
        _ => Some(without_control_characters(text)),
    };
    match form {
        Some(form) if form == text => None,
        Some(form) => {
            *value = Json::from(form.into_owned());
            Some(true)
        }
        None => Some(false),
    }
}

/// Returns whether a rule requires more than an empty text, which earlier versions stored.
const fn is_address_or_code(rule: &FieldRule) -> bool {
    !matches!(rule, FieldRule::WithoutAt | FieldRule::MergedEntries)
}

/// Returns whether the address or phone number of an entry is empty.
fn lacks_address(schema: &ObjectSchema, entry: &Object) -> bool {
    let mut addresses = schema.fields.iter().filter(|field| field.is_address());
    addresses.any(|field| {
        let text = entry.get(field.name).and_then(Json::as_str);
        text.is_some_and(|text| trimmed(text).is_empty())
    })
}

/// Removes the values that were empty, and the objects and entries that are left with nothing.
fn remove_empty(object: &mut Object) {
    object.retain(|_, value| remains(value));
}

fn remains(value: &mut Json) -> bool {
    match value {
        Json::Null => false,
        Json::Object(members) if !members.is_empty() => {
            remove_empty(members);
            !members.is_empty()
        }
        Json::Array(items) if !items.is_empty() => {
            items.retain_mut(remains);
            !items.is_empty()
        }
        _ => true,
    }
}

/// Returns whether the address of an entry, if there is one, is valid or is removed.
fn has_address(entry: &Json) -> bool {
    let address = entry.as_object().and_then(|entry| entry.get("address"));
    let address = address.and_then(Json::as_str);
    address.is_none_or(|address| trimmed(address).is_empty() || stored_email(address).is_ok())
}

/// Moves the extension from a phone number to its own field. Returns whether there was one.
fn separate_extension(schema: &ObjectSchema, object: &mut Object) -> bool {
    let number = schema.phone_number.and_then(|field| object.get(field.name));
    let phone = number.and_then(Json::as_str).map(stored_phone);
    let Some(extension) = phone.and_then(Result::ok).and_then(|phone| phone.extension) else {
        return false;
    };
    let has_own = object
        .get("extension")
        .is_some_and(|own| !own.is_empty_value());
    if !has_own {
        object.insert("extension", Json::from(extension));
    }
    !has_own
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Id;

    /// UND-02, UND-03: a blank name, and a name that an earlier record has, are listed and
    /// unchanged.
    #[test]
    fn und_02_equal_and_blank_names_are_listed() {
        let mut former = FormerValues::default();
        for (id, kind, name) in [
            ("1", Kind::Tag, "Blue"),
            ("2", Kind::List, "blue"),
            ("3", Kind::Tag, "BLUE"),
            ("4", Kind::Tag, "\u{a0}"),
            ("5", Kind::Tag, "red"),
            ("6", Kind::Tag, " Green"),
            ("7", Kind::Tag, "Green"),
        ] {
            let mut fields = Object::new();
            fields.insert("name", name);
            let at = RecordAddress::without_parent(kind, Id::new(id).unwrap());
            former.convert(&at, &mut fields);
            assert_eq!(fields.get("name").and_then(Json::as_str), Some(name));
        }
        let listed: Vec<String> = former.listed().map(ToString::to_string).collect();
        let unchanged = "`name` is not valid in this version, and is unchanged";
        let expected = ["3", "4", "7"].map(|id| format!("tag {id}: {unchanged}"));
        assert_eq!(listed, expected);
    }
}
