//! What a kind's rules between fields see and may do.

use crate::{
    error::{ErrorCode, Problem},
    json::{Json, Object},
    value::Timestamp,
};

/// The whole record after a write, for the rules between its fields.
///
/// Requirements: ERR-35, RES-person-08, RES-event-24.
#[derive(Debug)]
pub struct RecordValidator<'a> {
    fields: &'a mut Object,
    /// What a change sends; `None` for a new record.
    sent: Option<&'a Object>,
    problems: &'a mut Vec<Problem>,
    now: Timestamp,
}

impl<'a> RecordValidator<'a> {
    pub(crate) fn new(
        fields: &'a mut Object,
        sent: Option<&'a Object>,
        problems: &'a mut Vec<Problem>,
        now: Timestamp,
    ) -> Self {
        Self {
            fields,
            sent,
            problems,
            now,
        }
    }

    /// Whether the write is about one of these fields: a new record is about all of its own, a
    /// change about what it sends.
    #[must_use]
    pub fn is_about(&self, names: &[&str]) -> bool {
        self.sent
            .is_none_or(|sent| names.iter().any(|name| sent.contains(name)))
    }

    /// Whether the field has a value.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.fields.get(name).is_some_and(|value| !value.is_null())
    }

    /// The text of a field.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        self.fields.get(name)?.as_str()
    }

    /// The truth of a field.
    #[must_use]
    pub fn boolean(&self, name: &str) -> Option<bool> {
        self.fields.get(name)?.as_bool()
    }

    /// The elements of a field.
    #[must_use]
    pub fn array(&self, name: &str) -> Option<&[Json]> {
        self.fields.get(name)?.as_array()
    }

    /// The object in a field.
    #[must_use]
    pub fn object(&self, name: &str) -> Option<&Object> {
        self.fields.get(name)?.as_object()
    }

    /// The moment in a field.
    #[must_use]
    pub fn timestamp(&self, name: &str) -> Option<Timestamp> {
        Timestamp::parse(self.text(name)?)
    }

    /// Sets a field.
    pub fn set(&mut self, name: &'static str, value: Json) {
        self.fields.insert(name, value);
    }

    /// Sets a field to the time of receipt when it has no value.
    pub fn set_receipt_time_if_missing(&mut self, name: &'static str) {
        if !self.has(name) {
            self.fields.insert(name, Json::from(self.now.to_string()));
        }
    }

    /// Empties a field.
    pub fn remove(&mut self, name: &str) {
        self.fields.remove(name);
    }

    /// Reports a problem between fields.
    pub fn problem(&mut self, code: ErrorCode, properties: &[&str], description: &str) {
        self.problems
            .push(Problem::between(code, properties, description.to_owned()));
    }
}
