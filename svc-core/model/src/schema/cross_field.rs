//! The context of the rules between the fields of a kind.

use crate::{
    error::{ErrorCode, Problem},
    json::{Json, Object},
    value::Timestamp,
};

/// The complete record after a write, for the rules between its fields.
///
/// Requirements: ERR-35, RES-person-08, RES-event-24.
#[derive(Debug)]
pub struct RecordValidator<'a> {
    fields: &'a mut Object,
    /// The record before a change, and the sent members; `None` for a new record.
    change: Option<(&'a Object, &'a Object)>,
    problems: &'a mut Vec<Problem>,
    now: Timestamp,
}

impl<'a> RecordValidator<'a> {
    pub(crate) fn new(
        fields: &'a mut Object,
        change: Option<(&'a Object, &'a Object)>,
        problems: &'a mut Vec<Problem>,
        now: Timestamp,
    ) -> Self {
        Self {
            fields,
            change,
            problems,
            now,
        }
    }

    /// Returns whether the write concerns one of these fields. A new record concerns all fields,
    /// and a change concerns the fields that it sends.
    #[must_use]
    pub fn touches(&self, names: &[&str]) -> bool {
        self.change
            .is_none_or(|(_, sent)| names.iter().any(|name| sent.contains(name)))
    }

    /// Returns whether a change clears the field.
    #[must_use]
    pub fn clears(&self, name: &str) -> bool {
        let sent = self.change.and_then(|(_, sent)| sent.get(name));
        sent.is_some_and(Json::is_null)
    }

    /// Returns the fields of the record before a change; `None` for a new record.
    #[must_use]
    pub fn before(&self) -> Option<&'a Object> {
        self.change.map(|(before, _)| before)
    }

    /// Returns the fields of the record.
    #[must_use]
    pub fn fields(&self) -> &Object {
        self.fields
    }

    /// Returns whether the field has a value.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.fields.get(name).is_some_and(|value| !value.is_null())
    }

    /// Returns the text of a field.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        self.fields.get(name)?.as_str()
    }

    /// Returns the boolean of a field.
    #[must_use]
    pub fn boolean(&self, name: &str) -> Option<bool> {
        self.fields.get(name)?.as_bool()
    }

    /// Returns the elements of a field.
    #[must_use]
    pub fn array(&self, name: &str) -> Option<&[Json]> {
        self.fields.get(name)?.as_array()
    }

    /// Returns the object of a field.
    #[must_use]
    pub fn object(&self, name: &str) -> Option<&Object> {
        self.fields.get(name)?.as_object()
    }

    /// Returns the timestamp of a field.
    #[must_use]
    pub fn timestamp(&self, name: &str) -> Option<Timestamp> {
        Timestamp::parse(self.text(name)?)
    }

    /// Sets a field.
    pub fn set(&mut self, name: &'static str, value: Json) {
        self.fields.insert(name, value);
    }

    /// Sets a field to the time of receipt if it has no value.
    pub fn set_receipt_time_if_missing(&mut self, name: &'static str) {
        if !self.has(name) {
            self.fields.insert(name, Json::from(self.now.to_string()));
        }
    }

    /// Clears a field.
    pub fn remove(&mut self, name: &str) {
        self.fields.remove(name);
    }

    /// Reports a problem between fields.
    pub fn report(&mut self, code: ErrorCode, properties: &[&str], description: &str) {
        self.problems.push(Problem::for_properties(
            code,
            properties,
            description.to_owned(),
        ));
    }

    /// Reports the problems of the record, except those that it had before the change.
    pub fn report_new(&mut self, problems_of: impl Fn(&Object) -> Vec<Problem>) {
        let before = self.change.map(|(before, _)| problems_of(before));
        self.problems
            .extend(new_problems(problems_of(self.fields), before));
    }
}

/// Returns the problems of a changed record that it did not have before.
pub fn new_problems(
    after: Vec<Problem>,
    before: Option<Vec<Problem>>,
) -> impl Iterator<Item = Problem> {
    let before = before.unwrap_or_default();
    after
        .into_iter()
        .filter(move |problem| !before.contains(problem))
}
