//! The values of a record by which indexes find it, apart from its id, identifiers and name.

use crate::{
    duplicates::{PersonKey, person_keys},
    filter::{FilterField, TextKey, text_keys},
    helper::distinct_emails,
    json::Object,
    model::Kind,
};

/// The values of a record by which indexes find it, each once. Other records can have the same
/// values.
///
/// A store saves them with the record. A change or deletion of the record contains those that the
/// store must remove.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct IndexValues {
    /// The e-mail addresses of a person in
    /// [form](crate::value::forms::match_form).
    pub emails: Vec<String>,
    /// The texts of the fields that the kind can be filtered by, and the
    /// [key](crate::filter::name_key) of its unique name.
    ///
    /// Requirements: FLT-14, UND-02, UND-03.
    pub texts: Vec<TextKey>,
    /// The keys of a person, by which the store finds people who may be the same person.
    ///
    /// Requirements: DUP-01.
    pub keys: Vec<PersonKey>,
}

impl IndexValues {
    /// Returns whether records of a kind can have such values.
    #[must_use]
    pub fn has_any(kind: Kind) -> bool {
        kind == Kind::Person || FilterField::of_index(kind).next().is_some()
    }

    /// Returns the values of a record with these fields.
    #[must_use]
    pub fn of(kind: Kind, fields: &Object) -> Self {
        let (emails, keys) = match kind {
            Kind::Person => (distinct_emails(fields), person_keys(fields)),
            _ => (Vec::new(), Vec::new()),
        };
        Self {
            emails,
            texts: text_keys(kind, fields).collect(),
            keys,
        }
    }

    /// Returns the values that the other set does not contain.
    #[must_use]
    pub fn without(&self, other: &Self) -> Self {
        Self {
            emails: difference(&self.emails, &other.emails),
            texts: difference(&self.texts, &other.texts),
            keys: difference(&self.keys, &other.keys),
        }
    }

    /// Returns whether there are no values.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.emails.is_empty() && self.texts.is_empty() && self.keys.is_empty()
    }
}

fn difference<T: PartialEq + Clone>(of: &[T], other: &[T]) -> Vec<T> {
    let is_new = |value: &&T| !other.contains(value);
    of.iter().filter(is_new).cloned().collect()
}
