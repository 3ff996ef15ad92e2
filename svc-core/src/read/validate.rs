//! Validates JSON against a table and collects every problem.
//!
//! Requirements: ERR-39.

use super::{
    AcceptedMembers, ContentLimits, Json, Object, constraints,
    ignored::{IgnoredIn, MemberRole, OtherMembers},
    value,
    value_path::ValuePath,
};
use crate::{
    error::{ErrorCode, Problem},
    field_set::FieldBits,
    link::ShareNames,
    schema::{Constraint, Constraints, FieldMode, FieldSpec, ObjectSchema, ValueType},
    value::stored_phone,
};

/// Maximum number of field problems in one response. Otherwise a small request could cause a very
/// large response.
pub(crate) const MAX_PROBLEMS: usize = 1000;

/// Whether a record is created or changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ValidationMode {
    /// Created: `null` means absent, and required fields must be present.
    ///
    /// Requirements: CRU-16, CAP-05.
    Create,
    /// Changed: `null` clears a field.
    ///
    /// Requirements: CRU-17.
    Update,
}

/// A traversal, with its purpose and the problems found so far.
#[derive(Debug)]
pub(crate) struct Validator<'a> {
    names: &'a ShareNames,
    caps: &'a ContentLimits,
    purpose: ValidationMode,
    pub(crate) problems: Vec<Problem>,
    /// The ignored members; `None` if they are not reported.
    pub(super) ignored: Option<Vec<Problem>>,
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
            ignored: None,
        }
    }

    /// Also reports the ignored members.
    pub(super) fn reporting(mut self, is_wanted: bool) -> Self {
        self.ignored = is_wanted.then(Vec::new);
        self
    }

    /// Returns the valid fields of a record, in the order of the table, without unknown, computed
    /// and not writable ones. `others` are the members that other readers take.
    pub(super) fn record(
        &mut self,
        schema: &ObjectSchema,
        taken: AcceptedMembers<'_>,
        raw: &Object,
        path: &ValuePath<'_>,
        others: &OtherMembers<'_>,
    ) -> Object {
        self.report_ignored(schema, taken, raw, path, others);
        self.object(schema, taken.writable, taken.narrowing, raw, path)
    }

    /// Returns the valid members of a table in an object that other readers also read.
    pub(super) fn part(
        &mut self,
        schema: &ObjectSchema,
        raw: &Object,
        path: &ValuePath<'_>,
    ) -> Object {
        self.object(schema, FieldBits::ALL, None, raw, path)
    }

    /// Reports the members of an object that no reader takes.
    fn report_ignored(
        &mut self,
        schema: &ObjectSchema,
        taken: AcceptedMembers<'_>,
        raw: &Object,
        path: &ValuePath<'_>,
        others: &OtherMembers<'_>,
    ) {
        let Some(all) = &mut self.ignored else {
            return;
        };
        let narrow = |name| taken.narrowing.and_then(|narrowing| narrowing.member(name));
        let mut ignored = IgnoredIn::new(path, all.len());
        for name in raw.keys() {
            let role = match schema.sent_as(name, self.names) {
                None => others.role(name),
                Some((place, field)) => match narrow(field.name) {
                    Some(narrow) if narrow.is_omitted() => None,
                    narrow => {
                        let is_kept =
                            field.is_computed() || narrow.is_some_and(|narrow| narrow.read_only);
                        Some(if is_kept || !taken.writable.contains(place) {
                            MemberRole::ReadOnly
                        } else {
                            MemberRole::Part
                        })
                    }
                },
            };
            let is_sent = |field: &&FieldSpec| {
                !field.is_computed() && !narrow(field.name).is_some_and(|narrow| narrow.read_only)
            };
            let fields = schema.fields.iter().filter(is_sent);
            let mut names = fields
                .map(|field| self.names.to_wire(field.name))
                .chain(others.names());
            if !ignored.add(name, role, &mut names) {
                break;
            }
        }
        all.extend(ignored.into_problems());
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
        let with_extension = with_extension(schema, raw);
        let raw = with_extension.as_ref().unwrap_or(raw);
        let (sent, places) = self.sent(schema, raw);
        // A member that was not sent matters only if it is required or has a constraint.
        let told = if narrowing.is_some() {
            FieldBits::ALL
        } else {
            FieldBits::of(places | schema.required)
        };
        for place in told.intersection(writable).places() {
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
            if narrow.is_some_and(|narrow| narrow.read_only) {
                continue;
            }
            let at = ValuePath::Member(path, self.names.to_wire(field.name));
            let value = match sent {
                None | Some(Json::Null) => self.nothing(field, narrow, sent.is_some(), &at),
                Some(value) if self.exceeds_limit(field, value) => {
                    let most = self.caps.max_entries(field.name);
                    let text = format!("{{property}} must have at most {most} entries.");
                    self.problems
                        .push(Problem::new(ErrorCode::FieldInvalid, at.property(), text));
                    // The value remains for the rules between fields.
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

    /// Returns, for each field position, the number of the sent member, counted from 1, or 0. Also
    /// returns the set of the positions with a member.
    fn sent(&self, schema: &ObjectSchema, raw: &Object) -> ([u32; ObjectSchema::MAX_FIELDS], u64) {
        let (mut sent, mut places) = ([0; ObjectSchema::MAX_FIELDS], 0);
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

    /// Returns the value of a field that is omitted or sent as `null`: its default, or `null` to
    /// clear it. Adds a problem if the field is required.
    fn nothing(
        &mut self,
        field: &FieldSpec,
        narrow: Option<&Constraint>,
        is_null: bool,
        at: &ValuePath<'_>,
    ) -> Option<Json> {
        let is_new = self.purpose == ValidationMode::Create;
        // On create, `null` means absent. Requirements: CRU-16.
        if !is_new && !is_null {
            return None;
        }
        if field.mode == FieldMode::Required || narrow.is_some_and(|narrow| narrow.required) {
            let text = if is_new {
                "{property} is required."
            } else {
                "{property} is required and cannot be cleared."
            };
            self.problems
                .push(Problem::new(ErrorCode::FieldRequired, at.property(), text));
            return None;
        }
        narrow
            .and_then(|narrow| constraints::default_of(narrow, field))
            .or_else(|| (!is_new).then_some(Json::Null))
    }

    /// Returns whether a list, or an object with arbitrary names, has too many entries. It is then
    /// not validated further.
    fn exceeds_limit(&self, field: &FieldSpec, value: &Json) -> bool {
        let length = match (&field.ty, value) {
            (_, Json::Array(items)) => items.len(),
            (ValueType::StringMap, Json::Object(object)) => object.iter().count(),
            _ => 0,
        };
        // A client may send the server's own identifier back, and it does not count.
        let own = usize::from(field.name == "identifiers");
        length > self.caps.max_entries(field.name).saturating_add(own)
    }

    /// Returns the value of a field.
    ///
    /// An object or array with invalid parts is returned without them. The request is rejected, but
    /// the rules between fields still check the valid parts, so that all problems are reported
    /// together.
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
            // The most frequent case, for which only rules apply.
            (ValueType::String, Json::String(text)) => Json::from(text.as_str()),
            _ => self.value(&field.ty, narrow, &raw, at)?,
        };
        for rule in field.rules {
            value::apply(*rule, &mut value, at, &mut self.problems);
        }
        if let Some(narrow) = narrow {
            constraints::check(narrow, &value, at, &mut self.problems);
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
                let taken = AcceptedMembers {
                    narrowing: narrow.map(|narrow| &narrow.members),
                    ..FieldBits::ALL.into()
                };
                let valid = self.record(schema, taken, object, at, &OtherMembers::NONE);
                Some(valid.into())
            }
            (ValueType::Array(item) | ValueType::OneOrMany(item), Json::Array(items)) => {
                Some(self.array(item, narrow, items, at))
            }
            (ValueType::OneOrMany(item), _) => self.value(item, narrow, raw, at),
            (ValueType::StringMap, Json::Object(object)) => Some(self.string_map(object, at)),
            _ => {
                let listed = narrow.and_then(|narrow| constraints::listed(narrow, ty, raw));
                let value = listed.unwrap_or_else(|| value::scalar(ty, raw));
                value.map_err(|wrong| self.problems.push(wrong.at(at))).ok()
            }
        }
    }

    /// Validates an array. An array is replaced as a whole, so its elements are read as new ones:
    /// `null` members mean absent.
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
            if self.problems.len() >= MAX_PROBLEMS {
                break;
            }
            // An invalid element keeps its index, so that the rules between fields report the right
            // index of other elements.
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
                Json::Null if self.purpose == ValidationMode::Update => {
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

/// Returns a phone number whose extension is a member of its own, if it is part of the number. An extension
/// that is sent separately takes precedence.
///
/// Requirements: RES-phone_number-04.
fn with_extension(schema: &ObjectSchema, raw: &Object) -> Option<Object> {
    let text = raw.get(schema.phone_number?.name)?.as_str()?;
    let has_own = raw
        .get("extension")
        .is_some_and(|own| !own.is_empty_value());
    if has_own || text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let extension = stored_phone(text).ok()?.extension?;
    let mut whole = raw.clone();
    whole.insert("extension", Json::from(extension));
    Some(whole)
}
