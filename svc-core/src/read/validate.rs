//! Walks raw JSON against a table and collects every problem.
//!
//! Requirements: ERR-39.

use super::{AcceptedMembers, ContentLimits, Json, Object, narrow, path::ValuePath, value};
use crate::{
    error::{ErrorCode, Problem},
    field_set::FieldBits,
    link::ShareNames,
    schema::{Constraint, Constraints, FieldMode, FieldSpec, ObjectSchema, ValueType},
};

/// How many problems with the fields of a body one answer lists at most: else a small body asks for
/// a huge answer.
pub(crate) const MOST_PROBLEMS: usize = 1000;

/// Whether a record is created or changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ValidationMode {
    /// Created: `null` means absent, and required fields are asked for.
    ///
    /// Requirements: CRU-16, CAP-05.
    Create,
    /// Changed: `null` empties.
    ///
    /// Requirements: CRU-17.
    Change,
}

/// One walk: what it is for, and the problems met so far.
#[derive(Debug)]
pub(crate) struct Validator<'a> {
    names: &'a ShareNames,
    caps: &'a ContentLimits,
    purpose: ValidationMode,
    pub(crate) problems: Vec<Problem>,
}

impl<'a> Validator<'a> {
    pub(crate) fn new(
        names: &'a ShareNames,
        caps: &'a ContentLimits,
        purpose: ValidationMode,
    ) -> Self {
        Self {
            names,
            caps,
            purpose,
            problems: Vec::new(),
        }
    }

    /// The valid fields of a resource, in the order of the table; unknown, computed and not
    /// writable ones are left out.
    pub(crate) fn record(
        &mut self,
        schema: &ObjectSchema,
        taken: AcceptedMembers<'_>,
        raw: &Object,
        path: &ValuePath<'_>,
    ) -> Object {
        self.object(schema, taken.writable, taken.narrowing, raw, path)
    }

    /// The valid members of an object of the tables.
    pub(crate) fn nested(
        &mut self,
        schema: &ObjectSchema,
        raw: &Object,
        path: &ValuePath<'_>,
    ) -> Object {
        self.object(schema, FieldBits::ALL, None, raw, path)
    }

    fn object(
        &mut self,
        schema: &ObjectSchema,
        writable: FieldBits,
        narrowing: Option<&Constraints>,
        raw: &Object,
        path: &ValuePath<'_>,
    ) -> Object {
        let mut valid = Object::new();
        let (sent, places) = self.sent(schema, raw);
        // What is not sent has something to say only where it is required, or narrower here.
        let told = if narrowing.is_some() {
            FieldBits::ALL
        } else {
            FieldBits::of(places | schema.required)
        };
        for place in told.and(writable).places() {
            let Some(field) = schema.fields.get(place) else {
                break;
            };
            if field.is_computed() {
                continue;
            }
            let sent = sent
                .get(place)
                .and_then(|nth| raw.value(nth.checked_sub(1)?));
            let narrow = narrowing.and_then(|narrowing| narrowing.member(field.name));
            if narrow.is_some_and(|narrow| narrow.unwritable) {
                continue;
            }
            let at = ValuePath::Member(path, self.names.to_wire(field.name));
            let value = match sent {
                None | Some(Json::Null) => self.nothing(field, narrow, sent.is_some(), &at),
                Some(value) if self.is_over(field, value) => {
                    let most = self.caps.most(field.name);
                    let text = format!("{{property}} has more than {most} entries.");
                    self.problems
                        .push(Problem::new(ErrorCode::FieldInvalid, at.property(), text));
                    // It is there for the rules on the whole.
                    value
                        .as_array()
                        .map(|items| Json::Array(items.iter().take(1).cloned().collect()))
                }
                Some(value) => self.field_value(field, narrow, value, &at),
            };
            if let Some(value) = value {
                valid.add(field.name, value);
            }
        }
        valid
    }

    /// At the place of each field the number of the member that was sent for it, counted from 1, or
    /// 0, and the set of the places that have one.
    fn sent(&self, schema: &ObjectSchema, raw: &Object) -> ([u32; ObjectSchema::MOST], u64) {
        let (mut sent, mut places) = ([0; ObjectSchema::MOST], 0);
        for (nth, name) in (1..).zip(raw.keys()) {
            let Some((place, _)) = schema.sent_as(name, self.names) else {
                continue;
            };
            if let Some(sent) = sent.get_mut(place) {
                *sent = nth;
                places |= 1 << place;
            }
        }
        (sent, places)
    }

