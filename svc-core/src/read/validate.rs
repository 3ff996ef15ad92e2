//! Validates JSON against a table and collects every problem.
//!
//! Requirements: ERR-39.

use super::{
    AcceptedMembers, ContentLimits, Json, Object, constraints,
    ignored::{IgnoredIn, MAX_IGNORED, MemberRole, OtherMembers, empty_text},
    stored::StoredDocument,
    value,
    value_path::ValuePath,
};
use crate::{
    error::{ErrorCode, Problem},
    field_set::FieldBits,
    json::is_stored,
    link::ShareNames,
    schema::{
        COMMON, Constraint, Constraints, EntryValues, FieldMode, FieldRule, FieldSpec,
        ObjectSchema, ValueType,
    },
    value::{stored_phone, trimmed},
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

/// The numbers of members that were skipped because their text is empty.
#[derive(Debug, Clone, Copy, Default)]
struct EmptyTexts {
    all: usize,
    /// The problems of those that are required.
    problems: usize,
    /// The e-mail addresses and phone numbers, without which an entry of a list is nothing.
    identifying: usize,
}

impl EmptyTexts {
    /// Returns the numbers since an earlier moment.
    fn since(self, before: Self) -> Self {
        Self {
            all: self.all.saturating_sub(before.all),
            problems: self.problems.saturating_sub(before.problems),
            identifying: self.identifying.saturating_sub(before.identifying),
        }
    }
}

/// A traversal, with its purpose and the problems found so far.
#[derive(Debug)]
pub(crate) struct Validator<'a> {
    names: &'a ShareNames,
    caps: &'a ContentLimits,
    purpose: ValidationMode,
    /// Whether an empty text counts as omitted. In an update, it could be meant to clear the field.
    skips_empty_texts: bool,
    empty: EmptyTexts,
    pub(crate) problems: Vec<Problem>,
    /// The ignored members; `None` if they are not reported.
    pub(super) ignored: Option<Vec<Problem>>,
    /// The stored record of a change, if it is known.
    stored: Option<StoredDocument<'a>>,
    /// The number of identifiers in a list that do not count towards its limit: by default one, which
    /// may be in the server's own namespace.
    pub(super) uncounted_identifiers: usize,
    /// Whether a list can have more entries than its constraint allows, because only those that fit
    /// are stored.
    ///
    /// Requirements: HLP-04.
    pub(super) stores_what_fits: bool,
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
            skips_empty_texts: purpose == ValidationMode::Create,
            empty: EmptyTexts::default(),
            problems: Vec::new(),
            ignored: None,
            stored: None,
            uncounted_identifiers: 1,
            stores_what_fits: false,
        }
    }

    /// Also reports the ignored members.
    pub(super) fn reporting(mut self, is_wanted: bool) -> Self {
        self.ignored = is_wanted.then(Vec::new);
        self
    }

    /// Accepts read-only members that are equal to those of the stored record.
    pub(super) fn comparing(mut self, stored: Option<StoredDocument<'a>>) -> Self {
        self.stored = stored;
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
        let Some(mut all) = self.ignored.take() else {
            return;
        };
        let stored = self.stored.map(|stored| stored.objects(schema, raw, path));
        let narrow = |name| taken.narrowing.and_then(|narrowing| narrowing.member(name));
        let mut ignored = IgnoredIn::new(path, all.len());
        for (name, value) in raw {
            let known = schema.sent_as(name, self.names);
            let role = match known {
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
            let role = match (role, &stored) {
                (Some(MemberRole::ReadOnly), Some(stored)) => {
                    let field = known.map(|(_, field)| field).or_else(|| COMMON.field(name));
                    let is_equal = |object: &&Object| self.is_equal(field, value, object.get(name));
                    Some(if stored.iter().any(is_equal) {
                        MemberRole::Part
                    } else {
                        MemberRole::Changed
                    })
                }
                (role, _) => role,
            };
            let is_sent = |field: &&FieldSpec| {
                !field.is_computed() && !narrow(field.name).is_some_and(|narrow| narrow.read_only)
            };
            let fields = schema.fields.iter().filter(is_sent);
            let mut names = fields
                .map(|field| self.names.to_wire(field.name))
                .chain(others.names());
            if !ignored.add(name, role, &mut names, others.similar) {
                break;
            }
        }
        all.extend(ignored.into_problems());
        self.ignored = Some(all);
    }

    /// Returns whether a read-only value is equal to the stored one, when both are read.
    fn is_equal(&self, field: Option<&FieldSpec>, sent: &Json, stored: Option<&Json>) -> bool {
        let read = |value: &Json| {
            let mut reader = Validator::new(self.names, self.caps, ValidationMode::Create);
            let read = reader.field_value(field?, None, value, &ValuePath::Root)?;
            reader.problems.is_empty().then_some(read)
        };
        let read = |value: &Json| read(value).unwrap_or_else(|| value.clone());
        is_stored(&read(sent), stored.map(read).as_ref())
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
                Some(value) if field.has_no_empty_text() && self.skips(value, &at) => {
                    let before = self.problems.len();
                    let value = self.nothing(field, narrow, true, &at);
                    self.empty.problems += self.problems.len().saturating_sub(before);
                    if field.is_address() {
                        self.empty.identifying += 1;
                    }
                    value
                }
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
                Some(value) => {
                    let before = self.problems.len();
                    let value = self.field_value(field, narrow, value, &at);
                    if value.is_none() && self.problems.len() == before {
                        self.nothing(field, narrow, true, &at)
                    } else {
                        value
                    }
                }
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
        let uncounted = match field.name {
            "identifiers" => self.uncounted_identifiers,
            _ => 0,
        };
        length > self.caps.max_entries(field.name).saturating_add(uncounted)
    }

    /// Returns whether a value is an empty text that counts as omitted, and reports it as ignored.
    ///
    /// Requirements: UND-47.
    fn skips(&mut self, value: &Json, at: &ValuePath<'_>) -> bool {
        let Some(text) = value.as_str().filter(|_| self.skips_empty_texts) else {
            return false;
        };
        if !trimmed(text).is_empty() {
            return false;
        }
        self.empty.all += 1;
        if let Some(ignored) = &mut self.ignored
            && ignored.len() < MAX_IGNORED
        {
            ignored.push(empty_text(at.property()));
        }
        true
    }

    /// Returns whether an object is omitted because nothing is left of it, as the numbers of skipped
    /// members show. The problems of its required members are removed then. An object with
    /// another problem is not omitted.
    fn omits(
        &mut self,
        before: (EmptyTexts, usize),
        is_empty: impl FnOnce(EmptyTexts) -> bool,
    ) -> bool {
        let (empty, problems) = before;
        let skipped = self.empty.since(empty);
        let has_others = self.problems.len() > problems.saturating_add(skipped.problems);
        if has_others || !is_empty(skipped) {
            return false;
        }
        self.problems.truncate(problems);
        self.empty.problems = empty.problems;
        true
    }

    /// Returns the value of a field, or `None` if it is invalid or if nothing is left of it.
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
        let (before, problems) = (self.empty.all, self.problems.len());
        let is_exact = field.rules.iter().any(FieldRule::is_exact);
        let mut value = match (&field.ty, &*raw) {
            // The most frequent case, for which only rules apply.
            (ValueType::String, Json::String(text)) if !is_exact => match value::free_text(text) {
                Ok(text) => text,
                Err(wrong) => {
                    self.problems.push(wrong.at(at));
                    return None;
                }
            },
            _ => self.value(&field.ty, narrow, &raw, at)?,
        };
        if let ValueType::Array(ValueType::String) | ValueType::OneOrMany(ValueType::String) =
            field.ty
            && !is_exact
        {
            value::store_texts(&mut value, at, &mut self.problems);
        }
        for rule in field.rules {
            value::apply(*rule, &mut value, at, &mut self.problems);
        }
        // Only now, because the rules report the positions in which the entries were sent.
        if self.empty.all > before
            && self.problems.len() == problems
            && let Json::Array(items) = &mut value
        {
            items.retain(|item| !item.is_null());
            if items.is_empty() {
                return None;
            }
        }
        if let Some(narrow) = narrow {
            if !self.stores_what_fits {
                self.problems
                    .extend(constraints::too_many(narrow, &value, at));
            }
            let fits = self.stores_what_fits;
            self.problems
                .extend(constraints::unfit_entries(narrow, &value, at, fits));
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
                let before = (self.empty, self.problems.len());
                let valid = self.record(schema, taken, object, at, &OtherMembers::NONE);
                let is_empty = |skipped: EmptyTexts| skipped.all > 0 && valid.is_empty();
                (!self.omits(before, is_empty)).then(|| valid.into())
            }
            (ValueType::Array(item) | ValueType::OneOrMany(item), Json::Array(items)) => {
                Some(self.array(item, narrow, items, at))
            }
            (ValueType::OneOrMany(item), _) => self.value(item, narrow, raw, at),
            (ValueType::StringMap, Json::Object(object)) => Some(self.string_map(object, at)),
            _ => {
                // Entries with another value are omitted later.
                let fits_later = |narrow: &&Constraint| {
                    self.stores_what_fits && narrow.in_entries == Some(EntryValues::Distinct)
                };
                let narrow = narrow.filter(|narrow| !fits_later(narrow));
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
        let is_blank = |item: &Json| item.as_str().is_some_and(|text| trimmed(text).is_empty());
        // In a list of texts, a blank one can be an empty line.
        let keeps_blank = matches!(item, ValueType::String) && !items.iter().all(is_blank);
        for (place, raw) in items.iter().enumerate() {
            if self.problems.len() >= MAX_PROBLEMS {
                break;
            }
            // An invalid element keeps its index, so that the rules between fields report the right
            // index of other elements.
            let at = ValuePath::Element(at, place);
            let before = (self.empty, self.problems.len());
            let value = match item {
                _ if !keeps_blank && self.skips(raw, &at) => None,
                _ => self.value(item, narrow, raw, &at),
            };
            let is_omitted = self.omits(before, |skipped| skipped.identifying > 0);
            self.empty.identifying = before.0.identifying;
            let value = value.filter(|_| !is_omitted);
            valid.push(value.unwrap_or(Json::Null));
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