    /// What a field is that is left out, or that is sent as `null`: its default, emptied, or a
    /// problem where it is required.
    fn nothing(
        &mut self,
        field: &FieldSpec,
        narrow: Option<&Constraint>,
        is_null: bool,
        at: &ValuePath<'_>,
    ) -> Option<Json> {
        let is_new = self.purpose == ValidationMode::Create;
        // `null` on create means absent (CRU-16).
        if !is_new && !is_null {
            return None;
        }
        if field.mode == FieldMode::Required || narrow.is_some_and(|narrow| narrow.required) {
            let text = if is_new {
                "{property} is required."
            } else {
                "{property} is required and cannot be emptied."
            };
            self.problems
                .push(Problem::new(ErrorCode::FieldRequired, at.property(), text));
            return None;
        }
        narrow
            .and_then(|narrow| narrow::default_of(narrow, field))
            .or_else(|| (!is_new).then_some(Json::Null))
    }

    /// Whether a list, or an object with free names, has more entries than one may: it is not
    /// looked through then.
    fn is_over(&self, field: &FieldSpec, value: &Json) -> bool {
        let length = match (&field.ty, value) {
            (_, Json::Array(items)) => items.len(),
            (ValueType::StringMap, Json::Object(object)) => object.iter().count(),
            _ => 0,
        };
        // The server's own identifier comes back with the foreign ones, and does not count.
        let own = usize::from(field.name == "identifiers");
        length > self.caps.most(field.name).saturating_add(own)
    }

    /// The value of a field. An object or array with something wrong inside is kept as far as it is
    /// valid: the request is refused, but the rules on the whole still see it and report with the
    /// rest.
    ///
    /// Requirements: ERR-39.
    fn field_value(
        &mut self,
        field: &FieldSpec,
        narrow: Option<&Constraint>,
        raw: &Json,
        at: &ValuePath<'_>,
    ) -> Option<Json> {
        let raw = value::accept(field.rules, raw);
        let mut value = match (&field.ty, &*raw) {
            // Most values, of which nothing but the rules has anything to say.
            (ValueType::String, Json::String(text)) => Json::from(text.as_str()),
            _ => self.value(&field.ty, narrow, &raw, at)?,
        };
        for rule in field.rules {
            value::apply(*rule, &mut value, at, &mut self.problems);
        }
        if let Some(narrow) = narrow {
            narrow::check(narrow, &value, at, &mut self.problems);
        }
        Some(value)
    }

    fn value(
        &mut self,
        ty: &ValueType,
        narrow: Option<&Constraint>,
        raw: &Json,
        at: &ValuePath<'_>,
    ) -> Option<Json> {
        match (ty, raw) {
            (ValueType::Object(schema), Json::Object(object)) => {
                let inner = narrow.map(|narrow| &narrow.members);
                Some(
                    self.object(schema, FieldBits::ALL, inner, object, at)
                        .into(),
                )
            }
            (ValueType::Array(item) | ValueType::OneOrMany(item), Json::Array(items)) => {
                Some(self.array(item, narrow, items, at))
            }
            (ValueType::OneOrMany(item), _) => self.value(item, narrow, raw, at),
            (ValueType::StringMap, Json::Object(object)) => Some(self.string_map(object, at)),
            _ => {
                let listed = narrow.and_then(|narrow| narrow::listed(narrow, ty, raw));
                let value = listed.unwrap_or_else(|| value::scalar(ty, raw));
                value.map_err(|wrong| self.problems.push(wrong.at(at))).ok()
            }
        }
    }

    /// Arrays are replaced as a whole, so their elements are read as new ones: `null` members mean
    /// absent.
    ///
    /// Requirements: CRU-18.
    fn array(
        &mut self,
        item: &ValueType,
        narrow: Option<&Constraint>,
        items: &[Json],
        at: &ValuePath<'_>,
    ) -> Json {
        let purpose = std::mem::replace(&mut self.purpose, ValidationMode::Create);
        let mut valid = Vec::with_capacity(items.len());
        for (place, raw) in items.iter().enumerate() {
            if self.problems.len() >= MOST_PROBLEMS {
                break;
            }
            // What is not valid keeps its place, so that the rules on the whole name the others
            // rightly.
            valid.push(
                self.value(item, narrow, raw, &ValuePath::Element(at, place))
                    .unwrap_or(Json::Null),
            );
        }
        self.purpose = purpose;
        Json::Array(valid)
    }

    fn string_map(&mut self, object: &Object, at: &ValuePath<'_>) -> Json {
        let mut valid = Object::new();
        for (key, value) in object {
            match value {
                Json::String(_) => {
                    valid.insert(key, value.clone());
                }
                Json::Null if self.purpose == ValidationMode::Change => {
                    valid.insert(key, Json::Null);
                }
                Json::Null => {}
                other => {
                    let at = ValuePath::Member(at, key);
                    let text = format!("{{property}} must be a string, not {}.", other.kind_name());
                    self.problems
                        .push(Problem::new(ErrorCode::FieldInvalid, at.property(), text));
                }
            }
        }
        valid.into()
    }
}
